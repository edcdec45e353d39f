//! Calls of functions in SQL's own syntax as SQL text.

use base::Oid;
use types::oids;

use crate::deparse::{Deparse, Scope};
use crate::expr::{Expr, FuncExpr};

impl Deparse<'_> {
    /// Calls with syntax of their own; false if this is none that is known.
    pub(crate) fn sql_syntax(&self, name: &str, f: &FuncExpr, scope: &Scope<'_>, out: &mut String) -> bool {
        let text = |e: &Expr| {
            let mut s = String::new();
            self.write(e, scope, &mut s);
            s
        };
        let args: Vec<String> = f.args.iter().map(text).collect();
        let is_text = |at: usize| crate::facts::expr_type(&f.args[at], &|_| Oid::INVALID) == oids::text;
        match (name, args.as_slice()) {
            ("timezone", [zone, value]) => out.push_str(&format!("({value} AT TIME ZONE {zone})")),
            ("timezone", [value]) => out.push_str(&format!("({value} AT LOCAL)")),
            ("extract", [field, value]) => {
                out.push_str(&format!("EXTRACT({} FROM {value})", bare_word(field)));
            }
            ("overlaps", [a, b, c, d]) => out.push_str(&format!("(({a}, {b}) OVERLAPS ({c}, {d}))")),
            ("position", [whole, part]) => out.push_str(&format!("POSITION(({part}) IN ({whole}))")),
            ("substring", [s, pattern, escape]) if is_text(1) => {
                out.push_str(&format!("SUBSTRING({s} SIMILAR {pattern} ESCAPE {escape})"));
            }
            ("substring", [s, from, n]) => out.push_str(&format!("SUBSTRING({s} FROM {from} FOR {n})")),
            ("substring", [s, from]) => out.push_str(&format!("SUBSTRING({s} FROM {from})")),
            ("overlay", [s, new, from]) => out.push_str(&format!("OVERLAY({s} PLACING {new} FROM {from})")),
            ("overlay", [s, new, from, n]) => {
                out.push_str(&format!("OVERLAY({s} PLACING {new} FROM {from} FOR {n})"));
            }
            ("normalize", [s]) => out.push_str(&format!("NORMALIZE({s})")),
            ("normalize", [s, form]) => out.push_str(&format!("NORMALIZE({s}, {})", bare_word(form))),
            ("is_normalized", [s]) => out.push_str(&format!("({s} IS NORMALIZED)")),
            ("is_normalized", [s, form]) => {
                out.push_str(&format!("({s} IS {} NORMALIZED)", bare_word(form)));
            }
            ("btrim", [s]) => out.push_str(&format!("TRIM(BOTH FROM {s})")),
            ("btrim", [s, chars]) => out.push_str(&format!("TRIM(BOTH {chars} FROM {s})")),
            ("ltrim", [s]) => out.push_str(&format!("TRIM(LEADING FROM {s})")),
            ("ltrim", [s, chars]) => out.push_str(&format!("TRIM(LEADING {chars} FROM {s})")),
            ("rtrim", [s]) => out.push_str(&format!("TRIM(TRAILING FROM {s})")),
            ("rtrim", [s, chars]) => out.push_str(&format!("TRIM(TRAILING {chars} FROM {s})")),
            ("xmlexists", [path, xml]) => out.push_str(&format!("XMLEXISTS(({path}) PASSING ({xml}))")),
            ("pg_collation_for", [s]) => out.push_str(&format!("COLLATION FOR ({s})")),
            _ => return false,
        }
        true
    }
}

/// The word that a constant's text is.
fn bare_word(constant: &str) -> &str {
    constant.split("::").next().unwrap_or(constant).trim_matches('\'')
}
