//! # What
//! Row locks, held in the row version's header: by one transaction, or by a set of them (a multixact).
//!
//! # Invariants
//! 1. A lock on a version is a lock on all later ones: an UPDATE gives its new version the lockers of the old one ([`carry`]), and who locks
//!    a version that was updated locks those after it too ([`lock_later`]).
//! 2. Whoever changes an `xmax` keeps all in it that still matters ([`Judge::holders`]) but for what it covers of its own.
//!
//! # WAL and crash
//! Logged, so that a prepared transaction keeps its locks; the lock of a transaction that a crash ended is recognised as such.
//!
//! # PostgreSQL counterpart and differences
//! `heap_lock_tuple`, `compute_new_xmax_infomask`. A subtransaction that changes a row which its parent locked takes the parent's place in the
//! header and notes how strong the lock was ([`infomask::XMAX_OVER_LOCK`]), where PostgreSQL makes a multixact: a savepoint around each change costs
//! nothing more. When the subtransaction alone is rolled back, its xid still tells the top level, and that one holds the row. Who held it
//! is not noted: a lock of a savepoint that is rolled back too stays to the end. A set is joined where that is possible, its members are not copied. Several rows of a
//! page: [`mod@crate::lock_rows`].

use base::{Tid, Xid};
use buffer::{ExclusivePage, PageChange, WalAction};
use page::{LpFlags, PageBytes};
use txn::{Holder, LockStrength, Member, MemberStatus, Transaction, TxnError};
use wal::Rmgr;

use crate::error::{HeapResult, Later, LockOutcome, Refusal};
use crate::fetch::heap_tag;
use crate::header::{Header, beneath_bits, infomask, infomask2, read_header, status_bits};
use crate::ops::{self, OpResult, RowLock, Stamp};
use crate::place::{make_fit, make_multi_fit};
use crate::records::{VmChange, info, put_stamp};
use crate::rel::{Access, HeapRel, Writer};
use crate::update::{Look, corrupt, look, look_of};
use crate::visibility::{Judge, ender};
use crate::vm::{self, MapGuards, VmCursor, latch_covered};

/// Which version of a row a lock is wanted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The one that the statement sees, though it may have been updated since in a way that the lock does not mind.
    Seen,
    /// The newest: one that a committed transaction updated is refused in any case. What lies between the one that a statement saw and the
    /// newest may be a state that only the transaction that wrote it ever was to see.
    Newest,
}

/// Locks the row version at `tid` until the end of the (sub)transaction.
pub fn lock_tuple(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    (tid, wanted): (Tid, Wanted),
    strength: LockStrength,
) -> HeapResult<LockOutcome> {
    access.pool.admit(rel.desc.persistence)?;
    let mut map = VmCursor::default();
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let mut page = latch_covered(access, rel, &pin, &mut map)?;
    let found = look(access, rel, writer, &mut page, tid, strength)?;
    match found {
        Look::Free { header, updated: Some(Holder { member, committed: true }), .. }
            if wanted == Wanted::Newest =>
        {
            Ok(LockOutcome::Refused(Refusal::Concurrent { next: header.ctid, xmax: member.xid }))
        }
        found => lock_found(access, rel, writer, (&mut page, &map), (tid, strength), found),
    }
}

/// Whether another transaction that still runs holds the version at `tid` so that a lock of this strength must wait for it. No is no promise: who wants the
/// lock tries. Keeps nobody else from the page.
pub fn is_held(
    access: &Access<'_>,
    rel: &HeapRel,
    me: &Transaction,
    tid: Tid,
    strength: LockStrength,
) -> HeapResult<bool> {
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let page = pin.shared();
    let normal = page::line_pointer(&page, tid.offset).is_some_and(|lp| lp.flags == LpFlags::Normal);
    let Some(header) = read_header(&page, tid.offset).filter(|_| normal) else { return Ok(false) };
    let one = !header.xmax_invalid() && header.multi().is_none() && header.raw_xmax.is_normal();
    Ok(one
        && header.xmax_status().strength().conflicts(strength)
        && !me.is_mine(header.raw_xmax)
        && access.txns.is_in_progress(header.raw_xmax))
}

/// Locks the version at `later`, which came after one that was locked: whether anybody sees it or not, if it is still the one. Also
/// [`LockOutcome::Locked`] if it is not there any more or was rolled back.
pub fn lock_later(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    later: Later,
    strength: LockStrength,
) -> HeapResult<LockOutcome> {
    let (tid, mut map) = (later.tid, VmCursor::default());
    let gone = Ok(LockOutcome::Locked { later: None });
    access.pool.admit(rel.desc.persistence)?;
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let mut page = latch_covered(access, rel, &pin, &mut map)?;
    if page::line_pointer(&page, tid.offset).is_none_or(|lp| lp.flags != LpFlags::Normal) {
        return gone;
    }
    let Some(mut header) = read_header(&page, tid.offset).filter(|h| h.raw_xmin == later.xmin) else {
        return gone;
    };
    let mut judge = Judge { txns: access.txns, page: &mut page };
    if judge.inserter(tid.offset, &mut header)? == txn::XidStatus::Aborted {
        return gone;
    }
    let verdict = judge.beside_holders(tid.offset, &mut header, writer, strength)?;
    let found = look_of(&judge, verdict, header, tid)?;
    lock_found(access, rel, writer, (&mut page, &map), (tid, strength), found)
}

/// Locks a version that was looked at.
fn lock_found(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    (page, map): (&mut ExclusivePage<'_>, &VmCursor),
    (tid, strength): (Tid, LockStrength),
    found: Look,
) -> HeapResult<LockOutcome> {
    let (header, mine, updated) = match found {
        Look::Refused(refusal) => return Ok(LockOutcome::Refused(refusal)),
        Look::Free { header, mine, updated } => (header, mine, updated),
    };
    let later = updated.map(|holder| Later { tid: header.ctid, xmin: holder.member.xid });
    if mine < Some(strength) {
        lock_on_page(access, rel, writer, page, map, tid, strength)?;
    }
    Ok(LockOutcome::Locked { later })
}

/// Stamps a version with the writer's lock, which nobody's lock conflicts with. Its page is latched, and the map page pinned if the page is
/// all-visible: it stays so, but is no longer all-frozen.
pub(crate) fn lock_on_page(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    page: &mut ExclusivePage<'_>,
    map: &VmCursor,
    tid: Tid,
    strength: LockStrength,
) -> HeapResult<()> {
    let xmax = fitting_xmax(access, rel, writer, page, tid, MemberStatus::Locked(strength))?;
    let header = read_header(page, tid.offset).ok_or_else(|| corrupt(rel, tid, "tuple is gone"))?;
    // Whoever updated it still leads to the next version.
    let (next, hot) = match xmax.infomask & infomask::XMAX_LOCK_ONLY != 0 {
        true => (tid, 0),
        false => (header.ctid, header.infomask2 & infomask2::HOT_UPDATED),
    };
    let stamp = Stamp {
        offset: tid.offset,
        xmax: xmax.raw,
        infomask: xmax.infomask,
        infomask2: xmax.infomask2 | hot,
        cid: None,
        next,
    };
    let mut log = Vec::with_capacity(24);
    put_stamp(&mut log, &stamp);
    let change = |page: &mut PageBytes| ops::stamp_xmax(page, &stamp);
    write_lock(access, rel, writer, (page, map), (info::LOCK, &log), change)
        .map_err(|_| corrupt(rel, tid, "tuple cannot be locked"))
}

/// Carries out and logs a change that locks rows. The page stays all-visible if it was, but is no longer all-frozen.
pub(crate) fn write_lock(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    (page, map): (&mut ExclusivePage<'_>, &VmCursor),
    (kind, log): (u8, &[u8]),
    change: impl FnOnce(&mut PageBytes) -> OpResult<()>,
) -> OpResult<()> {
    let block = page.tag().block;
    let mut maps = if ops::is_all_visible(page) && map.bits(block) & vm::ALL_FROZEN != 0 {
        MapGuards::latch([(map, VmChange { block, bits: vm::ALL_VISIBLE })])
    } else {
        MapGuards::none()
    };
    change(page)?;
    maps.apply();
    let mut action = WalAction::for_relation(access.pool, rel.desc.persistence, Rmgr::Heap, kind, writer.xid);
    let i = action.page(page, PageChange::default());
    action.page_data(i, log);
    maps.log(&mut action);
    action.commit();
    Ok(())
}

/// What is to stand in a header about those who hold the version.
pub(crate) struct Xmax {
    /// An xid, or the number of a multixact if `infomask` says so.
    pub raw: Xid,
    /// Bits of [`infomask::XMAX_BITS`].
    pub infomask: u16,
    /// Bits of [`infomask2::XMAX_BITS`], without `HOT_UPDATED`.
    pub infomask2: u16,
    /// Members that are not the writer's; unknown where a long set was joined.
    others: Vec<Member>,
}

impl Xmax {
    /// The same as a row lock, if the version was not updated or deleted.
    pub(crate) fn lock(&self) -> Option<RowLock> {
        let lock = RowLock { xmax: self.raw, infomask: self.infomask, infomask2: self.infomask2 };
        (self.infomask & infomask::XMAX_LOCK_ONLY != 0).then_some(lock)
    }

    fn of_one(xid: Xid, status: MemberStatus) -> Xmax {
        let (infomask, infomask2) = status_bits(status);
        Xmax { raw: xid, infomask, infomask2, others: Vec::new() }
    }

    fn of_set(multi: base::MultiXactId, strongest: MemberStatus, updated: bool) -> Xmax {
        let (mut infomask, infomask2) = status_bits(MemberStatus::Locked(strongest.strength()));
        if updated {
            infomask &= !infomask::XMAX_LOCK_ONLY;
        }
        Xmax {
            raw: Xid(multi.0),
            infomask: infomask | infomask::XMAX_IS_MULTI,
            infomask2,
            others: Vec::new(),
        }
    }

    /// Of all members, of which `make` makes a set if they are more than one.
    pub(crate) fn of(
        members: &[Member],
        make: impl FnOnce(&[Member]) -> Result<base::MultiXactId, TxnError>,
    ) -> HeapResult<Xmax> {
        if let [only] = members {
            return Ok(Xmax::of_one(only.xid, only.status));
        }
        let multi = make(members)?;
        let mut strongest = MemberStatus::Locked(LockStrength::KeyShare);
        for member in members {
            strongest = strongest.at_least(member.status.strength());
        }
        Ok(Xmax::of_set(multi, strongest, members.iter().any(|member| member.status.updates())))
    }
}

/// What the version at `tid` is to say once the writer has done something with it that nobody's lock conflicts with. The page takes it.
pub(crate) fn fitting_xmax(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    page: &mut ExclusivePage<'_>,
    tid: Tid,
    status: MemberStatus,
) -> HeapResult<Xmax> {
    make_fit(access, rel, page, writer.xid)?;
    let mut header = read_header(page, tid.offset).ok_or_else(|| corrupt(rel, tid, "tuple is gone"))?;
    let xmax = combine(access, writer, page, tid, &mut header, status)?;
    if xmax.infomask & infomask::XMAX_IS_MULTI != 0 {
        make_multi_fit(access, rel, page, base::MultiXactId(xmax.raw.0))?;
    }
    Ok(xmax)
}

/// What those who hold the version and the writer make together.
pub(crate) fn combine(
    access: &Access<'_>,
    writer: &Writer<'_>,
    page: &mut ExclusivePage<'_>,
    tid: Tid,
    header: &mut Header,
    status: MemberStatus,
) -> HeapResult<Xmax> {
    let me = Member { xid: writer.xid, status };
    if header.xmax_invalid() {
        return Ok(Xmax::of_one(me.xid, me.status));
    }
    match header.multi() {
        // Of stronger locks it is known that they have ended.
        Some(multi) if !status.updates() && !header.xmax_status().strength().conflicts(status.strength()) => {
            let before = header.xmax_status();
            if keeps_updater(access, writer, header)?
                && let Some(joined) = access.txns.join_multi(multi, me)?
            {
                return Ok(Xmax::of_set(joined, before.at_least(status.strength()), !header.lock_only()));
            }
        }
        None if is_own(header.raw_xmax, writer) => return Ok(over_own(header, me, writer)),
        _ => {}
    }
    let holders = Judge { txns: access.txns, page }.holders(tid.offset, header)?;
    let mut members: Vec<Member> = holders.into_iter().map(|holder| holder.member).collect();
    let others = members.iter().filter(|member| !writer.me.is_mine(member.xid)).copied().collect();
    let mut me = me;
    members.retain(|member| {
        if member.xid == me.xid {
            me.status = me.status.at_least(member.status.strength());
        }
        member.xid != me.xid
    });
    members.push(me);
    Ok(Xmax { others, ..Xmax::of(&members, |members| access.txns.make_multi(members))? })
}

/// Whether a set may be joined as it is: the update in it, if there is one, is another's and was not rolled back.
fn keeps_updater(access: &Access<'_>, writer: &Writer<'_>, header: &Header) -> HeapResult<bool> {
    let xid = ender(access.txns, header)?;
    let status = header.xmax_status();
    let other = || Ok(!writer.me.is_mine(xid) && access.txns.holder(Member { xid, status })?.is_some());
    if xid.is_valid() { other() } else { Ok(header.lock_only()) }
}

fn is_own(xid: Xid, writer: &Writer<'_>) -> bool {
    writer.me.is_mine(xid) || writer.me.is_rolled_back_child(xid)
}

/// The writer's xid in the place of one of its own transaction, whose lock it covers. The lock of an ancestor, which has the smaller xid, must
/// outlive the writer.
fn over_own(header: &Header, me: Member, writer: &Writer<'_>) -> Xmax {
    let xmax = header.raw_xmax;
    let mut beneath = header.lock_beneath();
    let mut covered = beneath;
    if header.lock_only() && writer.me.is_mine(xmax) {
        let held = Some(header.xmax_status().strength());
        covered = covered.max(held);
        if xmax < me.xid {
            beneath = beneath.max(held);
        }
    }
    let status = covered.map_or(me.status, |strength| me.status.at_least(strength));
    let mut new = Xmax::of_one(me.xid, status);
    if let Some(strength) = beneath {
        let (bits, bits2) = beneath_bits(strength);
        new.infomask |= bits;
        new.infomask2 |= bits2;
    }
    new
}

/// What the new version of an updated one begins with: the lockers of the old one but for the writer. `xmax`: the old one's new.
/// `same_page`: where the new version is to be; a set goes to no other page, where VACUUM may have been ([`txn::truncation`]).
pub(crate) fn carry(
    access: &Access<'_>,
    old: &Header,
    xmax: &Xmax,
    same_page: bool,
) -> HeapResult<Option<Xmax>> {
    if xmax.others.is_empty() {
        return Ok(None);
    }
    // A set of lockers is taken over as it is: the writer's own lock in it does no harm.
    if let Some(multi) = old.multi().filter(|_| old.lock_only() && same_page) {
        return Ok(Some(Xmax::of_set(multi, old.xmax_status(), false)));
    }
    Ok(Some(Xmax::of(&xmax.others, |members| access.txns.copy_multi(members))?))
}
