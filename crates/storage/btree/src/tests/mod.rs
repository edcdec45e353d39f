//! Tests of the whole crate.

mod concurrent;
mod damage;
mod model;
mod pages;
mod replay;
mod world;
