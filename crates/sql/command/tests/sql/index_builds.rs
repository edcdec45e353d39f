//! Indexes that are built by several threads.

use crate::support::{Client, Server};

/// A session that has a helper for each index, and a table of some hundred pages: values that are repeated, NULLs, versions in HOT
/// chains, dead rows.
fn filled(server: &Server) -> Client {
    let s = server.connect();
    s.query("set min_parallel_table_scan_size = 0; set maintenance_work_mem = '64MB'");
    s.query(
        "create table t (a int, b text, c int[], d int) with (fillfactor = 10, autovacuum_enabled = off)",
    );
    let rows = "select i * 7919 % 5000, case when i % 50 > 0 then 'a common beginning ' || i % 700 end, \
                array[i % 100, i % 7], i from generate_series(1, 6000) i";
    s.query(&format!("insert into t {rows}"));
    assert_eq!(s.query("update t set d = -d where d % 10 = 0; delete from t where d % 11 = 0"), "");
    assert!(s.query("select pg_relation_size('t') / 8192").parse::<i64>().unwrap() > 3 * 128);
    s
}

#[test]
fn an_index_that_several_threads_built_has_every_row_in_order() {
    let server = Server::new();
    let s = filled(&server);
    let queries = [
        "select md5(string_agg(a::text, ',')) from (select a from t order by a)",
        "select md5(string_agg(b, ',')) from (select b from t order by b nulls first)",
        "select md5(string_agg(b || a, ',')) from (select b, a from t order by b, a desc)",
        "select count(*), sum(d) from t where b = 'a common beginning 77'",
        "select count(*), sum(d) from t where c @> array[42]",
        "select count(*), sum(d) from t where a = 4711",
        "select count(*), sum(d) from t where a is null or b is null",
    ];
    let answers = || queries.map(|query| s.query(query));
    let before = answers();
    for index in
        ["(a)", "(b nulls first)", "(b, a desc) include (d)", "using hash (b)", "using gin (c)", "(abs(d))"]
    {
        assert_eq!(s.query(&format!("create index on t {index}")), "");
    }
    assert_eq!(s.query("create index on t (a) where b is null"), "");
    assert_eq!(
        s.query("select reltuples from pg_class where relname = 't_a_idx'"),
        s.query("select count(*) from t")
    );
    s.query("set enable_seqscan = off; set enable_sort = off");
    assert_eq!(before, answers());
}

#[test]
fn equal_keys_that_different_threads_found_are_found() {
    let server = Server::new();
    let s = filled(&server);
    s.query("update t set d = 1000000 where d = 1 or d = 5999");
    let error = s.run("create unique index on t (d)").err().expect("two rows are equal");
    assert_eq!(error.message(), "could not create unique index \"t_d_idx\"");
    assert_eq!(error.report().detail.as_deref(), Some("Key (d)=(1000000) is duplicated."));
    assert_eq!(
        s.query("update t set d = 1000001 where ctid = (select max(ctid) from t where d = 1000000)"),
        ""
    );
    assert_eq!(s.query("create unique index on t (d)"), "");
}
