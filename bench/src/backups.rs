//! Base backups: how fast `pg_basebackup` copies a server, and what pgbench's own script loses meanwhile.
//!
//! A server is copied without a load first: that tells the backup's speed, and what it takes of the processors by itself. Then the script runs, and the server
//! is copied beside it. What counts is the share of its transactions that the load keeps, to what it did just before and after, and to the share of the
//! processors that a backup leaves it. `cp -a` of the data directory tells what the disk gives.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::canned;
use crate::peers::{Server, check};
use crate::pgbench;
use crate::report::median;

/// Log that is kept, so that no copy fails for want of it.
const SETTINGS: [&str; 3] = ["max_wal_size=64GB", "checkpoint_timeout=1h", "wal_keep_size=4GB"];

/// What is to be measured.
pub struct Task<'a> {
    /// `pg_basebackup`.
    pub program: &'a Path,
    pub scale: u32,
    pub clients: u32,
    /// Seconds of the load before and after a backup.
    pub seconds: u32,
    pub rounds: u32,
    /// Megabytes a second to which a second backup beside the load is held.
    pub rate: u32,
}

/// A backup that was taken.
struct Taken {
    seconds: f64,
    megabytes: f64,
    /// Seconds of processor time of the server, the load's share included, and of the program.
    server: f64,
    client: f64,
}

impl Taken {
    fn speed(&self) -> f64 {
        self.megabytes / self.seconds
    }
}

/// A backup beside a load.
struct Beside {
    taken: Taken,
    /// Transactions a second without and with it.
    tps: [f64; 2],
}

/// What one server did in one round: the disk's megabytes a second, a backup alone, one beside the load, one that is held to a rate.
struct Round {
    disk: f64,
    alone: Taken,
    free: Beside,
    held: Beside,
}

/// Prints some lines for each server.
pub fn run(servers: &mut [&mut Server], task: &Task) -> Result<(), String> {
    let Task { scale, clients, rate, .. } = *task;
    println!("\n## Base backups beside pgbench's script at {clients} clients, scale {scale}\n");
    for server in servers.iter_mut() {
        server.restart(&SETTINGS.map(str::to_owned))?;
        pgbench::initialize(server, scale)?;
    }
    let mut seen: Vec<Vec<Round>> = servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..task.rounds {
        for (server, seen) in servers.iter().zip(&mut seen) {
            seen.push(round(server, task).map_err(|e| format!("{}: {e}", server.name))?);
        }
    }
    for (server, seen) in servers.iter().zip(&seen) {
        let of = |what: &dyn Fn(&Round) -> f64| median(seen.iter().map(what).collect());
        println!(
            "{:14} alone {:4.0} MB/s (cp -a: {:4.0} MB/s), processor {:.2} s of the server and {:.2} s of the program for each GB",
            server.name,
            of(&|round| round.alone.speed()),
            of(&|round| round.disk),
            of(&|round| round.alone.server / round.alone.megabytes * 1000.0),
            of(&|round| round.alone.client / round.alone.megabytes * 1000.0),
        );
        type Pick = fn(&Round) -> &Beside;
        let beside: [(String, Pick); 2] =
            [("no rate".into(), |round| &round.free), (format!("{rate} MB/s"), |round| &round.held)];
        for (what, beside) in beside {
            let kept = |round: &Round| beside(round).tps[1] / beside(round).tps[0];
            let left = |round: &Round| left(&round.alone, &beside(round).taken);
            println!(
                "  {what:>8}: {:4.0} MB/s; load {:6.0} tps without and {:6.0} with it: {:.2} kept, where the processors leave {:.2}: ratio {:.2}",
                of(&|round| beside(round).taken.speed()),
                of(&|round| beside(round).tps[0]),
                of(&|round| beside(round).tps[1]),
                of(&kept),
                of(&left),
                of(&|round| kept(round) / left(round)),
            );
        }
    }
    Ok(())
}

/// The share of the processors that a backup leaves, by what one costs alone and by how long this one took.
fn left(alone: &Taken, taken: &Taken) -> f64 {
    let cost = (alone.server + alone.client) / alone.megabytes * taken.megabytes;
    1.0 - cost / (taken.seconds * canned::workers() as f64)
}

fn round(server: &Server, task: &Task) -> Result<Round, String> {
    pgbench::psql(server, "checkpoint")?;
    let disk = copied(server)?;
    let alone = backup(server, task, None)?;
    let free = beside(server, task, None)?;
    let held = beside(server, task, Some(task.rate))?;
    Ok(Round { disk, alone, free, held })
}

/// Where a copy goes; it goes with this.
struct Copy(PathBuf);

impl Copy {
    fn of(server: &Server) -> Copy {
        Copy(server.data.with_extension("copy"))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Megabytes of a folder's files.
fn size(folder: &Path) -> Result<f64, String> {
    let text = check(Command::new("du").args(["-s", "-B1", "--apparent-size"]).arg(folder).output(), "du")?;
    let bytes = text.split_whitespace().next().and_then(|bytes| bytes.parse::<f64>().ok());
    bytes.map(|bytes| bytes / 1e6).ok_or_else(|| format!("du: {text}"))
}

/// Megabytes a second of a copy by `cp`, on disk in the end.
fn copied(server: &Server) -> Result<f64, String> {
    let copy = Copy::of(server);
    let begin = Instant::now();
    check(Command::new("cp").arg("-a").arg(&server.data).arg(&copy.0).output(), "cp")?;
    check(Command::new("sync").arg("-f").arg(&copy.0).output(), "sync")?;
    let seconds = begin.elapsed().as_secs_f64();
    Ok(size(&copy.0)? / seconds)
}

fn backup(server: &Server, task: &Task, rate: Option<u32>) -> Result<Taken, String> {
    let copy = Copy::of(server);
    let mut program = Command::new(task.program);
    program.args(["-h", &server.host, "-p", &server.port.to_string(), "-U", "postgres"]);
    program.args(["-c", "fast", "-X", "stream", "-D"]).arg(&copy.0);
    if let Some(rate) = rate {
        program.arg(format!("--max-rate={rate}M"));
    }
    let (begin, busy) = (Instant::now(), [server.processor_seconds(), children_seconds()]);
    check(program.output(), "pg_basebackup")?;
    let seconds = begin.elapsed().as_secs_f64();
    let [server, client] = [server.processor_seconds() - busy[0], children_seconds() - busy[1]];
    Ok(Taken { seconds, megabytes: size(&copy.0)?, server, client })
}

/// Processor time of children that were waited for.
fn children_seconds() -> f64 {
    // SAFETY: all zeroes are a value of it, and it outlives the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn beside(server: &Server, task: &Task, rate: Option<u32>) -> Result<Beside, String> {
    let load = Load::start(server, task.clients)?;
    let rest = Duration::from_secs(task.seconds.into());
    // The first second is of connections and cold caches.
    std::thread::sleep(Duration::from_secs(2));
    let pause = || {
        std::thread::sleep(rest);
        Ok(())
    };
    let before = load.during(pause)?.1;
    let (taken, with) = load.during(|| backup(server, task, rate))?;
    let after = load.during(pause)?.1;
    Ok(Beside { taken, tps: [(before + after) / 2.0, with] })
}

/// pgbench at work, until this goes, and what it has said: when, and transactions a second since it said something last.
struct Load {
    child: Child,
    said: Arc<Mutex<Vec<(Instant, f64)>>>,
}

impl Load {
    fn start(server: &Server, clients: u32) -> Result<Load, String> {
        let threads = canned::workers().min(2).to_string();
        let mut child = pgbench::base("pgbench", server)
            .args(["-n", "-M", "prepared", "-P", "1", "-T", "100000"])
            .args(["-j", &threads, "-c", &clients.to_string(), "postgres"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("pgbench: {e}"))?;
        let said = Arc::<Mutex<Vec<(Instant, f64)>>>::default();
        let (errors, noted) = (child.stderr.take().ok_or("pgbench has no output")?, said.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if let Some(tps) = tps_of(&line) {
                    noted.lock().expect("nobody panics with it").push((Instant::now(), tps));
                }
            }
        });
        Ok(Load { child, said })
    }

    /// What this gives, and transactions a second of the whole seconds meanwhile.
    fn during<T>(&self, what: impl FnOnce() -> Result<T, String>) -> Result<(T, f64), String> {
        let begin = Instant::now();
        let done = what()?;
        let end = Instant::now();
        // What it says is of the second before.
        let within = |at: Instant| at >= begin + Duration::from_millis(900) && at <= end;
        let said = self.said.lock().expect("nobody panics with it");
        let tps: Vec<f64> = said.iter().filter(|(at, _)| within(*at)).map(|(_, tps)| *tps).collect();
        if tps.is_empty() {
            return Err("too short to measure the load: more data, or a lower rate".into());
        }
        Ok((done, tps.iter().sum::<f64>() / tps.len() as f64))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `progress: 3.0 s, 1234.5 tps, …`
fn tps_of(line: &str) -> Option<f64> {
    let rest = line.strip_prefix("progress: ")?.split_once(" s, ")?.1;
    rest.split_once(" tps")?.0.parse().ok()
}
