//! Queries as SQL text, laid out as `pg_get_viewdef` does.

use crate::clause::strip_implicit;
use crate::deparse::{Deparse, Names, Scope, sort_words};
use crate::deparse_names::{QueryNames, QueryScope};
use crate::expr::{Expr, RowVersion, TargetEntry};
use crate::names::{format_type, quote_identifier};
use crate::query::{
    Command, Cte, FrameBound, FrameExclusion, FrameUnits, FromNode, Grouping, Materialize, Query, RteKind,
    SetOp, SetOperation, SortGroupClause, WindowClause,
};
use parse::ast::LockWait;

impl Deparse<'_> {
    /// A view's query, as `pg_get_viewdef` shows it (with the semicolon). `names`: of the view's columns.
    pub fn view(&self, query: &Query, names: &[&str]) -> String {
        let mut text = self.named_query(query, None, Some(names), true);
        text.push(';');
        text
    }

    /// A statement of a function's body, with its semicolon; the names of its columns do not matter.
    pub fn body_statement(&self, query: &Query) -> String {
        let function = Scope { names: Names::Change(&[]), outer: None };
        let mut text = self.named_query(query, Some(&function), None, false);
        text.push(';');
        text
    }

    /// A query that a rule does, of whose relation these are the columns.
    pub fn rule_action(&self, query: &Query, columns: &[String]) -> String {
        let rows = Scope { names: Names::Change(columns), outer: None };
        self.named_query(query, Some(&rows), None, true)
    }

    /// A query inside another, or alone.
    pub(crate) fn subquery(&self, query: &Query, outer: Option<&Scope<'_>>) -> String {
        self.named_query(query, outer, None, true)
    }

    /// A query in an expression: the names of its columns do not matter.
    pub(crate) fn expression_query(&self, query: &Query, outer: &Scope<'_>) -> String {
        let text = self.named_query(query, Some(outer), None, false);
        match outer.names {
            Names::Query(_) => indent(&text),
            Names::Relation(..) | Names::Change(_) => text,
        }
    }

    /// A query whose columns are to have these names, and whether anybody sees them.
    fn named_query(
        &self,
        query: &Query,
        outer: Option<&Scope<'_>>,
        names: Option<&[&str]>,
        visible: bool,
    ) -> String {
        let rtes = QueryNames::new(query, outer, &|rte| self.real_columns(rte));
        let from =
            query.range_table.iter().filter(|r| r.in_from && !matches!(r.kind, RteKind::Join(_))).count();
        let own = QueryScope { query, qualify: from > 1 || outer.is_some(), names: &rtes, inside: None };
        let scope = Scope { names: Names::Query(own), outer };
        let mut out = String::new();
        self.with(query, &scope, &mut out);
        match &query.set_operation {
            _ if query.command != Command::Select => {
                self.change(query, &scope, visible, &mut out);
                return out;
            }
            Some(tree) => self.set_operation(tree, query, &scope, (names, visible), &mut out),
            None => self.simple(query, &scope, (names, visible), &mut out),
        }
        self.tail(query, &scope, names, &mut out);
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

    fn simple(&self, query: &Query, scope: &Scope<'_>, names: (Option<&[&str]>, bool), out: &mut String) {
        if let Some(values) = only_values(query).filter(|_| keeps_names(query, names.0)) {
            out.push_str(&format!(" {}", self.values(values, scope)));
            return;
        }
        out.push_str(" SELECT");
        if query.distinct_on {
            let keys: Vec<String> =
                query.distinct.iter().map(|c| self.output_key(c, query, scope, names.0)).collect();
            out.push_str(&format!(" DISTINCT ON ({})", keys.join(", ")));
        } else if !query.distinct.is_empty() {
            out.push_str(" DISTINCT");
        }
        self.targets(&query.targets, scope, names, out);
        self.write_from("FROM", &query.join_tree.items, query, scope, out);
        self.where_clause(query.join_tree.filter.as_ref(), scope, out);
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

    /// FROM, or USING, with these items, if there are any.
    pub(crate) fn write_from(
        &self,
        word: &str,
        items: &[FromNode],
        query: &Query,
        scope: &Scope<'_>,
        out: &mut String,
    ) {
        for (i, item) in items.iter().enumerate() {
            out.push_str(&if i == 0 { format!("\n   {word} ") } else { ",\n    ".to_owned() });
            self.join_node(item, query, scope, out);
        }
    }

    /// WHERE, if there is a condition.
    pub(crate) fn where_clause(&self, filter: Option<&Expr>, scope: &Scope<'_>, out: &mut String) {
        if let Some(filter) = filter {
            out.push_str(&format!("\n  WHERE {}", self.text(filter, scope)));
        }
    }

    fn group_by(&self, query: &Query, scope: &Scope<'_>, out: &mut String) {
        if query.group_by.is_empty() && query.grouping_sets.is_empty() {
            return;
        }
        out.push_str(if query.group_distinct { "\n  GROUP BY DISTINCT " } else { "\n  GROUP BY " });
        if query.grouping.is_empty() {
            let keys: Vec<String> =
                query.group_by.iter().map(|c| self.key(c.sort_ref, query, scope)).collect();
            out.push_str(&keys.join(", "));
            return;
        }
        let items: Vec<String> =
            query.grouping.iter().map(|g| self.grouping(g, true, query, scope)).collect();
        out.push_str(&items.join(", "));
    }

    /// An item of GROUP BY; `bare`: a single key needs no parentheses.
    fn grouping(&self, item: &Grouping, bare: bool, query: &Query, scope: &Scope<'_>) -> String {
        let (word, items, bare_inside) = match item {
            Grouping::Keys(refs) => {
                let keys: Vec<String> = refs.iter().map(|r| self.key(*r, query, scope)).collect();
                let keys = keys.join(", ");
                return if bare && refs.len() == 1 { keys } else { format!("({keys})") };
            }
            Grouping::Sets(items) => ("GROUPING SETS ", items, false),
            Grouping::Rollup(items) => ("ROLLUP", items, true),
            Grouping::Cube(items) => ("CUBE", items, true),
        };
        let items: Vec<String> = items.iter().map(|i| self.grouping(i, bare_inside, query, scope)).collect();
        format!("{word}({})", items.join(", "))
    }

    fn tail(&self, query: &Query, scope: &Scope<'_>, names: Option<&[&str]>, out: &mut String) {
        if !query.order_by.is_empty() {
            let key = |c: &SortGroupClause| {
                let words = sort_words(c.descending, c.nulls_first);
                format!("{}{words}", self.output_key(c, query, scope, names))
            };
            let keys: Vec<String> = query.order_by.iter().map(key).collect();
            out.push_str(&format!("\n  ORDER BY {}", keys.join(", ")));
        }
        if let Some(o) = &query.offset {
            out.push_str(&format!("\n OFFSET {}", self.text(strip_implicit(o), scope)));
        }
        if let Some(l) = &query.limit {
            let all = matches!(l, Expr::Const(c) if c.value.is_null());
            let count = if all { "ALL".to_owned() } else { self.text(strip_implicit(l), scope) };
            out.push_str(&match query.with_ties {
                // The grammar takes a bare number here, and no other bare expression.
                true => format!("\n FETCH FIRST ({count}) ROWS WITH TIES"),
                false => format!("\n LIMIT {count}"),
            });
        }
        for m in query.row_marks.iter().filter(|m| !m.pushed_down) {
            out.push_str(&format!("\n {}", m.strength.clause()));
            if let Names::Query(own) = scope.names {
                out.push_str(&format!(" OF {}", own.entry(m.rte, RowVersion::Default)));
            }
            out.push_str(match m.wait {
                LockWait::Block => "",
                LockWait::Skip => " SKIP LOCKED",
                LockWait::Error => " NOWAIT",
            });
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
        let node = match tree {
            SetOperation::Leaf(rte) => {
                let Some(RteKind::Subquery(s)) = query.range_table.get(*rte).map(|r| &r.kind) else { return };
                let text = self.named_query(&s.query, Some(scope), names, visible);
                let q = &s.query;
                let bare = q.ctes.is_empty()
                    && q.order_by.is_empty()
                    && q.row_marks.is_empty()
                    && (q.limit.is_none() && q.offset.is_none())
                    && q.set_operation.is_none();
                return if bare { out.push_str(&text) } else { out.push_str(&format!("({text})")) };
            }
            SetOperation::Node(n) => n,
        };
        let side = |arm: &SetOperation, visible: bool| {
            let mut text = String::new();
            self.set_operation(arm, query, scope, (names, visible), &mut text);
            text
        };
        let word = match node.op {
            SetOp::Union => "UNION",
            SetOp::Intersect => "INTERSECT",
            SetOp::Except => "EXCEPT",
        };
        let all = if node.all { " ALL" } else { "" };
        let left = side(&node.left, visible);
        match &node.left {
            SetOperation::Node(l) if l.op != node.op || l.all != node.all => {
                out.push_str(&format!("(\n        {}\n) {word}{all}", indent(&left)));
            }
            _ => out.push_str(&format!("{left}\n{word}{all}")),
        }
        let right = side(&node.right, false);
        match &node.right {
            SetOperation::Node(_) => out.push_str(&format!(" (\n        {}\n)", indent(&right))),
            SetOperation::Leaf(_) => out.push_str(&format!("\n{right}")),
        }
    }

    pub(crate) fn targets(
        &self,
        targets: &[TargetEntry],
        scope: &Scope<'_>,
        (names, visible): (Option<&[&str]>, bool),
        out: &mut String,
    ) {
        for (i, t) in targets.iter().filter(|t| !t.junk).enumerate() {
            out.push_str(if i > 0 { ",\n    " } else { " " });
            let text = self.top_level(&t.expr, scope);
            if text.starts_with('\n') {
                out.truncate(out.trim_end().len());
            }
            out.push_str(&text);
            let own = t.name.as_deref().unwrap_or("?column?");
            let name = names.and_then(|n| n.get(i).copied()).unwrap_or(own);
            let quoted = quote_identifier(name);
            let (column, implied) = match &t.expr {
                Expr::Var(v) => (v.attno != 0, false),
                e => (self.merged_name(e, scope).is_some(), !visible && name == "?column?"),
            };
            let plain = column && (text == quoted || text.ends_with(&format!(".{quoted}")));
            if !plain && !implied {
                out.push_str(&format!(" AS {quoted}"));
            }
        }
    }

    /// An expression that is a column of a result: a whole row has its type told, lest `*` gives its columns.
    pub(crate) fn top_level(&self, e: &Expr, scope: &Scope<'_>) -> String {
        let mut text = String::new();
        self.write(e, scope, &mut text);
        if let Expr::Var(v) = e
            && v.attno == 0
        {
            text.push_str(&format!("::{}", format_type(self.catalog, v.type_oid, Some(v.typmod))));
        }
        text
    }

    pub(crate) fn text(&self, e: &Expr, scope: &Scope<'_>) -> String {
        let mut out = String::new();
        self.write(e, scope, &mut out);
        out.trim_start_matches('\n').to_owned()
    }

    /// A key of GROUP BY or of a window.
    fn key(&self, sort_ref: u32, query: &Query, scope: &Scope<'_>) -> String {
        let target = query.targets.iter().find(|t| t.sort_ref == sort_ref);
        target.map_or(String::new(), |t| self.key_text(&t.expr, scope))
    }

    /// A key: what could be taken for a column's number or name, or ends in a word, is told apart.
    pub(crate) fn key_text(&self, e: &Expr, scope: &Scope<'_>) -> String {
        let like_a_call = |e: &Expr| matches!(e, Expr::Func(_) | Expr::Aggregate(_) | Expr::Window(_));
        match e {
            e if matches!(e, Expr::Var(_)) || self.merged_name(e, scope).is_some() => self.text(e, scope),
            Expr::Const(c) => self.labelled(c),
            Expr::Json(json) if matches!(**json, crate::json_tree::Json::Constructor(_)) => {
                format!("({})", self.text(e, scope))
            }
            e if self.pretty || like_a_call(e) => format!("({})", self.text(e, scope)),
            e => self.text(e, scope),
        }
    }

    /// A key of ORDER BY or DISTINCT ON, where names are first looked for among the result's.
    fn output_key(
        &self,
        c: &SortGroupClause,
        query: &Query,
        scope: &Scope<'_>,
        names: Option<&[&str]>,
    ) -> String {
        let Some(target) = query.targets.iter().find(|t| t.sort_ref == c.sort_ref) else {
            return String::new();
        };
        // Of a set operation the columns are known by name only.
        if query.set_operation.is_some() {
            return target.resno.to_string();
        }
        if let (Expr::Var(v), Names::Query(own)) = (&target.expr, scope.names)
            && (v.attno != 0 && v.levels_up == 0)
        {
            let (_, column) = own.column(v);
            let shown = query.targets.iter().filter(|t| !t.junk).enumerate();
            let hidden = shown.into_iter().any(|(i, t)| {
                let name = names.and_then(|n| n.get(i).copied()).or(t.name.as_deref()).unwrap_or("");
                quote_identifier(name) == column && !crate::equal::same(&t.expr, &target.expr)
            });
            let own = QueryScope { qualify: own.qualify || hidden, ..own };
            return self.text(&target.expr, &Scope { names: Names::Query(own), outer: scope.outer });
        }
        self.key_text(&target.expr, scope)
    }

    fn sort_key(&self, c: &SortGroupClause, query: &Query, scope: &Scope<'_>) -> String {
        format!("{}{}", self.key(c.sort_ref, query, scope), sort_words(c.descending, c.nulls_first))
    }

    /// A window's definition in parentheses.
    pub(crate) fn window_clause(&self, w: &WindowClause, query: &Query, scope: &Scope<'_>, out: &mut String) {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(w.base.as_ref().map(|b| quote_identifier(b)));
        if !w.partition_by.is_empty() && w.base.is_none() {
            let keys: Vec<String> =
                w.partition_by.iter().map(|c| self.key(c.sort_ref, query, scope)).collect();
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
            let start = self.bound(&w.frame.start, scope);
            let mut frame = match w.frame.short {
                true => format!("{units} {start}"),
                false => format!("{units} BETWEEN {start} AND {}", self.bound(&w.frame.end, scope)),
            };
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

/// A query's text, moved to the right but for its first line.
pub(crate) fn indent(text: &str) -> String {
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
