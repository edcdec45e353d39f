//! Transaction modes, exported snapshots, and what READ ONLY refuses.

use crate::support::{Client, Server};

/// Runs one statement after the other; every answer is one of `expected`.
fn script(s: &Client, steps: &[(&str, &str)]) {
    for (sql, expected) in steps {
        assert_eq!(s.query(sql), *expected, "{sql}");
    }
}

#[test]
fn modes_are_settled_by_the_first_query() {
    let server = Server::new();
    let s = server.connect();
    let late = "ERROR:  SET TRANSACTION ISOLATION LEVEL must be called before any query";
    script(
        &s,
        &[
            ("begin", ""),
            ("show work_mem", "4MB"),
            ("set transaction isolation level repeatable read", ""),
            ("show transaction_isolation", "repeatable read"),
            ("select 1", "1"),
            ("set transaction isolation level repeatable read", ""),
            ("set transaction isolation level read committed", late),
            ("rollback", ""),
            ("begin", ""),
            ("create table t (a int)", ""),
            ("set transaction_isolation = 'repeatable read'", late),
            ("rollback", ""),
            ("show transaction_isolation", "read committed"),
            ("begin read only; select 1", "1"),
            (
                "set transaction read write",
                "ERROR:  transaction read-write mode must be set before any query",
            ),
            ("rollback", ""),
            ("begin; select 1", "1"),
            (
                "set transaction deferrable",
                "ERROR:  SET TRANSACTION [NOT] DEFERRABLE must be called before any query",
            ),
            ("rollback", ""),
            ("reset transaction_isolation", "ERROR:  parameter \"transaction_isolation\" cannot be reset"),
        ],
    );
}

#[test]
fn read_only_ends_with_the_savepoint_that_chose_it() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (a int)");
    let refused = "ERROR:  cannot execute INSERT in a read-only transaction";
    script(
        &s,
        &[
            ("begin; savepoint a", ""),
            ("set transaction read only", ""),
            ("insert into t values (1)", refused),
            ("rollback to a", ""),
            ("show transaction_read_only", "off"),
            ("insert into t values (1)", ""),
            ("set transaction read only", ""),
            ("release a", ""),
            ("show transaction_read_only", "off"),
            ("insert into t values (2)", ""),
            ("set transaction read only", ""),
            ("savepoint b", ""),
            (
                "set transaction read write",
                "ERROR:  cannot set transaction read-write mode inside a read-only transaction",
            ),
            ("rollback", ""),
        ],
    );
}

#[test]
fn read_only_refuses_what_a_dump_would_show() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (a int); create temporary table mine (a int); begin read only");
    script(
        &s,
        &[("insert into mine values (1)", ""), ("select * from mine for update", "1"), ("savepoint a", "")],
    );
    for (sql, name) in [
        ("delete from t", "DELETE"),
        ("select * from t for no key update", "SELECT FOR NO KEY UPDATE"),
        ("with x as (insert into t values (1) returning a) select * from x", "SELECT"),
        ("explain analyze update t set a = 1", "UPDATE"),
        ("copy t from stdin", "COPY FROM"),
        ("copy (delete from t returning a) to stdout", "DELETE"),
        ("declare c cursor for select * from t for update", "SELECT FOR UPDATE"),
        ("create temporary table x (a int)", "CREATE TABLE"),
        ("drop index i", "DROP INDEX"),
        ("grant select on t to public", "GRANT"),
        ("create role r", "CREATE ROLE"),
        ("truncate t", "TRUNCATE TABLE"),
    ] {
        let expected = format!("ERROR:  cannot execute {name} in a read-only transaction");
        assert_eq!(s.query(sql), expected, "{sql}");
        s.query("rollback to a");
    }
    script(
        &s,
        &[
            ("explain (costs off) delete from t", "Delete on t\n  ->  Seq Scan on t"),
            ("lock table t; analyze t", ""),
            ("select txid_current() > 0", "t"),
        ],
    );
}

#[test]
fn chains_repeat_the_modes() {
    let server = Server::new();
    let s = server.connect();
    script(
        &s,
        &[
            ("begin isolation level repeatable read, read only; commit and chain", ""),
            ("show transaction_isolation", "repeatable read"),
            ("show transaction_read_only", "on"),
            ("select 1/0", "ERROR:  division by zero"),
            ("rollback and chain", ""),
            ("show transaction_isolation", "read committed"),
            ("commit", ""),
            ("commit and chain", "ERROR:  COMMIT AND CHAIN can only be used in transaction blocks"),
        ],
    );
}

#[test]
fn chains_repeat_what_was_chosen_outside_savepoints() {
    let server = Server::new();
    let s = server.connect();
    let fail = ("select 1/0", "ERROR:  division by zero");
    let modes = "select current_setting('transaction_isolation'), current_setting('transaction_read_only'), current_setting('transaction_deferrable')";
    for end in ["commit and chain", "rollback and chain"] {
        let steps = [
            ("begin isolation level repeatable read, read only, deferrable; savepoint a; savepoint b", ""),
            fail,
            (end, ""),
            (modes, "repeatable read|on|on"),
            ("rollback; begin isolation level repeatable read; savepoint a; set transaction read only", ""),
            ("savepoint b", ""),
            fail,
            (end, ""),
            (modes, "repeatable read|off|off"),
            ("rollback; begin isolation level repeatable read, read only; savepoint a; release a", ""),
            fail,
            (end, ""),
            (modes, "read committed|off|off"),
            ("rollback", ""),
        ];
        script(&s, &steps);
    }
    let chosen_inside = "begin isolation level repeatable read; savepoint a; set transaction read only";
    script(
        &s,
        &[(chosen_inside, ""), ("commit and chain", ""), (modes, "repeatable read|on|off"), ("rollback", "")],
    );
    script(&s, &[(chosen_inside, ""), ("rollback and chain", ""), (modes, "repeatable read|off|off")]);
}

#[test]
fn an_exported_snapshot_is_seen_elsewhere_until_its_transaction_ends() {
    let server = Server::new();
    let (a, b) = (server.connect(), server.connect());
    a.query("create table t (a int); insert into t values (1)");
    a.query("begin; insert into t values (2)");
    let id = a.query("select pg_export_snapshot()");
    let import = format!("set transaction snapshot '{id}'");
    b.query("insert into t values (3)");
    b.query("begin isolation level repeatable read");
    assert_eq!(b.query(&import), "");
    // Neither what the exporter has not committed, nor what came later.
    assert_eq!(b.query("select a from t order by a"), "1");
    assert_eq!(b.query(&import), "ERROR:  SET TRANSACTION SNAPSHOT must be called before any query");
    b.query("rollback");
    assert_eq!(b.query("select a from t order by a"), "1\n3");
    b.query("begin");
    let message =
        "a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ";
    assert_eq!(b.query(&import), format!("ERROR:  {message}"));
    b.query("rollback");
    // The exporter's end takes the snapshot along; who adopted it before keeps it.
    b.query("begin isolation level repeatable read");
    b.query(&import);
    a.query("commit");
    a.query("delete from t; vacuum t");
    assert_eq!(b.query("select a from t order by a"), "1");
    b.query("commit; begin isolation level repeatable read");
    assert_eq!(b.query(&import), format!("ERROR:  snapshot \"{id}\" does not exist"));
    b.query("rollback");
    a.query("begin; savepoint s");
    assert_eq!(
        a.query("select pg_export_snapshot()"),
        "ERROR:  cannot export a snapshot from a subtransaction"
    );
    a.query("rollback");
}

#[test]
fn snapshots_are_values() {
    let server = Server::new();
    let (a, b) = (server.connect(), server.connect());
    a.query("begin");
    let open = a.query("select pg_current_xact_id()");
    assert_eq!(
        a.query("select pg_current_xact_id() = any (array(select pg_snapshot_xip(pg_current_snapshot())))"),
        "f"
    );
    b.query("create table t (s pg_snapshot, old txid_snapshot)");
    b.query("insert into t values (pg_current_snapshot(), txid_current_snapshot())");
    assert_eq!(
        b.query(&format!("select pg_visible_in_snapshot('{open}', s), s::text = old::text from t")),
        "f|t"
    );
    // All of a statement sees one snapshot.
    assert_eq!(b.query("select pg_current_snapshot()::text = pg_current_snapshot()::text"), "t");
    a.query("commit");
    assert_eq!(b.query(&format!("select pg_visible_in_snapshot('{open}', pg_current_snapshot())")), "t");
    assert_eq!(b.query(&format!("select pg_visible_in_snapshot('{open}', s) from t")), "f");
    assert_eq!(b.query(&format!("select pg_xact_status('{open}'), txid_status(3)")), "committed|committed");
    assert_eq!(
        b.query("select pg_xact_commit_timestamp('0')"),
        "ERROR:  cannot retrieve commit timestamp for transaction 0"
    );
}

/// Rounds of a savepoint, rows with the same keys, an index scan over them, and the way back. The scan finds the rows of earlier rounds surely
/// dead and marks their entries, which make room for those of later rounds. One scan that does not find them so leaves them for ever.
#[test]
fn an_index_does_not_grow_by_rows_rolled_back() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (a int, b text)");
    s.query("create index t_a on t (a)");
    s.query("insert into t values (-1, 'for the first page')");
    s.query("begin; set local enable_seqscan = off; set local enable_bitmapscan = off");
    let size = || s.query("select pg_relation_size('t_a')");
    let round = |release: &str| {
        s.query("savepoint p");
        s.query("insert into t select g, 'again' from generate_series(1, 20) g");
        assert_eq!(s.query("select count(b) from t where a between 1 and 20"), "20");
        s.query(&format!("rollback to p; {release}"));
    };
    (0..20).for_each(|_| round("release p"));
    let before = size();
    // Left open, the savepoints are children of one another.
    (0..60).for_each(|_| round("release p"));
    (0..60).for_each(|_| round(""));
    assert_eq!(size(), before, "room for 2400 entries more");
    assert_eq!(s.query("select count(*) from t"), "1");
}

#[test]
fn deferrable_keys_are_looked_at_when_they_are_told() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.query("create table t (id int, v int, primary key (id) deferrable, unique (v) deferrable initially deferred)");
    s.query("insert into t select g, g from generate_series(1, 3) g");
    let twice = |name: &str| format!("ERROR:  duplicate key value violates unique constraint \"{name}\"");
    let run = |steps: &[(&str, &str)]| {
        for (sql, expected) in steps {
            assert_eq!(s.query(sql), *expected, "{sql}");
        }
    };
    // All rows of a statement first, then the check.
    run(&[("update t set id = id + 1; select string_agg(id::text, ' ' order by id) from t", "2 3 4")]);
    assert_eq!(s.query("insert into t values (2, 9)"), twice("t_pkey"));
    run(&[("begin; insert into t values (5, 3); update t set v = 7 where id = 5; commit", "")]);
    run(&[("begin; insert into t values (6, 3)", "")]);
    assert_eq!(s.query("commit"), twice("t_v_key"));
    run(&[("begin; insert into t values (6, 3)", "")]);
    assert_eq!(s.query("set constraints t_v_key immediate"), twice("t_v_key"));
    run(&[(
        "rollback; begin; set constraints all deferred; insert into t values (2, 20); delete from t where v = 20; commit",
        "",
    )]);
    assert_eq!(
        s.query("insert into t values (2, 2) on conflict do nothing"),
        "ERROR:  ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters"
    );
    assert_eq!(
        s.query("select pg_get_constraintdef(oid) from pg_constraint where conname = 't_v_key'"),
        "UNIQUE (v) DEFERRABLE INITIALLY DEFERRED"
    );
    assert_eq!(other.query("select count(*) from t"), "4");
    s.query("create table p (id int, unique (id) deferrable) partition by list (id); create table p1 partition of p default");
    run(&[("insert into p values (1), (2); update p set id = 3 - id; select count(*) from p", "2")]);
    assert_eq!(s.query("insert into p values (1)"), twice("p1_id_key"));
}

#[test]
fn temporary_tables_are_emptied_or_dropped_at_commit() {
    let server = Server::new();
    let s = server.connect();
    let there = "select relname from pg_class where relname in ('d', 'e', 'f', 'g') order by 1";
    let combination = "ERROR:  unsupported ON COMMIT and foreign key combination";
    let steps = [
        ("create temp table e (a int primary key) on commit delete rows", ""),
        ("insert into e values (1)", ""),
        ("select count(*) from e", "0"),
        ("begin", ""),
        ("insert into e values (1)", ""),
        ("create temp table d on commit drop as select 1 as x", ""),
        ("create temp table f (x int) on commit drop", ""),
        ("create temp view g as select x from f", ""),
        ("savepoint s", ""),
        ("drop table d", ""),
        ("rollback to s", ""),
        ("select a, x from e, d", "1|1"),
        (there, "d\ne\nf\ng"),
        ("commit", ""),
        (there, "e"),
        ("select count(*) from e", "0"),
        ("insert into e values (1)", ""),
        ("begin", ""),
        ("create temp table f (x int) on commit drop", ""),
        ("rollback", ""),
        ("create temp table f (x int)", ""),
        ("insert into f values (3)", ""),
        ("select x from f", "3"),
        ("create temp table d (a int references e)", combination),
        ("create table p (x int) on commit drop", "ERROR:  ON COMMIT can only be used on temporary tables"),
    ];
    for (sql, expected) in steps {
        assert_eq!(s.query(sql), expected, "{sql}");
    }
}

#[test]
fn the_first_statement_begins_with_its_transaction() {
    let server = Server::new();
    let s = server.connect();
    for _ in 0..200 {
        assert_eq!(s.query("select now() = statement_timestamp()"), "t");
    }
    script(
        &s,
        &[
            ("begin", ""),
            ("select pg_sleep(0.001)", ""),
            ("select now() < statement_timestamp()", "t"),
            ("commit", ""),
        ],
    );
}
