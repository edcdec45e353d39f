//! # What
//! CREATE POLICY, ALTER POLICY, what DROP POLICY and COMMENT ON POLICY name, ENABLE and FORCE ROW LEVEL SECURITY. What policies do to
//! statements is the planner's (`plan/src/security.rs`).
//!
//! # Locks
//! ACCESS EXCLUSIVE on the table; ACCESS SHARE for COMMENT.
//!
//! # PostgreSQL counterpart
//! `commands/policy.c`.

use std::sync::Arc;

use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::ObjectAddress;
use catalog::system::pg_class;
use catalog::{Policy, PolicyCommand, RelationKind, Table};
use parse::ast::{AlterPolicy, CreatePolicy, Drop, Expr, ObjectName, RangeVar, Rename, RoleSpec};
use session::Session;
use txn::LockMode;

use super::object_kind::old_name;
use super::{expression, names, schema, trigger};

/// CREATE POLICY.
pub(crate) fn create(session: &Session, statement: &CreatePolicy, text: &str) -> SqlResult<()> {
    let command = match statement.command.as_str() {
        "select" => Some(PolicyCommand::Select),
        "insert" => Some(PolicyCommand::Insert),
        "update" => Some(PolicyCommand::Update),
        "delete" => Some(PolicyCommand::Delete),
        _ => None,
    };
    if matches!(command, Some(PolicyCommand::Select | PolicyCommand::Delete)) && statement.check.is_some() {
        return Err(sql_err!(SYNTAX_ERROR, "WITH CHECK cannot be applied to SELECT or DELETE"));
    }
    if command == Some(PolicyCommand::Insert) && statement.using.is_some() {
        return Err(sql_err!(SYNTAX_ERROR, "only WITH CHECK expression allowed for INSERT"));
    }
    let roles = roles(session, &statement.roles)?;
    let table = open(session, &statement.table)?;
    let mut needs = Vec::new();
    let using = condition(session, &table, statement.using.as_ref(), text, &mut needs)?;
    let check = condition(session, &table, statement.check.as_ref(), text, &mut needs)?;
    let name = &statement.name;
    check_free(session, &table, name)?;
    let permissive = statement.permissive;
    let policy = Policy { oid: Oid::INVALID, name: name.clone(), command, permissive, roles, using, check };
    session.with_changer(|changer| changer.create_policy(table.oid, &policy, &needs)).map(drop)
}

/// ALTER POLICY.
pub(crate) fn alter(session: &Session, statement: &AlterPolicy, text: &str) -> SqlResult<()> {
    let roles = match statement.roles.is_empty() {
        true => None,
        false => Some(roles(session, &statement.roles)?),
    };
    let table = open(session, &statement.table)?;
    let mut needs = Vec::new();
    let using = condition(session, &table, statement.using.as_ref(), text, &mut needs)?;
    let check = condition(session, &table, statement.check.as_ref(), text, &mut needs)?;
    let old = find(session, &table, &statement.name)?;
    if matches!(old.command, Some(PolicyCommand::Select | PolicyCommand::Delete)) && check.is_some() {
        return Err(sql_err!(SYNTAX_ERROR, "only USING expression allowed for SELECT, DELETE"));
    }
    if old.command == Some(PolicyCommand::Insert) && using.is_some() {
        return Err(sql_err!(SYNTAX_ERROR, "only WITH CHECK expression allowed for INSERT"));
    }
    // What stays as it was needs what it needed.
    for kept in [(&using, &old.using), (&check, &old.check)] {
        if let (None, Some(stored)) = kept {
            let expr = analyze::stored::load_expr(stored, session)?;
            note_needs(&table, expression::stored(session, &expr), &mut needs);
        }
    }
    let policy = Policy {
        roles: roles.unwrap_or_else(|| old.roles.clone()),
        using: using.or_else(|| old.using.clone()),
        check: check.or_else(|| old.check.clone()),
        ..old
    };
    session.with_changer(|changer| changer.alter_policy(table.oid, &policy, &needs))
}

/// The table of a policy, to be changed.
fn open(session: &Session, name: &RangeVar) -> SqlResult<Arc<Table>> {
    let table = names::open(session, name, LockMode::AccessExclusive)?;
    names::check_owner(session, &table)?;
    names::check_not_system(&table)?;
    match table.kind {
        RelationKind::Table | RelationKind::PartitionedTable => Ok(table),
        _ => Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a table", table.name)),
    }
}

/// TO: 0 stands for PUBLIC.
fn roles(session: &Session, specs: &[RoleSpec]) -> SqlResult<Vec<Oid>> {
    if specs.iter().any(|spec| matches!(spec, RoleSpec::Public(_))) || specs.is_empty() {
        if specs.len() > 1 {
            let message = "ignoring specified roles other than PUBLIC";
            let warning =
                SqlError::with_severity(Severity::Warning, SqlState::INVALID_PARAMETER_VALUE, message);
            session.notice(warning.hint("All roles are members of the PUBLIC role."));
        }
        return Ok(vec![Oid::INVALID]);
    }
    specs.iter().map(|spec| Ok(schema::role(session, spec)?.0)).collect()
}

/// USING or WITH CHECK as catalogs have it; what it needs is added to `needs`.
fn condition(
    session: &Session,
    table: &Arc<Table>,
    expr: Option<&Expr>,
    text: &str,
    needs: &mut Vec<ObjectAddress>,
) -> SqlResult<Option<Arc<str>>> {
    let Some(expr) = expr else { return Ok(None) };
    let stored = expression::policy(session, table, expr, text).map_err(|mut error| {
        // As in PostgreSQL, whose analysis does not know the text here.
        error.report_mut().position = None;
        error
    })?;
    let written = stored.text.as_str().into();
    note_needs(table, stored, needs);
    Ok(Some(written))
}

fn note_needs(table: &Table, stored: expression::Stored, needs: &mut Vec<ObjectAddress>) {
    let columns = stored.used.into_iter().filter(|number| *number > 0);
    needs.extend(columns.map(|number| ObjectAddress::column(table.oid, number)));
    needs.extend(stored.needs);
}

fn check_free(session: &Session, table: &Table, name: &str) -> SqlResult<()> {
    if session.with_reader(|reader| reader.policies(table.oid))?.iter().all(|policy| policy.name != name) {
        return Ok(());
    }
    Err(sql_err!(DUPLICATE_OBJECT, "policy \"{name}\" for table \"{}\" already exists", table.name))
}

/// The policy of a table with this name.
fn find(session: &Session, table: &Table, name: &str) -> SqlResult<Policy> {
    let all = session.with_reader(|reader| reader.policies(table.oid))?;
    all.into_iter().find(|policy| policy.name == name).ok_or_else(|| {
        sql_err!(UNDEFINED_OBJECT, "policy \"{name}\" for table \"{}\" does not exist", table.name)
    })
}

/// What DROP POLICY names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    trigger::dropped_parts(session, statement, "policy", |table, name| {
        Ok(ObjectAddress::policy(find(session, table, name)?.oid))
    })
}

/// What COMMENT ON POLICY names.
pub(crate) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let (relation, name) = trigger::split(object)?;
    let table = names::open(session, &relation, LockMode::AccessShare)?;
    let policy = find(session, &table, name)?;
    names::check_owner_of_whole(session, &table)?;
    Ok(ObjectAddress::policy(policy.oid))
}

/// ALTER POLICY ... RENAME.
pub(super) fn rename(session: &Session, asked: &Rename) -> SqlResult<()> {
    let relation = asked.relation.as_ref();
    let relation = relation.ok_or_else(|| SqlError::internal("RENAME without a relation"))?;
    let table = open(session, relation)?;
    check_free(session, &table, &asked.new_name)?;
    let policy = find(session, &table, old_name(asked))?;
    session.with_changer(|changer| changer.rename_policy(policy.oid, &asked.new_name))
}

/// ENABLE and DISABLE ROW LEVEL SECURITY.
pub(super) fn enable(session: &Session, table: &Table, on: bool) -> SqlResult<()> {
    session.with_changer(|changer| {
        changer.edit_relation(table.oid, |row| row[pg_class::RELROWSECURITY] = on.into())
    })
}

/// FORCE and NO FORCE ROW LEVEL SECURITY.
pub(super) fn force(session: &Session, table: &Table, on: bool) -> SqlResult<()> {
    session.with_changer(|changer| {
        changer.edit_relation(table.oid, |row| row[pg_class::RELFORCEROWSECURITY] = on.into())
    })
}

/// DROP OWNED: takes a role away from a policy; false if the policy is for no other and has to go.
pub(super) fn remove_role(session: &Session, policy: Oid, (role, name): (Oid, &str)) -> SqlResult<bool> {
    let Some((table, policy_name)) = session.with_reader(|reader| reader.policy_of(policy))? else {
        return Ok(true);
    };
    names::lock_relation(session, table, LockMode::AccessExclusive, txn::LockWait::Block)?;
    let table = names::describe(session, table)?;
    if !names::owns(session, table.owner)? {
        let message = format!(
            "role \"{name}\" could not be removed from policy \"{policy_name}\" on \"{}\"",
            table.name
        );
        let code = SqlState::WARNING_PRIVILEGE_NOT_REVOKED;
        session.notice(SqlError::with_severity(Severity::Warning, code, message));
        return Ok(true);
    }
    session.with_changer(|changer| changer.remove_role_of_policy(policy, role))
}
