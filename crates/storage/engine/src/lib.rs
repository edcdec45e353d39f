//! The `engine` layer: the other files of this folder join the build as soon as the layers below have what they need.
pub mod control;
mod error;

pub use error::EngineError;
