//! Bound on recursion over nested documents.
//!
//! Most walks here keep their own stack ([`super::walk`]); those that recurse count levels and call [`deeper`] on each.

use base::{SqlError, SqlResult};

/// Nesting that is accepted: what PostgreSQL's default `max_stack_depth` allows, about.
pub(crate) const MAX_NESTING: usize = 9500;

/// PostgreSQL's error for too deep a recursion.
pub(crate) fn too_deep() -> SqlError {
    runtime::stack_too_deep().into()
}

/// Runs one more level of a recursion, up to [`MAX_NESTING`] levels and as far as the stack allows.
pub(crate) fn deeper<T>(level: usize, f: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
    if level >= MAX_NESTING {
        return Err(too_deep());
    }
    runtime::check_stack()?;
    f()
}
