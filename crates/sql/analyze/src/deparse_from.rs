//! FROM as SQL text.

use crate::clause::strip_implicit;
use crate::deparse::{Deparse, Names, Scope};
use crate::deparse_names::{QueryScope, table_function};
use crate::deparse_query::indent;
use crate::expr::{CoercionForm, Expr, RowVersion};
use crate::names::{format_type, quote_identifier};
use crate::query::{
    ColumnType, FromNode, Functions, JoinNode, JoinType, Query, RangeFunction, RangeTableEntry, Relation,
    RteKind, TableSample,
};

/// `unnest(anyarray)`.
const UNNEST: base::Oid = base::Oid(2331);

impl Deparse<'_> {
    /// Current names of the columns of an entry without column aliases, as they may have been renamed.
    pub(crate) fn real_columns(&self, rte: &RangeTableEntry) -> Option<Vec<String>> {
        match &rte.kind {
            RteKind::Relation(r) => {
                let name = |c: &catalog::view::Column| if c.dropped { String::new() } else { c.name.clone() };
                Some(r.table.columns.iter().map(name).collect())
            }
            RteKind::Subquery(s) if s.view.is_valid() => {
                let view = self.catalog.relation_by_oid(s.view).ok().flatten()?;
                Some(view.columns.iter().map(|c| c.name.clone()).collect())
            }
            _ => None,
        }
    }

    /// An item of FROM.
    pub(crate) fn join_node(&self, node: &FromNode, query: &Query, scope: &Scope<'_>, out: &mut String) {
        match node {
            FromNode::Entry(i) => self.entry(*i, query, scope, out),
            FromNode::Join(j) => self.join(j, query, scope, out),
        }
    }

    fn join(&self, j: &JoinNode, query: &Query, scope: &Scope<'_>, out: &mut String) {
        let Names::Query(own) = scope.names else { return };
        let named = query.range_table.get(j.rte).is_some_and(|r| r.alias.is_some());
        let brackets = named || !self.pretty;
        if brackets {
            out.push('(');
        }
        self.join_node(&j.left, query, scope, out);
        let cross = j.on.is_none() && j.using.is_empty() && j.kind == JoinType::Inner;
        out.push_str("\n     ");
        out.push_str(match j.kind {
            JoinType::Inner if cross => "CROSS JOIN ",
            JoinType::Inner => "JOIN ",
            JoinType::Left => "LEFT JOIN ",
            JoinType::Full => "FULL JOIN ",
            JoinType::Right => "RIGHT JOIN ",
        });
        let nested = self.pretty
            && matches!(&j.right, FromNode::Join(r) if query.range_table.get(r.rte).is_none_or(|r| r.alias.is_none()));
        if nested {
            out.push('(');
        }
        self.join_node(&j.right, query, scope, out);
        if nested {
            out.push(')');
        }
        if !j.using.is_empty() {
            let names: Vec<String> = own.names.using[j.rte].iter().map(|n| quote_identifier(n)).collect();
            out.push_str(&format!(" USING ({})", names.join(", ")));
            if let Some(alias) = &own.names.using_aliases[j.rte] {
                out.push_str(&format!(" AS {}", quote_identifier(alias)));
            }
        } else if let Some(on) = &j.on {
            let inside = QueryScope { inside: Some(j.rte), ..own };
            let text = self.text(on, &Scope { names: Names::Query(inside), outer: scope.outer });
            out.push_str(&if self.pretty { format!(" ON {text}") } else { format!(" ON ({text})") });
        } else if !cross {
            out.push_str(" ON TRUE");
        }
        if brackets {
            out.push(')');
        }
        if named {
            out.push_str(&format!(" {}", own.entry(j.rte, RowVersion::Default)));
            if own.names.listed[j.rte] {
                out.push_str(&format!("({})", own.names.list(query, j.rte).join(", ")));
            }
        }
    }

    fn entry(&self, at: usize, query: &Query, scope: &Scope<'_>, out: &mut String) {
        let (Some(rte), Names::Query(own)) = (query.range_table.get(at), scope.names) else { return };
        let inside = QueryScope { inside: Some(at), ..own };
        let scope = &Scope { names: Names::Query(inside), outer: scope.outer };
        if rte.lateral {
            out.push_str("LATERAL ");
        }
        let mut name = String::new();
        let mut definitions = None;
        match &rte.kind {
            RteKind::Relation(r) => {
                if !r.inherit {
                    out.push_str("ONLY ");
                }
                out.push_str(&self.relation_name(&r.table.schema_name, &r.table.name, r.oid));
                name.clone_from(&r.table.name);
            }
            RteKind::Subquery(s) if s.view.is_valid() => {
                if let Ok(Some(t)) = self.catalog.relation_by_oid(s.view) {
                    out.push_str(&self.relation_name(&t.schema_name, &t.name, s.view));
                    name.clone_from(&t.name);
                }
            }
            RteKind::Subquery(s) => {
                out.push_str(&format!("({})", indent(&self.subquery(&s.query, Some(scope)))))
            }
            RteKind::Values(v) => out.push_str(&format!("({})", self.values(&v.rows, scope))),
            RteKind::Function(f) => {
                definitions = self.functions(f, scope, out);
                name.push_str(table_function(rte).unwrap_or_default());
            }
            RteKind::Cte(c) => {
                out.push_str(&quote_identifier(&c.name));
                name.clone_from(&c.name);
            }
            RteKind::Transition(t) => {
                out.push_str(&quote_identifier(&t.name));
                name.clone_from(&t.name);
            }
            RteKind::Join(_) => {}
        }
        let shown = own.entry(at, RowVersion::Default);
        if rte.alias.is_some() || own.names.listed[at] || shown != quote_identifier(&name) {
            out.push_str(&format!(" {shown}"));
        }
        if let Some(definitions) = definitions {
            out.push_str(&format!("({definitions})"));
        } else if own.names.listed[at] {
            out.push_str(&format!("({})", own.names.list(query, at).join(", ")));
        }
        if let RteKind::Relation(Relation { sample: Some(sample), .. }) = &rte.kind {
            self.sample(sample, scope, out);
        }
    }

    /// VALUES with its rows.
    pub(crate) fn values(&self, rows: &[Vec<Expr>], scope: &Scope<'_>) -> String {
        let cells = |row: &Vec<Expr>| {
            let cells: Vec<String> = row.iter().map(|e| self.top_level(strip_implicit(e), scope)).collect();
            format!("({})", cells.join(","))
        };
        format!("VALUES {}", rows.iter().map(cells).collect::<Vec<_>>().join(", "))
    }

    /// Functions in FROM; the definitions of the columns of a single one that returns plain records.
    fn functions(&self, f: &Functions, scope: &Scope<'_>, out: &mut String) -> Option<String> {
        let mut definitions = None;
        let unnest =
            |f: &RangeFunction| matches!(&f.call, Expr::Func(c) if c.function == UNNEST && c.args.len() == 1);
        match f.functions.as_slice() {
            [one] if !f.ordinality || self.record_columns(one).is_none() => {
                out.push_str(&self.call_like_function(&one.call, scope));
                definitions = self.record_columns(one);
            }
            all if all.len() > 1 && all.iter().all(unnest) => {
                let arg = |f: &RangeFunction| match &f.call {
                    Expr::Func(c) => c.args.iter().map(|a| self.text(a, scope)).collect(),
                    _ => String::new(),
                };
                out.push_str(&format!("UNNEST({})", all.iter().map(arg).collect::<Vec<_>>().join(", ")));
            }
            all => {
                let call = |f: &RangeFunction| {
                    let columns = self.record_columns(f).map_or(String::new(), |c| format!(" AS ({c})"));
                    format!("{}{columns}", self.call_like_function(&f.call, scope))
                };
                out.push_str(&format!("ROWS FROM({})", all.iter().map(call).collect::<Vec<_>>().join(", ")));
            }
        }
        if f.ordinality {
            out.push_str(" WITH ORDINALITY");
        }
        definitions
    }

    /// A call where the grammar takes nothing else.
    fn call_like_function(&self, e: &Expr, scope: &Scope<'_>) -> String {
        let text = self.text(e, scope);
        let call = match e {
            Expr::Func(f) => matches!(f.form, CoercionForm::Call | CoercionForm::SqlSyntax),
            Expr::Coalesce(_)
            | Expr::MinMax(_)
            | Expr::NullIf(_)
            | Expr::SqlValue(_)
            | Expr::Json(_)
            | Expr::Xml(_) => true,
            _ => false,
        };
        if call {
            return text;
        }
        let (type_oid, typmod) =
            (crate::facts::expr_type(e, &|_| base::Oid::INVALID), crate::facts::expr_typmod(e));
        format!("CAST({text} AS {})", format_type(self.catalog, type_oid, Some(typmod)))
    }

    /// Column definitions of a function that returns plain records.
    fn record_columns(&self, f: &RangeFunction) -> Option<String> {
        let Expr::Func(call) = &f.call else { return None };
        let named = match types::registry::function(call.function) {
            Some(builtin) => builtin.out_columns().next().is_some(),
            None => {
                let found = self.catalog.function_by_oid(call.function).ok().flatten();
                found.is_some_and(|function| !function.out_columns.is_empty())
            }
        };
        if call.result_type != types::oids::record || named {
            return None;
        }
        let column = |c: &ColumnType| {
            let type_name = format_type(self.catalog, c.type_oid, Some(c.typmod));
            let mut text = format!("{} {type_name}", quote_identifier(&c.name));
            if c.collation.is_valid() && c.collation != self.type_collation(c.type_oid) {
                text.push_str(&format!(" COLLATE {}", self.collation_name(c.collation)));
            }
            text
        };
        Some(f.columns.iter().map(column).collect::<Vec<_>>().join(", "))
    }

    fn type_collation(&self, oid: base::Oid) -> base::Oid {
        let own = types::builtin_type(oid).map(|t| t.collation);
        let of_user = || self.catalog.type_by_oid(oid).ok().flatten().map(|t| t.collation);
        own.or_else(of_user).unwrap_or(base::Oid::INVALID)
    }

    fn sample(&self, sample: &TableSample, scope: &Scope<'_>, out: &mut String) {
        let args: Vec<String> = sample.args.iter().map(|e| self.text(strip_implicit(e), scope)).collect();
        out.push_str(&format!(" TABLESAMPLE {} ({})", quote_identifier(&sample.method), args.join(", ")));
        if let Some(repeatable) = &sample.repeatable {
            out.push_str(&format!(" REPEATABLE ({})", self.text(strip_implicit(repeatable), scope)));
        }
    }

    /// A relation's name, qualified unless the search path finds it.
    pub fn relation_name(&self, schema: &str, name: &str, oid: base::Oid) -> String {
        let visible = matches!(self.catalog.relation(None, name), Ok(Some(t)) if t.oid == oid);
        if visible { quote_identifier(name) } else { crate::names::qualified(schema, name) }
    }
}
