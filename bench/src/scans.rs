//! What reading all of a table costs: counts, filters, sums, groups, a join, sorts; beside PostgreSQL as it is by default and in one process.
//!
//! Each case is one statement of one client, timed as the client sees it. Servers take turns, several rounds; the figures are medians of milliseconds.
//! Answers are compared. Sums of floats are exact, so that it does not matter in which order parallel workers add.

use std::time::Instant;

use crate::client::Client;
use crate::peers::Server;
use crate::report::median;

/// The table and one to join it with; `:n` is the number of rows.
const SETUP: &str = "
    drop table if exists scans_rows, scans_names;
    create table scans_rows (id int, few int, many int, day date, f float8, amount numeric(12, 2), name text, colour text, big bigint);
    insert into scans_rows select g, g % 17, (g * 7919::bigint % 200000)::int, date '2020-01-01' + g % 1000, g * 0.25, (g % 100000) / 100.0,
        'name ' || g % 5000, case g % 3 when 0 then 'red' when 1 then 'green' else 'blue' end, g::bigint * 1000 from generate_series(1, :n) g;
    create table scans_names (many int, title text);
    insert into scans_names select g, 'title ' || g from generate_series(0, 99999) g";

/// Names and statements; each gives rows of which the first column is compared.
const CASES: [(&str, &str); 22] = [
    ("count(*)", "select count(*) from scans_rows"),
    ("count of a column", "select count(name) from scans_rows"),
    ("filter on int, few", "select count(*) from scans_rows where many = 77"),
    ("filter on int, half", "select count(*) from scans_rows where id > 1000000"),
    ("filter on date", "select count(*) from scans_rows where day >= '2021-01-01' and day < '2021-03-01'"),
    ("filter on text", "select count(*) from scans_rows where colour = 'red'"),
    ("filter with LIKE", "select count(*) from scans_rows where name like '%99%'"),
    ("filter on numeric", "select count(*) from scans_rows where amount > 500"),
    ("filter with OR", "select count(*) from scans_rows where few = 3 or colour = 'blue' and f < 1000"),
    ("sum and avg of ints", "select (sum(id) + sum(big))::text || avg(few) from scans_rows"),
    ("sum and avg of floats", "select sum(f)::text || avg(f) from scans_rows"),
    ("sum and avg of numerics", "select sum(amount)::text || avg(amount) from scans_rows"),
    ("min and max", "select min(day)::text || max(id) || min(f) from scans_rows"),
    ("filter and sum of products", "select sum(amount * 2) from scans_rows where few < 5"),
    ("group by int, few", "select few, count(*), sum(big) from scans_rows group by few order by few"),
    (
        "group by text, few",
        "select colour, count(*), avg(amount) from scans_rows group by colour order by colour",
    ),
    ("group by text, 5,000", "select name, count(*) from scans_rows group by name order by name limit 10"),
    (
        "group by int, 200,000",
        "select many, count(*), sum(id) from scans_rows group by many order by many limit 10",
    ),
    (
        "group by two",
        "select few, colour, max(day) from scans_rows group by few, colour order by few, colour",
    ),
    ("distinct", "select count(*) from (select distinct name, few from scans_rows) s"),
    ("hash join, count", "select count(*) from scans_rows r join scans_names n on r.many = n.many"),
    ("order by", "select id from scans_rows order by name, many, id limit 1 offset 1500000"),
];

/// A server and settings of its sessions.
struct Side<'a> {
    name: String,
    server: &'a Server,
    settings: &'static str,
}

impl Side<'_> {
    /// Milliseconds, and the first column.
    fn time(&self, statement: &str) -> Result<(f64, Vec<String>), String> {
        let of = |e: String| format!("{}: {e}", self.name);
        let mut client = Client::connect(self.server).map_err(of)?;
        client.query(self.settings).map_err(of)?;
        let start = Instant::now();
        let rows = client.query(statement).map_err(of)?;
        let spent = start.elapsed().as_secs_f64() * 1000.0;
        Ok((
            spent,
            rows.into_iter().map(|row| row.into_iter().next().flatten().unwrap_or_default()).collect(),
        ))
    }
}

/// The chosen cases; prints a line each.
pub fn run(servers: &[&Server], only: Option<&str>, rows: u32, rounds: u32) -> Result<(), String> {
    let mut sides = Vec::new();
    for (n, server) in servers.iter().enumerate() {
        let mut client = Client::connect(server)?;
        for statement in [&SETUP.replace(":n", &rows.to_string()), "vacuum analyze scans_rows, scans_names"] {
            client.query(statement).map_err(|e| format!("{}: {e}", server.name))?;
        }
        sides.push(Side { name: server.name.into(), server, settings: "select 1" });
        if n > 0 {
            let settings = "set max_parallel_workers_per_gather = 0";
            sides.push(Side { name: format!("{} in one process", server.name), server, settings });
        }
    }
    println!("\n## Scans of {rows} rows: milliseconds\n");
    for (name, statement) in CASES.iter().filter(|(name, _)| only.is_none_or(|only| name.contains(only))) {
        let mut all = vec![Vec::new(); sides.len()];
        let mut expected = None;
        for round in 0..=rounds {
            for (times, side) in all.iter_mut().zip(&sides) {
                let (spent, answer) = side.time(statement).map_err(|e| format!("{name}: {e}"))?;
                if *expected.get_or_insert_with(|| answer.clone()) != answer {
                    return Err(format!("{name}: {} has another answer: {answer:?}", side.name));
                }
                // The first round fills the caches.
                if round > 0 {
                    times.push(spent);
                }
            }
        }
        let all: Vec<f64> = all.into_iter().map(median).collect();
        let shown = sides.iter().zip(&all).map(|(side, time)| {
            format!("{} {time:.1} (Stampede's speed ÷ this: {:.2})", side.name, time / all[0])
        });
        println!("{name}: {}", shown.collect::<Vec<_>>().join("; "));
    }
    Ok(())
}
