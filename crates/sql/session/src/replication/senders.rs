//! Who sends the log: what `pg_stat_replication` shows, and how senders end with the server.
//!
//! # Locks
//! `names`, then `list`, then `Sender::figures` (short).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Lsn;
use parking_lot::Mutex;
use runtime::{Event, Interrupts, WaitQueue};
use txn::Standbys;
use wire::replication::Status;

use super::synchronous::{Candidate, Method, Names};

/// Samples of positions kept for lags.
const SAMPLES: usize = 1024;

/// What a sender does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderState {
    /// Nothing yet.
    #[default]
    Startup,
    /// It sends a base backup.
    Backup,
    /// It sends old log.
    Catchup,
    /// It sends log as it is written.
    Streaming,
    /// It sends the last bytes before the server ends.
    Stopping,
}

impl SenderState {
    /// The word of the view.
    pub fn as_str(self) -> &'static str {
        match self {
            SenderState::Startup => "startup",
            SenderState::Backup => "backup",
            SenderState::Catchup => "catchup",
            SenderState::Streaming => "streaming",
            SenderState::Stopping => "stopping",
        }
    }
}

/// How far a receiver is, and how long it took. Times are microseconds; lags are `None` while nothing is known.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// What it does.
    pub state: SenderState,
    /// How the receiver calls itself.
    pub name: String,
    /// Commits wait for it.
    is_synchronous: bool,
    /// Everything before this was sent.
    pub sent: Lsn,
    /// What the receiver has written, made durable and applied.
    pub reported: [Lsn; 3],
    /// How long these took since the log was on disk here.
    pub lags: [Option<i64>; 3],
    /// When the receiver said so, by its clock.
    pub reply_time: Option<i64>,
    track: LagTrack,
    /// The last status said that all is applied.
    caught_up: bool,
}

impl Figures {
    /// Its place among standbys that commits wait for; 0: none. One that does not tell what is durable is none of them.
    fn priority(&self, names: &Names) -> i32 {
        if self.reported[1] == Lsn::INVALID { 0 } else { names.priority(&self.name) }
    }

    /// The log up to here was sent at this time, by the monotonic clock.
    pub fn sends(&mut self, position: Lsn, now: i64) {
        self.sent = position;
        self.track.note(position, now);
    }

    /// The receiver says how far it is.
    pub fn replied(&mut self, status: &Status, now: i64) {
        self.reported = [status.written, status.flushed, status.applied];
        self.reply_time = Some(status.time);
        let measured = [0, 1, 2].map(|at| self.track.lag(at, self.reported[at], now));
        // Who says twice that all is applied, with nothing measured in between, is idle.
        let all = self.reported.iter().all(|position| *position == self.sent);
        let idle = all && std::mem::replace(&mut self.caught_up, all);
        self.caught_up = all;
        for (lag, measured) in self.lags.iter_mut().zip(measured) {
            if measured.is_some() || idle {
                *lag = measured;
            }
        }
    }
}

/// When positions were sent.
#[derive(Clone, Debug, Default)]
struct LagTrack {
    samples: VecDeque<(Lsn, i64)>,
    /// The number of the first sample there is, and of the one that each reader comes to next.
    first: u64,
    next: [u64; 3],
}

impl LagTrack {
    fn note(&mut self, position: Lsn, now: i64) {
        if self.samples.back().is_some_and(|(last, _)| *last >= position) {
            return;
        }
        // What all readers are behind is not needed any more.
        let read = self.next.into_iter().min().unwrap_or(self.first).max(self.first);
        self.samples.drain(..((read - self.first) as usize).min(self.samples.len()));
        self.first = read;
        if self.samples.len() == SAMPLES {
            // The newest place moves on: those before it are what lags were promised for.
            self.samples.pop_back();
            let last = self.first + self.samples.len() as u64;
            self.next.iter_mut().for_each(|next| *next = (*next).min(last));
        }
        self.samples.push_back((position, now));
    }

    /// How long ago the last position was sent that this one covers, if there is one that was not counted.
    fn lag(&mut self, reader: usize, position: Lsn, now: i64) -> Option<i64> {
        let mut found = None;
        let mut next = self.next[reader].max(self.first);
        while let Some((sent, time)) = self.samples.get((next - self.first) as usize)
            && *sent <= position
        {
            found = Some((now - time).max(0));
            next += 1;
        }
        self.next[reader] = next;
        found
    }
}

/// One connection that replicates.
#[derive(Debug, Default)]
pub struct Sender {
    figures: Mutex<Figures>,
}

impl Sender {
    /// Changes what it shows.
    pub fn update<T>(&self, change: impl FnOnce(&mut Figures) -> T) -> T {
        change(&mut self.figures.lock())
    }

    /// What it shows.
    pub fn figures(&self) -> Figures {
        self.figures.lock().clone()
    }
}

/// All connections that replicate.
#[derive(Debug, Default)]
pub struct Senders {
    /// Which of them commits wait for; none: for none.
    names: Mutex<Option<Names>>,
    list: Mutex<BTreeMap<i32, Arc<Sender>>>,
    /// The server stops: none begins to send.
    stopping: AtomicBool,
    /// The log is complete: who has sent all of it ends.
    complete: Event,
    gone: WaitQueue,
}

impl Senders {
    /// A connection that replicates begins.
    pub fn enter(&self, pid: i32) -> Arc<Sender> {
        self.list.lock().entry(pid).or_default().clone()
    }

    /// A connection that replicates has ended.
    pub fn leave(&self, pid: i32) {
        self.list.lock().remove(&pid);
        self.gone.wake_all();
    }

    /// All of them by their numbers.
    pub fn list(&self) -> Vec<(i32, Arc<Sender>)> {
        self.list.lock().iter().map(|(pid, sender)| (*pid, sender.clone())).collect()
    }

    /// `synchronous_standby_names` is now this. What has a flaw was refused before.
    pub fn take_names(&self, text: &str, standbys: &Standbys) {
        let mut names = self.names.lock();
        *names = Names::parse(text).ok().flatten();
        standbys.set_named(names.is_some());
        if let Some(names) = &*names {
            self.let_go_on(names, standbys);
        }
    }

    /// There are no standbys, whatever `synchronous_standby_names` says: nobody waits for any.
    pub fn leave_standbys(&self, standbys: &Standbys) {
        *self.names.lock() = None;
        standbys.set_named(false);
    }

    /// Those go on who wait for no more than standbys have.
    fn let_go_on(&self, names: &Names, standbys: &Standbys) -> (Vec<Arc<Sender>>, Vec<Candidate>) {
        let (senders, candidates) = self.candidates(names);
        if let Some(positions) = names.reached(&candidates) {
            standbys.come_to(positions);
        }
        (senders, candidates)
    }

    /// A receiver has come further, or has caught up: those who wait for it go on. Returns what the log is to be told.
    pub fn release(&self, standbys: &Standbys) -> Vec<String> {
        if !standbys.are_named() {
            return Vec::new();
        }
        let names = self.names.lock();
        let Some(names) = &*names else { return Vec::new() };
        let (senders, candidates) = self.let_go_on(names, standbys);
        let chosen = names.chosen(&candidates);
        let mut told = Vec::new();
        for (at, sender) in senders.iter().enumerate() {
            let is_synchronous = chosen.contains(&at);
            let mut figures = sender.figures.lock();
            if std::mem::replace(&mut figures.is_synchronous, is_synchronous) || !is_synchronous {
                continue;
            }
            let (name, priority) = (&figures.name, candidates[at].priority);
            told.push(match names.method() {
                Method::First => {
                    format!("standby \"{name}\" is now a synchronous standby with priority {priority}")
                }
                Method::Any => {
                    format!("standby \"{name}\" is now a candidate for quorum synchronous standby")
                }
            });
        }
        told
    }

    /// Those that commits may wait for.
    fn candidates(&self, names: &Names) -> (Vec<Arc<Sender>>, Vec<Candidate>) {
        let list = self.list.lock();
        let candidate = |sender: &Arc<Sender>| {
            let figures = sender.figures.lock();
            let priority = figures.priority(names);
            let sends = matches!(figures.state, SenderState::Streaming | SenderState::Stopping);
            (priority > 0 && sends)
                .then(|| (sender.clone(), Candidate { priority, reported: figures.reported }))
        };
        list.values().filter_map(candidate).unzip()
    }

    /// The place of a sender among the standbys that commits wait for, and the word for it.
    pub fn standing(&self, pid: i32) -> (i32, &'static str) {
        let names = self.names.lock();
        let sender = self.list.lock().get(&pid).cloned();
        let (Some(names), Some(sender)) = (&*names, sender) else { return (0, "async") };
        let priority = sender.figures.lock().priority(names);
        if priority == 0 {
            return (0, "async");
        }
        let (senders, candidates) = self.candidates(names);
        let at = senders.iter().position(|other| Arc::ptr_eq(other, &sender));
        let word = match at.filter(|at| names.chosen(&candidates).contains(at)) {
            None => "potential",
            Some(_) if names.method() == Method::First => "sync",
            Some(_) => "quorum",
        };
        (priority, word)
    }

    /// One begins to send the log: it does not end with the clients. False if the server stops.
    pub fn begin_streaming(&self, interrupts: &Interrupts) -> bool {
        let _list = self.list.lock();
        let stopping = self.are_stopping();
        if !stopping {
            interrupts.spare(true);
        }
        !stopping
    }

    /// The server stops: none begins to send.
    pub fn stop(&self) {
        let _list = self.list.lock();
        self.stopping.store(true, Ordering::SeqCst);
    }

    /// Whether the server stops.
    pub fn are_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// The log is complete, and on disk: waits until all that send it have ended.
    pub fn finish(&self) {
        self.complete.set();
        self.gone.wait_until(|| self.list.lock().is_empty().then_some(()));
    }

    /// Whether the log is complete.
    pub fn is_complete(&self) -> bool {
        self.complete.is_set()
    }

    /// Waits until the log is complete.
    pub fn until_complete(&self) -> impl Future<Output = ()> + '_ {
        self.complete.until_set()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(positions: [u64; 3]) -> Status {
        let [written, flushed, applied] = positions.map(Lsn);
        Status { written, flushed, applied, time: 5, asks: false }
    }

    #[test]
    fn lags_are_the_time_from_sending_to_the_reply() {
        let mut figures = Figures::default();
        figures.sends(Lsn(10), 100);
        figures.sends(Lsn(20), 200);
        figures.replied(&status([20, 10, 0]), 250);
        assert_eq!(figures.lags, [Some(50), Some(150), None]);
        figures.replied(&status([20, 20, 20]), 300);
        assert_eq!(figures.lags, [Some(50), Some(100), Some(100)]);
        figures.replied(&status([20, 20, 20]), 400);
        assert_eq!(figures.lags, [None; 3], "nothing was sent meanwhile");
        figures.sends(Lsn(30), 500);
        figures.replied(&status([30, 30, 30]), 510);
        assert_eq!(figures.lags, [Some(10); 3]);
    }

    #[test]
    fn a_receiver_that_never_replies_costs_no_memory() {
        let mut figures = Figures::default();
        for n in 1..10_000 {
            figures.sends(Lsn(n), n as i64);
        }
        assert!(figures.track.samples.len() <= SAMPLES);
        figures.replied(&status([9999, 9999, 9999]), 10_000);
        assert_eq!(figures.lags, [Some(1); 3]);
        figures.sends(Lsn(20_000), 20_000);
        assert_eq!(figures.track.samples.len(), 1);
    }

    #[test]
    fn who_sends_ends_after_the_log_is_complete() {
        let senders = Arc::new(Senders::default());
        let interrupts = Interrupts::new();
        senders.enter(7);
        assert!(senders.begin_streaming(&interrupts) && interrupts.is_spared());
        senders.stop();
        assert!(!senders.begin_streaming(&Interrupts::new()));
        std::thread::scope(|scope| {
            let finish = scope.spawn(|| senders.finish());
            runtime::wait(senders.until_complete());
            senders.leave(7);
            finish.join().unwrap();
        });
    }
}
