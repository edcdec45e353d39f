//! `old_snapshot_threshold` in a whole server, by the virtual clock: rows that only old snapshots see go, and reading where one is missing
//! fails for exactly those.

use std::time::Duration;

use engine::EngineOptions;
use runtime::sim::Simulation;
use runtime::{sleep, wait};
use txn::TxnOptions;

use crate::cluster::{Server, initialized_disk, small_options};
use crate::session::Client;

const SETUP: &[&str] = &[
    "create table t (id int primary key, v text)",
    "insert into t select n, repeat('x', 500) from generate_series(1, 100) as n",
    "create table other (id int primary key)",
    "insert into other select n from generate_series(1, 10) as n",
];

const TOO_OLD: &str = "72000 ERROR:  snapshot too old";

fn minutes(n: u64) {
    wait(sleep(Duration::from_secs(60 * n)));
}

/// What a statement gives in a transaction that goes on after errors.
fn ask(client: &Client, sql: &str) -> String {
    client.show("savepoint s");
    let shown = client.show(sql);
    client.show("rollback to s");
    shown
}

fn run(threshold: Option<Duration>, test: fn(&Server)) {
    let plain = small_options();
    let disk = initialized_disk(&plain, SETUP);
    let txn = TxnOptions { old_snapshot_threshold: threshold, ..TxnOptions::default() };
    let options = EngineOptions { txn, ..plain };
    let simulation = Simulation::with_disk(5, &disk);
    let run = move || {
        let server = Server::open(options);
        let background = server.start_background();
        test(&server);
        background.stop();
    };
    simulation.run(run).expect("nothing crashes the machine");
}

fn change_and_grow_old(server: &Server) -> (Client, Client) {
    let (reader, writer) = (server.connect(1), server.connect(2));
    reader.show("begin isolation level repeatable read");
    assert_eq!(reader.show("select count(*) from t"), "100");
    writer.show("delete from t where id = 100");
    writer.show("update t set v = 'new' where id = 99");
    writer.show("vacuum t");
    assert_eq!(ask(&reader, "select count(*), max(length(v)) from t"), "100|500", "it is young");
    minutes(5);
    (reader, writer)
}

#[test]
fn old_snapshots_fail_where_rows_are_missing() {
    run(Some(Duration::from_secs(120)), |server| {
        let (reader, writer) = change_and_grow_old(server);
        assert_eq!(ask(&reader, "select count(*) from t"), "100", "old, but nobody removed anything");
        let young = server.connect(3);
        young.show("begin isolation level repeatable read");
        assert_eq!(young.show("select count(*), min(length(v)) from t"), "99|3");
        writer.show("vacuum t");
        assert_eq!(ask(&reader, "select count(*) from t"), TOO_OLD);
        assert_eq!(ask(&reader, "select v from t where id = 100"), TOO_OLD, "the index lost the entry");
        // A place on a page that is whole.
        assert_eq!(ask(&reader, "select id from t where ctid = '(0,1)'"), "1");
        assert_eq!(ask(&reader, "select count(*) from other"), "10", "another table");
        assert_eq!(ask(&young, "select count(*), min(length(v)) from t"), "99|3", "another snapshot");
        reader.show("commit");
        assert_eq!(reader.show("select count(*) from t"), "99", "a new snapshot of the same session");
    });
}

#[test]
fn without_a_threshold_old_snapshots_keep_their_rows() {
    run(None, |server| {
        let (reader, writer) = change_and_grow_old(server);
        writer.show("vacuum t");
        assert_eq!(ask(&reader, "select count(*), min(length(v)) from t"), "100|500");
        assert_eq!(ask(&reader, "select length(v) from t where id = 100"), "500");
    });
}
