//! Comparison operators as what they are: an order, and what is asked of it.

use std::cmp::Ordering;
use std::sync::LazyLock;

use base::Oid;
use collation::Rules;
use rustc_hash::FxHashMap;

use super::opclasses::AMOPS;
use super::{CompareFn, operator, type_imp};
use crate::comparator::{Collated, Order};

/// What a comparison asks of two values' order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Relation {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
    NotEqual,
}

impl Relation {
    /// Whether values of this order are so related.
    #[inline]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Relation::Less => order.is_lt(),
            Relation::LessEqual => order.is_le(),
            Relation::Equal => order.is_eq(),
            Relation::GreaterEqual => order.is_ge(),
            Relation::Greater => order.is_gt(),
            Relation::NotEqual => order.is_ne(),
        }
    }

    fn of_strategy(strategy: i16) -> Option<Relation> {
        Some(match strategy {
            1 => Relation::Less,
            2 => Relation::LessEqual,
            3 => Relation::Equal,
            4 => Relation::GreaterEqual,
            5 => Relation::Greater,
            _ => return None,
        })
    }
}

/// A comparison operator as what it is.
#[derive(Clone, Copy)]
pub struct Comparison {
    /// What is asked of the order.
    pub relation: Relation,
    order: CompareFn,
    collated: Option<&'static Collated>,
}

impl Comparison {
    /// Whether it compares by a collation.
    pub fn is_collated(&self) -> bool {
        self.collated.is_some()
    }

    /// Its order by the rules of a collation; any will do if it compares by none.
    pub fn under(&self, rules: &'static Rules) -> Order {
        let equality = matches!(self.relation, Relation::Equal | Relation::NotEqual);
        match self.collated {
            Some(of) if !(rules.is_bytewise() || equality && rules.is_deterministic()) => {
                Order::Collated(of, rules)
            }
            _ => Order::Plain(self.order),
        }
    }
}

/// The relation and the order behind a strict function of two values that carries out a comparison operator and nothing else: it
/// needs no context but a collation, and cannot fail.
pub fn comparison(function: Oid) -> Option<Comparison> {
    static COMPARISONS: LazyLock<FxHashMap<Oid, Comparison>> = LazyLock::new(|| {
        let mut map = FxHashMap::default();
        for entry in AMOPS {
            let Some(order) = order_of(entry.family, entry.left, entry.right) else { continue };
            let Some(relation) = Relation::of_strategy(entry.strategy) else { continue };
            let Some(found) = operator(entry.operator) else { continue };
            let collated = type_imp(entry.left).collated;
            map.insert(found.function, Comparison { relation, order, collated });
            if relation == Relation::Equal
                && let Some(negator) = operator(found.negator)
            {
                map.insert(negator.function, Comparison { relation: Relation::NotEqual, order, collated });
            }
        }
        map
    });
    COMPARISONS.get(&function).copied()
}

/// How values of two types are ordered in a B-tree family, where bytes alone decide.
fn order_of(family: Oid, left: Oid, right: Oid) -> Option<CompareFn> {
    let imp = type_imp(left);
    if left != right {
        return imp.orders_with.iter().find(|(other, _)| *other == right).map(|(_, order)| *order);
    }
    // Values of a pseudo-type can be of different shapes, which its functions refuse to compare.
    if imp.row.is_some_and(|row| row.kind == b'p') {
        return None;
    }
    super::families::default_class_for(super::ORDERING_METHOD, left)
        .filter(|class| class.family == family)?;
    imp.compare
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::function;

    #[test]
    fn functions_of_comparison_operators() {
        let name = |oid: u32| (function(Oid(oid)).unwrap().name, comparison(Oid(oid)).map(|c| c.relation));
        assert_eq!(name(1722), ("numeric_lt", Some(Relation::Less)));
        assert_eq!(name(1053), ("bpcharne", Some(Relation::NotEqual)));
        assert_eq!(name(2338), ("date_lt_timestamp", Some(Relation::Less)));
        assert_eq!(name(2351), ("date_lt_timestamptz", None));
        assert_eq!(name(2160), ("text_pattern_lt", None));
        assert_eq!(name(1724), ("numeric_add", None));
    }
}
