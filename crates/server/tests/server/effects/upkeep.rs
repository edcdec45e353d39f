//! Settings of automatic vacuums. Each makes a server do something to a table that it does not do without.

use super::transcript;
use crate::support::{Client, Server, until};

/// Names of all settings here.
pub fn names() -> impl Iterator<Item = &'static str> {
    THRESHOLDS.iter().map(|row| row.0).chain(OTHERS.iter().map(|row| row.0))
}

/// A setting and its value; what happens to a table; the count that then grows with the value, and not without. The table had 1000 rows when it
/// was last vacuumed and analysed.
const THRESHOLDS: &[(&str, &str, &str, &str)] = &[
    ("autovacuum_analyze_scale_factor", "0", "update t set i = i where i <= 100", "autoanalyze_count"),
    ("autovacuum_analyze_threshold", "0", "update t set i = i where i <= 120", "autoanalyze_count"),
    ("autovacuum_vacuum_scale_factor", "0", "delete from t where i <= 100", "autovacuum_count"),
    ("autovacuum_vacuum_threshold", "0", "delete from t where i <= 205", "autovacuum_count"),
    ("autovacuum_vacuum_max_threshold", "60", "delete from t where i <= 100", "autovacuum_count"),
    (
        "autovacuum_vacuum_insert_scale_factor",
        "0",
        "insert into t select generate_series(1, 1100)",
        "autovacuum_count",
    ),
    (
        "autovacuum_vacuum_insert_threshold",
        "0",
        "insert into t select generate_series(1, 300)",
        "autovacuum_count",
    ),
];

type Seen = fn(&mut Server, &mut Client);

const OTHERS: &[(&str, &str, Seen)] = &[
    ("log_autovacuum_min_duration", "0", |server, client| {
        busy(client, "logged", "autovacuum_vacuum_cost_delay = 0");
        server.wait_for_log("LOG:  automatic vacuum of table \"postgres.public.logged\"");
    }),
    ("autovacuum", "off", |_, client| {
        let launcher = "select count(*) from pg_stat_activity where backend_type = 'autovacuum launcher'";
        until("no launcher", || client.value(launcher) == "0");
    }),
    ("autovacuum_naptime", "1", |_, client| {
        // No counter tells that it may be kept up now.
        busy(client, "napped", "autovacuum_enabled = off");
        client.query("alter table napped reset (autovacuum_enabled)").unwrap();
        until("a look", || count(client, "napped", "autovacuum_count") > 0);
    }),
    ("autovacuum_work_mem", "64kB", |_, client| {
        slow(client, "small");
        let memory =
            "select max_dead_tuple_bytes from pg_stat_progress_vacuum where relid = 'small'::regclass";
        until("its memory", || client.value(memory) == "65536");
    }),
    ("autovacuum_max_workers", "1", |_, client| {
        ["one", "two"].into_iter().for_each(|table| busy(client, table, SLOW));
        let workers = "select count(*) from pg_stat_activity where backend_type = 'autovacuum worker'";
        until("one", || client.value(workers) == "1");
        client.query("alter system set autovacuum_max_workers = 2").unwrap();
        client.query("select pg_reload_conf()").unwrap();
        until("two", || client.value(workers) == "2");
    }),
    ("autovacuum_vacuum_cost_limit", "1", |_, client| {
        busy(client, "limited", "autovacuum_vacuum_cost_delay = 100");
        waits(client);
    }),
    ("autovacuum_vacuum_cost_delay", "100", |_, client| {
        busy(client, "delayed", "autovacuum_vacuum_cost_limit = 1");
        waits(client);
    }),
];

/// Parameters of a table that a worker never ends with.
const SLOW: &str = "autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1";

fn count(client: &mut Client, table: &str, count: &str) -> i64 {
    let question = format!("select {count} from pg_stat_user_tables where relname = '{table}'");
    client.value(&question).parse().unwrap()
}

/// A table that needs to be vacuumed, with these parameters.
fn busy(client: &mut Client, table: &str, parameters: &str) {
    for statement in [
        format!("create table {table} (i int) with ({parameters})"),
        format!("insert into {table} select generate_series(1, 20000)"),
    ] {
        client.query(&statement).unwrap();
    }
}

fn waits(client: &mut Client) {
    let pauses = "select count(*) from pg_stat_activity where backend_type = 'autovacuum worker' and wait_event = 'VacuumDelay'";
    until("a pause", || client.value(pauses) != "0");
}

fn slow(client: &mut Client, table: &str) {
    busy(client, table, SLOW);
    waits(client);
}

fn set(client: &mut Client, what: &str) {
    transcript(client, &format!("alter system {what};;select pg_reload_conf()"));
}

#[test]
fn when_tables_are_kept_up() {
    let server = Server::start_with_upkeep(&["autovacuum_naptime=1"]);
    let mut client = server.client();
    for (name, value, statement, column) in THRESHOLDS {
        transcript(
            &mut client,
            "drop table if exists t, witness;;create table t (i int) with (autovacuum_enabled = off);;insert into t select generate_series(1, 1000);;vacuum analyze t",
        );
        transcript(&mut client, &format!("{statement};;alter table t reset (autovacuum_enabled)"));
        // A look at all tables that finds this one needs nothing of the other.
        busy(&mut client, "witness", "autovacuum_enabled = off");
        transcript(&mut client, "alter table witness reset (autovacuum_enabled)");
        until("a look", || count(&mut client, "witness", "autovacuum_count") > 0);
        assert_eq!(count(&mut client, "t", column), 0, "{name}");
        set(&mut client, &format!("set {name} = '{value}'"));
        until(name, || count(&mut client, "t", column) > 0);
        set(&mut client, &format!("reset {name}"));
    }
}

#[test]
fn how_tables_are_kept_up() {
    for (name, value, seen) in OTHERS {
        let mut server = Server::start_with_upkeep(&["log_line_prefix="]);
        let mut client = server.client();
        set(&mut client, &format!("set {name} = '{value}'"));
        until(name, || {
            client.value(&format!("select setting <> boot_val from pg_settings where name = '{name}'")) == "t"
        });
        seen(&mut server, &mut client);
    }
}
