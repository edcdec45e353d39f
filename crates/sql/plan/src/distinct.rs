//! DISTINCT by several participants: each makes its part of the rows distinct by hashing, and what they have comes together and is made distinct again.
//!
//! # PostgreSQL counterpart
//! `create_partial_distinct_paths` of `optimizer/plan/planner.c`.

use crate::cost::{CallWork, clamp_rows};
use crate::create::wrap_sort;
use crate::level::Level;
use crate::logical::Block;
use crate::parallel::{Team, is_safe};
use crate::path::PathKey;
use crate::plan::{AggStrategy, Cost, Node, Plan, SortKeys, Split};
use crate::planner::Planner;
use crate::selectivity;
use crate::sorting::Wanted;
use crate::upper::{distinct_keys, final_exprs, has_set};

/// How rows are made distinct in parts, and what it costs.
pub(crate) struct PartsWay {
    /// One participant's rows.
    partial: Cost,
    /// Those of all.
    gathered: Cost,
    /// They come sorted.
    merge: bool,
    /// The result.
    total: f64,
    /// The same with the sort above.
    pub price: f64,
}

impl Planner<'_> {
    /// Whether a level's rows may be made distinct in parts.
    pub(crate) fn is_distinct_in_parts(&self, block: &Block) -> bool {
        let plain = !block.distinct.is_empty() && !block.distinct_on;
        plain
            && block.windows.is_empty()
            && !has_set(block)
            && block.distinct.iter().all(|key| self.types.hashes(key))
            && final_exprs(block).iter().all(is_safe)
    }

    /// What it costs to make parts of the rows distinct, each of which costs `part`, and then all of them. The orders are those of `distinct_way`.
    pub(crate) fn distinct_parts_way(
        &self,
        block: &Block,
        part: Cost,
        team: Team,
        (wanted, above): (&Wanted, &Wanted),
    ) -> PartsWay {
        let settings = self.settings();
        let count = block.distinct.len() as f64;
        let hashed = |input: Cost, rows: f64| {
            let groups = clamp_rows(selectivity::groups(self, &block.distinct, rows));
            let (startup, total) = settings.aggregate(input, true, count, CallWork::default(), groups);
            Cost { startup, total, rows: groups, ..input }
        };
        let partial = hashed(part, part.rows);
        let rows = clamp_rows(partial.rows * settings.participants(team.workers));
        let gathered = settings.gather(partial, rows);
        let result = hashed(gathered, team.rows);
        let by_hash = self.sorted_cost(result, above, &[], None).1;
        let (startup, total) = self.sorted_cost(partial, wanted, &[], None);
        let merged = settings.gather_merge(Cost { startup, total, ..partial }, rows, team.workers);
        let by_order = merged.total + rows * count * settings.cpu_operator_cost;
        let sortable = !wanted.keys.is_empty() && block.distinct.iter().all(|key| self.types.orders(key));
        // Of two that cost about the same, the one in order may serve more.
        match sortable && by_order <= by_hash * 1.01 {
            true => PartsWay { partial, gathered: merged, merge: true, total: by_order, price: by_order },
            false => PartsWay { partial, gathered, merge: false, total: result.total, price: by_hash },
        }
    }

    /// Makes parts of the rows distinct, and all of them.
    pub(crate) fn distinct_parts(
        &mut self,
        block: &Block,
        child: Plan,
        team: Team,
        order: &mut Vec<PathKey>,
        level: &mut Level,
    ) -> Plan {
        let wanted = level.wanted(&distinct_keys(block));
        let above = level.wanted(&block.sort);
        let way = self.distinct_parts_way(block, child.cost, team, (&wanted, &above));
        let output = child.output.clone();
        let plan = |cost: Cost, node| Plan { cost, output: output.clone(), filter: Vec::new(), node };
        let hashed = |child| Node::Aggregate {
            strategy: AggStrategy::Hashed,
            split: Split::Whole,
            child: Box::new(child),
            keys: block.distinct.clone(),
            rollups: Vec::new(),
            calls: Vec::new(),
        };
        let mut part = plan(way.partial, hashed(child));
        if way.merge {
            part = wrap_sort(part, SortKeys(wanted.keys), None, self);
        }
        self.gathers = true;
        let (child, workers) = (Box::new(part), team.workers);
        let node = Node::Gather { child, workers, merge: way.merge, single_copy: false };
        let gathered = plan(way.gathered, node);
        let rows = clamp_rows(selectivity::groups(self, &block.distinct, team.rows));
        let (startup, total) = (way.gathered.startup, way.total);
        let cost = Cost { rows, startup: if way.merge { startup } else { total }, total, ..way.gathered };
        *order = if way.merge { wanted.order } else { Vec::new() };
        match way.merge {
            true => plan(cost, Node::Unique { child: Box::new(gathered), columns: block.distinct.clone() }),
            false => plan(cost, hashed(gathered)),
        }
    }
}
