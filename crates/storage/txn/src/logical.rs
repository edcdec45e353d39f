//! What · Records of `Rmgr::Logical`: what who decodes the log must know beside the rows of tables (`wal_level = logical`). Redo does nothing with them.
//!
//! Layout · Each begins with the distance of its xid from that of its transaction's top level, in LEB128; then
//! [`DESCRIBE`]: its database `u32`, the description of a table, which this crate does not read.
//! [`TRUNCATE`]: their database `u32`, a byte (1 CASCADE, 2 RESTART IDENTITY), then OIDs of tables, `u32` each.
//! [`MESSAGE`]: its database `u32`, a byte (1: it goes with its transaction), the length of its prefix `u32`, the prefix, the contents.
//! [`POINT`]: nothing.
//!
//! Invariants
//! 1. A change is described by the last description of its table that its own transaction logged before it, in a subtransaction that was not rolled back. So
//!    decoding a transaction needs its own records and nothing else: no catalog as it was, and no log from before its beginning.
//! 2. *The consistent point* ([`TxnSystem::consistent_point`]): a snapshot sees exactly the transactions whose commit record lies before it.
//!
//! Why 2 holds · Who makes a point takes a place among the commits ([`order`](crate::order)) as if its record were a commit's. While that place is the first, all whose records come before
//! have left the running set, and none whose record comes behind may; the snapshot is taken then.
//!
//! PostgreSQL counterpart · `snapbuild.c`, `relcache.c` under a historic snapshot, `message.c`. Differences: tables are described in the log, so decoding
//! needs no old rows of catalogs, and no snapshots of the past are built.

use std::sync::Arc;

use base::{Lsn, Oid, Xid};
use wal::Rmgr;

use crate::commit::{Turn, put};
use crate::snapshot::Snapshot;
use crate::system::TxnSystem;
use crate::transaction::Transaction;

/// A table is described.
pub const DESCRIBE: u8 = 0;
/// Tables were emptied.
pub const TRUNCATE: u8 = 1;
/// A message of a user (`pg_logical_emit_message`).
pub const MESSAGE: u8 = 2;
/// A consistent point.
pub const POINT: u8 = 3;

/// Bits of the byte of a [`TRUNCATE`].
pub mod truncate_flags {
    /// CASCADE
    pub const CASCADE: u8 = 1;
    /// RESTART IDENTITY
    pub const RESTART: u8 = 2;
}

/// What a transaction has described.
pub(crate) struct Described {
    /// Which transaction that was: the session may have begun another one.
    top: Xid,
    /// Tables, each with its last description.
    tables: Vec<(Oid, Arc<[u8]>)>,
}

/// How far an xid is from that of its transaction's top level.
pub fn distance(me: &Transaction, xid: Xid) -> u64 {
    me.top_xid_if_assigned().map_or(0, |top| xid.0.saturating_sub(top.0))
}

/// Takes that distance off the front of a record's data.
pub fn take_distance(mut data: &[u8]) -> Option<(u64, &[u8])> {
    let distance = crate::commit::get(&mut data)?;
    Some((distance, data))
}

/// Appends a distance.
pub fn put_distance(out: &mut Vec<u8>, distance: u64) {
    put(out, distance);
}

impl Transaction {
    /// Logs the description of a table under the current (sub)transaction's xid, unless the transaction has done so: before each change of a row.
    pub fn describe(&self, xid: Xid, (database, table): (Oid, Oid), description: &Arc<[u8]>) {
        let top = self.top_xid_if_assigned().unwrap_or(xid);
        let mut slot = self.described.borrow_mut();
        let described = slot.get_or_insert_with(|| Box::new(Described { top, tables: Vec::new() }));
        if described.top != top {
            (described.top, described.tables) = (top, Vec::new());
        }
        let same = |known: &Arc<[u8]>| Arc::ptr_eq(known, description) || known == description;
        match described.tables.iter_mut().rev().find(|(oid, _)| *oid == table) {
            Some((_, known)) if same(known) => return,
            Some((_, known)) => *known = description.clone(),
            None => described.tables.push((table, description.clone())),
        }
        drop(slot);
        let mut data = Vec::with_capacity(description.len() + 2);
        put(&mut data, distance(self, xid));
        data.extend_from_slice(&database.0.to_le_bytes());
        data.extend_from_slice(description);
        self.system.log().insert(Rmgr::Logical, DESCRIBE, xid, &data);
    }

    /// Logs that tables were emptied.
    pub fn log_truncate(&self, xid: Xid, database: Oid, flags: u8, tables: &[Oid]) {
        let mut data = Vec::with_capacity(8 + 4 * tables.len());
        put(&mut data, distance(self, xid));
        data.extend_from_slice(&database.0.to_le_bytes());
        data.push(flags);
        tables.iter().for_each(|table| data.extend_from_slice(&table.0.to_le_bytes()));
        self.system.log().insert(Rmgr::Logical, TRUNCATE, xid, &data);
    }

    /// Logs a message; returns the end of its record. `xid`: it goes with that transaction.
    pub fn log_message(&self, xid: Option<Xid>, database: Oid, prefix: &str, contents: &[u8]) -> Lsn {
        let mut data = Vec::with_capacity(16 + prefix.len() + contents.len());
        put(&mut data, xid.map_or(0, |xid| distance(self, xid)));
        data.extend_from_slice(&database.0.to_le_bytes());
        data.push(u8::from(xid.is_some()));
        data.extend_from_slice(&(prefix.len() as u32).to_le_bytes());
        data.extend_from_slice(prefix.as_bytes());
        data.extend_from_slice(contents);
        self.system.log().insert(Rmgr::Logical, MESSAGE, xid.unwrap_or(Xid::INVALID), &data)
    }
}

impl TxnSystem {
    /// A position of the log, which is not yet on disk, and the snapshot that sees exactly what committed before it.
    pub fn consistent_point(&self) -> (Lsn, Snapshot) {
        let turn = Turn::enter(self);
        let lsn = self.log().insert(Rmgr::Logical, POINT, Xid::INVALID, &[0]);
        turn.inserted(lsn);
        turn.wait();
        (lsn, self.snapshot())
    }

    /// Waits until every transaction has ended that has an xid now.
    pub fn wait_for_running(&self, session: crate::SessionId) -> Result<(), crate::TxnError> {
        // Not those of a snapshot: one that is reused does not name who has begun since.
        for (xid, _) in self.running().list() {
            self.wait_for(session, xid, crate::LockTimeouts::default())?;
        }
        Ok(())
    }
}
