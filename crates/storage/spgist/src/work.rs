//! Changes of several pages that are one: made on copies, then carried out and logged together.

use base::BlockNo;
use buffer::PageChange;
use index::{Access, Exclusive, FreeList, INIT, IndexResult, Pages};
use page::PageBytes;

use crate::format::{FIRST, FREE, Item, Link, Place, redirect, special};
use crate::ops::{Op, apply, encode};
use crate::redo::Kind;
use crate::rel::{SpgistRel, Structure};

/// A page with changes to come.
struct Changed {
    page: Exclusive,
    copy: Box<PageBytes>,
    ops: Vec<u8>,
    new: bool,
}

/// Pages that are latched, in any order: the structure is this one's alone. Dropped without [`commit`](Work::commit), it has changed nothing.
pub(crate) struct Work<'a> {
    access: &'a Access<'a>,
    rel: &'a SpgistRel,
    structure: &'a mut Structure,
    pages: Vec<Changed>,
}

impl<'a> Work<'a> {
    pub fn new(access: &'a Access<'a>, rel: &'a SpgistRel, structure: &'a mut Structure) -> Work<'a> {
        Work { access, rel, structure, pages: Vec::new() }
    }

    fn at(&mut self, block: BlockNo) -> IndexResult<usize> {
        if let Some(known) = self.pages.iter().position(|one| one.page.tag().block == block) {
            return Ok(known);
        }
        let page = self.rel.exclusive(self.access.pool, block)?;
        Ok(self.keep(page, false))
    }

    fn keep(&mut self, page: Exclusive, new: bool) -> usize {
        let copy = Box::new(*page);
        self.pages.push(Changed { page, copy, ops: Vec::new(), new });
        self.pages.len() - 1
    }

    /// A page as it will be.
    pub fn page(&mut self, block: BlockNo) -> IndexResult<&PageBytes> {
        let at = self.at(block)?;
        Ok(&self.pages[at].copy)
    }

    /// What is at a place.
    pub fn item(&mut self, place: Place) -> IndexResult<Item<'_>> {
        let (rel, at) = (self.rel, self.at(place.block)?);
        rel.item(place, &self.pages[at].copy)
    }

    /// Adds a change, which must fit.
    pub fn change(&mut self, block: BlockNo, op: &Op<'_>) -> IndexResult<()> {
        let (rel, at) = (self.rel, self.at(block)?);
        let one = &mut self.pages[at];
        rel.check(block, apply(&mut one.copy, op))?;
        encode(op, &mut one.ops);
        Ok(())
    }

    /// Entries come to a page, or go from it.
    pub fn moved(&mut self, block: BlockNo) {
        self.structure.moved(block);
    }

    /// A place for an item of `size` on a page that has room for it: if it can be on `near`, else on one of these that are latched, on one that is known to have room, or on a new one.
    pub fn place(&mut self, size: usize, near: Option<BlockNo>) -> IndexResult<Place> {
        if let Some(near) = near.filter(|near| near.0 >= FIRST)
            && let Some(place) = self.room(near, size)?
        {
            return Ok(place);
        }
        let ours: Vec<BlockNo> =
            self.pages.iter().filter(|one| one.new).map(|one| one.page.tag().block).collect();
        for block in ours {
            if let Some(place) = self.room(block, size)? {
                return Ok(place);
            }
        }
        let wanted = size + 4 + self.rel.reserve;
        while let Some(hint) = (0..self.structure.hints.len())
            .filter(|&i| self.structure.hints[i].1 >= wanted)
            .min_by_key(|&i| self.structure.hints[i].1)
        {
            let (block, _) = self.structure.hints[hint];
            let known = self.pages.len();
            let found = self.room(block, size)?;
            let room = page::free_space(self.page(block)?);
            match found {
                Some(place) => {
                    self.structure.hints[hint].1 = room - size - 4;
                    return Ok(place);
                }
                None if room < wanted => self.structure.hints[hint].1 = room,
                None => drop(self.structure.hints.swap_remove(hint)),
            }
            self.pages.truncate(known.max(self.used()));
        }
        let page = self.rel.allocate(self.access, false)?;
        let block = page.tag().block;
        self.keep(page, true);
        self.change(block, &Op::Init)?;
        let room = page::free_space(self.page(block)?);
        self.structure.note(block, room.saturating_sub(size + 4));
        Ok(Place { block, item: 1 })
    }

    /// How many of the pages, from the first on, have changes.
    fn used(&self) -> usize {
        self.pages.iter().rposition(|one| !one.ops.is_empty()).map_or(0, |last| last + 1)
    }

    /// A place on a page, if it has room.
    fn room(&mut self, block: BlockNo, size: usize) -> IndexResult<Option<Place>> {
        let (rel, at) = (self.rel, self.at(block)?);
        let copy = &self.pages[at].copy;
        if rel.check(block, special(copy))?.0 & FREE != 0 {
            return Ok(None);
        }
        let free = page::free_space(copy);
        let max = page::max_offset(copy);
        let unused =
            |n: &u16| page::line_pointer(copy, *n).is_some_and(|lp| lp.flags == page::LpFlags::Unused);
        let item = (1..=max).find(unused).unwrap_or(max + 1);
        let empty = (1..=max).all(|n| unused(&n));
        let reserve = if empty { 0 } else { rel.reserve };
        let fits = free >= size.next_multiple_of(8) + 4 + reserve;
        Ok(fits.then_some(Place { block, item }))
    }

    /// Puts an item on a page that has room for it.
    pub fn put(&mut self, bytes: &[u8], near: Option<BlockNo>) -> IndexResult<Place> {
        let place = self.place(bytes.len(), near)?;
        self.change(place.block, &Op::Put(place.item, bytes))?;
        Ok(place)
    }

    /// Whether the item at a place can become one of this size where it is.
    pub fn can_be(&mut self, place: Place, size: usize) -> IndexResult<bool> {
        let page = self.page(place.block)?;
        let old = page::item(page, place.item).map_or(0, <[u8]>::len);
        Ok(size <= old + page::free_space(page))
    }

    /// Replaces the item at a place: there, or if it does not fit elsewhere; then the old place leads on, and the link above is changed. Where it is now; none if `above` has no such link (any more).
    pub fn replace(
        &mut self,
        place: Place,
        above: Option<Place>,
        bytes: &[u8],
    ) -> IndexResult<Option<Place>> {
        if self.can_be(place, bytes.len())? || above.is_none() {
            self.change(place.block, &Op::Put(place.item, bytes))?;
            return Ok(Some(place));
        }
        self.move_away(place, above, bytes)
    }

    /// Puts `bytes` elsewhere in place of the item at a place: see [`replace`](Work::replace).
    pub fn move_away(
        &mut self,
        place: Place,
        above: Option<Place>,
        bytes: &[u8],
    ) -> IndexResult<Option<Place>> {
        let Some(above) = above else { return Ok(None) };
        let Item::Inner(inner) = self.item(above)? else { return Ok(None) };
        let Some(node) = inner.links().position(|link| link == place) else { return Ok(None) };
        let safe = self.access.horizon.next_xid();
        let old = place.block;
        let new = self.put_off(bytes, old)?;
        self.change(old, &Op::Put(place.item, &redirect(new, safe)))?;
        self.change(above.block, &Op::Set(above.item, Link::Node(node), new))?;
        self.moved(old);
        self.moved(new.block);
        Ok(Some(new))
    }

    /// Puts an item on another page than this one.
    pub fn put_off(&mut self, bytes: &[u8], not: BlockNo) -> IndexResult<Place> {
        self.structure.hints.retain(|(block, _)| *block != not);
        self.put(bytes, None)
    }

    /// Carries all changes out and logs them as one record.
    pub fn commit(mut self, kind: Kind) {
        for block in self.pages.iter().map(|one| (one.page.tag().block, page::free_space(&one.copy))) {
            self.structure.note(block.0, block.1);
        }
        self.pages.retain(|one| !one.ops.is_empty());
        let mut action = self.rel.action(self.access, kind);
        for one in &mut self.pages {
            *one.page = *one.copy;
            let i = action.page(&mut one.page, if one.new { INIT } else { PageChange::default() });
            action.page_data(i, &one.ops);
        }
        action.commit();
    }
}
