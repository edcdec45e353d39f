//! What a word without its affix must end or begin like: letters and classes of letters; anything else is a regular expression.

use base::SqlResult;
use regex::Regex;

use super::super::lines::bad;

/// A condition.
#[derive(Debug)]
pub(super) enum Mask {
    /// Anything.
    Any,
    /// Letters, one after the other.
    Letters(Vec<Class>),
    /// A regular expression.
    Pattern(Box<Regex>),
}

/// What one letter may be.
#[derive(Debug)]
pub(super) struct Class {
    letters: Box<str>,
    /// All others instead.
    others: bool,
}

impl Class {
    fn has(&self, c: char) -> bool {
        self.letters.contains(c) != self.others
    }
}

impl Mask {
    /// Parses a condition on the end of a word, or on its beginning.
    pub(super) fn of(text: &str, at_end: bool) -> SqlResult<Mask> {
        if text.is_empty() || text == "." {
            return Ok(Mask::Any);
        }
        if let Some(classes) = classes(text) {
            return Ok(Mask::Letters(classes));
        }
        let pattern = if at_end { format!("(?:{text})$") } else { format!("^(?:{text})") };
        let made = regex::RegexBuilder::new(&pattern).size_limit(1 << 18).build();
        made.map(|pattern| Mask::Pattern(Box::new(pattern)))
            .map_err(|_| bad(format!("invalid regular expression: {text}")))
    }

    /// Whether a word satisfies it.
    pub(super) fn fits(&self, word: &str, at_end: bool) -> bool {
        match self {
            Mask::Any => true,
            Mask::Letters(classes) if at_end => {
                let mut letters = word.chars().rev();
                classes.iter().rev().all(|class| letters.next().is_some_and(|c| class.has(c)))
            }
            Mask::Letters(classes) => {
                let mut letters = word.chars();
                classes.iter().all(|class| letters.next().is_some_and(|c| class.has(c)))
            }
            Mask::Pattern(pattern) => pattern.is_match(word),
        }
    }
}

/// The classes of a text that has nothing but them.
fn classes(text: &str) -> Option<Vec<Class>> {
    let (mut classes, mut rest) = (Vec::new(), text);
    while let Some(c) = rest.chars().next() {
        let letters;
        let mut others = false;
        if c == '[' {
            let end = rest.find(']')?;
            let inside = &rest[1..end];
            others = inside.starts_with('^');
            letters = inside.strip_prefix('^').unwrap_or(inside);
            rest = &rest[end + 1..];
        } else {
            (letters, rest) = rest.split_at(c.len_utf8());
        }
        if letters.is_empty() || !letters.chars().all(|c| c.is_alphabetic() || c == '\'') {
            return None;
        }
        classes.push(Class { letters: letters.into(), others });
    }
    Some(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_beginnings_are_compared() {
        for (mask, at_end, word, fits) in [
            (".", true, "", true),
            ("[^aeiou]y", true, "berry", true),
            ("[^aeiou]y", true, "boy", false),
            ("[^aeiou]y", true, "y", false),
            ("ä", false, "ärger", true),
            ("[bc]o", false, "cobra", true),
            ("[a-c].", true, "cab", true),
            ("[a-c].", true, "zoz", false),
            ("x*y", true, "fly", true),
        ] {
            assert_eq!(Mask::of(mask, at_end).unwrap().fits(word, at_end), fits, "{mask} {word}");
        }
        assert!(Mask::of("[a", true).is_err());
        assert!(Mask::of("(", true).is_err());
    }
}
