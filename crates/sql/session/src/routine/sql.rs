//! Functions in SQL.
//!
//! What: the body is parsed once a session for each set of argument types; its statements keep their plans.
//!
//! PostgreSQL counterpart: `executor/functions.c`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use analyze::query::{Command, Query};
use analyze::routine::{self, ReturnForm, ReturnType};
use analyze::variables::{FunctionArguments, Variables};
use analyze::{Analyzed, ColumnType};
use base::{Oid, SqlError, SqlResult, SqlState};
use catalog::{CatalogView, FunctionDef};
use parse::{RawStatement, Statement};
use rustc_hash::FxHashMap;
use tuple::Datum;

use super::result::{RowShape, return_type};
use super::statement::{BodyStatement, Run, not_in_read_only};
use super::{Invocation, Returned, RowStore};
use crate::commands::LogClass;
use crate::{Session, escapes_read};

/// The bodies that a session has called, by function.
#[derive(Default)]
pub struct SqlBodies(RefCell<FxHashMap<Oid, Vec<Rc<SqlBody>>>>);

/// Variants of one body (argument types, asked-for columns) kept before they are forgotten.
const MOST_VARIANTS: usize = 16;

/// A body for one set of types.
struct SqlBody {
    function: Arc<FunctionDef>,
    /// Types of arguments and result, and of the columns that the query asks for.
    types: Types,
    statements: Vec<BodyStatement>,
    returns: ReturnType,
    /// Makes the result of rows.
    shape: Option<RowShape>,
}

type Types = (Box<[Oid]>, Oid, Box<[Oid]>);

fn types_of(call: &types::Call<'_>) -> Types {
    let columns = call.columns.iter().map(|c| c.type_oid).collect();
    (call.arg_types.into(), call.result_type, columns)
}

/// Whether a call has these types.
fn has_types(call: &types::Call<'_>, (args, result, columns): &Types) -> bool {
    *result == call.result_type
        && **args == *call.arg_types
        && columns.iter().eq(call.columns.iter().map(|c| &c.type_oid))
}

impl Session {
    /// Carries out a call.
    pub(super) fn call_sql(&self, invocation: &Invocation<'_>) -> SqlResult<Returned> {
        let function = invocation.function;
        let startup = |e: SqlError| e.context(format!("SQL function \"{}\" during startup", function.name));
        let body = self.sql_body(invocation).map_err(startup)?;
        let last = body.statements.len().saturating_sub(1);
        let mut returned = match function.returns_set {
            true => Returned::Set(RowStore::default()),
            false => Returned::Value(Datum::Null),
        };
        for (i, statement) in body.statements.iter().enumerate() {
            let done = match i == last && body.returns != ReturnType::Void {
                true => self.last_statement(&body, statement, invocation, &mut returned),
                false => {
                    let sees = invocation.sees();
                    self.run_in_body(statement, invocation.args, sees, 0, &mut |_| Ok(())).map(drop)
                }
            };
            done.map_err(|e| {
                within(e, &function.source).context(format!(
                    "SQL function \"{}\" statement {}",
                    function.name,
                    i + 1
                ))
            })?;
        }
        Ok(returned)
    }

    /// Runs the statement that gives the result.
    fn last_statement(
        &self,
        body: &SqlBody,
        statement: &BodyStatement,
        invocation: &Invocation<'_>,
        returned: &mut Returned,
    ) -> SqlResult<()> {
        if !statement.is_query() {
            return Err(no_result(self, &body.returns));
        }
        let mut run = Run::start(self, statement, invocation.args, invocation.sees())?;
        let prepared = run.planned.shared.prepared.clone();
        let form = run.form();
        let shape = match (form, &body.shape) {
            (ReturnForm::Row, Some(shape)) => Some(shape.clone()),
            (ReturnForm::Row, None) => Some(self.shape_of_plan(&prepared.statement)?),
            _ => None,
        };
        let set = body.function.returns_set;
        let changes = prepared.statement.command != plan::Command::Select;
        let limit = if set || changes { 0 } else { 1 };
        let mut first = true;
        let fetched = run.fetch(self, limit, &mut |row| {
            let value = || match &shape {
                Some(shape) => shape.row(row),
                None => row.first().cloned().unwrap_or_default(),
            };
            match returned {
                Returned::Set(rows) => self.keep_row(rows, vec![value()])?,
                Returned::Value(one) if first => *one = value(),
                Returned::Value(_) => {}
            }
            first = false;
            Ok(())
        });
        run.end(self);
        fetched.map(drop)
    }

    /// Rows of `record` with the columns of a plan.
    fn shape_of_plan(&self, statement: &plan::Statement) -> SqlResult<RowShape> {
        let column = |c: &plan::ResultColumn| ColumnType {
            name: c.name.to_string(),
            type_oid: c.type_oid,
            typmod: c.typmod,
            collation: Oid::INVALID,
        };
        let columns: Vec<ColumnType> = statement.result.iter().map(column).collect();
        RowShape::new(self, types::oids::record, &columns)
    }

    /// The body for a call's types, known or made now.
    fn sql_body(&self, invocation: &Invocation<'_>) -> SqlResult<Rc<SqlBody>> {
        let function = invocation.function;
        let known = self.sql_bodies.0.borrow().get(&function.oid).and_then(|all| {
            let same = |b: &&Rc<SqlBody>| {
                has_types(invocation.call, &b.types)
                    && (Arc::ptr_eq(&b.function, function) || b.function == *function)
            };
            all.iter().find(same).cloned()
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let body = Rc::new(self.make_body(invocation, types_of(invocation.call))?);
        let mut bodies = self.sql_bodies.0.borrow_mut();
        let all = bodies.entry(function.oid).or_default();
        all.retain(|b| b.function == *function);
        if all.len() >= MOST_VARIANTS {
            all.clear();
        }
        all.push(body.clone());
        Ok(body)
    }

    fn make_body(&self, invocation: &Invocation<'_>, types: Types) -> SqlResult<SqlBody> {
        let function = invocation.function;
        let returns = return_type(self, function, invocation.call)?;
        let shape = match &returns {
            ReturnType::Row(type_oid, columns) => Some(RowShape::new(self, *type_oid, columns)?),
            _ => None,
        };
        let statements = statements(self, function, invocation.call.arg_types, &returns)?;
        if statements.is_empty() && returns != ReturnType::Void {
            return Err(no_result(self, &returns));
        }
        Ok(SqlBody { function: function.clone(), types, statements, returns, shape })
    }
}

impl plan::Bodies for Session {
    fn body(
        &self,
        function: &FunctionDef,
        args: &[Oid],
        result: Oid,
        catalog: &dyn CatalogView,
    ) -> SqlResult<Option<Query>> {
        let inlining = |error: SqlError| {
            within(error, &function.source)
                .context(format!("SQL function \"{}\" during inlining", function.name))
        };
        // Transition tables of a trigger are not visible in it.
        self.with_transitions(None, || self.only_query(function, args, result, catalog)).map_err(inlining)
    }
}

impl Session {
    /// The only query of a function's body, for [`plan::Bodies`].
    fn only_query(
        &self,
        function: &FunctionDef,
        args: &[Oid],
        result: Oid,
        catalog: &dyn CatalogView,
    ) -> SqlResult<Option<Query>> {
        let format = self.format();
        let call = types::Call::new(&format).with_session(self).with_types(args, result);
        let variables = Rc::new(arguments(self, function, args)?);
        let mut analyzed = match &function.body {
            Some(body) => match body.get(1..).unwrap_or_default() {
                [only] => analyze::rewrite::load(only, variables.types(), catalog, &call)?,
                _ => return Ok(None),
            },
            None => {
                let raw = parse::parse(&escapes_read(&function.source)?)?;
                match raw.as_slice() {
                    [only] if matches!(only.stmt, Statement::Select(_)) => {
                        let params = analyze::ParamTypes::Variables(variables);
                        analyze::analyze(only, &function.source, params, catalog, &call)?
                    }
                    _ => return Ok(None),
                }
            }
        };
        if analyzed.query.command != Command::Select {
            return Ok(None);
        }
        let returns = return_type(self, function, &call)?;
        let dropped = |columns: &[ColumnType]| columns.iter().any(|c| !c.type_oid.is_valid());
        let fits = match (&returns, function.returns_set) {
            (ReturnType::Row(_, columns), true) => !dropped(columns),
            (ReturnType::Scalar(_), _) | (ReturnType::Row(..), false) => true,
            _ => false,
        };
        if !fits {
            return Ok(None);
        }
        let form = routine::convert_result(&mut analyzed, &returns, false, catalog, &call)?;
        let wanted = match (&returns, function.returns_set) {
            (ReturnType::Row(..), true) => ReturnForm::Row,
            _ => ReturnForm::Value,
        };
        Ok((form == wanted).then_some(analyzed.query))
    }
}

/// The statements of a body, the last with what the function returns.
fn statements(
    session: &Session,
    function: &FunctionDef,
    arg_types: &[Oid],
    returns: &ReturnType,
) -> SqlResult<Vec<BodyStatement>> {
    let variables = Rc::new(arguments(session, function, arg_types)?);
    let procedure = function.kind == 'p';
    let wanted = |last: bool| last.then(|| (returns.clone(), procedure));
    if let Some(body) = &function.body {
        // The first entry says in which form the body was written.
        let queries = body.get(1..).unwrap_or_default();
        let statement = |(i, text): (usize, &Arc<str>)| {
            BodyStatement::stored(text.clone(), variables.clone(), wanted(i + 1 == queries.len()))
        };
        return Ok(queries.iter().enumerate().map(statement).collect());
    }
    let raw = escapes_read(&function.source)
        .and_then(|source| parse::parse(&source))
        .map_err(|e| within(e, &function.source))?;
    let count = raw.len();
    let mut statements = Vec::with_capacity(count);
    for (i, raw) in raw.into_iter().enumerate() {
        check_statement(session, function, &raw)?;
        let text = function.source.clone();
        statements.push(BodyStatement::new(text, raw, variables.clone(), wanted(i + 1 == count)));
    }
    Ok(statements)
}

/// Arguments of a function under their names, with the types of a call.
pub fn arguments(
    session: &Session,
    function: &FunctionDef,
    arg_types: &[Oid],
) -> SqlResult<FunctionArguments> {
    let mut list = Vec::with_capacity(function.args.len());
    for (i, declared) in function.args.iter().enumerate() {
        let type_oid = arg_types.get(i).copied().filter(|t| t.is_valid()).unwrap_or(*declared);
        let collation = session.type_collation_of(type_oid)?;
        list.push((function.arg_names.get(i).cloned().unwrap_or_default(), type_oid, collation));
    }
    Ok(FunctionArguments { function: function.name.clone(), list })
}

/// Refuses what no function in SQL may do.
fn check_statement(session: &Session, function: &FunctionDef, raw: &RawStatement) -> SqlResult<()> {
    let described = session.commands().describe(&raw.stmt);
    if let Statement::Transaction(_) = &raw.stmt {
        let name = described.tag;
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("{name} is not allowed in an SQL function"),
        ));
    }
    let changes = raw.stmt.is_planned() && matches!(described.log, LogClass::Change);
    if function.volatility != 'v' && changes {
        return Err(not_in_read_only(described.tag));
    }
    Ok(())
}

fn no_result(session: &Session, returns: &ReturnType) -> SqlError {
    let type_oid = match returns {
        ReturnType::Scalar(oid) | ReturnType::Row(oid, _) => *oid,
        _ => types::oids::record,
    };
    let name = analyze::names::format_type(session, type_oid, None);
    routine::mismatch(&name, routine::NO_RESULT.to_owned())
}

/// An error whose position is in a body: the client is told of both.
pub fn within(mut error: SqlError, body: &str) -> SqlError {
    let report = error.report_mut();
    if let Some(position) = report.position.take()
        && report.internal_query.is_none()
    {
        report.internal_position = Some(position);
        report.internal_query = Some(body.to_owned());
    }
    error
}

/// Judges the body of a function that is about to be made.
pub fn check_body(session: &Session, function: &FunctionDef) -> SqlResult<()> {
    if function.body.is_some() {
        return Ok(());
    }
    let polymorphic = function.args.iter().any(|t| analyze::is_polymorphic(*t));
    let raw = parse::parse(&escapes_read(&function.source)?)?;
    raw.iter().try_for_each(|raw| check_statement(session, function, raw))?;
    if polymorphic {
        return Ok(());
    }
    let format = session.format();
    let call = types::Call::new(&format).with_session(session).with_types(&function.args, function.result);
    let returns = return_type(session, function, &call)?;
    let variables = Rc::new(arguments(session, function, &[])?);
    let mut last = None;
    for raw in &raw {
        last = match &raw.stmt {
            Statement::Select(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_) => {
                let params = analyze::ParamTypes::Variables(variables.clone());
                Some(analyze::analyze(raw, &function.source, params, session, &call)?)
            }
            _ => None,
        };
    }
    check_result(session, last, &returns, function.kind == 'p', &call)
}

/// Judges what the last statement of a body gives.
pub fn check_result(
    session: &Session,
    last: Option<Analyzed>,
    returns: &ReturnType,
    procedure: bool,
    call: &types::Call<'_>,
) -> SqlResult<()> {
    match last {
        _ if *returns == ReturnType::Void => Ok(()),
        None => Err(no_result(session, returns)),
        Some(mut last) => routine::convert_result(&mut last, returns, procedure, session, call).map(drop),
    }
}
