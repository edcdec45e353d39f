//! # What
//! Pruning: dead versions leave a page, HOT chains get shorter, old xids are frozen. From VACUUM, and on access to pages that are fairly full.
//!
//! A chain's root keeps its line pointer as long as index entries point to it: it becomes a *redirect* to the first member that somebody
//! may need, or *dead* if there is none. Other members, which no index entry points to, are freed at once.
//!
//! # Invariants
//! 1. Nothing that some snapshot may see goes: [`TxnSystem::is_removable`] is asked of the deleter, and it has the last word. With
//!    `old_snapshot_threshold`, versions go from plain relations that only older snapshots see; those are told which page lost
//!    something before it changes ([`TxnSystem::lose`]), and reading it fails for them. Index entries are never killed early,
//!    but for dead line pointers.
//! 2. A member behind one that is only recently dead goes if it is dead itself: deleted later, so nobody who misses it sees the earlier one.
//! 3. Items move, so the latch is a cleanup latch.
//!
//! # WAL and crash
//! The plan is logged, not its reasons: redo needs no transaction status.
//!
//! # PostgreSQL counterpart and differences
//! `pruneheap.c`. States of all versions are found first, so that the chains are walked over plain data.

use base::{MultiXactId, OffsetNo, PAGE_SIZE, Xid};
use buffer::{ExclusivePage, PageChange, Pin, WalAction};
use page::{LpFlags, PageBytes, flags};
use txn::{Holder, Member, OldestIds, TxnError, TxnSystem};
use wal::Rmgr;

use crate::error::{HeapError, HeapResult};
use crate::header::{Bases, Header, infomask, read_header};
use crate::lock::Xmax;
use crate::ops::{self, PrunePlan, RenewedXmax};
use crate::records::{info, put_prune};
use crate::rel::{Access, HeapRel};
use crate::visibility::{Fate, Judge, ender, is_removable};

/// Bytes of each page that INSERT leaves free.
pub(crate) fn reserve(rel: &HeapRel) -> usize {
    PAGE_SIZE * (100 - rel.desc.fillfactor.clamp(10, 100) as usize) / 100
}

/// Whether pruning the page looks worth while: something on it may have become removable, and room is short.
#[inline]
pub(crate) fn looks_prunable(txns: &TxnSystem, rel: &HeapRel, page: &PageBytes) -> bool {
    let xid = page::prune_xid(page);
    xid.is_valid()
        && (page::has_flag(page, flags::PAGE_FULL) || ops::room(page) < reserve(rel).max(PAGE_SIZE / 10))
        && (is_removable(txns, rel.desc.kind, xid) || xid < txns.early_limit(rel.desc.kind))
}

/// Prunes a page if that looks worth while and it can be had at once: nobody else has it pinned. The caller holds no latch and
/// no other pin on it.
pub fn prune_opt(access: &Access<'_>, rel: &HeapRel, pin: &Pin) -> HeapResult<()> {
    if !looks_prunable(access.txns, rel, &pin.shared()) || !access.pool.wal().has_room() {
        return Ok(());
    }
    let Some(mut page) = pin.try_cleanup() else { return Ok(()) };
    if looks_prunable(access.txns, rel, &page) {
        let (plan, _) = plan(access, rel, &mut page, &PruneGoal::default())?;
        execute(access, rel, &mut page, &plan)?;
    }
    Ok(())
}

/// What pruning is for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PruneGoal {
    /// Take ids older than these out of versions.
    pub freeze_limit: Option<OldestIds>,
    /// The table has no index: dead roots are freed at once.
    pub no_indexes: bool,
}

/// The oldest ids that have to be asked for about a version as it stands on a page.
pub(crate) fn oldest_ids(txns: &TxnSystem, header: &Header) -> HeapResult<OldestIds> {
    let mut oldest = match header.multi() {
        Some(multi) => ids_of_set(txns, multi)?,
        None if header.raw_xmax.is_normal() => OldestIds { xid: header.raw_xmax, ..OldestIds::default() },
        None => OldestIds::default(),
    };
    if !header.xmin_frozen() && header.raw_xmin.is_normal() {
        oldest.xid = oldest.xid.min(header.raw_xmin);
    }
    Ok(oldest)
}

/// The same about a set. The fate of members that only lock is asked of nobody but the running ones.
fn ids_of_set(txns: &TxnSystem, multi: MultiXactId) -> HeapResult<OldestIds> {
    let root = txns.multixacts().root(multi).map_err(TxnError::multi(multi))?;
    let updater = txns.multi_updater(multi)?;
    Ok(OldestIds { xid: if updater.is_normal() { updater } else { OldestIds::default().xid }, multi: root })
}

/// What the page looks like once a plan is carried out.
#[derive(Clone, Debug, Default)]
pub(crate) struct PruneSummary {
    /// Versions removed.
    pub removed: u32,
    pub live: u32,
    pub recently_dead: u32,
    /// Line pointers that are dead then.
    pub dead_items: Vec<OffsetNo>,
    /// Every version is visible to everybody.
    pub all_visible: bool,
    /// Every version is frozen.
    pub all_frozen: bool,
    /// Oldest ids on the page, if old ones were to be taken out.
    pub oldest: OldestIds,
    /// Some version is there.
    pub has_items: bool,
}

/// A version on the page.
#[derive(Clone, Copy, Debug)]
struct Version {
    /// Its header, with the one who ended it in the place of a set.
    header: Header,
    state: State,
    /// The set in its `xmax`.
    multi: Option<MultiXactId>,
}

struct Planner<'a> {
    page: &'a PageBytes,
    /// For each line pointer that has a version: what it is.
    states: Vec<Option<Version>>,
    /// Line pointers that some chain has decided about.
    done: Vec<bool>,
    goal: PruneGoal,
    plan: PrunePlan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Live,
    Inserting,
    Deleting,
    RecentlyDead,
    Dead,
}

/// Decides what to do with a page. Sets hints on the way.
pub(crate) fn plan(
    access: &Access<'_>,
    rel: &HeapRel,
    page: &mut ExclusivePage<'_>,
    goal: &PruneGoal,
) -> HeapResult<(PrunePlan, PruneSummary)> {
    let max = page::max_offset(page);
    let early = access.txns.early_limit(rel.desc.kind);
    let mut states = vec![None; max as usize + 1];
    let tag = page.tag();
    for n in 1..=max {
        if page::line_pointer(page, n).is_none_or(|lp| lp.flags != LpFlags::Normal) {
            continue;
        }
        let Some(mut header) = read_header(page, n) else {
            return Err(HeapError::Corrupt {
                rel: tag.rel,
                block: tag.block,
                offset: n,
                what: "line pointer leads to no tuple",
            });
        };
        let fate = Judge { txns: access.txns, page: &mut *page }.for_vacuum(n, &mut header)?;
        let state = match fate {
            Fate::Live => State::Live,
            Fate::InsertInProgress => State::Inserting,
            Fate::DeleteInProgress => State::Deleting,
            Fate::Dead(xmax) if xmax < early || is_removable(access.txns, rel.desc.kind, xmax) => State::Dead,
            Fate::Dead(_) => State::RecentlyDead,
        };
        let multi = header.multi();
        if multi.is_some() {
            header.raw_xmax = ender(access.txns, &header)?;
            header.infomask &= !infomask::XMAX_IS_MULTI;
        }
        states[n as usize] = Some(Version { header, state, multi });
    }
    let mut planner =
        Planner { page, done: vec![false; states.len()], states, goal: *goal, plan: PrunePlan::default() };
    planner.walk_all();
    let summary = planner.summarise(access, rel)?;
    Ok((planner.plan, summary))
}

impl Planner<'_> {
    fn walk_all(&mut self) {
        for n in 1..=page::max_offset(self.page) {
            let Some(lp) = page::line_pointer(self.page, n) else { continue };
            match lp.flags {
                LpFlags::Redirect => self.walk(n),
                LpFlags::Normal if self.header(n).is_some_and(|h| !h.is_heap_only()) => self.walk(n),
                LpFlags::Dead if self.goal.no_indexes => self.plan.unused.push(n),
                _ => {}
            }
        }
        // Heap-only versions that no chain reached: left over by aborted updates.
        for n in 1..=page::max_offset(self.page) {
            let Some(Version { header, state: State::Dead, .. }) = self.states[n as usize] else { continue };
            if header.is_heap_only() && !self.done[n as usize] && !header.is_hot_updated() {
                self.plan.unused.push(n);
                self.done[n as usize] = true;
            }
        }
        self.plan.redirected.sort_unstable();
        self.plan.dead.sort_unstable();
        self.plan.unused.sort_unstable();
    }

    fn header(&self, n: OffsetNo) -> Option<Header> {
        self.states.get(n as usize).copied().flatten().map(|version| version.header)
    }

    /// The chain from `root`: members in order, and how many of them (redirect included) come before the first that must stay.
    fn walk(&mut self, root: OffsetNo) {
        let mut chain = vec![root];
        let mut next = root;
        let mut expected_xmin = None;
        // Length of the chain up to and including the last dead member.
        let mut dead_len = 0;
        let mut recently_dead = false;
        if let Some(lp) = page::line_pointer(self.page, root).filter(|lp| lp.flags == LpFlags::Redirect) {
            next = lp.offset;
        }
        while let Some(Version { header, state, .. }) = self.states.get(next as usize).copied().flatten() {
            let is_root = next == root;
            if self.done[next as usize] || !is_root && !header.is_heap_only() {
                break;
            }
            if expected_xmin.is_some_and(|xmin| xmin != header.raw_xmin) {
                break;
            }
            if !is_root {
                chain.push(next);
            }
            match state {
                State::Dead => dead_len = chain.len(),
                State::RecentlyDead => recently_dead = true,
                State::Live | State::Inserting | State::Deleting => break,
            }
            if dead_len == 0 && !recently_dead || !header.is_hot_updated() || chain.len() >= self.states.len()
            {
                break;
            }
            expected_xmin = Some(header.raw_xmax);
            next = header.ctid.offset;
        }
        for &n in &chain {
            self.done[n as usize] = true;
        }
        self.decide(root, &chain, dead_len);
    }

    fn decide(&mut self, root: OffsetNo, chain: &[OffsetNo], dead_len: usize) {
        let is_redirect = page::line_pointer(self.page, root).is_some_and(|lp| lp.flags == LpFlags::Redirect);
        // A redirect that leads nowhere has nothing behind it that an index entry could need.
        let gone = dead_len == chain.len() || is_redirect && chain.len() == 1;
        if !gone && dead_len == 0 {
            return;
        }
        self.plan.unused.extend(chain[1..].iter().take(dead_len.saturating_sub(1)));
        if !gone {
            self.plan.redirected.push((root, chain[dead_len]));
        } else if self.goal.no_indexes {
            self.plan.unused.push(root);
        } else {
            self.plan.dead.push(root);
        }
    }

    /// Plans freezing of what stays, computes the new prune xid, and tells what the page will be like.
    fn summarise(&mut self, access: &Access<'_>, rel: &HeapRel) -> HeapResult<PruneSummary> {
        let mut summary = PruneSummary { all_visible: true, all_frozen: true, ..PruneSummary::default() };
        let mut prune_xid = Xid::INVALID;
        for n in 1..=page::max_offset(self.page) {
            let gone = self.plan.unused.binary_search(&n).is_ok();
            if self.plan.dead.binary_search(&n).is_ok() {
                summary.dead_items.push(n);
                summary.removed += u32::from(self.header(n).is_some());
                continue;
            }
            let Some(Version { header, state, multi }) = self.states[n as usize] else {
                if page::line_pointer(self.page, n).is_some_and(|lp| lp.flags == LpFlags::Dead) && !gone {
                    summary.dead_items.push(n);
                }
                continue;
            };
            if gone || self.plan.redirected.binary_search_by_key(&n, |r| r.0).is_ok() {
                summary.removed += 1;
                continue;
            }
            summary.has_items = true;
            match state {
                State::Live => summary.live += 1,
                State::Inserting => {}
                _ => summary.recently_dead += 1,
            }
            let ender = match state {
                State::Deleting | State::RecentlyDead | State::Dead => header.raw_xmax,
                State::Live | State::Inserting => Xid::INVALID,
            };
            if ender.is_normal() && (!prune_xid.is_valid() || ender < prune_xid) {
                prune_xid = ender;
            }
            let everybody_sees = state == State::Live
                && (header.xmin_frozen() || is_removable(access.txns, rel.desc.kind, header.raw_xmin));
            summary.all_visible &= everybody_sees;
            let shared = match multi {
                Some(multi) => self.settle(access, n, multi, &mut summary)?,
                None => false,
            };
            summary.all_frozen &= everybody_sees && self.freeze(n, &header, shared);
            self.note_oldest(n, &header, multi.is_some(), &mut summary);
        }
        summary.all_visible &= summary.dead_items.is_empty();
        summary.all_frozen &= summary.all_visible;
        self.plan.prune_xid = prune_xid;
        Ok(summary)
    }

    /// Plans to get rid of a set that only tells of the past, if that is what pruning is for; whether it stays.
    fn settle(
        &mut self,
        access: &Access<'_>,
        n: OffsetNo,
        multi: MultiXactId,
        summary: &mut PruneSummary,
    ) -> HeapResult<bool> {
        let txns = access.txns;
        let Some(limit) = self.goal.freeze_limit else { return Ok(true) };
        let holders = txns.multi_holders(multi)?;
        match holders.as_slice() {
            [] => {
                self.plan.xmax_cleared.push(n);
                return Ok(false);
            }
            &[Holder { member, committed: true }] if Bases::of(self.page).fits(member.xid) => {
                self.plan.xmax_replaced.push((n, member.xid));
                summary.oldest.xid = summary.oldest.xid.min(member.xid);
                return Ok(true);
            }
            _ => {}
        }
        let mut oldest = ids_of_set(txns, multi)?;
        if oldest.multi < limit.multi
            && let Some(new) = self.renew(access, n, &holders)?
        {
            oldest = match new.infomask & infomask::XMAX_IS_MULTI {
                0 => OldestIds { xid: new.xmax, ..OldestIds::default() },
                _ => ids_of_set(txns, MultiXactId(new.xmax.0))?,
            };
            self.plan.xmax_renewed.push(new);
        }
        summary.oldest = summary.oldest.min(oldest);
        Ok(true)
    }

    /// An `xmax` that says who holds a version, and has no old ids; none if the page's bases cannot express it.
    fn renew(&self, access: &Access<'_>, n: OffsetNo, holders: &[Holder]) -> HeapResult<Option<RenewedXmax>> {
        let members: Vec<Member> = holders.iter().map(|holder| holder.member).collect();
        let new = Xmax::of(&members, |members| access.txns.copy_multi(members))?;
        let fits = Bases::of(self.page).fits_xmax(new.raw, new.infomask);
        Ok(fits.then_some(RenewedXmax {
            offset: n,
            xmax: new.raw,
            infomask: new.infomask,
            infomask2: new.infomask2,
        }))
    }

    /// Notes the xids of a version that stays. Those of a set are noted already.
    fn note_oldest(&self, n: OffsetNo, header: &Header, was_set: bool, summary: &mut PruneSummary) {
        if self.goal.freeze_limit.is_none() {
            return;
        }
        let mut note = |xid: Xid| {
            if xid.is_normal() {
                summary.oldest.xid = summary.oldest.xid.min(xid);
            }
        };
        if !header.xmin_frozen() && self.plan.frozen.last() != Some(&n) {
            note(header.raw_xmin);
        }
        if !was_set && self.plan.xmax_cleared.last() != Some(&n) {
            note(header.raw_xmax);
        }
    }

    /// Plans to freeze a version that stays; whether it will be frozen then. `shared`: a set stays in its `xmax`.
    fn freeze(&mut self, n: OffsetNo, header: &Header, shared: bool) -> bool {
        let Some(limit) = self.goal.freeze_limit else {
            // A hint that there is no `xmax` does not count: a crash may undo it, and the map's bit would stay.
            return header.xmin_frozen() && !header.raw_xmax.is_valid() && !shared;
        };
        let mut frozen = header.xmin_frozen();
        if !frozen && header.raw_xmin < limit.xid {
            self.plan.frozen.push(n);
            frozen = true;
        }
        if shared || self.plan.xmax_cleared.last() == Some(&n) {
            return frozen && !shared;
        }
        if !header.raw_xmax.is_valid() {
            return frozen;
        }
        // A live version's xmax aborted or locks: it may go once it has ended.
        if header.has(infomask::XMAX_INVALID) {
            self.plan.xmax_cleared.push(n);
            return frozen;
        }
        false
    }
}

/// Carries out a plan as one WAL action. Needs a cleanup latch unless the plan keeps the items.
pub(crate) fn execute(
    access: &Access<'_>,
    rel: &HeapRel,
    page: &mut ExclusivePage<'_>,
    plan: &PrunePlan,
) -> HeapResult<()> {
    if plan.is_empty() {
        if page::prune_xid(page) != plan.prune_xid || page::has_flag(page, flags::PAGE_FULL) {
            page::set_prune_xid(page, plan.prune_xid);
            page::set_flag(page, flags::PAGE_FULL, false);
            page.mark_dirty_hint();
        }
        return Ok(());
    }
    let removed = removed(access, page, plan)?;
    tell_old_snapshots(access, rel, page, &removed);
    // A standby's queries that still see one of them conflict with the record.
    let newest_removed = removed.iter().map(|version| version.1).max().unwrap_or(Xid::INVALID);
    let mut data = Vec::with_capacity(64);
    put_prune(&mut data, plan);
    let tag = page.tag();
    ops::prune(page, plan).map_err(|_| HeapError::Corrupt {
        rel: tag.rel,
        block: tag.block,
        offset: 0,
        what: "page cannot be pruned",
    })?;
    let newest_removed = newest_removed.0.to_le_bytes();
    let used = newest_removed.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let mut action =
        WalAction::for_relation(access.pool, rel.desc.persistence, Rmgr::Heap, info::PRUNE, Xid::INVALID);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &data);
    action.data(&newest_removed[..used]);
    action.commit();
    Ok(())
}

/// Inserter and deleter of the versions that go, but for those whose inserter aborted.
fn removed(access: &Access<'_>, page: &PageBytes, plan: &PrunePlan) -> HeapResult<Vec<(Xid, Xid)>> {
    let bases = Bases::of(page);
    let gone = plan.dead.iter().chain(&plan.unused).chain(plan.redirected.iter().map(|(from, _)| from));
    gone.filter_map(|&n| page::item(page, n))
        .filter_map(|bytes| Header::read(bytes, bases))
        .filter(|header| !header.xmin_hinted_aborted())
        .map(|header| Ok((header.xmin(), ender(access.txns, &header)?)))
        .collect()
}

/// Tells the snapshots that see a version which goes.
fn tell_old_snapshots(access: &Access<'_>, rel: &HeapRel, page: &ExclusivePage<'_>, removed: &[(Xid, Xid)]) {
    if !access.txns.early_limit(rel.desc.kind).is_valid() {
        return;
    }
    let early: Vec<_> = removed
        .iter()
        .copied()
        .filter(|version| !is_removable(access.txns, rel.desc.kind, version.1))
        .collect();
    if !early.is_empty() {
        access.txns.lose(rel.desc.file, page.tag().block, &early);
    }
}
