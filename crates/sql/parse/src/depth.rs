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

/// What stands between a pair of parentheses, or outside of all.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Tokens since the last comma: each may wrap all that stands before it.
    tokens: usize,
    /// Depth of the deepest parentheses since the last comma.
    inner: usize,
    /// Depth of what stands between earlier commas, at most.
    before: usize,
}

impl Level {
    fn depth(&self) -> usize {
        self.before.max(self.tokens + self.inner)
    }

    fn comma(&mut self) {
        *self = Level { before: self.depth(), ..Level::default() };
    }

    /// Takes in the parentheses that end here.
    fn close(&mut self, closed: &Level) {
        self.tokens += 1;
        self.inner = self.inner.max(closed.depth());
    }
}

/// An upper bound of the depth of the syntax tree: on each level of parentheses the tokens between two commas, and the deepest
/// parentheses there.
fn depth_bound(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut outside: Vec<Level> = Vec::new();
    let mut here = Level::default();
    let mut i = 0;
    while i < bytes.len() {
        let c = bytes[i];
        i += 1;
        match c {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'(' | b'[' => outside.push(std::mem::take(&mut here)),
            b')' | b']' => {
                if let Some(mut around) = outside.pop() {
                    around.close(&here);
                    here = around;
                }
            }
            b',' => here.comma(),
            b';' => {
                close_all(&mut outside, &mut here);
                here.comma();
            }
            b'\'' | b'"' => {
                i += bytes[i..].iter().take_while(|&&b| b != c).count() + 1;
                here.tokens += 1;
            }
            _ => {
                if is_word(c) {
                    i += bytes[i..].iter().take_while(|&&b| is_word(b)).count();
                }
                here.tokens += 1;
            }
        }
    }
    close_all(&mut outside, &mut here);
    here.depth()
}

/// Ends all parentheses that are open around `here`.
fn close_all(outside: &mut Vec<Level>, here: &mut Level) {
    while let Some(mut around) = outside.pop() {
        around.close(here);
        *here = around;
    }
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_counts_nesting_and_chains_but_not_lists() {
        assert!(depth_bound(&"(".repeat(1000)) >= 1000);
        assert!(depth_bound(&format!("select {}1", "- ".repeat(1000))) >= 1000);
        assert!(depth_bound(&format!("select 1{}", "+1".repeat(1000))) >= 1000);
        let wrapped = format!("select {}a{}", "(".repeat(1000), " is null)::int".repeat(1000));
        assert!(depth_bound(&wrapped) >= 2000);
        assert!(depth_bound(&format!("insert into t values {}(1)", "(1, 'x'), ".repeat(1000))) < 30);
    }
}
