//! Views: the stored query in place of the name.

use base::{SqlError, SqlResult};
use catalog::view::{CatalogView, Table};

use crate::expr::Expr;
use crate::query::{Query, RteKind};

/// A view's query, its tables checked as its owner.
pub(crate) fn expand(table: &Table, catalog: &dyn CatalogView) -> SqlResult<Query> {
    let Some(text) = &table.view_query else {
        return Err(SqlError::internal(format!("view \"{}\" has no query", table.name)));
    };
    let mut query = crate::stored::load_query(text, catalog)?;
    let invoker = table
        .options
        .iter()
        .any(|(n, v)| n == "security_invoker" && matches!(v.as_str(), "true" | "on" | "1"));
    if !invoker {
        check_as(&mut query, table.owner);
    }
    Ok(query)
}

/// Has all relations of a query checked as this role, unless an inner view said otherwise.
fn check_as(query: &mut Query, role: base::Oid) {
    for rte in &mut query.range_table {
        if let Some(a) = &mut rte.access
            && a.as_role.is_none()
        {
            a.as_role = Some(role);
        }
        if let RteKind::Subquery(s) = &mut rte.kind {
            check_as(&mut s.query, role);
        }
    }
    for cte in &mut query.ctes {
        check_as(&mut cte.query, role);
    }
    let _ = crate::walk::roots_mut::<std::convert::Infallible>(query, &mut |e| {
        crate::walk::visit_mut(e, 0, &mut |e, _| {
            if let Expr::SubLink(s) = e {
                check_as(&mut s.query, role);
                return Ok(false);
            }
            Ok(true)
        })
    });
}

/// Whether a query refers to columns of the query `level` levels out of it.
pub(crate) fn refers_to_level(query: &Query, level: u32) -> bool {
    crate::walk::visit_query(query, 0, &mut |e, depth| match e {
        Expr::Var(v) if v.levels_up == depth + level => Err(()),
        _ => Ok(true),
    })
    .is_err()
}
