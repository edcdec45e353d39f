//! Errors of the layers below, as a client sees them.

use base::SqlError;
use txn::{LockError, TxnError};

/// An interrupt.
pub fn interrupted(interrupt: runtime::Interrupt) -> SqlError {
    interrupt.into()
}

/// An error of the transaction layer.
pub fn txn(error: TxnError) -> SqlError {
    error.into()
}

/// An error of the lock manager.
pub fn lock(error: LockError) -> SqlError {
    error.into()
}

/// An error of the heap.
pub fn heap(error: heap::HeapError) -> SqlError {
    error.into_sql()
}
