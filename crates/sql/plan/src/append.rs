//! Paths over the members that a relation stands for: appended in any order, merged in one that is wanted, or each driven by the rows of
//! a join's other side.
//!
//! Each member is planned as if it stood in its parent's place in the level: conditions, classes and what is needed are translated,
//! so that everything known about paths of tables serves members as well.
//!
//! # PostgreSQL counterpart and differences
//! `add_paths_to_append_rel` of `optimizer/path/allpaths.c`. Members are not joined one by one.

use std::rc::Rc;

use crate::create::{Creator, add_unique, columns_of, wrap_sort};
use crate::expr::{Expr, RelId, SortKey};
use crate::inherit::Member;
use crate::joins::Search;
use crate::path::{Enforced, Path, PathKey, PathKind, add_path, cheapest, order_contains};
use crate::plan::{Cost, Node, Plan, SortKeys, Tree};
use crate::relset::RelSet;

impl Search<'_, '_> {
    /// All paths of a relation that stands for a tree.
    pub(crate) fn member_paths(&mut self, rel: RelId) -> Vec<Rc<Path>> {
        let members = self.planner.members(rel);
        let each: Vec<Vec<Rc<Path>>> = members.iter().map(|m| self.paths_of_member(rel, m)).collect();
        let mut paths = Vec::new();
        let free = |p: &Path| p.outer.is_empty();
        if let Some(children) = pick(&each, |paths| cheapest(paths, free)) {
            self.add_append(rel, children, Vec::new(), &mut paths);
        }
        for order in self.orders_of(&each) {
            self.add_merge(rel, &each, &order, |cost| cost.total, &mut paths);
            self.add_merge(rel, &each, &order, |cost| cost.startup, &mut paths);
        }
        for outer in outers_of(&each) {
            let children = members.iter().zip(&each).map(|(m, paths)| self.driven(rel, m, paths, outer));
            let children = children.collect::<Option<Vec<_>>>();
            if let Some(children) = children {
                self.add_append(rel, children, Vec::new(), &mut paths);
            }
        }
        self.partial_append(rel, &members, &mut paths);
        paths
    }

    /// The cheapest path of a member that rows of `outer` drive: where no index serves, the whole table with the join's conditions.
    fn driven(&mut self, rel: RelId, member: &Member, paths: &[Rc<Path>], outer: RelSet) -> Option<Rc<Path>> {
        let known = cheapest(paths, |p| p.outer == outer);
        if known.is_some() || !self.planner.sources[member.rel].is_table() {
            return known;
        }
        self.as_member(rel, member, |search, filters| search.filtered_scan(member.rel, filters, outer))
    }

    /// Runs `f`, which gets the member's conditions, while the member stands in its parent's place.
    pub(crate) fn as_member<T>(
        &mut self,
        rel: RelId,
        member: &Member,
        f: impl FnOnce(&mut Self, &[Expr]) -> T,
    ) -> T {
        let planner = &*self.planner;
        let (mut level, filters) = planner.level_of(self.level, rel, member);
        let mut needed: Vec<Expr> = self.needed.iter().map(|e| planner.for_member(rel, member, e)).collect();
        std::mem::swap(self.level, &mut level);
        std::mem::swap(&mut self.needed, &mut needed);
        let result = f(self, &filters);
        std::mem::swap(self.level, &mut level);
        std::mem::swap(&mut self.needed, &mut needed);
        result
    }

    fn paths_of_member(&mut self, rel: RelId, member: &Member) -> Vec<Rc<Path>> {
        let known = self.level.singles.len();
        let mut paths = self.as_member(rel, member, |search, filters| search.own_paths(member.rel, filters));
        // Orders by expressions that only the member's level came to know mean nothing here.
        for path in &mut paths {
            let meant = path.order.iter().take_while(|k| self.level.knows(k, known)).count();
            if meant < path.order.len()
                && let Some(path) = Rc::get_mut(path)
            {
                path.order.truncate(meant);
            }
        }
        paths
    }

    /// Orders that are wanted, or that members come in and that serve something.
    fn orders_of(&self, each: &[Vec<Rc<Path>>]) -> Vec<Vec<PathKey>> {
        let mut orders: Vec<Vec<PathKey>> = Vec::new();
        for path in each.iter().flatten().filter(|p| p.outer.is_empty()) {
            if self.is_useful_order(&path.order) && !orders.contains(&path.order) {
                orders.push(path.order.clone());
            }
        }
        // An order that another one begins with needs no path of its own.
        let all = orders.clone();
        orders.retain(|o| !all.iter().any(|other| other.len() > o.len() && order_contains(other, o)));
        orders
    }

    fn add_merge(
        &mut self,
        rel: RelId,
        each: &[Vec<Rc<Path>>],
        order: &[PathKey],
        measure: impl Fn(&Cost) -> f64,
        paths: &mut Vec<Rc<Path>>,
    ) {
        let key = |k: &PathKey| {
            let expr = self.level.expr_of(k, rel)?;
            Some(SortKey { expr, descending: k.descending, nulls_first: k.nulls_first })
        };
        let Some(keys) = order.iter().map(key).collect::<Option<Vec<_>>>() else { return };
        let settings = self.planner.settings();
        let sorted = |p: &Path| {
            if order_contains(&p.order, order) {
                return p.cost;
            }
            let (startup, total) = settings.sort(p.cost.total, p.cost.rows, p.cost.width, None);
            Cost { startup, total, ..p.cost }
        };
        let best = |paths: &[Rc<Path>]| {
            let price = |p: &Path| measure(&sorted(p));
            let free = paths.iter().filter(|p| p.outer.is_empty());
            free.min_by(|a, b| price(a).total_cmp(&price(b))).cloned()
        };
        let Some(children) = pick(each, best) else { return };
        let mut cost = Cost::default();
        for child in &children {
            let one = sorted(child);
            cost.startup += one.startup;
            cost.total += one.total;
            cost.rows += one.rows;
            cost.width = cost.width.max(one.width);
        }
        let inputs = children.len().max(2) as f64;
        let comparison = 2.0 * settings.cpu_operator_cost * inputs.log2();
        cost.startup += comparison * inputs;
        cost.total += comparison * inputs + cost.rows * (comparison + 0.5 * settings.cpu_tuple_cost);
        let conditions = self.level.filters_of(rel);
        let kind = PathKind::Append { rel, children, keys, conditions };
        let (rels, outer, order) = (RelSet::one(rel), RelSet::EMPTY, order.to_vec());
        add_path(paths, Path { rels, cost, order, outer, enforced: Vec::new(), workers: 0, kind });
    }

    fn add_append(
        &mut self,
        rel: RelId,
        children: Vec<Rc<Path>>,
        order: Vec<PathKey>,
        paths: &mut Vec<Rc<Path>>,
    ) {
        let path = self.append_path(rel, children, order);
        add_path(paths, path);
    }

    /// The rows of the members one after the other.
    pub(crate) fn append_path(&self, rel: RelId, children: Vec<Rc<Path>>, order: Vec<PathKey>) -> Path {
        let settings = self.planner.settings();
        let sum = |f: fn(&Cost) -> f64| children.iter().map(|c| f(&c.cost)).sum::<f64>();
        let rows = sum(|c| c.rows);
        let cost = Cost {
            startup: children.first().map_or(0.0, |c| c.cost.startup),
            total: sum(|c| c.total) + 0.5 * settings.cpu_tuple_cost * rows,
            rows,
            width: children.iter().map(|c| c.cost.width).fold(0.0, f64::max),
        };
        let outer = children.iter().fold(RelSet::EMPTY, |set, c| set | c.outer);
        // What only some members check must be checked above.
        let mut enforced: Vec<Enforced> = children.first().map_or(Vec::new(), |c| c.enforced.clone());
        enforced.retain(|e| children.iter().all(|c| c.enforced.contains(e)));
        let mut conditions = self.level.filters_of(rel);
        conditions.extend(enforced.iter().filter_map(|e| self.enforced_condition(rel, e, outer)));
        let kind = PathKind::Append { rel, children, keys: Vec::new(), conditions };
        Path { rels: RelSet::one(rel), cost, order, outer, enforced, workers: 0, kind }
    }
}

impl Search<'_, '_> {
    /// A join condition that a scan checks, over the parent.
    fn enforced_condition(&self, rel: RelId, enforced: &Enforced, outer: RelSet) -> Option<Expr> {
        match enforced {
            Enforced::Clause(number) => self.level.clauses.get(*number).map(|c| c.expr.clone()),
            Enforced::Class(number) => {
                let class = self.level.classes.get(*number)?;
                let mine = class.member_within(RelSet::one(rel))?;
                Some(class.equality(mine, class.member_within(outer)?))
            }
        }
    }
}

/// One path of each member, if each has one.
fn pick(each: &[Vec<Rc<Path>>], choose: impl Fn(&[Rc<Path>]) -> Option<Rc<Path>>) -> Option<Vec<Rc<Path>>> {
    each.iter().map(|paths| choose(paths)).collect()
}

/// Relations whose rows may drive scans of members.
fn outers_of(each: &[Vec<Rc<Path>>]) -> Vec<RelSet> {
    let mut outers: Vec<RelSet> =
        each.iter().flatten().map(|p| p.outer).filter(|outer| !outer.is_empty()).collect();
    outers.sort();
    outers.dedup();
    outers
}

impl Creator<'_, '_> {
    /// The nodes of a path over a tree.
    pub(crate) fn append(
        &mut self,
        path: &Path,
        (rel, children, keys): (RelId, &[Rc<Path>], &[SortKey]),
        conditions: &[Expr],
        output: Vec<Expr>,
    ) -> Plan {
        let partitioned =
            self.planner.relations[rel].table.as_ref().is_some_and(|t| t.partitioning.is_some());
        if partitioned || output.iter().all(|e| matches!(e, Expr::Var(_))) {
            return self.append_columns(path, (rel, children, keys), conditions, output);
        }
        // Expressions are computed above the children of a plain table.
        let mut columns = Vec::new();
        columns_of(&output, path.rels, &[], &mut columns);
        let plan = self.append_columns(path, (rel, children, keys), conditions, columns);
        let output = self.parameterised(output, path.rels);
        let node = Node::Result { one_time: Vec::new(), child: Some(Box::new(plan)) };
        Plan { cost: path.cost, output, filter: Vec::new(), node }
    }

    fn append_columns(
        &mut self,
        path: &Path,
        (rel, children, keys): (RelId, &[Rc<Path>], &[SortKey]),
        conditions: &[Expr],
        mut output: Vec<Expr>,
    ) -> Plan {
        keys.iter().for_each(|k| add_unique(&mut output, k.expr.clone()));
        let members = self.planner.members(rel);
        let mut plans = Vec::with_capacity(children.len());
        for (member, child) in members.iter().zip(children) {
            let own = output.iter().map(|e| self.planner.for_member(rel, member, e)).collect();
            let mut plan = self.create(child, own);
            if !keys.is_empty() && !order_contains(&child.order, &path.order) {
                let own = |k: &SortKey| SortKey {
                    expr: self.planner.for_member(rel, member, &k.expr),
                    ..k.clone()
                };
                let keys = SortKeys(keys.iter().map(own).collect());
                plan = wrap_sort(plan, keys, None, self.planner);
            }
            plans.push(plan);
        }
        let output = self.parameterised(output, path.rels);
        let (cost, filter) = (path.cost, Vec::new());
        if plans.is_empty() {
            let never = Node::Result { one_time: vec![Expr::boolean(false)], child: None };
            return Plan { cost, output, filter, node: never };
        }
        let pruning = self.planner.branch(rel).filter(|_| plans.len() > 1).and_then(|branch| {
            let conditions = self.parameterised(conditions.to_vec(), path.rels);
            self.planner.pruning(rel, &branch, &conditions)
        });
        let tree = || Box::new(Tree { rel, members: members.iter().map(|m| m.rel).collect(), pruning });
        let tree = self.planner.sources[rel].is_table().then(tree);
        let node = match keys {
            [] => Node::Append { children: plans, tree },
            _ if plans.len() == 1 => Node::Append { children: plans, tree },
            keys => Node::MergeAppend { children: plans, keys: keys.to_vec(), tree },
        };
        Plan { cost, output, filter, node }
    }
}
