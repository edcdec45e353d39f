//! Tests of the whole crate.

mod asked;
mod churn;
mod concurrent;
mod damage;
mod model;
mod pages;
mod replay;
mod sessions;
mod unique;
pub(crate) mod world;
