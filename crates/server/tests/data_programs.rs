//! Programs that read a data directory, by PostgreSQL's names and in its words: what tools around the server look for.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;

use support::{Server, output, run, text};

/// What `pg_controldata` says, by its names.
fn control_data(server: &Server) -> BTreeMap<String, String> {
    let told = output(server.program("pg_controldata").arg(server.data()));
    assert!(told.status.success(), "{}", text(&told));
    let line = |line: &str| {
        // Values begin in one column.
        let (name, value) = line.split_at(38);
        (name.trim_end().trim_end_matches(':').to_owned(), value.to_owned())
    };
    text(&told).lines().map(line).collect()
}

#[test]
fn pg_controldata_and_pg_waldump_say_what_patroni_reads() {
    let mut server = Server::start(&["max_prepared_transactions=3"]);
    let mut admin = server.client();
    run(&mut admin, &["create table t as select generate_series(1, 100)"]);
    let mut sender = server.connect(&[("replication", "1")]).unwrap();
    let identifier = sender.value("IDENTIFY_SYSTEM");
    assert_eq!(control_data(&server)["Database cluster state"], "in production");
    drop((admin, sender));
    server.stop();
    let told = control_data(&server);
    assert_eq!(told["Database cluster state"], "shut down");
    assert_eq!(told["Database system identifier"], identifier);
    assert_eq!(told["max_prepared_xacts setting"], "3");
    assert_eq!((&*told["wal_log_hints setting"], &*told["Data page checksum version"]), ("on", "1"));
    let (checkpoint, timeline) =
        (&told["Latest checkpoint location"], &told["Latest checkpoint's TimeLineID"]);

    let dump = |from: &str, limit: &str| {
        let mut program = server.program("pg_waldump");
        program.env("PGDATA", server.data()).current_dir(server.file(""));
        let told = output(program.args(["-t", timeline, "-s", from, "-n", limit]));
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        (told.status.code(), lines(&told.stdout), lines(&told.stderr))
    };
    let (code, record, errors) = dump(checkpoint, "1");
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(record.starts_with("rmgr: XLOG        len (rec/tot): "), "{record}");
    assert!(record.contains(&format!(", lsn: {checkpoint}, prev ")), "{record}");
    assert!(
        record.contains(", desc: CHECKPOINT_SHUTDOWN redo ") && record.ends_with("; shutdown"),
        "{record}"
    );
    let previous = record.split(", prev ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    assert_ne!(previous, "0/0");
    let (code, record, _) = dump(&previous, "1");
    assert!(code == Some(0) && record.contains(&format!(", lsn: {previous}, prev ")), "{record}");
    let (code, _, errors) = dump(checkpoint, "2");
    assert_eq!(code, Some(1));
    assert!(
        errors.starts_with(&format!(
            "pg_waldump: error: error in WAL record at {checkpoint}: invalid record length at "
        )),
        "{errors}"
    );
    assert!(errors.ends_with(": expected at least 24, got 0"), "{errors}");
}

#[test]
fn pg_checksums_finds_damage() {
    let mut server = Server::start(&[]);
    let mut admin = server.client();
    run(&mut admin, &["create table t as select generate_series(1, 1000)", "checkpoint"]);
    let file = admin.value("select pg_relation_filepath('t')");
    let check =
        |server: &Server| output(server.program("pg_checksums").args(["--check", "-D"]).arg(server.data()));
    let refused = check(&server);
    assert!(!refused.status.success() && text(&refused).contains("cluster must be shut down"));
    drop(admin);
    server.stop();
    let sound = check(&server);
    assert!(sound.status.success() && text(&sound).contains("Bad checksums:  0"), "{}", text(&sound));
    fs::File::options().write(true).open(server.data().join(&file)).unwrap().write_at(b"x", 5000).unwrap();
    let damaged = check(&server);
    assert_eq!(damaged.status.code(), Some(1));
    assert!(
        text(&damaged).contains(&format!("checksum verification failed in file \"{file}\", block 0")),
        "{}",
        text(&damaged)
    );
}

#[test]
fn pg_config_tells_where_programs_are() {
    let server = Server::init(&[]);
    let told = output(server.program("pg_config").args(["--bindir", "--version"]));
    let told = text(&told);
    let mut lines = told.lines();
    assert_eq!(lines.next().map(std::path::PathBuf::from), Some(server.file("bin")));
    assert!(lines.next().unwrap().starts_with("PostgreSQL 18"), "{told}");
}
