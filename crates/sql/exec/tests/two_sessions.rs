//! Two sessions and one row: ON CONFLICT with rows of others.

mod support;

use support::{Client, Server};

fn script(s: &Client, steps: &[(&str, &str)]) {
    for (sql, expected) in steps {
        assert_eq!(s.query(sql), *expected, "{sql}");
    }
}

#[test]
fn on_conflict_sees_what_its_snapshot_sees() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.query("create table t (id int primary key, v text)");
    let update = "insert into t values (1, 'mine') on conflict (id) do update set v = excluded.v || t.v";
    let nothing = "insert into t values (1, 'mine') on conflict do nothing";
    let concurrent = "ERROR:  could not serialize access due to concurrent update";
    for sql in [update, nothing] {
        s.query("begin isolation level repeatable read; select 1");
        other.query("insert into t values (1, 'theirs')");
        assert_eq!(s.query("select count(*) from t"), "0");
        assert_eq!(s.query(sql), concurrent);
        s.query("rollback");
        other.query("delete from t");
    }
    script(
        &s,
        &[
            ("begin isolation level repeatable read", ""),
            ("insert into t values (1, 'own')", ""),
            (nothing, ""),
            (update, ""),
            ("insert into t values (1, ''), (1, '') on conflict do nothing", ""),
            ("select v from t", "mineown"),
            ("commit", ""),
        ],
    );
}

#[test]
fn on_conflict_changes_a_row_once() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (id int primary key, v text)");
    let twice = "ERROR:  ON CONFLICT DO UPDATE command cannot affect row a second time";
    let two = "insert into t values (1, 'a'), (1, 'b') on conflict (id) do update set v = excluded.v";
    assert_eq!(s.query(two), twice);
    assert_eq!(s.query("select count(*) from t"), "0");
    s.query("insert into t values (1, repeat('long ', 5000))");
    assert_eq!(s.query(two), twice);
    // Large values are whole for the expressions.
    let longer = "insert into t values (1, '!') on conflict (id) do update set v = t.v || excluded.v";
    assert_eq!(s.query(&format!("{longer} returning length(v)")), "25001");
}
