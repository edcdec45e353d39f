//! # What
//! Dictionaries: what lexemes a word stands for.
//!
//! * [`Simple`]: the word in small letters. [`Snowball`]: its stem. Both leave stop words out.
//!
//! # PostgreSQL counterpart and differences
//! `dict_simple.c`, `dict_snowball.c`. Stemmers come from libraries: those of Snowball 3.0, and of 2.0 where PostgreSQL's answers are closer to
//! it. Some German words in `-et` have another stem than in PostgreSQL, whose stemmers are of a version in between.

use std::borrow::Cow;
use std::collections::HashSet;

/// A word as documents and queries have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexeme {
    /// Which.
    pub word: String,
    /// Lexemes of one number stand for the word together; others are alternatives.
    pub variant: u16,
    /// Whether it is how lexemes begin.
    pub prefix: bool,
    /// Whether it stands one place behind the one before.
    pub next_place: bool,
}

/// What knows words.
pub trait Dictionary: Send + Sync {
    /// The lexemes of a word: none at all for a stop word, `None` for a word that is not known here.
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>>;
}

/// Words that are not looked for.
#[derive(Default)]
pub struct StopWords(HashSet<&'static str>);

impl StopWords {
    /// Those of a list, one a line.
    pub fn of(list: &'static str) -> StopWords {
        StopWords(list.lines().map(str::trim).filter(|word| !word.is_empty()).collect())
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// A word in small letters. Each letter stays one letter.
pub(crate) fn lower(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let small = |c: char| {
        let mut changed = c.to_lowercase();
        // The one letter that becomes two is `İ`: what follows its `i` is a mark.
        changed.next().unwrap_or(c)
    };
    word.chars().map(small).collect()
}

fn one(word: String) -> Option<Vec<Lexeme>> {
    Some(vec![Lexeme { word, ..Lexeme::default() }])
}

/// Words in small letters.
pub struct Simple {
    /// Words that are not looked for.
    pub stop: StopWords,
}

impl Dictionary for Simple {
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>> {
        let word = lower(word);
        if word.is_empty() || self.stop.has(&word) { Some(Vec::new()) } else { one(word) }
    }
}

/// Longest word that has a stem, in bytes: what is longer is of no language.
const LONGEST_STEMMED: usize = 1000;

/// Stems of a language.
pub struct Snowball {
    stemmer: Stemmer,
    /// For words with a diaeresis, which the old stemmer of French does not know.
    other: Option<waken_snowball::Algorithm>,
    stop: StopWords,
}

enum Stemmer {
    New(waken_snowball::Algorithm),
    Old(rust_stemmers::Stemmer),
}

impl Snowball {
    /// The stemmer of a language; none if there is none.
    pub fn new(language: &str, stop: StopWords) -> Option<Snowball> {
        use {rust_stemmers::Algorithm as Old, waken_snowball::Algorithm as New};
        let old = |of| Stemmer::Old(rust_stemmers::Stemmer::create(of));
        let stemmer = match language {
            "english" => old(Old::English),
            "french" => return Some(Snowball { stemmer: old(Old::French), other: Some(New::French), stop }),
            "norwegian" => old(Old::Norwegian),
            "spanish" => old(Old::Spanish),
            "swedish" => old(Old::Swedish),
            "dutch" => Stemmer::New(New::DutchPorter),
            _ => Stemmer::New(New::from_str(language)?),
        };
        Some(Snowball { stemmer, other: None, stop })
    }

    fn stem<'w>(&self, word: &'w str) -> Cow<'w, str> {
        if let Some(other) = self.other
            && word.contains(['ï', 'ë', 'ü'])
        {
            return waken_snowball::stem(other, word);
        }
        match &self.stemmer {
            // The library knows this exception wrongly.
            Stemmer::Old(_) if word == "offing" => Cow::Borrowed("off"),
            Stemmer::Old(stemmer) => stemmer.stem(word),
            Stemmer::New(algorithm) => waken_snowball::stem(*algorithm, word),
        }
    }
}

impl Dictionary for Snowball {
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>> {
        let word = lower(word);
        if word.len() > LONGEST_STEMMED {
            return one(word);
        }
        if word.is_empty() || self.stop.has(&word) {
            return Some(Vec::new());
        }
        match self.stem(&word).into_owned() {
            // Nothing is left of some words: they stay as they are.
            stem if stem.is_empty() => one(word),
            stem => one(stem),
        }
    }
}
