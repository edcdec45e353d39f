//! Values that keep apart from others that are computed alike.
//!
//! What: a query with grouping sets nulls a grouping column in the rows of the sets that leave it out. Nodes above the aggregation find
//! the column by what computes it. Where that is not unique ([`keep_apart`](Converter::keep_apart)), or came from a subquery that was
//! merged ([`Merged`]), the column is an [`Expr::Placeholder`].
//!
//! Invariants:
//! 1. A placeholder equals only uses of the same column, whatever it is computed from.
//! 2. No constant is made of a placeholder, and none counts as fixed: above the aggregation it may be NULL.
//! 3. Conditions below the aggregation contain none: there the expression itself is used.

use std::sync::Arc;

use base::SqlResult;
use types::record::RowType;

use crate::convert::Converter;
use crate::expr::{Expr, Placeholder, RelId, Var};
use crate::fold::fold;
use crate::logical::{Block, rels_of};
use crate::order::Shape;
use crate::relset::RelSet;

/// Whether it is the same for all rows of a level with the relations `own`. What says the same elsewhere is not looked up in the rows
/// below then.
fn is_constant(expr: &Expr, own: RelSet) -> bool {
    !RelSet::of(expr).overlaps(own) && !expr.is_volatile()
}

impl Converter<'_, '_> {
    /// Makes a grouping column of grouping sets differ from what is computed alike: an equal column before it, which one set may null
    /// and the other not, a value without columns, or what folding would make one of these. `relation` stands for the level's columns of
    /// that kind, once there is one.
    pub(crate) fn keep_apart(
        &mut self,
        block: &mut Block,
        target: usize,
        relation: &mut Option<RelId>,
    ) -> SqlResult<()> {
        let expr = &block.targets[target].expr;
        let mut folded = expr.clone();
        fold(&mut folded);
        if folded == *expr && !block.group.contains(expr) && !is_constant(expr, rels_of(&block.from)) {
            return Ok(());
        }
        let rel = match *relation {
            Some(rel) => rel,
            None => *relation.insert(self.nameless_relation()?),
        };
        let (type_oid, typmod) = (expr.type_oid(), expr.typmod());
        let column = Var { rel, column: block.group.len() as i16 + 1, type_oid, typmod };
        let arg = expr.clone();
        block.targets[target].expr = Expr::Placeholder(Box::new(Placeholder { column, arg }));
        Ok(())
    }
}

/// Puts the placeholders among the grouping columns where other targets and HAVING name what computes them, but for what is the same for
/// all rows, which is itself, and arguments of aggregates, which are computed below the grouping.
pub(crate) fn name_kept_apart(block: &mut Block) {
    // What another grouping column is without a placeholder names that one.
    let own = rels_of(&block.from);
    let is_column = |e: &&Expr| matches!(e, Expr::Placeholder(p) if !is_constant(&p.arg, own) && !block.group.contains(&p.arg));
    let columns: Vec<Expr> = block.group.iter().filter(is_column).cloned().collect();
    if columns.is_empty() {
        return;
    }
    let computes = |e: &Expr, column: &&Expr| matches!(column, Expr::Placeholder(p) if p.arg == *e);
    let name = |expr: &mut Expr| {
        expr.replace(&mut |e| match e {
            Expr::Placeholder(_) | Expr::Aggregate(_) => Some(e.clone()),
            _ => columns.iter().find(|column| computes(e, column)).cloned(),
        })
    };
    block.targets.iter_mut().for_each(|target| name(&mut target.expr));
    block.having.iter_mut().for_each(name);
}

/// A subquery that was merged into its parent.
pub(crate) struct Merged {
    /// What it was.
    pub rel: RelId,
    /// What computes its columns.
    pub targets: Vec<Expr>,
    /// Its whole row, if that is named.
    pub row: Option<Arc<RowType>>,
    /// Its FROM as it was written.
    pub written: Vec<Shape>,
}

impl Merged {
    /// Puts what computes the subquery's columns in their places; `apart`: as placeholders.
    pub fn put_in(&self, expr: &mut Expr, apart: bool) {
        expr.replace(&mut |e| match e {
            Expr::Var(var) if var.rel == self.rel => {
                let arg = self.column(var)?;
                let kept = |arg| Expr::Placeholder(Box::new(Placeholder { column: var.clone(), arg }));
                Some(if apart { kept(arg) } else { arg })
            }
            // What is within a placeholder is apart already.
            Expr::Placeholder(outer) if apart => {
                let mut outer = outer.clone();
                self.put_in(&mut outer.arg, false);
                Some(Expr::Placeholder(outer))
            }
            _ => None,
        });
    }

    fn column(&self, var: &Var) -> Option<Expr> {
        match var.column {
            0 => {
                let row = self.row.clone()?;
                Some(Expr::Row { fields: self.targets.clone(), row })
            }
            number => self.targets.get(usize::try_from(number).ok()? - 1).cloned(),
        }
    }
}

/// Puts what computes them in the places of placeholders in the conditions of joins and WHERE.
pub(crate) fn show_through(block: &mut Block) {
    let mut show = |expr: &mut Expr| {
        expr.replace(&mut |e| match e {
            Expr::Placeholder(placeholder) => Some(placeholder.arg.clone()),
            _ => None,
        })
    };
    block.from.iter_mut().for_each(|item| item.for_exprs_mut(&mut show));
    block.quals.iter_mut().for_each(show);
}
