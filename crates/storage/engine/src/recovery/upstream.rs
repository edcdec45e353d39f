//! The server that a standby takes the log from, as recovery sees it: it is asked to send, and what arrives is read as it becomes durable.
//!
//! # What
//! [`Upstream`] is who receives; whoever puts the server together has one, with sockets or without. [`Inflow`] is what the two sides tell each other:
//! how far the log has come, for the reader, which waits for it; and how far it was replayed, for the receiver, which tells the sender.
//!
//! # Invariants
//! 1. One stream at a time: the next is asked for when the one before has ended, and nothing is written to the log's files any more.
//! 2. What counts as arrived is durable here.
//!
//! # Locks
//! `Inflow::state` (short).
//!
//! # PostgreSQL counterpart
//! `WalRcvData` in `walreceiver.h`.

use std::fmt::{Debug, Formatter};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::{Lsn, TimelineId, Xid};
use parking_lot::Mutex;
use runtime::WaitQueue;
use wal::Wal;

/// Where a stream begins.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    /// The beginning of a segment.
    pub at: Lsn,
    /// The time line there.
    pub timeline: TimelineId,
}

/// Who receives the log from another server.
pub trait Upstream: Debug + Send + Sync {
    /// Whether there is another server (`primary_conninfo`).
    fn is_configured(&self) -> bool;

    /// What is set now for which server that is and how it is asked.
    fn source(&self) -> String;

    /// Begins to receive the log from `begin` on into its files. If the sender has not come that far, it has lost the record of which that goes on: then from `again` on.
    /// Returns at once; how it goes and whether it has ended is seen in [`inflow`](Self::inflow).
    fn start(&self, wal: &Arc<Wal>, begin: Begin, again: Begin);

    /// Ends it, if there is a stream; it has ended when this returns.
    fn stop(&self);

    /// How it goes.
    fn inflow(&self) -> &Inflow;
}

/// What a receiver does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// There is none.
    #[default]
    Ended,
    /// It connects.
    Starting,
    /// The log comes.
    Streaming,
}

/// How a stream goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What the receiver does.
    pub phase: Phase,
    /// Where this stream began, and on which time line.
    pub start: Lsn,
    /// The time line that is received.
    pub timeline: TimelineId,
    /// Written here so far.
    pub written: Lsn,
    /// Durable here so far. It stays when the stream ends.
    pub flushed: Lsn,
    /// What the receiver knows of the sender.
    pub sender: Sender,
}

impl Progress {
    /// A stream begins here: nothing of it has arrived.
    pub fn begin(&mut self, begin: Begin) {
        (self.start, self.timeline) = (begin.at, begin.timeline);
        (self.written, self.flushed) = (begin.at, begin.at);
    }
}

/// What is known of who sends. Times are microseconds since 2000-01-01 UTC; 0: none yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sender {
    /// When its last message was sent.
    pub sent_at: i64,
    /// When that arrived.
    pub arrived_at: i64,
    /// Where its log ended then.
    pub end: Lsn,
    /// When that was told last.
    pub end_at: i64,
    /// The slot in use.
    pub slot: String,
    /// Where it is.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How it was reached, without what is secret.
    pub connection: String,
}

/// What is known of a stream.
#[derive(Debug, Default)]
pub struct Inflow {
    state: Mutex<Progress>,
    /// The reader, waiting for more.
    changed: WaitQueue,
    /// What is before this was replayed.
    applied: AtomicU64,
    /// The receiver, waiting for the replay.
    replayed: WaitQueue,
    horizon: OnceLock<Horizon>,
}

/// Says from which xid on snapshots here need rows.
struct Horizon(Box<dyn Fn() -> Option<Xid> + Send + Sync>);

impl Debug for Horizon {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("Horizon")
    }
}

impl Inflow {
    /// How it goes.
    pub fn progress(&self) -> Progress {
        self.state.lock().clone()
    }

    /// How far it is durable here, and what the receiver does: what is asked for each piece of the log.
    pub fn durable(&self) -> (Lsn, Phase) {
        let state = self.state.lock();
        (state.flushed, state.phase)
    }

    /// The receiver tells how it goes.
    pub fn update(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.state.lock());
        self.changed.wake_all();
    }

    /// Waits until the stream has ended.
    pub fn wait_for_end(&self) {
        self.changed.wait_until(|| (self.state.lock().phase == Phase::Ended).then_some(()));
    }

    /// Waits until more than this is durable, or the stream has ended.
    pub(super) async fn until_behind(&self, at: Lsn) {
        let more = || {
            let state = self.state.lock();
            (state.flushed > at || state.phase == Phase::Ended).then_some(())
        };
        self.changed.until(more).await;
    }

    /// Who knows what snapshots here need, once there can be any.
    pub(crate) fn set_horizon(&self, horizon: impl Fn() -> Option<Xid> + Send + Sync + 'static) {
        let _ = self.horizon.set(Horizon(Box::new(horizon)));
    }

    /// From which xid on snapshots here need rows, if any can be here yet (`hot_standby_feedback`).
    pub fn horizon(&self) -> Option<Xid> {
        self.horizon.get().and_then(|horizon| horizon.0())
    }

    /// What is before this was replayed.
    pub fn applied(&self) -> Lsn {
        Lsn(self.applied.load(Ordering::Acquire))
    }

    /// The replay tells how far it is.
    pub(crate) fn note_applied(&self, end: Lsn) {
        self.applied.fetch_max(end.0, Ordering::AcqRel);
        self.replayed.wake_all();
    }

    /// Waits until more than this was replayed.
    pub fn until_applied_behind(&self, at: Lsn) -> impl Future<Output = ()> + '_ {
        self.replayed.until(move || (self.applied() > at).then_some(()))
    }
}
