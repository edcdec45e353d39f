//! Paths over the members that a relation stands for: appended in any order, merged in one that is wanted, or each driven by the rows of
//! a join's other side.
//!
//! Each member is planned as if it stood in its parent's place in the level: conditions, classes and what is needed are translated,
//! so that everything known about paths of tables serves members as well.
//!
//! # PostgreSQL counterpart
//! `add_paths_to_append_rel` of `optimizer/path/allpaths.c`.

use std::rc::Rc;

use crate::create::{Creator, add_unique, columns_of, wrap_sort};
use crate::expr::{Expr, RelId, SortKey};
use crate::inherit::Member;
use crate::joins::Search;
use crate::path::{Enforced, Path, PathKey, PathKind, Places, Whole, add_path, cheapest, order_contains};
use crate::plan::{Cost, Node, Plan, SortKeys, Tree};
use crate::relset::RelSet;

impl Search<'_, '_> {
    /// All paths of a relation that stands for a tree.
    pub(crate) fn member_paths(&mut self, rel: RelId) -> Vec<Rc<Path>> {
        let members = self.planner.members(rel);
        let each: Vec<Vec<Rc<Path>>> = members.iter().map(|m| self.paths_of_member(rel, m)).collect();
        let mut paths = Vec::new();
        let of = (&Whole::Members(rel), RelSet::one(rel));
        self.appended(of, &each, &mut paths);
        for outer in outers_of(&each) {
            let children = members.iter().zip(&each).map(|(m, paths)| self.driven(rel, m, paths, outer));
            if let Some(children) = children.collect::<Option<Vec<_>>>() {
                add_path(&mut paths, self.append_path(of, children, Vec::new()));
            }
        }
        self.partial_append(rel, &members, &mut paths);
        paths
    }

    /// Adds the paths that give what each child gives in one of its paths, driven by nothing: in any order, and in each that is useful.
    pub(crate) fn appended(&self, of: (&Whole, RelSet), each: &[Vec<Rc<Path>>], paths: &mut Vec<Rc<Path>>) {
        let free = |p: &Path| p.outer.is_empty();
        if let Some(children) = pick(each, |paths| cheapest(paths, free)) {
            add_path(paths, self.append_path(of, children, Vec::new()));
        }
        for order in self.orders_of(each) {
            self.add_merge(of, each, &order, |cost| cost.total, paths);
            self.add_merge(of, each, &order, |cost| cost.startup, paths);
        }
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
        self.keep_known_orders(&mut paths, known);
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
        &self,
        (whole, rels): (&Whole, RelSet),
        each: &[Vec<Rc<Path>>],
        order: &[PathKey],
        measure: impl Fn(&Cost) -> f64,
        paths: &mut Vec<Rc<Path>>,
    ) {
        let key = |k: &PathKey| {
            let expr = self.level.expr_of(k, rels)?;
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
        let conditions = self.conditions_of(whole);
        let kind = PathKind::Append { whole: whole.clone(), children, keys, conditions };
        let (outer, order) = (RelSet::EMPTY, order.to_vec());
        add_path(paths, Path { rels, cost, order, outer, enforced: Vec::new(), workers: 0, kind });
    }

    /// What rows of the whole satisfy.
    fn conditions_of(&self, whole: &Whole) -> Vec<Expr> {
        match whole {
            Whole::Members(rel) => self.level.filters_of(*rel),
            Whole::Joins(_) => Vec::new(),
        }
    }

    /// The rows of the members one after the other.
    pub(crate) fn append_path(
        &self,
        (whole, rels): (&Whole, RelSet),
        children: Vec<Rc<Path>>,
        order: Vec<PathKey>,
    ) -> Path {
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
        let mut conditions = self.conditions_of(whole);
        conditions.extend(enforced.iter().filter_map(|e| self.enforced_condition(rels, e, outer)));
        let kind = PathKind::Append { whole: whole.clone(), children, keys: Vec::new(), conditions };
        Path { rels, cost, order, outer, enforced, workers: 0, kind }
    }
}

impl Search<'_, '_> {
    /// A join condition that a scan checks, over the parent.
    fn enforced_condition(&self, rels: RelSet, enforced: &Enforced, outer: RelSet) -> Option<Expr> {
        match enforced {
            Enforced::Clause(number) => self.level.clauses.get(*number).map(|c| c.expr.clone()),
            Enforced::Class(number) => {
                let class = self.level.classes.get(*number)?;
                let mine = class.member_within(rels)?;
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
pub(crate) fn outers_of(each: &[Vec<Rc<Path>>]) -> Vec<RelSet> {
    let mut outers: Vec<RelSet> =
        each.iter().flatten().map(|p| p.outer).filter(|outer| !outer.is_empty()).collect();
    outers.sort();
    outers.dedup();
    outers
}

impl Creator<'_, '_> {
    /// The nodes of a path over trees.
    pub(crate) fn append(
        &mut self,
        path: &Path,
        (whole, children, keys): (&Whole, &[Rc<Path>], &[SortKey]),
        conditions: &[Expr],
        output: Vec<Expr>,
    ) -> Plan {
        let partitioned = match whole {
            Whole::Members(rel) => {
                self.planner.relations[*rel].table.as_ref().is_some_and(|t| t.partitioning.is_some())
            }
            Whole::Joins(_) => true,
        };
        if partitioned || output.iter().all(|e| matches!(e, Expr::Var(_))) {
            return self.append_columns(path, (whole, children, keys), conditions, output);
        }
        // Expressions are computed above the children of a plain table.
        let mut columns = Vec::new();
        columns_of(&output, path.rels, &[], &mut columns);
        let plan = self.append_columns(path, (whole, children, keys), conditions, columns);
        let output = self.parameterised(output, path.rels);
        let node = Node::Result { one_time: Vec::new(), child: Some(Box::new(plan)) };
        Plan { cost: path.cost, output, filter: Vec::new(), node }
    }

    fn append_columns(
        &mut self,
        path: &Path,
        (whole, children, keys): (&Whole, &[Rc<Path>], &[SortKey]),
        conditions: &[Expr],
        mut output: Vec<Expr>,
    ) -> Plan {
        keys.iter().for_each(|k| add_unique(&mut output, k.expr.clone()));
        let each: Vec<Places> = match whole {
            Whole::Members(rel) => {
                self.planner.members(*rel).iter().map(|m| Rc::from([(*rel, m.clone())])).collect()
            }
            Whole::Joins(each) => each.to_vec(),
        };
        let mut plans = Vec::with_capacity(children.len());
        for (places, child) in each.iter().zip(children) {
            let places: Vec<(RelId, &Member)> = places.iter().map(|(rel, member)| (*rel, member)).collect();
            let own = output.iter().map(|e| self.planner.for_places(&places, e)).collect();
            let mut plan = self.create(child, own);
            if !keys.is_empty() && !order_contains(&child.order, &path.order) {
                let own =
                    |k: &SortKey| SortKey { expr: self.planner.for_places(&places, &k.expr), ..k.clone() };
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
        let tree = match whole {
            Whole::Members(rel) => self.tree_of(*rel, conditions, path, plans.len()),
            Whole::Joins(_) => {
                let (all, tree) = flattened(plans, &each, keys.is_empty());
                plans = all;
                Some(Box::new(tree))
            }
        };
        let node = match keys {
            [] => Node::Append { children: plans, tree },
            _ if plans.len() == 1 => Node::Append { children: plans, tree },
            keys => Node::MergeAppend { children: plans, keys: keys.to_vec(), tree },
        };
        Plan { cost, output, filter, node }
    }

    /// What the members that a relation stands for are to it, if it is a table.
    fn tree_of(
        &mut self,
        rel: RelId,
        conditions: &[Expr],
        path: &Path,
        children: usize,
    ) -> Option<Box<Tree>> {
        if !self.planner.sources[rel].is_table() {
            return None;
        }
        let pruning = self.planner.branch(rel).filter(|_| children > 1).and_then(|branch| {
            let conditions = self.parameterised(conditions.to_vec(), path.rels);
            self.planner.pruning(rel, &branch, &conditions)
        });
        let members = self.planner.members(rel).iter().map(|member| vec![member.rel]).collect();
        Some(Box::new(Tree { rels: vec![rel], members, pruning }))
    }
}

/// The parts of a join, and in place of a part that is such parts itself, those; merged ones stay as they are.
fn flattened(plans: Vec<Plan>, each: &[Places], any_order: bool) -> (Vec<Plan>, Tree) {
    let rels: Vec<RelId> = each.first().map_or(Vec::new(), |p| p.iter().map(|(rel, _)| *rel).collect());
    let mut tree = Tree { rels, members: Vec::new(), pruning: None };
    let mut all = Vec::with_capacity(plans.len());
    for (plan, places) in plans.into_iter().zip(each) {
        let own: Vec<RelId> = places.iter().map(|(_, member)| member.rel).collect();
        let below = match &plan.node {
            Node::Append { tree: Some(below), .. } if any_order => own
                .iter()
                .map(|rel| below.rels.iter().position(|of| of == rel))
                .collect::<Option<Vec<usize>>>(),
            _ => None,
        };
        match (plan.node, below) {
            (Node::Append { children, tree: Some(below_tree) }, Some(below)) => {
                let own = |members: &Vec<RelId>| below.iter().map(|at| members[*at]).collect::<Vec<_>>();
                tree.members.extend(below_tree.members.iter().map(own));
                all.extend(children);
            }
            (node, _) => {
                tree.members.push(own);
                all.push(Plan { node, ..plan });
            }
        }
    }
    (all, tree)
}
