//! # What
//! Security-restricted operations: upkeep of a table runs its owner's code, be it for a superuser, and gives it no hold on the session.
//!
//! # Invariants
//! 1. Whatever computes expressions of an index for a statement that was not asked to run them does so in [`Session::as_maintainer`]:
//!    with the rights of the table's owner, whom they belong to, and with a search path that nobody else has objects in.
//! 2. Nothing that its code sets or leaves behind is there when the operation has ended: settings go back, and what would act later with the
//!    caller's rights (roles, cursors that are held, prepared statements, deferred triggers, temporary tables) is refused.
//!
//! # PostgreSQL counterpart
//! `SECURITY_RESTRICTED_OPERATION` in `utils/init/miscinit.c`, and `RestrictSearchPath`.

use base::settings::{SessionSettings, Setting, Who};
use base::{Oid, SqlResult, sql_err};
use txn::Characteristics;

use super::Session;

/// An operation while it runs.
struct Restricted<'s> {
    session: &'s Session,
    caller: Oid,
    /// What was set before.
    before: Option<SessionSettings>,
    modes: Characteristics,
}

impl Drop for Restricted<'_> {
    fn drop(&mut self) {
        let session = self.session;
        session.identity.restricted.set(session.identity.restricted.get() - 1);
        if let Some(before) = self.before.take() {
            session.settings.borrow_mut().go_back(before);
        }
        session.txn.borrow_mut().set_characteristics(self.modes);
        session.apply_settings();
        session.names.set_user(self.caller);
    }
}

impl Session {
    /// Runs upkeep of a table that this role owns: see the head of this file. However it ends, the session is as it was before. No
    /// transaction may end meanwhile.
    pub fn as_maintainer<T>(&self, owner: Oid, body: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        let _restricted = Restricted {
            session: self,
            caller: self.names.user(),
            before: Some(self.settings.borrow().clone()),
            modes: self.txn.borrow().characteristics(),
        };
        self.identity.restricted.set(self.identity.restricted.get() + 1);
        let level = self.txn.borrow().depth() as u32;
        let path = Some("pg_catalog, pg_temp");
        self.settings.borrow_mut().set(Setting::search_path.name(), path, true, level, Who::User)?;
        self.apply_settings();
        self.names.set_user(owner);
        body()
    }

    /// Lets the statements of `body` write to the rows of a materialized view.
    pub fn maintaining<T>(&self, view: Oid, body: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        let outer = self.identity.maintained.replace(view);
        let done = body();
        self.identity.maintained.set(outer);
        done
    }

    /// Whether a security-restricted operation runs.
    pub(crate) fn is_restricted(&self) -> bool {
        self.identity.restricted.get() > 0
    }

    /// Fails in a security-restricted operation.
    pub(crate) fn refuse_restricted(&self, what: &str) -> SqlResult<()> {
        match self.is_restricted() {
            true => {
                Err(sql_err!(INSUFFICIENT_PRIVILEGE, "cannot {what} within security-restricted operation"))
            }
            false => Ok(()),
        }
    }
}
