//! # What
//! CALL and DO.

use std::sync::Arc;

use analyze::{ParamTypes, Procedure};
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::CatalogView;
use parse::ast::{Call, DefElem};
use tuple::Datum;
use types::record::Row;

use super::options;
use crate::output::{Column, Output, RowEncoder};
use crate::routine::{Invocation, Returned};
use crate::session::{Arguments, Session};

fn analyzed(session: &Session, statement: &Call, text: &str, params: ParamTypes) -> SqlResult<Procedure> {
    let format = session.format();
    let call = types::Call::new(&format).with_session(session);
    analyze::analyze_procedure(&statement.call, text, params, session, &call)
}

/// Columns of a call's result: the OUT parameters.
pub(crate) fn columns(
    session: &Session,
    statement: &Call,
    text: &str,
    types: ParamTypes,
) -> SqlResult<Option<Arc<[Column]>>> {
    let procedure = analyzed(session, statement, text, types)?;
    if procedure.outputs.is_empty() {
        return Ok(None);
    }
    Ok(Some(told(session, &procedure.outputs)?))
}

fn told(session: &Session, columns: &[analyze::ColumnType]) -> SqlResult<Arc<[Column]>> {
    let told =
        |c: &analyze::ColumnType| session.result_column(&c.name, (Oid::INVALID, 0), (c.type_oid, c.typmod));
    columns.iter().map(told).collect()
}

/// CALL. RowDescription of [`columns`] has been sent.
pub(crate) fn run(
    session: &Session,
    statement: &Call,
    text: &str,
    arguments: &Arguments<'_>,
    out: &mut dyn Output,
) -> SqlResult<()> {
    let procedure = analyzed(session, statement, text, arguments.types.clone())?;
    let atomic = is_atomic(session);
    let called = session.notices.lend(out, |_| call(session, &procedure, arguments.values, atomic));
    let Some(row) = called? else { return Ok(()) };
    let columns = told(session, &procedure.outputs)?;
    let format = session.format();
    let encoder = RowEncoder { columns: &columns, formats: &[], context: &format, session };
    out.data_row(&encoder, &row)
}

/// Whether what a statement runs may not end the transaction.
fn is_atomic(session: &Session) -> bool {
    session.in_block() || session.in_routine.get()
}

/// Calls a procedure. Gives the values of its OUT parameters, if it has any.
pub(crate) fn call(
    session: &Session,
    procedure: &Procedure,
    params: &[Datum],
    atomic: bool,
) -> SqlResult<Option<Vec<Datum>>> {
    let missing = || SqlError::internal(format!("cache lookup failed for function {}", procedure.oid));
    let function = session.function_by_oid(procedure.oid)?.ok_or_else(missing)?;
    session.check_function(session.names.user(), procedure.oid)?;
    let mut args = Vec::with_capacity(procedure.args.len());
    let mut arg_types = Vec::with_capacity(procedure.args.len());
    for arg in &procedure.args {
        arg_types.push(super::expression::type_of(session, arg));
        args.push(session.evaluate_with(arg, params)?);
    }
    let (snapshot, command) = {
        let mut txn = session.txn.borrow_mut();
        (txn.statement_snapshot()?, txn.current_command())
    };
    // The role and the settings that end with the call could not be taken over into another transaction.
    let atomic = atomic || function.security_definer || !function.config.is_empty();
    let format = session.format();
    let call = types::Call::new(&format).with_session(session).with_types(&arg_types, function.result);
    let invocation =
        Invocation { function: &function, call: &call, args: &args, snapshot: &snapshot, command, atomic };
    let result = session.invoke(&invocation)?;
    if procedure.outputs.is_empty() {
        return Ok(None);
    }
    Ok(Some(match result {
        Returned::Value(Datum::Bytes(bytes)) => {
            Row::from_payload(&bytes).fields.into_iter().map(|(_, value)| value).collect()
        }
        _ => vec![Datum::Null; procedure.outputs.len()],
    }))
}

/// DO.
pub(crate) fn run_do(session: &Session, args: &[DefElem]) -> SqlResult<()> {
    run_block(session, args, is_atomic(session))
}

/// Runs the block of DO.
pub(crate) fn run_block(session: &Session, args: &[DefElem], atomic: bool) -> SqlResult<()> {
    let (mut source, mut language) = (None, None);
    for option in args {
        let slot = if option.name == "language" { &mut language } else { &mut source };
        if slot.is_some() {
            return Err(sql_err!(SYNTAX_ERROR, "conflicting or redundant options"));
        }
        *slot = Some(options::string(option)?);
    }
    let source = source.ok_or_else(|| sql_err!(SYNTAX_ERROR, "no inline code specified"))?;
    let name = language.unwrap_or_else(|| "plpgsql".to_owned());
    let oid = super::function::language_oid(session, &name)?;
    super::function::check_language(session, oid, &name)?;
    match session.instance().languages().find(&name) {
        Some(language) => language.run(session, &source, atomic),
        None if matches!(name.as_str(), "sql" | "internal" | "c") => {
            Err(sql_err!(FEATURE_NOT_SUPPORTED, "language \"{name}\" does not support inline code execution"))
        }
        None => Err(SqlError::not_supported(format!("language \"{name}\""))),
    }
}
