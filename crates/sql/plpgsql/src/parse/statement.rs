//! Statements.

use std::rc::Rc;

use base::{SqlResult, sql_err};
use types::oids;

use super::Parser;
use crate::ast::*;
use crate::expr::{Expression, Form};
use crate::namespace;
use crate::scan::Tok;

impl Parser<'_> {
    /// Statements up to one of these words, which stays.
    pub(super) fn statements(&mut self, until: &[&str]) -> SqlResult<Vec<Statement>> {
        runtime::check_stack()?;
        let mut list = Vec::new();
        loop {
            if until.iter().any(|word| self.is_word(word)) && !self.begins_assignment() {
                return Ok(list);
            }
            if *self.peek() == Tok::End {
                return Err(self.syntax_error());
            }
            list.push(self.statement()?);
        }
    }

    /// Whether a variable is assigned to here, whatever its name.
    fn begins_assignment(&self) -> bool {
        let Some((_, tokens)) = self.peek_target() else { return false };
        [":=", "=", "["].iter().any(|op| self.is_op_at(tokens, op))
            || (self.is_op_at(tokens, ".")
                && matches!(self.ahead(tokens + 1).tok, Tok::Word(_) | Tok::Quoted(_)))
    }

    fn statement(&mut self) -> SqlResult<Statement> {
        let line = self.line();
        let kind = match self.label()? {
            Some(label) => self.labelled(label)?,
            None if self.begins_assignment() => self.assignment()?,
            None => self.unlabelled()?,
        };
        Ok(Statement::new(line, kind))
    }

    fn labelled(&mut self, label: String) -> SqlResult<StatementKind> {
        match self.peek() {
            Tok::Word(word) => match word.as_str() {
                "declare" | "begin" => self.inner_block(Some(label)),
                "loop" => self.plain_loop(Some(label)),
                "while" => self.while_loop(Some(label)),
                "for" => self.for_loop(Some(label)),
                "foreach" => self.foreach(Some(label)),
                _ => Err(self.syntax_error()),
            },
            _ => Err(self.syntax_error()),
        }
    }

    fn inner_block(&mut self, label: Option<String>) -> SqlResult<StatementKind> {
        let block = self.block(label)?;
        self.expect_op(";")?;
        Ok(StatementKind::Block(Box::new(block)))
    }

    fn unlabelled(&mut self) -> SqlResult<StatementKind> {
        let Tok::Word(word) = self.peek().clone() else {
            // Statements in parentheses are queries.
            return if self.is_op("(") { self.sql_statement() } else { Err(self.syntax_error()) };
        };
        let simple = |p: &mut Self, kind: StatementKind| {
            p.expect_op(";")?;
            Ok(kind)
        };
        match word.as_str() {
            "declare" | "begin" => self.inner_block(None),
            "if" => self.if_statement(),
            "case" => self.case_statement(),
            "loop" => self.plain_loop(None),
            "while" => self.while_loop(None),
            "for" => self.for_loop(None),
            "foreach" => self.foreach(None),
            "exit" | "continue" => self.exit(word == "exit"),
            "return" => self.return_statement(),
            "raise" => self.raise(),
            "assert" => self.assert(),
            "perform" => self.perform(),
            "call" | "do" => self.call(),
            "execute" => self.execute(),
            "get" => self.get_diagnostics(),
            "open" => self.open(),
            "fetch" | "move" => self.fetch(word == "move"),
            "close" => {
                self.next();
                let cursor = self.cursor_variable()?;
                simple(self, StatementKind::Close(cursor))
            }
            "null" => {
                self.next();
                simple(self, StatementKind::Null)
            }
            "commit" | "rollback" => {
                self.next();
                let chain = self.chain()?;
                simple(
                    self,
                    if word == "commit" {
                        StatementKind::Commit { chain }
                    } else {
                        StatementKind::Rollback { chain }
                    },
                )
            }
            _ if self.is_op_at(1, ":=") || self.is_op_at(1, "=") || self.is_op_at(1, "[") => {
                let error =
                    sql_err!(SYNTAX_ERROR, "\"{}\" is not a known variable", self.text_of(self.token()));
                Err(self.at_byte(error, self.token().start))
            }
            _ => self.sql_statement(),
        }
    }

    fn chain(&mut self) -> SqlResult<bool> {
        if !self.take_word("and") {
            return Ok(false);
        }
        let no = self.take_word("no");
        self.expect_word("chain")?;
        Ok(!no)
    }

    fn assignment(&mut self) -> SqlResult<StatementKind> {
        let start = self.token().start;
        let Some((target, tokens)) = self.peek_target() else { return Err(self.syntax_error()) };
        self.check_assignable(&target)?;
        self.at += tokens;
        if self.take_op(":=") || self.take_op("=") {
            let value = self.assigned(&target)?;
            self.expect_op(";")?;
            return Ok(StatementKind::Assign { target, value });
        }
        // An element or a field within: the whole is made again.
        let (_, end) = self.cut(&[":=", "="], "expression")?;
        let place = self.text[start..end].to_owned();
        self.next();
        let (from, to) = self.cut(&[";"], "expression")?;
        self.expect_op(";")?;
        let value = self.store(&place, start, &self.text[from..to], from)?;
        Ok(StatementKind::Store { target, value })
    }

    /// The new value of what a place is part of: an expression of the analyser's own.
    fn store(&self, place: &str, start: usize, value: &str, from: usize) -> SqlResult<Rc<Expression>> {
        let place = parse::parse_expression(place).map_err(|e| self.shifted(e, start))?;
        let select = parse::parse_expression(value).map_err(|e| self.shifted(e, from))?;
        let raw = analyze::assignment(place, select)
            .ok_or_else(|| self.at_byte(sql_err!(SYNTAX_ERROR, "invalid assignment target"), start))?;
        let text = value.into();
        Ok(self.made(text, Form::Value, raw))
    }

    fn if_statement(&mut self) -> SqlResult<StatementKind> {
        self.next();
        let mut arms = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let condition = self.expression(&["then"])?;
            self.next();
            arms.push((condition, self.statements(&["elsif", "elseif", "else", "end"])?));
            if self.take_word("elsif") || self.take_word("elseif") {
                continue;
            }
            if self.take_word("else") {
                otherwise = self.statements(&["end"])?;
            }
            break;
        }
        self.expect_word("end")?;
        self.expect_word("if")?;
        self.expect_op(";")?;
        Ok(StatementKind::If { arms, otherwise })
    }

    fn case_statement(&mut self) -> SqlResult<StatementKind> {
        self.next();
        let outer = self.scope.clone();
        let mut operand = None;
        if !self.is_word("when") {
            let value = self.expression(&["when"])?;
            // The type is that of the value, known only when it is computed.
            let ty = TypeRef { oid: oids::record, typmod: -1, collation: base::Oid::INVALID };
            let name = format!("__Case__Variable_{}__", self.variables.len());
            let variable = self.hidden(&name, ty);
            namespace::push_variable(&mut self.scope, &name, variable, false);
            operand = Some((value, variable, name));
        }
        let mut arms = Vec::new();
        while self.take_word("when") {
            let (start, end) = self.cut(&["then"], "expression")?;
            let condition = match &operand {
                None => self.value(start, end)?,
                Some((_, _, name)) => {
                    let text = format!("\"{name}\" IN ({})", &self.text[start..end]);
                    let select = parse::parse_expression(&text).map_err(|_| {
                        self.at_byte(sql_err!(SYNTAX_ERROR, "syntax error in a CASE arm"), start)
                    })?;
                    let raw = parse::RawStatement {
                        stmt: parse::Statement::Select(Box::new(select)),
                        location: 0,
                        length: text.len(),
                    };
                    self.made(text.into(), Form::Value, raw)
                }
            };
            self.next();
            arms.push((condition, self.statements(&["when", "else", "end"])?));
        }
        if arms.is_empty() {
            return Err(self.syntax_error());
        }
        let otherwise = match self.take_word("else") {
            true => Some(self.statements(&["end"])?),
            false => None,
        };
        self.expect_word("end")?;
        self.expect_word("case")?;
        self.expect_op(";")?;
        self.scope = outer;
        let operand = operand.map(|(value, variable, _)| (value, variable));
        Ok(StatementKind::Case { operand, arms, otherwise })
    }

    fn exit(&mut self, leave: bool) -> SqlResult<StatementKind> {
        let start = self.token().start;
        self.next();
        let word = if leave { "EXIT" } else { "CONTINUE" };
        let mut label = None;
        if matches!(self.peek(), Tok::Word(w) if w != "when") || matches!(self.peek(), Tok::Quoted(_)) {
            let place = self.token().start;
            let name = self.word()?;
            match namespace::label(&self.scope, &name) {
                None => {
                    let error = sql_err!(
                        SYNTAX_ERROR,
                        "there is no label \"{name}\" attached to any block or loop enclosing this statement"
                    );
                    return Err(self.at_byte(error, place));
                }
                Some(false) if !leave => {
                    let error = sql_err!(SYNTAX_ERROR, "block label \"{name}\" cannot be used in CONTINUE");
                    return Err(self.at_byte(error, place));
                }
                Some(_) => {}
            }
            label = Some(name);
        } else if !namespace::in_loop(&self.scope) {
            let message = match leave {
                true => "EXIT cannot be used outside a loop, unless it has a label".to_owned(),
                false => format!("{word} cannot be used outside a loop"),
            };
            let error = base::SqlError::new(base::SqlState::SYNTAX_ERROR, message);
            return Err(self.at_byte(error, start));
        }
        let condition = match self.take_word("when") {
            true => Some(self.expression(&[";"])?),
            false => None,
        };
        self.expect_op(";")?;
        Ok(StatementKind::Exit { leave, label, condition })
    }

    fn return_statement(&mut self) -> SqlResult<StatementKind> {
        self.next();
        let place = self.token().start;
        let wrong = |p: &Self, message: &str| {
            Err(p.at_byte(base::SqlError::new(base::SqlState::DATATYPE_MISMATCH, message), place))
        };
        let returns = self.returns;
        if self.is_word("next") || self.is_word("query") {
            let next = self.is_word("next");
            if !returns.set {
                let what = if next { "NEXT" } else { "QUERY" };
                return wrong(self, &format!("cannot use RETURN {what} in a non-SETOF function"));
            }
            self.next();
            return if next { self.return_next() } else { self.return_query() };
        }
        if self.take_op(";") {
            if returns.void || returns.outputs || returns.set || returns.procedure {
                return Ok(StatementKind::Return(None));
            }
            self.at -= 1;
            return Err(self.error_near("missing expression"));
        }
        if returns.set {
            return match wrong(self, "RETURN cannot have a parameter in function returning set") {
                Err(e) => Err(e.hint("Use RETURN NEXT or RETURN QUERY.")),
                done => done,
            };
        }
        if returns.procedure {
            return wrong(self, "RETURN cannot have a parameter in a procedure");
        }
        if returns.void {
            return wrong(self, "RETURN cannot have a parameter in function returning void");
        }
        if returns.outputs {
            return wrong(self, "RETURN cannot have a parameter in function with OUT parameters");
        }
        let value = self.expression(&[";"])?;
        self.expect_op(";")?;
        Ok(StatementKind::Return(Some(value)))
    }

    fn return_next(&mut self) -> SqlResult<StatementKind> {
        if self.returns.outputs {
            if !self.take_op(";") {
                let message = "RETURN NEXT cannot have a parameter in function with OUT parameters";
                let error = base::SqlError::new(base::SqlState::DATATYPE_MISMATCH, message);
                return Err(self.at_byte(error, self.token().start));
            }
            return Ok(StatementKind::ReturnNext(None));
        }
        let value = self.expression(&[";"])?;
        self.expect_op(";")?;
        Ok(StatementKind::ReturnNext(Some(value)))
    }

    fn return_query(&mut self) -> SqlResult<StatementKind> {
        let query = self.query(";")?;
        self.expect_op(";")?;
        Ok(StatementKind::ReturnQuery(query))
    }

    /// A query, or EXECUTE with USING, up to a terminator, which stays.
    pub(super) fn query(&mut self, until: &str) -> SqlResult<Query> {
        if !self.take_word("execute") {
            let (start, end) = self.cut(&[until], "statement")?;
            return Ok(Query::Static(self.sql(&self.text[start..end], start)?));
        }
        let text = self.expression(&[until, "using"])?;
        let using = match self.take_word("using") {
            true => self.expressions(until)?,
            false => Vec::new(),
        };
        Ok(Query::Dynamic(text, using))
    }

    fn perform(&mut self) -> SqlResult<StatementKind> {
        self.next();
        let (start, end) = self.cut(&[";"], "statement")?;
        let text = format!("SELECT {}", &self.text[start..end]);
        let mut raw = parse::parse(&text).map_err(|mut e| {
            // The word in the text is one letter longer.
            if let Some(position) = &mut e.report_mut().position {
                *position = position.saturating_sub(7);
            }
            self.shifted(e, start)
        })?;
        let (Some(raw), true) = (raw.pop(), raw.is_empty()) else { return Err(self.syntax_error()) };
        self.expect_op(";")?;
        Ok(StatementKind::Perform(self.made(text.into(), Form::Statement, raw)))
    }

    fn call(&mut self) -> SqlResult<StatementKind> {
        let (start, end) = self.cut(&[";"], "statement")?;
        let statement = self.sql(&self.text[start..end], start)?;
        self.expect_op(";")?;
        Ok(StatementKind::Call(statement))
    }

    fn execute(&mut self) -> SqlResult<StatementKind> {
        self.next();
        let text = self.expression(&[";", "into", "using"])?;
        let (mut into, mut using) = (None, Vec::new());
        loop {
            if into.is_none() && self.take_word("into") {
                let strict = self.take_word("strict");
                into = Some(IntoClause { target: self.targets()?, strict });
            } else if using.is_empty() && self.take_word("using") {
                loop {
                    using.push(self.expression(&[",", ";", "into"])?);
                    if !self.take_op(",") {
                        break;
                    }
                }
            } else {
                break;
            }
        }
        self.expect_op(";")?;
        Ok(StatementKind::Execute { text, into, using })
    }

    fn assert(&mut self) -> SqlResult<StatementKind> {
        self.next();
        let condition = self.expression(&[",", ";"])?;
        let message = match self.take_op(",") {
            true => Some(self.expression(&[";"])?),
            false => None,
        };
        self.expect_op(";")?;
        Ok(StatementKind::Assert { condition, message })
    }

    /// A statement of SQL, without the INTO that may be within it.
    fn sql_statement(&mut self) -> SqlResult<StatementKind> {
        let start = self.token().start;
        let first = self.peek().clone();
        let mut into: Option<(usize, usize, IntoClause)> = None;
        let (mut depth, mut end, mut before) = (0_usize, start, Tok::End);
        let mut in_atomic = false;
        loop {
            let token = self.token().clone();
            let text = self.text_of(&token);
            if token.tok == Tok::End {
                return Err(self.error_near("missing \";\" at end of SQL statement"));
            }
            if text == ";" && token.tok == Tok::Op && depth == 0 && !in_atomic {
                break;
            }
            match text {
                "(" | "[" if token.tok == Tok::Op => depth += 1,
                ")" | "]" if token.tok == Tok::Op => depth = depth.saturating_sub(1),
                _ => {}
            }
            if matches!(&token.tok, Tok::Word(w) if w == "atomic") {
                in_atomic = true;
            }
            let after = |word: &str| matches!(&before, Tok::Word(w) if w == word);
            let is_into = matches!(&token.tok, Tok::Word(w) if w == "into")
                && !after("insert")
                && !after("merge")
                && !matches!(&first, Tok::Word(w) if w == "import" || w == "create");
            if is_into {
                if into.is_some() {
                    return Err(self.error_near("INTO specified more than once"));
                }
                self.next();
                let strict = self.take_word("strict");
                let target = self.targets()?;
                let until = self.tokens[self.at - 1].end;
                into = Some((token.start, until, IntoClause { target, strict }));
                before = Tok::End;
                end = until;
                continue;
            }
            end = token.end;
            before = token.tok;
            self.next();
        }
        let mut text = self.text[start..end].to_owned();
        if let Some((from, to, _)) = &into {
            // Positions behind stay what they are.
            let blank: String =
                self.text[*from..*to].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
            text.replace_range(from - start..to - start, &blank);
        }
        let statement = self.sql(text.trim_end(), start)?;
        self.expect_op(";")?;
        Ok(StatementKind::Sql { statement, into: into.map(|(.., into)| into) })
    }
}
