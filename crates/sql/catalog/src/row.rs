//! Rows of system catalogs under construction.

use base::Oid;
use tuple::{Datum, Physical};

use crate::system::SystemTable;

/// A catalog row as read or about to be written: one [`Datum`] a column, read as `row[pg_class::RELNAME]`.
pub type Row = Vec<Datum>;

/// Builds a row by column. Columns not set are NULL where NULL may stand, else zero, false or empty.
pub struct RowBuilder(Row);

impl RowBuilder {
    /// A row of `table` with nothing set.
    pub fn new(table: &SystemTable) -> RowBuilder {
        let blank = |c: &crate::system::SystemColumn| match c.ty.attr.physical {
            _ if c.nullable => Datum::Null,
            Physical::Bool => Datum::Bool(false),
            Physical::Char => Datum::Char(0),
            Physical::Int2 => Datum::Int2(0),
            Physical::Int4 => Datum::Int4(0),
            Physical::Int8 => Datum::Int8(0),
            Physical::Oid => Datum::Oid(0),
            Physical::Float4 => Datum::Float4(0.0),
            Physical::Float8 => Datum::Float8(0.0),
            Physical::Fixed(_) | Physical::Name | Physical::Varlena => Datum::text(""),
        };
        RowBuilder(table.columns.iter().map(blank).collect())
    }

    /// Sets one column.
    pub fn set(mut self, column: usize, value: impl Into<Datum>) -> RowBuilder {
        self.0[column] = value.into();
        self
    }

    /// Sets one column if there is a value.
    pub fn set_some(self, column: usize, value: Option<impl Into<Datum>>) -> RowBuilder {
        match value {
            Some(value) => self.set(column, value),
            None => self,
        }
    }

    /// The row.
    pub fn build(self) -> Row {
        self.0
    }
}

/// Reads typed values out of a catalog row. A value of another type than asked for is a damaged catalog; it reads as the
/// type's zero, and the caller's later checks (a name that resolves to nothing) report it.
pub trait RowExt {
    /// An OID or another 32-bit id.
    fn oid(&self, column: usize) -> Oid;
    /// A boolean.
    fn bool(&self, column: usize) -> bool;
    /// An `int2` or `int4`.
    fn int(&self, column: usize) -> i32;
    /// An `int8`.
    fn long(&self, column: usize) -> i64;
    /// A `"char"`.
    fn char(&self, column: usize) -> u8;
    /// A `name` or `text`.
    fn str(&self, column: usize) -> &str;
    /// A `name` or `text` that may be NULL.
    fn opt_str(&self, column: usize) -> Option<&str>;
}

impl RowExt for [Datum] {
    fn oid(&self, column: usize) -> Oid {
        match self[column] {
            Datum::Oid(n) => Oid(n),
            _ => Oid::INVALID,
        }
    }

    fn bool(&self, column: usize) -> bool {
        matches!(self[column], Datum::Bool(true))
    }

    fn int(&self, column: usize) -> i32 {
        match self[column] {
            Datum::Int2(n) => i32::from(n),
            Datum::Int4(n) => n,
            _ => 0,
        }
    }

    fn long(&self, column: usize) -> i64 {
        match self[column] {
            Datum::Int8(n) => n,
            _ => 0,
        }
    }

    fn char(&self, column: usize) -> u8 {
        match self[column] {
            Datum::Char(c) => c,
            _ => 0,
        }
    }

    fn str(&self, column: usize) -> &str {
        self.opt_str(column).unwrap_or("")
    }

    fn opt_str(&self, column: usize) -> Option<&str> {
        match &self[column] {
            Datum::Bytes(b) => std::str::from_utf8(b.as_slice()).ok(),
            _ => None,
        }
    }
}
