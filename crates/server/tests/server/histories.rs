//! Sessions append to lists while the server is killed again and again: one order of commits must explain all that they saw (crate
//! `history`). Unlike in the simulation, there are several workers, which see one another's commits through memory alone.
//!
//! The same with a standby and a standby of that one, where others read: they may be late, but show what was so at the primary, and go forward only. Each is killed,
//! and stopped for some time in which nobody hears of it, and in the end the primary is killed for good: what was acknowledged, and what anybody has seen, is at the
//! standby that is promoted. That the check would find what is wrong is seen with readers whose connection is [torn](history::torn).

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::pair::{primary_conninfo, run_standby, standby_of};
use crate::support::{Client, Failure, READY, Server, knob, until};
use history::session::SharedWorld;
use history::torn::Torn;
use history::{Choices, Database, Failure as Refused, SETUP, Session};

/// A connection; whoever loses it is done.
struct Connection(Client);

impl Database for Connection {
    fn run(&mut self, sql: &str) -> Result<Vec<String>, Refused> {
        match self.0.query(sql) {
            Ok(rows) => Ok(rows.into_iter().map(line).collect()),
            Err(Failure::Error { code, message, .. }) => Err(Refused::Error { code, message }),
            Err(Failure::Lost) => Err(Refused::Lost),
        }
    }

    fn pause(&mut self, time: Duration) {
        thread::sleep(time);
    }
}

fn line(row: Vec<Option<String>>) -> String {
    row.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join("|")
}

fn session(server: &Server, seed: u64, number: u64, world: &SharedWorld) -> Session<Connection> {
    let connection = Connection(server.client());
    Session::new(connection, Choices::new(seed, number), world.clone()).expect("the server is up")
}

/// One life: transactions until they are told to stop, or until the server is gone.
fn live(server: &Server, seed: u64, world: &SharedWorld, kill: bool) {
    let (stop, all_stopped) = (AtomicBool::new(false), AtomicBool::new(false));
    let pid = server.pid();
    thread::scope(|scope| {
        let appenders: Vec<_> = (0..knob("STAMPEDE_CRASH_CLIENTS", 6))
            .map(|number| {
                let mut session = session(server, seed, number, world);
                let stop = &stop;
                scope.spawn(move || while !stop.load(Ordering::Relaxed) && session.transaction().is_ok() {})
            })
            .collect();
        let mut resolver = session(server, seed, 1_000, world);
        let all_stopped = &all_stopped;
        scope.spawn(move || {
            loop {
                let last = all_stopped.load(Ordering::Relaxed);
                match resolver.resolve() {
                    Ok(false) if last => return,
                    Ok(_) => resolver.rest(),
                    Err(_) => return,
                }
            }
        });
        let (mut upkeep, told) = (server.client(), &stop);
        scope.spawn(move || {
            for statement in ["vacuum lists", "vacuum (freeze) lists", "checkpoint"].iter().cycle() {
                if told.load(Ordering::Relaxed) || upkeep.query(statement).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(1));
            }
        });
        thread::sleep(Duration::from_millis(knob("STAMPEDE_HISTORY_MILLIS", 1_000)));
        if kill {
            crate::support::signal_to(pid, libc::SIGKILL);
        }
        stop.store(true, Ordering::Relaxed);
        for appender in appenders {
            appender.join().unwrap();
        }
        all_stopped.store(true, Ordering::Relaxed);
    });
}

#[test]
fn one_order_of_commits_explains_what_all_saw() {
    let seed = knob("STAMPEDE_TEST_SEED", u64::from(std::process::id()));
    println!("STAMPEDE_TEST_SEED={seed}");
    let world = SharedWorld::default();
    let mut server =
        Server::start(&["max_prepared_transactions=64", "stampede.workers=4", "deadlock_timeout=10ms"]);
    for statement in SETUP {
        server.client().query(statement).unwrap();
    }
    for round in 0..knob("STAMPEDE_CRASH_ROUNDS", 2) {
        live(&server, seed + round, &world, true);
        server.wait();
        server.run();
        session(&server, seed, 2_000, &world).recover().expect("the server is up");
    }
    live(&server, seed + 1_000, &world, false);
    let report = session(&server, seed, 2_001, &world).check();
    let report = report.unwrap_or_else(|anomaly| panic!("STAMPEDE_TEST_SEED={seed}: {anomaly}"));
    println!("{report:?}");
    assert!(report.committed > 0 && report.snapshots > report.committed, "{report:?}");
}

/// A primary, a standby that its commits wait for, and a standby of that one.
struct Chain {
    servers: [Server; 3],
}

const PRIMARY: usize = 0;
const MIDDLE: usize = 1;
const LAST: usize = 2;

/// What happens to one of the servers while sessions work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Its process is killed. A standby is started again.
    Killed(usize),
    /// Its process does nothing for a third of the time.
    Stopped(usize),
}

/// A process that does nothing, until this goes.
struct Halted(i32);

impl Halted {
    fn new(pid: i32) -> Halted {
        crate::support::signal_to(pid, libc::SIGSTOP);
        Halted(pid)
    }
}

impl Drop for Halted {
    fn drop(&mut self) {
        crate::support::signal_to(self.0, libc::SIGCONT);
    }
}

impl Chain {
    fn start() -> Chain {
        let settings = ["max_prepared_transactions=64", "stampede.workers=3", "deadlock_timeout=10ms"];
        let mut primary = Server::start(&settings);
        for statement in SETUP {
            primary.client().query(statement).unwrap();
        }
        let more = [&settings[..], &["wal_keep_size=1GB", "wal_receiver_status_interval=1"]].concat();
        primary.set_option("wal_keep_size=1GB");
        let mut middle = standby_of(&mut primary, "application_name=middle", &more);
        let mut last = standby_of(&mut primary, "", &more);
        last.set_option(&primary_conninfo(&middle, "application_name=last"));
        run_standby(&mut middle);
        run_standby(&mut last);
        let mut client = primary.client();
        client.query("alter system set synchronous_standby_names = 'middle'").unwrap();
        client.query("select pg_reload_conf()").unwrap();
        until("commits wait", || {
            client.value("select coalesce(string_agg(sync_state, ''), '') from pg_stat_replication") == "sync"
        });
        Chain { servers: [primary, middle, last] }
    }

    /// Sessions work at the primary, and others read at the standbys, while something happens to one of the servers.
    fn live(&mut self, seed: u64, world: &SharedWorld, fault: Fault) {
        let time = Duration::from_millis(knob("STAMPEDE_HISTORY_MILLIS", 1_000));
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for number in [MIDDLE, MIDDLE, LAST] {
                let (port, done) = (self.servers[number].port, &done);
                scope.spawn(move || read(port, seed, world, done, &|connection| connection));
            }
            let (primary, standbys) = self.servers.split_at_mut(MIDDLE);
            match fault {
                Fault::Killed(PRIMARY) => {}
                Fault::Killed(standby) => {
                    let standby = &mut standbys[standby - MIDDLE];
                    scope.spawn(move || {
                        thread::sleep(time / 2);
                        standby.kill();
                        run_standby(standby);
                    });
                }
                Fault::Stopped(server) => {
                    let pid = primary.iter().chain(&*standbys).nth(server).expect("there are three").pid();
                    scope.spawn(move || {
                        thread::sleep(time / 3);
                        let _halted = Halted::new(pid);
                        thread::sleep(time / 3);
                    });
                }
            }
            live(&primary[PRIMARY], seed, world, fault == Fault::Killed(PRIMARY));
            if fault == Fault::Killed(PRIMARY) {
                primary[PRIMARY].wait();
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

/// Reads at a standby until all is done, through what `over` puts over a connection; one that is lost is made anew.
fn read<D: Database>(
    port: u16,
    seed: u64,
    world: &SharedWorld,
    done: &AtomicBool,
    over: &dyn Fn(Connection) -> D,
) {
    while !done.load(Ordering::Relaxed) {
        // One that was killed may begin again with less than it has shown, until it has replayed it again.
        let mut seen = None;
        let Ok(client) = Client::connect(port, &[]) else {
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        let connection = over(Connection(client));
        let Ok(mut reader) = Session::new(connection, Choices::new(seed, 3_000), world.clone()) else {
            continue;
        };
        while !done.load(Ordering::Relaxed) {
            match reader.observe_standby(seen) {
                Ok(now) => seen = now.or(seen),
                Err(_) => break,
            }
            reader.rest();
        }
    }
}

#[test]
fn standbys_show_the_same_order() {
    let seed = knob("STAMPEDE_TEST_SEED", u64::from(std::process::id()));
    println!("STAMPEDE_TEST_SEED={seed}");
    let world = SharedWorld::default();
    let mut chain = Chain::start();
    for round in 0..knob("STAMPEDE_CRASH_ROUNDS", 2) {
        let stopped = Fault::Stopped(round as usize % chain.servers.len());
        let faults = [Fault::Killed(MIDDLE), stopped, Fault::Killed(LAST), Fault::Killed(PRIMARY)];
        for (number, fault) in (0..).zip(faults) {
            chain.live(seed + 10 * round + number, &world, fault);
            if fault == Fault::Killed(PRIMARY) {
                chain.servers[PRIMARY].run();
                session(&chain.servers[PRIMARY], seed, 2_000, &world).recover().expect("the server is up");
            }
        }
    }
    chain.live(seed + 1_000, &world, Fault::Killed(PRIMARY));
    let [_, mut middle, last] = chain.servers;
    middle.client().query("select pg_promote()").unwrap();
    middle.wait_for_log(READY);
    session(&middle, seed, 2_001, &world).recover().expect("the server is up");
    live(&middle, seed + 2_000, &world, false);

    let (mut here, mut there) = (middle.client(), last.client());
    crate::support::pair::caught_up(&mut here, &mut there);
    // It has all now, so it sees what was acknowledged.
    session(&last, seed, 2_002, &world).observe().expect("the server is up");
    let report = session(&middle, seed, 2_003, &world).check();
    let report = report.unwrap_or_else(|anomaly| panic!("STAMPEDE_TEST_SEED={seed}: {anomaly}"));
    println!("{report:?}");
    assert!(report.committed > 0 && report.at_standbys > 0, "{report:?}");
    assert!(report.snapshots > report.committed, "{report:?}");
}

#[test]
fn torn_readers_of_standbys_are_found() {
    let world = SharedWorld::default();
    let chain = Chain::start();
    // Readers may come by too seldom, on a slow machine, to see what none should: then they go on.
    let found = (1..=30).find_map(|round| {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for number in [MIDDLE, MIDDLE, LAST] {
                let (port, world, done) = (chain.servers[number].port, &world, &done);
                scope.spawn(move || read(port, round, world, done, &Torn::new));
            }
            live(&chain.servers[PRIMARY], round, &world, false);
            done.store(true, Ordering::Relaxed);
        });
        let checked = session(&chain.servers[PRIMARY], round, 2_000, &world).check();
        checked.err().filter(|anomaly| anomaly.contains("\na long fork: "))
    });
    let anomaly = found.expect("the check finds a long fork");
    assert!(anomaly.starts_with("no order of commits explains this"), "{anomaly}");
}
