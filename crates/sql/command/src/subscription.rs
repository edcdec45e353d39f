//! # What
//! CREATE, ALTER and DROP SUBSCRIPTION: what is to be replicated, and from where. Nobody connects to a publisher or applies its changes yet; a statement
//! that would need it fails with 0A000.
//!
//! # Locks
//! The catalog row is the lock: who changes it first.
//!
//! # PostgreSQL counterpart
//! `commands/subscriptioncmds.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority;
use catalog::change::{NewSubscription, ObjectAddress};
use catalog::system::pg_subscription as s;
use catalog::{Row, RowExt, predefined, text_array, texts_of};
use parse::ast::{
    AlterSubscription, CreateSubscription, DefElem, DropSubscription, ObjectName, SubscriptionAction,
};
use session::Session;
use tuple::Datum;

use super::subscription_options::{OF_CREATE, OF_SET, Options};
use super::{comment, names};

/// CREATE SUBSCRIPTION.
pub(crate) fn create(session: &Session, statement: &CreateSubscription, text: &str) -> SqlResult<()> {
    let name = &statement.name;
    let options = Options::read(&statement.options, OF_CREATE, text)?;
    options.check_create()?;
    if options.creates_slot() {
        session.prevent_in_block("CREATE SUBSCRIPTION ... WITH (create_slot = true)")?;
    }
    if !session.has_role(predefined::CREATE_SUBSCRIPTION)? {
        return Err(denied("permission denied to create subscription").detail(
            "Only roles with privileges of the \"pg_create_subscription\" role may create subscriptions.",
        ));
    }
    check_database(session)?;
    let password_required = options.password_required.unwrap_or(true);
    check_password_option(session, password_required)?;
    if session.with_reader(|reader| reader.subscription_row(name))?.is_some() {
        return Err(taken(name));
    }
    check_connection(session, &statement.connection, password_required && !session.has_all_rights()?)?;
    check_each_once(&statement.publications)?;
    if options.connects() {
        return Err(not_connected(
            "CREATE SUBSCRIPTION with connect = true",
            "Use CREATE SUBSCRIPTION ... WITH (connect = false).",
        ));
    }
    let new = NewSubscription {
        name: name.clone(),
        owner: session.names.user(),
        binary: options.binary.unwrap_or(false),
        streaming: options.streaming.unwrap_or(b'p'),
        two_phase: if options.two_phase == Some(true) { b'p' } else { b'd' },
        disable_on_error: options.disable_on_error.unwrap_or(false),
        password_required,
        run_as_owner: options.run_as_owner.unwrap_or(false),
        failover: options.failover.unwrap_or(false),
        connection: statement.connection.clone(),
        slot: options.slot_name.unwrap_or_else(|| Some(name.clone())),
        synchronous_commit: options.synchronous_commit.unwrap_or_else(|| "off".into()),
        publications: statement.publications.clone(),
        origin: options.origin.unwrap_or_else(|| "any".into()),
    };
    session.with_changer(|changer| changer.create_subscription(&new))?;
    let warning = SqlError::with_severity(
        base::Severity::Warning,
        SqlState::WARNING,
        "subscription was created, but is not connected",
    );
    session.notice(warning.hint(
        "To initiate replication, you must manually create the replication slot, enable the subscription, and refresh the subscription.",
    ));
    Ok(())
}

fn denied(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
}

fn not_now(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

fn undefined(name: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "subscription \"{name}\" does not exist")
}

fn taken(name: &str) -> SqlError {
    sql_err!(DUPLICATE_OBJECT, "subscription \"{name}\" already exists")
}

/// What would need a connection to a publisher, or somebody who applies its changes.
fn not_connected(what: &str, hint: &str) -> SqlError {
    let error = SqlError::not_supported(what);
    if hint.is_empty() { error } else { error.hint(hint.to_owned()) }
}

/// Whoever makes or renames a subscription must be allowed to create objects in the database.
fn check_database(session: &Session) -> SqlResult<()> {
    match names::holds_on_database(session, "C")? {
        true => Ok(()),
        false => Err(authority::denied("database", session.catalog.database_name())),
    }
}

/// Only superusers have to do with subscriptions that need no password.
fn check_password_option(session: &Session, required: bool) -> SqlResult<()> {
    if required || session.has_all_rights()? {
        return Ok(());
    }
    Err(denied("password_required=false is superuser-only").hint(
        "Subscriptions with the password_required option set to false may only be created or modified by the superuser.",
    ))
}

/// A connection string must be one, with a password if that is needed.
fn check_connection(session: &Session, text: &str, with_password: bool) -> SqlResult<()> {
    let options = session.instance().connection_strings()?.read(text);
    let options = options.map_err(|why| sql_err!(SYNTAX_ERROR, "invalid connection string syntax: {why}"))?;
    if !with_password || options.iter().any(|(name, value)| name == "password" && !value.is_empty()) {
        return Ok(());
    }
    Err(sql_err!(S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED, "password is required")
        .detail("Non-superusers must provide a password in the connection string."))
}

fn check_each_once(publications: &[String]) -> SqlResult<()> {
    let twice = (1..publications.len()).find(|at| publications[..*at].contains(&publications[*at]));
    twice.map_or(Ok(()), |at| {
        let name = &publications[at];
        Err(sql_err!(DUPLICATE_OBJECT, "publication name \"{name}\" used more than once"))
    })
}

/// The subscription of this name, which the user must own.
fn owned(session: &Session, name: &str) -> SqlResult<Row> {
    let row = session.with_reader(|reader| reader.subscription_row(name))?;
    let row = row.ok_or_else(|| undefined(name))?;
    match names::owns(session, row.oid(s::SUBOWNER))? {
        true => Ok(row),
        false => Err(denied(format!("must be owner of subscription {name}"))),
    }
}

/// The same, for a statement that changes it.
fn changed(session: &Session, name: &str) -> SqlResult<Row> {
    let row = owned(session, name)?;
    check_password_option(session, row.bool(s::SUBPASSWORDREQUIRED))?;
    Ok(row)
}

fn edit(session: &Session, row: &Row, edit: impl FnOnce(&mut Row)) -> SqlResult<()> {
    session.with_changer(|changer| changer.edit_subscription(row.oid(s::OID), edit))
}

/// ALTER SUBSCRIPTION.
pub(crate) fn alter(session: &Session, statement: &AlterSubscription, text: &str) -> SqlResult<()> {
    use SubscriptionAction as A;
    let row = changed(session, &statement.name)?;
    match &statement.action {
        A::Options(given) => set_options(session, &row, given, text),
        A::Connection(connection) => {
            let owner = row.oid(s::SUBOWNER);
            let trusted = session.with_reader(|reader| reader.is_superuser(owner))?;
            check_connection(session, connection, row.bool(s::SUBPASSWORDREQUIRED) && !trusted)?;
            edit(session, &row, |row| row[s::SUBCONNINFO] = Datum::text(connection))
        }
        A::SetPublications(names, given) => {
            check_each_once(names)?;
            set_publications(session, &row, names, (given, "SET", true), text)
        }
        A::AddPublications(names, given) => {
            let all = merged(&row, names, true)?;
            set_publications(session, &row, &all, (given, "ADD", true), text)
        }
        A::DropPublications(names, given) => {
            let all = merged(&row, names, false)?;
            set_publications(session, &row, &all, (given, "DROP", false), text)
        }
        A::Refresh(given) => {
            Options::read(given, &["copy_data"], text)?;
            if !row.bool(s::SUBENABLED) {
                return Err(not_now(
                    "ALTER SUBSCRIPTION ... REFRESH is not allowed for disabled subscriptions",
                ));
            }
            Err(not_connected("ALTER SUBSCRIPTION ... REFRESH", ""))
        }
        A::Enable(true) if row[s::SUBSLOTNAME].is_null() => {
            Err(not_now("cannot enable subscription that does not have a slot name"))
        }
        A::Enable(true) => Err(not_connected("ALTER SUBSCRIPTION ... ENABLE", "")),
        A::Enable(false) => edit(session, &row, |row| row[s::SUBENABLED] = false.into()),
        A::Skip(given) => {
            if !session.has_all_rights()? {
                return Err(denied("must be superuser to skip transaction"));
            }
            let lsn = Options::read(given, &["lsn"], text)?.lsn.unwrap_or(0);
            edit(session, &row, |row| row[s::SUBSKIPLSN] = Datum::Int8(lsn))
        }
    }
}

/// ALTER SUBSCRIPTION ... SET (...).
fn set_options(session: &Session, row: &Row, given: &[DefElem], text: &str) -> SqlResult<()> {
    let options = Options::read(given, OF_SET, text)?;
    let enabled = row.bool(s::SUBENABLED);
    if enabled && options.slot_name == Some(None) {
        return Err(not_now("cannot set slot_name = NONE for enabled subscription"));
    }
    check_password_option(session, options.password_required.unwrap_or(true))?;
    if let Some(two_phase) = options.two_phase {
        check_slot_option(session, row, "two_phase", (!two_phase, options.slot_name.is_some()))?;
    }
    if options.failover.is_some() {
        check_slot_option(session, row, "failover", (true, options.slot_name.is_some()))?;
    }
    edit(session, row, |row| {
        let flags = [
            (s::SUBBINARY, options.binary),
            (s::SUBDISABLEONERR, options.disable_on_error),
            (s::SUBPASSWORDREQUIRED, options.password_required),
            (s::SUBRUNASOWNER, options.run_as_owner),
        ];
        for (column, value) in flags {
            if let Some(value) = value {
                row[column] = value.into();
            }
        }
        if let Some(slot) = &options.slot_name {
            row[s::SUBSLOTNAME] = slot.as_deref().map_or(Datum::Null, Datum::text);
        }
        if let Some(value) = &options.synchronous_commit {
            row[s::SUBSYNCCOMMIT] = Datum::text(value);
        }
        if let Some(letter) = options.streaming {
            row[s::SUBSTREAM] = Datum::Char(letter);
        }
        if options.two_phase == Some(true) {
            row[s::SUBTWOPHASESTATE] = Datum::Char(b'p');
        }
        if let Some(origin) = &options.origin {
            row[s::SUBORIGIN] = Datum::text(origin);
        }
    })
}

/// An option that the publisher's slot has as well. `changes_slot`: it must be changed there; `renames`: the slot is named at the same time.
fn check_slot_option(
    session: &Session,
    row: &Row,
    option: &str,
    (changes_slot, renames): (bool, bool),
) -> SqlResult<()> {
    if row.bool(s::SUBENABLED) {
        return Err(not_now(format!("cannot set option \"{option}\" for enabled subscription")));
    }
    if !changes_slot {
        return Ok(());
    }
    if row[s::SUBSLOTNAME].is_null() {
        return Err(not_now(format!(
            "cannot set option \"{option}\" for a subscription that does not have a slot name"
        )));
    }
    let statement = format!("ALTER SUBSCRIPTION ... SET ({option})");
    session.prevent_in_block(&statement)?;
    if renames {
        return Err(sql_err!(
            SYNTAX_ERROR,
            "\"slot_name\" and \"{option}\" cannot be altered at the same time"
        ));
    }
    Err(not_connected(&statement, ""))
}

/// SET, ADD and DROP PUBLICATION. `copies`: what is new can be copied.
fn set_publications(
    session: &Session,
    row: &Row,
    publications: &[String],
    (given, verb, copies): (&[DefElem], &str, bool),
    text: &str,
) -> SqlResult<()> {
    let known: &[&str] = if copies { &["copy_data", "refresh"] } else { &["refresh"] };
    let options = Options::read(given, known, text)?;
    let refreshes = options.refresh.unwrap_or(true);
    let hint = format!("Use ALTER SUBSCRIPTION ... {verb} PUBLICATION ... WITH (refresh = false).");
    if refreshes && !row.bool(s::SUBENABLED) {
        let error = not_now("ALTER SUBSCRIPTION with refresh is not allowed for disabled subscriptions");
        return Err(error.hint(hint));
    }
    if refreshes {
        return Err(not_connected("ALTER SUBSCRIPTION with refresh", &hint));
    }
    edit(session, row, |row| row[s::SUBPUBLICATIONS] = text_array(publications))
}

/// The publications of a subscription with others added, or taken away.
fn merged(row: &Row, names: &[String], add: bool) -> SqlResult<Vec<String>> {
    let mut all = texts_of(&row[s::SUBPUBLICATIONS]);
    check_each_once(names)?;
    let subscription = row.str(s::SUBNAME);
    for name in names {
        let known = all.iter().position(|known| known == name);
        match known {
            Some(_) if add => {
                return Err(sql_err!(
                    DUPLICATE_OBJECT,
                    "publication \"{name}\" is already in subscription \"{subscription}\""
                ));
            }
            Some(at) => drop(all.remove(at)),
            None if add => all.push(name.clone()),
            None => {
                return Err(sql_err!(
                    SYNTAX_ERROR,
                    "publication \"{name}\" is not in subscription \"{subscription}\""
                ));
            }
        }
    }
    match all.is_empty() {
        true => Err(not_now("cannot drop all the publications from a subscription")),
        false => Ok(all),
    }
}

/// DROP SUBSCRIPTION.
pub(crate) fn drop_one(session: &Session, statement: &DropSubscription) -> SqlResult<()> {
    let name = &statement.name;
    if statement.missing_ok && session.with_reader(|reader| reader.subscription_row(name))?.is_none() {
        return names::skip_missing(session, true, undefined(name));
    }
    let row = changed(session, name)?;
    if !row[s::SUBSLOTNAME].is_null() {
        session.prevent_in_block("DROP SUBSCRIPTION")?;
        return Err(not_connected(
            "DROP SUBSCRIPTION of a subscription with a replication slot",
            "Use ALTER SUBSCRIPTION ... DISABLE to disable the subscription, and then use ALTER SUBSCRIPTION ... SET (slot_name = NONE) to disassociate it from the slot.",
        ));
    }
    session.with_changer(|changer| changer.drop_subscription(row.oid(s::OID)))
}

/// What COMMENT names.
pub(super) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let row = owned(session, comment::name(object)?.last())?;
    Ok(ObjectAddress::subscription(row.oid(s::OID)))
}

/// ALTER SUBSCRIPTION ... RENAME TO.
pub(super) fn rename(session: &Session, object: Option<&ObjectName>, new: &str) -> SqlResult<()> {
    let object = object.ok_or_else(|| SqlError::internal("RENAME of nothing"))?;
    let row = owned(session, comment::name(object)?.last())?;
    check_database(session)?;
    check_password_option(session, row.bool(s::SUBPASSWORDREQUIRED))?;
    if session.with_reader(|reader| reader.subscription_row(new))?.is_some() {
        return Err(taken(new));
    }
    edit(session, &row, |row| row[s::SUBNAME] = Datum::text(new))
}

/// ALTER SUBSCRIPTION ... OWNER TO.
pub(super) fn set_owner(session: &Session, object: &ObjectName, owner: Oid) -> SqlResult<()> {
    let row = session.with_reader(|reader| {
        let name = comment::name(object)?.last();
        reader.subscription_row(name)?.ok_or_else(|| undefined(name))
    })?;
    if row.oid(s::SUBOWNER) == owner {
        return Ok(());
    }
    let row = changed(session, row.str(s::SUBNAME))?;
    check_taker(session, owner)?;
    let address = ObjectAddress::subscription(row.oid(s::OID));
    session.with_changer(|changer| changer.set_object_owner(address, s::SUBOWNER, owner))
}

/// Fails unless the user may give a subscription to a role.
pub(super) fn check_taker(session: &Session, owner: Oid) -> SqlResult<()> {
    names::check_may_become(session, owner)?;
    check_database(session)
}
