//! Statements that store many rows: INSERT from a query, CREATE TABLE AS.

use crate::support::Server;

/// Sums that tell whether two tables hold the same.
const SUMS: &str = "select count(*), sum(a), count(b), sum(length(b)), min(c), max(c) from";

#[test]
fn rows_of_a_query_are_stored_as_they_come() {
    let server = Server::new();
    let s = server.connect();
    // Some are stored elsewhere, some compressed, some have no value.
    s.run(
        "create table t (a int, b text, c numeric);
        insert into t select g, case g % 4 when 0 then null when 1 then repeat('x', g % 300) when 2 then repeat('y', 9000)
            else (select string_agg(md5(g || ' ' || i), '') from generate_series(1, 100) i) end, g / 3.0
        from generate_series(1, 3000) g",
    )
    .unwrap();
    let all = s.query(&format!("{SUMS} t"));
    assert!(all.starts_with("3000|4501500|2250|"), "{all}");
    for make in [
        "create table u as select * from t",
        "create table u (like t); insert into u select * from t",
        "create table u (a int not null, b text, c numeric, check (a > 0)); insert into u select * from t",
        "create table u (a int, b text, c numeric, d int generated always as (a * 2) stored); insert into u select * from t",
        "create table u (like t); create index on u (a); insert into u select * from t",
        "create table u (x int, a int, b text, c numeric); alter table u drop x; insert into u select * from t",
        "create unlogged table u as select * from t",
        "create temporary table u as select * from t",
        "create materialized view u as select * from t",
    ] {
        s.run(make).unwrap();
        assert_eq!(s.query(&format!("{SUMS} u")), all, "{make}");
        assert_eq!(s.query("select count(*) from (select * from t except all select a, b, c from u) x"), "0");
        s.run(if make.contains("view") { "drop materialized view u" } else { "drop table u" }).unwrap();
    }
}

#[test]
fn a_refused_row_leaves_none_behind() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b text not null)").unwrap();
    let refused = s
        .run("insert into t select g, case when g <> 2500 then repeat('z', 5000) end from generate_series(1, 3000) g")
        .err()
        .unwrap();
    assert_eq!(
        refused.message(),
        "null value in column \"b\" of relation \"t\" violates not-null constraint"
    );
    assert_eq!(refused.report().detail.as_deref(), Some("Failing row contains (2500, null)."));
    assert_eq!(s.query("select count(*) from t"), "0");
    let refused = s.run("create table u as select 1 / (2500 - g) as a from generate_series(1, 3000) g").err();
    assert_eq!(refused.unwrap().message(), "division by zero");
    assert_eq!(s.query("select to_regclass('u') is null"), "t");
}

#[test]
fn rows_that_are_kept_do_not_change_as_the_scan_goes_on() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b text)").unwrap();
    s.run("insert into t select g, repeat(chr(97 + g % 26), 40) from generate_series(1, 500) g").unwrap();
    let whole = "select * from t";
    assert_eq!(s.query(&format!("select count(distinct b) from ({whole} offset 0) x")), "26");
    assert_eq!(
        s.query(&format!("select count(*) from ({whole} offset 0) x join ({whole} offset 0) y using (a, b)")),
        "500"
    );
    assert_eq!(
        s.query(
            "select a, left(b, 3) from t where a < 5 union all select * from (values (0, 'v')) v order by 1"
        ),
        "0|v\n1|bbb\n2|ccc\n3|ddd\n4|eee"
    );
    assert_eq!(
        s.query("select count(*), count(distinct x.b) from (select * from t order by b, a) x"),
        "500|26"
    );
}

#[test]
fn rows_of_partitions_are_stored_together_where_nobody_can_tell() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table p (a int, b text) partition by range (a);
        create table p1 partition of p for values from (0) to (1000);
        create table p2 (b text, a int); alter table p attach partition p2 for values from (1000) to (9000)",
    )
    .unwrap();
    let records = || {
        s.run("select pg_stat_force_next_flush()").unwrap();
        s.query("select wal_records from pg_stat_wal").parse::<i64>().unwrap()
    };
    let before = records();
    s.run("insert into p select g, 'b' || g from generate_series(0, 2999) g").unwrap();
    let written = records() - before;
    assert!(written < 300, "{written} records");
    assert_eq!(
        s.query("select tableoid::regclass, count(*), min(b), sum(a) from p group by 1 order by 1"),
        "p1|1000|b0|499500\np2|2000|b1000|3999000"
    );
    // The first row that has no place, or whose key is there, is the one that is told of.
    let refused = |sql: &str| s.run(sql).err().unwrap().report().detail.clone().unwrap();
    assert_eq!(
        refused("insert into p select g, 'x' from generate_series(8990, 9010) g"),
        "Partition key of the failing row contains (a) = (9000)."
    );
    s.run("truncate p; alter table p add primary key (a)").unwrap();
    assert_eq!(
        refused("insert into p select a, 'x' from (values (2000), (1), (2000), (1)) v (a)"),
        "Key (a)=(2000) already exists."
    );
    assert_eq!(s.query("select count(*) from p"), "0");
}
