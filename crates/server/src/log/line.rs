//! A line of the log and its forms: with a prefix, as CSV, as JSON.
//!
//! # PostgreSQL counterpart and differences
//! `elog.c`, `csvlog.c`, `jsonlog.c`: the same escapes, columns and keys. Errors do not know where in the source they were
//! made: there is no LOCATION.

use std::fmt::Write as _;

use base::calendar::{UNIX_MICROS, UNIX_SECONDS};
use base::error::Report;
use session::Situation;
use types::moment::Moment;
use types::timezone::TimeZone;

use super::{Subject, Verbosity};

/// All that a line may tell.
pub struct Line<'a> {
    /// What happened.
    pub report: &'a Report,
    /// To whom; `None`: the server itself.
    pub subject: Option<&'a Subject>,
    /// What the session was doing.
    pub situation: &'a Situation,
    /// Statement that caused it.
    pub statement: Option<&'a str>,
    /// Microseconds since 2000-01-01.
    pub now: i64,
    /// Number of the line among those of its subject, from 1.
    pub number: u64,
    /// How much is said.
    pub verbosity: Verbosity,
    /// In which its times are.
    pub zone: &'a TimeZone,
}

impl Line<'_> {
    /// Lines of text: each with the prefix.
    pub fn text(&self, prefix: &str) -> String {
        let mut out = String::with_capacity(128);
        let report = self.report;
        let head = self.prefix(prefix);
        let mut part = |label: &str, text: &str| {
            let _ = writeln!(out, "{head}{label}:  {}", text.replace('\n', "\n\t"));
        };
        let mut message = report.message.clone();
        if self.verbosity == Verbosity::Verbose {
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
        for (label, text) in more.into_iter().filter(|_| self.verbosity != Verbosity::Terse) {
            if let Some(text) = text {
                part(label, text);
            }
        }
        if let Some(statement) = self.statement {
            part("STATEMENT", statement);
        }
        out
    }

    /// `log_line_prefix` with its escapes replaced.
    fn prefix(&self, prefix: &str) -> String {
        let mut out = String::new();
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
                if self.subject.is_none() {
                    return out;
                }
                continue;
            }
            let Some(escape) = escape else { return out };
            let text = self.escape(escape);
            let columns = width.trim_start_matches('-').parse::<usize>().unwrap_or(0).min(1000);
            let _ = match width.starts_with('-') {
                true => write!(out, "{text:<columns$}"),
                false => write!(out, "{text:>columns$}"),
            };
        }
        out
    }

    fn escape(&self, escape: char) -> String {
        let of = |field: fn(&Subject) -> String| self.subject.map(field).unwrap_or_default();
        let or_unknown =
            |text: &str| if text.is_empty() { "[unknown]".to_string() } else { text.to_string() };
        match escape {
            'm' => Moment::new(self.now, self.zone).text(true),
            't' => Moment::new(self.now, self.zone).text(false),
            's' => Moment::new(self.since(), self.zone).text(false),
            'n' => {
                let unix = self.now + UNIX_MICROS;
                format!("{}.{:03}", unix.div_euclid(1_000_000), unix.rem_euclid(1_000_000) / 1000)
            }
            'p' => self.pid().to_string(),
            'u' => self.subject.map_or(String::new(), |s| or_unknown(&s.user)),
            'd' => self.subject.map_or(String::new(), |s| or_unknown(&s.database)),
            'a' => self.subject.map_or(String::new(), |_| or_unknown(self.application())),
            'h' => of(|s| s.host.clone()),
            'L' => of(|s| s.local.clone()),
            'r' => of(|s| match s.port {
                Some(port) => format!("{}({port})", s.host),
                None => s.host.clone(),
            }),
            'c' => self.session(),
            'l' => self.number.to_string(),
            'e' => self.report.code.to_string(),
            'b' => self.backend_type().to_string(),
            'i' => self.situation.command.clone(),
            'v' => self.situation.virtual_xid.clone().unwrap_or_default(),
            'x' => self.situation.xid.to_string(),
            'Q' => self.situation.query_id.to_string(),
            '%' => "%".to_string(),
            // `%P` among them: no session has a leader.
            _ => String::new(),
        }
    }

    fn pid(&self) -> i64 {
        self.subject.map_or(i64::from(std::process::id()), |s| i64::from(s.pid))
    }

    fn since(&self) -> i64 {
        self.subject.map_or_else(super::server_start, |s| s.since)
    }

    fn session(&self) -> String {
        format!("{:x}.{:x}", self.since().div_euclid(1_000_000) + UNIX_SECONDS, self.pid())
    }

    fn backend_type(&self) -> &'static str {
        if self.subject.is_some() { "client backend" } else { "postmaster" }
    }

    fn application(&self) -> &str {
        match self.situation.application.as_str() {
            "" => self.subject.map_or("", |subject| &subject.application),
            now => now,
        }
    }

    /// Position in the statement, where that is told.
    fn cursor(&self) -> Option<u32> {
        self.report.position.filter(|_| self.statement.is_some())
    }

    /// A line of CSV: 26 columns.
    pub fn csv(&self) -> String {
        let report = self.report;
        let some = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
        let number = |n: Option<u32>| n.map(|n| n.to_string());
        let quoted = |text: Option<String>| text.map(|text| format!("\"{}\"", text.replace('"', "\"\"")));
        let of = |field: fn(&Subject) -> String| self.subject.map(field).and_then(|text| some(&text));
        let from = of(|s| s.port.map_or(s.host.clone(), |port| format!("{}:{port}", s.host)));
        let columns = [
            Some(Moment::new(self.now, self.zone).text(true)),
            quoted(of(|s| s.user.clone())),
            quoted(of(|s| s.database.clone())),
            Some(self.pid().to_string()),
            quoted(from),
            Some(self.session()),
            Some(self.number.to_string()),
            quoted(self.subject.map(|_| self.situation.command.clone())),
            Some(Moment::new(self.since(), self.zone).text(false)),
            self.situation.virtual_xid.clone(),
            Some(self.situation.xid.to_string()),
            Some(report.severity.as_str().to_string()),
            Some(report.code.to_string()),
            quoted(some(&report.message)),
            quoted(report.detail.clone()),
            quoted(report.hint.clone()),
            quoted(report.internal_query.clone()),
            number(report.internal_position.filter(|_| report.internal_query.is_some())),
            quoted(report.context.clone()),
            quoted(self.statement.map(str::to_string)),
            number(self.cursor()),
            None,
            quoted(self.subject.and_then(|_| some(self.application()))),
            quoted(some(self.backend_type())),
            None,
            Some(self.situation.query_id.to_string()),
        ];
        let mut out = columns.map(Option::unwrap_or_default).join(",");
        out.push('\n');
        out
    }

    /// A line that is a JSON object; what is not known has no key.
    pub fn json(&self) -> String {
        let mut out = Object::default();
        let report = self.report;
        let number = |n: Option<u32>| n.map(|n| n.to_string());
        out.text("timestamp", Some(&Moment::new(self.now, self.zone).text(true)));
        out.text("user", self.subject.map(|s| s.user.as_str()));
        out.text("dbname", self.subject.map(|s| s.database.as_str()));
        out.plain("pid", Some(self.pid().to_string()));
        out.text("remote_host", self.subject.map(|s| s.host.as_str()));
        out.plain("remote_port", self.subject.and_then(|s| s.port).map(|port| port.to_string()));
        out.text("session_id", Some(&self.session()));
        out.plain("line_num", Some(self.number.to_string()));
        out.text("ps", self.subject.map(|_| self.situation.command.as_str()));
        out.text("session_start", Some(&Moment::new(self.since(), self.zone).text(false)));
        out.text("vxid", self.situation.virtual_xid.as_deref());
        out.plain("txid", Some(self.situation.xid.to_string()));
        out.text("error_severity", Some(report.severity.as_str()));
        let code = report.code.to_string();
        out.text("state_code", Some(code.as_str()).filter(|code| *code != "00000"));
        out.text("message", Some(&report.message));
        out.text("detail", report.detail.as_deref());
        out.text("hint", report.hint.as_deref());
        out.text("internal_query", report.internal_query.as_deref());
        let internal = report.internal_position.filter(|_| report.internal_query.is_some());
        out.plain("internal_position", number(internal));
        out.text("context", report.context.as_deref());
        out.text("statement", self.statement);
        out.plain("cursor_position", number(self.cursor()));
        out.text("application_name", self.subject.map(|_| self.application()));
        out.text("backend_type", Some(self.backend_type()));
        out.plain("query_id", Some(self.situation.query_id.to_string()));
        out.0.push_str("}\n");
        out.0
    }
}

/// A JSON object under construction; its end is the caller's.
#[derive(Default)]
struct Object(String);

impl Object {
    fn plain(&mut self, key: &str, value: Option<String>) {
        if let Some(value) = value {
            let before = if self.0.is_empty() { '{' } else { ',' };
            let _ = write!(self.0, "{before}\"{key}\":{value}");
        }
    }

    /// An empty text is left out.
    fn text(&mut self, key: &str, value: Option<&str>) {
        self.plain(key, value.filter(|text| !text.is_empty()).map(json_string));
    }
}

fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            '\u{8}' => write!(out, "\\b"),
            '\u{c}' => write!(out, "\\f"),
            c if (c as u32) < 0x20 => write!(out, "\\u{:04x}", c as u32),
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_line<T>(use_it: impl FnOnce(&mut Line<'_>) -> T) -> T {
        let subject = Subject {
            pid: 42,
            user: "me".into(),
            host: "10.0.0.1".into(),
            port: Some(99),
            ..Subject::default()
        };
        let situation = Situation {
            command: "SELECT".into(),
            virtual_xid: Some("3/4".into()),
            xid: 7,
            application: "psql".into(),
            query_id: -8,
            ..Situation::default()
        };
        let error = base::sql_err!(UNIQUE_VIOLATION, "two\n\"lines\"").detail("d").hint("h");
        use_it(&mut Line {
            report: error.report(),
            subject: Some(&subject),
            situation: &situation,
            statement: Some("select\n1"),
            now: 0,
            number: 5,
            verbosity: Verbosity::Default,
            zone: &TimeZone::utc(),
        })
    }

    #[test]
    fn prefix_and_parts() {
        let prefix = "%m [%p] %q%u@%d %r %e %-4p|%5p%% %a %i %v %x %l%P%Q %c: ";
        let text = with_line(|line| line.text(prefix));
        let head = "2000-01-01 00:00:00.000 UTC [42] me@[unknown] 10.0.0.1(99) 23505 42  |   42% psql SELECT 3/4 7 5-8 \
                    386d4380.2a: ";
        assert_eq!(
            text,
            format!(
                "{head}ERROR:  two\n\t\"lines\"\n{head}DETAIL:  d\n{head}HINT:  h\n{head}STATEMENT:  select\n\t1\n"
            )
        );
        let own = with_line(|line| {
            (line.subject, line.verbosity) = (None, Verbosity::Verbose);
            line.text("%t %q%u ")
        });
        assert!(own.starts_with("2000-01-01 00:00:00 UTC ERROR:  23505: two"), "{own}");
        let terse = with_line(|line| {
            (line.verbosity, line.statement) = (Verbosity::Terse, Some("s"));
            line.text("")
        });
        assert_eq!(terse, "ERROR:  two\n\t\"lines\"\nSTATEMENT:  s\n");
    }

    #[test]
    fn csv_and_json() {
        assert_eq!(
            with_line(|line| line.csv()),
            "2000-01-01 00:00:00.000 UTC,\"me\",,42,\"10.0.0.1:99\",386d4380.2a,5,\"SELECT\",2000-01-01 00:00:00 UTC,3/4,7,\
             ERROR,23505,\"two\n\"\"lines\"\"\",\"d\",\"h\",,,,\"select\n1\",,,\"psql\",\"client backend\",,-8\n"
        );
        assert_eq!(
            with_line(|line| line.json()),
            "{\"timestamp\":\"2000-01-01 00:00:00.000 UTC\",\"user\":\"me\",\"pid\":42,\"remote_host\":\"10.0.0.1\",\
             \"remote_port\":99,\"session_id\":\"386d4380.2a\",\"line_num\":5,\"ps\":\"SELECT\",\"session_start\":\
             \"2000-01-01 00:00:00 UTC\",\"vxid\":\"3/4\",\"txid\":7,\"error_severity\":\"ERROR\",\"state_code\":\"23505\",\
             \"message\":\"two\\n\\\"lines\\\"\",\"detail\":\"d\",\"hint\":\"h\",\"statement\":\"select\\n1\",\
             \"application_name\":\"psql\",\"backend_type\":\"client backend\",\"query_id\":-8}\n"
        );
    }
}
