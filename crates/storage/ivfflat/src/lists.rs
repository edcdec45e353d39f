//! The lists as a whole: read, found by their centres, made.

use base::{BlockNo, Fork, OffsetNo};
use index::changes::{Change, Changes};
use index::{Access, IndexResult, Pages, interrupts};
use tuple::Datum;

use crate::format::{AROUND, LISTS, ListHead, META, Meta, Opaque, ROOM_AT, items};
use crate::rel::IvfflatRel;

/// A list that was read.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// Where its item is.
    pub at: (BlockNo, OffsetNo),
    pub number: u16,
    pub head: ListHead,
    /// None: all rows are as near.
    pub centre: Option<Datum>,
}

impl List {
    /// How far a key is from the centre.
    pub fn distance(&self, rel: &IvfflatRel, key: &Datum) -> IndexResult<f64> {
        self.centre.as_ref().map_or(Ok(0.0), |centre| rel.distance(centre, key))
    }
}

/// Calls `each` for every list, with no latch held.
pub(crate) fn each(
    access: &Access<'_>,
    rel: &IvfflatRel,
    each: &mut dyn FnMut(List) -> IndexResult<()>,
) -> IndexResult<()> {
    let (mut block, mut number) = (rel.meta(access)?.first, 0);
    // A damaged chain may be a circle.
    let mut left = access.pool.nblocks(rel.desc.file, Fork::Main)?;
    while block != META {
        rel.ensure(block, left > 0, "pages of lists form a circle")?;
        left -= 1;
        let page = rel.copy(access.pool, block)?;
        let opaque = rel.check(block, Opaque::read_of(&page, LISTS, 0))?;
        for item in items(&page) {
            let (n, item) = rel.check(block, item)?;
            let (head, centre) = rel.check(block, ListHead::read(item))?;
            let centre = (!centre.is_empty()).then(|| Datum::Bytes(centre.to_vec().into()));
            each(List { at: (block, n), number, head, centre })?;
            number += 1;
        }
        block = opaque.next;
    }
    Ok(())
}

/// All lists without what `of` has no use for.
pub(crate) fn all<T>(
    access: &Access<'_>,
    rel: &IvfflatRel,
    mut of: impl FnMut(List) -> IndexResult<T>,
) -> IndexResult<Vec<T>> {
    let mut out = Vec::new();
    each(access, rel, &mut |list| {
        out.push(of(list)?);
        Ok(())
    })?;
    Ok(out)
}

/// Which of some lists is nearest to a key.
pub(crate) fn nearest<'a>(
    rel: &IvfflatRel,
    lists: &'a mut [List],
    key: &Datum,
) -> IndexResult<Option<&'a mut List>> {
    let mut best: Option<(f64, usize)> = None;
    for (at, list) in lists.iter().enumerate() {
        let distance = list.distance(rel, key)?;
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, at));
        }
    }
    Ok(best.map(|(_, at)| &mut lists[at]))
}

/// The list nearest to a key; made if there is none at all.
pub(crate) fn find(access: &Access<'_>, rel: &IvfflatRel, key: &Datum) -> IndexResult<List> {
    loop {
        let mut best: Option<(f64, List)> = None;
        each(access, rel, &mut |list| {
            let distance = list.distance(rel, key)?;
            if best.as_ref().is_none_or(|(least, _)| distance < *least) {
                best = Some((distance, list));
            }
            Ok(())
        })?;
        match best {
            Some((_, list)) => return Ok(list),
            None => make(access, rel, &[Vec::new()])?,
        }
    }
}

/// Makes lists with these centres, unless there are lists already.
pub(crate) fn make(access: &Access<'_>, rel: &IvfflatRel, centres: &[Vec<u8>]) -> IndexResult<()> {
    access.pool.admit(rel.desc.persistence)?;
    let mut first = rel.exclusive(access.pool, META)?;
    let meta = rel.check(META, Meta::read(&first))?;
    if meta.lists > 0 {
        return Ok(());
    }
    // From the last page to the first, which block 0 names in the same record: none is reached before all are there. A build that does not end leaves no file.
    let mut pages: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
    let mut used = 0;
    for centre in centres {
        let item = ListHead::EMPTY.item(centre);
        let length = item.len() + AROUND;
        if used + length > page::MAX_ITEM - crate::format::SPECIAL {
            pages.push(Vec::new());
            used = 0;
        }
        used += length;
        pages.last_mut().expect("there is one").push(item);
    }
    let mut next = META;
    for (n, items) in pages.iter().enumerate().rev() {
        let mut page = rel.new_page(access)?;
        let block = page.tag().block;
        let mut changes = Changes::default();
        changes.init(&Opaque { next, kind: LISTS, list: 0 }.bytes());
        for item in items {
            changes.add(item);
        }
        let mut all = vec![Change { page: &mut page, changes, new: true }];
        if n == 0 {
            let mut told = Changes::default();
            told.patch(1, 0, &Meta { lists: centres.len() as u32, first: block }.bytes());
            all.push(Change { page: &mut first, changes: told, new: false });
        }
        rel.change(access, &mut all)?;
        next = block;
    }
    Ok(())
}

/// Notes in a list where new entries go.
pub(crate) fn set_room(access: &Access<'_>, rel: &IvfflatRel, list: &List, room: BlockNo) -> IndexResult<()> {
    interrupts()?;
    access.pool.admit(rel.desc.persistence)?;
    let mut page = rel.exclusive(access.pool, list.at.0)?;
    let mut changes = Changes::default();
    changes.patch(list.at.1, ROOM_AT, &room.0.to_le_bytes());
    rel.change(access, &mut [Change { page: &mut page, changes, new: false }])
}
