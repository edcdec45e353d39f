//! Expressions over the columns of a batch.

use base::{SqlError, SqlResult};
use eval::code::{Code, IntOp, Rows};
use eval::cx::Cx;
use tuple::{Batch, Column, Datum, Physical, Values};

/// An expression whose values are wanted for the rows of a batch.
pub(crate) enum Vector {
    /// A column as it is.
    Column(usize),
    /// Integers that are computed.
    Ints(IntCode),
    /// By rows.
    Rows(RowForm),
}

impl Vector {
    /// Of a compiled expression that reads these columns of the batch.
    pub(crate) fn new(code: Code, reads: &[usize]) -> Vector {
        match code {
            Code::Outer(column) => Vector::Column(column),
            code => match IntCode::of(&code) {
                Some(IntCode::Op(op, sides)) => Vector::Ints(IntCode::Op(op, sides)),
                _ => Vector::Rows(RowForm::new(code, reads)),
            },
        }
    }

    /// Whether it is a column as it is.
    pub(crate) fn as_column(&self) -> Option<usize> {
        match self {
            Vector::Column(column) => Some(*column),
            _ => None,
        }
    }

    /// Where its values are after [`Vector::eval`]: in the batch, or in what that computed.
    pub(crate) fn values<'a>(&self, batch: &Batch<'a>, made: &'a Column) -> &'a Column {
        self.as_column().map_or(made, |column| batch.column(column))
    }

    /// An empty column for its values.
    pub(crate) fn output(&self) -> Column {
        match self {
            Vector::Ints(code) => Column::new(code.physical()),
            _ => Column::of_datums(Physical::Varlena),
        }
    }

    /// Computes the values of `rows`; those of others mean nothing. Of a column as it is nothing is computed.
    pub(crate) fn eval(
        &mut self,
        batch: &Batch<'_>,
        rows: &[u16],
        cx: &mut Cx<'_>,
        out: &mut Column,
    ) -> SqlResult<()> {
        match self {
            Vector::Column(_) => Ok(()),
            Vector::Ints(code) => {
                if !rows.is_empty() {
                    code.prepare(cx)?;
                }
                let (values, nulls) = code.eval(batch, rows, cx)?.into_vectors(rows);
                (out.values, out.nulls) = (Values::Ints(values), nulls);
                Ok(())
            }
            Vector::Rows(form) => {
                let mut values = match std::mem::replace(&mut out.values, Values::Datums(Vec::new())) {
                    Values::Datums(list) => list,
                    _ => Vec::new(),
                };
                values.clear();
                values.resize(count(rows), Datum::Null);
                for row in rows {
                    values[*row as usize] = form.eval(batch, *row, cx)?;
                }
                out.values = Values::Datums(values);
                Ok(())
            }
        }
    }
}

/// Rows up to the last of a list.
fn count(rows: &[u16]) -> usize {
    rows.last().map_or(0, |last| *last as usize + 1)
}

/// An expression that is computed row by row.
pub(crate) struct RowForm {
    code: Code,
    reads: Box<[usize]>,
    row: Vec<Datum>,
}

impl RowForm {
    /// Of code that reads these columns.
    pub(crate) fn new(code: Code, reads: &[usize]) -> RowForm {
        RowForm { code, reads: reads.into(), row: Vec::new() }
    }

    fn eval(&mut self, batch: &Batch<'_>, row: u16, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        runtime::check_interrupts()?;
        batch.row(row, self.reads.iter().copied(), &mut self.row);
        self.code.eval(Rows::one(&self.row), cx)
    }

    /// The truth of a condition.
    pub(crate) fn truth(&mut self, batch: &Batch<'_>, row: u16, cx: &mut Cx<'_>) -> SqlResult<Option<bool>> {
        runtime::check_interrupts()?;
        batch.row(row, self.reads.iter().copied(), &mut self.row);
        self.code.truth(Rows::one(&self.row), cx)
    }
}

/// An expression whose values are integers.
pub(crate) enum IntCode {
    Column(usize),
    /// What [`fixed`] gives.
    Fixed(Code),
    Op(IntOp, Box<(IntCode, IntCode)>),
}

/// What an [`IntCode`] has for the rows of a batch, by row number.
pub(crate) enum Ints<'a> {
    Column(&'a [i64], &'a [bool]),
    /// The same for all; none: NULL.
    One(Option<i64>),
    Made(Vec<i64>, Vec<bool>),
}

impl Ints<'_> {
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<i64> {
        let at =
            |values: &[i64], nulls: &[bool]| (!nulls.get(row).copied().unwrap_or(false)).then(|| values[row]);
        match self {
            Ints::Column(values, nulls) => at(values, nulls),
            Ints::One(value) => *value,
            Ints::Made(values, nulls) => at(values, nulls),
        }
    }

    /// The values, if none is NULL.
    pub(crate) fn all(&self) -> Option<&[i64]> {
        match self {
            Ints::Column(values, []) => Some(values),
            Ints::Made(values, nulls) if nulls.is_empty() => Some(values),
            _ => None,
        }
    }

    fn into_vectors(self, rows: &[u16]) -> (Vec<i64>, Vec<bool>) {
        match self {
            Ints::Column(values, nulls) => (values.to_vec(), nulls.to_vec()),
            Ints::Made(values, nulls) => (values, nulls),
            Ints::One(Some(value)) => (vec![value; count(rows)], Vec::new()),
            Ints::One(None) => (vec![0; count(rows)], vec![true; count(rows)]),
        }
    }
}

impl IntCode {
    /// Of compiled code, if it is such; its columns are known to be integers by the operator above it.
    pub(crate) fn of(code: &Code) -> Option<IntCode> {
        Some(match code {
            Code::Outer(column) => IntCode::Column(*column),
            Code::IntOp(op, sides) => {
                IntCode::Op(*op, Box::new((IntCode::of(&sides.0)?, IntCode::of(&sides.1)?)))
            }
            code => IntCode::Fixed(fixed(code)?),
        })
    }

    fn physical(&self) -> Physical {
        match self {
            IntCode::Op(op, _) if op.is_short() => Physical::Int4,
            _ => Physical::Int8,
        }
    }

    /// Computes what is the same for all rows, if that was not done; to be called where there are some.
    pub(crate) fn prepare(&self, cx: &mut Cx<'_>) -> SqlResult<()> {
        match self {
            IntCode::Column(_) => Ok(()),
            IntCode::Fixed(code) => prepare(code, cx),
            IntCode::Op(_, sides) => {
                runtime::check_stack()?;
                sides.0.prepare(cx)?;
                sides.1.prepare(cx)
            }
        }
    }

    /// The values of `rows`.
    pub(crate) fn eval<'a>(&self, batch: &Batch<'a>, rows: &[u16], cx: &Cx<'_>) -> SqlResult<Ints<'a>> {
        runtime::check_stack()?;
        Ok(match self {
            IntCode::Column(column) => ints_of(batch.column(*column), rows),
            IntCode::Fixed(code) => {
                Ints::One(Some(known(code, cx)?).filter(|v| !v.is_null()).map(types::compare::widen))
            }
            IntCode::Op(op, sides) => {
                let (a, b) = (sides.0.eval(batch, rows, cx)?, sides.1.eval(batch, rows, cx)?);
                combine(*op, &a, &b, rows)?
            }
        })
    }
}

/// A column's integers; computed ones may be values of any shape.
fn ints_of<'a>(column: &'a Column, rows: &[u16]) -> Ints<'a> {
    match &column.values {
        Values::Ints(list) => Ints::Column(list, &column.nulls),
        Values::Datums(list) => {
            let known =
                list.iter().map(|value| if value.is_null() { 0 } else { types::compare::widen(value) });
            Ints::Made(known.collect(), list.iter().map(Datum::is_null).collect())
        }
        _ => Ints::Made(vec![0; count(rows)], vec![true; count(rows)]),
    }
}

fn combine<'a>(op: IntOp, a: &Ints<'_>, b: &Ints<'_>, rows: &[u16]) -> SqlResult<Ints<'a>> {
    let mut values = vec![0; count(rows)];
    let mut nulls = Vec::new();
    for row in rows {
        let row = *row as usize;
        match (a.get(row), b.get(row)) {
            (Some(a), Some(b)) => values[row] = op.of(a, b)?,
            _ => {
                nulls.resize(values.len(), false);
                nulls[row] = true;
            }
        }
    }
    Ok(Ints::Made(values, nulls))
}

/// Has a subplan that [`fixed`] gave a value.
pub(crate) fn prepare(code: &Code, cx: &mut Cx<'_>) -> SqlResult<()> {
    match code {
        Code::Sub(_) => code.eval(Rows::one(&[]), cx).map(drop),
        _ => Ok(()),
    }
}

/// The value of what [`fixed`] gives, once it is prepared.
pub(crate) fn known<'a>(code: &'a Code, cx: &'a Cx<'_>) -> SqlResult<&'a Datum> {
    // What is missing is told by those who go row by row.
    code.peek(Rows::one(&[]), cx).ok_or_else(|| SqlError::internal("a parameter without a value"))
}

/// A copy of code that has one value for all rows.
pub(crate) fn fixed(code: &Code) -> Option<Code> {
    Some(match code {
        Code::Const(value) => Code::Const(value.clone()),
        Code::Param(number) => Code::Param(*number),
        Code::Cell(id) => Code::Cell(*id),
        Code::Sub(sub) => Code::Sub(Box::new(sub.initial()?)),
        _ => return None,
    })
}
