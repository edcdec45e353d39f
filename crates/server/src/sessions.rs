//! All sessions of the server: their numbers, cancel keys and limits.
//!
//! # Locks
//! One short mutex, taken when a connection comes, when a session begins or ends, and for cancel requests; never by a statement.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{SqlError, SqlResult, SqlState};
use parking_lot::Mutex;
use runtime::{Event, Interrupt, Interrupts, Wakeup};

/// Length of a cancel key in protocol 3.2; older clients get its first four bytes.
pub const KEY_LENGTH: usize = 32;

/// A session's entry.
#[derive(Clone, Debug)]
struct Entry {
    key: [u8; KEY_LENGTH],
    key_length: usize,
    interrupts: Interrupts,
    /// It sends the log rather than answer statements.
    sends: bool,
}

#[derive(Debug, Default)]
struct Table {
    by_pid: HashMap<i32, Entry>,
    /// How many of them send the log.
    senders: usize,
    /// Numbers of who is no client's session.
    reserved: HashSet<i32>,
    last_pid: i32,
}

impl Table {
    /// The next number that no session has.
    fn draw_number(&mut self) -> i32 {
        loop {
            self.last_pid = self.last_pid.max(FIRST_PID - 1).checked_add(1).unwrap_or(FIRST_PID);
            if !self.has(self.last_pid) {
                return self.last_pid;
            }
        }
    }

    /// Refuses one more session if there are as many as may be.
    fn check_room(&self, limits: Limits, rank: Option<Rank>) -> SqlResult<()> {
        let full = |message| Err(SqlError::fatal(SqlState::TOO_MANY_CONNECTIONS, message));
        let Some(rank) = rank else {
            let message = format!(
                "number of requested standby connections exceeds \"max_wal_senders\" (currently {})",
                limits.senders
            );
            return if self.senders < limits.senders { Ok(()) } else { full(message) };
        };
        let count = self.by_pid.len() - self.senders;
        if count >= limits.max {
            return full("sorry, too many clients already".into());
        }
        let free = limits.max - count - 1;
        match rank {
            Rank::Reserved | Rank::Other if free < limits.superuser => {
                full(reserved_for("the SUPERUSER attribute"))
            }
            Rank::Other if free < limits.superuser + limits.reserved => {
                full(reserved_for("privileges of the \"pg_use_reserved_connections\" role"))
            }
            _ => Ok(()),
        }
    }

    fn has(&self, pid: i32) -> bool {
        self.by_pid.contains_key(&pid) || self.reserved.contains(&pid)
    }
}

fn reserved_for(whom: &str) -> String {
    format!("remaining connection slots are reserved for roles with {whom}")
}

/// Sessions are numbered from here on; smaller numbers are for the server's own loops.
pub(crate) const FIRST_PID: i32 = 10;

/// From so many sessions on a worker gathers their requests rather than answer the first one soonest.
const MANY_SESSIONS: usize = 4;

/// The sessions of one server.
#[derive(Debug)]
pub struct Sessions {
    table: Mutex<Table>,
    /// Sessions on each worker, for choosing the least loaded.
    load: Box<[AtomicUsize]>,
    /// Set whenever there is none that answers statements.
    no_clients: Event,
    /// Set whenever there is none but senders of the log that end by themselves.
    ended: Event,
}

/// Limits of the number of sessions.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// `max_connections`.
    pub max: usize,
    /// `superuser_reserved_connections`.
    pub superuser: usize,
    /// `reserved_connections`.
    pub reserved: usize,
    /// `max_wal_senders`; these do not count as connections.
    pub senders: usize,
}

/// Which connections a role may have, from the one that may have the fewest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Those that are not kept for anybody.
    Other,
    /// Also those of `reserved_connections`.
    Reserved,
    /// All.
    Superuser,
}

impl Sessions {
    /// None yet, on this many workers.
    pub fn new(workers: usize) -> Sessions {
        let sessions = Sessions {
            table: Mutex::default(),
            load: (0..workers).map(|_| AtomicUsize::new(0)).collect(),
            no_clients: Event::new(),
            ended: Event::new(),
        };
        sessions.no_clients.set();
        sessions.ended.set();
        sessions
    }

    /// Chooses the least loaded worker and counts a connection there, until [`Sessions::leave_worker`].
    pub fn choose_worker(&self) -> usize {
        // Relaxed: a balance that is off by one does no harm.
        let loads = self.load.iter().map(|load| load.load(Ordering::Relaxed));
        let chosen = loads.enumerate().min_by_key(|(_, load)| *load).map_or(0, |(at, _)| at);
        self.load[chosen].fetch_add(1, Ordering::Relaxed);
        chosen
    }

    /// A connection on this worker has ended.
    pub fn leave_worker(&self, worker: usize) {
        // Relaxed: as above.
        self.load[worker].fetch_sub(1, Ordering::Relaxed);
        self.adjust_wakeup(worker);
    }

    /// On the worker itself, when a connection came or went: with many it is patient.
    pub fn adjust_wakeup(&self, worker: usize) {
        // Relaxed: as above.
        let many = self.load[worker].load(Ordering::Relaxed) >= MANY_SESSIONS;
        runtime::set_wakeup(if many { Wakeup::Patient } else { Wakeup::Prompt });
    }

    /// A number for whoever has connected, by which the log tells of it from then on.
    pub fn draw_number(&self) -> i32 {
        self.table.lock().draw_number()
    }

    /// A number for who works beside the sessions as one of them.
    pub fn reserve(self: &Arc<Self>) -> Reserved {
        let mut table = self.table.lock();
        let pid = table.draw_number();
        table.reserved.insert(pid);
        Reserved { sessions: self.clone(), pid }
    }

    /// Draws a key for a new session and enters it under the number that it [has](Self::draw_number), or refuses it (53300). `rank`: none for one that sends the
    /// log.
    pub fn register(
        &self,
        number: i32,
        limits: Limits,
        rank: Option<Rank>,
        key_length: usize,
        interrupts: &Interrupts,
    ) -> SqlResult<Registration<'_>> {
        let mut key = [0; KEY_LENGTH];
        runtime::spawn::fill_random(&mut key);
        let mut table = self.table.lock();
        table.check_room(limits, rank)?;
        // Taken only if two billion others have come while it logged in.
        let pid = if table.has(number) { table.draw_number() } else { number };
        let sends = rank.is_none();
        table.by_pid.insert(pid, Entry { key, key_length, interrupts: interrupts.clone(), sends });
        self.ended.reset();
        match sends {
            true => table.senders += 1,
            false => drop(self.no_clients.reset()),
        }
        Ok(Registration { sessions: self, pid, key, key_length })
    }

    /// A cancel request. Says nothing about its outcome, as PostgreSQL.
    pub fn cancel(&self, pid: i32, key: &[u8]) {
        let table = self.table.lock();
        if let Some(entry) = table.by_pid.get(&pid) {
            let own = &entry.key[..entry.key_length];
            let differs = own.iter().zip(key).fold(0, |acc, (a, b)| acc | (a ^ b));
            if own.len() == key.len() && differs == 0 {
                entry.interrupts.set(Interrupt::Cancel);
            }
        }
    }

    /// Sets an interrupt for one session; false when there is none with this number.
    pub fn interrupt(&self, pid: i32, interrupt: Interrupt) -> bool {
        let table = self.table.lock();
        table.by_pid.get(&pid).map(|entry| entry.interrupts.set(interrupt)).is_some()
    }

    /// Ends all sessions but those that end by themselves.
    pub fn terminate_all(&self) {
        let table = self.table.lock();
        for entry in table.by_pid.values().filter(|entry| !entry.interrupts.is_spared()) {
            entry.interrupts.set(Interrupt::Terminate);
        }
        self.note_end(&table);
    }

    /// Whoever waits for the last sessions is told if those are gone.
    fn note_end(&self, table: &Table) {
        let clients = table.by_pid.len() - table.senders;
        if clients > 0 {
            return;
        }
        self.no_clients.set();
        if table.by_pid.values().all(|entry| entry.interrupts.is_spared()) {
            self.ended.set();
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.table.lock().by_pid.len()
    }

    /// Waits until there is none that answers statements.
    pub async fn until_no_clients(&self) {
        self.no_clients.until_set().await;
    }

    /// Waits until all sessions have ended except those that end by themselves. To be called after [`terminate_all`](Self::terminate_all).
    pub async fn until_ended(&self) {
        self.ended.until_set().await;
    }
}

/// A number that no session gets until this is dropped.
#[derive(Debug)]
pub struct Reserved {
    sessions: Arc<Sessions>,
    pid: i32,
}

impl Reserved {
    /// The number.
    pub fn pid(&self) -> i32 {
        self.pid
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.sessions.table.lock().reserved.remove(&self.pid);
    }
}

/// A session's place among the sessions, given back when this is dropped.
#[derive(Debug)]
pub struct Registration<'a> {
    sessions: &'a Sessions,
    /// Number of the session.
    pub pid: i32,
    key: [u8; KEY_LENGTH],
    key_length: usize,
}

impl Registration<'_> {
    /// What a cancel request must show.
    pub fn key(&self) -> &[u8] {
        &self.key[..self.key_length]
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        let mut table = self.sessions.table.lock();
        if table.by_pid.remove(&self.pid).is_some_and(|entry| entry.sends) {
            table.senders -= 1;
        }
        self.sessions.note_end(&table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { max: 4, superuser: 1, reserved: 1, senders: 1 };

    #[test]
    fn limits_keep_places_for_some() {
        let sessions = Sessions::new(1);
        let join =
            |rank| sessions.register(sessions.draw_number(), LIMITS, Some(rank), 4, &Interrupts::new());
        let refused = |rank| join(rank).unwrap_err().message().to_string();
        let first = join(Rank::Other).unwrap();
        let second = join(Rank::Other).unwrap();
        assert_ne!(first.pid, second.pid);
        assert_eq!(
            refused(Rank::Other),
            "remaining connection slots are reserved for roles with privileges of the \"pg_use_reserved_connections\" role"
        );
        let third = join(Rank::Reserved).unwrap();
        assert_eq!(
            refused(Rank::Reserved),
            "remaining connection slots are reserved for roles with the SUPERUSER attribute"
        );
        let fourth = join(Rank::Superuser).unwrap();
        assert_eq!(join(Rank::Superuser).unwrap_err().code(), SqlState::TOO_MANY_CONNECTIONS);
        drop((first, third, fourth));
        assert_eq!(sessions.count(), 1);
        assert!(!sessions.no_clients.is_set());
        drop(second);
        assert!(sessions.no_clients.is_set() && sessions.ended.is_set());
    }

    #[test]
    fn senders_have_places_of_their_own_and_may_end_by_themselves() {
        let sessions = Sessions::new(1);
        let interrupts = Interrupts::new();
        let come = |interrupts| sessions.register(sessions.draw_number(), LIMITS, None, 4, interrupts);
        let sender = come(&interrupts).unwrap();
        let other = Interrupts::new();
        let refused = come(&other).unwrap_err();
        assert_eq!(
            refused.message(),
            "number of requested standby connections exceeds \"max_wal_senders\" (currently 1)"
        );
        assert!(sessions.no_clients.is_set() && !sessions.ended.is_set());
        interrupts.spare(true);
        sessions.terminate_all();
        assert!(sessions.ended.is_set() && !interrupts.is_set(Interrupt::Terminate));
        interrupts.spare(false);
        sessions.terminate_all();
        assert!(interrupts.is_set(Interrupt::Terminate));
        drop(sender);
        assert!(come(&interrupts).is_ok());
    }

    #[test]
    fn a_cancel_request_needs_the_key() {
        let sessions = Sessions::new(1);
        let interrupts = Interrupts::new();
        let session = sessions.register(7, LIMITS, Some(Rank::Other), 32, &interrupts).unwrap();
        let mut wrong = session.key().to_vec();
        wrong[31] ^= 1;
        sessions.cancel(session.pid, &wrong);
        sessions.cancel(session.pid, &session.key()[..4]);
        sessions.cancel(session.pid + 1, session.key());
        assert!(!interrupts.is_set(Interrupt::Cancel));
        sessions.cancel(session.pid, session.key());
        assert!(interrupts.is_set(Interrupt::Cancel));
    }

    #[test]
    fn connections_go_to_the_least_loaded_worker() {
        let sessions = Sessions::new(2);
        assert_eq!([sessions.choose_worker(), sessions.choose_worker()], [0, 1]);
        sessions.leave_worker(1);
        assert_eq!(sessions.choose_worker(), 1);
    }
}
