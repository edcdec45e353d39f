//! # What
//! UPDATE and DELETE.
//!
//! An UPDATE writes a new version and points the old one at it. On the same page, when no index cares, the new version is *heap-only*: it
//! hangs on the old one's index entries (HOT).
//!
//! # Locks
//! The old version's page exclusively, and the new version's if that is another, lower block first; then visibility-map pages. When large values must
//! be stored or another page be found, the old version is first locked as by SELECT FOR UPDATE or FOR NO KEY UPDATE, so that the latch can be
//! given up; others may join with weaker locks meanwhile.
//!
//! # WAL and crash
//! One record for both pages and the map. On one page, the new version is logged without the bytes it shares with the old one.
//!
//! # PostgreSQL counterpart and differences
//! `heap_update`, `heap_delete`. They never wait for other transactions: see [`Refusal`].

use base::{BlockNo, CommandId, MultiXactId, OffsetNo, Tid, Xid};
use buffer::{ExclusivePage, PageChange, Pin, WalAction};
use page::{LpFlags, flags};
use tuple::Datum;
use tuple::varlena::External;
use txn::{Holder, LockStrength, MemberStatus};
use wal::Rmgr;

use crate::error::{DeleteOutcome, HeapError, HeapResult, Refusal, UpdateOutcome};
use crate::fetch::heap_tag;
use crate::header::{
    Bases, Header, INFOMASK, MOVED, form_tuple, infomask, infomask2, read_header, tuple_len,
};
use crate::insert::{InsertOptions, maps_to_clear};
use crate::lock::{Xmax, carry, fitting_xmax, lock_on_page};
use crate::ops::{self, Stamp};
use crate::place::{Placer, make_fit, make_multi_fit};
use crate::records::{Put, VmChange, common_parts, info, put_locked_tuple, put_stamp};
use crate::rel::{Access, HeapRel, Writer};
use crate::row::TupleRef;
use crate::toast;
use crate::visibility::{Hintable, Judge, Writable, cmin_cmax};
use crate::vm::{MapGuards, VmCursor, latch_covered};

/// What a writer found at a place.
pub(crate) enum Look {
    /// A version that the writer may change or lock. `mine`: its own lock; `updated`: the transaction that updated it, which does not conflict with the lock.
    Free { header: Header, mine: Option<LockStrength>, updated: Option<Holder> },
    /// One that he may not change.
    Refused(Refusal),
}

/// Judges the version at `tid` for a writer who needs a lock of this strength. The page is latched exclusively.
pub(crate) fn look(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    page: &mut ExclusivePage<'_>,
    tid: Tid,
    strength: LockStrength,
) -> HeapResult<Look> {
    writer.check(rel);
    if page::line_pointer(page, tid.offset).is_none_or(|lp| lp.flags != LpFlags::Normal) {
        return Ok(Look::Refused(Refusal::Invisible));
    }
    let Some(mut header) = read_header(page, tid.offset) else {
        return Err(corrupt(rel, tid, "line pointer leads to no tuple"));
    };
    let mut judge = Judge { txns: access.txns, page };
    let verdict = judge.for_update(tid.offset, &mut header, writer, strength)?;
    look_of(&judge, verdict, header, tid)
}

/// What a verdict means for a version.
pub(crate) fn look_of(
    judge: &Judge<'_, impl Hintable>,
    verdict: Writable,
    header: Header,
    tid: Tid,
) -> HeapResult<Look> {
    Ok(match verdict {
        Writable::Free { mine, updated } => Look::Free { header, mine, updated },
        Writable::ByMe(cmax) => Look::Refused(Refusal::SelfModified { cmax, next: header.ctid }),
        Writable::Busy { xid, mine } => Look::Refused(Refusal::WouldBlock { xid, mine }),
        Writable::Gone if header.ctid == MOVED => Look::Refused(Refusal::Moved),
        Writable::Gone => {
            let xmax = judge.ender(&header)?;
            Look::Refused(match header.ctid == tid {
                true => Refusal::Deleted { xmax },
                false => Refusal::Concurrent { next: header.ctid, xmax },
            })
        }
        Writable::Invisible => Look::Refused(Refusal::Invisible),
    })
}

pub(crate) fn corrupt(rel: &HeapRel, tid: Tid, what: &'static str) -> HeapError {
    HeapError::Corrupt { rel: rel.desc.file, block: tid.block, offset: tid.offset, what }
}

/// The `cid` field of a version that the writer ends: cmax, or a combo if he also began it.
pub(crate) fn ending_cid(header: &Header, writer: &Writer<'_>) -> (u32, u16) {
    if header.xmin_hinted_committed() || !writer.me.is_mine(header.raw_xmin) {
        return (writer.cid.0, 0);
    }
    let cmin: CommandId = cmin_cmax(header, writer.combo).0;
    (writer.combo.number(cmin, writer.cid), infomask::COMBO_CID)
}

/// The external values of the version at `n`.
fn pointers_at(rel: &HeapRel, page: &page::PageBytes, tid: Tid, header: &Header) -> Vec<External> {
    if !header.has(infomask::HAS_EXTERNAL) {
        return Vec::new();
    }
    page::item(page, tid.offset)
        .and_then(|bytes| TupleRef::new(tid, bytes, Bases::of(page)))
        .map_or_else(Vec::new, |row| toast::pointers_of(rel, &row))
}

/// Deletes the row version at `tid`.
pub fn delete(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tid: Tid,
) -> HeapResult<DeleteOutcome> {
    delete_for(access, rel, writer, tid, tid)
}

/// Deletes the row version at `tid` because its row goes to another table: who waits for it is told so.
pub fn move_away(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tid: Tid,
) -> HeapResult<DeleteOutcome> {
    delete_for(access, rel, writer, tid, MOVED)
}

/// Deletes the row version at `tid` and leaves `next` as its next version.
fn delete_for(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tid: Tid,
    next: Tid,
) -> HeapResult<DeleteOutcome> {
    access.pool.admit(rel.desc.persistence)?;
    let part = match &rel.desc.logged {
        None => Vec::new(),
        Some(logged) => logged.of_delete(access, rel, writer, tid)?,
    };
    let mut map = VmCursor::default();
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let mut page = latch_covered(access, rel, &pin, &mut map)?;
    let header = match look(access, rel, writer, &mut page, tid, LockStrength::Update)? {
        Look::Free { header, .. } => header,
        Look::Refused(refusal) => return Ok(DeleteOutcome::Refused(refusal)),
    };
    let pointers = pointers_at(rel, &page, tid, &header);
    delete_version(access, rel, writer, &mut page, &map, &header, (tid, next, &part))?;
    note_change(rel, writer, tid)?;
    drop(page);
    toast::delete_values(access, rel, writer, &pointers, delete)?;
    Ok(DeleteOutcome::Deleted)
}

/// Takes back a row version that this very command inserted, and that nobody is to find by an index: no command of any transaction sees it.
pub fn take_back(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tid: Tid,
) -> HeapResult<DeleteOutcome> {
    let mut map = VmCursor::default();
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let mut page = latch_covered(access, rel, &pin, &mut map)?;
    let own = read_header(&page, tid.offset).filter(|header| header.raw_xmin == writer.xid);
    let header = own.ok_or_else(|| corrupt(rel, tid, "tuple is not the writer's"))?;
    let pointers = pointers_at(rel, &page, tid, &header);
    let part = rel.desc.logged.as_ref().map_or_else(Vec::new, |logged| logged.of_take_back(writer));
    delete_version(access, rel, writer, &mut page, &map, &header, (tid, tid, &part))?;
    drop(page);
    toast::delete_values(access, rel, writer, &pointers, take_back)?;
    Ok(DeleteOutcome::Deleted)
}

/// Stamps a version that the writer may delete, and logs it, with the part for decoders of the log.
fn delete_version(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    page: &mut ExclusivePage<'_>,
    map: &VmCursor,
    header: &Header,
    (tid, next, part): (Tid, Tid, &[u8]),
) -> HeapResult<()> {
    let xmax = fitting_xmax(access, rel, writer, page, tid, MemberStatus::Updated)?;
    let mut maps = maps_to_clear(page, map, tid.block);
    let (cid, combo) = ending_cid(header, writer);
    let stamp = Stamp {
        offset: tid.offset,
        xmax: xmax.raw,
        infomask: combo | xmax.infomask,
        infomask2: xmax.infomask2,
        cid: Some(cid),
        next,
    };
    let mut log = Vec::with_capacity(16);
    put_stamp(&mut log, &stamp);
    ops::stamp_xmax(page, &stamp).map_err(|_| corrupt(rel, tid, "tuple cannot be deleted"))?;
    ops::mark_prunable(page, writer.xid);
    ops::set_all_visible(page, false);
    maps.apply();
    let mut action =
        WalAction::for_relation(access.pool, rel.desc.persistence, Rmgr::Heap, info::DELETE, writer.xid);
    // The data of the block tell which row a taken back one is.
    let change = PageChange { keep_data: !part.is_empty(), ..PageChange::default() };
    let i = action.page(page, change);
    action.page_data(i, &log);
    action.data(part);
    maps.log(&mut action);
    action.commit();
    Ok(())
}

/// The version at `tid` was just updated or deleted; its page is still latched.
#[inline]
fn note_change(rel: &HeapRel, writer: &Writer<'_>, tid: Tid) -> HeapResult<()> {
    match rel.serial(writer.me) {
        Some(serial) => Ok(serial.write_row(rel.desc.file, tid)?),
        None => Ok(()),
    }
}

/// Overwrites a row's values in place, outside MVCC: counters in system catalogs (`relpages`, `reltuples`), which everybody may see at once
/// and an abort need not undo. `edit` gets them all and says whether it changed any; no value may change its length. Nothing happens if somebody
/// has replaced the version or is about to: that one is returned. The caller holds a snapshot that sees the version, so that it is still
/// there.
pub fn update_in_place(
    access: &Access<'_>,
    rel: &HeapRel,
    tid: Tid,
    edit: impl FnOnce(&mut [Datum]) -> bool,
) -> HeapResult<Option<Xid>> {
    access.pool.admit(rel.desc.persistence)?;
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let mut page = pin.exclusive();
    let mut header = read_header(&page, tid.offset).ok_or_else(|| corrupt(rel, tid, "tuple is gone"))?;
    let holders = Judge { txns: access.txns, page: &mut page }.holders(tid.offset, &mut header)?;
    if let Some(other) = holders.iter().find(|holder| holder.member.status.updates()) {
        return Ok(Some(other.member.xid));
    }
    let mut values = Vec::new();
    let row = page::item(&page, tid.offset).and_then(|bytes| TupleRef::new(tid, bytes, Bases::of(&page)));
    row.and_then(|row| row.decode(&rel.desc.layout, row.columns(), &mut values).ok())
        .ok_or_else(|| corrupt(rel, tid, "row does not fit its columns"))?;
    if !edit(&mut values) {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(256);
    form_tuple(&rel.desc.layout, &values, &mut bytes);
    let hoff = bytes[INFOMASK + 2] as usize;
    ops::overwrite_data(&mut page, tid.offset, &bytes[hoff..])
        .map_err(|_| corrupt(rel, tid, "tuple cannot be overwritten in place"))?;
    let mut log = Vec::with_capacity(bytes.len());
    log.u16(tid.offset);
    log.extend_from_slice(&bytes[hoff..]);
    let mut action = WalAction::for_relation(
        access.pool,
        rel.desc.persistence,
        Rmgr::Heap,
        info::INPLACE,
        base::Xid::INVALID,
    );
    let i = action.page(&mut page, PageChange::default());
    action.page_data(i, &log);
    action.commit();
    Ok(None)
}

/// An UPDATE under way.
struct Update<'a> {
    access: &'a Access<'a>,
    rel: &'a HeapRel,
    writer: &'a Writer<'a>,
    tid: Tid,
    hot_candidate: bool,
    /// What becomes of the old version.
    status: MemberStatus,
    /// The new version.
    bytes: Vec<u8>,
    /// What the record says to decoders of the log, if anything.
    part: Option<Vec<u8>>,
}

/// Writes a new version of the row version at `tid`. `values` are all columns; unchanged large values may be handed over as the
/// [`Datum::Toasted`] that was read. `hot_candidate`: no column of any index changes, so that the new version needs no index entries if it
/// fits on the same page. `keys_changed`: some column of a unique index that foreign keys may refer to changes.
pub fn update(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tid: Tid,
    values: &[Datum],
    hot_candidate: bool,
    keys_changed: bool,
) -> HeapResult<UpdateOutcome> {
    access.pool.admit(rel.desc.persistence)?;
    let part = match &rel.desc.logged {
        None => None,
        Some(logged) => Some(logged.of_update(access, rel, writer, tid, values)?),
    };
    let mut map = VmCursor::default();
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let mut page = latch_covered(access, rel, &pin, &mut map)?;
    let status = if keys_changed { MemberStatus::Updated } else { MemberStatus::UpdatedNoKey };
    let (header, mine) = match look(access, rel, writer, &mut page, tid, status.strength())? {
        Look::Free { header, mine, .. } => (header, mine),
        Look::Refused(refusal) => return Ok(UpdateOutcome::Refused(refusal)),
    };
    let old_pointers = pointers_at(rel, &page, tid, &header);
    let mut update =
        Update { access, rel, writer, tid, hot_candidate, status, bytes: Vec::with_capacity(256), part };
    let as_it_is = tuple_len(&rel.desc.layout, values) <= toast::THRESHOLD
        && values.iter().filter_map(toast::as_external).all(|pointer| old_pointers.contains(&pointer));
    if as_it_is {
        update.form(values);
        if ops::room(&page) >= page::align8(update.bytes.len()) {
            let new = update.on_same_page(&mut page, &map)?;
            drop(page);
            drop_old_values(access, rel, writer, &old_pointers, values)?;
            return Ok(UpdateOutcome::Updated { tid: new, hot: hot_candidate });
        }
    }
    // The latch must be given up: nobody else may change the old version meanwhile.
    if mine < Some(status.strength()) {
        lock_on_page(access, rel, writer, &mut page, &map, tid, status.strength())?;
    }
    drop(page);
    let shorter = toast::shrink(access, rel, writer, values, Some(&old_pointers), InsertOptions::default())?;
    let values = shorter.as_deref().unwrap_or(values);
    update.form(values);
    let outcome = update.with_lock(&pin, &mut map)?;
    drop_old_values(access, rel, writer, &old_pointers, values)?;
    Ok(outcome)
}

/// Deletes the values that the new version did not take over.
fn drop_old_values(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    old: &[External],
    values: &[Datum],
) -> HeapResult<()> {
    if old.is_empty() {
        return Ok(());
    }
    let kept: Vec<External> = values.iter().filter_map(toast::as_external).collect();
    let gone: Vec<External> = old.iter().filter(|pointer| !kept.contains(pointer)).copied().collect();
    toast::delete_values(access, rel, writer, &gone, delete)
}

impl Update<'_> {
    fn form(&mut self, values: &[Datum]) {
        form_tuple(&self.rel.desc.layout, values, &mut self.bytes);
        self.set_mask(INFOMASK, infomask::UPDATED);
    }

    fn clear_mask(&mut self, at: usize, bits: u16) {
        let mask = u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]) & !bits;
        self.bytes[at..at + 2].copy_from_slice(&mask.to_le_bytes());
    }

    fn set_mask(&mut self, at: usize, bits: u16) {
        let mask = u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]) | bits;
        self.bytes[at..at + 2].copy_from_slice(&mask.to_le_bytes());
    }

    fn stamp(&self, header: &Header, xmax: &Xmax, next: Tid, hot: bool) -> Stamp {
        let (cid, combo) = ending_cid(header, self.writer);
        let hot = if hot { infomask2::HOT_UPDATED } else { 0 };
        Stamp {
            offset: self.tid.offset,
            xmax: xmax.raw,
            infomask: combo | xmax.infomask,
            infomask2: xmax.infomask2 | hot,
            cid: Some(cid),
            next,
        }
    }

    /// The old version's new `xmax`, and the one that the new version begins with: those who lock the old one lock the new one too.
    fn xmaxes(&mut self, page: &mut ExclusivePage<'_>, same_page: bool) -> HeapResult<(Header, Xmax, Xid)> {
        let (access, rel) = (self.access, self.rel);
        let header = self.old_header(page)?;
        let xmax = fitting_xmax(access, rel, self.writer, page, self.tid, self.status)?;
        let Some(carried) = carry(access, &header, &xmax, same_page)? else {
            return Ok((header, xmax, Xid::INVALID));
        };
        self.clear_mask(INFOMASK, infomask::XMAX_INVALID);
        self.set_mask(INFOMASK, carried.infomask);
        self.set_mask(INFOMASK - 2, carried.infomask2);
        Ok((header, xmax, carried.raw))
    }

    fn has_mask(&self, at: usize, bits: u16) -> bool {
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]) & bits == bits
    }

    fn old_header(&self, page: &page::PageBytes) -> HeapResult<Header> {
        read_header(page, self.tid.offset).ok_or_else(|| corrupt(self.rel, self.tid, "tuple is gone"))
    }

    fn action(&self, kind: u8) -> WalAction<'_> {
        WalAction::for_relation(
            self.access.pool,
            self.rel.desc.persistence,
            Rmgr::Heap,
            kind,
            self.writer.xid,
        )
    }

    /// Puts the new version on the old one's page, which has room.
    fn on_same_page(&mut self, page: &mut ExclusivePage<'_>, map: &VmCursor) -> HeapResult<Tid> {
        let block = self.tid.block;
        let (header, xmax, carried) = self.xmaxes(page, true)?;
        if self.has_mask(INFOMASK, infomask::XMAX_IS_MULTI) {
            make_multi_fit(self.access, self.rel, page, MultiXactId(carried.0))?;
        }
        let old = page::item(page, self.tid.offset).unwrap_or_default();
        let (prefix, suffix) = match self.part {
            None => common_parts(old, &self.bytes),
            Some(_) => (0, 0),
        };
        let hot = self.hot_candidate;
        if hot {
            self.set_mask(INFOMASK - 2, infomask2::HEAP_ONLY);
        }
        let mut maps = maps_to_clear(page, map, block);
        let (xid, cid) = (self.writer.xid, self.writer.cid.0);
        let offset = ops::insert_locked(page, block, None, &mut self.bytes, xid, cid, carried)
            .map_err(|_| corrupt(self.rel, self.tid, "page refuses a tuple"))?;
        let new = Tid::new(block, offset);
        let stamp = self.stamp(&header, &xmax, new, hot);
        ops::stamp_xmax(page, &stamp).expect("the old version was read above, and the page takes the xid");
        ops::mark_prunable(page, self.writer.xid);
        ops::set_all_visible(page, false);
        maps.apply();
        let mut log = Vec::with_capacity(self.bytes.len() + 32);
        put_stamp(&mut log, &stamp);
        log.u16(prefix);
        log.u16(suffix);
        put_locked_tuple(&mut log, offset, &self.bytes, prefix as usize, suffix as usize, carried);
        let mut action = self.action(if hot { info::HOT_UPDATE } else { info::UPDATE_HERE });
        let i = action.page(page, PageChange { keep_data: self.part.is_some(), ..PageChange::default() });
        action.page_data(i, &log);
        if let Some(part) = &self.part {
            action.data(part);
        }
        maps.log(&mut action);
        action.commit();
        note_change(self.rel, self.writer, self.tid)?;
        Ok(new)
    }

    /// Finds room for the new version, on whatever page. The old version is locked by the writer, no latch is held.
    fn with_lock(&mut self, old_pin: &Pin, old_map: &mut VmCursor) -> HeapResult<UpdateOutcome> {
        let (access, rel) = (self.access, self.rel);
        let mut placer = Placer::new(access, rel, self.bytes.len(), true)?;
        let need = page::align8(self.bytes.len());
        let mut new_map = VmCursor::default();
        // The old version's page first, and again if the map leads to it: somebody may have pruned it.
        let mut candidate = old_pin.clone();
        loop {
            let block = candidate.tag().block;
            if block == self.tid.block {
                let mut page = latch_covered(access, rel, old_pin, old_map)?;
                if ops::room(&page) >= need {
                    let tid = self.on_same_page(&mut page, old_map)?;
                    return Ok(UpdateOutcome::Updated { tid, hot: self.hot_candidate });
                }
                if !page::has_flag(&page, flags::PAGE_FULL) {
                    page::set_flag(&mut page, flags::PAGE_FULL, true);
                    page.mark_dirty_hint();
                }
                placer.reject(block, &page);
                drop(page);
                candidate = placer.next()?;
                continue;
            }
            let new_pin = candidate;
            let (mut old, mut new) = latch_two(access, rel, (old_pin, old_map), (&new_pin, &mut new_map))?;
            if !placer.fits(&new) {
                placer.reject(block, &new);
                drop((old, new));
                candidate = placer.next()?;
                continue;
            }
            make_fit(access, rel, &mut new, self.writer.xid)?;
            let tid = self.on_other_page(&mut old, &mut new, old_map, &new_map)?;
            rel.set_target_block(block);
            return Ok(UpdateOutcome::Updated { tid, hot: false });
        }
    }

    /// Puts the new version on another page, which takes the xid. Both are latched.
    fn on_other_page(
        &mut self,
        old: &mut ExclusivePage<'_>,
        new: &mut ExclusivePage<'_>,
        old_map: &VmCursor,
        new_map: &VmCursor,
    ) -> HeapResult<Tid> {
        let (access, rel, xid) = (self.access, self.rel, self.writer.xid);
        let (header, xmax, carried) = self.xmaxes(old, false)?;
        if self.has_mask(INFOMASK, infomask::XMAX_IS_MULTI) {
            make_multi_fit(access, rel, new, MultiXactId(carried.0))?;
        }
        let block: BlockNo = new.tag().block;
        let clear = |page: &page::PageBytes, map, block| {
            ops::is_all_visible(page).then_some((map, VmChange { block, bits: 0 }))
        };
        let mut maps = MapGuards::latch(
            clear(old, old_map, self.tid.block).into_iter().chain(clear(new, new_map, block)),
        );
        let init = page::is_new(new);
        if init {
            ops::init_page(new, xid);
        }
        let cid = self.writer.cid.0;
        let offset: OffsetNo = ops::insert_locked(new, block, None, &mut self.bytes, xid, cid, carried)
            .map_err(|_| corrupt(rel, Tid::new(block, 0), "page refuses a tuple"))?;
        let tid = Tid::new(block, offset);
        let stamp = self.stamp(&header, &xmax, tid, false);
        ops::stamp_xmax(old, &stamp).expect("the old version was read above, and the page takes the xid");
        ops::mark_prunable(old, xid);
        ops::set_all_visible(old, false);
        ops::set_all_visible(new, false);
        maps.apply();
        let (mut main, mut log) = (Vec::with_capacity(16), Vec::with_capacity(self.bytes.len()));
        put_stamp(&mut main, &stamp);
        put_locked_tuple(&mut log, offset, &self.bytes, 0, 0, carried);
        let mut action =
            WalAction::for_relation(access.pool, rel.desc.persistence, Rmgr::Heap, info::UPDATE, xid);
        let keep_data = self.part.is_some();
        let i = action.page(new, PageChange { will_init: init, keep_data, ..PageChange::default() });
        action.page_data(i, &log);
        action.page(old, PageChange::default());
        action.data(&main);
        if let Some(part) = &self.part {
            action.data(part);
        }
        maps.log(&mut action);
        action.commit();
        note_change(rel, self.writer, self.tid)?;
        Ok(tid)
    }
}

/// Latches two heap pages, lower block first, with map pages pinned for those that are all-visible. Returns them in the order given.
fn latch_two<'p>(
    access: &Access<'_>,
    rel: &HeapRel,
    a: (&'p Pin, &mut VmCursor),
    b: (&'p Pin, &mut VmCursor),
) -> HeapResult<(ExclusivePage<'p>, ExclusivePage<'p>)> {
    let (block_a, block_b) = (a.0.tag().block, b.0.tag().block);
    loop {
        let (first, second) = if block_a < block_b {
            let first = a.0.exclusive();
            (first, b.0.exclusive())
        } else {
            let second = b.0.exclusive();
            (a.0.exclusive(), second)
        };
        let a_bare = ops::is_all_visible(&first) && !a.1.covers(block_a);
        let b_bare = ops::is_all_visible(&second) && !b.1.covers(block_b);
        if !a_bare && !b_bare {
            return Ok((first, second));
        }
        drop((first, second));
        if a_bare {
            a.1.pin(access, rel, block_a)?;
        }
        if b_bare {
            b.1.pin(access, rel, block_b)?;
        }
    }
}
