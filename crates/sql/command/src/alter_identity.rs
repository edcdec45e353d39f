//! # What
//! ALTER TABLE ... ALTER COLUMN ADD GENERATED, SET GENERATED (and sequence options), DROP IDENTITY.
//!
//! # PostgreSQL counterpart
//! `ATExecAddIdentity` and its neighbours in `commands/tablecmds.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Behavior, Dependency, ObjectAddress};
use catalog::{Column, Identity, Table};
use parse::ast::{self, DefElem};
use session::Session;

use super::sequence::{self, ForColumn};
use super::{alter, constraint, names, options, table};

fn column<'t>(table: &'t Table, name: &str) -> SqlResult<(i16, &'t Column)> {
    if super::index::is_system_column(name) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot alter system column \"{name}\""));
    }
    let i = alter::find(table, name)?;
    Ok((i as i16 + 1, &table.columns[i]))
}

fn not_ready(table: &Table, column: &str, what: &str) -> SqlError {
    sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "column \"{column}\" of relation \"{}\" {what}", table.name)
}

/// ADD GENERATED ... AS IDENTITY.
pub(super) fn add(
    session: &Session,
    table: &Table,
    (name, kind): (&str, ast::Identity),
    list: &[DefElem],
    text: &str,
) -> SqlResult<()> {
    let (number, found) = column(table, name)?;
    let of = ForColumn {
        schema: table.schema,
        table: &table.name,
        persistence: table.persistence as u8,
        column: name,
        type_oid: found.type_oid,
        identity: true,
    };
    let sequence = sequence::for_column(session, &of, list, text)?;
    if !found.not_null {
        return Err(not_ready(table, name, "must be declared NOT NULL before identity can be added"));
    }
    let all = alter::constraints(session, table)?;
    if let Some(found) = all.iter().find(|c| c.is_not_null_of(number) && !c.validated) {
        return Err(constraint::not_valid_yet(found, table));
    }
    if found.identity != Identity::None {
        return Err(not_ready(table, name, "is already an identity column"));
    }
    if found.default.is_some() {
        return Err(not_ready(table, name, "already has a default value"));
    }
    session.with_changer(|changer| {
        changer.set_identity(table.oid, number, table::identity_of(kind))?;
        changer.own_sequence(sequence, Some((table.oid, number, Dependency::Internal)))
    })
}

/// SET GENERATED, SET sequence options, RESTART.
pub(super) fn set(
    session: &Session,
    table: &Table,
    name: &str,
    list: &[DefElem],
    text: &str,
) -> SqlResult<()> {
    let (number, found) = column(table, name)?;
    let (generated, rest): (Vec<&DefElem>, Vec<&DefElem>) = list.iter().partition(|o| o.name == "generated");
    if generated.len() > 1 {
        return Err(sql_err!(SYNTAX_ERROR, "conflicting or redundant options"));
    }
    if found.identity == Identity::None {
        return Err(not_ready(table, name, "is not an identity column"));
    }
    if let [option] = generated.as_slice() {
        let always = options::string(option)? == "always";
        let identity = if always { Identity::Always } else { Identity::ByDefault };
        session.with_changer(|changer| changer.set_identity(table.oid, number, identity))?;
    }
    if rest.is_empty() {
        return Ok(());
    }
    let rest: Vec<DefElem> = rest.into_iter().cloned().collect();
    sequence::alter_identity(session, found.identity_sequence, &rest, text)
}

/// DROP IDENTITY.
pub(super) fn drop(session: &Session, table: &Table, name: &str, missing_ok: bool) -> SqlResult<()> {
    let (number, found) = column(table, name)?;
    if found.identity == Identity::None {
        let error = not_ready(table, name, "is not an identity column");
        if !missing_ok {
            return Err(error);
        }
        let message = format!("{}, skipping", error.message());
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        return Ok(());
    }
    let sequence = found.identity_sequence;
    session.with_changer(|changer| {
        changer.set_identity(table.oid, number, Identity::None)?;
        changer.own_sequence(sequence, None)?;
        changer.drop_objects(&[ObjectAddress::relation(sequence)], Behavior::Restrict).map(std::mem::drop)
    })
}

/// The type of an identity column changed: its sequence follows.
pub(super) fn follow_type(session: &Session, sequence: Oid, type_oid: Oid, text: &str) -> SqlResult<()> {
    let word = types::builtin_type(type_oid).map_or("text", |info| info.name);
    let names = vec!["pg_catalog".into(), word.into()];
    let type_name = ast::TypeName { names, typmod: -1, ..ast::TypeName::default() };
    let option = DefElem {
        namespace: None,
        name: "as".into(),
        value: Some(ast::OptionValue::Type(type_name)),
        location: ast::Location::NONE,
    };
    sequence::alter_identity(session, sequence, &[option], text)
}
