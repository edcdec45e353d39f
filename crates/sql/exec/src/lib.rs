//! # What
//! Executes statements: sessions, portals, executor nodes, DML, DDL, COPY and the utility commands.
//!
//! # Layout
//! * `session`: what the server drives, one per connection. `command`: utility statements. `functions`: functions of SQL that need a session.
//! * `run`: from an analysed statement to rows. `compile`, `eval`, `truth` (conditions), `decimal` (arithmetic of `numeric`), `composite` (arrays), `row_value` (rows, domains): expressions. `node`, `nodes`, `subplan`: the tree that runs. `cx`: what it works with.
//! * [`autovacuum`]: VACUUM and ANALYZE by themselves.
//! * [`module`]: extensions that are compiled in. [`verify`]: whether tables and indexes are sound.
//! * [`routine`]: functions that users made, and the languages that they are written in.
//! * `trigger`: triggers, and what waits for the end of a statement or transaction. `firing`: carries that out.
//! * `lookup`: what statements name. [`commands`]: what sessions know of utility statements. `expression`, `uses`: expressions in definitions. `index_entries`, `violation`: entries of rows that no plan writes. `exclusion`: rows that conflict by an exclusion constraint. `options`: values of option lists. `table_rows`: rows that are read without a plan. `reach`: files of the machine.
//! * `index`: entries of indexes. `recheck`: rows that others changed meanwhile. `spill`: temporary files. `statistics`: what the planner asks.
//! * `notify`: what sessions tell each other. `clock_map`: a map of limited size. `output`: where rows go. `error`: errors of the layers below. `initialize`: what initdb does.
//!
//! # Invariants
//! 1. Whoever waits for another transaction or a heavyweight lock holds no page latch: storage refuses, this crate waits and asks again.
//! 2. Nothing here knows sockets: rows and messages go to an [`Output`].
//!
//! # PostgreSQL counterpart
//! `src/backend/executor`, `commands`, `tcop`.

pub mod autovacuum;
mod clock_map;
mod command;
pub mod commands;
mod compile;
mod composite;
mod control;
pub mod counters;
mod cx;
mod decimal;
mod error;
mod eval;
mod exclusion;
mod expression;
mod firing;
mod functions;
mod index;
mod index_entries;
mod initialize;
mod json;
mod kept;
mod lookup;
pub mod module;
mod needs;
mod node;
mod nodes;
mod notify;
mod options;
mod output;
mod partition;
mod reach;
mod recheck;
pub mod routine;
mod row_key;
mod row_store;
mod row_value;
mod run;
mod session;
mod spill;
mod statistics;
mod subplan;
mod table_rows;
mod temp_account;
#[cfg(test)]
mod tests;
mod trigger;
mod truth;
mod uses;
pub mod verify;
mod violation;
pub mod watch;

pub use command::Commands;
pub use command::vacuum::{AnalyzeReport, Budget, FreezeAges, Maintenance, Used, VacuumReport};
pub use control::{AutoChange, FileSetting, ServerControl};
pub use counters::SessionEnd;
pub use initialize::initialize;
pub use notify::Notification;
pub use output::{Column, Format, Output, RowEncoder};
pub use session::{
    AccessFiles, AccessRule, Activity, Arguments, Backend, BackendState, Background, Encryption, Instance,
    LogSink, ParamValue, Passwords, Registered, Session, SessionInfo, Sessions, Sharing, Situation,
    SocketOptions, SocketSink, Source, TransactionStatus, UserMapping, escapes_read,
};
pub use trigger::{Event, TriggerCall};
