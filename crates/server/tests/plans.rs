//! Plans that rules of the planner lead to, as PostgreSQL shows them, and that their rows are those of the plain way.

mod support;

use support::{Client, Server, run};

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
  Group Key: t.a, t.b
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
    assert!(ranked.contains("Filter: (ranked.r < 3)") && ranked.contains("Filter: (a = 3)"), "{ranked}");
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
                Index Cond: ((b < 20) AND (b IS NOT NULL))";
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
