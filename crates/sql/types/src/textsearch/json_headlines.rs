//! `ts_headline` of JSON: the document with a headline in place of each string that is a value.

use base::SqlResult;
use textsearch::headline::{Style, headline, options};
use tuple::Datum;

use super::configured::configuration;
use super::query_of;
use crate::call::Call;
use crate::json::binary::{Builder, Json, Kind};
use crate::json::lex::{Token, escape, unescape};
use crate::json::parse::{Events, parse};
use crate::json::walk::{Step, Walk};

functions! {
    4201 ts_headline(regconfig, jsonb, tsquery, text) -> jsonb [immutable strict cost(100.0)] { |cx; of: u32, value: &[u8], query: &Datum, options: &str| of_jsonb(cx, Some(of), value, (query, options)) }
    4202 ts_headline(regconfig, jsonb, tsquery) -> jsonb [immutable strict cost(100.0)] { |cx; of: u32, value: &[u8], query: &Datum| of_jsonb(cx, Some(of), value, (query, "")) }
    4203 ts_headline(jsonb, tsquery, text) -> jsonb [stable strict cost(100.0)] { |cx; value: &[u8], query: &Datum, options: &str| of_jsonb(cx, None, value, (query, options)) }
    4204 ts_headline(jsonb, tsquery) -> jsonb [stable strict cost(100.0)] { |cx; value: &[u8], query: &Datum| of_jsonb(cx, None, value, (query, "")) }
    4205 ts_headline(regconfig, json, tsquery, text) -> json [immutable strict cost(100.0)] { |cx; of: u32, value: &str, query: &Datum, options: &str| of_json(cx, Some(of), value, (query, options)) }
    4206 ts_headline(regconfig, json, tsquery) -> json [immutable strict cost(100.0)] { |cx; of: u32, value: &str, query: &Datum| of_json(cx, Some(of), value, (query, "")) }
    4207 ts_headline(json, tsquery, text) -> json [stable strict cost(100.0)] { |cx; value: &str, query: &Datum, options: &str| of_json(cx, None, value, (query, options)) }
    4208 ts_headline(json, tsquery) -> json [stable strict cost(100.0)] { |cx; value: &str, query: &Datum| of_json(cx, None, value, (query, "")) }
}

/// Lends what makes the headline of a string.
fn with_headlines<T>(
    cx: &Call,
    of: Option<u32>,
    (query, asked): (&Datum, &str),
    make: impl FnOnce(&dyn Fn(&str) -> SqlResult<String>) -> SqlResult<T>,
) -> SqlResult<T> {
    let configuration = configuration(cx, of)?;
    let (style, query) = (Style::of(&options(asked)?)?, query_of(query)?);
    make(&|text| headline(&configuration, text, &query, &style, &mut |notice| cx.session.tell(notice)))
}

fn of_jsonb(cx: &Call, of: Option<u32>, value: &[u8], how: (&Datum, &str)) -> SqlResult<Datum> {
    with_headlines(cx, of, how, |headline| {
        let mut out = Builder::new();
        for step in Walk::of(Json::of(value)) {
            match step {
                Step::Open(node) => out.open(node.kind() == Kind::Object),
                Step::Close(_) => out.close()?,
                Step::Key(key) => out.key(crate::value::str_of(key))?,
                Step::Scalar(node) if node.kind() == Kind::String => out.string(&headline(node.text())?)?,
                Step::Scalar(node) => out.node(node),
            }
        }
        Ok(out.finish())
    })
}

fn of_json(cx: &Call, of: Option<u32>, value: &str, how: (&Datum, &str)) -> SqlResult<Datum> {
    with_headlines(cx, of, how, |headline| {
        let mut writer = Writer { text: value, headline, out: Vec::new(), first: true };
        parse(value, true, &mut writer)?;
        Ok(Datum::Bytes(writer.out.into()))
    })
}

/// Writes a document anew, without spaces.
struct Writer<'t> {
    text: &'t str,
    headline: &'t dyn Fn(&str) -> SqlResult<String>,
    out: Vec<u8>,
    /// Nothing stands before what comes next in its container, or only its key.
    first: bool,
}

impl Writer<'_> {
    fn part(&mut self) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(b',');
        }
    }
}

impl Events for Writer<'_> {
    fn open(&mut self, object: bool, _start: usize) -> SqlResult<()> {
        self.part();
        self.out.push(if object { b'{' } else { b'[' });
        self.first = true;
        Ok(())
    }

    fn close(&mut self, object: bool, _end: usize) -> SqlResult<()> {
        self.out.push(if object { b'}' } else { b']' });
        self.first = false;
        Ok(())
    }

    fn key(&mut self, start: usize, end: usize) -> SqlResult<()> {
        self.part();
        escape(&unescape(&self.text[start..end]), &mut self.out);
        self.out.push(b':');
        self.first = true;
        Ok(())
    }

    fn scalar(&mut self, token: Token, start: usize, end: usize) -> SqlResult<()> {
        self.part();
        let token_text = &self.text[start..end];
        match token {
            Token::String => escape(&(self.headline)(&unescape(token_text))?, &mut self.out),
            _ => self.out.extend_from_slice(token_text.as_bytes()),
        }
        Ok(())
    }
}
