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
