//! READ COMMITTED: a statement that waited for another transaction checks its rows again, with the newest version of what it changes or
//! locks, and with the rows of other tables that were joined to it.

use std::thread;

use crate::support::{Client, Server, until};

const SETUP: &[&str] = &[
    "drop table if exists t, ref, up cascade",
    "create table t (id int, data int, other int)",
    "insert into t select n, 0, n % 3 from generate_series(1, 10) n",
    "create table ref (id int primary key, name text)",
    "insert into ref select n, 'r' || n from generate_series(0, 5) n",
    "create table up (id int, n int)",
    "create table kid () inherits (up)",
    "insert into up values (6, 60)",
    "insert into kid values (7, 70), (20, 200)",
];

/// What another transaction commits, the statement that waits for it, and what it answers: as PostgreSQL 18 does.
const CASES: &[(&str, &str, &str)] = &[
    (
        "update t set data = 1 where id = 7",
        "select a.id, a.data, b.data from t a join t b on a.id = b.id where a.id in (6, 7) for update",
        "6,0,0 7,1,1",
    ),
    // The weakest lock minds no update of other columns, but what lies between two updates of one transaction is nobody's to see.
    (
        "select from t where id = 7 for update; update t set data = 1 where id = 7; update t set data = 2 where id = 7",
        "select id, data from t where id in (6, 7) for key share",
        "6,0 7,2",
    ),
    // The row now belongs to another one, which it was not joined to.
    (
        "update t set other = 5 where id = 7",
        "select a.id, a.other, ref.name from t a join ref on ref.id = a.other where a.id in (6, 7) for update of a",
        "6,0,r0",
    ),
    (
        "update t set other = 5 where id = 7",
        "select a.id, a.other, ref.name from t a join ref on ref.id = a.other where a.id in (6, 7) for update",
        "6,0,r0",
    ),
    (
        "update t set other = 5 where id = 7",
        "select a.id, a.other, ref.name from t a left join ref on ref.id = a.other where a.id in (6, 7) for update of a",
        "6,0,r0 7,5,-",
    ),
    (
        "update t set other = 5 where id = 7",
        "update t set data = ref.id + 100 from ref where ref.id = t.other and t.id in (6, 7) returning t.id, t.data, ref.name",
        "6,100,r0",
    ),
    (
        "update t set data = 1 where id = 7",
        "update t set data = data + ref.id + 100 from ref where ref.id = t.other and t.id in (6, 7) returning t.id, t.data, ref.name",
        "6,100,r0 7,102,r1",
    ),
    (
        "update t set other = 5 where id = 7",
        "delete from t using ref where ref.id = t.other and ref.name = 'r1' returning t.id",
        "1 4 10",
    ),
    (
        "update ref set name = 'new' where id = 1",
        "select t.id, ref.name from t join ref on ref.id = t.other where t.id in (6, 7) for update of ref",
        "6,r0 7,new",
    ),
    (
        "update t set id = 70 where id = 7",
        "update t set data = data + 1 where id in (6, 7) returning id, data",
        "6,1",
    ),
    // Rows of the source that others than the changed row belong to are not met twice.
    (
        "update t set data = 1 where id = 7",
        "merge into t using (values (6, 60), (7, 70), (20, 200)) s (id, n) on t.id = s.id
         when matched then update set data = data + n when not matched then insert values (s.id, n)
         returning merge_action(), t.id, data",
        "UPDATE,6,60 UPDATE,7,71 INSERT,20,200",
    ),
    (
        "update t set data = 1 where id = 7",
        "merge into t using up s on t.id = s.id
         when matched then update set data = data + 5 when not matched then insert values (20, 0)
         returning merge_action(), t.id, data",
        "UPDATE,6,5 UPDATE,7,6 INSERT,20,0",
    ),
    (
        "update t set id = 70 where id = 7",
        "merge into t using (values (6, 60), (7, 70)) s (id, n) on t.id = s.id
         when matched then update set data = n when not matched then insert values (8, 0)
         returning merge_action(), t.id, data",
        "UPDATE,6,60 INSERT,8,0",
    ),
    (
        "update t set id = 70 where id = 7",
        "merge into t using (values (7, 70)) s (id, n) on t.id = s.id
         when matched then update set data = n when not matched then insert values (8, 0)
         when not matched by source and t.id = 70 then update set data = 99 returning merge_action(), t.id, data",
        "UPDATE,70,99 INSERT,8,0",
    ),
    (
        "delete from t where id = 7",
        "merge into t using ref on t.id = ref.id + 2
         when matched and ref.id > 3 then delete when not matched then insert values (ref.id, 9)
         returning merge_action(), t.id, data",
        "DELETE,6,0 INSERT,5,9",
    ),
];

/// A row that another transaction puts into another partition cannot be followed: what the other does, the statement that waits, its error.
const MOVES: &[(&str, &str)] = &[
    ("update p set a = 12 where a = 2", "update p set b = 'x' where a = 2"),
    ("update p set a = 12 where a = 2", "update p set a = 3 where b = 'two'"),
    ("update p set a = 12 where a = 2", "delete from p where a = 2"),
    ("update p set a = 12 where a = 2", "select * from p where a = 2 for update"),
    (
        "update p set a = 12 where a = 2",
        "merge into p using (values (2)) s (a) on p.a = s.a when matched then delete",
    ),
    (
        "merge into p using (values (2)) s (a) on p.a = s.a when matched then update set a = 12",
        "update p1 set b = 'x' where a = 2",
    ),
    // The newest version was moved, not the one that is waited for.
    (
        "update p set b = 'II' where a = 2; update p set a = 12 where a = 2",
        "update p set b = 'x' where a = 2",
    ),
];

fn run(client: &mut Client, sql: &str) -> String {
    let rows = client.query(sql).unwrap_or_else(|failure| panic!("{sql}: {failure:?}"));
    let line = |row: Vec<Option<String>>| {
        row.into_iter().map(|value| value.unwrap_or("-".into())).collect::<Vec<_>>().join(",")
    };
    rows.into_iter().map(line).collect::<Vec<_>>().join(" ")
}

#[test]
fn rows_are_checked_again_with_what_they_were_joined_to() {
    let server = Server::start(&[]);
    let (mut first, mut second, mut watcher) = (server.client(), server.client(), server.client());
    // One order of rows.
    run(&mut second, "set enable_hashjoin = off; set enable_mergejoin = off");
    for (change, waiting, expected) in CASES {
        SETUP.iter().for_each(|sql| drop(run(&mut watcher, sql)));
        run(&mut first, &format!("begin; {change}"));
        let answer = thread::scope(|scope| {
            let answer = scope.spawn(|| run(&mut second, waiting));
            until("it waits", || watcher.value("select count(*) from pg_locks where not granted") == "1");
            run(&mut first, "commit");
            answer.join().unwrap()
        });
        assert_eq!(answer, *expected, "{waiting}");
    }
}

#[test]
fn rows_that_go_to_another_partition_cannot_be_followed() {
    let server = Server::start(&[]);
    let (mut first, mut second, mut watcher) = (server.client(), server.client(), server.client());
    let setup = "drop table if exists p; create table p (a int primary key, b text) partition by range (a);
         create table p1 partition of p for values from (0) to (10);
         create table p2 partition of p for values from (10) to (20); insert into p values (1, 'one'), (2, 'two')";
    let moved = "40001 tuple to be locked was already moved to another partition due to concurrent update";
    for (level, error) in [
        ("read committed", moved),
        ("repeatable read", "40001 could not serialize access due to concurrent update"),
    ] {
        for (change, waiting) in MOVES {
            run(&mut watcher, setup);
            run(&mut first, &format!("begin; {change}"));
            let answer = thread::scope(|scope| {
                let answer =
                    scope.spawn(|| second.error(&format!("begin isolation level {level}; {waiting}")));
                until("it waits", || watcher.value("select count(*) from pg_locks where not granted") == "1");
                run(&mut first, "commit");
                answer.join().unwrap()
            });
            run(&mut second, "rollback");
            assert_eq!(answer, error, "{waiting}");
        }
    }
}
