//! Whole rows as keys: their hash, and whether two are the same. NULLs are the same.

use base::Oid;
use tuple::Datum;

/// A hash with one more value's.
#[inline]
pub fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}

type Hash = fn(&Datum) -> u64;
type Equal = fn(&Datum, &Datum) -> bool;

/// How rows of certain types are hashed and compared.
pub struct RowKey {
    hash: Box<[Hash]>,
    equal: Box<[Equal]>,
}

impl RowKey {
    /// For columns of these types; the type that cannot be hashed if there is one.
    pub fn new(user: &plan::UserTypes, types: &[Oid]) -> Result<RowKey, Oid> {
        let hash = types.iter().map(|t| user.hash(*t).ok_or(*t)).collect::<Result<_, _>>()?;
        let equal = types.iter().map(|t| user.equal(*t).ok_or(*t)).collect::<Result<_, _>>()?;
        Ok(RowKey { hash, equal })
    }

    /// Hash of a row.
    pub fn hash(&self, row: &[Datum]) -> u64 {
        let part = |(value, f): (&Datum, &Hash)| if value.is_null() { 0x9e37 } else { f(value) };
        row.iter().zip(&self.hash).map(part).fold(0, mix)
    }

    /// Whether two rows are the same.
    pub fn same(&self, a: &[Datum], b: &[Datum]) -> bool {
        a.iter().zip(b).zip(&self.equal).all(|((a, b), equal)| match (a.is_null(), b.is_null()) {
            (true, true) => true,
            (false, false) => equal(a, b),
            _ => false,
        })
    }
}
