//! The `catalog` layer.
pub mod system;
