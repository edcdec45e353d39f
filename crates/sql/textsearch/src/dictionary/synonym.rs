//! Words that others stand for: lines of a word and its synonym, which is the beginning of words with a `*` behind it.

use std::collections::HashMap;

use base::SqlResult;

use super::lines::Text;
use super::options::{self, Parameter};
use super::{Dictionary, Lexeme, World, lower, missing};

/// Synonyms of single words.
pub(super) struct Synonyms {
    case_sensitive: bool,
    words: HashMap<Box<str>, Lexeme>,
}

impl Synonyms {
    pub(super) fn of(parameters: &[Parameter], world: &dyn World) -> SqlResult<Synonyms> {
        let (mut file, mut case_sensitive) = (None, false);
        for parameter in parameters {
            if parameter.is("synonyms") {
                file = Some(&*parameter.value);
            } else if parameter.is("casesensitive") {
                case_sensitive = parameter.flag()?;
            } else {
                return Err(options::unknown("synonym", parameter));
            }
        }
        let file = file.ok_or_else(|| missing("Synonyms"))?;
        let text = Text::read(world, file, "syn", "synonym")?;
        let mut words = HashMap::new();
        text.each(&mut |line| {
            let mut parts = line.split_whitespace();
            if let (Some(word), Some(synonym)) = (parts.next(), parts.next()) {
                let read = |word: &str| if case_sensitive { word.to_owned() } else { lower(word) };
                let (synonym, prefix) = match synonym.strip_suffix('*') {
                    Some(beginning) => (beginning, true),
                    None => (synonym, false),
                };
                let lexeme = Lexeme { word: read(synonym), prefix, ..Lexeme::default() };
                words.entry(read(word).into()).or_insert(lexeme);
            }
            Ok(())
        })?;
        Ok(Synonyms { case_sensitive, words })
    }
}

impl Dictionary for Synonyms {
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>> {
        let found = if self.case_sensitive { self.words.get(word) } else { self.words.get(&*lower(word)) };
        found.map(|lexeme| vec![lexeme.clone()])
    }
}
