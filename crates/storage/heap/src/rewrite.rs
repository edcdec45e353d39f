//! # What
//! Writing a table anew, for VACUUM FULL and CLUSTER: every version that somebody may still see goes to an empty file, in the order that
//! the caller wants.
//!
//! # Invariants
//! 1. Versions keep their xids and command ids, unless everybody sees them: a snapshot older than the rewrite sees in the new file what
//!    it saw in the old one.
//! 2. A version that was updated is written when its successor's place is known, and points there. Should the successor not be copied,
//!    it points to itself.
//! 3. No version of the new file is heap-only: its indexes are built from nothing.
//!
//! # Locks
//! The caller holds ACCESS EXCLUSIVE on the table. Pages of the old file are latched shared, one at a time; nobody else knows the new file.
//!
//! # WAL and crash
//! Every page goes out full, as an image. The new file is the transaction's own until its commit.
//!
//! # PostgreSQL counterpart and differences
//! `rewriteheap.c`, `heapam_relation_copy_for_cluster`. Values in the TOAST table stay where they are: that table is rewritten in the same
//! way, afterwards. Values of dropped columns go, unless they lie there. Columns that a row does not store, and that are not NULL, are stored from then on.

use base::{BlockNo, Fork, PAGE_SIZE, Tid, Xid};
use buffer::{PageChange, WalAction};
use page::{LpFlags, PageBytes};
use rustc_hash::{FxHashMap, FxHashSet};
use tuple::Datum;
use wal::Rmgr;

use crate::error::{HeapError, HeapResult};
use crate::fetch::heap_tag;
use crate::header::{Bases, HEADER_LEN, Header, MOVED, form_tuple, infomask, infomask2};
use crate::insert::InsertOptions;
use crate::ops;
use crate::prune::reserve;
use crate::records::info;
use crate::rel::{Access, HeapRel, Writer};
use crate::row::{HeapTuple, TupleRef};
use crate::toast;
use crate::visibility::{Fate, Judge, ender, is_removable};

/// What a rewrite met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteStats {
    /// Versions written that are not dead.
    pub live: u64,
    /// Dead versions written, for old snapshots.
    pub recently_dead: u64,
    /// Versions left behind.
    pub removed: u64,
    /// Pages written.
    pub pages: u32,
}

/// A version and the xid that inserted it: which row it is, in the old file.
type Place = (Xid, Tid);

/// A version on its way.
struct Version {
    from: Tid,
    header: Header,
    bytes: Vec<u8>,
    /// Where it points in the new file, or [`MOVED`]; itself if none.
    next: Option<Tid>,
}

/// The new file being filled.
pub struct Rewriter<'a> {
    access: Access<'a>,
    old: &'a HeapRel,
    new: &'a HeapRel,
    /// The transaction that rewrites: pages' bases are around it.
    xid: Xid,
    /// Columns whose values are not wanted any more.
    dropped: Vec<usize>,
    page: Box<PageBytes>,
    /// Versions whose successor has no place yet, by that.
    waiting: FxHashMap<Place, Version>,
    /// Successors whose predecessor has not come yet.
    placed: FxHashMap<Place, Tid>,
    stats: RewriteStats,
}

impl<'a> Rewriter<'a> {
    /// From `old` to `new`, whose file is empty. `dropped`: positions of dropped columns.
    pub fn new(
        access: Access<'a>,
        (old, new): (&'a HeapRel, &'a HeapRel),
        xid: Xid,
        dropped: Vec<usize>,
    ) -> Rewriter<'a> {
        let page = Box::new([0; PAGE_SIZE]);
        let (waiting, placed, stats) = Default::default();
        Rewriter { access, old, new, xid, dropped, page, waiting, placed, stats }
    }

    /// Copies all versions in the order in which they lie; after each, tells where that was. `writer` writes large values.
    pub fn copy_all(&mut self, writer: &Writer<'_>, progress: &mut dyn FnMut(Tid)) -> HeapResult<()> {
        let (access, old) = (self.access, self.old);
        each_place(&access, old, &mut |tid| {
            self.copy(writer, tid)?;
            progress(tid);
            Ok(())
        })
    }

    /// Copies one version from the old file, if any snapshot may still see it.
    pub fn copy(&mut self, writer: &Writer<'_>, tid: Tid) -> HeapResult<()> {
        let mut tuple = HeapTuple::new();
        let Some((mut header, fate)) = read(&self.access, self.old, tid, &mut tuple)? else { return Ok(()) };
        if header.multi().is_some() {
            // Nobody else holds rows of the table: only who updated the version still matters.
            header.raw_xmax = ender(self.access.txns, &header)?;
            header.infomask &= !infomask::XMAX_IS_MULTI;
        }
        if is_gone(&self.access, self.old, fate) {
            self.stats.removed += 1;
            return Ok(());
        }
        match fate {
            Fate::Dead(_) => self.stats.recently_dead += 1,
            _ => self.stats.live += 1,
        }
        let bytes = self.reformed(writer, &tuple)?;
        let mut version = Version { from: tid, header: flags_of(&header, &bytes), bytes, next: None };
        let successor = self.settle(&mut version.header, fate, tid);
        if version.header.ctid == MOVED && !version.header.xmax_invalid() {
            version.next = Some(MOVED);
        }
        if let Some(place) = successor {
            match self.placed.remove(&place) {
                Some(next) => version.next = Some(next),
                None => {
                    self.waiting.insert(place, version);
                    return Ok(());
                }
            }
        }
        self.place(version)
    }

    /// The header as it is to be written. Returns the version that follows, if it was updated.
    fn settle(&self, header: &mut Header, fate: Fate, tid: Tid) -> Option<Place> {
        let (txns, kind) = (self.access.txns, self.old.desc.kind);
        header.infomask2 &= !(infomask2::HEAP_ONLY | infomask2::HOT_UPDATED);
        let inserted = !matches!(fate, Fate::InsertInProgress | Fate::DeleteInProgress)
            || header.xmin_hinted_committed();
        if inserted && is_removable(txns, kind, header.xmin()) {
            header.infomask |= infomask::XMIN_FROZEN;
        }
        match fate {
            Fate::Live | Fate::InsertInProgress => {
                header.raw_xmax = Xid::INVALID;
                header.infomask = header.infomask & !infomask::XMAX_BITS | infomask::XMAX_INVALID;
                header.infomask2 &= !infomask2::XMAX_BITS;
                return None;
            }
            Fate::Dead(xmax) => header.raw_xmax = xmax,
            Fate::DeleteInProgress => {}
        }
        (header.ctid != tid && header.ctid != MOVED).then_some((header.raw_xmax, header.ctid))
    }

    /// The version's bytes: with the columns that it lacks, without values of dropped columns.
    fn reformed(&self, writer: &Writer<'_>, tuple: &HeapTuple) -> HeapResult<Vec<u8>> {
        let found = self.tuple(tuple)?;
        let layout = &self.old.desc.layout;
        let lacks = layout.lacks(found.columns());
        if !lacks && !self.dropped.iter().any(|&column| column < found.columns()) {
            return Ok(found.bytes().to_vec());
        }
        let columns = if lacks { layout.len() } else { found.columns() };
        let (mut values, mut bytes) = (Vec::with_capacity(columns), Vec::new());
        found
            .decode(layout, columns, &mut values)
            .map_err(|_| corrupt(self.old, found.tid, "row does not fit its columns"))?;
        for &column in &self.dropped {
            if let Some(value) = values.get_mut(column).filter(|value| !matches!(value, Datum::Toasted(_))) {
                *value = Datum::Null;
            }
        }
        if lacks {
            let own: Vec<_> = values.iter().filter_map(toast::as_external).collect();
            let shorter =
                toast::shrink(&self.access, self.old, writer, &values, Some(&own), InsertOptions::default())?;
            values = shorter.unwrap_or(values);
        }
        form_tuple(layout, &values, &mut bytes);
        Ok(bytes)
    }

    fn tuple<'t>(&self, tuple: &'t HeapTuple) -> HeapResult<TupleRef<'t>> {
        tuple.get().ok_or_else(|| corrupt(self.old, tuple.tid, "line pointer leads to no tuple"))
    }

    /// Writes a version, then those that waited for it.
    fn place(&mut self, mut version: Version) -> HeapResult<()> {
        loop {
            let header = version.header;
            let from = (header.raw_xmin, version.from);
            let at = self.put(version)?;
            if header.infomask & infomask::UPDATED == 0 || header.xmin_frozen() {
                return Ok(());
            }
            let Some(mut earlier) = self.waiting.remove(&from) else {
                self.placed.insert(from, at);
                return Ok(());
            };
            earlier.next = Some(at);
            version = earlier;
        }
    }

    fn put(&mut self, mut version: Version) -> HeapResult<Tid> {
        let len = page::align8(version.bytes.len());
        if page::is_new(&self.page) {
            ops::init_page(&mut self.page, self.xid);
        } else if page::max_offset(&self.page) > 0 && ops::room(&self.page) < len + reserve(self.new) {
            self.write_page()?;
            ops::init_page(&mut self.page, self.xid);
        }
        let bases = Bases::of(&self.page);
        if version.header.xmin_frozen() && !bases.fits(version.header.raw_xmin) {
            version.header.raw_xmin = Xid::FROZEN;
        }
        let block = BlockNo(self.stats.pages);
        let done = ops::put_version(&mut self.page, block, &mut version.bytes, version.header, version.next);
        let offset = done.map_err(|_| corrupt(self.old, version.from, "row version cannot be copied"))?;
        Ok(Tid::new(block, offset))
    }

    fn write_page(&mut self) -> HeapResult<()> {
        let (pool, desc) = (self.access.pool, &self.new.desc);
        pool.admit(desc.persistence)?;
        let mut page = pool.extend(desc.file, Fork::Main, desc.persistence)?;
        let block = page.tag().block;
        if block.0 != self.stats.pages {
            return Err(corrupt(self.new, Tid::new(block, 0), "file to be filled is not empty"));
        }
        page.copy_from_slice(&self.page[..]);
        let mut action = WalAction::for_relation(pool, desc.persistence, Rmgr::Heap, info::REWRITE, self.xid);
        action.page(&mut page, PageChange { force_image: true, ..PageChange::default() });
        action.commit();
        self.stats.pages += 1;
        self.page.fill(0);
        Ok(())
    }

    /// Writes what is left: versions whose successors were not copied, and those before them. The file is then complete.
    pub fn finish(mut self) -> HeapResult<RewriteStats> {
        let known: FxHashSet<Place> =
            self.waiting.values().map(|version| (version.header.raw_xmin, version.from)).collect();
        let ends: Vec<Place> = self.waiting.keys().filter(|place| !known.contains(place)).copied().collect();
        for end in ends {
            if let Some(version) = self.waiting.remove(&end) {
                self.place(version)?;
            }
        }
        for (_, version) in std::mem::take(&mut self.waiting) {
            self.put(version)?;
        }
        if !page::is_new(&self.page) {
            self.write_page()?;
        }
        Ok(self.stats)
    }
}

/// The header, with the flags and the length of the bytes that it goes with.
fn flags_of(header: &Header, bytes: &[u8]) -> Header {
    const FORM: u16 = infomask::HAS_NULL | infomask::HAS_VARLENA | infomask::HAS_EXTERNAL;
    let Some(formed) = Header::read(bytes, Bases::default()) else { return *header };
    Header {
        infomask: header.infomask & !FORM | formed.infomask & FORM,
        infomask2: header.infomask2 & !infomask2::COLUMNS | formed.infomask2 & infomask2::COLUMNS,
        hoff: formed.hoff,
        ..*header
    }
}

/// Calls `visit` with every version that a rewrite would copy now.
pub fn each_version(
    access: &Access<'_>,
    rel: &HeapRel,
    visit: &mut dyn FnMut(&TupleRef<'_>) -> HeapResult<()>,
) -> HeapResult<()> {
    let mut tuple = HeapTuple::new();
    each_place(access, rel, &mut |tid| {
        let Some((_, fate)) = read(access, rel, tid, &mut tuple)? else { return Ok(()) };
        match tuple.get() {
            Some(found) if !is_gone(access, rel, fate) => visit(&found),
            _ => Ok(()),
        }
    })
}

fn each_place(
    access: &Access<'_>,
    rel: &HeapRel,
    visit: &mut dyn FnMut(Tid) -> HeapResult<()>,
) -> HeapResult<()> {
    for block in 0..access.pool.nblocks(rel.desc.file, Fork::Main)? {
        runtime::check_interrupts()?;
        let block = BlockNo(block);
        let last = page::max_offset(&access.pool.read(heap_tag(rel, block))?.shared());
        (1..=last).try_for_each(|offset| visit(Tid::new(block, offset)))?;
    }
    Ok(())
}

/// Copies the version at a place, and tells what has become of it; `None` if there is none.
fn read(
    access: &Access<'_>,
    rel: &HeapRel,
    tid: Tid,
    out: &mut HeapTuple,
) -> HeapResult<Option<(Header, Fate)>> {
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let page = pin.shared();
    if page::line_pointer(&page, tid.offset).is_none_or(|lp| lp.flags != LpFlags::Normal) {
        return Ok(None);
    }
    let bases = Bases::of(&page);
    let bytes = page::item(&page, tid.offset).filter(|bytes| bytes.len() >= HEADER_LEN);
    let Some((bytes, mut header)) = bytes.and_then(|bytes| Some((bytes, Header::read(bytes, bases)?))) else {
        return Err(corrupt(rel, tid, "line pointer leads to no tuple"));
    };
    out.fill(tid, bases, bytes);
    let fate = Judge { txns: access.txns, page: &page }.for_vacuum(tid.offset, &mut header)?;
    Ok(Some((header, fate)))
}

/// Whether nobody can need a version any more.
fn is_gone(access: &Access<'_>, rel: &HeapRel, fate: Fate) -> bool {
    matches!(fate, Fate::Dead(xmax) if is_removable(access.txns, rel.desc.kind, xmax))
}

fn corrupt(rel: &HeapRel, tid: Tid, what: &'static str) -> HeapError {
    HeapError::Corrupt { rel: rel.desc.file, block: tid.block, offset: tid.offset, what }
}
