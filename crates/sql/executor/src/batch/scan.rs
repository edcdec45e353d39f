//! The batches of a table scan.

use base::{BlockNo, SqlError, SqlResult};
use eval::compile::{Inputs, RawRow};
use eval::cx::Cx;
use heap::{HeapRel, HeapScan};
use plan::{Expr, Plan};
use tuple::{Batch, Column, ColumnReader, RowPlace};

use super::condition::Condition;
use super::is_plain;
use super::vector::Vector;
use crate::nodes::Builder;

/// What a table scan has to give batches.
pub(crate) struct BatchScan {
    reader: ColumnReader,
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
    chosen: Vec<u16>,
    /// A page that is read row by row, and the error because of which it is.
    refused: Option<(BlockNo, Option<SqlError>)>,
}

/// What became of a page.
pub(crate) enum Page {
    /// So many rows were looked at, and some are in the batch.
    Given(usize),
    /// So many rows were looked at.
    Passed(usize),
    /// It is to be read row by row.
    Refused,
}

impl BatchScan {
    /// For a scan of a table with the columns of `raw`; none if it is not one for batches.
    pub(crate) fn new(
        builder: &Builder<'_>,
        plan: &Plan,
        raw: &RawRow,
        heap: &HeapRel,
    ) -> SqlResult<Option<BatchScan>> {
        let layout = &heap.desc.layout;
        let plain = plan.filter.iter().chain(&plan.output).all(is_plain);
        if !plain || !raw.system.is_empty() || raw.upto > layout.len() {
            return Ok(None);
        }
        let compiler = builder.compiler();
        let types = &builder.statement.types;
        let reads = |expr: &Expr| {
            let read = raw.read_by([expr]);
            (0..raw.upto).filter(|column| read[*column]).collect::<Vec<_>>()
        };
        let mut filter = Vec::new();
        for expr in &plan.filter {
            let code = compiler.expr(expr, Inputs::scan(raw))?;
            filter.push(Condition::new(code, &reads(expr), types));
        }
        let mut columns: Vec<Column> =
            layout.attrs()[..raw.upto].iter().map(|attr| Column::new(attr.physical)).collect();
        let (mut outputs, mut places) = (Vec::new(), Vec::new());
        for expr in &plan.output {
            let vector = Vector::new(compiler.expr(expr, Inputs::scan(raw))?, &reads(expr));
            places.push(vector.as_column().unwrap_or(columns.len()));
            if vector.as_column().is_none() {
                columns.push(vector.output());
                outputs.push(vector);
            }
        }
        let wanted = raw.read_by(plan.filter.iter().chain(&plan.output));
        let reader = ColumnReader::new(layout, |column| wanted.get(column) == Some(&true));
        let identity = (0..raw.upto).collect();
        let (rows, numbers, chosen) = Default::default();
        Ok(Some(BatchScan {
            reader,
            filter,
            outputs,
            columns,
            own: raw.upto,
            identity,
            places,
            rows,
            numbers,
            chosen,
            refused: None,
        }))
    }

    /// Forgets that it has refused a page.
    pub(crate) fn restart(&mut self) {
        self.refused = None;
    }

    /// Whether this page is read row by row.
    pub(crate) fn has_refused(&self, block: BlockNo) -> bool {
        self.refused.as_ref().is_some_and(|(refused, _)| *refused == block)
    }

    /// After a page was read row by row: the error because of which it was, if no row had one.
    pub(crate) fn unexplained(&mut self) -> SqlResult<()> {
        match self.refused.take() {
            Some((_, Some(error))) => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes the rows that are left on the scan's page.
    pub(crate) fn take(&mut self, heap: &HeapRel, scan: &mut HeapScan, cx: &mut Cx<'_>) -> Page {
        let refuse = |error| (scan.block(), error);
        let count = if self.filter.is_empty() && self.reader.columns().next().is_none() {
            scan.left()
        } else {
            let places = scan.places(&mut self.rows);
            if !places || !self.reader.read(&heap.desc.layout, scan.page(), &self.rows, &mut self.columns) {
                self.refused = Some(refuse(None));
                return Page::Refused;
            }
            self.rows.len()
        };
        let known = self.numbers.len();
        self.numbers.extend((known..count).map(|number| number as u16));
        // What interrupts it here is told to who reads row by row.
        let _kept = runtime::keep_interrupts();
        if let Err(error) = self.compute(scan.page(), count, cx) {
            self.refused = Some(refuse(Some(error)));
            return Page::Refused;
        }
        scan.pass_page();
        if self.chosen(count).is_empty() { Page::Passed(count) } else { Page::Given(count) }
    }

    /// Runs filter and output over the rows that were read.
    fn compute(&mut self, page: &[u8], count: usize, cx: &mut Cx<'_>) -> SqlResult<()> {
        let (own, made) = self.columns.split_at_mut(self.own);
        let batch = Batch { page, rows: &[], columns: own, places: &self.identity };
        if !self.filter.is_empty() {
            self.chosen.clear();
            self.chosen.extend_from_slice(&self.numbers[..count]);
            for condition in &mut self.filter {
                if self.chosen.is_empty() {
                    break;
                }
                condition.refine(&batch, cx, &mut self.chosen)?;
            }
        }
        let rows = if self.filter.is_empty() { &self.numbers[..count] } else { &self.chosen[..] };
        for (vector, out) in self.outputs.iter_mut().zip(made) {
            vector.eval(&batch, rows, cx, out)?;
        }
        if !self.filter.is_empty() && cx.state.counters.is_some() {
            cx.note_filtered_rows(count - rows.len());
        }
        Ok(())
    }

    fn chosen(&self, count: usize) -> &[u16] {
        if self.filter.is_empty() { &self.numbers[..count] } else { &self.chosen }
    }

    /// The batch of a page that was given.
    pub(crate) fn batch<'a>(&'a self, scan: &'a HeapScan, count: usize) -> Batch<'a> {
        Batch { page: scan.page(), rows: self.chosen(count), columns: &self.columns, places: &self.places }
    }
}
