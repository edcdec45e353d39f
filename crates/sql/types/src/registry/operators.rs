//! `pg_operator`.

use base::Oid;

use super::{Operator, Selectivity};

/// Every built-in operator, by OID: name, left, right, result, function, commutator, negator, can hash, can merge, estimator.
#[rustfmt::skip]
pub static OPERATORS: &[Operator] = &[
];

#[allow(clippy::too_many_arguments)]
const fn op(
    oid: u32,
    name: &'static str,
    left: u32,
    right: u32,
    result: u32,
    function: u32,
    commutator: u32,
    negator: u32,
    can_hash: bool,
    can_merge: bool,
    selectivity: Selectivity,
) -> Operator {
    Operator {
        oid: Oid(oid),
        name,
        left: Oid(left),
        right: Oid(right),
        result: Oid(result),
        function: Oid(function),
        commutator: Oid(commutator),
        negator: Oid(negator),
        can_hash,
        can_merge,
        selectivity,
    }
}
