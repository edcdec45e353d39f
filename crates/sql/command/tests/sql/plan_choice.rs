//! Generic and custom plans: which one runs, what is counted, and that values help.

use session::Format;

use crate::support::{Client, Collected, Server};

const COUNTS: &str = "select generic_plans, custom_plans from pg_prepared_statements where name = 's'";

fn filled() -> (Server, Client) {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table t (a int primary key, g int, b text);
         insert into t select i, case when i < 1900 then 1 else i end, 'k' || i from generate_series(1, 2000) i;
         create index on t (g)",
    )
    .unwrap();
    s.run("vacuum analyze t").unwrap();
    (server, s)
}

#[test]
fn five_custom_plans_come_first() {
    let (_server, s) = filled();
    s.run("prepare s (int) as select b from t where a = $1").unwrap();
    for i in 1..=7 {
        assert_eq!(s.query(&format!("execute s ({i})")), format!("k{i}"));
        assert_eq!(s.query(COUNTS), format!("{}|{}", (i - 5).max(0), i.min(5)));
    }
    assert_eq!(
        s.query("explain (costs off) execute s (3)"),
        "Index Scan using t_pkey on t\n  Index Cond: (a = $1)"
    );
    s.run("set plan_cache_mode = force_custom_plan").unwrap();
    assert_eq!(
        s.query("explain (costs off) execute s (3)"),
        "Index Scan using t_pkey on t\n  Index Cond: (a = 3)"
    );
    assert_eq!(s.query(COUNTS), "3|6");
    s.run("deallocate s; set plan_cache_mode = force_generic_plan").unwrap();
    s.run("prepare s (int) as select b from t where a = $1; execute s (1)").unwrap();
    assert_eq!(s.query(COUNTS), "1|0");
    s.run("deallocate s; reset plan_cache_mode; prepare s as select 1; execute s").unwrap();
    assert_eq!(s.query(COUNTS), "1|0", "without parameters there is nothing to choose");
}

#[test]
fn values_decide_where_they_matter() {
    let (_server, s) = filled();
    s.run("prepare s (int) as select count(*) from t where g = $1").unwrap();
    let explain = |value: &str| s.query(&format!("explain (costs off) execute s ({value})"));
    assert_eq!(explain("1"), "Aggregate\n  ->  Seq Scan on t\n        Filter: (g = 1)");
    assert!(explain("1950").contains("Index Cond: (g = 1950)"), "{}", explain("1950"));
    assert_eq!(s.query("execute s (1)"), "1899");
    assert_eq!(s.query("execute s (1950)"), "1");
    assert_eq!(s.query("execute s (null)"), "0");
    s.run("prepare p (text) as select count(*) from t where b like $1").unwrap();
    assert!(s.query("explain (costs off) execute p ('k19%')").contains("'k19%'"));
    assert_eq!(s.query("execute p ('k19%')"), "111");
}

#[test]
fn partitions_are_left_out_for_values() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table p (k int, v text) partition by range (k);
         create table p1 partition of p for values from (0) to (10);
         create table p2 partition of p for values from (10) to (20);
         insert into p values (5, 'five'), (15, 'fifteen')",
    )
    .unwrap();
    s.run("prepare s (int) as select v from p where k = $1").unwrap();
    assert_eq!(s.query("explain (costs off) execute s (15)"), "Seq Scan on p2 p\n  Filter: (k = 15)");
    assert_eq!(s.query("explain (costs off) execute s (null)"), "Result\n  One-Time Filter: false");
    for _ in 0..8 {
        assert_eq!(s.query("execute s (5)"), "five");
        assert_eq!(s.query("execute s (15)"), "fifteen");
    }
    s.run("drop table p2").unwrap();
    assert_eq!(s.query("execute s (15)"), "");
    assert_eq!(s.query("execute s (5)"), "five");
}

#[test]
fn the_protocol_and_functions_choose_too() {
    let (_server, s) = filled();
    let session = s.session();
    let mut out = Collected::default();
    session.parse("s", "select count(*) from t where g > $1", &[], &mut out).unwrap();
    session.sync(&mut out).unwrap();
    for i in 1..=6 {
        let mut out = Collected::default();
        let value = (1994 + i).to_string();
        session.bind("", "s", &[], &[Some(value.as_bytes())], &[Format::Text]).unwrap();
        session.describe_portal("", &mut out).unwrap();
        session.execute("", 0, &mut out).unwrap();
        session.sync(&mut out).unwrap();
        assert_eq!(out.rows, [(6 - i).to_string()]);
    }
    let counts = s.query(COUNTS);
    let parts: Vec<i32> = counts.split('|').map(|n| n.parse().unwrap()).collect();
    assert!(parts[0] + parts[1] == 6 && parts[1] >= 5, "{counts}");
    s.run("create function n (x int) returns bigint language sql as 'select count(*) from t where g = x'")
        .unwrap();
    for _ in 0..7 {
        assert_eq!(s.query("select n(1), n(1950), n(null)"), "1899|1|0");
    }
}

#[test]
fn a_comparison_of_rows_begins_in_the_index() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table pages (a int, b text, c int); create index on pages (a, b, c);
         insert into pages select i / 10, 'k' || i % 10, i from generate_series(1, 3000) i; insert into pages values (null, 'k1', 0), (150, null, 0)",
    )
    .unwrap();
    s.run("vacuum analyze pages").unwrap();
    let next = "select c from pages where (a, b) > (150, 'k7') order by a, b, c limit 4";
    assert_eq!(
        s.query(&format!("explain (costs off) {next}")),
        "Limit\n  ->  Index Only Scan using pages_a_b_c_idx on pages\n        Index Cond: (a >= 150)\n        Filter: ((a > 150) OR ((a = 150) AND (b > 'k7'::text)))"
    );
    assert_eq!(s.query(next), "1508\n1509\n1510\n1511");
    // Written out, and the other way round.
    let written =
        "select c from pages where a < 150 or (a = 150 and b < 'k1') order by a desc, b desc, c desc limit 2";
    assert!(s.query(&format!("explain (costs off) {written}")).contains("Index Cond: (a <= 150)"));
    assert_eq!(s.query(written), "1500\n1499");
    s.run("set enable_indexscan = off; set enable_bitmapscan = off").unwrap();
    let all = "select count(*), sum(c) from pages where (a, b) >= (150, 'k7')";
    let by_rows = s.query(all);
    s.run("reset enable_indexscan; reset enable_bitmapscan; set enable_seqscan = off").unwrap();
    assert_eq!(s.query(all), by_rows);
    assert_eq!(by_rows, "1494|3366729");
}
