//! OPEN, FETCH, MOVE.

use std::rc::Rc;

use base::{SqlResult, sql_err};

use super::Parser;
use crate::ast::*;
use crate::expr::Expression;
use crate::scan::Tok;

impl Parser<'_> {
    pub(super) fn open(&mut self) -> SqlResult<StatementKind> {
        self.next();
        let cursor = self.cursor_variable()?;
        let bound = match &self.variables[cursor].kind {
            VariableKind::Cursor(bound) => Some(bound.arguments.clone()),
            _ => None,
        };
        if let Some(wanted) = bound {
            let arguments = self.cursor_arguments(cursor, &wanted)?;
            self.expect_op(";")?;
            return Ok(StatementKind::Open { cursor, scroll: None, source: OpenSource::Bound(arguments) });
        }
        let scroll = match () {
            () if self.take_word("scroll") => Some(true),
            () if self.take_word("no") => {
                self.expect_word("scroll")?;
                Some(false)
            }
            () => None,
        };
        if !self.take_word("for") {
            return Err(self.error_near("syntax error, expected \"FOR\""));
        }
        let query = self.query(";")?;
        self.expect_op(";")?;
        Ok(StatementKind::Open { cursor, scroll, source: OpenSource::Query(query) })
    }

    /// `(a, b)` or `(name := a)` of a bound cursor, in the order of its arguments.
    pub(super) fn cursor_arguments(
        &mut self,
        cursor: VarId,
        wanted: &[VarId],
    ) -> SqlResult<Option<Vec<Rc<Expression>>>> {
        let name = self.variables[cursor].name.clone();
        let place = self.token().start;
        if !self.is_op("(") {
            if wanted.is_empty() {
                return Ok(None);
            }
            let error = sql_err!(SYNTAX_ERROR, "cursor \"{name}\" has arguments");
            return Err(self.at_byte(error, place));
        }
        if wanted.is_empty() {
            let error = sql_err!(SYNTAX_ERROR, "cursor \"{name}\" has no arguments");
            return Err(self.at_byte(error, place));
        }
        self.next();
        let mut given: Vec<Option<Rc<Expression>>> = vec![None; wanted.len()];
        for n in 0.. {
            let place = self.token().start;
            let named = self.is_op_at(1, ":=") || self.is_op_at(1, "=>");
            let at = match named {
                true => {
                    let argument = self.word()?;
                    self.next();
                    let found = wanted.iter().position(|v| self.variables[*v].name == argument);
                    found.ok_or_else(|| {
                        let error =
                            sql_err!(SYNTAX_ERROR, "cursor \"{name}\" has no argument named \"{argument}\"");
                        self.at_byte(error, place)
                    })?
                }
                false => n,
            };
            let value = self.expression(&[",", ")"])?;
            let Some(slot) = given.get_mut(at) else {
                let error = sql_err!(SYNTAX_ERROR, "too many arguments for cursor \"{name}\"");
                return Err(self.at_byte(error, place));
            };
            if slot.is_some() {
                let argument = &self.variables[wanted[at]].name;
                let error = sql_err!(
                    SYNTAX_ERROR,
                    "value for parameter \"{argument}\" of cursor \"{name}\" specified more than once"
                );
                return Err(self.at_byte(error, place));
            }
            *slot = Some(value);
            if !self.take_op(",") {
                break;
            }
        }
        let place = self.token().start;
        self.expect_op(")")?;
        let all: Option<Vec<_>> = given.into_iter().collect();
        match all {
            Some(all) => Ok(Some(all)),
            None => {
                let error = sql_err!(SYNTAX_ERROR, "not enough arguments for cursor \"{name}\"");
                Err(self.at_byte(error, place))
            }
        }
    }

    pub(super) fn fetch(&mut self, is_move: bool) -> SqlResult<StatementKind> {
        self.next();
        let direction = self.direction()?;
        if !is_move && direction.all {
            let error = sql_err!(FEATURE_NOT_SUPPORTED, "FETCH statement cannot return multiple rows");
            return Err(self.at_byte(error, self.token().start));
        }
        let cursor = self.cursor_variable()?;
        let into = match is_move {
            true => None,
            false => {
                self.expect_word("into")?;
                Some(self.targets()?)
            }
        };
        self.expect_op(";")?;
        Ok(StatementKind::Fetch { cursor, direction, into })
    }

    fn direction(&mut self) -> SqlResult<Direction> {
        let one = |way| Direction { way, count: None, all: false };
        let word = match self.peek() {
            Tok::Word(word) => word.clone(),
            _ => String::new(),
        };
        let direction = match word.as_str() {
            "next" => one(Way::Forward),
            "prior" => one(Way::Backward),
            "first" => one(Way::First),
            "last" => one(Way::Last),
            "absolute" | "relative" => {
                self.next();
                let count = Some(self.expression(&["from", "in"])?);
                let way = if word == "absolute" { Way::Absolute } else { Way::Relative };
                self.next();
                return Ok(Direction { way, count, all: false });
            }
            "forward" | "backward" => {
                self.next();
                let way = if word == "forward" { Way::Forward } else { Way::Backward };
                if self.take_word("all") {
                    self.from();
                    return Ok(Direction { way, count: None, all: true });
                }
                if self.is_word("from") || self.is_word("in") || self.peek_target().is_some() {
                    self.from();
                    return Ok(one(way));
                }
                let count = Some(self.expression(&["from", "in"])?);
                self.next();
                return Ok(Direction { way, count, all: true });
            }
            "all" => {
                self.next();
                self.from();
                return Ok(Direction { way: Way::Forward, count: None, all: true });
            }
            _ => {
                if self.peek_target().is_none() && !self.is_word("from") && !self.is_word("in") {
                    let count = Some(self.expression(&["from", "in"])?);
                    self.next();
                    return Ok(Direction { way: Way::Forward, count, all: true });
                }
                self.from();
                return Ok(one(Way::Forward));
            }
        };
        self.next();
        self.from();
        Ok(direction)
    }

    fn from(&mut self) {
        let _ = self.take_word("from") || self.take_word("in");
    }
}
