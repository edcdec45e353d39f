//! Policies: their conditions as queries can use them.

use base::{Oid, SqlResult};
use catalog::view::CatalogView;

use crate::query::{FromExpr, Query};

/// The condition of a policy, as [`crate::stored`] wrote it, as WHERE of a query without relations: columns of the policy's table have range
/// table index 0. The views that it reads are put in; all that it reads is checked as this role, or as the current user.
pub fn load(text: &str, role: Option<Oid>, catalog: &dyn CatalogView) -> SqlResult<Query> {
    let filter = Some(crate::stored::load_expr(text, catalog)?);
    let mut query = Query { join_tree: FromExpr { items: Vec::new(), filter }, ..Query::default() };
    crate::views::refresh(&mut query, catalog)?;
    if let Some(role) = role {
        crate::views::check_as(&mut query, role);
    }
    Ok(query)
}
