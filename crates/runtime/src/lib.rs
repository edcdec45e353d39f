//! The `runtime` layer.
