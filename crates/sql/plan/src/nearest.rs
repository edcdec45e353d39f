//! Index scans that give rows by their distances from values, nearest first: `ORDER BY column <-> value`.
//!
//! An operator family names the operators that tell a distance, each with the B-tree family that orders its results. An order that is wanted is served if
//! all of its keys are such operators on columns of the index, ascending and with NULLs last.
//!
//! # PostgreSQL counterpart
//! `match_pathkeys_to_index` of `optimizer/path/indxpath.c`.

use base::Oid;
use types::registry::ORDERING_METHOD;

use crate::expr::{CallForm, Expr, RelId};
use crate::joins::Search;
use crate::path::PathKey;
use crate::plan::{IndexDistance, IndexRef};
use crate::relset::RelSet;
use crate::scan::strip;

/// The distances by which an index can order rows; none if the query wants no such order.
#[derive(Default)]
pub(crate) struct Nearest {
    /// The distances.
    pub distances: Vec<IndexDistance>,
    /// The order that they make.
    pub order: Vec<PathKey>,
}

impl Search<'_, '_> {
    /// The first of the wanted orders that the index serves by distances.
    pub(crate) fn nearest(&mut self, rel: RelId, index: &IndexRef) -> Nearest {
        if !index.method.can_order_by_operator {
            return Nearest::default();
        }
        let columns = self.planner.index_columns(rel, index);
        let columns = &columns[..columns.len().min(index.keys.len())];
        for order in self.wanted.iter().filter(|order| !order.is_empty()) {
            let distances = order.iter().map(|key| self.distance_of((rel, index, columns), key)).collect();
            if let Some(distances) = distances {
                return Nearest { distances, order: order.clone() };
            }
        }
        Nearest::default()
    }

    fn distance_of(
        &self,
        (rel, index, columns): (RelId, &IndexRef, &[Expr]),
        key: &PathKey,
    ) -> Option<IndexDistance> {
        if key.descending || key.nulls_first {
            return None;
        }
        let original = self.level.expr_of(key, RelSet::one(rel))?;
        let Expr::Call(call) = strip(&original) else { return None };
        let CallForm::Operator(operator) = &call.form else { return None };
        let [left, right] = call.args.as_slice() else { return None };
        let fixed = |e: &Expr| !RelSet::of(e).contains(rel) && !e.is_volatile();
        let result = original.type_oid();
        for (column, expr) in columns.iter().enumerate() {
            let of_index = index.collations.get(column).copied().unwrap_or_default();
            if of_index.is_valid() && call.collation != of_index {
                continue;
            }
            let same = |e: &Expr| e == expr || strip(e) == strip(expr);
            let (asked, value) = match (same(left) && fixed(right), same(right) && fixed(left)) {
                (true, _) => (operator.oid, right),
                (false, true) => (operator.commutator, left),
                (false, false) => continue,
            };
            if let Some((strategy, operand)) = self.ordering_strategy(index, column, asked, result) {
                let value = value.clone();
                return Some(IndexDistance { column, strategy, operand, value, original });
            }
        }
        None
    }

    /// Strategy number and type of the value of an operator that the family of a column's class orders by, in the order of its results that ORDER BY means.
    fn ordering_strategy(
        &self,
        index: &IndexRef,
        column: usize,
        operator: Oid,
        result: Oid,
    ) -> Option<(u16, Oid)> {
        let families = &self.planner.families;
        let class = families.class(*index.opclasses.get(column)?)?;
        let entry = families.ordering_membership(class.family, operator)?;
        let usual = families.default_class_for(ORDERING_METHOD, result)?;
        let strategy = u16::try_from(entry.strategy).ok()?;
        (usual.family == entry.sort_family).then_some((strategy, entry.right))
    }
}
