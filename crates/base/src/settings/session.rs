//! What one session has set, with the ways back: RESET, the end of a transaction, the end of a savepoint.

use std::sync::Arc;

use super::server::{ServerSettings, Source};
use super::{
    ALL, Context, Kind, Module, Setting, Value, Watch, check_custom_name, checks, is_custom_name,
    unrecognized,
};
use crate::{Encoding, SqlResult, sql_err};

/// Who wants to change a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// An ordinary role.
    User,
    /// A superuser.
    Superuser,
}

/// What a value is kept under: a known setting, or an extension's by its lower-case name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Known(Setting),
    Custom(String),
}

/// How a level of a transaction came to its value.
#[derive(Clone, Debug)]
enum Change {
    /// By SET: stays when the level commits.
    Set,
    /// By SET LOCAL: goes when the transaction commits.
    Local,
    /// By SET and then SET LOCAL: goes back to what SET had set.
    SetLocal(Option<Stored>),
}

#[derive(Clone, Debug, PartialEq)]
struct Stored {
    value: Value,
    source: Source,
}

/// One setting changed at one level of the transaction.
#[derive(Clone, Debug)]
struct Undo {
    level: u32,
    key: Key,
    /// The session's own value before; `None`: it had none.
    prior: Option<Stored>,
    change: Change,
}

/// Values that hot paths read, as plain fields, in their order in memory: what every statement looks at comes first.
#[derive(Clone, Debug, PartialEq)]
#[repr(C)]
#[allow(missing_docs)]
pub struct Fast {
    /// Milliseconds; 0: none.
    pub statement_timeout: i32,
    /// Milliseconds; 0: none.
    pub transaction_timeout: i32,
    /// Milliseconds; 0: none.
    pub idle_in_transaction_session_timeout: i32,
    /// Milliseconds; 0: none.
    pub idle_session_timeout: i32,
    /// Milliseconds; 0: never.
    pub client_connection_check_interval: i32,
    /// Milliseconds; -1: never.
    pub log_min_duration_statement: i32,
    /// Milliseconds; -1: never.
    pub log_min_duration_sample: i32,
    /// Bytes.
    pub work_mem: u64,
    /// Kilobytes.
    pub max_stack_depth: u32,
    /// Changes whenever a planner setting does: cached plans are keyed by it.
    pub planner_version: u32,
    /// Changes whenever `search_path` does: cached name look-ups are keyed by it.
    pub search_path_version: u32,
    /// Changes whenever a setting does that texts are read or values are written by (`DateStyle`, `TimeZone`, `IntervalStyle`, ...).
    pub format_version: u32,
    /// What commits wait for.
    pub synchronous_commit: SyncCommit,
    /// Whether large values are compressed by pglz, not lz4, if their column does not say.
    pub compresses_by_pglz: bool,
    /// Whether `default_transaction_isolation` is READ COMMITTED, and the session was not begun on a standby.
    pub default_read_committed: bool,
    /// The session was begun on a standby, which may be one still; of no setting.
    pub on_standby: bool,
    pub default_read_only: bool,
    pub default_deferrable: bool,
    /// `track_io_timing`
    pub track_io_timing: bool,
    /// `track_counts`
    pub track_counts: bool,
    /// `quote_all_identifiers`
    pub quote_all_identifiers: bool,
    /// Whether `temp_tablespaces` names any.
    pub names_temp_tablespaces: bool,
    /// `track_wal_io_timing`
    pub track_wal_io_timing: bool,
    /// `pg_trgm.similarity_threshold`, `word_similarity_threshold`, `strict_word_similarity_threshold`; none: none of them was touched.
    pub alike: Option<[f32; 3]>,
    /// `hnsw.ef_search`, `hnsw.iterative_scan` as a number, `hnsw.max_scan_tuples`, `ivfflat.probes`, `ivfflat.iterative_scan` as a number, `ivfflat.max_probes`; 0: as by default.
    pub nearest: [u32; 6],
    /// `effective_io_concurrency`, `maintenance_io_concurrency`, `io_combine_limit`.
    pub read_ahead: [u16; 3],
    /// `hnsw.scan_mem_multiplier`
    pub hnsw_scan_mem_multiplier: f64,
    /// `plan_cache_mode`
    pub plan_cache_mode: PlanCacheMode,
    pub log_duration: bool,
    /// Whether statements of some transactions are logged (`log_transaction_sample_rate`).
    pub samples_transactions: bool,
    /// Whether any statement is logged for what it is (`log_statement`).
    pub logs_statements: bool,
    /// `track_functions`
    pub track_functions: TrackFunctions,
    /// What the client's texts are encoded in.
    pub client_encoding: Encoding,
    /// The encoding of the session's database: `UTF8` or `SQL_ASCII`.
    pub server_encoding: Encoding,
    /// Number of the rules of the database's collation; of no setting.
    pub default_rules: u32,
    /// Whether settings that live in the running fiber are not what a new fiber has.
    pub tells_fibers: bool,
    /// Whether bytea is written in hexadecimal.
    pub bytea_hex: bool,
    pub extra_float_digits: i32,
    /// Changes whenever `role` or `session_authorization` does.
    pub identity_version: u32,
    /// Milliseconds; 0: none.
    pub lock_timeout: i32,
    /// Milliseconds.
    pub deadlock_timeout: i32,
    /// Bytes.
    pub maintenance_work_mem: u64,
    /// Bytes.
    pub gin_pending_list_limit: u64,
    /// Rows; 0: any number.
    pub gin_fuzzy_search_limit: u32,
    pub hash_mem_multiplier: f64,
    /// Bytes of each hash table: `work_mem` times `hash_mem_multiplier`.
    pub hash_mem: u64,
    /// Kilobytes; -1: none.
    pub temp_file_limit: i32,
    /// Kilobytes; -1: no file is told of.
    pub log_temp_files: i32,
    /// What is watched of statements that run.
    pub watch: Watch,
    /// Changes whenever a `tcp_` setting does.
    pub socket_version: u32,
}

/// How long a client and its statements may take, in milliseconds; 0: as long as they like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// `statement_timeout`
    pub statement: i32,
    /// `transaction_timeout`
    pub transaction: i32,
    /// `idle_in_transaction_session_timeout`
    pub idle_in_transaction: i32,
    /// `idle_session_timeout`
    pub idle_session: i32,
    /// `client_connection_check_interval`; 0: never.
    pub client_check: i32,
}

impl Timeouts {
    /// Whether any clock is to run while a statement does.
    #[inline]
    pub fn watch_statements(&self) -> bool {
        self.statement | self.transaction | self.client_check != 0
    }
}

impl Fast {
    /// Whether any statement is logged, for what it is or for its duration.
    #[inline]
    pub fn logs_any(&self) -> bool {
        self.logs_statements
            | self.log_duration
            | self.samples_transactions
            | (self.log_min_duration_statement >= 0)
            | (self.log_min_duration_sample >= 0)
    }

    /// The times that the server watches over.
    pub fn timeouts(&self) -> Timeouts {
        Timeouts {
            statement: self.statement_timeout,
            transaction: self.transaction_timeout,
            idle_in_transaction: self.idle_in_transaction_session_timeout,
            idle_session: self.idle_session_timeout,
            client_check: self.client_connection_check_interval,
        }
    }
}

/// `track_functions`: calls of which functions are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrackFunctions {
    /// Of none.
    #[default]
    None,
    /// Of those in procedural languages.
    Procedural,
    /// Of SQL functions too.
    All,
}

/// `synchronous_commit`: what a commit waits for before its client hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncCommit {
    /// Nothing.
    Off,
    /// Its record is durable here.
    Local,
    /// And standbys have written it.
    RemoteWrite,
    /// And standbys have flushed it.
    On,
    /// And standbys have applied it.
    RemoteApply,
}

/// `plan_cache_mode`: which plans statements with parameters run by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanCacheMode {
    /// The cheaper ones.
    #[default]
    Auto,
    /// Those that are made once, without the parameters' values.
    ForceGeneric,
    /// Those that are made for the values.
    ForceCustom,
}

impl Default for Fast {
    fn default() -> Fast {
        Fast {
            statement_timeout: 0,
            lock_timeout: 0,
            transaction_timeout: 0,
            idle_in_transaction_session_timeout: 0,
            idle_session_timeout: 0,
            client_connection_check_interval: 0,
            deadlock_timeout: 1000,
            work_mem: 4 << 20,
            max_stack_depth: 2048,
            maintenance_work_mem: 64 << 20,
            gin_pending_list_limit: 4 << 20,
            gin_fuzzy_search_limit: 0,
            hash_mem_multiplier: 2.0,
            hash_mem: 8 << 20,
            temp_file_limit: -1,
            log_temp_files: -1,
            watch: Watch::default(),
            extra_float_digits: 1,
            bytea_hex: true,
            synchronous_commit: SyncCommit::On,
            compresses_by_pglz: false,
            client_encoding: Encoding::Utf8,
            server_encoding: Encoding::Utf8,
            default_rules: 0,
            tells_fibers: false,
            default_read_committed: true,
            on_standby: false,
            default_read_only: false,
            default_deferrable: false,
            track_io_timing: false,
            track_counts: true,
            quote_all_identifiers: false,
            names_temp_tablespaces: false,
            track_wal_io_timing: false,
            alike: None,
            nearest: [0; 6],
            read_ahead: Fast::READ_AHEAD,
            hnsw_scan_mem_multiplier: 1.0,
            track_functions: TrackFunctions::None,
            plan_cache_mode: PlanCacheMode::Auto,
            log_duration: false,
            log_min_duration_statement: -1,
            log_min_duration_sample: -1,
            samples_transactions: false,
            logs_statements: false,
            search_path_version: 0,
            identity_version: 0,
            planner_version: 0,
            format_version: 0,
            socket_version: 0,
        }
    }
}

impl Fast {
    /// Takes over a value (invariant 4).
    pub(super) fn apply(&mut self, setting: Setting, value: &Value) {
        let kb = |value: &Value| (i64::from(value.as_int()).max(0) as u64) << 10;
        self.watch.apply(setting, value);
        match setting {
            Setting::statement_timeout => self.statement_timeout = value.as_int(),
            Setting::lock_timeout => self.lock_timeout = value.as_int(),
            Setting::transaction_timeout => self.transaction_timeout = value.as_int(),
            Setting::idle_in_transaction_session_timeout => {
                self.idle_in_transaction_session_timeout = value.as_int();
            }
            Setting::idle_session_timeout => self.idle_session_timeout = value.as_int(),
            Setting::client_connection_check_interval => {
                self.client_connection_check_interval = value.as_int();
            }
            Setting::deadlock_timeout => self.deadlock_timeout = value.as_int(),
            Setting::work_mem => self.work_mem = kb(value),
            Setting::max_stack_depth => self.max_stack_depth = value.as_int().unsigned_abs(),
            Setting::maintenance_work_mem => self.maintenance_work_mem = kb(value),
            Setting::gin_pending_list_limit => self.gin_pending_list_limit = kb(value),
            Setting::gin_fuzzy_search_limit => self.gin_fuzzy_search_limit = value.as_int().max(0) as u32,
            Setting::temp_file_limit => self.temp_file_limit = value.as_int(),
            Setting::log_temp_files => self.log_temp_files = value.as_int(),
            Setting::hash_mem_multiplier => self.hash_mem_multiplier = value.as_real(),
            Setting::extra_float_digits => self.extra_float_digits = value.as_int(),
            Setting::bytea_output => self.bytea_hex = value.as_text() == "hex",
            Setting::default_toast_compression => self.compresses_by_pglz = value.as_text() == "pglz",
            Setting::synchronous_commit => {
                self.synchronous_commit = match value.as_text() {
                    "off" => SyncCommit::Off,
                    "local" => SyncCommit::Local,
                    "remote_write" => SyncCommit::RemoteWrite,
                    "remote_apply" => SyncCommit::RemoteApply,
                    _ => SyncCommit::On,
                };
            }
            Setting::plan_cache_mode => {
                self.plan_cache_mode = match value.as_text() {
                    "force_generic_plan" => PlanCacheMode::ForceGeneric,
                    "force_custom_plan" => PlanCacheMode::ForceCustom,
                    _ => PlanCacheMode::Auto,
                };
            }
            Setting::default_transaction_isolation => {
                self.default_read_committed = value.as_text() == "read committed" && !self.on_standby;
            }
            Setting::default_transaction_read_only => self.default_read_only = value.as_bool(),
            Setting::default_transaction_deferrable => self.default_deferrable = value.as_bool(),
            Setting::track_io_timing => self.track_io_timing = value.as_bool(),
            Setting::track_counts => self.track_counts = value.as_bool(),
            Setting::track_wal_io_timing => self.track_wal_io_timing = value.as_bool(),
            Setting::quote_all_identifiers => self.quote_all_identifiers = value.as_bool(),
            Setting::temp_tablespaces => self.names_temp_tablespaces = !value.as_text().is_empty(),
            Setting::hnsw_ef_search => self.nearest[0] = unusual(setting, value),
            Setting::hnsw_iterative_scan => {
                self.nearest[1] = match value.as_text() {
                    "relaxed_order" => 1,
                    "strict_order" => 2,
                    _ => 0,
                };
            }
            Setting::hnsw_max_scan_tuples => self.nearest[2] = unusual(setting, value),
            Setting::hnsw_scan_mem_multiplier => self.hnsw_scan_mem_multiplier = value.as_real(),
            Setting::ivfflat_probes => self.nearest[3] = unusual(setting, value),
            Setting::ivfflat_iterative_scan => self.nearest[4] = u32::from(value.as_text() != "off"),
            Setting::ivfflat_max_probes => self.nearest[5] = unusual(setting, value),
            Setting::effective_io_concurrency => self.read_ahead[0] = value.as_int() as u16,
            Setting::maintenance_io_concurrency => self.read_ahead[1] = value.as_int() as u16,
            Setting::io_combine_limit => self.read_ahead[2] = value.as_int() as u16,
            Setting::pg_trgm_similarity_threshold => self.set_alike(0, value),
            Setting::pg_trgm_word_similarity_threshold => self.set_alike(1, value),
            Setting::pg_trgm_strict_word_similarity_threshold => self.set_alike(2, value),
            Setting::track_functions => {
                self.track_functions = match value.as_text() {
                    "pl" => TrackFunctions::Procedural,
                    "all" => TrackFunctions::All,
                    _ => TrackFunctions::None,
                };
            }
            Setting::log_duration => self.log_duration = value.as_bool(),
            Setting::log_min_duration_statement => self.log_min_duration_statement = value.as_int(),
            Setting::log_min_duration_sample => self.log_min_duration_sample = value.as_int(),
            Setting::log_transaction_sample_rate => self.samples_transactions = value.as_real() > 0.0,
            Setting::log_statement => self.logs_statements = value.as_text() != "none",
            Setting::role | Setting::session_authorization => {
                self.identity_version = self.identity_version.wrapping_add(1);
            }
            Setting::search_path => self.search_path_version = self.search_path_version.wrapping_add(1),
            Setting::client_encoding => {
                self.client_encoding = Encoding::find(value.as_text()).unwrap_or_default();
            }
            Setting::server_encoding => {
                self.server_encoding = Encoding::find(value.as_text()).unwrap_or_default();
            }
            Setting::tcp_keepalives_idle
            | Setting::tcp_keepalives_interval
            | Setting::tcp_keepalives_count
            | Setting::tcp_user_timeout => self.socket_version = self.socket_version.wrapping_add(1),
            _ => {}
        }
        match setting {
            Setting::DateStyle
            | Setting::IntervalStyle
            | Setting::TimeZone
            | Setting::array_nulls
            | Setting::bytea_output
            | Setting::extra_float_digits
            | Setting::transform_null_equals
            | Setting::xmlbinary
            | Setting::xmloption
            | Setting::timezone_abbreviations
            | Setting::backslash_quote
            | Setting::client_encoding => self.format_version = self.format_version.wrapping_add(1),
            _ => {}
        }
        match setting {
            // It chooses among plans and changes none.
            Setting::plan_cache_mode => {}
            _ if setting.definition().shapes_plans() => {
                self.planner_version = self.planner_version.wrapping_add(1);
            }
            _ => {}
        }
        self.hash_mem = (self.work_mem as f64 * self.hash_mem_multiplier) as u64;
        self.tells_fibers = self.quote_all_identifiers
            || self.track_wal_io_timing
            || self.server_encoding != Encoding::Utf8
            || self.alike.is_some()
            || self.nearest != [0; 6]
            || self.read_ahead != Fast::READ_AHEAD;
    }
}

impl Fast {
    /// [`Fast::read_ahead`] by default.
    pub const READ_AHEAD: [u16; 3] = [16; 3];

    /// The `n`th of [`Fast::alike`] is this from now on.
    fn set_alike(&mut self, n: usize, value: &Value) {
        const DEFAULTS: [f32; 3] = [0.3, 0.6, 0.5];
        let mut all = self.alike.unwrap_or(DEFAULTS);
        let limit = value.as_real() as f32;
        // The least that is not below the setting, so that a similarity reaches the one if it reaches the other.
        all[n] = if f64::from(limit) < value.as_real() { limit.next_up() } else { limit };
        self.alike = (self.alike.is_some() || all != DEFAULTS).then_some(all);
    }
}

/// A row of `pg_settings`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct SettingRow {
    pub name: String,
    pub setting: String,
    pub unit: Option<&'static str>,
    pub category: &'static str,
    pub short_desc: &'static str,
    pub extra_desc: Option<String>,
    pub context: &'static str,
    pub vartype: &'static str,
    pub source: &'static str,
    pub min_val: Option<String>,
    pub max_val: Option<String>,
    pub enumvals: Option<&'static [&'static str]>,
    pub boot_val: Option<String>,
    pub reset_val: Option<String>,
    pub sourcefile: Option<String>,
    pub sourceline: Option<u32>,
    pub pending_restart: bool,
}

/// The settings of one session. In the order of its fields in memory: what every statement looks at comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct SessionSettings {
    undo: Vec<Undo>,
    /// Reported settings that changed since the client was last told.
    changed: Vec<Setting>,
    fast: Fast,
    server: Arc<ServerSettings>,
    /// What RESET goes back to where it is not the server's value: of database, role and start-up packet.
    defaults: Vec<(Setting, Stored)>,
    /// What was set since.
    current: Vec<(Setting, Stored)>,
    /// Settings of extensions. Who is once named here stays known to the session, though what was set is undone.
    custom: Vec<Custom>,
}

/// A setting of an extension, by its name in lower case.
#[derive(Clone, Debug)]
struct Custom {
    name: String,
    /// What RESET goes back to, if database, role or start-up packet have a value.
    default: Option<(String, Source)>,
    /// What was set since.
    own: Option<String>,
}

/// A number, or 0 if it is the default.
fn unusual(setting: Setting, value: &Value) -> u32 {
    if *value == setting.definition().default_value() { 0 } else { value.as_int().unsigned_abs() }
}

fn find(list: &[(Setting, Stored)], setting: Setting) -> Option<&Stored> {
    list.iter().find(|(known, _)| *known == setting).map(|(_, stored)| stored)
}

impl SessionSettings {
    /// The server's values.
    pub fn new(server: Arc<ServerSettings>) -> SessionSettings {
        let fast = server.fast.clone();
        let (defaults, current, custom) = Default::default();
        SessionSettings { server, defaults, current, custom, undo: Vec::new(), fast, changed: Vec::new() }
    }

    /// Values for hot paths.
    #[inline]
    pub fn fast(&self) -> &Fast {
        &self.fast
    }

    /// Notes what the database's collation does.
    pub fn set_default_rules(&mut self, number: u32) {
        self.fast.default_rules = number;
    }

    /// The session is on a standby from now on, or on one no longer.
    pub fn set_on_standby(&mut self, on_standby: bool) {
        self.fast.on_standby = on_standby;
        self.fast.default_read_committed =
            self.get(Setting::default_transaction_isolation).as_text() == "read committed" && !on_standby;
        self.set_internal(Setting::in_hot_standby, Value::Bool(on_standby));
    }

    /// LOAD of a module that has settings.
    pub fn load(&mut self, module: Module) {
        self.fast.watch.load(module);
    }

    /// The server's values underneath.
    pub fn server(&self) -> &Arc<ServerSettings> {
        &self.server
    }

    /// The settings by which a plan of this session may differ from those of others, as text: equal texts, equal plans.
    pub fn planner_settings(&self) -> String {
        let set = self.current.iter().chain(&self.defaults).map(|(setting, _)| *setting);
        let mut own: Vec<Setting> = set.filter(|setting| setting.definition().shapes_plans()).collect();
        own.sort_unstable_by_key(|setting| *setting as usize);
        own.dedup();
        own.retain(|setting| self.get(*setting) != self.server.get(*setting));
        let mut text = self.server.fast.planner_version.to_string();
        for setting in own {
            let value = self.get(setting).show(setting.definition());
            text.extend([" ", setting.name(), "=", &value]);
        }
        text
    }

    /// The value that counts now.
    pub fn get(&self, setting: Setting) -> &Value {
        match find(&self.current, setting).or_else(|| find(&self.defaults, setting)) {
            Some(stored) => &stored.value,
            None => self.server.get(setting),
        }
    }

    /// Its text.
    pub fn text(&self, setting: Setting) -> &str {
        self.get(setting).as_text()
    }

    /// As SHOW has it, by name; an error if nobody has named the setting of an extension in this session.
    pub fn show(&self, name: &str) -> SqlResult<String> {
        if let Some(setting) = Setting::find(name) {
            return Ok(self.get(setting).show(setting.definition()));
        }
        self.custom_value(name).map(str::to_string).ok_or_else(|| unrecognized(name))
    }

    fn custom_value(&self, name: &str) -> Option<&str> {
        let known = self.custom.iter().find(|custom| custom.name.eq_ignore_ascii_case(name));
        let own = known.and_then(|custom| {
            let default = custom.default.as_ref().map(|(text, _)| text);
            custom.own.as_ref().or(default).map(String::as_str)
        });
        own.or_else(|| self.server.custom(name)).or(known.map(|_| ""))
    }

    /// A value from database, role or start-up packet: what RESET goes back to. `who` matters for the start-up packet.
    pub fn set_default(&mut self, name: &str, text: &str, source: Source, who: Who) -> SqlResult<()> {
        let Some(setting) = Setting::find(name) else { return self.set_custom_default(name, text, source) };
        let allowed = match setting.definition().context {
            Context::Internal | Context::Postmaster | Context::Sighup => false,
            Context::SuperuserBackend | Context::Superuser => who == Who::Superuser,
            Context::Backend | Context::User => true,
        };
        if !allowed {
            return Err(refused(setting));
        }
        let value = checks::parse(setting, text, self.get(setting))?;
        if find(&self.defaults, setting).is_some_and(|old| old.source > source) {
            return Ok(());
        }
        self.defaults.retain(|(known, _)| *known != setting);
        self.fast.apply(setting, &value);
        self.defaults.push((setting, Stored { value, source }));
        Ok(())
    }

    /// SET or SET LOCAL at this level of the transaction (1 is the top, 0 outside). `None` is DEFAULT: what RESET does.
    pub fn set(
        &mut self,
        name: &str,
        text: Option<&str>,
        local: bool,
        level: u32,
        who: Who,
    ) -> SqlResult<()> {
        let Some(setting) = Setting::find(name) else { return self.set_custom(name, text, local, level) };
        match setting.definition().context {
            Context::User => {}
            Context::Superuser if who == Who::Superuser => {}
            _ => return Err(refused(setting)),
        }
        if text.is_none() && setting.definition().no_reset {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "parameter \"{}\" cannot be reset", setting.name()));
        }
        let stored = match text {
            None => None,
            Some(text) => {
                let value = checks::parse(setting, text, self.get(setting))?;
                Some(Stored { value, source: Source::Session })
            }
        };
        self.remember(Key::Known(setting), local, level);
        self.store(setting, stored);
        Ok(())
    }

    /// Fails if somebody may not have a value stored for sessions to come, or take it away (`None`).
    pub fn check_stored(&self, name: &str, text: Option<&str>, who: Who) -> SqlResult<()> {
        let Some(setting) = Setting::find(name) else {
            return self.check_custom_name(name);
        };
        match setting.definition().context {
            Context::Backend | Context::User => {}
            Context::SuperuserBackend | Context::Superuser if who == Who::Superuser => {}
            Context::SuperuserBackend | Context::Superuser => {
                let name = setting.name();
                return Err(sql_err!(
                    INSUFFICIENT_PRIVILEGE,
                    "permission denied to set parameter \"{name}\""
                ));
            }
            _ => return Err(refused(setting)),
        }
        match text {
            Some(text) => checks::parse(setting, text, self.get(setting)).map(drop),
            None => Ok(()),
        }
    }

    /// Reads a value for a setting without setting it.
    pub fn check(&self, setting: Setting, text: &str) -> SqlResult<Value> {
        checks::parse(setting, text, self.get(setting))
    }

    /// Sets a value that the session itself derived, as `transaction_isolation` or `is_superuser`: no rights are asked, and
    /// the caller knows when it ends.
    pub fn set_internal(&mut self, setting: Setting, value: Value) {
        self.store(setting, Some(Stored { value, source: Source::Override }));
    }

    /// Goes back to the default of a value that [`SessionSettings::set_internal`] set.
    pub fn clear_internal(&mut self, setting: Setting) {
        self.store(setting, None);
    }

    /// RESET ALL.
    pub fn reset_all(&mut self, level: u32) {
        let all: Vec<Setting> = self.current.iter().map(|(setting, _)| *setting).collect();
        for setting in all {
            let definition = setting.definition();
            if !definition.no_reset && !definition.is_hidden && definition.context >= Context::Superuser {
                self.remember(Key::Known(setting), false, level);
                self.store(setting, None);
            }
        }
        let set = self.custom.iter().filter(|custom| custom.own.is_some());
        let names: Vec<String> = set.map(|custom| custom.name.clone()).collect();
        for name in names {
            self.remember(Key::Custom(name.clone()), false, level);
            self.custom(&name).own = None;
        }
    }

    fn set_custom(&mut self, name: &str, text: Option<&str>, local: bool, level: u32) -> SqlResult<()> {
        let name = self.custom_name(name)?;
        self.remember(Key::Custom(name.clone()), local, level);
        self.custom(&name).own = text.map(str::to_string);
        Ok(())
    }

    fn set_custom_default(&mut self, name: &str, text: &str, source: Source) -> SqlResult<()> {
        let name = self.custom_name(name)?;
        let custom = self.custom(&name);
        if custom.default.as_ref().is_none_or(|(_, known)| *known <= source) {
            custom.default = Some((text.to_string(), source));
        }
        Ok(())
    }

    /// Fails unless the name may be that of an extension's setting.
    pub fn check_custom_name(&self, name: &str) -> SqlResult<()> {
        self.custom_name(name).map(drop)
    }

    /// The name of an extension's setting, in lower case.
    fn custom_name(&self, name: &str) -> SqlResult<String> {
        if !is_custom_name(name) {
            return Err(unrecognized(name));
        }
        check_custom_name(name, &self.fast.watch)?;
        Ok(name.to_ascii_lowercase())
    }

    /// The setting of an extension, known from now on.
    fn custom(&mut self, name: &str) -> &mut Custom {
        let at = self.custom.iter().position(|custom| custom.name == name).unwrap_or_else(|| {
            self.custom.push(Custom { name: name.to_string(), default: None, own: None });
            self.custom.len() - 1
        });
        &mut self.custom[at]
    }

    fn store(&mut self, setting: Setting, stored: Option<Stored>) {
        let before = self.get(setting).clone();
        self.current.retain(|(known, _)| *known != setting);
        if let Some(stored) = stored {
            self.current.push((setting, stored));
        }
        let now = self.get(setting).clone();
        if now != before {
            self.fast.apply(setting, &now);
            if setting.definition().is_reported && !self.changed.contains(&setting) {
                self.changed.push(setting);
            }
        }
    }

    /// The session's own value, in the form that undo keeps.
    fn own(&self, key: &Key) -> Option<Stored> {
        match key {
            Key::Known(setting) => find(&self.current, *setting).cloned(),
            Key::Custom(name) => {
                let text = self.custom.iter().find(|custom| custom.name == *name)?.own.as_deref()?;
                Some(Stored { value: Value::Text(text.into()), source: Source::Session })
            }
        }
    }

    fn restore(&mut self, key: &Key, stored: Option<Stored>) {
        match key {
            Key::Known(setting) => self.store(*setting, stored),
            Key::Custom(name) => self.custom(name).own = stored.map(|s| s.value.as_text().to_string()),
        }
    }

    /// Notes what a change at this level overwrites.
    fn remember(&mut self, key: Key, local: bool, level: u32) {
        if level == 0 {
            return;
        }
        let prior = self.own(&key);
        match self.undo.iter_mut().rev().find(|undo| undo.level == level && undo.key == key) {
            Some(undo) if !local => undo.change = Change::Set,
            Some(undo) => {
                if matches!(undo.change, Change::Set) {
                    undo.change = Change::SetLocal(prior);
                }
            }
            None => {
                let change = if local { Change::Local } else { Change::Set };
                self.undo.push(Undo { level, key, prior, change });
            }
        }
    }

    /// Goes back to what was set when this copy of them was made, in the same level of the same transaction. Defaults stay as they are.
    pub fn go_back(&mut self, before: SessionSettings) {
        let touched = self.current.iter().chain(&before.current).map(|(setting, _)| *setting);
        for setting in touched.collect::<Vec<_>>() {
            self.store(setting, find(&before.current, setting).cloned());
        }
        for custom in &mut self.custom {
            let known = before.custom.iter().find(|known| known.name == custom.name);
            custom.own = known.and_then(|known| known.own.clone());
        }
        self.undo = before.undo;
    }

    /// The end of the transaction. Returns whether it had set anything.
    #[inline]
    pub fn end_transaction(&mut self, committed: bool) -> bool {
        let changed = !self.undo.is_empty();
        while let Some(undo) = self.undo.pop() {
            match undo.change {
                _ if !committed => self.restore(&undo.key, undo.prior),
                Change::Set => {}
                Change::Local => self.restore(&undo.key, undo.prior),
                Change::SetLocal(masked) => self.restore(&undo.key, masked),
            }
        }
        changed
    }

    /// The end of a savepoint's level (2 is the first): released into the one above, or rolled back.
    pub fn end_subtransaction(&mut self, level: u32, committed: bool) {
        let at = self.undo.iter().position(|undo| undo.level >= level).unwrap_or(self.undo.len());
        let ended = self.undo.split_off(at);
        if !committed {
            for undo in ended.into_iter().rev() {
                self.restore(&undo.key, undo.prior);
            }
            return;
        }
        for mut undo in ended {
            let above = self.undo.iter_mut().find(|above| above.level == level - 1 && above.key == undo.key);
            let Some(above) = above else {
                undo.level = level - 1;
                self.undo.push(undo);
                continue;
            };
            match undo.change {
                Change::Set => above.change = Change::Set,
                Change::Local => {
                    if matches!(above.change, Change::Set) {
                        above.change = Change::SetLocal(undo.prior);
                    }
                }
                Change::SetLocal(masked) => above.change = Change::SetLocal(masked),
            }
        }
    }

    /// The server's values after a reload.
    pub fn rebase(&mut self, server: Arc<ServerSettings>) {
        for setting in ALL {
            let before = self.get(*setting).clone();
            let shown = find(&self.current, *setting).is_some() || find(&self.defaults, *setting).is_some();
            if !shown && before != *server.get(*setting) {
                self.fast.apply(*setting, server.get(*setting));
                if setting.definition().is_reported {
                    self.changed.push(*setting);
                }
            }
        }
        self.server = server;
    }

    /// Whether reported settings have changed since [`take_changed`](Self::take_changed) was last called.
    pub fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Reported settings that changed since the last call, with their values: for ParameterStatus.
    pub fn take_changed(&mut self) -> Vec<(&'static str, String)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|s| (s.name(), self.get(s).show(s.definition()))).collect()
    }

    /// All reported settings: what a client is told when it connects.
    pub fn reported(&self) -> Vec<(&'static str, String)> {
        let reported = ALL.iter().filter(|s| s.definition().is_reported);
        reported.map(|s| (s.name(), self.get(*s).show(s.definition()))).collect()
    }

    /// The rows of `pg_settings`, by name; settings of extensions, which nobody defines, are not among them.
    pub fn rows(&self) -> Vec<SettingRow> {
        let loaded =
            |s: &Setting| s.definition().module.is_none_or(|module| self.fast.watch.is_loaded(module));
        let visible = ALL.iter().filter(|s| !s.definition().is_hidden && loaded(s));
        let mut rows: Vec<SettingRow> = visible.map(|s| self.row(*s)).collect();
        rows.sort_by_key(|row| row.name.to_ascii_lowercase());
        rows
    }

    /// Settings that influence plans and are not as built in, by name: what EXPLAIN (SETTINGS) shows.
    pub fn explained(&self) -> Vec<(&'static str, String)> {
        let changed = |s: &&Setting| {
            let definition = s.definition();
            definition.in_explain && self.get(**s).raw(definition) != definition.boot_value()
        };
        let mut list: Vec<_> =
            ALL.iter().filter(changed).map(|s| (s.name(), self.get(*s).show(s.definition()))).collect();
        list.sort_unstable();
        list
    }

    fn row(&self, setting: Setting) -> SettingRow {
        let definition = setting.definition();
        let entry = &self.server.entries[setting as usize];
        let default = find(&self.defaults, setting);
        let own = find(&self.current, setting).or(default);
        let (min_val, max_val) = match definition.kind {
            Kind::Int { min, max, .. } => (Some(min.to_string()), Some(max.to_string())),
            Kind::Real { min, max, .. } => {
                let text = |n: f64| Value::Real(n).raw(definition);
                (Some(text(min)), Some(text(max)))
            }
            _ => (None, None),
        };
        let options = definition.options();
        SettingRow {
            name: definition.name.to_string(),
            setting: self.get(setting).raw(definition),
            unit: definition.unit.as_str(),
            category: definition.category,
            short_desc: definition.description,
            extra_desc: definition.remark(),
            context: definition.context.as_str(),
            vartype: definition.kind.as_str(),
            source: own.map_or(entry.source, |stored| stored.source).as_str(),
            min_val,
            max_val,
            enumvals: (!options.is_empty()).then_some(options),
            boot_val: Some(definition.boot_value()),
            reset_val: Some(default.map_or(&entry.value, |stored| &stored.value).raw(definition)),
            sourcefile: entry.file.as_ref().filter(|_| own.is_none()).map(|(path, _)| path.to_string()),
            sourceline: entry.file.as_ref().filter(|_| own.is_none()).map(|(_, line)| *line),
            pending_restart: entry.pending_restart,
        }
    }
}

/// Why a setting cannot be changed now.
fn refused(setting: Setting) -> crate::SqlError {
    let name = setting.name();
    match setting.definition().context {
        Context::Internal => sql_err!(CANT_CHANGE_RUNTIME_PARAM, "parameter \"{name}\" cannot be changed"),
        Context::Postmaster => sql_err!(
            CANT_CHANGE_RUNTIME_PARAM,
            "parameter \"{name}\" cannot be changed without restarting the server"
        ),
        Context::Sighup => {
            sql_err!(CANT_CHANGE_RUNTIME_PARAM, "parameter \"{name}\" cannot be changed now")
        }
        Context::SuperuserBackend | Context::Backend => {
            sql_err!(CANT_CHANGE_RUNTIME_PARAM, "parameter \"{name}\" cannot be set after connection start")
        }
        Context::Superuser | Context::User => {
            sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to set parameter \"{name}\"")
        }
    }
}
