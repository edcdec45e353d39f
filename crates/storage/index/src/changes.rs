//! Changes of pages as bytes, for methods whose log records list the bytes that change. Normal running and redo call the same function.
//!
//! | record | each block |
//! |---|---|
//! | `CHANGE` | its [`Changes`] |
//! | `BUILD` | full image |

use base::{OffsetNo, PAGE_SIZE};
use buffer::{PageChange, WalAction};
use page::PageBytes;
use wal::{Record, RecordRef, ResourceManager, Rmgr};

use crate::bytes::{Check, Reader, put_sized};
use crate::pages::{Exclusive, INIT, Pages, create_pages};
use crate::{Access, IndexAccessMethod, IndexResult, Records};

/// Kind of a record, its `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Change = 0,
    Build = 1,
}

fn name(info: u8) -> Option<&'static str> {
    ["CHANGE", "BUILD"].get(info as usize).copied()
}

fn details(record: &Record) -> Check<String> {
    let bytes: usize = (0..).map_while(|n| record.block(n)).map(|block| block.data.len()).sum();
    Ok(format!("bytes changed: {bytes}"))
}

/// The resource manager of a method that logs nothing but such changes and images.
pub const fn manager(id: Rmgr) -> ResourceManager {
    ResourceManager {
        id,
        redo_block: Some(|page, record, index| redo_block(page, record, index).map_err(str::to_owned)),
        describe: &Records { name, details },
    }
}

/// Does to a page what a record says about its block reference `index`. The error says what does not fit.
///
/// # Errors
/// The page or the record is damaged.
pub fn redo_block(page: &mut PageBytes, record: &RecordRef<'_>, index: usize) -> Check<()> {
    if record.info != Kind::Change as u8 {
        return Err("page image is missing");
    }
    let data = record.block(index).ok_or("the record lacks a block")?.data;
    let new = changed(page, data)?;
    page.copy_from_slice(&new[..]);
    Ok(())
}

/// Makes an empty index of one page in the main fork, which must be empty: `changes` are applied to a page of zeros. The initial fork of an unlogged index gets the same page.
///
/// # Errors
/// The fork is not empty; there is no room.
pub fn create_page<M: IndexAccessMethod>(access: &Access<'_>, rel: &M, changes: &Changes) -> IndexResult<()> {
    create_pages(access, rel, Kind::Build as u8, 1, |_, page| {
        let new = changed(page, &changes.0)?;
        page.copy_from_slice(&new[..]);
        Ok(())
    })
}

const EMPTY: u8 = 0;
const ADD: u8 = 1;
const PATCH: u8 = 2;
const REMOVE: u8 = 3;
const SPECIAL: u8 = 4;

/// Changes of a page, in order, as bytes.
#[derive(Clone, Debug, Default)]
pub struct Changes(pub Vec<u8>);

impl Changes {
    /// The page is made empty, with this special area.
    pub fn init(&mut self, special: &[u8]) -> &mut Changes {
        self.0.push(EMPTY);
        put_sized(special, &mut self.0);
        self
    }

    /// An item is added at its end.
    pub fn add(&mut self, item: &[u8]) -> &mut Changes {
        self.0.push(ADD);
        put_sized(item, &mut self.0);
        self
    }

    /// Bytes of an item become others.
    pub fn patch(&mut self, item: OffsetNo, at: usize, bytes: &[u8]) -> &mut Changes {
        self.0.push(PATCH);
        self.0.extend_from_slice(&item.to_le_bytes());
        self.0.extend_from_slice(&(at as u16).to_le_bytes());
        put_sized(bytes, &mut self.0);
        self
    }

    /// Items, in ascending order of their numbers, go; those behind them move up.
    pub fn remove(&mut self, items: &[OffsetNo]) -> &mut Changes {
        let numbers: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
        self.0.push(REMOVE);
        put_sized(&numbers, &mut self.0);
        self
    }

    /// Bytes of the special area become others.
    pub fn special(&mut self, at: usize, bytes: &[u8]) -> &mut Changes {
        self.0.push(SPECIAL);
        self.0.extend_from_slice(&(at as u16).to_le_bytes());
        put_sized(bytes, &mut self.0);
        self
    }
}

/// The page after changes. An error says what does not fit.
///
/// # Errors
/// The page is not one that they are of.
pub fn changed(page: &PageBytes, changes: &[u8]) -> Check<Box<PageBytes>> {
    let mut work: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    work.copy_from_slice(&page[..]);
    let mut reader = Reader(changes);
    while let [op, rest @ ..] = reader.0 {
        reader = Reader(rest);
        match *op {
            EMPTY => {
                let (lsn, special) = (page::lsn(&work), reader.sized()?);
                if special.len() > PAGE_SIZE / 2 || !special.len().is_multiple_of(8) {
                    return Err("special area has the wrong size");
                }
                page::init(&mut work, special.len());
                page::special_mut(&mut work).copy_from_slice(special);
                page::set_lsn(&mut work, lsn);
            }
            ADD => {
                let at = page::max_offset(&work) + 1;
                page::insert_at(&mut work, at, reader.sized()?).ok_or("item does not fit on the page")?;
            }
            PATCH => {
                let (item, at) = (reader.u16()?, usize::from(reader.u16()?));
                let bytes = reader.sized()?;
                let place =
                    page::item_mut(&mut work, item).and_then(|item| item.get_mut(at..at + bytes.len()));
                place.ok_or("no such bytes on the page")?.copy_from_slice(bytes);
            }
            REMOVE => {
                let numbers = reader.sized()?.chunks_exact(2);
                let items: Vec<OffsetNo> = numbers.map(|n| u16::from_le_bytes([n[0], n[1]])).collect();
                page::delete_items(&mut work, &items).map_err(|_| "no such items on the page")?;
            }
            SPECIAL => {
                let at = usize::from(reader.u16()?);
                let bytes = reader.sized()?;
                let place = page::special_mut(&mut work).get_mut(at..at + bytes.len());
                place.ok_or("no such bytes in the special area")?.copy_from_slice(bytes);
            }
            _ => return Err("unknown change"),
        }
    }
    Ok(work)
}

/// A page to be changed.
pub struct Change<'p> {
    /// It.
    pub page: &'p mut Exclusive,
    /// What becomes of it.
    pub changes: Changes,
    /// It was added for this.
    pub new: bool,
}

/// Changes pages, with one record, whose data for each of them are its [`Changes`].
///
/// # Errors
/// A page is not one that its changes are of; then none is changed.
pub fn change_pages<M: IndexAccessMethod>(
    access: &Access<'_>,
    rel: &M,
    pages: &mut [Change<'_>],
) -> IndexResult<()> {
    let mut made = Vec::with_capacity(pages.len());
    for change in pages.iter() {
        let block = change.page.tag().block;
        made.push(rel.check(block, changed(change.page, &change.changes.0))?);
    }
    for (change, new) in pages.iter_mut().zip(made) {
        change.page.copy_from_slice(&new[..]);
    }
    let persistence = rel.desc().persistence;
    let kind = Kind::Change as u8;
    let mut action = WalAction::for_relation(access.pool, persistence, M::MANAGER.id, kind, access.xid);
    for change in pages {
        let how = if change.new { INIT } else { PageChange::default() };
        let at = action.page(change.page, how);
        action.page_data(at, &change.changes.0);
    }
    action.commit();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_done_in_order_or_refused() {
        let page = [0; PAGE_SIZE];
        let mut changes = Changes::default();
        changes.init(&[1; 8]).add(b"one").add(b"two").add(b"three");
        changes.patch(2, 1, b"WO").remove(&[1]).special(4, &[9, 9]);
        let made = changed(&page, &changes.0).unwrap();
        assert_eq!((page::item(&made, 1), page::item(&made, 2)), (Some(&b"tWO"[..]), Some(&b"three"[..])));
        assert_eq!(page::special(&made), [1, 1, 1, 1, 9, 9, 1, 1]);
        let mut wrong = Changes::default();
        assert!(changed(&made, &wrong.patch(3, 0, b"x").0).is_err());
        let mut wrong = Changes::default();
        assert!(changed(&made, &wrong.remove(&[2, 1]).0).is_err());
        let mut wrong = Changes::default();
        assert!(changed(&made, &wrong.special(7, &[1, 2]).0).is_err());
        assert!(changed(&made, &[77]).is_err());
        assert!(changed(&made, &[ADD, 200, 0]).is_err());
    }
}
