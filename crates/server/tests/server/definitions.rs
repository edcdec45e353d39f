//! What some sessions define reaches those that use it, whatever their transactions have done before.

use std::thread;

use crate::support::{Client, Repeated, Server, beside, knob, run, until};

/// A server with a table, and a session whose transaction has changed a catalog, and has read the table.
fn in_a_transaction_with_changes() -> (Server, Client) {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table referred (id int primary key)",
            "create table t (id int primary key, k int, v int)",
            "insert into t select g, null, 1 from generate_series(1, 100) g",
            "create function stamp() returns trigger language plpgsql as 'begin new.v = 999; return new; end'",
            "prepare put as insert into t values (1001, 77, 1)",
            "begin",
            "create temp table own (id int) on commit drop",
            "select count(*) from t",
        ],
    );
    (server, client)
}

#[test]
fn an_index_that_others_make_gets_the_rows_of_a_transaction_with_changes() {
    let (server, mut client) = in_a_transaction_with_changes();
    run(&mut server.client(), &["create index t_k on t (k)"]);
    run(&mut client, &["execute put", "commit", "set enable_seqscan = off"]);
    assert_eq!(client.value("select count(*) from t where k = 77"), "1");
}

#[test]
fn constraints_and_triggers_of_others_hold_in_a_transaction_with_changes() {
    let cases = [
        (
            "create unique index on t ((id / 1000 * k)) where id > 1000; insert into t values (1077, 77)",
            "23505",
        ),
        ("alter table t add foreign key (k) references referred", "23503"),
        ("create trigger stamp before insert on t for each row execute function stamp()", ""),
    ];
    for (definition, expected) in cases {
        for write in ["execute put", "insert into t values (1001, 77, 1)"] {
            let (server, mut client) = in_a_transaction_with_changes();
            run(&mut server.client(), &[definition]);
            match expected {
                "" => {
                    run(&mut client, &[write]);
                    assert_eq!(client.value("select v from t where id = 1001"), "999");
                }
                code => assert!(client.error(write).starts_with(code), "{definition}: {write}"),
            }
        }
    }
}

#[test]
fn a_transaction_with_changes_that_waited_for_a_table_finds_it_as_it_became() {
    let cases = [
        ("alter table t alter v type bigint", ""),
        ("cluster t using t_pkey", ""),
        ("truncate t", ""),
        ("alter table t drop column v; alter table t add v int", ""),
        ("alter table t add check (k < 50)", "23514"),
        ("alter table t alter k type smallint, alter k set default 1, add check (k < 50)", "23514"),
    ];
    for (definition, expected) in cases {
        let (server, mut client) = in_a_transaction_with_changes();
        run(&mut client, &["rollback", "begin", "create temp table own (id int)"]);
        let (mut other, mut watcher) = (server.client(), server.client());
        run(&mut other, &["begin", definition]);
        thread::scope(|scope| {
            let write = "insert into t values (1001, 77, 1)";
            let waiter = scope.spawn(|| match expected {
                "" => run(&mut client, &[write, "commit"]),
                code => assert!(client.error(write).starts_with(code), "{definition}"),
            });
            let waits = "select count(*) from pg_locks where not granted and relation = 't'::regclass";
            until("it waits", || watcher.value(waits) == "1");
            run(&mut other, &["commit"]);
            waiter.join().unwrap();
        });
        let there = if expected.is_empty() { "1" } else { "0" };
        assert_eq!(other.value("select count(*) from t where id = 1001"), there, "{definition}");
    }
}

#[test]
fn a_query_inside_another_command_that_waited_finds_its_table_as_it_became() {
    for command in ["create table copied as select id, k from t", "copy (select id, k from t) to '/dev/null'"]
    {
        for definition in ["cluster t using t_pkey", "drop table t; create table t (k int, id int)"] {
            let server = Server::start(&["stampede.allow_root_access=on"]);
            let (mut client, mut other, mut watcher) = (server.client(), server.client(), server.client());
            run(&mut client, &["create table t (id int primary key, k int)", "insert into t values (1, 2)"]);
            run(&mut other, &["begin", definition, "insert into t (id, k) values (3, 4)"]);
            thread::scope(|scope| {
                let waiter = scope.spawn(|| run(&mut client, &[command]));
                let waits = "select count(*) from pg_locks where not granted and locktype = 'relation'";
                until("it waits", || watcher.value(waits) == "1");
                run(&mut other, &["commit"]);
                waiter.join().unwrap();
            });
            if command.starts_with("create") {
                assert_eq!(client.value("select k from copied where id = 3"), "4", "{definition}");
            }
        }
    }
}

#[test]
fn a_description_is_of_one_moment() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (id int primary key)"]);
    let columns = |what: &str| {
        let changes: Vec<String> = (0..20).map(|i| format!("{what} column n{i}")).collect();
        changes.join(", ")
    };
    let add = format!("alter table t {} int", columns("add").replace(',', " int,"));
    let drop = format!("alter table t {}", columns("drop"));
    let read: Repeated<'_> = &|reader, _| {
        run(
            reader,
            &["select count(*) from t", "begin; create temp table own (id int); select from t; rollback"],
        )
    };
    let churn: Repeated<'_> =
        &|other, _| run(other, &["begin; create table u (id int); drop table u; commit"]);
    beside(&server, &[read, read, churn], || {
        for _ in 0..knob("COLUMN_ROUNDS", 30) {
            run(&mut client, &[&add, &drop]);
        }
    });
}

#[test]
fn a_prepared_statement_goes_on_as_long_as_its_result_looks_the_same() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (a int, b text)", "prepare p as select a, b from t", "execute p"]);
    run(
        &mut client,
        &["drop table t", "create table t (b text, a int)", "insert into t values ('x', 1)", "execute p"],
    );
    run(&mut client, &["alter table t rename to u", "create view t as select a, b from u", "execute p"]);
    run(&mut client, &["drop view t", "alter table u rename to t", "alter table t alter a type bigint"]);
    assert!(client.error("execute p").starts_with("0A000"));
}

#[test]
fn columns_that_were_dropped_count() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (id int)"]);
    let list = |what: &str, kind: &str| {
        let columns: Vec<String> = (0..533).map(|i| format!("{what} column c{i} {kind}")).collect();
        format!("alter table t {}", columns.join(", "))
    };
    for _ in 0..3 {
        run(&mut client, &[&list("add", "int"), &list("drop", "")]);
    }
    assert!(client.error("alter table t add column one_more int").starts_with("54011"));
    run(&mut client, &["insert into t values (1)", "vacuum full t"]);
    assert_eq!(client.value("select id from t"), "1");
}

#[test]
fn a_text_that_comes_again_means_the_first_table_of_its_name() {
    let definitions = [
        "create table early.t (id int, v int); insert into early.t values (1, 0)",
        "create view early.t as select * from late.other",
        "alter table late.other set schema early; alter table early.other rename to t",
        "create schema fresh; create table fresh.t (id int, v int); insert into fresh.t values (1, 0)",
    ];
    for definition in definitions {
        let server = Server::start(&[]);
        let mut client = server.client();
        run(
            &mut client,
            &[
                "create schema early",
                "create schema late",
                "create table late.t (id int, v int)",
                "create table late.other (id int, v int)",
                "insert into late.t values (1, 0)",
                "insert into late.other values (1, 0)",
                "set search_path = fresh, early, late",
            ],
        );
        let again = "update t set v = v + 1 where id = 1";
        let literal = |n: u32| format!("update t set v = v + {n} where id = 1");
        for _ in 0..8 {
            run(&mut client, &[&literal(1), &literal(2), &literal(3), again, again]);
        }
        assert_eq!(client.value("select v from late.t"), "64");
        run(&mut server.client(), &[definition]);
        run(&mut client, &[again]);
        assert_eq!(client.value("select v from late.t"), "64", "{definition}: same text");
        assert_eq!(client.value("select v from t"), "1", "{definition}");
        run(&mut client, &[&literal(4)]);
        assert_eq!(client.value("select v from t"), "5", "{definition}: same shape");
        let mut newcomer = server.client();
        run(&mut newcomer, &["set search_path = fresh, early, late", again]);
        assert_eq!(client.value("select v from t"), "6", "{definition}: another session's text");
    }
}

#[test]
fn a_constant_that_comes_again_names_the_first_table_of_its_name() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create schema early", "create table t (id int)", "set search_path = early, public"]);
    let schema = "select relnamespace::regnamespace from pg_class where oid = 't'::regclass";
    assert_eq!(client.value(schema), "public");
    run(&mut server.client(), &["create table early.t (id int)"]);
    assert_eq!(client.value(schema), "early");
}

#[test]
fn a_prepared_statement_keeps_to_its_table() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create schema early",
            "create table t as select 1 as v",
            "set search_path = early, public",
            "prepare get as select v from t",
        ],
    );
    run(&mut server.client(), &["create table early.t as select 2 as v"]);
    assert_eq!(client.value("execute get"), "1");
    assert_eq!(client.value("select v from t"), "2");
}

#[test]
fn a_foreign_key_that_waited_asks_the_table_that_it_refers_to() {
    let cases = [
        (
            "alter table p rename to q; create table p (id int primary key); insert into p values (1)",
            "insert into c values (1)",
        ),
        ("alter table c rename to d; create table c (id int)", "delete from p"),
        ("alter table p rename id to key; alter table p add id int default 1", "insert into c values (1)"),
    ];
    for (definition, command) in cases {
        let server = Server::start(&[]);
        let (mut client, mut other, mut watcher) = (server.client(), server.client(), server.client());
        run(&mut client, &["create table p (id int primary key)", "create table c (id int references p)"]);
        run(&mut client, &["insert into p values (2)", "insert into c values (2)"]);
        run(&mut other, &["begin", definition]);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| assert!(client.error(command).starts_with("23503"), "{definition}"));
            let waits = "select count(*) from pg_locks where not granted and locktype = 'relation'";
            until("it waits", || watcher.value(waits) == "1");
            run(&mut other, &["commit"]);
            waiter.join().unwrap();
        });
    }
}

#[test]
fn what_a_definition_needs_is_not_dropped_beside_it() {
    let before = "create schema s; create type s.mood as enum ('so'); create domain s.d as int; \
                  create function s.f() returns int language sql as 'select 1'; create table t (id int, v int)";
    let cases = [
        ("alter table t add column m s.mood", "drop type s.mood", "2BP01"),
        ("create table u (d s.d)", "drop domain s.d", "2BP01"),
        ("create table s.u (id int)", "drop schema s cascade", ""),
        ("create view w as select s.f()", "drop function s.f()", "2BP01"),
        ("create view w as select v from t", "alter table t drop column v", "2BP01"),
        ("create or replace view x as select id, v from t", "drop table t cascade", ""),
        ("drop type s.mood", "alter table t add column m s.mood", "42704"),
        ("drop schema s cascade", "create table s.u (id int)", "3F000"),
        ("drop function s.f()", "create view w as select s.f()", "42883"),
        ("drop table t cascade", "create view w as select v from t", "42P01"),
        ("alter table t drop column v", "create or replace view x as select id, v from t", "42703"),
    ];
    for (first, second, expected) in cases {
        let server = Server::start(&[]);
        let (mut client, mut other, mut watcher) = (server.client(), server.client(), server.client());
        run(&mut other, &[before, "create view x as select id from t"]);
        run(&mut other, &["begin", first]);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| match expected {
                "" => run(&mut client, &[second]),
                code => {
                    let error = client.error(second);
                    assert!(error.starts_with(code), "{first}; {second}: {error}");
                }
            });
            let waits = "select count(*) from pg_locks where not granted";
            until("it waits", || watcher.value(waits) == "1");
            run(&mut other, &["commit"]);
            waiter.join().unwrap();
        });
        run(&mut other, &["drop schema if exists s cascade", "drop table if exists t, u cascade"]);
        let left = "select count(*) from pg_depend where refobjid >= 16384";
        assert_eq!(other.value(left), "0", "{first}; {second}");
    }
}
