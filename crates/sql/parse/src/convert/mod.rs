//! From the grammar library's nodes to our tree, in one pass that consumes them.
//!
//! Layout: this file holds the converter and what all parts use; [`statement`] statements as a whole; `expr` expressions and types, `json` those of SQL/JSON, `xml` those of XML; `select` the statements that
//! read and write rows; `ddl`, `alter`, `operator_class` and `publication` definitions; `utility` the rest;
//! `unsupported` names what has no node.
//!
//! Invariant: the converter never panics on any node; a shape that the grammar cannot make is an internal error.

mod alter;
mod ddl;
mod expr;
mod foreign;
mod json;
mod operator_class;
mod publication;
mod select;
pub mod statement;
mod unsupported;
mod utility;
mod xml;

use base::{SqlError, SqlResult, sql_err};
use rupg_sql::nodes as n;

use crate::ast::{Alias, Location, Name, Persistence, RangeVar, RawStatement};
use crate::depth::MAX_DEPTH;

/// The converter of one text.
pub(crate) struct Converter<'a> {
    pub(crate) text: &'a str,
    depth: usize,
}

/// The statement list that the grammar gave for `text`.
pub(crate) fn statements(text: &str, list: n::List) -> SqlResult<Vec<RawStatement>> {
    let mut converter = Converter { text, depth: 0 };
    let mut out = Vec::with_capacity(list.len());
    for node in list.into_iter().flatten() {
        let n::Node::RawStmt(raw) = node else { return Err(shape("statement list")) };
        let Some(stmt) = raw.stmt else { continue };
        let location = usize::try_from(raw.stmt_location).unwrap_or(0);
        let length = match usize::try_from(raw.stmt_len) {
            Ok(length) if length > 0 => length,
            _ => text.len().saturating_sub(location),
        };
        out.push(RawStatement { stmt: converter.statement(stmt)?, location, length });
    }
    Ok(out)
}

/// An expression given alone, as the grammar's one-target SELECT.
pub(crate) fn single_expression(text: &str, node: n::Node) -> SqlResult<crate::ast::Select> {
    let mut converter = Converter { text, depth: 0 };
    converter.select_node(Some(node))
}

/// A type name given alone.
pub(crate) fn single_type(text: &str, node: n::TypeName) -> SqlResult<crate::ast::TypeName> {
    let mut converter = Converter { text, depth: 0 };
    converter.type_name(node)
}

/// A node of a shape that the grammar does not make.
pub(crate) fn shape(what: &str) -> SqlError {
    SqlError::internal(format!("unexpected parse tree in {what}"))
}

pub(crate) fn loc(location: i32) -> Location {
    if location < 0 { Location::NONE } else { Location(location) }
}

pub(crate) fn text_of(value: Option<n::Str>) -> String {
    value.map(String::from).unwrap_or_default()
}

pub(crate) fn opt_text(value: Option<n::Str>) -> Option<String> {
    value.map(String::from)
}

/// The strings of a list of String nodes.
pub(crate) fn strings(list: n::List) -> SqlResult<Vec<String>> {
    list.into_iter()
        .flatten()
        .map(|node| match node {
            n::Node::String(s) => Ok(String::from(s)),
            _ => Err(shape("list of names")),
        })
        .collect()
}

pub(crate) fn name(list: n::List) -> SqlResult<Name> {
    strings(list).map(Name)
}

pub(crate) fn opt_name(list: n::List) -> SqlResult<Option<Name>> {
    if list.is_empty() { Ok(None) } else { name(list).map(Some) }
}

pub(crate) fn alias(value: Option<Box<n::Alias>>) -> SqlResult<Option<Alias>> {
    value.map(|a| Ok(Alias { name: text_of(a.aliasname), columns: strings(a.colnames)? })).transpose()
}

pub(crate) fn range_var(value: n::RangeVar) -> SqlResult<RangeVar> {
    Ok(RangeVar {
        catalog: opt_text(value.catalogname),
        schema: opt_text(value.schemaname),
        name: text_of(value.relname),
        inherit: value.inh,
        persistence: match value.relpersistence {
            n::RELPERSISTENCE_TEMP => Persistence::Temporary,
            n::RELPERSISTENCE_UNLOGGED => Persistence::Unlogged,
            _ => Persistence::Permanent,
        },
        alias: alias(value.alias)?,
        location: loc(value.location),
    })
}

pub(crate) fn boxed_range_var(value: Option<Box<n::RangeVar>>) -> SqlResult<RangeVar> {
    range_var(*value.ok_or_else(|| shape("relation"))?)
}

pub(crate) fn range_vars(list: n::List) -> SqlResult<Vec<RangeVar>> {
    list.into_iter()
        .flatten()
        .map(|node| match node {
            n::Node::RangeVar(v) => range_var(*v),
            _ => Err(shape("list of relations")),
        })
        .collect()
}

impl Converter<'_> {
    /// Runs a conversion one level deeper; statements nested too deeply are refused as PostgreSQL does.
    pub(crate) fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        if self.depth >= MAX_DEPTH {
            return Err(crate::depth::too_deep());
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// PostgreSQL 18's error for a word of the text that only a later version accepts: the first one spelt like `word` at or
    /// after `from`.
    pub(crate) fn rejected_word(&self, from: i32, word: &str) -> SqlError {
        let start = usize::try_from(from).unwrap_or(0).min(self.text.len());
        let at = crate::lex::find_word(self.text, start, word).unwrap_or(start);
        let written = self.text.get(at..at + word.len()).unwrap_or(word);
        sql_err!(SYNTAX_ERROR, "syntax error at or near \"{written}\"").at(crate::position(self.text, at))
    }
}
