//! # What
//! Parts of a plan that several participants run beside each other, the session and workers: what may be there, how many workers there are to be,
//! what it costs.
//!
//! # Layout
//! A [`Path`] with workers is *partial*: each participant gives a part of the rows, all of them together give each row once. A large table's scan is, also
//! by bitmap, that of a tree of tables, and a join of such a path with one that each participant runs whole. [`PathKind::Gather`] brings the parts together, and
//! [`PathKind::GatherMerge`] in an order in which each participant sorts its part; aggregates may be computed of each part before that, and merged behind it ([`Split`](crate::plan::Split)).
//!
//! # Invariants
//! 1. Only tables are read below a gathering that everybody sees, and only expressions computed that need nothing of the session
//!    ([`is_safe`]): built-in functions that are not volatile.
//! 2. A statement with a gathering changes and locks no rows and calls no functions that may ([`is_unsafe`]).
//! 3. There is no gathering below another one, nor in subplans: these may be run often, and in part. Of subplans only values that depend on no
//!    row are read below a gathering.
//!
//! # PostgreSQL counterpart and differences
//! `compute_parallel_worker` and `generate_gather_paths` of `optimizer/path/allpaths.c`, `get_parallel_divisor` and `cost_gather` of `costsize.c`,
//! `cost_gather_merge`; `create_partial_grouping_paths` and `create_ordered_paths` of `plan/planner.c`. Functions of users are never run by workers.

use std::rc::Rc;

use base::Oid;
use catalog::view::Table;
use types::{Imp, Volatility};

use crate::aggregate::Steps;
use crate::cost::{DISABLED, Settings, TableShape, clamp_rows};
use crate::create::{Creator, add_unique, columns_of, wrap_sort};
use crate::expr::{AggCall, Expr, ParamId, RelId, SortKey, WindowCall};
use crate::function::Function;
use crate::inherit::Member;
use crate::joins::{Pair, Search};
use crate::logical::Source;
use crate::path::{Path, PathKind, ScanKind, Whole, add_path, cheapest};
use crate::plan::{Cost, JoinClause, JoinKind, Node, Plan, SortKeys, Statement};
use crate::planner::Planner;
use crate::relset::{FIRST_MEMBER, RelSet};
use crate::selectivity;
use crate::sorting::Wanted;

/// Who runs a part of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Team {
    /// Those who help the session.
    pub workers: u32,
    /// Rows that all of them get together.
    pub rows: f64,
}

impl Settings {
    /// How many times the work of one worker is done in its time: the session takes part as far as the workers leave it time.
    pub(crate) fn participants(&self, workers: u32) -> f64 {
        let workers = f64::from(workers);
        let session = if self.parallel_leader_participation { (1.0 - 0.3 * workers).max(0.0) } else { 0.0 };
        workers + session
    }

    /// How many workers are to help to read a table: one for one of the least size, one more each time that it is three times as large; or what
    /// its `parallel_workers` says.
    fn workers(&self, table: &Table, pages: f64) -> u32 {
        let most = self.max_parallel_workers_per_gather;
        if most == 0 {
            return 0;
        }
        if let Some(told) = table.option("parallel_workers").and_then(|text| text.parse::<u32>().ok()) {
            return told.min(most);
        }
        if pages < self.min_parallel_table_scan_size {
            return 0;
        }
        let mut threshold = self.min_parallel_table_scan_size.max(1.0);
        let mut workers = 1;
        while workers < most && pages >= threshold * 3.0 {
            workers += 1;
            threshold *= 3.0;
        }
        workers
    }

    /// A participant's part of the scan of a whole table: pages are not read sooner for being shared.
    fn partial_seq_scan(&self, table: TableShape, quals: f64, workers: u32) -> (f64, f64) {
        let (_, total) = self.seq_scan(table, quals);
        let disabled = if self.enable_seqscan { 0.0 } else { DISABLED };
        let disk = self.seq_page(table.costs) * table.pages;
        let cpu = total - disk - disabled;
        (0.0, disk + cpu / self.participants(workers) + disabled)
    }

    /// `rows` rows of all participants, each of whose parts costs `part`.
    pub(crate) fn gather(&self, part: Cost, rows: f64) -> Cost {
        let startup = part.startup + self.parallel_setup_cost;
        let total = part.total + self.parallel_setup_cost + self.parallel_tuple_cost * rows;
        Cost { startup, total, rows, width: part.width }
    }

    /// `rows` rows of all participants, each of whose sorted parts costs `part`, merged.
    pub(crate) fn gather_merge(&self, part: Cost, rows: f64, workers: u32) -> Cost {
        let parts = f64::from(workers) + 1.0;
        let comparison = 2.0 * self.cpu_operator_cost * parts.log2();
        let disabled = if self.enable_gathermerge { 0.0 } else { DISABLED };
        let before = self.parallel_setup_cost + comparison * parts + disabled;
        // Others are waited for a little longer than where any row will do.
        let row = comparison + self.cpu_operator_cost + self.parallel_tuple_cost * 1.05;
        let (startup, total) = (part.startup + before, part.total + before + rows * row);
        Cost { startup, total, rows, width: part.width }
    }
}

impl Search<'_, '_> {
    /// Adds the scan of a table by several participants, if it is large enough.
    pub(crate) fn partial_scan(
        &mut self,
        rel: RelId,
        (table, shape): (&Table, TableShape),
        filters: &[Expr],
        (rows, width): (f64, f64),
        paths: &mut Vec<Rc<Path>>,
    ) {
        if !self.planner.parallel || rel >= FIRST_MEMBER {
            return;
        }
        let workers = self.planner.settings().workers(table, shape.pages);
        if workers > 0
            && let Some(path) = self.part_of_scan(rel, (table, shape), filters, (rows, width), workers)
        {
            self.add_partial(Rc::new(path), rows, paths);
        }
    }

    /// What each participant has of a table's rows.
    fn part_of_scan(
        &self,
        rel: RelId,
        (table, shape): (&Table, TableShape),
        filters: &[Expr],
        (rows, width): (f64, f64),
        workers: u32,
    ) -> Option<Path> {
        if !is_shared(table) || !filters.iter().all(is_safe) || self.needs_places(rel) {
            return None;
        }
        let settings = self.planner.settings();
        let operators = filters.iter().map(Expr::operators).sum();
        let (startup, total) = settings.partial_seq_scan(shape, operators, workers);
        let rows = clamp_rows(rows / settings.participants(workers));
        let kind = PathKind::Scan(ScanKind::Whole { rel, filter: filters.to_vec(), keys: None });
        let (rels, enforced) = (RelSet::one(rel), Vec::new());
        let cost = Cost { startup, total, rows, width };
        Some(Path { rels, cost, order: Vec::new(), outer: RelSet::EMPTY, enforced, workers, kind })
    }

    /// Adds the scans of all members of a tree by several participants, if one of them is large enough.
    pub(crate) fn partial_append(&mut self, rel: RelId, members: &[Member], paths: &mut Vec<Rc<Path>>) {
        if !self.planner.parallel {
            return;
        }
        let settings = self.planner.settings();
        let mut shapes = Vec::with_capacity(members.len());
        for member in members {
            let table = self.planner.relations[member.rel].table.clone();
            let Some(table) = table.filter(|_| matches!(self.planner.sources[member.rel], Source::Table))
            else {
                return;
            };
            let shape = self.planner.context.statistics.table(&table);
            shapes.push((table, shape));
        }
        let workers = shapes.iter().map(|(table, shape)| settings.workers(table, shape.pages)).max();
        let Some(workers) = workers.filter(|workers| *workers > 0) else { return };
        let mut children = Vec::with_capacity(members.len());
        for (member, (table, shape)) in members.iter().zip(&shapes) {
            let part = self.as_member(rel, member, |search, filters| {
                let share = selectivity::conjunction(&*search.planner, filters);
                let size = (clamp_rows(shape.tuples * share), search.width_of(member.rel));
                search.part_of_scan(member.rel, (&**table, *shape), filters, size, workers)
            });
            let Some(part) = part else { return };
            children.push(Rc::new(part));
        }
        let whole = paths.iter().map(|path| path.cost.rows).fold(1.0, f64::max);
        let of = (&Whole::Members(rel), RelSet::one(rel));
        let path = self.append_path(of, children, Vec::new());
        self.add_partial(Rc::new(Path { workers, ..path }), whole, paths);
    }

    /// Adds the whole of what several participants give in parts, each sorted, in an order that is wanted.
    pub(crate) fn merged(
        &self,
        part: &Rc<Path>,
        wanted: &Wanted,
        rows: f64,
        limit: Option<f64>,
        paths: &mut Vec<Rc<Path>>,
    ) {
        let keys = &wanted.keys;
        if keys.is_empty() || !keys.iter().all(|key| is_safe(&key.expr)) {
            return;
        }
        let settings = self.planner.settings();
        let (startup, total) = self.planner.sorted_cost(part.cost, wanted, &part.order, limit);
        let sorted = Cost { startup, total, ..part.cost };
        let path = Path {
            rels: part.rels,
            cost: settings.gather_merge(sorted, rows, part.workers),
            order: wanted.order.clone(),
            outer: RelSet::EMPTY,
            enforced: Vec::new(),
            workers: 0,
            kind: PathKind::GatherMerge { child: part.clone(), keys: keys.clone(), limit },
        };
        add_path(paths, path);
    }

    /// Adds a scan by bitmap whose pages several participants share, if these are many enough. `bitmap`: its cost, which part of the table it names,
    /// and the operators of the filter.
    pub(crate) fn partial_bitmap(
        &mut self,
        scan: ScanKind,
        shape: TableShape,
        (bitmap, share, operators): (f64, f64, f64),
        (rows, width): (f64, f64),
        paths: &mut Vec<Rc<Path>>,
    ) {
        let ScanKind::Bitmap { rel, .. } = scan else { return };
        let possible = self.planner.parallel && rel < FIRST_MEMBER && !self.needs_places(rel);
        if !possible || !self.planner.is_safe_scan(&scan) {
            return;
        }
        let settings = self.planner.settings();
        let table = self.planner.relations[rel].table.as_ref();
        let pages = Settings::bitmap_pages(shape, share);
        let workers = table.map_or(0, |table| settings.workers(table, pages));
        if workers == 0 {
            return;
        }
        let participants = settings.participants(workers);
        let (startup, total) = settings.bitmap_heap(shape, bitmap, share, operators, participants);
        let cost = Cost { startup, total, rows: clamp_rows(rows / participants), width };
        let (kind, enforced) = (PathKind::Scan(scan), Vec::new());
        let rels = RelSet::one(rel);
        let path = Path { rels, cost, order: Vec::new(), outer: RelSet::EMPTY, enforced, workers, kind };
        self.add_partial(Rc::new(path), rows, paths);
    }

    /// Whether more is needed of a relation than its columns.
    fn needs_places(&self, rel: RelId) -> bool {
        let clauses = self.level.clauses.iter().map(|clause| &clause.expr);
        let guards = self.level.guards.iter().map(|guard| &guard.expr);
        let mut exprs = self.needed.iter().chain(clauses).chain(guards);
        exprs.any(|expr| expr.any(&mut |e| matches!(e, Expr::Var(var) if var.rel == rel && var.column <= 0)))
    }

    /// Adds the joins of a part of the outer side's rows with the whole inner side, which each participant runs for itself.
    pub(crate) fn partial_joins(
        &mut self,
        ctx: &Pair<'_>,
        outer: Rc<Path>,
        inners: &[Rc<Path>],
        equalities: &(Vec<JoinClause>, Vec<usize>),
        paths: &mut Vec<Rc<Path>>,
    ) {
        // Nobody would know which rows of the inner side have had no match with any part.
        let possible = matches!(ctx.kind, JoinKind::Inner | JoinKind::Left | JoinKind::Semi | JoinKind::Anti);
        let mut exprs = ctx.clauses.iter().map(|(_, e)| e).chain(ctx.filter);
        if !possible || !ctx.lateral.is_empty() || !exprs.all(is_safe) {
            return;
        }
        let inners: Vec<Rc<Path>> =
            inners.iter().filter(|path| self.planner.is_safe(path)).cloned().collect();
        let outers = [outer];
        let mut found = Vec::new();
        self.nest_loops(ctx, &outers, &inners, &mut found);
        if !equalities.0.is_empty() {
            self.hash_joins(ctx, &outers, &inners, equalities, &mut found);
        }
        if let Some(best) = cheapest(&found, |path| path.outer.is_empty()) {
            self.add_partial(best, ctx.rows, paths);
        }
    }

    /// Notes a partial path if there is none as cheap, and adds the gathering of its rows.
    fn add_partial(&mut self, path: Rc<Path>, rows: f64, paths: &mut Vec<Rc<Path>>) {
        if self.partial.get(&path.rels).is_some_and(|old| old.cost.total <= path.cost.total) {
            return;
        }
        self.partial.insert(path.rels, path.clone());
        let gathering = Path {
            rels: path.rels,
            cost: self.planner.settings().gather(path.cost, rows),
            order: Vec::new(),
            outer: RelSet::EMPTY,
            enforced: Vec::new(),
            workers: 0,
            kind: PathKind::Gather { child: path },
        };
        add_path(paths, gathering);
    }
}

impl Planner<'_> {
    /// Whether each participant may run this path for itself.
    fn is_safe(&self, path: &Path) -> bool {
        match &path.kind {
            PathKind::Scan(scan) => self.is_safe_scan(scan),
            PathKind::Append { children, conditions, .. } => {
                children.iter().all(|child| self.is_safe(child)) && conditions.iter().all(is_safe)
            }
            PathKind::NestLoop { outer, inner, clauses, filter, .. } => {
                self.are_safe([outer, inner]) && clauses.iter().chain(filter).all(is_safe)
            }
            PathKind::HashJoin { outer, inner, hash: keys, clauses, filter, .. }
            | PathKind::MergeJoin { outer, inner, merge: keys, clauses, filter, .. } => {
                let keys = keys.iter().map(|key| &key.original);
                self.are_safe([outer, inner]) && keys.chain(clauses).chain(filter).all(is_safe)
            }
            PathKind::Gather { .. } | PathKind::GatherMerge { .. } => false,
        }
    }

    fn are_safe(&self, sides: [&Rc<Path>; 2]) -> bool {
        sides.iter().all(|side| self.is_safe(side))
    }

    fn is_safe_scan(&self, scan: &ScanKind) -> bool {
        let is_shared = |rel: RelId| {
            let table = self.relations[rel].table.as_ref();
            matches!(self.sources[rel], Source::Table) && table.is_some_and(|table| is_shared(table))
        };
        match scan {
            ScanKind::Whole { rel, filter, .. } => is_shared(*rel) && filter.iter().all(is_safe),
            ScanKind::Index { rel, conditions, distances, filter, .. } => {
                let conditions = conditions.iter().flat_map(|c| [&c.value, &c.original]);
                is_shared(*rel) && distances.is_empty() && conditions.chain(filter).all(is_safe)
            }
            ScanKind::Bitmap { rel, recheck, filter, .. } => {
                is_shared(*rel) && recheck.iter().chain(filter).all(is_safe)
            }
            ScanKind::Tid { .. } | ScanKind::TidRange { .. } => false,
        }
    }
}

/// Whether others than the session see the table's rows.
pub(crate) fn is_shared(table: &Table) -> bool {
    table.persistence != 't' && table.heap.is_some()
}

/// Whether workers may compute an expression: it needs nothing of the session, and has no effect.
pub(crate) fn is_safe(expr: &Expr) -> bool {
    is_safe_within(expr, &mut Vec::new(), false)
}

/// The same where the expression around sets some cells. `calls`: the values of aggregates and window functions may be read.
pub(crate) fn is_safe_within(expr: &Expr, cells: &mut Vec<ParamId>, calls: bool) -> bool {
    let own = match expr {
        Expr::Aggregate(call) if calls => is_safe_aggregate(call),
        Expr::Window(call) if calls => is_safe_window(call),
        Expr::Var(var) => var.column > 0,
        Expr::ExecParam { id, .. } => cells.contains(id),
        Expr::Call(call) | Expr::NullIf(call) | Expr::Distinct { equality: call, .. } => {
            is_safe_function(&call.function)
        }
        Expr::ArrayOp(op) => is_safe_function(&op.function),
        // The session computes it before the others begin.
        Expr::SubPlan(sub) => sub.is_initial(),
        Expr::Case { operand, .. } => {
            cells.extend(operand.iter().map(|(cell, _)| *cell));
            true
        }
        Expr::Const { .. }
        | Expr::Param { .. }
        | Expr::Placeholder(_)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Not(_)
        | Expr::Test(..)
        | Expr::Coalesce(..)
        | Expr::Extreme(..)
        | Expr::Relabel { .. }
        | Expr::IoCast { .. }
        | Expr::Array { .. }
        | Expr::Subscript { .. } => true,
        _ => false,
    };
    // What values of users' types are to functions is in catalogs.
    let type_oid = expr.type_oid();
    let mut safe = own && types::builtin_type(type_oid).is_some() && !is_alias(type_oid);
    expr.for_children(&mut |child| safe = safe && is_safe_within(child, cells, calls));
    safe
}

/// Whether values of a type are shown as names, which catalogs know.
fn is_alias(type_oid: Oid) -> bool {
    use types::oids::*;
    [
        regproc,
        regprocedure,
        regoper,
        regoperator,
        regclass,
        regtype,
        regconfig,
        regdictionary,
        regnamespace,
        regrole,
        regcollation,
    ]
    .contains(&type_oid)
}

fn is_safe_function(function: &Function) -> bool {
    let Function::Builtin(function) = function else { return false };
    function.parallel == b's'
        && function.volatility != Volatility::Volatile
        && matches!(function.imp, Imp::Native(_))
}

/// Whether a worker may compute an aggregate, its arguments aside.
fn is_safe_aggregate(call: &AggCall) -> bool {
    let built_in = matches!(&call.function, Function::Builtin(function) if function.parallel == b's');
    built_in && matches!(call.steps, Steps::Native(_)) && call.order.iter().all(|key| is_safe(&key.expr))
}

/// The same of a window function.
fn is_safe_window(call: &WindowCall) -> bool {
    let built_in = matches!(&call.function, Function::Builtin(function) if function.parallel == b's');
    built_in && matches!(call.steps, None | Some(Steps::Native(_)))
}

/// Whether an aggregate may be computed of parts of its rows.
pub(crate) fn is_splittable(call: &AggCall) -> bool {
    let (Function::Builtin(function), Steps::Native(steps)) = (&call.function, &call.steps) else {
        return false;
    };
    function.parallel == b's'
        && steps.combines()
        && !call.distinct
        && call.order.is_empty()
        && call.args.iter().chain(&call.filter).all(is_safe)
}

/// Whether something in the statement may change what others, or workers, see meanwhile.
pub(crate) fn is_unsafe(statement: &Statement) -> bool {
    fn calls_unsafe(expr: &Expr) -> bool {
        let is_unsafe = |function: &Function| match function {
            Function::Builtin(function) => function.parallel == b'u',
            Function::User(_) => true,
        };
        match expr {
            Expr::Call(call) | Expr::NullIf(call) | Expr::Distinct { equality: call, .. } => {
                is_unsafe(&call.function)
            }
            Expr::ArrayOp(op) => is_unsafe(&op.function),
            Expr::Aggregate(call) => is_unsafe(&call.function),
            Expr::Window(call) => is_unsafe(&call.function),
            Expr::Ordered { .. } => true,
            _ => false,
        }
    }
    fn look(plan: &Plan) -> bool {
        let mut found = matches!(plan.node, Node::Modify(_) | Node::LockRows { .. });
        plan.for_exprs(&mut |expr| found = found || expr.any(&mut calls_unsafe));
        plan.for_children(&mut |child| found = found || look(child));
        found
    }
    look(&statement.plan) || statement.subplans.iter().any(|sub| look(&sub.plan))
}

impl Path {
    /// Its cost as its reader has it: a gathering gives nothing before it has all.
    pub(crate) fn cost_as_read(&self, settings: &Settings) -> Cost {
        match self.kind {
            PathKind::Gather { .. } => {
                let startup = self.cost.total - settings.parallel_tuple_cost * self.cost.rows;
                Cost { startup, ..self.cost }
            }
            _ => self.cost,
        }
    }
}

impl Creator<'_, '_> {
    /// The node that brings the parts of a path together. What workers may not compute is computed above it.
    /// With keys, each participant sorts its part by these.
    pub(crate) fn gather(
        &mut self,
        path: &Path,
        child: &Rc<Path>,
        output: Vec<Expr>,
        order: Option<(&[SortKey], Option<f64>)>,
    ) -> Plan {
        self.planner.gathers = true;
        let keys = order.map_or(&[][..], |(keys, _)| keys);
        let mut given = match output.iter().all(is_safe) {
            true => output.clone(),
            false => {
                let mut columns = Vec::new();
                columns_of(&output, path.rels, &[], &mut columns);
                columns
            }
        };
        keys.iter().for_each(|key| add_unique(&mut given, key.expr.clone()));
        let mut part = self.create(child, given.clone());
        if let Some((keys, limit)) = order {
            part = wrap_sort(part, SortKeys(keys.to_vec()), limit, self.planner);
        }
        let node = Node::Gather {
            child: Box::new(part),
            workers: child.workers,
            merge: order.is_some(),
            single_copy: false,
        };
        let gathered = Plan { cost: path.cost, output: given, filter: Vec::new(), node };
        if gathered.output == output {
            return gathered;
        }
        let node = Node::Result { one_time: Vec::new(), child: Some(Box::new(gathered)) };
        Plan { cost: path.cost, output, filter: Vec::new(), node }
    }
}
