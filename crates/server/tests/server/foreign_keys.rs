//! Foreign keys over sockets: what a session remembers of them does not outlive what it rests on.

use std::thread;

use crate::support::{Client, Server, run, until};

fn tables(client: &mut Client) {
    run(client, &["create table parent (id int primary key, name text)"]);
    run(client, &["create table child (id int references parent)"]);
    run(client, &["insert into parent select g, 'n' from generate_series(1, 5) g"]);
}

const MISSING: &str =
    "23503 insert or update on table \"child\" violates foreign key constraint \"child_id_fkey\"";

/// Within a transaction that has found a row before: it deletes the row itself, goes back to before it found it, and another transaction takes the row.
#[test]
fn a_row_that_was_found_is_looked_for_again_when_it_may_have_gone() {
    let server = Server::start(&[]);
    let (mut one, mut two) = (server.client(), server.client());
    tables(&mut one);
    for _ in 0..2 {
        run(&mut one, &["insert into child values (1), (1), (2), (null), (2)"]);
        assert_eq!(one.error("insert into child values (1), (1), (7), (1)"), MISSING);
    }
    assert_eq!(one.value("select count(*) from child"), "10");
    run(&mut one, &["truncate child", "begin", "insert into child values (3), (3)", "delete from child"]);
    run(&mut one, &["delete from parent where id = 3"]);
    assert_eq!(one.error("insert into child values (3)"), MISSING);
    run(
        &mut one,
        &["rollback", "begin", "savepoint s", "insert into child values (4), (4)", "rollback to s"],
    );
    run(&mut two, &["delete from parent where id = 4"]);
    assert_eq!(one.error("insert into child values (4)"), MISSING);
    run(&mut one, &["rollback", "insert into child values (5)"]);
    // A row that is found is kept.
    run(&mut one, &["begin", "insert into child values (1), (1)"]);
    let error = two.error("set lock_timeout = '10ms'; delete from parent where id = 1");
    assert_eq!(error, "55P03 canceling statement due to lock timeout");
    run(&mut one, &["commit"]);
    let error = two.error("delete from parent where id = 1");
    assert!(error.starts_with("23503 update or delete on table \"parent\""), "{error}");
}

/// A row whose key changes, and changes back, while another refers to it.
#[test]
fn who_waits_for_a_referenced_row_looks_at_its_newest_key() {
    let server = Server::start(&[]);
    let (mut one, mut two, mut watcher) = (server.client(), server.client(), server.client());
    tables(&mut one);
    run(&mut two, &["insert into child values (5)", "insert into child values (5)"]);
    let cases = [
        (&["update parent set id = 9 where id = 1"][..], "commit", false),
        (&["update parent set id = 8 where id = 2"], "rollback", true),
        (&["update parent set id = 7 where id = 3", "update parent set id = 3 where id = 7"], "commit", true),
        (&["update parent set name = 'm' where id = 4"], "commit", true),
        (&["delete from parent where id = 4"], "commit", false),
    ];
    for (changes, end, there) in cases {
        let key = changes[0].rsplit(' ').next().unwrap();
        run(&mut one, &["begin"]);
        run(&mut one, changes);
        let insert = format!("insert into child values ({key})");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| two.query(&insert).is_ok());
            if !changes[0].contains("name") {
                let waits = "select count(*) from pg_locks where not granted";
                until("it waits", || watcher.value(waits) != "0");
            }
            run(&mut one, &[end]);
            assert_eq!(waiting.join().unwrap(), there, "{changes:?} {end}");
        });
        run(&mut two, &[&format!("delete from child where id = {key}")]);
    }
}

/// What the owner of the referenced table may do counts, each time.
#[test]
fn a_referenced_table_that_its_owner_may_not_read_refuses_children() {
    let server = Server::start(&[]);
    let mut client = server.client();
    tables(&mut client);
    run(&mut client, &["create role owner", "alter table parent owner to owner"]);
    run(&mut client, &["insert into child values (1)", "insert into child values (1)"]);
    run(&mut client, &["revoke select on parent from owner"]);
    let error = client.error("insert into child values (1)");
    assert_eq!(error, "42501 permission denied for table parent");
    run(&mut client, &["grant select on parent to owner", "insert into child values (1)"]);
    run(&mut client, &["alter table parent rename to folks", "alter table folks add x int default 1"]);
    run(&mut client, &["insert into child values (2)", "insert into child values (2)"]);
    let error = client.error("insert into child values (6)");
    assert_eq!(error, MISSING);
}

/// Keys of other types, of several columns in another order, and by a collation of their own.
#[test]
fn keys_of_all_kinds_are_found() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
            "create table p (a int, b text collate ci, c numeric, primary key (a, b), unique (c), unique (b))",
            "insert into p values (1, 'x', 1.50), (2, 'y', 2)",
            "create table wide (a int8, b text collate ci, foreign key (b, a) references p (b, a))",
            "create table same (b text collate ci, a int, foreign key (a, b) references p)",
            "create table named (b text collate ci references p (b), c numeric references p (c))",
        ],
    );
    for _ in 0..3 {
        run(&mut client, &["insert into wide values (1, 'X'), (2, 'y'), (2, null)"]);
        run(&mut client, &["insert into same values ('X', 1), ('x', 1), ('Y', 2)"]);
        run(&mut client, &["insert into named values ('X', 1.5), ('x', 1.500), ('Y', 2.0)"]);
        for refused in
            ["wide values (2, 'x')", "same values ('x', 2)", "named values ('z', 2)", "named values ('y', 3)"]
        {
            let error = client.error(&format!("insert into {refused}"));
            assert!(error.starts_with("23503"), "{refused}: {error}");
        }
    }
}
