//! A cluster loses its primary for good: what was acknowledged is there.
//!
//! # Steps
//! 1. Clients write at the primary while [faults](super::faults) happen. It waits for one of two standbys, or for the first.
//! 2. The primary is gone for good. The standby that is furthest is promoted, and the other follows it.
//! 3. Every number that was acknowledged is there, once, and the sums are those of the numbers. Clients go on there.
//! 4. The old primary is built anew and follows too. All servers have the same, and no page or index is damaged.
//!
//! Where commits wait only until a standby has written, not synced (`remote_write`), no standby loses power.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use history::Choices;
use runtime::sim::{DiskImage, Simulation};
use runtime::{fs, sleep, wait};

use super::archive;
use super::faults::Fault;
use super::ledger::{Ledger, SETUP, contents};
use super::node::{Manner, Node, wait_until};
use super::rebuild::rebuild;
use crate::again;
use crate::agreement;
use crate::cluster::{DIR, initialized_disk, small_options};
use crate::seeds;

/// Servers of a cluster.
pub const SERVERS: usize = 3;
/// Seeds of the default run.
const SEEDS: u64 = 4;

pub fn dir(number: usize) -> PathBuf {
    PathBuf::from(format!("/server{number}"))
}

/// Each server's disk with the same data.
fn image() -> &'static DiskImage {
    static IMAGE: OnceLock<DiskImage> = OnceLock::new();
    IMAGE.get_or_init(|| disks(SETUP))
}

/// Each server's disk, after `setup` has run its statements.
pub fn disks(setup: &'static [&'static str]) -> DiskImage {
    let dirs: Vec<PathBuf> = (1..=SERVERS).map(dir).collect();
    let dirs: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
    initialized_disk(&small_options(), setup).copied(Path::new(DIR), &dirs)
}

/// What a seed decides.
#[derive(Clone, Debug)]
struct Plan {
    manner: Manner,
    /// `synchronous_commit`
    level: &'static str,
    clients: u64,
    faults: Vec<Fault>,
    /// The standbys are not told that the primary is gone.
    silently: bool,
}

impl Plan {
    fn new(seed: u64) -> Plan {
        let mut choices = Choices::new(seed, 20);
        let mut options = small_options();
        options.checkpoint_timeout = Duration::from_millis(*choices.of(&[200, 1000, 5000]));
        options.wal.max_size = *choices.of(&[256 << 10, 1 << 20]);
        options.recovery.open_early = choices.one_in(2);
        let names = *choices.of::<&str>(&["ANY 1 (s1, s2, s3)", "FIRST 1 (s2, s3, s1)", "FIRST 1 (*)"]);
        let level = *choices.of::<&str>(&["on", "on", "remote_apply", "remote_write"]);
        let manner = Manner {
            options,
            archive_command: choices.of::<&str>(&[archive::CAREFUL, archive::CARELESS]),
            names: names.into(),
            feedback: choices.one_in(3),
        };
        let faults = (0..choices.between(1, 4))
            .map(|_| Fault::choose(&mut choices, SERVERS, level == "remote_write"))
            .collect();
        Plan { manner, level, clients: choices.between(1, 4), faults, silently: choices.one_in(2) }
    }
}

fn check(seed: u64) {
    check_in(&Simulation::with_disk(seed, image()), seed);
}

fn check_in(simulation: &Simulation, seed: u64) {
    let plan = Plan::new(seed);
    let what = format!("{plan:?}");
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        simulation.run(move || simulate(seed, &plan)).expect("the operator's machine does not crash")
    }));
    match done {
        Ok(acknowledged) => eprintln!("seed {seed}: {acknowledged} acknowledged"),
        Err(failure) => {
            eprintln!("{what}");
            std::panic::resume_unwind(failure);
        }
    }
}

pub fn wait_for_start(nodes: &[Node]) {
    for node in nodes {
        wait_until("a server's start", || {
            assert_eq!(node.failure(), None);
            node.is_up()
        });
    }
}

/// A primary, its standbys and an archive, which run.
pub fn cluster(manner: &Manner) -> Vec<Node> {
    archive::install();
    fs::create_dir_all(Path::new(archive::DIR)).expect("there is room");
    let node = |number: usize| Node::new(number as u32, &dir(number), manner);
    let nodes: Vec<Node> = (1..=SERVERS).map(node).collect();
    nodes[1..].iter().for_each(|standby| standby.follow(nodes[0].number()));
    nodes.iter().for_each(Node::start);
    wait_for_start(&nodes);
    nodes
}

/// Runs the cluster; the number of acknowledged commits.
fn simulate(seed: u64, plan: &Plan) -> usize {
    let mut choices = Choices::new(seed, 21);
    let mut nodes = cluster(&plan.manner);

    let ledger = Ledger::default();
    let start = |nodes: &[Node], choices: &mut Choices| {
        ledger.start_clients(&nodes[0], plan.level, choices, plan.clients);
    };
    start(&nodes, &mut choices);
    for fault in &plan.faults {
        wait(sleep(Duration::from_millis(choices.between(50, 400))));
        fault.happen(&nodes, &mut choices);
        // Clients ended with their server.
        if matches!(fault, Fault::Crash { node: 0, .. } | Fault::Kill { node: 0 }) {
            start(&nodes, &mut choices);
        }
    }
    wait(sleep(Duration::from_millis(choices.between(50, 400))));

    let lost = nodes.remove(0);
    lost.crash(plan.silently);
    let furthest = settle(&nodes);
    nodes.swap(0, furthest);
    nodes[0].promote();
    ledger.check(&nodes[0]);
    nodes[1].follow(nodes[0].number());

    let before = ledger.acknowledged();
    start(&nodes, &mut choices);
    rebuild(&nodes[0], &lost);
    lost.follow(nodes[0].number());
    lost.start();
    wait_until("commits after the promotion", || ledger.acknowledged() > before + 5);
    ledger.stop_clients();
    nodes.push(lost);
    wait_for_start(&nodes);
    compare(&nodes, &ledger);
    nodes.iter().for_each(Node::stop);
    ledger.acknowledged()
}

/// Waits until standbys without a primary have read all that they have: which of them is furthest.
pub fn settle(standbys: &[Node]) -> usize {
    let mut before = Vec::new();
    wait_until("standbys to read all that they have", || {
        let now: Vec<_> = standbys.iter().map(Node::reached).collect();
        let same = now == before;
        before = now;
        wait(sleep(Duration::from_secs(1)));
        same
    });
    (0..standbys.len()).max_by_key(|at| before[*at]).expect("there are standbys")
}

/// All servers have the same, and what is acknowledged.
fn compare(nodes: &[Node], ledger: &Ledger) {
    let end = nodes[0].show("select pg_current_wal_flush_lsn()");
    let wanted = contents(&nodes[0]);
    ledger.check(&nodes[0]);
    for node in &nodes[1..] {
        node.wait_for(&end);
        assert_eq!(contents(node), wanted, "server {}", node.number());
        ledger.check(node);
    }
    for node in nodes {
        agreement::verify(&node.server().expect("the server is up"));
    }
}

#[test]
fn what_was_acknowledged_survives_the_primary_0() {
    seeds::for_each_of(SEEDS, 0, 2, check);
}

#[test]
fn what_was_acknowledged_survives_the_primary_1() {
    seeds::for_each_of(SEEDS, 1, 2, check);
}

#[test]
fn a_seed_does_the_same_again() {
    again::compare(2, image, check_in);
}
