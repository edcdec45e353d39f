//! What was read from a server at one moment, and what follows from several moments.

use std::collections::{BTreeMap, VecDeque};

/// The server, and our session on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Server {
    /// Name and version, as `PostgreSQL 18.1 (Stampede 0.1.0)`.
    pub version: String,
    /// Our database.
    pub database: String,
    /// Number of our own session.
    pub own_pid: i32,
    /// `max_connections`.
    pub max_connections: u64,
    /// Seconds since the server started.
    pub uptime: f64,
    /// Time of day there, `14:03:22`.
    pub clock: String,
    /// Seconds since the epoch there.
    pub epoch: f64,
}

/// Counts of all databases together, since statistics were reset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Transactions that committed.
    pub commits: f64,
    /// Transactions that rolled back.
    pub rollbacks: f64,
    /// Pages that were found in shared buffers.
    pub hits: f64,
    /// Pages that were read.
    pub reads: f64,
    /// Bytes in temporary files.
    pub temp_bytes: f64,
    /// Deadlocks that were broken.
    pub deadlocks: f64,
}

/// A row of `pg_stat_activity`. Times are in seconds; what the server does not tell is empty or `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// Process id, or the number that stands for it.
    pub pid: i32,
    /// Role.
    pub user: String,
    /// Database.
    pub database: String,
    /// `application_name`.
    pub application: String,
    /// Address and port of the client, `local` on a Unix socket.
    pub client: String,
    /// `active`, `idle`, …
    pub state: String,
    /// Class of what is waited for.
    pub wait_type: String,
    /// What is waited for.
    pub wait_event: String,
    /// Since when it is in this state.
    pub in_state: Option<f64>,
    /// Since when it is in a transaction.
    pub in_transaction: Option<f64>,
    /// Since when its last statement runs, or when that began.
    pub in_query: Option<f64>,
    /// Since when it is connected.
    pub connected: Option<f64>,
    /// `backend_start`, as the server writes it: with the pid it names one session for ever.
    pub started: String,
    /// `client backend` for clients.
    pub kind: String,
    /// Pids of those who stand in its way; 0: a prepared transaction.
    pub blocked_by: Vec<i32>,
    /// What it runs, or ran last.
    pub query: String,
}

impl Session {
    /// Whether a client is at its other end.
    pub fn is_client(&self) -> bool {
        self.kind == "client backend"
    }

    /// Whether it is in a transaction that does nothing.
    pub fn is_idle_in_transaction(&self) -> bool {
        self.state.starts_with("idle in transaction")
    }
}

/// A row of `pg_stat_statements`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// Role that ran it.
    pub user: String,
    /// Database where it ran.
    pub database: String,
    /// How often.
    pub calls: f64,
    /// How long, all calls together, in milliseconds.
    pub total: f64,
    /// How long on average, in milliseconds.
    pub mean: f64,
    /// Rows returned or changed, all calls together.
    pub rows: f64,
    /// Its text, without values.
    pub text: String,
}

/// A row of `pg_locks`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// Who holds it or waits for it.
    pub pid: i32,
    /// What is locked, as `relation accounts`.
    pub object: String,
    /// How, as `RowExclusiveLock`.
    pub mode: String,
    /// Whether it is held.
    pub granted: bool,
}

/// Everything at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The server.
    pub server: Server,
    /// Counts of its databases.
    pub totals: Totals,
    /// All sessions and background processes.
    pub sessions: Vec<Session>,
    /// Locks that are waited for.
    pub wanted: Vec<Lock>,
    /// `pg_stat_statements`, if it was asked for and is there.
    pub statements: Option<Vec<Statement>>,
}

impl Snapshot {
    /// The session of this number.
    pub fn session(&self, pid: i32) -> Option<&Session> {
        self.sessions.iter().find(|session| session.pid == pid)
    }
}

/// How many connections of clients are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// All of them.
    pub all: usize,
    /// Those that run a statement.
    pub active: usize,
    /// Those that wait for their client.
    pub idle: usize,
    /// Those that wait for their client in a transaction.
    pub idle_in_transaction: usize,
    /// Those that wait for another session.
    pub blocked: usize,
}

/// Counts clients' connections, our own among them.
pub fn connections(snapshot: &Snapshot) -> Connections {
    let mut count = Connections::default();
    for session in snapshot.sessions.iter().filter(|session| session.is_client()) {
        count.all += 1;
        count.active += usize::from(session.state == "active");
        count.idle += usize::from(session.state == "idle");
        count.idle_in_transaction += usize::from(session.is_idle_in_transaction());
        count.blocked += usize::from(!session.blocked_by.is_empty());
    }
    count
}

/// Transactions in a second between two moments. None if no time went by, or the counts began anew.
pub fn rate(before: &Snapshot, now: &Snapshot) -> Option<f64> {
    let seconds = now.server.epoch - before.server.epoch;
    let ended = |snapshot: &Snapshot| snapshot.totals.commits + snapshot.totals.rollbacks;
    let done = ended(now) - ended(before);
    (seconds > 0.0 && done >= 0.0).then(|| done / seconds)
}

/// Class and name of a wait; both empty: the session runs.
pub type Wait = (String, String);

/// What sessions waited for in the last minute.
#[derive(Clone, Debug, Default)]
pub struct WaitHistory {
    /// When, and how many sessions waited for what; the latest last.
    samples: VecDeque<(f64, BTreeMap<Wait, usize>)>,
}

/// How long samples are kept, in seconds.
const KEPT: f64 = 60.0;

impl WaitHistory {
    /// Adds what sessions wait for now. Those who wait for their client outside a transaction, and background processes that
    /// have nothing to do, are not counted: they wait for work.
    pub fn add(&mut self, snapshot: &Snapshot) {
        let mut counts = BTreeMap::new();
        for session in &snapshot.sessions {
            let waits_for_work = session.state == "idle" || session.wait_type == "Activity";
            let runs_nothing = session.state.is_empty() && session.wait_event.is_empty();
            if waits_for_work || runs_nothing || session.pid == snapshot.server.own_pid {
                continue;
            }
            *counts.entry((session.wait_type.clone(), session.wait_event.clone())).or_insert(0) += 1;
        }
        let now = snapshot.server.epoch;
        self.samples.push_back((now, counts));
        // A clock that was set back would keep samples for ever.
        self.samples.retain(|(at, _)| (0.0..KEPT).contains(&(now - at)));
    }

    /// Waits of the last minute, each with its counts, the latest last.
    pub fn waits(&self) -> BTreeMap<&Wait, Vec<usize>> {
        let seen = self.samples.iter().flat_map(|(_, counts)| counts.keys());
        seen.map(|wait| (wait, self.counts(wait))).collect()
    }

    fn counts(&self, wait: &Wait) -> Vec<usize> {
        self.samples.iter().map(|(_, counts)| counts.get(wait).copied().unwrap_or(0)).collect()
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(epoch: f64, sessions: Vec<Session>) -> Snapshot {
        Snapshot { server: Server { epoch, ..Server::default() }, sessions, ..Snapshot::default() }
    }

    fn waiting(kind: &str, event: &str, state: &str) -> Session {
        Session {
            pid: 7,
            wait_type: kind.into(),
            wait_event: event.into(),
            state: state.into(),
            ..Session::default()
        }
    }

    #[test]
    fn waits_of_one_minute() {
        let mut history = WaitHistory::default();
        history.add(&at(100.0, vec![waiting("IO", "DataFileRead", "active"), waiting("", "", "active")]));
        history.add(&at(130.0, vec![waiting("Client", "ClientRead", "idle")]));
        history.add(&at(161.0, vec![waiting("", "", "active"), waiting("", "", "active")]));
        let running = (String::new(), String::new());
        assert_eq!(history.waits(), BTreeMap::from([(&running, vec![0, 2])]));
    }

    #[test]
    fn rates_need_time_and_counts_that_grow() {
        let mut before = at(10.0, Vec::new());
        let mut now = at(12.0, Vec::new());
        before.totals.commits = 100.0;
        now.totals.commits = 150.0;
        now.totals.rollbacks = 10.0;
        assert_eq!(rate(&before, &now), Some(30.0));
        assert_eq!(rate(&now, &before), None);
        assert_eq!(rate(&now, &now), None);
    }
}
