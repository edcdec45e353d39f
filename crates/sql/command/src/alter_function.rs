//! # What
//! ALTER and DROP of functions, procedures and aggregates.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority::AclKind;
use catalog::change::ObjectAddress;
use catalog::system::pg_proc;
use catalog::{Row, RowExt};
use parse::ast::{AlterFunction, Drop, ObjectKind, ObjectName, ObjectWithArgs, Rename};
use session::Session;
use tuple::Datum;

use super::function_options::{Options, change_config};
use super::object_kind::Move;
use super::routine_name::{self, Found};
use super::{names, owner};

/// What a statement about a routine names.
pub(crate) fn with_args(object: Option<&ObjectName>) -> SqlResult<&ObjectWithArgs> {
    match object {
        Some(ObjectName::WithArgs(named)) => Ok(named),
        _ => Err(SqlError::internal("a function was expected")),
    }
}

/// The routine, which the current user must own.
pub(crate) fn address(session: &Session, kind: ObjectKind, object: &ObjectName) -> SqlResult<ObjectAddress> {
    Ok(ObjectAddress::routine(owned(session, kind, with_args(Some(object))?, word(kind))?.0.oid))
}

/// The routine, which the current user must own, and its row.
fn owned(session: &Session, kind: ObjectKind, named: &ObjectWithArgs, what: &str) -> SqlResult<(Found, Row)> {
    let (found, row) = existing(session, kind, named)?;
    check_owner(session, &row, what)?;
    Ok((found, row))
}

fn existing(session: &Session, kind: ObjectKind, named: &ObjectWithArgs) -> SqlResult<(Found, Row)> {
    let found = routine_name::find(session, kind, named)?;
    let missing = || SqlError::internal(format!("cache lookup failed for function {}", found.oid));
    let row = session.with_reader(|r| r.routine_row(found.oid))?.ok_or_else(missing)?;
    Ok((found, row))
}

/// How a statement calls what it names.
fn word(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Procedure => "procedure",
        ObjectKind::Aggregate => "aggregate",
        ObjectKind::Routine => "routine",
        _ => "function",
    }
}

fn check_owner(session: &Session, row: &Row, what: &str) -> SqlResult<()> {
    if names::owns(session, row.oid(pg_proc::PROOWNER))? {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of {what} {}", row.str(pg_proc::PRONAME)))
}

/// ALTER FUNCTION … options.
pub(crate) fn alter(session: &Session, statement: &AlterFunction, text: &str) -> SqlResult<()> {
    let (found, row) = owned(session, statement.kind, &statement.function, word(statement.kind))?;
    if found.kind == b'a' {
        return Err(sql_err!(
            WRONG_OBJECT_TYPE,
            "\"{}\" is an aggregate function",
            statement.function.name.dotted()
        ));
    }
    let options = Options::read(&statement.actions, found.kind == b'p', text)?;
    if options.leakproof == Some(true) && !session.has_all_rights()? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "only superuser can define a leakproof function"));
    }
    if options.rows.is_some() && !row.bool(pg_proc::PRORETSET) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "ROWS is not applicable when function does not return a set"
        ));
    }
    if !options.settings.is_empty() {
        let mut config = catalog::texts_of(&row[pg_proc::PROCONFIG]);
        change_config(session, &mut config, &options.settings)?;
        session.with_changer(|changer| changer.set_routine_config(found.oid, &config))?;
    }
    session.with_changer(|changer| {
        changer.edit_routine(found.oid, |row| {
            let mut set = |column: usize, value: Option<Datum>| {
                if let Some(value) = value {
                    row[column] = value;
                }
            };
            set(pg_proc::PROVOLATILE, options.volatility.map(Datum::Char));
            set(pg_proc::PROISSTRICT, options.strict.map(Datum::Bool));
            set(pg_proc::PROSECDEF, options.security_definer.map(Datum::Bool));
            set(pg_proc::PROLEAKPROOF, options.leakproof.map(Datum::Bool));
            set(pg_proc::PROCOST, options.cost.map(Datum::Float4));
            set(pg_proc::PROROWS, options.rows.map(Datum::Float4));
            set(pg_proc::PROPARALLEL, options.parallel.map(Datum::Char));
        })
    })
}

/// Refuses a name that is taken in a schema by a routine with the same arguments.
fn check_free(session: &Session, row: &Row, schema: Oid, name: &str) -> SqlResult<()> {
    let inputs = catalog::oids_of(&row[pg_proc::PROARGTYPES]);
    if session.with_reader(|r| r.routine_oid(schema, name, &inputs))?.is_none() {
        return Ok(());
    }
    let types = inputs.iter().map(|t| analyze::names::format_type(session, *t, None));
    let signature = format!("{name}({})", types.collect::<Vec<_>>().join(", "));
    let schema = session.with_reader(|r| catalog::CatalogView::schema_name(r, schema))?.unwrap_or_default();
    Err(SqlError::new(
        SqlState::DUPLICATE_FUNCTION,
        format!("function {signature} already exists in schema \"{schema}\""),
    ))
}

/// Fails if a schema has a routine like this one already.
pub(crate) fn check_free_in(session: &Session, oid: Oid, schema: Oid) -> SqlResult<()> {
    match session.with_reader(|r| r.routine_row(oid))? {
        Some(row) => check_free(session, &row, schema, row.str(pg_proc::PRONAME)),
        None => Ok(()),
    }
}

/// ALTER FUNCTION … RENAME TO.
pub(crate) fn rename(session: &Session, asked: &Rename) -> SqlResult<()> {
    let name = &asked.new_name;
    let (found, row) = owned(session, asked.kind, with_args(asked.object.as_ref())?, "function")?;
    names::check_creation(session, row.oid(pg_proc::PRONAMESPACE))?;
    check_free(session, &row, row.oid(pg_proc::PRONAMESPACE), name)?;
    session.with_changer(|changer| {
        changer.edit_routine(found.oid, |row| row[pg_proc::PRONAME] = Datum::text(name))
    })
}

/// ALTER FUNCTION … SET SCHEMA.
pub(crate) fn set_schema(session: &Session, asked: &Move<'_>) -> SqlResult<()> {
    let (found, row) = existing(session, asked.kind, with_args(asked.object)?)?;
    let to = names::schema_to_move_to(session, asked.schema)?;
    if row.oid(pg_proc::PRONAMESPACE) == to {
        return Ok(());
    }
    check_owner(session, &row, "function")?;
    check_free(session, &row, to, row.str(pg_proc::PRONAME))?;
    let routine = ObjectAddress::routine(found.oid);
    session.with_changer(|changer| changer.set_object_schema(routine, pg_proc::PRONAMESPACE, to))
}

/// ALTER FUNCTION … OWNER TO.
pub(crate) fn set_owner(
    session: &Session,
    kind: ObjectKind,
    object: &ObjectName,
    owner: Oid,
) -> SqlResult<()> {
    let (found, row) = owned(session, kind, with_args(Some(object))?, "function")?;
    if row.oid(pg_proc::PROOWNER) == owner {
        return Ok(());
    }
    owner::check_new_owner(session, owner, row.oid(pg_proc::PRONAMESPACE))?;
    session.with_changer(|changer| changer.set_owner(&AclKind::FUNCTION, found.oid, owner, true))
}

/// What DROP FUNCTION and its kin name.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let named = with_args(Some(object))?;
        let found = match statement.missing_ok {
            true => routine_name::find_if_exists(session, statement.kind, named)?,
            false => Some(routine_name::find(session, statement.kind, named)?),
        };
        let Some(found) = found else { continue };
        if found.kind == b'a' && statement.kind == ObjectKind::Function {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is an aggregate function", named.name.dotted())
                .hint("Use DROP AGGREGATE to drop aggregate functions."));
        }
        let address = ObjectAddress::routine(found.oid);
        if let Some(row) = session.with_reader(|r| r.routine_row(found.oid))?
            && !names::owns_schema(session, row.oid(pg_proc::PRONAMESPACE))?
        {
            check_owner(session, &row, word(statement.kind))?;
        }
        if !objects.contains(&address) {
            objects.push(address);
        }
    }
    Ok(objects)
}
