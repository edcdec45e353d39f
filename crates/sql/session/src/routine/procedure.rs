//! Calls of procedures and blocks of DO, by statements and by bodies of functions.

use analyze::Procedure;
use base::{SqlError, SqlResult, sql_err};
use catalog::CatalogView;
use parse::ast::DefElem;
use tuple::Datum;
use types::record::Row;

use super::{Invocation, Returned};
use crate::Session;
use crate::lookup::language;
use crate::options;

/// Calls a procedure. Gives the values of its OUT parameters, if it has any.
pub fn call(
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
        arg_types.push(crate::expression::type_of(session, arg));
        args.push(session.evaluate_with(arg, params)?);
    }
    let (snapshot, command) = {
        let mut txn = session.txn.borrow_mut();
        (txn.statement_snapshot()?, txn.current_command())
    };
    // The role and the settings that end with the call cannot be carried over into another transaction.
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

/// Runs the block of DO.
pub fn run_block(session: &Session, args: &[DefElem], atomic: bool) -> SqlResult<()> {
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
    let oid = language::find(session, &name)?;
    language::check_usage(session, oid, &name)?;
    match session.instance().languages().find(&name) {
        Some(language) => language.run(session, &source, atomic),
        None if matches!(name.as_str(), "sql" | "internal" | "c") => {
            Err(sql_err!(FEATURE_NOT_SUPPORTED, "language \"{name}\" does not support inline code execution"))
        }
        None => Err(SqlError::not_supported(format!("language \"{name}\""))),
    }
}
