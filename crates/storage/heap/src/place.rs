//! # What
//! Finding a page with room for a new version: the worker's last page, then the free-space map, then the last page of the file, then a new one.
//!
//! # Locks
//! [`Placer::next`] is called with no latch held. The page it names is only a candidate: the caller latches it, looks, and comes back if
//! there is too little room. Whoever adds a page holds [`HeapRel::extension`]; others wait, and look into the map before they add more.
//!
//! # PostgreSQL counterpart and differences
//! `hio.c`. The last page used is remembered for each worker and not for each session.

use std::sync::atomic::Ordering;

use base::{BlockNo, Fork, MultiXactId};
use buffer::{ExclusivePage, PageChange, Pin, Tag, WalAction};
use page::PageBytes;
use txn::XidStatus;
use wal::Rmgr;

use base::Xid;

use crate::error::{HeapError, HeapResult};
use crate::fsm;
use crate::header::{Bases, Header, MAX_TUPLE, read_header};
use crate::ops::{self, RebasePlan};
use crate::prune::reserve;
use crate::records::{info, put_rebase};
use crate::rel::{Access, HeapRel};
use crate::visibility::{Judge, is_removable};

/// Most pages added at once when many want one.
const MAX_EXTEND: u32 = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Target,
    Map,
    LastPage,
    Extend,
}

/// The search for one tuple.
pub(crate) struct Placer<'a> {
    access: &'a Access<'a>,
    rel: &'a HeapRel,
    /// Bytes that the tuple takes, aligned.
    len: usize,
    /// Bytes to look for: the tuple, and what INSERT leaves free.
    need: usize,
    use_map: bool,
    stage: Stage,
    rejected: Option<(BlockNo, usize)>,
}

impl<'a> Placer<'a> {
    /// `len`: bytes of the tuple. `use_map`: look for room in old pages at all.
    pub fn new(
        access: &'a Access<'a>,
        rel: &'a HeapRel,
        len: usize,
        use_map: bool,
    ) -> HeapResult<Placer<'a>> {
        let len = page::align8(len);
        if len > MAX_TUPLE {
            return Err(HeapError::RowTooBig { size: len, max: MAX_TUPLE });
        }
        let stage = if use_map || rel.target_block().is_some() { Stage::Target } else { Stage::Extend };
        let need = (len + reserve(rel)).min(MAX_TUPLE);
        Ok(Placer { access, rel, len, need, use_map, stage, rejected: None })
    }

    /// Whether there is room for the tuple on a page. An empty page has it whatever the fill factor says.
    pub fn fits(&self, page: &PageBytes) -> bool {
        if page::is_new(page) {
            return true;
        }
        let room = ops::room(page);
        room >= self.need || page::max_offset(page) == 0 && room >= self.len
    }

    /// Whether the map has no page with room.
    pub fn has_left_map(&self) -> bool {
        self.stage == Stage::Extend
    }

    /// Tells why the last candidate was no good. Recorded in the map by the next call of [`Placer::next`].
    pub fn reject(&mut self, block: BlockNo, page: &PageBytes) {
        self.rejected = Some((block, if page::is_new(page) { MAX_TUPLE } else { ops::room(page) }));
    }

    /// The next candidate, pinned. No latch may be held.
    pub fn next(&mut self) -> HeapResult<Pin> {
        let (access, file) = (self.access, self.rel.desc.file);
        if let Some((block, room)) = self.rejected.take() {
            fsm::record(access, self.rel, block, room)?;
        }
        let read = |block| Ok(access.pool.read(Tag { rel: file, fork: Fork::Main, block })?);
        loop {
            runtime::check_interrupts()?;
            match self.stage {
                Stage::Target => {
                    self.stage = if self.use_map { Stage::Map } else { Stage::Extend };
                    let nblocks = access.pool.nblocks(file, Fork::Main)?;
                    if let Some(block) = self.rel.target_block().filter(|block| block.0 < nblocks) {
                        return read(block);
                    }
                }
                Stage::Map => match self.mapped_page()? {
                    Some(pin) => return Ok(pin),
                    None => self.stage = Stage::LastPage,
                },
                Stage::LastPage => {
                    self.stage = Stage::Extend;
                    let nblocks = access.pool.nblocks(file, Fork::Main)?;
                    if nblocks > 0 {
                        return read(BlockNo(nblocks - 1));
                    }
                }
                Stage::Extend => return self.extend(),
            }
        }
    }

    /// Adds a page, and one for each of those who wait to do the same: they find theirs in the map when their turn comes.
    fn extend(&mut self) -> HeapResult<Pin> {
        let (pool, desc) = (self.access.pool, &self.rel.desc);
        let _turn = match self.rel.extension.try_lock() {
            Some(turn) => turn,
            None => {
                self.rel.extending.fetch_add(1, Ordering::Relaxed);
                let turn = self.rel.extension.lock();
                self.rel.extending.fetch_sub(1, Ordering::Relaxed);
                if self.use_map
                    && let Some(pin) = self.mapped_page()?
                {
                    return Ok(pin);
                }
                turn
            }
        };
        let add = || {
            let mut page = pool.extend(desc.file, Fork::Main, desc.persistence)?;
            page.mark_dirty();
            Ok::<_, HeapError>(page.into_pin())
        };
        let waiting = if self.use_map { self.rel.extending.load(Ordering::Relaxed) } else { 0 };
        for _ in 0..waiting.min(MAX_EXTEND) {
            let block = add()?.tag().block;
            fsm::record(self.access, self.rel, block, MAX_TUPLE)?;
        }
        add()
    }

    /// A page that the map says has room.
    fn mapped_page(&self) -> HeapResult<Option<Pin>> {
        let (pool, rel) = (self.access.pool, self.rel.desc.file);
        let nblocks = pool.nblocks(rel, Fork::Main)?;
        match fsm::search(self.access, self.rel, self.need, nblocks)? {
            Some(block) => Ok(Some(pool.read(Tag { rel, fork: Fork::Main, block })?)),
            None => Ok(None),
        }
    }
}

/// Makes sure that `xid` fits a page's base; see [`Bases`]. Old xids are frozen as needed, in a WAL action of its own.
pub(crate) fn make_fit(
    access: &Access<'_>,
    rel: &HeapRel,
    page: &mut ExclusivePage<'_>,
    xid: Xid,
) -> HeapResult<()> {
    let bases = Bases::of(page);
    if page::is_new(page) || bases.fits(xid) {
        return Ok(());
    }
    rebase(access, rel, page, Bases { xid: Bases::around(xid).xid, ..bases })
}

/// Makes sure that a multixact fits a page's base.
pub(crate) fn make_multi_fit(
    access: &Access<'_>,
    rel: &HeapRel,
    page: &mut ExclusivePage<'_>,
    multi: MultiXactId,
) -> HeapResult<()> {
    let bases = Bases::of(page);
    if page::is_new(page) || bases.fits_multi(multi) {
        return Ok(());
    }
    rebase(access, rel, page, Bases { multi: Bases::multi_around(multi), ..bases })
}

fn rebase(access: &Access<'_>, rel: &HeapRel, page: &mut ExclusivePage<'_>, bases: Bases) -> HeapResult<()> {
    let plan = plan_rebase(access, rel, page, bases)?;
    let mut data = Vec::new();
    put_rebase(&mut data, &plan);
    let tag = page.tag();
    ops::rebase(page, &plan).map_err(|_| HeapError::Corrupt {
        rel: tag.rel,
        block: tag.block,
        offset: 0,
        what: "transaction or multixact ids on the page are too far apart",
    })?;
    let mut action =
        WalAction::for_relation(access.pool, rel.desc.persistence, Rmgr::Heap, info::REBASE, Xid::INVALID);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &data);
    action.commit();
    Ok(())
}

fn plan_rebase(
    access: &Access<'_>,
    rel: &HeapRel,
    page: &mut ExclusivePage<'_>,
    bases: Bases,
) -> HeapResult<RebasePlan> {
    let (txns, kind) = (access.txns, rel.desc.kind);
    let mut plan = RebasePlan { bases, ..RebasePlan::default() };
    for n in 1..=page::max_offset(page) {
        let Some(mut header): Option<Header> = read_header(page, n) else { continue };
        let mut judge = Judge { txns, page: &mut *page };
        if !bases.fits(header.raw_xmin) {
            match judge.inserter(n, &mut header)? {
                XidStatus::Aborted => plan.xmin_aborted.push(n),
                XidStatus::Committed if is_removable(txns, kind, header.raw_xmin) => plan.frozen.push(n),
                _ => {}
            }
        }
        if !bases.fits_xmax(header.raw_xmax, header.infomask) {
            match judge.holders(n, &mut header)?.as_slice() {
                [] => plan.xmax_cleared.push(n),
                [only] if only.committed && is_removable(txns, kind, only.member.xid) => {
                    plan.xmax_frozen.push(n)
                }
                _ => {}
            }
        }
    }
    Ok(plan)
}
