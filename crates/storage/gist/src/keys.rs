//! Keys of several columns: unions, penalties, and how a page's items are distributed to several.
//!
//! A column whose values are all NULL has the key NULL; one with some NULLs has the union of the others. So an internal key that is not NULL tells nothing of NULLs below
//! it, and one that is says that there is nothing else.

use index::IndexDesc;
use index::bytes::Check;
use smallvec::SmallVec;
use tuple::Datum;

use crate::format::{Item, Node, ROOM};
use crate::rel::GistRel;

/// Keys of one item.
pub(crate) type Key = Vec<Datum>;

/// Whether two columns' keys stand for the same.
fn same_column(desc: &IndexDesc, column: usize, a: &Datum, b: &Datum) -> bool {
    match (a.is_null(), b.is_null()) {
        (false, false) => desc.trees[column].same(a, b),
        (a, b) => a == b,
    }
}

/// Whether two keys stand for the same.
pub(crate) fn same(desc: &IndexDesc, a: &[Datum], b: &[Datum]) -> bool {
    (0..desc.nkeys()).all(|column| same_column(desc, column, &a[column], &b[column]))
}

fn union_column<'a>(desc: &IndexDesc, column: usize, keys: impl Iterator<Item = &'a [Datum]>) -> Datum {
    let values: Vec<&Datum> = keys.map(|key| &key[column]).filter(|value| !value.is_null()).collect();
    if values.is_empty() { Datum::Null } else { desc.trees[column].union(&values) }
}

/// A key for all of these.
pub(crate) fn union<'a>(desc: &IndexDesc, keys: impl Iterator<Item = &'a [Datum]> + Clone) -> Key {
    (0..desc.nkeys()).map(|column| union_column(desc, column, keys.clone())).collect()
}

/// What it costs to put a column's value below a key.
fn penalty(desc: &IndexDesc, column: usize, key: &Datum, new: &Datum) -> f32 {
    let penalty = |key: &Datum| desc.trees[column].penalty(key, new);
    cost((!new.is_null()).then_some(&penalty), key)
}

/// Which item of an internal page costs the least to put `new` below, and its key: the first column decides, ties go on to the next.
pub(crate) fn cheapest(rel: &GistRel, node: &Node<'_>, new: &[Datum]) -> Check<Option<(u16, Key)>> {
    if let [class] = rel.desc.trees.as_slice()
        && !new[0].is_null()
        && let Some(costs) = class.costs(&new[0])
    {
        return cheapest_by_bytes(rel, node, &*costs);
    }
    let (mut best, mut key) = (Key::new(), Key::new());
    let (mut found, mut least): (_, SmallVec<[f32; 4]>) = (None, SmallVec::new());
    let classes = rel.desc.trees.iter().zip(new);
    let penalties: SmallVec<[_; 4]> =
        classes.map(|(class, new)| (!new.is_null()).then(|| class.penalties(new))).collect();
    for item in node.items() {
        let (n, item) = item?;
        item.decode_over(&rel.desc.layout, rel.nkeys(), &mut key)?;
        let cost = |(penalty, key): (&Option<_>, &Datum)| cost(penalty.as_deref(), key);
        let costs: SmallVec<[f32; 4]> = penalties.iter().zip(&key).map(cost).collect();
        let none = costs.iter().all(|cost| *cost == 0.0);
        if found.is_none() || costs < least {
            (found, least) = (Some(n), costs);
            std::mem::swap(&mut best, &mut key);
        }
        if none {
            break;
        }
    }
    Ok(found.map(|n| (n, best)))
}

/// The same of an index of one column whose class tells costs by the bytes of keys.
fn cheapest_by_bytes(
    rel: &GistRel,
    node: &Node<'_>,
    costs: &dyn Fn(&[u8]) -> f32,
) -> Check<Option<(u16, Key)>> {
    let mut best: Option<(f32, u16, Item<'_>)> = None;
    for item in node.items() {
        let (n, item) = item?;
        let cost = item.first_bytes(&rel.desc.layout).map_or(f32::INFINITY, |key| costs(key).max(0.0));
        if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
            best = Some((cost, n, item));
        }
        if cost == 0.0 {
            break;
        }
    }
    best.map(|(_, n, item)| Ok((n, item.decode(&rel.desc.layout, rel.nkeys())?))).transpose()
}

/// What it costs to put a column's value, of which this is the penalty unless it is NULL, below a key: NULLs belong to NULLs.
fn cost(penalty: Option<&dyn Fn(&Datum) -> f32>, key: &Datum) -> f32 {
    match penalty {
        None if key.is_null() => 0.0,
        // It may be not a number.
        Some(penalty) if !key.is_null() => penalty(key).max(0.0),
        _ => f32::INFINITY,
    }
}

/// An item with its keys.
#[derive(Clone)]
pub(crate) struct Entry {
    pub bytes: Vec<u8>,
    pub key: Key,
}

impl Entry {
    pub fn read(rel: &GistRel, item: Item<'_>) -> Check<Entry> {
        Ok(Entry { bytes: item.bytes().to_vec(), key: item.decode(&rel.desc.layout, rel.nkeys())? })
    }

    fn room(&self) -> usize {
        self.bytes.len() + 4
    }
}

/// Distributes items that do not fit on one page to as few as the operator classes would have it, in order from left to right.
pub(crate) fn distribute(desc: &IndexDesc, entries: Vec<Entry>) -> Vec<Vec<Entry>> {
    if entries.len() < 2 {
        return vec![entries];
    }
    let sides = split(desc, &entries);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (entry, to_right) in entries.into_iter().zip(sides) {
        if to_right { right.push(entry) } else { left.push(entry) }
    }
    let mut out = Vec::new();
    for half in [left, right] {
        let room: usize = half.iter().map(Entry::room).sum();
        if room > ROOM { out.extend(distribute(desc, half)) } else { out.push(half) }
    }
    out
}

/// Two sides that are not empty.
fn split(desc: &IndexDesc, entries: &[Entry]) -> Vec<bool> {
    let differs = |column: &usize| {
        let first = &entries[0].key[*column];
        entries.iter().any(|entry| !same_column(desc, *column, first, &entry.key[*column]))
    };
    let Some(column) = (0..desc.nkeys()).find(differs) else { return halves(entries.len()) };
    let mut sides = split_column(desc, column, entries);
    if is_one_sided(&sides) {
        return halves(entries.len());
    }
    if column + 1 < desc.nkeys() {
        settle_ties(desc, column, entries, &mut sides);
    }
    sides
}

fn halves(count: usize) -> Vec<bool> {
    (0..count).map(|i| i >= count / 2).collect()
}

fn is_one_sided(sides: &[bool]) -> bool {
    sides.iter().all(|side| *side == sides[0])
}

/// By one column: NULLs go to a page of their own.
fn split_column(desc: &IndexDesc, column: usize, entries: &[Entry]) -> Vec<bool> {
    let values: Vec<&Datum> = entries.iter().map(|entry| &entry.key[column]).collect();
    if values.iter().any(|value| value.is_null()) {
        return values.iter().map(|value| value.is_null()).collect();
    }
    desc.trees[column].split(&values)
}

/// Items that cost nothing on either side go where the next columns would have them.
fn settle_ties(desc: &IndexDesc, column: usize, entries: &[Entry], sides: &mut [bool]) {
    let of = |side: bool, sides: &[bool], column: usize| {
        let chosen =
            entries.iter().zip(sides).filter(move |(_, s)| **s == side).map(|(entry, _)| &entry.key[..]);
        union_column(desc, column, chosen)
    };
    let (left, right) = (of(false, sides, column), of(true, sides, column));
    let is_tie = |entry: &Entry| {
        let value = &entry.key[column];
        penalty(desc, column, &left, value) == 0.0 && penalty(desc, column, &right, value) == 0.0
    };
    let ties: Vec<usize> = (0..entries.len()).filter(|&i| is_tie(&entries[i])).collect();
    if ties.is_empty() || ties.len() == entries.len() {
        return;
    }
    let rest: Vec<usize> = (column + 1..desc.nkeys()).collect();
    let firm = |side: bool| -> Vec<Datum> {
        let chosen = (0..entries.len()).filter(|i| sides[*i] == side && ties.binary_search(i).is_err());
        let chosen: Vec<&[Datum]> = chosen.map(|i| &entries[i].key[..]).collect();
        rest.iter().map(|&c| union_column(desc, c, chosen.iter().copied())).collect()
    };
    let (left, right) = (firm(false), firm(true));
    let before = sides.to_vec();
    for &i in &ties {
        let cost = |unions: &[Datum]| -> Vec<f32> {
            rest.iter().zip(unions).map(|(&c, u)| penalty(desc, c, u, &entries[i].key[c])).collect()
        };
        match cost(&left).partial_cmp(&cost(&right)) {
            Some(std::cmp::Ordering::Less) => sides[i] = false,
            Some(std::cmp::Ordering::Greater) => sides[i] = true,
            _ => {}
        }
    }
    if is_one_sided(sides) {
        sides.copy_from_slice(&before);
    }
}
