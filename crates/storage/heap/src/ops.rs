//! # What
//! Everything that may be done to a heap page, as pure functions of its bytes. Normal running and redo call the same ones.
//!
//! # Invariants
//! 1. A function that returns an error has changed nothing.
//! 2. The result depends only on the page and the arguments, except for hints: two copies of a page that went through the same changes
//!    are equal after [`mask_hints`].
//!
//! # PostgreSQL counterpart and differences
//! The critical sections of `heapam.c` and their doubles in `heapam_xlog.c`, written once.

use base::{BlockNo, MultiXactId, OffsetNo, Tid, Xid};
use page::{LinePointer, LpFlags, PageBytes, flags};
use txn::MemberStatus;

use crate::header::{
    self, Bases, HEADER_LEN, Header, INFOMASK, MAX_TUPLES_PER_PAGE, SPECIAL_LEN, infomask, infomask2,
    read_header, status_bits,
};

/// The page is not in the state that the change was made for: damaged, or redo of another history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch;

/// Result of a change.
pub type OpResult<T> = Result<T, Mismatch>;

/// Makes an empty heap page on which `xid` fits.
pub fn init_page(page: &mut PageBytes, xid: Xid) {
    page::init(page, SPECIAL_LEN);
    Bases::around(xid).store(page);
}

/// Room for one more tuple, its line pointer already subtracted; 0 if there are as many line pointers as there may be.
pub fn room(page: &PageBytes) -> usize {
    if page::max_offset(page) as usize >= MAX_TUPLES_PER_PAGE {
        if !page::has_unused_line_pointer(page) {
            return 0;
        }
        return page::free_space(page);
    }
    page::free_space_for_item(page) & !7
}

/// Adds a tuple (bytes as from [`crate::header::form_tuple`], with the final infomasks) as line pointer `at`, or where there is room.
pub fn insert(
    page: &mut PageBytes,
    block: BlockNo,
    at: Option<OffsetNo>,
    tuple: &mut [u8],
    xmin: Xid,
    cid: u32,
) -> OpResult<OffsetNo> {
    insert_locked(page, block, at, tuple, xmin, cid, Xid::INVALID)
}

/// As [`insert`], of a tuple without `xmax` as it was formed, wherever there is room.
#[inline]
pub(crate) fn insert_new(
    page: &mut PageBytes,
    block: BlockNo,
    tuple: &mut [u8],
    xmin: Xid,
    cid: u32,
) -> OpResult<OffsetNo> {
    let bases = Bases::of(page);
    if !bases.fits(xmin) || tuple.len() < HEADER_LEN || room(page) < page::align8(tuple.len()) {
        return Err(Mismatch);
    }
    header::begin_version(tuple, bases.encode(xmin), cid);
    let offset = page::add_item(page, tuple, None).ok_or(Mismatch)?;
    header::place_version(page::item_mut(page, offset).ok_or(Mismatch)?, Tid::new(block, offset));
    Ok(offset)
}

/// As [`insert`], with an `xmax` that the tuple's flags describe: those that lock the version which the new one replaces.
pub fn insert_locked(
    page: &mut PageBytes,
    block: BlockNo,
    at: Option<OffsetNo>,
    tuple: &mut [u8],
    xmin: Xid,
    cid: u32,
    raw_xmax: Xid,
) -> OpResult<OffsetNo> {
    let mut bases = Bases::of(page);
    let mut header = Header::read(tuple, bases).ok_or(Mismatch)?;
    let multi = header.multi().map(|_| MultiXactId(raw_xmax.0));
    if let Some(multi) = multi
        && page::max_offset(page) == 0
    {
        // A page with nothing on it takes any base.
        bases.multi = Bases::multi_around(multi);
    }
    if !bases.fits(xmin)
        || !bases.fits_xmax(raw_xmax, header.infomask)
        || room(page) < page::align8(tuple.len())
    {
        return Err(Mismatch);
    }
    if bases != Bases::of(page) {
        bases.store(page);
    }
    header.raw_xmin = xmin;
    header.raw_xmax = raw_xmax;
    header.cid = cid;
    header.write(tuple, bases);
    let offset = page::add_item(page, tuple, at).ok_or(Mismatch)?;
    header.ctid = Tid::new(block, offset);
    header.write(page::item_mut(page, offset).ok_or(Mismatch)?, bases);
    Ok(offset)
}

/// Adds a version that was elsewhere before, with the xids of `header`. It points to `next`, or to itself.
pub fn put_version(
    page: &mut PageBytes,
    block: BlockNo,
    tuple: &mut [u8],
    mut header: Header,
    next: Option<Tid>,
) -> OpResult<OffsetNo> {
    let bases = Bases::of(page);
    if !bases.fits(header.raw_xmin) || !bases.fits(header.raw_xmax) || tuple.len() < HEADER_LEN {
        return Err(Mismatch);
    }
    header.write(tuple, bases);
    let offset = page::add_item(page, tuple, None).ok_or(Mismatch)?;
    header.ctid = next.unwrap_or(Tid::new(block, offset));
    header.write(page::item_mut(page, offset).ok_or(Mismatch)?, bases);
    if !header.xmax_invalid() {
        mark_prunable(page, header.raw_xmax);
    }
    Ok(offset)
}

/// What a DELETE, UPDATE or row lock writes into the header of the old version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The version.
    pub offset: OffsetNo,
    /// Who; the number of a multixact if `infomask` says so.
    pub xmax: Xid,
    /// Replaces the bits of [`infomask::XMAX_BITS`] and [`infomask::COMBO_CID`].
    pub infomask: u16,
    /// Replaces the bits of [`infomask2::XMAX_BITS`].
    pub infomask2: u16,
    /// New `cid` field, if it changes (a lock leaves it).
    pub cid: Option<u32>,
    /// The next version; the tuple itself if there is none.
    pub next: Tid,
}

/// Stamps the old version.
pub fn stamp_xmax(page: &mut PageBytes, stamp: &Stamp) -> OpResult<()> {
    let bases = Bases::of(page);
    let mut header = read_header(page, stamp.offset).ok_or(Mismatch)?;
    if !bases.fits_xmax(stamp.xmax, stamp.infomask) {
        return Err(Mismatch);
    }
    let keep_combo = if stamp.cid.is_some() { 0 } else { header.infomask & infomask::COMBO_CID };
    header.raw_xmax = stamp.xmax;
    header.infomask =
        header.infomask & !(infomask::XMAX_BITS | infomask::COMBO_CID) | stamp.infomask | keep_combo;
    header.infomask2 = header.infomask2 & !infomask2::XMAX_BITS | stamp.infomask2;
    header.cid = stamp.cid.unwrap_or(header.cid);
    header.ctid = stamp.next;
    header.write(page::item_mut(page, stamp.offset).ok_or(Mismatch)?, bases);
    Ok(())
}

/// A version that nobody holds, and that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedRow {
    /// The version.
    pub offset: OffsetNo,
    /// New `cid` field.
    pub cid: u32,
    /// [`infomask::COMBO_CID`] if that is the number of a combo.
    pub combo: u16,
}

/// Deletes versions, all of them for `xid`.
pub fn delete_rows(page: &mut PageBytes, block: BlockNo, xid: Xid, rows: &[EndedRow]) -> OpResult<()> {
    if !Bases::of(page).fits(xid) || rows.iter().any(|row| read_header(page, row.offset).is_none()) {
        return Err(Mismatch);
    }
    let (bits, bits2) = status_bits(MemberStatus::Updated);
    for &EndedRow { offset, cid, combo } in rows {
        let next = Tid::new(block, offset);
        let (infomask, infomask2) = (bits | combo, bits2);
        stamp_xmax(page, &Stamp { offset, xmax: xid, infomask, infomask2, cid: Some(cid), next })?;
    }
    mark_prunable(page, xid);
    set_all_visible(page, false);
    Ok(())
}

/// What a row lock leaves in the header of a version that was neither updated nor deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowLock {
    /// Who; the number of a multixact if `infomask` says so.
    pub xmax: Xid,
    /// Bits of [`infomask::XMAX_BITS`], [`infomask::XMAX_LOCK_ONLY`] among them.
    pub infomask: u16,
    /// Bits of [`infomask2::XMAX_BITS`].
    pub infomask2: u16,
}

/// Locks versions of which none leads to another.
pub fn lock_rows(page: &mut PageBytes, block: BlockNo, locks: &[(RowLock, OffsetNo)]) -> OpResult<()> {
    let bases = Bases::of(page);
    let may = |lock: &RowLock, n| {
        lock.infomask & infomask::XMAX_LOCK_ONLY != 0
            && bases.fits_xmax(lock.xmax, lock.infomask)
            && read_header(page, n).is_some()
    };
    if !locks.iter().all(|(lock, n)| may(lock, *n)) {
        return Err(Mismatch);
    }
    for &(RowLock { xmax, infomask, infomask2 }, offset) in locks {
        let next = Tid::new(block, offset);
        stamp_xmax(page, &Stamp { offset, xmax, infomask, infomask2, cid: None, next })?;
    }
    Ok(())
}

/// Notes that a version on the page may become removable when `xid` has ended and no snapshot needs the version.
pub fn mark_prunable(page: &mut PageBytes, xid: Xid) {
    let old = page::prune_xid(page);
    if !old.is_valid() || xid < old {
        page::set_prune_xid(page, xid);
    }
}

/// Sets or clears the page's own all-visible bit.
pub fn set_all_visible(page: &mut PageBytes, on: bool) {
    page::set_flag(page, flags::ALL_VISIBLE, on);
}

/// Whether the page's own all-visible bit is set.
pub fn is_all_visible(page: &PageBytes) -> bool {
    page::has_flag(page, flags::ALL_VISIBLE)
}

/// What pruning and freezing do to a page. Every list ascends; no line pointer is in two of the first three.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrunePlan {
    /// Chain roots that now lead to a later member: (root, member).
    pub redirected: Vec<(OffsetNo, OffsetNo)>,
    /// Chain roots with no member left: index entries still point here.
    pub dead: Vec<OffsetNo>,
    /// Line pointers no index entry points to.
    pub unused: Vec<OffsetNo>,
    /// Versions whose inserter every snapshot sees.
    pub frozen: Vec<OffsetNo>,
    /// Versions whose `xmax` aborted or only locked, and has ended.
    pub xmax_cleared: Vec<OffsetNo>,
    /// Versions whose `xmax` is a multixact of which only the updater still matters.
    pub xmax_replaced: Vec<(OffsetNo, Xid)>,
    /// Versions whose `xmax` is an old multixact of whose members some still run.
    pub xmax_renewed: Vec<RenewedXmax>,
    /// The page's new prune xid.
    pub prune_xid: Xid,
}

impl PrunePlan {
    /// Makes it the plan to do nothing, and keeps the memory.
    pub fn clear(&mut self) {
        self.redirected.clear();
        for list in [&mut self.dead, &mut self.unused, &mut self.frozen, &mut self.xmax_cleared] {
            list.clear();
        }
        self.xmax_replaced.clear();
        self.xmax_renewed.clear();
        self.prune_xid = Xid::INVALID;
    }

    /// Whether no line pointer changes.
    pub fn keeps_items(&self) -> bool {
        self.redirected.is_empty() && self.dead.is_empty() && self.unused.is_empty()
    }

    /// Whether nothing changes but that these line pointers become unused.
    pub fn is_only_unused(&self, offsets: &[OffsetNo]) -> bool {
        self.unused == offsets && self.redirected.is_empty() && self.dead.is_empty() && self.keeps_headers()
    }

    /// Whether nothing changes but perhaps the prune xid.
    pub fn is_empty(&self) -> bool {
        self.keeps_items() && self.keeps_headers()
    }

    fn keeps_headers(&self) -> bool {
        self.frozen.is_empty()
            && self.xmax_cleared.is_empty()
            && self.xmax_replaced.is_empty()
            && self.xmax_renewed.is_empty()
    }
}

/// An `xmax` that says the same as the one before, without old ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenewedXmax {
    /// Whose.
    pub offset: OffsetNo,
    /// An xid, or the number of a multixact if `infomask` says so.
    pub xmax: Xid,
    /// Bits of [`infomask::XMAX_BITS`].
    pub infomask: u16,
    /// Bits of [`infomask2::XMAX_BITS`], without `HOT_UPDATED`.
    pub infomask2: u16,
}

/// Carries out a plan. Needs a cleanup latch unless [`PrunePlan::keeps_items`].
pub fn prune(page: &mut PageBytes, plan: &PrunePlan) -> OpResult<()> {
    let before = *page;
    let result = prune_with_gaps(page, plan).and_then(|()| match plan.keeps_items() {
        true => Ok(()),
        false => page::repair(page).map_err(|_| Mismatch),
    });
    if result.is_err() {
        *page = before;
    }
    result
}

/// As [`prune`], but the room of what goes is not closed up ([`page::repair`]), and a page that does not fit the plan is spoilt: for redo, which
/// closes up when it needs the room, and drops what is spoilt.
pub fn prune_with_gaps(page: &mut PageBytes, plan: &PrunePlan) -> OpResult<()> {
    let max = page::max_offset(page);
    let check = |n: OffsetNo| if n >= 1 && n <= max { Ok(n) } else { Err(Mismatch) };
    for &(from, to) in &plan.redirected {
        page::set_line_pointer(page, check(from)?, LinePointer::redirect(check(to)?));
    }
    for &n in &plan.dead {
        page::set_line_pointer(page, check(n)?, LinePointer::DEAD);
    }
    for &n in &plan.unused {
        page::set_line_pointer(page, check(n)?, LinePointer::UNUSED);
    }
    let bases = Bases::of(page);
    for &n in &plan.frozen {
        let bytes = page::item_mut(page, n).filter(|bytes| bytes.len() >= HEADER_LEN).ok_or(Mismatch)?;
        let mask = u16::from_le_bytes([bytes[INFOMASK], bytes[INFOMASK + 1]]) | infomask::XMIN_FROZEN;
        bytes[INFOMASK..INFOMASK + 2].copy_from_slice(&mask.to_le_bytes());
    }
    for &n in &plan.xmax_cleared {
        edit(page, bases, n, clear_xmax)?;
    }
    for &(n, updater) in &plan.xmax_replaced {
        if !bases.fits(updater) {
            return Err(Mismatch);
        }
        edit(page, bases, n, |header| {
            header.raw_xmax = updater;
            header.infomask &= !infomask::XMAX_BITS;
        })?;
    }
    for new in &plan.xmax_renewed {
        if !bases.fits_xmax(new.xmax, new.infomask) {
            return Err(Mismatch);
        }
        edit(page, bases, new.offset, |header| {
            const OF_XMAX: u16 = infomask2::XMAX_BITS & !infomask2::HOT_UPDATED;
            header.raw_xmax = new.xmax;
            header.infomask = header.infomask & !infomask::XMAX_BITS | new.infomask;
            header.infomask2 = header.infomask2 & !OF_XMAX | new.infomask2;
        })?;
    }
    page::set_prune_xid(page, plan.prune_xid);
    page::set_flag(page, flags::PAGE_FULL, false);
    Ok(())
}

fn clear_xmax(header: &mut Header) {
    header.raw_xmax = Xid::INVALID;
    header.infomask = header.infomask & !infomask::XMAX_BITS | infomask::XMAX_INVALID;
    header.infomask2 &= !infomask2::XMAX_BITS;
}

fn edit(page: &mut PageBytes, bases: Bases, n: OffsetNo, change: impl FnOnce(&mut Header)) -> OpResult<()> {
    let mut header = read_header(page, n).ok_or(Mismatch)?;
    change(&mut header);
    header.write(page::item_mut(page, n).ok_or(Mismatch)?, bases);
    Ok(())
}

/// Frees dead line pointers that no index entry points to any more. Moves nothing: an exclusive latch is enough.
pub fn free_dead(page: &mut PageBytes, offsets: &[OffsetNo]) -> OpResult<()> {
    let dead = |n: OffsetNo| {
        page::line_pointer(page, n).is_some_and(|lp| lp.flags == LpFlags::Dead && !lp.has_item())
    };
    if !offsets.iter().all(|&n| dead(n)) {
        return Err(Mismatch);
    }
    for &n in offsets {
        page::set_line_pointer(page, n, LinePointer::UNUSED);
    }
    page::truncate_line_pointers(page);
    Ok(())
}

/// New bases, and what to do with xids that are too old for them. A tuple may be in several lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebasePlan {
    /// The new bases.
    pub bases: Bases,
    /// `xmin` committed long ago.
    pub frozen: Vec<OffsetNo>,
    /// `xmin` aborted.
    pub xmin_aborted: Vec<OffsetNo>,
    /// `xmax` aborted or only locked.
    pub xmax_cleared: Vec<OffsetNo>,
    /// `xmax` committed long ago: the version is dead, but must wait for pruning.
    pub xmax_frozen: Vec<OffsetNo>,
}

/// Gives the page other bases. Moves nothing: an exclusive latch is enough.
pub fn rebase(page: &mut PageBytes, plan: &RebasePlan) -> OpResult<()> {
    let old = Bases::of(page);
    let mut headers = Vec::new();
    for n in 1..=page::max_offset(page) {
        if page::line_pointer(page, n).is_none_or(|lp| lp.flags != LpFlags::Normal) {
            continue;
        }
        let mut header = read_header(page, n).ok_or(Mismatch)?;
        if plan.frozen.binary_search(&n).is_ok() {
            header.raw_xmin = Xid::FROZEN;
            header.infomask |= infomask::XMIN_FROZEN;
        }
        if plan.xmin_aborted.binary_search(&n).is_ok() {
            header.raw_xmin = Xid::INVALID;
            header.infomask = header.infomask & !infomask::XMIN_FROZEN | infomask::XMIN_INVALID;
        }
        if plan.xmax_cleared.binary_search(&n).is_ok() {
            clear_xmax(&mut header);
        }
        if plan.xmax_frozen.binary_search(&n).is_ok() {
            header.raw_xmax = Xid::FROZEN;
            header.infomask = header.infomask & !infomask::XMAX_IS_MULTI | infomask::XMAX_COMMITTED;
        }
        if !plan.bases.fits(header.raw_xmin) || !plan.bases.fits_xmax(header.raw_xmax, header.infomask) {
            return Err(Mismatch);
        }
        headers.push((n, header));
    }
    debug_assert!(old != plan.bases, "a rebase changes the bases");
    for (n, header) in headers {
        if let Some(bytes) = page::item_mut(page, n) {
            header.write(bytes, plan.bases);
        }
    }
    plan.bases.store(page);
    Ok(())
}

/// Overwrites the data of a tuple in place, outside MVCC (counters in system catalogs). The length must not change.
pub fn overwrite_data(page: &mut PageBytes, offset: OffsetNo, data: &[u8]) -> OpResult<()> {
    let header = read_header(page, offset).ok_or(Mismatch)?;
    let bytes = page::item_mut(page, offset).ok_or(Mismatch)?;
    let target = &mut bytes[header.hoff as usize..];
    if target.len() != data.len() {
        return Err(Mismatch);
    }
    target.copy_from_slice(data);
    Ok(())
}

/// Makes equal what two copies of a page may differ in after the same changes: LSN, checksum, hints, command ids (which redo does not
/// restore), bytes that belong to nothing, and the order in which items lie.
pub fn mask_hints(page: &mut PageBytes) {
    // A damaged page stays as it is, and differs.
    let _ = page::repair(page);
    page[..12].fill(0);
    page::set_flag(page, flags::PAGE_FULL | flags::HAS_FREE_LINES | flags::ALL_VISIBLE, false);
    page::set_prune_xid(page, Xid::INVALID);
    let (lower, upper) = (page::lower(page), page::upper(page));
    if lower <= upper {
        page[lower..upper].fill(0);
    }
    let bases = Bases::of(page);
    for n in 1..=page::max_offset(page) {
        if page::line_pointer(page, n).is_none_or(|lp| lp.flags != LpFlags::Normal) {
            continue;
        }
        let Some(mut header) = read_header(page, n) else { continue };
        if !header.xmin_frozen() {
            header.infomask &= !infomask::XMIN_FROZEN;
        }
        header.infomask &= !(infomask::XMAX_COMMITTED | infomask::XMAX_INVALID | infomask::COMBO_CID);
        header.cid = 0;
        if let Some(bytes) = page::item_mut(page, n) {
            debug_assert!(bytes.len() >= HEADER_LEN);
            header.write(bytes, bases);
        }
    }
}
