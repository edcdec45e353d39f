//! `bytea` text forms, `encode` and `decode`, digests, checksums.

use base::{SqlResult, sql_err};
use tuple::Bytes;

use crate::call::ByteaOutput;

functions! {
    1946 encode(bytea, text) -> text [immutable strict] { |a: &[u8], format: &str| encode(a, format) }
    1947 decode(text, text) -> bytea [immutable strict] { |a: &str, format: &str| decode(a, format) }
    2311 md5(text) -> text [immutable strict leakproof] { |a: &[u8]| hex(&md5(a)) }
    2321 md5(bytea) -> text [immutable strict leakproof] { |a: &[u8]| hex(&md5(a)) }
    3419 sha224(bytea) -> bytea [immutable strict leakproof] { |a: &[u8]| digest::<sha2::Sha224>(a) }
    3420 sha256(bytea) -> bytea [immutable strict leakproof] { |a: &[u8]| digest::<sha2::Sha256>(a) }
    3421 sha384(bytea) -> bytea [immutable strict leakproof] { |a: &[u8]| digest::<sha2::Sha384>(a) }
    3422 sha512(bytea) -> bytea [immutable strict leakproof] { |a: &[u8]| digest::<sha2::Sha512>(a) }
    6364 crc32(bytea) -> int8 [immutable strict leakproof] { |a: &[u8]| i64::from(crc(a, 0xEDB8_8320)) }
    6365 crc32c(bytea) -> int8 [immutable strict leakproof] { |a: &[u8]| i64::from(crc(a, 0x82F6_3B78)) }
    1714 convert_from(bytea, name) -> text [stable strict] { |a: &[u8], encoding: &str| from_encoding(a, encoding) }
    1717 convert_to(text, name) -> bytea [stable strict] { |a: &str, encoding: &str| to_encoding(a, encoding) }
    1813 convert(bytea, name, name) -> bytea [stable strict] { |a: &[u8], from: &str, to: &str| from_encoding(a, from).and_then(|text| to_encoding(&text, to)) }
    6367 bytea(int2) -> bytea [immutable strict leakproof] { |a: i16| Bytes::new(&a.to_be_bytes()) }
    6368 bytea(int4) -> bytea [immutable strict leakproof] { |a: i32| Bytes::new(&a.to_be_bytes()) }
    6369 bytea(int8) -> bytea [immutable strict leakproof] { |a: i64| Bytes::new(&a.to_be_bytes()) }
    6370 int2(bytea) -> int2 [immutable strict] { |a: &[u8]| bytes_int(a, 2, "smallint").map(|v| v as i16) }
    6371 int4(bytea) -> int4 [immutable strict] { |a: &[u8]| bytes_int(a, 4, "integer").map(|v| v as i32) }
    6372 int8(bytea) -> int8 [immutable strict] { |a: &[u8]| bytes_int(a, 8, "bigint") }
}

/// The integer that at most `size` big-endian bytes mean; fewer bytes are the low ones.
fn bytes_int(bytes: &[u8], size: usize, type_name: &str) -> SqlResult<i64> {
    if bytes.len() > size {
        return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "{type_name} out of range"));
    }
    Ok(bytes.iter().fold(0, |value, byte| value << 8 | i64::from(*byte)))
}

fn digest<D: sha2::Digest>(bytes: &[u8]) -> Vec<u8> {
    D::digest(bytes).to_vec()
}

fn crc(bytes: &[u8], polynomial: u32) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ polynomial } else { crc >> 1 },
        )
    })
}

/// Two hexadecimal digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)] as char);
        out.push(DIGITS[usize::from(byte & 15)] as char);
    }
    out
}

fn unhex(text: &str) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 2);
    let mut chars = text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\t' | '\r'));
    let digit = |c: char| {
        c.to_digit(16).ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "invalid hexadecimal digit: \"{c}\""))
    };
    while let Some(high) = chars.next() {
        let high = digit(high)?;
        let Some(low) = chars.next() else {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid hexadecimal data: odd number of digits"));
        };
        out.push((high << 4 | digit(low)?) as u8);
    }
    Ok(out)
}

fn escape(bytes: &[u8], all_unprintable: bool) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7E => out.push(*byte as char),
            0 | 0x80.. => out.push_str(&format!("\\{byte:03o}")),
            _ if all_unprintable => out.push_str(&format!("\\{byte:03o}")),
            _ => out.push(*byte as char),
        }
    }
    out
}

fn unescape(text: &str) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    loop {
        match bytes {
            [] => return Ok(out),
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                bytes = rest;
            }
            [b'\\', b'\\', rest @ ..] => {
                out.push(b'\\');
                bytes = rest;
            }
            [b'\\', ..] => {
                return Err(sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea"));
            }
            [byte, rest @ ..] => {
                out.push(*byte);
                bytes = rest;
            }
        }
    }
}

/// Reads a `bytea` in either form.
pub fn bytea_in(text: &str) -> SqlResult<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(digits) => unhex(digits),
        None => unescape(text),
    }
}

/// A `bytea` in the session's form.
pub fn bytea_out(bytes: &[u8], style: ByteaOutput) -> String {
    match style {
        ByteaOutput::Hex => format!("\\x{}", hex(bytes)),
        ByteaOutput::Escape => escape(bytes, true),
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 in lines of 76 characters.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 4 / 3 + 4);
    let mut line = 0;
    for group in bytes.chunks(3) {
        if line == 76 {
            out.push('\n');
            line = 0;
        }
        let word = group.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - group.len()));
        for i in 0..4 {
            if i <= group.len() {
                out.push(BASE64[(word >> (18 - 6 * i) & 63) as usize] as char);
            } else {
                out.push('=');
            }
        }
        line += 4;
    }
    out
}

fn unbase64(text: &str) -> SqlResult<Vec<u8>> {
    let bad = |message: String| sql_err!(INVALID_PARAMETER_VALUE, "{message}");
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut word, mut count, mut end) = (0u32, 0, 0);
    for c in text.chars() {
        if matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        let value = if c == '=' {
            if end == 0 {
                end = match count {
                    2 => 1,
                    3 => 2,
                    _ => return Err(bad("unexpected \"=\" while decoding base64 sequence".into())),
                };
            }
            0
        } else {
            match BASE64.iter().position(|d| *d as char == c) {
                Some(value) if end == 0 => value as u32,
                _ => return Err(bad(format!("invalid symbol \"{c}\" found while decoding base64 sequence"))),
            }
        };
        word = word << 6 | value;
        count += 1;
        if count == 4 {
            let bytes = word.to_be_bytes();
            let keep = if end == 0 { 3 } else { end };
            out.extend_from_slice(&bytes[1..=keep]);
            (word, count) = (0, 0);
        }
    }
    if count != 0 {
        return Err(bad("invalid base64 end sequence".into())
            .hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
    }
    Ok(out)
}

fn encode(bytes: &[u8], format: &str) -> SqlResult<String> {
    match format.to_ascii_lowercase().as_str() {
        "hex" => Ok(hex(bytes)),
        "base64" => Ok(base64(bytes)),
        "escape" => Ok(escape(bytes, false)),
        _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "unrecognized encoding: \"{format}\"")),
    }
}

fn decode(text: &str, format: &str) -> SqlResult<Vec<u8>> {
    match format.to_ascii_lowercase().as_str() {
        "hex" => unhex(text),
        "base64" => unbase64(text),
        "escape" => unescape(text),
        _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "unrecognized encoding: \"{format}\"")),
    }
}

fn from_encoding(bytes: &[u8], encoding: &str) -> SqlResult<String> {
    match encoding.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "utf8" | "unicode" | "sqlascii" => super::check_utf8(bytes).map(str::to_owned),
        "latin1" | "iso88591" => Ok(bytes.iter().map(|b| *b as char).collect()),
        _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid source encoding name \"{encoding}\"")),
    }
}

fn to_encoding(text: &str, encoding: &str) -> SqlResult<Vec<u8>> {
    match encoding.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "utf8" | "unicode" | "sqlascii" => Ok(text.as_bytes().to_vec()),
        "latin1" | "iso88591" => text
            .chars()
            .map(|c| {
                u8::try_from(c as u32).map_err(|_| {
                    let shown: Vec<String> = c.to_string().bytes().map(|b| format!("0x{b:02x}")).collect();
                    sql_err!(
                        UNTRANSLATABLE_CHARACTER,
                        "character with byte sequence {} in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\"",
                        shown.join(" ")
                    )
                })
            })
            .collect(),
        _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid destination encoding name \"{encoding}\"")),
    }
}

/// RFC 1321.
/// The MD5 hash of a text, as hexadecimal digits.
pub fn md5_text(text: &str) -> String {
    hex(&md5(text.as_bytes()))
}

fn md5(message: &[u8]) -> [u8; 16] {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state = [0x6745_2301u32, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64) + if padded.len() % 64 > 56 { 64 } else { 0 }, 0);
    let length_at = padded.len() - 8;
    padded[length_at..].copy_from_slice(&(message.len() as u64 * 8).to_le_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = [0u32; 16];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (f, g) = match i / 16 {
                0 => (b & c | !b & d, i),
                1 => (d & b | !d & c, (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), 7 * i % 16),
            };
            let constant = ((i as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(f).wrapping_add(constant).wrapping_add(words[g]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
        }
        for (total, part) in state.iter_mut().zip([a, b, c, d]) {
            *total = total.wrapping_add(part);
        }
    }
    let mut out = [0; 16];
    for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    out
}
