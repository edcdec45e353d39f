//! The part of a text that is most similar to a word.
//!
//! A window slides over the trigrams of the text. It grows at its end, one trigram after the other; where it ends with one that counts, its
//! beginning moves up to where the similarity is greatest, and stays there. So not all parts are looked at, and what is found is what
//! PostgreSQL finds.

use base::{SqlError, SqlResult};

use super::share;
use super::trigram::Trigrams;

/// Where the part may begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// With any trigram; it ends with one that the word has.
    Any,
    /// With whole words.
    Words,
}

/// Trigrams between two looks for interrupts.
const AT_ONCE: usize = 256;

/// The greatest similarity of a word to a part of a text.
pub(super) fn best_similarity(word: &Trigrams, text: &Trigrams, extent: Extent) -> SqlResult<f32> {
    let mut known = word.list.clone();
    known.sort_unstable();
    known.dedup();
    // Each kind of trigram of the text has a number.
    let mut kinds = text.list.clone();
    kinds.sort_unstable();
    kinds.dedup();
    let number = |trigram| kinds.binary_search(trigram).unwrap_or_default();
    let mut window = Window {
        numbers: text.list.iter().map(number).collect(),
        wanted: kinds.iter().map(|kind| known.binary_search(kind).is_ok()).collect(),
        last: vec![None; kinds.len()],
        word: known.len(),
        start: (extent == Extent::Words).then_some(0),
        kinds: 0,
        common: 0,
    };
    let mut best = 0.0f32;
    for at in 0..text.list.len() {
        if at % AT_ONCE == AT_ONCE - 1 {
            runtime::check_interrupts().map_err(SqlError::from)?;
        }
        window.grow(at);
        let ends = match extent {
            Extent::Any => window.wanted[window.numbers[at]],
            Extent::Words => text.ends[at].1,
        };
        if ends {
            best = best.max(window.fit(at, |start| extent == Extent::Any || text.ends[start].0));
        }
    }
    Ok(best)
}

struct Window {
    /// The trigrams of the text by the numbers of their kinds.
    numbers: Vec<usize>,
    /// Which kinds the word has.
    wanted: Vec<bool>,
    /// Where each kind was last seen in the window.
    last: Vec<Option<usize>>,
    /// How many kinds the word has.
    word: usize,
    start: Option<usize>,
    /// Kinds in the window, and those of them that the word has.
    kinds: usize,
    common: usize,
}

impl Window {
    /// Takes the trigram at `at` in. A window that has not begun waits for one that the word has.
    fn grow(&mut self, at: usize) {
        let kind = self.numbers[at];
        if self.start.is_none() && !self.wanted[kind] {
            return;
        }
        if self.last[kind].replace(at).is_none() {
            self.kinds += 1;
            self.common += usize::from(self.wanted[kind]);
        }
    }

    fn similarity(&self, common: usize, kinds: usize) -> f32 {
        share(common, self.word, kinds)
    }

    /// Moves the beginning up to where the similarity is greatest, and tells it. The window ends with `end`.
    fn fit(&mut self, end: usize, may_begin: impl Fn(usize) -> bool) -> f32 {
        let before = *self.start.get_or_insert(end);
        let mut best = self.similarity(self.common, self.kinds);
        let (mut common, mut kinds, mut start) = (self.common, self.kinds, before);
        for candidate in before..=end {
            if may_begin(candidate) {
                let similarity = self.similarity(common, kinds);
                if similarity > best {
                    best = similarity;
                    start = candidate;
                    (self.common, self.kinds) = (common, kinds);
                }
            }
            let kind = self.numbers[candidate];
            if self.last[kind] == Some(candidate) {
                kinds -= 1;
                common -= usize::from(self.wanted[kind]);
            }
        }
        for left in before..start {
            let kind = self.numbers[left];
            if self.last[kind] == Some(left) {
                self.last[kind] = None;
            }
        }
        self.start = Some(start);
        best
    }
}
