//! How full a table's pages are, and whether the visibility map tells the truth of them: for extensions that show this.
//!
//! # Locks
//! One heap page, shared; nothing is held between two pages.
//!
//! # PostgreSQL counterpart
//! What `contrib/pgstattuple` and `contrib/pg_visibility` read of a heap.

use base::{BlockNo, OffsetNo, Tid};
use buffer::{Ring, SharedPage};
use page::PageBytes;
use txn::Transaction;

use crate::error::{HeapError, HeapResult};
use crate::fetch::heap_tag;
use crate::header::{Bases, Header};
use crate::rel::{Access, HeapRel};
use crate::visibility::{Dirty, Fate, Judge, is_removable};
use crate::{fsm, ops, vm};

/// Row versions, and the bytes that they take without line pointers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VersionSum {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl VersionSum {
    fn add(&mut self, bytes: usize) {
        self.count += 1;
        self.bytes += bytes as u64;
    }
}

/// What was found on pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Versions that are there.
    pub live: VersionSum,
    /// Versions that were updated, deleted, or never came to be.
    pub dead: VersionSum,
    /// Bytes between line pointers and versions.
    pub free: u64,
}

/// Bytes of a page that nothing uses; of a new page all but its header.
fn free_bytes(page: &PageBytes) -> usize {
    match page::is_new(page) {
        true => base::PAGE_SIZE - page::HEADER_SIZE,
        false => page::upper(page).saturating_sub(page::lower(page)),
    }
}

/// Calls `each` for every version on a page, with its length.
fn versions(
    rel: &HeapRel,
    page: &SharedPage<'_>,
    each: &mut dyn FnMut(OffsetNo, &mut Header, usize) -> HeapResult<()>,
) -> HeapResult<()> {
    let (bases, block) = (Bases::of(page), page.tag().block);
    for offset in 1..=page::max_offset(page) {
        let Some(item) = page::item(page, offset) else { continue };
        let (len, header) = (item.len(), Header::read(item, bases));
        let mut header = header.ok_or(HeapError::Corrupt {
            rel: rel.desc.file,
            block,
            offset,
            what: "row version is too short for its header",
        })?;
        each(offset, &mut header, len)?;
    }
    Ok(())
}

/// Adds what is on a page. A version is there for whoever does not mind if its transaction has committed; what `me` has deleted is not.
pub fn page(
    access: &Access<'_>,
    rel: &HeapRel,
    me: &Transaction,
    block: BlockNo,
    ring: &Ring,
    found: &mut Found,
) -> HeapResult<()> {
    let pin = access.pool.read_with(heap_tag(rel, block), Some(ring))?;
    let page = pin.shared();
    found.free += free_bytes(&page) as u64;
    let mut judge = Judge { txns: access.txns, page: &page };
    versions(rel, &page, &mut |n, header, len| {
        match judge.dirty(n, header, me)? {
            Dirty::Dead => found.dead.add(len),
            Dirty::Live | Dirty::InProgress(_) => found.live.add(len),
        }
        Ok(())
    })
}

/// As [`page()`], but what the maps say is taken for what is there: `false`, and only bytes, of a page that all may see. Of other pages a version whose insertion has not committed is not
/// counted at all.
pub fn page_or_maps(
    access: &Access<'_>,
    rel: &HeapRel,
    block: BlockNo,
    (map, ring): (&mut vm::VmCursor, &Ring),
    found: &mut Found,
) -> HeapResult<bool> {
    if vm::all_visible(access, rel, block, map)? {
        let free = fsm::recorded(access, rel, block)?.min(base::PAGE_SIZE);
        found.free += free as u64;
        found.live.bytes += (base::PAGE_SIZE - free) as u64;
        return Ok(false);
    }
    let pin = access.pool.read_with(heap_tag(rel, block), Some(ring))?;
    let page = pin.shared();
    found.free += free_bytes(&page) as u64;
    let mut judge = Judge { txns: access.txns, page: &page };
    versions(rel, &page, &mut |n, header, len| {
        match judge.for_vacuum(n, header)? {
            Fate::Live | Fate::DeleteInProgress => found.live.add(len),
            Fate::Dead(_) => found.dead.add(len),
            Fate::InsertInProgress => {}
        }
        Ok(())
    })?;
    Ok(true)
}

/// What a page says of itself: whether all its versions are visible to everybody.
pub fn is_page_all_visible(
    access: &Access<'_>,
    rel: &HeapRel,
    block: BlockNo,
    ring: &Ring,
) -> HeapResult<bool> {
    let pin = access.pool.read_with(heap_tag(rel, block), Some(ring))?;
    let page = pin.shared();
    Ok(!page::is_new(&page) && ops::is_all_visible(&page))
}

/// Of a page that the map calls all-visible, or all-frozen: appends the versions that are not. `bit`: [`vm::ALL_VISIBLE`] or [`vm::ALL_FROZEN`].
pub fn contradictions(
    access: &Access<'_>,
    rel: &HeapRel,
    block: BlockNo,
    (map, ring, bit): (&mut vm::VmCursor, &Ring, u8),
    out: &mut Vec<Tid>,
) -> HeapResult<()> {
    // Most pages need no look; those whose bit is set are looked at with it, under their latch.
    if vm::bits(access, rel, block, map)? & bit == 0 {
        return Ok(());
    }
    let pin = access.pool.read_with(heap_tag(rel, block), Some(ring))?;
    let page = pin.shared();
    if map.bits(block) & bit == 0 {
        return Ok(());
    }
    let mut judge = Judge { txns: access.txns, page: &page };
    versions(rel, &page, &mut |n, header, _| {
        let xmin = header.raw_xmin;
        let live = judge.for_vacuum(n, header)? == Fate::Live;
        let seen = header.xmin_frozen() || is_removable(access.txns, rel.desc.kind, xmin);
        let keeps = match bit {
            vm::ALL_FROZEN => header.xmin_frozen() && header.xmax_invalid(),
            _ => live && seen,
        };
        if !keeps {
            out.push(Tid::new(block, n));
        }
        Ok(())
    })
}
