//! Replay of the B-tree's WAL records, and their description.

use buffer::BufferPool;
use wal::Record;

use crate::BtreeResult;

/// Replays one record of [`wal::Rmgr::Btree`].
pub fn redo(pool: &BufferPool, record: &Record) -> BtreeResult<()> {
    let _ = (pool, record);
    todo!()
}

/// Name of the action and its details, as `pg_waldump` shows them.
pub fn describe(record: &Record) -> (&'static str, String) {
    let _ = record;
    todo!()
}
