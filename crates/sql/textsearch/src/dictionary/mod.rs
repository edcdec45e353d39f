//! # What
//! Dictionaries: what lexemes a word stands for. [`make`] makes them of a template and its parameters.
//!
//! * `simple`: the word in small letters. `snowball`: its stem. `synonym`: another word. `ispell`: its normal form. `thesaurus`: another phrase
//!   for a phrase.
//!
//! # Invariants
//! 1. A dictionary does not change. What it is made of ([`World`]) is asked while it is made, and not later.
//! 2. Files are others' and may hold anything: bad ones give errors, never a panic.
//!
//! # PostgreSQL counterpart
//! `dict.c`, `dict_*.c`, `ts_utils.c`.

mod german;
mod ispell;
pub mod lines;
pub mod options;
mod simple;
mod snowball;
mod synonym;
mod thesaurus;

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use base::{SqlResult, sql_err};

pub use options::Parameter;
pub(crate) use simple::Simple;
pub(crate) use snowball::Snowball;

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

/// How far a phrase has come in a dictionary of phrases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The phrases that have begun like the words so far, by their numbers.
    pub(crate) phrases: Vec<u32>,
    /// How many words there were.
    pub(crate) words: u16,
}

/// What a dictionary says of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// What the word, or the phrase that it ends, stands for: none at all for a stop word, `None` if it is not known here.
    pub lexemes: Option<Vec<Lexeme>>,
    /// The next word may belong to a phrase with this one.
    pub more: Option<Progress>,
    /// The lexeme takes the place of the word, and other dictionaries are asked about that.
    pub filters: bool,
}

/// What knows words.
pub trait Dictionary: Send + Sync {
    /// The lexemes of a word: none at all for a stop word, `None` for a word that is not known here.
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>>;

    /// What it says of a word behind those that `progress` tells of, if there were any.
    fn step(&self, _progress: Option<&Progress>, word: &str) -> Step {
        Step { lexemes: self.lexemes(word), ..Step::default() }
    }
}

/// What dictionaries are made of.
pub trait World {
    /// The text of a file.
    ///
    /// # Errors
    /// An inner error if there is none or it cannot be read.
    fn read(&self, file: &lines::File<'_>) -> SqlResult<io::Result<String>>;

    /// Where such a file lies, for messages.
    fn path(&self, file: &lines::File<'_>) -> String;

    /// Another dictionary, by its name as SQL has it.
    fn dictionary(&self, name: &str) -> SqlResult<Arc<dyn Dictionary>>;
}

/// Templates of dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Template {
    Simple,
    Synonym,
    Ispell,
    Thesaurus,
    Snowball,
}

/// Makes a dictionary of a template and its parameters.
///
/// # Errors
/// A parameter is not known, given twice, missing or wrong; a file is missing or bad.
pub fn make(
    template: Template,
    parameters: &[Parameter],
    world: &dyn World,
) -> SqlResult<Arc<dyn Dictionary>> {
    Ok(match template {
        Template::Simple => Arc::new(Simple::of(parameters, world)?),
        Template::Synonym => Arc::new(synonym::Synonyms::of(parameters, world)?),
        Template::Ispell => Arc::new(ispell::Ispell::of(parameters, world)?),
        Template::Thesaurus => Arc::new(thesaurus::Thesaurus::of(parameters, world)?),
        Template::Snowball => Arc::new(Snowball::of(parameters, world)?),
    })
}

/// Words that are not looked for.
#[derive(Default)]
pub struct StopWords(HashSet<Box<str>>);

impl StopWords {
    /// Those of a list, one a line; what stands behind a space is not read.
    pub fn of(list: &str) -> StopWords {
        let words = list.lines().filter_map(|line| line.split(char::is_whitespace).next());
        StopWords(words.filter(|word| !word.is_empty()).map(lower).map(Into::into).collect())
    }

    /// Those of a file.
    fn read(name: &str, world: &dyn World) -> SqlResult<StopWords> {
        Ok(StopWords::of(lines::Text::read(world, name, "stop", "stop-word")?.as_str()))
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

/// What is not there.
fn missing(what: &str) -> base::SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "missing {what} parameter")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::builtin;

    /// Files and dictionaries of tests: those given, stop words of languages, and `english`.
    struct Few<'f>(&'f [(&'f str, &'f str)]);

    impl World for Few<'_> {
        fn read(&self, file: &lines::File<'_>) -> SqlResult<io::Result<String>> {
            let name = self.path(file);
            let given = self.0.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
            let own = || builtin::file(file);
            Ok(given.or_else(own).map(str::to_owned).ok_or(io::ErrorKind::NotFound.into()))
        }

        fn path(&self, file: &lines::File<'_>) -> String {
            format!("{}.{}", file.name, file.extension)
        }

        fn dictionary(&self, name: &str) -> SqlResult<Arc<dyn Dictionary>> {
            made(Template::Snowball, &[("language", name), ("stopwords", name)], &[])
        }
    }

    pub(crate) fn made(
        template: Template,
        parameters: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> SqlResult<Arc<dyn Dictionary>> {
        let of = |(name, value): &(&str, &str)| Parameter {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            number: false,
        };
        let parameters: Vec<Parameter> = parameters.iter().map(of).collect();
        make(template, &parameters, &Few(files))
    }

    pub(crate) fn words(lexemes: Option<Vec<Lexeme>>) -> String {
        let show = |l: &Lexeme| format!("{}{}", l.word, if l.prefix { "*" } else { "" });
        lexemes.map_or("-".into(), |all| all.iter().map(show).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn simple_dictionaries_accept_what_they_are_told_to() {
        let s = made(
            Template::Simple,
            &[("stopwords", "few"), ("accept", "off")],
            &[("few.stop", "One more\ntwo\n")],
        );
        let s = s.unwrap();
        assert_eq!([words(s.lexemes("ONE")), words(s.lexemes("more"))], ["", "-"]);
        let message = |parameters: &[(&str, &str)]| {
            made(Template::Simple, parameters, &[]).err().unwrap().message().to_owned()
        };
        assert_eq!(message(&[("accept", "maybe")]), "accept requires a Boolean value");
        assert_eq!(message(&[("accept", "on"), ("accept", "on")]), "multiple Accept parameters");
        assert_eq!(message(&[("stopwords", "../x")]), "invalid text search configuration file name \"../x\"");
        assert_eq!(
            message(&[("stopwords", "none")]),
            "could not open stop-word file \"none.stop\": No such file or directory"
        );
        assert_eq!(message(&[("x", "")]), "unrecognized simple dictionary parameter: \"x\"");
    }

    #[test]
    fn synonyms_stand_for_words() {
        let text = "postgres pgsql\nindices index*\nGogle gOOgle\n\nalone\n";
        let of = |sensitive| {
            made(Template::Synonym, &[("synonyms", "s"), ("casesensitive", sensitive)], &[("s.syn", text)])
                .unwrap()
        };
        let s = of("off").lexemes("Postgres");
        assert_eq!(words(s), "pgsql");
        assert_eq!(
            [words(of("off").lexemes("gogle")), words(of("off").lexemes("indices"))],
            ["google", "index*"]
        );
        assert_eq!([words(of("on").lexemes("gogle")), words(of("on").lexemes("Gogle"))], ["-", "gOOgle"]);
        assert_eq!(words(of("on").lexemes("alone")), "-");
    }
}
