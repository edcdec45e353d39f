//! What · What is kept of transactions that committed long ago, when there is no room for more: whether one was serializable, and the first that it is in
//! conflict with.
//!
//! Layout · A bit for each xid, in pieces of 4096, and a map for those few that are in conflict. Ten million of them take a few MB. What their locks
//! were is one mark a relation, in [`targets`](super::targets).
//!
//! PostgreSQL counterpart · `pg_serial`, an SLRU.

use base::Xid;
use rustc_hash::FxHashMap;

use super::conflicts::Seq;

const WORDS: usize = 64;
const BITS: u64 = 64 * WORDS as u64;

/// What is known of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It has no conflict with a transaction that committed before it.
    Alone,
    /// It read what others wrote anew who committed before it; the first of them had this number.
    Before(Seq),
}

#[derive(Debug, Default)]
pub(super) struct Summary {
    pieces: FxHashMap<u64, Box<[u64; WORDS]>>,
    before: FxHashMap<Xid, Seq>,
    /// Number of the last that was added.
    last: Seq,
}

impl Summary {
    /// One that wrote nothing.
    pub fn add_reader(&mut self, seq: Seq) {
        self.last = seq;
    }

    /// A transaction that committed with this number.
    pub fn add(&mut self, xid: Xid, before: Option<Seq>, seq: Seq) {
        let piece = self.pieces.entry(xid.0 / BITS).or_insert_with(|| Box::new([0; WORDS]));
        let at = xid.0 % BITS;
        piece[(at / 64) as usize] |= 1 << (at % 64);
        if let Some(before) = before {
            self.before.insert(xid, before);
        }
        self.last = seq;
    }

    /// What is known of a writer, if it is one of these.
    pub fn get(&self, xid: Xid) -> Option<Known> {
        let at = xid.0 % BITS;
        let piece = self.pieces.get(&(xid.0 / BITS))?;
        if piece[(at / 64) as usize] & 1 << (at % 64) == 0 {
            return None;
        }
        Some(self.before.get(&xid).map_or(Known::Alone, |seq| Known::Before(*seq)))
    }

    /// Everybody who runs began when `seq` was the last number, or later. If that makes all of this useless, the number of the last that goes.
    pub fn forget_before(&mut self, seq: Seq) -> Option<Seq> {
        let last = self.last;
        if last == 0 || last > seq {
            return None;
        }
        *self = Summary::default();
        Some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_added_is_known_until_nobody_asks() {
        let mut summary = Summary::default();
        summary.add(Xid(4095), None, 7);
        summary.add(Xid(4096), Some(5), 9);
        let known = |summary: &Summary| [4094, 4095, 4096, 8192].map(|xid| summary.get(Xid(xid)));
        assert_eq!(known(&summary), [None, Some(Known::Alone), Some(Known::Before(5)), None]);
        assert_eq!(summary.forget_before(8), None);
        assert_eq!(summary.get(Xid(4095)), Some(Known::Alone));
        assert_eq!(summary.forget_before(9), Some(9));
        assert_eq!(known(&summary), [None; 4]);
    }
}
