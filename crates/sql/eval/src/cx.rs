//! What nodes and expressions work with while a statement runs.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use base::{BlockNo, CommandId, Oid, SqlResult, Tid, Xid};
use catalog::{FunctionDef, Index, Table};
use counters::{Change, Counted};
use heap::{Access, Chunks, ComboCids, HeapRel, KnownHolders, View, Writer};
use plan::explain::Detail;
use plan::{ParamId, RelId};
use runtime::usage::Usage;
use tuple::Datum;
use tuple::varlena::Compression;
use txn::{Snapshot, Transaction};
use types::array::Array;
use types::{FormatContext, SessionFn};

use crate::compile::SubProgram;
use crate::needs::Needs;
use crate::row_store::RowStore;
use crate::spill::TempDir;
use crate::team::{Places, Team};
use crate::trigger::{Events, Firing};
use crate::turn::Turn;

/// What expressions ask of the session beyond their arguments.
pub trait Facilities {
    /// Carries out a function of the registry that needs catalogs or the session; the snapshot is the statement's.
    fn call(
        &self,
        id: SessionFn,
        call: &types::Call<'_>,
        args: &[Datum],
        snapshot: &Snapshot,
    ) -> SqlResult<Datum>;
    /// The same for functions that return rows.
    fn call_set(&self, id: SessionFn, call: &types::Call<'_>, args: &[Datum]) -> SqlResult<Vec<Vec<Datum>>>;
    /// Calls a function that a user made; what the caller sees goes along.
    fn call_routine(
        &self,
        function: &Arc<FunctionDef>,
        call: &types::Call<'_>,
        args: &[Datum],
        sees: (&Snapshot, CommandId),
    ) -> SqlResult<Datum>;
    /// The same for one that returns a set: rows of one column.
    fn call_routine_set(
        &self,
        function: &Arc<FunctionDef>,
        call: &types::Call<'_>,
        args: &[Datum],
        sees: (&Snapshot, CommandId),
    ) -> SqlResult<RowStore>;
    /// What settings say to access methods of indexes.
    fn index_limits(&self) -> index::Limits;
    /// Columns of a row that an error may show: those that the user may read, and those that he wrote. `None`: all.
    fn shown_columns(&self, table: &Table, written: &[i16]) -> Option<Vec<i16>>;
    /// The columns and expressions of a partition key, for messages.
    fn partition_key_columns(&self, table: &catalog::Table) -> SqlResult<String>;
    /// The key of an index entry, for messages, where the index has expressions: `(a, lower(b))=(1, x)`.
    fn key_text(&self, _table: &Table, _index: &Index, _key: &[Datum]) -> Option<String> {
        None
    }
    /// Who fires triggers; none where there are none.
    fn triggers(&self) -> Option<&dyn Firing> {
        None
    }
    /// Begins to read a foreign table, of which these columns are wanted. What comes back is lent to [`Facilities::next_foreign`], and ends when it is dropped.
    fn begin_foreign(&self, table: &Arc<Table>, wanted: &[bool]) -> SqlResult<Box<dyn Any>>;
    /// The next row of a foreign table: a value for each column. False behind the last.
    fn next_foreign(&self, scan: &mut dyn Any, row: &mut Vec<Datum>) -> SqlResult<bool>;
    /// Place of the row of a table that a cursor stands on, if that is of the table.
    fn current_of(&self, cursor: &str, table: Oid) -> SqlResult<Option<Tid>>;
    /// Counts a change of a table, made at this depth of subtransactions.
    fn count_change(&self, table: Oid, depth: u32, change: Change);
    /// Counts rows of a table's TOAST table that were written at this depth of subtransactions.
    fn count_chunks(&self, table: &HeapRel, depth: u32, chunks: &Chunks);
    /// Counts what a node's scan of a relation did, which has ended.
    fn count_scan(&self, counted: &mut Counted);
    /// The range of a table's pages that this block is in is to be summarized in an index, soon.
    fn ask_for_summary(&self, index: Oid, block: BlockNo);
    /// Places for as many threads as are to help with a query, or for fewer, or none.
    fn claim_helpers(&self, _wanted: usize) -> Places<'_> {
        Places::default()
    }
    /// What types ask.
    fn types(&self) -> &dyn types::Session;
    /// `current_user`, `session_user`, database and schema for the parameterless functions of SQL.
    fn sql_value(&self, kind: plan::SqlValueKind, type_oid: Oid, typmod: i32) -> SqlResult<Datum>;
}

/// What a run needs from its session.
pub struct Env<'s> {
    /// Storage.
    pub access: Access<'s>,
    /// The session's transaction; borrowed only for the moment of a call.
    pub txn: &'s RefCell<Transaction>,
    /// Its combo command ids.
    pub combo: &'s ComboCids,
    /// What it knows of the transactions that hold rows that it locks.
    pub holders: &'s RefCell<KnownHolders>,
    /// What is visible.
    pub snapshot: &'s Snapshot,
    /// The command that runs.
    pub command: CommandId,
    /// REPEATABLE READ or stricter: a concurrent update is an error.
    pub fixed_snapshot: bool,
    /// Formats.
    pub format: &'s FormatContext,
    /// The session.
    pub session: &'s dyn Facilities,
    /// Bytes a sort may use.
    pub work_mem: usize,
    /// Bytes a hash table may use (`work_mem` times `hash_mem_multiplier`).
    pub hash_mem: usize,
    /// Temporary files.
    pub temp: &'s TempDir,
    /// How large values of columns that name no method are compressed.
    pub compression: Compression,
}

/// Counters for EXPLAIN ANALYZE, one a plan node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Rows out.
    pub rows: f64,
    /// Completed runs.
    pub loops: f64,
    /// Nanoseconds to the first row.
    pub startup: u64,
    /// Nanoseconds in all.
    pub total: u64,
    /// Rows that the filter threw away.
    pub filtered: f64,
    /// Rows that an index named although they do not satisfy its conditions.
    pub rechecked: f64,
    /// Pairs that a join's own conditions threw away.
    pub unjoined: f64,
    /// What the node and those below it used.
    pub usage: Usage,
    /// Figures of this kind of node alone.
    pub detail: Detail,
}

impl Counters {
    /// Adds what another participant counted of the same node.
    pub fn add(&mut self, other: &Counters) {
        self.rows += other.rows;
        self.loops += other.loops;
        self.startup += other.startup;
        self.total += other.total;
        self.filtered += other.filtered;
        self.rechecked += other.rechecked;
        self.unjoined += other.unjoined;
        self.usage += other.usage;
        self.detail = self.detail.with(other.detail);
    }
}

/// What belongs to a state tree beside its nodes.
pub struct State {
    /// Executor parameters.
    pub cells: Vec<Datum>,
    /// Subplans; taken out while they run.
    pub subs: Vec<Option<Box<SubProgram>>>,
    /// Rows of recursive queries' previous step.
    pub work_tables: Vec<RowStore>,
    /// Counters by node, when EXPLAIN ANALYZE asks.
    pub counters: Option<Vec<Counters>>,
    /// Whether nodes are timed, when they are counted.
    pub timing: bool,
    /// Rows that the statement's top node inserted, updated or deleted.
    pub processed: u64,
    /// What is to fire when the statement has ended.
    pub events: Events,
    /// Whose events these are.
    pub part: Part,
    /// How a bulk load stands.
    pub load: Load,
    /// Whether the statement may begin again.
    pub turn: Turn,
    /// Who runs a part of the plan beside others shares this with them.
    pub team: Option<Arc<Team>>,
    /// It is a helper's, not the session's.
    pub helps: bool,
}

/// What a run is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It is a statement of its own, which fires its events.
    Whole,
    /// Of a bulk load: its caller fires the events, and the triggers for statements around it.
    Load,
    /// Of a statement that has set it off: the action of a foreign key. That one fires its events.
    Action,
}

/// How a bulk load stands, whose rows come one in a run and are stored some at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// The line of the input that the row of this run was read from.
    pub line: u64,
    /// No row comes: those that wait are to be stored.
    pub ends: bool,
    /// The row of this run was neither left out by a condition nor by a trigger.
    pub taken: bool,
    /// The row that is being entered into indexes, of those that are stored together.
    pub entering: usize,
    /// The line of a row that was refused when it was stored.
    pub refused: Option<u64>,
}

/// What nodes and expressions work with while a statement runs.
pub struct Cx<'s> {
    /// What the session gives.
    pub env: &'s Env<'s>,
    /// What the statement's user needs.
    pub needs: &'s Needs,
    /// The statement that runs.
    pub statement: &'s Arc<plan::Statement>,
    /// The statement's parameters.
    pub params: &'s [Datum],
    /// Parameters that are arrays taken apart, by number. Those of statements are not.
    pub arrays: &'s [Option<Box<Array>>],
    /// What is kept from one fetch to the next.
    pub state: &'s mut State,
    /// The node that runs, when nodes are counted.
    pub node: usize,
    /// All rows of the statement are read in this call.
    pub drained: bool,
    /// Deferrable unique indexes in which the row last written may have a duplicate.
    pub rechecks: Vec<Oid>,
    /// The rows that are given while a concurrently updated row is checked again.
    pub recheck: Vec<GivenRow>,
    /// xid of the writing transaction, once known.
    pub xid: Cell<Xid>,
}

/// The row that stands for a relation while conditions are checked again (READ COMMITTED).
pub struct GivenRow {
    /// The relation.
    pub rel: RelId,
    /// Columns of the version, system columns behind them as the scan lays them out; none if an outer join found no row.
    pub row: Option<Vec<Datum>>,
    /// Already handed out.
    pub done: bool,
}

impl State {
    /// The state of an expression that stands alone, with so many executor parameters.
    pub fn of_cells(cells: usize) -> State {
        State {
            cells: vec![Datum::Null; cells],
            subs: Vec::new(),
            work_tables: Vec::new(),
            counters: None,
            timing: false,
            processed: 0,
            events: Events::default(),
            part: Part::Whole,
            load: Load::default(),
            turn: Turn::default(),
            team: None,
            helps: false,
        }
    }
}

impl<'s> Cx<'s> {
    /// What a run of a statement works with.
    #[inline]
    pub fn new(
        env: &'s Env<'s>,
        needs: &'s Needs,
        statement: &'s Arc<plan::Statement>,
        params: &'s [Datum],
        state: &'s mut State,
    ) -> Cx<'s> {
        Cx {
            env,
            needs,
            statement,
            params,
            arrays: &[],
            state,
            node: 0,
            drained: false,
            rechecks: Vec::new(),
            recheck: Vec::new(),
            xid: Cell::new(Xid::INVALID),
        }
    }

    /// Counts a row that the running node's filter throws away.
    #[cold]
    pub fn note_filtered(&mut self) {
        if let Some(counters) = self.state.counters.as_mut().and_then(|all| all.get_mut(self.node)) {
            counters.filtered += 1.0;
        }
    }

    /// Counts rows that the running node's filter throws away.
    pub fn note_filtered_rows(&mut self, rows: usize) {
        if let Some(counters) = self.state.counters.as_mut().and_then(|all| all.get_mut(self.node)) {
            counters.filtered += rows as f64;
        }
    }

    /// Counts rows that do not satisfy the conditions of the index that named them.
    #[cold]
    pub fn note_rechecked_rows(&mut self, rows: usize) {
        if let Some(counters) = self.state.counters.as_mut().and_then(|all| all.get_mut(self.node)) {
            counters.rechecked += rows as f64;
        }
    }

    /// Notes what the running node has to tell EXPLAIN, given what it told before; asked only if nodes are counted.
    #[inline]
    pub fn tell(&mut self, detail: impl FnOnce(Detail) -> Detail) {
        if let Some(counters) = self.state.counters.as_mut().and_then(|all| all.get_mut(self.node)) {
            counters.detail = detail(counters.detail);
        }
    }

    /// Counts a pair of rows that the running join's conditions throw away.
    #[cold]
    pub fn note_unjoined(&mut self) {
        self.note_unjoined_rows(1);
    }

    /// Counts several such pairs.
    pub fn note_unjoined_rows(&mut self, pairs: usize) {
        if let Some(counters) = self.state.counters.as_mut().and_then(|all| all.get_mut(self.node)) {
            counters.unjoined += pairs as f64;
        }
    }

    /// Counts a change of a table.
    pub fn count_change(&self, table: Oid, change: Change) {
        let depth = self.env.txn.borrow().depth() as u32;
        self.env.session.count_change(table, depth, change);
    }

    /// Counts what a scan did, and forgets it.
    #[inline]
    pub fn count_scan(&self, counted: &mut Counted) {
        if !counted.scan.is_empty() {
            self.env.session.count_scan(counted);
        }
    }

    /// What the statement sees, for one storage call.
    #[inline]
    pub fn with_view<T>(&self, f: impl FnOnce(&Access<'s>, &View<'_>) -> T) -> T {
        let me = self.env.txn.borrow();
        f(
            &self.env.access,
            &View { snapshot: self.env.snapshot, curcid: self.env.command, me: &me, combo: self.env.combo },
        )
    }

    /// The transaction's xid for a change of a table, assigned now if it has none.
    #[inline]
    pub fn xid_for(&self, table: &HeapRel) -> SqlResult<Xid> {
        let xid = self.env.txn.borrow_mut().xid_for(table.is_logged()).map_err(crate::error::txn)?;
        self.xid.set(xid);
        Ok(xid)
    }

    /// Who writes to a table, for one storage call.
    pub fn with_writer<T>(
        &self,
        table: &HeapRel,
        f: impl FnOnce(&Access<'s>, &Writer<'_>) -> T,
    ) -> SqlResult<T> {
        let xid = self.xid_for(table)?;
        let me = self.env.txn.borrow();
        let chunks = Chunks::default();
        let done = f(
            &self.env.access,
            &Writer {
                xid,
                cid: self.env.command,
                me: &me,
                combo: self.env.combo,
                compression: self.env.compression,
                chunks: Some(&chunks),
            },
        );
        if !chunks.is_empty() {
            self.env.session.count_chunks(table, me.depth() as u32, &chunks);
        }
        Ok(done)
    }

    /// Context of a call of a function.
    #[inline]
    pub fn call<'a>(
        &'a self,
        arg_types: &'a [Oid],
        result_type: Oid,
        collation: Oid,
        variadic: bool,
    ) -> types::Call<'a> {
        types::Call {
            format: self.env.format,
            session: self.env.session.types(),
            collation,
            arg_types,
            result_type,
            variadic_array: variadic,
            columns: &[],
        }
    }

    /// Sets an executor parameter.
    #[inline]
    pub fn set(&mut self, cell: ParamId, value: Datum) {
        self.state.cells[cell] = value;
    }
}
