//! GIN indexes through a client: what they find is what the table has, before and after a crash.

use crate::support::{Client, Server, run};

const TABLE: [&str; 6] = [
    "create table t (id int, a int[], s text[], n numeric[], f float8[], j jsonb)",
    "insert into t select i, array[i % 10, i % 7, 100 + i % 300], array['w' || i % 13, 'long' || repeat('x', i % 90)], \
     array[i % 5, (i % 5)::numeric(10,2)], array[i % 4, '-0'::float8], jsonb_build_object('k' || i % 9, i % 50, 'tags', \
     jsonb_build_array('a' || i % 11, 'b', null), 'o', jsonb_build_object('x', i % 3 = 0, 'y', i::numeric / 4)) \
     from generate_series(1,3000) i",
    "insert into t values (0, '{}', '{}', null, '{}', '{}'), (-1, '{null}', '{null,w1}', '{nan}', '{nan}', '[]'), \
     (-2, null, null, null, null, '\"a1\"'), (-3, '{{1,2},{3,4}}', '{}', '{1.50}', '{0}', '[\"a1\", {\"x\": [1, [2.50]]}]'), \
     (-4, '{1}', '{1}', '{1.5}', '{-0}', 'null')",
    "create index t1 on t using gin (a)",
    "create index t2 on t using gin (s, j)",
    "create index t3 on t using gin (n)",
];

const MORE: [&str; 4] = [
    "create index t4 on t using gin (f)",
    "create index t5 on t using gin (j)",
    "create index t6 on t using gin (j jsonb_path_ops)",
    "insert into t select id, a, s, n, f, j from t where id % 3 = 0",
];

const CONDITIONS: [&str; 46] = [
    "a @> '{1}'",
    "a @> '{1,2}'",
    "a @> '{1,2,305}'",
    "a @> '{}'",
    "a @> '{1,null}'",
    "a && '{1,305}'",
    "a && '{}'",
    "a && '{null}'",
    "a && '{null,4}'",
    "a <@ '{1,2,3,4,101,102,103,104}'",
    "a <@ '{}'",
    "a <@ '{null}'",
    "a = '{1,1,101}'",
    "a = '{}'",
    "a = '{null}'",
    "a = '{{1,2},{3,4}}'",
    "'{3,103}' <@ a",
    "a @> '{1}' and a @> '{}'",
    "a @> '{}' and a && '{7,8}' and not a && '{110}'",
    "s @> '{w1}' and j ? 'k1'",
    "s && '{w1,long}'",
    "s @> '{w1}' or a @> '{5}'",
    "n @> '{2.000}'",
    "n @> '{1.5}'",
    "n && '{nan}'",
    "f @> '{0}'",
    "f @> '{nan}'",
    "j @> '{\"k1\": 10}'",
    "j @> '{\"o\": {\"x\": true}}'",
    "j @> '{\"o\": {\"y\": 2.50}}'",
    "j @> '{\"tags\": [\"a1\"]}'",
    "j @> '{}'",
    "j @> '[\"a1\"]'",
    "j @> '\"a1\"'",
    "j @> '[{\"x\": [2]}]'",
    "j ? 'k3'",
    "j ? 'a1'",
    "j ?| '{k3,k4,b}'",
    "j ?& '{k3,tags}'",
    "j ?& '{}'",
    "j @? '$.tags[*] ? (@ == \"a1\")'",
    "j @? '$.o.y ? (@ > 100)'",
    "j @@ '$.k1 == 10 || $.k2 == 11'",
    "j @@ '$.o.x == true && !($.k1 != 10)'",
    "j @@ 'exists($.k1 ? (@ == 10 || @ == 19))'",
    "j @? 'strict $[0]'",
];

/// Every condition finds the same rows by the table and by a bitmap.
fn compare(client: &mut Client) {
    for condition in CONDITIONS {
        let query = format!("select count(*), sum(id) from t where {condition}");
        run(client, &["set enable_seqscan = on", "set enable_bitmapscan = off"]);
        let expected = client.query(&query).unwrap();
        run(client, &["set enable_seqscan = off", "set enable_bitmapscan = on"]);
        let plan = format!("{:?}", client.query(&format!("explain {query}")).unwrap());
        assert!(plan.contains("Bitmap Index Scan"), "{condition}: {plan}");
        assert_eq!(client.query(&query).unwrap(), expected, "{condition}");
    }
}

#[test]
fn indexes_find_what_the_table_has() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &MORE);
    compare(&mut client);
    run(&mut client, &["delete from t where id % 3 = 1", "vacuum analyze t"]);
    compare(&mut client);
    server.kill();
    server.run();
    let mut client = server.client();
    compare(&mut client);
    run(
        &mut client,
        &[
            "update t set a = a || 5, j = j || '{\"k1\": 10}' where jsonb_typeof(j) = 'object'",
            "reindex table t",
            "reindex index concurrently t1",
            "create index concurrently t7 on t using gin (a, s, j)",
            "vacuum t",
        ],
    );
    compare(&mut client);
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn what_cannot_be_is_refused() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (i int, a int[], p point[], x text[])"]);
    for (statement, message) in [
        (
            "create index on t using gin (i)",
            "data type integer has no default operator class for access method \"gin\"",
        ),
        ("create unique index on t using gin (a)", "access method \"gin\" does not support unique indexes"),
        (
            "create index on t using gin (a) include (i)",
            "access method \"gin\" does not support included columns",
        ),
        ("create index on t using gin (a desc)", "access method \"gin\" does not support ASC/DESC options"),
        ("create index on t using gin (p)", "could not identify a comparison function for type point"),
        (
            "create index on t using gin (a jsonb_ops)",
            "operator class \"jsonb_ops\" does not accept data type integer[]",
        ),
    ] {
        let failure = client.query(statement).expect_err(statement);
        let failure = format!("{failure:?}");
        assert!(failure.contains(message.replace('"', "\\\"").as_str()), "{statement}: {failure}");
    }
    run(&mut client, &["create index t_x on t using gin (x)"]);
    let long = "insert into t (x) values (array[repeat('x', 3000)])";
    let failure = format!("{:?}", client.query(long).unwrap_err());
    assert!(failure.contains("index row size 3000 exceeds maximum"), "{failure}");
}

#[test]
fn amvalidate_tells_what_a_class_of_gin_lacks() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create operator class good for type int4[] using gin as operator 1 &&(anyarray, anyarray), \
             function 2 ginarrayextract(anyarray, internal, internal), \
             function 3 ginqueryarrayextract(anyarray, internal, int2, internal, internal, internal, internal), \
             function 4 ginarrayconsistent(internal, int2, anyarray, int4, internal, internal, internal, internal), storage int4",
            "create operator class poor for type int4[] using gin as operator 1 &&(anyarray, anyarray), \
             function 2 ginarrayextract(anyarray, internal, internal), storage int4",
        ],
    );
    for (class, whole) in [("good", "t"), ("poor", "f")] {
        let query = format!("select amvalidate(oid) from pg_opclass where opcname = '{class}'");
        assert_eq!(client.value(&query), whole, "{class}");
    }
    run(
        &mut client,
        &[
            "create table a (i int4[])",
            "insert into a select array[n, n + 1] from generate_series(1, 1000) n",
            "create index on a using gin (i good)",
            "vacuum analyze a",
            "set enable_seqscan = off",
        ],
    );
    let plan = client.query("explain (costs off) select * from a where i && '{77}'").unwrap();
    assert!(plan.iter().any(|row| row[0].as_ref().is_some_and(|line| line.contains("a_i_idx"))), "{plan:?}");
    assert_eq!(client.value("select count(*) from a where i && '{77}'"), "2");
}
