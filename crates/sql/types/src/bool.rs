//! `bool`.

use crate::registry::types::prelude::*;
use base::{SqlResult, sql_err};

/// True or false.
pub(crate) static BOOL: TypeImp = TypeImp {
    row: Some(TypeInfo {
        preferred: true,
        array: oids::_bool,
        io: [Oid(1242), Oid(1243), Oid(2436), Oid(2437)],
        ..TypeInfo::new(oids::bool, "bool", b'B', Physical::Bool)
    }),
    input: |_, text, _, _| Ok(Datum::Bool(parse(text)?)),
    output: |_, value, _, out| {
        out.push(if bool::from_datum(value) { b't' } else { b'f' });
        Ok(())
    },
    receive: |_, reader, _, _| Ok(Datum::Bool(reader.take(1)?[0] != 0)),
    compare: Some(|a, b| bool::from_datum(a).cmp(&bool::from_datum(b))),
    plain_order: true,
    equal: Some(|a, b| a == b),
    hash: Some(crate::compare::hash_integer),
    seeded_hash: Some(crate::hashing::plain),
    sql_name: "boolean",
    ..TypeImp::NONE
};

functions! {
    1242 boolin(cstring) -> bool [immutable strict] { input bool }
    1243 boolout(bool) -> cstring [immutable strict] { output bool }
    2436 boolrecv(internal) -> bool [immutable strict] { receive bool }
    2437 boolsend(bool) -> bytea [immutable strict] { send bool }
    60 booleq(bool, bool) -> bool [immutable strict leakproof] { |a: bool, b: bool| (a.cmp(&b)).is_eq() }
    84 boolne(bool, bool) -> bool [immutable strict leakproof] { |a: bool, b: bool| (a.cmp(&b)).is_ne() }
    56 boollt(bool, bool) -> bool [immutable strict leakproof] { |a: bool, b: bool| (a.cmp(&b)).is_lt() }
    1691 boolle(bool, bool) -> bool [immutable strict leakproof] { |a: bool, b: bool| (a.cmp(&b)).is_le() }
    57 boolgt(bool, bool) -> bool [immutable strict leakproof] { |a: bool, b: bool| (a.cmp(&b)).is_gt() }
    1692 boolge(bool, bool) -> bool [immutable strict leakproof] { |a: bool, b: bool| (a.cmp(&b)).is_ge() }
    1693 btboolcmp(bool, bool) -> int4 [immutable strict leakproof] { |a: bool, b: bool| (a.cmp(&b)) as i32 }
    2515 booland_statefunc(bool, bool) -> bool [immutable strict] { |a: bool, b: bool| a && b }
    2516 boolor_statefunc(bool, bool) -> bool [immutable strict] { |a: bool, b: bool| a || b }
    6417 hashbool(bool) -> int4 [immutable strict] { |a: &tuple::Datum| crate::hashing::hash32(crate::oids::bool, a) }
    6418 hashboolextended(bool, int8) -> int8 [immutable strict] { |a: &tuple::Datum, seed: i64| crate::hashing::hash64(crate::oids::bool, a, seed) }
    2971 text(bool) -> text [immutable strict] { |a: bool| if a { "true" } else { "false" } }
}

/// Reads `t`, `true`, `yes`, `on`, `1` and their opposites, in any case and shortened as long as they are unique.
pub fn parse(text: &str) -> SqlResult<bool> {
    let body = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b').to_ascii_lowercase();
    let starts = |word: &str, least: usize| body.len() >= least && word.starts_with(&body);
    if starts("true", 1) || starts("yes", 1) || body == "on" || body == "1" {
        Ok(true)
    } else if starts("false", 1) || starts("no", 1) || starts("off", 2) || body == "0" {
        Ok(false)
    } else {
        Err(sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type boolean: \"{text}\""))
    }
}
