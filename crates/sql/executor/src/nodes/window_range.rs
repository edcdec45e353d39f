//! Where a RANGE frame with an offset begins and ends: by the key's `in_range` function, over a partition that is sorted by it.

use base::{Oid, SqlError, SqlResult};
use eval::cx::Cx;
use eval::row_store::{Place, RowStore};
use plan::FrameRange;
use tuple::Datum;
use types::{Function, Imp};

use super::Key;

/// An offset as it was evaluated for the current row.
pub struct Offset {
    /// The offset.
    pub value: Datum,
    /// PRECEDING.
    pub preceding: bool,
}

/// The first row of `row`'s frame.
pub fn start(
    range: &FrameRange,
    key: &Key,
    rows: &RowStore,
    row: &[Datum],
    offset: &Offset,
    cx: &mut Cx<'_>,
) -> SqlResult<u64> {
    let less = key.descending();
    edge(key, rows, row, cx, |value, current, cx| match (value.is_null(), current.is_null()) {
        (false, false) => Ok(!in_range(range.start, range.collation, key, value, current, offset, less, cx)?),
        (value, current) => Ok(if key.nulls_first() { value && !current } else { !value && current }),
    })
}

/// The row behind the last of `row`'s frame.
pub fn end(
    range: &FrameRange,
    key: &Key,
    rows: &RowStore,
    row: &[Datum],
    offset: &Offset,
    cx: &mut Cx<'_>,
) -> SqlResult<u64> {
    let less = !key.descending();
    edge(key, rows, row, cx, |value, current, cx| match (value.is_null(), current.is_null()) {
        (false, false) => in_range(range.end, range.collation, key, value, current, offset, less, cx),
        (value, current) => Ok(if key.nulls_first() { value || !current } else { !value || current }),
    })
}

/// Number of rows at the beginning of the partition for which `before` holds: it holds for none behind one for which it does not.
fn edge(
    key: &Key,
    rows: &RowStore,
    row: &[Datum],
    cx: &mut Cx<'_>,
    before: impl Fn(&Datum, &Datum, &mut Cx<'_>) -> SqlResult<bool>,
) -> SqlResult<u64> {
    let current = key.value(row, cx)?;
    let mut place = Place::default();
    let (mut low, mut high) = (0, rows.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let value = key.value(rows.get(&mut place, middle)?.unwrap_or_default(), cx)?;
        if before(&value, &current, cx)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[allow(clippy::too_many_arguments)]
fn in_range(
    function: Option<&Function>,
    collation: Oid,
    key: &Key,
    value: &Datum,
    current: &Datum,
    offset: &Offset,
    less: bool,
    cx: &mut Cx<'_>,
) -> SqlResult<bool> {
    let Some((function, Imp::Native(eval))) = function.map(|f| (f, f.imp)) else {
        return Err(SqlError::internal("a RANGE frame without in_range function"));
    };
    let sub = Datum::Bool(offset.preceding != key.descending());
    let args = [value.clone(), current.clone(), offset.value.clone(), sub, Datum::Bool(less)];
    let call = cx.call(function.args, function.result, collation, false);
    Ok(eval(&call, &args)? == Datum::Bool(true))
}
