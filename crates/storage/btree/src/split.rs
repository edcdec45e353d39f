//! Where to split a page, and what the high key between the halves must keep.
//!
//! A split point is legal if both halves have room. Among the legal ones near the wanted fill, the one whose pivot keeps the fewest columns wins:
//! pivots stay short and internal pages hold more of them. A leaf full of duplicates would need a TID in its pivot wherever it is cut nearby; then
//! all points are considered, and a page with one value only is cut near its end when no smaller TID is to be expected.

use std::borrow::Cow;
use std::cmp::Ordering;

use base::BlockNo;
use index::IndexDesc;
use index::bytes::Check;
use tuple::Datum;

use crate::format::{Item, NONE, Node, ROOM, pivot_item, with_child};
use crate::key::equal_prefix;
use crate::rel::BtreeRel;

/// Fill of the left page, in percent, when the right-most internal page splits.
const INTERNAL_FILL: usize = 70;
/// Fill of the left page when a page of one single value splits.
const SINGLE_VALUE_FILL: usize = 96;
/// Split points on either side of the best one that may win by a shorter pivot.
const NEAR: usize = 9;

/// A place to split: the number of items that stay, and the high key of the left page.
pub(crate) struct Choice {
    pub left_count: usize,
    pub high: Vec<u8>,
}

struct Candidate {
    left_count: usize,
    /// Distance from the wanted fill, in bytes.
    delta: usize,
}

/// Chooses where to split `items`, the data items of `node` with the new one among them.
pub(crate) fn choose(rel: &BtreeRel, node: &Node<'_>, items: &[Cow<'_, [u8]>]) -> Check<Choice> {
    let (desc, rightmost) = (&rel.desc, node.op.rightmost());
    let fill = match (rightmost, node.op.is_leaf()) {
        (false, _) => 50,
        (true, true) => rel.fillfactor,
        (true, false) => INTERNAL_FILL,
    };
    let candidates = candidates(node, items, fill)?;
    let near = &candidates[..candidates.len().min(2 * NEAR + 1)];
    if !node.op.is_leaf() {
        // The first item of the right page becomes the high key: the shortest.
        let best = near.iter().min_by_key(|c| (items[c.left_count].len(), c.delta)).ok_or(NO_POINT)?;
        let high = with_child(&items[best.left_count], NONE);
        return Ok(Choice { left_count: best.left_count, high });
    }
    let mut best = cheapest(desc, items, near)?;
    if best.1 > desc.keys.len() {
        best = cheapest(desc, items, &candidates)?;
        if best.1 > desc.keys.len() && single_value_ends_here(desc, node, items)? {
            let full = self::candidates(node, items, SINGLE_VALUE_FILL)?;
            best = (full.first().ok_or(NO_POINT)?.left_count, best.1);
        }
    }
    let high = leaf_high_key(desc, &items[best.0 - 1], &items[best.0])?;
    Ok(Choice { left_count: best.0, high })
}

const NO_POINT: &str = "page cannot be split";

/// All legal split points, nearest to the wanted fill first.
fn candidates(node: &Node<'_>, items: &[Cow<'_, [u8]>], fill: usize) -> Check<Vec<Candidate>> {
    let old_high = node.high_key()?.map_or(0, |item| item.bytes().len() + 4);
    let total: usize = items.iter().map(|item| item.len() + 4).sum();
    let mut left = 0;
    let mut found = Vec::with_capacity(items.len());
    for left_count in 1..items.len() {
        left += items[left_count - 1].len() + 4;
        let first_right = Item::new(&items[left_count])?;
        // At worst the pivot keeps everything and a TID; an internal page moves its item up as it is.
        let high =
            if node.op.is_leaf() { first_right.key_part()?.len() + 8 } else { first_right.bytes().len() };
        let mut right = total - left + old_high;
        if !node.op.is_leaf() {
            right = right + 8 - first_right.bytes().len();
        }
        let left_used = left + high + 4;
        if left_used > ROOM || right > ROOM {
            continue;
        }
        let wanted = (left_used + right) * fill / 100;
        found.push(Candidate { left_count, delta: left_used.abs_diff(wanted) });
    }
    found.sort_by_key(|c| c.delta);
    if found.is_empty() { Err(NO_POINT) } else { Ok(found) }
}

/// The candidate whose pivot keeps the fewest columns: its point, and how many (one more than there are key columns: a TID).
fn cheapest(desc: &IndexDesc, items: &[Cow<'_, [u8]>], among: &[Candidate]) -> Check<(usize, usize)> {
    let mut best = (0, usize::MAX);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for candidate in among {
        decode_keys(desc, &items[candidate.left_count - 1], &mut a)?;
        decode_keys(desc, &items[candidate.left_count], &mut b)?;
        let keep = equal_prefix(desc, &a, &b)? + 1;
        if keep < best.1 {
            best = (candidate.left_count, keep);
        }
        if keep == 1 {
            break;
        }
    }
    Ok(best)
}

/// The page holds one value only, and so does no page to the right of it.
fn single_value_ends_here(desc: &IndexDesc, node: &Node<'_>, items: &[Cow<'_, [u8]>]) -> Check<bool> {
    let (mut first, mut other) = (Vec::new(), Vec::new());
    decode_keys(desc, &items[0], &mut first)?;
    decode_keys(desc, &items[items.len() - 1], &mut other)?;
    if equal_prefix(desc, &first, &other)? < desc.keys.len() {
        return Ok(false);
    }
    let Some(high) = node.high_key()? else { return Ok(true) };
    other.clear();
    high.decode(&desc.layout, desc.keys.len(), &mut other)?;
    let same = high.columns(&desc.layout) >= desc.keys.len()
        && equal_prefix(desc, &first, &other)? == desc.keys.len();
    Ok(!same || high.pivot_tid()?.is_none())
}

fn decode_keys(desc: &IndexDesc, item: &[u8], out: &mut Vec<Datum>) -> Check<()> {
    out.clear();
    Item::new(item)?.decode(&desc.layout, desc.keys.len(), out)
}

/// The shortest pivot that is not below `last_left` and below `first_right`.
pub(crate) fn leaf_high_key(desc: &IndexDesc, last_left: &[u8], first_right: &[u8]) -> Check<Vec<u8>> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    decode_keys(desc, last_left, &mut left)?;
    decode_keys(desc, first_right, &mut right)?;
    let equal = equal_prefix(desc, &left, &right)?;
    if equal < desc.keys.len() {
        right.truncate(equal + 1);
        return Ok(pivot_of(desc, &right, None));
    }
    let tid = Item::new(last_left)?.last_tid()?;
    // Code of users may say anything of the order of keys.
    if tid.cmp(&Item::new(first_right)?.first_tid()?) != Ordering::Less && !index::asks(&desc.keys) {
        return Err("entries with equal keys are not in the order of their TIDs");
    }
    Ok(pivot_of(desc, &right, Some(tid)))
}

fn pivot_of(desc: &IndexDesc, values: &[Datum], tid: Option<base::Tid>) -> Vec<u8> {
    pivot_item(&desc.layout, &compressed(desc, values), tid, BlockNo(0))
}

/// Values as they are stored: large ones compressed if that pays.
pub(crate) fn compressed<'v>(desc: &IndexDesc, values: &'v [Datum]) -> Cow<'v, [Datum]> {
    let large = |value: &Datum| matches!(value, Datum::Bytes(bytes) if bytes.len() > COMPRESS_FROM);
    if !values.iter().any(large) {
        return Cow::Borrowed(values);
    }
    let store = |(value, attr): (&Datum, &tuple::Attr)| match value {
        Datum::Bytes(bytes) if large(value) && matches!(attr.storage, b'x' | b'm') => {
            tuple::varlena::compress(bytes, attr.compression.unwrap_or_default())
                .map_or_else(|| value.clone(), Datum::Toasted)
        }
        _ => value.clone(),
    };
    Cow::Owned(values.iter().zip(desc.layout.attrs()).map(store).collect())
}

/// Payloads above this are worth a try at compression: PostgreSQL's `TOAST_INDEX_TARGET`.
const COMPRESS_FROM: usize = 508;
