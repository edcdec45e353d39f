//! # What
//! The SQL functions that need the session or the catalogs: they are called by a number, with arguments alone.
//!
//! # Layout
//! One file per family: `facts` (who, where, when, encodings), `lists` (keywords, time zones), `index_properties`, `index_upkeep`, `large_objects`, `settings`, `brin` (summaries of ranges), `access_files` (`pg_hba.conf`), `files` (the server's files), `xact` (transactions), `wal` (the log, recovery, the control file), `names` (names,
//! comments, visibility), `amvalidate` (whether an operator class is whole), `alias` (what types ask, `regclass` and the like), `definitions` (`pg_get_*def`, with `statistics_objects`), `objects` (addresses and names of objects), `partitions`, `sizes`,
//! `privileges`, `locks`, `activity`, `statistics`, `server_statistics`, `sequences`, `updatable` (what views let through), `user_types` (values of enums, domains, rows), `xml` (tables as XML). `text` holds what they write names with.
//!
//! # Invariants
//! 1. Strict functions are not called with NULL; the caller sees to that.
//! 2. A function without an implementation, or without a source for its answer, fails with 0A000 and names itself.
//!
//! # PostgreSQL counterpart
//! The parts of `utils/adt` that look into catalogs and shared memory.

mod access_files;
mod activity;
pub(crate) mod alias;
mod amvalidate;
mod brin;
mod definitions;
mod facts;
mod files;
mod index_properties;
mod index_upkeep;
mod large_objects;
mod lists;
mod locks;
mod names;
mod objects;
mod partitions;
mod privileges;
mod publications;
mod rules;
mod sequences;
mod server_statistics;
mod settings;
mod sizes;
mod statistics;
mod statistics_objects;
mod summaries;
mod text;
mod text_search;
mod triggers;
mod updatable;
mod user_types;
mod wal;
mod xact;
mod xml;

pub(crate) use user_types::DomainCheckers;

use std::sync::OnceLock;

use base::{SqlError, SqlResult};
use rustc_hash::FxHashMap;
use tuple::Datum;
use txn::Snapshot;
use types::record::RowType;
use types::registry::{self, Imp};
use types::value::FromDatum;
use types::{Call, SessionFn};

pub(crate) use large_objects::LargeObject;
pub(crate) use sequences::Sequences;
pub use summaries::SUMMARIZER_PID;
pub use text::{qualified as quoted_relation, quote_identifier};

use crate::Session;

/// A row of a function that gives rows.
pub(crate) type Row = Vec<Datum>;

/// Argument `i`; it is there, or the registry's signature would not have matched.
pub(crate) fn arg<'a, T: FromDatum<'a>>(args: &'a [Datum], i: usize) -> T {
    T::from_datum(args.get(i).unwrap_or(&Datum::Null))
}

/// `feature_not_supported` for a function of the registry.
fn missing(id: SessionFn) -> SqlError {
    SqlError::not_supported(format!("function {}()", text::function_name(id)))
}

/// What the rows are of functions that give one row of several columns.
fn row_types() -> &'static FxHashMap<SessionFn, RowType> {
    static ALL: OnceLock<FxHashMap<SessionFn, RowType>> = OnceLock::new();
    let of = |function: &&types::Function| match function.imp {
        Imp::Session(id) if !function.retset => Some((id, executor::nodes::row_type(function)?)),
        _ => None,
    };
    ALL.get_or_init(|| registry::functions().iter().filter_map(of).collect())
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
        if let Some(value) = self.definition(id, call, args)? {
            return Ok(value);
        }
        if let Some(value) = self.statistics_definition(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.index_property(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.index_upkeep(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.brin_function(id, args)? {
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
        if let Some(value) = self.wal_function(id, args)? {
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
        if let Some(value) = self.large_object_function(id, args, snapshot)? {
            return Ok(value);
        }
        if let Some(value) = self.activity_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.statistics_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.file_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.slot_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.backup_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.text_search_function(id, args)? {
            return Ok(value);
        }
        if let Some(value) = self.xml_mapping(id, call, args)? {
            return Ok(value);
        }
        self.row_as_value(id, call, args)
    }

    /// One row of several columns, where an expression calls for it.
    fn row_as_value(&self, id: SessionFn, call: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
        let row_type = row_types().get(&id).ok_or_else(|| missing(id))?;
        let rows = self.call_session_set(id, call, args)?;
        Ok(rows.first().map_or(Datum::Null, |row| row_type.row(row)))
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
        if let Some(rows) = self.publication_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.summary_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.wal_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.object_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.sequence_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.fact_rows(id, call, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.list_rows(id)? {
            return Ok(rows);
        }
        if let Some(rows) = self.setting_rows(id)? {
            return Ok(rows);
        }
        if let Some(rows) = self.access_rows(id)? {
            return Ok(rows);
        }
        if let Some(rows) = self.xact_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.privilege_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.slot_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.backup_rows(id, args)? {
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
        if let Some(rows) = self.file_rows(id, args)? {
            return Ok(rows);
        }
        if let Some(rows) = self.text_search_rows(id, args)? {
            return Ok(rows);
        }
        Err(missing(id))
    }
}

/// The address of one end of a connection, as an `inet`; NULL over a Unix socket.
fn address(end: Option<std::net::SocketAddr>) -> Datum {
    let parsed = end.map(|end| types::network::parse(&end.ip().to_canonical().to_string(), false));
    parsed.and_then(Result::ok).unwrap_or(Datum::Null)
}

/// Functions of the catalogs that answer 0A000, for want of what they are about.
#[cfg(test)]
const WITHOUT_ANSWER: &[SessionFn] = &[
    SessionFn::PgEventTriggerDdlCommands,
    SessionFn::PgExtensionConfigDump,
    SessionFn::PgGetCatalogForeignKeys,
    SessionFn::PgLogBackendMemoryContexts,
    SessionFn::PgStatGetBackendIo,
    SessionFn::PgStatGetBackendWal,
    SessionFn::PgStatResetBackendStats,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Re-exports for the files of this crate.
    fn named_in_sources() -> String {
        fn read(folder: &std::path::Path, all: &mut String) {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    read(&path, all);
                } else if !path.ends_with("functions/mod.rs") {
                    all.push_str(&std::fs::read_to_string(&path).unwrap());
                }
            }
        }
        let mut all = String::new();
        read(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut all);
        all
    }

    #[test]
    fn every_function_has_an_answer_or_is_in_the_list() {
        let sources = named_in_sources();
        let mut missing: Vec<SessionFn> = Vec::new();
        for function in types::registry::functions() {
            let types::Imp::Session(id) = function.imp else { continue };
            let word = format!("::{id:?}");
            let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
            let named = sources.match_indices(&word).any(|(at, _)| is_end(&sources[at + word.len()..]));
            if !named && !missing.contains(&id) {
                missing.push(id);
            }
        }
        let unexpected: Vec<_> = missing.iter().filter(|id| !WITHOUT_ANSWER.contains(id)).collect();
        let answered: Vec<_> = WITHOUT_ANSWER.iter().filter(|id| !missing.contains(id)).collect();
        assert!(
            unexpected.is_empty() && answered.is_empty(),
            "without answer: {unexpected:?}; answered: {answered:?}"
        );
    }
}
