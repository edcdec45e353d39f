//! Operator classes of GiST whose keys are signatures: strings of bits, of which each element of a value sets one. A row is asked again.

use std::cmp::Ordering;
use std::fmt;

use tuple::Datum;
use tuple::options::{ClassOption, ClassOptionKind, ClassOptions};
use tuple::tree::{Match, TreeClass, TreeQuery};

use crate::made::Made;
use crate::value::FromDatum;

/// A class of signatures.
pub struct Signatures {
    /// Bytes of a signature.
    pub bytes: usize,
    /// The option of their number, if indexes may choose it.
    pub options: &'static [ClassOption],
    /// Tells the hashes of a value's elements.
    pub elements: fn(&Datum, &mut dyn FnMut(u64)),
    /// Whether a row whose value may have just the elements of these hashes may satisfy a query.
    pub may_match: fn(&dyn Fn(u64) -> bool, TreeQuery<'_>) -> bool,
}

impl fmt::Debug for Signatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signatures of {} bytes", self.bytes)
    }
}

/// The name of the option that says how many bytes signatures have.
const LENGTH: &str = "siglen";

/// The option of a class whose signatures have so many bytes unless an index says otherwise.
pub const fn length_option(default: i64) -> ClassOption {
    ClassOption { name: LENGTH, kind: ClassOptionKind::Int { default, least: 1, most: 2024, step: 1 } }
}

/// As [`length_option`], of a class whose signatures are made of words of 4 bytes.
pub const fn words_option(default: i64) -> ClassOption {
    ClassOption { name: LENGTH, kind: ClassOptionKind::Int { default, least: 4, most: 2024, step: 4 } }
}

/// Bytes of a signature, as options say.
pub fn length(options: &ClassOptions) -> usize {
    usize::try_from(options.int(LENGTH)).unwrap_or_default().max(1)
}

/// Hash of an element. Trees on disk are made of it.
pub fn hash(bytes: &[u8]) -> u64 {
    crate::hashing::hash_bytes(bytes, 0)
}

impl Signatures {
    fn bit(&self, hash: u64) -> (usize, u8) {
        let bit = (hash % (8 * self.bytes as u64)) as usize;
        (bit / 8, 1 << (bit % 8))
    }
}

fn bits(key: &Datum) -> &[u8] {
    <&[u8]>::from_datum(key)
}

/// Number of bits that differ.
fn distance(a: &Datum, b: &Datum) -> u32 {
    distance_of(bits(a), bits(b))
}

/// Number of bits that differ.
pub fn distance_of(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Distributes `count` keys, two at least, to two pages, by the distances between them: two that are far apart each get those that are closer to them, down to a third of all.
pub fn halves(count: usize, distance: impl Fn(usize, usize) -> u32) -> Vec<bool> {
    let farthest = |from: usize| (0..count).max_by_key(|at| distance(from, *at)).unwrap_or(0);
    let left = farthest(0);
    let right = farthest(left);
    let lean = |at: usize| i64::from(distance(at, left)) - i64::from(distance(at, right));
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| lean(*at));
    let least = (count / 3).max(1);
    let wanted = order.iter().filter(|at| lean(**at) <= 0).count();
    let cut = wanted.clamp(least, count - least);
    let mut sides = vec![false; count];
    order[cut..].iter().for_each(|at| sides[*at] = true);
    sides
}

impl TreeClass for Signatures {
    fn options(&self) -> &'static [ClassOption] {
        self.options
    }

    fn with_options(&self, options: &ClassOptions) -> Option<&'static dyn TreeClass> {
        static MADE: Made<(usize, usize), Signatures> = Made::new();
        if self.options.is_empty() {
            return None;
        }
        let Signatures { elements, may_match, options: known, .. } = *self;
        let bytes = length(options);
        // What a class does is told by the function that takes values apart.
        let key = (elements as usize, bytes);
        Some(MADE.get(key, || Signatures { bytes, options: known, elements, may_match }))
    }

    fn compress(&self, value: &Datum) -> Datum {
        let mut signature = vec![0u8; self.bytes];
        (self.elements)(value, &mut |hash| {
            let (byte, bit) = self.bit(hash);
            signature[byte] |= bit;
        });
        Datum::Bytes(signature.into())
    }

    fn returns(&self) -> bool {
        false
    }

    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, _leaf: bool) -> Match {
        let signature = bits(key);
        let has = |hash| {
            let (byte, bit) = self.bit(hash);
            signature.get(byte).is_none_or(|found| found & bit != 0)
        };
        Match::of((self.may_match)(&has, query), false)
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        let mut all = vec![0u8; self.bytes];
        for key in keys {
            all.iter_mut().zip(bits(key)).for_each(|(all, one)| *all |= one);
        }
        Datum::Bytes(all.into())
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        a == b
    }

    /// How many bits it would get.
    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        bits(key).iter().zip(bits(new)).map(|(key, new)| (new & !key).count_ones() as f32).sum()
    }

    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        halves(keys.len(), |a, b| distance(keys[a], keys[b]))
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        bits(a).cmp(bits(b))
    }
}
