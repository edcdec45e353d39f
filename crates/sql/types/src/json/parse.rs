//! JSON text to events: one state machine for checking, for taking text apart and for building `jsonb`.
//!
//! The machine keeps its own stack: nesting costs memory, not stack.

use base::SqlResult;

use crate::piece::Pace;

use super::{
    depth::{MAX_NESTING, too_deep},
    lex::{Expected, Lexer, Token},
};

/// Takes the events of a document. Positions are bytes of the text.
pub(crate) trait Events {
    /// `{` or `[` at `start`.
    fn open(&mut self, object: bool, start: usize) -> SqlResult<()>;
    /// The bracket that ends in front of `end`.
    fn close(&mut self, object: bool, end: usize) -> SqlResult<()>;
    /// A key's string token.
    fn key(&mut self, start: usize, end: usize) -> SqlResult<()>;
    /// A scalar's token.
    fn scalar(&mut self, token: Token, start: usize, end: usize) -> SqlResult<()>;
}

/// Only checks.
pub(crate) struct Check;

impl Events for Check {
    fn open(&mut self, _object: bool, _start: usize) -> SqlResult<()> {
        Ok(())
    }
    fn close(&mut self, _object: bool, _end: usize) -> SqlResult<()> {
        Ok(())
    }
    fn key(&mut self, _start: usize, _end: usize) -> SqlResult<()> {
        Ok(())
    }
    fn scalar(&mut self, _token: Token, _start: usize, _end: usize) -> SqlResult<()> {
        Ok(())
    }
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    /// Behind `[`: a value or the end.
    FirstElement,
    /// Behind `{`: a key or the end.
    FirstKey,
    Key,
    /// Behind a value.
    AfterValue,
}

/// Reads one document to its end.
pub(crate) fn parse(text: &str, escapes: bool, events: &mut impl Events) -> SqlResult<()> {
    let mut lexer = Lexer::new(text, escapes);
    // Open containers, true for objects.
    let mut open: Vec<bool> = Vec::new();
    let mut next = Next::Value;
    let mut pace = Pace::new();
    loop {
        lexer.advance()?;
        // A token may make the events work on it; the lexer counts long strings itself.
        pace.did(16 + lexer.end - lexer.start)?;
        next = match next {
            Next::AfterValue => match (open.last(), lexer.token) {
                (None, Token::End) => return Ok(()),
                (None, _) => return Err(lexer.unexpected(Expected::End)),
                (Some(true), Token::Comma) => Next::Key,
                (Some(false), Token::Comma) => Next::Value,
                (Some(true), Token::ObjectEnd) | (Some(false), Token::ArrayEnd) => {
                    events.close(open.pop() == Some(true), lexer.end)?;
                    Next::AfterValue
                }
                (Some(true), _) => return Err(lexer.unexpected(Expected::CommaOrBrace)),
                (Some(false), _) => return Err(lexer.unexpected(Expected::CommaOrBracket)),
            },
            Next::FirstKey if lexer.token == Token::ObjectEnd => {
                open.pop();
                events.close(true, lexer.end)?;
                Next::AfterValue
            }
            Next::FirstElement if lexer.token == Token::ArrayEnd => {
                open.pop();
                events.close(false, lexer.end)?;
                Next::AfterValue
            }
            Next::FirstKey | Next::Key => {
                if lexer.token != Token::String {
                    let first = next == Next::FirstKey;
                    return Err(lexer.unexpected(if first { Expected::KeyOrEnd } else { Expected::Key }));
                }
                events.key(lexer.start, lexer.end)?;
                lexer.advance()?;
                if lexer.token != Token::Colon {
                    return Err(lexer.unexpected(Expected::Colon));
                }
                Next::Value
            }
            Next::Value | Next::FirstElement => match lexer.token {
                Token::ObjectStart | Token::ArrayStart => {
                    if open.len() >= MAX_NESTING {
                        return Err(too_deep());
                    }
                    let object = lexer.token == Token::ObjectStart;
                    open.push(object);
                    events.open(object, lexer.start)?;
                    if object { Next::FirstKey } else { Next::FirstElement }
                }
                Token::String | Token::Number | Token::True | Token::False | Token::Null => {
                    events.scalar(lexer.token, lexer.start, lexer.end)?;
                    Next::AfterValue
                }
                _ => return Err(lexer.unexpected(Expected::Value)),
            },
        };
    }
}

/// Checks a text for the type `json`: the form of escapes, not their meaning.
pub(crate) fn check(text: &str) -> SqlResult<()> {
    parse(text, false, &mut Check)
}
