//! # What
//! The free-space map: roughly how many bytes are free on each heap page, to be searched for a page with enough.
//!
//! # Layout
//! Fork `fsm`. Each page: the usual header, then one byte for each child, free bytes divided by 32, rounded down. The fork is made of groups:
//! an upper page, then up to 8160 leaves. A leaf has a byte for each of 8160 heap pages; the upper page a byte for each
//! of its leaves, at least the largest byte in it. One group describes 66 million heap pages (508 GiB).
//!
//! # Invariants
//! 1. Everything here is a hint and may be wrong in both directions: the caller looks at the page that it is led to, and records the true value.
//! 2. An upper byte that promises too much is lowered by the search that was misled; one that promises too little is raised by the next
//!    [`record`] in its leaf. So errors do not last.
//!
//! # Locks
//! One latch at a time, and no other latch is held meanwhile.
//!
//! # WAL and crash
//! Not logged. A page that a crash has torn is found by its checksum and starts again as "nothing is free" (VACUUM fills it).
//!
//! # PostgreSQL counterpart and differences
//! `freespace.c`, `fsmpage.c`. A flat byte array with two levels in place of a binary tree in each page with three: to scan 8160 bytes is
//! one vectorised loop.

use base::{BlockNo, Fork, PAGE_SIZE};
use buffer::{BufferError, Pin, Tag};
use page::{HEADER_SIZE, PageBytes};

use crate::error::HeapResult;
use crate::rel::{Access, HeapRel};
use crate::vm::{extend_fork, fork_exists};

/// Children of a page.
const FANOUT: u32 = (PAGE_SIZE - HEADER_SIZE) as u32;
/// Bytes that one step of a category stands for.
const STEP: usize = 32;

/// (leaf's block in the fork, its upper page's block, byte of the heap page in the leaf, byte of the leaf in the upper page)
fn place(block: u32) -> (u32, u32, u32, u32) {
    let leaf = block / FANOUT;
    let (group, within) = (leaf / FANOUT, leaf % FANOUT);
    let upper = group * (FANOUT + 1);
    (upper + 1 + within, upper, block % FANOUT, within)
}

fn category(free: usize) -> u8 {
    (free / STEP).min(255) as u8
}

/// Least category that promises `need` bytes.
fn wanted(need: usize) -> u8 {
    need.div_ceil(STEP).clamp(1, 255) as u8
}

fn bytes(page: &PageBytes) -> &[u8] {
    &page[HEADER_SIZE..]
}

/// First byte of at least `wanted` at or behind `start`, going round.
fn find(page: &PageBytes, wanted: u8, start: usize) -> Option<u32> {
    let all = bytes(page);
    let hit = |range: std::ops::Range<usize>| {
        all[range.clone()].iter().position(|&byte| byte >= wanted).map(|i| (range.start + i) as u32)
    };
    hit(start..all.len()).or_else(|| hit(0..start))
}

fn pin(access: &Access<'_>, rel: &HeapRel, block: u32) -> HeapResult<Pin> {
    let tag = Tag { rel: rel.desc.file, fork: Fork::Fsm, block: BlockNo(block) };
    match access.pool.read(tag) {
        Ok(pin) => Ok(pin),
        Err(BufferError::Corrupt { .. }) => {
            let pin = access.pool.read_or_zero(tag)?;
            let mut page = pin.exclusive();
            page::init(&mut page, 0);
            page.mark_dirty();
            drop(page);
            Ok(pin)
        }
        Err(error) => Err(error.into()),
    }
}

/// Changes one byte; `only_raise` leaves larger ones.
fn put(
    access: &Access<'_>,
    rel: &HeapRel,
    block: u32,
    byte: u32,
    value: u8,
    only_raise: bool,
) -> HeapResult<()> {
    set(&pin(access, rel, block)?, byte, value, only_raise);
    Ok(())
}

/// As [`put`], of a pinned page.
fn set(pin: &Pin, byte: u32, value: u8, only_raise: bool) {
    let at = HEADER_SIZE + byte as usize;
    {
        let page = pin.shared();
        if page[at] == value || only_raise && page[at] > value {
            return;
        }
    }
    let mut page = pin.exclusive();
    if page::is_new(&page) {
        page::init(&mut page, 0);
    }
    if !only_raise || page[at] < value {
        page[at] = value;
        page.mark_dirty();
    }
}

/// Notes how many bytes are free on a heap page. No latch may be held.
pub fn record(access: &Access<'_>, rel: &HeapRel, block: BlockNo, free: usize) -> HeapResult<()> {
    let (leaf, upper, byte, upper_byte) = place(block.0);
    if !fork_exists(access, rel, Fork::Fsm)? || access.pool.nblocks(rel.desc.file, Fork::Fsm)? <= leaf {
        extend_fork(access, rel, Fork::Fsm, leaf)?;
    }
    put(access, rel, leaf, byte, category(free), false)?;
    put(access, rel, upper, upper_byte, category(free), true)
}

/// Notes the free bytes of many pages in order, as [`record`] does for one: leaves stay pinned meanwhile, and the upper page learns of a leaf
/// when all of it is noted.
#[derive(Default)]
pub(crate) struct Recorder {
    leaf: Option<(u32, Pin)>,
    /// Of the leaf: its upper page, its byte there, the largest category noted.
    above: (u32, u32, u8),
}

impl Recorder {
    /// Notes how many bytes are free on a heap page. No latch may be held.
    pub fn record(
        &mut self,
        access: &Access<'_>,
        rel: &HeapRel,
        block: BlockNo,
        free: usize,
    ) -> HeapResult<()> {
        let (leaf, upper, byte, upper_byte) = place(block.0);
        if self.leaf.as_ref().is_none_or(|(pinned, _)| *pinned != leaf) {
            self.finish(access, rel)?;
            if !fork_exists(access, rel, Fork::Fsm)? || access.pool.nblocks(rel.desc.file, Fork::Fsm)? <= leaf
            {
                extend_fork(access, rel, Fork::Fsm, leaf)?;
            }
            self.leaf = Some((leaf, pin(access, rel, leaf)?));
            self.above = (upper, upper_byte, 0);
        }
        let Some((_, pin)) = &self.leaf else { return Ok(()) };
        let category = category(free);
        self.above.2 = self.above.2.max(category);
        set(pin, byte, category, false);
        Ok(())
    }

    /// All pages are noted.
    pub fn finish(&mut self, access: &Access<'_>, rel: &HeapRel) -> HeapResult<()> {
        let (upper, byte, category) = self.above;
        match self.leaf.take() {
            Some(_) => put(access, rel, upper, byte, category, true),
            None => Ok(()),
        }
    }
}

/// A heap page below `nblocks` that may have `need` bytes free. Searches of different workers start at different places.
/// No latch may be held.
pub fn search(access: &Access<'_>, rel: &HeapRel, need: usize, nblocks: u32) -> HeapResult<Option<BlockNo>> {
    if nblocks == 0 || !fork_exists(access, rel, Fork::Fsm)? {
        return Ok(None);
    }
    let fork_len = access.pool.nblocks(rel.desc.file, Fork::Fsm)?;
    let wanted = wanted(need);
    let spread = runtime::worker_index().unwrap_or(0) * 61;
    for upper in (0..fork_len).step_by(FANOUT as usize + 1) {
        let upper_pin = pin(access, rel, upper)?;
        loop {
            let found = find(&upper_pin.shared(), wanted, 0);
            let Some(child) = found else { break };
            let leaf = upper + 1 + child;
            let mut best = 0;
            if leaf < fork_len {
                let first = (upper / (FANOUT + 1) * FANOUT + child) * FANOUT;
                let known = nblocks.saturating_sub(first).min(FANOUT);
                let leaf_pin = pin(access, rel, leaf)?;
                let page = leaf_pin.shared();
                if let Some(byte) = find_below(&page, wanted, spread, known) {
                    return Ok(Some(BlockNo(first + byte)));
                }
                best = greatest(&bytes(&page)[..known as usize]);
            }
            put(access, rel, upper, child, best, false)?;
        }
    }
    Ok(None)
}

/// [`find`] among the first `known` bytes only: the file may have been cut.
fn find_below(page: &PageBytes, wanted: u8, spread: usize, known: u32) -> Option<u32> {
    if known == 0 {
        return None;
    }
    let known = known as usize;
    let start = spread % known;
    let all = &bytes(page)[..known];
    let hit = |from: usize, to: usize| first_at_least(&all[from..to], wanted).map(|i| (from + i) as u32);
    hit(start, known).or_else(|| hit(0, start))
}

/// Where the first byte is that is not less. Most are: runs of them are passed by vector instructions.
fn first_at_least(bytes: &[u8], wanted: u8) -> Option<usize> {
    const RUN: usize = 64;
    let run = bytes.chunks(RUN).position(|run| greatest(run) >= wanted)? * RUN;
    bytes[run..].iter().position(|&byte| byte >= wanted).map(|i| run + i)
}

fn greatest(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |greatest, &byte| greatest.max(byte))
}

/// Free bytes that the map believes a heap page to have (for tests and `pg_freespace`).
pub fn recorded(access: &Access<'_>, rel: &HeapRel, block: BlockNo) -> HeapResult<usize> {
    let (leaf, _, byte, _) = place(block.0);
    if !fork_exists(access, rel, Fork::Fsm)? || access.pool.nblocks(rel.desc.file, Fork::Fsm)? <= leaf {
        return Ok(0);
    }
    let pin = pin(access, rel, leaf)?;
    Ok(pin.shared()[HEADER_SIZE + byte as usize] as usize * STEP)
}
