//! PostgreSQL's wire protocol, version 3: the server's side, and the client's side as far as replication between servers needs it. Pure: bytes in, bytes out.
//!
//! # What
//! [`startup`] reads the packets that come before authentication, [`frontend`] the messages after it, [`backend`] writes
//! what the server answers, [`answers`] reads that, [`recode`] converts their texts, [`replication`] is what goes in COPY while the log is sent, and [`scram`] is the server's side of SCRAM-SHA-256, with and without channel binding.
//!
//! # Invariants
//! 1. No input makes this crate panic; what is malformed gives an error with SQLSTATE 08P01 in PostgreSQL's words.
//! 2. Decoded messages borrow from the buffer they were read from; decoding allocates nothing.
//! 3. No message longer than PostgreSQL accepts for its type is ever waited for.
//!
//! # PostgreSQL counterpart and differences
//! `pqcomm.c`, `pqformat.c`, `postgres.c` (message loop), `auth-scram.c`. No GSS, no function-call
//! sub-protocol.

pub mod answers;
pub mod backend;
pub mod frontend;
pub mod recode;
pub mod replication;
pub mod scram;
pub mod startup;

mod reader;

#[cfg(test)]
mod tests;

pub use frontend::{Bind, Frame, Frontend, Target, frame};
pub use reader::check_utf8;
pub use startup::{FirstPacket, Startup, first_packet};
