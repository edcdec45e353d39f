//! Statements: those that `pg_stat_statements` counts; without it, those that run, by their text.

use std::collections::BTreeMap;

use super::{Shown, column, figures};
use crate::model::{Session, Snapshot, Statement};
use crate::table::{Cell, Column, Row, Table, Tone};
use crate::text::{count, duration, milliseconds, one_line, without_values};

/// Place of the column with the time that all calls took; of both tables.
pub const TOTAL: usize = 3;

const RECORDED: &[Column] = &[
    column("USER", 6, 16, 3),
    column("DB", 6, 16, 2),
    figures("CALLS", 6, 8, 8),
    figures("TOTAL", 6, 9, 8),
    figures("MEAN", 6, 9, 7),
    figures("ROWS", 6, 8, 6),
    column("STATEMENT", 0, 0, 9),
];

const RUNNING: &[Column] = &[
    figures("SESSIONS", 5, 8, 8),
    figures("BLOCKED", 5, 8, 6),
    figures("LONGEST", 6, 8, 7),
    figures("TOTAL", 6, 8, 7),
    column("STATEMENT THAT RUNS", 0, 0, 9),
];

/// The table.
pub fn table(snapshot: &Snapshot, shown: Shown) -> Table {
    match &snapshot.statements {
        Some(statements) => Table {
            columns: RECORDED,
            rows: statements.iter().map(recorded).collect(),
            empty: "pg_stat_statements has no statement.",
        },
        None => Table { columns: RUNNING, rows: running(snapshot, shown), empty: "No statement runs." },
    }
}

fn recorded(statement: &Statement) -> Row {
    Row {
        key: format!("{} {} {}", statement.user, statement.database, statement.text),
        pid: None,
        tone: Tone::Plain,
        cells: vec![
            Cell::text(one_line(&statement.user)),
            Cell::text(one_line(&statement.database)),
            Cell::number(statement.calls, count(statement.calls)),
            Cell::number(statement.total, milliseconds(statement.total)),
            Cell::number(statement.mean, milliseconds(statement.mean)),
            Cell::number(statement.rows, count(statement.rows)),
            Cell::text(one_line(&statement.text)),
        ],
    }
}

fn running(snapshot: &Snapshot, shown: Shown) -> Vec<Row> {
    let mut groups: BTreeMap<String, Vec<&Session>> = BTreeMap::new();
    let runs = |session: &&Session| {
        session.state == "active" && (shown.own || session.pid != snapshot.server.own_pid)
    };
    for session in snapshot.sessions.iter().filter(runs) {
        groups.entry(without_values(&session.query)).or_default().push(session);
    }
    groups.into_iter().map(|(text, sessions)| group(text, &sessions)).collect()
}

fn group(text: String, sessions: &[&Session]) -> Row {
    let times = sessions.iter().filter_map(|session| session.in_query);
    let (longest, total) = (times.clone().fold(0.0, f64::max), times.sum::<f64>());
    let blocked = sessions.iter().filter(|session| !session.blocked_by.is_empty()).count();
    Row {
        key: text.clone(),
        pid: None,
        tone: if blocked > 0 { Tone::Blocked } else { Tone::Plain },
        cells: vec![
            Cell::number(sessions.len() as f64, sessions.len().to_string()),
            Cell::number(blocked as f64, blocked.to_string()),
            Cell::number(longest, duration(longest)),
            Cell::number(total, duration(total)),
            Cell::text(text),
        ],
    }
}
