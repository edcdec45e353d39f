//! What a serializable transaction locks of a scan: its hash codes. Whoever enters a row with one of them meets them, wherever in the index the row goes.

use std::any::Any;
use std::sync::Arc;

use tuple::Datum;
use txn::KeyRange;

use crate::rel::HashRel;

/// Some hash codes, in order.
#[derive(Debug)]
pub(crate) struct Codes {
    pub(crate) rel: Arc<HashRel>,
    pub(crate) codes: Vec<u32>,
}

/// These codes; nothing if there are none.
pub(crate) fn key_range(rel: &Arc<HashRel>, codes: Vec<u32>) -> Option<Arc<dyn KeyRange>> {
    (!codes.is_empty()).then(|| Arc::new(Codes { rel: rel.clone(), codes }) as Arc<dyn KeyRange>)
}

/// Codes of another range of the same index.
fn codes_of(range: &dyn KeyRange) -> &[u32] {
    (range as &dyn Any).downcast_ref::<Codes>().map_or(&[], |range| &range.codes)
}

impl KeyRange for Codes {
    fn holds(&self, key: &dyn Any) -> bool {
        let Some(values) = key.downcast_ref::<Vec<Datum>>() else { return true };
        match values.first() {
            Some(value) if !value.is_null() => self.codes.binary_search(&self.rel.code(value)).is_ok(),
            _ => false,
        }
    }

    fn covers(&self, other: &dyn KeyRange) -> bool {
        codes_of(other).iter().all(|code| self.codes.binary_search(code).is_ok())
    }

    fn begins_before(&self, other: &dyn KeyRange) -> bool {
        self.codes.first() < codes_of(other).first()
    }

    fn join(&self, later: &dyn KeyRange) -> Arc<dyn KeyRange> {
        let mut codes = [&self.codes[..], codes_of(later)].concat();
        codes.sort_unstable();
        codes.dedup();
        Arc::new(Codes { rel: self.rel.clone(), codes })
    }
}
