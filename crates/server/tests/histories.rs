//! Sessions append to lists while the server is killed again and again: one order of commits must explain all that they saw (crate
//! `history`). Unlike in the simulation, there are several workers, which see one another's commits through memory alone.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use history::session::SharedWorld;
use history::{Choices, Database, Failure as Refused, SETUP, Session};
use support::{Client, Failure, Server, knob};

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
            support::signal_to(pid, libc::SIGKILL);
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
