//! Summaries of the log: they are written behind each checkpoint, have no gap, say what has changed, and go when they are old; the log stays until it is summarized.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::support::pair::{promote, run_standby, standby_of};
use crate::support::{Client, Server, run, until};

/// A server that summarizes its log, of small segments.
fn summarizing(settings: &[&str]) -> Server {
    let mut server = Server::init(&["--wal-segsize=1"]);
    for setting in ["autovacuum=off", "summarize_wal=on"].iter().chain(settings) {
        server.set_option(setting);
    }
    server.run();
    server
}

/// All log up to the last checkpoint's redo point is summarized.
fn await_summaries(client: &mut Client) {
    let redo = client.value("select redo_lsn from pg_control_checkpoint()");
    until("the log is summarized", || {
        client.value(&format!("select summarized_lsn >= '{redo}' from pg_get_wal_summarizer_state()")) == "t"
    });
}

/// Summaries that do not begin where another ends, but for the first.
const GAPS: &str = "select count(*) from pg_available_wal_summaries() a
    where not exists (select from pg_available_wal_summaries() b where b.end_lsn = a.start_lsn)";

/// Blocks and limits of a table in all summaries from a position on.
fn changes(client: &mut Client, table: &str, since: &str) -> String {
    client.value(&format!(
        "select coalesce(string_agg(distinct (case when is_limit_block then 'limit ' else '' end) || relblocknumber, ','), '')
         from pg_available_wal_summaries() s, pg_wal_summary_contents(s.tli, s.start_lsn, s.end_lsn) c
         where s.end_lsn > '{since}' and relforknumber = 0 and c.relfilenode = pg_relation_filenode('{table}')
           and reldatabase = (select oid from pg_database where datname = current_database()) and reltablespace = 1663"
    ))
}

#[test]
fn summaries_say_which_blocks_have_changed() {
    let server = summarizing(&[]);
    let mut client = server.client();
    assert_eq!(
        client.value("select backend_type from pg_stat_activity where pid = (select summarizer_pid from pg_get_wal_summarizer_state())"),
        "walsummarizer"
    );
    run(
        &mut client,
        &[
            "create table t as select g as id, repeat('x', 700) as x from generate_series(1, 100) g",
            "create table still as select 1 as id",
            // So that no hints are left to be set, which are logged too.
            "vacuum t",
            "checkpoint",
        ],
    );
    await_summaries(&mut client);
    let whole = changes(&mut client, "t", "0/0");
    assert!(whole.contains("limit 0") && whole.contains(",9"), "{whole}");

    // From the redo point of a checkpoint on.
    let since = client.value("select redo_lsn from pg_control_checkpoint()");
    run(&mut client, &["update t set x = 'y' where id = 100", "checkpoint"]);
    await_summaries(&mut client);
    assert_eq!(changes(&mut client, "t", &since), "9");
    assert_eq!(changes(&mut client, "still", &since), "");

    let since = client.value("select redo_lsn from pg_control_checkpoint()");
    run(&mut client, &["delete from t where id > 20", "vacuum t", "checkpoint"]);
    await_summaries(&mut client);
    let cut = changes(&mut client, "t", &since);
    assert!(cut.contains("limit 2") || cut.contains("limit 3"), "{cut}");
    assert!(!cut.contains('9'), "what was cut off is not there any more: {cut}");

    let since = client.value("select redo_lsn from pg_control_checkpoint()");
    let file = client.value("select pg_relation_filenode('t')");
    run(&mut client, &["create database other", "drop table t", "drop database other", "checkpoint"]);
    await_summaries(&mut client);
    let gone = format!(
        "select string_agg(distinct relforknumber || ':' || relblocknumber, ',') from pg_available_wal_summaries() s,
         pg_wal_summary_contents(s.tli, s.start_lsn, s.end_lsn) where s.end_lsn > '{since}' and relfilenode = {file} and is_limit_block"
    );
    assert_eq!(client.value(&gone), "0:0,2:0,3:0");
    let database = format!(
        "select count(*) > 0 from pg_available_wal_summaries() s, pg_wal_summary_contents(s.tli, s.start_lsn, s.end_lsn)
         where s.end_lsn > '{since}' and relfilenode = 0 and is_limit_block"
    );
    assert_eq!(client.value(&database), "t");
    assert_eq!(client.value(GAPS), "1");
    assert_eq!(
        client.error("select * from pg_wal_summary_contents(0, '0/1', '0/2')"),
        "22023 invalid timeline 0"
    );
    assert_eq!(
        client.error("select * from pg_wal_summary_contents(1, '0/1', '0/2')"),
        "58P01 could not open file \"pg_wal/summaries/0000000100000000000000010000000000000002.summary\": No such file or directory"
    );
}

#[test]
fn summaries_go_on_behind_a_crash_and_have_no_gap() {
    let mut server = summarizing(&["max_wal_size=2MB", "min_wal_size=2MB"]);
    let mut client = server.client();
    run(&mut client, &["create table t (id int, x text)"]);
    for round in 0..6 {
        run(&mut client, &["insert into t select g, repeat('x', 500) from generate_series(1, 3000) g"]);
        if round % 2 == 1 {
            server.kill();
            server.run();
            client = server.client();
        }
    }
    run(&mut client, &["checkpoint"]);
    await_summaries(&mut client);
    assert_eq!(client.value(GAPS), "1");
    // Every block that has rows has changed.
    let missing = "select count(*) from (select distinct (ctid::text::point)[0]::int8 as block from t) b where block not in (
        select relblocknumber from pg_available_wal_summaries() s, pg_wal_summary_contents(s.tli, s.start_lsn, s.end_lsn)
        where relfilenode = pg_relation_filenode('t') and relforknumber = 0 and not is_limit_block)";
    assert_eq!(client.value(missing), "0");
}

#[test]
fn old_summaries_go_and_a_damaged_one_is_named() {
    let server = summarizing(&["wal_summary_keep_time=1", "max_wal_size=2MB", "min_wal_size=2MB"]);
    let mut client = server.client();
    run(&mut client, &["create table t (id int, x text)", "checkpoint"]);
    await_summaries(&mut client);
    let first = client.value("select name from pg_ls_summariesdir() order by 1 limit 1");
    let folder = server.data().join("pg_wal/summaries");
    let path = folder.join(&first);

    let whole = fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&path, &damaged).unwrap();
    let read =
        "select count(*) from (select * from pg_available_wal_summaries() order by start_lsn limit 1) s,
        pg_wal_summary_contents(s.tli, s.start_lsn, s.end_lsn)";
    assert_eq!(
        client.error(read),
        format!("XX001 WAL summary file \"pg_wal/summaries/{first}\" is damaged: its check sum is wrong")
    );
    fs::write(&path, &whole).unwrap();

    // It counts as an hour old; once its log is gone it goes, others stay.
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    until("the old summary is gone", || {
        run(
            &mut client,
            &["insert into t select g, repeat('x', 500) from generate_series(1, 3000) g", "checkpoint"],
        );
        await_summaries(&mut client);
        !path.exists()
    });
    assert_ne!(client.value("select count(*) from pg_available_wal_summaries()"), "0");
    assert_eq!(client.value(GAPS), "1");
}

#[test]
fn summaries_are_switched_by_a_reload_and_need_the_log_of_replicas() {
    let mut server = Server::start(&["max_wal_senders=0"]);
    let mut client = server.client();
    let state = "select concat_ws('|', summarized_tli, summarized_lsn, pending_lsn, summarizer_pid is null) from pg_get_wal_summarizer_state()";
    assert_eq!(client.value(state), "0|0/0|0/0|t");
    run(&mut client, &["alter system set summarize_wal = on", "select pg_reload_conf()", "checkpoint"]);
    until("there are summaries", || {
        client.value("select count(*) > 0 from pg_available_wal_summaries()") == "t"
    });
    run(&mut client, &["alter system set summarize_wal = off", "select pg_reload_conf()"]);
    until("the summarizer is gone", || client.value(state) == "0|0/0|0/0|t");
    run(&mut client, &["alter system set summarize_wal = on"]);
    drop(client);
    server.stop();
    server.set_option("wal_level=minimal");
    server.launch();
    assert!(!server.becomes_ready());
    assert!(server.log().contains("FATAL:  WAL cannot be summarized when \"wal_level\" is \"minimal\""));
}

#[test]
fn a_standby_has_summaries_too_across_its_promotion() {
    let mut primary = summarizing(&[]);
    run(&mut primary.client(), &["create table t as select generate_series(1, 1000) as id"]);
    let mut standby =
        standby_of(&mut primary, "application_name=s1", &["summarize_wal=on", "autovacuum=off"]);
    run_standby(&mut standby);
    let mut client = standby.client();
    run(&mut primary.client(), &["update t set id = 0", "checkpoint"]);
    until("the standby has summaries", || {
        client.value("select count(*) > 1 from pg_available_wal_summaries() where tli = 1") == "t"
    });
    promote(&mut standby);
    run(&mut client, &["insert into t values (1)", "checkpoint"]);
    until("the next time line is summarized", || {
        client.value("select count(*) > 0 from pg_available_wal_summaries() where tli = 2") == "t"
    });
    assert_eq!(client.value(GAPS), "1");
}
