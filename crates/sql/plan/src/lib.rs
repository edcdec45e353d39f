//! The `plan` layer.
