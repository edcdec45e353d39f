//! # What
//! From an analysed statement to rows: plans that sessions share ([`Prepared`]) and state trees that run them ([`Execution`]).
//!
//! # Invariants
//! 1. A [`Prepared`] is immutable; its owner checks whether the relations that it uses have changed.
//! 2. An [`Execution`] may be run again and again, by one session and then another; between runs it holds no pin, no latch, no temporary file.
//!
//! # PostgreSQL counterpart
//! `executor/execMain.c`, `utils/cache/plancache.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use eval::compile::SubProgram;
use eval::cx::{Counters, Cx, Env, Load, Part, State};
use eval::needs::Needs;
use eval::node::{BoxNode, Node, Origin, Stored};
use eval::row_store::RowStore;
use eval::trigger::{Condition, Events};
use eval::turn::Turn;
use heap::TupleRef;
use parse::fingerprint::Fingerprint;
use plan::{Context, Expr, Statement};
use tuple::{Datum, RowLayout};

use crate::kept;
use crate::nodes::{Builder, Drained, OriginSink, depends_on};

/// A planned statement, shared by all sessions that run it.
#[derive(Debug)]
pub struct Prepared {
    /// The plan.
    pub statement: Arc<Statement>,
    /// What its user needs.
    pub needs: Needs,
    /// Its query identifier, which it shares with statements that differ in constants only.
    pub fingerprint: Arc<Fingerprint>,
    /// Which place its state trees are [kept] in.
    pub(crate) number: usize,
}

impl Prepared {
    /// Plans an analysed statement.
    pub fn plan(analyzed: &analyze::Analyzed, context: &Context<'_>) -> SqlResult<Arc<Prepared>> {
        let fingerprint = analyze::fingerprint::of(&analyzed.query, false);
        Prepared::with_fingerprint(analyzed, fingerprint.into(), context)
    }

    /// The same where the fingerprint is known.
    pub fn with_fingerprint(
        analyzed: &analyze::Analyzed,
        fingerprint: Arc<Fingerprint>,
        context: &Context<'_>,
    ) -> SqlResult<Arc<Prepared>> {
        let statement = Arc::new(plan::plan(analyzed, context)?);
        let mut needs = Needs::of(&analyzed.query);
        statement.inlined.iter().for_each(|body| needs.merge(Needs::of(body)));
        Ok(Arc::new(Prepared { statement, needs, fingerprint, number: kept::number() }))
    }

    /// A plan without a text of its own.
    fn of_no_text(statement: Statement) -> Arc<Prepared> {
        let (needs, fingerprint) = Default::default();
        Arc::new(Prepared { statement: Arc::new(statement), needs, fingerprint, number: kept::number() })
    }
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Rows handed out by this call.
    pub rows: u64,
    /// Rows that the statement itself inserted, updated or deleted since the start, without those of its common table expressions.
    pub processed: u64,
    /// There are no more rows.
    pub finished: bool,
}

/// A table that rows of a query go to.
pub trait StoredRows {
    /// Its columns.
    fn layout(&self) -> &RowLayout;
    /// Takes a row.
    fn put(&mut self, row: &[Datum]) -> SqlResult<()>;
    /// Takes a row that [is whole](TupleRef::is_whole), of a table that [stores rows alike](heap::stores_alike).
    fn put_stored(&mut self, row: &TupleRef<'_>) -> SqlResult<()>;
}

/// The state tree of a statement.
pub struct Execution {
    prepared: Arc<Prepared>,
    node: BoxNode,
    params: Vec<Datum>,
    state: State,
    /// Ran before: nodes start again with `rescan`.
    used: bool,
    /// The first fetch of a run is to start them again.
    begins: bool,
    /// Between `start` and the end of the rows.
    running: bool,
    /// There is a current row.
    on_row: bool,
}

impl Execution {
    /// Builds the state tree.
    pub fn new(prepared: &Arc<Prepared>) -> SqlResult<Execution> {
        Execution::build(prepared, |_| {})
    }

    /// One for a bulk load: each run [takes](Self::load) one row, triggers for statements do not fire, and events are kept for [`Execution::take_events`].
    pub fn loading(prepared: &Arc<Prepared>) -> SqlResult<Execution> {
        Execution::build(prepared, |builder| builder.loading = true)
    }

    /// One whose nodes are counted, and perhaps timed, for EXPLAIN ANALYZE.
    pub fn counting(prepared: &Arc<Prepared>, timing: bool) -> SqlResult<Execution> {
        let mut execution = Execution::build(prepared, |builder| builder.counting = true)?;
        execution.state.timing = timing;
        Ok(execution)
    }

    fn build(prepared: &Arc<Prepared>, how: impl FnOnce(&mut Builder<'_>)) -> SqlResult<Execution> {
        let statement = &prepared.statement;
        check_populated(statement)?;
        let mut builder = Builder::new(statement);
        how(&mut builder);
        builder.drained = Drained::WithStatement;
        let node = builder.build(&statement.plan)?;
        builder.drained = Drained::Unknown;
        let mut subs = Vec::with_capacity(statement.subplans.len());
        for sub in &statement.subplans {
            subs.push(Some(Box::new(SubProgram {
                node: builder.build(&sub.plan)?,
                cache: None,
                depends: depends_on(statement, &sub.plan),
                started: false,
                rows: RowStore::default(),
                finished: false,
            })));
        }
        Ok(Execution {
            prepared: prepared.clone(),
            node,
            params: Vec::new(),
            state: State {
                subs,
                work_tables: statement.work_tables.iter().map(|_| RowStore::default()).collect(),
                counters: builder.counting.then(|| vec![Counters::default(); builder.counted]),
                part: if builder.loading { Part::Load } else { Part::Whole },
                ..State::of_cells(statement.exec_params)
            },
            used: false,
            begins: false,
            running: false,
            on_row: false,
        })
    }

    /// A statement that gives one row with the values of these expressions, which name no columns.
    pub fn of_expressions(expressions: Vec<Expr>) -> SqlResult<Execution> {
        let Some(first) = expressions.first() else {
            return Err(base::SqlError::internal("no expressions to evaluate"));
        };
        let mut statement = Statement::of_expression(first.clone());
        let column = |expr: &Expr| plan::ResultColumn {
            name: "?column?".into(),
            type_oid: expr.type_oid(),
            typmod: expr.typmod(),
            origin: (Oid::INVALID, 0),
        };
        statement.result = expressions.iter().map(column).collect();
        statement.exec_params = expressions.iter().map(Expr::cells).max().unwrap_or(0);
        statement.plan.output = expressions;
        Execution::new(&Prepared::of_no_text(statement))
    }

    /// A state tree for a run of a plan: one that this worker has kept, or a new one.
    #[inline]
    pub fn obtain(prepared: &Arc<Prepared>) -> SqlResult<Box<Execution>> {
        match kept::take(prepared) {
            Some(tree) => Ok(tree),
            None => Execution::new(prepared).map(Box::new),
        }
    }

    /// Keeps the state tree, whose run has ended, for another run of the plan.
    #[inline]
    pub fn keep(mut self: Box<Self>) {
        self.state.part = Part::Whole;
        if !self.running && runtime::memory::held().statement <= kept::LIGHT {
            kept::keep(self);
        }
    }

    /// Takes the row that these parameters are, from this line of the input. It may be stored now or in a later run: the progress tells how many rows were.
    pub fn load(&mut self, env: &Env<'_>, params: &[Datum], line: u64) -> SqlResult<Progress> {
        self.state.load = Load { line, ..Load::default() };
        self.run(env, params, &mut |_| Ok(()))
    }

    /// Stores the rows that were taken and not stored yet.
    pub fn end_load(&mut self, env: &Env<'_>) -> SqlResult<Progress> {
        self.state.load = Load { ends: true, ..Load::default() };
        self.run(env, &[], &mut |_| Ok(()))
    }

    /// How the load stands.
    pub fn load_state(&self) -> Load {
        self.state.load
    }

    /// Makes its run a part of the statement with these events: what it sets off is kept for [`Execution::take_events`].
    pub fn within(&mut self, events: Events) {
        self.state.part = Part::Action;
        self.state.events = events;
    }

    /// The events of the runs since they were last taken.
    pub fn take_events(&mut self) -> Events {
        std::mem::take(&mut self.state.events)
    }

    /// The plan that it runs.
    pub fn prepared(&self) -> &Arc<Prepared> {
        &self.prepared
    }

    /// Counters of EXPLAIN ANALYZE, by node in the order of the tree; subplans follow the main plan.
    pub fn counters(&self) -> Option<&[Counters]> {
        self.state.counters.as_deref()
    }

    /// Begins a run with these parameters. Its nodes start when rows are asked for.
    pub fn start(&mut self, params: &[Datum]) {
        self.params.clear();
        self.params.extend_from_slice(params);
        self.state.processed = 0;
        self.state.turn = Turn::default();
        self.running = true;
        self.on_row = false;
        self.begins = std::mem::replace(&mut self.used, true);
    }

    /// Lets the run that begins end before it has done anything, to begin again later.
    pub fn take_turn(&mut self, turn: Turn) {
        self.state.turn = turn;
    }

    /// What became of that.
    pub fn turn(&self) -> Turn {
        self.state.turn
    }

    /// Hands out up to `limit` rows (0: all); each is cut to the columns of the result.
    pub fn fetch(
        &mut self,
        env: &Env<'_>,
        limit: u64,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Progress> {
        let width = self.prepared.statement.result.len();
        self.fetch_nodes(env, limit, &mut |node, cx| match node.next(cx)? {
            true => each(&node.row()[..width]).map(|()| true),
            false => Ok(false),
        })
    }

    /// A whole run whose rows go to a table: as they are stored elsewhere, where that is what the table would have.
    pub fn run_into(
        &mut self,
        env: &Env<'_>,
        params: &[Datum],
        table: &mut dyn StoredRows,
    ) -> SqlResult<Progress> {
        self.start(params);
        let alike = |layout: &RowLayout| heap::stores_alike(layout, table.layout());
        if !self.node.stored_layout().is_some_and(alike) {
            return self.fetch(env, 0, &mut |row| table.put(row));
        }
        self.fetch_nodes(env, 0, &mut |node, cx| {
            match node.next_stored(cx)? {
                Stored::Row(row) => table.put_stored(&row)?,
                Stored::Values => table.put(node.row())?,
                Stored::End => return Ok(false),
            }
            Ok(true)
        })
    }

    /// As [`fetch`](Self::fetch), with the [`origins`](Self::origins) of each row.
    pub fn fetch_with_origins(
        &mut self,
        env: &Env<'_>,
        limit: u64,
        each: &mut OriginSink<'_>,
    ) -> SqlResult<Progress> {
        let width = self.prepared.statement.result.len();
        let mut origins = Vec::new();
        self.fetch_nodes(env, limit, &mut |node, cx| {
            if !node.next(cx)? {
                return Ok(false);
            }
            origins.clear();
            node.origins(&mut origins);
            each(&node.row()[..width], &origins).map(|()| true)
        })
    }

    /// The tables that the current row is of, as far as its plan can tell, and the places of their rows.
    pub fn origins(&self) -> Vec<Origin> {
        let mut found = Vec::new();
        if self.on_row {
            self.node.origins(&mut found);
        }
        found
    }

    /// Has `next` move the topmost node to the next row, and do with it what is to be done, up to `limit` times or until that tells of the end.
    fn fetch_nodes(
        &mut self,
        env: &Env<'_>,
        limit: u64,
        next: &mut dyn FnMut(&mut dyn Node, &mut Cx<'_>) -> SqlResult<bool>,
    ) -> SqlResult<Progress> {
        let events = self.state.events.len();
        let mut rows = 0;
        let mut finished = !self.running;
        let begins = std::mem::take(&mut self.begins);
        let result = self.with_cx(env, |node, cx| {
            cx.drained = limit == 0;
            let mut run = || {
                if begins {
                    begin(node, cx)?;
                }
                while !finished && (limit == 0 || rows < limit) {
                    if next(&mut **node, cx)? {
                        rows += 1;
                        // Who asked for so many rows is told of the end when the next one is asked for.
                        finished = limit == 0 && node.is_over();
                    } else {
                        finished = true;
                    }
                }
                if finished { finish_modifying(cx) } else { Ok(()) }
            };
            let result = run();
            if finished || result.is_err() {
                end(node, cx);
            }
            result
        });
        self.running = !finished && result.is_ok();
        self.on_row = self.running;
        if result.is_err() {
            self.state.events.truncate(events);
        }
        result?;
        if finished && self.state.part == Part::Whole && !self.state.events.is_empty() {
            let missing = || SqlError::internal("a trigger without a session");
            let firing = env.session.triggers().ok_or_else(missing)?;
            firing.fire_after(std::mem::take(&mut self.state.events))?;
        }
        Ok(Progress { rows, processed: self.state.processed, finished })
    }

    /// A whole run.
    pub fn run(
        &mut self,
        env: &Env<'_>,
        params: &[Datum],
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Progress> {
        self.start(params);
        self.fetch(env, 0, each)
    }

    /// Ends a run early: lets go of everything held.
    pub fn close(&mut self, env: &Env<'_>) {
        self.running = false;
        self.with_cx(env, end);
    }

    fn with_cx<T>(&mut self, env: &Env<'_>, f: impl FnOnce(&mut BoxNode, &mut Cx<'_>) -> T) -> T {
        let Execution { prepared, node, params, state, .. } = self;
        let cx = &mut Cx::new(env, &prepared.needs, &prepared.statement, params, state);
        f(node, cx)
    }
}

impl Condition for Execution {
    fn holds(&mut self, env: &Env<'_>, params: &[Datum]) -> SqlResult<bool> {
        let mut holds = false;
        self.run(env, params, &mut |row| {
            holds = row.first() == Some(&Datum::Bool(true));
            Ok(())
        })?;
        Ok(holds)
    }
}

/// Has the nodes of a tree that ran before start again.
fn begin(node: &mut BoxNode, cx: &mut Cx<'_>) -> SqlResult<()> {
    for i in 0..cx.state.subs.len() {
        if let Some(mut sub) = cx.state.subs[i].take() {
            let done = if sub.started { sub.node.rescan(cx, &[]) } else { Ok(()) };
            sub.cache = None;
            sub.rows.clear();
            sub.finished = false;
            sub.started = false;
            cx.state.subs[i] = Some(sub);
            done?;
        }
    }
    node.rescan(cx, &[])
}

/// Makes the nodes release everything that they hold.
fn end(node: &mut BoxNode, cx: &mut Cx<'_>) {
    node.close(cx);
    for i in 0..cx.state.subs.len() {
        if let Some(mut sub) = cx.state.subs[i].take() {
            sub.node.close(cx);
            sub.cache = None;
            sub.rows.clear();
            cx.state.subs[i] = Some(sub);
        }
    }
}

/// A materialized view is read only once it has rows.
fn check_populated(statement: &Statement) -> SqlResult<()> {
    let tables = || statement.relations.iter().filter_map(|relation| relation.table.as_ref());
    match tables().find(|table| !table.populated) {
        None => Ok(()),
        Some(view) => Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "materialized view \"{}\" has not been populated",
            view.name
        )
        .hint("Use the REFRESH MATERIALIZED VIEW command.")),
    }
}

/// Common table expressions that change rows run to their end, read or not.
fn finish_modifying(cx: &mut Cx<'_>) -> SqlResult<()> {
    for number in 0..cx.state.subs.len() {
        let sub = &cx.statement.subplans[number];
        if sub.cte && matches!(sub.plan.node, plan::Node::Modify(_)) {
            while eval::subplan::cte_row(number, u64::MAX, cx)? {}
        }
    }
    Ok(())
}

/// An expression without columns, computed now: defaults, options, arguments of EXECUTE.
pub fn evaluate(expr: &Expr, env: &Env<'_>, params: &[Datum]) -> SqlResult<Datum> {
    let statement = Statement::of_expression(expr.clone());
    let mut execution = Execution::new(&Prepared::of_no_text(statement))?;
    let mut value = Datum::Null;
    execution.run(env, params, &mut |row| {
        value = row.first().cloned().unwrap_or_default();
        Ok(())
    })?;
    Ok(value)
}
