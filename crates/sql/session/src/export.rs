//! # What
//! Snapshots that transactions give to others: `pg_export_snapshot()` and SET TRANSACTION SNAPSHOT.
//!
//! # Layout
//! [`Exports`] maps an identifier to a snapshot, for the whole server. The exporting transaction owns an [`Exported`] for each;
//! it goes with the transaction, however that ends.
//!
//! # Invariants
//! 1. A snapshot in the map is held by its exporter's worker: who adopts it does so while the map is locked, and so publishes
//!    its own hold before the exporter can let go.
//!
//! # PostgreSQL counterpart and differences
//! `ExportSnapshot`, `ImportSnapshot`. One process needs no files in `pg_snapshots`. The identifier has PostgreSQL's form, with the
//! session's number in its first part.

use std::sync::Arc;

use base::{Oid, SqlResult, sql_err};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use txn::{Characteristics, IsolationLevel, Obstacle, Phase, Snapshot, SnapshotData, SnapshotSource};

use super::Session;

/// The snapshots that transactions of a server have exported.
#[derive(Default)]
pub(crate) struct Exports(Mutex<FxHashMap<String, Entry>>);

struct Entry {
    snapshot: Arc<SnapshotData>,
    database: Oid,
    source: SnapshotSource,
}

/// An exporter's side: while it lives, the snapshot can be adopted.
pub(crate) struct Exported {
    exports: Arc<Exports>,
    id: String,
    _held: Snapshot,
}

impl Drop for Exported {
    fn drop(&mut self) {
        self.exports.0.lock().remove(&self.id);
    }
}

impl Session {
    /// Makes the statement's snapshot known to others until the transaction ends. Returns its identifier.
    pub(crate) fn export_snapshot(&self, snapshot: &Snapshot) -> SqlResult<String> {
        let mut txn = self.txn.borrow_mut();
        if txn.depth() > 1 {
            return Err(sql_err!(ACTIVE_SQL_TRANSACTION, "cannot export a snapshot from a subtransaction"));
        }
        let exported = self.exported(snapshot, txn.local_id(), txn.snapshot_source());
        let id = exported.id.clone();
        txn.obstruct_prepare(Obstacle::ExportedSnapshots);
        txn.on_end(Phase::BeforeLocks, Box::new(move |_| drop(exported)));
        Ok(id)
    }

    /// Makes the snapshot of a new slot known to others until the next command. Returns its identifier.
    pub(crate) fn export_for_slot(&self, snapshot: &Snapshot) -> String {
        let exported = self.exported(snapshot, self.txn.borrow().local_id(), SnapshotSource::Plain);
        let id = exported.id.clone();
        *self.slot_snapshot.borrow_mut() = Some(exported);
        id
    }

    fn exported(&self, snapshot: &Snapshot, transaction: u32, source: SnapshotSource) -> Exported {
        let exports = self.instance.exports.clone();
        let prefix = format!("{:08X}-{transaction:08X}-", self.info.pid);
        let mut map = exports.0.lock();
        let number = map.keys().filter(|id| id.starts_with(&prefix)).count() + 1;
        let id = format!("{prefix}{number}");
        let database = self.catalog.database();
        map.insert(id.clone(), Entry { snapshot: snapshot.data().clone(), database, source });
        drop(map);
        Exported { exports, id, _held: snapshot.clone() }
    }

    /// Goes on with another transaction's snapshot.
    pub(super) fn import_snapshot(&self, id: &str) -> SqlResult<()> {
        let mut txn = self.txn.borrow_mut();
        if txn.snapshot_taken() || txn.top_xid_if_assigned().is_some() || txn.depth() > 1 {
            return Err(sql_err!(
                ACTIVE_SQL_TRANSACTION,
                "SET TRANSACTION SNAPSHOT must be called before any query"
            ));
        }
        if !txn.characteristics().isolation.keeps_snapshot() {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ"
            ));
        }
        if !id.bytes().all(|c| matches!(c, b'0'..=b'9' | b'A'..=b'F' | b'-')) {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid snapshot identifier: \"{id}\""));
        }
        let map = self.instance.exports.0.lock();
        let entry =
            map.get(id).ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "snapshot \"{id}\" does not exist"))?;
        if entry.database != self.catalog.database() {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot import a snapshot from a different database"
            ));
        }
        check_source(txn.characteristics(), entry.source)?;
        let snapshot = self.engine().txns().adopt_snapshot(entry.snapshot.clone());
        txn.set_snapshot(snapshot, entry.source);
        Ok(())
    }
}

/// A serializable transaction must know what concurrent ones did since the snapshot.
fn check_source(modes: Characteristics, source: SnapshotSource) -> SqlResult<()> {
    if modes.isolation < IsolationLevel::Serializable {
        return Ok(());
    }
    let refused = |message: &str| Err(sql_err!(FEATURE_NOT_SUPPORTED, "{message}"));
    match source {
        SnapshotSource::Plain => {
            refused("a serializable transaction cannot import a snapshot from a non-serializable transaction")
        }
        SnapshotSource::Serializable { read_only: true, .. } if !modes.read_only => refused(
            "a non-read-only serializable transaction cannot import a snapshot from a read-only transaction",
        ),
        _ if modes.read_only && modes.deferrable => {
            refused("a snapshot-importing transaction must not be READ ONLY DEFERRABLE")
        }
        SnapshotSource::Serializable { .. } => Ok(()),
    }
}
