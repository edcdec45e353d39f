//! CREATE RULE: its condition and its actions, and how catalogs keep them.
//!
//! What: the rows that a rule is about stand one level outside of its actions, as a relation with two entries: the old row has range table
//! index 0, the new one 1. So they can be named anywhere in an action, and stored and written as text like any outer reference. The condition
//! is an expression over the same entries at its own level. [`crate::rewrite`] puts the rows of a statement in their places.
//!
//! PostgreSQL counterpart: `transformRuleStmt` of `parse_utilcmd.c`. There both rows are entries of the action's own range table.

use std::sync::Arc;

use base::{SqlResult, sql_err};
use catalog::view::{CatalogView, Table};
use parse::ast::{self, RuleEvent, Statement};

use crate::ParamTypes;
use crate::core::{Analyzer, Place};
use crate::expr::Expr;
use crate::query::{Command, FromNode, Query, RteKind};
use crate::walk;

/// Range table index of the old row, among the rows that a rule is about.
pub(crate) const OLD: usize = 0;
/// That of the new row.
pub(crate) const NEW: usize = 1;

/// What a rule does.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleAction {
    /// A query, as it was written.
    Query(Box<Query>),
    /// NOTIFY
    Notify(Notify),
}

/// NOTIFY.
#[derive(Clone, Debug, PartialEq)]
pub struct Notify {
    /// Channel.
    pub channel: String,
    /// Payload.
    pub payload: Option<String>,
}

/// A rule, analysed.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyzedRule {
    /// WHERE
    pub condition: Option<Expr>,
    /// What is done; empty: nothing.
    pub actions: Vec<RuleAction>,
}

/// Analyses a rule of a relation.
pub fn analyze(
    rule: &ast::CreateRule,
    text: &str,
    table: &Arc<Table>,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<AnalyzedRule> {
    let mut analyzer = Analyzer::new(text, ParamTypes::None, catalog, call);
    let condition = analyzer.nested(|a| {
        a.open_rows(table, rule.event, true)?;
        let mut condition = a.opt_condition(rule.condition.as_ref(), Place::Where)?;
        condition.iter_mut().try_for_each(|condition| crate::collate::assign(a, condition))?;
        Ok(condition)
    })?;
    let mut actions = Vec::with_capacity(rule.actions.len());
    for action in &rule.actions {
        let action = match action {
            Statement::Notify(channel, payload) => {
                RuleAction::Notify(Notify { channel: channel.clone(), payload: payload.clone() })
            }
            action => RuleAction::Query(Box::new(analyzer.nested(|a| {
                a.open_rows(table, rule.event, false)?;
                a.outside = 1;
                a.nested(|a| a.plannable(action))
            })?)),
        };
        check(rule.event, condition.as_ref(), &action)?;
        actions.push(action);
    }
    Ok(AnalyzedRule { condition, actions })
}

impl Analyzer<'_> {
    /// Lets the rows that a rule is about be named on the innermost level, and (`columns`) their columns without naming them.
    fn open_rows(&mut self, table: &Arc<Table>, event: RuleEvent, columns: bool) -> SqlResult<()> {
        for (row, name) in [(OLD, "old"), (NEW, "new")] {
            let alias = ast::Alias { name: name.to_owned(), columns: Vec::new() };
            let range = ast::RangeVar { alias: Some(alias), ..ast::RangeVar::default() };
            let mut item = self.plain_item(table.clone(), &range, 1, 0)?;
            item.cols_visible = columns;
            // Actions may name both, to be told what is wrong with that.
            let there = match event {
                _ if !columns => true,
                RuleEvent::Update => true,
                RuleEvent::Insert => row == NEW,
                RuleEvent::Delete | RuleEvent::Select => row == OLD,
            };
            if there {
                self.level().namespace.push(item);
            }
        }
        Ok(())
    }
}

/// Refuses what rules cannot do.
fn check(event: RuleEvent, condition: Option<&Expr>, action: &RuleAction) -> SqlResult<()> {
    let RuleAction::Query(action) = action else {
        return match condition {
            None => Ok(()),
            Some(_) => Err(sql_err!(
                INVALID_OBJECT_DEFINITION,
                "rules with WHERE conditions can only have SELECT, INSERT, UPDATE, or DELETE actions"
            )),
        };
    };
    let source = source_of_insert(action);
    let body = source.unwrap_or(&**action);
    if body.set_operation.is_some() && condition.is_some() {
        return Err(conditional_set_operation());
    }
    let uses = |row| query_uses(action, row) || condition.is_some_and(|condition| expr_uses(condition, row));
    let refused = match event {
        RuleEvent::Select if uses(OLD) => Some("ON SELECT rule cannot use OLD"),
        RuleEvent::Select if uses(NEW) => Some("ON SELECT rule cannot use NEW"),
        RuleEvent::Insert if uses(OLD) => Some("ON INSERT rule cannot use OLD"),
        RuleEvent::Delete if uses(NEW) => Some("ON DELETE rule cannot use NEW"),
        _ => None,
    };
    if let Some(refused) = refused {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "{refused}"));
    }
    for (row, name) in [(OLD, "OLD"), (NEW, "NEW")] {
        let ctes = action.ctes.iter().map(|cte| (&cte.query, 1));
        let inner = source.iter().flat_map(|source| &source.ctes).map(|cte| (&cte.query, 2));
        if ctes.chain(inner).any(|(query, depth)| names_row(query, depth, row)) {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot refer to {name} within WITH query"));
        }
    }
    if body.set_operation.is_some() && (query_uses(action, OLD) || query_uses(action, NEW)) {
        return Err(sql_err!(
            INVALID_COLUMN_REFERENCE,
            "UNION/INTERSECT/EXCEPT member statement cannot refer to other relations of same query level"
        ));
    }
    Ok(())
}

pub(crate) fn conditional_set_operation() -> base::SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "conditional UNION/INTERSECT/EXCEPT statements are not implemented")
}

/// Whether a query is INSERT with a SELECT: the rows that a rule is about are joined to what that reads.
pub(crate) fn source_of_insert(query: &Query) -> Option<&Query> {
    match query.range_table.get(entry_of_source(query)?).map(|entry| &entry.kind) {
        Some(RteKind::Subquery(sub)) => Some(&sub.query),
        _ => None,
    }
}

/// The entry of INSERT's SELECT.
pub(crate) fn entry_of_source(query: &Query) -> Option<usize> {
    match (query.command, query.join_tree.items.as_slice()) {
        (Command::Insert, [FromNode::Entry(rte)]) => {
            let is_source = matches!(&query.range_table.get(*rte)?.kind, RteKind::Subquery(_));
            is_source.then_some(*rte)
        }
        _ => None,
    }
}

/// Whether an action names one of the rows that its rule is about.
pub(crate) fn query_uses(action: &Query, row: usize) -> bool {
    names_row(action, 0, row)
}

/// The same of a query that is `depth` levels inside the action.
fn names_row(query: &Query, depth: u32, row: usize) -> bool {
    let test = &mut |e: &Expr, depth| match e {
        Expr::Var(v) if v.rte == row && v.levels_up == depth + 1 => Err(()),
        _ => Ok(true),
    };
    walk::visit_query(query, depth, test).is_err()
}

/// Whether a condition names one of the rows that its rule is about.
pub(crate) fn expr_uses(condition: &Expr, row: usize) -> bool {
    walk::contains(condition, |e, depth| matches!(e, Expr::Var(v) if v.rte == row && v.levels_up == depth))
}

/// The columns of the rows that a rule is about which it names.
pub fn columns_used(rule: &AnalyzedRule) -> Vec<i16> {
    let mut used = Vec::new();
    let mut note = |e: &Expr, level: u32| {
        if let Expr::Var(v) = e
            && v.levels_up == level
            && v.attno > 0
        {
            used.push(v.attno);
        }
    };
    if let Some(condition) = &rule.condition {
        walk::contains(condition, |e, depth| {
            note(e, depth);
            false
        });
    }
    for action in &rule.actions {
        let RuleAction::Query(action) = action else { continue };
        let Ok(()) = walk::visit_query::<std::convert::Infallible>(action, 0, &mut |e, depth| {
            note(e, depth + 1);
            Ok(true)
        });
    }
    used.sort_unstable();
    used.dedup();
    used
}
