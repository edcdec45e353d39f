//! Expressions in the form they are evaluated in: columns are places in the input rows, functions are pointers.
//!
//! [`Code`] is compiled once per execution state by [`crate::compile`]. Integer comparison and arithmetic over columns,
//! parameters and constants go without building an argument list.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::FunctionDef;
use plan::{ParamId, SqlValueKind, Test};
use smallvec::SmallVec;
use tuple::Datum;
use types::record::RowType;
use types::{Eval, Imp};

use crate::cx::Cx;
use crate::decimal::DecimalCode;
use crate::json::JsonCode;
use crate::truth::{CompareCode, ListCode};
use crate::xml::XmlCode;

/// The rows that an expression reads.
#[derive(Clone, Copy)]
pub struct Rows<'r> {
    /// The only input, or the outer side of a join.
    pub outer: &'r [Datum],
    /// The inner side of a join.
    pub inner: &'r [Datum],
}

impl<'r> Rows<'r> {
    /// One input.
    #[inline]
    pub fn one(outer: &'r [Datum]) -> Rows<'r> {
        Rows { outer, inner: &[] }
    }
}

/// Comparisons of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IntCmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Arithmetic of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IntOp {
    Add4,
    Sub4,
    Mul4,
    Div4,
    Mod4,
    Add8,
    Sub8,
    Mul8,
    Div8,
    Mod8,
}

impl IntCmp {
    /// Whether the comparison holds.
    #[inline]
    pub fn holds(self, a: i64, b: i64) -> bool {
        match self {
            IntCmp::Eq => a == b,
            IntCmp::Ne => a != b,
            IntCmp::Lt => a < b,
            IntCmp::Le => a <= b,
            IntCmp::Gt => a > b,
            IntCmp::Ge => a >= b,
        }
    }
}

impl IntOp {
    /// Whether the result is an `int4`; otherwise it is an `int8`.
    #[inline]
    pub fn is_short(self) -> bool {
        matches!(self, IntOp::Add4 | IntOp::Sub4 | IntOp::Mul4 | IntOp::Div4 | IntOp::Mod4)
    }

    /// The result.
    #[inline]
    pub fn of(self, a: i64, b: i64) -> SqlResult<i64> {
        let result = match self {
            IntOp::Add4 | IntOp::Add8 => a.checked_add(b),
            IntOp::Sub4 | IntOp::Sub8 => a.checked_sub(b),
            IntOp::Mul4 | IntOp::Mul8 => a.checked_mul(b),
            _ if b == 0 => return Err(divided_by_zero()),
            IntOp::Div4 | IntOp::Div8 => a.checked_div(b),
            IntOp::Mod4 | IntOp::Mod8 => Some(a.wrapping_rem(b)),
        };
        match result {
            Some(v) if !self.is_short() || i32::try_from(v).is_ok() => Ok(v),
            _ => Err(self.overflow()),
        }
    }

    #[cold]
    fn overflow(self) -> SqlError {
        match self.is_short() {
            true => sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range"),
            false => sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range"),
        }
    }

    /// The result as a value.
    #[inline]
    pub(crate) fn apply(self, a: i64, b: i64) -> SqlResult<Datum> {
        self.of(a, b).map(|v| self.datum(v))
    }

    /// A result as a value.
    #[inline]
    pub(crate) fn datum(self, v: i64) -> Datum {
        if self.is_short() { Datum::Int4(v as i32) } else { Datum::Int8(v) }
    }
}

#[cold]
fn divided_by_zero() -> SqlError {
    sql_err!(DIVISION_BY_ZERO, "division by zero")
}

/// A call by pointer.
pub struct CallCode {
    /// The function.
    pub oid: Oid,
    /// The implementation; that of a user's function is never called.
    pub eval: Eval,
    /// The function if a user made it.
    pub routine: Option<Arc<FunctionDef>>,
    /// NULL in, NULL out.
    pub strict: bool,
    /// Arguments.
    pub args: Box<[Code]>,
    /// Their types.
    pub types: Box<[Oid]>,
    /// Result type.
    pub result: Oid,
    /// Collation.
    pub collation: Oid,
    /// VARIADIC array given.
    pub variadic: bool,
}

/// A call that is not by a plain pointer.
pub struct OtherCall {
    /// The function.
    pub function: plan::Function,
    /// Arguments.
    pub args: Box<[Code]>,
    /// Their types.
    pub types: Box<[Oid]>,
    /// Result type.
    pub result: Oid,
    /// Collation.
    pub collation: Oid,
    /// VARIADIC array given.
    pub variadic: bool,
}

/// A quantified comparison with an array.
pub struct ArrayCode {
    /// The implementation; that of a user's function is never called.
    pub eval: Eval,
    /// The function if a user made it.
    pub routine: Option<Arc<FunctionDef>>,
    /// NULL in, NULL out.
    pub strict: bool,
    /// ANY.
    pub any: bool,
    /// Left operand.
    pub left: Code,
    /// The array.
    pub array: Code,
    /// Collation.
    pub collation: Oid,
    /// Types of both sides.
    pub types: [Oid; 2],
}

/// A use of a subplan.
pub struct SubCode {
    /// Which.
    pub plan: usize,
    /// What it yields.
    pub kind: SubKind,
    /// Cells to set first.
    pub args: Box<[(ParamId, Code)]>,
}

impl SubCode {
    /// A copy, if it has one value that depends on no row.
    pub fn initial(&self) -> Option<SubCode> {
        Some(SubCode { plan: self.plan, kind: self.initial_kind()?, args: Box::default() })
    }

    /// What it yields, if that is one value that depends on no row.
    pub(crate) fn initial_kind(&self) -> Option<SubKind> {
        let kind = match &self.kind {
            SubKind::Exists => SubKind::Exists,
            SubKind::Scalar => SubKind::Scalar,
            SubKind::Array { element, nested } => SubKind::Array { element: *element, nested: *nested },
            SubKind::Quantified { .. } | SubKind::Multi { .. } => return None,
        };
        self.args.is_empty().then_some(kind)
    }
}

/// What a subplan yields, compiled.
#[allow(missing_docs)]
pub enum SubKind {
    Exists,
    Scalar,
    Array {
        element: Oid,
        nested: bool,
    },
    Quantified {
        any: bool,
        single: bool,
        test: Code,
        columns: Box<[ParamId]>,
        hash: Option<Box<[(Code, usize, types::Comparator)]>>,
    },
    Multi {
        columns: Box<[ParamId]>,
    },
}

/// An expression.
#[allow(missing_docs)]
pub enum Code {
    Const(Datum),
    Param(usize),
    Cell(ParamId),
    Outer(usize),
    Inner(usize),
    Call(Box<CallCode>),
    Other(Box<OtherCall>),
    IntCmp(IntCmp, Box<(Code, Code)>),
    IntOp(IntOp, Box<(Code, Code)>),
    /// Any other comparison that is nothing but an order.
    Compare(Box<CompareCode>),
    List(Box<ListCode>),
    Decimal(Box<DecimalCode>),
    And(Box<[Code]>),
    Or(Box<[Code]>),
    Not(Box<Code>),
    Test(Test, Box<Code>),
    Distinct(Box<CallCode>, bool),
    NullIf(Box<CallCode>),
    Case {
        operand: Option<(ParamId, Box<Code>)>,
        arms: Box<[(Code, Code)]>,
        otherwise: Box<Code>,
    },
    Coalesce(Box<[Code]>),
    Extreme {
        greatest: bool,
        args: Box<[Code]>,
        order: types::Order,
    },
    IoCast {
        arg: Box<Code>,
        source: Oid,
        target: Oid,
    },
    /// Same bits, another variant of [`Datum`].
    Relabel(Box<Code>, Oid),
    Array(Box<[Code]>, ArrayShape),
    ArrayOp(Box<ArrayCode>),
    ArrayCast {
        arg: Box<Code>,
        element: Box<Code>,
        cell: ParamId,
        target: Oid,
    },
    Row(Box<[Code]>, Arc<RowType>),
    Field(Box<Code>, usize),
    FieldStore(Box<FieldStoreCode>),
    /// IS \[NOT\] NULL of a row value, of all its fields.
    RowValueNull {
        arg: Box<Code>,
        not: bool,
        row: Option<Arc<RowType>>,
    },
    Domain(Box<DomainCode>),
    Json(Box<JsonCode>),
    /// A node of XML.
    Xml(Box<XmlCode>),
    Subscript(Box<SubscriptCode>),
    RowNull {
        fields: Box<[Code]>,
        not: bool,
    },
    SqlValue(SqlValueKind, Oid, i32),
    /// Place of the row of a table that a cursor stands on; a parameter may have the cursor's name.
    CurrentOf {
        cursor: Arc<str>,
        variable: Option<usize>,
        table: Oid,
    },
    Sub(Box<SubCode>),
}

/// A row with some fields replaced.
pub struct FieldStoreCode {
    /// The row before.
    pub arg: Code,
    /// Numbers from 0 and new values.
    pub fields: Box<[(usize, Code)]>,
    /// What the row is.
    pub row: Arc<RowType>,
}

/// A value that a domain's constraints are checked for.
pub struct DomainCode {
    /// The value.
    pub arg: Code,
    /// Holds it while conditions run.
    pub cell: ParamId,
    /// Constraints: the condition of a CHECK, none for NOT NULL.
    pub checks: Box<[(Option<Code>, plan::DomainCheck)]>,
}

/// Types of an array constructor.
#[derive(Clone, Copy)]
pub struct ArrayShape {
    /// Element type.
    pub element: Oid,
    /// Elements are arrays.
    pub nested: bool,
}

/// Subscripts of an array.
#[allow(missing_docs)]
pub struct SubscriptCode {
    pub array: Code,
    pub upper: Box<[Option<Code>]>,
    pub lower: Box<[Option<Code>]>,
    pub slice: bool,
    pub element: Oid,
    /// The container is `jsonb`.
    pub json: bool,
    /// What subscripts do with a container whose texts are reached by texts.
    pub entries: Option<&'static types::registry::Entries>,
    /// The container is a type of fixed length, such as `point`.
    pub fixed: Option<types::array::FixedArray>,
    pub assign: Option<Code>,
}

type Args = SmallVec<[Datum; 4]>;

/// An integer of any size; `None` is NULL.
#[inline]
pub(crate) fn int_of(value: &Datum) -> Option<i64> {
    match value {
        Datum::Int4(v) => Some(i64::from(*v)),
        Datum::Int8(v) => Some(*v),
        Datum::Int2(v) => Some(i64::from(*v)),
        _ => None,
    }
}

impl Code {
    /// A value that is at hand without evaluation.
    #[inline]
    pub fn peek<'a>(&'a self, rows: Rows<'a>, cx: &'a Cx<'_>) -> Option<&'a Datum> {
        match self {
            Code::Const(value) => Some(value),
            Code::Param(number) => cx.params.get(*number),
            Code::Cell(id) => Some(&cx.state.cells[*id]),
            Code::Outer(i) => Some(&rows.outer[*i]),
            Code::Inner(i) => Some(&rows.inner[*i]),
            Code::Sub(sub) => crate::subplan::at_hand(sub, cx),
            _ => None,
        }
    }

    /// An integer, without building a [`Datum`] where that can be helped; `None` is NULL.
    #[inline]
    fn int(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Option<i64>> {
        if let Some(value) = self.peek(rows, cx) {
            return Ok(int_of(value));
        }
        Ok(int_of(&self.eval(rows, cx)?))
    }

    /// The value.
    pub fn eval(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        match self {
            Code::Const(value) => Ok(value.clone()),
            Code::Outer(i) => Ok(rows.outer[*i].clone()),
            Code::Inner(i) => Ok(rows.inner[*i].clone()),
            Code::Param(number) => match cx.params.get(*number) {
                Some(value) => Ok(value.clone()),
                None => Err(sql_err!(UNDEFINED_OBJECT, "no value found for parameter {}", number + 1)),
            },
            Code::Cell(id) => Ok(cx.state.cells[*id].clone()),
            Code::IntCmp(..)
            | Code::Compare(_)
            | Code::List(_)
            | Code::And(_)
            | Code::Or(_)
            | Code::Not(_)
            | Code::Test(..) => Ok(self.truth(rows, cx)?.map_or(Datum::Null, Datum::Bool)),
            Code::Decimal(code) => code.eval(rows, cx),
            Code::IntOp(op, sides) => int_op(*op, sides, rows, cx),
            Code::Call(call) => eval_call(call, rows, cx),
            _ => {
                // The rest nests through here: one check of the stack a level is enough.
                runtime::check_stack()?;
                self.eval_slow(rows, cx)
            }
        }
    }

    fn eval_slow(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        Ok(match self {
            Code::Distinct(call, negated) => {
                let left = call.args[0].eval(rows, cx)?;
                let right = call.args[1].eval(rows, cx)?;
                let same = match (left.is_null(), right.is_null()) {
                    (true, true) => true,
                    (false, false) => matches!(apply(call, &[left, right], cx)?, Datum::Bool(true)),
                    _ => false,
                };
                Datum::Bool(same == *negated)
            }
            Code::NullIf(call) => {
                let left = call.args[0].eval(rows, cx)?;
                let right = call.args[1].eval(rows, cx)?;
                if left.is_null() || right.is_null() {
                    return Ok(left);
                }
                let args = [left, right];
                let same = matches!(apply(call, &args, cx)?, Datum::Bool(true));
                let [left, _] = args;
                if same { Datum::Null } else { left }
            }
            Code::Case { operand, arms, otherwise } => {
                if let Some((cell, operand)) = operand {
                    let value = operand.eval(rows, cx)?;
                    cx.set(*cell, value);
                }
                for (when, then) in arms {
                    if when.test(rows, cx)? {
                        return then.eval(rows, cx);
                    }
                }
                otherwise.eval(rows, cx)?
            }
            Code::Coalesce(list) => {
                for code in list {
                    let value = code.eval(rows, cx)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                Datum::Null
            }
            Code::Extreme { greatest, args, order } => {
                let mut best = Datum::Null;
                for code in args {
                    let value = code.eval(rows, cx)?;
                    if value.is_null() {
                        continue;
                    }
                    let wanted = if *greatest { Ordering::Greater } else { Ordering::Less };
                    if best.is_null() || order.compare(&value, &best) == wanted {
                        best = value;
                    }
                }
                best
            }
            Code::IoCast { arg, source, target } => {
                let value = arg.eval(rows, cx)?;
                if value.is_null() {
                    return Ok(value);
                }
                let mut text = Vec::new();
                let call = cx.call(&[], *target, Oid::INVALID, false);
                types::output(*source, &value, &call, &mut text)?;
                types::input(*target, types::value::str_of(&text), -1, &call)?
            }
            Code::Relabel(arg, target) => types::registry::relabel(arg.eval(rows, cx)?, *target),
            Code::Other(call) => eval_other(call, rows, cx)?,
            Code::SqlValue(kind, type_oid, typmod) => cx.env.session.sql_value(*kind, *type_oid, *typmod)?,
            Code::CurrentOf { cursor, variable, table } => {
                let name = match variable {
                    None => cursor,
                    Some(number) => match cx.params.get(*number) {
                        Some(Datum::Bytes(name)) => types::value::str_of(name),
                        _ => {
                            let message = format!("no value found for parameter {}", number + 1);
                            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
                        }
                    },
                };
                cx.env.session.current_of(name, *table)?.map_or(Datum::Null, crate::node::tid_datum)
            }
            Code::Sub(sub) => crate::subplan::eval(sub, rows, cx)?,
            Code::Json(json) => json.eval(rows, cx)?,
            Code::Xml(xml) => xml.eval(rows, cx)?,
            Code::RowNull { fields, not } => {
                for field in fields {
                    if field.eval(rows, cx)?.is_null() == *not {
                        return Ok(Datum::Bool(false));
                    }
                }
                Datum::Bool(true)
            }
            Code::Array(..) | Code::ArrayOp(_) | Code::ArrayCast { .. } | Code::Subscript(_) => {
                crate::composite::eval(self, rows, cx)?
            }
            Code::Row(..)
            | Code::Field(..)
            | Code::FieldStore(_)
            | Code::RowValueNull { .. }
            | Code::Domain(_) => crate::row_value::eval(self, rows, cx)?,
            Code::Const(_)
            | Code::Param(_)
            | Code::Cell(_)
            | Code::Outer(_)
            | Code::Inner(_)
            | Code::Call(_)
            | Code::IntCmp(..)
            | Code::IntOp(..)
            | Code::Compare(_)
            | Code::List(_)
            | Code::Decimal(_)
            | Code::And(_)
            | Code::Or(_)
            | Code::Not(_)
            | Code::Test(..) => return self.eval(rows, cx),
        })
    }
}

/// A comparison of integers.
#[inline]
pub fn int_cmp(op: IntCmp, sides: &(Code, Code), rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Option<bool>> {
    let Some(a) = sides.0.int(rows, cx)? else { return Ok(None) };
    let Some(b) = sides.1.int(rows, cx)? else { return Ok(None) };
    Ok(Some(op.holds(a, b)))
}

fn int_op(op: IntOp, sides: &(Code, Code), rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    let Some(a) = sides.0.int(rows, cx)? else { return Ok(Datum::Null) };
    let Some(b) = sides.1.int(rows, cx)? else { return Ok(Datum::Null) };
    op.apply(a, b)
}

#[inline]
fn eval_call(call: &CallCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    runtime::check_stack()?;
    let missing = |value: &Datum| call.strict && value.is_null();
    // Most functions have one or two arguments: these need no list.
    match &*call.args {
        [arg] => {
            let arg = arg.eval(rows, cx)?;
            if missing(&arg) {
                return Ok(Datum::Null);
            }
            run(call, &[arg], cx)
        }
        [left, right] => {
            let left = left.eval(rows, cx)?;
            if missing(&left) {
                return Ok(Datum::Null);
            }
            let right = right.eval(rows, cx)?;
            if missing(&right) {
                return Ok(Datum::Null);
            }
            run(call, &[left, right], cx)
        }
        _ => {
            let mut args = Args::new();
            for code in &call.args {
                let value = code.eval(rows, cx)?;
                if missing(&value) {
                    return Ok(Datum::Null);
                }
                args.push(value);
            }
            run(call, &args, cx)
        }
    }
}

#[inline]
fn run(call: &CallCode, args: &[Datum], cx: &Cx<'_>) -> SqlResult<Datum> {
    (call.eval)(&cx.call(&call.types, call.result, call.collation, call.variadic), args)
}

/// Calls with arguments at hand.
#[inline]
pub fn apply(call: &CallCode, args: &[Datum], cx: &Cx<'_>) -> SqlResult<Datum> {
    let context = cx.call(&call.types, call.result, call.collation, call.variadic);
    match &call.routine {
        None => (call.eval)(&context, args),
        Some(routine) => {
            cx.env.session.call_routine(routine, &context, args, (cx.env.snapshot, cx.env.command))
        }
    }
}

fn eval_other(call: &OtherCall, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    let mut args = Args::new();
    for code in &call.args {
        let value = code.eval(rows, cx)?;
        if call.function.strict() && value.is_null() {
            return Ok(Datum::Null);
        }
        args.push(value);
    }
    let context = cx.call(&call.types, call.result, call.collation, call.variadic);
    let imp = match &call.function {
        plan::Function::Builtin(function) => function.imp,
        plan::Function::User(routine) => {
            return cx.env.session.call_routine(routine, &context, &args, (cx.env.snapshot, cx.env.command));
        }
    };
    match imp {
        Imp::Native(eval) => eval(&context, &args),
        Imp::Session(id) => cx.env.session.call(id, &context, &args, cx.env.snapshot),
        Imp::Output(type_oid) => {
            let mut out = Vec::new();
            types::output(type_oid, &args[0], &context, &mut out)?;
            Ok(Datum::Bytes(out.into()))
        }
        Imp::Input(type_oid) => {
            let typmod = match args.get(2) {
                Some(Datum::Int4(n)) => *n,
                _ => -1,
            };
            match &args[0] {
                Datum::Bytes(text) => types::input(type_oid, types::value::str_of(text), typmod, &context),
                _ => Ok(Datum::Null),
            }
        }
        Imp::Send(type_oid) => {
            let mut out = Vec::new();
            // A polymorphic one gives the form of what it is called with.
            let type_oid = if analyze::is_polymorphic(type_oid) { context.arg_type(0) } else { type_oid };
            types::send(type_oid, &args[0], &context, &mut out)?;
            if let Some(passage) =
                types::encoding::Passage::new(types::text::server_encoding(), base::Encoding::SqlAscii)
            {
                out = types::encoding::to_client(passage, type_oid, &out, &context)?.into_owned();
            }
            Ok(Datum::Bytes(out.into()))
        }
        _ => Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "function {}() cannot be called in this context",
            call.function.name()
        )),
    }
}

/// Whether all conditions hold.
#[inline]
pub fn passes(quals: &[Code], rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<bool> {
    for qual in quals {
        if !qual.test(rows, cx)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Replaces `out` by the values of `codes`.
#[inline]
pub fn project(codes: &[Code], rows: Rows<'_>, cx: &mut Cx<'_>, out: &mut Vec<Datum>) -> SqlResult<()> {
    out.clear();
    for code in codes {
        // Most outputs are columns.
        let value = match code {
            Code::Outer(i) => rows.outer[*i].clone(),
            Code::Inner(i) => rows.inner[*i].clone(),
            code => code.eval(rows, cx)?,
        };
        out.push(value);
    }
    Ok(())
}
