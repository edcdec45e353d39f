//! Sums, differences and products of `numeric`: values with few digits stay integers from one operator to the next.

use base::SqlResult;
use tuple::Datum;
use types::numeric::{Arithmetic, Small};

use crate::code::{Code, Rows};
use crate::cx::Cx;

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

    fn number(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Number> {
        runtime::check_stack()?;
        let (a, b) = match (operand(&self.sides.0, rows, cx)?, operand(&self.sides.1, rows, cx)?) {
            (Number::Null, _) | (_, Number::Null) => return Ok(Number::Null),
            sides => sides,
        };
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
        return Ok(match Small::of(value) {
            Some(small) => Number::Small(small),
            None if value.is_null() => Number::Null,
            None => Number::Other(value.clone()),
        });
    }
    Ok(match code.eval(rows, cx)? {
        Datum::Null => Number::Null,
        value => Small::of(&value).map_or(Number::Other(value), Number::Small),
    })
}
