//! Classes whose keys are two values, the least and the greatest of those below; in a leaf both are the row's.
//!
//! Bytes of a key of a type of fixed length: the two in memory's order of bytes. Of another: the length of the first in 4 bytes, the two.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use collation::Rules;
use parking_lot::Mutex;
use tuple::tree::{Match, TreeClass, TreeQuery};
use tuple::{Datum, Physical};
use types::comparator::Order;
use types::numeric::Numeric;
use types::oids;
use types::value::FromDatum;

use crate::ordered::{Comparing, order_under, put, take, width};

/// Strategy numbers.
mod strategy {
    pub const LESS: u16 = 1;
    pub const AT_MOST: u16 = 2;
    pub const EQUAL: u16 = 3;
    pub const AT_LEAST: u16 = 4;
    pub const GREATER: u16 = 5;
    pub const NOT_EQUAL: u16 = 6;
}

/// A class.
pub(super) struct Between {
    order: Comparing,
    physical: Physical,
    /// About where a value lies: of two, that of the greater is not less.
    place: fn(&Datum) -> f64,
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "two values that are {:?}", self.physical)
    }
}

fn integer(value: &Datum) -> f64 {
    types::compare::widen(value) as f64
}

/// The first bytes as a number.
fn head(value: &Datum) -> f64 {
    let mut bytes = [0u8; 8];
    let of = <&[u8]>::from_datum(value);
    let length = of.len().min(8);
    bytes[..length].copy_from_slice(&of[..length]);
    u64::from_be_bytes(bytes) as f64
}

const fn plain(ty: base::Oid, physical: Physical, place: fn(&Datum) -> f64) -> Between {
    Between { order: Comparing::As(ty), physical, place }
}

/// Classes of collated types, one for each type and rules. They stay, as the rules do.
fn collated(ty: base::Oid, rules: &'static Rules) -> &'static dyn TreeClass {
    static MADE: Mutex<BTreeMap<(u32, u32), &'static Between>> = Mutex::new(BTreeMap::new());
    let make = || {
        let order = order_under(ty, rules);
        // Bytes say nothing of the order by rules.
        let place: fn(&Datum) -> f64 = if matches!(order, Order::Plain(_)) { head } else { |_| 0.0 };
        &*Box::leak(Box::new(Between { order: Comparing::By(order), physical: Physical::Varlena, place }))
    };
    *MADE.lock().entry((ty.0, rules.number())).or_insert_with(make)
}

impl Between {
    pub(super) const OID: Between = plain(oids::oid, Physical::Oid, integer);
    pub(super) const INT2: Between = plain(oids::int2, Physical::Int2, integer);
    pub(super) const INT4: Between = plain(oids::int4, Physical::Int4, integer);
    pub(super) const INT8: Between = plain(oids::int8, Physical::Int8, integer);
    pub(super) const FLOAT4: Between = plain(oids::float4, Physical::Float4, types::compare::double);
    pub(super) const FLOAT8: Between = plain(oids::float8, Physical::Float8, types::compare::double);
    pub(super) const TIMESTAMP: Between = plain(oids::timestamp, Physical::Int8, integer);
    pub(super) const TIMETZ: Between = plain(oids::timetz, Physical::Varlena, |_| 0.0);
    pub(super) const DATE: Between = plain(oids::date, Physical::Int4, integer);
    pub(super) const INTERVAL: Between = plain(oids::interval, Physical::Fixed(16), types::place::interval);
    pub(super) const MONEY: Between = plain(oids::money, Physical::Int8, integer);
    pub(super) const MACADDR: Between = plain(oids::macaddr, Physical::Fixed(6), head);
    pub(super) const MACADDR8: Between = plain(oids::macaddr8, Physical::Fixed(8), head);
    pub(super) const BYTEA: Between = plain(oids::bytea, Physical::Varlena, head);
    pub(super) const NUMERIC: Between =
        plain(oids::numeric, Physical::Varlena, |value| Numeric::from_datum(value).to_f64());
    pub(super) const BITS: Between = plain(oids::varbit, Physical::Varlena, |_| 0.0);
    pub(super) const INET: Between = plain(oids::inet, Physical::Varlena, |_| 0.0);
    pub(super) const UUID: Between = plain(oids::uuid, Physical::Fixed(16), head);
    pub(super) const ENUM: Between = plain(oids::anyenum, Physical::Int8, |_| 0.0);
    pub(super) const BOOL: Between = plain(oids::bool, Physical::Bool, integer);

    /// Of texts, under the rules of a collation.
    pub(super) fn texts(rules: &'static Rules) -> &'static dyn TreeClass {
        collated(oids::text, rules)
    }

    /// Of texts whose trailing blanks do not count.
    pub(super) fn padded_texts(rules: &'static Rules) -> &'static dyn TreeClass {
        collated(oids::bpchar, rules)
    }

    fn compare(&self, a: &Datum, b: &Datum) -> Ordering {
        self.order.compare(a, b)
    }

    fn key(&self, least: &Datum, greatest: &Datum) -> Datum {
        let mut bytes = Vec::new();
        if let (Physical::Varlena, Datum::Bytes(least)) = (self.physical, least) {
            bytes.extend_from_slice(&(least.len() as u32).to_le_bytes());
        }
        put(least, &mut bytes);
        put(greatest, &mut bytes);
        // The shortest keys are a power of two.
        if bytes.len() == 12 && self.physical == Physical::Fixed(6) {
            bytes.resize(16, 0);
        }
        Datum::Bytes(bytes.into())
    }

    fn ends(&self, key: &Datum) -> [Datum; 2] {
        let bytes = <&[u8]>::from_datum(key);
        let (bytes, length) = match (self.physical, bytes.first_chunk::<4>()) {
            (Physical::Varlena, Some(length)) => (&bytes[4..], u32::from_le_bytes(*length) as usize),
            (Physical::Varlena, None) => (bytes, 0),
            (physical, _) => (bytes, width(physical)),
        };
        let (first, second) = bytes.split_at(length.min(bytes.len()));
        let second =
            if self.physical == Physical::Varlena { second } else { &second[..length.min(second.len())] };
        [first, second].map(|end| take(self.physical, end))
    }
}

impl TreeClass for Between {
    fn compress(&self, value: &Datum) -> Datum {
        self.key(value, value)
    }

    fn fetch(&self, key: &Datum) -> Datum {
        let [value, _] = self.ends(key);
        value
    }

    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match {
        let [least, greatest] = self.ends(key);
        let (low, high) = (self.compare(&least, query.value), self.compare(&greatest, query.value));
        Match::of(
            match query.strategy {
                strategy::LESS => low.is_lt(),
                strategy::AT_MOST => low.is_le(),
                strategy::EQUAL => low.is_le() && high.is_ge(),
                strategy::AT_LEAST => high.is_ge(),
                strategy::GREATER => high.is_gt(),
                strategy::NOT_EQUAL => low.is_ne() || high.is_ne(),
                _ => true,
            },
            leaf,
        )
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        let both = |[a, b]: [Datum; 2], [c, d]: [Datum; 2]| {
            [
                if self.compare(&c, &a).is_lt() { c } else { a },
                if self.compare(&d, &b).is_gt() { d } else { b },
            ]
        };
        let all = keys.iter().map(|key| self.ends(key)).reduce(both);
        all.map_or(Datum::Null, |[least, greatest]| self.key(&least, &greatest))
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        let (a, b) = (self.ends(a), self.ends(b));
        a.iter().zip(&b).all(|(a, b)| self.compare(a, b).is_eq())
    }

    /// By how much the span would grow, as a share of what it would be.
    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        let ([least, greatest], [low, high]) = (self.ends(key), self.ends(new));
        let (below, above) = (self.compare(&low, &least).is_lt(), self.compare(&high, &greatest).is_gt());
        if !below && !above {
            return 0.0;
        }
        let place = self.place;
        let (from, to) =
            (place(if below { &low } else { &least }), place(if above { &high } else { &greatest }));
        let grown = (to - from) - (place(&greatest) - place(&least));
        let share = (grown / (to - from)) as f32;
        // Extending the range has a cost, even if it cannot be computed.
        if share.is_finite() { share.max(f32::MIN_POSITIVE) } else { 1.0 }
    }

    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        let ends: Vec<[Datum; 2]> = keys.iter().map(|key| self.ends(key)).collect();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| {
            self.compare(&ends[*a][0], &ends[*b][0]).then_with(|| self.compare(&ends[*a][1], &ends[*b][1]))
        });
        let mut sides = vec![false; keys.len()];
        order[keys.len() / 2..].iter().for_each(|at| sides[*at] = true);
        sides
    }

    fn distance(&self, key: &Datum, query: TreeQuery<'_>, _leaf: bool) -> (f64, bool) {
        let [least, greatest] = self.ends(key);
        let (from, to, at) = ((self.place)(&least), (self.place)(&greatest), (self.place)(query.value));
        ((from - at).max(at - to).max(0.0), true)
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        let (a, b) = (self.ends(a), self.ends(b));
        self.compare(&a[0], &b[0]).then_with(|| self.compare(&a[1], &b[1]))
    }
}
