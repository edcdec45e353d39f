//! Insertion: down by the least penalty, making keys on the way larger; splits, and the downlinks of what they made.
//!
//! A writer holds one latch on its way down. Whoever finds that a page was split since its parent was read, or taken out of the tree, begins anew from the root: the key
//! that it made larger may have been replaced by one without the new entry.

use std::collections::HashSet;

use base::{BlockNo, Tid};
use buffer::{ExclusivePage, PageChange};
use index::{Access, Exclusive, FreeList, INIT, IndexError, IndexResult, InsertOutcome, Pages, interrupts};
use tuple::Datum;

use crate::format::{DELETED, FOLLOW_RIGHT, MAX_ENTRY, NONE, Node, Opaque, ROOM, ROOT, downlink, leaf_item};
use crate::keys::{Entry, Key, cheapest, distribute, same, union};
use crate::method::FORMAT;
use crate::ops;
use crate::redo::{Kind, update_bytes};
use crate::rel::GistRel;

/// Keys of a row's values.
pub(crate) fn compress(rel: &GistRel, values: &[Datum]) -> Key {
    let mut key = values[..rel.nkeys().min(values.len())].to_vec();
    rel.desc.make_keys(&mut key);
    key
}

/// The entry of a row with these keys and INCLUDE columns.
pub(crate) fn leaf_entry(rel: &GistRel, values: &[Datum], tid: Tid) -> IndexResult<Entry> {
    let bytes = leaf_item(&rel.desc.layout, values, tid);
    check_size(bytes.len(), tid)?;
    Ok(Entry { bytes, key: values[..rel.nkeys()].to_vec() })
}

/// The entry of a page with these items in its parent.
pub(crate) fn downlink_to(rel: &GistRel, child: BlockNo, entries: &[Entry]) -> IndexResult<Entry> {
    let key = union(&rel.desc, entries.iter().map(|entry| &entry.key[..]));
    let bytes = downlink(&rel.desc.layout, &key, child);
    check_size(bytes.len(), Tid::default())?;
    Ok(Entry { bytes, key })
}

fn check_size(size: usize, tid: Tid) -> IndexResult<()> {
    if size > MAX_ENTRY {
        Err(IndexError::TooLarge { format: FORMAT, size, max: MAX_ENTRY, tid })
    } else {
        Ok(())
    }
}

/// All items of a page.
pub(crate) fn entries(rel: &GistRel, block: BlockNo, node: &Node<'_>) -> IndexResult<Vec<Entry>> {
    rel.check(block, node.items().map(|found| Entry::read(rel, found?.1)).collect())
}

/// Enters a row.
pub(crate) fn insert(
    access: &Access<'_>,
    rel: &GistRel,
    values: &[Datum],
    tid: Tid,
) -> IndexResult<InsertOutcome> {
    let mut values = values.to_vec();
    rel.desc.make_keys(&mut values);
    insert_keys(access, rel, &values, tid)?;
    Ok(InsertOutcome::Inserted)
}

/// Enters a row by its keys.
pub(crate) fn insert_keys(access: &Access<'_>, rel: &GistRel, keys: &[Datum], tid: Tid) -> IndexResult<()> {
    access.pool.admit(rel.desc.persistence)?;
    let entry = leaf_entry(rel, keys, tid)?;
    while !try_insert(access, rel, &entry)? {
        interrupts()?;
    }
    Ok(())
}

/// What a descent finds of a page.
enum Found {
    /// It was split, or is out of the tree.
    Changed,
    /// Its last split lacks downlinks.
    Incomplete,
    Leaf,
    /// An internal page: the downlink to follow, and the key that it must have, if another than it has.
    Child {
        at: u16,
        child: BlockNo,
        key: Option<Key>,
    },
}

fn look(rel: &GistRel, block: BlockNo, node: &Node<'_>, seen: u64, new: &[Datum]) -> IndexResult<Found> {
    if node.op.is(FOLLOW_RIGHT) {
        return Ok(Found::Incomplete);
    }
    if node.op.is(DELETED) || node.op.nsn > seen {
        return Ok(Found::Changed);
    }
    if node.op.is_leaf() {
        return Ok(Found::Leaf);
    }
    let Some((at, old)) = rel.check(block, cheapest(rel, node, new))? else {
        return Err(rel.corrupt(block, "internal page has no children"));
    };
    let child = rel.check(block, node.item(at))?.child();
    if child == NONE {
        return Err(rel.corrupt(block, "downlink leads to the root"));
    }
    let key = union(&rel.desc, [&old[..], new].into_iter());
    let key = (!same(&rel.desc, &key, &old)).then_some(key);
    Ok(Found::Child { at, child, key })
}

/// One descent; `false` if it has to begin anew.
fn try_insert(access: &Access<'_>, rel: &GistRel, entry: &Entry) -> IndexResult<bool> {
    let mut path: Vec<BlockNo> = Vec::new();
    let (mut block, mut seen) = (ROOT, u64::MAX);
    loop {
        interrupts()?;
        let page = rel.shared(access.pool, block)?;
        let node = rel.node(block, &page)?;
        let version = node.op.version;
        match look(rel, block, &node, seen, &entry.key)? {
            Found::Child { child, key: None, .. } => {
                path.push(block);
                (block, seen) = (child, version);
                continue;
            }
            Found::Changed => return Ok(false),
            _ => {}
        }
        drop(page);
        // Something is to be changed: look again under the exclusive latch.
        let mut page = rel.exclusive(access.pool, block)?;
        let node = rel.node(block, &page)?;
        let version = node.op.version;
        match look(rel, block, &node, seen, &entry.key)? {
            Found::Changed => return Ok(false),
            Found::Incomplete => {
                finish_split(access, rel, vec![page], &path)?;
                return Ok(false);
            }
            Found::Leaf => {
                prune(access, rel, &mut page, entry.bytes.len())?;
                change(access, rel, page, &path, None, vec![entry.clone()], Vec::new())?;
                return Ok(true);
            }
            Found::Child { at, child, key } => {
                if let Some(key) = key {
                    let bytes = downlink(&rel.desc.layout, &key, child);
                    check_size(bytes.len(), Tid::default())?;
                    let room = rel.check(block, node.item(at))?.bytes().len();
                    let fits = page::free_space(&page) + room >= bytes.len();
                    change(access, rel, page, &path, Some(at), vec![Entry { bytes, key }], Vec::new())?;
                    if !fits {
                        return Ok(false);
                    }
                }
                path.push(block);
                (block, seen) = (child, version);
            }
        }
    }
}

/// Removes what is marked as dead from a leaf that has no room for an item of this size.
fn prune(access: &Access<'_>, rel: &GistRel, page: &mut Exclusive, size: usize) -> IndexResult<()> {
    if page::free_space(page) >= size + 4 {
        return Ok(());
    }
    let block = page.tag().block;
    let node = rel.node(block, page)?;
    let doomed: Vec<u16> = (1..=node.max()).filter(|&n| node.is_dead(n)).collect();
    if !doomed.is_empty() {
        remove(access, rel, page, &doomed)?;
    }
    Ok(())
}

/// Removes entries from a leaf.
pub(crate) fn remove(
    access: &Access<'_>,
    rel: &GistRel,
    page: &mut ExclusivePage<'_>,
    doomed: &[u16],
) -> IndexResult<()> {
    rel.check(page.tag().block, ops::update::<&[u8]>(page, doomed, &[], None))?;
    let mut action = rel.action(access, Kind::Delete);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &update_bytes::<&[u8]>(doomed, &[]));
    action.commit();
    Ok(())
}

/// Replaces item `old` of a page by `new`, or adds them; splits the page if they do not fit. `children`: pages, left ones of splits, whose new siblings' downlinks are among `new`.
fn change(
    access: &Access<'_>,
    rel: &GistRel,
    mut page: Exclusive,
    path: &[BlockNo],
    old: Option<u16>,
    new: Vec<Entry>,
    mut children: Vec<Exclusive>,
) -> IndexResult<()> {
    let block = page.tag().block;
    let node = rel.node(block, &page)?;
    let gone = match old {
        Some(n) => rel.check(block, node.item(n))?.bytes().len() + 4,
        None => 0,
    };
    let wanted: usize = new.iter().map(|entry| entry.bytes.len() + 4).sum();
    if page::free_space(&page) + gone < wanted {
        return split(access, rel, page, path, old, new, children);
    }
    let version = if children.is_empty() { 0 } else { node.op.version + 1 };
    let doomed: Vec<u16> = old.into_iter().collect();
    let new: Vec<Vec<u8>> = new.into_iter().map(|entry| entry.bytes).collect();
    rel.check(block, ops::update(&mut page, &doomed, &new, (version != 0).then_some(version)))?;
    finish_children(rel, &mut children, version)?;
    let mut action = rel.action(access, Kind::Update);
    action.data(&version.to_le_bytes());
    let i = action.page(&mut page, PageChange::default());
    action.page_data(i, &update_bytes(&doomed, &new));
    children.iter_mut().for_each(|child| {
        action.page(child, PageChange::default());
    });
    action.commit();
    Ok(())
}

fn finish_children(rel: &GistRel, children: &mut [Exclusive], version: u64) -> IndexResult<()> {
    for child in children {
        rel.check(child.tag().block, ops::finish_split(child, version))?;
    }
    Ok(())
}

/// Distributes a page's items and new ones to it and new pages, then gives these their downlinks.
fn split(
    access: &Access<'_>,
    rel: &GistRel,
    mut page: Exclusive,
    path: &[BlockNo],
    old: Option<u16>,
    new: Vec<Entry>,
    mut children: Vec<Exclusive>,
) -> IndexResult<()> {
    let block = page.tag().block;
    let node = rel.node(block, &page)?;
    let op = node.op;
    let mut all = entries(rel, block, &node)?;
    if let Some(n) = old {
        all.remove(n as usize - 1);
    }
    all.extend(new);
    let groups = distribute(&rel.desc, all);
    // Nothing is changed before it is known that the downlinks can be made.
    for group in &groups {
        downlink_to(rel, NONE, group)?;
    }
    let is_root = block == ROOT;
    let count = if is_root { groups.len() } else { groups.len() - 1 };
    let mut made = Vec::with_capacity(count);
    for _ in 0..count {
        made.push(rel.allocate(access, is_root)?);
    }
    let stamp = access.pool.wal().insert_end();
    let version = op.version + 1;
    let places: Vec<BlockNo> =
        (!is_root).then_some(block).into_iter().chain(made.iter().map(|page| page.tag().block)).collect();
    let opaque = |at: usize| {
        let last = at + 1 == places.len();
        let next = match places.get(at + 1) {
            Some(next) => *next,
            None if is_root => NONE,
            None => op.next,
        };
        let (flags, nsn) = match at {
            _ if is_root => (0, 0),
            _ if last => (op.flags, op.nsn),
            0 => (FOLLOW_RIGHT, op.nsn),
            _ => (FOLLOW_RIGHT, 0),
        };
        Opaque { next, level: op.level, flags, nsn, version, split: stamp }
    };
    let mut downlinks = Vec::new();
    let mut pages: Vec<&mut Exclusive> = if is_root {
        made.iter_mut().collect()
    } else {
        std::iter::once(&mut page).chain(&mut made).collect()
    };
    for (at, (target, group)) in pages.iter_mut().zip(&groups).enumerate() {
        let items: Vec<&[u8]> = group.iter().map(|entry| &entry.bytes[..]).collect();
        rel.check(places[at], ops::fill(target, opaque(at), &items))?;
        downlinks.push(downlink_to(rel, places[at], group)?);
    }
    drop(pages);
    if is_root {
        let items: Vec<&[u8]> = downlinks.iter().map(|entry| &entry.bytes[..]).collect();
        let opaque = Opaque { level: op.level + 1, version, ..op };
        rel.check(ROOT, ops::fill(&mut page, opaque, &items))?;
    }
    finish_children(rel, &mut children, version)?;
    log_split(access, rel, &mut page, &mut made, &mut children, version)?;
    drop(children);
    if is_root {
        return Ok(());
    }
    finish_split(access, rel, std::iter::once(page).chain(made).collect(), path)
}

fn log_split(
    access: &Access<'_>,
    rel: &GistRel,
    page: &mut Exclusive,
    made: &mut [Exclusive],
    children: &mut [Exclusive],
    version: u64,
) -> IndexResult<()> {
    let mut action = rel.action(access, Kind::Split);
    action.data(&(made.len() as u16 + 1).to_le_bytes());
    action.data(&version.to_le_bytes());
    for target in std::iter::once(page).chain(made) {
        let blob = rel.check(target.tag().block, ops::blob(target))?;
        let i = action.page(target, INIT);
        action.page_data(i, &blob);
    }
    for child in children {
        action.page(child, PageChange::default());
    }
    action.commit();
    Ok(())
}

/// Gives downlinks to the right siblings of a page that follows them; `chain`: the page, and behind it as many of them as are latched already.
fn finish_split(
    access: &Access<'_>,
    rel: &GistRel,
    mut chain: Vec<Exclusive>,
    path: &[BlockNo],
) -> IndexResult<()> {
    let mut links = Vec::new();
    let mut at = 0;
    loop {
        let block = chain[at].tag().block;
        let node = rel.node(block, &chain[at])?;
        links.push(downlink_to(rel, block, &entries(rel, block, &node)?)?);
        if !node.op.is(FOLLOW_RIGHT) {
            break;
        }
        at += 1;
        if at == chain.len() {
            let next = node.op.next;
            if next == NONE || chain.iter().any(|page| page.tag().block == next) {
                return Err(rel.corrupt(block, "links do not end"));
            }
            chain.push(rel.exclusive(access.pool, next)?);
        }
    }
    // The last one was split by nobody, or is finished.
    let level = rel.node(chain[0].tag().block, &chain[0])?.op.level;
    chain.truncate(at);
    let Some(first) = chain.first().map(|page| page.tag().block) else { return Ok(()) };
    let (parent, n, above) = parent_of(access, rel, first, level, path)?;
    change(access, rel, parent, &path[..above], Some(n), links, chain)
}

/// The page with the downlink of `child`, latched exclusively, the downlink's number, and how much of the path lies above.
fn parent_of(
    access: &Access<'_>,
    rel: &GistRel,
    child: BlockNo,
    level: u16,
    path: &[BlockNo],
) -> IndexResult<(Exclusive, u16, usize)> {
    let above = path.len().saturating_sub(1);
    let mut hint = path.last().copied();
    let mut hops = 0;
    while let Some(block) = hint {
        let page = rel.exclusive(access.pool, block)?;
        let node = rel.node(block, &page)?;
        if node.op.level != level + 1 || node.op.is(DELETED) {
            break;
        }
        if let Some(n) = find_downlink(rel, block, &node, child)? {
            return Ok((page, n, above));
        }
        hops += 1;
        hint = Some(node.op.next).filter(|next| block != ROOT && *next != NONE && hops < 1000);
    }
    search_parent(access, rel, child, level).map(|(page, n)| (page, n, 0))
}

/// Looks through all pages of the level above.
fn search_parent(
    access: &Access<'_>,
    rel: &GistRel,
    child: BlockNo,
    level: u16,
) -> IndexResult<(Exclusive, u16)> {
    let (mut open, mut seen) = (vec![ROOT], HashSet::new());
    while let Some(block) = open.pop() {
        if !seen.insert(block) {
            continue;
        }
        let page = rel.shared(access.pool, block)?;
        let node = rel.node(block, &page)?;
        if node.op.next != NONE && block != ROOT {
            open.push(node.op.next);
        }
        if node.op.is(DELETED) {
            continue;
        }
        if node.op.level > level + 1 {
            for item in node.items() {
                open.push(rel.check(block, item)?.1.child());
            }
        } else if node.op.level == level + 1 && find_downlink(rel, block, &node, child)?.is_some() {
            drop(page);
            let page = rel.exclusive(access.pool, block)?;
            let node = rel.node(block, &page)?;
            if let Some(n) = find_downlink(rel, block, &node, child)? {
                return Ok((page, n));
            }
            // It has moved to the right meanwhile.
            open.push(node.op.next);
        }
    }
    Err(rel.corrupt(child, "page has no downlink"))
}

/// Number of the downlink of a page.
pub(crate) fn find_downlink(
    rel: &GistRel,
    block: BlockNo,
    node: &Node<'_>,
    child: BlockNo,
) -> IndexResult<Option<u16>> {
    for item in node.items() {
        let (n, item) = rel.check(block, item)?;
        if item.child() == child {
            return Ok(Some(n));
        }
    }
    Ok(None)
}

const _: () = assert!(4 * (MAX_ENTRY + 4) <= ROOM);
