//! Rows one after the other as a batch, and copies of some rows of a batch.

use base::{Oid, SqlResult};
use eval::spill::SpillReader;
use tuple::{Batch, Column, Datum, Physical, Values, View};

/// Rows of a batch that is put together, about.
pub(super) const CHUNK: usize = 1024;

/// Bytes of byte strings of such a batch, about.
pub(super) const LONG: usize = 16 << 20;

/// Columns of rows that came one by one, or were copied.
#[derive(Default)]
pub(crate) struct Gathered {
    columns: Vec<Column>,
    places: Vec<usize>,
    /// Byte strings of the columns, as a page has them.
    bytes: Vec<u8>,
    /// The numbers from 0 on.
    numbers: Vec<u16>,
    count: usize,
}

impl Gathered {
    /// Of rows with so many columns.
    pub(crate) fn new(width: usize) -> Gathered {
        let columns = (0..width).map(|_| Column::of_datums(Physical::Varlena)).collect();
        Gathered { columns, places: (0..width).collect(), ..Gathered::default() }
    }

    /// Of rows with columns of these types.
    pub(crate) fn of(types: impl IntoIterator<Item = Oid>) -> Gathered {
        let column = |type_oid| match types::builtin_type(type_oid) {
            Some(row) => Column::new(row.physical),
            None => Column::of_datums(Physical::Varlena),
        };
        let columns: Vec<Column> = types.into_iter().map(column).collect();
        Gathered { places: (0..columns.len()).collect(), columns, ..Gathered::default() }
    }

    /// Takes all rows out.
    pub(crate) fn clear(&mut self) {
        self.columns.iter_mut().for_each(Column::clear);
        self.bytes.clear();
        self.count = 0;
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Whether it has about as many rows, or bytes, as a batch is to have.
    pub(crate) fn is_full(&self) -> bool {
        self.count >= CHUNK || self.bytes.len() >= LONG
    }

    /// Replaces the rows by the next ones of a file.
    pub(crate) fn read(&mut self, reader: &mut SpillReader) -> SqlResult<()> {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        self.clear();
        let mut row = Vec::new();
        while !self.is_full() && reader.next(&mut row)? {
            self.push(&row);
        }
        Ok(())
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: &[Datum]) {
        for (column, value) in self.columns.iter_mut().zip(row) {
            push(column, value, &mut self.bytes);
        }
        self.count += 1;
    }

    /// Replaces all rows by copies of these of a batch; columns that `reads` does not name become NULL.
    pub(crate) fn copy(&mut self, batch: &Batch<'_>, reads: &[usize], rows: &[u16]) {
        self.clear();
        self.count = rows.len();
        for number in reads {
            copy_rows(batch.column(*number), batch.page, rows, &mut self.columns[*number], &mut self.bytes);
        }
    }

    /// The rows from this one on, as many as that.
    pub(crate) fn batch(&mut self, from: usize, most: usize) -> Batch<'_> {
        number(&mut self.numbers, self.count);
        let end = self.count.min(from.saturating_add(most));
        Batch {
            page: &self.bytes,
            rows: &self.numbers[from.min(end)..end],
            columns: &self.columns,
            places: &self.places,
        }
    }
}

fn push(column: &mut Column, value: &Datum, bytes: &mut Vec<u8>) {
    if let Values::Datums(list) = &mut column.values {
        return list.push(value.clone());
    }
    let null = value.is_null();
    let rows = match &mut column.values {
        Values::Ints(list) => {
            list.push(if null { 0 } else { types::compare::widen(value) });
            list.len()
        }
        Values::Floats(list) => {
            list.push(if null { 0.0 } else { types::compare::double(value) });
            list.len()
        }
        Values::Views(list) => {
            list.push(match value {
                Datum::Bytes(text) => append(bytes, text),
                _ => View::default(),
            });
            list.len()
        }
        Values::Datums(list) => list.len(),
    };
    if null || !column.nulls.is_empty() {
        column.nulls.resize(rows, false);
        column.nulls[rows - 1] = null;
    }
}

/// Goes on with the numbers from 0 until there are so many.
pub(super) fn number(numbers: &mut Vec<u16>, count: usize) {
    numbers.extend((numbers.len()..count).map(|number| number as u16));
}

/// Replaces a column's rows by copies of those of another one; `bytes` take its byte strings.
pub(super) fn copy_rows(from: &Column, page: &[u8], rows: &[u16], out: &mut Column, bytes: &mut Vec<u8>) {
    let rows = || rows.iter().map(|row| *row as usize);
    out.clear();
    out.physical = from.physical;
    match &from.values {
        Values::Ints(list) => ints(out).extend(rows().map(|row| list[row])),
        Values::Floats(list) => floats(out).extend(rows().map(|row| list[row])),
        Values::Views(list) => {
            let out = views(out);
            out.extend(rows().map(|row| append(bytes, list[row].of(page))));
        }
        Values::Datums(list) => {
            let copies = rows().map(|row| list.get(row).cloned().unwrap_or_default());
            datums(out).extend(copies);
        }
    }
    if !from.nulls.is_empty() {
        out.nulls.extend(rows().map(|row| from.is_null(row)));
    }
}

/// Appends a byte string, and tells where it is.
#[inline]
pub(super) fn append(bytes: &mut Vec<u8>, text: &[u8]) -> View {
    let start = bytes.len();
    bytes.extend_from_slice(text);
    View::new(start, text.len())
}

/// The list of a column's values, emptied if it was one of others.
macro_rules! list_of {
    ($name:ident, $shape:ident, $value:ty) => {
        pub(crate) fn $name(column: &mut Column) -> &mut Vec<$value> {
            if !matches!(column.values, Values::$shape(_)) {
                column.values = Values::$shape(Vec::new());
            }
            match &mut column.values {
                Values::$shape(list) => list,
                _ => unreachable!("it was just made so"),
            }
        }
    };
}

list_of!(ints, Ints, i64);
list_of!(floats, Floats, f64);
list_of!(views, Views, View);
list_of!(datums, Datums, Datum);
