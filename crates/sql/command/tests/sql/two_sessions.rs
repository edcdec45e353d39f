//! Two sessions and one row: row locks beneath savepoints, and ON CONFLICT with rows of others.

use crate::support::{Client, Server};

fn script(s: &Client, steps: &[(&str, &str)]) {
    for (sql, expected) in steps {
        assert_eq!(s.query(sql), *expected, "{sql}");
    }
}

const BUSY: &str = "ERROR:  could not obtain lock on row in relation \"t\"";
const TAKE: &str = "select id from t where id = 1 for update nowait";

#[test]
fn a_lock_outlives_the_savepoint_that_changed_its_row() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.query("create table t (id int primary key, v text) with (fillfactor = 50)");
    s.query("insert into t values (1, 'first'), (2, '')");
    let changes = [
        "update t set v = 'again' where id = 1",
        "update t set id = 3 where id = 1",
        "delete from t where id = 1",
        "select id from t where id = 1 for update",
        "savepoint b; update t set v = 'b' where id = 1; release b",
        "savepoint b; delete from t where id = 1; rollback to b; savepoint c; delete from t where id = 1",
    ];
    for change in changes {
        s.query("begin");
        assert_eq!(s.query("select v from t where id = 1 for no key update"), "first");
        s.query("savepoint a");
        s.query(change);
        s.query("rollback to a");
        assert_eq!(other.query(TAKE), BUSY, "{change}");
        assert_eq!(other.query("select v from t where id = 1"), "first");
        // Neither a look nor a VACUUM takes the lock away.
        other.query("vacuum t");
        assert_eq!(other.query(TAKE), BUSY, "{change}");
        assert_eq!(s.query("select v from t where id = 1 for update"), "first");
        assert_eq!(other.query(TAKE), BUSY, "{change}");
        s.query("commit");
        assert_eq!(other.query(TAKE), "1", "{change}");
    }
    script(
        &s,
        &[
            ("begin; select v from t where id = 1 for update", "first"),
            ("savepoint a; update t set v = 'x' where id = 1", ""),
            ("rollback to a", ""),
            ("update t set v = v || '!' where id = 1 returning v", "first!"),
            ("commit", ""),
        ],
    );
    assert_eq!(other.query("update t set v = v || '?' where id = 1 returning v"), "first!?");
}

#[test]
fn a_lock_of_a_savepoint_goes_with_it() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.query("create table t (id int primary key)");
    s.query("insert into t values (1)");
    s.query("begin; savepoint a");
    s.query(TAKE);
    assert_eq!(other.query(TAKE), BUSY);
    s.query("rollback to a");
    assert_eq!(other.query(TAKE), "1");
    s.query("savepoint b; savepoint c; select 1 from t for update; release c; delete from t");
    assert_eq!(other.query(TAKE), BUSY);
    s.query("rollback to b");
    assert_eq!(other.query(TAKE), "1");
}

#[test]
fn on_conflict_sees_what_its_snapshot_sees() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.query("create table t (id int primary key, v text)");
    let update = "insert into t values (1, 'mine') on conflict (id) do update set v = excluded.v || t.v";
    let nothing = "insert into t values (1, 'mine') on conflict do nothing";
    let concurrent = "ERROR:  could not serialize access due to concurrent update";
    for sql in [update, nothing] {
        s.query("begin isolation level repeatable read; select 1");
        other.query("insert into t values (1, 'theirs')");
        assert_eq!(s.query("select count(*) from t"), "0");
        assert_eq!(s.query(sql), concurrent);
        s.query("rollback");
        other.query("delete from t");
    }
    script(
        &s,
        &[
            ("begin isolation level repeatable read", ""),
            ("insert into t values (1, 'own')", ""),
            (nothing, ""),
            (update, ""),
            ("insert into t values (1, ''), (1, '') on conflict do nothing", ""),
            ("select v from t", "mineown"),
            ("commit", ""),
        ],
    );
}

#[test]
fn what_was_deleted_is_told_apart_by_who_changes_it() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.run(
        "create table p (id int primary key, v int); insert into p select g, 0 from generate_series(1, 6) g",
    )
    .unwrap();
    s.run("create table c (id int references p)").unwrap();
    let concurrent = |what: &str| format!("ERROR:  could not serialize access due to concurrent {what}");
    for (id, sql, what) in [
        (1, "insert into c values (1)", "update"),
        (2, "select from p where id = 2 for key share", "update"),
        (3, "update p set v = 1 where id = 3", "delete"),
        (4, "delete from p where id = 4", "delete"),
        (5, "insert into p values (5, 1) on conflict (id) do update set v = 2", "delete"),
    ] {
        s.query("begin isolation level repeatable read; select from p");
        other.run(&format!("begin; delete from p where id = {id}")).unwrap();
        other.run("commit").unwrap();
        let answer = s.query(sql);
        s.query("rollback");
        // A key that is gone for good is in nobody's way.
        let expected = if id == 5 { String::new() } else { concurrent(what) };
        assert_eq!(answer, expected, "{sql}");
    }
}

#[test]
fn actions_of_foreign_keys_change_rows_of_the_snapshot_only() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    let failure = "ERROR:  could not serialize access due to concurrent update";
    for (action, sql) in [
        ("on delete cascade", "delete from p where id = 1"),
        ("on delete set null", "delete from p where id = 1"),
        ("on update cascade", "update p set id = 2 where id = 1"),
    ] {
        s.run("drop table if exists c, p; create table p (id int primary key); insert into p values (1)")
            .unwrap();
        s.run(&format!("create table c (id int references p {action}, v int); insert into c values (1, 0)"))
            .unwrap();
        for (meanwhile, expected) in [
            ("update c set v = 1", failure),
            ("insert into c values (1, 1)", failure),
            ("insert into c values (null, 1)", ""),
        ] {
            s.query("begin isolation level repeatable read; select from p; update p set id = id");
            other.run(meanwhile).unwrap();
            assert_eq!(s.query(sql), expected, "{action}: {meanwhile}");
            s.query("rollback");
        }
        s.query("begin isolation level repeatable read; insert into c values (1, 2)");
        assert_eq!(s.query(sql), "", "{action}: its own row");
        s.query("rollback");
    }
}

#[test]
fn on_conflict_changes_a_row_once() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (id int primary key, v text)");
    let twice = "ERROR:  ON CONFLICT DO UPDATE command cannot affect row a second time";
    let two = "insert into t values (1, 'a'), (1, 'b') on conflict (id) do update set v = excluded.v";
    assert_eq!(s.query(two), twice);
    assert_eq!(s.query("select count(*) from t"), "0");
    s.query("insert into t values (1, repeat('long ', 5000))");
    assert_eq!(s.query(two), twice);
    // Large values are whole for the expressions.
    let longer = "insert into t values (1, '!') on conflict (id) do update set v = t.v || excluded.v";
    assert_eq!(s.query(&format!("{longer} returning length(v)")), "25001");
}

#[test]
fn what_cascade_drops_is_nobody_elses() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.query("create schema a; create table a.t (id int primary key, v text)");
    s.query("set lock_timeout = '20ms'");
    other.query("begin; insert into a.t values (1, 'x')");
    assert_eq!(s.query("drop schema a cascade"), "ERROR:  canceling statement due to lock timeout");
    other.query("insert into a.t select g, repeat('y', 1000) from generate_series(2, 100) g; commit");
    assert_eq!(s.query("select count(*) from a.t"), "100");
    assert_eq!(s.query("drop schema a cascade; select count(*) from pg_class where relname = 't'"), "0");
}

#[test]
fn alter_table_takes_no_stronger_lock_than_its_actions_need() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (a int); create table p (a int) partition by list (a); create table d partition of p default");
    s.query("create table one (a int); create index i on t (a); create table keys (a int primary key)");
    let cases = [
        ("t set (fillfactor = 50)", "t", "ShareUpdateExclusiveLock"),
        ("t alter a set statistics 10", "t", "ShareUpdateExclusiveLock"),
        ("t set (fillfactor = 50), alter a set default 1", "t", "AccessExclusiveLock"),
        ("t set (user_catalog_table = false)", "t", "AccessExclusiveLock"),
        ("t add foreign key (a) references keys", "t", "ShareRowExclusiveLock"),
        ("t add foreign key (a) references keys not valid", "keys", "ShareRowExclusiveLock"),
        ("t add foreign key (a) references keys, add check (a > 0)", "t", "AccessExclusiveLock"),
        ("p attach partition one for values in (1)", "p", "ShareUpdateExclusiveLock"),
        ("p attach partition one for values in (1)", "one", "AccessExclusiveLock"),
        ("p attach partition one for values in (1)", "d", "AccessExclusiveLock"),
    ];
    for (change, relation, mode) in cases {
        s.query(&format!("begin; alter table {change}"));
        let locks = "select mode from pg_locks where mode ~ 'Exclusive' and relation =";
        assert_eq!(s.query(&format!("{locks} '{relation}'::regclass")), mode, "{change}");
        s.query("rollback");
    }
}

#[test]
fn temporary_children_of_others_are_left_alone() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.query("create table parent (a int); insert into parent values (1)");
    s.query("create temp table own () inherits (parent); insert into own values (2)");
    other.query("create temp table strange () inherits (parent); insert into strange values (3)");
    s.query("begin; truncate parent");
    other.query("set lock_timeout = '20ms'");
    assert_eq!(other.query("select a from strange"), "3", "its lock is nobody's");
    s.query("commit");
    assert_eq!(s.query("select count(*) from parent"), "0");
    assert_eq!(other.query("select a from parent"), "3");
}

#[test]
fn vacuum_waits_for_nobody_where_it_may_not_go_and_skips_partitions_silently() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.query("create table t (a int); create role r; create table p (a int) partition by list (a)");
    s.query("create table p1 partition of p for values in (1)");
    s.query("begin; lock t in share update exclusive mode; lock p1");
    other.query("set lock_timeout = '20ms'; set role r");
    for command in ["vacuum", "analyze"] {
        let told = other.run(&format!("{command} t")).unwrap().notices;
        assert_eq!(told, [format!("permission denied to {command} \"t\", skipping it")]);
    }
    other.query("reset role");
    assert_eq!(other.query("vacuum t"), "ERROR:  canceling statement due to lock timeout");
    assert_eq!(other.run("vacuum (skip_locked) p").unwrap().notices, [""; 0]);
    let told = other.run("vacuum (skip_locked) p1").unwrap().notices;
    assert_eq!(told, ["skipping vacuum of \"p1\" --- lock not available"]);
}
