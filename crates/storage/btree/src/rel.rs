//! An open index: its description, and what it remembers between calls.

use std::sync::atomic::{AtomicU32, AtomicU64};

use index::{IndexDesc, IndexResult};

/// An open index. Share it by `Arc`: it caches the root and hints for insertion, all of which may be stale at any time.
#[derive(Debug)]
pub struct BtreeRel {
    /// The description.
    pub desc: IndexDesc,
    /// Duplicates may share one key in a posting list: values that compare as equal have equal bytes, there are no INCLUDE columns, and
    /// `deduplicate_items` is on.
    pub(crate) deduplicate: bool,
    /// Code of users tells the order of a key column: whoever searches or changes the tree does so in [`asking`](index::asking()).
    pub(crate) asks: bool,
    /// Percentage of a leaf that the build and the split of the right-most leaf fill.
    pub(crate) fillfactor: usize,
    /// Cached fast root: `level << 32 | block`, 0 when unknown.
    pub(crate) root: AtomicU64,
    /// Block of the right-most leaf as far as the last inserter knew, 0 when unknown.
    pub(crate) rightmost: AtomicU32,
}

impl BtreeRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> BtreeRel {
        let deduplicate =
            desc.equal_image && desc.layout.len() == desc.nkeys() && desc.is_on("deduplicate_items");
        let fillfactor = desc.fillfactor(DEFAULT_FILLFACTOR);
        let asks = index::asks(&desc.keys);
        BtreeRel {
            desc,
            deduplicate,
            asks,
            fillfactor,
            root: AtomicU64::new(0),
            rightmost: AtomicU32::new(0),
        }
    }

    /// Runs an operation that compares keys on pages, again and again if code of users is to be asked for their order. The caller holds no latch.
    #[inline]
    pub(crate) fn asking<T>(&self, mut operation: impl FnMut() -> IndexResult<T>) -> IndexResult<T> {
        if self.asks { index::asking(operation) } else { operation() }
    }

    /// Number of key columns.
    pub(crate) fn nkeys(&self) -> usize {
        self.desc.nkeys()
    }
}

const DEFAULT_FILLFACTOR: usize = 90;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::world::Shape;

    #[test]
    fn storage_parameters_are_heeded() {
        let with = |options: &[(&str, &str)]| {
            let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            let rel = BtreeRel::new(IndexDesc { options, ..Shape::Int.desc(false) });
            (rel.fillfactor, rel.deduplicate)
        };
        assert_eq!(with(&[]), (90, true));
        assert_eq!(with(&[("fillfactor", "70")]), (70, true));
        assert_eq!(with(&[("deduplicate_items", "off"), ("fillfactor", "100")]), (100, false));
        assert_eq!(with(&[("deduplicate_items", "true")]), (90, true));
    }
}
