//! IVFFlat as an index access method.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{Oid, SqlError, Tid};
use index::changes::{Changes, create_page};
use index::{
    Access, DeadRows, EntryCheck, Facts, IndexAccessMethod, IndexDesc, IndexResult, InsertOutcome, Manner,
    OptionKind, ScanKeys, SortedEntries, StorageOption, UniqueCheck, VacuumStats, VerifyOptions, Wants,
};
use tuple::Datum;
use txn::KeyRange;
use wal::ResourceManager;

use crate::build::scatter;
use crate::format::{META, MOST_LISTS, Meta};
use crate::{IvfflatRel, Scan};

pub(crate) const FACTS: Facts = Facts {
    // Of no row: the one of `pg_am` is made by an extension.
    oid: Oid(9991),
    name: "ivfflat",
    equality: None,
    can_order: false,
    can_order_by_operator: true,
    can_backward: false,
    can_unique: false,
    can_multi_column: false,
    can_include: false,
    index_scan: true,
    bitmap_scan: false,
    returnable: false,
    clusterable: false,
    search_array: false,
    search_nulls: false,
    lossy: false,
    summarizes: false,
    options: &[StorageOption { name: "lists", kind: OptionKind::Int(1, MOST_LISTS as _) }],
    build_steps: ["initializing", "scanning table", "sorting tuples", "sorting tuples", "loading tuples"],
};

impl IndexAccessMethod for IvfflatRel {
    const FACTS: Facts = FACTS;
    const MANAGER: ResourceManager = index::changes::manager(wal::Rmgr::Ivfflat);
    type Scan = Scan;

    fn open(desc: IndexDesc) -> IvfflatRel {
        IvfflatRel::new(desc)
    }

    fn desc(&self) -> &IndexDesc {
        &self.desc
    }

    fn create_empty(&self, access: &Access<'_>) -> IndexResult<()> {
        let mut changes = Changes::default();
        changes.init(&[]).add(&Meta { lists: 0, first: META }.bytes());
        create_page(access, self, &changes)
    }

    /// Rows in an order by chance, always the same.
    fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        scatter(a.1).cmp(&scatter(b.1)).then_with(|| a.1.cmp(&b.1))
    }

    fn build(&self, access: &Access<'_>, next: SortedEntries<'_>) -> IndexResult<u64> {
        crate::build::build(access, self, next)
    }

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

    fn scan(self: &Arc<Self>, keys: ScanKeys, _wants: Wants) -> Scan {
        Scan::new(self.clone(), keys)
    }

    fn key_range(self: &Arc<Self>, keys: ScanKeys) -> Option<Arc<dyn KeyRange>> {
        index::conditions(self, keys.keys)
    }

    fn entries(
        &self,
        values: &mut [Datum],
        each: &mut dyn FnMut(&[Datum]) -> Result<(), SqlError>,
    ) -> IndexResult<()> {
        match self.key_of(values)? {
            Some(key) => Ok(each(&[key])?),
            None => Ok(()),
        }
    }

    fn verify(
        &self,
        access: &Access<'_>,
        options: VerifyOptions,
        each: Option<EntryCheck<'_>>,
    ) -> IndexResult<()> {
        crate::verify::verify(access, self, options, each)
    }
}
