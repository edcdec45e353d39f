//! A whole query level: joins, then grouping, windows, DISTINCT, ORDER BY, LIMIT, row locks and the change of a table.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use base::{Oid, SqlResult};
use catalog::view::{Generated, RelationKind, Table};
use tuple::Datum;

use crate::cost::{CallWork, clamp_rows};
use crate::create::{Creator, Lateral, add_unique};
use crate::expr::{Expr, RelId, SortKey, WindowCall};
use crate::fold::{is_false_or_null, is_true};
use crate::group::{Grouping, collect_calls, sets_sorted_by};
use crate::grouping_sets;
use crate::joins::Search;
use crate::level::Level;
use crate::logical::{Block, From, SetOperation, SetTree, Source, rels_of, visible_rels};
use crate::parallel::Team;
use crate::path::{DerivedKey, Path, PathKey};
use crate::plan::{
    AggStrategy, Command, Cost, IndexExprs, IndexRef, Modify, Node, Plan, SetOpKind, SortKeys, Split,
    TargetTable,
};
use crate::planner::{Planner, SubState};
use crate::published::Hindrances;
use crate::relset::RelSet;
use crate::selectivity;
use crate::sorting::Wanted;
use crate::united;

/// Bytes a value of a type takes, on average, when nothing is known.
pub(crate) fn type_width(type_oid: Oid, typmod: i32) -> f64 {
    match types::builtin_type(type_oid) {
        Some(info) if info.len > 0 => f64::from(info.len),
        Some(_) if matches!(type_oid.0, 1042 | 1043) && typmod > 4 => f64::from((typmod - 4).min(32)),
        _ => 32.0,
    }
}

/// Bytes of a row of these.
pub(crate) fn output_width(output: &[Expr]) -> f64 {
    // Not a sum: that of nothing would be negative zero.
    output.iter().fold(0.0, |width, e| width + type_width(e.type_oid(), e.typmod()))
}

impl Planner<'_> {
    /// Plans one level; `fraction` of the rows will be fetched (0: all).
    pub(crate) fn plan_block(&mut self, mut block: Block, fraction: f64) -> SqlResult<Plan> {
        runtime::check_stack()?;
        for cte in block.ctes.clone() {
            if let Some(inner) = self.take_pending(cte) {
                let plan = self.plan_subplan(inner, 0.0)?;
                self.note_planned(cte, plan);
            }
        }
        if let Some((rel, tree)) = block.set.take_if(|(_, tree)| united::is_union_all(tree)) {
            self.unions.insert(rel, tree);
            block.from = vec![From::Rel(rel)];
        }
        if block.set.is_some() {
            return self.plan_set(block);
        }
        self.prepare(&mut block);
        if block.aggregated {
            self.look_up_extremes(&mut block)?;
        }
        let mut visible = rels_of(&block.from) | block.dissolved;
        if let Some(modify) = &block.modify {
            visible.insert(modify.rel);
            modify.versions.iter().flatten().for_each(|rel| visible.insert(*rel));
            if let Some(conflict) = &modify.on_conflict {
                visible.insert(conflict.excluded);
            }
        }
        self.plan_sublinks(&mut block, visible)?;
        let modify = block.modify.take();
        if let Some(modify) = &modify {
            self.pass_to_returning(modify, &mut block);
        }
        self.pass_references(modify.as_deref(), &mut block)?;
        let plan = self.plan_query(block, fraction)?;
        match modify {
            Some(modify) => self.plan_modify(*modify, plan),
            None => Ok(plan),
        }
    }

    /// Rows that are changed or locked travel with the places of the rows that they are joined to: if another transaction changes the ones
    /// meanwhile, they are checked again with the others as they were.
    fn pass_references(&mut self, modify: Option<&Modify>, block: &mut Block) -> SqlResult<()> {
        // What triggers do with a view's rows is not done again.
        let changes =
            |modify: &&Modify| modify.command != Command::Insert && modify.table.kind != RelationKind::View;
        let target = modify.filter(changes).map(|modify| modify.rel);
        if target.is_none() && block.marks.is_empty() {
            return Ok(());
        }
        let locked = |rel| target == Some(rel) || block.marks.iter().any(|mark| mark.rel == rel);
        let is_table = |rel: RelId| {
            self.sources[rel].is_table()
                && !self.is_inherited(rel)
                && self.relations[rel].table.as_ref().is_some_and(|table| table.heap.is_some())
        };
        let visible = visible_rels(&block.from);
        let others = visible.iter().filter(|&rel| is_table(rel) && !locked(rel));
        let places: Vec<Expr> = others.map(ctid_of).collect();
        let is_merge = modify.is_some_and(|modify| modify.command == Command::Merge);
        // MERGE knows its rows again by their columns where there is no such place.
        let rest: Vec<RelId> =
            visible.iter().filter(|&rel| is_merge && !is_table(rel) && !locked(rel)).collect();
        for expr in places {
            block.targets.push(crate::logical::Target { expr, name: "ctid".into(), junk: true });
        }
        for rel in rest {
            let expr = self.row_as_value(rel)?;
            block.targets.push(crate::logical::Target { expr, name: "".into(), junk: true });
        }
        Ok(())
    }

    /// Columns of other relations that RETURNING and the arms of MERGE name travel with the rows.
    fn pass_to_returning(&mut self, modify: &Modify, block: &mut Block) {
        let others = rels_of(&block.from) - RelSet::one(modify.rel);
        let mut needed = Vec::new();
        crate::create::columns_of(&modify.returning, others, &[], &mut needed);
        for action in modify.merge.iter().flat_map(|m| &m.actions) {
            let values = action.set.iter().map(|(_, e)| e);
            let exprs = action.condition.iter().chain(&action.multi).chain(values);
            crate::create::columns_of(exprs, others, &[], &mut needed);
        }
        for expr in needed {
            block.targets.push(crate::logical::Target { expr, name: "".into(), junk: true });
        }
    }

    /// Values that relations in FROM take from their neighbours.
    fn lateral_values(&mut self, from: RelSet) -> Lateral {
        let mut lateral = Lateral::new();
        for rel in from.iter().collect::<Vec<_>>() {
            let mut source = std::mem::replace(&mut self.sources[rel], Source::Columns);
            let mut holder = Block::default();
            let handed = match &mut source {
                Source::Subquery(inner) => self.parameterise(inner, from, None),
                other => {
                    let exprs = other.exprs_mut().into_iter();
                    holder.quals = exprs.map(|e| std::mem::replace(e, Expr::boolean(true))).collect();
                    let handed = match holder.quals.is_empty() {
                        true => Vec::new(),
                        false => self.parameterise(&mut holder, from, None),
                    };
                    other.exprs_mut().into_iter().zip(holder.quals).for_each(|(slot, e)| *slot = e);
                    handed
                }
            };
            self.sources[rel] = source;
            if !handed.is_empty() {
                lateral.insert(rel, handed);
            }
        }
        lateral
    }

    fn plan_query(&mut self, mut block: Block, fraction: f64) -> SqlResult<Plan> {
        let mut calls = Vec::new();
        final_exprs(&block).iter().for_each(|e| collect_windows(e, &mut calls));
        crate::window::settle(&mut block, &calls);
        let from = rels_of(&block.from);
        let lateral = self.lateral_values(from);
        let (quals, guards) = (std::mem::take(&mut block.quals), std::mem::take(&mut block.guards));
        let mut level = Level::new(&block.from, quals, guards);
        level.written = std::mem::take(&mut block.written);
        for (rel, handed) in &lateral {
            let needs = handed.iter().fold(RelSet::EMPTY, |set, (_, e)| set | RelSet::of(e));
            level.lateral.insert(*rel, needs);
            level.lateral_values.insert(*rel, handed.iter().map(|(_, e)| e.clone()).collect());
        }
        let mut subqueries = HashMap::new();
        let mut given = HashMap::new();
        for rel in from.iter() {
            if self.unite(rel, &mut level, &mut subqueries, &mut given)? {
                continue;
            }
            self.push_down(rel, &mut level);
            self.note_keys(rel);
            // What is run for each row of a neighbour is run by one.
            let parallel = self.parallel;
            self.parallel &= !lateral.contains_key(&rel);
            let planned = self.plan_source(rel, &mut subqueries, &mut given);
            self.parallel = parallel;
            planned?;
            if lateral.contains_key(&rel) && subqueries.get(&rel).is_some_and(|plan| self.is_steady(plan)) {
                self.steady.insert(rel);
            }
            self.expand(rel, &level)?;
        }
        let mut one_time = std::mem::take(&mut level.constant);
        one_time.extend(level.class_constants());
        one_time.iter_mut().for_each(crate::fold::fold);
        one_time.retain(|e| !is_true(e));
        let mut needed = upper_exprs(&block);
        needed.extend(level.lateral_values.values().flatten().cloned());
        let input = input_exprs(&block, from);
        if from.is_empty() {
            let filter = Vec::new();
            let cost = Cost { startup: 0.0, total: 0.01, rows: 1.0, width: 0.0 };
            let output = if needs_input(&block) { input } else { final_exprs(&block) };
            let plan = Plan { cost, output, filter, node: Node::Result { one_time, child: None } };
            return self.finish_query(&block, (plan, None), Vec::new(), &mut level, !needs_input(&block));
        }
        let whole = one_time.is_empty();
        let (path, split) = self.best_path(&block, &mut level, needed, given, (fraction, whole))?;
        let simple = !needs_input(&block);
        let output = if simple { final_exprs(&block) } else { input };
        let mut creator = Creator::new(self, subqueries, lateral);
        let mut plan = creator.create(&path, output);
        plan.cost.width = output_width(&plan.output).min(plan.cost.width.max(8.0) * 4.0);
        if !one_time.is_empty() {
            let output = plan.output.clone();
            // What is never read needs no plan, and costs nothing.
            let (child, cost) = match one_time.iter().any(is_false_or_null) {
                true => {
                    one_time = vec![Expr::boolean(false)];
                    (None, Cost { startup: 0.0, total: 0.0, rows: 0.0, ..path.cost })
                }
                false => (Some(Box::new(plan)), path.cost),
            };
            let node = Node::Result { one_time, child };
            plan = Plan { cost, output, filter: Vec::new(), node };
        }
        self.finish_query(&block, (plan, split), path.order.clone(), &mut level, simple)
    }

    pub(crate) fn plan_source(
        &mut self,
        rel: RelId,
        subqueries: &mut HashMap<RelId, Plan>,
        given: &mut HashMap<RelId, Cost>,
    ) -> SqlResult<()> {
        let width: f64 = self.relations[rel].columns.iter().map(|c| type_width(c.type_oid, c.typmod)).sum();
        let cost = match &mut self.sources[rel] {
            Source::Table | Source::Sample(_) | Source::Foreign(_) => return Ok(()),
            Source::Subquery(inner) => {
                let inner = std::mem::take(&mut **inner);
                let order = derived_order(&inner);
                let plan = self.plan_block(inner, 0.0)?;
                if !order.is_empty() {
                    self.derived_orders.insert(rel, order);
                }
                let cost = plan.cost;
                subqueries.insert(rel, plan);
                Cost { total: cost.total + cost.rows * self.settings().cpu_tuple_cost, ..cost }
            }
            Source::Values(rows) => {
                let rows = rows.len() as f64;
                Cost { startup: 0.0, total: rows * 0.0125, rows, width }
            }
            Source::Function { calls, .. } => {
                let rows = calls.iter().map(set_rows).fold(1.0, f64::max);
                Cost { startup: 0.0025, total: 0.0025 + rows * 0.01, rows, width }
            }
            Source::Cte(subplan) => {
                let rows = match &self.subs[*subplan].state {
                    SubState::Planned(plan) => plan.cost.rows,
                    _ => 1000.0,
                };
                Cost { startup: 0.0, total: rows * 0.02, rows, width }
            }
            Source::Transition { rows, .. } => {
                let rows = *rows;
                Cost { startup: 0.0, total: rows * 0.02, rows, width }
            }
            Source::WorkTable(_) => Cost { startup: 0.0, total: 2.0, rows: 100.0, width },
            Source::Columns => Cost { startup: 0.0, total: 0.0, rows: 1.0, width },
        };
        self.derived_rows.insert(rel, cost.rows);
        given.insert(rel, cost);
        Ok(())
    }

    fn best_path(
        &mut self,
        block: &Block,
        level: &mut Level,
        needed: Vec<Expr>,
        given: HashMap<RelId, Cost>,
        (fraction, whole): (f64, bool),
    ) -> SqlResult<(Rc<Path>, Option<Team>)> {
        let grouped = block.aggregated;
        let mut calls = Vec::new();
        final_exprs(block).iter().chain(&block.having).for_each(|e| collect_calls(e, &mut calls));
        let grouping =
            (grouped && block.grouping_sets.is_empty()).then(|| self.grouping(block, &calls, level));
        let wanted = match block.windows.first() {
            _ if grouping.is_some() => Wanted::default(),
            _ if grouped => level.wanted(&SortKeys::ascending(sets_sorted_by(block)).0),
            Some(window) => level.wanted(&window.sort_keys()),
            None if block.distinct_on => level.wanted(&distinct_keys(block)),
            None => level.wanted(&block.sort),
        };
        let distinct_order = level.order_of(&SortKeys::ascending(block.distinct.clone()).0);
        let distinct_sort = level.wanted(&distinct_keys(block));
        let mut search = Search::new(self, level, needed);
        search.given = given;
        search.wanted.push(wanted.order.clone());
        if let Some(grouping) = &grouping {
            search.wanted.push(grouping.order().to_vec());
            // Any key may be first.
            let reordered = search.planner.settings().enable_group_by_reordering;
            search.wanted.extend(grouping.order().iter().filter(|_| reordered).map(|key| vec![*key]));
        }
        if !distinct_order.is_empty() {
            search.wanted.push(distinct_order);
        }
        let mut paths = search.run()?;
        let partial = search.partial.remove(&search.level.rels);
        let limited = match (&block.limit, grouped || !block.distinct.is_empty()) {
            (Some(Expr::Const { value: Datum::Int8(n), .. }), false) => Some(*n as f64),
            (Some(_), false) => Some(10.0),
            _ => None,
        };
        if let Some(part) = &partial {
            let rows = paths.iter().map(|path| path.cost.rows).fold(f64::INFINITY, f64::min);
            let limit = limited.filter(|_| block.windows.is_empty());
            search.merged(part, &wanted, rows, limit, &mut paths);
            let other = grouping.as_ref().map_or(&distinct_sort, Grouping::wanted);
            search.merged(part, other, rows, None, &mut paths);
        }
        let price = |path: &Path| {
            let (startup, total) = match &grouping {
                Some(grouping) => {
                    let way = self.group_way(grouping, path.cost, &path.order);
                    (way.startup, way.price)
                }
                // Grouping sets take rows in any order.
                None if grouped => (path.cost.startup, path.cost.total),
                None => {
                    // Of what is sorted for windows all rows are wanted.
                    let limit = limited.filter(|_| block.windows.is_empty());
                    self.sorted_cost(path.cost_as_read(self.settings()), &wanted, &path.order, limit)
                }
            };
            let share = match limited {
                Some(n) => (n / path.cost.rows.max(1.0)).min(1.0),
                None if fraction > 0.0 && fraction < 1.0 => fraction,
                None if fraction >= 1.0 => (fraction / path.cost.rows.max(1.0)).min(1.0),
                None => 1.0,
            };
            startup + share * (total - startup)
        };
        let free = paths.iter().filter(|p| p.outer.is_empty());
        let best = free.min_by(|a, b| price(a).total_cmp(&price(b))).cloned();
        let best = best.ok_or_else(|| base::SqlError::internal("no path for the query"))?;
        let partial = partial.filter(|_| whole);
        if let (false, Some(part)) = (grouped, &partial)
            && self.is_distinct_in_parts(block)
        {
            let team = Team { workers: part.workers, rows: best.cost.rows };
            let orders = (&distinct_sort, &wanted);
            let (_, alone) = self.distinct_way(block, best.cost, orders, &best.order);
            if self.distinct_parts_way(block, part.cost, team, orders).price < alone {
                return Ok((part.clone(), Some(team)));
            }
        }
        if let (Some(grouping), Some(part)) = (&grouping, partial)
            && grouping.is_splittable(&calls, &aggregate_output(block), &block.having)
        {
            let team = Team { workers: part.workers, rows: best.cost.rows };
            if self.split_way(grouping, part.cost, team).price < price(&best) {
                return Ok((part, Some(team)));
            }
        }
        Ok((best, None))
    }

    /// Everything above the joins. `simple`: the plan's rows carry the final expressions already. With a team it gives a part of the rows, to be
    /// aggregated, or made distinct, by each participant.
    fn finish_query(
        &mut self,
        block: &Block,
        (mut plan, split): (Plan, Option<Team>),
        mut order: Vec<PathKey>,
        level: &mut Level,
        simple: bool,
    ) -> SqlResult<Plan> {
        let last = final_exprs(block);
        if block.aggregated && !matches!(plan.node, Node::Result { child: None, .. } if simple) {
            let output = aggregate_output(block);
            plan = match split {
                Some(team) => self.aggregate_parts(block, plan, team, level, output),
                None => self.aggregate(block, plan, &mut order, level, output)?,
            };
        }
        // What the conditions say of columns is no longer true where grouping sets have nulled some.
        let mut nulled = Level::default();
        let level = match block.grouping_sets.is_empty() {
            true => level,
            false => {
                order = nulled.wanted(&grouping_sets::order_of(&plan)).order;
                &mut nulled
            }
        };
        if !block.windows.is_empty() {
            plan = self.windows(block, plan, &mut order, level, &last);
        }
        if has_set(block) {
            let rows = plan.cost.rows * last.iter().map(set_rows).fold(1.0, f64::max);
            let cost = Cost { rows, total: plan.cost.total + rows * 0.01, ..plan.cost };
            plan = Plan {
                cost,
                output: last.clone(),
                filter: Vec::new(),
                node: Node::ProjectSet { child: Box::new(plan) },
            };
            order.clear();
        }
        plan = match split.filter(|_| !block.aggregated) {
            Some(team) => self.distinct_parts(block, plan, team, &mut order, level),
            None => self.distinct(block, plan, &mut order, level),
        };
        let limit = match (&block.limit, &block.offset) {
            (Some(Expr::Const { value: Datum::Int8(n), .. }), None) => Some(*n as f64),
            _ => None,
        };
        plan = self.sorted(plan, &level.wanted(&block.sort), &order, limit);
        if !block.marks.is_empty() {
            self.modifies = true;
            let cost = Cost { total: plan.cost.total + plan.cost.rows * 0.01, ..plan.cost };
            let output = plan.output.clone();
            let node = Node::LockRows { child: Box::new(plan), marks: block.marks.clone() };
            plan = Plan { cost, output, filter: Vec::new(), node };
        }
        Ok(self.limit(block, plan))
    }

    fn windows(
        &mut self,
        block: &Block,
        mut plan: Plan,
        order: &mut Vec<PathKey>,
        level: &mut Level,
        last: &[Expr],
    ) -> Plan {
        let mut calls: Vec<WindowCall> = Vec::new();
        for expr in last.iter().chain(&block.run) {
            collect_windows(expr, &mut calls);
        }
        for (number, window) in block.windows.iter().enumerate() {
            let wanted = level.wanted(&window.sort_keys());
            if !wanted.is_met_by(order) {
                plan = self.sorted(plan, &wanted, order, None);
                *order = wanted.order;
            }
            let own: Vec<WindowCall> = calls.iter().filter(|c| c.window == number).cloned().collect();
            // The windows above see all rows: what is said of those below is checked at the top.
            let is_top = number + 1 == block.windows.len();
            let of_top = |e: &&Expr| e.any(&mut |e| matches!(e, Expr::Window(c) if c.window == number));
            let (run, filter): (Vec<&Expr>, Vec<&Expr>) = match is_top {
                true => block.run.iter().partition(of_top),
                false => Default::default(),
            };
            let output = if is_top && !has_set(block) {
                last.to_vec()
            } else {
                let mut all = plan.output.clone();
                own.iter().for_each(|c| add_unique(&mut all, Expr::Window(Box::new(c.clone()))));
                all
            };
            let cost =
                Cost { total: plan.cost.total + plan.cost.rows * 0.01 * own.len() as f64, ..plan.cost };
            let node = Node::WindowAgg {
                child: Box::new(plan),
                partition: window.partition.clone(),
                order: window.order.clone(),
                frame: window.frame.clone(),
                calls: own,
                run: run.into_iter().cloned().collect(),
                name: window.name.clone(),
            };
            plan = Plan { cost, output, filter: filter.into_iter().cloned().collect(), node };
        }
        plan
    }

    fn distinct(&mut self, block: &Block, plan: Plan, order: &mut Vec<PathKey>, level: &mut Level) -> Plan {
        if block.distinct.is_empty() {
            return plan;
        }
        let groups = selectivity::groups(self, &block.distinct, plan.cost.rows);
        let wanted = level.wanted(&distinct_keys(block));
        let settings = self.settings();
        let count = block.distinct.len() as f64;
        let rows = clamp_rows(groups);
        if self.distinct_way(block, plan.cost, (&wanted, &Wanted::default()), order).0 {
            let (startup, total) = settings.aggregate(plan.cost, true, count, CallWork::default(), groups);
            order.clear();
            let (cost, output) = (Cost { startup, total, rows, ..plan.cost }, plan.output.clone());
            let node = Node::Aggregate {
                strategy: AggStrategy::Hashed,
                split: Split::Whole,
                child: Box::new(plan),
                keys: block.distinct.clone(),
                rollups: Vec::new(),
                calls: Vec::new(),
            };
            return Plan { cost, output, filter: Vec::new(), node };
        }
        let child = self.sorted(plan, &wanted, order, None);
        *order = wanted.order;
        let total = child.cost.total + child.cost.rows * count * settings.cpu_operator_cost;
        let (cost, output) = (Cost { total, rows, ..child.cost }, child.output.clone());
        let node = Node::Unique { child: Box::new(child), columns: block.distinct.clone() };
        Plan { cost, output, filter: Vec::new(), node }
    }

    /// Whether rows that come in the order `have` are made distinct by hashing, and what that costs, or sorting. The orders are the one in which what
    /// must differ stands together, and the one that rows are brought into afterwards.
    fn distinct_way(
        &self,
        block: &Block,
        input: Cost,
        (wanted, above): (&Wanted, &Wanted),
        have: &[PathKey],
    ) -> (bool, f64) {
        let groups = selectivity::groups(self, &block.distinct, input.rows);
        let count = block.distinct.len() as f64;
        let settings = self.settings();
        let hashable = !block.distinct_on && block.distinct.iter().all(|key| self.types.hashes(key));
        let sortable = block.distinct.iter().all(|key| self.types.orders(key));
        let by_sort = self.sorted_cost(input, wanted, have, None).1;
        let (startup, by_hash) = settings.aggregate(input, true, count, CallWork::default(), groups);
        let hashed = hashable
            && (!sortable || (by_hash < by_sort && block.sort.is_empty()) || by_hash * 1.5 < by_sort);
        if !hashed {
            return (false, by_sort + input.rows * count * settings.cpu_operator_cost);
        }
        let result = Cost { startup, total: by_hash, rows: clamp_rows(groups), ..input };
        (true, self.sorted_cost(result, above, &[], None).1)
    }

    /// LIMIT, and hidden columns cut off.
    fn limit(&mut self, block: &Block, plan: Plan) -> Plan {
        if block.limit.is_none() && block.offset.is_none() {
            return plan;
        }
        let number = |e: &Option<Expr>, default: f64| match e {
            Some(Expr::Const { value: Datum::Int8(n), .. }) => *n as f64,
            Some(_) => (plan.cost.rows * 0.1).max(1.0),
            None => default,
        };
        let offset = number(&block.offset, 0.0).min(plan.cost.rows);
        let rows = number(&block.limit, plan.cost.rows).min(plan.cost.rows - offset).max(1.0);
        let run = plan.cost.total - plan.cost.startup;
        let per_row = run / plan.cost.rows.max(1.0);
        let cost = Cost {
            startup: plan.cost.startup + per_row * offset,
            total: (plan.cost.startup + per_row * (offset + rows)).min(plan.cost.total),
            rows: clamp_rows(rows),
            width: plan.cost.width,
        };
        let output = plan.output.clone();
        let with_ties = if block.with_ties { block.sort.clone() } else { Vec::new() };
        let (count, offset) = (block.limit.clone(), block.offset.clone());
        Plan {
            cost,
            output,
            filter: Vec::new(),
            node: Node::Limit { child: Box::new(plan), count, offset, with_ties },
        }
    }

    fn plan_set(&mut self, mut block: Block) -> SqlResult<Plan> {
        let Some((rel, tree)) = block.set.take() else { return Ok(Plan::empty()) };
        let output: Vec<Expr> = block.targets.iter().map(|t| t.expr.clone()).collect();
        let plan = self.set_tree(rel, tree, &output)?;
        self.derived_rows.insert(rel, plan.cost.rows);
        block.for_upper_exprs_mut(&mut crate::fold::fold);
        self.plan_sublinks(&mut block, RelSet::one(rel))?;
        self.finish_query(&block, (plan, None), Vec::new(), &mut Level::default(), true)
    }

    fn set_tree(&mut self, rel: RelId, tree: SetTree, output: &[Expr]) -> SqlResult<Plan> {
        match tree {
            SetTree::Leaf(block) => {
                // A plan's rows begin with the result columns; planning may have rewritten what computes them.
                let width = block.targets.iter().filter(|t| !t.junk).count();
                let plan = self.plan_block(*block, 0.0)?;
                let columns = plan.output[..width].to_vec();
                Ok(self.positional(plan, columns))
            }
            SetTree::Op { op: SetOperation::Union, all, left, right } => {
                let mut children = Vec::new();
                self.union_parts(rel, *left, all, output, &mut children)?;
                self.union_parts(rel, *right, all, output, &mut children)?;
                let rows = children.iter().map(|c| c.cost.rows).sum();
                let total = children.iter().map(|c| c.cost.total + c.cost.rows * 0.005).sum();
                let startup = children.first().map_or(0.0, |c| c.cost.startup);
                let width = children.first().map_or(0.0, |c| c.cost.width);
                let cost = Cost { startup, total, rows, width };
                let node = Node::Append { children, tree: None };
                let plan = Plan { cost, output: output.to_vec(), filter: Vec::new(), node };
                if all {
                    return Ok(plan);
                }
                let block = Block { distinct: output.to_vec(), ..Block::default() };
                Ok(self.distinct(&block, plan, &mut Vec::new(), &mut Level::default()))
            }
            SetTree::Op { op, all, left, right } => {
                let left = self.set_tree(rel, *left, output)?;
                let right = self.set_tree(rel, *right, output)?;
                let kind = match (op, all) {
                    (SetOperation::Intersect, false) => SetOpKind::Intersect,
                    (SetOperation::Intersect, true) => SetOpKind::IntersectAll,
                    (_, false) => SetOpKind::Except,
                    (_, true) => SetOpKind::ExceptAll,
                };
                let total = left.cost.total + right.cost.total + (left.cost.rows + right.cost.rows) * 0.01;
                let cost = Cost { startup: total, total, rows: left.cost.rows, width: left.cost.width };
                let node = Node::SetOp { kind, left: Box::new(left), right: Box::new(right) };
                Ok(Plan { cost, output: output.to_vec(), filter: Vec::new(), node })
            }
            SetTree::Converted { input, columns, exprs } => {
                let plan = self.set_tree(rel, *input, &columns)?;
                let mut converted = exprs;
                for expr in &mut converted {
                    expr.replace(&mut |e| match e {
                        Expr::Var(var) if var.rel == rel => plan.output.get(var.column as usize - 1).cloned(),
                        _ => None,
                    });
                }
                Ok(self.positional(plan, converted))
            }
            SetTree::Recursive { initial, recursive, table, distinct } => {
                let initial = self.set_tree(rel, *initial, output)?;
                let recursive = self.set_tree(rel, *recursive, output)?;
                let rows = initial.cost.rows + 10.0 * recursive.cost.rows;
                let total = initial.cost.total + 10.0 * recursive.cost.total + rows * 0.01;
                let cost = Cost { startup: initial.cost.startup, total, rows, width: initial.cost.width };
                let node = Node::RecursiveUnion {
                    initial: Box::new(initial),
                    recursive: Box::new(recursive),
                    table,
                    distinct,
                };
                Ok(Plan { cost, output: output.to_vec(), filter: Vec::new(), node })
            }
        }
    }

    /// Inputs of nested UNIONs of the same kind become inputs of one Append.
    fn union_parts(
        &mut self,
        rel: RelId,
        tree: SetTree,
        all: bool,
        output: &[Expr],
        out: &mut Vec<Plan>,
    ) -> SqlResult<()> {
        match tree {
            SetTree::Op { op: SetOperation::Union, all: inner, left, right } if inner || !all => {
                self.union_parts(rel, *left, all, output, out)?;
                self.union_parts(rel, *right, all, output, out)
            }
            other => {
                out.push(self.set_tree(rel, other, output)?);
                Ok(())
            }
        }
    }

    /// A plan whose rows carry exactly these expressions in this order.
    fn positional(&mut self, plan: Plan, exprs: Vec<Expr>) -> Plan {
        if plan.output == exprs {
            return plan;
        }
        let (cost, child) = (plan.cost, Some(Box::new(plan)));
        Plan { cost, output: exprs, filter: Vec::new(), node: Node::Result { one_time: Vec::new(), child } }
    }

    fn plan_modify(&mut self, mut modify: Modify, source: Plan) -> SqlResult<Plan> {
        let mut targets = self.target_tables(&modify)?;
        modify.found_in =
            if self.is_inherited(modify.rel) && finds_nothing(&source) { 0 } else { targets.len() };
        modify.routing = self.routing(&modify, &mut targets)?;
        modify.targets = targets;
        if modify.command != Command::Delete {
            modify.partition = self.partition_checks(modify.rel, &modify.table.clone())?;
        }
        let rows = if modify.returning.is_empty() { 0.0 } else { source.cost.rows };
        let cost = Cost { rows, width: 0.0, ..source.cost };
        let output = modify.returning.clone();
        modify.source = source;
        debug_assert!(modify.command != Command::Select);
        Ok(Plan { cost, output, filter: Vec::new(), node: Node::Modify(Box::new(modify)) })
    }

    /// What must be known of a table to write its rows.
    pub(crate) fn target_table(
        &mut self,
        rel: RelId,
        table: &Arc<Table>,
        columns: Option<Arc<[i16]>>,
    ) -> SqlResult<TargetTable> {
        let (mut indexes, mut checks) = (Vec::new(), Vec::new());
        let (mut generated, mut required) = (Vec::new(), Vec::new());
        for position in 0..table.indexes.len() {
            let index = IndexRef { table: table.clone(), position };
            let columns = self.index_columns(rel, &index);
            let predicate = self.index_predicate(rel, &index).unwrap_or_default();
            indexes.push(IndexExprs { index, columns, predicate });
        }
        for check in table.checks.iter().filter(|c| c.enforced) {
            let expr = self.stored(&check.expr, rel)?;
            checks.push((check.name.as_str().into(), expr));
        }
        for (i, column) in table.columns.iter().enumerate() {
            let list = match column.generated {
                Generated::Stored => &mut generated,
                Generated::Virtual if column.not_null => &mut required,
                _ => continue,
            };
            if let Some(text) = &column.default {
                list.push((i as i16 + 1, self.stored(text, rel)?));
            }
        }
        let index_ancestors =
            table.indexes.iter().map(|index| self.index_ancestors(index)).collect::<SqlResult<_>>()?;
        let hindrances = Hindrances::of(table, self.context.catalog)?;
        let table = table.clone();
        Ok(TargetTable {
            rel,
            table,
            columns,
            checks,
            generated,
            required,
            indexes,
            index_ancestors,
            hindrances,
        })
    }

    /// The partitioned indexes that an index is a part of, nearest first.
    fn index_ancestors(&self, index: &catalog::view::Index) -> SqlResult<Vec<Oid>> {
        let mut ancestors = Vec::new();
        let mut next = index.parent;
        while next.is_valid() && !ancestors.contains(&next) {
            ancestors.push(next);
            let parent = self.context.catalog.relation_by_oid(next)?;
            next = parent.map_or(Oid::INVALID, |parent| parent.partition_of);
        }
        Ok(ancestors)
    }
}

fn set_rows(expr: &Expr) -> f64 {
    match expr {
        Expr::Call(call) if call.function.retset() => call.function.rows().max(1.0),
        Expr::Json(json) if matches!(json.node, analyze::Json::Table(_)) => 100.0,
        Expr::Xml(xml) if xml.is_table() => 100.0,
        _ => 1.0,
    }
}

/// What rows are sorted by in which what must differ stands together.
pub(crate) fn distinct_keys(block: &Block) -> Vec<SortKey> {
    let mut keys: Vec<SortKey> = Vec::new();
    if block.distinct_on || block.sort.iter().all(|k| block.distinct.contains(&k.expr)) {
        // The order asked for begins with, or consists of, what must differ.
        keys.extend(block.sort.iter().cloned());
    }
    for expr in &block.distinct {
        if !keys.iter().any(|k| k.expr == *expr) {
            keys.push(SortKey { expr: expr.clone(), descending: false, nulls_first: false });
        }
    }
    keys
}

/// The columns of a subquery by which its ORDER BY sorts, as far as they are columns. Row locks may wait for rows that then are others.
fn derived_order(block: &Block) -> Vec<DerivedKey> {
    if block.sort.is_empty() || !block.marks.is_empty() {
        return Vec::new();
    }
    let column = |key: &SortKey| {
        let at = block.targets.iter().position(|target| !target.junk && target.expr == key.expr)?;
        let collation = key.expr.collation();
        let (descending, nulls_first) = (key.descending, key.nulls_first);
        Some(DerivedKey { column: i16::try_from(at + 1).ok()?, collation, descending, nulls_first })
    };
    block.sort.iter().map_while(column).collect()
}

pub(crate) fn has_set(block: &Block) -> bool {
    block.targets.iter().any(|t| t.expr.returns_set())
}

/// The place of a table's row.
fn ctid_of(rel: RelId) -> Expr {
    Expr::Var(crate::expr::Var { rel, column: -1, type_oid: Oid(27), typmod: -1 })
}

/// Targets, hidden ones included, then what ORDER BY and DISTINCT need besides.
pub(crate) fn final_exprs(block: &Block) -> Vec<Expr> {
    let mut out: Vec<Expr> = block.targets.iter().map(|t| t.expr.clone()).collect();
    block.sort.iter().for_each(|k| add_unique(&mut out, k.expr.clone()));
    block.distinct.iter().for_each(|e| add_unique(&mut out, e.clone()));
    for mark in &block.marks {
        add_unique(&mut out, ctid_of(mark.rel));
        if mark.tree {
            add_unique(&mut out, Expr::Var(crate::inherit::tableoid(mark.rel)));
        }
    }
    out
}

/// All expressions above the joins.
fn upper_exprs(block: &Block) -> Vec<Expr> {
    let mut out = final_exprs(block);
    out.extend(block.group.iter().cloned());
    out.extend(block.having.iter().cloned());
    for window in &block.windows {
        out.extend(window.partition.iter().cloned());
        out.extend(window.order.iter().map(|k| k.expr.clone()));
    }
    out
}

/// Whether nodes between the joins and the target list need columns rather than results.
fn needs_input(block: &Block) -> bool {
    block.aggregated || !block.windows.is_empty() || has_set(block)
}

/// What the joins output if [`needs_input`]: grouping expressions and columns.
fn input_exprs(block: &Block, from: RelSet) -> Vec<Expr> {
    let mut out = Vec::new();
    if block.aggregated {
        block.group.iter().for_each(|e| add_unique(&mut out, e.clone()));
    } else {
        for window in &block.windows {
            window.partition.iter().for_each(|e| add_unique(&mut out, e.clone()));
            window.order.iter().for_each(|k| add_unique(&mut out, k.expr.clone()));
        }
    }
    let whole = out.clone();
    crate::create::columns_of(&upper_exprs(block), from, &whole, &mut out);
    out
}

/// What an aggregation's rows carry.
fn aggregate_output(block: &Block) -> Vec<Expr> {
    if block.windows.is_empty() && !has_set(block) { final_exprs(block) } else { window_input(block) }
}

/// What an aggregation passes to windows or set-returning targets: grouping expressions, aggregates, window keys.
fn window_input(block: &Block) -> Vec<Expr> {
    let mut out = block.group.clone();
    for window in &block.windows {
        window.partition.iter().for_each(|e| add_unique(&mut out, e.clone()));
        window.order.iter().for_each(|k| add_unique(&mut out, k.expr.clone()));
    }
    for expr in final_exprs(block) {
        collect_atoms(&expr, &block.group, &mut out);
    }
    out
}

fn collect_atoms(expr: &Expr, group: &[Expr], out: &mut Vec<Expr>) {
    if group.contains(expr) || matches!(expr, Expr::Aggregate(_) | Expr::Grouping(_) | Expr::Var(_)) {
        add_unique(out, expr.clone());
    } else {
        expr.for_children(&mut |child| collect_atoms(child, group, out));
    }
}

fn collect_windows(expr: &Expr, out: &mut Vec<WindowCall>) {
    if let Expr::Window(call) = expr {
        if !out.contains(call) {
            out.push((**call).clone());
        }
    } else {
        expr.for_children(&mut |child| collect_windows(child, out));
    }
}

/// Whether a plan gives no rows, whatever there is.
fn finds_nothing(plan: &Plan) -> bool {
    match &plan.node {
        Node::Result { one_time, child } => {
            one_time.iter().any(is_false_or_null) || child.as_deref().is_some_and(finds_nothing)
        }
        _ => false,
    }
}
