//! Trees as SQL text, for `pg_get_expr`, `pg_get_viewdef`, `pg_get_indexdef`, `pg_get_constraintdef` and EXPLAIN.
//!
//! Layout: this file deparses expressions, `deparse_syntax` calls in SQL's own syntax; `deparse_json` those of SQL/JSON; `deparse_query` queries, `deparse_change` changes, `deparse_from` what they read,
//! `deparse_names` says what the entries and columns of a query are called.
//!
//! PostgreSQL counterpart: `ruleutils.c`; like there, the text has more parentheses than it needs unless `pretty`.

use base::Oid;
use catalog::view::CatalogView;
use tuple::Datum;
use types::oids;

use crate::deparse_names::QueryScope;
use crate::expr::*;
use crate::names::{format_type, quote_identifier, quote_literal};

/// What deparsing needs to know.
#[derive(Clone, Copy)]
pub struct Deparse<'a> {
    /// Names of things.
    pub catalog: &'a dyn CatalogView,
    /// Formats of constants.
    pub call: &'a types::Call<'a>,
    /// Fewer parentheses.
    pub pretty: bool,
    /// Parameters by name: of which function, and theirs, empty if they have none.
    pub params: Option<(&'a str, &'a [String])>,
}

/// A level of names, innermost first.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) names: Names<'s>,
    pub(crate) outer: Option<&'s Scope<'s>>,
}

/// How columns of a level are named.
#[derive(Clone, Copy)]
pub(crate) enum Names<'s> {
    /// Columns of one relation, without qualification; its own name stands for its whole row.
    Relation(&'s str, &'s [String]),
    /// Columns of the rows before and after a change, as `old` and `new`.
    Change(&'s [String]),
    /// Columns of a query's range table.
    Query(QueryScope<'s>),
}

impl Deparse<'_> {
    /// An expression over the columns of one relation (`columns` by attribute number - 1), as `pg_get_expr` shows it.
    pub fn expr(&self, expr: &Expr, relation: &str, columns: &[String]) -> String {
        let scope = Scope { names: Names::Relation(relation, columns), outer: None };
        let mut out = String::new();
        self.write(crate::clause::strip_implicit(expr), &scope, &mut out);
        out
    }

    /// WHEN of a trigger over the columns of its table.
    pub fn trigger_condition(&self, expr: &Expr, columns: &[String]) -> String {
        let scope = Scope { names: Names::Change(columns), outer: None };
        let mut out = String::new();
        self.write(crate::clause::strip_implicit(expr), &scope, &mut out);
        out
    }

    /// A parameter: its name, qualified where it could be a column's.
    fn parameter(&self, number: i32, scope: &Scope<'_>, out: &mut String) {
        let at = usize::try_from(number - 1).unwrap_or(usize::MAX);
        let named = self.params.and_then(|(function, names)| Some((function, names.get(at)?)));
        let Some((function, name)) = named.filter(|(_, name)| !name.is_empty()) else {
            return out.push_str(&format!("${number}"));
        };
        let mut level = Some(scope);
        while let Some(s) = level {
            if matches!(s.names, Names::Query(q) if !q.query.range_table.is_empty()) {
                out.push_str(&format!("{}.", quote_identifier(function)));
                break;
            }
            level = s.outer;
        }
        out.push_str(&quote_identifier(name));
    }

    /// The name of a column that USING made of two, if that is what an expression is.
    pub(crate) fn merged_name(&self, e: &Expr, scope: &Scope<'_>) -> Option<String> {
        if matches!(e, Expr::Var(_) | Expr::Const(_) | Expr::Param(_)) {
            return None;
        }
        let mut level = Some(scope);
        let mut depth = 0;
        while let Some(s) = level {
            if let Names::Query(own) = s.names
                && !own.names.merged.is_empty()
                && let Some(name) = own.merged_column(e, depth)
            {
                return Some(name);
            }
            (level, depth) = (s.outer, depth + 1);
        }
        None
    }

    /// Writes an expression.
    pub(crate) fn write(&self, e: &Expr, scope: &Scope<'_>, out: &mut String) {
        if let Some(name) = self.merged_name(e, scope) {
            return out.push_str(&name);
        }
        match e {
            Expr::Var(v) => out.push_str(&column_name(v, scope)),
            Expr::Const(c) => self.constant(c, out),
            Expr::Param(p) => match p.kind {
                ParamKind::Extern => self.parameter(p.id, scope, out),
                _ => out.push_str(&format!("$subquery{}", p.id)),
            },
            Expr::Func(f) => self.func(f, scope, out),
            Expr::Op(o) => self.op(o, scope, out),
            Expr::Distinct(o) => {
                let [l, r] = o.args.as_slice() else { return };
                self.wrapped(out, |d, out| {
                    d.child(l, &Parent::Other, scope, out);
                    out.push_str(" IS DISTINCT FROM ");
                    d.child(r, &Parent::Other, scope, out);
                });
            }
            Expr::NullIf(o) => self.call_like("NULLIF", &o.args, scope, out),
            Expr::ScalarArray(s) => self.wrapped(out, |d, out| {
                d.child(&s.scalar, &Parent::Other, scope, out);
                out.push_str(&format!(" {} {} (", d.operator(s.op), if s.any { "ANY" } else { "ALL" }));
                let mut array = String::new();
                d.write(&s.array, scope, &mut array);
                // A bare subquery would give the elements, not the array.
                if matches!(&s.array, Expr::SubLink(sub) if sub.kind == SubLinkType::Expr) {
                    let type_oid = crate::facts::expr_type(&s.array, &|_| Oid::INVALID);
                    let type_name = format_type(d.catalog, type_oid, None);
                    array = if d.pretty {
                        format!("({array})::{type_name}")
                    } else {
                        format!("{array}::{type_name}")
                    };
                }
                out.push_str(&format!("{array})"));
            }),
            Expr::Bool(b) => self.bool_expr(b, scope, out),
            Expr::Aggregate(a) => self.aggregate(a, scope, out),
            Expr::Grouping(g) => self.call_like("GROUPING", &g.args, scope, out),
            Expr::Window(w) => self.window(w, scope, out),
            Expr::SubLink(s) => self.sublink(s, scope, out),
            // A row of any type is a record already.
            Expr::Relabel(r) if r.result_type == oids::record && r.form == CoercionForm::ImplicitCast => {
                self.write(&r.arg, scope, out);
            }
            Expr::Relabel(r) => self.cast(&r.arg, r.result_type, r.typmod, scope, out),
            Expr::IoCast(c) => self.cast(&c.arg, c.result_type, -1, scope, out),
            Expr::ArrayCast(c) => self.cast(&c.arg, c.result_type, c.typmod, scope, out),
            Expr::RowCast(c) => self.cast(&c.arg, c.result_type, -1, scope, out),
            Expr::ToDomain(c) => self.cast(&c.arg, c.domain, c.typmod, scope, out),
            Expr::Collate(c) => self.wrapped(out, |d, out| {
                d.child(&c.arg, &Parent::Other, scope, out);
                out.push_str(" COLLATE ");
                out.push_str(&d.collation_name(c.collation));
            }),
            Expr::Case(c) => self.case(c, scope, out),
            Expr::CaseTest(_) => out.push_str("CASE_TEST_EXPR"),
            Expr::Array(a) => self.array(a, scope, out),
            Expr::Row(r) => {
                let args: Vec<String> = r.args.iter().map(|a| self.top_level(a, scope)).collect();
                out.push_str(&format!("ROW({})", args.join(", ")));
                if r.row_type != oids::record && r.form == CoercionForm::ExplicitCast {
                    out.push_str(&format!("::{}", format_type(self.catalog, r.row_type, None)));
                }
            }
            Expr::RowCompare(r) => self.row_compare(r, scope, out),
            Expr::Coalesce(c) => self.call_like("COALESCE", &c.args, scope, out),
            Expr::MinMax(m) => {
                self.call_like(if m.greatest { "GREATEST" } else { "LEAST" }, &m.args, scope, out)
            }
            Expr::SqlValue(v) => self.sql_value(v, out),
            Expr::NullTest(t) => self.wrapped(out, |d, out| {
                d.child(&t.arg, &Parent::Other, scope, out);
                out.push_str(if t.not { " IS NOT NULL" } else { " IS NULL" });
            }),
            Expr::BooleanTest(t) => self.wrapped(out, |d, out| {
                d.child(&t.arg, &Parent::Other, scope, out);
                out.push_str(test_words(t.test));
            }),
            other => self.rare(other, scope, out),
        }
    }

    fn rare(&self, e: &Expr, scope: &Scope<'_>, out: &mut String) {
        match e {
            Expr::Subscript(s) => {
                self.operand(&s.arg, scope, out);
                self.subscripts(s, scope, out);
            }
            Expr::Field(f) => {
                out.push('(');
                self.write(&f.arg, scope, out);
                out.push_str(").");
                out.push_str(&quote_identifier(&self.field_name(f)));
            }
            Expr::FieldStore(f) => {
                for (_, e) in &f.fields {
                    self.write(e, scope, out);
                }
            }
            Expr::DomainValue(_) => out.push_str("VALUE"),
            Expr::Default(_) => out.push_str("DEFAULT"),
            Expr::CurrentOf(c) => out.push_str(&format!("CURRENT OF {}", quote_identifier(&c.cursor))),
            Expr::NamedArg(n) => {
                out.push_str(&format!("{} => ", quote_identifier(&n.name)));
                self.write(&n.arg, scope, out);
            }
            Expr::NextValue(n) => {
                let name = self.catalog.relation_by_oid(n.sequence).ok().flatten().map(|t| t.name.clone());
                let name = name.unwrap_or_else(|| n.sequence.to_string());
                out.push_str(&format!("nextval({}::regclass)", quote_literal(&name)));
            }
            Expr::MergeAction(_) => out.push_str("MERGE_ACTION()"),
            Expr::Json(json) => self.json(json, scope, out),
            Expr::Xml(xml) => self.xml(xml, scope, out),
            _ => {}
        }
    }

    pub(crate) fn subscripts(&self, s: &SubscriptExpr, scope: &Scope<'_>, out: &mut String) {
        for (i, upper) in s.upper.iter().enumerate() {
            out.push('[');
            if let Some(lower) = s.lower.get(i) {
                if let Some(l) = lower {
                    self.write(l, scope, out);
                }
                out.push(':');
            }
            if let Some(u) = upper {
                self.write(u, scope, out);
            }
            out.push(']');
        }
    }

    pub(crate) fn wrapped(&self, out: &mut String, f: impl FnOnce(&Self, &mut String)) {
        if !self.pretty {
            out.push('(');
        }
        f(self, out);
        if !self.pretty {
            out.push(')');
        }
    }

    /// An operand of `parent`: without `pretty` it brings its own parentheses, with it it gets them where they are needed.
    pub(crate) fn child(&self, e: &Expr, parent: &Parent, scope: &Scope<'_>, out: &mut String) {
        let brackets = self.pretty && !is_simple(e, parent);
        if brackets {
            out.push('(');
        }
        self.write(e, scope, out);
        if brackets {
            out.push(')');
        }
    }

    /// An operand that something is appended to: in parentheses unless it is a name.
    fn operand(&self, e: &Expr, scope: &Scope<'_>, out: &mut String) {
        let bare = matches!(e, Expr::Var(_) | Expr::Param(_) | Expr::Subscript(_));
        if bare {
            self.write(e, scope, out);
        } else {
            out.push('(');
            self.write(e, scope, out);
            out.push(')');
        }
    }

    fn list(&self, list: &[Expr], scope: &Scope<'_>, out: &mut String) {
        self.separated(list, ", ", scope, out);
    }

    fn separated(&self, list: &[Expr], separator: &str, scope: &Scope<'_>, out: &mut String) {
        for (i, e) in list.iter().enumerate() {
            if i > 0 {
                out.push_str(separator);
            }
            self.write(e, scope, out);
        }
    }

    fn call_like(&self, name: &str, args: &[Expr], scope: &Scope<'_>, out: &mut String) {
        out.push_str(name);
        out.push('(');
        self.list(args, scope, out);
        out.push(')');
    }

    /// A constant with the cast that keeps its type.
    pub(crate) fn constant(&self, c: &Const, out: &mut String) {
        let suffix = |out: &mut String| {
            out.push_str("::");
            out.push_str(&format_type(self.catalog, c.type_oid, Some(c.typmod)));
        };
        if c.value.is_null() {
            out.push_str("NULL");
            suffix(out);
            return;
        }
        let mut bytes = Vec::new();
        if types::output(c.type_oid, &c.value, self.call, &mut bytes).is_err() {
            out.push_str("NULL");
            suffix(out);
            return;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match (c.type_oid, &c.value) {
            (oids::int4, Datum::Int4(n)) => {
                if *n < 0 {
                    out.push_str(&format!("'{text}'::integer"));
                } else {
                    out.push_str(&text);
                }
            }
            (oids::bool, Datum::Bool(b)) => out.push_str(if *b { "true" } else { "false" }),
            (oids::numeric, _) if text.contains('.') && !text.starts_with('-') => {
                out.push_str(&text);
                if c.typmod >= 0 {
                    suffix(out);
                }
            }
            (oids::bit | oids::varbit, _) => {
                out.push_str(&format!("B'{text}'"));
                suffix(out);
            }
            (oids::unknown, _) => out.push_str(&quote_literal(&text)),
            _ => {
                out.push_str(&quote_literal(&text));
                suffix(out);
            }
        }
    }

    /// A constant with its type, even where the text alone would do.
    pub(crate) fn labelled(&self, c: &Const) -> String {
        let mut text = String::new();
        self.constant(c, &mut text);
        let quoted = text.ends_with(&format!("::{}", format_type(self.catalog, c.type_oid, Some(c.typmod))));
        if !quoted {
            text.push_str(&format!("::{}", format_type(self.catalog, c.type_oid, Some(c.typmod))));
        }
        text
    }

    fn func(&self, f: &FuncExpr, scope: &Scope<'_>, out: &mut String) {
        if matches!(f.form, CoercionForm::ExplicitCast | CoercionForm::ImplicitCast)
            && let Some(arg) = f.args.first()
        {
            let typmod = crate::facts::expr_typmod(&Expr::Func(Box::new(f.clone())));
            return self.cast(arg, f.result_type, typmod, scope, out);
        }
        let name = self.function_name(f.function);
        if f.form == CoercionForm::SqlSyntax && self.sql_syntax(&name, f, scope, out) {
            return;
        }
        out.push_str(&self.called(f.function));
        out.push('(');
        for (i, a) in f.args.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            if f.variadic && i + 1 == f.args.len() {
                out.push_str("VARIADIC ");
            }
            self.write(a, scope, out);
        }
        out.push(')');
    }

    fn op(&self, o: &OpExpr, scope: &Scope<'_>, out: &mut String) {
        let name = self.operator_name(o.op);
        let written = self.operator(o.op);
        let parent = Parent::Left(&name);
        self.wrapped(out, |d, out| match o.args.as_slice() {
            [r] => {
                out.push_str(&format!("{written} "));
                d.child(r, &parent, scope, out);
            }
            [l, r] => {
                d.child(l, &parent, scope, out);
                out.push_str(&format!(" {written} "));
                d.child(r, &Parent::Right(&name), scope, out);
            }
            _ => {}
        });
    }

    fn bool_expr(&self, b: &BoolExpr, scope: &Scope<'_>, out: &mut String) {
        self.wrapped(out, |d, out| {
            if b.op == BoolOp::Not {
                out.push_str("NOT ");
            }
            for (i, a) in b.args.iter().enumerate() {
                if i > 0 {
                    out.push_str(if b.op == BoolOp::And { " AND " } else { " OR " });
                }
                d.child(a, &Parent::Bool(b.op), scope, out);
            }
        });
    }

    fn aggregate(&self, a: &Aggregate, scope: &Scope<'_>, out: &mut String) {
        let name = self.called(a.function);
        self.named_aggregate(a, (&name, ", ", ""), scope, out);
    }

    /// An aggregate by its name, what separates its arguments, and what stands behind them.
    pub(crate) fn named_aggregate(
        &self,
        a: &Aggregate,
        (name, separator, options): (&str, &str, &str),
        scope: &Scope<'_>,
        out: &mut String,
    ) {
        out.push_str(name);
        out.push('(');
        if !a.distinct.is_empty() {
            out.push_str("DISTINCT ");
        }
        let args: Vec<Expr> = a.args.iter().filter(|t| !t.junk).map(|t| t.expr.clone()).collect();
        let key = |sort_ref: u32, out: &mut String| {
            if let Some(t) = a.args.iter().find(|t| t.sort_ref == sort_ref) {
                out.push_str(&self.key_text(&t.expr, scope));
            }
        };
        let order = |out: &mut String| {
            out.push_str("ORDER BY ");
            for (i, c) in a.order_by.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                key(c.sort_ref, out);
                out.push_str(sort_words(c.descending, c.nulls_first));
            }
        };
        if a.kind == AggregateKind::Normal {
            if a.star {
                out.push('*')
            } else {
                self.separated(&args, separator, scope, out)
            }
            if !a.order_by.is_empty() {
                out.push(' ');
                order(out);
            }
            out.push_str(options);
            out.push(')');
        } else {
            self.list(&a.direct_args, scope, out);
            out.push_str(") WITHIN GROUP (");
            order(out);
            out.push(')');
        }
        if let Some(f) = &a.filter {
            out.push_str(" FILTER (WHERE ");
            self.write(f, scope, out);
            out.push(')');
        }
    }

    fn window(&self, w: &WindowCall, scope: &Scope<'_>, out: &mut String) {
        let name = self.called(w.function);
        self.named_window(w, (&name, ", ", ""), scope, out);
    }

    /// A window function's call by its name, what separates its arguments, and what stands behind them.
    pub(crate) fn named_window(
        &self,
        w: &WindowCall,
        (name, separator, options): (&str, &str, &str),
        scope: &Scope<'_>,
        out: &mut String,
    ) {
        out.push_str(name);
        out.push('(');
        if w.star {
            out.push('*')
        } else {
            self.separated(&w.args, separator, scope, out)
        }
        out.push_str(options);
        out.push(')');
        if let Some(f) = &w.filter {
            out.push_str(" FILTER (WHERE ");
            self.write(f, scope, out);
            out.push(')');
        }
        out.push_str(" OVER ");
        let Names::Query(QueryScope { query, .. }) = scope.names else {
            out.push_str("(?)");
            return;
        };
        let Some(clause) = query.windows.get(w.window) else { return };
        match &clause.name {
            Some(name) => out.push_str(&quote_identifier(name)),
            None => self.window_clause(clause, query, scope, out),
        }
    }

    fn sublink(&self, s: &SubLink, scope: &Scope<'_>, out: &mut String) {
        let query = self.expression_query(&s.query, scope);
        let left = || {
            let mut text = String::new();
            if let Some(t) = &s.test {
                self.test_left(t, scope, &mut text);
            }
            text
        };
        let op = s.op_name.last().map_or("=", String::as_str);
        let text = match s.kind {
            SubLinkType::Exists => format!("(EXISTS ({query}))"),
            SubLinkType::Array => format!("ARRAY({query})"),
            SubLinkType::Any if op == "=" => format!("({} IN ({query}))", left()),
            SubLinkType::Any => format!("({} {op} ANY ({query}))", left()),
            SubLinkType::All => format!("({} {op} ALL ({query}))", left()),
            SubLinkType::RowCompare => format!("({} {op} ({query}))", left()),
            SubLinkType::Expr | SubLinkType::MultiExpr => format!("({query})"),
        };
        out.push_str(&text);
    }

    /// The left side of a comparison with a subquery.
    fn test_left(&self, test: &Expr, scope: &Scope<'_>, out: &mut String) {
        match test {
            Expr::Op(o) => {
                if let Some(l) = o.args.first() {
                    self.write(l, scope, out);
                }
            }
            Expr::Bool(b) => {
                out.push('(');
                for (i, a) in b.args.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    self.test_left(a, scope, out);
                }
                out.push(')');
            }
            Expr::RowCompare(r) => {
                out.push('(');
                self.list(&r.left, scope, out);
                out.push(')');
            }
            _ => {}
        }
    }

    fn cast(&self, arg: &Expr, to: Oid, typmod: i32, scope: &Scope<'_>, out: &mut String) {
        let arg = crate::clause::strip_implicit(arg);
        // A constant of the very type needs no second cast.
        if let Expr::Const(c) = arg
            && c.type_oid == to
            && c.typmod == typmod
        {
            return self.constant(c, out);
        }
        if matches!(arg, Expr::Const(c) if c.type_oid == to && !c.value.is_null())
            && let Expr::Const(c) = arg
        {
            let typed = Const { typmod, ..c.clone() };
            return self.constant(&typed, out);
        }
        if self.pretty {
            self.child(arg, &Parent::Other, scope, out);
        } else {
            out.push('(');
            self.write(arg, scope, out);
            out.push(')');
        }
        out.push_str("::");
        out.push_str(&format_type(self.catalog, to, Some(typmod)));
    }

    fn case(&self, c: &CaseExpr, scope: &Scope<'_>, out: &mut String) {
        // As deep as a target list of the outermost query is indented.
        let in_query = matches!(scope.names, Names::Query(_));
        let indent = if self.pretty || in_query { "        " } else { "" };
        out.push_str(&format!("\n{indent}CASE"));
        if let Some(a) = &c.arg {
            out.push(' ');
            self.write(a, scope, out);
        }
        for (when, then) in &c.whens {
            out.push_str(&format!("\n{indent}    WHEN "));
            match (&c.arg, when) {
                (Some(_), Expr::Op(o)) if o.args.len() == 2 => self.write(&o.args[1], scope, out),
                _ => self.write(when, scope, out),
            }
            out.push_str(" THEN ");
            self.write(then, scope, out);
        }
        out.push_str(&format!("\n{indent}    ELSE "));
        self.write(&c.default, scope, out);
        out.push_str(&format!("\n{indent}END"));
    }

    fn array(&self, a: &ArrayExpr, scope: &Scope<'_>, out: &mut String) {
        out.push_str("ARRAY[");
        self.list(&a.elements, scope, out);
        out.push(']');
        if a.elements.is_empty() {
            out.push_str(&format!("::{}", format_type(self.catalog, a.array_type, None)));
        }
    }

    fn row_compare(&self, r: &RowCompareExpr, scope: &Scope<'_>, out: &mut String) {
        let operator = r.ops.first().map_or(String::new(), |o| self.operator(*o));
        let row =
            |list: &[Expr]| list.iter().map(|e| self.top_level(e, scope)).collect::<Vec<_>>().join(", ");
        out.push_str(&format!("(ROW({}) {operator} ROW({}))", row(&r.left), row(&r.right)));
    }

    fn sql_value(&self, v: &SqlValueExpr, out: &mut String) {
        out.push_str(&crate::target::sql_value_name(v.kind).to_ascii_uppercase());
        if v.typmod >= 0 {
            out.push_str(&format!("({})", v.typmod));
        }
    }

    fn field_name(&self, f: &FieldExpr) -> String {
        self.field_of(crate::facts::expr_type(&f.arg, &|_| Oid::INVALID), f.attno)
    }

    /// The name of a field of a composite type.
    pub(crate) fn field_of(&self, t: Oid, attno: i16) -> String {
        let relation = self.catalog.type_by_oid(t).ok().flatten().and_then(|t| match t.kind {
            catalog::view::TypeKind::Composite(relation) => Some(relation),
            _ => None,
        });
        let table = relation.and_then(|r| self.catalog.relation_by_oid(r).ok().flatten());
        let name = table.and_then(|t| t.columns.get(attno as usize - 1).map(|c| c.name.clone()));
        name.unwrap_or_else(|| format!("f{attno}"))
    }

    /// A function's name.
    pub(crate) fn function_name(&self, oid: Oid) -> String {
        match types::registry::function(oid) {
            Some(f) => f.name.to_owned(),
            None => {
                self.catalog.function_by_oid(oid).ok().flatten().map_or(oid.to_string(), |f| f.name.clone())
            }
        }
    }

    /// A function as a call names it: with its schema, unless the search path leads there.
    fn called(&self, oid: Oid) -> String {
        let name = quote_identifier(&self.function_name(oid));
        let users = if types::registry::function(oid).is_some() {
            None
        } else {
            self.catalog.function_by_oid(oid).ok()
        };
        match users.flatten().and_then(|function| self.hidden_schema(function.schema)) {
            Some(schema) => format!("{}.{name}", quote_identifier(&schema)),
            None => name,
        }
    }

    /// An operator as an expression names it.
    fn operator(&self, oid: Oid) -> String {
        let name = self.operator_name(oid);
        let users = if types::registry::operator(oid).is_some() {
            None
        } else {
            self.catalog.operator_by_oid(oid).ok()
        };
        match users.flatten().and_then(|operator| self.hidden_schema(operator.schema)) {
            Some(schema) => format!("OPERATOR({}.{name})", quote_identifier(&schema)),
            None => name,
        }
    }

    /// The name of a schema that is not searched for names.
    fn hidden_schema(&self, schema: Oid) -> Option<String> {
        match self.catalog.search_path() {
            Ok(path) if path.contains(&schema) => None,
            _ => self.catalog.schema_name(schema).ok().flatten(),
        }
    }

    /// An operator's name.
    pub fn operator_name(&self, oid: Oid) -> String {
        match types::registry::operator(oid) {
            Some(o) => o.name.to_owned(),
            None => {
                self.catalog.operator_by_oid(oid).ok().flatten().map_or(oid.to_string(), |o| o.name.clone())
            }
        }
    }

    pub(crate) fn collation_name(&self, oid: Oid) -> String {
        match oid.0 {
            100 => "\"default\"".to_owned(),
            950 => "\"C\"".to_owned(),
            951 => "\"POSIX\"".to_owned(),
            _ => self
                .catalog
                .collation_by_oid(oid)
                .ok()
                .flatten()
                .map_or(oid.to_string(), |c| quote_identifier(&c.name)),
        }
    }
}

/// What an operand stands in.
pub(crate) enum Parent<'n> {
    /// Left of this operator, or behind it as a prefix.
    Left(&'n str),
    /// Right of this operator.
    Right(&'n str),
    /// In a logical connective.
    Bool(BoolOp),
    /// In anything else that binds tightly.
    Other,
}

/// Whether an operand needs no parentheses.
fn is_simple(e: &Expr, parent: &Parent<'_>) -> bool {
    match e {
        Expr::Op(o) => match parent {
            Parent::Bool(_) => true,
            Parent::Left(name) | Parent::Right(name) => {
                let own = types::registry::operator(o.op).map_or("", |o| o.name);
                let rank = |op: &str| match op {
                    "+" | "-" => 1,
                    "*" | "/" | "%" => 2,
                    _ => 0,
                };
                let (mine, theirs) = (rank(own), rank(name));
                o.args.len() == 2
                    && mine > 0
                    && theirs > 0
                    && (mine > theirs || (mine == theirs && matches!(parent, Parent::Left(_))))
            }
            Parent::Other => false,
        },
        Expr::ScalarArray(_) => false,
        Expr::Distinct(_) | Expr::NullTest(_) | Expr::BooleanTest(_) | Expr::Collate(_) => {
            matches!(parent, Parent::Bool(_))
        }
        Expr::Bool(b) => match parent {
            Parent::Bool(BoolOp::And) => b.op != BoolOp::Or,
            Parent::Bool(BoolOp::Or) => true,
            _ => false,
        },
        Expr::Relabel(r) => is_simple(&r.arg, &Parent::Other),
        Expr::IoCast(r) => is_simple(&r.arg, &Parent::Other),
        Expr::ArrayCast(r) => is_simple(&r.arg, &Parent::Other),
        Expr::RowCast(r) => is_simple(&r.arg, &Parent::Other),
        Expr::ToDomain(r) => is_simple(&r.arg, &Parent::Other),
        _ => true,
    }
}

/// ASC and DESC with NULLS, where they differ from what is implied.
pub(crate) fn sort_words(descending: bool, nulls_first: bool) -> &'static str {
    match (descending, nulls_first) {
        (false, false) => "",
        (false, true) => " NULLS FIRST",
        (true, true) => " DESC",
        (true, false) => " DESC NULLS LAST",
    }
}

fn test_words(test: BoolTest) -> &'static str {
    match test {
        BoolTest::True => " IS TRUE",
        BoolTest::NotTrue => " IS NOT TRUE",
        BoolTest::False => " IS FALSE",
        BoolTest::NotFalse => " IS NOT FALSE",
        BoolTest::Unknown => " IS UNKNOWN",
        BoolTest::NotUnknown => " IS NOT UNKNOWN",
    }
}

/// A column's name, qualified where the level asks for it.
fn column_name(v: &Var, scope: &Scope<'_>) -> String {
    let mut level = scope;
    for _ in 0..v.levels_up {
        match level.outer {
            Some(outer) => level = outer,
            None => return "???".to_owned(),
        }
    }
    let system = |n: i16| quote_identifier(crate::agg::system_name(n));
    match level.names {
        Names::Relation(relation, _) if v.attno == 0 => format!("{}.*", quote_identifier(relation)),
        Names::Relation(relation, columns) => {
            let column = match v.attno {
                n if n < 0 => system(n),
                n => columns.get(n as usize - 1).map_or("???".to_owned(), |c| quote_identifier(c)),
            };
            match v.levels_up {
                0 => column,
                // In a subquery, another column may have the name.
                _ => format!("{}.{column}", quote_identifier(relation)),
            }
        }
        Names::Change(columns) => {
            let row = if v.rte == 0 { "old" } else { "new" };
            match v.attno {
                n if n < 0 => format!("{row}.{}", system(n)),
                0 => format!("{row}.*"),
                n => {
                    format!(
                        "{row}.{}",
                        columns.get(n as usize - 1).map_or("???".to_owned(), |c| quote_identifier(c))
                    )
                }
            }
        }
        Names::Query(own) => {
            let qualify = own.qualify || v.levels_up > 0 || v.version != RowVersion::Default;
            if v.attno == 0 {
                return format!("{}.*", own.entry(v.rte, v.version));
            }
            let (entry, column) = own.column(v);
            if qualify { format!("{entry}.{column}") } else { column }
        }
    }
}
