//! Subscriptions: tables are copied from another server, its changes applied, over crashes of either, and what is in the way of that is told.

use crate::support::{Client, Server, run, until};

/// A server that can be subscribed to.
fn publisher() -> Server {
    Server::start(&["wal_level=logical"])
}

/// One that tries again soon.
fn subscriber() -> Server {
    Server::start(&["wal_retrieve_retry_interval=50ms", "wal_receiver_timeout=20s"])
}

fn connection(to: &Server) -> String {
    format!("host={} port={} user=postgres dbname=postgres", to.socket().display(), to.port)
}

fn subscribe(client: &mut Client, to: &Server, options: &str) {
    let connection = connection(to);
    run(client, &[&format!("create subscription s connection '{connection}' publication p {options}")]);
}

/// All rows of a table as one text.
fn rows(client: &mut Client, columns: &str, table: &str) -> String {
    let query = format!(
        "select coalesce(string_agg(t::text, ' ' order by t::text), '') from (select {columns} from {table}) t"
    );
    client.value(&query)
}

fn agree(publisher: &mut Client, subscriber: &mut Client, tables: &[(&str, &str)]) {
    for (columns, table) in tables {
        let told = rows(publisher, columns, table);
        until(&format!("{table} is the same"), || rows(subscriber, columns, table) == told);
    }
}

const SCHEMA: &[&str] = &[
    "create schema other",
    "create table keyed (id int primary key, v text, big text)",
    "create table whole (a int, b numeric, c timestamptz)",
    "alter table whole replica identity full",
    "create table other.\"Odd\" (\"K x\" text primary key, v int[], j jsonb)",
    "create table parts (id int primary key, v text) partition by range (id)",
    "create table parts_low partition of parts for values from (0) to (100)",
    "create table parts_high partition of parts for values from (100) to (200)",
    "create table noid (id int)",
];

const TABLES: &[(&str, &str)] = &[
    ("id, v, md5(big)", "keyed"),
    ("a, b, c", "whole"),
    ("\"K x\", v, j", "other.\"Odd\""),
    ("id, v", "parts"),
    ("id", "noid"),
];

fn changes_arrive(options: &str) {
    let (source, target) = (publisher(), subscriber());
    let (mut there, mut here) = (source.client(), target.client());
    run(&mut there, SCHEMA);
    run(&mut there, &["create publication p for all tables"]);
    // The columns lie otherwise here, and there are more.
    run(
        &mut here,
        &[
            "create schema other",
            "create table keyed (more int default 7, big text, v text, id int primary key)",
        ],
    );
    run(&mut here, &SCHEMA[2..]);
    run(
        &mut there,
        &[
            "insert into keyed select n, 'v' || n, repeat(n::text, 4000) from generate_series(1, 50) n",
            "insert into whole values (1, 1.5, '2024-01-01 12:00+02'), (1, 1.5, '2024-01-01 12:00+02'), (null, null, null)",
            "insert into other.\"Odd\" values ('a\\b', '{1,null}', '{\"x\": 1}')",
            "insert into parts values (1, 'low'), (150, 'high')",
        ],
    );
    subscribe(&mut here, &source, options);
    agree(&mut there, &mut here, TABLES);
    assert_eq!(here.value("select sum(more) from keyed"), "350", "what is not told has its default");
    until("all tables are ready", || {
        here.value("select string_agg(distinct srsubstate::text, '') from pg_subscription_rel") == "r"
    });
    run(
        &mut there,
        &[
            "update keyed set v = 'other' where id <= 10",
            "update keyed set id = 1000 where id = 1",
            "delete from keyed where id > 40 and id < 60",
            "update whole set b = 2 where ctid = (select min(ctid) from whole)",
            "delete from whole where a is null",
            "insert into whole select n, n, now() from generate_series(1, 20) n",
            "update other.\"Odd\" set \"K x\" = 'b', j = null",
            "update parts set id = 120 where id = 1",
            "begin; insert into noid values (1); insert into keyed values (60, null, 'x'); savepoint a; insert into noid values (2); rollback to a; insert into noid values (3); commit",
            "begin; insert into noid values (9); rollback",
            "truncate parts",
            "insert into parts values (5, 'again')",
        ],
    );
    agree(&mut there, &mut here, TABLES);
    let slots = "select count(*) from pg_replication_slots";
    until("the slots of copies are gone", || there.value(slots) == "1");
    run(&mut here, &["drop subscription s"]);
    assert_eq!(there.value(slots), "0");
    assert_eq!(here.value("select count(*) from pg_replication_origin"), "0");
    assert_eq!(here.value("select count(*) from pg_subscription_rel"), "0");
}

#[test]
fn tables_are_copied_and_changes_applied() {
    changes_arrive("");
}

#[test]
fn values_come_in_binary_form() {
    changes_arrive("with (binary)");
}

#[test]
fn nothing_is_lost_or_doubled_when_either_is_killed() {
    let (mut source, mut target) = (publisher(), subscriber());
    let tables = [
        "create table accounts (id int primary key, balance int)",
        "create table history (id int, amount int)",
    ];
    run(&mut source.client(), &tables);
    run(&mut target.client(), &tables);
    run(
        &mut source.client(),
        &[
            "create publication p for all tables",
            "insert into accounts select n, 0 from generate_series(1, 100) n",
        ],
    );
    subscribe(&mut target.client(), &source, "");
    for round in 0..6 {
        let mut there = source.client();
        for n in 0..60 {
            let (id, amount) = (n * 7 % 100 + 1, round * 100 + n);
            run(
                &mut there,
                &[&format!(
                    "begin; update accounts set balance = balance + {amount} where id = {id}; insert into history values ({n}, {amount}); commit"
                )],
            );
            if n == 30 && round % 3 != 2 {
                target.kill();
                target.run();
            }
        }
        if round % 3 == 1 {
            run(&mut target.client(), &["checkpoint"]);
        }
        if round % 3 == 2 {
            drop(there);
            source.kill();
            source.run();
        }
    }
    let (mut there, mut here) = (source.client(), target.client());
    agree(&mut there, &mut here, &[("id, balance", "accounts"), ("id, amount", "history")]);
    assert_eq!(here.value("select count(*) from history"), "360");
    let sums = "select (select sum(balance) from accounts) - (select sum(amount) from history)";
    assert_eq!(here.value(sums), "0");
}

#[test]
fn what_is_in_the_way_is_told() {
    let (source, mut target) = (publisher(), subscriber());
    let (mut there, mut here) = (source.client(), target.client());
    let table = "create table t (id int primary key, v text unique)";
    run(&mut there, &[table, "create publication p for table t"]);
    run(&mut here, &[table]);
    subscribe(&mut here, &source, "with (disable_on_error)");
    until("it is ready", || here.value("select srsubstate from pg_subscription_rel") == "r");
    run(&mut there, &["insert into t values (1, 'a'), (2, 'b'), (3, 'c')"]);
    agree(&mut there, &mut here, &[("id, v", "t")]);
    run(&mut here, &["delete from t where id in (1, 2)", "insert into t values (7, 'seven')"]);
    run(&mut there, &["update t set v = 'x' where id = 1", "delete from t where id = 2"]);
    target.wait_for_log("conflict detected on relation \"public.t\": conflict=update_missing");
    target.wait_for_log(
        "Could not find the row to be updated.\n\tRemote row (1, x); replica identity (id)=(1).",
    );
    target.wait_for_log("Could not find the row to be deleted.\n\tReplica identity (id)=(2).");
    run(&mut there, &["insert into t values (7, 'b')"]);
    target.wait_for_log("Key (id)=(7); existing local row (7, seven); remote row (7, b).");
    target.wait_for_log("subscription \"s\" has been disabled because of an error");
    until("it has ended", || {
        here.value("select count(*) from pg_stat_subscription where pid is not null") == "0"
    });
    assert_eq!(here.value("select subenabled from pg_subscription"), "f");
    // The transaction that cannot be applied is passed over.
    let log = target.log();
    let position = log.rsplit_once("finished at ").unwrap().1.lines().next().unwrap().to_owned();
    run(
        &mut here,
        &[&format!("alter subscription s skip (lsn = '{position}')"), "alter subscription s enable"],
    );
    run(&mut there, &["insert into t values (8, 'eight')"]);
    until("it goes on", || here.value("select count(*) from t where id = 8") == "1");
    target.wait_for_log(&format!("logical replication completed skipping transaction at LSN {position}"));
    assert_eq!(here.value("select subskiplsn from pg_subscription"), "0/0");
    run(&mut there, &["update t set v = 'seven' where id = 3"]);
    target.wait_for_log("conflict=update_exists");
    until("it is counted", || {
        here.value(
            "select concat_ws(' ', apply_error_count, confl_insert_exists, confl_update_exists, confl_update_missing, confl_delete_missing) from pg_stat_subscription_stats",
        ) == "2 1 1 1 1"
    });
    run(&mut here, &["select pg_stat_reset_subscription_stats(null)"]);
    assert_eq!(here.value("select apply_error_count from pg_stat_subscription_stats"), "0");
}

#[test]
fn tables_come_and_go_with_publications() {
    let (mut source, target) = (publisher(), subscriber());
    let (mut there, mut here) = (source.client(), target.client());
    let table = |name: &str| format!("create table {name} (id int primary key)");
    run(
        &mut there,
        &[&table("a"), &table("b"), "create publication p for table a", "insert into a values (1)"],
    );
    run(&mut here, &[&table("a")]);
    run(&mut there, &["insert into b values (5)"]);
    subscribe(&mut here, &source, "");
    agree(&mut there, &mut here, &[("id", "a")]);
    run(&mut there, &["alter publication p add table b"]);
    assert_eq!(
        here.error("alter subscription s refresh publication"),
        "42P01 relation \"public.b\" does not exist"
    );
    run(&mut here, &[&table("b"), "alter subscription s refresh publication"]);
    agree(&mut there, &mut here, &[("id", "b")]);
    run(&mut there, &["create publication q for table a"]);
    run(&mut here, &["alter subscription s set publication q"]);
    run(&mut there, &["insert into b values (6)", "insert into a values (2)"]);
    agree(&mut there, &mut here, &[("id", "a")]);
    assert_eq!(here.value("select count(*) from b"), "1");
    let connection = connection(&source);
    assert!(
        here.error(&format!(
            "create subscription t connection '{connection}' publication q with (slot_name = s)"
        ))
        .starts_with(
            "08006 could not create replication slot \"s\": ERROR:  replication slot \"s\" already exists"
        )
    );
    // What comes from elsewhere is not told to who wants none of it.
    run(&mut there, &["select pg_create_logical_replication_slot('local', 'test_decoding')"]);
    run(
        &mut there,
        &[
            "select pg_replication_origin_create('far')",
            "select pg_replication_origin_session_setup('far')",
            "begin; insert into a values (3); select pg_replication_origin_xact_setup('0/AB', now()); commit",
        ],
    );
    assert_eq!(there.value("select pg_replication_origin_session_progress(true)"), "0/AB");
    let changes = |client: &mut Client, only: &str| {
        client.value(&format!(
            "select count(*) from pg_logical_slot_peek_changes('local', null, null, 'only-local', '{only}')"
        ))
    };
    assert_eq!(changes(&mut there, "0"), "3");
    assert_eq!(changes(&mut there, "1"), "0");
    drop(there);
    source.kill();
    source.run();
    let mut there = source.client();
    assert_eq!(
        there.value("select remote_lsn from pg_replication_origin_status where external_id = 'far'"),
        "0/AB"
    );
    assert_eq!(there.value("select pg_replication_origin_progress('far', false)"), "0/AB");
    source.kill();
    let error = here.error("drop subscription s");
    assert!(
        error.starts_with(
            "08006 could not connect to publisher when attempting to drop replication slot \"s\""
        )
    );
    run(
        &mut here,
        &[
            "alter subscription s disable",
            "alter subscription s set (slot_name = none)",
            "drop subscription s",
        ],
    );
}

#[test]
fn no_more_workers_run_than_may() {
    let source = publisher();
    let table = "create table t (id int primary key)";
    run(&mut source.client(), &[table, "create publication p for table t", "insert into t values (1)"]);
    let asleep = Server::start(&["max_logical_replication_workers=0"]);
    let no_copies =
        Server::start(&["max_sync_workers_per_subscription=0", "wal_retrieve_retry_interval=50ms"]);
    for (server, slot) in [(&asleep, "asleep"), (&no_copies, "no_copies")] {
        run(&mut server.client(), &[table]);
        subscribe(&mut server.client(), &source, &format!("with (slot_name = {slot})"));
    }
    let active = |slot: &str| {
        source.client().value(&format!("select active from pg_replication_slots where slot_name = '{slot}'"))
    };
    until("the other follows", || active("no_copies") == "t");
    assert_eq!(active("asleep"), "f");
    assert_eq!(no_copies.client().value("select srsubstate from pg_subscription_rel"), "i");
    let forgetful = Server::start(&["max_active_replication_origins=0"]);
    assert_eq!(
        forgetful.client().error("select pg_replication_origin_create('x')"),
        "55000 cannot query or manipulate replication origin when \"max_active_replication_origins\" is 0"
    );
}
