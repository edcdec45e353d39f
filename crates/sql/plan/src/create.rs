//! From the chosen path to plan nodes: which columns each node passes on, parameters of nested loops.

use std::collections::HashMap;
use std::sync::Arc;

use crate::expr::{Expr, ParamId, RelId};
use crate::logical::Source;
use crate::path::{Keep, Memo, Path, PathKind, ScanKind};
use crate::plan::{Bitmap, Cost, IndexCondition, JoinClause, Node, Plan, SortKeys, SoughtKeys};
use crate::planner::Planner;
use crate::relset::RelSet;

/// Values that a lateral relation takes from its neighbours: cell and column.
pub(crate) type Lateral = HashMap<RelId, Vec<(ParamId, Expr)>>;

/// Builds the nodes of one level's joins.
pub(crate) struct Creator<'a, 'c> {
    pub planner: &'a mut Planner<'c>,
    /// Plans of subqueries in FROM.
    pub subqueries: HashMap<RelId, Plan>,
    pub lateral: Lateral,
    /// Nested loops being built: relations of the outer side, and the values that they pass to the inner side.
    loops: Vec<(RelSet, Vec<(ParamId, Expr)>)>,
}

/// Adds what is not there yet.
pub(crate) fn add_unique(list: &mut Vec<Expr>, expr: Expr) {
    if !list.contains(&expr) {
        list.push(expr);
    }
}

/// The columns of `rels` that expressions mention; parts equal to one of `whole` count as a column.
pub(crate) fn columns_of<'e>(
    exprs: impl IntoIterator<Item = &'e Expr>,
    rels: RelSet,
    whole: &[Expr],
    out: &mut Vec<Expr>,
) {
    for expr in exprs {
        collect(expr, rels, whole, out);
    }
}

fn collect(expr: &Expr, rels: RelSet, whole: &[Expr], out: &mut Vec<Expr>) {
    if whole.contains(expr) {
        add_unique(out, expr.clone());
        return;
    }
    match expr {
        Expr::Var(var) if rels.contains(var.rel) => add_unique(out, expr.clone()),
        _ => expr.for_children(&mut |child| collect(child, rels, whole, out)),
    }
}

impl<'a, 'c> Creator<'a, 'c> {
    pub fn new(
        planner: &'a mut Planner<'c>,
        subqueries: HashMap<RelId, Plan>,
        lateral: Lateral,
    ) -> Creator<'a, 'c> {
        Creator { planner, subqueries, lateral, loops: Vec::new() }
    }

    /// The plan of a path, its rows carrying `output`.
    pub fn create(&mut self, path: &Path, output: Vec<Expr>) -> Plan {
        match &path.kind {
            PathKind::Scan(scan) => self.scan(path, scan, output),
            PathKind::Append { whole, children, keys, conditions } => {
                self.append(path, (whole, children.as_slice(), keys.as_slice()), conditions, output)
            }
            PathKind::Gather { child } => self.gather(path, child, output, None),
            PathKind::GatherMerge { child, keys, limit } => {
                self.gather(path, child, output, Some((keys.as_slice(), *limit)))
            }
            PathKind::NestLoop { kind, outer, inner, clauses, filter, inner_unique, keep } => {
                let all: Vec<&Expr> = output.iter().chain(clauses).chain(filter).collect();
                self.loops.push((outer.rels, Vec::new()));
                let mut inner_output = Vec::new();
                columns_of(all.iter().copied(), inner.rels, &[], &mut inner_output);
                let mut inner_plan = self.create(inner, inner_output);
                match keep {
                    Keep::Nothing => {}
                    Keep::Rows => inner_plan = wrap_materialize(inner_plan, self.planner),
                    Keep::Results(memo) => inner_plan = self.memoize(inner_plan, memo, inner.rels),
                }
                let params = self.loops.pop().map(|l| l.1).unwrap_or_default();
                let mut outer_output = Vec::new();
                columns_of(all.iter().copied(), outer.rels, &[], &mut outer_output);
                columns_of(params.iter().map(|(_, e)| e), outer.rels, &[], &mut outer_output);
                let outer_plan = self.create(outer, outer_output);
                let clauses = self.parameterised(clauses.clone(), path.rels);
                let filter = self.parameterised(filter.clone(), path.rels);
                let output = self.parameterised(output, path.rels);
                Plan {
                    cost: path.cost,
                    output,
                    filter,
                    node: Node::NestLoop {
                        kind: *kind,
                        outer: Box::new(outer_plan),
                        inner: Box::new(inner_plan),
                        clauses,
                        params,
                        inner_unique: *inner_unique,
                    },
                }
            }
            PathKind::HashJoin { kind, outer, inner, hash, clauses, filter, inner_unique } => {
                let used: Vec<&Expr> = output.iter().chain(clauses).chain(filter).collect();
                let (mut outer_output, mut inner_output) = (Vec::new(), Vec::new());
                // The join computes its keys itself, once for each row of either side.
                let outer_keys = hash.iter().map(|key| &key.outer);
                let inner_keys = hash.iter().map(|key| &key.inner);
                columns_of(used.iter().copied().chain(outer_keys), outer.rels, &[], &mut outer_output);
                columns_of(used.iter().copied().chain(inner_keys), inner.rels, &[], &mut inner_output);
                let outer_plan = self.create(outer, outer_output);
                let inner_plan = self.create(inner, inner_output);
                Plan {
                    cost: path.cost,
                    output,
                    filter: filter.clone(),
                    node: Node::HashJoin {
                        kind: *kind,
                        outer: Box::new(outer_plan),
                        inner: Box::new(inner_plan),
                        hash: hash.clone(),
                        clauses: clauses.clone(),
                        inner_unique: *inner_unique,
                    },
                }
            }
            PathKind::MergeJoin {
                kind,
                outer,
                inner,
                merge,
                clauses,
                filter,
                inner_unique,
                sort_outer,
                sort_inner,
            } => {
                let used: Vec<&Expr> = output.iter().chain(clauses).chain(filter).collect();
                let (mut outer_plan, mut inner_plan) = self.sides(outer, inner, merge, &used);
                if let Some(presorted) = sort_outer {
                    let keys = SortKeys::ascending(merge.iter().map(|c| c.outer.clone()).collect()).0;
                    outer_plan = self.planner.sort_rest(outer_plan, keys, *presorted, None);
                }
                if *sort_inner {
                    let keys = merge.iter().map(|c| c.inner.clone()).collect();
                    inner_plan = wrap_sort(inner_plan, SortKeys::ascending(keys), None, self.planner);
                }
                Plan {
                    cost: path.cost,
                    output,
                    filter: filter.clone(),
                    node: Node::MergeJoin {
                        kind: *kind,
                        outer: Box::new(outer_plan),
                        inner: Box::new(inner_plan),
                        merge: merge.clone(),
                        clauses: clauses.clone(),
                        inner_unique: *inner_unique,
                    },
                }
            }
        }
    }

    /// What keeps the results of `child`.
    fn memoize(&mut self, child: Plan, memo: &Memo, rels: RelSet) -> Plan {
        let keys = self.parameterised(memo.keys.clone(), rels);
        let tuple = self.planner.settings().cpu_tuple_cost;
        let cost =
            Cost { startup: child.cost.startup + tuple, total: child.cost.total + tuple, ..child.cost };
        let output = child.output.clone();
        let (binary, single) = (memo.binary, memo.single);
        let node = Node::Memoize { child: Box::new(child), keys, binary, single };
        Plan { cost, output, filter: Vec::new(), node }
    }

    /// Both sides of a merge join; they bring their keys computed, for a sort may stand between.
    fn sides(&mut self, outer: &Path, inner: &Path, keys: &[JoinClause], used: &[&Expr]) -> (Plan, Plan) {
        let mut outer_output = Vec::new();
        let mut inner_output = Vec::new();
        columns_of(used.iter().copied(), outer.rels, &[], &mut outer_output);
        columns_of(used.iter().copied(), inner.rels, &[], &mut inner_output);
        for key in keys {
            add_unique(&mut outer_output, key.outer.clone());
            add_unique(&mut inner_output, key.inner.clone());
        }
        (self.create(outer, outer_output), self.create(inner, inner_output))
    }

    fn scan(&mut self, path: &Path, scan: &ScanKind, output: Vec<Expr>) -> Plan {
        let rels = path.rels;
        let (node, filter) = match scan {
            ScanKind::Whole { rel, filter, keys } => {
                let keys = keys.as_ref().map(|keys| {
                    let conditions = self.conditions(&keys.conditions, rels);
                    Box::new(SoughtKeys { index: keys.index.clone(), conditions })
                });
                (self.whole(*rel, keys, path.workers > 0), filter.clone())
            }
            ScanKind::Index { rel, index, conditions, distances, filter, backward, only } => {
                let conditions = self.conditions(conditions, rels);
                let distances = distances.clone();
                let (rel, index, backward) = (*rel, index.clone(), *backward);
                let node = if *only {
                    Node::IndexOnlyScan { rel, index, conditions, distances, backward }
                } else {
                    Node::IndexScan { rel, index, conditions, distances, backward }
                };
                (node, filter.clone())
            }
            ScanKind::Bitmap { rel, bitmap, recheck, filter } => {
                let bitmap = self.bitmap(bitmap, rels);
                let recheck = self.parameterised(recheck.clone(), rels);
                let parallel = path.workers > 0;
                (Node::BitmapHeapScan { rel: *rel, bitmap, recheck, parallel }, filter.clone())
            }
            ScanKind::Tid { rel, tids, condition, filter } => {
                let tids = self.parameterised(tids.clone(), rels);
                let condition = self.parameterised(condition.clone(), rels);
                (Node::TidScan { rel: *rel, tids, condition }, filter.clone())
            }
            ScanKind::TidRange { rel, bounds, condition, filter } => {
                let condition = self.parameterised(condition.clone(), rels);
                let node = Node::TidRangeScan { rel: *rel, bounds: bounds.clone(), condition };
                (node, filter.clone())
            }
        };
        let filter = self.parameterised(filter, rels);
        let output = self.parameterised(output, rels);
        Plan { cost: path.cost, output, filter, node }
    }

    fn whole(&mut self, rel: RelId, keys: Option<Box<SoughtKeys>>, parallel: bool) -> Node {
        if let Some(lateral) = self.lateral.get(&rel).cloned() {
            for (cell, expr) in lateral {
                self.hand_down(cell, expr);
            }
        }
        match std::mem::replace(&mut self.planner.sources[rel], Source::Columns) {
            Source::Table => {
                self.planner.sources[rel] = Source::Table;
                Node::SeqScan { rel, keys, parallel }
            }
            Source::Foreign(rows) => {
                let details = rows.details.clone();
                self.planner.sources[rel] = Source::Foreign(rows);
                Node::ForeignScan { rel, details }
            }
            Source::Sample(sample) => {
                self.planner.sources[rel] = Source::Sample(sample.clone());
                Node::SampleScan { rel, sample }
            }
            Source::Values(rows) => Node::ValuesScan { rel, rows },
            Source::Function { calls, widths, ordinality } => {
                Node::FunctionScan { rel, functions: calls, widths, ordinality }
            }
            Source::Cte(subplan) => Node::CteScan { rel, subplan },
            Source::WorkTable(table) => Node::WorkTableScan { rel, table },
            Source::Transition { name, rows } => {
                self.planner.sources[rel] = Source::Transition { name: name.clone(), rows };
                Node::TransitionScan { rel, name }
            }
            Source::Subquery(_) | Source::Columns => {
                let child = Box::new(self.subqueries.remove(&rel).unwrap_or_else(Plan::empty));
                Node::SubqueryScan { rel, child }
            }
        }
    }

    /// Notes that the loop whose outer side has the expression's relations sets `cell`.
    fn hand_down(&mut self, cell: ParamId, expr: Expr) {
        let rels = RelSet::of(&expr);
        if let Some((_, params)) = self.loops.iter_mut().rev().find(|(outer, _)| rels.is_subset(*outer)) {
            params.push((cell, expr));
        }
    }

    /// Replaces columns of relations outside `own` by cells that enclosing loops set.
    pub(crate) fn parameterised(&mut self, mut exprs: Vec<Expr>, own: RelSet) -> Vec<Expr> {
        let Creator { planner, loops, .. } = self;
        for expr in &mut exprs {
            expr.replace(&mut |e| {
                let Expr::Var(var) = e else { return None };
                if own.contains(var.rel) {
                    return None;
                }
                let (_, params) = loops.iter_mut().rev().find(|(outer, _)| outer.contains(var.rel))?;
                let known = params.iter().find(|(_, source)| source == e).map(|(id, _)| *id);
                let id = known.unwrap_or_else(|| {
                    let id = planner.new_cell();
                    params.push((id, e.clone()));
                    id
                });
                Some(Expr::ExecParam { id, type_oid: var.type_oid, source: Some(Arc::new(e.clone())) })
            });
        }
        exprs
    }

    fn conditions(&mut self, conditions: &[IndexCondition], own: RelSet) -> Vec<IndexCondition> {
        let mut out = conditions.to_vec();
        for condition in &mut out {
            let value = self.parameterised(vec![condition.value.clone()], own);
            let original = self.parameterised(vec![condition.original.clone()], own);
            condition.value = value.into_iter().next().unwrap_or_else(|| Expr::boolean(true));
            condition.original = original.into_iter().next().unwrap_or_else(|| Expr::boolean(true));
        }
        out
    }

    fn bitmap(&mut self, bitmap: &Bitmap, own: RelSet) -> Bitmap {
        match bitmap {
            Bitmap::Index { index, conditions, cost } => {
                let conditions = self.conditions(conditions, own);
                Bitmap::Index { index: index.clone(), conditions, cost: *cost }
            }
            Bitmap::And(list, cost) => Bitmap::And(list.iter().map(|b| self.bitmap(b, own)).collect(), *cost),
            Bitmap::Or(list, cost) => Bitmap::Or(list.iter().map(|b| self.bitmap(b, own)).collect(), *cost),
        }
    }
}

/// A sort above `child`.
pub(crate) fn wrap_sort(child: Plan, keys: SortKeys, limit: Option<f64>, planner: &Planner<'_>) -> Plan {
    let (startup, total) =
        planner.settings().sort(child.cost.total, child.cost.rows, child.cost.width, limit);
    let cost = Cost { startup, total, ..child.cost };
    Plan {
        cost,
        output: child.output.clone(),
        filter: Vec::new(),
        node: Node::Sort { child: Box::new(child), keys: keys.0 },
    }
}

/// What keeps the rows of `child` for reading again.
pub(crate) fn wrap_materialize(child: Plan, planner: &Planner<'_>) -> Plan {
    let cost = planner.settings().materialize(child.cost);
    Plan {
        cost,
        output: child.output.clone(),
        filter: Vec::new(),
        node: Node::Materialize { child: Box::new(child) },
    }
}
