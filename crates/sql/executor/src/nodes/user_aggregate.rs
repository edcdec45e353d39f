//! Aggregates of users: a value for a state, and functions that are called with it row by row.
//!
//! # Invariants
//! 1. A function reads one row: the state, then the arguments. The state is moved into it and back.
//! 2. A strict transition function is never called with a NULL: rows with one are passed over, the first other row's argument is the
//!    first state where there is no other, and a state that has become NULL stays so.

use base::{Oid, SqlError, SqlResult, sql_err};
use eval::code::{Code, Rows};
use eval::compile::{Compiler, Inputs};
use eval::cx::Cx;
use plan::{Call, CallForm, Expr, Function, UserSteps, Var};
use smallvec::SmallVec;
use tuple::Datum;
use types::oids;

/// Number of the relation whose columns are the state and the arguments.
const STEP: plan::RelId = plan::RelId::MAX;

/// The functions of an aggregate, compiled.
pub struct UserCode {
    transition: Code,
    strict: bool,
    inverse: Option<Code>,
    finale: Option<Code>,
    /// NULLs behind the final function's arguments.
    extra: usize,
    initial: Option<Code>,
}

/// The state of one group or frame.
#[derive(Debug, Default)]
pub struct UserState {
    value: Datum,
    phase: Phase,
    /// Rows that the state is made of.
    rows: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The first state is still to be read.
    #[default]
    New,
    /// The first row's argument is to be the state.
    Empty,
    Running,
}

/// What stands for the state, or an argument, in a call of a function.
fn column(number: usize, type_oid: Oid) -> Expr {
    Expr::Var(Var { rel: STEP, column: number as i16 + 1, type_oid, typmod: -1 })
}

/// A call of a function with columns of these types.
fn step(
    compiler: &Compiler<'_>,
    function: &Function,
    types: &[Oid],
    result: Oid,
    collation: Oid,
) -> SqlResult<Code> {
    let args: Vec<Expr> = types.iter().enumerate().map(|(i, ty)| column(i, *ty)).collect();
    let call = Call {
        function: function.clone(),
        form: CallForm::Function,
        args: args.clone(),
        type_oid: result,
        typmod: -1,
        collation,
        variadic: false,
        number: 0,
    };
    compiler.expr(&Expr::Call(Box::new(call)), Inputs::one(&args))
}

impl UserCode {
    /// Compiles the functions of an aggregate over arguments of these types, for this result.
    pub fn new(
        compiler: &Compiler<'_>,
        steps: &UserSteps,
        (direct, args): (&[Oid], &[Oid]),
        (result, collation): (Oid, Oid),
    ) -> SqlResult<UserCode> {
        let with_state = |args: &[Oid]| [&[steps.state], args].concat();
        let (types, final_types) = (with_state(args), with_state(&[direct, &steps.extra].concat()));
        let transition = step(compiler, &steps.transition, &types, steps.state, collation)?;
        let inverse = steps.inverse.as_ref();
        let finale = steps.finale.as_ref();
        let initial = steps.initial.as_ref().map(|text| Expr::IoCast {
            arg: Box::new(Expr::Const {
                value: Datum::Bytes(text.as_bytes().into()),
                type_oid: oids::text,
                typmod: -1,
            }),
            type_oid: steps.state,
            explicit: true,
        });
        Ok(UserCode {
            transition,
            strict: steps.transition.strict(),
            inverse: inverse.map(|f| step(compiler, f, &types, steps.state, collation)).transpose()?,
            finale: finale.map(|f| step(compiler, f, &final_types, result, collation)).transpose()?,
            extra: steps.extra.len(),
            initial: initial.map(|e| compiler.expr(&e, Inputs::default())).transpose()?,
        })
    }

    fn begin(&self, state: &mut UserState, cx: &mut Cx<'_>) -> SqlResult<()> {
        if state.phase != Phase::New {
            return Ok(());
        }
        if let Some(initial) = &self.initial {
            state.value = initial.eval(Rows::one(&[]), cx)?;
        }
        state.phase = if self.strict && state.value.is_null() { Phase::Empty } else { Phase::Running };
        Ok(())
    }

    fn call(code: &Code, state: Datum, args: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Datum> {
        let mut row: SmallVec<[Datum; 4]> = SmallVec::with_capacity(args.len() + 1);
        row.push(state);
        row.extend(args.iter().cloned());
        code.eval(Rows::one(&row), cx)
    }

    /// Takes a row.
    pub fn add(&self, state: &mut UserState, args: &[Datum], cx: &mut Cx<'_>) -> SqlResult<()> {
        self.begin(state, cx)?;
        if self.strict && args.iter().any(Datum::is_null) {
            return Ok(());
        }
        if let (Phase::Empty, Some(first)) = (state.phase, args.first()) {
            (state.value, state.phase) = (first.clone(), Phase::Running);
        } else {
            if self.strict && state.value.is_null() {
                return Ok(());
            }
            state.value = Self::call(&self.transition, std::mem::take(&mut state.value), args, cx)?;
            if self.inverse.is_some() && state.value.is_null() {
                return Err(sql_err!(
                    NULL_VALUE_NOT_ALLOWED,
                    "moving-aggregate transition function must not return null"
                ));
            }
        }
        state.rows += 1;
        Ok(())
    }

    /// Takes a row back that was the first of those in the state; false if the functions cannot.
    pub fn take_back(&self, state: &mut UserState, args: &[Datum], cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Some(inverse) = &self.inverse else { return Ok(false) };
        if self.strict && args.iter().any(Datum::is_null) {
            return Ok(true);
        }
        if state.rows <= 1 {
            *state = UserState::default();
            return Ok(true);
        }
        if state.value.is_null() {
            return Err(SqlError::internal("aggregate transition value is NULL before inverse transition"));
        }
        state.value = Self::call(inverse, std::mem::take(&mut state.value), args, cx)?;
        state.rows -= 1;
        Ok(!state.value.is_null())
    }

    /// Whether rows can be taken back.
    pub fn moves(&self) -> bool {
        self.inverse.is_some()
    }

    /// The result so far; the state may go on.
    pub fn finish(&self, state: &mut UserState, direct: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Datum> {
        self.begin(state, cx)?;
        let Some(finale) = &self.finale else { return Ok(state.value.clone()) };
        let args: Vec<Datum> =
            direct.iter().cloned().chain(std::iter::repeat_n(Datum::Null, self.extra)).collect();
        Self::call(finale, state.value.clone(), &args, cx)
    }
}
