//! Sequential scans.

use std::sync::Arc;

use base::{SqlResult, Tid};
use counters::Counted;
use engine::OpenIndex;
use eval::code::Rows;
use eval::cx::Cx;
use heap::{HeapRel, HeapScan, SoughtRows};
use index::{Direction, ScanKeys};
use plan::{ParamId, Plan, RelId, SoughtKeys};
use tuple::Datum;

use super::row_reader::{RowReader, SelectiveReader};
use super::table_scan::{Keys, Parts, parts, recheck};
use super::watching::lock_range;
use super::{BoxNode, Builder, Node, Origin, Projection};

/// A sequential scan.
pub(super) fn seq(
    builder: &Builder<'_>,
    plan: &Plan,
    rel: RelId,
    sought: Option<&SoughtKeys>,
) -> SqlResult<BoxNode> {
    if builder.recheck.contains(&rel) {
        return recheck(builder, plan, rel, Vec::new());
    }
    let Parts { heap, raw, projection, table } = parts(builder, plan, rel, &[])?;
    let reader = SelectiveReader::new(RowReader::new(heap.clone(), raw, table), plan, &[]);
    let (at, values, counted) = (Tid::default(), Vec::new(), Counted::new(table));
    let idle = projection.is_idle();
    let sought = sought.map(|keys| Sought::new(builder, keys)).transpose()?;
    Ok(Box::new(SeqScan { heap, reader, projection, idle, sought, scan: None, at, values, counted }))
}

struct SeqScan {
    heap: Arc<HeapRel>,
    reader: SelectiveReader,
    projection: Projection,
    /// All rows that are found are given.
    idle: bool,
    sought: Option<Sought>,
    scan: Option<HeapScan>,
    /// Place of the row last read.
    at: Tid,
    values: Vec<Datum>,
    counted: Counted,
}

impl SeqScan {
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
        if self.scan.is_none() {
            let rows = self.watch(cx)?;
            let scan = HeapScan::new(&cx.env.access, self.heap.clone(), None).map_err(eval::error::heap)?;
            self.scan.insert(scan).seek(rows);
            self.counted.scan.scans += 1;
        }
        let Some(scan) = &mut self.scan else { return Ok(false) };
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let found = cx.with_view(|access, view| scan.next(access, view)).map_err(eval::error::heap)?;
            let Some(tuple) = found else { return Ok(false) };
            self.at = tuple.tid;
            self.counted.scan.returned += 1;
            if self.reader.read(&tuple, (&[], &self.projection), cx, &mut self.values)? {
                self.projection.project(Rows::one(&self.values), cx)?;
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn skip(&mut self, _cx: &mut Cx<'_>) -> SqlResult<usize> {
        let Some(scan) = self.scan.as_mut().filter(|_| self.idle) else { return Ok(0) };
        let passed = scan.pass_page();
        self.counted.scan.returned += passed as i64;
        Ok(passed)
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        found.push((self.reader.reader.table(), self.at));
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        if self.scan.is_none() {
            return Ok(());
        }
        let rows = self.watch(cx)?;
        let Some(scan) = &mut self.scan else { return Ok(()) };
        scan.seek(rows);
        self.counted.scan.scans += 1;
        scan.rescan(&cx.env.access).map_err(eval::error::heap)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        if let Some(scan) = self.scan.take() {
            self.counted.scan.add_pages(scan.pages());
        }
        cx.count_scan(&mut self.counted);
    }
}
