//! Words that are put together, taken apart.
//!
//! From each place on the shortest part is taken that is a word which may stand there; what follows is taken apart likewise, and behind that it is
//! tried with longer parts. Parts may also end in an affix that says that another part follows.

use super::Ispell;
use super::LONGEST;
use super::affixes::Joint;
use super::flags::place;

/// Most ways in which a word is taken apart.
const MOST_WAYS: usize = 256;
/// Most steps taken for one word.
const MOST_STEPS: usize = 100_000;

/// A word that is being taken apart.
struct Splitting<'d, 'w> {
    dictionary: &'d Ispell,
    word: &'w [u8],
    /// The ways found: parts, of which the last may be no word.
    ways: Vec<Vec<String>>,
    steps: usize,
}

impl Ispell {
    /// The words that a word may be put together of, in all ways.
    pub(super) fn compounds(&self, word: &str) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        if self.affixes.flags.compound.is_empty() {
            return found;
        }
        let word = word.as_bytes();
        let mut splitting = Splitting { dictionary: self, word, ways: Vec::new(), steps: 0 };
        splitting.from(Vec::new(), 0, 0, None);
        for mut parts in splitting.ways {
            let Some(last) = parts.pop() else { continue };
            if parts.is_empty() {
                continue;
            }
            for form in self.forms(last.as_bytes(), place::LAST) {
                found.push(parts.iter().cloned().chain([form]).collect());
            }
        }
        found
    }
}

impl Splitting<'_, '_> {
    /// Takes apart what stands behind `start`. `parts`: what stands before. A part that ends at `least` or before is not taken; with `at`, those that
    /// end before have been tried.
    fn from(&mut self, mut parts: Vec<String>, mut start: usize, least: usize, at: Option<usize>) {
        if runtime::check_stack().is_err() || self.ways.len() >= MOST_WAYS {
            return;
        }
        let me = self.ways.len();
        self.ways.push(Vec::new());
        let mut tried = vec![false; self.word.len() + 1];
        let mut level = at.unwrap_or(start);
        let mut words = true;
        while level < self.word.len() {
            self.steps += 1;
            if self.steps.is_multiple_of(1000) {
                runtime::pause();
            }
            if self.steps > MOST_STEPS {
                break;
            }
            if level > start {
                self.joints(&parts, (start, level, least), words, &mut tried);
            }
            if !words {
                break;
            }
            let part = &self.word[start..=level];
            let last = level + 1 == self.word.len();
            words = self.dictionary.words.begins(part);
            if words {
                let at = self.place(start == 0, last);
                if level > least && !tried[level] && self.dictionary.words.has(part, None, at) {
                    if last {
                        break;
                    }
                    self.from(parts.clone(), start, level, Some(level));
                    parts.push(text(part));
                    level += 1;
                    start = level;
                    continue;
                }
                words = self.dictionary.words.goes_on(part);
            }
            level += 1;
        }
        parts.push(text(&self.word[start..]));
        self.ways[me] = parts;
    }

    /// Tries parts that end with an affix which joins: the affix stands at `level` while words go on, and anywhere behind otherwise.
    fn joints(
        &mut self,
        parts: &[String],
        (start, level, least): (usize, usize, usize),
        words: bool,
        tried: &mut [bool],
    ) {
        let dictionary = self.dictionary;
        for joint in &dictionary.affixes.joints {
            let Some(length) = reach(joint, &self.word[level..], words) else { continue };
            let end = level + length;
            if end == start || tried[end - 1] || level + (end - start) <= least + 1 || end - start >= LONGEST
            {
                continue;
            }
            let at = self.place(level == 0, level + 1 == self.word.len());
            let forms = dictionary.forms(&self.word[start..end], at);
            if !forms.is_empty() {
                tried[end - 1] = true;
                let parts = parts.iter().cloned().chain(forms).collect();
                self.from(parts, end, end, None);
            }
        }
    }

    fn place(&self, first: bool, last: bool) -> u8 {
        match (first, last) {
            (true, _) => place::BEGIN,
            (_, true) => place::LAST,
            _ => place::MIDDLE,
        }
    }
}

/// How far a part reaches into a text in which an affix joins it to the next: behind a suffix, or up to a prefix.
fn reach(joint: &Joint, text: &[u8], in_place: bool) -> Option<usize> {
    let affix = joint.affix.as_bytes();
    if text.len() <= affix.len() {
        return None;
    }
    let at = match in_place {
        true => text.starts_with(affix).then_some(0)?,
        false => text.windows(affix.len()).position(|part| part == affix)?,
    };
    Some(if joint.suffix { at + affix.len() } else { 0 })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
