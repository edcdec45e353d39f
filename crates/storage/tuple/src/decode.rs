//! Bytes to values: up to a column, one column, or on from where the last call stopped.

use std::fmt;

use crate::{Bytes, Datum, NAME_LEN, Physical, RowLayout, layout::align_up, varlena};

/// Bytes that are no row of the layout they were read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRow;

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("row data do not match their layout")
    }
}

impl std::error::Error for BadRow {}

/// A stored row, undecoded.
#[derive(Clone, Copy, Debug)]
pub struct RowBytes<'a> {
    /// Columns stored; those of the layout behind it were added to the table later.
    pub columns: usize,
    /// Null bitmap; `None` when no stored column is null.
    pub nulls: Option<&'a [u8]>,
    /// The data, from an 8-aligned place of the tuple.
    pub data: &'a [u8],
}

impl RowBytes<'_> {
    /// Whether a column is null or not stored.
    #[inline]
    pub fn is_null(&self, column: usize) -> bool {
        if column >= self.columns {
            return true;
        }
        match self.nulls {
            None => false,
            Some(bitmap) => bitmap.get(column / 8).is_none_or(|byte| byte >> (column % 8) & 1 == 0),
        }
    }

    /// Whether some column before `column` is null, so that cached offsets do not hold.
    #[inline]
    fn null_before(&self, column: usize) -> bool {
        match self.nulls {
            None => false,
            Some(_) => (0..column).any(|c| self.is_null(c)),
        }
    }
}

/// Where decoding goes on: the number of columns done and the byte behind the last of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Columns decoded so far.
    pub column: usize,
    at: usize,
}

impl RowLayout {
    /// Appends columns `0..upto` of a stored row to `out`. Columns that are not stored come out as what they are to [have](RowLayout::missing) then.
    #[inline]
    pub fn decode(
        &self,
        columns_stored: usize,
        nulls: Option<&[u8]>,
        data: &[u8],
        upto: usize,
        out: &mut Vec<Datum>,
    ) -> Result<(), BadRow> {
        let row = RowBytes { columns: columns_stored, nulls, data };
        self.decode_more(&row, &mut Position::default(), upto, out)
    }

    /// As [`decode`](RowLayout::decode), but values take the place of those in `out`: long byte strings of the same length their memory too, if nobody shares it.
    pub fn decode_over(&self, row: &RowBytes<'_>, upto: usize, out: &mut Vec<Datum>) -> Result<(), BadRow> {
        let upto = upto.min(self.len());
        out.resize(upto, Datum::Null);
        let mut at = 0;
        for (column, value) in out.iter_mut().enumerate() {
            if row.is_null(column) {
                *value = self.unread(row, column);
                continue;
            }
            let attr = &self.attrs()[column];
            at = decode_into(attr.physical, attr.align, row.data, at, value)?;
        }
        Ok(())
    }

    /// The bytes of the value of the first column, if it is a byte string that lies there as it is: of fixed length, or plain.
    #[inline]
    pub fn first_bytes<'a>(&self, row: &RowBytes<'a>) -> Option<&'a [u8]> {
        let attr = self.attrs().first()?;
        if row.is_null(0) {
            return None;
        }
        match attr.physical {
            Physical::Fixed(n) => row.data.get(..usize::from(n)),
            Physical::Varlena => match varlena::parse(row.data).ok()?.0 {
                varlena::View::Plain(payload) => Some(payload),
                _ => None,
            },
            _ => None,
        }
    }

    /// Appends columns `position.column..upto` and moves `position` there: a row decoded in steps costs no more than at once.
    pub fn decode_more(
        &self,
        row: &RowBytes<'_>,
        position: &mut Position,
        upto: usize,
        out: &mut Vec<Datum>,
    ) -> Result<(), BadRow> {
        let upto = upto.min(self.len());
        let stored = upto.min(row.columns);
        let mut at = position.at;
        for column in position.column..stored {
            if row.is_null(column) {
                out.push(Datum::Null);
                continue;
            }
            let attr = &self.attrs()[column];
            let (value, end) = decode_at(attr.physical, attr.align, row.data, at)?;
            out.push(value);
            at = end;
        }
        out.extend((position.column.max(stored)..upto).map(|column| self.missing(column).clone()));
        *position = Position { column: upto.max(position.column), at };
        Ok(())
    }

    /// One column, without building the values before it.
    pub fn decode_column(&self, row: &RowBytes<'_>, column: usize) -> Result<Datum, BadRow> {
        let Some(attr) = self.attrs().get(column) else { return Err(BadRow) };
        if row.is_null(column) {
            return Ok(self.unread(row, column));
        }
        let at = match self.cached_offset(column) {
            Some(at) if !row.null_before(column) => at,
            _ => self.skip_to(row, column)?,
        };
        Ok(decode_at(attr.physical, attr.align, row.data, at)?.0)
    }

    /// The value of a column that [is null or not stored](RowBytes::is_null).
    #[inline]
    pub(crate) fn unread(&self, row: &RowBytes<'_>, column: usize) -> Datum {
        if column < row.columns { Datum::Null } else { self.missing(column).clone() }
    }

    /// End of the columns before `column`.
    fn skip_to(&self, row: &RowBytes<'_>, column: usize) -> Result<usize, BadRow> {
        let mut at = 0;
        for (before, attr) in self.attrs()[..column].iter().enumerate() {
            if row.is_null(before) {
                continue;
            }
            at = skip_at(attr.physical, attr.align, row.data, at)?;
        }
        Ok(at)
    }
}

/// Puts the value at `at` in the place of another, and where it can into the same memory. Returns the place behind it.
#[inline]
pub(crate) fn decode_into(
    physical: Physical,
    align: u8,
    data: &[u8],
    at: usize,
    value: &mut Datum,
) -> Result<usize, BadRow> {
    let end;
    match (physical, &mut *value) {
        (Physical::Fixed(n), Datum::Bytes(old)) => {
            let start = align_up(at, align);
            end = start + n as usize;
            old.replace(data.get(start..end).ok_or(BadRow)?);
        }
        (Physical::Varlena, Datum::Bytes(old)) => {
            let start = varlena_start(data, at, align)?;
            match varlena::parse(&data[start..])? {
                (varlena::View::Plain(payload), len) => {
                    old.replace(payload);
                    end = start + len.max(1);
                }
                _ => (*value, end) = decode_varlena(data, start)?,
            }
        }
        (physical, value) => (*value, end) = decode_at(physical, align, data, at)?,
    }
    Ok(end)
}

/// Start of a variable-length value: a zero byte is padding unless the place is aligned anyway.
#[inline]
fn varlena_start(data: &[u8], at: usize, align: u8) -> Result<usize, BadRow> {
    let start = match data.get(at) {
        None => return Err(BadRow),
        Some(0) => align_up(at, align),
        // Compressed and plain forms are aligned too, so aligning moves only over padding.
        Some(_) => at,
    };
    if start < data.len() { Ok(start) } else { Err(BadRow) }
}

#[inline]
fn fixed<const N: usize>(data: &[u8], at: usize) -> Result<[u8; N], BadRow> {
    data.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(BadRow)
}

/// The end of the value that starts behind byte `at`.
#[inline]
pub(crate) fn skip_at(physical: Physical, align: u8, data: &[u8], at: usize) -> Result<usize, BadRow> {
    match physical.fixed_len() {
        Some(len) => Ok(align_up(at, align) + len),
        None => {
            let start = varlena_start(data, at, align)?;
            Ok(start + varlena::stored_len(&data[start..])?)
        }
    }
}

/// The value that starts behind byte `at`, and its end.
#[inline]
pub(crate) fn decode_at(
    physical: Physical,
    align: u8,
    data: &[u8],
    at: usize,
) -> Result<(Datum, usize), BadRow> {
    if physical == Physical::Varlena {
        return decode_varlena(data, varlena_start(data, at, align)?);
    }
    let at = align_up(at, align);
    Ok(match physical {
        Physical::Bool => (Datum::Bool(fixed::<1>(data, at)?[0] != 0), at + 1),
        Physical::Char => (Datum::Char(fixed::<1>(data, at)?[0]), at + 1),
        Physical::Int2 => (Datum::Int2(i16::from_le_bytes(fixed(data, at)?)), at + 2),
        Physical::Int4 => (Datum::Int4(i32::from_le_bytes(fixed(data, at)?)), at + 4),
        Physical::Int8 => (Datum::Int8(i64::from_le_bytes(fixed(data, at)?)), at + 8),
        Physical::Oid => (Datum::Oid(u32::from_le_bytes(fixed(data, at)?)), at + 4),
        Physical::Float4 => (Datum::Float4(f32::from_le_bytes(fixed(data, at)?)), at + 4),
        Physical::Float8 => (Datum::Float8(f64::from_le_bytes(fixed(data, at)?)), at + 8),
        Physical::Fixed(n) => {
            let end = at + n as usize;
            (Datum::Bytes(Bytes::new(data.get(at..end).ok_or(BadRow)?)), end)
        }
        Physical::Name => {
            let name: [u8; NAME_LEN] = fixed(data, at)?;
            let len = name.iter().position(|&b| b == 0).unwrap_or(NAME_LEN);
            (Datum::Bytes(Bytes::new(&name[..len])), at + NAME_LEN)
        }
        Physical::Varlena => return Err(BadRow),
    })
}

#[inline]
fn decode_varlena(data: &[u8], start: usize) -> Result<(Datum, usize), BadRow> {
    let bytes = &data[start..];
    let (view, len) = varlena::parse(bytes)?;
    let value = match view {
        varlena::View::Plain(payload) => Datum::Bytes(Bytes::new(payload)),
        _ => Datum::Toasted(bytes.get(..len).ok_or(BadRow)?.into()),
    };
    Ok((value, start + len.max(1)))
}
