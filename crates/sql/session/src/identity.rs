//! # What
//! Whose rights apply: the settings `role` and `session_authorization`.
//!
//! # Invariants
//! 1. The two settings say who the users of the session are; `follow_identity` goes after them, so that the end of a
//!    transaction or savepoint takes SET ROLE back like any other SET.
//! 2. A name is looked up when it is set, not when it comes back: that may be without a transaction.
//!
//! # PostgreSQL counterpart
//! The check and assign hooks of `commands/variable.c`, the user ids of `utils/init/miscinit.c`.

use std::cell::{Cell, RefCell};

use base::settings::{Context, Setting, SettingRow, Value, Who};
use base::{Oid, Severity, SqlError, SqlResult, sql_err};
use catalog::{BOOTSTRAP_SUPERUSER, Reader, predefined};
use rustc_hash::FxHashMap;
use types::acl;

use super::Session;

/// The roles that a session has been.
pub(super) struct Identity {
    /// Who logged in.
    pub(super) authenticated: Oid,
    /// OID and SUPERUSER, as of when it was set, of names that the settings had.
    known: RefCell<FxHashMap<Box<str>, (Oid, bool)>>,
    /// Version of the settings that was followed last.
    version: Cell<u32>,
    /// Calls that run with the rights of a function's owner.
    borrowed: Cell<u32>,
    /// Security-restricted operations that run, each within the one before ([`Session::as_maintainer`]).
    pub(super) restricted: Cell<u32>,
    /// The materialized view that is brought up to date row by row, if one is.
    pub(super) maintained: Cell<Oid>,
    /// Statements that keep foreign keys: row security that is FORCEd does not count for them.
    pub(super) unforced: Cell<u32>,
}

impl Identity {
    /// Of a session that this role logged in to.
    pub(super) fn new(role: &catalog::Role) -> Identity {
        let known = [(role.name.as_str().into(), (role.oid, role.superuser))];
        Identity {
            authenticated: role.oid,
            known: RefCell::new(FxHashMap::from_iter(known)),
            version: Cell::new(u32::MAX),
            borrowed: Cell::new(0),
            restricted: Cell::new(0),
            maintained: Cell::new(Oid::INVALID),
            unforced: Cell::new(0),
        }
    }

    /// Looks up a role by name and caches it, if a setting of this session may have it as its value.
    pub(super) fn check(
        &self,
        reader: &Reader<'_>,
        session_user: Oid,
        setting: Setting,
        name: &str,
    ) -> SqlResult<()> {
        if setting == Setting::role && name == "none" {
            return Ok(());
        }
        let role = reader
            .role(name)?
            .ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "role \"{name}\" does not exist"))?;
        let (allowed, what) = match setting {
            Setting::role => (reader.may_become(session_user, role.oid)?, "role"),
            _ => {
                let own = role.oid == self.authenticated;
                (own || reader.is_superuser(self.authenticated)?, "session authorization")
            }
        };
        if !allowed {
            return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to set {what} \"{name}\""));
        }
        self.known.borrow_mut().insert(name.into(), (role.oid, role.superuser));
        Ok(())
    }
}

/// A call with the rights of another role, while it runs.
struct Borrowed<'s> {
    session: &'s Session,
    caller: Oid,
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let borrowed = &self.session.identity.borrowed;
        borrowed.set(borrowed.get() - 1);
        self.session.names.set_user(self.caller);
    }
}

/// A statement that keeps a foreign key, while it runs.
struct Unforced<'s>(&'s Session);

impl Drop for Unforced<'_> {
    fn drop(&mut self) {
        let unforced = &self.0.identity.unforced;
        unforced.set(unforced.get() - 1);
    }
}

/// Whether only members of `pg_read_all_settings` see the value of a setting.
fn is_private(setting: Setting) -> bool {
    [
        "config_file",
        "data_directory",
        "dynamic_library_path",
        "extension_control_path",
        "external_pid_file",
        "hba_file",
        "ident_file",
        "jit_provider",
        "krb_server_keyfile",
        "log_directory",
        "log_filename",
        "oauth_validator_libraries",
        "primary_conninfo",
        "session_preload_libraries",
        "shared_preload_libraries",
        "ssl_ciphers",
        "ssl_dh_params_file",
        "ssl_groups",
        "ssl_max_protocol_version",
        "ssl_min_protocol_version",
        "ssl_passphrase_command",
        "ssl_tls13_ciphers",
        "unix_socket_directories",
    ]
    .contains(&setting.name())
}

/// Whether a setting says who the user is.
pub(super) fn names_a_role(setting: Setting) -> bool {
    matches!(setting, Setting::role | Setting::session_authorization)
}

impl Session {
    /// SET ROLE, SET SESSION AUTHORIZATION; `None` is the default.
    pub(super) fn change_identity(&self, setting: Setting, text: Option<&str>, local: bool) -> SqlResult<()> {
        self.refuse_identity(setting)?;
        if let Some(name) = text {
            let session_user = self.names.session_user();
            self.with_reader(|reader| self.identity.check(reader, session_user, setting, name))?;
        }
        let level = self.txn.borrow().depth() as u32;
        let mut settings = self.settings.borrow_mut();
        settings.set(setting.name(), text, local, level, Who::User)?;
        if setting == Setting::session_authorization {
            settings.set(Setting::role.name(), Some("none"), local, level, Who::User)?;
        }
        drop(settings);
        self.apply_settings();
        Ok(())
    }

    /// Fails where who the user is may not be said: it would be for the caller, who lent his place for the time of a call.
    fn refuse_identity(&self, setting: Setting) -> SqlResult<()> {
        let place = if self.identity.borrowed.get() > 0 {
            "security-definer function"
        } else if self.is_restricted() {
            "security-restricted operation"
        } else {
            return Ok(());
        };
        let name = setting.name();
        Err(sql_err!(INSUFFICIENT_PRIVILEGE, "cannot set parameter \"{name}\" within {place}"))
    }

    /// Makes the users of the session those that the settings name.
    pub(super) fn follow_identity(&self) {
        let version = self.settings.borrow().fast().identity_version;
        if self.identity.version.replace(version) == version {
            return;
        }
        let (session_user, user) = {
            let settings = self.settings.borrow();
            let known = self.identity.known.borrow();
            let of = |setting| known.get(settings.text(setting)).copied();
            let session_user =
                of(Setting::session_authorization).unwrap_or((self.identity.authenticated, false));
            (session_user, of(Setting::role).unwrap_or(session_user))
        };
        self.names.set_session_user(session_user.0);
        self.names.set_user(user.0);
        self.settings.borrow_mut().set_internal(Setting::is_superuser, Value::Bool(user.1));
    }

    /// Runs `body` with the rights of a role. However it ends, be it by a panic, the caller's rights come back.
    pub fn as_role<T>(&self, role: Oid, body: impl FnOnce() -> T) -> T {
        let _caller = Borrowed { session: self, caller: self.names.user() };
        self.names.set_user(role);
        self.identity.borrowed.set(self.identity.borrowed.get() + 1);
        body()
    }

    /// Runs `body`, to which FORCE ROW LEVEL SECURITY does not apply.
    pub(crate) fn without_force<T>(&self, body: impl FnOnce() -> T) -> T {
        let _unforced = Unforced(self);
        self.identity.unforced.set(self.identity.unforced.get() + 1);
        body()
    }

    /// Whether the current user may set what only superusers set by default: as one, or because he was granted it.
    pub(crate) fn may_set(&self, name: &str) -> SqlResult<bool> {
        if self.has_all_rights()? {
            return Ok(true);
        }
        let restricted = |setting: &Setting| setting.definition().context == Context::Superuser;
        let Some(setting) = Setting::find(name).filter(restricted) else { return Ok(false) };
        self.was_granted("s", setting.name())
    }

    /// Whether the current user may change a setting by ALTER SYSTEM.
    pub fn may_alter_system(&self, name: &str) -> SqlResult<bool> {
        Ok(self.has_all_rights()? || self.was_granted("A", name)?)
    }

    /// Whether the current user was granted something (a letter of its ACL) on a setting.
    fn was_granted(&self, letter: &str, name: &str) -> SqlResult<bool> {
        self.with_reader(|reader| {
            let Some((_, items)) = reader.parameter_acl(&name.to_ascii_lowercase())? else {
                return Ok(false);
            };
            let owned = (BOOTSTRAP_SUPERUSER, Some(items.as_slice()));
            Ok(reader.rights(reader.session.user(), b'p', owned)?.has((acl::bits(letter), false)))
        })
    }

    /// Fails if the current user may not set the setting, or not to this value, where it is kept for later.
    pub fn check_stored_setting(&self, name: &str, value: Option<&str>) -> SqlResult<()> {
        let who = if self.may_set(name)? { Who::Superuser } else { Who::User };
        self.settings.borrow().check_stored(name, value, who)
    }

    /// What to tell who keeps a role in a setting for later that the session could not become now; none for all other settings.
    pub fn refused_identity(&self, setting: Setting, name: &str) -> Option<SqlError> {
        if !names_a_role(setting) {
            return None;
        }
        let session_user = self.names.session_user();
        let error =
            self.with_reader(|reader| self.identity.check(reader, session_user, setting, name)).err()?;
        let text = match error.message().strip_prefix("permission denied to set ") {
            Some(what) => format!("permission will be denied to set {what}"),
            None => error.message().to_owned(),
        };
        Some(SqlError::with_severity(Severity::Notice, error.code(), text))
    }

    /// Fails if a function's settings name a role that the session may not become.
    pub fn check_function_identity(&self, config: &[(String, String)]) -> SqlResult<()> {
        let session_user = self.names.session_user();
        for (name, value) in config {
            if let Some(setting) = Setting::find(name).filter(|setting| names_a_role(*setting)) {
                self.with_reader(|reader| self.identity.check(reader, session_user, setting, value))?;
            }
        }
        Ok(())
    }

    /// A setting as SHOW has it. Settings that tell paths are shown to privileged users only.
    pub fn shown_setting(&self, name: &str) -> SqlResult<String> {
        if let Some(setting) = Setting::find(name).filter(|setting| is_private(*setting))
            && !self.has_role(predefined::READ_ALL_SETTINGS)?
        {
            let name = setting.name();
            return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to examine \"{name}\"").detail(
                "Only roles with privileges of the \"pg_read_all_settings\" role may examine this parameter.",
            ));
        }
        self.settings.borrow().show(name)
    }

    /// The rows of `pg_settings` that the current user may see.
    pub fn visible_settings(&self) -> SqlResult<Vec<SettingRow>> {
        let mut rows = self.settings.borrow().rows();
        if !self.has_role(predefined::READ_ALL_SETTINGS)? {
            rows.retain(|row| !Setting::find(&row.name).is_some_and(is_private));
            rows.iter_mut().for_each(|row| (row.sourcefile, row.sourceline) = (None, None));
        }
        Ok(rows)
    }

    /// Whether the current user is a superuser.
    pub fn has_all_rights(&self) -> SqlResult<bool> {
        self.with_reader(|reader| reader.is_superuser(reader.session.user()))
    }

    /// The current user.
    pub fn user(&self) -> Oid {
        self.names.user()
    }

    /// Whether the current user has the privileges of a role.
    pub fn has_role(&self, role: Oid) -> SqlResult<bool> {
        self.with_reader(|reader| reader.has_privileges_of(reader.session.user(), role))
    }
}
