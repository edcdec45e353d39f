//! Guard against statements that nest so deeply that a recursive walk would overflow the stack.
//!
//! The grammar library builds and frees its tree recursively, whatever its depth, so the text's possible depth is bounded
//! before it runs, and deep ones run on a stack that is large enough.

use base::{SqlError, SqlResult};

/// Nesting of our own tree that is accepted.
pub(crate) const MAX_DEPTH: usize = 6000;

/// Bytes of stack that each level of the library's tree may need.
const STACK_PER_LEVEL: usize = 2048;

/// A bound from which the text is parsed on a stack of its own.
const SMALL: usize = 64;

/// A bound that no sensible statement reaches.
const LIMIT: usize = 200_000;

/// PostgreSQL's error for too deep a recursion.
pub(crate) fn too_deep() -> SqlError {
    runtime::stack_too_deep().into()
}

/// Runs the parser on a stack large enough for `text`.
pub(crate) fn with_stack<T>(text: &str, f: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
    let bound = depth_bound(text);
    if bound > LIMIT {
        return Err(too_deep());
    }
    if bound <= SMALL {
        return f();
    }
    // Our own walk stops at MAX_DEPTH and takes larger frames than the library's.
    let ours = MAX_DEPTH.min(bound) * 4 * STACK_PER_LEVEL;
    stacker::grow(bound * STACK_PER_LEVEL + ours + (256 << 10), f)
}

/// An upper bound of the depth of the syntax tree: the number of tokens on the path of open parentheses, counted on each level
/// since the last comma, semicolon or opening.
fn depth_bound(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut closed: Vec<usize> = Vec::new();
    let (mut here, mut outside, mut most) = (0_usize, 0_usize, 0_usize);
    let mut i = 0;
    while i < bytes.len() {
        let start = i;
        match bytes[i] {
            b' ' | b'\t' | b'\n' | b'\r' => {
                i += 1;
                continue;
            }
            b'(' | b'[' => {
                closed.push(here);
                outside += here + 1;
                here = 0;
            }
            b')' | b']' => {
                if let Some(before) = closed.pop() {
                    outside -= before + 1;
                    // What is closed may be wrapped further: keep one more than before.
                    here = before + 1;
                }
            }
            b',' => here = 0,
            b';' => {
                closed.clear();
                (here, outside) = (0, 0);
            }
            b'\'' | b'"' => {
                let quote = bytes[i];
                i += 1;
                while i < bytes.len() && bytes[i] != quote {
                    i += 1;
                }
                here += 1;
            }
            c if c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80 => {
                while i < bytes.len()
                    && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_' || bytes[i] >= 0x80)
                {
                    i += 1;
                }
                here += 1;
                most = most.max(outside + here);
                continue;
            }
            _ => here += 1,
        }
        most = most.max(outside + here);
        i = i.max(start) + 1;
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_counts_nesting_and_chains_but_not_lists() {
        assert!(depth_bound(&"(".repeat(1000)) >= 1000);
        assert!(depth_bound(&format!("select {}1", "- ".repeat(1000))) >= 1000);
        assert!(depth_bound(&format!("select 1{}", "+1".repeat(1000))) >= 1000);
        assert!(depth_bound(&format!("insert into t values {}(1)", "(1, 'x'), ".repeat(1000))) < 30);
    }
}
