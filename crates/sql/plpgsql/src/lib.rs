//! # What
//! PL/pgSQL: a parser of its own, and an interpreter over the executor.
//!
//! # Layout
//! * [`language`], [`MODULE`]: what registers with the executor. `compile`: from a function's definition to its statements, kept by session.
//! * `scan`, `parse`: the text. `checks`: what it warns of. `ast`, `namespace`, `expr`: what it becomes. `run`: what it does, with `run/trigger` for triggers.
//!
//! # Invariants
//! 1. A compiled function refers to no run of it: recursion shares it. What a run changes is in its frame.
//! 2. A block with EXCEPTION is a subtransaction; it ends before the block's next statement runs.
//!
//! # PostgreSQL counterpart and differences
//! `src/pl/plpgsql`. Functions are compiled once a session for each set of argument types; their expressions keep their plans.

mod ast;
mod checks;
mod compile;
mod conditions;
mod expr;
mod namespace;
mod parse;
mod run;
mod scan;

use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState};
use catalog::FunctionDef;
use eval::trigger::TriggerCall;
use session::Session;
use session::module::{Module, ModuleFunction, not_callable};
use session::routine::{Invocation, Language, Returned};
use tuple::Datum;
use types::oids;

use crate::compile::Compiled;

/// The language, to be registered with the executor.
pub fn language() -> Box<dyn Language> {
    Box::new(PlPgSql)
}

/// The extension that brings the language along.
pub static MODULE: Module = Module {
    name: "plpgsql",
    version: "1.0",
    comment: "PL/pgSQL procedural language",
    schema: Some("pg_catalog"),
    relocatable: false,
    trusted: true,
    requires: &[],
    script: include_str!("script.sql"),
    functions: &[
        ("plpgsql_call_handler", ModuleFunction::Value(not_callable)),
        ("plpgsql_inline_handler", ModuleFunction::Value(not_callable)),
        ("plpgsql_validator", ModuleFunction::Value(not_callable)),
    ],
    ..Module::LIBRARY
};

struct PlPgSql;

impl Language for PlPgSql {
    fn name(&self) -> &'static str {
        "plpgsql"
    }

    fn validate(&self, session: &Session, function: &FunctionDef) -> SqlResult<Vec<SqlError>> {
        compile::validate(session, function)
    }

    fn call(&self, session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
        if invocation.function.result == oids::trigger {
            let message = "trigger functions can only be called as triggers";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let state = session.language_state::<Compiled>();
        let function = compile::compiled(session, &state, invocation)?;
        run::call(session, &state, &function, invocation)
    }

    fn fire(
        &self,
        session: &Session,
        function: &Arc<FunctionDef>,
        call: &TriggerCall<'_>,
    ) -> SqlResult<Option<Vec<Datum>>> {
        let names_rows = call.trigger.has_transitions().then_some(call.trigger.oid);
        let state = session.language_state::<Compiled>();
        let function = compile::compiled_trigger(session, &state, function, call.table.row_type, names_rows)?;
        run::fire(session, &state, &function, call)
    }

    fn run(&self, session: &Session, text: &str, atomic: bool) -> SqlResult<()> {
        let function = compile::block(session, text)?;
        run::run_block(session, &session.language_state(), &function, atomic)
    }
}
