//! Heavyweight locks.
use base::{BlockNo, Oid, Tid, Xid};

use crate::SessionId;

/// PostgreSQL's eight lock modes, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum LockMode {
    AccessShare = 1,
    RowShare = 2,
    RowExclusive = 3,
    ShareUpdateExclusive = 4,
    Share = 5,
    ShareRowExclusive = 6,
    Exclusive = 7,
    AccessExclusive = 8,
}

/// What is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum LockTag {
    Relation {
        database: Oid,
        relation: Oid,
    },
    /// Right to extend a relation.
    Extend {
        database: Oid,
        relation: Oid,
    },
    Page {
        database: Oid,
        relation: Oid,
        block: BlockNo,
    },
    Tuple {
        database: Oid,
        relation: Oid,
        tid: Tid,
    },
    /// Held by every running transaction on its xid; waited for in share mode.
    Xid(Xid),
    VirtualXid {
        session: SessionId,
        local: u32,
    },
    /// A catalog object that is no relation (`sub` is its column or 0).
    Object {
        database: Oid,
        class: Oid,
        object: Oid,
        sub: u16,
    },
    /// `pg_advisory_lock`: one 64-bit key (`kind` 1) or two 32-bit ones (`kind` 2).
    Advisory {
        database: Oid,
        key1: u32,
        key2: u32,
        kind: u16,
    },
}

/// What to do when a lock is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Wait for it.
    Block,
    /// Fail with [`LockError::NotAvailable`].
    NoWait,
}

/// Why a lock was not granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockError {
    /// 40P01; the cycle, in order: each waits for the next, the last for the first.
    Deadlock(Vec<DeadlockEdge>),
    /// NOWAIT and not free.
    NotAvailable,
    /// `lock_timeout` passed.
    Timeout,
    /// Cancelled, terminated or timed out.
    Interrupted,
}

/// One wait of a deadlock's cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockEdge {
    /// Who waits.
    pub waiter: SessionId,
    /// For what.
    pub tag: LockTag,
    /// In which mode.
    pub mode: LockMode,
    /// Who blocks it.
    pub blocker: SessionId,
}

/// All heavyweight locks of a server.
pub struct LockManager {}
