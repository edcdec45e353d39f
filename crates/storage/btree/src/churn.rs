//! Bottom-up deletion: who is about to split a leaf asks the heap first which of its rows are dead to everybody.
//!
//! An UPDATE that is not heap-only enters its row anew into every index. Between two VACUUMs the old entries would fill leaf after leaf and have each
//! split, and what is split stays so. Most of these rows are dead by then, and their entries are of no use to anybody.
//!
//! The heap is asked page by page. Pages come first that hold several rows with the same key, all but one of which are old versions as a rule; then those
//! with many rows of the leaf. Looking ends when it does not pay: see [`LOOKS`].
//!
//! # Locks
//! The leaf stays latched exclusively; heap pages are latched one at a time, as by unique checks.
//!
//! # WAL and crash
//! Record `DELETE`, as for entries that scans have marked. A TID is not used again before VACUUM has been at every leaf under the cleanup latch, so that
//! scans which hold TIDs of the leaf still mean the same rows.
//!
//! # PostgreSQL counterpart and differences
//! `_bt_bottomupdel_pass`, `heap_index_delete_tuples`. There only entries are looked at whose UPDATE did not change the index's columns, and six heap pages at
//! most. Here any leaf that would be split is, and heap pages that are in the pool, as long as they pay.

use std::cmp::Reverse;
use std::ops::Range;

use base::{OffsetNo, Tid};
use buffer::PageChange;
use index::bytes::Check;
use index::{Access, DeadRows, Exclusive, IndexResult, Pages};

use crate::format::Node;
use crate::insert::same_key;
use crate::ops::{self, ListUpdate};
use crate::redo::{Kind, delete_bytes};
use crate::rel::BtreeRel;

/// So many heap pages are looked at whatever comes of it,
const LOOKS: usize = 64;
/// and so many more for each entry that may go,
const LOOKS_PER_ENTRY: usize = 16;
/// but never more than this: others may wait for the leaf.
const MOST_LOOKS: usize = 256;

/// A row that the leaf leads to.
#[derive(Clone, Copy)]
struct Entry {
    tid: Tid,
    /// Its item, and its place in that if the item is a posting list.
    item: OffsetNo,
    place: u16,
    /// Another row has the same key.
    is_twin: bool,
}

/// Removes entries of rows that are dead to everybody from a leaf which has no room for a new one, `new`.
pub(crate) fn delete_churn(
    access: &Access<'_>,
    rel: &BtreeRel,
    page: &mut Exclusive,
    rows: &dyn DeadRows,
    new: Tid,
) -> IndexResult<()> {
    let block = page.tag().block;
    let mut entries = rel.check(block, entries_of(&rel.node(block, page)?))?;
    entries.sort_unstable_by_key(|entry| entry.tid);
    let mut dead = Vec::new();
    let (mut asked, mut found) = (Vec::new(), Vec::new());
    for (looks, range) in heap_pages(&entries, new).into_iter().enumerate() {
        if looks >= (LOOKS + LOOKS_PER_ENTRY * dead.len()).min(MOST_LOOKS) {
            break;
        }
        let entries = &entries[range];
        asked.clear();
        asked.extend(entries.iter().map(|entry| entry.tid.offset));
        found.clear();
        rows.find(entries[0].tid.block, &asked, &mut found)?;
        dead.extend(entries.iter().filter(|entry| found.contains(&entry.tid.offset)));
    }
    if dead.is_empty() || !access.horizon.may_remove() {
        return Ok(());
    }
    let (doomed, updates) = rel.check(block, changes(&rel.node(block, page)?, dead))?;
    rel.check(block, ops::delete(page, &doomed, &updates))?;
    let mut action = rel.action(access, Kind::Delete);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &delete_bytes(&doomed, &updates));
    action.commit();
    Ok(())
}

fn entries_of(node: &Node<'_>) -> Check<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::with_capacity(node.count());
    let (mut last_key, mut last_begin) = (None, 0);
    for item in node.items() {
        let (n, item) = item?;
        let key = item.key_part()?;
        if !last_key.is_some_and(|last| same_key(last, key)) {
            (last_key, last_begin) = (Some(key), entries.len());
        }
        for place in 0..item.tid_count() {
            entries.push(Entry { tid: item.tid(place)?, item: n, place: place as u16, is_twin: false });
        }
        let of_key = &mut entries[last_begin..];
        if of_key.len() > 1 {
            // The first, and those just added; the others between them are known.
            of_key[0].is_twin = true;
            let added = of_key.len() - item.tid_count();
            of_key[added..].iter_mut().for_each(|entry| entry.is_twin = true);
        }
    }
    Ok(entries)
}

/// Runs of entries on the same heap page, the most promising first. Those that promise the same are begun with at another place for each new entry.
fn heap_pages(entries: &[Entry], new: Tid) -> Vec<Range<usize>> {
    let mut begin = 0;
    let mut pages: Vec<_> = entries
        .chunk_by(|a, b| a.tid.block == b.tid.block)
        .map(|chunk| {
            let range = begin..begin + chunk.len();
            begin = range.end;
            (chunk.iter().filter(|entry| entry.is_twin).count(), range)
        })
        .collect();
    let seed = (new.block.0 ^ u32::from(new.offset) << 16).wrapping_mul(0x9e37_79b1);
    let start = seed as usize % pages.len().max(1);
    pages.rotate_left(start);
    pages.sort_by_key(|(twins, range)| Reverse((*twins, range.len())));
    pages.into_iter().map(|(_, range)| range).collect()
}

/// The change of the leaf that removes the entries: whole items, and TIDs of posting lists that stay.
fn changes(node: &Node<'_>, mut dead: Vec<Entry>) -> Check<(Vec<OffsetNo>, Vec<ListUpdate>)> {
    dead.sort_unstable_by_key(|entry| (entry.item, entry.place));
    let (mut doomed, mut updates) = (Vec::new(), Vec::new());
    for of_item in dead.chunk_by(|a, b| a.item == b.item) {
        let at = of_item[0].item;
        if of_item.len() == node.item(at)?.tid_count() {
            doomed.push(at);
        } else {
            updates.push(ListUpdate { at, removed: of_item.iter().map(|entry| entry.place).collect() });
        }
    }
    Ok((doomed, updates))
}
