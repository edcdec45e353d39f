//! Recovery from a crash: thread 3's measure of compaction, and of redo as a whole.
//!
//! Many clients update rows by random keys, the server is stopped at once, and started again. What counts is the time until a client has a first
//! correct answer, until its first write is acknowledged, and until everything is redone, with what the server says of its redo. Servers take
//! turns. The sum over the table must be what it was.

use std::time::{Duration, Instant};

use crate::client::Client;
use crate::peers::Server;
use crate::pgbench::{self, Length, Script};
use crate::report::median;

/// Clients that update.
const CLIENTS: u32 = 100;
/// How long redo may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// No checkpoint but those that are asked for: all of the log is redone.
const SETTINGS: [&str; 3] = ["max_wal_size=64GB", "checkpoint_timeout=1h", "synchronous_commit=off"];

/// A table, and what is run on it.
struct Case {
    name: &'static str,
    /// Columns behind the key and the counter, and what they hold.
    more: Option<(&'static str, &'static str)>,
    rows: u32,
}

const CASES: [Case; 4] = [
    Case { name: "narrow", more: None, rows: 1_000_000 },
    Case {
        name: "medium",
        more: Some((", c text", ", md5(g::text) || md5((g + 1)::text)")),
        rows: 1_000_000,
    },
    Case { name: "wide", more: Some((", c text", ", repeat(md5(g::text), 31)")), rows: 100_000 },
    Case { name: "ten rows", more: None, rows: 10 },
];

/// pgbench's tables at this scale, and what its default script leaves in the log.
const TPCB: (&str, u32) = ("pgbench", 20);

/// Seconds, but for the first.
struct Seen {
    log_mb: f64,
    answer: f64,
    write: f64,
    all: f64,
    said: String,
}

/// All cases, or those whose name contains `only`, with so many transactions each; prints a line for each server.
pub fn run(
    servers: &mut [&mut Server],
    only: Option<&str>,
    (transactions, rounds): (u32, u32),
) -> Result<(), String> {
    println!("\n## Recovery: {transactions} transactions of {CLIENTS} clients before the crash\n");
    let names = CASES.iter().map(|case| case.name).chain([TPCB.0]);
    for name in names.filter(|name| only.is_none_or(|only| name.contains(only))) {
        let mut seen: Vec<Vec<Seen>> = servers.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (server, seen) in servers.iter_mut().zip(&mut seen) {
                let measured = measure(server, name, transactions);
                seen.push(measured.map_err(|e| format!("{name}: {}: {e}", server.name))?);
            }
        }
        for (server, seen) in servers.iter().zip(seen) {
            let of = |what: fn(&Seen) -> f64| median(seen.iter().map(what).collect());
            println!(
                "{name:9} {:14} log {:6.0} MB, first answer {:6.2} s, first write {:6.2} s, all redone {:6.2} s; {}",
                server.name,
                of(|s| s.log_mb),
                of(|s| s.answer),
                of(|s| s.write),
                of(|s| s.all),
                seen.last().map(|s| s.said.as_str()).unwrap_or_default(),
            );
        }
    }
    Ok(())
}

/// The statement whose answer must be the same before and after, and the update.
struct Work {
    sum: &'static str,
    script: Option<Script>,
    write: &'static str,
}

fn prepare(server: &Server, name: &str) -> Result<Work, String> {
    let Some(case) = CASES.iter().find(|case| case.name == name) else {
        pgbench::initialize(server, TPCB.1)?;
        let sum = "select sum(abalance) from pgbench_accounts";
        let write = "update pgbench_branches set bbalance = bbalance where bid = 1";
        return Ok(Work { sum, script: None, write });
    };
    let (columns, values) = case.more.unwrap_or_default();
    let mut client = Client::connect(server)?;
    client.query("drop table if exists t1")?;
    client.query(&format!(
        "create table t1 (a int primary key, b int not null{columns}) with (fillfactor = 85)"
    ))?;
    client.query(&format!("insert into t1 select g, 0{values} from generate_series(1, {}) g", case.rows))?;
    client.query("vacuum analyze t1")?;
    let text = format!("\\set i random(1, {})\nupdate t1 set b = b + 1 where a = :i;\n", case.rows);
    let script = Some(Script::new("recovery", &text)?);
    Ok(Work { sum: "select sum(b) from t1", script, write: "update t1 set b = b where a = 1" })
}

fn measure(server: &mut Server, name: &str, transactions: u32) -> Result<Seen, String> {
    let settings = SETTINGS.map(str::to_owned);
    server.restart(&settings)?;
    let work = prepare(server, name)?;
    let mut client = Client::connect(server)?;
    client.query("checkpoint")?;
    let start = client.value("select pg_current_wal_lsn()")?;
    let length = Length::Transactions(transactions / CLIENTS);
    match &work.script {
        Some(script) => script.tps(server, CLIENTS, length)?,
        None => pgbench::run_counting(server, CLIENTS, length, &["-M", "prepared"])?.tps,
    };
    // A commit that waits takes all before it to the disk.
    client.query("set synchronous_commit = on")?;
    client.query("create table last_of_all ()")?;
    client.query("drop table last_of_all")?;
    let bytes = client.value(&format!("select pg_current_wal_lsn() - '{start}'"))?;
    let sum = client.value(work.sum)?;
    drop(client);
    server.crash(&settings)?;
    let begin = Instant::now();
    let mut client = loop {
        match Client::connect(server).and_then(|mut client| client.query("select 1").map(|_| client)) {
            Ok(client) => break client,
            Err(error) if begin.elapsed() > PATIENCE => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let answer = begin.elapsed().as_secs_f64();
    client.query("set synchronous_commit = on")?;
    client.query(work.write)?;
    let write = begin.elapsed().as_secs_f64();
    let (all, said) = loop {
        let log = server.log();
        if let Some(line) = log.lines().find(|line| line.contains("redo done")) {
            let said = line.split("LOG: ").nth(1).unwrap_or(line).trim();
            break (begin.elapsed().as_secs_f64(), said.to_owned());
        }
        if begin.elapsed() > PATIENCE {
            return Err("redo does not end".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let again = client.value(work.sum)?;
    if again != sum {
        return Err(format!("{sum} before the crash, {again} behind it"));
    }
    let log_mb = bytes.parse::<f64>().map_err(|e| e.to_string())? / 1e6;
    Ok(Seen { log_mb, answer, write, all, said })
}
