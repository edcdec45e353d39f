//! TPC-H: eight tables, 22 queries of analysts. Stampede is made for many short queries; these show what a long one costs.
//!
//! Every answer is compared, value by value and in order, with PostgreSQL's before anything is timed. PostgreSQL is timed twice:
//! as it comes, and without parallel workers, which says more about the executor.

mod generate;
mod queries;
mod random;
mod words;

use std::path::Path;
use std::time::Instant;

use generate::{Generator, SCHEMA, SMALLEST_SCALE, TABLES};
use queries::{QUERIES, VIEWS};

use crate::client::{Client, Row};
use crate::peers::Server;
use crate::report::{Scale, Table, median};

/// What to run.
pub struct Task<'a> {
    /// Size of the tables, 1 being about a gigabyte.
    pub scale: f64,
    /// Numbers of the queries; all, if there are none.
    pub only: &'a [usize],
    /// Times that each is timed.
    pub rounds: u32,
    /// Where the table goes.
    pub out: &'a Path,
}

/// A session, and its settings' name.
struct Contender {
    name: &'static str,
    client: Client,
}

/// Fills both servers, compares their answers and times them in turn.
pub fn run(stampede: &Server, postgres: &Server, task: &Task<'_>) -> Result<(), String> {
    if task.scale < SMALLEST_SCALE {
        return Err(format!("the smallest scale is {SMALLEST_SCALE}"));
    }
    if let Some(wrong) = task.only.iter().find(|n| !(1..=QUERIES.len()).contains(n)) {
        return Err(format!("there is no query {wrong}"));
    }
    for server in [stampede, postgres] {
        load(server, task.scale).map_err(|e| format!("{}: {e}", server.name))?;
    }
    let mut contenders = Vec::new();
    for (name, server, parallel) in
        [(stampede.name, stampede, true), (postgres.name, postgres, true), ("one process", postgres, false)]
    {
        let mut client = Client::connect(server)?;
        if !parallel {
            client.query("set max_parallel_workers_per_gather = 0")?;
        }
        contenders.push(Contender { name, client });
    }
    let mut rows = Vec::new();
    for (n, query) in (1..).zip(QUERIES).filter(|(n, _)| task.only.is_empty() || task.only.contains(n)) {
        let query = query.replace("{fraction}", &format!("{:.10}", 0.0001 / task.scale));
        compare(n, &query, &mut contenders)?;
        rows.push((n as u32, time(n, &query, &mut contenders, task.rounds)?));
    }
    summarize(&contenders, &rows);
    Table {
        title: format!("tpch {}", task.scale),
        what: "milliseconds a query, medians".into(),
        axis: "query",
        servers: contenders.iter().map(|c| c.name).collect(),
        rows,
        scale: Scale::Logarithmic,
    }
    .publish(task.out)
}

/// Makes the tables and fills them.
fn load(server: &Server, scale: f64) -> Result<(), String> {
    let mut client = Client::connect(server)?;
    client.query(SCHEMA)?;
    let generator = Generator::new(scale);
    let start = Instant::now();
    for table in TABLES {
        let name = table.name();
        client
            .copy_in(&format!("copy {name} from stdin"), |out| generator.write(table, out))
            .map_err(|e| format!("{name}: {e}"))?;
    }
    eprintln!("{}: loaded in {:.1} s", server.name, start.elapsed().as_secs_f64());
    client.query("vacuum")?;
    client.query("analyze")?;
    client.query(VIEWS)?;
    client.query("checkpoint").map(drop)
}

/// Fails, saying where, if the sessions do not answer alike.
fn compare(n: usize, query: &str, contenders: &mut [Contender]) -> Result<(), String> {
    let mut answers: Vec<Vec<Row>> = Vec::new();
    for contender in contenders.iter_mut() {
        let rows =
            contender.client.query(query).map_err(|e| format!("query {n}: {}: {e}", contender.name))?;
        answers.push(rows);
    }
    let (ours, theirs) = (&answers[0], &answers[1]);
    if let Some(difference) = difference(ours, theirs) {
        let names = (contenders[0].name, contenders[1].name);
        return Err(format!("query {n}: {} and {} differ: {difference}", names.0, names.1));
    }
    if ours.is_empty() || ours.iter().flatten().all(Option::is_none) {
        eprintln!("query {n}: no rows at this scale");
    }
    Ok(())
}

/// The first place where two answers differ.
fn difference(ours: &[Row], theirs: &[Row]) -> Option<String> {
    let show = |row: Option<&Row>| match row {
        Some(row) => row.iter().map(|v| v.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join(" | "),
        None => "no row".into(),
    };
    let at = (0..ours.len().max(theirs.len())).find(|i| ours.get(*i) != theirs.get(*i))?;
    let (a, b) = (show(ours.get(at)), show(theirs.get(at)));
    Some(format!("{} and {} rows; row {}:\n  {a}\n  {b}", ours.len(), theirs.len(), at + 1))
}

/// Each session's median, in milliseconds.
fn time(n: usize, query: &str, contenders: &mut [Contender], rounds: u32) -> Result<Vec<f64>, String> {
    let mut times = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let start = Instant::now();
            contender.client.query(query)?;
            times.push(start.elapsed().as_secs_f64() * 1000.0);
        }
    }
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    let figures: Vec<String> =
        contenders.iter().zip(&medians).map(|(c, ms)| format!("{} {ms:.1} ms", c.name)).collect();
    eprintln!("query {n}: {}", figures.join(", "));
    Ok(medians)
}

/// Prints the geometric means of the ratios.
fn summarize(contenders: &[Contender], rows: &[(u32, Vec<f64>)]) {
    for (i, contender) in contenders.iter().enumerate().skip(1) {
        let logs: f64 = rows.iter().map(|(_, times)| (times[0] / times[i]).ln()).sum();
        let mean = (logs / rows.len() as f64).exp();
        println!("geometric mean of {} ÷ {}: {mean:.2}", contenders[0].name, contender.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_answers_differ() {
        let row = |values: &[&str]| values.iter().map(|v| Some(v.to_string())).collect::<Row>();
        let (a, b) = (vec![row(&["1", "2.50"])], vec![row(&["1", "2.5"])]);
        assert_eq!(difference(&a, &a), None);
        assert_eq!(difference(&a, &b).unwrap(), "1 and 1 rows; row 1:\n  1 | 2.50\n  1 | 2.5");
        assert!(difference(&a, &[]).unwrap().contains("no row"));
    }
}
