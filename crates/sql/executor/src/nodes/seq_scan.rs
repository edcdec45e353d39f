//! Sequential scans: of all pages, or of those between places.

use std::ops::Range;
use std::sync::Arc;

use base::{SqlError, SqlResult, Tid};
use counters::Counted;
use engine::OpenIndex;
use eval::code::{Code, Rows};
use eval::compile::Inputs;
use eval::cx::Cx;
use eval::node::{Batched, Stored, datum_tid};
use heap::{HeapRel, HeapScan, SoughtRows};
use index::{Direction, ScanKeys};
use plan::{Expr, ParamId, Plan, RelId, SoughtKeys, TidBound};
use tuple::{Datum, RowLayout};

use super::row_reader::{RowReader, SelectiveReader};
use super::table_scan::{Keys, Parts, parts, recheck};
use super::watching::lock_range;
use super::{BoxNode, Builder, Node, Origin, Projection};
use crate::batch::scan::{BatchScan, Page};

/// A sequential scan.
pub(super) fn seq(
    builder: &mut Builder<'_>,
    plan: &Plan,
    rel: RelId,
    sought: Option<&SoughtKeys>,
    parallel: bool,
) -> SqlResult<BoxNode> {
    let sought = sought.map(|keys| Sought::new(builder, keys)).transpose()?;
    build(builder, plan, rel, Limits { sought, parallel, bounds: Box::default(), condition: &[] })
}

/// A scan of the pages between places.
pub(super) fn tid_range(
    builder: &mut Builder<'_>,
    plan: &Plan,
    rel: RelId,
    bounds: &[TidBound],
    condition: &[Expr],
) -> SqlResult<BoxNode> {
    let code =
        |bound: &TidBound| Ok((bound.lower, builder.compiler().expr(&bound.value, Inputs::default())?));
    let bounds = bounds.iter().map(code).collect::<SqlResult<_>>()?;
    build(builder, plan, rel, Limits { sought: None, parallel: false, bounds, condition })
}

/// What a scan is limited to.
struct Limits<'p> {
    sought: Option<Sought>,
    parallel: bool,
    bounds: Bounds,
    /// Holds for the rows that count.
    condition: &'p [Expr],
}

/// Places that rows lie between, and whether each is a lower bound.
type Bounds = Box<[(bool, Code)]>;

fn build(builder: &mut Builder<'_>, plan: &Plan, rel: RelId, limits: Limits<'_>) -> SqlResult<BoxNode> {
    let Limits { sought, parallel, bounds, condition } = limits;
    let chooses = std::mem::take(&mut builder.chooses);
    if builder.recheck.contains(&rel) {
        return recheck(builder, plan, rel, condition.to_vec());
    }
    let Parts { heap, raw, projection, table } = parts(builder, plan, rel, condition)?;
    let batches = match std::mem::take(&mut builder.batches) {
        true => BatchScan::new(builder, plan, &raw, &heap, condition)?.map(Box::new),
        false => None,
    };
    let codes = builder.compiler().list(condition, Inputs::scan(&raw))?;
    let chooser = match chooses {
        true => BatchScan::choosing(builder, plan, &raw, &heap)?.map(Box::new),
        false => None,
    };
    let whole = projection.is_identity(raw.upto + raw.system.len());
    let reader = SelectiveReader::new(RowReader::new(heap.clone(), raw, table), plan, condition);
    let (at, values, counted) = (Tid::default(), Vec::new(), Counted::new(table));
    let idle = projection.is_idle() && condition.is_empty();
    let share = parallel.then_some(builder.scans);
    builder.scans += usize::from(parallel);
    Ok(Box::new(SeqScan {
        heap,
        reader,
        projection,
        idle,
        whole,
        sought,
        bounds,
        conditions: codes,
        share,
        scan: None,
        at,
        values,
        counted,
        batches,
        chooser,
        chosen: false,
    }))
}

struct SeqScan {
    heap: Arc<HeapRel>,
    reader: SelectiveReader,
    projection: Projection,
    /// All rows that are found are given.
    idle: bool,
    /// What is read of a row is what is given of it.
    whole: bool,
    sought: Option<Sought>,
    bounds: Bounds,
    /// Of the rows between them.
    conditions: Box<[Code]>,
    /// Its number among the scans whose pages the participants of a gathering share, if it is one.
    share: Option<usize>,
    scan: Option<HeapScan>,
    /// Place of the row last read.
    at: Tid,
    values: Vec<Datum>,
    counted: Counted,
    /// Of a scan that is asked for many rows.
    batches: Option<Box<BatchScan>>,
    /// Chooses the rows of a page that pass the filter, all at once.
    chooser: Option<Box<BatchScan>>,
    /// The rows that are left on the page have passed the filter.
    chosen: bool,
}

impl SeqScan {
    /// Opens the scan, if that was not done.
    #[inline]
    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        if self.scan.is_none() {
            let rows = self.watch(cx)?;
            let blocks = self.blocks(cx)?;
            let scan = HeapScan::new(&cx.env.access, self.heap.clone(), blocks).map_err(eval::error::heap)?;
            let scan = self.scan.insert(scan);
            scan.seek(rows);
            if let Some(number) = self.share {
                share(scan, number, cx)?;
            }
            self.counted.scan.scans += 1;
        }
        Ok(())
    }

    /// The pages between the bounds; all, if there are none.
    fn blocks(&self, cx: &mut Cx<'_>) -> SqlResult<Option<Range<u32>>> {
        if self.bounds.is_empty() {
            return Ok(None);
        }
        let mut blocks = 0..u32::MAX;
        for (lower, code) in &self.bounds {
            match datum_tid(&code.eval(Rows::one(&[]), cx)?) {
                Some(place) if *lower => blocks.start = blocks.start.max(place.block.0),
                Some(place) => blocks.end = blocks.end.min(place.block.0.saturating_add(1)),
                // Nothing compares with NULL.
                None => blocks.end = 0,
            }
        }
        blocks.start = blocks.start.min(blocks.end);
        Ok(Some(blocks))
    }

    /// Before a row is read that is asked for alone: comes to a page whose rows pass the filter, or may pass it. False at the end.
    #[inline]
    fn choose(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        match &self.scan {
            Some(scan) if self.chooser.is_some() && scan.left() == 0 => self.choose_page(cx),
            _ => Ok(true),
        }
    }

    fn choose_page(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let (Some(chooser), Some(scan)) = (&mut self.chooser, &mut self.scan) else { return Ok(true) };
        chooser.unexplained()?;
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !cx.with_view(|access, view| scan.come_to_page(access, view)).map_err(eval::error::heap)? {
                return Ok(false);
            }
            let page = chooser.choose(&self.heap, scan, cx);
            self.chosen = !matches!(page, Page::Refused);
            if let Page::Given(count) | Page::Passed(count) = page {
                // Those that are left are counted as they are handed out.
                self.counted.scan.returned += (count - scan.left()) as i64;
            }
            if !matches!(page, Page::Passed(_)) {
                return Ok(true);
            }
        }
    }

    /// Moves the scan to the next row that passes the filter: whether that can be given as it is stored. Otherwise its values are read.
    fn find_stored(&mut self, cx: &mut Cx<'_>) -> SqlResult<Option<bool>> {
        let columns = self.heap.desc.layout.len();
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !self.choose(cx)? {
                return Ok(None);
            }
            let Some(scan) = &mut self.scan else { return Ok(None) };
            let found = cx.with_view(|access, view| scan.next(access, view)).map_err(eval::error::heap)?;
            let Some(tuple) = found else { return Ok(None) };
            self.at = tuple.tid;
            self.counted.scan.returned += 1;
            let filter = (!self.chosen).then_some(&self.projection);
            if !self.reader.read_first(&tuple, (&self.conditions, filter), cx, &mut self.values)? {
                continue;
            }
            let whole = tuple.is_whole(columns);
            if !whole {
                self.reader.read_rest(&tuple, cx, &mut self.values)?;
            }
            return Ok(Some(whole));
        }
    }

    fn restart_batches(&mut self) {
        self.batches.iter_mut().chain(&mut self.chooser).for_each(|batches| batches.restart());
        self.chosen = false;
    }

    /// Before all rows are read, a serializable transaction locks those that it looks for, or the table.
    #[inline]
    fn watch(&mut self, cx: &mut Cx<'_>) -> SqlResult<Option<SoughtRows>> {
        if !cx.env.fixed_snapshot {
            return Ok(None);
        }
        self.watch_serializable(cx)
    }

    #[cold]
    fn watch_serializable(&mut self, cx: &mut Cx<'_>) -> SqlResult<Option<SoughtRows>> {
        if cx.env.txn.borrow().serializable().is_none() {
            return Ok(None);
        }
        let rows = self.sought.as_ref().map(|sought| sought.lock(&self.heap, cx)).transpose()?.flatten();
        if rows.is_none() {
            cx.with_view(|_, view| heap::watch_scan(&self.heap, view.me));
        }
        Ok(rows)
    }
}

/// Has a scan take its pages from those that the participants share, or all pages while there is only one.
#[cold]
fn share(scan: &mut HeapScan, number: usize, cx: &Cx<'_>) -> SqlResult<()> {
    let pages = cx.state.team.as_ref().and_then(|team| team.pages(number)).cloned();
    scan.share(&cx.env.access, pages).map_err(eval::error::heap)
}

/// The range of an index that has all rows which the filter lets through.
struct Sought {
    index: OpenIndex,
    keys: Keys,
    /// The index's columns, from 0.
    columns: Box<[usize]>,
}

impl Sought {
    fn new(builder: &Builder<'_>, sought: &SoughtKeys) -> SqlResult<Sought> {
        let index = &sought.index;
        let columns = index.keys.iter().map(|column| *column as usize - 1).collect();
        Ok(Sought {
            index: index.storage()?.clone(),
            keys: Keys::new(builder, index, &sought.conditions, false)?,
            columns,
        })
    }

    /// Locks the range; none if it is not known, or nothing lies in it.
    fn lock(&self, heap: &HeapRel, cx: &mut Cx<'_>) -> SqlResult<Option<SoughtRows>> {
        let Some(keys) = self.keys.compute(cx)? else { return Ok(None) };
        let keys = ScanKeys { keys, direction: Direction::Forward };
        let Some(range) = self.index.key_range(keys) else { return Ok(None) };
        lock_range(heap, &self.index, range.clone(), cx);
        Ok(Some(SoughtRows::new(range, self.columns.clone())))
    }
}

impl Node for SeqScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.start(cx)?;
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !self.choose(cx)? {
                return Ok(false);
            }
            let Some(scan) = &mut self.scan else { return Ok(false) };
            let found = cx.with_view(|access, view| scan.next(access, view)).map_err(eval::error::heap)?;
            let Some(tuple) = found else { return Ok(false) };
            self.at = tuple.tid;
            self.counted.scan.returned += 1;
            let filter = (!self.chosen).then_some(&self.projection);
            if self.reader.read(&tuple, (&self.conditions, filter), cx, &mut self.values)? {
                if !self.whole {
                    self.projection.project(Rows::one(&self.values), cx)?;
                }
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        if self.whole { &self.values } else { self.projection.row() }
    }

    fn stored_layout(&self) -> Option<&RowLayout> {
        (self.whole && self.reader.reader.is_of_all()).then_some(&*self.heap.desc.layout)
    }

    fn next_stored(&mut self, cx: &mut Cx<'_>) -> SqlResult<Stored<'_>> {
        self.start(cx)?;
        match self.find_stored(cx)? {
            None => Ok(Stored::End),
            Some(false) => Ok(Stored::Values),
            Some(true) => match self.scan.as_ref().and_then(HeapScan::current) {
                Some(tuple) => Ok(Stored::Row(tuple)),
                None => Err(SqlError::internal("a scan without the row that it has found")),
            },
        }
    }

    fn skip(&mut self, _cx: &mut Cx<'_>) -> SqlResult<usize> {
        let Some(scan) = self.scan.as_mut().filter(|_| self.idle) else { return Ok(0) };
        let passed = scan.pass_page();
        self.counted.scan.returned += passed as i64;
        Ok(passed)
    }

    fn batch(&mut self, cx: &mut Cx<'_>) -> SqlResult<Batched<'_>> {
        if self.batches.is_none() {
            return Ok(Batched::NotNow);
        }
        self.start(cx)?;
        let (Some(batches), Some(scan)) = (&mut self.batches, &mut self.scan) else {
            return Ok(Batched::NotNow);
        };
        let count = loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if scan.left() == 0 {
                batches.unexplained()?;
            }
            let more =
                cx.with_view(|access, view| scan.come_to_page(access, view)).map_err(eval::error::heap)?;
            if !more {
                return Ok(Batched::End);
            }
            if batches.has_refused(scan) {
                return Ok(Batched::NotNow);
            }
            match batches.take(&self.heap, scan, false, cx) {
                Page::Refused => return Ok(Batched::NotNow),
                Page::Passed(count) => self.counted.scan.returned += count as i64,
                Page::Given(count) => break count,
            }
        };
        self.counted.scan.returned += count as i64;
        Ok(Batched::Rows(batches.batch(scan, count)))
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        found.push((self.reader.reader.table(), self.at));
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        if self.scan.is_none() {
            return Ok(());
        }
        let rows = self.watch(cx)?;
        self.restart_batches();
        let blocks = self.blocks(cx)?;
        let Some(scan) = &mut self.scan else { return Ok(()) };
        scan.seek(rows);
        scan.limit(blocks);
        self.counted.scan.scans += 1;
        match self.share {
            Some(number) => share(scan, number, cx),
            None => scan.rescan(&cx.env.access).map_err(eval::error::heap),
        }
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.restart_batches();
        if let Some(scan) = self.scan.take() {
            self.counted.scan.add_pages(scan.pages());
        }
        cx.count_scan(&mut self.counted);
    }
}
