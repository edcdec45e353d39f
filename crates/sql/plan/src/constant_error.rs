//! Constant parts of a plan that cannot be computed. PostgreSQL finds them when it plans, before a client hears of a result.

use base::{SqlError, SqlState};

use crate::expr::Expr;
use crate::fold;
use crate::plan::{Plan, Statement};

impl Statement {
    /// The error of the first constant expression that has none for a value: folding left it as it was.
    pub fn constant_error(&self) -> Option<SqlError> {
        in_plan(&self.plan).or_else(|| self.subplans.iter().find_map(|sub| in_plan(&sub.plan)))
    }
}

fn in_plan(plan: &Plan) -> Option<SqlError> {
    let mut found = None;
    plan.for_exprs(&mut |expr| {
        if found.is_none() {
            found = in_expr(expr);
        }
    });
    plan.for_children(&mut |child| {
        if found.is_none() {
            found = in_plan(child);
        }
    });
    found
}

/// Nothing here knows a session, and so no type of a user: an internal error is left to the run, which knows better; so is a
/// cancel request, which is still there for it.
fn in_expr(expr: &Expr) -> Option<SqlError> {
    let mut found = None;
    expr.any(&mut |e| {
        if let Expr::Call(call) = e
            && let Some(Err(error)) = fold::evaluate(call)
            && ![SqlState::INTERNAL_ERROR, SqlState::QUERY_CANCELED].contains(&error.code())
        {
            found = Some(error);
        }
        found.is_some()
    });
    found
}
