//! Hash indexes through a client: what they find is what the table has, before and after a crash, whoever inserts meanwhile.

use crate::support::{Client, Failure, Server, run};

const TABLE: [&str; 4] = [
    "create collation any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    "create type mood as enum ('sad', 'ok', 'happy')",
    "create table t (id int, a int4, b int8, t text, f text collate any_case, n numeric, u uuid, e mood, l int[], r int4range, d date, x float4, c char(8))",
    "insert into t select i, i % 400, i % 300, 'v' || i % 250, case when i % 2 = 0 then 'V' else 'v' end || i % 200, (i % 350)::numeric / 10 + 0.10, \
     md5((i % 100)::text)::uuid, (array['sad', 'ok', 'happy'])[1 + i % 3]::mood, array[i % 10, i % 20], int4range(i % 50, i % 50 + 5), \
     date '2026-01-01' + i % 90, i % 80, 'c' || i % 60 from generate_series(1, 6000) i",
];

const INDEXES: [&str; 13] = [
    "create index on t using hash (a)",
    "create index on t using hash (b) with (fillfactor = 30)",
    "create index concurrently on t using hash (t)",
    "create index on t using hash (f)",
    "create index on t using hash (n)",
    "create index on t using hash (u)",
    "create index on t using hash (e)",
    "create index on t using hash (l)",
    "create index on t using hash (r)",
    "create index on t using hash (d)",
    "create index on t using hash (x)",
    "create index on t using hash (c)",
    "create index on t using hash (lower(t)) where a < 100",
];

const CONDITIONS: [&str; 20] = [
    "a = 17",
    "a = 17::int8",
    "a = 17::int2",
    "a = any ('{1, 17, 17, 99}')",
    "a in (3, 5) and b = 5",
    "a = null",
    "b = 17",
    "b = 250::int4",
    "t = 'v17'",
    "t = 'v17'::name",
    "f = 'V17'",
    "n = 1.1",
    "n = 1.10000",
    "u = md5('5')::uuid",
    "e = 'ok' and a = 3",
    "l = '{3,13}'",
    "r = '[5,10)'",
    "d = '2026-01-07'",
    "x = 7::float8",
    "c = 'c7   '",
];

/// Every condition finds the same rows by the table, an index and a bitmap.
fn compare(client: &mut Client) {
    for condition in CONDITIONS.iter().chain(&["lower(t) = 'v17' and a < 100"]) {
        let mut answers = Vec::new();
        for allowed in ["seqscan", "indexscan", "bitmapscan"] {
            for way in ["seqscan", "indexscan", "bitmapscan"] {
                let on = if way == allowed { "on" } else { "off" };
                run(client, &[&format!("set enable_{way} = {on}")]);
            }
            let query = format!("select count(*), sum(id) from t where {condition}");
            answers.push(client.query(&query).unwrap());
        }
        assert!(answers[0] == answers[1] && answers[0] == answers[2], "{condition}: {answers:?}");
    }
    run(client, &["reset enable_seqscan", "reset enable_indexscan", "reset enable_bitmapscan"]);
}

#[test]
fn indexes_find_what_the_table_has() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &INDEXES[..1]);
    run(&mut client, &["insert into t select * from t", "insert into t (id) select 0"]);
    run(&mut client, &INDEXES[1..]);
    compare(&mut client);
    run(&mut client, &["delete from t where id % 3 = 0", "vacuum analyze t"]);
    compare(&mut client);
    server.kill();
    server.run();
    let mut client = server.client();
    compare(&mut client);
    run(&mut client, &["update t set a = a + 1, t = t || 'x' where id % 2 = 0", "reindex table t"]);
    compare(&mut client);
    run(&mut client, &["reindex table concurrently t"]);
    compare(&mut client);
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn sessions_insert_at_once_and_a_crash_takes_nothing() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (id int, a int)", "create index on t using hash (a)"]);
    std::thread::scope(|threads| {
        for session in 0..6 {
            let server = &server;
            threads.spawn(move || {
                let mut client = server.client();
                for round in 0..20 {
                    let insert = format!(
                        "insert into t select i, i::int8 * 7919 % 5000 from generate_series({0}, {0} + 199) i",
                        session * 100_000 + round * 200
                    );
                    run(&mut client, &[&insert, "delete from t where a = 5", "select * from t where a = 7"]);
                }
            });
        }
    });
    run(
        &mut client,
        &[
            "vacuum t",
            "delete from t where a < 4000",
            "vacuum t",
            "insert into t select i, i from generate_series(1, 9000) i",
        ],
    );
    server.kill();
    server.run();
    let mut client = server.client();
    run(&mut client, &["set enable_seqscan = off", "set enable_bitmapscan = off"]);
    let by_index = client.query("select count(*) from generate_series(1, 9000) i join t on t.a = i").unwrap();
    run(&mut client, &["set enable_seqscan = on", "set enable_indexscan = off"]);
    let by_table = client.query("select count(*) from t where a between 1 and 9000").unwrap();
    assert_eq!(by_index, by_table);
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn what_a_hash_index_cannot_be_is_refused() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (a int, b int, p point)"]);
    for (statement, message) in [
        (
            "create index on t using hash (a, b)",
            "access method \"hash\" does not support multicolumn indexes",
        ),
        ("create unique index on t using hash (a)", "access method \"hash\" does not support unique indexes"),
        (
            "create index on t using hash (a) include (b)",
            "access method \"hash\" does not support included columns",
        ),
        ("create index on t using hash (a desc)", "access method \"hash\" does not support ASC/DESC options"),
        (
            "create index on t using hash (p)",
            "data type point has no default operator class for access method \"hash\"",
        ),
        (
            "create index on t using hash (a) with (fillfactor = 9)",
            "value 9 out of bounds for option \"fillfactor\"",
        ),
        ("create index on t using hash (a) with (buffering = on)", "unrecognized parameter \"buffering\""),
    ] {
        match client.query(statement) {
            Err(Failure::Error { message: found, .. }) => assert_eq!(found, message, "{statement}"),
            other => panic!("{statement}: {other:?}"),
        }
    }
}

#[test]
fn a_class_of_a_user_hashes_by_its_function() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create operator class my_int_ops for type int4 using hash as operator 1 =, function 1 hashint4(int4)",
            "create table u (i int, t text, exclude using hash (i my_int_ops with =))",
            "insert into u select i, 'n' || i from generate_series(1, 500) i",
            "vacuum analyze u",
        ],
    );
    server.kill();
    server.run();
    let mut client = server.client();
    run(&mut client, &["set enable_seqscan = off", "insert into u values (1000, 'another')"]);
    let query = "select t from u where i = 77";
    let plan = client.query(&format!("explain (costs off) {query}")).unwrap();
    assert!(plan.iter().any(|row| row[0].as_ref().is_some_and(|line| line.contains("u_i_excl"))), "{plan:?}");
    assert_eq!(client.value(query), "n77");
    let error = client.error("insert into u values (5)");
    assert!(error.starts_with("23P01"), "{error}");
    drop(client);
    server.stop();
    server.assert_sound();
}
