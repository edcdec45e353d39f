//! Very many subtransactions: their time is linear, what they did survives a crash, and others do not notice them.
//!
//! `STAMPEDE_SAVEPOINTS` and `STAMPEDE_OPEN_SAVEPOINTS` make the tests longer; so do `STAMPEDE_ROLLBACKS`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Client, Server, knob};

/// Statements in one message.
const EACH: u64 = 100;

/// Runs `count` groups of statements, many in a message.
fn repeat(client: &mut Client, from: u64, count: u64, group: impl Fn(u64) -> String) {
    for first in (from..from + count).step_by(EACH as usize) {
        let last = (first + EACH).min(from + count);
        let text = (first..last).map(&group).collect::<Vec<_>>().join("; ");
        client.query(&text).unwrap_or_else(|failure| panic!("{failure:?}"));
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The second half costs what the first did, but for the noise of a busy machine.
fn assert_linear(first: Duration, second: Duration) {
    println!("first half {first:?}, second half {second:?}");
    assert!(second < 3 * first + Duration::from_secs(1), "first half {first:?}, second half {second:?}");
}

/// One transaction of very many subtransactions: all of it is there after a crash right behind its commit, and what was rolled back is not.
#[test]
fn savepoints_that_are_released_cost_the_same_and_survive_a_crash() {
    let half = knob("STAMPEDE_SAVEPOINTS", 10_000) / 2;
    let mut server = Server::start(&[]);
    let mut client = server.client();
    client.query("create table t (id int primary key)").unwrap();
    client.query("begin").unwrap();
    let released = |n| format!("savepoint s; insert into t values ({n}); release s");
    let first = timed(|| repeat(&mut client, 0, half, released));
    let second = timed(|| repeat(&mut client, half, half, released));
    assert_linear(first, second);
    for round in 0..10 {
        let nested = |n| format!("savepoint n{n}; insert into t values (-1 - {n})");
        repeat(&mut client, round * 50, 50, nested);
        client.query(&format!("rollback to n{}; release n{}", round * 50, round * 50)).unwrap();
    }
    let mut other = server.client();
    assert_eq!(other.value("select count(*) from t"), "0");
    let commit = timed(|| drop(client.query("commit").unwrap()));
    server.kill();
    let recovery = timed(|| server.run());
    println!("commit {commit:?}, start after the crash {recovery:?}");
    let mut client = server.client();
    let total = 2 * half;
    assert_eq!(
        client.value("select count(*) || ' ' || min(id) || ' ' || max(id) || ' ' || sum(id::bigint) from t"),
        format!("{total} 0 {} {}", total - 1, total * (total - 1) / 2)
    );
    client.query("set enable_seqscan = off").unwrap();
    assert_eq!(client.value("select count(*) from t where id < 0"), "0");
    assert_eq!(client.value("select count(*) from t where id >= 0"), total.to_string());
}

/// The same keys again and again, each time rolled back: neither time nor index grows with their number.
#[test]
fn savepoints_that_are_rolled_back_leave_nothing() {
    let half = knob("STAMPEDE_ROLLBACKS", 1_000) / 2;
    let server = Server::start(&[]);
    let mut client = server.client();
    client.query("create table t (id int primary key, v text)").unwrap();
    client.query("set enable_seqscan = off; set enable_bitmapscan = off; begin").unwrap();
    let rolled_back = |_| {
        "savepoint s; insert into t select n, 'v' from generate_series(1, 10) n; \
         select count(*) from t where id between 1 and 10; rollback to s"
            .to_string()
    };
    let size =
        |client: &mut Client| -> u64 { client.value("select pg_relation_size('t_pkey')").parse().unwrap() };
    repeat(&mut client, 0, 100, rolled_back);
    let early = size(&mut client);
    let first = timed(|| repeat(&mut client, 0, half, rolled_back));
    let second = timed(|| repeat(&mut client, 0, half, rolled_back));
    assert_linear(first, second);
    assert!(size(&mut client) <= early, "the index grew from {early} to {}", size(&mut client));
    client.query("insert into t values (1, 'stays'); commit").unwrap();
    assert_eq!(client.value("select string_agg(v, '') from t where id > 0"), "stays");
}

/// Point queries of some sessions, some of them of rows that the open transaction changed.
fn read(server: &Server, stop: &AtomicBool, count: &AtomicU64) {
    let mut client = server.client();
    let mut n = 0;
    while !stop.load(Ordering::Relaxed) {
        n = n % 1000 + 1;
        assert_eq!(client.value(&format!("select v from t where id = {n}")), "0");
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Point queries a second while `work` is done.
fn rate_beside(count: &AtomicU64, work: impl FnOnce()) -> f64 {
    let (before, start) = (count.load(Ordering::Relaxed), Instant::now());
    work();
    (count.load(Ordering::Relaxed) - before) as f64 / start.elapsed().as_secs_f64()
}

#[test]
fn readers_do_not_notice_open_subtransactions() {
    let open = knob("STAMPEDE_OPEN_SAVEPOINTS", 3_000);
    let server = Server::start(&[]);
    let mut writer = server.client();
    writer.query("create table t (id int primary key, v int); insert into t select n, 0 from generate_series(1, 1000) n").unwrap();
    writer.query("create table w (id int primary key)").unwrap();
    let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| read(&server, &stop, &count));
        }
        let wait = || thread::sleep(Duration::from_millis(500));
        wait();
        let before = rate_beside(&count, wait);
        writer.query("begin").unwrap();
        let nested = |n| {
            format!(
                "savepoint s{n}; insert into w values ({n}); update t set v = {n} where id = {n} % 1000 + 1"
            )
        };
        repeat(&mut writer, 0, open, nested);
        let during = rate_beside(&count, wait);
        println!("{before:.0} point queries a second, {during:.0} beside {open} open subtransactions");
        assert_eq!(writer.value("select count(*) from w"), open.to_string());
        writer.query(&format!("rollback to s{}", open / 2)).unwrap();
        assert_eq!(writer.value("select count(*) from w"), (open / 2).to_string());
        writer.query("rollback").unwrap();
        stop.store(true, Ordering::Relaxed);
        assert!(during > before / 3.0, "readers slowed down from {before:.0} to {during:.0} a second");
    });
    assert_eq!(server.client().value("select count(*) from w"), "0");
}
