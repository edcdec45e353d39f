//! From a function's text to its statements.
//!
//! Layout: this file has what the others share: tokens, SQL cut out of the text, types, targets. `declare`: blocks and their variables;
//! `statement`: statements; `loops`: loops; `cursor`: OPEN, FETCH; `report`: RAISE, GET DIAGNOSTICS.
//!
//! PostgreSQL counterpart: `pl_gram.y`.

mod cursor;
mod declare;
mod loops;
mod report;
mod statement;

use std::rc::Rc;
use std::sync::Arc;

use analyze::variables::Precedence;
use base::{Severity, SqlError, SqlResult, sql_err};
use parse::RawStatement;
use session::Session;

use crate::ast::*;
use crate::checks::Check;
use crate::expr::{Expression, FieldName, Form};
use crate::namespace::{self, lookup};
use crate::scan::{Tok, Token, scan};

/// DETAIL of a name that is a variable's and a column's.
const AMBIGUOUS: &str = "It could refer to either a PL/pgSQL variable or a table column.";

/// A function under compilation.
pub struct Parser<'a> {
    session: &'a Session,
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// Names in view.
    pub scope: ScopeRef,
    /// Variables so far.
    pub variables: Vec<Variable>,
    /// What RETURN may have.
    pub returns: Returns,
    /// `#print_strict_params`, or `plpgsql.print_strict_params`
    pub print_strict_params: bool,
    /// Warnings, with their positions in the text.
    pub warnings: Vec<SqlError>,
    /// How it is told that a variable's name is that of an outer one's.
    shadows: Option<Severity>,
    precedence: Precedence,
}

/// What RETURN may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Returns {
    /// The result type is `void`.
    pub void: bool,
    /// SETOF.
    pub set: bool,
    /// There are OUT parameters.
    pub outputs: bool,
    /// A procedure.
    pub procedure: bool,
}

/// What a name means that is a variable's and a column's, by the word of `variable_conflict`.
fn precedence(word: &str) -> Option<Precedence> {
    Some(match word {
        "error" => Precedence::Neither(AMBIGUOUS),
        "use_variable" => Precedence::Variables,
        "use_column" => Precedence::Columns,
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// Splits a text.
    pub fn new(session: &'a Session, text: &'a str) -> SqlResult<Parser<'a>> {
        Ok(Parser {
            session,
            text,
            tokens: scan(text)?,
            at: 0,
            scope: None,
            variables: Vec::new(),
            returns: Returns::default(),
            print_strict_params: session.prints_strict_parameters(),
            warnings: Vec::new(),
            shadows: None,
            precedence: precedence(&session.variable_conflict()).unwrap_or(Precedence::Neither(AMBIGUOUS)),
        })
    }

    /// Whether variables are looked at whose names are those of outer ones, if anybody wants to know.
    pub fn look_for_shadows(&mut self, looks: bool) {
        self.shadows = Check::ShadowedVariables.severity(self.session).filter(|_| looks);
    }

    /// The whole text: options, a block, and nothing after it.
    pub fn function(&mut self) -> SqlResult<Block> {
        while self.is_op("#") {
            self.option()?;
        }
        let label = self.label()?;
        let block = self.block(label)?;
        self.take_op(";");
        match self.peek() {
            Tok::End => Ok(block),
            _ => Err(self.syntax_error()),
        }
    }

    /// `#option value`.
    fn option(&mut self) -> SqlResult<()> {
        self.next();
        let name = self.word()?;
        let value = self.word()?;
        match (name.as_str(), value.as_str()) {
            ("variable_conflict", word) => {
                self.precedence = precedence(word).ok_or_else(|| self.syntax_error())?;
            }
            ("print_strict_params", "on") => self.print_strict_params = true,
            ("print_strict_params", "off") => self.print_strict_params = false,
            ("dump", _) => {}
            _ => return Err(self.syntax_error()),
        }
        Ok(())
    }

    // Tokens

    fn peek(&self) -> &Tok {
        &self.tokens[self.at].tok
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn ahead(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        if token.tok != Tok::End {
            self.at += 1;
        }
        token
    }

    fn text_of(&self, token: &Token) -> &'a str {
        &self.text[token.start..token.end]
    }

    fn is_op(&self, op: &str) -> bool {
        self.token().tok == Tok::Op && self.text_of(self.token()) == op
    }

    fn is_op_at(&self, n: usize, op: &str) -> bool {
        let token = self.ahead(n);
        token.tok == Tok::Op && self.text_of(token) == op
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Word(w) if w == word)
    }

    fn is_word_at(&self, n: usize, word: &str) -> bool {
        matches!(&self.ahead(n).tok, Tok::Word(w) if w == word)
    }

    fn take_op(&mut self, op: &str) -> bool {
        let found = self.is_op(op);
        if found {
            self.next();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    fn expect_op(&mut self, op: &str) -> SqlResult<()> {
        if self.take_op(op) { Ok(()) } else { Err(self.syntax_error()) }
    }

    fn expect_word(&mut self, word: &str) -> SqlResult<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.syntax_error()) }
    }

    fn word(&mut self) -> SqlResult<String> {
        match self.next().tok {
            Tok::Word(word) | Tok::Quoted(word) => Ok(word),
            _ => {
                self.at = self.at.saturating_sub(1);
                Err(self.syntax_error())
            }
        }
    }

    /// The line that a byte of the text is on.
    fn line_at(&self, byte: usize) -> u32 {
        self.text[..byte].bytes().filter(|b| *b == b'\n').count() as u32 + 1
    }

    fn line(&self) -> u32 {
        self.line_at(self.token().start)
    }

    // Errors

    /// `syntax error at or near "…"` at the current token.
    fn syntax_error(&self) -> SqlError {
        self.error_near("syntax error")
    }

    fn error_near(&self, message: &str) -> SqlError {
        let token = self.token();
        let error = match token.tok {
            Tok::End => sql_err!(SYNTAX_ERROR, "{message} at end of input"),
            _ => sql_err!(SYNTAX_ERROR, "{message} at or near \"{}\"", self.text_of(token)),
        };
        self.at_byte(error, token.start)
    }

    fn at_byte(&self, error: SqlError, byte: usize) -> SqlError {
        if error.report().position.is_some() { error } else { error.at(parse::position(self.text, byte)) }
    }

    /// The line near which a compilation that failed came to its end.
    pub fn latest_line(&self) -> u32 {
        self.line()
    }

    // SQL

    /// Cuts out tokens up to one of the terminators outside of parentheses, which stays. Gives the text's place.
    fn cut(&mut self, until: &[&str], what: &str) -> SqlResult<(usize, usize)> {
        let start = self.token().start;
        let (mut end, mut depth) = (start, 0_usize);
        loop {
            let token = self.token();
            let text = self.text_of(token);
            let ends = match &token.tok {
                Tok::Op => until.contains(&text),
                Tok::Word(word) => until.contains(&word.as_str()),
                _ => false,
            };
            if depth == 0 && ends {
                break;
            }
            if token.tok == Tok::End || (text == ";" && token.tok == Tok::Op && depth == 0) {
                if depth > 0 {
                    return Err(self.at_byte(sql_err!(SYNTAX_ERROR, "mismatched parentheses"), start));
                }
                let wanted = until.first().copied().unwrap_or(";");
                let shown = if wanted.starts_with(|c: char| c.is_alphabetic()) {
                    wanted.to_uppercase()
                } else {
                    wanted.to_owned()
                };
                return Err(self.error_near(&format!("missing \"{shown}\" at end of SQL {what}")));
            }
            match text {
                "(" | "[" if token.tok == Tok::Op => depth += 1,
                ")" | "]" if token.tok == Tok::Op => {
                    if depth == 0 {
                        return Err(self.error_near("mismatched parentheses"));
                    }
                    depth -= 1;
                }
                _ => {}
            }
            end = token.end;
            self.next();
        }
        if end == start {
            let missing = if what == "expression" { "missing expression" } else { "missing SQL statement" };
            return Err(self.error_near(missing));
        }
        Ok((start, end))
    }

    /// An expression up to a terminator, which stays.
    fn expression(&mut self, until: &[&str]) -> SqlResult<Rc<Expression>> {
        let (start, end) = self.cut(until, "expression")?;
        self.value(start, end)
    }

    /// The expression whose value an assignment gives to a target.
    fn assigned(&mut self, target: &Target) -> SqlResult<Rc<Expression>> {
        let mut value = self.expression(&[";"])?;
        // Nobody else has it yet.
        if let (Target::Variable(v), Some(value)) = (target, Rc::get_mut(&mut value)) {
            value.target = Some(*v).filter(|v| !self.variables[*v].not_null);
        }
        Ok(value)
    }

    /// The expression at a place of the text.
    fn value(&self, start: usize, end: usize) -> SqlResult<Rc<Expression>> {
        let text = &self.text[start..end];
        let select = parse::parse_expression(text).map_err(|e| self.shifted(e, start))?;
        let raw = RawStatement {
            stmt: parse::Statement::Select(Box::new(select)),
            location: 0,
            length: text.len(),
        };
        Ok(self.made(text.into(), Form::Value, raw))
    }

    /// One statement of SQL.
    fn sql(&self, text: &str, start: usize) -> SqlResult<Rc<Expression>> {
        let mut raw = parse::parse(text).map_err(|e| self.shifted(e, start))?;
        match (raw.pop(), raw.is_empty()) {
            (Some(raw), true) => Ok(self.made(text.into(), Form::Statement, raw)),
            _ => Err(self.at_byte(sql_err!(SYNTAX_ERROR, "missing SQL statement"), start)),
        }
    }

    fn made(&self, text: Arc<str>, form: Form, raw: RawStatement) -> Rc<Expression> {
        Rc::new(Expression::new(text, form, raw, self.scope.clone(), self.precedence, None))
    }

    /// An error in a part of the text, with its position in the whole.
    fn shifted(&self, mut error: SqlError, start: usize) -> SqlError {
        let before = parse::position(self.text, start) - 1;
        if let Some(position) = &mut error.report_mut().position {
            *position += before;
        }
        error
    }

    /// Several expressions, separated by commas, up to a terminator, which stays.
    fn expressions(&mut self, until: &str) -> SqlResult<Vec<Rc<Expression>>> {
        let mut list = Vec::new();
        loop {
            list.push(self.expression(&[",", until])?);
            if !self.take_op(",") {
                return Ok(list);
            }
        }
    }

    // Variables

    /// Adds a variable and its name.
    pub fn declare(&mut self, variable: Variable) -> VarId {
        let id = self.variables.len();
        let record = matches!(variable.kind, VariableKind::Record(_));
        namespace::push_variable(&mut self.scope, &variable.name, id, record);
        self.variables.push(variable);
        id
    }

    /// Adds a variable without a name in view.
    pub fn hidden(&mut self, name: &str, ty: TypeRef) -> VarId {
        self.variables.push(Variable {
            name: name.to_owned(),
            line: 0,
            kind: VariableKind::Scalar(ty),
            constant: false,
            not_null: false,
            default: None,
        });
        self.variables.len() - 1
    }

    /// What the words from here name, if a variable: the target, and how many tokens it takes.
    fn peek_target(&self) -> Option<(Target, usize)> {
        let mut names: Vec<&str> = Vec::new();
        let mut tokens = 0;
        if self.token().tok == Tok::Param {
            let found = lookup(&self.scope, &[self.text_of(self.token())])?;
            return Some((Target::Variable(found.variable), 1));
        }
        while let Tok::Word(word) | Tok::Quoted(word) = &self.ahead(tokens).tok {
            names.push(word);
            tokens += 1;
            if names.len() == 3 || !self.is_op_at(tokens, ".") {
                break;
            }
            tokens += 1;
        }
        let found = lookup(&self.scope, &names)?;
        match (found.record, &names[found.names..]) {
            (_, []) => Some((Target::Variable(found.variable), 2 * found.names - 1)),
            (true, [field, ..]) => {
                let target = Target::Field(found.variable, FieldName::new(field));
                Some((target, 2 * found.names + 1))
            }
            (false, _) => None,
        }
    }

    /// A target that must be one.
    fn target(&mut self) -> SqlResult<Target> {
        let Some((target, tokens)) = self.peek_target() else {
            let error = match self.peek() {
                Tok::Word(_) | Tok::Quoted(_) => {
                    sql_err!(SYNTAX_ERROR, "\"{}\" is not a known variable", self.text_of(self.token()))
                }
                _ => return Err(self.syntax_error()),
            };
            return Err(self.at_byte(error, self.token().start));
        };
        self.check_assignable(&target)?;
        self.at += tokens;
        Ok(target)
    }

    /// INTO a, b.c, d; or one record.
    fn targets(&mut self) -> SqlResult<Target> {
        let first = self.target()?;
        if let Target::Variable(v) = &first
            && matches!(self.variables[*v].kind, VariableKind::Record(_))
        {
            if self.is_op(",") {
                let message = "record variable cannot be part of multiple-item INTO list";
                return Err(self.at_byte(sql_err!(SYNTAX_ERROR, "{message}"), self.token().start));
            }
            return Ok(first);
        }
        let mut list = vec![first];
        while self.take_op(",") {
            list.push(self.target()?);
        }
        Ok(Target::List(list))
    }

    fn check_assignable(&self, target: &Target) -> SqlResult<()> {
        let (Target::Variable(v) | Target::Field(v, _)) = target else { return Ok(()) };
        let variable = &self.variables[*v];
        if variable.constant {
            let error = sql_err!(ERROR_IN_ASSIGNMENT, "variable \"{}\" is declared CONSTANT", variable.name);
            return Err(self.at_byte(error, self.token().start));
        }
        Ok(())
    }

    /// A cursor variable.
    fn cursor_variable(&mut self) -> SqlResult<VarId> {
        let token = self.token().clone();
        let Some((Target::Variable(v), tokens)) = self.peek_target() else {
            let error = sql_err!(SYNTAX_ERROR, "\"{}\" is not a known variable", self.text_of(&token));
            return Err(self.at_byte(error, token.start));
        };
        let fits = match &self.variables[v].kind {
            VariableKind::Cursor(_) => true,
            VariableKind::Scalar(t) => t.oid == types::oids::refcursor,
            VariableKind::Record(_) => {
                let error = sql_err!(DATATYPE_MISMATCH, "cursor variable must be a simple variable");
                return Err(self.at_byte(error, token.start));
            }
        };
        if !fits {
            let error = sql_err!(
                DATATYPE_MISMATCH,
                "variable \"{}\" must be of type cursor or refcursor",
                self.variables[v].name
            );
            return Err(self.at_byte(error, token.start));
        }
        self.at += tokens;
        Ok(v)
    }

    // Labels

    /// `<<label>>`
    fn label(&mut self) -> SqlResult<Option<String>> {
        if !self.take_op("<<") {
            return Ok(None);
        }
        let label = self.word()?;
        self.expect_op(">>")?;
        Ok(Some(label))
    }

    /// The label after END, which must be the one at the beginning.
    fn end_label(&mut self, start: Option<&str>) -> SqlResult<()> {
        if !matches!(self.peek(), Tok::Word(_) | Tok::Quoted(_)) {
            return Ok(());
        }
        let token = self.token().clone();
        let end = self.word()?;
        let error = match start {
            None => sql_err!(SYNTAX_ERROR, "end label \"{end}\" specified for unlabeled block"),
            Some(start) if start != end => {
                sql_err!(SYNTAX_ERROR, "end label \"{end}\" differs from block's label \"{start}\"")
            }
            Some(_) => return Ok(()),
        };
        Err(self.at_byte(error, token.start))
    }
}
