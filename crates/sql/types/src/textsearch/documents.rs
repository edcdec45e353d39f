//! Documents made of JSON: the values, and the keys if they are asked for, one behind the other.

use std::sync::Arc;

use base::{SqlResult, sql_err};
use textsearch::configuration::{Configuration, Document};
use tuple::Datum;

use super::configured::configuration;
use super::stored;
use crate::call::Call;
use crate::json::binary::{Json, Kind};
use crate::json::walk::{Step, Walk};
use crate::json::{Shape, Tape};

functions! {
    4209 to_tsvector(jsonb) -> tsvector [stable strict cost(100.0)] { |cx; value: &[u8]| of_jsonb(cx, None, value, STRINGS) }
    4210 to_tsvector(json) -> tsvector [stable strict cost(100.0)] { |cx; value: &str| of_json(cx, None, value, STRINGS) }
    4211 to_tsvector(regconfig, jsonb) -> tsvector [immutable strict cost(100.0)] { |cx; of: u32, value: &[u8]| of_jsonb(cx, Some(of), value, STRINGS) }
    4212 to_tsvector(regconfig, json) -> tsvector [immutable strict cost(100.0)] { |cx; of: u32, value: &str| of_json(cx, Some(of), value, STRINGS) }
    4213 jsonb_to_tsvector(jsonb, jsonb) -> tsvector [stable strict cost(100.0)] { |cx; value: &[u8], what: &[u8]| of_jsonb(cx, None, value, wanted(what)?) }
    4214 jsonb_to_tsvector(regconfig, jsonb, jsonb) -> tsvector [immutable strict cost(100.0)] { |cx; of: u32, value: &[u8], what: &[u8]| of_jsonb(cx, Some(of), value, wanted(what)?) }
    4215 json_to_tsvector(json, jsonb) -> tsvector [stable strict cost(100.0)] { |cx; value: &str, what: &[u8]| of_json(cx, None, value, wanted(what)?) }
    4216 json_to_tsvector(regconfig, json, jsonb) -> tsvector [immutable strict cost(100.0)] { |cx; of: u32, value: &str, what: &[u8]| of_json(cx, Some(of), value, wanted(what)?) }
}

/// What of a JSON value counts.
#[derive(Clone, Copy, Default)]
struct Wanted {
    keys: bool,
    strings: bool,
    numbers: bool,
    booleans: bool,
}

const STRINGS: Wanted = Wanted { keys: false, strings: true, numbers: false, booleans: false };

/// What a flag, or an array of flags, asks for.
fn wanted(flags: &[u8]) -> SqlResult<Wanted> {
    const HINT: &str = "Possible values are: \"string\", \"numeric\", \"boolean\", \"key\", and \"all\".";
    let flags = Json::of(flags);
    let mut wanted = Wanted::default();
    let list: Vec<Json> = match flags.kind() {
        Kind::Object => {
            let what = "wrong flag type, only arrays and scalars are allowed";
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "{what}"));
        }
        Kind::Array => flags.elements().collect(),
        _ => vec![flags],
    };
    for flag in list {
        if flag.kind() != Kind::String {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "flag array element is not a string").hint(HINT));
        }
        match flag.text().to_ascii_lowercase().as_str() {
            "all" => wanted = Wanted { keys: true, strings: true, numbers: true, booleans: true },
            "key" => wanted.keys = true,
            "string" => wanted.strings = true,
            "numeric" => wanted.numbers = true,
            "boolean" => wanted.booleans = true,
            _ => {
                let what = format!("wrong flag in flag array: \"{}\"", flag.text());
                return Err(sql_err!(INVALID_PARAMETER_VALUE, "{what}").hint(HINT));
            }
        }
    }
    Ok(wanted)
}

/// A document that is being made.
struct Making<'c, 'a> {
    cx: &'c Call<'a>,
    configuration: Arc<Configuration>,
    document: Document,
}

impl<'c, 'a> Making<'c, 'a> {
    fn new(cx: &'c Call<'a>, of: Option<u32>) -> SqlResult<Making<'c, 'a>> {
        Ok(Making { cx, configuration: configuration(cx, of)?, document: Document::default() })
    }

    fn add(&mut self, text: &str) -> SqlResult<()> {
        let session = self.cx.session;
        self.document.add_apart(&self.configuration, text, &mut |notice| session.tell(notice))
    }
}

fn of_jsonb(cx: &Call, of: Option<u32>, value: &[u8], wanted: Wanted) -> SqlResult<Datum> {
    let mut making = Making::new(cx, of)?;
    for step in Walk::of(Json::of(value)) {
        match step {
            Step::Key(key) if wanted.keys => making.add(crate::value::str_of(key))?,
            Step::Scalar(scalar) => match scalar.kind() {
                Kind::String if wanted.strings => making.add(scalar.text())?,
                Kind::Number if wanted.numbers => making.add(&scalar.number().to_string())?,
                Kind::Bool(value) if wanted.booleans => making.add(if value { "true" } else { "false" })?,
                _ => {}
            },
            _ => {}
        }
    }
    stored(making.document.finish())
}

fn of_json(cx: &Call, of: Option<u32>, value: &str, wanted: Wanted) -> SqlResult<Datum> {
    let tape = Tape::of(value, true)?;
    let mut making = Making::new(cx, of)?;
    for node in tape.root().nodes() {
        let counts = match node.shape() {
            Shape::Key => wanted.keys,
            Shape::String => wanted.strings,
            Shape::Number => wanted.numbers,
            Shape::Bool => wanted.booleans,
            _ => false,
        };
        if counts {
            making.add(&node.plain())?;
        }
    }
    stored(making.document.finish())
}
