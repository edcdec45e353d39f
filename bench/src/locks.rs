//! Locks under crowds: is there a cliff where PostgreSQL has one?
//!
//! * `multixact`: seven clients that each share-lock half of a table six times, with the caches of multixacts from small to large;
//! * `sharers`: one row, shared by one session after the other: what each further one costs;
//! * `parent`: children of one parent are inserted;
//! * `hot-row`: everybody updates one row;
//! * `queue`: everybody takes the first job that is free;
//! * `notify`: writers beside a crowd that listens;
//! * `serializable`: what SERIALIZABLE costs beside REPEATABLE READ, and how many transactions it gives up.
//!
//! All servers take turns, several rounds; the figures are medians.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::peers::Server;
use crate::pgbench::{self, Length, Script};
use crate::report::median;

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Case {
    /// Half of a table, shared by seven, over and over.
    Multixact,
    /// One row, shared by thousands.
    Sharers,
    /// Children of one parent.
    Parent,
    /// One row, updated by 500 clients.
    HotRow,
    /// A table of jobs, and 100 workers.
    Queue,
    /// Writers beside 10,000 listeners.
    Notify,
    /// SERIALIZABLE beside REPEATABLE READ.
    Serializable,
}

/// A case, on all servers.
type Measure = fn(&[&Server], &Task) -> Result<(), String>;

/// How much is asked for.
pub struct Task {
    /// Seconds a run.
    pub seconds: u32,
    /// Rounds; every round runs every server once.
    pub rounds: u32,
    /// Sessions up to which PostgreSQL runs along.
    pub most_processes: u32,
}

/// Sizes of both caches of multixacts, in pages; none for the default.
const CACHES: [Option<u32>; 6] = [None, Some(16), Some(64), Some(256), Some(1024), Some(4096)];

/// Rows of the table that is shared, some twenty a page.
const SHARED_ROWS: u32 = 100_000;
const SHARING_CLIENTS: u64 = 7;
const SHARING_STATEMENTS: usize = 6;

/// Further sharers of one row, by number, of which the median is told.
const SHARERS: [std::ops::RangeInclusive<usize>; 5] = [2..=9, 10..=30, 100..=120, 990..=1010, 4980..=5000];

const WORKERS: u32 = 100;
const LISTENERS: u32 = 10_000;
/// Connecting is part of a run, and takes a moment for so many.
const HOT_SECONDS: u32 = 5;
/// Jobs that each worker takes, for each second of a run.
const JOBS_A_SECOND: u32 = 50;

/// The chosen case, or all; prints a table each.
pub fn run(servers: &mut [&mut Server], only: Option<Case>, task: &Task) -> Result<(), String> {
    let wanted = |case| only.is_none_or(|only| only == case);
    if wanted(Case::Multixact) {
        multixact(servers, task)?;
    }
    let servers: Vec<&Server> = servers.iter().map(|server| &**server).collect();
    let cases: [(Case, Measure); 6] = [
        (Case::Sharers, sharers),
        (Case::Parent, parent),
        (Case::HotRow, hot_row),
        (Case::Queue, queue),
        (Case::Notify, notify),
        (Case::Serializable, serializable),
    ];
    cases.into_iter().filter(|case| wanted(case.0)).try_for_each(|case| case.1(&servers, task))
}

/// Measures every server in turn, round after round; prints the medians and, for more than one, their ratio to the first.
fn compare(
    title: &str,
    unit: &str,
    rounds: u32,
    servers: &[&Server],
    mut measure: impl FnMut(&Server) -> Result<f64, String>,
) -> Result<Vec<f64>, String> {
    let mut values = vec![Vec::new(); servers.len()];
    for _ in 0..rounds {
        for (server, values) in servers.iter().zip(&mut values) {
            values.push(measure(server).map_err(|e| format!("{title}: {}: {e}", server.name))?);
        }
    }
    let medians: Vec<f64> = values.into_iter().map(median).collect();
    let shown = servers.iter().zip(&medians).map(|(server, value)| {
        format!("{} {value:.1} {unit} (Stampede ÷ this: {:.2})", server.name, medians[0] / value)
    });
    println!("{title}: {}", shown.collect::<Vec<_>>().join(", "));
    Ok(medians)
}

fn statements(server: &Server, sql: &str) -> Result<(), String> {
    let mut client = Client::connect(server)?;
    sql.split(';')
        .map(str::trim)
        .filter(|one| !one.is_empty())
        .try_for_each(|one| client.query(one).map(drop))
}

fn asynchronous(servers: &[&Server], off: bool) -> Result<(), String> {
    let sql = if off {
        "alter role postgres set synchronous_commit = off"
    } else {
        "alter role postgres reset synchronous_commit"
    };
    servers.iter().try_for_each(|server| statements(server, sql))
}

// Half of a table, shared by seven

fn multixact(servers: &mut [&mut Server], task: &Task) -> Result<(), String> {
    println!("\n## {SHARING_CLIENTS} clients share halves of {SHARED_ROWS} rows: seconds\n");
    for server in servers.iter() {
        statements(
            server,
            &format!(
                "drop table if exists t1; create table t1 (i int) with (fillfactor = 10);
                 insert into t1 select generate_series(1, {SHARED_ROWS}); create unique index on t1 (i);
                 vacuum analyze t1"
            ),
        )?;
    }
    for cache in CACHES {
        let settings: Vec<String> = cache.map_or(Vec::new(), |pages| {
            ["offset", "member"].map(|what| format!("multixact_{what}_buffers={pages}")).into()
        });
        for server in servers.iter_mut() {
            server.restart(&settings)?;
        }
        let title = cache.map_or("default".to_owned(), |pages| format!("{pages} buffers"));
        let shared: Vec<&Server> = servers.iter().map(|server| &**server).collect();
        compare(&title, "s", task.rounds, &shared, share_halves)?;
    }
    servers.iter_mut().try_for_each(|server| server.restart(&[]))
}

/// Seconds until all clients have shared what they want, each in one transaction.
fn share_halves(server: &Server) -> Result<f64, String> {
    statements(server, "vacuum t1; checkpoint")?;
    let start = Instant::now();
    thread::scope(|scope| {
        let clients: Vec<_> = (1..=SHARING_CLIENTS)
            .map(|seed| {
                scope.spawn(move || {
                    let mut client = Client::connect(server)?;
                    client.query("begin")?;
                    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    for _ in 0..SHARING_STATEMENTS {
                        client.query(&share_half(&mut random))?;
                    }
                    client.query("commit").map(drop)
                })
            })
            .collect();
        clients.into_iter().try_for_each(|client| client.join().map_err(|_| "a client panicked")?)
    })?;
    Ok(start.elapsed().as_secs_f64())
}

/// The statement, for a random half of the keys.
fn share_half(random: &mut u64) -> String {
    let mut keys = String::new();
    for key in 1..=SHARED_ROWS {
        // xorshift: the same keys on every server and in every round.
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        if *random >> 40 & 1 == 1 {
            keys += if keys.is_empty() { "" } else { "," };
            keys += &key.to_string();
        }
    }
    format!(
        "select count(*) from (select * from t1 where i = any(array(select unnest('{{{keys}}}'::int[]))) for share) x"
    )
}

// One row, shared by thousands

fn sharers(servers: &[&Server], task: &Task) -> Result<(), String> {
    println!("\n## Sharers of one row: microseconds and bytes of log of each further one\n");
    for server in servers {
        let most = if server.name == "Stampede" { 5000 } else { task.most_processes.min(5000) } as usize;
        let mut rounds = Vec::new();
        for _ in 0..task.rounds {
            rounds.push(share_one_row(server, most)?);
        }
        for range in SHARERS.iter().filter(|range| *range.end() <= most) {
            let all = |pick: fn(&(f64, f64)) -> f64| {
                median(
                    rounds
                        .iter()
                        .map(|round| median(round[range.clone()].iter().map(pick).collect()))
                        .collect(),
                )
            };
            println!(
                "{:14} {:>12}: {:8.1} µs, {:7.0} bytes",
                server.name,
                format!("{}–{}", range.start(), range.end()),
                all(|one| one.0),
                all(|one| one.1)
            );
        }
    }
    Ok(())
}

/// Microseconds of the lock and bytes of log, for each sharer from the first on; those before stay.
fn share_one_row(server: &Server, most: usize) -> Result<Vec<(f64, f64)>, String> {
    statements(
        server,
        "drop table if exists shared; create table shared (i int primary key); insert into shared values (1)",
    )?;
    let mut watch = Client::connect(server)?;
    let mut position = || -> Result<f64, String> {
        let value = watch.value("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")?;
        value.parse().map_err(|_| format!("{value} is no position"))
    };
    let mut open = Vec::new();
    // Numbered from 1 on.
    let mut costs = vec![(0.0, 0.0)];
    for _ in 0..most {
        let mut client = Client::connect(server)?;
        client.query("begin")?;
        client.query("select 1 from shared where i = 0")?;
        let before = position()?;
        let start = Instant::now();
        client.query("select 1 from shared where i = 1 for share")?;
        let micros = start.elapsed().as_secs_f64() * 1e6;
        costs.push((micros, position()? - before));
        open.push(client);
    }
    Ok(costs)
}

// Rates of pgbench's scripts

fn parent(servers: &[&Server], task: &Task) -> Result<(), String> {
    println!("\n## Children of one parent, 64 clients, asynchronous commit\n");
    let script = Script::new("parent", "insert into child values (1)\n")?;
    asynchronous(servers, true)?;
    compare("children", "tps", task.rounds, servers, |server| {
        statements(
            server,
            "drop table if exists child, parent; create table parent (i int primary key);
             create table child (i int references parent); insert into parent values (1)",
        )?;
        script.tps(server, 64, Length::Seconds(task.seconds))
    })?;
    asynchronous(servers, false)
}

fn hot_row(servers: &[&Server], task: &Task) -> Result<(), String> {
    println!("\n## One row, updated by 500 clients\n");
    let script = Script::new("hot", "update hot set v = v + 1 where i = 1\n")?;
    for off in [true, false] {
        asynchronous(servers, off)?;
        let title = format!("synchronous_commit = {}", if off { "off" } else { "on" });
        compare(&title, "tps", task.rounds, servers, |server| {
            statements(
                server,
                "drop table if exists hot; create table hot (i int primary key, v bigint); insert into hot values (1, 0)",
            )?;
            script.tps(server, 500, Length::Seconds(task.seconds.max(HOT_SECONDS)))
        })?;
    }
    asynchronous(servers, false)
}

fn queue(servers: &[&Server], task: &Task) -> Result<(), String> {
    println!("\n## A table of jobs, {WORKERS} workers\n");
    let script = Script::new(
        "queue",
        "delete from jobs j using (select i from jobs order by i for update skip locked limit 1) first where j.i = first.i\n",
    )?;
    let each = JOBS_A_SECOND * task.seconds;
    compare("jobs taken", "tps", task.rounds, servers, |server| {
        let jobs = WORKERS * each;
        statements(
            server,
            &format!(
                "drop table if exists jobs; create table jobs (i int primary key, what text);
                 insert into jobs select i, 'work' from generate_series(1, {jobs}) i; vacuum analyze jobs"
            ),
        )?;
        let tps = script.tps(server, WORKERS, Length::Transactions(each))?;
        let left = pgbench::psql(server, "select count(*) from jobs")?;
        if left.trim() == "0" { Ok(tps) } else { Err(format!("{} jobs are left", left.trim())) }
    })
    .map(drop)
}

// Writers beside listeners

fn notify(servers: &[&Server], task: &Task) -> Result<(), String> {
    println!("\n## {WORKERS} writers, alone and beside listeners who are told something every second\n");
    let script = Script::new("writers", "insert into written values (1)\n")?;
    for server in servers {
        let most = if server.name == "Stampede" {
            LISTENERS
        } else {
            task.most_processes.saturating_sub(WORKERS).min(LISTENERS)
        };
        statements(server, "drop table if exists written; create table written (i int)")?;
        let mut alone = Vec::new();
        let mut beside = Vec::new();
        for _ in 0..task.rounds {
            let rate = || script.tps(server, WORKERS, Length::Seconds(task.seconds));
            alone.push(rate()?);
            let crowd = (0..most).map(|_| listener(server)).collect::<Result<Vec<_>, _>>()?;
            beside.push(beside_listeners(server, crowd, rate)?);
        }
        let (alone, beside) = (median(alone), median(beside));
        println!(
            "{:14} {most} listeners: {alone:.0} tps alone, {beside:.0} beside: {:.0} %",
            server.name,
            100.0 * beside / alone
        );
    }
    Ok(())
}

fn listener(server: &Server) -> Result<Client, String> {
    let mut client = Client::connect(server)?;
    client.query("listen news").map(|_| client)
}

/// What `rate` says while the crowd is told something every second and reads it.
fn beside_listeners(
    server: &Server,
    crowd: Vec<Client>,
    rate: impl FnOnce() -> Result<f64, String>,
) -> Result<f64, String> {
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let told = scope.spawn(|| {
            let mut notifier = Client::connect(server)?;
            let mut crowd = crowd;
            while !ended.load(Ordering::Relaxed) {
                notifier.query("notify news, 'there is some'")?;
                crowd.iter_mut().try_for_each(|client| client.notification().map(drop))?;
                thread::sleep(Duration::from_secs(1));
            }
            Ok::<_, String>(())
        });
        let rate = rate();
        ended.store(true, Ordering::Relaxed);
        told.join().map_err(|_| "the notifier panicked")??;
        rate
    })
}

// What SERIALIZABLE costs

fn serializable(servers: &[&Server], task: &Task) -> Result<(), String> {
    println!("\n## SERIALIZABLE beside REPEATABLE READ, 32 clients\n");
    let doctors = Script::new(
        "doctors",
        "\\set shift random(1, 1000)\n\\set doctor random(1, 2)\nbegin;\n\
         select count(*) from doctors where shift = :shift and on_call;\n\
         update doctors set on_call = not on_call where shift = :shift and doctor = :doctor;\nend;\n",
    )?;
    let path = doctors.path();
    let mixes = [("tpcb-like", vec!["-b", "tpcb-like"]), ("doctors on call", vec!["-f", path.as_str()])];
    for server in servers {
        pgbench::initialize(server, 32)?;
        statements(
            server,
            "drop table if exists doctors; create table doctors (shift int, doctor int, on_call bool, primary key (shift, doctor));
             insert into doctors select s, d, true from generate_series(1, 1000) s, generate_series(1, 2) d",
        )?;
        for (name, mix) in &mixes {
            for level in ["repeatable read", "serializable"] {
                match isolated(server, level, mix, task) {
                    Ok((tps, aborts)) => println!(
                        "{:14} {name:16} {level:16} {tps:8.0} tps, {:.2} % given up",
                        server.name,
                        100.0 * aborts
                    ),
                    Err(refusal) => println!("{:14} {name:16} {level:16} refused: {refusal}", server.name),
                }
            }
        }
    }
    Ok(())
}

/// Transactions a second that did their work, and the share of those that failed; medians.
fn isolated(server: &Server, level: &str, mix: &[&str], task: &Task) -> Result<(f64, f64), String> {
    let mut client = Client::connect(server)?;
    client.query(&format!("begin isolation level {level}"))?;
    client.query("rollback")?;
    client.query(&format!("alter role postgres set default_transaction_isolation = '{level}'"))?;
    let mut args = vec!["-M", "prepared"];
    args.extend(mix);
    let mut rounds = Vec::new();
    for _ in 0..task.rounds {
        rounds.push(pgbench::run_counting(server, 32, Length::Seconds(task.seconds), &args));
    }
    client.query("alter role postgres reset default_transaction_isolation")?;
    let rounds = rounds.into_iter().collect::<Result<Vec<_>, _>>()?;
    let share = |figures: &pgbench::Figures| figures.counts[1] / (figures.counts[0] + figures.counts[1]);
    Ok((
        median(rounds.iter().map(|figures| figures.tps).collect()),
        median(rounds.iter().map(share).collect()),
    ))
}
