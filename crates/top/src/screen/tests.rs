//! What is on the screen.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::app::{Request, Update};
use crate::model::{Lock, Server, Session, Snapshot, Totals};
use crate::view::Shown;

fn session(pid: i32, state: &str, seconds: f64, query: &str) -> Session {
    Session {
        pid,
        user: "app".into(),
        database: "shop".into(),
        application: "worker".into(),
        client: "10.0.0.7:51234".into(),
        state: state.into(),
        in_state: Some(seconds),
        in_transaction: (state != "idle").then_some(seconds),
        in_query: Some(seconds),
        kind: "client backend".into(),
        query: query.into(),
        ..Session::default()
    }
}

fn snapshot() -> Snapshot {
    let mut waiter = session(32, "active", 31.0, "update accounts\n set balance = 1\n where id = 7");
    waiter.wait_type = "Lock".into();
    waiter.wait_event = "transactionid".into();
    waiter.blocked_by = vec![31];
    Snapshot {
        server: Server {
            version: "PostgreSQL 18.1 (Stampede 0.1.0)".into(),
            database: "shop".into(),
            own_pid: 99,
            max_connections: 10_000,
            uptime: 7800.0,
            clock: "14:03:22".into(),
            epoch: 1000.0,
        },
        totals: Totals {
            commits: 120_000.0,
            rollbacks: 3.0,
            hits: 999.0,
            reads: 1.0,
            temp_bytes: 20480.0,
            deadlocks: 0.0,
        },
        sessions: vec![
            session(30, "idle", 5.0, "commit"),
            session(31, "idle in transaction", 42.0, "update accounts set balance = 0 where id = 7"),
            waiter,
            session(33, "active", 3600.0, "select count(*) from a, b, c \x1b[31m"),
            session(99, "active", 0.0, "select pid, usename"),
        ],
        wanted: vec![Lock {
            pid: 32,
            object: "transaction 812".into(),
            mode: "ShareLock".into(),
            granted: false,
        }],
        statements: None,
    }
}

fn app() -> App {
    App::new("db:5432".into(), Shown { own: false, idle: true, background: false }, snapshot())
}

fn press(app: &mut App, code: KeyCode) -> Option<Request> {
    app.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn drawn(app: &mut App, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, app)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_string();
    (0..height).map(line).collect()
}

#[test]
fn sessions_at_80_columns() {
    assert_eq!(
        drawn(&mut app(), 80, 12),
        [
            "PostgreSQL 18.1 (Stampede 0.1.0), db:5432/shop, up 2h10m                14:03:22",
            "5/10000 connections: 3 active, 1 idle in tx, 1 idle, 1 blocked",
            "120.0k commits, 3 rollbacks, 99.9% cache hits, 20.0 kB temp, 0 deadlocks",
            " 1 Sessions  2 Waits  3 Statements  4 Locks",
            " PID USER  DB   STATE▴     WAIT               TIME  XACT BY  QUERY",
            "  33 app   shop active                       1h00m 1h00m     select count(*) fr…",
            "  32 app   shop active     Lock:transaction…   31s   31s 31  update accounts se…",
            "  31 app   shop idle in tx                     42s   42s     update accounts se…",
            "  30 app   shop idle                          5.0s           commit",
            "",
            "",
            "s sort r reverse / filter i idle enter show c cancel t terminate R role ? q",
        ]
    );
}

#[test]
fn wide_screens_show_all_columns() {
    let screen = drawn(&mut app(), 200, 12);
    for text in ["APP", "worker", "10.0.0.7:51234", "Lock:transactionid", "where id = 7"] {
        assert!(screen.iter().any(|line| line.contains(text)), "{text} is missing in {screen:#?}");
    }
}

#[test]
fn locks_are_a_tree() {
    let mut app = app();
    assert_eq!(press(&mut app, KeyCode::Char('4')), Some(Request::Watch(View::Locks)));
    assert_eq!(
        drawn(&mut app, 110, 9)[4..7],
        [
            "SESSION  USER  DB   STATE       TIME WAITS FOR                  QUERY",
            "31       app   shop idle in tx   42s                            update accounts set balance = 0 where id = 7",
            "└─ 32    app   shop active       31s transaction 812, ShareLock update accounts set balance = 1 where id = 7",
        ]
    );
}

#[test]
fn a_session_in_full() {
    let mut app = app();
    app.filter = "balance = 1".into();
    assert_eq!(press(&mut app, KeyCode::Enter), Some(Request::Locks(32)));
    let lock =
        Lock { pid: 32, object: "relation accounts".into(), mode: "RowExclusiveLock".into(), granted: true };
    app.update(Update::Locks(32, vec![snapshot().wanted[0].clone(), lock]));
    assert_eq!(
        drawn(&mut app, 80, 24)[4..],
        [
            "Session 32 (client backend)",
            "  role app, database shop",
            "  application worker, client 10.0.0.7:51234",
            "  connected since - (-)",
            "  state active for 31s",
            "  statement began 31s ago, transaction 31s ago",
            "  waits for Lock: transactionid",
            "  blocked by 31",
            "",
            "Runs:",
            "  update accounts",
            "   set balance = 1",
            "   where id = 7",
            "",
            "Locks: 2",
            "  WAITS   ShareLock on transaction 812",
            "  holds   RowExclusiveLock on relation accounts",
            "",
            "",
            "esc back  j/k scroll  c cancel  t terminate  R role  space read locks again",
        ]
    );
    // What is scrolled too far stays at the end.
    for _ in 0..100 {
        press(&mut app, KeyCode::Char('j'));
    }
    let screen = drawn(&mut app, 80, 12);
    assert_eq!(screen[10], "  holds   RowExclusiveLock on relation accounts");
    press(&mut app, KeyCode::Char('k'));
    assert_eq!(drawn(&mut app, 80, 12)[10], "  WAITS   ShareLock on transaction 812");
}

#[test]
fn the_selected_row_stays_in_sight() {
    let mut app = app();
    app.snapshot.sessions = (1..=50).map(|pid| session(pid, "idle", 1.0, "x")).collect();
    drawn(&mut app, 80, 12);
    for _ in 0..30 {
        press(&mut app, KeyCode::Down);
    }
    assert!(drawn(&mut app, 80, 12)[10].trim_start().starts_with("31 "));
    // There are fewer now; the last lines are full.
    app.snapshot.sessions.truncate(10);
    let screen = drawn(&mut app, 80, 12);
    assert!(screen[10].trim_start().starts_with("10 "), "{screen:#?}");
    assert!(screen[5].trim_start().starts_with("5 "), "{screen:#?}");
}

#[test]
fn lost_connections_are_told() {
    let mut app = app();
    app.update(Update::Lost("connection refused".into()));
    assert_eq!(drawn(&mut app, 80, 12)[11], "Connection lost, trying again: connection refused");
    app.update(Update::Snapshot(Box::new(snapshot())));
    assert_eq!(drawn(&mut app, 80, 12)[11], "connected again");
}

#[test]
fn any_size_will_do() {
    for view in ['1', '2', '3', '4', '?'] {
        for (width, height) in [(1, 1), (20, 8), (21, 9), (40, 200), (500, 8)] {
            let mut app = app();
            press(&mut app, KeyCode::Char(view));
            drawn(&mut app, width, height);
            press(&mut app, KeyCode::Char('/'));
            press(&mut app, KeyCode::Char('ä'));
            drawn(&mut app, width, height);
        }
    }
}
