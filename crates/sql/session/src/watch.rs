//! # What
//! What is watched of statements while they run: their ids, what they take for `pg_stat_statements`, their plans for `auto_explain`.
//!
//! # Invariants
//! 1. A statement that is not watched looks at two flags in the session's settings, and nothing else.
//! 2. What a run takes is measured around each fetch, not between: a client's pauses do not count.
//!
//! # PostgreSQL counterpart
//! `contrib/pg_stat_statements`, `contrib/auto_explain`, and `pgstat_report_query_id`.

use std::cell::Cell;
use std::sync::Arc;

use base::settings::{Setting, Watch};
use base::{SqlError, SqlResult, sql_err};
use executor::run::{Execution, Prepared, Progress};
use parse::fingerprint::Fingerprint;
use parse::{RawStatement, Statement};
use runtime::usage::Usage;
use tuple::Datum;

use super::beside::Plans;
use super::explain::nanos_since;
use super::logging::is_hit;
use super::statement::Source;
use super::{Instance, Session};
use crate::hooks::{Counted, Statements};

/// Where a session is among statements within statements.
#[derive(Default)]
pub(crate) struct Depths {
    /// Statements that are being carried out, utility statements among them.
    all: Cell<u32>,
    /// Those of them that have plans.
    planned: Cell<u32>,
    /// Plans of the client's statement are told of, by [`Setting::auto_explain_sample_rate`].
    sampled: Cell<bool>,
}

/// A run that is watched.
pub(crate) struct Watched {
    /// `Depths::all` and `Depths::planned` when it began.
    depths: (u32, u32),
    counted: bool,
    /// Microseconds from which on its plan is logged.
    explained_from: Option<u64>,
    nanos: u64,
    usage: Usage,
    rows: u64,
    processed: u64,
    failed: bool,
}

/// What a run was of.
pub(crate) struct Ran<'a> {
    pub(crate) source: &'a Source,
    /// What the client sent, where that is not the source's text.
    pub(crate) shown: Option<&'a str>,
    pub(crate) params: &'a [Datum],
}

impl Instance {
    /// A module counts statements from now on; the first one only.
    pub fn on_statements(&self, statements: Arc<dyn Statements>) {
        let _ = self.statements.set(statements);
    }

    /// What counts statements, if something does.
    pub fn statements(&self) -> Option<&dyn Statements> {
        self.statements.get().map(|statements| &**statements)
    }

    /// Loads the libraries of `shared_preload_libraries`, when the server starts.
    pub fn preload(self: &Arc<Self>) -> SqlResult<()> {
        let settings = self.settings();
        for library in base::settings::libraries(settings.text(Setting::shared_preload_libraries)) {
            if let Some(start) = self.modules().library(library)?.preload {
                start(self)?;
            }
        }
        Ok(())
    }
}

impl Session {
    #[inline]
    fn watching(&self) -> Option<Watch> {
        let settings = self.settings.borrow();
        let watch = &settings.fast().watch;
        (watch.is_active() || watch.has_ids()).then_some(*watch)
    }

    /// Whether runs are watched.
    pub(super) fn is_watching(&self) -> bool {
        self.watching().is_some_and(|watch| watch.is_active())
    }

    /// A query is about to run.
    #[inline]
    pub(crate) fn watch_run(&self, prepared: &Prepared) -> Option<Box<Watched>> {
        self.watching().and_then(|watch| self.begin_watch(watch, prepared))
    }

    #[cold]
    fn begin_watch(&self, watch: Watch, prepared: &Prepared) -> Option<Box<Watched>> {
        if watch.has_ids() {
            self.backend.set_query_id(prepared.fingerprint.id);
        }
        if !watch.is_active() {
            return None;
        }
        let depths = (self.depths.all.get(), self.depths.planned.get());
        let counted = watch.has_ids() && watch.counts_at(depths.0);
        let explained_from = self.explained_from(watch, depths.1);
        // Whatever runs within it has to know that it does.
        Some(Box::new(Watched {
            depths,
            counted,
            explained_from,
            nanos: 0,
            usage: Usage::default(),
            rows: 0,
            processed: 0,
            failed: false,
        }))
    }

    /// From how many microseconds on `auto_explain` tells of a run.
    fn explained_from(&self, watch: Watch, depth: u32) -> Option<u64> {
        let millis = watch.explained_from()?;
        let settings = self.settings.borrow();
        if depth == 0 {
            let rate = settings.get(Setting::auto_explain_sample_rate).as_real();
            self.depths.sampled.set(is_hit(rate));
        }
        let nested = settings.get(Setting::auto_explain_log_nested_statements).as_bool();
        let wanted = self.depths.sampled.get() && (depth == 0 || nested);
        wanted.then_some(millis.unsigned_abs() * 1000)
    }

    /// The state tree for a run: one that measures, if what it measures is told.
    pub(crate) fn execution_for(
        &self,
        watched: &Option<Box<Watched>>,
        prepared: &Arc<Prepared>,
    ) -> SqlResult<Box<Execution>> {
        let measured = watched.as_ref().is_some_and(|watched| watched.explained_from.is_some())
            && self.settings.borrow().get(Setting::auto_explain_log_analyze).as_bool();
        if !measured {
            return Execution::obtain(prepared);
        }
        let timing = self.settings.borrow().get(Setting::auto_explain_log_timing).as_bool();
        Execution::counting(prepared, timing).map(Box::new)
    }

    /// A part of a run.
    #[inline]
    pub(crate) fn watch_part(
        &self,
        watched: &mut Option<Box<Watched>>,
        part: impl FnOnce() -> SqlResult<Progress>,
    ) -> SqlResult<Progress> {
        match watched {
            None => part(),
            Some(watched) => self.measure_part(watched, part),
        }
    }

    fn measure_part(
        &self,
        watched: &mut Watched,
        part: impl FnOnce() -> SqlResult<Progress>,
    ) -> SqlResult<Progress> {
        let (began, before) = (runtime::now(), Usage::so_far());
        let all = self.depths.all.replace(watched.depths.0 + 1);
        let planned = self.depths.planned.replace(watched.depths.1 + 1);
        let result = part();
        self.depths.all.set(all);
        self.depths.planned.set(planned);
        watched.nanos += nanos_since(began);
        watched.usage += Usage::so_far() - before;
        match &result {
            Ok(progress) => {
                watched.rows += progress.rows;
                watched.processed = progress.processed;
            }
            Err(_) => watched.failed = true,
        }
        result
    }

    /// A run has ended. A failed one is not reported.
    pub(crate) fn end_watch(&self, watched: Option<Box<Watched>>, execution: &Execution, ran: &Ran<'_>) {
        let Some(watched) = watched.filter(|watched| !watched.failed) else { return };
        let prepared = execution.prepared();
        if watched.counted {
            let changes = prepared.statement.command != plan::Command::Select;
            let rows = if changes { watched.processed } else { watched.rows };
            let measured = Measured { nanos: watched.nanos, rows, usage: watched.usage };
            self.count(&prepared.fingerprint, ran.source, watched.depths.0, false, measured);
        }
        if watched.explained_from.is_some_and(|from| watched.nanos / 1000 >= from) {
            self.log_plan(watched.nanos, execution, ran);
        }
    }

    /// The run of a query that another statement has within it, of `source` and with these parameters.
    pub fn watch_within(
        &self,
        (source, params): (&Source, &[Datum]),
        execution: &mut Execution,
        run: impl FnOnce(&mut Execution) -> SqlResult<Progress>,
    ) -> SqlResult<Progress> {
        let mut watched = self.watch_run(execution.prepared());
        let progress = self.watch_part(&mut watched, || run(execution))?;
        self.end_watch(watched, execution, &Ran { source, shown: None, params });
        Ok(progress)
    }

    fn count(
        &self,
        fingerprint: &Fingerprint,
        source: &Source,
        depth: u32,
        planning: bool,
        measured: Measured,
    ) {
        let Some(statements) = self.instance.statements().filter(|_| fingerprint.id != 0) else { return };
        let (from, length) = source.part();
        statements.count(&Counted {
            user: self.names.user(),
            database: self.catalog.database(),
            id: fingerprint.id,
            top_level: depth == 0,
            planning,
            nanos: measured.nanos,
            rows: measured.rows,
            usage: measured.usage,
            text: &|| fingerprint.normalized(&source.text, from, length),
        });
    }

    /// Makes a plan, and counts that if planning is tracked.
    pub(super) fn watch_planning(
        &self,
        source: &Source,
        make: impl FnOnce() -> SqlResult<Plans>,
    ) -> SqlResult<Plans> {
        let depth = self.depths.all.get();
        let counts = |watch: &Watch| watch.has_ids() && watch.counts_planning() && watch.counts_at(depth);
        if self.watching().filter(counts).is_none() {
            return make();
        }
        let (began, before) = (runtime::now(), Usage::so_far());
        self.depths.all.set(depth + 1);
        let made = make();
        self.depths.all.set(depth);
        let measured = Measured { nanos: nanos_since(began), rows: 0, usage: Usage::so_far() - before };
        if let Ok((prepared, _)) = &made {
            self.count(&prepared.fingerprint, source, depth, true, measured);
        }
        made
    }

    /// Runs a utility statement, and counts it if these are tracked. Of EXECUTE, the prepared statement is counted instead.
    pub(crate) fn watch_utility(
        &self,
        source: &Source,
        raw: &RawStatement,
        run: impl FnOnce() -> SqlResult<String>,
    ) -> SqlResult<String> {
        let Some(watch) = self.watching() else { return run() };
        if matches!(raw.stmt, Statement::Execute(_) | Statement::Prepare { .. }) {
            return run();
        }
        let fingerprint = source.utility_fingerprint(raw);
        if watch.has_ids() {
            self.backend.set_query_id(fingerprint.id);
        }
        let depth = self.depths.all.get();
        let (began, before) = (runtime::now(), Usage::so_far());
        self.depths.all.set(depth + 1);
        let done = run();
        self.depths.all.set(depth);
        if let Ok(tag) = &done
            && watch.has_ids()
            && watch.counts_utility()
            && watch.counts_at(depth)
        {
            let (nanos, usage) = (nanos_since(began), Usage::so_far() - before);
            self.count(fingerprint, source, depth, false, Measured { nanos, rows: rows_of(tag), usage });
        }
        done
    }

    /// The id of the statement that runs, or ran last, as the log tells it.
    pub(super) fn query_id(&self) -> i64 {
        self.backend.query_id()
    }
}

struct Measured {
    nanos: u64,
    rows: u64,
    usage: Usage,
}

/// Rows that a utility statement's tag tells of, for those that PostgreSQL counts.
fn rows_of(tag: &str) -> u64 {
    let (command, rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let counts = matches!(command, "COPY" | "FETCH" | "SELECT" | "REFRESH");
    rest.rsplit(' ').next().filter(|_| counts).and_then(|rows| rows.parse().ok()).unwrap_or(0)
}

/// LOAD and `session_preload_libraries`.
impl Session {
    /// Loads a library: those that there are bring settings, or nothing.
    pub fn load_library(&self, path: &str) -> SqlResult<()> {
        let name = self.instance.modules().library(path)?.name;
        if let Some(module) = base::settings::Module::ALL.into_iter().find(|module| module.name() == name) {
            self.settings.borrow_mut().load(module);
        }
        Ok(())
    }

    /// Loads the libraries of `session_preload_libraries` and `local_preload_libraries`.
    pub(super) fn preload_libraries(&self) -> SqlResult<()> {
        let list = |setting| self.settings.borrow().text(setting).to_owned();
        let (for_all, local) =
            (list(Setting::session_preload_libraries), list(Setting::local_preload_libraries));
        base::settings::libraries(&for_all)
            .try_for_each(|library| self.load_library(library))
            .and_then(|()| {
                base::settings::libraries(&local).try_for_each(|library| self.load_plugin(library))
            })
            .map_err(|error| SqlError::fatal(error.code(), error.message().to_owned()))
    }

    /// Loads a library that anybody may load, out of a folder for such ones.
    fn load_plugin(&self, library: &str) -> SqlResult<()> {
        let name = library.strip_prefix("plugins/").unwrap_or(library);
        if name.contains('/') {
            return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "access to library \"{library}\" is not allowed"));
        }
        self.load_library(&format!("$libdir/plugins/{name}"))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn tags_tell_rows_of_some_commands() {
        let rows =
            ["COPY 3", "SELECT 5", "FETCH 1", "BEGIN", "MOVE 3", "CREATE TABLE", "REFRESH MATERIALIZED VIEW"];
        assert_eq!(rows.map(super::rows_of), [3, 5, 1, 0, 0, 0, 0]);
    }
}
