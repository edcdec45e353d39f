//! `bytea` text forms, `encode` and `decode`, digests, checksums.

use std::sync::LazyLock;

use base::{SqlResult, sql_err};
use tuple::Bytes;

use crate::call::ByteaOutput;
use crate::piece::{self, Pace};

functions! {
    1946 encode(bytea, text) -> text [immutable strict] { |a: &[u8], format: &str| encode(a, format) }
    1947 decode(text, text) -> bytea [immutable strict] { |a: &str, format: &str| decode(a, format) }
    2311 md5(text) -> text [immutable strict leakproof] { |a: &[u8]| crate::encoding::bytes_of(a).and_then(|a| md5(&a)).and_then(|digest| hex(&digest)) }
    2321 md5(bytea) -> text [immutable strict leakproof] { |a: &[u8]| md5(a).and_then(|digest| hex(&digest)) }
    3419 sha224(bytea) -> bytea [immutable strict leakproof] { |a: &[u8]| digest::<sha2::Sha224>(a) }
    3420 sha256(bytea) -> bytea [immutable strict leakproof] { |a: &[u8]| digest::<sha2::Sha256>(a) }
    3421 sha384(bytea) -> bytea [immutable strict leakproof] { |a: &[u8]| digest::<sha2::Sha384>(a) }
    3422 sha512(bytea) -> bytea [immutable strict leakproof] { |a: &[u8]| digest::<sha2::Sha512>(a) }
    6364 crc32(bytea) -> int8 [immutable strict leakproof] { |a: &[u8]| crc32(a) }
    6365 crc32c(bytea) -> int8 [immutable strict leakproof] { |a: &[u8]| crc32c(a) }
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

fn digest<D: sha2::Digest>(bytes: &[u8]) -> SqlResult<Vec<u8>> {
    let mut state = D::new();
    for piece in piece::slices(bytes) {
        state.update(piece?);
    }
    Ok(state.finalize().to_vec())
}

fn crc32c(bytes: &[u8]) -> SqlResult<i64> {
    let mut crc = 0;
    for piece in piece::slices(bytes) {
        crc = crc32c::crc32c_append(crc, piece?);
    }
    Ok(crc.into())
}

/// The CRC of Ethernet and zlib.
fn crc32(bytes: &[u8]) -> SqlResult<i64> {
    const TABLE: [u32; 256] = {
        let mut table = [0u32; 256];
        let mut i = 0;
        while i < 2048 {
            let crc = if i % 8 == 0 { i as u32 / 8 } else { table[i / 8] };
            table[i / 8] = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
            i += 1;
        }
        table
    };
    let mut crc = !0u32;
    for piece in piece::slices(bytes) {
        crc = piece?.iter().fold(crc, |crc, byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)]);
    }
    Ok((!crc).into())
}

/// Two hexadecimal digits a byte.
fn hex(bytes: &[u8]) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    push_hex(bytes, &mut out)?;
    Ok(out)
}

/// The two digits of each byte.
const HEX: [[u8; 2]; 256] = {
    let (mut pairs, mut i) = ([[0; 2]; 256], 0);
    while i < 256 {
        pairs[i] = [b"0123456789abcdef"[i / 16], b"0123456789abcdef"[i % 16]];
        i += 1;
    }
    pairs
};

fn push_hex(bytes: &[u8], out: &mut Vec<u8>) -> SqlResult<()> {
    for piece in piece::slices(bytes) {
        let mut pairs = [[0; 2]; 512];
        for part in piece?.chunks(pairs.len()) {
            for (pair, byte) in pairs.iter_mut().zip(part) {
                *pair = HEX[usize::from(*byte)];
            }
            out.extend_from_slice(pairs[..part.len()].as_flattened());
        }
    }
    Ok(())
}

/// What a hexadecimal digit is worth, 255: none.
const NIBBLES: [u8; 256] = {
    let (mut values, mut i) = ([255; 256], 0);
    while i < 256 {
        values[i] = match i as u8 {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            digit @ b'A'..=b'F' => digit - b'A' + 10,
            _ => 255,
        };
        i += 1;
    }
    values
};

fn unhex(text: &str) -> SqlResult<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(text.len() / 2);
    let mut pace = Pace::new();
    let mut at = 0;
    let skip = |mut at: usize| {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
            at += 1;
        }
        at
    };
    let digit = |at: usize| match NIBBLES[usize::from(bytes[at])] {
        255 => {
            let c = text[at..].chars().next().unwrap_or_default();
            Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid hexadecimal digit: \"{c}\""))
        }
        value => Ok(value),
    };
    loop {
        at = skip(at);
        if at == bytes.len() {
            return Ok(out);
        }
        let high = digit(at)?;
        let low = skip(at + 1);
        if low == bytes.len() {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid hexadecimal data: odd number of digits"));
        }
        out.push(high << 4 | digit(low)?);
        pace.did(low + 1 - at)?;
        at = low + 1;
    }
}

fn escape(bytes: &[u8]) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    push_escaped(bytes, false, &mut out)?;
    Ok(out)
}

fn push_escaped(bytes: &[u8], all_unprintable: bool, out: &mut Vec<u8>) -> SqlResult<()> {
    let octal = |byte: u8| [b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)];
    for piece in piece::slices(bytes) {
        for &byte in piece? {
            match byte {
                b'\\' => out.extend_from_slice(b"\\\\"),
                0x20..=0x7E => out.push(byte),
                0 | 0x80.. => out.extend_from_slice(&octal(byte)),
                _ if all_unprintable => out.extend_from_slice(&octal(byte)),
                _ => out.push(byte),
            }
        }
    }
    Ok(())
}

fn unescape(text: &str) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let text = crate::encoding::bytes_of(text.as_bytes())?;
    let (mut bytes, mut pace) = (&*text, Pace::new());
    loop {
        pace.did(1)?;
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

/// Appends a `bytea` in the session's form.
pub fn bytea_out(bytes: &[u8], style: ByteaOutput, out: &mut Vec<u8>) -> SqlResult<()> {
    match style {
        ByteaOutput::Hex => {
            out.reserve(2 + 2 * bytes.len());
            out.extend_from_slice(b"\\x");
            push_hex(bytes, out)
        }
        ByteaOutput::Escape => push_escaped(bytes, true, out),
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 in lines of 76 characters.
pub(crate) fn base64(bytes: &[u8]) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() * 4 / 3 + bytes.len() / 57 + 4);
    let (mut line, mut pace) = (0, Pace::new());
    for group in bytes.chunks(3) {
        if line == 76 {
            out.push(b'\n');
            line = 0;
        }
        let word = group.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - group.len()));
        for i in 0..4 {
            if i <= group.len() {
                out.push(BASE64[(word >> (18 - 6 * i) & 63) as usize]);
            } else {
                out.push(b'=');
            }
        }
        line += 4;
        pace.did(4)?;
    }
    Ok(out)
}

/// What a digit of [`BASE64`] is worth, 255: none.
const SEXTETS: [u8; 256] = {
    let (mut values, mut i) = ([255; 256], 0);
    while i < 64 {
        values[BASE64[i] as usize] = i as u8;
        i += 1;
    }
    values
};

fn unbase64(text: &str) -> SqlResult<Vec<u8>> {
    let bad = |message: String| sql_err!(INVALID_PARAMETER_VALUE, "{message}");
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut word, mut count, mut end) = (0u32, 0, 0);
    let mut pace = Pace::new();
    for c in text.chars() {
        pace.did(1)?;
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
            match u8::try_from(c).map_or(255, |c| SEXTETS[usize::from(c)]) {
                value @ ..64 if end == 0 => value.into(),
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

fn encode(bytes: &[u8], format: &str) -> SqlResult<Vec<u8>> {
    match format.to_ascii_lowercase().as_str() {
        "hex" => hex(bytes),
        "base64" => base64(bytes),
        "escape" => escape(bytes),
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

/// The MD5 hash of a text or of bytes, as hexadecimal digits.
pub fn md5_text(text: impl AsRef<[u8]>) -> SqlResult<String> {
    Ok(crate::value::str_of(&hex(&md5(text.as_ref())?)?).to_owned())
}

/// RFC 1321.
fn md5(message: &[u8]) -> SqlResult<[u8; 16]> {
    let mut state = [0x6745_2301u32, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];
    let (blocks, rest) = message.as_chunks::<64>();
    let mut pace = Pace::new();
    for block in blocks {
        md5_block(&mut state, block);
        pace.did(64)?;
    }
    let mut end = [[0u8; 64]; 2];
    end[0][..rest.len()].copy_from_slice(rest);
    end[0][rest.len()] = 0x80;
    let last = usize::from(rest.len() >= 56);
    end[last][56..].copy_from_slice(&(message.len() as u64 * 8).to_le_bytes());
    for block in &end[..=last] {
        md5_block(&mut state, block);
    }
    let mut out = [0; 16];
    for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Ok(out)
}

/// The whole parts of 2^32 |sin i|, i from 1.
static MD5_SINES: LazyLock<[u32; 64]> =
    LazyLock::new(|| std::array::from_fn(|i| ((i as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32));

fn md5_block(state: &mut [u32; 4], block: &[u8; 64]) {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let sines = &*MD5_SINES;
    let words: [u32; 16] = std::array::from_fn(|i| {
        u32::from_le_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]])
    });
    let [mut a, mut b, mut c, mut d] = *state;
    let mut round = |number: usize, mix: fn(u32, u32, u32) -> u32, word: fn(usize) -> usize| {
        for i in 0..16 {
            let sum = a
                .wrapping_add(mix(b, c, d))
                .wrapping_add(sines[16 * number + i])
                .wrapping_add(words[word(i) % 16]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[number][i % 4]));
        }
    };
    round(0, |b, c, d| b & c | !b & d, |i| i);
    round(1, |b, c, d| d & b | !d & c, |i| 5 * i + 1);
    round(2, |b, c, d| b ^ c ^ d, |i| 3 * i + 5);
    round(3, |b, c, d| c ^ (b | !d), |i| 7 * i);
    for (total, part) in state.iter_mut().zip([a, b, c, d]) {
        *total = total.wrapping_add(part);
    }
}
