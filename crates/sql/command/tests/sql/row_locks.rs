//! SELECT … FOR UPDATE and its weaker forms: which rows are locked when, however many lie on one page.

use crate::support::{Client, Server};

const FREE: &str =
    "select string_agg(id::text, ' ' order by id) from (select id from t for update skip locked) s";

fn with_rows(server: &Server, count: u32) -> (Client, Client) {
    let (s, other) = (server.connect(), server.connect());
    s.query("create table t (id int primary key, v int default 0)");
    s.query(&format!("insert into t select generate_series(1, {count})"));
    (s, other)
}

#[test]
fn who_may_stop_early_locks_only_what_is_returned() {
    let server = Server::new();
    let (s, other) = with_rows(&server, 6);
    for (sql, free) in [
        ("select id from t order by id limit 2 for update", "3 4 5 6"),
        ("select * from (select id from t for update) x limit 2", "3 4 5 6"),
        ("select id from t order by id for update offset 1 limit 1", "3 4 5 6"),
        ("select exists (select from t for update)", "2 3 4 5 6"),
        ("with c as (select id from t for update) select id from c limit 1", "2 3 4 5 6"),
        ("declare c cursor for select id from t for update; fetch 3 from c", "4 5 6"),
        ("declare c cursor for select id from t for update; fetch 1 from c; fetch all from c", ""),
        ("select id from t where id < 5 for share", "5 6"),
        ("select sum(id) from (select id from t where id > 2 for key share) x", "1 2"),
        ("select array(select id from t order by id limit 3 for update)", "4 5 6"),
    ] {
        s.query("begin");
        s.run(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        assert_eq!(other.query(FREE), free, "{sql}");
        s.query("rollback");
    }
}

#[test]
fn rows_that_others_hold_are_passed_over_or_an_error() {
    let server = Server::new();
    let (s, other) = with_rows(&server, 8);
    other.query("begin; select from t where id in (3, 6) for no key update");
    let skipping = "from (select id from t for update skip locked) x";
    assert_eq!(s.query(&format!("select count(*), sum(id) {skipping}")), "6|27");
    assert_eq!(s.query("select count(*) from (select from t for key share nowait) x"), "8");
    let error = "ERROR:  could not obtain lock on row in relation \"t\"";
    assert_eq!(s.query("begin; select count(*) from (select from t for share nowait) x"), error);
    s.query("rollback");
    other.query("update t set v = 1 where id = 3; delete from t where id = 6; update t set id = 9 where id = 8; commit");
    assert_eq!(s.query("select count(*), sum(id) from (select id from t for update) x"), "7|31");
}

/// An index scan that finds rows of one page locks them there, whether their values are wanted or not, and up to the first that somebody holds.
#[test]
fn an_index_scan_locks_what_it_finds() {
    let server = Server::new();
    let (s, other) = with_rows(&server, 300);
    s.query("set enable_seqscan = off; set enable_bitmapscan = off");
    let some = "id = any(array(select unnest('{3, 5, 7,9,250,777,3}'::int[])))";
    let of = |what: &str, rows: &str, how: &str| {
        format!("select {what} from (select * from t where {rows} {how}) x")
    };
    let free =
        "select count(*), sum(id) from (select id from t where id < 11 or id > 248 for update skip locked) x";
    let plan = s.query(&format!("explain (costs off) {}", of("count(*)", some, "for share")));
    assert!(plan.contains("LockRows") && plan.contains("Index Scan using t_pkey"), "{plan}");
    for what in ["count(*)", "count(*), count(v)", "count(*), sum(v)"] {
        s.query("begin");
        assert_eq!(&s.query(&of(what, some, "for share"))[..1], "5", "{what}");
        // Again, and as part of more.
        assert_eq!(&s.query(&of(what, some, "for share"))[..1], "5", "{what}");
        assert_eq!(&s.query(&of(what, "id between 3 and 8", "for share"))[..1], "6", "{what}");
        assert_eq!(other.query(free), "54|14037", "{what}");
        s.query("rollback");
        s.query("begin");
        other.query("begin; select from t where id in (5, 7, 8) for no key update");
        assert_eq!(&s.query(&of(what, some, "for share skip locked"))[..1], "3", "{what}");
        assert_eq!(
            other.query("select count(*) from t where id in (3, 9, 250) and xmax::text <> '0'"),
            "3",
            "{what}"
        );
        assert_eq!(
            s.query(&of(what, some, "for share nowait")),
            "ERROR:  could not obtain lock on row in relation \"t\""
        );
        s.query("rollback");
        other.query("rollback");
    }
    // A row that was changed since is looked at again, and one that is gone is none.
    other.query("begin; update t set v = 5 where id = 7; delete from t where id = 9; commit");
    assert_eq!(s.query(&of("count(*), sum(v)", some, "for update")), "4|5");
    // Who finds nothing gets no xid.
    s.query("begin");
    assert_eq!(s.query(&of("count(*)", "id = any('{777, 778}')", "for update")), "0");
    assert_eq!(s.query("select pg_current_xact_id_if_assigned() is null"), "t");
    s.query("commit");
    let analyzed = s.query(&format!(
        "explain (analyze, costs off, timing off, buffers off, summary off) {}",
        of("count(*)", some, "for update")
    ));
    assert!(analyzed.contains("Index Scan using t_pkey on t (actual rows=4.00 loops=1)"), "{analyzed}");
    assert!(analyzed.contains("ProjectSet (actual rows=7.00 loops=1)"), "{analyzed}");
}

/// What a function does between two rows decides whether the second is one of the result: as in PostgreSQL 18.
#[test]
fn functions_with_effects_come_between_two_locks() {
    let server = Server::new();
    let (s, _) = with_rows(&server, 4);
    s.query(
        "create function touch(i int) returns int language sql as \
         'update t set v = v + 1 where id = i + 1 returning id'",
    );
    for (sql, expected) in [
        ("select id, v, touch(id) from t where id < 4 for update", "1|0|2"),
        ("select id, v, touch(id) from (select id, v from t where id < 4 for update) x", "1|0|2\n3|0|4"),
        ("select sum(touch(id)), count(*) from (select id from t where id < 4 for update) x", "6|2"),
        ("select count(*) from (select touch(id) k from t where id < 4 for update) x where k > 0", "1"),
    ] {
        s.query("begin");
        assert_eq!(s.query(sql), expected, "{sql}");
        s.query("rollback");
    }
}

#[test]
fn many_share_rows_of_many_pages_and_a_crash_frees_them() {
    let mut server = Server::new();
    let (s, other) = with_rows(&server, 2000);
    let third = server.connect();
    let count = |c: &Client, sql: &str| c.query(&format!("select count(*) from (select from t {sql}) x"));
    for client in [&s, &other, &third] {
        client.query("begin");
        for _ in 0..2 {
            assert_eq!(count(client, "where id % 2 = 0 for share"), "1000");
            assert_eq!(count(client, "where id % 3 = 0 for key share"), "666");
        }
    }
    s.query("savepoint a");
    assert_eq!(count(&s, "for key share"), "2000");
    s.query("rollback to a");
    let sharers = "select count(distinct m.xid::text) from t, pg_get_multixact_members(xmax) m where id = ";
    assert_eq!(other.query(&format!("{sharers} 6")), "3");
    let modes =
        "select string_agg(distinct m.mode, ' ') from t, pg_get_multixact_members(xmax) m where id = ";
    assert_eq!(other.query(&format!("{modes} 6")), "sh");
    assert_eq!(other.query(&format!("{modes} 3")), "keysh");
    assert_eq!(count(&s, "where id % 6 in (1, 5) for update skip locked"), "667");
    assert_eq!(count(&s, "where id % 6 in (2, 4) for update skip locked"), "0");
    drop((s, other, third));
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!(count(&s, "for update nowait"), "2000");
    s.query("vacuum (freeze) t");
    assert_eq!(count(&s, "where xmax <> 0"), "0");
}
