//! The graph of an index as its pages have it.

use index::{Access, IndexResult, Pages};

use crate::format::{Head, LINKS, LIVE, Meta, POINTER, Pointer, links_at, width};
use crate::rel::HnswRel;
use crate::search::{self, Near, Nodes};

/// The graph of an index, as one who searches reads it.
pub(crate) struct Graph<'a> {
    pub access: &'a Access<'a>,
    pub rel: &'a HnswRel,
    pub meta: Meta,
}

/// A node on a page, at its distance from what is sought.
pub(crate) type Found = Near<Pointer, Head>;

impl<'a> Graph<'a> {
    /// As its pages have it now.
    pub fn open(access: &'a Access<'a>, rel: &'a HnswRel) -> IndexResult<Graph<'a>> {
        Ok(Graph { access, rel, meta: rel.meta(access)? })
    }

    /// What a node is but for its key; none if there is no such node.
    pub fn head(&self, at: Pointer) -> IndexResult<Option<Head>> {
        self.read(at, |head, _| Ok(head))
    }

    /// What `of` makes of a node and its key, under the latch of its page; none if there is no such node.
    pub fn read<T>(
        &self,
        at: Pointer,
        of: impl FnOnce(Head, &[u8]) -> IndexResult<T>,
    ) -> IndexResult<Option<T>> {
        let page = self.rel.shared(self.access.pool, at.block)?;
        let Some(item) = page::item(&page, at.item) else { return Ok(None) };
        self.rel.check(at.block, Head::read(item))?.map(|(head, key)| of(head, key)).transpose()
    }

    /// The links of a node on a level, those that are none too, in place of what is in `out`.
    pub fn slots(&self, of: &Head, level: u8, out: &mut Vec<Pointer>) -> IndexResult<()> {
        out.clear();
        if level > of.level {
            return Ok(());
        }
        let page = self.rel.shared(self.access.pool, of.links.block)?;
        let item = page::item(&page, of.links.item).filter(|item| item.first() == Some(&LINKS));
        let item = self.rel.check(of.links.block, item.ok_or("node has no links"))?;
        let (from, count) = (links_at(self.meta.m, level), width(self.meta.m, level));
        let bytes = item.get(from..from + POINTER * count).ok_or("node has too few links");
        let bytes = self.rel.check(of.links.block, bytes)?;
        out.extend(bytes.chunks_exact(POINTER).map(|bytes| Pointer::read(bytes, 0)));
        Ok(())
    }

    /// The node where searches begin, at its distance.
    pub fn entry(&self, key: &[u8]) -> IndexResult<Option<Found>> {
        match self.meta.entry.is_none() {
            true => Ok(None),
            false => search::look(self, self.meta.entry, key),
        }
    }

    /// The nodes that one with this key is to be linked to, by level up to its own. `but`: it itself, which is in the graph already.
    pub fn neighbours(&self, key: &[u8], level: u8, but: Option<Pointer>) -> IndexResult<Vec<Vec<Found>>> {
        let Meta { m, ef_construction, entry, level: top, .. } = self.meta;
        let entry = (!entry.is_none()).then_some(entry);
        search::neighbours(self, key, (entry, top), level, but, (m, ef_construction))
    }
}

impl Nodes for Graph<'_> {
    type Id = Pointer;
    type Node = Head;
    type Key<'k>
        = Vec<u8>
    where
        Self: 'k;

    fn look(&self, at: Pointer, from: &[u8]) -> IndexResult<Option<(f64, Head)>> {
        self.read(at, |head, key| Ok((self.rel.distance(key, from)?, head)))
    }

    fn is_live(&self, node: &Head) -> bool {
        node.state == LIVE
    }

    fn links(&self, _at: Pointer, node: &Head, level: u8, out: &mut Vec<Pointer>) -> IndexResult<()> {
        self.slots(node, level, out)?;
        out.retain(|link| !link.is_none());
        Ok(())
    }

    fn key(&self, at: Pointer) -> IndexResult<Option<Vec<u8>>> {
        self.read(at, |_, key| Ok(key.to_vec()))
    }

    fn distance(&self, a: &[u8], b: &[u8]) -> IndexResult<f64> {
        self.rel.distance(a, b)
    }
}
