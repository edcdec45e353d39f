//! Table inheritance through whole sessions.

use crate::support::{Client, Server};

/// `a` with children `b` and `c`, and `d`, which inherits from both.
fn diamond(s: &Client) {
    s.run("create table a (aa text)").unwrap();
    s.run("create table b (bb text) inherits (a)").unwrap();
    s.run("create table c (cc text) inherits (a)").unwrap();
    s.run("create table d (dd text, aa text) inherits (b, c)").unwrap();
    s.run("insert into a values ('1'); insert into b values ('2', 'b'); insert into c values ('3', 'c')")
        .unwrap();
    s.run("insert into d (aa, bb, cc, dd) values ('4', 'p', 'q', 'r')").unwrap();
}

#[test]
fn columns_are_merged_and_counted() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table p (x int default 1 not null check (x > 0), y text)").unwrap();
    s.run("create table q (y text, z int)").unwrap();
    let out = s.run("create table r (z int default 5, x int) inherits (p, q)").unwrap();
    assert_eq!(
        out.notices,
        [
            "merging multiple inherited definitions of column \"y\"",
            "moving and merging column \"z\" with inherited definition",
            "moving and merging column \"x\" with inherited definition"
        ]
    );
    let origin = "select attname, attislocal, attinhcount from pg_attribute where attrelid = 'r'::regclass and attnum > 0 order by attnum";
    assert_eq!(s.query(origin), "x|t|1\ny|f|2\nz|t|1");
    assert_eq!(s.query("insert into r (y) values ('k') returning *"), "1|k|5");
    assert_eq!(
        s.query("insert into r (x) values (-1)"),
        "ERROR:  new row for relation \"r\" violates check constraint \"p_x_check\""
    );
    assert_eq!(
        s.query("insert into r (x) values (null)"),
        "ERROR:  null value in column \"x\" of relation \"r\" violates not-null constraint"
    );
    assert_eq!(s.query("create table t (x bigint) inherits (p)"), "ERROR:  column \"x\" has a type conflict");
    s.run("create table v (y varchar)").unwrap();
    assert_eq!(
        s.query("create table t () inherits (q, v)"),
        "ERROR:  inherited column \"y\" has a type conflict"
    );
    assert_eq!(
        s.query("create table t () inherits (p, p)"),
        "ERROR:  relation \"p\" would be inherited from more than once"
    );
}

#[test]
fn a_tree_is_read_and_changed_as_one() {
    let server = Server::new();
    let s = server.connect();
    diamond(&s);
    assert_eq!(s.query("select tableoid::regclass, * from a order by aa"), "a|1\nb|2\nc|3\nd|4");
    assert_eq!(s.query("select * from only a"), "1");
    assert_eq!(s.query("select a from a order by a"), "(1)\n(2)\n(3)\n(4)");
    assert_eq!(
        s.query("update a set aa = aa || '!' where aa > '2' returning tableoid::regclass, aa"),
        "c|3!\nd|4!"
    );
    assert_eq!(s.query("select * from d"), "4!|p|q|r");
    assert_eq!(s.query("delete from c returning tableoid::regclass, *"), "c|3!|c\nd|4!|q");
    assert_eq!(s.query("select aa from a for update"), "1\n2");
    s.run("truncate a").unwrap();
    assert_eq!(s.query("select count(*) from b"), "0");
}

#[test]
fn explain_shows_the_members() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table a (x int primary key); create table b (primary key (x)) inherits (a)").unwrap();
    s.run("insert into b select generate_series(1, 2000); analyze a; analyze b").unwrap();
    let explain = |sql: &str| s.query(&format!("explain (costs off) {sql}"));
    assert_eq!(
        explain("update a set x = 0"),
        "Update on a\n  Update on a a_1\n  Update on b a_2\n  ->  Result\n        ->  Append\n              \
         ->  Seq Scan on a a_1\n              ->  Seq Scan on b a_2"
    );
    assert_eq!(explain("select * from only a where x > 0"), "Seq Scan on a\n  Filter: (x > 0)");
    assert!(explain("select * from a order by x limit 2").contains("Merge Append\n        Sort Key: a.x"));
    assert_eq!(s.query("select x from a order by x desc limit 2"), "2000\n1999");
    // Rows of another relation drive scans of the members.
    let joined = "select * from (values (7), (9)) v (k) join a on a.x = k";
    assert!(explain(joined).contains("Index Only Scan using b_pkey on b a_2"), "{}", explain(joined));
    assert_eq!(s.query(joined), "7|7\n9|9");
}

#[test]
fn alter_table_goes_down_the_tree() {
    let server = Server::new();
    let s = server.connect();
    diamond(&s);
    let out = s.run("alter table a add column n int default 7").unwrap();
    assert_eq!(out.notices, ["merging definition of column \"n\" for child \"d\""]);
    assert_eq!(s.query("select sum(n) from a"), "28");
    assert_eq!(s.query("alter table b drop column n"), "ERROR:  cannot drop inherited column \"n\"");
    assert_eq!(
        s.query("alter table only a add column m int"),
        "ERROR:  column must be added to child tables too"
    );
    s.run("alter table a rename column n to k").unwrap();
    s.run("alter table a alter column k type bigint; alter table a alter column k set not null").unwrap();
    s.run("alter table a add constraint kc check (k > 0)").unwrap();
    assert_eq!(
        s.query("update d set k = 0"),
        "ERROR:  new row for relation \"d\" violates check constraint \"kc\""
    );
    assert_eq!(
        s.query("alter table d drop constraint kc"),
        "ERROR:  cannot drop inherited constraint \"kc\" of relation \"d\""
    );
    s.run("alter table a drop constraint kc; alter table a drop column k").unwrap();
    assert_eq!(s.query("select count(*) from pg_constraint where conname = 'kc'"), "0");
    assert_eq!(s.query("select * from d"), "4|p|q|r");
    assert_eq!(s.query("drop table a"), "ERROR:  cannot drop table a because other objects depend on it");
    assert_eq!(s.run("drop table a cascade").unwrap().notices, ["drop cascades to 3 other objects"]);
}

#[test]
fn tables_become_children_and_leave() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table p (x int not null, constraint pos check (x > 0))").unwrap();
    s.run("create table c (x int); insert into c values (3)").unwrap();
    let inherit = "alter table c inherit p";
    assert_eq!(s.query(inherit), "ERROR:  column \"x\" in child table \"c\" must be marked NOT NULL");
    s.run("alter table c alter column x set not null").unwrap();
    assert_eq!(s.query(inherit), "ERROR:  child table is missing constraint \"pos\"");
    s.run("alter table c add constraint pos check (x > 0)").unwrap();
    s.run(inherit).unwrap();
    assert_eq!(s.query("select * from p"), "3");
    assert_eq!(s.query("alter table p inherit c"), "ERROR:  circular inheritance not allowed");
    // A prepared plan notices.
    s.run("prepare q as select count(*) from p; execute q").unwrap();
    s.run("alter table c no inherit p").unwrap();
    assert_eq!(s.query("execute q"), "0");
    assert_eq!(
        s.query("alter table c no inherit p"),
        "ERROR:  relation \"p\" is not a parent of relation \"c\""
    );
    s.run("drop table p").unwrap();
    assert_eq!(s.query("select * from c"), "3");
}
