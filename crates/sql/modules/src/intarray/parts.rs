//! GIN over sets of integers: `gin__int_ops`. The parts of an array are its numbers.

use base::SqlError;
use tuple::Datum;
use tuple::parts::{Part, PartsClass, PartsQuery, SearchMode, Sought};
use tuple::tree::{Match, TreeQuery};
use types::array::Array;
use types::value::FromDatum;

use super::query::Query;
use super::{of_array, unique};
use crate::presence::{all_of, any_of, at_most_maybe};

/// Strategy numbers.
mod strategy {
    pub const OVERLAPS: u16 = 3;
    pub const CONTAINS: u16 = 7;
    pub const WITHIN: u16 = 8;
    pub const QUERY: u16 = 20;
}

/// `gin__int_ops`
#[derive(Debug)]
pub(super) struct Numbers;

/// Bytes in the order of the numbers.
fn part(number: i32) -> Part {
    Some((number ^ i32::MIN).to_be_bytes()[..].into())
}

#[derive(Debug)]
enum Need {
    All,
    Any,
    /// No others than those sought.
    Within,
    Query(Query),
}

#[derive(Debug)]
struct Search {
    need: Need,
    numbers: Vec<i32>,
    sought: Vec<Sought>,
    mode: SearchMode,
}

impl PartsClass for Numbers {
    fn parts(&self, value: &Datum, out: &mut Vec<Part>) {
        let array = Array::from_payload(<&[u8]>::from_datum(value));
        let number = |value: &Datum| if let Datum::Int4(number) = value { part(*number) } else { None };
        out.extend(array.elements().iter().map(number));
    }

    fn query(&self, query: TreeQuery<'_>) -> Result<Box<dyn PartsQuery>, SqlError> {
        let (need, numbers) = if query.strategy == strategy::QUERY {
            let query = Query::from_datum(query.value);
            let numbers = unique(query.numbers());
            (Need::Query(query), numbers)
        } else {
            let need = match query.strategy {
                strategy::OVERLAPS => Need::Any,
                strategy::WITHIN => Need::Within,
                _ => Need::All,
            };
            let array = Array::from_payload(<&[u8]>::from_datum(query.value));
            (need, unique(of_array(&array)?))
        };
        let mode = match &need {
            Need::All if numbers.is_empty() && query.strategy == strategy::CONTAINS => SearchMode::All,
            Need::All if numbers.is_empty() => SearchMode::SomeOrEmpty,
            Need::Within => SearchMode::SomeOrEmpty,
            Need::Query(query) if query.known(|_| Match::No) != Match::No => SearchMode::All,
            _ => SearchMode::Some,
        };
        let sought = numbers.iter().map(|number| Sought::exactly(part(*number))).collect();
        Ok(Box::new(Search { need, numbers, sought, mode }))
    }
}

impl PartsQuery for Search {
    fn sought(&self) -> &[Sought] {
        &self.sought
    }

    fn mode(&self) -> SearchMode {
        self.mode
    }

    fn satisfied(&self, present: &[Match]) -> Match {
        at_most_maybe(match &self.need {
            Need::All => all_of(present),
            Need::Any => any_of(present),
            Need::Within => Match::Maybe,
            Need::Query(query) => query.known(|number| match self.numbers.binary_search(&number) {
                Ok(at) => present.get(at).copied().unwrap_or(Match::Maybe),
                Err(_) => Match::Maybe,
            }),
        })
    }
}
