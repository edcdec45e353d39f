//! What a serializable transaction locks of a scan: its conditions. Whoever enters a row that would have been found meets them.

use std::any::Any;
use std::sync::Arc;

use base::Tid;
use index::{Match, ScanKey, ScanOp};
use tuple::Datum;
use tuple::parts::SearchMode;
use txn::KeyRange;

use crate::format::{EMPTY, KEY, NULL_ROW};
use crate::insert::{Entry, row_entries};
use crate::rel::GinRel;
use crate::scan::{Query, queries, sought_key};
use tuple::parts::InRange;

/// The conditions of a scan.
#[derive(Debug)]
struct Conditions {
    rel: Arc<GinRel>,
    keys: Vec<ScanKey>,
}

/// What satisfies these conditions; nothing if one compares with NULL.
pub(crate) fn key_range(rel: &Arc<GinRel>, keys: Vec<ScanKey>) -> Option<Arc<dyn KeyRange>> {
    let never = |key: &ScanKey| matches!(&key.op, ScanOp::Operator { value, .. } if value.is_null());
    if keys.iter().any(never) {
        return None;
    }
    Some(Arc::new(Conditions { rel: rel.clone(), keys }))
}

impl Conditions {
    /// Whether a row with these values might be found.
    fn find(&self, values: &[Datum]) -> bool {
        let Ok(Some(queries)) = queries(&self.rel, &self.keys) else { return false };
        let Ok(entries) = row_entries(&self.rel, values, Tid::default()) else { return true };
        queries.iter().all(|query| may_satisfy(&self.rel, query, &entries))
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

impl KeyRange for Conditions {
    fn holds(&self, key: &dyn Any) -> bool {
        key.downcast_ref::<Vec<Datum>>().is_none_or(|values| self.find(values))
    }

    /// Without conditions it holds everything; otherwise nothing is sure.
    fn covers(&self, _other: &dyn KeyRange) -> bool {
        self.keys.is_empty()
    }

    fn begins_before(&self, _other: &dyn KeyRange) -> bool {
        false
    }

    fn join(&self, _later: &dyn KeyRange) -> Arc<dyn KeyRange> {
        Arc::new(Conditions { rel: self.rel.clone(), keys: Vec::new() })
    }
}
