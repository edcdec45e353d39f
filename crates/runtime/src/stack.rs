//! Stacks of fibers with what belongs to a fiber besides, pooled for each thread.
//!
//! A fresh stack costs a map, a protection change and page faults (about 8 µs); a pooled one costs nothing, and the last one that was used lies
//! in the processor's cache.

use std::cell::{RefCell, UnsafeCell};

use corosensei::stack::{DefaultStack, Stack, StackPointer};

use crate::fiber::FiberState;

/// Usable bytes of a stack. Debug builds have frames several times as large.
pub(crate) const STACK_SIZE: usize = if cfg!(debug_assertions) { 2 << 20 } else { 512 << 10 };

/// Stacks kept for reuse by each thread; more are given back to the system.
const POOL_LIMIT: usize = 128;

thread_local! {
    static POOL: RefCell<Vec<Parts>> = const { RefCell::new(Vec::new()) };
}

struct Parts {
    stack: DefaultStack,
    /// Boxed so that its address stays. `UnsafeCell` tells that the fiber has a pointer to it.
    state: Box<UnsafeCell<FiberState>>,
}

impl Parts {
    fn new() -> Parts {
        let stack = DefaultStack::new(STACK_SIZE).expect("no memory for the stack of a fiber");
        Parts { stack, state: Box::new(UnsafeCell::new(FiberState::new())) }
    }
}

/// A stack and a fiber's state, which return to their thread's pool when dropped.
pub(crate) struct PooledStack(Option<Parts>);

impl PooledStack {
    /// A stack from the pool, or a fresh one. Panics when the system has no memory map left.
    pub(crate) fn take() -> PooledStack {
        let mut parts = POOL.with_borrow_mut(Vec::pop).unwrap_or_else(Parts::new);
        *parts.state.get_mut() = FiberState::new();
        PooledStack(Some(parts))
    }

    fn get(&self) -> &Parts {
        self.0.as_ref().expect("present until drop")
    }

    /// Lowest address that code may use, above the guard page.
    pub(crate) fn lowest_usable(&self) -> usize {
        self.get().stack.base().get() - STACK_SIZE
    }

    /// The state of the fiber that has the stack, as new. It stays where it is until the stack is dropped.
    pub(crate) fn state(&self) -> *mut FiberState {
        self.get().state.get()
    }
}

impl Drop for PooledStack {
    fn drop(&mut self) {
        if let Some(parts) = self.0.take() {
            // The pool is gone when the thread is ending: the stack is then unmapped here.
            let _ = POOL.try_with(|pool| {
                let mut pool = pool.borrow_mut();
                if pool.len() < POOL_LIMIT {
                    pool.push(parts);
                }
            });
        }
    }
}

// SAFETY: both addresses are those of the `DefaultStack` inside, which has a guard page and outlives `self`.
unsafe impl Stack for PooledStack {
    fn base(&self) -> StackPointer {
        self.get().stack.base()
    }

    fn limit(&self) -> StackPointer {
        self.get().stack.limit()
    }
}
