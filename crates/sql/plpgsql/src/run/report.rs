//! RAISE, ASSERT, GET DIAGNOSTICS.

use std::rc::Rc;

use base::{Severity, SqlError, SqlResult, SqlState, sql_err};
use tuple::Datum;
use types::oids;

use super::{Flow, Frame};
use crate::ast::*;
use crate::conditions;
use crate::expr::Expression;

impl Frame<'_> {
    pub(super) fn raise(&mut self, raise: &Raise) -> SqlResult<Flow> {
        let nothing = raise.condition.is_none() && raise.message.is_none() && raise.options.is_empty();
        if nothing && raise.level == Level::Exception {
            return match self.handling.last() {
                Some(error) => {
                    // Its context says already where it came up.
                    self.rethrown = true;
                    Err(error.clone())
                }
                None => Err(SqlError::new(
                    SqlState::STACKED_DIAGNOSTICS_ACCESSED_WITHOUT_ACTIVE_HANDLER,
                    "RAISE without parameters cannot be used outside an exception handler",
                )),
            };
        }
        let (mut code, mut message, mut named) = (None, None, false);
        if let Some(condition) = &raise.condition {
            code = conditions::named(condition).first().copied().or_else(|| conditions::code(condition));
            message = Some(condition.clone());
        }
        if let Some((format, arguments)) = &raise.message {
            message = Some(self.formatted(format, arguments)?);
        }
        let mut error = SqlError::new(SqlState::RAISE_EXCEPTION, "");
        for (option, value) in &raise.options {
            let Some(text) = self.text(value)? else {
                return Err(SqlError::new(
                    SqlState::NULL_VALUE_NOT_ALLOWED,
                    "RAISE statement option cannot be null",
                ));
            };
            let twice = |name: &str| sql_err!(SYNTAX_ERROR, "RAISE option already specified: {name}");
            let report = error.report_mut();
            let slot = match option {
                RaiseOption::Errcode => {
                    if code.is_some() {
                        return Err(twice("ERRCODE"));
                    }
                    let known = conditions::code(&text).or_else(|| conditions::named(&text).first().copied());
                    code = Some(known.ok_or_else(|| {
                        sql_err!(UNDEFINED_OBJECT, "unrecognized exception condition \"{text}\"")
                    })?);
                    if message.is_none() {
                        message = Some(text);
                    }
                    continue;
                }
                RaiseOption::Message => {
                    if raise.message.is_some() || named {
                        return Err(twice("MESSAGE"));
                    }
                    (message, named) = (Some(text), true);
                    continue;
                }
                RaiseOption::Detail => (&mut report.detail, "DETAIL"),
                RaiseOption::Hint => (&mut report.hint, "HINT"),
                RaiseOption::Column => (&mut report.column, "COLUMN"),
                RaiseOption::Constraint => (&mut report.constraint, "CONSTRAINT"),
                RaiseOption::Datatype => (&mut report.data_type, "DATATYPE"),
                RaiseOption::Table => (&mut report.table, "TABLE"),
                RaiseOption::Schema => (&mut report.schema, "SCHEMA"),
            };
            if slot.0.is_some() {
                return Err(twice(slot.1));
            }
            *slot.0 = Some(text);
        }
        let report = error.report_mut();
        let quiet =
            if raise.level == Level::Warning { SqlState::WARNING } else { SqlState::SUCCESSFUL_COMPLETION };
        let default = if raise.level == Level::Exception { SqlState::RAISE_EXCEPTION } else { quiet };
        report.code = code.unwrap_or(default);
        report.message = message.unwrap_or_else(|| report.code.as_str().to_owned());
        report.severity = match raise.level {
            Level::Debug => Severity::Debug,
            Level::Log => Severity::Log,
            Level::Info => Severity::Info,
            Level::Notice => Severity::Notice,
            Level::Warning => Severity::Warning,
            Level::Exception => return Err(error),
        };
        let located = self.located(error);
        self.session.raise_notice(located);
        Ok(Flow::Next)
    }

    /// A format with its `%` replaced.
    fn formatted(&mut self, format: &str, arguments: &[Rc<Expression>]) -> SqlResult<String> {
        let mut out = String::new();
        let mut arguments = arguments.iter();
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '%' if chars.peek() == Some(&'%') => {
                    chars.next();
                    out.push('%');
                }
                '%' => {
                    let argument =
                        arguments.next().ok_or_else(|| SqlError::internal("too few parameters for RAISE"))?;
                    out.push_str(&self.text(argument)?.unwrap_or_else(|| "<NULL>".to_owned()));
                }
                c => out.push(c),
            }
        }
        Ok(out)
    }

    pub(super) fn assert(
        &mut self,
        condition: &Expression,
        message: Option<&Rc<Expression>>,
    ) -> SqlResult<Flow> {
        if !self.session.checks_asserts() || self.test(condition)? {
            return Ok(Flow::Next);
        }
        let message = match message {
            Some(message) => self.text(message)?,
            None => None,
        };
        let message = message.unwrap_or_else(|| "assertion failed".to_owned());
        Err(SqlError::new(SqlState::ASSERT_FAILURE, message))
    }

    pub(super) fn diagnostics(&mut self, stacked: bool, items: &[(Target, Diagnostic)]) -> SqlResult<Flow> {
        let error = self.handling.last().cloned();
        if stacked && error.is_none() {
            return Err(SqlError::new(
                SqlState::STACKED_DIAGNOSTICS_ACCESSED_WITHOUT_ACTIVE_HANDLER,
                "GET STACKED DIAGNOSTICS cannot be used outside an exception handler",
            ));
        }
        let text = TypeRef { oid: oids::text, typmod: -1, collation: base::Oid(100) };
        for (target, item) in items {
            let of = |value: Option<&String>| Datum::text(value.map_or("", String::as_str));
            let report = error.as_ref().map(SqlError::report);
            let (value, ty) = match item {
                Diagnostic::RowCount => {
                    (Datum::Int8(self.row_count as i64), TypeRef { oid: oids::int8, ..text })
                }
                Diagnostic::RoutineOid => {
                    let oid = self.invocation.map_or(base::Oid::INVALID, |i| i.function.oid);
                    (Datum::Oid(oid.0), TypeRef { oid: oids::oid, ..text })
                }
                Diagnostic::Context => {
                    let here = self.located(SqlError::internal(""));
                    (of(here.report().context.as_ref()), text)
                }
                Diagnostic::ErrorContext => (of(report.and_then(|r| r.context.as_ref())), text),
                Diagnostic::ErrorDetail => (of(report.and_then(|r| r.detail.as_ref())), text),
                Diagnostic::ErrorHint => (of(report.and_then(|r| r.hint.as_ref())), text),
                Diagnostic::ReturnedSqlstate => (Datum::text(report.map_or("", |r| r.code.as_str())), text),
                Diagnostic::ColumnName => (of(report.and_then(|r| r.column.as_ref())), text),
                Diagnostic::ConstraintName => (of(report.and_then(|r| r.constraint.as_ref())), text),
                Diagnostic::DatatypeName => (of(report.and_then(|r| r.data_type.as_ref())), text),
                Diagnostic::MessageText => (Datum::text(report.map_or("", |r| r.message.as_str())), text),
                Diagnostic::TableName => (of(report.and_then(|r| r.table.as_ref())), text),
                Diagnostic::SchemaName => (of(report.and_then(|r| r.schema.as_ref())), text),
            };
            self.assign(target, value, ty)?;
        }
        Ok(Flow::Next)
    }
}
