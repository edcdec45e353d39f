//! The `catalog` layer.

pub mod system;
pub mod view;
