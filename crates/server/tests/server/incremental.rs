//! Incremental base backups, combined and started: the tables are those of the server, whatever happened to them in between.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::backups::{ask, backup, started};
use crate::support::pair::{caught_up, run_standby, standby_of};
use crate::support::{Client, READY, Server, has, output, run, text};

fn server() -> Server {
    let mut server = Server::init(&["--wal-segsize=1"]);
    for setting in ["autovacuum=off", "summarize_wal=on"] {
        server.set_option(setting);
    }
    server.run();
    server
}

/// Whether PostgreSQL 18's programs are there; earlier ones know no incremental backups.
fn has_18() -> bool {
    has("pg_basebackup")
        && text(&output(Command::new("pg_basebackup").arg("--help"))).contains("--incremental")
}

/// PostgreSQL's program finds all files as the manifest has them.
fn check_manifest(server: &Server, folder: &Path) {
    if has_18() {
        let checked = output(server.tool("pg_verifybackup").args(["-n", "-e"]).arg(folder));
        assert!(checked.status.success(), "{}", text(&checked));
    }
}

/// Whether files can be cloned where the server's are.
fn clones(server: &Server) -> bool {
    let to = server.file("clone");
    let done =
        output(Command::new("cp").arg("--reflink=always").arg(server.data().join("PG_VERSION")).arg(to));
    done.status.success()
}

/// What a table comes to, for [`sums`].
const SUM_OF: &str = "create function sum_of(name) returns text language plpgsql as $$
    declare s text; begin execute format('select count(*) || '' '' || coalesce(sum(hashtext(t::text)::int8), 0) from %I t', $1) into s; return s; end $$";
/// A table that stays as it is, and one that is changed.
const SAME: &str =
    "create table same as select g as id, repeat('s', 300) as x from generate_series(1, 5000) g";
const CHANGED: &str =
    "create table changed as select g as id, repeat('x', 300) as x from generate_series(1, 5000) g";

/// What all tables of a database come to.
fn sums(client: &mut Client) -> String {
    client.value(
        "select string_agg(relname || ' ' || sum_of(relname), e'\\n' order by relname) from pg_class
         where relkind = 'r' and relnamespace = 'public'::regnamespace",
    )
}

#[test]
fn a_chain_of_backups_becomes_the_server_of_its_last() {
    let server = server();
    let mut client = server.client();
    run(
        &mut client,
        &[
            SUM_OF,
            SAME,
            CHANGED,
            "create index on changed (id)",
            "create table cut as select g as id, repeat('c', 300) as x from generate_series(1, 5000) g",
            "create table emptied as select g as id from generate_series(1, 5000) g",
            "create table rewritten as select g as id from generate_series(1, 5000) g",
            "create table gone as select g as id from generate_series(1, 5000) g",
            "create database first",
            "vacuum",
        ],
    );
    let full = backup(&server, "full", None, &[]);
    run(
        &mut client,
        &[
            "update changed set x = 'y' where id between 100 and 120",
            "delete from cut where id > 1000",
            "vacuum cut",
            "truncate emptied",
            "insert into emptied select g from generate_series(1, 10) g",
            "vacuum full rewritten",
            "drop table gone",
            "create table made as select g as id from generate_series(1, 3000) g",
            "reindex table changed",
            "drop database first",
            "create database second",
        ],
    );
    let one = backup(&server, "one", Some(&full), &[]);
    let path = client.value("select pg_relation_filepath('same')");
    let (folder, name) = path.rsplit_once('/').unwrap();
    let stands = one.join(folder).join(format!("INCREMENTAL.{name}"));
    assert_eq!(fs::metadata(&stands).unwrap().len(), 24, "nothing of it has changed");
    run(
        &mut client,
        &[
            "insert into cut select g, repeat('d', 300) from generate_series(1, 800) g",
            "update changed set x = 'z' where id between 4000 and 4010",
            "update made set id = -id where id < 10",
            "vacuum changed",
        ],
    );
    let two = backup(&server, "two", Some(&one), &[]);
    let wanted = sums(&mut client);

    let chain = [&full, &one, &two];
    let combine_into = |folder: &Path, backups: &[&PathBuf], more: &[&str]| {
        let mut program = server.program("pg_combinebackup");
        let done = output(program.args(backups).args(more).arg("-o").arg(folder));
        (done.status.code(), text(&done))
    };
    let combined = server.file("combined");
    let combine = |backups: &[&PathBuf], more: &[&str]| combine_into(&combined, backups, more);
    let (code, told) = combine(&[&full, &two], &[]);
    assert!(code == Some(1) && told.contains("starts at LSN"), "{told}");
    let (code, told) = combine(&[&one, &two], &[]);
    assert!(code == Some(1) && told.contains("is an incremental backup, but the first"), "{told}");
    let (code, told) = combine(&[&full, &one, &full], &[]);
    assert!(code == Some(1) && told.contains("is a full backup, but only the first"), "{told}");
    assert_eq!(combine(&chain, &["--dry-run"]).0, Some(0));
    assert!(!combined.exists());
    assert_eq!(combine(&chain, &[]), (Some(0), String::new()));
    let (code, told) = combine(&chain, &[]);
    assert!(code == Some(1) && told.contains("exists but is not empty"), "{told}");
    check_manifest(&server, &combined);
    let clones = clones(&server);
    let (code, told) = combine_into(&server.file("cloned"), &chain, &["--clone"]);
    if clones {
        assert_eq!((code, told.as_str()), (Some(0), ""));
        check_manifest(&server, &server.file("cloned"));
    } else {
        assert!(code == Some(1) && told.contains("error: error while cloning file \""), "{told}");
    }
    for (method, sums) in [("--link", "NONE"), ("--copy-file-range", "sha224"), ("--copy", "crc32c")] {
        let other = server.file(&format!("combined{method}"));
        let (code, told) = combine_into(&other, &chain, &[method, "--manifest-checksums", sums]);
        assert_eq!(
            (code, told.contains("might destructively modify")),
            (Some(0), method == "--link"),
            "{told}"
        );
        check_manifest(&server, &other);
        let manifest = fs::read_to_string(other.join("backup_manifest")).unwrap();
        let (sums, path) = (sums.to_uppercase(), "\"Path\": \"PG_VERSION\"");
        let line = manifest.lines().find(|line| line.contains(path)).unwrap();
        assert_eq!(line.contains(&format!("\"Checksum-Algorithm\": \"{sums}\"")), sums != "NONE", "{line}");
    }
    let bare = server.file("bare");
    assert_eq!(combine_into(&bare, &chain, &["--no-manifest"]).0, Some(0));
    assert!(bare.join("PG_VERSION").exists() && !bare.join("backup_manifest").exists());
    let mut restored = started(&combined);
    assert_eq!(sums(&mut restored.client()), wanted);
    restored.stop();
    restored.assert_sound();
}

#[test]
fn what_an_incremental_backup_needs_is_told() {
    let mut server = server();
    let full = backup(&server, "full", None, &[]);
    let manifest = fs::read_to_string(full.join("backup_manifest")).unwrap();
    let incremental = "BASE_BACKUP (INCREMENTAL, CHECKPOINT 'fast', MANIFEST 'yes')";
    let mut client = server.connect(&[("replication", "1")]).unwrap();
    let answer = ask(&mut client, incremental, "");
    assert!(answer.contains("must UPLOAD_MANIFEST before performing an incremental BASE_BACKUP"), "{answer}");
    let answer = ask(&mut client, "UPLOAD_MANIFEST", &manifest.replace("PG_VERSION", "PG_VERSIOM"));
    assert!(answer.contains("could not parse backup manifest: manifest checksum mismatch"), "{answer}");
    assert_eq!(ask(&mut client, "UPLOAD_MANIFEST", &manifest), "");
    assert_eq!(ask(&mut client, incremental, ""), "");

    for entry in fs::read_dir(server.data().join("pg_wal/summaries")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let answer = ask(&mut client, incremental, "");
    assert!(answer.contains("WAL summaries are required on timeline 1 from"), "{answer}");
    drop(client);
    let other = Server::start(&["summarize_wal=on"]);
    let mut client = other.connect(&[("replication", "1")]).unwrap();
    let answer = ask(&mut client, "UPLOAD_MANIFEST", &manifest);
    assert!(answer.contains("system identifier in backup manifest is "), "{answer}");
    server.stop();
    server.set_option("summarize_wal=off");
    server.run();
    let mut client = server.connect(&[("replication", "1")]).unwrap();
    let answer = ask(&mut client, incremental, "");
    assert!(
        answer.contains("incremental backups cannot be taken unless WAL summarization is enabled"),
        "{answer}"
    );
}

/// Backups of a standby are a chain, alone and with those of its primary, and over a promotion.
#[test]
fn a_standby_gives_incremental_backups() {
    let mut primary = server();
    let mut client = primary.client();
    run(&mut client, &[SUM_OF, SAME, CHANGED, "create index on changed (id)", "vacuum"]);
    drop(client);
    let mut standby = standby_of(&mut primary, "", &["summarize_wal=on", "wal_receiver_status_interval=1"]);
    run_standby(&mut standby);
    let mut client = primary.client();
    let mut there = standby.client();
    let full = backup(&primary, "full", None, &[]);
    let place = |server: &Server, name: &str| server.file(name);
    let change = |client: &mut Client, from: u32| {
        run(
            client,
            &[
                &format!("update changed set x = 'y{from}' where id between {from} and {}", from + 20),
                &format!("create table made_{from} as select g as id from generate_series(1, 3000) g"),
                "vacuum changed",
                "checkpoint",
            ],
        );
    };
    change(&mut client, 100);
    caught_up(&mut client, &mut there);
    let one = backup(&standby, "one", Some(&full), &[]);
    assert_stands(&mut there, &one);
    change(&mut client, 1000);
    caught_up(&mut client, &mut there);
    let two = backup(&standby, "two", Some(&one), &[]);
    assert_stands(&mut there, &two);
    let wanted = sums(&mut client);
    let combine = |backups: &[&PathBuf], folder: &PathBuf| {
        let done = output(standby.program("pg_combinebackup").args(backups).arg("-o").arg(folder));
        assert_eq!((done.status.code(), text(&done)), (Some(0), String::new()));
        check_manifest(&standby, folder);
    };
    let combined = place(&standby, "combined");
    combine(&[&full, &one, &two], &combined);
    // It is a backup of a standby.
    fs::remove_file(combined.join("standby.signal")).unwrap();
    let mut restored = started(&combined);
    assert_eq!(sums(&mut restored.client()), wanted);
    restored.stop();
    restored.assert_sound();

    drop((client, there));
    primary.stop();
    standby.client().query("select pg_promote()").unwrap();
    standby.wait_for_log(READY);
    let mut client = standby.client();
    change(&mut client, 2000);
    let three = backup(&standby, "three", Some(&two), &[]);
    assert_stands(&mut client, &three);
    let wanted = sums(&mut client);
    let combined = place(&standby, "combined");
    let done = output(
        standby.program("pg_combinebackup").args([&full, &one, &two, &three]).arg("-o").arg(&combined),
    );
    assert_eq!((done.status.code(), text(&done)), (Some(0), String::new()));
    check_manifest(&standby, &combined);
    let mut restored = started(&combined);
    assert_eq!(sums(&mut restored.client()), wanted);
    restored.stop();
    restored.assert_sound();
}

/// A table that has not changed since the last backup is not in this one.
fn assert_stands(client: &mut Client, backup: &Path) {
    let path = client.value("select pg_relation_filepath('same')");
    let (folder, name) = path.rsplit_once('/').unwrap();
    let stands = backup.join(folder).join(format!("INCREMENTAL.{name}"));
    assert_eq!(fs::metadata(&stands).unwrap().len(), 24, "nothing of it has changed");
}
