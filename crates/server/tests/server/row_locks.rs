//! Rows that several sessions lock at once, over sockets: who waits for whom, who is told of a deadlock, and what kill -9 leaves.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::client::message;
use crate::support::{Client, Failure, Random, Repeated, Server, beside, code, knob, run, until};

const ROWS: u64 = 20;

#[test]
fn sharers_wait_for_each_other_only_to_write_and_a_deadlock_among_them_is_found() {
    let server = Server::start(&["deadlock_timeout=100ms"]);
    let (mut one, mut two, mut watcher) = (server.client(), server.client(), server.client());
    run(&mut one, &["create table t (id int primary key, v int)", "insert into t values (1, 0), (2, 0)"]);
    for client in [&mut one, &mut two] {
        run(client, &["begin", "select * from t where id = 1 for share", "select * from t for key share"]);
    }
    let sets = "select count(*) from pg_get_multixact_members((select xmax from t where id = 1))";
    assert_eq!(watcher.value(sets), "2");
    let modes =
        "select string_agg(mode, ' ') from pg_get_multixact_members((select xmax from t where id = 1))";
    assert_eq!(watcher.value(modes), "sh sh");
    assert_eq!(watcher.value("select count(*) from (select 1 from t for key share skip locked) s"), "2");
    let error = watcher.error("select * from t where id = 1 for no key update nowait");
    assert_eq!(error, "55P03 could not obtain lock on row in relation \"t\"");
    run(&mut watcher, &["update t set v = 1 where id = 2"]);
    thread::scope(|scope| {
        let first = scope.spawn(|| one.query("update t set v = v + 1 where id = 1"));
        let waits = "select count(*) from pg_locks where not granted and locktype = 'transactionid'";
        until("the first waits", || watcher.value(waits) == "1");
        let second = two.query("update t set v = v + 1 where id = 1");
        let first = first.join().unwrap();
        let failed: Vec<_> = [&first, &second].into_iter().filter_map(|r| r.as_ref().err()).collect();
        assert_eq!(failed.len(), 1, "one of them gets the row");
        assert_eq!(code(failed[0]), "40P01");
    });
    for client in [&mut one, &mut two] {
        run(client, &["commit"]);
    }
    assert_eq!(watcher.value("select v from t where id = 1"), "1");
}

/// Rows of one page are locked together, but for who waits among them.
#[test]
fn a_statement_that_waits_has_locked_the_rows_before_and_none_behind() {
    let server = Server::start(&[]);
    let (mut one, mut two, mut watcher) = (server.client(), server.client(), server.client());
    run(&mut one, &["create table t (id int primary key, v int)"]);
    run(&mut one, &["insert into t select g, 0 from generate_series(1, 6) g"]);
    run(&mut one, &["begin", "update t set v = 1 where id = 3"]);
    let free =
        "select string_agg(id::text, ' ' order by id) from (select id from t for update skip locked) s";
    let taken = "select string_agg(id || ':' || v, ' ') from (select id, v from t where id < 6 for update) s";
    run(&mut two, &["begin"]);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| two.value(taken));
        until("the second waits", || watcher.value(free) == "4 5 6");
        run(&mut one, &["commit"]);
        assert_eq!(waiting.join().unwrap(), "1:0 2:0 3:1 4:0 5:0");
    });
    assert_eq!(watcher.value(free), "6");
    run(&mut two, &["commit"]);
    assert_eq!(watcher.value(free), "1 2 3 4 5 6");
}

/// Rows of one page are deleted together, but for who waits among them.
#[test]
fn a_delete_that_waits_has_deleted_the_rows_before_and_checks_that_one_again() {
    let server = Server::start(&[]);
    let (mut one, mut two, mut watcher) = (server.client(), server.client(), server.client());
    run(
        &mut one,
        &["create table t (id int, v int)", "insert into t select g, 0 from generate_series(1, 8) g"],
    );
    run(&mut one, &["begin", "update t set v = v + 1 where id = 4", "delete from t where id = 6"]);
    run(&mut one, &["select from t where id = 2 for key share"]);
    let free =
        "select string_agg(id::text, ' ' order by id) from (select id from t for update skip locked) s";
    thread::scope(|scope| {
        let waiting = scope.spawn(|| two.query("delete from t where v = 0 and id < 8"));
        // It waits for the one that is locked.
        until("the second waits", || watcher.value(free) == "3 5 7 8");
        run(&mut one, &["commit"]);
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(watcher.value("select string_agg(id || ':' || v, ' ') from t"), "8:0 4:1");
    assert_eq!(watcher.value(free), "4 8");
}

#[test]
fn a_prepared_transaction_keeps_its_share_of_a_row_over_kill_9() {
    let mut server = Server::start(&["max_prepared_transactions=4"]);
    let (mut one, mut two) = (server.client(), server.client());
    run(&mut one, &["create table t (id int primary key, v int)", "insert into t values (1, 0), (2, 0)"]);
    run(&mut two, &["begin", "select * from t for key share"]);
    run(&mut one, &["begin", "select * from t for share", "prepare transaction 'shared'"]);
    server.kill();
    server.run();
    let mut client = server.client();
    run(&mut client, &["select * from t for share nowait"]);
    let error = client.error("select * from t for update nowait");
    assert_eq!(error, "55P03 could not obtain lock on row in relation \"t\"");
    run(&mut client, &["commit prepared 'shared'", "select * from t for update nowait", "vacuum t"]);
    assert_eq!(client.value("select count(*) from t where xmax <> 0"), "0");
}

/// Locks a parent as a foreign key would, and counts up a child; sometimes changes the parent, in a savepoint or not.
fn work(client: &mut Client, random: &mut Random, acknowledged: &[AtomicU64]) -> Result<(), Failure> {
    let (parent, child) = (random.below(ROWS), random.below(ROWS));
    let mut run = |text: &str| client.query(text).map(drop);
    run("begin")?;
    run(&format!("select 1 from parents where id = {parent} for key share"))?;
    match random.below(6) {
        0 => run(&format!("update parents set v = v + 1 where id = {parent}"))?,
        1 => {
            run("savepoint s")?;
            run(&format!("update parents set v = v + 1 where id = {parent}"))?;
            run("rollback to s")?;
        }
        2 => run(&format!("select 1 from parents where id = {parent} for share"))?,
        _ => {}
    }
    run(&format!("update children set v = v + 1 where id = {child}"))?;
    run("commit")?;
    acknowledged[child as usize].fetch_add(1, Ordering::SeqCst);
    Ok(())
}

#[test]
fn kill_9_among_many_who_share_rows_loses_nothing_and_leaves_no_lock() {
    let mut server = Server::start(&["deadlock_timeout=10ms", "checkpoint_timeout=30s"]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table parents (id int primary key, v int)",
            "create table children (id int primary key, v int)",
            &format!("insert into parents select g, 0 from generate_series(0, {ROWS} - 1) g"),
            &format!("insert into children select g, 0 from generate_series(0, {ROWS} - 1) g"),
        ],
    );
    let acknowledged: Vec<AtomicU64> = (0..ROWS).map(|_| AtomicU64::new(0)).collect();
    for round in 0..knob("STAMPEDE_CRASH_ROUNDS", 3) {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for n in 0..knob("STAMPEDE_CRASH_CLIENTS", 8) {
                let mut client = server.client();
                let (stop, acknowledged) = (&stop, &acknowledged);
                scope.spawn(move || {
                    let mut random = Random(round * 1000 + n);
                    while !stop.load(Ordering::Relaxed) {
                        match work(&mut client, &mut random, acknowledged) {
                            Ok(()) => {}
                            Err(Failure::Lost) => return,
                            Err(failure) => {
                                assert_eq!(code(&failure), "40P01", "{failure:?}");
                                if client.query("rollback").is_err() {
                                    return;
                                }
                            }
                        }
                    }
                });
            }
            thread::sleep(Duration::from_millis(400));
            if round % 2 == 1 {
                // An error means that the server was quicker to go.
                let _ = client.query("vacuum parents");
            }
            server.kill();
            stop.store(true, Ordering::Relaxed);
        });
        server.run();
        client = server.client();
        run(&mut client, &["begin", "select * from parents for update nowait", "rollback"]);
        for (id, known) in acknowledged.iter().enumerate() {
            let found: u64 =
                client.value(&format!("select v from children where id = {id}")).parse().unwrap();
            let known = known.load(Ordering::SeqCst);
            assert!(found >= known, "{known} increments of row {id} were acknowledged, {found} are there");
        }
        assert_eq!(client.value("select count(*) from parents"), ROWS.to_string());
    }
    run(&mut client, &["update parents set id = id + 1000", "vacuum parents"]);
    assert_eq!(client.value("select count(*) from parents where xmax <> 0"), "0");
}

/// Whoever holds the row ends between any two looks at it.
#[test]
fn a_row_whose_update_is_rolled_back_just_now_is_found() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (id int primary key, n int)", "insert into t values (1, 0)"]);
    let rounds = knob("ROLLBACK_ROUNDS", 3000);
    beside(&server, &[&|other, _| run(other, &["begin; update t set n = -1; rollback"])], || {
        for _ in 0..rounds {
            run(&mut client, &["update t set n = n + 1 where id = 1"]);
        }
    });
    assert_eq!(client.value("select n from t"), rounds.to_string());
}

/// A set of lockers of whom one runs, and ends while VACUUM looks at it, does not pass for an update that committed.
#[test]
fn rows_that_are_frozen_while_their_lockers_end_stay() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (id int primary key)", "insert into t select generate_series(1, 20)"]);
    let lock: Repeated<'_> =
        &|other, _| run(other, &["begin; select from t where id < 4 for key share; commit"]);
    beside(&server, &[lock; 3], || {
        for _ in 0..knob("FREEZE_ROUNDS", 1000) {
            run(&mut client, &["vacuum (freeze) t"]);
            assert_eq!(client.value("select count(*) from t"), "20");
        }
    });
}

/// A client sees what a statement says before the statement goes on: while it waits for a row, and between its rows.
#[test]
fn notices_come_while_a_statement_waits() {
    let server = Server::start(&[]);
    let (mut holder, mut waiter) = (server.client(), server.client());
    holder.query("create table t (id int primary key, n int); insert into t values (1, 0), (2, 0)").unwrap();
    let function = "create function says(i int) returns bool language plpgsql as \
                    $$ begin raise notice 'row %', i; return true; end $$";
    holder.query(function).unwrap();
    holder.query("begin; update t set n = 1 where id = 2").unwrap();
    let ask = b"update t set n = n + 1 where says(id) returning id\0";
    waiter.send(&message(b'Q', ask)).unwrap();
    for row in ["row 1", "row 2"] {
        let notice = first(&mut waiter, b'N');
        assert!(notice.contains(row), "{notice}");
    }
    holder.query("commit").unwrap();
    assert!(first(&mut waiter, b'N').contains("row 2"), "the row is looked at again");
    first(&mut waiter, b'Z');
    // A block has no result to be told between.
    holder.query("begin; update t set n = 1 where id = 2").unwrap();
    let block = b"do $$ begin perform says(3); update t set n = 5 where id = 2; end $$\0";
    waiter.send(&message(b'Q', block)).unwrap();
    assert!(first(&mut waiter, b'N').contains("row 3"));
    holder.query("commit").unwrap();
    first(&mut waiter, b'Z');
    assert_eq!(holder.value("select n from t where id = 2"), "5");
}

/// The body of the next message of a kind; those before it are passed over.
fn first(client: &mut Client, kind: u8) -> String {
    loop {
        let (found, body) = client.message().unwrap();
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(found != b'E', "{body}");
        if found == kind {
            return body;
        }
    }
}

/// Who waits for a row comes to it in turn, and the views say what he waits for.
#[test]
fn a_row_that_many_change_comes_to_each_in_turn() {
    const CLIENTS: usize = 12;
    let server = Server::start(&[]);
    let (mut first, mut watcher) = (server.client(), server.client());
    run(&mut first, &["create table hot (id int primary key, v int)", "insert into hot values (1, 0)"]);
    // Another file than the relation's number would say.
    run(&mut first, &["truncate hot", "insert into hot values (1, 0)", "begin", "update hot set v = v + 1"]);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| server.client()).collect();
    thread::scope(|scope| {
        let waiting: Vec<_> = clients
            .iter_mut()
            .map(|client| {
                scope.spawn(|| {
                    run(client, &["begin", "update hot set v = v + 1 where id = 1", "savepoint s"]);
                    run(client, &["update hot set v = v + 1 where id = 1", "rollback to s", "commit"]);
                })
            })
            .collect();
        let queue = "select count(*) from pg_locks where locktype = 'tuple' and relation = 'hot'::regclass";
        until("all stand in the queue", || watcher.value(queue) == CLIENTS.to_string());
        let events = "select string_agg(distinct wait_event_type || ' ' || wait_event, ', ' order by wait_event_type || ' ' || wait_event)
             from pg_stat_activity where query like 'update hot%' and state = 'active'";
        assert_eq!(watcher.value(events), "Lock transactionid, Lock tuple");
        let blocked = "select count(*) from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0";
        assert_eq!(watcher.value(blocked), CLIENTS.to_string());
        run(&mut first, &["commit"]);
        waiting.into_iter().for_each(|client| client.join().unwrap());
    });
    assert_eq!(watcher.value("select v from hot"), (CLIENTS + 1).to_string());
    assert_eq!(watcher.value("select count(*) from pg_locks where locktype = 'tuple'"), "0");
}

/// A crowd at one row, of which newcomers see that it waits: no change is lost, whatever becomes of those at the head of the queue.
#[test]
fn a_crowd_at_one_row_loses_no_change() {
    const CLIENTS: usize = 60;
    const ROUNDS: usize = 20;
    let server = Server::start(&["deadlock_timeout=10s"]);
    let mut watcher = server.client();
    run(&mut watcher, &["create table hot (id int primary key, v int)", "insert into hot values (1, 0)"]);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| server.client()).collect();
    let work = |number: usize, client: &mut Client| {
        for round in 0..ROUNDS {
            match (number + round) % 8 {
                0 => run(client, &["begin", "update hot set v = v + 100 where id = 1", "rollback"]),
                1 => {
                    run(client, &["begin", "savepoint s", "update hot set v = v + 100 where id = 1"]);
                    run(client, &["rollback to s", "update hot set v = v + 1 where id = 1", "commit"]);
                }
                2 => {
                    run(client, &["begin", "update hot set v = v where id = 1"]);
                    run(client, &["update hot set v = v + 1 where id = 1", "commit"]);
                }
                3 => {
                    run(client, &["begin", "select 1 from hot where id = 1 for update"]);
                    run(client, &["update hot set v = v + 1 where id = 1", "commit"]);
                }
                _ => run(client, &["update hot set v = v + 1 where id = 1"]),
            }
        }
    };
    thread::scope(|scope| {
        for (number, client) in clients.iter_mut().enumerate() {
            scope.spawn(move || work(number, client));
        }
    });
    // All but those that are rolled back count one.
    let numbers = (0..CLIENTS).flat_map(|number| (0..ROUNDS).map(move |round| (number + round) % 8));
    let changes = numbers.filter(|kind| *kind != 0).count();
    assert_eq!(watcher.value("select v from hot"), changes.to_string());
    assert_eq!(watcher.value("select count(*) from pg_locks where locktype = 'tuple'"), "0");
}

/// How the one at the head of a crowd ends; what those are told who wait for the newest version, and those who keep their snapshot; the row then.
struct Ending {
    change: &'static str,
    end: &'static str,
    newest: &'static str,
    kept: &'static str,
    row: &'static str,
}

const MOVED: &str =
    "40001 tuple to be locked was already moved to another partition due to concurrent update";
const UPDATED: &str = "40001 could not serialize access due to concurrent update";
const DELETED: &str = "40001 could not serialize access due to concurrent delete";

const ENDINGS: &[Ending] = &[
    Ending { change: "update hot set v = v + 100", end: "commit", newest: "1", kept: UPDATED, row: "140 20" },
    Ending {
        change: "update hot set v = v + 100, k = k + 100",
        end: "commit",
        newest: "1",
        kept: UPDATED,
        row: "140 120",
    },
    Ending { change: "update hot set v = v + 100", end: "rollback", newest: "1", kept: "1", row: "41 20" },
    Ending {
        change: "select from hot for update; savepoint s; update hot set k = k + 100; rollback to s; update hot set k = k + 50",
        end: "commit",
        newest: "1",
        kept: UPDATED,
        row: "40 70",
    },
    Ending { change: "select from hot for update", end: "commit", newest: "1", kept: "1", row: "41 20" },
    Ending { change: "delete from hot", end: "commit", newest: "0", kept: DELETED, row: "- -" },
    Ending { change: "update hot set part = 1", end: "commit", newest: MOVED, kept: UPDATED, row: "0 0" },
];

/// How many rows a statement answered, or its error.
fn answer(client: &mut Client, statement: &str) -> String {
    match client.query(statement) {
        Ok(rows) => rows.len().to_string(),
        Err(Failure::Error { code, message, .. }) => format!("{code} {message}"),
        Err(Failure::Lost) => "lost".into(),
    }
}

/// Whatever becomes of a row for which a crowd waits, and of those who wait: each is told what it would be if it were alone.
#[test]
fn each_of_a_crowd_is_told_what_became_of_the_row() {
    const CLIENTS: usize = 40;
    let server = Server::start(&[]);
    let (mut holder, mut keeps, mut cancelled, mut watcher) =
        (server.client(), server.client(), server.client(), server.client());
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| server.client()).collect();
    let pid = cancelled.value("select pg_backend_pid()");
    for Ending { change, end, newest, kept, row } in ENDINGS {
        run(
            &mut watcher,
            &[
                "drop table if exists hot",
                "create table hot (id int, part int, v int, k int) partition by list (part)",
                "create table hot0 partition of hot for values in (0)",
                "create table hot1 partition of hot for values in (1)",
                "create index on hot (k)",
                "insert into hot values (1, 0, 0, 0)",
            ],
        );
        run(&mut holder, &["begin", change]);
        let waiting = "select count(*) from pg_locks where not granted";
        let all_wait = |watcher: &mut Client, most: usize| {
            until("they wait", || watcher.value(waiting) == most.to_string());
        };
        thread::scope(|scope| {
            let crowd: Vec<_> = (0..)
                .zip(&mut clients)
                .map(|(number, client)| {
                    let column = ["v = v + 1", "v = v + 1, k = k + 1"][number % 2];
                    scope.spawn(move || {
                        answer(client, &format!("update hot set {column} where id = 1 returning 1"))
                    })
                })
                .collect();
            let gives_up = scope.spawn(|| answer(&mut cancelled, "delete from hot where id = 1"));
            all_wait(&mut watcher, CLIENTS + 1);
            let fixed =
                "begin isolation level repeatable read; update hot set v = v + 1 where id = 1 returning 1";
            let fixed = scope.spawn(|| {
                let told = answer(&mut keeps, fixed);
                run(&mut keeps, &["commit"]);
                told
            });
            all_wait(&mut watcher, CLIENTS + 2);
            run(&mut watcher, &[&format!("select pg_cancel_backend({pid})")]);
            assert_eq!(gives_up.join().unwrap(), "57014 canceling statement due to user request");
            let error = watcher.error("set lock_timeout = '5ms'; update hot set v = v + 1 where id = 1");
            assert_eq!(error, "55P03 canceling statement due to lock timeout");
            let error = watcher.error("select from hot where id = 1 for update nowait");
            assert_eq!(error, "55P03 could not obtain lock on row in relation \"hot0\"");
            assert_eq!(answer(&mut watcher, "select from hot for update skip locked"), "0");
            all_wait(&mut watcher, CLIENTS + 1);
            run(&mut holder, &[end]);
            let told: Vec<String> = crowd.into_iter().map(|one| one.join().unwrap()).collect();
            assert!(told.iter().all(|told| told == newest), "{change}: {told:?}");
            // Others go first: it may be told of their update instead.
            let told = fixed.join().unwrap();
            assert!(told == *kept || told == UPDATED && *kept == "1", "{change}: {told}");
            let found = "select coalesce(sum(v)::text, '-') || ' ' || coalesce(sum(k)::text, '-') from hot";
            let found = watcher.value(found);
            let lost =
                if told == UPDATED && *kept == "1" { row.replacen("41", "40", 1) } else { row.to_string() };
            assert_eq!(found, lost, "{change}");
        });
        assert_eq!(
            watcher.value("select count(*) from pg_locks where locktype in ('tuple', 'transactionid')"),
            "0"
        );
    }
}

/// From some number of waiters on, who comes to a row waits with no snapshot and no xid, so that the row's old versions need not stay; and changes it in
/// its turn, as if it had come later.
#[test]
fn who_comes_to_a_crowd_holds_nothing_back() {
    const CROWD: usize = 32;
    const MORE: usize = 12;
    let server = Server::start(&[]);
    let (mut holder, mut watcher) = (server.client(), server.client());
    run(
        &mut watcher,
        &["create table hot (id int primary key, v int)", "insert into hot values (1, 0), (2, 0), (3, 0)"],
    );
    run(&mut holder, &["begin", "update hot set v = v + 1 where id = 1"]);
    let all_wait = |watcher: &mut Client, most: usize| {
        let waiting = "select count(*) from pg_locks where not granted";
        until("they wait", || watcher.value(waiting) == most.to_string());
    };
    let mut first: Vec<Client> = (0..CROWD + 1).map(|_| server.client()).collect();
    let mut more: Vec<Client> = (0..MORE).map(|_| server.client()).collect();
    let returned = thread::scope(|scope| {
        let hot = "update hot set v = v + 1 where id = 1";
        let first: Vec<_> = first.iter_mut().map(|client| scope.spawn(|| run(client, &[hot]))).collect();
        all_wait(&mut watcher, CROWD + 1);
        let more: Vec<_> = (0..)
            .zip(&mut more)
            .map(|(number, client)| {
                // The last ones delete it: who comes behind them finds nothing.
                let text = match number {
                    0 => "update hot set v = v + 1 where id = 1 returning v - v + 7",
                    1 => "with gone as (delete from hot where id = 2 returning 1) update hot set v = v + 1 where id = 1 returning 8",
                    _ => hot,
                };
                let rows = scope.spawn(move || client.query(text).unwrap());
                all_wait(&mut watcher, CROWD + 2 + number);
                rows
            })
            .collect();
        let held = "select count(backend_xmin) || ' ' || count(backend_xid) from pg_stat_activity where wait_event_type = 'Lock'";
        // One of those who came to the crowd has done more than look for the row.
        assert_eq!(watcher.value(held), format!("{} {}", CROWD + 2, CROWD + 2));
        run(&mut holder, &["commit"]);
        first.into_iter().for_each(|one| one.join().unwrap());
        more.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(returned[0], [[Some("7".to_string())]]);
    assert_eq!(returned[1], [[Some("8".to_string())]]);
    assert_eq!(watcher.value("select v from hot where id = 1"), (1 + CROWD + 1 + MORE).to_string());
    assert_eq!(watcher.value("select count(*) from hot"), "2");
    assert_eq!(watcher.value("select count(*) from pg_locks where locktype = 'tuple'"), "0");
}

/// The one at the head of a crowd waits for one who waits in it: one of the two is told of a deadlock, and all others go on.
#[test]
fn a_deadlock_in_a_crowd_stops_one_of_two() {
    const CLIENTS: usize = 40;
    let server = Server::start(&["deadlock_timeout=100ms"]);
    let (mut first, mut head, mut other) = (server.client(), server.client(), server.client());
    let mut watcher = server.client();
    run(
        &mut watcher,
        &["create table hot (id int primary key, v int)", "insert into hot values (1, 0), (2, 0)"],
    );
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| server.client()).collect();
    let hot = "update hot set v = v + 1 where id = 1";
    let mut all_wait = |most: usize| {
        let waiting = "select count(*) from pg_locks where not granted";
        until("they wait", || watcher.value(waiting) == most.to_string());
    };
    run(&mut first, &["begin", hot]);
    run(&mut other, &["begin", "update hot set v = v + 1 where id = 2"]);
    let failed = thread::scope(|scope| {
        // It comes to the head at once, and takes the queue to the version that the first has written.
        let head = scope.spawn(|| {
            run(&mut head, &["begin", hot]);
            let result = head.query("update hot set v = v + 1 where id = 2");
            run(&mut head, &["commit"]);
            result.map(drop)
        });
        all_wait(1);
        let (some, rest) = clients.split_at_mut(CLIENTS / 2);
        let crowd: Vec<_> = some.iter_mut().map(|client| scope.spawn(|| run(client, &[hot]))).collect();
        all_wait(1 + CLIENTS / 2);
        let other = scope.spawn(|| {
            let result = other.query(hot);
            run(&mut other, &["commit"]);
            result.map(drop)
        });
        all_wait(2 + CLIENTS / 2);
        let behind: Vec<_> = rest.iter_mut().map(|client| scope.spawn(|| run(client, &[hot]))).collect();
        all_wait(2 + CLIENTS);
        run(&mut first, &["commit"]);
        crowd.into_iter().chain(behind).for_each(|one| one.join().unwrap());
        [head.join().unwrap(), other.join().unwrap()]
    });
    let failed: Vec<&str> = failed.iter().filter_map(|result| result.as_ref().err()).map(code).collect();
    assert_eq!(failed, ["40P01"]);
    // Of the first and of one of the two, beside the crowd's.
    assert_eq!(watcher.value("select v from hot where id = 1"), (CLIENTS + 2).to_string());
    assert_eq!(watcher.value("select v from hot where id = 2"), "1");
    assert_eq!(
        watcher.value("select count(*) from pg_locks where locktype in ('tuple', 'transactionid')"),
        "0"
    );
}

/// Sessions wait for each other in rings; in each ring one is told of the deadlock, and no more than one: all others get on.
#[test]
fn each_ring_of_sessions_is_broken_once() {
    let server = Server::start(&["deadlock_timeout=100ms", "max_connections=5000"]);
    let sessions = knob("STAMPEDE_DEADLOCKED", 60) as usize;
    let mut watcher = server.client();
    run(&mut watcher, &["create table t (id int primary key, v int default 0)"]);
    run(&mut watcher, &[&format!("insert into t select g from generate_series(0, {}) g", sessions - 1)]);
    // Rings of two, three, up to nine sessions, as long as there are some left.
    let (mut rings, mut first) = (Vec::new(), 0);
    for size in (2..10).cycle() {
        if first + size > sessions {
            break;
        }
        rings.push(first..first + size);
        first += size;
    }
    let mut clients: Vec<Client> = (0..first).map(|_| server.client()).collect();
    for (id, client) in clients.iter_mut().enumerate() {
        run(client, &["begin", &format!("update t set v = v + 1 where id = {id}")]);
    }
    for ring in &rings {
        for id in ring.clone() {
            let next = if id + 1 == ring.end { ring.start } else { id + 1 };
            let text = format!("update t set v = v + 1 where id = {next}; commit\0");
            clients[id].send(&message(b'Q', text.as_bytes())).unwrap();
        }
    }
    for ring in &rings {
        let mut told = 0;
        for client in &mut clients[ring.clone()] {
            loop {
                match client.message().unwrap() {
                    (b'E', body) => {
                        assert!(body.windows(6).any(|part| part == b"C40P01"), "{}", body.escape_ascii());
                        told += 1;
                    }
                    (b'Z', _) => break,
                    _ => {}
                }
            }
        }
        assert_eq!(told, 1, "a ring of {} sessions", ring.len());
    }
    // Each of the others has changed two rows.
    let changes: usize = rings.iter().map(|ring| 2 * (ring.len() - 1)).sum();
    assert_eq!(watcher.value("select sum(v) from t"), changes.to_string());
    let waiting = "select count(*) from pg_locks where not granted";
    assert_eq!(watcher.value(waiting), "0");
}

/// A row that INSERT with ON CONFLICT may take back holds others up until that is settled, and not until its transaction ends.
#[test]
fn who_meets_a_row_that_may_be_taken_back_waits_for_that_alone() {
    let server = Server::start(&[]);
    let (mut holder, mut one, mut two) = (server.client(), server.client(), server.client());
    run(
        &mut holder,
        &[
            "create sequence calls",
            // The second time that the one session calls it, when the entry is made, it waits.
            "create function slow(t text) returns text immutable language plpgsql as 'begin \
             if current_setting(''my.slow'', true) = ''on'' and nextval(''calls'') % 2 = 0 then \
             perform pg_advisory_lock(1); perform pg_advisory_unlock(1); end if; return t; end'",
            "create table u (a int unique, b text)",
            "create unique index on u (slow(b))",
            "select pg_advisory_lock(1)",
        ],
    );
    run(&mut one, &["set my.slow = on", "begin"]);
    let locks = |client: &mut Client| {
        let list = "select string_agg(mode || ' ' || granted, ', ' order by granted desc) from pg_locks where locktype = 'spectoken'";
        client.value(&format!("select coalesce(({list}), '')"))
    };
    thread::scope(|scope| {
        let first = scope.spawn(|| one.query("insert into u values (1, 'x') on conflict do nothing"));
        until("the row is in", || locks(&mut holder) == "ExclusiveLock true");
        run(&mut holder, &["insert into u values (2, 'x') on conflict (a) do nothing"]);
        let second = scope.spawn(|| two.query("insert into u values (1, 'y') on conflict (a) do nothing"));
        until("another waits", || locks(&mut holder) == "ExclusiveLock true, ShareLock false");
        let waits = "select wait_event_type || ' ' || wait_event from pg_stat_activity where query like '%(1, ''y'')%' and pid <> pg_backend_pid()";
        assert_eq!(holder.value(waits), "Lock spectoken");
        run(&mut holder, &["select pg_advisory_unlock(1)"]);
        first.join().unwrap().unwrap();
        // The first transaction still runs, but has nothing there any more.
        second.join().unwrap().unwrap();
    });
    assert_eq!(holder.value("select string_agg(a || b, ' ' order by a) from u"), "1y 2x");
    run(&mut one, &["commit"]);
    assert_eq!(locks(&mut holder), "");
}
