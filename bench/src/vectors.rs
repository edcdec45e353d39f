//! HNSW indexes of the extension `vector`, with its default settings: building one, how many of the rows that are truly nearest it finds, and how many searches a second it does, beside scans
//! that compare every row.
//!
//! Rows are random, the hardest there are: in many dimensions all of them are about as far from one another. Servers without the extension are passed over.

use std::time::Instant;

use crate::client::Client;
use crate::peers::Server;

/// What is searched, and for how many rows.
struct Case {
    rows: u32,
    dimensions: u32,
    /// One coordinate of a row.
    coordinate: &'static str,
    limit: u32,
}

/// Searches of a case.
const SEARCHES: usize = 100;
/// Makes the same rows and searches each time.
const SEED: &str = "select setseed(0.5)";

fn cases(rows: u32) -> [Case; 2] {
    [
        // What pgvector's own tests of recall ask: 0.99 of 20 rows, by the distances `<->`, `<=>` and `<+>`, and 0.97 by `<#>`.
        Case { rows: 10_000, dimensions: 3, coordinate: "random() * random()", limit: 20 },
        Case { rows, dimensions: 128, coordinate: "random()", limit: 10 },
    ]
}

/// All cases on all servers that have vectors; prints a line for each distance.
pub fn run(servers: &[&Server], rows: u32) -> Result<(), String> {
    for server in servers {
        let mut client = Client::connect(server)?;
        let there = "select count(*) from pg_available_extensions where name = 'vector'";
        if client.value(there)? == "0" {
            println!("{} has no extension vector", server.name);
            continue;
        }
        client.query("create extension if not exists vector")?;
        for case in &cases(rows) {
            println!("\n## HNSW: {}, {} rows of {} dimensions\n", server.name, case.rows, case.dimensions);
            fill(&mut client, case)?;
            let operators = [
                ("<->", "vector_l2_ops"),
                ("<#>", "vector_ip_ops"),
                ("<=>", "vector_cosine_ops"),
                ("<+>", "vector_l1_ops"),
            ];
            for (operator, class) in operators {
                measure(&mut client, case, operator, class)?;
            }
        }
    }
    Ok(())
}

fn fill(client: &mut Client, case: &Case) -> Result<(), String> {
    let Case { rows, dimensions, coordinate, .. } = case;
    let vector =
        format!("array(select {coordinate} from generate_series(1, {dimensions}) where i > 0)::vector");
    for statement in [
        SEED,
        "drop table if exists items",
        "drop table if exists sought",
        &format!("create table items (i int, v vector({dimensions}))"),
        &format!("insert into items select i, {vector} from generate_series(1, {rows}) i"),
        &format!("create table sought as select {vector} as v from generate_series(1, {SEARCHES}) i"),
        "vacuum analyze items",
    ] {
        client.query(statement)?;
    }
    Ok(())
}

/// What searches give, and how many there are a second.
struct Answers {
    rows: Vec<Vec<String>>,
    per_second: f64,
}

fn measure(client: &mut Client, case: &Case, operator: &str, class: &str) -> Result<(), String> {
    let sought: Vec<String> = client.query("select v from sought")?.into_iter().flatten().flatten().collect();
    let exact = search(client, case, operator, &sought)?;
    let start = Instant::now();
    client.query(&format!("create index items_v on items using hnsw (v {class})"))?;
    let built = start.elapsed();
    let near = search(client, case, operator, &sought)?;
    let plan = client.query(&format!("explain {}", statement(case, operator, &sought[0])))?;
    client.query("drop index items_v")?;
    if !plan.iter().flatten().flatten().any(|line| line.contains("items_v")) {
        return Err("searches do not use the index".into());
    }
    let pairs = exact.rows.iter().zip(&near.rows);
    let found: usize = pairs.map(|(exact, near)| near.iter().filter(|id| exact.contains(id)).count()).sum();
    let wanted: usize = exact.rows.iter().map(Vec::len).sum();
    println!(
        "{operator}: built in {:.1} s, recall of {} rows {:.4}, {:.0} searches/s, {:.0} without the index ({:.1} times as fast)",
        built.as_secs_f64(),
        case.limit,
        found as f64 / wanted as f64,
        near.per_second,
        exact.per_second,
        near.per_second / exact.per_second
    );
    Ok(())
}

fn statement(case: &Case, operator: &str, sought: &str) -> String {
    format!("select i from items order by v {operator} '{sought}' limit {}", case.limit)
}

fn search(client: &mut Client, case: &Case, operator: &str, sought: &[String]) -> Result<Answers, String> {
    let mut rows = Vec::new();
    let start = Instant::now();
    for one in sought {
        let found = client.query(&statement(case, operator, one))?;
        rows.push(found.into_iter().flatten().flatten().collect());
    }
    Ok(Answers { rows, per_second: sought.len() as f64 / start.elapsed().as_secs_f64() })
}
