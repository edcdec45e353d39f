//! # What
//! The parameters of utility statements that hold a query or a call: CALL, CREATE TABLE AS, DECLARE, EXPLAIN.
//!
//! These are analysed when they are prepared, so that their errors come then and the types of their parameters are known, and once
//! more when they run. In all other utility statements `$1` has no meaning.
//!
//! # PostgreSQL counterpart
//! `transformStmt` in `analyze.c`, for the statements that it looks into.

use std::sync::Arc;

use analyze::ParamTypes;
use base::{Oid, SqlResult, sql_err};
use parse::Statement;
use tuple::Datum;

use super::Session;
use super::statement::{Source, Work};

/// What `$n` and names stand for in a statement, and their values.
pub struct Arguments<'a> {
    /// The types of `$n`.
    pub types: ParamTypes,
    /// The values of `$n`.
    pub values: &'a [Datum],
}

impl Arguments<'_> {
    /// Of a statement that has no parameters.
    pub const NONE: Arguments<'static> = Arguments { types: ParamTypes::None, values: &[] };
}

impl Session {
    /// Analyses a utility statement of Parse. Gives the types of its parameters.
    pub(super) fn utility_parameters(&self, source: &Source) -> SqlResult<Arc<[Oid]>> {
        let given = source.given_types();
        let Work::Utility(raw) = &source.work else { return Ok(given.into()) };
        if !self.commands().describe(&raw.stmt).parameters {
            return Ok(given.into());
        }
        let types = source.parameter_kinds();
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        let analyzed = analyze::analyze_statement(&raw.stmt, &source.text, types, self, &call)?;
        if matches!(&raw.stmt, Statement::CreateTableAs(s) if s.materialized_view && analyzed.params.len() > given.len())
        {
            let message = "materialized views may not be defined using bound parameters";
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "{message}"));
        }
        Ok(analyzed.params.into())
    }

    /// What the parameters of a utility statement are when it runs with these values.
    pub fn arguments_of<'a>(&self, source: &Source, values: &'a [Datum]) -> Arguments<'a> {
        let types = match source.parameter_kinds() {
            ParamTypes::Infer(_) => ParamTypes::Fixed(source.param_types().to_vec()),
            types => types,
        };
        Arguments { types, values }
    }
}
