//! Stacks of fibers with what belongs to a fiber besides, pooled for each thread.
//!
//! # What
//! A stack is a stretch of addresses, large enough for the deepest nesting that `max_stack_depth` can allow. Memory is behind the part only that
//! was touched. A fresh stack costs a map, a protection change and page faults (about 8 µs); a pooled one costs nothing, and the last
//! one that was used lies in the processor's cache.
//!
//! # Layout
//! From the top down: [`SHALLOW`] bytes, which nearly all statements do with; the rest of the first [`FIRST`] bytes, which may be used without
//! asking; the rest, which may be used once [`Stretch::deepen`] has opened it. Everything below is closed: a step there ends the process.
//!
//! # Invariants
//! 1. Whoever recurses over what a client sent asks [`check_stack`](crate::check_stack) at each level. Below the point where that fails
//!    [`UNCHECKED`] bytes are left.
//! 2. What recurses without asking (destructors, clones, comparisons of trees) does so over trees that checked code has built, in frames
//!    that are small beside those of that code: it fits in [`FIRST`].
//! 3. A stack in the pool has memory behind its shallow part at most.
//!
//! # PostgreSQL counterpart and differences
//! `check_stack_depth`. Frames here are larger than PostgreSQL's for the same nesting, so a byte of `max_stack_depth` stands for [`RATIO`] bytes.

use std::cell::{RefCell, UnsafeCell};
use std::num::NonZeroUsize;
use std::ptr;

use base::settings::MAX_STACK_DEPTH;
use corosensei::stack::{Stack, StackPointer};

use crate::fiber::FiberState;

/// Bytes of a stack here for one byte of PostgreSQL's. Debug builds have frames several times as large.
const RATIO: usize = if cfg!(debug_assertions) { 48 } else { 8 };

/// `max_stack_depth` unless set, in kilobytes.
pub(crate) const DEFAULT_STACK_DEPTH: u32 = 2048;

/// Bytes that keep their memory in the pool.
const SHALLOW: usize = if cfg!(debug_assertions) { 1 << 20 } else { 256 << 10 };

/// Bytes that may be used without asking.
const FIRST: usize = UNCHECKED + (if cfg!(debug_assertions) { 32 << 20 } else { 8 << 20 });

/// Bytes that are left where `check_stack` fails, for code that does not ask.
const UNCHECKED: usize = if cfg!(debug_assertions) { 96 << 20 } else { 24 << 20 };

/// Addresses of a stack.
const RESERVED: usize = ((MAX_STACK_DEPTH as usize) << 10) * RATIO + UNCHECKED + GUARD;

/// Addresses at the end that are never open.
const GUARD: usize = 64 << 10;

/// Stacks kept for reuse by each thread; more are given back to the system.
const POOL_LIMIT: usize = 128;

thread_local! {
    static POOL: RefCell<Vec<Parts>> = const { RefCell::new(Vec::new()) };
}

/// What a fiber knows of its stack: addresses, ascending.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    /// Lowest address that may be used now.
    open: usize,
    top: usize,
    /// Whether more than the shallow part was used.
    deep: bool,
}

impl Stretch {
    /// The address down to which nobody needs to ask.
    pub(crate) fn first_limit(&self) -> usize {
        self.top - SHALLOW
    }

    /// The address down to which `check_stack` need not ask again, for one who is at `here` and may go as deep as `kilobytes` of
    /// PostgreSQL's stack; none if that is too deep, or the system gives no more memory.
    pub(crate) fn deepen(&mut self, here: usize, kilobytes: u32) -> Option<usize> {
        self.deep = true;
        let deepest = self.top - (((kilobytes as usize) << 10) * RATIO).min(RESERVED - UNCHECKED - GUARD);
        if here < deepest {
            return None;
        }
        if here >= self.open + UNCHECKED {
            return Some(deepest.max(self.open + UNCHECKED));
        }
        let open = (deepest - UNCHECKED) & !(page_size() - 1);
        // SAFETY: addresses of this stack below the open ones, which nothing uses yet.
        let rc =
            unsafe { libc::mprotect(open as *mut _, self.open - open, libc::PROT_READ | libc::PROT_WRITE) };
        if rc != 0 {
            return None;
        }
        self.open = open;
        Some(deepest)
    }
}

fn page_size() -> usize {
    // SAFETY: plain call without pointers.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// The addresses of a stack, given back when dropped.
struct Mapping {
    lowest: usize,
}

impl Mapping {
    fn new() -> Mapping {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a fresh mapping at an address that the system chooses.
        let lowest = unsafe { libc::mmap(ptr::null_mut(), RESERVED, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(lowest, libc::MAP_FAILED, "no addresses for the stack of a fiber");
        let mapping = Mapping { lowest: lowest as usize };
        let first = mapping.top() - FIRST;
        // SAFETY: the upper part of the mapping, which nothing uses yet. The advice spares memory: one byte that is touched is to cost a page,
        // not a huge one; a system that does not know it is none the worse.
        unsafe {
            let rc = libc::mprotect(first as *mut _, FIRST, libc::PROT_READ | libc::PROT_WRITE);
            assert_eq!(rc, 0, "no memory for the stack of a fiber");
            libc::madvise(lowest, RESERVED, libc::MADV_NOHUGEPAGE);
        }
        mapping
    }

    fn top(&self) -> usize {
        self.lowest + RESERVED
    }

    fn stretch(&self) -> Stretch {
        Stretch { open: self.top() - FIRST, top: self.top(), deep: false }
    }

    /// Returns the memory of all but the shallow part to the system, and protects that part again. False if the system refuses.
    fn shrink(&self, used: Stretch) -> bool {
        let first = self.top() - FIRST;
        // SAFETY: the fiber has ended, and nothing refers to its stack. A new mapping takes the place of what was opened; the memory between
        // that and the shallow part is emptied.
        unsafe {
            if used.open < first {
                let flags = libc::MAP_PRIVATE
                    | libc::MAP_ANONYMOUS
                    | libc::MAP_NORESERVE
                    | libc::MAP_STACK
                    | libc::MAP_FIXED;
                let closed =
                    libc::mmap(used.open as *mut _, first - used.open, libc::PROT_NONE, flags, -1, 0);
                if closed == libc::MAP_FAILED {
                    return false;
                }
            }
            libc::madvise(first as *mut _, FIRST - SHALLOW, libc::MADV_DONTNEED) == 0
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and its fiber has ended.
        unsafe { libc::munmap(self.lowest as *mut _, RESERVED) };
    }
}

struct Parts {
    stack: Mapping,
    /// Boxed so that its address stays. `UnsafeCell` tells that the fiber has a pointer to it.
    state: Box<UnsafeCell<FiberState>>,
}

impl Parts {
    fn new() -> Parts {
        Parts { stack: Mapping::new(), state: Box::new(UnsafeCell::new(FiberState::new())) }
    }
}

/// A stack and a fiber's state, which return to their thread's pool when dropped.
pub(crate) struct PooledStack(Option<Parts>);

impl PooledStack {
    /// A stack from the pool, or a fresh one. Panics when the system has no memory map left.
    pub(crate) fn take() -> PooledStack {
        let mut parts = POOL.with_borrow_mut(Vec::pop).unwrap_or_else(Parts::new);
        parts.state.get_mut().begin_on(parts.stack.stretch());
        PooledStack(Some(parts))
    }

    fn get(&self) -> &Parts {
        self.0.as_ref().expect("present until drop")
    }

    /// The state of the fiber that has the stack, as new. It stays where it is until the stack is dropped.
    pub(crate) fn state(&self) -> *mut FiberState {
        self.get().state.get()
    }
}

impl Drop for PooledStack {
    fn drop(&mut self) {
        let Some(mut parts) = self.0.take() else { return };
        let used = parts.state.get_mut().stretch();
        if used.is_some_and(|used| used.deep && !parts.stack.shrink(used)) {
            return;
        }
        // The pool is gone when the thread is ending: the stack is then unmapped here.
        let _ = POOL.try_with(|pool| {
            let mut pool = pool.borrow_mut();
            if pool.len() < POOL_LIMIT {
                pool.push(parts);
            }
        });
    }
}

// SAFETY: both addresses are those of the mapping inside, which outlives `self`; its lowest pages are never open.
unsafe impl Stack for PooledStack {
    fn base(&self) -> StackPointer {
        NonZeroUsize::new(self.get().stack.top()).expect("no mapping ends at 0")
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.get().stack.lowest).expect("no mapping begins at 0")
    }
}

/// Bytes that may stay behind a stack in the pool.
#[cfg(test)]
pub(crate) fn shallow_memory() -> usize {
    SHALLOW
}

/// Bytes of memory behind this thread's pooled stacks.
#[cfg(test)]
pub(crate) fn pooled_memory() -> usize {
    POOL.with_borrow(|pool| {
        let pages = |parts: &Parts| {
            let mut seen = vec![0u8; RESERVED.div_ceil(page_size())];
            // SAFETY: the mapping is whole pages of this length, and `seen` has a byte for each.
            let rc = unsafe { libc::mincore(parts.stack.lowest as *mut _, RESERVED, seen.as_mut_ptr()) };
            assert_eq!(rc, 0);
            seen.iter().filter(|page| **page & 1 != 0).count()
        };
        pool.iter().map(pages).sum::<usize>() * page_size()
    })
}
