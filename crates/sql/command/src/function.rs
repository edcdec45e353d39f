//! # What
//! CREATE FUNCTION and CREATE PROCEDURE.
//!
//! # PostgreSQL counterpart
//! `CreateFunction` of `commands/functioncmds.c`, `ProcedureCreate` of `catalog/pg_proc.c`.

use std::rc::Rc;
use std::sync::Arc;

use analyze::stored;
use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::NewRoutine;
use catalog::system::pg_proc;
use catalog::{C_LANGUAGE, CatalogView, FunctionDef, INTERNAL_LANGUAGE, RowExt, SQL_LANGUAGE};
use parse::Statement;
use parse::ast::{CreateFunction, Name, ObjectKind, ObjectName};
use session::Session;
use session::routine;
use types::oids;

use super::function_options::{Options, change_config};
use super::parameters::{self, Parameters, is_pseudo};
use super::{names, uses};

/// CREATE [OR REPLACE] FUNCTION, PROCEDURE.
pub(crate) fn create(session: &Session, statement: &CreateFunction, text: &str) -> SqlResult<()> {
    let kind = if statement.procedure { ObjectKind::Procedure } else { ObjectKind::Function };
    let name = names::relation_name(&ObjectName::Name(statement.name.clone()))?;
    let schema = names::routine_schema(session, &name)?;
    let options = Options::read(&statement.options, statement.procedure, text)?;
    let language = language(session, statement, &options)?;
    let sql = language.0 == Oid(SQL_LANGUAGE);
    let parameters = parameters::read(session, kind, &statement.parameters, (sql, text))?;
    let (result, returns_set) = result(session, statement, &parameters, (language.0, text))?;
    parameters::check_signature(&parameters, result)?;
    parameters.list.iter().try_for_each(|parameter| names::check_type_usage(session, parameter.type_oid))?;
    names::check_type_usage(session, result)?;
    let mut new = NewRoutine {
        name: name.name.clone(),
        schema,
        owner: session.names.user(),
        language: language.0,
        kind: match statement.procedure {
            true => b'p',
            false => {
                if options.window == Some(true) {
                    b'w'
                } else {
                    b'f'
                }
            }
        },
        cost: options.cost.unwrap_or(if language.0.0 <= C_LANGUAGE { 1.0 } else { 100.0 }),
        rows: rows(&options, returns_set)?,
        variadic: parameters.variadic,
        security_definer: options.security_definer.unwrap_or(false),
        leakproof: leakproof(session, &options)?,
        strict: options.strict.unwrap_or(false),
        returns_set,
        volatility: options.volatility.unwrap_or(b'v'),
        parallel: options.parallel.unwrap_or(b'u'),
        result,
        parameters: parameters.list,
        defaults: parameters.defaults,
        source: String::new(),
        library: None,
        body: None,
        config: Vec::new(),
        needs: parameters.needs,
    };
    change_config(session, &mut new.config, &options.settings)?;
    body(session, statement, &options, &language.1, &mut new, text)?;
    let old = replaced(session, statement.replace, &new)?;
    let builtin = language.0.0 <= SQL_LANGUAGE;
    if !builtin {
        // A body that is refused then leaves nothing to undo.
        judge_body(session, &preliminary(&new), &language.1, text)?;
    }
    let oid = session.with_changer(|changer| changer.create_routine(&new, old))?;
    if builtin { validate(session, oid, text) } else { Ok(()) }
}

/// OID and name of the language.
fn language(session: &Session, statement: &CreateFunction, options: &Options) -> SqlResult<(Oid, String)> {
    let name = match &options.language {
        Some(name) => name.clone(),
        None if statement.body.is_some() => "sql".to_owned(),
        None => return Err(sql_err!(INVALID_FUNCTION_DEFINITION, "no language specified")),
    };
    let oid = session::lookup::language::find(session, &name)?;
    session::lookup::language::check_usage(session, oid, &name)?;
    Ok((oid, name))
}

fn result(
    session: &Session,
    statement: &CreateFunction,
    parameters: &Parameters,
    (language, text): (Oid, &str),
) -> SqlResult<(Oid, bool)> {
    let asked = parameters.result;
    if statement.procedure {
        return Ok((if asked.is_valid() { oids::record } else { oids::void }, false));
    }
    let Some(name) = &statement.returns else {
        if asked.is_valid() {
            return Ok((asked, false));
        }
        return Err(sql_err!(INVALID_FUNCTION_DEFINITION, "function result type must be specified"));
    };
    let table = parameters.list.iter().any(|p| p.mode == b't');
    let (result, returns_set) = match table {
        true => (asked, true),
        false => parameters::return_type_in(session, language, name, text)?,
    };
    if asked.is_valid() && asked != result {
        let shown = analyze::names::format_type(session, asked, None);
        let message = format!("function result type must be {shown} because of OUT parameters");
        return Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message));
    }
    Ok((result, returns_set))
}

fn rows(options: &Options, returns_set: bool) -> SqlResult<f32> {
    match options.rows {
        Some(_) if !returns_set => Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "ROWS is not applicable when function does not return a set"
        )),
        Some(rows) => Ok(rows),
        None => Ok(if returns_set { 1000.0 } else { 0.0 }),
    }
}

fn leakproof(session: &Session, options: &Options) -> SqlResult<bool> {
    match options.leakproof {
        Some(true) if !session.has_all_rights()? => {
            Err(sql_err!(INSUFFICIENT_PRIVILEGE, "only superuser can define a leakproof function"))
        }
        given => Ok(given.unwrap_or(false)),
    }
}

/// Puts the body into the new row.
fn body(
    session: &Session,
    statement: &CreateFunction,
    options: &Options,
    language: &str,
    new: &mut NewRoutine,
    text: &str,
) -> SqlResult<()> {
    let wrong = |message: String| Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message));
    match (&options.source, &statement.body) {
        (None, None) => wrong("no function body specified".to_owned()),
        (Some(_), Some(_)) => wrong("duplicate function body specified".to_owned()),
        (None, Some(_)) if new.language != Oid(SQL_LANGUAGE) => {
            wrong("inline SQL function body only valid for language SQL".to_owned())
        }
        (None, Some(statements)) => standard_body(session, statements, new, text),
        (Some(source), None) if new.language == Oid(C_LANGUAGE) => {
            let (library, symbol) = match source.as_slice() {
                [library] => (library, &new.name),
                [library, symbol] => (library, symbol),
                _ => return wrong("no function body specified".to_owned()),
            };
            new.source = symbol.clone();
            new.library = Some(library.clone());
            Ok(())
        }
        (Some(source), None) => {
            let [only] = source.as_slice() else {
                return wrong(format!("only one AS item needed for language \"{language}\""));
            };
            new.source = match (only.as_str(), new.language) {
                // An empty name means the function's own.
                ("" | "-", Oid(INTERNAL_LANGUAGE)) => new.name.clone(),
                _ => only.clone(),
            };
            Ok(())
        }
    }
}

/// RETURN, or BEGIN ATOMIC … END: analysed now, stored as trees.
fn standard_body(
    session: &Session,
    statements: &[Statement],
    new: &mut NewRoutine,
    text: &str,
) -> SqlResult<()> {
    let inputs = new.inputs();
    if inputs.iter().any(|t| analyze::is_polymorphic(*t)) {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "SQL function with unquoted function body cannot have polymorphic arguments"
        ));
    }
    let function = preliminary(new);
    let variables = Rc::new(routine::arguments(session, &function, &[])?);
    let format = session.format();
    let call = types::Call::new(&format).with_session(session).with_types(&inputs, new.result);
    let returns = routine::return_type(session, &function, &call)?;
    let form = if matches!(statements, [Statement::Return(_)]) { "return" } else { "atomic" };
    let mut body = vec![form.to_owned()];
    let mut last = None;
    for statement in statements {
        let described = super::statement::describe(statement);
        if !statement.is_planned() {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "{} is not yet supported in unquoted SQL function body",
                described.tag
            ));
        }
        let params = analyze::ParamTypes::Variables(variables.clone());
        let analyzed = analyze::analyze_body(statement, text, params, session, &call)?;
        uses::of_query(&analyzed.query, &mut new.needs);
        body.push(stored::store_query(&analyzed.query));
        last = Some(analyzed);
    }
    let context = |e: SqlError| e.context(format!("SQL function \"{}\"", new.name));
    routine::check_result(session, last, &returns, new.kind == b'p', &call).map_err(context)?;
    new.body = Some(body);
    Ok(())
}

/// The function as far as its body needs to know it.
fn preliminary(new: &NewRoutine) -> FunctionDef {
    let outputs = new.parameters.iter().filter(|p| matches!(p.mode, b'o' | b'b' | b't'));
    let inputs = new.parameters.iter().filter(|p| !matches!(p.mode, b'o' | b't'));
    FunctionDef {
        oid: Oid::INVALID,
        name: new.name.clone(),
        schema: new.schema,
        owner: new.owner,
        kind: char::from(new.kind),
        args: new.inputs(),
        arg_names: inputs.map(|p| p.name.clone()).collect(),
        out_columns: outputs.map(|p| (p.name.clone(), p.type_oid)).collect(),
        parameters: new.parameters.clone(),
        defaults: Vec::new(),
        variadic: new.variadic,
        result: new.result,
        returns_set: new.returns_set,
        strict: new.strict,
        volatility: char::from(new.volatility),
        cost: new.cost,
        rows: new.rows,
        leakproof: new.leakproof,
        security_definer: new.security_definer,
        language: new.language,
        source: Arc::from(new.source.as_str()),
        library: new.library.as_deref().map(Arc::from),
        body: None,
        config: new.config.iter().map(|entry| catalog::setting_of(entry)).collect(),
        aggregate: None,
    }
}

/// The routine that the new one takes the place of, if that may be.
pub(crate) fn replaced(session: &Session, replace: bool, new: &NewRoutine) -> SqlResult<Option<Oid>> {
    let inputs = new.inputs();
    let found = session.with_reader(|r| r.routine_oid(new.schema, &new.name, &inputs))?;
    let Some((oid, kind)) = found else { return Ok(None) };
    if !replace {
        return Err(sql_err!(
            DUPLICATE_FUNCTION,
            "function \"{}\" already exists with same argument types",
            new.name
        ));
    }
    let missing = || SqlError::internal(format!("cache lookup failed for function {oid}"));
    let row = session.with_reader(|r| r.routine_row(oid))?.ok_or_else(missing)?;
    if !names::owns(session, row.oid(pg_proc::PROOWNER))? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of function {}", new.name));
    }
    if kind != new.kind {
        let is = match kind {
            b'a' => "an aggregate function",
            b'w' => "a window function",
            b'p' => "a procedure",
            _ => "a function",
        };
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot change routine kind")
            .detail(format!("\"{}\" is {is}.", new.name)));
    }
    check_replacement(session, &Name(vec![new.name.clone()]), oid, new)?;
    Ok(Some(oid))
}

/// What OR REPLACE may not change: the result and the names of inputs, which callers rely on.
fn check_replacement(session: &Session, name: &Name, oid: Oid, new: &NewRoutine) -> SqlResult<()> {
    let Some(old) = session.function_by_oid(oid)? else {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "replacing a built-in function is not supported"));
    };
    let what = match new.kind {
        b'p' => "PROCEDURE",
        b'a' => "AGGREGATE",
        _ => "FUNCTION",
    };
    let shown = |types: &[Oid]| {
        let types = types.iter().map(|t| analyze::names::format_type(session, *t, None));
        types.collect::<Vec<_>>().join(",")
    };
    let hint = format!("Use DROP {what} {}({}) first.", name.dotted(), shown(&new.inputs()));
    let refuse = |message: String| SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message);
    if old.result != new.result || old.returns_set != new.returns_set {
        let message = match new.kind == b'p' {
            true => "cannot change whether a procedure has output parameters",
            false => "cannot change return type of existing function",
        };
        return Err(refuse(message.to_owned()).hint(hint));
    }
    let outputs = preliminary(new).out_columns;
    if old.result == oids::record && old.out_columns != outputs {
        return Err(refuse("cannot change return type of existing function".to_owned())
            .detail("Row type defined by OUT parameters is different.")
            .hint(hint));
    }
    let inputs = preliminary(new).arg_names;
    for (before, now) in old.arg_names.iter().zip(&inputs) {
        if !before.is_empty() && before != now {
            return Err(refuse(format!("cannot change name of input parameter \"{before}\"")).hint(hint));
        }
    }
    if new.defaults.len() < old.defaults.len() {
        return Err(refuse("cannot remove parameter defaults from existing function".to_owned()).hint(hint));
    }
    let kept = &new.defaults[new.defaults.len() - old.defaults.len()..];
    for (before, now) in old.defaults.iter().zip(kept) {
        let type_of = |text: &str| {
            Ok::<_, SqlError>(super::expression::type_of(session, &stored::load_expr(text, session)?))
        };
        if type_of(before)? != type_of(now)? {
            let message = "cannot change data type of existing parameter default value";
            return Err(refuse(message.to_owned()).hint(hint));
        }
    }
    Ok(())
}

/// Has a procedural language judge the body of a function that is about to be stored.
fn judge_body(session: &Session, function: &FunctionDef, language: &str, text: &str) -> SqlResult<()> {
    let Some(found) = session.instance().languages().find(language) else {
        return Err(SqlError::not_supported(format!("language \"{language}\"")));
    };
    if !session.settings.borrow().get(Setting::check_function_bodies).as_bool() {
        return Ok(());
    }
    // Its body is looked at under its settings.
    session.check_function_identity(&function.config)?;
    let place = |e| in_definition(e, text, &function.source);
    let warnings = found.validate(session, function).map_err(place)?;
    warnings.into_iter().for_each(|warning| session.notice(place(warning)));
    Ok(())
}

/// Judges a function in SQL, C or `internal`, which is stored: it may call itself.
fn validate(session: &Session, oid: Oid, text: &str) -> SqlResult<()> {
    let missing = || SqlError::internal(format!("cache lookup failed for function {oid}"));
    let function = session.function_by_oid(oid)?.ok_or_else(missing)?;
    match function.language {
        Oid(INTERNAL_LANGUAGE) if function.internal().is_none() => {
            return Err(sql_err!(
                UNDEFINED_FUNCTION,
                "there is no built-in function named \"{}\"",
                function.source
            ));
        }
        Oid(INTERNAL_LANGUAGE) => return Ok(()),
        Oid(C_LANGUAGE) => {
            let library = function.library.as_deref().unwrap_or_default();
            return session.instance().modules().function(library, &function.source).map(drop);
        }
        _ => {}
    }
    let check = session.settings.borrow().get(Setting::check_function_bodies).as_bool();
    if check {
        session.check_function_identity(&function.config)?;
    }
    check_sql_types(session, &function)?;
    if !check {
        return Ok(());
    }
    routine::check_body(session, &function).map_err(|e| match e.report().position {
        Some(_) => in_definition(e, text, &function.source),
        None => e.context(format!("SQL function \"{}\"", function.name)),
    })
}

/// Types that functions in SQL cannot have.
fn check_sql_types(session: &Session, function: &FunctionDef) -> SqlResult<()> {
    let shown = |oid| analyze::names::format_type(session, oid, None);
    let result = function.result;
    let fine = |t: Oid| t == oids::record || t == oids::void || analyze::is_polymorphic(t);
    if is_pseudo(session, result)? && !fine(result) {
        return Err(sql_err!(
            INVALID_FUNCTION_DEFINITION,
            "SQL functions cannot return type {}",
            shown(result)
        ));
    }
    for arg in &function.args {
        if is_pseudo(session, *arg)? && !analyze::is_polymorphic(*arg) {
            return Err(sql_err!(
                INVALID_FUNCTION_DEFINITION,
                "SQL functions cannot have arguments of type {}",
                shown(*arg)
            ));
        }
    }
    Ok(())
}

/// An error in a body at its place in the statement that holds the body, if that place is plain to see.
pub(crate) fn in_definition(mut error: SqlError, text: &str, body: &str) -> SqlError {
    let report = error.report_mut();
    let (position, internal) = match (report.position, report.internal_position) {
        (Some(position), _) => (position, false),
        (None, Some(position)) if report.internal_query.as_deref() == Some(body) => (position, true),
        _ => return error,
    };
    match literal_of(text, body, position as usize) {
        Some(place) => {
            report.position = Some(place as u32);
            (report.internal_position, report.internal_query) = (None, None);
            error
        }
        None if internal => error,
        None => routine::within(error, body),
    }
}

/// Where character `position` (from 1) of a string literal's value stands in `text`, if exactly one literal has this value.
fn literal_of(text: &str, body: &str, position: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut found = None;
    for (start, c) in text.char_indices() {
        let place = match c {
            '\'' => quoted(&text[start + 1..], body, position),
            '$' => {
                let tag_end = text[start + 1..].find('$').map(|i| start + 1 + i + 1);
                tag_end
                    .filter(|end| {
                        let tag = &text[start..*end];
                        text[*end..].strip_prefix(body).is_some_and(|rest| rest.starts_with(tag))
                            && tag[1..tag.len() - 1].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                            && (start == 0 || !bytes[start - 1].is_ascii_alphanumeric())
                    })
                    .map(|end| text[start + 1..end].chars().count() + position)
            }
            _ => None,
        };
        if let Some(place) = place {
            if found.is_some() {
                return None;
            }
            found = Some(text[..start].chars().count() + 1 + place);
        }
    }
    found
}

/// The same for a literal in single quotes, from behind the opening quote.
fn quoted(rest: &str, body: &str, position: usize) -> Option<usize> {
    let (mut wanted, mut given) = (body.chars(), rest.chars().peekable());
    let (mut read, mut place) = (0, None);
    for n in 1.. {
        if n == position {
            place = Some(read + 1);
        }
        let Some(c) = wanted.next() else { break };
        if given.next()? != c {
            return None;
        }
        read += 1;
        if c == '\'' {
            if given.next()? != '\'' {
                return None;
            }
            read += 1;
        }
    }
    (given.next()? == '\'' && given.peek() != Some(&'\'')).then_some(place).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_body_is_one_in_its_literal() {
        let text = "create function f() as 'select ''x'', nope' language sql";
        let at = literal_of(text, "select 'x', nope", 13).expect("found");
        assert_eq!(&text[at - 1..at + 3], "nope");
        let text = "create function f() as $$select nope$$ language sql";
        let at = literal_of(text, "select nope", 8).expect("found");
        assert_eq!(&text[at - 1..at + 3], "nope");
    }

    #[test]
    fn two_such_literals_tell_nothing() {
        assert_eq!(literal_of("f('select 1') as 'select 1'", "select 1", 3), None);
    }
}
