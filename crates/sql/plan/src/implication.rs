//! Conditions that follow from others: what a query asks for may be all that a partial index holds.
//!
//! # PostgreSQL counterpart and differences
//! `predicate_implied_by` of `optimizer/util/predtest.c`: AND, OR, lists, comparisons of one expression with constants by the operators of a
//! B-tree family, and IS NOT NULL from what nothing but a value satisfies. Here it is so of plain columns only.

use std::cmp::Ordering;

use base::Oid;
use catalog::families::OperatorFamilies;
use collation::Rules;
use tuple::Datum;
use types::comparator::{is_collatable, pinned_rules};

use crate::expr::{ArrayOp, CallForm, Expr, Test};
use crate::level::plain_var;

/// Elements of a list that are looked at singly.
const MOST_ELEMENTS: usize = 100;

/// Whether a condition holds for every row for which all of `known` hold.
pub(crate) fn follows(part: &Expr, known: &[Expr], families: &OperatorFamilies) -> bool {
    if known.contains(part) {
        return true;
    }
    match part {
        Expr::And(parts) => return parts.iter().all(|part| follows(part, known, families)),
        Expr::Or(arms) if arms.iter().any(|arm| follows(arm, known, families)) => return true,
        _ => {}
    }
    known.iter().any(|known| follows_from(part, known, families))
}

/// Whether a condition follows from another one, which it is not.
fn follows_from(part: &Expr, known: &Expr, families: &OperatorFamilies) -> bool {
    match (known, part) {
        (Expr::Or(arms), _) => arms.iter().all(|arm| follows(part, std::slice::from_ref(arm), families)),
        (Expr::And(parts), _) => follows(part, parts, families),
        (_, Expr::Test(Test::IsNotNull, arg)) => strict_on(known, arg),
        (Expr::ArrayOp(op), _) if op.any => match elements(op) {
            Some(values) if !values.is_empty() => {
                values.iter().all(|value| compares(part, &Comparison::of_element(op, value), families))
            }
            _ => false,
        },
        _ => Comparison::of(known).is_some_and(|known| compares(part, &known, families)),
    }
}

/// Whether a condition follows from a comparison.
fn compares(part: &Expr, known: &Comparison<'_>, families: &OperatorFamilies) -> bool {
    match part {
        Expr::ArrayOp(op) if op.any => elements(op).is_some_and(|values| {
            values.iter().any(|value| known.implies(&Comparison::of_element(op, value), families))
        }),
        _ => Comparison::of(part).is_some_and(|part| known.implies(&part, families)),
    }
}

/// An expression compared with a constant that is not NULL.
struct Comparison<'e> {
    of: &'e Expr,
    operator: Oid,
    value: Datum,
    type_oid: Oid,
    collation: Oid,
}

impl<'e> Comparison<'e> {
    fn of(e: &'e Expr) -> Option<Comparison<'e>> {
        let Expr::Call(call) = e else { return None };
        let CallForm::Operator(operator) = &call.form else { return None };
        let (of, value, operator) = match call.args.as_slice() {
            [of, Expr::Const { value, type_oid, .. }] => (of, (value, type_oid), operator.oid),
            [Expr::Const { value, type_oid, .. }, of] => (of, (value, type_oid), operator.commutator),
            _ => return None,
        };
        let (value, type_oid) = (value.0.clone(), *value.1);
        (!value.is_null()).then_some(Comparison { of, operator, value, type_oid, collation: call.collation })
    }

    fn of_element(op: &'e ArrayOp, value: &Datum) -> Comparison<'e> {
        Comparison {
            of: &op.left,
            operator: op.operator.oid,
            value: value.clone(),
            type_oid: op.element,
            collation: op.collation,
        }
    }

    /// Whether another comparison holds wherever this one does.
    fn implies(&self, part: &Comparison<'_>, families: &OperatorFamilies) -> bool {
        if self.of != part.of {
            return false;
        }
        let (Some((family, have)), Some((other, want))) =
            (strategy(self.operator, families), strategy(part.operator, families))
        else {
            return false;
        };
        let integers = |t: Oid| matches!(t, types::oids::int2 | types::oids::int4 | types::oids::int8);
        let alike = self.type_oid == part.type_oid || integers(self.type_oid) && integers(part.type_oid);
        if family != other || !alike || self.collation != part.collation {
            return false;
        }
        let bytewise = pinned_rules(self.collation).is_some_and(Rules::is_bytewise);
        match types::compare(self.type_oid).filter(|_| bytewise || !is_collatable(self.type_oid)) {
            Some(compare) => rules(have, want, compare(&self.value, &part.value)),
            None => have == want && self.value == part.value,
        }
    }
}

/// Strategies of a B-tree family, and inequality.
const LESS: i16 = 1;
const LESS_EQUAL: i16 = 2;
const EQUAL: i16 = 3;
const GREATER_EQUAL: i16 = 4;
const GREATER: i16 = 5;
const UNEQUAL: i16 = 6;

/// Whether `x want b` holds wherever `x have a` does, if `a` compares to `b` so.
fn rules(have: i16, want: i16, order: Ordering) -> bool {
    match (have, want) {
        (EQUAL, LESS) | (LESS_EQUAL, LESS | UNEQUAL) => order.is_lt(),
        (EQUAL, LESS_EQUAL) | (LESS, LESS | LESS_EQUAL | UNEQUAL) | (LESS_EQUAL, LESS_EQUAL) => order.is_le(),
        (EQUAL, GREATER) | (GREATER_EQUAL, GREATER | UNEQUAL) => order.is_gt(),
        (EQUAL, GREATER_EQUAL)
        | (GREATER, GREATER | GREATER_EQUAL | UNEQUAL)
        | (GREATER_EQUAL, GREATER_EQUAL) => order.is_ge(),
        (EQUAL, EQUAL) | (UNEQUAL, UNEQUAL) => order.is_eq(),
        (EQUAL, UNEQUAL) => order.is_ne(),
        _ => false,
    }
}

/// The family that says of an operator how it orders values, or of its negator, and its part there.
fn strategy(operator: Oid, families: &OperatorFamilies) -> Option<(Oid, i16)> {
    let entry = |operator: Oid| families.memberships_of(operator, types::registry::ORDERING_METHOD).next();
    if let Some(entry) = entry(operator) {
        // Constants are compared as their type is ordered, which the family of a user need not do.
        return entry.family.is_pinned().then_some((entry.family, entry.strategy));
    }
    let negated = entry(types::registry::operator(operator)?.negator)?;
    (negated.strategy == EQUAL).then_some((negated.family, UNEQUAL))
}

/// The values of `op ANY (array)`, if they are known, few, and none of them NULL.
fn elements(op: &ArrayOp) -> Option<Vec<Datum>> {
    let Expr::Const { value: Datum::Bytes(payload), .. } = &op.array else { return None };
    let values = types::array::Array::from_payload(payload).into_elements();
    (values.len() <= MOST_ELEMENTS && !values.iter().any(Datum::is_null)).then_some(values)
}

/// Whether nothing but a value of a column satisfies a condition.
fn strict_on(known: &Expr, arg: &Expr) -> bool {
    match (known, plain_var(arg)) {
        (Expr::Call(call), Some(var)) => {
            call.function.strict() && call.args.iter().any(|a| plain_var(a) == Some(var))
        }
        (Expr::ArrayOp(op), Some(var)) => op.any && op.function.strict() && plain_var(&op.left) == Some(var),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_implies_the_wider_ones() {
        for (have, want, a, b, holds) in [
            (EQUAL, GREATER, 5, 3, true),
            (EQUAL, GREATER, 3, 3, false),
            (LESS, LESS_EQUAL, 3, 3, true),
            (LESS_EQUAL, LESS, 3, 3, false),
            (GREATER, GREATER_EQUAL, 3, 3, true),
            (GREATER_EQUAL, UNEQUAL, 4, 3, true),
            (LESS, GREATER, 1, 2, false),
            (UNEQUAL, UNEQUAL, 2, 2, true),
        ] {
            assert_eq!(rules(have, want, i32::cmp(&a, &b)), holds, "x {have} {a}: x {want} {b}");
        }
    }

    #[test]
    fn inequality_belongs_to_the_family_of_its_negator() {
        assert_eq!(strategy(Oid(96), &OperatorFamilies::built_in()), Some((Oid(1976), EQUAL)));
        assert_eq!(strategy(Oid(518), &OperatorFamilies::built_in()), Some((Oid(1976), UNEQUAL)));
        assert_eq!(strategy(Oid(551), &OperatorFamilies::built_in()), None);
    }
}
