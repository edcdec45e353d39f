//! Stacks of fibers, pooled for each thread.
//!
//! A fresh stack costs a map, a protection change and page faults (about 8 µs); a pooled one costs nothing.

use std::cell::RefCell;

use corosensei::stack::{DefaultStack, Stack, StackPointer};

/// Usable bytes of a stack. Debug builds have frames several times as large.
pub(crate) const STACK_SIZE: usize = if cfg!(debug_assertions) { 2 << 20 } else { 512 << 10 };

/// Stacks kept for reuse by each thread; more are given back to the system.
const POOL_LIMIT: usize = 128;

thread_local! {
    static POOL: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// A stack that returns to its thread's pool when dropped.
pub(crate) struct PooledStack(Option<DefaultStack>);

impl PooledStack {
    /// A stack from the pool, or a fresh one. Panics when the system has no memory map left.
    pub(crate) fn take() -> PooledStack {
        let pooled = POOL.with_borrow_mut(Vec::pop);
        let stack = pooled
            .unwrap_or_else(|| DefaultStack::new(STACK_SIZE).expect("no memory for the stack of a fiber"));
        PooledStack(Some(stack))
    }

    fn get(&self) -> &DefaultStack {
        self.0.as_ref().expect("present until drop")
    }

    /// Lowest address that code may use, above the guard page.
    pub(crate) fn lowest_usable(&self) -> usize {
        self.get().base().get() - STACK_SIZE
    }
}

impl Drop for PooledStack {
    fn drop(&mut self) {
        if let Some(stack) = self.0.take() {
            // The pool is gone when the thread is ending: the stack is then unmapped here.
            let _ = POOL.try_with(|pool| {
                let mut pool = pool.borrow_mut();
                if pool.len() < POOL_LIMIT {
                    pool.push(stack);
                }
            });
        }
    }
}

// SAFETY: both addresses are those of the `DefaultStack` inside, which has a guard page and outlives `self`.
unsafe impl Stack for PooledStack {
    fn base(&self) -> StackPointer {
        self.get().base()
    }

    fn limit(&self) -> StackPointer {
        self.get().limit()
    }
}
