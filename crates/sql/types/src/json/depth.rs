//! Bound on recursion over nested documents.
//!
//! Most walks here keep their own stack ([`super::walk`]); those that recurse count levels and call [`deeper`] on each.

use base::{SqlError, SqlResult, sql_err};

/// Nesting that is accepted: what PostgreSQL's default `max_stack_depth` allows, about.
pub(crate) const MAX_NESTING: usize = 9500;

/// Levels that share a stretch of stack.
const STRETCH: usize = 32;

/// Bytes of stack of a stretch: more than the frames of its levels need, also in debug builds.
const STRETCH_STACK: usize = 768 << 10;

/// PostgreSQL's error for too deep a recursion.
pub(crate) fn too_deep() -> SqlError {
    sql_err!(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(
        "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's stack depth limit is adequate.",
    )
}

/// Runs one more level of a recursion: on the same stack, or at times on a new stretch, up to [`MAX_NESTING`] levels.
/// A recursion counts one or two levels between two calls of this, so that it does not step over the place of a stretch.
pub(crate) fn deeper<T>(level: usize, f: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
    if level >= MAX_NESTING {
        Err(too_deep())
    } else if level % STRETCH >= STRETCH - 2 {
        stacker::grow(STRETCH_STACK, f)
    } else {
        f()
    }
}
