//! Messages as text: base64 with a checksum between two lines, and headers.

use base::{SqlError, SqlResult, SqlState, sql_err};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use session::Session;
use session::module;
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::Call;
use types::array::Array;
use types::value::FromDatum;

use super::{bytes, external, text};

const BEGIN: &str = "-----BEGIN PGP MESSAGE-----";
const END: &str = "-----END PGP MESSAGE-----";

/// Characters of base64 in a line.
const LINE: usize = 76;

fn corrupt() -> SqlError {
    external("Corrupt ascii-armor")
}

/// CRC-24 as OpenPGP has it.
fn checksum(data: &[u8]) -> SqlResult<u32> {
    let mut crc = 0xB7_04CEu32;
    super::in_pieces(data, |piece| {
        for byte in piece {
            crc ^= u32::from(*byte) << 16;
            for _ in 0..8 {
                crc <<= 1;
                if crc & 0x100_0000 != 0 {
                    crc ^= 0x186_4CFB;
                }
            }
        }
    })?;
    Ok(crc & 0xFF_FFFF)
}

/// `armor(data [, keys, values])`
pub(super) fn armor(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let data = bytes(args, 0);
    let mut out = format!("{BEGIN}\n");
    if let [_, keys, values] = args {
        for (key, value) in pairs(keys, values)? {
            out.push_str(&format!("{key}: {value}\n"));
        }
    }
    out.push('\n');
    for line in data.chunks(LINE / 4 * 3) {
        STANDARD.encode_string(line, &mut out);
        out.push('\n');
    }
    out.push('=');
    STANDARD.encode_string(&checksum(data)?.to_be_bytes()[1..], &mut out);
    out.push_str(&format!("\n{END}\n"));
    Ok(Datum::Bytes(out.into()))
}

/// Headers from two arrays.
fn pairs(keys: &Datum, values: &Datum) -> SqlResult<Vec<(String, String)>> {
    let read = |datum| Array::from_payload(<&[u8]>::from_datum(datum));
    let (keys, values) = (read(keys), read(values));
    if keys.dimensions.len() > 1 || values.dimensions.len() > 1 {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts"));
    }
    if keys.elements().len() != values.elements().len() {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "mismatched array dimensions"));
    }
    let both = keys.elements().iter().zip(values.elements());
    both.map(|(key, value)| Ok((header_part(key, "key")?, header_part(value, "value")?))).collect()
}

fn header_part(datum: &Datum, what: &str) -> SqlResult<String> {
    if datum.is_null() {
        return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "null value not allowed for header {what}"));
    }
    let part = <&str>::from_datum(datum);
    let wrong = |why: &str| {
        let message = format!("header {what} must not contain {why}");
        Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message))
    };
    if !part.is_ascii() {
        return wrong("non-ASCII characters");
    }
    if what == "key" && part.contains(": ") {
        return wrong("\": \"");
    }
    if part.contains('\n') {
        return wrong("newlines");
    }
    Ok(part.to_owned())
}

/// An armored message taken apart: its headers, its base64, its checksum.
type Parts<'a> = (Vec<(&'a str, &'a str)>, String, Option<&'a str>);

/// Takes an armored message apart.
fn parts(message: &str) -> SqlResult<Parts<'_>> {
    let mut lines = message.lines().map(|line| line.trim_end_matches('\r'));
    let begins = |line: &str| line.starts_with("-----BEGIN ") && line.trim_end().ends_with("-----");
    if !lines.by_ref().any(begins) {
        return Err(corrupt());
    }
    let mut headers = Vec::new();
    let (mut body, mut sum, mut in_body, mut ended) = (String::new(), None, false, false);
    for line in lines {
        if line.starts_with("-----END ") {
            ended = true;
            break;
        }
        match in_body {
            false if line.trim_end().is_empty() => in_body = true,
            false => headers.push(line.split_once(": ").ok_or_else(corrupt)?),
            true => match line.strip_prefix('=') {
                Some(rest) if line.len() == 5 => sum = Some(rest),
                _ => body.push_str(line.trim()),
            },
        }
    }
    if ended && in_body { Ok((headers, body, sum)) } else { Err(corrupt()) }
}

/// `dearmor(text)`
pub(super) fn dearmor(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let (_, body, sum) = parts(text(args, 0))?;
    let data = STANDARD.decode(body).map_err(|_| corrupt())?;
    if let Some(sum) = sum {
        let told = STANDARD.decode(sum).map_err(|_| corrupt())?;
        if told != checksum(&data)?.to_be_bytes()[1..] {
            return Err(corrupt());
        }
    }
    Ok(Datum::Bytes(data.into()))
}

/// `pgp_armor_headers(text)`
pub(super) fn headers(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    let (headers, ..) = parts(text(call.args, 0))?;
    let rows: Vec<_> =
        headers.iter().map(|(key, value)| vec![Datum::text(key), Datum::text(value)]).collect();
    module::rows(session, call, rows)
}
