//! Programs that read a data directory, by PostgreSQL's names and in its words: what tools around the server look for.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;

use crate::support::{Server, output, run, text};

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
fn pg_waldump_shows_a_part_of_the_log_and_what_it_comes_to() {
    let mut server = Server::start(&["full_page_writes=on"]);
    let mut admin = server.client();
    run(&mut admin, &["create table t (n int primary key)", "checkpoint"]);
    let from = admin.value("select pg_current_wal_insert_lsn()");
    run(&mut admin, &["insert into t select generate_series(1, 1000)", "vacuum t"]);
    let rel = admin.value("select '1663/' || oid || '/' || pg_relation_filenode('t') from pg_database where datname = 'postgres'");
    drop(admin);
    server.stop();
    let dump = |options: &[&str]| {
        let mut program = server.program("pg_waldump");
        let told = output(program.arg("-p").arg(server.data()).args(["-s", &from]).args(options));
        (
            String::from_utf8_lossy(&told.stdout).into_owned(),
            String::from_utf8_lossy(&told.stderr).into_owned(),
        )
    };
    let (of_table, _) = dump(&["-R", &rel]);
    assert!(of_table.lines().count() > 3);
    assert!(of_table.lines().all(|line| line.contains(&format!("rel {rel} "))), "{of_table}");
    let (of_block, _) = dump(&["-R", &rel, "-B", "2", "-b"]);
    assert!(
        of_block.contains(&format!("rel {rel} blk 2")) && of_block.lines().count() < of_table.lines().count()
    );
    let (of_map, _) = dump(&["-F", "vm", "-r", "heap", "-r", "xlog"]);
    assert!(of_map.contains(&format!("rel {rel} fork vm blk 0")), "{of_map}");
    let (table, errors) = dump(&["--stats"]);
    assert!(table.starts_with(&format!("WAL statistics between {from} and 0/")), "{table}");
    assert!(table.contains("\nBtree ") && table.ends_with("[100%]\n"), "{table}");
    assert!(errors.starts_with("pg_waldump: error: error in WAL record at "), "{errors}");
    assert!(dump(&["--stats=record"]).0.contains("\nXLOG/CHECKPOINT_SHUTDOWN "));
    let saved = server.file("saved");
    dump(&["-q", "-w", "--save-fullpage", saved.to_str().unwrap()]);
    assert!(fs::read_dir(&saved).unwrap().all(|entry| entry.unwrap().metadata().unwrap().len() == 8192));
    for (options, message) in [
        (&["-R", "1/2"][..], "invalid relation specification: \"1/2\""),
        (&["-F", "x"], "invalid fork name: \"x\""),
        (&["-B", "1"], "option -B/--block requires option -R/--relation to be specified"),
        (&["-r", "x"], "resource manager \"x\" does not exist"),
        (&["--stats=x"], "unrecognized value for option --stats: x"),
        (&["-x", "y"], "invalid transaction ID specification: \"y\""),
        (&["-n", "x"], "invalid value \"x\" for option -n/--limit"),
    ] {
        assert!(dump(options).1.starts_with(&format!("pg_waldump: error: {message}\n")), "{options:?}");
    }
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
