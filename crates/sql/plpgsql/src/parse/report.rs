//! RAISE and GET DIAGNOSTICS.

use base::{SqlResult, SqlState, sql_err};

use super::Parser;
use crate::ast::*;
use crate::conditions;
use crate::scan::Tok;

impl Parser<'_> {
    pub(super) fn raise(&mut self) -> SqlResult<StatementKind> {
        self.next();
        let mut raise =
            Raise { level: Level::Exception, condition: None, message: None, options: Vec::new() };
        if let Tok::Word(word) = self.peek() {
            let level = match word.as_str() {
                "exception" => Some(Level::Exception),
                "warning" => Some(Level::Warning),
                "notice" => Some(Level::Notice),
                "info" => Some(Level::Info),
                "log" => Some(Level::Log),
                "debug" => Some(Level::Debug),
                _ => None,
            };
            if let Some(level) = level {
                raise.level = level;
                self.next();
            }
        }
        match self.peek().clone() {
            Tok::Str(format) => {
                self.next();
                let mut arguments = Vec::new();
                while self.take_op(",") {
                    arguments.push(self.expression(&[",", ";", "using"])?);
                }
                self.check_placeholders(&format, arguments.len())?;
                raise.message = Some((format, arguments));
            }
            Tok::Word(word) if word == "using" => {}
            Tok::Word(word) if word == "sqlstate" => {
                self.next();
                let place = self.token().start;
                let Tok::Str(code) = self.next().tok else { return Err(self.syntax_error()) };
                if conditions::code(&code).is_none() {
                    return Err(self.at_byte(sql_err!(SYNTAX_ERROR, "invalid SQLSTATE code"), place));
                }
                raise.condition = Some(code);
            }
            Tok::Word(name) | Tok::Quoted(name) => {
                self.next();
                if conditions::named(&name).is_empty() {
                    return Err(sql_err!(UNDEFINED_OBJECT, "unrecognized exception condition \"{name}\""));
                }
                raise.condition = Some(name);
            }
            _ => {}
        }
        if self.take_word("using") {
            loop {
                raise.options.push(self.raise_option()?);
                if !self.take_op(",") {
                    break;
                }
            }
        }
        self.expect_op(";")?;
        Ok(StatementKind::Raise(Box::new(raise)))
    }

    /// As many arguments as the format has places for.
    fn check_placeholders(&self, format: &str, arguments: usize) -> SqlResult<()> {
        let mut wanted = 0;
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '%' {
                match chars.peek() {
                    Some('%') => drop(chars.next()),
                    _ => wanted += 1,
                }
            }
        }
        let message = match wanted.cmp(&arguments) {
            std::cmp::Ordering::Less => "too many parameters specified for RAISE",
            std::cmp::Ordering::Greater => "too few parameters specified for RAISE",
            std::cmp::Ordering::Equal => return Ok(()),
        };
        Err(base::SqlError::new(SqlState::SYNTAX_ERROR, message))
    }

    fn raise_option(&mut self) -> SqlResult<(RaiseOption, std::rc::Rc<crate::expr::Expression>)> {
        let place = self.token().start;
        let name = self.word()?;
        let option = match name.as_str() {
            "errcode" => RaiseOption::Errcode,
            "message" => RaiseOption::Message,
            "detail" => RaiseOption::Detail,
            "hint" => RaiseOption::Hint,
            "column" => RaiseOption::Column,
            "constraint" => RaiseOption::Constraint,
            "datatype" => RaiseOption::Datatype,
            "table" => RaiseOption::Table,
            "schema" => RaiseOption::Schema,
            _ => {
                let error = sql_err!(SYNTAX_ERROR, "unrecognized RAISE statement option");
                return Err(self.at_byte(error, place));
            }
        };
        if !self.take_op("=") && !self.take_op(":=") {
            return Err(self.error_near("syntax error, expected \"=\""));
        }
        Ok((option, self.expression(&[",", ";"])?))
    }

    pub(super) fn get_diagnostics(&mut self) -> SqlResult<StatementKind> {
        self.next();
        let stacked = self.take_word("stacked");
        if !stacked {
            self.take_word("current");
        }
        self.expect_word("diagnostics")?;
        let mut items = Vec::new();
        loop {
            let target = self.target()?;
            if !self.take_op("=") && !self.take_op(":=") {
                return Err(self.syntax_error());
            }
            let place = self.token().start;
            let name = self.word()?;
            let Some((item, of_stacked)) = diagnostic(&name) else {
                let error = sql_err!(SYNTAX_ERROR, "unrecognized GET DIAGNOSTICS item");
                self.at -= 1;
                let near = self.error_near(error.message());
                return Err(near);
            };
            if of_stacked.is_some_and(|of| of != stacked) {
                let which = if stacked { "GET STACKED DIAGNOSTICS" } else { "GET CURRENT DIAGNOSTICS" };
                let error = sql_err!(
                    SYNTAX_ERROR,
                    "diagnostics item {} is not allowed in {which}",
                    name.to_uppercase()
                );
                return Err(self.at_byte(error, place));
            }
            items.push((target, item));
            if !self.take_op(",") {
                break;
            }
        }
        self.expect_op(";")?;
        Ok(StatementKind::GetDiagnostics { stacked, items })
    }
}

/// The item of a name, and whether it is for STACKED only, or not for it.
fn diagnostic(name: &str) -> Option<(Diagnostic, Option<bool>)> {
    Some(match name {
        "row_count" => (Diagnostic::RowCount, Some(false)),
        "pg_routine_oid" => (Diagnostic::RoutineOid, Some(false)),
        "pg_context" => (Diagnostic::Context, Some(false)),
        "pg_exception_context" => (Diagnostic::ErrorContext, Some(true)),
        "pg_exception_detail" => (Diagnostic::ErrorDetail, Some(true)),
        "pg_exception_hint" => (Diagnostic::ErrorHint, Some(true)),
        "returned_sqlstate" => (Diagnostic::ReturnedSqlstate, Some(true)),
        "column_name" => (Diagnostic::ColumnName, Some(true)),
        "constraint_name" => (Diagnostic::ConstraintName, Some(true)),
        "pg_datatype_name" => (Diagnostic::DatatypeName, Some(true)),
        "message_text" => (Diagnostic::MessageText, Some(true)),
        "table_name" => (Diagnostic::TableName, Some(true)),
        "schema_name" => (Diagnostic::SchemaName, Some(true)),
        _ => return None,
    })
}
