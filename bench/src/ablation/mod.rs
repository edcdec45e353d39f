//! What a snapshot costs, by how it is made: nanoseconds against sessions and writers.
//!
//! Four ways, all in this process and without a server around them: PostgreSQL's before version 14 ([`walk`]), its two steps since
//! ([`dense`]), and Stampede's ([`shared`]). Readers take one snapshot after the other, each time for another session, on one thread a
//! core. Writers hold an xid throughout; in half of the tables another transaction begins and ends before every tenth snapshot.

mod dense;
mod shared;
mod walk;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::canned::workers;
use crate::report::{Scale, Table, median};

/// Sessions without an xid.
const SESSIONS: [u32; 6] = [1, 10, 100, 1000, 5000, 15_000];
/// Sessions with one.
const WRITERS: [usize; 4] = [0, 1, 16, 256];
/// Snapshots to each transaction that ends, where some do.
const SNAPSHOTS_TO_AN_END: usize = 10;
/// One measurement.
const TIME: Duration = Duration::from_millis(40);

/// A way to make snapshots.
trait Way: Sync {
    /// What a thread keeps.
    type Thread;
    /// So many sessions, the first `writers` of which have an xid.
    fn new(sessions: usize, writers: usize) -> Self;
    /// The state of one more thread.
    fn thread(&self) -> Self::Thread;
    /// Takes a snapshot for a session, asks it whether an xid is in progress, and gives it back.
    fn snapshot(&self, thread: &mut Self::Thread, session: usize) -> bool;
    /// A transaction of a session begins, gets an xid, and ends.
    fn write(&self, session: usize);
}

/// Measures all ways and publishes a table and a plot for each number of writers.
pub fn run(rounds: u32, out: &Path) -> Result<(), String> {
    for writers in WRITERS {
        for ends in [false, true] {
            let measured = |&sessions: &u32| {
                let sessions = sessions as usize;
                let ways = [
                    nanoseconds::<shared::Shared>,
                    nanoseconds::<walk::Walk>,
                    nanoseconds::<dense::Dense>,
                    nanoseconds::<dense::Reused>,
                ];
                // Alternating, as everything here.
                let mut all = vec![Vec::new(); ways.len()];
                for _ in 0..rounds {
                    for (way, all) in ways.iter().zip(&mut all) {
                        all.push(way(sessions, writers, ends));
                    }
                }
                (sessions as u32, all.into_iter().map(median).collect())
            };
            let what = if ends { "another ends before every tenth" } else { "nothing ends" };
            Table {
                title: format!("snapshots {writers} writers{}", if ends { " ends" } else { "" }),
                what: format!("nanoseconds a snapshot, {writers} writers, {what}, medians"),
                axis: "sessions",
                servers: vec!["Stampede", "walk", "dense", "dense-reused"],
                rows: SESSIONS.iter().map(measured).collect(),
                scale: Scale::Logarithmic,
            }
            .publish(out)?;
        }
    }
    Ok(())
}

/// Nanoseconds a snapshot takes a thread, the writing taken off.
fn nanoseconds<W: Way>(sessions: usize, writers: usize, ends: bool) -> f64 {
    let way = W::new(sessions + writers + workers(), writers);
    let readers = |thread: usize| (thread..sessions.max(thread + 1)).step_by(workers()).map(|n| n + writers);
    let (with_all, all) = on_all_threads(&way, |thread, number, round| {
        let mut seen = 0;
        for (n, session) in readers(number).cycle().skip(round % sessions).take(200).enumerate() {
            if ends && n % SNAPSHOTS_TO_AN_END == 0 {
                way.write(writers + sessions + number);
            }
            seen += usize::from(way.snapshot(thread, session));
        }
        std::hint::black_box(seen);
        200
    });
    if !ends {
        return with_all / all;
    }
    let (writing, writes) = on_all_threads(&way, |_, number, _| {
        (0..100).for_each(|_| way.write(writers + sessions + number));
        100
    });
    (with_all / all - writing / writes / SNAPSHOTS_TO_AN_END as f64).max(0.0)
}

/// Runs `work` again and again on each thread; nanoseconds and things done, of all threads together.
fn on_all_threads<W: Way>(
    way: &W,
    work: impl Fn(&mut W::Thread, usize, usize) -> usize + Sync,
) -> (f64, f64) {
    let stop = AtomicBool::new(false);
    let one = |number: usize| {
        let mut thread = way.thread();
        work(&mut thread, number, 0);
        let (start, mut done, mut round) = (Instant::now(), 0, 0);
        while round == 0 || !stop.load(Ordering::Relaxed) {
            round += 1;
            done += work(&mut thread, number, round);
        }
        (start.elapsed().as_nanos() as f64, done as f64)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers()).map(|number| scope.spawn(move || one(number))).collect();
        std::thread::sleep(TIME);
        stop.store(true, Ordering::Relaxed);
        let results = threads.into_iter().map(|thread| thread.join().expect("it measures"));
        results.fold((0.0, 0.0), |sum, (time, done)| (sum.0 + time, sum.1 + done))
    })
}
