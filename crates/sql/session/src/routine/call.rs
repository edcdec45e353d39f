//! What is the same for calls in all languages.

use std::sync::Arc;

use base::settings::TrackFunctions;
use base::{CommandId, Oid, SqlError, SqlResult};
use catalog::system::pg_language;
use catalog::{C_LANGUAGE, CatalogView, FunctionDef, RowExt, SQL_LANGUAGE};
use eval::trigger::{Names, TriggerCall};
use tuple::Datum;
use txn::Snapshot;

use super::{Invocation, Language, Returned, RowStore};
use crate::Session;
use crate::module::ModuleFunction;

impl Session {
    /// Calls a user's function that gives one value.
    pub(crate) fn call_routine(
        &self,
        function: &Arc<FunctionDef>,
        call: &types::Call<'_>,
        args: &[Datum],
        (snapshot, command): (&Snapshot, CommandId),
    ) -> SqlResult<Datum> {
        let invocation = Invocation { function, call, args, snapshot, command, atomic: true };
        match self.invoke(&invocation)? {
            Returned::Value(value) => Ok(value),
            Returned::Set(_) => Err(SqlError::internal("a set where a value was expected")),
        }
    }

    /// Calls a user's function that gives a set.
    pub(crate) fn call_routine_set(
        &self,
        function: &Arc<FunctionDef>,
        call: &types::Call<'_>,
        args: &[Datum],
        (snapshot, command): (&Snapshot, CommandId),
    ) -> SqlResult<RowStore> {
        let invocation = Invocation { function, call, args, snapshot, command, atomic: true };
        match self.invoke(&invocation)? {
            Returned::Value(value) => {
                let mut rows = RowStore::default();
                self.keep_row(&mut rows, vec![value])?;
                Ok(rows)
            }
            Returned::Set(rows) => Ok(rows),
        }
    }

    /// Appends a row to those that are kept, beyond `work_mem` in a file.
    pub fn keep_row(&self, rows: &mut RowStore, row: Vec<Datum>) -> SqlResult<()> {
        let memory = self.settings.borrow().fast().work_mem as usize;
        rows.push(row, memory, self.temp_dir())
    }

    /// Carries out a call as the function's owner if it says so, and under its settings.
    pub(crate) fn invoke(&self, invocation: &Invocation<'_>) -> SqlResult<Returned> {
        runtime::check_stack()?;
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        let function = invocation.function;
        let run = || self.under_settings(function, || self.in_language(invocation));
        self.tracked(function, || match function.security_definer {
            true => self.as_role(function.owner, run),
            false => run(),
        })
    }

    /// Counts and times a call, if calls of such functions are (`track_functions`).
    fn tracked<T>(&self, function: &FunctionDef, call: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        let counted = match self.settings.borrow().fast().track_functions {
            TrackFunctions::None => false,
            TrackFunctions::Procedural => function.language != Oid(SQL_LANGUAGE),
            TrackFunctions::All => true,
        };
        if !counted {
            return call();
        }
        let total = self.pending.calls_of(function.oid).map_or(0, |before| before.total);
        let outer = self.called_time.replace(0);
        let start = runtime::now();
        let result = call();
        let elapsed = start.elapsed().as_micros() as i64;
        let own = elapsed - self.called_time.get();
        self.called_time.set(outer + elapsed);
        if result.is_ok() {
            self.pending.called(function.oid, total, (elapsed, own));
        }
        result
    }

    /// Calls a user's trigger function, as its owner if it says so, and under its settings.
    pub(crate) fn invoke_trigger(&self, call: &TriggerCall<'_>) -> SqlResult<Option<Vec<Datum>>> {
        runtime::check_stack()?;
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        let oid = call.trigger.function;
        let missing = || SqlError::internal(format!("cache lookup failed for function {oid}"));
        let function = self.function_by_oid(oid)?.ok_or_else(missing)?;
        let fire = || self.fire_in_language(&function, call);
        let run = || self.under_settings(&function, || self.with_transitions(Names::of(call), fire));
        self.tracked(&function, || match function.security_definer {
            true => self.as_role(function.owner, run),
            false => run(),
        })
    }

    fn fire_in_language(
        &self,
        function: &Arc<FunctionDef>,
        call: &TriggerCall<'_>,
    ) -> SqlResult<Option<Vec<Datum>>> {
        match function.language == Oid(C_LANGUAGE) {
            true => self.of_module(function)?.fire(self, function, call),
            false => self.language(function.language)?.fire(self, function, call),
        }
    }

    /// The function of a module behind one in C.
    fn of_module(&self, function: &FunctionDef) -> SqlResult<ModuleFunction> {
        let library = function.library.as_deref().unwrap_or_default();
        self.instance().modules().function(library, &function.source)
    }

    /// Runs `body` under the settings of a function's SET clauses.
    fn under_settings<T>(&self, function: &FunctionDef, body: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        if function.config.is_empty() {
            return body();
        }
        let mut before = Vec::with_capacity(function.config.len());
        for (name, value) in &function.config {
            // An extension's setting may be named here first.
            before.push((name, self.settings.borrow().show(name).ok()));
            self.change_setting(name, Some(value), true)?;
        }
        let result = body()?;
        for (name, value) in before.into_iter().rev() {
            self.change_setting(name, value.as_deref(), true)?;
        }
        Ok(result)
    }

    fn in_language(&self, invocation: &Invocation<'_>) -> SqlResult<Returned> {
        self.with_transitions(None, || self.in_own_language(invocation))
    }

    fn in_own_language(&self, invocation: &Invocation<'_>) -> SqlResult<Returned> {
        let language = invocation.function.language;
        if language == Oid(SQL_LANGUAGE) {
            return self.call_sql(invocation);
        }
        if language == Oid(C_LANGUAGE) {
            return self.of_module(invocation.function)?.call(self, invocation);
        }
        self.language(language)?.call(self, invocation)
    }

    /// A procedural language. Where it is registered is looked up once a session: functions in it keep it from being dropped.
    fn language(&self, oid: Oid) -> SqlResult<&dyn Language> {
        let languages = self.instance().languages();
        if let Some(known) = self.language_state.place(oid).and_then(|place| languages.at(place)) {
            return Ok(known);
        }
        let name = self.language_name(oid)?;
        let place = languages.place(&name);
        if let Some(place) = place {
            self.language_state.keep_place(oid, place);
        }
        let found = place.and_then(|place| languages.at(place));
        found.ok_or_else(|| SqlError::not_supported(format!("language \"{name}\"")))
    }

    /// Name of a language.
    pub(crate) fn language_name(&self, oid: Oid) -> SqlResult<String> {
        let key = [oid.into()];
        let index = pg_language::PG_LANGUAGE_OID_INDEX;
        let row = self.with_reader(|r| r.find_one(&pg_language::TABLE, index, &key))?;
        let missing = || SqlError::internal(format!("cache lookup failed for language {oid}"));
        row.map(|(_, row)| row.str(pg_language::LANNAME).to_owned()).ok_or_else(missing)
    }
}
