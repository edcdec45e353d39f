//! Two-phase commit over sockets: prepared transactions survive kill -9 with their locks, are ended by other sessions, and no reader
//! ever sees half of one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::{Client, Server, knob, run};

const BALANCE: i64 = 1000;
/// First account of the second half; transfer `n` goes from account `n` to `n + OTHER`.
const OTHER: u64 = 1_000_000;

/// How many are prepared at a time.
fn many() -> u64 {
    knob("STAMPEDE_PREPARED", 200)
}

/// Prepares transfer `n` of amount `n`, part of it in a savepoint.
fn prepare(client: &mut Client, n: u64) {
    run(
        client,
        &[
            "begin",
            &format!("update accounts set v = v - {n} where id = {n}"),
            "savepoint s",
            &format!("insert into history values ({n}, {n})"),
            "release s",
            &format!("update accounts set v = v + {n} where id = {}", n + OTHER),
            &format!("prepare transaction 'transfer {n}'"),
        ],
    );
}

/// Reads until it is told to stop: in each snapshot the sum is what it was, and the history says who has what.
fn watch(server: &Server, stop: &AtomicBool) -> u64 {
    let mut client = server.client();
    let mut looks = 0;
    while !stop.load(Ordering::Relaxed) || looks == 0 {
        let row = client
            .query(
                "select (select sum(v) from accounts), (select coalesce(sum(amount), 0) from history), \
                 (select sum(v) from accounts where id > 1000000)",
            )
            .unwrap()
            .remove(0);
        let numbers: Vec<i64> = row.iter().map(|n| n.as_ref().unwrap().parse().unwrap()).collect();
        assert_eq!(numbers[0], 2 * many() as i64 * BALANCE, "half of a transfer: {numbers:?}");
        assert_eq!(numbers[2], many() as i64 * BALANCE + numbers[1], "half of a transfer: {numbers:?}");
        looks += 1;
    }
    looks
}

/// Ends all transfers of which `which` says so, beside a reader.
fn end_all(server: &Server, command: &str, which: impl Fn(u64) -> bool + Sync) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| watch(server, &stop));
        let enders: Vec<_> = (0..4)
            .map(|part| {
                let which = &which;
                scope.spawn(move || {
                    let mut client = server.client();
                    for n in (1..=many()).filter(|&n| n % 4 == part && which(n)) {
                        run(&mut client, &[&format!("{command} 'transfer {n}'")]);
                    }
                })
            })
            .collect();
        let ended: Vec<_> = enders.into_iter().map(thread::ScopedJoinHandle::join).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
        assert!(ended.iter().all(Result::is_ok));
    });
}

#[test]
fn hundreds_of_prepared_transactions_survive_kill_9_and_are_ended_by_others() {
    let prepared = many();
    let room = format!("max_prepared_transactions={}", prepared + 1);
    let mut server = Server::start(&[&room, "checkpoint_timeout=1h"]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table accounts (id int primary key, v int)",
            "create table history (id int primary key, amount int)",
            &format!("insert into accounts select g, {BALANCE} from generate_series(1, {prepared}) g"),
            &format!(
                "insert into accounts select g + {OTHER}, {BALANCE} from generate_series(1, {prepared}) g"
            ),
        ],
    );
    for n in 1..=prepared {
        prepare(&mut client, n);
        if n == prepared / 2 {
            // The first half goes to files, the second one stays in the log.
            run(&mut client, &["checkpoint"]);
        }
    }
    let files =
        |server: &Server| std::fs::read_dir(server.data().join("pg_twophase")).unwrap().count() as u64;
    assert_eq!(files(&server), prepared / 2);
    server.kill();
    server.run();
    assert_eq!(server.log().matches("recovering prepared transaction").count() as u64, prepared);
    let mut client = server.client();
    assert_eq!(client.value("select count(*) from pg_prepared_xacts"), prepared.to_string());
    assert_eq!(
        client.value("select sum(v) from accounts where id < 1000000"),
        (prepared as i64 * BALANCE).to_string()
    );
    let waits = "select count(*) from pg_locks where pid is null and virtualtransaction = '-1/' || \
                 (select transaction::text from pg_prepared_xacts where gid = 'transfer 7')";
    assert_eq!(client.value(waits), "3", "two tables and the xid");
    run(&mut client, &["set lock_timeout = '50ms'"]);
    let error = client.error("update accounts set v = 0 where id = 7");
    assert!(error.contains("canceling statement due to lock timeout"), "{error}");
    let error = client.error("alter table history add column z int");
    assert!(error.contains("canceling statement due to lock timeout"), "{error}");

    end_all(&server, "commit prepared", |n| n % 2 == 0);
    end_all(&server, "rollback prepared", |n| n % 2 == 1 && n != 7);
    let rest = client.value("select string_agg(gid, ',') from pg_prepared_xacts");
    assert_eq!(rest, "transfer 7");
    server.kill();
    server.run();
    let mut client = server.client();
    // The orphan is still there, and can be removed.
    assert_eq!(
        client.value("select gid || owner || database from pg_prepared_xacts"),
        "transfer 7postgrespostgres"
    );
    run(&mut client, &["rollback prepared 'transfer 7'", "update accounts set v = v where id = 7"]);
    let committed: u64 = (1..=prepared).filter(|n| n % 2 == 0).sum();
    assert_eq!(client.value("select sum(amount) from history"), committed.to_string());
    assert_eq!(
        client.value("select count(*) from accounts a where v <> 1000 and (id - 1) % 1000000 % 2 = 0"),
        "0",
        "a transfer that was rolled back left a trace"
    );
    assert_eq!(client.value("select count(*) from pg_locks where pid is null"), "0");
    run(&mut client, &["checkpoint", "drop table history"]);
    assert_eq!(files(&server), 0);
}

#[test]
fn definitions_are_prepared_too_and_seen_by_all_once_committed() {
    let mut server = Server::start(&["max_prepared_transactions=5"]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table gone (a int)",
            "insert into gone values (1)",
            "create table t (a int)",
            "insert into t values (1)",
            "begin",
            "create table made (a int primary key)",
            "insert into made values (7)",
            "drop table gone",
            "alter table t add column b int default 5",
            "prepare transaction 'ddl'",
            "begin",
            "create table never (a int)",
            "prepare transaction 'never'",
        ],
    );
    let stored = |server: &Server, file: &str| server.data().join(file).exists();
    let gone = client.value("select pg_relation_filepath('gone')");
    let mut other = server.client();
    for server_restarts in [false, true] {
        if server_restarts {
            server.kill();
            server.run();
            client = server.client();
            other = server.client();
        }
        // Both sessions now know the old definitions.
        for client in [&mut client, &mut other] {
            assert!(client.error("select * from made").contains("does not exist"));
            run(client, &["set lock_timeout = '50ms'"]);
            assert!(client.error("select * from gone").contains("lock timeout"));
        }
        assert!(stored(&server, &gone));
    }
    run(&mut client, &["commit prepared 'ddl'", "rollback prepared 'never'"]);
    for client in [&mut client, &mut other] {
        assert_eq!(client.value("select a from made where a = 7"), "7");
        assert_eq!(client.value("select b from t"), "5");
        assert!(client.error("select * from gone").contains("does not exist"));
        assert!(client.error("select * from never").contains("does not exist"));
    }
    assert!(!stored(&server, &gone));
    server.kill();
    server.run();
    assert_eq!(server.client().value("select a from made where a = 7"), "7");
}

#[test]
fn they_are_disabled_unless_the_setting_allows_them() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (a int)", "begin", "insert into t values (1)"]);
    let error = client.error("prepare transaction 'x'");
    assert!(error.contains("prepared transactions are disabled"), "{error}");
    assert_eq!(client.value("select count(*) from t"), "0", "the block is over, and rolled back");
    server.stop();

    let mut server = Server::start(&["max_prepared_transactions=2"]);
    let mut client = server.client();
    run(&mut client, &["begin", "prepare transaction 'a'", "begin", "prepare transaction 'b'", "begin"]);
    let error = client.error("prepare transaction 'c'");
    assert!(error.contains("maximum number of prepared transactions reached"), "{error}");
    // A shutdown leaves them to the next server, which must have room for them.
    server.stop();
    server.run();
    let names = "select string_agg(gid, ',' order by gid) from pg_prepared_xacts";
    assert_eq!(server.client().value(names), "a,b");
    server.stop();
    server.set_option("max_prepared_transactions=1");
    server.launch();
    assert!(!server.wait().success());
    let fatal = "FATAL:  maximum number of prepared transactions reached";
    assert!(server.log().contains(fatal), "{}", server.log());
    let hint = "HINT:  Increase \"max_prepared_transactions\" (currently 1).";
    assert!(server.log().contains(hint), "{}", server.log());
}

#[test]
fn what_was_deferred_is_checked_when_it_is_prepared() {
    let server = Server::start(&["max_prepared_transactions=5"]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table referred (id int primary key)",
            "create table t (id int primary key deferrable initially deferred, \
             r int references referred deferrable initially deferred)",
        ],
    );
    for (write, expected) in
        [("insert into t values (1), (1)", "23505"), ("insert into t values (1, 77)", "23503")]
    {
        run(&mut client, &["begin", write]);
        assert!(client.error("prepare transaction 'p'").starts_with(expected), "{write}");
        assert_eq!(client.value("select (select count(*) from pg_prepared_xacts) + count(*) from t"), "0");
    }
    run(
        &mut client,
        &["begin", "insert into t values (1)", "prepare transaction 'p'", "commit prepared 'p'"],
    );
    assert_eq!(client.value("select count(*) from t"), "1");
}

#[test]
fn who_waits_for_a_transaction_waits_on_when_it_is_prepared() {
    let server = Server::start(&["max_prepared_transactions=5"]);
    let (mut client, mut first, mut second) = (server.client(), server.client(), server.client());
    run(&mut client, &["create table t (id int)", "insert into t select generate_series(1, 10)"]);
    run(&mut first, &["begin", "insert into t values (100)"]);
    let mut waits = |phase: &str| {
        let query = format!(
            "select count(*) from pg_stat_progress_create_index where phase = '{phase}' and lockers_total > 0"
        );
        crate::support::until(phase, || client.value(&query) == "1");
    };
    thread::scope(|scope| {
        let build = scope.spawn(|| run(&mut server.client(), &["create index concurrently t_id on t (id)"]));
        waits("waiting for writers before build");
        // It knows the index, and does not write to it yet.
        run(&mut second, &["begin", "insert into t values (200)"]);
        run(&mut first, &["commit"]);
        waits("waiting for writers before validation");
        run(&mut second, &["prepare transaction 'p'"]);
        let waiting = "select count(*) from pg_locks where locktype = 'transactionid' and not granted";
        crate::support::until("it waits for the prepared one", || second.value(waiting) == "1");
        run(&mut second, &["commit prepared 'p'"]);
        build.join().unwrap();
    });
    run(&mut first, &["set enable_seqscan = off"]);
    assert_eq!(first.value("select count(*) from t where id = 200"), "1");
}
