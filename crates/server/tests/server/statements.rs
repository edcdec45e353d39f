//! What is seen of statements: their ids, `pg_stat_statements`, `auto_explain`.

use crate::support::{Client, Server};

fn run(client: &mut Client, text: &str) {
    client.query(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
}

fn column(client: &mut Client, text: &str) -> Vec<String> {
    let rows = client.query(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    rows.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect()
}

/// Query, calls, rows: of the statements whose text is like a pattern.
fn counted(client: &mut Client, pattern: &str) -> Vec<String> {
    column(
        client,
        &format!(
            "select calls || ' ' || rows || ' ' || query from pg_stat_statements where query like '{pattern}' order by 1"
        ),
    )
}

fn with_statements(more: &[&str]) -> Server {
    let settings = [&["shared_preload_libraries=pg_stat_statements"], more].concat();
    let server = Server::start(&settings);
    run(&mut server.client(), "create extension pg_stat_statements");
    server
}

#[test]
fn statements_that_differ_in_constants_are_one() {
    let server = with_statements(&[]);
    let mut client = server.client();
    run(&mut client, "create table t (a int, b text)");
    run(&mut client, "select pg_stat_statements_reset()");
    for i in 0..4 {
        run(&mut client, &format!("insert into t values ({i}, 'x{i}')"));
        run(&mut client, &format!("/* {i} */ select b from t where a = {i}"));
    }
    run(&mut client, "insert into t values (4, 'y'), (5, 'z')");
    run(&mut client, "select b from t where a in (1, 2)");
    run(&mut client, "SELECT b AS c FROM t WHERE a IN (1, 2, 3, 4)");
    run(&mut client, "set work_mem = '1MB'");
    run(&mut client, "set work_mem = '2MB'");
    assert_eq!(
        counted(&mut client, "%"),
        [
            "1 1 select pg_stat_statements_reset()",
            "1 2 insert into t values ($1, $2), ($3, $4)",
            "2 0 set work_mem = $1",
            "2 6 select b from t where a in ($1 /*, ... */)",
            "4 4 insert into t values ($1, $2)",
            "4 4 select b from t where a = $1",
        ]
    );
    let figures = "select (total_exec_time > 0, min_exec_time <= mean_exec_time, max_exec_time >= mean_exec_time, \
                   shared_blks_hit > 0, wal_records, stats_since <= now(), toplevel, plans)::text \
                   from pg_stat_statements where query = 'insert into t values ($1, $2)'";
    assert_eq!(client.value(figures), "(t,t,t,t,4,t,t,0)");
}

#[test]
fn functions_are_looked_into_if_wanted() {
    let server = with_statements(&["pg_stat_statements.track_planning=on"]);
    let mut client = server.client();
    run(&mut client, "create table t (a int)");
    run(
        &mut client,
        "create function f(n int) returns int language plpgsql as 'begin return (select count(*) from t where a = n); end'",
    );
    run(&mut client, "select f(1)");
    let nested = "select calls || ' ' || plans || ' ' || query from pg_stat_statements where not toplevel and query like '%(*)%'";
    assert!(column(&mut client, nested).is_empty());
    run(&mut client, "set pg_stat_statements.track = 'all'");
    run(&mut client, "select f(2)");
    assert_eq!(column(&mut client, nested), ["1 1 (select count(*) from t where a = n)"]);
    run(&mut client, "set pg_stat_statements.track = 'none'");
    run(&mut client, "select 'nobody counts'");
    assert!(counted(&mut client, "%nobody%").is_empty());
    run(&mut client, "set pg_stat_statements.track = 'top'");
    run(&mut client, "set pg_stat_statements.track_utility = off");
    run(&mut client, "create table u (a int)");
    assert!(counted(&mut client, "%table u%").is_empty());
    assert_eq!(client.value("select plans > 0 and total_plan_time > 0 from pg_stat_statements where query like 'select f(%' limit 1"), "t");
}

#[test]
fn figures_survive_a_clean_restart_and_are_hidden_from_others() {
    let mut server = with_statements(&[]);
    let mut client = server.client();
    run(&mut client, "create role r login");
    run(&mut client, "select 'kept'");
    let before = client.value("select queryid from pg_stat_statements where query = 'select $1'");
    drop(client);
    server.stop();
    server.run();
    let mut client = server.client();
    assert_eq!(client.value("select queryid from pg_stat_statements where query = 'select $1'"), before);
    let mut other = server.connect(&[("user", "r")]).unwrap();
    let seen = "select count(*) filter (where query = '<insufficient privilege>' and queryid is null) > 3 from pg_stat_statements";
    assert_eq!(other.value(seen), "t");
    assert!(other.error("select pg_stat_statements_reset()").starts_with("42501 "));
    run(&mut client, &format!("select pg_stat_statements_reset(queryid => {before})"));
    assert!(column(&mut client, "select query from pg_stat_statements where query = 'select $1'").is_empty());
    run(&mut client, "select pg_stat_statements_reset()");
    assert_eq!(client.value("select dealloc from pg_stat_statements_info"), "0");
}

#[test]
fn without_the_library_there_is_nothing_to_see() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, "create extension pg_stat_statements");
    let refused = client.error("select * from pg_stat_statements");
    assert_eq!(refused, "55000 pg_stat_statements must be loaded via \"shared_preload_libraries\"");
    assert_eq!(client.value("select count(*) from pg_settings where name like 'pg_stat_statements.%'"), "0");
    assert_eq!(
        client.error("create extension auto_explain"),
        "0A000 extension \"auto_explain\" is not available"
    );
    assert!(client.error("load 'nothing'").starts_with("58P01 "));
    drop(client);
    let mut server = Server::init(&[]);
    server.set_option("shared_preload_libraries=nothing");
    server.launch();
    assert!(!server.becomes_ready());
    assert!(
        server.log().contains("FATAL:  could not access file \"nothing\": No such file or directory"),
        "{}",
        server.log()
    );
}

#[test]
fn ids_are_shown_where_postgres_shows_them() {
    let server = Server::start(&["log_line_prefix=<%Q> ", "log_min_duration_statement=0"]);
    let mut client = server.client();
    let id = |client: &mut Client, query: &str| {
        let lines = column(client, &format!("explain (verbose, costs off) {query}"));
        lines.last().and_then(|line| line.strip_prefix("Query Identifier: ")).map(str::to_string)
    };
    assert_eq!(id(&mut client, "select 1"), None);
    run(&mut client, "set compute_query_id = on");
    run(
        &mut client,
        "create table t (a int, b int); create schema s; create table s.t (a int, b int); create view v as select a from t",
    );
    let mut other = |query: &str| id(&mut client, query).expect("an id");
    let known = other("select a from t where b = 1");
    for same in [
        "select a as x from t where b = 2",
        "select a from s.t where b = 1",
        "SELECT a FROM t WHERE b in (3)",
    ] {
        assert_eq!(other(same), known, "{same}");
    }
    for differs in [
        "select b from t where b = 1",
        "select a from t x where b = 1",
        "select a from t where b = 1 and a = 1",
        "select a from v",
    ] {
        assert_ne!(other(differs), known, "{differs}");
    }
    run(&mut client, "set compute_query_id = regress");
    assert_eq!(id(&mut client, "select 1"), None);
    run(&mut client, "set compute_query_id = on");
    let mine = "select query_id from pg_stat_activity where pid = pg_backend_pid()";
    let shown = client.value(mine);
    assert_eq!(Some(shown.clone()), id(&mut client, mine));
    assert!(server.log().contains(&format!("<{shown}> LOG:  duration: ")), "{}", server.log());
}

#[test]
fn a_session_with_temporary_tables_shares_plans_whose_names_it_does_not_hide() {
    let server = with_statements(&["pg_stat_statements.track_planning=on"]);
    let (mut one, mut other) = (server.client(), server.client());
    run(&mut one, "create table t (a int primary key); insert into t values (1)");
    run(&mut one, "create table unhidden (a int primary key); insert into unhidden values (1)");
    run(&mut other, "create temporary table hiding (a int)");
    let sought = "select a from unhidden where a > 0";
    let plans = "select plans from pg_stat_statements where query = 'select a from unhidden where a > $1'";
    assert_eq!((one.value(sought), one.value(plans)), ("1".into(), "1".into()));
    assert_eq!((other.value(sought), one.value(plans)), ("1".into(), "1".into()), "planned once for both");
    let back = "select a from t where a > 0";
    assert_eq!(one.value(back), "1");
    run(&mut other, "create temporary table t (a int); insert into t values (2)");
    assert_eq!((other.value(back), one.value(back)), ("2".into(), "1".into()));
    run(&mut other, "drop table pg_temp.t");
    assert_eq!((other.value(back), one.value(back)), ("1".into(), "1".into()));
    let read = "select a::positive from unhidden";
    run(&mut one, "create domain positive as int check (value > 0)");
    run(&mut other, "create domain pg_temp.positive as int check (value > 5)");
    assert_eq!(one.value(read), "1");
    assert!(other.query(read).is_err(), "the type is the session's own");
    assert_eq!(one.value(read), "1");
    let own = "select 7::pg_temp.positive";
    assert_eq!(other.value(own), "7");
    assert!(one.query(own).is_err(), "it has no such type");
}

#[test]
fn plans_of_slow_statements_are_logged() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        "create table t (a int primary key, b text); insert into t select n, 'x' from generate_series(1, 100) n",
    );
    run(
        &mut client,
        "create function f() returns bigint language plpgsql as 'begin return (select count(*) from t); end'",
    );
    run(&mut client, "load 'auto_explain'; set auto_explain.log_min_duration = 0; set enable_seqscan = off");
    run(&mut client, "select b from t where a = 7");
    let log = server.log();
    let expected =
        "ms  plan:\n\tQuery Text: select b from t where a = 7\n\tIndex Scan using t_pkey on t  (cost=";
    assert!(log.contains(expected) && log.contains("Index Cond: (a = 7)"), "{log}");
    run(
        &mut client,
        "set auto_explain.log_analyze = on; set auto_explain.log_timing = off; set auto_explain.log_nested_statements = on",
    );
    run(&mut client, "select f()");
    let log = server.log();
    assert!(
        log.contains("Query Text: (select count(*) from t)") && log.contains("(actual rows=100.00 loops=1)"),
        "{log}"
    );
    run(&mut client, "set auto_explain.log_format = 'json'; set auto_explain.log_settings = on");
    run(&mut client, "select 'json'");
    let log = server.log();
    let json = "plan:\n\t{\n\t  \"Query Text\": \"select 'json'\",\n\t  \"Plan\": {\n\t    \"Node Type\": \"Result\",";
    assert!(
        log.contains(json) && log.contains("\"enable_seqscan\": \"off\"") && log.contains("\n\t}\n"),
        "{log}"
    );
    run(&mut client, "set auto_explain.sample_rate = 0");
    run(&mut client, "select 'unsampled'");
    run(&mut client, "set auto_explain.sample_rate = 1; set auto_explain.log_min_duration = '1h'");
    run(&mut client, "select 'fast'");
    let log = server.log();
    assert!(
        !log.contains("Text\": \"select 'unsampled'") && !log.contains("Text\": \"select 'fast'"),
        "{log}"
    );
    assert_eq!(client.value("select count(*) from pg_settings where name like 'auto\\_explain.%'"), "13");
}

#[test]
fn queries_within_utility_statements_are_nested_ones() {
    let server = with_statements(&[]);
    let mut client = server.client();
    run(&mut client, "create table t (a int); insert into t values (1), (20), (30)");
    let all = |client: &mut Client| {
        let list = "select toplevel || ' ' || calls || ' ' || rows || ' ' || query from pg_stat_statements \
                    where query not like '%pg_stat%' order by query collate \"C\", toplevel";
        column(client, list)
    };
    let statements = [
        "create table made as select a from t where a > 5",
        "create materialized view seen as select a from t where a > 6",
        "refresh materialized view seen",
        "copy (select a from t where a > 7) to stdout",
        "explain select a from t where a > 8",
        "explain (analyze, timing off) select a from t where a > 9",
        "prepare p as select a from t where a > 10",
        "explain execute p",
    ];
    let mut tops = Vec::new();
    for track in ["top", "all"] {
        run(
            &mut client,
            &format!("set pg_stat_statements.track = '{track}'; select pg_stat_statements_reset()"),
        );
        for statement in statements {
            run(&mut client, statement);
        }
        run(
            &mut client,
            "begin; declare c cursor for select a from t where a > 11; fetch 1 from c; close c; commit",
        );
        run(&mut client, "set pg_stat_statements.track = 'none'");
        let counted = all(&mut client);
        run(&mut client, "drop table made; drop materialized view seen; deallocate p");
        let (top, nested): (Vec<String>, Vec<String>) =
            counted.into_iter().partition(|line| line.starts_with('t'));
        if track == "top" {
            assert!(nested.is_empty(), "{nested:?}");
            assert!(
                top.contains(&"true 1 2 create table made as select a from t where a > $1".to_owned()),
                "{top:?}"
            );
            assert!(
                top.contains(&"true 1 2 copy (select a from t where a > 7) to stdout".to_owned()),
                "{top:?}"
            );
            tops = top;
        } else {
            assert_eq!(top, tops, "what is within counts beside, not instead");
            // The table, the copy, what is shown, with a run and without, and the cursor: they differ in a constant. The view has none.
            assert_eq!(nested, ["false 6 7 create table made as select a from t where a > $1"]);
        }
    }
}
