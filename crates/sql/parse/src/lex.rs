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
