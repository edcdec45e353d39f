//! Grouping: sorted or hashed, and what either costs.

use base::SqlResult;

use crate::aggregate::Steps;
use crate::cost::{CallWork, clamp_rows};
use crate::create::add_unique;
use crate::expr::{AggCall, Expr, SortKey};
use crate::grouping_sets::{SetInput, chains, neither, preferred};
use crate::level::Level;
use crate::logical::Block;
use crate::ordered_calls;
use crate::parallel::{Team, is_safe, is_splittable};
use crate::path::PathKey;
use crate::plan::{AggStrategy, Cost, Node, Plan, SortKeys, Split};
use crate::planner::Planner;
use crate::selectivity;
use crate::sorting::Wanted;
use crate::upper::output_width;

/// What rows are grouped by, and what is known of the ways to do it.
pub(crate) struct Grouping {
    /// The keys in which groups differ, those first that ORDER BY begins with.
    keys: Vec<SortKey>,
    /// The order by these, then by what serves most aggregates; how many are keys.
    order: Wanted,
    count: usize,
    work: CallWork,
    /// Aggregates whose states workers hand on as bytes.
    packed: f64,
    hashable: bool,
    sortable: bool,
    /// The order that the groups are brought into afterwards.
    above: Wanted,
}

/// A way to group rows.
pub(crate) struct GroupWay {
    /// The order that they are brought into; none if they are hashed.
    order: Option<Wanted>,
    /// Cost of the first group.
    pub startup: f64,
    /// Cost of all.
    total: f64,
    /// The same with the sort above.
    pub price: f64,
}

/// Grouping of parts of the rows, whose groups are merged: what it costs.
pub(crate) struct SplitWay {
    /// One participant's groups.
    partial: Cost,
    /// Those of all participants.
    gathered: Cost,
    /// The groups merged.
    merged: Cost,
    /// The same with the sort above.
    pub price: f64,
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
    ) -> SqlResult<Plan> {
        let mut calls: Vec<AggCall> = Vec::new();
        for expr in output.iter().chain(&block.having) {
            collect_calls(expr, &mut calls);
        }
        if !block.grouping_sets.is_empty() {
            return self.aggregate_sets(block, child, (grouping_keys(block), calls), order, level, output);
        }
        let grouping = self.grouping(block, &calls, level);
        if !grouping.hashable && !grouping.sortable {
            return Err(neither());
        }
        let way = self.group_way(&grouping, child.cost, order);
        let groups = self.group_count(&grouping.exprs(), child.cost.rows);
        let mut keys = grouping.exprs();
        let (strategy, child) = match &way.order {
            None => (AggStrategy::Hashed, child),
            Some(wanted) => {
                if self.settings().enable_presorted_aggregate {
                    ordered_calls::note_served(&mut calls, &grouping.keys, &grouping.order, level);
                }
                // Keys that one value has, or others tell, are in no order.
                keys.sort_by_key(|key| wanted.keys.iter().position(|k| k.expr == *key));
                let strategy = if keys.is_empty() { AggStrategy::Plain } else { AggStrategy::Sorted };
                (strategy, self.sorted(child, wanted, order, None))
            }
        };
        *order = way.order.map_or_else(Vec::new, |wanted| wanted.order);
        order.truncate(grouping.count);
        let share = selectivity::conjunction(self, &block.having);
        let rows = clamp_rows(groups * share);
        let cost = Cost { startup: way.startup, total: way.total, rows, width: output_width(&output) };
        let node = Node::Aggregate {
            strategy,
            split: Split::Whole,
            child: Box::new(child),
            keys,
            rollups: Vec::new(),
            calls,
        };
        Ok(Plan { cost, output, filter: block.having.clone(), node })
    }

    /// The same of the rows that one participant gets, and the merging of what all have.
    pub(crate) fn aggregate_parts(
        &mut self,
        block: &Block,
        child: Plan,
        team: Team,
        level: &mut Level,
        output: Vec<Expr>,
    ) -> Plan {
        let mut calls: Vec<AggCall> = Vec::new();
        for expr in output.iter().chain(&block.having) {
            collect_calls(expr, &mut calls);
        }
        let grouping = self.grouping(block, &calls, level);
        let way = self.split_way(&grouping, child.cost, team);
        let keys = grouping.exprs();
        let strategy = if keys.is_empty() { AggStrategy::Plain } else { AggStrategy::Hashed };
        let mut states = keys.clone();
        states.extend(calls.iter().map(|call| Expr::Aggregate(Box::new(call.clone()))));
        let width = output_width(&states);
        let node = |split, child, keys, calls| {
            let (child, rollups) = (Box::new(child), Vec::new());
            Node::Aggregate { strategy, split, child, keys, rollups, calls }
        };
        let partial = Plan {
            cost: Cost { width, ..way.partial },
            output: states.clone(),
            filter: Vec::new(),
            node: node(Split::Partial, child, keys.clone(), calls.clone()),
        };
        self.gathers = true;
        let gathered = Plan {
            cost: Cost { width, ..way.gathered },
            output: states,
            filter: Vec::new(),
            node: Node::Gather {
                child: Box::new(partial),
                workers: team.workers,
                merge: false,
                single_copy: false,
            },
        };
        let share = selectivity::conjunction(self, &block.having);
        let rows = clamp_rows(way.merged.rows * share);
        Plan {
            cost: Cost { rows, width: output_width(&output), ..way.merged },
            output,
            filter: block.having.clone(),
            node: node(Split::Final, gathered, keys, calls),
        }
    }

    /// What it costs to group parts of the rows, each of which costs `part`, and to merge the groups.
    pub(crate) fn split_way(&self, grouping: &Grouping, part: Cost, team: Team) -> SplitWay {
        let settings = self.settings();
        let keys = grouping.exprs();
        let work = grouping.work;
        let grouped = |input: Cost, rows: f64, work: CallWork| {
            let groups = self.group_count(&keys, rows);
            let (startup, total) =
                settings.aggregate(input, !keys.is_empty(), keys.len() as f64, work, groups);
            Cost { startup, total, rows: groups, ..input }
        };
        let partial = grouped(part, part.rows, CallWork { group: grouping.packed, ..work });
        let rows = clamp_rows(partial.rows * settings.participants(team.workers));
        let gathered = settings.gather(partial, rows);
        let merging = CallWork { row: work.calls + grouping.packed, ..work };
        let merged = grouped(gathered, team.rows, merging);
        let price = self.sorted_cost(merged, &grouping.above, &[], None).1;
        SplitWay { partial, gathered, merged, price }
    }

    /// The same of grouping sets.
    fn aggregate_sets(
        &mut self,
        block: &Block,
        child: Plan,
        (keys, calls): (Vec<Expr>, Vec<AggCall>),
        order: &mut Vec<PathKey>,
        level: &mut Level,
        output: Vec<Expr>,
    ) -> SqlResult<Plan> {
        let sets = key_sets(block, &keys);
        let input = SetInput {
            keys: &keys,
            sets: &sets,
            calls: work_of(&calls, &block.having),
            hashable: keeps_no_rows(&calls),
            cost: child.cost,
            order,
        };
        let way = self.plan_sets(&input, block, level)?;
        let child = self.sorted(child, &way.input, order, None);
        order.clear();
        let share = selectivity::conjunction(self, &block.having);
        let rows = clamp_rows(way.groups * share);
        let cost = Cost { startup: way.startup, total: way.total, rows, width: output_width(&output) };
        let node = Node::Aggregate {
            strategy: way.strategy,
            split: Split::Whole,
            child: Box::new(child),
            keys,
            rollups: way.rollups,
            calls,
        };
        Ok(Plan { cost, output, filter: block.having.clone(), node })
    }

    /// How many groups `rows` rows are in.
    pub(crate) fn group_count(&self, keys: &[Expr], rows: f64) -> f64 {
        if keys.is_empty() {
            return 1.0;
        }
        selectivity::groups(self, keys, rows)
    }

    /// How the rows of a level may be grouped. Its grouping sets are planned otherwise.
    pub(crate) fn grouping(&self, block: &Block, calls: &[AggCall], level: &mut Level) -> Grouping {
        let written = self.without_determined(grouping_keys(block));
        let mut asked: Vec<SortKey> =
            block.sort.iter().take_while(|key| written.contains(&key.expr)).cloned().collect();
        let rest = written.into_iter().filter(|expr| !asked.iter().any(|key| key.expr == *expr)).collect();
        asked.extend(SortKeys::ascending(rest).0);
        // Of keys that are always equal one is enough, and of those that have one value none, but that no rows are no group.
        let mut keys = level.wanted(&asked).keys;
        if keys.is_empty() {
            asked.truncate(1);
            keys = asked;
        }
        let types = &self.types;
        let hashable = !keys.is_empty() && keys.iter().all(|key| types.is_hashed(key.expr.type_oid()));
        let count = level.wanted(&keys).order.len();
        let order = match self.settings().enable_presorted_aggregate {
            true => ordered_calls::order_for(calls, &keys, level),
            false => level.wanted(&keys),
        };
        let direct = block.windows.is_empty() && block.distinct.is_empty();
        Grouping {
            order,
            count,
            work: work_of(calls, &block.having),
            packed: calls.iter().filter(|call| is_packed(call)).count() as f64,
            hashable: hashable && keeps_no_rows(calls),
            sortable: keys.iter().all(|key| types.is_ordered(key.expr.type_oid())),
            above: if direct { level.wanted(&block.sort) } else { Wanted::default() },
            keys,
        }
    }

    /// The cheapest way to group rows that come in the order `have`.
    pub(crate) fn group_way(&self, grouping: &Grouping, input: Cost, have: &[PathKey]) -> GroupWay {
        let settings = self.settings();
        let groups = self.group_count(&grouping.exprs(), input.rows);
        let count = grouping.keys.len() as f64;
        let way = |order: Option<Wanted>, input: Cost| {
            let (startup, total) = settings.aggregate(input, order.is_none(), count, grouping.work, groups);
            let result = Cost { startup, total, rows: groups, ..input };
            let comes = order.as_ref().map_or(&[][..], |order| &order.order[..grouping.count]);
            let price = self.sorted_cost(result, &grouping.above, comes, None).1;
            GroupWay { order, startup, total, price }
        };
        let sorted = |order: Wanted| {
            let (startup, total) = self.sorted_cost(input, &order, have, None);
            way(Some(order), Cost { startup, total, ..input })
        };
        let mut ways = vec![];
        if grouping.sortable || !grouping.hashable {
            ways.push(sorted(grouping.order.clone()));
            if settings.enable_group_by_reordering {
                ways.extend(grouping.led_by(have).map(sorted));
            }
        }
        if grouping.hashable {
            ways.push(way(None, input));
        }
        let cheapest = ways.into_iter().min_by(|a, b| a.price.total_cmp(&b.price));
        cheapest.unwrap_or_else(|| way(None, input))
    }
}

impl Grouping {
    /// The keys without their directions.
    fn exprs(&self) -> Vec<Expr> {
        self.keys.iter().map(|key| key.expr.clone()).collect()
    }

    /// Whether groups of parts of the rows can be merged. Nothing but keys and aggregates is known of a merged group.
    pub(crate) fn is_splittable(&self, calls: &[AggCall], output: &[Expr], having: &[Expr]) -> bool {
        fn tells(keys: &[Expr], expr: &Expr) -> bool {
            if keys.contains(expr) || matches!(expr, Expr::Aggregate(_)) {
                return true;
            }
            let mut told = !matches!(expr, Expr::Var(_) | Expr::Placeholder(_));
            expr.for_children(&mut |child| told = told && tells(keys, child));
            told
        }
        let keys = self.exprs();
        let hashed = keys.is_empty() || self.hashable;
        hashed
            && keys.iter().all(is_safe)
            && calls.iter().all(is_splittable)
            && output.iter().chain(having).all(|expr| tells(&keys, expr))
    }

    /// The order that serves the most, with its keys.
    pub(crate) fn wanted(&self) -> &Wanted {
        &self.order
    }

    /// The order that serves the most.
    pub(crate) fn order(&self) -> &[PathKey] {
        &self.order.order
    }

    /// The keys in the order that rows come in, where they do in that of some; none if that changes nothing.
    fn led_by(&self, have: &[PathKey]) -> Option<Wanted> {
        let keys = &self.order.order[..self.count];
        let places: Vec<usize> = have.iter().map_while(|key| keys.iter().position(|k| k == key)).collect();
        let is_other = places.iter().enumerate().any(|(at, place)| at != *place);
        let rest = (0..self.order.order.len()).filter(|place| !places.contains(place));
        let places: Vec<usize> = places.iter().copied().chain(rest).collect();
        is_other.then(|| Wanted {
            keys: places.iter().map(|place| self.order.keys[*place].clone()).collect(),
            order: places.iter().map(|place| self.order.order[*place]).collect(),
        })
    }
}

/// What rows are best sorted by before they are grouped by sets.
pub(crate) fn sets_sorted_by(block: &Block) -> Vec<Expr> {
    let keys = grouping_keys(block);
    let chains = chains(&key_sets(block, &keys), &preferred(block, &keys));
    let first = chains.first().and_then(|chain| chain.first());
    first.into_iter().flatten().map(|key| keys[*key].clone()).collect()
}

/// The grouping expressions, each once.
fn grouping_keys(block: &Block) -> Vec<Expr> {
    let mut keys = Vec::new();
    block.group.iter().for_each(|e| add_unique(&mut keys, e.clone()));
    keys
}

/// What aggregates, and conditions on their groups, do.
fn work_of(calls: &[AggCall], having: &[Expr]) -> CallWork {
    let of_args = |call: &AggCall| call.args.iter().chain(&call.filter).map(Expr::operators).sum::<f64>();
    let finishes = |call: &AggCall| match &call.steps {
        Steps::Native(row) => row.final_function.is_valid(),
        Steps::User(steps) => steps.plain.finale.is_some(),
    };
    let finished = calls.iter().filter(|call| finishes(call)).count() as f64;
    CallWork {
        calls: calls.len() as f64,
        row: calls.iter().map(|call| 1.0 + of_args(call)).sum(),
        group: finished + having.iter().map(Expr::operators).sum::<f64>(),
    }
}

/// Whether the state of an aggregate is no value of a type.
fn is_packed(call: &AggCall) -> bool {
    matches!(&call.steps, Steps::Native(row) if row.transition_type == types::oids::internal)
}

/// Whether no aggregate keeps the rows of its group: a hash table would have those of all groups.
fn keeps_no_rows(calls: &[AggCall]) -> bool {
    !calls.iter().any(|call| call.distinct || !call.order.is_empty())
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
