//! CREATE INDEX CONCURRENTLY and DROP INDEX CONCURRENTLY beside sessions that write and read, errors in between, and kill -9.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::{Client, Failure, Random, Server, knob, run, until};

/// Runs a statement in a session of its own, which others may have to let go on.
fn beside<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    server: &'scope Server,
    statement: &'static str,
) -> thread::ScopedJoinHandle<'scope, Result<(), Failure>> {
    scope.spawn(move || {
        let mut client = server.client();
        run(&mut client, &["set application_name = 'beside'"]);
        client.query(statement).map(drop)
    })
}

/// Until the session beside waits for another transaction, in this phase.
fn until_waiting(client: &mut Client, phase: &str) {
    let waits = "select count(*) from pg_stat_activity a join pg_locks l using (pid) \
                 where application_name = 'beside' and locktype = 'virtualxid' and not granted";
    until("the session beside waits", || client.value(waits) == "1");
    if !phase.is_empty() {
        assert_eq!(client.value("select phase from pg_stat_progress_create_index"), phase);
        assert_eq!(client.value("select lockers_total >= 1 from pg_stat_progress_create_index"), "t");
    }
}

fn state(client: &mut Client) -> String {
    client.value(
        "select concat_ws(' ', indisvalid, indisready, indislive) from pg_index where indexrelid = 'ti'::regclass",
    )
}

#[test]
fn an_index_waits_for_writers_twice_and_for_old_snapshots() {
    let server = Server::start(&[]);
    let (mut one, mut two, mut old) = (server.client(), server.client(), server.client());
    run(
        &mut one,
        &["create table t (id int, v int)", "insert into t select g, g from generate_series(1, 100) g"],
    );
    // A chain that is broken for the index to come: who sees the old version must not use it.
    run(&mut old, &["begin isolation level repeatable read", "select count(*) from pg_class"]);
    run(&mut one, &["update t set v = -1 where id = 1", "begin", "update t set v = 1000 where id = 2"]);
    thread::scope(|scope| {
        let build = beside(scope, &server, "create index concurrently ti on t (v)");
        until_waiting(&mut two, "waiting for writers before build");
        assert_eq!(state(&mut two), "f f t");
        // Others write on while it waits.
        run(&mut two, &["begin", "insert into t values (101, 101)"]);
        run(&mut one, &["commit"]);
        until_waiting(&mut one, "waiting for writers before validation");
        assert_eq!(state(&mut one), "f t t");
        run(&mut one, &["insert into t values (102, 102)", "delete from t where id = 3"]);
        run(&mut two, &["commit"]);
        until_waiting(&mut one, "waiting for old snapshots");
        assert_eq!(state(&mut one), "f t t");
        run(&mut old, &["commit"]);
        build.join().unwrap().unwrap();
    });
    assert_eq!(state(&mut one), "t t t");
    check(&mut one);
    assert_eq!(one.value("select count(*) from pg_stat_progress_create_index"), "0");
}

#[test]
fn an_index_waits_for_an_older_snapshot_with_the_same_xmin() {
    let server = Server::start(&[]);
    let (mut writer, mut old, mut client) = (server.client(), server.client(), server.client());
    run(
        &mut client,
        &["create table other (id int)", "create table t (id int)", "insert into t values (1), (2)"],
    );
    // What writes elsewhere has the lowest xid for all.
    run(&mut writer, &["begin", "insert into other values (1)"]);
    run(&mut old, &["begin isolation level repeatable read", "select from pg_class"]);
    run(&mut client, &["delete from t where id = 1"]);
    thread::scope(|scope| {
        let build = beside(scope, &server, "create index concurrently ti on t (id)");
        until_waiting(&mut client, "waiting for old snapshots");
        run(&mut old, &["set enable_seqscan = off"]);
        assert_eq!(old.value("select count(*) from t where id = 1"), "1");
        run(&mut old, &["commit"]);
        build.join().unwrap().unwrap();
    });
    run(&mut writer, &["commit"]);
    assert_eq!(state(&mut client), "t t t");
}

/// The index finds what a scan of the table finds.
fn check(client: &mut Client) {
    let all =
        "select string_agg(id || ':' || v, ' ' order by v, id) from t where v between -2000000 and 2000000";
    let without = ["set local enable_indexscan = off", "set local enable_bitmapscan = off"];
    run(client, &["begin isolation level repeatable read", without[0], without[1]]);
    let by_table = client.value(all);
    run(client, &["set local enable_seqscan = off", "set local enable_indexscan = on"]);
    let plan = client.value(&format!("explain (costs off, format json) {all}"));
    assert!(plan.contains("\"ti\""), "{plan}");
    assert_eq!(client.value(all), by_table);
    run(client, &["commit"]);
}

#[test]
fn an_index_built_beside_writers_has_all_rows() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (id int, v int, w int)",
            "insert into t select g, g, g from generate_series(1, 3000) g",
        ],
    );
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 1..=4 {
            let (server, stop) = (&server, &stop);
            scope.spawn(move || {
                let mut random = Random(seed);
                let mut session = server.client();
                while !stop.load(Ordering::Relaxed) {
                    let (id, v) = (random.below(3000) + 1, random.below(1_000_000));
                    let statement = match random.below(5) {
                        0 => format!("insert into t values ({id}, {v}, 0)"),
                        1 => format!("delete from t where id = {id} and v % 3 = 0"),
                        2 => format!("begin; update t set v = {v} where id = {id}; rollback"),
                        // The new version stays in its page, and in the chain, unless the new index forbids it.
                        3 => format!("update t set w = {v} where id = {id}"),
                        _ => format!("update t set v = {v} where id = {id}"),
                    };
                    session.query(&statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
                }
            });
        }
        for _ in 0..knob("STAMPEDE_CONCURRENT_BUILDS", 8) {
            run(&mut client, &["create index concurrently ti on t (v)"]);
            check(&mut client);
            run(&mut client, &["reindex index concurrently ti"]);
            check(&mut client);
            run(&mut client, &["drop index concurrently ti"]);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_goes_wrong_leaves_an_index_that_nobody_uses() {
    let server = Server::start(&[]);
    let (mut one, mut two) = (server.client(), server.client());
    run(&mut one, &["create table t (id int, v int)", "insert into t values (1, 1), (2, 1)"]);
    let failed = one.error("create unique index concurrently ti on t (v)");
    assert_eq!(failed, "23505 could not create unique index \"ti\"");
    assert_eq!(state(&mut one), "f f t");
    assert_eq!(one.value("select v from t where v = 1 limit 1"), "1");
    run(&mut one, &["insert into t values (3, 1)", "vacuum full t"]);
    assert_eq!(state(&mut one), "f f t");
    run(&mut one, &["drop index ti"]);
    // Cancelled while it waits: its lock goes, and a second try is told that there is something.
    run(&mut one, &["update t set v = id", "begin", "update t set v = 5 where id = 3"]);
    thread::scope(|scope| {
        let build = beside(scope, &server, "create unique index concurrently ti on t (v)");
        until_waiting(&mut two, "waiting for writers before build");
        run(
            &mut two,
            &["select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'beside'"],
        );
        let error = build.join().unwrap().unwrap_err();
        assert!(format!("{error:?}").contains("57014"), "{error:?}");
    });
    run(&mut one, &["commit"]);
    assert_eq!(
        two.error("create unique index concurrently ti on t (v)"),
        "42P07 relation \"ti\" already exists"
    );
    run(&mut two, &["vacuum t", "reindex index ti"]);
    assert_eq!(state(&mut two), "t t t");
    assert_eq!(two.error("insert into t values (4, 5)").split(' ').next(), Some("23505"));
}

#[test]
fn an_index_goes_when_nobody_knows_it_any_more() {
    let server = Server::start(&[]);
    let (mut reader, mut one) = (server.client(), server.client());
    run(
        &mut one,
        &["create table t (id int, v int)", "insert into t select g, g from generate_series(1, 2000) g"],
    );
    run(&mut one, &["create index ti on t (v)", "analyze t"]);
    run(&mut reader, &["begin", "prepare p as select id from t where v = 7", "execute p"]);
    thread::scope(|scope| {
        let drop = beside(scope, &server, "drop index concurrently ti");
        until_waiting(&mut one, "");
        assert_eq!(state(&mut one), "f t t");
        run(&mut one, &["insert into t values (7, 7)"]);
        assert_eq!(reader.value("select count(*) from t where v = 7"), "2");
        assert_eq!(reader.query("execute p").unwrap().len(), 2);
        run(&mut reader, &["commit"]);
        drop.join().unwrap().unwrap();
    });
    assert_eq!(one.value("select count(*) from pg_class where relname = 'ti'"), "0");
    assert_eq!(reader.query("execute p").unwrap().len(), 2);
}

#[test]
fn a_build_cut_off_by_a_crash_can_be_dropped_or_made_anew() {
    let mut server = Server::start(&[]);
    let mut one = server.client();
    run(
        &mut one,
        &["create table t (id int, v int)", "insert into t select g, g from generate_series(1, 500) g"],
    );
    run(&mut one, &["begin isolation level repeatable read", "select 1 from t limit 1"]);
    thread::scope(|scope| {
        let build = beside(scope, &server, "create index concurrently ti on t (v)");
        until_waiting(&mut server.client(), "waiting for old snapshots");
        server.signal(9);
        assert!(build.join().unwrap().is_err());
    });
    server.wait();
    server.run();
    let mut one = server.client();
    assert_eq!(state(&mut one), "f t t");
    run(&mut one, &["insert into t values (501, 501)", "reindex index ti"]);
    check(&mut one);
}

#[test]
fn an_index_is_made_anew_beside_a_reader_of_the_old_one() {
    let server = Server::start(&[]);
    let (mut reader, mut one) = (server.client(), server.client());
    run(
        &mut one,
        &["create table t (id int primary key, v int, w int unique deferrable initially deferred)"],
    );
    run(
        &mut one,
        &["insert into t select g, g, g from generate_series(1, 2000) g", "create index ti on t (v)"],
    );
    run(&mut one, &["comment on index ti is 'kept'", "alter table t cluster on ti", "analyze t"]);
    let about = "select concat_ws(' ', obj_description(c.oid, 'pg_class'), indisclustered, indisvalid, indisready, relpages > 1) \
                 from pg_index join pg_class c on c.oid = indexrelid where relname = 'ti'";
    let files = "select string_agg(relname || relfilenode, ' ' order by relname) from pg_class where relname in ('ti', 't_pkey', 't_w_key')";
    let before = one.value(files);
    let keys = "select string_agg(conname || conindid::regclass, ' ' order by conname) from pg_constraint where conrelid = 't'::regclass";
    let constraints = one.value(keys);
    run(
        &mut reader,
        &["begin", "set local enable_seqscan = off", "prepare p as select count(*) from t where v = 2001"],
    );
    assert_eq!(reader.value("execute p"), "0");
    thread::scope(|scope| {
        let build = beside(scope, &server, "reindex index concurrently ti");
        // It has changed files; the reader's transaction may still read the old one.
        until_waiting(&mut one, "waiting for readers before marking dead");
        assert_eq!(one.value("select relname from pg_class where relname like 'ti\\_%'"), "ti_ccold");
        run(&mut one, &["insert into t values (2001, 2001, 2001)"]);
        assert_eq!(reader.value("execute p"), "1");
        run(&mut reader, &["commit"]);
        build.join().unwrap().unwrap();
    });
    assert_eq!(one.value(about), "kept t t t t");
    assert_eq!(
        one.value("select count(*) from pg_class where relname like '%ccold' or relname like '%ccnew'"),
        "0"
    );
    check(&mut one);
    run(&mut one, &["reindex table concurrently t"]);
    let after = one.value(files);
    assert!(
        before.split(' ').zip(after.split(' ')).all(|(before, after)| before != after),
        "{before} {after}"
    );
    assert_eq!(one.value(keys), constraints);
    assert_eq!(one.error("insert into t values (1, -1, -1)").split(' ').next(), Some("23505"));
    run(
        &mut one,
        &["begin", "insert into t values (2002, 1, 1)", "update t set w = -1 where id = 2002", "commit"],
    );
    assert_eq!(one.error("insert into t values (2003, 1, 1)").split(' ').next(), Some("23505"));
    assert_eq!(one.error("begin; reindex table concurrently t").split(' ').next(), Some("25001"));
}

/// Readers of a partition may use its part of the index.
#[test]
fn an_index_of_a_partitioned_table_goes_when_readers_of_partitions_have_ended() {
    let server = Server::start(&[]);
    let (mut reader, mut one) = (server.client(), server.client());
    run(
        &mut one,
        &["create table p (a int) partition by list (a)", "create table p1 partition of p for values in (1)"],
    );
    run(&mut one, &["create index pi on p (a)", "insert into p values (1)"]);
    run(&mut reader, &["begin", "select * from p1"]);
    thread::scope(|scope| {
        let drop = beside(scope, &server, "drop index pi");
        let waits = "select count(*) from pg_locks where relation = 'p1'::regclass and not granted";
        until("the drop waits", || one.value(waits) == "1");
        run(&mut reader, &["set local enable_seqscan = off", "select * from p1 where a = 1", "commit"]);
        drop.join().unwrap().unwrap();
    });
}

/// Who waits for a transaction can be in a deadlock with it.
#[test]
fn a_deadlock_with_a_build_is_found() {
    let server = Server::start(&["deadlock_timeout=10ms"]);
    let (mut one, mut two) = (server.client(), server.client());
    run(&mut one, &["create table t (id int, v int)", "begin", "insert into t values (1, 1)"]);
    thread::scope(|scope| {
        let build = beside(scope, &server, "create index concurrently ti on t (v)");
        until_waiting(&mut two, "waiting for writers before build");
        // The build keeps its lock on the table while it waits for this transaction.
        let mine = one.query("lock table t in share mode");
        let its = build.join().unwrap();
        let victims = [mine.map(drop), its]
            .into_iter()
            .filter(|outcome| matches!(outcome, Err(Failure::Error { code, .. }) if code == "40P01"));
        assert_eq!(victims.count(), 1);
    });
}

/// Every large value is whole, and found by the one index that its TOAST table has.
fn check_values(client: &mut Client) {
    assert_eq!(client.value("select count(*) from large where md5(v) <> sum or length(v) < 10000"), "0");
    let indexes = "select string_agg(concat_ws(' ', c.relname ~ '^pg_toast_[0-9]+_index$', indisvalid, indisready, indislive), ',') \
                   from pg_class t join pg_index i on indrelid = t.reltoastrelid join pg_class c on c.oid = indexrelid \
                   where t.relname = 'large'";
    assert_eq!(client.value(indexes), "t t t t");
}

/// A table of large values, and its TOAST table's index.
fn large_values(client: &mut Client) {
    run(
        client,
        &[
            "create table large (id int primary key, v text, sum text)",
            "alter table large alter v set storage external",
            "create function put(k int, seed int) returns void language sql begin atomic \
             insert into large select k, x, md5(x) from (select repeat(md5(seed::text), 400) as x) s \
             on conflict (id) do update set v = excluded.v, sum = excluded.sum; end",
            "select put(g, g) from generate_series(1, 40) g",
        ],
    );
}

#[test]
fn a_toast_tables_index_is_made_anew_beside_writers() {
    let server = Server::start(&[]);
    let (mut one, mut two) = (server.client(), server.client());
    large_values(&mut one);
    let file = "select relfilenode from pg_class t join pg_index i on indrelid = t.oid join pg_class c on c.oid = indexrelid \
                where t.oid = (select reltoastrelid from pg_class where relname = 'large')";
    let file = file.replace("relfilenode", "c.relfilenode");
    let before = one.value(&file);
    // Whoever writes to the table is waited for, and others go on writing and reading meanwhile.
    run(&mut one, &["begin", "select put(1, 101)"]);
    thread::scope(|scope| {
        let build = beside(scope, &server, "reindex table concurrently large");
        until_waiting(&mut two, "waiting for writers before build");
        run(
            &mut two,
            &["select put(2, 102)", "delete from large where id = 3", "select sum(length(v)) from large"],
        );
        run(&mut one, &["commit"]);
        build.join().unwrap().unwrap();
    });
    check_values(&mut one);
    assert_ne!(one.value(&file), before);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 1..=3 {
            let (server, stop) = (&server, &stop);
            scope.spawn(move || {
                let (mut random, mut session) = (Random(seed), server.client());
                while !stop.load(Ordering::Relaxed) {
                    let (id, value) = (random.below(40) + 1, random.below(1_000_000));
                    let statement = match random.below(4) {
                        0 => format!("delete from large where id = {id}"),
                        1 => format!("begin; select put({id}, {value}); rollback"),
                        2 => "select count(*) filter (where md5(v) <> sum) from large".to_owned(),
                        _ => format!("select put({id}, {value})"),
                    };
                    session.query(&statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
                }
            });
        }
        let toast = one.value("select reltoastrelid::regclass from pg_class where relname = 'large'");
        for _ in 0..knob("STAMPEDE_TOAST_REINDEXES", 3) {
            run(
                &mut two,
                &["reindex table concurrently large", &format!("reindex table concurrently {toast}")],
            );
            run(&mut two, &[&format!("reindex index concurrently {toast}_index"), "vacuum large"]);
        }
        stop.store(true, Ordering::Relaxed);
    });
    check_values(&mut one);
}

#[test]
fn a_toast_index_that_was_not_finished_can_be_removed() {
    let server = Server::start(&[]);
    let (mut one, mut old) = (server.client(), server.client());
    large_values(&mut one);
    let toast = one.value("select reltoastrelid::regclass from pg_class where relname = 'large'");
    run(&mut old, &["begin isolation level repeatable read", "select count(*) from large"]);
    let statement: &'static str = format!("reindex table concurrently {toast}").leak();
    thread::scope(|scope| {
        let build = beside(scope, &server, statement);
        until("its copy is complete but for old snapshots", || {
            one.value("select coalesce(max(phase), '') from pg_stat_progress_create_index")
                == "waiting for old snapshots"
        });
        run(
            &mut one,
            &["select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'beside'"],
        );
        assert!(build.join().unwrap().is_err());
    });
    run(&mut old, &["commit"]);
    // It is maintained as long as it is there.
    run(&mut one, &["select put(g, g + 1) from generate_series(1, 50) g"]);
    let left = "select string_agg(indexrelid::regclass::text, ' ') from pg_index where not indisvalid";
    let copy = one.value(left);
    assert_eq!(copy, format!("{toast}_index_ccnew"));
    run(&mut one, &[&format!("drop index {copy}")]);
    check_values(&mut one);
}
