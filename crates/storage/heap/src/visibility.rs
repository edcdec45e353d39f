//! # What
//! Who sees which row version, and who holds it: the MVCC rule, "dirty" visibility for unique checks, what a writer may do with a version, and what VACUUM
//! and pruning may remove.
//!
//! # Invariants
//! 1. Whether `xid` is still running is asked before whether it committed: the running set is left only after the commit log knows. Where a
//!    snapshot is asked, it takes that part.
//!    And it is asked once: what follows from the fate of those who hold a version follows from one answer ([`txn::Holder`]).
//! 2. A "committed" hint is set only when the commit record is on disk ([`TxnSystem::may_hint_committed`]); else a crash could lose
//!    the commit and keep the hint.
//! 3. A version is removed, or a page all-visible, only for commits that are durable ([`TxnSystem::is_early`]): later readers, who do not ask, would
//!    else answer with what a crash can take back.
//! 4. Rows of aborted subtransactions of the running transaction are as dead as any (thread 4): the commit log says so and nobody asks
//!    the snapshot, which is older.
//! 5. The end of an `xmax` that stands over an ancestor's lock ([`infomask::XMAX_OVER_LOCK`]) is not hinted before its top level has ended.
//!
//! # Locks
//! Callers hold at least the page's shared latch; hints are set under it.
//!
//! # PostgreSQL counterpart and differences
//! `heapam_visibility.c`.

use base::{CommandId, MultiXactId, OffsetNo, PAGE_SIZE, Xid};
use buffer::{ExclusivePage, SharedPage};
use page::PageBytes;
use txn::subxact::Family;
use txn::{
    Ending, Holder, LockStrength, Member, MemberStatus, RelKind, Transaction, TxnError, TxnSystem, XidStatus,
};

use crate::combo::ComboCids;
use crate::error::HeapResult;
use crate::header::{Header, INFOMASK, infomask};
use crate::rel::{View, Writer};

/// Members of a set that are looked at for the writer's own lock.
const RECENT_LOCKERS: u32 = 32;

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

    /// Hints that the inserter committed, of which another version on the page has just been hinted. Returns true.
    #[inline]
    pub fn hint_inserted(&mut self, n: OffsetNo, header: &mut Header) -> bool {
        self.hint(n, header, infomask::XMIN_COMMITTED);
        true
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
        match self.txns.ending(xmin)? {
            Ending::Committed => self.hint_committed(n, header, xmin, infomask::XMIN_COMMITTED),
            Ending::CommittedEarly => {}
            Ending::Aborted => {
                self.hint(n, header, infomask::XMIN_INVALID);
                return Ok(XidStatus::Aborted);
            }
        }
        Ok(XidStatus::Committed)
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
        let xmax = self.ender(header)?;
        if header.multi().is_some() {
            // What is known of one member is no hint about all.
            return Ok(match xmax.is_valid() {
                false => XidStatus::Aborted,
                true if running(xmax) => XidStatus::InProgress,
                true if self.txns.did_commit(xmax)? => XidStatus::Committed,
                true => XidStatus::Aborted,
            });
        }
        if header.has(infomask::XMAX_COMMITTED) || !xmax.is_normal() {
            return Ok(XidStatus::Committed);
        }
        if running(xmax) {
            return Ok(XidStatus::InProgress);
        }
        match self.txns.ending(xmax)? {
            Ending::Committed => self.hint_committed(n, header, xmax, infomask::XMAX_COMMITTED),
            Ending::CommittedEarly => {}
            Ending::Aborted => {
                if self.lock_beneath(header).is_none() {
                    self.hint(n, header, infomask::XMAX_INVALID);
                }
                return Ok(XidStatus::Aborted);
            }
        }
        Ok(XidStatus::Committed)
    }

    /// See [`ender`].
    #[inline]
    pub fn ender(&self, header: &Header) -> HeapResult<Xid> {
        ender(self.txns, header)
    }

    /// The top level's lock on a row beneath an `xmax` that is a subtransaction's.
    fn lock_beneath(&self, header: &Header) -> Option<Member> {
        let strength = header.lock_beneath()?;
        match self.txns.parents().family(header.raw_xmax) {
            Family::Child(top) | Family::AbortedChild(top) if self.txns.is_in_progress(top) => {
                Some(Member { xid: top, status: MemberStatus::Locked(strength) })
            }
            _ => None,
        }
    }

    /// Present fate of the inserter.
    pub fn inserter(&mut self, n: OffsetNo, header: &mut Header) -> HeapResult<XidStatus> {
        let txns = self.txns;
        self.xmin_status(n, header, |xid| txns.is_in_progress(xid))
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
        if !view.me.is_mine(self.ender(header)?) {
            // The deleting subtransaction aborted: no other transaction could delete what only this one sees.
            if header.multi().is_none() {
                self.hint(n, header, infomask::XMAX_INVALID);
            }
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
        let xmax = self.ender(header)?;
        if view.me.is_mine(xmax) {
            return Ok(cmin_cmax(header, view.combo).1 >= view.curcid);
        }
        if header.has(infomask::XMAX_COMMITTED) && xmax.is_normal() {
            return Ok(!view.snapshot.sees(xmax));
        }
        let status = self.xmax_status(n, header, |xid| !view.snapshot.sees(xid))?;
        Ok(status != XidStatus::Committed)
    }

    /// Whether no snapshot sees the version now or later: an index entry that leads only to such versions may be marked dead.
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
        Ok(status == XidStatus::Committed && is_removable(txns, kind, self.ender(header)?))
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
                // Taken back by who put it in: it is nothing, however that one ends.
                XidStatus::InProgress if self.is_taken_back(header)? => return Ok(Dirty::Dead),
                XidStatus::InProgress => return Ok(Dirty::InProgress(header.raw_xmin)),
                XidStatus::Aborted => return Ok(Dirty::Dead),
                XidStatus::Committed => {}
            }
        }
        if header.xmax_invalid() || header.lock_only() {
            return Ok(Dirty::Live);
        }
        let xmax = self.ender(header)?;
        if me.is_mine(xmax) {
            return Ok(Dirty::Dead);
        }
        Ok(match self.xmax_status(n, header, |xid| txns.is_in_progress(xid))? {
            XidStatus::InProgress => Dirty::InProgress(xmax),
            XidStatus::Aborted => Dirty::Live,
            XidStatus::Committed => Dirty::Dead,
        })
    }

    /// Whether the very (sub)transaction that made a version has ended it too.
    fn is_taken_back(&mut self, header: &Header) -> HeapResult<bool> {
        let ended = !header.xmax_invalid() && !header.lock_only();
        Ok(ended && self.ender(header)? == header.raw_xmin)
    }

    /// What a writer may do with a version. `curcid`: his command; `strength`: the lock that he needs.
    pub fn for_update(
        &mut self,
        n: OffsetNo,
        header: &mut Header,
        writer: &Writer<'_>,
        strength: LockStrength,
    ) -> HeapResult<Writable> {
        let txns = self.txns;
        if !header.xmin_hinted_committed() {
            if header.xmin_hinted_aborted() {
                return Ok(Writable::Invisible);
            }
            if writer.me.is_mine(header.raw_xmin) {
                if cmin_cmax(header, writer.combo).0 >= writer.cid {
                    return Ok(Writable::Invisible);
                }
            } else if self.xmin_status(n, header, |xid| txns.is_in_progress(xid))? != XidStatus::Committed {
                return Ok(Writable::Invisible);
            }
        }
        self.beside_holders(n, header, writer, strength)
    }

    /// What a writer may do with a version, given the transactions that have updated or locked it; its inserter is not considered.
    pub fn beside_holders(
        &mut self,
        n: OffsetNo,
        header: &mut Header,
        writer: &Writer<'_>,
        strength: LockStrength,
    ) -> HeapResult<Writable> {
        let (mut mine, mut busy, mut updated) = (None, None, None);
        if header.xmax_invalid() {
            return Ok(Writable::Free { mine, updated });
        }
        if let Some(multi) = header.multi()
            && !header.xmax_status().strength().conflicts(strength)
        {
            let updater = self.ender(header)?;
            if !writer.me.is_mine(updater) {
                let (xid, status) = (updater, header.xmax_status());
                if updater.is_valid() {
                    updated = self.txns.holder(Member { xid, status })?;
                }
                return Ok(Writable::Free { mine: self.own_lock(multi, writer)?, updated });
            }
        }
        for holder in self.holders(n, header)? {
            let member = holder.member;
            let held = member.status.strength();
            if writer.me.is_mine(member.xid) {
                if member.status.updates() {
                    let cmax = cmin_cmax(header, writer.combo).1;
                    return Ok(if cmax >= writer.cid { Writable::ByMe(cmax) } else { Writable::Invisible });
                }
                mine = mine.max(Some(held));
            } else if !held.conflicts(strength) {
                updated = updated.or(member.status.updates().then_some(holder));
            } else if holder.committed {
                return Ok(Writable::Gone);
            } else {
                busy.get_or_insert(member.xid);
            }
        }
        Ok(match busy {
            Some(xid) => Writable::Busy { xid, mine: mine.is_some() },
            None => Writable::Free { mine, updated },
        })
    }

    /// The writer's own lock, if it is among the last that joined a set.
    fn own_lock(&self, multi: MultiXactId, writer: &Writer<'_>) -> HeapResult<Option<LockStrength>> {
        let (mut mine, mut left) = (None, RECENT_LOCKERS);
        let look = |member: Member| {
            if writer.me.is_mine(member.xid) {
                mine = mine.max(Some(member.status.strength()));
            }
            left -= 1;
            left > 0
        };
        let sets = self.txns.multixacts();
        sets.visit_since(writer.me.first_multi(), multi, look).map_err(TxnError::multi(multi))?;
        Ok(mine)
    }

    /// Who holds a version: those that lock it, and who updated it unless that was rolled back.
    pub fn holders(&mut self, n: OffsetNo, header: &mut Header) -> HeapResult<Vec<Holder>> {
        if header.xmax_invalid() {
            return Ok(Vec::new());
        }
        if let Some(multi) = header.multi() {
            return Ok(self.txns.multi_holders(multi)?);
        }
        let txns = self.txns;
        let member = Member { xid: header.raw_xmax, status: header.xmax_status() };
        let running = |member| Holder { member, committed: false };
        Ok(match self.xmax_status(n, header, |xid| txns.is_in_progress(xid))? {
            XidStatus::InProgress => {
                self.lock_beneath(header).into_iter().chain([member]).map(running).collect()
            }
            XidStatus::Committed if header.lock_only() => {
                self.hint(n, header, infomask::XMAX_INVALID);
                Vec::new()
            }
            XidStatus::Committed => vec![Holder { member, committed: true }],
            XidStatus::Aborted => self.lock_beneath(header).into_iter().map(running).collect(),
        })
    }

    /// The state of a version for VACUUM and pruning, regardless of any snapshot. `Dead` means that the deleter committed (or the inserter
    /// aborted); whether somebody may still need it is up to the caller, by the xid.
    pub fn for_vacuum(&mut self, n: OffsetNo, header: &mut Header) -> HeapResult<Fate> {
        let txns = self.txns;
        match self.xmin_status(n, header, |xid| txns.is_in_progress(xid))? {
            XidStatus::InProgress => {
                // Deleted by its own inserter while that runs: it stays whatever becomes of it. Unless a subtransaction did that was rolled back.
                let deleting = !header.xmax_invalid()
                    && !header.lock_only()
                    && self.xmax_status(n, header, |xid| txns.is_in_progress(xid))? != XidStatus::Aborted;
                return Ok(if deleting { Fate::DeleteInProgress } else { Fate::InsertInProgress });
            }
            XidStatus::Aborted => return Ok(Fate::Dead(Xid::INVALID)),
            XidStatus::Committed => {}
        }
        if header.xmax_invalid() || header.lock_only() && header.multi().is_some() {
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
            XidStatus::Committed => Fate::Dead(self.ender(header)?),
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
    Free {
        /// This transaction's own lock.
        mine: Option<LockStrength>,
        /// Who updated it without changing its key, when a key-shared lock is asked for.
        updated: Option<Holder>,
    },
    /// This transaction updated or deleted it in this command or a later one.
    ByMe(CommandId),
    /// Somebody else updates, deletes or locks it, and has not ended.
    Busy {
        /// Who.
        xid: Xid,
        /// This transaction holds a lock beside.
        mine: bool,
    },
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

/// Who updated or deleted a version, or locked it alone; of a set the member that updated it, if there is one.
#[inline]
pub(crate) fn ender(txns: &TxnSystem, header: &Header) -> HeapResult<Xid> {
    Ok(match header.multi() {
        None => header.raw_xmax,
        Some(_) if header.lock_only() => Xid::INVALID,
        Some(multi) => txns.multi_updater(multi)?,
    })
}

/// Command ids of a version of this transaction.
pub(crate) fn cmin_cmax(header: &Header, combo: &ComboCids) -> (CommandId, CommandId) {
    if header.has(infomask::COMBO_CID) {
        combo.pair(header.cid)
    } else {
        (CommandId(header.cid), CommandId(header.cid))
    }
}

/// Whether nobody can need a version that `xmax` deleted (or whose inserter aborted). Who does not find it any more cannot tell that he rests
/// on the deletion (invariant 3).
#[inline]
pub(crate) fn is_removable(txns: &TxnSystem, kind: RelKind, xmax: Xid) -> bool {
    !xmax.is_normal() || txns.is_removable(kind, xmax) && !txns.is_early(xmax)
}
