//! Statements and sessions that are ended: by timeouts, by other sessions, by the client's going away.
//!
//! No test depends on how fast anything is: what is ended would last longer than anybody waits.

use std::time::Duration;

use crate::support::client::message;
use crate::support::{Client, Server, until};

const FOREVER: &str = "select pg_sleep(1000000)";

fn pid(client: &mut Client) -> String {
    client.value("select pg_backend_pid()")
}

#[test]
fn timeouts_of_statements_and_transactions() {
    let server = Server::start(&[]);
    let mut a = server.client();
    let timed_out = "57014 canceling statement due to statement timeout";
    a.query("set statement_timeout = '10ms'").unwrap();
    assert_eq!(a.error(FOREVER), timed_out);
    // What one statement of a message sets holds for the next.
    assert_eq!(a.error(&format!("set statement_timeout = '11ms'; {FOREVER}")), timed_out);
    a.query("set statement_timeout = 0; create table t (a int); insert into t values (1)").unwrap();

    // Both kinds of waits know lock_timeout, also when a transaction sets it for itself.
    let mut b = server.client();
    a.query("begin; lock table t").unwrap();
    let locked_out = "55P03 canceling statement due to lock timeout";
    b.query("begin; set local lock_timeout = '10ms'").unwrap();
    assert_eq!(b.error("lock table t"), locked_out);
    b.query("rollback").unwrap();
    a.query("rollback; begin; delete from t").unwrap();
    b.query("begin; set local lock_timeout = '10ms'").unwrap();
    assert_eq!(b.error("update t set a = 2"), locked_out);
    b.query("rollback; set statement_timeout = '10ms'").unwrap();
    assert_eq!(b.error("update t set a = 2"), timed_out);
    a.query("rollback").unwrap();

    // A single statement is a transaction.
    a.query("set transaction_timeout = '10ms'").unwrap();
    assert_eq!(a.error(FOREVER), "25P04 terminating connection due to transaction timeout");
    let mut c = server.connect(&[("options", "-c transaction_timeout=10ms")]).unwrap();
    c.query("begin").unwrap();
    let (kind, body) = c.message().unwrap();
    assert_eq!(kind, b'E');
    assert!(String::from_utf8_lossy(&body).contains("25P04"));
}

#[test]
fn programs_of_copy_end_with_their_statement() {
    let server = Server::start(&["stampede.allow_root_access=on"]);
    let mut s = server.client();
    s.query("create table t (a text); set statement_timeout = '100ms'").unwrap();
    let timed_out = "57014 canceling statement due to statement timeout";
    for copy in ["t from program 'exec 3>&1; sleep 100000'", "(select 1) to program 'sleep 100000'"] {
        assert_eq!(s.error(&format!("copy {copy}")), timed_out);
    }
    // Whoever waits keeps nobody out, and what was started is gone.
    s.query("set statement_timeout = 0").unwrap();
    until("no program is left", || s.value("select 1") == "1" && !has_children(server.pid()));
}

/// Whether some process was started by this one and not waited for yet.
fn has_children(pid: i32) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    // Behind the name in parentheses: the state, then the parent.
    let parent = |stat: &str| stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok();
    stats.into_iter().any(|stat| parent(&stat) == Some(pid))
}

#[test]
fn a_chained_transaction_has_its_own_time() {
    let server = Server::start(&[]);
    let mut a = server.client();
    a.query("set transaction_timeout = '1h'").unwrap();
    a.query("begin").unwrap();
    // The time that runs stays as it is.
    a.query("set transaction_timeout = '10ms'").unwrap();
    a.query("commit and chain").unwrap();
    let (kind, body) = a.message().unwrap();
    assert_eq!(kind, b'E');
    assert!(String::from_utf8_lossy(&body).contains("25P04"));
}

#[test]
fn sessions_end_each_other_s_statements() {
    let server = Server::start(&[]);
    let (mut a, mut b) = (server.client(), server.client());
    let pid = pid(&mut b);
    let sleeper = std::thread::spawn(move || (b.error(FOREVER), b));
    let asleep = format!(
        "select count(*) from pg_stat_activity where pid = {pid} and wait_event = 'PgSleep' and state = 'active'"
    );
    until("the other session sleeps", || a.value(&asleep) == "1");
    assert_eq!(a.value(&format!("select pg_cancel_backend({pid})")), "t");
    let (error, mut b) = sleeper.join().unwrap();
    assert_eq!(error, "57014 canceling statement due to user request");

    let sleeper = std::thread::spawn(move || b.error(FOREVER));
    until("the other session sleeps", || a.value(&asleep) == "1");
    // It says true once the session is gone.
    assert_eq!(a.value(&format!("select pg_terminate_backend({pid}, 1000000)")), "t");
    assert_eq!(a.value(&format!("select count(*) from pg_stat_activity where pid = {pid}")), "0");
    assert_eq!(sleeper.join().unwrap(), "57P01 terminating connection due to administrator command");
    assert_eq!(a.error("select pg_terminate_backend(1, -1)"), "22003 \"timeout\" must not be negative");
}

/// One call that computes for hours. Planning carries it out, as its arguments are constants.
const LONG_CALL: &str = "select gcd(factorial(30000) + 1, factorial(29999) + 3)";

#[test]
fn a_long_call_is_seen_and_ended_and_keeps_nobody_out() {
    let mut server = Server::start(&["stampede.workers=1"]);
    let (mut a, mut b) = (server.client(), server.client());
    let pid = pid(&mut b);
    let caller = std::thread::spawn(move || (b.error(LONG_CALL), b));
    let runs = format!(
        "select count(*) from pg_stat_activity where pid = {pid} and state = 'active' and query = '{LONG_CALL}'"
    );
    until("the call is seen", || a.value(&runs) == "1");
    // On the same worker.
    assert_eq!(server.client().value("select 1"), "1");
    assert_eq!(a.value(&runs), "1");
    assert_eq!(a.value(&format!("select pg_cancel_backend({pid})")), "t");
    let (error, mut b) = caller.join().unwrap();
    assert_eq!(error, "57014 canceling statement due to user request");
    b.query("set statement_timeout = '20ms'").unwrap();
    assert_eq!(b.error(LONG_CALL), "57014 canceling statement due to statement timeout");
    b.query("set statement_timeout = 0").unwrap();
    let caller = std::thread::spawn(move || b.error(LONG_CALL));
    until("the call is seen", || a.value(&runs) == "1");
    // A fast shutdown does not wait for it either.
    server.stop();
    assert_eq!(caller.join().unwrap(), "57P01 terminating connection due to administrator command");
}

#[test]
fn others_see_that_a_copy_waits_for_its_client() {
    let server = Server::start(&[]);
    let (mut a, mut b) = (server.client(), server.client());
    let pid = pid(&mut b);
    b.query("create table t (a int)").unwrap();
    b.send(&message(b'Q', b"copy t from stdin\0")).unwrap();
    assert_eq!(b.message().unwrap().0, b'G');
    let reads = format!(
        "select count(*) from pg_stat_activity where pid = {pid} and wait_event = 'ClientRead' and state = 'active'"
    );
    until("the other session waits", || a.value(&reads) == "1");
    b.send(&[message(b'd', b"1\n"), message(b'c', b"")].concat()).unwrap();
    let idle = format!("select count(*) from pg_stat_activity where pid = {pid} and state = 'idle'");
    until("the other session is done", || a.value(&idle) == "1");
    assert_eq!(a.value("select a from t"), "1");
}

#[test]
fn a_client_that_goes_away_ends_its_statement() {
    let server = Server::start(&[]);
    let mut a = server.client();
    let mut b = server.connect(&[("options", "-c client_connection_check_interval=10ms")]).unwrap();
    let pid = pid(&mut b);
    let mut query = FOREVER.as_bytes().to_vec();
    query.push(0);
    b.send(&crate::support::client::message(b'Q', &query)).unwrap();
    let there = format!("select count(*) from pg_stat_activity where pid = {pid}");
    until("the other session sleeps", || a.value(&format!("{there} and state = 'active'")) == "1");
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(a.value(&there), "1");
    drop(b);
    until("the other session is gone", || a.value(&there) == "0");
}

#[test]
fn a_session_that_is_ended_takes_its_temporary_tables_along() {
    let server = Server::start(&[]);
    let (mut ended, mut other) = (server.client(), server.client());
    ended.query("create temp table own (id serial primary key); insert into own values (1)").unwrap();
    let left = "select count(*) from pg_class where relname like 'own%'";
    assert_eq!(other.value(left), "3");
    other.query(&format!("select pg_terminate_backend({})", pid(&mut ended))).unwrap();
    until("its tables are gone", || other.value(left) == "0");
}
