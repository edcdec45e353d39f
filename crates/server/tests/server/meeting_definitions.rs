//! Commands that meet another session's uncommitted definition of the same object: they wait for it, and then find what it left.

use std::thread;

use crate::support::client::message;
use crate::support::{Client, Failure, Server, run, until};

const SETUP: &[&str] = &[
    "drop table if exists t, t2",
    "create table t (a int primary key, b int)",
    "create index ti on t (b)",
    "insert into t select g, g from generate_series(1, 100) g",
];

const WAITING: &str = "select count(*) from pg_locks where not granted";

/// SQLSTATE and message, or nothing.
fn outcome(client: &mut Client, statement: &str) -> String {
    match client.query(statement) {
        Ok(_) => String::new(),
        Err(Failure::Error { code, message, .. }) => format!("{code} {message}"),
        Err(other) => panic!("{statement}: {other:?}"),
    }
}

/// The notice that a statement gives, which succeeds.
fn warning(client: &mut Client, statement: &str) -> String {
    client.send(&message(b'Q', format!("{statement}\0").as_bytes())).unwrap();
    let mut notice = String::new();
    loop {
        match client.message().unwrap() {
            (b'N', body) => notice = String::from_utf8_lossy(&body).into_owned(),
            (b'Z', _) => return notice,
            (kind, body) => assert_eq!(kind, b'C', "{}", String::from_utf8_lossy(&body)),
        }
    }
}

/// What one session does and leaves open, what another then asks for, and what that one gets once the first has committed: as PostgreSQL 18.
const CASES: &[(&str, &str, &str)] = &[
    ("alter table t add column c int", "grant select on t to r", ""),
    ("truncate t", "revoke select on t from r", ""),
    ("cluster t using t_pkey", "grant select (a) on t to r", ""),
    ("alter table t rename to t2", "grant select on t to r", "42P01 relation \"t\" does not exist"),
    ("drop table t", "grant select on t to r", "42P01 relation \"t\" does not exist"),
    ("grant select on t to r", "grant insert on t to r", "XX000 tuple concurrently updated"),
    ("truncate t", "alter index ti rename to tk", ""),
    ("cluster t using t_pkey", "alter index ti rename to tk", ""),
    ("alter table t owner to r", "alter index ti rename to tk", ""),
    ("alter index ti rename to tj", "alter table t owner to r", ""),
    ("drop table t", "alter index ti rename to tk", "42P01 relation \"ti\" does not exist"),
    ("alter index ti rename to tj", "alter index ti rename to tk", "42P01 relation \"ti\" does not exist"),
    ("alter index ti rename to tj", "reindex index ti", "42P01 relation \"ti\" does not exist"),
    ("drop index ti", "reindex index ti", "42P01 relation \"ti\" does not exist"),
    ("drop index ti", "reindex index concurrently ti", "42P01 relation \"ti\" does not exist"),
    ("drop table t", "vacuum t", "42P01 relation \"t\" does not exist"),
    ("drop table t", "vacuum full t", "42P01 relation \"t\" does not exist"),
    ("drop table t", "analyze t", "42P01 relation \"t\" does not exist"),
    ("alter table t rename to t2", "vacuum analyze t", "42P01 relation \"t\" does not exist"),
    ("alter table t rename to t2", "analyze t (a)", "42P01 relation \"t\" does not exist"),
];

#[test]
fn who_meets_a_definition_waits_for_its_end() {
    let server = Server::start(&[]);
    let (mut one, mut other, mut watcher) = (server.client(), server.client(), server.client());
    run(&mut one, &["create role r"]);
    for (definition, command, expected) in CASES {
        for end in ["commit", "rollback"] {
            run(&mut one, SETUP);
            run(&mut one, &["begin", definition]);
            thread::scope(|scope| {
                let waiter = scope.spawn(|| outcome(&mut other, command));
                until("it waits", || watcher.value(WAITING) == "1");
                run(&mut one, &[end]);
                let expected = if end == "commit" { *expected } else { "" };
                assert_eq!(waiter.join().unwrap(), expected, "{definition}; {end} beside {command}");
            });
        }
    }
}

#[test]
fn sizes_are_noted_without_waiting() {
    let server = Server::start(&[]);
    let (mut one, mut other) = (server.client(), server.client());
    run(&mut one, &["create role r"]);
    run(&mut other, &["set lock_timeout = '1ms'"]);
    let cases = [
        ("create index i1 on t (a, b)", "create index i2 on t (b, a)"),
        ("create index i1 on t (a, b)", "grant select on t to r"),
        ("analyze t", "grant select on t to r"),
    ];
    for (one_does, other_does) in cases {
        run(&mut one, SETUP);
        run(&mut one, &["begin", one_does]);
        run(&mut other, &[other_does]);
        run(&mut one, &["commit"]);
    }
}

#[test]
fn the_first_indexes_of_a_table_may_be_made_at_a_time() {
    let server = Server::start(&[]);
    let (mut one, mut other, mut watcher) = (server.client(), server.client(), server.client());
    for end in ["commit", "rollback"] {
        run(
            &mut one,
            &["drop table if exists t", "create table t (a int, b int)", "insert into t values (1, 2)"],
        );
        run(&mut one, &["begin", "create index i1 on t (a)"]);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| outcome(&mut other, "create unique index i2 on t (b)"));
            until("it waits", || watcher.value(WAITING) == "1");
            run(&mut one, &[end]);
            assert_eq!(waiter.join().unwrap(), "");
        });
        assert!(one.error("insert into t values (2, 2)").starts_with("23505"), "the index is kept up");
    }
}

#[test]
fn vacuum_skips_what_is_dropped_while_it_waits() {
    let server = Server::start(&[]);
    let (mut one, mut other, mut watcher) = (server.client(), server.client(), server.client());
    for command in ["vacuum t, t2", "analyze t, t2", "vacuum full t, t2"] {
        run(&mut one, SETUP);
        run(&mut one, &["create table t2 (a int)", "begin", "lock table t in share update exclusive mode"]);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| warning(&mut other, command));
            until("it waits", || watcher.value(WAITING) == "1");
            run(&mut one, &["drop table t", "commit"]);
            assert!(waiter.join().unwrap().contains("of \"t\" --- relation no longer exists"), "{command}");
        });
    }
}
