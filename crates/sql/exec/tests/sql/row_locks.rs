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
