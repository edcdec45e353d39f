//! Joins of partitioned tables by their partitions, through whole sessions.

use crate::support::{Client, Server};

/// Two tables with the same ranges, one of lists with a DEFAULT partition and NULLs, and one with ranges that others overlap.
fn tables(s: &Client) {
    s.run("create table a (k int, v int, w int) partition by range (k)").unwrap();
    s.run("create table b (v int, k int, w int) partition by range (k)").unwrap();
    for (n, from) in [0, 100, 200].into_iter().enumerate() {
        let bound = format!("for values from ({from}) to ({})", from + 100);
        s.run(&format!("create table a{n} partition of a {bound}; create table b{n} partition of b {bound}"))
            .unwrap();
    }
    s.run("create table l (k int, v int) partition by list (k)").unwrap();
    s.run("create table l0 partition of l for values in (0, 2, null)").unwrap();
    s.run("create table l1 partition of l for values in (1, 3); create table ld partition of l default")
        .unwrap();
    s.run("create table m (k int, v int) partition by list (k)").unwrap();
    s.run("create table m0 partition of m for values in (0, 2); create table m1 partition of m for values in (1, 3, null)").unwrap();
    s.run("create table md partition of m default").unwrap();
    s.run("create table wide (k int, v int) partition by range (k)").unwrap();
    s.run("create table w0 partition of wide for values from (0) to (90)").unwrap();
    s.run("create table w1 partition of wide for values from (100) to (210)").unwrap();
    s.run("create table h (k int, v int) partition by hash (k); create table g (k int, v int) partition by hash (k)").unwrap();
    for n in 0..3 {
        let bound = format!("for values with (modulus 3, remainder {n})");
        s.run(&format!("create table h{n} partition of h {bound}; create table g{n} partition of g {bound}"))
            .unwrap();
    }
    s.run("insert into a select i, i % 7, i % 3 from generate_series(0, 299, 2) i").unwrap();
    s.run("insert into b select i % 5, i, i % 4 from generate_series(0, 299, 3) i").unwrap();
    s.run("insert into l select nullif(i % 8, 7), i from generate_series(0, 99) i").unwrap();
    s.run("insert into m select nullif(i % 6, 5), i from generate_series(0, 59, 2) i").unwrap();
    s.run("insert into wide select i, i from generate_series(5, 85, 5) i").unwrap();
    s.run("insert into wide select i, i from generate_series(100, 209, 7) i").unwrap();
    s.run("insert into h select i, i % 4 from generate_series(0, 99) i").unwrap();
    s.run("insert into g select i, i % 6 from generate_series(50, 149) i").unwrap();
    s.run("analyze a; analyze b; analyze wide; analyze h; analyze g").unwrap();
}

/// How many joins the plan of a query has.
fn joins(s: &Client, sql: &str) -> usize {
    let plan = s.query(&format!("explain (costs off) {sql}"));
    let is_join =
        |line: &&str| line.contains(" Join") && !line.contains("Filter") || line.contains("Nested Loop");
    plan.lines().filter(is_join).count()
}

/// Runs a query with and without joins by partitions: the plan that has them has so many more joins, and the answers are the same.
fn same(s: &Client, sql: &str, more: usize) {
    s.run("set enable_partitionwise_join = off").unwrap();
    let (rows, whole) = (s.query(sql), joins(s, sql));
    s.run("set enable_partitionwise_join = on").unwrap();
    assert_eq!(s.query(sql), rows, "{sql}");
    let plan = s.query(&format!("explain (costs off) {sql}"));
    assert_eq!(joins(s, sql) - whole, more, "{sql}\n{plan}");
    assert!(!rows.is_empty() && !rows.starts_with("ERROR"), "{sql}: {rows}");
}

const SUM: &str = "count(*), sum(x.k), sum(y.k), sum(x.v), sum(y.v)";

#[test]
fn every_kind_of_join_has_the_rows_of_the_whole() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    for (x, y, more) in [("a", "b", 2), ("h", "g", 2)] {
        for kind in ["join", "left join", "right join", "full join"] {
            same(&s, &format!("select {SUM} from {x} x {kind} {y} y on x.k = y.k"), more);
        }
        for test in ["exists", "not exists"] {
            let sql = format!(
                "select count(*), sum(k), sum(v) from {x} x where {test} (select from {y} y where y.k = x.k)"
            );
            same(&s, &sql, more);
        }
    }
    // The columns of `b` lie elsewhere; more is computed of them, and compared.
    same(
        &s,
        "select sum(x.v * 2 + y.v), min(x.k || '-' || y.w) from a x join b y on x.k = y.k and x.v < y.v + 3",
        2,
    );
    same(
        &s,
        "select x.k, y.w from a x left join b y on x.k = y.k and y.v > 2 where x.v < 2 order by x.k, y.w",
        2,
    );
}

#[test]
fn bounds_that_differ_are_merged() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    same(&s, &format!("select {SUM} from a x join wide y on x.k = y.k where x.k < 200"), 1);
    same(&s, &format!("select {SUM} from wide y left join b x on x.k = y.k and x.k < 205 where y.k < 90"), 0);
    same(&s, &format!("select {SUM} from l x join m y on x.k = y.k"), 2);
    // NULL of the one side stands with 0, that of the other with 1.
    for kind in ["left join", "full join"] {
        same(&s, &format!("select {SUM} from l x {kind} m y on x.k = y.k"), 2);
    }
    same(&s, "select count(*), sum(v) from l x where not exists (select from m y where y.k = x.k)", 2);
}

#[test]
fn partitions_that_conditions_exclude_are_left_out() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    same(&s, &format!("select {SUM} from a x join b y on x.k = y.k where x.k < 150 and y.k > 60"), 1);
    // Rows of `a` above 150 would find no partition.
    same(&s, &format!("select {SUM} from a x left join (select * from b where k < 150) y on x.k = y.k"), 0);
    same(&s, &format!("select {SUM} from (select * from a where k < 150) x left join b y on x.k = y.k"), 1);
    s.run("set enable_partitionwise_join = on").unwrap();
    assert_eq!(
        s.query("explain (costs off) select * from a x join b y on x.k = y.k where x.k < 50 and y.k > 250"),
        "Result\n  One-Time Filter: false"
    );
}

#[test]
fn several_tables_and_levels_are_joined() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    same(&s, "select count(*), sum(x.k + y.k + z.v) from a x join b y on x.k = y.k join a z on z.k = y.k", 4);
    same(
        &s,
        "select count(*), sum(x.k + y.k), sum(z.v) from a x join b y using (k) left join a z on z.k = x.k + 0 and z.k = y.k",
        4,
    );
    same(&s, "select count(*), sum(z.v), sum(k) from a x full join b y using (k) full join a z using (k)", 4);
    s.run("create table p (k int, c int, v int) partition by range (k)").unwrap();
    s.run("create table q (k int, c int, v int) partition by range (k)").unwrap();
    for t in ["p", "q"] {
        s.run(&format!(
            "create table {t}1 partition of {t} for values from (0) to (50) partition by list (c)"
        ))
        .unwrap();
        s.run(&format!("create table {t}1a partition of {t}1 for values in (0, 1); create table {t}1b partition of {t}1 for values in (2)")).unwrap();
        s.run(&format!("create table {t}2 partition of {t} for values from (50) to (100)")).unwrap();
        s.run(&format!("insert into {t} select i, i % 3, i % 4 from generate_series(0, 99) i")).unwrap();
    }
    s.run("analyze").unwrap();
    same(&s, "select count(*), sum(x.v + y.v) from p x join q y on x.k = y.k and x.c = y.c", 2);
    // The partitioned partitions are joined as wholes.
    same(&s, "select count(*), sum(x.v + y.v) from p x join q y on x.k = y.k", 1);
    same(&s, "select x.k, y.v from p x left join q y on x.k = y.k order by x.k, y.v limit 3", 1);
}

#[test]
fn plans_show_partitions_under_their_names() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    s.run("set enable_partitionwise_join = on; set enable_hashjoin = off; set enable_nestloop = off")
        .unwrap();
    let plan = s.query(
        "explain (costs off) select x.k, y.v from a x join b y on x.k = y.k where x.k < 200 order by x.k",
    );
    assert_eq!(
        plan,
        "Merge Append\n  Sort Key: x.k\n  ->  Merge Join\n        Merge Cond: (x_1.k = y_1.k)\n        ->  Sort\n              Sort Key: x_1.k\n              ->  Seq Scan on a0 x_1\n                    Filter: (k < 200)\n        ->  Sort\n              Sort Key: y_1.k\n              ->  Seq Scan on b0 y_1\n  ->  Merge Join\n        Merge Cond: (x_2.k = y_2.k)\n        ->  Sort\n              Sort Key: x_2.k\n              ->  Seq Scan on a1 x_2\n                    Filter: (k < 200)\n        ->  Sort\n              Sort Key: y_2.k\n              ->  Seq Scan on b1 y_2"
    );
    // One pair is no longer part of anything.
    assert_eq!(
        s.query("explain (costs off) select x.k from a x join b y on x.k = y.k and x.w = y.w where x.k < 100 and y.k < 100"),
        "Merge Join\n  Merge Cond: ((x.k = y.k) AND (x.w = y.w))\n  ->  Sort\n        Sort Key: x.k, x.w\n        ->  Seq Scan on a0 x\n              Filter: (k < 100)\n  ->  Sort\n        Sort Key: y.k, y.w\n        ->  Seq Scan on b0 y\n              Filter: (k < 100)"
    );
}

#[test]
fn rows_of_joined_partitions_are_changed_and_locked() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    s.run("set enable_partitionwise_join = on").unwrap();
    assert_eq!(
        s.query("select x.k, x.tableoid::regclass from a x join b y on x.k = y.k where y.k in (96, 102) order by 1 for update"),
        "96|a0\n102|a1"
    );
    assert_eq!(
        s.query("update a x set v = y.w + 100 from b y where x.k = y.k and y.k in (96, 102) returning x.tableoid::regclass, x.k, x.v"),
        "a0|96|100\na1|102|102"
    );
    assert_eq!(s.query("delete from a x using b y where x.k = y.k and x.v >= 100 returning x.k"), "96\n102");
}
