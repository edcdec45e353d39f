//! Equality of expressions that disregards where they stand in the text.

use crate::expr::{Expr, Location};
use crate::walk::visit_mut;

/// Whether two expressions are the same but for locations.
pub fn same(a: &Expr, b: &Expr) -> bool {
    if std::mem::discriminant(a) != std::mem::discriminant(b) {
        return false;
    }
    match (a, b) {
        (Expr::Var(x), Expr::Var(y)) => {
            (x.rte, x.attno, x.levels_up, x.version) == (y.rte, y.attno, y.levels_up, y.version)
        }
        (Expr::Const(x), Expr::Const(y)) => {
            (x.type_oid, x.typmod, &x.value) == (y.type_oid, y.typmod, &y.value)
        }
        _ => without_locations(a) == without_locations(b),
    }
}

fn without_locations(e: &Expr) -> Expr {
    let mut e = e.clone();
    let _ = visit_mut::<std::convert::Infallible>(&mut e, 0, &mut |e, _| {
        clear(e);
        Ok(true)
    });
    e
}

/// Forgets the location of an expression's top.
fn clear(e: &mut Expr) {
    let none = Location::NONE;
    match e {
        Expr::Var(x) => x.location = none,
        Expr::Const(x) => x.location = none,
        Expr::Param(x) => x.location = none,
        Expr::Func(x) => x.location = none,
        Expr::Op(x) | Expr::Distinct(x) | Expr::NullIf(x) => x.location = none,
        Expr::ScalarArray(x) => x.location = none,
        Expr::Bool(x) => x.location = none,
        Expr::Aggregate(x) => x.location = none,
        Expr::Grouping(x) => x.location = none,
        Expr::Window(x) => x.location = none,
        Expr::SubLink(x) => x.location = none,
        Expr::Relabel(x) => x.location = none,
        Expr::IoCast(x) => x.location = none,
        Expr::ArrayCast(x) => x.location = none,
        Expr::RowCast(x) => x.location = none,
        Expr::Collate(x) => x.location = none,
        Expr::Case(x) => x.location = none,
        Expr::Array(x) => x.location = none,
        Expr::Row(x) => x.location = none,
        Expr::Coalesce(x) => x.location = none,
        Expr::MinMax(x) => x.location = none,
        Expr::SqlValue(x) => x.location = none,
        Expr::NullTest(x) => x.location = none,
        Expr::BooleanTest(x) => x.location = none,
        Expr::ToDomain(x) => x.location = none,
        Expr::DomainValue(x) => x.location = none,
        Expr::Default(x) => x.location = none,
        Expr::NamedArg(x) => x.location = none,
        Expr::MergeAction(x) => x.location = none,
        Expr::Json(x) => x.clear_location(),
        Expr::Xml(x) => x.clear_location(),
        Expr::Subscript(_)
        | Expr::Field(_)
        | Expr::FieldStore(_)
        | Expr::CaseTest(_)
        | Expr::RowCompare(_)
        | Expr::CurrentOf(_)
        | Expr::NextValue(_) => {}
    }
}
