//! Unlogged tables and sequences: what a crash takes, and nothing else does.

use crate::support::{Client, Server};

fn error(s: &Client, sql: &str) -> String {
    s.run(sql).err().map_or_else(|| format!("{sql}: no error"), |e| format!("{} {}", e.code(), e.message()))
}

/// The letters of the table `u`, what belongs to it, and its TOAST table.
const LETTERS: &str = "with toast as (select reltoastrelid as oid from pg_class where relname = 'u')
    select string_agg(relpersistence::text, '' order by c.oid) from pg_class c
    where relname ~ '^u(_|$)' or oid in (table toast)
       or oid in (select indexrelid from pg_index where indrelid in (table toast))";

#[test]
fn a_crash_empties_what_is_unlogged_and_nothing_else() {
    let mut server = Server::new();
    let s = server.connect();
    s.run("create unlogged table u (id serial primary key, v text); create index u_v on u (left(v, 40))")
        .unwrap();
    s.run("create unlogged sequence u_own start 7; create table kept (a int)").unwrap();
    assert_eq!(s.query(LETTERS), "uuuuuuu");
    s.run(
        "insert into u (v) select string_agg(md5((i * j)::text), '') from generate_series(1, 200) i,
           generate_series(1, 100) j group by i",
    )
    .unwrap();
    s.run("insert into kept values (1); select nextval('u_own'); checkpoint").unwrap();
    s.run("update u set v = 'y' where id < 50").unwrap();
    s.run("vacuum u").unwrap();
    assert_eq!(s.query("select pg_relation_size('u', 'init'), pg_relation_size('u_v', 'init')"), "0|8192");
    drop(s);
    server.stop_and_restart();
    let s = server.connect();
    assert_eq!(s.query("select count(*), sum(length(v)) from u"), "200|483249");
    assert_eq!(s.query("select nextval('u_own')"), "8");
    drop(s);
    for _ in 0..2 {
        server.crash_and_restart();
        let s = server.connect();
        assert_eq!(s.query("select count(*) from u"), "0");
        assert_eq!(s.query("select a from kept"), "1");
        assert_eq!(s.query("select nextval('u_own')"), "7");
        s.run("insert into u (v) values ('z'), (repeat('long', 100000))").unwrap();
        s.run("set enable_seqscan = off").unwrap();
        assert_eq!(s.query("select id from u where left(v, 40) = 'z'"), "1");
        assert_eq!(s.query("select length(v) from u where id = 2"), "400000");
        s.run("vacuum u").unwrap();
        s.run("truncate u; insert into u (v) values ('after'); reindex table u").unwrap();
    }
}

#[test]
fn set_logged_and_set_unlogged_rewrite_a_table_and_its_sequences() {
    let mut server = Server::new();
    let s = server.connect();
    s.run(
        "create table u (id int generated always as identity primary key, v text);
           insert into u (v) select repeat(chr(65 + g), 20) from generate_series(1, 20) g;
           insert into u (v) select string_agg(md5(g::text), '') from generate_series(1, 500) g",
    )
    .unwrap();
    s.run("begin; alter table u set unlogged; rollback").unwrap();
    assert_eq!(s.query(LETTERS), "ppppp");
    s.run("alter table u set unlogged").unwrap();
    assert_eq!(s.query(LETTERS), "uuuuu");
    assert_eq!(s.query("select count(*), sum(length(v)) from u"), "21|16400");
    s.run("alter table u set logged, add check (id > 0)").unwrap();
    assert_eq!(s.query(LETTERS), "ppppp");
    s.run("create sequence u_s; alter sequence u_s set unlogged").unwrap();
    drop(s);
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!(s.query("select count(*), sum(length(v)) from u"), "21|16400");
    assert_eq!(s.query("insert into u (v) values ('next') returning id > 21"), "t");
    assert_eq!(s.query("select relpersistence from pg_class where relname = 'u_s'"), "u");
    s.run("alter table u set unlogged").unwrap();
    drop(s);
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!(s.query("select count(*) from u"), "0");
}

#[test]
fn copies_of_a_database_have_its_rows_until_a_crash() {
    let mut server = Server::new();
    let s = server.connect();
    s.run("create database base").unwrap();
    let inside = server.connect_to("base", "postgres").unwrap();
    inside.run("create unlogged table u (id int primary key); insert into u values (1), (2)").unwrap();
    drop(inside);
    for strategy in ["wal_log", "file_copy"] {
        s.run(&format!("create database {strategy} template base strategy {strategy}")).unwrap();
    }
    let count = |server: &Server, database| {
        server.connect_to(database, "postgres").unwrap().query("select count(*) from u where id > 0")
    };
    assert_eq!(["wal_log", "file_copy"].map(|database| count(&server, database)), ["2", "2"]);
    drop(s);
    server.crash_and_restart();
    assert_eq!(["base", "wal_log", "file_copy"].map(|database| count(&server, database)), ["0", "0", "0"]);
}

#[test]
fn what_is_logged_does_not_refer_to_what_is_not() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table p (a int primary key); create unlogged table u (a int primary key references p)")
        .unwrap();
    for (sql, expected) in [
        (
            "create table l (a int references u)",
            "42P16 constraints on permanent tables may reference only permanent tables",
        ),
        (
            "create temp table t (a int references u)",
            "42P16 constraints on temporary tables may reference only temporary tables",
        ),
        (
            "create unlogged table d (a int) partition by list (a)",
            "0A000 partitioned tables cannot be unlogged",
        ),
        (
            "create unlogged view v as select 1",
            "42601 views cannot be unlogged because they do not have storage",
        ),
        (
            "create unlogged table pg_temp.x (a int)",
            "42P16 only temporary relations may be created in temporary schemas",
        ),
        ("alter table u set logged, set unlogged", "0A000 cannot change persistence setting twice"),
        (
            "create temp table ti (a int generated always as identity (unlogged))",
            "42P16 cannot set logged status of a temporary sequence",
        ),
        (
            "alter index u_pkey set logged",
            "42809 ALTER action SET LOGGED cannot be performed on relation \"u_pkey\"",
        ),
    ] {
        assert_eq!(error(&s, sql), expected);
    }
    s.run("alter table p set unlogged").unwrap();
    assert_eq!(
        error(&s, "alter table u set logged"),
        "42P16 could not change table \"u\" to logged because it references unlogged table \"p\""
    );
    s.run("alter table p set logged; alter table u set logged").unwrap();
    assert_eq!(
        error(&s, "alter table p set unlogged"),
        "42P16 could not change table \"p\" to unlogged because it references logged table \"u\""
    );
}
