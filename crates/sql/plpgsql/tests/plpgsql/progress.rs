//! How far commands are that take long. Code that runs in the middle of a command looks; nothing depends on time.

use crate::support::{Client, Collected, Server};

/// A session with a function that tells what a query gives while a command runs, and lets its argument through.
fn watcher(server: &Server, query: &str) -> Client {
    server.instance().languages().register(vec![plpgsql::language()]);
    let s = server.connect();
    s.run("create table t (a int, b int)").unwrap();
    s.run("insert into t select g, g from generate_series(1, 1000) g").unwrap();
    s.run(&format!(
        "create function look(x int) returns int language plpgsql immutable as
         'begin if x = 1000 then raise notice ''%'', ({query}); end if; return x; end'"
    ))
    .unwrap();
    s
}

/// What the function told while a command ran.
fn seen(s: &Client, command: &str) -> String {
    s.run(command).unwrap().notices.join("\n")
}

#[test]
fn an_index_is_built() {
    let server = Server::new();
    let s = watcher(
        &server,
        "select concat_ws('' '', pid = pg_backend_pid(), datname, relid::regclass, command, phase,
                          blocks_done + 1 = blocks_total, tuples_done, index_relid > 0)
         from pg_stat_progress_create_index",
    );
    assert_eq!(
        seen(&s, "create index i on t (look(a))"),
        "t postgres public.t CREATE INDEX building index: scanning table t 999 t"
    );
    assert_eq!(
        seen(&s, "reindex index i"),
        "t postgres public.t REINDEX building index: scanning table t 999 t"
    );
    assert_eq!(s.query("select count(*) from pg_stat_progress_create_index"), "0");
}

#[test]
fn a_table_is_clustered() {
    let server = Server::new();
    let s = watcher(
        &server,
        "select concat_ws('' '', relid::regclass, command, phase, heap_tuples_scanned, heap_tuples_written,
                          heap_blks_scanned = heap_blks_total, index_rebuild_count, cluster_index_relid::regclass)
         from pg_stat_progress_cluster",
    );
    s.run("create index i on t (look(a)); create index j on t (a)").unwrap();
    assert_eq!(seen(&s, "cluster t using j"), "public.t CLUSTER rebuilding index 1000 1000 t 0 public.j");
    assert_eq!(seen(&s, "vacuum full t"), "public.t VACUUM FULL rebuilding index 1000 1000 t 0 -");
}

#[test]
fn rows_are_copied() {
    let server = Server::new();
    let query = "select concat_ws('' '', relid::regclass, command, type, bytes_processed, tuples_processed,
                                  tuples_excluded, tuples_skipped) from pg_stat_progress_copy";
    let s = watcher(&server, query);
    s.run("create function note() returns trigger language plpgsql as 'begin perform look(1000); return null; end'")
        .unwrap();
    s.run("create trigger after_all after insert on t execute function note()").unwrap();
    let rows = b"1\t2\n3\t4\n5\t6\n".to_vec();
    let mut out = Collected { input: vec![rows], ..Collected::default() };
    s.session().simple_query("copy t from stdin where a <> 3", &mut out).unwrap();
    assert_eq!(out.notices, ["t COPY FROM PIPE 12 2 1 0"]);
    s.run("truncate t; drop trigger after_all on t; insert into t values (7, 1000), (1000, 1)").unwrap();
    assert_eq!(seen(&s, "copy (select look(a) from t) to stdout"), "- COPY TO PIPE 2 1 0 0");
}

#[test]
fn a_command_that_fails_is_over() {
    let server = Server::new();
    let s = watcher(&server, "select 1");
    s.run("insert into t values (1, 1)").unwrap();
    s.run("create unique index on t (a)").err().unwrap();
    assert_eq!(s.query("select count(*) from pg_stat_progress_create_index"), "0");
    assert!(
        s.query("select * from pg_stat_get_progress_info('nix')").contains("invalid command name: \"nix\"")
    );
}
