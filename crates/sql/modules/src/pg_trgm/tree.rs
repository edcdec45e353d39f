//! GiST over texts: `gist_trgm_ops`. A key in a leaf is the text's trigrams, each in 3 bytes, in order. A key above, and one in a leaf whose text has more than [`MOST`] of them,
//! is a signature, of which each trigram sets one bit. The first byte says which of the two it is.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use collation::Rules;
use tuple::Datum;
use tuple::options::{ClassOption, ClassOptions};
use tuple::tree::{Match, TreeClass, TreeQuery};
use types::value::FromDatum;

use super::query::{Query, share_of, strategy};
use super::similarity_of;
use super::trigram::{Trigram, kinds};
use types::made::Made;
use types::signature::{distance_of, halves, length, length_option};

/// Bytes of a signature, unless an index says otherwise.
const BYTES: usize = 12;
/// Trigrams that a key in a leaf holds at most.
const MOST: usize = 600;

/// First bytes of keys.
const LIST: u8 = 1;
const SIGNATURE: u8 = 2;

/// The class.
#[derive(Debug)]
struct Trigrams {
    /// Texts that are equal have the same characters.
    exact: bool,
    /// Bytes of a signature.
    bytes: usize,
}

/// The class under the rules of a collation.
pub(super) fn class(rules: &'static Rules) -> &'static dyn TreeClass {
    match rules.is_deterministic() {
        true => &Trigrams { exact: true, bytes: BYTES },
        false => &Trigrams { exact: false, bytes: BYTES },
    }
}

/// What a key says.
enum Key<'a> {
    List(&'a [[u8; 3]]),
    Signature(&'a [u8]),
}

impl<'a> Key<'a> {
    fn of(key: &'a Datum) -> Key<'a> {
        match <&[u8]>::from_datum(key) {
            [LIST, rest @ ..] => Key::List(rest.as_chunks().0),
            [_, rest @ ..] => Key::Signature(rest),
            [] => Key::List(&[]),
        }
    }

    fn has(&self, trigram: Trigram) -> bool {
        match self {
            Key::List(list) => list.binary_search_by_key(&trigram, |bytes| Trigram::of(*bytes)).is_ok(),
            Key::Signature(bits) => {
                let (byte, bit) = bit(trigram, bits.len());
                bits.get(byte).is_none_or(|found| found & bit != 0)
            }
        }
    }

    fn signature(&self, bytes: usize) -> Vec<u8> {
        let mut bits = vec![0; bytes];
        match self {
            Key::List(list) => list.iter().for_each(|bytes| set(&mut bits, Trigram::of(*bytes))),
            Key::Signature(of) => bits.iter_mut().zip(*of).for_each(|(bits, of)| *bits = *of),
        }
        bits
    }

    /// How many of these it has, or may have.
    fn count(&self, of: &[Trigram]) -> usize {
        of.iter().filter(|trigram| self.has(**trigram)).count()
    }
}

fn bit(trigram: Trigram, bytes: usize) -> (usize, u8) {
    let [a, b, c] = trigram.bytes();
    let bit = u32::from_le_bytes([a, b, c, 0]) as usize % (8 * bytes.max(1));
    (bit / 8, 1 << (bit % 8))
}

fn set(bits: &mut [u8], trigram: Trigram) {
    let (byte, bit) = bit(trigram, bits.len());
    bits[byte] |= bit;
}

fn stored(kind: u8, rest: impl IntoIterator<Item = u8>) -> Datum {
    let bytes: Vec<u8> = std::iter::once(kind).chain(rest).collect();
    Datum::Bytes(bytes.into())
}

/// The condition, taken apart once for all keys that it is asked about. None: it is no proper one, which the row is to say.
fn taken_apart(query: TreeQuery<'_>, exact: bool) -> Option<Rc<Query>> {
    type Last = (u16, bool, [f32; 3], Vec<u8>, Option<Rc<Query>>);
    thread_local! {
        static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
    }
    let (text, limits) = (<&[u8]>::from_datum(query.value), types::text::alike());
    LAST.with_borrow_mut(|last| {
        if let Some((strategy, rules, known, of, made)) = last
            && (*strategy, *rules, *known) == (query.strategy, exact, limits)
            && of == text
        {
            return made.clone();
        }
        let made = Query::of(query, exact).ok().map(Rc::new);
        *last = Some((query.strategy, exact, limits, text.to_vec(), made.clone()));
        made
    })
}

impl TreeClass for Trigrams {
    fn options(&self) -> &'static [ClassOption] {
        const OPTIONS: &[ClassOption] = &[length_option(BYTES as i64)];
        OPTIONS
    }

    fn with_options(&self, options: &ClassOptions) -> Option<&'static dyn TreeClass> {
        static MADE: Made<(bool, usize), Trigrams> = Made::new();
        let (exact, bytes) = (self.exact, length(options));
        Some(MADE.get((exact, bytes), || Trigrams { exact, bytes }))
    }

    fn compress(&self, value: &Datum) -> Datum {
        let all = kinds(<&str>::from_datum(value)).unwrap_or_default();
        if all.len() <= MOST {
            return stored(LIST, all.into_iter().flat_map(Trigram::bytes));
        }
        let mut bits = vec![0; self.bytes];
        all.into_iter().for_each(|trigram| set(&mut bits, trigram));
        stored(SIGNATURE, bits)
    }

    fn returns(&self) -> bool {
        false
    }

    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match {
        let Some(apart) = taken_apart(query, self.exact) else { return Match::Maybe };
        let key = Key::of(key);
        match key {
            Key::List(list) if leaf && query.strategy == strategy::SIMILAR => {
                let list: Vec<Trigram> = list.iter().map(|bytes| Trigram::of(*bytes)).collect();
                let limit = types::text::alike()[super::LIMIT];
                Match::of(similarity_of(&list, &apart.trigrams) >= limit, true)
            }
            _ => apart.satisfied(|n| Match::of(key.has(apart.trigrams[n]), true)),
        }
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        let mut all = vec![0; self.bytes];
        for key in keys {
            all.iter_mut().zip(Key::of(key).signature(self.bytes)).for_each(|(all, one)| *all |= one);
        }
        stored(SIGNATURE, all)
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        a == b
    }

    /// How many bits it would get.
    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        let (key, new) = (Key::of(key).signature(self.bytes), Key::of(new).signature(self.bytes));
        key.iter().zip(new).map(|(key, new)| (new & !key).count_ones() as f32).sum()
    }

    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        let all: Vec<Vec<u8>> = keys.iter().map(|key| Key::of(key).signature(self.bytes)).collect();
        halves(all.len(), |a, b| distance_of(&all[a], &all[b]))
    }

    fn distance(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> (f64, bool) {
        let Some(apart) = taken_apart(query, self.exact) else { return (f64::NEG_INFINITY, true) };
        let key = Key::of(key);
        let (similarity, inexact) = match key {
            Key::List(list) if leaf && query.strategy == strategy::DISTANCE => {
                let list: Vec<Trigram> = list.iter().map(|bytes| Trigram::of(*bytes)).collect();
                (similarity_of(&list, &apart.trigrams), false)
            }
            _ => (share_of(key.count(&apart.trigrams), apart.trigrams.len()), true),
        };
        // As the operator rounds it.
        (f64::from((1.0 - f64::from(similarity)) as f32), inexact)
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        Key::of(a).signature(self.bytes).cmp(&Key::of(b).signature(self.bytes))
    }
}
