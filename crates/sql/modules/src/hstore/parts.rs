//! GIN over sets: `gin_hstore_ops`. The parts of a set are its keys and its values: a letter and the text, or another letter for a value that is NULL.

use base::SqlError;
use tuple::Datum;
use tuple::parts::{Part, PartsClass, PartsQuery, SearchMode, Sought};
use tuple::tree::{Match, TreeQuery};
use types::array::Array;
use types::value::FromDatum;

use super::tree::strategy;
use super::value::Hstore;
use crate::presence::{all_of, any_of, at_most_maybe};

/// `gin_hstore_ops`
#[derive(Debug)]
pub(super) struct Pairs;

fn lettered(letter: u8, text: &str) -> Part {
    let bytes: Vec<u8> = std::iter::once(letter).chain(text.bytes()).collect();
    Some(bytes.into())
}

fn key(text: &str) -> Part {
    lettered(b'K', text)
}

#[derive(Debug)]
struct Query {
    sought: Vec<Sought>,
    /// One of the parts is enough.
    any: bool,
    /// A row that has all parts sought satisfies the query.
    exact: bool,
}

impl PartsClass for Pairs {
    fn parts(&self, value: &Datum, out: &mut Vec<Part>) {
        for (name, value) in Hstore::from_datum(value).pairs() {
            out.push(key(name));
            out.push(value.map_or_else(|| Some(b"N"[..].into()), |value| lettered(b'V', value)));
        }
    }

    fn query(&self, query: TreeQuery<'_>) -> Result<Box<dyn PartsQuery>, SqlError> {
        let mut parts = Vec::new();
        match query.strategy {
            strategy::EXISTS => parts.push(key(<&str>::from_datum(query.value))),
            strategy::EXISTS_ANY | strategy::EXISTS_ALL => {
                let keys = Array::from_payload(<&[u8]>::from_datum(query.value));
                let keys = keys.elements().iter().filter(|key| !key.is_null());
                parts.extend(keys.map(|name| key(<&str>::from_datum(name))));
            }
            _ => self.parts(query.value, &mut parts),
        }
        parts.sort_by(|a, b| a.as_deref().cmp(&b.as_deref()));
        parts.dedup();
        Ok(Box::new(Query {
            sought: parts.into_iter().map(Sought::exactly).collect(),
            any: query.strategy == strategy::EXISTS_ANY,
            exact: query.strategy != strategy::CONTAINS,
        }))
    }
}

impl PartsQuery for Query {
    fn sought(&self) -> &[Sought] {
        &self.sought
    }

    fn mode(&self) -> SearchMode {
        // What asks for nothing is true of all.
        if self.sought.is_empty() && !self.any { SearchMode::All } else { SearchMode::Some }
    }

    fn satisfied(&self, present: &[Match]) -> Match {
        let found = if self.any { any_of(present) } else { all_of(present) };
        if self.exact { found } else { at_most_maybe(found) }
    }
}
