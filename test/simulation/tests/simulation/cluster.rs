//! A server on a simulated machine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::settings::ServerSettings;
use catalog::BootstrapOptions;
use command::Commands;
use engine::background::{self, Stop};
use engine::{Engine, EngineError, EngineOptions, RecoveryOptions};
use runtime::sim::{DiskImage, Simulation};
use runtime::{JoinHandle, spawn_fiber};
use session::Instance;
use txn::TxnOptions;
use wal::WalOptions;

use crate::session::Client;

/// Where the data directory is on the simulated disk.
pub const DIR: &str = "/data";

/// Sizes that make pages leave the pool, segments fill and checkpoints come within a short run.
pub fn small_options() -> EngineOptions {
    EngineOptions {
        shared_buffers: 128,
        wal: WalOptions {
            segment_size: 64 << 10,
            buffers: 64 << 10,
            min_size: 128 << 10,
            max_size: 1 << 20,
            ..WalOptions::default()
        },
        checkpoint_timeout: Duration::from_secs(1),
        recovery: RecoveryOptions { workers: 2, ..RecoveryOptions::default() },
        txn: TxnOptions { max_prepared: 64, ..TxnOptions::default() },
        ..EngineOptions::default()
    }
}

/// A disk with a new cluster, after `setup` has run its statements; cleanly shut down.
pub fn initialized_disk(options: &EngineOptions, setup: &'static [&'static str]) -> DiskImage {
    let simulation = Simulation::new(0);
    // Big while nothing can go wrong, for speed; only the segments' size stays for good.
    let options = EngineOptions { shared_buffers: 4096, ..options.clone() };
    let first = BootstrapOptions {
        superuser: "postgres".into(),
        password: None,
        encoding: base::Encoding::Utf8,
        locale: "C.UTF-8".into(),
        provider: collation::Provider::Libc,
        provider_locale: None,
    };
    simulation
        .run(move || {
            command::initialize(Path::new(DIR), options.clone(), &first).expect("a cluster is made");
            let server = Server::open(options);
            let client = server.connect(1);
            for sql in setup {
                client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
            client.close();
            server.engine.shutdown().expect("the server shuts down");
        })
        .expect("nothing crashes the machine");
    simulation.disk_image()
}

/// An open cluster, within [`Simulation::run`].
pub struct Server {
    pub engine: Arc<Engine>,
    pub instance: Arc<Instance>,
}

/// The fibers that work beside the sessions.
pub struct Background {
    engine: Arc<Engine>,
    stop: Stop,
    fibers: Vec<JoinHandle<Result<(), EngineError>>>,
}

impl Server {
    /// Opens the data directory and recovers it if the last server crashed.
    pub fn open(options: EngineOptions) -> Server {
        let engine = Engine::open(Path::new(DIR), options);
        let engine = Arc::new(engine.unwrap_or_else(|error| panic!("the cluster does not open: {error}")));
        Server::over(engine, Arc::new(ServerSettings::new()))
    }

    /// Over an engine that is open.
    pub fn over(engine: Arc<Engine>, settings: Arc<ServerSettings>) -> Server {
        let instance = Instance::new(engine.clone(), settings, &Commands);
        instance.modules().register(modules::all());
        Server { instance, engine }
    }

    /// A new session.
    pub fn connect(&self, pid: i32) -> Client {
        Client::connect(&self.instance, pid)
    }

    /// Starts checkpointer, background writer and WAL writers.
    pub fn start_background(&self) -> Background {
        type Loop = fn(&Arc<Engine>, &Stop, &dyn Fn()) -> Result<(), EngineError>;
        let loops: [(&'static str, Loop); 5] = [
            ("recovery", background::recovery),
            ("checkpointer", background::checkpointer),
            ("background writer", background::background_writer),
            ("wal writer", background::wal_writer),
            ("wal backlog writer", background::wal_backlog_writer),
        ];
        let stop = Stop::default();
        let fibers = loops.map(|(name, body)| {
            let (engine, stop) = (self.engine.clone(), stop.clone());
            spawn_fiber(name, move || body(&engine, &stop, &|| {}))
        });
        Background { engine: self.engine.clone(), stop, fibers: fibers.into() }
    }
}

impl Background {
    /// Ends the loops.
    pub fn stop(self) {
        self.stop.stop(&self.engine);
        for fiber in self.fibers {
            fiber.join().expect("the loop is not aborted").expect("the loop ends well");
        }
    }
}
