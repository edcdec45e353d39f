//! Whole rows as keys: their hash, and whether two are the same. NULLs are the same.

use base::{Oid, SqlError, SqlResult};
use tuple::Datum;
use types::{Equality, Hash};

/// A hash with one more value's.
#[inline]
pub fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// How rows of certain types are hashed and compared.
pub struct RowKey {
    hash: Box<[Hash]>,
    equal: Box<[Equality]>,
}

impl RowKey {
    /// For columns of these types and collations: an error if one of them cannot be hashed, which `none` makes of its type.
    pub fn new(
        user: &plan::UserTypes,
        columns: &[(Oid, Oid)],
        none: impl Fn(Oid) -> SqlError,
    ) -> SqlResult<RowKey> {
        let (mut hash, mut equal) = (Vec::new(), Vec::new());
        for (type_oid, collation) in columns {
            let of = user.comparator(*type_oid, *collation)?;
            hash.push(of.hash.ok_or_else(|| none(*type_oid))?);
            equal.push(of.equality.ok_or_else(|| none(*type_oid))?);
        }
        Ok(RowKey { hash: hash.into(), equal: equal.into() })
    }

    /// For the values of these expressions.
    pub fn of<'e>(
        user: &plan::UserTypes,
        exprs: impl IntoIterator<Item = &'e plan::Expr>,
        none: impl Fn(Oid) -> SqlError,
    ) -> SqlResult<RowKey> {
        let columns: Vec<_> = exprs.into_iter().map(|e| (e.type_oid(), e.collation())).collect();
        RowKey::new(user, &columns, none)
    }

    /// Hash of a row.
    pub fn hash(&self, row: &[Datum]) -> u64 {
        let part = |(value, f): (&Datum, &Hash)| if value.is_null() { 0x9e37 } else { f.hash(value) };
        row.iter().zip(&self.hash).map(part).fold(0, mix)
    }

    /// Whether two rows are the same.
    pub fn same(&self, a: &[Datum], b: &[Datum]) -> bool {
        a.iter().zip(b).zip(&self.equal).all(|((a, b), equal)| match (a.is_null(), b.is_null()) {
            (true, true) => true,
            (false, false) => equal.equal(a, b),
            _ => false,
        })
    }
}
