//! `debug_parallel_query`: a worker runs the whole plan of a statement if it may, so that what only happens in workers can be tried with any query.
//!
//! # PostgreSQL counterpart and differences
//! The end of `standard_planner` of `optimizer/plan/planner.c`. Plans that read common table expressions or rows of set-returning functions in
//! the target list stay with the session, like others of which [`is_safe_within`] knows nothing.

use crate::cost::ForcedParallel;
use crate::expr::{Expr, ParamId};
use crate::parallel::{is_safe_within, is_shared};
use crate::plan::{Node, Plan};
use crate::planner::Planner;

impl Planner<'_> {
    /// The plan, below a gathering of one worker if there has to be one and may be.
    pub(crate) fn forced_gather(&mut self, plan: Plan) -> Plan {
        let settings = self.settings();
        if settings.debug_parallel_query == ForcedParallel::Off || !self.parallel || self.gathers {
            return plan;
        }
        let mut cells = Vec::new();
        note_cells(&plan, &mut cells);
        if !self.is_safe_plan(&plan, &mut cells) {
            return plan;
        }
        let (cost, output) = (settings.gather(plan.cost, plan.cost.rows), plan.output.clone());
        self.gathers = true;
        let node = Node::Gather { child: Box::new(plan), workers: 1, merge: false, single_copy: true };
        Plan { cost, output, filter: Vec::new(), node }
    }

    /// Whether a worker may run a plan. `cells`: those that the plan sets.
    fn is_safe_plan(&self, plan: &Plan, cells: &mut Vec<ParamId>) -> bool {
        let own = match &plan.node {
            Node::SeqScan { rel, .. }
            | Node::IndexScan { rel, .. }
            | Node::IndexOnlyScan { rel, .. }
            | Node::BitmapHeapScan { rel, .. } => {
                self.relations[*rel].table.as_ref().is_some_and(|table| is_shared(table))
            }
            Node::Result { .. }
            | Node::ValuesScan { .. }
            | Node::FunctionScan { .. }
            | Node::SubqueryScan { .. }
            | Node::NestLoop { .. }
            | Node::HashJoin { .. }
            | Node::MergeJoin { .. }
            | Node::Materialize { .. }
            | Node::Memoize { .. }
            | Node::Sort { .. }
            | Node::IncrementalSort { .. }
            | Node::Unique { .. }
            | Node::Aggregate { .. }
            | Node::WindowAgg { .. }
            | Node::Limit { .. }
            | Node::SetOp { .. }
            | Node::Append { .. }
            | Node::MergeAppend { .. } => true,
            Node::ProjectSet { .. }
            | Node::ForeignScan { .. }
            | Node::SampleScan { .. }
            | Node::TidScan { .. }
            | Node::TidRangeScan { .. }
            | Node::CteScan { .. }
            | Node::WorkTableScan { .. }
            | Node::TransitionScan { .. }
            | Node::RecursiveUnion { .. }
            | Node::Gather { .. }
            | Node::LockRows { .. }
            | Node::Modify(_) => false,
        };
        let mut safe = own;
        plan.for_exprs(&mut |expr: &Expr| safe = safe && is_safe_within(expr, cells, true));
        plan.for_children(&mut |child| safe = safe && self.is_safe_plan(child, cells));
        safe
    }
}

/// The cells that nested loops of a plan set.
fn note_cells(plan: &Plan, cells: &mut Vec<ParamId>) {
    if let Node::NestLoop { params, .. } = &plan.node {
        cells.extend(params.iter().map(|(cell, _)| *cell));
    }
    plan.for_children(&mut |child| note_cells(child, cells));
}
