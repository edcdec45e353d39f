//! # What
//! Scans of the places that a [bitmap](super::bitmap) names, in the order of the table.
//!
//! A scan that was built to give batches gathers the rows of several pages ([`GatheredRows`]), or reads whole pages ([`HeapScan`]), and
//! judges each page's rows at once. Others fetch row by row, with those of the same page that come next ([`Ahead`]): that costs least where they are few.
//!
//! # Invariants
//! 1. Rows of whole pages are checked against the index's conditions; others if the bitmap says so.
//! 2. A serializable transaction locks a whole page before it reads it, and the rows of others one by one.
//! 3. Rows come in the order of the places, however they are read. Participants of a gathering take pieces of these ([`SharedPlaces`]), of each page
//!    all places or none.

use std::ops::Range;
use std::sync::Arc;

use base::{Fork, OffsetNo, SqlResult, Tid};
use buffer::{Purpose, ReadStream};
use counters::Counted;
use eval::code::{Code, Rows};
use eval::compile::Inputs;
use eval::cx::Cx;
use eval::node::Batched;
use eval::team::{FoundPlaces, SharedPlaces};
use heap::{Fetched, GatheredRows, HeapRel, HeapScan, HeapTuple};
use plan::explain::Detail;
use plan::{Bitmap, Expr, ParamId, Plan, RelId};
use tuple::Datum;

use super::ahead::Ahead;
use super::bitmap::{BitmapNode, is_whole_page};
use super::row_reader::{RowReader, SelectiveReader};
use super::table_scan::{Parts, parts, recheck};
use super::{BoxNode, Builder, Node, Origin, Projection};
use crate::batch::scan::{AtHand, BatchScan, Page};

/// Rows of whole pages that are judged between two looks for interrupts.
const ROWS_BETWEEN_LOOKS: u32 = 64;
/// Rows that are skipped at once, about.
const MOST_SKIPPED: usize = 1000;

/// A bitmap scan.
pub(super) fn build(
    builder: &mut Builder<'_>,
    plan: &Plan,
    (rel, parallel): (RelId, bool),
    bitmap: &Bitmap,
    conditions: &[Expr],
) -> SqlResult<BoxNode> {
    if builder.recheck.contains(&rel) {
        return recheck(builder, plan, rel, conditions.to_vec());
    }
    let Parts { heap, raw, projection, table } = parts(builder, plan, rel, conditions)?;
    let quals = builder.compiler().list(conditions, Inputs::scan(&raw))?;
    let batches = match std::mem::take(&mut builder.batches) {
        true => BatchScan::new(builder, plan, &raw, &heap, conditions)?,
        false => None,
    };
    let batches = batches.map(|scan| Box::new(Batches::new(scan, heap.clone())));
    let share = parallel.then_some(builder.scans);
    builder.scans += usize::from(parallel);
    let source = BitmapNode::new(builder, bitmap)?;
    let reader = SelectiveReader::new(RowReader::new(heap.clone(), raw, table), plan, conditions);
    Ok(Box::new(BitmapScan {
        heap,
        reader,
        idle: projection.is_idle(),
        projection,
        quals,
        source,
        share,
        shared: None,
        places: None,
        piece: 0..0,
        pages: None,
        in_pages: false,
        tuple: HeapTuple::new(),
        ahead: Ahead::default(),
        origin: None,
        values: Vec::new(),
        counted: Counted::new(table),
        batches,
    }))
}

/// EXPLAIN's count of the pages that a bitmap names.
fn heap_blocks(before: Detail, tids: &[Tid]) -> Detail {
    let whole = tids.iter().filter(|tid| is_whole_page(**tid)).count() as u64;
    let exact = tids.chunk_by(|a, b| a.block == b.block).count() as u64 - whole;
    let [more, others, batches] = match before {
        Detail::HeapBlocks { exact, lossy, batches } => [exact, lossy, batches],
        _ => [0; 3],
    };
    Detail::HeapBlocks { exact: exact + more, lossy: whole + others, batches }
}

/// What a scan has that is asked for many rows.
struct Batches {
    scan: BatchScan,
    /// Rows at places, before those that the scan has not come to.
    rows: GatheredRows,
    /// Their places on one page.
    roots: Vec<OffsetNo>,
    /// Of how many pages rows are gathered the next time. Who stops soon is not to pay for many.
    most: usize,
    /// Brings these pages.
    stream: Option<ReadStream>,
    /// Places that the stream has not come to, from the next one that the scan comes to on.
    ahead: usize,
}

impl Batches {
    fn new(scan: BatchScan, heap: Arc<HeapRel>) -> Batches {
        Batches { scan, rows: GatheredRows::new(heap), roots: Vec::new(), most: 1, stream: None, ahead: 0 }
    }

    fn restart(&mut self) {
        self.scan.restart();
        self.rows.clear();
        self.most = 1;
        self.begin_piece();
    }

    /// The next places are others than those that follow.
    fn begin_piece(&mut self) {
        self.ahead = 0;
        if let Some(stream) = &mut self.stream {
            stream.restart();
        }
    }

    /// Gathers rows at the first of these places, which are of no whole page; how many places that were.
    fn gather(&mut self, heap: &HeapRel, tids: &[Tid], cx: &Cx<'_>) -> SqlResult<usize> {
        let Batches { rows, roots, most, stream, ahead, .. } = self;
        let pool = cx.env.access.pool;
        let new = || ReadStream::new(pool, (heap.desc.file, Fork::Main), None, Purpose::Query);
        let stream = stream.get_or_insert_with(new);
        rows.clear();
        let mut taken = 0;
        for page in tids.chunk_by(|a, b| a.block == b.block).take(*most) {
            if is_whole_page(page[0]) || !rows.has_room() {
                break;
            }
            roots.clear();
            roots.extend(page.iter().map(|tid| tid.offset));
            let Some(pin) = stream.next(pool, None, || next_page(tids, ahead))? else { break };
            debug_assert_eq!(pin.tag().block, page[0].block);
            let added = cx.with_view(|access, view| rows.add(access, view, &pin, roots));
            added.map_err(eval::error::heap)?;
            taken += page.len();
        }
        *ahead = ahead.saturating_sub(taken);
        *most = (*most * 4).min(GatheredRows::MOST_PAGES);
        Ok(taken)
    }
}

/// The page of the next of these places that are of no whole page, behind the first `ahead`; passes over its places.
fn next_page(tids: &[Tid], ahead: &mut usize) -> Option<u32> {
    let rest = tids.get(*ahead..)?;
    let first = rest.iter().position(|tid| !is_whole_page(*tid))?;
    let block = rest[first].block;
    *ahead +=
        first + rest[first..].iter().take_while(|tid| tid.block == block && !is_whole_page(**tid)).count();
    Some(block.0)
}

/// Rows at the places of a bitmap.
struct BitmapScan {
    heap: Arc<HeapRel>,
    reader: SelectiveReader,
    projection: Projection,
    /// All rows that are found are given.
    idle: bool,
    /// The conditions, for rows that may not satisfy them.
    quals: Box<[Code]>,
    source: BitmapNode,
    /// Its number among the scans whose places the participants of a gathering share, if it is one.
    share: Option<usize>,
    /// The places that they share, if there are several.
    shared: Option<Arc<SharedPlaces>>,
    places: Option<Arc<FoundPlaces>>,
    /// Those of its piece that it has not come to: at first of all.
    piece: Range<usize>,
    /// Reads whole pages.
    pages: Option<HeapScan>,
    /// `pages` may find more rows.
    in_pages: bool,
    tuple: HeapTuple,
    ahead: Ahead,
    /// Place of the row last read.
    origin: Option<Tid>,
    values: Vec<Datum>,
    counted: Counted,
    /// Of a scan that is asked for many rows.
    batches: Option<Box<Batches>>,
}

impl BitmapScan {
    #[cold]
    fn collect(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let team = cx.state.team.as_ref();
        self.shared = self.share.and_then(|number| team?.places(number).cloned());
        let helps = cx.state.helps;
        let mut find = || {
            let places = self.source.collect(&self.heap, cx)?;
            cx.tell(|before| heap_blocks(before, &places.tids));
            Ok(places)
        };
        let places = match &self.shared {
            Some(shared) => shared.get(helps, find)?,
            None => Arc::new(find()?),
        };
        self.piece = match &self.shared {
            Some(shared) => shared.take(&places),
            None => 0..places.tids.len(),
        };
        self.places = Some(places);
        Ok(())
    }

    /// The places of its piece that it has not come to.
    fn later(&self) -> &[Tid] {
        self.places.as_ref().and_then(|places| places.tids.get(self.piece.clone())).unwrap_or_default()
    }

    /// Goes on with another piece; false if there is none.
    #[cold]
    fn take_piece(&mut self) -> bool {
        if let (Some(shared), Some(places)) = (&self.shared, &self.places) {
            self.piece = shared.take(places);
        }
        if let Some(batches) = &mut self.batches {
            batches.begin_piece();
        }
        !self.piece.is_empty()
    }

    /// Whether rows at places may not satisfy the conditions.
    fn rechecks(&self) -> bool {
        self.places.as_ref().is_some_and(|places| places.recheck)
    }

    /// Goes on with the whole pages that come next. A serializable transaction locks each before it is read.
    fn start_pages(&mut self, first: Tid, cx: &Cx<'_>) -> SqlResult<()> {
        let mut blocks = first.block.0..first.block.0 + 1;
        if cx.env.fixed_snapshot {
            cx.with_view(|_, view| heap::watch_page(&self.heap, view.me, first.block));
        } else {
            let later = self.later()[1..].iter().zip(blocks.end..);
            let run = later.take_while(|(tid, n)| is_whole_page(**tid) && tid.block.0 == *n);
            blocks.end += run.count() as u32;
        }
        self.piece.start += blocks.len();
        if let Some(batches) = &mut self.batches {
            batches.ahead = batches.ahead.saturating_sub(blocks.len());
        }
        let pages = match self.pages.take() {
            Some(mut pages) => pages.go_to(&cx.env.access, blocks).map(|()| pages),
            None => HeapScan::new(&cx.env.access, self.heap.clone(), Some(blocks)),
        };
        self.pages = Some(pages.map_err(eval::error::heap)?);
        self.in_pages = true;
        Ok(())
    }

    /// The next row of whole pages; false if there is none.
    fn next_of_pages(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Some(pages) = self.pages.as_mut().filter(|_| self.in_pages) else { return Ok(false) };
        for n in 0u32.. {
            if n.is_multiple_of(ROWS_BETWEEN_LOOKS) {
                runtime::check_interrupts().map_err(eval::error::interrupted)?;
            }
            let found = cx.with_view(|access, view| pages.next(access, view)).map_err(eval::error::heap)?;
            let Some(tuple) = found else { break };
            self.counted.scan.fetched += 1;
            self.origin = Some(tuple.tid);
            if self.reader.read(&tuple, (&self.quals, Some(&self.projection)), cx, &mut self.values)? {
                self.projection.project(Rows::one(&self.values), cx)?;
                return Ok(true);
            }
        }
        self.in_pages = false;
        Ok(false)
    }

    /// The next of the rows that are gathered, of a scan that gathers them; false at the end.
    #[cold]
    fn next_gathered(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if self.next_of_pages(cx)? {
                return Ok(true);
            }
            let rechecks = self.rechecks();
            let Some(batches) = &mut self.batches else { return Ok(false) };
            let Some(tuple) = batches.rows.next_row().map_err(eval::error::heap)? else {
                if !self.advance(cx)? {
                    return Ok(false);
                }
                continue;
            };
            self.counted.scan.fetched += 1;
            self.origin = Some(tuple.tid);
            let conditions: &[Code] = if rechecks { &self.quals } else { &[] };
            if self.reader.read(&tuple, (conditions, Some(&self.projection)), cx, &mut self.values)? {
                self.projection.project(Rows::one(&self.values), cx)?;
                return Ok(true);
            }
        }
    }

    /// Goes on, once the rows at hand are used up, with what comes next: whole pages, or rows that are gathered. False at the end.
    fn advance(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        match self.later().first().copied() {
            None => return Ok(self.take_piece()),
            Some(first) if is_whole_page(first) => self.start_pages(first, cx)?,
            Some(_) => {
                let (Some(batches), Some(places)) = (&mut self.batches, &self.places) else {
                    return Ok(false);
                };
                let before = runtime::usage::pages();
                self.piece.start += batches.gather(&self.heap, &places.tids[self.piece.clone()], cx)?;
                self.counted.scan.pages_since(before);
            }
        }
        Ok(true)
    }

    /// Comes to rows that are at hand together, if there are none; false at the end.
    fn come_to_rows(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if let Some(pages) = self.pages.as_mut().filter(|_| self.in_pages) {
                let come = cx.with_view(|access, view| pages.come_to_page(access, view));
                if come.map_err(eval::error::heap)? {
                    return Ok(true);
                }
                self.in_pages = false;
            } else if self.batches.as_ref().is_some_and(|batches| batches.rows.left() > 0) {
                return Ok(true);
            }
            if !self.advance(cx)? {
                return Ok(false);
            }
        }
    }

    /// Forgets all places.
    fn forget(&mut self) {
        (self.places, self.shared) = (None, None);
        self.in_pages = false;
        self.ahead.restart();
        if let Some(batches) = &mut self.batches {
            batches.restart();
        }
    }
}

impl Node for BitmapScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.places.is_none() {
            self.collect(cx)?;
        }
        if self.batches.is_some() {
            return self.next_gathered(cx);
        }
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if self.next_of_pages(cx)? {
                return Ok(true);
            }
            let Some(FoundPlaces { tids, recheck }) = self.places.as_deref() else { return Ok(false) };
            let Some((&tid, later)) = tids[self.piece.clone()].split_first() else {
                if !self.take_piece() {
                    return Ok(false);
                }
                continue;
            };
            if is_whole_page(tid) {
                self.start_pages(tid, cx)?;
                continue;
            }
            self.piece.start += 1;
            let before = runtime::usage::pages();
            let upcoming = later.iter().copied().take_while(|tid| !is_whole_page(*tid));
            let (_, row) = self.ahead.row(&self.heap, (tid, upcoming), &mut self.tuple, cx)?;
            self.counted.scan.pages_since(before);
            let Some(tuple) = row else { continue };
            self.counted.scan.fetched += 1;
            self.origin = Some(tuple.tid);
            let conditions: &[Code] = if *recheck { &self.quals } else { &[] };
            if self.reader.read(&tuple, (conditions, Some(&self.projection)), cx, &mut self.values)? {
                self.projection.project(Rows::one(&self.values), cx)?;
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn skip(&mut self, cx: &mut Cx<'_>) -> SqlResult<usize> {
        let plain = self.idle && self.batches.is_none();
        let Some(FoundPlaces { tids, recheck: false }) = self.places.as_deref().filter(|_| plain) else {
            return Ok(0);
        };
        let mut seen = 0;
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let before = runtime::usage::pages();
            let places = tids[self.piece.clone()].iter().copied();
            let ready = self.ahead.ready(&self.heap, places, cx)?;
            self.counted.scan.pages_since(before);
            self.piece.start += ready;
            seen += (0..ready).filter(|_| self.ahead.pass() == Fetched::Visible).count();
            if ready == 0 || seen > MOST_SKIPPED {
                break;
            }
        }
        self.counted.scan.fetched += seen as i64;
        Ok(seen)
    }

    fn batch(&mut self, cx: &mut Cx<'_>) -> SqlResult<Batched<'_>> {
        if self.batches.is_none() {
            return Ok(Batched::NotNow);
        }
        if self.places.is_none() {
            self.collect(cx)?;
        }
        let count = loop {
            if let Some(batches) = self.batches.as_mut().filter(|batches| batches.rows.left() == 0)
                && self.pages.as_ref().is_none_or(|pages| !self.in_pages || pages.left() == 0)
            {
                batches.scan.unexplained()?;
            }
            if !self.come_to_rows(cx)? {
                return Ok(Batched::End);
            }
            let rechecks = self.in_pages || self.rechecks();
            let Some(batches) = &mut self.batches else { return Ok(Batched::NotNow) };
            let Batches { scan, rows, most, .. } = &mut **batches;
            let at_hand: &mut dyn AtHand = match &mut self.pages {
                Some(pages) if self.in_pages => pages,
                _ => rows,
            };
            if scan.has_refused(at_hand) {
                return Ok(Batched::NotNow);
            }
            match scan.take(&self.heap, at_hand, rechecks, cx) {
                Page::Refused => {
                    // One value that is not for batches keeps few other rows from them.
                    *most = 1;
                    return Ok(Batched::NotNow);
                }
                Page::Passed(count) => self.counted.scan.fetched += count as i64,
                Page::Given(count) => break count,
            }
        };
        self.counted.scan.fetched += count as i64;
        let Some(batches) = &self.batches else { return Ok(Batched::NotNow) };
        let given: &dyn AtHand = match &self.pages {
            Some(pages) if self.in_pages => pages,
            _ => &batches.rows,
        };
        Ok(Batched::Rows(batches.scan.batch(given, count)))
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        found.extend(self.origin.map(|tid| (self.reader.reader.table(), tid)));
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        self.forget();
        Ok(())
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        if let Some(pages) = self.pages.take() {
            self.counted.scan.add_pages(pages.pages());
        }
        cx.count_scan(&mut self.counted);
        self.forget();
    }
}
