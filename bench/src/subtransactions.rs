//! What long transactions with many subtransactions cost: themselves, and the others.
//!
//! * Beside a session with 100,000 open subtransactions that wrote, and beside a REPEATABLE READ snapshot that stays open, point queries
//!   are to be as fast as alone.
//! * A million SAVEPOINT, INSERT, RELEASE in one transaction: as fast at the end as at the beginning.
//! * 20,000 times SAVEPOINT, INSERT of the same keys, an index scan over them, ROLLBACK TO: the same, and the index does not grow.

use std::time::Instant;

use crate::client::Client;
use crate::peers::Server;
use crate::pgbench;
use crate::report::median;

/// Statements sent in one message.
const BATCH: usize = 1000;

/// How fast others are beside what one session keeps open.
pub fn beside(server: &Server, clients: u32, seconds: u32, rounds: u32) -> Result<(), String> {
    pgbench::psql(server, "drop table if exists opened; create table opened (a int)")?;
    let mut deep = Client::connect(server)?;
    let mut old = Client::connect(server)?;
    let names = ["alone", "100,000 subtransactions", "an old snapshot"];
    let mut tps = vec![Vec::new(); names.len()];
    let point_queries = || pgbench::run(server, clients, seconds, &["-S", "-M", "prepared"]).map(|f| f.tps);
    // So that a snapshot is old; and without one too, for what the system writes behind them costs by itself.
    let updates = || pgbench::run(server, clients, 1, &["-b", "simple-update", "-M", "prepared"]).map(drop);
    for _ in 0..rounds {
        updates()?;
        tps[0].push(point_queries()?);
        deep.query("begin")?;
        for batch in 0..100_000 / BATCH {
            let nested =
                |n: usize| format!("savepoint s; insert into opened values ({});", batch * BATCH + n);
            deep.query(&(0..BATCH).map(nested).collect::<String>())?;
        }
        tps[1].push(point_queries()?);
        deep.query("rollback")?;
        old.query("begin isolation level repeatable read; select 1")?;
        updates()?;
        tps[2].push(point_queries()?);
        old.query("rollback")?;
    }
    let medians: Vec<f64> = tps.into_iter().map(median).collect();
    println!("\n## Point queries of {clients} clients beside long transactions: {}\n", server.name);
    println!("| beside | transactions a second | ÷ alone |\n|---|---|---|");
    for (name, tps) in names.iter().zip(&medians) {
        println!("| {name} | {tps:.0} | {:.3} |", tps / medians[0]);
    }
    Ok(())
}

/// Seconds of each tenth of a million subtransactions that end well, and of the commit.
pub fn released(server: &Server) -> Result<(), String> {
    pgbench::psql(server, "drop table if exists released; create table released (a int)")?;
    let mut client = Client::connect(server)?;
    client.query("begin")?;
    let tenths = tenths(1_000_000 / BATCH, |batch| {
        let one = |n: usize| {
            format!("savepoint s; insert into released values ({}); release s;", batch * BATCH + n)
        };
        client.query(&(0..BATCH).map(one).collect::<String>()).map(drop)
    })?;
    let start = Instant::now();
    client.query("commit")?;
    let commit = start.elapsed().as_secs_f64();
    println!("\n## A million SAVEPOINT, INSERT, RELEASE: {}\n\n{}", server.name, line(&tenths));
    let count = pgbench::psql(server, "select count(*), count(distinct a) from released")?;
    println!("commit: {commit:.3} s; rows and different ones: {}", count.trim());
    Ok(())
}

/// Seconds of each tenth of 20,000 subtransactions that are rolled back, and the size of their index.
pub fn rolled_back(server: &Server) -> Result<(), String> {
    let table = "drop table if exists rolled; create table rolled (a int primary key, b text)";
    pgbench::psql(server, table)?;
    let mut client = Client::connect(server)?;
    let size = |client: &mut Client| client.value("select pg_relation_size('rolled_pkey')");
    client.query("begin; set local enable_seqscan = off")?;
    let mut after_hundred = String::new();
    let tenths = tenths(20_000, |n| {
        client.query(
            "savepoint s; insert into rolled select g, 'x' from generate_series(1, 10) g; \
             select count(*) from rolled where a between 1 and 10; rollback to s",
        )?;
        if n == 99 {
            after_hundred = size(&mut client)?;
        }
        Ok(())
    })?;
    let at_end = size(&mut client)?;
    client.query("commit")?;
    println!(
        "\n## 20,000 times SAVEPOINT, INSERT, index scan, ROLLBACK TO: {}\n\n{}",
        server.name,
        line(&tenths)
    );
    println!("index: {after_hundred} bytes after the first hundred, {at_end} at the end");
    Ok(())
}

fn tenths(count: usize, mut work: impl FnMut(usize) -> Result<(), String>) -> Result<Vec<f64>, String> {
    let mut seconds = Vec::new();
    for tenth in 0..10 {
        let start = Instant::now();
        (tenth * count / 10..(tenth + 1) * count / 10).try_for_each(&mut work)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

fn line(tenths: &[f64]) -> String {
    let all: Vec<String> = tenths.iter().map(|s| format!("{s:.2}")).collect();
    let (first, second): (f64, f64) = (tenths[..5].iter().sum(), tenths[5..].iter().sum());
    format!("tenths, seconds: {}; second half ÷ first: {:.2}", all.join(" "), second / first)
}
