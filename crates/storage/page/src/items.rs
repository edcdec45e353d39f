//! Line pointers and the items they name.

use base::{OffsetNo, PAGE_SIZE};

use crate::{
    Corrupt, HEADER_SIZE, Item, PageBytes, align8, compact,
    header::{self, flags},
};

/// Longest item that fits on a page with no special area.
pub const MAX_ITEM: usize = PAGE_SIZE - HEADER_SIZE - 8;

/// What a line pointer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LpFlags {
    /// Free for a new item.
    Unused = 0,
    /// Names an item.
    Normal = 1,
    /// Heap: its `offset` is the number of the line pointer where the HOT chain goes on.
    Redirect = 2,
    /// Dead. Heap: no item, waits until no index entry points here. Index: the entry may be removed, the item is still there.
    Dead = 3,
}

/// One line pointer. 4 bytes on the page: `offset` 15 bits, `flags` 2 bits, `len` 15 bits, from the low end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePointer {
    /// Start of the item, in bytes from the start of the page; of a redirect, a line pointer number.
    pub offset: u16,
    /// What it is.
    pub flags: LpFlags,
    /// Length of the item in bytes; 0 when there is none.
    pub len: u16,
}

impl LinePointer {
    /// A free line pointer.
    pub const UNUSED: LinePointer = LinePointer { offset: 0, flags: LpFlags::Unused, len: 0 };
    /// A dead heap line pointer.
    pub const DEAD: LinePointer = LinePointer { offset: 0, flags: LpFlags::Dead, len: 0 };

    /// A redirect to line pointer `to`.
    pub fn redirect(to: OffsetNo) -> LinePointer {
        LinePointer { offset: to, flags: LpFlags::Redirect, len: 0 }
    }

    /// Whether bytes on the page belong to it.
    pub fn has_item(self) -> bool {
        self.len != 0 && matches!(self.flags, LpFlags::Normal | LpFlags::Dead)
    }

    #[inline]
    fn decode(word: u32) -> LinePointer {
        let flags = match (word >> 15) & 3 {
            0 => LpFlags::Unused,
            1 => LpFlags::Normal,
            2 => LpFlags::Redirect,
            _ => LpFlags::Dead,
        };
        LinePointer { offset: (word & 0x7fff) as u16, flags, len: (word >> 17) as u16 }
    }

    #[inline]
    fn encode(self) -> u32 {
        (self.offset as u32 & 0x7fff) | (self.flags as u32) << 15 | (self.len as u32) << 17
    }
}

/// Where on a page line pointer `n` is, counted from 1: bytes from the start.
#[inline]
pub fn slot(n: OffsetNo) -> usize {
    HEADER_SIZE - 4 + 4 * n as usize
}

#[inline]
fn read_slot(page: &PageBytes, n: OffsetNo) -> LinePointer {
    let bytes = page[slot(n)..].first_chunk().expect("line pointers end before the page does");
    LinePointer::decode(u32::from_le_bytes(*bytes))
}

#[inline]
fn write_slot(page: &mut PageBytes, n: OffsetNo, lp: LinePointer) {
    let at = slot(n);
    page[at..at + 4].copy_from_slice(&lp.encode().to_le_bytes());
}

pub(crate) fn set_item_offset(page: &mut PageBytes, index: u16, offset: u16) {
    let n = index + 1;
    let lp = read_slot(page, n);
    write_slot(page, n, LinePointer { offset, ..lp });
}

/// Number of the last line pointer; 0 on an empty, new or damaged page.
#[inline]
pub fn max_offset(page: &PageBytes) -> OffsetNo {
    let lower = header::lower(page);
    if lower <= HEADER_SIZE || lower > PAGE_SIZE { 0 } else { ((lower - HEADER_SIZE) / 4) as OffsetNo }
}

/// Line pointer `n`, or `None` if there is none of that number.
#[inline]
pub fn line_pointer(page: &PageBytes, n: OffsetNo) -> Option<LinePointer> {
    if n == 0 || n > max_offset(page) { None } else { Some(read_slot(page, n)) }
}

/// The first of the line pointers `from..to` that is not dead; `to` if all of them are.
///
/// Where nobody has tidied up, whole pages of an index are dead, so it looks at many together.
pub fn past_dead(page: &PageBytes, from: OffsetNo, to: OffsetNo) -> OffsetNo {
    const FLAGS: u32 = (LpFlags::Dead as u32) << 15;
    let end = to.min(max_offset(page) + 1);
    if from == 0 || from >= end {
        return from;
    }
    let word = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
    let (words, _) = page[slot(from)..slot(end)].as_chunks::<4>();
    let (groups, _) = words.as_chunks::<16>();
    // Both bits of a dead one's flags are set, and of no other's.
    let all_dead = |group: &&[[u8; 4]; 16]| group.iter().fold(FLAGS, |all, one| all & word(one)) == FLAGS;
    let passed = 16 * groups.iter().take_while(all_dead).count();
    let rest = words[passed..].iter().take_while(|one| word(one) & FLAGS == FLAGS).count();
    from + (passed + rest) as OffsetNo
}

/// Replaces line pointer `n`. Space of an item that it named is not reclaimed before the next compaction.
///
/// # Panics
/// If there is no such line pointer.
pub fn set_line_pointer(page: &mut PageBytes, n: OffsetNo, lp: LinePointer) {
    assert!(n >= 1 && n <= max_offset(page), "line pointer {n} out of range");
    write_slot(page, n, lp);
    if lp.flags == LpFlags::Unused {
        header::set_flag(page, flags::HAS_FREE_LINES, true);
    }
}

/// The item of line pointer `n` (normal, or dead on an index page); `None` if it has none or the page is damaged.
#[inline]
pub fn item(page: &PageBytes, n: OffsetNo) -> Option<&[u8]> {
    item_at(page, line_pointer(page, n)?)
}

/// [`item`], by its line pointer.
#[inline]
pub fn item_at(page: &PageBytes, lp: LinePointer) -> Option<&[u8]> {
    if !lp.has_item() {
        return None;
    }
    page.get(lp.offset as usize..lp.offset as usize + lp.len as usize)
}

/// The first `N` bytes of item `n`; `None` if it has none, or fewer. With `n` beyond the line pointers it is any bytes of the page: for callers
/// that search among items they know to be there.
#[inline]
pub fn item_head<const N: usize>(page: &PageBytes, n: OffsetNo) -> Option<&[u8; N]> {
    let word = u32::from_le_bytes(*chunk(page, slot(n))?);
    // Normal and dead line pointers, which name items, are those with the lower bit set.
    if (word >> 15) & 1 == 0 || ((word >> 17) as usize) < N {
        return None;
    }
    chunk(page, (word & 0x7fff) as usize)
}

/// [`item_head`] of an item that is not marked as dead.
#[inline]
pub fn live_head<const N: usize>(page: &PageBytes, n: OffsetNo) -> Option<&[u8; N]> {
    let lp = LinePointer::decode(u32::from_le_bytes(*chunk(page, slot(n))?));
    if lp.flags != LpFlags::Normal || (lp.len as usize) < N {
        return None;
    }
    chunk(page, lp.offset as usize)
}

/// `N` bytes from `at` on; `None` if the page ends before.
#[inline]
fn chunk<const N: usize>(page: &PageBytes, at: usize) -> Option<&[u8; N]> {
    page.get(at..at + N)?.first_chunk()
}

/// The item of line pointer `n`, to be changed in place.
#[inline]
pub fn item_mut(page: &mut PageBytes, n: OffsetNo) -> Option<&mut [u8]> {
    let lp = line_pointer(page, n)?;
    if !lp.has_item() {
        return None;
    }
    page.get_mut(lp.offset as usize..lp.offset as usize + lp.len as usize)
}

/// Whether a line pointer is unused; looks at them only if the page's hint says that there are some.
pub fn has_unused_line_pointer(page: &PageBytes) -> bool {
    header::has_flag(page, flags::HAS_FREE_LINES)
        && (1..=max_offset(page)).any(|n| read_slot(page, n).flags == LpFlags::Unused)
}

/// Writes the item below `upper` and returns its line pointer's contents; `None` if `lower + new_slots` would meet it.
fn place(page: &mut PageBytes, bytes: &[u8], lower: usize) -> Option<LinePointer> {
    if !header::bounds_ok(page) || bytes.is_empty() || bytes.len() > MAX_ITEM {
        return None;
    }
    let upper = header::upper(page).checked_sub(align8(bytes.len()))?;
    if upper < lower {
        return None;
    }
    page[upper..upper + bytes.len()].copy_from_slice(bytes);
    page[upper + bytes.len()..upper + align8(bytes.len())].fill(0);
    header::set_upper(page, upper);
    Some(LinePointer { offset: upper as u16, flags: LpFlags::Normal, len: bytes.len() as u16 })
}

/// Adds an item to a heap page. `at`: the line pointer it must get (redo, or an unused one that the caller chose), else the first
/// unused one or a new one at the end. `None`, page unchanged, if it does not fit or line pointer `at` is in use.
pub fn add_item(page: &mut PageBytes, bytes: &[u8], at: Option<OffsetNo>) -> Option<OffsetNo> {
    let max = max_offset(page);
    let n = match at {
        Some(n) if n == 0 || n > max + 1 => return None,
        Some(n) => n,
        None => free_line(page).unwrap_or(max + 1),
    };
    if n <= max && read_slot(page, n).flags != LpFlags::Unused {
        return None;
    }
    let lower = if n > max { header::lower(page) + 4 } else { header::lower(page) };
    let lp = place(page, bytes, lower)?;
    header::set_lower(page, lower);
    write_slot(page, n, lp);
    Some(n)
}

/// First unused line pointer. Clears the hint when it was wrong.
fn free_line(page: &mut PageBytes) -> Option<OffsetNo> {
    if !header::has_flag(page, flags::HAS_FREE_LINES) {
        return None;
    }
    let found = (1..=max_offset(page)).find(|&n| read_slot(page, n).flags == LpFlags::Unused);
    if found.is_none() {
        header::set_flag(page, flags::HAS_FREE_LINES, false);
    }
    found
}

/// Index pages: inserts an item as line pointer `n`, moving `n` and those behind it up by one. `None`, page unchanged, if it does not fit.
pub fn insert_at(page: &mut PageBytes, n: OffsetNo, bytes: &[u8]) -> Option<OffsetNo> {
    let max = max_offset(page);
    if n == 0 || n > max + 1 {
        return None;
    }
    let lower = header::lower(page) + 4;
    let lp = place(page, bytes, lower)?;
    page.copy_within(slot(n)..lower - 4, slot(n) + 4);
    header::set_lower(page, lower);
    write_slot(page, n, lp);
    Some(n)
}

/// Whether an item satisfies invariant 2 as far as one can tell from itself.
fn item_ok(page: &PageBytes, lp: LinePointer) -> bool {
    let (start, end) = (lp.offset as usize, lp.offset as usize + align8(lp.len as usize));
    start % 8 == 0 && start >= header::upper(page) && end <= header::special_offset(page)
}

/// Collects the items that have bytes, renumbered by `keep`, and whether they are presorted.
fn collect(
    page: &PageBytes,
    mut keep: impl FnMut(OffsetNo) -> Option<u16>,
) -> Result<(Vec<Item>, bool), Corrupt> {
    if !header::bounds_ok(page) {
        return Err(Corrupt::Structure);
    }
    let max = max_offset(page);
    let mut items = Vec::with_capacity(max as usize);
    let (mut presorted, mut last, mut total) = (true, usize::MAX, 0);
    for n in 1..=max {
        let lp = read_slot(page, n);
        let Some(index) = keep(n) else { continue };
        if !lp.has_item() {
            continue;
        }
        if !item_ok(page, lp) {
            return Err(Corrupt::Structure);
        }
        let len = align8(lp.len as usize);
        presorted &= (lp.offset as usize) < last;
        last = lp.offset as usize;
        total += len;
        items.push(Item { index, offset: lp.offset, len: len as u16 });
    }
    if total > header::special_offset(page) - header::lower(page) {
        return Err(Corrupt::Structure);
    }
    Ok((items, presorted))
}

/// Heap pages: drops unused line pointers from the end and closes the gaps between items. The page is unchanged on error.
///
/// Needs a cleanup latch. Sets or clears the hint about free line pointers.
pub fn repair(page: &mut PageBytes) -> Result<(), Corrupt> {
    let (items, presorted) = collect(page, |n| Some(n - 1))?;
    compact(page, &items, presorted);
    truncate_line_pointers(page);
    let any = (1..=max_offset(page)).any(|n| read_slot(page, n).flags == LpFlags::Unused);
    header::set_flag(page, flags::HAS_FREE_LINES, any);
    Ok(())
}

/// Drops unused line pointers from the end of the array, but always keeps one line pointer.
pub fn truncate_line_pointers(page: &mut PageBytes) {
    let mut max = max_offset(page);
    while max > 1 && read_slot(page, max).flags == LpFlags::Unused {
        max -= 1;
    }
    if max > 0 {
        header::set_lower(page, HEADER_SIZE + 4 * max as usize);
    }
}

/// Index pages: removes the line pointers `doomed` (ascending, without repetition) with their items, renumbers the rest and closes
/// the gaps. The page is unchanged on error.
pub fn delete_items(page: &mut PageBytes, doomed: &[OffsetNo]) -> Result<(), Corrupt> {
    let max = max_offset(page);
    if doomed.windows(2).any(|w| w[0] >= w[1])
        || doomed.first() == Some(&0)
        || doomed.last().is_some_and(|&n| n > max)
    {
        return Err(Corrupt::Structure);
    }
    let mut next = 0;
    let mut kept = 0;
    let (items, presorted) = collect(page, |n| {
        if doomed.get(next) == Some(&n) {
            next += 1;
            return None;
        }
        kept += 1;
        Some(kept - 1)
    })?;
    let mut next = 0;
    let mut to = 1;
    for n in 1..=max {
        if doomed.get(next) == Some(&n) {
            next += 1;
            continue;
        }
        let lp = read_slot(page, n);
        write_slot(page, to, lp);
        to += 1;
    }
    compact(page, &items, presorted);
    header::set_lower(page, HEADER_SIZE + 4 * (to as usize - 1));
    Ok(())
}

/// Index pages: replaces item `n` by one of any length, keeping its line pointer's number and flags and the place of its bytes in the
/// order. `false`, page unchanged, if it does not fit or the page is damaged.
pub fn overwrite(page: &mut PageBytes, n: OffsetNo, bytes: &[u8]) -> bool {
    let Some(lp) = line_pointer(page, n) else { return false };
    if !header::bounds_ok(page)
        || !lp.has_item()
        || !item_ok(page, lp)
        || bytes.is_empty()
        || bytes.len() > MAX_ITEM
    {
        return false;
    }
    let (old, new) = (align8(lp.len as usize), align8(bytes.len()));
    let (upper, offset) = (header::upper(page), lp.offset as usize);
    if new > old && new - old > upper - header::lower(page) {
        return false;
    }
    let offset = if old == new {
        offset
    } else {
        let shift = old as isize - new as isize;
        let moved = |at: usize| (at as isize + shift) as usize;
        page.copy_within(upper..offset, moved(upper));
        for m in 1..=max_offset(page) {
            let other = read_slot(page, m);
            if other.has_item() && (other.offset as usize) < offset {
                write_slot(page, m, LinePointer { offset: moved(other.offset as usize) as u16, ..other });
            }
        }
        header::set_upper(page, moved(upper));
        moved(offset)
    };
    page[offset..offset + bytes.len()].copy_from_slice(bytes);
    page[offset + bytes.len()..offset + new].fill(0);
    write_slot(page, n, LinePointer { offset: offset as u16, len: bytes.len() as u16, ..lp });
    true
}
