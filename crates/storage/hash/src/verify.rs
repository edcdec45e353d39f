//! Checking an index: every page is sound, keys are in order and within the bounds of their page, the directory leads to all pages, and each page is in use once, or free.

use std::collections::HashSet;

use base::{BlockNo, Fork};
use index::{Access, EntryCheck, IndexResult, Pages, Shared, VerifyOptions};
use tuple::Datum;

use crate::format::{DELETED, FREE, INCOMPLETE, Key, NONE, Node, Opaque, ROOT, next_free};
use crate::rel::HashRel;

/// What a check found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Entries that are not known to be dead.
    pub entries: u64,
    /// Buckets in use.
    pub buckets: u32,
    /// Pages of the directory.
    pub directory: u32,
    /// Pages whose right sibling the directory does not know yet.
    pub incomplete_splits: u32,
    /// Pages out of use.
    pub deleted: u32,
    /// Of these, pages on the list of free pages.
    pub free: u32,
}

struct Check<'a> {
    access: &'a Access<'a>,
    rel: &'a HashRel,
    options: VerifyOptions,
    report: VerifyReport,
    /// Pages in use.
    seen: HashSet<BlockNo>,
}

/// Checks the index.
pub(crate) fn verify(
    access: &Access<'_>,
    rel: &HashRel,
    options: VerifyOptions,
    mut each: Option<EntryCheck<'_>>,
) -> IndexResult<VerifyReport> {
    let mut check = Check { access, rel, options, report: VerifyReport::default(), seen: HashSet::new() };
    let root = rel.copy(access.pool, ROOT)?;
    let top = rel.node(ROOT, &root)?.op.level;
    for level in (0..=top).rev() {
        check.level(level, &mut each)?;
    }
    if options.still {
        check.directory(top)?;
        check.free_pages()?;
    }
    Ok(check.report)
}

impl Check<'_> {
    /// All pages of a level, from left to right.
    fn level(&mut self, level: u16, each: &mut Option<EntryCheck<'_>>) -> IndexResult<()> {
        let first: Shared = self.rel.descend(self.access, Key::default(), level)?;
        let mut block = first.tag().block;
        drop(first);
        let mut expected = Key::default();
        let mut met = HashSet::new();
        loop {
            self.rel.ensure(block, met.insert(block), "links to the right form a ring")?;
            let bytes = self.rel.copy(self.access.pool, block)?;
            let node = self.rel.node(block, &bytes)?;
            if node.op.is(DELETED) {
                self.rel.ensure(block, !self.options.still, "a link leads to a deleted page")?;
            } else {
                if self.options.still {
                    self.rel.ensure(block, node.op.low == expected, "keys of siblings do not adjoin")?;
                    let new = self.seen.insert(block);
                    self.rel.ensure(block, new, "page is in use twice")?;
                }
                self.page(block, &node, level, each)?;
                expected = node.op.high;
            }
            match node.op.next {
                NONE => return Ok(()),
                next => block = next,
            }
        }
    }

    fn page(
        &mut self,
        block: BlockNo,
        node: &Node<'_>,
        level: u16,
        each: &mut Option<EntryCheck<'_>>,
    ) -> IndexResult<()> {
        let (op, count) = (node.op, node.count());
        self.rel.ensure(block, op.level == level, "level is wrong")?;
        self.rel.ensure(block, op.next == NONE || op.low < op.high, "keys of a page are out of order")?;
        self.report.incomplete_splits += u32::from(op.is(INCOMPLETE));
        if op.is_bucket() {
            self.report.buckets += 1;
        } else {
            self.report.directory += 1;
            self.rel.ensure(block, count > 0, "directory has no entries")?;
            self.rel.ensure(block, node.key(0) == op.low, "directory does not begin with its least key")?;
        }
        for at in 0..count {
            let key = node.key(at);
            let within = key >= op.low && (op.next == NONE || key < op.high);
            self.rel.ensure(block, within, "key lies outside of its page")?;
            self.rel.ensure(block, at == 0 || node.key(at - 1) < key, "keys are out of order")?;
            if op.is_bucket() && !node.is_dead(at) {
                self.report.entries += 1;
                if let Some(each) = each {
                    each(key.tid, &[Datum::Int4(key.code as i32)])?;
                }
            }
            if op.is_bucket() && self.options.root_descend && self.options.still && at == 0 {
                let found: Shared = self.rel.bucket(self.access, key)?;
                self.rel.ensure(block, found.tag().block == block, "bucket is not found by its keys")?;
            }
        }
        Ok(())
    }

    /// Every page but the left ones of each level, and those that wait for their entry, is in the directory once, under its least key.
    fn directory(&mut self, top: u16) -> IndexResult<()> {
        let mut open = vec![(ROOT, top)];
        let mut known = HashSet::from([ROOT]);
        let mut waiting = HashSet::new();
        while let Some((block, level)) = open.pop() {
            let bytes = self.rel.copy(self.access.pool, block)?;
            let node = self.rel.node(block, &bytes)?;
            if node.op.is(INCOMPLETE) {
                waiting.insert(node.op.next);
                open.push((node.op.next, level));
            }
            if level == 0 {
                continue;
            }
            for at in 0..node.count() {
                let child = node.child(at);
                self.rel.ensure(block, known.insert(child), "directory has a page twice")?;
                let bytes = self.rel.copy(self.access.pool, child)?;
                let op = self.rel.check(child, Opaque::read(&bytes))?;
                self.rel.ensure(child, !op.is(DELETED), "directory leads to a deleted page")?;
                self.rel.ensure(child, op.level + 1 == level, "level is wrong")?;
                self.rel.ensure(child, op.low == node.key(at), "directory has a page under another key")?;
                open.push((child, level - 1));
            }
        }
        known.extend(waiting);
        for &block in &self.seen {
            self.rel.ensure(block, known.contains(&block), "page is not in the directory")?;
        }
        Ok(())
    }

    /// Pages that are not in use are deleted, and those on the list are free.
    fn free_pages(&mut self) -> IndexResult<()> {
        let root = self.rel.copy(self.access.pool, ROOT)?;
        let mut listed = HashSet::new();
        let mut block = self.rel.check(ROOT, Opaque::read(&root))?.next;
        while block != NONE {
            self.rel.ensure(block, listed.insert(block), "list of free pages is a ring")?;
            let bytes = self.rel.copy(self.access.pool, block)?;
            let op = self.rel.check(block, Opaque::read(&bytes))?;
            let free = op.is(FREE) && op.is(DELETED);
            self.rel.ensure(block, free, "page on the list of free pages is in use")?;
            block = next_free(&bytes);
        }
        self.report.free = listed.len() as u32;
        for n in 0..self.access.pool.nblocks(self.rel.desc.file, Fork::Main)? {
            let block = BlockNo(n);
            if self.seen.contains(&block) {
                continue;
            }
            let bytes = self.rel.copy(self.access.pool, block)?;
            if page::is_new(&bytes) {
                continue;
            }
            let op = self.rel.check(block, Opaque::read(&bytes))?;
            self.rel.ensure(block, op.is(DELETED), "page is not in use, and not deleted")?;
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
