//! Sessions append to lists at the primary, others read them at standbys, while links and servers fail. One order of commits must explain all that is seen
//! (crate `history`): a standby may be late, but shows what was once so at the primary, and goes forward only. Two readers that see two commits in different
//! orders (the long fork), at two standbys or at a standby and the primary, would be a cycle, and are looked for by themselves.
//!
//! Three courses: the primary survives all; it crashes too, and goes on; it is lost for good, and a standby goes on in its place. In the last two commits wait
//! for a standby, and what anybody was told, or has seen, stays. That the check finds what is wrong is seen with a reader's connection that is [torn](history::torn), and
//! with a failover for which no commit waited.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use history::order::Report;
use history::session::SharedWorld;
use history::torn::Torn;
use history::{Choices, Database, Lost, Session};
use runtime::sim::machines;
use runtime::sim::net::{self, Link};
use runtime::sim::{DiskImage, Simulation};
use runtime::{sleep, wait};

use super::archive;
use super::failover::{SERVERS, cluster, disks, settle};
use super::faults::Fault;
use super::node::{Manner, Node, wait_until};
use crate::appends;
use crate::cluster::small_options;
use crate::crew::Crew;
use crate::seeds;

/// Seeds of the default run.
const SEEDS: u64 = 4;
/// Pids of those who read at standbys.
const READERS: i32 = 40;

fn image() -> &'static DiskImage {
    static IMAGE: OnceLock<DiskImage> = OnceLock::new();
    IMAGE.get_or_init(|| disks(history::SETUP))
}

/// What becomes of the primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// It survives all faults.
    Survives,
    /// It fails as the others do, and goes on.
    Fails,
    /// The same, and in the end it is lost, and a standby is promoted.
    Lost,
}

/// What is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// What readers of standbys are shown.
    Readers,
    /// A standby is promoted that is behind, and for which no commit waited.
    Promotion,
}

fn manner(choices: &mut Choices, course: Course) -> Manner {
    let mut options = small_options();
    options.checkpoint_timeout = Duration::from_millis(*choices.of(&[200, 1000]));
    // A standby that was cut off finds all that it misses at the primary.
    options.wal_keep_size = 64 << 20;
    let names: &[&str] = match course {
        Course::Survives => &["", "ANY 1 (s2, s3)", "FIRST 1 (s2, s3)"],
        Course::Fails | Course::Lost => &["ANY 1 (s1, s2, s3)", "FIRST 1 (s2, s3, s1)"],
    };
    Manner {
        options,
        archive_command: archive::CAREFUL,
        names: (*choices.of(names)).into(),
        feedback: choices.one_in(2),
    }
}

/// A fault; one that the primary survives, if it is to.
fn fault(choices: &mut Choices, course: Course) -> Fault {
    loop {
        match Fault::choose(choices, SERVERS, false) {
            Fault::Crash { node: 0, .. } | Fault::Kill { node: 0 } if course == Course::Survives => {}
            fault => return fault,
        }
    }
}

/// A cluster with sessions.
struct Stage {
    nodes: Vec<Node>,
    world: SharedWorld,
    wrong: Wrong,
    choices: Choices,
    /// Who appends at the primary, from its machine: they end with it.
    crew: Rc<RefCell<Option<Crew>>>,
    /// The number of the next reader.
    readers: i32,
}

impl Stage {
    fn new(choices: Choices, nodes: Vec<Node>, wrong: Wrong) -> Stage {
        let mut stage = Stage {
            nodes,
            world: SharedWorld::default(),
            wrong,
            choices,
            crew: Rc::default(),
            readers: READERS,
        };
        (1..SERVERS).for_each(|node| stage.start_readers(node));
        stage.start_crew();
        stage
    }

    /// Two readers of a standby, on its machine: they end with it.
    fn start_readers(&mut self, node: usize) {
        for _ in 0..2 {
            let (node, world, wrong) = (self.nodes[node].clone(), self.world.clone(), self.wrong);
            let choices = Choices::new(self.choices.below(u64::MAX), 0);
            let pid = self.readers;
            self.readers += 1;
            machines::spawn_on(node.number(), "reader", move || {
                let connection = appends::connection(&node.server().expect("it is up"), pid);
                match wrong {
                    Wrong::Readers => read(appends::over(Torn::new(connection), choices, &world)),
                    _ => read(appends::over(connection, choices, &world)),
                }
            });
        }
    }

    fn start_crew(&mut self) {
        let (node, world) = (self.nodes[0].clone(), self.world.clone());
        let mut choices = Choices::new(self.choices.below(u64::MAX), 1);
        let crew = self.crew.clone();
        crew.take();
        machines::spawn_on(node.number(), "crew", move || {
            let server = node.server().expect("it is up");
            *crew.borrow_mut() =
                Some(appends::start(&server, choices.between(2, 5), true, &world, &mut choices));
        });
        wait_until("sessions to begin", || self.crew.borrow().is_some());
    }

    /// Something goes wrong, and those who ended with a server begin again.
    fn suffer(&mut self, course: Course) {
        let fault = fault(&mut self.choices, course);
        fault.happen(&self.nodes, &mut self.choices);
        match fault {
            Fault::Crash { node: 0, .. } | Fault::Kill { node: 0 } => self.go_on(),
            Fault::Crash { node, .. } | Fault::Kill { node } | Fault::FullDisk { node } => {
                self.start_readers(node);
            }
            _ => {}
        }
    }

    /// A primary is there again, and nobody has asked it for anything.
    fn go_on(&mut self) {
        appends::observe_recovery(&self.nodes[0].server().expect("it is up"), &self.world);
        self.start_crew();
    }

    /// The primary is lost, and the standby that is furthest takes its place; or, wrongly, the other.
    fn fail_over(&mut self) {
        let lost = self.nodes.remove(0);
        lost.crash(self.choices.one_in(2));
        let furthest = settle(&self.nodes);
        self.nodes.swap(0, if self.wrong == Wrong::Promotion { 1 - furthest } else { furthest });
        self.nodes[0].promote();
        if self.wrong == Wrong::Promotion {
            // The other one has more, and does not follow.
            self.nodes.truncate(1);
        } else {
            self.nodes[1].follow(self.nodes[0].number());
        }
        self.go_on();
    }

    /// All transactions end, all servers have the same, and the history is checked.
    fn end(self) -> Result<Report, String> {
        let crew = self.crew.take().expect("it has begun");
        crew.stop();
        let end = self.nodes[0].show("select pg_current_wal_flush_lsn()");
        for node in &self.nodes[1..] {
            node.wait_for(&end);
            let server = node.server().expect("it is up");
            // It has all now, so it sees what was acknowledged.
            let mut last = appends::connect(&server, READERS - 1, self.choices.clone(), &self.world);
            last.observe().map_err(|Lost| "the standby is gone")?;
        }
        let primary = self.nodes[0].server().expect("it is up");
        appends::connect(&primary, READERS - 1, self.choices, &self.world).check()
    }
}

/// Reads at a standby for ever.
fn read<D: Database>(mut reader: Session<D>) {
    let mut seen = None;
    loop {
        let looked = reader.observe_standby(seen);
        seen = looked.unwrap_or_else(|Lost| unreachable!("it is in this process")).or(seen);
        reader.rest();
    }
}

fn simulate(seed: u64, course: Course) -> Result<Report, String> {
    let mut choices = Choices::new(seed, 30);
    let nodes = cluster(&manner(&mut choices, course));
    let mut stage = Stage::new(choices, nodes, Wrong::Nothing);
    for _ in 0..stage.choices.below(3) {
        wait(sleep(Duration::from_millis(stage.choices.between(10, 100))));
        stage.suffer(course);
    }
    wait(sleep(Duration::from_millis(100)));
    if course == Course::Lost {
        stage.fail_over();
        wait(sleep(Duration::from_millis(100)));
    }
    stage.end()
}

fn in_simulation(
    seed: u64,
    simulate: impl FnOnce() -> Result<Report, String> + 'static,
) -> Result<Report, String> {
    let simulation = Simulation::with_disk(seed, image());
    simulation.run(simulate).expect("the operator's machine does not crash")
}

fn check(seed: u64, course: Course) {
    let checked = in_simulation(seed, move || simulate(seed, course));
    let report = checked.unwrap_or_else(|anomaly| panic!("{anomaly}"));
    eprintln!("seed {seed}: {report:?}");
    assert!(report.committed > 0 && report.snapshots > report.committed && report.at_standbys > 0);
}

#[test]
fn standbys_show_what_was_once_so_0() {
    seeds::for_each_of(SEEDS, 0, 2, |seed| check(seed, Course::Survives));
}

#[test]
fn standbys_show_what_was_once_so_1() {
    seeds::for_each_of(SEEDS, 1, 2, |seed| check(seed, Course::Survives));
}

#[test]
fn a_primary_that_fails_shows_what_standbys_have_shown() {
    seeds::for_each_of(SEEDS, 0, 1, |seed| check(seed, Course::Fails));
}

#[test]
fn a_standby_in_the_place_of_the_primary_goes_on_with_all_that_was_seen_0() {
    seeds::for_each_of(SEEDS, 0, 2, |seed| check(seed, Course::Lost));
}

#[test]
fn a_standby_in_the_place_of_the_primary_goes_on_with_all_that_was_seen_1() {
    seeds::for_each_of(SEEDS, 1, 2, |seed| check(seed, Course::Lost));
}

/// Readers of standbys that see half of the lists late.
#[test]
fn torn_readers_are_found() {
    let anomaly = |seed| {
        in_simulation(seed, move || {
            let mut choices = Choices::new(seed, 30);
            let nodes = cluster(&manner(&mut choices, Course::Survives));
            let stage = Stage::new(choices, nodes, Wrong::Readers);
            wait(sleep(Duration::from_millis(200)));
            stage.end()
        })
        .expect_err("half of the lists were late")
    };
    let anomalies: Vec<String> = (0..3).map(anomaly).collect();
    for anomaly in &anomalies {
        assert!(anomaly.starts_with("no order of commits explains this"), "{anomaly}");
    }
    assert!(anomalies.iter().any(|anomaly| anomaly.contains("a long fork: ")), "{anomalies:?}");
}

/// A standby is promoted that was cut off, and commits waited for nobody.
#[test]
fn a_promotion_that_loses_commits_is_found() {
    let anomaly = in_simulation(7, || {
        let mut choices = Choices::new(7, 30);
        let nodes = cluster(&Manner { names: String::new(), ..manner(&mut choices, Course::Lost) });
        let mut stage = Stage::new(choices, nodes, Wrong::Promotion);
        wait(sleep(Duration::from_millis(50)));
        let cut = Link { cut: true, ..Link::default() };
        net::set_link(stage.nodes[0].number(), stage.nodes[2].number(), cut);
        wait(sleep(Duration::from_millis(100)));
        stage.fail_over();
        stage.end()
    })
    .expect_err("commits were lost");
    assert!(["list ", "prepared after the crash"].iter().any(|what| anomaly.contains(what)), "{anomaly}");
}
