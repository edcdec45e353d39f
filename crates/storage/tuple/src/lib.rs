//! # What
//! Physical values and the bytes of a row: what heap tuples and index tuples have in common.
//!
//! A [`Datum`] is a *physical* value. What it means (`date`, `numeric`, collation, input and output) is the
//! business of `sql/types`; storage only needs its size, alignment and, for index keys, a comparison that is handed down.
//!
//! # Layout
//! A row's *data* starts at an address that is 0 modulo 8 relative to the tuple (or index entry). Each column that is not null follows at
//! the next multiple of its alignment, bytes between are zero; nulls take no space and are told by a bitmap beside the data (bit set: not null; column 0
//! is bit 0 of byte 0), which is absent when nothing is null. Variable-length values: [`varlena`].
//!
//! A row may store fewer columns than its layout has: those behind were added to the table later. Whoever decodes it gets what the layout says that such rows
//! [have](RowLayout::missing) there (`pg_attribute.attmissingval`, else NULL); nobody above asks how many columns are stored.
//!
//! # Invariants
//! 1. Decoding never panics whatever the bytes: damaged rows give [`BadRow`].
//! 2. `decode(encode(row)) == row` for every row that fits its layout.
//!
//! # PostgreSQL counterpart and differences
//! `heaptuple.c`, `varatt.h`. Little-endian on every machine; bits of external pointers are ours.
//!
//! Invariant: pure. No I/O, no locks, no knowledge of catalogs.

mod bytes;
mod column;
mod datum;
mod decode;
mod encode;
mod layout;
pub mod options;
pub mod parts;
mod select;
pub mod space;
pub mod summary;
pub mod tree;
pub mod varlena;

pub use bytes::Bytes;
pub use column::{Batch, Column, ColumnReader, RowPlace, Values, View, int_datum};
pub use datum::{Datum, sortable_float};
pub use decode::{BadRow, Position, RowBytes};
pub use encode::{EncodedInfo, bitmap_len, encode_nulls};
pub use layout::{Attr, NAME_LEN, Physical, RowLayout};
pub use select::{Selection, Undecoded};

#[cfg(test)]
mod tests;
