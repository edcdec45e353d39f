//! `min` and `max` of a table without grouping, each as the first row that an index finds.
//!
//! What: where a level has no other aggregates, each becomes a subquery `SELECT x FROM t WHERE … AND x IS NOT NULL ORDER BY x LIMIT 1`, if the
//! orders are those of indexes and all of them together cost less than reading the rows once.
//!
//! PostgreSQL counterpart: `planagg.c`. Conditions with subqueries are not copied; there it is left at the plain way.

use base::SqlResult;
use tuple::Datum;

use crate::expr::{AggCall, Expr, RelId, SortKey, SubPlanKind, SubPlanRef, Test, Var};
use crate::group::collect_calls;
use crate::logical::{Block, From, Guard, Source, Target};
use crate::plan::{Command, Cost, Node, Plan};
use crate::planner::Planner;

impl Planner<'_> {
    /// Turns the aggregates of a level into subqueries if that is cheaper.
    pub(crate) fn look_up_extremes(&mut self, block: &mut Block) -> SqlResult<()> {
        let Some((rel, calls)) = self.extremes(block) else { return Ok(()) };
        let mut plans = Vec::with_capacity(calls.len());
        let mut cost = 0.0;
        for call in &calls {
            let descending = is_extreme(call) == Some(true);
            let Some(plan) = self.first_row(block, rel, &call.args[0], descending)? else { return Ok(()) };
            cost += plan.cost.total;
            plans.push(plan);
        }
        let plain = self.all_rows(block, rel, &calls)?;
        if cost >= plain.total + plain.rows * self.settings().cpu_operator_cost * calls.len() as f64 {
            return Ok(());
        }
        let first = self.subs.len();
        for plan in plans {
            let number = self.add_subplan(Block::default(), None);
            self.note_planned(number, plan);
            self.subs[number].init = true;
        }
        block.for_upper_exprs_mut(&mut |expr| {
            expr.replace(&mut |e| {
                let Expr::Aggregate(call) = e else { return None };
                let number = calls.iter().position(|known| *known == **call)?;
                Some(Expr::SubPlan(Box::new(SubPlanRef {
                    plan: first + number,
                    kind: SubPlanKind::Scalar,
                    args: Vec::new(),
                    type_oid: call.type_oid,
                    typmod: -1,
                })))
            });
        });
        block.from.clear();
        block.written.clear();
        block.guards.clear();
        block.quals = std::mem::take(&mut block.having);
        block.aggregated = false;
        Ok(())
    }

    /// The level's one table and its aggregates, if these are all extremes of columns that an index may have in order.
    fn extremes(&self, block: &Block) -> Option<(RelId, Vec<AggCall>)> {
        let [From::Rel(rel)] = block.from.as_slice() else { return None };
        let plain = block.aggregated
            && block.group.is_empty()
            && block.grouping_sets.is_empty()
            && block.windows.is_empty()
            && block.ctes.is_empty()
            && block.named_below.is_none()
            && block.dissolved.is_empty()
            && block.modify.as_ref().is_none_or(|modify| modify.command == Command::Insert);
        let mut conditions = block.quals.iter().chain(block.guards.iter().map(|guard| &guard.expr));
        if !plain || !matches!(self.sources[*rel], Source::Table) || conditions.any(is_bound) {
            return None;
        }
        let table = self.relations[*rel].table.as_ref()?;
        let ordered =
            |index: &std::sync::Arc<catalog::view::Index>| index.method.can_order && index.is_usable();
        if !table.indexes.iter().any(ordered) {
            return None;
        }
        let mut calls = Vec::new();
        let targets = block.targets.iter().map(|target| &target.expr);
        let keys = block.sort.iter().map(|key| &key.expr).chain(&block.distinct);
        targets.chain(&block.having).chain(keys).for_each(|e| collect_calls(e, &mut calls));
        let fits = |call: &AggCall| {
            is_extreme(call).is_some()
                && self.types.is_ordered(call.args[0].type_oid())
                && !is_bound(&call.args[0])
                && call.args[0].type_oid() != types::oids::record
                && (!call.collation.is_valid() || call.args[0].collation() == call.collation)
        };
        (!calls.is_empty() && calls.iter().all(fits)).then_some((*rel, calls))
    }

    /// The plan of the first row in an order, if it needs no sort.
    fn first_row(
        &mut self,
        block: &Block,
        rel: RelId,
        arg: &Expr,
        descending: bool,
    ) -> SqlResult<Option<Plan>> {
        // The order of a usual index, read forwards or backwards, then of one that has NULLs on the other side.
        for nulls_first in [descending, !descending] {
            let Some(copy) = self.copy_of(rel)? else { return Ok(None) };
            let mut first = Block { from: vec![From::Rel(copy)], ..Block::default() };
            let expr = moved(arg, rel, copy);
            first.quals.push(Expr::Test(Test::IsNotNull, Box::new(expr.clone())));
            first.quals.extend(block.quals.iter().map(|qual| moved(qual, rel, copy)));
            first.guards = moved_guards(block, rel, copy);
            first.targets = vec![Target { expr: expr.clone(), name: "".into(), junk: false }];
            first.sort = vec![SortKey { expr, descending, nulls_first }];
            first.limit =
                Some(Expr::Const { value: Datum::Int8(1), type_oid: types::oids::int8, typmod: -1 });
            let plan = self.plan_subplan(first, 0.0)?;
            if matches!(&plan.node, Node::Limit { child, .. } if !matches!(child.node, Node::Sort { .. })) {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    /// What it costs to read all rows that satisfy the conditions.
    fn all_rows(&mut self, block: &Block, rel: RelId, calls: &[AggCall]) -> SqlResult<Cost> {
        let Some(copy) = self.copy_of(rel)? else { return Ok(Cost::default()) };
        let mut all = Block { from: vec![From::Rel(copy)], ..Block::default() };
        all.quals = block.quals.iter().map(|qual| moved(qual, rel, copy)).collect();
        all.guards = moved_guards(block, rel, copy);
        let target =
            |call: &AggCall| Target { expr: moved(&call.args[0], rel, copy), name: "".into(), junk: false };
        all.targets = calls.iter().map(target).collect();
        Ok(self.plan_block(all, 0.0)?.cost)
    }

    /// The same table once more. None if the statement has too many relations for that.
    fn copy_of(&mut self, rel: RelId) -> SqlResult<Option<RelId>> {
        if !self.has_room() {
            return Ok(None);
        }
        let copy = self.add_relation(self.relations[rel].clone(), Source::Table)?;
        if let Some(inherited) = self.inherited.get(&rel) {
            let fresh = inherited.again();
            self.inherited.insert(copy, fresh);
        }
        Ok(Some(copy))
    }
}

/// Whether an aggregate is a maximum or a minimum of all rows.
fn is_extreme(call: &AggCall) -> Option<bool> {
    let plain = call.filter.is_none() && call.order.is_empty() && call.args.len() == 1;
    match call.function.builtin()?.name {
        "max" if plain => Some(true),
        "min" if plain => Some(false),
        _ => None,
    }
}

/// Whether an expression cannot be moved to another query.
fn is_bound(expr: &Expr) -> bool {
    let whole_row = |e: &Expr| matches!(e, Expr::Var(Var { column: 0, .. }));
    expr.is_volatile() || expr.has_subplans() || expr.is_current_of() || expr.any(&mut |e| whole_row(e))
}

/// What hides rows of a relation, for a copy of it.
fn moved_guards(block: &Block, from: RelId, to: RelId) -> Vec<Guard> {
    let guard = |g: &Guard| Guard { rel: to, rank: g.rank, expr: moved(&g.expr, from, to) };
    block.guards.iter().map(guard).collect()
}

/// An expression over a copy of a relation.
fn moved(expr: &Expr, from: RelId, to: RelId) -> Expr {
    let mut expr = expr.clone();
    expr.replace(&mut |e| match e {
        Expr::Var(var) if var.rel == from => Some(Expr::Var(Var { rel: to, ..var.clone() })),
        _ => None,
    });
    expr
}
