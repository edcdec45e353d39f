//! VACUUM: entries of rows that are gone leave their pages, and new ones go where there is room again.

use base::{BlockNo, Fork, Tid};
use index::changes::{Change, Changes};
use index::{Access, IndexError, IndexResult, Manner, Pages, VacuumStats};

use crate::format::{ENTRIES, META, Opaque, items, read_entry};
use crate::lists::{self, List};
use crate::rel::IvfflatRel;

/// One VACUUM's work. Without `is_dead` entries are only counted.
pub(crate) fn pass(
    access: &Access<'_>,
    rel: &IvfflatRel,
    mut is_dead: Option<&mut dyn FnMut(Tid) -> bool>,
    manner: &mut Manner<'_>,
) -> IndexResult<VacuumStats> {
    let mut stats = VacuumStats::default();
    let all = lists::all(access, rel, |list| Ok(List { centre: None, ..list }))?;
    for list in all {
        let (mut block, mut room) = (list.head.first, None);
        while block != META {
            (manner.pause)().map_err(IndexError::Interrupted)?;
            access.pool.admit(rel.desc.persistence)?;
            let (removed, next) = clean(access, rel, (block, list.number), &mut is_dead, &mut stats)?;
            if removed && room.is_none() {
                room = Some(block);
            }
            block = next;
        }
        if let Some(room) = room {
            lists::set_room(access, rel, &list, room)?;
        }
    }
    stats.pages = access.pool.nblocks(rel.desc.file, Fork::Main)?;
    Ok(stats)
}

/// Cleans a page; whether something went, and the page behind it.
fn clean(
    access: &Access<'_>,
    rel: &IvfflatRel,
    (block, list): (BlockNo, u16),
    is_dead: &mut Option<&mut dyn FnMut(Tid) -> bool>,
    stats: &mut VacuumStats,
) -> IndexResult<(bool, BlockNo)> {
    let mut page = rel.exclusive(access.pool, block)?;
    let opaque = rel.check(block, Opaque::read_of(&page, ENTRIES, list))?;
    let mut dead = Vec::new();
    for item in items(&page) {
        let (n, item) = rel.check(block, item)?;
        let (tid, _) = rel.check(block, read_entry(item))?;
        match is_dead.as_mut().is_some_and(|is_dead| is_dead(tid)) {
            true => dead.push(n),
            false => stats.tuples += 1,
        }
    }
    if dead.is_empty() {
        return Ok((false, opaque.next));
    }
    stats.tuples_removed += dead.len() as u64;
    let mut changes = Changes::default();
    changes.remove(&dead);
    rel.change(access, &mut [Change { page: &mut page, changes, new: false }])?;
    Ok((true, opaque.next))
}
