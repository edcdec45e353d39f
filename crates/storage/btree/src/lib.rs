//! The `btree` layer.
