//! Insertion: to the bucket of the code; splits, and their entries in the directory.

use base::Tid;
use buffer::{ExclusivePage, PageChange};
use index::{Access, Exclusive, FreeList, INIT, IndexResult, InsertOutcome, Pages, interrupts};

use crate::format::{INCOMPLETE, Key, NONE, Node, Opaque, ROOT};
use crate::ops::{self, Split};
use crate::redo::{Kind, delete_bytes, insert_bytes, split_bytes};
use crate::rel::HashRel;

/// Enters a row with this hash code.
pub(crate) fn insert(access: &Access<'_>, rel: &HashRel, code: u32, tid: Tid) -> IndexResult<InsertOutcome> {
    access.pool.admit(rel.desc.persistence)?;
    let key = Key { code, tid };
    loop {
        let mut page: Exclusive = rel.bucket(access, key)?;
        let block = page.tag().block;
        let node = rel.node(block, &page)?;
        if node.op.is(INCOMPLETE) {
            finish_split(access, rel, page)?;
        } else if node.count() < node.op.capacity() {
            enter(access, rel, &mut page, key)?;
            return Ok(InsertOutcome::Inserted);
        } else {
            let dead = node.dead();
            if dead.is_empty() {
                split(access, rel, page, Some(key))?;
            } else {
                remove(access, rel, &mut page, &dead)?;
                enter(access, rel, &mut page, key)?;
                return Ok(InsertOutcome::Inserted);
            }
        }
        interrupts()?;
    }
}

/// Puts an entry into a bucket that has room, unless it is there.
fn enter(access: &Access<'_>, rel: &HashRel, page: &mut Exclusive, key: Key) -> IndexResult<()> {
    let block = page.tag().block;
    let node = rel.node(block, page)?;
    let at = node.lower_bound(key);
    if at < node.count() && node.key(at) == key {
        if !node.is_dead(at) {
            return Ok(());
        }
        remove(access, rel, page, &[at as u16])?;
    }
    let (at, entry) = (at as u16, key.bytes());
    rel.check(block, ops::insert(page, at, &entry))?;
    let mut action = rel.action(access, Kind::Insert);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &at.to_le_bytes());
    action.page_data(i, &entry);
    action.commit();
    Ok(())
}

/// Removes entries from a bucket.
pub(crate) fn remove(
    access: &Access<'_>,
    rel: &HashRel,
    page: &mut ExclusivePage<'_>,
    doomed: &[u16],
) -> IndexResult<()> {
    rel.check(page.tag().block, ops::remove(page, doomed))?;
    let mut action = rel.action(access, Kind::Delete);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &delete_bytes(doomed));
    action.commit();
    Ok(())
}

/// How many entries stay on a full page: half, unless rows with one code come in their order.
fn kept(node: &Node<'_>, new: Option<Key>) -> usize {
    let count = node.count();
    let last = node.key(count - 1);
    let grows = new.is_some_and(|new| last < new && last.code == new.code);
    if grows { count - count / 10 } else { count / 2 }
}

/// Splits a full page; `new` is the key that found no room.
fn split(access: &Access<'_>, rel: &HashRel, mut page: Exclusive, new: Option<Key>) -> IndexResult<()> {
    let block = page.tag().block;
    if block == ROOT {
        return split_root(access, rel, page);
    }
    let mut right = rel.allocate(access, false)?;
    let node = rel.node(block, &page)?;
    let at = access.pool.wal().insert_end();
    let keep = kept(&node, new);
    let split = Split { keep: keep as u16, right: right.tag().block, key: node.key(keep), at };
    let op = Opaque { low: split.key, split: at, ..node.op };
    rel.check(split.right, ops::fill(&mut right, op, &node.entries[keep * op.width()..]))?;
    rel.check(block, ops::split(&mut page, split))?;
    let data = rel.check(split.right, ops::blob(&right))?;
    let mut action = rel.action(access, Kind::Split);
    action.data(&split_bytes(&split));
    action.page(&mut page, PageChange::default());
    let i = action.page(&mut right, INIT);
    action.page_data(i, &data);
    action.commit();
    drop(right);
    finish_split(access, rel, page)
}

/// Enters the right page of a split into the directory. The left one stays latched.
fn finish_split(access: &Access<'_>, rel: &HashRel, mut left: Exclusive) -> IndexResult<()> {
    let op = rel.node(left.tag().block, &left)?.op;
    let (key, right) = (op.high, op.next);
    loop {
        let mut above: Exclusive = rel.descend(access, key, op.level + 1)?;
        let block = above.tag().block;
        let node = rel.node(block, &above)?;
        if node.op.is(INCOMPLETE) {
            finish_split(access, rel, above)?;
        } else if node.count() == node.op.capacity() {
            split(access, rel, above, None)?;
        } else {
            let at = node.lower_bound(key);
            if at < node.count() && node.key(at) == key {
                return Err(rel.corrupt(block, "directory has a page already"));
            }
            let entry = key.downlink(right);
            rel.check(block, ops::insert(&mut above, at as u16, &entry))?;
            rel.check(left.tag().block, ops::complete(&mut left))?;
            let mut action = rel.action(access, Kind::InsertUpper);
            let i = action.page(&mut above, PageChange::default());
            action.page_data(i, &insert_bytes(at as u16, &entry));
            action.page(&mut left, PageChange::default());
            action.commit();
            return Ok(());
        }
    }
}

/// Gives the entries of a full root to two new pages and makes it their directory.
fn split_root(access: &Access<'_>, rel: &HashRel, mut root: Exclusive) -> IndexResult<()> {
    let mut left = rel.allocate(access, true)?;
    let mut right = rel.allocate(access, true)?;
    let (left_block, right_block) = (left.tag().block, right.tag().block);
    let node = rel.node(ROOT, &root)?;
    let (keep, width, at) = (node.count() / 2, node.op.width(), access.pool.wal().insert_end());
    let key = node.key(keep);
    let free = rel.check(ROOT, Opaque::read(&root))?.next;
    let level = Opaque { split: at, ..Opaque::new(node.op.level) };
    let left_op = Opaque { next: right_block, high: key, ..level };
    let right_op = Opaque { next: NONE, low: key, ..level };
    rel.check(left_block, ops::fill(&mut left, left_op, &node.entries[..keep * width]))?;
    rel.check(right_block, ops::fill(&mut right, right_op, &node.entries[keep * width..]))?;
    let children = [Key::default().downlink(left_block), key.downlink(right_block)].concat();
    let root_op = Opaque { next: free, ..Opaque::new(node.op.level + 1) };
    rel.check(ROOT, ops::fill(&mut root, root_op, &children))?;
    let blobs = [&left, &right, &root].map(|page| rel.check(page.tag().block, ops::blob(page)));
    let mut action = rel.action(access, Kind::SplitRoot);
    for (page, blob) in [&mut left, &mut right, &mut root].into_iter().zip(blobs) {
        let blob = blob?;
        let i = action.page(page, INIT);
        action.page_data(i, &blob);
    }
    action.commit();
    Ok(())
}
