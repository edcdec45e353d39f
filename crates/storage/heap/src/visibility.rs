//! # What
//! Who sees which row version: the MVCC rule, "dirty" visibility for unique checks, what a writer may do with a version, and what VACUUM
//! and pruning may remove.
//!
//! # Invariants
//! 1. Whether `xid` is still running is asked before whether it committed: the running set is left only after the commit log knows. Where a
//!    snapshot is asked, it takes that part.
//! 2. A "committed" hint is set only when the commit record is on disk ([`TxnSystem::may_hint_committed`]); else a crash could lose
//!    the commit and keep the hint.
//! 3. Rows of aborted subtransactions of the running transaction are as dead as any (thread 4): the commit log says so and nobody asks
//!    the snapshot, which is older.
//! 4. The end of an `xmax` that stands over an ancestor's lock ([`infomask::XMAX_OVER_LOCK`]) is not hinted before its top level has ended.
//!
//! # Locks
//! Callers hold at least the page's shared latch; hints are set under it.
//!
//! # PostgreSQL counterpart and differences
//! `heapam_visibility.c`.

use base::{CommandId, OffsetNo, PAGE_SIZE, Xid};
use buffer::{ExclusivePage, SharedPage};
use page::PageBytes;
use txn::subxact::Family;
use txn::{RelKind, Transaction, TxnSystem, XidStatus};

use crate::combo::ComboCids;
use crate::error::HeapResult;
use crate::header::{Header, INFOMASK, infomask};
use crate::rel::View;

/// A page whose hints may be set, under whatever latch.
pub(crate) trait Hintable {
    fn page(&self) -> &PageBytes;
    fn set_hint(&mut self, offset: usize, bits: u16);
}

impl Hintable for &SharedPage<'_> {
    #[inline]
    fn page(&self) -> &PageBytes {
        self
    }
    fn set_hint(&mut self, offset: usize, bits: u16) {
        SharedPage::set_hint(self, offset, bits);
    }
}

impl Hintable for &mut ExclusivePage<'_> {
    #[inline]
    fn page(&self) -> &PageBytes {
        self
    }
    fn set_hint(&mut self, offset: usize, bits: u16) {
        debug_assert!(offset + 2 <= PAGE_SIZE);
        let old = u16::from_le_bytes([self[offset], self[offset + 1]]);
        self[offset..offset + 2].copy_from_slice(&(old | bits).to_le_bytes());
        self.mark_dirty_hint();
    }
}

/// One tuple on a latched page, being judged.
pub(crate) struct Judge<'a, P: Hintable> {
    pub txns: &'a TxnSystem,
    pub page: P,
}

impl<P: Hintable> Judge<'_, P> {
    fn hint(&mut self, n: OffsetNo, header: &mut Header, bits: u16) {
        header.infomask |= bits;
        if let Some(lp) = page::line_pointer(self.page.page(), n).filter(|lp| lp.has_item()) {
            self.page.set_hint(lp.offset as usize + INFOMASK, bits);
        }
    }

    fn hint_committed(&mut self, n: OffsetNo, header: &mut Header, xid: Xid, bits: u16) {
        if self.txns.may_hint_committed(xid) {
            self.hint(n, header, bits);
        }
    }

    /// Fate of an inserter, with the hints' help; `running` says whether it counts as still running.
    fn xmin_status(
        &mut self,
        n: OffsetNo,
        header: &mut Header,
        running: impl FnOnce(Xid) -> bool,
    ) -> HeapResult<XidStatus> {
        if header.xmin_hinted_committed() {
            return Ok(XidStatus::Committed);
        }
        let xmin = header.raw_xmin;
        if header.xmin_hinted_aborted() || !xmin.is_valid() {
            return Ok(XidStatus::Aborted);
        }
        if running(xmin) {
            return Ok(XidStatus::InProgress);
        }
        if self.txns.did_commit(xmin)? {
            self.hint_committed(n, header, xmin, infomask::XMIN_COMMITTED);
            return Ok(XidStatus::Committed);
        }
        self.hint(n, header, infomask::XMIN_INVALID);
        Ok(XidStatus::Aborted)
    }

    /// Fate of an `xmax` that is there and neither hinted nor only a lock.
    fn xmax_status(
        &mut self,
        n: OffsetNo,
        header: &mut Header,
        running: impl FnOnce(Xid) -> bool,
    ) -> HeapResult<XidStatus> {
        if header.xmax_invalid() {
            return Ok(XidStatus::Aborted);
        }
        let xmax = header.raw_xmax;
        if header.has(infomask::XMAX_COMMITTED) || !xmax.is_normal() {
            return Ok(XidStatus::Committed);
        }
        if running(xmax) {
            return Ok(XidStatus::InProgress);
        }
        if self.txns.did_commit(xmax)? {
            self.hint_committed(n, header, xmax, infomask::XMAX_COMMITTED);
            return Ok(XidStatus::Committed);
        }
        if self.lock_beneath(header).is_none() {
            self.hint(n, header, infomask::XMAX_INVALID);
        }
        Ok(XidStatus::Aborted)
    }

    /// The top level that still holds a row whose `xmax` was rolled back.
    fn lock_beneath(&self, header: &Header) -> Option<Xid> {
        if !header.has(infomask::XMAX_OVER_LOCK) {
            return None;
        }
        match self.txns.parents().family(header.raw_xmax) {
            Family::AbortedChild(top) => Some(top).filter(|&top| self.txns.is_in_progress(top)),
            _ => None,
        }
    }

    /// Present fate of the inserter.
    pub fn inserter(&mut self, n: OffsetNo, header: &mut Header) -> HeapResult<XidStatus> {
        let txns = self.txns;
        self.xmin_status(n, header, |xid| txns.is_in_progress(xid))
    }

    /// Present fate of the deleter or locker; "aborted" if there is none.
    pub fn deleter(&mut self, n: OffsetNo, header: &mut Header) -> HeapResult<XidStatus> {
        let txns = self.txns;
        self.xmax_status(n, header, |xid| txns.is_in_progress(xid))
    }

    /// The MVCC rule.
    #[inline]
    pub fn sees(&mut self, n: OffsetNo, header: &mut Header, view: &View<'_>) -> HeapResult<bool> {
        if !header.xmin_hinted_committed() {
            if header.xmin_hinted_aborted() {
                return Ok(false);
            }
            if view.me.is_mine(header.raw_xmin) {
                return self.sees_own(n, header, view);
            }
            let status = self.xmin_status(n, header, |xid| !view.snapshot.sees(xid))?;
            if status != XidStatus::Committed {
                return Ok(false);
            }
        } else if !header.xmin_frozen() && !view.snapshot.sees(header.raw_xmin) {
            return Ok(false);
        }
        self.not_deleted_for(n, header, view)
    }

    fn sees_own(&mut self, n: OffsetNo, header: &mut Header, view: &View<'_>) -> HeapResult<bool> {
        let (cmin, cmax) = cmin_cmax(header, view.combo);
        if cmin >= view.curcid {
            return Ok(false);
        }
        if header.xmax_invalid() || header.lock_only() {
            return Ok(true);
        }
        if !view.me.is_mine(header.raw_xmax) {
            // The deleting subtransaction aborted: nobody else could delete what only this transaction sees.
            self.hint(n, header, infomask::XMAX_INVALID);
            return Ok(true);
        }
        Ok(cmax >= view.curcid)
    }

    /// `xmin` is visible; is there an `xmax` that is visible too?
    #[inline]
    fn not_deleted_for(&mut self, n: OffsetNo, header: &mut Header, view: &View<'_>) -> HeapResult<bool> {
        if header.xmax_invalid() || header.lock_only() {
            return Ok(true);
        }
        if view.me.is_mine(header.raw_xmax) {
            return Ok(cmin_cmax(header, view.combo).1 >= view.curcid);
        }
        if header.has(infomask::XMAX_COMMITTED) && header.raw_xmax.is_normal() {
            return Ok(!view.snapshot.sees(header.raw_xmax));
        }
        let status = self.xmax_status(n, header, |xid| !view.snapshot.sees(xid))?;
        Ok(status != XidStatus::Committed)
    }

    /// Whether nobody sees the version now or later: then an index entry that leads only to such may be marked dead.
    pub fn surely_dead(&mut self, n: OffsetNo, header: &mut Header, kind: RelKind) -> HeapResult<bool> {
        let txns = self.txns;
        match self.xmin_status(n, header, |xid| txns.is_in_progress(xid))? {
            XidStatus::InProgress => return Ok(false),
            XidStatus::Aborted => return Ok(true),
            XidStatus::Committed => {}
        }
        if header.xmax_invalid() || header.lock_only() {
            return Ok(false);
        }
        let status = self.xmax_status(n, header, |xid| txns.is_in_progress(xid))?;
        Ok(status == XidStatus::Committed && is_removable(txns, kind, header.raw_xmax))
    }

    /// "Dirty" visibility: what would conflict with a new equal key.
    pub fn dirty(&mut self, n: OffsetNo, header: &mut Header, me: &Transaction) -> HeapResult<Dirty> {
        let txns = self.txns;
        if header.xmin_hinted_aborted() {
            return Ok(Dirty::Dead);
        }
        let own = !header.xmin_hinted_committed() && me.is_mine(header.raw_xmin);
        if !own {
            match self.xmin_status(n, header, |xid| txns.is_in_progress(xid))? {
                XidStatus::InProgress => return Ok(Dirty::InProgress(header.raw_xmin)),
                XidStatus::Aborted => return Ok(Dirty::Dead),
                XidStatus::Committed => {}
            }
        }
        if header.xmax_invalid() || header.lock_only() {
            return Ok(Dirty::Live);
        }
        if me.is_mine(header.raw_xmax) {
            return Ok(Dirty::Dead);
        }
        Ok(match self.xmax_status(n, header, |xid| txns.is_in_progress(xid))? {
            XidStatus::InProgress => Dirty::InProgress(header.raw_xmax),
            XidStatus::Aborted => Dirty::Live,
            XidStatus::Committed => Dirty::Dead,
        })
    }

    /// What a writer may do with a version. `curcid`: his command.
    pub fn for_update(
        &mut self,
        n: OffsetNo,
        header: &mut Header,
        me: &Transaction,
        combo: &ComboCids,
        curcid: CommandId,
    ) -> HeapResult<Writable> {
        let txns = self.txns;
        if !header.xmin_hinted_committed() {
            if header.xmin_hinted_aborted() {
                return Ok(Writable::Invisible);
            }
            if me.is_mine(header.raw_xmin) {
                return self.own_for_update(n, header, me, combo, curcid);
            }
            if self.xmin_status(n, header, |xid| txns.is_in_progress(xid))? != XidStatus::Committed {
                return Ok(Writable::Invisible);
            }
        }
        if header.xmax_invalid() {
            return Ok(Writable::Free);
        }
        if me.is_mine(header.raw_xmax) {
            if header.lock_only() {
                return Ok(Writable::LockedByMe);
            }
            let cmax = cmin_cmax(header, combo).1;
            return Ok(if cmax >= curcid { Writable::ByMe(cmax) } else { Writable::Invisible });
        }
        let status = self.xmax_status(n, header, |xid| txns.is_in_progress(xid))?;
        Ok(match status {
            XidStatus::InProgress => Writable::Busy(header.raw_xmax),
            XidStatus::Aborted => match self.lock_beneath(header) {
                Some(top) if me.is_mine(top) => Writable::LockedByMe,
                Some(top) => Writable::Busy(top),
                None => Writable::Free,
            },
            XidStatus::Committed if header.lock_only() => {
                self.hint(n, header, infomask::XMAX_INVALID);
                Writable::Free
            }
            XidStatus::Committed => Writable::Gone,
        })
    }

    fn own_for_update(
        &mut self,
        n: OffsetNo,
        header: &mut Header,
        me: &Transaction,
        combo: &ComboCids,
        curcid: CommandId,
    ) -> HeapResult<Writable> {
        let (cmin, cmax) = cmin_cmax(header, combo);
        if cmin >= curcid {
            return Ok(Writable::Invisible);
        }
        if header.xmax_invalid() {
            return Ok(Writable::Free);
        }
        if !me.is_mine(header.raw_xmax) {
            self.hint(n, header, infomask::XMAX_INVALID);
            return Ok(Writable::Free);
        }
        if header.lock_only() {
            return Ok(Writable::LockedByMe);
        }
        Ok(if cmax >= curcid { Writable::ByMe(cmax) } else { Writable::Invisible })
    }

    /// The state of a version for VACUUM and pruning, regardless of any snapshot. `Dead` means that the deleter committed (or the inserter
    /// aborted); whether somebody may still need it is up to the caller, by the xid.
    pub fn for_vacuum(&mut self, n: OffsetNo, header: &mut Header) -> HeapResult<Fate> {
        let txns = self.txns;
        match self.xmin_status(n, header, |xid| txns.is_in_progress(xid))? {
            XidStatus::InProgress => {
                // Deleted by its own inserter while that runs: it stays whatever becomes of it.
                let deleting = !header.xmax_invalid() && !header.lock_only();
                return Ok(if deleting { Fate::DeleteInProgress } else { Fate::InsertInProgress });
            }
            XidStatus::Aborted => return Ok(Fate::Dead(Xid::INVALID)),
            XidStatus::Committed => {}
        }
        if header.xmax_invalid() {
            return Ok(Fate::Live);
        }
        let status = self.xmax_status(n, header, |xid| txns.is_in_progress(xid))?;
        if header.lock_only() {
            if status == XidStatus::Committed {
                self.hint(n, header, infomask::XMAX_INVALID);
            }
            return Ok(Fate::Live);
        }
        Ok(match status {
            XidStatus::InProgress => Fate::DeleteInProgress,
            XidStatus::Aborted => Fate::Live,
            XidStatus::Committed => Fate::Dead(header.raw_xmax),
        })
    }
}

/// What [`Judge::dirty`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dirty {
    Live,
    InProgress(Xid),
    Dead,
}

/// What [`Judge::for_update`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writable {
    /// Nobody is in the way.
    Free,
    /// Only this transaction's own lock.
    LockedByMe,
    /// This transaction updated or deleted it in this command or a later one.
    ByMe(CommandId),
    /// Somebody else is updating, deleting or locking it.
    Busy(Xid),
    /// Updated or deleted by a committed transaction.
    Gone,
    /// Not there for this writer.
    Invisible,
}

/// What [`Judge::for_vacuum`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Live,
    InsertInProgress,
    DeleteInProgress,
    /// Deleted by this committed transaction; invalid if the inserter aborted.
    Dead(Xid),
}

/// Command ids of a version of this transaction.
pub(crate) fn cmin_cmax(header: &Header, combo: &ComboCids) -> (CommandId, CommandId) {
    if header.has(infomask::COMBO_CID) {
        combo.pair(header.cid)
    } else {
        (CommandId(header.cid), CommandId(header.cid))
    }
}

/// Whether nobody can need a version that `xmax` deleted (or whose inserter aborted).
#[inline]
pub(crate) fn is_removable(txns: &TxnSystem, kind: RelKind, xmax: Xid) -> bool {
    !xmax.is_normal() || txns.is_removable(kind, xmax)
}
