//! HNSW as an index access method.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{Oid, SqlError, SqlState, Tid};
use index::changes::{Changes, create_page};
use index::{
    Access, DeadRows, EntryCheck, Facts, IndexAccessMethod, IndexDesc, IndexError, IndexResult,
    InsertOutcome, Manner, OptionKind, ScanKeys, SortedEntries, StorageOption, UniqueCheck, VacuumStats,
    VerifyOptions, Wants, interrupts,
};
use tuple::Datum;
use txn::KeyRange;
use wal::ResourceManager;

use crate::insert::draw_level;
use crate::memory::Memory;
use crate::{HnswRel, Scan};

pub(crate) const FACTS: Facts = Facts {
    // Of no row: the one of `pg_am` is made by an extension.
    oid: Oid(9990),
    name: "hnsw",
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
    options: &[
        StorageOption { name: "m", kind: OptionKind::Int(2, 100) },
        StorageOption { name: "ef_construction", kind: OptionKind::Int(4, 1000) },
    ],
    build_steps: ["initializing", "scanning table", "sorting tuples", "sorting tuples", "loading tuples"],
};

impl IndexAccessMethod for HnswRel {
    const FACTS: Facts = FACTS;
    const MANAGER: ResourceManager = index::changes::manager(wal::Rmgr::Hnsw);
    type Scan = Scan;

    fn open(desc: IndexDesc) -> HnswRel {
        HnswRel::new(desc)
    }

    fn desc(&self) -> &IndexDesc {
        &self.desc
    }

    fn create_empty(&self, access: &Access<'_>) -> IndexResult<()> {
        let meta = self.new_meta();
        if meta.ef_construction < 2 * meta.m {
            let error = SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                "ef_construction must be greater than or equal to 2 * m",
            );
            return Err(IndexError::Callback(error));
        }
        let mut changes = Changes::default();
        changes.init(&[]).add(&meta.bytes());
        create_page(access, self, &changes)
    }

    /// Rows as they lie in the table.
    fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        a.1.cmp(&b.1)
    }

    fn build(&self, access: &Access<'_>, next: SortedEntries<'_>) -> IndexResult<u64> {
        self.create_empty(access)?;
        let meta = self.meta(access)?;
        let mut memory = Some(Memory::new(self, &meta));
        let (mut values, mut count) = (Vec::new(), 0);
        while let Some(tid) = next(&mut values)? {
            interrupts()?;
            count += 1;
            match &mut memory {
                Some(graph) => {
                    if let Some(key) = self.key_of(&values)? {
                        graph.add(key, tid, draw_level(meta.m))?;
                    }
                }
                None => _ = crate::insert::insert(access, self, &values, tid)?,
            }
            if memory.as_ref().is_some_and(|graph| graph.bytes() > access.limits.memory)
                && let Some(graph) = memory.take()
            {
                graph.write(access)?;
            }
        }
        memory.map_or(Ok(()), |graph| graph.write(access))?;
        Ok(count)
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
