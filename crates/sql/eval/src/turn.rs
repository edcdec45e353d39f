//! # What
//! Statements that begin again. One that is about to change its first row, and finds that a crowd waits for it, has done nothing yet that anybody
//! could tell. So it ends, waits in the queue for the row without a snapshot and without an xid, and begins again at the head of the queue, with a new
//! snapshot: as if it had come later. Had it waited with its snapshot, everybody who looks for the row would have to pass what that holds back.
//!
//! # PostgreSQL counterpart
//! None.

use txn::{LockMode, LockTag};

/// A lock on a version of a row: a place in the queue for the row.
pub type Queued = (LockTag, LockMode);

/// How often a statement begins again at most, before it waits with what it has.
const MOST: u8 = 5;

/// Whether a statement may begin again, and what it has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// How often it may still begin again; 0 once something of it could be seen.
    left: u8,
    /// It holds this lock, at the head of the queue.
    come: Option<Queued>,
    /// It has ended to begin again, behind whoever holds the lock if there is one.
    wanted: Option<Option<Queued>>,
}

impl Turn {
    /// Of a statement that may begin again, and has not yet.
    pub fn first() -> Turn {
        Turn { left: MOST, ..Turn::default() }
    }

    /// Of one that begins again, and holds this lock.
    pub fn next(self, come: Option<Queued>) -> Turn {
        Turn { left: self.left.saturating_sub(1), come, wanted: None }
    }

    /// Whether the statement may begin again.
    pub fn may_begin_again(self) -> bool {
        self.left > 0
    }

    /// Whether the statement has ended to begin again, or has begun again and not come to a row.
    #[inline]
    pub fn is_taken(self) -> bool {
        self.wanted.is_some() || self.come.is_some()
    }

    /// The statement is to end, wait for the lock if there is one, and begin again.
    pub fn end(&mut self, queued: Option<Queued>) {
        self.wanted = Some(queued);
    }

    /// What it has ended for, if it has.
    pub fn wanted(self) -> Option<Option<Queued>> {
        self.wanted
    }

    /// From now on something of the statement could be seen. Returns what it was.
    #[inline]
    pub fn begin(&mut self) -> Turn {
        std::mem::take(self)
    }

    /// The lock with which it began again, if it has not changed a row since.
    pub fn come(self) -> Option<Queued> {
        self.come
    }
}
