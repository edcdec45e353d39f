//! Aggregate calls over the columns of a batch.

use base::SqlResult;
use eval::code::Rows;
use eval::compile::Inputs;
use eval::cx::Cx;
use plan::{AggCall, Expr, Plan};
use tuple::{Batch, Column, Datum};
use types::aggregate::AggState;
use types::aggregate_columns::{Lane, States};

use super::condition::Condition;
use super::is_plain;
use super::vector::Vector;
use crate::nodes::{Builder, CallCode};

/// What the calls of an aggregation need to take columns.
pub(crate) struct ColumnCalls {
    calls: Vec<ColumnCall>,
    /// Columns of the input that the row form of what is computed reads.
    pub(crate) reads: Box<[usize]>,
}

struct ColumnCall {
    arg: Option<Vector>,
    made: Column,
    filter: Option<Condition>,
    /// The rows that the filter let through, and their groups.
    chosen: Vec<u16>,
    groups: Vec<u32>,
}

/// The columns of a child's rows that an expression may read.
pub(crate) fn reads_of(expr: &Expr, output: &[Expr]) -> Vec<usize> {
    let read = |column: &usize| expr.any(&mut |e| *e == output[*column]);
    (0..output.len()).filter(read).collect()
}

impl ColumnCalls {
    /// Of an aggregation's calls; none if one of them wants rows.
    pub(crate) fn new(
        builder: &Builder<'_>,
        child: &Plan,
        keys: &[Expr],
        calls: &[AggCall],
    ) -> SqlResult<Option<ColumnCalls>> {
        let inputs = Inputs::one(&child.output);
        let compiler = builder.compiler();
        let mut made = Vec::new();
        for call in calls {
            let simple = match &call.steps {
                plan::Steps::Native(row) => row.kind == b'n' && row.imp.takes_columns(),
                plan::Steps::User(_) => false,
            };
            let plain = call.args.iter().chain(&call.filter).all(is_plain);
            if !simple || !plain || call.distinct || !call.order.is_empty() || call.args.len() > 1 {
                return Ok(None);
            }
            let arg = match call.args.first() {
                Some(arg) => Some(Vector::new(compiler.expr(arg, inputs)?, &reads_of(arg, &child.output))),
                None => None,
            };
            let filter = match &call.filter {
                Some(filter) => {
                    let code = compiler.expr(filter, inputs)?;
                    let reads = reads_of(filter, &child.output);
                    Some(Condition::new(code, &reads, &builder.statement.types))
                }
                None => None,
            };
            let column =
                arg.as_ref().map_or_else(|| Column::of_datums(tuple::Physical::Varlena), Vector::output);
            made.push(ColumnCall { arg, made: column, filter, chosen: Vec::new(), groups: Vec::new() });
        }
        let exprs = keys.iter().chain(calls.iter().flat_map(|call| call.args.iter().chain(&call.filter)));
        let mut reads: Vec<usize> = exprs.flat_map(|expr| reads_of(expr, &child.output)).collect();
        reads.sort_unstable();
        reads.dedup();
        Ok(Some(ColumnCalls { calls: made, reads: reads.into() }))
    }

    /// Computes filters and arguments. Nothing has been taken if that fails.
    pub(crate) fn prepare(&mut self, batch: &Batch<'_>, groups: &[u32], cx: &mut Cx<'_>) -> SqlResult<()> {
        for call in &mut self.calls {
            let mut rows = batch.rows;
            if let Some(filter) = &mut call.filter {
                call.chosen.clear();
                call.chosen.extend_from_slice(batch.rows);
                filter.refine(batch, cx, &mut call.chosen)?;
                rows = &call.chosen;
                if !groups.is_empty() {
                    call.groups.clear();
                    // Both lists of rows are in the same order.
                    let mut chosen = rows.iter().peekable();
                    let pairs = batch.rows.iter().zip(groups);
                    let passed = pairs.filter(|(row, _)| chosen.next_if(|next| next == row).is_some());
                    call.groups.extend(passed.map(|(_, group)| *group));
                }
            }
            if let Some(arg) = &mut call.arg {
                arg.eval(batch, rows, cx, &mut call.made)?;
            }
        }
        Ok(())
    }

    /// What a call takes of a batch that it was prepared for: rows of a column, and their groups.
    fn lane<'a>(&'a self, call: usize, batch: &Batch<'a>, groups: &'a [u32]) -> (Lane<'a>, &'a [u32]) {
        let call = &self.calls[call];
        let column = call.arg.as_ref().map(|arg| arg.values(batch, &call.made));
        let (rows, groups) = match call.filter {
            Some(_) => (&call.chosen[..], &call.groups[..]),
            None => (batch.rows, groups),
        };
        (Lane { column, page: batch.page, rows }, groups)
    }

    /// Takes a batch that it was prepared for into the state of a call.
    pub(crate) fn add_to_one(
        &self,
        number: usize,
        call: &CallCode,
        state: &mut AggState,
        batch: &Batch<'_>,
        cx: &Cx<'_>,
    ) -> SqlResult<()> {
        call.add_column(States::One(state), &self.lane(number, batch, &[]).0, cx)
    }

    /// The same into the states of the rows' groups.
    pub(crate) fn add_to_groups(
        &self,
        number: usize,
        call: &CallCode,
        states: &mut [AggState],
        (batch, groups): (&Batch<'_>, &[u32]),
        cx: &Cx<'_>,
    ) -> SqlResult<()> {
        let (lane, groups) = self.lane(number, batch, groups);
        call.add_column(States::Groups(states, groups), &lane, cx)
    }

    /// Calls `each` for the rows of a batch, as rows.
    pub(crate) fn for_rows(
        &self,
        batch: &Batch<'_>,
        mut each: impl FnMut(Rows<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let mut values: Vec<Datum> = Vec::new();
        for row in batch.rows {
            batch.row(*row, self.reads.iter().copied(), &mut values);
            each(Rows::one(&values))?;
        }
        Ok(())
    }
}
