//! Type, modifier, collation and location of any expression.

use base::Oid;
use types::oids;

use crate::core::Analyzer;
use crate::expr::{Expr, Location, SqlValueKind, SubLinkType};
use crate::json_tree::Json;
use crate::xml_tree::Xml;

/// Type of an expression. A subquery in an expression has the type of its column; EXISTS and comparisons are boolean.
pub fn expr_type(expr: &Expr, array_of: &dyn Fn(Oid) -> Oid) -> Oid {
    match expr {
        Expr::Var(x) => x.type_oid,
        Expr::Const(x) => x.type_oid,
        Expr::Param(x) => x.type_oid,
        Expr::Func(x) => x.result_type,
        Expr::Op(x) | Expr::Distinct(x) => x.result_type,
        Expr::NullIf(x) => x.args.first().map_or(x.result_type, |a| expr_type(a, array_of)),
        Expr::ScalarArray(_)
        | Expr::Bool(_)
        | Expr::RowCompare(_)
        | Expr::NullTest(_)
        | Expr::BooleanTest(_)
        | Expr::CurrentOf(_) => oids::bool,
        Expr::Aggregate(x) => x.result_type,
        Expr::Grouping(_) => oids::int4,
        Expr::Window(x) => x.result_type,
        Expr::SubLink(x) => match x.kind {
            SubLinkType::Expr | SubLinkType::Array => {
                let of = x.query.targets.iter().find(|t| !t.junk);
                let t = of.map_or(oids::text, |t| expr_type(&t.expr, array_of));
                if x.kind == SubLinkType::Array { promoted_array(t, array_of) } else { t }
            }
            SubLinkType::MultiExpr => oids::record,
            _ => oids::bool,
        },
        Expr::Subscript(x) => x.result_type,
        Expr::Field(x) => x.result_type,
        Expr::FieldStore(x) => x.result_type,
        Expr::Relabel(x) => x.result_type,
        Expr::IoCast(x) => x.result_type,
        Expr::ArrayCast(x) => x.result_type,
        Expr::RowCast(x) => x.result_type,
        Expr::Collate(x) => expr_type(&x.arg, array_of),
        Expr::Case(x) => x.result_type,
        Expr::CaseTest(x) => x.type_oid,
        Expr::Array(x) => x.array_type,
        Expr::Row(x) => x.row_type,
        Expr::Coalesce(x) => x.result_type,
        Expr::MinMax(x) => x.result_type,
        Expr::SqlValue(x) => x.result_type,
        Expr::ToDomain(x) => x.domain,
        Expr::DomainValue(x) => x.type_oid,
        Expr::Default(x) => x.type_oid,
        Expr::NamedArg(x) => expr_type(&x.arg, array_of),
        Expr::NextValue(x) => x.type_oid,
        Expr::MergeAction(_) => oids::text,
        Expr::Json(x) => x.type_oid(&|e| expr_type(e, array_of)),
        Expr::Xml(x) => x.type_oid(),
    }
}

/// Type of an array of these: of arrays, one more dimension of the same type.
fn promoted_array(t: Oid, array_of: &dyn Fn(Oid) -> Oid) -> Oid {
    let array = array_of(t);
    if array.is_valid() { array } else { t }
}

/// Modifier of an expression, -1 if none or not known.
pub fn expr_typmod(expr: &Expr) -> i32 {
    match expr {
        Expr::Var(x) => x.typmod,
        Expr::Const(x) => x.typmod,
        Expr::Param(x) => x.typmod,
        Expr::Func(x) => length_conversion(x),
        Expr::NullIf(x) => x.args.first().map_or(-1, expr_typmod),
        Expr::SubLink(x) => match x.kind {
            SubLinkType::Expr | SubLinkType::Array => {
                x.query.targets.iter().find(|t| !t.junk).map_or(-1, |t| expr_typmod(&t.expr))
            }
            _ => -1,
        },
        Expr::Subscript(x) => x.typmod,
        Expr::Field(x) => x.typmod,
        Expr::Relabel(x) => x.typmod,
        Expr::ArrayCast(x) => x.typmod,
        Expr::Collate(x) => expr_typmod(&x.arg),
        Expr::Case(x) => {
            let no_array = |_| Oid::INVALID;
            let of = |e: &Expr| if expr_type(e, &no_array) == x.result_type { expr_typmod(e) } else { -1 };
            let first = of(&x.default);
            if x.whens.iter().all(|(_, then)| of(then) == first) { first } else { -1 }
        }
        Expr::CaseTest(x) => x.typmod,
        Expr::Array(x) => same_typmod(&x.elements, if x.multidims { x.array_type } else { x.element_type }),
        Expr::Coalesce(x) => same_typmod(&x.args, x.result_type),
        Expr::MinMax(x) => same_typmod(&x.args, x.result_type),
        Expr::SqlValue(x) => x.typmod,
        Expr::ToDomain(x) => x.typmod,
        Expr::DomainValue(x) => x.typmod,
        Expr::Default(x) => x.typmod,
        Expr::NamedArg(x) => expr_typmod(&x.arg),
        Expr::Json(x) => x.typmod(&expr_typmod),
        _ => -1,
    }
}

fn same_typmod(args: &[Expr], result_type: Oid) -> i32 {
    let no_array = |_| Oid::INVALID;
    let of = |e: &Expr| if expr_type(e, &no_array) == result_type { expr_typmod(e) } else { -1 };
    let first = args.first().map_or(-1, of);
    // Asked once for each expression: otherwise the time would double with each level of nesting.
    if args.iter().skip(1).all(|a| of(a) == first) { first } else { -1 }
}

/// The modifier that a length conversion applies: the second argument of a cast's function.
fn length_conversion(f: &crate::expr::FuncExpr) -> i32 {
    use crate::expr::CoercionForm as Form;
    if !matches!(f.form, Form::ExplicitCast | Form::ImplicitCast) || f.args.len() < 2 {
        return -1;
    }
    match &f.args[1] {
        Expr::Const(c) if c.type_oid == oids::int4 => match c.value {
            tuple::Datum::Int4(typmod) => typmod,
            _ => -1,
        },
        _ => -1,
    }
}

/// Collation of an expression's result.
pub fn expr_collation(expr: &Expr) -> Oid {
    match expr {
        Expr::Var(x) => x.collation,
        Expr::Const(x) => x.collation,
        Expr::Param(x) => x.collation,
        Expr::Func(x) => x.collation,
        Expr::Op(x) | Expr::Distinct(x) | Expr::NullIf(x) => x.collation,
        Expr::Aggregate(x) => x.collation,
        Expr::Window(x) => x.collation,
        Expr::SubLink(x) => match x.kind {
            SubLinkType::Expr | SubLinkType::Array => {
                x.query.targets.iter().find(|t| !t.junk).map_or(Oid::INVALID, |t| expr_collation(&t.expr))
            }
            _ => Oid::INVALID,
        },
        Expr::Subscript(x) => x.collation,
        Expr::Field(x) => x.collation,
        Expr::Relabel(x) => x.collation,
        Expr::IoCast(x) => x.collation,
        Expr::ArrayCast(x) => x.collation,
        Expr::Collate(x) => x.collation,
        Expr::Case(x) => x.collation,
        Expr::CaseTest(x) => x.collation,
        Expr::Array(x) => x.collation,
        Expr::Coalesce(x) => x.collation,
        Expr::MinMax(x) => x.collation,
        // The functions behind these return `name`, whose collation is C.
        Expr::SqlValue(x) if x.result_type == oids::name => Oid(950),
        Expr::ToDomain(x) => x.collation,
        Expr::DomainValue(x) => x.collation,
        Expr::Default(x) => x.collation,
        Expr::NamedArg(x) => expr_collation(&x.arg),
        Expr::MergeAction(_) => Oid(100),
        Expr::Json(x) => json_collation(x),
        // Only the text of XMLSERIALIZE has one.
        Expr::Xml(x) if x.type_oid() == oids::text => Oid(100),
        _ => Oid::INVALID,
    }
}

/// Collation of a node of SQL/JSON: that of its conversion, or what its type has.
fn json_collation(json: &Json<Expr>) -> Oid {
    match json {
        Json::Value(v) => expr_collation(&v.formatted),
        Json::Constructor(c) => c.coercion.as_ref().map_or(Oid::INVALID, expr_collation),
        Json::Path(p) => p.collation,
        Json::Is(_) | Json::Table(_) => Oid::INVALID,
    }
}

/// Type of CURRENT_DATE and its kin.
pub fn sql_value_type(kind: SqlValueKind) -> Oid {
    match kind {
        SqlValueKind::CurrentDate => oids::date,
        SqlValueKind::CurrentTime => oids::timetz,
        SqlValueKind::CurrentTimestamp => oids::timestamptz,
        SqlValueKind::LocalTime => oids::time,
        SqlValueKind::LocalTimestamp => oids::timestamp,
        _ => oids::name,
    }
}

/// Leftmost location of an expression, as error positions need it.
pub fn location(expr: &Expr) -> Location {
    let first = |args: &[Expr]| args.first().map_or(Location::NONE, location);
    match expr {
        Expr::Var(x) => x.location,
        Expr::Const(x) => x.location,
        Expr::Param(x) => x.location,
        Expr::Func(x) => x.location.leftmost(first(&x.args)),
        Expr::Op(x) | Expr::Distinct(x) | Expr::NullIf(x) => x.location.leftmost(first(&x.args)),
        Expr::ScalarArray(x) => x.location.leftmost(location(&x.scalar)),
        Expr::Bool(x) => x.location.leftmost(first(&x.args)),
        Expr::Aggregate(x) => x.location,
        Expr::Grouping(x) => x.location,
        Expr::Window(x) => x.location,
        Expr::SubLink(x) => x.location.leftmost(x.test.as_ref().map_or(Location::NONE, location)),
        Expr::Subscript(x) => location(&x.arg),
        Expr::Field(x) => location(&x.arg),
        Expr::FieldStore(x) => location(&x.arg),
        Expr::Relabel(x) => x.location.leftmost(location(&x.arg)),
        Expr::IoCast(x) => x.location.leftmost(location(&x.arg)),
        Expr::ArrayCast(x) => x.location.leftmost(location(&x.arg)),
        Expr::RowCast(x) => x.location.leftmost(location(&x.arg)),
        Expr::Collate(x) => location(&x.arg),
        Expr::Case(x) => x.location,
        Expr::Array(x) => x.location,
        Expr::Row(x) => x.location,
        Expr::RowCompare(x) => first(&x.left),
        Expr::Coalesce(x) => x.location,
        Expr::MinMax(x) => x.location,
        Expr::SqlValue(x) => x.location,
        Expr::NullTest(x) => x.location.leftmost(location(&x.arg)),
        Expr::BooleanTest(x) => x.location.leftmost(location(&x.arg)),
        Expr::ToDomain(x) => x.location.leftmost(location(&x.arg)),
        Expr::DomainValue(x) => x.location,
        Expr::Default(x) => x.location,
        Expr::NamedArg(x) => x.location.leftmost(location(&x.arg)),
        Expr::MergeAction(x) => x.location,
        Expr::Json(x) => match &**x {
            Json::Value(v) => location(&v.raw),
            Json::Is(i) => i.location.leftmost(location(&i.arg)),
            json => json.location(),
        },
        Expr::Xml(x) => match &**x {
            Xml::Call(c) => c.location.leftmost(first(&c.args)),
            Xml::Table(t) => t.location,
        },
        Expr::CaseTest(_) | Expr::CurrentOf(_) | Expr::NextValue(_) => Location::NONE,
    }
}

impl Analyzer<'_> {
    /// Type of an expression.
    pub(crate) fn type_of(&self, expr: &Expr) -> Oid {
        expr_type(expr, &|t| self.array_type(t).unwrap_or_default())
    }

    /// Modifier of an expression.
    pub(crate) fn typmod_of(&self, expr: &Expr) -> i32 {
        expr_typmod(expr)
    }
}
