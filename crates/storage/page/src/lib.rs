//! The `page` layer.
