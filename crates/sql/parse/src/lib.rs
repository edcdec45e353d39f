//! The `parse` layer.
