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
//! The plan is logged, not its reasons: redo needs no transaction status. What VACUUM finds to do on a page, pruning, freezing and the bits of the
//! visibility map, is one record.
//!
//! # PostgreSQL counterpart and differences
//! `pruneheap.c`. States of all versions are found first, so that the chains are walked over plain data. VACUUM freezes a page whenever that makes it
//! all-frozen: the record is written anyway, and nobody has to come back to the page for its xids' sake.

use base::{MultiXactId, OffsetNo, PAGE_SIZE, Xid};
use buffer::{ExclusivePage, PageChange, Pin, WalAction};
use page::{LpFlags, PageBytes, flags};
use txn::{Holder, Member, OldestIds, RelKind, TxnError, TxnSystem};
use wal::Rmgr;

use crate::error::{HeapError, HeapResult};
use crate::header::{Bases, Header, INFOMASK, infomask, read_header};
use crate::lock::Xmax;
use crate::ops::{self, PrunePlan, RenewedXmax};
use crate::records::{VmChange, info, put_prune};
use crate::rel::{Access, HeapRel};
use crate::visibility::{Fate, Hintable, Judge, ender, is_removable};
use crate::vm::{self, MapGuards, VmCursor};

/// Bytes of each page that INSERT leaves free.
pub(crate) fn reserve(rel: &HeapRel) -> usize {
    PAGE_SIZE * (100 - rel.desc.fillfactor.clamp(10, 100) as usize) / 100
}

/// Whether pruning the page looks worth while: something on it may have become removable, and room is short.
#[inline]
pub(crate) fn looks_prunable(txns: &TxnSystem, rel: &HeapRel, page: &PageBytes) -> bool {
    page::prune_xid(page).is_valid()
        && (page::has_flag(page, flags::PAGE_FULL) || ops::room(page) < reserve(rel).max(PAGE_SIZE / 10))
        && has_removable(txns, rel, page)
}

/// Whether something on the page may have become removable.
#[inline]
fn has_removable(txns: &TxnSystem, rel: &HeapRel, page: &PageBytes) -> bool {
    let xid = page::prune_xid(page);
    xid.is_valid() && (is_removable(txns, rel.desc.kind, xid) || xid < txns.early_limit(rel.desc.kind))
}

/// So many dead versions on a page are pruned though there is room: everybody who reads the page has to pass them.
pub(crate) const MANY_DEAD: u32 = 32;

/// Prunes a page if that looks worth while and it can be had at once: nobody else has it pinned. The caller holds no latch and
/// no other pin on it.
pub fn prune_opt(access: &Access<'_>, rel: &HeapRel, pin: &Pin) -> HeapResult<()> {
    prune_if(access, rel, pin, looks_prunable)
}

/// The same for a page on which somebody has met [`MANY_DEAD`] versions, whether room is short or not.
pub(crate) fn prune_dead(access: &Access<'_>, rel: &HeapRel, pin: &Pin) -> HeapResult<()> {
    prune_if(access, rel, pin, has_removable)
}

fn prune_if(
    access: &Access<'_>,
    rel: &HeapRel,
    pin: &Pin,
    wanted: fn(&TxnSystem, &HeapRel, &PageBytes) -> bool,
) -> HeapResult<()> {
    if !wanted(access.txns, rel, &pin.shared()) || !access.pool.wal().has_room() {
        return Ok(());
    }
    let Some(mut page) = pin.try_cleanup() else { return Ok(()) };
    if wanted(access.txns, rel, &page) {
        let mut pruner = Pruner::default();
        pruner.plan(access, rel, &page, &PruneGoal::default())?;
        pruner.execute(access, rel, &mut page, None)?;
        // Dead line pointers that are left count as the versions that they stood for.
        rel.note_pruned(pruner.summary.removed.saturating_sub(pruner.plan.dead.len() as u32));
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
    /// Versions that were ended by older transactions are counted among [`PruneSummary::died_before`].
    pub began: Xid,
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

/// The same about a multixact. Of members that only lock, it matters only whether they still run.
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
    /// Of these, versions ended by transactions older than asked for.
    pub died_before: u32,
    /// Line pointers that are dead then.
    pub dead_items: Vec<OffsetNo>,
    /// Every version is visible to every snapshot, and no line pointer is dead.
    pub all_visible: bool,
    /// Every version is frozen besides.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Live,
    Inserting,
    Deleting,
    RecentlyDead,
    Dead,
}

/// A line pointer while the plan is made.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    version: Option<Version>,
    /// Some chain has decided about it.
    done: bool,
    verdict: Verdict,
    /// What freezing the version takes, if it stays.
    freezing: Freezing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Verdict {
    #[default]
    Stays,
    Redirected,
    Dead,
    Unused,
}

/// What may be taken out of the header of a version that stays.
#[derive(Clone, Copy, Debug, Default)]
struct Freezing {
    /// Its `xmin` is older than the limit.
    forced: bool,
    /// Every snapshot sees it, and no transaction locks it: it can be frozen.
    possible: bool,
    xmax: PastXmax,
}

/// What may be done about an `xmax` that tells of the past. That is a change of the page for which nobody asks, unless it is due or makes the page
/// all-frozen.
#[derive(Clone, Copy, Debug, Default)]
struct PastXmax {
    what: Ending,
    /// Its ids are old.
    due: bool,
    /// The oldest ids that it has as long as nothing is done.
    left: OldestIds,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ending {
    /// It tells something.
    #[default]
    Keep,
    /// It tells nothing.
    Clear,
    /// It is a set, of which only this transaction means something.
    Replace(Xid),
}

/// What is known of transactions, so that it is asked once for the many versions that one of them wrote.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Inserter, and deleter, that committed durably.
    inserter: Xid,
    deleter: Xid,
    /// Ended so long ago that nobody needs what it deleted.
    removable: Xid,
}

impl Known {
    fn is_removable(&mut self, txns: &TxnSystem, kind: RelKind, xid: Xid) -> bool {
        if xid == self.removable && xid.is_valid() {
            return true;
        }
        let removable = is_removable(txns, kind, xid);
        if removable {
            self.removable = xid;
        }
        removable
    }
}

/// A page whose hints are noted, and set all at once afterwards: most versions go, or are frozen, and need none.
struct Noting<'a> {
    page: &'a PageBytes,
    hints: &'a mut Vec<(u16, u16)>,
}

impl Hintable for Noting<'_> {
    fn page(&self) -> &PageBytes {
        self.page
    }
    fn set_hint(&mut self, offset: usize, bits: u16) {
        self.hints.push((offset as u16, bits));
    }
}

/// Makes plans, page after page, and carries them out. What is kept between pages is memory, and [`Known`].
#[derive(Default)]
pub(crate) struct Pruner {
    slots: Vec<Slot>,
    chain: Vec<OffsetNo>,
    hints: Vec<(u16, u16)>,
    known: Known,
    goal: PruneGoal,
    pub plan: PrunePlan,
    pub summary: PruneSummary,
    newest_removed: Xid,
    /// Newest inserter of versions that everybody sees and that are not frozen yet, or that are to be frozen though they are ended.
    newest_seen: Xid,
}

impl Pruner {
    /// Decides what to do with a page, and tells what it will be like.
    pub fn plan(
        &mut self,
        access: &Access<'_>,
        rel: &HeapRel,
        page: &ExclusivePage<'_>,
        goal: &PruneGoal,
    ) -> HeapResult<()> {
        self.goal = *goal;
        self.plan.clear();
        self.newest_removed = Xid::INVALID;
        self.newest_seen = Xid::INVALID;
        self.judge(access, rel, page)?;
        self.walk_all(page);
        self.summarise(access, rel, page)
    }

    /// Finds out what each version is.
    fn judge(&mut self, access: &Access<'_>, rel: &HeapRel, page: &ExclusivePage<'_>) -> HeapResult<()> {
        let max = page::max_offset(page);
        let (txns, kind) = (access.txns, rel.desc.kind);
        let early = txns.early_limit(kind);
        let tag = page.tag();
        let Pruner { slots, hints, known, .. } = self;
        slots.clear();
        slots.resize(max as usize + 1, Slot::default());
        hints.clear();
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
            if !header.has_xmin_hint() && header.raw_xmin == known.inserter {
                header.infomask |= infomask::XMIN_COMMITTED;
                note_hint(page, n, infomask::XMIN_COMMITTED, hints);
            }
            let ended = !header.xmax_invalid() && header.multi().is_none() && !header.lock_only();
            if ended && header.raw_xmax == known.deleter && !header.has(infomask::XMAX_COMMITTED) {
                header.infomask |= infomask::XMAX_COMMITTED;
                note_hint(page, n, infomask::XMAX_COMMITTED, hints);
            }
            let fate = Judge { txns, page: Noting { page, hints } }.for_vacuum(n, &mut header)?;
            if header.has(infomask::XMIN_COMMITTED) && header.raw_xmin.is_normal() {
                known.inserter = header.raw_xmin;
            }
            if ended && header.has(infomask::XMAX_COMMITTED) && header.raw_xmax.is_normal() {
                known.deleter = header.raw_xmax;
            }
            let state = match fate {
                Fate::Live => State::Live,
                Fate::InsertInProgress => State::Inserting,
                Fate::DeleteInProgress => State::Deleting,
                Fate::Dead(xmax) if xmax < early || known.is_removable(txns, kind, xmax) => State::Dead,
                Fate::Dead(_) => State::RecentlyDead,
            };
            let multi = header.multi();
            if multi.is_some() {
                header.raw_xmax = ender(txns, &header)?;
                header.infomask &= !infomask::XMAX_IS_MULTI;
            }
            slots[n as usize].version = Some(Version { header, state, multi });
        }
        Ok(())
    }

    /// Sets the hints that were found. `logged`: a record of the page follows, before anything of it moves.
    pub fn set_hints(&self, page: &mut ExclusivePage<'_>, logged: bool) {
        for &(at, bits) in &self.hints {
            let at = at as usize;
            let old = u16::from_le_bytes([page[at], page[at + 1]]);
            page[at..at + 2].copy_from_slice(&(old | bits).to_le_bytes());
        }
        if !logged && !self.hints.is_empty() {
            page.mark_dirty_hint();
        }
    }

    fn walk_all(&mut self, page: &PageBytes) {
        let max = page::max_offset(page);
        for n in 1..=max {
            let Some(lp) = page::line_pointer(page, n) else { continue };
            match lp.flags {
                LpFlags::Redirect => self.walk(page, n),
                LpFlags::Normal if self.header(n).is_some_and(|h| !h.is_heap_only()) => self.walk(page, n),
                LpFlags::Dead if self.goal.no_indexes => self.slots[n as usize].verdict = Verdict::Unused,
                _ => {}
            }
        }
        // Heap-only versions that no chain reached: left over by aborted updates.
        for slot in &mut self.slots {
            let Some(Version { header, state: State::Dead, .. }) = &slot.version else { continue };
            if header.is_heap_only() && !slot.done && !header.is_hot_updated() {
                slot.verdict = Verdict::Unused;
                slot.done = true;
            }
        }
        for n in 1..=max {
            match self.slots[n as usize].verdict {
                Verdict::Dead => self.plan.dead.push(n),
                Verdict::Unused => self.plan.unused.push(n),
                Verdict::Stays | Verdict::Redirected => {}
            }
        }
        self.plan.redirected.sort_unstable();
    }

    fn version(&self, n: OffsetNo) -> Option<Version> {
        self.slots.get(n as usize).and_then(|slot| slot.version)
    }

    fn header(&self, n: OffsetNo) -> Option<Header> {
        self.version(n).map(|version| version.header)
    }

    /// The chain from `root`: members in order, and how many of them (redirect included) come before the first that must stay.
    fn walk(&mut self, page: &PageBytes, root: OffsetNo) {
        self.chain.clear();
        self.chain.push(root);
        let mut next = root;
        let mut expected_xmin = None;
        // Length of the chain up to and including the last dead member.
        let mut dead_len = 0;
        let mut recently_dead = false;
        let redirect = page::line_pointer(page, root).filter(|lp| lp.flags == LpFlags::Redirect);
        if let Some(lp) = redirect {
            next = lp.offset;
        }
        while let Some(Version { header, state, .. }) = self.version(next) {
            let is_root = next == root;
            if self.slots[next as usize].done || !is_root && !header.is_heap_only() {
                break;
            }
            if expected_xmin.is_some_and(|xmin| xmin != header.raw_xmin) {
                break;
            }
            if !is_root {
                self.chain.push(next);
            }
            match state {
                State::Dead => dead_len = self.chain.len(),
                State::RecentlyDead => recently_dead = true,
                State::Live | State::Inserting | State::Deleting => break,
            }
            let long = self.chain.len() >= self.slots.len();
            if dead_len == 0 && !recently_dead || !header.is_hot_updated() || long {
                break;
            }
            expected_xmin = Some(header.raw_xmax);
            next = header.ctid.offset;
        }
        for &n in &self.chain {
            self.slots[n as usize].done = true;
        }
        self.decide(redirect.is_some(), dead_len);
    }

    fn decide(&mut self, is_redirect: bool, dead_len: usize) {
        let root = self.chain[0];
        // A redirect that leads nowhere has nothing behind it that an index entry could need.
        let gone = dead_len == self.chain.len() || is_redirect && self.chain.len() == 1;
        if !gone && dead_len == 0 {
            return;
        }
        for &n in self.chain[1..].iter().take(dead_len.saturating_sub(1)) {
            self.slots[n as usize].verdict = Verdict::Unused;
        }
        self.slots[root as usize].verdict = match gone {
            false => {
                self.plan.redirected.push((root, self.chain[dead_len]));
                Verdict::Redirected
            }
            true if self.goal.no_indexes => Verdict::Unused,
            true => Verdict::Dead,
        };
    }

    /// Plans freezing of what stays, computes the new prune xid, and tells what the page will be like.
    fn summarise(&mut self, access: &Access<'_>, rel: &HeapRel, page: &PageBytes) -> HeapResult<()> {
        let mut summary = PruneSummary {
            dead_items: std::mem::take(&mut self.summary.dead_items),
            ..PruneSummary::default()
        };
        summary.dead_items.clear();
        let (mut seen_by_all, mut can_be_frozen) = (true, true);
        for n in 1..=page::max_offset(page) {
            let Slot { version, verdict, .. } = self.slots[n as usize];
            let was_dead = || page::line_pointer(page, n).is_some_and(|lp| lp.flags == LpFlags::Dead);
            if verdict == Verdict::Dead || version.is_none() && verdict == Verdict::Stays && was_dead() {
                summary.dead_items.push(n);
            }
            let Some(version) = version else { continue };
            if verdict != Verdict::Stays {
                summary.removed += 1;
                if !version.header.xmin_hinted_aborted() {
                    self.newest_removed = self.newest_removed.max(version.header.raw_xmax);
                }
                continue;
            }
            summary.has_items = true;
            let ended = match version.state {
                State::Live => {
                    summary.live += 1;
                    Xid::INVALID
                }
                State::Inserting => Xid::INVALID,
                State::Deleting | State::RecentlyDead | State::Dead => {
                    let ender = version.header.raw_xmax;
                    summary.recently_dead += 1;
                    summary.died_before +=
                        u32::from(version.state != State::Deleting && ender < self.goal.began);
                    ender
                }
            };
            if ended.is_normal() && (!self.plan.prune_xid.is_valid() || ended < self.plan.prune_xid) {
                self.plan.prune_xid = ended;
            }
            let freezing = self.freezing(access, rel, (page, n), &version)?;
            seen_by_all &= version.state == State::Live && self.seen_by_all(access, rel, &version.header);
            can_be_frozen &= freezing.possible;
            self.slots[n as usize].freezing = freezing;
        }
        let all = self.goal.freeze_limit.is_some() && seen_by_all && can_be_frozen;
        self.freeze(all, &mut summary);
        summary.all_visible = seen_by_all && summary.dead_items.is_empty();
        summary.all_frozen = summary.all_visible && can_be_frozen;
        self.summary = summary;
        Ok(())
    }

    fn seen_by_all(&mut self, access: &Access<'_>, rel: &HeapRel, header: &Header) -> bool {
        if header.xmin_frozen() {
            return true;
        }
        let seen = self.known.is_removable(access.txns, rel.desc.kind, header.raw_xmin);
        if seen {
            self.newest_seen = self.newest_seen.max(header.raw_xmin);
        }
        seen
    }

    /// Tells standbys, before the page's record does, whose snapshots it would mislead.
    fn tell_standbys(&self, access: &Access<'_>, rel: &HeapRel, shown_to_all: bool) {
        if rel.desc.persistence != buffer::Persistence::Permanent {
            return;
        }
        let shown =
            if shown_to_all || !self.plan.frozen.is_empty() { self.newest_seen } else { Xid::INVALID };
        access.txns.note_removal(self.newest_removed.max(shown));
    }

    /// What may become of a set, if ids are to be taken out. One with old ids that still tells something is renewed.
    fn settle(
        &mut self,
        access: &Access<'_>,
        (page, n): (&PageBytes, OffsetNo),
        (multi, limit): (MultiXactId, OldestIds),
    ) -> HeapResult<PastXmax> {
        let txns = access.txns;
        let holders = txns.multi_holders(multi)?;
        let oldest = ids_of_set(txns, multi)?;
        let due = oldest.multi < limit.multi || oldest.xid < limit.xid;
        let what = match holders.as_slice() {
            [] => Ending::Clear,
            &[Holder { member, committed: true }] if Bases::of(page).fits(member.xid) => {
                Ending::Replace(member.xid)
            }
            _ if oldest.multi < limit.multi => {
                let Some(new) = renew(access, page, n, &holders)? else {
                    return Ok(PastXmax { what: Ending::Keep, due, left: oldest });
                };
                let left = match new.infomask & infomask::XMAX_IS_MULTI {
                    0 => OldestIds { xid: new.xmax, ..OldestIds::default() },
                    _ => ids_of_set(txns, MultiXactId(new.xmax.0))?,
                };
                self.plan.xmax_renewed.push(new);
                return Ok(PastXmax { what: Ending::Keep, due, left });
            }
            _ => Ending::Keep,
        };
        Ok(PastXmax { what, due, left: oldest })
    }

    /// What freezing of a version that stays takes.
    fn freezing(
        &mut self,
        access: &Access<'_>,
        rel: &HeapRel,
        place: (&PageBytes, OffsetNo),
        version: &Version,
    ) -> HeapResult<Freezing> {
        let header = &version.header;
        let Some(limit) = self.goal.freeze_limit else {
            // A hint that there is no `xmax` does not count: a crash may undo it, and the map's bit would stay.
            let held = header.raw_xmax.is_valid() || version.multi.is_some();
            return Ok(Freezing { possible: header.xmin_frozen() && !held, ..Freezing::default() });
        };
        let xmax = match version.multi {
            Some(multi) => self.settle(access, place, (multi, limit))?,
            None if !header.raw_xmax.is_valid() => PastXmax::default(),
            None => PastXmax {
                // A live version's xmax aborted or locks: it may go once it has ended.
                what: if header.has(infomask::XMAX_INVALID) { Ending::Clear } else { Ending::Keep },
                due: header.raw_xmax < limit.xid,
                left: OldestIds {
                    xid: if header.raw_xmax.is_normal() { header.raw_xmax } else { OldestIds::default().xid },
                    ..OldestIds::default()
                },
            },
        };
        let free = xmax.what == Ending::Clear || version.multi.is_none() && !header.raw_xmax.is_valid();
        let seen = version.state == State::Live && self.seen_by_all(access, rel, header);
        Ok(Freezing {
            forced: !header.xmin_frozen() && header.raw_xmin < limit.xid,
            possible: seen && free,
            xmax,
        })
    }

    /// Plans to freeze versions: all of them, if that makes the page all-frozen and nobody has to look at it again; else those that must be.
    fn freeze(&mut self, all: bool, summary: &mut PruneSummary) {
        if self.goal.freeze_limit.is_none() {
            return;
        }
        for n in 1..self.slots.len() as OffsetNo {
            let Slot { version: Some(version), verdict: Verdict::Stays, freezing, .. } =
                self.slots[n as usize]
            else {
                continue;
            };
            let (header, xmax) = (&version.header, freezing.xmax);
            if !header.xmin_frozen() {
                if all || freezing.forced {
                    self.plan.frozen.push(n);
                    self.newest_seen = self.newest_seen.max(header.raw_xmin);
                } else if header.raw_xmin.is_normal() {
                    summary.oldest.xid = summary.oldest.xid.min(header.raw_xmin);
                }
            }
            match xmax.what {
                Ending::Clear if all || xmax.due => self.plan.xmax_cleared.push(n),
                Ending::Replace(xid) if xmax.due => {
                    self.plan.xmax_replaced.push((n, xid));
                    summary.oldest.xid = summary.oldest.xid.min(xid);
                }
                _ => summary.oldest = summary.oldest.min(xmax.left),
            }
        }
    }
}

/// An `xmax` that says who holds a version, and has no old ids; none if the page's bases cannot express it.
fn renew(
    access: &Access<'_>,
    page: &PageBytes,
    n: OffsetNo,
    holders: &[Holder],
) -> HeapResult<Option<RenewedXmax>> {
    let members: Vec<Member> = holders.iter().map(|holder| holder.member).collect();
    let new = Xmax::of(&members, |members| access.txns.copy_multi(members))?;
    let fits = Bases::of(page).fits_xmax(new.raw, new.infomask);
    Ok(fits.then_some(RenewedXmax {
        offset: n,
        xmax: new.raw,
        infomask: new.infomask,
        infomask2: new.infomask2,
    }))
}

fn note_hint(page: &PageBytes, n: OffsetNo, bits: u16, hints: &mut Vec<(u16, u16)>) {
    if let Some(lp) = page::line_pointer(page, n) {
        hints.push((lp.offset + INFOMASK as u16, bits));
    }
}

impl Pruner {
    /// Carries out the plan as one WAL action. Needs a cleanup latch unless the plan keeps the items. `map`: the page's bits, which are
    /// set besides; the map page is pinned.
    pub fn execute(
        &self,
        access: &Access<'_>,
        rel: &HeapRel,
        page: &mut ExclusivePage<'_>,
        map: Option<(&VmCursor, u8)>,
    ) -> HeapResult<()> {
        let plan = &self.plan;
        self.set_hints(page, map.is_some() || !plan.is_empty());
        self.tell_standbys(access, rel, map.is_some());
        if plan.is_empty() {
            if page::prune_xid(page) != plan.prune_xid || page::has_flag(page, flags::PAGE_FULL) {
                page::set_prune_xid(page, plan.prune_xid);
                page::set_flag(page, flags::PAGE_FULL, false);
                page.mark_dirty_hint();
            }
            if let Some(map) = map {
                vm::set_visible(access, rel, page, map);
            }
            return Ok(());
        }
        if access.txns.early_limit(rel.desc.kind).is_valid() {
            tell_old_snapshots(access, rel, page, &removed(access, page, plan)?);
        }
        let tag = page.tag();
        let change = map.map(|(cursor, bits)| (cursor, VmChange { block: tag.block, bits }));
        let mut maps = MapGuards::latch(change);
        ops::prune(page, plan).map_err(|_| HeapError::Corrupt {
            rel: tag.rel,
            block: tag.block,
            offset: 0,
            what: "page cannot be pruned",
        })?;
        let mut data = Vec::with_capacity(256);
        put_prune(&mut data, plan, map.is_some());
        // A standby's queries that still see one of them conflict with the record.
        let newest_removed = self.newest_removed.0;
        if map.is_some() {
            ops::set_all_visible(page, true);
            maps.apply();
        }
        let persistence = rel.desc.persistence;
        let mut action =
            WalAction::for_relation(access.pool, persistence, Rmgr::Heap, info::PRUNE, Xid::INVALID);
        let i = action.page(page, PageChange::default());
        action.page_data(i, &data);
        action.data(&newest_removed.to_le_bytes()[..wal::byte_width(newest_removed)]);
        maps.log(&mut action);
        action.commit();
        Ok(())
    }
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
    let early: Vec<_> = removed
        .iter()
        .copied()
        .filter(|version| !is_removable(access.txns, rel.desc.kind, version.1))
        .collect();
    if !early.is_empty() {
        access.txns.lose(rel.desc.file, page.tag().block, &early);
    }
}
