//! What a helper's run has instead of a session: it counts scans, and refuses all that only a session can do.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use base::{BlockNo, CommandId, Oid, SqlError, SqlResult, Tid};
use catalog::{FunctionDef, Index, Table};
use counters::{Change, Counted, Scan};
use eval::compile::{SubCache, SubProgram};
use eval::cx::{Cx, Facilities};
use eval::node::Node;
use eval::row_store::RowStore;
use heap::{Chunks, HeapRel};
use plan::{ParamId, SqlValueKind};
use tuple::Datum;
use txn::Snapshot;
use types::SessionFn;
use types::call::RegKind;
use types::range::RangeInfo;
use types::registry::TypeShape;

/// The facilities of one helper.
pub(super) struct HelperFacilities {
    limits: index::Limits,
    scans: RefCell<Vec<(Oid, Scan)>>,
    /// Something was asked for that only a session has, where no error can be given.
    at_a_loss: Cell<bool>,
}

impl HelperFacilities {
    pub(super) fn new(limits: index::Limits) -> HelperFacilities {
        HelperFacilities { limits, scans: RefCell::default(), at_a_loss: Cell::new(false) }
    }

    /// Fails if what was computed may be wrong.
    pub(super) fn check(&self) -> SqlResult<()> {
        if self.at_a_loss.get() { refused() } else { Ok(()) }
    }

    /// In place of what only a session knows.
    fn unknown<T>(&self, value: T) -> T {
        self.at_a_loss.set(true);
        value
    }

    /// The same of a type, unless it is built in: catalogs say nothing else of such.
    fn unless_built_in<T>(&self, type_oid: Oid, value: T) -> T {
        if types::builtin_type(type_oid).is_some() { value } else { self.unknown(value) }
    }

    /// What was counted, by relation.
    pub(super) fn into_scans(self) -> Vec<(Oid, Scan)> {
        self.scans.into_inner()
    }
}

/// Subplans as a helper has them: those whose values are known give these, none is run.
pub(super) fn known_subplans(count: usize, known: &[(usize, Datum)]) -> Vec<Option<Box<SubProgram>>> {
    let mut subplans: Vec<_> = (0..count).map(|_| None).collect();
    for (number, value) in known {
        subplans[*number] = Some(Box::new(SubProgram {
            node: Box::new(Nowhere),
            cache: Some(SubCache::Value(value.clone(), Vec::new())),
            depends: Vec::new(),
            started: false,
            rows: RowStore::default(),
            finished: false,
        }));
    }
    subplans
}

/// In place of the nodes of a subplan that the leader has run.
struct Nowhere;

impl Node for Nowhere {
    fn next(&mut self, _: &mut Cx<'_>) -> SqlResult<bool> {
        refused()
    }

    fn row(&self) -> &[Datum] {
        &[]
    }

    fn rescan(&mut self, _: &mut Cx<'_>, _: &[ParamId]) -> SqlResult<()> {
        refused()
    }

    fn close(&mut self, _: &mut Cx<'_>) {}
}

/// Nobody sees it: the leader does again what a helper could not do.
fn refused<T>() -> SqlResult<T> {
    Err(SqlError::internal("a helper was asked for what only a session can do"))
}

impl types::Session for HelperFacilities {
    fn reg_lookup(&self, _: RegKind, _: &str) -> SqlResult<Oid> {
        refused()
    }

    fn reg_name(&self, _: RegKind, _: Oid) -> Option<String> {
        self.unknown(None)
    }

    fn text_search_configuration(&self) -> SqlResult<Oid> {
        refused()
    }

    fn tell(&self, _: SqlError) {
        self.unknown(());
    }

    fn clock(&self) -> i64 {
        self.unknown(0)
    }

    fn with_random(&self, _: &mut dyn FnMut(&mut types::random::Random)) {
        self.unknown(());
    }

    fn type_shape(&self, type_oid: Oid) -> Option<TypeShape> {
        self.unless_built_in(type_oid, None)
    }

    fn type_null(&self, type_oid: Oid) -> SqlResult<Datum> {
        Ok(self.unless_built_in(type_oid, Datum::Null))
    }

    fn range_info(&self, type_oid: Oid) -> Option<RangeInfo> {
        self.unless_built_in(type_oid, None)
    }

    fn row_columns(&self, _: Oid) -> SqlResult<Option<Vec<types::record::Column>>> {
        refused()
    }

    fn row_names(&self, _: Oid) -> SqlResult<Vec<String>> {
        refused()
    }

    fn domain_check(&self, _: Oid, _: Datum) -> SqlResult<Datum> {
        refused()
    }

    fn base_type(&self, type_oid: Oid) -> Oid {
        self.unless_built_in(type_oid, type_oid)
    }

    fn is_row_type(&self, type_oid: Oid) -> bool {
        self.unless_built_in(type_oid, false)
    }
}

impl Facilities for HelperFacilities {
    fn call(&self, _: SessionFn, _: &types::Call<'_>, _: &[Datum], _: &Snapshot) -> SqlResult<Datum> {
        refused()
    }

    fn call_set(&self, _: SessionFn, _: &types::Call<'_>, _: &[Datum]) -> SqlResult<Vec<Vec<Datum>>> {
        refused()
    }

    fn call_routine(
        &self,
        _: &Arc<FunctionDef>,
        _: &types::Call<'_>,
        _: &[Datum],
        _: (&Snapshot, CommandId),
    ) -> SqlResult<Datum> {
        refused()
    }

    fn call_routine_set(
        &self,
        _: &Arc<FunctionDef>,
        _: &types::Call<'_>,
        _: &[Datum],
        _: (&Snapshot, CommandId),
    ) -> SqlResult<RowStore> {
        refused()
    }

    fn begin_foreign(&self, _: &Arc<Table>, _: &[bool]) -> SqlResult<Box<dyn Any>> {
        refused()
    }

    fn next_foreign(&self, _: &mut dyn Any, _: &mut Vec<Datum>) -> SqlResult<bool> {
        refused()
    }

    fn index_limits(&self) -> index::Limits {
        self.limits
    }

    fn shown_columns(&self, _: &Table, _: &[i16]) -> Option<Vec<i16>> {
        Some(Vec::new())
    }

    fn partition_key_columns(&self, _: &Table) -> SqlResult<String> {
        refused()
    }

    fn key_text(&self, _: &Table, _: &Index, _: &[Datum]) -> Option<String> {
        None
    }

    fn current_of(&self, _: &str, _: Oid) -> SqlResult<Option<Tid>> {
        refused()
    }

    fn count_change(&self, _: Oid, _: u32, _: Change) {}

    fn count_chunks(&self, _: &HeapRel, _: u32, _: &Chunks) {}

    fn count_scan(&self, counted: &mut Counted) {
        self.scans.borrow_mut().push((counted.relation(), std::mem::take(&mut counted.scan)));
    }

    fn ask_for_summary(&self, _: Oid, _: BlockNo) {}

    fn types(&self) -> &dyn types::Session {
        self
    }

    fn sql_value(&self, _: SqlValueKind, _: Oid, _: i32) -> SqlResult<Datum> {
        refused()
    }
}
