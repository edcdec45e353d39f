//! # What
//! Sorting the entries of an index to be built: in memory as far as `maintenance_work_mem` goes, in sorted runs on disk beyond. What
//! several threads have sorted is merged.
//!
//! # Layout
//! Values of all entries lie in one array, `width` each; only row numbers are sorted, by the numbers of [`OpenIndex::sort_number`] as far as these tell the order. A run is a [`SpillFile`] whose rows end
//! with the entry's place as one `int8`: block, offset, and whether the row is live.
//!
//! # Invariants
//! 1. Entries come out in the order of [`OpenIndex::compare_entries`].

use std::cmp::Ordering;

use base::{BlockNo, SqlError, SqlResult, Tid};
use engine::OpenIndex;
use eval::spill::{SpillFile, SpillReader, TempDir, row_bytes};
use tuple::Datum;

use super::number_sort::{Numbered, sort};

/// Where an entry points, and whether its row counts for uniqueness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Root of the row's HOT chain.
    pub(crate) tid: Tid,
    /// Not dead yet.
    pub(crate) live: bool,
}

impl Target {
    fn pack(self) -> i64 {
        i64::from(self.tid.block.0) << 17 | i64::from(self.tid.offset) << 1 | i64::from(self.live)
    }

    fn unpack(packed: i64) -> Target {
        let tid = Tid::new(BlockNo((packed >> 17) as u32), (packed >> 1) as u16);
        Target { tid, live: packed & 1 != 0 }
    }
}

/// Rows that are touched at once.
const TOUCHED: usize = 32;

/// Takes entries in any order.
pub(crate) struct IndexSort<'a> {
    rel: &'a OpenIndex,
    width: usize,
    values: Vec<Datum>,
    targets: Vec<Target>,
    rows: Vec<Numbered>,
    /// Entries with equal numbers are equal but for their TIDs.
    whole: bool,
    /// Entries came in the order of their TIDs.
    ascending: bool,
    bytes: usize,
    memory: usize,
    temp: TempDir,
    runs: Vec<SpillReader>,
}

impl<'a> IndexSort<'a> {
    /// An empty sort for the index `rel` that may use `memory` bytes.
    pub(crate) fn new(rel: &'a OpenIndex, memory: usize, temp: TempDir) -> IndexSort<'a> {
        let width = rel.desc().layout.len();
        let (values, targets, rows, runs) = Default::default();
        let (whole, ascending) = (true, true);
        IndexSort { rel, width, values, targets, rows, whole, ascending, bytes: 0, memory, temp, runs }
    }

    /// Adds an entry; takes the values out of `entry`.
    pub(crate) fn add(&mut self, entry: &mut Vec<Datum>, target: Target) -> SqlResult<()> {
        debug_assert_eq!(entry.len(), self.width, "an entry has all columns of its index");
        self.rel.prepare(entry);
        self.bytes += row_bytes(entry);
        let sort = self.rel.sort_number(entry);
        self.rows.push(Numbered { number: sort.number, row: self.rows.len() as u32 });
        self.whole &= sort.whole;
        self.ascending &= self.targets.last().is_none_or(|last| last.tid <= target.tid);
        self.values.append(entry);
        self.targets.push(target);
        if self.bytes > self.memory { self.spill() } else { Ok(()) }
    }

    fn row(&self, i: u32) -> (&[Datum], Tid) {
        let i = i as usize;
        (&self.values[i * self.width..(i + 1) * self.width], self.targets[i].tid)
    }

    /// The rows in order. They are gone from here.
    fn order(&mut self) -> SqlResult<Vec<Numbered>> {
        let rows = std::mem::take(&mut self.rows);
        match (self.whole, self.ascending) {
            (true, true) => sort(rows, |_, _| Ordering::Equal),
            (true, false) => sort(rows, |a, b| self.row(a).1.cmp(&self.row(b).1)),
            (false, _) if index::asks(&self.rel.desc().keys) => self.order_asked(rows),
            (false, _) => sort(rows, |a, b| self.rel.compare_entries(self.row(a), self.row(b))),
        }
    }

    /// As [`IndexSort::order`], where a function of a user tells the order.
    fn order_asked(&self, mut rows: Vec<Numbered>) -> SqlResult<Vec<Numbered>> {
        types::piece::sort_by_any(&mut rows, |a, b| {
            let entries = || self.rel.compare_entries(self.row(a.row), self.row(b.row));
            a.number.cmp(&b.number).then_with(entries)
        })?;
        types::asked::check()?;
        Ok(rows)
    }

    /// Touches rows that lie anywhere, all at once, so that whoever goes through them does not wait for each alone to come from memory.
    fn touch(&self, rows: &[Numbered]) {
        let first = |value: &Datum| match value {
            Datum::Bytes(bytes) => bytes.first().copied().unwrap_or_default(),
            _ => 0,
        };
        let row = |row: &Numbered| {
            let (values, tid) = self.row(row.row);
            values.iter().map(first).fold(tid.offset as u8, u8::wrapping_add)
        };
        std::hint::black_box(rows.iter().map(row).fold(0, u8::wrapping_add));
    }

    fn spill(&mut self) -> SqlResult<()> {
        let mut file = SpillFile::create(&self.temp)?;
        for rows in self.order()?.chunks(TOUCHED) {
            runtime::check_interrupts()?;
            self.touch(rows);
            for Numbered { row: i, .. } in rows {
                let target = Datum::Int8(self.targets[*i as usize].pack());
                file.write_with(self.row(*i).0, &[target])?;
            }
        }
        self.runs.push(file.into_reader()?);
        self.values.clear();
        self.targets.clear();
        (self.whole, self.ascending) = (true, true);
        self.bytes = 0;
        Ok(())
    }

    /// Ends the input.
    pub(crate) fn ordered(mut self) -> SqlResult<Ordered<'a>> {
        if !self.runs.is_empty() && !self.targets.is_empty() {
            self.spill()?;
        }
        let runs = std::mem::take(&mut self.runs);
        let order = self.order()?.into_iter();
        Ok(Ordered { runs, memory: InMemory { sort: self, order } })
    }

    /// Ends the input of the only sort.
    pub(crate) fn finish(self) -> SqlResult<Sorted<'a>> {
        Sorted::of(self.rel, vec![self.ordered()?])
    }
}

/// What one sort was given, in order: runs on disk, or all in memory.
pub(crate) struct Ordered<'a> {
    runs: Vec<SpillReader>,
    memory: InMemory<'a>,
}

/// Entries in memory.
pub(crate) struct InMemory<'a> {
    sort: IndexSort<'a>,
    /// The rows that are left, in order.
    order: std::vec::IntoIter<Numbered>,
}

impl InMemory<'_> {
    /// Replaces `out` by the next entry.
    fn next(&mut self, out: &mut Vec<Datum>) -> Option<(Target, u64)> {
        let InMemory { sort, order } = self;
        if order.len().is_multiple_of(TOUCHED) {
            sort.touch(&order.as_slice()[..order.len().min(TOUCHED)]);
        }
        let Numbered { number, row } = order.next()?;
        let i = row as usize;
        out.clear();
        out.extend(sort.values[i * sort.width..(i + 1) * sort.width].iter_mut().map(std::mem::take));
        Some((sort.targets[i], number))
    }
}

fn take_target(row: &mut Vec<Datum>) -> SqlResult<Target> {
    match row.pop() {
        Some(Datum::Int8(packed)) => Ok(Target::unpack(packed)),
        _ => Err(SqlError::internal("a sorted run's row has no place")),
    }
}

/// Where entries come from in order.
enum Source<'a> {
    Run(Box<SpillReader>),
    Memory(Box<InMemory<'a>>),
}

impl Source<'_> {
    /// Replaces `out` by the next entry.
    fn next(&mut self, rel: &OpenIndex, out: &mut Vec<Datum>) -> SqlResult<Option<(Target, u64)>> {
        match self {
            Source::Memory(memory) => Ok(memory.next(out)),
            Source::Run(reader) => {
                if !reader.next(out)? {
                    return Ok(None);
                }
                let target = take_target(out)?;
                Ok(Some((target, rel.sort_number(out).number)))
            }
        }
    }
}

/// A source, and its next row.
struct Head<'a> {
    source: Source<'a>,
    row: Vec<Datum>,
    target: Target,
    number: u64,
}

/// Sources being merged: a binary heap, least row first.
pub(crate) struct Merge<'a> {
    rel: &'a OpenIndex,
    heads: Vec<Head<'a>>,
}

impl<'a> Merge<'a> {
    fn of(rel: &'a OpenIndex, sources: impl Iterator<Item = Source<'a>>) -> SqlResult<Merge<'a>> {
        let mut heads = Vec::new();
        for mut source in sources {
            let mut row = Vec::new();
            if let Some((target, number)) = source.next(rel, &mut row)? {
                heads.push(Head { source, row, target, number });
            }
        }
        let mut merge = Merge { rel, heads };
        for at in (0..merge.heads.len() / 2).rev() {
            merge.sift(at);
        }
        Ok(merge)
    }

    fn less(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.heads[a], &self.heads[b]);
        let entries = || self.rel.compare_entries((&a.row, a.target.tid), (&b.row, b.target.tid));
        a.number.cmp(&b.number).then_with(entries) == Ordering::Less
    }

    fn sift(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heads.len() && self.less(child, least) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heads.swap(at, least);
            at = least;
        }
    }

    fn next(&mut self, out: &mut Vec<Datum>) -> SqlResult<Option<Target>> {
        let Some(head) = self.heads.first_mut() else { return Ok(None) };
        out.clear();
        out.append(&mut head.row);
        let target = head.target;
        match head.source.next(self.rel, &mut head.row)? {
            Some((target, number)) => (head.target, head.number) = (target, number),
            None => drop(self.heads.swap_remove(0)),
        }
        self.sift(0);
        Ok(Some(target))
    }
}

/// Entries in order.
pub(crate) enum Sorted<'a> {
    /// All fitted into the memory of one sort.
    Memory(InMemory<'a>),
    /// From several sources.
    Merge(Merge<'a>),
}

impl<'a> Sorted<'a> {
    /// What sorts of the index `rel` were given.
    pub(crate) fn of(rel: &'a OpenIndex, mut sorts: Vec<Ordered<'a>>) -> SqlResult<Sorted<'a>> {
        if let [only] = &sorts[..]
            && only.runs.is_empty()
            && let Some(only) = sorts.pop()
        {
            return Ok(Sorted::Memory(only.memory));
        }
        let sources = sorts.into_iter().flat_map(|sort| {
            let memory = Source::Memory(Box::new(sort.memory));
            sort.runs.into_iter().map(|run| Source::Run(Box::new(run))).chain([memory])
        });
        Ok(Sorted::Merge(Merge::of(rel, sources)?))
    }

    /// Replaces `out` by the next entry.
    pub(crate) fn next(&mut self, out: &mut Vec<Datum>) -> SqlResult<Option<Target>> {
        match self {
            Sorted::Merge(merge) => merge.next(out),
            Sorted::Memory(memory) => Ok(memory.next(out).map(|(target, _)| target)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::RelFile;
    use buffer::Persistence;
    use index::{Compare, IndexDesc, KeyColumn};
    use tuple::{Attr, Physical, RowLayout};

    use super::*;

    fn index() -> OpenIndex {
        let attr = Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None };
        OpenIndex::open_default(IndexDesc {
            file: RelFile::default(),
            layout: Arc::new(RowLayout::new(vec![attr])),
            keys: Arc::new([KeyColumn::ascending(Compare::Int4)]),
            trees: Vec::new(),
            hashes: Vec::new(),
            parts: Vec::new(),
            spaces: Vec::new(),
            summaries: Vec::new(),
            persistence: Persistence::Permanent,
            unique: false,
            nulls_not_distinct: false,
            equal_image: true,
            options: Vec::new(),
        })
    }

    fn sorted(memory: usize, keys: &[i32]) -> Vec<(Option<i32>, Target)> {
        let dir = std::env::temp_dir().join(format!("index_sort{:016x}", runtime::random_u64()));
        let rel = index();
        let temp = TempDir::new(dir.clone(), base::Oid::PG_DEFAULT, 1);
        let mut sort = IndexSort::new(&rel, memory, temp);
        for (i, key) in keys.iter().enumerate() {
            let value = if *key == i32::MIN { Datum::Null } else { Datum::Int4(*key) };
            let target =
                Target { tid: Tid::new(BlockNo(i as u32 / 100), (i % 100) as u16 + 1), live: i % 3 > 0 };
            sort.add(&mut vec![value], target).unwrap();
        }
        let mut sorted = sort.finish().unwrap();
        let (mut out, mut row) = (Vec::new(), Vec::new());
        while let Some(target) = sorted.next(&mut row).unwrap() {
            let key = if let Datum::Int4(n) = row[0] { Some(n) } else { None };
            out.push((key, target));
        }
        drop(sorted);
        let _ = std::fs::remove_dir_all(dir);
        out
    }

    #[test]
    fn memory_and_disk_give_the_same_order() {
        let keys: Vec<i32> = (0..5000u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) % 1000) as i32)
            .chain([i32::MIN, 7])
            .collect();
        let memory = sorted(usize::MAX, &keys);
        assert_eq!(memory.len(), keys.len());
        assert!(memory.windows(2).all(|w| {
            let key = |i: usize| (w[i].0.is_none(), w[i].0, w[i].1.tid);
            key(0) < key(1)
        }));
        assert_eq!(memory, sorted(20_000, &keys));
    }

    #[test]
    fn nothing_in_nothing_out() {
        assert!(sorted(100, &[]).is_empty());
    }
}
