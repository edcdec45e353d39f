//! Access methods that users make: built-in ones under other names, with operator classes of their own.

use crate::support::{Client, Server, run};

const BOXES: &str = "create operator class box_ops default for type box using gist2 as operator 1 <<, operator 3 &&, operator 5 >>, operator 7 @>, \
     operator 8 <@, function 1 gist_box_consistent(internal, box, smallint, oid, internal), function 2 gist_box_union(internal, internal), \
     function 5 gist_box_penalty(internal, internal, internal), function 6 gist_box_picksplit(internal, internal), \
     function 7 gist_box_same(box, box, internal)";

fn plan(client: &mut Client, query: &str) -> String {
    let rows = client.query(&format!("explain (costs off) {query}")).unwrap();
    rows.into_iter().filter_map(|row| row[0].clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_index_may_have_a_method_of_a_user() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create access method gist2 type index handler gisthandler",
            "create table t (b box, id int)",
            "insert into t select box(point(i, i), point(i + 1, i + 1)), i from generate_series(1, 2000) i",
        ],
    );
    let error = client.error("create index on t using gist2 (b)");
    assert!(error.contains("no default operator class for access method \"gist2\""), "{error}");
    run(&mut client, &[BOXES, "create index i on t using gist2 (b)", "vacuum analyze t"]);
    let definition = "select pg_get_indexdef('i'::regclass)";
    assert_eq!(client.value(definition), "CREATE INDEX i ON public.t USING gist2 (b)");
    run(&mut client, &["set enable_seqscan = off", "set enable_bitmapscan = off"]);
    let query = "select count(*) from t where b <@ box(point(100, 100), point(200, 200))";
    let found = plan(&mut client, query);
    assert!(found.contains("using i on t"), "{found}");
    assert_eq!(client.value(query), "100");
    let can = "select pg_indexam_has_property(oid, 'can_multi_col') from pg_am where amname = 'gist2'";
    assert_eq!(client.value(can), "t");
    server.kill();
    server.run();
    let mut client = server.client();
    assert_eq!(client.value(query), "100");
    run(&mut client, &["reindex index concurrently i"]);
    assert_eq!(client.value(definition), "CREATE INDEX i ON public.t USING gist2 (b)");
    let error = client.error("drop access method gist2");
    assert!(error.contains("cannot drop access method gist2 because other objects depend on it"), "{error}");
    run(&mut client, &["drop access method gist2 cascade"]);
    assert_eq!(client.value("select count(*) from pg_index where indrelid = 't'::regclass"), "0");
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn a_table_may_have_a_method_of_a_user() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create access method heap2 type table handler heap_tableam_handler",
            "comment on access method heap2 is 'rows'",
            "create table a using heap2 as select i from generate_series(1, 10) i",
            "set default_table_access_method = heap2",
            "create table b (i int)",
            "create materialized view m as select 1 as one",
            "create table p (i int) partition by list (i)",
            "reset default_table_access_method",
            "create table q (i int) partition by list (i) using heap2",
            "create table q1 partition of q for values in (1)",
            "create table q2 partition of q for values in (2) using heap",
            "create table c (i int)",
            "alter table c set access method heap2",
            "alter table b set access method default",
            "truncate a",
            "vacuum full a",
        ],
    );
    let tables = "select string_agg(relname, ' ' order by relname) from pg_class join pg_am on relam = pg_am.oid where amname = 'heap2'";
    assert_eq!(client.value(tables), "a c m q q1");
    for (statement, message) in [
        (
            "create access method heap2 type table handler heap_tableam_handler",
            "access method \"heap2\" already exists",
        ),
        (
            "create access method x type table handler bthandler",
            "function bthandler must return type table_am_handler",
        ),
        ("create access method x type index handler nothing", "function nothing(internal) does not exist"),
        ("create table x (i int) using btree", "access method \"btree\" is not of type TABLE"),
        ("create index on a using heap2 (i)", "access method \"heap2\" is not of type INDEX"),
        ("create table x (i int) using heap3", "access method \"heap3\" does not exist"),
        (
            "set default_table_access_method = heap3",
            "invalid value for parameter \"default_table_access_method\": \"heap3\"",
        ),
        (
            "alter table a set access method heap, set access method heap2",
            "cannot have multiple SET ACCESS METHOD subcommands",
        ),
        ("drop access method heap2", "cannot drop access method heap2 because other objects depend on it"),
        (
            "drop access method heap",
            "cannot drop access method heap because it is required by the database system",
        ),
    ] {
        let error = client.error(statement);
        assert!(error.contains(message), "{statement}: {error}");
    }
    run(&mut client, &["create role r", "set role r"]);
    for statement in
        ["create access method x type index handler bthandler", "drop access method heap2 cascade"]
    {
        assert!(client.error(statement).starts_with("42501"), "{statement}");
    }
    run(
        &mut client,
        &["reset role", "drop table a, c, q", "drop materialized view m", "drop access method heap2"],
    );
}
