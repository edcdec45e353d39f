//! LOOP, WHILE, FOR, FOREACH.

use base::{Oid, SqlResult, sql_err};
use types::oids;

use super::Parser;
use crate::ast::*;
use crate::namespace;
use crate::scan::Tok;

impl Parser<'_> {
    /// `LOOP … END LOOP;` of any loop, from LOOP on.
    fn body(&mut self, label: Option<&str>) -> SqlResult<Vec<Statement>> {
        self.expect_word("loop")?;
        let body = self.statements(&["end"])?;
        self.expect_word("end")?;
        self.expect_word("loop")?;
        self.end_label(label)?;
        self.expect_op(";")?;
        Ok(body)
    }

    pub(super) fn plain_loop(&mut self, label: Option<String>) -> SqlResult<StatementKind> {
        let outer = self.scope.clone();
        namespace::push_level(&mut self.scope, label.clone(), true);
        let body = self.body(label.as_deref())?;
        self.scope = outer;
        Ok(StatementKind::Loop { label, body })
    }

    pub(super) fn while_loop(&mut self, label: Option<String>) -> SqlResult<StatementKind> {
        self.next();
        let outer = self.scope.clone();
        namespace::push_level(&mut self.scope, label.clone(), true);
        let condition = self.expression(&["loop"])?;
        let body = self.body(label.as_deref())?;
        self.scope = outer;
        Ok(StatementKind::While { label, condition, body })
    }

    pub(super) fn for_loop(&mut self, label: Option<String>) -> SqlResult<StatementKind> {
        self.next();
        let outer = self.scope.clone();
        namespace::push_level(&mut self.scope, label.clone(), true);
        let kind = self.for_kind(label)?;
        self.scope = outer;
        Ok(kind)
    }

    fn for_kind(&mut self, label: Option<String>) -> SqlResult<StatementKind> {
        let place = self.token().start;
        let name = match self.peek() {
            Tok::Word(name) | Tok::Quoted(name) => name.clone(),
            _ => return Err(self.syntax_error()),
        };
        let known = self.peek_target();
        let single = self.is_word_at(1, "in");
        if single && self.is_range(2) {
            self.at += 2;
            return self.range(label, name);
        }
        if single && let Some(cursor) = self.bound_cursor(2) {
            self.at += 3;
            return self.cursor_loop(label, name, cursor);
        }
        if known.is_none() {
            let error = sql_err!(
                SYNTAX_ERROR,
                "loop variable of loop over rows must be a record variable or list of scalar variables"
            );
            return Err(self.at_byte(error, place));
        }
        let target = self.targets()?;
        self.expect_word("in")?;
        let query = self.query("loop")?;
        let body = self.body(label.as_deref())?;
        Ok(StatementKind::ForQuery { label, target, query, body })
    }

    /// Whether `..` comes before LOOP, outside of parentheses.
    fn is_range(&self, from: usize) -> bool {
        let mut depth = 0_i32;
        for n in from.. {
            let token = self.ahead(n);
            match (&token.tok, self.text_of(token)) {
                (Tok::End, _) | (Tok::Op, ";") => return false,
                (Tok::Word(word), _) if word == "loop" && depth == 0 => return false,
                (Tok::Op, "(" | "[") => depth += 1,
                (Tok::Op, ")" | "]") => depth -= 1,
                (Tok::Op, "..") if depth == 0 => return true,
                _ => {}
            }
        }
        false
    }

    fn bound_cursor(&self, at: usize) -> Option<VarId> {
        let (Tok::Word(name) | Tok::Quoted(name)) = &self.ahead(at).tok else { return None };
        if !self.is_word_at(at + 1, "loop") && !self.is_op_at(at + 1, "(") {
            return None;
        }
        let found = namespace::lookup(&self.scope, &[name])?;
        let is_cursor = match &self.variables[found.variable].kind {
            VariableKind::Cursor(_) => true,
            VariableKind::Scalar(t) => t.oid == oids::refcursor,
            VariableKind::Record(_) => false,
        };
        is_cursor.then_some(found.variable)
    }

    fn loop_variable(&mut self, name: String, kind: VariableKind) -> VarId {
        let line = self.line();
        self.declare(Variable { name, line, kind, constant: false, not_null: false, default: None })
    }

    fn range(&mut self, label: Option<String>, name: String) -> SqlResult<StatementKind> {
        let reverse = self.take_word("reverse");
        let lower = self.expression(&[".."])?;
        self.next();
        let upper = self.expression(&["loop", "by"])?;
        let step = match self.take_word("by") {
            true => Some(self.expression(&["loop"])?),
            false => None,
        };
        let int = TypeRef { oid: oids::int4, typmod: -1, collation: Oid::INVALID };
        let variable = self.loop_variable(name, VariableKind::Scalar(int));
        let body = self.body(label.as_deref())?;
        Ok(StatementKind::ForRange { label, variable, lower, upper, step, reverse, body })
    }

    fn cursor_loop(
        &mut self,
        label: Option<String>,
        name: String,
        cursor: VarId,
    ) -> SqlResult<StatementKind> {
        let VariableKind::Cursor(bound) = &self.variables[cursor].kind else {
            let error = sql_err!(SYNTAX_ERROR, "cursor FOR loop must use a bound cursor variable");
            return Err(self.at_byte(error, self.tokens[self.at - 1].start));
        };
        let wanted = bound.arguments.clone();
        let arguments = self.cursor_arguments(cursor, &wanted)?;
        let record = TypeRef { oid: oids::record, typmod: -1, collation: Oid::INVALID };
        let row = self.loop_variable(name, VariableKind::Record(record));
        let body = self.body(label.as_deref())?;
        Ok(StatementKind::ForCursor { label, row, cursor, arguments, body })
    }

    pub(super) fn foreach(&mut self, label: Option<String>) -> SqlResult<StatementKind> {
        self.next();
        let outer = self.scope.clone();
        namespace::push_level(&mut self.scope, label.clone(), true);
        let target = match self.targets()? {
            Target::List(mut list) if list.len() == 1 => list.remove(0),
            other => other,
        };
        let slice = match self.take_word("slice") {
            true => {
                let token = self.next();
                self.text_of(&token).parse().map_err(|_| self.syntax_error())?
            }
            false => 0,
        };
        self.expect_word("in")?;
        self.expect_word("array")?;
        let array = self.expression(&["loop"])?;
        let body = self.body(label.as_deref())?;
        self.scope = outer;
        Ok(StatementKind::ForEach { label, target, slice, array, body })
    }
}
