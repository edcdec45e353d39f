//! Side-by-side benchmarks.
//!
//! Figures of one server on a shared machine mean nothing alone. Every scenario here runs all servers in turn, several rounds,
//! under the same settings and the same load generator (`pgbench`), and prints medians and their ratios: to PostgreSQL 18,
//! and to the *limit*, a canned server that answers the same bytes from memory without doing the work.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml -- quick`

mod ablation;
mod autovacuum;
mod backups;
mod bulk;
mod canned;
mod client;
mod crowd;
mod draw;
mod greedy;
mod indexes;
mod locks;
mod peers;
mod pgbench;
mod procedures;
mod readers;
mod recovery;
mod report;
mod scans;
mod scenario;
mod standbys;
mod subtransactions;
mod tpch;
mod vacuum;
mod vectors;
mod workloads;

use std::path::{Path, PathBuf};

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
    /// More versions of PostgreSQL beside 18, fetched with Maven.
    #[arg(long, value_enum, value_delimiter = ',')]
    also: Vec<peers::Version>,
    /// Clients come through Unix sockets instead of TCP.
    #[arg(long)]
    sockets: bool,
    /// Clients up to which PostgreSQL runs along: each is a process with some MiB of its own.
    #[arg(long, default_value_t = 5000)]
    most_processes: u32,
    /// Everything on this core, clients too: what a query costs, without what threads gain and lose by running on several.
    #[arg(long)]
    core: Option<usize>,
    /// Scale of pgbench's tables, where a scenario does not say another.
    #[arg(long, default_value_t = 20)]
    scale: u32,
    /// Where tables and plots are written.
    #[arg(long, default_value = "bench/results")]
    out: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Clone)]
enum What {
    /// `select-only` and `tpcb` at few client counts, short runs: did a ratio fall?
    Quick,
    /// `pgbench -S -M prepared` at 1, 32, 500 and 5,000 clients beside PostgreSQL 18 and the limit.
    SelectOnly,
    /// The same from 1 to 15,000 clients.
    Series,
    /// The same over TLS at 32 and 500 clients; needs `openssl` for a certificate, and a PostgreSQL that knows TLS.
    Tls,
    /// What the reviewers of the change to snapshots asked for, at 1, 32 and 500 clients: xids alone, single inserts, read-write, read-write with
    /// ten reads, one in ten read-write, and two-phase commit in three mixes.
    Workloads {
        /// Only this one.
        only: Option<String>,
    },
    /// Nanoseconds a snapshot, by how it is made, against sessions and writers; no server.
    Snapshots,
    /// `pgbench` tpcb-like, scale 20, at 1 and 64 clients beside PostgreSQL 18, default durability.
    Tpcb,
    /// Resident memory per idle session with one prepared statement, at 5,000 sessions.
    Memory,
    /// Latency of point queries while a heavy join runs on every worker.
    Interference,
    /// Latency of 100 clients' point queries, and of new connections, beside statements that want all time or all memory.
    Greedy {
        /// Only statements whose name contains this.
        only: Option<String>,
    },
    /// Latency of 100 clients' point queries over TLS beside 10,000 half-open TLS connections, 1,000 slow logins, and 1,000 sessions
    /// with 10,000 prepared statements each; needs `openssl`.
    Crowd,
    /// Point queries of 32 clients beside 100,000 open subtransactions and beside an old snapshot; a million subtransactions released,
    /// 20,000 rolled back.
    Subtransactions,
    /// Locks under crowds: shared rows, children of one parent, a hot row, a queue, NOTIFY, and what SERIALIZABLE costs.
    Locks {
        /// Only this case.
        #[arg(long, value_enum)]
        only: Option<locks::Case>,
    },
    /// Building each kind of index, searching it, and inserting into it by 1 and by 32 clients.
    Indexes {
        /// Only kinds whose name contains this: `btree`, `gin jsonb`, …
        #[arg(long)]
        only: Option<String>,
        /// Rows of each table.
        #[arg(long, default_value_t = 1_000_000)]
        rows: u32,
        /// 200,000 rows, searches of two seconds.
        #[arg(long)]
        quick: bool,
    },
    /// HNSW indexes of the extension `vector` with its defaults: recall against exact scans, and searches a second.
    Vectors {
        /// Rows of 128 dimensions.
        #[arg(long, default_value_t = 50_000)]
        rows: u32,
    },
    /// Functions in PL/pgSQL and SQL: loops, calls, triggers, statements in them.
    Procedures {
        /// Only cases whose name contains this.
        only: Option<String>,
    },
    /// Whole tables: counts, filters, sums, groups, a join, sorts; beside PostgreSQL 18 by default and in one process.
    Scans {
        /// Only cases whose name contains this.
        only: Option<String>,
        /// Rows of the table.
        #[arg(long, default_value_t = 2_000_000)]
        rows: u32,
    },
    /// Many rows at once: COPY, CREATE TABLE AS, INSERT … SELECT, DELETE, what follows a load, and `pgbench -i`.
    Bulk {
        /// Only cases whose name contains this.
        only: Option<String>,
        /// Rows of the table.
        #[arg(long, default_value_t = 1_000_000)]
        rows: u32,
    },
    /// VACUUM of a table over shapes: fill factors, wide rows, no index and three, a third updated, half and all deleted, nothing to do.
    Vacuum {
        /// Only shapes whose name contains this.
        only: Option<String>,
    },
    /// A table that is updated without end, with automatic vacuums alone; and others beside one.
    Autovacuum {
        /// Updates; each row has a hundred of them.
        #[arg(long, default_value_t = 10_000_000)]
        updates: u32,
    },
    /// Recovery from a crash after random updates of narrow, medium, wide and ten rows, and after pgbench's own script: first answer, first write, all redone.
    Recovery {
        /// Only cases whose name contains this.
        only: Option<String>,
        /// Transactions before the crash.
        #[arg(long, default_value_t = 1_200_000)]
        transactions: u32,
    },
    /// Replay by a standby of the log that pgbench's own script leaves: time and processor time.
    Replay {
        /// Transactions in the log.
        #[arg(long, default_value_t = 1_000_000)]
        transactions: u32,
    },
    /// pgbench's own script with a standby: how many transactions a second where commits wait for it, and how far it is behind where they do not.
    Replication {
        /// Clients.
        #[arg(long, default_value_t = 64)]
        clients: u32,
    },
    /// `pg_basebackup` beside pgbench's own script, with and without `--max-rate`: its speed, and what the load keeps. `--scale 100` and more.
    Backup {
        /// PostgreSQL 18's `pg_basebackup`.
        #[arg(long, default_value = "pg_basebackup")]
        program: PathBuf,
        /// Clients of the load.
        #[arg(long, default_value_t = 64)]
        clients: u32,
        /// Megabytes a second of the slower backup.
        #[arg(long, default_value_t = 64)]
        rate: u32,
    },
    /// Thousands of sessions that read at a standby while its primary writes: memory of each, latency, and that all see the same.
    StandbyReaders {
        /// Sessions.
        #[arg(long, default_value_t = 10_000)]
        sessions: usize,
    },
    /// The 22 queries of TPC-H beside PostgreSQL 18 with and without parallel workers; answers must agree.
    Tpch {
        /// Size of the tables; 1 is about a gigabyte.
        #[arg(long, default_value_t = 0.1)]
        scale: f64,
        /// Only these queries.
        #[arg(long, value_delimiter = ',')]
        only: Vec<usize>,
    },
    /// Draws a table that a run has written: `bench draw bench/results/connections.md docs/connections.svg`.
    Draw {
        /// The table, as Markdown.
        table: PathBuf,
        /// The plot, as SVG.
        plot: PathBuf,
        /// Values go up by powers of ten.
        #[arg(long)]
        logarithmic: bool,
    },
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
    if let Some(core) = options.core {
        peers::stay_on(core)?;
    }
    match &options.what {
        What::Canned { port } => {
            canned::serve(*port, None, canned::workers(), None).join();
            return Ok(());
        }
        What::Snapshots => return ablation::run(options.rounds, &options.out),
        What::Draw { table, plot, logarithmic } => return draw_file(table, plot, *logarithmic),
        _ => {}
    }
    let series = [1, 32, 100, 500, 1000, 2500, 5000, 7500, 10_000, 15_000];
    let connections = if matches!(
        options.what,
        What::Series | What::Crowd | What::Locks { .. } | What::StandbyReaders { .. }
    ) {
        15_100
    } else {
        5_200
    };
    let mut lab = scenario::Lab::new(options, connections)?;
    match &options.what {
        What::Quick => {
            lab.select_only("select-only", &[1, 32], 5)?;
            lab.tpcb(&[1, 16], 5, 5)
        }
        What::SelectOnly => lab.select_only("select-only", &[1, 32, 500, 5000], options.seconds),
        What::Tls => lab.tls(&[32, 500], options.seconds),
        What::Series => lab.select_only("connections", &series, options.seconds),
        What::Workloads { only } => lab.workloads(only.as_deref(), &[1, 32, 500], options.seconds),
        What::Tpcb => lab.tpcb(&[1, 64], 20, options.seconds),
        What::Memory => lab.memory(5000),
        What::Interference => lab.interference(100, options.seconds),
        What::Greedy { only } => lab.greedy(only.as_deref()),
        What::Crowd => lab.crowd(options.seconds),
        What::Subtransactions => lab.subtransactions(32, options.seconds),
        What::Locks { only } => lab.locks(*only, options.seconds),
        What::Indexes { only, rows, quick } => {
            let (rows, seconds) = if *quick { (200_000, 2) } else { (*rows, options.seconds) };
            lab.indexes(only.as_deref(), rows, seconds)
        }
        What::Vectors { rows } => lab.vectors(*rows),
        What::Procedures { only } => lab.procedures(only.as_deref()),
        What::Scans { only, rows } => lab.scans(only.as_deref(), *rows),
        What::Bulk { only, rows } => lab.bulk(only.as_deref(), *rows),
        What::Vacuum { only } => lab.vacuum(only.as_deref()),
        What::Autovacuum { updates } => lab.autovacuum(*updates, options.seconds),
        What::Recovery { only, transactions } => lab.recovery(only.as_deref(), *transactions),
        What::Replay { transactions } => lab.replay(*transactions),
        What::Replication { clients } => lab.replication(*clients, options.seconds),
        What::Backup { program, clients, rate } => lab.backup(program, (*clients, *rate), options.seconds),
        What::StandbyReaders { sessions } => lab.standby_readers(*sessions, options.seconds),
        What::Tpch { scale, only } => lab.tpch(*scale, only),
        What::Canned { .. } | What::Snapshots | What::Draw { .. } => Ok(()),
    }
}

fn draw_file(table: &Path, plot: &Path, logarithmic: bool) -> Result<(), String> {
    let scale = if logarithmic { report::Scale::Logarithmic } else { report::Scale::Linear };
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(table).map_err(|error| failed(table, error))?;
    let drawn = draw::Plot::read(&text, scale)?.svg();
    std::fs::write(plot, drawn).map_err(|error| failed(plot, error))
}
