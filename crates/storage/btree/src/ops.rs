//! Pure changes of one page each. Normal running and redo call the same function, so that a page after redo has the same items and links.
//!
//! A function that answers an error has left its page unchanged.

use std::borrow::Cow;

use base::{BlockNo, Lsn, OffsetNo, PAGE_SIZE, Tid, Xid};
use index::bytes::{Check, Reader, deleted_item, put_items};
use page::PageBytes;
use tuple::RowLayout;

use crate::format::{
    DELETED, FREE, HALF_DEAD, INCOMPLETE_SPLIT, Item, NONE, Node, Opaque, ROOT, init, leaf_item_of,
    pivot_item, with_child, with_tid,
};

/// The page does not have the room that its caller made sure of.
const NO_ROOM: &str = "item does not fit on the page";

/// Inserts `item` as item `at`.
pub(crate) fn insert(page: &mut PageBytes, at: OffsetNo, item: &[u8]) -> Check<()> {
    page::insert_at(page, at, item).map(|_| ()).ok_or(NO_ROOM)
}

/// The two items that `new`, whose TID lies inside the posting list `list`, makes of both: the list with the new TID instead of its last, and
/// a plain item with that last TID to go behind it. Neither is larger than what it replaces.
pub(crate) fn swap_into_posting(list: &Item<'_>, new: &Item<'_>) -> Check<(Vec<u8>, Vec<u8>)> {
    let tid = new.first_tid()?;
    let mut tids = list.tids()?;
    let place = tids.partition_point(|&t| t < tid);
    if place == 0 || place == tids.len() || tids[place] == tid {
        return Err("TID is not inside the posting list");
    }
    tids.insert(place, tid);
    let last = tids.pop().ok_or("empty posting list")?;
    Ok((leaf_item_of(list.key_part()?, &tids), with_tid(new.bytes(), last)))
}

/// Inserts leaf item `new`, whose TID lies inside the posting list that is item `at`.
pub(crate) fn insert_into_posting(page: &mut PageBytes, at: OffsetNo, new: &[u8]) -> Check<()> {
    let list = Node::new(page)?.item(at)?;
    let (list, last) = swap_into_posting(&list, &Item::new(new)?)?;
    insert(page, at + 1, &last)?;
    if page::overwrite(page, at, &list) { Ok(()) } else { Err(NO_ROOM) }
}

/// Builds a page from nothing, keeping only its LSN.
pub(crate) fn fill<T: AsRef<[u8]>>(
    page: &mut PageBytes,
    opaque: Opaque,
    high: Option<&[u8]>,
    items: &[T],
) -> Check<()> {
    let mut new: PageBytes = [0; PAGE_SIZE];
    page::set_lsn(&mut new, page::lsn(page));
    init(&mut new, opaque);
    let all = high.into_iter().chain(items.iter().map(AsRef::as_ref));
    for (at, item) in all.enumerate() {
        insert(&mut new, at as OffsetNo + 1, item)?;
    }
    *page = new;
    Ok(())
}

/// The data items of a page with `new` inserted as item `at` (or into the posting list that is item `at`).
pub(crate) fn items_with<'a>(
    node: &Node<'a>,
    at: OffsetNo,
    new: &'a [u8],
    posting: bool,
) -> Check<Vec<Cow<'a, [u8]>>> {
    let mut items: Vec<Cow<'a, [u8]>> = Vec::with_capacity(node.count() + 1);
    for item in node.items() {
        items.push(Cow::Borrowed(item?.1.bytes()));
    }
    let index = at.checked_sub(node.first()).ok_or("insertion before the first item")? as usize;
    if posting {
        let list = items.get(index).ok_or("posting list is not there")?;
        let (list, last) = swap_into_posting(&Item::new(list)?, &Item::new(new)?)?;
        items[index] = Cow::Owned(list);
        items.insert(index + 1, Cow::Owned(last));
    } else if index <= items.len() {
        items.insert(index, Cow::Borrowed(new));
    } else {
        return Err("insertion behind the last item");
    }
    Ok(items)
}

/// What a split does, as far as its left half must know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitPlan<'a> {
    /// Item number of the new item, or of the posting list that it goes into.
    pub at: OffsetNo,
    /// The new item goes into a posting list.
    pub posting: bool,
    /// Number of data items, the new one counted, that stay on the left page.
    pub left_count: u16,
    /// The right page.
    pub right: BlockNo,
    /// WAL position stamped on both pages.
    pub split: Lsn,
    /// The new item.
    pub new: &'a [u8],
    /// High key of the left page.
    pub high: &'a [u8],
}

/// Turns a page into the left half of its split.
pub(crate) fn split_left(page: &mut PageBytes, plan: &SplitPlan<'_>) -> Check<()> {
    let old = *page;
    let node = Node::new(&old)?;
    let items = items_with(&node, plan.at, plan.new, plan.posting)?;
    let left = items.get(..plan.left_count as usize).ok_or("split point is behind the last item")?;
    let flags = node.op.flags & !ROOT | INCOMPLETE_SPLIT;
    let opaque = Opaque { next: plan.right, flags, split: plan.split, ..node.op };
    fill(page, opaque, Some(plan.high), left)
}

/// Builds the right half of the split of `left`, the page as it is before the split, which is page `left_block`.
pub(crate) fn split_right(
    page: &mut PageBytes,
    left: &PageBytes,
    left_block: BlockNo,
    plan: &SplitPlan<'_>,
) -> Check<()> {
    let node = Node::new(left)?;
    let items = items_with(&node, plan.at, plan.new, plan.posting)?;
    let mut right =
        items.get(plan.left_count as usize..).ok_or("split point is behind the last item")?.to_vec();
    if !node.op.is_leaf()
        && let Some(first) = right.first_mut()
    {
        *first = Cow::Owned(minus_infinity(Item::new(first)?.child()));
    }
    let flags = node.op.flags & !(ROOT | INCOMPLETE_SPLIT);
    let opaque = Opaque { prev: left_block, flags, split: plan.split, ..node.op };
    fill(page, opaque, node.high_key()?.map(|item| item.bytes()), &right)
}

/// The first item of an internal page: below every key.
pub(crate) fn minus_infinity(child: BlockNo) -> Vec<u8> {
    pivot_item(&RowLayout::default(), &[], None, child)
}

/// Rewrites a page with links and items from the blob made by [`blob`].
pub(crate) fn from_blob(page: &mut PageBytes, blob: &[u8]) -> Check<()> {
    let mut reader = Reader(blob);
    let opaque = read_opaque(&mut reader)?;
    let mut items = Vec::new();
    while !reader.0.is_empty() {
        items.push(reader.sized()?);
    }
    fill(page, opaque, None, &items)
}

/// Links and items of a page, for a record that builds it from nothing.
pub(crate) fn blob(page: &PageBytes) -> Check<Vec<u8>> {
    let op = Opaque::read(page)?;
    let mut out = Vec::with_capacity(PAGE_SIZE);
    out.extend_from_slice(&op.prev.0.to_le_bytes());
    out.extend_from_slice(&op.next.0.to_le_bytes());
    out.extend_from_slice(&op.level.to_le_bytes());
    out.extend_from_slice(&op.flags.to_le_bytes());
    out.extend_from_slice(&op.split.0.to_le_bytes());
    put_items(page, &mut out)?;
    Ok(out)
}

/// TIDs to take out of one posting list: item number, and the places of the TIDs in the list, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListUpdate {
    pub at: OffsetNo,
    pub removed: Vec<u16>,
}

/// Removes the items `doomed` (ascending) and some TIDs of posting lists that stay.
pub(crate) fn delete(page: &mut PageBytes, doomed: &[OffsetNo], updates: &[ListUpdate]) -> Check<()> {
    let mut work = *page;
    for update in updates {
        let item = Node::new(&work)?.item(update.at)?;
        let keep: Vec<Tid> = item
            .tids()?
            .into_iter()
            .enumerate()
            .filter(|(i, _)| update.removed.binary_search(&(*i as u16)).is_err())
            .map(|(_, tid)| tid)
            .collect();
        if keep.is_empty() {
            return Err("posting list loses all its TIDs");
        }
        let item = leaf_item_of(item.key_part()?, &keep);
        if !page::overwrite(&mut work, update.at, &item) {
            return Err(NO_ROOM);
        }
    }
    page::delete_items(&mut work, doomed).map_err(|_| "items to delete are not on the page")?;
    *page = work;
    Ok(())
}

/// Merges runs of neighbours with equal keys into one posting list each: `(first item, number of items)`, ascending.
pub(crate) fn deduplicate(page: &mut PageBytes, runs: &[(OffsetNo, u16)]) -> Check<()> {
    let old = *page;
    let node = Node::new(&old)?;
    let mut items: Vec<Cow<'_, [u8]>> = Vec::with_capacity(node.count());
    let mut runs = runs.iter().peekable();
    let mut n = node.first();
    while n <= node.max() {
        let item = node.item(n)?;
        match runs.next_if(|run| run.0 == n) {
            Some(&(_, count)) => {
                let mut tids = Vec::new();
                for m in n..n.checked_add(count).ok_or("run of duplicates is too long")? {
                    tids.extend(node.item(m)?.tids()?);
                }
                items.push(Cow::Owned(leaf_item_of(item.key_part()?, &tids)));
                n = n.saturating_add(count.max(1));
            }
            None => {
                items.push(Cow::Borrowed(item.bytes()));
                n += 1;
            }
        }
    }
    fill(page, node.op, node.high_key()?.map(|item| item.bytes()), &items)
}

/// Sets the links of a page that are given.
pub(crate) fn link(page: &mut PageBytes, prev: Option<BlockNo>, next: Option<BlockNo>) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { prev: prev.unwrap_or(op.prev), next: next.unwrap_or(op.next), ..op }.write(page);
    Ok(())
}

/// The split of this page has its downlink now.
pub(crate) fn finish_split(page: &mut PageBytes) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { flags: op.flags & !INCOMPLETE_SPLIT, ..op }.write(page);
    Ok(())
}

/// Takes downlink `at` out of an internal page: its key space goes to the child of the item behind it, which must be `right`.
pub(crate) fn remove_downlink(page: &mut PageBytes, at: OffsetNo, right: BlockNo) -> Check<()> {
    let node = Node::new(page)?;
    let item = with_child(node.item(at)?.bytes(), right);
    if node.item(at + 1)?.child() != right {
        return Err("downlink behind the one to remove does not lead to the right sibling");
    }
    let mut work = *page;
    if !page::overwrite(&mut work, at, &item) {
        return Err(NO_ROOM);
    }
    page::delete_items(&mut work, &[at + 1]).map_err(|_| "downlink to delete is not on the page")?;
    *page = work;
    Ok(())
}

/// Makes an empty leaf half-dead; `top` is the highest page that goes with it, or none.
pub(crate) fn half_dead(page: &mut PageBytes, top: BlockNo) -> Check<()> {
    let op = Opaque::read(page)?;
    let opaque = Opaque { flags: op.flags | HALF_DEAD, ..op };
    fill(page, opaque, Some(&minus_infinity(top)), NO_ITEMS)
}

/// Marks a page as deleted. Its links stay for scans that still reach it.
pub(crate) fn mark_deleted(page: &mut PageBytes, safe: Xid) -> Check<()> {
    let op = Opaque::read(page)?;
    let opaque = Opaque { flags: op.flags & !HALF_DEAD | DELETED, ..op };
    fill(page, opaque, Some(&deleted_item(safe, NONE)), NO_ITEMS)
}

/// Puts a deleted (or never used) page on the list of free pages, before `next`.
pub(crate) fn mark_free(page: &mut PageBytes, next: BlockNo) -> Check<()> {
    let (op, safe) = match Node::new(page) {
        Ok(node) => (node.op, node.safe_xid()),
        Err(_) if page::is_new(page) => {
            (Opaque { prev: NONE, next: NONE, level: 0, flags: 0, split: Lsn::INVALID }, Xid::INVALID)
        }
        Err(what) => return Err(what),
    };
    let opaque = Opaque { flags: op.flags | DELETED | FREE, ..op };
    fill(page, opaque, Some(&deleted_item(safe, next)), NO_ITEMS)
}

/// Takes a page off the list of free pages.
pub(crate) fn unmark_free(page: &mut PageBytes) -> Check<()> {
    let op = Opaque::read(page)?;
    Opaque { flags: op.flags & !FREE, ..op }.write(page);
    Ok(())
}

const NO_ITEMS: &[&[u8]] = &[];

fn read_opaque(reader: &mut Reader<'_>) -> Check<Opaque> {
    Ok(Opaque {
        prev: reader.block()?,
        next: reader.block()?,
        level: reader.u16()?,
        flags: reader.u16()?,
        split: Lsn(reader.u64()?),
    })
}
