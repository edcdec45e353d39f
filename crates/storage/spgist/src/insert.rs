//! Insertion: down by the choices of the class; into a bucket with room under its page's latch alone, else with the structure locked.
//!
//! The descent holds one latch at a time. A place stands for the same part of the space for as long as anybody may know it, so whoever comes to it later than its link was read finds there, or
//! behind a redirect, what he is looking for: a bucket, or what it was divided into.
//!
//! With the structure locked one change follows another, each a record that leaves a sound tree, until there is room for the entry:
//! * a bucket on a crowded page moves to another page, if it has less than half a page;
//! * a larger one is divided: an inner tuple takes its place, with a bucket below each node that has entries;
//! * one that cannot be divided, for its leaves are the same, gives all entries to a bucket behind it (`rest`), and is empty then;
//! * a leaf that is longer than an entry may be is divided alone, which makes it shorter;
//! * an inner tuple gets a node, or is put below one with less of its prefix.

use base::Tid;
use buffer::PageChange;
use index::{Access, IndexError, IndexResult, InsertOutcome, Pages, interrupts};
use tuple::Datum;
use tuple::space::{Choice, Division};

use crate::format::{Bucket, Item, Link, MAX_ENTRY, NULLS, Place, ROOM, ROOT, bucket, entry, inner, items};
use crate::ops::{self, Op};
use crate::redo::Kind;
use crate::rel::{SpgistRel, Structure};
use crate::work::Work;

/// Most places that a descent goes through: a tree that is deeper is a ring.
const MOST_STEPS: usize = 1 << 17;

/// A row to be entered.
struct Row<'a> {
    include: &'a [Datum],
    tid: Tid,
}

impl Row<'_> {
    fn entry(&self, rel: &SpgistRel, leaf: &Datum) -> Vec<u8> {
        entry(&rel.desc.layout, leaf, self.include, self.tid)
    }
}

/// Where a descent ends, and what remains of the leaf there.
struct Stop {
    place: Place,
    /// The inner tuple whose node leads to the place.
    above: Option<Place>,
    leaf: Datum,
    what: What,
}

enum What {
    Bucket,
    /// An inner tuple, whose node has nothing below.
    Nothing,
    /// An inner tuple that is to be changed.
    Change,
}

/// Enters a row.
pub(crate) fn insert(
    access: &Access<'_>,
    rel: &SpgistRel,
    values: &[Datum],
    tid: Tid,
) -> IndexResult<InsertOutcome> {
    access.pool.admit(rel.desc.persistence)?;
    let Some((key, include)) = values.split_first() else {
        return Err(rel.corrupt(ROOT.block, "an entry has no key"));
    };
    let row = Row { include, tid };
    if key.is_null() {
        insert_null(access, rel, &row)?;
        return Ok(InsertOutcome::Inserted);
    }
    let leaf = rel.class().leaf(key);
    if try_insert(access, rel, &row, &leaf)? {
        return Ok(InsertOutcome::Inserted);
    }
    let mut structure = rel.structure(access).lock();
    while !step(access, rel, &mut structure, &row, &leaf)? {
        access.pool.admit(rel.desc.persistence)?;
    }
    Ok(InsertOutcome::Inserted)
}

fn too_large(rel: &SpgistRel, size: usize, tid: Tid) -> IndexResult<()> {
    let _ = rel;
    if size > MAX_ENTRY {
        Err(IndexError::TooLarge { format: "", size, max: MAX_ENTRY, tid })
    } else {
        Ok(())
    }
}

/// Goes down to where the leaf belongs.
fn descend(access: &Access<'_>, rel: &SpgistRel, leaf: &Datum) -> IndexResult<Stop> {
    let mut stop = Stop { place: ROOT, above: None, leaf: leaf.clone(), what: What::Bucket };
    let mut steps = 0;
    while steps < MOST_STEPS {
        if steps.is_multiple_of(64) {
            interrupts()?;
        }
        steps += 1;
        let place = stop.place;
        let page = rel.shared(access.pool, place.block)?;
        match rel.item(place, &page)? {
            Item::Bucket(_) => {
                stop.what = What::Bucket;
                return Ok(stop);
            }
            Item::Redirect(to, _) => match to.known() {
                Some(to) => stop.place = to,
                None => stop = Stop { place: ROOT, above: None, leaf: leaf.clone(), what: What::Bucket },
            },
            Item::Inner(found) => match rel.class().choose(found.branch(), &stop.leaf) {
                Choice::Down { node, rest } => match rel.check(place.block, found.link(node))?.known() {
                    Some(below) => {
                        stop = Stop { place: below, above: Some(place), leaf: rest, what: What::Bucket };
                    }
                    None => {
                        stop.what = What::Nothing;
                        return Ok(stop);
                    }
                },
                _ => {
                    stop.what = What::Change;
                    return Ok(stop);
                }
            },
        }
    }
    Err(rel.corrupt(stop.place.block, "the way down does not end"))
}

/// Enters the row if only one page is to be changed for it.
fn try_insert(access: &Access<'_>, rel: &SpgistRel, row: &Row<'_>, leaf: &Datum) -> IndexResult<bool> {
    let stop = descend(access, rel, leaf)?;
    let (block, n) = (stop.place.block, stop.place.item);
    let mut page = rel.exclusive(access.pool, block)?;
    let mut changes = Vec::new();
    match (stop.what, rel.item(stop.place, &page)?) {
        (What::Bucket, Item::Bucket(_)) => {
            let entry = row.entry(rel, &stop.leaf);
            if entry.len() > MAX_ENTRY || !ops::fits(&page, entry.len()) {
                return Ok(false);
            }
            let op = Op::Append(n, &entry);
            rel.check(block, ops::apply(&mut page, &op))?;
            ops::encode(&op, &mut changes);
        }
        (What::Nothing, Item::Inner(found)) => {
            let Choice::Down { node, rest } = rel.class().choose(found.branch(), &stop.leaf) else {
                return Ok(false);
            };
            if rel.check(block, found.link(node))?.known().is_some() {
                return Ok(false);
            }
            let entry = row.entry(rel, &rest);
            if entry.len() > MAX_ENTRY {
                return Ok(false);
            }
            let new = bucket(&[entry], Place::NONE);
            if stop.place == ROOT || !ops::fits(&page, new.len() + 4 + rel.reserve) {
                return Ok(false);
            }
            let to = Place { block, item: page::max_offset(&page) + 1 };
            for op in [Op::Put(to.item, &new), Op::Set(n, Link::Node(node), to)] {
                rel.check(block, ops::apply(&mut page, &op))?;
                ops::encode(&op, &mut changes);
            }
        }
        _ => return Ok(false),
    }
    let mut action = rel.action(access, Kind::AddLeaf);
    let i = action.page(&mut page, PageChange::default());
    action.page_data(i, &changes);
    action.commit();
    Ok(true)
}

/// One change towards the row's entry; `true` if it was entered.
fn step(
    access: &Access<'_>,
    rel: &SpgistRel,
    structure: &mut Structure,
    row: &Row<'_>,
    leaf: &Datum,
) -> IndexResult<bool> {
    let stop = descend(access, rel, leaf)?;
    let mut work = Work::new(access, rel, structure);
    match (&stop.what, work.item(stop.place)?) {
        (What::Bucket, Item::Bucket(_)) => grow(rel, work, row, &stop),
        (What::Nothing, Item::Inner(_)) => begin(rel, work, row, &stop),
        (What::Change, Item::Inner(_)) => change(rel, work, &stop),
        // It was a bucket's last entry that VACUUM took away meanwhile, or the like.
        _ => Ok(false),
    }
}

/// What an inner tuple is to become before a leaf can go on.
fn change(rel: &SpgistRel, mut work: Work<'_>, stop: &Stop) -> IndexResult<bool> {
    let (place, block) = (stop.place, stop.place.block);
    let Item::Inner(found) = work.item(place)? else { return Ok(false) };
    let (mut nodes, rest, old_prefix) = (found.nodes(), found.rest(), found.branch().prefix.to_vec());
    match rel.class().choose(found.branch(), &stop.leaf) {
        Choice::Down { .. } => Ok(false),
        Choice::Nowhere => Err(rel.corrupt(block, "inner tuple is not one of its operator class")),
        Choice::Add { label, at } => {
            rel.ensure(block, at <= nodes.len(), "operator class adds a node where there is none")?;
            nodes.insert(at, (label, Place::NONE));
            let bytes = inner(&old_prefix, &nodes, rest);
            if work.replace(place, stop.above, &bytes)?.is_some() {
                work.commit(Kind::AddNode);
            }
            Ok(false)
        }
        Choice::Above { prefix, label, rest: left } => {
            let above = inner(&prefix, &[(label, Place::NONE)], rest);
            let below = inner(&left, &nodes, Place::NONE);
            if let Some(now) = work.replace(place, stop.above, &above)? {
                let to = work.put(&below, Some(now.block))?;
                work.change(now.block, &Op::Set(now.item, Link::Node(0), to))?;
                work.commit(Kind::SplitTuple);
            }
            Ok(false)
        }
    }
}

/// The first entry below a node.
fn begin(rel: &SpgistRel, mut work: Work<'_>, row: &Row<'_>, stop: &Stop) -> IndexResult<bool> {
    let place = stop.place;
    let Item::Inner(found) = work.item(place)? else { return Ok(false) };
    let Choice::Down { node, rest } = rel.class().choose(found.branch(), &stop.leaf) else {
        return Ok(false);
    };
    if rel.check(place.block, found.link(node))?.known().is_some() {
        return Ok(false);
    }
    let entry = row.entry(rel, &rest);
    let fits = entry.len() <= MAX_ENTRY;
    let bytes = if fits {
        bucket(&[&entry], Place::NONE)
    } else {
        let division = rel.class().divide(std::slice::from_ref(&rest));
        if !helps(&division, std::slice::from_ref(&rest)) {
            too_large(rel, entry.len(), row.tid)?;
        }
        let nodes: Vec<_> = division.labels.iter().map(|&label| (label, Place::NONE)).collect();
        inner(&division.prefix, &nodes, Place::NONE)
    };
    let to = work.put(&bytes, Some(place.block))?;
    work.change(place.block, &Op::Set(place.item, Link::Node(node), to))?;
    work.moved(to.block);
    work.commit(if fits { Kind::AddLeaf } else { Kind::PickSplit });
    Ok(fits)
}

/// Whether a division wins anything.
fn helps(division: &Division, leaves: &[Datum]) -> bool {
    let size = |leaf: &Datum| if let Datum::Bytes(bytes) = leaf { bytes.len() } else { 0 };
    let several = division.node_of.iter().any(|node| *node != division.node_of[0]);
    let shorter = leaves.iter().zip(&division.rest).any(|(old, new)| size(new) < size(old));
    several || shorter
}

/// An entry for a bucket that has no room on its page.
fn grow(rel: &SpgistRel, mut work: Work<'_>, row: &Row<'_>, stop: &Stop) -> IndexResult<bool> {
    let place = stop.place;
    let entry = row.entry(rel, &stop.leaf);
    let page = work.page(place.block)?;
    let alone = items(page).count() == 1;
    let small = entry.len() <= MAX_ENTRY;
    if small && ops::fits(page, entry.len()) {
        work.change(place.block, &Op::Append(place.item, &entry))?;
        work.commit(Kind::AddLeaf);
        return Ok(true);
    }
    let Item::Bucket(old) = work.item(place)? else { return Ok(false) };
    let size = old.bytes().len() + entry.len();
    if small && !alone && size <= ROOM / 2 && stop.above.is_some() {
        let all: Vec<&[u8]> =
            rel.check(place.block, old.entries().map(|one| Ok(one?.bytes())).collect::<Result<_, _>>())?;
        let bytes = bucket(&[&all[..], &[&entry[..]]].concat(), old.rest());
        let moved = work.move_away(place, stop.above, &bytes)?.is_some();
        if moved {
            work.commit(Kind::Move);
        }
        return Ok(moved);
    }
    divide(rel, work, row, stop)?;
    Ok(false)
}

/// Divides a bucket, with a leaf that is to come; or makes room in it if it cannot be divided.
fn divide(rel: &SpgistRel, mut work: Work<'_>, row: &Row<'_>, stop: &Stop) -> IndexResult<()> {
    let (place, layout) = (stop.place, &rel.desc.layout);
    let Item::Bucket(old) = work.item(place)? else { return Ok(()) };
    let rest = old.rest();
    let (mut leaves, rows) = rel.check(place.block, contents(&old, layout))?;
    leaves.push(stop.leaf.clone());
    let division = rel.class().divide(&leaves);
    rel.ensure(
        place.block,
        division.node_of.len() == leaves.len() && division.rest.len() == leaves.len(),
        "operator class does not divide all leaves",
    )?;
    if !helps(&division, &leaves) {
        too_large(rel, row.entry(rel, &stop.leaf).len(), row.tid)?;
        return push(work, place);
    }
    let nodes: Vec<_> = division.labels.iter().map(|&label| (label, Place::NONE)).collect();
    let Some(now) = work.replace(place, stop.above, &inner(&division.prefix, &nodes, rest))? else {
        return Ok(());
    };
    let mut groups: Vec<Vec<Vec<u8>>> = vec![Vec::new(); nodes.len()];
    for ((node, leaf), (include, tid)) in division.node_of.iter().zip(&division.rest).zip(&rows) {
        let Some(group) = groups.get_mut(*node) else {
            return Err(rel.corrupt(place.block, "operator class divides into nodes that are not there"));
        };
        group.push(self::entry(layout, leaf, include, *tid));
    }
    for (node, group) in groups.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
        let to = work.put(&bucket(group, Place::NONE), Some(now.block))?;
        work.change(now.block, &Op::Set(now.item, Link::Node(node), to))?;
        work.moved(to.block);
    }
    work.moved(place.block);
    work.commit(Kind::PickSplit);
    Ok(())
}

/// INCLUDE columns of an entry, and its row.
type Kept = (Vec<Datum>, Tid);

/// Leaves of a bucket, and what else its entries have.
fn contents(of: &Bucket<'_>, layout: &tuple::RowLayout) -> Result<(Vec<Datum>, Vec<Kept>), &'static str> {
    let (mut leaves, mut rows) = (Vec::new(), Vec::new());
    for entry in of.entries() {
        let entry = entry?;
        let mut include = entry.decode(layout, layout.len())?;
        let leaf = include.remove(0);
        if leaf.is_null() {
            return Err("entry has no key");
        }
        leaves.push(leaf);
        rows.push((include, entry.tid()));
    }
    Ok((leaves, rows))
}

/// Gives all entries of a bucket to one behind it.
fn push(mut work: Work<'_>, place: Place) -> IndexResult<()> {
    let Item::Bucket(old) = work.item(place)? else { return Ok(()) };
    let bytes = old.bytes().to_vec();
    let to = work.put_off(&bytes, place.block)?;
    work.change(place.block, &Op::Put(place.item, &bucket::<&[u8]>(&[], to)))?;
    work.moved(place.block);
    work.moved(to.block);
    work.commit(Kind::Push);
    Ok(())
}

/// Enters a row whose key is NULL.
fn insert_null(access: &Access<'_>, rel: &SpgistRel, row: &Row<'_>) -> IndexResult<()> {
    let entry = row.entry(rel, &Datum::Null);
    too_large(rel, entry.len(), row.tid)?;
    loop {
        {
            let mut page = rel.exclusive(access.pool, NULLS.block)?;
            rel.item(NULLS, &page)?;
            if ops::fits(&page, entry.len()) {
                let op = Op::Append(NULLS.item, &entry);
                rel.check(NULLS.block, ops::apply(&mut page, &op))?;
                let mut changes = Vec::new();
                ops::encode(&op, &mut changes);
                let mut action = rel.action(access, Kind::AddLeaf);
                let i = action.page(&mut page, PageChange::default());
                action.page_data(i, &changes);
                action.commit();
                return Ok(());
            }
        }
        let mut structure = rel.structure(access).lock();
        let mut work = Work::new(access, rel, &mut structure);
        if !ops::fits(work.page(NULLS.block)?, entry.len()) {
            push(work, NULLS)?;
        }
    }
}
