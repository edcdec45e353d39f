//! # What
//! The executor's nodes: each pulls rows from its children and gives rows one at a time. What a node has to keep to stands with
//! the trait [`Node`]. State trees are built from a plan by [`Builder::build`], and used again for the next execution after [`Node::rescan`].

use base::SqlResult;
use eval::code::{Code, Rows, passes, project};
use eval::compile::{Compiler, Inputs};
use eval::cx::Cx;
use eval::node::{BoxNode, Node, Origin};
use eval::row_store::RowStore;
use plan::explain::Detail;
use plan::{Expr, ParamId, Plan, RelId, Statement};
use tuple::Datum;

use crate::batch::is_plain;

mod aggregate;
mod aggregate_call;
mod ahead;
mod bitmap;
mod bitmap_scan;
mod counting;
mod foreign_scan;
mod gather;
mod gather_helper;
mod gather_merge;
mod hash_join;
mod hashing;
mod incremental_sort;
mod join;
mod lock_rows;
mod memoize;
mod merge_append;
mod merge_join;
mod modify;
mod modify_target;
mod nearest;
mod passes;
mod peers;
mod quick_sort;
mod recursive;
mod row_reader;
mod sample_scan;
mod scan;
mod seq_scan;
mod set;
mod simple;
mod sort;
mod table_scan;
mod user_aggregate;
mod watching;
mod window;
mod window_range;

pub(crate) use aggregate_call::CallCode;
pub use lock_rows::members;
pub use modify::has_effects;
pub use modify_target::KeptRows;
pub use scan::row_type;
pub use sort::Key;
pub use table_scan::TableHorizon;
pub use watching::key_entered;

/// Whether all rows of a node are read once the first is asked for, unless an error ends it all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drained {
    /// Nobody can say.
    Unknown,
    /// If those of the statement are ([`Cx::drained`]).
    WithStatement,
    /// Yes.
    Surely,
}

impl Drained {
    /// Whether all rows are read in this call.
    fn is_so(self, cx: &Cx<'_>) -> bool {
        match self {
            Drained::Unknown => false,
            Drained::WithStatement => cx.drained,
            Drained::Surely => true,
        }
    }

    /// The same of the children of a node.
    fn below(self, plan: &Plan) -> Drained {
        use plan::{AggStrategy, Node as P};
        match &plan.node {
            P::Sort { .. } => Drained::Surely,
            P::Aggregate { strategy, .. } if *strategy != AggStrategy::Sorted => Drained::Surely,
            P::Aggregate { .. } | P::SubqueryScan { .. } | P::Result { .. } | P::Append { .. } => self,
            _ => Drained::Unknown,
        }
    }
}

/// Takes rows, each with the tables that it is of and their rows' places.
pub type OriginSink<'a> = dyn FnMut(&[Datum], &[Origin]) -> SqlResult<()> + 'a;

/// Builds state trees for one statement.
pub struct Builder<'p> {
    /// The statement.
    pub statement: &'p Statement,
    /// Of what is built next.
    pub(crate) drained: Drained,
    /// For the scan that is built next.
    pub(crate) page_lock: Option<ahead::PageLock>,
    /// The scan that is built next is asked for many rows.
    pub(crate) batches: bool,
    /// All rows of the sequential scan that is built next are asked for, one by one.
    pub(crate) chooses: bool,
    /// For a bulk load, which gives one row in a run.
    pub loading: bool,
    /// Build for checking a concurrently updated row again: these relations yield their [`eval::cx::GivenRow`] only.
    pub recheck: Vec<RelId>,
    /// Scans in pieces below the gathering under way, so far.
    scans: usize,
    /// Count rows and time of each node, in the order of the tree.
    pub counting: bool,
    /// Nodes counted so far.
    pub counted: usize,
}

impl<'p> Builder<'p> {
    /// A builder for ordinary execution.
    pub fn new(statement: &'p Statement) -> Builder<'p> {
        let drained = Drained::Unknown;
        Builder {
            statement,
            drained,
            page_lock: None,
            batches: false,
            chooses: false,
            loading: false,
            scans: 0,
            recheck: Vec::new(),
            counting: false,
            counted: 0,
        }
    }

    /// Compiles expressions of the statement.
    pub fn compiler(&self) -> Compiler<'p> {
        Compiler { statement: self.statement }
    }

    /// Whether a plan is expected to read so many rows that it is worth while to look at many at once.
    pub(crate) fn reads_many(&self, plan: &Plan) -> bool {
        /// Cost of a scan of about a thousand rows.
        const MANY: f64 = 20.0;
        self.statement.batches && plan.cost.total >= MANY
    }

    /// Whether a node above this plan is to ask for many rows at once: it is a scan that is expected to read many, or a hash join of one.
    pub(crate) fn takes_batches_of(&self, plan: &Plan) -> bool {
        /// Rows of a bitmap that make up for what a batch costs.
        const MANY_NAMED: f64 = 100.0;
        if !self.reads_many(plan) {
            return false;
        }
        let plain = || plan.filter.iter().chain(&plan.output).all(is_plain);
        match &plan.node {
            plan::Node::SeqScan { .. } => plain(),
            plan::Node::BitmapHeapScan { bitmap, recheck, .. } => {
                bitmap.rows() >= MANY_NAMED && plain() && recheck.iter().all(is_plain)
            }
            plan::Node::HashJoin { outer, hash, clauses, .. } => {
                self.recheck.is_empty()
                    && self.takes_batches_of(outer)
                    && plain()
                    && clauses.iter().all(is_plain)
                    && hash.iter().all(|clause| is_plain(&clause.outer) && is_plain(&clause.inner))
            }
            _ => false,
        }
    }

    /// The state tree of a plan.
    pub fn build(&mut self, plan: &'p Plan) -> SqlResult<BoxNode> {
        runtime::check_stack()?;
        let number = self.count();
        let drained = self.drained;
        self.drained = drained.below(plan);
        let node = self.build_plain(plan, drained);
        self.drained = drained;
        let node = node?;
        if self.counting {
            return Ok(Box::new(counting::Counting::new(node, number)));
        }
        Ok(node)
    }

    /// The number of the next node.
    fn count(&mut self) -> usize {
        self.counted += 1;
        self.counted - 1
    }

    fn build_plain(&mut self, plan: &'p Plan, drained: Drained) -> SqlResult<BoxNode> {
        use plan::Node as P;
        Ok(match &plan.node {
            P::Result { one_time, child } => simple::result(self, plan, one_time, child.as_deref())?,
            P::ProjectSet { child } => simple::project_set(self, plan, child)?,
            P::SeqScan { rel, keys, parallel } => {
                seq_scan::seq(self, plan, *rel, keys.as_deref(), *parallel)?
            }
            P::ForeignScan { rel, .. } => foreign_scan::build(self, plan, *rel)?,
            P::SampleScan { rel, sample } => sample_scan::build(self, plan, *rel, sample)?,
            P::IndexScan { rel, index, conditions, distances, backward } => {
                table_scan::index(self, plan, *rel, index, (conditions, distances), *backward, false)?
            }
            P::IndexOnlyScan { rel, index, conditions, distances, backward } => {
                table_scan::index(self, plan, *rel, index, (conditions, distances), *backward, true)?
            }
            P::BitmapHeapScan { rel, bitmap, recheck, parallel } => {
                bitmap_scan::build(self, plan, (*rel, *parallel), bitmap, recheck)?
            }
            P::TidRangeScan { rel, bounds, condition } => {
                seq_scan::tid_range(self, plan, *rel, bounds, condition)?
            }
            P::TidScan { rel, tids, condition } => table_scan::tid(self, plan, *rel, tids, condition)?,
            P::ValuesScan { rel, rows } => scan::values(self, plan, *rel, rows)?,
            P::FunctionScan { rel, functions, widths, ordinality } => {
                scan::function(self, plan, *rel, (functions, widths), *ordinality)?
            }
            P::SubqueryScan { rel, child } => scan::subquery(self, plan, *rel, child)?,
            P::CteScan { rel, subplan } => scan::cte(self, plan, *rel, *subplan)?,
            P::WorkTableScan { rel, table } => scan::work_table(self, plan, *rel, *table)?,
            P::TransitionScan { rel, name } => scan::transition(self, plan, *rel, name)?,
            P::RecursiveUnion { initial, recursive, table, distinct } => {
                recursive::build(self, initial, recursive, *table, *distinct)?
            }
            P::NestLoop { kind, outer, inner, clauses, params, inner_unique } => {
                join::nest_loop(self, plan, (*kind, *inner_unique), outer, inner, clauses, params)?
            }
            P::HashJoin { kind, outer, inner, hash, clauses, inner_unique } => {
                hash_join::build(self, plan, (*kind, *inner_unique), outer, inner, hash, clauses)?
            }
            P::MergeJoin { kind, outer, inner, merge, clauses, .. } => {
                merge_join::build(self, plan, *kind, outer, inner, merge, clauses)?
            }
            P::Gather { child, workers, merge: false, single_copy } => {
                gather::build(self, plan, child, (*workers, *single_copy), drained)?
            }
            P::Gather { child, workers, merge: true, .. } => {
                gather_merge::build(self, plan, child, *workers)?
            }
            P::Materialize { child } => simple::materialize(self, child)?,
            P::Memoize { child, keys, binary, single } => {
                memoize::build(self, child, keys, *binary, *single)?
            }
            P::Sort { child, keys } => sort::build(self, child, keys)?,
            P::IncrementalSort { child, keys, presorted } => {
                incremental_sort::build(self, child, keys, *presorted)?
            }
            P::Unique { child, columns } => simple::unique(self, child, columns)?,
            P::Aggregate { split: plan::Split::Final, child, .. } => {
                aggregate::build_gathered(self, plan, child)?
            }
            P::Aggregate { strategy, child, keys, rollups, calls, .. } => {
                aggregate::build(self, plan, *strategy, child, keys, rollups, calls)?
            }
            P::WindowAgg { child, partition, order, frame, calls, run, .. } => {
                window::build(self, plan, child, (partition, order), frame, (calls, run))?
            }
            P::Limit { child, count, offset, with_ties } => {
                simple::limit(self, child, count, offset, with_ties)?
            }
            P::SetOp { kind, left, right } => set::build(self, *kind, left, right)?,
            P::Append { children, tree: None } => simple::append(self, children, None)?,
            P::Append { children, tree: Some(tree) } => match self.rechecked(children, tree) {
                Some(child) => self.build(child)?,
                None => simple::append(self, children, Some(tree))?,
            },
            P::MergeAppend { children, keys, tree } => {
                let tree = tree.as_deref();
                match tree.and_then(|tree| self.rechecked(children, tree)) {
                    Some(child) => self.build(child)?,
                    None => merge_append::build(self, plan, children, keys, tree)?,
                }
            }
            P::LockRows { child, marks } => lock_rows::build(self, child, marks, drained)?,
            P::Modify(modify) => modify::build(self, plan, modify)?,
        })
    }

    /// The only child of a tree's scan that gives rows: of an only member, or while a row of a member is checked again.
    fn rechecked(&self, children: &'p [Plan], tree: &plan::Tree) -> Option<&'p Plan> {
        match children {
            [only] => Some(only),
            _ => {
                let recheck = |rel: &RelId| self.recheck.contains(rel);
                let child = tree.members.iter().position(|members| members.iter().any(recheck))?;
                children.get(child)
            }
        }
    }

    /// Filter and output of a node over its inputs.
    pub fn projection(&self, plan: &Plan, inputs: Inputs<'_>) -> SqlResult<Projection> {
        let compiler = self.compiler();
        let filter = compiler.list(&plan.filter, inputs)?;
        // What sets cells for others comes first.
        let output = compiler.list(&plan.output, inputs)?;
        let multi = (0..output.len())
            .filter(|i| matches!(&output[*i], Code::Sub(sub) if matches!(sub.kind, eval::code::SubKind::Multi { .. })));
        let first: Box<[usize]> = multi.collect();
        Ok(Projection { filter, output, first, row: Vec::new() })
    }
}

/// Filter and output of a node.
pub struct Projection {
    /// Conditions.
    pub filter: Box<[Code]>,
    output: Box<[Code]>,
    first: Box<[usize]>,
    row: Vec<Datum>,
}

impl Projection {
    /// Whether the row passes the filter; if so, computes the output.
    #[inline]
    pub fn apply(&mut self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let accepted = self.accepts(rows, cx)?;
        if accepted {
            self.project(rows, cx)?;
        }
        Ok(accepted)
    }

    /// Whether the row passes the filter.
    #[inline]
    pub fn accepts(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let accepted = passes(&self.filter, rows, cx)?;
        if !accepted && cx.state.counters.is_some() {
            cx.note_filtered();
        }
        Ok(accepted)
    }

    /// Computes the output.
    #[inline]
    pub fn project(&mut self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
        for i in &self.first {
            self.output[*i].eval(rows, cx)?;
        }
        if self.first.is_empty() {
            return project(&self.output, rows, cx, &mut self.row);
        }
        self.row.clear();
        for (i, code) in self.output.iter().enumerate() {
            let value = if self.first.contains(&i) { Datum::Null } else { code.eval(rows, cx)? };
            self.row.push(value);
        }
        Ok(())
    }

    /// The output row.
    #[inline]
    pub fn row(&self) -> &[Datum] {
        &self.row
    }

    /// Whether its output is its input, of this many columns, as it is.
    pub fn is_identity(&self, width: usize) -> bool {
        let mut columns = self.output.iter().enumerate();
        self.output.len() == width && columns.all(|(i, code)| matches!(code, Code::Outer(at) if *at == i))
    }

    /// Whether its output is just this column of its input.
    pub fn is_column(&self, column: usize) -> bool {
        self.filter.is_empty() && matches!(&*self.output, [Code::Outer(only)] if *only == column)
    }

    /// Whether rows pass it whatever they are, and nobody can tell if it is not applied to one that nobody reads.
    pub fn is_idle(&self) -> bool {
        self.filter.is_empty()
            && self.output.iter().all(|code| matches!(code, Code::Outer(_) | Code::Const(_)))
    }
}

/// Cells that a plan and the subplans it uses read but do not set themselves.
pub fn depends_on(statement: &Statement, plan: &Plan) -> Vec<ParamId> {
    let mut found = Vec::new();
    let mut set = Vec::new();
    walk_plan(statement, plan, &mut found, &mut set, 0);
    found.retain(|id| !set.contains(id));
    found.sort_unstable();
    found.dedup();
    found
}

fn walk_expr(
    statement: &Statement,
    expr: &Expr,
    found: &mut Vec<ParamId>,
    set: &mut Vec<ParamId>,
    depth: usize,
) {
    expr.any(&mut |e| {
        match e {
            Expr::ExecParam { id, .. } => found.push(*id),
            Expr::Case { operand: Some((id, _)), .. }
            | Expr::ArrayCast { cell: id, .. }
            | Expr::ToDomain { cell: id, .. } => {
                set.push(*id);
            }
            Expr::SubPlan(sub) => {
                set.extend(sub.args.iter().map(|(id, _)| *id));
                match &sub.kind {
                    plan::SubPlanKind::Quantified { columns, .. } | plan::SubPlanKind::Multi { columns } => {
                        set.extend(columns);
                    }
                    _ => {}
                }
                if depth < 64 {
                    walk_plan(statement, &statement.subplans[sub.plan].plan, found, set, depth + 1);
                }
            }
            _ => {}
        }
        false
    });
}

fn walk_plan(
    statement: &Statement,
    plan: &Plan,
    found: &mut Vec<ParamId>,
    set: &mut Vec<ParamId>,
    depth: usize,
) {
    plan.for_exprs(&mut |e| walk_expr(statement, e, found, set, depth));
    if let plan::Node::NestLoop { params, .. } = &plan.node {
        set.extend(params.iter().map(|(id, _)| *id));
    }
    match &plan.node {
        plan::Node::WorkTableScan { table, .. } => found.push(statement.work_tables[*table]),
        plan::Node::RecursiveUnion { table, .. } => set.push(statement.work_tables[*table]),
        _ => {}
    }
    if let plan::Node::CteScan { subplan, .. } = &plan.node
        && depth < 64
    {
        walk_plan(statement, &statement.subplans[*subplan].plan, found, set, depth + 1);
    }
    plan.for_children(&mut |child| walk_plan(statement, child, found, set, depth));
}

/// Whether any of `cells` is among `changed`.
pub fn affected(cells: &[ParamId], changed: &[ParamId]) -> bool {
    cells.iter().any(|c| changed.contains(c))
}

/// What EXPLAIN hears of rows kept, given what it heard before: the most that there have been.
fn stored(before: Detail, rows: &RowStore) -> Detail {
    let (spilled, now) = (rows.is_spilled(), rows.size().div_ceil(1024));
    match before {
        Detail::Storage { disk, kilobytes } => {
            Detail::Storage { disk: disk || spilled, kilobytes: kilobytes.max(now) }
        }
        _ => Detail::Storage { disk: spilled, kilobytes: now },
    }
}
