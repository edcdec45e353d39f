//! # What
//! Orders that code of users tells: comparing by them while pages are latched. A user's function may do anything, it reads tables and waits; so it never runs under a
//! latch.
//!
//! What searches or changes a tree does so in [`asking`]. Where it is to compare two values whose order is not known yet, [`decide`] notes the question and fails; the operation
//! lets go of all that it holds, the question is answered with nothing held, and the operation begins again with all answers so far. It fails only where nothing has been changed
//! yet. A search of a tree asks as many questions as a binary search makes steps, and to begin again costs little beside what a call of a function does.
//!
//! Who has no latch compares at once: bounds of scans, builds, and leaves that a scan has [copied](crate::Pages::copy).
//!
//! # Invariants
//! 1. An operation meets the same answer whenever it begins again, whatever the function would say the second time, and each time it knows one answer more. So it ends,
//!    and an order that contradicts itself makes entries that are not found, no more.
//! 2. What fails for want of an answer has changed nothing that a second run would change again: trees compare before they change a page.
//! 3. Values that are the same are equal, and nobody is asked.
//!
//! # Locks
//! The answers lie on the fiber's stack; its mark `MARK` leads there. No latch is held while a question is answered.
//!
//! # PostgreSQL counterpart and differences
//! PostgreSQL calls the function with the page's buffer locked; a function that comes to the same page waits for itself there.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::ptr;

use tuple::Datum;

use crate::bytes::Check;
use crate::desc::{Compare, KeyColumn, OrderBy, compare_values, null_order};
use crate::{IndexError, IndexResult, interrupts};

/// The [mark](runtime::mark) of a fiber that leads to the answers of the running operation.
const MARK: usize = 0;

/// What [`decide`] fails with; nobody sees it.
const UNDECIDED: &str = "the order of two values is not known yet";

/// Which of two values is to come first.
struct Question {
    by: &'static dyn OrderBy,
    a: Datum,
    b: Datum,
}

impl Question {
    fn is(&self, by: &'static dyn OrderBy, a: &Datum, b: &Datum) -> bool {
        ptr::addr_eq(self.by, by) && same(&self.a, a) && same(&self.b, b)
    }
}

/// What an operation knows, and what it wants to know.
#[derive(Default)]
struct Answers {
    known: RefCell<Vec<(Question, Ordering)>>,
    wanted: RefCell<Option<Question>>,
}

impl Answers {
    fn find(&self, by: &'static dyn OrderBy, a: &Datum, b: &Datum) -> Check<Ordering> {
        if same(a, b) {
            return Ok(Ordering::Equal);
        }
        if let Some((_, order)) = self.known.borrow().iter().find(|(question, _)| question.is(by, a, b)) {
            return Ok(*order);
        }
        *self.wanted.borrow_mut() = Some(Question { by, a: a.clone(), b: b.clone() });
        Err(UNDECIDED)
    }
}

/// Whether two values are the same to the bit.
fn same(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Float4(a), Datum::Float4(b)) => a.to_bits() == b.to_bits(),
        (Datum::Float8(a), Datum::Float8(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Runs an operation on an index whose keys are in orders that code of users tells, as often as it takes to answer what it asks. No latch is held by the caller.
///
/// # Errors
/// Those of the operation, and of the code.
pub fn asking<T>(mut operation: impl FnMut() -> IndexResult<T>) -> IndexResult<T> {
    let answers = Answers::default();
    loop {
        interrupts()?;
        let result = runtime::with_mark(MARK, ptr::from_ref(&answers).cast(), &mut operation);
        let Some(question) = answers.wanted.take() else { return result };
        // It may have come with pages that it holds.
        drop(result);
        // Other operations that the code sets off have answers of their own.
        let order = runtime::with_mark(MARK, ptr::null(), || question.by.ask(&question.a, &question.b));
        answers.known.borrow_mut().push((question, order.map_err(IndexError::Callback)?));
    }
}

/// Order of two values that are not NULL, with pages latched or not.
///
/// # Errors
/// It is not known yet; [`asking`] sees to it.
#[inline]
pub fn decide(compare: Compare, a: &Datum, b: &Datum) -> Check<Ordering> {
    match compare {
        Compare::By(by) if by.asks() => look_up(by, a, b),
        _ => Ok(compare_values(compare, a, b)),
    }
}

#[inline(never)]
fn look_up(by: &'static dyn OrderBy, a: &Datum, b: &Datum) -> Check<Ordering> {
    let answers = runtime::mark(MARK).cast::<Answers>();
    // SAFETY: the mark is set by `asking` alone, to answers on a frame of this fiber's stack that stays until the mark is what it was before.
    match unsafe { answers.as_ref() } {
        Some(answers) => answers.find(by, a, b),
        None => Ok(by.compare(a, b)),
    }
}

/// As [`compare_column`](crate::compare_column), with pages latched or not.
///
/// # Errors
/// As of [`decide`].
pub fn decide_column(key: &KeyColumn, a: &Datum, b: &Datum) -> Check<Ordering> {
    Ok(match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => null_order(key),
        (false, true) => null_order(key).reverse(),
        _ => {
            let order = decide(key.compare, a, b)?;
            if key.descending { order.reverse() } else { order }
        }
    })
}

/// Whether code of users tells the order of a key column.
pub fn asks(keys: &[KeyColumn]) -> bool {
    keys.iter().any(|key| matches!(key.compare, Compare::By(by) if by.asks()))
}

/// The first error of code that compared values where nothing else could be answered, if there was one since this was asked.
///
/// # Errors
/// That one.
pub fn check_answers(keys: &[KeyColumn]) -> IndexResult<()> {
    for key in keys {
        if let Compare::By(by) = key.compare {
            by.check().map_err(IndexError::Callback)?;
        }
    }
    Ok(())
}
