//! ALTER ROLE and ALTER DATABASE ... SET and RESET: settings stored for sessions to come (`pg_db_role_setting`).

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, sql_err};
use parse::ast::{RoleSpec, SetAction, SetStatement};
use session::Session;

use super::super::{names, settings};
use super::{User, alterable, denied, manager_detail};

/// Stores a setting for a role (`None`: all) in a database (`None`: all).
pub(crate) fn set(
    session: &Session,
    role: Option<&RoleSpec>,
    database: Option<&str>,
    statement: &SetStatement,
) -> SqlResult<()> {
    let role = match role {
        Some(spec) => check_role(session, spec)?,
        None => Oid::INVALID,
    };
    let database = match database {
        Some(name) => {
            let found = session.with_reader(|reader| reader.database_by_name(name))?;
            let found =
                found.ok_or_else(|| sql_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist"))?;
            if !role.is_valid() && !names::owns(session, found.owner)? {
                return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of database {name}"));
            }
            found.oid
        }
        None => Oid::INVALID,
    };
    if !role.is_valid() && !database.is_valid() && !session.has_all_rights()? {
        let detail = "Only roles with the SUPERUSER attribute may alter settings globally.";
        return Err(denied("alter setting", detail.into()));
    }
    let known = session.with_reader(|reader| reader.stored_settings(database, role))?;
    let stored = changed(session, known.clone(), statement)?;
    if stored == known {
        return Ok(());
    }
    session.with_changer(|changer| changer.store_settings(database, role, &stored))
}

fn check_role(session: &Session, spec: &RoleSpec) -> SqlResult<Oid> {
    let role = alterable(session, spec)?;
    let user = User::of(session)?;
    if role.superuser && !user.facts.superuser {
        let detail = "Only roles with the SUPERUSER attribute may alter roles with the SUPERUSER attribute.";
        return Err(denied("alter role", detail.into()));
    }
    if role.oid != user.oid && !user.may_manage(session, role.oid)? {
        return Err(denied("alter role", manager_detail(&role.name, "alter this role")));
    }
    Ok(role.oid)
}

/// The settings after the statement.
fn changed(
    session: &Session,
    mut stored: Vec<(String, String)>,
    statement: &SetStatement,
) -> SqlResult<Vec<(String, String)>> {
    let name = Setting::find(&statement.name).map_or(statement.name.as_str(), |setting| setting.name());
    let value = match &statement.action {
        SetAction::Value(values) => Some(settings::value_text(name, values)?),
        SetAction::Default | SetAction::Reset => None,
        SetAction::Current => Some(session.settings.borrow().show(name)?),
        SetAction::ResetAll => {
            // What the user may not set stays.
            stored.retain(|(name, _)| session.check_stored_setting(name, None).is_err());
            return Ok(stored);
        }
        SetAction::Multi(_) => return Err(SqlError::not_supported(format!("SET {name} of a role"))),
    };
    session.check_stored_setting(name, value.as_deref())?;
    if let Some(value) = &value
        && let Some(refused) =
            Setting::find(name).and_then(|setting| session.refused_identity(setting, value))
    {
        session.notice(refused);
    }
    let at = stored.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
    match (value, at) {
        (Some(value), Some(at)) => stored[at].1 = value,
        (Some(value), None) => stored.push((name.to_owned(), value)),
        (None, Some(at)) => drop(stored.remove(at)),
        (None, None) => {}
    }
    Ok(stored)
}
