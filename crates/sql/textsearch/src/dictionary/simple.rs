//! Words in small letters, but stop words.

use base::SqlResult;

use super::options::{self, Parameter, once};
use super::{Dictionary, Lexeme, StopWords, World, lower, one};

/// Words in small letters.
pub(crate) struct Simple {
    /// Words that are not looked for.
    pub(crate) stop: StopWords,
    /// Whether all other words are known.
    pub(crate) accept: bool,
}

impl Simple {
    pub(super) fn of(parameters: &[Parameter], world: &dyn World) -> SqlResult<Simple> {
        let (mut stop, mut accept) = (None, None);
        for parameter in parameters {
            if parameter.is("stopwords") {
                once(&mut stop, StopWords::read(&parameter.value, world)?, "StopWords")?;
            } else if parameter.is("accept") {
                once(&mut accept, parameter.flag()?, "Accept")?;
            } else {
                return Err(options::unknown("simple dictionary", parameter));
            }
        }
        Ok(Simple { stop: stop.unwrap_or_default(), accept: accept.unwrap_or(true) })
    }
}

impl Dictionary for Simple {
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>> {
        let word = lower(word);
        if word.is_empty() || self.stop.has(&word) {
            return Some(Vec::new());
        }
        if self.accept { one(word) } else { None }
    }
}
