//! Recovery of an archive: a copy of the data goes to a moment, a place, a transaction or a name of the log, on a time line of its own; a standby follows.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::copies::{archive_command, archived, base_copy, restored};
use crate::support::sums::{self, add, sum};
use crate::support::{READY, Server, output, text};

/// A server that archives, with a table of sums; and the archive.
fn primary(settings: &[&str]) -> (Server, PathBuf) {
    let mut server = Server::init(&["--wal-segsize=1"]);
    let archive = server.file("archive");
    fs::create_dir(&archive).unwrap();
    for setting in ["autovacuum=off", "archive_mode=on", &archive_command(&archive)].iter().chain(settings) {
        server.set_option(setting);
    }
    server.run();
    sums::create(&server);
    (server, archive)
}

/// It cannot start, for this reason.
fn assert_refused(server: &mut Server, why: &str) {
    server.launch();
    assert!(!server.becomes_ready(), "it started");
    assert!(server.log().contains(why), "{}", server.log());
}

#[test]
fn a_copy_goes_where_it_is_told() {
    let (mut server, archive) = primary(&[]);
    add(&mut server.client(), 1, 1000);
    let base = base_copy(&mut server, "base");
    let mut client = server.client();
    let at_base = sum(&mut client);
    add(&mut client, 1001, 500);
    client.query("select pg_create_restore_point('noon')").unwrap();
    let at_noon = sum(&mut client);
    client.query("begin").unwrap();
    let xid = client.value("select pg_current_xact_id()");
    add(&mut client, 2001, 300);
    client.query("commit").unwrap();
    let behind_xid = sum(&mut client);
    let lsn = client.value("select pg_current_wal_insert_lsn()");
    let time = client.value("select clock_timestamp() from pg_sleep(0.05)");
    client.query("select pg_sleep(0.05)").unwrap();
    client.query("update t set amount = amount + 1").unwrap();
    client.query("delete from t where n % 10 = 0").unwrap();
    client.query("create table later (x int)").unwrap();
    client.query("create unlogged table u as select 1 as x").unwrap();
    let at_end = sum(&mut client);
    archived(&mut client, &archive);
    let targets: &[(&[&str], &str, &str)] = &[
        (&["recovery_target_name=noon"], &at_noon, "at restore point \"noon\""),
        (&[&format!("recovery_target_xid={xid}")], &behind_xid, &format!("after transaction {xid}")),
        (
            &[&format!("recovery_target_xid={xid}"), "recovery_target_inclusive=off"],
            &at_noon,
            &format!("before transaction {xid}"),
        ),
        (&[&format!("recovery_target_lsn={lsn}")], &behind_xid, &format!("after LSN {lsn}")),
        (
            &[&format!("recovery_target_lsn={lsn}"), "recovery_target_inclusive=off"],
            &behind_xid,
            &format!("before LSN {lsn}"),
        ),
        (&[&format!("recovery_target_time={time}")], &behind_xid, "before 20"),
        (&["recovery_target=immediate"], &at_base, "reached consistency"),
        (&[], &at_end, "no recovery target specified"),
    ];
    for (settings, wanted, reason) in targets {
        let mut copy = restored(&base, &archive, settings);
        copy.run();
        assert!(copy.log().contains("archive recovery complete"), "{}", copy.log());
        let mut client = copy.client();
        assert_eq!(sum(&mut client), *wanted, "{settings:?}");
        assert!(client.value("select pg_walfile_name(pg_current_wal_lsn())").starts_with("00000002"));
        let history = fs::read_to_string(copy.data().join("pg_wal/00000002.history")).unwrap();
        assert!(history.starts_with("1\t") && history.contains(&format!("\t{reason}")), "{history}");
        assert!(!copy.data().join("recovery.signal").exists());
        // It goes on, and comes back from a crash on its own time line.
        add(&mut client, 10_000, 10);
        let more = sum(&mut client);
        if *wanted == at_end {
            assert_eq!(client.value("select count(*) from u"), "0", "unlogged tables begin anew");
        }
        copy.kill();
        copy.run();
        assert_eq!(sum(&mut copy.client()), more);
        copy.stop();
        copy.assert_sound();
    }
    server.stop();
}

#[test]
fn time_lines_are_followed_and_chosen() {
    let (mut server, archive) = primary(&[]);
    let base = base_copy(&mut server, "base");
    let mut client = server.client();
    add(&mut client, 1, 500);
    client.query("select pg_create_restore_point('fork')").unwrap();
    add(&mut client, 501, 500);
    let on_first = sum(&mut client);
    archived(&mut client, &archive);
    let late = base_copy(&mut server, "late");
    archived(&mut server.client(), &archive);
    // The second time line, in the same archive.
    let mut second = restored(
        &base,
        &archive,
        &["recovery_target_name=fork", "archive_mode=on", &archive_command(&archive)],
    );
    second.run();
    let mut client = second.client();
    add(&mut client, 5001, 200);
    let on_second = sum(&mut client);
    archived(&mut client, &archive);
    assert!(archive.join("00000002.history").exists());
    let partial = fs::read_dir(&archive)
        .unwrap()
        .any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".partial"));
    assert!(!partial, "the old time line's segment came from the archive");
    second.stop();
    for (timeline, wanted) in
        [("latest", &on_second), ("1", &on_first), ("2", &on_second), ("current", &on_first)]
    {
        let mut copy = restored(&base, &archive, &[&format!("recovery_target_timeline={timeline}")]);
        copy.run();
        let mut client = copy.client();
        assert_eq!(sum(&mut client), *wanted, "{timeline}");
        assert!(client.value("select pg_walfile_name(pg_current_wal_lsn())").starts_with("00000003"));
        copy.stop();
        copy.assert_sound();
    }
    // What was copied behind the fork cannot follow the other time line.
    let mut stranger = restored(&late, &archive, &["recovery_target_timeline=2"]);
    assert_refused(&mut stranger, "requested timeline 2 is not a child of this server's history");
    let mut missing = restored(&base, &archive, &["recovery_target_timeline=7"]);
    assert_refused(&mut missing, "FATAL:  recovery target timeline 7 does not exist");
    fs::write(archive.join("00000002.history"), "1\t0/2").unwrap();
    let mut cut = restored(&base, &archive, &["recovery_target_timeline=2"]);
    assert_refused(&mut cut, "invalid data in history file \"00000002.history\"");
    server.stop();
}

#[test]
fn what_is_wrong_is_told() {
    let (mut server, archive) = primary(&[]);
    let base = base_copy(&mut server, "base");
    let mut client = server.client();
    for round in 0..12 {
        add(&mut client, round * 1000, 1000);
    }
    client.query("select pg_create_restore_point('end')").unwrap();
    archived(&mut client, &archive);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&archive).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let target = ["recovery_target_name=end"];
    let middle = &files[files.len() - 3];
    let kept = fs::read(middle).unwrap();
    // A segment is missing.
    fs::remove_file(middle).unwrap();
    assert_refused(
        &mut restored(&base, &archive, &target),
        "FATAL:  recovery ended before configured recovery target was reached",
    );
    // One has a damaged record.
    let mut damaged = kept.clone();
    damaged[500_000] ^= 1;
    fs::write(middle, &damaged).unwrap();
    let mut copy = restored(&base, &archive, &target);
    assert_refused(
        &mut copy,
        "recovery ended before configured recovery target was reached: incorrect resource manager data checksum in record at",
    );
    // One is of another cluster.
    let other = Server::init_anew(&["--wal-segsize=1"]);
    let foreign = fs::read_dir(other.data().join("pg_wal"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_file())
        .unwrap();
    fs::write(middle, fs::read(foreign).unwrap()).unwrap();
    assert_refused(&mut restored(&base, &archive, &target), "is from a different database system");
    // One is cut.
    fs::write(middle, &kept[..1000]).unwrap();
    let size = format!(
        "archive file \"{}\" has wrong size: 1000 instead of 1048576",
        middle.file_name().unwrap().to_string_lossy()
    );
    assert_refused(&mut restored(&base, &archive, &target), &size);
    fs::write(middle, &kept).unwrap();
    // The command is killed: no answer.
    let mut copy = restored(&base, &archive, &target);
    copy.set_option("restore_command=kill -9 $$");
    assert_refused(&mut copy, "from archive: restore command was terminated by signal 9");
    copy.set_option("restore_command=");
    assert_refused(&mut copy, "FATAL:  must specify \"restore_command\" when standby mode is not enabled");
    for (setting, why) in [
        ("recovery_target=later", "invalid value for parameter \"recovery_target\": \"later\""),
        ("recovery_target_lsn=5", "invalid value for parameter \"recovery_target_lsn\": \"5\""),
        ("recovery_target_time=now", "invalid value for parameter \"recovery_target_time\": \"now\""),
        ("recovery_target_xid=x", "invalid value for parameter \"recovery_target_xid\": \"x\""),
        ("recovery_target_timeline=x", "invalid value for parameter \"recovery_target_timeline\": \"x\""),
        ("recovery_target=immediate", "multiple recovery targets specified"),
    ] {
        let mut copy = restored(&base, &archive, &target);
        copy.set_option(setting);
        assert_refused(&mut copy, why);
    }
    let mut good = restored(&base, &archive, &target);
    good.run();
    assert_eq!(good.client().value("select count(*) from t"), "12000");
    good.stop();
    server.stop();
}

/// An archive that is longer than what is replayed at a time: restart points are made, what they do not need goes, a killed recovery goes on from there,
/// and one that was shut down at its target goes on to a later one.
#[test]
fn a_long_archive_is_replayed_piece_by_piece() {
    let (mut server, archive) = primary(&["max_wal_size=2MB", "min_wal_size=2MB"]);
    let base = base_copy(&mut server, "base");
    let mut client = server.client();
    client.query("alter system set max_prepared_transactions = 0").unwrap();
    for round in 0..20 {
        add(&mut client, round * 2000, 2000);
        client.query("update t set amount = amount + 1 where n % 3 = 0").unwrap();
        if round == 9 {
            client.query("select pg_create_restore_point('half')").unwrap();
        }
    }
    let at_half = "20000";
    let wanted = sum(&mut client);
    archived(&mut client, &archive);
    let cleaned = server.file("cleaned");
    let cleanup = format!("archive_cleanup_command=echo %r >> {}", cleaned.display());
    let settings = [
        "max_wal_size=2MB",
        "min_wal_size=2MB",
        &cleanup,
        "recovery_target_name=half",
        "recovery_target_action=shutdown",
    ];
    let mut copy = restored(&base, &archive, &settings);
    copy.launch();
    copy.wait_for_log("LOG:  recovery restart point at");
    copy.kill();
    copy.launch();
    let status = copy.wait();
    assert!(status.success(), "{status}: {}", copy.log());
    assert!(copy.log().contains("shutdown at recovery target"), "{}", copy.log());
    assert!(copy.data().join("recovery.signal").exists());
    let needed = fs::read_to_string(&cleaned).unwrap();
    assert!(needed.lines().all(is_segment), "{needed}");
    let oldest = needed.lines().last().unwrap();
    let left = files_in(&copy.data().join("pg_wal")).into_iter().filter(|name| is_segment(name));
    let spare: Vec<String> = left.filter(|name| name.as_str() < oldest).collect();
    assert_eq!(spare, Vec::<String>::new(), "older than {oldest}: {}", copy.log());
    copy.set_option("recovery_target_action=promote");
    copy.set_option(&format!("recovery_end_command=touch {}/ended", copy.file("").display()));
    let mut half = copy;
    half.set_option("recovery_target_name=");
    half.run();
    let mut client = half.client();
    assert_eq!(sum(&mut client), wanted);
    assert_ne!(at_half, wanted);
    assert!(half.file("ended").exists());
    half.stop();
    half.assert_sound();
    server.stop();
}

fn is_segment(name: &str) -> bool {
    name.len() == 24 && name.starts_with("00000001")
}

fn files_in(dir: &Path) -> Vec<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// A target that lies before what was replayed already cannot be reached any more.
#[test]
fn there_is_no_way_back() {
    let (mut server, archive) = primary(&[]);
    let base = base_copy(&mut server, "base");
    let mut client = server.client();
    client.query("select pg_create_restore_point('early')").unwrap();
    add(&mut client, 1, 2000);
    client.query("select pg_create_restore_point('late')").unwrap();
    add(&mut client, 2001, 10);
    archived(&mut client, &archive);
    let mut copy =
        restored(&base, &archive, &["recovery_target_name=late", "recovery_target_action=shutdown"]);
    copy.launch();
    assert!(copy.wait().success());
    copy.set_option("recovery_target_name=early");
    assert_refused(&mut copy, "FATAL:  requested recovery stop point is before consistent recovery point");
    server.stop();
}

#[test]
fn a_standby_follows_the_archive_until_it_is_promoted() {
    let (mut server, archive) = primary(&[]);
    let base = base_copy(&mut server, "base");
    let mut client = server.client();
    add(&mut client, 1, 500);
    archived(&mut client, &archive);
    let mut standby = restored(&base, &archive, &["wal_retrieve_retry_interval=200ms", "hot_standby=off"]);
    fs::remove_file(standby.data().join("recovery.signal")).unwrap();
    fs::write(standby.data().join("standby.signal"), "").unwrap();
    standby.launch();
    standby.wait_for_log("LOG:  entering standby mode");
    for round in 1..4 {
        add(&mut client, round * 1000, 300);
        let last = client.value("select pg_walfile_name(pg_switch_wal())");
        standby.wait_for_log(&format!("restored log file \"{last}\" from archive"));
    }
    let refused = standby.connect(&[]).map(drop).unwrap_err();
    assert_eq!(crate::support::code(&refused), "57P03");
    // It is stopped, and goes on.
    standby.stop();
    assert!(standby.log().contains("database system is shut down"));
    standby.launch();
    standby.wait_for_log("LOG:  entering standby mode");
    add(&mut client, 9000, 300);
    let wanted = sum(&mut client);
    let last = client.value("select pg_walfile_name(pg_switch_wal())");
    standby.wait_for_log(&format!("restored log file \"{last}\" from archive"));
    let promoted = output(standby.program("pg_ctl").arg("-D").arg(standby.data()).arg("promote"));
    assert!(promoted.status.success(), "{}", text(&promoted));
    standby.wait_for_log(READY);
    let mut client = standby.client();
    assert_eq!(sum(&mut client), wanted);
    assert!(!standby.data().join("standby.signal").exists() && !standby.data().join("promote").exists());
    add(&mut client, 20_000, 10);
    let again = output(standby.program("pg_ctl").arg("-D").arg(standby.data()).arg("promote"));
    assert!(
        text(&again).contains("cannot promote server; server is not in standby mode"),
        "{}",
        text(&again)
    );
    standby.stop();
    standby.assert_sound();
    server.stop();
}
