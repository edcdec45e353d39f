//! Materialized views.

use crate::support::{Client, Server};

const SUMS: &str = "create table t (id int primary key, kind text, amount int);
    insert into t select i, chr(97 + i % 3), i from generate_series(1, 30) i;
    create materialized view m as select kind, sum(amount) as total from t group by kind;
    create unique index m_kind on m (kind)";

fn error(s: &Client, sql: &str) -> String {
    s.run(sql).err().map_or_else(|| format!("{sql}: no error"), |e| format!("{} {}", e.code(), e.message()))
}

#[test]
fn rows_are_those_of_the_last_refresh() {
    let mut server = Server::new();
    let s = server.connect();
    s.run(SUMS).unwrap();
    s.run("insert into t values (31, 'd', 7)").unwrap();
    let before = s.query("select * from m order by 1");
    assert_eq!(before, "a|165\nb|145\nc|155");
    s.run("begin; refresh materialized view m").unwrap();
    assert_eq!(s.query("select total from m where kind = 'd'"), "7");
    s.run("rollback").unwrap();
    assert_eq!(s.query("select * from m order by 1"), before);
    assert_eq!(s.run("refresh materialized view m").unwrap().tags, ["REFRESH MATERIALIZED VIEW"]);
    drop(s);
    server.crash_and_restart();
    let s = server.connect();
    s.run("set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select total from m where kind = 'd'"), "7");
    assert_eq!(s.query("select count(*) from m"), "4");
}

#[test]
fn concurrent_refreshes_write_only_what_changed() {
    let server = Server::new();
    let (s, reader) = (server.connect(), server.connect());
    s.run(SUMS).unwrap();
    let places = "select kind, ctid from m where kind <> 'b' order by 1";
    let before = s.query(places);
    s.run(
        "update t set amount = amount + 1 where kind = 'b'; begin; refresh materialized view concurrently m",
    )
    .unwrap();
    assert_eq!(reader.query("select total from m where kind = 'b'"), "145");
    s.run("commit").unwrap();
    assert_eq!(reader.query("select total from m where kind = 'b'"), "155");
    assert_eq!(s.query(places), before);
    s.run("create materialized view n as select id % 3 as a, null::int as b from t where id < 4").unwrap();
    let hint = s.run("refresh materialized view concurrently n").err().unwrap();
    assert_eq!(hint.message(), "cannot refresh materialized view \"public.n\" concurrently");
    s.run("create unique index on n (a)").unwrap();
    s.run("refresh materialized view concurrently n").unwrap();
    assert_eq!(s.query("select * from n order by 1"), "0|\n1|\n2|");
    s.run("create table twice (a int, b int); insert into twice values (1, 2)").unwrap();
    s.run("create materialized view d as table twice; create unique index on d (a)").unwrap();
    s.run("insert into twice values (1, 2)").unwrap();
    let twice = s.run("refresh materialized view concurrently d").err().unwrap();
    assert_eq!(
        (twice.message(), twice.report().detail.as_deref()),
        (
            "new data for materialized view \"d\" contains duplicate rows without any null columns",
            Some("Row: (1,2)")
        )
    );
    assert_eq!(s.query("select count(*) from pg_class where relpersistence = 't'"), "0");
}

#[test]
fn nobody_reads_or_writes_what_is_not_there_to_be() {
    let server = Server::new();
    let s = server.connect();
    s.run(SUMS).unwrap();
    s.run("refresh materialized view m with no data").unwrap();
    let empty = "55000 materialized view \"m\" has not been populated";
    assert_eq!(error(&s, "select * from m"), empty);
    assert_eq!(s.query("explain (costs off) select * from m"), "Seq Scan on m");
    assert_eq!(s.query("select ispopulated, hasindexes from pg_matviews"), "f|t");
    s.run("create materialized view n as select * from m with no data").unwrap();
    assert_eq!(error(&s, "refresh materialized view n"), empty);
    s.run("prepare p as select count(*) from m; refresh materialized view m").unwrap();
    assert_eq!(s.query("execute p"), "3");
    s.run("refresh materialized view m with no data").unwrap();
    assert_eq!(error(&s, "execute p"), empty);
    for (verb, sql) in [
        ("change materialized view \"m\"", "insert into m values ('x', 1)"),
        ("change materialized view \"m\"", "delete from m"),
        ("lock rows in materialized view \"m\"", "select * from m for update"),
    ] {
        assert_eq!(error(&s, sql), format!("42809 cannot {verb}"));
    }
}

#[test]
fn the_query_runs_as_the_owner_and_leaves_nothing_behind() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create role keeper; create table secret as select 1 as a; grant create on schema public to keeper",
    )
    .unwrap();
    s.run("set role keeper; create materialized view m as select * from secret with no data; reset role")
        .unwrap();
    assert_eq!(error(&s, "refresh materialized view m"), "42501 permission denied for table secret");
    s.run("grant select on secret to keeper; refresh materialized view m").unwrap();
    assert_eq!(s.query("select a from m"), "1");
    s.run("create function f() returns int language sql as 'set work_mem = ''1MB''; select 1'").unwrap();
    s.run("create materialized view w as select f()").unwrap();
    assert_eq!(s.query("show work_mem"), "4MB");
    s.run("drop materialized view w, m; drop table secret").unwrap();
}
