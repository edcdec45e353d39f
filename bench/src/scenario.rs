//! What is measured.

use std::path::{Path, PathBuf};

use crate::client::Client;
use crate::peers::{self, Place, Server, Version};
use crate::report::{Scale, Table, median};
use crate::workloads::Scripts;
use crate::{
    Options, What, autovacuum, backups, bulk, canned, crowd, greedy, indexes, locks, pgbench, procedures,
    readers, recovery, scans, standbys, subtransactions, tpch, vacuum, vectors,
};

/// Ports, one a server; PostgreSQL's versions have one after the other. Not among those that the system gives to clients: one of an earlier
/// run may still hold it.
const STAMPEDE_PORT: u16 = 25_432;
const CANNED_PORT: u16 = 25_433;
const POSTGRES_PORT: u16 = 25_434;

/// The servers, started, and where results go.
pub struct Lab {
    stampede: Server,
    postgres: Vec<Server>,
    limit: Server,
    rounds: u32,
    scale: u32,
    out: PathBuf,
    most_processes: u32,
    /// Dropped last.
    _place: Place,
}

impl Lab {
    /// Starts all servers, with room for so many connections; PostgreSQL has no more than it is to have processes.
    pub fn new(options: &Options, connections: u32) -> Result<Lab, String> {
        let place = Place::new(options.sockets, matches!(options.what, What::Tls | What::Crowd))?;
        let programs = peers::stampede(options.stampede.as_deref())?;
        let stampede = Server::start("Stampede", programs, &place, STAMPEDE_PORT, connections)?;
        let mut postgres = Vec::new();
        let processes = connections.min(options.most_processes + 100);
        for (n, version) in std::iter::once(Version::V18).chain(options.also.iter().copied()).enumerate() {
            let programs = peers::postgres(version, options.postgres.as_deref())?;
            let port = POSTGRES_PORT + n as u16;
            postgres.push(Server::start(version.name(), programs, &place, port, processes)?);
        }
        let tls = if place.tls { Some(canned::acceptor(&stampede.data)?) } else { None };
        canned::serve(CANNED_PORT, options.sockets.then_some(&place.work), canned::workers(), tls);
        let limit = Server::in_process("limit", CANNED_PORT, &place);
        Ok(Lab {
            stampede,
            postgres,
            limit,
            rounds: options.rounds,
            scale: options.scale,
            out: options.out.clone(),
            most_processes: options.most_processes,
            _place: place,
        })
    }

    /// Stampede and its peers.
    fn databases(&self) -> impl Iterator<Item = &Server> {
        std::iter::once(&self.stampede).chain(&self.postgres)
    }

    /// pgbench's tables on every database, everything cached.
    fn fill(&self) -> Result<(), String> {
        for server in self.databases() {
            pgbench::initialize(server, self.scale)?;
            pgbench::psql(server, "vacuum analyze")?;
            pgbench::run(server, 8, 3, &["-S", "-M", "prepared"])?;
        }
        Ok(())
    }

    /// Prepared point queries, everything cached.
    pub fn select_only(&self, title: &str, clients: &[u32], seconds: u32) -> Result<(), String> {
        self.fill()?;
        let servers: Vec<&Server> = self.databases().chain([&self.limit]).collect();
        self.alternate(title, &servers, clients, seconds, &["-S", "-M", "prepared"])
    }

    /// The same over TLS, which the limit speaks too.
    pub fn tls(&self, clients: &[u32], seconds: u32) -> Result<(), String> {
        self.select_only("select-only over TLS", clients, seconds)
    }

    /// The built-in read-write script, default durability.
    pub fn tpcb(&self, clients: &[u32], scale: u32, seconds: u32) -> Result<(), String> {
        for server in self.databases() {
            pgbench::initialize(server, scale)?;
        }
        let servers: Vec<&Server> = self.databases().collect();
        self.alternate("tpcb-like", &servers, clients, seconds, &["-M", "prepared"])
    }

    /// What the thread's reviewers asked for, beside every PostgreSQL there is.
    pub fn workloads(&self, only: Option<&str>, clients: &[u32], seconds: u32) -> Result<(), String> {
        self.fill()?;
        let servers: Vec<&Server> = self.databases().collect();
        let scripts = Scripts::write(&std::env::temp_dir())?;
        for workload in scripts.workloads().iter().filter(|w| only.is_none_or(|only| only == w.name)) {
            for server in &servers {
                workload.prepare(server)?;
            }
            let args: Vec<&str> = workload.args.iter().map(String::as_str).collect();
            self.alternate(workload.name, &servers, clients, seconds, &args)?;
        }
        Ok(())
    }

    /// TPC-H on Stampede and PostgreSQL 18.
    pub fn tpch(&self, scale: f64, only: &[usize]) -> Result<(), String> {
        let task = tpch::Task { scale, only, rounds: self.rounds, out: &self.out };
        tpch::run(&self.stampede, &self.postgres[0], &task)
    }

    /// Every round runs every server once at every client count.
    fn alternate(
        &self,
        title: &str,
        servers: &[&Server],
        clients: &[u32],
        seconds: u32,
        args: &[&str],
    ) -> Result<(), String> {
        let mut rows = Vec::new();
        for &clients in clients {
            let mut tps = vec![Vec::new(); servers.len()];
            for round in 1..=self.rounds {
                for (server, tps) in servers.iter().zip(&mut tps) {
                    let is_peer = self.postgres.iter().any(|peer| std::ptr::eq(peer, *server));
                    if is_peer && clients > self.most_processes {
                        continue;
                    }
                    let figures = match pgbench::run(server, clients, seconds, args) {
                        Ok(figures) => figures,
                        // A peer that cannot serve so many in this time is not measured; the others are.
                        Err(error) if is_peer => {
                            eprintln!("{title} {clients} clients, round {round}: {}: {error}", server.name);
                            continue;
                        }
                        Err(error) => return Err(format!("{}: {error}", server.name)),
                    };
                    eprintln!(
                        "{title} {clients} clients, round {round}/{}: {} {:.0} tps, {:.3} ms",
                        self.rounds, server.name, figures.tps, figures.latency_ms
                    );
                    tps.push(figures.tps);
                }
            }
            rows.push((clients, tps.into_iter().map(median).collect()));
        }
        Table {
            title: title.into(),
            what: "transactions a second, medians".into(),
            axis: "clients",
            servers: servers.iter().map(|s| s.name).collect(),
            rows,
            scale: Scale::Linear,
        }
        .publish(&self.out)
    }

    /// What subtransactions and old snapshots cost, on every database.
    pub fn subtransactions(&self, clients: u32, seconds: u32) -> Result<(), String> {
        self.fill()?;
        subtransactions::beside(&self.stampede, clients, seconds, self.rounds)?;
        for server in self.databases() {
            subtransactions::rolled_back(server)?;
            subtransactions::released(server)?;
        }
        Ok(())
    }

    /// Opens `sessions` connections, prepares one statement on each, and compares resident memory before and after.
    pub fn memory(&self, sessions: usize) -> Result<(), String> {
        let before = resident_kib(self.stampede.pid())?;
        let idle: Vec<Client> =
            (0..sessions).map(|_| prepared_session(&self.stampede)).collect::<Result<_, _>>()?;
        let after = resident_kib(self.stampede.pid())?;
        println!(
            "{sessions} idle sessions with a prepared statement: {:.1} KiB each ({before} KiB before, {after} KiB after)",
            (after - before) as f64 / idle.len() as f64
        );
        Ok(())
    }

    /// Point queries of `clients` beside one heavy self-join per core.
    pub fn interference(&self, clients: u32, seconds: u32) -> Result<(), String> {
        pgbench::initialize(&self.stampede, 10)?;
        let join = "select count(*) from pgbench_accounts a join pgbench_accounts b on a.bid = b.bid where a.abalance + b.abalance > 1";
        let mut heavy: Vec<_> = (0..canned::workers())
            .filter_map(|_| pgbench::base("psql", &self.stampede).args(["-c", join, "postgres"]).spawn().ok())
            .collect();
        let log = std::env::temp_dir().join(format!("stampede-latency-{}", std::process::id()));
        let prefix = log.to_string_lossy().into_owned();
        let args = ["-S", "-M", "prepared", "-l", "--sampling-rate", "0.2", "--log-prefix", &prefix];
        let figures = pgbench::run(&self.stampede, clients, seconds, &args);
        for query in &mut heavy {
            let _ = query.kill();
            let _ = query.wait();
        }
        println!(
            "{clients} clients beside heavy queries: {:.0} tps, p99 {:.2} ms",
            figures?.tps,
            p99_ms(&log)?
        );
        Ok(())
    }

    /// What greedy statements do to others, here and on PostgreSQL 18.
    pub fn greedy(&self, only: Option<&str>) -> Result<(), String> {
        greedy::run(&self.databases().collect::<Vec<_>>(), self.scale, only)
    }

    /// What locks cost under crowds, here and on PostgreSQL.
    pub fn locks(&mut self, only: Option<locks::Case>, seconds: u32) -> Result<(), String> {
        let (rounds, most_processes) = (self.rounds, self.most_processes);
        let mut servers: Vec<&mut Server> =
            std::iter::once(&mut self.stampede).chain(&mut self.postgres).collect();
        locks::run(&mut servers, only, &locks::Task { seconds, rounds, most_processes })
    }

    /// What indexes cost, here and on PostgreSQL.
    pub fn indexes(&self, only: Option<&str>, rows: u32, seconds: u32) -> Result<(), String> {
        let servers: Vec<&Server> = self.databases().collect();
        indexes::run(&servers, &indexes::Task { only, rows, rounds: self.rounds, seconds })
    }

    /// What searches for the nearest vectors find, and how fast.
    pub fn vectors(&self, rows: u32) -> Result<(), String> {
        let servers: Vec<&Server> = self.databases().collect();
        vectors::run(&servers, rows)
    }

    /// What functions cost, here and on PostgreSQL.
    pub fn procedures(&self, only: Option<&str>) -> Result<(), String> {
        let servers: Vec<&Server> = self.databases().collect();
        procedures::run(&servers, only, self.rounds)
    }

    /// What reading whole tables costs, here and on PostgreSQL.
    pub fn scans(&self, only: Option<&str>, rows: u32) -> Result<(), String> {
        let servers: Vec<&Server> = self.databases().collect();
        scans::run(&servers, only, rows, self.rounds)
    }

    /// What moving many rows costs, here and on PostgreSQL.
    pub fn bulk(&self, only: Option<&str>, rows: u32) -> Result<(), String> {
        let servers: Vec<&Server> = self.databases().collect();
        bulk::run(&servers, only, rows, self.rounds)
    }

    /// VACUUM of a table, here and on PostgreSQL.
    pub fn vacuum(&self, only: Option<&str>) -> Result<(), String> {
        let servers: Vec<&Server> = self.databases().collect();
        vacuum::run(&servers, only, self.rounds)
    }

    /// What automatic vacuums keep up with, and what others notice of them, here and on PostgreSQL.
    pub fn autovacuum(&mut self, updates: u32, seconds: u32) -> Result<(), String> {
        let mut servers: Vec<&mut Server> =
            std::iter::once(&mut self.stampede).chain(&mut self.postgres).collect();
        autovacuum::run(&mut servers, updates, seconds)
    }

    /// Recovery from a crash, here and on PostgreSQL.
    pub fn recovery(&mut self, only: Option<&str>, transactions: u32) -> Result<(), String> {
        let rounds = self.rounds;
        recovery::run(&mut self.with_logs(), only, (transactions, rounds))
    }

    /// Replay by standbys, here and on PostgreSQL.
    pub fn replay(&mut self, transactions: u32) -> Result<(), String> {
        let (scale, rounds) = (self.scale, self.rounds);
        standbys::replay(&mut self.with_logs(), (scale, transactions, rounds))
    }

    /// Transactions beside standbys, here and on PostgreSQL.
    pub fn replication(&mut self, clients: u32, seconds: u32) -> Result<(), String> {
        let (scale, rounds) = (self.scale, self.rounds);
        standbys::replication(&mut self.with_logs(), (scale, clients, seconds, rounds))
    }

    /// Base backups beside a load, here and on PostgreSQL.
    pub fn backup(
        &mut self,
        program: &Path,
        (clients, rate): (u32, u32),
        seconds: u32,
    ) -> Result<(), String> {
        let (scale, rounds) = (self.scale, self.rounds);
        let task = backups::Task { program, scale, clients, seconds, rounds, rate };
        backups::run(&mut self.with_logs(), &task)
    }

    /// Crowds that read at a standby.
    pub fn standby_readers(&mut self, sessions: usize, seconds: u32) -> Result<(), String> {
        readers::run(&mut self.stampede, sessions, self.scale, seconds)
    }

    /// The servers that have a log: all but the limit.
    fn with_logs(&mut self) -> Vec<&mut Server> {
        std::iter::once(&mut self.stampede).chain(&mut self.postgres).collect()
    }

    /// What crowds of connections and of prepared statements do to others.
    pub fn crowd(&self, seconds: u32) -> Result<(), String> {
        crowd::run(&self.stampede, self.scale, seconds)
    }
}

/// 99th percentile of the latencies in pgbench's logs `prefix.*`, which are removed.
pub fn p99_ms(prefix: &std::path::Path) -> Result<f64, String> {
    let folder = prefix.parent().ok_or("no folder")?;
    let name = prefix.file_name().and_then(|n| n.to_str()).ok_or("no name")?;
    let mut latencies = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| e.to_string())?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(name) {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            latencies.extend(text.lines().filter_map(|l| l.split(' ').nth(2)?.parse::<f64>().ok()));
            let _ = std::fs::remove_file(entry.path());
        }
    }
    latencies.sort_by(f64::total_cmp);
    latencies.get(latencies.len() * 99 / 100).map(|us| us / 1000.0).ok_or("pgbench wrote no latencies".into())
}

/// Connects, prepares one point query, and leaves the session idle.
fn prepared_session(server: &Server) -> Result<Client, String> {
    let mut client = Client::connect(server)?;
    client.prepare("SELECT relname FROM pg_class WHERE oid = $1")?;
    Ok(client)
}

pub fn resident_kib(pid: u32) -> Result<i64, String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).map_err(|e| e.to_string())?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).ok_or("no VmRSS".into())
}
