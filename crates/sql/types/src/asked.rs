//! # What
//! Orders that functions of users tell: those of operator classes that a user made for an access method with an order. Whoever compares by one ([`UserOrder`]) asks the
//! session that he works for ([`Asker`]), which calls the function.
//!
//! # Invariants
//! 1. An order is named by its function, the class's type and the collation, and made once, so that the same order has the same address.
//! 2. Sorts and the like cannot be told an error amid a comparison. So the session keeps the first one, values compare as equal from there on without a call, and whoever
//!    compared asks [`check`] before he gives away what he made of it. The session looks too, at the end of whatever it ran.
//! 3. Nobody compares by one with a latch or a short lock held: the function may do anything. Indexes see to it by `index::asking`.
//! 4. What a function says need not be an order. Who compares by it comes to an end whatever it says ([`piece::sort_by_any`](crate::piece::sort_by_any)).
//!
//! # Locks
//! The session is found by a mark of the fiber (`MARK`); it lies on the fiber's stack below all that compares.

use std::cmp::Ordering;
use std::ptr;

use base::{Oid, SqlError, SqlResult};
use tuple::Datum;

use crate::made::Made;

/// The [mark](runtime::mark) of a fiber that leads to the session that it works for.
const MARK: usize = 1;

/// An order that a function of a user tells.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
pub struct UserOrder {
    /// The function: it takes two values, and says less than, greater than or zero.
    pub function: Oid,
    /// The type that it takes.
    pub input: Oid,
    /// The collation that it is called with, 0 if the type has none.
    pub collation: Oid,
}

/// Who calls functions that tell orders.
pub trait Asker {
    /// Order of two values that are not NULL.
    fn order(&self, by: &UserOrder, a: &Datum, b: &Datum) -> SqlResult<Ordering>;

    /// Keeps the error of a comparison that had to have an outcome.
    fn fail(&self, error: SqlError);

    /// Whether there is such an error.
    fn has_failed(&self) -> bool;

    /// Takes it.
    fn failure(&self) -> Option<SqlError>;
}

/// Where the mark leads.
struct Lent<'a>(&'a dyn Asker);

/// Runs `below`, where orders ask this session.
#[inline]
pub fn lend<T>(asker: &dyn Asker, below: impl FnOnce() -> T) -> T {
    let lent = Lent(asker);
    runtime::with_mark(MARK, ptr::from_ref(&lent).cast(), below)
}

fn with_asker<T>(ask: impl FnOnce(&dyn Asker) -> T) -> Option<T> {
    let lent = runtime::mark(MARK).cast::<Lent<'_>>();
    // SAFETY: the mark is set by `lend` alone, to what lies on a frame of this fiber's stack that stays until the mark is what it was before.
    unsafe { lent.as_ref() }.map(|lent| ask(lent.0))
}

/// The first error of an order since this was asked.
///
/// # Errors
/// That one.
pub fn check() -> SqlResult<()> {
    match with_asker(|asker| asker.failure()).flatten() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

impl UserOrder {
    /// The order that is made of these.
    pub fn of(function: Oid, input: Oid, collation: Oid) -> &'static UserOrder {
        static MADE: Made<UserOrder, UserOrder> = Made::new();
        let order = UserOrder { function, input, collation };
        MADE.get(order, || order)
    }

    /// Order of two values that are not NULL.
    ///
    /// # Errors
    /// Those of the function.
    pub fn ask(&self, a: &Datum, b: &Datum) -> SqlResult<Ordering> {
        let unknown = || SqlError::internal(format!("nobody is there to call function {}", self.function));
        with_asker(|asker| asker.order(self, a, b)).ok_or_else(unknown)?
    }

    /// The same where no error can be told: see [`check`].
    pub fn compare(&self, a: &Datum, b: &Datum) -> Ordering {
        if with_asker(|asker| asker.has_failed()).unwrap_or(false) {
            return Ordering::Equal;
        }
        self.ask(a, b).unwrap_or_else(|error| {
            with_asker(|asker| asker.fail(error));
            Ordering::Equal
        })
    }
}
