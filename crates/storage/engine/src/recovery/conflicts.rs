//! Conflicts of what is replayed with sessions that read.
//!
//! # What
//! Some records take away what a session may need: rows and entries of indexes that its snapshot sees, or pages and files of a relation that it has locked, or its
//! whole database. Replay waits before such a record; when it has waited so long that it lags more than it may, whoever is in the way is cancelled
//! ([`Conflicts`]), and replay waits until he is gone.
//!
//! # Invariants
//! 1. *Snapshots.* A record says that rows which do not matter to snapshots that see all up to an xid as ended may go, or be shown to all
//!    ([`txn::standby::REMOVED`]); those that remove them come behind. When replay passes it, no snapshot is held that needs an older xid. Who takes one
//!    later sees all of them as ended.
//! 2. *Locks.* A commit that took a relation from all others on its server is replayed while nobody has locked that relation here: its files go, and what is
//!    cached of it, before anybody can lock it again. The same holds for the record that cuts a file, from the one before it that names the relation on.
//! 3. *Pins* never conflict. PostgreSQL waits for them where rows leave a page; here whoever looks at a page again finds by its latch what
//!    became of it, and rows that a snapshot needs are there (1).
//!
//! # PostgreSQL counterpart and differences
//! `standby.c`. There ACCESS EXCLUSIVE locks are taken when their owner takes them; here when he commits what he did under them, or a file is cut.

use std::time::Duration;

use base::{Oid, Xid};
use runtime::time::{Instant, now};
use runtime::{WaitEvent, waiting};
use txn::standby::Conflict;
use txn::system::ReplayLocks;
use txn::{LockTag, SessionId};

use crate::Engine;

/// How often those in the way are looked at, in the long run.
const LOOK: Duration = Duration::from_millis(5);
/// How soon it is looked whether they are gone: most queries are short.
const FIRST_LOOK: Duration = Duration::from_micros(100);

/// When a record was there to be replayed, and whether it came by a stream.
type Came = (Instant, bool);

/// Who can cancel sessions.
pub trait Conflicts: Send + Sync {
    /// Cancels those that hold a snapshot which needs this xid or an older one.
    fn cancel_snapshots(&self, limit: Xid);
    /// Cancels those that hold a lock.
    fn cancel_holders(&self, sessions: &[SessionId]);
    /// Ends those in a database; whether there is none.
    fn leave_database(&self, database: Oid) -> bool;
}

/// What a wait for sessions tells about itself.
struct Told<'a> {
    began: Instant,
    reason: &'a str,
    told: bool,
    after: Option<Duration>,
}

impl Told<'_> {
    fn look(&mut self) {
        let waited = self.began.elapsed();
        if !self.told && self.after.is_some_and(|after| waited >= after) {
            self.told = true;
            let shown = milliseconds(waited);
            tracing::info!("recovery still waiting after {shown} ms: {}", self.reason);
        }
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if self.told {
            let shown = milliseconds(self.began.elapsed());
            tracing::info!("recovery finished waiting after {shown} ms: {}", self.reason);
        }
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{}.{:03}", time.as_millis(), time.as_micros() % 1000)
}

impl Engine {
    /// Whom replay asks to cancel sessions. Set once.
    pub fn on_conflicts(&self, conflicts: std::sync::Arc<dyn Conflicts>) {
        let _ = self.standby.conflicts.set(conflicts);
    }

    /// How much longer replay may wait for sessions; none: for ever.
    fn patience(&self, (since, streams): Came) -> Option<Duration> {
        let options = self.options();
        let recovery = &options.archive_recovery;
        let most = if streams { recovery.streaming_delay } else { recovery.archive_delay }?;
        Some(most.saturating_sub(since.elapsed()))
    }

    fn told<'a>(&self, reason: &'a str) -> Told<'a> {
        let after = self.options().archive_recovery.tell_conflicts;
        Told { began: now(), reason, told: false, after }
    }

    /// Before a record is replayed that was there `since`, and came by a stream or from an archive: sees to it that nobody is in its way. Locks that it needs are held as long as what is returned.
    pub(super) fn resolve(
        &self,
        conflict: Conflict,
        since: Instant,
        streams: bool,
    ) -> Option<ReplayLocks<'_>> {
        let came = (since, streams);
        // There may be no sessions yet.
        self.standby.conflicts.get()?;
        match conflict {
            Conflict::Snapshots(limit) => {
                self.resolve_snapshots(limit, came);
                None
            }
            Conflict::Commit { locks, databases } => {
                databases.into_iter().for_each(|database| self.resolve_database(database));
                (!locks.is_empty()).then(|| self.resolve_locks(&locks, came))
            }
            Conflict::Cut(tag, _) => Some(self.resolve_locks(&[tag], came)),
        }
    }

    fn resolve_snapshots(&self, limit: Xid, came: Came) {
        let is_needed = || self.txns.oldest_held().is_some_and(|oldest| oldest <= limit);
        if !is_needed() {
            return;
        }
        let mut told = self.told("recovery conflict on snapshot");
        let mut pause = FIRST_LOOK;
        while is_needed() && !self.gives_up() {
            if self.patience(came).is_some_and(|left| left.is_zero())
                && let Some(conflicts) = self.standby.conflicts.get()
            {
                conflicts.cancel_snapshots(limit);
            }
            told.look();
            waiting(WaitEvent::RecoveryConflictSnapshot, || runtime::wait(runtime::sleep(pause)));
            pause = (2 * pause).min(LOOK);
        }
    }

    fn resolve_locks(&self, tags: &[LockTag], came: Came) -> ReplayLocks<'_> {
        let mut told = self.told("recovery conflict on lock");
        self.txns.lock_for_replay(tags, |in_the_way| {
            told.look();
            let left = self.patience(came);
            if (left.is_some_and(|left| left.is_zero()) || self.gives_up())
                && let Some(conflicts) = self.standby.conflicts.get()
            {
                conflicts.cancel_holders(in_the_way);
            }
            left.unwrap_or(LOOK * 20).clamp(LOOK, LOOK * 20)
        })
    }

    /// Before a database goes: nobody is in it.
    fn resolve_database(&self, database: Oid) {
        let Some(conflicts) = self.standby.conflicts.get() else { return };
        while !conflicts.leave_database(database) && !self.gives_up() {
            runtime::wait(runtime::sleep(LOOK));
        }
    }

    /// The server stops: nobody reads any more.
    fn gives_up(&self) -> bool {
        self.options().archive_recovery.stop.load(std::sync::atomic::Ordering::Relaxed)
    }
}
