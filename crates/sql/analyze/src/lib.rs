//! The `analyze` layer.
