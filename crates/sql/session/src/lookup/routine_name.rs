//! # What
//! Functions, procedures and aggregates by name and argument types, as ALTER, DROP, COMMENT and CREATE CAST name them.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::system::pg_proc;
use catalog::{CatalogView, PG_CATALOG, RowExt};
use parse::ast::{Name, ObjectKind, ObjectWithArgs, TypeName};

use super::names;
use crate::Session;

/// A routine that a statement names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its OID.
    pub oid: Oid,
    /// `pg_proc.prokind`
    pub kind: u8,
}

/// The routine named; an error if there is none.
pub fn find(session: &Session, kind: ObjectKind, named: &ObjectWithArgs) -> SqlResult<Found> {
    find_or_why(session, kind, named)?
}

/// The routine named, or a NOTICE that there is none.
pub fn find_if_exists(
    session: &Session,
    kind: ObjectKind,
    named: &ObjectWithArgs,
) -> SqlResult<Option<Found>> {
    if let Some(missing) = missing_part(session, named)? {
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, format!("{missing}, skipping")));
        return Ok(None);
    }
    match find_or_why(session, kind, named)? {
        Ok(found) => Ok(Some(found)),
        Err(why) if why.code() == SqlState::UNDEFINED_FUNCTION => {
            let message = match named.args_unspecified {
                true => format!("{} {} does not exist, skipping", noun(kind), signature_name(named)),
                false => format!("{} {} does not exist, skipping", noun(kind), as_written(named)),
            };
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            Ok(None)
        }
        Err(why) => Err(why),
    }
}

/// What a name begins with that does not exist: a schema, or the type of an argument.
fn missing_part(session: &Session, named: &ObjectWithArgs) -> SqlResult<Option<String>> {
    let schema_missing = |name: &[String]| -> SqlResult<Option<String>> {
        let [schema, _] = name else { return Ok(None) };
        let found = session.with_reader(|r| r.schema_by_name(schema))?;
        Ok(found.is_none().then(|| format!("schema \"{schema}\" does not exist")))
    };
    if let Some(missing) = schema_missing(&named.name.0)? {
        return Ok(Some(missing));
    }
    for name in named.args.iter().flatten() {
        if let Some(missing) = schema_missing(&name.names)? {
            return Ok(Some(missing));
        }
        if let Err(error) = resolve(session, name) {
            match error.code() {
                SqlState::UNDEFINED_OBJECT => {
                    return Ok(Some(format!("type \"{}\" does not exist", super::type_name::written(name))));
                }
                _ => return Err(error),
            }
        }
    }
    Ok(None)
}

/// OID of a type as written; SETOF and the modifier do not matter.
pub fn resolve(session: &Session, name: &TypeName) -> SqlResult<Oid> {
    let format = session.format();
    let call = types::Call::new(&format).with_session(session);
    Ok(analyze::resolve_type(name, "", session, &call)?.0)
}

fn noun(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Procedure => "procedure",
        ObjectKind::Aggregate => "aggregate",
        ObjectKind::Routine => "routine",
        _ => "function",
    }
}

fn signature_name(named: &ObjectWithArgs) -> String {
    format!("{}()", named.name.dotted())
}

/// `f(int,text)`, as it was written.
fn as_written(named: &ObjectWithArgs) -> String {
    let types = named.args.iter().flatten().map(super::type_name::written);
    format!("{}({})", named.name.dotted(), types.collect::<Vec<_>>().join(","))
}

/// `f(integer, text)`, as messages show it.
fn signature(session: &Session, named: &ObjectWithArgs) -> SqlResult<String> {
    let types = named.args.iter().map(|t| match t {
        Some(t) => Ok(analyze::names::format_type(session, resolve(session, t)?, None)),
        None => Ok("NONE".to_owned()),
    });
    Ok(format!("{}({})", named.name.dotted(), types.collect::<SqlResult<Vec<_>>>()?.join(", ")))
}

fn find_or_why(
    session: &Session,
    kind: ObjectKind,
    named: &ObjectWithArgs,
) -> SqlResult<Result<Found, SqlError>> {
    let found = match named.args_unspecified {
        true => {
            let mut all = candidates(session, &named.name)?;
            all.retain(|(found, _)| fits(found.kind, kind));
            if all.len() > 1 {
                let what = noun(kind);
                return Err(sql_err!(
                    AMBIGUOUS_FUNCTION,
                    "{what} name \"{}\" is not unique",
                    named.name.dotted()
                )
                .hint(format!("Specify the argument list to select the {what} unambiguously.")));
            }
            all.first().map(|(found, _)| *found)
        }
        false => by_types(session, kind, named)?,
    };
    let Some(found) = found else {
        let message = match named.args_unspecified {
            true => format!("could not find a {} named \"{}\"", noun(kind), named.name.dotted()),
            false if named.args.is_empty() && kind == ObjectKind::Aggregate => {
                format!("aggregate {}(*) does not exist", named.name.dotted())
            }
            false => {
                // For ROUTINE PostgreSQL says function.
                let what = if kind == ObjectKind::Routine { "function" } else { noun(kind) };
                format!("{what} {} does not exist", signature(session, named)?)
            }
        };
        return Ok(Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message)));
    };
    if fits(found.kind, kind) {
        return Ok(Ok(found));
    }
    let shown = signature(session, named)?;
    let message = match kind {
        ObjectKind::Aggregate => format!("function {shown} is not an aggregate"),
        ObjectKind::Procedure => format!("{shown} is not a procedure"),
        _ => format!("{shown} is not a function"),
    };
    Ok(Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)))
}

/// Whether a statement about this kind of object may name this kind of routine.
fn fits(prokind: u8, kind: ObjectKind) -> bool {
    match kind {
        ObjectKind::Procedure => prokind == b'p',
        ObjectKind::Aggregate => prokind == b'a',
        ObjectKind::Routine => true,
        _ => prokind != b'p',
    }
}

fn by_types(session: &Session, kind: ObjectKind, named: &ObjectWithArgs) -> SqlResult<Option<Found>> {
    let mut types = Vec::with_capacity(named.args.len());
    for arg in &named.args {
        let Some(arg) = arg else { return Ok(None) };
        types.push(resolve(session, arg)?);
    }
    for schema in schemas(session, &named.name)? {
        let found = session.with_reader(|r| r.routine_oid(schema, named.name.last(), &types))?;
        if let Some((oid, kind)) = found {
            return Ok(Some(Found { oid, kind }));
        }
    }
    if !matches!(kind, ObjectKind::Procedure | ObjectKind::Routine) {
        return Ok(None);
    }
    // A procedure may be named with the types of its OUT parameters too.
    let mut all = Vec::with_capacity(named.parameters.len());
    for parameter in &named.parameters {
        all.push(resolve(session, &parameter.type_name)?);
    }
    let found = candidates(session, &named.name)?;
    Ok(found.into_iter().find(|(f, types)| f.kind == b'p' && *types == all).map(|(found, _)| found))
}

/// Schemas to look in.
pub fn schemas(session: &Session, name: &Name) -> SqlResult<Vec<Oid>> {
    match name.0.as_slice() {
        [_] => {
            let mut path = session.with_reader(|r| CatalogView::search_path(r))?;
            if !path.contains(&PG_CATALOG) {
                path.insert(0, PG_CATALOG);
            }
            Ok(path)
        }
        [database, _, _] if *database != session.catalog.database_name() => Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "cross-database references are not implemented: {}",
            name.dotted()
        )),
        [schema, _] | [_, schema, _] => {
            let found = session.with_reader(|r| r.schema_by_name(schema))?;
            Ok(vec![found.ok_or_else(|| names::undefined_schema(schema))?])
        }
        _ => {
            Err(sql_err!(SYNTAX_ERROR, "improper qualified name (too many dotted names): {}", name.dotted()))
        }
    }
}

/// The function with exactly these argument types.
pub fn exact(session: &Session, name: &Name, args: &[Oid]) -> SqlResult<Oid> {
    let all = candidates(session, name)?;
    all.iter().find(|(_, inputs)| inputs == args).map(|(found, _)| found.oid).ok_or_else(|| {
        let types = args.iter().map(|t| analyze::names::format_type(session, *t, None));
        let types = types.collect::<Vec<_>>().join(", ");
        sql_err!(UNDEFINED_FUNCTION, "function {}({types}) does not exist", name.dotted())
    })
}

/// All routines of a name that the search path shows, with the types of all their parameters.
fn candidates(session: &Session, name: &Name) -> SqlResult<Vec<(Found, Vec<Oid>)>> {
    let schemas = schemas(session, name)?;
    let index = pg_proc::PG_PROC_PRONAME_ARGS_NSP_INDEX;
    let rows = session.with_reader(|r| r.find(&pg_proc::TABLE, index, &[name.last().into()]))?;
    let mut found: Vec<(usize, Vec<Oid>, Found, Vec<Oid>)> = Vec::new();
    for (_, row) in &rows {
        let Some(rank) = schemas.iter().position(|s| *s == row.oid(pg_proc::PRONAMESPACE)) else { continue };
        let inputs = catalog::oids_of(&row[pg_proc::PROARGTYPES]);
        let all = catalog::oids_of(&row[pg_proc::PROALLARGTYPES]);
        let all = if all.is_empty() { inputs.clone() } else { all };
        let this = Found { oid: row.oid(pg_proc::OID), kind: row.char(pg_proc::PROKIND) };
        // One in an earlier schema hides those with the same arguments.
        match found.iter().position(|(_, types, ..)| *types == inputs) {
            Some(i) if found[i].0 <= rank => {}
            Some(i) => found[i] = (rank, inputs, this, all),
            None => found.push((rank, inputs, this, all)),
        }
    }
    Ok(found.into_iter().map(|(.., found, all)| (found, all)).collect())
}
