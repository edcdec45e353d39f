//! Expressions over parameters alone, as most are of which procedural languages' bodies are made: computed without rows, cells and a snapshot.
//!
//! # Invariants
//! 1. `Code::mere` gives what [`Code::eval`] gives, for code that `Code::is_mere` says is such.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;
use types::FormatContext;

use crate::code::{CallCode, Code, IntOp, int_of};
use crate::truth::truth_test;

/// Most arguments of a function that is called so.
const MOST_ARGS: usize = 3;

/// What such an expression is computed with.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Values of parameters by number.
    pub params: &'a [Datum],
    /// Formats.
    pub format: &'a FormatContext,
    /// What types ask.
    pub session: &'a dyn types::Session,
}

/// The result of an operator of integers.
pub struct Sum {
    op: IntOp,
    value: Option<i64>,
}

impl Sum {
    /// Puts it in its place.
    #[inline]
    pub fn put(self, place: &mut Datum) {
        match self.value {
            Some(value) => *place = self.op.datum(value),
            None => *place = Datum::Null,
        }
    }
}

impl<'a> Site<'a> {
    #[inline]
    pub(crate) fn param(&self, number: usize) -> SqlResult<&'a Datum> {
        self.params
            .get(number)
            .ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "no value found for parameter {}", number + 1))
    }
}

impl Code {
    /// Whether [`Code::mere`] computes it. Functions by pointer are taken for those of the registry.
    pub(crate) fn is_mere(&self) -> bool {
        match self {
            Code::Const(_) | Code::Param(_) => true,
            Code::IntOp(_, sides) => sides.0.is_mere() && sides.1.is_mere(),
            Code::IntCmp(_, sides) => sides.0.is_mere() && sides.1.is_mere(),
            Code::Compare(code) => code.sides.0.is_mere() && code.sides.1.is_mere(),
            Code::Decimal(code) => code.sides.0.is_mere() && code.sides.1.is_mere(),
            Code::Not(arg) | Code::Test(_, arg) | Code::Relabel(arg, _) => arg.is_mere(),
            Code::And(list) | Code::Or(list) | Code::Coalesce(list) => list.iter().all(Code::is_mere),
            Code::Call(call) => {
                call.routine.is_none() && call.args.len() <= MOST_ARGS && call.args.iter().all(Code::is_mere)
            }
            Code::Case { operand: None, arms, otherwise } => {
                arms.iter().all(|(when, then)| when.is_mere() && then.is_mere()) && otherwise.is_mere()
            }
            _ => false,
        }
    }

    /// The result of an operator of integers, to be written where it is wanted: a value that is moved through memory costs more than it takes to compute.
    #[inline]
    pub(crate) fn mere_sum(&self, site: &Site<'_>) -> Option<SqlResult<Sum>> {
        let Code::IntOp(op, sides) = self else { return None };
        Some(mere_int_op(*op, sides, site).map(|value| Sum { op: *op, value }))
    }

    /// The value.
    #[inline]
    pub(crate) fn mere(&self, site: &Site<'_>) -> SqlResult<Datum> {
        match self {
            Code::Const(value) => Ok(value.clone()),
            Code::Param(number) => site.param(*number).cloned(),
            Code::IntOp(op, sides) => {
                Ok(mere_int_op(*op, sides, site)?.map_or(Datum::Null, |value| op.datum(value)))
            }
            code => code.mere_slow(site),
        }
    }

    fn mere_slow(&self, site: &Site<'_>) -> SqlResult<Datum> {
        runtime::check_stack()?;
        match self {
            Code::Call(call) => mere_call(call, site),
            Code::Decimal(code) => code.mere(site),
            Code::Relabel(arg, target) => Ok(types::registry::relabel(arg.mere(site)?, *target)),
            Code::Coalesce(list) => {
                for code in list {
                    let value = code.mere(site)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                Ok(Datum::Null)
            }
            Code::Case { arms, otherwise, .. } => {
                for (when, then) in arms {
                    if when.mere_truth(site)? == Some(true) {
                        return then.mere(site);
                    }
                }
                otherwise.mere(site)
            }
            Code::IntCmp(..)
            | Code::Compare(_)
            | Code::And(_)
            | Code::Or(_)
            | Code::Not(_)
            | Code::Test(..) => Ok(self.mere_truth(site)?.map_or(Datum::Null, Datum::Bool)),
            Code::Const(_) | Code::Param(_) | Code::IntOp(..) => self.mere(site),
            _ => Err(SqlError::internal("an expression that asks for more than parameters")),
        }
    }

    /// The truth of a condition; `None` is NULL.
    #[inline]
    pub(crate) fn mere_truth(&self, site: &Site<'_>) -> SqlResult<Option<bool>> {
        match self {
            Code::IntCmp(op, sides) => {
                let Some(a) = sides.0.mere_int(site)? else { return Ok(None) };
                let Some(b) = sides.1.mere_int(site)? else { return Ok(None) };
                Ok(Some(op.holds(a, b)))
            }
            code => code.mere_logic(site),
        }
    }

    fn mere_logic(&self, site: &Site<'_>) -> SqlResult<Option<bool>> {
        runtime::check_stack()?;
        let (list, decisive) = match self {
            Code::And(list) => (list, false),
            Code::Or(list) => (list, true),
            Code::Not(arg) => return Ok(arg.mere_truth(site)?.map(|v| !v)),
            Code::Test(test, arg) => return arg.with_mere(site, |value| Some(truth_test(*test, value))),
            Code::Compare(code) => {
                let (left, right) = &code.sides;
                return left.with_mere(site, |a| match a {
                    Datum::Null => Ok(None),
                    a => right.with_mere(site, |b| code.of(a, b)),
                })?;
            }
            Code::IntCmp(..) => return self.mere_truth(site),
            _ => {
                return Ok(match self.mere(site)? {
                    Datum::Bool(v) => Some(v),
                    _ => None,
                });
            }
        };
        let mut result = Some(!decisive);
        for code in list {
            match code.mere_truth(site)? {
                Some(v) if v == decisive => return Ok(Some(decisive)),
                None => result = None,
                _ => {}
            }
        }
        Ok(result)
    }

    /// An integer, without building a [`Datum`] where that can be helped; `None` is NULL.
    #[inline]
    fn mere_int(&self, site: &Site<'_>) -> SqlResult<Option<i64>> {
        match self {
            Code::Param(number) => site.param(*number).map(int_of),
            Code::Const(value) => Ok(int_of(value)),
            code => code.mere_int_slow(site),
        }
    }

    fn mere_int_slow(&self, site: &Site<'_>) -> SqlResult<Option<i64>> {
        match self {
            Code::IntOp(op, sides) => mere_int_op(*op, sides, site),
            code => Ok(int_of(&code.mere_slow(site)?)),
        }
    }

    /// Looks at the value, which is not copied where it is at hand.
    #[inline]
    fn with_mere<T>(&self, site: &Site<'_>, look: impl FnOnce(&Datum) -> T) -> SqlResult<T> {
        match self {
            Code::Param(number) => site.param(*number).map(look),
            Code::Const(value) => Ok(look(value)),
            code => code.mere(site).map(|value| look(&value)),
        }
    }
}

#[inline]
fn mere_int_op(op: IntOp, sides: &(Code, Code), site: &Site<'_>) -> SqlResult<Option<i64>> {
    let Some(a) = sides.0.mere_int(site)? else { return Ok(None) };
    let Some(b) = sides.1.mere_int(site)? else { return Ok(None) };
    op.of(a, b).map(Some)
}

fn mere_call(call: &CallCode, site: &Site<'_>) -> SqlResult<Datum> {
    let mut args: [Datum; MOST_ARGS] = Default::default();
    for (arg, code) in args.iter_mut().zip(&call.args) {
        *arg = code.mere(site)?;
        if call.strict && arg.is_null() {
            return Ok(Datum::Null);
        }
    }
    let context = types::Call {
        format: site.format,
        session: site.session,
        collation: call.collation,
        arg_types: &call.types,
        result_type: call.result,
        variadic_array: call.variadic,
        columns: &[],
    };
    (call.eval)(&context, &args[..call.args.len()])
}
