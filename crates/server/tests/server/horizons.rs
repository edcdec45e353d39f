//! Who holds back the removal of old rows, and what old snapshots may use.

use crate::support::{Client, Server};

fn size(client: &mut Client, table: &str) -> u64 {
    client.value(&format!("select pg_relation_size('{table}')")).parse().unwrap()
}

fn pid(client: &mut Client) -> String {
    client.value("select pg_backend_pid()")
}

#[test]
fn a_snapshot_holds_back_tables_but_not_temporary_ones_of_others() {
    let server = Server::start(&[]);
    let (mut reader, mut writer) = (server.client(), server.client());
    writer.query("create table kept (id int); insert into kept select generate_series(1, 1000)").unwrap();
    reader.query("begin isolation level repeatable read").unwrap();
    assert_eq!(reader.value("select count(*) from kept"), "1000");
    writer.query("create temp table own (id int)").unwrap();
    writer.query("insert into own select generate_series(1, 1000)").unwrap();
    for table in ["kept", "own"] {
        writer.query(&format!("delete from {table}")).unwrap();
        writer.query(&format!("vacuum {table}")).unwrap();
    }
    assert_eq!(size(&mut writer, "own"), 0, "nobody else can see its rows");
    assert!(size(&mut writer, "kept") > 0);
    assert_eq!(reader.value("select count(*) from kept"), "1000");
    reader.query("commit").unwrap();
    writer.query("vacuum kept").unwrap();
    assert_eq!(size(&mut writer, "kept"), 0);
}

#[test]
fn pg_stat_activity_shows_xids_and_snapshots() {
    let server = Server::start(&[]);
    let (mut writer, mut reader, mut watcher) = (server.client(), server.client(), server.client());
    writer.query("create table t (id int); insert into t select generate_series(1, 10)").unwrap();
    let (writer_pid, reader_pid) = (pid(&mut writer), pid(&mut reader));
    let mut shown = |pid: &str| {
        let text = "select coalesce(backend_xid::text, '-') || ' ' || coalesce(backend_xmin::text, '-') \
                    from pg_stat_activity where pid = ";
        watcher.value(&format!("{text}{pid}"))
    };
    writer.query("begin").unwrap();
    assert_eq!(shown(&writer_pid), "- -");
    writer.query("insert into t values (11)").unwrap();
    let xid = writer.value("select pg_current_xact_id()");
    assert_eq!(shown(&writer_pid), format!("{xid} -"), "between statements it needs no snapshot");
    writer.query("savepoint s; insert into t values (12)").unwrap();
    assert_eq!(shown(&writer_pid), format!("{xid} -"), "the top level's xid");
    reader.query("begin").unwrap();
    reader.query("select * from t").unwrap();
    assert_eq!(shown(&reader_pid), "- -");
    reader.query("declare c cursor for select * from t").unwrap();
    reader.query("fetch 2 from c").unwrap();
    assert_eq!(shown(&reader_pid), format!("- {xid}"), "a cursor keeps its snapshot");
    reader.query("close c").unwrap();
    assert_eq!(shown(&reader_pid), "- -");
    reader.query("commit; begin isolation level repeatable read; select 1").unwrap();
    assert_eq!(shown(&reader_pid), format!("- {xid}"));
    writer.query("commit").unwrap();
    assert_eq!(shown(&writer_pid), "- -");
    assert_eq!(shown(&reader_pid), format!("- {xid}"), "until its end");
    reader.query("rollback").unwrap();
    assert_eq!(shown(&reader_pid), "- -");
}

#[test]
fn a_new_index_is_not_for_snapshots_that_need_rows_it_lacks() {
    let server = Server::start(&[]);
    let (mut old, mut writer, mut young) = (server.client(), server.client(), server.client());
    writer.query("create table t (id int primary key, color text) with (fillfactor = 50)").unwrap();
    writer.query("insert into t select n, 'red' from generate_series(1, 20) n").unwrap();
    for session in [&mut old, &mut young, &mut writer] {
        session.query("set enable_seqscan = off").unwrap();
    }
    let by_color = "select count(*) from t where color = 'red'";
    let plan =
        |session: &mut Client| session.value("explain (costs off) select id from t where color = 'red'");
    old.query("begin isolation level repeatable read").unwrap();
    assert_eq!(old.value(by_color), "20");
    // HOT: no index has the column yet.
    writer.query("update t set color = 'blue' where id <= 5").unwrap();
    writer.query("create index t_color on t (color)").unwrap();
    let checked = "select indcheckxmin from pg_index where indexrelid = 't_color'::regclass";
    assert_eq!(writer.value(checked), "t");
    assert!(plan(&mut young).contains("Index"), "{}", plan(&mut young));
    assert_eq!(young.value(by_color), "15");
    assert!(plan(&mut old).contains("Seq Scan"), "{}", plan(&mut old));
    assert_eq!(old.value(by_color), "20", "the index has no entries for the old red ones");
    old.query("commit").unwrap();
    assert!(plan(&mut old).contains("Index"), "{}", plan(&mut old));
    assert_eq!(old.value(by_color), "15");
    // Without old snapshots there is nothing to check.
    writer.query("vacuum t").unwrap();
    writer.query("create index t_again on t (color, id)").unwrap();
    assert_eq!(writer.value("select indcheckxmin from pg_index where indexrelid = 't_again'::regclass"), "f");
}

#[test]
fn the_age_of_snapshots_is_a_setting_in_minutes() {
    let server = Server::start(&["old_snapshot_threshold=2h"]);
    let mut client = server.client();
    assert_eq!(client.value("show old_snapshot_threshold"), "2h");
    assert_eq!(
        client.value(
            "select setting || unit || context from pg_settings where name = 'old_snapshot_threshold'"
        ),
        "120minpostmaster"
    );
    assert!(client.error("set old_snapshot_threshold = 1").starts_with("55P02"));
}
