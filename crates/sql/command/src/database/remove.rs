//! DROP DATABASE.

use base::{Oid, SqlResult, SqlState, sql_err};
use catalog::RowExt;
use catalog::system::pg_database as d;
use parse::ast::DefElem;
use runtime::Interrupt;
use session::{BackendKind, Instance, Session};
use txn::LockMode;

use super::{
    Users, accessed, check_owner, forget_at_commit, open, other_sessions, undefined, wait_for_others,
};
use crate::names::{self, at};

/// DROP DATABASE.
pub(crate) fn drop(
    session: &Session,
    name: &str,
    missing_ok: bool,
    options: &[DefElem],
    text: &str,
) -> SqlResult<()> {
    if let Some(option) = options.iter().find(|option| option.name != "force") {
        let error = sql_err!(SYNTAX_ERROR, "unrecognized DROP DATABASE option \"{}\"", option.name);
        return Err(at(error, text, option.location));
    }
    let Some(row) = open(session, name, LockMode::AccessExclusive)? else {
        if !missing_ok {
            return Err(undefined(name));
        }
        let message = format!("database \"{name}\" does not exist, skipping");
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        return Ok(());
    };
    check_owner(session, &row)?;
    let oid = row.oid(d::OID);
    if oid == session.catalog.database() {
        return Err(sql_err!(OBJECT_IN_USE, "cannot drop the currently open database"));
    }
    if row.bool(d::DATISTEMPLATE) {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot drop a template database"));
    }
    let slots = session.engine().slots();
    let active = slots.of_database(oid).iter().filter(|slot| slot.state().pid != 0).count();
    if active > 0 {
        let (be, s) = if active == 1 { ("is", "") } else { ("are", "s") };
        let error =
            sql_err!(OBJECT_IN_USE, "database \"{name}\" is used by an active logical replication slot");
        return Err(error.detail(format!("There {be} {active} active slot{s}.")));
    }
    let subscriptions = session.with_reader(|reader| reader.count_subscriptions(oid))?;
    if subscriptions > 0 {
        let (be, s) = if subscriptions == 1 { ("is", "") } else { ("are", "s") };
        let error =
            sql_err!(OBJECT_IN_USE, "database \"{name}\" is being used by logical replication subscription");
        return Err(error.detail(format!("There {be} {subscriptions} subscription{s}.")));
    }
    if !options.is_empty() {
        end_sessions(session, oid, name)?;
    }
    wait_for_others(session, oid, || accessed(name))?;
    slots.remove_of_database(oid, session.info().pid).map_err(session::replication::slot_error)?;
    session.with_changer(|changer| changer.drop_database(oid))?;
    forget_at_commit(session, oid, Instance::forget_database);
    Ok(session.engine().drop_database(&mut session.txn.borrow_mut(), oid)?)
}

/// WITH (FORCE): ends the sessions that are in a database, if the current user may end all of them.
fn end_sessions(session: &Session, database: Oid, name: &str) -> SqlResult<()> {
    let users = Users { sessions: 0, ..Users::of(session, database) };
    if users.any() {
        return Err(sql_err!(OBJECT_IN_USE, "database \"{name}\" is being used by prepared transactions")
            .detail(users.detail()));
    }
    let mut others = other_sessions(session, database);
    // The others end by themselves.
    others.retain(|other| other.kind == BackendKind::Client);
    others.iter().try_for_each(|other| session.check_may_signal(other, true))?;
    others.iter().for_each(|other| other.interrupts.set(Interrupt::Terminate));
    Ok(())
}
