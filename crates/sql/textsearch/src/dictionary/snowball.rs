//! # What
//! Stems of words, by the stemmers of Snowball.
//!
//! # PostgreSQL counterpart and differences
//! `dict_snowball.c`. PostgreSQL's stemmers are of a version between Snowball 2.0 and 3.0. Ours come from libraries: those of 3.0, and of 2.0 where the
//! answers are closer to it; that of German, which was another in between, is our own.

use std::borrow::Cow;

use base::{SqlResult, sql_err};

use super::options::{self, Parameter, once};
use super::{Dictionary, Lexeme, StopWords, World, german, lower, missing, one};

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
    German,
}

impl Snowball {
    /// The stemmer of a language; none if there is none.
    pub fn new(language: &str, stop: StopWords) -> Option<Snowball> {
        use {rust_stemmers::Algorithm as Old, waken_snowball::Algorithm as New};
        let old = |of| Stemmer::Old(rust_stemmers::Stemmer::create(of));
        let stemmer = match language {
            "english" => old(Old::English),
            "french" => return Some(Snowball { stemmer: old(Old::French), other: Some(New::French), stop }),
            "german" => Stemmer::German,
            "norwegian" => old(Old::Norwegian),
            "spanish" => old(Old::Spanish),
            "swedish" => old(Old::Swedish),
            "dutch" => Stemmer::New(New::DutchPorter),
            _ => Stemmer::New(New::from_str(language)?),
        };
        Some(Snowball { stemmer, other: None, stop })
    }

    pub(super) fn of(parameters: &[Parameter], world: &dyn World) -> SqlResult<Snowball> {
        let (mut stop, mut language) = (None, None);
        for parameter in parameters {
            if parameter.is("stopwords") {
                once(&mut stop, StopWords::read(&parameter.value, world)?, "StopWords")?;
            } else if parameter.is("language") {
                once(&mut language, &*parameter.value, "Language")?;
            } else {
                return Err(options::unknown("Snowball", parameter));
            }
        }
        let language = language.ok_or_else(|| missing("Language"))?;
        Snowball::new(&language.to_ascii_lowercase(), stop.unwrap_or_default()).ok_or_else(|| {
            sql_err!(
                UNDEFINED_OBJECT,
                "no Snowball stemmer available for language \"{language}\" and encoding \"UTF8\""
            )
        })
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
            Stemmer::German => german::stem(word).into(),
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
