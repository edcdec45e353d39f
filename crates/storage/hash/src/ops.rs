//! Pure changes of one page each. Normal running and redo call the same function, so that a page after redo has the same entries and links.
//!
//! A function that answers an error has left its page unchanged.

use base::{BlockNo, Lsn, PAGE_SIZE, Xid};
use index::bytes::{Check, deleted_item};
use page::PageBytes;

use crate::format::{
    DELETED, DOWNLINK, FIRST, FREE, INCOMPLETE, KEY, Key, NONE, Node, Opaque, SPECIAL, next_free, safe_xid,
};

/// Builds a page from nothing, keeping only its LSN.
pub(crate) fn fill(page: &mut PageBytes, opaque: Opaque, entries: &[u8]) -> Check<()> {
    if entries.len() > opaque.capacity() * opaque.width() || !entries.len().is_multiple_of(opaque.width()) {
        return Err("entries do not fit on the page");
    }
    let lsn = page::lsn(page);
    page::init(page, SPECIAL);
    page::set_lsn(page, lsn);
    opaque.write(page);
    page[FIRST..FIRST + entries.len()].copy_from_slice(entries);
    page::set_lower(page, FIRST + entries.len());
    Ok(())
}

/// Enters an entry as number `at`.
pub(crate) fn insert(page: &mut PageBytes, at: u16, entry: &[u8]) -> Check<()> {
    let node = Node::new(page)?;
    let (width, count, at) = (node.op.width(), node.count(), at as usize);
    if node.op.is(DELETED) || entry.len() != width || at > count || count >= node.op.capacity() {
        return Err("entry does not fit on the page");
    }
    let (start, end) = (FIRST + at * width, FIRST + count * width);
    page.copy_within(start..end, start + width);
    page[start..start + width].copy_from_slice(entry);
    page::set_lower(page, end + width);
    Ok(())
}

/// Removes the entries `doomed` (ascending).
pub(crate) fn remove(page: &mut PageBytes, doomed: &[u16]) -> Check<()> {
    let node = Node::new(page)?;
    let (width, count) = (node.op.width(), node.count());
    let ascending = doomed.windows(2).all(|pair| pair[0] < pair[1]);
    if node.op.is(DELETED) || !ascending || doomed.last().is_some_and(|&last| last as usize >= count) {
        return Err("entries to remove are not on the page");
    }
    let mut to = FIRST;
    for (i, &gone) in doomed.iter().enumerate() {
        let from = FIRST + gone as usize * width;
        let end = doomed.get(i + 1).map_or(count, |&next| next as usize);
        if i == 0 {
            to = from;
        }
        page.copy_within(from + width..FIRST + end * width, to);
        to += FIRST + end * width - from - width;
    }
    if !doomed.is_empty() {
        page::set_lower(page, to);
    }
    Ok(())
}

/// What becomes of the left page of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// Number of entries that stay.
    pub keep: u16,
    /// The page to the right.
    pub right: BlockNo,
    /// Its least key.
    pub key: Key,
    /// Where the log was.
    pub at: Lsn,
}

/// Leaves the first entries on a page; the others are on its new right sibling, which the directory does not know yet.
pub(crate) fn split(page: &mut PageBytes, split: Split) -> Check<()> {
    let node = Node::new(page)?;
    if node.op.is(DELETED) || split.keep as usize > node.count() {
        return Err("entries to keep are not on the page");
    }
    let flags = node.op.flags | INCOMPLETE;
    let op = Opaque { flags, next: split.right, high: split.key, split: split.at, ..node.op };
    page::set_lower(page, FIRST + split.keep as usize * op.width());
    op.write(page);
    Ok(())
}

/// The directory knows the page's right sibling.
pub(crate) fn complete(page: &mut PageBytes) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { flags: op.flags & !INCOMPLETE, ..op }.write(page);
    Ok(())
}

/// The page has another right sibling, or on the root: the list of free pages begins there.
pub(crate) fn set_next(page: &mut PageBytes, next: BlockNo) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { next, ..op }.write(page);
    Ok(())
}

/// The page takes over the keys of the one to its left.
pub(crate) fn set_low(page: &mut PageBytes, low: Key) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { low, ..op }.write(page);
    Ok(())
}

/// In a directory: the keys of entry `at` belong to the page of the next entry, which goes.
pub(crate) fn merge(page: &mut PageBytes, at: u16) -> Check<()> {
    let node = Node::new(page)?;
    let at = at as usize;
    if node.op.is_bucket() || at + 1 >= node.count() {
        return Err("entries to merge are not on the page");
    }
    let child = node.child(at + 1);
    let place = FIRST + at * DOWNLINK + KEY;
    remove(page, &[at as u16 + 1])?;
    page[place..place + 4].copy_from_slice(&child.0.to_le_bytes());
    Ok(())
}

/// A page that holds nothing but when it may be used again.
fn blank(page: &mut PageBytes, op: Opaque, safe: Xid, next: BlockNo) -> Check<()> {
    let lsn = page::lsn(page);
    page::init(page, SPECIAL);
    page::set_lsn(page, lsn);
    op.write(page);
    page::insert_at(page, 1, &deleted_item(safe, next)).ok_or("item does not fit on the page")?;
    Ok(())
}

/// Takes an empty bucket out of use. Its link stays for scans that still come by.
pub(crate) fn mark_deleted(page: &mut PageBytes, safe: Xid) -> Check<()> {
    let op = Opaque::read(page)?;
    blank(page, Opaque { flags: op.flags | DELETED, ..op }, safe, NONE)
}

/// Puts a deleted (or never used) page on the list of free pages, before `next`.
pub(crate) fn mark_free(page: &mut PageBytes, next: BlockNo) -> Check<()> {
    let (op, safe) = match Opaque::read(page) {
        Ok(op) => (op, safe_xid(page)),
        Err(_) if page::is_new(page) => (Opaque::new(0), Xid::INVALID),
        Err(what) => return Err(what),
    };
    blank(page, Opaque { flags: op.flags | DELETED | FREE, ..op }, safe, next)
}

/// Takes a page off the list of free pages.
pub(crate) fn unmark_free(page: &mut PageBytes) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { flags: op.flags & !FREE, ..op }.write(page);
    Ok(())
}

/// A page for a record that builds it from nothing: special area, then entries or when it may be used again.
pub(crate) fn blob(page: &PageBytes) -> Check<Vec<u8>> {
    let node = Node::new(page)?;
    let mut out = Vec::with_capacity(PAGE_SIZE);
    out.extend_from_slice(&node.op.encode());
    match node.op.is(DELETED) {
        true => out.extend_from_slice(&deleted_item(safe_xid(page), next_free(page))),
        false => out.extend_from_slice(node.entries),
    }
    Ok(out)
}

/// Rewrites a page from what [`blob`] made.
pub(crate) fn from_blob(page: &mut PageBytes, blob: &[u8]) -> Check<()> {
    let (special, rest) = blob.split_at_checked(SPECIAL).ok_or("record is too short")?;
    let op = Opaque::decode(special)?;
    if !op.is(DELETED) {
        return fill(page, op, rest);
    }
    let safe = Xid(index::bytes::u64_at(rest, 0));
    blank(page, op, safe, BlockNo(index::bytes::u32_at(rest, 8)))
}
