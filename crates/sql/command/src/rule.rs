//! # What
//! CREATE RULE, what DROP RULE and COMMENT ON RULE name, ALTER RULE, ENABLE and DISABLE RULE. What rules do to statements is told in
//! `analyze/src/rewrite.rs`.
//!
//! # Locks
//! ACCESS EXCLUSIVE on the relation; ACCESS SHARE for COMMENT.
//!
//! # PostgreSQL counterpart
//! `rewrite/rewriteDefine.c`, `rewrite/rewriteSupport.c`.

use std::sync::Arc;

use analyze::rule::{AnalyzedRule, RuleAction};
use analyze::{Command, TargetEntry, facts, stored};
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::ObjectAddress;
use catalog::rule::VIEW_RULE;
use catalog::system::pg_rewrite;
use catalog::{RelationKind, RowExt, Rule, RuleEvent, Table};
use parse::ast::{self, CreateRule, Drop, ObjectName, Rename};
use session::Session;
use txn::LockMode;
use types::Call;

use super::object_kind::old_name;
use super::{names, trigger, type_name, uses, view};

/// CREATE [OR REPLACE] RULE.
pub(crate) fn create(session: &Session, statement: &CreateRule, text: &str) -> SqlResult<()> {
    let table = names::open(session, &statement.relation, LockMode::AccessExclusive)?;
    if let RelationKind::Index | RelationKind::PartitionedIndex | RelationKind::Composite = table.kind {
        let error = sql_err!(WRONG_OBJECT_TYPE, "cannot open relation \"{}\"", table.name);
        return Err(error.detail(unsupported(table.kind)));
    }
    if table.kind == RelationKind::MaterializedView {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "rules on materialized views are not supported"));
    }
    let rule = analyzed(session, statement, text, &table)?;
    check_kind(&table)?;
    names::check_not_system(&table)?;
    names::check_owner(session, &table)?;
    let event = match statement.event {
        ast::RuleEvent::Select => return set_query(session, statement, &table, &rule),
        ast::RuleEvent::Update => RuleEvent::Update,
        ast::RuleEvent::Insert => RuleEvent::Insert,
        ast::RuleEvent::Delete => RuleEvent::Delete,
    };
    check_returning(session, statement, &table, &rule)?;
    if statement.name == VIEW_RULE {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "non-view rule for \"{}\" must not be named \"{VIEW_RULE}\"",
            table.name
        ));
    }
    let old = table.rules.iter().find(|old| old.name == statement.name);
    if old.is_some() && !statement.replace {
        return Err(exists(&table, &statement.name));
    }
    let new = Rule {
        oid: old.map_or(Oid::INVALID, |old| old.oid),
        name: statement.name.clone(),
        event,
        instead: statement.instead,
        enabled: old.map_or(b'O', |old| old.enabled),
        condition: rule.condition.as_ref().map(|condition| stored::store_expr(condition).into()),
        actions: stored::store_actions(&rule.actions).into(),
    };
    let needs = needs(&table, &rule);
    session.with_changer(|changer| changer.set_rule(table.oid, &new, &needs)).map(drop)
}

fn analyzed(
    session: &Session,
    statement: &CreateRule,
    text: &str,
    table: &Arc<Table>,
) -> SqlResult<AnalyzedRule> {
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    session.with_relations_locked(|view| analyze::rule::analyze(statement, text, table, view, &call))
}

/// What a rule needs: columns of its relation among it.
fn needs(table: &Table, rule: &AnalyzedRule) -> Vec<ObjectAddress> {
    let mut needs = Vec::new();
    let columns = analyze::rule::columns_used(rule);
    needs.extend(columns.into_iter().map(|number| ObjectAddress::column(table.oid, number)));
    if let Some(condition) = &rule.condition {
        uses::of_expr(condition, &mut needs);
    }
    for action in &rule.actions {
        if let RuleAction::Query(query) = action {
            uses::of_query(query, &mut needs);
        }
    }
    needs.sort_unstable_by_key(|n| (n.class, n.object, n.sub));
    needs.dedup();
    needs
}

/// A rule for SELECT is a view's query.
fn set_query(session: &Session, statement: &CreateRule, table: &Table, rule: &AnalyzedRule) -> SqlResult<()> {
    if table.kind != RelationKind::View {
        let error = sql_err!(WRONG_OBJECT_TYPE, "relation \"{}\" cannot have ON SELECT rules", table.name);
        return Err(error.detail(unsupported(table.kind)));
    }
    let refused = |message: &str| Err(sql_err!(FEATURE_NOT_SUPPORTED, "{message}"));
    let query = match rule.actions.as_slice() {
        [RuleAction::Query(query)] if query.command == Command::Select && statement.instead => query,
        [] | [_] => return refused("rules on SELECT must have action INSTEAD SELECT"),
        _ => return refused("multiple actions for rules on SELECT are not implemented"),
    };
    if query.has_modifying_cte {
        return refused("rules on SELECT must not contain data-modifying statements in WITH");
    }
    if rule.condition.is_some() {
        return refused("event qualifications are not implemented for rules on SELECT");
    }
    check_columns(session, table, &query.targets, "SELECT")?;
    if !statement.replace && table.view_query.is_some() {
        let name = &table.name;
        return Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "\"{name}\" is already a view"));
    }
    if statement.name != VIEW_RULE {
        let name = &table.name;
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "view rule for \"{name}\" must be named \"{VIEW_RULE}\""
        ));
    }
    let (query, needs) = view::stored(query);
    session.with_changer(|changer| changer.set_view_query(table.oid, &query, &needs))
}

/// RETURNING is for one action of a rule that stands in the statement's place.
fn check_returning(
    session: &Session,
    statement: &CreateRule,
    table: &Table,
    rule: &AnalyzedRule,
) -> SqlResult<()> {
    let returns =
        |action: &'_ RuleAction| matches!(action, RuleAction::Query(query) if !query.returning.is_empty());
    let mut found = rule.actions.iter().filter(|action| returns(action));
    let Some(RuleAction::Query(query)) = found.next() else { return Ok(()) };
    let refused = match (found.next().is_some(), &rule.condition, statement.instead) {
        (_, Some(_), _) => "RETURNING lists are not supported in conditional rules",
        (_, _, false) => "RETURNING lists are not supported in non-INSTEAD rules",
        (true, ..) => "cannot have multiple RETURNING lists in a rule",
        _ => return check_columns(session, table, &query.returning, "RETURNING"),
    };
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "{refused}"))
}

/// Checks that a list gives the columns of a relation; that of SELECT by their names.
fn check_columns(session: &Session, table: &Table, targets: &[TargetEntry], list: &str) -> SqlResult<()> {
    let selects = list == "SELECT";
    let whole = if selects { "SELECT rule's target list" } else { "RETURNING list" };
    let (entry, says) = match selects {
        true => ("SELECT rule's target entry", "SELECT target entry"),
        false => ("RETURNING list's entry", "RETURNING list entry"),
    };
    let wrong = |message: String| sql_err!(INVALID_OBJECT_DEFINITION, "{message}");
    let mut count = 0;
    for (i, target) in targets.iter().filter(|target| !target.junk).enumerate() {
        let Some(column) = table.columns.get(i) else {
            return Err(wrong(format!("{whole} has too many entries")));
        };
        let (number, name) = (i + 1, &column.name);
        if column.dropped {
            let what = match selects {
                true => "cannot convert relation containing dropped columns to view",
                false => "cannot create a RETURNING list for a relation containing dropped columns",
            };
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "{what}"));
        }
        let given = target.name.as_deref().unwrap_or_default();
        if selects && given != name {
            let error = wrong(format!("{entry} {number} has different column name from column \"{name}\""));
            return Err(error.detail(format!("{says} is named \"{given}\".")));
        }
        let (type_oid, typmod) =
            (facts::expr_type(&target.expr, &|_| Oid::INVALID), facts::expr_typmod(&target.expr));
        let shown = |oid, typmod| session.with_reader(|reader| type_name::format(reader, oid, typmod));
        let sizes = typmod != column.typmod && typmod >= 0 && column.typmod >= 0;
        let differs = match (type_oid != column.type_oid, sizes) {
            (true, _) => "type",
            (false, true) => "size",
            _ => {
                count = number;
                continue;
            }
        };
        let with = |typmod| if differs == "size" { typmod } else { -1 };
        let (one, other) = (shown(type_oid, with(typmod))?, shown(column.type_oid, with(column.typmod))?);
        let error = wrong(format!("{entry} {number} has different {differs} from column \"{name}\""));
        return Err(error.detail(format!("{says} has type {one}, but column has type {other}.")));
    }
    match count == table.columns.len() {
        true => Ok(()),
        false => Err(wrong(format!("{whole} has too few entries"))),
    }
}

fn exists(table: &Table, name: &str) -> SqlError {
    sql_err!(DUPLICATE_OBJECT, "rule \"{name}\" for relation \"{}\" already exists", table.name)
}

/// Refuses relations that have no rules.
fn check_kind(table: &Table) -> SqlResult<()> {
    match table.kind {
        RelationKind::Table | RelationKind::View | RelationKind::PartitionedTable => Ok(()),
        kind => {
            let error = sql_err!(WRONG_OBJECT_TYPE, "relation \"{}\" cannot have rules", table.name);
            Err(error.detail(unsupported(kind)))
        }
    }
}

fn unsupported(kind: RelationKind) -> String {
    let kinds = match kind {
        RelationKind::Table => "tables",
        RelationKind::Index => "indexes",
        RelationKind::Sequence => "sequences",
        RelationKind::Toast => "TOAST tables",
        RelationKind::View => "views",
        RelationKind::MaterializedView => "materialized views",
        RelationKind::Composite => "composite types",
        RelationKind::ForeignTable => "foreign tables",
        RelationKind::PartitionedTable => "partitioned tables",
        RelationKind::PartitionedIndex => "partitioned indexes",
    };
    format!("This operation is not supported for {kinds}.")
}

/// The rule of a relation with this name, and whether it is a view's query.
fn find(session: &Session, table: &Table, name: &str) -> SqlResult<(Oid, bool)> {
    let index = pg_rewrite::PG_REWRITE_REL_RULENAME_INDEX;
    let found =
        session.with_reader(|r| r.find_one(&pg_rewrite::TABLE, index, &[table.oid.into(), name.into()]))?;
    match found {
        Some((_, row)) => Ok((row.oid(pg_rewrite::OID), name == VIEW_RULE)),
        None => {
            Err(sql_err!(UNDEFINED_OBJECT, "rule \"{name}\" for relation \"{}\" does not exist", table.name))
        }
    }
}

/// What DROP RULE names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    trigger::dropped_parts(session, statement, "rule", |table, name| {
        Ok(ObjectAddress::rule(find(session, table, name)?.0))
    })
}

/// What COMMENT ON RULE names.
pub(crate) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let (relation, name) = trigger::split(object)?;
    let table = names::open(session, &relation, LockMode::AccessShare)?;
    let (rule, _) = find(session, &table, name)?;
    names::check_owner_of_whole(session, &table)?;
    Ok(ObjectAddress::rule(rule))
}

/// ALTER RULE ... RENAME.
pub(super) fn rename(session: &Session, asked: &Rename) -> SqlResult<()> {
    let relation = asked.relation.as_ref();
    let relation = relation.ok_or_else(|| SqlError::internal("RENAME without a relation"))?;
    let table = names::open(session, relation, LockMode::AccessExclusive)?;
    check_kind(&table)?;
    names::check_not_system(&table)?;
    names::check_owner(session, &table)?;
    let (rule, is_query) = find(session, &table, old_name(asked))?;
    if table.rules.iter().any(|rule| rule.name == asked.new_name) {
        return Err(exists(&table, &asked.new_name));
    }
    if is_query {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "renaming an ON SELECT rule is not allowed"));
    }
    session.with_changer(|changer| changer.rename_rule(rule, &asked.new_name))
}

/// ENABLE and DISABLE RULE.
pub(super) fn enable(session: &Session, table: &Table, name: &str, letter: char) -> SqlResult<()> {
    let (rule, _) = find(session, table, name)?;
    session.with_changer(|changer| changer.enable_rule(rule, letter as u8))
}
