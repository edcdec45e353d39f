//! Events by number, in the order in which they came: beyond `work_mem` in a temporary file.
//!
//! # Invariants
//! 1. The file has events from the first on, `tail` has those behind. What is cut off is written over.
//! 2. An event never changes: that it fired is noted elsewhere ([`Bits`]), in an eighth of a byte.

use base::SqlResult;

use super::queue::Queued;
use crate::spill::{SpillFile, TempDir};

/// Bytes of an event in the file.
const RECORD: usize = 16;
/// Events read at once, and fewest written at once.
const WINDOW: usize = 2048;

/// How much memory events may take, and where the others go.
pub type Memory<'a> = (usize, &'a TempDir);

/// Events.
#[derive(Default)]
pub(super) struct EventList {
    file: Option<SpillFile>,
    in_file: usize,
    tail: Vec<Queued>,
    /// Events of the file read last, and the number of the first.
    window: Vec<Queued>,
    from: usize,
}

impl EventList {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.in_file + self.tail.len()
    }

    /// Adds one behind the others.
    pub(super) fn push(&mut self, event: Queued, (limit, dir): Memory<'_>) -> SqlResult<()> {
        self.tail.push(event);
        if self.tail.len() * RECORD <= limit.max(WINDOW * RECORD) {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(SpillFile::create(dir)?),
        };
        for events in self.tail.chunks(WINDOW) {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            let bytes: Vec<u8> = events.iter().flat_map(|event| event.encode()).collect();
            file.append(&bytes)?;
            self.in_file += events.len();
        }
        self.tail.clear();
        Ok(())
    }

    /// The event with this number, from 0.
    pub(super) fn get(&mut self, number: usize) -> SqlResult<Option<Queued>> {
        if number >= self.in_file {
            return Ok(self.tail.get(number - self.in_file).copied());
        }
        if !(self.from..self.from + self.window.len()).contains(&number) {
            self.read(number)?;
        }
        Ok(self.window.get(number - self.from).copied())
    }

    #[cold]
    fn read(&mut self, number: usize) -> SqlResult<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut bytes = vec![0; WINDOW.min(self.in_file - number) * RECORD];
        file.read(&mut bytes, (number * RECORD) as u64)?;
        self.from = number;
        self.window.clear();
        self.window.extend(bytes.as_chunks::<RECORD>().0.iter().map(Queued::decode));
        Ok(())
    }

    /// Forgets those behind the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.tail.truncate(count.saturating_sub(self.in_file));
        if count < self.in_file {
            self.in_file = count;
            self.window.clear();
            if let Some(file) = &mut self.file {
                file.cut((count * RECORD) as u64);
            }
        }
    }
}

/// A set of numbers, most of them near each other.
#[derive(Debug, Default)]
pub(super) struct Bits {
    /// Number of the first word, of 64 numbers.
    first: usize,
    words: Vec<u64>,
}

impl Bits {
    pub(super) fn insert(&mut self, number: usize) {
        let word = number / 64;
        if self.words.is_empty() {
            self.first = word;
        } else if word < self.first {
            self.words.splice(..0, std::iter::repeat_n(0, self.first - word));
            self.first = word;
        }
        let at = word - self.first;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= 1 << (number % 64);
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        let word = (number / 64).checked_sub(self.first).and_then(|at| self.words.get(at));
        word.is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Takes others out.
    pub(super) fn remove(&mut self, other: &Bits) {
        for (word, bits) in (other.first..).zip(&other.words) {
            if let Some(word) = word.checked_sub(self.first).and_then(|at| self.words.get_mut(at)) {
                *word &= !bits;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_from_memory_and_file() {
        let path = std::env::temp_dir().join(format!("events-{:016x}", runtime::random_u64()));
        let dir = TempDir::new(path.clone(), base::Oid::PG_DEFAULT, 1);
        let event = |n: usize| Queued { kind: n as u32, blocks: [1, n as u32 * 3], offsets: [7, n as u16] };
        for limit in [0, usize::MAX] {
            let mut list = EventList::default();
            for n in 0..10_000 {
                list.push(event(n), (limit, &dir)).unwrap();
                assert_eq!(list.get(n / 3).unwrap(), Some(event(n / 3)));
            }
            assert_eq!((list.len(), list.get(10_000).unwrap()), (10_000, None));
            for count in [9_999, 5_000, 5_000, 100] {
                list.truncate(count);
                assert_eq!((list.len(), list.get(count).unwrap()), (count, None));
                assert_eq!(list.get(count - 1).unwrap(), Some(event(count - 1)));
                list.push(event(77), (limit, &dir)).unwrap();
                assert_eq!(list.get(count).unwrap(), Some(event(77)));
                list.truncate(count);
            }
            for n in 100..9_000 {
                list.push(event(n), (limit, &dir)).unwrap();
            }
            assert!((0..9_000).all(|n| list.get(n).unwrap() == Some(event(n))));
        }
        std::fs::remove_dir(path.join("base/pgsql_tmp")).unwrap();
        std::fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn bits_are_where_they_were_put() {
        let (mut bits, mut some) = (Bits::default(), Bits::default());
        for number in [1000, 1001, 5, 700] {
            bits.insert(number);
        }
        some.insert(1001);
        some.insert(9_999);
        bits.remove(&some);
        let there: Vec<usize> = (0..2000).filter(|&n| bits.contains(n)).collect();
        assert_eq!(there, [5, 700, 1000]);
    }
}
