//! Grouping: sorted or hashed, and what either costs.

use crate::cost::clamp_rows;
use crate::create::add_unique;
use crate::expr::{AggCall, Expr};
use crate::level::Level;
use crate::logical::Block;
use crate::path::PathKey;
use crate::plan::{AggStrategy, Cost, Node, Plan, SortKeys};
use crate::planner::Planner;
use crate::selectivity;
use crate::sorting::Wanted;
use crate::upper::output_width;

/// How rows may be grouped.
pub(crate) struct GroupWays<'k> {
    keys: &'k [Expr],
    /// Aggregates.
    calls: f64,
    hashable: bool,
    sortable: bool,
}

impl Planner<'_> {
    /// Groups the rows of `child` and computes the aggregates.
    pub(crate) fn aggregate(
        &mut self,
        block: &Block,
        child: Plan,
        order: &mut Vec<PathKey>,
        level: &mut Level,
        output: Vec<Expr>,
    ) -> Plan {
        let mut calls: Vec<AggCall> = Vec::new();
        for expr in output.iter().chain(&block.having) {
            collect_calls(expr, &mut calls);
        }
        let mut keys: Vec<Expr> = Vec::new();
        block.group.iter().for_each(|e| add_unique(&mut keys, e.clone()));
        let input = child.cost;
        let settings = self.settings();
        let sort_keys = SortKeys::ascending(keys.clone()).0;
        let wanted = level.wanted(&sort_keys);
        let ways = self.group_ways(&keys, &calls);
        let mut child = child;
        let strategy = if !block.grouping_sets.is_empty() {
            // Aggregates that keep their rows would keep those of all groups of all sets.
            match (ways.hashable, block.grouping_sets.iter().any(Vec::is_empty)) {
                (true, true) => AggStrategy::Mixed,
                (true, false) => AggStrategy::Hashed,
                (false, _) => AggStrategy::Sorted,
            }
        } else if keys.is_empty() {
            AggStrategy::Plain
        } else {
            if self.group_cost(&ways, input, &wanted, order).0 {
                AggStrategy::Hashed
            } else {
                child = self.sorted(child, &wanted, order, None);
                AggStrategy::Sorted
            }
        };
        let (count, number) = (keys.len() as f64, calls.len() as f64);
        let groups = self.group_count(&keys, input.rows);
        let hashed = matches!(strategy, AggStrategy::Hashed | AggStrategy::Mixed);
        let (startup, total) = settings.aggregate(child.cost, hashed, count, number, groups);
        match strategy {
            AggStrategy::Sorted if block.grouping_sets.is_empty() => *order = wanted.order,
            _ => order.clear(),
        }
        let width = output_width(&output);
        let share = selectivity::conjunction(self, &block.having);
        let cost = Cost { startup, total, rows: clamp_rows(groups * share), width };
        let sets = key_sets(block, &keys);
        let node = Node::Aggregate { strategy, child: Box::new(child), keys, sets, calls };
        Plan { cost, output, filter: block.having.clone(), node }
    }

    /// How many groups `rows` rows are in.
    fn group_count(&self, keys: &[Expr], rows: f64) -> f64 {
        if keys.is_empty() {
            return 1.0;
        }
        selectivity::groups(self, keys, rows)
    }

    /// Which ways to group by `keys` there are.
    pub(crate) fn group_ways<'k>(&self, keys: &'k [Expr], calls: &[AggCall]) -> GroupWays<'k> {
        let hashable = keys.iter().all(|k| self.types.is_hashed(k.type_oid()))
            && !calls.iter().any(|c| c.distinct || !c.order.is_empty());
        let sortable = keys.iter().all(|k| self.types.is_ordered(k.type_oid()));
        GroupWays { keys, calls: calls.len() as f64, hashable, sortable }
    }

    /// Whether to group rows by hashing, and what the better way costs: start-up and total. `wanted`: the order of the keys, `have`: that of
    /// the rows.
    pub(crate) fn group_cost(
        &self,
        ways: &GroupWays<'_>,
        input: Cost,
        wanted: &Wanted,
        have: &[PathKey],
    ) -> (bool, (f64, f64)) {
        let settings = self.settings();
        let groups = self.group_count(ways.keys, input.rows);
        let count = ways.keys.len() as f64;
        let by_hash = settings.aggregate(input, true, count, ways.calls, groups);
        let (startup, total) = self.sorted_cost(input, wanted, have, None);
        let in_order = Cost { startup, total, ..input };
        let by_sort = settings.aggregate(in_order, false, count, ways.calls, groups);
        match ways.hashable && (by_hash.1 < by_sort.1 || !ways.sortable) {
            true => (true, by_hash),
            false => (false, by_sort),
        }
    }
}

/// The grouping sets as indexes into `keys`, which has each grouping expression once.
fn key_sets(block: &Block, keys: &[Expr]) -> Vec<Vec<usize>> {
    let place = |number: &usize| keys.iter().position(|k| *k == block.group[*number]);
    let set = |set: &Vec<usize>| {
        let mut out: Vec<usize> = set.iter().filter_map(place).collect();
        let mut seen = Vec::new();
        out.retain(|k| {
            !seen.contains(k) && {
                seen.push(*k);
                true
            }
        });
        out
    };
    block.grouping_sets.iter().map(set).collect()
}

/// The aggregates of an expression, each once.
pub(crate) fn collect_calls(expr: &Expr, out: &mut Vec<AggCall>) {
    if let Expr::Aggregate(call) = expr {
        if !out.contains(call) {
            out.push((**call).clone());
        }
    } else {
        expr.for_children(&mut |child| collect_calls(child, out));
    }
}
