//! Standbys: how fast they replay, what a primary does that waits for one, and how far one is behind at full load.
//!
//! Every server has a standby of its own kind. Replay: pgbench's own script leaves a log on the primary, and the standby, a copy from before that, is
//! started; what counts is the time, and the processor time, until it has replayed all. Replication: the script runs at many clients beside a standby,
//! synchronous or not. Sums must agree.

use std::time::{Duration, Instant};

use crate::client::Client;
use crate::peers::Server;
use crate::pgbench::{self, Length};
use crate::report::median;

/// Clients that fill the log.
const CLIENTS: u32 = 32;
/// How long a standby may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// No checkpoint but those that are asked for, and all of the log is kept.
const SETTINGS: [&str; 3] = ["max_wal_size=64GB", "checkpoint_timeout=1h", "wal_keep_size=64GB"];
/// How often it is asked how far a standby is behind.
const LOOK: Duration = Duration::from_millis(50);
const SUM: &str = "select sum(abalance) from pgbench_accounts";

fn settings(more: &[&str]) -> Vec<String> {
    SETTINGS.iter().chain(more).map(|setting| (*setting).to_owned()).collect()
}

/// A replay's log in megabytes, and the seconds, and those of processors, that it took.
struct Replayed {
    log_mb: f64,
    seconds: f64,
    processor: f64,
}

/// Replay of the log of so many transactions; prints a line for each server.
pub fn replay(
    servers: &mut [&mut Server],
    (scale, transactions, rounds): (u32, u32, u32),
) -> Result<(), String> {
    println!("\n## Replay by a standby: {transactions} transactions of pgbench's script, scale {scale}\n");
    let mut seen: Vec<Vec<Replayed>> = servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (server, seen) in servers.iter_mut().zip(&mut seen) {
            let replayed = replay_on(server, scale, transactions);
            seen.push(replayed.map_err(|e| format!("{}: {e}", server.name))?);
        }
    }
    let mut figures = Vec::new();
    for (server, seen) in servers.iter().zip(&seen) {
        let of = |what: fn(&Replayed) -> f64| median(seen.iter().map(what).collect());
        let (log, seconds, processor) = (of(|s| s.log_mb), of(|s| s.seconds), of(|s| s.processor));
        println!(
            "{:14} log {log:6.0} MB, {seconds:6.2} s, processor {processor:6.2} s: {:7.0} transactions a second",
            server.name,
            f64::from(transactions) / seconds
        );
        figures.push((seconds, processor));
    }
    for (server, (seconds, processor)) in servers.iter().zip(&figures).skip(1) {
        let (ours, busy) = figures[0];
        println!(
            "{:.2} times as fast as {}, with {:.2} times its processor time",
            seconds / ours,
            server.name,
            busy / processor
        );
    }
    Ok(())
}

fn replay_on(server: &mut Server, scale: u32, transactions: u32) -> Result<Replayed, String> {
    server.restart(&settings(&["synchronous_commit=off"]))?;
    pgbench::initialize(server, scale)?;
    let mut standby = server.standby(&settings(&["synchronous_commit=off"]))?;
    let mut client = Client::connect(server)?;
    let start = client.value("select pg_current_wal_lsn()")?;
    let length = Length::Transactions(transactions / CLIENTS);
    pgbench::run_counting(server, CLIENTS, length, &["-M", "prepared"])?;
    // A commit that waits takes all before it to the disk.
    client.query("set synchronous_commit = on")?;
    client.query("create table last_of_all ()")?;
    client.query("drop table last_of_all")?;
    let end = client.value("select pg_current_wal_lsn()")?;
    let bytes = client.value(&format!("select '{end}'::pg_lsn - '{start}'"))?;
    let begin = Instant::now();
    standby.restart(&settings(&[]))?;
    wait_until_replayed(&standby, &end)?;
    let (seconds, processor) = (begin.elapsed().as_secs_f64(), standby.processor_seconds());
    let (wanted, got) = (client.value(SUM)?, Client::connect(&standby)?.value(SUM)?);
    if wanted != got {
        return Err(format!("{wanted} on the primary, {got} on its standby"));
    }
    Ok(Replayed { log_mb: bytes.parse::<f64>().map_err(|e| e.to_string())? / 1e6, seconds, processor })
}

/// Waits until a standby has replayed its log up to `end`.
pub fn wait_until_replayed(standby: &Server, end: &str) -> Result<(), String> {
    let begin = Instant::now();
    let mut client = Client::connect(standby)?;
    while client.value(&format!("select pg_last_wal_replay_lsn() >= '{end}'"))? != "t" {
        if begin.elapsed() > PATIENCE {
            return Err("the standby does not come to the end".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Transactions a second with one synchronous standby and with one that nobody waits for, with the milliseconds of processor time that primary and standby took for
/// each, and how far that standby was behind, in milliseconds: median, 99th percentile and most.
struct Replicated {
    waiting: [f64; 2],
    alone: [f64; 2],
    lag: [f64; 3],
}

/// pgbench's script beside one standby; prints a line for each server.
pub fn replication(
    servers: &mut [&mut Server],
    (scale, clients, seconds, rounds): (u32, u32, u32, u32),
) -> Result<(), String> {
    println!("\n## Replication: pgbench's script at {clients} clients, scale {scale}, one standby\n");
    let mut seen: Vec<Vec<Replicated>> = servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (server, seen) in servers.iter_mut().zip(&mut seen) {
            let replicated = replication_of(server, scale, clients, seconds);
            seen.push(replicated.map_err(|e| format!("{}: {e}", server.name))?);
        }
    }
    let mut figures = Vec::new();
    for (server, seen) in servers.iter().zip(&seen) {
        let of = |what: fn(&Replicated) -> f64| median(seen.iter().map(what).collect());
        let (waiting, alone) = (of(|s| s.waiting[0]), of(|s| s.alone[0]));
        println!(
            "{:14} synchronous {waiting:7.0} tps, processor {:.3} ms each; asynchronous {alone:7.0} tps, {:.3} ms, behind by {:.1} ms in the median, p99 {:.1} ms, {:.1} ms at most",
            server.name,
            of(|s| s.waiting[1]),
            of(|s| s.alone[1]),
            of(|s| s.lag[0]),
            of(|s| s.lag[1]),
            of(|s| s.lag[2]),
        );
        figures.push((waiting, alone));
    }
    for (server, (waiting, alone)) in servers.iter().zip(&figures).skip(1) {
        let ours = figures[0];
        let (waiting, alone) = (ours.0 / waiting, ours.1 / alone);
        println!(
            "{waiting:.2} times {} with a synchronous standby, {alone:.2} times with one that is not",
            server.name
        );
    }
    Ok(())
}

fn replication_of(server: &mut Server, scale: u32, clients: u32, seconds: u32) -> Result<Replicated, String> {
    server.restart(&settings(&[]))?;
    pgbench::initialize(server, scale)?;
    let mut standby = server.standby(&settings(&[]))?;
    standby.restart(&settings(&[]))?;
    let run = |server: &Server| {
        let busy = || server.processor_seconds() + standby.processor_seconds();
        let before = busy();
        let figures = pgbench::run(server, clients, seconds, &["-M", "prepared"])?;
        Ok::<[f64; 2], String>([figures.tps, (busy() - before) / figures.counts[0] * 1000.0])
    };
    let mut client = Client::connect(server)?;
    let end = client.value("select pg_current_wal_lsn()")?;
    wait_until_replayed(&standby, &end)?;
    let mut lags = Vec::new();
    let alone = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(server));
        while !running.is_finished() {
            let lag = "select coalesce(extract(epoch from replay_lag) * 1000, 0) from pg_stat_replication";
            if let Ok(lag) = client.value(lag)?.parse::<f64>() {
                lags.push(lag);
            }
            std::thread::sleep(LOOK);
        }
        running.join().map_err(|_| "pgbench's thread failed".to_owned())?
    })?;
    client.query("alter system set synchronous_standby_names = '*'")?;
    client.query("select pg_reload_conf()")?;
    let waiting = run(server)?;
    client.query("alter system reset synchronous_standby_names")?;
    client.query("select pg_reload_conf()")?;
    let end = client.value("select pg_current_wal_lsn()")?;
    wait_until_replayed(&standby, &end)?;
    let (wanted, got) = (client.value(SUM)?, Client::connect(&standby)?.value(SUM)?);
    if wanted != got {
        return Err(format!("{wanted} on the primary, {got} on its standby"));
    }
    lags.sort_by(f64::total_cmp);
    let at = |share: usize| lags.get((lags.len() * share / 100).min(lags.len().saturating_sub(1))).copied();
    let lag = [50, 99, 100].map(|share| at(share).unwrap_or(f64::NAN));
    Ok(Replicated { waiting, alone, lag })
}
