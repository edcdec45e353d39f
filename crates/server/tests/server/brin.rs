//! BRIN indexes through a client: what they find is what the table has, before and after a crash, whoever inserts meanwhile.

use crate::support::{Client, Failure, Server, run, until};

const TABLE: [&str; 2] = [
    "create table t (id int, a int4, b int8, t text collate \"C\", n numeric, d timestamptz, x float4, c \"char\") with (autovacuum_enabled = off)",
    "insert into t select i, i / 7, nullif(i % 50, 3), lpad(i::text, 6, '0'), i / 10.0, timestamptz '2026-01-01' + i * interval '1 minute', \
     i / 3.0, chr(65 + i % 20)::\"char\" from generate_series(1, 12000) i",
];

const INDEXES: [&str; 3] = [
    "create index on t using brin (a, t, n, d, x) with (pages_per_range = 2)",
    "create index concurrently on t using brin (b, c)",
    "create index on t using brin (lower(t), id) with (pages_per_range = 1) where a < 1000",
];

const CONDITIONS: [&str; 16] = [
    "a = 17",
    "a between 300 and 310",
    "a < 20::int8",
    "a >= 1700::int2",
    "b is null",
    "b is not null and a < 3",
    "b = 3",
    "t = '000500'",
    "t < '000020'",
    "t >= '011990'",
    "n = 117.3",
    "d > '2026-01-09' and d < '2026-01-09 02:00'",
    "x < 10::float8",
    "c = 'C' and a < 50",
    "a = 5 or a = 1500",
    "lower(t) = '000123' and a < 1000",
];

/// Every condition finds the same rows by the table and by an index.
fn compare(client: &mut Client) {
    for condition in CONDITIONS {
        let mut answers = Vec::new();
        for way in ["seqscan", "bitmapscan"] {
            let other = if way == "seqscan" { "bitmapscan" } else { "seqscan" };
            run(client, &[&format!("set enable_{way} = on"), &format!("set enable_{other} = off")]);
            let query = format!("select count(*), sum(id) from t where {condition}");
            answers.push(client.query(&query).unwrap());
            let plan = client.query(&format!("explain {query}")).unwrap();
            let bitmap =
                plan.iter().any(|row| row[0].as_ref().is_some_and(|line| line.contains("Bitmap Heap Scan")));
            assert_eq!(bitmap, way == "bitmapscan", "{condition}: {plan:?}");
        }
        assert!(answers[0] == answers[1], "{condition}: {answers:?}");
    }
    run(client, &["reset enable_seqscan", "reset enable_bitmapscan"]);
}

#[test]
fn indexes_find_what_the_table_has() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &INDEXES);
    compare(&mut client);
    run(&mut client, &["insert into t select id + 12000, a + 5, b, t || 'x', n, d, x, c from t"]);
    compare(&mut client);
    run(
        &mut client,
        &[
            "delete from t where id % 3 = 0",
            "vacuum analyze t",
            "update t set a = 17, t = '' where id % 500 = 1",
        ],
    );
    compare(&mut client);
    server.kill();
    server.run();
    let mut client = server.client();
    compare(&mut client);
    run(&mut client, &["reindex table t", "insert into t select * from t limit 500"]);
    compare(&mut client);
    run(&mut client, &["reindex table concurrently t"]);
    compare(&mut client);
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn only_pages_of_matching_ranges_are_read() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(
        &mut client,
        &[
            "create index i on t using brin (id) with (pages_per_range = 1)",
            "vacuum analyze t",
            "set enable_seqscan = off",
        ],
    );
    let plan = client
        .query("explain (analyze, costs off, timing off, buffers off) select * from t where id = 5000")
        .unwrap();
    let text: Vec<String> = plan.into_iter().filter_map(|row| row[0].clone()).collect();
    assert!(text.iter().any(|line| line.trim() == "Heap Blocks: lossy=1"), "{text:#?}");
    assert!(text.iter().any(|line| line.contains("Bitmap Index Scan on i")), "{text:#?}");
}

#[test]
fn ranges_are_summarized_while_sessions_insert() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (id int, a int) with (autovacuum_enabled = off)",
            "create index i on t using brin (a) with (pages_per_range = 1)",
        ],
    );
    std::thread::scope(|threads| {
        for session in 0..4 {
            let server = &server;
            threads.spawn(move || {
                let mut client = server.client();
                for round in 0..15 {
                    let from = session * 100_000 + round * 300;
                    run(
                        &mut client,
                        &[&format!("insert into t select i, i from generate_series({from}, {from} + 299) i")],
                    );
                }
            });
        }
        let server = &server;
        threads.spawn(move || {
            let mut client = server.client();
            for round in 0..20 {
                run(
                    &mut client,
                    &[
                        "select brin_summarize_new_values('i')",
                        &format!("select brin_desummarize_range('i', {round})"),
                    ],
                );
            }
        });
    });
    server.kill();
    server.run();
    let mut client = server.client();
    run(&mut client, &["select brin_summarize_new_values('i')", "set enable_seqscan = off"]);
    for session in 0..4 {
        let from = session * 100_000;
        let count = client.value(&format!("select count(*) from t where a between {from} and {from} + 4499"));
        assert_eq!(count, "4500");
    }
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn what_a_brin_index_cannot_be_is_refused() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &["create table t (a int, p point)", "create index b on t (a)", "create index i on t using brin (a)"],
    );
    for (statement, message) in [
        ("create unique index on t using brin (a)", "access method \"brin\" does not support unique indexes"),
        (
            "create index on t using brin (a) include (p)",
            "access method \"brin\" does not support included columns",
        ),
        ("create index on t using brin (a desc)", "access method \"brin\" does not support ASC/DESC options"),
        (
            "create index on t using brin (p)",
            "data type point has no default operator class for access method \"brin\"",
        ),
        (
            "create index on t using brin (a) with (pages_per_range = 0)",
            "value 0 out of bounds for option \"pages_per_range\"",
        ),
        ("select brin_summarize_new_values('t')", "\"t\" is not an index"),
        ("select brin_summarize_new_values('b')", "\"b\" is not a BRIN index"),
        ("select brin_summarize_range('i', -1)", "block number out of range: -1"),
        ("select brin_desummarize_range('i', 4294967296)", "block number out of range: 4294967296"),
    ] {
        match client.query(statement) {
            Err(Failure::Error { message: found, .. }) => assert_eq!(found, message, "{statement}"),
            other => panic!("{statement}: {other:?}"),
        }
    }
}

#[test]
fn filters_and_intervals_find_what_the_table_has() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(
        &mut client,
        &[
            "create index f on t using brin (a int4_bloom_ops, b int8_bloom_ops (n_distinct_per_range = 60, false_positive_rate = 0.001), t text_bloom_ops, \
             n numeric_bloom_ops, d timestamptz_bloom_ops, x float4_bloom_ops, c char_bloom_ops) with (pages_per_range = 2)",
            "create index m on t using brin (a int4_minmax_multi_ops (values_per_range = 8), b int8_minmax_multi_ops, n numeric_minmax_multi_ops, \
             d timestamptz_minmax_multi_ops, x float4_minmax_multi_ops) with (pages_per_range = 2)",
            "create index on t using brin (lower(t) text_bloom_ops) where a < 1000",
            "create index on t using brin (t)",
        ],
    );
    compare(&mut client);
    run(&mut client, &["insert into t select id + 12000, a + 5, b, t || 'x', n, d, x, c from t", "vacuum t"]);
    compare(&mut client);
    run(
        &mut client,
        &[
            "update t set a = 17, t = '' where id % 500 = 1",
            "delete from t where id % 3 = 0",
            "vacuum analyze t",
        ],
    );
    compare(&mut client);
    server.kill();
    server.run();
    let mut client = server.client();
    compare(&mut client);
    drop(client);
    server.stop();
    server.assert_sound();
}

/// How many pages of the table a query with one index looks at.
fn pages_read(client: &mut Client, condition: &str) -> u32 {
    let plan = client.query(&format!(
        "explain (analyze, costs off, timing off, buffers off) select * from t where {condition}"
    ));
    let lines = plan.unwrap().into_iter().filter_map(|row| row[0].clone());
    lines.filter_map(|line| line.trim().strip_prefix("Heap Blocks: lossy=")?.parse().ok()).next().unwrap_or(0)
}

#[test]
fn few_pages_are_read_where_values_lie_far_apart() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (i int, far int, s text) with (autovacuum_enabled = off)",
            "insert into t select i, case when i % 100 = 0 then 1000000 else i end, md5(i::text) from generate_series(1, 20000) i",
            "vacuum analyze t",
            "set enable_seqscan = off",
        ],
    );
    let total: u32 = client.value("select pg_relation_size('t') / 8192").parse().unwrap();
    for (class, condition, most) in [
        ("far int4_minmax_ops", "far = 30000", total),
        ("far int4_minmax_multi_ops", "far = 30000", 0),
        ("far int4_minmax_multi_ops", "far = 777", 6),
        ("s text_minmax_ops", "s = md5('500')", total),
        ("s text_bloom_ops (n_distinct_per_range = 400)", "s = md5('500')", 20),
    ] {
        run(&mut client, &[&format!("create index i on t using brin ({class}) with (pages_per_range = 4)")]);
        let read = pages_read(&mut client, condition);
        assert!(
            read <= most && (most < total || read * 2 > total),
            "{class}, {condition}: {read} of {total}"
        );
        run(&mut client, &["drop index i"]);
    }
}

#[test]
fn options_of_operator_classes_are_kept_and_checked() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (a int, s text, p point) partition by range (a)",
            "create table t1 partition of t for values from (0) to (10)",
            "create index i on t using brin (a int4_minmax_multi_ops (values_per_range = 16), s text_bloom_ops (false_positive_rate = 0.1))",
            "create table like_t1 (like t1 including all)",
        ],
    );
    let part =
        "a int4_minmax_multi_ops (values_per_range='16'), s text_bloom_ops (false_positive_rate='0.1')";
    for (index, table) in
        [("i", "ONLY public.t"), ("t1_a_s_idx", "public.t1"), ("like_t1_a_s_idx", "public.like_t1")]
    {
        let text = client.value(&format!("select pg_get_indexdef('{index}'::regclass)"));
        assert_eq!(text, format!("CREATE INDEX {index} ON {table} USING brin ({part})"));
    }
    let options = "select string_agg(attoptions::text, ' ' order by attnum) from pg_attribute where attrelid = 't1_a_s_idx'::regclass";
    assert_eq!(client.value(options), "{values_per_range=16} {false_positive_rate=0.1}");
    run(&mut client, &["reindex index concurrently t1_a_s_idx"]);
    assert_eq!(client.value(options), "{values_per_range=16} {false_positive_rate=0.1}");
    for (key, message) in [
        (
            "a int4_minmax_multi_ops (values_per_range = 7)",
            "value 7 out of bounds for option \"values_per_range\"",
        ),
        (
            "a int4_bloom_ops (n_distinct_per_range = -1.1)",
            "value -1.1 out of bounds for option \"n_distinct_per_range\"",
        ),
        (
            "a int4_bloom_ops (false_positive_rate = x)",
            "invalid value for floating point option \"false_positive_rate\": x",
        ),
        ("a int4_bloom_ops (siglen = 7)", "unrecognized parameter \"siglen\""),
        ("a int4_minmax_ops (siglen = 7)", "operator class int4_minmax_ops has no options"),
    ] {
        let error = client.error(&format!("create index on t1 using brin ({key})"));
        assert!(error.contains(message), "{key}: {error}");
    }
}

#[test]
fn ranges_are_summarized_once_rows_come_to_the_next_one() {
    let server = Server::start_with_upkeep(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (i int) with (autovacuum_enabled = off)",
            "create index i on t using brin (i) with (pages_per_range = 2, autosummarize = on)",
            "insert into t select generate_series(1, 3000)",
            "set enable_seqscan = off",
        ],
    );
    let total: u32 = client.value("select pg_relation_size('t') / 8192").parse().unwrap();
    assert!(total > 6, "{total}");
    // The first ranges, and the last, which nobody has gone beyond.
    until("summaries", || pages_read(&mut client, "i = 7") <= 4);
    assert!(
        client.error("create index on t (i) with (autosummarize = on)").contains("unrecognized parameter")
    );
}
