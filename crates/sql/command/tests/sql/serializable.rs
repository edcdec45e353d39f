//! SERIALIZABLE: who is cancelled and who is not.

use crate::support::{Client, Server};

const PIVOT: &str = "ERROR:  could not serialize access due to read/write dependencies among transactions";

/// Runs steps of some sessions; every answer is the one expected.
fn play(sessions: &[&Client], steps: &[(usize, &str, &str)]) {
    for (n, (who, sql, expected)) in steps.iter().enumerate() {
        assert_eq!(sessions[*who].query(sql), *expected, "step {n}: session {who}: {sql}");
    }
}

/// Three sessions, two of them in a serializable transaction, and tables.
fn begin(server: &Server, setup: &str) -> [Client; 3] {
    let sessions = [server.connect(), server.connect(), server.connect()];
    let made = sessions[2].query(setup);
    assert!(!made.contains("ERROR"), "{made}");
    for s in &sessions[..2] {
        s.query("begin isolation level serializable");
    }
    sessions
}

/// The same on a server of their own.
fn begun(setup: &str) -> (Server, [Client; 3]) {
    let server = Server::new();
    let sessions = begin(&server, setup);
    (server, sessions)
}

const DOCTORS: &str = "create table doctors (name text primary key, shift int, on_call bool); \
     insert into doctors values ('a', 1, true), ('b', 1, true), ('c', 2, true), ('d', 2, true)";

#[test]
fn write_skew_cancels_one() {
    let (_server, [a, b, c]) = begun(DOCTORS);
    let count = "select count(*) from doctors where on_call and shift = 1";
    play(
        &[&a, &b, &c],
        &[
            (0, count, "2"),
            (1, count, "2"),
            (0, "update doctors set on_call = false where name = 'a'", ""),
            (1, "update doctors set on_call = false where name = 'b'", ""),
            (0, "commit", ""),
            (1, "commit", PIVOT),
            (2, count, "1"),
            (1, "show transaction_isolation", "read committed"),
        ],
    );
}

/// Ways to read a table: by its index, or the whole of it.
const BY_INDEX: &str = "set local enable_seqscan = off; set local enable_bitmapscan = off";
const WHOLE: &str = "set local enable_indexscan = off; set local enable_bitmapscan = off";

/// Two sessions ask and then insert, both in the index `t_pkey`; the end of the second.
fn ask_and_insert(server: &Server, way: &str, questions: [&str; 2], keys: [i32; 2]) -> String {
    let setup = "drop table if exists t; create table t (id int primary key, v int); \
                 insert into t select n, n from generate_series(10, 1000, 10) n; analyze t";
    let [a, b, _c] = begin(server, setup);
    for (s, question) in [&a, &b].into_iter().zip(questions) {
        s.query(way);
        let answer = s.query(question);
        assert!(!answer.contains("ERROR"), "{question}: {answer}");
    }
    for (s, key) in [&a, &b].into_iter().zip(keys) {
        assert_eq!(s.query(&format!("insert into t values ({key}, 0)")), "");
    }
    assert_eq!(a.query("commit"), "");
    b.query("commit")
}

#[test]
fn only_the_keys_that_were_looked_for_are_locked() {
    let key = |key: i32| format!("select * from t where id = {key}");
    let range = |from: i32| format!("select count(*) from t where id between {from} and {from} + 20");
    let any = |from: i32| format!("select count(*) from t where id in ({from}, {from} + 2, {from} + 4)");
    let server = Server::new();
    // All on one leaf: PostgreSQL would cancel one in each case.
    for (questions, keys, fails) in [
        ([key(15), key(16)], [16, 15], true),
        ([key(15), key(16)], [17, 18], false),
        ([key(15), key(16)], [16, 18], false),
        ([range(500), range(100)], [101, 512], true),
        ([range(500), range(100)], [101, 531], false),
        ([range(500), range(100)], [99, 499], false),
        ([any(501), any(101)], [103, 505], true),
        ([any(501), any(101)], [102, 504], false),
    ] {
        // Whoever reads the whole table for a range of its keys depends on no others either.
        for way in [BY_INDEX, WHOLE] {
            let end = ask_and_insert(&server, way, [&questions[0], &questions[1]], keys);
            assert_eq!(end, if fails { PIVOT } else { "" }, "{way}: {questions:?} {keys:?}");
        }
    }
}

#[test]
fn who_reads_a_whole_table_depends_on_the_rows_that_it_looks_for() {
    let server = Server::new();
    let setup = "drop table if exists t; create table t (id int primary key, v text); \
                 insert into t values (1, 'one'), (2, 'two'), (3, 'three'); \
                 alter table t add column w int default 7";
    let [on_id, on_v] = ["select w from t where id = ", "select w from t where v = "];
    let read = |what: &str, value: &str| format!("{what}{value}");
    for (reads, writes, fails) in [
        // Rows apart: one after the other is an order.
        ([read(on_id, "1"), read(on_id, "2")], ["w = 1 where id = 1", "w = 1 where id = 2"], false),
        ([read(on_id, "1"), read(on_id, "2")], ["w = 1 where id = 2", "w = 1 where id = 1"], true),
        ([read(on_id, "4"), read(on_id, "5")], ["id = 5 where id = 1", "id = 4 where id = 2"], true),
        ([read(on_id, "4"), read(on_id, "5")], ["id = 6 where id = 1", "id = 7 where id = 2"], false),
        // No index knows where these are.
        ([read(on_v, "'one'"), read(on_v, "'two'")], ["w = 1 where id = 1", "w = 1 where id = 2"], true),
    ] {
        let [a, b, c] = begin(&server, setup);
        // Pages that are visible to all are read without a look at their rows' fates.
        assert_eq!(c.query("vacuum freeze t"), "");
        for (s, read) in [&a, &b].into_iter().zip(&reads) {
            s.query(WHOLE);
            s.query(read);
        }
        for (s, write) in [&a, &b].into_iter().zip(writes) {
            assert_eq!(s.query(&format!("update t set {write}")), "", "{reads:?} {write}");
        }
        assert_eq!(a.query("commit"), "");
        assert_eq!(b.query("commit"), if fails { PIVOT } else { "" }, "{reads:?} {writes:?}");
    }
}

#[test]
fn a_scan_that_stops_early_locks_what_it_read() {
    let first = "select id from t order by id limit 1";
    let last = "select id from t order by id desc limit 1";
    let server = Server::new();
    for (question, near) in [(first, [1, 2]), (last, [1001, 1002])] {
        assert_eq!(ask_and_insert(&server, BY_INDEX, [question; 2], near), PIVOT, "{question}");
        assert_eq!(ask_and_insert(&server, BY_INDEX, [question; 2], [15, 25]), "", "{question}");
    }
}

#[test]
fn what_somebody_read_and_another_entered_is_no_mere_duplicate() {
    let setup = "create table t (i int primary key)";
    let (_server, [a, b, _c]) = begun(setup);
    play(
        &[&a, &b],
        &[
            (0, "select * from t where i = 42", ""),
            (1, "select * from t where i = 42", ""),
            (0, "insert into t values (42)", ""),
            (0, "commit", ""),
            (1, "insert into t values (42)", PIVOT),
            (1, "rollback", ""),
            (1, "begin isolation level serializable", ""),
            (1, "select * from t where i = 42", "42"),
            (
                1,
                "insert into t values (42)",
                "ERROR:  duplicate key value violates unique constraint \"t_pkey\"",
            ),
            (1, "rollback", ""),
        ],
    );
}

#[test]
fn errors_say_why_and_what_to_do() {
    let (_server, [a, b, _c]) = begun(DOCTORS);
    for s in [&a, &b] {
        s.query("select count(*) from doctors");
    }
    a.query("update doctors set on_call = false where name = 'a'");
    b.query("update doctors set on_call = false where name = 'b'");
    a.query("commit");
    let error = b.run("select 1 from doctors").err().expect("it is cancelled");
    let report = error.report();
    assert_eq!(report.code.to_string(), "40001");
    assert_eq!(
        report.detail.as_deref(),
        Some("Reason code: Canceled on identification as a pivot, during conflict out checking.")
    );
    assert_eq!(report.hint.as_deref(), Some("The transaction might succeed if retried."));
}

#[test]
fn a_report_that_no_order_explains_is_refused() {
    let setup = "drop table if exists account; create table account (id text primary key, balance int); \
                 insert into account values ('x', 0), ('y', 0)";
    let server = Server::new();
    let read = "select string_agg(id || balance, ' ' order by id) from account";
    let steps = |modes: &'static str, sees: &'static str, end: &'static str| {
        let [a, b, c] = begin(&server, setup);
        play(
            &[&a, &b, &c],
            &[
                (1, "select balance from account where id = 'x'", "0"),
                (1, "select balance from account where id = 'y'", "0"),
                (0, "update account set balance = 20 where id = 'y'", ""),
                (0, "commit", ""),
                (2, modes, ""),
                (2, read, sees),
                (2, "commit", ""),
                (1, "update account set balance = -11 where id = 'x'", end),
            ],
        );
    };
    steps("begin isolation level serializable", "x0 y20", PIVOT);
    steps("begin isolation level serializable, read only", "x0 y20", PIVOT);
    // Nobody who only looks at lower levels takes part.
    steps("begin isolation level repeatable read", "x0 y20", "");
}

#[test]
fn imported_snapshots_are_those_of_serializable_transactions() {
    let (_server, [a, b, c]) = begun(DOCTORS);
    let of_a = a.query("select pg_export_snapshot()");
    c.query("begin isolation level repeatable read");
    let plain = c.query("select pg_export_snapshot()");
    assert_eq!(
        b.query(&format!("set transaction snapshot '{plain}'")),
        "ERROR:  a serializable transaction cannot import a snapshot from a non-serializable transaction"
    );
    b.query("rollback");
    b.query("begin isolation level serializable read only deferrable");
    assert_eq!(
        b.query(&format!("set transaction snapshot '{of_a}'")),
        "ERROR:  a snapshot-importing transaction must not be READ ONLY DEFERRABLE"
    );
    b.query("rollback");
    // What committed since the snapshot, which was taken before it began, is in conflict with the importer.
    c.query("rollback");
    c.query("begin isolation level serializable; select count(*) from doctors");
    c.query("update doctors set on_call = false where name = 'a'; commit");
    b.query("begin isolation level serializable");
    assert_eq!(b.query(&format!("set transaction snapshot '{of_a}'")), "");
    let count = "select count(*) from doctors where on_call";
    assert_eq!(b.query(count), "4");
    assert_eq!(b.query("update doctors set on_call = false where name = 'b'"), PIVOT);
}

#[test]
fn locks_are_shown_and_get_coarser() {
    let (_server, [a, _b, c]) = begun(
        "create table t (id int primary key, v int, filler text); \
         insert into t select n, n, repeat('x', 500) from generate_series(1, 3000) n; analyze t",
    );
    let shown = "select string_agg(distinct locktype || ' ' || relation::regclass, ', ') from pg_locks where mode = 'SIReadLock'";
    a.query("set local enable_seqscan = off; set local enable_bitmapscan = off");
    a.query("select v from t where id = 5");
    assert_eq!(c.query(shown), "page t_pkey, tuple t");
    a.query("select count(v) from t where id < 10");
    assert_eq!(c.query(shown), "page t, page t_pkey");
    a.query("select count(v) from (select n from generate_series(1, 3000, 50) n) s join lateral (select v from t where id = n offset 0) t on true");
    let now = c.query(shown);
    assert!(now.contains("relation t"), "{now}");
    a.query("rollback");
    assert_eq!(c.query(shown), "");
}

#[test]
fn rows_that_are_written_anew_or_lose_their_index_stay_locked() {
    let setup = "drop table if exists t, u; create table t (id int primary key, v int); create index t_v on t (v); \
                 insert into t select n, n from generate_series(1, 1000) n; analyze t; \
                 create table u (id int primary key); insert into u values (1)";
    let server = Server::new();
    for change in [
        "reindex table t",
        "drop index t_v",
        "vacuum full t",
        "cluster t using t_v",
        "alter table t alter v type bigint",
    ] {
        let [a, b, c] = begin(&server, setup);
        // The reader ends before the files go; the writer began before that.
        b.query("select * from u");
        a.query("set local enable_seqscan = off");
        a.query("select * from t where v = 2000");
        a.query("update u set id = 2; commit");
        assert!(!c.query(change).contains("ERROR"), "{change}");
        assert_eq!(b.query("insert into t values (2000, 2000)"), PIVOT, "{change}");
    }
}

#[test]
fn a_table_that_was_read_is_not_emptied_beside() {
    let setup = "drop table if exists t, u; create table t (id int primary key); insert into t values (1); \
                 create table u (id int); insert into u values (1)";
    let server = Server::new();
    for change in ["truncate t", "drop table t"] {
        let [a, b, _c] = begin(&server, setup);
        b.query("select * from u");
        a.query("select * from t where id = 1");
        a.query("update u set id = 2; commit");
        assert_eq!(b.query(change), PIVOT, "{change}");
    }
}

#[test]
fn savepoints_keep_what_was_read_and_defaults_work() {
    let server = Server::new();
    let [a, b] = [server.connect(), server.connect()];
    a.query(DOCTORS);
    for s in [&a, &b] {
        assert_eq!(s.query("set default_transaction_isolation = serializable"), "");
        s.query("begin; savepoint s; select count(*) from doctors; rollback to s");
        assert_eq!(s.query("show transaction_isolation"), "serializable");
    }
    a.query("update doctors set on_call = false where name = 'a'");
    b.query("savepoint t; update doctors set on_call = false where name = 'b'; release t");
    assert_eq!(a.query("commit"), "");
    assert_eq!(b.query("commit"), PIVOT);
    assert_eq!(b.query("update doctors set on_call = false where name = 'b'"), "");
}
