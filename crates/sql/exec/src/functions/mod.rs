//! # What
//! The functions of SQL that need the session or the catalogs: whoever calls them has only arguments and a name.
//!
//! # Layout
//! One file per family: `facts` (who, where, when, encodings), `settings`, `xact` (transactions and WAL), `names` (names,
//! comments, visibility), `alias` (what types ask, `regclass` and its like), `definitions` (`pg_get_*def`), `partitions`, `sizes`,
//! `privileges`, `locks`, `activity`, `statistics`, `server_statistics`, `sequences`, `updatable` (what views let through), `user_types` (values of enums, domains, rows). `text` holds what they write names with.
//!
//! # Invariants
//! 1. Strict functions are not called with NULL; the caller sees to that.
//! 2. A function without an implementation, or without a source for its answer, fails with 0A000 and names itself.
//!
//! # PostgreSQL counterpart
//! The parts of `utils/adt` that look into catalogs and shared memory.

mod activity;
pub(crate) mod alias;
mod definitions;
mod facts;
mod locks;
mod names;
mod partitions;
mod privileges;
mod sequences;
mod server_statistics;
mod settings;
mod sizes;
mod statistics;
mod text;
mod triggers;
mod updatable;
mod user_types;
mod xact;

pub(crate) use facts::{encoding, encoding_number};
pub(crate) use user_types::DomainCheckers;

use base::{SqlError, SqlResult};
use tuple::Datum;
use txn::Snapshot;
use types::value::FromDatum;
use types::{Call, SessionFn};

pub(crate) use sequences::Sequences;
pub(crate) use text::{qualified as quoted_relation, quote_identifier};

use crate::session::Session;

/// A row of a function that gives rows.
pub(crate) type Row = Vec<Datum>;

/// Argument `i`; it is there, or the registry's signature would not have matched.
fn arg<'a, T: FromDatum<'a>>(args: &'a [Datum], i: usize) -> T {
    T::from_datum(args.get(i).unwrap_or(&Datum::Null))
}

/// `feature_not_supported` for a function of the registry.
fn missing(id: SessionFn) -> SqlError {
    SqlError::not_supported(format!("function {}()", text::function_name(id)))
}

impl Session {
    /// Carries out a function that gives one value.
    pub(crate) fn call_session_function(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
        snapshot: &Snapshot,
    ) -> SqlResult<Datum> {
        if let Some(value) = self.sequence_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.name_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.definition(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.updatable_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.enum_function(id, call, args)? {
            return Ok(value);
        }
        if let Some(value) = self.fact(id, call, args)? {
            return Ok(value);
        }
        if let Some(value) = self.setting_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.xact(id, call, args, snapshot)? {
            return Ok(value);
        }
        if let Some(value) = self.privilege_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.size_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.lock_function(id, call, args)? {
            return Ok(value);
        }
        if let Some(value) = self.activity_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.statistics_function(id, args)? {
            return Ok(value);
        }
        Err(missing(id))
    }

    /// Carries out a function that gives rows: a set, or one row of several columns.
    pub(crate) fn call_session_set(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Vec<Row>> {
        if let Some(rows) = self.partition_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.sequence_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.fact_rows(id, call, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.setting_rows(id)? {
            return Ok(rows);
        }
        if let Some(rows) = self.xact_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.privilege_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.size_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.lock_rows(id)? {
            return Ok(rows);
        }
        if let Some(rows) = self.activity_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.statistics_rows(id, args)? {
            return Ok(rows);
        }
        Err(missing(id))
    }
}

/// Where a client comes from, as an `inet`; NULL behind a Unix socket.
fn client_address(client: Option<std::net::SocketAddr>) -> Datum {
    let parsed = client.map(|address| types::network::parse(&address.ip().to_string(), false));
    parsed.and_then(Result::ok).unwrap_or(Datum::Null)
}
