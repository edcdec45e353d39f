//! Classes whose rows have one part each: the value. A part's first byte is 1; a part of nothing but 0 stands before all of them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use base::{Oid, SqlError};
use collation::Rules;
use parking_lot::Mutex;
use tuple::parts::{InRange, Part, PartsClass, PartsQuery, Sought};
use tuple::tree::{Match, TreeQuery};
use tuple::{Datum, Physical};
use types::oids;

use crate::ordered::{Comparing, order_under, put, take};

/// Strategy numbers.
mod strategy {
    pub const LESS: u16 = 1;
    pub const AT_MOST: u16 = 2;
    pub const EQUAL: u16 = 3;
    pub const AT_LEAST: u16 = 4;
    pub const GREATER: u16 = 5;
}

/// The part before all others.
const FIRST: [u8; 1] = [0];

/// A class.
#[derive(Clone, Copy)]
pub(super) struct Ordered {
    order: Comparing,
    physical: Physical,
    /// Values that are equal have equal bytes.
    image: bool,
}

impl fmt::Debug for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value that is {:?}", self.physical)
    }
}

const fn plain(ty: Oid, physical: Physical, image: bool) -> Ordered {
    Ordered { order: Comparing::As(ty), physical, image }
}

/// Classes of collated types, one for each type and rules. They stay, as the rules do.
fn collated(ty: Oid, rules: &'static Rules) -> &'static dyn PartsClass {
    static MADE: Mutex<BTreeMap<(u32, u32), &'static Ordered>> = Mutex::new(BTreeMap::new());
    let make = || {
        let order = Comparing::By(order_under(ty, rules));
        &*Box::leak(Box::new(Ordered { order, physical: Physical::Varlena, image: false }))
    };
    *MADE.lock().entry((ty.0, rules.number())).or_insert_with(make)
}

impl Ordered {
    pub(super) const INT2: Ordered = plain(oids::int2, Physical::Int2, true);
    pub(super) const INT4: Ordered = plain(oids::int4, Physical::Int4, true);
    pub(super) const INT8: Ordered = plain(oids::int8, Physical::Int8, true);
    pub(super) const FLOAT4: Ordered = plain(oids::float4, Physical::Float4, false);
    pub(super) const FLOAT8: Ordered = plain(oids::float8, Physical::Float8, false);
    pub(super) const MONEY: Ordered = plain(oids::money, Physical::Int8, true);
    pub(super) const OID: Ordered = plain(oids::oid, Physical::Oid, true);
    pub(super) const TIMESTAMP: Ordered = plain(oids::timestamp, Physical::Int8, true);
    pub(super) const TIMETZ: Ordered = plain(oids::timetz, Physical::Varlena, false);
    pub(super) const DATE: Ordered = plain(oids::date, Physical::Int4, true);
    pub(super) const INTERVAL: Ordered = plain(oids::interval, Physical::Fixed(16), false);
    pub(super) const MACADDR: Ordered = plain(oids::macaddr, Physical::Fixed(6), true);
    pub(super) const MACADDR8: Ordered = plain(oids::macaddr8, Physical::Fixed(8), true);
    pub(super) const INET: Ordered = plain(oids::inet, Physical::Varlena, false);
    pub(super) const CHAR: Ordered = plain(oids::char, Physical::Char, true);
    pub(super) const BYTEA: Ordered = plain(oids::bytea, Physical::Varlena, true);
    pub(super) const BITS: Ordered = plain(oids::varbit, Physical::Varlena, false);
    pub(super) const NUMERIC: Ordered = plain(oids::numeric, Physical::Varlena, false);
    pub(super) const ENUM: Ordered = plain(oids::anyenum, Physical::Int8, true);
    pub(super) const UUID: Ordered = plain(oids::uuid, Physical::Fixed(16), true);
    pub(super) const NAME: Ordered = plain(oids::name, Physical::Name, true);
    pub(super) const BOOL: Ordered = plain(oids::bool, Physical::Bool, true);

    /// Of texts, under the rules of a collation.
    pub(super) fn texts(rules: &'static Rules) -> &'static dyn PartsClass {
        collated(oids::text, rules)
    }

    /// Of texts with blanks at their end that do not count.
    pub(super) fn padded_texts(rules: &'static Rules) -> &'static dyn PartsClass {
        collated(oids::bpchar, rules)
    }

    fn part(&self, value: &Datum) -> Part {
        let mut bytes = vec![1];
        put(value, &mut bytes);
        Some(bytes.into())
    }

    fn value(&self, part: &[u8]) -> Datum {
        take(self.physical, part.get(1..).unwrap_or_default())
    }
}

impl PartsClass for Ordered {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match (a == FIRST, b == FIRST) {
            (false, false) => self.order.compare(&self.value(a), &self.value(b)),
            (a, b) => b.cmp(&a),
        }
    }

    fn orders_bytes(&self) -> bool {
        false
    }

    fn equal_image(&self) -> bool {
        self.image
    }

    fn parts(&self, value: &Datum, out: &mut Vec<Part>) {
        out.push(self.part(value));
    }

    fn query(&self, query: TreeQuery<'_>) -> Result<Box<dyn PartsQuery>, SqlError> {
        let sought = match query.strategy {
            strategy::LESS | strategy::AT_MOST => Sought { part: Some(FIRST[..].into()), range: true },
            strategy::AT_LEAST | strategy::GREATER => Sought { part: self.part(query.value), range: true },
            _ => Sought::exactly(self.part(query.value)),
        };
        Ok(Box::new(Query {
            class: *self,
            strategy: query.strategy,
            value: query.value.clone(),
            sought: [sought],
        }))
    }
}

struct Query {
    class: Ordered,
    strategy: u16,
    value: Datum,
    sought: [Sought; 1],
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "strategy {} of {:?}", self.strategy, self.class)
    }
}

impl PartsQuery for Query {
    fn sought(&self) -> &[Sought] {
        &self.sought
    }

    fn satisfied(&self, present: &[Match]) -> Match {
        present.first().copied().unwrap_or(Match::Maybe)
    }

    fn in_range(&self, _n: usize, part: &[u8]) -> InRange {
        let order = self.class.order.compare(&self.class.value(part), &self.value);
        match (self.strategy, order) {
            (strategy::LESS, Ordering::Less) => InRange::Yes,
            (strategy::AT_MOST, Ordering::Less | Ordering::Equal) => InRange::Yes,
            (strategy::EQUAL, Ordering::Equal) => InRange::Yes,
            (strategy::AT_LEAST, Ordering::Equal | Ordering::Greater) => InRange::Yes,
            (strategy::GREATER, Ordering::Greater) => InRange::Yes,
            (strategy::GREATER, Ordering::Equal) => InRange::No,
            _ => InRange::Beyond,
        }
    }
}
