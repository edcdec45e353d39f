//! What serializable transactions tell of the indexes that they read and write ([`txn::serializable`]). Others pay a branch.

use std::sync::Arc;

use base::SqlResult;
use engine::{OpenIndex, OpenScan};
use eval::cx::Cx;
use heap::HeapRel;
use tuple::Datum;
use txn::{KeyRange, RelKind, Transaction};

/// The range of keys that the current run of a scan reads, if a serializable transaction has to lock it.
#[derive(Default)]
pub(super) struct WatchedKeys(Option<Arc<dyn KeyRange>>);

impl WatchedKeys {
    /// A scan of an index is about to begin.
    #[inline]
    pub(super) fn begin(&mut self, heap: &HeapRel, index: &OpenIndex, scan: &mut OpenScan, cx: &Cx<'_>) {
        if cx.env.fixed_snapshot {
            self.lock(heap, index, scan, cx);
        }
    }

    #[cold]
    fn lock(&mut self, heap: &HeapRel, index: &OpenIndex, scan: &mut OpenScan, cx: &Cx<'_>) {
        if heap.desc.kind != RelKind::Plain || cx.env.txn.borrow().serializable().is_none() {
            return;
        }
        if let Some(range) = scan.watch() {
            lock_range(heap, index, range.clone(), cx);
            self.0 = Some(range);
        }
    }

    /// The scan goes no further. `want_values`: whether another run is to keep its entries' values.
    #[inline]
    pub(super) fn end(&mut self, index: &OpenIndex, scan: &mut OpenScan, want_values: bool, cx: &Cx<'_>) {
        if self.0.is_some() {
            self.end_watch(index, scan, want_values, cx);
        }
    }

    #[cold]
    fn end_watch(&mut self, index: &OpenIndex, scan: &mut OpenScan, want_values: bool, cx: &Cx<'_>) {
        if let Some(range) = self.0.take() {
            // What cannot be read again stays locked as it is.
            if let Ok(Some(part)) = scan.read_part(want_values)
                && let Some(serial) = cx.env.txn.borrow().serializable()
            {
                serial.narrow_range(index.desc().file, &range, part);
            }
        }
    }
}

/// Locks a range of the keys of a table's index that is about to be read.
pub(super) fn lock_range(heap: &HeapRel, index: &OpenIndex, range: Arc<dyn KeyRange>, cx: &Cx<'_>) {
    let txn = cx.env.txn.borrow();
    if let Some(serial) = txn.serializable().filter(|_| heap.desc.kind == RelKind::Plain) {
        serial.read_range(index.desc().file, heap.desc.file, range);
    }
}

/// A key was entered into an index of a table, or is there and cannot be.
#[inline]
pub fn key_entered(me: &Transaction, heap: &HeapRel, index: &OpenIndex, values: &[Datum]) -> SqlResult<()> {
    match me.serializable().filter(|_| heap.desc.kind == RelKind::Plain) {
        Some(serial) => Ok(serial.write_key(index.desc().file, &values.to_vec())?),
        None => Ok(()),
    }
}
