//! # What
//! Which plan a statement with parameters runs by: the generic one, which sessions share, or a custom one, made for the values.
//!
//! The first five runs are custom ones; from then on the generic plan is taken if it is estimated to cost less than the custom plans
//! did on average, the making of plans included.
//!
//! # Invariants
//! 1. A custom plan depends on what the generic one depends on, and is used for one run.
//! 2. Where values cannot make a difference ([`plan::Statement::parameters_matter`]) the generic plan runs in place of a custom one, and counts
//!    as one: planning again would give the same.
//!
//! # PostgreSQL counterpart and differences
//! `choose_custom_plan` in `plancache.c`. There the generic plan is first made when it is first considered.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use base::SqlResult;
use base::settings::{PlanCacheMode, Setting};
use tuple::Datum;

use super::Session;
use super::beside;
use super::planning::RecordingView;
use super::statement::{Planned, SharedPlan, Source};

/// Number of custom plans that are made before the generic one is considered.
const FIRST_CUSTOM: i64 = 5;

/// What was chosen so far.
#[derive(Default)]
pub(crate) struct Choices {
    /// Runs by the generic plan.
    pub(crate) generic: Cell<i64>,
    /// Runs by custom plans.
    pub(crate) custom: Cell<i64>,
    /// What those were estimated to cost.
    custom_cost: Cell<f64>,
}

/// Whether a custom plan may be replaced by a generic one that would do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A plan that does the right thing.
    Equivalent,
    /// The very plan, to be shown.
    Exact,
}

impl Session {
    /// The plan for a run with these parameters, with its relations locked. Counts the choice.
    pub(crate) fn plan_for(
        &self,
        source: &Source,
        params: &[Datum],
        wanted: Wanted,
    ) -> SqlResult<Rc<Planned>> {
        let generic = self.current_plan(source)?;
        self.choose_plan(source, generic, params, wanted, &source.text)
    }

    /// The same, with the generic plan at hand: current, and its relations locked. `text` is what the client sent.
    pub(super) fn choose_plan(
        &self,
        source: &Source,
        generic: Rc<Planned>,
        params: &[Datum],
        wanted: Wanted,
        text: &str,
    ) -> SqlResult<Rc<Planned>> {
        let choices = &source.choices;
        if params.is_empty() || !self.wants_custom(choices, &generic) {
            choices.generic.set(choices.generic.get() + 1);
            return Ok(generic);
        }
        if !self.backend.is_active() {
            self.show_before_run(&text.into());
        }
        let planned = match (&generic.shared.analyzed, wanted) {
            (Some(analyzed), _) => self.custom_plan(source, &generic, analyzed, params)?,
            (None, Wanted::Equivalent) => generic,
            (None, Wanted::Exact) => {
                let analyzed = self.analyze_again(source)?;
                self.custom_plan(source, &generic, &analyzed, params)?
            }
        };
        choices.custom.set(choices.custom.get() + 1);
        choices.custom_cost.set(choices.custom_cost.get() + self.cost_with_planning(&planned));
        Ok(planned)
    }

    fn wants_custom(&self, choices: &Choices, generic: &Planned) -> bool {
        match self.settings.borrow().fast().plan_cache_mode {
            PlanCacheMode::ForceGeneric => false,
            PlanCacheMode::ForceCustom => true,
            PlanCacheMode::Auto => {
                let made = choices.custom.get();
                let cost = generic.shared.prepared.statement.plan.cost.total;
                made < FIRST_CUSTOM
                    || generic.shared.needs_values
                    || cost >= choices.custom_cost.get() / made as f64
            }
        }
    }

    /// What a run costs whose plan is made for it: more for more relations, as PostgreSQL estimates it.
    fn cost_with_planning(&self, planned: &Planned) -> f64 {
        let statement = &planned.shared.prepared.statement;
        let operator = self.settings.borrow().get(Setting::cpu_operator_cost).as_real();
        statement.plan.cost.total + 1000.0 * operator * (statement.relations.len() + 1) as f64
    }

    /// A plan for these values, with its relations locked.
    fn custom_plan(
        &self,
        source: &Source,
        generic: &Planned,
        analyzed: &analyze::Analyzed,
        params: &[Datum],
    ) -> SqlResult<Rc<Planned>> {
        let view = RecordingView::new(self);
        let fingerprint = generic.shared.prepared.fingerprint.clone();
        let (prepared, beside) = self.watch_planning(source, || {
            self.with_planner(&view, |context| {
                let fraction = source.fraction(context.settings);
                let read_at_once = source.is_read_at_once();
                let context = plan::Context { params: Some(params), fraction, read_at_once, ..*context };
                beside::plan(analyzed, fingerprint, &context)
            })
        })?;
        let shared = SharedPlan::custom(&generic.shared, (prepared, beside), view.into_tables());
        self.lock_plan(&shared)?;
        Ok(Rc::new(generic.with_plan(Arc::new(shared))))
    }
}
