//! # What
//! Phrases that other phrases stand for. A line has the phrase, a colon and what stands for it. Words of a phrase are compared by what another
//! dictionary, the subdictionary, makes of them; `?` stands for a stop word. What stands for the phrase goes through the subdictionary too,
//! but for words with a `*` before them.
//!
//! # PostgreSQL counterpart
//! `dict_thesaurus.c`.

use std::collections::HashMap;
use std::sync::Arc;

use base::{SqlError, SqlResult};

use super::lines::{Text, bad};
use super::options::{self, Parameter, once};
use super::{Dictionary, Lexeme, Progress, Step, World, missing};

/// A phrase, and what stands for it.
struct Phrase {
    /// What may stand at each place.
    places: Vec<Place>,
    /// What stands for it.
    result: Vec<Lexeme>,
}

enum Place {
    StopWord,
    /// One of these sets of lexemes that stand for a word together.
    Word(Vec<Vec<String>>),
}

/// A line, in words.
#[derive(Default)]
struct Line<'l> {
    sample: Vec<&'l str>,
    /// Words, and whether they are to stay as they are.
    result: Vec<(&'l str, bool)>,
}

/// A dictionary of phrases.
pub(super) struct Thesaurus {
    words: Arc<dyn Dictionary>,
    phrases: Vec<Phrase>,
    /// The phrases whose first word may have this lexeme, ascending.
    first: HashMap<Box<str>, Vec<u32>>,
    /// Those that begin with a stop word.
    first_stop: Vec<u32>,
}

impl Thesaurus {
    pub(super) fn of(parameters: &[Parameter], world: &dyn World) -> SqlResult<Thesaurus> {
        let (mut file, mut words) = (None, None);
        for parameter in parameters {
            if parameter.is("dictfile") {
                once(&mut file, &*parameter.value, "DictFile")?;
            } else if parameter.is("dictionary") {
                once(&mut words, &*parameter.value, "Dictionary")?;
            } else {
                return Err(options::unknown("Thesaurus", parameter));
            }
        }
        let file = file.ok_or_else(|| missing("DictFile"))?;
        let words = words.ok_or_else(|| missing("Dictionary"))?;
        let text = Text::read(world, file, "ths", "thesaurus")?;
        let mut lines = Vec::new();
        text.each(&mut |line| {
            lines.extend(read(line)?);
            Ok(())
        })?;
        let mut made = Thesaurus {
            words: world.dictionary(words)?,
            phrases: Vec::new(),
            first: HashMap::new(),
            first_stop: Vec::new(),
        };
        let mut pace = runtime::pace::Pace::new();
        for line in &lines {
            pace.did(256 * (line.sample.len() + line.result.len()))?;
            made.add(line)?;
        }
        Ok(made)
    }

    fn add(&mut self, line: &Line<'_>) -> SqlResult<()> {
        let number = self.phrases.len();
        let places: SqlResult<Vec<Place>> =
            line.sample.iter().map(|word| self.place(word, number + 1)).collect();
        let phrase = Phrase { places: places?, result: self.result(line, number + 1)? };
        let number = number as u32;
        match phrase.places.first() {
            Some(Place::Word(variants)) => {
                for lexeme in variants.iter().flatten() {
                    let known = self.first.entry(lexeme.as_str().into()).or_default();
                    if known.last() != Some(&number) {
                        known.push(number);
                    }
                }
            }
            Some(Place::StopWord) => self.first_stop.push(number),
            None => {}
        }
        self.phrases.push(phrase);
        Ok(())
    }

    fn place(&self, word: &str, rule: usize) -> SqlResult<Place> {
        if word == "?" {
            return Ok(Place::StopWord);
        }
        let found = self.words.lexemes(word).ok_or_else(|| {
            bad(format!("thesaurus sample word \"{word}\" isn't recognized by subdictionary (rule {rule})"))
        })?;
        if found.is_empty() {
            return Err(bad(format!("thesaurus sample word \"{word}\" is a stop word (rule {rule})"))
                .hint("Use \"?\" to represent a stop word within a sample phrase."));
        }
        Ok(Place::Word(
            variants(&found).map(|lexemes| lexemes.iter().map(|l| l.word.clone()).collect()).collect(),
        ))
    }

    fn result(&self, line: &Line<'_>, rule: usize) -> SqlResult<Vec<Lexeme>> {
        let mut result: Vec<Lexeme> = Vec::new();
        for (word, as_it_is) in &line.result {
            let wrong =
                |what: &str| bad(format!("thesaurus substitute word \"{word}\" {what} (rule {rule})"));
            let mut found = match as_it_is {
                true => vec![Lexeme { word: (*word).to_owned(), ..Lexeme::default() }],
                false => {
                    self.words.lexemes(word).ok_or_else(|| wrong("isn't recognized by subdictionary"))?
                }
            };
            if found.is_empty() {
                return Err(wrong("is a stop word"));
            }
            found[0].next_place |= !result.is_empty();
            result.append(&mut found);
        }
        match result.is_empty() {
            true => Err(bad(format!("thesaurus substitute phrase is empty (rule {rule})"))),
            false => Ok(result),
        }
    }

    /// Whether a phrase has one of a word's variants at a place, or the stop word if there are none.
    fn fits(&self, phrase: u32, at: usize, lexemes: &[Lexeme]) -> bool {
        let place = self.phrases.get(phrase as usize).and_then(|phrase| phrase.places.get(at));
        match place {
            Some(Place::StopWord) => lexemes.is_empty(),
            Some(Place::Word(wanted)) => variants(lexemes).any(|variant| {
                let has = |lexemes: &Vec<String>| {
                    lexemes.len() == variant.len() && variant.iter().all(|l| lexemes.contains(&l.word))
                };
                wanted.iter().any(has)
            }),
            None => false,
        }
    }

    /// The phrases that a word may begin.
    fn begun(&self, lexemes: &[Lexeme]) -> Vec<u32> {
        if lexemes.is_empty() {
            return self.first_stop.clone();
        }
        let lists = lexemes.iter().filter_map(|lexeme| self.first.get(&*lexeme.word));
        let mut begun: Vec<u32> = lists.flatten().copied().collect();
        begun.sort_unstable();
        begun.dedup();
        begun
    }
}

/// Lexemes that stand for a word together.
fn variants(lexemes: &[Lexeme]) -> impl Iterator<Item = &[Lexeme]> {
    lexemes.chunk_by(|a, b| a.variant == b.variant)
}

impl Dictionary for Thesaurus {
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>> {
        self.step(None, word).lexemes
    }

    fn step(&self, progress: Option<&Progress>, word: &str) -> Step {
        let Some(lexemes) = self.words.lexemes(word) else { return Step::default() };
        let at = progress.map_or(0, |progress| usize::from(progress.words));
        let known = progress.map_or_else(|| self.begun(&lexemes), |progress| progress.phrases.clone());
        let phrases: Vec<u32> = known.into_iter().filter(|phrase| self.fits(*phrase, at, &lexemes)).collect();
        // Of several that end here the last one in the file counts.
        let mut latest = phrases.iter().rev().map(|phrase| &self.phrases[*phrase as usize]);
        let ended = latest.find(|phrase| phrase.places.len() == at + 1);
        let goes_on = if ended.is_some() { phrases.len() > 1 } else { !phrases.is_empty() };
        Step {
            lexemes: ended.map(|phrase| phrase.result.clone()),
            more: (goes_on && at < usize::from(u16::MAX) - 1)
                .then(|| Progress { phrases, words: at as u16 + 1 }),
            filters: false,
        }
    }
}

/// A line that is no comment.
fn read(line: &str) -> SqlResult<Option<Line<'_>>> {
    let line = line.trim_start();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let Some((sample, result)) = line.split_once(':') else { return Err(ends_early()) };
    let sample: Vec<&str> = sample.split_whitespace().collect();
    if sample.is_empty() {
        return Err(bad("unexpected delimiter"));
    }
    let mut read = Line { sample, ..Line::default() };
    for word in result.split_whitespace() {
        let (word, as_it_is) = match word.strip_prefix('*') {
            Some(word) => (word, true),
            None => (word.strip_prefix('\\').unwrap_or(word), false),
        };
        if word.is_empty() {
            return Err(ends_early());
        }
        read.result.push((word, as_it_is));
    }
    if read.result.is_empty() {
        return Err(ends_early());
    }
    Ok(Some(read))
}

fn ends_early() -> SqlError {
    bad("unexpected end of line")
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;
    use super::*;
    use crate::dictionary::Template;

    fn thesaurus(text: &str) -> SqlResult<Arc<dyn Dictionary>> {
        made(Template::Thesaurus, &[("dictfile", "t"), ("dictionary", "english")], &[("t.ths", text)])
    }

    fn words(lexemes: Option<Vec<Lexeme>>) -> String {
        let show = |l: &Lexeme| format!("{}{}", if l.next_place { "+" } else { "" }, l.word);
        lexemes.map_or("-".into(), |all| all.iter().map(show).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_longest_phrase_counts() {
        let t =
            thesaurus("# numbers\none two : *12\none two three: small numbers\nsee ? cats : looked *At\n")
                .unwrap();
        let first = t.step(None, "one");
        assert_eq!(first.lexemes, None);
        let second = t.step(first.more.as_ref(), "two");
        assert_eq!(words(second.lexemes), "12");
        let third = t.step(second.more.as_ref(), "threes");
        assert_eq!((words(third.lexemes), third.more), ("small +number".into(), None));
        let stop = t.step(t.step(None, "seeing").more.as_ref(), "the");
        assert_eq!(words(t.step(stop.more.as_ref(), "cat").lexemes), "look +At");
        assert_eq!(t.step(t.step(None, "see").more.as_ref(), "cat"), Step::default());
        assert_eq!(t.step(None, "nothing"), Step::default());
    }

    #[test]
    fn bad_lines_are_told() {
        for (text, message) in [
            ("a cat : x", "thesaurus sample word \"a\" is a stop word (rule 1)"),
            ("cat : the", "thesaurus substitute word \"the\" is a stop word (rule 1)"),
            (": x", "unexpected delimiter"),
            ("cat :", "unexpected end of line"),
            ("cat", "unexpected end of line"),
            ("cat : *", "unexpected end of line"),
        ] {
            assert_eq!(thesaurus(text).err().unwrap().message(), message, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_file_is_read_or_refused(text in "([a-c? *#]{0,8}:?[*\\\\ a-c]{0,6}\n){0,6}", word in "[a-c]{0,2}") {
            if let Ok(made) = thesaurus(&text) {
                let step = made.step(None, &word);
                made.step(step.more.as_ref(), &word);
            }
        }
    }
}
