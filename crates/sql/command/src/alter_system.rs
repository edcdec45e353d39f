//! ALTER SYSTEM: settings in `postgresql.auto.conf`.
//!
//! # PostgreSQL counterpart
//! `AlterSystemSetConfigFile` in `guc.c`.

use base::settings::{Context, Setting};
use base::{SqlError, SqlResult, sql_err};
use parse::ast::{SetAction, SetStatement};
use session::Session;
use session::control::AutoChange;

use super::settings::value_text;

/// ALTER SYSTEM SET, RESET and RESET ALL.
pub(crate) fn run(session: &Session, statement: &SetStatement) -> SqlResult<()> {
    let name = &statement.name;
    if !session.settings.borrow().get(Setting::allow_alter_system).as_bool() {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "ALTER SYSTEM is not allowed in this environment"));
    }
    let value = match &statement.action {
        SetAction::Value(values) => Some(value_text(name, values)?),
        SetAction::Default | SetAction::Reset => None,
        SetAction::ResetAll => {
            if !session.has_all_rights()? {
                let what = "permission denied to perform ALTER SYSTEM RESET ALL";
                return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "{what}"));
            }
            return session.instance().control()?.alter_system(AutoChange::Clear);
        }
        SetAction::Current | SetAction::Multi(_) => {
            return Err(SqlError::not_supported(format!("ALTER SYSTEM SET {name}")));
        }
    };
    if !session.may_alter_system(name)? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to set parameter \"{name}\""));
    }
    check(session, name, value.as_deref())?;
    let name = Setting::find(name).map_or_else(|| name.to_ascii_lowercase(), |known| known.name().to_owned());
    session.instance().control()?.alter_system(AutoChange::Setting(&name, value.as_deref()))
}

/// Fails for what cannot stand in the file.
fn check(session: &Session, name: &str, value: Option<&str>) -> SqlResult<()> {
    match Setting::find(name) {
        Some(setting) => {
            if setting.definition().context == Context::Internal || is_of_a_session(setting) {
                return Err(sql_err!(CANT_CHANGE_RUNTIME_PARAM, "parameter \"{name}\" cannot be changed"));
            }
            if let Some(value) = value {
                session.settings.borrow().check(setting, value)?;
            }
        }
        None => session.settings.borrow().check_custom_name(name)?,
    }
    if value.is_some_and(|value| value.contains('\n')) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "parameter value for ALTER SYSTEM must not contain a newline"
        ));
    }
    Ok(())
}

/// Settings that say what a session is, or where the file itself lies.
fn is_of_a_session(setting: Setting) -> bool {
    matches!(
        setting,
        Setting::config_file
            | Setting::data_directory
            | Setting::role
            | Setting::seed
            | Setting::session_authorization
            | Setting::transaction_deferrable
            | Setting::transaction_isolation
            | Setting::transaction_read_only
    )
}
