//! Pure changes of one page each. Normal running and redo call the same function, so that a page after redo has the same items and links.
//!
//! A function that answers an error, or that something does not fit, has left its page unchanged.

use base::{BlockNo, OffsetNo, PAGE_SIZE, Xid};
use index::bytes::{Check, Reader, deleted_item, put_items};
use page::PageBytes;

use crate::format::{DELETED, FREE, INCOMPLETE, NONE, Node, Opaque, SPECIAL, leaf_items};
use crate::posting;

/// Builds a page from nothing, keeping only its LSN.
pub(crate) fn fill<T: AsRef<[u8]>>(page: &mut PageBytes, opaque: Opaque, items: &[T]) -> Check<()> {
    let mut new: PageBytes = [0; PAGE_SIZE];
    page::init(&mut new, SPECIAL);
    page::set_lsn(&mut new, page::lsn(page));
    opaque.write(&mut new);
    for (at, item) in items.iter().enumerate() {
        page::insert_at(&mut new, at as OffsetNo + 1, item.as_ref()).ok_or("items do not fit on the page")?;
    }
    *page = new;
    Ok(())
}

/// Adds ascending TIDs to an item of a leaf, which becomes several if it is too long. `false` if they do not fit.
pub(crate) fn add_tids(page: &mut PageBytes, n: OffsetNo, tids: &[u64]) -> Check<bool> {
    let item = Node::new(page)?.leaf(n)?;
    let (Some(&first), behind) = (tids.first(), tids.first().is_some_and(|first| *first > item.last()))
    else {
        return Ok(true);
    };
    if behind && let Some(new) = item.with_tail(tids) {
        return Ok(replace(page, n, &new));
    }
    let mut old = Vec::with_capacity(item.count());
    item.tids(&mut old)?;
    let Some(all) = posting::merge(&old, tids) else { return Ok(true) };
    let of = item.position().at(first);
    let items = leaf_items(of, &all, !behind);
    let mut work = *page;
    for (at, new) in items.iter().enumerate() {
        let at = at as OffsetNo;
        let fits = match at {
            0 => page::overwrite(&mut work, n, new),
            _ => page::insert_at(&mut work, n + at, new).is_some(),
        };
        if !fits {
            return Ok(false);
        }
    }
    *page = work;
    Ok(true)
}

/// Replaces an item, in its place if it is as long as before.
fn replace(page: &mut PageBytes, n: OffsetNo, new: &[u8]) -> bool {
    match page::item_mut(page, n) {
        Some(old) if old.len() == new.len() => {
            old.copy_from_slice(new);
            true
        }
        _ => page::overwrite(page, n, new),
    }
}

/// Enters an item before the one that is number `n` now. `false` if it does not fit.
pub(crate) fn add_item(page: &mut PageBytes, n: OffsetNo, item: &[u8]) -> Check<bool> {
    if n == 0 || n > page::max_offset(page) + 1 {
        return Err("item is to be entered where none can be");
    }
    Ok(page::insert_at(page, n, item).is_some())
}

/// Appends items.
pub(crate) fn append<T: AsRef<[u8]>>(page: &mut PageBytes, items: &[T]) -> Check<()> {
    let room: usize = items.iter().map(|item| item.as_ref().len().next_multiple_of(8) + 4).sum();
    if room > page::free_space(page) {
        return Err("items do not fit on the page");
    }
    for item in items {
        let at = page::max_offset(page) + 1;
        page::insert_at(page, at, item.as_ref()).ok_or("items do not fit on the page")?;
    }
    Ok(())
}

/// On a lane's first page: so many pages hang on it; none if `alone`.
pub(crate) fn set_pages(page: &mut PageBytes, pages: u32, alone: bool) -> Check<()> {
    let op = Opaque::read(page)?;
    let next = if alone { NONE } else { op.next };
    Opaque { pages, next, ..op }.write(page);
    Ok(())
}

/// Replaces items, or removes them where there is no new one. `changes` go by their numbers.
pub(crate) fn change_items<T: AsRef<[u8]>>(
    page: &mut PageBytes,
    changes: &[(OffsetNo, Option<T>)],
) -> Check<()> {
    let mut work = *page;
    let mut doomed = Vec::new();
    for (n, new) in changes {
        match new {
            Some(new) if !replace(&mut work, *n, new.as_ref()) => {
                return Err("item does not fit on the page");
            }
            Some(_) => {}
            None => doomed.push(*n),
        }
    }
    page::delete_items(&mut work, &doomed).map_err(|_| "items to remove are not on the page")?;
    *page = work;
    Ok(())
}

/// The right sibling has its downlink.
pub(crate) fn finish_split(page: &mut PageBytes) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { flags: op.flags & !INCOMPLETE, ..op }.write(page);
    Ok(())
}

/// Marks a page as deleted. Its right link stays for scans that still reach it.
pub(crate) fn mark_deleted(page: &mut PageBytes, safe: Xid) -> Check<()> {
    let op = Opaque::read(page)?;
    fill(page, Opaque { flags: DELETED, ..op }, &[deleted_item(safe, NONE)])
}

/// Puts a deleted (or never used) page on the list of free pages, before `next`.
pub(crate) fn mark_free(page: &mut PageBytes, next: BlockNo) -> Check<()> {
    let (op, safe) = match Node::new(page) {
        Ok(node) if node.op.is(DELETED) => (node.op, node.safe_xid()),
        Ok(node) => (node.op, Xid::INVALID),
        Err(_) if page::is_new(page) => (Opaque::new(0, 0), Xid::INVALID),
        Err(what) => return Err(what),
    };
    fill(page, Opaque { flags: DELETED | FREE, pages: 0, ..op }, &[deleted_item(safe, next)])
}

/// Takes a page off the list of free pages.
pub(crate) fn unmark_free(page: &mut PageBytes) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { flags: op.flags & !FREE, ..op }.write(page);
    Ok(())
}

/// Another page follows this one: on the meta page, the first of the list of free pages.
pub(crate) fn set_next(page: &mut PageBytes, next: BlockNo) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { next, ..op }.write(page);
    Ok(())
}

/// Links and items of a page, for a record that builds it from nothing.
pub(crate) fn blob(page: &PageBytes) -> Check<Vec<u8>> {
    let op = Opaque::read(page)?;
    let mut out = Vec::with_capacity(PAGE_SIZE);
    out.extend_from_slice(&op.next.0.to_le_bytes());
    out.extend_from_slice(&op.level.to_le_bytes());
    out.extend_from_slice(&op.flags.to_le_bytes());
    out.extend_from_slice(&op.pages.to_le_bytes());
    put_items(page, &mut out)?;
    Ok(out)
}

/// Rewrites a page with links and items from the blob made by [`blob`].
pub(crate) fn from_blob(page: &mut PageBytes, blob: &[u8]) -> Check<()> {
    let mut reader = Reader(blob);
    let opaque =
        Opaque { next: reader.block()?, level: reader.u16()?, flags: reader.u16()?, pages: reader.u32()? };
    let mut items = Vec::new();
    while !reader.0.is_empty() {
        items.push(reader.sized()?);
    }
    fill(page, opaque, &items)
}
