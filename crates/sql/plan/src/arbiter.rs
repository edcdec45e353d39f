//! The indexes whose violation ON CONFLICT means.
//!
//! # PostgreSQL counterpart and differences
//! `infer_arbiter_indexes` of `optimizer/util/plancat.c`. There a plan for any values of the parameters fails where only some values imply
//! the condition of a partial index, which clients see from the sixth run on; here the statement keeps to plans for its values.

use analyze::{Inference, InferenceElement};
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::families::OperatorFamilies;

use crate::convert::Converter;
use crate::expr::{Expr, RelId};
use crate::fold::fold;
use crate::implication::follows;
use crate::plan::IndexRef;
use crate::walk::flatten_and;

impl Converter<'_, '_> {
    /// The arbiter indexes, and whether they depend on values of parameters.
    pub(crate) fn arbiters(
        &mut self,
        conflict: &analyze::OnConflict,
        rel: RelId,
    ) -> SqlResult<(Vec<Oid>, bool)> {
        let Some(table) = self.planner.relations[rel].table.clone() else { return Ok((Vec::new(), false)) };
        let Some(inference) = &conflict.inference else {
            if !conflict.constraint.is_valid() {
                return Ok((Vec::new(), false));
            }
            let index = table.indexes.iter().find(|i| i.constraint == conflict.constraint);
            // Of rows that conflict there may be several: none of them is the one to be updated.
            if conflict.update.is_some() && index.is_some_and(|index| !index.excluders.is_empty()) {
                return Err(sql_err!(
                    WRONG_OBJECT_TYPE,
                    "ON CONFLICT DO UPDATE not supported with exclusion constraints"
                ));
            }
            return Ok((index.map(|index| index.oid).into_iter().collect(), false));
        };
        let wanted = self.wanted(inference)?;
        let families = self.planner.families.clone();
        let mut found = Vec::new();
        for position in 0..table.indexes.len() {
            let index = IndexRef { table: table.clone(), position };
            if index.refuses_duplicates()
                && index.valid
                && self.is_meant(&families, (&index, rel), &inference.elements, &wanted)
            {
                found.push(index.oid);
            }
        }
        if found.is_empty() && !wanted.has_params() {
            return Err(no_arbiter());
        }
        Ok((found.clone(), found.is_empty()))
    }

    fn wanted(&mut self, inference: &Inference) -> SqlResult<Wanted> {
        let mut keys = Vec::with_capacity(inference.elements.len());
        for element in &inference.elements {
            keys.push(bare(self.settled(&element.expr)?));
        }
        let mut filter = Vec::new();
        if let Some(expr) = &inference.filter {
            flatten_and(self.settled(expr)?, &mut filter);
        }
        Ok(Wanted { keys, filter })
    }

    /// An expression with the values of parameters, if they are known.
    fn settled(&mut self, expr: &analyze::Expr) -> SqlResult<Expr> {
        let mut expr = self.expr(expr)?;
        if let Some(values) = self.planner.context.params {
            crate::planner::put_params(&mut expr, values);
        }
        fold(&mut expr);
        Ok(expr)
    }

    fn is_meant(
        &mut self,
        families: &OperatorFamilies,
        (index, rel): (&IndexRef, RelId),
        elements: &[InferenceElement],
        wanted: &Wanted,
    ) -> bool {
        let mut own: Vec<Expr> = self.planner.index_columns(rel, index).into_iter().map(bare).collect();
        own.truncate(index.keys.len());
        let suits = |(element, key): (&InferenceElement, &Expr)| {
            let mut places = own.iter().enumerate().filter(|(_, expr)| *expr == key).map(|(at, _)| at);
            places.any(|at| fits(families, element, index, at))
        };
        let all_asked = own.iter().all(|expr| wanted.keys.contains(expr));
        if !all_asked || !elements.iter().zip(&wanted.keys).all(suits) {
            return false;
        }
        let predicate = match &index.predicate {
            None => Some(Vec::new()),
            Some(_) => self.planner.index_predicate(rel, index),
        };
        predicate.is_some_and(|parts| parts.iter().all(|part| follows(part, &wanted.filter, families)))
    }
}

/// A key without its collation, which is compared apart.
fn bare(key: Expr) -> Expr {
    let natural = crate::expr::natural_collation(key.type_oid());
    key.under(natural)
}

/// That no index fits.
pub fn no_arbiter() -> SqlError {
    sql_err!(
        INVALID_COLUMN_REFERENCE,
        "there is no unique or exclusion constraint matching the ON CONFLICT specification"
    )
}

/// What an arbiter index must have: its keys; and conditions that hold for its rows.
struct Wanted {
    keys: Vec<Expr>,
    filter: Vec<Expr>,
}

impl Wanted {
    fn has_params(&self) -> bool {
        let is_param = |e: &Expr| e.any(&mut |e| matches!(e, Expr::Param { .. }));
        self.keys.iter().chain(&self.filter).any(is_param)
    }
}

/// Whether a column of an index has the collation and the operator class that are asked for.
fn fits(families: &OperatorFamilies, element: &InferenceElement, index: &IndexRef, at: usize) -> bool {
    let class = |oid: Oid| families.class(oid).map(|class| (class.family, class.input));
    let own = index.opclasses.get(at).copied().unwrap_or_default();
    (!element.collation.is_valid() || index.collations.get(at) == Some(&element.collation))
        && (!element.opclass.is_valid() || own == element.opclass || class(own) == class(element.opclass))
}
