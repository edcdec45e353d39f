//! What the log tells of a connection's life: `log_connections`, `log_disconnections`.
//!
//! PostgreSQL counterpart: `backend_startup.c`, `auth.c`, `log_disconnections` in `postgres.c`. A connection is no process here: what `fork`
//! took is told as 0.

use base::settings::{ServerSettings, Setting, parse_bool};

use super::Shared;
use super::sealed::Secured;
use super::startup::Greeting;
use crate::backend::Client;
use crate::config::access::Rule;
use crate::log::{self, Subject};

/// A step that `log_connections` may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Receipt,
    Authentication,
    Authorization,
    SetupDurations,
}

impl Step {
    const ALL: [(Step, &str); 4] = [
        (Step::Receipt, "receipt"),
        (Step::Authentication, "authentication"),
        (Step::Authorization, "authorization"),
        (Step::SetupDurations, "setup_durations"),
    ];

    /// Whether a word of the setting's list means it: "on" stands for what was logged before there was a list.
    fn is_meant(self, word: &str) -> bool {
        let old = self != Step::SetupDurations && parse_bool(word) == Some(true);
        let named = Step::ALL.iter().any(|(step, name)| *step == self && name.eq_ignore_ascii_case(word));
        old || named || word.eq_ignore_ascii_case("all")
    }

    pub(super) fn is_logged(self, settings: &ServerSettings) -> bool {
        self.is_among(settings.text(Setting::log_connections))
    }

    fn is_among(self, list: &str) -> bool {
        words(list).any(|word| self.is_meant(word))
    }
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(|word| word.trim().trim_matches('"')).filter(|word| !word.is_empty())
}

/// The word of a value of `log_connections` that means nothing.
pub fn unknown_step(list: &str) -> Option<&str> {
    let is_step = |word: &str| Step::ALL.iter().any(|(step, _)| step.is_meant(word));
    words(list).find(|word| !is_step(word) && parse_bool(word) != Some(false))
}

/// `host=… port=…`
fn host(subject: &Subject) -> String {
    match subject.port {
        Some(port) => format!("host={} port={port}", subject.host),
        None => format!("host={}", subject.host),
    }
}

pub(super) fn note(subject: &Subject, message: String) {
    log::report(&log::line(message), Some(subject), None);
}

pub(super) fn received(shared: &Shared, subject: &Subject) {
    if Step::Receipt.is_logged(&shared.settings()) {
        note(subject, format!("connection received: {}", host(subject)));
    }
}

/// The client has proved that it is `identity`, unless nothing was asked of it, as this rule wants it.
pub(super) fn authenticated(shared: &Shared, subject: &Subject, identity: Option<&str>, rule: &Rule) {
    if Step::Authentication.is_logged(&shared.settings()) {
        let who = match identity {
            Some(identity) => format!("identity=\"{identity}\""),
            None => format!("user=\"{}\"", subject.user),
        };
        let (method, file, line) = (rule.method.as_str(), &rule.file, rule.line);
        note(subject, format!("connection authenticated: {who} method={method} ({file}:{line})"));
    }
}

pub(super) fn authorized(shared: &Shared, greeting: &Greeting, subject: &Subject) {
    if Step::Authorization.is_logged(&shared.settings()) {
        let what = if greeting.replication.is_some() { "replication connection" } else { "connection" };
        let mut message = format!("{what} authorized: user={}", greeting.user);
        if greeting.replication.is_none() {
            message.push_str(&format!(" database={}", greeting.database));
        }
        if !subject.application.is_empty() {
            message.push_str(&format!(" application_name={}", subject.application));
        }
        if let Some(security) = &greeting.security {
            let Secured { version, cipher, bits, .. } = &security.agreed;
            message.push_str(&format!(" SSL enabled (protocol={version}, cipher={cipher}, bits={bits})"));
        }
        note(subject, message);
    }
}

/// Microseconds since 2000-01-01: when authentication began and ended. What the session asks for itself counts from here on.
pub(super) fn ready(client: &dyn Client, subject: &Subject, authentication: std::ops::Range<i64>) {
    let list = client.setting("log_connections").unwrap_or_default();
    if Step::SetupDurations.is_among(&list) {
        let millis = |from: i64, to: i64| (to - from).max(0) as f64 / 1000.0;
        note(
            subject,
            format!(
                "connection ready: setup total={:.3} ms, fork=0.000 ms, authentication={:.3} ms",
                millis(subject.since, runtime::wall_clock_micros()),
                millis(authentication.start, authentication.end)
            ),
        );
    }
}

/// Whether the session's end is to be logged: what it began with counts.
pub(super) fn tells_end(client: &dyn Client) -> bool {
    client.setting("log_disconnections").as_deref() == Some("on")
}

pub(super) fn ended(subject: &Subject) {
    let millis = (runtime::wall_clock_micros() - subject.since).max(0) / 1000;
    let (seconds, rest) = (millis / 1000, millis % 1000);
    note(
        subject,
        format!(
            "disconnection: session time: {}:{:02}:{:02}.{rest:03} user={} database={} {}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            subject.user,
            subject.database,
            host(subject)
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_mean_steps() {
        let meant = |word: &str| Step::ALL.map(|(step, _)| step.is_meant(word));
        assert_eq!(meant("on"), [true, true, true, false]);
        assert_eq!(meant("ALL"), [true; 4]);
        assert_eq!(meant("authorization"), [false, false, true, false]);
        assert_eq!(meant("off"), [false; 4]);
        assert_eq!(unknown_step("receipt, all"), None);
        assert_eq!(unknown_step("off"), None);
        assert_eq!(unknown_step("receipt, nonsense"), Some("nonsense"));
    }
}
