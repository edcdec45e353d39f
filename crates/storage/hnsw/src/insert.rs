//! Entering rows.

use std::collections::HashSet;

use base::{BlockNo, Fork, Tid};
use index::changes::{Change, Changes};
use index::{Access, Exclusive, IndexResult, InsertOutcome, Pages, TURNS};
use tuple::Datum;

use crate::format::{
    Head, LINKS, LINKS_HEAD, LIVE, META, Meta, NODE_HEAD, POINTER, Pointer, highest, links_at, links_length,
    width,
};
use crate::graph::{Cache, Graph, Near, Node};
use crate::rel::HnswRel;

/// Bytes that an item takes on a page beside its own, at most.
pub(crate) const AROUND: usize = 4 + 7;

/// Enters the row at `tid`. Rows whose class makes no key of the value have no node.
pub(crate) fn insert(
    access: &Access<'_>,
    rel: &HnswRel,
    values: &[Datum],
    tid: Tid,
    cache: Option<&Cache>,
) -> IndexResult<InsertOutcome> {
    let Some(key) = rel.key_of(values)? else { return Ok(InsertOutcome::Inserted) };
    let turn = TURNS.of(access, rel.desc.file);
    let _alone = turn.lock();
    let graph = Graph { access, rel, meta: rel.meta(access)?, cache };
    let level = draw_level(graph.meta.m);
    let chosen = neighbours(&graph, &key, level, None)?;
    let at = add_node(&graph, &key, tid, level, &chosen)?;
    for (level, list) in chosen.iter().enumerate() {
        for near in list {
            link_back(&graph, near, at, level as u8)?;
        }
    }
    Ok(InsertOutcome::Inserted)
}

/// Each level has one of `m` nodes of the one below.
fn draw_level(m: u16) -> u8 {
    let uniform = ((runtime::random_u64() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
    let level = -uniform.ln() / f64::from(m).ln();
    (level as u64).min(u64::from(highest(m))) as u8
}

/// The nodes that one with this key is to be linked to, by level up to its own. `but`: it itself, which is in the graph already.
pub(crate) fn neighbours(
    graph: &Graph<'_>,
    key: &Datum,
    level: u8,
    but: Option<Pointer>,
) -> IndexResult<Vec<Vec<Near>>> {
    let mut out = vec![Vec::new(); usize::from(level) + 1];
    let Some(entry) = graph.entry(key)? else { return Ok(out) };
    let top = level.min(graph.meta.level);
    let mut from = vec![graph.descend(key, entry, top)?];
    let most = usize::from(graph.meta.ef_construction) + usize::from(but.is_some());
    for level in (0..=top).rev() {
        let found = graph.nearest(key, from.clone(), (most, level), &mut HashSet::new(), None)?;
        let others: Vec<Near> = found.iter().filter(|near| Some(near.node.at) != but).cloned().collect();
        out[usize::from(level)] = graph.choose(&others, width(graph.meta.m, level))?;
        if !found.is_empty() {
            from = found;
        }
    }
    Ok(out)
}

/// The links of a node as an item.
fn links_item(m: u16, room: u8, chosen: &[Vec<Near>]) -> Vec<u8> {
    let mut item = vec![0; LINKS_HEAD];
    item[0] = LINKS;
    item.resize(links_length(m, room), 0);
    for place in item[LINKS_HEAD..].chunks_exact_mut(POINTER) {
        place.copy_from_slice(&Pointer::NONE.bytes());
    }
    for (level, list) in chosen.iter().enumerate() {
        let from = links_at(m, level as u8);
        for (place, near) in item[from..].chunks_exact_mut(POINTER).zip(list) {
            place.copy_from_slice(&near.node.at.bytes());
        }
    }
    item
}

/// Adds a node with its links, and makes it the entry if it is on top.
fn add_node(
    graph: &Graph<'_>,
    key: &Datum,
    tid: Tid,
    level: u8,
    chosen: &[Vec<Near>],
) -> IndexResult<Pointer> {
    let bytes = index::as_bytes(key).unwrap_or_default();
    let mut meta = graph.meta;
    let is_top = meta.entry.is_none() || level > meta.level;
    let free = match graph.meta.free.is_none() {
        true => None,
        false => graph.node(graph.meta.free)?,
    };
    let fits = |node: &Node| {
        node.head.room >= level && index::as_bytes(&node.key).is_some_and(|key| key.len() == bytes.len())
    };
    if let Some(node) = free.filter(|node| fits(node)) {
        let at = node.at;
        meta.free = node.head.next_free;
        if is_top {
            (meta.entry, meta.level) = (at, level);
        }
        let links = links_item(meta.m, node.head.room, chosen);
        let head = Head { state: LIVE, level, tid, next_free: Pointer::NONE, ..node.head };
        reuse(graph, &meta, at, &head, bytes, &links)?;
        return Ok(at);
    }
    let links = links_item(meta.m, level, chosen);
    let node_length = NODE_HEAD + bytes.len();
    let both = links.len() + node_length + 2 * AROUND;
    let one_page = both <= page::MAX_ITEM;
    let (mut links_page, links_new) =
        page_with_room(graph, &mut meta, if one_page { both } else { links.len() + AROUND })?;
    let links_at = Pointer { block: links_page.tag().block, item: next_item(&links_page, links_new) };
    let head = |links| Head { state: LIVE, level, room: level, tid, links, next_free: Pointer::NONE };
    let node = [&head(links_at).bytes()[..], bytes].concat();
    let mut links_changes = Changes::default();
    if links_new {
        links_changes.init(&[]);
    }
    links_changes.add(&links);
    let mut node_page = None;
    let at = if one_page {
        links_changes.add(&node);
        Pointer { item: links_at.item + 1, ..links_at }
    } else {
        let page = new_page(graph)?;
        let block = page.tag().block;
        node_page = Some(page);
        Pointer { block, item: 1 }
    };
    if is_top {
        (meta.entry, meta.level) = (at, level);
    }
    let mut changes = vec![Change { page: &mut links_page, changes: links_changes, new: links_new }];
    if let Some(page) = &mut node_page {
        let mut told = Changes::default();
        told.init(&[]).add(&node);
        changes.push(Change { page, changes: told, new: true });
    }
    let mut first = match meta == graph.meta {
        true => None,
        false => Some(graph.rel.exclusive(graph.access.pool, META)?),
    };
    if let Some(page) = &mut first {
        let mut told = Changes::default();
        told.patch(1, 0, &meta.bytes());
        changes.push(Change { page, changes: told, new: false });
    }
    graph.rel.change(graph.access, &mut changes)?;
    Ok(at)
}

/// Makes a free node one of another row.
fn reuse(
    graph: &Graph<'_>,
    meta: &Meta,
    at: Pointer,
    head: &Head,
    key: &[u8],
    links: &[u8],
) -> IndexResult<()> {
    let node = [&head.bytes()[..], key].concat();
    let mut page = graph.rel.exclusive(graph.access.pool, at.block)?;
    let mut changes = Changes::default();
    changes.patch(at.item, 0, &node);
    let mut other = None;
    if head.links.block == at.block {
        changes.patch(head.links.item, 0, links);
    } else {
        let mut linked = Changes::default();
        linked.patch(head.links.item, 0, links);
        other = Some((graph.rel.exclusive(graph.access.pool, head.links.block)?, linked));
    }
    let mut first = graph.rel.exclusive(graph.access.pool, META)?;
    let mut told = Changes::default();
    told.patch(1, 0, &meta.bytes());
    let mut pages = vec![
        Change { page: &mut page, changes, new: false },
        Change { page: &mut first, changes: told, new: false },
    ];
    if let Some((page, changes)) = &mut other {
        pages.push(Change { page, changes: std::mem::take(changes), new: false });
    }
    graph.rel.change(graph.access, &mut pages)
}

fn next_item(page: &Exclusive, is_new: bool) -> u16 {
    if is_new { 1 } else { page::max_offset(page) + 1 }
}

fn new_page(graph: &Graph<'_>) -> IndexResult<Exclusive> {
    let desc = &graph.rel.desc;
    graph.access.pool.admit(desc.persistence)?;
    Ok(graph.access.pool.extend(desc.file, Fork::Main, desc.persistence)?)
}

/// The page for new nodes, if it has so much room; otherwise a new one takes its place.
fn page_with_room(graph: &Graph<'_>, meta: &mut Meta, wanted: usize) -> IndexResult<(Exclusive, bool)> {
    if meta.room != META {
        let page = graph.rel.exclusive(graph.access.pool, meta.room)?;
        if page::free_space(&page) >= wanted {
            return Ok((page, false));
        }
    }
    let page = new_page(graph)?;
    meta.room = page.tag().block;
    Ok((page, true))
}

/// Links a node back to a new one. Where it has no link left, it keeps those that lie in different directions.
fn link_back(graph: &Graph<'_>, near: &Near, new: Pointer, level: u8) -> IndexResult<()> {
    let node = &near.node;
    let slots = graph.slots(&node.head, level)?;
    if slots.contains(&new) {
        return Ok(());
    }
    if let Some(empty) = slots.iter().position(|link| link.is_none()) {
        return set_link(graph, &node.head, level, empty, new);
    }
    let Some(added) = graph.node(new)? else { return Ok(()) };
    let mut all = vec![Near { distance: near.distance, node: added }];
    for (slot, link) in slots.iter().enumerate() {
        let Some(other) = graph.node(*link)? else { continue };
        if !other.is_live() {
            // What leads to a row that is gone is worth least.
            return set_link(graph, &node.head, level, slot, new);
        }
        all.push(Near { distance: graph.rel.distance(&node.key, &other.key)?, node: other });
    }
    all.sort();
    let kept = graph.choose(&all, slots.len())?;
    if !kept.iter().any(|near| near.node.at == new) {
        return Ok(());
    }
    let pruned = slots.iter().position(|slot| !kept.iter().any(|near| near.node.at == *slot));
    pruned.map_or(Ok(()), |at| set_link(graph, &node.head, level, at, new))
}

fn set_link(graph: &Graph<'_>, of: &Head, level: u8, at: usize, to: Pointer) -> IndexResult<()> {
    let mut page = graph.rel.exclusive(graph.access.pool, of.links.block)?;
    let mut changes = Changes::default();
    changes.patch(of.links.item, links_at(graph.meta.m, level) + POINTER * at, &to.bytes());
    graph.rel.change(graph.access, &mut [Change { page: &mut page, changes, new: false }])
}

/// Replaces all links of a node on a level.
pub(crate) fn set_links(graph: &Graph<'_>, of: &Head, level: u8, chosen: &[Near]) -> IndexResult<()> {
    let mut bytes = Vec::new();
    for n in 0..width(graph.meta.m, level) {
        let to = chosen.get(n).map_or(Pointer::NONE, |near| near.node.at);
        bytes.extend_from_slice(&to.bytes());
    }
    let mut page = graph.rel.exclusive(graph.access.pool, of.links.block)?;
    let mut changes = Changes::default();
    changes.patch(of.links.item, links_at(graph.meta.m, level), &bytes);
    graph.rel.change(graph.access, &mut [Change { page: &mut page, changes, new: false }])
}

/// All blocks behind the first.
pub(crate) const FIRST_PAGE: BlockNo = BlockNo(1);
