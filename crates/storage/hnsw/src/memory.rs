//! The graph of a build, in memory: nodes by number. What fits there is written page by page once all rows have come, or when there is no more room; rows behind that are entered one by one.

use base::{BlockNo, Fork, Tid};
use index::changes::{Change, Changes};
use index::{Access, Exclusive, IndexResult, Pages, interrupts};
use tuple::Datum;

use crate::format::{
    Head, LINKS, LINKS_HEAD, LIVE, META, Meta, POINTER, Pointer, links_at, links_length, width,
};
use crate::insert::{AROUND, FIRST_PAGE, node_item};
use crate::rel::HnswRel;
use crate::search::{self, Near, Nodes};

/// No node.
const NONE: u32 = u32::MAX;
/// About what a node takes beside its key and links.
const COST: usize = size_of::<Node>() + 32;

struct Node {
    key: Datum,
    tid: Tid,
    level: u8,
    /// Where its links begin in [`Memory::links`]: those of the lowest level, then upwards.
    links: usize,
}

/// A graph.
pub(crate) struct Memory<'a> {
    rel: &'a HnswRel,
    m: u16,
    ef_construction: u16,
    nodes: Vec<Node>,
    links: Vec<u32>,
    entry: Option<u32>,
    level: u8,
    /// About what all takes.
    bytes: usize,
}

impl Nodes for Memory<'_> {
    type Id = u32;
    type Node = ();
    type Key<'k>
        = &'k [u8]
    where
        Self: 'k;

    fn look(&self, id: u32, from: &[u8]) -> IndexResult<Option<(f64, ())>> {
        Ok(Some((self.rel.distance(self.key_of(id), from)?, ())))
    }

    fn is_live(&self, _node: &()) -> bool {
        true
    }

    fn links(&self, id: u32, _node: &(), level: u8, out: &mut Vec<u32>) -> IndexResult<()> {
        out.clear();
        out.extend(self.slots(id, level).iter().take_while(|link| **link != NONE));
        Ok(())
    }

    fn key(&self, id: u32) -> IndexResult<Option<&[u8]>> {
        Ok(Some(self.key_of(id)))
    }

    fn distance(&self, a: &[u8], b: &[u8]) -> IndexResult<f64> {
        self.rel.distance(a, b)
    }
}

/// What is written of a node on a page.
#[derive(Clone, Copy)]
enum Part {
    Links(u32),
    Node(u32),
}

impl<'a> Memory<'a> {
    /// Of an index whose block 0 says this.
    pub fn new(rel: &'a HnswRel, meta: &Meta) -> Memory<'a> {
        let (nodes, links) = (Vec::new(), Vec::new());
        let &Meta { m, ef_construction, .. } = meta;
        Memory { rel, m, ef_construction, nodes, links, entry: None, level: 0, bytes: 0 }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn key_of(&self, id: u32) -> &[u8] {
        index::as_bytes(&self.nodes[id as usize].key).unwrap_or_default()
    }

    /// Where a node's links on a level are: those that there are, then none.
    fn slots_at(&self, id: u32, level: u8) -> std::ops::Range<usize> {
        let node = &self.nodes[id as usize];
        if level > node.level {
            return 0..0;
        }
        let from = node.links + (links_at(self.m, level) - LINKS_HEAD) / POINTER;
        from..from + width(self.m, level)
    }

    fn slots(&self, id: u32, level: u8) -> &[u32] {
        &self.links[self.slots_at(id, level)]
    }

    /// Adds the node of a row.
    pub fn add(&mut self, key: Datum, tid: Tid, level: u8) -> IndexResult<()> {
        let bytes = index::as_bytes(&key).unwrap_or_default();
        let options = (self.m, self.ef_construction);
        let chosen = search::neighbours(self, bytes, (self.entry, self.level), level, None, options)?;
        let id = self.nodes.len() as u32;
        let count = (links_length(self.m, level) - LINKS_HEAD) / POINTER;
        self.bytes += COST + bytes.len() + count * size_of::<u32>();
        self.nodes.push(Node { key, tid, level, links: self.links.len() });
        self.links.resize(self.links.len() + count, NONE);
        for (level, list) in (0..).zip(&chosen) {
            let slots = self.slots_at(id, level);
            self.links[slots].iter_mut().zip(list).for_each(|(slot, near)| *slot = near.id);
            for near in list {
                self.link_back(near, id, level)?;
            }
        }
        if self.entry.is_none() || level > self.level {
            (self.entry, self.level) = (Some(id), level);
        }
        Ok(())
    }

    /// Links a node back to a new one.
    fn link_back(&mut self, near: &Near<u32, ()>, new: u32, level: u8) -> IndexResult<()> {
        let slots = self.slots_at(near.id, level);
        if let Some(empty) = self.links[slots.clone()].iter().position(|link| *link == NONE) {
            self.links[slots.start + empty] = new;
            return Ok(());
        }
        let key = self.key_of(near.id);
        let mut all = vec![Near { distance: near.distance, id: new, node: () }];
        for &id in &self.links[slots.clone()] {
            all.push(Near { distance: self.rel.distance(key, self.key_of(id))?, id, node: () });
        }
        let pruned = search::least_worth(self, all, new)?;
        let at = pruned.and_then(|id| self.links[slots.clone()].iter().position(|link| *link == id));
        if let Some(at) = at {
            self.links[slots.start + at] = new;
        }
        Ok(())
    }

    /// Writes all nodes, in their order, and block 0, of an index that has no other pages.
    pub fn write(&self, access: &Access<'_>) -> IndexResult<()> {
        let mut meta = self.rel.meta(access)?;
        let (pages, room) = self.lay_out();
        let mut places = vec![[Pointer::NONE; 2]; self.nodes.len()];
        for (block, parts) in (FIRST_PAGE.0..).map(BlockNo).zip(&pages) {
            for (item, part) in (1..).zip(parts) {
                let at = Pointer { block, item };
                match part {
                    Part::Links(id) => places[*id as usize][0] = at,
                    Part::Node(id) => places[*id as usize][1] = at,
                }
            }
        }
        for (block, parts) in (FIRST_PAGE.0..).map(BlockNo).zip(&pages) {
            self.write_page(access, block, parts, &places)?;
        }
        let Some(entry) = self.entry else { return Ok(()) };
        (meta.entry, meta.level) = (places[entry as usize][1], self.level);
        meta.room = room.map_or(META, |page| BlockNo(FIRST_PAGE.0 + page as u32));
        let mut page = self.rel.exclusive(access.pool, META)?;
        let mut changes = Changes::default();
        changes.patch(1, 0, &meta.bytes());
        self.rel.change(access, &mut [Change { page: &mut page, changes, new: false }])
    }

    /// What goes on which page, and the page that has room for more.
    fn lay_out(&self) -> (Vec<Vec<Part>>, Option<usize>) {
        let mut pages: Vec<Vec<Part>> = Vec::new();
        let (mut room, mut left) = (None, 0);
        for id in 0..self.nodes.len() as u32 {
            let links = links_length(self.m, self.nodes[id as usize].level) + AROUND;
            let node = crate::format::NODE_HEAD + self.key_of(id).len() + AROUND;
            let one_page = links + node <= page::MAX_ITEM;
            let wanted = if one_page { links + node } else { links };
            if room.is_none() || left < wanted {
                room = Some(pages.len());
                left = base::PAGE_SIZE - page::HEADER_SIZE;
                pages.push(Vec::new());
            }
            left -= wanted;
            let parts = room.and_then(|room| pages.get_mut(room));
            parts.into_iter().for_each(|parts| {
                parts.push(Part::Links(id));
                parts.extend(one_page.then_some(Part::Node(id)));
            });
            if !one_page {
                pages.push(vec![Part::Node(id)]);
            }
        }
        (pages, room)
    }

    fn write_page(
        &self,
        access: &Access<'_>,
        block: BlockNo,
        parts: &[Part],
        places: &[[Pointer; 2]],
    ) -> IndexResult<()> {
        interrupts()?;
        let persistence = self.rel.desc.persistence;
        access.pool.admit(persistence)?;
        let mut page: Exclusive = access.pool.extend(self.rel.desc.file, Fork::Main, persistence)?;
        self.rel.ensure(block, page.tag().block == block, "index to be built has pages")?;
        let mut changes = Changes::default();
        changes.init(&[]);
        for part in parts {
            match *part {
                Part::Links(id) => changes.add(&self.links_item(id, places)),
                Part::Node(id) => {
                    let Node { tid, level, .. } = self.nodes[id as usize];
                    let links = places[id as usize][0];
                    let head = Head { state: LIVE, level, room: level, tid, links, next_free: Pointer::NONE };
                    changes.add(&node_item(&head, self.key_of(id)))
                }
            };
        }
        self.rel.change(access, &mut [Change { page: &mut page, changes, new: true }])
    }

    fn links_item(&self, id: u32, places: &[[Pointer; 2]]) -> Vec<u8> {
        let node = &self.nodes[id as usize];
        let length = links_length(self.m, node.level);
        let mut item = Vec::with_capacity(length);
        item.push(LINKS);
        item.resize(LINKS_HEAD, 0);
        let count = (length - LINKS_HEAD) / POINTER;
        for link in &self.links[node.links..node.links + count] {
            let to = places.get(*link as usize).map_or(Pointer::NONE, |places| places[1]);
            item.extend_from_slice(&to.bytes());
        }
        item
    }
}
