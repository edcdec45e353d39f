//! Row values, and types that users make, through whole sessions.

mod support;

use support::Server;

#[test]
fn rows_are_values() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t(a int, b text); insert into t values (1,'x'), (2,null), (null,'a b')").unwrap();
    assert_eq!(s.query("select t from t order by t"), "(1,x)\n(2,)\n(,\"a b\")");
    assert_eq!(s.query("select (t).b, t is null, t is not null from t where t = row(1,'x')::t"), "x|f|t");
    assert_eq!(
        s.query("select row(null,null) is null, row(1,null) is null, row(1,null) is not null"),
        "t|f|f"
    );
    assert_eq!(s.query("select count(*) from (select t from t union select t from t) u"), "3");
    assert_eq!(
        s.query("select r from t left join (select a as q from t) r on r.q = t.a order by t.a"),
        "(1)\n(2)\n"
    );
    s.run(
        "create table u(id int, v t); insert into u values (1, row(5,'five')), (2, '(6,\"a,b\")'), (3, null)",
    )
    .unwrap();
    s.run("update u set v.a = 77 where id <> 1; insert into u(id, v.b) values (9,'nine')").unwrap();
    assert_eq!(s.query("select v from u order by id"), "(5,five)\n(77,\"a,b\")\n(77,)\n(,nine)");
    assert_eq!(s.query("select max(v), min(v) from u"), "(,nine)|(5,five)");
    s.run("create index on u(v); set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select id from u where v = row(5,'five')::t"), "1");
    assert_eq!(
        s.query("select row(1,2) = r from (select row(1,'a'::text) as r) s"),
        "ERROR:  cannot compare dissimilar column types integer and text at record column 2"
    );
    // Rows made before a column was added, or dropped, have the new shape.
    s.run("alter table t add column c int; alter table t drop column b").unwrap();
    assert_eq!(s.query("select v, (v).c from u where id = 1"), "(5,)|");
    assert_eq!(s.query("select v from u where v is null order by id"), "(,)");
}
