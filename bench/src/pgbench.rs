//! Running `pgbench` and `psql` and reading what they print.

use std::path::PathBuf;
use std::process::Command;

use crate::canned;
use crate::peers::{Server, check};

/// One run's figures.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Transactions a second, without connection time.
    pub tps: f64,
    /// Mean latency in milliseconds.
    pub latency_ms: f64,
    /// Transactions that did their work, and those that failed.
    pub counts: [f64; 2],
}

/// How long a run lasts.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// So many seconds.
    Seconds(u32),
    /// So many transactions of each client.
    Transactions(u32),
}

/// Fills a database; `scale` × 100,000 accounts.
pub fn initialize(server: &Server, scale: u32) -> Result<(), String> {
    let done = base("pgbench", server).args(["-i", "-q", "-s", &scale.to_string(), "postgres"]).output();
    check(done, "pgbench -i").map(drop)
}

/// Runs for `seconds` with the given extra arguments; a failed transaction is an error.
pub fn run(server: &Server, clients: u32, seconds: u32, args: &[&str]) -> Result<Figures, String> {
    let figures = run_counting(server, clients, Length::Seconds(seconds), args)?;
    if figures.counts[1] > 0.0 {
        return Err(format!("{} transactions failed", figures.counts[1]));
    }
    Ok(figures)
}

/// The same for any length, by two threads, or by one where there is one core; failed transactions are counted.
pub fn run_counting(server: &Server, clients: u32, length: Length, args: &[&str]) -> Result<Figures, String> {
    let threads = canned::workers().min(2).to_string();
    let (option, length) = match length {
        Length::Seconds(seconds) => ("-T", seconds.to_string()),
        Length::Transactions(each) => ("-t", each.to_string()),
    };
    let done = base("pgbench", server)
        .args(["-n", "-j", &threads, "-c", &clients.to_string(), option, &length])
        .args(args)
        .arg("postgres")
        .output();
    let text = check(done, &format!("pgbench with {clients} clients"))?;
    let count = |label| number(&text, label).unwrap_or(0.0);
    Ok(Figures {
        tps: number(&text, "tps = ").ok_or("pgbench printed no tps")?,
        latency_ms: count("latency average = "),
        counts: [
            count("number of transactions actually processed: "),
            count("number of failed transactions: "),
        ],
    })
}

/// A script of pgbench's, as a file that goes with this value.
pub struct Script(PathBuf);

impl Script {
    /// With this text; no other of the same name is there meanwhile.
    pub fn new(name: &str, text: &str) -> Result<Script, String> {
        let path = std::env::temp_dir().join(format!("stampede-bench-{name}-{}", std::process::id()));
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Script(path))
    }

    /// Where it is.
    pub fn path(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }

    /// The arguments with which pgbench runs it, prepared.
    pub fn args(&self) -> [String; 4] {
        ["-M".into(), "prepared".into(), "-f".into(), self.path()]
    }

    /// Transactions a second; a failed one is an error.
    pub fn tps(&self, server: &Server, clients: u32, length: Length) -> Result<f64, String> {
        self.run(server, clients, length).map(|figures| figures.tps)
    }

    /// All figures of a run; a failed transaction is an error.
    pub fn run(&self, server: &Server, clients: u32, length: Length) -> Result<Figures, String> {
        let args = self.args();
        let figures = run_counting(server, clients, length, &args.each_ref().map(String::as_str))?;
        if figures.counts[1] > 0.0 {
            return Err(format!("{} transactions failed", figures.counts[1]));
        }
        Ok(figures)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs one statement and returns its unaligned output.
pub fn psql(server: &Server, sql: &str) -> Result<String, String> {
    check(base("psql", server).args(["-AtqX", "-c", sql, "postgres"]).output(), "psql")
}

/// A client program told where the server is.
pub fn base(program: &str, server: &Server) -> Command {
    let mut command = Command::new(program);
    command.args(["-h", &server.host, "-p", &server.port.to_string(), "-U", "postgres"]);
    command.env("PGSSLMODE", if server.tls { "require" } else { "disable" });
    command
}

fn number(text: &str, label: &str) -> Option<f64> {
    let rest = &text[text.find(label)? + label.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().ok()
}
