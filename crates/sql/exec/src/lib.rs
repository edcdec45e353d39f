//! The `exec` layer.
