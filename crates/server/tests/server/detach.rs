//! DETACH PARTITION CONCURRENTLY: who still sees the partition, who is waited for, what a cancelled one leaves, and FINALIZE.

use std::thread::{self, Scope, ScopedJoinHandle};

use crate::support::client::Rows;
use crate::support::{Client, Failure, Server, until};

const SETUP: &str = "drop table if exists m, m1, m2;
     create table m (a int, b text) partition by list (a);
     create table m1 partition of m for values in (1);
     create table m2 partition of m for values in (2);
     insert into m values (1, 'x'), (2, 'y')";
const DETACH: &str = "alter table m detach partition m2 concurrently";
const ROWS: &str = "select a, b from m order by a, b";
const NOWHERE: &str = "23514 no partition of relation \"m\" found for row";

fn run(client: &mut Client, sql: &str) -> String {
    let rows = client.query(sql).unwrap_or_else(|failure| panic!("{sql}: {failure:?}"));
    let line = |row: Vec<Option<String>>| {
        row.into_iter().map(|value| value.unwrap_or("-".into())).collect::<Vec<_>>().join(",")
    };
    rows.into_iter().map(line).collect::<Vec<_>>().join(" ")
}

/// Begins to detach, and comes back when the first transaction has committed.
fn detaching<'s>(
    scope: &'s Scope<'s, '_>,
    client: &'s mut Client,
    watcher: &mut Client,
    sql: &'s str,
) -> ScopedJoinHandle<'s, Result<Rows, Failure>> {
    let answer = scope.spawn(move || client.query(sql));
    until("the partition is pending", || {
        watcher.value("select count(*) from pg_inherits where inhdetachpending") == "1"
    });
    answer
}

fn is_done(answer: ScopedJoinHandle<'_, Result<Rows, Failure>>) -> bool {
    answer.join().unwrap().is_ok()
}

/// Leaves m2 pending, as a cancelled statement does.
fn leave_pending(server: &Server, watcher: &mut Client) {
    let (mut reader, mut detacher) = (server.client(), server.client());
    run(&mut reader, &format!("begin; {ROWS}"));
    let pid = detacher.value("select pg_backend_pid()");
    thread::scope(|scope| {
        let answer = detaching(scope, &mut detacher, watcher, DETACH);
        run(watcher, &format!("select pg_cancel_backend({pid})"));
        let cancelled = answer.join().unwrap();
        assert!(matches!(cancelled, Err(Failure::Error { code, .. }) if code == "57014"));
    });
    run(&mut reader, "commit");
}

#[test]
fn new_snapshots_do_without_the_partition_and_old_ones_keep_it() {
    let server = Server::start(&[]);
    let (mut detacher, mut committed, mut kept) = (server.client(), server.client(), server.client());
    let (mut late, mut watcher) = (server.client(), server.client());
    run(&mut watcher, SETUP);
    run(&mut late, &format!("prepare rows as {ROWS}; prepare new(int) as insert into m values ($1, 'new')"));
    assert_eq!(run(&mut late, "execute new(2); execute rows"), "1,x 2,new 2,y");
    run(&mut committed, &format!("begin; {ROWS}"));
    run(&mut kept, &format!("begin isolation level repeatable read; {ROWS}"));
    thread::scope(|scope| {
        let answer = detaching(scope, &mut detacher, &mut watcher, DETACH);
        // The text is the same for all: no plan goes from one kind of snapshot to the other.
        for _ in 0..2 {
            assert_eq!(run(&mut committed, ROWS), "1,x");
            assert_eq!(run(&mut kept, ROWS), "1,x 2,new 2,y");
            assert_eq!(run(&mut late, "execute rows"), "1,x");
        }
        assert_eq!(committed.error("savepoint s; insert into m values (2, 'z')"), NOWHERE);
        assert_eq!(late.error("execute new(2)"), NOWHERE);
        run(&mut kept, "insert into m values (2, 'kept')");
        assert_eq!(run(&mut kept, "update m set b = b || '!' where a = 2 and b = 'y' returning b"), "y!");
        // The partition by its own name, with what its bound says.
        run(&mut late, "insert into m2 values (2, 'direct')");
        assert!(
            late.error("insert into m2 values (3, '')").contains("violates check constraint \"m2_a_check\"")
        );
        run(&mut committed, "rollback");
        assert!(!answer.is_finished());
        run(&mut kept, "commit");
        assert!(is_done(answer));
    });
    assert_eq!(run(&mut watcher, "select b from m2 order by b collate \"C\""), "direct kept new y!");
    assert_eq!(
        run(&mut watcher, "select relispartition, relpartbound from pg_class where relname = 'm2'"),
        "f,-"
    );
    let check = "select conname, convalidated, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'm2'::regclass";
    assert_eq!(run(&mut watcher, check), "m2_a_check,t,CHECK (((a IS NOT NULL) AND (a = 2)))");
    assert_eq!(run(&mut watcher, ROWS), "1,x");
}

#[test]
fn whoever_locks_the_table_is_waited_for() {
    let server = Server::start(&["max_prepared_transactions=2"]);
    let (mut detacher, mut other, mut watcher) = (server.client(), server.client(), server.client());
    for (holds, lets_go) in [
        ("begin; insert into m values (2, 'z')", "commit"),
        ("begin; lock table m in access share mode", "rollback"),
        ("begin; declare c cursor for select * from m; fetch c", "close c; commit"),
        ("begin; insert into m values (2, 'z'); prepare transaction 'p'", "commit prepared 'p'"),
    ] {
        run(&mut watcher, SETUP);
        run(&mut other, holds);
        thread::scope(|scope| {
            let answer = detaching(scope, &mut detacher, &mut watcher, DETACH);
            assert_eq!(run(&mut watcher, ROWS), "1,x", "{holds}");
            assert!(!answer.is_finished(), "{holds}");
            run(&mut other, lets_go);
            assert!(is_done(answer), "{holds}");
        });
    }
    // Nobody is there.
    run(&mut watcher, SETUP);
    run(&mut detacher, DETACH);
    assert_eq!(run(&mut watcher, "select count(*) from pg_inherits where inhparent = 'm'::regclass"), "1");
}

#[test]
fn a_pending_partition_is_left_alone_until_it_is_finalized() {
    let server = Server::start(&[]);
    let (mut client, mut other, mut watcher) = (server.client(), server.client(), server.client());
    run(&mut watcher, SETUP);
    assert!(client.error("alter table m detach partition m2 finalize").contains("cannot complete detaching"));
    leave_pending(&server, &mut watcher);
    assert_eq!(run(&mut client, ROWS), "1,x");
    for (sql, error) in [
        (
            "alter table m detach partition m1 concurrently",
            "partition \"m2\" already pending detach in partitioned table \"public.m\"",
        ),
        (DETACH, "partition \"m2\" already pending detach in partitioned table \"public.m\""),
        ("alter table m detach partition m2", "cannot detach partition \"m2\""),
        ("alter table m2 add c int", "cannot alter partition \"m2\" with an incomplete detach"),
        ("alter table m detach partition m1 finalize", "cannot complete detaching partition \"m1\""),
    ] {
        assert_eq!(client.error(sql), format!("55000 {error}"), "{sql}");
    }
    let overlap = "42P17 partition \"m3\" would overlap partition \"m2\"";
    assert_eq!(client.error("create table m3 partition of m for values in (2)"), overlap);
    let tree = "select relid, parentrelid from pg_partition_tree('m'); select relid, parentrelid from pg_partition_tree('m2')";
    assert_eq!(run(&mut client, tree), "m,- m1,m m2,-");
    // Definitions of the table pass it over, and it goes on having its rows.
    run(&mut client, "truncate m; create index on m (b)");
    assert_eq!(
        run(&mut client, "select a from m2; select count(*) from pg_indexes where tablename = 'm2'"),
        "2 0"
    );
    run(&mut client, "begin; alter table m detach partition m2 finalize; rollback");
    run(&mut other, "begin; select from m2");
    thread::scope(|scope| {
        let answer = scope.spawn(|| client.query("alter table m detach partition m2 finalize"));
        until("it waits", || watcher.value("select count(*) from pg_locks where not granted") == "1");
        run(&mut other, "commit");
        assert!(answer.join().unwrap().is_ok());
    });
    run(&mut client, "alter table m2 add c int");
    assert_eq!(run(&mut client, "select * from m2"), "2,y,-");
}

#[test]
fn a_crash_leaves_it_pending() {
    let mut server = Server::start(&[]);
    let mut watcher = server.client();
    run(&mut watcher, SETUP);
    leave_pending(&server, &mut watcher);
    server.kill();
    server.run();
    let mut client = server.client();
    assert_eq!(run(&mut client, ROWS), "1,x");
    run(&mut client, "alter table m detach partition m2 finalize");
    assert_eq!(run(&mut client, "select count(*) from pg_inherits where inhparent = 'm'::regclass"), "1");
    // A pending one can be dropped, and its table with it.
    run(&mut client, SETUP);
    leave_pending(&server, &mut client);
    run(&mut client, "drop table m2");
    run(&mut client, "alter table m detach partition m1 concurrently");
    run(&mut client, SETUP);
    leave_pending(&server, &mut client);
    run(&mut client, "drop table m");
    assert_eq!(run(&mut client, "select count(*) from pg_class where relname in ('m', 'm1', 'm2')"), "0");
}

#[test]
fn foreign_keys_do_not_find_rows_of_a_pending_partition() {
    let server = Server::start(&[]);
    let (mut detacher, mut kept, mut other) = (server.client(), server.client(), server.client());
    let mut watcher = server.client();
    let setup = "drop table if exists f, m, m1, m2; create table m (a int primary key) partition by list (a);
         create table m1 partition of m for values in (1); create table m2 partition of m for values in (2);
         insert into m values (1), (2); create table f (a int references m); insert into f values (1)";
    let absent = "23503 insert or update on table \"f\" violates foreign key constraint \"f_a_fkey\"";
    run(&mut watcher, setup);
    run(&mut kept, "begin isolation level repeatable read; select from m");
    thread::scope(|scope| {
        let answer = detaching(scope, &mut detacher, &mut watcher, DETACH);
        assert_eq!(other.error("insert into f values (2)"), absent);
        run(&mut other, "insert into f values (1)");
        // The snapshot has the row; that it may be referred to is not for it to say.
        assert_eq!(run(&mut kept, "select a from m order by a"), "1 2");
        assert_eq!(kept.error("insert into f values (2)"), absent);
        run(&mut kept, "rollback");
        assert!(is_done(answer));
    });
    assert_eq!(run(&mut watcher, "select count(*) from pg_constraint where conrelid = 'f'::regclass"), "2");
    let referenced = "23503 removing partition \"m1\" violates foreign key constraint \"f_a_fkey_1\"";
    assert_eq!(watcher.error("alter table m detach partition m1 concurrently"), referenced);
    assert_eq!(run(&mut watcher, "select count(*) from pg_inherits where inhdetachpending"), "0");
}
