//! A standby of a standby.

use crate::support::pair::{caught_up, primary_conninfo, promote, run_standby, standby_of};
use crate::support::sums::{self, add, sum};
use crate::support::{Client, Server, until};

/// A primary, a standby of it, and a standby of that one; the last two with these settings. The middle one has a slot for the last one.
struct Cascade {
    first: Server,
    middle: Server,
    last: Server,
}

impl Cascade {
    fn start(settings: &[&str]) -> Cascade {
        let mut first = Server::init(&["--wal-segsize=1"]);
        let small = ["autovacuum=off", "wal_keep_size=0", "min_wal_size=2MB", "max_wal_size=2MB"];
        small.iter().for_each(|setting| first.set_option(setting));
        first.run();
        sums::create(&first);
        let usual = ["wal_receiver_status_interval=1", "checkpoint_timeout=1d"];
        let settings: Vec<&str> = small.iter().chain(&usual).chain(settings).copied().collect();
        let mut middle = standby_of(&mut first, "application_name=middle", &settings);
        let mut last = standby_of(&mut first, "", &settings);
        last.set_option(&primary_conninfo(&middle, "application_name=last"));
        last.set_option("primary_slot_name=below");
        run_standby(&mut middle);
        middle.client().query("select pg_create_physical_replication_slot('below', true)").unwrap();
        run_standby(&mut last);
        last.wait_for_log("started streaming WAL from primary at");
        Cascade { first, middle, last }
    }

    /// Waits until all that the first one has is at the last one.
    fn settle(&self) {
        arrived(&self.first, &self.last);
    }
}

/// Waits until one server has replayed all that another one has.
fn arrived(from: &Server, at: &Server) {
    caught_up(&mut from.client(), &mut at.client());
}

/// What a server knows of those that stream from it.
fn streams(client: &mut Client) -> String {
    client.value(
        "select coalesce(string_agg(concat_ws(' ', application_name, state, sync_priority, sync_state), ', '), '') \
         from pg_stat_replication",
    )
}

#[test]
fn the_last_follows_the_middle_when_that_is_promoted() {
    let Cascade { mut first, mut middle, mut last } = Cascade::start(&["synchronous_standby_names=*"]);
    add(&mut first.client(), 1, 5000);
    arrived(&first, &last);
    assert_eq!(streams(&mut first.client()), "middle streaming 0 async");
    // Its names count once it is a primary.
    assert_eq!(streams(&mut middle.client()), "last streaming 0 async");
    let receiver = "select status || ' ' || received_tli || ' ' || slot_name from pg_stat_wal_receiver";
    assert_eq!(last.client().value(receiver), "streaming 1 below");

    let wanted = sum(&mut first.client());
    first.kill();
    promote(&mut middle);
    last.wait_for_log("new target timeline is 2");
    last.wait_for_log("on timeline 2");
    let mut client = middle.client();
    // A commit waits for the last one now.
    add(&mut client, 10_001, 1000);
    assert_eq!(streams(&mut client), "last streaming 1 sync");
    arrived(&middle, &last);
    assert_eq!(last.client().value(receiver), "streaming 2 below");
    let more = sum(&mut client);
    assert_ne!(more, wanted);
    assert_eq!(sum(&mut last.client()), more);

    // So it has another one to follow it.
    drop(client);
    last.stop();
    last.launch();
    last.wait_for_log("on timeline 2");
    arrived(&middle, &last);
    middle.stop();
    middle.assert_sound();
}

#[test]
fn a_slot_of_a_standby_keeps_its_log() {
    let Cascade { first, mut middle, mut last } = Cascade::start(&[]);
    let slot =
        "select active || ' ' || wal_status || ' ' || (restart_lsn is not null) from pg_replication_slots";
    assert_eq!(middle.client().value(slot), "true reserved true");
    last.stop();
    until("nobody uses the slot", || middle.client().value(slot) == "false reserved true");
    let segments = |server: &Server| {
        server.client().value("select count(*) from pg_ls_waldir()").parse::<i32>().unwrap()
    };
    let before = segments(&middle);
    for round in 0..6 {
        add(&mut first.client(), 1 + round * 10_000, 5000);
        arrived(&first, &middle);
        middle.client().query("checkpoint").unwrap();
    }
    assert!(segments(&middle) > before + 4, "{} segments, then {}", before, segments(&middle));
    assert!(segments(&first) < segments(&middle), "the first one has no slot");
    // A slot is there after a crash, too.
    middle.kill();
    run_standby(&mut middle);
    last.launch();
    last.wait_for_log("started streaming WAL from primary at");
    arrived(&first, &last);
    assert_eq!(sum(&mut last.client()), sum(&mut first.client()));
    let few = segments(&middle);
    until("the log goes", || {
        middle.client().query("checkpoint").unwrap();
        segments(&middle) < few - 4
    });
}

#[test]
fn what_queries_of_the_last_one_need_stays_at_the_first() {
    let Cascade { first, middle, last } = Cascade::start(&["hot_standby_feedback=on"]);
    let mut client = first.client();
    add(&mut client, 1, 1000);
    arrived(&first, &last);
    let mut reader = last.client();
    reader.query("begin isolation level repeatable read").unwrap();
    let wanted = sum(&mut reader);
    let xmin: i64 = reader.value("select pg_snapshot_xmin(pg_current_snapshot())").parse().unwrap();
    client.query("update t set amount = amount + 1").unwrap();
    let xid: i64 = client.value("select pg_snapshot_xmin(pg_current_snapshot())").parse().unwrap();
    assert!(xid > xmin);
    let held =
        |server: &Server, of: &str| server.client().value(&format!("select coalesce((select {of}), '')"));
    until("the middle one knows", || {
        held(&middle, "xmin::text from pg_replication_slots") == xmin.to_string()
    });
    until("the first one knows", || {
        held(&first, "backend_xmin::text from pg_stat_replication") == xmin.to_string()
    });
    client.query("vacuum t").unwrap();
    arrived(&first, &last);
    assert_eq!(sum(&mut reader), wanted);
    reader.query("commit").unwrap();
    assert_ne!(sum(&mut reader), wanted);
    until("the first one is told", || {
        held(&first, "backend_xmin::text from pg_stat_replication").parse::<i64>().is_ok_and(|now| now >= xid)
    });
}

#[test]
fn a_stream_goes_on_when_the_middle_was_killed() {
    let mut all = Cascade::start(&[]);
    // The first one keeps what the middle one misses.
    all.first.client().query("select pg_create_physical_replication_slot('above', true)").unwrap();
    all.middle.stop();
    all.middle.set_option("primary_slot_name=above");
    run_standby(&mut all.middle);
    for round in 0..3 {
        add(&mut all.first.client(), 1 + round * 10_000, 3000);
        all.middle.kill();
        all.last.wait_for_log("could not connect to the primary server");
        add(&mut all.first.client(), 5001 + round * 10_000, 3000);
        run_standby(&mut all.middle);
        all.settle();
        assert_eq!(sum(&mut all.last.client()), sum(&mut all.first.client()));
    }
    // The last one alone has all, and is whole.
    let wanted = sum(&mut all.first.client());
    promote(&mut all.last);
    assert_eq!(sum(&mut all.last.client()), wanted);
    all.last.stop();
    all.last.assert_sound();
}
