//! GiST over sets of integers: `gist__intbig_ops`, whose keys are signatures. For `gist__int_ops` see `ranges`.

use tuple::Datum;
use tuple::tree::TreeQuery;
use types::array::Array;
use types::value::FromDatum;

use super::query::Query;
use types::signature::{Signatures, hash, length_option};

/// Strategy numbers.
mod strategy {
    pub const OVERLAPS: u16 = 3;
    pub const SAME: u16 = 6;
    pub const CONTAINS: u16 = 7;
    pub const MATCHES: u16 = 20;
}

/// `gist__intbig_ops`
pub(super) static BIG: Signatures = Signatures {
    bytes: 252,
    options: &[length_option(252)],
    elements: |value, add| each(value).into_iter().for_each(|number| add(of(number))),
    may_match: |has, query| may_match(&|number| has(of(number)), query),
};

fn of(number: i32) -> u64 {
    hash(&number.to_le_bytes())
}

pub(super) fn each(value: &Datum) -> Vec<i32> {
    let array = Array::from_payload(<&[u8]>::from_datum(value));
    array
        .elements()
        .iter()
        .filter_map(|value| if let Datum::Int4(n) = value { Some(*n) } else { None })
        .collect()
}

/// Whether a set that may have just some numbers may satisfy a query.
pub(super) fn may_match(has: &dyn Fn(i32) -> bool, query: TreeQuery<'_>) -> bool {
    match query.strategy {
        strategy::OVERLAPS => each(query.value).into_iter().any(has),
        strategy::SAME | strategy::CONTAINS => each(query.value).into_iter().all(has),
        strategy::MATCHES => Query::from_datum(query.value).may_match(has),
        _ => true,
    }
}
