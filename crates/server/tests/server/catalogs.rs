//! System catalogs are rewritten while others define and look up; the server is killed meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::{Client, Failure, Server, knob};

const CATALOGS: [&str; 6] = ["pg_class", "pg_attribute", "pg_depend", "pg_type", "pg_index", "pg_authid"];

/// Runs statements; false once the server is gone.
fn run(client: &mut Client, statements: &[String]) -> bool {
    for statement in statements {
        match client.query(statement) {
            Ok(_) => {}
            Err(Failure::Lost) => return false,
            Err(failure) => panic!("{statement}: {failure:?}"),
        }
    }
    true
}

/// Makes tables and drops every other one, until it is told to stop or the server is gone. Returns how many rounds were acknowledged.
fn define(server: &Server, client: usize, from: u64, stop: &AtomicBool) -> u64 {
    let mut session = server.client();
    for round in from.. {
        let (kept, gone) = (format!("kept_{client}_{round}"), format!("gone_{client}_{round}"));
        let statements = [
            format!("create table {gone} (id int primary key, v text default 'x')"),
            format!("create table {kept} (id int primary key)"),
            format!(
                "begin; alter table {kept} add v int; savepoint s; alter table {kept} add w int; rollback to s; commit"
            ),
            format!("drop table {gone}"),
            format!("insert into {kept} values (1, 2)"),
        ];
        if stop.load(Ordering::Relaxed) || !run(&mut session, &statements) {
            return round;
        }
    }
    0
}

fn rewrite(server: &Server, stop: &AtomicBool) {
    let mut session = server.client();
    while !stop.load(Ordering::Relaxed) {
        for catalog in CATALOGS {
            let statements = [format!("vacuum full {catalog}"), format!("reindex table {catalog}")];
            if !run(&mut session, &statements) {
                return;
            }
        }
    }
}

/// Every table that was acknowledged is there, whole, and no other but those under way.
fn check(client: &mut Client, rounds: &[u64]) {
    for (who, &done) in rounds.iter().enumerate() {
        for round in 0..done {
            let row = client.value(&format!("select concat_ws(' ', id, v) from kept_{who}_{round}"));
            assert_eq!(row, "1 2", "kept_{who}_{round}");
        }
        let gone = format!("select count(*) from pg_class where relname ~ '^gone_{who}_' and relkind = 'r'");
        assert!(["0", "1"].contains(&client.value(&gone).as_str()));
    }
    for (catalog, column) in [("pg_class", "oid"), ("pg_attribute", "attrelid"), ("pg_depend", "classid")] {
        let count = |order: &str| format!("select count(*) from (select {column} from {catalog} {order}) x");
        client
            .query("set enable_seqscan = on; set enable_indexscan = off; set enable_indexonlyscan = off")
            .unwrap();
        let by_rows = client.value(&count(""));
        client.query("set enable_seqscan = off; set enable_indexscan = on").unwrap();
        assert_eq!(client.value(&count(&format!("order by {column}"))), by_rows, "{catalog}");
    }
}

#[test]
fn catalogs_are_written_anew_under_load_and_kills() {
    let mut server = Server::start(&[]);
    let mut rounds = [0, 0];
    for kill in 0..=knob("STAMPEDE_CRASH_ROUNDS", 3) {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let (server, stop) = (&server, &stop);
            let definers: Vec<_> = (0..rounds.len())
                .map(|who| {
                    scope.spawn({
                        let from = rounds[who];
                        move || define(server, who, from, stop)
                    })
                })
                .collect();
            scope.spawn(|| rewrite(server, stop));
            thread::sleep(std::time::Duration::from_millis(700 + 130 * kill));
            match kill % 2 {
                0 => stop.store(true, Ordering::Relaxed),
                _ => server.signal(9),
            }
            for (round, definer) in rounds.iter_mut().zip(definers) {
                *round = definer.join().unwrap();
            }
        });
        if kill % 2 == 1 {
            server.wait();
            server.run();
        }
        check(&mut server.client(), &rounds);
        // What a round under way left behind is in the way of the next.
        rounds.iter_mut().for_each(|round| *round += 1);
        let mut client = server.client();
        for (who, round) in rounds.iter().enumerate() {
            let last = round - 1;
            let text = format!(
                "drop table if exists gone_{who}_{last}; drop table if exists kept_{who}_{last}; \
                 create table kept_{who}_{last} (id int, v int); insert into kept_{who}_{last} values (1, 2)"
            );
            client.query(&text).unwrap();
        }
    }
    assert!(rounds.iter().all(|&round| round > 8), "{rounds:?}");
}

#[test]
fn a_cancelled_rewrite_leaves_the_old_files() {
    let server = Server::start(&[]);
    let (mut one, mut two) = (server.client(), server.client());
    let file = "select pg_relation_filenode('pg_depend')";
    let before = one.value(file);
    two.query("begin; lock table pg_depend in access share mode").unwrap();
    one.query("set statement_timeout = '100ms'").unwrap();
    assert_eq!(one.error("vacuum full pg_depend").split(' ').next(), Some("57014"));
    // Nobody waits for it any more.
    two.query("create table t (a int); commit").unwrap();
    one.query("reset statement_timeout").unwrap();
    assert_eq!(one.value(file), before);
    one.query("vacuum full pg_depend").unwrap();
    assert_ne!(one.value(file), before);
}

/// Who waits for another that works on the same catalog holds no lock of it that the other still needs.
#[test]
fn two_sessions_reindex_one_catalog_one_after_the_other() {
    let server = Server::start(&[]);
    let (mut first, mut watch) = (server.client(), server.client());
    for (catalog, one, other) in [
        ("pg_depend", "reindex index pg_depend_depender_index", "reindex table pg_depend"),
        ("pg_proc", "reindex table pg_proc", "reindex table pg_toast.pg_toast_1255"),
        ("pg_authid", "reindex index pg_authid_oid_index", "reindex system postgres"),
    ] {
        first.query(&format!("begin; {one}")).unwrap();
        thread::scope(|scope| {
            let second = scope.spawn(|| server.client().query(other));
            let waits = format!(
                "select mode from pg_locks where relation = '{catalog}'::regclass and not granted \
                 union all select '' limit 1"
            );
            crate::support::until(other, || !watch.value(&waits).is_empty());
            assert_eq!(watch.value(&waits), "ShareRowExclusiveLock", "{other}");
            first.query("commit").unwrap();
            second.join().unwrap().unwrap();
        });
    }
}
