//! Entering rows.

use base::{BlockNo, Tid};
use index::changes::{Change, Changes};
use index::{Access, IndexResult, InsertOutcome, Pages};
use tuple::Datum;

use crate::format::{AROUND, ENTRIES, ListHead, META, Opaque, entry};
use crate::lists::{self, List};
use crate::rel::IvfflatRel;

/// Enters the row at `tid`. Rows whose class makes no key of the value have no entry.
pub(crate) fn insert(
    access: &Access<'_>,
    rel: &IvfflatRel,
    values: &[Datum],
    tid: Tid,
) -> IndexResult<InsertOutcome> {
    if let Some(key) = rel.key_of(values)? {
        let mut list = lists::find(access, rel, &key)?;
        append(access, rel, &mut list, tid, &key)?;
    }
    Ok(InsertOutcome::Inserted)
}

/// Adds an entry to a list, and remembers the page for the next one.
pub(crate) fn append(
    access: &Access<'_>,
    rel: &IvfflatRel,
    list: &mut List,
    tid: Tid,
    key: &Datum,
) -> IndexResult<()> {
    let item = entry(tid, index::as_bytes(key).unwrap_or_default());
    access.pool.admit(rel.desc.persistence)?;
    if list.head.room == META && begin(access, rel, list, &item)? {
        return Ok(());
    }
    let known = list.head.room;
    list.head.room = add(access, rel, list.number, known, &item)?;
    if list.head.room != known {
        lists::set_room(access, rel, list, list.head.room)?;
    }
    Ok(())
}

/// Gives a list its first page, with an entry; `false` if somebody was faster.
fn begin(access: &Access<'_>, rel: &IvfflatRel, list: &mut List, item: &[u8]) -> IndexResult<bool> {
    let (block, n) = list.at;
    let mut page = rel.exclusive(access.pool, block)?;
    let there = rel.check(block, page::item(&page, n).ok_or("list is missing"))?;
    (list.head, _) = rel.check(block, ListHead::read(there))?;
    if list.head.room != META {
        return Ok(false);
    }
    let mut new = rel.new_page(access)?;
    let first = new.tag().block;
    list.head = ListHead { first, room: first };
    let mut told = Changes::default();
    told.patch(n, 0, &list.head.bytes());
    let mut changes = Changes::default();
    changes.init(&Opaque::last(ENTRIES, list.number).bytes()).add(item);
    rel.change(
        access,
        &mut [
            Change { page: &mut page, changes: told, new: false },
            Change { page: &mut new, changes, new: true },
        ],
    )?;
    Ok(true)
}

/// Adds an entry to the first page from `block` on that has room, or to a new one behind the last. Gives the page.
fn add(
    access: &Access<'_>,
    rel: &IvfflatRel,
    list: u16,
    block: BlockNo,
    item: &[u8],
) -> IndexResult<BlockNo> {
    let mut block = block;
    loop {
        let mut page = rel.exclusive(access.pool, block)?;
        let opaque = rel.check(block, Opaque::read_of(&page, ENTRIES, list))?;
        let mut changes = Changes::default();
        if page::free_space(&page) >= item.len() + AROUND {
            changes.add(item);
            rel.change(access, &mut [Change { page: &mut page, changes, new: false }])?;
            return Ok(block);
        }
        if opaque.next != META {
            block = opaque.next;
            continue;
        }
        let mut new = rel.new_page(access)?;
        let behind = new.tag().block;
        changes.special(0, &behind.0.to_le_bytes());
        let mut made = Changes::default();
        made.init(&Opaque::last(ENTRIES, list).bytes()).add(item);
        rel.change(
            access,
            &mut [
                Change { page: &mut page, changes, new: false },
                Change { page: &mut new, changes: made, new: true },
            ],
        )?;
        return Ok(behind);
    }
}
