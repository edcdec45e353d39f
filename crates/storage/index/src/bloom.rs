//! The summary of a Bloom filter: whether a value may be among those that were added.
//!
//! A summary is one string of bytes. As long as the codes of the values take less room than the filter they stand there themselves, so that ranges with few
//! values have small summaries; then the filter takes their place. The first byte says which it is.

use std::sync::Arc;

use tuple::options::{ClassOption, ClassOptionKind, ClassOptions};
use tuple::summary::SummaryClass;
use tuple::tree::TreeQuery;
use tuple::{Attr, Bytes, Datum, Physical};

use crate::HashBy;

/// Rows that a page of a table may have.
const ROWS_OF_PAGE: f64 = 291.0;
/// Fewest different values that a filter is made for.
const LEAST_DISTINCT: f64 = 16.0;
/// The only strategy.
const EQUAL: u16 = 1;

const CODES: u8 = 0;
const FILTER: u8 = 1;

/// A Bloom filter of the values of a range.
#[derive(Clone, Debug)]
pub struct Bloom {
    hash: HashBy,
    bits: u32,
    probes: u32,
}

impl Bloom {
    /// What its classes take.
    pub const OPTIONS: &'static [ClassOption] = &[
        ClassOption {
            name: "n_distinct_per_range",
            kind: ClassOptionKind::Real { default: -0.1, least: -1.0, most: i32::MAX as f64 },
        },
        ClassOption {
            name: "false_positive_rate",
            kind: ClassOptionKind::Real { default: 0.01, least: 0.0001, most: 0.25 },
        },
    ];

    /// A filter of values with these codes, of ranges of so many pages.
    pub fn new(hash: HashBy, options: &ClassOptions, pages_per_range: u32) -> Bloom {
        let rows = ROWS_OF_PAGE * f64::from(pages_per_range);
        let said = options.real("n_distinct_per_range");
        let distinct = if said < 0.0 { -said * rows } else { said };
        let distinct = distinct.max(LEAST_DISTINCT).min(rows);
        let rate = options.real("false_positive_rate");
        let bits = (distinct * -rate.ln() / std::f64::consts::LN_2.powi(2)).ceil();
        let probes = (1.0 / rate).log2().round();
        Bloom { hash, bits: (bits as u32).next_multiple_of(8).max(8), probes: (probes as u32).max(1) }
    }

    fn filter_bytes(&self) -> usize {
        self.bits as usize / 8
    }

    /// The bits of a code: two hashes of it, the second as a step that grows.
    fn probes(&self, code: u32) -> impl Iterator<Item = usize> {
        let mixed = u64::from(code).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = u64::from(self.bits);
        let (mut at, mut step) = ((mixed >> 32) % bits, (mixed & 0xffff_ffff) % bits);
        (0..u64::from(self.probes)).map(move |number| {
            let bit = at as usize;
            at = (at + step) % bits;
            step = (step + number + 1) % bits;
            bit
        })
    }

    /// Sets the bits of a code; whether one was not set.
    fn set(&self, filter: &mut [u8], code: u32) -> bool {
        let mut changed = false;
        for bit in self.probes(code) {
            if let Some(byte) = filter.get_mut(bit / 8) {
                changed |= *byte & 1 << (bit % 8) == 0;
                *byte |= 1 << (bit % 8);
            }
        }
        changed
    }

    fn has(&self, summary: &[u8], code: u32) -> bool {
        match summary.split_first() {
            Some((&CODES, list)) => codes(list).any(|known| known == code),
            Some((_, filter)) => {
                self.probes(code).all(|bit| filter.get(bit / 8).is_none_or(|byte| byte & 1 << (bit % 8) != 0))
            }
            None => false,
        }
    }

    /// The filter that a list of codes makes.
    fn filter_of(&self, list: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 1 + self.filter_bytes()];
        bytes[0] = FILTER;
        codes(list).for_each(|code| _ = self.set(&mut bytes[1..], code));
        bytes
    }

    fn add_code(&self, bytes: &mut Bytes, code: u32) -> bool {
        if self.has(bytes, code) {
            return false;
        }
        if let Some((&CODES, list)) = bytes.split_first() {
            let mut new = match list.len() + 4 < self.filter_bytes() {
                true => bytes.to_vec(),
                false => self.filter_of(list),
            };
            match new[0] {
                CODES => new.extend_from_slice(&code.to_le_bytes()),
                _ => _ = self.set(&mut new[1..], code),
            }
            *bytes = new.into();
            return true;
        }
        self.change(bytes, |filter| _ = self.set(filter, code));
        true
    }

    /// Changes a filter in its place if nobody else has it.
    fn change(&self, bytes: &mut Bytes, change: impl FnOnce(&mut [u8])) {
        if let Bytes::Shared(shared) = bytes
            && let Some(own) = Arc::get_mut(shared)
        {
            return change(&mut own[1..]);
        }
        let mut new = bytes.to_vec();
        change(&mut new[1..]);
        *bytes = new.into();
    }
}

fn codes(list: &[u8]) -> impl Iterator<Item = u32> {
    list.as_chunks().0.iter().map(|code| u32::from_le_bytes(*code))
}

/// The bytes of a summary, which is made if there is none.
fn bytes_of(summary: &mut Option<Vec<Datum>>) -> Option<&mut Bytes> {
    let values = summary.get_or_insert_with(|| vec![Datum::Bytes(Bytes::new(&[CODES]))]);
    match values.first_mut() {
        Some(Datum::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

impl SummaryClass for Bloom {
    fn attrs(&self) -> Vec<Attr> {
        vec![Attr { physical: Physical::Varlena, align: 4, storage: b'p', compression: None }]
    }

    fn add(&self, summary: &mut Option<Vec<Datum>>, value: &Datum) -> bool {
        let code = self.hash.code(value);
        bytes_of(summary).is_some_and(|bytes| self.add_code(bytes, code))
    }

    fn union(&self, summary: &mut Option<Vec<Datum>>, other: &[Datum]) {
        let (Some(bytes), Some(Datum::Bytes(other))) = (bytes_of(summary), other.first()) else { return };
        match other.split_first() {
            Some((&CODES, list)) => codes(list).for_each(|code| _ = self.add_code(bytes, code)),
            Some((_, filter)) => {
                if let Some((&CODES, list)) = bytes.split_first() {
                    *bytes = self.filter_of(list).into();
                }
                self.change(bytes, |own| own.iter_mut().zip(filter).for_each(|(own, more)| *own |= more));
            }
            None => {}
        }
    }

    fn consistent(&self, summary: &[Datum], query: TreeQuery<'_>) -> bool {
        match summary.first() {
            Some(Datum::Bytes(bytes)) if query.strategy == EQUAL => {
                self.has(bytes, self.hash.code(query.value))
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Oid;

    fn filter(options: &[(&str, &str)], pages: u32) -> Bloom {
        let said: Vec<(String, String)> = options.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
        let hash = |value: &Datum, _: u64| match value {
            Datum::Int4(n) => (*n as u32).wrapping_mul(0x9e37_79b1).into(),
            _ => 0,
        };
        Bloom::new(HashBy::With(hash, 0), &ClassOptions::read(Bloom::OPTIONS, &said), pages)
    }

    fn may_have(bloom: &Bloom, summary: &[Datum], value: i32) -> bool {
        let query = TreeQuery { strategy: EQUAL, operand: Oid(23), value: &Datum::Int4(value) };
        bloom.consistent(summary, query)
    }

    #[test]
    fn all_that_was_added_is_found_and_little_else() {
        let bloom = filter(&[("n_distinct_per_range", "1000")], 128);
        let mut summary = None;
        for value in 0..1000 {
            assert!(bloom.add(&mut summary, &Datum::Int4(value)) || value > 300, "{value}");
            assert!(!bloom.add(&mut summary, &Datum::Int4(value)), "twice");
        }
        let summary = summary.unwrap();
        assert!((0..1000).all(|value| may_have(&bloom, &summary, value)));
        let wrong = (1000..101_000).filter(|value| may_have(&bloom, &summary, *value)).count();
        assert!((200..3000).contains(&wrong), "about one of a hundred: {wrong}");
    }

    #[test]
    fn few_values_take_little_room() {
        let bloom = filter(&[], 128);
        let mut summary = None;
        (0..10).for_each(|value| _ = bloom.add(&mut summary, &Datum::Int4(value)));
        let Some(Datum::Bytes(bytes)) = summary.as_ref().and_then(|s| s.first()) else { panic!() };
        assert_eq!(bytes.len(), 41);
        assert!(!may_have(&bloom, summary.as_ref().unwrap(), 10));
        assert!(bloom.filter_bytes() > 4000);
    }

    #[test]
    fn a_union_has_what_either_has() {
        let bloom = filter(&[], 1);
        for (a, b) in [(3, 4), (500, 3), (3, 500), (500, 500)] {
            let (mut one, mut two) = (None, None);
            (0..a).for_each(|value| _ = bloom.add(&mut one, &Datum::Int4(value)));
            (1000..1000 + b).for_each(|value| _ = bloom.add(&mut two, &Datum::Int4(value)));
            bloom.union(&mut one, &two.unwrap());
            let both = one.unwrap();
            assert!((0..a).chain(1000..1000 + b).all(|value| may_have(&bloom, &both, value)));
        }
    }

    #[test]
    fn options_decide_on_the_size() {
        assert_eq!(filter(&[], 1).filter_bytes(), 35);
        assert!(filter(&[("false_positive_rate", "0.0001")], 1).filter_bytes() > 60);
        assert_eq!(
            filter(&[("n_distinct_per_range", "1e9")], 1).bits,
            filter(&[("n_distinct_per_range", "-1")], 1).bits
        );
    }
}
