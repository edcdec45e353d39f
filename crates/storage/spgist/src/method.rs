//! SP-GiST as an index access method.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{Oid, Tid};
use index::{
    Access, DeadRows, EntryCheck, Facts, IndexAccessMethod, IndexDesc, IndexResult, InsertOutcome, Manner,
    OptionKind, ScanKeys, SortedEntries, StorageOption, UniqueCheck, VacuumStats, VerifyOptions, Wants,
};
use tuple::Datum;
use txn::KeyRange;
use wal::ResourceManager;

use crate::{Scan, SpgistRel};

pub(crate) const FACTS: Facts = Facts {
    oid: Oid(4000),
    name: "spgist",
    equality: None,
    can_order: false,
    can_order_by_operator: true,
    can_backward: false,
    can_unique: false,
    can_multi_column: false,
    can_include: true,
    index_scan: true,
    bitmap_scan: true,
    returnable: true,
    clusterable: false,
    search_array: false,
    search_nulls: true,
    lossy: true,
    summarizes: false,
    options: &[StorageOption { name: "fillfactor", kind: OptionKind::Int(10, 100) }],
    build_steps: [
        "initializing",
        "scanning table",
        "sorting live tuples",
        "sorting dead tuples",
        "loading tuples in tree",
    ],
};

impl IndexAccessMethod for SpgistRel {
    const FACTS: Facts = FACTS;
    const MANAGER: ResourceManager = crate::redo::MANAGER;
    type Scan = Scan;

    fn open(desc: IndexDesc) -> SpgistRel {
        SpgistRel::new(desc)
    }

    fn desc(&self) -> &IndexDesc {
        &self.desc
    }

    fn create_empty(&self, access: &Access<'_>) -> IndexResult<()> {
        crate::build::create_empty(access, self)
    }

    /// Rows are entered as they lie in the table.
    fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        a.1.cmp(&b.1)
    }

    fn build(&self, access: &Access<'_>, next: SortedEntries<'_>) -> IndexResult<u64> {
        crate::build::build(access, self, next)
    }

    /// The method cannot tell duplicates: who has an exclusion constraint looks for conflicts himself.
    fn insert(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tid: Tid,
        _unique: UniqueCheck<'_>,
        _rows: &dyn DeadRows,
    ) -> IndexResult<InsertOutcome> {
        crate::insert::insert(access, self, values, tid)
    }

    fn vacuum_pass(
        &self,
        access: &Access<'_>,
        is_dead: Option<&mut dyn FnMut(Tid) -> bool>,
        manner: &mut Manner<'_>,
    ) -> IndexResult<VacuumStats> {
        crate::vacuum::pass(access, self, is_dead, manner)
    }

    fn scan(self: &Arc<Self>, keys: ScanKeys, wants: Wants) -> Scan {
        Scan::new(self.clone(), keys, wants)
    }

    fn key_range(self: &Arc<Self>, keys: ScanKeys) -> Option<Arc<dyn KeyRange>> {
        index::conditions(self, keys.keys)
    }

    fn verify(
        &self,
        access: &Access<'_>,
        options: VerifyOptions,
        each: Option<EntryCheck<'_>>,
    ) -> IndexResult<()> {
        crate::verify::verify(access, self, options, each).map(|_| ())
    }

    fn damage(_what: &str, _index: &str) -> Option<String> {
        None
    }
}
