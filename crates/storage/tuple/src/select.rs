//! Decoding only what is wanted, in two steps: what a condition reads, and the rest once it holds.

use crate::decode::{decode_at, decode_into, skip_at};
use crate::{BadRow, Datum, Physical, RowBytes, RowLayout, layout::align_up};

/// What becomes of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    /// Nobody reads it.
    Skip,
    /// Decoded when it is come to.
    Now,
    /// Its place is noted in the first step, its value decoded in the second.
    Later,
}

/// The columns that a reader of rows wants, of a layout's first ones.
#[derive(Clone, Debug)]
pub struct Selection {
    wants: Box<[Want]>,
    /// Columns that the first step comes to.
    first: usize,
}

/// What the first step has left of a row.
#[derive(Debug, Default)]
pub struct Undecoded {
    /// Columns passed over, and where each starts.
    later: Vec<(u32, u32)>,
    /// End of the first step's columns.
    at: usize,
}

impl Selection {
    /// Of the columns before `upto`, the first step decodes those that `early` names; the second those that `late` names.
    pub fn new(upto: usize, early: impl Fn(usize) -> bool, late: impl Fn(usize) -> bool) -> Selection {
        let first = (0..upto).rev().find(|c| early(*c)).map_or(0, |c| c + 1);
        let want = |column| match (early(column), late(column)) {
            (true, _) => Want::Now,
            (_, true) if column < first => Want::Later,
            (_, true) => Want::Now,
            _ => Want::Skip,
        };
        let mut wants: Vec<Want> = (0..upto).map(want).collect();
        let last = wants.iter().rposition(|w| *w != Want::Skip);
        wants.truncate(last.map_or(0, |last| last + 1));
        Selection { wants: wants.into(), first }
    }

    /// The first step: sets its columns in `out`, which has room for all. Columns that are not wanted stay as they are.
    #[inline]
    pub fn decode_first(
        &self,
        layout: &RowLayout,
        row: &RowBytes<'_>,
        left: &mut Undecoded,
        out: &mut [Datum],
    ) -> Result<(), BadRow> {
        left.later.clear();
        left.at = 0;
        self.decode(layout, row, 0..self.first, left, out)
    }

    /// The second step: sets the columns that are missing.
    #[inline]
    pub fn decode_rest(
        &self,
        layout: &RowLayout,
        row: &RowBytes<'_>,
        left: &mut Undecoded,
        out: &mut [Datum],
    ) -> Result<(), BadRow> {
        for (column, at) in left.later.drain(..) {
            let attr = &layout.attrs()[column as usize];
            out[column as usize] = decode_at(attr.physical, attr.align, row.data, at as usize)?.0;
        }
        self.decode(layout, row, self.first..self.wants.len(), left, out)
    }

    fn decode(
        &self,
        layout: &RowLayout,
        row: &RowBytes<'_>,
        columns: std::ops::Range<usize>,
        left: &mut Undecoded,
        out: &mut [Datum],
    ) -> Result<(), BadRow> {
        let some_null = row.nulls.is_some() || row.columns < columns.end;
        let start = columns.start;
        let attrs = layout.attrs().get(columns.clone()).ok_or(BadRow)?;
        let mut at = left.at;
        for (i, (attr, want)) in attrs.iter().zip(&self.wants[columns]).enumerate() {
            let column = start + i;
            if some_null && row.is_null(column) {
                if *want != Want::Skip {
                    out[column] = layout.unread(row, column);
                }
                continue;
            }
            match want {
                Want::Now => {
                    at = decode_into(attr.physical, attr.align, row.data, at, &mut out[column])?;
                    continue;
                }
                Want::Later => left.later.push((column as u32, at as u32)),
                Want::Skip => {}
            }
            at = match (attr.physical, row.data.get(at)) {
                // The commonest: a value with a header of one byte, which is its whole length.
                (Physical::Varlena, Some(header)) if header & 1 == 1 && *header != 1 => {
                    at + usize::from(header >> 1)
                }
                (Physical::Int4, _) => align_up(at, 4) + 4,
                _ => skip_at(attr.physical, attr.align, row.data, at)?,
            };
        }
        left.at = at;
        Ok(())
    }
}
