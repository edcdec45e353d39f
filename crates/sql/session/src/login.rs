//! A new session, and the values that follow its settings.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::settings::{Fast, SessionSettings, Setting, Source as SettingSource, Timeouts, Value, Who};
use base::{Encoding, SqlError, SqlResult, sql_err};
use catalog::{Catalog, Changer, DatabaseRow, Reader, Role, SessionCatalog, database_lock};
use counters::SessionEnd;
use eval::spill::TempDir;
use heap::ComboCids;
use txn::{LockMode, LockTimeouts, LockWait, SyncCommit, Transaction};
use types::call::{ByteaOutput, DateFormat, DateOrder, IntervalStyle};
use types::random::Random;
use types::text::FiberFacts;
use types::timezone::{Abbreviations, TimeZone};
use types::{FormatContext, acl};

use super::identity::{Identity, names_a_role};
use super::notices::Notices;
use super::notify::Notifying;
use super::registry::{BackendKind, Limits, Registered, TooMany};
use super::{Backend, Instance, Session, SessionInfo, session_id};
use crate::exchange::Subscription;
use crate::lookup::temporary;
use crate::{Replication, replication};

impl Session {
    /// Checks that role and database exist and applies the start-up settings. The client has proved who it is.
    pub fn new(instance: Arc<Instance>, info: SessionInfo) -> SqlResult<Session> {
        let kind = if info.replication.is_some() { BackendKind::Sender } else { BackendKind::Client };
        Session::open(instance, info, kind)
    }

    pub(super) fn open(instance: Arc<Instance>, info: SessionInfo, kind: BackendKind) -> SqlResult<Session> {
        let mut txn = Transaction::new(instance.engine().txns().clone(), session_id(info.pid));
        txn.start(Default::default());
        let combo = ComboCids::new();
        let shared = instance.shared_catalog();
        let nobody = Rc::new(SessionCatalog::new(base::Oid::INVALID));
        let role = {
            let reader = Reader { catalog: &shared, session: &nobody, me: &txn, combo: &combo };
            role_of(&reader, &info.user, kind)?
        };
        if info.replication.is_some() {
            replication::check_may_replicate(&role)?;
        }
        let database = match info.replication {
            Some(Replication::Physical) => replication::no_database(),
            _ => lock_database(&mut txn, (&shared, &nobody, &combo), &info.database)?,
        };
        let mut backend = Backend::new(
            info.pid,
            runtime::current_interrupts().unwrap_or_default(),
            (role.oid, &role.name),
            (database.oid, &database.name),
            info.client_address,
        );
        backend.kind = kind;
        backend.texts_are_bytes = database.encoding == Encoding::SqlAscii;
        backend.client_host = info.client_host.clone().map(Into::into);
        backend.encryption = info.encryption.clone().map(Box::new);
        let reader = Reader { catalog: &shared, session: &nobody, me: &txn, combo: &combo };
        // Before the lock of the database is released: whoever takes it next and looks for sessions finds this one.
        let backend = match database.oid.is_valid() {
            true => admit(&instance, backend, &reader, &role, &database)?,
            false => instance.sessions().register(backend),
        };
        let identity = Identity::new(&role);
        for (name, value) in &info.options {
            if let Some(setting) = Setting::find(name).filter(|setting| names_a_role(*setting)) {
                identity.check(&reader, role.oid, setting, value).map_err(fatal)?;
            }
        }
        let stored = match database.oid.is_valid() {
            true => stored_settings(&reader, &identity, &role, &database)?,
            false => Vec::new(),
        };
        // Who only looks leaves no trace.
        let on_standby = instance.engine().is_following();
        let enters = !database.entered && kind != BackendKind::Inspector;
        if enters && !on_standby {
            let mut changer = Changer { catalog: &shared, session: &nobody, me: &mut txn, combo: &combo };
            changer.enter_database(database.oid)?;
        }
        // The server's own note: nobody is told of it, and without standbys somebody must be able to log in.
        txn.commit(SyncCommit::Local, &[])?;
        let reloads = instance.reloads.load(Ordering::Acquire);
        let mut settings = SessionSettings::new(instance.settings());
        let who = if role.superuser { Who::Superuser } else { Who::User };
        if on_standby {
            settings.set_on_standby(true);
        }
        settings.set_internal(Setting::is_superuser, Value::Bool(role.superuser));
        if database.encoding != Encoding::Utf8 {
            let name = database.encoding.name();
            settings.set_internal(Setting::server_encoding, Value::Text(name.into()));
            // A default only: the client may choose another.
            settings.set_default("client_encoding", name, SettingSource::Default, who)?;
        }
        settings.set_default_rules(database.rules.number());
        // A client that connects is told all of them.
        settings.take_changed();
        settings.set_default("session_authorization", &role.name, SettingSource::Client, who)?;
        let mut warnings = Vec::new();
        for Stored { name, value, source } in stored {
            // They were checked when they were stored. One that has become invalid since does not prevent a login.
            if let Err(mut error) = settings.set_default(&name, &value, source, Who::Superuser) {
                error.report_mut().severity = base::Severity::Warning;
                warnings.push(error);
            }
        }
        for (name, value) in &info.options {
            settings.set_default(name, value, SettingSource::Client, who).map_err(fatal)?;
        }
        backend.set_application(settings.text(Setting::application_name));
        let subscription = Subscription::new(
            &instance.exchange,
            info.pid,
            database.oid,
            runtime::current_interrupts().unwrap_or_default(),
        );
        let temp = TempDir::new(
            instance.engine().dir().to_path_buf(),
            instance.engine().home_of_database(database.oid),
            info.pid,
        );
        let session = Session {
            pending: counters::Pending::new(
                instance.counters().database_lane(database.oid),
                kind == BackendKind::Client,
            ),
            seen_counters: Default::default(),
            called_time: Default::default(),
            seen_at: Default::default(),
            backend,
            catalog: instance.catalog(database.oid, &database.name),
            instance,
            names: Rc::new(SessionCatalog::new(role.oid)),
            order_failure: RefCell::default(),
            txn: RefCell::new(txn),
            combo,
            holders: RefCell::default(),
            settings: RefCell::new(settings),
            format: RefCell::new(Rc::new(FormatContext::default())),
            format_version: Cell::new(u32::MAX),
            search_path_version: Cell::new(u32::MAX),
            identity,
            reloads: Cell::new(reloads),
            statements: RefCell::default(),
            chained: Cell::new(false),
            has_not_entered: Cell::new(enters && on_standby),
            unendable: Cell::new(0),
            in_routine: Cell::new(false),
            simple: RefCell::default(),
            shapes: Default::default(),
            portals: RefCell::default(),
            named_classes: RefCell::default(),
            sequences: RefCell::default(),
            just_bound: Cell::new(false),
            plans_for_latest: Cell::new(false),
            random: RefCell::new(Random::new(runtime::random_u64())),
            last_moment: Cell::new(0),
            text_search: Default::default(),
            temp,
            temp_chosen: RefCell::default(),
            notices: Notices::new(warnings),
            domains: Default::default(),
            unnamed_cursors: Cell::new(0),
            notifying: Notifying::new(subscription),
            deferred: Default::default(),
            foreign_keys: Default::default(),
            trigger_depth: Default::default(),
            transitions: Default::default(),
            large_objects: Default::default(),
            language_state: Default::default(),
            sql_bodies: Default::default(),
            depths: Default::default(),
            logging: Default::default(),
            socket: Default::default(),
            slot_snapshot: Default::default(),
            backup: Default::default(),
            manifest: Default::default(),
            new_labels: Default::default(),
            on_commit: Default::default(),
            info,
        };
        if kind == BackendKind::Sender {
            session.instance.senders().enter(session.info.pid);
        }
        session.apply_settings();
        if database.oid.is_valid() {
            session.preload_libraries()?;
        }
        Ok(session)
    }

    /// Settings to report with ParameterStatus after authentication: name and value.
    pub fn reported_settings(&self) -> Vec<(String, String)> {
        self.settings.borrow().reported().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The value of a setting, as SHOW has it.
    pub fn setting(&self, name: &str) -> Option<String> {
        self.settings.borrow().show(name).ok()
    }

    /// Whether each error ends the session (`exit_on_error`).
    pub fn exits_on_error(&self) -> bool {
        self.settings.borrow().get(Setting::exit_on_error).as_bool()
    }

    /// How long the client and its statements may take.
    pub fn timeouts(&self) -> Timeouts {
        self.settings.borrow().fast().timeouts()
    }

    /// The end of the connection: rolls back and releases every lock.
    pub fn close(&self) {
        self.close_because(SessionEnd::Wanted);
    }

    /// As [`close`](Self::close), and tells how it came to that.
    pub fn close_because(&self, how: SessionEnd) {
        if self.txn.borrow().state() != txn::BlockState::Idle {
            self.abort_transaction();
        }
        self.drop_temporary();
        self.txn.borrow_mut().unlock_all_for_session(|_| true);
        self.give_up_backup();
        self.engine().slots().end_session(self.info.pid);
        self.leave_origin();
        if self.backend.kind == BackendKind::Sender {
            self.instance.senders().leave(self.info.pid);
        }
        self.pending.take_usage();
        if self.backend.kind == BackendKind::Client {
            self.pending.ended(runtime::wall_clock_micros() - self.backend.start, how);
        }
    }

    /// Temporary relations end with their session. What cannot be dropped now goes when the schema is used again.
    fn drop_temporary(&self) {
        if self.names.temporary_schema().is_none() {
            return;
        }
        // What ended the session is not to end this.
        let _hold = runtime::hold_interrupts();
        // Nobody waits for standbys for the sake of what nobody sees.
        let local = base::settings::Value::Choice("local");
        self.settings.borrow_mut().set_internal(Setting::synchronous_commit, local);
        self.begin_statement();
        let done = temporary::drop_all(self).and_then(|()| self.commit_transaction().map(drop));
        if done.is_err() {
            self.abort_transaction();
        }
    }

    /// After a reload of the configuration: the server's new values, before the next statement.
    pub(super) fn adopt_reload(&self) {
        let reloads = self.instance.reloads.load(Ordering::Acquire);
        if self.reloads.replace(reloads) != reloads {
            self.settings.borrow_mut().rebase(self.instance.settings());
            self.apply_settings();
        }
    }

    /// Takes over settings that live in other places too.
    pub fn apply_settings(&self) {
        let settings = self.settings.borrow();
        let fast = settings.fast();
        let millis = |n: i32| std::time::Duration::from_millis(n.max(0) as u64);
        self.txn.borrow_mut().set_timeouts(LockTimeouts {
            deadlock: millis(fast.deadlock_timeout),
            lock: (fast.lock_timeout > 0).then(|| millis(fast.lock_timeout)),
            told: self.told_of_waits(&settings),
        });
        runtime::set_stack_depth(fast.max_stack_depth);
        tell_fiber(fast);
        self.backend.hide_activity(!settings.get(Setting::track_activities).as_bool());
        self.temp.account.set(fast.temp_file_limit, fast.log_temp_files);
        self.follow_socket(&settings);
        let version = settings.fast().search_path_version;
        if self.search_path_version.replace(version) != version {
            self.names.set_search_path(split_names(settings.text(Setting::search_path)));
        }
        drop(settings);
        self.follow_identity();
    }

    /// Settings that a new fiber has to know of.
    #[inline]
    pub(super) fn prepare_fiber(&self, fast: &Fast) {
        runtime::set_stack_depth(fast.max_stack_depth);
        match fast.tells_fibers {
            true => tell_fiber(fast),
            false => FiberFacts { default_rules: fast.default_rules, ..FiberFacts::default() }.apply(),
        }
    }

    /// Rebuilds the formats of values if a setting changed them, and sets their times.
    pub(super) fn refresh_format(&self, transaction_time: i64, statement_time: i64) {
        let settings = self.settings.borrow();
        let version = settings.fast().format_version;
        let mut format = self.format.borrow_mut();
        // Nobody else holds it between statements; a holdover (a suspended portal) keeps its own copy.
        let format = Rc::make_mut(&mut format);
        if self.format_version.replace(version) != version {
            *format = format_of_settings(&settings);
            // Its constants may mean something else now.
            self.simple.borrow_mut().take();
            self.shapes.clear();
        }
        format.transaction_time = transaction_time;
        format.statement_time = statement_time;
    }
}

/// Tells the running fiber of settings that are off in a new one.
#[cold]
fn tell_fiber(fast: &Fast) {
    let facts = FiberFacts {
        quotes_all_identifiers: fast.quote_all_identifiers,
        texts_are_bytes: fast.server_encoding == Encoding::SqlAscii,
        default_rules: fast.default_rules,
        alike: fast.alike,
    };
    facts.apply();
    index::settings::ALL.iter().zip(fast.nearest).for_each(|(word, value)| runtime::set_word(*word, value));
    let [effective, maintenance, combine] = fast.read_ahead;
    runtime::ReadAhead { effective, maintenance, combine }.enter();
    runtime::usage::time_wal(fast.track_wal_io_timing);
}

fn format_of_settings(settings: &SessionSettings) -> FormatContext {
    let (style, order) = settings.text(Setting::DateStyle).split_once(", ").unwrap_or(("ISO", "MDY"));
    FormatContext {
        read_clock: Cell::new(false),
        date_format: match style {
            "SQL" => DateFormat::Sql,
            "Postgres" => DateFormat::Postgres,
            "German" => DateFormat::German,
            _ => DateFormat::Iso,
        },
        date_order: match order {
            "YMD" => DateOrder::Ymd,
            "DMY" => DateOrder::Dmy,
            _ => DateOrder::Mdy,
        },
        interval_style: match settings.text(Setting::IntervalStyle) {
            "postgres_verbose" => IntervalStyle::PostgresVerbose,
            "sql_standard" => IntervalStyle::SqlStandard,
            "iso_8601" => IntervalStyle::Iso8601,
            _ => IntervalStyle::Postgres,
        },
        time_zone: TimeZone::named(settings.text(Setting::TimeZone)).unwrap_or_else(TimeZone::utc),
        abbreviations: Abbreviations::named(settings.text(Setting::timezone_abbreviations))
            .unwrap_or_default(),
        bytea_output: if settings.fast().bytea_hex { ByteaOutput::Hex } else { ByteaOutput::Escape },
        extra_float_digits: settings.fast().extra_float_digits,
        array_nulls: settings.get(Setting::array_nulls).as_bool(),
        null_equals: settings.get(Setting::transform_null_equals).as_bool(),
        xml_document: settings.text(Setting::xmloption) == "document",
        xml_hex: settings.text(Setting::xmlbinary) == "hex",
        ..FormatContext::default()
    }
}

/// The names of a list of identifiers that are not empty.
fn split_names(list: &str) -> Vec<String> {
    let mut names = split_list(list);
    names.retain(|name| !name.is_empty());
    names
}

/// A list of identifiers as `search_path` holds it: quoted ones as they are, others folded to lower case.
pub(crate) fn split_list(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = list.trim_start();
    while !rest.is_empty() {
        let (name, behind) = if let Some(quoted) = rest.strip_prefix('"') {
            quoted_name(quoted)
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            (rest[..end].trim_end().to_lowercase(), &rest[end..])
        };
        names.push(name);
        rest = behind.trim_start().strip_prefix(',').unwrap_or("").trim_start();
    }
    names
}

/// The rest of a quoted identifier, and what follows it.
fn quoted_name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '"' {
            name.push(c);
        } else if chars.next_if(|(_, next)| *next == '"').is_some() {
            name.push('"');
        } else {
            return (name, &text[at + 1..]);
        }
    }
    (name, "")
}

/// A value of `pg_db_role_setting`.
struct Stored {
    name: String,
    value: String,
    source: SettingSource,
}

/// What ALTER ROLE and ALTER DATABASE ... SET have stored for a session of this role in this database.
fn stored_settings(
    reader: &Reader<'_>,
    identity: &Identity,
    role: &Role,
    database: &DatabaseRow,
) -> SqlResult<Vec<Stored>> {
    let nobody = base::Oid::INVALID;
    let mut all = Vec::new();
    for (database, of, source) in [
        (nobody, nobody, SettingSource::Global),
        (database.oid, nobody, SettingSource::Database),
        (nobody, role.oid, SettingSource::User),
        (database.oid, role.oid, SettingSource::DatabaseUser),
    ] {
        for (name, value) in reader.stored_settings(database, of)? {
            if let Some(setting) = Setting::find(&name).filter(|setting| names_a_role(*setting))
                && identity.check(reader, role.oid, setting, &value).is_err()
            {
                continue;
            }
            all.push(Stored { name, value, source });
        }
    }
    Ok(all)
}

/// The role that a client logs in as.
fn role_of(reader: &Reader<'_>, user: &str, kind: BackendKind) -> SqlResult<Role> {
    let refused = |why: &str| {
        fatal(SqlError::new(
            base::SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            format!("role \"{user}\" {why}"),
        ))
    };
    let role = reader.role(user)?.ok_or_else(|| refused("does not exist"))?;
    if role.login || !kind.has_client() { Ok(role) } else { Err(refused("is not permitted to log in")) }
}

/// The database that a client names, locked so that it is not removed, renamed or copied before the transaction ends.
fn lock_database(
    txn: &mut Transaction,
    (catalog, session, combo): (&Catalog, &SessionCatalog, &ComboCids),
    name: &str,
) -> SqlResult<DatabaseRow> {
    let find = |me: &Transaction| Reader { catalog, session, me, combo }.database_by_name(name);
    let missing = || fatal(sql_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist"));
    let mut found = find(txn)?.ok_or_else(missing)?;
    loop {
        let tag = database_lock(found.oid);
        txn.lock(tag, LockMode::RowExclusive, LockWait::Block)?;
        let gone = || missing().detail("It seems to have just been dropped or renamed.");
        let now = find(txn)?.ok_or_else(gone)?;
        if now.oid == found.oid {
            return Ok(now);
        }
        txn.unlock(tag, LockMode::RowExclusive);
        found = now;
    }
}

/// Registers the session. Fails if the role may not connect to the database, or there are too many sessions. Superusers always may, unless the database allows no connections at all.
fn admit(
    instance: &Instance,
    backend: Backend,
    reader: &Reader<'_>,
    role: &Role,
    database: &DatabaseRow,
) -> SqlResult<Registered> {
    if !database.allow_connections && backend.kind != BackendKind::Inspector {
        return Err(fatal(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "database \"{}\" is not currently accepting connections",
            database.name
        )));
    }
    if role.superuser {
        return Ok(instance.sessions().register(backend));
    }
    let counts = backend.kind == BackendKind::Client;
    let rights = reader.rights(role.oid, b'd', (database.owner, database.acl.as_deref()))?;
    if !rights.has((acl::bits("c"), false)) {
        let denied = catalog::authority::denied("database", &format!("\"{}\"", database.name));
        return Err(fatal(denied.detail("User does not have CONNECT privilege.")));
    }
    let limits = Limits {
        role: u32::try_from(role.connection_limit).ok(),
        database: u32::try_from(database.connection_limit).ok(),
    };
    if !counts {
        return Ok(instance.sessions().register(backend));
    }
    let whose = |found| match found {
        TooMany::Database => format!("database \"{}\"", database.name),
        TooMany::Role => format!("role \"{}\"", role.name),
    };
    instance
        .sessions()
        .admit(backend, limits)
        .map_err(|found| fatal(sql_err!(TOO_MANY_CONNECTIONS, "too many connections for {}", whose(found))))
}

fn fatal(mut error: SqlError) -> SqlError {
    error.report_mut().severity = base::Severity::Fatal;
    error
}

#[cfg(test)]
mod tests {
    use super::split_names;

    #[test]
    fn search_path_names_are_split_as_identifiers() {
        assert_eq!(split_names("\"$user\", public"), ["$user", "public"]);
        assert_eq!(split_names(" A , \"B\"\"c\",d "), ["a", "B\"c", "d"]);
        assert!(split_names("").is_empty());
    }
}
