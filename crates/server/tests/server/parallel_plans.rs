//! Plans with parts that several participants run, as EXPLAIN shows them.

use crate::support::{Client, Server, run};

const SETUP: &[&str] = &[
    "create table t (id int, a int, b text, d numeric) with (fillfactor = 10, autovacuum_enabled = off)",
    "insert into t select i, i % 5, 'b' || i % 7, i * 0.5 from generate_series(1, 3000) i",
    "create table u (k int primary key, v text) with (parallel_workers = 0)",
    "insert into u select i, 'v' || i from generate_series(0, 99) i",
    "create temp table own as select id from t",
    "create type mood as enum ('sad', 'glad')",
    "create table moods (m mood, n int) with (parallel_workers = 2)",
    "insert into moods values ('sad', 1)",
    "create function plus(int) returns int language plpgsql immutable as 'begin return $1 + 1; end'",
    "create table parts (k int, n int) partition by list (k)",
    "create table part_1 partition of parts for values in (1)",
    "create table part_2 partition of parts for values in (2)",
    "insert into parts select i % 2 + 1, i from generate_series(1, 1000) i",
    "analyze",
    "set min_parallel_table_scan_size = 0",
    "set parallel_setup_cost = 0",
    "set parallel_tuple_cost = 0",
];

/// A session for which workers cost nothing.
fn filled(server: &Server) -> Client {
    let mut client = server.client();
    run(&mut client, SETUP);
    client
}

fn lines(s: &mut Client, statement: &str) -> String {
    let rows = s.query(statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
    rows.iter().map(|row| row[0].clone().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn plan(s: &mut Client, query: &str) -> String {
    lines(s, &format!("explain (costs off) {query}"))
}

fn assert_plans(s: &mut Client, plans: &[(&str, &str)]) {
    for (query, expected) in plans {
        assert_eq!(plan(s, query), expected.trim(), "{query}");
    }
}

#[test]
fn rows_of_large_tables_are_gathered() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    assert_plans(
        s,
        &[
            (
                "select * from t where a = 3",
                "
Gather
  Workers Planned: 2
  ->  Parallel Seq Scan on t
        Filter: (a = 3)",
            ),
            (
                "select b, v from t join u on a = k where id < 1000",
                "
Gather
  Workers Planned: 2
  ->  Hash Join
        Hash Cond: (t.a = u.k)
        ->  Parallel Seq Scan on t
              Filter: (id < 1000)
        ->  Hash
              ->  Seq Scan on u",
            ),
            (
                "select t.b, v from t left join u on id % 1000 = k and v > 'v5' where a < 3",
                "
Gather
  Workers Planned: 2
  ->  Hash Left Join
        Hash Cond: ((t.id % 1000) = u.k)
        ->  Parallel Seq Scan on t
              Filter: (a < 3)
        ->  Hash
              ->  Seq Scan on u
                    Filter: (v > 'v5'::text)",
            ),
            (
                "select count(*) from parts where n > 5",
                "
Finalize Aggregate
  ->  Gather
        Workers Planned: 2
        ->  Partial Aggregate
              ->  Append
                    ->  Parallel Seq Scan on part_1 parts_1
                          Filter: (n > 5)
                    ->  Parallel Seq Scan on part_2 parts_2
                          Filter: (n > 5)",
            ),
        ],
    );
}

#[test]
fn aggregates_are_merged_of_those_of_each_participant() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    assert_plans(
        s,
        &[
            (
                "select count(*), sum(d) from t where a = 3",
                "
Finalize Aggregate
  ->  Gather
        Workers Planned: 2
        ->  Partial Aggregate
              ->  Parallel Seq Scan on t
                    Filter: (a = 3)",
            ),
            (
                "select a + 1, count(*) from t group by a + 1 having count(*) > 2 order by 1",
                "
Sort
  Sort Key: ((a + 1))
  ->  Finalize HashAggregate
        Group Key: ((a + 1))
        Filter: (count(*) > 2)
        ->  Gather
              Workers Planned: 2
              ->  Partial HashAggregate
                    Group Key: (a + 1)
                    ->  Parallel Seq Scan on t",
            ),
        ],
    );
    let verbose =
        lines(s, "explain (verbose, costs off) select b, avg(a) filter (where id > 5) from t group by b");
    let expected = "
Finalize HashAggregate
  Output: b, avg(a) FILTER (WHERE (id > 5))
  Group Key: t.b
  ->  Gather
        Output: b, (PARTIAL avg(a) FILTER (WHERE (id > 5)))
        Workers Planned: 2
        ->  Partial HashAggregate
              Output: b, PARTIAL avg(a) FILTER (WHERE (id > 5))
              Group Key: t.b
              ->  Parallel Seq Scan on public.t
                    Output: b, a, id";
    assert_eq!(verbose, expected.trim());
}

#[test]
fn bitmaps_are_found_once_and_their_pages_shared() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    run(
        s,
        &[
            "create index t_id on t (id)",
            "create index t_d on t using brin (d) with (pages_per_range = 4)",
            "set enable_seqscan = off",
            "set enable_indexscan = off",
            "set enable_indexonlyscan = off",
        ],
    );
    assert_plans(
        s,
        &[
            (
                "select * from t where id between 500 and 1500",
                "
Gather
  Workers Planned: 2
  ->  Parallel Bitmap Heap Scan on t
        Recheck Cond: ((id >= 500) AND (id <= 1500))
        ->  Bitmap Index Scan on t_id
              Index Cond: ((id >= 500) AND (id <= 1500))",
            ),
            (
                "select count(*), sum(d) from t where d between 500 and 1000 and b > 'b3'",
                "
Finalize Aggregate
  ->  Gather
        Workers Planned: 2
        ->  Partial Aggregate
              ->  Parallel Bitmap Heap Scan on t
                    Recheck Cond: ((d >= '500'::numeric) AND (d <= '1000'::numeric))
                    Filter: (b > 'b3'::text)
                    ->  Bitmap Index Scan on t_d
                          Index Cond: ((d >= '500'::numeric) AND (d <= '1000'::numeric))",
            ),
            (
                "select count(*) from t where id < 500 or id > 2500",
                "
Finalize Aggregate
  ->  Gather
        Workers Planned: 2
        ->  Partial Aggregate
              ->  Parallel Bitmap Heap Scan on t
                    Recheck Cond: ((id < 500) OR (id > 2500))
                    ->  BitmapOr
                          ->  Bitmap Index Scan on t_id
                                Index Cond: (id < 500)
                          ->  Bitmap Index Scan on t_id
                                Index Cond: (id > 2500)",
            ),
        ],
    );
    let json = lines(s, "explain (format json, costs off) select * from t where id between 500 and 1500");
    assert!(json.contains("\"Node Type\": \"Bitmap Heap Scan\""), "{json}");
    assert_eq!(json.matches("\"Parallel Aware\": true").count(), 1, "{json}");
}

#[test]
fn sorted_parts_are_merged() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    assert_plans(
        s,
        &[
            (
                "select * from t order by d",
                "
Gather Merge
  Workers Planned: 2
  ->  Sort
        Sort Key: d
        ->  Parallel Seq Scan on t",
            ),
            (
                "select id, b from t where a = 3 order by b desc, id limit 10",
                "
Limit
  ->  Gather Merge
        Workers Planned: 2
        ->  Sort
              Sort Key: b DESC, id
              ->  Parallel Seq Scan on t
                    Filter: (a = 3)",
            ),
            (
                "select b, v from t join u on a = k order by v, t.id",
                "
Gather Merge
  Workers Planned: 2
  ->  Sort
        Sort Key: u.v, t.id
        ->  Hash Join
              Hash Cond: (t.a = u.k)
              ->  Parallel Seq Scan on t
              ->  Hash
                    ->  Seq Scan on u",
            ),
            (
                "select id, row_number() over (order by d) from t",
                "
WindowAgg
  Window: w1 AS (ORDER BY d ROWS UNBOUNDED PRECEDING)
  ->  Gather Merge
        Workers Planned: 2
        ->  Sort
              Sort Key: d
              ->  Parallel Seq Scan on t",
            ),
            (
                "select distinct on (b) b, id from t order by b, id",
                "
Unique
  ->  Gather Merge
        Workers Planned: 2
        ->  Sort
              Sort Key: b, id
              ->  Parallel Seq Scan on t",
            ),
            (
                "select b, string_agg(d::text, ',' order by d) from t group by b",
                "
GroupAggregate
  Group Key: b
  ->  Gather Merge
        Workers Planned: 2
        ->  Sort
              Sort Key: b, d
              ->  Parallel Seq Scan on t",
            ),
        ],
    );
    for query in ["select id from t order by random()", "select id from t order by id::regclass::text"] {
        let plan = plan(s, query);
        assert!(!plan.contains("Merge"), "{query}\n{plan}");
    }
    let json = lines(s, "explain (format json, costs off) select id from t order by id");
    assert!(json.contains("\"Gather Merge\"") && !json.contains("Single Copy"), "{json}");
    run(s, &["set enable_gathermerge = off"]);
    let plan = plan(s, "select * from t order by d");
    assert!(!plan.contains("Merge"), "{plan}");
}

#[test]
fn rows_are_made_distinct_by_each_participant() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    assert_plans(
        s,
        &[
            (
                "select distinct b from t where id < 2000 order by b",
                "
Unique
  ->  Gather Merge
        Workers Planned: 2
        ->  Sort
              Sort Key: b
              ->  HashAggregate
                    Group Key: b
                    ->  Parallel Seq Scan on t
                          Filter: (id < 2000)",
            ),
            (
                "select distinct id from t",
                "
HashAggregate
  Group Key: id
  ->  Gather
        Workers Planned: 2
        ->  Parallel Seq Scan on t",
            ),
        ],
    );
    run(s, &["set enable_sort = off"]);
    assert_plans(
        s,
        &[(
            "select distinct b from t",
            "
HashAggregate
  Group Key: b
  ->  Gather
        Workers Planned: 2
        ->  HashAggregate
              Group Key: b
              ->  Parallel Seq Scan on t",
        )],
    );
    for query in ["select distinct random() from t", "select distinct on (b) b from t"] {
        let plan = plan(s, query);
        assert!(plan.matches("HashAggregate").count() < 2, "{query}\n{plan}");
    }
}

#[test]
fn subqueries_with_one_value_are_read_by_all() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    let first = plan(s, "select count(*) from t where a > (select count(*) from u where k < 3)");
    for part in ["Finalize Aggregate", "Gather", "InitPlan 1", "Filter: (a > (InitPlan 1).col1)"] {
        assert!(first.contains(part), "no {part:?} in {first}");
    }
    let second = plan(s, "select id from t where a = (select k from u where u.k = t.a)");
    assert!(second.contains("SubPlan 1") && !second.contains("Gather"), "{second}");
}

#[test]
fn other_formats_say_who_takes_part() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    let json = lines(s, "explain (format json, costs off) select count(*) from t");
    for part in [
        "\"Partial Mode\": \"Finalize\"",
        "\"Partial Mode\": \"Partial\"",
        "\"Workers Planned\": 2",
        "\"Single Copy\": false",
        "\"Node Type\": \"Seq Scan\"",
        "\"Parallel Aware\": true",
    ] {
        assert!(json.contains(part), "{part}: {json}");
    }
    let yaml = lines(s, "explain (format yaml, costs off) select * from t");
    assert!(yaml.contains("Node Type: \"Gather\"") && yaml.contains("Parallel Aware: true"), "{yaml}");
}

#[test]
fn what_only_the_session_can_do_is_not_shared() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    for query in [
        "select * from own",
        "select * from t where random() < 0.5",
        "select * from t where plus(a) = 2",
        "select plus(a) from t",
        "select ctid from t",
        "select * from t where id::regclass::text = 't'",
        "select * from moods where m < 'glad'",
        "select * from t for update",
        "select set_config('search_path', b, false) from t",
        "insert into u select id + 100, b from t",
        "with x as (insert into u values (-1, '') returning k) select * from t, x",
        "select (select count(*) from t where t.a = u.k) from u limit 0",
    ] {
        let plan = plan(s, query);
        assert!(!plan.contains("Gather"), "{query}\n{plan}");
    }
    for query in [
        "select count(distinct a) from t",
        "select array_agg(a order by id) from t",
        "select a, count(*) from t group by rollup (a)",
        "select rank(3) within group (order by a) from t",
    ] {
        let plan = plan(s, query);
        assert!(!plan.contains("Partial"), "{query}\n{plan}");
    }
    let cursor = lines(s, "explain (costs off) declare c cursor for select * from t");
    assert!(!cursor.contains("Gather"), "{cursor}");
}

#[test]
fn a_worker_runs_whole_plans_if_that_is_asked_for() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    run(s, &["set min_parallel_table_scan_size = '1GB'", "set debug_parallel_query = on"]);
    let query = "select v, count(*) from u where k > 96 group by v order by v limit 2";
    let whole = "
Gather
  Workers Planned: 1
  Single Copy: true
  ->  Limit
        ->  GroupAggregate
              Group Key: v
              ->  Sort
                    Sort Key: v
                    ->  Seq Scan on u
                          Filter: (k > 96)";
    assert_plans(s, &[(query, whole)]);
    let options = "analyze, costs off, timing off, summary off, buffers off";
    let analyzed = lines(s, &format!("explain ({options}) {query}"));
    assert!(analyzed.contains("Workers Launched: 1") && analyzed.contains("rows=2.00"), "{analyzed}");
    for (query, expected) in [
        (query, "v97"),
        ("select string_agg(v, ',' order by k desc) from u where k < 3", "v2,v1,v0"),
        ("select sum(k) over (order by k) from u order by 1 desc limit 1", "4950"),
        ("select x.v from u x, lateral (select y.k from u y where y.k = x.k + 1) z where z.k = 5", "v4"),
        ("select 1 / (k - 1) from u where k = 3 union all select 8", "0\n8"),
    ] {
        assert!(plan(s, query).contains("Single Copy: true"), "{query}");
        let first = lines(s, query);
        assert!(first.starts_with(expected), "{query}: {first}");
    }
    assert!(s.query("select 1 / (k - 3) from u").is_err());
    for query in [
        "select * from own",
        "select plus(k) from u",
        "select random() from u",
        "select nextval('u_seq')",
        "with x as materialized (select k from u) select * from x, x y",
        "select (select v from u y where y.k = x.k) from u x",
        "select generate_series(1, k) from u",
        "select * from u for update",
        "insert into u values (-5, '')",
    ] {
        run(s, &["create sequence if not exists u_seq"]);
        let plan = plan(s, query);
        assert!(!plan.contains("Gather"), "{query}\n{plan}");
    }
    run(s, &["set debug_parallel_query = regress"]);
    assert!(!plan(s, query).contains("Gather"));
    assert!(lines(s, query).starts_with("v97"));
    run(s, &["set debug_parallel_query = off"]);
    assert!(!plan(s, query).contains("Gather"));
}

#[test]
fn settings_and_options_say_how_many_workers_there_are() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    let mut workers = |settings: &str| {
        let plan = lines(s, &format!("{settings}; explain (costs off) select * from t"));
        plan.lines().find_map(|line| line.trim().strip_prefix("Workers Planned: ").map(str::to_owned))
    };
    assert_eq!(workers("set max_parallel_workers_per_gather = 1").as_deref(), Some("1"));
    assert_eq!(workers("set max_parallel_workers_per_gather = 0"), None);
    assert_eq!(
        workers("set max_parallel_workers_per_gather = 8; alter table t set (parallel_workers = 5)")
            .as_deref(),
        Some("5")
    );
    assert_eq!(workers("alter table t set (parallel_workers = 0)"), None);
    assert_eq!(
        workers("alter table t reset (parallel_workers); set min_parallel_table_scan_size = '1GB'"),
        None
    );
}

#[test]
fn what_only_the_session_knows_is_not_guessed() {
    let server = Server::start(&[]);
    let s = &mut filled(&server);
    run(s, &["set default_text_search_config = 'english'"]);
    for (query, expected) in [
        ("select count(*) from t where to_tsvector(b || ' running') @@ 'run'::tsquery", "3000"),
        ("select count(*) from pg_class where oid::regclass::text in ('t', 'u', 'moods')", "3"),
        ("select count(*) from pg_class where format('%s', oid::regclass) = 't'", "1"),
    ] {
        assert_eq!(lines(s, query), expected, "{query}");
    }
}
