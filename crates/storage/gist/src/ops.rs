//! Pure changes of one page each. Normal running and redo call the same function, so that a page after redo has the same items and links.
//!
//! A function that answers an error has left its page unchanged.

use base::{BlockNo, Lsn, OffsetNo, PAGE_SIZE, Xid};
use index::bytes::{Check, Reader, deleted_item, put_items};
use page::PageBytes;

use crate::format::{DELETED, FOLLOW_RIGHT, FREE, NONE, Node, Opaque};

const NO_ROOM: &str = "item does not fit on the page";

/// Builds a page from nothing, keeping only its LSN.
pub(crate) fn fill<T: AsRef<[u8]>>(page: &mut PageBytes, opaque: Opaque, items: &[T]) -> Check<()> {
    let mut new: PageBytes = [0; PAGE_SIZE];
    page::init(&mut new, crate::format::SPECIAL);
    page::set_lsn(&mut new, page::lsn(page));
    opaque.write(&mut new);
    for (at, item) in items.iter().enumerate() {
        page::insert_at(&mut new, at as OffsetNo + 1, item.as_ref()).ok_or("items do not fit on the page")?;
    }
    *page = new;
    Ok(())
}

/// Removes the items `doomed` (ascending), then appends `new`; one new item takes the place of a single one that goes. A page that gets downlinks of splits counts its version up to `version`.
pub(crate) fn update<T: AsRef<[u8]>>(
    page: &mut PageBytes,
    doomed: &[OffsetNo],
    new: &[T],
    version: Option<u64>,
) -> Check<()> {
    match (doomed, new) {
        ([], [item]) if version.is_none() => {
            let at = page::max_offset(page) + 1;
            return page::insert_at(page, at, item.as_ref()).map(|_| ()).ok_or(NO_ROOM);
        }
        ([n], [item]) if version.is_none() => {
            return if page::overwrite(page, *n, item.as_ref()) { Ok(()) } else { Err(NO_ROOM) };
        }
        _ => {}
    }
    let mut work = *page;
    page::delete_items(&mut work, doomed).map_err(|_| "items to remove are not on the page")?;
    for item in new {
        let at = page::max_offset(&work) + 1;
        page::insert_at(&mut work, at, item.as_ref()).ok_or(NO_ROOM)?;
    }
    if let Some(version) = version {
        Opaque { version, ..Opaque::read(&work)? }.write(&mut work);
    }
    *page = work;
    Ok(())
}

/// The pages that came of this one's split have their downlinks, since the parent has this version.
pub(crate) fn finish_split(page: &mut PageBytes, nsn: u64) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { flags: op.flags & !FOLLOW_RIGHT, nsn, ..op }.write(page);
    Ok(())
}

/// Takes an empty leaf out of use. Its link stays for scans that still come by.
pub(crate) fn mark_deleted(page: &mut PageBytes, safe: Xid) -> Check<()> {
    let op = Opaque::read(page)?;
    fill(page, Opaque { flags: op.flags | DELETED, ..op }, &[deleted_item(safe, NONE)])
}

/// Puts a deleted (or never used) page on the list of free pages, before `next`.
pub(crate) fn mark_free(page: &mut PageBytes, next: BlockNo) -> Check<()> {
    let (op, safe) = match Node::new(page) {
        Ok(node) => (node.op, node.safe_xid()),
        Err(_) if page::is_new(page) => (Opaque::new(0), Xid::INVALID),
        Err(what) => return Err(what),
    };
    fill(page, Opaque { flags: op.flags | DELETED | FREE, ..op }, &[deleted_item(safe, next)])
}

/// Takes a page off the list of free pages.
pub(crate) fn unmark_free(page: &mut PageBytes) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { flags: op.flags & !FREE, ..op }.write(page);
    Ok(())
}

/// On the root: the list of free pages begins with `first`.
pub(crate) fn set_free(root: &mut PageBytes, first: BlockNo) -> Check<()> {
    let op = Opaque::read(root)?;
    Opaque { next: first, ..op }.write(root);
    Ok(())
}

/// Links and items of a page, for a record that builds it from nothing.
pub(crate) fn blob(page: &PageBytes) -> Check<Vec<u8>> {
    let op = Opaque::read(page)?;
    let mut out = Vec::with_capacity(PAGE_SIZE);
    out.extend_from_slice(&op.next.0.to_le_bytes());
    out.extend_from_slice(&op.level.to_le_bytes());
    out.extend_from_slice(&op.flags.to_le_bytes());
    for word in [op.nsn, op.version, op.split.0] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    put_items(page, &mut out)?;
    Ok(out)
}

/// Rewrites a page with links and items from the blob made by [`blob`].
pub(crate) fn from_blob(page: &mut PageBytes, blob: &[u8]) -> Check<()> {
    let mut reader = Reader(blob);
    let opaque = Opaque {
        next: reader.block()?,
        level: reader.u16()?,
        flags: reader.u16()?,
        nsn: reader.u64()?,
        version: reader.u64()?,
        split: Lsn(reader.u64()?),
    };
    let mut items = Vec::new();
    while !reader.0.is_empty() {
        items.push(reader.sized()?);
    }
    fill(page, opaque, &items)
}
