//! Queries as SQL text, laid out as `pg_get_viewdef` does.

use crate::clause::strip_implicit;
use crate::deparse::{Deparse, Names, Scope, sort_words};
use crate::expr::{Expr, TargetEntry};
use crate::names::{format_type, quote_identifier};
use crate::query::{
    Cte, FrameBound, FrameExclusion, FrameUnits, FromNode, JoinType, Materialize, Query, RangeTableEntry,
    Relation, RteKind, SetOp, SetOperation, SortGroupClause, TableSample, WindowClause,
};

impl Deparse<'_> {
    /// A view's query, as `pg_get_viewdef` shows it (with the semicolon). `names`: of the view's columns.
    pub fn view(&self, query: &Query, names: &[&str]) -> String {
        let mut text = self.named_query(query, None, Some(names), true);
        text.push(';');
        text
    }

    /// Column definitions of a function that returns plain records.
    fn record_columns<'r>(&self, rte: &'r RangeTableEntry) -> Option<&'r [crate::query::ColumnType]> {
        let RteKind::Function(f) = &rte.kind else { return None };
        let [one] = f.functions.as_slice() else { return None };
        let Expr::Func(call) = &one.call else { return None };
        let named = match types::registry::function(call.function) {
            Some(builtin) => builtin.out_columns().next().is_some(),
            None => {
                let found = self.catalog.function_by_oid(call.function).ok().flatten();
                found.is_some_and(|function| !function.out_columns.is_empty())
            }
        };
        (call.result_type == types::oids::record && !named && !f.ordinality).then_some(one.columns.as_slice())
    }

    /// A statement of a function's body, which nobody sees the names of columns of (with the semicolon).
    pub fn body_statement(&self, query: &Query) -> String {
        let function = Scope { names: Names::Change(&[]), outer: None };
        let mut text = self.named_query(query, Some(&function), None, false);
        text.push(';');
        text
    }

    /// A query inside another, or alone.
    pub(crate) fn subquery(&self, query: &Query, outer: Option<&Scope<'_>>) -> String {
        self.named_query(query, outer, None, true)
    }

    /// A query in an expression: nobody sees the names of its columns.
    pub(crate) fn expression_query(&self, query: &Query, outer: &Scope<'_>) -> String {
        indent(&self.named_query(query, Some(outer), None, false))
    }

    /// A query whose columns are to have these names, and whether anybody sees them.
    fn named_query(
        &self,
        query: &Query,
        outer: Option<&Scope<'_>>,
        names: Option<&[&str]>,
        visible: bool,
    ) -> String {
        let rtes = entry_names(query, outer);
        let from =
            query.range_table.iter().filter(|r| r.in_from && !matches!(r.kind, RteKind::Join(_))).count();
        let scope =
            Scope { names: Names::Query { query, qualify: from > 1 || outer.is_some(), rtes: &rtes }, outer };
        let mut out = String::new();
        self.with(query, &scope, &mut out);
        match &query.set_operation {
            Some(tree) => self.set_operation(tree, query, &scope, (names, visible), &mut out),
            None => self.simple(query, &scope, &rtes, (names, visible), &mut out),
        }
        self.tail(query, &scope, &mut out);
        out
    }

    fn with(&self, query: &Query, scope: &Scope<'_>, out: &mut String) {
        if query.ctes.is_empty() {
            return;
        }
        out.push_str(if query.recursive { " WITH RECURSIVE " } else { " WITH " });
        for (i, cte) in query.ctes.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            out.push_str(&quote_identifier(&cte.name));
            let names: Vec<&str> =
                cte.query.result_columns().map(|t| t.name.as_deref().unwrap_or("")).collect();
            let columns = cte.written_columns();
            let renamed = columns.iter().map(|c| c.name.as_str()).ne(names);
            if renamed || cte.aliased > 0 {
                let count = if cte.aliased > 0 { cte.aliased } else { columns.len() };
                let names: Vec<String> =
                    columns.iter().take(count).map(|c| quote_identifier(&c.name)).collect();
                out.push_str(&format!("({})", names.join(", ")));
            }
            out.push_str(match cte.materialize {
                Materialize::Default => " AS (\n",
                Materialize::Always => " AS MATERIALIZED (\n",
                Materialize::Never => " AS NOT MATERIALIZED (\n",
            });
            let inner = self.subquery(&cte.query, Some(scope));
            for line in inner.lines() {
                out.push_str(&format!("        {line}\n"));
            }
            out.push_str("        )");
            self.search_cycle(cte, scope, out);
        }
        out.push('\n');
    }

    /// SEARCH and CYCLE.
    fn search_cycle(&self, cte: &Cte, scope: &Scope<'_>, out: &mut String) {
        let list =
            |names: &[String]| names.iter().map(|n| quote_identifier(n)).collect::<Vec<_>>().join(", ");
        if let Some(s) = &cte.search {
            let how = if s.breadth_first { "BREADTH" } else { "DEPTH" };
            out.push_str(&format!(
                " SEARCH {how} FIRST BY {} SET {}",
                list(&s.columns),
                quote_identifier(&s.sequence)
            ));
        }
        if let Some(c) = &cte.cycle {
            out.push_str(&format!(" CYCLE {} SET {}", list(&c.columns), quote_identifier(&c.mark.name)));
            let (value, default) = (self.text(&c.value, scope), self.text(&c.default, scope));
            if (value.as_str(), default.as_str()) != ("true", "false") {
                out.push_str(&format!(" TO {value} DEFAULT {default}"));
            }
            out.push_str(&format!(" USING {}", quote_identifier(&c.path)));
        }
    }

    fn simple(
        &self,
        query: &Query,
        scope: &Scope<'_>,
        rtes: &[String],
        names: (Option<&[&str]>, bool),
        out: &mut String,
    ) {
        if let Some(values) = only_values(query).filter(|_| keeps_names(query, names.0)) {
            out.push_str(" VALUES ");
            for (i, row) in values.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                let cells: Vec<String> = row.iter().map(|e| self.text(e, scope)).collect();
                out.push_str(&format!("({})", cells.join(",")));
            }
            return;
        }
        out.push_str(" SELECT ");
        if query.distinct_on {
            let keys: Vec<String> = query.distinct.iter().map(|c| self.key(c, query, scope)).collect();
            out.push_str(&format!("DISTINCT ON ({}) ", keys.join(", ")));
        } else if !query.distinct.is_empty() {
            out.push_str("DISTINCT ");
        }
        self.targets(&query.targets, scope, names, out);
        if !query.join_tree.items.is_empty() {
            out.push_str("\n   FROM ");
            for (i, item) in query.join_tree.items.iter().enumerate() {
                if i > 0 {
                    out.push_str(",\n    ");
                }
                self.join_node(item, query, scope, rtes, out);
            }
        }
        if let Some(f) = &query.join_tree.filter {
            out.push_str(&format!("\n  WHERE {}", self.text(f, scope)));
        }
        self.group_by(query, scope, out);
        if let Some(h) = &query.having {
            out.push_str(&format!("\n HAVING {}", self.text(h, scope)));
        }
        let named: Vec<&WindowClause> = query.windows.iter().filter(|w| w.name.is_some()).collect();
        for (i, w) in named.iter().enumerate() {
            out.push_str(if i == 0 { "\n  WINDOW " } else { ", " });
            out.push_str(&format!("{} AS ", quote_identifier(w.name.as_deref().unwrap_or(""))));
            self.window_clause(w, query, scope, out);
        }
    }

    fn group_by(&self, query: &Query, scope: &Scope<'_>, out: &mut String) {
        if query.group_by.is_empty() && query.grouping_sets.is_empty() {
            return;
        }
        out.push_str(if query.group_distinct { "\n  GROUP BY DISTINCT " } else { "\n  GROUP BY " });
        let by_ref = |r: u32| {
            let t = query.targets.iter().find(|t| t.sort_ref == r);
            t.map_or(String::new(), |t| self.text(&t.expr, scope))
        };
        if query.grouping_sets.is_empty() {
            let keys: Vec<String> = query.group_by.iter().map(|c| by_ref(c.sort_ref)).collect();
            out.push_str(&keys.join(", "));
            return;
        }
        let sets: Vec<String> = query
            .grouping_sets
            .iter()
            .map(|s| format!("({})", s.iter().map(|r| by_ref(*r)).collect::<Vec<_>>().join(", ")))
            .collect();
        out.push_str(&format!("GROUPING SETS ({})", sets.join(", ")));
    }

    fn tail(&self, query: &Query, scope: &Scope<'_>, out: &mut String) {
        if !query.order_by.is_empty() {
            let keys: Vec<String> = query.order_by.iter().map(|c| self.sort_key(c, query, scope)).collect();
            out.push_str(&format!("\n  ORDER BY {}", keys.join(", ")));
        }
        if let Some(o) = &query.offset {
            out.push_str(&format!("\n OFFSET {}", self.text(strip_implicit(o), scope)));
        }
        if let Some(l) = &query.limit {
            if query.with_ties {
                out.push_str(&format!(
                    "\n FETCH FIRST {} ROWS WITH TIES",
                    self.text(strip_implicit(l), scope)
                ));
            } else {
                out.push_str(&format!("\n LIMIT {}", self.text(strip_implicit(l), scope)));
            }
        }
        for m in query.row_marks.iter().filter(|m| !m.pushed_down) {
            out.push_str(&format!("\n {}", m.strength.clause()));
            if let Some(r) = query.range_table.get(m.rte) {
                out.push_str(&format!(" OF {}", quote_identifier(&r.name)));
            }
        }
    }

    fn set_operation(
        &self,
        tree: &SetOperation,
        query: &Query,
        scope: &Scope<'_>,
        (names, visible): (Option<&[&str]>, bool),
        out: &mut String,
    ) {
        match tree {
            SetOperation::Leaf(rte) => {
                if let Some(RteKind::Subquery(s)) = query.range_table.get(*rte).map(|r| &r.kind) {
                    let text = self.named_query(&s.query, Some(scope), names, visible);
                    let simple = s.query.order_by.is_empty()
                        && s.query.limit.is_none()
                        && s.query.set_operation.is_none();
                    if simple { out.push_str(&text) } else { out.push_str(&format!("({text})")) }
                }
            }
            SetOperation::Node(n) => {
                let nested = |arm: &SetOperation| matches!(arm, SetOperation::Node(m) if m.op != n.op || m.all != n.all);
                for (i, arm) in [&n.left, &n.right].into_iter().enumerate() {
                    if i == 1 {
                        let word = match n.op {
                            SetOp::Union => "UNION",
                            SetOp::Intersect => "INTERSECT",
                            SetOp::Except => "EXCEPT",
                        };
                        out.push_str(&format!("\n{word}{}\n", if n.all { " ALL" } else { "" }));
                    }
                    let brackets = nested(arm) || (i == 1 && matches!(arm, SetOperation::Node(_)));
                    if brackets {
                        out.push('(');
                    }
                    self.set_operation(arm, query, scope, (names, visible && i == 0), out);
                    if brackets {
                        out.push(')');
                    }
                }
            }
        }
    }

    fn targets(
        &self,
        targets: &[TargetEntry],
        scope: &Scope<'_>,
        (names, visible): (Option<&[&str]>, bool),
        out: &mut String,
    ) {
        for (i, t) in targets.iter().filter(|t| !t.junk).enumerate() {
            if i > 0 {
                out.push_str(",\n    ");
            }
            let mut text = String::new();
            self.write(&t.expr, scope, &mut text);
            if text.starts_with('\n') {
                out.truncate(out.trim_end().len());
            }
            out.push_str(&text);
            let own = t.name.as_deref().unwrap_or("?column?");
            let name = names.and_then(|n| n.get(i).copied()).unwrap_or(own);
            let plain = match (&t.expr, scope.names) {
                (Expr::Var(v), Names::Query { query, .. }) if v.attno > 0 && v.levels_up == 0 => {
                    query
                        .range_table
                        .get(v.rte)
                        .and_then(|r| r.columns.get(v.attno as usize - 1))
                        .map(String::as_str)
                        == Some(name)
                }
                // Of a query outside: as it was written.
                (Expr::Var(v), _) if v.attno > 0 && v.levels_up > 0 => {
                    text.ends_with(&format!(".{}", quote_identifier(name)))
                }
                _ => false,
            };
            let implied = !visible && !matches!(t.expr, Expr::Var(_)) && name == "?column?";
            if !plain && !implied {
                out.push_str(&format!(" AS {}", quote_identifier(name)));
            }
        }
    }

    fn join_node(
        &self,
        node: &FromNode,
        query: &Query,
        scope: &Scope<'_>,
        rtes: &[String],
        out: &mut String,
    ) {
        match node {
            FromNode::Entry(i) => {
                if let Some(rte) = query.range_table.get(*i) {
                    let name = rtes.get(*i).map_or("", String::as_str);
                    self.entry(rte, name, scope, out);
                }
            }
            FromNode::Join(j) => {
                let alias = query.range_table.get(j.rte).and_then(|r| r.alias.as_ref());
                if !self.pretty {
                    out.push('(');
                }
                if alias.is_some() {
                    out.push('(');
                }
                self.join_node(&j.left, query, scope, rtes, out);
                let cross = j.on.is_none() && j.using.is_empty() && j.kind == JoinType::Inner;
                out.push_str("\n     ");
                out.push_str(match j.kind {
                    JoinType::Inner if cross => "CROSS JOIN ",
                    JoinType::Inner => "JOIN ",
                    JoinType::Left => "LEFT JOIN ",
                    JoinType::Full => "FULL JOIN ",
                    JoinType::Right => "RIGHT JOIN ",
                });
                let nested = self.pretty && matches!(j.right, FromNode::Join(_));
                if nested {
                    out.push('(');
                }
                self.join_node(&j.right, query, scope, rtes, out);
                if nested {
                    out.push(')');
                }
                if !j.using.is_empty() {
                    let names: Vec<String> = j.using.iter().map(|n| quote_identifier(n)).collect();
                    out.push_str(&format!(" USING ({})", names.join(", ")));
                } else if let Some(on) = &j.on {
                    let text = self.text(on, scope);
                    out.push_str(&if self.pretty { format!(" ON {text}") } else { format!(" ON ({text})") });
                }
                if alias.is_some() {
                    out.push(')');
                }
                if let Some(a) = alias {
                    out.push_str(&format!(" {}", quote_identifier(&a.name)));
                }
                if !self.pretty {
                    out.push(')');
                }
            }
        }
    }

    fn entry(&self, rte: &RangeTableEntry, name: &str, scope: &Scope<'_>, out: &mut String) {
        let table_function = is_json_table(rte);
        if rte.lateral && (table_function || !matches!(rte.kind, RteKind::Function(_))) {
            out.push_str("LATERAL ");
        }
        let mut own = String::new();
        match &rte.kind {
            RteKind::Relation(r) => {
                if !r.inherit {
                    out.push_str("ONLY ");
                }
                out.push_str(&self.relation_name(&r.table.schema_name, &r.table.name, r.oid));
                own.clone_from(&r.table.name);
            }
            RteKind::Subquery(s) if s.view.is_valid() => {
                if let Ok(Some(t)) = self.catalog.relation_by_oid(s.view) {
                    out.push_str(&self.relation_name(&t.schema_name, &t.name, s.view));
                    own.clone_from(&t.name);
                }
            }
            RteKind::Subquery(s) => {
                out.push_str(&format!("({})", indent(&self.subquery(&s.query, Some(scope)))))
            }
            RteKind::Values(v) => {
                let rows: Vec<String> = v
                    .rows
                    .iter()
                    .map(|r| {
                        format!("({})", r.iter().map(|e| self.text(e, scope)).collect::<Vec<_>>().join(","))
                    })
                    .collect();
                out.push_str(&format!("(VALUES {})", rows.join(", ")));
            }
            RteKind::Function(f) => {
                let calls: Vec<String> = f.functions.iter().map(|f| self.text(&f.call, scope)).collect();
                if let [one] = calls.as_slice() {
                    out.push_str(one);
                } else {
                    out.push_str(&format!("ROWS FROM({})", calls.join(", ")));
                }
                if f.ordinality {
                    out.push_str(" WITH ORDINALITY");
                }
            }
            RteKind::Cte(c) => {
                out.push_str(&quote_identifier(&c.name));
                own.clone_from(&c.name);
            }
            RteKind::Transition(t) => {
                out.push_str(&quote_identifier(&t.name));
                own.clone_from(&t.name);
            }
            RteKind::Join(_) => {}
        }
        if table_function {
            own.push_str("json_table");
        }
        let always = matches!(rte.kind, RteKind::Function(_) | RteKind::Values(_)) && !table_function;
        let definitions = self.record_columns(rte);
        if name != own && (rte.alias.is_some() || always || !own.is_empty()) {
            out.push_str(&format!(" {}", quote_identifier(name)));
        }
        if let Some(columns) = definitions {
            let list: Vec<String> = columns
                .iter()
                .map(|c| {
                    format!(
                        "{} {}",
                        quote_identifier(&c.name),
                        format_type(self.catalog, c.type_oid, Some(c.typmod))
                    )
                })
                .collect();
            out.push_str(&format!("({})", list.join(", ")));
        } else if always || rte.alias.as_ref().is_some_and(|a| !a.columns.is_empty()) {
            let names: Vec<String> =
                rte.columns.iter().filter(|c| !c.is_empty()).map(|c| quote_identifier(c)).collect();
            out.push_str(&format!("({})", names.join(", ")));
        }
        if let RteKind::Relation(Relation { sample: Some(sample), .. }) = &rte.kind {
            self.sample(sample, scope, out);
        }
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

    fn text(&self, e: &Expr, scope: &Scope<'_>) -> String {
        let mut out = String::new();
        self.write(e, scope, &mut out);
        out.trim_start_matches('\n').to_owned()
    }

    fn key(&self, c: &SortGroupClause, query: &Query, scope: &Scope<'_>) -> String {
        let t = query.targets.iter().find(|t| t.sort_ref == c.sort_ref);
        // Of a set operation the columns are known by name only.
        match t {
            Some(t) if query.set_operation.is_some() => t.resno.to_string(),
            // What is no plain column stands in parentheses, so that it cannot be taken for a column's number or name.
            Some(t) if !matches!(t.expr, Expr::Var(_)) => format!("({})", self.text(&t.expr, scope)),
            Some(t) => self.text(&t.expr, scope),
            None => String::new(),
        }
    }

    fn sort_key(&self, c: &SortGroupClause, query: &Query, scope: &Scope<'_>) -> String {
        format!("{}{}", self.key(c, query, scope), sort_words(c.descending, c.nulls_first))
    }

    /// A window's definition in parentheses.
    pub(crate) fn window_clause(&self, w: &WindowClause, query: &Query, scope: &Scope<'_>, out: &mut String) {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(w.base.as_ref().map(|b| quote_identifier(b)));
        if !w.partition_by.is_empty() && w.base.is_none() {
            let keys: Vec<String> = w.partition_by.iter().map(|c| self.key(c, query, scope)).collect();
            parts.push(format!("PARTITION BY {}", keys.join(", ")));
        }
        if !w.order_by.is_empty() && !w.copied_order {
            let keys: Vec<String> = w.order_by.iter().map(|c| self.sort_key(c, query, scope)).collect();
            parts.push(format!("ORDER BY {}", keys.join(", ")));
        }
        if w.frame.explicit {
            let units = match w.frame.units {
                FrameUnits::Range => "RANGE",
                FrameUnits::Rows => "ROWS",
                FrameUnits::Groups => "GROUPS",
            };
            let mut frame = format!(
                "{units} BETWEEN {} AND {}",
                self.bound(&w.frame.start, scope),
                self.bound(&w.frame.end, scope)
            );
            frame.push_str(match w.frame.exclusion {
                FrameExclusion::NoOthers => "",
                FrameExclusion::CurrentRow => " EXCLUDE CURRENT ROW",
                FrameExclusion::Group => " EXCLUDE GROUP",
                FrameExclusion::Ties => " EXCLUDE TIES",
            });
            parts.push(frame);
        }
        out.push_str(&format!("({})", parts.join(" ")));
    }

    fn bound(&self, b: &FrameBound, scope: &Scope<'_>) -> String {
        match b {
            FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_owned(),
            FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_owned(),
            FrameBound::CurrentRow => "CURRENT ROW".to_owned(),
            FrameBound::Preceding(e) => format!("{} PRECEDING", self.text(strip_implicit(e), scope)),
            FrameBound::Following(e) => format!("{} FOLLOWING", self.text(strip_implicit(e), scope)),
        }
    }
}

/// Whether an entry is JSON_TABLE.
fn is_json_table(rte: &RangeTableEntry) -> bool {
    let RteKind::Function(f) = &rte.kind else { return false };
    matches!(f.functions.as_slice(), [one] if matches!(one.call, Expr::Json(_)))
}

/// A query's text, moved to the right but for its first line.
fn indent(text: &str) -> String {
    text.replace('\n', "\n        ")
}

/// Whether the columns are to be called as the query calls them.
fn keeps_names(query: &Query, names: Option<&[&str]>) -> bool {
    let own = query.targets.iter().filter(|t| !t.junk).map(|t| t.name.as_deref().unwrap_or("?column?"));
    names.is_none_or(|names| own.eq(names.iter().copied()))
}

/// The rows of a query that is nothing but VALUES.
fn only_values(query: &Query) -> Option<&Vec<Vec<Expr>>> {
    match (query.range_table.as_slice(), &query.join_tree.filter) {
        ([rte], None) if rte.name == "*VALUES*" && rte.alias.is_none() => match &rte.kind {
            RteKind::Values(v) => Some(&v.rows),
            _ => None,
        },
        _ => None,
    }
}

/// Names for the entries of a query, made different from each other and from those outside.
fn entry_names(query: &Query, outer: Option<&Scope<'_>>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    let mut scope = outer;
    while let Some(s) = scope {
        if let Names::Query { rtes, .. } = s.names {
            taken.extend(rtes.iter().cloned());
        }
        scope = s.outer;
    }
    let mut out = Vec::with_capacity(query.range_table.len());
    for rte in &query.range_table {
        let mut name = rte.name.clone();
        let mut n = 0;
        while !name.is_empty() && taken.contains(&name) {
            n += 1;
            name = format!("{}_{n}", rte.name);
        }
        if rte.in_from {
            taken.push(name.clone());
        }
        out.push(name);
    }
    out
}
