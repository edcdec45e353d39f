//! An open index: how its pages are reached, and where summaries are.

use std::sync::Arc;

use base::{BlockNo, Fork};
use buffer::{PageChange, WalAction};
use index::bytes::Check;
use index::{Access, Exclusive, INIT, IndexDesc, IndexError, IndexResult, Pages, Shared, interrupts};
use parking_lot::Mutex;
use tuple::RowLayout;
use tuple::summary::SummaryClass;
use wal::Rmgr;

use crate::format::{
    BLOCKS, Kind as PageKind, MAX_ITEM, META, Opaque, Place, RANGES, Summary, block_at, place_at, range_of,
};
use crate::ops;
use crate::redo::{Kind, page_bytes, range_bytes};

/// How often a summary is looked for that others keep moving before that is taken for damage.
const MOST_TRIES: usize = 10_000;

/// What is remembered of where pages are. All of it may be stale.
#[derive(Debug, Default)]
struct Hints {
    /// Blocks of maps by their numbers; 0 where nothing is known.
    maps: Vec<u32>,
    /// A data page with room.
    roomy: u32,
}

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct BrinRel {
    /// The description.
    pub desc: IndexDesc,
    /// Pages of a range as the options say: a new index gets that.
    pub(crate) pages_per_range: u32,
    /// How a summary's values are stored.
    layout: RowLayout,
    /// Number of values of each column.
    widths: Vec<usize>,
    hints: Mutex<Hints>,
}

/// A summary as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub place: Place,
    pub bytes: Vec<u8>,
}

impl BrinRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> BrinRel {
        let stored: Vec<Vec<tuple::Attr>> = desc.summaries.iter().map(|class| class.attrs()).collect();
        BrinRel {
            pages_per_range: index::pages_per_range(&desc.options),
            widths: stored.iter().map(Vec::len).collect(),
            layout: RowLayout::new(stored.concat()),
            hints: Mutex::default(),
            desc,
        }
    }

    pub(crate) fn classes(&self) -> &[Arc<dyn SummaryClass>] {
        &self.desc.summaries
    }

    /// A record about this index.
    fn action<'a>(&self, access: &Access<'a>, kind: Kind) -> WalAction<'a> {
        WalAction::for_relation(access.pool, self.desc.persistence, Rmgr::Brin, kind as u8, access.xid)
    }

    /// Pages of the table in a range, as the index was made.
    pub(crate) fn pages_of_range(&self, access: &Access<'_>) -> IndexResult<u32> {
        let meta = self.shared(access.pool, META)?;
        let op = self.check(META, Opaque::read(&meta))?;
        match op.kind == PageKind::Meta && op.pages > 0 {
            true => Ok(op.pages),
            false => Err(self.corrupt(META, "not a meta page")),
        }
    }

    pub(crate) fn parse(&self, located: &Located) -> IndexResult<Summary> {
        self.check(located.place.block, self.summary(&located.bytes))
    }

    /// A summary from its bytes.
    pub(crate) fn summary(&self, bytes: &[u8]) -> Check<Summary> {
        Summary::read(bytes, &self.layout, &self.widths)
    }

    /// The bytes of a summary.
    ///
    /// # Errors
    /// They do not fit on a page.
    pub(crate) fn bytes(&self, summary: &Summary) -> IndexResult<Vec<u8>> {
        let bytes = summary.bytes(&self.layout, &self.widths);
        if bytes.len() > MAX_ITEM {
            return Err(IndexError::SummaryTooLarge { size: bytes.len(), max: MAX_ITEM });
        }
        Ok(bytes)
    }

    /// The block of a map, if there is one.
    pub(crate) fn map_of(&self, access: &Access<'_>, number: u32) -> IndexResult<Option<BlockNo>> {
        let known = self.hints.lock().maps.get(number as usize).copied().unwrap_or(0);
        if known != 0 {
            return Ok(Some(BlockNo(known)));
        }
        let meta = self.shared(access.pool, META)?;
        let directory = block_at(&meta, number / BLOCKS);
        drop(meta);
        if directory == META {
            return Ok(None);
        }
        let page = self.shared(access.pool, directory)?;
        self.expect(directory, &page, PageKind::Directory, number / BLOCKS)?;
        let block = block_at(&page, number);
        drop(page);
        if block == META {
            return Ok(None);
        }
        self.remember_map(number, block);
        Ok(Some(block))
    }

    fn remember_map(&self, number: u32, block: BlockNo) {
        let maps = &mut self.hints.lock().maps;
        if maps.len() <= number as usize {
            maps.resize(number as usize + 1, 0);
        }
        maps[number as usize] = block.0;
    }

    fn expect(&self, block: BlockNo, page: &page::PageBytes, kind: PageKind, number: u32) -> IndexResult<()> {
        match self.check(block, Opaque::read(page))?.is(kind, number) {
            true => Ok(()),
            false => Err(self.corrupt(block, "page is not the one that leads there")),
        }
    }

    /// A map, latched shared.
    pub(crate) fn map_shared(&self, access: &Access<'_>, number: u32) -> IndexResult<Option<Shared>> {
        let Some(block) = self.map_of(access, number)? else { return Ok(None) };
        let page = self.shared(access.pool, block)?;
        self.expect(block, &page, PageKind::Map, number)?;
        Ok(Some(page))
    }

    fn map_exclusive(&self, access: &Access<'_>, number: u32) -> IndexResult<Exclusive> {
        let Some(block) = self.map_of(access, number)? else {
            return Err(self.corrupt(META, "a map is missing"));
        };
        let page = self.exclusive(access.pool, block)?;
        self.expect(block, &page, PageKind::Map, number)?;
        Ok(page)
    }

    /// Sees to it that there is a map for a range.
    fn make_map(&self, access: &Access<'_>, range: u32) -> IndexResult<()> {
        let number = range / RANGES;
        if self.map_of(access, number)?.is_some() {
            return Ok(());
        }
        let directory = self.child(access, META, Opaque::new(PageKind::Directory, number / BLOCKS))?;
        let block = self.child(access, directory, Opaque::new(PageKind::Map, number))?;
        self.remember_map(number, block);
        Ok(())
    }

    /// The page that another leads to under its number; it is made if it is not there.
    fn child(&self, access: &Access<'_>, parent: BlockNo, op: Opaque) -> IndexResult<BlockNo> {
        let mut above = self.exclusive(access.pool, parent)?;
        let there = block_at(&above, op.number);
        if there != META {
            return Ok(there);
        }
        let mut page = access.pool.extend(self.desc.file, Fork::Main, self.desc.persistence)?;
        let block = page.tag().block;
        ops::init(&mut page, op);
        self.check(parent, ops::link(&mut above, op.number, block))?;
        let mut action = self.action(access, Kind::NewPage);
        action.data(&page_bytes(op, block));
        action.page(&mut page, INIT);
        action.page(&mut above, PageChange::default());
        action.commit();
        Ok(block)
    }

    /// Where a range's summary is.
    fn place(&self, access: &Access<'_>, range: u32) -> IndexResult<Option<Place>> {
        let Some(map) = self.map_shared(access, range / RANGES)? else { return Ok(None) };
        Ok(Some(place_at(&map, range)).filter(|place| !place.is_none()))
    }

    /// The summary of a range.
    pub(crate) fn read(&self, access: &Access<'_>, range: u32) -> IndexResult<Option<Located>> {
        let mut last = None;
        for _ in 0..MOST_TRIES {
            let Some(place) = self.place(access, range)? else { return Ok(None) };
            let page = self.shared(access.pool, place.block)?;
            let data = self.check(place.block, Opaque::read(&page))?.kind == PageKind::Data;
            if let Some(item) = page::item(&page, place.offset).filter(|item| data && range_of(item) == range)
            {
                return Ok(Some(Located { place, bytes: item.to_vec() }));
            }
            // It was moved since the map was read, unless the map still says so.
            last = Some(place.block);
            drop(page);
            interrupts()?;
        }
        Err(self.corrupt(last.unwrap_or(META), "map leads to no summary of its range"))
    }

    /// Enters the summary of a range that has none; `false` if it has one.
    pub(crate) fn enter(&self, access: &Access<'_>, range: u32, bytes: &[u8]) -> IndexResult<bool> {
        self.make_map(access, range)?;
        let mut page = self.with_room(access, bytes.len(), None)?;
        let (block, fresh) = (page.tag().block, page::max_offset(&page) == 0);
        let mut map = self.map_exclusive(access, range / RANGES)?;
        if !place_at(&map, range).is_none() {
            return Ok(false);
        }
        let place = Place { block, offset: self.check(block, ops::add(&mut page, bytes, None))? };
        self.check(map.tag().block, ops::point(&mut map, range, place))?;
        let mut action = self.action(access, Kind::Insert);
        action.data(&range_bytes(range, &[place]));
        let i = action.page(&mut page, if fresh { INIT } else { PageChange::default() });
        action.page_data(i, &u16::from(fresh).to_le_bytes());
        action.page_data(i, bytes);
        action.page(&mut map, PageChange::default());
        action.commit();
        Ok(true)
    }

    /// Replaces the summary of a range; `false`, and nothing happens, if it is not what it was any more.
    pub(crate) fn replace(
        &self,
        access: &Access<'_>,
        range: u32,
        old: &Located,
        bytes: &[u8],
    ) -> IndexResult<bool> {
        let mut page = self.exclusive(access.pool, old.place.block)?;
        if page::item(&page, old.place.offset) != Some(&old.bytes[..]) {
            return Ok(false);
        }
        if ops::replace(&mut page, old.place.offset, bytes).is_ok() {
            let mut action = self.action(access, Kind::Update);
            action.data(&range_bytes(range, &[old.place]));
            let i = action.page(&mut page, PageChange::default());
            action.page_data(i, bytes);
            action.commit();
            return Ok(true);
        }
        drop(page);
        // Latches go from lower blocks to higher ones: the page with room is let go until the old one is latched.
        let block = self.with_room(access, bytes.len(), Some(old.place.block))?.tag().block;
        self.move_to(access, range, old, bytes, block)
    }

    /// Moves a summary to a page that had room for it.
    fn move_to(
        &self,
        access: &Access<'_>,
        range: u32,
        old: &Located,
        bytes: &[u8],
        block: BlockNo,
    ) -> IndexResult<bool> {
        let low = old.place.block.min(block);
        let first = self.exclusive(access.pool, low)?;
        let second = self.exclusive(access.pool, old.place.block.max(block))?;
        let (mut from, mut to) = if low == block { (second, first) } else { (first, second) };
        let fits = page::free_space_for_item(&to) >= bytes.len()
            && self.check(block, Opaque::read(&to))?.kind == PageKind::Data;
        if page::item(&from, old.place.offset) != Some(&old.bytes[..]) || !fits {
            return Ok(false);
        }
        let fresh = page::max_offset(&to) == 0;
        let mut map = self.map_exclusive(access, range / RANGES)?;
        let place = Place { block, offset: self.check(block, ops::add(&mut to, bytes, None))? };
        self.check(old.place.block, ops::remove(&mut from, old.place.offset))?;
        self.check(map.tag().block, ops::point(&mut map, range, place))?;
        let mut action = self.action(access, Kind::Move);
        action.data(&range_bytes(range, &[place, old.place]));
        let i = action.page(&mut to, if fresh { INIT } else { PageChange::default() });
        action.page_data(i, &u16::from(fresh).to_le_bytes());
        action.page_data(i, bytes);
        action.page(&mut map, PageChange::default());
        action.page(&mut from, PageChange::default());
        action.commit();
        Ok(true)
    }

    /// Takes away the summary of a range; `false` if it is not what it was any more.
    pub(crate) fn remove(&self, access: &Access<'_>, range: u32, old: &Located) -> IndexResult<bool> {
        let mut page = self.exclusive(access.pool, old.place.block)?;
        if page::item(&page, old.place.offset) != Some(&old.bytes[..]) {
            return Ok(false);
        }
        let mut map = self.map_exclusive(access, range / RANGES)?;
        self.check(old.place.block, ops::remove(&mut page, old.place.offset))?;
        self.check(map.tag().block, ops::point(&mut map, range, Place::default()))?;
        let mut action = self.action(access, Kind::Remove);
        action.data(&range_bytes(range, &[old.place]));
        action.page(&mut page, PageChange::default());
        action.page(&mut map, PageChange::default());
        action.commit();
        Ok(true)
    }

    /// A data page with room for a summary, but not `except`. Nothing of a page without items is in the log: the record that puts the first one there builds the page.
    fn with_room(&self, access: &Access<'_>, size: usize, except: Option<BlockNo>) -> IndexResult<Exclusive> {
        let hint = BlockNo(self.hints.lock().roomy);
        let last = BlockNo(access.pool.nblocks(self.desc.file, Fork::Main)?.saturating_sub(1));
        for block in [hint, last] {
            if block == META || block > last || Some(block) == except {
                continue;
            }
            let page = self.exclusive(access.pool, block)?;
            let data = Opaque::read(&page).is_ok_and(|op| op.kind == PageKind::Data);
            if data && page::free_space_for_item(&page) >= size {
                return Ok(page);
            }
        }
        access.pool.admit(self.desc.persistence)?;
        let mut page = access.pool.extend(self.desc.file, Fork::Main, self.desc.persistence)?;
        ops::init(&mut page, Opaque::new(PageKind::Data, 0));
        page.mark_dirty();
        self.has_room(page.tag().block);
        Ok(page)
    }

    /// A data page has room.
    pub(crate) fn has_room(&self, block: BlockNo) {
        self.hints.lock().roomy = block.0;
    }
}
