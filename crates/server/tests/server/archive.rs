//! The archive of the log: files are archived as they become complete, whatever happens to the command and to the server, and nothing of the log goes before.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::copies::{archive_command, archived, base_copy, copy, restored};
use crate::support::{Client, READY, Server, output, text, until};

/// A server that archives into a folder beside its own.
fn archiving(settings: &[&str]) -> (Server, PathBuf) {
    let mut server = Server::init(&["--wal-segsize=1"]);
    let archive = server.file("archive");
    fs::create_dir(&archive).unwrap();
    let command = format!(
        "archive_command=test ! -f {0}/%f && cp %p {0}/%f.new && mv {0}/%f.new {0}/%f",
        archive.display()
    );
    for setting in ["autovacuum=off", "archive_mode=on", &command].iter().chain(settings) {
        server.set_option(setting);
    }
    (server, archive)
}

/// The file that the log is at.
fn present(client: &mut Client) -> String {
    client.value("select pg_walfile_name(pg_current_wal_lsn())")
}

fn names(folder: &PathBuf) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The segments that there are must be all from the first to the last.
fn assert_no_gap(names: &BTreeSet<String>) {
    let numbers: Vec<u64> = names
        .iter()
        .filter(|name| name.len() == 24)
        .map(|name| u64::from_str_radix(&name[16..], 16).unwrap())
        .collect();
    let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
    assert_eq!(numbers, (first..=last).collect::<Vec<_>>());
}

#[test]
fn what_runs_beside_the_sessions_is_shown_once_each() {
    let server = Server::start_with_upkeep(&["archive_mode=on", "archive_command=true", "summarize_wal=on"]);
    let mut client = server.client();
    let shown = "select string_agg(backend_type, ', ' order by backend_type) from (
        select min(backend_type) as backend_type from pg_stat_activity where pid < 10 group by pid having count(*) = 1) s";
    let all = "archiver, autovacuum launcher, background writer, checkpointer, logical replication launcher, walsummarizer, walwriter";
    until("all are shown", || client.value(shown) == all);
}

#[test]
fn files_are_archived_under_load_and_the_rest_at_shutdown() {
    let (mut server, archive) = archiving(&["max_wal_size=2MB", "min_wal_size=2MB", "wal_keep_size=0"]);
    server.run();
    let mut client = server.client();
    let first = present(&mut client);
    client.query("create table t as select repeat('x', 500) as x from generate_series(1, 100)").unwrap();
    for _ in 0..40 {
        client.query("insert into t select repeat('y', 500) from generate_series(1, 200)").unwrap();
    }
    let end = client.value("select pg_walfile_name(pg_switch_wal())");
    until("the last file is archived", || names(&archive).contains(&end));
    assert_no_gap(&names(&archive));
    // The command has moved the file a moment before it ends.
    until("the last file is known", || client.value("select last_archived_wal from pg_stat_archiver") == end);
    let seen =
        client.query("select archived_count, last_archived_wal, failed_count from pg_stat_archiver").unwrap();
    assert_eq!(seen[0][0].as_deref(), Some(names(&archive).len().to_string().as_str()));
    assert_eq!((seen[0][1].as_deref(), seen[0][2].as_deref()), (Some(end.as_str()), Some("0")));
    assert_eq!(
        client.value("select backend_type from pg_stat_activity where backend_type = 'archiver'"),
        "archiver"
    );
    // A checkpoint has nothing to wait for: old files have gone.
    client.query("checkpoint").unwrap();
    client.query("checkpoint").unwrap();
    assert!(!server.data().join("pg_wal").join(&first).exists());
    client.query("insert into t values ('the last')").unwrap();
    let last = present(&mut client);
    server.stop();
    assert!(names(&archive).contains(&last), "what is left is archived at shutdown");
    server.assert_sound();
    // The next server knows what the last one archived.
    server.set_option("archive_command=false");
    server.run();
    let known = "select last_archived_wal >= '{last}' and last_archived_time < now() from pg_stat_archiver";
    assert_eq!(server.client().value(&known.replace("{last}", &last)), "t");
}

#[test]
fn nothing_goes_before_it_is_archived_and_it_is_archived_once_that_works() {
    let (mut server, archive) = archiving(&["max_wal_size=2MB", "min_wal_size=2MB"]);
    server.set_option("archive_command=echo will not; exit 7");
    server.run();
    let mut client = server.client();
    let first = present(&mut client);
    client.query("create table t as select repeat('x', 500) as x from generate_series(1, 20000)").unwrap();
    client.query("select pg_switch_wal()").unwrap();
    client.query("checkpoint").unwrap();
    client.query("checkpoint").unwrap();
    server.wait_for_log("LOG:  archive command failed with exit code 7");
    assert!(server.log().contains("DETAIL:  The failed archive command was: echo will not; exit 7"));
    server.wait_for_log(&format!(
        "WARNING:  archiving write-ahead log file \"{first}\" failed too many times, will try again later"
    ));
    let ready = || names(&server.data().join("pg_wal/archive_status"));
    let waiting: BTreeSet<String> =
        ready().iter().filter_map(|name| name.strip_suffix(".ready").map(str::to_owned)).collect();
    assert!(waiting.len() > 8 && waiting.contains(&first), "{waiting:?}");
    assert_no_gap(&waiting);
    let there = names(&server.data().join("pg_wal"));
    assert!(waiting.is_subset(&there), "{waiting:?} of {there:?}");
    assert_eq!(client.value("select failed_count > 2 from pg_stat_archiver"), "t");
    assert_eq!(client.value("select last_failed_wal from pg_stat_archiver"), first);
    // The marks survive a crash.
    server.kill();
    server.set_option(&format!("archive_command=cp %p {}/%f", archive.display()));
    server.run();
    until("all is archived", || waiting.is_subset(&names(&archive)));
    let mut client = server.client();
    assert_eq!(client.value("select count(*) from t"), "20000");
    until("old files go", || {
        client.query("select pg_switch_wal()").unwrap();
        client.query("checkpoint").unwrap();
        !server.data().join("pg_wal").join(&first).exists()
    });
    server.stop();
}

/// Kills the server while it archives, again and again: the archive has every file, each as it was when it was complete.
#[test]
fn a_killed_server_archives_all_in_the_end() {
    let (mut server, archive) = archiving(&["max_wal_size=2MB", "min_wal_size=2MB"]);
    // A file that is there already is as good, if it is the same.
    let command = format!(
        "archive_command=if test -f {0}/%f; then cmp -s %p {0}/%f; else cp %p {0}/.new && mv {0}/.new {0}/%f; fi",
        archive.display()
    );
    server.set_option(&command);
    server.run();
    let first = present(&mut server.client());
    server.client().query("create table t (x text)").unwrap();
    for round in 0..6 {
        let mut client = server.client();
        let insert = "insert into t select repeat('x', 500) from generate_series(1, 3000)";
        client.query(insert).unwrap();
        client.send(&crate::support::client::message(b'Q', format!("{insert}\0").as_bytes())).unwrap();
        let done = names(&archive).len();
        until("it archives", || names(&archive).len() > done || round % 2 == 0);
        server.kill();
        server.run();
    }
    let mut client = server.client();
    let last = client.value("select pg_walfile_name(pg_switch_wal())");
    until("the last file is archived", || names(&archive).contains(&last));
    let files: BTreeSet<String> = names(&archive).into_iter().filter(|name| !name.starts_with('.')).collect();
    assert_no_gap(&files);
    assert!(files.contains(&first));
    assert_eq!(client.value("select failed_count from pg_stat_archiver"), "0");
    server.stop();
}

#[test]
fn archive_timeout_begins_a_new_file_only_when_there_is_something_in_it() {
    let (mut server, archive) = archiving(&["archive_timeout=1s"]);
    server.run();
    let mut client = server.client();
    client.query("create table t (x text)").unwrap();
    until("a file is archived early", || !names(&archive).is_empty());
    let end = client.value("select pg_current_wal_insert_lsn()");
    let quiet = client.value("select pg_sleep(2.5), pg_current_wal_insert_lsn()");
    assert!(quiet.is_empty());
    assert_eq!(client.value("select pg_current_wal_insert_lsn()"), end, "nothing was worth another file");
    server.stop();
}

#[test]
fn settings_of_archiving() {
    let (mut server, _) =
        archiving(&["archive_command=", "wal_keep_size=64MB", "max_wal_size=2MB", "min_wal_size=2MB"]);
    server.run();
    let mut client = server.client();
    let first = server.data().join("pg_wal").join(present(&mut client));
    client.query("create table t as select repeat('x', 500) as x from generate_series(1, 10000)").unwrap();
    server.wait_for_log("WARNING:  \"archive_mode\" enabled, yet archiving is not configured");
    server.stop();
    server.set_option("archive_command=cp %z");
    server.run();
    server.wait_for_log("DETAIL:  String contains unexpected placeholder \"%z\".");
    server.stop();
    // wal_keep_size keeps what the archive has.
    server.set_option("archive_command=true");
    server.run();
    let mut client = server.client();
    client.query("select pg_switch_wal()").unwrap();
    until("all is archived", || {
        client.value("select count(*) from pg_ls_archive_statusdir() where name like '%.ready'") == "0"
    });
    client.query("checkpoint").unwrap();
    assert!(first.exists());
    server.stop();
    server.set_option("wal_keep_size=0");
    server.run();
    let mut client = server.client();
    client.query("insert into t values ('x')").unwrap();
    client.query("checkpoint").unwrap();
    assert!(!first.exists());
    server.stop();
    server.set_option("wal_level=minimal");
    server.launch();
    assert!(!server.becomes_ready());
    assert!(
        server.log().contains("FATAL:  WAL archival cannot be enabled when \"wal_level\" is \"minimal\"")
    );
    server.set_option("archive_mode=off");
    server.launch();
    assert!(!server.becomes_ready());
    assert!(server.log().contains("requires \"wal_level\" to be \"replica\" or \"logical\""));
    server.set_option("max_wal_senders=0");
    server.launch();
    server.wait_for_log(READY);
    assert_eq!(
        server.client().error("select pg_create_restore_point('x')"),
        "55000 WAL level not sufficient for creating a restore point"
    );
    server.stop();
}

#[test]
fn functions_of_the_log() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    for (statement, value) in [
        ("select pg_split_walfile_name('000000010000000100C000FF')", "(12583423,1)"),
        ("select (pg_split_walfile_name('00000002000000010000000f')).timeline_id", "2"),
        ("select pg_walfile_name('1/0')", "0000000100000000000000FF"),
        ("select pg_walfile_name_offset('1/28')", "(000000010000000100000000,40)"),
        ("select pg_wal_lsn_diff('1/0', '0/FFFFFF00')", "256"),
        ("select system_identifier > 0 and pg_control_version = 1800 from pg_control_system()", "t"),
        (
            "select timeline_id = 1 and redo_wal_file like '0000000100000000%' and full_page_writes from pg_control_checkpoint()",
            "t",
        ),
        (
            "select min_recovery_end_lsn || ' ' || end_of_backup_record_required from pg_control_recovery()",
            "0/0 false",
        ),
        (
            "select bytes_per_wal_segment || ' ' || data_page_checksum_version from pg_control_init()",
            "16777216 1",
        ),
        ("select pg_switch_wal() < pg_current_wal_lsn()", "t"),
        ("select pg_switch_wal() = pg_current_wal_lsn()", "t"),
        ("select (pg_current_wal_lsn() - '0/0') % 16777216", "0"),
        ("select pg_last_wal_replay_lsn() is null", "t"),
    ] {
        assert_eq!(client.value(statement), value, "{statement}");
    }
    for (statement, error) in [
        ("select pg_split_walfile_name('x')", "22023 invalid WAL file name \"x\""),
        (
            "select pg_create_restore_point(repeat('a', 64))",
            "22023 value too long for restore point (maximum 63 characters)",
        ),
        ("select pg_wal_replay_pause()", "55000 recovery is not in progress"),
        ("select pg_is_wal_replay_paused()", "55000 recovery is not in progress"),
        ("select pg_promote()", "55000 recovery is not in progress"),
    ] {
        assert_eq!(client.error(statement), error, "{statement}");
    }
    client.query("create table t as select 1").unwrap();
    server.kill();
    server.run();
    let mut client = server.client();
    assert_eq!(
        client.value(
            "select pg_last_wal_replay_lsn() > '0/0' and now() - pg_last_xact_replay_timestamp() < '1 h'"
        ),
        "t"
    );
    server.stop();
}

/// A standby archives what it restores only with `archive_mode = always`; once it is promoted, it does so anyway.
#[test]
fn a_standby_archives_if_it_always_does() {
    let (mut server, archive) = archiving(&[]);
    server.run();
    let base = base_copy(&mut server, "base");
    let mut client = server.client();
    client.query("create table t as select generate_series(1, 1000) as n").unwrap();
    let last = present(&mut client);
    archived(&mut client, &archive);
    for (mode, archives) in [("always", true), ("on", false)] {
        let own = server.file(&format!("archive of {mode}"));
        fs::create_dir(&own).unwrap();
        let settings = [
            &format!("archive_mode={mode}"),
            &archive_command(&own).replace(&*own.to_string_lossy(), &format!("'{}'", own.display())),
        ];
        let mut standby =
            restored(&base, &archive, &[settings[0], settings[1], "wal_retrieve_retry_interval=200ms"]);
        fs::rename(standby.data().join("recovery.signal"), standby.data().join("standby.signal")).unwrap();
        standby.launch();
        standby.wait_for_log(&format!("restored log file \"{last}\" from archive"));
        let more = format!("create table of_{mode} (n int)");
        client.query(&more).unwrap();
        let next = present(&mut client);
        archived(&mut client, &archive);
        standby.wait_for_log(&format!("restored log file \"{next}\" from archive"));
        if archives {
            until("the standby has archived it too", || names(&own).contains(&last));
        } else {
            assert_eq!(names(&own).len(), 0);
        }
        let promoted = output(standby.program("pg_ctl").arg("-D").arg(standby.data()).arg("promote"));
        assert!(promoted.status.success(), "{}", text(&promoted));
        standby.wait_for_log(READY);
        until("the new time line's history is archived", || names(&own).contains("00000002.history"));
        assert_eq!(standby.client().value("select count(*) from t"), "1000");
        standby.stop();
        standby.assert_sound();
    }
    server.stop();
}

/// The segment in which a time line was left is archived under a name of its own, for it is complete nowhere.
#[test]
fn the_segment_that_was_left_is_archived_as_a_part() {
    let (mut server, archive) = archiving(&[]);
    server.run();
    server.client().query("create table t as select 1 as n").unwrap();
    server.stop();
    let mut other = Server::without_data();
    copy(&server.data(), &other.data());
    fs::write(other.data().join("standby.signal"), "").unwrap();
    let own = other.file("archive");
    fs::create_dir(&own).unwrap();
    for setting in ["autovacuum=off", "archive_mode=on", &archive_command(&own)] {
        other.set_option(setting);
    }
    other.launch();
    other.wait_for_log("LOG:  entering standby mode");
    let promoted = output(other.program("pg_ctl").arg("-D").arg(other.data()).arg("promote"));
    assert!(promoted.status.success(), "{}", text(&promoted));
    other.wait_for_log(READY);
    until("the part is archived", || names(&own).iter().any(|name| name.ends_with(".partial")));
    let parts: Vec<String> = names(&own).into_iter().filter(|name| name.ends_with(".partial")).collect();
    assert!(parts.len() == 1 && parts[0].starts_with("00000001"), "{parts:?}");
    let complete = parts[0].trim_end_matches(".partial");
    assert!(!names(&own).contains(complete) && !names(&archive).contains(complete));
    other.stop();
    other.assert_sound();
}
