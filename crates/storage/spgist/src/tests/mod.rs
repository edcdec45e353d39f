//! Tests of whole trees: searches against a list, redo of every prefix of the log, sessions that switch at latches.

mod concurrent;
mod replay;
mod search;
mod world;
