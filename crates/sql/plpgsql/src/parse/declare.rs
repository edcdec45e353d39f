//! Blocks, and the variables that they declare.

use std::rc::Rc;

use base::{Oid, Severity, SqlResult, sql_err};
use types::oids;

use super::Parser;
use crate::ast::*;
use crate::checks::with_severity;
use crate::conditions;
use crate::namespace::{self, is_local, lookup};
use crate::scan::Tok;

impl Parser<'_> {
    /// DECLARE … BEGIN … END. The label has been read.
    pub(super) fn block(&mut self, label: Option<String>) -> SqlResult<Block> {
        let outer = self.scope.clone();
        namespace::push_level(&mut self.scope, label.clone(), false);
        let mut declared = Vec::new();
        if self.take_word("declare") {
            while !self.is_word("begin") {
                if self.take_word("declare") {
                    continue;
                }
                self.declaration(&mut declared)?;
            }
        }
        self.expect_word("begin")?;
        let body = self.statements(&["end", "exception"])?;
        let handlers = match self.take_word("exception") {
            true => Some(self.handlers()?),
            false => None,
        };
        self.expect_word("end")?;
        self.end_label(label.as_deref())?;
        self.scope = outer;
        Ok(Block { label, declared, body, handlers })
    }

    fn handlers(&mut self) -> SqlResult<Handlers> {
        let text = TypeRef { oid: oids::text, typmod: -1, collation: Oid(100) };
        let mut make = |name: &str| {
            let variable = Variable {
                name: name.to_owned(),
                line: self.line(),
                kind: VariableKind::Scalar(text),
                constant: true,
                not_null: false,
                default: None,
            };
            self.declare(variable)
        };
        let variables = (make("sqlstate"), make("sqlerrm"));
        let mut list = Vec::new();
        while self.take_word("when") {
            let mut conditions = vec![self.condition()?];
            while self.take_word("or") {
                conditions.push(self.condition()?);
            }
            self.expect_word("then")?;
            let body = self.statements(&["when", "end"])?;
            list.push(Handler { conditions: conditions.into_iter().flatten().collect(), body });
        }
        if list.is_empty() {
            return Err(self.syntax_error());
        }
        Ok(Handlers { variables, list })
    }

    /// One condition: a name may be that of several codes.
    fn condition(&mut self) -> SqlResult<Vec<Condition>> {
        let name = self.word()?;
        if name == "sqlstate" {
            let place = self.token().start;
            let Tok::Str(code) = self.next().tok else { return Err(self.syntax_error()) };
            let code = conditions::code(&code)
                .ok_or_else(|| self.at_byte(sql_err!(SYNTAX_ERROR, "invalid SQLSTATE code"), place))?;
            return Ok(vec![Condition::Code(code)]);
        }
        if name == "others" {
            return Ok(vec![Condition::Others]);
        }
        let codes = conditions::named(&name);
        if codes.is_empty() {
            return Err(sql_err!(UNDEFINED_OBJECT, "unrecognized exception condition \"{name}\""));
        }
        Ok(codes.into_iter().map(Condition::Code).collect())
    }

    /// Reports a variable that hides an outer one, if that check is on.
    fn check_shadow(&mut self, name: &str, place: usize) -> SqlResult<()> {
        let Some(severity) = self.shadows.filter(|_| lookup(&self.scope, &[name]).is_some()) else {
            return Ok(());
        };
        let error = sql_err!(DUPLICATE_ALIAS, "variable \"{name}\" shadows a previously defined variable");
        let told = with_severity(self.at_byte(error, place), severity);
        if severity == Severity::Error {
            return Err(told);
        }
        self.warnings.push(told);
        Ok(())
    }

    fn declaration(&mut self, declared: &mut Vec<VarId>) -> SqlResult<()> {
        let (line, start) = (self.line(), self.token().start);
        if self.is_op("<<") {
            let error = sql_err!(SYNTAX_ERROR, "block label must be placed before DECLARE, not after");
            return Err(self.at_byte(error, start));
        }
        let name = self.word()?;
        if is_local(&self.scope, &name) {
            let error = sql_err!(SYNTAX_ERROR, "duplicate declaration");
            self.at -= 1;
            let near = self.error_near(error.message());
            return Err(near);
        }
        self.check_shadow(&name, start)?;
        if self.take_word("alias") {
            self.expect_word("for")?;
            return self.alias(&name);
        }
        let scroll = match () {
            () if self.is_word("no") && self.is_word_at(1, "scroll") => {
                self.at += 2;
                Some(false)
            }
            () if self.is_word("scroll") && self.is_word_at(1, "cursor") => {
                self.at += 1;
                Some(true)
            }
            () => None,
        };
        if self.is_word("cursor") && (scroll.is_some() || self.is_cursor()) {
            self.next();
            declared.push(self.cursor(name, line, scroll)?);
            return Ok(());
        }
        let constant = self.take_word("constant");
        let (ty, is_row) = self.type_name(&[])?;
        let ty = self.collated(ty)?;
        let not_null = match self.take_word("not") {
            true => {
                self.expect_word("null")?;
                true
            }
            false => false,
        };
        let default = match self.take_op(":=") || self.take_op("=") || self.take_word("default") {
            true => Some(self.expression(&[";"])?),
            false => None,
        };
        if not_null && default.is_none() {
            let message =
                format!("variable \"{name}\" must have a default value, since it's declared NOT NULL");
            let error = base::SqlError::new(base::SqlState::NULL_VALUE_NOT_ALLOWED, message);
            return Err(self.at_byte(error, self.token().start));
        }
        self.expect_op(";")?;
        let kind = if is_row { VariableKind::Record(ty) } else { VariableKind::Scalar(ty) };
        declared.push(self.declare(Variable { name, line, kind, constant, not_null, default }));
        Ok(())
    }

    /// Whether CURSOR begins the declaration of one, and is not the name of a type.
    fn is_cursor(&self) -> bool {
        self.is_op_at(1, "(") || self.is_word_at(1, "for") || self.is_word_at(1, "is")
    }

    fn collated(&mut self, ty: TypeRef) -> SqlResult<TypeRef> {
        if !self.take_word("collate") {
            return Ok(ty);
        }
        let mut name = vec![self.word()?];
        while self.take_op(".") {
            name.push(self.word()?);
        }
        let collation = self.session.collation_named(&parse::ast::Name(name))?;
        if !ty.collation.is_valid() {
            let shown = self.session.type_text(ty.oid);
            return Err(sql_err!(DATATYPE_MISMATCH, "collations are not supported by type {shown}"));
        }
        Ok(TypeRef { collation, ..ty })
    }

    fn alias(&mut self, name: &str) -> SqlResult<()> {
        let token = self.next();
        let shown = self.text_of(&token).to_owned();
        let wanted = match &token.tok {
            Tok::Word(word) | Tok::Quoted(word) => word.clone(),
            Tok::Param => shown.clone(),
            _ => return Err(self.syntax_error()),
        };
        let Some(found) = namespace::lookup(&self.scope, &[&wanted]) else {
            let error = sql_err!(UNDEFINED_OBJECT, "variable \"{shown}\" does not exist");
            return Err(self.at_byte(error, token.start));
        };
        namespace::push_variable(&mut self.scope, name, found.variable, found.record);
        self.expect_op(";")
    }

    /// `name CURSOR [(args)] FOR query;`, from behind CURSOR.
    fn cursor(&mut self, name: String, line: u32, scroll: Option<bool>) -> SqlResult<VarId> {
        let outer = self.scope.clone();
        namespace::push_level(&mut self.scope, Some(name.clone()), false);
        let mut arguments = Vec::new();
        if self.take_op("(") {
            loop {
                let argument = self.word()?;
                let (ty, is_row) = self.type_name(&[",", ")"])?;
                let kind = if is_row { VariableKind::Record(ty) } else { VariableKind::Scalar(ty) };
                arguments.push(self.declare(Variable {
                    name: argument,
                    line,
                    kind,
                    constant: false,
                    not_null: false,
                    default: None,
                }));
                if !self.take_op(",") {
                    break;
                }
            }
            self.expect_op(")")?;
        }
        if !self.take_word("is") {
            self.expect_word("for")?;
        }
        let (start, end) = self.cut(&[";"], "statement")?;
        let query = self.sql(&self.text[start..end], start)?;
        self.expect_op(";")?;
        self.scope = outer;
        let kind = VariableKind::Cursor(Rc::new(BoundCursor { query, scroll, arguments }));
        Ok(self.declare(Variable { name, line, kind, constant: false, not_null: false, default: None }))
    }

    /// A type, and whether it is one of rows. Reads up to what may follow one.
    pub(super) fn type_name(&mut self, until: &[&str]) -> SqlResult<(TypeRef, bool)> {
        if let Some(found) = self.type_of_variable()? {
            return Ok(found);
        }
        let start = self.token().start;
        let (mut end, mut depth) = (start, 0);
        loop {
            let token = self.token();
            let text = self.text_of(token);
            let ends = match &token.tok {
                Tok::End => true,
                Tok::Op => matches!(text, ";" | ":=" | "=") || until.contains(&text),
                Tok::Word(word) => matches!(word.as_str(), "collate" | "not" | "default"),
                _ => false,
            };
            if depth == 0 && ends {
                break;
            }
            match text {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if token.tok == Tok::End {
                return Err(self.error_near("incomplete data type declaration"));
            }
            end = token.end;
            self.next();
        }
        if end == start {
            return Err(self.error_near("missing data type declaration"));
        }
        let text = &self.text[start..end];
        self.named_type(text, start)
    }

    /// `variable%TYPE`
    fn type_of_variable(&mut self) -> SqlResult<Option<(TypeRef, bool)>> {
        let Some((target, tokens)) = self.peek_target() else { return Ok(None) };
        let percent = self.ahead(tokens);
        if self.text_of(percent) != "%" || !self.is_word_at(tokens + 1, "type") {
            return Ok(None);
        }
        let Target::Variable(v) = target else { return Ok(None) };
        let found = match &self.variables[v].kind {
            VariableKind::Scalar(t) => (*t, false),
            VariableKind::Record(t) => (*t, true),
            VariableKind::Cursor(_) => {
                (TypeRef { oid: oids::refcursor, typmod: -1, collation: Oid(100) }, false)
            }
        };
        self.at += tokens + 2;
        if self.is_op("[") {
            while self.take_op("[") {
                if matches!(self.peek(), Tok::Number) {
                    self.next();
                }
                self.expect_op("]")?;
            }
            let oid = self.session.array_type_of(found.0.oid)?;
            return Ok(Some((TypeRef { oid, ..found.0 }, false)));
        }
        Ok(Some(found))
    }

    /// The type with this name; `table%ROWTYPE` is the table's row.
    fn named_type(&self, text: &str, start: usize) -> SqlResult<(TypeRef, bool)> {
        let lower = text.to_ascii_lowercase();
        let (name, is_row) = match lower.strip_suffix("rowtype").map(str::trim_end) {
            Some(before) if before.ends_with('%') => (text[..before.len() - 1].trim_end(), true),
            _ => (text, false),
        };
        // The grammar's names of types have no %TYPE.
        let array = name.trim_end().ends_with(']');
        let stem = name.trim_end().trim_end_matches(['[', ']', ' ']);
        let column = stem.to_ascii_lowercase().ends_with("%type").then(|| stem[..stem.len() - 5].trim_end());
        let mut parsed =
            parse::parse_type_name(column.unwrap_or(name)).map_err(|e| match e.report().position {
                Some(_) => self.shifted(e, start),
                None => e,
            })?;
        parsed.percent_type = column.is_some();
        let mut found = self.session.type_in_body(&parsed).map_err(|e| match is_row {
            true if e.code() == base::SqlState::UNDEFINED_OBJECT => {
                sql_err!(UNDEFINED_TABLE, "relation \"{name}\" does not exist")
            }
            _ => self.at_byte(e, start),
        })?;
        if column.is_some() && array {
            found.type_oid = self.session.array_type_of(found.type_oid)?;
        }
        let ty = TypeRef { oid: found.type_oid, typmod: found.typmod, collation: found.collation };
        let row = ty.oid == oids::record || self.session.row_columns_of(ty.oid)?.is_some();
        let pseudo = types::builtin_type(ty.oid).is_some_and(|t| t.kind == b'p');
        if pseudo && !row && !analyze::is_polymorphic(ty.oid) {
            let shown = self.session.type_text(ty.oid);
            let error = sql_err!(FEATURE_NOT_SUPPORTED, "variable \"{}\" has pseudo-type {shown}", name);
            return Err(error);
        }
        Ok((ty, row))
    }
}
