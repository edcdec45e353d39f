//! # What
//! ALTER TABLE … ALTER CONSTRAINT and VALIDATE CONSTRAINT.
//!
//! # PostgreSQL counterpart
//! `ATExecAlterConstraint` and `ATExecValidateConstraint` of `commands/tablecmds.c`.

use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{ConstraintInfo, Origin};
use catalog::system::{pg_constraint, pg_trigger};
use catalog::{RelationKind, Table};
use eval::trigger::function;
use session::Session;

use super::alter::{constraints, undefined_constraint};
use super::alter_tree::{self, each_child};
use super::{foreign_key, foreign_key_parts};

/// What ALTER CONSTRAINT says.
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    /// ENFORCED or NOT.
    pub(super) enforced: Option<bool>,
    /// DEFERRABLE, INITIALLY DEFERRED.
    pub(super) deferrability: Option<(bool, bool)>,
    /// NO INHERIT or INHERIT.
    pub(super) no_inherit: Option<bool>,
}

/// ALTER CONSTRAINT.
pub(super) fn alter(
    session: &Session,
    table: &Arc<Table>,
    wanted: &Wanted<'_>,
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    let all = constraints(session, table)?;
    let found = all.iter().find(|c| c.name == wanted.name);
    let found = found.ok_or_else(|| undefined_constraint(table, wanted.name))?;
    check(session, table, found, wanted)?;
    if let Some((deferrable, deferred)) = wanted.deferrability {
        set_deferrability(session, found, (deferrable, deferred))?;
    }
    match wanted.enforced {
        Some(true) if !found.enforced => foreign_key_parts::enforce(session, found.oid)?,
        Some(false) if found.enforced => foreign_key_parts::stop_enforcing(session, found.oid)?,
        _ => {}
    }
    match wanted.no_inherit {
        Some(no_inherit) if no_inherit != found.no_inherit => {
            set_inheritability(session, table, found, no_inherit, recurse, text)
        }
        _ => Ok(()),
    }
}

/// Whether a constraint of this kind can be altered like this, and here.
fn check(session: &Session, table: &Table, found: &ConstraintInfo, wanted: &Wanted<'_>) -> SqlResult<()> {
    let (name, relation) = (&found.name, &table.name);
    let wrong = |message: String| Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
    if wanted.deferrability.is_some() && found.kind != b'f' {
        return wrong(format!(
            "constraint \"{name}\" of relation \"{relation}\" is not a foreign key constraint"
        ));
    }
    if wanted.enforced.is_some() && found.kind != b'f' {
        return wrong(format!(
            "cannot alter enforceability of constraint \"{name}\" of relation \"{relation}\""
        ));
    }
    if wanted.no_inherit.is_some() && found.kind != b'n' {
        return wrong(format!(
            "constraint \"{name}\" of relation \"{relation}\" is not a not-null constraint"
        ));
    }
    if wanted.no_inherit == Some(true) && table.kind == RelationKind::PartitionedTable {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "not-null constraint \"{name}\" on partitioned table \"{relation}\" cannot be NO INHERIT"
        ));
    }
    if wanted.no_inherit.is_some() && found.origin.inherited > 0 {
        return wrong(format!("cannot alter inherited constraint \"{name}\" on relation \"{relation}\""));
    }
    if found.kind != b'f' || !found.parent.is_valid() {
        return Ok(());
    }
    let mut whole = foreign_key::info(session, found.parent)?;
    while whole.parent.is_valid() {
        whole = foreign_key::info(session, whole.parent)?;
    }
    let of = super::names::describe(session, whole.table)?;
    Err(sql_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "cannot alter constraint \"{name}\" on relation \"{relation}\""
    )
    .detail(format!(
        "Constraint \"{name}\" is derived from constraint \"{}\" of relation \"{}\".",
        whole.name, of.name
    ))
    .hint("You may alter the constraint it derives from instead."))
}

/// DEFERRABLE and INITIALLY of a foreign key, its parts and those of its triggers that can wait.
fn set_deferrability(
    session: &Session,
    found: &ConstraintInfo,
    (deferrable, deferred): (bool, bool),
) -> SqlResult<()> {
    for key in foreign_key_parts::family(session, found.oid)? {
        let triggers = session.with_reader(|reader| reader.constraint_triggers(key.oid))?;
        session.with_changer(|changer| {
            changer.edit_constraint(key.oid, |row| {
                row[pg_constraint::CONDEFERRABLE] = deferrable.into();
                row[pg_constraint::CONDEFERRED] = deferred.into();
            })?;
            triggers.iter().filter(|trigger| function::can_wait(trigger.function)).try_for_each(|trigger| {
                changer.edit_trigger(trigger.oid, |row| {
                    row[pg_trigger::TGDEFERRABLE] = deferrable.into();
                    row[pg_trigger::TGINITDEFERRED] = deferred.into();
                })
            })
        })?;
    }
    Ok(())
}

/// INHERIT and NO INHERIT of a NOT NULL: children get it, or keep it as their own.
fn set_inheritability(
    session: &Session,
    table: &Arc<Table>,
    found: &ConstraintInfo,
    no_inherit: bool,
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    session.with_changer(|changer| {
        changer.edit_constraint(found.oid, |row| row[pg_constraint::CONNOINHERIT] = no_inherit.into())
    })?;
    let Some(column) = found.columns.first().map(|n| table.columns[*n as usize - 1].name.clone()) else {
        return Ok(());
    };
    if !no_inherit {
        return alter_tree::inherit_not_null(session, table, (&column, &found.name), recurse, text);
    }
    each_child(session, table, &mut |child| {
        let Some((number, _)) = child.column(&column) else { return Ok(()) };
        let all = constraints(session, child)?;
        let Some(own) = all.iter().find(|c| c.is_not_null_of(number)) else { return Ok(()) };
        let origin = Origin { local: true, inherited: (own.origin.inherited - 1).max(0) };
        session.with_changer(|changer| changer.set_constraint_origin(own.oid, origin))
    })
}

/// VALIDATE CONSTRAINT.
pub(super) fn validate(
    session: &Session,
    table: &Arc<Table>,
    name: &str,
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    let all = constraints(session, table)?;
    let found = all.iter().find(|c| c.name == name).ok_or_else(|| undefined_constraint(table, name))?;
    if !matches!(found.kind, b'f' | b'c' | b'n') {
        return Err(sql_err!(
            WRONG_OBJECT_TYPE,
            "cannot validate constraint \"{name}\" of relation \"{}\"",
            table.name
        )
        .detail("This operation is not supported for this type of constraint."));
    }
    if !found.enforced {
        return Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cannot validate NOT ENFORCED constraint"));
    }
    match found.kind {
        _ if found.validated => Ok(()),
        b'f' => foreign_key::validate(session, found.oid),
        _ => alter_tree::validate(session, table, found, recurse, text),
    }
}
