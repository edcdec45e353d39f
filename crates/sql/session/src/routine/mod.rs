//! # What
//! Calls of user-defined functions: as which user they run, under which settings, in which language.
//!
//! # Layout
//! * [`Invocation`]: one call. `call`: what is the same in all languages.
//! * `sql`: functions in SQL. [`language`]: the trait that other languages implement, and their registry.
//! * [`statement`]: statements in a body, for all languages; `simple`: those that are values; `support`: what else languages ask. `cursor`: their cursors. `procedure`: CALL and DO. `result`: rows brought to the result type.
//!
//! # Invariants
//! 1. A function that is not volatile sees what its caller sees and changes nothing.
//! 2. What a call set (role, settings) is as before when it returns. After an error the transaction undoes the settings, and the
//!    role is put back here.
//! 3. Nothing of a session is borrowed while a body runs.
//!
//! # PostgreSQL counterpart
//! `utils/fmgr/fmgr.c`, `executor/functions.c`, `executor/spi.c`.

mod call;
mod cursor;
pub mod language;
pub mod procedure;
mod result;
mod simple;
mod sql;
pub mod statement;
mod support;

use std::sync::Arc;

use base::CommandId;
use catalog::FunctionDef;
use tuple::Datum;
use txn::Snapshot;

pub use eval::row_store::{Place, RowStore};
pub use language::{Language, Languages};
pub use result::{RowShape, base_and_typmod, base_type, return_type};
pub use simple::{Epoch, Scene, SimpleExpression};
pub use sql::within as within_body;
pub use sql::{SqlBodies, arguments, check_body, check_result, within};
pub(crate) use statement::Run;
pub use statement::{BodyStatement, Done, Fetching, Sees};
pub(crate) use support::LanguageState;
pub use support::Subtransaction;

/// A call of a user's function.
pub struct Invocation<'a> {
    /// The function.
    pub function: &'a Arc<FunctionDef>,
    /// Types of the call.
    pub call: &'a types::Call<'a>,
    /// Arguments, in the order of the input parameters.
    pub args: &'a [Datum],
    /// What the caller sees.
    pub snapshot: &'a Snapshot,
    /// The caller's command.
    pub command: CommandId,
    /// A procedure called so that it may end transactions.
    pub atomic: bool,
}

impl Invocation<'_> {
    /// Whether statements of the body may change nothing and see what the caller sees.
    pub fn read_only(&self) -> bool {
        self.function.volatility != 'v'
    }
}

/// What a call gave.
pub enum Returned {
    /// One value; a row as such.
    Value(Datum),
    /// All values of a set, as rows of one column.
    Set(RowStore),
}
