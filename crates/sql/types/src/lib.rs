//! The `types` layer.
