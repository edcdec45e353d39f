//! # What
//! Grouping sets: which of them one pass over sorted rows serves ([`Rollup`]), and which are better hashed.
//!
//! Sets of which each contains the next form a chain: rows that are sorted by the keys of the largest, in the order in which the others end, have the
//! groups of all of them together. There are as few chains as may be, which a matching of sets to smaller ones finds.
//!
//! # PostgreSQL counterpart and differences
//! `extract_rollup_sets`, `reorder_grouping_sets` and `consider_groupingsets_paths` of `optimizer/plan/planner.c`. Which sets are hashed beside
//! sorted ones is decided by size alone, smallest first: each counts the same.

use std::collections::VecDeque;

use base::{SqlError, SqlResult, sql_err};

use crate::cost::{CallWork, clamp_rows};
use crate::expr::{Expr, SortKey};
use crate::level::Level;
use crate::logical::Block;
use crate::path::PathKey;
use crate::plan::{AggStrategy, Cost, Node, Plan, Rollup, SortKeys};
use crate::planner::Planner;
use crate::sorting::Wanted;

/// How grouping sets are computed.
pub(crate) struct SetPlan {
    pub strategy: AggStrategy,
    pub rollups: Vec<Rollup>,
    /// The order that the input is brought into.
    pub input: Wanted,
    pub startup: f64,
    pub total: f64,
    pub groups: f64,
}

/// Grouping sets, their keys, and what they are computed over.
pub(crate) struct SetInput<'a> {
    pub keys: &'a [Expr],
    pub sets: &'a [Vec<usize>],
    /// Number of aggregates.
    pub calls: CallWork,
    /// Whether the aggregates allow a hash table.
    pub hashable: bool,
    /// Of the input.
    pub cost: Cost,
    /// The same.
    pub order: &'a [PathKey],
}

impl Rollup {
    fn sorted(sets: Vec<Vec<usize>>) -> Rollup {
        Rollup { hashed: false, sets }
    }

    /// Sets that are hashed, each for itself.
    fn hashed(sets: &[Vec<usize>]) -> impl Iterator<Item = Rollup> {
        sets.iter().map(|set| Rollup { hashed: true, sets: vec![set.clone()] })
    }

    /// Positions of the keys that rows are sorted by.
    pub fn keys(&self) -> &[usize] {
        self.sets.first().map_or(&[], Vec::as_slice)
    }
}

impl Planner<'_> {
    /// The cheapest way to compute grouping sets.
    pub(crate) fn plan_sets(
        &mut self,
        input: &SetInput<'_>,
        block: &Block,
        level: &mut Level,
    ) -> SqlResult<SetPlan> {
        let sortable =
            |set: &&Vec<usize>| set.iter().all(|key| self.types.is_ordered(input.keys[*key].type_oid()));
        let (sorted, unsorted): (Vec<_>, Vec<_>) = input.sets.iter().partition(sortable);
        let sorted: Vec<Vec<usize>> = sorted.into_iter().cloned().collect();
        let unsorted: Vec<Vec<usize>> = unsorted.into_iter().cloned().collect();
        let chains = chains(&sorted, &preferred(block, input.keys));
        let mut ways = vec![in_order(&chains, &unsorted)];
        let hashable = |set: &[usize]| {
            input.hashable && set.iter().all(|key| self.types.is_hashed(input.keys[*key].type_oid()))
        };
        if unsorted.iter().any(|set| !hashable(set)) {
            return Err(neither());
        }
        if let Some((first, others)) = chains.split_first() {
            let others: Vec<_> =
                others.iter().map(|chain| (chain, chain.iter().all(|set| hashable(set)))).collect();
            ways.extend(self.beside_one(input, first, &others, &unsorted));
        }
        if input.sets.iter().all(|set| hashable(set)) {
            ways.push(hash_all(&chains, &unsorted));
        }
        let ways: Vec<SetPlan> =
            ways.into_iter().map(|rollups| self.price_sets(input, rollups, level)).collect();
        let with_sort = |way: &SetPlan| {
            let sorted = order_of_rollups(&way.rollups, input.keys).starts_with(&block.sort);
            let cost = Cost { startup: way.startup, total: way.total, rows: way.groups, ..input.cost };
            if sorted { way.total } else { self.sort_cost(cost, &block.sort, 0, None).1 }
        };
        let best = ways.into_iter().min_by(|a, b| with_sort(a).total_cmp(&with_sort(b)));
        best.ok_or_else(|| SqlError::internal("no plan for grouping sets"))
    }

    /// One chain in order, and of the others as many hashed as have room.
    fn beside_one(
        &self,
        input: &SetInput<'_>,
        first: &[Vec<usize>],
        others: &[(&Vec<Vec<usize>>, bool)],
        unsorted: &[Vec<usize>],
    ) -> Option<Vec<Rollup>> {
        let settings = self.settings();
        let bytes = settings.group_bytes(input.cost.width, input.calls.calls);
        let size =
            |chain: &[Vec<usize>]| chain.iter().map(|set| self.set_groups(input, set) * bytes).sum::<f64>();
        let mut taken = size(unsorted);
        let mut by_size: Vec<(f64, usize)> = others
            .iter()
            .enumerate()
            .filter(|(_, (_, hashable))| *hashable)
            .map(|(i, (chain, _))| (size(chain), i))
            .collect();
        by_size.sort_by(|a, b| a.0.total_cmp(&b.0));
        let fits = |(size, number): &(f64, usize)| {
            taken += size;
            (taken <= settings.hash_mem()).then_some(*number)
        };
        let hashed: Vec<usize> = by_size.iter().map_while(fits).collect();
        if hashed.is_empty() {
            return None;
        }
        let mut rollups: Vec<Rollup> = Rollup::hashed(unsorted).collect();
        hashed.iter().for_each(|i| rollups.extend(Rollup::hashed(others[*i].0)));
        rollups.push(Rollup::sorted(first.to_vec()));
        let rest = others.iter().enumerate().filter(|(i, _)| !hashed.contains(i));
        rollups.extend(rest.map(|(_, (chain, _))| Rollup::sorted(chain.to_vec())));
        Some(rollups)
    }

    fn set_groups(&self, input: &SetInput<'_>, set: &[usize]) -> f64 {
        let keys: Vec<Expr> = set.iter().map(|key| input.keys[*key].clone()).collect();
        self.group_count(&keys, input.cost.rows)
    }

    fn price_sets(&self, input: &SetInput<'_>, rollups: Vec<Rollup>, level: &mut Level) -> SetPlan {
        let settings = self.settings();
        let first = rollups.iter().find(|rollup| !rollup.hashed).map_or(&[][..], Rollup::keys);
        let keys = first.iter().map(|key| input.keys[*key].clone()).collect();
        let wanted = level.wanted(&SortKeys::ascending(keys).0);
        let (startup, total) = self.sorted_cost(input.cost, &wanted, input.order, None);
        let hashed = rollups.iter().any(|rollup| rollup.hashed);
        let sorted = rollups.iter().any(|rollup| !rollup.hashed);
        let mut rest = Cost { startup, total, ..input.cost };
        let (mut startup, mut groups) = (None, 0.0);
        let mut total = 0.0;
        let mut in_order = false;
        for rollup in &rollups {
            let count = rollup.sets.iter().map(|set| self.set_groups(input, set)).sum::<f64>();
            let keys = rollup.keys().len() as f64;
            if !rollup.hashed && std::mem::replace(&mut in_order, true) {
                let (startup, total) = settings.sort(0.0, rest.rows, rest.width, None);
                rest = Cost { startup: rest.startup + startup, total: rest.total + total, ..rest };
            }
            let (first, whole) = settings.aggregate(rest, rollup.hashed, keys, input.calls, count);
            startup.get_or_insert(if sorted { rest.startup } else { first });
            total += whole;
            groups += count;
            rest = Cost { startup: 0.0, total: 0.0, ..rest };
        }
        let strategy = match (hashed, sorted) {
            (true, true) => AggStrategy::Mixed,
            (true, false) => AggStrategy::Hashed,
            (false, _) if first.is_empty() => AggStrategy::Plain,
            (false, _) => AggStrategy::Sorted,
        };
        let startup = if strategy == AggStrategy::Plain { total } else { startup.unwrap_or(total) };
        SetPlan { strategy, rollups, input: wanted, startup, total, groups: clamp_rows(groups) }
    }
}

/// A key can only be hashed, and something keeps it from being hashed.
pub(crate) fn neither() -> SqlError {
    let detail = "Some of the datatypes only support hashing, while others only support sorting.";
    sql_err!(FEATURE_NOT_SUPPORTED, "could not implement GROUP BY").detail(detail)
}

/// The order of the rows that a plan of grouping sets gives.
pub(crate) fn order_of(plan: &Plan) -> Vec<SortKey> {
    match &plan.node {
        Node::Aggregate { keys, rollups, .. } => order_of_rollups(rollups, keys),
        _ => Vec::new(),
    }
}

/// The groups of one pass come in the order of its keys: those that a set does not have are NULL, and NULLs are last.
fn order_of_rollups(rollups: &[Rollup], keys: &[Expr]) -> Vec<SortKey> {
    match rollups {
        [only] if !only.hashed => {
            SortKeys::ascending(only.keys().iter().map(|key| keys[*key].clone()).collect()).0
        }
        _ => Vec::new(),
    }
}

/// The keys that the result is ordered by first.
pub(crate) fn preferred(block: &Block, keys: &[Expr]) -> Vec<usize> {
    let at = |key: &SortKey| keys.iter().position(|e| *e == key.expr);
    block.sort.iter().map_while(at).collect()
}

/// Every chain by sorting.
fn in_order(chains: &[Vec<Vec<usize>>], unsorted: &[Vec<usize>]) -> Vec<Rollup> {
    let sorted = chains.iter().map(|chain| Rollup::sorted(chain.clone()));
    Rollup::hashed(unsorted).chain(sorted).collect()
}

/// All that have keys by hashing.
fn hash_all(chains: &[Vec<Vec<usize>>], unsorted: &[Vec<usize>]) -> Vec<Rollup> {
    let sets: Vec<Vec<usize>> = unsorted.iter().chain(chains.iter().flatten()).cloned().collect();
    let (with, without): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| !set.is_empty());
    let sorted = (!without.is_empty()).then(|| Rollup::sorted(without));
    Rollup::hashed(&with).chain(sorted).collect()
}

/// As few chains of sets as may be: in each the largest is first, and the keys of each set begin those of the one before. Where there is one chain
/// its keys are in the order `preferred` as far as its sets allow.
pub(crate) fn chains(sets: &[Vec<usize>], preferred: &[usize]) -> Vec<Vec<Vec<usize>>> {
    let (empty, mut others): (Vec<_>, Vec<_>) = sets.iter().partition(|set| set.is_empty());
    others.sort_by_key(|set| set.len());
    // Sets of the same keys are one.
    let mut distinct: Vec<(Vec<usize>, Vec<&Vec<usize>>)> = Vec::new();
    for set in others {
        let mut members = set.clone();
        members.sort_unstable();
        match distinct
            .iter_mut()
            .rev()
            .take_while(|(m, _)| m.len() == members.len())
            .find(|(m, _)| *m == members)
        {
            Some((_, same)) => same.push(set),
            None => distinct.push((members, vec![set])),
        }
    }
    let members: Vec<&[usize]> = distinct.iter().map(|(members, _)| members.as_slice()).collect();
    let smaller = match_smaller(&members);
    let mut chain_of: Vec<usize> = Vec::new();
    let mut out: Vec<Vec<&Vec<usize>>> = Vec::new();
    for (i, (_, same)) in distinct.iter().enumerate() {
        let chain = match smaller[i] {
            Some(below) => chain_of[below],
            None => {
                out.push(Vec::new());
                out.len() - 1
            }
        };
        chain_of.push(chain);
        out[chain].extend(same);
    }
    if out.is_empty() && !empty.is_empty() {
        out.push(Vec::new());
    }
    if let Some(first) = out.first_mut() {
        first.splice(0..0, empty);
    }
    let preferred = if out.len() == 1 { preferred } else { &[] };
    out.iter().map(|chain| ordered(chain, preferred)).collect()
}

/// For each set a smaller one that it contains, none for two; as many as may be have one. The sets come by their size.
fn match_smaller(sets: &[&[usize]]) -> Vec<Option<usize>> {
    let contains = |large: &[usize], small: &[usize]| small.iter().all(|k| large.binary_search(k).is_ok());
    let within = |i: usize| {
        let sizes = move |j: &usize| sets[*j].len() < sets[i].len();
        (0..i).filter(sizes).filter(|j| contains(sets[i], sets[*j])).collect::<Vec<_>>()
    };
    let within: Vec<Vec<usize>> = (0..sets.len()).map(within).collect();
    let mut smaller = vec![None; sets.len()];
    let mut larger = vec![None; sets.len()];
    (0..sets.len()).for_each(|set| augment(set, &within, &mut smaller, &mut larger));
    smaller
}

/// Finds one for `set`, where others may take another one instead.
fn augment(set: usize, within: &[Vec<usize>], smaller: &mut [Option<usize>], larger: &mut [Option<usize>]) {
    let mut reached: Vec<Option<usize>> = vec![None; within.len()];
    let mut queue = VecDeque::from([set]);
    while let Some(at) = queue.pop_front() {
        for &below in &within[at] {
            if reached[below].is_some() {
                continue;
            }
            reached[below] = Some(at);
            if let Some(holder) = larger[below] {
                queue.push_back(holder);
                continue;
            }
            let mut free = Some(below);
            while let Some(below) = free
                && let Some(taker) = reached[below]
            {
                larger[below] = Some(taker);
                free = smaller[taker].replace(below);
            }
            return;
        }
    }
}

/// A chain whose smallest set is first, turned round, with its keys in the order in which sets add them.
fn ordered(chain: &[&Vec<usize>], mut preferred: &[usize]) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = Vec::new();
    let mut keys: Vec<usize> = Vec::new();
    for set in chain {
        let mut new: Vec<usize> = set.iter().copied().filter(|key| !keys.contains(key)).collect();
        while let Some(next) = preferred.get(keys.len()) {
            let Some(at) = new.iter().position(|key| key == next) else {
                if !new.is_empty() {
                    preferred = &[];
                }
                break;
            };
            keys.push(new.remove(at));
        }
        keys.extend(new);
        out.push(keys.clone());
    }
    out.reverse();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sets: &[&[usize]], preferred: &[usize]) -> Vec<Vec<Vec<usize>>> {
        chains(&sets.iter().map(|set| set.to_vec()).collect::<Vec<_>>(), preferred)
    }

    #[test]
    fn a_rollup_is_one_chain() {
        assert_eq!(
            of(&[&[0, 1, 2], &[0, 1], &[0], &[]], &[]),
            [[vec![0, 1, 2], vec![0, 1], vec![0], vec![]]]
        );
        assert_eq!(of(&[&[], &[2], &[0, 2]], &[]), [[vec![2, 0], vec![2], vec![]]]);
    }

    #[test]
    fn a_cube_needs_as_many_chains_as_sets_of_its_middle_size() {
        for (keys, wanted) in [(2, 2), (3, 3), (4, 6), (5, 10)] {
            let sets: Vec<Vec<usize>> = (0..1usize << keys)
                .map(|bits| (0..keys).filter(|key| bits >> key & 1 == 1).collect())
                .collect();
            let found = chains(&sets, &[]);
            assert_eq!(found.len(), wanted);
            assert_eq!(found.iter().map(Vec::len).sum::<usize>(), sets.len());
            for chain in &found {
                assert!(chain.windows(2).all(|pair| pair[0].starts_with(&pair[1])), "{chain:?}");
            }
        }
    }

    #[test]
    fn sets_that_are_repeated_stay_and_share_a_chain() {
        assert_eq!(of(&[&[0, 1], &[1, 0], &[0, 1]], &[]), [[vec![0, 1], vec![0, 1], vec![0, 1]]]);
        assert_eq!(of(&[&[], &[]], &[]), [[vec![], Vec::<usize>::new()]]);
    }

    #[test]
    fn one_set_gives_its_smaller_one_to_another_that_has_no_choice() {
        // {0, 1} may have {0} or {1}, and {1, 2} only {1}.
        let found = of(&[&[0], &[1], &[0, 1], &[1, 2]], &[]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn keys_come_as_the_result_is_ordered() {
        assert_eq!(of(&[&[0, 1, 2]], &[2, 0]), [[vec![2, 0, 1]]]);
        assert_eq!(of(&[&[0, 1, 2], &[1]], &[2, 0]), [[vec![1, 0, 2], vec![1]]]);
        assert_eq!(of(&[&[0, 1], &[2, 3]], &[1]), [[vec![0, 1]], [vec![2, 3]]]);
    }
}
