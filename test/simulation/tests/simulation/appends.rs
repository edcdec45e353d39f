//! Sessions append to lists while the machine crashes, and one order of commits must explain all that they see (crate `history`).

use std::sync::OnceLock;
use std::time::Duration;

use base::stop::{self, Action};
use engine::{CheckpointCause, EngineOptions};
use history::order::Report;
use history::session::SharedWorld;
use history::{Choices, Database, Failure, Lost, SETUP, Session};
use runtime::sim::{DiskImage, Simulation, crash_here};
use runtime::{sleep, wait};

use crate::again;
use crate::cluster::{Server, initialized_disk, small_options};
use crate::crash::Crash;
use crate::crew::Crew;
use crate::seeds;
use crate::session::Client;

/// Virtual time of the last life.
const LAST_LIFE: Duration = Duration::from_millis(40);

/// A connection within the simulation.
pub struct Connection {
    client: Client,
    extended: bool,
}

impl Database for Connection {
    fn run(&mut self, sql: &str) -> Result<Vec<String>, Failure> {
        let result = if self.extended { self.client.run_extended(sql) } else { self.client.run(sql) };
        result.map_err(|error| Failure::Error { code: error.code().to_string(), message: error.to_string() })
    }

    fn pause(&mut self, time: Duration) {
        match time.is_zero() {
            true => runtime::yield_now(),
            false => wait(sleep(time)),
        }
    }
}

pub fn connect(server: &Server, pid: i32, choices: Choices, world: &SharedWorld) -> Session<Connection> {
    over(connection(server, pid), choices, world)
}

pub fn connection(server: &Server, pid: i32) -> Connection {
    let client = server.connect(pid);
    // A life is short.
    client.run("set deadlock_timeout = '1ms'").expect("it is a setting");
    Connection { client, extended: pid % 2 == 0 }
}

/// A session on a connection.
pub fn over<D: Database>(connection: D, choices: Choices, world: &SharedWorld) -> Session<D> {
    Session::new(connection, choices, world.clone())
        .unwrap_or_else(|Lost| unreachable!("it is in this process"))
}

fn image() -> &'static DiskImage {
    static IMAGE: OnceLock<DiskImage> = OnceLock::new();
    IMAGE.get_or_init(|| initialized_disk(&small_options(), SETUP))
}

/// What a seed decides about a machine.
#[derive(Clone)]
struct Plan {
    sessions: u64,
    /// How its lives end, but for the last one.
    crashes: Vec<Crash>,
    /// VACUUM and checkpoints beside the sessions.
    upkeep: bool,
    /// So many transactions end in each of these lives before no end is counted any more.
    counted: Option<u64>,
    /// All transactions are serializable, with predicate locks or without.
    serializable: Option<bool>,
    options: EngineOptions,
}

impl Plan {
    fn new(seed: u64) -> Plan {
        let mut choices = Choices::new(seed, 6);
        let mut options = small_options();
        options.shared_buffers = *choices.of(&[96, 128, 256]);
        options.checkpoint_timeout = Duration::from_millis(*choices.of(&[20, 100, 1000]));
        options.recovery.open_early = choices.one_in(2);
        let crashes = (0..choices.below(3)).map(|_| Crash::choose(&mut choices)).collect();
        Plan {
            sessions: choices.between(3, 10),
            crashes,
            upkeep: true,
            counted: None,
            serializable: None,
            options,
        }
    }
}

/// Lives of one machine, and what its sessions saw in all of them; an error is an anomaly.
fn simulate(seed: u64, plan: Plan) -> Result<Report, String> {
    simulate_on(&Simulation::with_disk(seed, image()), seed, plan)
}

fn simulate_on(simulation: &Simulation, seed: u64, plan: Plan) -> Result<Report, String> {
    let mut choices = Choices::new(seed, 7);
    let world = SharedWorld::default();
    world.lock().expect("nobody has it").only_serializable = plan.serializable.is_some();
    let unlocked =
        (plan.serializable == Some(false)).then(|| stop::arm("test-no-predicate-lock", Action::Error, 0));
    if choices.one_in(2) {
        simulation.interleave(choices.between(2, 20));
    }
    for (life, crash) in plan.crashes.iter().enumerate() {
        let mut choices = Choices::new(seed, 200 + life as u64);
        let armed = crash.arm(simulation);
        let uncounted = plan.counted.map(|n| stop::arm("test-uncounted-completion", Action::Error, n));
        let (plan, world, longest) = (plan.clone(), world.clone(), crash.longest());
        let ended = simulation.run(move || {
            let server = Server::open(plan.options.clone());
            observe_recovery(&server, &world);
            let _background = server.start_background();
            let _appenders = start(&server, plan.sessions, plan.upkeep, &world, &mut choices);
            wait(sleep(longest));
            crash_here()
        });
        let _: runtime::Crashed = ended.map(|never: std::convert::Infallible| never).expect_err("it crashes");
        drop((armed, uncounted));
    }
    let life = move || {
        let server = Server::open(plan.options.clone());
        observe_recovery(&server, &world);
        let background = server.start_background();
        let appenders = start(&server, plan.sessions, plan.upkeep, &world, &mut choices);
        wait(sleep(LAST_LIFE));
        appenders.stop();
        background.stop();
        let checked = connect(&server, 2, choices, &world).check();
        if checked.is_ok() {
            server.engine.shutdown().expect("the server shuts down");
        }
        checked
    };
    let checked = simulation.run(life).expect("nothing crashes the machine now");
    drop(unlocked);
    checked
}

pub fn observe_recovery(server: &Server, world: &SharedWorld) {
    let mut observer = connect(server, 2, Choices::new(0, 0), world);
    observer.recover().unwrap_or_else(|Lost| unreachable!("it is in this process"));
}

/// Starts so many sessions and those that look on; with `upkeep`, VACUUM and checkpoints beside them.
pub fn start(
    server: &Server,
    sessions: u64,
    upkeep: bool,
    world: &SharedWorld,
    choices: &mut Choices,
) -> Crew {
    let crew = Crew::default();
    for n in 0..sessions {
        let choices = Choices::new(choices.below(u64::MAX), n);
        let mut session = connect(server, 10 + n as i32, choices, world);
        crew.start("appender", move |crew| {
            while !crew.told_to_stop() {
                session.transaction().unwrap_or_else(|Lost| unreachable!("it is in this process"));
                session.rest();
            }
        });
    }
    // Waits for nobody.
    let mut observer = connect(server, 8, choices.clone(), world);
    crew.start("observer", move |crew| {
        while !crew.told_to_stop() {
            observer.observe().unwrap_or_else(|Lost| unreachable!("it is in this process"));
            observer.rest();
        }
    });
    // Ends what others prepared, until it is alone and nothing is left.
    let mut resolver = connect(server, 7, choices.clone(), world);
    crew.start("resolver", move |crew| {
        loop {
            let last = crew.told_to_stop() && crew.alone();
            let resolved = resolver.resolve().unwrap_or_else(|Lost| unreachable!("it is in this process"));
            resolver.rest();
            if last && !resolved {
                return;
            }
        }
    });
    if !upkeep {
        return crew;
    }
    let (client, engine) = (server.connect(6), server.engine.clone());
    let mut choices = choices.clone();
    crew.start("upkeep", move |crew| {
        while !crew.told_to_stop() {
            wait(sleep(Duration::from_millis(choices.between(1, 30))));
            if choices.one_in(2) {
                engine.checkpoint(CheckpointCause::Requested).expect("a checkpoint is taken");
            } else {
                let vacuum = choices.of(&["vacuum lists", "vacuum (freeze) lists"]);
                client.run(vacuum).expect("it is vacuumed");
            }
        }
    });
    crew
}

fn check(seed: u64) {
    let report = simulate(seed, Plan::new(seed)).unwrap_or_else(|anomaly| panic!("{anomaly}"));
    eprintln!("seed {seed}: {report:?}");
    assert!(report.committed > 0 && report.snapshots > report.committed);
}

#[test]
fn one_order_of_commits_explains_what_all_see_0() {
    seeds::for_each(0, 2, check);
}

#[test]
fn one_order_of_commits_explains_what_all_see_1() {
    seeds::for_each(1, 2, check);
}

#[test]
fn a_seed_does_the_same_again() {
    again::compare(2, image, |simulation, seed| {
        simulate_on(simulation, seed, Plan::new(seed)).unwrap_or_else(|anomaly| panic!("{anomaly}"));
    });
}

/// Ends that nobody counts leave old snapshots in use: what was acknowledged is missing in them. Who waits for others then waits for ever, so
/// that many seeds come to a stop before anybody could see it; which ones, any change of the server may change.
#[test]
fn a_completion_counter_that_stands_still_is_caught() {
    let anomaly = |seed| {
        let crashes = vec![Crash::Time(Duration::from_millis(100))];
        // Catalogs are not to be changed with such snapshots.
        let plan = Plan { crashes, upkeep: false, counted: Some(10), ..Plan::new(seed) };
        simulate(seed, plan).err()
    };
    let anomalies: Vec<String> = (0..12).filter_map(anomaly).collect();
    assert!(!anomalies.is_empty(), "no seed shows it");
    for anomaly in anomalies {
        assert!(anomaly.starts_with("no order of commits explains this"), "{anomaly}");
        assert!(anomaly.contains("does not see"), "{anomaly}");
    }
}

#[test]
fn one_order_explains_serializable_transactions() {
    seeds::for_each(2, 4, |seed| {
        let plan = Plan { serializable: Some(true), ..Plan::new(seed) };
        let report = simulate(seed, plan).unwrap_or_else(|anomaly| panic!("{anomaly}"));
        eprintln!("seed {seed}: {report:?}");
        assert!(report.committed > 0 && report.rolled_back > 0);
    });
}

#[test]
fn without_predicate_locks_no_order_explains_them() {
    let anomaly = |seed| {
        let plan = Plan { serializable: Some(false), crashes: Vec::new(), ..Plan::new(seed) };
        simulate(seed, plan).err()
    };
    let anomaly = (0..12).find_map(anomaly).expect("no seed shows it");
    assert!(anomaly.starts_with("no order of serializable transactions explains this"), "{anomaly}");
}
