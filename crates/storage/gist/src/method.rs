//! GiST as an index access method.

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

use crate::verify::OUTSIDE;
use crate::{GistRel, Scan};

/// Name of the format, as messages have it.
pub(crate) const FORMAT: &str = "gist";

pub(crate) const FACTS: Facts = Facts {
    oid: Oid(783),
    name: "gist",
    equality: None,
    can_order: false,
    can_order_by_operator: true,
    can_backward: false,
    can_unique: false,
    can_multi_column: true,
    can_include: true,
    index_scan: true,
    bitmap_scan: true,
    returnable: true,
    clusterable: true,
    search_array: false,
    search_nulls: true,
    lossy: true,
    summarizes: false,
    options: &[
        StorageOption { name: "fillfactor", kind: OptionKind::Int(10, 100) },
        StorageOption {
            name: "buffering",
            kind: OptionKind::Enum(&["on", "off", "auto"], "Valid values are \"on\", \"off\", and \"auto\"."),
        },
    ],
    build_steps: [
        "initializing",
        "scanning table",
        "sorting live tuples",
        "sorting dead tuples",
        "loading tuples in tree",
    ],
};

impl IndexAccessMethod for GistRel {
    const FACTS: Facts = FACTS;
    const MANAGER: ResourceManager = crate::redo::MANAGER;
    type Scan = Scan;

    fn open(desc: IndexDesc) -> GistRel {
        GistRel::new(desc)
    }

    fn desc(&self) -> &IndexDesc {
        &self.desc
    }

    fn create_empty(&self, access: &Access<'_>) -> IndexResult<()> {
        crate::build::create_empty(access, self)
    }

    /// Keys take the place of values before they are sorted.
    fn prepare(&self, values: &mut [Datum]) {
        self.desc.make_keys(values);
    }

    /// Rows that lie close together come one after the other, unless they are entered one by one.
    fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        if !self.bulk {
            return a.1.cmp(&b.1);
        }
        for (class, (a, b)) in self.desc.trees.iter().zip(a.0.iter().zip(b.0)) {
            let order = match (a.is_null(), b.is_null()) {
                (false, false) => class.order(a, b),
                (a, b) => a.cmp(&b),
            };
            if order.is_ne() {
                return order;
            }
        }
        a.1.cmp(&b.1)
    }

    fn sort_number(&self, values: &[Datum]) -> SortNumber {
        // NULLs come last.
        let number = match (self.desc.trees.first(), values.first()) {
            _ if !self.bulk => return SortNumber::NONE,
            (Some(class), Some(key)) if !key.is_null() => class.place(key) >> 1,
            _ => u64::MAX,
        };
        SortNumber { number, whole: false }
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

    fn measure(&self, block: BlockNo, page: &PageBytes) -> IndexResult<PageMeasure> {
        self.check(block, crate::format::measure(page))
    }

    fn damage(what: &str, index: &str) -> Option<String> {
        (what == OUTSIDE).then(|| format!("index \"{index}\" has inconsistent records"))
    }
}
