//! Settings whose effect is waited for. All wait at the same time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::start::start;
use super::transcript;
use crate::support::{PATIENCE, Server, until};

/// Names of all settings here.
pub fn names() -> impl Iterator<Item = &'static str> {
    let rows = BY_THE_CLOCK.iter().chain(IN_FILES).map(|row| row.0);
    rows.chain(["log_startup_progress_interval", "old_snapshot_threshold", "checkpoint_segments"])
}

/// On a server that is waited for.
const BY_THE_CLOCK: &[(&str, &str)] = &[
    ("bgwriter_delay", "10s"),
    ("checkpoint_completion_target", "0"),
    ("checkpoint_timeout", "30s"),
    ("synchronous_commit", "off"),
    ("wal_writer_delay", "10s"),
];

/// On a server that writes log files.
const IN_FILES: &[(&str, &str)] = &[
    ("log_destination", "stderr,csvlog"),
    ("log_directory", "elsewhere"),
    ("log_file_mode", "0640"),
    ("log_filename", "%M.log"),
    ("log_rotation_age", "1"),
    ("log_rotation_size", "64kB"),
    ("log_truncate_on_rotation", "on"),
    ("logging_collector", "on"),
];

/// A panic of one of them is told of when all have ended.
#[test]
fn what_shows_in_time() {
    std::thread::scope(|scope| {
        for look in [
            what_happens_by_the_clock,
            what_log_files_are_like,
            how_large_log_files_are,
            what_older_versions_start_with,
            a_long_start,
        ] {
            scope.spawn(look);
        }
    });
}

fn what_happens_by_the_clock() {
    let server = start(BY_THE_CLOCK, |_| {});
    let began = Instant::now();
    let mut client = server.client();
    let told = transcript(
        &mut client,
        "create table t (a int);;insert into t values (1);;
         select 'flushed ' || (pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn());;
         create table big as select repeat('x', 500) from generate_series(1, 12000);;
         select 'cleaned ' || buffers_clean from pg_stat_bgwriter",
    );
    // With less delay the log would be flushed, and the background writer at work, long before.
    if began.elapsed() < Duration::from_secs(8) {
        assert!(told.contains("flushed false") && told.contains("cleaned 0\n"), "{told}");
    }
    until("a checkpoint by the clock", || server.log().contains("checkpoint starting: time"));
    // Spread, it would take almost as long again.
    until("the end of the checkpoint", || server.log().contains("checkpoint complete: "));
    let log = server.log();
    let write = log.split("; write=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(write.parse::<f64>().unwrap() < 10.0, "{log}");
}

fn what_log_files_are_like() {
    let mut server = Server::init(&[]);
    for (name, value) in IN_FILES {
        server.set_option(&format!("{name}={value}"));
    }
    // A zone in which the next minute is not far.
    let second = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() % 60;
    server.set_option(&format!("log_timezone=<T>-00:00:{:02}", (48 + 60 - second) % 60));
    let folder = server.data().join("elsewhere");
    fs::create_dir(&folder).unwrap();
    // Files of an hour before.
    let names: Vec<String> = (0..60).map(|minute| format!("{minute:02}")).collect();
    for name in &names {
        let path = folder.join(format!("{name}.log"));
        fs::write(&path, "old\n").unwrap();
    }
    server.launch();
    until("the server", || server.connect(&[]).is_ok());
    let text = |name: &str| fs::read_to_string(folder.join(format!("{name}.log"))).unwrap();
    until("the first file", || names.iter().any(|name| text(name).starts_with("old\n2")));
    let csv = |name: &&String| folder.join(format!("{name}.csv")).exists();
    until("its other form", || names.iter().any(|name| csv(&name)));
    let made = folder.join(format!("{}.csv", names.iter().find(csv).unwrap()));
    assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o640);
    // The first one goes on, but the next minute's begins anew.
    let begun = || names.iter().any(|name| !text(name).starts_with("old\n"));
    let deadline = Instant::now() + 2 * PATIENCE;
    while !begun() {
        assert!(Instant::now() < deadline, "no file begins anew");
        drop(server.connect(&[]).unwrap());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A new file by size has another name here.
fn how_large_log_files_are() {
    let mut server = Server::init(&[]);
    for setting in
        ["logging_collector=on", "log_filename=%H%M%S.log", "log_rotation_size=64kB", "log_statement=all"]
    {
        server.set_option(setting);
    }
    server.launch();
    until("the server", || server.connect(&[]).is_ok());
    let mut client = server.client();
    let long = format!("select length('{}')", "x".repeat(10_000));
    until("more files", || {
        client.query(&long).unwrap();
        fs::read_dir(server.data().join("log")).unwrap().count() > 2
    });
}

/// Settings of older versions. Rows that only an old snapshot sees go, and it is told; a file of the log causes a checkpoint.
fn what_older_versions_start_with() {
    let mut server = Server::start(&["old_snapshot_threshold=0", "checkpoint_segments=1"]);
    let (mut old, mut other) = (server.client(), server.client());
    other.query("create table t (a int); insert into t select generate_series(1, 1000)").unwrap();
    old.query("begin isolation level repeatable read").unwrap();
    old.query("select 1 from t limit 1").unwrap();
    other.query("update t set a = a + 1").unwrap();
    until("the rows are gone", || {
        other.query("vacuum t").unwrap();
        old.query("savepoint s").unwrap();
        let told = transcript(&mut old, "select count(*) from t;;rollback to s");
        told.contains("snapshot too old")
    });
    other.query("create table big as select repeat('x', 500) from generate_series(1, 40000)").unwrap();
    server.wait_for_log("checkpoint starting: wal");
}

/// A start that has to recover tells how far it is.
fn a_long_start() {
    let mut server = Server::start(&["log_startup_progress_interval=1"]);
    server.client().query("create table t as select generate_series(1, 50000)").unwrap();
    server.kill();
    server.run();
    assert!(server.log().contains("redo in progress, elapsed time: "), "{}", server.log());
    server.kill();
    server.set_option("log_startup_progress_interval=0");
    server.run();
    assert!(!server.log().contains("redo in progress"), "{}", server.log());
}
