//! What statements ask of the server around the database: its configuration and its log.

use std::sync::Arc;

use base::SqlResult;

/// The server's side of `pg_reload_conf`, `pg_file_settings`, ALTER SYSTEM, `pg_rotate_logfile` and `pg_current_logfile`.
pub trait ServerControl: Send + Sync {
    /// Has the configuration read anew, soon.
    fn reload(&self);
    /// The lines of the configuration files, in order, as a reload would take them.
    fn file_settings(&self) -> Vec<FileSetting>;
    /// Changes `postgresql.auto.conf`, durably. What is to be set has been checked.
    fn alter_system(&self, change: AutoChange<'_>) -> SqlResult<()>;
    /// Begins a new log file, soon. False if no log files are written.
    fn rotate_log(&self) -> bool;
    /// The log file of a format (`None`: of the first one there is), if it is being written.
    fn log_file(&self, format: Option<&str>) -> Option<String>;
}

/// What ALTER SYSTEM does to `postgresql.auto.conf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoChange<'a> {
    /// Sets a setting, or takes it out.
    Setting(&'a str, Option<&'a str>),
    /// Takes out all.
    Clear,
}

/// A row of `pg_file_settings`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSetting {
    /// File that the line stands in.
    pub file: Arc<str>,
    /// Line, from 1; 0: the file as a whole.
    pub line: u32,
    /// Name and value; `None`: the line cannot be read.
    pub item: Option<(String, String)>,
    /// Whether a reload would take it.
    pub applied: bool,
    /// Why not, unless a later line is in the way.
    pub error: Option<String>,
}
