//! Insertion into a leaf: finding the place, making room. What goes on above the leaf is in [`crate::ascend`].

use std::cmp::Ordering;
use std::sync::atomic::Ordering::Relaxed;

use base::{BlockNo, OffsetNo, Tid};
use buffer::PageChange;
use index::bytes::Check;
use index::{Access, DeadRows, Exclusive, IndexError, IndexResult, InsertOutcome, Pages, UniqueCheck};
use tuple::Datum;

use crate::ascend::{finish_split, insert_or_split};
use crate::churn::delete_churn;
use crate::format::{Item, LEAF, MAX_ENTRY, MAX_POSTING, Node, leaf_item, posting_size};
use crate::key::SearchKey;
use crate::method::FORMAT;
use crate::ops;
use crate::redo::{Kind, delete_bytes};
use crate::rel::BtreeRel;
use crate::search::{Hops, Stack, descend, goes_right, make_root};
use crate::split::compressed;
use crate::unique::check_unique;

/// Enters `values` (key columns, then INCLUDE columns; detoasted) for the heap row `tid`. `rows`: those of the index.
pub fn insert(
    access: &Access<'_>,
    rel: &BtreeRel,
    values: &[Datum],
    tid: Tid,
    unique: UniqueCheck<'_>,
    rows: &dyn DeadRows,
) -> IndexResult<InsertOutcome> {
    rel.asking(|| try_insert(access, rel, values, tid, unique, rows))
}

fn try_insert(
    access: &Access<'_>,
    rel: &BtreeRel,
    values: &[Datum],
    tid: Tid,
    unique: UniqueCheck<'_>,
    rows: &dyn DeadRows,
) -> IndexResult<InsertOutcome> {
    let desc = &rel.desc;
    access.pool.admit(desc.persistence)?;
    let item = leaf_item(&desc.layout, &compressed(desc, values), tid);
    if item.len() > MAX_ENTRY {
        return Err(IndexError::TooLarge { format: FORMAT, size: item.len(), max: MAX_ENTRY, tid });
    }
    let keys = &values[..rel.nkeys()];
    let checks =
        !matches!(unique, UniqueCheck::No) && (desc.nulls_not_distinct || !keys.iter().any(Datum::is_null));
    let exact = SearchKey { tid: Some(tid), ..SearchKey::new(desc, keys, false) };
    let first = if checks { SearchKey { tid: None, ..exact } } else { exact };
    let mut stack = Stack::new();
    let mut page = leaf_for(access, rel, &first, item.len(), &mut stack)?;
    let mut outcome = InsertOutcome::Inserted;
    if checks && let Some(found) = check_unique(access, rel, &mut page, &first, tid, unique)? {
        if !matches!(unique, UniqueCheck::Partial(_)) {
            return Ok(found);
        }
        outcome = InsertOutcome::InsertedMaybeConflict;
    }
    if matches!(unique, UniqueCheck::Existing(_)) {
        return Ok(outcome);
    }
    if checks {
        // The page stays latched until the one to its right is: whoever checks the same key comes through it and waits.
        page = move_right_exclusive(access, rel, &exact, page, &stack)?;
    }
    insert_on_leaf(access, rel, page, stack, (&exact, &item), rows)?;
    Ok(outcome)
}

/// The leaf whose key space holds the key's place, latched exclusively.
fn leaf_for(
    access: &Access<'_>,
    rel: &BtreeRel,
    key: &SearchKey<'_>,
    item_len: usize,
    stack: &mut Stack,
) -> IndexResult<Exclusive> {
    let cached = rel.rightmost.load(Relaxed);
    if cached != 0 {
        if let Some(page) = try_rightmost(access, rel, key, item_len, BlockNo(cached))? {
            return Ok(page);
        }
        rel.rightmost.store(0, Relaxed);
    }
    loop {
        if let Some(pin) = descend(access, rel, key, 0, Some(stack))? {
            let page = move_right_exclusive(access, rel, key, pin.into_exclusive(), stack)?;
            let block = page.tag().block;
            if !rel.node(block, &page)?.op.is_leaf() {
                return Err(rel.corrupt(block, "downlink leads to an internal page instead of a leaf"));
            }
            return Ok(page);
        }
        make_root(access, rel)?;
    }
}

/// The remembered right-most leaf, if it still is that, the key belongs behind its first item, and there is room: then neither parents nor
/// pages to the left matter.
fn try_rightmost(
    access: &Access<'_>,
    rel: &BtreeRel,
    key: &SearchKey<'_>,
    item_len: usize,
    block: BlockNo,
) -> IndexResult<Option<Exclusive>> {
    let Some(pin) = access.pool.read_cached(rel.tag(block)) else { return Ok(None) };
    let page = pin.into_exclusive();
    let Ok(node) = Node::new(&page) else { return Ok(None) };
    let usable = node.op.flags & !crate::format::ROOT == LEAF
        && node.op.rightmost()
        && node.count() > 0
        && page::free_space(&page) >= item_len + 4;
    if usable {
        let first = rel.check(block, node.item(node.first()))?;
        let before = SearchKey { tid: None, ..*key };
        if rel.check(block, before.compare(&first))? == Ordering::Greater {
            return Ok(Some(page));
        }
    }
    Ok(None)
}

/// Moves right with latch coupling, finishing splits that were left incomplete. The page to the left stays latched until the one to its right has
/// been accepted, a split finished on the way included: the unique check relies on it.
pub(crate) fn move_right_exclusive(
    access: &Access<'_>,
    rel: &BtreeRel,
    key: &SearchKey<'_>,
    mut page: Exclusive,
    stack: &Stack,
) -> IndexResult<Exclusive> {
    let mut held: Option<Exclusive> = None;
    let mut hops = Hops::default();
    loop {
        let block = page.tag().block;
        hops.count(rel, block)?;
        let node = rel.node(block, &page)?;
        if node.op.is(crate::format::INCOMPLETE_SPLIT) && !node.op.ignored() {
            finish_split(access, rel, page, stack.clone())?;
            page = rel.exclusive(access.pool, block)?;
            continue;
        }
        let Some(next) = rel.check(block, goes_right(key, &node))? else { break };
        // This page is accepted: the one before it is wanted no longer.
        drop(held.take());
        let right = rel.exclusive(access.pool, next)?;
        held = Some(std::mem::replace(&mut page, right));
    }
    drop(held);
    Ok(page)
}

/// Puts the item into its leaf, which is latched, making room first if needed.
fn insert_on_leaf(
    access: &Access<'_>,
    rel: &BtreeRel,
    mut page: Exclusive,
    stack: Stack,
    (key, item): (&SearchKey<'_>, &[u8]),
    rows: &dyn DeadRows,
) -> IndexResult<()> {
    let block = page.tag().block;
    if page::free_space(&page) < item.len() + 4 {
        make_room(access, rel, &mut page, item, rows)?;
    }
    let (mut at, mut posting) = rel.check(block, place(key, &page))?;
    if posting && rel.node(block, &page)?.is_dead(at) {
        // A dead posting list must not swallow a living entry.
        delete_dead(access, rel, &mut page)?;
        (at, posting) = rel.check(block, place(key, &page))?;
    }
    if rel.node(block, &page)?.op.rightmost() {
        rel.rightmost.store(block.0, Relaxed);
    }
    insert_or_split(
        access,
        rel,
        page,
        None,
        stack,
        crate::ascend::New { at, item, posting, only_child: false },
    )
}

/// Where the item goes: its number, or the posting list whose TIDs lie around its own.
fn place(key: &SearchKey<'_>, page: &page::PageBytes) -> Check<(OffsetNo, bool)> {
    let node = Node::new(page)?;
    let at = key.search(&node)?;
    if at > node.max() {
        return Ok((at, false));
    }
    let item = node.item(at)?;
    if key.compare(&item)? != Ordering::Equal {
        return Ok((at, false));
    }
    let tid = key.tid.ok_or("insertion without a TID")?;
    if !item.is_posting() || item.tids()?.contains(&tid) {
        return Err("the same row is entered twice");
    }
    Ok((at, true))
}

/// Tries to make room for an item on a full leaf: by removing entries known to be dead, then those of other dead rows, then by merging duplicates.
fn make_room(
    access: &Access<'_>,
    rel: &BtreeRel,
    page: &mut Exclusive,
    item: &[u8],
    rows: &dyn DeadRows,
) -> IndexResult<()> {
    let block = page.tag().block;
    let need = item.len() + 4;
    delete_dead(access, rel, page)?;
    if page::free_space(page) < need {
        let new = rel.check(block, Item::new(item).and_then(|item| item.first_tid()))?;
        delete_churn(access, rel, page, rows, new)?;
    }
    if page::free_space(page) >= need || !rel.deduplicate {
        return Ok(());
    }
    let runs = rel.check(block, plan_runs(&rel.node(block, page)?))?;
    if runs.is_empty() {
        return Ok(());
    }
    rel.check(block, ops::deduplicate(page, &runs))?;
    let mut data = Vec::with_capacity(4 * runs.len());
    for (first, count) in &runs {
        data.extend_from_slice(&first.to_le_bytes());
        data.extend_from_slice(&count.to_le_bytes());
    }
    let mut action = rel.action(access, Kind::Dedup);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &data);
    action.commit();
    Ok(())
}

/// Runs of neighbours with equal key bytes that may become one posting list each.
pub(crate) fn plan_runs(node: &Node<'_>) -> Check<Vec<(OffsetNo, u16)>> {
    let mut runs = Vec::new();
    let mut open: Option<(OffsetNo, u16, &[u8], usize)> = None;
    for item in node.items() {
        let (n, item) = item?;
        let (key, tids) = (item.key_part()?, item.tid_count());
        if let Some((_, count, first, total)) = &mut open
            && same_key(first, key)
            && posting_size(first.len(), *total + tids) <= MAX_POSTING
        {
            *count += 1;
            *total += tids;
            continue;
        }
        if let Some((first, count, ..)) = open.replace((n, 1, key, tids))
            && count > 1
        {
            runs.push((first, count));
        }
    }
    if let Some((first, count, ..)) = open
        && count > 1
    {
        runs.push((first, count));
    }
    Ok(runs)
}

/// Whether the columns of two leaf items are the same bytes.
pub(crate) fn same_key(a: &[u8], b: &[u8]) -> bool {
    let nulls = |key: &[u8]| index::bytes::u16_at(key, 6) & crate::format::NULLS;
    nulls(a) == nulls(b) && a.get(8..) == b.get(8..)
}

/// Removes the entries that scans have marked as dead.
fn delete_dead(access: &Access<'_>, rel: &BtreeRel, page: &mut Exclusive) -> IndexResult<()> {
    let block = page.tag().block;
    let node = rel.node(block, page)?;
    let doomed: Vec<OffsetNo> = (node.first()..=node.max()).filter(|&n| node.is_dead(n)).collect();
    if doomed.is_empty() {
        return Ok(());
    }
    rel.check(block, ops::delete(page, &doomed, &[]))?;
    let mut action = rel.action(access, Kind::Delete);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &delete_bytes(&doomed, &[]));
    action.commit();
    Ok(())
}
