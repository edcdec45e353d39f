//! GiST over sets of integers: `gist__int_ops`, whose keys are ranges of numbers.
//!
//! A key has at most as many ranges as `numranges` says, in order and apart from each other, each as its first and its last number in 4 bytes. Where there are more, those that are closest
//! become one, so that a key may seem to have numbers that no set has. A row is asked again.

use std::cmp::Ordering;

use tuple::Datum;
use tuple::options::{ClassOption, ClassOptionKind, ClassOptions};
use tuple::tree::{Match, TreeClass, TreeQuery};
use types::made::Made;
use types::signature::halves;
use types::value::FromDatum;

use super::tree::{each, may_match};

const NUMBER: &str = "numranges";
const OPTIONS: &[ClassOption] = &[ClassOption {
    name: NUMBER,
    kind: ClassOptionKind::Int { default: 100, least: 1, most: 252, step: 1 },
}];

/// First and last number.
type Range = (i32, i32);

/// `gist__int_ops`
#[derive(Debug)]
pub(super) struct Ranges {
    /// The most ranges of a key.
    most: usize,
}

pub(super) static RANGES: Ranges = Ranges { most: 100 };

fn ranges(key: &Datum) -> Vec<Range> {
    let number = |bytes: &[u8]| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    <&[u8]>::from_datum(key).chunks_exact(8).map(|pair| (number(pair), number(&pair[4..]))).collect()
}

/// Makes one of ranges that meet.
fn join(mut all: Vec<Range>) -> Vec<Range> {
    all.sort_unstable();
    let mut out: Vec<Range> = Vec::with_capacity(all.len());
    for (first, last) in all {
        match out.last_mut() {
            Some(before) if i64::from(first) <= i64::from(before.1) + 1 => before.1 = before.1.max(last),
            _ => out.push((first, last)),
        }
    }
    out
}

/// How many numbers are in ranges.
fn count(ranges: &[Range]) -> i64 {
    ranges.iter().map(|(first, last)| i64::from(*last) - i64::from(*first) + 1).sum()
}

fn both(a: &[Range], b: &[Range]) -> Vec<Range> {
    join([a, b].concat())
}

impl Ranges {
    fn key(&self, all: Vec<Range>) -> Datum {
        let mut all = join(all);
        if all.len() > self.most {
            let gap = |at: usize| i64::from(all[at].0) - i64::from(all[at - 1].1);
            let mut gaps: Vec<usize> = (1..all.len()).collect();
            gaps.sort_by_key(|at| gap(*at));
            gaps[..all.len() - self.most].iter().for_each(|at| {
                // Ranges that touch are joined below.
                all[*at].0 = all[*at - 1].1;
            });
            all = join(all);
        }
        let bytes: Vec<u8> = all
            .iter()
            .flat_map(|(first, last)| [first.to_le_bytes(), last.to_le_bytes()])
            .flatten()
            .collect();
        Datum::Bytes(bytes.into())
    }
}

impl TreeClass for Ranges {
    fn options(&self) -> &'static [ClassOption] {
        OPTIONS
    }

    fn with_options(&self, options: &ClassOptions) -> Option<&'static dyn TreeClass> {
        static MADE: Made<usize, Ranges> = Made::new();
        let most = usize::try_from(options.int(NUMBER)).unwrap_or_default().max(1);
        Some(MADE.get(most, || Ranges { most }))
    }

    fn compress(&self, value: &Datum) -> Datum {
        self.key(each(value).into_iter().map(|number| (number, number)).collect())
    }

    fn returns(&self) -> bool {
        false
    }

    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, _leaf: bool) -> Match {
        let all = ranges(key);
        let has = |number: i32| {
            let at = all.partition_point(|(_, last)| *last < number);
            all.get(at).is_some_and(|(first, _)| *first <= number)
        };
        Match::of(may_match(&has, query), false)
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        self.key(keys.iter().flat_map(|key| ranges(key)).collect())
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        a == b
    }

    /// How many numbers it would get.
    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        let key = ranges(key);
        (count(&both(&key, &ranges(new))) - count(&key)) as f32
    }

    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        let all: Vec<(Vec<Range>, i64)> = keys
            .iter()
            .map(|key| {
                let ranges = ranges(key);
                let count = count(&ranges);
                (ranges, count)
            })
            .collect();
        halves(keys.len(), |a, b| {
            let (a, b) = (&all[a], &all[b]);
            // Numbers that are in one of them only.
            u32::try_from(2 * count(&both(&a.0, &b.0)) - a.1 - b.1).unwrap_or(u32::MAX)
        })
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        ranges(a).cmp(&ranges(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(most: usize, numbers: &[i32]) -> Vec<Range> {
        ranges(&Ranges { most }.key(numbers.iter().map(|n| (*n, *n)).collect()))
    }

    #[test]
    fn the_closest_become_one() {
        assert_eq!(of(9, &[5, 1, 2, 9, 2]), [(1, 2), (5, 5), (9, 9)]);
        assert_eq!(of(2, &[1, 20, 2, 5, 30]), [(1, 5), (20, 30)]);
        assert_eq!(of(1, &[i32::MIN, 0, i32::MAX]), [(i32::MIN, i32::MAX)]);
        assert_eq!(of(3, &[]), []);
    }

    #[test]
    fn keys_above_have_what_those_below_have() {
        let class = Ranges { most: 2 };
        let keys = [&[1, 50][..], &[7, 8, 100], &[-4]]
            .map(|numbers| class.key(numbers.iter().map(|n| (*n, *n)).collect()));
        let above = class.union(&keys.iter().collect::<Vec<_>>());
        assert_eq!(ranges(&above), [(-4, 50), (100, 100)]);
        for key in &keys {
            assert!(class.penalty(&above, key) == 0.0 && class.penalty(key, &above) > 0.0);
        }
    }
}
