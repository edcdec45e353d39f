//! Settings: one list of what exists, and the values that a server and its sessions have.
//!
//! # Layout
//! `table`: every setting ([`Setting`]) and what it is ([`Definition`]). `value`: reading and writing values. `server`: the
//! values that all sessions share ([`ServerSettings`]). `session`: what one session changed ([`SessionSettings`]).
//!
//! # Invariants
//! 1. A [`Value`] fits its setting's type and bounds, wherever it is stored.
//! 2. A session stores only what differs from the server's values; ten thousand sessions share one table.
//! 3. A setting whose feature is missing has its default ([`Effect::Fixed`]), or a value that means the same.
//! 4. The fields of [`Fast`] always equal the values of the settings they are named after.
//!
//! # PostgreSQL counterpart and differences
//! GUC. Names, types, units, bounds and error texts are PostgreSQL 18's. None is accepted and ignored: what asks for something
//! that is missing here is refused, and `pg_settings.extra_desc` says so (the header of `table` has the rule).

mod checks;
mod definition;
#[cfg(test)]
mod document;
mod server;
mod session;
mod table;
mod value;
mod watch;

#[cfg(test)]
mod tests;

pub use checks::{MAX_RING, MAX_STACK_DEPTH, MIN_RING, TextCheck, set_text_check};
pub use definition::{Context, Definition, Effect, Kind, Module, Unit};
pub use server::{Reload, ServerSettings, Source};
pub use session::{
    Fast, PlanCacheMode, SessionSettings, SettingRow, SyncCommit, Timeouts, TrackFunctions, Who,
};
pub use table::{ALL, DEFINITIONS, Setting};
pub use value::{Value, parse_bool};
pub use watch::{TrackStatements, Watch, libraries};

use std::sync::OnceLock;

use crate::{SqlError, SqlResult, sql_err};

impl Setting {
    /// What it is.
    #[inline]
    pub fn definition(self) -> &'static Definition {
        &DEFINITIONS[self as usize]
    }

    /// Its name as PostgreSQL spells it.
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// Reads a value as the only one that is said.
    pub fn parse(self, text: &str) -> SqlResult<Value> {
        checks::parse(self, text, &self.definition().default_value())
    }

    /// The setting with this name, whatever its case.
    pub fn find(name: &str) -> Option<Setting> {
        static SORTED: OnceLock<Vec<(String, Setting)>> = OnceLock::new();
        let sorted = SORTED.get_or_init(|| {
            let mut all: Vec<_> = ALL.iter().map(|s| (s.name().to_ascii_lowercase(), *s)).collect();
            all.sort();
            all
        });
        let name = name.to_ascii_lowercase();
        // Names that PostgreSQL once had and still knows.
        let name = match name.as_str() {
            "sort_mem" => "work_mem",
            "vacuum_mem" => "maintenance_work_mem",
            "ssl_ecdh_curve" => "ssl_groups",
            other => other,
        };
        sorted.binary_search_by(|probe| probe.0.as_str().cmp(name)).ok().map(|at| sorted[at].1)
    }
}

/// `unrecognized configuration parameter` (42704).
pub fn unrecognized(name: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "unrecognized configuration parameter \"{name}\"")
}

/// Whether a name may belong to an extension: two or more identifiers with dots between them. Anybody may set those.
pub fn is_custom_name(name: &str) -> bool {
    name.contains('.')
}

/// Fails for a name with a dot that is not made of identifiers, or whose first part belongs to settings that are all known (42602).
fn check_custom_name(name: &str, watch: &Watch) -> SqlResult<()> {
    let invalid = || sql_err!(INVALID_NAME, "invalid configuration parameter name \"{name}\"");
    let identifier = |part: &str| {
        let mut chars = part.chars();
        let start = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
        chars.next().is_some_and(start) && chars.all(|c| start(c) || c.is_ascii_digit() || c == '$')
    };
    if !name.split('.').all(identifier) {
        let detail = "Custom parameter names must be two or more simple identifiers separated by dots.";
        return Err(invalid().detail(detail));
    }
    match reserved_prefix(name, watch) {
        Some(prefix) => Err(invalid().detail(format!("\"{prefix}\" is a reserved prefix."))),
        None => Ok(()),
    }
}

/// The first part of a setting's name, if all settings that begin with it are known: it is the server's, or a loaded module's.
fn reserved_prefix(name: &str, watch: &Watch) -> Option<&'static str> {
    let (first, _) = name.split_once('.')?;
    let definitions = ALL.iter().map(|setting| setting.definition());
    let mut there = definitions.filter(|definition| definition.module.is_none_or(|m| watch.is_loaded(m)));
    there.find_map(|definition| {
        let (prefix, _) = definition.name.split_once('.')?;
        prefix.eq_ignore_ascii_case(first).then_some(prefix)
    })
}
