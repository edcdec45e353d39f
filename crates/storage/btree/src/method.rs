//! The B-tree as an index access method.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{BlockNo, Oid, Tid};
use index::{
    Access, DeadRows, EntryCheck, Facts, IndexAccessMethod, IndexDesc, IndexResult, IndexScan, InsertOutcome,
    Manner, OptionKind, PageMeasure, Pages, ScanKeys, SortNumber, SortedEntries, StorageOption, UniqueCheck,
    VacuumStats, VerifyOptions, Wants, strategy,
};
use page::PageBytes;
use tuple::Datum;
use txn::KeyRange;
use wal::ResourceManager;

use crate::verify::{CROSS_PAGE_ORDER, DOWNLINK, HIGH_KEY, ITEM_ORDER, ROOT_DESCENT};
use crate::{BtreeRel, Scan};

/// Name and version of the format, as messages have them.
pub(crate) const FORMAT: &str = "btree version 4";

const FACTS: Facts = Facts {
    oid: Oid(403),
    name: "btree",
    equality: Some(strategy::EQUAL),
    can_order: true,
    can_order_by_operator: false,
    can_backward: true,
    can_unique: true,
    can_multi_column: true,
    can_include: true,
    index_scan: true,
    bitmap_scan: true,
    returnable: true,
    clusterable: true,
    search_array: true,
    search_nulls: true,
    lossy: false,
    summarizes: false,
    options: &[
        StorageOption { name: "fillfactor", kind: OptionKind::Int(10, 100) },
        StorageOption { name: "deduplicate_items", kind: OptionKind::Bool },
    ],
    build_steps: [
        "initializing",
        "scanning table",
        "sorting live tuples",
        "sorting dead tuples",
        "loading tuples in tree",
    ],
};

impl IndexAccessMethod for BtreeRel {
    const FACTS: Facts = FACTS;
    const MANAGER: ResourceManager = crate::redo::MANAGER;
    type Scan = Scan;

    fn open(desc: IndexDesc) -> BtreeRel {
        BtreeRel::new(desc)
    }

    #[inline]
    fn desc(&self) -> &IndexDesc {
        &self.desc
    }

    fn create_empty(&self, access: &Access<'_>) -> IndexResult<()> {
        crate::build::create_empty(access, self)
    }

    #[inline]
    fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        self.desc.compare_entries(a, b)
    }

    fn sort_number(&self, values: &[Datum]) -> SortNumber {
        SortNumber::of(&self.desc.keys, values)
    }

    fn build(&self, access: &Access<'_>, next: SortedEntries<'_>) -> IndexResult<u64> {
        crate::build::build(access, self, next)
    }

    fn insert(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tid: Tid,
        unique: UniqueCheck<'_>,
        rows: &dyn DeadRows,
    ) -> IndexResult<InsertOutcome> {
        crate::insert::insert(access, self, values, tid, unique, rows)
    }

    fn bulk_delete(
        &self,
        access: &Access<'_>,
        is_dead: &mut dyn FnMut(Tid) -> bool,
        manner: &mut Manner<'_>,
        stats: &mut VacuumStats,
    ) -> IndexResult<()> {
        crate::vacuum::bulk_delete(access, self, is_dead, manner, stats)
    }

    fn cleanup(
        &self,
        access: &Access<'_>,
        manner: &mut Manner<'_>,
        stats: Option<VacuumStats>,
    ) -> IndexResult<VacuumStats> {
        crate::vacuum::cleanup(access, self, manner, stats)
    }

    fn scan(self: &Arc<Self>, keys: ScanKeys, wants: Wants) -> Scan {
        Scan::new(self.clone(), keys, wants.values, wants.pin)
    }

    fn key_range(self: &Arc<Self>, keys: ScanKeys) -> Option<Arc<dyn KeyRange>> {
        crate::range::key_range(self, keys)
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

    fn damage(what: &str, index: &str) -> Option<String> {
        Some(match what {
            ITEM_ORDER => format!("item order invariant violated for index \"{index}\""),
            HIGH_KEY => format!("high key invariant violated for index \"{index}\""),
            CROSS_PAGE_ORDER => format!("cross page item order invariant violated for index \"{index}\""),
            DOWNLINK => format!("mismatch between parent key and child high key in index \"{index}\""),
            ROOT_DESCENT => format!("could not find tuple using search from root page in index \"{index}\""),
            _ => return None,
        })
    }
}

impl IndexScan for Scan {
    #[inline]
    fn method(&self) -> &'static Facts {
        &FACTS
    }

    fn rescan(&mut self, access: &Access<'_>, keys: ScanKeys) {
        Scan::rescan(self, access, keys);
    }

    #[inline]
    fn rescan_equal<E>(
        &mut self,
        access: &Access<'_>,
        columns: usize,
        value: impl FnMut(usize) -> Result<Datum, E>,
    ) -> Result<bool, E> {
        Scan::rescan_equal(self, access, columns, value)
    }

    #[inline]
    fn next(&mut self, access: &Access<'_>) -> IndexResult<Option<Tid>> {
        Scan::next(self, access)
    }

    #[inline]
    fn has_more(&self) -> bool {
        Scan::has_more(self)
    }

    #[inline]
    fn upcoming(&self, n: usize) -> Option<Tid> {
        Scan::upcoming(self, n)
    }

    #[inline]
    fn pass(&mut self, count: usize) {
        Scan::pass(self, count);
    }

    fn values(&self, out: &mut Vec<Datum>) -> IndexResult<()> {
        Scan::values(self, out)
    }

    fn kill_current(&mut self) {
        Scan::kill_current(self);
    }

    fn watch(&mut self) -> Option<Arc<dyn KeyRange>> {
        Scan::watch(self)
    }

    fn read_part(&mut self, want_values: bool) -> IndexResult<Option<Arc<dyn KeyRange>>> {
        Scan::read_part(self, want_values)
    }

    fn take_searches(&mut self) -> u64 {
        Scan::take_searches(self)
    }

    fn finish(&mut self, access: &Access<'_>) {
        Scan::finish(self, access);
    }
}
