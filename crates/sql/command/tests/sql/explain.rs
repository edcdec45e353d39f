//! EXPLAIN: what it says in each format, of plans and of runs.

use crate::support::{Client, Server};
use base::SqlState;

/// A table of 1000 rows in 10 groups.
fn table(s: &Client) {
    s.run("create table t (a int primary key, b int); insert into t select g, g % 10 from generate_series(1, 1000) g")
        .unwrap();
    s.run("vacuum analyze t").unwrap();
}

const PLAIN: &str = "analyze, costs off, timing off, summary off, buffers off";

#[test]
fn runs_tell_what_their_nodes_did() {
    let server = Server::new();
    let s = server.connect();
    table(&s);
    let explain = |sql: &str| s.query(&format!("explain ({PLAIN}) {sql}"));
    assert_eq!(
        s.query("explain (costs off) with c as materialized (select b from t) select count(*) from c"),
        "Aggregate\n  CTE c\n    ->  Seq Scan on t\n  ->  CTE Scan on c"
    );
    assert!(!s.query("explain select count(*) from t x join t y using (a)").contains("width=-0"));
    let sort = explain("select b, count(*) from t group by b order by count(*)");
    let lines: Vec<&str> = sort.lines().map(str::trim).collect();
    assert_eq!(lines[..2], ["Sort (actual rows=10.00 loops=1)", "Sort Key: (count(*))"]);
    assert!(lines[2].starts_with("Sort Method: quicksort  Memory: "), "{sort}");
    assert_eq!(lines[3..5], ["->  HashAggregate (actual rows=10.00 loops=1)", "Group Key: b"]);
    assert!(lines[5].starts_with("Batches: 1  Memory Usage: "), "{sort}");
    s.run("set enable_seqscan = off; set enable_bitmapscan = off").unwrap();
    assert_eq!(
        explain("select a from t where a < 10"),
        "Index Only Scan using t_pkey on t (actual rows=9.00 loops=1)\n  Index Cond: (a < 10)\n  \
         Heap Fetches: 0\n  Index Searches: 1"
    );
    s.run("set enable_indexscan = off; set enable_bitmapscan = on").unwrap();
    let bitmap = explain("select * from t where a < 10");
    let lines: Vec<&str> = bitmap.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "Bitmap Heap Scan on t (actual rows=9.00 loops=1)",
            "Recheck Cond: (a < 10)",
            "Heap Blocks: exact=1",
            "->  Bitmap Index Scan on t_pkey (actual rows=9.00 loops=1)",
            "Index Cond: (a < 10)",
            "Index Searches: 1"
        ]
    );
    let forced = s.query("explain (costs off) select * from t where b = 1");
    assert_eq!(forced, "Seq Scan on t\n  Disabled: true\n  Filter: (b = 1)");
}

#[test]
fn changes_tell_what_became_of_rows() {
    let server = Server::new();
    let s = server.connect();
    table(&s);
    let explain = |sql: &str| s.query(&format!("explain ({PLAIN}) {sql}"));
    let insert = explain("insert into t values (1, 0), (2000, 0) on conflict (a) do nothing");
    assert!(insert.contains("Tuples Inserted: 1\n  Conflicting Tuples: 1"), "{insert}");
    let merge = explain(
        "merge into t using (values (1), (3000), (4000)) v (a) on t.a = v.a when matched then delete \
         when not matched and v.a < 4000 then insert values (v.a, 0)",
    );
    assert!(merge.contains("Tuples: inserted=1 deleted=1 skipped=1"), "{merge}");
}

#[test]
fn pages_and_log_are_those_of_the_session() {
    let server = Server::new();
    let s = server.connect();
    table(&s);
    let quiet = "analyze, costs off, timing off, summary off";
    let scan = s.query(&format!("explain ({quiet}) select * from t"));
    let buffers = scan.lines().nth(1).unwrap().trim();
    assert!(buffers.starts_with("Buffers: shared hit="), "{scan}");
    // The plan is known by now.
    assert!(!s.query(&format!("explain ({quiet}) select * from t")).contains("Planning:"));
    let insert = s.query(&format!("explain ({quiet}, wal) insert into t values (5000, 1)"));
    assert!(insert.contains("WAL: records="), "{insert}");
    assert!(insert.contains(" bytes="), "{insert}");
    s.run("set work_mem = '64kB'").unwrap();
    let sort = s.query(&format!("explain ({quiet}) select a, repeat('x', 200) from t order by b"));
    assert!(sort.contains("Sort Method: external merge  Disk: "), "{sort}");
    assert!(sort.contains(", temp read="), "{sort}");
    s.run("set track_io_timing = on").unwrap();
    let json = s.query("explain (analyze, format json) select 1");
    assert!(json.contains("\"Shared I/O Read Time\": 0.000"), "{json}");
}

#[test]
fn formats_hold_the_same_facts() {
    let server = Server::new();
    let s = server.connect();
    table(&s);
    let sql = "select b from t where a = 1 order by b";
    assert_eq!(
        s.query(&format!("explain (costs off) {sql}")),
        "Sort\n  Sort Key: b\n  ->  Index Scan using t_pkey on t\n        Index Cond: (a = 1)"
    );
    let yaml = "- Plan: \n    Node Type: \"Sort\"\n    Parallel Aware: false\n    Async Capable: false\n    \
                Disabled: false\n    Sort Key: \n      - \"b\"\n    Plans: \n      - Node Type: \"Index Scan\"\n        \
                Parent Relationship: \"Outer\"\n        Parallel Aware: false\n        Async Capable: false\n        \
                Scan Direction: \"Forward\"\n        Index Name: \"t_pkey\"\n        Relation Name: \"t\"\n        \
                Alias: \"t\"\n        Disabled: false\n        Index Cond: \"(a = 1)\"";
    assert_eq!(s.query(&format!("explain (costs off, format yaml) {sql}")), yaml);
    let json = s.query(&format!("explain (costs off, format json) {sql}"));
    assert!(json.starts_with("[\n  {\n    \"Plan\": {\n      \"Node Type\": \"Sort\",\n"), "{json}");
    assert!(json.contains("\n      \"Sort Key\": [\"b\"],\n      \"Plans\": [\n        {\n"), "{json}");
    assert!(json.ends_with("\n        }\n      ]\n    }\n  }\n]"), "{json}");
    let xml = s.query(&format!("explain (costs off, format xml) {sql}"));
    assert!(xml.contains("\n      <Sort-Key>\n        <Item>b</Item>\n      </Sort-Key>\n"), "{xml}");
    assert!(xml.ends_with("    </Plan>\n  </Query>\n</explain>"), "{xml}");
    assert_eq!(
        s.query("explain (format json) create table if not exists t as select 1"),
        "[\n  \"CREATE TABLE AS\"\n]"
    );
    assert_eq!(s.query("explain create table if not exists t as select 1"), "");
}

#[test]
fn options_bring_what_they_promise() {
    let server = Server::new();
    let s = server.connect();
    table(&s);
    assert_eq!(s.query("explain (settings, costs off) select 1"), "Result");
    s.run("set enable_sort = off; set work_mem = '1MB'").unwrap();
    assert_eq!(
        s.query("explain (settings, costs off) select 1"),
        "Result\nSettings: enable_sort = 'off', work_mem = '1MB'"
    );
    assert_eq!(
        s.query("explain (generic_plan, costs off) select * from t where a = $1"),
        "Index Scan using t_pkey on t\n  Index Cond: (a = $1)"
    );
    assert!(
        s.query("explain (memory, costs off) select 1").starts_with("Result\nPlanning:\n  Memory: used=")
    );
    let out = s.query(
        "explain (analyze, serialize, costs off, timing off, summary off, buffers off) select * from t",
    );
    assert_eq!(out, "Seq Scan on t (actual rows=1000.00 loops=1)\nSerialization: output=14kB  format=text");
    let times = s.query("explain (analyze, costs off) select 1");
    assert!(times.contains("Planning Time: ") && times.contains("Execution Time: "), "{times}");
    let refused = |options: &str| {
        let error = s.run(&format!("explain ({options}) select 1")).err().unwrap();
        (error.code(), error.message().to_owned())
    };
    let invalid = SqlState::INVALID_PARAMETER_VALUE;
    assert_eq!(refused("wal"), (invalid, "EXPLAIN option WAL requires ANALYZE".into()));
    assert_eq!(refused("serialize"), (invalid, "EXPLAIN option SERIALIZE requires ANALYZE".into()));
    assert_eq!(
        refused("analyze, generic_plan"),
        (invalid, "EXPLAIN options ANALYZE and GENERIC_PLAN cannot be used together".into())
    );
    assert_eq!(
        refused("format html"),
        (invalid, "unrecognized value for EXPLAIN option \"format\": \"html\"".into())
    );
    assert_eq!(refused("loud"), (SqlState::SYNTAX_ERROR, "unrecognized EXPLAIN option \"loud\"".into()));
}

#[test]
fn rows_of_a_subquery_are_kept_for_the_next_row() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t(a int); create table u(a int); create sequence q").unwrap();
    s.run("insert into t values (1), (5), (9), (null); insert into u values (2), (4), (6)").unwrap();
    let plan = |query: &str| s.query(&format!("explain (costs off) {query}"));
    assert_eq!(
        plan("select * from t where a > all (select a from u)"),
        "Seq Scan on t\n  Filter: (ALL (a > (SubPlan 1).col1))\n  SubPlan 1\n    ->  Materialize\n          ->  Seq Scan on u"
    );
    assert_eq!(
        plan("select * from t where a in (select a from u) or a = 1"),
        "Seq Scan on t\n  Filter: ((ANY (a = (hashed SubPlan 1).col1)) OR (a = 1))\n  SubPlan 1\n    ->  Seq Scan on u"
    );
    // Not where it looks at the row outside, nor where the rows are kept already.
    let correlated = "select * from t where a <> all (select a from u where u.a > t.a)";
    assert_eq!(
        plan(correlated),
        "Seq Scan on t\n  Filter: (ALL (a <> (SubPlan 1).col1))\n  SubPlan 1\n    ->  Seq Scan on u\n          Filter: (a > t.a)"
    );
    assert!(!plan("select a > any (select a from u order by a) from t").contains("Materialize"));
    assert_eq!(s.query(correlated), "1\n5\n9\n");
    // The rows are computed once, and anew for the next statement.
    s.run("prepare p as select a, a < any (select a + nextval('q') * 0 from u) from t").unwrap();
    for last in ["3", "6"] {
        assert_eq!(s.query("execute p"), "1|t\n5|t\n9|f\n|");
        assert_eq!(s.query("select last_value from q"), last);
    }
    s.run("insert into u values (100)").unwrap();
    assert_eq!(s.query("execute p"), "1|t\n5|t\n9|t\n|");
    s.run("set enable_material = off").unwrap();
    assert!(!plan("select * from t where a > all (select a from u)").contains("Materialize"));
    assert_eq!(s.query("select * from t where a > all (select a from u limit 2)"), "5\n9");
}

#[test]
fn columns_are_named_where_they_come_from() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b int)").unwrap();
    assert_eq!(
        s.query("explain (costs off) select count(*) from (select a from t union select b + 1 from t) u"),
        "Aggregate\n  ->  HashAggregate\n        Group Key: t.a\n        ->  Append\n              ->  Seq Scan on t\n              ->  Seq Scan on t t_1"
    );
    assert_eq!(
        s.query(
            "explain (costs off) select * from (select a, b + 1 as c from t order by a limit 5) v order by c"
        ),
        "Sort\n  Sort Key: ((t.b + 1))\n  ->  Limit\n        ->  Sort\n              Sort Key: t.a\n              ->  Seq Scan on t"
    );
}

#[test]
fn an_array_is_looked_for_leaf_by_leaf() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table t (a int, b int); insert into t select g / 3, g % 10 from generate_series(0, 5999) g",
    )
    .unwrap();
    s.run("create index up on t (a, b); create index down on t (b desc, a desc); analyze t").unwrap();
    s.run("set enable_bitmapscan = off").unwrap();
    let many = "array(select g * 2 from generate_series(-50, 1100) g)";
    let conditions = [
        format!("a = any ({many})"),
        format!("a = any ({many}) and b > 4"),
        format!("a = any ({many}) and a > 700"),
        format!("a = any ({many}) and a between 700 and 900 and b = 3"),
        format!("b = 7 and a = any ({many})"),
        format!("b > 7 and a = any ({many})"),
        "b in (9, 1, null, 4, 1)".to_string(),
        "b in (9, 1) and a in (5, 500, 1500)".to_string(),
        "a = any ('{}')".to_string(),
        format!("b in (1, 5, 9) and a = any ({many})"),
        format!("b > 3 and a = any ({many}) and a in (8, 800, 900)"),
        "b is null and a = 14".to_string(),
        "a = 14".to_string(),
        "b between 2 and 5 and a in (14, 800, 1200)".to_string(),
        "b < 8 and a is null".to_string(),
    ];
    let orders = [
        "",
        "order by a, b limit 500",
        "order by b desc, a desc limit 500",
        "order by a desc, b desc limit 40",
    ];
    for condition in &conditions {
        for order in orders {
            let rows = format!("select a, b from t where {condition} {order}");
            let sql = format!("select count(*), sum(a * 31 + b) from ({rows}) s");
            let [one, other] = [("on", "off"), ("off", "on")].map(|(sequential, index)| {
                s.run(&format!("set enable_seqscan = {sequential}")).unwrap();
                s.run(&format!("set enable_indexscan = {index}; set enable_indexonlyscan = {index}"))
                    .unwrap();
                s.query(&sql)
            });
            assert_eq!(one, other, "{sql}");
        }
    }
    let plan = format!(
        "explain (analyze, costs off, timing off, summary off, buffers off) select a from t where a = any ({many})"
    );
    let plan = s.query(&plan);
    let searches = plan.lines().find_map(|line| line.trim().strip_prefix("Index Searches: ")).unwrap();
    assert!(searches.parse::<u32>().unwrap() < 40, "{plan}");
}

#[test]
fn a_leading_column_of_few_values_is_skipped() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table few (kind int, k int, pad text);
         insert into few select nullif(g % 5, 4), g, repeat('x', 50) from generate_series(1, 20000) g;
         create index few_kind on few (kind, k); create table many (a int, k int);
         insert into many select g, g % 1000 from generate_series(1, 20000) g; create index many_a on many (a, k)",
    )
    .unwrap();
    s.run("vacuum analyze").unwrap();
    let explain = |query: &str| {
        s.query(&format!("explain (analyze, costs off, timing off, summary off, buffers off) {query}"))
    };
    assert_eq!(
        explain("select kind, pad from few where k = 777"),
        "Index Scan using few_kind on few (actual rows=1.00 loops=1)\n  Index Cond: (k = 777)\n  Index Searches: 7"
    );
    // In the order of the index, and from its end.
    let query = "select kind, k from few where k in (777, 778, 779) order by kind desc, k desc";
    let plan = explain(query);
    assert!(plan.contains("Only Scan Backward") && plan.contains("Index Searches: 7"), "{plan}");
    assert_eq!(s.query(query), "|779\n3|778\n2|777");
    // Of many values none is skipped: they cost as much as the table.
    let plan = explain("select * from many where k = 777");
    assert!(plan.contains("Seq Scan"), "{plan}");
}

#[test]
fn windows_share_frames_and_sorts() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table w (a int, b int, c int); insert into w select g % 3, g % 5, g from generate_series(1, 30) g")
        .unwrap();
    // Ranks need no frame, so that one window is enough.
    assert_eq!(
        s.query(
            "explain (costs off) select row_number() over (partition by a order by b), rank() over (partition by a \
             order by b rows between 1 preceding and 3 following), ntile(3) over (partition by a order by b) from w"
        ),
        "WindowAgg\n  Window: w1 AS (PARTITION BY a ORDER BY b ROWS UNBOUNDED PRECEDING)\n  ->  Sort\n        \
         Sort Key: a, b\n        ->  Seq Scan on w"
    );
    // The longer order comes first and serves both.
    assert_eq!(
        s.query(
            "explain (costs off) select sum(c) over mine, sum(c) over (mine order by b rows 2 preceding) from w \
             window mine as (partition by a)"
        ),
        "WindowAgg\n  Window: mine AS (PARTITION BY a)\n  ->  WindowAgg\n        \
         Window: w1 AS (PARTITION BY a ORDER BY b ROWS '2'::bigint PRECEDING)\n        ->  Sort\n              \
         Sort Key: a, b\n              ->  Seq Scan on w"
    );
    assert_eq!(
        s.query(
            "select count(*), sum(r), sum(k), sum(n), sum(s), sum(t) from (select row_number() over (partition by a \
             order by b, c) r, rank() over (partition by a order by b rows between 1 preceding and 3 following) k, \
             ntile(3) over (order by c desc) n, sum(c) over (partition by a) s, \
             sum(c) over (partition by a order by b, c rows 2 preceding) t from w) x"
        ),
        "30|165|150|60|4650|1224"
    );
}

#[test]
fn ranges_of_places_read_the_pages_between_them() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table places (id int, data text); insert into places select i, repeat('x', 1000) from generate_series(1, 40) i").unwrap();
    s.run("vacuum analyze places").unwrap();
    assert_eq!(
        s.query("explain (costs off) select id from places where ctid > '(1,2)' and '(3,1)' >= ctid and id % 2 = 0"),
        "Tid Range Scan on places\n  TID Cond: ((ctid > '(1,2)'::tid) AND ('(3,1)'::tid >= ctid))\n  Filter: ((id % 2) = 0)"
    );
    let ranges = [
        ("ctid < '(2,0)'", "(id - 1) / 7 < 2"),
        ("ctid <= '(2,3)'", "id <= 17"),
        ("ctid > '(1,2)' and ctid < '(3,1)'", "id between 10 and 21"),
        ("'(4,1)' <= ctid", "id >= 29"),
        ("ctid > '(9,0)'", "false"),
        ("ctid > '(3,0)' and ctid < '(1,0)'", "false"),
        ("ctid < null::tid", "null"),
        ("ctid >= '(4294967295,65535)'", "false"),
    ];
    for (places, rows) in ranges {
        let ids = |condition: &str| s.query(&format!("select id from places where {condition} order by id"));
        assert_eq!(ids(places), ids(rows), "{places}");
    }
    // One page is read of six, and one of the visibility map; for each outer row another.
    let plan = s.query(
        "explain (analyze, costs off, timing off, summary off) select * from places where ctid < '(1,0)'",
    );
    assert!(plan.contains("\n  Buffers: shared hit=2\n"), "{plan}");
    let joined = "select a.b, count(p.id) from (values (0), (2), (5), (9)) a(b), lateral (select id from places where ctid >= format('(%s,1)', a.b)::tid and ctid < format('(%s,1)', a.b + 1)::tid offset 0) p group by a.b order by a.b";
    assert_eq!(s.query(joined), "0|7\n2|7\n5|5");
    s.run("begin; declare c cursor for select id from places where ctid >= '(1,3)' for update; fetch 2 from c; update places set data = 'y' where current of c; commit").unwrap();
    assert_eq!(s.query("select id from places where data = 'y'"), "11");
    s.run("delete from places where ctid < '(3,0)'").unwrap();
    assert_eq!(s.query("select count(*), min(id) from places"), "19|22");
    s.run("set enable_tidscan = off").unwrap();
    assert_eq!(
        s.query("explain (costs off) select id from places where ctid < '(1,0)'"),
        "Seq Scan on places\n  Filter: (ctid < '(1,0)'::tid)"
    );
}

#[test]
fn constant_arrays_are_cast_when_the_plan_is_made() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table words (a varchar, b bpchar) partition by list (a);
         create table words_1 partition of words for values in ('ab', 'cd');
         create table words_2 partition of words for values in ('ef', null)",
    )
    .unwrap();
    assert_eq!(
        s.query("explain (costs off) select * from words where a in ('ab', 'cd', 'x')"),
        "Seq Scan on words_1 words\n  Filter: ((a)::text = ANY ('{ab,cd,x}'::text[]))"
    );
    let plan = s.query("explain (costs off) select * from words_1 where b = 'y'");
    assert_eq!(plan, "Seq Scan on words_1\n  Filter: (b = 'y'::bpchar)");
    assert_eq!(s.query("select array['1', '2']::text[]::int[] = '{1,2}'"), "t");
    let wrong = "select case when false then 1 = any ('{1,x}'::text[]::int[]) end";
    assert_eq!(s.query(wrong), "");
}

#[test]
fn windows_end_where_their_condition_does() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table steps (g int, n int, v text); insert into steps select i % 5, i, 'v' || i % 3 from generate_series(1, 1000) i; insert into steps values (7, null, null); create index on steps (n)").unwrap();
    s.run("vacuum analyze steps").unwrap();
    assert_eq!(
        s.query("explain (costs off) select * from (select n, row_number() over (order by n) r from steps) s where r <= 3"),
        "WindowAgg\n  Window: w1 AS (ORDER BY steps.n ROWS UNBOUNDED PRECEDING)\n  Run Condition: (row_number() OVER w1 <= 3)\n  ->  Index Only Scan using steps_n_idx on steps"
    );
    let plan = s.query("explain (analyze, costs off, timing off, summary off, buffers off) select * from (select n, row_number() over (order by n) r from steps) s where 3 >= r");
    assert!(plan.contains("Run Condition: (3 >= row_number() OVER w1)"), "{plan}");
    assert!(plan.contains("Index Only Scan using steps_n_idx on steps (actual rows=4.00 loops=1)"), "{plan}");
    let queries = [
        "select g, n, row_number() over (partition by g order by n desc) r, v from steps",
        "select g, n, rank() over (partition by g order by v) r from steps",
        "select g, n, dense_rank() over (order by g, v) r from steps",
        "select g, v, count(*) over (partition by g order by n) r from steps",
        "select g, v, count(v) over (partition by g order by n rows between current row and unbounded following) r from steps",
        "select g, count(*) over (partition by g) r from steps",
        "select g, ntile(7) over (partition by g order by n) r, row_number() over (order by v, n) o from steps",
        "select distinct g, count(n) over (order by g) r from steps",
        "select g, row_number() over (order by n) r from steps limit 600",
        "select g, count(*) over (order by n rows between 2 preceding and current row) r from steps",
    ];
    let conditions = [
        "r < 3",
        "r <= 2",
        "4 > r",
        "r = 2",
        "r > 150",
        "r >= 199",
        "200 <= r",
        "r <> 1",
        "r < null",
        "r between 2 and 3",
    ];
    for query in queries {
        for condition in conditions {
            let rows = |fence: &str| {
                s.query(&format!(
                    "select * from ({query} {fence}) s where {condition} order by s::text collate \"C\""
                ))
            };
            assert_eq!(
                rows(""),
                rows(if query.contains("limit") { "" } else { "offset 0" }),
                "{query}: {condition}"
            );
            let only = |fence: &str| {
                s.query(&format!("select count(*), min(g) from ({query} {fence}) s where {condition}"))
            };
            assert_eq!(
                only(""),
                only(if query.contains("limit") { "" } else { "offset 0" }),
                "{query}: {condition}"
            );
        }
    }
    for call in ["count(random())", "count((select n))", "count(*) filter (where random() > 2)"] {
        let plan = s.query(&format!("explain (costs off) select * from (select n, {call} over (order by n) r from steps) s where r < 3"));
        assert!(!plan.contains("Run Condition"), "{plan}");
    }
    // Each row of the outer side begins anew.
    let joined = "select p, (select string_agg(n::text, ',' order by n) from (select n, row_number() over (order by n desc) r from steps where g = p) s where r < p) from generate_series(0, 4) p";
    assert_eq!(s.query(joined), "0|\n1|\n2|997\n3|993,998\n4|989,994,999");
    assert_eq!(
        s.query("explain (costs off) select * from (select n, row_number() over (order by n) a, rank() over (order by v) b from steps) s where a < 3 and b = 2"),
        "Subquery Scan on s\n  Filter: (s.b = 2)\n  ->  WindowAgg\n        Window: w2 AS (ORDER BY steps.n ROWS UNBOUNDED PRECEDING)\n        Run Condition: (row_number() OVER w2 < 3)\n        Filter: ((rank() OVER w1) <= 2)\n        ->  Sort\n              Sort Key: steps.n\n              ->  WindowAgg\n                    Window: w1 AS (ORDER BY steps.v ROWS UNBOUNDED PRECEDING)\n                    ->  Sort\n                          Sort Key: steps.v\n                          ->  Seq Scan on steps"
    );
}
