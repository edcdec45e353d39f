//! kill -9 in the middle of transfers: the server comes back by itself, the sums agree, and what a client saw committed is
//! there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{Client, Failure, Random, Server, knob};

const ACCOUNTS: u64 = 200;
const TELLERS: u64 = 10;

fn create(client: &mut Client) {
    let statements = [
        "create table branches (bid int primary key, balance int)".to_string(),
        "create table tellers (tid int primary key, balance int)".to_string(),
        "create table accounts (aid int primary key, balance int, filler text)".to_string(),
        "create table history (client int, number int, delta int, primary key (client, number))".to_string(),
        "insert into branches values (1, 0)".to_string(),
        format!("insert into tellers select g, 0 from generate_series(1, {TELLERS}) g"),
        format!("insert into accounts select g, 0, repeat('x', 80) from generate_series(1, {ACCOUNTS}) g"),
    ];
    for statement in statements {
        client.query(&statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
    }
}

/// What one client did: numbers of the transactions that it saw committed, and of the one whose fate it does not know.
struct Ledger {
    client: u64,
    acknowledged: Vec<u64>,
    unknown: Option<u64>,
}

/// One transfer; its number stands in the history.
fn transfer(session: &mut Client, random: &mut Random, client: u64, number: u64) -> Result<(), Failure> {
    let delta = random.below(10_000) as i64 - 5_000;
    let (aid, tid) = (random.below(ACCOUNTS) + 1, random.below(TELLERS) + 1);
    session.query("begin")?;
    session.query(&format!("update accounts set balance = balance + {delta} where aid = {aid}"))?;
    session.query(&format!("update tellers set balance = balance + {delta} where tid = {tid}"))?;
    session.query(&format!("update branches set balance = balance + {delta} where bid = 1"))?;
    session.query(&format!("insert into history values ({client}, {number}, {delta})"))?;
    session.query("commit").map(|_| ())
}

/// Transfers until the server is gone.
fn work(server: &Server, random: &mut Random, ledger: &mut Ledger, first: u64, stop: &AtomicBool) {
    let mut session = server.client();
    for number in first.. {
        ledger.unknown = Some(number);
        match transfer(&mut session, random, ledger.client, number) {
            Ok(()) => {
                ledger.acknowledged.push(number);
                ledger.unknown = None;
            }
            Err(Failure::Lost) => return,
            Err(failure) => panic!("{failure:?}"),
        }
        // For a killer that failed to: the test is over then.
        if stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

fn check(server: &Server, ledgers: &mut [Ledger]) {
    let mut client = server.client();
    let sums = "select (select sum(balance) from accounts), (select sum(balance) from tellers), \
                (select sum(balance) from branches), (select coalesce(sum(delta), 0) from history)";
    let row = client.query(sums).unwrap().remove(0);
    assert!(row.iter().all(|sum| *sum == row[0] && sum.is_some()), "sums differ: {row:?}");
    for ledger in ledgers {
        // By the sequence of the table, and by the index.
        let text = format!("select number from history where client + 0 = {} order by number", ledger.client);
        let rows = client.query(&text).unwrap();
        let found: Vec<u64> = rows.iter().map(|row| row[0].as_ref().unwrap().parse().unwrap()).collect();
        let by_index =
            client.value(&format!("select count(*) from history where client = {}", ledger.client));
        assert_eq!(by_index, found.len().to_string(), "the index disagrees with the table");
        if let Some(number) = ledger.unknown.take()
            && found.contains(&number)
        {
            ledger.acknowledged.push(number);
        }
        assert_eq!(found, ledger.acknowledged, "client {}", ledger.client);
    }
}

#[test]
fn acknowledged_transactions_survive_kill_9() {
    let seed = knob("STAMPEDE_TEST_SEED", u64::from(std::process::id()));
    println!("STAMPEDE_TEST_SEED={seed}");
    let mut random = Random(seed);
    let mut server = Server::start(&["shared_buffers=1MB", "checkpoint_timeout=30s"]);
    create(&mut server.client());
    let mut ledgers: Vec<Ledger> = (0..knob("STAMPEDE_CRASH_CLIENTS", 6))
        .map(|client| Ledger { client, acknowledged: Vec::new(), unknown: None })
        .collect();
    for round in 0..knob("STAMPEDE_CRASH_ROUNDS", 3) {
        let stop = AtomicBool::new(false);
        let pid = server.pid();
        thread::scope(|scope| {
            for ledger in &mut ledgers {
                let (server, stop, seed) = (&server, &stop, random.next());
                // Numbers are not used twice, whatever happened to the last one.
                let first = (round + 1) * 1_000_000;
                scope.spawn(move || work(server, &mut Random(seed), ledger, first, stop));
            }
            if round % 2 == 1 {
                // A checkpoint under way, or just done, is another place to start from.
                server.client().query("checkpoint").unwrap();
            }
            thread::sleep(Duration::from_millis(300 + random.below(1_200)));
            crate::support::signal_to(pid, libc::SIGKILL);
            thread::sleep(Duration::from_secs(1));
            stop.store(true, Ordering::Relaxed);
        });
        server.wait();
        server.run();
        check(&server, &mut ledgers);
        let told = |words: &str| crate::support::until(words, || server.log().contains(words));
        for words in ["database system was interrupted; last known up at", "redo starts at", "redo done at"] {
            told(words);
        }
    }
    let count: usize = ledgers.iter().map(|ledger| ledger.acknowledged.len()).sum();
    assert!(count > 0, "no transaction was ever committed");
    // A clean stop leaves nothing to recover.
    server.stop();
    server.assert_sound();
    server.run();
    assert!(!server.log().contains("redo starts at"), "{}", server.log());
    check(&server, &mut ledgers);
}

/// Transfers from the moment when the server lets somebody in, until it is gone.
fn work_early(server: &Server, random: &mut Random, ledger: &mut Ledger, first: u64, stop: &AtomicBool) {
    while server.connect(&[]).is_err() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
    let mut session = match server.connect(&[]) {
        Ok(session) => session,
        Err(_) => return,
    };
    for number in first.. {
        ledger.unknown = Some(number);
        match transfer(&mut session, random, ledger.client, number) {
            Ok(()) => ledger.acknowledged.push(number),
            Err(Failure::Lost) => return,
            Err(failure) => panic!("{failure:?}"),
        }
        ledger.unknown = None;
        if stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// What became of transfers whose answers were lost.
fn settle(server: &Server, ledgers: &mut [Ledger]) {
    let mut client = server.client();
    for ledger in ledgers {
        let Some(number) = ledger.unknown.take() else { continue };
        let text =
            format!("select count(*) from history where client = {} and number = {number}", ledger.client);
        if client.value(&text) == "1" {
            ledger.acknowledged.push(number);
        }
    }
}

/// Killed again and again while it recovers, and while clients write to pages that are not redone yet. `STAMPEDE_RECOVERY_CRASHES` says how often.
#[test]
fn kills_in_recovery_lose_nothing() {
    let seed = knob("STAMPEDE_TEST_SEED", u64::from(std::process::id()));
    println!("STAMPEDE_TEST_SEED={seed}");
    let mut random = Random(seed);
    let mut server = Server::start(&["shared_buffers=1MB", "checkpoint_timeout=1h", "max_wal_size=4GB"]);
    let mut client = server.client();
    create(&mut client);
    client.query("create table wide (id int primary key, n int, filler text)").unwrap();
    client.query("insert into wide select g, 0, repeat('x', 300) from generate_series(1, 20000) g").unwrap();
    client.query("checkpoint").unwrap();
    let mut ledgers: Vec<Ledger> = (0..knob("STAMPEDE_CRASH_CLIENTS", 6))
        .map(|client| Ledger { client, acknowledged: Vec::new(), unknown: None })
        .collect();
    for round in 1..=knob("STAMPEDE_RECOVERY_CRASHES", 3) {
        // Pages for redo: each life that comes far enough changes some more of them.
        let _ = client.query(&format!("update wide set n = n + 1 where id % 7 = {}", round % 7));
        server.kill();
        server.launch();
        let stop = AtomicBool::new(false);
        let pid = server.pid();
        thread::scope(|scope| {
            for ledger in &mut ledgers {
                let (server, stop, seed) = (&server, &stop, random.next());
                let first = round * 1_000_000;
                scope.spawn(move || work_early(server, &mut Random(seed), ledger, first, stop));
            }
            thread::sleep(Duration::from_millis(random.below(1_500)));
            crate::support::signal_to(pid, libc::SIGKILL);
            stop.store(true, Ordering::Relaxed);
        });
        server.wait();
        server.run();
        settle(&server, &mut ledgers);
        client = server.client();
    }
    check(&server, &mut ledgers);
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn recovery_tells_how_far_it_has_come() {
    let mut server = Server::start(&["shared_buffers=1MB", "checkpoint_timeout=1h"]);
    let mut client = server.client();
    client.query("create table t (id int primary key, filler text)").unwrap();
    client.query("insert into t select g, repeat('x', 300) from generate_series(1, 5000) g").unwrap();
    assert_eq!(client.value("select count(*) from stampede_recovery"), "0");
    server.kill();
    server.run();
    let mut client = server.client();
    // Recovery may be over before anybody asks.
    let rows = client.query(
        "select phase in ('redoing pages', 'performing checkpoint') and pages_total > 100
            and pages_redone between 0 and pages_total and wal_bytes > 1000000 and elapsed > '0'
        from stampede_recovery",
    );
    assert!(rows.unwrap().iter().all(|row| row[0].as_deref() == Some("t")));
    assert!(!server.log().contains("first write after the crash"));
    client.query("insert into t values (0, 'first')").unwrap();
    let words = "first write after the crash ";
    crate::support::until(words, || server.log().contains(words));
    client.query("insert into t values (-1, 'second')").unwrap();
    assert_eq!(server.log().matches(words).count(), 1, "{}", server.log());
    crate::support::until("recovery is over", || {
        client.value("select count(*) from stampede_recovery") == "0"
    });
    server.stop();
    server.run();
    server.client().query("insert into t values (-2, 'third')").unwrap();
    assert!(!server.log().contains(words), "there was no crash");
}

/// Lives too short for a checkpoint, one behind the other: the log of all of them is replayed each time.
#[test]
fn a_crash_while_pages_are_still_redone_starts_over() {
    let mut server = Server::start(&["shared_buffers=1MB", "checkpoint_timeout=1h"]);
    let mut client = server.client();
    client.query("create table t (id int primary key, n int, filler text)").unwrap();
    client.query("insert into t select g, 0, repeat('x', 300) from generate_series(1, 5000) g").unwrap();
    client.query("vacuum t").unwrap();
    client.query("checkpoint").unwrap();
    for round in 1..=5 {
        client.query("update t set n = n + 1").unwrap();
        client.query(&format!("insert into t values ({}, {round}, 'new')", 5000 + round)).unwrap();
        server.kill();
        server.run();
        client = server.client();
        let one = client.value("select n from t where id = 4321");
        assert_eq!(one, round.to_string(), "by the index");
        // Those that a life adds count the later ones only.
        let all =
            "select concat_ws(' ', count(*), min(n), max(n), count(*) filter (where id <= 5000)) from t";
        assert_eq!(client.value(all), format!("{} {round} {round} 5000", 5000 + round));
        assert!(server.log().contains("pages are still to be redone"), "{}", server.log());
    }
    server.kill();
    server.set_option("stampede.open_during_recovery=off");
    server.run();
    let log = server.log();
    let place = |words| log.find(words).unwrap_or_else(|| panic!("no {words} in {log}"));
    assert!(place("redo done at") < place("ready to accept connections"));
    assert!(!log.contains("pages are still to be redone"), "{log}");
    assert_eq!(server.client().value("select count(*) from t where n = 5"), "5005");
}

#[test]
fn a_crash_undoes_what_was_not_committed() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    client.query("create table kept (a int primary key, b text)").unwrap();
    client.query("insert into kept select g, repeat('v', 100) from generate_series(1, 500) g").unwrap();
    client.query("begin; create table lost (a int); insert into lost values (1)").unwrap();
    client.query("update kept set b = 'changed'; insert into kept values (1000, 'new')").unwrap();
    // Makes the uncommitted changes reach the disk.
    server.client().query("checkpoint").unwrap();
    server.kill();
    server.run();
    let mut client = server.client();
    assert_eq!(client.error("select * from lost"), "42P01 relation \"lost\" does not exist");
    assert_eq!(client.value("select count(*) from kept where b = repeat('v', 100)"), "500");
    assert_eq!(client.value("select count(*) from kept"), "500");
    assert_eq!(client.value("select count(*) from kept where a = 1000"), "0");
    // The names are free again.
    client.query("create table lost (a int)").unwrap();
    client.query("insert into kept values (1000, 'new')").unwrap();
    // And again, while nothing has been written since recovery.
    server.kill();
    server.run();
    let mut client = server.client();
    assert_eq!(client.value("select count(*) from lost"), "0");
    assert_eq!(client.value("select b from kept where a = 1000"), "new");
}

#[test]
fn an_unlogged_table_is_empty_after_kill_9_and_keeps_its_rows_otherwise() {
    let mut server = Server::start(&["shared_buffers=1MB"]);
    let mut client = server.client();
    client.query("create unlogged table u (id serial primary key, v text)").unwrap();
    let fill = "insert into u (v) select repeat(g::text, 50) from generate_series(1, 5000) g";
    client.query(fill).unwrap();
    // Pages that were read again are unlogged still.
    client.query("update u set v = 'changed' where id % 7 = 0").unwrap();
    server.stop();
    server.run();
    let count = "select count(*), count(*) filter (where v = 'changed') from u";
    assert_eq!(server.client().query(count).unwrap()[0], [Some("5000".into()), Some("714".into())]);
    for _ in 0..2 {
        server.kill();
        server.run();
        let mut client = server.client();
        assert_eq!(client.value("select count(*) from u"), "0");
        client.query(fill).unwrap();
        client.query("checkpoint").unwrap();
        assert_eq!(client.value("select id from u where id = 4321"), "4321");
        assert_eq!(client.value("select max(id) from u"), "5000");
    }
}

/// `txid_current()` alone and temporary tables log nothing: their commits wait for no disk. What is logged after that is waited for.
#[test]
fn a_commit_waits_for_the_log_if_something_was_logged() {
    let mut server = Server::start(&["wal_writer_delay=10s"]);
    let mut client = server.client();
    let run = |client: &mut Client, statement: &str| {
        client.query(statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
    };
    run(&mut client, "create table t (id int primary key)");
    run(&mut client, "create sequence s");
    run(&mut client, "create temporary table own (id int primary key, v text)");
    for unlogged in [
        "select txid_current()",
        "insert into own select coalesce(max(id), 0) + 1, repeat('x', 10000) from own",
        "update own set v = id::text",
        "select id from own for update",
    ] {
        // The log may be flushed for another reason at any time, but not each time.
        crate::support::until(unlogged, || {
            run(&mut client, unlogged);
            client.value("select pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn()") == "t"
        });
    }
    let logged = [
        "insert into t values (1)",
        "select nextval('s')",
        "insert into own values (1); insert into t values (2)",
    ];
    for statement in logged {
        run(&mut client, &format!("begin; select txid_current(); {statement}; commit"));
        server.kill();
        server.run();
        client = server.client();
        run(&mut client, "create temporary table own (id int primary key, v text)");
    }
    assert_eq!(client.value("select string_agg(id::text, ' ') from t"), "1 2");
    assert_eq!(client.value("select nextval('s') > 1"), "t");
}
