//! What keys do.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::model::Server;

fn session(pid: i32, user: &str, seconds: f64) -> Session {
    Session {
        pid,
        user: user.into(),
        state: "active".into(),
        in_state: Some(seconds),
        started: format!("2026-01-01 00:00:{pid}"),
        kind: "client backend".into(),
        ..Session::default()
    }
}

fn snapshot(epoch: f64, sessions: Vec<Session>) -> Snapshot {
    Snapshot { server: Server { own_pid: 9, epoch, ..Server::default() }, sessions, ..Snapshot::default() }
}

/// Shown from top to bottom: 1, 2, 3, and with `own` our own, 9.
fn app() -> App {
    let sessions =
        vec![session(3, "a", 10.0), session(2, "b", 20.0), session(1, "a", 30.0), session(9, "a", 0.0)];
    let shown = Shown { own: false, idle: true, background: false };
    App::new("here".into(), shown, snapshot(100.0, sessions))
}

fn press(app: &mut App, keys: &str) -> Option<Request> {
    let press = |app: &mut App, c| {
        let code = match c {
            '\n' => KeyCode::Enter,
            '\x1b' => KeyCode::Esc,
            '\x08' => KeyCode::Backspace,
            '\t' => KeyCode::Tab,
            c => KeyCode::Char(c),
        };
        app.key(KeyEvent::new(code, KeyModifiers::NONE))
    };
    keys.chars().map(|c| press(app, c)).last().flatten()
}

fn selected(app: &App) -> Option<i32> {
    app.selected().and_then(|row| row.pid)
}

fn notice(app: &App) -> &str {
    app.notice.as_ref().map(|notice| notice.text.as_str()).unwrap_or_default()
}

#[test]
fn the_selection_follows_its_session() {
    let mut app = app();
    press(&mut app, "j");
    assert_eq!(selected(&app), Some(2));
    // By pid, backwards; then the picture changes.
    press(&mut app, "SSSSSr");
    assert_eq!(app.table().rows.iter().filter_map(|row| row.pid).collect::<Vec<_>>(), [3, 2, 1]);
    app.update(Update::Snapshot(Box::new(snapshot(
        101.0,
        vec![session(2, "b", 21.0), session(7, "a", 0.0)],
    ))));
    assert_eq!(selected(&app), Some(2));
    app.update(Update::Snapshot(Box::new(snapshot(102.0, Vec::new()))));
    assert_eq!(selected(&app), None);
    assert_eq!(press(&mut app, "\n"), None);
    press(&mut app, "t");
    assert_eq!(app.mode, Mode::Table);
}

#[test]
fn sessions_are_ended_after_a_question_only() {
    let mut app = app();
    let end = |means, pid: i32, user: &str| {
        let whom = Ask::Session { pid, started: format!("2026-01-01 00:00:{pid}"), user: user.into() };
        Some(Request::End(End { means, whom }))
    };
    assert_eq!(press(&mut app, "jt"), None);
    let Mode::Asking(question) = &app.mode else { panic!("nothing is asked") };
    assert_eq!(question.text(), "Terminate session 2 (role b)? y/n");
    // The one that was asked about is meant, whatever is shown by now.
    app.update(Update::Snapshot(Box::new(snapshot(101.0, vec![session(1, "a", 31.0)]))));
    assert_eq!(press(&mut app, "y"), end(Means::Terminate, 2, "b"));
    assert_eq!(press(&mut app, "cy"), end(Means::Cancel, 1, "a"));
    for no in ["n", "q", "\n", "\x1b", " ", "t"] {
        assert_eq!(press(&mut app, &format!("t{no}")), None);
        assert_eq!((notice(&app), &app.mode), ("nothing was ended", &Mode::Table));
    }
}

#[test]
fn roles_are_ended_after_two_questions() {
    let mut app = app();
    press(&mut app, "R");
    let Mode::Asking(question) = &app.mode else { panic!("nothing is asked") };
    // Our own is not counted.
    assert!(question.text().starts_with("2 sessions of role a: "), "{}", question.text());
    press(&mut app, "t");
    let Mode::Asking(question) = &app.mode else { panic!("nothing more is asked") };
    assert_eq!(question.text(), "Terminate all 2 sessions of role a? y/n");
    let whom = Ask::Role { role: "a".into(), sessions: 2 };
    assert_eq!(press(&mut app, "y"), Some(Request::End(End { means: Means::Terminate, whom })));
    assert_eq!(press(&mut app, "Ry"), None);
    assert_eq!(app.mode, Mode::Table);
}

#[test]
fn our_own_session_is_not_ended() {
    let mut app = app();
    press(&mut app, "oG");
    assert_eq!(selected(&app), Some(9));
    press(&mut app, "t");
    assert_eq!((notice(&app), &app.mode), ("this is the session of stampede top", &Mode::Table));
    // A view without sessions has none to end.
    press(&mut app, "2c");
    assert_eq!(notice(&app), "select a session first (views 1 and 4)");
}

#[test]
fn answers_are_told() {
    let one = End {
        means: Means::Terminate,
        whom: Ask::Session { pid: 2, started: String::new(), user: "b".into() },
    };
    assert_eq!(one.outcome(&[true]), Ok("session 2: terminated".into()));
    assert_eq!(one.outcome(&[]), Err("session 2 has gone already".into()));
    assert!(one.outcome(&[false]).is_err());
    let role = End { means: Means::Cancel, whom: Ask::Role { role: "a".into(), sessions: 2 } };
    assert_eq!(
        role.outcome(&[true, true]),
        Ok("role a: 2 sessions, each asked to cancel its statement".into())
    );
    assert!(role.outcome(&[true, false]).is_err());
}

#[test]
fn filters_are_typed() {
    let mut app = app();
    press(&mut app, "/bq");
    assert_eq!((app.filter.as_str(), selected(&app)), ("bq", None));
    press(&mut app, "\x08");
    assert_eq!(selected(&app), Some(2));
    // Enter keeps it, and keys mean again what they mean.
    press(&mut app, "\n");
    assert_eq!((app.filter.as_str(), &app.mode), ("b", &Mode::Table));
    // Escape brings the one before back, and then takes it away.
    press(&mut app, "/x\x1b");
    assert_eq!(app.filter, "b");
    press(&mut app, "\x1b");
    assert_eq!(app.filter, "");
}

#[test]
fn paused_pictures_stand_still() {
    let mut app = app();
    press(&mut app, "p");
    app.update(Update::Snapshot(Box::new(snapshot(101.0, Vec::new()))));
    assert_eq!(app.table().rows.len(), 3);
    press(&mut app, "p");
    app.update(Update::Snapshot(Box::new(snapshot(102.0, Vec::new()))));
    assert_eq!(app.table().rows.len(), 0);
}

#[test]
fn views_and_quitting() {
    let mut app = app();
    assert_eq!(press(&mut app, "3"), Some(Request::Watch(View::Statements)));
    assert_eq!(press(&mut app, "\t\t"), Some(Request::Watch(View::Sessions)));
    // What closes a window does not close the program.
    assert_eq!(press(&mut app, "\nq"), None);
    assert_eq!(press(&mut app, "?q"), None);
    assert_eq!(press(&mut app, "q"), Some(Request::Quit));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    // Control makes another key of a letter.
    assert_eq!(app.key(KeyEvent::new(KeyCode::Char('t'), KeyModifiers::CONTROL)), None);
    assert_eq!(app.mode, Mode::Table);
    press(&mut app, "t");
    assert_eq!(app.key(interrupt), Some(Request::Quit));
}
