//! BRIN as an index access method.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{BlockNo, Fork, Oid, Tid};
use index::{
    Access, DeadRows, EntryCheck, Facts, IndexAccessMethod, IndexDesc, IndexResult, InsertOutcome, Manner,
    OptionKind, Ranges, ScanKeys, SortedEntries, StorageOption, TableRows, UniqueCheck, VacuumStats,
    VerifyOptions, Wants,
};
use tuple::Datum;
use txn::KeyRange;
use wal::ResourceManager;

use crate::{BrinRel, Scan};

pub(crate) const FACTS: Facts = Facts {
    oid: Oid(3580),
    name: "brin",
    equality: None,
    can_order: false,
    can_order_by_operator: false,
    can_backward: false,
    can_unique: false,
    can_multi_column: true,
    can_include: false,
    index_scan: false,
    bitmap_scan: true,
    returnable: false,
    clusterable: false,
    search_array: false,
    search_nulls: true,
    lossy: true,
    summarizes: true,
    options: &[
        StorageOption { name: "pages_per_range", kind: OptionKind::Int(1, 131_072) },
        StorageOption { name: "autosummarize", kind: OptionKind::Bool },
    ],
    build_steps: [
        "initializing",
        "scanning table",
        "sorting live tuples",
        "sorting dead tuples",
        "loading tuples",
    ],
};

impl IndexAccessMethod for BrinRel {
    const FACTS: Facts = FACTS;
    const MANAGER: ResourceManager = crate::redo::MANAGER;
    type Scan = Scan;

    fn open(desc: IndexDesc) -> BrinRel {
        BrinRel::new(desc)
    }

    fn desc(&self) -> &IndexDesc {
        &self.desc
    }

    fn create_empty(&self, access: &Access<'_>) -> IndexResult<()> {
        crate::build::create_empty(access, self)
    }

    fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        a.1.cmp(&b.1)
    }

    /// Rows are read where they lie: see [`build_of_rows`](IndexAccessMethod::build_of_rows). Without any, the index is empty.
    fn build(&self, access: &Access<'_>, _next: SortedEntries<'_>) -> IndexResult<u64> {
        self.create_empty(access)?;
        Ok(0)
    }

    fn build_of_rows(&self, access: &Access<'_>, rows: &mut dyn TableRows) -> IndexResult<u64> {
        self.create_empty(access)?;
        crate::summarize::build(access, self, rows)
    }

    fn summarize(&self, access: &Access<'_>, rows: &mut dyn TableRows, which: Ranges) -> IndexResult<u64> {
        crate::summarize::summarize(access, self, rows, which)
    }

    fn desummarize(&self, access: &Access<'_>, block: BlockNo) -> IndexResult<()> {
        crate::summarize::desummarize(access, self, block)
    }

    fn covers(&self, access: &Access<'_>, values: &[Datum], tid: Tid) -> IndexResult<bool> {
        crate::summarize::covers(access, self, values, tid)
    }

    fn insert(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tid: Tid,
        _unique: UniqueCheck<'_>,
        _rows: &dyn DeadRows,
    ) -> IndexResult<InsertOutcome> {
        crate::summarize::insert(access, self, values, &[tid])?;
        Ok(InsertOutcome::Inserted)
    }

    fn insert_batch(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tids: &[Tid],
        _rows: &dyn DeadRows,
    ) -> IndexResult<()> {
        crate::summarize::insert(access, self, values, tids)
    }

    /// There are no TIDs: a summary tells of rows that are gone until its range is summarized anew.
    fn bulk_delete(
        &self,
        _access: &Access<'_>,
        _is_dead: &mut dyn FnMut(Tid) -> bool,
        _manner: &mut Manner<'_>,
        _stats: &mut VacuumStats,
    ) -> IndexResult<()> {
        Ok(())
    }

    fn cleanup(
        &self,
        access: &Access<'_>,
        _manner: &mut Manner<'_>,
        stats: Option<VacuumStats>,
    ) -> IndexResult<VacuumStats> {
        let pages = access.pool.nblocks(self.desc.file, Fork::Main)?;
        Ok(VacuumStats { pages, estimated: true, ..stats.unwrap_or_default() })
    }

    fn scan(self: &Arc<Self>, keys: ScanKeys, _wants: Wants) -> Scan {
        Scan::new(self.clone(), keys)
    }

    fn key_range(self: &Arc<Self>, keys: ScanKeys) -> Option<Arc<dyn KeyRange>> {
        index::conditions(self, keys.keys)
    }

    /// No entries are handed out: whether a row is told of is asked by [`covers`](IndexAccessMethod::covers).
    fn verify(
        &self,
        access: &Access<'_>,
        options: VerifyOptions,
        _each: Option<EntryCheck<'_>>,
    ) -> IndexResult<()> {
        crate::verify::verify(access, self, options).map(|_| ())
    }
}
