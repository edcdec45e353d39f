//! VACUUM: nodes of rows that are gone become dead, all links to them are replaced, then they become free.

use std::collections::HashSet;

use base::{BlockNo, Tid};
use buffer::Pin;
use index::changes::{Change, Changes};
use index::{Access, IndexError, IndexResult, Manner, Pages, VacuumStats, each_block};

use crate::format::{DEAD, FREE, Head, LIVE, META, NEXT_FREE_AT, Pointer, STATE_AT};
use crate::graph::Graph;
use crate::insert::{FIRST_PAGE, set_links};
use crate::rel::HnswRel;
use crate::search::Nodes;

/// What a pass over all nodes has seen.
#[derive(Default)]
struct Seen {
    stats: VacuumStats,
    dead: HashSet<Pointer>,
    /// The live node that is highest.
    highest: Option<(u8, Pointer)>,
}

/// One VACUUM's work. Without `is_dead` nodes are only counted.
pub(crate) fn pass(
    access: &Access<'_>,
    rel: &HnswRel,
    is_dead: Option<&mut dyn FnMut(Tid) -> bool>,
    manner: &mut Manner<'_>,
) -> IndexResult<VacuumStats> {
    let mut seen = Seen::default();
    let (only_counts, mut nobody) = (is_dead.is_none(), |_| false);
    let is_dead = is_dead.unwrap_or(&mut nobody);
    let pages = each_block(access, &rel.desc, FIRST_PAGE.0, manner, |pin| {
        mark(access, rel, pin, is_dead, &mut seen)
    })?;
    seen.stats.pages = pages;
    if seen.dead.is_empty() || only_counts {
        return Ok(seen.stats);
    }
    replace_entry(access, rel, &seen)?;
    let mut referring = Vec::new();
    each_block(access, &rel.desc, FIRST_PAGE.0, manner, |pin| {
        refer(access, rel, &pin, &seen.dead, &mut referring)
    })?;
    for node in referring {
        (manner.pause)().map_err(IndexError::Interrupted)?;
        repair(access, rel, node, &seen.dead)?;
    }
    for node in &seen.dead {
        (manner.pause)().map_err(IndexError::Interrupted)?;
        release(access, rel, *node)?;
    }
    Ok(seen.stats)
}

/// The nodes of a page.
fn nodes(rel: &HnswRel, block: BlockNo, page: &page::PageBytes) -> IndexResult<Vec<(Pointer, Head)>> {
    let mut out = Vec::new();
    for n in 1..=page::max_offset(page) {
        let item = rel.check(block, page::item(page, n).ok_or("line pointer names no item"))?;
        if let Some((head, _)) = rel.check(block, Head::read(item))? {
            out.push((Pointer { block, item: n }, head));
        }
    }
    Ok(out)
}

/// Makes the nodes of a page dead whose rows are. Nobody is entering a row meanwhile, so that no link to them is made any more.
fn mark(
    access: &Access<'_>,
    rel: &HnswRel,
    pin: Pin,
    is_dead: &mut dyn FnMut(Tid) -> bool,
    seen: &mut Seen,
) -> IndexResult<()> {
    let _alone = rel.structure(access).write();
    let block = pin.tag().block;
    let mut page = pin.into_exclusive();
    if page::is_new(&page) {
        return Ok(());
    }
    let mut changes = Changes::default();
    for (at, head) in nodes(rel, block, &page)? {
        match head.state {
            LIVE if is_dead(head.tid) => {
                changes.patch(at.item, STATE_AT, &[DEAD]);
                seen.dead.insert(at);
                seen.stats.tuples_removed += 1;
            }
            LIVE => {
                seen.stats.tuples += 1;
                seen.highest = seen.highest.max(Some((head.level, at)));
            }
            DEAD => _ = seen.dead.insert(at),
            _ => {}
        }
    }
    if changes.0.is_empty() {
        return Ok(());
    }
    rel.change(access, &mut [Change { page: &mut page, changes, new: false }])
}

/// Searches begin at a live node.
fn replace_entry(access: &Access<'_>, rel: &HnswRel, seen: &Seen) -> IndexResult<()> {
    let _alone = rel.structure(access).write();
    let mut meta = rel.meta(access)?;
    if !seen.dead.contains(&meta.entry) {
        return Ok(());
    }
    (meta.level, meta.entry) = seen.highest.unwrap_or((0, Pointer::NONE));
    let mut first = rel.exclusive(access.pool, META)?;
    let mut changes = Changes::default();
    changes.patch(1, 0, &meta.bytes());
    rel.change(access, &mut [Change { page: &mut first, changes, new: false }])
}

/// Notes the live nodes of a page that have a link to a dead one.
fn refer(
    access: &Access<'_>,
    rel: &HnswRel,
    pin: &Pin,
    dead: &HashSet<Pointer>,
    out: &mut Vec<Pointer>,
) -> IndexResult<()> {
    let block = pin.tag().block;
    let all = {
        let page = pin.shared();
        if page::is_new(&page) {
            return Ok(());
        }
        nodes(rel, block, &page)?
    };
    let graph = Graph::open(access, rel)?;
    for (at, head) in all {
        if head.state == LIVE && refers(&graph, &head, dead)?.iter().any(|refers| *refers) {
            out.push(at);
        }
    }
    Ok(())
}

/// On which levels a node has a link to a dead one.
fn refers(graph: &Graph<'_>, head: &Head, dead: &HashSet<Pointer>) -> IndexResult<Vec<bool>> {
    let mut slots = Vec::new();
    let mut refers = |level| {
        graph.slots(head, level, &mut slots)?;
        Ok(slots.iter().any(|link| dead.contains(link)))
    };
    (0..=head.level).map(&mut refers).collect()
}

/// Gives a node other links where it has some to dead ones.
fn repair(access: &Access<'_>, rel: &HnswRel, at: Pointer, dead: &HashSet<Pointer>) -> IndexResult<()> {
    let _alone = rel.structure(access).write();
    let graph = Graph::open(access, rel)?;
    let Some((head, key)) = graph.read(at, |head, key| Ok((head, key.to_vec())))? else { return Ok(()) };
    if !graph.is_live(&head) {
        return Ok(());
    }
    let refers = refers(&graph, &head, dead)?;
    let chosen = graph.neighbours(&key, head.level, Some(at))?;
    for (level, (list, refers)) in (0..).zip(chosen.iter().zip(refers)) {
        if refers {
            set_links(&graph, &head, level, list)?;
        }
    }
    Ok(())
}

/// Puts a dead node on the list of free ones.
fn release(access: &Access<'_>, rel: &HnswRel, at: Pointer) -> IndexResult<()> {
    let _alone = rel.structure(access).write();
    let mut meta = rel.meta(access)?;
    let mut page = rel.exclusive(access.pool, at.block)?;
    let item = rel.check(at.block, page::item(&page, at.item).ok_or("node is missing"))?;
    let is_dead = rel.check(at.block, Head::read(item))?.is_some_and(|(head, _)| head.state == DEAD);
    if !is_dead || meta.entry == at {
        return Ok(());
    }
    let mut changes = Changes::default();
    changes.patch(at.item, STATE_AT, &[FREE]).patch(at.item, NEXT_FREE_AT, &meta.free.bytes());
    meta.free = at;
    let mut first = rel.exclusive(access.pool, META)?;
    let mut told = Changes::default();
    told.patch(1, 0, &meta.bytes());
    let mut pages = [
        Change { page: &mut first, changes: told, new: false },
        Change { page: &mut page, changes, new: false },
    ];
    rel.change(access, &mut pages)
}
