//! Automatic vacuums: does a table that is updated without end keep its size and its speed, and do others notice?
//!
//! Rows of one table are updated by 32 clients, in ten tenths, each row a hundred times; nothing but automatic vacuums takes the old versions away. Then
//! point queries of another table run alone, and beside a worker at its usual pace that has a table of dead rows before it.

use std::time::{Duration, Instant};

use crate::peers::Server;
use crate::pgbench::{self, Length, Script, psql};
use crate::scenario::p99_ms;

const CLIENTS: u32 = 32;
const TENTHS: u32 = 10;
/// Updates of each row.
const TIMES: u32 = 100;
/// How long a worker may take to come.
const PATIENCE: Duration = Duration::from_secs(120);

/// All of it, on each server in turn: so many updates, and point queries for so many seconds.
pub fn run(servers: &mut [&mut Server], updates: u32, seconds: u32) -> Result<(), String> {
    println!("\n## {updates} updates by {CLIENTS} clients, with automatic vacuums alone\n");
    for server in servers.iter_mut() {
        server.restart(&["autovacuum=on".into()])?;
        let done = wear(server, updates).and_then(|()| beside(server, updates / TIMES, seconds));
        done.map_err(|e| format!("{}: {e}", server.name))?;
        server.restart(&[])?;
    }
    Ok(())
}

fn number(server: &Server, question: &str) -> Result<f64, String> {
    let answer = psql(server, question)?;
    answer.trim().parse().map_err(|_| format!("{question}: {answer}"))
}

/// Updates every row over and over; prints the size and the speed at the end beside those at the beginning.
fn wear(server: &Server, updates: u32) -> Result<(), String> {
    let rows = updates / TIMES;
    psql(
        server,
        &format!(
            "drop table if exists worn; create table worn (id int primary key, v int, w int); \
             create index on worn (v); insert into worn select i, i, 0 from generate_series(1, {rows}) i"
        ),
    )?;
    psql(server, "vacuum analyze worn")?;
    let size = "select pg_total_relation_size('worn')";
    let before = number(server, size)?;
    let text = format!("\\set id random(1, {rows})\nupdate worn set v = v + 1 where id = :id;\n");
    let script = Script::new("wear", &text)?;
    let mut speeds = Vec::new();
    for _ in 0..TENTHS {
        let length = Length::Transactions((updates / TENTHS / CLIENTS).max(1));
        speeds.push(script.tps(server, CLIENTS, length)?);
    }
    let after = number(server, size)?;
    let vacuums = number(server, "select autovacuum_count from pg_stat_user_tables where relname = 'worn'")?;
    let (first, last) = (speeds[0], speeds[speeds.len() - 1]);
    println!(
        "{}: {:.1} MB → {:.1} MB (× {:.2}), {first:.0} → {last:.0} tps in the last tenth (× {:.2}), {vacuums} vacuums",
        server.name,
        before / 1e6,
        after / 1e6,
        after / before,
        last / first
    );
    Ok(())
}

/// Point queries alone and beside a worker; prints both 99th percentiles.
fn beside(server: &Server, rows: u32, seconds: u32) -> Result<(), String> {
    psql(
        server,
        &format!(
            "drop table if exists read, dead; create table read as select i as id, i as v from generate_series(1, {rows}) i; \
             alter table read add primary key (id)"
        ),
    )?;
    psql(server, "vacuum analyze read")?;
    let script =
        Script::new("read", &format!("\\set id random(1, {rows})\nselect v from read where id = :id;\n"))?;
    let log = std::env::temp_dir().join(format!("stampede-autovacuum-{}", std::process::id()));
    let (prefix, script) = (log.to_string_lossy().into_owned(), script.args());
    let mut args: Vec<&str> = script.iter().map(String::as_str).collect();
    args.extend(["-l", "--log-prefix", &prefix]);
    let p99 = || {
        pgbench::run(server, CLIENTS, seconds, &args)?;
        p99_ms(&log)
    };
    let alone = p99()?;
    // So many dead rows that a worker at its usual pace is busy for longer than that.
    let dead = seconds * 400_000;
    psql(
        server,
        &format!(
            "create table dead (id int, v text) with (autovacuum_enabled = off); \
             insert into dead select i, repeat('x', 100) from generate_series(1, {dead}) i; delete from dead where id % 2 = 0"
        ),
    )?;
    psql(server, "alter table dead set (autovacuum_enabled = on); delete from dead where id = 1")?;
    let works = "select count(*) from pg_stat_activity where backend_type = 'autovacuum worker' and query like '%.dead'";
    let start = Instant::now();
    while number(server, works)? == 0.0 {
        if start.elapsed() > PATIENCE {
            return Err("no worker came".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let together = p99()?;
    let ended = if number(server, works)? == 0.0 { ", which ended before" } else { "" };
    println!(
        "{}: p99 of point queries {alone:.2} ms alone, {together:.2} ms beside a worker{ended} (× {:.2})",
        server.name,
        together / alone
    );
    Ok(())
}
