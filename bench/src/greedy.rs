//! Neighbours of greedy statements: does anybody else feel a long function call, a hopeless regular expression, or one that wants all memory?
//!
//! Each statement is repeated in one session while 100 clients ask point queries and new connections ask for `select 1`. What counts is the
//! latency of the others. The statement itself may fail: that it is refused or times out is the server's good right.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::peers::Server;
use crate::pgbench;
use crate::report::median;
use crate::scenario::p99_ms;

/// How often each statement runs at least.
const REPEATS: u32 = 20;

/// Clients that ask point queries meanwhile.
const NEIGHBOURS: u32 = 100;

/// Seconds of one run of the load generator; runs follow each other until the statement was repeated often enough.
const RUN_SECONDS: u32 = 5;

/// How long a statement may take.
const TIMEOUT: &str = "set statement_timeout = '10s'";

/// Name and text of what is repeated. `N(n)` stands for n in a form that no planner works out beforehand.
const STATEMENTS: &[(&str, &str)] = &[
    ("regex, deep groups", "select 'a' ~ (repeat('(', N(340)) || 'a' || repeat(')', 340))"),
    ("regex, open groups", "select 'a' ~ repeat('(', N(100000))"),
    ("regex, five back references", r"select repeat('ab', N(50000)) ~ '(.*)(.*)(.*)(.*)(.*)\1\2\3\4\5x'"),
    ("regex, three back references", r"select repeat('ab', N(6000)) ~ '(.*)(.*)(.*)\1\2\3x'"),
    (
        "regexp_split_to_table, 40 MB",
        "select count(*) from regexp_split_to_table(repeat('abc ', N(10000000)), ' ')",
    ),
    ("encode, 500 MB", "select length(encode(convert_to(repeat('x', N(500000000)), 'UTF8'), 'hex'))"),
    ("regexp_replace, 40 MB", "select length(regexp_replace(repeat('abc ', N(10000000)), 'b', 'xx', 'g'))"),
    ("replace, 200 MB", "select length(replace(repeat('abcd', N(50000000)), 'bc', 'xyz'))"),
    ("reverse, 200 MB", "select length(reverse(repeat('abcd', N(50000000))))"),
    ("string_to_table, 40 MB", "select count(*) from string_to_table(repeat('abc,', N(10000000)), ',')"),
    (
        "array_to_string",
        "select length(array_to_string(array_agg(i), ',')) from generate_series(1, 5000000) i",
    ),
    ("string_agg", "select length(string_agg(repeat('x', 100), ',')) from generate_series(1, 2000000) i"),
    (
        "array_agg without end",
        "select array_agg(repeat('x', 1000) || i) from generate_series(1, 100000000) i",
    ),
];

/// What the others saw.
struct Seen {
    /// Median seconds of the statement, and whether its last run failed.
    median: f64,
    failure: Option<String>,
    p99_ms: f64,
    /// Longest time from the call to connect to the answer to `select 1`.
    connection_ms: f64,
}

/// Every statement, or those whose name contains `only`, on every server; prints a line each.
pub fn run(servers: &[&Server], scale: u32, only: Option<&str>) -> Result<(), String> {
    for server in servers {
        pgbench::initialize(server, scale)?;
    }
    println!("{NEIGHBOURS} clients of -S beside one statement, repeated {REPEATS} times or more");
    for (name, text) in STATEMENTS.iter().filter(|s| only.is_none_or(|only| s.0.contains(only))) {
        for server in servers {
            let seen = beside(server, text)?;
            println!(
                "{name:30} {:14} a run {:7.3} s, -S p99 {:7.2} ms, slowest new connection {:7.1} ms{}",
                server.name,
                seen.median,
                seen.p99_ms,
                seen.connection_ms,
                seen.failure.map(|why| format!("  ({why})")).unwrap_or_default()
            );
        }
    }
    Ok(())
}

fn beside(server: &Server, text: &str) -> Result<Seen, String> {
    let log = std::env::temp_dir().join(format!("stampede-latency-{}", std::process::id()));
    let prefix = log.to_string_lossy().into_owned();
    let args = ["-S", "-M", "prepared", "-l", "--sampling-rate", "0.2", "--log-prefix", &prefix];
    let runs = AtomicU32::new(0);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let greedy = scope.spawn(|| repeat(server, text, &runs, &stop));
        let arrivals = scope.spawn(|| slowest_connection(server, &stop));
        let mut load = Ok(());
        // The statement's thread ends early when its server is lost.
        while load.is_ok() && !greedy.is_finished() && runs.load(Ordering::Relaxed) < REPEATS {
            load = pgbench::run(server, NEIGHBOURS, RUN_SECONDS, &args).map(drop);
        }
        stop.store(true, Ordering::Relaxed);
        let repeated = greedy.join().map_err(|_| "the statement's thread panicked")?;
        let connection_ms = arrivals.join().map_err(|_| "the thread of new connections panicked")??;
        load?;
        let (median, failure) = repeated?;
        Ok(Seen { median, failure, p99_ms: p99_ms(&log)?, connection_ms })
    })
}

/// Repeats a statement until it is told to stop: median seconds, and why the last run failed.
fn repeat(
    server: &Server,
    text: &str,
    runs: &AtomicU32,
    stop: &AtomicBool,
) -> Result<(f64, Option<String>), String> {
    let text = text.replace("N(", "(random() * 9)::int + (");
    let mut client = Client::connect(server)?;
    client.query(TIMEOUT)?;
    let mut seconds = Vec::new();
    let mut failure = None;
    while !stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        failure = client.query(&text).err();
        seconds.push(start.elapsed().as_secs_f64());
        runs.fetch_add(1, Ordering::Relaxed);
    }
    client.query("select 1").map_err(|e| format!("{}: the session is gone: {e}", server.name))?;
    Ok((median(seconds), failure))
}

/// Connects ten times a second until it is told to stop; the longest wait in milliseconds.
fn slowest_connection(server: &Server, stop: &AtomicBool) -> Result<f64, String> {
    let mut slowest: f64 = 0.0;
    loop {
        let start = Instant::now();
        Client::connect(server)?.query("select 1")?;
        slowest = slowest.max(start.elapsed().as_secs_f64() * 1000.0);
        if stop.load(Ordering::Relaxed) {
            return Ok(slowest);
        }
        thread::sleep(Duration::from_millis(100));
    }
}
