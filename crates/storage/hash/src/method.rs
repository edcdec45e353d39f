//! Hash as an index access method.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{BlockNo, Oid, Tid};
use index::{
    Access, DeadRows, EntryCheck, Facts, IndexAccessMethod, IndexDesc, IndexResult, InsertOutcome, Manner,
    OptionKind, PageMeasure, Pages, ScanKeys, SortNumber, SortedEntries, StorageOption, UniqueCheck,
    VacuumStats, VerifyOptions, Wants,
};
use page::PageBytes;
use tuple::Datum;
use txn::KeyRange;
use wal::ResourceManager;

use crate::{HashRel, Scan};

pub(crate) const FACTS: Facts = Facts {
    oid: Oid(405),
    name: "hash",
    equality: Some(1),
    can_order: false,
    can_order_by_operator: false,
    can_backward: true,
    can_unique: false,
    can_multi_column: false,
    can_include: false,
    index_scan: true,
    bitmap_scan: true,
    returnable: false,
    clusterable: false,
    search_array: false,
    search_nulls: false,
    lossy: true,
    summarizes: false,
    options: &[StorageOption { name: "fillfactor", kind: OptionKind::Int(10, 100) }],
    build_steps: [
        "initializing",
        "scanning table",
        "sorting live tuples",
        "sorting dead tuples",
        "loading tuples in buckets",
    ],
};

/// What a build sorts by.
fn code_of(values: &[Datum]) -> Option<u32> {
    match values.first() {
        Some(Datum::Int4(code)) => Some(*code as u32),
        _ => None,
    }
}

impl IndexAccessMethod for HashRel {
    const FACTS: Facts = FACTS;
    const MANAGER: ResourceManager = crate::redo::MANAGER;
    type Scan = Scan;

    fn open(desc: IndexDesc) -> HashRel {
        HashRel::new(desc)
    }

    fn desc(&self) -> &IndexDesc {
        &self.desc
    }

    fn create_empty(&self, access: &Access<'_>) -> IndexResult<()> {
        crate::build::create_empty(access, self)
    }

    /// Codes take the place of values before they are sorted.
    fn prepare(&self, values: &mut [Datum]) {
        self.desc.make_keys(values);
    }

    fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        code_of(a.0).cmp(&code_of(b.0)).then(a.1.cmp(&b.1))
    }

    fn sort_number(&self, values: &[Datum]) -> SortNumber {
        SortNumber { number: code_of(values).map_or(0, |code| u64::from(code) + 1), whole: true }
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
        match values.first() {
            Some(value) if !value.is_null() => crate::insert::insert(access, self, self.code(value), tid),
            _ => Ok(InsertOutcome::Inserted),
        }
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
        crate::range::key_range(self, crate::scan::codes_of(self, &keys))
    }

    fn verify(
        &self,
        access: &Access<'_>,
        options: VerifyOptions,
        each: Option<EntryCheck<'_>>,
    ) -> IndexResult<()> {
        crate::verify::verify(access, self, options, each).map(|_| ())
    }

    fn measure(&self, block: BlockNo, page: &PageBytes) -> IndexResult<PageMeasure> {
        self.check(block, crate::format::measure(page))
    }
}
