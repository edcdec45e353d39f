//! GiST over sets: `gist_hstore_ops`. A signature has a bit for each key and for each value.

use tuple::tree::TreeQuery;
use types::array::Array;
use types::value::FromDatum;

use super::value::Hstore;
use types::signature::{Signatures, hash, length_option};

/// Strategy numbers.
pub(super) mod strategy {
    pub const CONTAINS: u16 = 7;
    pub const EXISTS: u16 = 9;
    pub const EXISTS_ANY: u16 = 10;
    pub const EXISTS_ALL: u16 = 11;
}

/// `gist_hstore_ops`
pub(super) static SIGNATURES: Signatures = Signatures {
    bytes: 16,
    options: &[length_option(16)],
    elements: |value, add| {
        for (key, value) in Hstore::from_datum(value).pairs() {
            add(hash(key.as_bytes()));
            value.into_iter().for_each(|value| add(hash(value.as_bytes())));
        }
    },
    may_match,
};

fn may_match(has: &dyn Fn(u64) -> bool, query: TreeQuery<'_>) -> bool {
    let key = |key: &str| has(hash(key.as_bytes()));
    match query.strategy {
        strategy::EXISTS => key(<&str>::from_datum(query.value)),
        strategy::EXISTS_ANY | strategy::EXISTS_ALL => {
            let keys = Array::from_payload(<&[u8]>::from_datum(query.value));
            let mut keys = keys.elements().iter().filter(|key| !key.is_null()).map(<&str>::from_datum);
            if query.strategy == strategy::EXISTS_ANY { keys.any(key) } else { keys.all(key) }
        }
        strategy::CONTAINS => {
            let mut pairs = Hstore::from_datum(query.value).pairs();
            pairs.all(|(name, value)| key(name) && value.is_none_or(key))
        }
        _ => true,
    }
}
