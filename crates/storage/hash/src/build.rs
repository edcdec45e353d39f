//! Building an index from rows that come in the order of their codes: buckets are filled one after the other, and a full page goes out as an image in the log and into the
//! level above. The highest page goes to block 0.

use base::{BlockNo, Fork};
use index::{Access, IndexResult, Pages, SortedEntries, create_pages, interrupts, log_page};
use tuple::Datum;

use crate::format::{Key, NONE, Opaque, ROOT};
use crate::ops;
use crate::redo::Kind;
use crate::rel::HashRel;

/// Makes the index's main fork, which must be empty, an empty bucket. The initial fork of an unlogged one becomes the same.
pub(crate) fn create_empty(access: &Access<'_>, rel: &HashRel) -> IndexResult<()> {
    create_pages(access, rel, Kind::Build as u8, 1, |_, page| ops::fill(page, Opaque::new(0), &[]))
}

/// Fills the empty main fork. Returns the number of entries.
pub(crate) fn build(access: &Access<'_>, rel: &HashRel, next: SortedEntries<'_>) -> IndexResult<u64> {
    create_empty(access, rel)?;
    let mut builder = Builder { access, rel, levels: Vec::new() };
    let (mut values, mut count) = (Vec::new(), 0);
    while let Some(tid) = next(&mut values)? {
        // NULLs have no entries.
        let Some(Datum::Int4(code)) = values.first() else { continue };
        let key = Key { code: *code as u32, tid };
        builder.add(0, key, &key.bytes())?;
        count += 1;
    }
    builder.finish()?;
    Ok(count)
}

/// The page being filled on one level.
struct Level {
    /// Where it goes, unless it is the first of the level, which may be the root.
    block: Option<BlockNo>,
    low: Key,
    entries: Vec<u8>,
}

struct Builder<'a> {
    access: &'a Access<'a>,
    rel: &'a HashRel,
    levels: Vec<Level>,
}

impl Builder<'_> {
    fn add(&mut self, depth: usize, key: Key, entry: &[u8]) -> IndexResult<()> {
        if depth == self.levels.len() {
            self.levels.push(Level { block: None, low: Key::default(), entries: Vec::new() });
        }
        let capacity = Opaque::new(depth as u16).capacity();
        let wanted = (capacity * self.rel.fillfactor / 100).max(2);
        if self.levels[depth].entries.len() >= wanted * entry.len() {
            self.turn_page(depth, key)?;
        }
        self.levels[depth].entries.extend_from_slice(entry);
        Ok(())
    }

    fn new_page(&self) -> IndexResult<BlockNo> {
        let desc = &self.rel.desc;
        self.access.pool.admit(desc.persistence)?;
        Ok(self.access.pool.extend(desc.file, Fork::Main, desc.persistence)?.tag().block)
    }

    /// Writes the page of a level; the next one begins with `key`.
    fn turn_page(&mut self, depth: usize, key: Key) -> IndexResult<()> {
        interrupts()?;
        let block = match self.levels[depth].block {
            Some(block) => block,
            None => self.new_page()?,
        };
        let next = self.new_page()?;
        let new = Level { block: Some(next), low: key, entries: Vec::new() };
        let done = std::mem::replace(&mut self.levels[depth], new);
        let op = Opaque { next, high: key, low: done.low, ..Opaque::new(depth as u16) };
        self.write(block, op, &done.entries)?;
        self.add(depth + 1, done.low, &done.low.downlink(block))
    }

    /// Writes the last page of every level; the highest is the root.
    fn finish(mut self) -> IndexResult<()> {
        let mut depth = 0;
        while depth < self.levels.len() {
            let level = &mut self.levels[depth];
            let (low, entries) = (level.low, std::mem::take(&mut level.entries));
            let op = Opaque { low, next: NONE, ..Opaque::new(depth as u16) };
            let Some(block) = level.block else { return self.write(ROOT, op, &entries) };
            self.write(block, op, &entries)?;
            self.add(depth + 1, low, &low.downlink(block))?;
            depth += 1;
        }
        Ok(())
    }

    fn write(&self, block: BlockNo, op: Opaque, entries: &[u8]) -> IndexResult<()> {
        let mut page = self.rel.exclusive(self.access.pool, block)?;
        self.rel.check(block, ops::fill(&mut page, op, entries))?;
        log_page::<HashRel>(self.access, self.rel.desc.persistence, Kind::Build as u8, &mut page);
        Ok(())
    }
}
