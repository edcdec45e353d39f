//! # What
//! How values of a type compare under a collation: [`Comparator`]. It is resolved once, where a statement is planned or an index is opened, and carried by everything
//! that sorts, groups, joins, hashes, chooses partitions or searches an index.
//!
//! # Invariants
//! 1. Where a collation orders by bytes, or the type has none, order, equality and hash are plain functions ([`By::Plain`]). All others cost one
//!    branch more.
//! 2. Values that are equal hash equal; of a collation that is deterministic, equality and hash are those of the bytes, so that they are plain too.
//! 3. Types that are built of others (arrays) hand the rules down to their parts.

use std::cmp::Ordering;

use base::{Oid, SqlError, SqlResult, sql_err};
use collation::Rules;
use tuple::Datum;

use crate::asked::UserOrder;
use crate::registry::types::{EqualFn, HashFn, SeededHashFn, TypeImp};
use crate::registry::{CompareFn, type_imp};

/// Order of two byte strings.
pub type BytesOrder = fn(&Rules, &[u8], &[u8]) -> Ordering;

/// How values of a type compare under rules that it is told: the collated half of a type's descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Collated {
    /// Order.
    pub compare: fn(&Rules, &Datum, &Datum) -> Ordering,
    /// Order of values that are nothing but bytes, by these.
    pub compare_bytes: Option<BytesOrder>,
    /// A number that never contradicts the order.
    pub leading: fn(&Rules, &Datum) -> u64,
    /// Hash for joins and aggregates of a value that is not NULL.
    pub hash: fn(&Rules, &Datum) -> u64,
    /// Hash that SQL sees, with a seed.
    pub seeded_hash: fn(&Rules, &Datum, u64) -> u64,
}

/// How something is done with values that are not NULL.
#[derive(Clone, Copy, Debug)]
pub enum By<F> {
    /// By a function that needs nothing else: of a type without collation, or of the bytes.
    Plain(F),
    /// By the rules of a collation.
    Collated(&'static Collated, &'static Rules),
    /// By an order that a function of a user tells: values are equal if neither comes first, and all have one hash.
    Asked(&'static UserOrder),
}

/// B-tree order of values that are not NULL.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// By a function that needs nothing else: of a type without collation, or of the bytes.
    Plain(CompareFn),
    /// By the rules of a collation.
    Collated(&'static Collated, &'static Rules),
    /// By a function of a user. Who compares by it has more to heed: see [`asked`](crate::asked).
    Asked(&'static UserOrder),
}
/// Equality; only a collation that is not deterministic has one of its own.
pub type Equality = By<EqualFn>;
/// Hash for joins and aggregates; as of [`Equality`].
pub type Hash = By<HashFn>;
/// Hash with a seed that SQL sees; as of [`Equality`].
pub type SeededHash = By<SeededHashFn>;

impl<F> By<F> {
    /// What a type that has `plain` does by rules, if it heeds them.
    fn of(plain: Option<F>, rules: Option<(&'static Collated, &'static Rules)>) -> Option<By<F>> {
        plain.map(|plain| rules.map_or(By::Plain(plain), |(of, rules)| By::Collated(of, rules)))
    }
}

impl Order {
    /// What a type that has `plain` does by rules, if it heeds them.
    fn of(plain: Option<CompareFn>, rules: Option<(&'static Collated, &'static Rules)>) -> Option<Order> {
        plain.map(|plain| rules.map_or(Order::Plain(plain), |(of, rules)| Order::Collated(of, rules)))
    }

    /// Order of two values.
    #[inline]
    pub fn compare(self, a: &Datum, b: &Datum) -> Ordering {
        match self {
            Order::Plain(compare) => compare(a, b),
            Order::Collated(of, rules) => (of.compare)(rules, a, b),
            Order::Asked(by) => by.compare(a, b),
        }
    }

    /// Whether it is a function of a user that tells it.
    #[inline]
    pub fn asks(self) -> bool {
        matches!(self, Order::Asked(_))
    }
}

impl Equality {
    /// Whether two values are equal.
    #[inline]
    pub fn equal(self, a: &Datum, b: &Datum) -> bool {
        match self {
            By::Plain(equal) => equal(a, b),
            By::Collated(of, rules) => (of.compare)(rules, a, b).is_eq(),
            By::Asked(by) => by.compare(a, b).is_eq(),
        }
    }
}

impl Hash {
    /// Hash of a value.
    #[inline]
    pub fn hash(self, value: &Datum) -> u64 {
        match self {
            By::Plain(hash) => hash(value),
            By::Collated(of, rules) => (of.hash)(rules, value),
            By::Asked(_) => 0,
        }
    }
}

impl SeededHash {
    /// Hash of a value.
    pub fn hash(self, value: &Datum, seed: u64) -> u64 {
        match self {
            By::Plain(hash) => hash(value, seed),
            By::Collated(of, rules) => (of.seeded_hash)(rules, value, seed),
            By::Asked(_) => 0,
        }
    }
}

/// How values of a type compare under a collation.
#[derive(Clone, Copy, Debug)]
pub struct Comparator {
    /// Their order, if they are in one.
    pub order: Option<Order>,
    /// Their equality, if they have one.
    pub equality: Option<Equality>,
    /// Their hash, if they have one.
    pub hash: Option<Hash>,
    /// Their hash that SQL sees, if they have one.
    pub seeded_hash: Option<SeededHash>,
}

impl Comparator {
    /// Of a built-in type, or the one that a user's type compares as. A type that is not collatable does not ask for the rules.
    pub fn of(type_oid: Oid, rules: &'static Rules) -> Comparator {
        let imp = type_imp(type_oid);
        let loose = imp.collated.filter(|_| !rules.is_deterministic()).map(|of| (of, rules));
        Comparator {
            order: Order::of(imp.compare, ordering_rules(imp, rules)),
            equality: By::of(imp.equal, loose),
            hash: By::of(imp.hash, loose),
            seeded_hash: By::of(imp.seeded_hash, loose),
        }
    }

    /// Of values that a function of a user orders.
    pub fn asked(by: &'static UserOrder) -> Comparator {
        let (equality, hash) = (Some(By::Asked(by)), Some(By::Asked(by)));
        Comparator { order: Some(Order::Asked(by)), equality, hash, seeded_hash: None }
    }

    /// Whether values that are equal have equal bytes. The two zeros of a float do not.
    pub fn is_bitwise(type_oid: Oid, rules: &'static Rules) -> bool {
        use tuple::Physical;
        let imp = type_imp(type_oid);
        let float = imp.row.is_some_and(|row| matches!(row.physical, Physical::Float4 | Physical::Float8));
        imp.plain_order && !float && (imp.collated.is_none() || rules.is_deterministic())
    }
}

/// The rules by which a type's values are in order, if bytes do not tell.
fn ordering_rules(imp: &TypeImp, rules: &'static Rules) -> Option<(&'static Collated, &'static Rules)> {
    imp.collated.filter(|_| !rules.is_bytewise()).map(|of| (of, rules))
}

/// Whether values of a built-in type compare by a collation. Of an array of any type it is not known.
pub fn is_collatable(type_oid: Oid) -> bool {
    let imp = type_imp(type_oid);
    imp.collated.is_some() && imp.row.is_none_or(|row| row.collation.is_valid())
}

/// `default`: the collation of the database.
pub const DEFAULT_COLLATION: Oid = Oid(100);

/// `C`
pub const C_COLLATION: Oid = Oid(950);

/// The rules of the running fiber's database.
pub fn default_rules() -> &'static Rules {
    crate::text::default_rules()
}

/// The rules of a collation that no catalog has to be asked for.
pub fn pinned_rules(collation: Oid) -> Option<&'static Rules> {
    match collation.0 {
        100 => Some(default_rules()),
        950 | 951 => Some(&collation::C),
        _ => None,
    }
}

/// The error of a comparison whose operands disagree on the collation.
pub fn undetermined(what: &str) -> SqlError {
    sql_err!(INDETERMINATE_COLLATION, "could not determine which collation to use for {what}")
        .hint("Use the COLLATE clause to set the collation explicitly.")
}

/// The order of values of a type that has one, for functions that know a call's collation.
pub(crate) fn order_in(cx: &crate::Call, type_oid: Oid) -> SqlResult<Option<Order>> {
    let rules = cx.rules_for(type_oid)?;
    let imp = type_imp(type_oid);
    Ok(Order::of(imp.compare, ordering_rules(imp, rules)))
}

/// The equality of values of a type that has one, for functions that know a call's collation.
pub(crate) fn equality_in(cx: &crate::Call, type_oid: Oid) -> SqlResult<Option<Equality>> {
    Ok(Comparator::of(type_oid, cx.rules_for(type_oid)?).equality)
}
