//! Expressions that stand alone: computed from values in slots, without rows, nodes and subplans.
//!
//! # What
//! Procedural languages keep one of these for each expression of a body. Its parameters are numbers of slots, which the caller owns: a run copies no
//! values and makes no state tree.
//!
//! # Invariants
//! 1. What an expression changes while it is computed is in its cells. A computation that comes in between (a function that calls itself) has cells of its own.

use std::cell::Cell;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use plan::{Call, Expr, Function, Statement};
use tuple::Datum;
use types::array::Array;
use types::{Imp, Volatility};

use crate::code::{Code, Rows};
use crate::compile::{Compiler, Inputs};
use crate::composite::Subscripts;
use crate::cx::{Cx, Env, State};
use crate::mere::{Site, Sum};
use crate::needs::Needs;

/// `array_append`, which `array || element` calls too.
const ARRAY_APPEND: Oid = Oid(378);

/// What an expression asks of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// No functions of users or of the session: it sees no table and changes nothing.
    Nothing,
    /// It may read tables, but its value is promised to be the same at any time.
    Immutable,
    /// It may see what was changed before, and change something.
    Everything,
}

/// The values that an expression is computed over.
#[derive(Clone, Copy)]
pub struct Slots<'a> {
    /// By number.
    pub values: &'a [Datum],
    /// Arrays taken apart, by number; elements are read there.
    pub arrays: &'a [Option<Box<Array>>],
}

/// How an expression uses a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotUse {
    /// The value as such.
    Whole,
    /// Elements of an array.
    Elements,
}

/// What is to be done to an array.
pub enum Change {
    /// An element becomes another.
    Set(Subscripts, Datum),
    /// One is added behind the last.
    Append(Datum),
}

/// An expression ready to be computed.
pub struct Simple {
    code: Code,
    uses: Box<[(usize, SlotUse)]>,
    statement: Arc<Statement>,
    needs: Needs,
    state: Cell<Option<Box<State>>>,
    reach: Reach,
    /// It needs its parameters only.
    mere: bool,
}

impl Simple {
    /// The one value of a statement that reads no relation; its parameter `n` is in the slot `slots[n]`. None if the statement is more than that.
    pub fn of_statement(statement: &Arc<Statement>, slots: &[usize]) -> SqlResult<Option<Simple>> {
        let plan::Node::Result { one_time, child: None } = &statement.plan.node else { return Ok(None) };
        let ([expr], [_]) = (statement.plan.output.as_slice(), statement.result.as_slice()) else {
            return Ok(None);
        };
        let plain = one_time.is_empty()
            && statement.plan.filter.is_empty()
            && statement.subplans.is_empty()
            && statement.relations.is_empty()
            && statement.locks.is_empty()
            && !statement.modifies;
        let special = |e: &Expr| match e {
            Expr::CurrentOf { .. } | Expr::SubPlan(_) => true,
            Expr::Param { number, .. } => *number >= slots.len(),
            _ => false,
        };
        if !plain || expr.any(&mut |e| special(e)) || expr.returns_set() {
            return Ok(None);
        }
        Simple::new(expr, statement.clone(), slots).map(Some)
    }

    /// An expression of one parameter, which is in slot 0.
    pub fn of_expression(expr: &Expr) -> SqlResult<Simple> {
        Simple::new(expr, Arc::new(Statement::of_expression(expr.clone())), &[0])
    }

    fn new(expr: &Expr, statement: Arc<Statement>, slots: &[usize]) -> SqlResult<Simple> {
        let mut expr = expr.clone();
        expr.replace(&mut |e| match e {
            Expr::Param { number, type_oid } => {
                Some(Expr::Param { number: slots.get(*number).copied()?, type_oid: *type_oid })
            }
            _ => None,
        });
        let reach = match expr.any(&mut reaches_out) {
            false => Reach::Nothing,
            true if expr.volatility() == Volatility::Immutable => Reach::Immutable,
            true => Reach::Everything,
        };
        let code = Compiler { statement: &statement }.expr(&expr, Inputs::default())?;
        let mere = reach == Reach::Nothing && code.is_mere();
        let mut uses = Vec::new();
        find_uses(&expr, &mut uses);
        Ok(Simple {
            code,
            uses: uses.into(),
            statement,
            needs: Needs::default(),
            state: Cell::new(None),
            reach,
            mere,
        })
    }

    /// What it asks of the world.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The slot whose value it is, if it is no more than that.
    pub fn slot(&self) -> Option<usize> {
        match self.code {
            Code::Param(slot) => Some(slot),
            _ => None,
        }
    }

    /// Whether it needs no more than a [`Site`].
    #[inline]
    pub fn is_mere(&self) -> bool {
        self.mere
    }

    /// The value, if it is mere.
    #[inline]
    pub fn mere(&self, site: &Site<'_>) -> SqlResult<Datum> {
        self.code.mere(site)
    }

    /// The same, if it is the result of an operator of integers.
    #[inline]
    pub fn mere_sum(&self, site: &Site<'_>) -> Option<SqlResult<Sum>> {
        self.code.mere_sum(site)
    }

    /// The truth of a condition, if it is mere; `None` is NULL.
    #[inline]
    pub fn mere_truth(&self, site: &Site<'_>) -> SqlResult<Option<bool>> {
        self.code.mere_truth(site)
    }

    /// The slots that it reads, and how.
    pub fn uses(&self) -> &[(usize, SlotUse)] {
        &self.uses
    }

    /// The slot of an array of which this is a copy with one element set or added, if it is no more than that.
    pub fn changed_array(&self) -> Option<usize> {
        match &self.code {
            Code::Subscript(code) => code.changes_parameter(),
            Code::Call(call) if call.oid == ARRAY_APPEND => match &*call.args {
                [Code::Param(number), _] => Some(*number),
                _ => None,
            },
            _ => None,
        }
    }

    /// What is to be done to that array.
    pub fn change(&self, env: &Env<'_>, slots: Slots<'_>) -> SqlResult<Change> {
        self.with_cx(env, slots, |cx| {
            let rows = Rows::one(&[]);
            match &self.code {
                Code::Subscript(code) => code.change(rows, cx).map(|(at, value)| Change::Set(at, value)),
                Code::Call(call) if call.args.len() == 2 => call.args[1].eval(rows, cx).map(Change::Append),
                _ => Err(SqlError::internal("an expression that changes no array")),
            }
        })
    }

    /// The value.
    pub fn eval(&self, env: &Env<'_>, slots: Slots<'_>) -> SqlResult<Datum> {
        self.with_cx(env, slots, |cx| self.code.eval(Rows::one(&[]), cx))
    }

    fn with_cx<T>(&self, env: &Env<'_>, slots: Slots<'_>, f: impl FnOnce(&mut Cx<'_>) -> T) -> T {
        let known = self.state.take();
        let mut state = known.unwrap_or_else(|| Box::new(State::of_cells(self.statement.exec_params)));
        let cx = &mut Cx::new(env, &self.needs, &self.statement, slots.values, &mut state);
        cx.arrays = slots.arrays;
        let done = f(cx);
        // Large values do not stay.
        state.cells.fill(Datum::Null);
        self.state.set(Some(state));
        done
    }
}

/// Adds how an expression uses slots.
fn find_uses(expr: &Expr, uses: &mut Vec<(usize, SlotUse)>) {
    if let Expr::Param { number, .. } = expr {
        uses.push((*number, SlotUse::Whole));
        return;
    }
    let mut element = None;
    if let Expr::Subscript { array, slice: false, assign: None, container, .. } = expr
        && let Expr::Param { number, .. } = &**array
        && types::builtin_type(*container).is_some_and(|t| t.category == b'A')
        && types::array::FixedArray::of(*container).is_none()
    {
        element = Some(&**array);
        uses.push((*number, SlotUse::Elements));
    }
    expr.for_children(&mut |child| {
        if !element.is_some_and(|array| std::ptr::eq(array, child)) {
            find_uses(child, uses);
        }
    });
}

/// Whether an expression asks more than the code of built-in functions can tell.
fn reaches_out(expr: &Expr) -> bool {
    let native =
        |function: &Function| matches!(function, Function::Builtin(f) if matches!(f.imp, Imp::Native(_)));
    let known = |type_oid: Oid| type_oid.is_pinned();
    let called = |call: &Call| !native(&call.function);
    match expr {
        Expr::Call(call) | Expr::NullIf(call) | Expr::Distinct { equality: call, .. } => called(call),
        Expr::ArrayOp(op) => !native(&op.function),
        Expr::IoCast { arg, type_oid, .. } => !known(arg.type_oid()) || !known(*type_oid),
        Expr::Const { .. }
        | Expr::Param { .. }
        | Expr::ExecParam { .. }
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Not(_)
        | Expr::Test(..)
        | Expr::Case { .. }
        | Expr::Coalesce(..)
        | Expr::Extreme(..)
        | Expr::Relabel { .. }
        | Expr::ArrayCast { .. }
        | Expr::Array { .. }
        | Expr::Subscript { .. }
        | Expr::Row { .. }
        | Expr::Field { .. }
        | Expr::FieldStore { .. }
        | Expr::RowNullTest { .. }
        | Expr::ToDomain { .. } => false,
        _ => true,
    }
}
