//! System catalogs in new files: VACUUM FULL, CLUSTER and REINDEX of them.

use crate::support::crash::crash_if_asked;
use crate::support::{Client, Server};

/// Leaves dead rows in all catalogs that tables have rows in, and a table `kept`.
fn churn(s: &Client) {
    s.run("create table kept (id int primary key, v text default 'x')").unwrap();
    for i in 0..60 {
        s.run(&format!("create table gone{i} (id int primary key)")).unwrap();
    }
    for i in 0..60 {
        s.run(&format!("drop table gone{i}")).unwrap();
    }
    s.run("insert into kept values (1)").unwrap();
}

const CATALOGS: [&str; 8] =
    ["pg_class", "pg_attribute", "pg_depend", "pg_index", "pg_type", "pg_constraint", "pg_proc", "pg_authid"];

/// The files of some catalogs.
const FILES: &str = "select pg_relation_filenode('pg_class'), pg_relation_filenode('pg_depend'),
    pg_relation_filenode('pg_class_oid_index'), pg_relation_filenode('pg_authid')";

/// By its rows and by its indexes, every catalog has the same.
fn check(s: &Client) {
    for catalog in CATALOGS {
        let count = format!("select count(*) from {catalog}");
        s.query("set enable_seqscan = on; set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off");
        let by_rows = s.query(&count);
        s.query("set enable_seqscan = off; set enable_indexscan = on");
        for column in
            ["oid", "relname", "attrelid", "classid", "refclassid", "indexrelid", "conname", "proname"]
        {
            let sorted = format!("select count(*) from (select {column} from {catalog} order by {column}) x");
            let by_index = s.query(&sorted);
            assert!(
                by_index == by_rows || by_index.starts_with("ERROR:  column"),
                "{catalog} by {column}: {by_index}, not {by_rows}"
            );
        }
        s.query("reset all");
    }
    assert_eq!(s.query("insert into kept values (2); delete from kept where id = 2"), "");
    assert_eq!(s.query("select id, v from kept"), "1|x");
    let described =
        "select attname from pg_attribute where attrelid = 'kept'::regclass and attnum > 0 order by 1";
    assert_eq!(s.query(described), "id\nv");
}

#[test]
fn vacuum_full_gives_room_back_and_survives_a_crash() {
    let mut server = Server::new();
    let s = server.connect();
    churn(&s);
    let size = |catalog: &str| -> u64 {
        s.query(&format!("select pg_total_relation_size('{catalog}')")).parse().expect("a number")
    };
    for catalog in CATALOGS {
        let before = size(catalog);
        s.run(&format!("vacuum full {catalog}")).unwrap();
        let after = size(catalog);
        assert!(after <= before, "{catalog}: {before} to {after}");
        if ["pg_class", "pg_depend", "pg_attribute"].contains(&catalog) {
            assert!(after < before, "{catalog}: {before} to {after}");
        }
    }
    let mapped = "select relname, relfilenode = 0, pg_relation_filenode(oid) = oid,
        pg_filenode_relation(reltablespace, pg_relation_filenode(oid)), pg_filenode_relation(reltablespace, oid) is null
        from pg_class where relname in ('pg_class', 'pg_depend', 'pg_authid', 'pg_class_oid_index', 'pg_operator') order by 1";
    let expected = "pg_authid|t|f|pg_authid|t\npg_class|t|f|pg_class|t\npg_class_oid_index|t|f|pg_class_oid_index|t\n\
                    pg_depend|f|f|pg_depend|t\npg_operator|f|t|pg_operator|f";
    assert_eq!(s.query(mapped), expected);
    check(&s);
    let files = s.query(FILES);
    drop(s);
    // The maps' files know nothing of it yet.
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!((s.query(FILES), s.query(mapped).as_str()), (files.clone(), expected));
    check(&s);
    s.run("checkpoint").unwrap();
    drop(s);
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!(s.query(FILES), files);
    check(&s);
    s.run("reindex system").unwrap();
    s.run("vacuum full pg_class").unwrap();
    assert_ne!(s.query(FILES), files);
    check(&s);
}

#[test]
fn a_rollback_leaves_the_old_files() {
    let mut server = Server::new();
    let s = server.connect();
    churn(&s);
    let files = s.query(FILES);
    s.run("begin; cluster pg_class using pg_class_oid_index; create table lost (a int)").unwrap();
    assert_ne!(s.query(FILES), files);
    assert_eq!(s.query("select count(*) from pg_class where relname = 'lost'"), "1");
    s.run("rollback").unwrap();
    assert_eq!(s.query(FILES), files);
    assert_eq!(s.query("select count(*) from pg_class where relname = 'lost'"), "0");
    s.run("begin; reindex table pg_class").unwrap();
    let first = s.query(FILES);
    s.run("savepoint a; cluster pg_class using pg_class_oid_index; create table lost (a int); rollback to a")
        .unwrap();
    assert_eq!(s.query(FILES), first);
    s.run("create table found (a int); cluster pg_class using pg_class_oid_index; reindex index pg_class_oid_index").unwrap();
    let last = s.query(FILES);
    s.run("commit").unwrap();
    assert_eq!(s.query(FILES), last);
    assert_eq!(s.query("select relname from pg_class where relname in ('lost', 'found')"), "found");
    check(&s);
    drop(s);
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!(s.query(FILES), last);
    check(&s);
}

/// What a process does until it crashes; the columns of [`FILES`] that each statement changes.
const STEPS: [(&str, &[usize]); 4] = [
    ("vacuum full pg_class", &[0, 2]),
    ("vacuum full pg_authid", &[3]),
    ("checkpoint", &[]),
    ("vacuum full pg_depend", &[1]),
];

/// Where it crashes: a stop point, and the passes that are let through.
const CRASHES_AT: [(&str, u64); 18] = [
    ("smgr-before-extend", 2),
    ("commit-before-record", 0),
    ("commit-before-record", 1),
    ("commit-before-flush", 0),
    ("commit-before-flush", 1),
    ("wal-before-flush", 1),
    ("wal-after-flush", 1),
    ("commit-before-clog", 0),
    ("commit-before-clog", 2),
    ("commit-after-clog", 0),
    ("commit-after-running", 0),
    ("checkpoint-begin", 0),
    ("checkpoint-before-map", 0),
    ("checkpoint-before-map", 1),
    ("smgr-before-sync", 0),
    ("checkpoint-before-record", 0),
    ("checkpoint-before-control", 0),
    ("checkpoint-end", 0),
];

#[test]
fn a_crash_at_any_step_leaves_the_old_files_or_the_new() {
    crash_if_asked("", |_| STEPS.map(|(step, _)| step.to_owned()).to_vec());
    let mut server = Server::new();
    churn(&server.connect());
    let files = |server: &Server| -> Vec<String> {
        server.connect().query(FILES).split('|').map(str::to_owned).collect()
    };
    for (point, skip) in CRASHES_AT {
        let before = files(&server);
        let test = "rewriting_catalogs::a_crash_at_any_step_leaves_the_old_files_or_the_new";
        let done = server.crash_at(test, (point, skip));
        let after = files(&server);
        for (n, (step, columns)) in STEPS.iter().enumerate() {
            let changed: Vec<bool> = columns.iter().map(|&i| after[i] != before[i]).collect();
            let expected = match n {
                _ if n < done => &[true][..],
                _ if n == done => &[true, false],
                _ => &[false],
            };
            let fits = expected.iter().any(|all| changed.iter().all(|one| one == all));
            assert!(fits, "{point} after {skip}, {done} steps done: {step} changed {changed:?}");
        }
        check(&server.connect());
    }
}

#[test]
fn rows_of_running_transactions_go_along() {
    let server = Server::new();
    let (s, other, third) = (server.connect(), server.connect(), server.connect());
    churn(&s);
    s.run("create table dropped (a int); create table stays (a int)").unwrap();
    other
        .run("begin; create table made (a int primary key); savepoint s; create table undone (a int)")
        .unwrap();
    other.run("rollback to s; alter table made add b int; drop table dropped").unwrap();
    // Its row of pg_class was updated for nothing.
    other.run("savepoint t; alter table made add lost int; rollback to t").unwrap();
    third.run("begin; drop table stays; create table never (a int)").unwrap();
    for catalog in CATALOGS {
        s.run(&format!("vacuum full {catalog}")).unwrap();
        s.run(&format!("reindex table {catalog}")).unwrap();
        assert_eq!(
            s.query("select count(*) from pg_class where relname in ('dropped', 'stays', 'made')"),
            "2"
        );
    }
    other.run("alter table made add c int; create index on made (b); commit").unwrap();
    third.run("rollback").unwrap();
    let names = "select relname from pg_class where relname in ('made', 'undone', 'dropped', 'stays', 'never') order by 1";
    assert_eq!(s.query(names), "made\nstays");
    assert_eq!(s.query("insert into made values (1, 2, 3) returning *"), "1|2|3");
    assert_eq!(s.query("insert into stays values (1) returning a"), "1");
    assert_eq!(s.query("select * from dropped"), "ERROR:  relation \"dropped\" does not exist");
    check(&s);
}

#[test]
fn an_older_snapshot_sees_the_catalog_as_it_was() {
    let server = Server::new();
    let (s, old) = (server.connect(), server.connect());
    churn(&s);
    old.run("begin isolation level repeatable read; select 1").unwrap();
    s.run("alter table kept rename to renamed").unwrap();
    s.run("vacuum full pg_class").unwrap();
    assert_eq!(old.query("select relname from pg_class where relname in ('kept', 'renamed')"), "kept");
    old.run("commit").unwrap();
    assert_eq!(old.query("select relname from pg_class where relname in ('kept', 'renamed')"), "renamed");
}

#[test]
fn queries_that_read_a_catalog_are_waited_for() {
    let server = Server::new();
    let (s, reader) = (server.connect(), server.connect());
    s.run("set lock_timeout = '20ms'").unwrap();
    for catalog in ["pg_class", "pg_authid"] {
        reader.run(&format!("begin; declare c cursor for select 1 from {catalog}; fetch 1 from c")).unwrap();
        let full = format!("vacuum full {catalog}");
        assert_eq!(s.query(&full), "ERROR:  canceling statement due to lock timeout", "{catalog}");
        reader.run("commit").unwrap();
        s.run(&full).unwrap();
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let server = Server::new();
    let s = server.connect();
    for (sql, expected) in [
        ("cluster pg_database using pg_database_oid_index", "cannot cluster a shared catalog"),
        ("cluster pg_class", "there is no previously clustered index for table \"pg_class\""),
        ("reindex table concurrently pg_class", "cannot reindex system catalogs concurrently"),
        ("reindex (concurrently) system", "cannot reindex system catalogs concurrently"),
    ] {
        assert_eq!(s.query(sql), format!("ERROR:  {expected}"), "{sql}");
    }
    s.run("begin; cluster pg_class using pg_class_oid_index").unwrap();
    assert_eq!(
        s.query("prepare transaction 'x'"),
        "ERROR:  cannot PREPARE a transaction that modified relation mapping"
    );
    s.query("rollback");
    s.run("begin; reindex table pg_database; commit").unwrap();
    s.run("vacuum full pg_toast.pg_toast_1255").unwrap();
    assert_eq!(s.query("select count(*) from pg_database"), "3");
}
