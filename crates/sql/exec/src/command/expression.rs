//! # What
//! Expressions in definitions: defaults, checks, index keys and predicates. Here utility statements meet analysis.

use std::sync::Arc;

use analyze::{Expr, ExprContext, Purpose, facts, stored, walk};
use base::{Oid, SqlError, SqlResult};
use catalog::{CatalogView, Index, Table};
use parse::ast;
use tuple::Datum;
use types::Call;

use crate::session::Session;

/// An expression over the columns of one table, ready for the catalogs.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// As `analyze::stored` writes it.
    pub(crate) text: String,
    /// Columns that it uses, ascending.
    pub(crate) used: Vec<i16>,
    /// Its type.
    pub(crate) type_oid: Oid,
    /// Its modifier.
    pub(crate) typmod: i32,
    /// Its collation.
    pub(crate) collation: Oid,
}

fn analyze(session: &Session, expr: &ast::Expr, text: &str, context: ExprContext<'_>) -> SqlResult<Stored> {
    let format = session.format.borrow().clone();
    let call = Call::new(&format).with_session(session);
    let expr = analyze::analyze_expr(expr, text, context, session, &call)?;
    let array_of = |element: Oid| {
        let known = session.type_by_oid(element).ok().flatten();
        known.map_or(Oid::INVALID, |def| def.array)
    };
    Ok(Stored {
        text: stored::store_expr(&expr),
        used: columns_of(&expr),
        type_oid: facts::expr_type(&expr, &array_of),
        typmod: facts::expr_typmod(&expr),
        collation: facts::expr_collation(&expr),
    })
}

/// Columns of the relation that an expression stands over.
fn columns_of(expr: &Expr) -> Vec<i16> {
    let mut used = Vec::new();
    walk::contains(expr, |e, _| {
        if let Expr::Var(var) = e {
            used.push(var.attno);
        }
        false
    });
    used.sort_unstable();
    used.dedup();
    used
}

/// DEFAULT of a column: its name, type and modifier.
pub(crate) fn default(
    session: &Session,
    expr: &ast::Expr,
    column: (&str, Oid, i32),
    text: &str,
) -> SqlResult<Stored> {
    let context = ExprContext { purpose: Purpose::ColumnDefault, relation: None, column: Some(column) };
    analyze(session, expr, text, context)
}

/// CHECK of a table.
pub(crate) fn check(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    text: &str,
) -> SqlResult<Stored> {
    let context = ExprContext { purpose: Purpose::Check, relation: Some(table), column: None };
    analyze(session, expr, text, context)
}

/// A key of an index.
pub(crate) fn index_key(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    text: &str,
) -> SqlResult<Stored> {
    let context = ExprContext { purpose: Purpose::Index, relation: Some(table), column: None };
    analyze(session, expr, text, context)
}

/// WHERE of an index.
pub(crate) fn index_predicate(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    text: &str,
) -> SqlResult<Stored> {
    let context = ExprContext { purpose: Purpose::IndexPredicate, relation: Some(table), column: None };
    analyze(session, expr, text, context)
}

/// Makes an index's entries from rows of its table.
pub(crate) struct IndexKeys {
    /// Position in the row of each stored column.
    columns: Vec<usize>,
}

impl IndexKeys {
    /// Prepares an index.
    pub(crate) fn new(index: &Index) -> SqlResult<IndexKeys> {
        if !index.expressions.is_empty() || index.predicate.is_some() {
            return Err(SqlError::not_supported("building an index on expressions or with WHERE"));
        }
        let columns = index.keys.iter().chain(&index.including).map(|&n| n as usize - 1).collect();
        Ok(IndexKeys { columns })
    }

    /// How many leading columns of a row are needed.
    pub(crate) fn upto(&self) -> usize {
        self.columns.iter().max().map_or(0, |last| last + 1)
    }

    /// Replaces `out` by the entry of a row.
    pub(crate) fn entry(&self, row: &[Datum], out: &mut Vec<Datum>) {
        out.clear();
        out.extend(self.columns.iter().map(|&i| row.get(i).cloned().unwrap_or_default()));
    }
}
