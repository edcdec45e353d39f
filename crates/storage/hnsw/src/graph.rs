//! Searches: from node to node, always on from the nearest one that was not looked at.

use std::cell::{Cell, RefCell};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::rc::Rc;

use base::Tid;
use index::{Access, IndexResult, Pages, interrupts};
use tuple::Datum;

use crate::format::{Head, LINKS, LIVE, Meta, Pointer, links_at, width};
use crate::rel::HnswRel;

/// A node that was read.
#[derive(Debug)]
pub(crate) struct Node {
    pub at: Pointer,
    pub head: Head,
    pub key: Datum,
}

impl Node {
    pub fn is_live(&self) -> bool {
        self.head.state == LIVE
    }

    pub fn tid(&self) -> Tid {
        self.head.tid
    }
}

/// A node at a distance from what is sought.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    pub distance: f64,
    pub node: Rc<Node>,
}

impl Ord for Near {
    fn cmp(&self, other: &Near) -> Ordering {
        self.distance.total_cmp(&other.distance).then_with(|| self.node.at.cmp(&other.node.at))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Near) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Near {
    fn eq(&self, other: &Near) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Near {}

/// Nodes that were met and did not get in, nearest first.
pub(crate) type Discarded = BinaryHeap<Reverse<Near>>;

/// Nodes that a build has read: as long as it goes on, none becomes another.
#[derive(Default)]
pub(crate) struct Cache {
    nodes: RefCell<HashMap<Pointer, Rc<Node>>>,
    bytes: Cell<usize>,
}

/// About what a node takes in memory beside its key.
const AROUND: usize = 160;

impl Cache {
    fn get(&self, at: Pointer) -> Option<Rc<Node>> {
        self.nodes.borrow().get(&at).cloned()
    }

    /// Keeps a node, if all take no more than `limit` bytes.
    fn keep(&self, node: &Rc<Node>, limit: usize) {
        let bytes = self.bytes.get() + AROUND + index::as_bytes(&node.key).map_or(0, <[u8]>::len);
        if bytes <= limit {
            self.bytes.set(bytes);
            self.nodes.borrow_mut().insert(node.at, node.clone());
        }
    }
}

/// The graph of an index, as one who searches reads it.
pub(crate) struct Graph<'a> {
    pub access: &'a Access<'a>,
    pub rel: &'a HnswRel,
    pub meta: Meta,
    /// Of a build.
    pub cache: Option<&'a Cache>,
}

impl Graph<'_> {
    /// The node that a pointer refers to, if there is one.
    pub fn node(&self, at: Pointer) -> IndexResult<Option<Rc<Node>>> {
        if let Some(known) = self.cache.and_then(|cache| cache.get(at)) {
            return Ok(Some(known));
        }
        let page = self.rel.shared(self.access.pool, at.block)?;
        let Some(item) = page::item(&page, at.item) else { return Ok(None) };
        let read = self.rel.check(at.block, Head::read(item))?;
        let node = read.map(|(head, key)| Rc::new(Node { at, head, key: Datum::Bytes(key.to_vec().into()) }));
        if let (Some(cache), Some(node)) = (self.cache, &node) {
            cache.keep(node, self.access.limits.memory);
        }
        Ok(node)
    }

    /// The links of a node on a level, those that are none too.
    pub fn slots(&self, of: &Head, level: u8) -> IndexResult<Vec<Pointer>> {
        if level > of.level {
            return Ok(Vec::new());
        }
        let page = self.rel.shared(self.access.pool, of.links.block)?;
        let item = page::item(&page, of.links.item).filter(|item| item.first() == Some(&LINKS));
        let item = self.rel.check(of.links.block, item.ok_or("node has no links"))?;
        let (from, count) = (links_at(self.meta.m, level), width(self.meta.m, level));
        let whole = item.len() >= from + 6 * count;
        self.rel.ensure(of.links.block, whole, "node has too few links")?;
        Ok((0..count).map(|n| Pointer::read(item, from + 6 * n)).collect())
    }

    fn links(&self, of: &Head, level: u8) -> IndexResult<impl Iterator<Item = Pointer>> {
        Ok(self.slots(of, level)?.into_iter().filter(|link| !link.is_none()))
    }

    /// The node where searches begin, at its distance.
    pub fn entry(&self, key: &Datum) -> IndexResult<Option<Near>> {
        if self.meta.entry.is_none() {
            return Ok(None);
        }
        let Some(node) = self.node(self.meta.entry)? else { return Ok(None) };
        Ok(Some(Near { distance: self.rel.distance(&node.key, key)?, node }))
    }

    /// The nodes of upper levels, down to before `level`, that lead nearest to the key.
    pub fn descend(&self, key: &Datum, entry: Near, level: u8) -> IndexResult<Near> {
        let mut nearest = entry;
        for level in (level + 1..=self.meta.level).rev() {
            loop {
                let mut better = None;
                for link in self.links(&nearest.node.head, level)? {
                    interrupts()?;
                    let Some(node) = self.node(link)? else { continue };
                    let distance = self.rel.distance(&node.key, key)?;
                    let least = better.as_ref().map_or(nearest.distance, |near: &Near| near.distance);
                    if distance < least {
                        better = Some(Near { distance, node });
                    }
                }
                match better {
                    Some(near) => nearest = near,
                    None => break,
                }
            }
        }
        Ok(nearest)
    }

    /// The live nodes nearest to the key that a search over a level finds from some nodes on, `most` at most, nearest first. What it met and did not take goes to `discarded`.
    pub fn nearest(
        &self,
        key: &Datum,
        from: Vec<Near>,
        (most, level): (usize, u8),
        visited: &mut HashSet<Pointer>,
        mut discarded: Option<&mut Discarded>,
    ) -> IndexResult<Vec<Near>> {
        let mut open: BinaryHeap<Reverse<Near>> = BinaryHeap::new();
        let mut found: BinaryHeap<Near> = BinaryHeap::new();
        for near in from {
            visited.insert(near.node.at);
            if near.node.is_live() {
                found.push(near.clone());
            }
            open.push(Reverse(near));
        }
        while let Some(Reverse(next)) = open.pop() {
            let is_full = found.len() >= most;
            if is_full && found.peek().is_some_and(|farthest| next.distance > farthest.distance) {
                break;
            }
            for link in self.links(&next.node.head, level)? {
                interrupts()?;
                if !visited.insert(link) {
                    continue;
                }
                let Some(node) = self.node(link)? else { continue };
                let near = Near { distance: self.rel.distance(&node.key, key)?, node };
                let is_full = found.len() >= most;
                if is_full && found.peek().is_some_and(|farthest| near.distance >= farthest.distance) {
                    if let Some(discarded) = discarded.as_deref_mut() {
                        discarded.push(Reverse(near));
                    }
                    continue;
                }
                open.push(Reverse(near.clone()));
                if near.node.is_live() {
                    found.push(near);
                }
                if found.len() > most
                    && let Some(out) = found.pop()
                    && let Some(discarded) = discarded.as_deref_mut()
                {
                    discarded.push(Reverse(out));
                }
            }
        }
        Ok(found.into_sorted_vec())
    }

    /// Which of some nodes, nearest first, another is to be linked to, `most` at most: those that lie in different directions first.
    pub fn choose(&self, from: &[Near], most: usize) -> IndexResult<Vec<Near>> {
        let (mut chosen, mut rest): (Vec<Near>, Vec<&Near>) = (Vec::new(), Vec::new());
        for near in from {
            if chosen.len() == most {
                break;
            }
            let mut lies_apart = true;
            for other in &chosen {
                if self.rel.distance(&near.node.key, &other.node.key)? <= near.distance {
                    lies_apart = false;
                    break;
                }
            }
            if lies_apart { chosen.push(near.clone()) } else { rest.push(near) }
        }
        let missing = most - chosen.len();
        chosen.extend(rest.into_iter().take(missing).cloned());
        Ok(chosen)
    }
}
