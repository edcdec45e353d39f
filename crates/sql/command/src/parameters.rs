//! # What
//! Parameters and result of CREATE FUNCTION, CREATE PROCEDURE and CREATE AGGREGATE.
//!
//! # PostgreSQL counterpart
//! `interpret_function_parameter_list`, `compute_return_type` of `commands/functioncmds.c`.

use analyze::{ExprContext, Purpose};
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::ObjectAddress;
use catalog::{C_LANGUAGE, CatalogView, INTERNAL_LANGUAGE, Parameter, SQL_LANGUAGE, TypeKind};
use parse::ast::{FunctionParameter, ObjectKind, ParameterMode, TypeName};
use session::Session;
use types::oids;

use super::expression;
use super::names::at;
use super::type_name::written;

/// Parameters as the catalog has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    /// All in order.
    pub(crate) list: Vec<Parameter>,
    /// Element type of a trailing VARIADIC one; 0 if none.
    pub(crate) variadic: Oid,
    /// Stored defaults of the last inputs.
    pub(crate) defaults: Vec<String>,
    /// What the defaults need.
    pub(crate) needs: Vec<ObjectAddress>,
    /// What the OUT parameters ask the result to be; 0 without any.
    pub(crate) result: Oid,
}

impl Parameters {
    /// Types of the inputs.
    pub(crate) fn inputs(&self) -> Vec<Oid> {
        self.list.iter().filter(|p| !matches!(p.mode, b'o' | b't')).map(|p| p.type_oid).collect()
    }
}

fn plural(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Procedure => "procedures",
        ObjectKind::Aggregate => "aggregates",
        _ => "functions",
    }
}

/// A type as written in a definition: its OID, or `None` if there is none.
pub(crate) fn try_type(session: &Session, name: &TypeName, text: &str) -> SqlResult<Option<Oid>> {
    let format = session.format();
    let call = types::Call::new(&format).with_session(session);
    match analyze::resolve_type(name, text, session, &call) {
        Ok((oid, _)) => {
            if name.percent_type {
                let shown = analyze::names::format_type(session, oid, None);
                let written = format!("{}%TYPE", written(name));
                let message = format!("type reference {written} converted to {shown}");
                session.notice(super::names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            }
            Ok(Some(oid))
        }
        Err(error) if error.code() == SqlState::UNDEFINED_OBJECT => Ok(None),
        Err(error) => Err(error),
    }
}

/// The type of an argument that is only a name yet, if it is: functions in SQL (`sql`) and aggregates take none.
fn argument_shell(session: &Session, kind: ObjectKind, name: &TypeName, sql: bool) -> SqlResult<Option<Oid>> {
    let Some(shell) = super::base_type::shell(session, name)? else { return Ok(None) };
    let what = match kind {
        ObjectKind::Aggregate => "aggregate",
        _ if sql => "SQL function",
        _ => {
            let message = format!("argument type {} is only a shell", written(name));
            session.notice(super::names::notice(SqlState::WRONG_OBJECT_TYPE, message));
            return Ok(Some(shell));
        }
    };
    Err(sql_err!(INVALID_FUNCTION_DEFINITION, "{what} cannot accept shell type {}", written(name)))
}

/// Reads the parameters of a definition; `sql`: of a function in SQL.
pub(crate) fn read(
    session: &Session,
    kind: ObjectKind,
    given: &[FunctionParameter],
    (sql, text): (bool, &str),
) -> SqlResult<Parameters> {
    let mut read = Parameters::default();
    let (mut outs, mut have_defaults) = (0, false);
    for parameter in given {
        let wrong = |error: SqlError| at(error, text, parameter.location);
        let name = &parameter.type_name;
        let type_oid = match argument_shell(session, kind, name, sql)? {
            Some(shell) => shell,
            None => try_type(session, name, text)?.ok_or_else(|| {
                at(sql_err!(UNDEFINED_OBJECT, "type {} does not exist", written(name)), text, name.location)
            })?,
        };
        if name.setof {
            let message = format!("{} cannot accept set arguments", plural(kind));
            return Err(wrong(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)));
        }
        let mode = mode_letter(parameter.mode);
        let is_input = !matches!(mode, b'o' | b't');
        if is_input {
            if read.variadic.is_valid() {
                let message = "VARIADIC parameter must be the last input parameter";
                return Err(wrong(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)));
            }
            if mode == b'v' {
                read.variadic = variadic_element(session, type_oid).map_err(wrong)?;
            }
        } else if kind == ObjectKind::Procedure {
            if read.variadic.is_valid() {
                let message = "VARIADIC parameter must be the last parameter";
                return Err(wrong(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)));
            }
            if have_defaults {
                let message = "procedure OUT parameters cannot appear after one with a default value";
                return Err(wrong(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)));
            }
        }
        if matches!(mode, b'o' | b'b' | b't') {
            outs += 1;
            read.result = if outs == 1 && kind != ObjectKind::Procedure { type_oid } else { oids::record };
        }
        let own = parameter.name.clone().unwrap_or_default();
        check_name(&read.list, &own, mode).map_err(wrong)?;
        match &parameter.default {
            Some(_) if !is_input => {
                let message = "only input parameters can have default values";
                return Err(wrong(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)));
            }
            Some(default) => {
                have_defaults = true;
                let stored = default_value(session, default, type_oid, text)?;
                read.needs.extend(stored.needs);
                read.defaults.push(stored.text);
            }
            None if is_input && have_defaults => {
                let message = "input parameters after one with a default value must also have defaults";
                return Err(wrong(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)));
            }
            None => {}
        }
        read.list.push(Parameter { name: own, type_oid, mode });
    }
    Ok(read)
}

fn mode_letter(mode: ParameterMode) -> u8 {
    match mode {
        ParameterMode::In => b'i',
        ParameterMode::Out => b'o',
        ParameterMode::InOut => b'b',
        ParameterMode::Variadic => b'v',
        ParameterMode::Table => b't',
    }
}

fn variadic_element(session: &Session, type_oid: Oid) -> SqlResult<Oid> {
    match type_oid {
        oids::anyarray => return Ok(oids::anyelement),
        oids::anycompatiblearray => return Ok(oids::anycompatible),
        oids::any => return Ok(oids::any),
        _ => {}
    }
    let element = session.type_by_oid(type_oid)?.map_or(Oid::INVALID, |def| def.element);
    if element.is_valid() {
        return Ok(element);
    }
    Err(sql_err!(INVALID_FUNCTION_DEFINITION, "VARIADIC parameter must be an array"))
}

/// Two inputs, or two outputs, may not have one name.
fn check_name(before: &[Parameter], name: &str, mode: u8) -> SqlResult<()> {
    let sides = |mode: u8| (!matches!(mode, b'o' | b't'), matches!(mode, b'o' | b'b' | b't'));
    let (input, output) = sides(mode);
    let clash = |p: &&Parameter| {
        let (other_in, other_out) = sides(p.mode);
        let apart =
            (input && !output && other_out && !other_in) || (output && !input && other_in && !other_out);
        p.name == name && !apart
    };
    if !name.is_empty() && before.iter().any(|p| clash(&p)) {
        return Err(sql_err!(INVALID_FUNCTION_DEFINITION, "parameter name \"{name}\" used more than once"));
    }
    Ok(())
}

/// DEFAULT of a parameter.
fn default_value(
    session: &Session,
    expr: &parse::ast::Expr,
    type_oid: Oid,
    text: &str,
) -> SqlResult<expression::Stored> {
    let format = session.format();
    let call = types::Call::new(&format).with_session(session);
    let context =
        ExprContext { purpose: Purpose::ParameterDefault, relation: None, column: None, value: None };
    let expr = analyze::analyze_expr(expr, text, context, session, &call)?;
    let (location, source) = (analyze::facts::location(&expr), expression::type_of(session, &expr));
    if analyze::is_polymorphic(type_oid) {
        return Ok(expression::stored(session, &expr));
    }
    let converted = analyze::assign_to(expr, type_oid, -1, text, session, &call)?.ok_or_else(|| {
        let shown = |oid| analyze::names::format_type(session, oid, None);
        let error = sql_err!(
            DATATYPE_MISMATCH,
            "argument of DEFAULT must be type {}, not type {}",
            shown(type_oid),
            shown(source)
        );
        at(error, text, location)
    })?;
    Ok(expression::stored(session, &converted))
}

/// Type and SETOF of RETURNS.
pub(crate) fn return_type(session: &Session, name: &TypeName, text: &str) -> SqlResult<(Oid, bool)> {
    let found = try_type(session, name, text)?.ok_or_else(|| {
        at(sql_err!(UNDEFINED_OBJECT, "type \"{}\" does not exist", written(name)), text, name.location)
    })?;
    Ok((found, name.setof))
}

/// As [`return_type`], for a function in this language: those of the server and of modules may return a type that is only a name yet.
pub(crate) fn return_type_in(
    session: &Session,
    language: Oid,
    name: &TypeName,
    text: &str,
) -> SqlResult<(Oid, bool)> {
    if let Some(shell) = super::base_type::shell(session, name)? {
        if language == Oid(SQL_LANGUAGE) {
            let message = format!("SQL function cannot return shell type {}", written(name));
            return Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message));
        }
        let message = format!("return type {} is only a shell", written(name));
        session.notice(super::names::notice(SqlState::WRONG_OBJECT_TYPE, message));
        return Ok((shell, name.setof));
    }
    let plain = name.array_bounds.is_empty() && name.modifiers.is_empty() && !name.percent_type;
    let may_be_made = plain && [Oid(INTERNAL_LANGUAGE), Oid(C_LANGUAGE)].contains(&language);
    if may_be_made && try_type(session, name, text)?.is_none() {
        return Ok((super::base_type::make_shell(session, name)?, name.setof));
    }
    return_type(session, name, text)
}

/// Refuses a result whose type no argument determines, and `internal` made of nothing.
pub(crate) fn check_signature(parameters: &Parameters, result: Oid) -> SqlResult<()> {
    let inputs = parameters.inputs();
    let outputs = parameters.list.iter().filter(|p| matches!(p.mode, b'o' | b't')).map(|p| p.type_oid);
    for output in std::iter::once(result).chain(outputs) {
        if let Some(detail) = undetermined(&inputs, output) {
            return Err(
                sql_err!(INVALID_FUNCTION_DEFINITION, "cannot determine result data type").detail(detail)
            );
        }
        if output == oids::internal && !inputs.contains(&oids::internal) {
            return Err(sql_err!(INVALID_FUNCTION_DEFINITION, "unsafe use of pseudo-type \"internal\"")
                .detail("A function returning \"internal\" must have at least one \"internal\" argument."));
        }
    }
    Ok(())
}

/// Why a polymorphic output follows from no input.
pub(crate) fn undetermined(inputs: &[Oid], output: Oid) -> Option<String> {
    const SIMPLE: [Oid; 6] =
        [oids::anyelement, oids::anyarray, oids::anynonarray, oids::anyenum, Oid(3831), Oid(4537)];
    const COMPATIBLE: [Oid; 5] =
        [oids::anycompatible, oids::anycompatiblearray, oids::anycompatiblenonarray, Oid(5080), Oid(4538)];
    let any_of = |list: &[Oid]| inputs.iter().any(|t| list.contains(t));
    let shown = types::format_type(output, None).unwrap_or_default();
    let ranges = |of: [Oid; 2], words: &str| {
        (!any_of(&of))
            .then(|| format!("A result of type {shown} requires at least one input of type {words}."))
    };
    match output {
        Oid(3831) | Oid(4537) => ranges([Oid(3831), Oid(4537)], "anyrange or anymultirange"),
        Oid(5080) | Oid(4538) => {
            ranges([Oid(5080), Oid(4538)], "anycompatiblerange or anycompatiblemultirange")
        }
        t if SIMPLE.contains(&t) => (!any_of(&SIMPLE)).then(|| {
            format!(
                "A result of type {shown} requires at least one input of type anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange."
            )
        }),
        t if COMPATIBLE.contains(&t) => (!any_of(&COMPATIBLE)).then(|| {
            format!(
                "A result of type {shown} requires at least one input of type anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange."
            )
        }),
        _ => None,
    }
}

/// Whether a type is a pseudo-type.
pub(crate) fn is_pseudo(session: &Session, type_oid: Oid) -> SqlResult<bool> {
    Ok(session.type_by_oid(type_oid)?.is_some_and(|def| matches!(def.kind, TypeKind::Pseudo)))
}
