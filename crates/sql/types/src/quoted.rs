//! Items in double quotes, in the text forms of rows and arrays.
//!
//! Both escape quotes and backslashes, so that each level of nesting may double a text: [`quoted_size`] tells before a byte
//! is written what an item would take, and [`push_quoted`] lets others run meanwhile.

use base::SqlResult;

use crate::call::Call;

/// Bytes between two looks for interrupts.
const PIECE: usize = 1 << 20;

fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\')
}

/// Bytes that an item takes in quotes.
pub(crate) fn quoted_size(text: &[u8]) -> usize {
    text.len() + text.iter().filter(|b| is_escaped(**b)).count() + 2
}

/// Appends an item in quotes. What has to be escaped gets `escape` before it, or itself once more.
pub(crate) fn push_quoted(text: &[u8], escape: Option<u8>, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    out.push(b'"');
    for (i, piece) in text.chunks(PIECE).enumerate() {
        if i > 0 {
            cx.session.check_interrupts()?;
        }
        for &byte in piece {
            if is_escaped(byte) {
                out.push(escape.unwrap_or(byte));
            }
            out.push(byte);
        }
    }
    out.push(b'"');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::FormatContext;

    #[test]
    fn the_size_is_told_before() {
        let format = FormatContext::default();
        for (escape, shown) in [(None, r#""a""b\\""#), (Some(b'\\'), r#""a\"b\\""#)] {
            let mut out = Vec::new();
            push_quoted(br#"a"b\"#, escape, &Call::new(&format), &mut out).unwrap();
            assert_eq!(out, shown.as_bytes());
            assert_eq!(out.len(), quoted_size(br#"a"b\"#));
        }
    }
}
