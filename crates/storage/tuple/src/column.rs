//! # What
//! Columns of many rows: values of one column in one vector, decoded straight from the bytes of the rows of a page.
//!
//! # Layout
//! A [`Column`] has its values by row number, in a shape that follows from its physical class: integers and what is stored as one (dates, timestamps,
//! OIDs, booleans) as `i64`; floats as `f64`; byte strings as [`View`]s of the page. A value that an expression has computed and that has
//! another shape is a [`Datum`].
//!
//! # Invariants
//! 1. A column that was read has an entry for every row, also for NULLs, which mean nothing.
//! 2. A view lies within the page that its column was read from.
//! 3. [`ColumnReader::read`] never panics whatever the bytes. What is not as it should be, or is stored compressed or elsewhere, it
//!    leaves to those who read row by row.

use crate::decode::skip_at;
use crate::{Bytes, Datum, NAME_LEN, Physical, RowLayout, layout::align_up, varlena};

/// A byte string within a page, or what stands for one: where it starts, and its length. Both are less than 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    start: u32,
    len: u32,
}

impl View {
    /// So many bytes from a place on.
    #[inline]
    pub fn new(start: usize, len: usize) -> View {
        View { start: start as u32, len: len as u32 }
    }

    /// The bytes.
    #[inline]
    pub fn of(self, page: &[u8]) -> &[u8] {
        page.get(self.start as usize..self.start as usize + self.len as usize).unwrap_or_default()
    }
}

/// Values of a column by row number.
#[derive(Clone, Debug)]
pub enum Values {
    /// Of everything that is stored as an integer.
    Ints(Vec<i64>),
    /// Floats of both sizes.
    Floats(Vec<f64>),
    /// Byte strings.
    Views(Vec<View>),
    /// Anything.
    Datums(Vec<Datum>),
}

/// Values of a column, and which of them are NULL.
#[derive(Clone, Debug)]
pub struct Column {
    /// What the values are to storage.
    pub physical: Physical,
    /// The values.
    pub values: Values,
    /// Which rows are NULL; empty if none is.
    pub nulls: Vec<bool>,
}

impl Column {
    /// A column of this class, without rows.
    pub fn new(physical: Physical) -> Column {
        let values = match physical {
            Physical::Float4 | Physical::Float8 => Values::Floats(Vec::new()),
            Physical::Fixed(_) | Physical::Name | Physical::Varlena => Values::Views(Vec::new()),
            _ => Values::Ints(Vec::new()),
        };
        Column { physical, values, nulls: Vec::new() }
    }

    /// A column of values of any shape, without rows.
    pub fn of_datums(physical: Physical) -> Column {
        Column { physical, values: Values::Datums(Vec::new()), nulls: Vec::new() }
    }

    /// Takes all rows out.
    pub fn clear(&mut self) {
        self.nulls.clear();
        match &mut self.values {
            Values::Ints(list) => list.clear(),
            Values::Floats(list) => list.clear(),
            Values::Views(list) => list.clear(),
            Values::Datums(list) => list.clear(),
        }
    }

    /// Whether some row may be NULL.
    #[inline]
    pub fn has_nulls(&self) -> bool {
        !self.nulls.is_empty() || matches!(self.values, Values::Datums(_))
    }

    /// Whether a row is NULL.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        match &self.values {
            Values::Datums(list) => list.get(row).is_none_or(Datum::is_null),
            _ => self.nulls.get(row).copied().unwrap_or(false),
        }
    }

    /// A row's value; `page` is the one that the column was read from.
    pub fn datum(&self, row: usize, page: &[u8]) -> Datum {
        if self.is_null(row) {
            return Datum::Null;
        }
        match &self.values {
            Values::Ints(list) => int_datum(self.physical, list[row]),
            Values::Floats(list) if self.physical == Physical::Float4 => Datum::Float4(list[row] as f32),
            Values::Floats(list) => Datum::Float8(list[row]),
            Values::Views(list) => Datum::Bytes(Bytes::new(list[row].of(page))),
            Values::Datums(list) => list[row].clone(),
        }
    }

    /// Appends a value that does not lie in the page; none if the column has room for such values only.
    fn push_missing(&mut self, value: &Datum) -> Option<()> {
        match (&mut self.values, value) {
            (_, Datum::Null) => {
                self.push_null();
                return Some(());
            }
            (Values::Ints(list), value) => list.push(as_int(value)?),
            (Values::Floats(list), Datum::Float4(value)) => list.push(f64::from(*value)),
            (Values::Floats(list), Datum::Float8(value)) => list.push(*value),
            (Values::Datums(list), value) => list.push(value.clone()),
            (Values::Floats(_) | Values::Views(_), _) => return None,
        }
        if !self.nulls.is_empty() {
            self.nulls.push(false);
        }
        Some(())
    }

    fn push_null(&mut self) {
        let rows = match &mut self.values {
            Values::Ints(list) => push_default(list),
            Values::Floats(list) => push_default(list),
            Values::Views(list) => push_default(list),
            Values::Datums(list) => push_default(list),
        };
        self.nulls.resize(rows, false);
        self.nulls[rows - 1] = true;
    }
}

/// What a value is in a column of integers.
fn as_int(value: &Datum) -> Option<i64> {
    Some(match *value {
        Datum::Bool(v) => i64::from(v),
        Datum::Char(v) => i64::from(v),
        Datum::Int2(v) => i64::from(v),
        Datum::Int4(v) => i64::from(v),
        Datum::Int8(v) => v,
        Datum::Oid(v) => i64::from(v),
        _ => return None,
    })
}

/// Returns the new length.
fn push_default<T: Default>(list: &mut Vec<T>) -> usize {
    list.push(T::default());
    list.len()
}

/// A value of a class that is stored as an integer.
#[inline]
pub fn int_datum(physical: Physical, value: i64) -> Datum {
    match physical {
        Physical::Bool => Datum::Bool(value != 0),
        Physical::Char => Datum::Char(value as u8),
        Physical::Int2 => Datum::Int2(value as i16),
        Physical::Int4 => Datum::Int4(value as i32),
        Physical::Oid => Datum::Oid(value as u32),
        _ => Datum::Int8(value),
    }
}

/// Some rows of a page as columns.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The page.
    pub page: &'a [u8],
    /// Numbers of the rows that are meant, in their order.
    pub rows: &'a [u16],
    /// Columns of all rows of the page, and what was computed of those that are meant.
    pub columns: &'a [Column],
    /// Which of them is each column of the batch.
    pub places: &'a [usize],
}

impl<'a> Batch<'a> {
    /// A column of the batch.
    #[inline]
    pub fn column(&self, number: usize) -> &'a Column {
        &self.columns[self.places[number]]
    }

    /// Replaces `out` by a row's values of these columns of the batch; others become NULL.
    pub fn row(&self, row: u16, columns: impl IntoIterator<Item = usize>, out: &mut Vec<Datum>) {
        out.clear();
        out.resize(self.places.len(), Datum::Null);
        for column in columns {
            out[column] = self.column(column).datum(row as usize, self.page);
        }
    }
}

/// Where a row lies in its page.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowPlace {
    /// Start and end of its data.
    pub data: (u16, u16),
    /// Start of its null bitmap, which ends where the data begin; 0 if it has none.
    pub nulls: u16,
    /// Columns stored.
    pub columns: u16,
}

impl RowPlace {
    #[inline]
    fn is_null(&self, page: &[u8], column: usize) -> bool {
        if column >= self.columns as usize {
            return true;
        }
        let byte = || page.get(self.nulls as usize + column / 8);
        self.nulls != 0 && byte().is_none_or(|byte| byte >> (column % 8) & 1 == 0)
    }
}

/// Reads some columns of all rows of a page.
#[derive(Clone, Debug)]
pub struct ColumnReader {
    /// Columns from 0 on that are to be read, up to the last of them.
    wanted: Box<[bool]>,
    /// Those among them whose place is the same in all rows without NULLs, and where that is.
    leading: Box<[(usize, usize)]>,
    /// The first column behind those, and where it starts, not yet aligned.
    rest: (usize, usize),
}

impl ColumnReader {
    /// A reader of the columns that `wanted` names.
    pub fn new(layout: &RowLayout, wanted: impl Fn(usize) -> bool) -> ColumnReader {
        let last = (0..layout.len()).rev().find(|c| wanted(*c));
        let wanted: Box<[bool]> = (0..last.map_or(0, |last| last + 1)).map(wanted).collect();
        let has_place = |column: &usize| layout.attrs()[*column].physical.fixed_len().is_some();
        let fixed = (0..wanted.len()).take_while(has_place).count();
        let place = |column| layout.cached_offset(column).map(|at| (column, at));
        let leading = (0..fixed).filter(|column| wanted[*column]).filter_map(place).collect();
        let rest = (fixed, layout.cached_offset(fixed).unwrap_or(0));
        ColumnReader { wanted, leading, rest }
    }

    /// The columns that it reads.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.wanted.iter().enumerate().filter(|(_, wanted)| **wanted).map(|(column, _)| column)
    }

    /// Replaces the rows of its columns in `out`, which has one for every column of the layout up to its last. False if some value is
    /// to be had row by row only; then they are in no particular state.
    pub fn read(&self, layout: &RowLayout, page: &[u8], rows: &[RowPlace], out: &mut [Column]) -> bool {
        for column in self.columns() {
            out[column].clear();
        }
        let end = self.wanted.len();
        if rows.iter().any(|row| row.nulls != 0 || (row.columns as usize) < end) {
            return rows.iter().all(|row| self.read_row(layout, page, row, (0, 0), out).is_some());
        }
        let leading = self.leading.iter().all(|(column, at)| read_fixed(page, rows, *at, &mut out[*column]));
        leading
            && (self.rest.0 >= end
                || rows.iter().all(|row| self.read_row(layout, page, row, self.rest, out).is_some()))
    }

    /// The columns of a row from that number and place on.
    #[inline]
    fn read_row(
        &self,
        layout: &RowLayout,
        page: &[u8],
        row: &RowPlace,
        (first, mut at): (usize, usize),
        out: &mut [Column],
    ) -> Option<()> {
        let start = row.data.0 as usize;
        let data = page.get(start..row.data.1 as usize)?;
        let some_null = row.nulls != 0 || (row.columns as usize) < self.wanted.len();
        let attrs = layout.attrs().get(first..self.wanted.len())?;
        for (column, (attr, wanted)) in attrs.iter().zip(&self.wanted[first..]).enumerate() {
            let column = first + column;
            if some_null && row.is_null(page, column) {
                if *wanted {
                    let stored = column < row.columns as usize;
                    out[column].push_missing(if stored { &Datum::Null } else { layout.missing(column) })?;
                }
                continue;
            }
            if !*wanted {
                at = match (attr.physical, data.get(at)) {
                    (Physical::Varlena, Some(header)) if header & 1 == 1 && *header != 1 => {
                        at + usize::from(header >> 1)
                    }
                    _ => skip_at(attr.physical, attr.align, data, at).ok()?,
                };
                continue;
            }
            let column = &mut out[column];
            if attr.physical == Physical::Varlena {
                let (payload, end) = plain_varlena(data, at, attr.align)?;
                push_view(column, start + payload, end - payload);
                at = end;
            } else {
                at = align_up(at, attr.align);
                push_fixed(column, data, start, at)?;
                at += attr.physical.fixed_len()?;
            }
            if !column.nulls.is_empty() {
                column.nulls.push(false);
            }
        }
        Some(())
    }
}

/// Start and end of the payload of a value that lies there as it is.
#[inline]
fn plain_varlena(data: &[u8], at: usize, align: u8) -> Option<(usize, usize)> {
    let first = *data.get(at)?;
    if first & 1 == 1 {
        let end = at + usize::from(first >> 1);
        return (first != 1 && end <= data.len()).then_some((at + 1, end));
    }
    let at = if first == 0 { align_up(at, align) } else { at };
    match varlena::parse(data.get(at..)?).ok()? {
        (varlena::View::Plain(payload), len) => Some((at + len - payload.len(), at + len)),
        _ => None,
    }
}

#[inline]
fn push_view(column: &mut Column, start: usize, len: usize) {
    if let Values::Views(list) = &mut column.values {
        list.push(View::new(start, len));
    }
}

#[inline]
fn bytes<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at + N)?.first_chunk().copied()
}

/// The integer of this class at a place.
#[inline]
fn int_at(physical: Physical, data: &[u8], at: usize) -> Option<i64> {
    Some(match physical {
        Physical::Bool => i64::from(*data.get(at)? != 0),
        Physical::Char => i64::from(*data.get(at)?),
        Physical::Int2 => i64::from(i16::from_le_bytes(bytes(data, at)?)),
        Physical::Int4 => i64::from(i32::from_le_bytes(bytes(data, at)?)),
        Physical::Oid => i64::from(u32::from_le_bytes(bytes(data, at)?)),
        _ => i64::from_le_bytes(bytes(data, at)?),
    })
}

/// The float of this class at a place.
#[inline]
fn float_at(physical: Physical, data: &[u8], at: usize) -> Option<f64> {
    match physical {
        Physical::Float4 => bytes(data, at).map(|b| f64::from(f32::from_le_bytes(b))),
        _ => bytes(data, at).map(f64::from_le_bytes),
    }
}

/// A byte string of fixed length at a place: its length.
#[inline]
fn fixed_bytes(physical: Physical, data: &[u8], at: usize) -> Option<usize> {
    let len = physical.fixed_len()?;
    let value = data.get(at..at + len)?;
    Some(match physical {
        Physical::Name => value.iter().position(|&b| b == 0).unwrap_or(NAME_LEN),
        _ => len,
    })
}

/// Appends the value of fixed length that starts at `at` of a row's data, which start at `start` of the page.
#[inline]
fn push_fixed(column: &mut Column, data: &[u8], start: usize, at: usize) -> Option<()> {
    let physical = column.physical;
    match &mut column.values {
        Values::Ints(list) => list.push(int_at(physical, data, at)?),
        Values::Floats(list) => list.push(float_at(physical, data, at)?),
        Values::Views(_) => {
            let len = fixed_bytes(physical, data, at)?;
            push_view(column, start + at, len);
        }
        Values::Datums(_) => return None,
    }
    Some(())
}

/// Appends a column that starts at byte `at` of the data of every row; false if a row ends before.
fn read_fixed(page: &[u8], rows: &[RowPlace], at: usize, column: &mut Column) -> bool {
    let physical = column.physical;
    let data = |row: &RowPlace| page.get(row.data.0 as usize..row.data.1 as usize);
    match &mut column.values {
        // The class is told once for all rows.
        Values::Ints(list) => match physical {
            Physical::Int4 => {
                extend(list, rows, |row| bytes(data(row)?, at).map(|b| i64::from(i32::from_le_bytes(b))))
            }
            Physical::Int8 => extend(list, rows, |row| bytes(data(row)?, at).map(i64::from_le_bytes)),
            _ => extend(list, rows, |row| int_at(physical, data(row)?, at)),
        },
        Values::Floats(list) => extend(list, rows, |row| float_at(physical, data(row)?, at)),
        _ => rows.iter().all(|row| {
            data(row).and_then(|data| push_fixed(column, data, row.data.0 as usize, at)).is_some()
        }),
    }
}

/// Appends a value of each row, up to the first that has none.
#[inline]
fn extend<T>(list: &mut Vec<T>, rows: &[RowPlace], value: impl Fn(&RowPlace) -> Option<T>) -> bool {
    list.extend(rows.iter().map_while(value));
    list.len() == rows.len()
}
