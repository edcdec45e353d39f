//! # What
//! CREATE, ALTER and DROP SUBSCRIPTION: what is to be replicated, and from where. They make and drop slots at the publisher, and ask it for tables; its changes are applied by
//! workers ([`apply`](crate::apply)), who hear of a change of the subscription when that is committed.
//!
//! # Locks
//! The catalog row is the lock: who changes it first. DROP locks the subscription against workers that begin ([`lock_tag`]).
//!
//! # PostgreSQL counterpart
//! `commands/subscriptioncmds.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority;
use catalog::change::{NewSubscription, ObjectAddress, Subscribed};
use catalog::system::pg_subscription as s;
use catalog::{Row, RowExt, predefined, text_array, texts_of};
use parse::ast::{
    AlterSubscription, CreateSubscription, DefElem, DropSubscription, ObjectName, RangeVar,
    SubscriptionAction,
};
use session::Session;
use session::subscription::{Failure, Publisher};
use tuple::Datum;
use txn::{End, LockMode, LockTag, LockWait, Phase};

use super::subscription_options::{OF_CREATE, OF_SET, Options};
use super::{comment, names};
use crate::apply::subscription::{Subscription, create_slot, drop_slot, literals, published};
use crate::apply::target::check_kind;

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
    if options.connects() && options.two_phase == Some(true) {
        return Err(no_two_phase("CREATE SUBSCRIPTION ... WITH (two_phase = true)"));
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
        slot: options.slot_name.clone().unwrap_or_else(|| Some(name.clone())),
        synchronous_commit: options.synchronous_commit.clone().unwrap_or_else(|| "off".into()),
        publications: statement.publications.clone(),
        origin: options.origin.clone().unwrap_or_else(|| "any".into()),
        enabled: options.enabled(),
    };
    let oid = session.with_changer(|changer| changer.create_subscription(&new))?;
    tell_workers(session, oid);
    let row = session.with_reader(|reader| reader.subscription_by_oid(oid))?;
    let made = Subscription::of(&row.ok_or_else(|| undefined(name))?);
    session.origin(&made.origin_name(None))?;
    if options.connects() {
        return begin(session, &made, &options);
    }
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

/// Prepared transactions are applied when they commit.
fn no_two_phase(what: &str) -> SqlError {
    SqlError::not_supported(what)
}

/// The lock that keeps workers from a subscription.
pub(crate) fn lock_tag(subscription: Oid) -> LockTag {
    LockTag::Object { database: Oid::INVALID, class: s::TABLE.oid, object: subscription, sub: 0 }
}

/// The workers look at the subscription again once this is committed.
fn tell_workers(session: &Session, subscription: Oid) {
    let subscribers = session.instance.subscribers().clone();
    let tell = move |end| {
        if end == End::Commit {
            subscribers.changed(subscription);
        }
    };
    session.txn.borrow_mut().on_end(Phase::AfterLocks, Box::new(tell));
}

fn connect(session: &Session, known: &Subscription) -> SqlResult<Box<dyn Publisher>> {
    known.connect(session, &known.name).map_err(|failure| match failure {
        Failure::Refused(code, message) if code == "2F003" => {
            sql_err!(S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED, "{message}")
                .detail("Non-superuser cannot connect if the server does not request a password.")
        }
        failure => {
            failure.error(&format!("subscription \"{}\" could not connect to the publisher", known.name))
        }
    })
}

/// A new subscription: what the publisher has for it, and its slot there.
fn begin(session: &Session, known: &Subscription, options: &Options) -> SqlResult<()> {
    let mut publisher = connect(session, known)?;
    warn_of_missing(session, &mut *publisher, &known.publications)?;
    let state = if options.copy_data.unwrap_or(true) { b'i' } else { b'r' };
    for (schema, name) in published(&mut *publisher, &known.publication_list())? {
        let table = local_table(session, (&schema, &name))?;
        session.with_changer(|changer| changer.set_subscribed(known.oid, table, (state, None)))?;
    }
    if let Some(slot) = known.slot.as_deref().filter(|_| options.creates_slot()) {
        let failover = options.failover == Some(true);
        create_slot(&mut *publisher, slot, false, failover)?;
        session.notice(names::notice(
            SqlState::SUCCESSFUL_COMPLETION,
            format!("created replication slot \"{slot}\" on publisher"),
        ));
    } else if let Some((slot, failover)) = known.slot.as_deref().zip(options.failover) {
        alter_slot(&mut *publisher, slot, failover)?;
    }
    publisher.close();
    Ok(())
}

/// A publication that is not there yet may come.
fn warn_of_missing(
    session: &Session,
    publisher: &mut dyn Publisher,
    publications: &[String],
) -> SqlResult<()> {
    let query = format!(
        "SELECT t.pubname FROM pg_catalog.pg_publication t WHERE t.pubname IN ({})",
        literals(publications)
    );
    let rows = publisher
        .query(&query)
        .map_err(|failure| failure.error("could not receive list of publications from the publisher"))?;
    let known: Vec<String> = rows.into_iter().flatten().flatten().collect();
    let missing = publications.iter().filter(|name| !known.contains(name));
    let missing: Vec<String> = missing.map(|name| format!("\"{name}\"")).collect();
    let message = match missing.as_slice() {
        [] => return Ok(()),
        [one] => format!("publication {one} does not exist on the publisher"),
        many => format!("publications {} do not exist on the publisher", many.join(", ")),
    };
    let severity = base::Severity::Warning;
    session.notice(SqlError::with_severity(severity, SqlState::UNDEFINED_OBJECT, message));
    Ok(())
}

/// The table of ours for one that is published.
fn local_table(session: &Session, (schema, name): (&str, &str)) -> SqlResult<Oid> {
    let named = RangeVar { schema: Some(schema.into()), name: name.into(), ..RangeVar::default() };
    let table = names::open(session, &named, LockMode::AccessShare)?;
    check_kind(table.kind, (schema, name))?;
    Ok(table.oid)
}

fn alter_slot(publisher: &mut dyn Publisher, slot: &str, failover: bool) -> SqlResult<()> {
    let quoted = types::text::quote_identifier(slot);
    let command = format!("ALTER_REPLICATION_SLOT {quoted} ( FAILOVER {failover} )");
    let tried = format!("could not alter replication slot \"{slot}\"");
    publisher.query(&command).map(drop).map_err(|failure| failure.error(&tried))
}

/// Brings the list of tables up to what the publications publish now.
fn refresh(session: &Session, known: &Subscription, copies: bool) -> SqlResult<()> {
    let mut publisher = connect(session, known)?;
    warn_of_missing(session, &mut *publisher, &known.publications)?;
    let before = session.with_reader(|reader| reader.subscribed(known.oid))?;
    let state = if copies { b'i' } else { b'r' };
    let mut now = Vec::new();
    for (schema, name) in published(&mut *publisher, &known.publication_list())? {
        let table = local_table(session, (&schema, &name))?;
        now.push(table);
        if !before.iter().any(|one| one.table == table) {
            session.with_changer(|changer| changer.set_subscribed(known.oid, table, (state, None)))?;
        }
    }
    let gone: Vec<Subscribed> = before.into_iter().filter(|one| !now.contains(&one.table)).collect();
    for one in &gone {
        session.with_changer(|changer| changer.forget_subscribed(known.oid, one.table))?;
        let subscribers = session.instance.subscribers();
        subscribers.stop(|of, table| (of, table) == (known.oid, one.table))?;
    }
    drop_copies(session, known, &mut *publisher, &gone)?;
    publisher.close();
    tell_workers(session, known.oid);
    Ok(())
}

/// Whether somebody may have made a slot for the copy of a table, and not dropped it yet.
fn may_have_slot(one: &Subscribed) -> bool {
    !matches!(one.state, b'r' | b's')
}

/// Drops slots and origins of copies of tables.
fn drop_copies(
    session: &Session,
    known: &Subscription,
    publisher: &mut dyn Publisher,
    tables: &[Subscribed],
) -> SqlResult<()> {
    for one in tables.iter().filter(|one| may_have_slot(one)) {
        let slot = known.copy_slot(session, one.table);
        drop_slot(publisher, &slot).map_err(|failure| {
            failure.error(&format!("could not drop replication slot \"{slot}\" on publisher"))
        })?;
        session.drop_origin(&known.origin_name(Some(one.table)))?;
    }
    Ok(())
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
    tell_workers(session, row.oid(s::OID));
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
            let options = Options::read(given, &["copy_data"], text)?;
            if !row.bool(s::SUBENABLED) {
                return Err(not_now(
                    "ALTER SUBSCRIPTION ... REFRESH is not allowed for disabled subscriptions",
                ));
            }
            session.prevent_in_block("ALTER SUBSCRIPTION ... REFRESH")?;
            refresh(session, &Subscription::of(&row), options.copy_data.unwrap_or(true))
        }
        A::Enable(true) if row[s::SUBSLOTNAME].is_null() => {
            Err(not_now("cannot enable subscription that does not have a slot name"))
        }
        A::Enable(true) if row.char(s::SUBTWOPHASESTATE) != b'd' => {
            Err(no_two_phase("ALTER SUBSCRIPTION ... ENABLE of a subscription with two_phase = true"))
        }
        A::Enable(on) => edit(session, &row, |row| row[s::SUBENABLED] = (*on).into()),
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
    if let Some(failover) = options.failover {
        check_slot_option(session, row, "failover", (true, options.slot_name.is_some()))?;
        let known = Subscription::of(row);
        let mut publisher = connect(session, &known)?;
        if let Some(slot) = &known.slot {
            alter_slot(&mut *publisher, slot, failover)?;
        }
        publisher.close();
    }
    edit(session, row, |row| {
        let flags = [
            (s::SUBBINARY, options.binary),
            (s::SUBDISABLEONERR, options.disable_on_error),
            (s::SUBPASSWORDREQUIRED, options.password_required),
            (s::SUBRUNASOWNER, options.run_as_owner),
            (s::SUBFAILOVER, options.failover),
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
    match option {
        "two_phase" => Err(no_two_phase(&statement)),
        _ => Ok(()),
    }
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
        session.prevent_in_block("ALTER SUBSCRIPTION with refresh")?;
    }
    edit(session, row, |row| row[s::SUBPUBLICATIONS] = text_array(publications))?;
    if !refreshes {
        return Ok(());
    }
    let known = Subscription { publications: publications.to_vec(), ..Subscription::of(row) };
    refresh(session, &known, options.copy_data.unwrap_or(true))
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
    }
    let known = Subscription::of(&row);
    session.txn.borrow_mut().lock(lock_tag(known.oid), LockMode::AccessExclusive, LockWait::Block)?;
    let mut copies = session.with_reader(|reader| reader.subscribed(known.oid))?;
    copies.retain(may_have_slot);
    session.with_changer(|changer| changer.drop_subscription(known.oid))?;
    let subscribers = session.instance.subscribers().clone();
    subscribers.stop(|of, _| of == known.oid)?;
    copies.iter().try_for_each(|one| session.drop_origin(&known.origin_name(Some(one.table))).map(drop))?;
    session.drop_origin(&known.origin_name(None))?;
    subscribers.forget(known.oid);
    if known.slot.is_none() && copies.is_empty() {
        return Ok(());
    }
    let mut publisher = match known.connect(session, &known.name) {
        Ok(publisher) => publisher,
        Err(Failure::Interrupted(interrupt)) => return Err(interrupt.into()),
        Err(failure) => return unreachable(session, &known, &copies, failure),
    };
    drop_copies(session, &known, &mut *publisher, &copies)?;
    if let Some(slot) = &known.slot {
        let tried = format!("could not drop replication slot \"{slot}\" on publisher");
        if !drop_slot(&mut *publisher, slot).map_err(|failure| failure.error(&tried))? {
            return Err(SqlError::new(
                SqlState::CONNECTION_FAILURE,
                format!("{tried}: ERROR:  replication slot \"{slot}\" does not exist"),
            ));
        }
        session.notice(names::notice(
            SqlState::SUCCESSFUL_COMPLETION,
            format!("dropped replication slot \"{slot}\" on publisher"),
        ));
    }
    publisher.close();
    Ok(())
}

/// The publisher cannot be asked to drop slots: that is an error, unless the subscription has let go of its own.
fn unreachable(
    session: &Session,
    known: &Subscription,
    copies: &[Subscribed],
    failure: Failure,
) -> SqlResult<()> {
    for one in copies {
        let slot = known.copy_slot(session, one.table);
        session.warning(SqlState::WARNING, &format!("could not drop tablesync replication slot \"{slot}\""));
    }
    let Some(slot) = &known.slot else { return Ok(()) };
    let tried = format!("could not connect to publisher when attempting to drop replication slot \"{slot}\"");
    Err(failure.error(&tried).hint(
        "Use ALTER SUBSCRIPTION ... DISABLE to disable the subscription, and then use ALTER SUBSCRIPTION ... SET (slot_name = NONE) to disassociate it from the slot.",
    ))
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
    tell_workers(session, row.oid(s::OID));
    session.with_changer(|changer| changer.set_object_owner(address, s::SUBOWNER, owner))
}

/// Fails unless the user may give a subscription to a role.
pub(super) fn check_taker(session: &Session, owner: Oid) -> SqlResult<()> {
    names::check_may_become(session, owner)?;
    check_database(session)
}
