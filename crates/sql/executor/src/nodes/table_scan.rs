//! Scans of tables: by index, by place, and what these, [those by bitmap](super::bitmap_scan) and sequential ones share.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, Tid, Xid};
use counters::Counted;
use engine::{OpenIndex, OpenScan};
use eval::code::{Code, Rows, passes};
use eval::compile::{Inputs, RawRow};
use eval::cx::Cx;
use eval::node::datum_tid;
use heap::{Fetched, HeapRel, HeapTuple};
use index::{
    Access as IndexAccess, Compare, Direction, Horizon, ScanKey, ScanKeys, ScanOp, Wants, compare_values,
    strategy,
};
use plan::explain::Detail;
use plan::{Expr, IndexBound, IndexCondition, IndexDistance, IndexRef, ParamId, Plan, RelId};
use tuple::Datum;
use txn::TxnSystem;
use types::Order;

use super::ahead::Ahead;
use super::nearest::NearestScan;
use super::row_reader::{RowReader, SelectiveReader};
use super::watching::WatchedKeys;
use super::{BoxNode, Builder, Node, Origin, Projection};

/// Removal horizon of a table, for its indexes.
pub struct TableHorizon<'a> {
    txns: &'a TxnSystem,
    kind: txn::RelKind,
}

impl<'a> TableHorizon<'a> {
    /// Of a table of this kind.
    pub fn new(txns: &'a TxnSystem, kind: txn::RelKind) -> TableHorizon<'a> {
        TableHorizon { txns, kind }
    }
}

impl Horizon for TableHorizon<'_> {
    fn next_xid(&self) -> Xid {
        self.txns.next_xid()
    }

    fn is_removable(&self, xid: Xid) -> bool {
        self.txns.is_removable(self.kind, xid)
    }
}

/// The heap of a relation of the statement.
pub fn heap_of(builder: &Builder<'_>, rel: RelId) -> SqlResult<Arc<HeapRel>> {
    let table = builder.statement.relations[rel].table.as_ref();
    let table = table.ok_or_else(|| SqlError::internal("a table scan over no table"))?;
    table
        .heap
        .clone()
        .ok_or_else(|| SqlError::internal(format!("relation \"{}\" has no storage", table.name)))
}

/// After an index was read: fails if it may have lost an entry of a row that the snapshot sees (`old_snapshot_threshold`).
#[inline]
pub(super) fn check_not_lost(heap: &HeapRel, cx: &Cx<'_>) -> SqlResult<()> {
    if cx.env.snapshot.lost_from(heap.desc.file, base::BlockNo(0)) {
        return Err(eval::error::heap(heap::HeapError::SnapshotTooOld));
    }
    Ok(())
}

/// Parts that all table scans share.
pub(super) struct Parts {
    pub(super) heap: Arc<HeapRel>,
    pub(super) raw: RawRow,
    pub(super) projection: Projection,
    pub(super) table: Oid,
}

/// The parts of a scan; `more`: what it computes beside its plan's expressions.
pub(super) fn parts(builder: &Builder<'_>, plan: &Plan, rel: RelId, more: &[Expr]) -> SqlResult<Parts> {
    let heap = heap_of(builder, rel)?;
    let relation = &builder.statement.relations[rel];
    let table = relation.table.as_ref().map_or(Oid::INVALID, |t| t.oid);
    let exprs = plan.output.iter().chain(&plan.filter).chain(more);
    let raw = RawRow::of(rel, exprs, relation.columns.len());
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    Ok(Parts { heap, raw, projection, table })
}

/// The scan of a relation whose row is given, while a concurrently updated row is checked again.
pub(super) fn recheck(
    builder: &Builder<'_>,
    plan: &Plan,
    rel: RelId,
    conditions: Vec<Expr>,
) -> SqlResult<BoxNode> {
    let columns = builder.statement.relations[rel].columns.len();
    let raw = RawRow { rel, upto: columns, system: vec![-1, -2, -3, -4, -5, -6], start: 0 };
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    let conditions = builder.compiler().list(&conditions, Inputs::scan(&raw))?;
    Ok(Box::new(RecheckScan { rel, projection, conditions }))
}

struct RecheckScan {
    rel: RelId,
    projection: Projection,
    conditions: Box<[Code]>,
}

impl Node for RecheckScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let given = cx.recheck.iter_mut().find(|given| given.rel == self.rel && !given.done);
        let Some(given) = given else { return Ok(false) };
        given.done = true;
        let Some(row) = given.row.clone() else { return Ok(false) };
        let rows = Rows::one(&row);
        Ok(passes(&self.conditions, rows, cx)? && self.projection.apply(rows, cx)?)
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        for given in cx.recheck.iter_mut().filter(|given| given.rel == self.rel) {
            given.done = false;
        }
        Ok(())
    }

    fn close(&mut self, _cx: &mut Cx<'_>) {}
}

/// A condition of an index scan, compiled.
struct KeyCode {
    column: usize,
    bound: IndexBound,
    value: Code,
    /// How elements of an array compare, in the order of the index.
    element: Option<ElementOrder>,
}

/// How elements of an array compare.
#[derive(Clone, Copy)]
enum ElementOrder {
    /// As values of their type.
    Usual(Order),
    /// As the index says, whose order a function of a user tells.
    Asked(Compare),
}

/// The conditions of an index scan and what they make of the cells' present values.
pub(super) struct Keys {
    codes: Box<[KeyCode]>,
    direction: Direction,
    /// Number of the method's strategy of equality.
    equality: u16,
    /// Of a point query: each of the leading columns, in their order, is to equal one value.
    point: bool,
    /// What entries come in the order of.
    distances: Box<[DistanceCode]>,
}

/// A distance of an index scan, compiled.
struct DistanceCode {
    column: usize,
    strategy: u16,
    operand: Oid,
    value: Code,
}

impl Keys {
    pub(super) fn new(
        builder: &Builder<'_>,
        index: &IndexRef,
        conditions: &[IndexCondition],
        backward: bool,
    ) -> SqlResult<Keys> {
        let compiler = builder.compiler();
        let codes = conditions
            .iter()
            .map(|c| {
                let element = builder.statement.types.element(c.value.type_oid());
                let element = match c.bound {
                    IndexBound::Any if index.asks(c.column) => {
                        Some(ElementOrder::Asked(index.storage()?.desc().keys[c.column].compare))
                    }
                    IndexBound::Any => {
                        let collation = index.collations.get(c.column).copied().unwrap_or_default();
                        let order = builder.statement.types.comparator(element, collation)?.order;
                        order.map(ElementOrder::Usual)
                    }
                    _ => None,
                };
                let value = compiler.expr(&c.value, Inputs::default())?;
                Ok(KeyCode { column: c.column, bound: c.bound, value, element })
            })
            .collect::<SqlResult<Box<[KeyCode]>>>()?;
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let equal = |(i, code): (usize, &KeyCode)| code.column == i && code.bound == IndexBound::Equal;
        let point =
            index.method.equality.is_some() && !codes.is_empty() && codes.iter().enumerate().all(equal);
        let equality = index.method.equality.unwrap_or(strategy::EQUAL);
        Ok(Keys { codes, direction, equality, point, distances: Box::new([]) })
    }

    fn add_distances(&mut self, builder: &Builder<'_>, distances: &[IndexDistance]) -> SqlResult<()> {
        let compiler = builder.compiler();
        let code = |d: &IndexDistance| {
            let value = compiler.expr(&d.value, Inputs::default())?;
            Ok(DistanceCode { column: d.column, strategy: d.strategy, operand: d.operand, value })
        };
        self.distances = distances.iter().map(code).collect::<SqlResult<_>>()?;
        Ok(())
    }

    /// The distances by which entries are ordered: all are equally far from a NULL.
    fn compute_distances(&self, cx: &mut Cx<'_>) -> SqlResult<Vec<ScanKey>> {
        let mut key = |d: &DistanceCode| {
            let value = d.value.eval(Rows::one(&[]), cx)?;
            let op = ScanOp::Operator { strategy: d.strategy, operand: d.operand, value };
            Ok(ScanKey { column: d.column, op })
        };
        self.distances.iter().map(&mut key).collect()
    }

    /// Starts the scan of a point query; `false` if a value is NULL.
    fn start_point(&self, cx: &mut Cx<'_>, access: &IndexAccess<'_>, scan: &mut OpenScan) -> SqlResult<bool> {
        scan.rescan_equal(access, self.codes.len(), |i| self.codes[i].value.eval(Rows::one(&[]), cx))
    }

    /// Starts the scan; `false` if a bound is NULL: nothing can be found.
    pub(super) fn start(
        &self,
        cx: &mut Cx<'_>,
        access: &IndexAccess<'_>,
        scan: &mut OpenScan,
    ) -> SqlResult<bool> {
        let Some(keys) = self.compute(cx)? else { return Ok(false) };
        scan.rescan(access, ScanKeys { keys, direction: self.direction });
        Ok(true)
    }

    /// The conditions; `None` if a bound is NULL.
    pub(super) fn compute(&self, cx: &mut Cx<'_>) -> SqlResult<Option<Vec<ScanKey>>> {
        let mut keys = Vec::with_capacity(self.codes.len());
        for code in &self.codes {
            let op = match code.bound {
                IndexBound::IsNull => ScanOp::IsNull,
                IndexBound::IsNotNull => ScanOp::IsNotNull,
                bound => {
                    let value = code.value.eval(Rows::one(&[]), cx)?;
                    if value.is_null() {
                        return Ok(None);
                    }
                    match bound {
                        IndexBound::Less => ScanOp::Strategy(strategy::LESS, value),
                        IndexBound::LessEqual => ScanOp::Strategy(strategy::LESS_EQUAL, value),
                        IndexBound::GreaterEqual => ScanOp::Strategy(strategy::GREATER_EQUAL, value),
                        IndexBound::Greater => ScanOp::Strategy(strategy::GREATER, value),
                        IndexBound::Operator { strategy, operand } => {
                            ScanOp::Operator { strategy, operand, value }
                        }
                        IndexBound::Any => {
                            let list = eval::composite::elements(&value);
                            ScanOp::Any(sorted_unique(list, code.element)?)
                        }
                        _ => ScanOp::Strategy(self.equality, value),
                    }
                }
            };
            keys.push(ScanKey { column: code.column, op });
        }
        Ok(Some(keys))
    }
}

fn sorted_unique(mut list: Vec<Datum>, order: Option<ElementOrder>) -> SqlResult<Vec<Datum>> {
    list.retain(|v| !v.is_null());
    match order.ok_or_else(|| SqlError::internal("values of an array without order"))? {
        ElementOrder::Usual(order) => {
            types::piece::sort_by(&mut list, |a, b| order.compare(a, b))?;
            list.dedup_by(|a, b| order.compare(a, b).is_eq());
        }
        ElementOrder::Asked(order) => {
            types::piece::sort_by_any(&mut list, |a, b| compare_values(order, a, b))?;
            list.dedup_by(|a, b| compare_values(order, a, b).is_eq());
            types::asked::check()?;
        }
    }
    Ok(list)
}

/// An index scan, or an index-only scan.
pub fn index(
    builder: &mut Builder<'_>,
    plan: &Plan,
    rel: RelId,
    index: &IndexRef,
    (conditions, distances): (&[IndexCondition], &[IndexDistance]),
    backward: bool,
    only: bool,
) -> SqlResult<BoxNode> {
    if builder.recheck.contains(&rel) {
        return recheck(builder, plan, rel, conditions.iter().map(|c| c.original.clone()).collect());
    }
    let open = index.storage()?.clone();
    let own: Vec<Expr> = distances.iter().map(|d| d.original.clone()).collect();
    let recheck: Vec<Expr> = match index.method.lossy {
        true => conditions.iter().map(|c| c.original.clone()).collect(),
        false => Vec::new(),
    };
    let more: Vec<Expr> = recheck.iter().chain(&own).cloned().collect();
    let Parts { heap, raw, projection, table } = parts(builder, plan, rel, &more)?;
    let recheck = builder.compiler().list(&recheck, Inputs::scan(&raw))?;
    let places = own.iter().map(|e| types::place_of(e.type_oid()));
    let own =
        builder.compiler().list(&own, Inputs::scan(&raw))?.into_iter().zip(places).collect::<Box<[_]>>();
    let names = Names { index: index.name.clone(), table: index.table.name.clone() };
    let mut keys = Keys::new(builder, index, conditions, backward)?;
    keys.add_distances(builder, distances)?;
    // Where an index-only scan finds each column of the row in the index entry.
    let places = only.then(|| (1..=raw.upto as i16).map(|column| index.holds(column)).collect());
    let reader = RowReader::new(heap.clone(), raw, table);
    let idle = projection.is_idle();
    let scan = IndexScan {
        heap,
        index: open,
        names,
        reader,
        projection,
        keys,
        recheck,
        places,
        scan: None,
        started: false,
        watched: WatchedKeys::default(),
        reading: false,
        at: Tid::default(),
        tuple: HeapTuple::new(),
        ahead: Ahead::locking(builder.page_lock.take()),
        idle,
        values: Vec::new(),
        entry: Vec::new(),
        map: heap::vm::VmCursor::default(),
        counted: Counted::new(table),
        index_counted: Counted::new(index.oid),
    };
    Ok(if own.is_empty() { Box::new(scan) } else { Box::new(NearestScan::new(scan, own)) })
}

/// EXPLAIN's count of an index-only scan's looks at the table.
fn one_more_fetch(before: Detail) -> Detail {
    match before {
        Detail::HeapFetches(count) => Detail::HeapFetches(count + 1),
        _ => Detail::HeapFetches(1),
    }
}

/// Whether all rows of a page are visible to everybody, so that an index entry tells enough. A serializable transaction locks the page before that
/// is settled.
#[inline]
fn all_visible(heap: &HeapRel, tid: Tid, map: &mut heap::vm::VmCursor, cx: &Cx<'_>) -> SqlResult<bool> {
    let ask = |map: &mut heap::vm::VmCursor| {
        heap::vm::all_visible(&cx.env.access, heap, tid.block, map).map_err(eval::error::heap)
    };
    let visible = ask(map)?;
    if !visible || !cx.env.fixed_snapshot {
        return Ok(visible);
    }
    cx.with_view(|_, view| heap::watch_page(heap, view.me, tid.block));
    ask(map)
}

pub(super) struct Names {
    pub(super) index: String,
    pub(super) table: String,
}

pub(super) struct IndexScan {
    heap: Arc<HeapRel>,
    index: OpenIndex,
    names: Names,
    reader: RowReader,
    projection: Projection,
    keys: Keys,
    /// The conditions, for entries that may not satisfy them.
    recheck: Box<[Code]>,
    places: Option<Vec<Option<usize>>>,
    scan: Option<OpenScan>,
    started: bool,
    watched: WatchedKeys,
    /// `scan` may find more entries.
    reading: bool,
    /// Place of the row last read, or that its index entry names.
    at: Tid,
    tuple: HeapTuple,
    ahead: Ahead,
    /// All rows that are found are given.
    idle: bool,
    values: Vec<Datum>,
    entry: Vec<Datum>,
    /// Page of the visibility map last looked at.
    map: heap::vm::VmCursor,
    counted: Counted,
    index_counted: Counted,
}

impl IndexScan {
    /// Starts the scan; false if nothing can be found.
    fn start(&mut self, access: &IndexAccess<'_>, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.started = true;
        let only = self.places.is_some();
        let scan = self.scan.get_or_insert_with(|| {
            let keys = ScanKeys { keys: Vec::new(), direction: self.keys.direction };
            self.index.scan(keys, if only { Wants::ONLY } else { Wants::TIDS })
        });
        self.watched.end(&self.index, scan, only, cx);
        self.reading = match self.keys.point {
            true => self.keys.start_point(cx, access, scan)?,
            false => self.keys.start(cx, access, scan)?,
        };
        if self.reading && !self.keys.distances.is_empty() {
            let distances = self.keys.compute_distances(cx)?;
            scan.order_by(distances).map_err(|e| e.into_sql(&self.names.index, &self.names.table))?;
        }
        if self.reading {
            self.watched.begin(&self.heap, &self.index, scan, cx);
        }
        Ok(self.reading)
    }

    /// Distances of the entry of the row last read, and whether the row's own may be greater.
    pub(super) fn distances(&self) -> (&[f64], bool) {
        let scan = self.scan.as_ref();
        let distances = scan.and_then(OpenScan::distances).unwrap_or_default();
        (distances, scan.is_some_and(OpenScan::recheck_distances))
    }

    /// Values of the row last read.
    pub(super) fn values(&self) -> &[Datum] {
        &self.values
    }

    /// Takes the row last read away.
    pub(super) fn take_row(&mut self) -> (Tid, Vec<Datum>) {
        (self.at, std::mem::take(&mut self.values))
    }

    /// Makes a row that was taken away the one last read.
    pub(super) fn give_row(&mut self, (at, values): (Tid, Vec<Datum>)) {
        (self.at, self.values) = (at, values);
    }

    /// Computes what the plan asks of the row last read; whether it passes the filter.
    pub(super) fn project(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.projection.apply(Rows::one(&self.values), cx)
    }

    /// Reads the next row's values into `self.values`.
    pub(super) fn fetch_next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if self.is_over() {
                return Ok(false);
            }
            let horizon = TableHorizon::new(cx.env.access.txns, self.heap.desc.kind);
            // Only searches for the nearest heed them.
            let limits = match self.keys.distances.is_empty() {
                true => index::Limits::default(),
                false => cx.env.session.index_limits(),
            };
            let access =
                IndexAccess { pool: cx.env.access.pool, horizon: &horizon, xid: Xid::INVALID, limits };
            if !self.reading && !self.start(&access, cx)? {
                return Ok(false);
            }
            let Some(scan) = &mut self.scan else { return Ok(false) };
            let before = runtime::usage::pages();
            let found = scan.next(&access).map_err(|e| e.into_sql(&self.names.index, &self.names.table))?;
            let before = self.index_counted.scan.pages_since(before);
            check_not_lost(&self.heap, cx)?;
            self.reading = found.is_some() && scan.has_more();
            let Some(tid) = found else { continue };
            self.at = tid;
            self.index_counted.scan.returned += 1;
            if let Some(places) = &self.places
                && all_visible(&self.heap, tid, &mut self.map, cx)?
            {
                self.counted.scan.pages_since(before);
                self.entry.clear();
                scan.values(&mut self.entry).map_err(|e| e.into_sql(&self.names.index, &self.names.table))?;
                self.values.clear();
                let entry = &self.entry;
                self.values.extend(places.iter().map(|p| p.map_or(Datum::Null, |i| entry[i].clone())));
                if scan.recheck() && !passes(&self.recheck, Rows::one(&self.values), cx)? {
                    cx.note_rechecked_rows(1);
                    continue;
                }
                return Ok(true);
            }
            if self.places.is_some() {
                cx.tell(one_more_fetch);
            }
            let wanted = (tid, scan.upcoming());
            let (fetched, row) = self.ahead.row(&self.heap, wanted, &mut self.tuple, cx)?;
            self.counted.scan.pages_since(before);
            match fetched {
                Fetched::Visible => {
                    self.index_counted.scan.fetched += 1;
                    let Some(tuple) = row else { continue };
                    self.at = tuple.tid;
                    self.reader.read(&tuple, &mut self.values)?;
                    self.reader.detoast(cx, &mut self.values)?;
                    if scan.recheck() && !passes(&self.recheck, Rows::one(&self.values), cx)? {
                        cx.note_rechecked_rows(1);
                        continue;
                    }
                    return Ok(true);
                }
                Fetched::AllDead => scan.kill_current(),
                Fetched::Invisible => {}
            }
            if self.places.is_none() {
                while let Some(fetched) = self.ahead.pass_unseen() {
                    scan.pass(1);
                    self.index_counted.scan.returned += 1;
                    if fetched == Fetched::AllDead {
                        scan.kill_current();
                    }
                }
                self.reading = scan.has_more();
            }
        }
    }
}

impl Node for IndexScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        while self.fetch_next(cx)? {
            if self.projection.apply(Rows::one(&self.values), cx)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn is_over(&self) -> bool {
        self.started && !self.reading
    }

    fn skip(&mut self, cx: &mut Cx<'_>) -> SqlResult<usize> {
        let Some(scan) = self.scan.as_mut().filter(|_| self.idle && self.reading) else { return Ok(0) };
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        let before = runtime::usage::pages();
        if self.places.is_some() {
            if cx.env.fixed_snapshot {
                return Ok(0);
            }
            let (access, map) = (&cx.env.access, &mut self.map);
            let seen = heap::vm::all_visible_from_first(access, &self.heap, scan.upcoming(), map);
            let seen = seen.map_err(eval::error::heap)?;
            self.counted.scan.pages_since(before);
            scan.pass(seen);
            check_not_lost(&self.heap, cx)?;
            self.reading = scan.has_more();
            self.index_counted.scan.returned += seen as i64;
            return Ok(seen);
        }
        let ready = self.ahead.ready(&self.heap, scan.upcoming(), cx)?;
        self.counted.scan.pages_since(before);
        let mut seen = 0;
        for _ in 0..ready {
            scan.pass(1);
            match self.ahead.pass() {
                Fetched::Visible => seen += 1,
                Fetched::AllDead => scan.kill_current(),
                Fetched::Invisible => {}
            }
        }
        check_not_lost(&self.heap, cx)?;
        self.reading = scan.has_more();
        self.index_counted.scan.returned += ready as i64;
        self.index_counted.scan.fetched += seen as i64;
        Ok(seen)
    }

    fn is_locked(&self) -> bool {
        self.ahead.is_locked()
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        found.push((self.reader.table(), self.at));
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        self.started = false;
        self.reading = false;
        self.ahead.restart();
        Ok(())
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        if let Some(scan) = &mut self.scan {
            self.watched.end(&self.index, scan, self.places.is_some(), cx);
            let horizon = TableHorizon::new(cx.env.access.txns, self.heap.desc.kind);
            scan.finish(&IndexAccess {
                pool: cx.env.access.pool,
                horizon: &horizon,
                xid: Xid::INVALID,
                limits: index::Limits::default(),
            });
            self.index_counted.scan.scans += scan.take_searches() as i64;
        }
        cx.count_scan(&mut self.counted);
        cx.count_scan(&mut self.index_counted);
        self.map = heap::vm::VmCursor::default();
        self.started = false;
        self.reading = false;
        self.ahead.restart();
    }
}

/// A scan by place.
pub fn tid(
    builder: &Builder<'_>,
    plan: &Plan,
    rel: RelId,
    tids: &[Expr],
    condition: &[Expr],
) -> SqlResult<BoxNode> {
    if builder.recheck.contains(&rel) {
        // The newest version of the row counts, wherever it is stored.
        let condition = condition.iter().filter(|e| !e.is_current_of());
        return recheck(builder, plan, rel, condition.cloned().collect());
    }
    let Parts { heap, raw, projection, table } = parts(builder, plan, rel, &[])?;
    let codes = builder.compiler().list(tids, Inputs::default())?;
    let source = match tids {
        [Expr::CurrentOf { .. }] => TidSource::Cursor(codes),
        _ => TidSource::Values(codes, tids.iter().map(Expr::type_oid).collect()),
    };
    let reader = SelectiveReader::new(RowReader::new(heap.clone(), raw, table), plan, &[]);
    let (tuple, values, counted) = (HeapTuple::new(), Vec::new(), Counted::new(table));
    Ok(Box::new(TidScan {
        heap,
        reader,
        projection,
        source,
        tids: None,
        at: 0,
        tuple,
        origin: None,
        values,
        counted,
    }))
}

enum TidSource {
    Values(Box<[Code]>, Vec<Oid>),
    /// The row that a cursor stands on.
    Cursor(Box<[Code]>),
}

/// Rows at places that a query names.
struct TidScan {
    heap: Arc<HeapRel>,
    reader: SelectiveReader,
    projection: Projection,
    source: TidSource,
    tids: Option<Vec<Tid>>,
    at: usize,
    tuple: HeapTuple,
    /// Place of the row last read.
    origin: Option<Tid>,
    values: Vec<Datum>,
    counted: Counted,
}

impl TidScan {
    fn collect(&self, cx: &mut Cx<'_>) -> SqlResult<Vec<Tid>> {
        match &self.source {
            TidSource::Cursor(codes) => {
                let mut place = |code: &Code| Ok(datum_tid(&code.eval(Rows::one(&[]), cx)?));
                codes.iter().filter_map(|code| place(code).transpose()).collect()
            }
            TidSource::Values(codes, types) => {
                let mut out = Vec::new();
                for (code, type_oid) in codes.iter().zip(types) {
                    let value = code.eval(Rows::one(&[]), cx)?;
                    if *type_oid == types::oids::tid {
                        out.extend(datum_tid(&value));
                    } else if !value.is_null() {
                        out.extend(eval::composite::elements(&value).iter().filter_map(datum_tid));
                    }
                }
                out.sort_unstable();
                out.dedup();
                let blocks = cx.env.access.pool.nblocks(self.heap.desc.file, base::Fork::Main).unwrap_or(0);
                out.retain(|t| t.block.0 < blocks && t.offset > 0);
                Ok(out)
            }
        }
    }
}

impl Node for TidScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.tids.is_none() {
            self.tids = Some(self.collect(cx)?);
            self.at = 0;
        }
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let Some(tid) = self.tids.as_ref().and_then(|tids| tids.get(self.at)).copied() else {
                return Ok(false);
            };
            self.at += 1;
            let (before, heap, tuple) = (runtime::usage::pages(), &self.heap, &mut self.tuple);
            // A version may be named that no index entry leads to.
            let newest = matches!(self.source, TidSource::Cursor(_));
            let fetch = if newest { heap::fetch_latest } else { heap::fetch_exact };
            let found = cx.with_view(|access, view| fetch(access, heap, view, tid, tuple));
            let found = found.map_err(eval::error::heap)?;
            self.counted.scan.pages_since(before);
            let Some(tuple) = found.then(|| self.tuple.get()).flatten() else { continue };
            self.counted.scan.fetched += 1;
            self.origin = Some(tuple.tid);
            if self.reader.read(&tuple, (&[], Some(&self.projection)), cx, &mut self.values)? {
                self.projection.project(Rows::one(&self.values), cx)?;
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        found.extend(self.origin.map(|tid| (self.reader.reader.table(), tid)));
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        self.tids = None;
        Ok(())
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        cx.count_scan(&mut self.counted);
        self.tids = None;
    }
}
