//! Settings from the file, the command line and the session; the server's life under `pg_ctl` and signals.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixDatagram;
use std::process::Output;

use crate::support::{READY, Server, exists, output, text};

fn append_to_configuration(server: &Server, text: &str) {
    let path = server.data().join("postgresql.conf");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn from_the_file_and_the_command_line() {
    let mut server = Server::init(&[]);
    fs::create_dir(server.data().join("more")).unwrap();
    fs::write(server.data().join("more/a.conf"), "statement_timeout = 2min\n").unwrap();
    fs::write(server.data().join("extra.conf"), "work_mem = '7MB' # seven\nport = 1\n").unwrap();
    append_to_configuration(
        &server,
        "work_mem = 5MB\ninclude 'extra.conf'\ninclude_dir = 'more'\ninclude_if_exists 'missing.conf'\n\
         my.option = 'it''s'\nlock_timeout = 3s\n",
    );
    server.run();
    let mut client = server.client();
    assert_eq!(client.value("show work_mem"), "7MB");
    assert_eq!(client.value("show statement_timeout"), "2min");
    assert_eq!(client.value("show my.option"), "it's");
    assert_eq!(client.value("show port"), server.port.to_string());
    let rows = client
        .query(
            "select name, setting, unit, context, vartype, source, boot_val, reset_val, pending_restart from pg_settings \
             where name in ('work_mem', 'port', 'lock_timeout', 'DateStyle') order by name collate \"C\"",
        )
        .unwrap();
    let lines: Vec<String> = rows
        .iter()
        .map(|row| row.iter().map(|value| value.as_deref().unwrap_or("-")).collect::<Vec<_>>().join(" | "))
        .collect();
    let port = format!("port | {0} | - | postmaster | integer | command line | 5432 | {0} | f", server.port);
    assert!(lines[0].starts_with("DateStyle | ISO, MDY | - | user | string | "), "{lines:?}");
    assert_eq!(
        lines[1..],
        [
            "lock_timeout | 3000 | ms | user | integer | configuration file | 0 | 3000 | f",
            port.as_str(),
            "work_mem | 7168 | kB | user | integer | configuration file | 4096 | 7168 | f",
        ]
    );
}

#[test]
fn of_a_session_and_a_transaction() {
    let server = Server::start(&["work_mem=6MB"]);
    let mut client =
        server.connect(&[("lock_timeout", "5s"), ("options", "-c statement_timeout=9s")]).unwrap();
    let mut expect = |statement: &str, name: &str, value: &str| {
        if !statement.is_empty() {
            client.query(statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
        }
        assert_eq!(client.value(&format!("show {name}")), value, "after {statement}");
    };
    expect("", "lock_timeout", "5s");
    expect("", "statement_timeout", "9s");
    expect("set work_mem = '8MB'", "work_mem", "8MB");
    expect("set work_mem to 2048", "work_mem", "2MB");
    expect("reset work_mem", "work_mem", "6MB");
    expect("set lock_timeout = 1000", "lock_timeout", "1s");
    expect("reset all", "lock_timeout", "5s");
    // What a transaction that fails has set is undone; what is local ends with it.
    expect("begin", "work_mem", "6MB");
    expect("set work_mem = '1MB'", "work_mem", "1MB");
    expect("set local lock_timeout = '4s'", "lock_timeout", "4s");
    expect("savepoint s", "work_mem", "1MB");
    expect("set work_mem = '3MB'", "work_mem", "3MB");
    expect("rollback to s", "work_mem", "1MB");
    expect("commit", "work_mem", "1MB");
    expect("", "lock_timeout", "5s");
    expect("begin; set work_mem = '9MB'; rollback", "work_mem", "1MB");
    expect("select set_config('work_mem', '64kB', false)", "work_mem", "64kB");
    expect("set work_mem to default", "work_mem", "6MB");
    expect("set time zone 'Europe/Berlin'", "timezone", "Europe/Berlin");
    expect("set datestyle = 'german'", "datestyle", "German, DMY");

    let mut client = server.client();
    let errors = [
        ("set nonsense = 1", "42704 unrecognized configuration parameter \"nonsense\""),
        ("show nonsense", "42704 unrecognized configuration parameter \"nonsense\""),
        ("set work_mem = 'lots'", "22023 invalid value for parameter \"work_mem\": \"lots\""),
        (
            "set work_mem = '1'",
            "22023 1 kB is outside the valid range for parameter \"work_mem\" (64 kB .. 2147483647 kB)",
        ),
        ("set port = 1", "55P02 parameter \"port\" cannot be changed without restarting the server"),
        ("set checkpoint_timeout = 60", "55P02 parameter \"checkpoint_timeout\" cannot be changed now"),
        ("set server_version = '1'", "55P02 parameter \"server_version\" cannot be changed"),
        ("set enable_seqscan = maybe", "22023 parameter \"enable_seqscan\" requires a Boolean value"),
        (
            "set timezone = 'Nowhere/Nothing'",
            "22023 invalid value for parameter \"TimeZone\": \"Nowhere/Nothing\"",
        ),
    ];
    for (statement, error) in errors {
        assert_eq!(client.error(statement), error, "{statement}");
    }
    client.query("set statement_timeout = '50ms'").unwrap();
    assert_eq!(client.error("select pg_sleep(100)"), "57014 canceling statement due to statement timeout");
    // Another session has its own.
    assert_eq!(server.client().value("show statement_timeout"), "0");
}

#[test]
fn reload_by_signal() {
    let mut server = Server::start(&["lock_timeout=1s"]);
    let mut client = server.client();
    let mut own = server.client();
    own.query("set work_mem = '1MB'").unwrap();
    append_to_configuration(&server, "work_mem = 11MB\nlock_timeout = 77s\nmax_connections = 3\n");
    server.signal(libc::SIGHUP);
    server.wait_for_log("received SIGHUP, reloading configuration files");
    server.wait_for_log("parameter \"work_mem\" changed to \"11MB\"");
    server.wait_for_log("parameter \"max_connections\" cannot be changed without restarting the server");
    server.wait_for_log("contains errors; unaffected changes were applied");
    crate::support::until("the session has it", || client.value("show work_mem") == "11MB");
    assert_eq!(server.client().value("show work_mem"), "11MB");
    // What the session, or the command line, has set stands.
    assert_eq!(own.value("show work_mem"), "1MB");
    own.query("reset work_mem").unwrap();
    assert_eq!(own.value("show work_mem"), "11MB");
    assert_eq!(client.value("show lock_timeout"), "1s");
    // A file that cannot be read changes nothing.
    append_to_configuration(&server, "work_mem = 12MB\nthis is not = a setting\n");
    server.signal(libc::SIGHUP);
    server.wait_for_log("contains errors; no changes were applied");
    assert_eq!(server.client().value("show work_mem"), "11MB");
}

#[test]
fn rules_of_access_are_read_again() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    fs::write(server.data().join("pg_hba.conf"), "local all all trust\nhost all all all reject\n").unwrap();
    server.signal(libc::SIGHUP);
    server.wait_for_log("received SIGHUP");
    crate::support::until("strangers are rejected", || server.connect(&[]).is_err());
    // Who is in stays in.
    assert_eq!(client.value("select 1"), "1");
    // Rules that cannot be read leave the old ones.
    fs::write(server.data().join("pg_hba.conf"), "nonsense\n").unwrap();
    server.signal(libc::SIGHUP);
    server.wait_for_log("pg_hba.conf was not reloaded");
    assert!(server.connect(&[]).is_err());
}

#[test]
fn what_the_server_does_not_start_with() {
    let server = Server::init(&[]);
    let start = |settings: &[&str]| {
        let mut command = server.program("postgres");
        command.arg("-D").arg(server.data()).args(["-p", &server.port.to_string(), "-k", "", "-h", ""]);
        let done = output(command.args(settings));
        (done.status.code(), text(&done))
    };
    let (code, said) = start(&["-c", "work_mem=lots"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("FATAL:  invalid value for parameter \"work_mem\": \"lots\""), "{said}");
    let (code, said) = start(&["-c", "nonsense=1"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("FATAL:  unrecognized configuration parameter \"nonsense\""), "{said}");
    let mut elsewhere = server.program("postgres");
    let done = output(elsewhere.arg("-D").arg(server.file("nowhere")));
    assert!(matches!(done.status.code(), Some(1 | 2)), "{}", text(&done));
    assert!(text(&done).contains("nowhere"), "{}", text(&done));
    append_to_configuration(&server, "work_mem = 4MB\nport = many\n");
    let (code, said) = start(&[]);
    // The command line's port wins, but a bad value in the file is still one.
    assert_eq!(code, Some(1));
    assert!(said.contains("invalid value for parameter \"port\": \"many\""), "{said}");
    assert!(said.contains("contains errors"), "{said}");
}

#[test]
fn signals_stop_it() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    client.query("create table t (a int)").unwrap();
    // Smart: nobody is let in any more; who is in stays.
    server.signal(libc::SIGTERM);
    server.wait_for_log("received smart shutdown request");
    match server.connect(&[]) {
        Err(crate::support::Failure::Error { severity, code, message }) => {
            assert_eq!((severity.as_str(), code.as_str()), ("FATAL", "57P03"));
            assert_eq!(message, "the database system is shutting down");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
    client.query("insert into t values (1)").unwrap();
    drop(client);
    assert_eq!(server.wait().code(), Some(0));
    assert!(server.log().contains("database system is shut down"), "{}", server.log());
    assert!(!exists(&server.data().join("postmaster.pid")));

    // Fast: sessions are ended, their transactions rolled back.
    server.run();
    assert!(server.log().contains("database system was shut down at"), "{}", server.log());
    let mut client = server.client();
    client.query("begin; insert into t values (2)").unwrap();
    server.signal(libc::SIGINT);
    assert_eq!(server.wait().code(), Some(0));
    assert_eq!(client.error("select 1"), "57P01 terminating connection due to administrator command");
    let log = server.log();
    for words in
        ["received fast shutdown request", "aborting any active transactions", "database system is shut down"]
    {
        assert!(log.contains(words), "no \"{words}\" in {log}");
    }

    // Immediate: nothing is written; the next start recovers.
    server.run();
    let mut client = server.client();
    assert_eq!(client.value("select count(*) from t"), "1");
    client.query("insert into t values (3)").unwrap();
    server.signal(libc::SIGQUIT);
    server.wait();
    assert!(server.log().contains("received immediate shutdown request"), "{}", server.log());
    assert!(!exists(&server.data().join("postmaster.pid")));
    server.run();
    assert!(
        server.log().contains("database system was not properly shut down; automatic recovery in progress")
    );
    assert_eq!(server.client().value("select sum(a) from t"), "4");

    // A second signal hurries.
    let _idle = server.client();
    server.signal(libc::SIGTERM);
    server.wait_for_log("received smart shutdown request");
    server.signal(libc::SIGINT);
    assert_eq!(server.wait().code(), Some(0));
}

/// `pg_ctl` on a server's directory.
struct Control<'a>(&'a Server);

impl Control<'_> {
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = self.0.program("pg_ctl");
        let done: Output = output(command.arg("-D").arg(self.0.data()).args(arguments));
        (done.status.code(), text(&done))
    }

    fn start(&self, more: &[&str]) -> (Option<i32>, String) {
        let (log, options) = (
            self.0.log_path().display().to_string(),
            format!("-p {} -k {} -c work_mem=9MB", self.0.port, self.0.socket().display()),
        );
        self.run(&[&["-l", &log, "-o", &options, "-w", "start"], more].concat())
    }
}

/// The next datagram that the server sends to its service manager.
fn told(manager: &UnixDatagram) -> String {
    let mut message = [0; 200];
    let length = manager.recv(&mut message).unwrap();
    String::from_utf8(message[..length].to_vec()).unwrap()
}

#[test]
fn a_service_manager_is_told() {
    let mut server = Server::init(&[]);
    let path = server.file("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(crate::support::PATIENCE)).unwrap();
    server.prepare(move |command| {
        command.env("NOTIFY_SOCKET", &path);
    });
    server.run();
    assert_eq!(told(&manager), "READY=1\n");
    server.signal(libc::SIGHUP);
    let reloading = told(&manager);
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading:?}");
    assert_eq!(told(&manager), "READY=1\n");
    server.stop();
    assert_eq!(told(&manager), "STOPPING=1\n");
}

#[test]
fn pg_ctl_starts_asks_and_stops() {
    let server = Server::init(&[]);
    let control = Control(&server);
    assert_eq!(control.run(&["status"]), (Some(3), "pg_ctl: no server running\n".into()));
    let (code, said) = control.run(&["stop"]);
    assert_eq!(code, Some(1));
    let missing = format!(
        "pg_ctl: PID file \"{}\" does not exist\nIs server running?\n",
        server.data().join("postmaster.pid").display()
    );
    assert_eq!(said, missing);
    assert_eq!(control.run(&["reload"]), (Some(1), missing));

    let (code, said) = control.start(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with("waiting for server to start...") && said.ends_with(" done\nserver started\n"),
        "{said}"
    );
    assert!(server.log().contains(READY));
    let first = server.pid_file().unwrap();
    let (code, said) = control.run(&["status"]);
    assert_eq!(code, Some(0));
    assert!(said.starts_with(&format!("pg_ctl: server is running (PID: {first})\n")), "{said}");
    assert!(said.contains("\"work_mem=9MB\""), "{said}");
    let (code, said) = control.start(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("another server might be running; trying to start server anyway"), "{said}");
    assert!(said.contains("could not start server\nExamine the log output."), "{said}");
    assert_eq!(server.client().value("show work_mem"), "9MB");

    // The same options after a restart, another process.
    let (code, said) = control.run(&["-l", &server.log_path().display().to_string(), "restart"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("server stopped") && said.ends_with("server started\n"), "{said}");
    assert_ne!(server.pid_file().unwrap(), first);
    let mut client = server.client();
    assert_eq!(client.value("show work_mem"), "9MB");
    append_to_configuration(&server, "lock_timeout = 12s\n");
    assert_eq!(control.run(&["reload"]), (Some(0), "server signaled\n".into()));
    crate::support::until("it is reloaded", || client.value("show lock_timeout") == "12s");

    // Smart waits for the client, as long as it is told to.
    let (code, said) = control.run(&["-m", "smart", "-t", "1", "stop"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("pg_ctl: server does not shut down"), "{said}");
    assert_eq!(client.value("select 1"), "1");
    let (code, said) = control.run(&["-m", "fast", "stop"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with(" done\nserver stopped\n"), "{said}");
    assert_eq!(control.run(&["status"]).0, Some(3));

    for mode in ["immediate", "smart"] {
        assert_eq!(control.start(&["-s"]), (Some(0), String::new()));
        assert_eq!(control.run(&["-m", mode, "-s", "stop"]), (Some(0), String::new()));
        assert!(!exists(&server.data().join("postmaster.pid")));
    }
    let mut nowhere = server.program("pg_ctl");
    let done = output(nowhere.arg("-D").arg(server.file("nowhere")).arg("status"));
    assert_eq!(done.status.code(), Some(4), "{}", text(&done));
}
