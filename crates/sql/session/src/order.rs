//! # What
//! Orders that functions of users tell ([`types::asked`]): the session calls the functions, wherever below it values are compared.
//!
//! # Invariants
//! 1. Whatever plans, runs or carries out a statement runs in [`Session::with_orders`]. An error of a function that nobody in there was told ends it.

use std::cmp::Ordering;

use base::{SqlError, SqlResult};
use catalog::{CatalogView, families};
use tuple::Datum;
use types::asked::{self, Asker, UserOrder};
use types::oids;

use crate::Session;

impl Session {
    /// Runs `below`, where values are compared by functions of users too.
    ///
    /// # Errors
    /// Its own, and that of a function.
    #[inline]
    pub fn with_orders<T>(&self, below: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        let result = asked::lend(self, below);
        if self.has_failed() {
            self.failure().map_or(Ok(()), Err)?;
        }
        result
    }
}

impl Asker for Session {
    fn order(&self, by: &UserOrder, a: &Datum, b: &Datum) -> SqlResult<Ordering> {
        runtime::check_stack()?;
        let (format, types) = (self.format(), [by.input; 2]);
        let call = types::Call::new(&format).with_session(self).with_types(&types, oids::int4);
        let call = call.with_collation(by.collation);
        let args = [a.clone(), b.clone()];
        let value = match families::native(self, by.function)? {
            Some(eval) => eval(&call, &args)?,
            None => {
                let lost = || SqlError::internal(format!("cache lookup failed for function {}", by.function));
                let function = self.function_by_oid(by.function)?.ok_or_else(lost)?;
                let (snapshot, command) = {
                    let mut txn = self.txn.borrow_mut();
                    (txn.statement_snapshot()?, txn.current_command())
                };
                self.call_routine(&function, &call, &args, (&snapshot, command))?
            }
        };
        match value {
            Datum::Int4(order) => Ok(order.cmp(&0)),
            _ => Err(SqlError::internal(format!("function {} returned NULL", by.function))),
        }
    }

    fn fail(&self, error: SqlError) {
        let mut failure = self.order_failure.borrow_mut();
        failure.get_or_insert(error);
    }

    fn has_failed(&self) -> bool {
        self.order_failure.borrow().is_some()
    }

    fn failure(&self) -> Option<SqlError> {
        self.order_failure.take()
    }
}
