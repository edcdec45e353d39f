//! # What
//! Configurations: which dictionaries are asked for the tokens of a text, and the documents and queries that are made by them.
//!
//! # PostgreSQL counterpart
//! `ts_parse.c`, `to_tsany.c`.

use std::fmt;
use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState};
use runtime::pace::Pace;

use crate::dictionary::{Dictionary, Lexeme};
use crate::lookup::{Looked, Lookup};
use crate::parser::{Kind, Parser};
use crate::query::{self, Builder, Morphology, Op, Query, Syntax};
use crate::vector::{self, MAX_LEXEME, Position};

/// A dictionary that a configuration asks.
#[derive(Clone)]
pub struct Asked {
    /// Its OID.
    pub oid: u32,
    /// What it does.
    pub dictionary: Arc<dyn Dictionary>,
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dictionary {}", self.oid)
    }
}

/// Which dictionaries are asked.
#[derive(Debug, Default)]
pub struct Configuration {
    /// By the number of the token's kind.
    dictionaries: [Vec<Asked>; 24],
}

/// A lexeme and its place in the text.
#[derive(Clone, Debug)]
pub struct Found {
    /// The lexeme.
    pub lexeme: Lexeme,
    /// From 1; words are counted, and stop words too.
    pub place: u16,
}

impl Configuration {
    /// Has these dictionaries asked for a kind of tokens, in their order.
    pub fn ask(&mut self, kind: Kind, dictionaries: Vec<Asked>) {
        self.dictionaries[kind as usize] = dictionaries;
    }

    /// The dictionaries that are asked for a kind of tokens.
    pub fn asked(&self, kind: Kind) -> &[Asked] {
        &self.dictionaries[kind as usize]
    }

    /// Gives the tokens of a text, in groups that stand for something together, or for nothing. `tell` hears of words that are too long, which are left
    /// out.
    pub(crate) fn looked_up<'t>(
        &self,
        text: &'t str,
        tell: &mut dyn FnMut(SqlError),
        found: &mut dyn FnMut(Looked<'t>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let (mut pace, mut lookup) = (Pace::new(), Lookup::new(self));
        for token in Parser::new(text) {
            pace.did(64 + token.text.len())?;
            if token.text.len() >= MAX_LEXEME {
                tell(too_long());
                continue;
            }
            lookup.add(token);
            while let Some(looked) = lookup.next() {
                found(looked)?;
            }
        }
        lookup.end();
        while let Some(looked) = lookup.next() {
            found(looked)?;
        }
        Ok(())
    }

    /// Gives the lexemes of a text one by one. `last` is the place of the last word, and is kept up to date. `tell` hears of words that are too
    /// long.
    pub fn lexemes(
        &self,
        text: &str,
        last: &mut u32,
        tell: &mut dyn FnMut(SqlError),
        found: &mut dyn FnMut(Lexeme, u16),
    ) -> SqlResult<()> {
        self.looked_up(text, tell, &mut |looked| {
            let Some(lexemes) = looked.lexemes else { return Ok(()) };
            *last += 1;
            for lexeme in lexemes {
                *last += u32::from(lexeme.next_place);
                found(lexeme, (*last).min(vector::MAX_POSITION.into()) as u16);
            }
            Ok(())
        })
    }

    /// The vector of a text.
    pub fn vector(&self, text: &str, tell: &mut dyn FnMut(SqlError)) -> SqlResult<Vec<u8>> {
        let mut out = Document::default();
        out.add(self, text, tell)?;
        out.finish()
    }

    /// The query that a text means. Words that one token stands for are joined by `op`.
    pub fn query(
        &self,
        text: &str,
        syntax: Syntax,
        op: Op,
        tell: &mut dyn FnMut(SqlError),
    ) -> SqlResult<Query<'static>> {
        let query = query::parse_as(text, syntax, &mut Words { configuration: self, op, tell })?;
        if query.is_empty() {
            tell(notice(format!("text-search query doesn't contain lexemes: \"{text}\"")));
            return Ok(query);
        }
        if !query.items.iter().any(|item| matches!(item, crate::Item::Stop)) {
            return Ok(query);
        }
        let left = query::without_stop_words(query)?;
        if left.is_empty() {
            let what = "text-search query contains only stop words or doesn't contain lexemes, ignored";
            tell(notice(what.to_owned()));
        }
        Ok(left)
    }
}

fn notice(message: String) -> SqlError {
    SqlError::with_severity(base::Severity::Notice, SqlState::SUCCESSFUL_COMPLETION, message)
}

fn too_long() -> SqlError {
    let what = "word is too long to be indexed".to_owned();
    let code = SqlState::PROGRAM_LIMIT_EXCEEDED;
    SqlError::with_severity(base::Severity::Notice, code, what)
        .detail(format!("Words longer than {MAX_LEXEME} characters are ignored."))
}

/// A vector of several texts: each goes on where the one before ended.
#[derive(Default)]
pub struct Document {
    words: vector::Builder,
    last: u32,
}

impl Document {
    /// Adds a text.
    pub fn add(
        &mut self,
        configuration: &Configuration,
        text: &str,
        tell: &mut dyn FnMut(SqlError),
    ) -> SqlResult<()> {
        let Document { words, last } = self;
        configuration.lexemes(text, last, tell, &mut |lexeme, place| {
            words.push(lexeme.word.as_bytes(), Some(Position::new(place, 0)));
        })
    }

    /// The same; if there was a word, a place stays free behind it, so that no phrase reaches from this text into the next.
    pub fn add_apart(
        &mut self,
        configuration: &Configuration,
        text: &str,
        tell: &mut dyn FnMut(SqlError),
    ) -> SqlResult<()> {
        let before = self.words.len();
        self.add(configuration, text, tell)?;
        if self.words.len() > before {
            self.last += 1;
        }
        Ok(())
    }

    /// The vector.
    pub fn finish(self) -> SqlResult<Vec<u8>> {
        self.words.finish()
    }
}

/// Turns the words of a query into lexemes.
struct Words<'c> {
    configuration: &'c Configuration,
    /// What joins the words that one token of the query has.
    op: Op,
    tell: &'c mut dyn FnMut(SqlError),
}

impl Morphology for Words<'_> {
    fn push(&mut self, builder: &mut Builder, word: &str, weights: u8, prefix: bool) -> SqlResult<()> {
        let (mut words, mut last): (Vec<Found>, u32) = (Vec::new(), 0);
        self.configuration.lexemes(word, &mut last, self.tell, &mut |lexeme, place| {
            words.push(Found { lexeme, place });
        })?;
        if words.is_empty() {
            builder.stop();
            return Ok(());
        }
        let (mut place, mut count) = (0, 0);
        for same in words.chunk_by(|a, b| a.place == b.place) {
            // Stop words leave their places.
            while place > 0 && place + 1 < same[0].place {
                builder.stop();
                if count > 0 {
                    builder.operator(self.op, 1);
                }
                (place, count) = (place + 1, count + 1);
            }
            place = same[0].place;
            for (i, variant) in same.chunk_by(|a, b| a.lexeme.variant == b.lexeme.variant).enumerate() {
                for (j, Found { lexeme, .. }) in variant.iter().enumerate() {
                    builder.value(&lexeme.word, weights, lexeme.prefix || prefix)?;
                    if j > 0 {
                        builder.operator(Op::And, 0);
                    }
                }
                if i > 0 {
                    builder.operator(Op::Or, 0);
                }
            }
            if count > 0 {
                builder.operator(self.op, 1);
            }
            count += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Vector, builtin};

    fn english() -> Arc<Configuration> {
        builtin::configuration(13099).unwrap()
    }

    fn query(text: &str, syntax: Syntax, op: Op) -> String {
        let mut out = Vec::new();
        query::write(&english().query(text, syntax, op, &mut |_| {}).unwrap(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_become_vectors() {
        let mut out = Vec::new();
        let stored =
            english().vector("The Fat Rats, and the fat-headed cat's 3.5 x@y.com", &mut |_| {}).unwrap();
        Vector::new(&stored).write(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "'3.5':11 'cat':9 'fat':2,7 'fat-head':6 'head':8 'rat':3 'x@y.com':12"
        );
    }

    #[test]
    fn texts_become_queries() {
        for (text, syntax, op, wanted) in [
            ("the & fat:*A & !rats", Syntax::Operators, Op::Phrase, "'fat':*A & !'rat'"),
            ("supernovae and the stars", Syntax::Plain, Op::And, "'supernova' & 'star'"),
            ("the cat is fat", Syntax::Plain, Op::Phrase, "'cat' <2> 'fat'"),
            ("\"fat rats\" or -cats dogs", Syntax::Web, Op::Phrase, "'fat' <-> 'rat' | !'cat' & 'dog'"),
            ("fat-rats", Syntax::Operators, Op::Phrase, "'fat-rat' <-> 'fat' <-> 'rat'"),
            ("the", Syntax::Plain, Op::And, ""),
        ] {
            assert_eq!(query(text, syntax, op), wanted, "{text}");
        }
    }
}
