//! The `buffer` layer.
