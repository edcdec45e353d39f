//! # What
//! Sessions: what the server drives, one per connection. The statements of a client, its transaction and its prepared things, and what SQL can ask of a session.
//!
//! # Layout
//! * [`Instance`]: what all sessions share. [`Session`]: one connection.
//! * `login`: a new session. `statement`: from text to a statement that can run. `plan_cache`: plans that sessions share. `shapes`: texts that differ in literals. `statements`: prepared ones by name. `portal`: running ones. `cursor`: DECLARE, FETCH. `current_of`: WHERE CURRENT OF.
//!   `nested`: PREPARE. `explain`: EXPLAIN.
//! * `protocol`: the messages of the simple and extended protocol. `output`: where rows go. `encoding`: texts that are not UTF-8. `transaction`: BEGIN to COMMIT.
//! * `modes`: isolation level, READ ONLY and the like. `identity`: whose rights apply. `restricted`: upkeep as a table's owner. `access`: what statements need. `reach`: files of the machine. `table_rows`: rows that are read without a plan. `export`: snapshots for other transactions. `notify`: LISTEN and NOTIFY, over `exchange`, what sessions tell each other.
//! * `upkeep`: sessions without a client, which vacuum tables.
//! * `watch`, `auto_explain`: what is watched of statements, for those whom [`hooks`] tell. `helpers`: threads that help sessions, in the whole server. `registry`, `progress`: what other sessions see of one. `control`: what a session may ask of the server around it. `planning`, `facilities`: what the planner and running statements see of a session.
//! * [`commands`]: what sessions know of utility statements, which the crate `command` carries out. `options`: values of option lists.
//! * `functions`: functions of SQL that need a session. [`routine`]: functions that users made, and the languages that they are written in. [`module`]: extensions that are compiled in.
//! * `firing`: carries out triggers. `lookup`: what statements name. `expression`, `uses`: expressions in definitions. `index_entries`, `violation`: entries of rows that no plan writes.
//! * [`subscription`]: what runs for subscriptions, and what they need of publishers.
//! * [`replication`]: connections that replicate: their commands, what they send.
//! * `clock_map`: a map of limited size.
//!
//! # Invariants
//! 1. After every method the transaction is in the state that PostgreSQL's would be in: an error has failed the block, or
//!    rolled back the implicit transaction.
//! 2. The transaction's cell is borrowed only for the moment of a call into storage or catalogs.
//! 3. Nothing here knows sockets: rows and messages go to an [`Output`].
//!
//! # PostgreSQL counterpart
//! `src/backend/tcop`, `utils/cache/plancache.c`; `utils/adt` where it looks into catalogs or the session.

mod access;
mod access_files;
mod arguments;
mod auto_explain;
mod beside;
mod choice;
mod clock_map;
pub mod commands;
mod conflicts;
pub mod control;
mod current_of;
mod cursor;
mod encoding;
mod exchange;
mod explain;
mod explain_options;
mod export;
pub mod expression;
mod facilities;
mod fast_path;
pub mod firing;
pub mod foreign;
pub mod functions;
mod helpers;
pub mod hooks;
mod identity;
pub mod index_entries;
mod logging;
mod login;
mod long_waits;
pub mod lookup;
mod modes;
pub mod module;
mod nested;
mod notices;
mod notify;
pub mod options;
mod order;
pub mod output;
mod plan_cache;
mod planning;
mod portal;
mod portals;
mod prepared;
pub mod progress;
mod protocol;
pub mod reach;
mod registry;
pub mod replication;
mod restricted;
pub mod routine;
mod shapes;
mod socket;
mod statement;
mod statements;
pub mod subscription;
pub mod table_rows;
mod temporary;
pub mod text_search;
mod transaction;
mod upkeep;
pub mod uses;
pub mod violation;
mod watch;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::settings::{ServerSettings, SessionSettings, Setting};
use base::{Oid, Severity, SqlError, SqlResult};
use catalog::change::Changer;
use catalog::{Catalog, Cluster, Reader, SessionCatalog};
use engine::Engine;
use eval::spill::TempDir;
use heap::ComboCids;
use parking_lot::RwLock;
use parse::ast::OnCommit;
use rustc_hash::{FxHashMap, FxHashSet};
use txn::{SessionId, Transaction};
use types::FormatContext;

use self::helpers::Helpers;
use crate::commands::Commands;
pub use access_files::{AccessFiles, AccessRule, UserMapping};
pub use arguments::Arguments;
pub(crate) use choice::Wanted;
pub use control::{AutoChange, FileSetting, ServerControl};
pub(crate) use cursor::CursorInfo;
pub use exchange::Notification;
pub use explain::columns as explain_columns;
use identity::Identity;
pub use logging::{LogSink, Situation};
use notices::Notices;
pub use output::{Both, Column, Format, Output, RowEncoder};
use plan_cache::PlanCache;
use portals::Portals;
pub use protocol::escapes_read;
pub use registry::{
    Activity, Backend, BackendKind, BackendState, Background, Encryption, Registered, Sessions,
};
pub use shapes::Sharing;
pub use socket::{SocketOptions, SocketSink};
pub use statement::Source;
pub(crate) use statement::{Body, Named, Planned, Work};
use statements::Statements;
pub(crate) use watch::{Ran, Watched};

/// What all sessions of a server share: storage, catalogs, settings.
pub struct Instance {
    engine: Arc<Engine>,
    /// Who carries out utility statements.
    commands: &'static dyn Commands,
    /// Catalogs of the databases that sessions have connected to.
    cluster: Arc<Cluster>,
    settings: RwLock<Arc<ServerSettings>>,
    /// Counts reloads: sessions look at it before each statement, and at `settings` only when it moved.
    reloads: AtomicU64,
    /// Plans by text.
    plans: Arc<PlanCache>,
    /// Languages of users' functions, besides SQL.
    languages: crate::routine::Languages,
    /// Extensions that can be installed.
    modules: crate::module::Modules,
    sessions: Arc<Sessions>,
    exports: Arc<export::Exports>,
    exchange: Arc<crate::exchange::Exchange>,
    counters: counters::Counters,
    /// Threads that help sessions.
    helpers: Helpers,
    /// When the server started, microseconds since 2000-01-01 UTC.
    started: i64,
    /// When the configuration was last read.
    configured: AtomicI64,
    /// The server around the database.
    control: OnceLock<Arc<dyn ServerControl>>,
    /// What passwords are stored as.
    passwords: OnceLock<Box<dyn Passwords>>,
    /// What is known of connection strings.
    connection_strings: OnceLock<Box<dyn ConnectionStrings>>,
    /// The files that say who may connect.
    access: OnceLock<Box<dyn AccessFiles>>,
    /// The only folder whose files statements may name, if there is such a limit.
    files_within: OnceLock<PathBuf>,
    /// What counts statements.
    statements: OnceLock<Arc<dyn crate::hooks::Statements>>,
    /// Who sends the log.
    senders: replication::Senders,
    /// What runs for subscriptions.
    subscribers: Arc<subscription::Subscribers>,
}

/// What passwords are stored as: the business of the layer that checks them.
pub trait Passwords: Send + Sync {
    /// A verifier for a password.
    fn verifier(&self, password: &str, iterations: u32) -> String;
    /// Whether a text is a verifier.
    fn is_verifier(&self, text: &str) -> bool;
    /// Whether a verifier is of this password; false if it is no verifier.
    fn matches(&self, verifier: &str, password: &str) -> bool;
}

/// What subscriptions say of how to connect, and the connections: the business of the layer that connects.
pub trait ConnectionStrings: Send + Sync {
    /// Names and values of the options in a connection string. The error is a message.
    fn read(&self, text: &str) -> Result<Vec<(String, String)>, String>;
    /// Connects to a publisher, for commands and for a stream of changes; `name` is what it shows of us. The connection of whom a password must be
    /// asked of (`asked`) is refused if it is not.
    fn connect(
        &self,
        text: &str,
        name: &str,
        asked: bool,
    ) -> Result<Box<dyn subscription::Publisher>, subscription::Failure>;
}

impl Drop for Instance {
    fn drop(&mut self) {
        executor::kept::clear();
    }
}

impl Instance {
    /// Over an open data directory; with what carries out utility statements.
    pub fn new(
        engine: Arc<Engine>,
        settings: Arc<ServerSettings>,
        commands: &'static dyn Commands,
    ) -> Arc<Instance> {
        let now = runtime::wall_clock_micros();
        let exchange = crate::exchange::Exchange::new(settings.int(Setting::max_notify_queue_pages));
        let sessions = Arc::default();
        long_waits::listen(engine.txns().locks(), &sessions, commands);
        upkeep::give_way(engine.txns().locks(), &sessions);
        engine.slots().on_terminate({
            let sessions: Arc<Sessions> = sessions.clone();
            move |pid| {
                if let Some(backend) = sessions.get(pid) {
                    backend.interrupts.set(runtime::Interrupt::Terminate);
                }
            }
        });
        let counters = counters::Counters::default();
        let cluster = Arc::<Cluster>::default();
        cluster.follow(&engine);
        let plans = Arc::<PlanCache>::default();
        conflicts::listen(&engine, &sessions, &cluster, &plans);
        let senders = replication::Senders::default();
        senders.take_names(settings.text(Setting::synchronous_standby_names), engine.txns().standbys());
        Arc::new(Instance {
            engine,
            commands,
            cluster,
            settings: RwLock::new(settings),
            reloads: AtomicU64::new(0),
            plans,
            languages: Default::default(),
            modules: Default::default(),
            sessions,
            exports: Arc::default(),
            exchange: Arc::new(exchange),
            counters,
            helpers: Helpers::default(),
            started: now,
            configured: AtomicI64::new(now),
            control: OnceLock::new(),
            connection_strings: OnceLock::new(),
            passwords: OnceLock::new(),
            access: OnceLock::new(),
            files_within: OnceLock::new(),
            statements: OnceLock::new(),
            senders,
            subscribers: Arc::default(),
        })
    }

    /// Storage.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The values that sessions start from.
    pub fn settings(&self) -> Arc<ServerSettings> {
        self.settings.read().clone()
    }

    /// After a reload: sessions take the new values over before their next statement.
    pub fn set_settings(&self, settings: Arc<ServerSettings>) {
        let names = settings.text(Setting::synchronous_standby_names);
        self.senders.take_names(names, self.engine.txns().standbys());
        *self.settings.write() = settings;
        // Release: pairs with the acquire in `adopt_reload`; who sees the count finds these values.
        self.reloads.fetch_add(1, Ordering::Release);
        self.configured.store(runtime::wall_clock_micros(), Ordering::Relaxed);
    }

    /// Languages of users' functions, besides SQL.
    pub fn languages(&self) -> &crate::routine::Languages {
        &self.languages
    }

    /// Extensions that can be installed.
    pub fn modules(&self) -> &crate::module::Modules {
        &self.modules
    }

    /// The sessions that are connected.
    pub fn sessions(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// Cumulative counters.
    pub fn counters(&self) -> &counters::Counters {
        &self.counters
    }

    /// Who sends the log.
    pub fn senders(&self) -> &replication::Senders {
        &self.senders
    }

    /// What runs for subscriptions.
    pub fn subscribers(&self) -> &Arc<subscription::Subscribers> {
        &self.subscribers
    }

    /// Threads that help sessions.
    pub fn helpers(&self) -> &Helpers {
        &self.helpers
    }

    /// When the server started, microseconds since 2000-01-01 UTC.
    pub fn started(&self) -> i64 {
        self.started
    }

    /// When the configuration was last read, microseconds since 2000-01-01 UTC.
    pub fn configured(&self) -> i64 {
        self.configured.load(Ordering::Relaxed)
    }

    /// The server around the database introduces itself, once.
    pub fn set_control(&self, control: Arc<dyn ServerControl>) {
        let _ = self.control.set(control);
    }

    /// The server around the database.
    pub fn control(&self) -> SqlResult<&dyn ServerControl> {
        match self.control.get() {
            Some(control) => Ok(&**control),
            None => Err(SqlError::not_supported("configuration without a server")),
        }
    }

    /// From now on statements name files in this folder only.
    pub fn confine_files(&self, folder: &Path) {
        let _ = self.files_within.set(folder.to_path_buf());
    }

    /// The only folder whose files statements may name; `None`: they may name all.
    pub(crate) fn files_within(&self) -> Option<&Path> {
        self.files_within.get().map(PathBuf::as_path)
    }

    /// How passwords are stored; set once, by the server.
    pub fn on_passwords(&self, passwords: impl Passwords + 'static) {
        let _ = self.passwords.set(Box::new(passwords));
    }

    /// How connection strings are read; set once, by the server.
    pub fn on_connection_strings(&self, strings: impl ConnectionStrings + 'static) {
        let _ = self.connection_strings.set(Box::new(strings));
    }

    /// How connection strings are read.
    pub fn connection_strings(&self) -> SqlResult<&dyn ConnectionStrings> {
        match self.connection_strings.get() {
            Some(strings) => Ok(&**strings),
            None => Err(SqlError::not_supported("connection strings without a server that reads them")),
        }
    }

    /// How the files of client authentication are read; set once, by the server.
    pub fn on_access_files(&self, files: impl AccessFiles + 'static) {
        let _ = self.access.set(Box::new(files));
    }

    /// The files that say who may connect.
    pub(crate) fn access_files(&self) -> SqlResult<&dyn AccessFiles> {
        match self.access.get() {
            Some(files) => Ok(&**files),
            None => Err(SqlError::not_supported("access rules without a server that reads them")),
        }
    }

    /// How passwords are stored.
    pub fn passwords(&self) -> SqlResult<&dyn Passwords> {
        match self.passwords.get() {
            Some(passwords) => Ok(&**passwords),
            None => Err(SqlError::not_supported("passwords without a server that checks them")),
        }
    }

    /// The catalogs of a database.
    pub fn catalog(&self, database: Oid, name: &str) -> Arc<Catalog> {
        self.cluster.catalog(&self.engine, database, name)
    }

    /// The shared catalogs, for a session without a database.
    pub fn shared_catalog(&self) -> Arc<Catalog> {
        self.cluster.shared_catalog(&self.engine)
    }

    /// Reads shared catalogs in a transaction of its own, which the locks know by this number.
    pub fn read_shared<T>(&self, pid: i32, read: impl FnOnce(&Reader<'_>) -> SqlResult<T>) -> SqlResult<T> {
        let mut me = Transaction::new(self.engine.txns().clone(), session_id(pid));
        me.start(Default::default());
        let (combo, nobody) = (ComboCids::new(), SessionCatalog::new(Oid::INVALID));
        let shared = self.shared_catalog();
        let result = read(&Reader { catalog: &shared, session: &nobody, me: &me, combo: &combo });
        me.abort();
        result
    }

    /// A database without sessions was renamed: forgets what is cached under its old name.
    pub fn forget_catalog(&self, database: Oid) {
        self.cluster.forget(database);
        // Their flags belong to catalogs that are gone, so nothing would ever invalidate them.
        self.plans.forget_database(database);
    }

    /// A database was removed.
    pub fn forget_database(&self, database: Oid) {
        self.forget_catalog(database);
        self.counters.forget_database(database);
    }
}

/// What a connection replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replication {
    /// The whole cluster; the connection is to no database.
    Physical,
    /// A database: it takes SQL besides.
    Database,
}

/// Who is connected to what.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// Number that `pg_stat_activity.pid` and BackendKeyData show.
    pub pid: i32,
    /// Role logged in as.
    pub user: String,
    /// Database connected to.
    pub database: String,
    /// Whether it is to replicate, and from what.
    pub replication: Option<Replication>,
    /// Settings of the start-up packet and of `options`, in order.
    pub options: Vec<(String, String)>,
    /// Address of the client, none over a Unix socket.
    pub client_address: Option<std::net::SocketAddr>,
    /// Address that the client has connected to, none over a Unix socket.
    pub server_address: Option<std::net::SocketAddr>,
    /// Name of its host, if it was asked for.
    pub client_host: Option<String>,
    /// How the connection is encrypted, if it is.
    pub encryption: Option<Encryption>,
    /// How the client has proved who it is, and as whom: `method:name`. None if nothing was asked of it.
    pub system_user: Option<String>,
}

impl SessionInfo {
    /// Of a session without a socket: no address, no authentication, no settings.
    pub fn local(pid: i32, user: String, database: String) -> SessionInfo {
        SessionInfo {
            pid,
            user,
            database,
            replication: None,
            options: Vec::new(),
            client_address: None,
            server_address: None,
            client_host: None,
            encryption: None,
            system_user: None,
        }
    }
}

/// The byte of ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// `I`: outside a transaction block.
    Idle,
    /// `T`: in a block.
    InBlock,
    /// `E`: in a failed block, everything but its end is refused.
    Failed,
}

impl TransactionStatus {
    /// The byte of the protocol.
    pub fn byte(self) -> u8 {
        match self {
            TransactionStatus::Idle => b'I',
            TransactionStatus::InBlock => b'T',
            TransactionStatus::Failed => b'E',
        }
    }
}

/// A parameter value of Bind: NULL or its bytes.
pub type ParamValue<'a> = Option<&'a [u8]>;

/// One connection's session. All methods run inside the session's fiber with its interrupts installed.
///
/// An `Err` of any method is for the server to send as ErrorResponse; the session has already put its transaction into
/// the right state. After an error in the extended protocol the server skips messages up to Sync and calls
/// [`Session::sync`].
///
/// In the order of its fields in memory: what every statement looks at comes first. Of thousands of sessions none is in the processor's cache
/// when its turn comes, so that each line more that is looked at is waited for.
#[repr(C)]
pub struct Session {
    /// What it shares with the other sessions of the server.
    pub instance: Arc<Instance>,
    /// The catalog of its database.
    pub catalog: Arc<Catalog>,
    /// Names and catalog changes of this session.
    pub names: Rc<SessionCatalog>,
    /// The first error of a function that tells an order, where comparing could not fail.
    order_failure: RefCell<Option<SqlError>>,
    /// How other sessions see this one.
    pub backend: Registered,
    /// Reloads of the configuration taken over.
    reloads: Cell<u64>,
    /// Formats of values, rebuilt when a setting that they come from changes.
    pub format: RefCell<Rc<FormatContext>>,
    format_version: Cell<u32>,
    /// The running message is the Execute of what the last Bind bound: it shares its time.
    just_bound: Cell<bool>,
    /// What is planned now will run with the latest snapshot, not with the one that the transaction keeps.
    plans_for_latest: Cell<bool>,
    /// Prepared statements.
    pub(crate) statements: RefCell<Statements>,
    portals: RefCell<Portals>,
    /// Notices of the running statement that have not been sent yet.
    pub notices: Notices,
    /// What fires at the end of the transaction; made for the first that is to.
    pub deferred: RefCell<Option<Box<eval::trigger::Deferred>>>,
    /// Combo command ids of the transaction.
    pub combo: ComboCids,
    /// What the transaction knows of those who hold rows that it locks.
    holders: RefCell<heap::KnownHolders>,
    /// LISTEN and NOTIFY.
    notifying: notify::Notifying,
    /// Counters as the transaction has seen them (`stats_fetch_consistency`).
    pub(crate) seen_counters: RefCell<FxHashMap<Oid, counters::Relation>>,
    /// What was counted since the last transaction ended.
    pub pending: counters::Pending,
    /// The values of settings in this session.
    pub settings: RefCell<SessionSettings>,
    /// The last of what every statement looks at.
    pub txn: RefCell<Transaction>,

    /// Who is connected.
    pub info: SessionInfo,
    search_path_version: Cell<u32>,
    /// The roles that it has been.
    identity: Identity,
    /// AND CHAIN has begun a transaction since this was last asked ([`Session::take_chained`]).
    chained: Cell<bool>,
    /// It is in a database that nobody had entered, on a standby, where that cannot be noted.
    has_not_entered: Cell<bool>,
    /// How many loops go over rows of what is no SELECT: the transaction may not end in them.
    pub(crate) unendable: Cell<u32>,
    /// A utility statement of a routine runs.
    pub in_routine: Cell<bool>,
    /// The last single query of the simple protocol.
    simple: RefCell<Option<Rc<Source>>>,
    /// Shapes of single queries of the simple protocol.
    shapes: shapes::Shapes,
    pub(crate) random: RefCell<types::random::Random>,
    /// What `ascending_clock` told last.
    pub(crate) last_moment: Cell<i64>,
    /// The snapshot that it has exported with a new slot.
    slot_snapshot: RefCell<Option<export::Exported>>,
    /// A backup that it has begun and not ended.
    backup: RefCell<Option<engine::backup::Backup>>,
    /// What the client has uploaded for incremental backups.
    manifest: RefCell<Option<replication::backup::manifest::Manifest>>,
    /// Configurations of text search that it has used.
    pub(crate) text_search: text_search::Remembered,
    /// Relations that constants of the statement in analysis name, while there is one.
    pub(crate) named_classes: RefCell<Option<Vec<(Oid, String)>>>,
    /// Sequences used.
    pub sequences: RefCell<crate::functions::Sequences>,
    /// When `seen_counters` took all of them.
    pub(crate) seen_at: Cell<i64>,
    /// Microseconds that counted calls have taken which the running counted call has made.
    pub(crate) called_time: Cell<i64>,
    /// Where rows go that do not fit into memory.
    temp: TempDir,
    /// For which transaction, and which `temp_tablespaces`, tablespaces were chosen.
    temp_chosen: RefCell<(u32, String)>,
    /// Domains that values came in for.
    pub(crate) domains: crate::functions::DomainCheckers,
    /// Cursors that got a name of the session's making.
    pub(crate) unnamed_cursors: Cell<u32>,
    /// Temporary tables that a commit empties or drops.
    pub on_commit: Rc<RefCell<Vec<(Oid, OnCommit)>>>,
    /// Foreign keys that rows were checked for.
    pub(crate) foreign_keys: crate::firing::foreign_key::ForeignKeys,
    /// How many trigger functions are running, each within the one before.
    pub(crate) trigger_depth: Cell<i32>,
    /// What the trigger function that runs may call the rows of its statement's change.
    pub(crate) transitions: RefCell<Option<eval::trigger::Names>>,
    /// Large objects that the transaction has opened, by descriptor.
    pub(crate) large_objects: RefCell<Vec<Option<crate::functions::LargeObject>>>,
    /// What procedural languages keep.
    pub(crate) language_state: crate::routine::LanguageState,
    /// Bodies of functions in SQL that were called.
    pub(crate) sql_bodies: crate::routine::SqlBodies,
    /// Statements within statements.
    depths: watch::Depths,
    /// The sink of the server's log.
    logging: logging::Logging,
    socket: socket::Socket,
    /// Labels that the running transaction added to enums that were there before (OIDs of `pg_enum`).
    pub new_labels: Rc<RefCell<FxHashSet<Oid>>>,
}

impl Session {
    /// Reads the catalog as this session sees it now.
    pub fn with_reader<T>(&self, read: impl FnOnce(&Reader<'_>) -> T) -> T {
        let me = self.txn.borrow();
        read(&Reader { catalog: &self.catalog, session: &self.names, me: &me, combo: &self.combo })
    }

    /// Changes the catalog in this session's transaction.
    pub fn with_changer<T>(&self, change: impl FnOnce(&mut Changer<'_>) -> T) -> T {
        let mut me = self.txn.borrow_mut();
        change(&mut Changer { catalog: &self.catalog, session: &self.names, me: &mut me, combo: &self.combo })
    }

    /// Who carries out utility statements.
    pub fn commands(&self) -> &'static dyn Commands {
        self.instance.commands
    }

    /// Storage.
    pub fn engine(&self) -> &Engine {
        self.instance.engine()
    }

    /// Pages of a relation's file.
    pub fn blocks(&self, file: base::RelFile) -> SqlResult<u32> {
        self.engine().pool().nblocks(file, base::Fork::Main).map_err(|error| eval::error::heap(error.into()))
    }

    /// Tells the client as soon as the statement's output can take it, if `client_min_messages` wants it now.
    pub fn notice(&self, notice: SqlError) {
        self.log_notice(&notice);
        if self.wants(notice.report().severity) {
            self.notices.push(notice);
        }
    }

    /// Whether the client asked for messages of this severity. What it asked for by the statement itself it always gets.
    fn wants(&self, severity: Severity) -> bool {
        let least = match self.settings.borrow().text(Setting::client_min_messages) {
            "log" => Severity::Log,
            "notice" => Severity::Notice,
            "warning" => Severity::Warning,
            "error" => Severity::Error,
            _ => Severity::Debug,
        };
        severity == Severity::Info || severity >= least
    }

    /// Sends the notices kept.
    pub fn send_notices(&self, out: &mut dyn Output) {
        self.notices.send(out);
    }

    /// Notes what every statement looks at first. Of thousands of sessions none is in the processor's cache when its turn comes.
    pub fn note_lines(&self, lines: &mut base::Lines) {
        lines.add_bytes(self, std::mem::offset_of!(Session, info));
        lines.add(&*self.names);
        lines.add::<registry::Backend>(&*self.backend);
        if let Ok(format) = self.format.try_borrow() {
            lines.add(Rc::as_ptr(&format));
        }
        if let Ok(txn) = self.txn.try_borrow() {
            txn.note_lines(lines);
        }
        if let Ok(statements) = self.statements.try_borrow()
            && let Some(recent) = statements.recent()
        {
            recent.note_lines(lines);
        }
    }

    /// Who is connected.
    pub fn info(&self) -> &SessionInfo {
        &self.info
    }

    /// What the session shares with the others.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }
}

/// Number of the session for locks.
pub fn session_id(pid: i32) -> SessionId {
    SessionId(pid as u32)
}

/// Formats of a Bind message by the protocol's rule: none is all text, one is for all, else one each.
pub(crate) fn format_of(formats: &[Format], i: usize) -> SqlResult<Format> {
    match formats {
        [] => Ok(Format::Text),
        [one] => Ok(*one),
        many => many.get(i).copied().ok_or_else(|| {
            base::sql_err!(
                PROTOCOL_VIOLATION,
                "bind message has {} format codes for {} values",
                many.len(),
                i + 1
            )
        }),
    }
}
