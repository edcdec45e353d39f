//! Transactions: xids, snapshots, horizons, subtransactions, the commit log, heavyweight locks.
//!
//! One room for each founding idea (threads 1, 4 and 5): [`running`] the dense arrays, [`snapshot`] the shared snapshot and
//! its reuse, [`horizon`] the two bounds, [`subxact`] the parents of subtransactions, [`slru`] the page cache of the
//! commit log. [`system`] joins them to one [`TxnSystem`] for each server, [`transaction`] is what a session owns.
//!
//! Invariant: nothing here knows relations' contents, the catalog, or SQL.

pub mod horizon;
pub mod lock;
#[cfg(test)]
mod model;
pub mod running;
pub mod snapshot;
pub mod subxact;
mod sync;
pub mod system;
#[cfg(test)]
mod tests;
pub mod transaction;

pub use horizon::{Horizons, RelKind};
pub use lock::{LockError, LockMode, LockTag, LockWait};
pub use snapshot::Snapshot;
pub use system::{DropFiles, Log, TxnError, TxnOptions, TxnStart, TxnSystem, XidStatus};
pub use transaction::{BlockState, End, IsolationLevel, Phase, SyncCommit, Transaction};

/// Number of a session, the "pid" that PostgreSQL's views show. Given by the server; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u32);
