//! The server's log: lines on standard error in PostgreSQL's form.
//!
//! # What
//! `log_line_prefix`, then severity and message; DETAIL, HINT, QUERY, CONTEXT and STATEMENT on lines of their own; lines within a
//! message are indented by a tab. Lower layers log with `tracing`: `info` is LOG, `warn` is WARNING, `error` is LOG.
//!
//! # PostgreSQL counterpart and differences
//! `elog.c`. Times are shown in UTC. There is no collector process and no syslog.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use base::error::{Report, log_rank, log_rank_of_word};
use base::settings::{ServerSettings, Setting};
use base::{Severity, SqlError, SqlState};
use parking_lot::RwLock;

/// Who a line is about.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// Number of the session; 0: the server itself.
    pub pid: i32,
    /// Role.
    pub user: String,
    /// Database.
    pub database: String,
    /// What the application calls itself.
    pub application: String,
    /// Address, or `[local]`.
    pub host: String,
    /// Port of the client, if it has one.
    pub port: Option<u16>,
    /// When the session began, in microseconds since 2000-01-01.
    pub since: i64,
}

static PREFIX: RwLock<String> = RwLock::new(String::new());
static LEAST: AtomicU8 = AtomicU8::new(0);
static VERBOSITY: AtomicU8 = AtomicU8::new(Verbosity::Default as u8);
static LINES: AtomicU64 = AtomicU64::new(0);

/// How much is said of an error (`log_error_verbosity`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Verbosity {
    Terse,
    Default,
    /// With the SQLSTATE. There is no LOCATION.
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

    /// The one in force.
    fn now() -> Verbosity {
        // Relaxed: see `configure`.
        match VERBOSITY.load(Ordering::Relaxed) {
            0 => Verbosity::Terse,
            1 => Verbosity::Default,
            _ => Verbosity::Verbose,
        }
    }
}

/// Takes over prefix, level and verbosity from the settings.
pub fn configure(settings: &ServerSettings) {
    settings.text(Setting::log_line_prefix).clone_into(&mut PREFIX.write());
    // Relaxed: a level that is seen a moment late does no harm.
    LEAST.store(log_rank_of_word(settings.text(Setting::log_min_messages)), Ordering::Relaxed);
    let verbosity = Verbosity::of_word(settings.text(Setting::log_error_verbosity));
    VERBOSITY.store(verbosity as u8, Ordering::Relaxed);
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
    let report = error.report();
    // Relaxed: see `configure`.
    if log_rank(report.severity) < LEAST.load(Ordering::Relaxed) {
        return;
    }
    let now = runtime::wall_clock_micros();
    let text = render(&PREFIX.read(), Verbosity::now(), report, subject, statement, now);
    // There is nowhere to report that the log cannot be written.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn render(
    prefix: &str,
    verbosity: Verbosity,
    report: &Report,
    subject: Option<&Subject>,
    statement: Option<&str>,
    now: i64,
) -> String {
    let mut out = String::with_capacity(128);
    // Relaxed: a line number.
    let line = LINES.fetch_add(1, Ordering::Relaxed) + 1;
    let mut head = String::new();
    expand_prefix(&mut head, prefix, report, subject, now, line);
    let mut part = |label: &str, text: &str| {
        let _ = writeln!(out, "{head}{label}:  {}", text.replace('\n', "\n\t"));
    };
    let mut message = report.message.clone();
    if verbosity == Verbosity::Verbose {
        message = format!("{}: {message}", report.code);
    }
    if let Some(position) = report.position.or(report.internal_position) {
        let _ = write!(message, " at character {position}");
    }
    part(report.severity.as_str(), &message);
    let more = [
        ("DETAIL", &report.detail),
        ("HINT", &report.hint),
        ("QUERY", &report.internal_query),
        ("CONTEXT", &report.context),
    ];
    for (label, text) in more.into_iter().filter(|_| verbosity != Verbosity::Terse) {
        if let Some(text) = text {
            part(label, text);
        }
    }
    if let Some(statement) = statement {
        part("STATEMENT", statement);
    }
    out
}

fn expand_prefix(
    out: &mut String,
    prefix: &str,
    report: &Report,
    subject: Option<&Subject>,
    now: i64,
    line: u64,
) {
    let mut chars = prefix.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut width = String::new();
        let mut escape = chars.next();
        while let Some(c) = escape.filter(|c| *c == '-' || c.is_ascii_digit()) {
            width.push(c);
            escape = chars.next();
        }
        if escape == Some('q') {
            if subject.is_none() {
                return;
            }
            continue;
        }
        let Some(escape) = escape else { return };
        let text = escape_text(escape, report, subject, now, line);
        let columns = width.trim_start_matches('-').parse::<usize>().unwrap_or(0);
        let _ = match width.starts_with('-') {
            true => write!(out, "{text:<columns$}"),
            false => write!(out, "{text:>columns$}"),
        };
    }
}

fn escape_text(escape: char, report: &Report, subject: Option<&Subject>, now: i64, line: u64) -> String {
    let of = |field: fn(&Subject) -> String| subject.map(field).unwrap_or_default();
    let or_unknown = |text: &str| if text.is_empty() { "[unknown]".to_string() } else { text.to_string() };
    match escape {
        'm' => timestamp(now, true),
        't' => timestamp(now, false),
        's' => timestamp(subject.map_or(now, |s| s.since), false),
        'n' => {
            let unix = now + 946_684_800_000_000;
            format!("{}.{:03}", unix.div_euclid(1_000_000), unix.rem_euclid(1_000_000) / 1000)
        }
        'p' => pid(subject).to_string(),
        'u' => subject.map_or(String::new(), |s| or_unknown(&s.user)),
        'd' => subject.map_or(String::new(), |s| or_unknown(&s.database)),
        'a' => subject.map_or(String::new(), |s| or_unknown(&s.application)),
        'h' => of(|s| s.host.clone()),
        'r' => of(|s| match s.port {
            Some(port) => format!("{}({port})", s.host),
            None => s.host.clone(),
        }),
        'c' => {
            let start = subject.map_or(now, |s| s.since) / 1_000_000 + 946_684_800;
            format!("{start:x}.{:x}", pid(subject))
        }
        'l' => line.to_string(),
        'e' => report.code.to_string(),
        'b' => if subject.is_some() { "client backend" } else { "postmaster" }.to_string(),
        'x' | 'Q' => "0".to_string(),
        '%' => "%".to_string(),
        _ => String::new(),
    }
}

fn pid(subject: Option<&Subject>) -> i64 {
    subject.map_or(i64::from(std::process::id()), |s| i64::from(s.pid))
}

/// A time as the log and `postmaster.pid`'s readers show it.
pub fn timestamp(micros: i64, millis: bool) -> String {
    let seconds = micros.div_euclid(1_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let fraction = match millis {
        true => format!(".{:03}", micros.rem_euclid(1_000_000) / 1000),
        false => String::new(),
    };
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}{fraction} UTC",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Year, month and day of a day counted from 2000-01-01, in the Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Days since 0000-03-01, so that leap days end a year.
    let days = days + 730_425;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
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
        let mut message = Message(String::new());
        event.record(&mut message);
        let severity = match *event.metadata().level() {
            tracing::Level::WARN => Severity::Warning,
            _ => Severity::Log,
        };
        report(&SqlError::with_severity(severity, SqlState::SUCCESSFUL_COMPLETION, message.0), None, None);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

struct Message(String);

impl tracing::field::Visit for Message {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(timestamp(0, false), "2000-01-01 00:00:00 UTC");
        assert_eq!(timestamp(-1000, true), "1999-12-31 23:59:59.999 UTC");
        assert_eq!(timestamp(820_540_800_000_000 + 61_234_567, true), "2026-01-01 00:01:01.234 UTC");
        assert_eq!(timestamp(1_835_481_600_000_000, false), "2058-03-01 00:00:00 UTC");
        assert_eq!(civil(59), (2000, 2, 29));
        assert_eq!(civil(60), (2000, 3, 1));
    }

    #[test]
    fn prefix_and_parts() {
        let subject = Subject {
            pid: 42,
            user: "me".into(),
            database: String::new(),
            host: "10.0.0.1".into(),
            port: Some(99),
            ..Subject::default()
        };
        let error = base::sql_err!(UNIQUE_VIOLATION, "two\nlines").detail("d").hint("h");
        let text = render(
            "%m [%p] %q%u@%d %r %e %-4p|%5p%%: ",
            Verbosity::Default,
            error.report(),
            Some(&subject),
            Some("select\n1"),
            0,
        );
        let head = "2000-01-01 00:00:00.000 UTC [42] me@[unknown] 10.0.0.1(99) 23505 42  |   42%: ";
        assert_eq!(
            text,
            format!(
                "{head}ERROR:  two\n\tlines\n{head}DETAIL:  d\n{head}HINT:  h\n{head}STATEMENT:  select\n\t1\n"
            )
        );
        let own = render("%t %q%u ", Verbosity::Verbose, error.report(), None, None, 0);
        assert!(own.starts_with("2000-01-01 00:00:00 UTC ERROR:  23505: two"), "{own}");
        let terse = render("", Verbosity::Terse, error.report(), None, Some("s"), 0);
        assert_eq!(terse, "ERROR:  two\n\tlines\nSTATEMENT:  s\n");
    }
}
