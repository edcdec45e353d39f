//! Checking a tree: every page is sound, a child's keys lie within that of its downlink, levels count down to the leaves, and each page is in the tree once, or free.

use std::collections::HashSet;

use base::{BlockNo, Fork};
use index::{Access, EntryCheck, IndexResult, Pages, VerifyOptions};

use crate::format::{DELETED, FOLLOW_RIGHT, FREE, NONE, Node, ROOT};
use crate::keys::{Key, same, union};
use crate::rel::GistRel;
use crate::scan::entry_values;

/// A child's key is not within its parent's.
pub(crate) const OUTSIDE: &str = "key of a page is not within the key of its downlink";

/// What a check found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Entries in leaves that are not known to be dead.
    pub entries: u64,
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

/// A page to look at.
struct Visit {
    block: BlockNo,
    level: Option<u16>,
    /// Key of its downlink.
    within: Option<Key>,
    /// Version of its parent when that was read.
    seen: u64,
}

/// Checks the index.
pub(crate) fn verify(
    access: &Access<'_>,
    rel: &GistRel,
    options: VerifyOptions,
    mut each: Option<EntryCheck<'_>>,
) -> IndexResult<VerifyReport> {
    let mut report = VerifyReport::default();
    let mut seen = HashSet::new();
    let mut open = vec![Visit { block: ROOT, level: None, within: None, seen: u64::MAX }];
    while let Some(visit) = open.pop() {
        let new = seen.insert(visit.block);
        if options.still {
            rel.ensure(visit.block, new, "page is in the tree twice")?;
        }
        if new {
            page(access, rel, options, &visit, &mut open, &mut report, &mut each)?;
        }
    }
    if options.still {
        free_pages(access, rel, &seen, &mut report)?;
    }
    Ok(report)
}

fn page(
    access: &Access<'_>,
    rel: &GistRel,
    options: VerifyOptions,
    visit: &Visit,
    open: &mut Vec<Visit>,
    report: &mut VerifyReport,
    each: &mut Option<EntryCheck<'_>>,
) -> IndexResult<()> {
    let (desc, block) = (&rel.desc, visit.block);
    let bytes = rel.copy(access.pool, block)?;
    let node = rel.node(block, &bytes)?;
    if node.op.is(DELETED) {
        return rel.ensure(block, !options.still, "a downlink leads to a deleted page");
    }
    if let Some(level) = visit.level {
        rel.ensure(block, node.op.level == level, "level is wrong")?;
    }
    let follow = block != ROOT && (node.op.is(FOLLOW_RIGHT) || node.op.nsn > visit.seen);
    report.incomplete_splits += u32::from(node.op.is(FOLLOW_RIGHT));
    if follow {
        rel.ensure(block, node.op.next != NONE, "an incomplete split has no right page")?;
        let right = Visit { block: node.op.next, within: visit.within.clone(), ..*visit };
        open.push(right);
    }
    if node.op.is_leaf() {
        report.leaves += 1
    } else {
        report.internal += 1
    }
    for item in node.items() {
        let (n, item) = rel.check(block, item)?;
        let key: Key = rel.check(block, item.decode(&desc.layout, rel.nkeys()))?;
        if let Some(within) = visit.within.as_ref().filter(|_| options.still) {
            let both = union(desc, [&within[..], &key[..]].into_iter());
            rel.ensure(block, same(desc, &both, within), OUTSIDE)?;
        }
        if !node.op.is_leaf() {
            let level = Some(node.op.level - 1);
            rel.ensure(block, item.child() != ROOT, "downlink leads to the root")?;
            open.push(Visit { block: item.child(), level, within: Some(key), seen: node.op.version });
        } else if !node.is_dead(n) {
            report.entries += 1;
            if let Some(each) = each {
                let values = rel.check(block, entry_values(desc, &item))?;
                each(item.tid(), &values)?;
            }
        }
    }
    Ok(())
}

/// Pages outside the tree are deleted, and those on the list are free.
fn free_pages(
    access: &Access<'_>,
    rel: &GistRel,
    in_tree: &HashSet<BlockNo>,
    report: &mut VerifyReport,
) -> IndexResult<()> {
    let root = rel.copy(access.pool, ROOT)?;
    let mut listed = HashSet::new();
    let mut block = rel.node(ROOT, &root)?.op.next;
    while block != NONE {
        rel.ensure(block, listed.insert(block), "list of free pages is a ring")?;
        let bytes = rel.copy(access.pool, block)?;
        let node = rel.node(block, &bytes)?;
        rel.ensure(
            block,
            node.op.is(FREE) && node.op.is(DELETED),
            "page on the list of free pages is in use",
        )?;
        block = node.next_free();
    }
    report.free = listed.len() as u32;
    for n in 0..access.pool.nblocks(rel.desc.file, Fork::Main)? {
        let block = BlockNo(n);
        if in_tree.contains(&block) {
            continue;
        }
        let bytes = rel.copy(access.pool, block)?;
        if page::is_new(&bytes) {
            continue;
        }
        let op = rel.check(block, Node::new(&bytes))?.op;
        rel.ensure(block, op.is(DELETED), "page is not in the tree")?;
        rel.ensure(block, op.is(FREE) == listed.contains(&block), "a free page is not on the list")?;
        report.deleted += 1;
    }
    Ok(())
}
