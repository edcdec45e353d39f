//! SP-GiST over texts: `text_ops`, a radix tree. An inner tuple's prefix is what all texts below it go on with; the label of a node is the byte behind it, or [`END`]. What remains of a text below a node
//! is what follows. A part of the space is the beginning that its texts share.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use collation::Rules;
use tuple::space::{Branch, Choice, Division, LeafMatcher, Space, SpaceClass};
use tuple::tree::{Match, TreeQuery};
use tuple::{Bytes, Datum};

use crate::comparator::{Comparator, Order};
use crate::oids;

/// The label of texts that have nothing behind the prefix.
const END: i16 = -1;
/// The longest prefix: an inner tuple with all nodes has it on a page.
const LONGEST: usize = 3964;

/// Strategy numbers.
mod strategy {
    pub const PATTERN_LESS: u16 = 1;
    pub const PATTERN_AT_MOST: u16 = 2;
    pub const EQUAL: u16 = 3;
    pub const PATTERN_AT_LEAST: u16 = 4;
    pub const PATTERN_GREATER: u16 = 5;
    pub const LESS: u16 = 11;
    pub const AT_MOST: u16 = 12;
    pub const AT_LEAST: u16 = 14;
    pub const GREATER: u16 = 15;
    pub const BEGINS_WITH: u16 = 28;
}

/// The class, under the rules of a collation.
#[derive(Debug)]
struct Radix {
    /// Order of the collation, where that of the bytes is another.
    order: Option<Order>,
    /// Texts with other bytes may be equal.
    equal_by_order: bool,
}

/// `text_ops` under these rules. One is made for each, and stays, as the rules do.
pub(crate) fn class_of(rules: &'static Rules) -> Option<&'static dyn SpaceClass> {
    static MADE: Mutex<BTreeMap<u32, &'static Radix>> = Mutex::new(BTreeMap::new());
    let order = if rules.is_bytewise() { None } else { Some(Comparator::of(oids::text, rules).order?) };
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let class = made
        .entry(rules.number())
        .or_insert_with(|| Box::leak(Box::new(Radix { order, equal_by_order: !rules.is_deterministic() })));
    Some(*class)
}

fn bytes_of(text: &Datum) -> &[u8] {
    match text {
        Datum::Bytes(bytes) => bytes,
        _ => &[],
    }
}

fn text(bytes: &[u8]) -> Datum {
    Datum::Bytes(Bytes::new(bytes))
}

fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Label and rest of what is behind a prefix.
fn behind(text: &[u8]) -> (i16, &[u8]) {
    text.split_first().map_or((END, &[]), |(first, rest)| (i16::from(*first), rest))
}

/// Order of a text that is in two parts.
fn compare_parts(first: &[u8], rest: &[u8], value: &[u8]) -> Ordering {
    let (head, tail) = value.split_at(first.len().min(value.len()));
    first.cmp(head).then_with(|| rest.cmp(tail))
}

/// Whether a text that is in two parts begins with another.
fn parts_begin_with(first: &[u8], rest: &[u8], prefix: &[u8]) -> bool {
    match prefix.strip_prefix(first) {
        Some(behind) => rest.starts_with(behind),
        None => first.starts_with(prefix),
    }
}

fn satisfied(order: Ordering, number: u16) -> bool {
    match number {
        strategy::PATTERN_LESS | strategy::LESS => order.is_lt(),
        strategy::PATTERN_AT_MOST | strategy::AT_MOST => order.is_le(),
        strategy::EQUAL => order.is_eq(),
        strategy::PATTERN_AT_LEAST | strategy::AT_LEAST => order.is_ge(),
        strategy::PATTERN_GREATER | strategy::GREATER => order.is_gt(),
        _ => false,
    }
}

impl Radix {
    /// The order that an operator goes by, unless that is the order of the bytes.
    fn order_of(&self, number: u16) -> Option<Order> {
        let by_collation = match number {
            strategy::EQUAL => self.equal_by_order,
            strategy::LESS | strategy::AT_MOST | strategy::AT_LEAST | strategy::GREATER => true,
            _ => false,
        };
        self.order.filter(|_| by_collation)
    }
}

impl SpaceClass for Radix {
    fn choose(&self, branch: Branch<'_>, leaf: &Datum) -> Choice {
        let (prefix, leaf) = (branch.prefix, bytes_of(leaf));
        let common = shared(prefix, leaf);
        if common < prefix.len() {
            return Choice::Above {
                prefix: prefix[..common].to_vec(),
                label: i16::from(prefix[common]),
                rest: prefix[common + 1..].to_vec(),
            };
        }
        let (label, rest) = behind(&leaf[common..]);
        let labels = (0..branch.nodes.len()).map(|node| branch.label(node));
        let at = labels.clone().take_while(|known| *known < label).count();
        match labels.clone().nth(at) == Some(label) {
            true => Choice::Down { node: at, rest: text(rest) },
            false => Choice::Add { label, at },
        }
    }

    fn divide(&self, leaves: &[Datum]) -> Division {
        let first = leaves.first().map_or(&[][..], bytes_of);
        let common = leaves.iter().map(|leaf| shared(first, bytes_of(leaf))).min().unwrap_or(0).min(LONGEST);
        let behind: Vec<(i16, &[u8])> = leaves.iter().map(|leaf| behind(&bytes_of(leaf)[common..])).collect();
        let mut labels: Vec<i16> = behind.iter().map(|(label, _)| *label).collect();
        labels.sort_unstable();
        labels.dedup();
        Division {
            prefix: first[..common].to_vec(),
            node_of: behind.iter().map(|(label, _)| labels.partition_point(|known| known < label)).collect(),
            rest: behind.iter().map(|(_, rest)| text(rest)).collect(),
            labels,
        }
    }

    fn part(&self, branch: Branch<'_>, node: usize, space: &Space) -> Space {
        let mut part = Space::with_capacity(space.len() + branch.prefix.len() + 1);
        part.extend_from_slice(space);
        part.extend_from_slice(branch.prefix);
        part.extend(u8::try_from(branch.label(node)).ok());
        part
    }

    fn may_meet(&self, space: &Space, query: TreeQuery<'_>) -> bool {
        let number = query.strategy;
        if self.order_of(number).is_some() {
            return true;
        }
        let value = bytes_of(query.value);
        let length = space.len().min(value.len());
        let order = space[..length].cmp(&value[..length]);
        match number {
            strategy::PATTERN_LESS | strategy::PATTERN_AT_MOST | strategy::LESS | strategy::AT_MOST => {
                order.is_le()
            }
            strategy::PATTERN_GREATER
            | strategy::PATTERN_AT_LEAST
            | strategy::GREATER
            | strategy::AT_LEAST => order.is_ge(),
            strategy::EQUAL => order.is_eq() && space.len() <= value.len(),
            strategy::BEGINS_WITH => order.is_eq(),
            _ => false,
        }
    }

    fn meets(&self, space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> Match {
        let number = query.strategy;
        let (rest, wanted) = (bytes_of(leaf), bytes_of(query.value));
        if number == strategy::BEGINS_WITH {
            return Match::of(parts_begin_with(space, rest, wanted), true);
        }
        let order = match self.order_of(number) {
            Some(order) => order.compare(&self.value(space, leaf), query.value),
            None => compare_parts(space, rest, wanted),
        };
        Match::of(satisfied(order, number), true)
    }

    fn matcher<'a>(&'a self, query: TreeQuery<'a>) -> Option<LeafMatcher<'a>> {
        let (number, wanted) = (query.strategy, bytes_of(query.value));
        if number == strategy::BEGINS_WITH {
            return Some(Box::new(move |space, rest| Match::of(parts_begin_with(space, rest, wanted), true)));
        }
        let bytewise = self.order_of(number).is_none();
        bytewise.then(|| -> LeafMatcher<'a> {
            Box::new(move |space, rest| {
                Match::of(satisfied(compare_parts(space, rest, wanted), number), true)
            })
        })
    }

    fn value(&self, space: &Space, leaf: &Datum) -> Datum {
        Datum::Bytes(Bytes::from([&space[..], bytes_of(leaf)].concat()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_in_parts_compare_as_whole_ones() {
        let all: [&[u8]; 9] = [b"", b"a", b"b", b"aa", b"ab", b"ba", b"aab", b"aba", b"\xff"];
        for (first, rest) in all.iter().flat_map(|first| all.iter().map(move |rest| (first, rest))) {
            let whole = [*first, *rest].concat();
            for value in all {
                assert_eq!(
                    compare_parts(first, rest, value),
                    whole[..].cmp(value),
                    "{first:?} {rest:?} {value:?}"
                );
                assert_eq!(
                    parts_begin_with(first, rest, value),
                    whole.starts_with(value),
                    "{first:?} {rest:?} {value:?}"
                );
            }
        }
    }

    /// Who asks for many leaves at once is told the same.
    #[test]
    fn a_matcher_says_what_the_class_says() {
        let class = class_of(&collation::C).unwrap();
        let all: [&[u8]; 7] = [b"", b"a", b"b", b"ab", b"ba", b"aba", b"\xff"];
        let numbers = (1..=5).chain([11, 12, 14, 15, 28]);
        for (number, wanted) in numbers.flat_map(|number| all.map(|wanted| (number, text(wanted)))) {
            let query = TreeQuery { strategy: number, operand: base::Oid::INVALID, value: &wanted };
            let matches = class.matcher(query).unwrap();
            for (space, leaf) in all.iter().flat_map(|space| all.iter().map(move |leaf| (*space, *leaf))) {
                let expected = class.meets(&Space::from_slice(space), &text(leaf), query);
                assert_eq!(matches(space, leaf), expected, "{number} {space:?} {leaf:?} {wanted:?}");
            }
        }
    }

    /// Texts end up where their labels say, and are whole again with what leads there.
    #[test]
    fn texts_are_divided_by_what_follows_their_beginning() {
        let class = class_of(&collation::C).unwrap();
        let leaves: Vec<Datum> = ["foo", "foobar", "fooz", "foobaz"].map(|t| text(t.as_bytes())).into();
        let division = class.divide(&leaves);
        assert_eq!((&division.prefix[..], &division.labels[..]), (&b"foo"[..], &[-1, 98, 122][..]));
        assert_eq!(division.node_of, [0, 1, 2, 1]);
        assert_eq!(division.rest[1], text(b"ar"));
        let nodes: Vec<[u8; 8]> = (division.labels.iter())
            .map(|label| {
                let mut node = [0; 8];
                node[..2].copy_from_slice(&label.to_le_bytes());
                node
            })
            .collect();
        let branch = Branch { prefix: &division.prefix, nodes: &nodes };
        let space = class.part(branch, 1, &class.whole());
        assert_eq!(class.value(&space, &division.rest[1]), leaves[1]);
        assert_eq!(class.choose(branch, &leaves[3]), Choice::Down { node: 1, rest: text(b"az") });
        assert_eq!(class.choose(branch, &text(b"fooc")), Choice::Add { label: 99, at: 2 });
        let above = Choice::Above { prefix: b"f".to_vec(), label: 111, rest: b"o".to_vec() };
        assert_eq!(class.choose(branch, &text(b"fx")), above);
    }
}
