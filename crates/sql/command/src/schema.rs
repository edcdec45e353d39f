//! # What
//! CREATE SCHEMA.

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority;
use parse::Statement;
use parse::ast::RoleSpec;
use session::output::Output;
use session::{Arguments, Session};

use super::names;

/// OID and name of a role as written.
pub(crate) fn role(session: &Session, spec: &RoleSpec) -> SqlResult<(Oid, String)> {
    session.with_reader(|reader| match spec {
        RoleSpec::Name(name, _) => match reader.role(name)? {
            Some(role) => Ok((role.oid, role.name)),
            None => Err(sql_err!(UNDEFINED_OBJECT, "role \"{name}\" does not exist")),
        },
        RoleSpec::CurrentRole(_) | RoleSpec::CurrentUser(_) => {
            let oid = reader.session.user();
            Ok((oid, reader.role_name(oid)?.unwrap_or_default()))
        }
        RoleSpec::SessionUser(_) => {
            let oid = reader.session.session_user();
            Ok((oid, reader.role_name(oid)?.unwrap_or_default()))
        }
        RoleSpec::Public(_) => Err(sql_err!(UNDEFINED_OBJECT, "role \"public\" does not exist")),
    })
}

/// CREATE SCHEMA, with the objects made in it.
pub(crate) fn create(
    session: &Session,
    name: Option<&str>,
    owner: Option<&RoleSpec>,
    elements: &[Statement],
    if_not_exists: bool,
    text: &str,
    out: &mut dyn Output,
) -> SqlResult<()> {
    let (owner, owner_name) = match owner {
        Some(spec) => role(session, spec)?,
        None => (session.names.user(), String::new()),
    };
    if !names::holds_on_database(session, "C")? {
        return Err(authority::denied("database", session.catalog.database_name()));
    }
    names::check_may_become(session, owner)?;
    let name = name.unwrap_or(&owner_name);
    if name.starts_with("pg_") {
        return Err(sql_err!(RESERVED_NAME, "unacceptable schema name \"{name}\"")
            .detail("The prefix \"pg_\" is reserved for system schemas."));
    }
    if session.with_reader(|reader| reader.schema_by_name(name))?.is_some() {
        if if_not_exists {
            let message = format!("schema \"{name}\" already exists, skipping");
            session.notice(names::notice(SqlState::DUPLICATE_SCHEMA, message));
            return Ok(());
        }
        return Err(sql_err!(DUPLICATE_SCHEMA, "schema \"{name}\" already exists"));
    }
    session.with_changer(|changer| changer.create_schema(name, owner).map(std::mem::drop))?;
    if elements.is_empty() {
        return Ok(());
    }
    let mut elements = elements.iter().map(|e| in_schema(e, name)).collect::<SqlResult<Vec<_>>>()?;
    elements.sort_by_key(rank);
    // They are their schema's owner's, and find each other without its name.
    let path = session.settings.borrow().text(Setting::search_path).to_owned();
    let separator = if path.trim().is_empty() { "" } else { ", " };
    let first = format!("{}{separator}{path}", analyze::names::quote_identifier(name));
    session.change_setting(Setting::search_path.name(), Some(&first), true)?;
    session.as_role(owner, || {
        elements.iter().try_for_each(|element| {
            super::statement::run(session, element, text, &Arguments::NONE, out).map(std::mem::drop)
        })
    })?;
    session.change_setting(Setting::search_path.name(), Some(&path), true)
}

/// In which order the elements of a schema are made, whatever the order written.
fn rank(element: &Statement) -> u8 {
    match element {
        Statement::CreateSequence { .. } => 0,
        Statement::CreateTable(_) => 1,
        Statement::CreateView(_) => 2,
        Statement::CreateIndex(_) => 3,
        _ => 4,
    }
}

/// The statement with its object in the new schema.
fn in_schema(element: &Statement, schema: &str) -> SqlResult<Statement> {
    let mut element = element.clone();
    let relation = match &mut element {
        Statement::CreateTable(s) => &mut s.relation,
        Statement::CreateIndex(s) => &mut s.relation,
        Statement::CreateView(s) => &mut s.view,
        Statement::CreateSequence { sequence, .. } => sequence,
        Statement::Grant(_) => return Ok(element),
        other => {
            let what = format!("{} in CREATE SCHEMA", super::statement::describe(other).tag);
            return Err(SqlError::not_supported(what));
        }
    };
    match &relation.schema {
        None => relation.schema = Some(schema.to_owned()),
        Some(other) if other != schema => {
            return Err(sql_err!(
                INVALID_SCHEMA_DEFINITION,
                "CREATE specifies a schema ({other}) different from the one being created ({schema})"
            ));
        }
        Some(_) => {}
    }
    Ok(element)
}
