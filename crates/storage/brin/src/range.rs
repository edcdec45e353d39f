//! What a serializable transaction locks of a scan: its conditions. Whoever enters a row that would have been found meets them, wherever in the table the row goes.

use std::any::Any;
use std::sync::Arc;

use index::ScanKeys;
use index::{ScanKey, ScanOp};
use tuple::Datum;
use txn::KeyRange;

use crate::rel::BrinRel;

/// The conditions of a scan.
#[derive(Debug)]
pub(crate) struct Conditions {
    pub(crate) rel: Arc<BrinRel>,
    pub(crate) keys: Vec<ScanKey>,
}

/// What satisfies these conditions; nothing if one compares with NULL.
pub(crate) fn key_range(rel: &Arc<BrinRel>, keys: Vec<ScanKey>) -> Option<Arc<dyn KeyRange>> {
    let never = |key: &ScanKey| matches!(&key.op, ScanOp::Operator { value, .. } if value.is_null());
    if keys.iter().any(never) {
        return None;
    }
    Some(Arc::new(Conditions { rel: rel.clone(), keys }))
}

/// [`key_range`] of a scan that has not begun.
pub(crate) fn of_keys(rel: &Arc<BrinRel>, keys: ScanKeys) -> Option<Arc<dyn KeyRange>> {
    key_range(rel, keys.keys)
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
