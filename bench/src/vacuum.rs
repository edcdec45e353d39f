//! VACUUM of one table, over shapes of tables and of what happened to them.
//!
//! Each server makes the table, is told to write everything back, and is timed over `VACUUM` alone. Servers take turns, several rounds; the figures are
//! medians.

use std::time::Instant;

use crate::client::Client;
use crate::peers::Server;
use crate::report::median;

/// Rows of the narrow tables.
const ROWS: u32 = 2_000_000;

/// A table, and what happens to it before it is vacuumed.
struct Shape {
    name: &'static str,
    /// Makes `v`; `{rows}` is their number.
    make: &'static str,
    rows: u32,
    happens: &'static str,
}

const THIRD: &str = "update v set b = b + 1 where a % 3 = 0";

const SHAPES: [Shape; 9] = [
    Shape {
        name: "a third updated, fillfactor 85",
        make: "create table v (a int primary key, b int) with (fillfactor = 85); insert into v select g, g from generate_series(1, {rows}) g",
        rows: ROWS,
        happens: THIRD,
    },
    Shape {
        name: "a third updated, fillfactor 100",
        make: "create table v (a int primary key, b int); insert into v select g, g from generate_series(1, {rows}) g",
        rows: ROWS,
        happens: THIRD,
    },
    Shape {
        name: "a third updated, no index",
        make: "create table v (a int, b int) with (fillfactor = 85); insert into v select g, g from generate_series(1, {rows}) g",
        rows: ROWS,
        happens: THIRD,
    },
    Shape {
        name: "a third updated, wide rows",
        make: "create table v (a int primary key, b int, c text) with (fillfactor = 85); insert into v select g, g, repeat('x', 200) from generate_series(1, {rows}) g",
        rows: ROWS / 8,
        happens: THIRD,
    },
    Shape {
        name: "a third updated, three indexes",
        make: "create table v (a int primary key, b int, c int) with (fillfactor = 85); create index on v (b); create index on v (c); insert into v select g, g, g from generate_series(1, {rows}) g",
        rows: ROWS / 2,
        happens: THIRD,
    },
    Shape {
        name: "nothing to do",
        make: "create table v (a int primary key, b int); insert into v select g, g from generate_series(1, {rows}) g",
        rows: ROWS,
        happens: "",
    },
    Shape {
        name: "a quarter added",
        make: "create table v (a int primary key, b int); insert into v select g, g from generate_series(1, {rows}) g",
        rows: ROWS,
        happens: "insert into v select g, g from generate_series(2000001, 2500000) g",
    },
    Shape {
        name: "half deleted",
        make: "create table v (a int primary key, b int); insert into v select g, g from generate_series(1, {rows}) g",
        rows: ROWS,
        happens: "delete from v where a % 2 = 0",
    },
    Shape {
        name: "all deleted",
        make: "create table v (a int primary key, b int); insert into v select g, g from generate_series(1, {rows}) g",
        rows: ROWS,
        happens: "delete from v",
    },
];

/// All shapes, or those whose name contains `only`; prints a line each.
pub fn run(servers: &[&Server], only: Option<&str>, rounds: u32) -> Result<(), String> {
    println!("\n## VACUUM: milliseconds\n");
    for shape in SHAPES.iter().filter(|shape| only.is_none_or(|only| shape.name.contains(only))) {
        let mut values = vec![Vec::new(); servers.len()];
        for _ in 0..rounds {
            for (server, values) in servers.iter().zip(&mut values) {
                let time = measure(server, shape);
                values.push(time.map_err(|e| format!("{}: {}: {e}", shape.name, server.name))?);
            }
        }
        let medians: Vec<f64> = values.into_iter().map(median).collect();
        let shown = servers.iter().zip(&medians).map(|(server, time)| {
            format!("{} {time:.0} (Stampede's speed ÷ this: {:.2})", server.name, time / medians[0])
        });
        println!("{}: {}", shape.name, shown.collect::<Vec<_>>().join(", "));
    }
    Ok(())
}

/// Milliseconds of one VACUUM.
fn measure(server: &Server, shape: &Shape) -> Result<f64, String> {
    let mut client = Client::connect(server)?;
    let make = shape.make.replace("{rows}", &shape.rows.to_string());
    let before = format!("drop table if exists v; {make}; vacuum v; {}; checkpoint", shape.happens);
    for statement in before.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
        client.query(statement)?;
    }
    let start = Instant::now();
    client.query("vacuum v")?;
    let time = start.elapsed().as_secs_f64() * 1000.0;
    client.query("drop table v")?;
    Ok(time)
}
