//! How an aggregate is computed: by the registry, or by the functions that CREATE AGGREGATE named.
//!
//! An aggregate of a user that names the functions of a built-in one is computed as that one is. The transition functions of
//! built-in aggregates over states of type `internal` cannot be called otherwise.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use catalog::{AggregateDef, AggregateSteps, FunctionDef};
use types::Imp;
use types::registry::{Aggregate, aggregates::AGGREGATES};

use crate::function::Function;
use crate::planner::Planner;

/// How an aggregate is computed.
#[derive(Clone, Debug)]
pub enum Steps {
    /// By the registry.
    Native(&'static Aggregate),
    /// By functions.
    User(Arc<UserAggregate>),
}

/// An aggregate that is computed by functions, with the types of one call.
#[derive(Clone, Debug)]
pub struct UserAggregate {
    /// Over a group.
    pub plain: UserSteps,
    /// Over a frame that moves: takes rows back too.
    pub moving: Option<UserSteps>,
}

/// The functions of an aggregate.
#[derive(Clone, Debug)]
pub struct UserSteps {
    /// From a state and a row's arguments to the next state.
    pub transition: Function,
    /// Takes a row back.
    pub inverse: Option<Function>,
    /// From the last state, and direct arguments, to the result.
    pub finale: Option<Function>,
    /// Types of the NULLs that are passed to the final function as its last arguments.
    pub extra: Vec<Oid>,
    /// What the final function may do to the state: `r` nothing, `s` what others can live with, `w` anything.
    pub final_modify: u8,
    /// Type of the state.
    pub state: Oid,
    /// The first state, as text; `None` is NULL.
    pub initial: Option<Arc<str>>,
}

impl Planner<'_> {
    /// How a call of an aggregate with these types of arguments, direct ones first, is computed.
    pub(crate) fn aggregate_steps(&mut self, function: &Function, args: &[Oid]) -> SqlResult<Steps> {
        let unsupported = || SqlError::not_supported(format!("aggregate {}()", function.name()));
        if let Some(row) = types::registry::aggregate(function.oid()) {
            return Ok(Steps::Native(row));
        }
        let def = function.user().ok_or_else(unsupported)?;
        let aggregate = def.aggregate.as_deref().ok_or_else(unsupported)?;
        if let Some(same) = AGGREGATES.iter().find(|built_in| same_steps(built_in, aggregate)) {
            return Ok(Steps::Native(same));
        }
        let plain = self.user_steps(&aggregate.steps, None, def, args)?;
        let moving = match &aggregate.moving {
            Some((inverse, steps)) => Some(self.user_steps(steps, Some(*inverse), def, args)?),
            None => None,
        };
        Ok(Steps::User(Arc::new(UserAggregate { plain, moving })))
    }

    fn user_steps(
        &mut self,
        steps: &AggregateSteps,
        inverse: Option<Oid>,
        def: &FunctionDef,
        args: &[Oid],
    ) -> SqlResult<UserSteps> {
        let state = analyze::aggregate::actual_type(&def.args, args, steps.state, self.context.catalog)?;
        self.note_type(state)?;
        let direct = def.aggregate.as_ref().map_or(0, |a| a.direct_args as usize).min(args.len());
        let finale = steps.finale.is_valid().then_some(steps.finale);
        Ok(UserSteps {
            transition: self.step(steps.transition)?,
            inverse: inverse.map(|f| self.step(f)).transpose()?,
            finale: finale.map(|f| self.step(f)).transpose()?,
            extra: if steps.final_extra { args[direct..].to_vec() } else { Vec::new() },
            final_modify: steps.final_modify,
            state,
            initial: steps.initial.clone(),
        })
    }

    /// A function that an aggregate calls.
    fn step(&self, oid: Oid) -> SqlResult<Function> {
        let function = self.function(oid)?;
        match function.imp() {
            Some(Imp::CatalogOnly) => {
                Err(SqlError::not_supported(format!("an aggregate that calls function {}", function.name())))
            }
            _ => Ok(function),
        }
    }
}

/// Whether a user's aggregate does what a built-in one does.
fn same_steps(built_in: &Aggregate, user: &AggregateDef) -> bool {
    let steps = &user.steps;
    (built_in.kind, built_in.direct_args) == (user.kind, user.direct_args)
        && (built_in.transition, built_in.final_function, built_in.transition_type)
            == (steps.transition, steps.finale, steps.state)
        && built_in.initial == steps.initial.as_deref()
}
