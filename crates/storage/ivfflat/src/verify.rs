//! Checking an index: every list, every page of it, every entry; of a still index also that entries are in the list whose centre is nearest, that there are as many lists as block 0 says, and
//! that no page has two places.

use std::collections::HashSet;

use base::{BlockNo, Fork};
use index::{Access, EntryCheck, IndexResult, Pages, VerifyOptions};
use tuple::Datum;

use crate::format::{ENTRIES, META, Opaque, items, read_entry};
use crate::lists::{self, List};
use crate::rel::IvfflatRel;

/// Checks the index.
pub(crate) fn verify(
    access: &Access<'_>,
    rel: &IvfflatRel,
    options: VerifyOptions,
    mut each: Option<EntryCheck<'_>>,
) -> IndexResult<()> {
    let mut lists = lists::all(access, rel, Ok)?;
    let meta = rel.meta(access)?;
    if options.still {
        rel.ensure(META, meta.lists as usize == lists.len(), "the number of lists is wrong")?;
    }
    let mut met: HashSet<BlockNo> = lists.iter().map(|list| list.at.0).collect();
    let pages = access.pool.nblocks(rel.desc.file, Fork::Main)?;
    for at in 0..lists.len() {
        let List { number, head, .. } = lists[at].clone();
        let (mut block, mut has_room) = (head.first, false);
        while block != META {
            rel.ensure(block, met.insert(block), "a page has two places")?;
            has_room |= block == head.room;
            let page = rel.copy(access.pool, block)?;
            let opaque = rel.check(block, Opaque::read_of(&page, ENTRIES, number))?;
            for item in items(&page) {
                let (_, item) = rel.check(block, item)?;
                let (tid, key) = rel.check(block, read_entry(item))?;
                let key = Datum::Bytes(key.to_vec().into());
                if options.root_descend {
                    let here = lists[at].distance(rel, &key)?;
                    let nearest = lists::nearest(rel, &mut lists, &key)?;
                    let least = nearest.map_or(Ok(here), |list| list.distance(rel, &key))?;
                    rel.ensure(block, least >= here, "an entry is not in the nearest list")?;
                }
                if let Some(each) = each.as_mut() {
                    each(tid, &[key])?;
                }
            }
            block = opaque.next;
        }
        rel.ensure(lists[at].at.0, has_room || head.room == META, "new entries go to another list's page")?;
    }
    if !options.still {
        return Ok(());
    }
    for block in (1..pages).map(BlockNo).filter(|block| !met.contains(block)) {
        // A page that was added when the server stopped is in no list.
        let page = rel.copy(access.pool, block)?;
        rel.ensure(block, page::is_new(&page), "page is in no list")?;
    }
    Ok(())
}
