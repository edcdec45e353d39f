//! `macaddr` and `macaddr8`: their octets, in order.

use crate::registry::types::prelude::*;
use base::{SqlResult, sql_err};
use tuple::{Bytes, Datum};

/// A hardware address of 6 bytes.
pub(crate) static MACADDR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_macaddr,
        io: [Oid(436), Oid(437), Oid(2494), Oid(2495)],
        align: 4,
        ..TypeInfo::new(oids::macaddr, "macaddr", b'U', Physical::Fixed(6))
    }),
    input: |_, text, _, _| parse(text),
    output: |_, value, _, out| show(text(<&[u8]>::from_datum(value)), out),
    receive: |_, reader, _, _| Ok(Datum::Bytes(Bytes::new(reader.take(6)?))),
    ..crate::compare::BYTES
};

/// A hardware address of 8 bytes.
pub(crate) static MACADDR8: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_macaddr8,
        io: [Oid(4110), Oid(4111), Oid(3446), Oid(3447)],
        align: 4,
        ..TypeInfo::new(oids::macaddr8, "macaddr8", b'U', Physical::Fixed(8))
    }),
    input: |_, text, _, _| parse8(text),
    output: |_, value, _, out| show(text(<&[u8]>::from_datum(value)), out),
    receive: |_, reader, _, _| receive8(reader.rest()),
    ..crate::compare::BYTES
};

functions! {
    436 macaddr_in(cstring) -> macaddr [immutable strict] { input macaddr }
    437 macaddr_out(macaddr) -> cstring [immutable strict] { output macaddr }
    2494 macaddr_recv(internal) -> macaddr [immutable strict] { receive macaddr }
    2495 macaddr_send(macaddr) -> bytea [immutable strict] { send macaddr }
    3446 macaddr8_recv(internal) -> macaddr8 [immutable strict] { receive macaddr8 }
    3447 macaddr8_send(macaddr8) -> bytea [immutable strict] { send macaddr8 }
    4110 macaddr8_in(cstring) -> macaddr8 [immutable strict] { input macaddr8 }
    4111 macaddr8_out(macaddr8) -> cstring [immutable strict] { output macaddr8 }
    328 hashmacaddr8(macaddr8) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::macaddr8, a) }
    399 hashmacaddr(macaddr) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::macaddr, a) }
    753 trunc(macaddr) -> macaddr [immutable strict] { |a: &[u8]| first_three(a) }
    778 hashmacaddrextended(macaddr, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::macaddr, a, seed) }
    781 hashmacaddr8extended(macaddr8, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::macaddr8, a, seed) }
    830 macaddr_eq(macaddr, macaddr) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a == b }
    831 macaddr_lt(macaddr, macaddr) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a < b }
    832 macaddr_le(macaddr, macaddr) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a <= b }
    833 macaddr_gt(macaddr, macaddr) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a > b }
    834 macaddr_ge(macaddr, macaddr) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a >= b }
    835 macaddr_ne(macaddr, macaddr) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a != b }
    836 macaddr_cmp(macaddr, macaddr) -> int4 [immutable strict leakproof] { |a: &[u8], b: &[u8]| a.cmp(b) as i32 }
    3144 macaddr_not(macaddr) -> macaddr [immutable strict] { |a: &[u8]| not(a) }
    3145 macaddr_and(macaddr, macaddr) -> macaddr [immutable strict] { |a: &[u8], b: &[u8]| both(a, b, |x, y| x & y) }
    3146 macaddr_or(macaddr, macaddr) -> macaddr [immutable strict] { |a: &[u8], b: &[u8]| both(a, b, |x, y| x | y) }
    4112 trunc(macaddr8) -> macaddr8 [immutable strict] { |a: &[u8]| first_three(a) }
    4113 macaddr8_eq(macaddr8, macaddr8) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a == b }
    4114 macaddr8_lt(macaddr8, macaddr8) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a < b }
    4115 macaddr8_le(macaddr8, macaddr8) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a <= b }
    4116 macaddr8_gt(macaddr8, macaddr8) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a > b }
    4117 macaddr8_ge(macaddr8, macaddr8) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a >= b }
    4118 macaddr8_ne(macaddr8, macaddr8) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a != b }
    4119 macaddr8_cmp(macaddr8, macaddr8) -> int4 [immutable strict leakproof] { |a: &[u8], b: &[u8]| a.cmp(b) as i32 }
    4120 macaddr8_not(macaddr8) -> macaddr8 [immutable strict] { |a: &[u8]| not(a) }
    4121 macaddr8_and(macaddr8, macaddr8) -> macaddr8 [immutable strict] { |a: &[u8], b: &[u8]| both(a, b, |x, y| x & y) }
    4122 macaddr8_or(macaddr8, macaddr8) -> macaddr8 [immutable strict] { |a: &[u8], b: &[u8]| both(a, b, |x, y| x | y) }
    4123 macaddr8(macaddr) -> macaddr8 [immutable strict leakproof] { |a: &[u8]| widened(a) }
    4124 macaddr(macaddr8) -> macaddr [immutable strict] { |a: &[u8]| narrowed(a) }
    4125 macaddr8_set7bit(macaddr8) -> macaddr8 [immutable strict] { |a: &[u8]| set_seventh_bit(a) }
}

/// The manufacturer's octets, the others zero.
fn first_three(octets: &[u8]) -> Vec<u8> {
    octets.iter().enumerate().map(|(i, octet)| if i < 3 { *octet } else { 0 }).collect()
}

fn not(octets: &[u8]) -> Vec<u8> {
    octets.iter().map(|octet| !octet).collect()
}

fn both(a: &[u8], b: &[u8], f: impl Fn(u8, u8) -> u8) -> Vec<u8> {
    a.iter().zip(b).map(|(x, y)| f(*x, *y)).collect()
}

/// EUI-64 of a 48-bit address.
fn widened(octets: &[u8]) -> Vec<u8> {
    let (head, tail) = octets.split_at(octets.len().min(3));
    [head, &[0xFF, 0xFE], tail].concat()
}

fn narrowed(octets: &[u8]) -> SqlResult<Vec<u8>> {
    match octets {
        [a, b, c, 0xFF, 0xFE, f, g, h] => Ok(vec![*a, *b, *c, *f, *g, *h]),
        _ => Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "macaddr8 data out of range to convert to macaddr").hint(
            "Only addresses that have FF and FE as values in the 4th and 5th bytes from the left, for example \
             xx:xx:xx:ff:fe:xx:xx:xx, are eligible to be converted from macaddr8 to macaddr.",
        )),
    }
}

fn set_seventh_bit(octets: &[u8]) -> Vec<u8> {
    octets.iter().enumerate().map(|(i, octet)| if i == 0 { octet | 2 } else { *octet }).collect()
}

/// Text form of either type.
pub fn text(octets: &[u8]) -> String {
    let parts: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    parts.join(":")
}

/// How a 48-bit address may be written: the separator, and how many octets stand between two.
const FORMS: [(Option<char>, usize); 7] = [
    (Some(':'), 1),
    (Some('-'), 1),
    (Some(':'), 3),
    (Some('-'), 3),
    (Some('.'), 2),
    (Some('-'), 2),
    (None, 6),
];

/// Reads a `macaddr`.
pub fn parse(text: &str) -> SqlResult<Datum> {
    let body = text.trim_matches(|c: char| c.is_ascii_whitespace());
    let octets =
        FORMS.iter().find_map(|(separator, group)| read_form(body, *separator, *group)).ok_or_else(|| {
            sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type macaddr: \"{text}\"")
        })?;
    let octets: Result<Vec<u8>, _> = octets.into_iter().map(u8::try_from).collect();
    let octets = octets.map_err(|_| {
        sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "invalid octet value in \"macaddr\" value: \"{text}\"")
    })?;
    Ok(Datum::Bytes(octets.into()))
}

fn read_form(text: &str, separator: Option<char>, group: usize) -> Option<Vec<u32>> {
    let parts: Vec<&str> = separator.map_or_else(|| vec![text], |c| text.split(c).collect());
    if parts.len() * group != 6 {
        return None;
    }
    let mut octets = Vec::with_capacity(6);
    for part in parts {
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        if group == 1 {
            octets.push(u32::from_str_radix(part, 16).unwrap_or(u32::MAX));
            continue;
        }
        // Two digits each; the last may be one.
        if part.len().div_ceil(2) != group {
            return None;
        }
        for pair in part.as_bytes().chunks(2) {
            octets.push(u32::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
        }
    }
    Some(octets)
}

/// Reads a `macaddr8`: six or eight octets of two digits, separators of one kind anywhere between them.
pub fn parse8(text: &str) -> SqlResult<Datum> {
    let invalid =
        || sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type macaddr8: \"{text}\"");
    let mut rest = text.trim_matches(|c: char| c.is_ascii_whitespace()).as_bytes();
    let mut separator = None;
    let mut octets = Vec::with_capacity(8);
    while let [high, low, after @ ..] = rest {
        let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8).ok_or_else(invalid);
        octets.push(digit(*high)? << 4 | digit(*low)?);
        rest = after;
        if let [c @ (b':' | b'-' | b'.'), after @ ..] = rest {
            if *separator.get_or_insert(*c) != *c {
                return Err(invalid());
            }
            rest = after;
        }
    }
    match octets.len() {
        _ if !rest.is_empty() => Err(invalid()),
        6 => Ok(Datum::Bytes(widened(&octets).into())),
        8 => Ok(Datum::Bytes(octets.into())),
        _ => Err(invalid()),
    }
}

/// Reads the binary form of a `macaddr8`, which may have six octets.
pub fn receive8(octets: &[u8]) -> SqlResult<Datum> {
    match octets.len() {
        6 => Ok(Datum::Bytes(widened(octets).into())),
        8 => Ok(Datum::Bytes(Bytes::new(octets))),
        _ => Err(sql_err!(PROTOCOL_VIOLATION, "insufficient data left in message")),
    }
}
