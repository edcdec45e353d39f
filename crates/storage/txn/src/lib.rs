//! The `txn` layer.
