//! One run of a function: its variables' values, and the statements carried out on them.
//!
//! Layout: this file has the frame, blocks and control; `value`: expressions, assignments, conversions; `simple`: expressions without a statement; `array`: arrays whose
//! elements are set one by one; `query`: statements of SQL;
//! `loops`; `cursor`; `report`: RAISE, ASSERT, GET DIAGNOSTICS; `result`: what the function returns; `trigger`: trigger functions.
//!
//! PostgreSQL counterpart: `pl_exec.c`.

mod array;
mod cursor;
mod loops;
mod query;
mod report;
mod result;
mod simple;
mod trigger;
mod value;

use std::rc::Rc;

use analyze::ColumnType;
use base::{SqlError, SqlResult, SqlState, sql_err};
use session::Session;
use session::routine::{Invocation, Returned, RowStore, Scene, Sees};
use tuple::Datum;
use types::array::Array;
use types::record::Row;

use crate::ast::*;
use crate::compile::Compiled;
use crate::conditions::catches;

pub use trigger::fire;

/// A row variable's value: its columns and their values.
#[derive(Clone, Debug)]
pub struct RowValue {
    /// Columns; dropped ones have type 0.
    pub columns: Rc<[ColumnType]>,
    /// Their values.
    pub values: Vec<Datum>,
}

/// A variable's value.
#[derive(Clone, Debug)]
pub enum Value {
    /// One value.
    Scalar(Datum),
    /// A row; none before it is assigned to.
    Row(Option<RowValue>),
}

/// The values of a run's variables.
#[derive(Debug, Default)]
pub struct Values {
    /// Of scalar variables by number, and behind them what expressions find besides.
    slots: Vec<Datum>,
    /// Of records by number; none before they are assigned to.
    rows: Vec<Option<RowValue>>,
}

/// Most values that a function keeps for its next runs: more only if it calls itself.
const MOST_SPARE: usize = 4;

impl Values {
    /// For a run of a function: nothing but NULLs.
    fn of(function: &Function) -> Values {
        let mut values = function.spare.borrow_mut().pop().unwrap_or_default();
        values.slots.resize(function.variables.len() + function.more_slots.get(), Datum::Null);
        values.rows.resize_with(function.rows, || None);
        values
    }

    fn give_back(mut self, function: &Function) {
        let Ok(mut spare) = function.spare.try_borrow_mut() else { return };
        if spare.len() < MOST_SPARE {
            self.slots.iter_mut().filter(|value| !value.is_null()).for_each(|value| *value = Datum::Null);
            self.rows.iter_mut().filter(|row| row.is_some()).for_each(|row| *row = None);
            spare.push(self);
        }
    }
}

/// How a statement ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// The next one follows.
    Next,
    /// EXIT of a loop or block.
    Exit(Option<String>),
    /// CONTINUE of a loop.
    Continue(Option<String>),
    /// RETURN.
    Return,
}

/// One run of a function.
pub struct Frame<'a> {
    session: &'a Session,
    state: &'a Compiled,
    function: &'a Function,
    invocation: Option<&'a Invocation<'a>>,
    sees: Sees<'a>,
    /// What expressions find that ask nobody, and the turn that it is of.
    scene: (Scene<'a>, u64),
    /// Whether COMMIT and ROLLBACK are not allowed here.
    atomic: bool,
    /// Values of scalar variables by number, and behind them what expressions find besides.
    slots: Vec<Datum>,
    /// Arrays of variables taken apart, by number; empty before the first of them is.
    arrays: Vec<Option<Box<Array>>>,
    /// How many of them have changed since: the values in their slots are behind.
    changed_arrays: usize,
    /// Those of records by number; none before they are assigned to.
    rows_of: Vec<Option<RowValue>>,
    /// Types of CASE's operands, known at run time only.
    operands: Vec<(VarId, TypeRef)>,
    /// What RETURN gave.
    returned: Option<(Value, TypeRef)>,
    /// What RETURN NEXT and RETURN QUERY gave.
    rows: RowStore,
    row_count: u64,
    /// Errors that handlers around are handling, innermost last.
    handling: Vec<SqlError>,
    /// The error under way was raised again by a handler.
    rethrown: bool,
    /// Line and name of the present statement.
    present: (u32, &'static str),
}

/// Runs a function.
pub fn call(
    session: &Session,
    state: &Compiled,
    function: &Function,
    invocation: &Invocation<'_>,
) -> SqlResult<Returned> {
    if let Some(value) = simple::only_value(session, state, function, invocation) {
        return Ok(Returned::Value(value));
    }
    let calls = (Some(invocation), invocation.sees());
    let mut frame = Frame::new(session, state, function, calls, invocation.atomic);
    frame
        .store_arguments(invocation)
        .map_err(|e| frame.during(e, "while storing call arguments into local variables"))?;
    frame.run()?;
    frame.finish(invocation)
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        let (slots, rows) = (std::mem::take(&mut self.slots), std::mem::take(&mut self.rows_of));
        Values { slots, rows }.give_back(self.function);
    }
}

/// Runs a block of DO.
pub fn run_block(session: &Session, state: &Compiled, function: &Function, atomic: bool) -> SqlResult<()> {
    Frame::new(session, state, function, (None, Sees::Now), atomic).run()
}

impl<'a> Frame<'a> {
    fn new(
        session: &'a Session,
        state: &'a Compiled,
        function: &'a Function,
        (invocation, sees): (Option<&'a Invocation<'a>>, Sees<'a>),
        atomic: bool,
    ) -> Frame<'a> {
        // What ran before may have changed anything.
        state.look_again(session);
        let Values { slots, rows: rows_of } = Values::of(function);
        let mut frame = Frame {
            session,
            state,
            function,
            invocation,
            sees,
            scene: (session.scene(invocation.map(|i| (i.snapshot, i.command))), state.turn()),
            atomic,
            slots,
            rows_of,
            arrays: Vec::new(),
            changed_arrays: 0,
            operands: Vec::new(),
            returned: None,
            rows: RowStore::default(),
            row_count: 0,
            handling: Vec::new(),
            rethrown: false,
            present: (0, ""),
        };
        frame.slots[function.found] = Datum::Bool(false);
        frame
    }

    fn store_arguments(&mut self, invocation: &Invocation<'_>) -> SqlResult<()> {
        for (&variable, value) in self.function.arguments.iter().zip(invocation.args) {
            match &self.function.variables[variable].kind {
                VariableKind::Record(ty) => self.rows_of[variable] = self.row_of(value, ty.oid)?,
                _ => self.slots[variable] = value.clone(),
            }
        }
        Ok(())
    }

    /// Runs the body, and sees to it that it returned if it had to.
    fn run(&mut self) -> SqlResult<()> {
        let function = self.function;
        let flow = self.block(&function.body).map_err(|e| self.located(e))?;
        match flow {
            Flow::Return => Ok(()),
            Flow::Next if self.may_fall_off() => Ok(()),
            Flow::Next | Flow::Exit(_) => {
                let what = if function.trigger.is_some() { "trigger procedure" } else { "function" };
                let error = sql_err!(
                    S_R_E_FUNCTION_EXECUTED_NO_RETURN_STATEMENT,
                    "control reached end of {what} without RETURN"
                );
                Err(error.context(format!("PL/pgSQL function {}", function.signature)))
            }
            Flow::Continue(_) => Err(sql_err!(SYNTAX_ERROR, "CONTINUE cannot be used outside a loop")),
        }
    }

    /// Whether the end of the body counts as RETURN.
    fn may_fall_off(&self) -> bool {
        let f = &self.function;
        !matches!(f.kind, FunctionKind::Function | FunctionKind::Trigger)
            || f.result == types::oids::void
            || f.returns_set
            || !f.outputs.is_empty()
    }

    /// Adds the line of context that says where in the function an error came up.
    fn located(&self, error: SqlError) -> SqlError {
        if self.rethrown {
            return error;
        }
        let (line, what) = self.present;
        let signature = &self.function.signature;
        error.context(match what {
            "" => format!("PL/pgSQL function {signature}"),
            when if when.starts_with("during ") => {
                format!("PL/pgSQL function {signature} line {line} {when}")
            }
            what => format!("PL/pgSQL function {signature} line {line} at {what}"),
        })
    }

    fn during(&self, error: SqlError, what: &str) -> SqlError {
        error.context(format!("PL/pgSQL function {} {what}", self.function.signature))
    }

    // Blocks

    fn block(&mut self, block: &Block) -> SqlResult<Flow> {
        let present = self.present;
        self.declare(block)?;
        let flow = match &block.handlers {
            None => self.statements(&block.body)?,
            Some(handlers) => self.guarded(block, handlers)?,
        };
        self.present = present;
        Ok(match flow {
            Flow::Exit(label) if label.is_some() && label == block.label => Flow::Next,
            flow => flow,
        })
    }

    /// Gives the block's variables their first values.
    fn declare(&mut self, block: &Block) -> SqlResult<()> {
        for &id in &block.declared {
            let variable = &self.function.variables[id];
            self.present = (variable.line, "during statement block local variable initialization");
            self.initialize(id, variable)?;
        }
        Ok(())
    }

    fn initialize(&mut self, id: VarId, variable: &Variable) -> SqlResult<()> {
        match (&variable.default, &variable.kind) {
            (Some(default), _) => {
                let (value, ty) = self.evaluate(default)?;
                self.assign_variable(id, value, ty)
            }
            (None, VariableKind::Record(_)) => {
                self.rows_of[id] = None;
                Ok(())
            }
            // A bound cursor has no name until it is opened.
            (None, VariableKind::Cursor(_)) => {
                self.slots[id] = Datum::Null;
                Ok(())
            }
            (None, VariableKind::Scalar(ty)) => {
                self.set_slot(id, Datum::Null);
                match types::builtin_type(ty.oid) {
                    Some(_) => Ok(()),
                    // A domain may refuse NULL.
                    None => self.assign_scalar(id, Datum::Null, types::oids::text),
                }
            }
        }
    }

    /// A block with EXCEPTION: a subtransaction.
    fn guarded(&mut self, block: &Block, handlers: &Handlers) -> SqlResult<Flow> {
        let begun = self.session.begin_subtransaction();
        match self.statements(&block.body) {
            Ok(flow) => {
                self.session.commit_subtransaction(begun)?;
                Ok(flow)
            }
            Err(error) => {
                self.session.abort_subtransaction(begun);
                // Settings are as they were.
                self.state.look_again(self.session);
                let catching = |h: &&Handler| h.conditions.iter().any(|c| handles(*c, &error));
                let caught = handlers.list.iter().find(catching);
                let Some(handler) = caught.filter(|_| !self.session.exits_on_error()) else {
                    return Err(error);
                };
                // The context of the error ends here, at its handler.
                let error = self.located(error);
                self.rethrown = false;
                let text = types::oids::text;
                let code = Datum::text(error.code().as_str());
                let message = Datum::text(error.message());
                self.assign_scalar(handlers.variables.0, code, text)?;
                self.assign_scalar(handlers.variables.1, message, text)?;
                self.handling.push(error);
                let flow = self.statements(&handler.body);
                self.handling.pop();
                flow
            }
        }
    }

    // Statements

    fn statements(&mut self, list: &[Statement]) -> SqlResult<Flow> {
        for statement in list {
            let flow = self.statement(statement)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement) -> SqlResult<Flow> {
        self.present = (statement.line, statement.name);
        use StatementKind as K;
        match &statement.kind {
            K::Null => Ok(Flow::Next),
            K::Assign { target, value } | K::Store { target, value } => {
                let done = match target {
                    Target::Variable(variable) => self.assign_at_once(*variable, value),
                    Target::Field(variable, field) => self.assign_field_at_once(*variable, field, value),
                    Target::List(_) => None,
                };
                if let Some(done) = done {
                    return done.map(|()| Flow::Next).map_err(|e| self.within(e, value));
                }
                if let Target::Variable(variable) = target
                    && self.change_array(*variable, value)?
                {
                    return Ok(Flow::Next);
                }
                let (value, ty) = self.evaluate(value)?;
                self.assign(target, value, ty)?;
                Ok(Flow::Next)
            }
            K::Exit { leave, label, condition } => {
                let taken = match condition {
                    Some(condition) => self.test(condition)?,
                    None => true,
                };
                Ok(match (taken, leave) {
                    (false, _) => Flow::Next,
                    (true, true) => Flow::Exit(label.clone()),
                    (true, false) => Flow::Continue(label.clone()),
                })
            }
            K::Return(value) => self.return_value(value.as_ref()),
            K::ReturnNext(value) => self.return_next(value.as_ref()),
            K::Raise(raise) => self.raise(raise),
            K::Assert { condition, message } => self.assert(condition, message.as_ref()),
            K::GetDiagnostics { stacked, items } => self.diagnostics(*stacked, items),
            K::Block(_)
            | K::If { .. }
            | K::Case { .. }
            | K::Loop { .. }
            | K::While { .. }
            | K::ForRange { .. }
            | K::ForQuery { .. }
            | K::ForCursor { .. }
            | K::ForEach { .. } => {
                runtime::check_stack()?;
                self.compound(&statement.kind)
            }
            kind => {
                runtime::check_interrupts().map_err(SqlError::from)?;
                let flow = self.sql_statement(kind);
                self.state.look_again(self.session);
                flow
            }
        }
    }

    /// A statement that is made of others.
    fn compound(&mut self, kind: &StatementKind) -> SqlResult<Flow> {
        use StatementKind as K;
        match kind {
            K::Block(block) => self.block(block),
            K::If { arms, otherwise } => {
                for (condition, body) in arms {
                    if self.test(condition)? {
                        return self.statements(body);
                    }
                }
                self.statements(otherwise)
            }
            K::Case { operand, arms, otherwise } => self.case(operand, arms, otherwise),
            K::Loop { label, body } => self.plain_loop(label, body),
            K::While { label, condition, body } => self.while_loop(label, condition, body),
            K::ForRange { label, variable, lower, upper, step, reverse, body } => {
                self.range(label, *variable, (lower, upper, step.as_ref()), *reverse, body)
            }
            K::ForQuery { label, target, query, body } => self.for_query(label, target, query, body),
            K::ForCursor { label, row, cursor, arguments, body } => {
                self.for_cursor(label, *row, *cursor, arguments.as_deref(), body)
            }
            K::ForEach { label, target, slice, array, body } => {
                self.foreach(label, target, *slice, array, body)
            }
            _ => Err(SqlError::internal("a compound statement was expected")),
        }
    }

    /// A statement that may change catalogs and settings.
    fn sql_statement(&mut self, kind: &StatementKind) -> SqlResult<Flow> {
        use StatementKind as K;
        match kind {
            K::ReturnQuery(query) => self.return_query(query),
            K::Sql { statement, into } => self.sql(statement, into.as_ref()),
            K::Execute { text, into, using } => self.execute(text, into.as_ref(), using),
            K::Perform(statement) => self.perform(statement),
            K::Call(statement) => self.call_statement(statement),
            K::Open { cursor, scroll, source } => self.open(*cursor, *scroll, source),
            K::Fetch { cursor, direction, into } => self.fetch(*cursor, direction, into.as_ref()),
            K::Close(cursor) => self.close(*cursor),
            K::Commit { chain } => self.end_transaction(true, *chain),
            K::Rollback { chain } => self.end_transaction(false, *chain),
            _ => Err(SqlError::internal("a statement of SQL was expected")),
        }
    }

    fn case(
        &mut self,
        operand: &Option<(Rc<crate::expr::Expression>, VarId)>,
        arms: &[(Rc<crate::expr::Expression>, Vec<Statement>)],
        otherwise: &Option<Vec<Statement>>,
    ) -> SqlResult<Flow> {
        if let Some((operand, variable)) = operand {
            let (value, ty) = self.evaluate(operand)?;
            self.operands.retain(|(known, _)| known != variable);
            self.operands.push((*variable, ty));
            self.set_slot(*variable, value);
        }
        for (condition, body) in arms {
            if self.test(condition)? {
                return self.statements(body);
            }
        }
        match otherwise {
            Some(body) => self.statements(body),
            None => {
                Err(sql_err!(CASE_NOT_FOUND, "case not found").hint("CASE statement is missing ELSE part."))
            }
        }
    }

    fn end_transaction(&mut self, commit: bool, chain: bool) -> SqlResult<Flow> {
        if self.atomic || !self.handling.is_empty() || self.session.in_subtransaction() {
            return Err(SqlError::new(
                SqlState::INVALID_TRANSACTION_TERMINATION,
                match (self.session.in_subtransaction() && !self.atomic, commit) {
                    (true, true) => "cannot commit while a subtransaction is active",
                    (true, false) => "cannot roll back while a subtransaction is active",
                    _ => "invalid transaction termination",
                },
            ));
        }
        self.session.end_in_procedure(commit, chain)?;
        // What the caller saw is of a transaction that has ended.
        self.scene.0 = self.session.scene(None);
        Ok(Flow::Next)
    }

    /// A row's payload as a row variable's value; `None` for NULL.
    fn row_of(&self, value: &Datum, type_oid: base::Oid) -> SqlResult<Option<RowValue>> {
        let Datum::Bytes(bytes) = value else { return Ok(None) };
        let row = Row::from_payload(bytes);
        let named = match row.type_oid == types::oids::record {
            true => self.session.row_columns_of(type_oid)?,
            false => self.session.row_columns_of(row.type_oid)?,
        };
        let columns: Rc<[ColumnType]> = match named {
            Some(columns) => columns.into(),
            None => row
                .fields
                .iter()
                .enumerate()
                .map(|(i, (field, _))| ColumnType {
                    name: row.names.get(i).cloned().unwrap_or_else(|| format!("f{}", i + 1)),
                    type_oid: field.type_oid,
                    typmod: -1,
                    collation: base::Oid::INVALID,
                })
                .collect(),
        };
        let mut values: Vec<Datum> = row.fields.into_iter().map(|(_, value)| value).collect();
        values.resize(columns.len(), Datum::Null);
        Ok(Some(RowValue { columns, values }))
    }
}

fn handles(condition: Condition, error: &SqlError) -> bool {
    match condition {
        // A cancelled statement and a failed assertion must be named.
        Condition::Others => {
            !matches!(error.code(), SqlState::QUERY_CANCELED | SqlState::ASSERT_FAILURE)
                && error.report().severity == base::Severity::Error
        }
        Condition::Code(code) => {
            catches(code, error.code()) && error.report().severity == base::Severity::Error
        }
    }
}
