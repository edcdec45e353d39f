//! SQL/JSON as SQL text.

use crate::deparse::{Deparse, Parent, Scope};
use crate::expr::{Const, Expr};
use crate::json_text::{JsonWriter, format_clause};
use crate::json_tree::*;
use crate::names::{format_type, quote_literal};

/// How deep the lines of JSON_TABLE stand in FROM of the outermost query.
const TABLE_INDENT: usize = 8;

impl Deparse<'_> {
    /// Writes a node of SQL/JSON.
    pub(crate) fn json(&self, json: &Json<Expr>, scope: &Scope<'_>, out: &mut String) {
        self.with_json_writer(scope, &mut |w| match json {
            Json::Value(v) => {
                self.write(&v.raw, scope, out);
                out.push_str(&format_clause(v.format));
            }
            Json::Constructor(c) => match &c.call {
                None => out.push_str(&w.constructor(c)),
                Some(call) => {
                    let options = c.options(w.type_name);
                    let parts = (c.name(), c.separator(1), options.as_str());
                    match call {
                        Expr::Aggregate(a) => self.named_aggregate(a, parts, scope, out),
                        Expr::Window(call) => self.named_window(call, parts, scope, out),
                        other => self.write(other, scope, out),
                    }
                }
            },
            Json::Is(i) => self.wrapped(out, |d, out| {
                d.child(&i.arg, &Parent::Other, scope, out);
                out.push_str(&w.is_clause(i));
            }),
            Json::Path(p) => out.push_str(&w.path(p)),
            Json::Table(t) => out.push_str(&w.table(t, Some(TABLE_INDENT))),
        });
    }

    fn with_json_writer(&self, scope: &Scope<'_>, f: &mut dyn FnMut(&JsonWriter<'_, Expr>)) {
        let text = |e: &Expr| {
            let mut out = String::new();
            self.write(e, scope, &mut out);
            out
        };
        f(&JsonWriter {
            expr: &text,
            path: &|e| match e {
                Expr::Const(c) => self.bare_constant(c),
                other => text(other),
            },
            type_name: &|oid, typmod| format_type(self.catalog, oid, Some(typmod)),
            is_string: &|oid| is_string(self.catalog, oid),
            node: &json_node,
        });
    }

    /// A constant without its type.
    fn bare_constant(&self, c: &Const) -> String {
        let mut bytes = Vec::new();
        match types::output(c.type_oid, &c.value, self.call, &mut bytes) {
            Ok(()) if !c.value.is_null() => quote_literal(&String::from_utf8_lossy(&bytes)),
            _ => "NULL".to_owned(),
        }
    }
}

/// The node of SQL/JSON that an expression is.
pub(crate) fn json_node(e: &Expr) -> Option<&Json<Expr>> {
    match e {
        Expr::Json(json) => Some(json),
        _ => None,
    }
}

/// Whether a type is one of strings.
pub fn is_string(catalog: &dyn catalog::view::CatalogView, oid: base::Oid) -> bool {
    match types::builtin_type(oid) {
        Some(t) => t.category == b'S',
        None => catalog.type_by_oid(oid).ok().flatten().is_some_and(|t| t.category == 'S'),
    }
}
