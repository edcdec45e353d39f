//! Views: the stored query in place of the name.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::{CatalogView, Table};

use crate::expr::Expr;
use crate::query::{Query, RteKind};

/// A view's query, that of the views it reads put in, its tables checked as its owner.
pub fn expand(table: &Table, catalog: &dyn CatalogView) -> SqlResult<Query> {
    expand_in(table, catalog, &mut Vec::new())
}

fn expand_in(table: &Table, catalog: &dyn CatalogView, outer: &mut Vec<Oid>) -> SqlResult<Query> {
    runtime::check_stack()?;
    if outer.contains(&table.oid) {
        return Err(recursion(&table.name));
    }
    let Some(text) = &table.view_query else {
        return Err(SqlError::internal(format!("view \"{}\" has no query", table.name)));
    };
    let mut query = crate::stored::load_query(text, catalog)?;
    outer.push(table.oid);
    expand_inner(&mut query, catalog, outer)?;
    outer.pop();
    if !table.bool_option("security_invoker") {
        check_as(&mut query, table.owner);
    }
    Ok(query)
}

/// Puts the present queries of the views that a stored query reads in their places.
pub(crate) fn refresh(query: &mut Query, catalog: &dyn CatalogView) -> SqlResult<()> {
    expand_inner(query, catalog, &mut Vec::new())
}

/// The error that a view contains itself.
pub(crate) fn recursion(view: &str) -> SqlError {
    sql_err!(INVALID_OBJECT_DEFINITION, "infinite recursion detected in rules for relation \"{view}\"")
}

/// Puts the present queries of the views that a query reads in their places.
fn expand_inner(query: &mut Query, catalog: &dyn CatalogView, outer: &mut Vec<Oid>) -> SqlResult<()> {
    for entry in &mut query.range_table {
        let RteKind::Subquery(sub) = &mut entry.kind else { continue };
        if !sub.view.is_valid() {
            expand_inner(&mut sub.query, catalog, outer)?;
            continue;
        }
        let view = catalog.relation_by_oid(sub.view)?;
        let view = view.ok_or_else(|| SqlError::internal("a view's view does not exist"))?;
        sub.security_barrier = view.bool_option("security_barrier");
        *sub.query = expand_in(&view, catalog, outer)?;
        let missing = view.columns.get(entry.columns.len()..).unwrap_or_default();
        entry.columns.extend(missing.iter().map(|c| c.name.clone()));
    }
    for cte in &mut query.ctes {
        expand_inner(&mut cte.query, catalog, outer)?;
    }
    crate::walk::subqueries_mut(query, &mut |q| expand_inner(q, catalog, outer))
}

/// Has all relations of a query checked as this role, unless an inner view said otherwise.
pub(crate) fn check_as(query: &mut Query, role: base::Oid) {
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
    let _ = crate::walk::subqueries_mut::<std::convert::Infallible>(query, &mut |q| {
        check_as(q, role);
        Ok(())
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
