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

/// What may keep rows from being copied as another table stores them: the rows are the same.
#[test]
fn rows_are_copied_whole_only_where_the_table_would_store_them_so() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table t (gone int, a int, b text, c numeric);
        insert into t select 0, g, case when g % 3 > 0 then 'b' || g end, g / 4.0 from generate_series(1, 1000) g;
        alter table t drop gone;
        create table later (a int, b text); insert into later select g, 'b' || g from generate_series(1, 500) g;
        alter table later add c numeric default 2.5;
        insert into later select g, 'b' || g, g from generate_series(501, 1000) g;
        create table plain (a int, b text, c numeric); insert into plain select * from t;
        update plain set b = b || '!' where a % 7 = 0; delete from plain where a % 11 = 0;
        create domain positive as int check (value > 0);
        create table computed (a int, b text, c numeric generated always as (a * 2) virtual);
        insert into computed select a, b from t",
    )
    .unwrap();
    for source in ["t", "later", "plain", "computed", "plain where a % 2 = 0", "plain where b like '%!'"] {
        for target in [
            "create table u as select * from {}",
            "create table u (a int, b text, c numeric); insert into u select * from {}",
            "create table u (a bigint, b text, c numeric); insert into u select * from {}",
            "create table u (a positive, b varchar(100), c numeric); insert into u select * from {}",
            "create table u (x int, a int, b text, c numeric); alter table u drop x; insert into u select * from {}",
            "create table u (a int not null, b text, c numeric); insert into u select * from {}",
            "create table u (like plain); alter table u add unique (a); insert into u select * from {}",
            "create table u (like plain) partition by list (a); create table v partition of u default;
                insert into u select * from {}",
            "create table u (like plain); begin; insert into u select * from {}; commit",
            "create table u as select * from plain limit 0; insert into u select * from {}",
        ] {
            s.run(&target.replace("{}", source)).unwrap();
            let differing = format!(
                "with s as (select * from {source}) select (select count(*) from u) - (select count(*) from s), \
                    (select count(*) from (select * from s except all select * from u) x)"
            );
            assert_eq!(s.query(&differing), "0|0", "{target} of {source}");
            s.run("drop table u").unwrap();
        }
    }
    assert_eq!(s.query("select pg_typeof(c), count(*) from plain group by 1"), "numeric|910");
    // The first row that must not be there is told of, and nothing is left.
    s.run("create table u (a int, b text not null, c numeric)").unwrap();
    let refused = s.run("insert into u select * from plain where a > 1").err().unwrap();
    assert_eq!(
        refused.message(),
        "null value in column \"b\" of relation \"u\" violates not-null constraint"
    );
    assert_eq!(
        refused.report().detail.as_deref(),
        Some("Failing row contains (3, null, 0.75000000000000000000).")
    );
    assert_eq!(s.query("select count(*) from u"), "0");
}

#[test]
fn a_table_that_is_copied_to_itself_is_doubled() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b text); insert into t select g, 'b' || g from generate_series(1, 2000) g")
        .unwrap();
    for count in ["4000", "8000"] {
        s.run("insert into t select * from t").unwrap();
        assert_eq!(s.query("select count(*) from t"), count);
    }
    assert_eq!(s.query("select count(distinct (a, b)), min(b), sum(a) from t"), "2000|b1|8004000");
}

#[test]
fn rows_of_a_delete_go_a_page_at_a_time() {
    let mut server = Server::new();
    {
        let s = server.connect();
        s.run(
            "create table t (a int, b text); insert into t select g, 'b' || g from generate_series(1, 3000) g;
            create table u as select * from t; create table w as select * from t; alter table w add primary key (a)",
        )
        .unwrap();
        s.run("checkpoint; update t set b = b where a % 50 = 0").unwrap();
        let records = || {
            s.run("select pg_stat_force_next_flush()").unwrap();
            s.query("select wal_records from pg_stat_wal").parse::<i64>().unwrap()
        };
        let before = records();
        assert_eq!(s.run("delete from t where a % 3 = 0").unwrap().tags, ["DELETE 1000"]);
        let written = records() - before;
        assert!(written < 120, "{written} records");
        assert_eq!(s.query("select count(*), sum(a) from t"), "2000|3000000");
        // Rows that the statement finds twice, or in the order of an index.
        assert_eq!(
            s.run("delete from u using (values (1), (2), (1)) v (n) where a % 3 = n").unwrap().tags,
            ["DELETE 2000"]
        );
        assert_eq!(s.run("delete from w where a in (5, 9, 7) or a > 2990").unwrap().tags, ["DELETE 13"]);
        // An error in finding a row undoes it all, one that is not come to is none.
        let refused = s.run("delete from t where 1 / (a - 2500) >= 0 and a > 10").err().unwrap();
        assert_eq!(refused.message(), "division by zero");
        assert_eq!(
            s.run("delete from t where a > 2600 and 1 / (a - 2500) >= 0").unwrap().tags,
            ["DELETE 266"]
        );
        // Of a transaction's own rows each goes once.
        s.run("begin; insert into t select g, 'own' from generate_series(3001, 3500) g").unwrap();
        assert_eq!(s.run("delete from t where a > 3100").unwrap().tags, ["DELETE 400"]);
        assert_eq!(s.run("delete from t where a > 3050").unwrap().tags, ["DELETE 50"]);
        s.run("savepoint a; delete from t; rollback to a; delete from t where a > 3040; commit").unwrap();
        assert_eq!(s.query("select count(*), max(a) from t"), "1774|3040");
        s.run("begin; delete from t").unwrap();
    }
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!(s.query("select count(*), max(a), count(distinct a) from t"), "1774|3040|1774");
    assert_eq!(s.query("select count(*), sum(a % 3) from u"), "1000|0");
    assert_eq!(s.query("select count(*) from w where a in (5, 9, 7) or a > 2990"), "0");
    assert_eq!(s.run("delete from t").unwrap().tags, ["DELETE 1774"]);
    s.run("vacuum t").unwrap();
    assert_eq!(s.query("select pg_relation_size('t')"), "0");
}

#[test]
fn rows_of_a_delete_go_one_by_one_where_somebody_wants_to_know() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table t (a int primary key, b text); insert into t select g, 'b' || g from generate_series(1, 300) g;
        create table refers (a int references t on delete cascade); insert into refers select g from generate_series(1, 300, 2) g;
        create function there() returns bigint language sql volatile as 'select count(*) from t'",
    )
    .unwrap();
    assert_eq!(s.run("delete from t where a <= 100").unwrap().tags, ["DELETE 100"]);
    assert_eq!(s.query("select count(*) from refers"), "100");
    // A function that looks sees the rows before gone.
    assert_eq!(s.run("delete from t where a <= 150 and there() > 170").unwrap().tags, ["DELETE 30"]);
    assert_eq!(s.query("select min(a) from t"), "131");
    assert_eq!(
        s.query("with d as (delete from t where a <= 200 returning a) select count(*), sum(a) from d"),
        "70|11585"
    );
    s.run("begin isolation level serializable").unwrap();
    assert_eq!(s.run("delete from t where a <= 250").unwrap().tags, ["DELETE 50"]);
    s.run("commit; begin isolation level repeatable read").unwrap();
    assert_eq!(s.run("delete from t").unwrap().tags, ["DELETE 50"]);
    s.run("rollback").unwrap();
    assert_eq!(s.query("select count(*) from t"), "50");
}
