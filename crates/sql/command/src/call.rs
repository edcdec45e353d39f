//! # What
//! CALL and DO.

use std::sync::Arc;

use analyze::{ParamTypes, Procedure};
use base::{Oid, SqlResult};
use parse::ast::{Call, DefElem};
use session::output::{Column, Output, RowEncoder};
use session::routine::procedure;
use session::{Arguments, Session};

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
    let called =
        session.notices.lend(out, |_| procedure::call(session, &procedure, arguments.values, atomic));
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

/// DO.
pub(crate) fn run_do(session: &Session, args: &[DefElem]) -> SqlResult<()> {
    procedure::run_block(session, args, is_atomic(session))
}
