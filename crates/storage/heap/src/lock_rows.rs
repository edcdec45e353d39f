//! # What
//! Locks on several rows of one page: judged one after the other under one latch, and logged by one record.
//!
//! It locks only rows that need no waiting: no other transaction holds or has changed them. At the first other one it
//! stops, so that rows are locked in the order in which they are asked for; that one is for [`crate::lock_tuple`], and whoever asks comes back
//! with the rest. Who looks for rows by an index, and wants to lock all that he sees, finds and locks them in one go ([`fetch_and_lock_rows`]).
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
use crate::fetch::{FetchedRows, find_on, heap_tag};
use crate::header::{Bases, Header, infomask, infomask2, read_header};
use crate::lock::{combine, write_lock};
use crate::ops::{self, RowLock};
use crate::place::{make_fit, make_multi_fit};
use crate::prune::{looks_prunable, prune_opt};
use crate::records::{info, put_row_locks};
use crate::rel::{Access, HeapRel, View, Writer};
use crate::update::{Look, corrupt, look};
use crate::visibility::Judge;
use crate::vm::{VmCursor, latch_covered};

/// Most holders that are remembered.
const KNOWN: usize = 16384;

/// What an `xmax` with its bits means for a transaction that wants to lock the row.
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
    /// Empty between two calls: memory that is used again.
    locks: Vec<(RowLock, OffsetNo)>,
    log: Vec<u8>,
}

/// What of a header says who holds the version.
#[inline]
fn key(header: &Header) -> (Xid, u32) {
    (header.raw_xmax, bits_key(header.infomask, header.infomask2))
}

/// The bits of both masks that say what `xmax` is.
#[inline]
fn bits_key(infomask: u16, infomask2: u16) -> u32 {
    u32::from(infomask & infomask::XMAX_BITS) << 16 | u32::from(infomask2 & infomask2::XMAX_BITS)
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
        // What an error has left.
        self.locks.clear();
        self.log.clear();
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
    let mut done = 0;
    for &offset in places {
        let normal = page::line_pointer(&page, offset).is_some_and(|lp| lp.flags == LpFlags::Normal);
        let Some(header) = read_header(&page, offset).filter(|_| normal) else { break };
        if !locker.judge(&mut page, Tid::new(block, offset), &header, known)? {
            break;
        }
        done += 1;
    }
    Ok(if locker.write(&mut page, &map, block, known)? { done } else { 0 })
}

/// Does for several rows of a page what [`crate::fetch_rows`] does, and locks those that are visible, as [`lock_rows`] does. It ends with the first that it cannot
/// lock so: that is the last one of `out`, and not locked. If the locks do not fit the page all together, there are none in `out` at all. Versions are copied if
/// `copies` says so; the last one that is not locked is in any case. `map` is kept from page to page.
pub fn fetch_and_lock_rows(
    access: &Access<'_>,
    rel: &HeapRel,
    (view, writer): (&View<'_>, &Writer<'_>),
    (block, roots): (BlockNo, &[OffsetNo]),
    (strength, known): (LockStrength, &mut KnownHolders),
    map: &mut VmCursor,
    (out, copies): (&mut FetchedRows, bool),
) -> HeapResult<()> {
    access.pool.admit(rel.desc.persistence)?;
    known.serve(writer.xid, strength);
    let pin = access.pool.read(heap_tag(rel, block))?;
    let mut page = latch_covered(access, rel, &pin, map)?;
    let prunable = looks_prunable(access.txns, rel, &page);
    make_fit(access, rel, &mut page, writer.xid)?;
    out.begin(block, &page);
    let locker = PageLocker { access, rel, writer, strength };
    for &root in roots {
        let mut judge = Judge { txns: access.txns, page: &mut page };
        let (found, version) = find_on(access, rel, view, &mut judge, Tid::new(block, root))?;
        let Some((n, header)) = version else {
            out.push(found, 0, &[]);
            out.locked += 1;
            continue;
        };
        let locked = locker.judge(&mut page, Tid::new(block, n), &header, known)?;
        let bytes = page::item(&page, n).filter(|_| copies || !locked);
        out.push(found, n, bytes.unwrap_or_default());
        if !locked {
            break;
        }
        out.locked += 1;
    }
    if !locker.write(&mut page, map, block, known)? {
        out.clear();
    }
    drop(page);
    if prunable {
        prune_opt(access, rel, &pin)?;
    }
    Ok(())
}

impl PageLocker<'_, '_> {
    /// Plans the locking of a version; false if more than a plain lock is needed, or another transaction prevents it.
    #[inline]
    fn judge(
        &self,
        page: &mut ExclusivePage<'_>,
        tid: Tid,
        header: &Header,
        known: &mut KnownHolders,
    ) -> HeapResult<bool> {
        let verdict = match known.verdicts.get(&key(header)) {
            Some(verdict) if header.xmin_hinted_committed() => Some(*verdict),
            _ => self.find_out(page, tid, header, known)?,
        };
        if let Some(Verdict::Free(lock)) = verdict {
            known.locks.push((lock, tid.offset));
        }
        Ok(verdict.is_some())
    }

    /// What is to be done with a version whose holders are not known; `None` if more than a lock is, or somebody is in the way.
    fn find_out(
        &self,
        page: &mut ExclusivePage<'_>,
        tid: Tid,
        header: &Header,
        known: &mut KnownHolders,
    ) -> HeapResult<Option<Verdict>> {
        let key = key(header);
        let (access, writer) = (self.access, self.writer);
        let found = look(access, self.rel, writer, page, tid, self.strength)?;
        let Look::Free { mut header, mine, updated: None } = found else { return Ok(None) };
        let verdict = if mine >= Some(self.strength) {
            Verdict::Mine
        } else {
            let status = MemberStatus::Locked(self.strength);
            match combine(access, writer, page, tid, &mut header, status)?.lock() {
                Some(lock) => {
                    known
                        .verdicts
                        .insert((lock.xmax, bits_key(lock.infomask, lock.infomask2)), Verdict::Mine);
                    Verdict::Free(lock)
                }
                None => return Ok(None),
            }
        };
        known.verdicts.insert(key, verdict);
        Ok(Some(verdict))
    }

    /// Stamps and logs the locks that were noted; false, with nothing done, if the page cannot hold them all at once.
    fn write(
        &self,
        page: &mut ExclusivePage<'_>,
        map: &VmCursor,
        block: BlockNo,
        known: &mut KnownHolders,
    ) -> HeapResult<bool> {
        let KnownHolders { locks, log, .. } = known;
        if locks.is_empty() {
            return Ok(true);
        }
        locks.sort_unstable();
        for alike in locks.chunk_by(|a, b| a.0 == b.0) {
            let lock = alike[0].0;
            if lock.infomask & infomask::XMAX_IS_MULTI != 0 {
                make_multi_fit(self.access, self.rel, page, base::MultiXactId(lock.xmax.0))?;
            }
        }
        let bases = Bases::of(page);
        if !locks.iter().all(|(lock, _)| bases.fits_xmax(lock.xmax, lock.infomask)) {
            locks.clear();
            return Ok(false);
        }
        put_row_locks(log, locks);
        let change = |page: &mut page::PageBytes| ops::lock_rows(page, block, locks);
        write_lock(self.access, self.rel, self.writer, (page, map), (info::LOCK_ROWS, log), change)
            .map_err(|_| corrupt(self.rel, Tid::new(block, locks[0].1), "tuple cannot be locked"))?;
        locks.clear();
        log.clear();
        Ok(true)
    }
}
