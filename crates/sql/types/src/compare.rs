//! Order, equality and hash of every type that has them.

use base::Oid;
use tuple::Datum;

use crate::registry::CompareFn;

/// See [`crate::registry::compare`].
pub fn compare(type_oid: Oid) -> Option<CompareFn> {
    let _ = type_oid;
    todo!()
}

/// See [`crate::registry::equal`].
pub fn equal(type_oid: Oid) -> Option<fn(&Datum, &Datum) -> bool> {
    let _ = type_oid;
    todo!()
}

/// See [`crate::registry::hash`].
pub fn hash(type_oid: Oid) -> Option<fn(&Datum) -> u64> {
    let _ = type_oid;
    todo!()
}
