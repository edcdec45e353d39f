//! Transactions: xids, snapshots, horizons, subtransactions, the commit log, heavyweight locks.
//!
//! One room for each founding idea (threads 1, 4 and 5): [`running`] the dense arrays, [`snapshot`] the shared snapshot and
//! its reuse, [`horizon`] the two bounds, [`old_snapshot`] what old snapshots lose, [`subxact`] the way from subtransactions to their top level, [`slru`] the
//! page cache under the commit log ([`clog`]) and the sets of transactions that share a row ([`multixact`]). [`commit`] has the order of steps at the end of a transaction, [`order`] that of transactions that commit, [`early`] what
//! is seen before the disk has it, and [`redo`] their replay. Heavyweight locks: [`lock`] the main table and waiting, [`lock_fast`] the workers' tables for weak locks,
//! [`lock_held`] what a session holds, `lock_queue` queues that move, `deadlock` the detector. [`system`] joins them to one [`TxnSystem`] for each server,
//! [`transaction`] is what a session owns, with its `effects`. Two-phase commit: [`prepared`] the transactions that wait for their end, [`prepared_state`]
//! what of them is durable. SERIALIZABLE: [`serializable`]. [`logical`]: what decoders of the log must know. [`describe`] shows log records.
//!
//! Invariant: nothing here knows relations' contents, the catalog, or SQL.

pub mod clog;
pub mod commit;
mod deadlock;
pub mod describe;
pub mod early;
mod effects;
pub mod error;
pub mod horizon;
pub mod lock;
pub mod lock_fast;
pub mod lock_held;
mod lock_queue;
pub mod logical;
pub mod long_wait;
#[cfg(test)]
mod model;
pub mod multixact;
pub mod old_snapshot;
pub mod order;
pub mod origin;
pub mod prepared;
pub mod prepared_state;
pub mod redo;
pub mod running;
pub mod serializable;
pub mod slru;
pub mod snapshot;
pub mod standby;
pub mod subxact;
mod sync;
pub mod synchronous;
pub mod system;
#[cfg(test)]
mod tests;
pub mod transaction;
pub mod truncation;
pub mod virtual_xid;

pub use base::settings::SyncCommit;
pub use commit::MappedFile;
pub use describe::XactDescribe;
pub use error::TxnError;
pub use horizon::{Horizons, RelKind, XidHolds};
pub use lock::{DeadlockEdge, LockError, LockInfo, LockManager, LockMode, LockTag, LockWait};
pub use long_wait::{LockTimeouts, LongWait, Told};
pub use multixact::{Holder, LockStrength, Member, MemberStatus};
pub use prepared::{PrepareError, PreparedTransaction, Resolver};
pub use prepared_state::PreparedState;
pub use serializable::{KeyRange, PredicateLimits, PredicateLock, Serial, SnapshotSource, Target};
pub use slru::SlruStats;
pub use snapshot::{Snapshot, SnapshotData};
pub use synchronous::Standbys;
pub use system::{Ending, Log, RelationFiles, StandbyHolder, TxnOptions, TxnStart, TxnSystem, XidStatus};
pub use transaction::{BlockState, Characteristics, End, IsolationLevel, Obstacle, Phase, Transaction};
pub use truncation::OldestIds;
pub use virtual_xid::{Locker, VirtualXid};

/// Number of a session, the "pid" that PostgreSQL's views show. Given by the server; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u32);

impl SessionId {
    /// First number of stand-ins: sessions are below it.
    const STAND_INS: u32 = 1 << 31;

    /// The owner of a prepared transaction's locks, by its slot: no session, and never waits.
    pub(crate) const fn stand_in(slot: u32) -> SessionId {
        SessionId(Self::STAND_INS | slot)
    }

    /// The owner of what transactions have that the log tells of.
    pub const REPLAY: SessionId = SessionId(u32::MAX);

    /// Whether this is a prepared transaction's stand-in.
    pub const fn is_stand_in(self) -> bool {
        self.0 >= Self::STAND_INS
    }
}
