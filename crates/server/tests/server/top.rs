//! `stampede top` against a server: as text, and through a terminal of the test's own.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use crate::support::authority::{Authority, secured_server};
use crate::support::{Client, Server, output, signal_to, text, until};

const FOREVER: &str = "select pg_sleep(1000000)";

fn top(server: &Server) -> Command {
    let mut command = server.tool(env!("CARGO_BIN_EXE_stampede"));
    command.args(["top", "--interval", "0.1"]).env("TERM", "xterm-256color");
    command
}

fn pid(client: &mut Client) -> String {
    client.value("select pg_backend_pid()")
}

/// Runs a statement that nobody ends but the test, and waits until it is seen to wait so.
fn stuck(
    server: &Server,
    mut client: Client,
    statement: &'static str,
    wait: &str,
) -> std::thread::JoinHandle<String> {
    let pid = pid(&mut client);
    let thread = std::thread::spawn(move || client.error(statement));
    let seen = format!("select count(*) from pg_stat_activity where pid = {pid} and wait_event = '{wait}'");
    let mut looker = server.client();
    until("the statement waits", || looker.value(&seen) == "1");
    thread
}

#[test]
fn over_tls() {
    let authority = Authority::new("authority");
    let mut server = secured_server(&authority);
    authority.sign(&server.data(), "server", &[("CN", "localhost")], 8, &["localhost"]);
    server.run();
    let once = |server: &Server, host: &str, mode: &str, roots: &str| {
        let mut command = top(server);
        command.args(["--once", "--host", host]).env("PGSSLMODE", mode).env("PGSSLROOTCERT", roots);
        let done = output(&mut command);
        (done.status.success(), text(&done))
    };
    let signed = server.file("root.crt").display().to_string();
    assert!(once(&server, "localhost", "require", "/nonexistent/root.crt").0);
    assert!(once(&server, "localhost", "verify-full", &signed).0);
    assert!(once(&server, "127.0.0.1", "verify-ca", &signed).0);
    let (succeeded, said) = once(&server, "127.0.0.1", "verify-full", &signed);
    assert!(!succeeded && said.contains("not valid for name"), "{said}");

    // What many begin with: the server's certificate is its own authority.
    Authority::self_signed(&server.data(), "server");
    server.stop();
    server.run();
    let own = server.data().join("server.crt").display().to_string();
    assert!(
        once(&server, "localhost", "verify-full", &own).0,
        "{}",
        once(&server, "localhost", "verify-full", &own).1
    );
    assert!(once(&server, "127.0.0.1", "verify-ca", &own).0);
    let (succeeded, said) = once(&server, "127.0.0.1", "verify-full", &own);
    assert!(!succeeded && said.contains("not valid for name"), "{said}");
    let (succeeded, said) = once(&server, "localhost", "verify-ca", &signed);
    assert!(!succeeded && said.contains("invalid peer certificate"), "{said}");
}

#[test]
fn once_as_text() {
    let server = Server::start(&[]);
    let (mut holder, mut waiter) = (server.client(), server.client());
    holder.query("create table accounts (id int, balance int)").unwrap();
    holder.query("begin; lock table accounts").unwrap();
    let (holds, waits) = (pid(&mut holder), pid(&mut waiter));
    let waiter = stuck(&server, waiter, "update accounts set balance = 0 where id = 4711", "relation");

    let shown = output(top(&server).arg("--once"));
    assert!(shown.status.success(), "{}", text(&shown));
    let shown = String::from_utf8(shown.stdout).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].contains("Stampede"), "{shown}");
    assert!(lines[1].contains("1 idle in tx") && lines[1].ends_with("1 blocked"), "{shown}");
    // Who waits, for what, and for whom: among the sessions, and below the one in its way.
    let session =
        lines.iter().find(|line| line.trim_start().starts_with(&waits)).expect("the waiting session");
    assert!(session.contains("Lock:relation") && session.contains(&format!(" {holds} ")), "{shown}");
    let trees = &lines[lines.iter().position(|line| *line == "Locks:").expect("locks")..];
    let root =
        trees.iter().position(|line| line.starts_with(&format!("{holds} ")) && line.contains("idle in tx"));
    let below = trees[root.expect("the blocker at the root of a tree") + 1];
    assert!(below.starts_with(&format!("└─ {waits} ")), "{shown}");
    assert!(below.contains("relation accounts, RowExclusiveLock"), "{shown}");
    // Statements without their values.
    assert!(lines.contains(&"Statements:") && shown.contains("balance = ? where id = ?"), "{shown}");
    // Its own session only if it is asked for.
    assert!(!shown.contains("stampede top"), "{shown}");
    let own = output(top(&server).args(["--once", "--own"]));
    assert!(text(&own).contains("stampede top"), "{}", text(&own));

    holder.query(&format!("select pg_cancel_backend({waits})")).unwrap();
    assert_eq!(waiter.join().unwrap(), "57014 canceling statement due to user request");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let mut server = Server::start(&[]);
    server.stop();
    let failed = output(top(&server).arg("--once"));
    assert_eq!(failed.status.code(), Some(1));
    let place = format!("{}:{}", server.socket().display(), server.port);
    assert!(text(&failed).starts_with(&format!("top: error: connection to server at \"{place}\" failed: ")));
}

/// A terminal of 24 lines and 100 columns, in which the program runs.
struct Terminal {
    master: File,
    /// Kept open so that its state can be looked at when the program has ended.
    slave: OwnedFd,
    before: libc::termios,
    child: Child,
    output: Arc<Mutex<Vec<u8>>>,
}

const LINES: u16 = 24;
const COLUMNS: u16 = 100;

impl Terminal {
    fn run(mut command: Command) -> Terminal {
        let (mut master, mut slave) = (0, 0);
        let size = libc::winsize { ws_row: LINES, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: both places are valid; no name and no settings are asked for.
        let opened =
            unsafe { libc::openpty(&mut master, &mut slave, std::ptr::null_mut(), std::ptr::null(), &size) };
        assert_eq!(opened, 0);
        // SAFETY: both were just opened and are nobody else's.
        let (master, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
        let end = || Stdio::from(slave.try_clone().unwrap());
        let before = settings(&slave);
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let output = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, sink) = (master.try_clone().unwrap(), output.clone());
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                sink.lock().unwrap().extend_from_slice(&buffer[..length]);
            }
        });
        Terminal { master, slave, before, child, output }
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// What is on the screen.
    fn screen(&self) -> String {
        let output = self.output.lock().unwrap();
        drawn(&String::from_utf8_lossy(&output))
    }

    fn waits_for(&self, text: &str) {
        let mut screen = String::new();
        let shown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(&format!("{text:?} is on the screen"), || {
                screen = self.screen();
                screen.contains(text)
            });
        }));
        assert!(shown.is_ok(), "{text:?} is not on the screen:\n{}", self.screen());
    }

    /// Waits for the program's end; the terminal is as it was.
    fn ends_well(&mut self) {
        let status = crate::support::wait(&mut self.child).expect("it ends");
        assert!(status.success(), "{status}");
        let after = settings(&self.slave);
        assert_eq!(
            (after.c_lflag, after.c_iflag, after.c_oflag),
            (self.before.c_lflag, self.before.c_iflag, self.before.c_oflag)
        );
        // The other screen is left, the cursor shows.
        until("the terminal is told", || {
            let output = self.output.lock().unwrap();
            let output = String::from_utf8_lossy(&output);
            output.rfind("\x1b[?1049l") > output.rfind("\x1b[?1049h")
                && output.rfind("\x1b[?25h") > output.rfind("\x1b[?25l")
        });
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings(terminal: &OwnedFd) -> libc::termios {
    // SAFETY: all zeros is a value of this type, and the call fills it.
    unsafe {
        let mut settings = std::mem::zeroed();
        assert_eq!(libc::tcgetattr(terminal.as_raw_fd(), &mut settings), 0);
        settings
    }
}

/// The screen after some output: text, moves of the cursor, clearing; all else is colour.
fn drawn(output: &str) -> String {
    let blank = vec![vec![' '; COLUMNS.into()]; LINES.into()];
    let (mut cells, mut x, mut y) = (blank.clone(), 0, 0);
    let mut chars = output.chars();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' if chars.as_str().starts_with('[') => {
                let sequence: String =
                    chars.as_str().chars().skip(1).take_while(|c| !c.is_ascii_alphabetic()).collect();
                let command = chars.by_ref().nth(1 + sequence.len());
                let mut numbers = sequence.split(';').map(|number| number.parse::<usize>().unwrap_or(1));
                match command {
                    Some('H') => (y, x) = (numbers.next().unwrap_or(1) - 1, numbers.next().unwrap_or(1) - 1),
                    Some('J') => cells.clone_from(&blank),
                    _ => {}
                }
            }
            c if c.is_control() => {}
            c => {
                if let Some(cell) = cells.get_mut(y).and_then(|line| line.get_mut(x)) {
                    *cell = c;
                }
                x += 1;
            }
        }
    }
    cells.iter().map(|line| line.iter().collect::<String>()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_runaway_query_is_found_and_ended() {
    let mut server = Server::start(&[]);
    let mut other = server.client();
    let mut runaway = server.client();
    let runs = pid(&mut runaway);
    let runaway = stuck(&server, runaway, FOREVER, "PgSleep");
    let mut terminal = Terminal::run(top(&server));
    terminal.waits_for("select pg_sleep");

    // Found by its text, looked at in full, and ended after a question.
    terminal.press("/1000000\r");
    terminal.waits_for("with \"1000000\"");
    terminal.press("\r");
    terminal.waits_for(&format!("Session {runs} (client backend)"));
    terminal.waits_for("holds   ExclusiveLock on virtual transaction");
    terminal.press("t");
    terminal.waits_for(&format!("Terminate session {runs} (role postgres)? y/n"));
    terminal.press("y");
    terminal.waits_for(&format!("session {runs}: terminated"));
    assert_eq!(runaway.join().unwrap(), "57P01 terminating connection due to administrator command");
    terminal.waits_for("Nothing contains the filter's text.");
    // Nobody else was.
    assert_eq!(other.value("select 1"), "1");

    // It outlives the server.
    server.kill();
    terminal.waits_for("Connection lost, trying again: ");
    server.run();
    terminal.waits_for("connected again");
    terminal.press("q");
    terminal.ends_well();
}

#[test]
fn all_sessions_of_a_role_are_ended() {
    let server = Server::start(&[]);
    let mut boss = server.client();
    boss.query("create role app login").unwrap();
    let apps: Vec<_> = (0..3)
        .map(|_| stuck(&server, server.connect(&[("user", "app")]).unwrap(), FOREVER, "PgSleep"))
        .collect();
    let mut terminal = Terminal::run(top(&server));
    terminal.waits_for("4 Locks");
    terminal.press("/pg_sleep\r");
    terminal.waits_for("with \"pg_sleep\"");
    terminal.press("R");
    terminal.waits_for("3 sessions of role app: ");
    terminal.press("c");
    terminal.waits_for("Cancel the statements of all 3 sessions of role app? y/n");
    terminal.press("y");
    terminal.waits_for("role app: 3 sessions, each asked to cancel its statement");
    for app in apps {
        assert_eq!(app.join().unwrap(), "57014 canceling statement due to user request");
    }
    assert_eq!(boss.value("select 1"), "1");
    signal_to(terminal.child.id() as i32, libc::SIGTERM);
    terminal.ends_well();
}
