//! Checking a graph: every item is sound; of a still index also that links of live nodes, and the entry, name nodes which are not free, and that the list of free nodes has just these.

use std::collections::HashSet;

use base::{BlockNo, Fork};
use index::{Access, EntryCheck, IndexResult, Pages, VerifyOptions};
use tuple::Datum;

use crate::format::{FREE, Head, LIVE, META, Pointer};
use crate::graph::Graph;
use crate::insert::FIRST_PAGE;
use crate::rel::HnswRel;

/// Checks the index.
pub(crate) fn verify(
    access: &Access<'_>,
    rel: &HnswRel,
    options: VerifyOptions,
    mut each: Option<EntryCheck<'_>>,
) -> IndexResult<()> {
    let graph = Graph::open(access, rel)?;
    let mut slots = Vec::new();
    let (mut in_use, mut free, mut linked) = (HashSet::new(), HashSet::new(), Vec::new());
    for block in FIRST_PAGE.0..access.pool.nblocks(rel.desc.file, Fork::Main)? {
        let block = BlockNo(block);
        let page = rel.copy(access.pool, block)?;
        if page::is_new(&page) {
            continue;
        }
        for n in 1..=page::max_offset(&page) {
            let item = rel.check(block, page::item(&page, n).ok_or("line pointer names no item"))?;
            let Some((head, key)) = rel.check(block, Head::read(item))? else { continue };
            let at = Pointer { block, item: n };
            if head.state == FREE {
                free.insert(at);
                continue;
            }
            in_use.insert(at);
            if head.state != LIVE {
                continue;
            }
            for level in 0..=head.level {
                graph.slots(&head, level, &mut slots)?;
                linked.extend(slots.iter().map(|to| (block, *to)));
            }
            if let Some(each) = each.as_mut() {
                each(head.tid, &[Datum::Bytes(key.to_vec().into())])?;
            }
        }
    }
    if !options.still {
        return Ok(());
    }
    for (block, to) in linked {
        rel.ensure(block, to.is_none() || in_use.contains(&to), "a link names no node in use")?;
    }
    let entry = graph.meta.entry;
    let begins = if entry.is_none() { in_use.is_empty() } else { in_use.contains(&entry) };
    rel.ensure(META, begins, "searches do not begin at a node in use")?;
    free_nodes(&graph, free)
}

fn free_nodes(graph: &Graph<'_>, mut free: HashSet<Pointer>) -> IndexResult<()> {
    let mut next = graph.meta.free;
    while !next.is_none() {
        graph.rel.ensure(META, free.remove(&next), "the list of free nodes has one that is in use")?;
        let head = graph.head(next)?;
        next = graph.rel.check(next.block, head.ok_or("a free node is missing"))?.next_free;
    }
    graph.rel.ensure(META, free.is_empty(), "a free node is not on the list")
}
