//! Pure changes of one page each. Normal running and redo call the same function, so that a page after redo has the same items and links.
//!
//! A function that answers an error has left its page unchanged.

use base::{BlockNo, OffsetNo};
use index::bytes::Check;
use page::{LinePointer, LpFlags, PageBytes};

use crate::format::{Kind, Opaque, Place, SPECIAL, set_block, set_place};

/// Builds an empty page.
pub(crate) fn init(page: &mut PageBytes, op: Opaque) {
    let lsn = page::lsn(page);
    page::init(page, SPECIAL);
    page::set_lsn(page, lsn);
    op.write(page);
    if op.kind != Kind::Data {
        // The whole page means something: no image leaves out its middle.
        page::set_lower(page, page::upper(page));
    }
}

fn expect(page: &PageBytes, kinds: &[Kind]) -> Check<()> {
    match kinds.contains(&Opaque::read(page)?.kind) {
        true => Ok(()),
        false => Err("page is of another kind"),
    }
}

/// Puts a summary on a data page, where the page has a number for it or as `at` says.
pub(crate) fn add(page: &mut PageBytes, item: &[u8], at: Option<OffsetNo>) -> Check<OffsetNo> {
    expect(page, &[Kind::Data])?;
    page::add_item(page, item, at).ok_or("summary does not fit on the page")
}

/// Replaces a summary by one that fits there.
pub(crate) fn replace(page: &mut PageBytes, at: OffsetNo, item: &[u8]) -> Check<()> {
    expect(page, &[Kind::Data])?;
    if page::overwrite(page, at, item) { Ok(()) } else { Err("summary does not fit in its place") }
}

/// Removes a summary; the others keep their numbers.
pub(crate) fn remove(page: &mut PageBytes, at: OffsetNo) -> Check<()> {
    expect(page, &[Kind::Data])?;
    if page::item(page, at).is_none() {
        return Err("summary to remove is not on the page");
    }
    let mut work = *page;
    page::set_line_pointer(&mut work, at, LinePointer { offset: 0, flags: LpFlags::Unused, len: 0 });
    page::repair(&mut work).map_err(|_| "items of a page overlap")?;
    *page = work;
    Ok(())
}

/// A map says where a range's summary is.
pub(crate) fn point(page: &mut PageBytes, slot: u32, place: Place) -> Check<()> {
    expect(page, &[Kind::Map])?;
    set_place(page, slot, place);
    Ok(())
}

/// The meta page or a directory says where a page is.
pub(crate) fn link(page: &mut PageBytes, slot: u32, block: BlockNo) -> Check<()> {
    expect(page, &[Kind::Meta, Kind::Directory])?;
    set_block(page, slot, block);
    Ok(())
}
