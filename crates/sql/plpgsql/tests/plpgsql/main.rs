//! PL/pgSQL as sessions see it, on an open cluster without a network.

mod authority;
mod counters;
mod language;
mod progress;
mod simple;
#[path = "../../../command/tests/sql/support/mod.rs"]
mod support;
mod triggers;
