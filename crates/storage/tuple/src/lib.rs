//! # What
//! Physical values and the bytes of a row: what heap tuples and index tuples have in common.
//!
//! A [`Datum`] is a *physical* value. What it means (`date`, `numeric`, collation, input and output) is the
//! business of `sql/types`; storage only needs its size, alignment and, for index keys, a comparison that is handed down.
//!
//! Invariant: pure. No I/O, no locks, no knowledge of catalogs.

mod bytes;
mod datum;
mod layout;

pub use bytes::Bytes;
pub use datum::Datum;
pub use layout::{Attr, Physical, RowLayout};
