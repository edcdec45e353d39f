//! # What
//! The verifier: tables against themselves (`table`), indexes against their order and their tables (`index`), and whole databases (`database`).
//! There is one, for the functions of the extension `amcheck`, for `stampede verify`, and for tests.
//!
//! # Layout
//! What a page must be is known to `heap::verify` and the index access methods. Here tables and indexes are locked, rows are read and keys computed. `filter`: which
//! entries an index has.
//!
//! # Locks
//! ACCESS SHARE on the table, or SHARE where an index must not change ([`IndexChecks::parent`]): what `names::guard` names. No latch over anything that waits.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/amcheck`. Where an index is checked against its table and does not change meanwhile, every entry's row is looked at too.

mod database;
mod filter;
mod index;
mod table;

pub use database::{Damage, Watcher, database, databases};
pub use heap::verify::{Finding, Skip};
pub use index::{IndexChecks, index};
pub use table::{TableChecks, table};

use base::{SqlResult, sql_err};
use catalog::Table;
use session::lookup::names;
use session::{BackendKind, Session};

/// Temporary tables of others are in their buffers, which nobody else sees.
fn check_not_temporary(session: &Session, table: &Table, message: &str) -> SqlResult<()> {
    if table.persistence == 't' && session.names.temporary_schema() != Some(table.schema) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot access temporary tables of other sessions")
            .detail(message.to_owned()));
    }
    Ok(())
}

/// Locks what guards a table's rows. Where nobody else is, prepared transactions hold the only locks, and write no more.
fn lock(session: &Session, table: &Table, mode: txn::LockMode) -> SqlResult<()> {
    if session.backend.kind == BackendKind::Inspector {
        return Ok(());
    }
    let guard = names::guard(session, table)?;
    names::lock_relation(session, guard, mode, txn::LockWait::Block)
}
