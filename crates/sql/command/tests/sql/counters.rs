//! Cumulative counters: what `pg_stat_*` shows of tables, indexes and databases.

use crate::support::Server;
use base::Oid;

#[test]
fn tables_count_scans_and_changes() {
    let server = Server::new();
    let s = server.connect();
    let other = server.connect();
    s.run("create table t (a int primary key, b int)").unwrap();
    s.run("insert into t select g, g from generate_series(1, 100) g").unwrap();
    s.run("update t set b = 0 where a <= 10").unwrap();
    s.run("delete from t where a > 95").unwrap();
    s.run("begin; insert into t values (1000, 0); savepoint x; delete from t; rollback to x; rollback")
        .unwrap();
    let changes = "select n_tup_ins, n_tup_upd, n_tup_del, n_live_tup, n_dead_tup, n_mod_since_analyze, n_ins_since_vacuum
                   from pg_stat_user_tables where relname = 't'";
    assert_eq!(other.query(changes), "101|10|101|95|16|115|101");
    s.run("select * from t where b = 3").unwrap();
    s.run("set enable_seqscan = off; set enable_bitmapscan = off").unwrap();
    s.run("select * from t where a = 3").unwrap();
    assert_eq!(
        other.query("select idx_scan > 0, last_idx_scan is not null, idx_tup_read > 0, idx_tup_fetch > 0 from pg_stat_user_indexes where indexrelname = 't_pkey'"),
        "t|t|t|t"
    );
    assert_eq!(
        other.query("select heap_blks_hit > 0, idx_blks_hit > 0, heap_blks_read from pg_statio_user_tables where relname = 't'"),
        "t|t|0"
    );
    s.run("vacuum analyze t").unwrap();
    assert_eq!(
        other.query("select n_live_tup, n_dead_tup, n_mod_since_analyze, vacuum_count, analyze_count, last_vacuum is null from pg_stat_user_tables where relname = 't'"),
        "95|0|0|1|1|f"
    );
    s.run("truncate t").unwrap();
    assert_eq!(other.query("select n_live_tup from pg_stat_user_tables where relname = 't'"), "0");
    s.run("select pg_stat_reset_single_table_counters('t'::regclass)").unwrap();
    assert_eq!(other.query("select n_tup_ins from pg_stat_user_tables where relname = 't'"), "0");
}

#[test]
fn rows_of_a_sample_are_read_but_the_table_is_not_scanned() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t as select generate_series(1, 1000) a; begin").unwrap();
    assert_eq!(s.query("select count(*) from t tablesample system (100) where a < 10"), "9");
    let seen = "select seq_scan, seq_tup_read from pg_stat_xact_user_tables where relname = 't'";
    assert_eq!(s.query(seen), "0|1000");
    let drawn: i64 = s.query("select count(*) from t tablesample bernoulli (10)").parse().unwrap();
    assert_eq!(s.query(seen), format!("0|{}", 1000 + drawn));
    s.run("commit").unwrap();
    assert_eq!(s.query("select heap_blks_hit > 5 from pg_statio_user_tables where relname = 't'"), "t");
}

#[test]
fn the_running_transaction_has_figures_of_its_own() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int); begin; insert into t values (1), (2)").unwrap();
    let mine = "select n_tup_ins from pg_stat_xact_user_tables where relname = 't'";
    let all = "select n_tup_ins from pg_stat_user_tables where relname = 't'";
    assert_eq!((s.query(mine).as_str(), s.query(all).as_str()), ("2", "0"));
    s.run("commit").unwrap();
    assert_eq!((s.query(mine).as_str(), s.query(all).as_str()), ("0", "2"));
}

#[test]
fn what_was_seen_stays_in_a_transaction() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.run("create table t (a int)").unwrap();
    let seen = "select n_tup_ins from pg_stat_user_tables where relname = 't'";
    s.run("begin").unwrap();
    assert_eq!(s.query(seen), "0");
    other.run("insert into t values (1)").unwrap();
    assert_eq!(s.query(seen), "0");
    s.run("select pg_stat_clear_snapshot()").unwrap();
    assert_eq!(s.query(seen), "1");
    s.run("set stats_fetch_consistency = none").unwrap();
    other.run("insert into t values (1)").unwrap();
    assert_eq!(s.query(seen), "2");
    s.run("commit").unwrap();
}

#[test]
fn databases_count_transactions() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.run("select pg_stat_reset()").unwrap();
    s.run("create table t (a int); insert into t values (1)").unwrap();
    s.run("begin; rollback").unwrap();
    assert_eq!(
        other.query("select xact_commit > 0, xact_rollback, tup_inserted > 0, blks_hit > 0, stats_reset is not null from pg_stat_database where datname = current_database()"),
        "t|1|t|t|t"
    );
    assert_eq!(other.query("select wal_records > 0, wal_bytes > 0 from pg_stat_wal"), "t|t");
}

#[test]
fn what_is_gone_is_forgotten() {
    let server = Server::new();
    let s = server.connect();
    let postgres = Oid(5);
    let known =
        || server.instance().counters().relations(postgres).keys().filter(|oid| !oid.is_pinned()).count();
    let before = (known(), s.query("select tup_inserted from pg_stat_database where datname = 'postgres'"));
    s.run("create table t (a int primary key); insert into t values (1); select * from t where a = 1")
        .unwrap();
    assert!(known() > before.0);
    s.run("begin; drop table t; rollback").unwrap();
    assert_eq!(s.query("select n_tup_ins from pg_stat_user_tables where relname = 't'"), "1");
    s.run("begin; insert into t values (2); drop table t; commit").unwrap();
    s.run("begin; create table u (a int); insert into u values (1); rollback").unwrap();
    s.run("begin; savepoint x; create table v (a int); insert into v values (1); rollback to x; commit")
        .unwrap();
    assert_eq!(known(), before.0);
    let after = s.query("select tup_inserted from pg_stat_database where datname = 'postgres'");
    let rows = |figure: &str| figure.parse::<i64>().unwrap();
    assert!(rows(&after) > rows(&before.1), "what was done to them stays: {} {after}", before.1);
}

#[test]
fn nothing_is_counted_when_counting_is_off() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int); set track_counts = off; insert into t values (1); select * from t")
        .unwrap();
    let seen = "select n_tup_ins, seq_scan from pg_stat_user_tables where relname = 't'";
    assert_eq!(s.query(seen), "0|0");
    s.run("set track_counts = on").unwrap();
    s.run("insert into t values (1)").unwrap();
    assert_eq!(s.query(seen), "1|0");
}

#[test]
fn groups_are_reset_together() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t as select generate_series(1, 1000) a; checkpoint").unwrap();
    let seen = "select num_done > 0, num_requested > 0, buffers_written > 0, stats_reset is null from pg_stat_checkpointer";
    assert_eq!(s.query(seen), "t|t|t|t");
    s.run("select pg_stat_reset_shared('checkpointer')").unwrap();
    assert_eq!(s.query(seen), "f|f|f|f");
    assert_eq!(s.query("select wal_records > 0 from pg_stat_wal"), "t");
    s.run("select pg_stat_reset()").unwrap();
    assert_eq!(s.query("select wal_records > 0 from pg_stat_wal"), "t", "the log is the server's");
    assert_eq!(
        s.query(
            "select sum(writes) > 0, sum(extends) > 0, sum(hits) > 0, bool_or(fsyncs is null) from pg_stat_io"
        ),
        "t|t|t|t"
    );
    s.run("vacuum t").unwrap();
    assert_eq!(
        s.query(
            "select hits > 0 from pg_stat_io where context = 'vacuum' and backend_type = 'client backend'"
        ),
        "t"
    );
    assert_eq!(
        s.query("select blks_hit > 0, flushes > 0 from pg_stat_slru where name = 'transaction'"),
        "t|t"
    );
    s.run("select pg_stat_reset_slru('transaction')").unwrap();
    assert_eq!(
        s.query("select flushes, stats_reset is null from pg_stat_slru where name = 'transaction'"),
        "0|f"
    );
    assert_eq!(s.query("select blks_hit from pg_stat_slru where name = 'notify'"), "0");
    s.run("select pg_stat_reset_shared()").unwrap();
    assert_eq!(s.query("select wal_images < 2 from (select wal_fpi as wal_images from pg_stat_wal) w"), "t");
    let error = s.run("select pg_stat_reset_shared('nix')").err().unwrap();
    assert_eq!(error.message(), "unrecognized reset target: \"nix\"");
    assert_eq!(s.query("select pg_stat_have_stats('relation', 5, 't'::regclass::oid::int8)"), "t");
    assert_eq!(s.query("select pg_stat_have_stats('relation', 5, 1)"), "f");
}

#[test]
fn sessions_count_their_time_and_end() {
    let server = Server::new();
    let s = server.connect();
    let seen = "select sessions, sessions_killed, session_time > 0, active_time >= 3 from pg_stat_database where datname = 'postgres'";
    let before = s.query("select sessions from pg_stat_database where datname = 'postgres'");
    let other = server.connect();
    other.run("select pg_sleep(0.005)").unwrap();
    other.session().close_because(counters::SessionEnd::Killed);
    let sessions = before.parse::<i64>().unwrap() + 1;
    assert_eq!(s.query(seen), format!("{sessions}|1|t|t"));
}
