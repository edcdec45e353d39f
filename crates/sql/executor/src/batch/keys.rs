//! How the keys of groups and of joins are hashed and compared, by column.

use base::{Oid, SqlResult};
use plan::{Expr, UserTypes};
use tuple::{Batch, Column, Values};
use types::compare::orders_as_integer;
use types::{Comparator, Equality, Hash, oids};

use super::condition::are_integers;
use crate::row_key::mix;

/// How one column of a key is hashed and compared.
pub(super) enum KeyForm {
    /// As integers.
    Ints,
    /// As byte strings.
    Texts,
    /// As its type says.
    Any(Hash, Equality),
}

/// The hash of NULL.
const NULL_HASH: u64 = 0x9e37;

impl KeyForm {
    /// For what groups by `key`; none if its type cannot be hashed.
    pub(super) fn of(types: &UserTypes, key: &Expr) -> SqlResult<Option<KeyForm>> {
        if orders_as_integer(key.type_oid()) && types::builtin_type(key.type_oid()).is_some() {
            return Ok(Some(KeyForm::Ints));
        }
        let is_text = [oids::text, oids::varchar].contains(&key.type_oid());
        if is_text && Comparator::is_bitwise(key.type_oid(), types.rules(key.collation())?) {
            return Ok(Some(KeyForm::Texts));
        }
        let of = types.comparator_of(key)?;
        Ok(of.hash.zip(of.equality).map(|(hash, equality)| KeyForm::Any(hash, equality)))
    }

    /// For what joins rows whose values of both expressions are equal; none if that is not known of their types.
    pub(super) fn of_both(types: &UserTypes, outer: &Expr, inner: &Expr) -> SqlResult<Option<KeyForm>> {
        let both: (Oid, Oid) = (outer.type_oid(), inner.type_oid());
        if are_integers(both) {
            return Ok(Some(KeyForm::Ints));
        }
        if both.0 != both.1 {
            return Ok(None);
        }
        KeyForm::of(types, outer)
    }

    /// Adds the hashes of a column's values to those of the keys before it.
    pub(super) fn hash(&self, column: &Column, batch: &Batch<'_>, hashes: &mut [u64]) {
        let rows = batch.rows.iter().map(|row| *row as usize).zip(hashes);
        match (self, &column.values) {
            (KeyForm::Ints, Values::Ints(list)) if column.nulls.is_empty() => {
                rows.for_each(|(row, hash)| *hash = mix(*hash, list[row] as u64));
            }
            _ => rows.for_each(|(row, hash)| *hash = mix(*hash, self.hash_row(column, row, batch.page))),
        }
    }

    fn hash_row(&self, column: &Column, row: usize, page: &[u8]) -> u64 {
        if column.is_null(row) {
            return NULL_HASH;
        }
        match self {
            KeyForm::Ints => int_of(column, row) as u64,
            KeyForm::Texts => text_of(column, row, page, hash_text),
            KeyForm::Any(hash, _) => hash.hash(&column.datum(row, page)),
        }
    }
}

/// Spreads what a product leaves in the upper bits.
#[inline]
pub(super) fn finish(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}

#[inline]
fn hash_text(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let hash = words.iter().fold(text.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash, u64::from_le_bytes(last))
}

/// A row's integer.
#[inline]
pub(super) fn int_of(column: &Column, row: usize) -> i64 {
    match &column.values {
        Values::Ints(list) => list[row],
        Values::Datums(list) => types::compare::widen(&list[row]),
        _ => 0,
    }
}

/// Looks at a row's byte string.
#[inline]
pub(super) fn text_of<T>(column: &Column, row: usize, page: &[u8], look: impl FnOnce(&[u8]) -> T) -> T {
    match &column.values {
        Values::Views(list) => look(list[row].of(page)),
        Values::Datums(list) => match &list[row] {
            tuple::Datum::Bytes(bytes) => look(bytes),
            _ => look(&[]),
        },
        _ => look(&[]),
    }
}
