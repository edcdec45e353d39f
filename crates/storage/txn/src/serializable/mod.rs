//! # What
//! Serializable snapshot isolation: transactions at SERIALIZABLE run on their snapshots as at REPEATABLE READ, wait for nobody more, and one is
//! cancelled where the result might be that of no order of them.
//!
//! # Layout
//! `conflicts`: the graph of transactions and of the conflicts between them, and who is to be cancelled; pure. `member`: what a transaction shares with
//! others of itself. `owned`: the predicate locks that a transaction has, from its side, and `targets` the same from the side of what is locked.
//! `summary`: what is kept of transactions that ended long ago. `safe`: read-only transactions that need none of it. [`Serial`] is what a
//! transaction tells while it reads and writes.
//!
//! # Why it is right
//! Under snapshot isolation an execution that is not serializable has a cycle of dependencies in which two *rw-conflicts* follow one another,
//! R → P → W: R read what P, concurrent with it, wrote anew, and P read what W, concurrent with it, wrote anew; W is the first of the cycle to commit. (R
//! and W may be one.) If R writes nothing, W has even committed before R's snapshot. So it is enough to see every rw-conflict between two
//! serializable transactions, and to cancel one of three in such a row: false alarms happen, for the rest of the cycle is not looked for, misses do not.
//!
//! A rw-conflict is seen by whoever of the two comes second. A reader that meets a version which its snapshot does not see, or one that somebody
//! ended whom it does not see, knows the writer's xid: *conflict out*. What a reader read and nobody has changed yet is remembered as its
//! *predicate locks*: rows, pages, whole relations, and of indexes the ranges of keys that were searched, gaps included. Writers look there:
//! *conflict in*. The locks stay after the reader's commit, until everybody who was concurrent with it has ended.
//!
//! # Invariants
//! 1. Of a reader and a writer of the same thing one sees the other: a row is read and locked under its page's latch, and written and looked up under the
//!    exclusive one. Relations, pages of which only the visibility map was asked, and ranges of keys are locked *before* they are read, and looked
//!    up *after* they were written.
//! 2. Numbers of commits order everything. A snapshot is taken, and its number noted, in one critical section of the graph. A transaction gets a number
//!    when it is sure that it will commit (`prepared`), before any snapshot sees it, and a second one when all later snapshots do. So a snapshot that sees
//!    it has a number not below the first; who has one below the second counts as concurrent.
//! 3. A transaction whose commit record may have been written is no longer cancelled: from `prepared` on, others are cancelled instead.
//! 4. What is forgotten can be in no cycle with anybody who still runs: it ended before all their snapshots.
//! 5. Locks only get coarser, and summaries only say more: both may raise false alarms and hide nothing.
//! 6. Other transactions, of any lower level, take no part and pay nothing.
//!
//! # Where rows move
//! Versions do not move, and a place is given to another row only when no snapshot needs the old one: a lock on it is then only too much. Indexes
//! are locked by keys, so pages may split and merge. Where files are replaced ([`Serializable::transfer`]), locks become locks on the new table.
//!
//! # Locks
//! The graph's mutex; the parts of `targets`, which may be taken inside it; a member's own list, outside of both. All short.
//!
//! # WAL and crash
//! Nothing is logged, but for the rows, pages and relations that a prepared transaction has locked: after a crash it counts as in conflict with others on
//! both sides.
//!
//! # PostgreSQL counterpart and differences
//! `storage/lmgr/predicate.c`, after Cahill, Röhm, Fekete (2008) and Ports, Grittner (2012). Indexes are locked by ranges of keys instead of leaf pages,
//! and too many ranges become fewer, larger ones before they become a lock on the index. Whether two transactions were concurrent is told by the numbers
//! of invariant 2 instead of xids. What is kept of the oldest ones is kept in memory.

mod conflicts;
mod member;
mod owned;
mod safe;
mod summary;
mod targets;
#[cfg(test)]
mod tests;
mod transaction;

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{RelFile, SqlError, Xid, sql_err};

use crate::SessionId;
use crate::sync::Mutex;
use conflicts::{After, Graph};
use owned::Owned;
use targets::{Holders, Targets};

pub use conflicts::Seq;
pub use member::Member;
pub use targets::Target;
pub use transaction::{Serial, SnapshotSource};

/// A range of an index's keys that was searched. The index says what its keys are.
pub trait KeyRange: Any + Send + Sync + Debug {
    /// Whether a key that was entered lies in it.
    fn holds(&self, key: &dyn Any) -> bool;

    /// Whether all of another range of the same index surely lies in it.
    fn covers(&self, other: &dyn KeyRange) -> bool;

    /// Whether it begins before another range of the same index.
    fn begins_before(&self, other: &dyn KeyRange) -> bool;

    /// A range that holds all that this one and a later one hold.
    fn join(&self, later: &dyn KeyRange) -> Arc<dyn KeyRange>;
}

/// Settings.
#[derive(Clone, Copy, Debug)]
pub struct PredicateLimits {
    /// `max_pred_locks_per_transaction`
    pub per_transaction: usize,
    /// `max_pred_locks_per_relation`
    pub per_relation: i32,
    /// `max_pred_locks_per_page`
    pub per_page: i32,
    /// Transactions for which there is room: sessions and prepared ones.
    pub transactions: usize,
}

impl Default for PredicateLimits {
    fn default() -> PredicateLimits {
        PredicateLimits { per_transaction: 64, per_relation: -2, per_page: 2, transactions: 100 }
    }
}

/// Ended transactions for which there is room, for each that may run.
const ENDED_FOR_EACH: usize = 10;

/// Why a transaction was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Others found out; it noticed when it read.
    PivotSeenReading,
    /// Others found out; it noticed when it wrote.
    PivotSeenWriting,
    /// Others found out; it noticed when it was to commit.
    PivotSeenCommitting,
    /// Its own write made it one.
    PivotByWrite,
    /// It read what a pivot that has committed, or will, wrote anew.
    ReadFromPivot(Xid),
    /// The same of one whose conflicts are known only in summary.
    ReadFromOldPivot(Option<Xid>),
    /// It is in conflict on one side, and on the other with one that committed long ago.
    PivotBeforeOld(Xid),
    /// The pivot is a prepared transaction, which can no longer be cancelled.
    PreparedPivot,
}

impl Reason {
    fn text(self) -> String {
        match self {
            Reason::PivotSeenReading => {
                "Canceled on identification as a pivot, during conflict out checking.".into()
            }
            Reason::PivotSeenWriting => {
                "Canceled on identification as a pivot, during conflict in checking.".into()
            }
            Reason::PivotSeenCommitting => {
                "Canceled on identification as a pivot, during commit attempt.".into()
            }
            Reason::PivotByWrite => "Canceled on identification as a pivot, during write.".into(),
            Reason::ReadFromPivot(xid) => format!("Canceled on conflict out to pivot {xid}, during read."),
            Reason::ReadFromOldPivot(Some(xid)) => format!("Canceled on conflict out to old pivot {xid}."),
            Reason::ReadFromOldPivot(None) => "Canceled on conflict out to old pivot.".into(),
            Reason::PivotBeforeOld(xid) => format!(
                "Canceled on identification as a pivot, with conflict out to old committed transaction {xid}."
            ),
            Reason::PreparedPivot => {
                "Canceled on commit attempt with conflict in from prepared pivot.".into()
            }
        }
    }
}

impl From<Reason> for SqlError {
    fn from(reason: Reason) -> SqlError {
        sql_err!(
            T_R_SERIALIZATION_FAILURE,
            "could not serialize access due to read/write dependencies among transactions"
        )
        .detail(format!("Reason code: {}", reason.text()))
        .hint("The transaction might succeed if retried.")
    }
}

/// Which transaction of which session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The session.
    pub session: SessionId,
    /// The transaction's number within it.
    pub local: u32,
}

/// A row of `pg_locks`.
#[derive(Clone, Copy, Debug)]
pub struct PredicateLock {
    /// Whose.
    pub who: Who,
    /// On what.
    pub target: Target,
}

/// All serializable transactions of a server, and what they read.
pub struct Serializable {
    graph: Mutex<Graph>,
    targets: Targets,
    /// Locks from which on room is made.
    most_locks: usize,
    per_transaction: usize,
    /// Locks of one transaction within a relation, and on a page.
    per_relation: AtomicUsize,
    per_page: AtomicUsize,
}

impl Serializable {
    /// None yet.
    pub fn new(limits: PredicateLimits) -> Serializable {
        let all = Serializable {
            graph: Mutex::new(Graph::new(limits.transactions.max(1) * ENDED_FOR_EACH)),
            targets: Targets::default(),
            most_locks: limits.per_transaction * limits.transactions.max(1),
            per_transaction: limits.per_transaction,
            per_relation: AtomicUsize::new(0),
            per_page: AtomicUsize::new(0),
        };
        all.set_limits(&limits);
        all
    }

    /// `max_pred_locks_per_relation` and `max_pred_locks_per_page`, from now on. A negative number divides what a transaction may have.
    pub fn set_limits(&self, limits: &PredicateLimits) {
        let per_relation = match limits.per_relation {
            ..0 => (self.per_transaction / limits.per_relation.unsigned_abs() as usize).saturating_sub(1),
            _ => limits.per_relation as usize,
        };
        // Relaxed: settings.
        self.per_relation.store(per_relation, Ordering::Relaxed);
        self.per_page.store(limits.per_page.max(0) as usize, Ordering::Relaxed);
    }

    fn limits(&self) -> owned::Limits {
        owned::Limits {
            per_relation: self.per_relation.load(Ordering::Relaxed),
            per_page: self.per_page.load(Ordering::Relaxed),
        }
    }

    /// Does what has to be done after the graph's lock is released.
    fn settle(&self, after: After) {
        for member in after.released {
            self.release(&member);
        }
        for member in after.settled {
            member.wake();
        }
        if let Some(seq) = after.forgotten {
            self.targets.clear_old_marks(seq);
        }
    }

    /// Takes away a member's locks; it gets no more.
    fn release(&self, member: &Member) {
        let owned = std::mem::replace(&mut *member.owned.lock(), Owned::closed());
        owned.each_target(&mut |target| self.targets.remove(target, member.id));
        owned.each_range(&mut |index, range| self.targets.remove_range(index, range, member.id));
    }

    /// There are more locks than there is room for, or more ended transactions: of the oldest only a summary is kept. False if none has ended.
    fn summarise(&self) -> bool {
        let mut graph = self.graph.lock();
        let Some((member, seq)) = graph.oldest_ended() else { return false };
        // The marks are set before the transaction goes, so that a reader that no longer finds the transaction looks again and finds the marks.
        member.owned.lock().each_relation(&mut |relation| self.targets.mark_old(relation, seq));
        self.targets.count_summary();
        graph.summarise_oldest();
        drop(graph);
        self.release(&member);
        true
    }

    fn make_room(&self) {
        while self.graph.lock().is_full() {
            if !self.summarise() {
                return;
            }
        }
    }

    /// A writer changed something: its conflicts with those who have read it, which `collect` finds.
    fn conflicts_in(&self, me: &Member, collect: impl Fn(&Targets, &mut Holders)) -> Result<(), Reason> {
        let mut holders = Holders::default();
        loop {
            let summaries = self.targets.summaries();
            holders.clear();
            collect(&self.targets, &mut holders);
            holders.ids.retain(|id| *id != me.id);
            if holders.is_empty() {
                return Ok(());
            }
            let mut graph = self.graph.lock();
            // Summaries are made under the graph's mutex: whose locks were found is still there.
            if self.targets.summaries() == summaries {
                return graph.conflicts_in(me.id, &holders.ids, holders.old);
            }
        }
    }

    /// A file of a table or index goes, which somebody has locked against everybody: who has read any of it counts as having read all of `new`.
    pub fn transfer(&self, old: RelFile, new: RelFile) {
        let members = self.graph.lock().members();
        for member in members {
            let mut owned = member.owned.lock();
            if !owned.is_closed() && owned.has(old) && owned.add_relation(new) {
                self.targets.add(Target::Relation(new), member.id);
            }
        }
        if let Some(seq) = self.targets.old_mark(old) {
            self.targets.mark_old(new, seq);
        }
    }

    /// All predicate locks (`pg_locks`).
    pub fn list(&self) -> Vec<PredicateLock> {
        let members = self.graph.lock().members_with_owners();
        let mut found = Vec::new();
        for (member, who) in members {
            let owned = member.owned.lock();
            owned.each_target(&mut |target| found.push(PredicateLock { who, target }));
            owned.each_range(&mut |index, _| found.push(PredicateLock { who, target: Target::Keys(index) }));
        }
        found
    }

    /// The sessions that keep one's snapshot from being safe, while it waits for that (`pg_safe_snapshot_blocking_pids`).
    pub fn safe_snapshot_blockers(&self, session: SessionId) -> Vec<SessionId> {
        self.graph.lock().blockers(session)
    }

    /// Takes a prepared transaction up after a restart. What it was in conflict with is not known any more: it counts as in conflict on both sides.
    pub(crate) fn restore(&self, xid: Xid, session: SessionId, targets: &[Target]) -> Arc<Member> {
        let member = self.graph.lock().restore(xid, Who { session, local: 0 });
        let mut owned = member.owned.lock();
        for &target in targets {
            if owned.add(target) {
                self.targets.add(target, member.id);
            }
        }
        drop(owned);
        member
    }

    /// A transaction was prepared: it belongs to a stand-in now.
    pub(crate) fn hand_over(&self, member: &Member, session: SessionId) {
        self.graph.lock().set_owner(member.id, Who { session, local: 0 });
    }

    /// A prepared transaction ends, or a session's that got as far.
    pub(crate) fn end(&self, member: &Arc<Member>, committed: bool) {
        let after = {
            let mut graph = self.graph.lock();
            if committed { graph.commit(member.id) } else { graph.abort(member.id) }
        };
        self.settle(after);
        if committed {
            self.make_room();
        }
    }
}
