//! When the inner side of a nested loop keeps its results by the values that the outer side hands down ([`crate::plan::Node::Memoize`]),
//! and what that saves.
//!
//! # PostgreSQL counterpart
//! `get_memoize_path` of `optimizer/path/joinpath.c`, `cost_memoize_rescan` of `optimizer/path/costsize.c`.

use crate::cost::{Rescan, clamp_rows};
use crate::expr::{CallForm, Expr};
use crate::joins::Search;
use crate::level::{as_equality, compared};
use crate::logical::Source;
use crate::path::{Enforced, Memo, Path};
use crate::plan::Cost;
use crate::relset::RelSet;
use crate::selectivity;

/// Bytes that an entry takes beside its rows, and a row beside its columns.
const ENTRY: f64 = 100.0;
const ROW: f64 = 40.0;

impl Search<'_, '_> {
    /// How `inner` can keep its results while `outer` drives it. `single`: at most one of its rows is read each time. None: it cannot.
    pub(crate) fn memo(&self, outer: &Path, inner: &Path, single: bool) -> Option<Memo> {
        if inner.outer.is_empty() || outer.cost.rows < 2.0 {
            return None;
        }
        let rel = self.level.only_rel(inner.rels)?;
        if !self.planner.settings().enable_memoize
            || !inner.outer.is_subset(outer.rels)
            || self.is_volatile(rel)
        {
            return None;
        }
        let mut memo = Memo { keys: Vec::new(), binary: false, single };
        for condition in &inner.enforced {
            let (key, equality) = self.key_of_condition(condition, outer.rels, inner.rels)?;
            memo.binary |= !equality;
            crate::create::add_unique(&mut memo.keys, key);
        }
        if let Some(handed) = self.level.lateral_values.get(&rel) {
            memo.binary = true;
            handed.iter().for_each(|e| crate::create::add_unique(&mut memo.keys, e.clone()));
        }
        let fits = |key: &Expr| {
            self.planner.types.is_hashed(key.type_oid())
                && RelSet::of(key).is_subset(outer.rels)
                && !key.is_volatile()
        };
        (!memo.keys.is_empty() && memo.keys.iter().all(fits)).then_some(memo)
    }

    /// Whether two runs with the same values may give different rows.
    fn is_volatile(&self, rel: crate::expr::RelId) -> bool {
        let given = match &self.planner.sources[rel] {
            Source::Function { calls, .. } => calls.iter().any(Expr::is_volatile),
            Source::Values(rows) => rows.iter().flatten().any(Expr::is_volatile),
            Source::Table => false,
            // Of a subquery that was planned before.
            Source::Columns | Source::Subquery(_) => !self.planner.steady.contains(&rel),
            _ => true,
        };
        given || self.level.filters_of(rel).iter().any(Expr::is_volatile)
    }

    /// What a condition that a scan has taken over asks of the outer side, and whether it is an equality.
    fn key_of_condition(&self, condition: &Enforced, outer: RelSet, inner: RelSet) -> Option<(Expr, bool)> {
        let number = match condition {
            Enforced::Class(number) => {
                let key = self.level.classes.get(*number)?.member_within(outer)?;
                return Some((key.clone(), true));
            }
            Enforced::Clause(number) => *number,
        };
        let expr = &self.level.clauses.get(number)?.expr;
        let Expr::Call(call) = expr else { return None };
        let [a, b] = call.args.as_slice() else { return None };
        if !matches!(call.form, CallForm::Operator(_)) || expr.is_volatile() {
            return None;
        }
        let key = match (RelSet::of(a), RelSet::of(b)) {
            (left, right) if left.is_subset(outer) && right.is_subset(inner) => a,
            (left, right) if left.is_subset(inner) && right.is_subset(outer) => b,
            _ => return None,
        };
        // Values of two types may be equal to one value each in a way of their own.
        let equality = as_equality(expr).is_some() && a.type_oid() == b.type_oid();
        Some((compared(key, call.collation), equality))
    }

    /// What a run costs on average that may find its result kept.
    pub(crate) fn memo_rescan(&self, memo: &Memo, outer: Cost, inner: Cost) -> Rescan {
        let settings = self.planner.settings();
        let runs = clamp_rows(outer.rows);
        let values = memo.keys.iter().map(|key| selectivity::known_distinct_values(&*self.planner, key));
        // Of what nobody knows every run may ask for something else.
        let values = values.collect::<Option<Vec<f64>>>().map_or(runs, |all| all.iter().product());
        let values = values.clamp(1.0, runs);
        let bytes = inner.rows * (inner.width + ROW) + ENTRY;
        let room = (settings.hash_mem() / bytes).floor().max(1.0);
        let hits = (runs - values) / runs * (room / values.max(room));
        let evictions = 1.0 - room.min(values) / values;
        let kept = settings.cpu_operator_cost * inner.rows;
        // A row that goes is only freed.
        let evicting = evictions * (settings.cpu_tuple_cost + 0.1 * kept);
        let storing = settings.cpu_tuple_cost + kept;
        Rescan {
            startup: inner.startup * (1.0 - hits) + settings.cpu_tuple_cost,
            total: inner.total * (1.0 - hits) + settings.cpu_operator_cost + evicting + storing,
        }
    }
}
