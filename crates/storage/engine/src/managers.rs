//! The table of the log's resource managers: recovery and `waldump` find here whose a record is, and nowhere else. A new manager, such as that of an
//! index access method, is a number and a name in [`wal::Rmgr`], and a line here.

use wal::{Record, ResourceManager, Rmgr};

use crate::sequence;
use crate::xlog::Describe;

/// What records do beside changing pages, in the one pass that recovery makes over the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Nothing.
    Nothing,
    /// They move on the counters of a checkpoint, and that of OIDs.
    Counters,
    /// They make and cut files.
    Files,
    /// They change what is known of transactions.
    Transactions,
    /// They make databases.
    Databases,
    /// They make tablespaces.
    Tablespaces,
}

/// A manager whose pages come as images only.
const fn images(id: Rmgr) -> ResourceManager {
    ResourceManager { id, redo_block: None, describe: &Describe }
}

const fn transactions(id: Rmgr) -> ResourceManager {
    ResourceManager { id, redo_block: None, describe: &txn::XactDescribe }
}

/// All managers, in order of their numbers.
const MANAGERS: &[(ResourceManager, Beside); Rmgr::ALL.len()] = &[
    (images(Rmgr::Xlog), Beside::Counters),
    (transactions(Rmgr::Xact), Beside::Transactions),
    (images(Rmgr::Smgr), Beside::Files),
    (transactions(Rmgr::Clog), Beside::Transactions),
    (heap::redo::MANAGER, Beside::Nothing),
    (<btree::BtreeRel as index::IndexAccessMethod>::MANAGER, Beside::Nothing),
    (transactions(Rmgr::Multixact), Beside::Transactions),
    (sequence::MANAGER, Beside::Nothing),
    (transactions(Rmgr::Standby), Beside::Transactions),
    (images(Rmgr::Database), Beside::Databases),
    (<gist::GistRel as index::IndexAccessMethod>::MANAGER, Beside::Nothing),
    (<hash::HashRel as index::IndexAccessMethod>::MANAGER, Beside::Nothing),
    (<gin::GinRel as index::IndexAccessMethod>::MANAGER, Beside::Nothing),
    (<brin::BrinRel as index::IndexAccessMethod>::MANAGER, Beside::Nothing),
    (<hnsw::HnswRel as index::IndexAccessMethod>::MANAGER, Beside::Nothing),
    (<spgist::SpgistRel as index::IndexAccessMethod>::MANAGER, Beside::Nothing),
    (<ivfflat::IvfflatRel as index::IndexAccessMethod>::MANAGER, Beside::Nothing),
    (images(Rmgr::Tablespace), Beside::Tablespaces),
    (transactions(Rmgr::Logical), Beside::Nothing),
];

// A manager is found by its number.
const _: () = {
    let mut i = 0;
    while i < MANAGERS.len() {
        assert!(MANAGERS[i].0.id as usize == i);
        i += 1;
    }
};

/// Who wrote records of this number.
#[inline]
pub(crate) fn manager(id: Rmgr) -> &'static ResourceManager {
    &MANAGERS[id as usize].0
}

/// What they do beside changing pages.
#[inline]
pub(crate) fn beside(id: Rmgr) -> Beside {
    MANAGERS[id as usize].1
}

/// Kind and contents of a record, as `waldump` shows them.
pub fn describe(record: &Record) -> (&'static str, String) {
    let describer = manager(record.rmgr).describe;
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = describer.describe(record, &mut text);
    (describer.name(record), text)
}
