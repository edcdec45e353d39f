//! GIN as an index access method.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{BlockNo, Oid, SqlError, Tid};
use index::{
    Access, DeadRows, EntryCheck, Facts, IndexAccessMethod, IndexDesc, IndexResult, InsertOutcome, Manner,
    OptionKind, PageMeasure, Pages, ScanKeys, SortNumber, SortedEntries, StorageOption, UniqueCheck,
    VacuumStats, VerifyOptions, Wants,
};
use page::PageBytes;
use tuple::{Datum, RowLayout};
use txn::KeyRange;
use wal::ResourceManager;

use crate::pending::Unsorted;
use crate::verify::entry_values;
use crate::{GinRel, Scan};

pub(crate) const FACTS: Facts = Facts {
    oid: Oid(2742),
    name: "gin",
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
    search_nulls: false,
    lossy: true,
    summarizes: false,
    options: &[
        StorageOption { name: "fastupdate", kind: OptionKind::Bool },
        StorageOption { name: "gin_pending_list_limit", kind: OptionKind::Int(64, 2_147_483_647) },
    ],
    build_steps: ["initializing", "scanning table", "sorting tuples", "sorting tuples", "merging tuples"],
};

impl IndexAccessMethod for GinRel {
    const FACTS: Facts = FACTS;
    const MANAGER: ResourceManager = crate::redo::MANAGER;
    type Scan = Scan;

    fn open(desc: IndexDesc) -> GinRel {
        GinRel::new(desc)
    }

    fn desc(&self) -> &IndexDesc {
        &self.desc
    }

    fn create_empty(&self, access: &Access<'_>) -> IndexResult<()> {
        crate::build::create_empty(access, self)
    }

    /// Rows as they lie in the table.
    fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        a.1.cmp(&b.1)
    }

    fn sort_number(&self, _values: &[Datum]) -> SortNumber {
        SortNumber { number: 0, whole: true }
    }

    fn build(&self, access: &Access<'_>, next: SortedEntries<'_>) -> IndexResult<u64> {
        crate::build::build(access, self, next)
    }

    /// The method cannot tell duplicates.
    fn insert(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tid: Tid,
        _unique: UniqueCheck<'_>,
        _rows: &dyn DeadRows,
    ) -> IndexResult<InsertOutcome> {
        let entries = crate::insert::row_entries(self, values, tid)?;
        match self.fast_update {
            true => crate::pending::add(access, self, &[entries], self.pending_limit(access))?,
            false => crate::insert::enter(access, self, &entries)?,
        }
        Ok(InsertOutcome::Inserted)
    }

    fn insert_batch(
        &self,
        access: &Access<'_>,
        values: &[Datum],
        tids: &[Tid],
        _rows: &dyn DeadRows,
    ) -> IndexResult<()> {
        let width = values.len() / tids.len().max(1);
        let mut entries = Vec::with_capacity(tids.len());
        for (i, tid) in tids.iter().enumerate() {
            index::interrupts()?;
            entries.push(crate::insert::row_entries(self, &values[i * width..(i + 1) * width], *tid)?);
        }
        match self.fast_update {
            true => crate::pending::add(access, self, &entries, self.pending_limit(access)),
            false => {
                let mut all = Unsorted::default();
                let positions = entries.iter().flatten().map(|entry| entry.at(entry.tids[0]));
                positions.for_each(|of| all.add(self, of));
                crate::pending::enter_all(access, self, all)
            }
        }
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

    fn scan(self: &Arc<Self>, keys: ScanKeys, _wants: Wants) -> Scan {
        Scan::new(self.clone(), keys)
    }

    fn key_range(self: &Arc<Self>, keys: ScanKeys) -> Option<Arc<dyn KeyRange>> {
        index::conditions(self, keys.keys)
    }

    fn entry_layout(&self) -> &RowLayout {
        &self.entry
    }

    /// Column, category and key of each entry.
    fn entries(
        &self,
        values: &mut [Datum],
        each: &mut dyn FnMut(&[Datum]) -> Result<(), SqlError>,
    ) -> IndexResult<()> {
        for entry in crate::insert::row_entries(self, values, Tid::default())? {
            each(&entry_values(self, entry.at(0)))?;
        }
        Ok(())
    }

    fn verify(
        &self,
        access: &Access<'_>,
        options: VerifyOptions,
        each: Option<EntryCheck<'_>>,
    ) -> IndexResult<()> {
        crate::verify::verify(access, self, options, each).map(|_| ())
    }

    fn enter_pending(&self, access: &Access<'_>) -> IndexResult<Option<u64>> {
        crate::pending::clean(access, self, true).map(Some)
    }

    fn measure(&self, block: BlockNo, page: &PageBytes) -> IndexResult<PageMeasure> {
        self.check(block, crate::format::measure(page))
    }
}
