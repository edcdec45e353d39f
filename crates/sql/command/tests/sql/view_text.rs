//! Views as text: what a dump says of them, and what that text means when it is read again.

use crate::support::Server;

const VIEWS: &str = r#"create table a (x int, y int, u text);
create table b (x bigint, z int);
create table c (x int, "?q" int);
create view inner_join as select * from a join c using (x);
create view full_join as select x, y, z from a full join b using (x) where x > 0 order by x;
create view named as select j.p, j.r from (a cross join c) j (p, q, r);
create view nested as select k.* from (select same.y from (a cross join c) same) k, (b cross join c) same;
create view sorted as select y as x, x as y2 from a order by a.x;
create view alias as select w.x from a join c using (x) as w;
create view whole as select a, a is null as n from a;
create view sets as (select x from a except select x from c) union all select y from a limit 3;
create view grouped as select x, y, grouping(x, y) from a group by grouping sets (rollup (x, y), cube ((x, y), u), ());
create view framed as select sum(x) over (order by y rows 2 preceding) as s, sum(x) over (order by y rows between 2 preceding and current row) from a;
create view keys as select distinct on (lower(u)) x + y as s from a order by lower(u), (x + y), 1 fetch first 2 rows with ties;
create view funcs as select u.*, r.ordinality, q.* from unnest(array[1], array['a']) u (m, n), rows from (generate_series(1, 2), generate_series(2, 3)) with ordinality r, lateral json_to_record('{}') q(a int, b text collate "C");
create view arrays as select x = any ((select array[1])::int[]) as y from a;
create view ov as select overlay(u placing 'x' from 2 for 3), substring(u similar 'a' escape '#') from a;
alter table a rename column x to xx;
alter table a add column x int;
alter table c rename to cc;
alter table cc add column y int"#;

/// As PostgreSQL shows them.
const SHOWN: &str = r#"inner_join: SELECT a.x,
    a.y,
    a.u,
    cc."?q"
   FROM (a a(x, y, u, x_1)
     JOIN cc USING (x));
full_join: SELECT x,
    a.y,
    b.z
   FROM (a a(x, y, u, x_1)
     FULL JOIN b USING (x))
  WHERE (x > 0)
  ORDER BY x;
named: SELECT j.p,
    j.r
   FROM (a
     CROSS JOIN cc) j(p, q, r, x_1, x, "?q", y);
nested: SELECT k.y
   FROM ( SELECT same_1.y
           FROM (a
             CROSS JOIN cc cc_1) same_1(xx, y, u, x_1, x, "?q", y_1)) k,
    (b
     CROSS JOIN cc) same(x, z, x_1, "?q", y);
sorted: SELECT y AS x,
    xx AS y2
   FROM a
  ORDER BY xx;
alias: SELECT a.x
   FROM (a a(x, y, u, x_1)
     JOIN cc USING (x) AS w);
whole: SELECT a.*::a AS a,
    (a.* IS NULL) AS n
   FROM a;
sets:(
         SELECT a.xx AS x
           FROM a
        EXCEPT
         SELECT cc.x
           FROM cc
) UNION ALL
 SELECT a.y AS x
   FROM a
 LIMIT 3;
grouped: SELECT xx AS x,
    y,
    GROUPING(xx, y) AS "grouping"
   FROM a
  GROUP BY GROUPING SETS (ROLLUP(xx, y), CUBE((xx, y), u), ());
framed: SELECT sum(xx) OVER (ORDER BY y ROWS 2 PRECEDING) AS s,
    sum(xx) OVER (ORDER BY y ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS sum
   FROM a;
keys: SELECT DISTINCT ON ((lower(u))) (xx + y) AS s
   FROM a
  ORDER BY (lower(u)), (xx + y)
 FETCH FIRST (2) ROWS WITH TIES;
funcs: SELECT u.m,
    u.n,
    r.ordinality,
    q.a,
    q.b
   FROM UNNEST(ARRAY[1], ARRAY['a'::text]) u(m, n),
    ROWS FROM(generate_series(1, 2), generate_series(2, 3)) WITH ORDINALITY r(generate_series, generate_series_1, ordinality),
    LATERAL json_to_record('{}'::json) q(a integer, b text COLLATE "C");
arrays: SELECT (xx = ANY (( SELECT ARRAY[1] AS "array")::integer[])) AS y
   FROM a;
ov: SELECT OVERLAY(u PLACING 'x'::text FROM 2 FOR 3) AS "overlay",
    SUBSTRING(u SIMILAR 'a'::text ESCAPE '#'::text) AS "substring"
   FROM a;"#;

const SHOW: &str = "select relname || ':' || pg_get_viewdef(oid) from pg_class \
    where relkind = 'v' and relnamespace = 'public'::regnamespace order by oid";

#[test]
fn names_stay_those_of_the_columns_that_were_meant() {
    let server = Server::new();
    let s = server.connect();
    s.run(VIEWS).unwrap();
    assert_eq!(s.query(SHOW), SHOWN);
    // What is shown makes the same views again.
    let drops = "drop view inner_join, full_join, named, nested, sorted, alias, whole, sets, grouped, framed, keys, funcs, arrays, ov";
    s.run(drops).unwrap();
    for view in SHOWN.split_inclusive(';') {
        let (name, text) = view.split_once(':').unwrap();
        s.run(&format!("create view {} as {text}", name.trim())).unwrap();
    }
    assert_eq!(s.query(SHOW), SHOWN);
}

#[test]
fn a_join_needs_only_the_columns_that_are_named() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table a (x int, gone int); create table b (x int, y int); insert into a values (1, 2); insert into b values (1, 3);
        create view v as select x, j.y from (a join b using (x)) j")
        .unwrap();
    let refused = s.query("alter table a drop column x");
    assert!(refused.starts_with("ERROR:  cannot drop column x of table a because"), "{refused}");
    s.run("alter table a drop column gone").unwrap();
    assert_eq!(s.query("select * from v"), "1|3");
    assert_eq!(
        s.query("select pg_get_viewdef('v')"),
        " SELECT j.x,\n    j.y\n   FROM (a\n     JOIN b USING (x)) j;"
    );
}

#[test]
fn an_array_type_goes_by_its_rows_name() {
    let server = Server::new();
    let s = server.connect();
    s.run("create schema s; create table a (i int); create table s.b (i int); alter table a rename to b; create table a (i int)").unwrap();
    assert_eq!(
        s.query("select t.typname from pg_class c join pg_type r on r.oid = c.reltype join pg_type t on t.oid = r.typarray where c.relname in ('a', 'b') order by c.oid"),
        "_b\n_b\n_a"
    );
    let refused = s.query("alter table b set schema s");
    assert_eq!(refused, "ERROR:  relation \"b\" already exists in schema \"s\"");
    s.run("alter table b rename to c; alter table c set schema s").unwrap();
    assert_eq!(s.query("select '{}'::s.c[]"), "{}");
}
