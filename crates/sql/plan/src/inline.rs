//! Functions in SQL whose bodies stand in place of calls: one that is a single expression in an expression, one that is a single query in FROM.
//!
//! A body may stand in place of a call only if nobody can tell but by the time it takes. It must not be less predictable than the function says, be
//! NULL for arguments that are NULL where the function is, run as the same user under the same settings, and compute each argument as often as a call
//! does, or one that is cheap and predictable. What it reads its user must be allowed to read: a plan keeps the bodies for that
//! ([`Statement::inlined`](crate::Statement::inlined)).
//!
//! PostgreSQL counterpart: `inline_function` and `inline_set_returning_function` in `clauses.c`.

use analyze as a;
use analyze::query::{Functions, Query, RangeFunction};
use base::{Oid, SqlResult};
use catalog::view::CatalogView;
use catalog::{FunctionDef, SQL_LANGUAGE};
use types::{Volatility, oids};

use crate::convert::Converter;
use crate::expr::{Expr, Test};
use crate::function::Function;

/// Operators that an argument may have which a body computes several times.
const CHEAP: f64 = 10.0;

/// The collation of expressions without a COLLATE clause.
const DEFAULT_COLLATION: Oid = Oid(100);

/// Reads the bodies of functions in SQL.
pub trait Bodies {
    /// The only query of a function's body, if it is a SELECT whose rows are what the function returns: for arguments and a result of these types. Its
    /// parameters are the arguments.
    fn body(
        &self,
        function: &FunctionDef,
        args: &[Oid],
        result: Oid,
        catalog: &dyn CatalogView,
    ) -> SqlResult<Option<Query>>;
}

/// Whether a function may be planned as its body, as far as its definition says.
fn may_be_inlined(function: &FunctionDef, call: &a::FuncExpr) -> bool {
    let plain_collation = [Oid::INVALID, DEFAULT_COLLATION].contains(&call.input_collation);
    function.language == Oid(SQL_LANGUAGE)
        && function.kind == 'f'
        && !function.security_definer
        && function.config.is_empty()
        && function.args.len() == call.args.len()
        && plain_collation
        && ![oids::void, oids::trigger].contains(&call.result_type)
}

impl Converter<'_, '_> {
    /// The body of a call of a function that gives one value, if it may stand in its place; `args` are the call's, converted.
    pub(crate) fn inlined_call(
        &mut self,
        function: &Function,
        call: &a::FuncExpr,
        args: &[Expr],
    ) -> SqlResult<Option<Expr>> {
        let Function::User(def) = function else { return Ok(None) };
        let Some(bodies) = self.planner.context.bodies else { return Ok(None) };
        let fits = may_be_inlined(def, call) && !def.returns_set && call.result_type != oids::record;
        if !fits || self.planner.inlining.contains(&def.oid) {
            return Ok(None);
        }
        let types: Vec<Oid> = args.iter().map(Expr::type_oid).collect();
        let body = bodies.body(def, &types, call.result_type, self.planner.context.catalog)?;
        let Some(query) = body.filter(is_expression) else { return Ok(None) };
        self.planner.inlining.push(def.oid);
        let body = self.expr(&query.targets[0].expr);
        self.planner.inlining.pop();
        let mut body = body?;
        if body.type_oid() != call.result_type || !keeps_promises(def, &body, args) {
            return Ok(None);
        }
        body.replace(&mut |e| match e {
            Expr::Param { number, .. } => args.get(*number).cloned(),
            _ => None,
        });
        self.planner.inlined.push(query);
        Ok(Some(body))
    }

    /// The function in FROM and the query that is its body, its arguments put in, if it may stand in its place.
    pub(crate) fn inlined_query(&mut self, functions: &Functions) -> SqlResult<Option<(Oid, Query)>> {
        let ([RangeFunction { call: a::Expr::Func(call), columns, .. }], false) =
            (functions.functions.as_slice(), functions.ordinality)
        else {
            return Ok(None);
        };
        let Some(bodies) = self.planner.context.bodies else { return Ok(None) };
        let Function::User(def) = self.planner.function(call.function)? else { return Ok(None) };
        let fits = may_be_inlined(&def, call)
            && def.returns_set
            && !def.strict
            && def.volatility != 'v'
            && (call.result_type != oids::record || !def.out_columns.is_empty());
        if !fits || self.planner.inlining.contains(&def.oid) {
            return Ok(None);
        }
        // An argument refers to rows of an enclosing query, and the body is one level deeper.
        let simple = |arg: &a::Expr| {
            !a::walk::contains(arg, |e, _| {
                !matches!(
                    e,
                    a::Expr::Const(_)
                        | a::Expr::Param(_)
                        | a::Expr::Relabel(_)
                        | a::Expr::Op(_)
                        | a::Expr::Func(_)
                )
            })
        };
        if !call.args.iter().all(simple) {
            return Ok(None);
        }
        let args = call.args.iter().map(|arg| self.expr(arg)).collect::<SqlResult<Vec<Expr>>>()?;
        if args.iter().any(Expr::is_volatile) {
            return Ok(None);
        }
        let types: Vec<Oid> = args.iter().map(Expr::type_oid).collect();
        let body = bodies.body(&def, &types, call.result_type, self.planner.context.catalog)?;
        let Some(body) = body.filter(|body| {
            let given = body.targets.iter().filter(|t| !t.junk).count();
            let reads = body.ctes.iter().all(|cte| cte.query.command == a::query::Command::Select);
            given == columns.len() && body.row_marks.is_empty() && reads
        }) else {
            return Ok(None);
        };
        let mut query = body.clone();
        put_arguments(&mut query, &call.args);
        self.planner.inlined.push(body);
        Ok(Some((def.oid, query)))
    }
}

/// Puts arguments, which name no columns, in place of the parameters of a body.
fn put_arguments(query: &mut Query, args: &[a::Expr]) {
    let never = a::walk::visit_query_mut::<std::convert::Infallible>(query, 0, &mut |expr, _| {
        if let a::Expr::Param(param) = expr
            && param.kind == a::ParamKind::Extern
            && let Some(arg) = usize::try_from(param.id).ok().and_then(|n| args.get(n.checked_sub(1)?))
        {
            *expr = arg.clone();
            return Ok(false);
        }
        Ok(true)
    });
    let Ok(()) = never;
}

/// Whether a query is one expression and nothing else.
fn is_expression(query: &Query) -> bool {
    let [target] = query.targets.as_slice() else { return false };
    let more = |e: &a::Expr| match e {
        a::Expr::SubLink(_) | a::Expr::Aggregate(_) | a::Expr::Window(_) | a::Expr::Grouping(_) => true,
        a::Expr::Func(call) => call.returns_set,
        a::Expr::Op(call) => call.returns_set,
        _ => false,
    };
    query.command == a::query::Command::Select
        && query.ctes.is_empty()
        && query.range_table.is_empty()
        && query.join_tree.items.is_empty()
        && query.join_tree.filter.is_none()
        && query.group_by.is_empty()
        && query.grouping_sets.is_empty()
        && query.having.is_none()
        && query.windows.is_empty()
        && query.distinct.is_empty()
        && query.order_by.is_empty()
        && query.offset.is_none()
        && query.limit.is_none()
        && query.row_marks.is_empty()
        && query.set_operation.is_none()
        && !a::walk::contains(&target.expr, |e, _| more(e))
}

/// Whether a body is as predictable as its function promises, as strict, and computes arguments as often as a call would, where that matters.
fn keeps_promises(function: &FunctionDef, body: &Expr, args: &[Expr]) -> bool {
    let predictable = match function.volatility {
        'i' => body.volatility() == Volatility::Immutable,
        's' => body.volatility() != Volatility::Volatile,
        _ => true,
    };
    let mut uses = vec![0_u32; args.len()];
    body.any(&mut |e| {
        if let Expr::Param { number, .. } = e
            && let Some(count) = uses.get_mut(*number)
        {
            *count += 1;
        }
        false
    });
    let strict = !function.strict || (uses.iter().all(|n| *n > 0) && is_strict(body));
    let computed = uses.iter().zip(args).all(|(uses, arg)| {
        *uses == 1 || (!arg.is_volatile() && !arg.has_subplans() && arg.operators() <= CHEAP)
    });
    predictable && strict && computed
}

/// Whether an expression is NULL if one of its parameters is.
fn is_strict(expr: &Expr) -> bool {
    let lenient = |e: &Expr| match e {
        Expr::Const { .. } | Expr::Param { .. } | Expr::Relabel { .. } | Expr::IoCast { .. } => false,
        Expr::Call(call) => !call.function.strict(),
        Expr::Not(_) => false,
        Expr::Test(Test::IsNull | Test::IsNotNull, _) => true,
        _ => true,
    };
    !expr.any(&mut |e| lenient(e))
}
