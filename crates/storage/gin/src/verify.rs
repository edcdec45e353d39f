//! Checking an index: every page is sound, entries are in order and within the bounds of their page, levels count down to the leaves, and each page is in the tree once, or free.

use std::collections::HashSet;

use base::{BlockNo, Fork};
use index::{Access, EntryCheck, IndexResult, Pages, VerifyOptions};
use tuple::{Bytes, Datum};

use crate::format::{
    DELETED, FREE, INCOMPLETE, META, META_BLOCK, NONE, Node, PENDING, Position, ROOT, link, unpack,
};
use crate::rel::GinRel;

/// What a check found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Rows under keys.
    pub entries: u64,
    /// Entries that are not in the tree yet.
    pub pending: u64,
    /// Leaves in the tree.
    pub leaves: u32,
    /// Internal pages in the tree.
    pub internal: u32,
    /// Pages whose right sibling has no downlink yet.
    pub incomplete_splits: u32,
    /// Pages out of the tree.
    pub deleted: u32,
    /// Of these, pages on the list of free pages.
    pub free: u32,
}

/// Checks the index.
pub(crate) fn verify(
    access: &Access<'_>,
    rel: &GinRel,
    options: VerifyOptions,
    each: Option<EntryCheck<'_>>,
) -> IndexResult<VerifyReport> {
    let (report, seen) = (VerifyReport::default(), HashSet::new());
    let mut check = Check { access, rel, options, report, seen, each };
    let root = rel.copy(access.pool, ROOT)?;
    let mut level = rel.node(ROOT, &root)?.op.level;
    let mut first = ROOT;
    loop {
        let below = check.level(level, first)?;
        if level == 0 {
            break;
        }
        (level, first) = (level - 1, below);
    }
    check.pending()?;
    if options.still {
        check.free_pages()?;
    }
    Ok(check.report)
}

struct Check<'a, 'e> {
    access: &'a Access<'a>,
    rel: &'a GinRel,
    options: VerifyOptions,
    report: VerifyReport,
    seen: HashSet<BlockNo>,
    each: Option<EntryCheck<'e>>,
}

impl Check<'_, '_> {
    /// Checks the pages of a level from its first one on. Returns the first child.
    fn level(&mut self, level: u16, first: BlockNo) -> IndexResult<BlockNo> {
        let (mut block, mut below) = (first, NONE);
        // Least position of the page, as its left sibling has it.
        let mut low = link(Position::LEAST, NONE);
        // Downlinks of this level whose pages are to follow in this order.
        let mut children = Vec::new();
        while block != NONE {
            let bytes = self.rel.copy(self.access.pool, block)?;
            let node = self.rel.node(block, &bytes)?;
            if node.op.is(DELETED) && !self.options.still {
                block = node.op.next;
                continue;
            }
            self.rel.ensure(block, node.op.is_in_tree(), "page of the tree is not in use")?;
            self.rel.ensure(block, node.op.level == level, "level is wrong")?;
            let new = self.seen.insert(block);
            self.rel.ensure(block, new, "page is in the tree twice")?;
            self.report.incomplete_splits += u32::from(node.op.is(INCOMPLETE));
            self.bounds(block, &node, &low)?;
            if level > 0 {
                self.report.internal += 1;
                self.rel.ensure(block, node.max() >= node.first(), "internal page has no children")?;
                for n in node.first()..=node.max() {
                    let item = self.rel.check(block, node.link(n))?;
                    self.rel.ensure(block, item.child() != NONE, "downlink leads to the meta page")?;
                    children.push((item.child(), link(item.position(), NONE)));
                }
                if below == NONE {
                    below = self.rel.check(block, node.link(node.first()))?.child();
                }
            } else {
                self.report.leaves += 1;
                self.entries(block, &node)?;
            }
            if let Some(high) = self.rel.check(block, node.high())? {
                low = link(high, NONE);
            }
            block = node.op.next;
        }
        if self.options.still && level > 0 {
            self.downlinks(children)?;
        }
        Ok(below)
    }

    /// Items are in order, within the page's bounds.
    fn bounds(&self, block: BlockNo, node: &Node<'_>, low: &[u8]) -> IndexResult<()> {
        let rel = self.rel;
        let low = rel.check(block, crate::format::Link::new(low))?.position();
        let high = rel.check(block, node.high())?;
        let mut last: Option<(Position<'_>, u64)> = None;
        for n in node.first()..=node.max() {
            let of = rel.check(block, node.position(n))?;
            let end = if node.op.is_leaf() { rel.check(block, node.leaf(n))?.last() } else { of.tid };
            if self.options.still {
                self.rel.ensure(block, rel.compare(of, low).is_ge(), "item lies before its page")?;
            }
            if let Some((last, end)) = last {
                self.rel.ensure(block, rel.compare(of, last.at(end)).is_gt(), "items are out of order")?;
            }
            if let Some(high) = high {
                self.rel.ensure(block, rel.compare(of.at(end), high).is_lt(), "item lies behind its page")?;
            }
            last = Some((of, end));
        }
        Ok(())
    }

    /// The pages of a level are those that the level above names, with the bounds that it names, and those whose downlink is missing.
    fn downlinks(&self, children: Vec<(BlockNo, Vec<u8>)>) -> IndexResult<()> {
        let Some((first, _)) = children.first() else { return Ok(()) };
        let (mut block, mut bound, mut named) = (*first, link(Position::LEAST, NONE), true);
        let mut children = children.iter().peekable();
        while block != NONE {
            let bytes = self.rel.copy(self.access.pool, block)?;
            let node = self.rel.node(block, &bytes)?;
            if named {
                let known = children.next();
                self.rel.ensure(
                    block,
                    known.is_some_and(|(child, _)| *child == block),
                    "page has no downlink",
                )?;
                let same = known.is_some_and(|(_, of)| *of == bound);
                self.rel.ensure(block, same, "downlink has another bound than its page")?;
            }
            named = !node.op.is(INCOMPLETE);
            if let Some(high) = self.rel.check(block, node.high())? {
                bound = link(high, NONE);
            }
            block = node.op.next;
        }
        self.rel.ensure(*first, children.next().is_none(), "a downlink leads to no page of the next level")
    }

    fn entries(&mut self, block: BlockNo, node: &Node<'_>) -> IndexResult<()> {
        let mut tids = Vec::new();
        for n in node.first()..=node.max() {
            let leaf = self.rel.check(block, node.leaf(n))?;
            tids.clear();
            self.rel.check(block, leaf.tids(&mut tids))?;
            self.report.entries += tids.len() as u64;
            if let Some(each) = &mut self.each {
                let values = entry_values(self.rel, leaf.position());
                for tid in &tids {
                    each(unpack(*tid), &values)?;
                }
            }
        }
        Ok(())
    }

    /// Entries that are not in the tree yet.
    fn pending(&mut self) -> IndexResult<()> {
        for lane in crate::pending::lanes() {
            let (mut block, mut behind, mut pages) = (lane, 0, None);
            while block != NONE {
                let bytes = self.rel.copy(self.access.pool, block)?;
                let node = self.rel.node(block, &bytes)?;
                if !node.op.is(PENDING) {
                    // It was cut off meanwhile.
                    self.rel.ensure(
                        block,
                        !self.options.still && block != lane,
                        "page is not one of pending entries",
                    )?;
                    break;
                }
                let new = self.seen.insert(block);
                self.rel.ensure(block, new, "page of pending entries is in the index twice")?;
                match pages {
                    None => pages = Some(node.op.pages),
                    Some(_) => behind += 1,
                }
                for n in 1..=node.max() {
                    for of in self.rel.check(block, node.pending_row(n))? {
                        let of = self.rel.check(block, of)?;
                        self.report.pending += 1;
                        if let Some(each) = &mut self.each {
                            each(unpack(of.tid), &entry_values(self.rel, of))?;
                        }
                    }
                }
                block = node.op.next;
            }
            let right = !self.options.still || pages == Some(behind);
            self.rel.ensure(lane, right, "number of pages of pending entries is wrong")?;
        }
        Ok(())
    }

    /// Pages outside the tree are deleted, and those on the list are free.
    fn free_pages(&mut self) -> IndexResult<()> {
        let meta = self.rel.copy(self.access.pool, META_BLOCK)?;
        let node = self.rel.node(META_BLOCK, &meta)?;
        self.rel.ensure(META_BLOCK, node.op.is(META), "first page is not the meta page")?;
        let mut listed = HashSet::new();
        let mut block = node.op.next;
        while block != NONE {
            let new = listed.insert(block);
            self.rel.ensure(block, new, "list of free pages is a ring")?;
            let bytes = self.rel.copy(self.access.pool, block)?;
            let node = self.rel.node(block, &bytes)?;
            let free = node.op.is(FREE) && node.op.is(DELETED);
            self.rel.ensure(block, free, "page on the list of free pages is in use")?;
            block = node.next_free();
        }
        self.report.free = listed.len() as u32;
        for n in 1..self.access.pool.nblocks(self.rel.desc.file, Fork::Main)? {
            let block = BlockNo(n);
            if self.seen.contains(&block) {
                continue;
            }
            let bytes = self.rel.copy(self.access.pool, block)?;
            if page::is_new(&bytes) {
                continue;
            }
            let op = self.rel.check(block, Node::new(&bytes))?.op;
            self.rel.ensure(block, op.is(DELETED), "page is not in the tree")?;
            self.rel.ensure(
                block,
                op.is(FREE) == listed.contains(&block),
                "a free page is not on the list",
            )?;
            self.report.deleted += 1;
        }
        Ok(())
    }
}

/// An entry as values: column, category, and key if its bytes tell it from others.
pub(crate) fn entry_values(rel: &GinRel, of: Position<'_>) -> [Datum; 3] {
    let told = rel.class(of.column).is_some_and(|class| class.equal_image());
    [
        Datum::Int2(i16::from(of.column)),
        Datum::Int2(i16::from(of.category)),
        Datum::Bytes(Bytes::new(if told { of.key } else { &[] })),
    ]
}
