//! GiST over ranges and multiranges: `range_ops`, `multirange_ops`. Keys are ranges: the least that has all of the row, or of the rows below. A key remembers whether there are
//! empty ranges below it, which lie within every range.

use tuple::sortable_float;
use tuple::tree::{Costs, Match, Matcher, TreeClass, TreeQuery};

use super::*;
use crate::geometry::trees::halves;

/// `range_ops`
pub(crate) static RANGES: Spans = Spans { multi: false };
/// `multirange_ops`
pub(crate) static MULTIRANGES: Spans = Spans { multi: true };

/// Strategy numbers.
pub(super) mod strategy {
    pub const BEFORE: u16 = 1;
    pub const OVER_LEFT: u16 = 2;
    pub const OVERLAPS: u16 = 3;
    pub const OVER_RIGHT: u16 = 4;
    pub const AFTER: u16 = 5;
    pub const ADJACENT: u16 = 6;
    pub const CONTAINS: u16 = 7;
    pub const WITHIN: u16 = 8;
    pub const CONTAINS_ELEMENT: u16 = 16;
    pub const EQUALS: u16 = 18;
}

/// The strategy number of a kind of comparison, by PostgreSQL's numbers of these, in classes that have the usual ones; 0 for none.
pub(crate) fn strategy_of(kind: i32) -> i16 {
    match kind {
        1 => 20,
        2 => 21,
        3 => 18,
        4 => 23,
        5 => 22,
        7 => 3,
        8 => 8,
        _ => 0,
    }
}

/// Place of a range's flags in its payload, and the flag of a key that has empty ranges below it.
const FLAGS_AT: usize = 14;
const HAS_EMPTY: u8 = 0x80;

/// A class whose keys are ranges.
#[derive(Debug)]
pub(crate) struct Spans {
    multi: bool,
}

/// A key.
struct Key {
    shape: Shape,
    span: Option<Span>,
    has_empty: bool,
}

impl Key {
    fn read(key: &Datum) -> Key {
        Key::of_bytes(<&[u8]>::from_datum(key))
    }

    fn of_bytes(bytes: &[u8]) -> Key {
        let Range { shape, span } = Range::of_bytes(bytes);
        let flags = bytes.get(FLAGS_AT).copied().unwrap_or(0);
        Key { shape, has_empty: span.is_none() || flags & HAS_EMPTY != 0, span }
    }

    fn stored(self) -> Datum {
        let mut out = Vec::with_capacity(32);
        self.shape.write(&mut out);
        write_span(&self.shape, self.span.as_ref(), &mut out);
        if self.has_empty {
            out[FLAGS_AT] |= HAS_EMPTY;
        }
        Datum::Bytes(Bytes::from(out))
    }
}

/// What a key is asked about, as one range; and whether nothing is lost by that.
pub(super) fn asked(query: TreeQuery<'_>) -> (Option<Span>, bool) {
    if query.strategy == strategy::CONTAINS_ELEMENT {
        let bound = |lower| Bound { value: Some(query.value.clone()), inclusive: true, lower };
        return (Some(Span { lower: bound(true), upper: bound(false) }), true);
    }
    if query.operand == oids::anymultirange {
        return (Multirange::from_datum(query.value).whole(), false);
    }
    (Range::from_datum(query.value).span, true)
}

fn over_left(shape: &Shape, a: &Span, b: &Span) -> bool {
    a.upper.order(shape, &b.upper).is_le()
}

fn over_right(shape: &Shape, a: &Span, b: &Span) -> bool {
    a.lower.order(shape, &b.lower).is_ge()
}

fn adjacent(shape: &Shape, a: &Span, b: &Span) -> bool {
    a.adjacent(shape, b).unwrap_or(true)
}

/// Whether a range is related to another in this way.
pub(super) fn related(number: u16, shape: &Shape, a: Option<&Span>, b: Option<&Span>) -> bool {
    let (Some(x), Some(y)) = (a, b) else {
        return match number {
            strategy::CONTAINS => b.is_none(),
            strategy::WITHIN => a.is_none(),
            strategy::EQUALS => a.is_none() && b.is_none(),
            _ => false,
        };
    };
    match number {
        strategy::BEFORE => x.before(shape, y),
        strategy::OVER_LEFT => over_left(shape, x, y),
        strategy::OVERLAPS => x.overlaps(shape, y),
        strategy::OVER_RIGHT => over_right(shape, x, y),
        strategy::AFTER => y.before(shape, x),
        strategy::ADJACENT => adjacent(shape, x, y),
        strategy::CONTAINS | strategy::CONTAINS_ELEMENT => x.contains(shape, y),
        strategy::WITHIN => y.contains(shape, x),
        strategy::EQUALS => bound::order(shape, a, b).is_eq(),
        _ => false,
    }
}

/// Whether a range below a key may be.
fn may_be_related(number: u16, key: &Key, b: Option<&Span>) -> bool {
    let shape = &key.shape;
    let empty = match number {
        strategy::CONTAINS | strategy::EQUALS => b.is_none(),
        strategy::WITHIN => true,
        _ => false,
    };
    if empty && (key.has_empty || number == strategy::CONTAINS) {
        return true;
    }
    let (Some(x), Some(y)) = (&key.span, b) else { return false };
    match number {
        strategy::BEFORE => !over_right(shape, x, y),
        strategy::OVER_LEFT => !y.before(shape, x),
        strategy::OVERLAPS | strategy::WITHIN => x.overlaps(shape, y),
        strategy::OVER_RIGHT => !x.before(shape, y),
        strategy::AFTER => !over_left(shape, x, y),
        strategy::ADJACENT => adjacent(shape, x, y) || x.overlaps(shape, y),
        strategy::CONTAINS | strategy::CONTAINS_ELEMENT | strategy::EQUALS => x.contains(shape, y),
        _ => false,
    }
}

/// A bound as a number, if its type has one.
fn number(bound: &Bound) -> Option<f64> {
    match bound.value {
        Some(Datum::Int4(v)) => Some(v.into()),
        Some(Datum::Int8(v)) => Some(v as f64),
        Some(Datum::Float8(v)) => Some(v),
        Some(Datum::Float4(v)) => Some(v.into()),
        _ => None,
    }
}

/// How far a bound would have to move: 0 if not, 1 where nobody knows.
fn moved(shape: &Shape, from: &Bound, to: &Bound) -> f32 {
    if let (Some(a), Some(b)) = (number(from), number(to))
        && (a < b || b < a)
    {
        return if (b < a) == from.lower { (a - b).abs() as f32 } else { 0.0 };
    }
    let outside = match from.lower {
        true => to.order(shape, from).is_lt(),
        false => to.order(shape, from).is_gt(),
    };
    if !outside {
        return 0.0;
    }
    match (number(from), number(to)) {
        (Some(a), Some(b)) => ((a - b).abs() as f32).max(f32::MIN_POSITIVE),
        _ if to.value.is_none() => f32::MAX,
        _ => 1.0,
    }
}

/// How much wider a key would be with another below it.
fn widened(key: &Key, new: &Key) -> f32 {
    let empty = if new.has_empty && !key.has_empty { 1.0 } else { 0.0 };
    let wider = match (&key.span, &new.span) {
        (_, None) => 0.0,
        (None, Some(_)) => f32::MAX,
        (Some(a), Some(b)) => moved(&key.shape, &a.lower, &b.lower) + moved(&key.shape, &a.upper, &b.upper),
    };
    wider + empty
}

impl Spans {
    /// Whether a key matches a value, of which nothing is lost if it is `exact`.
    fn matches(&self, key: &Key, number: u16, (value, exact): (Option<&Span>, bool), leaf: bool) -> Match {
        if leaf && exact && !self.multi {
            return Match::of(related(number, &key.shape, key.span.as_ref(), value), true);
        }
        Match::of(may_be_related(number, key, value), false)
    }
}

impl TreeClass for Spans {
    fn compress(&self, value: &Datum) -> Datum {
        if !self.multi {
            return value.clone();
        }
        let multi = Multirange::from_datum(value);
        Key { shape: multi.shape, span: multi.whole(), has_empty: false }.stored()
    }

    fn returns(&self) -> bool {
        !self.multi
    }

    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match {
        let (value, exact) = asked(query);
        self.matches(&Key::read(key), query.strategy, (value.as_ref(), exact), leaf)
    }

    fn matcher<'a>(&'a self, query: TreeQuery<'a>) -> Option<Matcher<'a>> {
        let (value, exact) = asked(query);
        let number = query.strategy;
        Some(Box::new(move |key, leaf| {
            self.matches(&Key::of_bytes(key), number, (value.as_ref(), exact), leaf)
        }))
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        let mut keys = keys.iter().map(|key| Key::read(key));
        let Some(mut all) = keys.next() else { return Datum::Null };
        for key in keys {
            all.has_empty |= key.has_empty;
            all.span = match (all.span, key.span) {
                (Some(a), Some(b)) => Some(a.merged(&all.shape, &b)),
                (a, b) => a.or(b),
            };
        }
        all.stored()
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        let (a, b) = (Key::read(a), Key::read(b));
        a.has_empty == b.has_empty && bound::order(&a.shape, a.span.as_ref(), b.span.as_ref()).is_eq()
    }

    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        widened(&Key::read(key), &Key::read(new))
    }

    fn costs<'a>(&'a self, new: &'a Datum) -> Option<Costs<'a>> {
        let new = Key::read(new);
        Some(Box::new(move |key| widened(&Key::of_bytes(key), &new)))
    }

    fn penalties<'a>(&'a self, new: &'a Datum) -> Box<dyn Fn(&Datum) -> f32 + 'a> {
        let new = Key::read(new);
        Box::new(move |key| widened(&Key::read(key), &new))
    }

    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        let keys: Vec<Key> = keys.iter().map(|key| Key::read(key)).collect();
        halves(keys.len(), |a, b| bound::order(&keys[a].shape, keys[a].span.as_ref(), keys[b].span.as_ref()))
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        compare(a, b)
    }

    /// By the lower bound: the empty range comes first, then those without one.
    fn place(&self, key: &Datum) -> u64 {
        let Some(span) = Key::read(key).span else { return 0 };
        match (&span.lower.value, number(&span.lower)) {
            (None, _) => 1,
            (Some(_), None) => 2,
            (Some(_), Some(bound)) => (sortable_float(bound) >> 2) + 2,
        }
    }
}
