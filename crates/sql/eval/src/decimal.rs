//! Sums, differences and products of `numeric`: values with few digits stay integers from one operator to the next.

use base::SqlResult;
use tuple::Datum;
use types::numeric::{Arithmetic, Small};

use crate::code::{Code, Rows};
use crate::cx::Cx;
use crate::mere::Site;

/// An operator and its operands.
pub struct DecimalCode {
    /// Which.
    pub op: Arithmetic,
    /// Both numbers.
    pub sides: (Code, Code),
}

/// An operand.
enum Number {
    Null,
    Small(Small),
    Other(Datum),
}

impl Number {
    /// A value at hand.
    #[inline]
    fn seen(value: &Datum) -> Number {
        match Small::of(value) {
            Some(small) => Number::Small(small),
            None if value.is_null() => Number::Null,
            None => Number::Other(value.clone()),
        }
    }

    #[inline]
    fn computed(value: Datum) -> Number {
        match value {
            Datum::Null => Number::Null,
            value => Small::of(&value).map_or(Number::Other(value), Number::Small),
        }
    }

    fn into_datum(self) -> Datum {
        match self {
            Number::Null => Datum::Null,
            Number::Small(small) => small.to_datum(),
            Number::Other(value) => value,
        }
    }
}

impl DecimalCode {
    /// The result.
    pub fn eval(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        self.number(rows, cx).map(Number::into_datum)
    }

    /// The result over parameters alone.
    pub fn mere(&self, site: &Site<'_>) -> SqlResult<Datum> {
        self.mere_number(site).map(Number::into_datum)
    }

    fn number(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Number> {
        runtime::check_stack()?;
        self.of(operand(&self.sides.0, rows, cx)?, operand(&self.sides.1, rows, cx)?)
    }

    fn mere_number(&self, site: &Site<'_>) -> SqlResult<Number> {
        runtime::check_stack()?;
        self.of(mere_operand(&self.sides.0, site)?, mere_operand(&self.sides.1, site)?)
    }

    #[inline]
    fn of(&self, a: Number, b: Number) -> SqlResult<Number> {
        if matches!(a, Number::Null) || matches!(b, Number::Null) {
            return Ok(Number::Null);
        }
        if let (Number::Small(a), Number::Small(b)) = (&a, &b)
            && let Some(result) = self.op.small(*a, *b)
        {
            return Ok(Number::Small(result));
        }
        self.op.of(&a.into_datum(), &b.into_datum()).map(Number::Other)
    }
}

#[inline]
fn operand(code: &Code, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Number> {
    if let Code::Decimal(code) = code {
        return code.number(rows, cx);
    }
    if let Some(value) = code.peek(rows, cx) {
        return Ok(Number::seen(value));
    }
    code.eval(rows, cx).map(Number::computed)
}

#[inline]
fn mere_operand(code: &Code, site: &Site<'_>) -> SqlResult<Number> {
    match code {
        Code::Decimal(code) => code.mere_number(site),
        Code::Const(value) => Ok(Number::seen(value)),
        Code::Param(number) => site.param(*number).map(Number::seen),
        code => code.mere(site).map(Number::computed),
    }
}
