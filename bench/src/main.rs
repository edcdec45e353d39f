//! Side-by-side benchmarks.
//!
//! Figures of one server on a shared machine mean nothing alone. Every scenario here runs all servers in turn, several rounds,
//! under the same settings and the same load generator (`pgbench`), and prints medians and their ratios: to PostgreSQL 18,
//! and to the *limit*, a canned server that answers the same bytes from memory without doing the work.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml -- quick`

mod canned;
mod peers;
mod pgbench;
mod report;
mod scenario;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Compares Stampede with PostgreSQL 18 and with the limit of this machine.
#[derive(Parser)]
struct Options {
    /// The stampede binary; built with `cargo build --release` if it is not given.
    #[arg(long)]
    stampede: Option<PathBuf>,
    /// Folder with PostgreSQL 18's `initdb` and `postgres`; fetched with Maven if it is not given.
    #[arg(long, env = "POSTGRES18_BIN")]
    postgres: Option<PathBuf>,
    /// Seconds a run.
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Rounds; every round runs every server once.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Where tables and plots are written.
    #[arg(long, default_value = "bench/results")]
    out: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Clone, Copy)]
enum What {
    /// `select-only` and `tpcb` at few client counts, short runs: did a ratio fall?
    Quick,
    /// `pgbench -S -M prepared` at 1, 32, 500 and 5,000 clients beside PostgreSQL 18 and the limit.
    SelectOnly,
    /// `pgbench` tpcb-like, scale 20, at 1 and 64 clients beside PostgreSQL 18, default durability.
    Tpcb,
    /// Resident memory per idle session with one prepared statement, at 5,000 sessions.
    Memory,
    /// Latency of point queries while a heavy join runs on every worker.
    Interference,
    /// Only the canned server, on this port, until interrupted.
    Canned {
        /// TCP port on 127.0.0.1.
        port: u16,
    },
}

fn main() {
    let options = Options::parse();
    if let Err(message) = run(&options) {
        eprintln!("bench: {message}");
        std::process::exit(1);
    }
}

fn run(options: &Options) -> Result<(), String> {
    peers::raise_file_limit();
    if let What::Canned { port } = options.what {
        canned::serve(port, canned::workers()).join();
        return Ok(());
    }
    let lab = scenario::Lab::new(options)?;
    match options.what {
        What::Quick => {
            lab.select_only(&[1, 32], 5)?;
            lab.tpcb(&[1, 16], 5, 5)
        }
        What::SelectOnly => lab.select_only(&[1, 32, 500, 5000], options.seconds),
        What::Tpcb => lab.tpcb(&[1, 64], 20, options.seconds),
        What::Memory => lab.memory(5000),
        What::Interference => lab.interference(100, options.seconds),
        What::Canned { .. } => Ok(()),
    }
}
