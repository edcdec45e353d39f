//! A standby that receives the log from another server as it is written, and what becomes of it when something fails.

use std::fs;
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt;

use crate::support::client::message;
use crate::support::copies::{archive_command, archived};
use crate::support::pair::{primary_conninfo, promote, run_standby, standby_of, unconnected_standby_of};
use crate::support::sums::{self, add, sum};
use crate::support::{Client, Server, output, text, until};

/// A server with a table of sums.
fn primary(settings: &[&str]) -> Server {
    primary_on(Server::init(&["--wal-segsize=1"]), settings)
}

fn primary_on(mut server: Server, settings: &[&str]) -> Server {
    ["autovacuum=off"].iter().chain(settings).for_each(|setting| server.set_option(setting));
    server.run();
    sums::create(&server);
    server
}

/// A standby on a copy of the data of a server, which is stopped for it; not started yet.
fn standby(of: &mut Server, settings: &[&str]) -> Server {
    standby_of(of, "application_name=s1", settings)
}

/// Waits until a standby of this name has replayed all there is.
fn caught_up(primary: &Server, name: &str) {
    let mut client = primary.client();
    let end = client.value("select pg_current_wal_flush_lsn()");
    let has = format!(
        "select count(*) from pg_stat_replication where application_name = '{name}' and replay_lsn >= '{end}'"
    );
    until("the standby has replayed all", || client.value(&has) == "1");
}

#[test]
fn a_standby_follows_and_becomes_a_server_of_its_own() {
    let mut primary = primary(&[]);
    let mut standby = standby(&mut primary, &[]);
    standby.launch();
    standby.wait_for_log("started streaming WAL from primary at");
    let mut client = primary.client();
    // More than one segment, and commits one by one.
    add(&mut client, 1, 10_000);
    for n in 0..20 {
        add(&mut client, 20_000 + n, 1);
    }
    let wanted = sum(&mut client);
    // Behind a switch nothing is missing, though no record has followed.
    client.query("select pg_switch_wal()").unwrap();
    caught_up(&primary, "s1");
    assert_eq!(
        client.value("select state || ' ' || (flush_lsn = replay_lsn)::text || ' ' || (sent_lsn = write_lsn)::text from pg_stat_replication"),
        "streaming true true"
    );
    primary.kill();
    standby.wait_for_log("could not connect to the primary server: connection to server at");
    promote(&mut standby);
    let mut client = standby.client();
    assert_eq!(sum(&mut client), wanted);
    add(&mut client, 50_000, 10);
    drop(client);
    standby.stop();
    standby.assert_sound();
}

/// A receiver of the log alone: no standby, but it says that it has on disk what it was sent.
struct Receiver(TcpStream);

impl Receiver {
    fn start(of: &Server, name: &str) -> Receiver {
        let mut client = of.connect(&[("replication", "true"), ("application_name", name)]).unwrap();
        let stream = client.stream().try_clone().unwrap();
        stream.set_read_timeout(None).unwrap();
        // From the beginning of a segment on.
        let start = of.client().value(
            "select '0/' || to_hex((div(pg_current_wal_flush_lsn() - '0/0', 1048576) * 1048576)::bigint)",
        );
        let start = format!("START_REPLICATION {start} TIMELINE 1\0");
        client.send(&message(b'Q', start.as_bytes())).unwrap();
        std::thread::spawn(move || {
            while let Ok((kind, body)) = client.message() {
                if kind == b'd' && body[0] == b'w' {
                    let at = u64::from_be_bytes(body[1..9].try_into().unwrap()) + body.len() as u64 - 25;
                    let mut status = vec![b'r'];
                    for number in [at, at, at, 7] {
                        status.extend(number.to_be_bytes());
                    }
                    status.push(0);
                    let _ = client.send(&message(b'd', &status));
                }
            }
        });
        Receiver(stream)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

fn sync_states(client: &mut Client) -> String {
    client.value(
        "select string_agg(application_name || ' ' || sync_priority || ' ' || sync_state, ', ' order by application_name) \
         from pg_stat_replication",
    )
}

fn set_names(client: &mut Client, names: &str) {
    client.query(&format!("alter system set synchronous_standby_names = '{names}'")).unwrap();
    client.query("select pg_reload_conf()").unwrap();
    let shown = names.replace("''", "'");
    until("the names are known", || client.value("show synchronous_standby_names") == shown);
}

/// Sends a statement that is to wait for standbys; returns once it does.
fn waiting(
    server: &Server,
    statement: &'static str,
) -> (i32, std::thread::JoinHandle<Result<Vec<String>, String>>) {
    let mut client = server.client();
    let pid = client.value("select pg_backend_pid()").parse().unwrap();
    let thread = std::thread::spawn(move || match client.query(statement) {
        Ok(_) => Ok(client.notices),
        Err(failure) => Err(format!("{failure:?}")),
    });
    let mut other = server.client();
    until("it waits", || {
        other.value(&format!("select coalesce(wait_event, '') from pg_stat_activity where pid = {pid}"))
            == "SyncRep"
    });
    (pid, thread)
}

#[test]
fn commits_wait_for_the_standbys_that_are_named() {
    let server = primary(&["max_prepared_transactions=2"]);
    let mut client = server.client();
    set_names(&mut client, "s1");
    let (_, thread) = waiting(&server, "insert into t values (1)");
    // Who does not wait is not held up, and neither is a checkpoint.
    client.query("set synchronous_commit = local").unwrap();
    client.query("insert into t values (2)").unwrap();
    client.query("checkpoint").unwrap();
    let receiver = Receiver::start(&server, "s1");
    assert!(thread.join().unwrap().is_ok());
    until("it is synchronous", || sync_states(&mut client) == "s1 1 sync");
    client.query("set synchronous_commit = on").unwrap();
    for statement in [
        "insert into t values (3)",
        "begin",
        "insert into t values (4)",
        "prepare transaction 'p'",
        "commit prepared 'p'",
    ] {
        client.query(statement).unwrap();
    }
    drop(receiver);
    until("it is gone", || client.value("select count(*) from pg_stat_replication") == "0");
    let (pid, thread) = waiting(&server, "insert into t values (5)");
    client.query(&format!("select pg_cancel_backend({pid})")).unwrap();
    let notices = thread.join().unwrap().unwrap();
    assert!(
        notices
            .iter()
            .any(|notice| notice.contains("canceling wait for synchronous replication due to user request")),
        "{notices:?}"
    );
    let (pid, thread) = waiting(&server, "insert into t values (6)");
    client.query(&format!("select pg_terminate_backend({pid})")).unwrap();
    assert!(thread.join().unwrap().unwrap_err().contains("57P01"));
    let (_, thread) = waiting(&server, "insert into t values (7)");
    set_names(&mut client, "");
    assert!(thread.join().unwrap().is_ok());
    assert_eq!(client.value("select string_agg(n::text, ' ' order by n) from t"), "1 2 3 4 5 6 7");
}

#[test]
fn who_reads_what_standbys_do_not_have_waits_too() {
    let server = primary(&[]);
    let mut client = server.client();
    client.query("insert into t values (1, 0)").unwrap();
    set_names(&mut client, "s1");
    let (_, writer) = waiting(&server, "update t set amount = 1");
    let mut other = server.client();
    let reader = std::thread::spawn(move || other.value("select amount from t"));
    for _ in 0..20 {
        client.query("select 1").unwrap();
    }
    assert!(!reader.is_finished(), "it was told of what standbys do not have");
    let _receiver = Receiver::start(&server, "s1");
    assert!(writer.join().unwrap().is_ok());
    assert_eq!(reader.join().unwrap(), "1");
}

#[test]
fn first_and_any_choose_among_standbys() {
    let server = primary(&[]);
    let mut client = server.client();
    let receivers = ["s1", "s2", "s3"].map(|name| Receiver::start(&server, name));
    until("all stream", || {
        client.value(
            "select count(*) from pg_stat_replication where state = 'streaming' and flush_lsn is not null",
        ) == "3"
    });
    for (names, states) in [
        ("FIRST 2 (s3, s1, s2)", "s1 2 sync, s2 3 potential, s3 1 sync"),
        ("s2", "s1 0 async, s2 1 sync, s3 0 async"),
        ("ANY 2 (s1, S2)", "s1 1 quorum, s2 1 quorum, s3 0 async"),
        ("*", "s1 1 sync, s2 1 potential, s3 1 potential"),
    ] {
        set_names(&mut client, names);
        client.query("set synchronous_commit = on").unwrap();
        client.query("insert into t select coalesce(max(n), 0) + 1 from t").unwrap();
        assert_eq!(sync_states(&mut client), states, "{names}");
    }
    drop(receivers);
    let refused = |names: &str| {
        format!(
            "{:?}",
            server
                .client()
                .query(&format!("alter system set synchronous_standby_names = '{names}'"))
                .unwrap_err()
        )
    };
    assert!(refused("0 (a)").contains("number of synchronous standbys (0) must be greater than zero"));
    assert!(refused("a b").contains("42601"));
}

#[test]
fn a_standby_reports_that_its_primary_was_shut_down() {
    let mut primary = primary(&[]);
    let mut standby = standby(&mut primary, &["log_line_prefix=%p "]);
    standby.launch();
    standby.wait_for_log("started streaming WAL from primary at");
    primary.stop();
    standby.wait_for_log("replication terminated by primary server");
    standby.wait_for_log("could not send end-of-streaming message to primary: no COPY in progress");
    let log = standby.log();
    let detail =
        log.lines().find_map(|line| line.split_once("DETAIL:  End of WAL reached on timeline 1 at "));
    // The shutdown checkpoint came, too.
    let control = text(&output(standby.program("pg_controldata").arg(primary.data())));
    let checkpoint = control.lines().find_map(|line| line.strip_prefix("Latest checkpoint location:"));
    let place = |text: &str| {
        let (high, low) = text.trim().trim_end_matches('.').split_once('/').unwrap();
        (u64::from_str_radix(high, 16).unwrap() << 32) | u64::from_str_radix(low, 16).unwrap()
    };
    assert!(place(detail.unwrap().1) > place(checkpoint.unwrap()), "{log}\n{control}");
    primary.run();
    add(&mut primary.client(), 1, 10);
    caught_up(&primary, "s1");
    standby.stop();
}

/// A promoted copy has all that its primary acknowledged.
fn assert_has(standby: &mut Server, wanted: &str) {
    promote(standby);
    assert_eq!(sum(&mut standby.client()), wanted);
    standby.stop();
    standby.assert_sound();
}

#[test]
fn a_stream_goes_on_after_either_side_was_killed() {
    let mut primary = primary(&["wal_keep_size=100MB"]);
    let mut standby = standby(&mut primary, &["wal_receiver_status_interval=1"]);
    standby.launch();
    standby.wait_for_log("started streaming WAL from primary at");
    for round in 0..3 {
        add(&mut primary.client(), 1 + round * 10_000, 3000);
        standby.kill();
        add(&mut primary.client(), 5001 + round * 10_000, 3000);
        standby.launch();
        standby.wait_for_log("started streaming WAL from primary at");
        primary.kill();
        standby
            .wait_for_log("could not connect to the primary server: connection to server at \"127.0.0.1\"");
        primary.run();
    }
    add(&mut primary.client(), 100_000, 10);
    caught_up(&primary, "s1");
    let wanted = sum(&mut primary.client());
    assert_has(&mut standby, &wanted);
}

#[test]
fn a_standby_follows_its_primary_to_the_next_time_line() {
    let mut old = primary(&["wal_keep_size=100MB"]);
    let mut first = standby(&mut old, &["wal_keep_size=100MB"]);
    let mut second = standby(&mut old, &[]);
    second.set_option(&primary_conninfo(&old, "application_name=s2"));
    for server in [&mut first, &mut second] {
        server.launch();
        server.wait_for_log("started streaming WAL from primary at");
    }
    fail_over(&mut old, &mut first);
    second.stop();
    second.set_option(&primary_conninfo(&first, "application_name=s2"));
    second.launch();
    second.wait_for_log("fetching timeline history file for timeline 2 from primary server");
    second.wait_for_log("new target timeline is 2");
    caught_up(&first, "s2");
    let wanted = sum(&mut first.client());
    assert_has(&mut second, &wanted);
}

/// Two standbys have what a primary has when it is lost; the first of them goes on in its place.
fn fail_over(old: &mut Server, first: &mut Server) {
    add(&mut old.client(), 1, 5000);
    caught_up(old, "s1");
    caught_up(old, "s2");
    old.kill();
    promote(first);
    add(&mut first.client(), 10_001, 5000);
}

/// Tells a running standby where to receive its log from.
fn follow(standby: &Server, upstream: &Server) {
    let conninfo = primary_conninfo(upstream, "application_name=s2");
    let conninfo = conninfo.trim_start_matches("primary_conninfo=");
    let mut client = standby.client();
    client.query(&format!("alter system set primary_conninfo = '{conninfo}'")).unwrap();
    client.query("select pg_reload_conf()").unwrap();
}

#[test]
fn a_new_primary_and_its_time_line_are_asked_for_at_once() {
    let mut old = primary(&["wal_keep_size=100MB"]);
    let mut first = standby(&mut old, &["wal_keep_size=100MB"]);
    let mut second = unconnected_standby_of(&mut old);
    // It would wait longer than the test.
    second.set_option("wal_retrieve_retry_interval=1h");
    run_standby(&mut second);
    first.launch();
    first.wait_for_log("started streaming WAL from primary at");
    follow(&second, &old);
    fail_over(&mut old, &mut first);
    follow(&second, &first);
    second.wait_for_log("new target timeline is 2");
    caught_up(&first, "s2");
    let wanted = sum(&mut first.client());
    assert_has(&mut second, &wanted);
}

/// The rest of the old time line comes out of the segment in which the new one left it.
#[test]
fn a_standby_that_is_behind_gets_the_end_of_the_old_time_line_from_the_new_primary() {
    let mut old = primary(&["wal_keep_size=100MB"]);
    let mut first = standby(&mut old, &["wal_keep_size=100MB"]);
    let mut second = standby(&mut old, &[]);
    first.launch();
    first.wait_for_log("started streaming WAL from primary at");
    add(&mut old.client(), 1, 5000);
    old.client().query("select pg_switch_wal()").unwrap();
    add(&mut old.client(), 10_001, 10);
    caught_up(&old, "s1");
    old.kill();
    promote(&mut first);
    add(&mut first.client(), 20_001, 5000);
    second.set_option(&primary_conninfo(&first, "application_name=s2"));
    second.launch();
    second.wait_for_log("new target timeline is 2");
    caught_up(&first, "s2");
    let wanted = sum(&mut first.client());
    assert_has(&mut second, &wanted);
}

/// Pages of a server that crashed may have what its log has up to its end; a time line that does not have that must not be followed.
#[test]
fn a_crashed_primary_comes_to_the_end_of_its_own_log_before_it_follows_another() {
    let mut old = primary(&["wal_keep_size=100MB"]);
    let mut new = standby(&mut old, &["wal_keep_size=100MB"]);
    run_standby(&mut new);
    add(&mut old.client(), 1, 1000);
    caught_up(&old, "s1");
    new.kill();
    add(&mut old.client(), 10_001, 4000);
    let mut client = old.client();
    let end = client.value("select pg_current_wal_flush_lsn()");
    let wanted = sum(&mut client);
    old.kill();
    run_standby(&mut new);
    promote(&mut new);
    add(&mut new.client(), 20_001, 5000);
    fs::write(old.data().join("standby.signal"), "").unwrap();
    for setting in ["wal_retrieve_retry_interval=100ms", &primary_conninfo(&new, "application_name=old")] {
        old.set_option(setting);
    }
    run_standby(&mut old);
    old.wait_for_log(
        "new timeline 2 forked off current database system timeline 1 before current recovery point 0/",
    );
    let mut client = old.client();
    assert_eq!(client.value(&format!("select pg_last_wal_replay_lsn() >= '{end}'")), "t");
    assert_eq!(sum(&mut client), wanted);
    assert!(!old.log().contains("new target timeline is 2"));
    // Where the new time line is known when the server starts, it does not start.
    old.kill();
    old.launch();
    old.wait_for_log("requested timeline 2 does not contain minimum recovery point 0/");
}

#[test]
fn a_standby_has_slots_of_its_own() {
    let mut primary = primary(&[]);
    let mut standby = standby(&mut primary, &["checkpoint_timeout=1d"]);
    run_standby(&mut standby);
    let mut client = standby.client();
    let mut at = |query: &str| client.value(query);
    let restart = at("select lsn from pg_create_physical_replication_slot('own', true)");
    assert_eq!(restart, at("select redo_lsn from pg_control_checkpoint()"));
    add(&mut primary.client(), 1, 2000);
    caught_up(&primary, "s1");
    let moved = at("select end_lsn from pg_replication_slot_advance('own', '7/0')");
    assert_eq!(moved, at("select pg_last_wal_replay_lsn()"), "no farther than what is replayed");
    primary.stop();
}

#[test]
fn a_slot_keeps_the_log_and_without_one_its_loss_is_told() {
    let mut primary = primary(&["wal_keep_size=0", "min_wal_size=2MB", "max_wal_size=2MB"]);
    primary.client().query("select pg_create_physical_replication_slot('kept', true)").unwrap();
    let mut kept = standby(&mut primary, &["primary_slot_name=kept"]);
    let mut lost = standby(&mut primary, &["primary_slot_name=nix"]);
    kept.launch();
    kept.wait_for_log("started streaming WAL from primary at");
    kept.stop();
    lost.launch();
    lost.wait_for_log("could not start WAL streaming: ERROR:  replication slot \"nix\" does not exist");
    lost.stop();
    let mut client = primary.client();
    for round in 0..6 {
        add(&mut client, 1 + round * 10_000, 5000);
        client.query("checkpoint").unwrap();
    }
    kept.launch();
    kept.wait_for_log("started streaming WAL from primary at");
    caught_up(&primary, "s1");
    client.query("select pg_drop_replication_slot('none')").unwrap_err();
    let wanted = sum(&mut client);
    assert_has(&mut kept, &wanted);
    client.query("select pg_drop_replication_slot('kept')").unwrap();
    client.query("checkpoint").unwrap();
    lost.set_option("primary_slot_name=");
    lost.launch();
    lost.wait_for_log("requested WAL segment");
    assert!(lost.log().contains("has already been removed"), "{}", lost.log());
    lost.stop();
}

/// A record begins in a segment that only the archive has, and goes on in one that only the primary has.
#[test]
fn a_record_comes_from_the_archive_and_the_primary() {
    let archive = std::env::temp_dir().join(format!("stampede-archive-{}", std::process::id()));
    fs::create_dir_all(&archive).unwrap();
    let mut primary =
        primary(&["archive_mode=on", &archive_command(&archive), "min_wal_size=2MB", "max_wal_size=2MB"]);
    let mut standby = standby(&mut primary, &[&format!("restore_command=cp {}/%f %p", archive.display())]);
    let mut client = primary.client();
    archived(&mut client, &archive);
    let segment = "select pg_walfile_name(pg_current_wal_insert_lsn())";
    let before = client.value(segment);
    // No record of these ends where a segment does.
    let mut key = 0;
    while client.value(segment) == before {
        add(&mut client, key, 1);
        key += 1;
    }
    until("the segment is archived", || archive.join(&before).exists());
    until("the segment is gone", || {
        client.query("checkpoint").unwrap();
        !primary.data().join("pg_wal").join(&before).exists()
    });
    assert_ne!(client.value(segment), before);
    run_standby(&mut standby);
    caught_up(&primary, "s1");
    assert!(
        standby.log().contains(&format!("restored log file \"{before}\" from archive")),
        "{}",
        standby.log()
    );
    assert!(!standby.log().contains("has already been removed"), "{}", standby.log());
    let _ = fs::remove_dir_all(&archive);
}

/// `cp` makes the file before it has what is in it.
#[test]
fn a_history_file_that_is_still_being_archived_is_waited_for() {
    let mut primary = primary(&[]);
    let mut standby = standby(&mut primary, &[]);
    let archive = standby.file("archive");
    fs::create_dir(&archive).unwrap();
    standby.set_option(&format!("restore_command=cp {}/%f %p", archive.display()));
    for half in ["", "1\t0/300"] {
        fs::write(archive.join("00000002.history"), half).unwrap();
        run_standby(&mut standby);
        add(&mut primary.client(), 1 + 100 * half.len() as u32, 10);
        caught_up(&primary, "s1");
        standby.stop();
    }
}

#[test]
fn a_primary_that_is_not_ours_is_refused() {
    let mut one = primary(&[]);
    let other = primary_on(Server::init_anew(&["--wal-segsize=1"]), &[]);
    let mut standby = standby(&mut one, &[]);
    standby.set_option(&primary_conninfo(&other, ""));
    standby.launch();
    standby.wait_for_log("database system identifier differs between the primary and standby");
    standby.stop();
    // One that has left the primary's time line cannot go back.
    standby.set_option(&primary_conninfo(&one, ""));
    standby.launch();
    standby.wait_for_log("started streaming WAL from primary at");
    promote(&mut standby);
    standby.stop();
    fs::write(standby.data().join("standby.signal"), "").unwrap();
    standby.launch();
    standby.wait_for_log("highest timeline 1 of the primary is behind recovery timeline 2");
    standby.set_option("primary_conninfo=host=127.0.0.1 hots=x");
    standby.stop();
    standby.launch();
    standby.wait_for_log("invalid connection string syntax: invalid connection option \"hots\"");
    standby.stop();
}

/// The history of the time line that a standby is to follow is cut at its new primary.
#[test]
fn a_damaged_history_of_the_primary_is_told_and_nothing_is_lost() {
    let mut old = primary(&["wal_keep_size=100MB"]);
    let mut first = standby(&mut old, &["wal_keep_size=100MB"]);
    let mut second = standby(&mut old, &["application_name=s2"]);
    run_standby(&mut first);
    add(&mut old.client(), 1, 1000);
    caught_up(&old, "s1");
    old.kill();
    promote(&mut first);
    add(&mut first.client(), 10_001, 1000);
    let wanted = sum(&mut first.client());
    let history = first.data().join("pg_wal/00000002.history");
    let whole = fs::read(&history).unwrap();
    second.set_option(&primary_conninfo(&first, "application_name=s2"));
    for cut in [&whole[..4], b""] {
        fs::write(&history, cut).unwrap();
        run_standby(&mut second);
        second.wait_for_log("invalid data in history file \"00000002.history\"");
        assert!(!second.data().join("pg_wal/00000002.history").exists());
        // It answers with what it has.
        second.client().query("select count(*) from t").unwrap();
        second.stop();
    }
    // One that is cut in its own directory it does not begin with.
    let own = second.data().join("pg_wal/00000002.history");
    fs::write(&own, &whole[..4]).unwrap();
    second.launch();
    second.wait();
    assert!(
        second.log().contains("FATAL:  invalid data in history file \"00000002.history\""),
        "{}",
        second.log()
    );
    fs::remove_file(&own).unwrap();
    fs::write(&history, &whole).unwrap();
    run_standby(&mut second);
    second.wait_for_log("new target timeline is 2");
    caught_up(&first, "s2");
    assert_has(&mut second, &wanted);
}

/// A slot is given up, for its standby was away too long: the standby says so, and answers with what it has, until it gets the log from elsewhere.
#[test]
fn a_standby_whose_slot_is_lost_says_so_and_goes_on_with_the_archive() {
    let archive = std::env::temp_dir().join(format!("stampede-lost-slot-{}", std::process::id()));
    fs::create_dir_all(&archive).unwrap();
    let small = ["min_wal_size=2MB", "max_wal_size=2MB", "max_slot_wal_keep_size=2MB"];
    let mut primary = primary(&[&small[..], &["archive_mode=on", &archive_command(&archive)]].concat());
    primary.client().query("select pg_create_physical_replication_slot('kept', true)").unwrap();
    let mut standby = standby(&mut primary, &["primary_slot_name=kept"]);
    run_standby(&mut standby);
    add(&mut primary.client(), 1, 100);
    caught_up(&primary, "s1");
    let before = sum(&mut standby.client());
    standby.stop();
    let mut client = primary.client();
    let mut round = 0;
    until("the slot is lost", || {
        round += 1;
        add(&mut client, round * 10_000, 5000);
        client.query("checkpoint").unwrap();
        client.value("select wal_status from pg_replication_slots") == "lost"
    });
    run_standby(&mut standby);
    standby.wait_for_log(
        "could not start WAL streaming: ERROR:  can no longer access replication slot \"kept\"",
    );
    assert_eq!(sum(&mut standby.client()), before);
    standby.stop();
    standby.set_option("primary_slot_name=");
    standby.set_option(&format!("restore_command=cp {}/%f %p", archive.display()));
    archived(&mut client, &archive);
    add(&mut client, 1_000_000, 10);
    run_standby(&mut standby);
    caught_up(&primary, "s1");
    let wanted = sum(&mut client);
    assert_has(&mut standby, &wanted);
    let _ = fs::remove_dir_all(&archive);
}

#[test]
fn what_is_no_server_is_told_and_nothing_is_lost() {
    use std::io::{Read, Write};
    let mut primary = primary(&[]);
    let mut standby = standby(&mut primary, &[]);
    add(&mut primary.client(), 1, 100);
    let wanted = sum(&mut primary.client());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answers: [&[u8]; 5] = [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I\xff\xff\xff\xff\xff\xff\xff",
        b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05ID\0\0\0\x06\xff\xffZ\0\0\0\x05I",
        b"E\0\0\0\x05\0",
        b"",
    ];
    let served = std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 8];
            let _ = stream.read_exact(&mut request);
            // No TLS here.
            let _ = stream.write_all(b"N");
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer);
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    });
    let good = primary_conninfo(&primary, "application_name=s1");
    standby.set_option(&format!("primary_conninfo=host=127.0.0.1 port={port} user=postgres"));
    standby.launch();
    standby.wait_for_log("expected authentication request from server, but received H");
    served.join().unwrap();
    standby.stop();
    standby.set_option(&good);
    standby.launch();
    caught_up(&primary, "s1");
    assert_has(&mut standby, &wanted);
}

#[test]
fn passwords_and_encryption_are_as_libpq_has_them() {
    let mut primary = primary(&[]);
    primary.client().query("create role copier login replication password 'se cret'").unwrap();
    let mut standby = standby(&mut primary, &[]);
    let hba = "local all all trust\nhost all all 127.0.0.1/32 trust\nhost replication postgres 127.0.0.1/32 trust\nhost replication copier 127.0.0.1/32 scram-sha-256\n";
    fs::write(primary.data().join("pg_hba.conf"), hba).unwrap();
    primary.signal(libc::SIGHUP);
    let place = format!("host=127.0.0.1 port={} user=copier application_name=s1", primary.port);
    standby.set_option(&format!("primary_conninfo={place} password=wrong"));
    standby.launch();
    standby.wait_for_log("password authentication failed for user \"copier\"");
    standby.stop();
    let file = standby.file("passwords");
    fs::write(&file, "*:*:replication:copier:se cret\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    standby.set_option(&format!("primary_conninfo={place} passfile={}", file.display()));
    standby.launch();
    standby.wait_for_log("started streaming WAL from primary at");
    standby.stop();
    standby
        .set_option(&format!("primary_conninfo={place} passfile={} channel_binding=require", file.display()));
    standby.launch();
    standby.wait_for_log("channel binding is required, but server did not offer an authentication method that supports channel binding");
    standby.stop();
}
