//! # What
//! Logging of statements: `log_statement`, `log_duration`, `log_min_duration_statement`, samples, and the statement that an error
//! belongs to (`log_min_error_statement`). The lines are composed here; where they go is the server's to say ([`Session::log_to`]).
//!
//! # PostgreSQL counterpart and differences
//! `check_log_statement`, `check_log_duration`, `errdetail_params` in `postgres.c`; `GetCommandLogLevel` in `utility.c`. With
//! `log_statement` a text of the simple protocol is parsed once more to find out what it does.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;

use base::settings::{SessionSettings, Setting};
use base::{Oid, Severity, SqlError, SqlState};
use parse::Statement;
use tuple::Datum;
use txn::Told;

use super::Session;
use super::portal::Portal;
use super::statement::{Source, Work};
use crate::commands::{Commands, LogClass};

/// Takes a line for the server's log, with the statement that it is about.
pub type LogSink = Box<dyn Fn(&SqlError, Option<&str>, &Situation) + Send + Sync>;

/// What a session is doing, as its lines in the log may say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Situation {
    /// Tag of the command that runs, or `idle`.
    pub command: String,
    /// `session/transaction`, inside a transaction.
    pub virtual_xid: Option<String>,
    /// Xid of the transaction; 0: it has none.
    pub xid: u64,
    /// What the application calls itself.
    pub application: String,
    /// Id of the statement; 0: it has none.
    pub query_id: i64,
    /// Rank of the least severe message that the session wants to see in the log; none: as the server has it (`log_min_messages`).
    pub least: Option<u8>,
    /// How much the session wants to have told; empty: as the server has it (`log_error_verbosity`).
    pub verbosity: String,
}

/// What a session knows of its lines in the server's log.
#[derive(Default)]
pub(super) struct Logging {
    /// The text of the message that has failed last.
    failed: RefCell<Option<Arc<str>>>,
    /// `log_statement` has shown the running message.
    shown: Cell<bool>,
    /// Number of the transaction that was last looked at, and whether its statements are logged as a sample.
    sampled: Cell<(u32, bool)>,
}

/// What a statement does, by the words of `log_statement`: those that log less log what comes first here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Definition,
    Change,
    Other,
}

impl Session {
    /// Where lines for the server's log go; set once.
    pub fn log_to(&self, sink: LogSink) {
        self.backend.log_to(sink);
    }

    /// Whether any setting asks for lines about statements.
    #[inline]
    fn logs(&self) -> bool {
        self.settings.borrow().fast().logs_any()
    }

    pub(super) fn log(&self, message: String, detail: Option<String>) {
        let Some(sink) = self.backend.log() else { return };
        let mut line = SqlError::with_severity(Severity::Log, SqlState::SUCCESSFUL_COMPLETION, message);
        line.report_mut().detail = detail;
        sink(&line, None, &self.situation());
    }

    /// A report that no client gets.
    pub fn log_report(&self, report: &SqlError) {
        if let Some(sink) = self.backend.log() {
            sink(report, None, &self.situation());
        }
    }

    /// `log_temp_files`: those that are gone, with the statement that runs.
    #[cold]
    pub(super) fn log_temporary_files(&self) {
        let files = self.temp.account.take_ended();
        let Some(sink) = self.backend.log().filter(|_| !files.is_empty()) else { return };
        let text = self.names_statement(Severity::Log).then(|| self.backend.activity().query);
        for (name, size) in files {
            let message = format!("temporary file: path \"{name}\", size {size}");
            let line = SqlError::with_severity(Severity::Log, SqlState::SUCCESSFUL_COMPLETION, message);
            sink(&line, text.as_deref(), &self.situation());
        }
    }

    /// What the session is doing.
    pub fn situation(&self) -> Situation {
        let failed = self.logging.failed.borrow().clone();
        let text = failed.or_else(|| self.backend.is_active().then(|| self.backend.activity().query));
        let command = text.map_or_else(|| "idle".to_owned(), |text| tag_of(&text, self.commands()));
        let (txn, settings) = (self.txn.borrow(), self.settings.borrow());
        let inside = txn.state() != txn::BlockState::Idle;
        Situation {
            command,
            virtual_xid: inside.then(|| format!("{}/{}", self.info.pid, txn.local_id())),
            xid: txn.top_xid_if_assigned().map_or(0, |xid| xid.0),
            application: settings.text(Setting::application_name).to_owned(),
            least: Some(base::error::log_rank_of_word(settings.text(Setting::log_min_messages))),
            verbosity: settings.text(Setting::log_error_verbosity).to_owned(),
            query_id: self.query_id(),
        }
    }

    /// A warning or notice goes to the log too, if that wants it.
    pub(super) fn log_notice(&self, notice: &SqlError) {
        let Some(sink) = self.backend.log() else { return };
        let named = self.names_statement(notice.report().severity);
        let text = named.then(|| self.backend.activity().query);
        sink(notice, text.as_deref(), &self.situation());
    }

    /// Whether a line of this severity is logged with its statement (`log_min_error_statement`).
    fn names_statement(&self, severity: Severity) -> bool {
        names_statement(&self.settings.borrow(), severity)
    }

    /// Whether long waits for locks are logged (`log_lock_waits`).
    pub(super) fn told_of_waits(&self, settings: &SessionSettings) -> Told {
        match settings.get(Setting::log_lock_waits).as_bool() {
            false => Told::Never,
            true if names_statement(settings, Severity::Log) => Told::WithStatement,
            true => Told::Alone,
        }
    }

    /// A message with this text has failed.
    pub(super) fn note_failed(&self, text: impl Into<Arc<str>>) {
        self.logging.shown.set(false);
        *self.logging.failed.borrow_mut() = Some(text.into());
    }

    /// The statement that an error of this severity is to be logged with: that of the message that has failed, or the one that runs.
    pub fn take_failed_statement(&self, severity: Severity) -> Option<Arc<str>> {
        let noted = self.logging.failed.take();
        if !self.names_statement(severity) {
            return None;
        }
        noted.or_else(|| self.backend.is_active().then(|| self.backend.activity().query))
    }

    /// A message begins: the time from which on its duration counts, 0 if no duration is asked for yet.
    #[inline]
    pub(super) fn start_of_message(&self) -> i64 {
        if self.logs() { runtime::wall_clock_micros() } else { 0 }
    }

    /// `log_statement` for the text of a Query message.
    #[cold]
    pub(super) fn log_text(&self, text: &str) {
        self.logging.shown.set(false);
        let Some(most) = self.most_logged() else { return };
        let Ok(parsed) = super::protocol::parse_text(text) else { return };
        if parsed.statements.is_empty() && most == Kind::Other
            || parsed.statements.iter().any(|raw| self.kind(&raw.stmt) <= most)
        {
            self.log(format!("statement: {text}"), self.prepared_by(&parsed.statements));
            self.logging.shown.set(true);
        }
    }

    /// The texts by which the statements were prepared that EXECUTE names.
    fn prepared_by(&self, statements: &[parse::RawStatement]) -> Option<String> {
        let statement = statements.iter().find_map(|raw| match &raw.stmt {
            Statement::Execute(execute) => Some(&execute.name),
            _ => None,
        })?;
        let known = self.statements.borrow();
        let (_, named) = known.iter().find(|(name, _)| name == statement)?;
        Some(format!("prepare: {}", named.source.text))
    }

    /// `log_statement` for the portal of an Execute message.
    #[cold]
    pub(super) fn log_execute(&self, name: &str, portal: &Portal) {
        let wanted = self.most_logged().is_some_and(|most| match &portal.source.work {
            Work::Utility(raw) | Work::Query(raw) => self.kind(&raw.stmt) <= most,
            Work::Empty | Work::Stored => false,
        });
        self.logging.shown.set(wanted);
        if wanted {
            let (what, detail) = self.told_of(name, portal, portal.is_suspended());
            self.log(format!("execute {what}"), detail);
        }
    }

    /// The last kind that `log_statement` asks for.
    fn most_logged(&self) -> Option<Kind> {
        match self.settings.borrow().text(Setting::log_statement) {
            "ddl" => Some(Kind::Definition),
            "mod" => Some(Kind::Change),
            "all" => Some(Kind::Other),
            _ => None,
        }
    }

    /// A message has succeeded. `what` it was, with a DETAIL, is told if it took long enough and was not told before.
    #[inline]
    pub(super) fn log_end(&self, start: i64, what: impl FnOnce() -> (String, Option<String>)) {
        if self.logs() {
            self.log_duration(start, what);
        }
    }

    #[cold]
    fn log_duration(&self, start: i64, what: impl FnOnce() -> (String, Option<String>)) {
        let shown = self.logging.shown.take();
        let always = self.settings.borrow().fast().log_duration;
        // A statement that has asked for its own duration began with the statement's time.
        let start = if start == 0 { self.format.borrow().statement_time } else { start };
        let micros = (runtime::wall_clock_micros() - start).max(0);
        let long = self.is_logged_after(micros);
        if !always && !long {
            return;
        }
        let mut message = format!("duration: {}.{:03} ms", micros / 1000, micros % 1000);
        let mut detail = None;
        if long && !shown {
            let (what, more) = what();
            message = format!("{message}  {what}");
            detail = more;
        }
        self.log(message, detail);
    }

    /// Whether a statement that took so long is logged: because of its duration, or because it or its transaction was sampled.
    fn is_logged_after(&self, micros: i64) -> bool {
        let settings = self.settings.borrow();
        let exceeds = |least: i32| least >= 0 && micros >= i64::from(least) * 1000;
        let rate = |setting| settings.get(setting).as_real();
        let fast = settings.fast();
        exceeds(fast.log_min_duration_statement)
            || exceeds(fast.log_min_duration_sample) && is_hit(rate(Setting::log_statement_sample_rate))
            || fast.samples_transactions
                && self.is_sampled(|| is_hit(rate(Setting::log_transaction_sample_rate)))
    }

    /// Whether all statements of the transaction that runs, or has just ended, are logged: drawn once for each.
    fn is_sampled(&self, draw: impl FnOnce() -> bool) -> bool {
        let transaction = self.txn.borrow().local_id();
        let (known, sampled) = self.logging.sampled.get();
        if known == transaction {
            return sampled;
        }
        let sampled = draw();
        self.logging.sampled.set((transaction, sampled));
        sampled
    }

    /// The line of `log_min_duration_statement` for a Query message.
    pub(super) fn told_of_text(&self, text: &str) -> (String, Option<String>) {
        let parsed = super::protocol::parse_text(text);
        (format!("statement: {text}"), parsed.ok().and_then(|parsed| self.prepared_by(&parsed.statements)))
    }

    /// Names of statement and portal and the text, with the parameters as DETAIL. `again`: the portal goes on.
    pub(super) fn told_of(&self, name: &str, portal: &Portal, again: bool) -> (String, Option<String>) {
        let statement = self.name_of(&portal.source);
        let fetch = if again { "fetch from " } else { "" };
        let slash = if name.is_empty() { "" } else { "/" };
        let what = format!("{fetch}{statement}{slash}{name}: {}", portal.source.text);
        let length = self.settings.borrow().get(Setting::log_parameter_max_length).as_int();
        (what, self.parameters(portal, length).map(|list| format!("Parameters: {list}")))
    }

    /// The name under which a statement was prepared.
    pub(super) fn name_of(&self, source: &Rc<Source>) -> String {
        let statements = self.statements.borrow();
        let name = statements.iter().find(|(_, named)| Rc::ptr_eq(&named.source, source));
        name.map(|(name, _)| name).filter(|name| !name.is_empty()).unwrap_or("<unnamed>").to_owned()
    }

    /// `$1 = '…', $2 = NULL`, each cut to so many bytes (-1: not cut, 0: not shown at all).
    fn parameters(&self, portal: &Portal, length: i32) -> Option<String> {
        self.list_parameters(portal.params(), &portal.source.param_types(), length)
    }

    /// The same of values of these types.
    pub(super) fn list_parameters(&self, params: &[Datum], types: &[Oid], length: i32) -> Option<String> {
        if length == 0 || types.is_empty() {
            return None;
        }
        let mut list = String::new();
        for (i, (value, &ty)) in params.iter().zip(types).enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let _ = write!(list, "{comma}${} = {}", i + 1, self.shown_value(value, ty, length));
        }
        Some(list)
    }

    fn shown_value(&self, value: &Datum, ty: Oid, length: i32) -> String {
        if value.is_null() {
            return "NULL".into();
        }
        let mut bytes = Vec::new();
        let context = self.format();
        let call = types::Call::new(&context).with_session(self);
        match types::output(ty, value, &call, &mut bytes) {
            Ok(()) => quoted(&String::from_utf8_lossy(&bytes), length),
            Err(_) => "'...'".into(),
        }
    }

    /// An error of an Execute message tells the parameters if `log_parameter_max_length_on_error` asks for them.
    pub(super) fn with_parameters(&self, error: SqlError, name: &str, portal: &Portal) -> SqlError {
        let length = self.settings.borrow().get(Setting::log_parameter_max_length_on_error).as_int();
        let Some(list) = self.parameters(portal, length) else { return error };
        error.context(match name {
            "" => format!("unnamed portal with parameters: {list}"),
            name => format!("portal \"{name}\" with parameters: {list}"),
        })
    }

    /// A parameter that could not be read, as its error shows it.
    pub(super) fn shown_parameter(&self, text: &str) -> String {
        match self.settings.borrow().get(Setting::log_parameter_max_length_on_error).as_int() {
            // What it is stays hidden, but not that it is something.
            0 if !text.is_empty() => "'...'".into(),
            length => quoted(text, length),
        }
    }

    fn kind(&self, statement: &Statement) -> Kind {
        match self.commands().describe(statement).log {
            LogClass::Definition => Kind::Definition,
            LogClass::Change => Kind::Change,
            LogClass::Other => Kind::Other,
            LogClass::As(inner) => self.kind(inner),
            LogClass::AsPrepared(prepared) => {
                let known = self.statements.borrow();
                let found = known.iter().find(|(name, _)| *name == prepared);
                match found.map(|(_, named)| &named.source.work) {
                    Some(Work::Query(raw) | Work::Utility(raw)) => self.kind(&raw.stmt),
                    Some(Work::Empty | Work::Stored) | None => Kind::Other,
                }
            }
        }
    }
}

/// Whether the statement stands beside a line of this severity (`log_min_error_statement`).
fn names_statement(settings: &SessionSettings, severity: Severity) -> bool {
    base::error::log_rank(severity)
        >= base::error::log_rank_of_word(settings.text(Setting::log_min_error_statement))
}

/// Tag of a text's first command. Most are told by their first word, which spares parsing them.
pub(super) fn tag_of(text: &str, commands: &dyn Commands) -> String {
    let word: String = text.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
    let word = word.to_ascii_uppercase();
    if matches!(word.as_str(), "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "COPY" | "EXECUTE" | "SET") {
        return word;
    }
    let first =
        super::protocol::parse_text(text).ok().and_then(|parsed| parsed.statements.into_iter().next());
    first.map_or(word, |raw| commands.describe(&raw.stmt).tag.to_owned())
}

/// Draws a lot that hits with this probability.
pub(super) fn is_hit(rate: f64) -> bool {
    rate >= 1.0 || (runtime::random_u64() as f64 / u64::MAX as f64) < rate
}

/// A text in quotes, cut to so many bytes unless negative.
fn quoted(text: &str, length: i32) -> String {
    let most = usize::try_from(length).unwrap_or(usize::MAX);
    let cut = &text[..text.floor_char_boundary(most)];
    let dots = if cut.len() < text.len() { "..." } else { "" };
    format!("'{}{dots}'", cut.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_between_characters() {
        assert_eq!(quoted("it's", -1), "'it''s'");
        assert_eq!(quoted("aä", 2), "'a...'");
        assert_eq!(quoted("aä", 3), "'aä'");
    }
}
