//! The batches of a table scan: of the rows that it has at hand, which are those of a page ([`HeapScan`]), or of several ([`GatheredRows`]).

use base::{BlockNo, SqlError, SqlResult};
use eval::compile::{Inputs, RawRow};
use eval::cx::Cx;
use heap::{GatheredRows, HeapRel, HeapScan};
use plan::{Expr, Plan};
use tuple::{Batch, Column, ColumnReader, RowPlace};

use super::condition::Condition;
use super::is_plain;
use super::vector::Vector;
use crate::nodes::Builder;

/// Rows that a scan has at hand.
pub(crate) trait AtHand {
    /// How many are left.
    fn left(&self) -> usize;
    /// Where those lie in the bytes; `false` if some is no tuple.
    fn places(&self, places: &mut Vec<RowPlace>) -> bool;
    /// The bytes of all rows.
    fn bytes(&self) -> &[u8];
    /// The page of the first, which tells them from others of the same round.
    fn block(&self) -> BlockNo;
    /// Passes over those that are left.
    fn pass(&mut self);
}

impl AtHand for HeapScan {
    fn left(&self) -> usize {
        HeapScan::left(self)
    }

    fn places(&self, places: &mut Vec<RowPlace>) -> bool {
        HeapScan::places(self, places)
    }

    fn bytes(&self) -> &[u8] {
        self.page()
    }

    fn block(&self) -> BlockNo {
        HeapScan::block(self)
    }

    fn pass(&mut self) {
        self.pass_page();
    }
}

impl AtHand for GatheredRows {
    fn left(&self) -> usize {
        GatheredRows::left(self)
    }

    fn places(&self, places: &mut Vec<RowPlace>) -> bool {
        GatheredRows::places(self, places)
    }

    fn bytes(&self) -> &[u8] {
        GatheredRows::bytes(self)
    }

    fn block(&self) -> BlockNo {
        self.first_block()
    }

    fn pass(&mut self) {
        GatheredRows::pass(self);
    }
}

/// What a table scan has to give batches.
pub(crate) struct BatchScan {
    /// Of what filter and output read.
    reader: ColumnReader,
    /// Of what the conditions of an index read besides.
    rechecking: ColumnReader,
    /// The conditions of an index, for rows that may not satisfy them.
    recheck: Vec<Condition>,
    filter: Vec<Condition>,
    outputs: Vec<Vector>,
    /// The table's columns, then what is computed.
    columns: Vec<Column>,
    /// Number of the table's columns.
    own: usize,
    /// Each column of the table stands at its own place.
    identity: Vec<usize>,
    /// Where each column of the output stands.
    places: Vec<usize>,
    rows: Vec<RowPlace>,
    /// The numbers from 0 on.
    numbers: Vec<u16>,
    /// The rows that have passed the conditions, if there were any.
    chosen: Vec<u16>,
    /// There were none.
    all: bool,
    /// Rows that are read one by one, and the error because of which they are.
    refused: Option<(BlockNo, Option<SqlError>)>,
}

/// What became of the rows at hand.
pub(crate) enum Page {
    /// So many rows were looked at, and some are in the batch.
    Given(usize),
    /// So many rows were looked at.
    Passed(usize),
    /// They are to be read row by row.
    Refused,
}

impl BatchScan {
    /// For a scan of a table with the columns of `raw` that checks rows against `recheck` where it has to; none if it is not one for batches.
    pub(crate) fn new(
        builder: &Builder<'_>,
        plan: &Plan,
        raw: &RawRow,
        heap: &HeapRel,
        recheck: &[Expr],
    ) -> SqlResult<Option<BatchScan>> {
        BatchScan::over(builder, (&plan.filter, &plan.output), raw, heap, recheck)
    }

    fn over(
        builder: &Builder<'_>,
        (filter, output): (&[Expr], &[Expr]),
        raw: &RawRow,
        heap: &HeapRel,
        recheck: &[Expr],
    ) -> SqlResult<Option<BatchScan>> {
        let layout = &heap.desc.layout;
        let plain = filter.iter().chain(output).chain(recheck).all(is_plain);
        if !plain || !raw.system.is_empty() || raw.upto > layout.len() {
            return Ok(None);
        }
        let compiler = builder.compiler();
        let types = &builder.statement.types;
        let reads = |expr: &Expr| {
            let read = raw.read_by([expr]);
            (0..raw.upto).filter(|column| read[*column]).collect::<Vec<_>>()
        };
        let condition = |expr: &Expr| {
            let code = compiler.expr(expr, Inputs::scan(raw))?;
            Ok(Condition::new(code, &reads(expr), types))
        };
        let conditions = |exprs: &[Expr]| exprs.iter().map(condition).collect::<SqlResult<Vec<_>>>();
        let (rechecks, conditions) = (conditions(recheck)?, conditions(filter)?);
        let mut columns: Vec<Column> =
            layout.attrs()[..raw.upto].iter().map(|attr| Column::new(attr.physical)).collect();
        let (mut outputs, mut places) = (Vec::new(), Vec::new());
        for expr in output {
            let vector = Vector::new(compiler.expr(expr, Inputs::scan(raw))?, &reads(expr));
            places.push(vector.as_column().unwrap_or(columns.len()));
            if vector.as_column().is_none() {
                columns.push(vector.output());
                outputs.push(vector);
            }
        }
        let reader = |more: &[Expr]| {
            let wanted = raw.read_by(filter.iter().chain(output).chain(more));
            ColumnReader::new(layout, |column| wanted.get(column) == Some(&true))
        };
        let identity = (0..raw.upto).collect();
        let (rows, numbers, chosen) = Default::default();
        Ok(Some(BatchScan {
            reader: reader(&[]),
            rechecking: reader(recheck),
            recheck: rechecks,
            filter: conditions,
            outputs,
            columns,
            own: raw.upto,
            identity,
            places,
            rows,
            numbers,
            chosen,
            all: true,
            refused: None,
        }))
    }

    /// For a scan whose rows are asked for one by one: it only [chooses](Self::choose) among those at hand. None if there is nothing to choose by.
    pub(crate) fn choosing(
        builder: &Builder<'_>,
        plan: &Plan,
        raw: &RawRow,
        heap: &HeapRel,
    ) -> SqlResult<Option<BatchScan>> {
        if plan.filter.is_empty() {
            return Ok(None);
        }
        let columns = RawRow { system: Vec::new(), ..raw.clone() };
        BatchScan::over(builder, (&plan.filter, &[]), &columns, heap, &[])
    }

    /// Forgets that it has refused rows.
    pub(crate) fn restart(&mut self) {
        self.refused = None;
    }

    /// Whether the rows at hand are read row by row.
    pub(crate) fn has_refused(&self, rows: &dyn AtHand) -> bool {
        self.refused.as_ref().is_some_and(|(refused, _)| *refused == rows.block())
    }

    /// After rows were read row by row: the error because of which they were, if none of them had one.
    pub(crate) fn unexplained(&mut self) -> SqlResult<()> {
        match self.refused.take() {
            Some((_, Some(error))) => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes the rows that are left of those at hand. `rechecks`: they may not satisfy the conditions of the index.
    pub(crate) fn take(
        &mut self,
        heap: &HeapRel,
        at_hand: &mut dyn AtHand,
        rechecks: bool,
        cx: &mut Cx<'_>,
    ) -> Page {
        let page = self.look(heap, at_hand, rechecks, cx);
        if !matches!(page, Page::Refused) {
            at_hand.pass();
        }
        page
    }

    /// Has the scan pass over the rows at hand that the filter does not let through; of those that are given all are left.
    pub(crate) fn choose(&mut self, heap: &HeapRel, scan: &mut HeapScan, cx: &mut Cx<'_>) -> Page {
        let page = self.look(heap, scan, false, cx);
        if let Page::Given(count) | Page::Passed(count) = page {
            scan.keep(self.chosen(count));
        }
        page
    }

    fn look(&mut self, heap: &HeapRel, at_hand: &dyn AtHand, rechecks: bool, cx: &mut Cx<'_>) -> Page {
        let conditions = if rechecks { self.recheck.len() } else { 0 } + self.filter.len();
        self.all = conditions == 0;
        let reader = if rechecks { &self.rechecking } else { &self.reader };
        let count = if self.all && reader.columns().next().is_none() {
            at_hand.left()
        } else {
            let places = at_hand.places(&mut self.rows);
            let read = |rows: &[RowPlace], columns: &mut [Column]| {
                reader.read(&heap.desc.layout, at_hand.bytes(), rows, columns)
            };
            if !places || !read(&self.rows, &mut self.columns) {
                self.refused = Some((at_hand.block(), None));
                return Page::Refused;
            }
            self.rows.len()
        };
        let known = self.numbers.len();
        self.numbers.extend((known..count).map(|number| number as u16));
        // What interrupts it here is told to who reads row by row.
        let _kept = runtime::keep_interrupts();
        if let Err(error) = self.compute(at_hand.bytes(), count, rechecks, cx) {
            self.refused = Some((at_hand.block(), Some(error)));
            return Page::Refused;
        }
        if self.chosen(count).is_empty() { Page::Passed(count) } else { Page::Given(count) }
    }

    /// Runs conditions and output over the rows that were read.
    fn compute(&mut self, page: &[u8], count: usize, rechecks: bool, cx: &mut Cx<'_>) -> SqlResult<()> {
        let (own, made) = self.columns.split_at_mut(self.own);
        let batch = Batch { page, rows: &[], columns: own, places: &self.identity };
        let mut removed = [0; 2];
        if !self.all {
            self.chosen.clear();
            self.chosen.extend_from_slice(&self.numbers[..count]);
            if rechecks {
                removed[0] = refine(&mut self.recheck, &batch, cx, &mut self.chosen)?;
            }
            removed[1] = refine(&mut self.filter, &batch, cx, &mut self.chosen)?;
        }
        let rows = if self.all { &self.numbers[..count] } else { &self.chosen[..] };
        for (vector, out) in self.outputs.iter_mut().zip(made) {
            vector.eval(&batch, rows, cx, out)?;
        }
        if cx.state.counters.is_some() {
            cx.note_rechecked_rows(removed[0]);
            cx.note_filtered_rows(removed[1]);
        }
        Ok(())
    }

    fn chosen(&self, count: usize) -> &[u16] {
        if self.all { &self.numbers[..count] } else { &self.chosen }
    }

    /// The batch of rows that were given.
    pub(crate) fn batch<'a>(&'a self, given: &'a dyn AtHand, count: usize) -> Batch<'a> {
        Batch { page: given.bytes(), rows: self.chosen(count), columns: &self.columns, places: &self.places }
    }
}

/// Leaves of the rows those that satisfy all conditions; how many do not.
fn refine(
    conditions: &mut [Condition],
    batch: &Batch<'_>,
    cx: &mut Cx<'_>,
    rows: &mut Vec<u16>,
) -> SqlResult<usize> {
    let before = rows.len();
    for condition in conditions {
        if rows.is_empty() {
            break;
        }
        condition.refine(batch, cx, rows)?;
    }
    Ok(before - rows.len())
}
