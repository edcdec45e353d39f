//! What the heap must know of a table, and of the transaction that acts on it.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::{BlockNo, CommandId, RelFile, Xid};
use buffer::{BufferPool, Persistence};
use tuple::RowLayout;
use tuple::varlena::Compression;
use txn::{RelKind, Serial, Snapshot, Transaction, TxnSystem, XidHolds};

use crate::combo::ComboCids;
use crate::logical::Logged;
use crate::shortcut::Shortcuts;
use crate::toast::ToastTable;

/// The server's shared parts that every operation needs.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// Pages.
    pub pool: &'a BufferPool,
    /// Transactions.
    pub txns: &'a TxnSystem,
}

/// Who looks, and what he may see. Cheap to build for each call.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Which transactions count as completed.
    pub snapshot: &'a Snapshot,
    /// Rows of this transaction's commands before this one are visible, those of this and later ones are not.
    pub curcid: CommandId,
    /// The transaction that looks.
    pub me: &'a Transaction,
    /// Its combo command ids.
    pub combo: &'a ComboCids,
}

/// Who writes.
#[derive(Clone, Copy)]
pub struct Writer<'a> {
    /// xid of the current (sub)transaction.
    pub xid: Xid,
    /// The command that writes.
    pub cid: CommandId,
    /// The transaction that writes.
    pub me: &'a Transaction,
    /// Its combo command ids.
    pub combo: &'a ComboCids,
    /// How large values of columns that name no method are compressed.
    pub compression: Compression,
    /// Counts rows of the TOAST table, if they are counted.
    pub chunks: Option<&'a Chunks>,
}

/// Rows of a TOAST table that a writer has written.
#[derive(Debug, Default)]
pub struct Chunks {
    /// Inserted.
    pub inserted: Cell<u32>,
    /// Deleted.
    pub deleted: Cell<u32>,
}

impl Chunks {
    /// Whether none was written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.inserted.get() | self.deleted.get() == 0
    }
}

impl Writer<'_> {
    /// A transaction whose xid does not hold back such relations must not write them (horizons' invariant 4), nor one that has an
    /// xid and did not tell that it logs.
    pub(crate) fn check(&self, rel: &HeapRel) {
        let waits = self.me.is_logged() || self.me.top_xid_if_assigned().is_none();
        debug_assert!(waits || !rel.is_logged(), "the commit would not wait for this change");
        let may = match self.me.holds() {
            XidHolds::Everything => true,
            XidHolds::Catalogs => rel.desc.kind != RelKind::Plain,
            XidHolds::Nothing => false,
        };
        debug_assert!(may, "a transaction that holds {:?} back writes {rel:?}", self.me.holds());
    }
}

/// Description of a table's storage, handed down from the catalog.
#[derive(Clone)]
pub struct HeapDesc {
    /// Its files.
    pub file: RelFile,
    /// Its columns, dropped ones included.
    pub layout: Arc<RowLayout>,
    /// Percentage of a page that INSERT fills; 100 is PostgreSQL's default.
    pub fillfactor: u8,
    /// What a crash may take.
    pub persistence: Persistence,
    /// Whose snapshots hold back removal.
    pub kind: RelKind,
    /// Where large values go; without one, rows that do not fit a page are refused.
    pub toast: Option<ToastTable>,
    /// What its records say to decoders of the log; none: nothing.
    pub logged: Option<Arc<Logged>>,
}

/// Inserters of different workers fill different pages.
const TARGETS: usize = 16;

/// An open table. Share it by `Arc`: it remembers where there was room.
pub struct HeapRel {
    /// The description.
    pub desc: HeapDesc,
    /// For each worker (modulo 16), the block it inserted into last; `u32::MAX` when unknown.
    targets: [AtomicU32; TARGETS],
    /// Who adds pages.
    pub(crate) extension: runtime::Mutex<()>,
    /// How many wait for their turn to do so.
    pub(crate) extending: AtomicU32,
    /// Dead versions that on-access pruning has removed and that were not counted yet.
    pruned: AtomicU32,
    pub(crate) shortcuts: Shortcuts,
}

impl HeapRel {
    /// Opens a table by its description. No I/O.
    pub fn new(desc: HeapDesc) -> HeapRel {
        let targets = [const { AtomicU32::new(u32::MAX) }; TARGETS];
        HeapRel {
            desc,
            targets,
            extension: runtime::Mutex::new(runtime::WaitEvent::Extend, ()),
            extending: AtomicU32::new(0),
            pruned: AtomicU32::new(0),
            shortcuts: Shortcuts::default(),
        }
    }

    /// Whether changes of the table are logged.
    pub fn is_logged(&self) -> bool {
        self.desc.persistence == Persistence::Permanent
    }

    /// For a serializable transaction whose reads and writes of the table are to be watched: not those of catalogs and temporary tables.
    #[inline]
    pub(crate) fn serial<'a>(&self, me: &'a Transaction) -> Option<Serial<'a>> {
        me.serializable().filter(|_| self.desc.kind == RelKind::Plain)
    }

    /// Dead versions have gone, line pointers and all.
    pub(crate) fn note_pruned(&self, versions: u32) {
        if versions > 0 {
            self.pruned.fetch_add(versions, Ordering::Relaxed);
        }
    }

    /// Dead versions that VACUUM will not find, as on-access pruning has removed them since this was last asked.
    #[inline]
    pub fn take_pruned(&self) -> u32 {
        match self.pruned.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.pruned.swap(0, Ordering::Relaxed),
        }
    }

    fn target(&self) -> &AtomicU32 {
        &self.targets[runtime::worker_index().unwrap_or(0) % TARGETS]
    }

    /// The block that this worker inserted into last.
    pub(crate) fn target_block(&self) -> Option<BlockNo> {
        // Relaxed: a stale block only costs a look at it.
        Some(BlockNo(self.target().load(Ordering::Relaxed))).filter(|&block| block != BlockNo::INVALID)
    }

    pub(crate) fn set_target_block(&self, block: BlockNo) {
        self.target().store(block.0, Ordering::Relaxed);
    }

    /// Forgets where there was room, as after the file was cut.
    pub fn forget_targets(&self) {
        for target in &self.targets {
            target.store(u32::MAX, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for HeapRel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeapRel").field("file", &self.desc.file).finish_non_exhaustive()
    }
}
