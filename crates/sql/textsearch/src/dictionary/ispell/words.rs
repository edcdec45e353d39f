//! The list of words, with their flags.

use std::collections::HashMap;

use base::SqlResult;

use super::super::lines::Text;
use super::super::lower;
use super::flags::{Flags, place};

/// A set of flags that some words have.
#[derive(Debug)]
struct Set {
    flags: Vec<Box<str>>,
    /// What they mean for words that are put together.
    meaning: u8,
}

/// Words in the order of their bytes.
#[derive(Debug, Default)]
pub(super) struct Words {
    words: Vec<(Box<[u8]>, u32)>,
    sets: Vec<Set>,
}

impl Words {
    /// Reads a list: a word and, behind a slash, its flags.
    pub(super) fn read(list: &Text, flags: &Flags) -> SqlResult<Words> {
        let mut read: Vec<(Box<[u8]>, &str)> = Vec::new();
        list.each(&mut |line| {
            let (word, set) = line.split_once('/').unwrap_or((line, ""));
            let set = set.split(|c: char| !c.is_ascii_graphic()).next().unwrap_or_default();
            let word = word.split(char::is_whitespace).next().unwrap_or_default();
            if !word.is_empty() {
                read.push((lower(word).into_bytes().into(), set));
            }
            Ok(())
        })?;
        for (_, set) in &mut read {
            *set = flags.set(set)?;
        }
        runtime::pace::sort_by(&mut read, |a, b| a.0.cmp(&b.0))?;
        let (mut made, mut sets) = (Words::default(), HashMap::new());
        for (word, set) in read {
            let number = match sets.get(set) {
                Some(number) => *number,
                None => {
                    let number = made.add_set(flags.each(set)?.into_iter().map(Into::into).collect(), flags);
                    sets.insert(set, number);
                    number
                }
            };
            made.words.push((word, number));
        }
        made.join(flags)?;
        Ok(made)
    }

    fn add_set(&mut self, flags: Vec<Box<str>>, known: &Flags) -> u32 {
        let list: Vec<&str> = flags.iter().map(|flag| &**flag).collect();
        let mut meaning = known.meaning(&list) & place::OF_WORDS;
        // A word that is only used in compounds may be any part of one, unless a flag says which.
        if meaning & place::ONLY != 0 && meaning & place::ANY == 0 {
            meaning |= place::ANY;
        }
        self.sets.push(Set { flags, meaning });
        self.sets.len() as u32 - 1
    }

    /// Makes one word of several that are written alike: it has the flags of all, and is a part only if all are.
    fn join(&mut self, known: &Flags) -> SqlResult<()> {
        let (mut pace, mut joined) = (runtime::pace::Pace::new(), HashMap::new());
        let words = std::mem::take(&mut self.words);
        let mut kept: Vec<(Box<[u8]>, u32)> = Vec::with_capacity(words.len());
        for (word, set) in words {
            pace.did(16)?;
            match kept.last_mut() {
                Some((last, of)) if *last == word => {
                    if *of != set {
                        let (a, b) = (*of, set);
                        *of = *joined.entry((a, b)).or_insert_with(|| self.join_sets(a, b, known));
                    }
                }
                _ => kept.push((word, set)),
            }
        }
        self.words = kept;
        Ok(())
    }

    fn join_sets(&mut self, a: u32, b: u32, known: &Flags) -> u32 {
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        let only = a.meaning & b.meaning & place::ONLY;
        let mut flags = a.flags.clone();
        flags.extend(b.flags.iter().filter(|flag| !a.flags.contains(flag)).cloned());
        let joined = self.add_set(flags, known);
        let set = &mut self.sets[joined as usize];
        set.meaning = set.meaning & !place::ONLY | only;
        joined
    }

    fn find(&self, word: &[u8]) -> Option<&Set> {
        let at = self.words.binary_search_by(|(known, _)| (**known).cmp(word)).ok()?;
        self.sets.get(self.words[at].1 as usize)
    }

    /// Whether it has a word with this flag that may stand at a place; at none: as a whole word.
    pub(super) fn has(&self, word: &[u8], flag: Option<&str>, at: u8) -> bool {
        self.find(word).is_some_and(|set| {
            let may = match at & place::OF_WORDS {
                0 => set.meaning & place::ONLY == 0,
                at => set.meaning & at != 0,
            };
            may && flag.is_none_or(|flag| set.flags.iter().any(|known| **known == *flag))
        })
    }

    /// Whether it has a longer word that begins like this.
    pub(super) fn goes_on(&self, beginning: &[u8]) -> bool {
        let at = self.words.partition_point(|(known, _)| **known <= *beginning);
        self.words.get(at).is_some_and(|(word, _)| word.starts_with(beginning))
    }

    /// Whether it has a word that begins like this, or is it.
    pub(super) fn begins(&self, beginning: &[u8]) -> bool {
        let at = self.words.partition_point(|(known, _)| **known < *beginning);
        self.words.get(at).is_some_and(|(word, _)| word.starts_with(beginning))
    }

    /// Whether a word has this flag.
    pub(super) fn uses(&self, flag: &str) -> bool {
        self.sets.iter().any(|set| set.flags.iter().any(|known| **known == *flag))
    }
}
