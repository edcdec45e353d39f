//! Equality of raw expressions that disregards locations, to recognise windows written twice.

use parse::ast::{Expr, Location, SortBy};

/// Whether two lists of expressions are written alike.
pub(crate) fn exprs(a: &[Expr], b: &[Expr]) -> bool {
    strip(&format!("{a:?}")) == strip(&format!("{b:?}"))
}

/// Whether two ORDER BY lists are written alike.
pub(crate) fn sorts(a: &[SortBy], b: &[SortBy]) -> bool {
    strip(&format!("{a:?}")) == strip(&format!("{b:?}"))
}

/// The text without its `Location(n)` parts.
fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(i) = rest.find("Location(") {
        out.push_str(&rest[..i]);
        rest = &rest[i..];
        rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
    }
    out.push_str(rest);
    out
}

/// Where a raw expression begins, as far as its first operand tells.
pub(crate) fn location(e: &Expr) -> Location {
    match e {
        Expr::Column(c) => c.location,
        Expr::Op(o) => o.left.as_ref().map_or(o.location, location),
        Expr::Func(f) => f.location,
        Expr::Cast(c) => location(&c.arg).leftmost(c.location),
        Expr::Collate(c) => c.arg.as_ref().map_or(c.location, location),
        Expr::SubLink(s) => s.test.as_ref().map_or(s.location, location),
        Expr::Case(c) => c.location,
        Expr::Indirection { arg, .. } => location(arg),
        Expr::Bool { args, location: at, .. } => args.first().map_or(*at, |a| location(a).leftmost(*at)),
        Expr::NullTest { arg, .. } | Expr::BooleanTest { arg, .. } => location(arg),
        Expr::Param { location, .. }
        | Expr::Const { location, .. }
        | Expr::Array { location, .. }
        | Expr::Row { location, .. }
        | Expr::Coalesce { location, .. }
        | Expr::MinMax { location, .. }
        | Expr::SqlValue { location, .. }
        | Expr::Default { location }
        | Expr::Grouping { location, .. }
        | Expr::NamedArg { location, .. }
        | Expr::MergeAction { location } => *location,
        Expr::Json(json) => json.location(),
        Expr::Xml(xml) => xml.location(),
        Expr::CurrentOf { .. } => Location::NONE,
    }
}
