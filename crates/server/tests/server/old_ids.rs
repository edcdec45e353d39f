//! Old transaction ids and sets of lockers: VACUUM takes them out of rows, and the files that tell of them go, also when the server is killed.

use crate::support::client::message;
use crate::support::xids::skip_xids;
use crate::support::{Client, Server, knob, run, until};
use txn::clog::XIDS_PER_PAGE;

/// Entries of `pg_multixact` in a file.
const PER_FILE: usize = 32 * txn::multixact::PER_PAGE as usize;
/// Transactions of `pg_xact` in a file.
const XIDS_PER_FILE: u64 = 32 * XIDS_PER_PAGE;
/// How to connect to another database than usual.
const TEMPLATE: [(&str, &str); 2] = [("database", "template1"), ("user", "postgres")];

fn files(server: &Server, folder: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(server.data().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Locks a row so often, while others hold it too, that its sets fill more than `files` files.
fn share_rows(holder: &mut Client, locker: &mut Client, files: usize) {
    share_sets(holder, locker, (files * PER_FILE).next_multiple_of(1000));
}

fn oldest(client: &mut Client) -> u64 {
    client.value("select datminmxid from pg_database where datname = current_database()").parse().unwrap()
}

#[test]
fn files_of_sets_go_when_vacuum_has_been_everywhere() {
    let server = Server::start(&[]);
    let (mut one, mut two) = (server.client(), server.client());
    run(&mut one, &["create table t (id int primary key, v int)", "insert into t values (1, 0), (2, 0)"]);
    share_rows(&mut one, &mut two, 2);
    run(&mut one, &["checkpoint"]);
    assert_eq!(files(&server, "pg_multixact"), ["0000", "0001", "0002"]);
    assert_eq!(
        one.value("select count(*) from pg_get_multixact_members((select xmax from t where id = 1))"),
        "2"
    );
    // The table alone: others may hold old ids too, for all that is known.
    run(&mut one, &["vacuum t"]);
    assert_eq!(files(&server, "pg_multixact").len(), 3);
    assert_eq!(one.value("select mxid_age(relminmxid) from pg_class where relname = 't'"), "0");
    run(&mut one, &["vacuum"]);
    assert_eq!(files(&server, "pg_multixact"), ["0002"]);
    assert!(oldest(&mut one) > 2 * PER_FILE as u64);
    assert_eq!(one.value("select xmax from t where id = 1"), "0");
    let error = one.error("select * from pg_get_multixact_members('5')");
    assert_eq!(error, "XX000 MultiXactId 5 does no longer exist -- apparent wraparound");
    let ages =
        "select concat_ws(' ', mxid_age('1') > 16000, mxid_age('0'), age('3'::xid) > 0, age('2'::xid))";
    assert_eq!(one.value(ages), "t 2147483647 t 2147483647");
}

#[test]
fn a_snapshot_from_before_keeps_the_files_until_it_is_gone() {
    let server = Server::start(&[]);
    let (mut one, mut two, mut old) = (server.client(), server.client(), server.client());
    run(&mut one, &["create table t (id int primary key, v int)", "insert into t values (1, 0)"]);
    share_rows(&mut one, &mut two, 1);
    run(&mut old, &["begin isolation level repeatable read", "select * from t"]);
    run(&mut one, &["insert into t values (2, 0)", "vacuum", "checkpoint"]);
    assert_eq!(files(&server, "pg_multixact"), ["0000", "0001"]);
    run(&mut old, &["select * from t", "commit"]);
    until("the background writer removes them", || files(&server, "pg_multixact") == ["0001"]);
}

#[test]
fn a_lock_that_lasts_does_not_keep_those_before_it() {
    let server = Server::start(&["max_prepared_transactions=2"]);
    let mut one = server.client();
    run(&mut one, &["create table t (id int primary key, v int)", "insert into t values (1, 0), (2, 0)"]);
    let mut early: Vec<Client> = (0..9).map(|_| server.client()).collect();
    let lock = "select * from t where id = 1 for key share";
    early.iter_mut().for_each(|client| run(client, &["begin", lock]));
    run(&mut one, &["vacuum t"]);
    for name in ["a", "b"] {
        run(&mut one, &["begin", lock, &format!("prepare transaction '{name}'")]);
    }
    let xmax = |client: &mut Client| client.value("select xmax from t where id = 1").parse::<u64>().unwrap();
    let before = xmax(&mut one);
    early.iter_mut().for_each(|client| run(client, &["commit"]));
    let members =
        "select string_agg(mode, ' ') from pg_get_multixact_members((select xmax from t where id = 1))";
    assert_eq!(one.value(members).split(' ').count(), 11);
    run(&mut one, &["vacuum t"]);
    assert_eq!(xmax(&mut one), before, "it is not old");
    run(&mut one, &["vacuum (freeze) t"]);
    assert!(xmax(&mut one) > before);
    assert_eq!(one.value(members), "keysh keysh");
    run(&mut one, &["commit prepared 'a'"]);
    let wanted = "select * from t where id = 1 for update nowait";
    assert_eq!(one.error(wanted), "55P03 could not obtain lock on row in relation \"t\"");
    run(&mut one, &["commit prepared 'b'", wanted]);
}

#[test]
fn rows_are_right_when_the_server_dies_while_files_go() {
    for round in 0..knob("STAMPEDE_CRASH_ROUNDS", 2) {
        let mut server = Server::start(&[]);
        let (mut one, mut two) = (server.client(), server.client());
        run(
            &mut one,
            &[
                "create table t (id int primary key, v int)",
                "insert into t select i, 0 from generate_series(1, 100) i",
            ],
        );
        share_rows(&mut one, &mut two, 1);
        // A set of which one member updated the row: it is read after the crash.
        run(&mut one, &["begin", "select * from t where id = 2 for key share"]);
        run(&mut two, &["update t set v = 7 where id = 2"]);
        run(&mut one, &["commit"]);
        if round % 2 == 0 {
            run(&mut one, &["checkpoint"]);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| two.query("vacuum"));
            until("the oldest moved", || oldest(&mut one) > PER_FILE as u64);
        });
        server.kill();
        server.run();
        let mut one = server.client();
        assert_eq!(one.value("select count(*) || '|' || sum(v) from t"), "100|7");
        run(&mut one, &["update t set v = v + 1", "select * from t for update", "vacuum (freeze)"]);
        assert_eq!(one.value("select count(*) || '|' || sum(v) from t"), "100|107");
        assert!(!files(&server, "pg_multixact").contains(&"0000".into()));
    }
}

/// Sets without number over restarts and crashes: those that somebody needs are there after each, and the files of all others go.
#[test]
fn no_set_that_is_needed_is_lost_and_no_other_stays() {
    let sets = knob("STAMPEDE_MULTIXACTS", 40_000) as usize;
    let lives = knob("STAMPEDE_MULTIXACT_LIVES", 4) as usize;
    let mut server = Server::start(&["max_prepared_transactions=3", "max_connections=20"]);
    let mut one = server.client();
    run(
        &mut one,
        &[
            "create table t (id int primary key, v int)",
            "insert into t select i, 0 from generate_series(1, 100) i",
        ],
    );
    let mut made = 0;
    for life in 0..lives {
        let (mut one, mut two) = (server.client(), server.client());
        // Two that share a row over the crash, and one of two that has changed another row.
        for name in ["a", "b"] {
            run(
                &mut one,
                &[
                    "begin",
                    "select * from t where id = 2 for key share",
                    &format!("prepare transaction '{name}'"),
                ],
            );
        }
        let row = 10 + life;
        run(&mut one, &["begin", &format!("select * from t where id = {row} for key share")]);
        run(&mut two, &[&format!("update t set v = v + 7 where id = {row}")]);
        run(&mut one, &["commit"]);
        // Not quite a file at a time, so that files are begun, full and removed in all kinds of places.
        let share = (sets / lives).max(1);
        let mut left = share;
        while left > 0 {
            let part = left.min(PER_FILE * 3 / 4);
            share_sets(&mut one, &mut two, part);
            run(&mut one, &["vacuum"]);
            left -= part;
        }
        made += share;
        if life % 2 == 0 {
            run(&mut one, &["checkpoint"]);
        }
        match life % 3 {
            // The server dies while VACUUM goes through the tables.
            0 => {
                two.send(&message(b'Q', b"vacuum (freeze)\0")).unwrap();
                server.signal(9);
            }
            1 => server.stop(),
            _ => server.signal(9),
        }
        server.kill_if_running();
        server.run();
        let mut one = server.client();
        let wanted = "select * from t where id = 2 for update nowait";
        assert_eq!(one.error(wanted), "55P03 could not obtain lock on row in relation \"t\"", "life {life}");
        let members =
            "select string_agg(mode, ' ') from pg_get_multixact_members((select xmax from t where id = 2))";
        assert_eq!(one.value(members), "keysh keysh", "life {life}");
        let rows = "select count(*) || ' ' || sum(v) from t";
        assert_eq!(one.value(rows), format!("100 {}", 7 * (life + 1)));
        assert_eq!(one.value(&format!("select v from t where id = {row} for update")), "7");
        run(&mut one, &["commit prepared 'a'", "commit prepared 'b'", wanted]);
        for database in ["template1", "postgres"] {
            let mut client = server.connect(&[("database", database), ("user", "postgres")]).unwrap();
            run(&mut client, &["vacuum (freeze)", "checkpoint"]);
        }
        until("files of sets that nobody needs are gone", || files(&server, "pg_multixact").len() <= 2);
    }
    let reached = oldest(&mut server.client());
    assert!(reached >= made as u64, "{made} sets were made, and the oldest that may be needed is {reached}");
}

/// Makes so many sets: a row is locked while another transaction holds it.
fn share_sets(holder: &mut Client, locker: &mut Client, count: usize) {
    run(holder, &["begin", "select * from t where id = 1 for key share"]);
    run(locker, &["set synchronous_commit = off"]);
    run(
        locker,
        &[&format!(
            "do $$ begin for i in 1..{count} loop perform * from t where id = 1 for key share; commit; end loop; end $$"
        )],
    );
    run(holder, &["commit"]);
}

/// What must be the same before and after: rows, by the table and by its index, and what became of the transactions in question.
fn facts(client: &mut Client, xids: &[String]) -> Vec<String> {
    let mut facts = vec![
        client.value("select count(*) || ' ' || sum(id) || ' ' || count(*) filter (where v = 'p') from t"),
        client.value("select string_agg(v, ' ' order by id) from t where id in (1, 2, 500, 1001)"),
    ];
    let status = |xid: &String| client.value(&format!("select coalesce(pg_xact_status('{xid}'), 'gone')"));
    facts.extend(xids.iter().map(status));
    facts
}

#[test]
fn the_status_of_transactions_goes_when_every_database_was_vacuumed() {
    let mut server = Server::init(&[]);
    skip_xids(&server, 2 * XIDS_PER_FILE - 60);
    for option in ["autovacuum=off", "max_prepared_transactions=2"] {
        server.set_option(option);
    }
    server.run();
    let mut one = server.client();
    let mut other = server.connect(&TEMPLATE).unwrap();
    run(&mut one, &["create table t (id int primary key, v text)"]);
    run(
        &mut one,
        &["insert into t select i, 'a' from generate_series(1, 500) i", "delete from t where id = 3"],
    );
    run(&mut one, &["begin", "update t set v = 'p' where id = 2", "prepare transaction 'p'"]);
    let mut xids = Vec::new();
    for end in ["commit", "rollback"] {
        run(&mut one, &["begin", "insert into t values (0, 'b') on conflict do nothing"]);
        xids.push(one.value("select pg_current_xact_id()"));
        run(&mut one, &[end, "select count(*) from t"]);
    }
    run(&mut other, &["create table u (id int)", "insert into u values (1)"]);
    // Over to the next file.
    run(
        &mut one,
        &["do $$ begin for i in 1001..1100 loop insert into t values (i, 'c'); commit; end loop; end $$"],
    );
    assert!(one.value("select pg_current_xact_id()").parse::<u64>().unwrap() > 2 * XIDS_PER_FILE);
    let all = ["0000", "0001", "0002"];
    let vacuum = "vacuum (freeze)";
    run(&mut one, &["checkpoint", vacuum]);
    run(&mut other, &[vacuum, "checkpoint"]);
    assert_eq!(files(&server, "pg_xact"), all, "a prepared transaction is as old as these");
    assert_eq!(facts(&mut one, &xids)[2..], ["committed", "aborted"]);
    run(&mut one, &["commit prepared 'p'", vacuum]);
    until("what is older than it goes", || files(&server, "pg_xact") == all[1..]);
    run(&mut one, &[vacuum]);
    assert_eq!(files(&server, "pg_xact"), all[1..], "the other database was not vacuumed since");
    assert_eq!(facts(&mut one, &xids)[2..], ["committed", "aborted"]);
    run(&mut other, &[vacuum]);
    until("the files go", || files(&server, "pg_xact") == ["0002"]);
    assert_eq!(one.value("select truncates from pg_stat_slru where name = 'transaction'"), "2");
    let before = facts(&mut one, &xids);
    assert_eq!(before, ["600 230297 1", "a p a c", "gone", "gone"]);
    server.kill();
    server.run();
    let mut one = server.client();
    assert_eq!(facts(&mut one, &xids), before);
    run(&mut one, &["update t set id = id", "select * from t for update", vacuum, "reindex table t"]);
    assert_eq!(files(&server, "pg_xact"), ["0002"]);
    server.stop();
    server.run();
    let mut one = server.client();
    assert_eq!(facts(&mut one, &xids), before);
    let mut other = server.connect(&TEMPLATE).unwrap();
    assert_eq!(other.value("select sum(id) from u"), "1");
}

#[test]
fn nobody_enters_a_database_unseen_while_its_row_is_changed() {
    let server = Server::start(&[]);
    let mut one = server.client();
    let template = "select datfrozenxid from pg_database where datname = 'template1'";
    assert_eq!(one.value(template), "3", "nobody was there yet");
    run(&mut one, &["begin", "grant temporary on database template1 to public"]);
    std::thread::scope(|scope| {
        let entering =
            scope.spawn(|| server.connect(&TEMPLATE).unwrap().value("select count(*) from pg_class"));
        until("the other waits", || one.value("select count(*) from pg_locks where not granted") != "0");
        run(&mut one, &["commit"]);
        assert_ne!(entering.join().unwrap(), "0");
    });
    assert_ne!(one.value(template), "3");
    assert_eq!(one.value("select has_database_privilege('pg_monitor', 'template1', 'temporary')"), "t");
}
