//! # What
//! A primary, two standbys and an archive on machines of their own, with links between them that delay, break and are cut, while machines crash. Walsender,
//! walreceiver, archiver and recovery are the real ones; in between is a simulated network ([`runtime::sim::net`]).
//!
//! # Layout
//! [`node`]: a server. [`wire`]: its end of a connection. [`archive`]: the archive's commands. [`ledger`]: clients, and what they were told. [`faults`]: what goes
//! wrong. [`rebuild`]: a copy of a running server. The tests: [`failover`]: the primary is lost; [`histories`]: what readers of standbys see.

mod archive;
mod failover;
mod faults;
mod histories;
mod ledger;
mod node;
mod rebuild;
mod wire;
