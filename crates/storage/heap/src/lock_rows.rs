//! # What
//! Locks on several rows of one page: judged one after the other under one latch, and logged by one record.
//!
//! It takes those rows only that are to be had for nothing: nobody is in the way, and nobody has changed them. At the first other one it
//! stops, so that rows are locked in the order in which they are asked for; that one is for [`crate::lock_tuple`], and whoever asks comes back
//! with the rest.
//!
//! # What is known
//! A transaction that locks many rows meets the same holders again and again. Once it has found out what they leave to it, a row that they
//! hold costs a look at [`KnownHolders`]: neither the set nor the running transactions are asked, and no new set is made. So there are fewer
//! sets to be met by others too.
//!
//! # Invariants
//! 1. What is known of holders stays true as long as the same (sub)transaction asks for locks of the same strength, whichever row they hold: who was
//!    not in the way does not get there later, as only lockers with weak locks and those that have ended are not; a set never changes; and its own
//!    xids leave it only when the (sub)transaction itself is rolled back. Who has ended since may stay in a set.
//! 2. A set that is known was made by the writer, or grew from one on the page that is being locked: VACUUM relies on it ([`txn::truncation`]).
//!
//! # WAL and crash
//! [`info::LOCK_ROWS`], replayed by [`ops::lock_rows`], as it was done.
//!
//! # PostgreSQL counterpart and differences
//! None: there each row lock is a latch, a record and a look at the multixact of its own.

use base::{BlockNo, OffsetNo, Tid, Xid};
use buffer::ExclusivePage;
use page::LpFlags;
use rustc_hash::FxHashMap;
use txn::{LockStrength, MemberStatus};

use crate::error::HeapResult;
use crate::fetch::heap_tag;
use crate::header::{Bases, Header, infomask, infomask2, read_header};
use crate::lock::{combine, write_lock};
use crate::ops::{self, RowLock};
use crate::place::{make_fit, make_multi_fit};
use crate::records::{info, put_row_locks};
use crate::rel::{Access, HeapRel, Writer};
use crate::update::{Look, corrupt, look};
use crate::vm::{VmCursor, latch_covered};

/// Most holders that are remembered.
const KNOWN: usize = 16384;

/// What an `xmax` with its bits leaves to do for whoever asks for a lock.
#[derive(Clone, Copy)]
enum Verdict {
    /// Nothing: it has a lock that is strong enough.
    Mine,
    /// The lock may be had, and this is what the header is to say then.
    Free(RowLock),
}

/// What a transaction has found out about those who hold the rows that it locks. The session owns it beside its [`txn::Transaction`].
#[derive(Default)]
pub struct KnownHolders {
    /// Who asks, and for what.
    asks: Option<(Xid, LockStrength)>,
    verdicts: FxHashMap<(Xid, u32), Verdict>,
}

/// What of a header says who holds the version.
fn key(header: &Header) -> (Xid, u32) {
    let (bits, bits2) = (header.infomask & infomask::XMAX_BITS, header.infomask2 & infomask2::XMAX_BITS);
    (header.raw_xmax, u32::from(bits) << 16 | u32::from(bits2))
}

impl KnownHolders {
    /// Nothing known.
    pub fn new() -> KnownHolders {
        KnownHolders::default()
    }

    /// The transaction has ended: nothing is kept, nor the memory for it.
    #[inline]
    pub fn forget(&mut self) {
        if self.asks.is_some() {
            *self = KnownHolders::default();
        }
    }

    fn serve(&mut self, xid: Xid, strength: LockStrength) {
        if self.asks != Some((xid, strength)) || self.verdicts.len() >= KNOWN {
            self.asks = Some((xid, strength));
            self.verdicts.clear();
        }
    }
}

/// The locking of rows of one latched page.
struct PageLocker<'a, 'w> {
    access: &'a Access<'a>,
    rel: &'a HeapRel,
    writer: &'a Writer<'w>,
    strength: LockStrength,
}

/// Locks the versions at these places of a page as [`crate::lock_tuple`] does for [`crate::Wanted::Seen`], in this order, up to the first that cannot be
/// had without more ado. Returns how many it locked, or had.
pub fn lock_rows(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    (block, places): (BlockNo, &[OffsetNo]),
    strength: LockStrength,
    known: &mut KnownHolders,
) -> HeapResult<usize> {
    access.pool.admit(rel.desc.persistence)?;
    known.serve(writer.xid, strength);
    let mut map = VmCursor::default();
    let pin = access.pool.read(heap_tag(rel, block))?;
    let mut page = latch_covered(access, rel, &pin, &mut map)?;
    make_fit(access, rel, &mut page, writer.xid)?;
    let locker = PageLocker { access, rel, writer, strength };
    let mut locks = Vec::with_capacity(places.len());
    let mut done = 0;
    for &offset in places {
        match locker.verdict(&mut page, Tid::new(block, offset), known)? {
            None => break,
            Some(Verdict::Mine) => {}
            Some(Verdict::Free(lock)) => locks.push((lock, offset)),
        }
        done += 1;
    }
    if locks.is_empty() || locker.write(&mut page, &map, block, &mut locks)? { Ok(done) } else { Ok(0) }
}

impl PageLocker<'_, '_> {
    /// What is to be done with a version; `None` if more than a lock is, or somebody is in the way.
    fn verdict(
        &self,
        page: &mut ExclusivePage<'_>,
        tid: Tid,
        known: &mut KnownHolders,
    ) -> HeapResult<Option<Verdict>> {
        if page::line_pointer(page, tid.offset).is_none_or(|lp| lp.flags != LpFlags::Normal) {
            return Ok(None);
        }
        let Some(header) = read_header(page, tid.offset) else { return Ok(None) };
        let key = key(&header);
        if header.xmin_hinted_committed()
            && let Some(verdict) = known.verdicts.get(&key)
        {
            return Ok(Some(*verdict));
        }
        let (access, writer) = (self.access, self.writer);
        let found = look(access, self.rel, writer, page, tid, self.strength)?;
        let Look::Free { mut header, mine, updated: None } = found else { return Ok(None) };
        let verdict = if mine >= Some(self.strength) {
            Verdict::Mine
        } else {
            let status = MemberStatus::Locked(self.strength);
            match combine(access, writer, page, tid, &mut header, status)?.lock() {
                Some(lock) => Verdict::Free(lock),
                None => return Ok(None),
            }
        };
        known.verdicts.insert(key, verdict);
        Ok(Some(verdict))
    }

    /// Stamps and logs the locks; false, with nothing done, if the page cannot hold them all at once.
    fn write(
        &self,
        page: &mut ExclusivePage<'_>,
        map: &VmCursor,
        block: BlockNo,
        locks: &mut [(RowLock, OffsetNo)],
    ) -> HeapResult<bool> {
        locks.sort_unstable();
        for alike in locks.chunk_by(|a, b| a.0 == b.0) {
            let lock = alike[0].0;
            if lock.infomask & infomask::XMAX_IS_MULTI != 0 {
                make_multi_fit(self.access, self.rel, page, base::MultiXactId(lock.xmax.0))?;
            }
        }
        let bases = Bases::of(page);
        if !locks.iter().all(|(lock, _)| bases.fits_xmax(lock.xmax, lock.infomask)) {
            return Ok(false);
        }
        let mut log = Vec::with_capacity(32 + 2 * locks.len());
        put_row_locks(&mut log, locks);
        let change = |page: &mut page::PageBytes| ops::lock_rows(page, block, locks);
        write_lock(self.access, self.rel, self.writer, (page, map), (info::LOCK_ROWS, &log), change)
            .map_err(|_| corrupt(self.rel, Tid::new(block, locks[0].1), "tuple cannot be locked"))?;
        Ok(true)
    }
}
