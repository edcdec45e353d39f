//! `pg_ctl`: starts, stops and asks a server.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use runtime::{sleep, wait};

use super::options::{Flag, Given, flag, parse, value};
use super::say::{say, say_line};
use super::{Commands, answered, data_directory, initdb};
use engine::control::{ClusterState, ControlFile};

use crate::pidfile::{is_alive, read_line, read_pid};

const FLAGS: &[Flag] = &[
    value(Some('D'), "pgdata"),
    value(Some('l'), "log"),
    value(Some('o'), "options"),
    value(Some('m'), "mode"),
    value(Some('t'), "timeout"),
    value(Some('p'), "p"),
    flag(Some('w'), "wait"),
    flag(Some('W'), "no-wait"),
    flag(Some('s'), "silent"),
    flag(Some('c'), "core-files"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
pg_ctl is a utility to initialize, start, stop, or control a PostgreSQL server.

Usage:
  pg_ctl init[db]   [-D DATADIR] [-s] [-o OPTIONS]
  pg_ctl start      [-D DATADIR] [-l FILENAME] [-W] [-t SECS] [-s] [-o OPTIONS] [-p PATH]
  pg_ctl stop       [-D DATADIR] [-m SHUTDOWN-MODE] [-W] [-t SECS] [-s]
  pg_ctl restart    [-D DATADIR] [-m SHUTDOWN-MODE] [-W] [-t SECS] [-s] [-o OPTIONS]
  pg_ctl reload     [-D DATADIR] [-s]
  pg_ctl status     [-D DATADIR]
  pg_ctl kill       SIGNALNAME PID

Shutdown modes are: smart, fast (default), immediate
";

/// Looks at the server so often in a second while waiting.
const LOOKS_A_SECOND: u64 = 10;

struct Control {
    dir: PathBuf,
    given: Given,
    silent: bool,
    wait: bool,
    seconds: u64,
    mode: Mode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Smart,
    Fast,
    Immediate,
}

impl Mode {
    fn signal(self) -> libc::c_int {
        match self {
            Mode::Smart => libc::SIGTERM,
            Mode::Fast => libc::SIGINT,
            Mode::Immediate => libc::SIGQUIT,
        }
    }
}

fn complain(message: &str) {
    eprintln!("pg_ctl: {message}");
}

fn try_help(message: &str) -> i32 {
    complain(message);
    eprintln!("Try \"pg_ctl --help\" for more information.");
    1
}

pub(super) fn main(args: &[String], commands: Commands) -> i32 {
    let given = match parse(args, FLAGS) {
        Ok(given) => given,
        Err(message) => return try_help(&message),
    };
    if answered(&given, "pg_ctl", HELP) {
        return 0;
    }
    let Some((operation, rest)) = given.words.split_first() else {
        return try_help("no operation specified");
    };
    if operation == "kill" {
        return kill(rest);
    }
    if let Some(extra) = rest.first() {
        return try_help(&format!("too many command-line arguments (first is \"{extra}\")"));
    }
    if matches!(operation.as_str(), "init" | "initdb") {
        return initialize(&given, commands);
    }
    let operation = operation.clone();
    let control = match Control::new(given) {
        Ok(control) => control,
        Err(code) => return code,
    };
    match operation.as_str() {
        "start" => control.start(None),
        "stop" => control.stop(),
        "restart" => control.restart(),
        "reload" => control.reload(),
        "status" => control.status(),
        "promote" => control.promote(),
        other => try_help(&format!("unrecognized operation mode \"{other}\"")),
    }
}

fn initialize(given: &Given, commands: Commands) -> i32 {
    let mut args: Vec<String> = Vec::new();
    if let Some(dir) = given.get("pgdata") {
        args.extend(["-D".into(), dir.into()]);
    }
    for options in given.all("options") {
        args.extend(options.split_whitespace().map(str::to_string));
    }
    initdb::main(&args, commands)
}

fn kill(words: &[String]) -> i32 {
    let [name, pid] = words else { return try_help("missing arguments for kill mode") };
    let signal = match name.trim_start_matches("SIG") {
        "HUP" => libc::SIGHUP,
        "INT" => libc::SIGINT,
        "QUIT" => libc::SIGQUIT,
        "ABRT" => libc::SIGABRT,
        "KILL" => libc::SIGKILL,
        "TERM" => libc::SIGTERM,
        "USR1" => libc::SIGUSR1,
        "USR2" => libc::SIGUSR2,
        _ => return try_help(&format!("unrecognized signal name \"{name}\"")),
    };
    let Some(pid) = pid.parse().ok().filter(|pid| *pid > 0) else {
        return try_help(&format!("invalid process ID \"{pid}\""));
    };
    match send(pid, signal) {
        Ok(()) => 0,
        Err(error) => {
            complain(&format!("could not send signal {name} (PID: {pid}): {error}"));
            1
        }
    }
}

fn send(pid: i32, signal: libc::c_int) -> Result<(), String> {
    // SAFETY: plain system call.
    match unsafe { libc::kill(pid, signal) } {
        0 => Ok(()),
        _ => Err(base::os_error(&std::io::Error::last_os_error())),
    }
}

impl Control {
    fn new(given: Given) -> Result<Control, i32> {
        let Some(dir) = data_directory(given.get("pgdata")) else {
            return Err(try_help("no database directory specified and environment variable PGDATA unset"));
        };
        let mode = match given.get("mode") {
            None | Some("f" | "fast") => Mode::Fast,
            Some("s" | "smart") => Mode::Smart,
            Some("i" | "immediate") => Mode::Immediate,
            Some(other) => return Err(try_help(&format!("unrecognized shutdown mode \"{other}\""))),
        };
        let timeout = given.get("timeout").map(str::to_string).or_else(|| std::env::var("PGCTLTIMEOUT").ok());
        let seconds = timeout.and_then(|text| text.parse().ok()).unwrap_or(60);
        let last = given.flags.iter().rev().find(|(name, _)| matches!(*name, "wait" | "no-wait"));
        let wait = last.is_none_or(|(name, _)| *name == "wait");
        Ok(Control { dir, silent: given.has("silent"), wait, seconds, mode, given })
    }

    fn say(&self, text: &str) {
        if !self.silent {
            say!("{text}");
        }
    }

    fn pid_file(&self) -> PathBuf {
        self.dir.join("postmaster.pid")
    }

    /// The running server's process, if the lock file names one.
    fn pid(&self) -> Result<Option<i32>, i32> {
        match runtime::fs::exists(&self.dir) {
            Ok(true) => {}
            _ => {
                complain(&format!("directory \"{}\" does not exist", self.dir.display()));
                return Err(1);
            }
        }
        if !runtime::fs::exists(&self.dir.join("PG_VERSION")).unwrap_or(false) {
            complain(&format!("directory \"{}\" is not a database cluster directory", self.dir.display()));
            return Err(1);
        }
        match read_pid(&self.pid_file()) {
            Ok(Some(pid)) => Ok(Some(pid)),
            Ok(None) => {
                complain(&format!("invalid data in PID file \"{}\"", self.pid_file().display()));
                Err(1)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let text = base::os_error(&error);
                complain(&format!("could not open PID file \"{}\": {text}", self.pid_file().display()));
                Err(1)
            }
        }
    }

    fn start(&self, old_options: Option<String>) -> i32 {
        match self.pid() {
            Err(code) => return code,
            Ok(Some(_)) if old_options.is_none() => {
                complain("another server might be running; trying to start server anyway");
            }
            Ok(_) => {}
        }
        let began = runtime::wall_clock_micros() / 1_000_000 + base::calendar::UNIX_SECONDS;
        let mut child = match self.spawn(old_options.as_deref()) {
            Ok(child) => child,
            Err(error) => {
                complain(&format!("could not start server: {}", base::os_error(&error)));
                return 1;
            }
        };
        if !self.wait {
            self.say("server starting\n");
            return 0;
        }
        self.say("waiting for server to start...");
        for look in 0..self.seconds * LOOKS_A_SECOND {
            match self.is_ready(child.id() as i32, began) {
                Ok(true) => {
                    self.say(" done\nserver started\n");
                    return 0;
                }
                Ok(false) => {}
                Err(()) => return self.start_failed(),
            }
            if let Ok(Some(_)) | Err(_) = child.try_wait() {
                return self.start_failed();
            }
            self.pause(look);
        }
        self.say(" stopped waiting\n");
        complain("server did not start in time");
        1
    }

    fn start_failed(&self) -> i32 {
        self.say(" stopped waiting\n");
        complain("could not start server\nExamine the log output.");
        1
    }

    /// A dot each second, and a short sleep.
    fn pause(&self, look: u64) {
        if look.is_multiple_of(LOOKS_A_SECOND) {
            self.say(".");
        }
        wait(sleep(Duration::from_millis(1000 / LOOKS_A_SECOND)));
    }

    /// Whether the server that was started accepts connections. An error: it is on its way down.
    fn is_ready(&self, pid: i32, began: i64) -> Result<bool, ()> {
        let line = |n| read_line(&self.pid_file(), n).ok().flatten().unwrap_or_default();
        let ours =
            line(1).trim().parse() == Ok(pid) && line(3).trim().parse().is_ok_and(|t: i64| t >= began - 2);
        match line(8).trim() {
            "ready" | "standby" if ours => Ok(true),
            "stopping" if ours => Err(()),
            _ => Ok(false),
        }
    }

    /// Starts the server through the shell, so that `-o` is split as the user quoted it.
    fn spawn(&self, old_options: Option<&str>) -> std::io::Result<Child> {
        let mut line = format!("exec {}", self.server_command()?);
        if !old_options.is_some_and(|options| options.contains("\"-D\"")) {
            line.push_str(&format!(" \"-D\" {}", quoted(&self.dir.display().to_string())));
        }
        for options in old_options.into_iter().chain(self.given.all("options")) {
            line.push(' ');
            line.push_str(options);
        }
        line.push_str(" < /dev/null");
        if let Some(log) = self.given.get("log") {
            line.push_str(&format!(" >> {}", quoted(log)));
        }
        line.push_str(" 2>&1");
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(line);
        // SAFETY: setsid is safe to call between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                Ok(())
            });
        }
        command.spawn()
    }

    /// The server's program: beside this one under its own name, else this one with a subcommand.
    fn server_command(&self) -> std::io::Result<String> {
        if let Some(path) = self.given.get("p") {
            return Ok(quoted(path));
        }
        let own = std::env::current_exe()?;
        let called = std::env::args().next().unwrap_or_default();
        let beside = [Path::new(&called), &own];
        let candidates =
            beside.iter().filter(|path| path.components().count() > 1).map(|p| p.with_file_name("postgres"));
        for candidate in candidates {
            let same = |path: &Path| runtime::fs::canonical(path).ok();
            if same(&candidate).is_some() && same(&candidate) == same(&own) {
                return Ok(quoted(&candidate.display().to_string()));
            }
        }
        Ok(format!("{} postgres", quoted(&own.display().to_string())))
    }

    fn not_running(&self) -> i32 {
        complain(&format!("PID file \"{}\" does not exist\nIs server running?", self.pid_file().display()));
        1
    }

    fn stop(&self) -> i32 {
        let pid = match self.pid() {
            Err(code) => return code,
            Ok(None) => return self.not_running(),
            Ok(Some(pid)) => pid,
        };
        if let Err(error) = send(pid, self.mode.signal()) {
            complain(&format!("could not send stop signal (PID: {pid}): {error}"));
            return 1;
        }
        if !self.wait {
            self.say("server shutting down\n");
            return 0;
        }
        self.until_stopped(pid)
    }

    fn until_stopped(&self, pid: i32) -> i32 {
        self.say("waiting for server to shut down...");
        for look in 0..self.seconds * LOOKS_A_SECOND {
            let gone = matches!(read_pid(&self.pid_file()), Err(error) if error.kind() == std::io::ErrorKind::NotFound);
            if gone || !is_alive(pid) {
                self.say(" done\nserver stopped\n");
                return 0;
            }
            self.pause(look);
        }
        self.say(" failed\n");
        complain("server does not shut down");
        if self.mode == Mode::Smart {
            eprintln!(
                "HINT: The \"-m fast\" option immediately disconnects sessions rather than\n\
                 waiting for session-initiated disconnection."
            );
        }
        1
    }

    fn restart(&self) -> i32 {
        let pid = match self.pid() {
            Err(code) => return code,
            Ok(pid) => pid,
        };
        let options = self.old_options();
        match pid {
            Some(pid) if is_alive(pid) => {
                if let Err(error) = send(pid, self.mode.signal()) {
                    complain(&format!("could not send stop signal (PID: {pid}): {error}"));
                    return 1;
                }
                let code = self.until_stopped(pid);
                if code != 0 {
                    return code;
                }
            }
            Some(pid) => {
                complain(&format!("old server process (PID: {pid}) seems to be gone\nstarting server anyway"))
            }
            None => complain(&format!(
                "PID file \"{}\" does not exist\nIs server running?\ntrying to start server anyway",
                self.pid_file().display()
            )),
        }
        self.start(Some(options))
    }

    /// The options of the last start, from `postmaster.opts`: everything behind the program's path.
    fn old_options(&self) -> String {
        let text = runtime::fs::read_to_string(&self.dir.join("postmaster.opts")).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        match line.find(" \"") {
            Some(at) => line[at + 1..].to_string(),
            None => format!("\"-D\" {}", quoted(&self.dir.display().to_string())),
        }
    }

    fn reload(&self) -> i32 {
        let pid = match self.pid() {
            Err(code) => return code,
            Ok(None) => return self.not_running(),
            Ok(Some(pid)) => pid,
        };
        match send(pid, libc::SIGHUP) {
            Ok(()) => {
                self.say("server signaled\n");
                0
            }
            Err(error) => {
                complain(&format!("could not send reload signal (PID: {pid}): {error}"));
                1
            }
        }
    }

    /// Lets a standby become a server of its own.
    fn promote(&self) -> i32 {
        let pid = match self.pid() {
            Err(code) => return code,
            Ok(None) => return self.not_running(),
            Ok(Some(pid)) => pid,
        };
        let state = || ControlFile::read(&self.dir).map(|control| control.state).ok();
        if state() != Some(ClusterState::InArchiveRecovery) {
            complain("cannot promote server; server is not in standby mode");
            return 1;
        }
        let file = self.dir.join("promote");
        if let Err(error) = runtime::fs::write_file(&file, b"") {
            let why = base::os_error(&error);
            complain(&format!("could not create promote signal file \"{}\": {why}", file.display()));
            return 1;
        }
        if let Err(error) = send(pid, libc::SIGUSR1) {
            complain(&format!("could not send promote signal (PID: {pid}): {error}"));
            let _ = runtime::fs::remove_file(&file);
            return 1;
        }
        if !self.wait {
            self.say("server promoting\n");
            return 0;
        }
        self.say("waiting for server to promote...");
        for look in 0..self.seconds * LOOKS_A_SECOND {
            if state() == Some(ClusterState::InProduction) {
                self.say(" done\nserver promoted\n");
                return 0;
            }
            if !is_alive(pid) {
                break;
            }
            self.pause(look);
        }
        self.say(" stopped waiting\n");
        complain("server did not promote in time");
        1
    }

    fn status(&self) -> i32 {
        match self.pid() {
            // A directory that cannot be looked at has a code of its own.
            Err(_) => return 4,
            Ok(Some(pid)) if is_alive(pid) => {
                say_line!("pg_ctl: server is running (PID: {pid})");
                say!(
                    "{}",
                    runtime::fs::read_to_string(&self.dir.join("postmaster.opts")).unwrap_or_default()
                );
                return 0;
            }
            Ok(_) => {}
        }
        say_line!("pg_ctl: no server running");
        3
    }
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
