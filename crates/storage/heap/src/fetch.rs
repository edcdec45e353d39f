//! # What
//! One row by its place: the visible member of a HOT chain, a version at an exact place, and the question of a unique index.
//!
//! # Locks
//! One heap page, shared.
//!
//! # PostgreSQL counterpart and differences
//! `heap_hot_search_buffer`, `heap_fetch`, `heap_index_delete_tuples`' neighbours. The version found is copied, so that no pin is held
//! between calls.

use base::{BlockNo, Fork, OffsetNo, Tid, Xid};
use buffer::{BufferError, Pin, SharedPage, Tag};
use page::{LpFlags, PageBytes};
use smgr::SmgrError;
use txn::{RelKind, Transaction, TxnSystem};

use crate::error::{HeapError, HeapResult};
use crate::header::{Bases, Header};
use crate::prune::{looks_prunable, prune_opt};
use crate::rel::{Access, HeapRel, View};
use crate::row::{HeapTuple, TupleRef};
use crate::serial::note_version;
use crate::shortcut::{LONG, Member};
use crate::visibility::{Dirty, Hintable, Judge, ender};

/// What a fetch by an index entry found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// A visible version: it is in the buffer now.
    Visible,
    /// None that this view sees.
    Invisible,
    /// None, and nobody will ever see one: the index entry may be marked dead.
    AllDead,
}

/// Members of a HOT chain in order.
struct Chain<'a> {
    txns: &'a TxnSystem,
    bases: Bases,
    next: OffsetNo,
    is_root: bool,
    expected_xmin: Option<Xid>,
    /// Steps left: a damaged chain may be a circle.
    steps: OffsetNo,
}

impl<'a> Chain<'a> {
    fn new(txns: &'a TxnSystem, page: &PageBytes, root: OffsetNo) -> Chain<'a> {
        let steps = page::max_offset(page) + 1;
        Chain { txns, bases: Bases::of(page), next: root, is_root: true, expected_xmin: None, steps }
    }

    /// The next member, on the page that it began with. Index entries never lead to heap-only tuples but through their root.
    #[inline]
    fn next(&mut self, page: &PageBytes) -> Option<(OffsetNo, Header)> {
        let mut lp = page::line_pointer(page, self.next)?;
        let mut direct = self.is_root;
        if lp.flags == LpFlags::Redirect && self.is_root {
            self.next = lp.offset;
            lp = page::line_pointer(page, self.next)?;
            direct = false;
        }
        self.is_root = false;
        self.steps = self.steps.checked_sub(1)?;
        if lp.flags != LpFlags::Normal {
            return None;
        }
        let n = self.next;
        let header = Header::read(page::item_at(page, lp)?, self.bases)?;
        if direct && header.is_heap_only() || self.expected_xmin.is_some_and(|xmin| xmin != header.raw_xmin) {
            return None;
        }
        Some((n, header))
    }

    /// Goes on behind `header`; `false` at the end of the chain.
    #[inline]
    fn follow(&mut self, header: &Header) -> HeapResult<bool> {
        if !header.is_hot_updated() {
            return Ok(false);
        }
        self.expected_xmin = Some(ender(self.txns, header)?);
        self.next = header.ctid.offset;
        Ok(true)
    }

    /// Goes on with this member, which is there. It may be one that was met before.
    fn jump(&mut self, page: &PageBytes, to: Member) {
        self.next = to.offset;
        self.expected_xmin = Some(to.xmin);
        self.steps = page::max_offset(page) + 1;
    }
}

pub(crate) fn heap_tag(rel: &HeapRel, block: BlockNo) -> Tag {
    Tag { rel: rel.desc.file, fork: Fork::Main, block }
}

/// Finds the version of a row that `view` sees, following the HOT chain from its root `tid`, and copies it to `out`.
pub fn fetch(
    access: &Access<'_>,
    rel: &HeapRel,
    view: &View<'_>,
    tid: Tid,
    out: &mut HeapTuple,
) -> HeapResult<Fetched> {
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    pin.prefetch(page::slot(tid.offset));
    let page = pin.shared();
    let prunable = looks_prunable(access.txns, rel, &page);
    let mut judge = Judge { txns: access.txns, page: &page };
    let (found, version) = find_on(access, rel, view, &mut judge, tid)?;
    if let Some((n, _)) = version
        && let Some(bytes) = page::item(&page, n)
    {
        out.fill(Tid::new(tid.block, n), Bases::of(&page), bytes);
    }
    drop(page);
    if prunable {
        prune_opt(access, rel, &pin)?;
    }
    Ok(found)
}

/// Rows of one page, fetched together.
#[derive(Default)]
pub struct FetchedRows {
    block: BlockNo,
    bases: Bases,
    /// What was found for each, its place, and where its bytes end; they begin where those of the one before end.
    found: Vec<(Fetched, OffsetNo, u32)>,
    bytes: Vec<u8>,
    pub(crate) locked: usize,
}

impl FetchedRows {
    /// No rows.
    pub fn new() -> FetchedRows {
        FetchedRows::default()
    }

    /// How many were looked for.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether none was looked for.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.found.clear();
        self.bytes.clear();
        self.locked = 0;
    }

    /// What was found of the one with this number.
    #[inline]
    pub fn found(&self, number: usize) -> Fetched {
        self.found.get(number).map_or(Fetched::Invisible, |found| found.0)
    }

    /// The same, and its version if it is visible and was copied.
    pub fn get(&self, number: usize) -> (Fetched, Option<TupleRef<'_>>) {
        let Some(&(found, n, end)) = self.found.get(number) else { return (Fetched::Invisible, None) };
        let start = number.checked_sub(1).map_or(0, |before| self.found[before].2);
        let bytes = &self.bytes[start as usize..end as usize];
        let visible = found == Fetched::Visible;
        (found, visible.then(|| TupleRef::new(Tid::new(self.block, n), bytes, self.bases)).flatten())
    }

    /// Of so many, the first ones, all that are visible were locked besides.
    pub fn locked(&self) -> usize {
        self.locked
    }

    /// Those that follow are of this page.
    pub(crate) fn begin(&mut self, block: BlockNo, page: &PageBytes) {
        self.clear();
        (self.block, self.bases) = (block, Bases::of(page));
    }

    /// Adds what was found, with the bytes of the version.
    #[inline]
    pub(crate) fn push(&mut self, found: Fetched, n: OffsetNo, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.found.push((found, n, self.bytes.len() as u32));
    }
}

/// Does for several rows of a page what [`fetch`] does for one.
pub fn fetch_rows(
    access: &Access<'_>,
    rel: &HeapRel,
    view: &View<'_>,
    (block, roots): (BlockNo, &[OffsetNo]),
    out: &mut FetchedRows,
) -> HeapResult<()> {
    let pin = access.pool.read(heap_tag(rel, block))?;
    let page = pin.shared();
    let prunable = looks_prunable(access.txns, rel, &page);
    out.begin(block, &page);
    let mut judge = Judge { txns: access.txns, page: &page };
    for &root in roots {
        let (found, version) = find_on(access, rel, view, &mut judge, Tid::new(block, root))?;
        match version {
            Some((n, _)) => out.push(found, n, page::item(&page, n).unwrap_or_default()),
            None => out.push(found, 0, &[]),
        }
    }
    drop(page);
    if prunable {
        prune_opt(access, rel, &pin)?;
    }
    Ok(())
}

/// What a fetch found, with the visible version's place and header.
type Found = (Fetched, Option<(OffsetNo, Header)>);

/// The visible version: its place and its header; none if there is none.
#[inline]
pub(crate) fn find_on<P: Hintable>(
    access: &Access<'_>,
    rel: &HeapRel,
    view: &View<'_>,
    judge: &mut Judge<'_, P>,
    tid: Tid,
) -> HeapResult<Found> {
    match lone_version(judge.page.page(), tid.offset) {
        Some(mut header) if rel.serial(view.me).is_none() => {
            if judge.sees(tid.offset, &mut header, view)? {
                return Ok((Fetched::Visible, Some((tid.offset, header))));
            }
            let all_dead = is_dead(rel, view, judge, tid.offset, &mut header)?;
            not_found(rel, view, tid, all_dead)
        }
        _ => find_in_chain(access, rel, view, judge, tid),
    }
}

/// The header of a row that has one version only, as most have.
#[inline]
fn lone_version(page: &PageBytes, root: OffsetNo) -> Option<Header> {
    let lp = page::line_pointer(page, root).filter(|lp| lp.flags == LpFlags::Normal)?;
    let header = Header::read(page::item_at(page, lp)?, Bases::of(page))?;
    (!header.is_heap_only() && !header.is_hot_updated()).then_some(header)
}

/// [`find_on`], by a walk along the chain.
fn find_in_chain<P: Hintable>(
    access: &Access<'_>,
    rel: &HeapRel,
    view: &View<'_>,
    judge: &mut Judge<'_, P>,
    tid: Tid,
) -> HeapResult<Found> {
    let mut chain = Chain::new(access.txns, judge.page.page(), tid.offset);
    let mut all_dead = true;
    let serial = rel.serial(view.me);
    let mut walked = 0;
    while let Some((n, mut header)) = chain.next(judge.page.page()) {
        walked += 1;
        if walked == LONG
            && serial.is_none()
            && let Some(member) = rel.shortcuts.of(tid, judge.page.page(), view)
        {
            chain.jump(judge.page.page(), member);
            // As dead as the member are all before it.
            all_dead = true;
            continue;
        }
        let sees = judge.sees(n, &mut header, view)?;
        if let Some(serial) = &serial {
            let place = (rel, Tid::new(tid.block, n));
            note_version(serial, access.txns, place, &header, (view.me, sees), true, || true)?;
        }
        if sees {
            note_shortcut(rel, view, judge, (tid, walked), (n, &header))?;
            return Ok((Fetched::Visible, Some((n, header))));
        }
        all_dead = all_dead && is_dead(rel, view, judge, n, &mut header)?;
        if !chain.follow(&header)? {
            note_shortcut(rel, view, judge, (tid, walked), (n, &header))?;
            break;
        }
    }
    not_found(rel, view, tid, all_dead)
}

/// Whether nobody will ever see a version that `view` does not.
#[inline]
fn is_dead<P: Hintable>(
    rel: &HeapRel,
    view: &View<'_>,
    judge: &mut Judge<'_, P>,
    n: OffsetNo,
    header: &mut Header,
) -> HeapResult<bool> {
    // Who ended it may be needed as long as this very snapshot is held, and rows of a temporary table are not looked at by any other.
    let recent = header.multi().is_none() && header.raw_xmax >= view.snapshot.xmin();
    if recent && header.xmin_hinted_committed() && rel.desc.kind != RelKind::Temp {
        return Ok(false);
    }
    judge.surely_dead(n, header, rel.desc.kind)
}

/// No version is visible.
#[inline]
fn not_found(rel: &HeapRel, view: &View<'_>, tid: Tid, all_dead: bool) -> HeapResult<Found> {
    if view.snapshot.lost_page(rel.desc.file, tid.block) {
        return Err(HeapError::SnapshotTooOld);
    }
    Ok((if all_dead { Fetched::AllDead } else { Fetched::Invisible }, None))
}

/// The walk along the chain from `root` ends with this member: it is noted if the walk was long, and others come to it likewise.
#[inline]
fn note_shortcut<P: Hintable>(
    rel: &HeapRel,
    view: &View<'_>,
    judge: &Judge<'_, P>,
    (root, walked): (Tid, u32),
    (n, header): (OffsetNo, &Header),
) -> HeapResult<()> {
    if walked < 2 * LONG {
        return Ok(());
    }
    let xmin = header.raw_xmin;
    if header.is_heap_only()
        && xmin.is_normal()
        && !view.me.is_mine(xmin)
        && view.snapshot.sees(xmin)
        && (header.xmin_hinted_committed() || judge.txns.did_commit(xmin)?)
    {
        rel.shortcuts.note(root, Member { offset: n, xmin }, judge.page.page(), view);
    }
    Ok(())
}

/// The page of a place that a user may have made up; `None` if the file ends before it.
fn read_if_there(access: &Access<'_>, rel: &HeapRel, block: BlockNo) -> HeapResult<Option<Pin>> {
    match access.pool.read(heap_tag(rel, block)) {
        Ok(pin) => Ok(Some(pin)),
        Err(BufferError::File(SmgrError::PastEnd { .. })) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Copies the version at exactly `tid` whether or not anybody sees it; `false` if there is none. For a row that was locked, and for
/// an updated row's next version.
pub fn fetch_version(access: &Access<'_>, rel: &HeapRel, tid: Tid, out: &mut HeapTuple) -> HeapResult<bool> {
    let Some(pin) = read_if_there(access, rel, tid.block)? else { return Ok(false) };
    let page = pin.shared();
    let normal = page::line_pointer(&page, tid.offset).is_some_and(|lp| lp.flags == LpFlags::Normal);
    let Some(bytes) = page::item(&page, tid.offset).filter(|_| normal) else { return Ok(false) };
    out.fill(tid, Bases::of(&page), bytes);
    Ok(out.get().is_some())
}

/// As [`fetch_version`], but only a version that `view` sees: `ctid = …` conditions.
pub fn fetch_exact(
    access: &Access<'_>,
    rel: &HeapRel,
    view: &View<'_>,
    tid: Tid,
    out: &mut HeapTuple,
) -> HeapResult<bool> {
    let Some(pin) = read_if_there(access, rel, tid.block)? else { return not_lost(rel, view, tid.block) };
    let page = pin.shared();
    if page::line_pointer(&page, tid.offset).is_none_or(|lp| lp.flags != LpFlags::Normal) {
        return not_lost(rel, view, tid.block);
    }
    let bases = Bases::of(&page);
    let Some(bytes) = page::item(&page, tid.offset) else { return Ok(false) };
    let Some(mut header) = Header::read(bytes, bases) else {
        let what = "line pointer leads to no tuple";
        return Err(HeapError::Corrupt { rel: rel.desc.file, block: tid.block, offset: tid.offset, what });
    };
    let sees = (Judge { txns: access.txns, page: &page }).sees(tid.offset, &mut header, view)?;
    if let Some(serial) = rel.serial(view.me) {
        note_version(&serial, access.txns, (rel, tid), &header, (view.me, sees), true, || true)?;
    }
    if !sees {
        return not_lost(rel, view, tid.block);
    }
    out.fill(tid, bases, bytes);
    Ok(true)
}

/// Nothing was found on a page: false, unless something that the view sees was removed from it.
fn not_lost(rel: &HeapRel, view: &View<'_>, block: BlockNo) -> HeapResult<bool> {
    if view.snapshot.lost_page(rel.desc.file, block) { Err(HeapError::SnapshotTooOld) } else { Ok(false) }
}

/// What a unique index must know of the row behind an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// A live row: a conflict.
    Live {
        /// Its live version.
        tid: Tid,
    },
    /// Being inserted or deleted: wait for this transaction and look again.
    InProgress {
        /// The transaction.
        xid: Xid,
        /// The version.
        tid: Tid,
    },
    /// No version is live. `all_dead`: no snapshot will ever see one, so the entry may be marked dead.
    Dead {
        /// See above.
        all_dead: bool,
    },
}

/// Whether the row at HOT chain root `tid` is live: "dirty" visibility, which sees what others have not committed yet.
pub fn unique_liveness(
    access: &Access<'_>,
    rel: &HeapRel,
    me: &Transaction,
    tid: Tid,
) -> HeapResult<Liveness> {
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let page = pin.shared();
    let mut judge = Judge { txns: access.txns, page: &page };
    let mut chain = Chain::new(access.txns, &page, tid.offset);
    let mut all_dead = true;
    while let Some((n, mut header)) = chain.next(&page) {
        match judge.dirty(n, &mut header, me)? {
            Dirty::Live => return Ok(Liveness::Live { tid: Tid::new(tid.block, n) }),
            Dirty::InProgress(xid) => {
                return Ok(Liveness::InProgress { xid, tid: Tid::new(tid.block, n) });
            }
            Dirty::Dead => {}
        }
        all_dead = all_dead && judge.surely_dead(n, &mut header, rel.desc.kind)?;
        if !chain.follow(&header)? {
            break;
        }
    }
    Ok(Liveness::Dead { all_dead })
}

/// Adds to `dead` those of the HOT chains with these `roots`, all on one page, that nobody sees any more, now or later. A page that is not in the pool is not
/// read for that.
pub fn dead_chains(
    access: &Access<'_>,
    rel: &HeapRel,
    block: BlockNo,
    roots: &[OffsetNo],
    dead: &mut Vec<OffsetNo>,
) -> HeapResult<()> {
    let Some(pin) = access.pool.read_cached(heap_tag(rel, block)) else { return Ok(()) };
    let page = pin.shared();
    for &root in roots {
        if is_dead_chain(access, rel, &page, root)? {
            dead.push(root);
        }
    }
    Ok(())
}

fn is_dead_chain(
    access: &Access<'_>,
    rel: &HeapRel,
    page: &SharedPage<'_>,
    root: OffsetNo,
) -> HeapResult<bool> {
    let mut judge = Judge { txns: access.txns, page };
    let mut chain = Chain::new(access.txns, page, root);
    while let Some((n, mut header)) = chain.next(page) {
        if !judge.surely_dead(n, &mut header, rel.desc.kind)? {
            return Ok(false);
        }
        if !chain.follow(&header)? {
            break;
        }
    }
    Ok(true)
}
