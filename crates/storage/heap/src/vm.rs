//! # What
//! The visibility map: for each heap page whether all its rows are visible to every snapshot, and whether all are frozen.
//!
//! # Layout
//! Fork `vm`. Each page: the usual header, then 2 bits for each heap page, low bits first: bit 0 all-visible, bit 1 all-frozen.
//!
//! # Invariants
//! 1. All-frozen is only set together with all-visible.
//! 2. A set bit is never wrong. (A clear one may be: VACUUM will set it.) So clearing is part of the WAL action that makes the heap page
//!    not all-visible, and setting is logged with the heap page.
//!
//! # Locks
//! A map page is latched while the heap page is latched, never the other way round. Its buffer is pinned *before* the heap page is latched,
//! so that no I/O happens under the latch.
//!
//! # PostgreSQL counterpart and differences
//! `visibilitymap.c`. The map's page is a block of the WAL record and has its own LSN and image; redo needs no special rule.

use base::{BlockNo, Fork, PAGE_SIZE, RelFile, Tid, Xid};
use buffer::{BufferError, BufferPool, ExclusivePage, PageChange, Persistence, Pin, Tag, WalAction};
use page::{HEADER_SIZE, PageBytes};
use wal::{Rmgr, xlog_info};

use crate::error::HeapResult;
use crate::ops;
use crate::records::{VmChange, info, put_vm};
use crate::rel::{Access, HeapRel};

/// All rows of the page are visible to every snapshot.
pub const ALL_VISIBLE: u8 = 1;
/// All rows of the page are frozen.
pub const ALL_FROZEN: u8 = 2;

const PER_BYTE: u32 = 4;
/// Heap pages that one map page describes.
pub const HEAP_PAGES: u32 = (PAGE_SIZE - HEADER_SIZE) as u32 * PER_BYTE;

fn place(block: BlockNo) -> (u32, usize, u32) {
    let within = block.0 % HEAP_PAGES;
    (block.0 / HEAP_PAGES, HEADER_SIZE + (within / PER_BYTE) as usize, within % PER_BYTE * 2)
}

/// The bits of a heap page, from its map page.
pub fn get_bits(map: &PageBytes, block: BlockNo) -> u8 {
    let (_, byte, shift) = place(block);
    map[byte] >> shift & 3
}

/// Writes the bits of a heap page into its map page, which is initialised if it was new.
pub fn set_bits(map: &mut PageBytes, block: BlockNo, bits: u8) {
    if page::is_new(map) {
        page::init(map, 0);
    }
    let (_, byte, shift) = place(block);
    map[byte] = map[byte] & !(3 << shift) | (bits & 3) << shift;
}

/// Keeps the map page of the last look pinned, for the next.
#[derive(Default)]
pub struct VmCursor {
    pin: Option<(u32, Pin)>,
    /// A map page that was not there when this cursor looked. It may have been made since; that does not matter.
    absent: Option<u32>,
}

impl VmCursor {
    /// Whether the page that describes `block` is pinned.
    pub(crate) fn covers(&self, block: BlockNo) -> bool {
        self.pin.as_ref().is_some_and(|(n, _)| *n == place(block).0)
    }

    /// The bits of a heap page, from the pinned map page.
    pub(crate) fn bits(&self, block: BlockNo) -> u8 {
        self.pin.as_ref().filter(|_| self.covers(block)).map_or(0, |(_, pin)| get_bits(&pin.shared(), block))
    }

    /// Pins the page that describes `block` if it exists. No latch may be held.
    fn move_to(&mut self, access: &Access<'_>, rel: &HeapRel, block: BlockNo) -> HeapResult<bool> {
        let (map_block, ..) = place(block);
        if self.covers(block) {
            return Ok(true);
        }
        self.pin = None;
        if self.absent == Some(map_block) {
            return Ok(false);
        }
        if !map_exists(access, rel)? || map_block >= access.pool.nblocks(rel.desc.file, Fork::Vm)? {
            self.absent = Some(map_block);
            return Ok(false);
        }
        let tag = Tag { rel: rel.desc.file, fork: Fork::Vm, block: BlockNo(map_block) };
        self.pin = Some((map_block, access.pool.read(tag)?));
        Ok(true)
    }

    /// Pins the page that describes `block`, extending the map as needed. No latch may be held.
    pub(crate) fn pin(&mut self, access: &Access<'_>, rel: &HeapRel, block: BlockNo) -> HeapResult<()> {
        if self.move_to(access, rel, block)? {
            return Ok(());
        }
        extend_fork(access, rel, Fork::Vm, place(block).0)?;
        self.absent = None;
        self.move_to(access, rel, block)?;
        Ok(())
    }
}

/// Latched map pages that one WAL action changes together with heap pages.
pub(crate) struct MapGuards<'a> {
    pages: Vec<(ExclusivePage<'a>, Vec<VmChange>)>,
}

impl<'a> MapGuards<'a> {
    /// Latches the pages behind the cursors, each once, in order. Changes without a cursor that covers them are left out. The heap pages
    /// are latched.
    pub fn latch(changes: impl IntoIterator<Item = (&'a VmCursor, VmChange)>) -> MapGuards<'a> {
        let mut wanted: Vec<(u32, &Pin, Vec<VmChange>)> = Vec::new();
        for (cursor, change) in changes {
            let Some((n, pin)) = cursor.pin.as_ref().filter(|(n, _)| *n == place(change.block).0) else {
                continue;
            };
            match wanted.iter_mut().find(|(m, ..)| m == n) {
                Some((_, _, list)) => list.push(change),
                None => wanted.push((*n, pin, vec![change])),
            }
        }
        wanted.sort_by_key(|(n, ..)| *n);
        MapGuards { pages: wanted.into_iter().map(|(_, pin, list)| (pin.exclusive(), list)).collect() }
    }

    /// No map page.
    pub fn none() -> MapGuards<'a> {
        MapGuards { pages: Vec::new() }
    }

    /// Changes the bits: with the other pages of the action, before it is built.
    pub fn apply(&mut self) {
        for (page, changes) in &mut self.pages {
            for change in changes {
                set_bits(page, change.block, change.bits);
            }
        }
    }

    /// Adds the pages to the action.
    pub fn log<'b>(&'b mut self, action: &mut WalAction<'b>)
    where
        'a: 'b,
    {
        for (page, changes) in &mut self.pages {
            let i = action.page(page, PageChange::default());
            let mut data = Vec::with_capacity(10);
            for change in changes {
                put_vm(&mut data, *change);
            }
            action.page_data(i, &data);
        }
    }
}

/// Sets the bits of a heap page in the map, all-visible among them, and the page's own, as a WAL action. The map page is pinned.
pub(crate) fn set_visible(
    access: &Access<'_>,
    rel: &HeapRel,
    page: &mut ExclusivePage<'_>,
    (cursor, bits): (&VmCursor, u8),
) {
    let block = page.tag().block;
    let mut maps = MapGuards::latch([(cursor, VmChange { block, bits })]);
    ops::set_all_visible(page, true);
    maps.apply();
    let persistence = rel.desc.persistence;
    let mut action =
        WalAction::for_relation(access.pool, persistence, Rmgr::Heap, info::VISIBLE, Xid::INVALID);
    action.page(page, PageChange::default());
    maps.log(&mut action);
    action.commit();
}

/// Latches a heap page exclusively. If it is all-visible, the map page that describes it is pinned.
pub(crate) fn latch_covered<'p>(
    access: &Access<'_>,
    rel: &HeapRel,
    pin: &'p Pin,
    cursor: &mut VmCursor,
) -> HeapResult<ExclusivePage<'p>> {
    loop {
        let page = pin.exclusive();
        let block = page.tag().block;
        if !ops::is_all_visible(&page) || cursor.covers(block) {
            return Ok(page);
        }
        drop(page);
        cursor.pin(access, rel, block)?;
    }
}

fn map_exists(access: &Access<'_>, rel: &HeapRel) -> HeapResult<bool> {
    fork_exists(access, rel, Fork::Vm)
}

/// Whether a fork has a file.
pub(crate) fn fork_exists(access: &Access<'_>, rel: &HeapRel, fork: Fork) -> HeapResult<bool> {
    Ok(access.pool.smgr().exists(rel.desc.file, fork).map_err(BufferError::File)?)
}

/// Extends a map fork, creating it if necessary, until it has page `block`.
pub(crate) fn extend_fork(access: &Access<'_>, rel: &HeapRel, fork: Fork, block: u32) -> HeapResult<()> {
    let file = rel.desc.file;
    if !fork_exists(access, rel, fork)? {
        // Two at once: creating as redo does is no error if the other was faster.
        access.pool.smgr().create(file, fork, true).map_err(BufferError::File)?;
    }
    while access.pool.nblocks(file, fork)? <= block {
        let mut new = access.pool.extend(file, fork, rel.desc.persistence)?;
        page::init(&mut new, 0);
        new.mark_dirty();
    }
    Ok(())
}

/// The bits of a heap page. A hint as soon as it is returned, unless the heap page is latched.
pub fn bits(access: &Access<'_>, rel: &HeapRel, block: BlockNo, cursor: &mut VmCursor) -> HeapResult<u8> {
    if !cursor.move_to(access, rel, block)? {
        return Ok(0);
    }
    Ok(cursor.bits(block))
}

/// Whether every row on a heap page is visible to everybody, so that an index-only scan need not look at it. Read after the index entry:
/// the bit is cleared before the change that makes the entry or its row invisible is done.
pub fn all_visible(
    access: &Access<'_>,
    rel: &HeapRel,
    block: BlockNo,
    cursor: &mut VmCursor,
) -> HeapResult<bool> {
    Ok(bits(access, rel, block, cursor)? & ALL_VISIBLE != 0)
}

/// How many of these rows, from the first on, lie on pages that are [all visible](all_visible).
pub fn all_visible_from_first(
    access: &Access<'_>,
    rel: &HeapRel,
    rows: impl Iterator<Item = Tid>,
    cursor: &mut VmCursor,
) -> HeapResult<usize> {
    let mut rows = rows.peekable();
    let Some(first) = rows.peek() else { return Ok(0) };
    if !cursor.move_to(access, rel, first.block)? {
        return Ok(0);
    }
    let Some((map_block, pin)) = &cursor.pin else { return Ok(0) };
    let map = pin.shared();
    let is_seen =
        |row: &Tid| place(row.block).0 == *map_block && get_bits(&map, row.block) & ALL_VISIBLE != 0;
    Ok(rows.take_while(is_seen).count())
}

/// Counts the bits that are set: (all-visible, all-frozen) pages.
pub fn count(access: &Access<'_>, rel: &HeapRel, heap_pages: u32) -> HeapResult<(u32, u32)> {
    let (mut visible, mut frozen) = (0, 0);
    if !map_exists(access, rel)? {
        return Ok((0, 0));
    }
    let pages = access.pool.nblocks(rel.desc.file, Fork::Vm)?.min(heap_pages.div_ceil(HEAP_PAGES));
    for n in 0..pages {
        let pin = access.pool.read(Tag { rel: rel.desc.file, fork: Fork::Vm, block: BlockNo(n) })?;
        let map = pin.shared();
        for &byte in &map[HEADER_SIZE..] {
            visible += (byte & 0b0101_0101).count_ones();
            frozen += (byte & 0b1010_1010).count_ones();
        }
    }
    Ok((visible, frozen))
}

/// The pages of the map of a heap of so many pages: the last that it needs, in part perhaps, and how many that makes.
pub fn pages_of(heap_pages: u32) -> (BlockNo, u32) {
    let (last, ..) = place(BlockNo(heap_pages));
    (BlockNo(last), last + 1)
}

/// Clears the bits of heap pages from `pages` on, in the map page that has that one's.
pub fn clear_from(map: &mut PageBytes, pages: u32) {
    let (_, byte, shift) = place(BlockNo(pages));
    map[byte] &= (1 << shift) - 1;
    map[byte + 1..].fill(0);
}

/// Clears all bits; each page of the map is logged as a whole. The caller has the table to itself.
///
/// # Errors
/// A page of the map cannot be read.
pub fn clear(pool: &BufferPool, file: RelFile, persistence: Persistence) -> Result<(), BufferError> {
    if !pool.smgr().exists(file, Fork::Vm)? {
        return Ok(());
    }
    for block in (0..pool.nblocks(file, Fork::Vm)?).map(BlockNo) {
        let pin = pool.read(Tag { rel: file, fork: Fork::Vm, block })?;
        let mut map = pin.exclusive();
        if page::is_new(&map) {
            continue;
        }
        map[HEADER_SIZE..].fill(0);
        let mut action = WalAction::for_relation(pool, persistence, Rmgr::Xlog, xlog_info::FPI, Xid::INVALID);
        action.page(&mut map, PageChange { force_image: true, ..PageChange::default() });
        action.commit();
    }
    Ok(())
}

/// Clears the bits of heap pages from `pages` on: the heap was cut there, and what is added later starts unseen. The cut itself is
/// logged by the caller; the map page is logged as a whole, for a torn write must not take the bits that stay.
pub fn truncate(pool: &BufferPool, file: RelFile, pages: u32) -> Result<(), BufferError> {
    if !pool.smgr().exists(file, Fork::Vm)? {
        return Ok(());
    }
    let (last, count) = pages_of(pages);
    let map_pages = pool.nblocks(file, Fork::Vm)?;
    if last.0 < map_pages {
        let pin = pool.read(Tag { rel: file, fork: Fork::Vm, block: last })?;
        let mut map = pin.exclusive();
        if !page::is_new(&map) {
            clear_from(&mut map, pages);
            let mut action = WalAction::new(pool, Rmgr::Xlog, xlog_info::FPI, Xid::INVALID);
            action.page(&mut map, PageChange { force_image: true, ..PageChange::default() });
            action.commit();
        }
    }
    if count < map_pages {
        pool.truncate(file, Fork::Vm, count)?;
    }
    Ok(())
}
