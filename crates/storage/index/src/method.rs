//! The traits of an access method. The [crate's documentation](crate) says how methods of other kinds than a B-tree fit them.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{BlockNo, SqlError, Tid};
use page::PageBytes;
use tuple::{Datum, RowLayout};
use txn::KeyRange;
use wal::ResourceManager;

use crate::{
    Access, DeadRows, EntryCheck, Facts, IndexDesc, IndexError, IndexResult, InsertOutcome, Manner,
    PageMeasure, ScanKey, ScanKeys, SortNumber, UniqueCheck, VacuumStats, VerifyOptions, Wants, interrupts,
};

/// Input of a build: clears and fills the values of one row's columns and returns its TID, or `None` behind the last.
pub type SortedEntries<'a> = &'a mut dyn FnMut(&mut Vec<Datum>) -> Result<Option<Tid>, SqlError>;

/// Rows of the table of an index that [summarizes](Facts::summarizes), with the values of the index's columns.
pub trait TableRows {
    /// Pages of the table.
    fn pages(&mut self) -> IndexResult<u32>;

    /// Gives all rows on `count` pages from `first` on that somebody may see, now or later, page by page.
    fn rows(
        &mut self,
        first: BlockNo,
        count: u32,
        each: &mut dyn FnMut(Tid, &[Datum]) -> IndexResult<()>,
    ) -> IndexResult<()>;
}

/// Which ranges of a table are to be summarized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// All.
    All,
    /// All but one that the table does not fill yet.
    Full,
    /// The one with this page of the table.
    Of(BlockNo),
}

/// An open index of one access method. It may remember hints between calls, all of which may be stale at any time; it is shared by `Arc`.
pub trait IndexAccessMethod: Sized {
    /// What the method can do.
    const FACTS: Facts;
    /// Who replays and describes its records.
    const MANAGER: ResourceManager;
    /// Its scans.
    type Scan: IndexScan;

    /// Opens an index by its description. No I/O.
    fn open(desc: IndexDesc) -> Self;

    /// The description.
    fn desc(&self) -> &IndexDesc;

    /// Makes the main fork, which must be empty, an empty index; the initial fork of an unlogged one too.
    fn create_empty(&self, access: &Access<'_>) -> IndexResult<()>;

    /// Makes of a row's values what the method [sorts](IndexAccessMethod::compare_entries) and [`build`](IndexAccessMethod::build) takes.
    fn prepare(&self, _values: &mut [Datum]) {}

    /// The order in which [`build`](IndexAccessMethod::build) wants rows. Who builds sorts by it, and finds duplicates of a unique key side by side. A method that takes
    /// rows as they lie in the table answers with the order of their TIDs.
    fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering;

    /// A number that tells as much as it can of [`compare_entries`](IndexAccessMethod::compare_entries), and never contradicts it.
    fn sort_number(&self, _values: &[Datum]) -> SortNumber {
        SortNumber::NONE
    }

    /// Fills the empty main fork. Returns the number of entries.
    fn build(&self, access: &Access<'_>, next: SortedEntries<'_>) -> IndexResult<u64>;

    /// As [`build`](IndexAccessMethod::build), of a method that [summarizes](Facts::summarizes): from rows as they lie in the table. Returns how many there are.
    fn build_of_rows(&self, _access: &Access<'_>, _rows: &mut dyn TableRows) -> IndexResult<u64> {
        Err(IndexError::Unsupported { method: Self::FACTS.name, what: "building from a table" })
    }

    /// Summarizes those of some ranges that have no summary; others write to the table meanwhile, but nobody else does this. Returns how many these were. Of a method that
    /// [summarizes](Facts::summarizes).
    fn summarize(&self, _access: &Access<'_>, _rows: &mut dyn TableRows, _which: Ranges) -> IndexResult<u64> {
        Err(IndexError::Unsupported { method: Self::FACTS.name, what: "summaries" })
    }

    /// Takes away the summary of the range with a page of the table. Of a method that [summarizes](Facts::summarizes).
    fn desummarize(&self, _access: &Access<'_>, _block: BlockNo) -> IndexResult<()> {
        Err(IndexError::Unsupported { method: Self::FACTS.name, what: "summaries" })
    }

    /// Whether the summary of a row's range tells of the row. Of a method that [summarizes](Facts::summarizes).
    fn covers(&self, _access: &Access<'_>, _values: &[Datum], _tid: Tid) -> IndexResult<bool> {
        Err(IndexError::Unsupported { method: Self::FACTS.name, what: "summaries" })
    }

    /// Enters the row at `tid`: `values` are its key columns, then INCLUDE columns, detoasted. `rows`: those of the table. Waits for nobody: see
    /// [`InsertOutcome`].
    fn insert(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tid: Tid,
        unique: UniqueCheck<'_>,
        rows: &dyn DeadRows,
    ) -> IndexResult<InsertOutcome>;

    /// Enters many rows whose keys need not be unique: as many `values`, one row's behind the other's, as [`insert`](IndexAccessMethod::insert) takes for each of the `tids`. They may be
    /// entered in any order.
    fn insert_batch(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tids: &[Tid],
        rows: &dyn DeadRows,
    ) -> IndexResult<()> {
        let width = values.len() / tids.len().max(1);
        for (i, tid) in tids.iter().enumerate() {
            interrupts()?;
            self.insert(access, &values[i * width..(i + 1) * width], *tid, UniqueCheck::No, rows)?;
        }
        Ok(())
    }

    /// One pass of VACUUM over all pages. Without `is_dead` it removes no entry: it counts them, and frees pages whose time has come. Methods whose VACUUM is not one pass implement
    /// [`bulk_delete`](IndexAccessMethod::bulk_delete) and [`cleanup`](IndexAccessMethod::cleanup) themselves.
    fn vacuum_pass(
        &self,
        _access: &Access<'_>,
        _is_dead: Option<&mut dyn FnMut(Tid) -> bool>,
        _manner: &mut Manner<'_>,
    ) -> IndexResult<VacuumStats> {
        Err(IndexError::Unsupported { method: Self::FACTS.name, what: "passes of VACUUM" })
    }

    /// Removes what refers to TIDs that `is_dead`, and adds to `stats`. It is asked of every TID in the index, so that who answers `false` learns them all. May be called
    /// several times in one VACUUM.
    fn bulk_delete(
        &self,
        access: &Access<'_>,
        is_dead: &mut dyn FnMut(Tid) -> bool,
        manner: &mut Manner<'_>,
        stats: &mut VacuumStats,
    ) -> IndexResult<()> {
        stats.add_pass(self.vacuum_pass(access, Some(is_dead), manner)?);
        Ok(())
    }

    /// Ends a VACUUM. `stats`: what [`bulk_delete`](IndexAccessMethod::bulk_delete) gathered; `None` if it did not run.
    fn cleanup(
        &self,
        access: &Access<'_>,
        manner: &mut Manner<'_>,
        stats: Option<VacuumStats>,
    ) -> IndexResult<VacuumStats> {
        stats.map_or_else(|| self.vacuum_pass(access, None, manner), Ok)
    }

    /// A scan that has not started.
    fn scan(self: &Arc<Self>, keys: ScanKeys, wants: Wants) -> Self::Scan;

    /// The keys that satisfy conditions, for a serializable transaction to lock; none if they contradict each other.
    fn key_range(self: &Arc<Self>, keys: ScanKeys) -> Option<Arc<dyn KeyRange>>;

    /// How [`entries`](IndexAccessMethod::entries) are laid out.
    fn entry_layout(&self) -> &RowLayout {
        &self.desc().layout
    }

    /// What [`verify`](IndexAccessMethod::verify) hands out of a row's entries: one with the keys that are kept, unless the method keeps the row's parts.
    ///
    /// # Errors
    /// What `each` says.
    fn entries(
        &self,
        values: &mut [Datum],
        each: &mut dyn FnMut(&[Datum]) -> Result<(), SqlError>,
    ) -> IndexResult<()> {
        self.desc().make_keys(values);
        Ok(each(values)?)
    }

    /// Checks the pages, as far as `options` say, and hands every entry that is not known to be dead to `each`.
    ///
    /// # Errors
    /// What is wrong; the first that is found.
    fn verify(
        &self,
        access: &Access<'_>,
        options: VerifyOptions,
        each: Option<EntryCheck<'_>>,
    ) -> IndexResult<()>;

    /// Enters what was put off when rows were entered, and says how many pages it took; none of a method that puts nothing off.
    fn enter_pending(&self, _access: &Access<'_>) -> IndexResult<Option<u64>> {
        Ok(None)
    }

    /// What a page is used for, and how full it is; it is not a [new](page::is_new) one.
    ///
    /// # Errors
    /// The page is damaged; [`IndexError::Unsupported`] of a method that does not say.
    fn measure(&self, _block: BlockNo, _page: &PageBytes) -> IndexResult<PageMeasure> {
        Err(IndexError::Unsupported { method: Self::FACTS.name, what: "figures of pages" })
    }

    /// PostgreSQL's words for what [`IndexError::Corrupt`] says is wrong with the index of this name, where it has some.
    fn damage(_what: &str, _index: &str) -> Option<String> {
        None
    }
}

/// Takes what a scan finds as a set.
pub trait BitmapSink {
    /// A row satisfies the conditions; or may, if it is to be checked again.
    fn tid(&mut self, tid: Tid, recheck: bool) -> IndexResult<()>;

    /// All rows of `count` pages from `first` on may. Only of a method that [summarizes](Facts::summarizes).
    fn pages(&mut self, first: BlockNo, count: u32) -> IndexResult<()>;

    /// Pages of the table, for a method that [summarizes](Facts::summarizes).
    fn table_pages(&mut self) -> IndexResult<u32>;
}

/// A scan of an index. It holds no latch between calls.
pub trait IndexScan {
    /// Starts again with other conditions, keeping allocations.
    fn rescan(&mut self, access: &Access<'_>, keys: ScanKeys);

    /// Starts again as a point query, in the direction that it has: each of the leading `columns`, at least one, is to equal its `value`. Of a method that has
    /// [equality](Facts::equality). `false` if one of them is NULL: nothing will be found, as after an error.
    fn rescan_equal<E>(
        &mut self,
        _access: &Access<'_>,
        _columns: usize,
        _value: impl FnMut(usize) -> Result<Datum, E>,
    ) -> Result<bool, E> {
        Ok(false)
    }

    /// The scan is to give entries in the order of their distances from values: each condition's operator is one that tells a distance, and its
    /// strategy number is that of the family. Called after a `rescan`.
    ///
    /// # Errors
    /// [`IndexError::Unsupported`] unless the method [can](Facts::can_order_by_operator).
    fn order_by(&mut self, _distances: Vec<ScanKey>) -> IndexResult<()> {
        Err(IndexError::Unsupported { method: self.method().name, what: "ordering operators" })
    }

    /// Distances of the entry that came last, one for each condition of [`order_by`](IndexScan::order_by), in the order of
    /// [`compare_distances`](crate::compare_distances). The row's own may be greater if [`recheck_distances`](IndexScan::recheck_distances) says so. None without such an order.
    fn distances(&self) -> Option<&[f64]> {
        None
    }

    /// Whether the [distances](IndexScan::distances) of the row of the entry that came last may be greater than those of the entry.
    fn recheck_distances(&self) -> bool {
        self.recheck()
    }

    /// Facts of the method.
    fn method(&self) -> &'static Facts;

    /// The next entry in the scan's direction. Of a method with [`index_scan`](Facts::index_scan).
    ///
    /// # Errors
    /// [`IndexError::Unsupported`] of a method that has no such scans, as those below then need nothing else.
    fn next(&mut self, _access: &Access<'_>) -> IndexResult<Option<Tid>> {
        Err(IndexError::Unsupported { method: self.method().name, what: "plain index scans" })
    }

    /// Whether the row of the entry that came last is to be checked against the conditions.
    #[inline]
    fn recheck(&self) -> bool {
        false
    }

    /// Adds all that the scan finds, from its start. Of a method with [`bitmap_scan`](Facts::bitmap_scan).
    fn bitmap(&mut self, access: &Access<'_>, sink: &mut dyn BitmapSink) -> IndexResult<()> {
        while let Some(tid) = self.next(access)? {
            sink.tid(tid, self.recheck())?;
        }
        Ok(())
    }

    /// Whether [`next`](IndexScan::next) may find an entry behind the one that it returned last.
    fn has_more(&self) -> bool {
        false
    }

    /// What the `n`th call of [`next`](IndexScan::next) from now on, counted from 0, will return, if the scan has that and those before it at hand, and none of them is to
    /// be [checked again](IndexScan::recheck).
    fn upcoming(&self, _n: usize) -> Option<Tid> {
        None
    }

    /// Goes on by so many entries of those that are [`upcoming`](IndexScan::upcoming).
    fn pass(&mut self, _count: usize) {}

    /// Column values of the entry that came last, INCLUDE columns too; appended to `out`. Nothing is appended without such an entry or
    /// if the scan does not [keep](Wants::values) them.
    fn values(&self, _out: &mut Vec<Datum>) -> IndexResult<()> {
        Ok(())
    }

    /// The row of the entry that came last is dead to everybody: the entry may be marked, so that no later scan finds it.
    fn kill_current(&mut self) {}

    /// The keys that the scan is going to read, for a serializable transaction to lock; none if it reads none. From now on the scan knows where it is.
    fn watch(&mut self) -> Option<Arc<dyn KeyRange>>;

    /// The part of them that it has read, if it is to go no further; none if it is all of them. `want_values`: as the scan was opened.
    fn read_part(&mut self, _want_values: bool) -> IndexResult<Option<Arc<dyn KeyRange>>> {
        Ok(None)
    }

    /// How often a scan began a search since this was asked.
    fn take_searches(&mut self) -> u64;

    /// Ends the scan: pending marks are made and pins go. Dropping the scan without it only loses the marks. The scan may start again.
    fn finish(&mut self, _access: &Access<'_>) {}
}
