//! Tables and indexes in new files: VACUUM FULL, CLUSTER, REINDEX.

use crate::support::{Client, Server};

fn filled(server: &Server) -> Client {
    let s = server.connect();
    s.query("create table t (id int primary key, gone text, v int, large text)");
    s.query("create index t_v on t (v)");
    s.query("create index t_e on t (abs(v)) where id > 10");
    s.query(
        "insert into t select i, repeat('x', 100), 1000 - i, case when i % 100 = 0 then
         (select string_agg(md5((i * j)::text), '') from generate_series(1, 400) j) end
         from generate_series(1, 1000) i",
    );
    s.query("alter table t drop column gone");
    s.query("delete from t where id % 10 <> 0");
    s
}

const SUMS: &str = "select count(*), sum(id), sum(v), sum(length(large)) from t";
const SIZES: &str = "select pg_relation_size('t'), pg_relation_size('t_pkey')";

#[test]
fn vacuum_full_gives_room_back_and_keeps_the_rows() {
    let mut server = Server::new();
    let s = filled(&server);
    let sums = s.query(SUMS);
    assert_eq!(s.query("select pg_relation_size('t') > 100000"), "t");
    s.run("vacuum full t").unwrap();
    assert_eq!(s.query(SIZES), "8192|16384");
    assert_eq!(s.query(SUMS), sums);
    assert_eq!(s.query("select relpages, reltuples from pg_class where relname = 't'"), "1|100");
    s.query("set enable_seqscan = off");
    assert_eq!(s.query("select id from t where v = 500"), "500");
    assert_eq!(s.query("select id from t where abs(v) = 500 and id > 10"), "500");
    s.query("update t set v = -1 where id = 20");
    assert_eq!(s.query("begin; vacuum full t"), "ERROR:  VACUUM cannot run inside a transaction block");
    s.query("rollback");
    drop(s);
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!(s.query("select count(*), min(v) from t"), "100|-1");
    assert_eq!(s.query("select id from t where v = -1"), "20");
}

#[test]
fn a_new_index_has_rows_whose_update_was_rolled_back() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table u (id int, v int); begin; insert into u values (1, 1); savepoint a").unwrap();
    s.run("update u set v = 2; rollback to a; create index u_id on u (id); commit; set enable_seqscan = off")
        .unwrap();
    assert_eq!(s.query("select v from u where id = 1"), "1");
}

#[test]
fn an_older_snapshot_sees_the_table_as_it_was() {
    let server = Server::new();
    let (s, old) = (filled(&server), server.connect());
    old.query("begin isolation level repeatable read");
    assert_eq!(old.query("select 1"), "1");
    s.query(
        "update t set v = 7 where id = 10; update t set v = 8 where id = 10; delete from t where id = 20",
    );
    for sql in ["vacuum full t", "cluster t using t_v", "reindex table t"] {
        s.run(sql).unwrap();
        assert_eq!(s.query("select count(*) from t where v in (990, 980)"), "0", "{sql}");
    }
    assert_eq!(old.query("select id, v from t where id in (10, 20) order by id"), "10|990\n20|980");
    assert_eq!(
        old.query("update t set v = 0 where id = 10"),
        "ERROR:  could not serialize access due to concurrent update"
    );
    old.query("rollback");
    assert_eq!(s.query("select v from t where id = 10"), "8");
}

#[test]
fn cluster_sorts_and_remembers_by_what() {
    let server = Server::new();
    let s = filled(&server);
    assert_eq!(s.query("cluster t"), "ERROR:  there is no previously clustered index for table \"t\"");
    assert_eq!(s.query("cluster t using t_e"), "ERROR:  cannot cluster on partial index \"t_e\"");
    s.run("cluster t using t_v").unwrap();
    assert_eq!(s.query("select ctid, id from t limit 2"), "(0,1)|1000\n(0,2)|990");
    s.run("update t set v = v + 5000 where id = 1000").unwrap();
    s.run("cluster").unwrap();
    assert_eq!(s.query("select id from t limit 1"), "990");
    assert_eq!(s.query("select indexrelid::regclass from pg_index where indisclustered"), "t_v");
    s.run("alter table t cluster on t_pkey; cluster t").unwrap();
    assert_eq!(s.query("select id from t limit 1"), "10");
    s.run("alter table t set without cluster").unwrap();
    assert_eq!(s.query("cluster t"), "ERROR:  there is no previously clustered index for table \"t\"");
}

#[test]
fn a_rolled_back_rewrite_leaves_everything() {
    let server = Server::new();
    let s = filled(&server);
    let (sums, sizes) = (s.query(SUMS), s.query(SIZES));
    s.query("begin; update t set v = 7 where id = 10; savepoint a; delete from t where id = 20");
    s.run("cluster t using t_v; reindex table t").unwrap();
    assert_eq!(s.query("select count(*) from t where id in (10, 20)"), "1");
    assert_eq!(s.query("select id from t where v = 7"), "10");
    s.query("rollback to a");
    assert_eq!(s.query("select count(*) from t where id in (10, 20)"), "2");
    s.query("rollback");
    assert_eq!((s.query(SUMS), s.query(SIZES)), (sums, sizes));
}

#[test]
fn partitions_are_rewritten_one_by_one() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table p (a int, b int) partition by range (a)");
    s.query("create table p1 partition of p for values from (0) to (100)");
    s.query("create table p2 partition of p for values from (100) to (200) partition by range (b)");
    s.query("create table p2a partition of p2 for values from (0) to (1000)");
    s.query("create index p_b on p (b); insert into p select i, 200 - i from generate_series(0, 199) i");
    s.run("cluster p using p_b").unwrap();
    assert_eq!(s.query("(select a from p1 limit 1) union all (select a from p2a limit 1)"), "99\n199");
    for sql in ["vacuum full p", "reindex table p", "reindex index p_b", "reindex schema public"] {
        s.run(sql).unwrap();
        assert_eq!(s.query("set enable_seqscan = off; select a from p where b = 50"), "150");
        let refused = s.query(&format!("begin; {sql}"));
        assert!(refused.contains("cannot run inside a transaction block"), "{refused}");
        s.query("rollback");
    }
}
