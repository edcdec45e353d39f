//! Bitmap heap scans over batches: the answers, and the errors, of rows one after the other.
//!
//! `STAMPEDE_BITMAP_QUERIES` makes the run of random queries longer, `STAMPEDE_BITMAP_SEED` makes it another.

use crate::support::batches::{ALONE_AND_TOGETHER, EAGER, analyzed, answer, assert_same, assert_same_after};
use crate::support::{Client, Random, Server, knob, run};

const SETUP: &[&str] = &[
    "create extension btree_gist",
    "create table t (i int, r int, x text, n numeric, a int[], p point, late int)",
    "insert into t select g, g * 7919 % 6000, 'x' || g % 97, g % 100 / 10.0, array[g % 9, g % 11], point(g % 40, g % 60), \
     case when g % 3 > 0 then g % 50 end from generate_series(1, 6000) g",
    "create index on t (i)",
    "create index on t (r)",
    "create index on t (x)",
    "create index on t (late)",
    "create index on t using brin (i) with (pages_per_range = 4)",
    "create index on t using brin (n, i) with (pages_per_range = 2)",
    "create index on t using gin (a)",
    "create index on t using gist (p)",
    "create index on t using hash (x)",
    // Versions that nobody sees, HOT chains, rows that went elsewhere, a column from before rows had it.
    "delete from t where i between 1000 and 1100 or r % 37 = 0",
    "update t set n = n + 1 where i % 41 = 0",
    "update t set r = r + 1, late = null where i % 53 = 0",
    "alter table t add column z int default 5",
    "insert into t select g, g, 'late', 3, null, null, g % 5, g from generate_series(6001, 6300) g",
    // Values that are stored elsewhere, beside others that are not.
    "create table large (i int, x text)",
    "alter table large alter x set storage external",
    "insert into large select g, case g % 300 when 0 then repeat('y', 5000) else 'x' || g % 10 end from generate_series(1, 4000) g",
    "create index on large (i)",
    "create index on large using brin (i) with (pages_per_range = 1)",
    "create table small (k int, title text)",
    "insert into small select g, 'k' || g from generate_series(1, 60) g",
    "analyze",
    "set enable_seqscan = off",
    "set enable_indexscan = off",
    "set enable_indexonlyscan = off",
    "set enable_mergejoin = off",
    "set enable_nestloop = off",
];

/// Without one kind of index, others answer.
const WITHOUT: &[&[&str]] = &[&[], &["drop index t_i_idx", "drop index large_i_idx", "drop index t_x_idx"]];

const QUERIES: &[&str] = &[
    "select count(*), sum(i), min(x) from t where i between 900 and 2500",
    "select count(*) from t where i > 3000",
    "select count(*) from t where i between 500 and 5000 and n > 4",
    "select x, count(*), avg(n) from t where r between 100 and 3000 group by x",
    "select late, count(*), sum(r) from t where i < 4000 and late is not null group by late",
    "select count(*), sum(z), count(late) from t where i > 5500",
    "select sum(r) from t where a @> '{3}'",
    "select sum(r), count(*) from t where a && '{1,2}' and n < 5",
    "select count(*), max(x) from t where p <@ box '(0,0),(30,30)'",
    "select sum(i) from t where i < 1500 or r > 4000",
    "select sum(i) from t where (i < 1500 or i > 4000) and r < 5000",
    "select sum(i), count(*) from t where i between 700 and 4700 and r between 300 and 4000",
    "select x, sum(i) from t where x in ('x1', 'x7', 'x9', 'late', 'none') group by x",
    "select sum(i) from t where x = 'x5' or late = 7",
    "select count(*) from t where late is null",
    "select sum(i), count(*) from t where n between 2 and 3 and i < 4000",
    "select title, count(*), sum(i) from t join small on k = late where i between 100 and 4500 group by title",
    "select title, i from t left join small on k = late where r between 100 and 1500",
    "select count(*), sum(k) from small where k in (select late from t where i between 100 and 3500)",
    "select distinct late from t where r < 3000",
    "select count(*), max(x), min(length(x)) from large where i between 200 and 3500",
    "select length(x), count(*), sum(i) from large where i between 200 and 3500 and x > 'x3' group by 1",
    "select count(*) from large where i < 3000 and x like 'y%'",
    "select count(*) from t where i < 4000 and n > (select avg(n) from t where i < 500)",
    "select count(*) from t where i < 4000 and random() >= 0",
    "select count(*), max(tableoid::regclass::text) from t where i < 4000",
    "select count(*) from t where i < 4000 and ctid > '(3,3)'",
    "select count(*) from t where i between 3000 and 2000",
    "select count(*) from t where i > null",
    "select sum((select count(*) from t b where b.i between a.k * 50 and a.k * 50 + 900)) from small a",
    // Errors.
    "select count(*) from t where i < 3000 and 10 / (i - 2777) > 1",
    "select count(*) from t where i < 3000 and i <> 2777 and 10 / (i - 2777) > 1",
    "select x, sum(100 / (i - 2777)) from t where i < 3000 group by x",
    "select sum(i * 1000000) from t where i < 3000",
    "select max(x::int) from t where i < 3000",
    "select sum(i) from t where i < 3000 and a[1] / (late - 7) >= 0",
];

fn filled(server: &Server) -> Client {
    let mut client = server.client();
    run(&mut client, SETUP);
    client
}

#[test]
fn queries_have_the_answers_of_rows() {
    let server = Server::start(&[]);
    let (mut client, mut other) = (filled(&server), server.client());
    for without in WITHOUT {
        run(&mut client, without);
        for pass in 0..3 {
            for query in QUERIES {
                assert_same(&mut client, query);
            }
            match pass {
                0 => run(
                    &mut other,
                    &["begin", "delete from t where i % 19 = 0", "update t set n = n + 1 where i % 23 = 0"],
                ),
                _ => run(&mut other, &["rollback", "vacuum t"]),
            }
        }
    }
}

#[test]
fn answers_are_those_of_whole_tables() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    for without in WITHOUT {
        run(&mut client, without);
        for query in QUERIES {
            let by_bitmap = answer(&mut client, query);
            run(&mut client, &["set enable_bitmapscan = off; set enable_seqscan = on"]);
            let whole = answer(&mut client, query);
            run(&mut client, &["reset enable_bitmapscan; set enable_seqscan = off"]);
            assert_eq!(by_bitmap, whole, "{query}");
        }
    }
}

#[test]
fn explain_counts_what_batches_hold() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    run(&mut client, &["drop index t_i_idx", "analyze t"]);
    for (query, blocks) in [
        ("select x, count(*) from t where i between 800 and 2500 and late > 3 group by x", "lossy="),
        ("select x, count(*) from t where r between 800 and 2500 and late > 3 group by x", "exact="),
        ("select count(*), sum(i) from t where (r < 1500 or late = 7) and n > 2", "exact="),
    ] {
        run(&mut client, &["set stampede.batch_execution = on"]);
        let batches = analyzed(&mut client, query);
        let whole = batches.as_str();
        assert!(whole.contains("Bitmap Heap Scan") && whole.contains("Row Batches: "), "{whole}");
        assert!(whole.contains("Heap Blocks: ") && whole.contains(blocks), "{whole}");
        assert!(whole.contains("Rows Removed by Filter: "), "{whole}");
        assert_eq!(whole.contains("Rows Removed by Index Recheck: "), blocks == "lossy=", "{whole}");
        run(&mut client, &["set stampede.batch_execution = off"]);
        let rows = analyzed(&mut client, query);
        // What a group takes, and how often a page is looked up, are not the same.
        let told = |plan: &str| -> Vec<String> {
            let differs = |line: &&str| {
                ["Row Batches", "Memory Usage", "Buffers"].iter().any(|part| line.contains(part))
            };
            plan.lines().filter(|line| !differs(line)).map(str::to_owned).collect()
        };
        assert_eq!(told(&batches), told(&rows), "{query}");
    }
}

#[test]
fn participants_that_share_a_bitmap_have_the_answers_of_one() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    run(&mut client, EAGER);
    let shared = "select count(*), sum(i) from t where r between 300 and 4000 and x > 'x3'";
    for without in WITHOUT {
        run(&mut client, without);
        for (batches, leader) in [("on", "on"), ("off", "on"), ("on", "off"), ("off", "off")] {
            run(
                &mut client,
                &[
                    &format!("set stampede.batch_execution = {batches}"),
                    &format!("set parallel_leader_participation = {leader}"),
                ],
            );
            for query in QUERIES {
                assert_same_after(&mut client, ALONE_AND_TOGETHER, query);
            }
            let plan = analyzed(&mut client, shared);
            for part in
                ["Parallel Bitmap Heap Scan on public.t", "Workers Launched: 4", "Heap Blocks: exact="]
            {
                assert!(plan.contains(part), "no {part:?} in {plan}");
            }
            assert_eq!(plan.contains("Row Batches: "), batches == "on", "{plan}");
            let index = plan.lines().find(|line| line.contains("Bitmap Index Scan")).unwrap_or_default();
            assert!(index.contains("loops=1"), "{plan}");
        }
    }
}

#[test]
fn a_shared_bitmap_scan_that_takes_long_is_cancelled() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    run(&mut client, EAGER);
    run(
        &mut client,
        &[
            "create table same (k int, i int)",
            "insert into same select 1, i from generate_series(1, 60000) i",
            "create index on same (i)",
            "analyze same",
            ALONE_AND_TOGETHER[1],
            "set statement_timeout = '300ms'",
        ],
    );
    let query = "select count(*) from same a join same b on a.k = b.k and a.k + b.k > 2 + a.k % 2 where a.i between 100 and 59000";
    let plan = client.query(&format!("explain {query}")).unwrap();
    let plan: Vec<String> = plan.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect();
    assert!(plan.iter().any(|line| line.contains("Parallel Bitmap Heap Scan")), "{plan:?}");
    for (batches, leader) in [("on", "on"), ("off", "on"), ("on", "off"), ("off", "off")] {
        run(
            &mut client,
            &[
                &format!("set stampede.batch_execution = {batches}"),
                &format!("set parallel_leader_participation = {leader}"),
            ],
        );
        assert_eq!(answer(&mut client, query).unwrap_err().0, "57014", "batches {batches}, leader {leader}");
    }
}

#[test]
fn scans_of_few_rows_go_row_by_row() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    let plan = analyzed(&mut client, "select count(*), sum(i) from t where r in (5, 900, 1800, 2700)");
    assert!(plan.contains("Bitmap Heap Scan") && !plan.contains("Row Batches"), "{plan}");
}

#[test]
fn serializable_transactions_watch_what_batches_read() {
    let server = Server::start(&[]);
    let mut setup = filled(&server);
    run(&mut setup, &["create table found (n bigint)", "set enable_seqscan = on"]);
    for condition in ["r between 10 and 3000", "n between 2 and 3 and i < 4000"] {
        let sum = format!("insert into found select sum(i) from t where {condition}");
        let (mut one, mut two) = (server.client(), server.client());
        let settings = "set enable_seqscan = off; set enable_indexscan = off; set enable_indexonlyscan = off";
        for client in [&mut one, &mut two] {
            run(client, &[settings, "begin isolation level serializable"]);
            run(client, &[&sum]);
        }
        // Each changes a row that the other has read.
        run(
            &mut one,
            &[&format!(
                "update t set i = i + 0, z = z + 1 where i = (select min(i) from t where {condition})"
            )],
        );
        run(
            &mut two,
            &[&format!(
                "update t set i = i + 0, z = z + 1 where i = (select max(i) from t where {condition})"
            )],
        );
        run(&mut one, &["commit"]);
        let failed = answer(&mut two, "commit").unwrap_err();
        assert_eq!(failed.0, "40001", "{condition}");
    }
}

/// A random aggregation of what a bitmap of `t` names.
fn query(random: &mut Random) -> String {
    let part = |random: &mut Random| {
        let (at, width) = (random.below(6000), 200 + random.below(3000));
        match random.below(7) {
            0 | 1 => format!("i between {at} and {}", at + width),
            2 | 3 => format!("r between {at} and {}", at + width),
            4 => format!("a @> '{{{}}}'", at % 11),
            5 => format!("late < {}", at % 50),
            _ => format!("x in ('x{}', 'x{}', 'x{}')", at % 97, at % 89, at % 83),
        }
    };
    let (one, two) = (part(random), part(random));
    let condition = match random.below(4) {
        0 => format!("{one} and {two}"),
        1 => format!("({one} or {two})"),
        _ => one,
    };
    let filter = match random.below(5) {
        0 => " and n > 5".to_owned(),
        1 => " and x like '%1%'".to_owned(),
        2 => format!(" and 10 / (i - {}) < 5", random.below(9000)),
        _ => String::new(),
    };
    match random.below(3) {
        0 => format!("select late, count(*), sum(r), min(x) from t where {condition}{filter} group by late"),
        1 => format!(
            "select title, count(*), sum(n) from t join small on k = late where {condition}{filter} group by title"
        ),
        _ => format!("select count(*), sum(i), max(x), avg(n) from t where {condition}{filter}"),
    }
}

#[test]
fn random_queries_have_the_answers_of_rows() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    let mut random = Random(knob("STAMPEDE_BITMAP_SEED", 11));
    for _ in 0..knob("STAMPEDE_BITMAP_QUERIES", 200) {
        assert_same(&mut client, &query(&mut random));
    }
}

#[test]
fn bitmaps_that_outgrow_memory_name_pages() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (i int, r int, n int)",
            "insert into t select g, g * 7919 % 60000, g % 10 from generate_series(1, 60000) g",
            "create index on t (r)",
            "create index on t (n)",
            "analyze t",
            "set enable_seqscan = off; set enable_indexscan = off; set enable_indexonlyscan = off",
        ],
    );
    for condition in
        ["r < 30000", "r < 30000 and n < 3", "r < 15000 or n = 4", "r between 1000 and 50000 and n in (1, 5)"]
    {
        let query = format!("select count(*), sum(i), max(r) from t where {condition}");
        for batches in ["on", "off"] {
            run(&mut client, &[&format!("set stampede.batch_execution = {batches}"), "reset work_mem"]);
            let exact = answer(&mut client, &query).unwrap();
            let plan = analyzed(&mut client, &query);
            assert!(plan.contains("Bitmap Heap Scan") && !plan.contains("lossy"), "{plan}");
            run(&mut client, &["set work_mem = '64kB'"]);
            assert_eq!(answer(&mut client, &query).unwrap(), exact, "{condition}");
            let plan = analyzed(&mut client, &query);
            assert!(plan.contains("lossy="), "{plan}");
        }
    }
    let plan = analyzed(&mut client, "select count(*) from t where r < 30000");
    assert!(plan.contains("Bitmap Index Scan on t_r_idx (actual rows=30000.00"), "{plan}");
}
