//! Entering rows.

use base::{BlockNo, Fork, Tid};
use index::changes::{Change, Changes};
use index::{Access, Exclusive, IndexResult, InsertOutcome, Pages};
use runtime::{ReadGuard, WriteGuard};
use tuple::Datum;

use crate::format::{
    Head, LINKS, LINKS_HEAD, LIVE, META, Meta, NODE_HEAD, POINTER, Pointer, highest, links_at, links_length,
    width,
};
use crate::graph::{Found, Graph};
use crate::rel::HnswRel;
use crate::search::{self, Near, Nodes};

/// Bytes that an item takes on a page beside its own, at most.
pub(crate) const AROUND: usize = 4 + 7;

/// All blocks behind the first.
pub(crate) const FIRST_PAGE: BlockNo = BlockNo(1);

/// How often a change is tried that others get ahead of.
const MOST_TRIES: usize = 1000;

/// A hold on the structure of an index.
enum Hold<'a> {
    Shared { _guard: ReadGuard<'a> },
    Alone { _guard: WriteGuard<'a> },
}

/// Enters the row at `tid`. Rows whose class makes no key of the value have no node.
pub(crate) fn insert(
    access: &Access<'_>,
    rel: &HnswRel,
    values: &[Datum],
    tid: Tid,
) -> IndexResult<InsertOutcome> {
    let Some(key) = rel.key_of(values)? else { return Ok(InsertOutcome::Inserted) };
    let key = index::as_bytes(&key).unwrap_or_default();
    let level = draw_level(rel.meta(access)?.m);
    let (_hold, graph) = hold_for(access, rel, level)?;
    let chosen = graph.neighbours(key, level, None)?;
    let at = add_node(&graph, key, tid, level, &chosen)?;
    for (level, list) in (0..).zip(&chosen) {
        for near in list {
            link_back(&graph, near, at, level)?;
        }
    }
    Ok(InsertOutcome::Inserted)
}

/// A hold with which a node of a level may be entered, and the graph as it then is: who makes a node the one where searches begin is alone.
fn hold_for<'a>(access: &'a Access<'a>, rel: &'a HnswRel, level: u8) -> IndexResult<(Hold<'a>, Graph<'a>)> {
    let structure = rel.structure(access);
    let guard = structure.read();
    let graph = Graph::open(access, rel)?;
    if !is_top(&graph.meta, level) {
        return Ok((Hold::Shared { _guard: guard }, graph));
    }
    drop(guard);
    let guard = structure.write();
    Ok((Hold::Alone { _guard: guard }, Graph::open(access, rel)?))
}

fn is_top(meta: &Meta, level: u8) -> bool {
    meta.entry.is_none() || level > meta.level
}

/// Each level has one of `m` nodes of the one below.
pub(crate) fn draw_level(m: u16) -> u8 {
    let uniform = ((runtime::random_u64() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
    let level = -uniform.ln() / f64::from(m).ln();
    (level as u64).min(u64::from(highest(m))) as u8
}

/// A node as an item.
pub(crate) fn node_item(head: &Head, key: &[u8]) -> Vec<u8> {
    [&head.bytes()[..], key].concat()
}

/// The links of a node as an item.
fn links_item(m: u16, room: u8, chosen: &[Vec<Found>]) -> Vec<u8> {
    let mut item = vec![0; LINKS_HEAD];
    item[0] = LINKS;
    item.resize(links_length(m, room), 0);
    for place in item[LINKS_HEAD..].chunks_exact_mut(POINTER) {
        place.copy_from_slice(&Pointer::NONE.bytes());
    }
    for (level, list) in chosen.iter().enumerate() {
        let from = links_at(m, level as u8);
        for (place, near) in item[from..].chunks_exact_mut(POINTER).zip(list) {
            place.copy_from_slice(&near.id.bytes());
        }
    }
    item
}

/// Adds a node with its links, and makes it the entry if it is on top.
fn add_node(
    graph: &Graph<'_>,
    key: &[u8],
    tid: Tid,
    level: u8,
    chosen: &[Vec<Found>],
) -> IndexResult<Pointer> {
    let new = NewNode { graph, key, tid, level, chosen };
    graph.access.pool.admit(graph.rel.desc.persistence)?;
    for _ in 0..MOST_TRIES {
        let meta = graph.rel.meta(graph.access)?;
        if let Some((at, head)) = new.free_node(&meta)? {
            if new.reuse(at, &head)? {
                return Ok(at);
            }
        } else {
            return new.append(meta.room);
        }
    }
    // Others take free nodes away all the time.
    new.append(META)
}

/// A node to be added.
struct NewNode<'a, 'g> {
    graph: &'a Graph<'g>,
    key: &'a [u8],
    tid: Tid,
    level: u8,
    chosen: &'a [Vec<Found>],
}

impl NewNode<'_, '_> {
    /// The first free node, if the new one fits into its place.
    fn free_node(&self, meta: &Meta) -> IndexResult<Option<(Pointer, Head)>> {
        if meta.free.is_none() {
            return Ok(None);
        }
        let found = self.graph.read(meta.free, |head, key| Ok((head, key.len())))?;
        let fits = |(head, length): &(Head, usize)| head.room >= self.level && *length == self.key.len();
        Ok(found.filter(fits).map(|(head, _)| (meta.free, head)))
    }

    /// Makes a free node this one; false if somebody else has taken it.
    fn reuse(&self, at: Pointer, head: &Head) -> IndexResult<bool> {
        let &NewNode { graph: Graph { access, rel, .. }, key, tid, level, chosen, .. } = self;
        // Those of two pages are latched in the order of the blocks.
        let linked = head.links.block;
        let (mut page, mut other) = (None, None);
        for block in [at.block.min(linked), at.block.max(linked)] {
            let place = if block == at.block { &mut page } else { &mut other };
            if place.is_none() {
                *place = Some(rel.exclusive(access.pool, block)?);
            }
        }
        let Some(mut page) = page else { return Ok(false) };
        let mut first = rel.exclusive(access.pool, META)?;
        let mut meta = rel.check(META, Meta::read(&first))?;
        if meta.free != at {
            return Ok(false);
        }
        meta.free = head.next_free;
        if is_top(&meta, level) {
            (meta.entry, meta.level) = (at, level);
        }
        let links = links_item(meta.m, head.room, chosen);
        let head = Head { state: LIVE, level, tid, next_free: Pointer::NONE, ..*head };
        let (mut changes, mut linked, mut told) = <(Changes, Changes, Changes)>::default();
        changes.patch(at.item, 0, &node_item(&head, key));
        let of_links = if other.is_some() { &mut linked } else { &mut changes };
        of_links.patch(head.links.item, 0, &links);
        told.patch(1, 0, &meta.bytes());
        let mut pages = vec![
            Change { page: &mut page, changes, new: false },
            Change { page: &mut first, changes: told, new: false },
        ];
        if let Some(page) = &mut other {
            pages.push(Change { page, changes: linked, new: false });
        }
        rel.change(access, &mut pages)?;
        Ok(true)
    }

    /// Adds it to the page for new nodes, `room`, or to a new one that takes its place.
    fn append(&self, room: BlockNo) -> IndexResult<Pointer> {
        let &NewNode { graph: graph @ Graph { access, rel, .. }, key, tid, level, chosen } = self;
        let links = links_item(graph.meta.m, level, chosen);
        let both = links.len() + NODE_HEAD + key.len() + 2 * AROUND;
        let one_page = both <= page::MAX_ITEM;
        let wanted = if one_page { both } else { links.len() + AROUND };
        let mut with_room = None;
        if room != META {
            let page = rel.exclusive(access.pool, room)?;
            with_room = (page::free_space(&page) >= wanted).then_some(page);
        }
        let links_new = with_room.is_none();
        let mut links_page = with_room.map_or_else(|| new_page(graph), Ok)?;
        let mut node_page = if one_page { None } else { Some(new_page(graph)?) };
        let item = if links_new { 1 } else { page::max_offset(&links_page) + 1 };
        let links_at = Pointer { block: links_page.tag().block, item };
        let at = match &node_page {
            Some(page) => Pointer { block: page.tag().block, item: 1 },
            None => Pointer { item: item + 1, ..links_at },
        };
        let head = Head { state: LIVE, level, room: level, tid, links: links_at, next_free: Pointer::NONE };
        let node = node_item(&head, key);
        let (mut changes, mut of_node, mut told) = <(Changes, Changes, Changes)>::default();
        if links_new {
            changes.init(&[]);
        }
        changes.add(&links);
        if one_page {
            changes.add(&node)
        } else {
            of_node.init(&[]).add(&node)
        };
        let mut first = match links_new || is_top(&graph.meta, level) {
            true => Some(rel.exclusive(access.pool, META)?),
            false => None,
        };
        let mut pages = vec![Change { page: &mut links_page, changes, new: links_new }];
        if let Some(page) = &mut node_page {
            pages.push(Change { page, changes: of_node, new: true });
        }
        if let Some(page) = &mut first {
            let mut meta = rel.check(META, Meta::read(page))?;
            if links_new {
                meta.room = links_at.block;
            }
            if is_top(&meta, level) {
                (meta.entry, meta.level) = (at, level);
            }
            told.patch(1, 0, &meta.bytes());
            pages.push(Change { page, changes: told, new: false });
        }
        rel.change(access, &mut pages)?;
        Ok(at)
    }
}

fn new_page(graph: &Graph<'_>) -> IndexResult<Exclusive> {
    let desc = &graph.rel.desc;
    Ok(graph.access.pool.extend(desc.file, Fork::Main, desc.persistence)?)
}

/// Links a node back to a new one. Where it has no link left, it keeps those that lie in different directions.
fn link_back(graph: &Graph<'_>, near: &Found, new: Pointer, level: u8) -> IndexResult<()> {
    let mut slots = Vec::new();
    for _ in 0..MOST_TRIES {
        graph.slots(&near.node, level, &mut slots)?;
        if slots.contains(&new) {
            return Ok(());
        }
        let Some(slot) = slot_for(graph, near, &slots, new)? else { return Ok(()) };
        if set_link(graph, &near.node, level, slot, (slots[slot], new))? {
            return Ok(());
        }
    }
    // Others link to it all the time; the new node leads there.
    Ok(())
}

/// Which of a node's links a new one is to take the place of.
fn slot_for(graph: &Graph<'_>, near: &Found, slots: &[Pointer], new: Pointer) -> IndexResult<Option<usize>> {
    if let Some(empty) = slots.iter().position(|link| link.is_none()) {
        return Ok(Some(empty));
    }
    let (Some(key), Some(head)) = (graph.key(near.id)?, graph.head(new)?) else { return Ok(None) };
    let mut all = vec![Near { distance: near.distance, id: new, node: head }];
    for (slot, link) in slots.iter().enumerate() {
        match search::look(graph, *link, &key)? {
            // What leads to a row that is gone is worth least.
            Some(other) if !graph.is_live(&other.node) => return Ok(Some(slot)),
            Some(other) => all.push(other),
            None => {}
        }
    }
    let pruned = search::least_worth(graph, all, new)?;
    Ok(pruned.and_then(|pruned| slots.iter().position(|slot| *slot == pruned)))
}

/// Makes a link of a node another; false if it is not `before` any more.
fn set_link(
    graph: &Graph<'_>,
    of: &Head,
    level: u8,
    slot: usize,
    (before, new): (Pointer, Pointer),
) -> IndexResult<bool> {
    let at = links_at(graph.meta.m, level) + POINTER * slot;
    let mut page = graph.rel.exclusive(graph.access.pool, of.links.block)?;
    let item = page::item(&page, of.links.item).and_then(|item| item.get(at..at + POINTER));
    if item != Some(&before.bytes()[..]) {
        return Ok(false);
    }
    let mut changes = Changes::default();
    changes.patch(of.links.item, at, &new.bytes());
    graph.rel.change(graph.access, &mut [Change { page: &mut page, changes, new: false }])?;
    Ok(true)
}

/// Replaces all links of a node on a level.
pub(crate) fn set_links(graph: &Graph<'_>, of: &Head, level: u8, chosen: &[Found]) -> IndexResult<()> {
    let mut bytes = Vec::new();
    for n in 0..width(graph.meta.m, level) {
        let to = chosen.get(n).map_or(Pointer::NONE, |near| near.id);
        bytes.extend_from_slice(&to.bytes());
    }
    let mut page = graph.rel.exclusive(graph.access.pool, of.links.block)?;
    let mut changes = Changes::default();
    changes.patch(of.links.item, links_at(graph.meta.m, level), &bytes);
    graph.rel.change(graph.access, &mut [Change { page: &mut page, changes, new: false }])
}
