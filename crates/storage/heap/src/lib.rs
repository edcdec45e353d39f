//! The `heap` layer.
