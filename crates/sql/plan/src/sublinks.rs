//! Subqueries in the expressions of a query level: their plans, and what the level hands down to them.

use std::collections::HashMap;
use std::sync::Arc;

use base::SqlResult;

use crate::create::wrap_materialize;
use crate::expr::{Expr, SubPlanKind, SubPlanRef};
use crate::logical::{Block, NamedBelow, rels_of};
use crate::planner::Planner;
use crate::relset::RelSet;

/// How the rows of a subplan are read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    /// For one value; once, if no values are handed down.
    Value,
    /// Once, into a hash table.
    Hashed,
    /// Row by row, for each row outside.
    Rows,
}

/// The subplans that an expression uses.
fn collect_uses(expr: &Expr, out: &mut Vec<(usize, Reading)>) {
    if let Expr::SubPlan(sub) = expr {
        let reading = match &sub.kind {
            SubPlanKind::Quantified { hash: Some(_), .. } => Reading::Hashed,
            SubPlanKind::Quantified { single: false, .. } => Reading::Rows,
            _ => Reading::Value,
        };
        out.push((sub.plan, reading));
    }
    expr.for_children(&mut |child| collect_uses(child, out));
}

impl Planner<'_> {
    /// Plans the pending subplans of a level's expressions and hands outer values down to them.
    pub(crate) fn plan_sublinks(&mut self, block: &mut Block, visible: RelSet) -> SqlResult<()> {
        let mut pending = Vec::new();
        block.for_exprs_mut(&mut |e| collect_uses(e, &mut pending));
        for rel in rels_of(&block.from).iter() {
            self.sources[rel].exprs_mut().into_iter().for_each(|e| collect_uses(e, &mut pending));
        }
        pending.sort_unstable();
        pending.dedup_by_key(|(number, _)| *number);
        // What subqueries name of this level comes first: it goes down to them as it is.
        let mut named = block.named_below.take();
        let mut within = Vec::new();
        named.iter().flat_map(|n| &n.exprs).for_each(|e| collect_uses(e, &mut within));
        let mut args = self.plan_pending(within, visible, None)?;
        named.iter_mut().flat_map(|n| &mut n.exprs).for_each(|e| fill_args(e, &args));
        args.extend(self.plan_pending(pending, visible, named.as_ref())?);
        let mut fill = |e: &mut Expr| fill_args(e, &args);
        block.for_exprs_mut(&mut fill);
        for rel in rels_of(&block.from).iter().collect::<Vec<_>>() {
            self.sources[rel].exprs_mut().into_iter().for_each(&mut fill);
        }
        Ok(())
    }

    /// Plans pending subplans; returns the values that are passed to each.
    fn plan_pending(
        &mut self,
        pending: Vec<(usize, Reading)>,
        visible: RelSet,
        named: Option<&NamedBelow>,
    ) -> SqlResult<HashMap<usize, Vec<(usize, Expr)>>> {
        let mut args = HashMap::new();
        for (number, reading) in pending {
            let Some(mut inner) = self.take_pending(number) else { continue };
            let handed = self.parameterise(&mut inner, visible, named);
            self.subs[number].init = handed.is_empty() && reading == Reading::Value;
            let exists = inner.targets.is_empty();
            let mut plan = self.plan_subplan(inner, if exists { 1.0 } else { 0.0 })?;
            let again = handed.is_empty() && reading == Reading::Rows;
            if again && self.settings().enable_material && !plan.node.keeps_rows() {
                plan = wrap_materialize(plan, self);
            }
            self.note_planned(number, plan);
            args.insert(number, handed);
        }
        Ok(args)
    }

    /// Replaces columns of `visible` relations inside a subquery by cells; gives the cells and what they carry. So with what the
    /// subquery names of the level.
    pub(crate) fn parameterise(
        &mut self,
        inner: &mut Block,
        visible: RelSet,
        named: Option<&NamedBelow>,
    ) -> Vec<(usize, Expr)> {
        let mut handed: Vec<(usize, Expr)> = Vec::new();
        let mut next = self.cells;
        self.deep_exprs(inner, &mut |expr| {
            expr.replace(&mut |e| {
                let rel = match e {
                    Expr::Var(var) => var.rel,
                    Expr::Placeholder(placeholder) => placeholder.column.rel,
                    _ => return None,
                };
                let value = match (named.filter(|named| named.rel == rel), e) {
                    (Some(named), Expr::Var(var)) => named.exprs.get(var.column as usize - 1)?,
                    _ if visible.contains(rel) => e,
                    _ => return None,
                };
                let known = handed.iter().find(|(_, source)| source == value).map(|(id, _)| *id);
                let id = known.unwrap_or_else(|| {
                    handed.push((next, value.clone()));
                    next += 1;
                    next - 1
                });
                Some(Expr::ExecParam { id, type_oid: e.type_oid(), source: Some(Arc::new(value.clone())) })
            });
        });
        self.cells = next;
        handed
    }
}

/// Adds the passed values to the uses of subplans.
fn fill_args(expr: &mut Expr, args: &HashMap<usize, Vec<(usize, Expr)>>) {
    if let Expr::SubPlan(sub) = expr {
        let sub: &mut SubPlanRef = sub;
        if let Some(handed) = args.get(&sub.plan) {
            sub.args = handed.clone();
            // A table that is good for one row outside is not worth its making.
            if let (SubPlanKind::Quantified { hash, .. }, false) = (&mut sub.kind, handed.is_empty()) {
                *hash = None;
            }
        }
    }
    expr.for_children_mut(&mut |child| fill_args(child, args));
}
