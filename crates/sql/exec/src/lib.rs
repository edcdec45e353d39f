//! # What
//! Executes statements: sessions, portals, executor nodes, DML, DDL, COPY and the utility commands.

mod command;
mod output;
mod session;

pub use output::{Column, Format, Output, RowEncoder};
pub use session::{Instance, ParamValue, Session, SessionInfo, TransactionStatus};
