//! Building an index bottom-up from sorted rows: each level has one page being filled; a full page goes out as an image in the log and gives its
//! downlink to the level above.

use base::{BlockNo, Fork, Lsn, Tid};
use buffer::{PageChange, Persistence, Pin, WalAction};
use index::{Access, INIT, IndexDesc, IndexError, IndexResult, Pages, SortedEntries};
use page::PageBytes;
use wal::Rmgr;

use crate::format::{
    LEAF, MAX_ENTRY, MAX_POSTING, META, Meta, NONE, Opaque, ROOM, ROOT, leaf_item_of, posting_size,
    put_leaf_item, with_child,
};
use crate::insert::same_key;
use crate::method::FORMAT;
use crate::ops;
use crate::redo::Kind;
use crate::rel::BtreeRel;
use crate::scan::interrupts;
use crate::search::meta_bytes;
use crate::split::{compressed, leaf_high_key};

/// Fill of internal pages, in percent.
const INTERNAL_FILL: usize = 70;
/// Room that is always left for a high key that keeps a TID.
const SLACK: usize = 16;

/// Makes the index's main fork, which must be empty, an empty tree: a meta page. The initial fork of an unlogged one becomes the same.
pub fn create_empty(access: &Access<'_>, rel: &BtreeRel) -> IndexResult<()> {
    let IndexDesc { file, persistence, .. } = rel.desc;
    let initial = (persistence == Persistence::Unlogged).then_some((Fork::Init, Persistence::Permanent));
    for (fork, persistence) in std::iter::once((Fork::Main, persistence)).chain(initial) {
        access.pool.admit(persistence)?;
        let mut page = access.pool.extend(file, fork, persistence)?;
        if page.tag().block != META {
            return Err(rel.corrupt(page.tag().block, "index to be made is not empty"));
        }
        write_meta(access, persistence, &mut page, &Meta::default());
    }
    Ok(())
}

fn write_meta(
    access: &Access<'_>,
    persistence: Persistence,
    page: &mut buffer::ExclusivePage<'_>,
    meta: &Meta,
) {
    meta.write(page);
    let kind = Kind::Meta as u8;
    let mut action = WalAction::for_relation(access.pool, persistence, Rmgr::Btree, kind, access.xid);
    action.data(&meta_bytes(meta));
    action.page(page, INIT);
    action.commit();
}

/// Builds the tree in the empty main fork from entries in the order of [`index::IndexAccessMethod::compare_entries`]. Returns the number of entries.
pub fn build(access: &Access<'_>, rel: &BtreeRel, next: SortedEntries<'_>) -> IndexResult<u64> {
    create_empty(access, rel)?;
    let mut builder = Builder { access, rel, levels: Vec::new() };
    let merge = rel.deduplicate;
    let (mut values, mut item, mut count) = (Vec::new(), Vec::new(), 0);
    // Entries with the same key, not yet put on a page: the first of them, and all their TIDs.
    let (mut pending, mut tids): (Vec<u8>, Vec<Tid>) = Default::default();
    while let Some(tid) = next(&mut values)? {
        count += 1;
        put_leaf_item(&rel.desc.layout, &compressed(&rel.desc, &values), tid, &mut item);
        if item.len() > MAX_ENTRY {
            return Err(IndexError::TooLarge { format: FORMAT, size: item.len(), max: MAX_ENTRY, tid });
        }
        if merge
            && !tids.is_empty()
            && same_key(&pending, &item)
            && posting_size(pending.len(), tids.len() + 1) <= MAX_POSTING
        {
            tids.push(tid);
            continue;
        }
        builder.add_key(&pending, &tids)?;
        std::mem::swap(&mut pending, &mut item);
        tids.clear();
        tids.push(tid);
    }
    builder.add_key(&pending, &tids)?;
    builder.finish()?;
    Ok(count)
}

/// Items one behind the other.
#[derive(Default)]
struct Items {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Items {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn push(&mut self, item: &[u8]) {
        self.bytes.extend_from_slice(item);
        self.ends.push(self.bytes.len());
    }

    /// Where the last one begins.
    fn last_start(&self) -> usize {
        self.len().checked_sub(2).map_or(0, |n| self.ends[n])
    }

    fn last(&self) -> Option<&[u8]> {
        self.ends.last().map(|end| &self.bytes[self.last_start()..*end])
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let last = self.last()?.to_vec();
        self.bytes.truncate(self.last_start());
        self.ends.pop();
        Some(last)
    }

    fn all(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[*start..*end]).collect()
    }
}

/// The page being filled on one level.
struct Level {
    pin: Pin,
    block: BlockNo,
    prev: BlockNo,
    /// High key of the page before, if there is one: the key of this page's downlink.
    low: Option<Vec<u8>>,
    items: Items,
    used: usize,
}

impl Level {
    fn push(&mut self, item: &[u8]) {
        self.used += item.len() + 4;
        self.items.push(item);
    }

    /// The downlink of this page.
    fn downlink(&self) -> Vec<u8> {
        match &self.low {
            Some(low) => with_child(low, self.block),
            None => ops::minus_infinity(self.block),
        }
    }
}

struct Builder<'a> {
    access: &'a Access<'a>,
    rel: &'a BtreeRel,
    levels: Vec<Level>,
}

impl Builder<'_> {
    fn start(&self, prev: BlockNo, low: Option<Vec<u8>>) -> IndexResult<Level> {
        interrupts()?;
        let desc = &self.rel.desc;
        self.access.pool.admit(desc.persistence)?;
        let page = self.access.pool.extend(desc.file, Fork::Main, desc.persistence)?;
        let block = page.tag().block;
        Ok(Level { pin: page.into_pin(), block, prev, low, items: Items::default(), used: 0 })
    }

    /// Adds entries with one key, of which the first is `item`; none if there are no TIDs.
    fn add_key(&mut self, item: &[u8], tids: &[Tid]) -> IndexResult<()> {
        match tids {
            [] => Ok(()),
            [_] => self.add(0, item),
            _ => self.add(0, &leaf_item_of(item, tids)),
        }
    }

    fn add(&mut self, depth: usize, item: &[u8]) -> IndexResult<()> {
        if depth == self.levels.len() {
            let level = self.start(NONE, None)?;
            self.levels.push(level);
        }
        let fill = if depth == 0 { self.rel.fillfactor } else { INTERNAL_FILL };
        let level = &self.levels[depth];
        let after = level.used + item.len() + 4;
        let full = after + SLACK > ROOM || level.items.len() >= 2 && after > ROOM * fill / 100;
        if full {
            self.turn_page(depth, item)
        } else {
            self.levels[depth].push(item);
            Ok(())
        }
    }

    /// Writes the page of level `depth` and goes on with `item` on a new one.
    fn turn_page(&mut self, depth: usize, item: &[u8]) -> IndexResult<()> {
        let level = &mut self.levels[depth];
        let mut first = vec![item.to_vec()];
        let mut high =
            self.rel.check(level.block, high_key(self.rel, depth, level.items.last(), &first[0]))?;
        if level.used + high.len() + 4 > ROOM
            && let Some(last) = level.items.pop()
        {
            // The high key would not fit: the last item moves on, and what it leaves is room for its own pivot.
            level.used -= last.len() + 4;
            high = self.rel.check(level.block, high_key(self.rel, depth, level.items.last(), &last))?;
            first.insert(0, last);
        }
        if depth > 0 {
            first[0] =
                ops::minus_infinity(crate::format::Item::new(&first[0]).map_or(NONE, |item| item.child()));
        }
        let block = level.block;
        let mut next = self.start(block, Some(high.clone()))?;
        first.iter().for_each(|item| next.push(item));
        let next_block = next.block;
        let done = std::mem::replace(&mut self.levels[depth], next);
        self.write(depth, &done, next_block, Some(&high), 0)?;
        self.add(depth + 1, &done.downlink())
    }

    /// Writes the last page of every level; the highest is the root.
    fn finish(mut self) -> IndexResult<()> {
        let mut depth = 0;
        while depth < self.levels.len() {
            let is_root = depth + 1 == self.levels.len() && self.levels[depth].low.is_none();
            let flags = if is_root { ROOT } else { 0 };
            self.write(depth, &self.levels[depth], NONE, None, flags)?;
            let downlink = self.levels[depth].downlink();
            if is_root {
                break;
            }
            self.add(depth + 1, &downlink)?;
            depth += 1;
        }
        let Some(root) = self.levels.last().map(|level| level.block) else { return Ok(()) };
        let level = depth as u32;
        let meta = Meta { root, level, fast_root: root, fast_level: level, ..Meta::default() };
        let mut page = self.rel.exclusive(self.access.pool, META)?;
        write_meta(self.access, self.rel.desc.persistence, &mut page, &meta);
        self.rel.cache_root(&meta);
        Ok(())
    }

    fn write(
        &self,
        depth: usize,
        level: &Level,
        next: BlockNo,
        high: Option<&[u8]>,
        flags: u16,
    ) -> IndexResult<()> {
        let leaf = if depth == 0 { LEAF } else { 0 };
        let opaque =
            Opaque { prev: level.prev, next, level: depth as u16, flags: flags | leaf, split: Lsn::INVALID };
        let mut page = level.pin.exclusive();
        let bytes: &mut PageBytes = &mut page;
        self.rel.check(level.block, ops::fill(bytes, opaque, high, &level.items.all()))?;
        let mut action = self.rel.action(self.access, Kind::Build);
        action.page(&mut page, PageChange { force_image: true, ..PageChange::default() });
        action.commit();
        Ok(())
    }
}

/// High key of a page that ends with `last` when the next one begins with `first`.
fn high_key(rel: &BtreeRel, depth: usize, last: Option<&[u8]>, first: &[u8]) -> index::bytes::Check<Vec<u8>> {
    match last {
        Some(last) if depth == 0 => leaf_high_key(&rel.desc, last, first),
        Some(_) => Ok(with_child(first, NONE)),
        None => Err("page ends before it begins"),
    }
}
