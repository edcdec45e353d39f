//! # What
//! The tokens of a text on their way through the dictionaries of a configuration, one behind the other: single words, and phrases for which a
//! dictionary wants to see the words that follow.
//!
//! Tokens wait until somebody has said what they stand for. A dictionary that has begun a phrase is asked about each token behind; if the phrase
//! comes to nothing, the first of them is asked about again, from the next dictionary on.
//!
//! # PostgreSQL counterpart
//! `LexizeExec` of `ts_parse.c`.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::configuration::Configuration;
use crate::dictionary::{Lexeme, Progress};
use crate::parser::Token;

/// Tokens that belong together, and what they stand for.
#[derive(Debug)]
pub(crate) struct Looked<'t> {
    /// The tokens.
    pub(crate) tokens: Vec<Token<'t>>,
    /// Their lexemes; `None` if no dictionary knows them.
    pub(crate) lexemes: Option<Vec<Lexeme>>,
}

/// Looks tokens up.
pub(crate) struct Lookup<'c, 't> {
    configuration: &'c Configuration,
    waiting: VecDeque<Token<'t>>,
    /// Number of the dictionary that is asked next about the first one.
    from: usize,
    /// What has begun there.
    phrase: Option<Phrase>,
    /// No more tokens come.
    ended: bool,
}

struct Phrase {
    /// OID of the dictionary.
    dictionary: u32,
    progress: Progress,
    /// How many of those waiting it was asked about.
    seen: usize,
    /// What it would return after so many words if no more followed.
    best: Option<(usize, Vec<Lexeme>)>,
}

impl<'c, 't> Lookup<'c, 't> {
    pub(crate) fn new(configuration: &'c Configuration) -> Lookup<'c, 't> {
        Lookup { configuration, waiting: VecDeque::new(), from: 0, phrase: None, ended: false }
    }

    /// The next token of the text.
    pub(crate) fn add(&mut self, token: Token<'t>) {
        self.waiting.push_back(token);
    }

    /// There are no more.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// The next tokens about which everything is known.
    pub(crate) fn next(&mut self) -> Option<Looked<'t>> {
        loop {
            match self.phrase.take() {
                None => {
                    let token = *self.waiting.front()?;
                    if let Some(looked) = self.word(token) {
                        return Some(looked);
                    }
                }
                Some(phrase) => match self.go_on(phrase) {
                    Ended::Waits(phrase) => {
                        self.phrase = Some(phrase);
                        return None;
                    }
                    Ended::Found(tokens, lexemes) => return Some(self.used(tokens, Some(lexemes))),
                    Ended::Nothing => {}
                },
            }
        }
    }

    fn used(&mut self, count: usize, lexemes: Option<Vec<Lexeme>>) -> Looked<'t> {
        self.from = 0;
        Looked { tokens: self.waiting.drain(..count).collect(), lexemes }
    }

    /// Asks about the first token; nothing if a phrase begins with it.
    fn word(&mut self, token: Token<'t>) -> Option<Looked<'t>> {
        let mut word = Cow::Borrowed(token.text);
        let asked = self.configuration.asked(token.kind);
        for (number, asked) in asked.iter().enumerate().skip(self.from) {
            let step = asked.dictionary.step(None, &word);
            if let Some(progress) = step.more {
                self.from = number + 1;
                let best = step.lexemes.map(|lexemes| (1, lexemes));
                self.phrase = Some(Phrase { dictionary: asked.oid, progress, seen: 1, best });
                return None;
            }
            match step.lexemes {
                None => {}
                Some(lexemes) if step.filters => {
                    word = lexemes.into_iter().next().map_or(word, |lexeme| lexeme.word.into());
                }
                Some(lexemes) => return Some(self.used(1, Some(lexemes))),
            }
        }
        Some(self.used(1, None))
    }

    /// Asks the dictionary of a phrase about the tokens that it has not seen.
    fn go_on(&mut self, mut phrase: Phrase) -> Ended {
        while let Some(token) = self.waiting.get(phrase.seen) {
            let asked = self.configuration.asked(token.kind);
            if asked.is_empty() {
                phrase.seen += 1;
                continue;
            }
            let Some(asked) = asked.iter().find(|asked| asked.oid == phrase.dictionary) else {
                return Ended::Nothing;
            };
            let step = asked.dictionary.step(Some(&phrase.progress), token.text);
            phrase.seen += 1;
            if let Some(lexemes) = step.lexemes {
                phrase.best = Some((phrase.seen, lexemes));
            }
            match step.more {
                Some(progress) => phrase.progress = progress,
                None => return phrase.end(),
            }
        }
        if self.ended { phrase.end() } else { Ended::Waits(phrase) }
    }
}

impl Phrase {
    fn end(self) -> Ended {
        self.best.map_or(Ended::Nothing, |(tokens, lexemes)| Ended::Found(tokens, lexemes))
    }
}

enum Ended {
    /// More tokens are needed.
    Waits(Phrase),
    /// So many tokens have these lexemes.
    Found(usize, Vec<Lexeme>),
    /// No phrase.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;
    use crate::configuration::Asked;
    use crate::dictionary::{Template, tests::made};
    use crate::parser::{Kind, Parser};

    fn looked(text: &str) -> String {
        let file = ("t.ths", "one two : *12\none two three : *123\nfour five six : *456\n");
        let thesaurus =
            made(Template::Thesaurus, &[("dictfile", "t"), ("dictionary", "english")], &[file]).unwrap();
        let mut configuration = Configuration::default();
        let simple = builtin::dictionary(builtin::SIMPLE_DICTIONARY).unwrap();
        configuration.ask(
            Kind::AsciiWord,
            vec![
                Asked { oid: 1, dictionary: thesaurus },
                Asked { oid: builtin::SIMPLE_DICTIONARY, dictionary: simple },
            ],
        );
        configuration.ask(Kind::UnsignedInt, vec![configuration.asked(Kind::AsciiWord)[1].clone()]);
        let mut lookup = Lookup::new(&configuration);
        let mut out = Vec::new();
        let mut take = |lookup: &mut Lookup| {
            while let Some(found) = lookup.next() {
                if let Some(lexemes) = found.lexemes {
                    let words: Vec<_> = lexemes.iter().map(|l| l.word.clone()).collect();
                    out.push(format!("{}/{}", words.join("+"), found.tokens.len()));
                }
            }
        };
        for token in Parser::new(text) {
            lookup.add(token);
            take(&mut lookup);
        }
        lookup.end();
        take(&mut lookup);
        out.join(" ")
    }

    #[test]
    fn phrases_are_found_or_left_to_others() {
        assert_eq!(looked("zero one two four"), "zero/1 12/3 four/1");
        assert_eq!(looked("one two three"), "123/5");
        assert_eq!(looked("one two"), "12/3");
        assert_eq!(looked("one"), "one/1");
        assert_eq!(looked("four five one two"), "four/1 five/1 12/3");
        // A token that the dictionary is not asked about ends the phrase, with nothing.
        assert_eq!(looked("one two 7 three"), "one/1 two/1 7/1 three/1");
    }
}
