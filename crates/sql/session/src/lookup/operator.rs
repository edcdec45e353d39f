//! Operators by name and operands.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::RowExt;
use catalog::system::pg_operator;
use parse::ast::Name;

use super::routine_name;
use crate::Session;

/// The operator with this name and these operands; 0 for a missing one.
pub fn find(session: &Session, name: &Name, left: Oid, right: Oid) -> SqlResult<Option<Oid>> {
    for schema in routine_name::schemas(session, name)? {
        let row = session.with_reader(|r| r.operator_row(schema, name.last(), left, right))?;
        if let Some(row) = row {
            return Ok(Some(row.oid(pg_operator::OID)));
        }
    }
    Ok(None)
}

/// The error of an operator that is not there; its operands' types, 0 for a missing one.
pub fn undefined(session: &Session, name: &Name, [left, right]: [Oid; 2]) -> SqlError {
    let shown = |t: Oid| analyze::names::format_type(session, t, None);
    let left = if left.is_valid() { format!("{} ", shown(left)) } else { String::new() };
    sql_err!(UNDEFINED_FUNCTION, "operator does not exist: {left}{} {}", name.dotted(), shown(right))
}

/// Whether values of one type are as good as the other's.
pub fn alike(from: Oid, to: Oid) -> bool {
    types::registry::cast(from, to).is_some_and(|cast| {
        cast.method == types::CastMethod::Binary && cast.context == types::CastContext::Implicit
    })
}
