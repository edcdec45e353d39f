//! Sessions: who is connected, does what, and since when.

use super::{Shown, column, figures};
use crate::model::{Session, Snapshot};
use crate::table::{Cell, Column, Row, Table, Tone};
use crate::text::{duration, one_line};

/// Place of the column that tells what a session does.
pub const STATE: usize = 5;

const COLUMNS: &[Column] = &[
    Column { falling: false, ..figures("PID", 6, 8, 9) },
    column("USER", 6, 16, 5),
    column("DB", 6, 16, 3),
    column("APP", 8, 20, 2),
    column("CLIENT", 8, 24, 1),
    column("STATE", 10, 11, 7),
    column("WAIT", 14, 26, 4),
    figures("TIME", 6, 6, 8),
    figures("XACT", 6, 6, 6),
    column("BY", 6, 14, 7),
    column("QUERY", 0, 0, 9),
];

/// The table. Among equals, those that are longest at it come first.
pub fn table(snapshot: &Snapshot, shown: Shown) -> Table {
    let is_shown = |session: &&Session| {
        (shown.own || session.pid != snapshot.server.own_pid)
            && (shown.idle || session.state != "idle")
            && (shown.background || session.is_client())
    };
    let mut sessions: Vec<&Session> = snapshot.sessions.iter().filter(is_shown).collect();
    let since = |session: &Session| session.in_state.unwrap_or(0.0);
    sessions.sort_by(|a, b| since(b).total_cmp(&since(a)).then(a.pid.cmp(&b.pid)));
    Table { columns: COLUMNS, rows: sessions.into_iter().map(row).collect(), empty: "No session to show." }
}

fn row(session: &Session) -> Row {
    Row {
        key: session.pid.to_string(),
        pid: Some(session.pid),
        tone: tone(session),
        cells: vec![
            Cell::number(session.pid.into(), session.pid.to_string()),
            Cell::text(one_line(&session.user)),
            Cell::text(one_line(&session.database)),
            Cell::text(one_line(&session.application)),
            Cell::text(one_line(&session.client)),
            Cell::number(rank(session), state(session)),
            Cell::text(wait(session)),
            since(session.in_state),
            since(session.in_transaction),
            Cell::text(pids(&session.blocked_by)),
            Cell::text(if session.is_client() { one_line(&session.query) } else { one_line(&session.kind) }),
        ],
    }
}

pub(super) fn since(seconds: Option<f64>) -> Cell {
    Cell::number(seconds.unwrap_or(f64::NEG_INFINITY), seconds.map(duration).unwrap_or_default())
}

/// A state, short.
pub(super) fn state(session: &Session) -> String {
    match session.state.as_str() {
        "idle in transaction" => "idle in tx",
        "idle in transaction (aborted)" => "aborted tx",
        "fastpath function call" => "fastpath",
        other => other,
    }
    .to_string()
}

/// What is of most interest comes first.
fn rank(session: &Session) -> f64 {
    match session.state.as_str() {
        "active" | "fastpath function call" => 0.0,
        "idle in transaction" => 1.0,
        "idle in transaction (aborted)" => 2.0,
        "idle" => 3.0,
        _ => 4.0,
    }
}

/// `Lock:transactionid`.
pub(super) fn wait(session: &Session) -> String {
    match session.wait_event.as_str() {
        "" => String::new(),
        event => one_line(&format!("{}:{event}", session.wait_type)),
    }
}

/// `7,12`; 0, a prepared transaction, by its name.
pub(crate) fn pids(pids: &[i32]) -> String {
    let names = pids.iter().map(|pid| if *pid == 0 { "prepared".to_string() } else { pid.to_string() });
    names.collect::<Vec<_>>().join(",")
}

fn tone(session: &Session) -> Tone {
    match session.state.as_str() {
        _ if !session.blocked_by.is_empty() => Tone::Blocked,
        "active" => Tone::Busy,
        _ if session.is_idle_in_transaction() => Tone::Warning,
        _ => Tone::Faint,
    }
}
