//! The `wal` layer.
