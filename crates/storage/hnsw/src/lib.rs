//! # What
//! HNSW indexes: a graph in which each row is linked to rows near to it, so that a search that goes from neighbour to neighbour finds the nearest ones, or almost all of them. Upper
//! levels, each with fewer rows than the one below, lead the search to where it begins.
//!
//! # Layout
//! * Block 0 has one item: numbers of the index, the node where searches begin, the page where new nodes go, the list of free nodes (`format`).
//! * All other pages have items that never change their length: *nodes*, with a row's TID and its key, and for each node an item with its *links*, `m` for each level and twice as
//!   many for the lowest. An item is named by page and number.
//! * `format`: bytes. Records are [changes](index::changes) of bytes. `rel`: an open index. `search`: searches, over `graph`, which reads pages, or `memory`, where builds have what they
//!   have not written yet. `insert`, `scan`, `vacuum`, `verify`: what is done with an index.
//!
//! # Invariants
//! 1. Who enters a row has a shared hold on the index's structure from before his first look at the graph until he is done; who makes searches begin at another node, and VACUUM where it makes
//!    nodes dead, free, or gives them other links, has it alone. Searches have none, and no latch but on the page that they read.
//! 2. A node is *live*, *dead* (its row is gone; it still leads on) or *free*. VACUUM makes nodes dead, replaces all links to them, and then makes them free: no link to a free
//!    node is ever made, and a search that still follows one finds a node of another row, or one without.
//! 3. A node is linked to others only after it is there. One to which no link was made when the server stopped is of a transaction that never ended.
//!
//! Several rows are entered at a time. Each change looks under its latches whether what it was decided by still holds: that a link is the one that is to be replaced, that a free node is the first of
//! the list. If not, it is decided anew. Two rows that are entered at the same moment may not be linked to each other, as in pgvector.
//!
//! # Locks
//! The structure, taken with no page latched. Under it the latches of one page, or of the two of a node, those in use in the order of their blocks and then new ones, then that of block 0.
//!
//! # WAL and crash
//! A record holds for each of its pages the changes of bytes, which redo repeats.
//!
//! # PostgreSQL counterpart and differences
//! `hnsw` of pgvector. A node stands for one row, where there it may stand for ten with equal vectors.

pub mod format;
mod graph;
mod insert;
mod memory;
mod method;
mod rel;
mod scan;
mod search;
#[cfg(test)]
mod tests;
mod vacuum;
mod verify;

pub use rel::HnswRel;
pub use scan::Scan;
