//! Expressions that live in catalogs: index columns, predicates, checks, generated columns.

use base::SqlResult;
use catalog::view::Table;

use crate::convert::Converter;
use crate::expr::{Expr, RelId, Var};
use crate::plan::IndexRef;
use crate::planner::Planner;
use crate::walk::flatten_and;

impl Planner<'_> {
    /// The column of a table as an expression.
    pub(crate) fn column(&self, table: &Table, rel: RelId, number: i16) -> Option<Expr> {
        let column = table.columns.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        Some(Expr::Var(Var { rel, column: number, type_oid: column.type_oid, typmod: column.typmod }))
    }

    /// Expressions of an index: its key columns, then the included ones.
    pub(crate) fn index_columns(&mut self, rel: RelId, index: &IndexRef) -> Vec<Expr> {
        let mut expressions = index.expressions.iter();
        let table = &index.table;
        let key = |number: &i16| match number {
            0 => expressions.next().and_then(|text| self.stored(text, rel).ok()),
            n => self.column(table, rel, *n),
        };
        let never = || Expr::boolean(false);
        let mut out: Vec<Expr> = index.keys.iter().map(key).map(|e| e.unwrap_or_else(never)).collect();
        for (column, collation) in out.iter_mut().zip(&index.collations) {
            let value = std::mem::replace(column, never());
            // A collation that is no longer there is of no index that is used.
            let _ = self.note_collation(*collation);
            *column = crate::level::compared(&value, *collation);
        }
        out.extend(index.including.iter().filter_map(|n| self.column(table, rel, *n)));
        out
    }

    /// The predicate of a partial index, as a conjunction.
    pub(crate) fn index_predicate(&mut self, rel: RelId, index: &IndexRef) -> Option<Vec<Expr>> {
        let text = index.predicate.as_ref()?;
        let expr = self.stored(text, rel).ok()?;
        let mut parts = Vec::new();
        flatten_and(expr, &mut parts);
        Some(parts)
    }

    /// A stored expression over the columns of a table, which is relation `rel` of the statement: the statement comes to
    /// know the types, cells and whole rows that the expression needs.
    pub(crate) fn stored(&mut self, text: &str, rel: RelId) -> SqlResult<Expr> {
        let analysed = analyze::stored::load_expr(text, self.context.catalog)?;
        let mut converter = Converter::new(self);
        converter.open_scope(vec![rel]);
        let mut expr = converter.expr(&analysed)?;
        crate::fold::fold(&mut expr);
        Ok(expr)
    }
}
