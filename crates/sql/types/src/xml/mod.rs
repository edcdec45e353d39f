//! # What
//! `xml`: input and output, values made of SQL values, paths, and what XMLTABLE needs.
//!
//! # Layout
//! A value is its text as it came in, its declaration included. `construct` makes values, `value` has the text of SQL values in XML, `names`
//! that of SQL names, `path` evaluates XPath. Reading, writing and XPath themselves are the crate `xml`.
//!
//! # Invariants
//! 1. A stored value was well-formed content, or a document, when it came in; whether its namespaces are declared is not asked before a
//!    path is followed through it.
//!
//! # PostgreSQL counterpart and differences
//! `xml.c`. A binary value says its encoding in its declaration, as there; text that comes in is in the client's encoding.

mod construct;
mod functions;
mod names;
mod path;
mod value;

use ::xml::{Problem, Reading, Severity, declaration};
use base::{Encoding, SqlError, SqlResult, SqlState, sql_err};
use tuple::Datum;

pub(crate) use construct::XmlAgg;
pub use construct::{
    Attribute, Standalone, concat, element, forest, instruction, is_document, parse, root, serialize,
};
pub(crate) use functions::{FUNCTIONS, XML};
pub use names::{sql_name, xml_name};
pub use path::{ColumnPath, Found, Namespaces, Rows, Source};
pub use value::{escaped, text as value_text};

use crate::value::{FromDatum, str_of};

/// Problems of these kinds, a line each.
fn lines(problems: &[Problem], counts: impl Fn(Severity) -> bool) -> String {
    let told: Vec<&str> = problems.iter().filter(|p| counts(p.severity)).map(|p| p.text.as_str()).collect();
    told.join("\n")
}

/// What a text is read as.
fn parsed(text: &str, document: bool, keep_blanks: bool) -> SqlResult<(::xml::Document, bool)> {
    let reading = Reading { expand: true, drop_blanks: !keep_blanks };
    let state = if document { SqlState::INVALID_XML_DOCUMENT } else { SqlState::INVALID_XML_CONTENT };
    let words = if document { "invalid XML document" } else { "invalid XML content" };
    let (rest, as_document) = if document {
        (text, true)
    } else {
        let (_, length) = declaration::parse(text).map_err(|wrong| {
            sql_err!(INVALID_XML_CONTENT, "invalid XML content: invalid XML declaration")
                .detail(wrong.words())
        })?;
        (&text[length..], declaration::is_document(&text[length..]))
    };
    let outcome = match as_document {
        true => ::xml::read(text, reading)?,
        false => ::xml::read_content(rest, reading)?,
    };
    match outcome.is_well_formed() {
        true => Ok((outcome.document, as_document)),
        false => Err(SqlError::new(state, words).detail(lines(&outcome.problems, |s| s == Severity::Syntax))),
    }
}

fn is_wrong(error: &SqlError) -> bool {
    matches!(
        error.code(),
        SqlState::INVALID_XML_DOCUMENT | SqlState::INVALID_XML_CONTENT | SqlState::NOT_AN_XML_DOCUMENT
    )
}

/// Whether a text is well-formed.
fn is_well_formed(text: &str, document: bool) -> SqlResult<bool> {
    match parsed(text, document, true) {
        Ok(_) => Ok(true),
        Err(error) if is_wrong(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Text as a value.
fn input(text: &str, document: bool) -> SqlResult<Datum> {
    parsed(text, document, true)?;
    crate::piece::datum(text.as_bytes())
}

/// A value as it is shown: without an encoding, and without a declaration that says nothing.
fn output(text: &str, out: &mut Vec<u8>) -> SqlResult<()> {
    // What was stored is shown, whatever it is.
    let Ok((declared, length)) = declaration::parse(text) else {
        return crate::piece::append(out, text.as_bytes());
    };
    let mut rest = &text[length..];
    match declaration::written(declared.version.as_deref(), None, declared.standalone) {
        Some(written) => out.extend_from_slice(written.as_bytes()),
        None => rest = rest.strip_prefix('\n').unwrap_or(rest),
    }
    crate::piece::append(out, rest.as_bytes())
}

/// Bytes in the encoding that they say, or UTF-8.
fn receive(bytes: &[u8], document: bool) -> SqlResult<Datum> {
    let head = bytes.get(..bytes.len().min(200)).unwrap_or(bytes);
    let head: String = head.iter().map(|b| if b.is_ascii() { char::from(*b) } else { '?' }).collect();
    let declared = declaration::parse(&head).ok().and_then(|(d, _)| d.encoding);
    let encoding = match &declared {
        None => Encoding::Utf8,
        Some(name) => Encoding::find(name)
            .ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "invalid encoding name \"{name}\""))?,
    };
    let converted = crate::encoding::convert(bytes, encoding, Encoding::Utf8)?;
    input(crate::text::check_utf8(&converted)?, document)
}

/// The text of a value.
fn text_of(value: &Datum) -> &str {
    str_of(<&[u8]>::from_datum(value))
}

fn datum(text: impl AsRef<str>) -> Datum {
    Datum::text(text.as_ref())
}

#[cfg(test)]
mod tests;
