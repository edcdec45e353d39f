//! How heaps and indexes reach each other and the transaction system: the lower crates know one another only by traits, which
//! are implemented here.

use base::{BlockNo, OffsetNo, SqlError, Tid, Xid};
use heap::HeapRel;
use txn::{RelKind, Transaction, TxnSystem};

use crate::Engine;

/// When deleted index pages may be used again.
pub(crate) struct IndexHorizon(pub(crate) std::sync::Arc<TxnSystem>);

impl index::Horizon for IndexHorizon {
    fn next_xid(&self) -> Xid {
        self.0.next_xid()
    }

    fn is_removable(&self, xid: Xid) -> bool {
        // An index page is visited by scans of any kind of relation's snapshots: the strictest kind decides.
        let removable = self.0.is_removable(RelKind::Shared, xid);
        if removable {
            // Scans of standbys that may be on their way to the page have snapshots of before.
            self.0.note_removal(xid);
        }
        removable
    }

    fn may_remove(&self) -> bool {
        self.0.note_dead()
    }
}

/// Tells a unique index whether the rows behind its entries are live.
pub struct RowLiveness<'a> {
    /// Storage.
    pub engine: &'a Engine,
    /// The table.
    pub heap: &'a HeapRel,
    /// Who inserts.
    pub me: &'a Transaction,
}

impl index::Liveness for RowLiveness<'_> {
    fn check(&self, tid: Tid) -> Result<index::TupleState, SqlError> {
        let found = heap::unique_liveness(&self.engine.heap_access(), self.heap, self.me, tid)
            .map_err(heap::HeapError::into_sql)?;
        Ok(match found {
            heap::Liveness::Live { tid } => index::TupleState::Live { tid },
            heap::Liveness::InProgress { xid, .. } => index::TupleState::InProgress(xid),
            heap::Liveness::Dead { all_dead: false } => index::TupleState::Deleted,
            heap::Liveness::Dead { all_dead: true } => index::TupleState::Dead,
        })
    }
}

/// Tells an index which of a table's rows are dead to everybody, as far as their pages are in the pool.
pub struct DeadRows<'a> {
    /// Storage.
    pub access: heap::Access<'a>,
    /// The table.
    pub heap: &'a HeapRel,
}

impl index::DeadRows for DeadRows<'_> {
    fn find(&self, block: BlockNo, roots: &[OffsetNo], dead: &mut Vec<OffsetNo>) -> Result<(), SqlError> {
        heap::dead_chains(&self.access, self.heap, block, roots, dead).map_err(heap::HeapError::into_sql)
    }
}

impl Engine {
    /// What heap operations need.
    #[inline]
    pub fn heap_access(&self) -> heap::Access<'_> {
        heap::Access { pool: self.pool(), txns: self.txns() }
    }

    /// What index operations need; `xid` is the writing transaction, invalid for readers.
    #[inline]
    pub fn index_access(&self, xid: Xid) -> index::Access<'_> {
        index::Access {
            pool: self.pool(),
            horizon: &self.index_horizon,
            xid,
            limits: index::Limits::default(),
        }
    }
}
