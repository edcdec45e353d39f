//! The error that a client sees: severity, SQLSTATE, message and PostgreSQL's optional fields.
//!
//! Storage layers have small enums of their own; they are turned into a [`SqlError`] once, at the SQL boundary.

use std::fmt;
use std::panic::Location;

use crate::sqlstate::SqlState;

/// What became of the statement (or session, or server) that met the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Detail for developers.
    Debug,
    /// Server log only.
    Log,
    /// Asked for by the user, as VACUUM VERBOSE.
    Info,
    /// Worth knowing.
    Notice,
    /// Likely a mistake.
    Warning,
    /// The statement is undone.
    Error,
    /// The session ends.
    Fatal,
    /// The server stops and recovers from WAL.
    Panic,
}

impl Severity {
    /// The word of PostgreSQL's protocol and log.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Debug => "DEBUG",
            Severity::Log => "LOG",
            Severity::Info => "INFO",
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
            Severity::Panic => "PANIC",
        }
    }
}

/// The fields of a report, as ErrorResponse and NoticeResponse carry them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What became of the statement.
    pub severity: Severity,
    /// Five-character condition code.
    pub code: SqlState,
    /// Primary message: lower case, no full stop.
    pub message: String,
    /// Full sentences that say more.
    pub detail: Option<String>,
    /// Full sentences that say what to do.
    pub hint: Option<String>,
    /// 1-based character position in the statement's text.
    pub position: Option<u32>,
    /// As [`position`](Report::position), in [`internal_query`](Report::internal_query).
    pub internal_position: Option<u32>,
    /// Text of a statement that the server ran for the client's statement, where the error is in that one.
    pub internal_query: Option<String>,
    /// Lines of context, innermost first (`COPY t, line 3`).
    pub context: Option<String>,
    /// Schema of the object concerned.
    pub schema: Option<String>,
    /// Table concerned.
    pub table: Option<String>,
    /// Column concerned.
    pub column: Option<String>,
    /// Data type concerned.
    pub data_type: Option<String>,
    /// Constraint violated.
    pub constraint: Option<String>,
    /// Name of the routine of PostgreSQL that raises this report, where clients are known to decide by it.
    pub routine: Option<&'static str>,
    /// Where in our source it was made.
    pub origin: Origin,
}

/// A place in the source. All places are equal: where two reports were made does not tell them apart.
#[derive(Clone, Copy, Debug)]
pub struct Origin(pub &'static Location<'static>);

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Eq for Origin {}

/// Importance for the log, in the order of `log_min_messages`: LOG stands above ERROR.
pub fn log_rank(severity: Severity) -> u8 {
    match severity {
        Severity::Debug => 0,
        Severity::Info => 1,
        Severity::Notice => 2,
        Severity::Warning => 3,
        Severity::Error => 4,
        Severity::Log => 5,
        Severity::Fatal => 6,
        Severity::Panic => 7,
    }
}

/// As [`log_rank`], of a value of `log_min_messages` or `log_min_error_statement`.
pub fn log_rank_of_word(word: &str) -> u8 {
    match word {
        "info" => 1,
        "notice" => 2,
        "warning" => 3,
        "error" => 4,
        "log" => 5,
        "fatal" => 6,
        "panic" => 7,
        _ => 0,
    }
}

/// An error or notice on its way to the client. One word wide, so that `Result`s on the hot path stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError(Box<Report>);

/// Result of everything above storage.
pub type SqlResult<T> = Result<T, SqlError>;

impl SqlError {
    /// An ERROR with this code and message.
    // Cold, as the others: what leads here lies apart from what usually runs.
    #[cold]
    #[track_caller]
    pub fn new(code: SqlState, message: impl Into<String>) -> SqlError {
        SqlError::with_severity(Severity::Error, code, message)
    }

    /// A report of any severity.
    #[cold]
    #[track_caller]
    pub fn with_severity(severity: Severity, code: SqlState, message: impl Into<String>) -> SqlError {
        SqlError(Box::new(Report {
            severity,
            code,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            internal_position: None,
            internal_query: None,
            context: None,
            schema: None,
            table: None,
            column: None,
            data_type: None,
            constraint: None,
            routine: None,
            origin: Origin(Location::caller()),
        }))
    }

    /// A FATAL error: the session ends after it.
    #[cold]
    #[track_caller]
    pub fn fatal(code: SqlState, message: impl Into<String>) -> SqlError {
        SqlError::with_severity(Severity::Fatal, code, message)
    }

    /// `feature_not_supported`, naming what is missing.
    #[cold]
    #[track_caller]
    pub fn not_supported(what: impl fmt::Display) -> SqlError {
        SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("{what} is not supported yet"))
    }

    /// A broken invariant of ours: reported, never a crash.
    #[cold]
    #[track_caller]
    pub fn internal(message: impl Into<String>) -> SqlError {
        SqlError::new(SqlState::INTERNAL_ERROR, message)
    }

    /// Adds the DETAIL field.
    pub fn detail(mut self, text: impl Into<String>) -> SqlError {
        self.0.detail = Some(text.into());
        self
    }

    /// Adds the HINT field.
    pub fn hint(mut self, text: impl Into<String>) -> SqlError {
        self.0.hint = Some(text.into());
        self
    }

    /// Sets the 1-based character position in the statement.
    pub fn at(mut self, position: u32) -> SqlError {
        self.0.position = Some(position);
        self
    }

    /// Appends a line of context, outermost last.
    pub fn context(mut self, line: impl Into<String>) -> SqlError {
        let line = line.into();
        match &mut self.0.context {
            Some(text) => {
                text.push('\n');
                text.push_str(&line);
            }
            none => *none = Some(line),
        }
        self
    }

    /// Names the table concerned.
    pub fn table(mut self, schema: impl Into<String>, table: impl Into<String>) -> SqlError {
        self.0.schema = Some(schema.into());
        self.0.table = Some(table.into());
        self
    }

    /// Names the column concerned.
    pub fn column(mut self, column: impl Into<String>) -> SqlError {
        self.0.column = Some(column.into());
        self
    }

    /// Names the routine of PostgreSQL that clients look for.
    pub fn routine(mut self, routine: &'static str) -> SqlError {
        self.0.routine = Some(routine);
        self
    }

    /// Names the constraint violated.
    pub fn constraint(mut self, constraint: impl Into<String>) -> SqlError {
        self.0.constraint = Some(constraint.into());
        self
    }

    /// All fields.
    pub fn report(&self) -> &Report {
        &self.0
    }

    /// All fields, to be changed.
    pub fn report_mut(&mut self) -> &mut Report {
        &mut self.0
    }

    /// The condition code.
    pub fn code(&self) -> SqlState {
        self.0.code
    }

    /// The primary message.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:  {}", self.0.severity.as_str(), self.0.message)
    }
}

impl std::error::Error for SqlError {}

/// `sql_err!(UNDEFINED_TABLE, "relation \"{}\" does not exist", name)`: a [`SqlError`] with a formatted message.
#[macro_export]
macro_rules! sql_err {
    ($code:ident, $($arg:tt)+) => {
        $crate::SqlError::new($crate::SqlState::$code, format!($($arg)+))
    };
}
