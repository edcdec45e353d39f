//! # What
//! The B-tree index: Lehman and Yao's tree with right links and high keys, as PostgreSQL's nbtree.
//!
//! The interface of the other files of this folder joins the build as soon as `buffer` and `wal` have theirs.

mod rel;

pub use rel::{BtreeDesc, BtreeRel, Compare, KeyColumn};
