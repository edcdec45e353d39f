//! What · Records of `Rmgr::Standby`: what who replays the log beside sessions must know that pages do not tell.
//!
//! Layout · [`REMOVED`]: `limit: u64`. [`CUT`]: database, relation, then tablespace, database and number of its file, five `u32`.
//!
//! PostgreSQL counterpart · The horizons in records that remove rows, `XLOG_STANDBY_LOCK`. Differences: a horizon has a record of its own, once for each new one,
//! whatever is removed; of locks only those are told that a cut of a file needs, and commits have theirs ([`commit`]).

use base::{Oid, RelFile, Xid};
use wal::{Record, Rmgr};

use crate::LockTag;
use crate::commit;

/// Rows go, or are shown to all, that a snapshot needs otherwise which does not see this xid as ended, or an older one.
pub const REMOVED: u8 = 0;
/// The file of a relation is cut; the record of that follows.
pub const CUT: u8 = 1;

/// With whom a record conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Snapshots that do not see this xid as ended.
    Snapshots(Xid),
    /// Who has locked one of these, and who is in one of these databases.
    Commit {
        /// Relations that a transaction had taken from all others.
        locks: Vec<LockTag>,
        /// Databases that it dropped.
        databases: Vec<Oid>,
    },
    /// Who has locked this, until its file is cut.
    Cut(LockTag, RelFile),
}

/// The data of a record of [`CUT`].
pub fn encode_cut(tag: (Oid, Oid), file: RelFile) -> Vec<u8> {
    let numbers = [tag.0.0, tag.1.0, file.tablespace.0, file.database.0, file.number];
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(crate) fn decode_cut(data: &[u8]) -> Option<Conflict> {
    let number = |at: usize| data.get(4 * at..4 * at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let tag = LockTag::Relation { database: Oid(number(0)?), relation: Oid(number(1)?) };
    let file = RelFile { tablespace: Oid(number(2)?), database: Oid(number(3)?), number: number(4)? };
    Some(Conflict::Cut(tag, file))
}

/// What a record conflicts with.
pub fn conflict_of<B: std::ops::Deref<Target = [u8]>>(record: &Record<B>) -> Option<Conflict> {
    match (record.rmgr, record.info) {
        (Rmgr::Standby, REMOVED) => {
            let limit = record.data().try_into().map(u64::from_le_bytes).ok()?;
            Some(Conflict::Snapshots(Xid(limit)))
        }
        (Rmgr::Standby, CUT) => decode_cut(record.data()),
        (Rmgr::Xact, commit::info::COMMIT | commit::info::COMMIT_PREPARED) => {
            let end = commit::decode(record.xid, record.data())?;
            let tag = |(database, relation)| LockTag::Relation { database, relation };
            let locks: Vec<LockTag> = end.locks.into_iter().map(tag).collect();
            let whole = end.files.iter().filter(|file| file.is_whole_database());
            let databases: Vec<Oid> = whole.map(|file| file.database).collect();
            let conflicts = !locks.is_empty() || !databases.is_empty();
            conflicts.then_some(Conflict::Commit { locks, databases })
        }
        _ => None,
    }
}
