//! The unique check: asking the heap about every entry with an equal key, before insertion, with the first leaf that could hold the key latched.
//!
//! Two inserters of one key meet at that latch: the second finds the entry of the first, or waits until it is in.

use std::cmp::Ordering;

use base::{OffsetNo, Tid};
use index::{Access, Exclusive, IndexResult, InsertOutcome, Pages, Shared, TupleState, UniqueCheck};
use page::LpFlags;

use crate::format::Node;
use crate::key::SearchKey;
use crate::rel::BtreeRel;
use crate::search::Hops;

/// What one page says about the key.
struct Found {
    outcome: Option<InsertOutcome>,
    /// Entries that are dead to everybody.
    dead: Vec<OffsetNo>,
    /// Everything up to the end of the page is equal.
    to_the_end: bool,
}

/// `None` if no live row has the key.
pub(crate) fn check_unique(
    access: &Access<'_>,
    rel: &BtreeRel,
    page: &mut Exclusive,
    key: &SearchKey<'_>,
    own: Tid,
    unique: UniqueCheck<'_>,
) -> IndexResult<Option<InsertOutcome>> {
    let block = page.tag().block;
    let node = rel.node(block, page)?;
    let from = rel.check(block, key.search(&node))?;
    let found = look(rel, &node, from, key, own, unique, block)?;
    let mut next = rel.check(block, next_with_key(&node, key, found.to_the_end))?;
    for &n in &found.dead {
        if let Some(lp) = page::line_pointer(page, n) {
            page::set_line_pointer(page, n, page::LinePointer { flags: LpFlags::Dead, ..lp });
        }
    }
    if !found.dead.is_empty() {
        access.horizon.may_remove();
        page.mark_dirty_hint();
    }
    let mut outcome = found.outcome;
    let mut hops = Hops::default();
    while let (None, Some(block)) = (outcome, next) {
        hops.count(rel, block)?;
        let page: Shared = rel.shared(access.pool, block)?;
        let node = rel.node(block, &page)?;
        if node.op.ignored() {
            next = Some(node.op.next);
            continue;
        }
        let found = look(rel, &node, node.first(), key, own, unique, block)?;
        next = rel.check(block, next_with_key(&node, key, found.to_the_end))?;
        if !found.dead.is_empty() {
            access.horizon.may_remove();
        }
        for &n in &found.dead {
            mark_dead(&page, n);
        }
        outcome = found.outcome;
    }
    Ok(outcome)
}

/// Marks an entry as dead under the shared latch.
pub(crate) fn mark_dead(page: &Shared, n: OffsetNo) {
    // The upper of the two flag bits is bit 16 of the line pointer: normal (1) becomes dead (3).
    page.set_hint(page::HEADER_SIZE + 4 * (n as usize - 1) + 2, 1);
}

/// The right sibling, if entries with the key may go on there.
fn next_with_key(
    node: &Node<'_>,
    key: &SearchKey<'_>,
    to_the_end: bool,
) -> index::bytes::Check<Option<base::BlockNo>> {
    match node.high_key()? {
        Some(high) if to_the_end && key.compare(&high)? != Ordering::Less => Ok(Some(node.op.next)),
        _ => Ok(None),
    }
}

/// Asks about the entries with the key on one page, from item `from` on.
fn look(
    rel: &BtreeRel,
    node: &Node<'_>,
    from: OffsetNo,
    key: &SearchKey<'_>,
    own: Tid,
    unique: UniqueCheck<'_>,
    block: base::BlockNo,
) -> IndexResult<Found> {
    let mut found = Found { outcome: None, dead: Vec::new(), to_the_end: false };
    let (liveness, existing) = match unique {
        UniqueCheck::No => return Ok(found),
        UniqueCheck::Yes(liveness) | UniqueCheck::Partial(liveness) => (liveness, false),
        UniqueCheck::Existing(liveness) => (liveness, true),
    };
    for n in from..=node.max() {
        let item = rel.check(block, node.item(n))?;
        if rel.check(block, key.compare(&item))? != Ordering::Equal {
            return Ok(found);
        }
        if node.is_dead(n) {
            continue;
        }
        let mut all_dead = true;
        for tid in rel.check(block, item.tids())? {
            if existing && tid == own {
                all_dead = false;
                continue;
            }
            match liveness.check(tid)? {
                TupleState::Live { tid } => found.outcome = Some(InsertOutcome::Conflict { tid }),
                TupleState::InProgress(xid) => found.outcome = Some(InsertOutcome::WaitFor { xid, tid }),
                TupleState::Deleted => all_dead = false,
                TupleState::Dead => {}
            }
            if found.outcome.is_some() {
                return Ok(found);
            }
        }
        if all_dead {
            found.dead.push(n);
        }
    }
    found.to_the_end = true;
    Ok(found)
}
