//! # What
//! Rows of several pages at once: of each page those at given places are judged together, and copied one behind the other. For who has a
//! list of places in order, and wants many rows in one piece of memory.
//!
//! # Invariants
//! 1. All bytes have a place below 2^16, as a [`RowPlace`] needs: a page is added only while there is room for all of it.
//! 2. The rows come in the order in which pages and places were given; each of those that the view sees once.
//!
//! # Locks
//! One heap page, shared, within [`GatheredRows::add`]; none between calls.
//!
//! # PostgreSQL counterpart and differences
//! `heapam_scan_bitmap_next_block`, which goes page by page.

use std::sync::Arc;

use base::{BlockNo, OffsetNo, PAGE_SIZE, Tid};
use buffer::Pin;
use page::{LpFlags, PageBytes};
use tuple::RowPlace;

use crate::error::{HeapError, HeapResult};
use crate::fetch::find_on;
use crate::header::Bases;
use crate::ops;
use crate::prune::{looks_prunable, prune_opt};
use crate::rel::{Access, HeapRel, View};
use crate::row::{TupleRef, place_at};
use crate::visibility::Judge;

/// Bytes with which there is room for another page.
const ROOM: usize = u16::MAX as usize - PAGE_SIZE;

/// Rows of several pages of a table.
pub struct GatheredRows {
    rel: Arc<HeapRel>,
    bytes: Vec<u8>,
    rows: Vec<Row>,
    /// Of each page that was added.
    bases: Vec<Bases>,
    /// The first row that was not handed out.
    at: usize,
}

/// Where a row is.
struct Row {
    tid: Tid,
    /// Its page's number in `bases`.
    page: u16,
    /// Start and end of its bytes.
    span: (u16, u16),
}

impl GatheredRows {
    /// Most pages of which rows are held.
    pub const MOST_PAGES: usize = 1024;

    /// No rows of this table.
    pub fn new(rel: Arc<HeapRel>) -> GatheredRows {
        GatheredRows { rel, bytes: Vec::new(), rows: Vec::new(), bases: Vec::new(), at: 0 }
    }

    /// Forgets all rows, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
        self.bases.clear();
        self.at = 0;
    }

    /// Whether rows of another page may be added.
    pub fn has_room(&self) -> bool {
        self.bytes.len() <= ROOM && self.bases.len() < GatheredRows::MOST_PAGES
    }

    /// Adds the rows of a page that `view` sees, of those whose HOT chains have these roots. There is to be room.
    pub fn add(
        &mut self,
        access: &Access<'_>,
        view: &View<'_>,
        pin: &Pin,
        roots: &[OffsetNo],
    ) -> HeapResult<()> {
        runtime::check_interrupts()?;
        debug_assert!(self.has_room());
        let (rel, block) = (self.rel.clone(), pin.tag().block);
        let page = pin.shared();
        let prunable = looks_prunable(access.txns, &rel, &page);
        self.bases.push(Bases::of(&page));
        if ops::is_all_visible(&page) && rel.serial(view.me).is_none() {
            self.add_all_visible(&page, view, block, roots)?;
        } else {
            let mut judge = Judge { txns: access.txns, page: &page };
            for &root in roots {
                let found = find_on(access, &rel, view, &mut judge, Tid::new(block, root))?;
                if let (_, Some((n, _))) = found {
                    self.push(Tid::new(block, n), &page)?;
                }
            }
        }
        drop(page);
        if prunable {
            prune_opt(access, &rel, pin)?;
        }
        Ok(())
    }

    /// Of a page without any version that somebody does not see: each root has one version, or none.
    fn add_all_visible(
        &mut self,
        page: &PageBytes,
        view: &View<'_>,
        block: BlockNo,
        roots: &[OffsetNo],
    ) -> HeapResult<()> {
        for &root in roots {
            let version = page::line_pointer(page, root).and_then(|lp| match lp.flags {
                LpFlags::Normal => Some(root),
                LpFlags::Redirect => Some(lp.offset),
                _ => None,
            });
            match version {
                Some(n) => self.push(Tid::new(block, n), page)?,
                None if view.snapshot.lost_page(self.rel.desc.file, block) => {
                    return Err(HeapError::SnapshotTooOld);
                }
                None => {}
            }
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, tid: Tid, page: &PageBytes) -> HeapResult<()> {
        let Some(item) = page::item(page, tid.offset) else { return Err(self.no_tuple(tid)) };
        let start = self.bytes.len();
        self.bytes.extend_from_slice(item);
        let span = (start as u16, self.bytes.len() as u16);
        self.rows.push(Row { tid, page: (self.bases.len() - 1) as u16, span });
        Ok(())
    }

    #[cold]
    fn no_tuple(&self, tid: Tid) -> HeapError {
        let what = "line pointer leads to no tuple";
        HeapError::Corrupt { rel: self.rel.desc.file, block: tid.block, offset: tid.offset, what }
    }

    /// Number of rows that are left.
    pub fn left(&self) -> usize {
        self.rows.len() - self.at
    }

    /// Passes over the rows that are left.
    pub fn pass(&mut self) {
        self.at = self.rows.len();
    }

    /// The next row.
    pub fn next_row(&mut self) -> HeapResult<Option<TupleRef<'_>>> {
        let Some(row) = self.rows.get(self.at) else { return Ok(None) };
        self.at += 1;
        let bytes = &self.bytes[row.span.0 as usize..row.span.1 as usize];
        match TupleRef::new(row.tid, bytes, self.bases[row.page as usize]) {
            Some(tuple) => Ok(Some(tuple)),
            None => Err(self.no_tuple(row.tid)),
        }
    }

    /// Where the rows that are left lie in [`GatheredRows::bytes`]; `false` if some is no tuple.
    pub fn places(&self, places: &mut Vec<RowPlace>) -> bool {
        places.clear();
        let left = &self.rows[self.at..];
        places.extend(left.iter().map_while(|row| place_at(&self.bytes, row.span)));
        places.len() == left.len()
    }

    /// The bytes of all rows.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The page of the first row.
    pub fn first_block(&self) -> BlockNo {
        self.rows.first().map_or(BlockNo(0), |row| row.tid.block)
    }
}
