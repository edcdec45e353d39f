//! Constant folding and simplification of conditions.

use base::{Oid, SqlResult};
use tuple::Datum;
use types::array::Array;
use types::{Call, Eval, FormatContext, Imp, Volatility};

use crate::expr::{Expr, OperatorRef, ParamId, Test};
use crate::function::Function;

use crate::walk::{flatten_and, flatten_or};

/// `age(timestamptz, timestamptz)`: declared immutable, though it depends on the session's time zone.
const AGE: Oid = Oid(1199);

/// `xpath` warns, and writes numbers as settings say.
const XPATH: Oid = Oid(2932);
const XPATH_NAMED: Oid = Oid(2931);

/// `range @> element` and `element <@ range`.
const RANGE_CONTAINS_ELEMENT: Oid = Oid(3858);
const ELEMENT_CONTAINED_BY_RANGE: Oid = Oid(3860);

/// `=` and `<>` of booleans.
const BOOLEAN_EQUAL: Oid = Oid(60);
const BOOLEAN_UNEQUAL: Oid = Oid(84);

/// Computes what can be computed now and simplifies AND, OR, NOT, CASE and COALESCE. What raises an error stays as it is:
/// it may never be reached.
pub fn fold(expr: &mut Expr) {
    settle_operand(expr);
    if let Expr::Case { operand: None, arms, otherwise, .. } = expr {
        arms.iter_mut().for_each(|(when, _)| fold(when));
        arms.retain(|(when, _)| !is_false_or_null(when));
        if arms.first().is_some_and(|(when, _)| is_true(when)) {
            let (_, mut then) = arms.swap_remove(0);
            fold(&mut then);
            *expr = then;
            return;
        }
        if arms.is_empty()
            && let Some(otherwise) = otherwise.take()
        {
            *expr = *otherwise;
            fold(expr);
            return;
        }
    }
    expr.for_children_mut(&mut fold);
    let new = match expr {
        Expr::Call(call) => fold_call(call),
        Expr::And(list) => Some(fold_and(std::mem::take(list))),
        Expr::Or(list) => Some(fold_or(std::mem::take(list))),
        Expr::Not(arg) => fold_not(arg),
        Expr::Test(test, arg) => fold_test(*test, arg),
        Expr::Relabel { arg, type_oid, typmod, .. } => match &**arg {
            Expr::Const { value, .. } => {
                let value = types::registry::relabel(value.clone(), *type_oid);
                Some(Expr::Const { value, type_oid: *type_oid, typmod: *typmod })
            }
            _ => None,
        },
        Expr::IoCast { arg, type_oid, .. } => fold_io_cast(arg, *type_oid),
        Expr::ArrayCast { arg, element, cell, type_oid, target } => {
            fold_array_cast(arg, (element, *cell), *target).map(|value| Expr::Const {
                value,
                type_oid: *type_oid,
                typmod: -1,
            })
        }
        Expr::Json(json) => match &json.node {
            analyze::Json::Value(v) if matches!(v.formatted, Expr::Const { .. }) => Some(v.formatted.clone()),
            _ => None,
        },
        Expr::Row { fields, row } => {
            let value = |e: &Expr| if let Expr::Const { value, .. } = e { Some(value.clone()) } else { None };
            let values: Option<Vec<Datum>> = fields.iter().map(value).collect();
            values.map(|values| Expr::Const { value: row.row(&values), type_oid: row.type_oid, typmod: -1 })
        }
        Expr::Array { elements, type_oid, element, nested: false } => {
            fold_array(elements, *element).map(|value| Expr::Const { value, type_oid: *type_oid, typmod: -1 })
        }
        Expr::Coalesce(list, _) => {
            if let Some(at) =
                list.iter().position(|e| matches!(e, Expr::Const { value, .. } if !value.is_null()))
            {
                list.truncate(at + 1);
            }
            list.retain(|e| !matches!(e, Expr::Const { value: Datum::Null, .. }));
            match list.len() {
                0 => Some(Expr::Const { value: Datum::Null, type_oid: expr.type_oid(), typmod: -1 }),
                1 => list.pop(),
                _ => None,
            }
        }
        _ => None,
    };
    if let Some(new) = new {
        *expr = new;
    }
}

/// A constant through text, where no setting has a say in that.
fn fold_io_cast(arg: &Expr, target: Oid) -> Option<Expr> {
    let Expr::Const { value, type_oid: source, .. } = arg else { return None };
    let (from, to) = (types::builtin_type(*source)?, types::builtin_type(target)?);
    if !from.output_is_immutable() || !to.input_is_immutable() {
        return None;
    }
    let constant = |value| Some(Expr::Const { value, type_oid: target, typmod: -1 });
    if value.is_null() {
        return constant(Datum::Null);
    }
    let format = FormatContext::default();
    let cx = Call::new(&format);
    // Expressions that fail are evaluated again at run time; an interrupt stays pending meanwhile.
    let _kept = runtime::keep_interrupts();
    let mut text = Vec::new();
    types::output(*source, value, &cx, &mut text).ok()?;
    let text = String::from_utf8(text).ok()?;
    types::input(target, &text, -1, &cx).ok().and_then(constant)
}

/// A constant array of a built-in type whose elements are cast one by one.
fn fold_array_cast(arg: &Expr, (element, cell): (&Expr, ParamId), target: Oid) -> Option<Datum> {
    let Expr::Const { value, type_oid, .. } = arg else { return None };
    let (source, _) = (types::builtin_type(*type_oid)?, types::builtin_type(target)?);
    let Datum::Bytes(bytes) = value else { return Some(Datum::Null) };
    let array = Array::from_payload(bytes);
    let dimensions = array.dimensions.clone();
    let cast = |value: Datum| {
        let mut cast = element.clone();
        cast.replace(&mut |e| {
            let is_element = matches!(e, Expr::ExecParam { id, .. } if *id == cell);
            is_element.then(|| Expr::Const { value: value.clone(), type_oid: source.element, typmod: -1 })
        });
        fold(&mut cast);
        if let Expr::Const { value, .. } = cast { Some(value) } else { None }
    };
    let values = array.into_elements().into_iter().map(cast).collect::<Option<Vec<Datum>>>()?;
    let format = FormatContext::default();
    let array = Array::with_dimensions(target, dimensions, values, &Call::new(&format)).ok()?;
    Some(array.to_datum())
}

/// CASE of a constant: the conditions compare with it.
fn settle_operand(expr: &mut Expr) {
    let Expr::Case { operand, arms, .. } = expr else { return };
    let Some((cell, value)) = operand else { return };
    fold(value);
    if let Expr::Const { .. } = **value {
        for (when, _) in arms {
            when.replace(&mut |e| {
                let is_operand = matches!(e, Expr::ExecParam { id, .. } if id == cell);
                is_operand.then(|| (**value).clone())
            });
        }
        *operand = None;
    }
}

/// An array of constants of a built-in type.
fn fold_array(elements: &[Expr], element: Oid) -> Option<Datum> {
    types::builtin_type(element)?;
    let value = |e: &Expr| if let Expr::Const { value, .. } = e { Some(value.clone()) } else { None };
    let values = elements.iter().map(value).collect::<Option<Vec<Datum>>>()?;
    let format = FormatContext::default();
    let array = Array::from_values(element, values, &Call::new(&format)).ok()?;
    Some(array.to_datum())
}

/// Whether a condition is true whatever the row.
pub(crate) fn is_true(expr: &Expr) -> bool {
    matches!(expr, Expr::Const { value: Datum::Bool(true), .. })
}

/// Whether it is never true.
pub(crate) fn is_false_or_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Const { value: Datum::Bool(false) | Datum::Null, .. })
}

fn fold_call(call: &crate::expr::Call) -> Option<Expr> {
    if let Some(simple) = boolean_comparison(call) {
        return Some(simple);
    }
    // Expressions that fail are left to run time; `constant_error` reports some of them before.
    let value = evaluate(call)?.ok()?;
    Some(Expr::Const { value, type_oid: call.type_oid, typmod: call.typmod })
}

/// The value of a call that always has the same, or its error; `None` if it is no such call.
pub(crate) fn evaluate(call: &crate::expr::Call) -> Option<SqlResult<Datum>> {
    let function = &call.function;
    if !is_constant(function) {
        return None;
    }
    let constant = |value| Some(Ok(value));
    let mut args = Vec::with_capacity(call.args.len());
    for arg in &call.args {
        match arg {
            Expr::Const { value: Datum::Null, .. } if function.strict() => return constant(Datum::Null),
            Expr::Const { value, .. } => args.push(value.clone()),
            _ => {}
        }
    }
    if let Some(contains) = contains_any(call) {
        return constant(Datum::Bool(contains));
    }
    if args.len() < call.args.len() {
        return None;
    }
    Some(Native::of(call)?.compute(&args))
}

/// Whether a function always has the same value for the same arguments.
fn is_constant(function: &Function) -> bool {
    !function.retset() && function.volatility() == Volatility::Immutable
}

/// A call whose value depends on nothing but its arguments, to be computed for any.
pub(crate) struct Native<'a> {
    call: &'a crate::expr::Call,
    eval: Eval,
    types: Vec<Oid>,
    format: FormatContext,
}

impl<'a> Native<'a> {
    /// `None` if it is no such call.
    pub fn of(call: &'a crate::expr::Call) -> Option<Native<'a>> {
        let Some(Imp::Native(eval)) = call.function.imp() else { return None };
        if !is_constant(&call.function) || [AGE, XPATH, XPATH_NAMED].contains(&call.function.oid()) {
            return None;
        }
        let types = call.args.iter().map(Expr::type_oid).collect();
        Some(Native { call, eval, types, format: FormatContext::default() })
    }

    /// Its value for these arguments, of which none is NULL if it is strict.
    pub fn compute(&self, args: &[Datum]) -> SqlResult<Datum> {
        let Native { call, eval, types, format } = self;
        let mut cx = Call::new(format).with_types(types, call.type_oid).with_collation(call.collation);
        cx.variadic_array = call.variadic;
        // An interrupt stays pending even if the error is dropped.
        let _kept = runtime::keep_interrupts();
        eval(&cx, args)
    }
}

/// A boolean compared with a constant one: itself or its negation.
fn boolean_comparison(call: &crate::expr::Call) -> Option<Expr> {
    let wanted = match call.function.oid() {
        BOOLEAN_EQUAL => true,
        BOOLEAN_UNEQUAL => false,
        _ => return None,
    };
    let (other, value) = match call.args.as_slice() {
        [Expr::Const { value: Datum::Bool(value), .. }, other]
        | [other, Expr::Const { value: Datum::Bool(value), .. }] => (other, *value),
        _ => return None,
    };
    if let Expr::Const { .. } = other {
        return None;
    }
    Some(if value == wanted { other.clone() } else { Expr::Not(Box::new(other.clone())) })
}

/// Whether a range contains an element, where the range alone decides that: then it does so even if the element is NULL.
fn contains_any(call: &crate::expr::Call) -> Option<bool> {
    let (range, element) = match call.function.oid() {
        RANGE_CONTAINS_ELEMENT => (&call.args[0], &call.args[1]),
        ELEMENT_CONTAINED_BY_RANGE => (&call.args[1], &call.args[0]),
        _ => return None,
    };
    match range {
        Expr::Const { value, .. } if !value.is_null() && !element.is_volatile() => {
            types::range::contains_any(value)
        }
        _ => None,
    }
}

fn fold_and(list: Vec<Expr>) -> Expr {
    let mut flat = Vec::new();
    list.into_iter().for_each(|e| flatten_and(e, &mut flat));
    if flat.iter().any(|e| matches!(e, Expr::Const { value: Datum::Bool(false), .. })) {
        return Expr::boolean(false);
    }
    let mut out: Vec<Expr> = Vec::new();
    for e in flat {
        if !out.contains(&e) {
            out.push(e);
        }
    }
    crate::walk::conjunction(out)
}

/// Flattens, drops what is false, and takes out conditions common to all arms.
fn fold_or(list: Vec<Expr>) -> Expr {
    let mut flat = Vec::new();
    list.into_iter().for_each(|e| flatten_or(e, &mut flat));
    if flat.iter().any(is_true) {
        return Expr::boolean(true);
    }
    flat.retain(|e| !matches!(e, Expr::Const { value: Datum::Bool(false), .. }));
    match flat.len() {
        0 => return Expr::boolean(false),
        1 => return flat.swap_remove(0),
        _ => {}
    }
    let arms: Vec<Vec<Expr>> = flat
        .into_iter()
        .map(|e| {
            let mut parts = Vec::new();
            flatten_and(e, &mut parts);
            parts
        })
        .collect();
    let common: Vec<Expr> = arms[0]
        .iter()
        .filter(|e| !e.is_volatile() && arms[1..].iter().all(|arm| arm.contains(e)))
        .cloned()
        .collect();
    let rest: Vec<Vec<Expr>> =
        arms.into_iter().map(|arm| arm.into_iter().filter(|e| !common.contains(e)).collect()).collect();
    if common.is_empty() {
        return Expr::Or(rest.into_iter().map(crate::walk::conjunction).collect());
    }
    let mut out = common;
    if rest.iter().all(|arm: &Vec<Expr>| !arm.is_empty()) {
        out.push(Expr::Or(rest.into_iter().map(crate::walk::conjunction).collect()));
    }
    crate::walk::conjunction(out)
}

fn fold_not(arg: &mut Expr) -> Option<Expr> {
    match arg {
        Expr::Const { value: Datum::Bool(v), .. } => Some(Expr::boolean(!*v)),
        Expr::Const { value: Datum::Null, .. } => {
            Some(Expr::Const { value: Datum::Null, type_oid: Oid(16), typmod: -1 })
        }
        Expr::Not(inner) => Some(std::mem::replace(&mut **inner, Expr::boolean(true))),
        Expr::And(list) => Some(fold_or(std::mem::take(list).into_iter().map(negate).collect())),
        Expr::Or(list) => Some(fold_and(std::mem::take(list).into_iter().map(negate).collect())),
        Expr::Test(Test::IsNull, inner) => {
            Some(Expr::Test(Test::IsNotNull, std::mem::replace(inner, Box::new(Expr::boolean(true)))))
        }
        Expr::Test(Test::IsNotNull, inner) => {
            Some(Expr::Test(Test::IsNull, std::mem::replace(inner, Box::new(Expr::boolean(true)))))
        }
        Expr::Call(call) => {
            let crate::expr::CallForm::Operator(operator) = &call.form else { return None };
            let negator = types::registry::operator(operator.negator)?;
            let function = types::registry::function(negator.function)?;
            let mut call = call.clone();
            call.function = crate::function::Function::Builtin(function);
            call.form = crate::expr::CallForm::Operator(OperatorRef::built_in(negator));
            Some(Expr::Call(call))
        }
        _ => None,
    }
}

fn negate(expr: Expr) -> Expr {
    let mut arg = expr;
    fold_not(&mut arg).unwrap_or(Expr::Not(Box::new(arg)))
}

fn fold_test(test: Test, arg: &Expr) -> Option<Expr> {
    let Expr::Const { value, .. } = arg else { return None };
    let truth = match value {
        Datum::Bool(v) => Some(*v),
        Datum::Null => None,
        _ => {
            return match test {
                Test::IsNull => Some(Expr::boolean(false)),
                Test::IsNotNull => Some(Expr::boolean(true)),
                _ => None,
            };
        }
    };
    Some(Expr::boolean(match test {
        Test::IsNull | Test::IsUnknown => truth.is_none(),
        Test::IsNotNull | Test::IsNotUnknown => truth.is_some(),
        Test::IsTrue => truth == Some(true),
        Test::IsNotTrue => truth != Some(true),
        Test::IsFalse => truth == Some(false),
        Test::IsNotFalse => truth != Some(false),
    }))
}
