//! A seed does the same whenever it runs: without that, one that has failed tells nothing.

use runtime::sim::trace::first_difference;
use runtime::sim::{DiskImage, Simulation};

use crate::seeds;

/// Runs seeds, each twice on machines with the same disk, and compares all that was done. Addresses and what random states there are differ from run to run.
pub fn compare(default: u64, image: fn() -> &'static DiskImage, run: fn(&Simulation, u64)) {
    seeds::for_each_of(default, 0, 1, |seed| {
        let [one, other] = [(); 2].map(|()| {
            let simulation = Simulation::with_disk(seed, image());
            simulation.keep_events();
            run(&simulation, seed);
            simulation
        });
        eprintln!("seed {seed}: {:016x}, {} events", one.digest(), one.events().len());
        if one.digest() != other.digest() {
            let difference = first_difference(&one.events(), &other.events());
            panic!("{}", difference.expect("what differs was noted"));
        }
    });
}
