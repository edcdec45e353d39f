//! GIN over texts: `gin_trgm_ops`. The parts of a text are its trigrams. Rows are always asked again.

use base::SqlError;
use collation::Rules;
use tuple::Datum;
use tuple::parts::{Part, PartsClass, PartsQuery, SearchMode, Sought};
use tuple::tree::{Match, TreeQuery};
use types::value::FromDatum;

use super::query::Query;
use super::trigram::{Trigram, kinds};

/// The class.
#[derive(Debug)]
struct Trigrams {
    /// Texts that are equal have the same characters.
    exact: bool,
}

/// The class under the rules of a collation.
pub(super) fn class(rules: &'static Rules) -> &'static dyn PartsClass {
    if rules.is_deterministic() { &Trigrams { exact: true } } else { &Trigrams { exact: false } }
}

fn part(trigram: Trigram) -> Part {
    Some(trigram.bytes()[..].into())
}

#[derive(Debug)]
struct Search {
    query: Query,
    sought: Vec<Sought>,
    mode: SearchMode,
}

impl PartsClass for Trigrams {
    fn parts(&self, value: &Datum, out: &mut Vec<Part>) {
        // What is too long for it was refused where the value was made.
        out.extend(kinds(<&str>::from_datum(value)).unwrap_or_default().into_iter().map(part));
    }

    fn query(&self, query: TreeQuery<'_>) -> Result<Box<dyn PartsQuery>, SqlError> {
        let query = Query::of(query, self.exact)?;
        let sought: Vec<Sought> =
            query.trigrams.iter().map(|trigram| Sought::exactly(part(*trigram))).collect();
        let mode = if query.takes_any() { SearchMode::All } else { SearchMode::Some };
        Ok(Box::new(Search { query, sought, mode }))
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
        self.query.satisfied(|n| present.get(n).copied().unwrap_or(Match::Maybe))
    }
}
