//! The `catalog` layer.

pub mod row;
pub mod system;
mod validity;
pub mod view;

pub use row::{Row, RowBuilder, RowExt};
pub use validity::Validity;
pub use view::*;
