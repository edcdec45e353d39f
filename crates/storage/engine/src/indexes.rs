//! # What
//! The index access methods that there are, and open indexes and scans of any of them. A new one is a line in [`METHODS`], one in each of the two enums and of the
//! two macros, and a case where indexes and scans are opened; its manager is a line in `managers.rs`.
//!
//! # Invariants
//! 1. Which method it is, is decided here and nowhere above. Calls are forwarded by a branch, not through a table, so that the compiler sees the method's code from the
//!    executor's loop.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{BlockNo, Oid, SqlError, SqlResult, Tid};
use brin::BrinRel;
use btree::BtreeRel;
use gin::GinRel;
use gist::GistRel;
use hash::HashRel;
use hnsw::HnswRel;
use index::{
    Access, BitmapSink, DeadRows, EntryCheck, Facts, IndexAccessMethod, IndexDesc, IndexResult, IndexScan,
    InsertOutcome, Manner, PageMeasure, Ranges, ScanKey, ScanKeys, SortNumber, SortedEntries, TableRows,
    UniqueCheck, VacuumStats, VerifyOptions, Wants,
};
use ivfflat::IvfflatRel;
use page::PageBytes;
use spgist::SpgistRel;
use tuple::{Datum, RowLayout};
use txn::KeyRange;

/// All access methods that indexes can be made with.
pub const METHODS: &[&Facts] =
    &[&BtreeRel::FACTS, &GistRel::FACTS, &HashRel::FACTS, &GinRel::FACTS, &BrinRel::FACTS, &SpgistRel::FACTS];

/// Access methods that an extension brings: their rows of `pg_am` are made with it.
pub const BROUGHT: &[&Facts] = &[&HnswRel::FACTS, &IvfflatRel::FACTS];

/// The access method of the system catalogs' indexes, of TOAST tables', and where none is named.
pub const DEFAULT_METHOD: &Facts = &BtreeRel::FACTS;

/// The access method with this OID.
pub fn method(oid: Oid) -> Option<&'static Facts> {
    METHODS.iter().copied().find(|facts| facts.oid == oid)
}

/// The access method of an extension with this name.
pub fn brought(name: &str) -> Option<&'static Facts> {
    BROUGHT.iter().copied().find(|facts| facts.name == name)
}

/// The access method of an index that there is.
///
/// # Errors
/// No index can have this one.
pub fn known(oid: Oid) -> SqlResult<&'static Facts> {
    method(oid).ok_or_else(|| unknown(oid))
}

fn unknown(oid: Oid) -> SqlError {
    SqlError::internal(format!("cache lookup failed for access method {oid}"))
}

/// The access method with this name.
pub fn method_named(name: &str) -> Option<&'static Facts> {
    METHODS.iter().copied().find(|facts| facts.name == name)
}

/// An open index. Share it freely: a clone is another reference.
#[derive(Clone, Debug)]
pub enum OpenIndex {
    /// `btree`
    Btree(Arc<BtreeRel>),
    /// `gist`
    Gist(Arc<GistRel>),
    /// `hash`
    Hash(Arc<HashRel>),
    /// `gin`
    Gin(Arc<GinRel>),
    /// `brin`
    Brin(Arc<BrinRel>),
    /// `hnsw`
    Hnsw(Arc<HnswRel>),
    /// `ivfflat`
    Ivfflat(Arc<IvfflatRel>),
    /// `spgist`
    Spgist(Arc<SpgistRel>),
}

/// A scan of an index.
// The larger one is that of the point query, which is to cost no allocation.
#[allow(clippy::large_enum_variant)]
pub enum OpenScan {
    /// `btree`
    Btree(btree::Scan),
    /// `gist`
    Gist(gist::Scan),
    /// `hash`
    Hash(hash::Scan),
    /// `gin`
    Gin(gin::Scan),
    /// `brin`
    Brin(brin::Scan),
    /// `hnsw`
    Hnsw(hnsw::Scan),
    /// `ivfflat`
    Ivfflat(ivfflat::Scan),
    /// `spgist`
    Spgist(spgist::Scan),
}

macro_rules! with_index {
    ($index:expr, $rel:ident => $call:expr) => {
        match $index {
            OpenIndex::Btree($rel) => $call,
            OpenIndex::Gist($rel) => $call,
            OpenIndex::Hash($rel) => $call,
            OpenIndex::Gin($rel) => $call,
            OpenIndex::Brin($rel) => $call,
            OpenIndex::Hnsw($rel) => $call,
            OpenIndex::Ivfflat($rel) => $call,
            OpenIndex::Spgist($rel) => $call,
        }
    };
}

macro_rules! with_scan {
    ($scan:expr, $one:ident => $call:expr) => {
        match $scan {
            OpenScan::Btree($one) => $call,
            OpenScan::Gist($one) => $call,
            OpenScan::Hash($one) => $call,
            OpenScan::Gin($one) => $call,
            OpenScan::Brin($one) => $call,
            OpenScan::Hnsw($one) => $call,
            OpenScan::Ivfflat($one) => $call,
            OpenScan::Spgist($one) => $call,
        }
    };
}

fn facts_of<M: IndexAccessMethod>(_: &Arc<M>) -> &'static Facts {
    &M::FACTS
}

fn damage_of<M: IndexAccessMethod>(_: &Arc<M>, what: &str, index: &str) -> Option<String> {
    M::damage(what, index)
}

/// See [`IndexAccessMethod`].
impl OpenIndex {
    /// Opens an index of the access method with this OID. No I/O.
    ///
    /// # Errors
    /// There is none.
    pub fn open(method: Oid, desc: IndexDesc) -> SqlResult<OpenIndex> {
        match method {
            oid if oid == BtreeRel::FACTS.oid => Ok(OpenIndex::Btree(Arc::new(BtreeRel::open(desc)))),
            oid if oid == GistRel::FACTS.oid => Ok(OpenIndex::Gist(Arc::new(GistRel::open(desc)))),
            oid if oid == HashRel::FACTS.oid => Ok(OpenIndex::Hash(Arc::new(HashRel::open(desc)))),
            oid if oid == GinRel::FACTS.oid => Ok(OpenIndex::Gin(Arc::new(GinRel::open(desc)))),
            oid if oid == BrinRel::FACTS.oid => Ok(OpenIndex::Brin(Arc::new(BrinRel::open(desc)))),
            oid if oid == HnswRel::FACTS.oid => Ok(OpenIndex::Hnsw(Arc::new(HnswRel::open(desc)))),
            oid if oid == IvfflatRel::FACTS.oid => Ok(OpenIndex::Ivfflat(Arc::new(IvfflatRel::open(desc)))),
            oid if oid == SpgistRel::FACTS.oid => Ok(OpenIndex::Spgist(Arc::new(SpgistRel::open(desc)))),
            oid => Err(unknown(oid)),
        }
    }

    /// Opens an index of the [`DEFAULT_METHOD`]. No I/O.
    pub fn open_default(desc: IndexDesc) -> OpenIndex {
        OpenIndex::Btree(Arc::new(BtreeRel::open(desc)))
    }

    /// What its method can do.
    pub fn facts(&self) -> &'static Facts {
        with_index!(self, rel => facts_of(rel))
    }

    /// [`IndexAccessMethod::desc`]
    #[inline]
    pub fn desc(&self) -> &IndexDesc {
        with_index!(self, rel => rel.desc())
    }

    /// [`IndexAccessMethod::create_empty`]
    pub fn create_empty(&self, access: &Access<'_>) -> IndexResult<()> {
        with_index!(self, rel => rel.create_empty(access))
    }

    /// [`IndexAccessMethod::prepare`]
    #[inline]
    pub fn prepare(&self, values: &mut [Datum]) {
        with_index!(self, rel => rel.prepare(values));
    }

    /// [`IndexAccessMethod::compare_entries`]
    #[inline]
    pub fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        with_index!(self, rel => rel.compare_entries(a, b))
    }

    /// [`IndexAccessMethod::sort_number`]
    #[inline]
    pub fn sort_number(&self, values: &[Datum]) -> SortNumber {
        with_index!(self, rel => rel.sort_number(values))
    }

    /// [`IndexAccessMethod::build`]
    pub fn build(&self, access: &Access<'_>, next: SortedEntries<'_>) -> IndexResult<u64> {
        with_index!(self, rel => rel.build(access, next))
    }

    /// [`IndexAccessMethod::build_of_rows`]
    pub fn build_of_rows(&self, access: &Access<'_>, rows: &mut dyn TableRows) -> IndexResult<u64> {
        with_index!(self, rel => rel.build_of_rows(access, rows))
    }

    /// [`IndexAccessMethod::summarize`]
    pub fn summarize(
        &self,
        access: &Access<'_>,
        rows: &mut dyn TableRows,
        which: Ranges,
    ) -> IndexResult<u64> {
        with_index!(self, rel => rel.summarize(access, rows, which))
    }

    /// [`IndexAccessMethod::desummarize`]
    pub fn desummarize(&self, access: &Access<'_>, block: BlockNo) -> IndexResult<()> {
        with_index!(self, rel => rel.desummarize(access, block))
    }

    /// [`IndexAccessMethod::covers`]
    pub fn covers(&self, access: &Access<'_>, values: &[Datum], tid: Tid) -> IndexResult<bool> {
        with_index!(self, rel => rel.covers(access, values, tid))
    }

    /// [`IndexAccessMethod::insert`]
    #[inline]
    pub fn insert(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tid: Tid,
        unique: UniqueCheck<'_>,
        rows: &dyn DeadRows,
    ) -> IndexResult<InsertOutcome> {
        with_index!(self, rel => rel.insert(access, values, tid, unique, rows))
    }

    /// [`IndexAccessMethod::insert_batch`]
    pub fn insert_batch(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tids: &[Tid],
        rows: &dyn DeadRows,
    ) -> IndexResult<()> {
        with_index!(self, rel => rel.insert_batch(access, values, tids, rows))
    }

    /// [`IndexAccessMethod::bulk_delete`]
    pub fn bulk_delete(
        &self,
        access: &Access<'_>,
        is_dead: &mut dyn FnMut(Tid) -> bool,
        manner: &mut Manner<'_>,
        stats: &mut VacuumStats,
    ) -> IndexResult<()> {
        with_index!(self, rel => rel.bulk_delete(access, is_dead, manner, stats))
    }

    /// [`IndexAccessMethod::cleanup`]
    pub fn cleanup(
        &self,
        access: &Access<'_>,
        manner: &mut Manner<'_>,
        stats: Option<VacuumStats>,
    ) -> IndexResult<VacuumStats> {
        with_index!(self, rel => rel.cleanup(access, manner, stats))
    }

    /// [`IndexAccessMethod::scan`]
    pub fn scan(&self, keys: ScanKeys, wants: Wants) -> OpenScan {
        match self {
            OpenIndex::Btree(rel) => OpenScan::Btree(rel.scan(keys, wants)),
            OpenIndex::Gist(rel) => OpenScan::Gist(rel.scan(keys, wants)),
            OpenIndex::Hash(rel) => OpenScan::Hash(rel.scan(keys, wants)),
            OpenIndex::Gin(rel) => OpenScan::Gin(rel.scan(keys, wants)),
            OpenIndex::Brin(rel) => OpenScan::Brin(rel.scan(keys, wants)),
            OpenIndex::Hnsw(rel) => OpenScan::Hnsw(rel.scan(keys, wants)),
            OpenIndex::Ivfflat(rel) => OpenScan::Ivfflat(rel.scan(keys, wants)),
            OpenIndex::Spgist(rel) => OpenScan::Spgist(rel.scan(keys, wants)),
        }
    }

    /// [`IndexAccessMethod::key_range`]
    pub fn key_range(&self, keys: ScanKeys) -> Option<Arc<dyn KeyRange>> {
        with_index!(self, rel => rel.key_range(keys))
    }

    /// [`IndexAccessMethod::entry_layout`]
    pub fn entry_layout(&self) -> &RowLayout {
        with_index!(self, rel => rel.entry_layout())
    }

    /// [`IndexAccessMethod::entries`]
    pub fn entries(
        &self,
        values: &mut [Datum],
        each: &mut dyn FnMut(&[Datum]) -> Result<(), SqlError>,
    ) -> IndexResult<()> {
        with_index!(self, rel => rel.entries(values, each))
    }

    /// [`IndexAccessMethod::verify`]
    pub fn verify(
        &self,
        access: &Access<'_>,
        options: VerifyOptions,
        each: Option<EntryCheck<'_>>,
    ) -> IndexResult<()> {
        with_index!(self, rel => rel.verify(access, options, each))
    }

    /// [`IndexAccessMethod::enter_pending`]
    pub fn enter_pending(&self, access: &Access<'_>) -> IndexResult<Option<u64>> {
        with_index!(self, rel => rel.enter_pending(access))
    }

    /// [`IndexAccessMethod::measure`]
    pub fn measure(&self, block: BlockNo, page: &PageBytes) -> IndexResult<PageMeasure> {
        with_index!(self, rel => rel.measure(block, page))
    }

    /// [`IndexAccessMethod::damage`]
    pub fn damage(&self, what: &str, index: &str) -> Option<String> {
        with_index!(self, rel => damage_of(rel, what, index))
    }
}

/// See [`IndexScan`].
impl OpenScan {
    /// [`IndexScan::rescan`]
    pub fn rescan(&mut self, access: &Access<'_>, keys: ScanKeys) {
        with_scan!(self, scan => IndexScan::rescan(scan, access, keys));
    }

    /// [`IndexScan::rescan_equal`]
    #[inline]
    pub fn rescan_equal<E>(
        &mut self,
        access: &Access<'_>,
        columns: usize,
        value: impl FnMut(usize) -> Result<Datum, E>,
    ) -> Result<bool, E> {
        with_scan!(self, scan => IndexScan::rescan_equal(scan, access, columns, value))
    }

    /// [`IndexScan::order_by`]
    pub fn order_by(&mut self, distances: Vec<ScanKey>) -> IndexResult<()> {
        with_scan!(self, scan => IndexScan::order_by(scan, distances))
    }

    /// [`IndexScan::distances`]
    pub fn distances(&self) -> Option<&[f64]> {
        with_scan!(self, scan => IndexScan::distances(scan))
    }

    /// [`IndexScan::recheck_distances`]
    pub fn recheck_distances(&self) -> bool {
        with_scan!(self, scan => IndexScan::recheck_distances(scan))
    }

    /// [`IndexScan::next`]
    #[inline]
    pub fn next(&mut self, access: &Access<'_>) -> IndexResult<Option<Tid>> {
        with_scan!(self, scan => IndexScan::next(scan, access))
    }

    /// [`IndexScan::recheck`]
    #[inline]
    pub fn recheck(&self) -> bool {
        with_scan!(self, scan => IndexScan::recheck(scan))
    }

    /// [`IndexScan::bitmap`]
    pub fn bitmap(&mut self, access: &Access<'_>, sink: &mut dyn BitmapSink) -> IndexResult<()> {
        with_scan!(self, scan => IndexScan::bitmap(scan, access, sink))
    }

    /// [`IndexScan::has_more`]
    #[inline]
    pub fn has_more(&self) -> bool {
        with_scan!(self, scan => IndexScan::has_more(scan))
    }

    /// What [`OpenScan::next`] will return, as far as it is at hand, in that order.
    #[inline]
    pub fn upcoming(&self) -> impl Iterator<Item = Tid> {
        (0..).map_while(|n| with_scan!(self, scan => IndexScan::upcoming(scan, n)))
    }

    /// [`IndexScan::pass`]
    #[inline]
    pub fn pass(&mut self, count: usize) {
        with_scan!(self, scan => IndexScan::pass(scan, count));
    }

    /// [`IndexScan::values`]
    pub fn values(&self, out: &mut Vec<Datum>) -> IndexResult<()> {
        with_scan!(self, scan => IndexScan::values(scan, out))
    }

    /// [`IndexScan::kill_current`]
    pub fn kill_current(&mut self) {
        with_scan!(self, scan => IndexScan::kill_current(scan));
    }

    /// [`IndexScan::watch`]
    pub fn watch(&mut self) -> Option<Arc<dyn KeyRange>> {
        with_scan!(self, scan => IndexScan::watch(scan))
    }

    /// [`IndexScan::read_part`]
    pub fn read_part(&mut self, want_values: bool) -> IndexResult<Option<Arc<dyn KeyRange>>> {
        with_scan!(self, scan => IndexScan::read_part(scan, want_values))
    }

    /// [`IndexScan::take_searches`]
    pub fn take_searches(&mut self) -> u64 {
        with_scan!(self, scan => IndexScan::take_searches(scan))
    }

    /// [`IndexScan::finish`]
    #[inline]
    pub fn finish(&mut self, access: &Access<'_>) {
        with_scan!(self, scan => IndexScan::finish(scan, access));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_by_oid_and_by_name() {
        for facts in METHODS {
            assert_eq!(method(facts.oid), Some(*facts));
            assert_eq!(method_named(facts.name), Some(*facts));
        }
        assert_eq!(method(Oid(1)), None);
        assert_eq!(method_named("heap"), None);
        assert!(METHODS.contains(&DEFAULT_METHOD));
    }

    #[test]
    fn facts_do_not_contradict_each_other() {
        for facts in METHODS {
            assert!(facts.index_scan || facts.bitmap_scan, "{} finds nothing", facts.name);
            assert!(!facts.can_unique || facts.equality.is_some(), "{} cannot tell duplicates", facts.name);
            assert!(!facts.returnable || facts.index_scan, "{} has nothing to return", facts.name);
        }
    }
}
