//! How long checkpoints take and what makes them come, by the virtual clock.

use std::time::Duration;

use engine::EngineOptions;
use runtime::sim::Simulation;
use runtime::time::now;
use runtime::{sleep, wait};

use crate::cluster::{Server, initialized_disk, small_options};

/// Pages enough that a checkpoint which is spread takes its whole time.
const FILL: &str =
    "create table t as select n as id, repeat('x', 500) as v from generate_series(1, 10000) as n";

/// What the log may take where that matters.
const MAX_LOG: u64 = 4 << 20;

fn options() -> EngineOptions {
    let mut options = small_options();
    options.shared_buffers = 4096;
    options.checkpoint_timeout = Duration::from_secs(30);
    options.wal.max_size = 64 << 20;
    options
}

/// Bytes of log files.
fn log_size(server: &Server) -> u64 {
    let files =
        runtime::fs::read_dir(&server.engine.dir().join("pg_wal")).expect("the log's folder is there");
    files.len() as u64 * server.engine.options().wal.segment_size
}

fn run(options: EngineOptions, test: fn(&Server)) {
    let simulation = Simulation::with_disk(5, &initialized_disk(&options, &[]));
    simulation.run(move || test(&Server::open(options))).expect("nothing crashes the machine");
}

/// Returns once the checkpoint that is due by time has begun.
fn wait_for_timed_checkpoint(server: &Server) {
    while server.engine.checkpoint_totals().timed == 0 {
        wait(sleep(Duration::from_millis(100)));
    }
}

#[test]
fn a_checkpoint_is_spread_until_the_server_stops() {
    run(options(), |server| {
        let background = server.start_background();
        let client = server.connect(1);
        client.show(FILL);
        wait_for_timed_checkpoint(server);
        let begin = now();
        wait(sleep(Duration::from_secs(5)));
        assert_eq!(server.engine.checkpoint_totals().done, 0, "it is spread");
        client.close();
        background.stop();
        server.engine.shutdown().expect("the server shuts down");
        assert_eq!(server.engine.checkpoint_totals().done, 1);
        assert!(begin.elapsed() < Duration::from_secs(7), "{:?}", begin.elapsed());
    });
}

#[test]
fn the_log_keeps_to_its_size_while_checkpoints_are_spread() {
    let mut options = options();
    options.checkpoint_timeout = Duration::from_secs(3600);
    options.wal.max_size = MAX_LOG;
    run(options, |server| {
        let background = server.start_background();
        let client = server.connect(1);
        client.show(FILL);
        let mut largest = 0;
        for _ in 0..1500 {
            client.show("insert into t select n, repeat('y', 500) from generate_series(1, 20) as n");
            wait(sleep(Duration::from_millis(20)));
            // Until then the log is still that of one long statement.
            if server.engine.checkpoint_totals().done >= 2 {
                largest = largest.max(log_size(server));
            }
        }
        let checkpoints = server.engine.checkpoint_totals();
        assert!(checkpoints.done >= 4, "{checkpoints:?}");
        assert!(checkpoints.write > Duration::from_secs(8), "they are spread: {checkpoints:?}");
        assert!(largest <= MAX_LOG * 9 / 8, "{largest}");
        client.close();
        background.stop();
    });
}
