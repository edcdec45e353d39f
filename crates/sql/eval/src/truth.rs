//! Conditions: expressions whose value is true, false or unknown, evaluated without building a value.

use plan::Test;
use tuple::Datum;
use types::Order;
use types::registry::Relation;

use base::{Oid, SqlResult};

use crate::code::{Code, Rows, int_cmp};
use crate::cx::Cx;

/// Most elements of a list that is searched from the front.
const SHORT_LIST: usize = 8;

/// A comparison of values by their order.
pub struct CompareCode {
    /// What is asked of the order.
    pub relation: Relation,
    /// The order.
    pub order: Order,
    /// Types of both values.
    pub types: (Oid, Oid),
    /// Both values.
    pub sides: (Code, Code),
}

/// `left = ANY (list)`, or its opposite `left <> ALL (list)`, with a constant list.
pub struct ListCode {
    left: Code,
    /// In order, without NULL.
    elements: Box<[Datum]>,
    has_null: bool,
    order: Order,
    /// The opposite is asked.
    negated: bool,
}

impl ListCode {
    /// Prepares a list that is not empty.
    pub fn new(left: Code, mut elements: Vec<Datum>, order: Order, negated: bool) -> SqlResult<ListCode> {
        let count = elements.len();
        elements.retain(|e| !e.is_null());
        let has_null = elements.len() < count;
        types::piece::sort_by(&mut elements, |a, b| order.compare(a, b))?;
        Ok(ListCode { left, elements: elements.into(), has_null, order, negated })
    }

    fn contains(&self, value: &Datum) -> bool {
        if self.elements.len() <= SHORT_LIST {
            return self.elements.iter().any(|e| self.order.compare(e, value).is_eq());
        }
        self.elements.binary_search_by(|e| self.order.compare(e, value)).is_ok()
    }

    fn truth(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Option<bool>> {
        self.left.with_value(rows, cx, |value| match value {
            Datum::Null => None,
            value if self.contains(value) => Some(!self.negated),
            _ => (!self.has_null).then_some(self.negated),
        })
    }
}

impl CompareCode {
    fn truth(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Option<bool>> {
        let (left, right) = &self.sides;
        if let (Some(a), Some(b)) = (left.peek(rows, cx), right.peek(rows, cx)) {
            return Ok(self.of(a, b));
        }
        let a = left.eval(rows, cx)?;
        if a.is_null() {
            return Ok(None);
        }
        right.with_value(rows, cx, |b| self.of(&a, b))
    }

    /// What the comparison says of two values; `None` is NULL.
    #[inline]
    pub(crate) fn of(&self, a: &Datum, b: &Datum) -> Option<bool> {
        (!a.is_null() && !b.is_null()).then(|| self.relation.holds(self.order.compare(a, b)))
    }
}

impl Code {
    /// Whether a condition holds: NULL does not.
    #[inline]
    pub fn test(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<bool> {
        Ok(self.truth(rows, cx)? == Some(true))
    }

    /// The truth of a condition; `None` is NULL.
    #[inline]
    pub fn truth(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Option<bool>> {
        match self {
            Code::IntCmp(op, sides) => int_cmp(*op, sides, rows, cx),
            Code::Compare(code) => code.truth(rows, cx),
            Code::List(code) => code.truth(rows, cx),
            Code::And(_) | Code::Or(_) | Code::Not(_) | Code::Test(..) => {
                runtime::check_stack()?;
                self.logic(rows, cx)
            }
            _ => Ok(match self.eval(rows, cx)? {
                Datum::Bool(v) => Some(v),
                _ => None,
            }),
        }
    }

    fn logic(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Option<bool>> {
        // An unknown arm decides nothing, but neither does it keep the others from being evaluated.
        let (list, decisive) = match self {
            Code::And(list) => (list, false),
            Code::Or(list) => (list, true),
            Code::Not(arg) => return Ok(arg.truth(rows, cx)?.map(|v| !v)),
            Code::Test(test, arg) => {
                return arg.with_value(rows, cx, |value| Some(truth_test(*test, value)));
            }
            _ => return self.truth(rows, cx),
        };
        let mut result = Some(!decisive);
        for code in list {
            match code.truth(rows, cx)? {
                Some(v) if v == decisive => return Ok(Some(decisive)),
                None => result = None,
                _ => {}
            }
        }
        Ok(result)
    }

    /// Looks at the value, which is not copied where it is at hand.
    #[inline]
    fn with_value<T>(&self, rows: Rows<'_>, cx: &mut Cx<'_>, look: impl FnOnce(&Datum) -> T) -> SqlResult<T> {
        match self.peek(rows, cx) {
            Some(value) => Ok(look(value)),
            None => Ok(look(&self.eval(rows, cx)?)),
        }
    }
}

/// Whether a value passes a test.
pub(crate) fn truth_test(test: Test, value: &Datum) -> bool {
    let truth = match value {
        Datum::Bool(v) => Some(*v),
        _ => None,
    };
    match test {
        Test::IsNull => value.is_null(),
        Test::IsNotNull => !value.is_null(),
        Test::IsTrue => truth == Some(true),
        Test::IsNotTrue => truth != Some(true),
        Test::IsFalse => truth == Some(false),
        Test::IsNotFalse => truth != Some(false),
        Test::IsUnknown => truth.is_none(),
        Test::IsNotUnknown => truth.is_some(),
    }
}
