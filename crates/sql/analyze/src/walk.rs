//! Visiting expressions and queries.

use crate::expr::Expr;
use crate::query::{FrameBound, FromNode, Query, RteKind};

macro_rules! children {
    ($name:ident, $iter:ident, $as_ref:ident, $doc:literal, $($m:tt)*) => {
        #[doc = $doc]
        pub fn $name<E>(expr: &$($m)* Expr, f: &mut dyn FnMut(&$($m)* Expr) -> Result<(), E>) -> Result<(), E> {
            match expr {
                Expr::Var(_)
                | Expr::Const(_)
                | Expr::Param(_)
                | Expr::CaseTest(_)
                | Expr::SqlValue(_)
                | Expr::DomainValue(_)
                | Expr::Default(_)
                | Expr::CurrentOf(_)
                | Expr::NextValue(_)
                | Expr::MergeAction(_) => Ok(()),
                Expr::Func(x) => x.args.$iter().try_for_each(f),
                Expr::Op(x) | Expr::Distinct(x) | Expr::NullIf(x) => x.args.$iter().try_for_each(f),
                Expr::ScalarArray(x) => {
                    f(&$($m)* x.scalar)?;
                    f(&$($m)* x.array)
                }
                Expr::Bool(x) => x.args.$iter().try_for_each(f),
                Expr::Aggregate(x) => {
                    x.direct_args.$iter().try_for_each(&mut *f)?;
                    x.args.$iter().try_for_each(|t| f(&$($m)* t.expr))?;
                    x.filter.$as_ref().map_or(Ok(()), f)
                }
                Expr::Grouping(x) => x.args.$iter().try_for_each(f),
                Expr::Window(x) => {
                    x.args.$iter().try_for_each(&mut *f)?;
                    x.filter.$as_ref().map_or(Ok(()), f)
                }
                Expr::SubLink(x) => x.test.$as_ref().map_or(Ok(()), f),
                Expr::Subscript(x) => {
                    x.upper.$iter().flatten().try_for_each(&mut *f)?;
                    x.lower.$iter().flatten().try_for_each(&mut *f)?;
                    f(&$($m)* x.arg)?;
                    x.assign.$as_ref().map_or(Ok(()), f)
                }
                Expr::Field(x) => f(&$($m)* x.arg),
                Expr::FieldStore(x) => {
                    f(&$($m)* x.arg)?;
                    x.fields.$iter().try_for_each(|(_, e)| f(e))
                }
                Expr::Relabel(x) => f(&$($m)* x.arg),
                Expr::IoCast(x) => f(&$($m)* x.arg),
                Expr::ArrayCast(x) => {
                    f(&$($m)* x.arg)?;
                    f(&$($m)* x.element)
                }
                Expr::RowCast(x) => f(&$($m)* x.arg),
                Expr::Collate(x) => f(&$($m)* x.arg),
                Expr::Case(x) => {
                    x.arg.$as_ref().map_or(Ok(()), &mut *f)?;
                    x.whens.$iter().try_for_each(|(a, b)| {
                        f(a)?;
                        f(b)
                    })?;
                    f(&$($m)* x.default)
                }
                Expr::Array(x) => x.elements.$iter().try_for_each(f),
                Expr::Row(x) => x.args.$iter().try_for_each(f),
                Expr::RowCompare(x) => {
                    x.left.$iter().try_for_each(&mut *f)?;
                    x.right.$iter().try_for_each(f)
                }
                Expr::Coalesce(x) => x.args.$iter().try_for_each(f),
                Expr::MinMax(x) => x.args.$iter().try_for_each(f),
                Expr::NullTest(x) => f(&$($m)* x.arg),
                Expr::BooleanTest(x) => f(&$($m)* x.arg),
                Expr::ToDomain(x) => f(&$($m)* x.arg),
                Expr::NamedArg(x) => f(&$($m)* x.arg),
                Expr::Json(x) => x.$name(&mut |e| f(e)),
                Expr::Xml(x) => x.$name(&mut |e| f(e)),
            }
        }
    };
}

children!(children, iter, as_ref, "Calls `f` for each direct operand; a sublink's query is not entered.",);
children!(children_mut, iter_mut, as_mut, "As [`children()`], changing them.", mut);

macro_rules! roots {
    ($name:ident, $iter:ident, $as_ref:ident, $doc:literal, $($m:tt)*) => {
        #[doc = $doc]
        pub fn $name<E>(
            query: &$($m)* Query,
            exprs: &mut dyn FnMut(&$($m)* Expr) -> Result<(), E>,
        ) -> Result<(), E> {
            query.targets.$iter().try_for_each(|t| exprs(&$($m)* t.expr))?;
            query.returning.$iter().try_for_each(|t| exprs(&$($m)* t.expr))?;
            query.view_checks.$iter().try_for_each(|c| c.condition.$as_ref().map_or(Ok(()), &mut *exprs))?;
            for item in query.join_tree.items.$iter() {
                $name::from(item, exprs)?;
            }
            query.join_tree.filter.$as_ref().map_or(Ok(()), &mut *exprs)?;
            if let Some((node, on)) = query.merge_join.$as_ref() {
                $name::from(node, exprs)?;
                exprs(on)?;
            }
            for action in query.merge_actions.$iter() {
                action.condition.$as_ref().map_or(Ok(()), &mut *exprs)?;
                action.targets.$iter().try_for_each(|t| exprs(&$($m)* t.expr))?;
            }
            if let Some(update) = query.on_conflict.$as_ref().and_then(|c| c.update.$as_ref()) {
                update.targets.$iter().try_for_each(|t| exprs(&$($m)* t.expr))?;
                update.filter.$as_ref().map_or(Ok(()), &mut *exprs)?;
            }
            if let Some(inference) = query.on_conflict.$as_ref().and_then(|c| c.inference.$as_ref()) {
                inference.elements.$iter().try_for_each(|element| exprs(&$($m)* element.expr))?;
                inference.filter.$as_ref().map_or(Ok(()), &mut *exprs)?;
            }
            query.having.$as_ref().map_or(Ok(()), &mut *exprs)?;
            query.offset.$as_ref().map_or(Ok(()), &mut *exprs)?;
            query.limit.$as_ref().map_or(Ok(()), &mut *exprs)?;
            for window in query.windows.$iter() {
                for bound in [&$($m)* window.frame.start, &$($m)* window.frame.end] {
                    if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                        exprs(e)?;
                    }
                }
            }
            for rte in query.range_table.$iter() {
                match &$($m)* rte.kind {
                    RteKind::Join(j) => j.columns.$iter().try_for_each(&mut *exprs)?,
                    RteKind::Function(f) => f.functions.$iter().try_for_each(|f| exprs(&$($m)* f.call))?,
                    RteKind::Values(v) => v.rows.$iter().flatten().try_for_each(&mut *exprs)?,
                    RteKind::Relation(r) => {
                        if let Some(sample) = r.sample.$as_ref() {
                            sample.args.$iter().try_for_each(&mut *exprs)?;
                            sample.repeatable.$as_ref().map_or(Ok(()), &mut *exprs)?;
                        }
                        r.barriers.$iter().try_for_each(&mut *exprs)?;
                    }
                    RteKind::Subquery(_) | RteKind::Cte(_) | RteKind::Transition(_) => {}
                }
            }
            Ok(())
        }
        mod $name {
            use super::{Expr, FromNode};
            pub(super) fn from<E>(
                node: &$($m)* FromNode,
                exprs: &mut dyn FnMut(&$($m)* Expr) -> Result<(), E>,
            ) -> Result<(), E> {
                if let FromNode::Join(join) = node {
                    from(&$($m)* join.left, exprs)?;
                    from(&$($m)* join.right, exprs)?;
                    join.on.$as_ref().map_or(Ok(()), exprs)?;
                }
                Ok(())
            }
        }
    };
}

roots!(
    roots,
    iter,
    as_ref,
    "Calls `exprs` for every expression that hangs directly in the query; subqueries are not entered.",
);
roots!(roots_mut, iter_mut, as_mut, "As [`roots()`], changing them.", mut);

/// Calls `f` for `expr` and everything below it, with the number of query levels entered. `f` gives whether to go below.
pub fn visit<E>(expr: &Expr, depth: u32, f: &mut dyn FnMut(&Expr, u32) -> Result<bool, E>) -> Result<(), E> {
    if !f(expr, depth)? {
        return Ok(());
    }
    children(expr, &mut |e| visit(e, depth, f))?;
    match expr {
        Expr::SubLink(s) => visit_query(&s.query, depth + 1, f),
        _ => Ok(()),
    }
}

/// Calls `f` for every expression of a query and the queries inside it; `depth` is that of the query itself.
pub fn visit_query<E>(
    query: &Query,
    depth: u32,
    f: &mut dyn FnMut(&Expr, u32) -> Result<bool, E>,
) -> Result<(), E> {
    roots(query, &mut |e| visit(e, depth, f))?;
    for cte in &query.ctes {
        visit_query(&cte.query, depth + 1, f)?;
    }
    for rte in &query.range_table {
        if let RteKind::Subquery(s) = &rte.kind {
            visit_query(&s.query, depth + 1, f)?;
        }
    }
    Ok(())
}

/// As [`visit`], changing expressions, from the outside in.
pub fn visit_mut<E>(
    expr: &mut Expr,
    depth: u32,
    f: &mut dyn FnMut(&mut Expr, u32) -> Result<bool, E>,
) -> Result<(), E> {
    if !f(expr, depth)? {
        return Ok(());
    }
    children_mut(expr, &mut |e| visit_mut(e, depth, f))?;
    match expr {
        Expr::SubLink(s) => visit_query_mut(&mut s.query, depth + 1, f),
        _ => Ok(()),
    }
}

/// As [`visit_query`], changing expressions.
pub fn visit_query_mut<E>(
    query: &mut Query,
    depth: u32,
    f: &mut dyn FnMut(&mut Expr, u32) -> Result<bool, E>,
) -> Result<(), E> {
    roots_mut(query, &mut |e| visit_mut(e, depth, f))?;
    for cte in &mut query.ctes {
        visit_query_mut(&mut cte.query, depth + 1, f)?;
    }
    for rte in &mut query.range_table {
        if let RteKind::Subquery(s) = &mut rte.kind {
            visit_query_mut(&mut s.query, depth + 1, f)?;
        }
    }
    Ok(())
}

/// Calls `f` for the query of every sublink that hangs directly in the query.
pub fn subqueries_mut<E>(query: &mut Query, f: &mut dyn FnMut(&mut Query) -> Result<(), E>) -> Result<(), E> {
    fn below<E>(expr: &mut Expr, f: &mut dyn FnMut(&mut Query) -> Result<(), E>) -> Result<(), E> {
        if let Expr::SubLink(s) = expr {
            f(&mut s.query)?;
        }
        children_mut(expr, &mut |e| below(e, f))
    }
    roots_mut(query, &mut |e| below(e, f))
}

/// Adds `delta` to the levels of everything in `expr` that refers to a query at least `min` levels out.
pub fn raise_levels(expr: &mut Expr, delta: u32, min: u32) {
    let _ = visit_mut::<std::convert::Infallible>(expr, min, &mut |e, depth| {
        match e {
            Expr::Var(v) if v.levels_up >= depth => v.levels_up += delta,
            Expr::Aggregate(a) if a.levels_up >= depth => a.levels_up += delta,
            Expr::Grouping(g) if g.levels_up >= depth => g.levels_up += delta,
            _ => {}
        }
        Ok(true)
    });
    raise_cte_levels(expr, delta, min);
}

fn raise_cte_levels(expr: &mut Expr, delta: u32, min: u32) {
    let _ = visit_mut::<std::convert::Infallible>(expr, min, &mut |e, depth| {
        if let Expr::SubLink(s) = e {
            raise_query_ctes(&mut s.query, delta, depth + 1);
        }
        Ok(true)
    });
}

/// As [`raise_levels`], for a query whose own level is `depth` inside.
pub fn raise_query_levels(query: &mut Query, delta: u32, depth: u32) {
    let Ok(()) = visit_query_mut::<std::convert::Infallible>(query, depth, &mut |e, depth| {
        match e {
            Expr::Var(v) if v.levels_up >= depth => v.levels_up += delta,
            Expr::Aggregate(a) if a.levels_up >= depth => a.levels_up += delta,
            Expr::Grouping(g) if g.levels_up >= depth => g.levels_up += delta,
            // Their own queries of WITH are entered here, those below by the call further down.
            Expr::SubLink(s) => raise_query_ctes(&mut s.query, delta, depth + 1),
            _ => {}
        }
        Ok(true)
    });
    raise_query_ctes(query, delta, depth);
}

fn raise_query_ctes(query: &mut Query, delta: u32, depth: u32) {
    for rte in &mut query.range_table {
        match &mut rte.kind {
            RteKind::Cte(c) if c.levels_up >= depth => c.levels_up += delta,
            RteKind::Subquery(s) => raise_query_ctes(&mut s.query, delta, depth + 1),
            _ => {}
        }
    }
    for cte in &mut query.ctes {
        raise_query_ctes(&mut cte.query, delta, depth + 1);
    }
}

/// Whether any expression below `expr`, at its own level, satisfies `test`; subqueries are entered with their depth.
pub fn contains(expr: &Expr, mut test: impl FnMut(&Expr, u32) -> bool) -> bool {
    visit(expr, 0, &mut |e, depth| if test(e, depth) { Err(()) } else { Ok(true) }).is_err()
}
