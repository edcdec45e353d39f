//! Statements of SQL: as written, and EXECUTE.

use std::rc::Rc;

use analyze::ColumnType;
use analyze::variables::{Precedence, Variable, Variables};
use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use session::routine::{BodyStatement, Done, within_body};
use tuple::Datum;

use super::{Flow, Frame};
use crate::ast::*;
use crate::checks::{Check, with_severity};
use crate::expr::Expression;

/// Parameters of EXECUTE … USING.
#[derive(Debug)]
struct Using(Vec<Oid>);

impl Variables for Using {
    fn parameter(&self, number: i32) -> Option<(i32, Oid)> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.0.get(at).map(|oid| (number, *oid))
    }
    fn find(&self, _: &[&str]) -> SqlResult<Option<Variable>> {
        Ok(None)
    }
    fn precedence(&self) -> Precedence {
        Precedence::Columns
    }
    fn types(&self) -> Vec<Oid> {
        self.0.clone()
    }
    fn key(&self) -> Option<String> {
        Some(format!("using {:?}", self.0))
    }
}

/// A query ready to run: the statement, its parameters, its text for context lines.
pub(super) struct Ready {
    pub(super) statement: BodyStatement,
    pub(super) params: Vec<Datum>,
    pub(super) columns: Rc<[ColumnType]>,
    /// Types of USING's values.
    pub(super) types: Vec<Oid>,
    /// The source text of its expression, or the text of EXECUTE.
    pub(super) source: Source,
}

pub(super) enum Source {
    Written(Rc<Expression>),
    Text(String),
}

impl Ready {
    /// An error with the line that names the statement.
    pub(super) fn within(&self, frame: &Frame<'_>, error: SqlError) -> SqlError {
        match &self.source {
            Source::Written(expression) => frame.within(error, expression),
            Source::Text(text) if error.report().position.is_some() => within_body(error, text),
            Source::Text(text) => error.context(format!("SQL statement \"{text}\"")),
        }
    }
}

impl Frame<'_> {
    pub(super) fn ready(&mut self, query: &Query) -> SqlResult<Ready> {
        match query {
            Query::Static(expression) => {
                let within = |error: SqlError| match error.report().position {
                    Some(_) => within_body(error, &expression.text),
                    None => error.context(expression.context()),
                };
                let prepared = self.prepared(expression).map_err(within)?;
                let params = self.params(&prepared)?;
                Ok(Ready {
                    statement: prepared.statement,
                    params,
                    types: Vec::new(),
                    columns: prepared.columns,
                    source: Source::Written(expression.clone()),
                })
            }
            Query::Dynamic(text, using) => {
                let mut all = self.dynamic(text, using)?;
                match (all.pop(), all.is_empty()) {
                    (Some(one), true) => Ok(one),
                    (None, _) => Err(sql_err!(SYNTAX_ERROR, "query string is empty")),
                    (Some(_), false) => {
                        Err(sql_err!(INVALID_CURSOR_DEFINITION, "cannot open multi-query plan as cursor"))
                    }
                }
            }
        }
    }

    /// The statements of EXECUTE.
    fn dynamic(&mut self, text: &Rc<Expression>, using: &[Rc<Expression>]) -> SqlResult<Vec<Ready>> {
        let Some(text) = self.text(text)? else {
            return Err(SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "query string argument of EXECUTE is null",
            ));
        };
        let (mut params, mut types) = (Vec::new(), Vec::new());
        for value in using {
            let (value, ty) = self.evaluate(value)?;
            params.push(value);
            types.push(ty.oid);
        }
        let variables = Rc::new(Using(types));
        let shared: std::sync::Arc<str> = text.as_str().into();
        let read = session::escapes_read(&text).and_then(|read| parse::parse(&read));
        let raw = read.map_err(|e| within_body(e, &text))?;
        let mut all = Vec::with_capacity(raw.len());
        for raw in raw {
            if let parse::Statement::Transaction(_) = &raw.stmt {
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "EXECUTE of transaction commands is not implemented"
                ));
            }
            let statement = BodyStatement::new(shared.clone(), raw, variables.clone(), None);
            all.push(Ready {
                statement,
                params: params.clone(),
                types: variables.0.clone(),
                columns: Rc::from([]),
                source: Source::Text(text.clone()),
            });
        }
        Ok(all)
    }

    /// Columns of a query, known once it is analysed.
    pub(super) fn columns(&self, ready: &Ready) -> SqlResult<Rc<[ColumnType]>> {
        match &ready.source {
            Source::Written(_) => Ok(ready.columns.clone()),
            Source::Text(_) => {
                let columns = self.session.columns_in_body(&ready.statement);
                columns.map(Into::into).map_err(|e| ready.within(self, e))
            }
        }
    }

    /// Runs a statement; `each` gets its rows, at most `limit` of them.
    fn run_ready(
        &mut self,
        ready: &Ready,
        limit: u64,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Done> {
        let done = self.session.run_in_body(&ready.statement, &ready.params, self.sees, limit, each);
        done.map_err(|e| ready.within(self, e))
    }

    /// A statement as written.
    pub(super) fn sql(&mut self, statement: &Rc<Expression>, into: Option<&IntoClause>) -> SqlResult<Flow> {
        if let parse::Statement::Transaction(_) = &statement.raw.stmt {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "unsupported transaction command in PL/pgSQL"));
        }
        let ready = self.ready(&Query::Static(statement.clone()))?;
        let alone = match into {
            Some(into) if into.strict || changes_rows(&statement.raw.stmt) => Some(Severity::Error),
            Some(_) => Check::TooManyRows.severity(self.session),
            None => None,
        };
        let limit = into.map_or(0, |_| 1 + u64::from(alone.is_some()));
        let done = self.run_into(&ready, into, (limit, alone))?;
        if ready.statement.is_query() {
            self.set_found(done.processed > 0);
        }
        let gives_rows = done.tag == "SELECT" || !ready.statement.is_query();
        if into.is_none() && gives_rows && !ready.columns.is_empty() {
            return Err(sql_err!(SYNTAX_ERROR, "query has no destination for result data")
                .hint("If you want to discard the results of a SELECT, use PERFORM instead."));
        }
        Ok(Flow::Next)
    }

    /// Runs a statement up to so many rows; the first, if any, goes to INTO. `alone`: how more than one row is reported.
    fn run_into(
        &mut self,
        ready: &Ready,
        into: Option<&IntoClause>,
        (limit, alone): (u64, Option<Severity>),
    ) -> SqlResult<Done> {
        let mut first: Option<Vec<Datum>> = None;
        let mut rows = 0;
        let done = self.run_ready(ready, limit, &mut |row| {
            rows += 1;
            if first.is_none() {
                first = Some(row.to_vec());
            }
            Ok(())
        })?;
        self.row_count = done.processed;
        let Some(into) = into else { return Ok(done) };
        if rows == 0 && into.strict {
            return Err(self.strict_error(SqlState::NO_DATA_FOUND, "query returned no rows", ready));
        }
        if let Some(severity) = alone.filter(|_| rows > 1) {
            let error = self.strict_error(SqlState::TOO_MANY_ROWS, "query returned more than one row", ready);
            let error = match ready.source {
                Source::Written(_) => error.hint("Make sure the query returns a single row, or use LIMIT 1."),
                Source::Text(_) => error,
            };
            self.tell_finding(error, severity)?;
        }
        let columns = self.columns(ready)?;
        if columns.is_empty() {
            return Err(sql_err!(SYNTAX_ERROR, "INTO used with a command that cannot return data"));
        }
        self.assign_columns(&into.target, &columns, first.as_deref())?;
        Ok(done)
    }

    /// Fails with what a check has found, or warns of it.
    pub(super) fn tell_finding(&self, error: SqlError, severity: Severity) -> SqlResult<()> {
        let error = with_severity(error, severity);
        if severity == Severity::Error {
            return Err(error);
        }
        self.session.raise_notice(self.located(error));
        Ok(())
    }

    fn strict_error(&self, code: SqlState, message: &str, ready: &Ready) -> SqlError {
        let error = SqlError::new(code, message);
        if !self.function.print_strict_params {
            return error;
        }
        let shown = match &ready.source {
            Source::Written(expression) => expression.prepared().map(|p| {
                let used = p.names.used();
                used.iter().map(|(wanted, ty)| (self.use_name(wanted), ty.oid)).collect::<Vec<_>>()
            }),
            Source::Text(_) => {
                let types = ready.types.iter().enumerate();
                Some(types.map(|(i, oid)| (format!("${}", i + 1), *oid)).collect())
            }
        };
        let named = shown.unwrap_or_default();
        let texts: Vec<String> = named
            .iter()
            .zip(&ready.params)
            .map(|((name, oid), value)| match value {
                Datum::Null => format!("{name} = NULL"),
                value => {
                    let text = self.session.value_text(*oid, value).unwrap_or_default();
                    format!("{name} = '{}'", text.replace('\'', "''"))
                }
            })
            .collect();
        if texts.is_empty() { error } else { error.detail(format!("parameters: {}", texts.join(", "))) }
    }

    fn use_name(&self, wanted: &crate::expr::Use) -> String {
        match wanted {
            crate::expr::Use::Variable(v) => self.function.variables[*v].name.clone(),
            crate::expr::Use::Field(v, field) => format!("{}.{field}", self.function.variables[*v].name),
        }
    }

    pub(super) fn perform(&mut self, statement: &Rc<Expression>) -> SqlResult<Flow> {
        let ready = self.ready(&Query::Static(statement.clone()))?;
        let done = self.run_ready(&ready, 0, &mut |_| Ok(()))?;
        self.row_count = done.processed;
        self.set_found(done.processed > 0);
        Ok(Flow::Next)
    }

    pub(super) fn execute(
        &mut self,
        text: &Rc<Expression>,
        into: Option<&IntoClause>,
        using: &[Rc<Expression>],
    ) -> SqlResult<Flow> {
        let all = self.dynamic(text, using)?;
        let last = all.len().saturating_sub(1);
        for (i, ready) in all.iter().enumerate() {
            let into = into.filter(|_| i == last);
            let alone = into.filter(|into| into.strict).map(|_| Severity::Error);
            self.run_into(ready, into, (0, alone))?;
        }
        Ok(Flow::Next)
    }

    /// CALL and DO: OUT parameters go to the variables given for them.
    pub(super) fn call_statement(&mut self, statement: &Rc<Expression>) -> SqlResult<Flow> {
        let within = |error: SqlError| error.context(format!("SQL statement \"{}\"", statement.text));
        let call = match &statement.raw.stmt {
            parse::Statement::Call(call) => call,
            parse::Statement::Do(args) => {
                self.session.do_in_body(args, self.atomic).map_err(within)?;
                return Ok(Flow::Next);
            }
            _ => return Err(SqlError::internal("CALL or DO was expected")),
        };
        let names = Rc::new(self.names_of(statement)?);
        let procedure = self
            .session
            .procedure_in_body(call, &statement.text, names.clone())
            .map_err(|e| within_body(e, &statement.text))?;
        let params = self.values_of(&names)?;
        let outputs = self.session.call_in_body(&procedure, &params, self.atomic).map_err(within)?;
        let Some(values) = outputs else { return Ok(Flow::Next) };
        for ((target, column), value) in procedure.targets.iter().zip(&procedure.outputs).zip(values) {
            let target = self.target_of(target, &names, &column.name)?;
            let ty = TypeRef { oid: column.type_oid, typmod: -1, collation: Oid::INVALID };
            self.assign(&target, value, ty)?;
        }
        Ok(Flow::Next)
    }

    /// The variable that was given for an OUT parameter.
    fn target_of(
        &self,
        given: &analyze::Expr,
        names: &crate::expr::Names,
        parameter: &str,
    ) -> SqlResult<Target> {
        let mut given = given;
        loop {
            given = match given {
                analyze::Expr::Relabel(r) => &r.arg,
                analyze::Expr::Func(f) if f.args.len() == 1 => &f.args[0],
                analyze::Expr::IoCast(c) => &c.arg,
                other => break given_target(other, names).ok_or_else(|| {
                    sql_err!(
                        SYNTAX_ERROR,
                        "procedure parameter \"{parameter}\" is an output parameter but corresponding argument is not writable"
                    )
                }),
            };
        }
    }
}

fn changes_rows(statement: &parse::Statement) -> bool {
    use parse::Statement::{Delete, Insert, Merge, Update};
    matches!(statement, Insert(_) | Update(_) | Delete(_) | Merge(_))
}

fn given_target(expr: &analyze::Expr, names: &crate::expr::Names) -> Option<Target> {
    let analyze::Expr::Param(p) = expr else { return None };
    let at = usize::try_from(p.id).ok()?.checked_sub(1)?;
    names.used().get(at).map(|(wanted, _)| match wanted {
        crate::expr::Use::Variable(v) => Target::Variable(*v),
        crate::expr::Use::Field(v, field) => Target::Field(*v, crate::expr::FieldName::new(field)),
    })
}
