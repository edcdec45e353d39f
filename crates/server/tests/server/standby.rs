//! Sessions on a standby while the log is replayed: what they may do, what they see, who is in the way of whom, and how they go on when it is promoted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::pair::{caught_up, run_standby, standby_of};
use crate::support::{READY, Server, code, knob, run, until};

fn pair(settings: &[&str]) -> (Server, Server) {
    let mut primary = Server::start(&["max_prepared_transactions=10"]);
    let mut standby = standby_of(&mut primary, "", &["max_prepared_transactions=10"]);
    settings.iter().for_each(|setting| standby.set_option(setting));
    run_standby(&mut standby);
    // That somebody has entered the database is known to both: a session that could not note that would end with the promotion.
    caught_up(&mut primary.client(), &mut standby.client());
    (primary, standby)
}

#[test]
fn sessions_read_and_do_nothing_else() {
    let (primary, mut standby) = pair(&[]);
    let mut on_primary = primary.client();
    let mut client = standby.client();
    run(
        &mut on_primary,
        &["create table t (n int primary key)", "insert into t select generate_series(1, 10)"],
    );
    run(
        &mut on_primary,
        &["create sequence s", "create table dropped (n int)", "create unlogged table volatile (n int)"],
    );
    caught_up(&mut on_primary, &mut client);
    let seen = "select count(*) || ' ' || pg_is_in_recovery() from t";
    assert_eq!(client.value(seen), "10 true");
    for (setting, value) in
        [("transaction_read_only", "on"), ("in_hot_standby", "on"), ("default_transaction_read_only", "off")]
    {
        assert_eq!(client.value(&format!("show {setting}")), value, "{setting}");
    }
    for (statement, error) in [
        ("insert into t values (0)", "25006 cannot execute INSERT in a read-only transaction"),
        ("update t set n = n", "25006 cannot execute UPDATE in a read-only transaction"),
        ("select * from t for update", "25006 cannot execute SELECT FOR UPDATE in a read-only transaction"),
        ("create table u (n int)", "25006 cannot execute CREATE TABLE in a read-only transaction"),
        ("create temp table u (n int)", "25006 cannot execute CREATE TABLE in a read-only transaction"),
        ("select nextval('s')", "25006 cannot execute nextval() in a read-only transaction"),
        ("table volatile", "0A000 cannot access temporary or unlogged relations during recovery"),
        ("vacuum t", "25006 cannot execute VACUUM during recovery"),
        ("analyze", "25006 cannot execute ANALYZE during recovery"),
        ("reindex table t", "25006 cannot execute REINDEX during recovery"),
        ("listen x", "25006 cannot execute LISTEN during recovery"),
        ("notify x", "25006 cannot execute NOTIFY during recovery"),
        ("prepare transaction 'x'", "25006 cannot execute PREPARE TRANSACTION during recovery"),
        ("commit prepared 'x'", "25006 cannot execute COMMIT PREPARED during recovery"),
        ("select pg_current_xact_id()", "25006 cannot execute pg_current_xact_id() during recovery"),
        ("select pg_current_wal_lsn()", "55000 recovery is in progress"),
        ("select pg_switch_wal()", "55000 recovery is in progress"),
        (
            "begin transaction isolation level serializable",
            "0A000 cannot use serializable mode in a hot standby",
        ),
        ("begin read write", "0A000 cannot set transaction read-write mode during recovery"),
    ] {
        assert_eq!(client.error(statement), error, "{statement}");
    }
    run(&mut client, &["begin", "lock table t in row exclusive mode"]);
    assert_eq!(client.error("lock table t in share mode"), "25006 cannot execute LOCK TABLE during recovery");
    run(&mut client, &["rollback", "set default_transaction_isolation = 'serializable'"]);
    assert_eq!(client.error("select 1 from t"), "0A000 cannot use serializable mode in a hot standby");
    run(&mut client, &["reset default_transaction_isolation"]);
    // What changes nothing is as elsewhere: cursors, prepared statements, advisory locks, plans, sorts that need files.
    run(
        &mut client,
        &[
            "begin isolation level repeatable read",
            "declare c cursor for select n from t order by n",
            "fetch 2 from c",
            "commit",
            "prepare p as select n from t where n = $1",
            "execute p(3)",
            "select pg_advisory_lock(1)",
            "explain analyze select * from t",
            "set work_mem = '64kB'",
            "select count(*) from (select n, m from t, generate_series(1, 3000) m order by m, n) x",
            "checkpoint",
        ],
    );
    // Definitions change under them.
    assert_eq!(client.value("select count(*) from dropped"), "0");
    run(
        &mut on_primary,
        &["drop table dropped", "alter table t add v int default 5", "vacuum full pg_class"],
    );
    caught_up(&mut on_primary, &mut client);
    assert_eq!(client.error("select * from dropped"), "42P01 relation \"dropped\" does not exist");
    assert_eq!(client.value("select sum(v) from t"), "50");
    drop(client);
    standby.stop();
    assert!(standby.log().contains("database system is shut down"));
    run_standby(&mut standby);
    assert_eq!(standby.client().value(seen), "10 true");
}

/// Behind its last restart point, with transactions that have not ended, prepared ones, sets of lockers, and a relation that a standby does not have.
#[test]
fn the_directory_of_a_standby_can_be_checked() {
    let (primary, mut standby) = pair(&["checkpoint_timeout=1d"]);
    let (mut client, mut open) = (primary.client(), primary.client());
    run(
        &mut client,
        &[
            "create unlogged table volatile (n int primary key)",
            "create table t (n int primary key, pad text)",
            "insert into t select n, repeat('x', n) from generate_series(1, 500) n",
            "begin",
            "insert into t values (1001, 'prepared')",
            "prepare transaction 'kept'",
            "begin",
            "insert into t values (1002, 'prepared')",
            "prepare transaction 'ended'",
            "checkpoint",
        ],
    );
    caught_up(&mut client, &mut standby.client());
    standby.client().query("checkpoint").unwrap();
    run(
        &mut open,
        &[
            "begin",
            "savepoint a",
            "select * from t where n < 10 for share",
            "insert into t values (2000, '')",
        ],
    );
    run(
        &mut client,
        &[
            "commit prepared 'ended'",
            "begin",
            "select * from t where n < 10 for share",
            "savepoint b",
            "insert into t select n, '' from generate_series(3000, 3400) n",
            "release b",
            "commit",
            "update t set pad = pad || '!' where n between 100 and 300",
            "delete from t where n between 200 and 220",
        ],
    );
    let end = client.value("select pg_current_wal_insert_lsn()");
    let mut on_standby = standby.client();
    until("the standby has replayed all", || {
        on_standby.value(&format!("select pg_last_wal_replay_lsn() >= '{end}'")) == "t"
    });
    standby.stop();
    let state =
        crate::support::text(&crate::support::output(standby.program("pg_controldata").arg(standby.data())));
    assert!(state.contains("shut down in recovery"), "{state}");
    assert_eq!(standby.verify(), (Some(0), "verify: nothing is wrong\n".into()));
    // It is found if something is, and nothing was changed by who looked.
    let path = on_disk(&mut client, &standby, "t");
    let whole = std::fs::read(&path).unwrap();
    let mut page = whole.clone();
    page[2 * page::PAGE_SIZE + 5000] ^= 1;
    std::fs::write(&path, page).unwrap();
    let (code, found) = standby.verify();
    assert!(code == Some(2) && found.contains("block 2"), "{found}");
    std::fs::write(&path, whole).unwrap();
    run_standby(&mut standby);
    open.query("commit").unwrap();
    caught_up(&mut client, &mut standby.client());
    let count = "select count(*) from t";
    assert_eq!(standby.client().value(count), client.value(count));
}

/// The file of a relation in the directory of another server.
fn on_disk(client: &mut crate::support::Client, of: &Server, name: &str) -> std::path::PathBuf {
    of.data().join(client.value(&format!("select pg_relation_filepath('{name}')")))
}

#[test]
fn replay_pauses_and_goes_on() {
    let (primary, standby) = pair(&[]);
    let (mut on_primary, mut client) = (primary.client(), standby.client());
    run(&mut on_primary, &["create table t (n int)", "insert into t values (1)"]);
    let refused = on_primary.error("select pg_wal_replay_pause()");
    assert_eq!(refused, "55000 recovery is not in progress");
    caught_up(&mut on_primary, &mut client);
    assert_eq!(client.value("select pg_is_wal_replay_paused()"), "f");
    client.query("select pg_wal_replay_pause()").unwrap();
    let paused = "select pg_get_wal_replay_pause_state()";
    // Nothing comes meanwhile.
    until("replay pauses", || client.value(paused) == "paused");
    on_primary.query("insert into t values (3)").unwrap();
    assert_eq!(client.value("select count(*) from t where n = 3"), "0");
    client.query("select pg_wal_replay_resume()").unwrap();
    until("replay goes on", || client.value("select count(*) from t where n = 3") == "1");
    assert_eq!(client.value(paused), "not paused");
}

#[test]
fn who_is_in_the_way_is_cancelled() {
    let (primary, standby) = pair(&[
        "max_standby_streaming_delay=200ms",
        "log_recovery_conflict_waits=on",
        "deadlock_timeout=50ms",
    ]);
    let (mut on_primary, mut watching) = (primary.client(), standby.client());
    run(
        &mut on_primary,
        &[
            "create table t as select generate_series(1, 1000) n",
            "create table d (n int)",
            "create database other",
        ],
    );
    caught_up(&mut on_primary, &mut watching);
    let begin = ["begin isolation level repeatable read", "select count(*) from t"];
    let (mut busy, mut idle) = (standby.client(), standby.client());
    run(&mut busy, &begin);
    run(&mut idle, &begin);
    let waiting = thread::spawn(move || {
        let failure = busy.query("select pg_sleep(600)").unwrap_err();
        (code(&failure).to_owned(), format!("{failure:?}"))
    });
    until("it sleeps", || {
        watching.value("select count(*) from pg_stat_activity where wait_event = 'PgSleep'") == "1"
    });
    // Nobody needs them on the server where they are removed.
    run(&mut on_primary, &["delete from t where n > 500", "vacuum t"]);
    let (code_of_busy, text) = waiting.join().unwrap();
    assert_eq!(code_of_busy, "40001");
    assert!(text.contains("canceling statement due to conflict with recovery"), "{text}");
    until("nobody is idle in the way", || {
        watching.value("select count(*) from pg_stat_activity where state = 'idle in transaction'") == "0"
    });
    let failure = idle.query("select count(*) from t").unwrap_err();
    assert!(
        format!("{failure:?}").contains("terminating connection due to conflict with recovery"),
        "{failure:?}"
    );
    caught_up(&mut on_primary, &mut watching);
    assert_eq!(watching.value("select count(*) from t"), "500");
    // A lock, and a database.
    let mut holder = standby.client();
    run(&mut holder, &["begin", "select * from d"]);
    let mut inside = standby.connect(&[("database", "other")]).unwrap();
    run(&mut on_primary, &["drop table d", "drop database other"]);
    caught_up(&mut on_primary, &mut watching);
    let failure = holder.query("select 1").unwrap_err();
    assert!(
        format!("{failure:?}").contains("terminating connection due to conflict with recovery"),
        "{failure:?}"
    );
    let failure = inside.query("select 1").unwrap_err();
    assert_eq!(code(&failure), "57P04");
    until("conflicts are counted", || {
        let counted = "select confl_snapshot > 0 and confl_bufferpin = 0 from pg_stat_database_conflicts where datname = 'postgres'";
        watching.value(counted) == "t"
    });
    assert!(standby.log().contains("recovery still waiting after"));
    assert!(standby.log().contains("ms: recovery conflict on snapshot"));
}

#[test]
fn sessions_go_on_when_a_standby_is_promoted() {
    let (mut primary, mut standby) = pair(&[]);
    let (mut on_primary, mut client) = (primary.client(), standby.client());
    run(
        &mut on_primary,
        &[
            "create table t (n int primary key)",
            "insert into t values (1)",
            "begin",
            "insert into t values (2)",
            "savepoint s",
            "insert into t values (3)",
            "prepare transaction 'both'",
            "begin",
            "insert into t values (4)",
        ],
    );
    let mut other = primary.client();
    caught_up(&mut other, &mut client);
    let mut reader = standby.client();
    run(&mut reader, &["begin isolation level repeatable read"]);
    assert_eq!(reader.value("select sum(n) from t"), "1");
    assert_eq!(client.value("select gid from pg_prepared_xacts"), "both");
    primary.kill();
    assert_eq!(client.value("select pg_promote()"), "t");
    standby.wait_for_log(READY);
    // What was begun before stays as it was.
    assert_eq!(
        reader.error("insert into t values (9)"),
        "25006 cannot execute INSERT in a read-only transaction"
    );
    reader.query("rollback").unwrap();
    assert_eq!(client.value("show in_hot_standby"), "off");
    run(&mut client, &["insert into t values (10)"]);
    assert_eq!(client.value("select sum(n) from t"), "11", "who had not committed is rolled back");
    assert_eq!(client.value("select gid from pg_prepared_xacts"), "both");
    run(&mut client, &["commit prepared 'both'"]);
    assert_eq!(reader.value("select sum(n) from t"), "16");
    run(&mut reader, &["insert into t values (5)"]);
    drop((client, reader));
    standby.stop();
    standby.assert_sound();
}

/// Statements that change a table with indexes of every method, by a number.
fn change(round: u64) -> Vec<String> {
    let at = round * 7919 % 1000;
    let row = |n: u64| {
        format!(
            "({n}, {}, point({}, {}), array[{}, {}], 'k{}')",
            n % 50,
            n % 37,
            n % 41,
            n % 20,
            n % 13,
            n % 29
        )
    };
    let rows: Vec<String> = (0..20).map(|i| row(at + i * 1000 + round * 20_000)).collect();
    let mut statements = vec!["begin".to_owned()];
    statements.push(format!("insert into m values {}", rows.join(", ")));
    statements.push("savepoint s".into());
    statements.push(format!("update m set b = b + 1, x = 'k' || (b % 29) where n % 17 = {}", round % 17));
    statements.push(if round.is_multiple_of(3) { "rollback to s".into() } else { "release s".into() });
    statements.push(format!("delete from m where n % 11 = {}", round % 11));
    // The sums must always agree.
    statements.push("update sums set n = (select count(*) from m), b = (select sum(b) from m)".into());
    statements.push(if round % 5 == 4 { "rollback".into() } else { "commit".into() });
    if round.is_multiple_of(4) {
        statements.push("vacuum m".into());
    }
    statements
}

/// While pages split, empty and are used anew under them, searches by every kind of index find what a scan of the table finds in the same snapshot, and what a
/// transaction has written that they see whole.
#[test]
fn snapshots_are_whole_and_indexes_lead_to_all_rows_of_them() {
    let (primary, mut standby) = pair(&["max_standby_streaming_delay=-1", "shared_buffers=4MB"]);
    let mut on_primary = primary.client();
    run(
        &mut on_primary,
        &[
            "create table m (n bigint, b bigint, p point, a int[], x text)",
            "create table sums (n bigint, b bigint)",
            "insert into sums values (0, 0)",
            "create index on m using btree (b)",
            "create index on m using hash (x)",
            "create index on m using gist (p)",
            "create index on m using gin (a)",
            "create index on m using spgist (x)",
            "create index on m using brin (n)",
        ],
    );
    let mut watching = standby.client();
    caught_up(&mut on_primary, &mut watching);
    let rounds = knob("STAMPEDE_STANDBY_ROUNDS", 60);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for reader in 0..3_u64 {
            let (done, mut client) = (&done, standby.client());
            scope.spawn(move || {
                let mut last = 0;
                let mut seen = 0_u64;
                while !done.load(Ordering::Relaxed) {
                    run(&mut client, &["begin isolation level repeatable read"]);
                    let key = (seen + reader) % 13;
                    let pairs = [
                        ("b", format!("b between {key} and {}", key + 20)),
                        ("x", format!("x = 'k{key}'")),
                        ("p", format!("p <@ box(point({key}, 0), point({}, 30))", key + 10)),
                        ("a", format!("a @> array[{key}]")),
                        ("n", format!("n between {} and {}", key * 1000, key * 9000)),
                    ];
                    let sums = "select (select count(*) || ' ' || coalesce(sum(b), 0) from m) = (select n || ' ' || coalesce(b, 0) from sums)";
                    assert_eq!(client.value(sums), "t", "a transaction is seen whole");
                    for (_, condition) in &pairs {
                        let count = format!("select count(*) || ' ' || coalesce(sum(n), 0) from m where {condition}");
                        run(&mut client, &["set local enable_seqscan = on", "set local enable_bitmapscan = off", "set local enable_indexscan = off", "set local enable_indexonlyscan = off"]);
                        let scanned = client.value(&count);
                        run(&mut client, &["set local enable_seqscan = off", "set local enable_bitmapscan = on", "set local enable_indexscan = on", "set local enable_indexonlyscan = on"]);
                        assert_eq!(client.value(&count), scanned, "{condition}");
                    }
                    let now: u64 = client.value("select txid_snapshot_xmax(txid_current_snapshot())").parse().unwrap();
                    assert!(now >= last, "snapshots go forward");
                    last = now;
                    run(&mut client, &["commit"]);
                    seen += 1;
                }
                assert!(seen > 0);
            });
        }
        for round in 0..rounds {
            let statements = change(round);
            run(&mut on_primary, &statements.iter().map(String::as_str).collect::<Vec<_>>());
        }
        caught_up(&mut on_primary, &mut watching);
        done.store(true, Ordering::Relaxed);
    });
    let all = "select count(*) || ' ' || coalesce(sum(b), 0) from m";
    assert_eq!(watching.value(all), on_primary.value(all));
    assert_eq!(watching.value("select pg_promote()"), "t");
    drop(watching);
    standby.stop();
    standby.assert_sound();
}

/// A standby that is killed while it replays, and sessions read, finds its way again.
#[test]
fn a_killed_standby_goes_on() {
    let (primary, mut standby) =
        pair(&["shared_buffers=2MB", "checkpoint_timeout=30s", "max_wal_size=2MB", "min_wal_size=2MB"]);
    let mut on_primary = primary.client();
    run(
        &mut on_primary,
        &[
            "create table t (n int primary key, x text)",
            "create table sums (n bigint)",
            "insert into sums values (0)",
        ],
    );
    caught_up(&mut on_primary, &mut standby.client());
    for round in 0..knob("STAMPEDE_STANDBY_KILLS", 4) {
        for step in 0..5 {
            let from = (round * 5 + step) * 400;
            let insert = format!(
                "insert into t select n, repeat('x', 300) from generate_series({from}, {}) n",
                from + 399
            );
            run(&mut on_primary, &["begin", &insert, "update sums set n = n + 400", "commit"]);
            if step == 2 {
                run(&mut on_primary, &["checkpoint"]);
            }
        }
        let mut client = standby.client();
        let sums = "select (select count(*) from t) = (select n from sums)";
        assert_eq!(client.value(sums), "t");
        if round % 2 == 0 {
            caught_up(&mut on_primary, &mut client);
            run(&mut client, &["checkpoint"]);
        }
        standby.kill();
        run_standby(&mut standby);
        let mut client = standby.client();
        assert_eq!(client.value(sums), "t");
        caught_up(&mut on_primary, &mut client);
        assert_eq!(client.value("select count(*) from t"), ((round + 1) * 2000).to_string());
    }
    assert_eq!(standby.client().value("select pg_promote()"), "t");
    standby.stop();
    standby.assert_sound();
}
