//! Whole sessions in one process: statements in, rows as text or an error out.

mod support;

use support::Server;

#[test]
fn a_new_cluster_answers() {
    let server = Server::new();
    let session = server.connect();
    assert_eq!(session.query("select 1 + 1"), "2");
    assert_eq!(session.query("select relname from pg_class where oid = 1259"), "pg_class");
    assert_eq!(session.query("select datname from pg_database order by 1"), "postgres\ntemplate0\ntemplate1");
}
