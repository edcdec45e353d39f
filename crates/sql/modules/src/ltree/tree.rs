//! GiST over paths: `gist_ltree_ops`, and over arrays of them: `gist__ltree_ops`.
//!
//! A key in a leaf is the row's path. One above is the first and the last of the paths below it, and a signature, of which each label sets a bit. The first byte says which of the two
//! it is; above, the length of the first path follows in 4 bytes, then the signature and the two paths.
//!
//! Of arrays a key is a signature.

use std::cmp::Ordering;

use tuple::Datum;
use tuple::options::{ClassOption, ClassOptions};
use tuple::tree::{Match, TreeClass, TreeQuery};
use types::array::Array;
use types::value::FromDatum;

use super::path::{compare, is_within, labels};
use super::pattern::{Level, Pattern, Word};
use super::words::Query;
use super::{matches_any, operand};
use types::made::Made;
use types::signature::{Signatures, hash, length, length_option, words_option};

/// Strategy numbers.
pub(super) mod strategy {
    pub const LESS: u16 = 1;
    pub const AT_MOST: u16 = 2;
    pub const EQUAL: u16 = 3;
    pub const AT_LEAST: u16 = 4;
    pub const GREATER: u16 = 5;
    /// Of arrays: some path is below the query.
    pub const ABOVE: u16 = 10;
    pub const BELOW: u16 = 11;
    pub const PATTERN: u16 = 12;
    pub const PATTERN_COMMUTED: u16 = 13;
    pub const WORDS: u16 = 14;
    pub const WORDS_COMMUTED: u16 = 15;
    pub const PATTERNS: u16 = 16;
    pub const PATTERNS_COMMUTED: u16 = 17;
}

/// Bytes of a key's kind, and of the length in one that is not in a leaf.
const HEAD: usize = 5;
const OPTIONS: &[ClassOption] = &[words_option(8)];

const LEAF: u8 = 1;
const INNER: u8 = 2;

/// `gist_ltree_ops`
#[derive(Debug)]
pub(super) struct Paths {
    /// Bytes of a signature.
    bytes: usize,
}

pub(super) static PATHS: Paths = Paths { bytes: 8 };

/// `gist__ltree_ops`
pub(super) static ARRAYS: Signatures = Signatures {
    bytes: 28,
    options: &[length_option(28)],
    elements: |value, add| {
        for path in Array::from_payload(<&[u8]>::from_datum(value)).elements() {
            if !path.is_null() {
                labels(<&str>::from_datum(path)).for_each(|label| add(hash(label.as_bytes())));
            }
        }
    },
    may_match: |has, query| match query.strategy {
        strategy::ABOVE | strategy::BELOW => {
            labels(<&str>::from_datum(query.value)).all(|label| has(hash(label.as_bytes())))
        }
        _ => may_match(has, query),
    },
};

/// What a key says.
struct Key<'a> {
    first: &'a str,
    last: &'a str,
    /// None in a leaf.
    bits: Option<&'a [u8]>,
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// The bit of a label in a signature of so many bytes.
fn bit(hash: u64, bytes: usize) -> (usize, u8) {
    let bit = (hash % (8 * bytes as u64)) as usize;
    (bit / 8, 1 << (bit % 8))
}

impl Paths {
    fn key<'a>(&self, key: &'a Datum) -> Key<'a> {
        let bytes = <&[u8]>::from_datum(key);
        match bytes.split_at_checked(HEAD + self.bytes) {
            Some((head, paths)) if head[0] == INNER => {
                let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
                let (first, last) = paths.split_at(length.min(paths.len()));
                Key { first: text(first), last: text(last), bits: Some(&head[HEAD..]) }
            }
            _ => {
                let path = text(bytes.get(1..).unwrap_or_default());
                Key { first: path, last: path, bits: None }
            }
        }
    }

    fn signature(&self, key: &Key<'_>) -> Vec<u8> {
        let mut bits = vec![0; self.bytes];
        match key.bits {
            Some(of) => bits.copy_from_slice(of),
            None => labels(key.first).for_each(|label| {
                let (byte, bit) = bit(hash(label.as_bytes()), self.bytes);
                bits[byte] |= bit;
            }),
        }
        bits
    }
}

fn inner(first: &str, last: &str, bits: &[u8]) -> Datum {
    let length = (first.len() as u32).to_le_bytes();
    let bytes = [&[INNER][..], &length, bits, first.as_bytes(), last.as_bytes()].concat();
    Datum::Bytes(bytes.into())
}

/// Whether a level may match labels that may have just these hashes.
fn level_may_match(level: &Level, has: &dyn Fn(u64) -> bool) -> bool {
    level.least == 0
        || level.negated
        || level.words.is_empty()
        || level.words.iter().any(|word| word_may_match(word, has))
}

fn word_may_match(word: &Word, has: &dyn Fn(u64) -> bool) -> bool {
    !word.is_plain() || has(hash(word.text.as_bytes()))
}

/// Whether a path whose labels may have just these hashes may match the pattern or the query, or one of several patterns.
fn may_match(has: &dyn Fn(u64) -> bool, query: TreeQuery<'_>) -> bool {
    let pattern = |value: &Datum| match Pattern::read(<&str>::from_datum(value)) {
        Ok(pattern) => pattern.levels.iter().all(|level| level_may_match(level, has)),
        Err(_) => true,
    };
    match query.strategy {
        strategy::PATTERN | strategy::PATTERN_COMMUTED => pattern(query.value),
        strategy::PATTERNS | strategy::PATTERNS_COMMUTED => {
            let patterns = Array::from_payload(<&[u8]>::from_datum(query.value));
            patterns.elements().iter().any(|value| value.is_null() || pattern(value))
        }
        strategy::WORDS | strategy::WORDS_COMMUTED => {
            let both = |and: bool, a, b| if and { a && b } else { a || b };
            let Ok(query) = Query::read(<&str>::from_datum(query.value)) else { return true };
            query.fold(|word| word_may_match(word, has), |_| true, both).unwrap_or(true)
        }
        _ => true,
    }
}

/// Whether the paths from one to another may have one of which `path` is a part from its beginning.
fn may_be_below(first: &str, last: &str, path: &str) -> bool {
    (compare(first, path).is_le() || is_within(first, path)) && compare(last, path).is_ge()
}

fn leaf_satisfies(path: &str, query: TreeQuery<'_>) -> Match {
    let of = || operand(query.value);
    let found = match query.strategy {
        strategy::LESS => compare(path, of()).is_lt(),
        strategy::AT_MOST => compare(path, of()).is_le(),
        strategy::EQUAL => path == of(),
        strategy::AT_LEAST => compare(path, of()).is_ge(),
        strategy::GREATER => compare(path, of()).is_gt(),
        strategy::ABOVE => is_within(of(), path),
        strategy::BELOW => is_within(path, of()),
        strategy::PATTERN | strategy::PATTERN_COMMUTED => {
            match Pattern::read(of()).and_then(|pattern| pattern.matches(path)) {
                Ok(found) => found,
                Err(_) => return Match::Maybe,
            }
        }
        strategy::WORDS | strategy::WORDS_COMMUTED => match Query::read(of()) {
            Ok(query) => query.matches(path),
            Err(_) => return Match::Maybe,
        },
        _ => match matches_any(path, query.value) {
            Ok(found) => found,
            Err(_) => return Match::Maybe,
        },
    };
    Match::of(found, true)
}

impl TreeClass for Paths {
    fn options(&self) -> &'static [ClassOption] {
        OPTIONS
    }

    fn with_options(&self, options: &ClassOptions) -> Option<&'static dyn TreeClass> {
        static MADE: Made<usize, Paths> = Made::new();
        let bytes = length(options);
        Some(MADE.get(bytes, || Paths { bytes }))
    }

    fn compress(&self, value: &Datum) -> Datum {
        Datum::Bytes([&[LEAF], operand(value).as_bytes()].concat().into())
    }

    fn fetch(&self, key: &Datum) -> Datum {
        Datum::text(self.key(key).first)
    }

    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match {
        let Key { first, last, bits } = self.key(key);
        let Some(bits) = bits.filter(|_| !leaf) else { return leaf_satisfies(first, query) };
        let of = || operand(query.value);
        let found = match query.strategy {
            strategy::LESS => compare(first, of()).is_lt(),
            strategy::AT_MOST => compare(first, of()).is_le(),
            strategy::EQUAL => compare(first, of()).is_le() && compare(last, of()).is_ge(),
            strategy::AT_LEAST => compare(last, of()).is_ge(),
            strategy::GREATER => compare(last, of()).is_gt(),
            // Some beginning of the query's path may be among them.
            strategy::ABOVE => {
                let dots = of().match_indices('.').map(|(at, _)| at);
                let mut above = std::iter::once(0).chain(dots).chain([of().len()]).map(|end| &of()[..end]);
                above.any(|path| compare(first, path).is_le() && compare(last, path).is_ge())
            }
            strategy::BELOW => may_be_below(first, last, of()),
            _ => {
                let has = |hash: u64| {
                    let (byte, bit) = bit(hash, self.bytes);
                    bits[byte] & bit != 0
                };
                may_match(&has, query)
            }
        };
        Match::of(found, false)
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        let all: Vec<Key<'_>> = keys.iter().map(|key| self.key(key)).collect();
        let first = all.iter().map(|key| key.first).min_by(|a, b| compare(a, b)).unwrap_or_default();
        let last = all.iter().map(|key| key.last).max_by(|a, b| compare(a, b)).unwrap_or_default();
        let mut bits = vec![0; self.bytes];
        for key in &all {
            bits.iter_mut().zip(self.signature(key)).for_each(|(all, one)| *all |= one);
        }
        inner(first, last, &bits)
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        a == b
    }

    /// How many levels are no longer common to all below it, and how many bits of the signature it would get.
    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        let (key, new) = (self.key(key), self.key(new));
        let outside = |a: &str, b: &str, beyond: bool| {
            if !beyond {
                return 0.0;
            }
            1.0 / (1 + labels(a).zip(labels(b)).take_while(|(a, b)| a == b).count()) as f32
        };
        let before = outside(new.first, key.first, compare(new.first, key.first).is_lt());
        let behind = outside(new.last, key.last, compare(new.last, key.last).is_gt());
        let pairs = self.signature(&key).into_iter().zip(self.signature(&new));
        let bits: u32 = pairs.map(|(key, new)| (new & !key).count_ones()).sum();
        before + behind + bits as f32 / 1024.0
    }

    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        let all: Vec<Key<'_>> = keys.iter().map(|key| self.key(key)).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&all[*a], &all[*b]);
            compare(a.first, b.first).then_with(|| compare(a.last, b.last))
        });
        let mut sides = vec![false; all.len()];
        order[all.len() / 2..].iter().for_each(|at| sides[*at] = true);
        sides
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        compare(self.key(a).first, self.key(b).first)
    }
}
