//! INSERT, UPDATE, DELETE and MERGE as SQL text, laid out as `pg_get_functiondef` does.
//!
//! What: changes as they are stored, see [`crate::rewrite`]: one target entry per assignment, defaults as the word.

use crate::clause::strip_implicit;
use crate::deparse::{Deparse, Names, Scope};
use crate::deparse_names::QueryScope;
use crate::expr::{CoercionForm, Expr, ParamKind, RowVersion, SubLinkType, TargetEntry};
use crate::names::quote_identifier;
use crate::query::{
    Command, FromNode, Inference, InferenceElement, MergeAction, MergeMatch, OnConflict, Overriding, Query,
    Relation, RteKind,
};
use crate::rewrite::is_partial;

impl Deparse<'_> {
    /// A statement that changes rows; `visible`: the names of its columns matter.
    pub(crate) fn change(&self, query: &Query, scope: &Scope<'_>, visible: bool, out: &mut String) {
        match query.command {
            Command::Insert => self.insert(query, scope, out),
            Command::Update => {
                self.target("UPDATE", query, scope, out);
                out.push_str(" SET ");
                self.assignments(&query.targets, query, scope, out);
                self.write_from("FROM", &others(query), query, scope, out);
                self.where_clause(query.join_tree.filter.as_ref(), scope, out);
            }
            Command::Delete => {
                self.target("DELETE FROM", query, scope, out);
                self.write_from("USING", &others(query), query, scope, out);
                self.where_clause(query.join_tree.filter.as_ref(), scope, out);
            }
            Command::Merge => self.merge(query, scope, out),
            Command::Select | Command::Utility => {}
        }
        self.returning(query, scope, visible, out);
    }

    /// The command's words and the relation that it changes.
    fn target(&self, words: &str, query: &Query, scope: &Scope<'_>, out: &mut String) {
        let (Some((rte, relation)), Names::Query(own)) = (changed(query), scope.names) else { return };
        let only = if relation.inherit || query.command == Command::Insert { "" } else { "ONLY " };
        let table = &relation.table;
        let name = self.relation_name(&table.schema_name, &table.name, relation.oid);
        out.push_str(&format!(" {words} {only}{name}"));
        let shown = own.entry(rte, RowVersion::Default);
        if query.range_table[rte].alias.is_some() || shown != quote_identifier(&table.name) {
            let word = if query.command == Command::Insert { " AS" } else { "" };
            out.push_str(&format!("{word} {shown}"));
        }
    }

    fn insert(&self, query: &Query, scope: &Scope<'_>, out: &mut String) {
        self.target("INSERT INTO", query, scope, out);
        out.push(' ');
        let values = self.column_list(&query.targets, query, scope, out);
        if !values.is_empty() {
            out.push(' ');
        }
        out.push_str(overriding(query.overriding));
        let source = query.join_tree.items.first().and_then(|item| match item {
            FromNode::Entry(rte) => query.range_table.get(*rte).map(|rte| &rte.kind),
            FromNode::Join(_) => None,
        });
        match source {
            Some(RteKind::Subquery(s)) => out.push_str(&self.expression_query(&s.query, scope)),
            Some(RteKind::Values(v)) => out.push_str(&self.values(&v.rows, scope)),
            _ if values.is_empty() => out.push_str("DEFAULT VALUES"),
            _ => {
                out.truncate(out.trim_end().len());
                out.push_str(&format!("\n  VALUES ({})", self.value_list(&values, scope)));
            }
        }
        if let Some(conflict) = &query.on_conflict {
            self.conflict(conflict, query, scope, out);
        }
    }

    /// The columns that are given, with the parts of them, in parentheses; gives what is stored there.
    fn column_list<'q>(
        &self,
        targets: &'q [TargetEntry],
        query: &Query,
        scope: &Scope<'_>,
        out: &mut String,
    ) -> Vec<&'q Expr> {
        let mut values = Vec::with_capacity(targets.len());
        for (i, target) in targets.iter().filter(|t| !t.junk).enumerate() {
            out.push_str(if i == 0 { "(" } else { ", " });
            values.push(self.place(target, query, scope, out));
        }
        if !values.is_empty() {
            out.push(')');
        }
        values
    }

    /// A column or the part of it that is assigned to; gives the value.
    fn place<'q>(
        &self,
        target: &'q TargetEntry,
        query: &Query,
        scope: &Scope<'_>,
        out: &mut String,
    ) -> &'q Expr {
        let relation = changed(query).map(|(_, relation)| relation);
        let column = relation.and_then(|r| r.table.columns.get(target.resno as usize - 1));
        out.push_str(&column.map_or_else(|| "???".to_owned(), |c| quote_identifier(&c.name)));
        let mut value = &target.expr;
        loop {
            match value {
                Expr::FieldStore(f) => {
                    let Some((attno, inner)) = f.fields.first() else { return value };
                    out.push_str(&format!(".{}", quote_identifier(&self.field_of(f.result_type, *attno))));
                    value = inner;
                }
                Expr::Subscript(s) => {
                    let Some(inner) = &s.assign else { return value };
                    self.subscripts(s, scope, out);
                    value = inner;
                }
                Expr::ToDomain(d) if d.form == CoercionForm::ImplicitCast && is_partial(&d.arg) => {
                    value = &d.arg
                }
                _ => return value,
            }
        }
    }

    fn value_list(&self, values: &[&Expr], scope: &Scope<'_>) -> String {
        let value = |e: &&Expr| self.top_level(strip_implicit(e), scope);
        values.iter().map(value).collect::<Vec<_>>().join(", ")
    }

    /// SET's list.
    fn assignments(&self, targets: &[TargetEntry], query: &Query, scope: &Scope<'_>, out: &mut String) {
        let sources: Vec<_> =
            targets.iter().filter(|t| t.junk).filter_map(|t| multiple_source(&t.expr)).collect();
        // Columns of a multiple assignment that are still to come.
        let mut open = 0;
        for (i, target) in targets.iter().filter(|t| !t.junk).enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            let source = multiple(&target.expr).and_then(|id| sources.iter().find(|(n, ..)| *n == id));
            if let (0, Some((_, columns, _))) = (open, source) {
                out.push('(');
                open = *columns;
            }
            let mut value = self.place(target, query, scope, out);
            if let Some((_, _, query)) = source {
                open -= 1;
                if open > 0 {
                    continue;
                }
                out.push(')');
                value = query;
            }
            let mut text = String::new();
            self.write(strip_implicit(value), scope, &mut text);
            out.push_str(if text.starts_with('\n') { " =" } else { " = " });
            out.push_str(&text);
        }
    }

    fn conflict(&self, conflict: &OnConflict, query: &Query, scope: &Scope<'_>, out: &mut String) {
        out.push_str(" ON CONFLICT");
        if let Some(inference) = &conflict.inference {
            self.inference(inference, scope, out);
        } else if conflict.constraint.is_valid() {
            let name = changed(query).and_then(|(_, relation)| {
                let index = relation.table.indexes.iter().find(|i| i.constraint == conflict.constraint);
                index.map(|index| quote_identifier(&index.name))
            });
            out.push_str(&format!(" ON CONSTRAINT {}", name.unwrap_or_else(|| "???".to_owned())));
        }
        match &conflict.update {
            None => out.push_str(" DO NOTHING"),
            Some(update) => {
                out.push_str(" DO UPDATE SET ");
                self.assignments(&update.targets, query, scope, out);
                self.where_clause(update.filter.as_ref(), scope, out);
            }
        }
    }

    /// What tells the indexes of a conflict. Nothing but the target's columns can be named there, so they go without qualification.
    fn inference(&self, inference: &Inference, scope: &Scope<'_>, out: &mut String) {
        let Names::Query(own) = scope.names else { return };
        let scope = Scope { names: Names::Query(QueryScope { qualify: false, ..own }), outer: scope.outer };
        let element = |element: &InferenceElement| {
            let text = self.text(&element.expr, &scope);
            let bare = match &element.expr {
                Expr::Var(_) => true,
                Expr::Func(f) => f.form == CoercionForm::Call,
                _ => false,
            };
            let mut text = if bare { text } else { format!("({text})") };
            if element.collation.is_valid() {
                text.push_str(&format!(" COLLATE {}", self.collation_name(element.collation)));
            }
            let families = self.catalog.operator_families().ok();
            let class = families.as_ref().and_then(|families| families.class(element.opclass));
            if let Some(class) = class.filter(|class| !class.default) {
                text.push_str(&format!(" {}", types::text::quote_identifier(class.name)));
            }
            text
        };
        let elements: Vec<String> = inference.elements.iter().map(element).collect();
        out.push_str(&format!("({})", elements.join(", ")));
        self.where_clause(inference.filter.as_ref(), &scope, out);
    }

    fn merge(&self, query: &Query, scope: &Scope<'_>, out: &mut String) {
        self.target("MERGE INTO", query, scope, out);
        if let Some((source, on)) = &query.merge_join {
            self.write_from("USING", std::slice::from_ref(source), query, scope, out);
            out.push_str(&format!("\n   ON {}", self.text(on, scope)));
        }
        let by_source = |a: &MergeAction| a.matched == MergeMatch::NotMatchedBySource;
        let both = query.merge_actions.iter().any(by_source);
        for action in &query.merge_actions {
            out.push_str("\n   WHEN ");
            out.push_str(match action.matched {
                MergeMatch::Matched => "MATCHED",
                MergeMatch::NotMatchedBySource => "NOT MATCHED BY SOURCE",
                MergeMatch::NotMatchedByTarget if both => "NOT MATCHED BY TARGET",
                MergeMatch::NotMatchedByTarget => "NOT MATCHED",
            });
            if let Some(condition) = &action.condition {
                out.push_str(&format!("\n    AND {}", self.text(condition, scope)));
            }
            out.push_str("\n    THEN ");
            self.merge_action(action, query, scope, out);
        }
    }

    fn merge_action(&self, action: &MergeAction, query: &Query, scope: &Scope<'_>, out: &mut String) {
        match action.command {
            Command::Insert => {
                out.push_str("INSERT ");
                let values = self.column_list(&action.targets, query, scope, out);
                if !values.is_empty() {
                    out.push(' ');
                }
                out.push_str(overriding(action.overriding));
                if values.is_empty() {
                    return out.push_str("DEFAULT VALUES");
                }
                out.truncate(out.trim_end().len());
                out.push_str(&format!("\n     VALUES ({})", self.value_list(&values, scope)));
            }
            Command::Update => {
                out.push_str("UPDATE SET ");
                self.assignments(&action.targets, query, scope, out);
            }
            Command::Delete => out.push_str("DELETE"),
            _ => out.push_str("DO NOTHING"),
        }
    }

    fn returning(&self, query: &Query, scope: &Scope<'_>, visible: bool, out: &mut String) {
        let Names::Query(own) = scope.names else { return };
        if query.returning.is_empty() {
            return;
        }
        out.push_str("\n  RETURNING");
        let named = |(version, word): (RowVersion, &str)| {
            let name = own.entry(0, version);
            (name != word.to_ascii_lowercase()).then(|| format!("{word} AS {name}"))
        };
        let names: Vec<String> =
            [(RowVersion::Old, "OLD"), (RowVersion::New, "NEW")].into_iter().filter_map(named).collect();
        if !names.is_empty() {
            out.push_str(&format!(" WITH ({})", names.join(", ")));
        }
        self.targets(&query.returning, scope, (None, visible), out);
    }
}

/// The relation that a query changes, and its entry.
fn changed(query: &Query) -> Option<(usize, &Relation)> {
    let rte = query.target?;
    match &query.range_table.get(rte)?.kind {
        RteKind::Relation(relation) => Some((rte, relation)),
        _ => None,
    }
}

/// What a query reads besides its target.
fn others(query: &Query) -> Vec<FromNode> {
    let is_target = |node: &FromNode| matches!(node, FromNode::Entry(rte) if Some(*rte) == query.target);
    query.join_tree.items.iter().filter(|node| !is_target(node)).cloned().collect()
}

/// The number of the multiple assignment that a value comes from.
fn multiple(e: &Expr) -> Option<i32> {
    match e {
        Expr::Param(p) if p.kind == ParamKind::MultiExpr => Some(p.id >> 16),
        Expr::FieldStore(f) => multiple(&f.fields.first()?.1),
        Expr::Subscript(s) => multiple(s.assign.as_ref()?),
        Expr::ToDomain(d) => multiple(&d.arg),
        e => multiple(crate::clause::peel_implicit(e)?),
    }
}

/// The number of a multiple assignment, how many columns it has, and its query.
fn multiple_source(e: &Expr) -> Option<(i32, usize, &Expr)> {
    match e {
        Expr::SubLink(s) if s.kind == SubLinkType::MultiExpr => {
            Some((s.id, s.query.targets.iter().filter(|t| !t.junk).count(), e))
        }
        _ => None,
    }
}

fn overriding(overriding: Overriding) -> &'static str {
    match overriding {
        Overriding::None => "",
        Overriding::User => "OVERRIDING USER VALUE ",
        Overriding::System => "OVERRIDING SYSTEM VALUE ",
    }
}
