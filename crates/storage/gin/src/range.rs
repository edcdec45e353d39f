//! What a serializable transaction locks of a scan: its conditions. Whoever enters a row that would have been found meets them.

use base::Tid;
use index::{Finds, Match, ScanKey};
use tuple::Datum;
use tuple::parts::SearchMode;

use crate::format::{EMPTY, KEY, NULL_ROW};
use crate::insert::{Entry, row_entries};
use crate::rel::GinRel;
use crate::scan::{Query, queries, sought_key};
use tuple::parts::InRange;

impl Finds for GinRel {
    fn might_find(&self, keys: &[ScanKey], values: &[Datum]) -> bool {
        let Ok(Some(queries)) = queries(self, keys) else { return false };
        let Ok(entries) = row_entries(self, values, Tid::default()) else { return true };
        queries.iter().all(|query| may_satisfy(self, query, &entries))
    }
}

/// Whether a row with these keys may satisfy a condition.
fn may_satisfy(rel: &GinRel, query: &Query, entries: &[Entry]) -> bool {
    let mut own = entries.iter().filter(|entry| entry.column == query.column).peekable();
    if own.peek().is_none_or(|entry| entry.category == NULL_ROW) {
        return false;
    }
    let own: Vec<&Entry> = own.collect();
    let sought = query.parts.sought();
    let has = |n: usize| {
        let (category, key) = sought_key(&sought[n]);
        own.iter().any(|entry| match sought[n].range {
            true => entry.category == KEY && query.parts.in_range(n, &entry.key) == InRange::Yes,
            false => {
                entry.category == category
                    && rel.compare_keys(query.column, category, &entry.key, key).is_eq()
            }
        })
    };
    let present: Vec<Match> = (0..sought.len()).map(|n| Match::of(has(n), true)).collect();
    let looked_at = match query.parts.mode() {
        SearchMode::Some => present.contains(&Match::Yes),
        SearchMode::SomeOrEmpty => present.contains(&Match::Yes) || own[0].category == EMPTY,
        SearchMode::All => true,
    };
    looked_at && query.parts.satisfied(&present) != Match::No
}
