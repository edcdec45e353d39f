//! COPY FROM over a crash, and on a standby: rows of a copy that was cut off are nowhere, those of one that was acknowledged are everywhere.

use crate::support::client::message;
use crate::support::pair::{caught_up, run_standby, standby_of};
use crate::support::{Client, Server, run, until};

/// Rows of one message.
const ROWS: i32 = 5000;

/// One message with rows from `from` on; the columns that it leaves out have defaults.
fn rows(from: i32) -> Vec<u8> {
    let text: String = (from..from + ROWS).map(|i| format!("{i}\tname {i}\n")).collect();
    message(b'd', text.as_bytes())
}

/// Reads until the server has answered a COPY.
fn until_ready(client: &mut Client) {
    while client.message().unwrap().0 != b'Z' {}
}

#[test]
fn a_copy_that_is_cut_off_by_a_crash_leaves_no_row() {
    let mut primary = Server::start(&[]);
    let mut standby = standby_of(&mut primary, "", &[]);
    run_standby(&mut standby);
    let mut client = primary.client();
    run(
        &mut client,
        &["create table t (id serial primary key, n int, name text, at timestamptz not null default now())"],
    );
    let mut copying = primary.client();
    let begin = message(b'Q', b"copy t (n, name) from stdin\0");
    copying.send(&[begin.clone(), rows(1), message(b'c', b"")].concat()).unwrap();
    until_ready(&mut copying);
    let size = "select pg_relation_size('t')";
    let before: i64 = client.value(size).parse().unwrap();
    copying.send(&[begin, rows(10_001), rows(20_001)].concat()).unwrap();
    until("rows of the second copy are stored", || client.value(size).parse::<i64>().unwrap() > before);
    // Its pages are on disk, and its records in the log.
    run(&mut client, &["checkpoint"]);
    primary.kill();
    primary.run();
    let mut client = primary.client();
    let summary = "select count(*) || ' ' || count(distinct id) || ' ' || min(n) || ' ' || max(n) || ' ' || count(at) from t";
    let expected = "5000 5000 1 5000 5000";
    assert_eq!(client.value(summary), expected);
    assert_eq!(client.value("select name from t where id = 4711"), "name 4711");
    let mut reader = standby.client();
    caught_up(&mut client, &mut reader);
    assert_eq!(reader.value(summary), expected);
    drop((client, reader));
    primary.stop();
    primary.assert_sound();
    standby.stop();
    standby.assert_sound();
}
