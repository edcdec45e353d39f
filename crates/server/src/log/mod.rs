//! The server's log.
//!
//! # What
//! Lines in PostgreSQL's form, as text, CSV or JSON (`log_destination`), on standard error or in files of their own
//! (`logging_collector`). Lower layers log with `tracing`: `info` is LOG, `warn` is WARNING, `error` is LOG.
//!
//! # Layout
//! `line`: one line and its forms. `time`: moments in `log_timezone`. `writer`: the thread that writes, so that no worker waits
//! for the log. `files`: names, rotation.
//!
//! # PostgreSQL counterpart and differences
//! `elog.c`, `syslogger.c`. The collector is a thread, which a crash of the server takes along: what it has not written is lost. What
//! others write to standard error, as a panic does, stays there. There is no syslog.

mod files;
mod line;
mod writer;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};

use base::error::{log_rank, log_rank_of_word};
use base::settings::{ServerSettings, Setting};
use base::{Severity, SqlError, SqlState};
use parking_lot::RwLock;
use session::Situation;
use types::encoding::shown_outside;
use types::moment::Moment;
use types::text::texts_are_bytes;
use types::timezone::TimeZone;

use files::Files;
pub use files::current as current_file;
use line::Line;
use writer::Forms;

/// Who a line is about.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// Number of the session; 0: the server itself.
    pub pid: i32,
    /// Role.
    pub user: String,
    /// Database.
    pub database: String,
    /// What the application called itself when it connected.
    pub application: String,
    /// Address, or `[local]`.
    pub host: String,
    /// Port of the client, if it has one.
    pub port: Option<u16>,
    /// Address that the client has connected to, or `[local]`.
    pub local: String,
    /// When the session began, in microseconds since 2000-01-01.
    pub since: i64,
    /// Lines about it so far.
    pub lines: Arc<AtomicU64>,
}

/// How much is said of an error (`log_error_verbosity`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbosity {
    /// The message.
    Terse,
    /// With DETAIL, HINT, QUERY and CONTEXT.
    Default,
    /// With the SQLSTATE.
    Verbose,
}

impl Verbosity {
    fn of_word(word: &str) -> Verbosity {
        match word {
            "terse" => Verbosity::Terse,
            "verbose" => Verbosity::Verbose,
            _ => Verbosity::Default,
        }
    }
}

/// What the settings say about lines.
struct Form {
    prefix: String,
    verbosity: Verbosity,
    zone: Arc<TimeZone>,
    /// Text, CSV, JSON.
    formats: [bool; 3],
}

static FORM: RwLock<Option<Form>> = RwLock::new(None);
static LEAST: AtomicU8 = AtomicU8::new(0);
/// Lines of the server itself.
static LINES: AtomicU64 = AtomicU64::new(0);
/// When the server started, microseconds since 2000-01-01.
static START: AtomicI64 = AtomicI64::new(0);
/// Whether there are log files.
static COLLECTS: AtomicBool = AtomicBool::new(false);

fn server_start() -> i64 {
    START.load(Ordering::Relaxed)
}

/// Takes over what the settings say: as the server starts, and after a reload.
pub fn configure(settings: &ServerSettings) {
    let list = settings.text(Setting::log_destination).to_ascii_lowercase();
    let wants = |format: &str| list.split(',').any(|word| word.trim().trim_matches('"') == format);
    let zone = TimeZone::named(settings.text(Setting::log_timezone)).unwrap_or_else(TimeZone::utc);
    // Other forms need files of their own.
    let collects = COLLECTS.load(Ordering::Relaxed);
    let mut formats = [wants("stderr"), wants("csvlog"), wants("jsonlog")];
    if !collects || formats == [false; 3] {
        formats = [true, false, false];
    }
    *FORM.write() = Some(Form {
        prefix: settings.text(Setting::log_line_prefix).to_string(),
        verbosity: Verbosity::of_word(settings.text(Setting::log_error_verbosity)),
        zone: zone.clone(),
        formats,
    });
    // Relaxed: a level that is seen a moment late does no harm.
    LEAST.store(log_rank_of_word(settings.text(Setting::log_min_messages)), Ordering::Relaxed);
    if collects {
        writer::use_files(Files::new(settings, formats, zone));
    }
}

/// Starts the thread that writes. From now on, no line is written by who has it.
pub fn start() -> std::io::Result<()> {
    START.store(runtime::wall_clock_micros(), Ordering::Relaxed);
    writer::start()
}

/// Begins to write to files, if the settings say so. The server must hold the data directory's lock.
pub fn collect(settings: &ServerSettings) {
    let list = std::path::Path::new(settings.text(Setting::data_directory)).join(files::LIST);
    // Of a server before; there may be none.
    let _ = runtime::fs::remove_file(&list);
    if settings.bool(Setting::logging_collector) {
        let directory = settings.text(Setting::log_directory);
        let hint = format!("Future log output will appear in directory \"{directory}\".");
        report(&line("redirecting log output to logging collector process").hint(hint), None, None);
        writer::flush();
        COLLECTS.store(true, Ordering::Relaxed);
        configure(settings);
    }
}

/// Begins new log files, soon. False if there are none.
pub fn rotate() -> bool {
    let collects = COLLECTS.load(Ordering::Relaxed);
    if collects {
        writer::rotate();
    }
    collects
}

/// Waits for the log to be written, for a while: the process is to end.
pub fn flush() {
    writer::flush();
}

/// A LOG line.
pub fn line(message: impl Into<String>) -> SqlError {
    SqlError::with_severity(Severity::Log, SqlState::SUCCESSFUL_COMPLETION, message)
}

/// A line of the server itself.
pub fn log(message: impl Into<String>) {
    report(&line(message), None, None);
}

/// A report about a session (or the server), with the statement that caused it.
pub fn report(error: &SqlError, subject: Option<&Subject>, statement: Option<&str>) {
    report_in(error, subject, statement, &Situation::default());
}

/// The same, on behalf of a session.
pub fn report_in(
    error: &SqlError,
    subject: Option<&Subject>,
    statement: Option<&str>,
    situation: &Situation,
) {
    // Relaxed: see `configure`.
    let least = situation.least.unwrap_or_else(|| LEAST.load(Ordering::Relaxed));
    if log_rank(error.report().severity) >= least {
        writer::write(forms(error, subject, statement, situation));
    }
}

fn forms(
    error: &SqlError,
    subject: Option<&Subject>,
    statement: Option<&str>,
    situation: &Situation,
) -> Forms {
    let form = FORM.read();
    let utc = TimeZone::utc();
    let form = form.as_ref();
    let lines = subject.map_or(&LINES, |subject| &subject.lines);
    let line = Line {
        report: error.report(),
        subject,
        situation,
        statement,
        now: runtime::wall_clock_micros(),
        // Relaxed: a line number.
        number: lines.fetch_add(1, Ordering::Relaxed) + 1,
        verbosity: match &*situation.verbosity {
            "" => form.map_or(Verbosity::Default, |form| form.verbosity),
            own => Verbosity::of_word(own),
        },
        zone: form.map_or(&utc, |form| &form.zone),
    };
    let [text, csv, json] = form.map_or([true, false, false], |form| form.formats);
    // Readers of the log do not know the encoding of the session's database.
    let shown = |line: String| if texts_are_bytes() { shown_outside(&line) } else { line };
    Forms {
        stderr: text.then(|| shown(line.text(form.map_or("", |form| &form.prefix)))),
        csv: csv.then(|| shown(line.csv())),
        json: json.then(|| shown(line.json())),
    }
}

/// A line of the writer itself.
fn note(message: String) -> Forms {
    forms(&line(message), None, None, &Situation::default())
}

/// For what cannot be told in the log.
fn to_stderr(message: String) {
    use std::io::Write;
    // There is nowhere else.
    let _ = writeln!(std::io::stderr(), "LOG:  {message}");
}

/// A time as the log shows it.
pub fn timestamp(micros: i64, millis: bool) -> String {
    match FORM.read().as_ref() {
        Some(form) => Moment::new(micros, &form.zone).text(millis),
        None => Moment::new(micros, &TimeZone::utc()).text(millis),
    }
}

/// Sends what lower layers log through `tracing` to this log.
pub fn install_tracing() {
    // Fails only when it is installed already.
    let _ = tracing::subscriber::set_global_default(Tracing);
}

struct Tracing;

impl tracing::Subscriber for Tracing {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= tracing::Level::INFO
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let severity = match *event.metadata().level() {
            tracing::Level::WARN => Severity::Warning,
            _ => Severity::Log,
        };
        let mut line = SqlError::with_severity(severity, SqlState::SUCCESSFUL_COMPLETION, fields.message);
        line.report_mut().hint = Some(fields.hint).filter(|hint| !hint.is_empty());
        line.report_mut().detail = Some(fields.detail).filter(|detail| !detail.is_empty());
        report(&line, None, None);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// What an event may say.
#[derive(Default)]
struct Fields {
    message: String,
    hint: String,
    detail: String,
}

impl tracing::field::Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            "hint" => write!(self.hint, "{value:?}"),
            "detail" => write!(self.detail, "{value:?}"),
            _ => Ok(()),
        };
    }
}
