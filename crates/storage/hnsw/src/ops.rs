//! Pure changes of one page each, as records say them. Normal running and redo call the same function.

use base::PAGE_SIZE;
use index::bytes::{Check, Reader, put_sized};
use page::PageBytes;

use crate::format::Pointer;

const INIT: u8 = 0;
const ADD: u8 = 1;
const PATCH: u8 = 2;

/// Changes of a page, in order, as bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes(pub Vec<u8>);

impl Changes {
    /// The page is made empty.
    pub fn init(&mut self) -> &mut Changes {
        self.0.push(INIT);
        self
    }

    /// An item is added at its end.
    pub fn add(&mut self, item: &[u8]) -> &mut Changes {
        self.0.push(ADD);
        put_sized(item, &mut self.0);
        self
    }

    /// Bytes of an item become others.
    pub fn patch(&mut self, item: u16, at: usize, bytes: &[u8]) -> &mut Changes {
        self.0.push(PATCH);
        self.0.extend_from_slice(&item.to_le_bytes());
        self.0.extend_from_slice(&(at as u16).to_le_bytes());
        put_sized(bytes, &mut self.0);
        self
    }

    /// The link at a place becomes another.
    pub fn link(&mut self, item: u16, at: usize, to: Pointer) -> &mut Changes {
        self.patch(item, at, &to.bytes())
    }
}

/// The page after changes. An error says what does not fit.
pub(crate) fn changed(page: &PageBytes, changes: &[u8]) -> Check<Box<PageBytes>> {
    let mut work: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    work.copy_from_slice(&page[..]);
    let mut reader = Reader(changes);
    while let [op, rest @ ..] = reader.0 {
        reader = Reader(rest);
        match *op {
            INIT => {
                let lsn = page::lsn(&work);
                work.fill(0);
                page::init(&mut work, 0);
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
            _ => return Err("unknown change"),
        }
    }
    Ok(work)
}
