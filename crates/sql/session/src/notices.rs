//! # What
//! Messages for the client beside a statement's result: sent at once while a run has lent its output, kept until its end otherwise.
//!
//! # Invariants
//! 1. What `sink` points to outlives the run of [`Notices::lend`] that set it: that function's own variable, on the stack of the fiber.
//! 2. The outermost output is the client's: those of statements within functions pass notices on to the session.
//!
//! # PostgreSQL counterpart
//! `send_message_to_frontend` in `utils/error/elog.c`.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use base::SqlError;

use crate::output::Output;

/// Notices of one session.
#[derive(Default)]
pub struct Notices {
    kept: RefCell<Vec<SqlError>>,
    /// How many there have been.
    raised: Cell<u64>,
    sink: Cell<Option<NonNull<RefCell<&'static mut dyn Output>>>>,
}

impl Notices {
    /// Some to begin with.
    pub fn new(kept: Vec<SqlError>) -> Notices {
        Notices { kept: RefCell::new(kept), ..Notices::default() }
    }

    /// One more, after those that are kept.
    pub fn push(&self, notice: SqlError) {
        self.kept.borrow_mut().push(notice);
        self.raised.set(self.raised.get() + 1);
        let Some(sink) = self.sink.get() else { return };
        // SAFETY: invariant 1: whoever lent it has not returned, and the reference does not leave this function.
        let sink = unsafe { sink.as_ref() };
        // A row or another notice is being written to it; that is finished first.
        if let Ok(mut out) = sink.try_borrow_mut() {
            self.send(&mut **out);
        }
    }

    /// How many there have been.
    pub fn raised(&self) -> u64 {
        self.raised.get()
    }

    /// Forgets those that are kept and came after there had been so many.
    pub fn forget_since(&self, raised: u64) {
        let mut kept = self.kept.borrow_mut();
        let later = (self.raised.get() - raised) as usize;
        let earlier = kept.len().saturating_sub(later);
        kept.truncate(earlier);
    }

    /// Sends those that are kept.
    #[inline]
    pub fn send(&self, out: &mut dyn Output) {
        if !self.kept.borrow().is_empty() {
            self.send_kept(out);
        }
    }

    #[cold]
    fn send_kept(&self, out: &mut dyn Output) {
        for notice in self.kept.take() {
            out.notice(&notice);
        }
    }

    /// Runs `f` with notices going to `out` at once, unless they go to an outer one already. `f` writes to it in between.
    pub fn lend<T>(&self, out: &mut dyn Output, f: impl FnOnce(&RefCell<&mut dyn Output>) -> T) -> T {
        let shared = RefCell::new(out);
        if self.sink.get().is_some() {
            return f(&shared);
        }
        let _back = TakeBack(&self.sink);
        self.sink.set(Some(NonNull::from(&shared).cast()));
        f(&shared)
    }
}

/// Takes the output back, however the run ended.
struct TakeBack<'a>(&'a Cell<Option<NonNull<RefCell<&'static mut dyn Output>>>>);

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}
