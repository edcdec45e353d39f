//! # What
//! WHERE of a table in a publication: simple enough that whoever decodes the log can compute it, whatever has become of users' definitions since.
//!
//! # PostgreSQL counterpart
//! `check_simple_rowfilter_expr` of `commands/publicationcmds.c`.

use std::sync::Arc;

use analyze::{Expr, facts, walk};
use base::{Oid, SqlResult, sql_err};
use catalog::{Table, change::ObjectAddress};
use parse::ast;
use session::Session;
use types::Volatility;

use super::{expression, names};

/// A row filter, ready for the catalogs.
pub(super) struct Filter {
    /// As `analyze::stored` writes it.
    pub text: String,
    /// Columns that it uses.
    pub used: Vec<i16>,
    /// Other objects that it needs.
    pub needs: Vec<ObjectAddress>,
}

/// Analyses a row filter, which must be fit to be one.
pub(super) fn filter(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    text: &str,
) -> SqlResult<Filter> {
    let analyzed = expression::publication_filter(session, table, expr, text)?;
    let mut refused = None;
    walk::contains(&analyzed, |e, _| {
        refused = refused.or_else(|| Some((refusal(session, e)?, facts::location(e))));
        refused.is_some()
    });
    if let Some((detail, location)) = refused {
        let error = sql_err!(FEATURE_NOT_SUPPORTED, "invalid publication WHERE expression").detail(detail);
        return Err(names::at(error, text, location));
    }
    let stored = expression::stored(session, &analyzed);
    Ok(Filter { text: stored.text, used: stored.used, needs: stored.needs })
}

/// What is wrong with a node.
fn refusal(session: &Session, expr: &Expr) -> Option<&'static str> {
    use Expr as E;
    let (operators, functions): (&[Oid], &[Oid]) = match expr {
        E::Var(var) if var.attno < 0 => return Some("System columns are not allowed."),
        E::Op(o) | E::Distinct(o) | E::NullIf(o) => (&[o.op], &[o.function]),
        E::ScalarArray(o) => (&[o.op], &[o.function]),
        E::RowCompare(compare) => (&compare.ops, &[]),
        E::Func(f) => (&[], &[f.function]),
        E::Var(_)
        | E::Const(_)
        | E::Bool(_)
        | E::Relabel(_)
        | E::Collate(_)
        | E::Case(_)
        | E::CaseTest(_)
        | E::Array(_)
        | E::Row(_)
        | E::Coalesce(_)
        | E::MinMax(_)
        | E::NullTest(_)
        | E::BooleanTest(_) => (&[], &[]),
        _ => {
            return Some(
                "Only columns, constants, built-in operators, built-in data types, built-in collations, and immutable built-in functions are allowed.",
            );
        }
    };
    let made = |oid: &Oid| !oid.is_pinned();
    if operators.iter().any(made) {
        return Some("User-defined operators are not allowed.");
    }
    if made(&expression::type_of(session, expr)) {
        return Some("User-defined types are not allowed.");
    }
    let is_fixed =
        |oid: &Oid| types::registry::function(*oid).is_some_and(|f| f.volatility == Volatility::Immutable);
    if !functions.iter().all(is_fixed) {
        return Some("User-defined or built-in mutable functions are not allowed.");
    }
    if made(&facts::expr_collation(expr)) || made(&input_collation(expr)) {
        return Some("User-defined collations are not allowed.");
    }
    None
}

/// The collation that a node compares by.
fn input_collation(expr: &Expr) -> Oid {
    match expr {
        Expr::Op(o) | Expr::Distinct(o) | Expr::NullIf(o) => o.input_collation,
        Expr::ScalarArray(o) => o.input_collation,
        Expr::Func(f) => f.input_collation,
        _ => Oid::INVALID,
    }
}
