//! Text and binary input and output of `json` and `jsonb`.

use base::{SqlResult, sql_err};
use tuple::Datum;

use crate::{numeric::Numeric, piece, text::check_utf8};

use super::{
    binary::{Builder, Json},
    lex::{Token, unescape},
    parse::{self, Events},
    walk,
};

/// Version byte in front of `jsonb`'s text in its binary form.
const VERSION: u8 = 1;

/// Builds `jsonb` from the events of a text.
struct Build<'a, 'b> {
    text: &'a str,
    out: &'b mut Builder,
}

impl Events for Build<'_, '_> {
    fn open(&mut self, object: bool, _start: usize) -> SqlResult<()> {
        self.out.open(object);
        Ok(())
    }

    fn close(&mut self, _object: bool, _end: usize) -> SqlResult<()> {
        self.out.close()
    }

    fn key(&mut self, start: usize, end: usize) -> SqlResult<()> {
        self.out.key(&unescape(&self.text[start..end]))
    }

    fn scalar(&mut self, token: Token, start: usize, end: usize) -> SqlResult<()> {
        let text = &self.text[start..end];
        match token {
            Token::String => return self.out.string(&unescape(text)),
            Token::Number => self.out.number(&Numeric::parse(text)?),
            Token::True | Token::False => self.out.bool(token == Token::True),
            _ => self.out.null(),
        }
        Ok(())
    }
}

/// Appends the document that a text means.
pub(crate) fn append_text(text: &str, out: &mut Builder) -> SqlResult<()> {
    parse::parse(text, true, &mut Build { text, out })
}

/// `jsonb` from text.
pub(crate) fn from_text(text: &str) -> SqlResult<Datum> {
    let mut out = Builder::new();
    append_text(text, &mut out)?;
    Ok(out.finish())
}

/// `json` from text: kept as it is.
pub(crate) fn json_from_text(text: &str) -> SqlResult<Datum> {
    parse::check(text)?;
    piece::datum(text.as_bytes())
}

/// `json` from its binary form, which is its text.
pub(crate) fn json_receive(bytes: &[u8]) -> SqlResult<Datum> {
    json_from_text(check_utf8(bytes)?)
}

/// `jsonb` from its binary form: a version and the text.
pub(crate) fn receive(bytes: &[u8]) -> SqlResult<Datum> {
    match bytes.split_first() {
        Some((&VERSION, text)) => from_text(check_utf8(text)?),
        Some((version, _)) => Err(sql_err!(INTERNAL_ERROR, "unsupported jsonb version number {version}")),
        None => Err(sql_err!(PROTOCOL_VIOLATION, "no data left in message")),
    }
}

/// Appends the text of a stored `jsonb`.
pub(crate) fn output(bytes: &[u8], out: &mut Vec<u8>) -> SqlResult<()> {
    walk::write(Json::of(bytes), false, out)
}

/// Appends the binary form of a stored `jsonb`.
pub(crate) fn send(bytes: &[u8], out: &mut Vec<u8>) -> SqlResult<()> {
    out.push(VERSION);
    output(bytes, out)
}
