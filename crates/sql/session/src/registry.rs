//! # What
//! The sessions of a server as others see them: `pg_stat_activity`, `pg_cancel_backend`, `pg_terminate_backend`.
//!
//! # Layout
//! [`Sessions`] maps a pid to its [`Backend`]; a [`Registered`] keeps one in the map for as long as its session lives.
//!
//! # Invariants
//! 1. A session writes its own [`Activity`] only; other sessions read copies.
//! 2. Nothing here waits: the mutexes are held for a copy.
//!
//! # PostgreSQL counterpart and differences
//! `backend_status.c`. A session in a wait for a lock is found in the lock manager when somebody looks, so waiting costs
//! nothing here; other waits are told by the session's [`Interrupts`].

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::{Oid, Xid};
use parking_lot::Mutex;
use runtime::Interrupts;

use super::logging::LogSink;
use super::progress::Progress;

/// `pg_stat_activity.state`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendState {
    /// Waits for a command outside a transaction.
    #[default]
    Idle,
    /// Runs a command.
    Active,
    /// Waits for a command in a transaction.
    IdleInTransaction,
    /// The same, and the transaction has failed.
    IdleInFailedTransaction,
}

impl BackendState {
    /// The words of the view.
    pub fn as_str(self) -> &'static str {
        match self {
            BackendState::Idle => "idle",
            BackendState::Active => "active",
            BackendState::IdleInTransaction => "idle in transaction",
            BackendState::IdleInFailedTransaction => "idle in transaction (aborted)",
        }
    }
}

/// What a session does now. Times are microseconds since 2000-01-01 UTC.
#[derive(Clone, Debug)]
pub struct Activity {
    /// State.
    pub state: BackendState,
    /// The running or last command.
    pub query: Arc<str>,
    /// `application_name`
    pub application: Arc<str>,
    /// Start of the running transaction.
    pub transaction_start: Option<i64>,
    /// Start of the running or last command.
    pub query_start: Option<i64>,
    /// When `state` last changed.
    pub state_change: i64,
}

/// How the connection of a session is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// Version of TLS.
    pub version: &'static str,
    /// Cipher.
    pub cipher: &'static str,
    /// Bits of its key.
    pub bits: i32,
    /// Whose certificate the client has shown.
    pub client_name: Option<Box<str>>,
    /// Its serial number, decimal.
    pub client_serial: Option<Box<str>>,
    /// Who has signed it.
    pub issuer_name: Option<Box<str>>,
}

/// Whose a session is (`pg_stat_activity.backend_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendKind {
    /// A client's.
    #[default]
    Client,
    /// The server's own, which vacuums tables.
    AutovacuumWorker,
    /// A client's that replicates.
    Sender,
    /// One that looks at a data directory without a server.
    Inspector,
    /// The server's own, which applies the changes of a subscription.
    ApplyWorker,
    /// The server's own, which copies a table of a subscription.
    TableCopier,
}

impl BackendKind {
    /// The words of the view.
    pub fn as_str(self) -> &'static str {
        match self {
            BackendKind::Client => "client backend",
            BackendKind::AutovacuumWorker => "autovacuum worker",
            BackendKind::Sender => "walsender",
            BackendKind::Inspector => "standalone backend",
            BackendKind::ApplyWorker => "logical replication apply worker",
            BackendKind::TableCopier => "logical replication tablesync worker",
        }
    }

    /// Whether a client is connected to it, as a role.
    pub fn has_client(self) -> bool {
        matches!(self, BackendKind::Client | BackendKind::Sender)
    }
}

/// One session.
#[derive(Debug)]
pub struct Backend {
    /// Its number.
    pub pid: i32,
    /// Whose it is.
    pub kind: BackendKind,
    /// Whether its database's texts are bytes.
    pub texts_are_bytes: bool,
    /// How to cancel or end it.
    pub interrupts: Interrupts,
    /// The role that logged in.
    pub user: Oid,
    /// Its name.
    pub user_name: Box<str>,
    /// Database.
    pub database: Oid,
    /// Its name.
    pub database_name: Box<str>,
    /// The client's address, none over a Unix socket.
    pub client: Option<SocketAddr>,
    /// Name of the client's host, if it was looked up (`log_hostname`).
    pub client_host: Option<Box<str>>,
    /// How its connection is encrypted, if it is.
    pub encryption: Option<Box<Encryption>>,
    /// When it connected.
    pub start: i64,
    /// Oldest running xid of the snapshots that it holds; 0 without any.
    xmin: AtomicU64,
    /// Its schema of temporary tables; 0 if it has made none yet.
    temporary_schema: AtomicU32,
    /// Id of the running or last command; 0: it has none.
    query_id: AtomicI64,
    activity: Mutex<Activity>,
    /// Whether its activity is hidden (`track_activities` is off).
    hidden: AtomicBool,
    log: Log,
    /// Of a command that takes long.
    pub(crate) progress: Mutex<Option<Arc<Progress>>>,
}

impl Backend {
    /// A session that has just connected.
    pub fn new(
        pid: i32,
        interrupts: Interrupts,
        (user, user_name): (Oid, &str),
        (database, database_name): (Oid, &str),
        client: Option<SocketAddr>,
    ) -> Backend {
        let now = runtime::wall_clock_micros();
        Backend {
            pid,
            kind: BackendKind::Client,
            texts_are_bytes: false,
            interrupts,
            user,
            user_name: user_name.into(),
            database,
            database_name: database_name.into(),
            client,
            client_host: None,
            encryption: None,
            start: now,
            xmin: AtomicU64::new(0),
            temporary_schema: AtomicU32::new(0),
            query_id: AtomicI64::new(0),
            activity: Mutex::new(Activity {
                state: BackendState::Idle,
                query: Arc::from(""),
                application: Arc::from(""),
                transaction_start: None,
                query_start: None,
                state_change: now,
            }),
            hidden: AtomicBool::new(false),
            log: Log::default(),
            progress: Mutex::default(),
        }
    }

    /// Its schema of temporary tables; invalid if it has none yet.
    pub fn temporary_schema(&self) -> Oid {
        // Acquire: pairs with the release below.
        Oid(self.temporary_schema.load(Ordering::Acquire))
    }

    /// What is in this schema is the session's from now on.
    pub fn uses_temporary_schema(&self, schema: Oid) {
        self.temporary_schema.store(schema.0, Ordering::Release);
    }

    /// Oldest running xid of the snapshots that it holds (`backend_xmin`).
    pub fn xmin(&self) -> Option<Xid> {
        // Relaxed, here and below: shown to people, orders nothing.
        Some(Xid(self.xmin.load(Ordering::Relaxed))).filter(|xmin| xmin.is_valid())
    }

    /// Id of the running or last command (`query_id`).
    pub fn query_id(&self) -> i64 {
        self.query_id.load(Ordering::Relaxed)
    }

    /// The id of a statement that begins to run: of those within one another the first counts.
    pub fn set_query_id(&self, id: i64) {
        if self.query_id() == 0 {
            self.query_id.store(id, Ordering::Relaxed);
        }
    }

    /// One more snapshot is in use.
    #[inline]
    pub fn uses_snapshot(&self, xmin: Xid) {
        let shown = self.xmin.load(Ordering::Relaxed);
        if shown == 0 || xmin.0 < shown {
            self.xmin.store(xmin.0, Ordering::Relaxed);
        }
    }

    /// It holds none.
    #[inline]
    pub fn holds_no_snapshot(&self) {
        self.xmin.store(0, Ordering::Relaxed);
    }

    /// These are all that it holds.
    pub fn holds_snapshots(&self, xmins: impl Iterator<Item = Xid>) {
        self.xmin.store(xmins.min().unwrap_or_default().0, Ordering::Relaxed);
    }

    /// What it does now.
    /// In databases whose texts are UTF-8 that of one whose texts are bytes is shown as far as those are UTF-8.
    pub fn activity(&self) -> Activity {
        let mut activity = self.activity.lock().clone();
        if self.texts_are_bytes && !types::text::texts_are_bytes() {
            activity.query = types::encoding::shown_outside(&activity.query).into();
        }
        activity
    }

    /// Whether its activity is hidden (`track_activities` is off).
    pub fn is_hidden(&self) -> bool {
        self.hidden.load(Ordering::Relaxed)
    }

    /// Hides its activity from now on, or shows it.
    pub fn hide_activity(&self, hidden: bool) {
        self.hidden.store(hidden, Ordering::Relaxed);
    }

    /// A command begins. Returns the microseconds since the state last changed, and what that was.
    pub fn begin_command(&self, query: &Arc<str>, now: i64, transaction_start: i64) -> (BackendState, i64) {
        self.query_id.store(0, Ordering::Relaxed);
        let mut activity = self.activity.lock();
        let before = (activity.state, now - activity.state_change);
        if !Arc::ptr_eq(&activity.query, query) {
            activity.query = query.clone();
        }
        activity.state = BackendState::Active;
        activity.query_start = Some(now);
        activity.state_change = now;
        activity.transaction_start = Some(transaction_start);
        before
    }

    /// Whether a command is shown to run.
    pub fn is_active(&self) -> bool {
        self.activity.lock().state == BackendState::Active
    }

    /// The session waits for the next command. Returns the microseconds that it was active.
    pub fn end_command(&self, state: BackendState) -> i64 {
        let mut activity = self.activity.lock();
        if activity.state == state {
            return 0;
        }
        let now = runtime::wall_clock_micros();
        let active = if activity.state == BackendState::Active { now - activity.state_change } else { 0 };
        activity.state = state;
        activity.state_change = now;
        if state == BackendState::Idle {
            activity.transaction_start = None;
        }
        active
    }

    /// Where its lines for the server's log go; set once.
    pub fn log_to(&self, sink: LogSink) {
        let _ = self.log.0.set(sink);
    }

    /// Where its lines for the server's log go, if anywhere.
    pub(super) fn log(&self) -> Option<&LogSink> {
        self.log.0.get()
    }

    /// `application_name` was set.
    pub fn set_application(&self, name: &str) {
        self.activity.lock().application = name.into();
    }
}

/// Where a session's lines for the server's log go.
#[derive(Default)]
struct Log(OnceLock<LogSink>);

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.get().is_some() { "Log" } else { "no log" })
    }
}

/// A loop of the server beside the sessions, as `pg_stat_activity` shows it.
#[derive(Clone, Debug)]
pub struct Background {
    /// Its number.
    pub pid: i32,
    /// `backend_type`
    pub kind: &'static str,
    /// What it waits for between two rounds.
    pub wait: &'static str,
    /// When it began.
    pub start: i64,
}

/// Sessions that a role and a database may have; none: any number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Of the role.
    pub role: Option<u32>,
    /// Of the database.
    pub database: Option<u32>,
}

/// Whose limit a session would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMany {
    /// The role's.
    Role,
    /// The database's.
    Database,
}

/// All sessions of a server, and its loops.
#[derive(Debug, Default)]
pub struct Sessions(Mutex<BTreeMap<i32, Arc<Backend>>>, Mutex<Vec<Background>>);

impl Sessions {
    /// Registers a session until the result is dropped.
    pub fn register(self: &Arc<Self>, backend: Backend) -> Registered {
        let backend = Arc::new(backend);
        self.0.lock().insert(backend.pid, backend.clone());
        Registered { sessions: self.clone(), backend }
    }

    /// The same, unless there are as many as may be. Who comes at the same time is counted before or after, so that never one too many is
    /// let in, and nobody is kept out for whom there was room.
    pub fn admit(self: &Arc<Self>, backend: Backend, limits: Limits) -> Result<Registered, TooMany> {
        let backend = Arc::new(backend);
        let mut sessions = self.0.lock();
        let full = |limit: Option<u32>, counts: &dyn Fn(&Backend) -> bool| {
            let clients = sessions.values().filter(|b| b.kind == BackendKind::Client);
            limit.is_some_and(|limit| clients.filter(|b| counts(b)).count() >= limit as usize)
        };
        if full(limits.database, &|other| other.database == backend.database) {
            return Err(TooMany::Database);
        }
        if full(limits.role, &|other| other.user == backend.user) {
            return Err(TooMany::Role);
        }
        sessions.insert(backend.pid, backend.clone());
        drop(sessions);
        Ok(Registered { sessions: self.clone(), backend })
    }

    /// A loop of the server begins.
    pub fn add_background(&self, pid: i32, kind: &'static str, wait: &'static str) {
        self.1.lock().push(Background { pid, kind, wait, start: runtime::wall_clock_micros() });
    }

    /// A loop of the server has ended.
    pub fn remove_background(&self, pid: i32) {
        self.1.lock().retain(|background| background.pid != pid);
    }

    /// The loops of the server.
    pub fn background(&self) -> Vec<Background> {
        self.1.lock().clone()
    }

    /// The session with this pid.
    pub fn get(&self, pid: i32) -> Option<Arc<Backend>> {
        self.0.lock().get(&pid).cloned()
    }

    /// All sessions, by pid.
    pub fn list(&self) -> Vec<Arc<Backend>> {
        self.0.lock().values().cloned().collect()
    }

    /// Number of sessions of a database.
    pub fn count_of(&self, database: Oid) -> usize {
        self.0.lock().values().filter(|backend| backend.database == database).count()
    }
}

/// A session's place among [`Sessions`]; dropping it takes the session out.
#[derive(Debug)]
pub struct Registered {
    sessions: Arc<Sessions>,
    backend: Arc<Backend>,
}

impl Deref for Registered {
    type Target = Backend;

    fn deref(&self) -> &Backend {
        &self.backend
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut sessions = self.sessions.0.lock();
        // The pid may have been given to a newer session.
        if sessions.get(&self.backend.pid).is_some_and(|known| Arc::ptr_eq(known, &self.backend)) {
            sessions.remove(&self.backend.pid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(pid: i32, database: u32) -> Backend {
        Backend::new(pid, Interrupts::new(), (Oid(10), "postgres"), (Oid(database), "db"), None)
    }

    #[test]
    fn a_session_is_known_for_as_long_as_it_is_registered() {
        let sessions = Arc::new(Sessions::default());
        let first = sessions.register(backend(7, 5));
        let second = sessions.register(backend(8, 1));
        assert_eq!(sessions.list().iter().map(|b| b.pid).collect::<Vec<_>>(), [7, 8]);
        assert_eq!(sessions.count_of(Oid(5)), 1);
        drop(first);
        assert!(sessions.get(7).is_none());
        assert_eq!(sessions.get(second.pid).map(|b| b.database), Some(Oid(1)));
    }

    #[test]
    fn a_late_goodbye_does_not_take_the_next_session_of_the_pid_along() {
        let sessions = Arc::new(Sessions::default());
        let old = sessions.register(backend(7, 5));
        let new = sessions.register(backend(7, 5));
        drop(old);
        assert!(sessions.get(7).is_some());
        drop(new);
        assert!(sessions.get(7).is_none());
    }

    #[test]
    fn no_more_are_admitted_than_may_be() {
        let sessions = Arc::new(Sessions::default());
        let (role, database) = (Some(3), Some(2));
        let come = |pid, number, limits| sessions.admit(backend(pid, number), limits).map(|_| ());
        let first = sessions.admit(backend(1, 5), Limits { role, database }).unwrap();
        let second = sessions.admit(backend(2, 5), Limits { role, database }).unwrap();
        assert_eq!(come(3, 5, Limits { role, database }), Err(TooMany::Database));
        let _third = sessions.admit(backend(3, 1), Limits { role, database }).unwrap();
        assert_eq!(come(4, 1, Limits { role, database }), Err(TooMany::Role));
        assert_eq!(come(4, 1, Limits::default()), Ok(()), "without limits");
        drop((first, second));
        assert_eq!(come(4, 5, Limits { role, database }), Ok(()));
        assert_eq!(come(4, 5, Limits { role: Some(0), database }), Err(TooMany::Role));
    }

    #[test]
    fn activity_follows_commands() {
        let b = backend(7, 5);
        b.begin_command(&Arc::from("select 1"), 100, 90);
        let a = b.activity();
        assert_eq!(
            (a.state, &*a.query, a.query_start, a.transaction_start),
            (BackendState::Active, "select 1", Some(100), Some(90))
        );
        b.end_command(BackendState::Idle);
        let a = b.activity();
        assert_eq!((a.state, a.transaction_start), (BackendState::Idle, None));
        assert_eq!(&*a.query, "select 1");
    }
}
