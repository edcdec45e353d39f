//! Problems of texts, told with their places.

/// How bad a problem is, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The text is not well-formed.
    Syntax,
    /// Namespaces are not used as they must be.
    Namespace,
    /// A namespace is used in a way that is discouraged.
    Warning,
}

/// A problem of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad.
    pub severity: Severity,
    /// The line's number, what is wrong, the line, and a mark below the place.
    pub text: String,
}

/// Bytes of a line that are shown at most.
const SHOWN: usize = 80;

/// A problem at a byte of a text.
pub(crate) fn problem(severity: Severity, text: &str, at: usize, line: u32, message: &str) -> Problem {
    let (shown, column) = window(text, at);
    let mark: String =
        shown.chars().take(column.min(SHOWN - 1)).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    Problem { severity, text: format!("line {line}: {}\n{shown}\n{mark}^", message.trim_end_matches('\n')) }
}

/// The part of a line around a byte, and the characters of it that are before that byte.
fn window(text: &str, at: usize) -> (&str, usize) {
    let bytes = text.as_bytes();
    let is_end = |b: u8| b == b'\n' || b == b'\r';
    let mut start = at.min(bytes.len());
    // At the end of a line that one is meant.
    while start > 0 && bytes.get(start).is_some_and(|b| is_end(*b)) {
        start -= 1;
    }
    let mut n = 0;
    while n < SHOWN && start > 0 && !bytes.get(start).is_some_and(|b| is_end(*b)) {
        start -= 1;
        n += 1;
    }
    if bytes.get(start).is_some_and(|b| is_end(*b)) {
        start += 1;
    }
    let start = text.ceil_char_boundary(start);
    let length = bytes[start..].iter().take(SHOWN).position(|b| is_end(*b));
    let end = text.floor_char_boundary(start + length.unwrap_or(SHOWN.min(bytes.len() - start)));
    let shown = &text[start..end.max(start)];
    let before = text.floor_char_boundary(at.clamp(start, end.max(start)));
    (shown, text[start..before].chars().count())
}
