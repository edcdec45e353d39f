//! The text search template `unaccent`: dictionaries that give words without accents to the dictionaries behind them. What stands for what is the rules of a
//! file, or those that the module brings along, which are called `unaccent` too.

use std::collections::HashMap;
use std::sync::Arc;

use base::{SqlResult, sql_err};
use textsearch::dictionary::lines::Text;
use textsearch::dictionary::{Dictionary, Lexeme, Parameter, Step, World, options};

/// The name of the rules that there always are.
const OWN: &str = "unaccent";

/// A dictionary.
struct Unaccent {
    /// Rules of a file; none for those of the module.
    rules: Option<Rules>,
}

/// What stands for strings, of which the longest that fits counts.
struct Rules {
    strings: HashMap<Box<str>, Box<str>>,
    /// Most characters of a string.
    longest: usize,
}

/// Makes a dictionary with these parameters.
pub(super) fn make(parameters: &[Parameter], world: &dyn World) -> SqlResult<Arc<dyn Dictionary>> {
    let mut name = None;
    for parameter in parameters {
        if !parameter.is("rules") {
            return Err(options::unknown("Unaccent", parameter));
        }
        options::once(&mut name, &*parameter.value, "Rules")?;
    }
    let name = name.ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "missing Rules parameter"))?;
    let file = match name {
        OWN => Text::read_if_there(world, name, "rules", "unaccent")?,
        _ => Some(Text::read(world, name, "rules", "unaccent")?),
    };
    let rules = file.map(|file| Rules::of(file.as_str())).transpose()?;
    Ok(Arc::new(Unaccent { rules }))
}

impl Rules {
    /// Lines of a string and what stands for it, which may be in quotes, or nothing.
    fn of(text: &str) -> SqlResult<Rules> {
        let (mut rules, mut pace) =
            (Rules { strings: HashMap::new(), longest: 0 }, runtime::pace::Pace::new());
        for line in text.lines() {
            pace.did(64 + line.len())?;
            let line = line.trim();
            let (string, other) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let other = other.trim();
            let other = match other.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                Some(quoted) => quoted.replace("\"\"", "\""),
                // More than two words are no rule.
                None if other.contains(char::is_whitespace) => continue,
                None => other.to_owned(),
            };
            if !string.is_empty() {
                rules.longest = rules.longest.max(string.chars().count());
                rules.strings.entry(string.into()).or_insert_with(|| other.into());
            }
        }
        Ok(rules)
    }

    fn apply(&self, word: &str) -> String {
        let (mut out, mut rest) = (String::with_capacity(word.len()), word);
        while let Some(first) = rest.chars().next() {
            let mut ends: Vec<usize> =
                rest.char_indices().take(self.longest).map(|(at, c)| at + c.len_utf8()).collect();
            ends.reverse();
            let found = ends.into_iter().find_map(|end| Some((end, self.strings.get(&rest[..end])?)));
            match found {
                Some((end, other)) => {
                    out.push_str(other);
                    rest = &rest[end..];
                }
                None => {
                    out.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        out
    }
}

impl Dictionary for Unaccent {
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>> {
        let plain = match &self.rules {
            Some(rules) => rules.apply(word),
            None => {
                let mut out = String::with_capacity(word.len());
                word.chars().for_each(|c| super::push_plain(c, &mut out));
                out
            }
        };
        (plain != word).then(|| vec![Lexeme { word: plain, ..Lexeme::default() }])
    }

    fn step(&self, _progress: Option<&textsearch::dictionary::Progress>, word: &str) -> Step {
        let lexemes = self.lexemes(word);
        Step { filters: lexemes.is_some(), lexemes, ..Step::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_string_counts() {
        let rules = Rules::of("ä\tae\nß ss\nßä \"x \"\"y\"\nq\nbad rule here\n\n").unwrap();
        assert_eq!(rules.apply("äßäßqbad"), "aex \"yssbad");
    }
}
