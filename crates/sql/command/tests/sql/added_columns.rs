//! Columns with defaults that a table gets when it has rows: no row is written, and every reader sees them.

use crate::support::{Client, Server};

/// A table of ten rows, to which columns were added.
fn grown(server: &Server) -> Client {
    let s = server.connect();
    s.run(
        "create table t (id int primary key, v int); insert into t select i, i from generate_series(1, 10) i",
    )
    .unwrap();
    s.query("create index t_v on t (v)");
    let file = s.query("select pg_relation_filenode('t'), pg_relation_size('t')");
    s.run("alter table t add column n int default 7, add column w text not null default 'word'").unwrap();
    s.run("alter table t add column at timestamptz default now(), add column nothing int default null")
        .unwrap();
    assert_eq!(s.query("select pg_relation_filenode('t'), pg_relation_size('t')"), file);
    s
}

const MISSING: &str = "select attname, attmissingval from pg_attribute where attrelid = 't'::regclass and atthasmissing and attname <> 'at'
     order by attnum";

#[test]
fn rows_have_the_values_of_columns_that_came_later() {
    let mut server = Server::new();
    let s = grown(&server);
    assert_eq!(s.query(MISSING), "n|{7}\nw|{word}");
    assert_eq!(
        s.query("select * from t where id = 3 and at = (select min(at) from t)").split('|').count(),
        6
    );
    assert_eq!(s.query("select count(distinct at), count(nothing), sum(n), max(w) from t"), "1|0|70|word");
    assert_eq!(s.query("select count(*) from t where w = 'word' and n = 7 and w is not null"), "10");
    s.query(
        "insert into t (id, v) values (11, 11), (12, null); insert into t values (13, 13, null, 'other')",
    );
    assert_eq!(s.query("select n, w, count(*) from t group by 1, 2 order by 1, 2"), "7|word|12\n|other|1");
    // What is added afterwards does not change what was there.
    s.run("alter table t alter n set default 8, alter w drop default").unwrap();
    s.query("insert into t (id, w) values (14, 'x')");
    assert_eq!(s.query("select sum(n), count(n) from t"), "92|13");
    s.query("update t set v = -v where id = 1");
    s.query("set enable_seqscan = off");
    assert_eq!(s.query("select n, w from t where v = -1"), "7|word");
    s.query("create index t_w on t (w) where n = 7");
    assert_eq!(s.query("select count(*) from t where w = 'word' and n = 7"), "12");
    assert_eq!(s.query("select (t).w, to_jsonb(t) ->> 'n' from t where id = 5"), "word|7");
    drop(s);
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!(
        s.query("select n, w, count(*) from t group by 1, 2 order by 1, 2"),
        "7|word|12\n8|x|1\n|other|1"
    );
}

#[test]
fn an_older_snapshot_and_a_plan_that_was_kept_see_them() {
    let server = Server::new();
    let (s, old) = (server.connect(), server.connect());
    s.query("create table t (id int); insert into t values (1), (2)");
    s.query("create table x (id int)");
    old.query("prepare p as select * from t order by id");
    assert_eq!(old.query("execute p"), "1\n2");
    old.query("begin isolation level repeatable read");
    old.query("select * from x");
    s.query(
        "insert into t values (3); alter table t add column n int default 5; update t set n = 6 where id = 1",
    );
    assert_eq!(old.query("select id, n from t order by id"), "1|5\n2|5");
    old.query("commit");
    assert_eq!(old.query("select id, n from t order by id"), "1|6\n2|5\n3|5");
    assert_eq!(old.query("execute p"), "ERROR:  cached plan must not change result type");
    s.query("begin; alter table t add column m int default 1; rollback");
    assert_eq!(s.query("select * from t where id = 2"), "2|5");
}

#[test]
fn rows_that_are_written_anew_store_them() {
    let server = Server::new();
    let s = grown(&server);
    let all = s.query("select id, v, n, w from t order by id");
    for rewrite in ["vacuum full t", "cluster t using t_v", "alter table t alter v type int8"] {
        s.run(rewrite).unwrap();
        assert_eq!(s.query(MISSING), "", "{rewrite}");
        assert_eq!(s.query("select id, v, n, w from t order by id"), all, "{rewrite}");
        s.run("alter table t drop n, drop w, add column n int default 7, add column w text not null default 'word'").unwrap();
        assert_eq!(s.query(MISSING), "n|{7}\nw|{word}");
    }
    // A type that is stored alike leaves the rows, and tells its own values.
    s.run("alter table t alter w type varchar").unwrap();
    s.run("alter table t drop n").unwrap();
    assert_eq!(s.query(MISSING), "w|{word}");
    // Large ones go where large values go.
    s.query(
        "create function digits() returns text stable language sql return
         (select string_agg(md5(i::text), '' order by i) from generate_series(1, 90) i)",
    );
    s.run("alter table t add column large text default digits(), add column also text default digits()")
        .unwrap();
    s.run("alter table t add column more text default digits()").unwrap();
    let sums = "select count(*), sum(length(large || also || more)), min(md5(more)) = md5(digits()) from t";
    let seen = s.query(sums);
    assert_eq!(seen, "10|86400|t");
    s.run("vacuum full t").unwrap();
    assert_eq!(s.query(MISSING), "");
    assert_eq!(s.query(sums), seen);
}

#[test]
fn values_that_differ_or_are_checked_are_written() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (id int); insert into t values (1), (2), (3)");
    s.query("create domain odd as int check (value % 2 = 1); create domain whole as int");
    s.run(
        "alter table t add column r float8 default random(), add column i int generated always as identity",
    )
    .unwrap();
    s.run("alter table t add column o odd default 3").unwrap();
    assert_eq!(s.query(MISSING), "");
    assert_eq!(s.query("select count(distinct r), max(i), sum(o) from t"), "3|3|9");
    s.run("alter table t add column a whole default 4, add column b int[] default '{1,2}'").unwrap();
    s.query("create type mood as enum ('sad', 'glad'); create type pair as (a int, b text)");
    s.run("alter table t add column m mood default 'glad', add column p pair default row(1, 'b')").unwrap();
    assert_eq!(s.query(MISSING), "a|{4}\nb|{\"{1,2}\"}\nm|{glad}\np|{\"(1,b)\"}");
    assert_eq!(s.query("select distinct a, b, m, p from t"), "4|{1,2}|glad|(1,b)");
    assert_eq!(
        s.query("alter table t add column n int default 4 check (n > 4)"),
        "ERROR:  check constraint \"t_n_check\" of relation \"t\" is violated by some row"
    );
    s.run("alter table t add column l text default repeat('x', 50000)").unwrap();
    assert_eq!(s.query("select count(*), sum(length(l)), max(substr(l, 49999)) from t"), "3|150000|xx");
    s.run("vacuum full t").unwrap();
    assert_eq!(
        s.query("select count(*), sum(length(l)), max(substr(l, 49999)), max(a) from t"),
        "3|150000|xx|4"
    );
    assert_eq!(s.query("select count(*) from information_schema.columns where column_name = 'n'"), "0");
}

#[test]
fn changed_rows_and_those_of_children_have_them() {
    let server = Server::new();
    let s = grown(&server);
    assert_eq!(
        s.query("update t set n = 0 where id = 1 returning old.n, new.n, old.w, new.w"),
        "7|0|word|word"
    );
    assert_eq!(s.query("delete from t where id = 4 returning n, w"), "7|word");
    s.query("create table kid (extra int) inherits (t); insert into kid (id) values (100)");
    s.run("alter table t add column late bool default true").unwrap();
    assert_eq!(s.query("select late, count(*) from t group by 1"), "t|10");
    assert_eq!(s.query("select count(*) from kid where late"), "1");
}
