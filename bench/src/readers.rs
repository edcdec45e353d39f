//! Thousands of sessions that read at a standby while its primary writes.
//!
//! Each session asks in turn for a row, and for what must be so in every snapshot: pgbench's sums agree, and a number that the primary counts up never goes
//! back. No statement may fail; in the end all see what the primary has. What a session costs in memory is told, idle and at work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::peers::Server;
use crate::pgbench;
use crate::scenario::resident_kib;
use crate::standbys::wait_until_replayed;

/// Threads that drive the sessions, each its share one after the other.
const DRIVERS: usize = 8;
/// Clients that write at the primary.
const WRITERS: u32 = 8;
const SETTINGS: [&str; 2] = ["wal_keep_size=64GB", "checkpoint_timeout=1h"];
/// What a session asks: true if the sums agree, and how far the primary has counted.
const LOOK: &str = "select ((select sum(bbalance) from pgbench_branches) = (select sum(tbalance) from pgbench_tellers))::text || ' ' || n from ticks";

/// A session at the standby, and how far it has seen the primary count.
struct Reader {
    client: Client,
    seen: u64,
}

impl Reader {
    fn connect(standby: &Server) -> Result<Reader, String> {
        let mut reader = Reader { client: Client::connect(standby)?, seen: 0 };
        reader.look()?;
        Ok(reader)
    }

    fn look(&mut self) -> Result<(), String> {
        let row = self.client.value(LOOK)?;
        let (agree, ticks) = row.split_once(' ').ok_or("two words were asked for")?;
        let ticks: u64 = ticks.parse().map_err(|_| format!("no number: {ticks}"))?;
        if agree != "true" || ticks < self.seen {
            return Err(format!("{row} behind {}", self.seen));
        }
        self.seen = ticks;
        Ok(())
    }

    fn ask(&mut self, aid: usize) -> Result<(), String> {
        self.client.value(&format!("select abalance from pgbench_accounts where aid = {aid}"))?;
        self.look()
    }
}

/// Prints what so many sessions cost and saw.
pub fn run(primary: &mut Server, sessions: usize, scale: u32, seconds: u32) -> Result<(), String> {
    println!("\n## {sessions} sessions that read at a standby, pgbench's script at its primary\n");
    let settings = SETTINGS.map(str::to_owned);
    primary.restart(&settings)?;
    pgbench::initialize(primary, scale)?;
    let mut writer = Client::connect(primary)?;
    writer.query("create table ticks (n bigint); insert into ticks values (0)")?;
    drop(writer);
    let mut standby = primary.standby(&settings)?;
    standby.restart(&settings)?;

    let before = resident_kib(standby.pid())?;
    let begin = Instant::now();
    let mut readers = connect(&standby, sessions)?;
    let idle = resident_kib(standby.pid())? - before;
    println!(
        "{} sessions connected and asked once in {:.1} s: {:.1} KiB each",
        readers.iter().map(Vec::len).sum::<usize>(),
        begin.elapsed().as_secs_f64(),
        idle as f64 / sessions as f64
    );
    let (mut asked, most) = read(primary, &standby, &mut readers, seconds)?;
    println!(
        "at work: {} times two queries, {:.0} a second; latency p50 {:.2} ms, p99 {:.2} ms; {:.1} KiB each at most",
        asked.len(),
        2.0 * asked.len() as f64 / f64::from(seconds),
        quantile(&mut asked, 0.5),
        quantile(&mut asked, 0.99),
        (most - before) as f64 / sessions as f64
    );
    let mut writer = Client::connect(primary)?;
    let ticks = writer.value("select n from ticks")?;
    wait_until_replayed(&standby, &writer.value("select pg_current_wal_lsn()")?)?;
    for reader in readers.iter_mut().flatten() {
        reader.look()?;
        if reader.seen.to_string() != ticks {
            return Err(format!("{ticks} at the primary, a session of the standby sees {}", reader.seen));
        }
    }
    println!("all {sessions} sessions see what the primary has ({ticks} ticks); none failed");
    Ok(())
}

fn quantile(of: &mut [f64], share: f64) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get((of.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN)
}

/// The sessions, in as many parts as there are drivers.
fn connect(standby: &Server, sessions: usize) -> Result<Vec<Vec<Reader>>, String> {
    thread::scope(|scope| {
        let part = |n: usize| sessions * (n + 1) / DRIVERS - sessions * n / DRIVERS;
        let drivers: Vec<_> = (0..DRIVERS)
            .map(|n| {
                scope.spawn(move || {
                    (0..part(n)).map(|_| Reader::connect(standby)).collect::<Result<Vec<_>, _>>()
                })
            })
            .collect();
        drivers.into_iter().map(|driver| driver.join().map_err(|_| "a driver failed".to_owned())?).collect()
    })
}

/// All sessions ask while the primary writes: the milliseconds of each time, and the most memory of the standby in KiB.
fn read(
    primary: &Server,
    standby: &Server,
    readers: &mut [Vec<Reader>],
    seconds: u32,
) -> Result<(Vec<f64>, i64), String> {
    let (over, asked) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let drive = |readers: &mut Vec<Reader>| {
        let mut times = Vec::new();
        'all: loop {
            for (n, reader) in readers.iter_mut().enumerate() {
                if over.load(Ordering::Relaxed) {
                    break 'all;
                }
                let begin = Instant::now();
                reader.ask(n + 1)?;
                times.push(begin.elapsed().as_secs_f64() * 1000.0);
            }
        }
        asked.lock().map_err(|_| "a driver failed")?.extend(times);
        Ok::<(), String>(())
    };
    let most = thread::scope(|scope| {
        let load = scope.spawn(|| {
            let done = pgbench::run(primary, WRITERS, seconds, &["-M", "prepared"]);
            over.store(true, Ordering::Relaxed);
            done
        });
        let ticks = scope.spawn(|| {
            let mut client = Client::connect(primary)?;
            while !over.load(Ordering::Relaxed) {
                client.query("update ticks set n = n + 1")?;
                thread::sleep(Duration::from_millis(5));
            }
            Ok::<(), String>(())
        });
        let drivers: Vec<_> = readers.iter_mut().map(|readers| scope.spawn(|| drive(readers))).collect();
        let mut most = 0;
        while !over.load(Ordering::Relaxed) {
            most = most.max(resident_kib(standby.pid())?);
            thread::sleep(Duration::from_millis(100));
        }
        for driver in drivers {
            driver.join().map_err(|_| "a driver failed")??;
        }
        ticks.join().map_err(|_| "the writer failed")??;
        load.join().map_err(|_| "pgbench's thread failed")??;
        Ok::<i64, String>(most)
    })?;
    Ok((asked.into_inner().map_err(|_| "a driver failed")?, most))
}
