//! VACUUM and ANALYZE by themselves, as clients see them.

use crate::support::{Client, Server, run, until};

/// Tables are looked at often, and need something soon.
const EAGER: [&str; 4] =
    ["autovacuum_naptime=1", "log_autovacuum_min_duration=0", "log_line_prefix=", "deadlock_timeout=10ms"];

/// Waits until a count of `pg_stat_all_tables` is above a number.
fn until_above(client: &mut Client, table: &str, count: &str, least: i64) {
    let question = format!("select {count} from pg_stat_all_tables where relid = '{table}'::regclass");
    until(&format!("{count} of {table}"), || {
        client.value(&question).parse::<i64>().is_ok_and(|count| count > least)
    });
}

#[test]
fn tables_are_vacuumed_and_analysed_when_they_need_it_and_not_before() {
    let mut server = Server::start_with_upkeep(&["log_autovacuum_min_duration=0", "log_line_prefix="]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table few (i int) with (autovacuum_vacuum_insert_threshold = -1)",
            "create table many (i int primary key, v int)",
            "create table off (i int) with (autovacuum_enabled = false)",
            "create temp table mine (i int)",
            "insert into few select generate_series(1, 50)",
            "insert into off select generate_series(1, 9000)",
            "insert into mine select generate_series(1, 9000)",
            "insert into many select i, i from generate_series(1, 3000) i",
        ],
    );
    // A minute has not passed: the commit tells.
    until_above(&mut client, "many", "autovacuum_count", 0);
    until_above(&mut client, "many", "autoanalyze_count", 0);
    let known = "select last_autovacuum is not null, last_autoanalyze is not null, last_vacuum is null, vacuum_count, n_mod_since_analyze, n_ins_since_vacuum, n_live_tup from pg_stat_user_tables where relname = 'many'";
    let row: Vec<_> = client.query(known).unwrap().remove(0).into_iter().flatten().collect();
    assert_eq!(row.join(" "), "t t t 0 0 0 3000");
    assert_eq!(client.value("select reltuples from pg_class where relname = 'many'"), "3000");
    assert_eq!(client.value("select count(*) from pg_stats where tablename = 'many'"), "2");
    server.wait_for_log("LOG:  automatic vacuum of table \"postgres.public.many\": index scans: 0");
    server.wait_for_log("LOG:  automatic analyze of table \"postgres.public.many\"\n\tavg read rate");
    // Dead rows are taken out once there are more than 50 and a fifth, not before.
    let vacuums = "select autovacuum_count from pg_stat_user_tables where relname = 'many'";
    let before: i64 = client.value(vacuums).parse().unwrap();
    run(&mut client, &["delete from many where i <= 650", "insert into few select generate_series(1, 51)"]);
    until_above(&mut client, "few", "autoanalyze_count", 0);
    assert_eq!(client.value(vacuums), before.to_string());
    run(&mut client, &["delete from many where i = 700"]);
    until_above(&mut client, "many", "autovacuum_count", before);
    until("no dead rows", || {
        client.value("select n_dead_tup from pg_stat_user_tables where relname = 'many'") == "0"
    });
    let left = "select sum(autovacuum_count + autoanalyze_count) from pg_stat_all_tables where relname in ('off', 'mine')";
    assert_eq!(client.value(left), "0");
    // What workers and their launcher read and wrote is theirs.
    for (backend, object, figures) in [
        ("autovacuum worker", "relation", "sum(hits) > 0 and bool_or(context = 'vacuum' and hits > 0)"),
        ("autovacuum worker", "wal", "bool_and(reads is null and writes is not null)"),
        ("autovacuum launcher", "relation", "sum(hits) > 0 and bool_and(extends is null)"),
    ] {
        let question = format!(
            "select {figures} from pg_stat_io where backend_type = '{backend}' and object = '{object}'"
        );
        assert_eq!(client.value(&question), "t", "{backend}, {object}");
    }
    // What was counted is there after a restart.
    let counts = "select autovacuum_count, autoanalyze_count, last_autovacuum, total_autovacuum_time from pg_stat_user_tables where relname = 'many'";
    let before = client.query(counts).unwrap();
    server.stop();
    server.run();
    assert_eq!(server.client().query(counts).unwrap(), before);
}

#[test]
fn large_values_and_catalogs_are_kept_up_too() {
    let server = Server::start_with_upkeep(&EAGER);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table big (i int, v text) with (autovacuum_enabled = off, toast.autovacuum_vacuum_threshold = 10, toast.autovacuum_enabled = on)",
            "alter table big alter v set storage external",
            "insert into big select i, repeat('x', 9000) from generate_series(1, 100) i",
            "update big set v = repeat('y', 9000)",
        ],
    );
    let toast = client.value("select reltoastrelid::regclass from pg_class where relname = 'big'");
    until_above(&mut client, &toast, "autovacuum_count", 0);
    assert_eq!(client.value("select autovacuum_count from pg_stat_user_tables where relname = 'big'"), "0");
    let columns: Vec<_> = (0..800).map(|i| format!("c{i} int")).collect();
    for _ in 0..4 {
        run(&mut client, &[&format!("create table wide ({})", columns.join(", ")), "drop table wide"]);
    }
    until_above(&mut client, "pg_attribute", "autovacuum_count", 0);
}

#[test]
fn settings_and_parameters_count_from_the_next_look_on() {
    let mut server = Server::start_with_upkeep(&EAGER);
    let mut client = server.client();
    let launcher = "select count(*) from pg_stat_activity where backend_type = 'autovacuum launcher'";
    until("a launcher", || client.value(launcher) == "1");
    run(&mut client, &["alter system set autovacuum = off", "select pg_reload_conf()"]);
    until("none", || client.value(launcher) == "0");
    run(
        &mut client,
        &[
            "create table t (i int) with (autovacuum_enabled = off)",
            "insert into t select generate_series(1, 5000)",
            "alter system reset autovacuum",
            "select pg_reload_conf()",
        ],
    );
    until("a launcher again", || client.value(launcher) == "1");
    run(&mut client, &["alter table t reset (autovacuum_enabled)"]);
    until_above(&mut client, "t", "autovacuum_count", 0);
    // Without counters there is nothing to go by.
    run(&mut client, &["alter system set track_counts = off", "select pg_reload_conf()"]);
    until("none", || client.value(launcher) == "0");
    server.wait_for_log("WARNING:  autovacuum not started because of misconfiguration");
    server.wait_for_log("HINT:  Enable the \"track_counts\" option.");
}

/// A table that a worker is slow with.
fn slow_table(server: &Server, client: &mut Client) -> i32 {
    run(
        client,
        &[
            "create table slow (i int primary key, v int) with (autovacuum_enabled = off)",
            "insert into slow select i, i from generate_series(1, 20000) i",
            "update slow set v = v + 1",
            "alter table slow set (autovacuum_enabled = on, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)",
        ],
    );
    let _ = server;
    let mut pid = 0;
    until("a worker", || {
        let rows = client
            .query("select pid from pg_stat_activity where backend_type = 'autovacuum worker' and query like 'autovacuum: VACUUM% public.slow' and wait_event = 'VacuumDelay'")
            .unwrap();
        pid = rows.first().and_then(|row| row[0].as_ref()?.parse().ok()).unwrap_or(0);
        pid != 0
    });
    pid
}

#[test]
fn a_worker_gives_way_to_whoever_needs_its_table() {
    let mut server = Server::start_with_upkeep(&EAGER);
    let mut client = server.client();
    slow_table(&server, &mut client);
    let shown = "select usename is null, datname, state, client_port is null from pg_stat_activity where backend_type = 'autovacuum worker'";
    let row: Vec<_> = client.query(shown).unwrap().remove(0).into_iter().flatten().collect();
    assert_eq!(row.join(" "), "t postgres active t");
    run(&mut client, &["alter table slow add column w int"]);
    server.wait_for_log("ERROR:  canceling autovacuum task\n");
    server.wait_for_log("CONTEXT:  ");
    server.wait_for_log("automatic vacuum of table \"postgres.public.slow\"");
    run(&mut client, &["drop table slow"]);
}

#[test]
fn workers_are_cancelled_and_ended_by_those_who_may() {
    let mut server = Server::start_with_upkeep(&EAGER);
    let mut client = server.client();
    let pid = slow_table(&server, &mut client);
    run(&mut client, &["create role joe login in role pg_signal_backend"]);
    let mut joe = server.connect(&[("user", "joe")]).unwrap();
    for (function, what, act) in [
        ("pg_cancel_backend", "cancel query", "cancel"),
        ("pg_terminate_backend", "terminate process", "terminate"),
    ] {
        let denied = joe.error(&format!("select {function}({pid})"));
        assert_eq!(denied, format!("42501 permission denied to {what}"), "{act}");
    }
    run(&mut client, &["grant pg_signal_autovacuum_worker to joe"]);
    assert_eq!(joe.value(&format!("select pg_cancel_backend({pid})")), "t");
    server.wait_for_log("ERROR:  canceling autovacuum task\n");
    let worker = "select pid from pg_stat_activity where backend_type = 'autovacuum worker' and query like '%public.slow' and wait_event = 'VacuumDelay'";
    let mut next = String::new();
    until("another worker", || {
        let rows = client.query(worker).unwrap();
        next = rows.first().and_then(|row| row[0].clone()).unwrap_or_default();
        !next.is_empty()
    });
    assert_eq!(joe.value(&format!("select pg_terminate_backend({next}, 30000)")), "t");
    server.wait_for_log("FATAL:  terminating autovacuum process due to administrator command\n");
    // Nor does the server wait for one.
    until("a third one", || !client.query(worker).unwrap().is_empty());
    server.stop();
}

#[test]
fn a_database_is_removed_under_its_workers() {
    let mut server = Server::start_with_upkeep(&EAGER);
    let mut client = server.client();
    run(&mut client, &["create database other"]);
    let mut other = server.connect(&[("database", "other")]).unwrap();
    slow_table(&server, &mut other);
    drop(other);
    until("it is gone", || client.query("drop database other").is_ok());
    server.wait_for_log("FATAL:  terminating autovacuum process due to administrator command\n");
    run(&mut client, &["create table t as select generate_series(1, 2000) i"]);
    until_above(&mut client, "t", "autovacuum_count", 0);
}

/// What dies while a snapshot needs it cannot be taken out: no worker tries again and again.
#[test]
fn a_table_is_left_alone_while_a_snapshot_needs_its_rows() {
    let server = Server::start_with_upkeep(&EAGER);
    let (mut client, mut reader) = (server.client(), server.client());
    run(
        &mut client,
        &[
            "create table t (i int, v int) with (autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 1000000)",
            "insert into t select i, i from generate_series(1, 1000) i",
        ],
    );
    run(&mut reader, &["begin isolation level repeatable read", "select count(*) from t"]);
    run(&mut client, &["update t set v = 0"]);
    until_above(&mut client, "t", "autovacuum_count", 0);
    // Two looks at all tables later, as another table shows.
    for name in ["a", "b", "c"] {
        run(
            &mut client,
            &[
                &format!("create table {name} (i int) with (autovacuum_enabled = off)"),
                &format!("insert into {name} select generate_series(1, 2000)"),
                &format!("alter table {name} reset (autovacuum_enabled)"),
            ],
        );
        until_above(&mut client, name, "autovacuum_count", 0);
    }
    let count = "select autovacuum_count from pg_stat_user_tables where relname = 't'";
    assert_eq!(client.value(count), "1");
    run(&mut reader, &["commit"]);
    until_above(&mut client, "t", "autovacuum_count", 1);
}

#[test]
fn temporary_tables_that_a_crash_left_behind_are_dropped() {
    let mut server = Server::start_with_upkeep(&EAGER);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create temp table left_behind (i serial primary key, v text)",
            "insert into left_behind (v) values ('x')",
        ],
    );
    server.kill();
    server.run();
    let (mut client, mut owner) = (server.client(), server.client());
    run(&mut owner, &["create temp table kept (i int)", "insert into kept values (1)"]);
    let left = "select count(*) from pg_class where relname like 'left_behind%'";
    until("it is gone", || client.value(left) == "0");
    server.wait_for_log("LOG:  autovacuum: dropping orphan temp table \"postgres.pg_temp_");
    // Another look later, what a session has is still there.
    run(&mut client, &["create table t as select generate_series(1, 2000) i"]);
    until_above(&mut client, "t", "autovacuum_count", 0);
    assert_eq!(owner.value("select count(*) from kept"), "1");
}
