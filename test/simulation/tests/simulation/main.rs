//! # What
//! Whole servers from seeds: storage, catalogs, executor and sessions on one thread with a virtual clock and a simulated disk that loses
//! and tears what was not synced.
//!
//! # Layout
//! * [`cluster`]: a server on a simulated machine, and its sessions. [`crash`]: how the machine's life ends. [`seeds`]: which seeds run, and
//!   how a failure names its own.
//! * [`again`]: a seed does the same whenever it runs.
//! * [`crew`]: fibers that work until they are told to stop.
//! * [`bank`]: sessions transfer money while the machine crashes; [`two_phase`]: some of it in two phases. [`agreement`]: all tables and indexes, by the verifier.
//! * [`appends`]: sessions append to lists while the machine crashes; one order of commits must explain all that they see.
//! * [`knobs`]: the same statements under different sizes give the same answers.
//! * [`references`]: unique keys and foreign keys under rollbacks.
//! * [`checkpoints`]: how long checkpoints take and what makes them come, by the virtual clock.
//! * [`clock`]: what must not depend on how fast the clock goes.
//! * [`replication`]: a primary, its standbys and an archive, each on a machine of its own.
//! * [`old_snapshots`]: `old_snapshot_threshold`, by the virtual clock.
//!
//! # To run more
//! `STAMPEDE_SIM_SEEDS=500` runs so many seeds, from `STAMPEDE_SIM_FIRST` on; `STAMPEDE_SIM_SEED=17` that one. A failure names its seed; the same seed and the same code
//! fail again at the same step. `STAMPEDE_SIM_CRASHES=50` crashes each seed so often in recovery
//! (`cargo test -p simulation crashes_in_recovery`).

mod again;
mod agreement;
mod appends;
mod bank;
mod checkpoints;
mod clock;
mod cluster;
mod crash;
mod crew;
mod knobs;
mod old_snapshots;
mod references;
mod replication;
mod seeds;
mod session;
mod two_phase;
