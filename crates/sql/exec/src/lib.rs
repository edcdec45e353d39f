//! # What
//! Executes statements: sessions, portals, executor nodes, DML, DDL, COPY and the utility commands.

mod command;
mod compile;
mod composite;
mod cx;
mod error;
mod eval;
mod functions;
mod index;
mod initialize;
mod nodes;
mod output;
mod recheck;
mod run;
mod session;
mod spill;
mod statistics;
mod subplan;
#[cfg(test)]
mod tests;

pub use initialize::initialize;
pub use output::{Column, Format, Output, RowEncoder};
pub use session::{
    Activity, Backend, BackendState, Instance, ParamValue, Registered, Session, SessionInfo, Sessions,
    TransactionStatus,
};
