//! Comparing texts of ASCII characters by a table instead of the collator.
//!
//! Most texts that are compared differ first in an ASCII character with another behind it. What the collator says of such a pair depends on these characters alone, if none of them
//! is part of a contraction (Czech `ch`), of a number that counts as one (`kn`), or ignored (`ka-shifted`). The collator is asked once what it makes of each character, and of each pair
//! of them; whatever the table cannot tell is left to it.
//!
//! # Invariants
//! 1. What is told is what the collator says, to the last level that it heeds.
//! 2. Characters that are ignored, or that may contract with one behind them, have no rank: nothing is told of texts where they come behind the common beginning.

use std::cmp::Ordering;

use icu_collator::CollatorBorrowed;
use icu_collator::options::{CaseLevel, CollatorOptions, Strength};

/// An ignorable character that keeps its neighbours from contracting: COMBINING GRAPHEME JOINER.
const APART: char = '\u{34f}';

/// What a collator makes of ASCII characters. Tables have room for every byte: none that is no ASCII character has an entry.
#[derive(Debug)]
pub(crate) struct Ascii {
    /// Place in the order of primary weights; 0 if it is not known by the character alone.
    ranks: [u8; 256],
    /// Order among those with the same primary weight; 0 if it is not known.
    cases: [u8; 256],
    /// The only byte that it adds to a sort key on the primary level; 0 if there are others.
    keys: [u8; 256],
    /// The collator goes on behind it as if it had begun there.
    ends: [bool; 256],
    /// How many characters of the common beginning must be such ends.
    reach: usize,
}

impl Ascii {
    /// By what the collator with these options says, which `open` opens.
    pub(crate) fn new<E>(
        options: CollatorOptions,
        open: impl Fn(CollatorOptions) -> Result<CollatorBorrowed<'static>, E>,
    ) -> Result<Ascii, E> {
        let only = |strength| {
            let mut options = options;
            (options.strength, options.case_level) = (Some(strength), Some(CaseLevel::Off));
            open(options)
        };
        let (primary, secondary) = (only(Strength::Primary)?, only(Strength::Secondary)?);
        let (exact, all) = (only(Strength::Quaternary)?, open(options)?);
        let mut table =
            Ascii { ranks: [0; 256], cases: [0; 256], keys: [0; 256], ends: [false; 256], reach: 1 };
        // Backspace and its like are ignored by all.
        let characters: Vec<char> = (1u8..128).map(char::from).collect();
        for c in &characters {
            table.ends[*c as usize] = !contracts(&exact, *c, &characters);
        }
        if characters.iter().any(|c| !table.ends[*c as usize]) {
            // No contraction of ASCII characters has more than four.
            table.reach = 3;
        }
        let mut ranked: Vec<char> = characters
            .into_iter()
            .filter(|c| table.ends[*c as usize] && compare(&primary, *c, None).is_gt())
            .collect();
        ranked.sort_by(|a, b| compare(&primary, *a, Some(*b)).then(a.cmp(b)));
        let groups = ranked.chunk_by(|a, b| compare(&primary, *a, Some(*b)).is_eq());
        for (group, rank) in groups.zip(1u8..) {
            for c in group {
                table.ranks[*c as usize] = rank;
                table.keys[*c as usize] = only_byte(&primary, *c);
            }
            // Others with the same weight differ on the second level, which goes before the third.
            if let [a, b] = group
                && compare(&secondary, *a, Some(*b)).is_eq()
            {
                table.cases[*a as usize] = 2;
                table.cases[*b as usize] = 2u8.wrapping_add_signed(compare(&all, *b, Some(*a)) as i8);
            }
        }
        Ok(table)
    }

    /// Order of two texts before the bytes break a tie; none if the collator is to be asked.
    #[inline]
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Option<Ordering> {
        let mut at = common(a, b);
        if at == a.len() && at == b.len() {
            return Some(Ordering::Equal);
        }
        let before = &a[at.saturating_sub(self.reach)..at];
        if !before.iter().all(|byte| self.ends[usize::from(*byte)]) {
            return None;
        }
        let mut tie = Ordering::Equal;
        loop {
            let order = match (a.get(at), b.get(at)) {
                (None, None) => return Some(tie),
                (x, y) => self.rank(x)?.cmp(&self.rank(y)?),
            };
            if order.is_ne() {
                // A mark behind a character may make another of it.
                let alone = |text: &[u8]| text.get(at + 1).is_none_or(u8::is_ascii);
                return (alone(a) && alone(b)).then_some(order);
            }
            if a[at] != b[at] && tie.is_eq() {
                tie = self.case(a[at])?.cmp(&self.case(b[at])?);
            }
            at += 1;
        }
    }

    /// Place of a character among others; that of the end of a text is before all.
    #[inline]
    fn rank(&self, byte: Option<&u8>) -> Option<u8> {
        match byte {
            None => Some(0),
            Some(byte) => Some(self.ranks[usize::from(*byte)]).filter(|rank| *rank != 0),
        }
    }

    #[inline]
    fn case(&self, byte: u8) -> Option<u8> {
        Some(self.cases[usize::from(byte)]).filter(|case| *case != 0)
    }

    /// The first eight bytes of a sort key's primary level, zeros behind its end; none if the collator is to be asked.
    #[inline]
    pub(crate) fn leading(&self, text: &[u8]) -> Option<[u8; 8]> {
        let mut head = [0; 8];
        for (to, byte) in head.iter_mut().zip(text) {
            *to = Some(self.keys[usize::from(*byte)]).filter(|key| *key != 0)?;
        }
        text.get(8).is_none_or(u8::is_ascii).then_some(head)
    }
}

/// Length of what two texts have in common at their beginning.
#[inline]
fn common(a: &[u8], b: &[u8]) -> usize {
    let words = a.chunks_exact(8).zip(b.chunks_exact(8)).take_while(|(a, b)| a == b).count() * 8;
    let (a, b) = (&a[words..], &b[words..]);
    words + a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn compare(by: &CollatorBorrowed<'_>, a: char, b: Option<char>) -> Ordering {
    let (mut first, mut second) = ([0; 4], [0; 4]);
    let b = b.map(|b| &*b.encode_utf8(&mut second));
    by.compare(a.encode_utf8(&mut first), b.unwrap_or_default())
}

/// Whether a character and one behind it are anything but the two of them.
fn contracts(by: &CollatorBorrowed<'_>, first: char, others: &[char]) -> bool {
    let (mut together, mut apart) = (String::new(), String::new());
    for other in others {
        together.extend([first, *other, APART]);
        apart.extend([first, APART, *other, APART]);
    }
    by.compare(&together, &apart).is_ne()
}

/// The only byte that a character adds to the primary level of a sort key wherever it stands; 0 if it adds another number of them.
fn only_byte(by: &CollatorBorrowed<'_>, c: char) -> u8 {
    let mut key = Vec::new();
    let Ok(()) = by.write_sort_key_to(&String::from_iter([c, c]), &mut key);
    match key[..] {
        [a, b] if a == b => a,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Definition, Order, Provider, Rules, rules};

    /// Among them tailorings that contract ASCII characters, give them weights of others, or order scripts anew; and all attributes.
    const LOCALES: [&str; 37] = [
        "und",
        "en",
        "de",
        "de-u-co-phonebk",
        "sv",
        "da",
        "nb",
        "cs",
        "hu",
        "cy",
        "sq",
        "ha",
        "br",
        "lt",
        "et",
        "vi",
        "tr",
        "es-u-co-trad",
        "fr-CA",
        "el",
        "ru",
        "ja",
        "zh",
        "ko",
        "th",
        "en-US-u-va-posix",
        "en-u-kn",
        "cs-u-kn-ks-level4",
        "en-u-kf-upper",
        "en-u-kf-lower-kc",
        "en-u-ks-level1",
        "en-u-kc-ks-level1",
        "en-u-ks-level2",
        "en-u-ka-shifted",
        "en-u-ka-shifted-ks-level4",
        "en-u-ka-shifted-kv-currency-kf-upper",
        "en-u-ks-identic",
    ];

    /// Pieces of texts: every kind of character, more often those that tailorings treat in their ways.
    const PIECES: [&str; 16] = [
        "abcdefghijklmnopqrstuvwxyz",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "aAbBcChH",
        "ccdddzzssghllnnyjrttxpk'aa",
        "CDZSGHLNYJRTX'Aa",
        "0123456789",
        "0019",
        " -_,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$",
        "\t\n\r\u{1}\u{7f} ",
        "äöüßåéèçñœæøłđžčšőűıİğşțăîųėį",
        MARKS,
        "\u{ad}\u{200d}\u{fffe}\u{ffff}\u{378}\u{e0001}\u{10ffff}\u{fffd}",
        "漢字あアー々ｶ",
        "가각\u{1100}\u{1161}\u{11a8}",
        "абвгґέαβเกอि",
        "ﬁ²½ℵ€·’ʻ",
    ];

    const MARKS: &str = "\u{301}\u{308}\u{30a}\u{30c}\u{323}\u{327}\u{338}\u{34f}";

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % limit
        }

        /// Some characters of the first so many kinds.
        fn text(&mut self, kinds: usize, most: usize) -> String {
            let kinds = [self.below(kinds), self.below(kinds)];
            let count = self.below(most + 1);
            let marked = self.below(3) == 0;
            let one = |_| {
                // Some have marks wherever they please.
                let marks = marked && self.below(4) == 0;
                let piece = if marks { MARKS } else { PIECES[kinds[self.below(2)]] };
                let at = self.below(piece.chars().count());
                piece.chars().nth(at).unwrap_or_default()
            };
            (0..count).map(one).collect()
        }

        /// Two that have their beginning in common, and perhaps differ in cases only.
        fn pair(&mut self, kinds: usize) -> (String, String) {
            let (same, tail) = (self.text(kinds, 10), self.text(kinds, 4));
            match self.below(4) {
                0 => (format!("{same}{tail}"), format!("{}{tail}", same.to_ascii_uppercase())),
                1 => (format!("{same}{tail}"), same),
                _ => (format!("{same}{tail}"), format!("{same}{}", self.text(kinds, 4))),
            }
        }
    }

    fn icu(locale: &str) -> (&'static Rules, &'static Order) {
        let rules = rules(Definition { provider: Provider::Icu, locale, deterministic: true }).unwrap();
        (rules, rules.order.as_ref().unwrap())
    }

    #[test]
    fn what_tables_tell_is_what_collators_say() {
        for locale in LOCALES {
            let (rules, order) = icu(locale);
            let mut random = Random(1);
            let (mut told, count) = (0, 6000);
            for n in 0..count {
                // Half of the pairs are of ASCII characters.
                let (a, b) = random.pair(if n % 2 == 0 { 9 } else { PIECES.len() });
                let found = order.ascii.compare(a.as_bytes(), b.as_bytes());
                told += usize::from(found.is_some());
                if let Some(found) = found {
                    assert_eq!(found, order.collator.compare(&a, &b), "{a:?} {b:?} {locale}");
                }
                let (x, y) = (rules.leading(a.as_bytes()), rules.leading(b.as_bytes()));
                let exact = rules.compare(a.as_bytes(), b.as_bytes());
                assert!(x == y || x.cmp(&y) == exact, "{a:?} {b:?} {locale}");
            }
            assert!(told > count / 8, "{told} {locale}");
        }
    }

    #[test]
    fn tables_begin_sort_keys() {
        for locale in LOCALES {
            let (_, order) = icu(locale);
            let mut random = Random(2);
            let (mut told, count) = (0, 2000);
            for n in 0..count {
                let text = random.text(if n % 2 == 0 { 2 } else { PIECES.len() }, 12);
                let Some(head) = order.ascii.leading(text.as_bytes()) else { continue };
                told += 1;
                let key = order.key(text.as_bytes());
                let level = key.split(|byte| *byte == crate::END_OF_LEVEL).next().unwrap_or_default();
                let length = head.iter().position(|byte| *byte == 0).unwrap_or(8);
                assert_eq!(head[..length], level[..level.len().min(8)], "{text:?} {locale}");
            }
            assert!(told > count / 8, "{told} {locale}");
        }
    }

    #[test]
    fn plain_texts_are_told() {
        let (_, order) = icu("en");
        let told = |a: &str, b: &str| order.ascii.compare(a.as_bytes(), b.as_bytes());
        assert_eq!(told("item 12", "item 13"), Some(Ordering::Less));
        assert_eq!(told("Straße 1", "Straße 1"), Some(Ordering::Equal));
        assert_eq!(told("abc", "ABC"), Some(Ordering::Less));
        assert_eq!(told("abd", "ABC"), Some(Ordering::Greater));
        assert_eq!(told("e-mail", "email"), Some(Ordering::Less));
        assert_eq!(told("resume", "resum\u{e9}"), None);
        assert_eq!(told("zoea", "zoeb\u{308}"), None);
        assert_eq!(icu("cs").1.ascii.compare(b"hrad", b"chrad"), None);
        assert_eq!(icu("en-u-kn").1.ascii.compare(b"a9", b"a10"), None);
        assert_eq!(icu("en-u-ka-shifted").1.ascii.compare(b"de-luge", b"deanza"), None);
    }

    #[test]
    fn contractions_that_look_back_further_are_heeded() {
        let (rules, _) = icu("br");
        assert_eq!(rules.compare(b"c'hoari", b"c'iab"), Ordering::Greater);
    }
}
