//! Aggregations over batches: the answers, and the errors, of rows one after the other.
//!
//! Every query runs with `stampede.batch_execution` on and off. `STAMPEDE_COLUMNS_QUERIES` makes the run of random queries longer, `STAMPEDE_COLUMNS_SEED`
//! makes it another.

use crate::support::batches::{analyzed, assert_same};
use crate::support::{Random, Server, knob, run};

const SETUP: &[&str] = &[
    "create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    "create table t (i int, s smallint, b bigint, d date, f float8, r real, n numeric, x text, c char(4), l bool, z timestamp, o oid, \
     q \"char\", u uuid, w text collate loose, v varchar(8), m money, k interval)",
    "insert into t select g, g % 7, g::bigint * 4000000000, date '2020-01-01' + g % 40, g * 0.25, g % 9, g % 100 / 10.0, 'x' || g % 23, \
     'c' || g % 3, g % 2 = 0, timestamp '2020-01-01' + g % 50 * interval '1 hour', g % 11, chr(65 + g % 4)::\"char\", \
     ('00000000-0000-0000-0000-0000000000' || lpad((g % 13)::text, 2, '0'))::uuid, case g % 4 when 0 then 'Ab' when 1 then 'aB' else 'c' end, \
     'v' || g % 5, g % 17, g % 6 * interval '1 day' from generate_series(1, 3000) g",
    // Extremes, what is not a number, both zeros, values that are not short.
    "insert into t values (2147483647, 32767, 9223372036854775807, 'infinity', 'nan', 'nan', 'nan', '', '', null, 'infinity', 4294967295, '', null, 'AB', '', '92233720368547758.07', '1 month'), \
     (-2147483648, -32768, -9223372036854775808, '-infinity', '-infinity', '-infinity', '-infinity', repeat('long ', 40), 'a   ', true, '-infinity', 0, 'z', null, null, null, null, null), \
     (0, 0, 0, '2020-01-01', '-0', '-0', '1e30', 'x1', 'a', false, '2020-01-01', 1, 'a', null, 'ab', 'v1', 0, '0'), \
     (0, 0, 0, '2020-01-01', '0', '0', '1.000', 'x1', 'a', false, '2020-01-01', 1, 'a', null, 'ab', 'v1 ', 0, '0')",
    "insert into t (i) select null from generate_series(1, 5)",
    "insert into t select case when g % 3 > 0 then g end, case when g % 4 > 0 then g end, case when g % 5 > 0 then g end, null, \
     case when g % 3 > 0 then g / 3.0 end, null, case when g % 2 > 0 then g / 7.0 end, case when g % 3 > 0 then 'x' || g % 5 end, \
     case when g % 2 > 0 then 'c' end from generate_series(1, 900) g",
    // Rows from before a column was added, a column that is gone, dead versions.
    "alter table t add column late int",
    "alter table t drop column s",
    "insert into t (i, x, late) select g, 'late', g % 5 from generate_series(5000, 5400) g",
    "delete from t where i between 100 and 150",
    "update t set n = n + 1, x = x || 'u' where i between 200 and 260",
    // Values that are stored elsewhere, on a page with others that are not.
    "create table large (i int, x text)",
    "alter table large alter x set storage external",
    "insert into large select g, case g % 500 when 0 then repeat('y', 5000) else 'x' || g % 10 end from generate_series(1, 4000) g",
    "create table huge (i int, f float8)",
    "insert into huge select g, 1e308 from generate_series(1, 2000) g",
    "create table wide (g int, x text)",
    "insert into wide select g % 5000, 'some text ' || g % 5000 from generate_series(1, 20000) g",
    "create table nothing (i int, x text)",
    "analyze",
];

/// Queries whose scans give batches.
const QUERIES: &[&str] = &[
    "select count(*) from t",
    "select count(*), count(i), count(x), count(late) from t",
    "select sum(i), avg(i), min(i), max(i) from t where i < 1000000 and i > -1000000",
    "select sum(b), avg(b), min(b), max(b) from t",
    "select sum(f), avg(f), min(f), max(f) from t where f < 1e9 and f > -1e9",
    "select sum(f), avg(f), min(f), max(f) from t",
    "select sum(r), avg(r), min(r), max(r) from t where i > 0",
    "select sum(n), avg(n), min(n), max(n) from t where n < 1e20 and n > -1e20",
    "select sum(n), avg(n), min(n), max(n) from t",
    "select min(d), max(d), min(z), max(z), min(o), max(o), min(m), max(m) from t",
    "select min(x), max(x), min(c), max(c), min(v), max(v), min(w), max(w) from t",
    "select min(d), max(d) from t where d > '-infinity' and d < 'infinity'",
    "select bool_and(l), bool_or(l), bit_and(i), bit_or(i), bit_xor(i) from t where i > 5",
    "select min(f), max(f) from t where f = 0",
    "select sum(i + 1), sum(i - late), sum(b * 2) from t where i between 1 and 900 and b < 1000000000000000000",
    "select sum(n * 2 + i), avg(f * 2), max(length(x)) from t where i < 1000",
    "select count(*) from t where i = 5 or d = '2020-01-05' or x is null",
    "select count(*) from t where not (i = 5 or i > 100)",
    "select count(*) from t where not (x = 'x1' and late is null) and (i > 3) is not true",
    "select count(*) from t where (i > 10 and f < 100) or (x like 'x1%' and not l)",
    "select count(*) from t where x like 'x_' or x not like '%1%'",
    "select count(*) from t where x like '%u' and x ~ '1'",
    "select count(*) from t where x = 'x1'",
    "select count(*) from t where x <> 'x1'",
    "select count(*) from t where x < 'x2'",
    "select count(*) from t where x collate \"C\" >= 'x2'",
    "select count(*) from t where c = 'a'",
    "select count(*) from t where c > 'a'",
    "select count(*) from t where w = 'AB'",
    "select count(*) from t where w like 'A%'",
    "select count(*) from t where v = 'v1'",
    "select count(*) from t where f = 'nan'",
    "select count(*) from t where f > 5",
    "select count(*) from t where r < f",
    "select count(*) from t where n > 3",
    "select count(*) from t where o > 3000000000",
    "select count(*) from t where q = 'a'",
    "select count(*) from t where l",
    "select count(*) from t where not l",
    "select count(*) from t where l is null",
    "select count(*) from t where u = '00000000-0000-0000-0000-000000000003'",
    "select count(*) from t where z >= '2020-01-02' and z < 'infinity'",
    "select count(*) from t where m > 3::money",
    "select count(*) from t where k > '1 day'",
    "select count(*) from t where d > '2020-01-20 12:00'::timestamp",
    "select count(*) from t where i in (1, 2, 3) or late in (2, null)",
    "select count(*) from t where i = null",
    "select count(*) from t where late is distinct from 3",
    "select count(*) from t where case when i > 0 then 10 / i > 1 end",
    "select count(*) filter (where i > 100), sum(i) filter (where x = 'x3'), count(*) from t where b > 0",
    "select late, count(*), sum(i), avg(f), min(x) from t group by late",
    "select d, count(*), sum(i) filter (where i > 500), max(f) from t group by d",
    "select x, count(*), sum(n) from t group by x",
    "select c, count(*) from t group by c",
    "select w, count(*) from t group by w",
    "select v, c, count(*) from t group by v, c",
    "select f, count(*) from t group by f",
    "select r, count(*) from t group by r",
    "select n, count(*) from t group by n",
    "select u, l, count(*) from t group by u, l",
    "select q, o, count(*) from t group by q, o",
    "select k, count(*) from t group by k",
    "select m, z, count(*) from t group by m, z",
    "select i % 10, count(*), sum(b) from t where b between 0 and 1000000000000000 group by i % 10",
    "select i + 1, count(*) from t where i < 90 group by 1 having count(*) > 0",
    "select lower(x), count(*), avg(n) from t where i > 0 group by 1",
    "select distinct x from t",
    "select distinct late, l from t",
    "select distinct f from t where f = 0",
    "select count(distinct x), string_agg(x, ',' order by i) from t where i < 50",
    "select x, array_agg(i order by i) from t where i < 90 group by x",
    "select d, rank(3) within group (order by i) from t group by d",
    "select late, grouping(late), count(*) from t group by grouping sets ((late), ())",
    "select count(*) from t where i > (select avg(i) from t where i < 100)",
    "select count(*), sum(i) from t where i > (select min(late) * 100 from t where late > 2)",
    "select sum(i + (select max(late) from t)), max(x) from t where i < 1000 and f < (select max(r) * 10 from t where i < 90)",
    "select x, count(*) from t where x > (select min(x) from t where late = 3) group by x",
    "select late, count(*) from t where x like (select '%' || max(i % 7) from large) or n > (select avg(n) from t where i < 90) group by late",
    "select count(*) from t where late < (select max(i) from nothing) or i = 7",
    "select count(*) from t where exists (select from large where i > 3999) and i < 2000",
    "select count(*) from t where late = any (array(select late from t where i between 5001 and 5003))",
    "select (select max(i) from t a where a.late > (select min(late) + b.i % 3 from t)) from t b where b.i between 5000 and 5005",
    "select count(*) from t where i = 123456789 and late > (select 1 / count(*) from nothing)",
    "select count(*) from t where (i = 123456789 and late > (select 1 / count(*) from nothing)) or i = 7",
    "select count(*) from t where random() >= 0",
    "select (select count(*) from t a where a.late = b.late) from t b where b.i between 5000 and 5010",
    "select count(*), sum(i), max(x), min(length(x)) from large",
    "select count(*) from large where x like 'y%'",
    "select x, count(*) from large group by x",
    "select length(x), count(*), sum(i) from large group by 1",
    "select count(*) from large where i > 3990 and x <> ''",
    "select g, count(*), sum(g), min(x) from wide group by g",
    "select x, count(*) from wide group by x",
    "select g, x, avg(g) from wide group by g, x",
    "select distinct g, x from wide",
    "select distinct g::numeric, x from wide where g % 3 > 0",
    "select g, count(*) filter (where x like '%7'), max(x), min(g) from wide group by g having count(*) > 3",
    "select g % 4000, x, sum(g) filter (where g > 10), count(*) from wide group by 1, 2",
    "select count(*), sum(g) from (select distinct g, x from wide union select g, x from wide) s",
    "select sum(c), sum(m) from (select x, count(*) as c, max(g) as m from wide group by x) s",
    "select i, count(*), sum(b), max(x) from t group by i",
    "select x, i, late, count(*), avg(f) from t where f < 1e9 and f > -1e9 group by x, i, late",
    "select i, length(x), min(x) from large group by 1, 2",
    "select x, max(i), count(*) from large group by x",
    "select g, sum(1000 / (g - 4990)) from wide group by g",
    "select count(*), sum(i), min(x), avg(i) from nothing",
    "select x, count(*) from nothing group by x",
    "select count(*) from t where false",
    "select tableoid::regclass, count(*) from t group by 1",
    "select count(*) from t where ctid > '(1,1)'",
    "select max(t.*::text) from t",
    // Errors.
    "select count(*) from t where i > 77 and late > (select 1 / count(*) from nothing)",
    "select count(*) from t where i > (select i from large where i < 3)",
    "select sum(f) from huge",
    "select avg(f) from huge",
    "select i % 2, sum(f) from huge group by 1",
    "select count(*) from t where 10 / (i - 77) > 1",
    "select count(*) from t where i <> 77 and 10 / (i - 77) > 1",
    "select count(*) from t where i <> 77 or 10 / (i - 77) > 1",
    "select sum(i * 1000000) from t",
    "select sum(b * 4) from t where b > 0",
    "select i / late, count(*) from t group by 1",
    "select count(*) filter (where 1 / late > 0) from t",
    "select sum(i + 2147483647), count(1 / late) from t where i > 5000",
    "select count(1 / late), sum(i + 2147483647) from t where i > 5000",
    "select count(*) from t where x like 'x1\\'",
    "select sum(m) from t",
    "select max(x::int) from t",
];

#[test]
fn queries_have_the_answers_of_rows() {
    let server = Server::start(&[]);
    let (mut client, mut other) = (server.client(), server.client());
    run(&mut client, SETUP);
    for pass in 0..2 {
        for query in QUERIES {
            assert_same(&mut client, query);
            let little = "set work_mem = '64kB'; set hash_mem_multiplier = 1";
            run(&mut client, &[little]);
            assert_same(&mut client, query);
            run(&mut client, &["reset work_mem; reset hash_mem_multiplier"]);
        }
        if pass == 0 {
            // Pages that are all visible, and those that are not.
            run(&mut client, &["vacuum t", "delete from t where i between 500 and 510"]);
            run(
                &mut other,
                &["begin", "delete from t where i = 400", "insert into t (i, x) values (77, 'x1')"],
            );
        }
    }
}

#[test]
fn explain_counts_what_batches_hold() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, SETUP);
    let query = "select x, count(*) from t where i > 100 group by x";
    let batches = analyzed(&mut client, query);
    assert!(batches.contains("Row Batches: "), "{batches}");
    run(&mut client, &["set stampede.batch_execution = off"]);
    let rows = analyzed(&mut client, query);
    // What a group takes is not the same.
    let told = |text: &str| -> Vec<String> {
        let own = |line: &&str| !line.contains("Row Batches") && !line.contains("Memory Usage");
        text.lines().filter(own).map(String::from).collect()
    };
    assert_eq!(told(&batches), told(&rows));
    assert!(batches.contains("Memory Usage: "), "{batches}");
    assert!(rows.contains("Rows Removed by Filter: ") && rows.contains("Buffers: shared hit="), "{rows}");
    // Counters of the table, with batches and without.
    let counts = "select pg_stat_force_next_flush(), seq_scan, seq_tup_read from pg_stat_user_tables where relname = 'huge'";
    run(&mut client, &["select pg_stat_reset()", "select count(*) from huge where i > 7"]);
    let by_rows = client.query(counts).unwrap();
    run(
        &mut client,
        &[
            "set stampede.batch_execution = on",
            "select pg_stat_reset()",
            "select count(*) from huge where i > 7",
        ],
    );
    assert_eq!(client.query(counts).unwrap(), by_rows);
    let initial = "select count(*) from t where i > (select max(i) / 2 from large)";
    let plan = analyzed(&mut client, initial);
    let (above, below) = plan.split_once("InitPlan 1").unwrap();
    assert!(!above.contains("Row Batches") && below.matches("Row Batches").count() == 2, "{plan}");
}

/// A random condition over the columns of `t`.
fn condition(random: &mut Random, depth: u32) -> String {
    if depth > 0 && random.below(3) == 0 {
        let (a, b) = (condition(random, depth - 1), condition(random, depth - 1));
        return match random.below(4) {
            0 => format!("not ({a})"),
            1 => format!("(({a}) is not true)"),
            2 => format!("({a} and {b})"),
            _ => format!("({a} or {b})"),
        };
    }
    let op = ["=", "<>", "<", "<=", ">", ">="][random.below(6) as usize];
    let at = random.below(1000);
    match random.below(14) {
        0 => format!("i {op} {at}"),
        1 => format!("i + late {op} {at}"),
        2 => format!("b {op} {at}000000000"),
        3 => format!("d {op} date '2020-01-01' + {}", at % 40),
        4 => format!("f {op} {at} / 4.0"),
        5 => format!("r {op} f"),
        6 => format!("n {op} {} / 10.0", at % 100),
        7 => format!("x {op} 'x{}'", at % 30),
        8 => format!("x like '%{}'", at % 30),
        9 => format!("c {op} 'c{}'", at % 4),
        10 => format!("{} is null", ["i", "x", "late", "l", "n"][at as usize % 5]),
        11 => format!("10 / (i - {}) {op} 0", 3001 + at),
        12 => format!("w {op} 'ab'"),
        _ => "l".into(),
    }
}

/// A random aggregation of `t`.
fn aggregation(random: &mut Random) -> String {
    const KEYS: &[&str] = &["late", "d", "x", "c", "i % 7", "l", "q", "n", "f", "w", "u", "v", "i + 1"];
    const VALUES: &[&str] =
        &["i", "b", "f", "r", "n", "late", "i + late", "b - i", "n * 2", "f / 2", "o::bigint", "length(x)"];
    const ANY: &[&str] = &["d", "x", "z", "c", "i", "f", "n", "v", "o", "m"];
    let keys: Vec<&str> =
        (0..random.below(3)).map(|_| KEYS[random.below(KEYS.len() as u64) as usize]).collect();
    let mut targets: Vec<String> = keys.iter().map(|key| format!("({key})::text")).collect();
    for _ in 0..1 + random.below(3) {
        let value = VALUES[random.below(VALUES.len() as u64) as usize];
        let any = ANY[random.below(ANY.len() as u64) as usize];
        let mut call = match random.below(6) {
            0 => "count(*)".into(),
            1 => format!("count({any})"),
            2 => format!("sum({value})"),
            3 => format!("avg({value})"),
            4 => format!("min({any})"),
            _ => format!("max({any})"),
        };
        if random.below(4) == 0 {
            call = format!("{call} filter (where {})", condition(random, 1));
        }
        targets.push(format!("({call})::text"));
    }
    let group = if keys.is_empty() { String::new() } else { format!(" group by {}", keys.join(", ")) };
    let filter = if random.below(4) == 0 { "true".into() } else { condition(random, 3) };
    format!("select {} from t where {filter}{group}", targets.join(", "))
}

#[test]
fn random_queries_have_the_answers_of_rows() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, SETUP);
    let mut random = Random(knob("STAMPEDE_COLUMNS_SEED", 7));
    for _ in 0..knob("STAMPEDE_COLUMNS_QUERIES", 300) {
        let query = aggregation(&mut random);
        assert_same(&mut client, &query);
    }
}
