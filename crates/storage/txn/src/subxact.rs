//! What · The way from a subtransaction's xid to its top level (thread 4), with no cap and no overflow.
//!
//! Layout · Chunks of one word for each xid, allocated when the first subtransaction of a chunk gets its xid: the top-level
//! xid, bit 63 for *aborted*, 0 for an xid that is no subtransaction. A table of chunks is replaced as a whole when a
//! chunk comes or goes; readers take it without a lock.
//!
//! Invariants
//! 1. A parent's xid is smaller than its child's: the top level is the smallest of its tree.
//! 2. An entry is stored before its xid is written anywhere, and the aborted bit only after the commit log says so.
//! 3. Entries below the oldest xid that any snapshot or running transaction may ask about are freed, whenever a horizon is computed and
//!    whenever a chunk is allocated. A freed entry reads as "no subtransaction", and the xid itself then is below every `xmin`:
//!    completed, which is right.
//! 4. The top level is stored at once, not the parent: a chain of a million savepoints is as fast as one.
//!
//! Locks · `growing`, a short mutex, for allocating and freeing chunks.
//!
//! WAL and crash · Nothing here is durable: after a crash no subtransaction runs.
//!
//! PostgreSQL counterpart · `pg_subtrans` and the PGPROC subxid caches. Differences: in memory only, one step instead of a
//! walk over parents, and no limit of 64 beyond which all sessions become slower.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use base::Xid;

use super::sync::Mutex;

/// xids for each chunk: 256 KiB.
const CHUNK: u64 = 1 << 15;
const ABORTED: u64 = 1 << 63;

type Chunk = Box<[AtomicU64]>;

/// Consecutive chunks from number `first` on.
struct Table {
    first: u64,
    chunks: Vec<Option<Arc<Chunk>>>,
}

impl Table {
    fn chunk(&self, number: u64) -> Option<&Arc<Chunk>> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.chunks.get(at)?.as_ref()
    }
}

/// What the map says of an xid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// No subtransaction that could still matter: top level, or long ended.
    Top,
    /// Live or committed subtransaction of this top-level xid.
    Child(Xid),
    /// Rolled-back subtransaction of this top-level xid.
    AbortedChild(Xid),
}

/// Parents of subtransactions.
pub struct SubxactMap {
    table: ArcSwap<Table>,
    /// Greatest subtransaction xid ever entered: above it nothing needs to be looked up.
    newest: AtomicU64,
    growing: Mutex<()>,
}

impl Default for SubxactMap {
    fn default() -> SubxactMap {
        SubxactMap {
            table: ArcSwap::from_pointee(Table { first: 0, chunks: Vec::new() }),
            newest: AtomicU64::new(0),
            growing: Mutex::new(()),
        }
    }
}

impl SubxactMap {
    /// Enters a new subtransaction of `top`. Whether a chunk was allocated for it.
    pub fn insert(&self, child: Xid, top: Xid) -> bool {
        debug_assert!(top.is_normal() && top < child, "invariant 1");
        let word = |table: &Table| {
            let chunk = table.chunk(child.0 / CHUNK)?;
            // Release: partner of the Acquire in `family`.
            chunk[(child.0 % CHUNK) as usize].store(top.0, Ordering::Release);
            Some(())
        };
        let grows = word(&self.table.load()).is_none();
        if grows {
            self.grow(child.0 / CHUNK);
            let stored = word(&self.table.load());
            debug_assert!(stored.is_some(), "chunk was just made");
        }
        self.newest.fetch_max(child.0, Ordering::Release);
        grows
    }

    fn grow(&self, number: u64) {
        let _growing = self.growing.lock();
        let old = self.table.load();
        if old.chunk(number).is_some() {
            return;
        }
        let mut table = Table { first: old.first, chunks: old.chunks.clone() };
        if table.chunks.is_empty() {
            table.first = number;
        }
        // An older xid can come late: assigned before, entered after a younger one's chunk.
        while number < table.first {
            table.chunks.insert(0, None);
            table.first -= 1;
        }
        let at = (number - table.first) as usize;
        if table.chunks.len() <= at {
            table.chunks.resize(at + 1, None);
        }
        let chunk: Chunk = std::iter::repeat_with(|| AtomicU64::new(0)).take(CHUNK as usize).collect();
        table.chunks[at] = Some(Arc::new(chunk));
        self.table.store(Arc::new(table));
    }

    /// What `xid` is.
    #[inline]
    pub fn family(&self, xid: Xid) -> Family {
        if xid.0 > self.newest.load(Ordering::Acquire) {
            return Family::Top;
        }
        self.look_up(xid)
    }

    fn look_up(&self, xid: Xid) -> Family {
        let table = self.table.load();
        let Some(chunk) = table.chunk(xid.0 / CHUNK) else { return Family::Top };
        match chunk[(xid.0 % CHUNK) as usize].load(Ordering::Acquire) {
            0 => Family::Top,
            word if word & ABORTED != 0 => Family::AbortedChild(Xid(word & !ABORTED)),
            word => Family::Child(Xid(word)),
        }
    }

    /// Marks subtransactions rolled back, after the commit log did.
    pub fn mark_aborted(&self, children: &[Xid]) {
        let table = self.table.load();
        for child in children {
            if let Some(chunk) = table.chunk(child.0 / CHUNK) {
                chunk[(child.0 % CHUNK) as usize].fetch_or(ABORTED, Ordering::AcqRel);
            }
        }
    }

    /// Frees whole chunks below `horizon`, which are never looked up any more.
    pub fn free_before(&self, horizon: Xid) {
        let keep = horizon.0 / CHUNK;
        let nothing = |table: &Table| keep <= table.first || table.chunks.is_empty();
        if nothing(&self.table.load()) {
            return;
        }
        let _growing = self.growing.lock();
        let old = self.table.load();
        if nothing(&old) {
            return;
        }
        let drop = ((keep - old.first) as usize).min(old.chunks.len());
        let chunks = old.chunks[drop..].to_vec();
        self.table.store(Arc::new(Table { first: old.first + drop as u64, chunks }));
    }

    /// Chunks in memory.
    pub fn chunks(&self) -> usize {
        self.table.load().chunks.iter().flatten().count()
    }
}
