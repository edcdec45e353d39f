//! Sessions append to lists at the primary, others read them at standbys, while links and standbys fail. One order of commits must explain all that is seen
//! (crate `history`): a standby may be late, but shows what was once so at the primary, and goes forward only. Two readers that see two commits in different
//! orders (the long fork), at two standbys or at a standby and the primary, would be a cycle.

use std::sync::OnceLock;
use std::time::Duration;

use history::order::Report;
use history::session::SharedWorld;
use history::{Choices, Lost};
use runtime::sim::machines;
use runtime::sim::{DiskImage, Simulation};
use runtime::{sleep, wait};

use super::archive;
use super::failover::{SERVERS, cluster, disks};
use super::faults::Fault;
use super::node::{Manner, Node};
use crate::appends;
use crate::cluster::small_options;
use crate::seeds;

/// Seeds of the default run.
const SEEDS: u64 = 4;
/// Pids of those who read at standbys.
const READERS: i32 = 40;

fn image() -> &'static DiskImage {
    static IMAGE: OnceLock<DiskImage> = OnceLock::new();
    IMAGE.get_or_init(|| disks(history::SETUP))
}

fn manner(choices: &mut Choices) -> Manner {
    let mut options = small_options();
    options.checkpoint_timeout = Duration::from_millis(*choices.of(&[200, 1000]));
    // A standby that was cut off finds all that it misses at the primary.
    options.wal_keep_size = 64 << 20;
    Manner {
        options,
        archive_command: archive::CAREFUL,
        names: (*choices.of::<&str>(&["", "ANY 1 (s2, s3)", "FIRST 1 (s2, s3)"])).into(),
        feedback: choices.one_in(2),
    }
}

/// A fault that the primary survives.
fn fault(choices: &mut Choices) -> Fault {
    loop {
        match Fault::choose(choices, SERVERS, false) {
            Fault::Crash { node: 0, .. } | Fault::Kill { node: 0 } => {}
            fault => return fault,
        }
    }
}

/// Readers of a standby, on its machine: they end with it.
fn start_readers(node: &Node, round: i32, world: &SharedWorld, choices: &mut Choices) {
    for pid in [2 * round, 2 * round + 1] {
        let pid = READERS + pid;
        let (node, world) = (node.clone(), world.clone());
        let choices = Choices::new(choices.below(u64::MAX), 0);
        machines::spawn_on(node.number(), "reader", move || {
            let server = node.server().expect("it is up");
            let mut reader = appends::connect(&server, pid, choices, &world);
            let mut seen = None;
            loop {
                let looked = reader.observe_standby(seen);
                seen = looked.unwrap_or_else(|Lost| unreachable!("it is in this process")).or(seen);
                reader.rest();
            }
        });
    }
}

fn simulate(seed: u64) -> Result<Report, String> {
    let mut choices = Choices::new(seed, 30);
    let nodes = cluster(&manner(&mut choices));
    let primary = nodes[0].server().expect("it is up");
    let world = SharedWorld::default();
    nodes[1..].iter().for_each(|node| start_readers(node, 0, &world, &mut choices));
    let crew = appends::start(&primary, choices.between(2, 5), true, &world, &mut choices);
    for round in 1..=choices.below(3) as i32 {
        wait(sleep(Duration::from_millis(choices.between(10, 100))));
        let fault = fault(&mut choices);
        fault.happen(&nodes, &mut choices);
        match fault {
            Fault::Crash { node, .. } | Fault::Kill { node } | Fault::FullDisk { node } => {
                start_readers(&nodes[node], round, &world, &mut choices);
            }
            _ => {}
        }
    }
    wait(sleep(Duration::from_millis(100)));
    crew.stop();
    let end = nodes[0].show("select pg_current_wal_flush_lsn()");
    for node in &nodes[1..] {
        node.wait_for(&end);
        let server = node.server().expect("it is up");
        // It has all now, so it sees what was acknowledged.
        let mut last = appends::connect(&server, READERS - 1, choices.clone(), &world);
        last.observe().map_err(|Lost| "the standby is gone")?;
    }
    appends::connect(&primary, READERS - 1, choices, &world).check()
}

fn check(seed: u64) {
    let simulation = Simulation::with_disk(seed, image());
    let checked = simulation.run(move || simulate(seed)).expect("the operator's machine does not crash");
    let report = checked.unwrap_or_else(|anomaly| panic!("{anomaly}"));
    eprintln!("seed {seed}: {report:?}");
    assert!(report.committed > 0 && report.snapshots > report.committed);
}

#[test]
fn standbys_show_what_was_once_so_0() {
    seeds::for_each_of(SEEDS, 0, 2, check);
}

#[test]
fn standbys_show_what_was_once_so_1() {
    seeds::for_each_of(SEEDS, 1, 2, check);
}
