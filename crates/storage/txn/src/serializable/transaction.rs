//! What · The part of a session's transaction that is about serializability: its beginning and ends, and what it tells of its reads and writes.
//!
//! A transaction at another level, or a safe one, has no [`Serial`]: one branch is all that it costs.

use std::any::Any;
use std::sync::Arc;

use base::{BlockNo, RelFile, Tid, Xid, stop_result};

use super::member::Member;
use super::owned::{Owned, Steps};
use super::targets::Target;
use super::{KeyRange, Reason, Seq, Serializable, Who};
use crate::error::TxnError;
use crate::snapshot::Snapshot;
use crate::subxact::Family;
use crate::transaction::{IsolationLevel, Transaction};

/// Whose snapshot it is that others may go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotSource {
    /// One of a lower level's.
    Plain,
    /// A serializable transaction's; `seen` is its number, none if it is safe.
    Serializable {
        /// Number of the last commit before the snapshot.
        seen: Option<Seq>,
        /// READ ONLY.
        read_only: bool,
    },
}

/// What a serializable transaction reads and writes goes through this. See the [module](super) for when to call what.
#[derive(Clone, Copy)]
pub struct Serial<'a> {
    all: &'a Serializable,
    member: &'a Arc<Member>,
    me: &'a Transaction,
}

impl Transaction {
    /// For a serializable transaction that is to be watched.
    #[inline]
    pub fn serializable(&self) -> Option<Serial<'_>> {
        let member = self.serial.as_ref()?;
        if member.is_safe() {
            return None;
        }
        Some(Serial { all: self.system.serializable(), member, me: self })
    }

    fn who(&self) -> Who {
        Who { session: self.session, local: self.local }
    }

    /// The first snapshot of a transaction that keeps it.
    #[cold]
    pub(crate) fn first_snapshot(&mut self) -> Result<Snapshot, TxnError> {
        if self.characteristics.isolation < IsolationLevel::Serializable {
            return Ok(self.system.snapshot());
        }
        if self.system.is_in_recovery() {
            return Err(TxnError::SerializableInRecovery);
        }
        let (who, xid) = (self.who(), self.top_xid_if_assigned());
        let (snapshot, member) = self.system.begin_serializable(who, xid, self.characteristics)?;
        self.serial = member;
        Ok(snapshot)
    }

    /// The transaction writes from now on under this xid.
    pub(crate) fn note_xid(&self, xid: Xid) {
        if let Some(member) = &self.serial {
            self.system.serializable().graph.lock().set_xid(member.id, xid);
        }
    }

    /// What another transaction must know that goes on with this one's snapshot.
    pub fn snapshot_source(&self) -> SnapshotSource {
        if self.characteristics.isolation < IsolationLevel::Serializable {
            return SnapshotSource::Plain;
        }
        let seen =
            self.serial.as_ref().and_then(|member| self.system.serializable().graph.lock().seen(member.id));
        SnapshotSource::Serializable { seen, read_only: self.characteristics.read_only }
    }

    /// Makes the transaction go on with another session's snapshot (SET TRANSACTION SNAPSHOT). A serializable one needs that of a serializable one;
    /// the original is held meanwhile.
    pub fn set_snapshot(&mut self, snapshot: Snapshot, source: SnapshotSource) {
        if self.characteristics.isolation == IsolationLevel::Serializable
            && let SnapshotSource::Serializable { seen: Some(seen), .. } = source
        {
            let (who, xid) = (self.who(), self.top_xid_if_assigned());
            self.serial = self.system.begin_with(who, xid, self.characteristics.read_only, seen);
        }
        self.keep_snapshot(snapshot);
    }

    /// Before COMMIT or PREPARE TRANSACTION: whether a serializable transaction may commit. After this it does, whatever others do; on an error it is
    /// to be rolled back.
    #[inline]
    pub fn prepare_serializable(&mut self) -> Result<(), TxnError> {
        let Some(serial) = self.serializable() else { return Ok(()) };
        serial.all.graph.lock().prepare(serial.member.id)?;
        Ok(())
    }

    /// The transaction has ended.
    #[inline]
    pub(crate) fn end_serializable(&mut self, committed: bool) {
        if let Some(member) = self.serial.take() {
            self.system.serializable().end(&member, committed);
        }
    }

    /// What of the transaction's predicate locks survives a crash once it is prepared. A range of keys becomes the whole index.
    pub(crate) fn lasting_predicate_locks(&self) -> Option<Vec<Target>> {
        let member = self.serializable()?.member;
        let owned = member.owned.lock();
        let mut targets = Vec::new();
        owned.each_target(&mut |target| targets.push(target));
        owned.each_range(&mut |index, _| {
            if targets.last() != Some(&Target::Relation(index)) {
                targets.push(Target::Relation(index));
            }
        });
        Some(targets)
    }
}

impl Serial<'_> {
    /// Fails if the transaction was cancelled: before a row is looked at.
    #[inline]
    pub fn check(&self) -> Result<(), TxnError> {
        Ok(self.member.check(Reason::PivotSeenReading)?)
    }

    fn lock(&self, coarse: RelFile, change: impl FnOnce(&mut Owned, &mut Steps)) {
        if stop_result!("test-no-predicate-lock").is_err() {
            // What checks of histories must notice.
            return;
        }
        let full = self.all.targets.count() >= self.all.most_locks && !self.all.summarise();
        let mut steps = Steps::new();
        let mut owned = self.member.owned.lock();
        match full {
            true => owned.lock_relation(coarse, &mut steps),
            false => change(&mut owned, &mut steps),
        }
        for step in steps {
            self.all.targets.make(step, self.member.id);
        }
    }

    /// A row version was read: under its page's latch.
    pub fn read_row(&self, relation: RelFile, tid: Tid) {
        self.lock(relation, |owned, steps| owned.lock_row(relation, tid, self.all.limits(), steps));
    }

    /// A page's rows are about to be read without a look at the page.
    pub fn read_page(&self, relation: RelFile, block: BlockNo) {
        self.lock(relation, |owned, steps| owned.lock_page(relation, block, self.all.limits(), steps));
    }

    /// A whole relation is about to be read.
    pub fn read_relation(&self, relation: RelFile) {
        self.lock(relation, |owned, steps| owned.lock_relation(relation, steps));
    }

    /// A range of the keys of an index of a table is about to be read.
    pub fn read_range(&self, index: RelFile, table: RelFile, range: Arc<dyn KeyRange>) {
        let limits = self.all.limits();
        self.lock(index, |owned, steps| owned.lock_range((index, table), range, limits, steps));
    }

    /// Only a part of such a range was read after all.
    pub fn narrow_range(&self, index: RelFile, range: &Arc<dyn KeyRange>, part: Arc<dyn KeyRange>) {
        self.lock(index, |owned, steps| owned.narrow_range(index, range, part, steps));
    }

    /// Whether `xid` is another transaction's that the snapshot does not see.
    #[inline]
    pub fn is_concurrent(&self, xid: Xid) -> bool {
        self.me.snapshot.as_ref().is_some_and(|snapshot| !snapshot.sees(xid)) && !self.me.is_mine(xid)
    }

    /// A version was met that `xid` made, or ended, and that is or would be another for who sees that transaction.
    #[inline]
    pub fn conflict_out(&self, xid: Xid) -> Result<(), TxnError> {
        match self.is_concurrent(xid) {
            true => self.conflict_out_to(xid),
            false => Ok(()),
        }
    }

    #[cold]
    fn conflict_out_to(&self, xid: Xid) -> Result<(), TxnError> {
        let top = match self.me.system.parents().family(xid) {
            Family::Top => xid,
            Family::Child(top) => top,
            Family::AbortedChild(_) => return Ok(()),
        };
        Ok(self.all.graph.lock().conflict_out(self.member.id, top)?)
    }

    fn write(
        &self,
        collect: impl Fn(&super::targets::Targets, &mut super::targets::Holders),
    ) -> Result<(), TxnError> {
        self.member.check(Reason::PivotSeenWriting)?;
        self.member.note_write();
        Ok(self.all.conflicts_in(self.member, collect)?)
    }

    /// A row version was updated or deleted: under its page's exclusive latch.
    pub fn write_row(&self, relation: RelFile, tid: Tid) -> Result<(), TxnError> {
        self.write(|targets, found| targets.holders_of_row(relation, tid, found))?;
        // A savepoint may take the change back, and not the read.
        if self.me.depth() == 1 {
            let (mut steps, mut owned) = (Steps::new(), self.member.owned.lock());
            owned.forget_row(relation, tid, &mut steps);
            steps.into_iter().for_each(|step| self.all.targets.make(step, self.member.id));
        }
        Ok(())
    }

    /// A row was inserted: under its page's exclusive latch.
    pub fn write_relation(&self, relation: RelFile) -> Result<(), TxnError> {
        self.write(|targets, found| targets.holders_of_relation(relation, found))
    }

    /// A key was entered into an index; or could not, because it is there.
    pub fn write_key(&self, index: RelFile, key: &dyn Any) -> Result<(), TxnError> {
        self.write(|targets, found| targets.holders_of_key(index, key, found))
    }

    /// All rows of a relation go (TRUNCATE, DROP TABLE).
    pub fn write_all(&self, relation: RelFile) -> Result<(), TxnError> {
        self.write(|targets, found| targets.holders_within(relation, found))
    }
}
