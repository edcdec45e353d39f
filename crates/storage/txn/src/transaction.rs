//! A session's transaction.
use std::sync::Arc;

use base::{CommandId, RelFile, SqlResult, SubxactId, Xid};

use crate::lock::{LockError, LockMode, LockTag, LockWait};
use crate::{SessionId, TxnError, TxnSystem};

/// Isolation levels; READ UNCOMMITTED acts as READ COMMITTED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// Where a session stands between BEGIN and COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// No transaction.
    Idle,
    /// A single statement's own transaction.
    Started,
    /// Several statements of one simple-query message: an implicit block.
    Implicit,
    /// After BEGIN.
    InBlock,
    /// After an error within a block: only ROLLBACK (TO) and COMMIT are accepted.
    Failed,
}

/// How a transaction, or the subtransaction that registered an action, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum End {
    Commit,
    Abort,
}

/// When an end action runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The outcome is decided and visible, locks are still held: invalidate caches here.
    BeforeLocks,
    /// Locks are released.
    AfterLocks,
}

/// `synchronous_commit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncCommit {
    /// Do not wait for WAL.
    Off,
    /// Wait for the local flush (`local`, and `on` without standbys).
    On,
}

/// A session's transaction with its savepoints. Lives as long as the session; between transactions it is idle.
pub struct Transaction {}

impl Transaction {
    /// Idle transaction of a session.
    pub fn new(_system: Arc<TxnSystem>, _session: SessionId) -> Transaction {
        todo!()
    }
    /// Where the session stands.
    pub fn state(&self) -> BlockState {
        todo!()
    }
    /// Starts a transaction if none is running (before every statement).
    pub fn start(&mut self, _isolation: IsolationLevel, _read_only: bool, _deferrable: bool) {
        todo!()
    }
    /// BEGIN: turns the statement's transaction into a block. False: there already is a transaction in progress.
    pub fn begin_block(&mut self) -> bool {
        todo!()
    }
    /// xid of the current (sub)transaction, if it wrote.
    pub fn xid_if_assigned(&self) -> Option<Xid> {
        todo!()
    }
    /// xid of the top level, if anything wrote.
    pub fn top_xid_if_assigned(&self) -> Option<Xid> {
        todo!()
    }
    /// xid of the current (sub)transaction, assigned now if it has none; parents first.
    pub fn xid(&mut self) -> Result<Xid, TxnError> {
        todo!()
    }
    /// Whether `xid` is this transaction's or a live subtransaction's.
    pub fn is_mine(&self, _xid: Xid) -> bool {
        todo!()
    }
    /// Command id of the present command.
    pub fn current_command(&self) -> CommandId {
        todo!()
    }
    /// Makes the effects of the present command visible to the next.
    pub fn next_command(&mut self) -> Result<(), TxnError> {
        todo!()
    }
    /// Current subtransaction; 1 is the top level.
    pub fn subxact(&self) -> SubxactId {
        todo!()
    }
    /// SAVEPOINT name, or an anonymous subtransaction (PL/pgSQL's EXCEPTION block).
    pub fn push_subxact(&mut self, _name: Option<&str>) {
        todo!()
    }
    /// RELEASE SAVEPOINT.
    pub fn release(&mut self, _name: &str) -> SqlResult<()> {
        todo!()
    }
    /// ROLLBACK TO SAVEPOINT: the savepoint stays.
    pub fn rollback_to(&mut self, _name: &str) -> SqlResult<()> {
        todo!()
    }
    /// Takes a heavyweight lock until the end of the (sub)transaction.
    pub fn lock(&mut self, _tag: LockTag, _mode: LockMode, _wait: LockWait) -> Result<(), LockError> {
        todo!()
    }
    /// Waits until `xid` ends.
    pub fn wait_for(&mut self, _xid: Xid) -> Result<(), TxnError> {
        todo!()
    }
    /// These files go when the transaction commits (DROP TABLE).
    pub fn drop_at_commit(&mut self, _file: RelFile) {
        todo!()
    }
    /// These files go when the current (sub)transaction aborts (CREATE TABLE).
    pub fn drop_at_abort(&mut self, _file: RelFile) {
        todo!()
    }
    /// Runs `action` when the current subtransaction aborts, or with the outcome of the whole transaction.
    pub fn on_end(&mut self, _phase: Phase, _action: Box<dyn FnOnce(End)>) {
        todo!()
    }
    /// Commits; the error is one of WAL, on which the server stops.
    pub fn commit(&mut self, _sync: SyncCommit, _invalidations: &[u8]) -> Result<(), TxnError> {
        todo!()
    }
    /// Aborts everything.
    pub fn abort(&mut self) {
        todo!()
    }
}
