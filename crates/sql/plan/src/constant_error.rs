//! Constant parts of a plan that cannot be computed. PostgreSQL finds them when it plans, before a client hears of a result.

use base::{SqlError, SqlState};
use tuple::Datum;
use types::Volatility;

use crate::expr::Expr;
use crate::fold;
use crate::plan::{Plan, Statement};

impl Statement {
    /// The error of the first constant expression that has none for a value: folding left it as it was.
    pub fn constant_error(&self) -> Option<SqlError> {
        let mut found = None;
        self.for_all_exprs(&mut |expr| {
            if found.is_none() {
                found = in_expr(expr);
            }
        });
        found
    }

    /// Parts that nothing but parameters decides on, as large as they are: where a statement has values in place of the parameters, they
    /// are constants.
    pub fn constants_of_parameters(&self) -> Vec<Expr> {
        let mut found = Vec::new();
        self.for_all_exprs(&mut |expr| collect(expr, &mut found));
        found
    }

    fn for_all_exprs<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        for_exprs_below(&self.plan, f);
        self.subplans.iter().for_each(|sub| for_exprs_below(&sub.plan, f));
    }
}

fn for_exprs_below<'p>(plan: &'p Plan, f: &mut dyn FnMut(&'p Expr)) {
    plan.for_exprs(f);
    plan.for_children(&mut |child| for_exprs_below(child, f));
}

/// Whether a part that parameters decide on can be computed with these values of them.
pub fn has_value(expr: &Expr, params: &[Datum]) -> bool {
    let mut expr = expr.clone();
    expr.replace(&mut |e| match e {
        Expr::Param { number, type_oid } => {
            let value = params.get(*number)?.clone();
            Some(Expr::Const { value, type_oid: *type_oid, typmod: -1 })
        }
        _ => None,
    });
    fold::fold(&mut expr);
    in_expr(&expr).is_none()
}

/// Notes the parts of `expr` that parameters decide on and that call something.
fn collect(expr: &Expr, found: &mut Vec<Expr>) {
    if expr.any(&mut |e| !is_foldable(e)) {
        return expr.for_children(&mut |child| collect(child, found));
    }
    if expr.any(&mut |e| matches!(e, Expr::Param { .. })) && expr.any(&mut |e| matches!(e, Expr::Call(_))) {
        found.push(expr.clone());
    }
}

/// Whether folding looks through it.
fn is_foldable(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => !call.function.retset() && call.function.volatility() == Volatility::Immutable,
        Expr::Case { operand, .. } => operand.is_none(),
        Expr::Const { .. }
        | Expr::Param { .. }
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Not(_)
        | Expr::Test(..)
        | Expr::Coalesce(..)
        | Expr::Relabel { .. }
        | Expr::IoCast { .. }
        | Expr::Array { .. } => true,
        _ => false,
    }
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
