//! The `engine` layer.
