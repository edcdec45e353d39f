//! What a stretch of the log has changed: blocks, and from which block on a fork is not what it was.

use std::collections::BTreeMap;
use std::ops::Range;

use base::{BlockNo, Fork, Oid, RelFile};
use txn::commit;
use wal::{Record, Rmgr};

use crate::changes::BlockSet;
use crate::xlog::{self, DatabaseChange, FileChange};

/// What has become of a fork.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForkChanges {
    /// What was in this block and those behind it before the stretch of the log is of no use: the fork was shorter once, was made, or was dropped.
    pub limit: Option<BlockNo>,
    /// Blocks that were changed since then.
    pub blocks: BlockSet,
}

/// What has become of all forks. A relation file that stands for a whole database has a limit of 0: nothing of that database is what it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTable {
    forks: BTreeMap<(RelFile, Fork), ForkChanges>,
}

/// A record does not say what its kind says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl BlockTable {
    /// Notes what a record changes.
    ///
    /// A cut of a relation cuts its maps too, by as much as their layout says; here they count as cut to nothing.
    pub(super) fn note(&mut self, record: &Record) -> Result<(), Malformed> {
        match (record.rmgr, record.info) {
            (Rmgr::Smgr, _) => match xlog::as_file_change(record).ok_or(Malformed)? {
                FileChange::Create(rel, fork) => self.cut(rel, fork, BlockNo(0)),
                FileChange::Truncate(rel, pages) => {
                    self.cut(rel, Fork::Main, BlockNo(pages));
                    self.cut(rel, Fork::Vm, BlockNo(0));
                }
            },
            (Rmgr::Database, _) => match xlog::as_database_change(record).ok_or(Malformed)? {
                DatabaseChange::CreateLogged { database, home, .. }
                | DatabaseChange::CreateCopied { database, home, .. } => {
                    self.drop_files(RelFile::whole_database(home, database));
                }
            },
            (
                Rmgr::Xact,
                commit::info::COMMIT
                | commit::info::ABORT
                | commit::info::COMMIT_PREPARED
                | commit::info::ABORT_PREPARED,
            ) => {
                let end = commit::decode(record.xid, record.data()).ok_or(Malformed)?;
                end.files.into_iter().for_each(|rel| self.drop_files(rel));
            }
            _ => {}
        }
        for block in record.blocks() {
            self.insert(block.rel, block.fork, block.block);
        }
        Ok(())
    }

    fn drop_files(&mut self, rel: RelFile) {
        if rel.is_whole_tablespace() {
            return;
        }
        if rel.is_whole_database() {
            return self.cut(rel, Fork::Main, BlockNo(0));
        }
        for fork in [Fork::Main, Fork::Vm, Fork::Init] {
            self.cut(rel, fork, BlockNo(0));
        }
    }

    /// Adds a changed block.
    pub fn insert(&mut self, rel: RelFile, fork: Fork, block: BlockNo) {
        self.forks.entry((rel, fork)).or_default().blocks.insert(block);
    }

    /// Adds changed blocks.
    pub(super) fn insert_range(&mut self, rel: RelFile, fork: Fork, blocks: Range<BlockNo>) {
        self.forks.entry((rel, fork)).or_default().blocks.insert_range(blocks);
    }

    /// The fork is as new from a block on.
    pub fn cut(&mut self, rel: RelFile, fork: Fork, limit: BlockNo) {
        let changes = self.forks.entry((rel, fork)).or_default();
        changes.blocks.cut(limit);
        changes.limit = Some(changes.limit.map_or(limit, |old| old.min(limit)));
    }

    /// Adds what has changed in a later stretch of the log.
    pub fn add(&mut self, later: &BlockTable) {
        for (rel, fork, changes) in later.forks() {
            if let Some(limit) = changes.limit {
                self.cut(rel, fork, limit);
            }
            changes.blocks.iter().for_each(|block| self.insert(rel, fork, block));
        }
    }

    /// What has become of a fork; none if nothing has.
    pub fn get(&self, rel: RelFile, fork: Fork) -> Option<&ForkChanges> {
        self.forks.get(&(rel, fork))
    }

    /// Whether a database was made or dropped, in whichever tablespace.
    pub fn has_database(&self, database: Oid) -> bool {
        let whole = |(rel, _): &&(RelFile, Fork)| rel.is_whole_database() && rel.database == database;
        self.forks.keys().any(|key| whole(&key))
    }

    /// All forks that something has become of, in order.
    pub fn forks(&self) -> impl Iterator<Item = (RelFile, Fork, &ForkChanges)> {
        self.forks.iter().map(|(&(rel, fork), changes)| (rel, fork, changes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REL: RelFile = RelFile { tablespace: Oid::PG_DEFAULT, database: Oid(5), number: 7 };

    fn blocks(table: &BlockTable) -> Vec<u32> {
        table.get(REL, Fork::Main).unwrap().blocks.iter().map(|block| block.0).collect()
    }

    #[test]
    fn what_comes_behind_a_cut_counts() {
        let mut table = BlockTable::default();
        [1, 5, 9].into_iter().for_each(|block| table.insert(REL, Fork::Main, BlockNo(block)));
        table.cut(REL, Fork::Main, BlockNo(5));
        table.insert(REL, Fork::Main, BlockNo(8));
        table.cut(REL, Fork::Main, BlockNo(7));
        table.insert(REL, Fork::Main, BlockNo(7));
        assert_eq!(table.get(REL, Fork::Main).unwrap().limit, Some(BlockNo(5)));
        assert_eq!(blocks(&table), [1, 7]);

        let mut earlier = BlockTable::default();
        [2, 5, 100].into_iter().for_each(|block| earlier.insert(REL, Fork::Main, BlockNo(block)));
        earlier.add(&table);
        assert_eq!(blocks(&earlier), [1, 2, 7]);
        assert_eq!(earlier.get(REL, Fork::Main).unwrap().limit, Some(BlockNo(5)));
    }

    #[test]
    fn a_database_is_found_by_its_number() {
        let mut table = BlockTable::default();
        table.insert(REL, Fork::Main, BlockNo(0));
        assert!(!table.has_database(Oid(5)));
        table.drop_files(RelFile::whole_database(Oid(1663), Oid(5)));
        assert!(table.has_database(Oid(5)) && !table.has_database(Oid(6)));
    }
}
