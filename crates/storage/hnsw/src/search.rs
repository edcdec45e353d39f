//! Searches: from node to node, always on from the nearest one that was not looked at. The same over pages ([`Graph`](crate::graph::Graph)) and in the memory of a build
//! ([`Memory`](crate::memory::Memory)).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::hash::Hash;

use index::{IndexResult, interrupts};
use rustc_hash::FxHashSet;

/// The nodes of a graph, as one who searches reads them.
pub(crate) trait Nodes {
    /// Names a node.
    type Id: Copy + Ord + Hash;
    /// What a search keeps of one.
    type Node: Copy;
    /// The bytes of a node's key.
    type Key<'k>: AsRef<[u8]>
    where
        Self: 'k;

    /// A node, and how far it is from a key; none if there is no such node.
    fn look(&self, id: Self::Id, from: &[u8]) -> IndexResult<Option<(f64, Self::Node)>>;

    /// Whether the node is one of a row.
    fn is_live(&self, node: &Self::Node) -> bool;

    /// Replaces `out` by what a node is linked to on a level.
    fn links(&self, id: Self::Id, node: &Self::Node, level: u8, out: &mut Vec<Self::Id>) -> IndexResult<()>;

    /// The key of a node; none if there is no such node.
    fn key(&self, id: Self::Id) -> IndexResult<Option<Self::Key<'_>>>;

    /// How far two keys are from each other.
    fn distance(&self, a: &[u8], b: &[u8]) -> IndexResult<f64>;
}

/// A node, named by `I`, of which `D` is kept, at a distance from what is sought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<I, D> {
    pub distance: f64,
    pub id: I,
    pub node: D,
}

/// A node of these.
pub(crate) type NearOf<N> = Near<<N as Nodes>::Id, <N as Nodes>::Node>;

impl<I: Ord, D> Ord for Near<I, D> {
    fn cmp(&self, other: &Near<I, D>) -> Ordering {
        self.distance.total_cmp(&other.distance).then_with(|| self.id.cmp(&other.id))
    }
}

impl<I: Ord, D> PartialOrd for Near<I, D> {
    fn partial_cmp(&self, other: &Near<I, D>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<I: Ord, D> PartialEq for Near<I, D> {
    fn eq(&self, other: &Near<I, D>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<I: Ord, D> Eq for Near<I, D> {}

/// Nodes that a search has met.
pub(crate) type Visited<I> = FxHashSet<I>;
/// Nodes that were met and did not get in, nearest first.
pub(crate) type Discarded<I, D> = BinaryHeap<Reverse<Near<I, D>>>;

/// A node at its distance from a key; none if there is no such node.
pub(crate) fn look<N: Nodes>(nodes: &N, id: N::Id, key: &[u8]) -> IndexResult<Option<NearOf<N>>> {
    Ok(nodes.look(id, key)?.map(|(distance, node)| Near { distance, id, node }))
}

/// From a node of level `top` down to before `level`: the one that is nearest to the key as far as upper levels lead.
pub(crate) fn descend<N: Nodes>(
    nodes: &N,
    key: &[u8],
    entry: NearOf<N>,
    (top, level): (u8, u8),
) -> IndexResult<NearOf<N>> {
    let (mut nearest, mut links) = (entry, Vec::new());
    for level in (level + 1..=top).rev() {
        loop {
            let before = nearest.id;
            nodes.links(before, &nearest.node, level, &mut links)?;
            for link in &links {
                interrupts()?;
                nearest = match look(nodes, *link, key)? {
                    Some(near) if near.distance < nearest.distance => near,
                    _ => nearest,
                };
            }
            if nearest.id == before {
                break;
            }
        }
    }
    Ok(nearest)
}

/// The live nodes nearest to the key that a search over a level finds from some nodes on, `most` at most, nearest first. What it met and did not take goes to `discarded`.
pub(crate) fn nearest<N: Nodes>(
    nodes: &N,
    key: &[u8],
    from: &[NearOf<N>],
    (most, level): (usize, u8),
    visited: &mut Visited<N::Id>,
    mut discarded: Option<&mut Discarded<N::Id, N::Node>>,
) -> IndexResult<Vec<NearOf<N>>> {
    let mut open: BinaryHeap<Reverse<NearOf<N>>> = BinaryHeap::new();
    let mut found: BinaryHeap<NearOf<N>> = BinaryHeap::new();
    for near in from {
        visited.insert(near.id);
        if nodes.is_live(&near.node) {
            found.push(*near);
        }
        open.push(Reverse(*near));
    }
    let mut links = Vec::new();
    while let Some(Reverse(next)) = open.pop() {
        let is_full = found.len() >= most;
        if is_full && found.peek().is_some_and(|farthest| next.distance > farthest.distance) {
            break;
        }
        interrupts()?;
        nodes.links(next.id, &next.node, level, &mut links)?;
        for link in &links {
            if !visited.insert(*link) {
                continue;
            }
            let Some(near) = look(nodes, *link, key)? else { continue };
            let is_full = found.len() >= most;
            if is_full && found.peek().is_some_and(|farthest| near.distance >= farthest.distance) {
                if let Some(discarded) = discarded.as_deref_mut() {
                    discarded.push(Reverse(near));
                }
                continue;
            }
            open.push(Reverse(near));
            if nodes.is_live(&near.node) {
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
pub(crate) fn choose<N: Nodes>(nodes: &N, from: &[NearOf<N>], most: usize) -> IndexResult<Vec<NearOf<N>>> {
    let mut chosen: Vec<(NearOf<N>, N::Key<'_>)> = Vec::new();
    let mut rest = Vec::new();
    for near in from {
        if chosen.len() == most {
            break;
        }
        let Some(key) = nodes.key(near.id)? else { continue };
        let mut lies_apart = true;
        for (_, other) in &chosen {
            if nodes.distance(key.as_ref(), other.as_ref())? <= near.distance {
                lies_apart = false;
                break;
            }
        }
        if lies_apart { chosen.push((*near, key)) } else { rest.push(*near) }
    }
    let missing = most - chosen.len();
    Ok(chosen.into_iter().map(|(near, _)| near).chain(rest.into_iter().take(missing)).collect())
}

/// The nodes that one with this key is to be linked to, by level up to its own. `entry`: where searches begin, and its level. `but`: the node itself, which is in the graph
/// already. `m` and `ef_construction` as of the index.
pub(crate) fn neighbours<N: Nodes>(
    nodes: &N,
    key: &[u8],
    (entry, highest): (Option<N::Id>, u8),
    level: u8,
    but: Option<N::Id>,
    (m, ef_construction): (u16, u16),
) -> IndexResult<Vec<Vec<NearOf<N>>>> {
    let mut out = vec![Vec::new(); usize::from(level) + 1];
    let entry = entry.map(|entry| look(nodes, entry, key)).transpose()?.flatten();
    let Some(entry) = entry else { return Ok(out) };
    let top = level.min(highest);
    let mut from = vec![descend(nodes, key, entry, (highest, top))?];
    let most = usize::from(ef_construction) + usize::from(but.is_some());
    for level in (0..=top).rev() {
        let found = nearest(nodes, key, &from, (most, level), &mut Visited::default(), None)?;
        let others: Vec<NearOf<N>> = found.iter().filter(|near| Some(near.id) != but).copied().collect();
        out[usize::from(level)] = choose(nodes, &others, crate::format::width(m, level))?;
        if !found.is_empty() {
            from = found;
        }
    }
    Ok(out)
}

/// Which of a node's links, all of which are in use, gives its place to a new node: none if the new one is worth least. `all`: what they lead to, at its distance from that node, with
/// the new one. Those stay that lie in different directions.
pub(crate) fn least_worth<N: Nodes>(
    nodes: &N,
    mut all: Vec<NearOf<N>>,
    new: N::Id,
) -> IndexResult<Option<N::Id>> {
    all.sort();
    let kept = choose(nodes, &all, all.len() - 1)?;
    let is_kept = |id: N::Id| kept.iter().any(|near| near.id == id);
    if !is_kept(new) {
        return Ok(None);
    }
    Ok(all.iter().map(|near| near.id).find(|id| !is_kept(*id)))
}
