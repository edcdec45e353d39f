//! What a serializable transaction locks of a scan whose method has no order of keys: its conditions. Whoever enters a row that would have been found meets them, wherever in the index or
//! the table the row goes.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use tuple::Datum;
use txn::KeyRange;

use crate::{ScanKey, ScanOp};

/// An index that can tell whether a scan might find a row.
pub trait Finds: Debug + Send + Sync + 'static {
    /// Whether a row with these values might satisfy the conditions; any row might, of a method without conditions.
    fn might_find(&self, _keys: &[ScanKey], _values: &[Datum]) -> bool {
        true
    }
}

/// The conditions of a scan.
#[derive(Debug)]
struct Conditions<M> {
    rel: Arc<M>,
    keys: Vec<ScanKey>,
}

/// What satisfies these conditions; nothing if one compares with NULL.
pub fn conditions<M: Finds>(rel: &Arc<M>, keys: Vec<ScanKey>) -> Option<Arc<dyn KeyRange>> {
    let never = |key: &ScanKey| matches!(&key.op, ScanOp::Operator { value, .. } if value.is_null());
    if keys.iter().any(never) {
        return None;
    }
    Some(Arc::new(Conditions { rel: rel.clone(), keys }))
}

impl<M: Finds> KeyRange for Conditions<M> {
    fn holds(&self, key: &dyn Any) -> bool {
        key.downcast_ref::<Vec<Datum>>().is_none_or(|values| self.rel.might_find(&self.keys, values))
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
