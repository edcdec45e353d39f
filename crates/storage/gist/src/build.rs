//! Building an index bottom-up from rows that come in the classes' order: neighbours share a page. Each level has one page being filled; a full page goes out as an
//! image in the log and gives its downlink to the level above. The highest page goes to block 0.

use base::{BlockNo, Fork};
use index::{Access, Exclusive, IndexResult, Pages, SortedEntries, create_pages, interrupts, log_page};

use crate::format::{NONE, Opaque, ROOM, ROOT};
use crate::insert::{downlink_to, insert_keys, leaf_entry};
use crate::keys::Entry;
use crate::ops;
use crate::redo::Kind;
use crate::rel::GistRel;

/// Makes the index's main fork, which must be empty, an empty tree: a leaf. The initial fork of an unlogged one becomes the same.
pub(crate) fn create_empty(access: &Access<'_>, rel: &GistRel) -> IndexResult<()> {
    create_pages(access, rel, Kind::Build as u8, 1, |_, page| ops::fill::<&[u8]>(page, Opaque::new(0), &[]))
}

/// Builds the tree in the empty main fork. Returns the number of entries.
pub(crate) fn build(access: &Access<'_>, rel: &GistRel, next: SortedEntries<'_>) -> IndexResult<u64> {
    create_empty(access, rel)?;
    if !rel.bulk {
        return insert_all(access, rel, next);
    }
    let mut builder = Builder { access, rel, levels: Vec::new() };
    let (mut values, mut count) = (Vec::new(), 0);
    while let Some(tid) = next(&mut values)? {
        count += 1;
        builder.add(0, leaf_entry(rel, &values, tid)?)?;
    }
    builder.finish()?;
    Ok(count)
}

/// Builds without order: enters row by row into the empty tree, as `buffering = off` asks.
fn insert_all(access: &Access<'_>, rel: &GistRel, next: SortedEntries<'_>) -> IndexResult<u64> {
    let (mut values, mut count) = (Vec::new(), 0);
    while let Some(tid) = next(&mut values)? {
        interrupts()?;
        count += 1;
        insert_keys(access, rel, &values, tid)?;
    }
    Ok(count)
}

/// The page being filled on one level.
#[derive(Default)]
struct Level {
    entries: Vec<Entry>,
    used: usize,
}

struct Builder<'a> {
    access: &'a Access<'a>,
    rel: &'a GistRel,
    levels: Vec<Level>,
}

impl Builder<'_> {
    fn add(&mut self, depth: usize, entry: Entry) -> IndexResult<()> {
        if depth == self.levels.len() {
            self.levels.push(Level::default());
        }
        let room = entry.bytes.len() + 4;
        let level = &self.levels[depth];
        let full = level.used + room > ROOM * self.rel.fillfactor / 100 && level.entries.len() >= 2;
        if full || level.used + room > ROOM {
            self.turn_page(depth)?;
        }
        let level = &mut self.levels[depth];
        level.used += room;
        level.entries.push(entry);
        Ok(())
    }

    /// Writes the page of a level.
    fn turn_page(&mut self, depth: usize) -> IndexResult<()> {
        interrupts()?;
        let done = std::mem::take(&mut self.levels[depth]);
        let desc = &self.rel.desc;
        self.access.pool.admit(desc.persistence)?;
        let page = self.access.pool.extend(desc.file, Fork::Main, desc.persistence)?;
        let block = page.tag().block;
        self.write(page, depth, &done.entries)?;
        let link = downlink_to(self.rel, block, &done.entries)?;
        self.add(depth + 1, link)
    }

    /// Writes the last page of every level; the highest is the root.
    fn finish(mut self) -> IndexResult<()> {
        let mut depth = 0;
        while depth + 1 < self.levels.len() {
            self.turn_page(depth)?;
            depth += 1;
        }
        let Some(top) = self.levels.pop() else { return Ok(()) };
        let root = self.rel.exclusive(self.access.pool, ROOT)?;
        self.write(root, depth, &top.entries)
    }

    fn write(&self, mut page: Exclusive, depth: usize, entries: &[Entry]) -> IndexResult<()> {
        let block: BlockNo = page.tag().block;
        let items: Vec<&[u8]> = entries.iter().map(|entry| &entry.bytes[..]).collect();
        let opaque = Opaque { next: NONE, ..Opaque::new(depth as u16) };
        self.rel.check(block, ops::fill(&mut page, opaque, &items))?;
        log_page::<GistRel>(self.access, self.rel.desc.persistence, Kind::Build as u8, &mut page);
        Ok(())
    }
}
