//! Procedural languages: what they implement to be called.

use std::sync::{Arc, OnceLock};

use base::{SqlError, SqlResult};
use catalog::FunctionDef;
use eval::trigger::TriggerCall;
use tuple::Datum;

use super::{Invocation, Returned};
use crate::Session;

/// A procedural language.
pub trait Language: Send + Sync {
    /// Its name in `pg_language`.
    fn name(&self) -> &'static str;

    /// Judges a function that is about to be made. Gives what it warns of, at places in the body.
    fn validate(&self, session: &Session, function: &FunctionDef) -> SqlResult<Vec<SqlError>>;

    /// Carries out a call.
    fn call(&self, session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned>;

    /// Carries out a call of a trigger's function. Gives the row that it returned, with the table's columns.
    fn fire(
        &self,
        session: &Session,
        function: &Arc<FunctionDef>,
        call: &TriggerCall<'_>,
    ) -> SqlResult<Option<Vec<Datum>>>;

    /// DO: runs a text as the body of a function without arguments and result.
    fn run(&self, session: &Session, text: &str, atomic: bool) -> SqlResult<()>;
}

/// The languages of a server, registered once when it starts.
#[derive(Default)]
pub struct Languages(OnceLock<Vec<Box<dyn Language>>>);

impl Languages {
    /// Registers them.
    pub fn register(&self, languages: Vec<Box<dyn Language>>) {
        let _ = self.0.set(languages);
    }

    /// The language with this name.
    pub fn find(&self, name: &str) -> Option<&dyn Language> {
        self.at(self.place(name)?)
    }

    /// Where the language with this name is among them.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.0.get()?.iter().position(|language| language.name() == name)
    }

    pub(super) fn at(&self, place: usize) -> Option<&dyn Language> {
        self.0.get()?.get(place).map(|language| &**language)
    }
}
