//! The `catalog` layer.
