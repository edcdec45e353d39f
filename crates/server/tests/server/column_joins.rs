//! Hash joins over batches: the answers, and the errors, of joins over rows.
//!
//! Every query runs with `stampede.batch_execution` on and off. `STAMPEDE_JOINS_QUERIES` makes the run of random queries longer, `STAMPEDE_JOINS_SEED`
//! makes it another.

use crate::support::batches::{answer, assert_same};
use crate::support::{Client, Random, Server, knob, run};

pub(crate) const SETUP: &[&str] = &[
    "create table big (id int, k int, s smallint, b bigint, x text, c char(5), n numeric, d date, f float8, r real, u uuid, late text)",
    "insert into big select g, case when g % 11 > 0 then g % 700 end, g % 90, g % 300, case when g % 13 > 0 then 'x' || g % 400 end, 'c' || g % 50, \
     g % 200 / 10.0, date '2020-01-01' + g % 500, g % 40 / 4.0, g % 30, ('00000000-0000-0000-0000-0000000000' || lpad((g % 60)::text, 2, '0'))::uuid, \
     case when g % 3 = 0 then 'late ' || g end from generate_series(1, 4000) g",
    // As many again for some keys, both zeros, values that differ and are the same number.
    "insert into big select 5000 + g, 7, 7, 7, 'x7', 'c7 ', 7.00, '2020-01-08', case g % 2 when 0 then '-0' else '0' end::float8, 7, null, null from generate_series(1, 300) g",
    "create table small (k int, b bigint, x text, c char(7), n numeric(20, 3), d date, f float8, title text)",
    "insert into small select case when g % 9 > 0 then g end, g % 150, 'x' || g, 'c' || g % 60, g % 220 / 10.0, date '2020-01-01' + g % 600, g % 50 / 4.0, \
     case when g % 4 > 0 then 'a title that is long enough to be kept elsewhere than in place ' || g end from generate_series(1, 900) g",
    "insert into small select 7, 7, 'x7', 'c7', 7, '2020-01-08', 0, 'again ' || g from generate_series(1, 5) g",
    // Values that are stored elsewhere, on pages with others that are not.
    "create table large (k int, x text)",
    "alter table large alter x set storage external",
    "insert into large select g % 800, case g % 300 when 0 then repeat('y', 5000) || g else 'x' || g % 400 end from generate_series(1, 3000) g",
    "create table parts (p int, k int, v int) partition by list (p)",
    "create table parts_1 partition of parts for values in (1)",
    "create table parts_2 partition of parts for values in (2)",
    "insert into parts select 1 + g % 2, g % 500, g from generate_series(1, 4000) g",
    "create type mood as enum ('sad', 'glad')",
    "create domain counted as int",
    "create table moods (m mood, o counted, a int[], i interval, q \"char\", l bool, z timestamp, w timestamptz)",
    "insert into moods select case g % 2 when 0 then 'sad' else 'glad' end::mood, g % 30, array[g % 20], g % 9 * interval '1 day', \
     chr(65 + g % 7)::\"char\", g % 2 = 0, timestamp '2020-01-01' + g % 20 * interval '1 day', timestamptz '2020-01-01' + g % 20 * interval '1 day' \
     from generate_series(1, 1500) g",
    "create table nothing (k int, x text)",
    "analyze",
    "set enable_mergejoin = off",
    "set enable_nestloop = off",
];

pub(crate) const QUERIES: &[&str] = &[
    "select count(*) from big join small using (k)",
    "select count(*), sum(big.id), min(small.title), max(big.late) from big join small using (k)",
    "select big.id, big.x, small.x, small.title from big join small using (k)",
    "select count(*), sum(small.b) from big left join small using (k)",
    "select big.id, small.title from big left join small on big.k = small.k and small.b > 20",
    "select big.id, small.title from big left join small on big.k = small.k where small.title is null or small.b < 50",
    "select count(*), count(big.id), count(small.k) from big right join small using (k)",
    "select count(*), count(big.id), count(small.k), sum(big.b) from big full join small using (k)",
    "select big.*, small.* from big full join small on big.k = small.k",
    "select count(*), sum(id) from big where exists (select from small where small.k = big.k)",
    "select count(*), sum(id) from big where exists (select from small where small.k = big.k and small.b <> big.b)",
    "select count(*), sum(id) from big where not exists (select from small where small.k = big.k)",
    "select id from big where not exists (select from small where small.k = big.k and small.n < big.n)",
    "select count(*), sum(b) from small where exists (select from big where small.k = big.k)",
    "select count(*), sum(b) from small where exists (select from big where small.k = big.k and big.id % 3 = 0 and big.b < small.b)",
    "select count(*), sum(b) from small where not exists (select from big where small.k = big.k)",
    "select title from small where not exists (select from big where small.k = big.k and big.b > small.b)",
    "select count(*) from big where k not in (select k from small where k is not null)",
    "select count(*) from big join small on big.x = small.x",
    "select count(*), max(small.c) from big join small on big.c = small.c",
    "select count(*), sum(small.n) from big join small on big.n = small.n",
    "select count(*) from big join small on big.d = small.d",
    "select count(*), sum(small.f) from big join small on big.f = small.f",
    "select count(*) from big join small on big.r = small.f::real",
    "select count(*) from big join small on big.s = small.b",
    "select count(*) from big join small on big.b = small.k",
    "select count(*), min(title) from big join small on big.k = small.k and big.x = small.x",
    "select count(*) from big join small on big.k + 1 = small.k - 1",
    "select count(*) from big join small on lower(big.x) = lower(small.x)",
    "select count(*) from big a join big b on a.u = b.u and a.id = b.id",
    "select count(*), sum(a.id + b.id) from big a join big b on a.k = b.k and a.id < b.id",
    "select a.x, count(*), sum(b.n) from big a join small b using (k) group by a.x",
    "select b.title, a.late, count(*) from big a join small b using (k) group by 1, 2",
    "select a.k + b.b, count(*) filter (where a.b > b.b), max(a.d) from big a join small b using (k) group by 1",
    "select distinct a.x, b.title from big a join small b using (k)",
    "select count(*), sum(a.id), sum(c.k) from big a join small b using (k) join large c on c.x = b.x",
    "select count(*), min(c.x), max(b.title), max(a.late) from big a left join small b on a.k = b.k left join large c on c.k = b.b",
    "select b.title, sum(p.v) from big a join small b on a.k = b.k join parts p on p.k = a.b where p.v < 500 group by b.title",
    "select count(*), max(length(large.x)) from large join small using (k)",
    "select count(*), max(length(large.x)) from big join large using (k)",
    "select large.k, length(large.x), small.title from large left join small on small.x = large.x",
    "select count(*) from large a join large b on a.x = b.x",
    "select count(*), sum(v) from parts join small using (k)",
    "select count(*), sum(v) from big join parts using (k)",
    "select count(*), sum(n) from big join nothing using (k)",
    "select count(*), sum(n) from big left join nothing using (k)",
    "select count(*) from nothing right join big using (k)",
    "select count(*) from moods a join moods b using (m, o)",
    "select a.o, count(*), min(b.m) from moods a join moods b on a.o = b.o group by 1",
    "select count(*), max(b.a) from moods a join moods b on a.a = b.a and a.i = b.i",
    "select count(*), max(a.l::text), max(b.q) from moods a join moods b on a.q = b.q and a.l = b.l and a.z = b.z",
    "select count(*) from moods a left join moods b on a.w = b.w and b.z < '2020-01-05'",
    "select id, title from big join small using (k) order by id, title limit 5",
    "select count(*) from (select id from big join small using (k) limit 10) s",
    "select sum(id) from big join (select k, count(*) as n, max(title) as t from small group by k) s using (k) where s.n > 0",
    "select count(*), max(t) from big join (select k, max(title) as t from small group by k) s on s.k = big.k",
    "select (select count(*) from big join small using (k) where big.b = m.g) from generate_series(1, 5) m(g)",
    "select count(*) from generate_series(1, 3) g, lateral (select big.id from big join small using (k) where big.s = g offset 0) s",
    "select count(*) from big join small on big.k = small.k where random() >= 0",
    "with s as (select k, title from small) select count(*), max(title) from big join s using (k)",
    "select big.id, small.ctid from big join small using (k)",
    "select big.ctid, small.k from big join small using (k)",
    "select count(big), max(small::text) from big join small using (k)",
    // Errors.
    "select count(10 / (big.id - 3001)) from big join small using (k)",
    "select big.id / (small.k - 3) from big join small using (k)",
    "select count(*) from big join small on big.k = small.k and 10 / (big.id - 700) < 5 - small.k",
    "select count(*) from big left join small on big.k = small.k and 10 / (small.k - 7) > 100",
    "select count(*) from big join small on 10 / (big.id - 800) = small.k",
    "select count(*) from big join small on big.k = 10 / (small.k - 800)",
    "select count(*) from big where exists (select from small where small.k = big.k and 1000 / (small.b - 100) > big.id)",
    "select count(*) from big where 10 / (id - 3500) < 100 and exists (select from small where small.k = big.k and 10 / (big.id - 2000) < 99)",
    "select sum(a.id * 1000000 + b.b) from big a join small b using (k)",
    "select big.id from big full join small on big.k = small.k where 10 / (coalesce(small.k, 5) - 899) > -100",
    "select big.id, 1 / (small.b - 149) from big right join small on big.k = small.k and big.id < 0",
];

pub(crate) const LITTLE: &str = "set work_mem = '64kB'; set hash_mem_multiplier = 1";
pub(crate) const ENOUGH: &str = "reset work_mem; reset hash_mem_multiplier";

#[test]
fn joins_have_the_answers_of_rows() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, SETUP);
    for query in QUERIES {
        assert_same(&mut client, query);
        run(&mut client, &[LITTLE]);
        assert_same(&mut client, query);
        run(&mut client, &[ENOUGH]);
    }
}

/// What EXPLAIN ANALYZE says, without what differs from run to run.
fn analyzed(client: &mut Client, text: &str) -> String {
    let options = "analyze, verbose, costs off, timing off, summary off, buffers off";
    let rows = client.query(&format!("explain ({options}) {text}")).unwrap();
    let lines = rows.into_iter().map(|row| row[0].clone().unwrap_or_default());
    lines.take_while(|line| !line.starts_with("Planning")).collect::<Vec<_>>().join("\n")
}

#[test]
fn explain_counts_what_joins_hold() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, SETUP);
    for query in [
        "select count(*), max(small.title) from big join small on big.k = small.k and big.b > small.b where big.id > 100",
        "select count(*) from big where exists (select from small where small.k = big.k and small.b > big.b)",
        "select count(*) from big left join small on big.k = small.k where small.b is null or small.b > 10",
        "select count(*) from big a join small b using (k) join large c on c.x = b.x",
    ] {
        let batches = analyzed(&mut client, query);
        assert!(batches.contains("Row Batches: ") && batches.contains("Hash Cond"), "{batches}");
        run(&mut client, &["set stampede.batch_execution = off"]);
        let rows = analyzed(&mut client, query);
        run(&mut client, &["set stampede.batch_execution = on"]);
        let told = |text: &str| -> Vec<String> {
            let lines =
                text.lines().filter(|line| !line.contains("Row Batches") && !line.contains("Buckets: "));
            lines.map(String::from).collect()
        };
        assert_eq!(told(&batches), told(&rows));
        assert_eq!(batches.matches("Buckets: ").count(), rows.matches("Buckets: ").count(), "{batches}");
    }
    // Without enough memory there are several parts.
    run(&mut client, &[LITTLE]);
    let query = "select count(*), max(small.title) from big join small using (k)";
    let parts = analyzed(&mut client, query);
    assert!(parts.contains("(originally 1)"), "{parts}");
}

#[test]
fn a_join_that_takes_long_is_cancelled() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, SETUP);
    run(
        &mut client,
        &[
            "create table same (k int)",
            "insert into same select 1 from generate_series(1, 30000)",
            "analyze same",
            "set statement_timeout = '300ms'",
        ],
    );
    let query = "select count(*) from same a join same b on a.k = b.k and a.k + b.k > 2 + a.k % 2";
    for setting in ["on", "off"] {
        run(&mut client, &[&format!("set stampede.batch_execution = {setting}")]);
        let failed = answer(&mut client, query);
        assert_eq!(failed.unwrap_err().0, "57014", "{setting}");
    }
    run(&mut client, &["reset statement_timeout"]);
    assert_same(&mut client, "select count(*) from big join small using (k)");
}

/// A random join, and something that is computed of it.
pub(crate) fn query(random: &mut Random) -> String {
    const TABLES: &[(&str, &[&str])] = &[
        ("big", &["id", "k", "s", "b", "x", "c", "n", "d", "f"]),
        ("small", &["k", "b", "x", "c", "n", "d", "f", "title"]),
        ("large", &["k", "x"]),
        ("parts", &["k", "v", "p"]),
    ];
    let one_of =
        |random: &mut Random, list: &[&str]| list[random.below(list.len() as u64) as usize].to_string();
    let mut from = String::new();
    let mut names: Vec<(String, &[&str])> = Vec::new();
    for at in 0..2 + random.below(2) {
        let (table, columns) = TABLES[if at == 0 { 0 } else { 1 + random.below(3) as usize }];
        let name = format!("t{at}");
        if at == 0 {
            from = format!("{table} t0");
        } else {
            let kind = one_of(random, &["join", "join", "left join", "right join", "full join"]);
            let (other, theirs) = names[random.below(names.len() as u64) as usize].clone();
            let shared = ["k", "b", "x", "c", "n", "d", "f"];
            let both: Vec<&str> =
                shared.into_iter().filter(|c| columns.contains(c) && theirs.contains(c)).collect();
            let key = if both.is_empty() { "k".into() } else { one_of(random, &both) };
            from = format!("{from} {kind} {table} {name} on {other}.{key} = {name}.{key}");
            if random.below(3) == 0 && !kind.starts_with("full") {
                from = format!(
                    "{from} and {other}.k {} {name}.k + {}",
                    one_of(random, &["<", ">", "<>"]),
                    random.below(50)
                );
            }
        }
        names.push((name, columns));
    }
    let column = |random: &mut Random| {
        let (name, columns) = &names[random.below(names.len() as u64) as usize];
        format!("{name}.{}", columns[random.below(columns.len() as u64) as usize])
    };
    let filter = match random.below(4) {
        0 => format!(" where t0.id < {}", random.below(4000)),
        1 => format!(" where {} is not null and t0.id % 5 > 0", column(random)),
        2 => format!(" where 100 / (t0.id - {}) < 200", random.below(8000)),
        _ => String::new(),
    };
    let (a, b, c) = (column(random), column(random), column(random));
    match random.below(3) {
        0 => format!("select count(*), count({a}), min({b}), max({c}) from {from}{filter}"),
        1 => format!("select {a}, count(*), max({b}) from {from}{filter} group by 1"),
        _ => format!(
            "select count(*), sum(h) from (select hashtext(concat({a}, {b}, {c})) as h from {from}{filter}) s"
        ),
    }
}

#[test]
fn random_joins_have_the_answers_of_rows() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, SETUP);
    let mut random = Random(knob("STAMPEDE_JOINS_SEED", 11));
    for number in 0..knob("STAMPEDE_JOINS_QUERIES", 40) {
        let little = number % 3 == 0;
        run(&mut client, &[if little { LITTLE } else { ENOUGH }]);
        let query = query(&mut random);
        assert_same(&mut client, &query);
    }
}
