//! Getting to a page: root, descent, moving right; new pages.

use std::sync::atomic::Ordering::Relaxed;

use base::{BlockNo, Fork, Lsn};
use buffer::{BufferPool, PageChange, Pin, WalAction};
use index::bytes::Check;
use index::{Access, Exclusive, IndexResult, Pages, Shared};
use page::PageBytes;
use wal::Rmgr;

use crate::ascend::finish_split;
use crate::format::{FREE, INCOMPLETE_SPLIT, LEAF, META, Meta, NONE, Node, Opaque, ROOT};
use crate::key::SearchKey;
use crate::ops;
use crate::redo::Kind;
use crate::rel::BtreeRel;

/// The internal pages a descent came through, root first: hints where to find the parents.
pub(crate) type Stack = Vec<BlockNo>;

/// No chain of links that a search follows is this long unless links form a ring.
const MAX_HOPS: u32 = 1 << 20;

/// Counts the links that a walk follows.
#[derive(Default)]
pub(crate) struct Hops(u32);

impl Hops {
    /// One more, to `block`.
    pub fn count(&mut self, rel: &BtreeRel, block: BlockNo) -> IndexResult<()> {
        self.0 += 1;
        if self.0 > MAX_HOPS { Err(rel.corrupt(block, "links do not end")) } else { Ok(()) }
    }
}

impl BtreeRel {
    #[inline]
    pub(crate) fn node<'p>(&self, block: BlockNo, page: &'p PageBytes) -> IndexResult<Node<'p>> {
        let node = self.check(block, Node::new(page))?;
        // Who follows a link holding this page would wait for himself.
        if node.op.next == block || node.op.prev == block {
            return Err(self.corrupt(block, "page is its own sibling"));
        }
        Ok(node)
    }

    pub(crate) fn meta(&self, pool: &BufferPool) -> IndexResult<Meta> {
        let page = self.shared(pool, META)?;
        self.check(META, Meta::read(&page))
    }

    /// Remembers the fast root.
    pub(crate) fn cache_root(&self, meta: &Meta) {
        self.root.store(u64::from(meta.fast_level) << 32 | u64::from(meta.fast_root.0), Relaxed);
    }

    /// A record about this index.
    pub(crate) fn action<'a>(&self, access: &Access<'a>, kind: Kind) -> WalAction<'a> {
        WalAction::for_relation(access.pool, self.desc.persistence, Rmgr::Btree, kind as u8, access.xid)
    }
}

/// The fast root, latched shared, and its special area; `None` in an empty tree.
#[inline]
pub(crate) fn root(access: &Access<'_>, rel: &BtreeRel) -> IndexResult<Option<(Shared, Opaque)>> {
    let cached = rel.root.load(Relaxed);
    if cached != 0 {
        let (block, level) = (BlockNo(cached as u32), (cached >> 32) as u16);
        // The page may have got siblings or left the tree since; whatever is alone on its level is a root to start from.
        if let Ok(page) = rel.shared(access.pool, block)
            && let Ok(Node { op, .. }) = Node::new(&page)
            && !op.ignored()
            && op.level == level
            && op.leftmost()
            && op.rightmost()
        {
            return Ok(Some((page, op)));
        }
        rel.root.store(0, Relaxed);
    }
    let meta = rel.meta(access.pool)?;
    if meta.fast_root == NONE {
        return Ok(None);
    }
    rel.cache_root(&meta);
    let mut block = meta.fast_root;
    for _ in 0..MAX_HOPS {
        let page = rel.shared(access.pool, block)?;
        let op = rel.node(block, &page)?.op;
        if !op.ignored() {
            if u32::from(op.level) != meta.fast_level {
                return Err(rel.corrupt(block, "root page has the wrong level"));
            }
            return Ok(Some((page, op)));
        }
        if op.rightmost() {
            break;
        }
        block = op.next;
    }
    Err(rel.corrupt(META, "no live root page"))
}

/// Makes the first root, a leaf, if the tree is empty.
pub(crate) fn make_root(access: &Access<'_>, rel: &BtreeRel) -> IndexResult<()> {
    let mut meta_page = rel.exclusive(access.pool, META)?;
    let meta = rel.check(META, Meta::read(&meta_page))?;
    if meta.root != NONE {
        return Ok(());
    }
    let mut root = access.pool.extend(rel.desc.file, Fork::Main, rel.desc.persistence)?;
    let block = root.tag().block;
    let opaque = Opaque { prev: NONE, next: NONE, level: 0, flags: LEAF | ROOT, split: Lsn::INVALID };
    let none: &[&[u8]] = &[];
    rel.check(block, ops::fill(&mut root, opaque, None, none))?;
    let meta = Meta { root: block, level: 0, fast_root: block, fast_level: 0, ..meta };
    meta.write(&mut meta_page);
    rel.cache_root(&meta);
    let data = rel.check(block, ops::blob(&root))?;
    let mut action = rel.action(access, Kind::NewRoot);
    action.data(&meta_bytes(&meta));
    let i = action.page(&mut root, PageChange { will_init: true, ..PageChange::default() });
    action.page_data(i, &data);
    action.page(&mut meta_page, PageChange { will_init: true, ..PageChange::default() });
    action.commit();
    Ok(())
}

/// The fields of the meta page as records carry them.
pub(crate) fn meta_bytes(meta: &Meta) -> Vec<u8> {
    [
        meta.root.0,
        meta.level,
        meta.fast_root.0,
        meta.fast_level,
        meta.free_head.0,
        meta.free_count,
        meta.pending,
    ]
    .iter()
    .flat_map(|word| word.to_le_bytes())
    .collect()
}

/// Moves right from a latched page to the one whose key space holds the key's place, and gives its special area too. Holds one latch at a time.
/// With a `stack`, as a writer has it, finishes incomplete splits on the way: the right half of one has no downlink, so that what is to come up
/// from below it would find no parent to go on to.
///
/// Nearly always that is the page itself.
#[inline]
pub(crate) fn move_right(
    access: &Access<'_>,
    rel: &BtreeRel,
    key: &SearchKey<'_>,
    page: Shared,
    stack: Option<&Stack>,
) -> IndexResult<(Shared, Opaque)> {
    if let Ok(node) = Node::new(&page)
        && !node.op.is(INCOMPLETE_SPLIT)
        && matches!(goes_right(key, &node), Ok(None))
    {
        let op = node.op;
        return Ok((page, op));
    }
    walk_right(access, rel, key, page, stack)
}

#[inline(never)]
fn walk_right(
    access: &Access<'_>,
    rel: &BtreeRel,
    key: &SearchKey<'_>,
    mut page: Shared,
    stack: Option<&Stack>,
) -> IndexResult<(Shared, Opaque)> {
    let mut hops = Hops::default();
    loop {
        let block = page.tag().block;
        hops.count(rel, block)?;
        let node = rel.node(block, &page)?;
        if let Some(stack) = stack
            && node.op.is(INCOMPLETE_SPLIT)
            && !node.op.ignored()
        {
            drop(page);
            finish_if_incomplete(access, rel, block, stack)?;
            page = rel.shared(access.pool, block)?;
            continue;
        }
        let op = node.op;
        let Some(next) = rel.check(block, goes_right(key, &node))? else { return Ok((page, op)) };
        drop(page);
        page = rel.shared(access.pool, next)?;
    }
}

fn finish_if_incomplete(
    access: &Access<'_>,
    rel: &BtreeRel,
    block: BlockNo,
    stack: &Stack,
) -> IndexResult<()> {
    let page = rel.exclusive(access.pool, block)?;
    let op = rel.node(block, &page)?.op;
    if op.is(INCOMPLETE_SPLIT) && !op.ignored() {
        finish_split(access, rel, page, stack.clone())
    } else {
        Ok(())
    }
}

/// The right sibling if the key's place is there.
#[inline]
pub(crate) fn goes_right(key: &SearchKey<'_>, node: &Node<'_>) -> Check<Option<BlockNo>> {
    if node.op.rightmost() {
        return if node.op.ignored() { Err("right-most page is deleted") } else { Ok(None) };
    }
    if node.op.ignored() {
        return Ok(Some(node.op.next));
    }
    Ok(key.beyond_page(node)?.then_some(node.op.next))
}

/// Walks from the root to the page of `level` that the key leads to, which comes back unlatched: the caller latches it and moves right. A writer
/// hands in a `stack`, which gets the pages above.
/// `None` in an empty tree, or if the fast root is below `level`.
pub(crate) fn descend(
    access: &Access<'_>,
    rel: &BtreeRel,
    key: &SearchKey<'_>,
    level: u16,
    mut stack: Option<&mut Stack>,
) -> IndexResult<Option<Pin>> {
    let Some((mut page, mut op)) = root(access, rel)? else { return Ok(None) };
    let mut at = op.level;
    if at < level {
        return Ok(None);
    }
    // A right-most page has no right sibling, so it cannot be the left half of an incomplete split.
    let mut arrived = op.rightmost();
    while at > level {
        if !arrived {
            (page, op) = move_right(access, rel, key, page, stack.as_deref())?;
        }
        arrived = false;
        let block = page.tag().block;
        if op.level != at || op.is_leaf() {
            return Err(rel.corrupt(block, "page has the wrong level"));
        }
        let child = rel.check(block, child_of(key, &Node { page: &page, op }))?;
        if let Some(stack) = stack.as_mut() {
            stack.push(block);
        }
        drop(page);
        at -= 1;
        let pin = rel.pin(access.pool, child)?;
        if at == level {
            return Ok(Some(pin));
        }
        page = pin.into_shared();
    }
    Ok(Some(page.into_pin()))
}

/// The child of an internal page that the key leads to.
#[inline]
fn child_of(key: &SearchKey<'_>, node: &Node<'_>) -> Check<BlockNo> {
    let at = key.search(node)?;
    if at <= node.first() {
        return Err("internal page has no item below the key");
    }
    let item = node.item(at - 1)?;
    if !item.is_pivot() || item.child() == NONE { Err("downlink is no pivot") } else { Ok(item.child()) }
}

/// The left-most (or right-most) page of a level, latched shared; `None` in an empty tree.
pub(crate) fn edge(
    access: &Access<'_>,
    rel: &BtreeRel,
    level: u16,
    right: bool,
) -> IndexResult<Option<Shared>> {
    let start = if level == 0 { root(access, rel)?.map(|(page, _)| page) } else { true_root(access, rel)? };
    let Some(mut page) = start else { return Ok(None) };
    for _ in 0..MAX_HOPS {
        let block = page.tag().block;
        let node = rel.node(block, &page)?;
        let next = if node.op.ignored() || right && !node.op.rightmost() {
            node.op.next
        } else if node.op.level == level {
            return Ok(Some(page));
        } else if node.op.level < level || node.op.is_leaf() {
            return Err(rel.corrupt(block, "level is not there"));
        } else {
            let at = if right { node.max() } else { node.first() };
            rel.check(block, node.item(at))?.child()
        };
        if next == NONE {
            return Err(rel.corrupt(block, "link leads nowhere"));
        }
        drop(page);
        page = rel.shared(access.pool, next)?;
    }
    Err(rel.corrupt(page.tag().block, "links do not end"))
}

/// The root as the meta page knows it, not the fast one.
fn true_root(access: &Access<'_>, rel: &BtreeRel) -> IndexResult<Option<Shared>> {
    let meta = rel.meta(access.pool)?;
    if meta.root == NONE {
        return Ok(None);
    }
    Ok(Some(rel.shared(access.pool, meta.root)?))
}

/// A page to write on, latched exclusively: a free one, or a new one at the end. Its bytes are to be overwritten entirely (`will_init`).
///
/// May be called with pages of the tree latched, but not the meta page.
pub(crate) fn allocate(access: &Access<'_>, rel: &BtreeRel) -> IndexResult<Exclusive> {
    // A glance first: splits do not queue for the meta page while there is nothing to be had.
    if rel.meta(access.pool)?.free_head != NONE
        && let Some(page) = take_free(access, rel)?
    {
        return Ok(page);
    }
    Ok(access.pool.extend(rel.desc.file, Fork::Main, rel.desc.persistence)?)
}

/// Takes the first page off the list of free pages. If a crash follows before it is used, the next VACUUM puts it back.
fn take_free(access: &Access<'_>, rel: &BtreeRel) -> IndexResult<Option<Exclusive>> {
    let mut meta_page = rel.exclusive(access.pool, META)?;
    let mut meta = rel.check(META, Meta::read(&meta_page))?;
    if meta.free_head == NONE {
        return Ok(None);
    }
    let block = meta.free_head;
    let mut page = rel.exclusive(access.pool, block)?;
    let node = rel.node(block, &page)?;
    if !node.op.is(FREE) {
        return Err(rel.corrupt(block, "page on the list of free pages is in use"));
    }
    meta.free_head = node.next_free();
    meta.free_count = meta.free_count.saturating_sub(1);
    rel.check(block, ops::unmark_free(&mut page))?;
    meta.write(&mut meta_page);
    let mut action = rel.action(access, Kind::TakeFree);
    action.data(&meta_bytes(&meta));
    action.page(&mut page, PageChange::default());
    action.page(&mut meta_page, PageChange { will_init: true, ..PageChange::default() });
    action.commit();
    Ok(Some(page))
}

/// Puts a deleted page that no scan can reach any more, or one that was never used, on the list of free pages. `false` if it is
/// neither (any more).
///
/// The page is latched before the meta page: it may be in the tree again, latched by somebody who wants the meta page next. `take_free` goes
/// the other way, but to a page that is on the list, which nobody holds while he waits for the meta page.
pub(crate) fn put_free(access: &Access<'_>, rel: &BtreeRel, block: BlockNo) -> IndexResult<bool> {
    let mut page = rel.exclusive(access.pool, block)?;
    if !page::is_new(&page) {
        let node = rel.node(block, &page)?;
        if !node.op.is(crate::format::DELETED)
            || node.op.is(FREE)
            || !access.horizon.is_removable(node.safe_xid())
        {
            return Ok(false);
        }
    }
    let mut meta_page = rel.exclusive(access.pool, META)?;
    let mut meta = rel.check(META, Meta::read(&meta_page))?;
    rel.check(block, ops::mark_free(&mut page, meta.free_head))?;
    meta.free_head = block;
    meta.free_count += 1;
    meta.write(&mut meta_page);
    let data = rel.check(block, ops::blob(&page))?;
    let mut action = rel.action(access, Kind::PutFree);
    action.data(&meta_bytes(&meta));
    let i = action.page(&mut page, PageChange { will_init: true, ..PageChange::default() });
    action.page_data(i, &data);
    action.page(&mut meta_page, PageChange { will_init: true, ..PageChange::default() });
    action.commit();
    Ok(true)
}
