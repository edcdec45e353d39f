//! What CREATE ROLE and ALTER ROLE say of a role.

use base::{SqlError, SqlResult, sql_err};
use catalog::Role;
use parse::ast::{DefElem, OptionValue, RoleSpec};
use session::Session;
use tuple::Datum;
use types::oids;

use super::super::names::at;
use super::super::options as read;
use super::password;

/// The options; `None`: not said.
#[derive(Debug, Default)]
pub(super) struct Options<'a> {
    /// `Some(None)`: PASSWORD NULL.
    pub(super) password: Option<Option<&'a str>>,
    pub(super) superuser: Option<bool>,
    pub(super) inherit: Option<bool>,
    pub(super) create_role: Option<bool>,
    pub(super) create_database: Option<bool>,
    pub(super) login: Option<bool>,
    pub(super) replication: Option<bool>,
    pub(super) bypass_rls: Option<bool>,
    pub(super) connection_limit: Option<i32>,
    pub(super) valid_until: Option<&'a str>,
    /// IN ROLE
    pub(super) in_roles: Vec<RoleSpec>,
    /// ROLE, and the users of ALTER GROUP
    pub(super) members: Vec<RoleSpec>,
    /// ADMIN
    pub(super) admins: Vec<RoleSpec>,
    /// SYSID, which means nothing.
    pub(super) sysid: bool,
}

impl<'a> Options<'a> {
    pub(super) fn read(list: &'a [DefElem], text: &str) -> SqlResult<Options<'a>> {
        let mut options = Options::default();
        for (i, option) in list.iter().enumerate() {
            if list[..i].iter().any(|before| before.name == option.name) {
                let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
                return Err(at(error, text, option.location));
            }
            let flag = || read::boolean(option).map(Some);
            match option.name.as_str() {
                "password" => options.password = Some(string(option)),
                "superuser" => options.superuser = flag()?,
                "inherit" => options.inherit = flag()?,
                "createrole" => options.create_role = flag()?,
                "createdb" => options.create_database = flag()?,
                "canlogin" => options.login = flag()?,
                "isreplication" => options.replication = flag()?,
                "bypassrls" => options.bypass_rls = flag()?,
                "connectionlimit" => {
                    let limit = read::integer(option)?;
                    if limit < -1 {
                        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid connection limit: {limit}"));
                    }
                    options.connection_limit = Some(limit);
                }
                "validUntil" => options.valid_until = string(option),
                "addroleto" => options.in_roles = roles(option),
                "rolemembers" => options.members = roles(option),
                "adminmembers" => options.admins = roles(option),
                "sysid" => options.sysid = true,
                other => return Err(SqlError::internal(format!("option \"{other}\" not recognized"))),
            }
        }
        Ok(options)
    }

    /// Whether anything is said that only who manages the role may change.
    pub(super) fn changes_attributes(&self) -> bool {
        [self.inherit, self.create_role, self.create_database, self.login, self.replication, self.bypass_rls]
            .iter()
            .any(Option::is_some)
            || self.connection_limit.is_some()
            || self.valid_until.is_some()
    }

    /// The role as it will be.
    pub(super) fn apply(&self, session: &Session, role: &mut Role) -> SqlResult<()> {
        for (said, attribute) in [
            (self.superuser, &mut role.superuser),
            (self.inherit, &mut role.inherit),
            (self.create_role, &mut role.create_role),
            (self.create_database, &mut role.create_database),
            (self.login, &mut role.login),
            (self.replication, &mut role.replication),
            (self.bypass_rls, &mut role.bypass_rls),
        ] {
            *attribute = said.unwrap_or(*attribute);
        }
        role.connection_limit = self.connection_limit.unwrap_or(role.connection_limit);
        if let Some(text) = self.valid_until {
            let format = session.format();
            let call = types::Call::new(&format).with_session(session);
            role.valid_until = match types::input(oids::timestamptz, text, -1, &call)? {
                Datum::Int8(at) => Some(at),
                _ => None,
            };
        }
        if let Some(given) = self.password {
            role.password = match given {
                Some(given) => password::stored(session, &role.name, given)?,
                None => None,
            };
        }
        Ok(())
    }
}

fn string(option: &DefElem) -> Option<&str> {
    match &option.value {
        Some(OptionValue::String(text)) => Some(text),
        _ => None,
    }
}

fn roles(option: &DefElem) -> Vec<RoleSpec> {
    let Some(OptionValue::List(values)) = &option.value else { return Vec::new() };
    let role = |value: &OptionValue| match value {
        OptionValue::Role(role) => Some(role.clone()),
        _ => None,
    };
    values.iter().filter_map(role).collect()
}
