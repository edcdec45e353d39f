//! The 32 bytes at the head of a page.

use base::{Lsn, PAGE_SIZE, Xid};

use crate::PageBytes;

/// Bytes of the header.
pub const HEADER_SIZE: usize = 32;
/// Layout version written by [`init`].
pub const VERSION: u16 = 1;

/// Bits of the `flags` field.
pub mod flags {
    /// A hint: some line pointer below `lower` is unused.
    pub const HAS_FREE_LINES: u16 = 1;
    /// A hint: an UPDATE found no room here for its new version; pruning is worth while.
    pub const PAGE_FULL: u16 = 2;
    /// Every tuple on the page is visible to every transaction. Never set while the visibility map's bit is not, except
    /// after a crash that lost the map.
    pub const ALL_VISIBLE: u16 = 4;
}

const FLAGS: usize = 12;
const LOWER: usize = 14;
const UPPER: usize = 16;
const SPECIAL: usize = 18;
const VERSION_AT: usize = 20;
const PRUNE_XID: usize = 24;

#[inline]
pub(crate) fn get_u16(page: &PageBytes, at: usize) -> u16 {
    u16::from_le_bytes([page[at], page[at + 1]])
}

#[inline]
pub(crate) fn put_u16(page: &mut PageBytes, at: usize, value: u16) {
    page[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

#[inline]
fn get_u64(page: &PageBytes, at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&page[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// End of the last WAL record that changed the page.
#[inline]
pub fn lsn(page: &PageBytes) -> Lsn {
    Lsn(get_u64(page, 0))
}

/// Stamps the page with the end of the WAL record that changed it.
#[inline]
pub fn set_lsn(page: &mut PageBytes, lsn: Lsn) {
    page[..8].copy_from_slice(&lsn.0.to_le_bytes());
}

/// Whether the page was never initialised: its header is all zero.
#[inline]
pub fn is_new(page: &PageBytes) -> bool {
    get_u16(page, UPPER) == 0 && page[..HEADER_SIZE].iter().all(|&b| b == 0)
}

/// Makes an empty page with `special` bytes (rounded up to 8) for the access method. Everything else becomes zero.
///
/// # Panics
/// If `special` leaves no room for a line pointer: a constant of the access method is wrong.
pub fn init(page: &mut PageBytes, special: usize) {
    let special = PAGE_SIZE - crate::align8(special);
    assert!(special >= HEADER_SIZE + 4, "special area fills the page");
    page.fill(0);
    put_u16(page, LOWER, HEADER_SIZE as u16);
    put_u16(page, UPPER, special as u16);
    put_u16(page, SPECIAL, special as u16);
    put_u16(page, VERSION_AT, VERSION);
}

/// All flags; see [`flags`].
pub fn flags_of(page: &PageBytes) -> u16 {
    get_u16(page, FLAGS)
}

/// Layout version of the page.
pub fn version(page: &PageBytes) -> u16 {
    get_u16(page, VERSION_AT)
}

/// End of the line pointers, in bytes from the start of the page.
#[inline]
pub fn lower(page: &PageBytes) -> usize {
    get_u16(page, LOWER) as usize
}

/// Start of the items, in bytes from the start of the page.
#[inline]
pub fn upper(page: &PageBytes) -> usize {
    get_u16(page, UPPER) as usize
}

/// Start of the special area, in bytes from the start of the page.
#[inline]
pub fn special_offset(page: &PageBytes) -> usize {
    get_u16(page, SPECIAL) as usize
}

/// The access method's own area; empty if the header is damaged.
#[inline]
pub fn special(page: &PageBytes) -> &[u8] {
    page.get(special_offset(page)..).unwrap_or(&[])
}

/// The access method's own area, to be changed.
#[inline]
pub fn special_mut(page: &mut PageBytes) -> &mut [u8] {
    let at = special_offset(page).min(PAGE_SIZE);
    &mut page[at..]
}

/// Bytes between line pointers and items.
#[inline]
pub fn free_space(page: &PageBytes) -> usize {
    upper(page).saturating_sub(lower(page))
}

/// Bytes left for one more item and its line pointer, line pointer already subtracted.
#[inline]
pub fn free_space_for_item(page: &PageBytes) -> usize {
    free_space(page).saturating_sub(4)
}

/// Sets what [`lower`] returns, for pages that keep something else than line pointers there.
pub fn set_lower(page: &mut PageBytes, value: usize) {
    put_u16(page, LOWER, value as u16);
}

pub(crate) fn set_upper(page: &mut PageBytes, value: usize) {
    put_u16(page, UPPER, value as u16);
}

/// Whether all of these [`flags`] are set.
#[inline]
pub fn has_flag(page: &PageBytes, flag: u16) -> bool {
    get_u16(page, FLAGS) & flag == flag
}

/// Sets or clears [`flags`].
#[inline]
pub fn set_flag(page: &mut PageBytes, flag: u16, on: bool) {
    let old = get_u16(page, FLAGS);
    put_u16(page, FLAGS, if on { old | flag } else { old & !flag });
}

/// Heap: oldest xid whose end may make a tuple on this page prunable; invalid if there is none.
#[inline]
pub fn prune_xid(page: &PageBytes) -> Xid {
    Xid(get_u64(page, PRUNE_XID))
}

/// Sets what [`prune_xid`] returns.
#[inline]
pub fn set_prune_xid(page: &mut PageBytes, xid: Xid) {
    page[PRUNE_XID..PRUNE_XID + 8].copy_from_slice(&xid.0.to_le_bytes());
}

/// Invariant 1: the bounds make sense, so that items may be placed by them.
pub(crate) fn bounds_ok(page: &PageBytes) -> bool {
    let (lower, upper, special) = (lower(page), upper(page), special_offset(page));
    HEADER_SIZE <= lower && lower <= upper && upper <= special && special <= PAGE_SIZE && special % 8 == 0
}
