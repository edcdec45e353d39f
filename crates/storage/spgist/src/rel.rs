//! An open index, what its changes share, and how its pages are reached.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use base::{BlockNo, Xid};
use buffer::WalAction;
use index::bytes::Check;
use index::{Access, FreeList, IndexDesc, IndexResult, Pages, PerIndex, SpaceClass, Unused};
use page::PageBytes;
use wal::Rmgr;

use crate::format::{FIRST, FREE, HEAD, Item, Place, ROOM, item, items, special};
use crate::ops;
use crate::redo::Kind;

const DEFAULT_FILLFACTOR: usize = 80;
/// Pages with room that are remembered.
const MOST_HINTS: usize = 32;

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct SpgistRel {
    /// The description.
    pub desc: IndexDesc,
    /// Bytes of a page that stay free for what grows there.
    pub(crate) reserve: usize,
    structure: OnceLock<Arc<runtime::Mutex<Structure>>>,
}

/// What whoever changes several pages has alone.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    /// Pages that may have room, and how much. It may be wrong.
    pub hints: Vec<(BlockNo, usize)>,
    /// While a VACUUM runs: pages that entries have come to or gone from.
    pub watched: Option<BTreeSet<BlockNo>>,
}

impl Structure {
    /// Notes how much room a page has.
    pub fn note(&mut self, block: BlockNo, room: usize) {
        self.hints.retain(|(known, _)| *known != block);
        if block.0 < FIRST || room < ROOM / 16 {
            return;
        }
        if self.hints.len() >= MOST_HINTS
            && let Some(least) = (0..self.hints.len()).min_by_key(|&i| self.hints[i].1)
        {
            if self.hints[least].1 >= room {
                return;
            }
            self.hints.swap_remove(least);
        }
        self.hints.push((block, room));
    }

    /// Notes that entries have come to a page, or gone from it.
    pub fn moved(&mut self, block: BlockNo) {
        if let Some(watched) = &mut self.watched {
            watched.insert(block);
        }
    }
}

static STRUCTURES: PerIndex<runtime::Mutex<Structure>> = PerIndex::new();

impl SpgistRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> SpgistRel {
        let reserve = ROOM * (100 - desc.fillfactor(DEFAULT_FILLFACTOR)) / 100;
        SpgistRel { reserve, desc, structure: OnceLock::new() }
    }

    /// Whoever changes several pages locks this before he latches any.
    pub(crate) fn structure(&self, access: &Access<'_>) -> &runtime::Mutex<Structure> {
        self.structure.get_or_init(|| STRUCTURES.of(access, self.desc.file))
    }

    /// The operator class.
    pub(crate) fn class(&self) -> &'static dyn SpaceClass {
        self.desc.spaces[0]
    }

    /// What is at a place of the tree.
    pub(crate) fn item<'p>(&self, place: Place, page: &'p PageBytes) -> IndexResult<Item<'p>> {
        self.check(place.block, special(page))?;
        let found = self.check(place.block, item(page, place.item))?;
        found.ok_or_else(|| self.corrupt(place.block, "a link leads to no item"))
    }

    /// A record about this index.
    pub(crate) fn action<'a>(&self, access: &Access<'a>, kind: Kind) -> WalAction<'a> {
        WalAction::for_relation(access.pool, self.desc.persistence, Rmgr::Spgist, kind as u8, access.xid)
    }
}

impl FreeList for SpgistRel {
    const HEAD: BlockNo = HEAD;
    const TAKE: u8 = Kind::TakeFree as u8;
    const PUT: u8 = Kind::PutFree as u8;

    fn first_free(&self, head: &PageBytes) -> IndexResult<BlockNo> {
        Ok(self.check(HEAD, special(head))?.1)
    }

    fn set_first_free(head: &mut PageBytes, first: BlockNo) -> Check<()> {
        ops::set_free(head, first)
    }

    /// A page without items is out of use: the redirects that led away from it went when nobody needed them.
    fn unused(&self, block: BlockNo, page: &PageBytes) -> IndexResult<Unused> {
        let (flags, next) = self.check(block, special(page))?;
        let deleted = block.0 >= FIRST && items(page).next().is_none();
        Ok(Unused { deleted, free: flags & FREE != 0, safe: Xid::INVALID, next })
    }

    fn mark_free(page: &mut PageBytes, next: BlockNo) -> Check<()> {
        ops::mark_free(page, next)
    }

    fn unmark_free(page: &mut PageBytes) -> Check<()> {
        ops::unmark_free(page)
    }

    fn blob(page: &PageBytes) -> Check<Vec<u8>> {
        Ok(special(page)?.1.0.to_le_bytes().to_vec())
    }

    fn restore(page: &mut PageBytes, blob: &[u8]) -> Check<()> {
        let next = index::bytes::Reader(blob).block()?;
        ops::init(page);
        crate::format::set_special(page, FREE, next);
        Ok(())
    }
}
