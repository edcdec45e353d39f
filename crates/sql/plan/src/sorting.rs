//! Sorting a plan's rows: all at once, or, where they come sorted by the first keys, group by group.
//!
//! # PostgreSQL counterpart
//! `cost_incremental_sort` of `optimizer/path/costsize.c`, `create_ordered_paths` of `optimizer/plan/planner.c`.

use crate::create::wrap_sort;
use crate::expr::SortKey;
use crate::path::{PathKey, shared_keys};
use crate::plan::{Cost, Node, Plan, SortKeys};
use crate::planner::Planner;
use crate::selectivity;

/// An order that rows are to come in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Keys, without those that are constant or follow from earlier ones.
    pub keys: Vec<SortKey>,
    /// The same as keys of paths.
    pub order: Vec<PathKey>,
}

impl Wanted {
    /// Whether rows that come in the order `have` come in this one.
    pub fn is_met_by(&self, have: &[PathKey]) -> bool {
        shared_keys(have, &self.order) == self.order.len()
    }
}

impl Planner<'_> {
    /// By how many of the keys rows are taken to be sorted that come in the order `have`.
    pub(crate) fn presorted(&self, wanted: &[PathKey], have: &[PathKey]) -> usize {
        let shared = shared_keys(have, wanted);
        if shared == wanted.len() || self.settings().enable_incremental_sort { shared } else { 0 }
    }

    /// What rows cost, start-up and total, that cost `input`, come in the order `have` and are brought into the one that is wanted.
    pub(crate) fn sorted_cost(
        &self,
        input: Cost,
        wanted: &Wanted,
        have: &[PathKey],
        limit: Option<f64>,
    ) -> (f64, f64) {
        self.sort_cost(input, &wanted.keys, self.presorted(&wanted.order, have), limit)
    }

    /// The same of rows that are sorted by the first `presorted` of the keys.
    pub(crate) fn sort_cost(
        &self,
        input: Cost,
        keys: &[SortKey],
        presorted: usize,
        limit: Option<f64>,
    ) -> (f64, f64) {
        match presorted {
            _ if presorted == keys.len() => (input.startup, input.total),
            0 => self.settings().sort(input.total, input.rows, input.width, limit),
            _ => {
                let first = keys[..presorted].iter();
                let values = first.map(|key| selectivity::distinct_values(self, &key.expr, input.rows));
                let groups = values.product::<f64>().min(input.rows);
                self.settings().incremental_sort(input, groups, limit)
            }
        }
    }

    /// Brings rows that come in the order `have` into the one that is wanted.
    pub(crate) fn sorted(&self, child: Plan, wanted: &Wanted, have: &[PathKey], limit: Option<f64>) -> Plan {
        let presorted = self.presorted(&wanted.order, have);
        self.sort_rest(child, wanted.keys.clone(), presorted, limit)
    }

    /// Sorts rows that are sorted by the first `presorted` of the keys.
    pub(crate) fn sort_rest(
        &self,
        child: Plan,
        keys: Vec<SortKey>,
        presorted: usize,
        limit: Option<f64>,
    ) -> Plan {
        if presorted == keys.len() {
            return child;
        }
        if presorted == 0 {
            return wrap_sort(child, SortKeys(keys), limit, self);
        }
        let (startup, total) = self.sort_cost(child.cost, &keys, presorted, limit);
        let cost = Cost { startup, total, ..child.cost };
        let output = child.output.clone();
        let node = Node::IncrementalSort { child: Box::new(child), keys, presorted };
        Plan { cost, output, filter: Vec::new(), node }
    }
}
