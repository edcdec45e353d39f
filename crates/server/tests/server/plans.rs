//! Plans that rules of the planner lead to, as PostgreSQL shows them, and that their rows are those of the plain way.

use crate::support::{Client, Server, run};

const SETUP: &[&str] = &[
    "create table t (id int primary key, a int, b int, c text, d numeric)",
    "insert into t select i, i % 10, i * 7 % 23, 'k' || i % 31, nullif(i % 9, 0) * 0.5 from generate_series(1, 2000) i",
    "create table u (id int primary key, a int, x text collate \"C\")",
    "insert into u select i, nullif(i % 12, 5), chr(97 + i % 26) || i from generate_series(1, 700) i",
    "create unique index u_x on u (x)",
    "create index t_b on t (b)",
    "create index t_d on t (d)",
    "create view grouped as select a, b, count(*) n from t group by a, b",
    "create view ranked as select id, a, row_number() over (partition by a order by id) r from t",
    "create view either as select a, id from t union all select a, id from u",
    "create view wide as select a::bigint as a, c from t union select a, x from u",
    "create view left_over as select a, b from t except select a, id from u",
    "create function tell(int) returns bool language plpgsql cost 0.0001 as 'begin raise notice ''told''; return true; end'",
    "create view hidden with (security_barrier) as select distinct a, b from t where a = 1",
    "create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    "create table cases (x text collate loose)",
    "insert into cases values ('a'), ('A'), ('b')",
    "analyze",
];

fn setup() -> (Server, Client) {
    let mut server = Server::init(&["-A", "trust"]);
    server.run();
    let mut client = server.client();
    run(&mut client, SETUP);
    (server, client)
}

/// What EXPLAIN says of a query, a line each.
fn plan(client: &mut Client, query: &str) -> String {
    let rows = client.query(&format!("explain (costs off) {query}")).unwrap();
    rows.iter().map(|row| row[0].clone().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn plan_with_costs(client: &mut Client, query: &str) -> String {
    client.value(&format!("explain {query}"))
}

fn assert_plan(client: &mut Client, query: &str, expected: &str) {
    let plan = plan(client, query);
    assert_eq!(plan, expected.trim_matches('\n'), "{query}");
}

#[test]
fn conditions_go_below_grouping_and_into_subqueries() {
    let (_server, mut client) = setup();
    let client = &mut client;
    let grouped = "
HashAggregate
  Group Key: t.b
  Filter: (count(*) > 2)
  ->  Seq Scan on t
        Filter: (a = 3)";
    assert_plan(client, "select * from grouped where a = 3 and n > 2", grouped);
    let having = "
GroupAggregate
  Group Key: a
  ->  Seq Scan on t
        Filter: (a = 3)";
    assert_plan(client, "select a, max(b) from t group by a having a = 3", having);
    let either = "
Append
  ->  Index Scan using t_pkey on t
        Index Cond: (id = 3)
  ->  Index Scan using u_pkey on u
        Index Cond: (id = 3)";
    assert_plan(client, "select * from either where id = 3", either);
    let ranked = plan(client, "select * from ranked where a = 3 and r < 3");
    let run = "Run Condition: (row_number() OVER w1 < 3)";
    assert!(ranked.contains(run) && ranked.contains("Filter: (a = 3)"), "{ranked}");
    let wide = plan(client, "select * from wide where a = 3");
    assert!(wide.contains("Filter: ((a)::bigint = 3)") && wide.contains("Filter: (a = 3)"), "{wide}");
    let left_over = plan(client, "select * from left_over where a = 3");
    assert!(left_over.contains("Filter: (left_over.a = 3)"), "{left_over}");
    assert_eq!(client.value("select sum(n) from grouped where a = 3 and b < 9"), "81");
    assert_eq!(client.value("select count(*) from ranked where a = 3 and r < 3"), "2");
    assert_eq!(client.value("select count(*) from (select count(*) from t having false) s"), "0");
    assert_eq!(
        client.value("select count(*) from (select count(*) n from t where false having true) s"),
        "1"
    );
}

#[test]
fn conditions_stay_above_what_they_would_change() {
    let (_server, mut client) = setup();
    let client = &mut client;
    let limited = plan(client, "select * from (select a, id from t order by id limit 5) s where a = 1");
    assert!(limited.starts_with("Subquery Scan"), "{limited}");
    let volatile = plan(client, "select * from grouped where random() < a");
    assert!(!volatile.contains("Seq Scan on t\n"), "{volatile}");
    // Of a view that is a barrier, only what tells nothing.
    let told = plan(client, "select * from hidden where tell(b)");
    assert!(told.contains("Filter: tell(hidden.b)"), "{told}");
    let silent = plan(client, "select * from hidden where b = 7");
    assert!(!silent.contains("hidden.b"), "{silent}");
    // Texts that are equal, but not to the condition.
    assert_eq!(
        client.value("select count(*) from (select distinct x from cases) s where x = 'A' collate \"C\""),
        client.value(
            "select count(*) from (select distinct x from cases offset 0) s where x = 'A' collate \"C\""
        )
    );
}

#[test]
fn extremes_are_looked_up_in_indexes() {
    let (_server, mut client) = setup();
    let client = &mut client;
    let both = "
Result
  InitPlan 1
    ->  Limit
          ->  Index Only Scan using t_pkey on t
                Index Cond: (id IS NOT NULL)
  InitPlan 2
    ->  Limit
          ->  Index Only Scan Backward using t_pkey on t t_1
                Index Cond: (id IS NOT NULL)";
    assert_plan(client, "select min(id), max(id) from t", both);
    let having = "
Result
  One-Time Filter: ((InitPlan 1).col1 > 2)
  InitPlan 1
    ->  Limit
          ->  Index Only Scan Backward using t_b on t
                Index Cond: ((b IS NOT NULL) AND (b < 20))";
    assert_plan(client, "select max(b) + 1 from t where b < 20 having max(b) > 2", having);
    let correlated = plan(client, "select u.id, (select max(b) from t where t.b < u.a) from u");
    assert!(correlated.contains("  SubPlan 2\n    ->  Result\n          InitPlan 1\n"), "{correlated}");
    assert_plan(client, "select max(a) from t", "\nAggregate\n  ->  Seq Scan on t");
    assert_eq!(client.value("select max(b) + 1 from t where b < 20 having max(b) > 2"), "20");
    assert_eq!(client.value("select coalesce(max(id), -1) from t where id > 5000"), "-1");
    assert_eq!(client.value("select count(*) from (select max(id) from t having max(id) < 0) s"), "0");
    let sums = "select sum(m) from (select (select max(b) from t where t.b < u.a) m from u) s";
    let plain = "select sum(m) from (select (select max(b + 0) from t where t.b < u.a) m from u) s";
    assert_eq!(client.value(sums), client.value(plain));
}

#[test]
fn patterns_are_ranges_of_indexes() {
    let (_server, mut client) = setup();
    let client = &mut client;
    let prefix = "
Index Scan using u_x on u
  Index Cond: ((x >= 'ab2'::text) AND (x < 'ab3'::text))
  Filter: (x ~~ 'ab2%'::text)";
    run(client, &["insert into u select 1000 + i, i, 'ab2' || i from generate_series(1, 3) i"]);
    assert_plan(client, "select * from u where x like 'ab2%'", prefix);
    let exact = "
Index Scan using u_x on u
  Index Cond: (x = 'ab22'::text)
  Filter: (x ~ '^ab22$'::text)";
    assert_plan(client, "select * from u where x ~ '^ab22$'", exact);
    for (condition, count) in [
        ("x like 'ab2%'", "3"),
        ("x like 'ab_2'", "1"),
        ("x ^@ 'ab2'", "3"),
        ("x ~ '^ab2'", "3"),
        ("x ~ '^ab2*'", "3"),
        ("x ~ '^ab22$'", "1"),
        ("x like 'ab2_' or x like 'ab_1'", "3"),
        ("x ilike 'AB2%'", "3"),
        ("x not like 'ab2%'", "700"),
    ] {
        assert_eq!(client.value(&format!("select count(*) from u where {condition}")), count, "{condition}");
    }
    // An index in another order than that of bytes has no such ranges; its patterns have.
    run(
        client,
        &[
            "create table w (x text collate \"und-x-icu\")",
            "insert into w select 'w' || i from generate_series(1, 3000) i",
            "create index w_x on w (x)",
            "analyze w",
        ],
    );
    assert_plan(
        client,
        "select * from w where x like 'w12%'",
        "\nSeq Scan on w\n  Filter: (x ~~ 'w12%'::text)",
    );
    run(client, &["create index w_p on w (x text_pattern_ops)"]);
    let patterns = plan(client, "select * from w where x like 'w12%'");
    assert!(patterns.contains("Index Cond: ((x ~>=~ 'w12'::text) AND (x ~<~ 'w13'::text))"), "{patterns}");
    assert_eq!(client.value("select count(*) from w where x like 'w12%'"), "111");
    // Equal texts with other letters match a condition in a collation where they are equal.
    run(
        client,
        &["create index cases_x on cases (x collate \"C\" text_pattern_ops)", "set enable_seqscan = off"],
    );
    assert_eq!(client.value("select count(*) from cases where x like 'A'"), "2");
}

#[test]
fn joins_with_one_match_at_most() {
    let (_server, mut client) = setup();
    let client = &mut client;
    assert_plan(client, "select t.id from t left join u on t.b = u.id", "\nSeq Scan on t");
    let two = "select t.id from t left join u on t.b = u.id \
        left join (select distinct a from u) s on s.a = t.a left join (select max(id) m from u) x on true";
    assert_plan(client, two, "\nSeq Scan on t");
    let semi = plan(client, "select id from t where a in (select id from u where a > 3)");
    assert!(semi.starts_with("Hash Join\n"), "{semi}");
    let grouped = plan(client, "select id from t where a in (select a from u group by a)");
    assert!(grouped.starts_with("Hash Join\n"), "{grouped}");
    // What is asked for, what may match more than once, and what only seems unique, stays.
    for query in [
        "select t.id, u.a from t left join u on t.b = u.id",
        "select t.id from t left join u on t.b = u.id where u.a is null",
        "select t.id from t left join u on t.b = u.a",
        "select t.id from t left join u on t.b < u.id",
        "select t.id from t left join u on t.b = u.id order by u.a",
        "select t.id, (select u.a + 1) from t left join u on t.b = u.id",
        "select t.id from t left join (select distinct a, x from u) u on t.b = u.a",
    ] {
        let plan = plan(client, query);
        assert!(plan.contains("Join") || plan.contains("Nested Loop"), "{query}\n{plan}");
    }
    // Children have what their parent has not twice.
    run(
        client,
        &[
            "create table parent (id int primary key)",
            "create table child () inherits (parent)",
            "insert into parent values (1), (2)",
            "insert into child values (1), (1)",
            "create table strict (x text collate \"C\" unique)",
            "insert into strict values ('a'), ('A')",
        ],
    );
    assert_eq!(client.value("select count(*) from t left join parent p on t.id = p.id"), "2002");
    assert_eq!(client.value("select count(*) from t join parent p on t.id = p.id"), "4");
    assert_eq!(client.value("select count(*) from t where id in (select id from parent)"), "2");
    // Texts that are different are equal in another collation.
    assert_eq!(
        client.value("select count(*) from cases c left join strict s on c.x = s.x collate loose"),
        "5"
    );
    assert_eq!(client.value("select count(*) from t left join u on t.b = u.id"), "2000");
    assert_eq!(
        client.value("select count(*) from t where b in (select id from u where a > 3)"),
        client.value("select count(*) from t where b in (select id + 0 from u where a > 3)")
    );
}

/// What EXPLAIN ANALYZE says of a query, without what differs from run to run.
fn analyzed(client: &mut Client, query: &str) -> String {
    let options = "analyze, costs off, timing off, summary off, buffers off";
    let rows = client.query(&format!("explain ({options}) {query}")).unwrap();
    rows.iter().map(|row| row[0].clone().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

const RUNS: &[&str] = &[
    "create table runs as select i / 100 k, i % 7 v, i w from generate_series(1, 3000) i",
    "insert into runs select null, i % 3, -i from generate_series(1, 40) i",
    "create index runs_k on runs (k)",
    "create index runs_w on runs (w)",
    "analyze runs",
];

#[test]
fn rows_that_are_sorted_in_part_are_sorted_group_by_group() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, RUNS);
    let first = "
Limit
  ->  Incremental Sort
        Sort Key: k, v
        Presorted Key: k
        ->  Index Scan using runs_k on runs";
    assert_plan(client, "select * from runs order by k, v limit 5", first);
    let below = "
Incremental Sort
  Sort Key: t.b, t.a
  Presorted Key: t.b
  ->  Sort
        Sort Key: t.b
        ->  Seq Scan on t";
    run(client, &["set enable_indexscan = off", "set enable_bitmapscan = off"]);
    assert_plan(client, "select * from (select * from t order by b) s order by b, a", below);
    run(client, &["reset all"]);
    let window = "
Limit
  ->  WindowAgg
        Window: w1 AS (PARTITION BY k ORDER BY v ROWS UNBOUNDED PRECEDING)
        ->  Incremental Sort
              Sort Key: k, v
              Presorted Key: k
              ->  Index Scan using runs_k on runs";
    assert_plan(client, "select k, v, rank() over (partition by k order by v) from runs limit 9", window);
    // What comes in the other order, or sorted by another key, is of no help.
    for query in [
        "select * from (select * from t order by b desc) s order by b, a",
        "select * from (select * from t order by a) s order by b, a",
        "select * from (select * from t order by b for update) s order by b, a",
        "select * from (select id, c from t order by c collate \"C\" desc) s order by c, id",
    ] {
        let plan = plan(client, query);
        assert!(!plan.contains("Incremental"), "{query}\n{plan}");
    }
}

#[test]
fn a_limit_bounds_sorts_and_what_they_read() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, RUNS);
    let groups =
        analyzed(client, "select * from (select * from runs order by k) s order by k, v, w limit 150");
    let lines: Vec<&str> = groups.lines().map(str::trim).collect();
    let group = |label: &str| lines.iter().find(|line| line.starts_with(label)).copied().unwrap_or_default();
    assert!(
        group("Full-sort Groups:")
            .starts_with("Full-sort Groups: 2  Sort Method: quicksort  Average Memory: "),
        "{groups}"
    );
    assert!(
        group("Pre-sorted Groups:")
            .starts_with("Pre-sorted Groups: 2  Sort Method: quicksort  Average Memory: "),
        "{groups}"
    );
    assert!(groups.contains("on runs (actual rows=200.00 loops=1)"), "{groups}");
    let few = analyzed(client, "select * from (select * from t order by id) s order by id, a limit 7");
    assert!(
        few.contains("Full-sort Groups: 1  Sort Method: quicksort") && !few.contains("Pre-sorted"),
        "{few}"
    );
    assert!(few.contains("on t (actual rows=8.00 loops=1)"), "{few}");
    let json = "explain (analyze, costs off, timing off, summary off, buffers off, format json) \
        select * from (select * from runs order by k) s order by k, v limit 35";
    let json = client.value(json);
    for part in [
        "\"Full-sort Groups\": {",
        "\"Sort Methods Used\": [\"top-N heapsort\"]",
        "\"Peak Sort Space Used\": ",
    ] {
        assert!(json.contains(part), "{json}");
    }
    assert!(
        analyzed(client, "select * from t order by a limit 5")
            .contains("Sort Method: top-N heapsort  Memory: ")
    );
    assert!(
        analyzed(client, "select * from t order by a limit 1500")
            .contains("Sort Method: quicksort  Memory: ")
    );
    // How many rows are wanted changes from run to run; ties are nobody's bound.
    assert_eq!(
        client.value(
            "select string_agg(a::text, ' ') from generate_series(1, 4) n, \
            lateral (select a from (values (3), (1), (2), (4)) v (a) order by a limit n) s"
        ),
        "1 1 2 1 2 3 1 2 3 4"
    );
    assert_eq!(
        client.value("select count(*) from (select a from t order by a fetch first 3 rows with ties) s"),
        "200"
    );
}

/// A query's rows as they come, once with and once without a setting.
fn assert_same_without(client: &mut Client, setting: &str, queries: &[&str]) {
    for query in queries {
        let all = format!("select md5(string_agg(s::text, ';')) from ({query}) s");
        let with = client.value(&all);
        let shown = plan(client, query);
        run(client, &[&format!("set {setting} = off")]);
        assert_eq!(with, client.value(&all), "{query}\n{shown}");
        assert_ne!(shown, plan(client, query), "{query}");
        run(client, &["reset all"]);
    }
}

#[test]
fn groups_are_sorted_as_all_rows_are() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, RUNS);
    // Small groups, large ones, both; bounded in the middle of either; keys that are computed; other directions.
    run(
        client,
        &[
            "create table mixed as select case when i < 500 then i / 3 when i < 900 then 1000 else i end g, i * 37 % 1001 v \
        from generate_series(1, 1000) i",
            "create index on mixed (g)",
            "analyze mixed",
        ],
    );
    assert_same_without(
        client,
        "enable_incremental_sort",
        &[
            "select * from (select * from runs order by k) s order by k, v, w",
            "select * from (select * from runs order by k desc) s order by k desc, v desc, w",
            "select * from (select * from runs order by k nulls first) s order by k nulls first, v, w limit 77",
            "select * from (select * from runs order by w) s order by w, k limit 10 offset 31",
            "select * from (select * from mixed order by g) s order by g, v",
            "select * from (select * from mixed order by g) s order by g, v limit 600",
            "select * from (select * from mixed order by g) s order by g, v limit 170 offset 160",
            "select * from (select * from mixed order by g) s order by g, v % 10, v limit 333",
            "select * from (select * from mixed order by g desc) s order by g desc, v limit 120",
        ],
    );
    // A group larger than the memory is sorted in files.
    run(
        client,
        &[
            "create table wide_rows as select 1 k, i * 7919 % 20011 v, repeat('x', 100) pad from generate_series(1, 20000) i",
        ],
    );
    run(client, &["set work_mem = '64kB'"]);
    let sorted =
        "select * from (select * from (select * from wide_rows order by k) s order by k, v offset 0) s";
    assert!(plan(client, sorted).contains("Incremental Sort"));
    assert_eq!(
        client.value(&format!(
            "select count(*) from (select v, lag(v) over () before from ({sorted}) s) s where before > v"
        )),
        "0"
    );
    assert!(analyzed(client, sorted).contains("Sort Method: external merge  Average Disk: "));
}

const LOOPS: &[&str] = &[
    "create table big as select i id, i % 40 k, i % 7 v from generate_series(1, 4000) i",
    "create table small as select i id, i % 5 g, 'p' || i p from generate_series(1, 2000) i",
    "alter table small add primary key (id)",
    "create index on small (g)",
    "create table nums as select case when i % 2 = 0 then (i % 10)::numeric else (i % 10) * 1.00 end n, i from generate_series(1, 3000) i",
    "create table keys as select i::numeric n, i from generate_series(1, 3000) i",
    "create index on keys (n)",
    "analyze big, small, nums, keys",
    "set enable_hashjoin = off",
    "set enable_mergejoin = off",
];

#[test]
fn loops_keep_results_by_what_they_depend_on() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, LOOPS);
    let logical = "
Aggregate
  ->  Nested Loop
        ->  Seq Scan on big b
        ->  Memoize
              Cache Key: b.k
              Cache Mode: logical
              ->  Index Only Scan using small_pkey on small s
                    Index Cond: (id = b.k)";
    assert_plan(client, "select count(*) from big b join small s on s.id = b.k", logical);
    let binary = "
Aggregate
  ->  Nested Loop
        ->  Seq Scan on big b
        ->  Memoize
              Cache Key: b.v
              Cache Mode: binary
              ->  Index Only Scan using small_pkey on small s
                    Index Cond: (id <= b.v)";
    assert_plan(client, "select count(*) from big b join small s on s.id <= b.v", binary);
    let counted = |client: &mut Client, query: &str| {
        let shown = analyzed(client, query);
        let line = shown.lines().map(str::trim).find(|line| line.starts_with("Hits: "));
        line.unwrap_or_else(|| panic!("{shown}")).split("  Memory").next().unwrap_or_default().to_string()
    };
    for (query, expected) in [
        (
            "select count(*) from big b join small s on s.id = b.k",
            "Hits: 3960  Misses: 40  Evictions: 0  Overflows: 0",
        ),
        // 1 and 1.00 are one value.
        (
            "select count(*) from nums a join keys b on a.n = b.n",
            "Hits: 2990  Misses: 10  Evictions: 0  Overflows: 0",
        ),
        (
            "select count(*) from big b, lateral generate_series(1, b.v) g",
            "Hits: 3993  Misses: 7  Evictions: 0  Overflows: 0",
        ),
    ] {
        assert_eq!(counted(client, query), expected, "{query}");
    }
    let json = "explain (analyze, costs off, timing off, summary off, buffers off, format json) \
        select count(*) from big b join small s on s.id = b.k";
    let json = client.value(json);
    for part in [
        "\"Cache Key\": \"b.k\"",
        "\"Cache Hits\": 3960",
        "\"Cache Overflows\": 0",
        "\"Peak Memory Usage\": ",
    ] {
        assert!(json.contains(part), "{json}");
    }
    // Results that may be others the next time, or are not read to their end, are not kept.
    for query in [
        "select count(*) from big b, lateral (select random() r from generate_series(1, b.v) offset 0) g",
        "select count(*) from big b where exists (select from small s where s.g = b.k)",
        "select count(*) from small a join small b on a.id = b.id",
    ] {
        let plan = plan(client, query);
        assert!(!plan.contains("Memoize"), "{query}\n{plan}");
    }
    assert_eq!(
        client.value("select count(distinct r) > 1000 from big b, lateral (select random() r from generate_series(1, b.v)) g"),
        "t"
    );
}

#[test]
fn kept_results_are_what_the_inner_side_gives() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, LOOPS);
    let queries = [
        "select b.id, s.p from big b join small s on s.id = b.k order by 1",
        "select b.id, s.p from big b left join small s on s.id = b.k and s.g > 2 order by 1, 2",
        "select b.id, s.p from big b join small s on s.id <= b.v order by 1, 2",
        "select a.i, b.i from nums a join keys b on a.n = b.n order by 1, 2",
        "select b.id, x.p from big b, lateral (select s.p from small s where s.id < b.v offset 0) x order by 1, 2",
    ];
    for query in queries {
        let all = format!("select md5(string_agg(s::text, ';')) from ({query}) s");
        let shown = plan(client, query);
        assert!(shown.contains("Memoize"), "{query}\n{shown}");
        let with = client.value(&all);
        run(client, &["set enable_memoize = off"]);
        assert!(!plan(client, query).contains("Memoize"), "{query}");
        assert_eq!(with, client.value(&all), "{query}\n{shown}");
        run(client, &["reset enable_memoize"]);
    }
    // A cell that is no key: what was kept for its old value is not good for the new one.
    let outer = "select string_agg(n::text, ' ' order by o) from (select o, (select count(*) from \
        (select * from big limit 500) b, lateral (select 1 from small s where s.id < b.v + o offset 0) x) n \
        from generate_series(0, 3) o) s";
    let with = client.value(outer);
    run(client, &["set enable_memoize = off"]);
    assert_eq!(with, client.value(outer));
    run(
        client,
        &["reset enable_memoize", "prepare p as select count(*) from big b join small s on s.id = b.k"],
    );
    for (change, count) in
        [("select 1", "3900"), ("delete from small where id = 7", "3800"), ("select 1", "3800")]
    {
        run(client, &[change]);
        assert_eq!(client.value("execute p"), count, "{change}");
    }
}

#[test]
fn results_that_find_no_room_go_or_are_not_kept() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, LOOPS);
    run(
        client,
        &[
            "create table pages as select i % 300 k, i, repeat('y', 200) || i pad from generate_series(1, 6000) i",
            "insert into pages select 1000, i, repeat('z', 200) || i from generate_series(1, 2000) i",
            "create index on pages (k)",
            "create table visits as select case when i % 50 = 0 then 1000 else i % 100 end k from generate_series(1, 400) i",
            "analyze pages, visits",
            "set enable_bitmapscan = off",
        ],
    );
    let query =
        "select count(pad), sum(i) from visits v, lateral (select * from pages p where p.k = v.k offset 0) p";
    assert!(analyzed(client, query).contains("Hits: 301  Misses: 99  Evictions: 0  Overflows: 0  "));
    let roomy = client.query(query).unwrap();
    run(client, &["set work_mem = '64kB'", "set hash_mem_multiplier = 1"]);
    let shown = analyzed(client, query);
    // The large result never fits, and what it drove out before that is seen has to be read again.
    assert!(shown.contains("Hits: 0  Misses: 400  Evictions: 392  Overflows: 8  "), "{shown}");
    let tight = client.query(query).unwrap();
    assert_eq!(format!("{roomy:?}"), format!("{tight:?}"));
}

/// Values that ANALYZE has kept are tried, whatever type an expression calls the column's. The figures are PostgreSQL 18's.
#[test]
fn estimates_of_patterns_try_the_values_that_are_known() {
    let (_server, mut client) = setup();
    let client = &mut client;
    let setup = [
        r#"create table words (t text collate "C", v varchar(40) collate "C", c char(10) collate "C")"#,
        "insert into words select md5(i::text), md5(i::text), substr(md5(i::text), 1, 6) from generate_series(1, 5000) i",
        "insert into words select 'common', 'common', 'common' from generate_series(1, 1000)",
        "insert into words select null, null, null from generate_series(1, 500)",
        "analyze words",
    ];
    run(client, &setup);
    for (condition, rows) in [
        ("t like '%7%'", "4596"),
        ("t not like '%7%'", "1404"),
        ("t like 'a%'", "303"),
        ("t ilike '%C%'", "5596"),
        ("t ~ '[0-9]7'", "3687"),
        ("t !~ '[0-9]7'", "2313"),
        ("t ^@ 'c'", "1303"),
        ("v like '%7%'", "4596"),
        ("v not like '%7%'", "1404"),
        ("v ~ '^[0-4]'", "1566"),
        ("c like '%7%'", "1717"),
        ("c ~ '^[0-4]'", "1566"),
    ] {
        let plan = plan_with_costs(client, &format!("select * from words where {condition}"));
        assert!(plan.contains(&format!(" rows={rows} ")), "{condition}: {plan}");
    }
}

/// Keys of grouping sets, with what stands for one that is nowhere.
const KEYS: [(&str, &str); 3] = [("a", "null::int"), ("b", "null::int"), ("c", "null::text")];

/// The grouping of each set for itself, all of them together; `more` is computed too.
fn one_by_one(sets: &[Vec<&str>], more: &str) -> String {
    let query = |set: &Vec<&str>| {
        let bits = KEYS.iter().fold(0, |bits, (key, _)| bits << 1 | i32::from(!set.contains(key)));
        let columns = KEYS.map(|(key, null)| if set.contains(&key) { key } else { null }).join(", ");
        let by = if set.is_empty() { "()".into() } else { set.join(", ") };
        format!("select {columns}, {bits} g, {more} from s group by {by}")
    };
    sets.iter().map(query).collect::<Vec<_>>().join(" union all ")
}

/// The same with GROUPING SETS.
fn together(sets: &[Vec<&str>], more: &str) -> String {
    let known = |key: &str| sets.iter().any(|set| set.contains(&key));
    let columns = KEYS.map(|(key, null)| if known(key) { key } else { null }).join(", ");
    let bit = |(key, _): (&str, &str)| if known(key) { format!("grouping({key})") } else { "1".into() };
    let [a, b, c] = KEYS.map(bit);
    let listed = sets.iter().map(|set| format!("({})", set.join(", "))).collect::<Vec<_>>().join(", ");
    format!("select {columns}, {a} * 4 + {b} * 2 + {c} g, {more} from s group by grouping sets ({listed})")
}

#[test]
fn grouping_sets_are_the_same_hashed_sorted_and_both() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(
        client,
        &[
            "create table s as select id, nullif(a, 4) a, nullif(b, 7) b, c, d from t",
            "analyze s",
            "set hash_mem_multiplier = 1",
        ],
    );
    let all = |query: &str| format!("select md5(string_agg(x::text, ';' order by x::text)) from ({query}) x");
    let in_order = |query: &str| {
        format!(
            "select md5(string_agg((x.a, x.b, x.c)::text, ';')) from ({query} order by 1, 2, 3) x (a, b, c)"
        )
    };
    let mut random = crate::support::Random(3);
    for round in 0..crate::support::knob("STAMPEDE_GROUPING_SETS", 12) {
        let mut set = || {
            let mut keys = vec!["a", "b", "c"];
            keys.swap(0, random.below(3) as usize);
            keys.truncate(random.below(4) as usize);
            keys
        };
        let count = round % 5 + 1;
        let sets: Vec<Vec<&str>> = (0..count).map(|_| set()).collect();
        for more in ["count(*), sum(d), max(id)", "count(*), array_agg(distinct id % 3)"] {
            let query = together(&sets, more);
            let singly = client.value(&all(&one_by_one(&sets, more)));
            let ordered = client.value(&in_order(&one_by_one(&sets, more)));
            let modes =
                ["select 1", "set enable_hashagg = off", "set enable_sort = off", "set work_mem = '64kB'"];
            for mode in modes {
                run(client, &[mode]);
                assert_eq!(client.value(&all(&query)), singly, "{mode}: {query}");
                assert_eq!(client.value(&in_order(&query)), ordered, "{mode}: {query}");
                run(client, &["reset enable_hashagg", "reset enable_sort", "reset work_mem"]);
            }
        }
        // Of no rows there are the groups of empty sets.
        let nothing = together(&sets, "count(*)").replace(" from s ", " from s where false ");
        let empty = sets.iter().filter(|set| set.is_empty()).count();
        assert_eq!(
            client.value(&format!("select count(*) from ({nothing}) x")),
            empty.to_string(),
            "{nothing}"
        );
    }
}

/// Keys that can be hashed only and keys that can be sorted only, each in sets of its own, and beside others.
#[test]
fn grouping_sets_may_mix_keys_that_are_hashed_and_sorted_only() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(
        client,
        &[
            "create table mixed as select i % 2 k, (i % 3)::text::xid x, (i % 4)::bit(3) b from generate_series(1, 60) i",
            "insert into mixed values (1, null, null)",
        ],
    );
    for (sets, singly) in [
        (
            "(x), (b)",
            "select null::int, x, null::bit(3), count(*) from mixed group by x union all \
             select null, null, b, count(*) from mixed group by b",
        ),
        (
            "(k, x), (k, b), (k)",
            "select k, x, null::bit(3), count(*) from mixed group by k, x union all \
             select k, null, b, count(*) from mixed group by k, b union all \
             select k, null, null, count(*) from mixed group by k",
        ),
    ] {
        let key = if sets.contains('k') { "k" } else { "null::int" };
        let query = format!("select {key}, x, b, count(*) from mixed group by grouping sets ({sets})");
        let shown = plan(client, &query);
        assert!(shown.contains("MixedAggregate") && shown.contains("Hash Key: "), "{shown}");
        let all = |query: &str| format!("select string_agg(s::text, ' ' order by s::text) from ({query}) s");
        assert_eq!(client.value(&all(&query)), client.value(&all(singly)), "{query}");
    }
    let failure =
        client.error("select array_agg(k order by k) from mixed group by grouping sets ((k, x), (k))");
    assert_eq!(failure, "0A000 could not implement GROUP BY");
}

#[test]
fn grouping_sets_share_passes_over_sorted_rows() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, &["set enable_hashagg = off"]);
    let rollup = "
GroupAggregate
  Group Key: a, b
  Group Key: a
  Group Key: ()
  ->  Sort
        Sort Key: a, b
        ->  Seq Scan on t";
    assert_plan(client, "select a, b, sum(id) from t group by rollup (a, b) order by a, b", rollup);
    let two = "
GroupAggregate
  Group Key: a, b
  Group Key: a
  Sort Key: c
    Group Key: c
  Filter: (count(*) > 1)
  ->  Sort
        Sort Key: a, b
        ->  Seq Scan on t";
    assert_plan(
        client,
        "select a, b, c, count(*) from t group by grouping sets ((a), (c), (a, b)) having count(*) > 1",
        two,
    );
    run(client, &["reset enable_hashagg"]);
    run(client, &["set enable_sort = off", "set enable_seqscan = off", "set enable_bitmapscan = off"]);
    let query =
        "select id, a, c, count(*) from t group by grouping sets ((id), (a), (c), ()) having id < 900";
    let shown = plan(client, query);
    assert!(shown.contains("MixedAggregate") && !shown.contains("Sort Key"), "{shown}");
    let pushed = "
HashAggregate
  Hash Key: a, b
  Hash Key: a
  Filter: (b > 2)
  ->  Seq Scan on t
        Filter: (a = 1)";
    run(client, &["reset all"]);
    // NULLs of sets come last in what is sorted, which is not what is asked for.
    let first = "
Sort
  Sort Key: (1) NULLS FIRST
  ->  MixedAggregate
        Hash Key: 1
        Group Key: ()
        ->  Result";
    assert_plan(client, "select 1 as one group by rollup(one) order by one nulls first", first);
    assert_plan(
        client,
        "select a, b, count(*) from t group by grouping sets ((a, b), (a)) having a = 1 and b > 2",
        pushed,
    );
}

/// The rows of a query, sorted, in one line.
fn rows(client: &mut Client, query: &str) -> String {
    client.value(&format!("select string_agg(s::text, ' ' order by s::text) from ({query}) s"))
}

#[test]
fn unions_are_read_part_by_part() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, &["set enable_bitmapscan = off", "vacuum u"]);
    let joined = "
Nested Loop
  ->  Index Scan using t_pkey on t
        Index Cond: (id < 4)
  ->  Append
        ->  Index Scan using t_pkey on t t_1
              Index Cond: (id = t.id)
        ->  Index Scan using u_pkey on u
              Index Cond: (id = t.id)";
    assert_plan(client, "select * from t join either on t.id = either.id where t.id < 4", joined);
    let merged = "
Limit
  ->  Merge Append
        Sort Key: t.id
        ->  Index Scan using t_pkey on t
        ->  Index Scan using u_pkey on u";
    assert_plan(client, "select id, a from t union all select id, a from u order by id limit 9", merged);
    let known = "
Index Only Scan using u_pkey on u
  Index Cond: (id < 3)";
    let kinds = "(select 1 k, id from t where b < 9 union all select 2, id from u)";
    assert_plan(client, &format!("select id from {kinds} s where k = 2 and id < 3"), known);
    let never = "
Result
  One-Time Filter: false";
    assert_plan(client, &format!("select id from {kinds} s where k = 3"), never);
    run(
        client,
        &[
            "create table old (id int primary key, a int)",
            "create table older () inherits (old)",
            "create index on older (id)",
            "insert into old select i, i % 5 from generate_series(3000, 3500) i",
            "insert into older select i, i % 5 from generate_series(3501, 4000) i",
            "analyze old, older",
        ],
    );
    let tree = "
Append
  ->  Index Scan using t_pkey on t
        Index Cond: (id = 3777)
  ->  Index Scan using old_pkey on old
        Index Cond: (id = 3777)
  ->  Index Scan using older_id_idx on older old_1
        Index Cond: (id = 3777)";
    let with_tree = "(select id, a from t union all select id, a from old)";
    assert_plan(client, &format!("select * from {with_tree} s where id = 3777"), tree);
}

/// What is done with a union is the same whether its parts are read one by one or its rows are made first.
#[test]
fn unions_give_what_they_give_as_a_whole() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(
        client,
        &[
            "create table parted (id int, a int, c text) partition by range (id)",
            "create table low partition of parted for values from (0) to (50)",
            "create table high partition of parted for values from (50) to (200)",
            "insert into parted select i, i % 4, 'p' || i % 3 from generate_series(0, 120) i",
            "create index on parted (id)",
            "analyze parted",
        ],
    );
    let unions = [
        "select id, a, c from t union all select id, a, x from u",
        "select id, a, c from t where b < 5 union all select id, a, null from u where a is not null",
        "select id, 7 as a, 'x' as c from t union all select id, a, c from parted union all values (1, 2, 'v')",
        "select id, a, c from parted union all (select id, a, c from t union all select a, id, x from u)",
        "select a as id, a, c from t union all select distinct a, 1, 'd' from u",
        "select id, a, (select max(x) from u where u.id = t.id) as c from t union all select id, a, c from parted",
        "select t.id, u.a, c from t join u using (id) union all select id, a, c from parted where id between 40 and 60",
        "select id, a + 1 as a, upper(c) as c from parted union all select 5, null, null",
    ];
    let queries = [
        "select * from U where id = 50 and a > 0",
        "select a, count(*), min(c), max(id) from U group by a",
        "select * from U where a = 7 or c like 'p1%' order by id, a, c limit 30",
        "select * from (select * from U order by id desc, a, c limit 20) s",
        "select t.id, s.* from t left join U on s.id = t.id and s.a = 7 where t.id < 60",
        "select t.id, s.a, s.c from t left join U on s.a = t.id and s.id < 9 where t.id < 20",
        "select s.id, u.x from U join u on u.id = s.id where u.a = 3",
        "select id from u where exists (select from U where s.id = u.id and s.c > 'k2')",
        "select id from u where id not in (select id from U where id is not null)",
        "select t.id, l.n from t, lateral (select count(*) n from U where s.id = t.id) l where t.id < 15",
        "select t.id, l.* from t, lateral (select s.a, s.c from U where s.id = t.id offset 0) l where t.id < 15",
        "select s is null, s.id from U where s.id < 12",
        "select count(*) from U join U2 on s.id = s2.id",
        "select distinct a, c is null from U",
        "select id, row_number() over (partition by a order by id, c) from U where id < 100",
        "select max(id), min(id) from U",
        "select c from U where id in (3, 55, 119) for share of s",
    ];
    for union in unions {
        for query in queries {
            let with = |end: &str| {
                let first = query.replace("U2", &format!("({union}{end}) s2"));
                first.replace('U', &format!("({union}{end}) s")).replace(" for share of s", "")
            };
            let (parts, whole) = (with(""), with(" offset 0"));
            assert_eq!(rows(client, &parts), rows(client, &whole), "{parts}\n{}", plan(client, &parts));
        }
    }
    // At the top, with everything that a query may end with.
    for union in unions {
        for end in
            ["order by 1, 2, 3", "order by id desc, a, c limit 13", "order by c nulls first, 1, 2 offset 5"]
        {
            let list = |query: &str| format!("select string_agg(s::text, ' ') from ({query}) s");
            let top = format!("{union} {end}");
            let whole = format!("select * from ({union} offset 0) s {end}");
            assert_eq!(client.value(&list(&top)), client.value(&list(&whole)), "{top}");
        }
    }
}

#[test]
fn what_a_lateral_item_takes_is_read_from_the_table() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(
        client,
        &[
            "vacuum t, u",
            "set enable_hashjoin = off",
            "set enable_mergejoin = off",
            "set enable_bitmapscan = off",
        ],
    );
    // The index has only what the condition names.
    let query = "select count(*), sum(s.id) from t, lateral (select id from u where u.id = t.a offset 0) s where t.id < 100";
    assert_eq!(
        client.query(query).unwrap()[0],
        [Some("90".into()), Some("450".into())],
        "{}",
        plan(client, query)
    );
}

#[test]
fn groups_differ_in_no_more_keys_than_they_must() {
    let (_server, mut client) = setup();
    let client = &mut client;
    let determined = "
HashAggregate
  Group Key: t.id, u.x
  ->  Hash Join
        Hash Cond: (t.b = u.id)
        ->  Seq Scan on t
        ->  Hash
              ->  Seq Scan on u";
    run(client, &["alter table u alter x set not null", "analyze u"]);
    let query = "select t.*, u.x, u.a, count(*) from t join u on t.b = u.id group by t.id, t.a, t.b, t.c, t.d, u.x, u.a";
    assert_plan(client, query, determined);
    let plain = "select t.*, u.x, u.a, 1 from t join u on t.b = u.id";
    assert_eq!(rows(client, query), rows(client, plain));
    // What may be NULL more than once, or is not always so, determines nothing.
    for change in [
        "alter table u alter x drop not null",
        "alter table u alter x set not null, add constraint later unique (x) deferrable",
    ] {
        run(client, &[change]);
        let shown = plan(client, "select x, a from u group by x, a");
        let kept = change.contains("drop not null");
        assert_eq!(shown.contains("Group Key: x, a"), kept, "{shown}");
    }
    // Of equal columns one is enough, and those of one value are none.
    let equal = plan(
        client,
        "select t.b, u.id, count(*) from t join u on t.b = u.id and t.a = 3 group by t.b, u.id, t.a",
    );
    assert!(equal.contains("Group Key: t.b\n"), "{equal}");
    assert_eq!(client.value("select count(*) from (select a from t where a = 99 group by a) s"), "0");
    run(client, &["create table texts (x text collate loose primary key, y int)"]);
    let loose = plan(client, "select x, y from texts group by x, y");
    assert!(loose.contains("Group Key: x, y"), "{loose}");
}

#[test]
fn groups_are_sorted_as_rows_come_or_as_they_are_asked_for() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(
        client,
        &[
            "create index t_a_b on t (a, b)",
            "set enable_hashagg = off",
            "set enable_seqscan = off",
            "set enable_bitmapscan = off",
        ],
    );
    let by_index = "
GroupAggregate
  Group Key: a, b
  ->  Index Scan using t_a_b on t";
    assert_plan(client, "select b, a, max(id) from t group by b, a", by_index);
    let in_part = "
GroupAggregate
  Group Key: a, b, c
  ->  Incremental Sort
        Sort Key: a, b, c
        Presorted Key: a, b
        ->  Index Scan using t_a_b on t";
    assert_plan(client, "select c, b, a, max(id) from t group by c, b, a", in_part);
    let asked = "
GroupAggregate
  Group Key: b, a
  ->  Sort
        Sort Key: b DESC, a
        ->  Index Scan using t_a_b on t";
    assert_plan(client, "select a, b, max(id) from t group by a, b order by b desc, a", asked);
    assert_same_without(
        client,
        "enable_group_by_reordering",
        &["select * from (select b, a, max(id) from t group by b, a) s order by b, a, max"],
    );
}

#[test]
fn the_input_of_aggregates_is_sorted_for_most_of_them() {
    let (_server, mut client) = setup();
    let client = &mut client;
    let two_of_three = "
Aggregate
  ->  Sort
        Sort Key: b, id DESC
        ->  Seq Scan on t";
    let most = "select array_agg(a order by a), string_agg(c, ',' order by b), array_agg(id order by b, id desc) from t";
    assert_plan(client, most, two_of_three);
    let grouped = "
GroupAggregate
  Group Key: a
  ->  Sort
        Sort Key: a, b
        ->  Seq Scan on t";
    assert_plan(client, "select a, count(distinct b) from t group by a", grouped);
    // Not where computing the order could tell: it would be computed of more rows, or more often.
    for other in [
        "select array_agg(id order by random()) from t",
        "select array_agg(id order by 10 / a) filter (where a <> 0) from t",
        "select percentile_cont(0.5) within group (order by b) from t",
    ] {
        let shown = plan(client, other);
        assert!(!shown.contains("Sort"), "{shown}");
    }
    assert_same_without(
        client,
        "enable_presorted_aggregate",
        &[
            "select a, count(distinct b), sum(distinct b), array_agg(distinct b order by b desc) from t group by a order by a",
            "select string_agg(distinct c, '-' order by c), array_agg(distinct d order by d), count(distinct d) from t",
            "select array_agg(id order by b desc nulls last, id), array_agg(b order by b desc, id) filter (where a > 3) from t",
            "select array_agg(distinct d) filter (where b > 3) from t where d > 1",
            "select string_agg(x, ',' order by a desc, x), max(distinct x) from u",
            "select a, array_agg(distinct array[a, b]) from t group by a order by a",
        ],
    );
}

#[test]
fn subqueries_in_subqueries_that_are_joined_are_joined_too() {
    let (_server, mut client) = setup();
    let client = &mut client;
    // OFFSET keeps the innermost subquery apart.
    for (query, joins) in [
        ("select id from u where id < 40 and a in (select b from t where id in (select id from u v where x like 'c%' {}))", true),
        (
            "select id from u where id < 40 and a in (select b from t where d > (select 0.1 * sum(a) from u v where v.id = t.id)
             and exists (select from u w where w.id = t.id and w.x < 'd' {}))",
            true,
        ),
        ("select id from u where id < 40 and exists (select from t where b = u.a and id in (select v.id from u v where x > 'q' {}))", true),
        ("select id from u where id < 40 and not exists (select from t where b = u.a and not exists (select from u v where v.id = t.id + 3 {}))", true),
        ("select u.id, t.id from u left join (select * from t where b in (select a from u v where x > 'm' {})) t on t.id = u.id", true),
        ("select id from u where id < 40 and a in (select b from t where id in (select v.id from u v where v.a = u.a {}))", false),
        ("select id from u where id < 40 and exists (select from t where b = u.a and id < 90 and c in (select v.x from u v where v.id > u.id {}))", false),
    ] {
        let [joined, apart] = ["", "offset 0"].map(|last| query.replace("{}", last));
        let plan = plan(client, &joined);
        let apart_still = ["(ANY (", "(hashed SubPlan", "EXISTS(SubPlan"].iter().any(|test| plan.contains(test));
        assert_eq!(!apart_still, joins, "{joined}\n{plan}");
        assert_eq!(rows(client, &joined), rows(client, &apart), "{joined}");
    }
}
