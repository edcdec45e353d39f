//! Equality of raw expressions that disregards locations, to recognise windows written twice.

use parse::ast::{Expr, SortBy};

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
