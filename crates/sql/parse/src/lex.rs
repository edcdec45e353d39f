//! Small questions about the words of a text, answered by the grammar's lexer.

use rupg_sql::Lexer;

/// Byte offset of the first word spelt like `word` (ASCII, any case) at or after `from`.
pub(crate) fn find_word(text: &str, from: usize, word: &str) -> Option<usize> {
    let mut lexer = Lexer::new(text);
    while let Ok(token) = lexer.next_token() {
        if token.kind == 0 {
            return None;
        }
        if token.start >= from
            && text.get(token.start..token.end).is_some_and(|t| t.eq_ignore_ascii_case(word))
        {
            return Some(token.start);
        }
    }
    None
}

/// Byte offset of the first string with escapes that has a quote behind a backslash.
pub(crate) fn find_backslash_quote(text: &str) -> Option<usize> {
    if !text.contains("\\'") {
        return None;
    }
    let mut lexer = Lexer::new(text);
    while let Ok(token) = lexer.next_token() {
        if token.kind == 0 {
            return None;
        }
        let written = text.as_bytes().get(token.start..token.end).unwrap_or_default();
        if let [b'e' | b'E', b'\'', body @ ..] = written
            && escapes_a_quote(body)
        {
            return Some(token.start);
        }
    }
    None
}

fn escapes_a_quote(body: &[u8]) -> bool {
    let mut rest = body.iter();
    while let Some(byte) = rest.next() {
        if *byte == b'\\' && rest.next() == Some(&b'\'') {
            return true;
        }
    }
    false
}
