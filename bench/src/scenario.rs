//! What is measured.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use crate::peers::{self, Server};
use crate::report::{Table, median};
use crate::{Options, canned, pgbench};

/// Ports, one a server.
const STAMPEDE_PORT: u16 = 55_432;
const POSTGRES_PORT: u16 = 55_433;
const CANNED_PORT: u16 = 55_434;

/// The servers, started, and where results go.
pub struct Lab {
    stampede: Server,
    postgres: Server,
    limit: Server,
    rounds: u32,
    out: PathBuf,
}

impl Lab {
    /// Starts all servers.
    pub fn new(options: &Options) -> Result<Lab, String> {
        let work = std::env::temp_dir().join(format!("stampede-bench-{}", std::process::id()));
        let (initdb, postgres) = peers::stampede(options.stampede.as_deref())?;
        let stampede = Server::start("Stampede", initdb, postgres, &work, STAMPEDE_PORT)?;
        let (initdb, postgres) = peers::postgres(options.postgres.as_deref())?;
        let postgres = Server::start("PostgreSQL-18", initdb, postgres, &work, POSTGRES_PORT)?;
        canned::serve(CANNED_PORT, canned::workers());
        let limit = Server::in_process("limit", CANNED_PORT);
        Ok(Lab { stampede, postgres, limit, rounds: options.rounds, out: options.out.clone() })
    }

    /// Prepared point queries on scale 20, everything cached.
    pub fn select_only(&self, clients: &[u32], seconds: u32) -> Result<(), String> {
        for server in [&self.stampede, &self.postgres] {
            pgbench::initialize(server.port, 20)?;
            pgbench::psql(server.port, "vacuum analyze")?;
            pgbench::run(server.port, 8, 3, &["-S", "-M", "prepared"])?;
        }
        let args = ["-S", "-M", "prepared", "-s", "20"];
        self.alternate("select-only", &[&self.stampede, &self.postgres, &self.limit], clients, seconds, &args)
    }

    /// The built-in read-write script, default durability.
    pub fn tpcb(&self, clients: &[u32], scale: u32, seconds: u32) -> Result<(), String> {
        for server in [&self.stampede, &self.postgres] {
            pgbench::initialize(server.port, scale)?;
        }
        self.alternate("tpcb-like", &[&self.stampede, &self.postgres], clients, seconds, &["-M", "prepared"])
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
                    let figures = pgbench::run(server.port, clients, seconds, args)
                        .map_err(|e| format!("{}: {e}", server.name))?;
                    eprintln!(
                        "{title} {clients} clients, round {round}/{}: {} {:.0} tps, {:.3} ms",
                        self.rounds, server.name, figures.tps, figures.latency_ms
                    );
                    tps.push(figures.tps);
                }
            }
            rows.push((clients, tps.into_iter().map(median).collect()));
        }
        let servers = servers.iter().map(|s| s.name).collect();
        Table { title: title.into(), servers, rows }.publish(&self.out)
    }

    /// Opens `sessions` connections, prepares one statement on each, and compares resident memory before and after.
    pub fn memory(&self, sessions: usize) -> Result<(), String> {
        let before = resident_kib(self.stampede.pid())?;
        let idle: Vec<TcpStream> =
            (0..sessions).map(|_| prepared_session(self.stampede.port)).collect::<Result<_, _>>()?;
        let after = resident_kib(self.stampede.pid())?;
        println!(
            "{sessions} idle sessions with a prepared statement: {:.1} KiB each ({before} KiB before, {after} KiB after)",
            (after - before) as f64 / idle.len() as f64
        );
        Ok(())
    }

    /// Point queries of `clients` beside one heavy self-join per core.
    pub fn interference(&self, clients: u32, seconds: u32) -> Result<(), String> {
        pgbench::initialize(self.stampede.port, 10)?;
        let join = "select count(*) from pgbench_accounts a join pgbench_accounts b on a.bid = b.bid where a.abalance + b.abalance > 1";
        let mut heavy: Vec<_> = (0..canned::workers())
            .filter_map(|_| {
                pgbench::base("psql", self.stampede.port).args(["-c", join, "postgres"]).spawn().ok()
            })
            .collect();
        let log = std::env::temp_dir().join(format!("stampede-latency-{}", std::process::id()));
        let prefix = log.to_string_lossy().into_owned();
        let args = ["-S", "-M", "prepared", "-l", "--sampling-rate", "0.2", "--log-prefix", &prefix];
        let figures = pgbench::run(self.stampede.port, clients, seconds, &args);
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
}

/// 99th percentile of the latencies in pgbench's logs `prefix.*`, which are removed.
fn p99_ms(prefix: &std::path::Path) -> Result<f64, String> {
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
fn prepared_session(port: u16) -> Result<TcpStream, String> {
    let attempt = || -> std::io::Result<TcpStream> {
        let mut socket = TcpStream::connect(("127.0.0.1", port))?;
        let parameters = b"user\0postgres\0database\0postgres\0\0";
        socket.write_all(&(parameters.len() as u32 + 8).to_be_bytes())?;
        socket.write_all(&196_608u32.to_be_bytes())?;
        socket.write_all(parameters)?;
        until_ready(&mut socket)?;
        let body = b"s\0SELECT relname FROM pg_class WHERE oid = $1\0\0\0";
        socket.write_all(b"P")?;
        socket.write_all(&(body.len() as u32 + 4).to_be_bytes())?;
        socket.write_all(body)?;
        socket.write_all(b"S\0\0\0\x04")?;
        until_ready(&mut socket)?;
        Ok(socket)
    };
    attempt().map_err(|e| e.to_string())
}

fn until_ready(socket: &mut TcpStream) -> std::io::Result<()> {
    let mut header = [0; 5];
    loop {
        socket.read_exact(&mut header)?;
        let len = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
        let mut body = vec![0; len - 4];
        socket.read_exact(&mut body)?;
        match header[0] {
            b'Z' => return Ok(()),
            b'E' => return Err(std::io::Error::other(String::from_utf8_lossy(&body).into_owned())),
            _ => {}
        }
    }
}

fn resident_kib(pid: u32) -> Result<i64, String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).map_err(|e| e.to_string())?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).ok_or("no VmRSS".into())
}
