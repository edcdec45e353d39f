//! Whether a plan could be another one if it were made for the values of its parameters.

use crate::expr::Expr;
use crate::plan::{Bitmap, IndexBound, IndexCondition, IndexRef, Modify, Node, Plan, Statement};

impl Statement {
    /// Whether planning with the values of the parameters may lead to another plan, or to other estimates that make a difference. Parameters that are
    /// given out, stored, or looked up by all columns of a unique index do not: whatever they are, there is no better way.
    pub fn parameters_matter(&self) -> bool {
        matter(&self.plan) || self.subplans.iter().any(|sub| matter(&sub.plan))
    }

    /// Whether the plan cannot run: only the values of parameters tell what it is to do.
    pub fn needs_values(&self) -> bool {
        needs_values(&self.plan) || self.subplans.iter().any(|sub| needs_values(&sub.plan))
    }
}

fn needs_values(plan: &Plan) -> bool {
    let mut found = matches!(&plan.node, Node::Modify(modify) if is_unsettled(modify));
    plan.for_children(&mut |child| found = found || needs_values(child));
    found
}

/// Whether values of parameters decide on the indexes of ON CONFLICT.
fn is_unsettled(modify: &Modify) -> bool {
    modify.on_conflict.as_ref().is_some_and(|conflict| conflict.unsettled)
}

fn has_param(expr: &Expr) -> bool {
    expr.any(&mut |e| matches!(e, Expr::Param { .. }))
}

fn any_param<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> bool {
    exprs.into_iter().any(has_param)
}

/// Whether the conditions leave one row at most.
fn is_unique_lookup(index: &IndexRef, conditions: &[IndexCondition]) -> bool {
    let equal = |column: usize| conditions.iter().any(|c| c.column == column && c.bound == IndexBound::Equal);
    index.unique && (0..index.keys.len()).all(equal)
}

fn matter(plan: &Plan) -> bool {
    let mut unique = false;
    let own = match &plan.node {
        Node::IndexScan { index, conditions, .. } | Node::IndexOnlyScan { index, conditions, .. } => {
            unique = is_unique_lookup(index, conditions);
            !unique && any_param(conditions.iter().map(|c| &c.value))
        }
        Node::BitmapHeapScan { bitmap, recheck, .. } => in_bitmap(bitmap) || any_param(recheck),
        Node::Result { one_time, .. } => any_param(one_time),
        Node::Modify(modify) => is_unsettled(modify),
        Node::ValuesScan { .. } | Node::TidScan { .. } | Node::TidRangeScan { .. } => false,
        // Whatever else a node says of parameters may weigh.
        _ => {
            let mut found = false;
            let outputs = plan.output.len();
            let mut at = 0;
            plan.for_exprs(&mut |expr| {
                let sets = matches!(plan.node, Node::ProjectSet { .. });
                found |= (at >= outputs || sets) && has_param(expr);
                at += 1;
            });
            found
        }
    };
    let mut below = own || (!unique && any_param(&plan.filter));
    plan.for_children(&mut |child| below = below || matter(child));
    below
}

fn in_bitmap(bitmap: &Bitmap) -> bool {
    match bitmap {
        Bitmap::Index { conditions, .. } => any_param(conditions.iter().map(|c| &c.value)),
        Bitmap::And(list, _) | Bitmap::Or(list, _) => list.iter().any(in_bitmap),
    }
}
