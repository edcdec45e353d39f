//! Items in the order in which a parser meets them: operands first, then their operator.

use std::borrow::Cow;

use base::{SqlError, SqlResult, sql_err};

use super::{Item, Op, Operand, Query, link};
use crate::vector::{MAX_BYTES, MAX_LEXEME};

/// A query that is being made.
#[derive(Debug)]
pub struct Builder<'t> {
    /// The text it is made of, for messages.
    text: &'t str,
    /// Operands in front of operators.
    items: Vec<Item<'static>>,
    bytes: usize,
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str) -> Builder<'t> {
        Builder { text, items: Vec::new(), bytes: 0 }
    }

    /// Adds a word.
    pub fn value(&mut self, word: &str, weights: u8, prefix: bool) -> SqlResult<()> {
        let refused = |what: &str| -> SqlResult<()> {
            Err(SqlError::new(
                base::SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("{what} in tsquery: \"{}\"", self.text),
            ))
        };
        if word.len() >= MAX_LEXEME {
            return refused("word is too long");
        }
        if self.bytes > MAX_BYTES {
            return refused("value is too big");
        }
        self.bytes += word.len() + 1;
        let word = Cow::Owned(word.to_owned());
        self.items.push(Item::Value(Operand { word, weights, prefix }));
        Ok(())
    }

    /// Adds a stop word, which only takes a position.
    pub fn stop(&mut self) {
        self.items.push(Item::Stop);
    }

    /// Adds an operator over the last one or two operands.
    pub fn operator(&mut self, op: Op, distance: u16) {
        self.items.push(Item::Operator { op, distance, left: 1 });
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The query, in which stop words may be left.
    pub(super) fn finish(self) -> SqlResult<Query<'static>> {
        query_of(self.items).map_err(|_| sql_err!(SYNTAX_ERROR, "syntax error in tsquery: \"{}\"", self.text))
    }
}

/// The query of items of which operands stand in front of operators.
pub(super) fn query_of(mut items: Vec<Item<'_>>) -> SqlResult<Query<'_>> {
    items.reverse();
    link(&mut items)?;
    Ok(Query { items })
}
