//! The functions over encodings.

use base::{Encoding, SqlResult, sql_err};

use super::{char_length, check_known, convert, decode, encode};
use crate::text::texts_are_bytes;

functions! {
    1713 length(bytea, name) -> int4 [stable strict] { |a: &[u8], encoding: &str| length(a, encoding) }
    1714 convert_from(bytea, name) -> text [stable strict] { |a: &[u8], encoding: &str| convert_from(a, encoding) }
    1717 convert_to(text, name) -> bytea [stable strict] { |a: &str, encoding: &str| convert_to(a, encoding) }
    1813 convert(bytea, name, name) -> bytea [stable strict] { |a: &[u8], from: &str, to: &str| convert_named(a, from, to) }
}

fn named(name: &str, what: &str) -> SqlResult<Encoding> {
    Encoding::find(name)
        .ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "invalid {what}encoding name \"{name}\""))
}

fn length(bytes: &[u8], encoding: &str) -> SqlResult<i32> {
    let count = char_length(named(encoding, "")?, bytes)?;
    Ok(count as i32)
}

fn convert_from(bytes: &[u8], encoding: &str) -> SqlResult<String> {
    let encoding = named(encoding, "source ")?;
    let mut text = String::with_capacity(bytes.len());
    if texts_are_bytes() {
        char_length(encoding, bytes)?;
        super::passage::to_inside(bytes, &mut text)?;
        return Ok(text);
    }
    check_known(encoding, Encoding::Utf8)?;
    decode(encoding, bytes, &mut text)?;
    Ok(text)
}

fn convert_to(text: &str, encoding: &str) -> SqlResult<Vec<u8>> {
    let encoding = named(encoding, "destination ")?;
    let mut out = Vec::with_capacity(text.len());
    if texts_are_bytes() {
        super::passage::to_outside(text, &mut out)?;
        char_length(encoding, &out)?;
        return Ok(out);
    }
    check_known(Encoding::Utf8, encoding)?;
    encode(encoding, text, &mut out)?;
    Ok(out)
}

fn convert_named(bytes: &[u8], from: &str, to: &str) -> SqlResult<Vec<u8>> {
    convert(bytes, named(from, "source ")?, named(to, "destination ")?)
}
