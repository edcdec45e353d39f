//! The `wire` layer.
