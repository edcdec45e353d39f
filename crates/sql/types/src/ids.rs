//! `oid` and its aliases, `xid`, `xid8`, `cid`, `tid`, `pg_lsn`, `uuid`, `"char"`.

use base::{SqlError, SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::registry::types::prelude::*;
use crate::{calendar::UNIX_MICROS, call::Call, compare::tid_parts, numeric::Numeric};

/// One byte.
pub(crate) static CHAR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_char,
        io: [Oid(1245), Oid(33), Oid(2434), Oid(2435)],
        ..TypeInfo::new(oids::char, "char", b'Z', Physical::Char)
    }),
    input: |_, text, _, _| Ok(Datum::Char(char_in(text.as_bytes()))),
    output: |_, value, _, out| {
        out.extend_from_slice(char_out(u8::from_datum(value)).as_bytes());
        Ok(())
    },
    receive: |_, reader, _, _| Ok(Datum::Char(reader.take(1)?[0])),
    compare: Some(|a, b| u8::from_datum(a).cmp(&u8::from_datum(b))),
    plain_order: true,
    equal: Some(|a, b| a == b),
    hash: Some(crate::compare::hash_integer),
    seeded_hash: Some(|value, seed| {
        crate::hashing::hash_word(i32::from(u8::from_datum(value) as i8) as u32, seed)
    }),
    sql_name: "\"char\"",
    ..TypeImp::NONE
};

/// The number of an object.
pub(crate) static OID: TypeImp = TypeImp {
    row: Some(TypeInfo {
        preferred: true,
        array: oids::_oid,
        io: [Oid(1798), Oid(1799), Oid(2418), Oid(2419)],
        ..TypeInfo::new(oids::oid, "oid", b'N', Physical::Oid)
    }),
    input: |_, text, _, _| Ok(Datum::Oid(parse_oid(text, "oid")?)),
    output: crate::int::output,
    receive: |_, reader, _, _| Ok(Datum::Oid(reader.i32()? as u32)),
    ..crate::compare::OBJECT_IDS
};

/// The number of a transaction, in 32 bits.
pub(crate) static XID: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_xid,
        io: [Oid(50), Oid(51), Oid(2440), Oid(2441)],
        ..TypeInfo::new(oids::xid, "xid", b'U', Physical::Oid)
    }),
    input: |_, text, _, _| Ok(Datum::Oid(parse_oid(text, "xid")?)),
    output: crate::int::output,
    receive: |_, reader, _, _| Ok(Datum::Oid(reader.i32()? as u32)),
    ..crate::compare::UNORDERED_IDS
};

/// The number of a command within its transaction.
pub(crate) static CID: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_cid,
        io: [Oid(52), Oid(53), Oid(2442), Oid(2443)],
        ..TypeInfo::new(oids::cid, "cid", b'U', Physical::Oid)
    }),
    input: |_, text, _, _| Ok(Datum::Oid(parse_oid(text, "cid")?)),
    output: crate::int::output,
    receive: |_, reader, _, _| Ok(Datum::Oid(reader.i32()? as u32)),
    ..crate::compare::UNORDERED_IDS
};

/// The place of a row version: block and line pointer.
pub(crate) static TID: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_tid,
        io: [Oid(48), Oid(49), Oid(2438), Oid(2439)],
        align: 2,
        ..TypeInfo::new(oids::tid, "tid", b'U', Physical::Fixed(6))
    }),
    input: |_, text, _, _| parse_tid(text),
    output: |_, value, _, out| {
        let (block, offset) = tid_parts(<&[u8]>::from_datum(value));
        show(format_args!("({block},{offset})"), out)
    },
    receive: |_, reader, _, _| Ok(tid_datum(reader.i32()? as u32, reader.i16()? as u16)),
    send: |_, value, _, out| {
        let (block, offset) = tid_parts(<&[u8]>::from_datum(value));
        out.extend_from_slice(&block.to_be_bytes());
        out.extend_from_slice(&offset.to_be_bytes());
        Ok(())
    },
    compare: Some(|a, b| tid_parts(<&[u8]>::from_datum(a)).cmp(&tid_parts(<&[u8]>::from_datum(b)))),
    equal: crate::compare::BYTES.equal,
    hash: crate::compare::BYTES.hash,
    seeded_hash: Some(|value, seed| crate::hashing::hash_tid(<&[u8]>::from_datum(value), seed)),
    ..TypeImp::NONE
};

/// The number of a transaction.
pub(crate) static XID8: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_xid8,
        io: [Oid(5070), Oid(5081), Oid(5082), Oid(5083)],
        ..TypeInfo::new(oids::xid8, "xid8", b'U', Physical::Int8)
    }),
    input: |_, text, _, _| Ok(Datum::Int8(parse_xid8(text)?)),
    output: |_, value, _, out| show(i64::from_datum(value) as u64, out),
    receive: crate::int::receive8,
    ..crate::compare::UNSIGNED
};

/// A place in the write-ahead log.
pub(crate) static PG_LSN: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_pg_lsn,
        io: [Oid(3229), Oid(3230), Oid(3238), Oid(3239)],
        ..TypeInfo::new(oids::pg_lsn, "pg_lsn", b'U', Physical::Int8)
    }),
    input: |_, text, _, _| Ok(Datum::Int8(parse_lsn(text)?)),
    output: |_, value, _, out| show(base::Lsn(i64::from_datum(value) as u64), out),
    receive: crate::int::receive8,
    ..crate::compare::UNSIGNED
};

/// An identifier that is unique everywhere.
pub(crate) static UUID: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_uuid,
        io: [Oid(2952), Oid(2953), Oid(2961), Oid(2962)],
        align: 1,
        ..TypeInfo::new(oids::uuid, "uuid", b'U', Physical::Fixed(16))
    }),
    input: |_, text, _, _| parse_uuid(text),
    output: |_, value, _, out| show(uuid_text(<&[u8]>::from_datum(value)), out),
    receive: |_, reader, _, _| Ok(Datum::Bytes(Bytes::new(reader.take(16)?))),
    ..crate::compare::BYTES
};

functions! {
    33 charout(char) -> cstring [immutable strict] { output char }
    48 tidin(cstring) -> tid [immutable strict] { input tid }
    49 tidout(tid) -> cstring [immutable strict] { output tid }
    50 xidin(cstring) -> xid [immutable strict] { input xid }
    51 xidout(xid) -> cstring [immutable strict] { output xid }
    52 cidin(cstring) -> cid [immutable strict] { input cid }
    53 cidout(cid) -> cstring [immutable strict] { output cid }
    1245 charin(cstring) -> char [immutable strict] { input char }
    1798 oidin(cstring) -> oid [immutable strict] { input oid }
    1799 oidout(oid) -> cstring [immutable strict] { output oid }
    2418 oidrecv(internal) -> oid [immutable strict] { receive oid }
    2419 oidsend(oid) -> bytea [immutable strict] { send oid }
    2434 charrecv(internal) -> char [immutable strict] { receive char }
    2435 charsend(char) -> bytea [immutable strict] { send char }
    2438 tidrecv(internal) -> tid [immutable strict] { receive tid }
    2439 tidsend(tid) -> bytea [immutable strict] { send tid }
    2440 xidrecv(internal) -> xid [immutable strict] { receive xid }
    2441 xidsend(xid) -> bytea [immutable strict] { send xid }
    2442 cidrecv(internal) -> cid [immutable strict] { receive cid }
    2443 cidsend(cid) -> bytea [immutable strict] { send cid }
    2952 uuid_in(cstring) -> uuid [immutable strict] { input uuid }
    2953 uuid_out(uuid) -> cstring [immutable strict] { output uuid }
    2961 uuid_recv(internal) -> uuid [immutable strict] { receive uuid }
    2962 uuid_send(uuid) -> bytea [immutable strict] { send uuid }
    3229 pg_lsn_in(cstring) -> pg_lsn [immutable strict] { input pg_lsn }
    3230 pg_lsn_out(pg_lsn) -> cstring [immutable strict] { output pg_lsn }
    3238 pg_lsn_recv(internal) -> pg_lsn [immutable strict] { receive pg_lsn }
    3239 pg_lsn_send(pg_lsn) -> bytea [immutable strict] { send pg_lsn }
    5070 xid8in(cstring) -> xid8 [immutable strict] { input xid8 }
    5081 xid8out(xid8) -> cstring [immutable strict] { output xid8 }
    5082 xid8recv(internal) -> xid8 [immutable strict] { receive xid8 }
    5083 xid8send(xid8) -> bytea [immutable strict] { send xid8 }
    184 oideq(oid, oid) -> bool [immutable strict leakproof] { |a: u32, b: u32| (a.cmp(&b)).is_eq() }
    185 oidne(oid, oid) -> bool [immutable strict leakproof] { |a: u32, b: u32| (a.cmp(&b)).is_ne() }
    716 oidlt(oid, oid) -> bool [immutable strict leakproof] { |a: u32, b: u32| (a.cmp(&b)).is_lt() }
    717 oidle(oid, oid) -> bool [immutable strict leakproof] { |a: u32, b: u32| (a.cmp(&b)).is_le() }
    1638 oidgt(oid, oid) -> bool [immutable strict leakproof] { |a: u32, b: u32| (a.cmp(&b)).is_gt() }
    1639 oidge(oid, oid) -> bool [immutable strict leakproof] { |a: u32, b: u32| (a.cmp(&b)).is_ge() }
    356 btoidcmp(oid, oid) -> int4 [immutable strict leakproof] { |a: u32, b: u32| (a.cmp(&b)) as i32 }
    1965 oidlarger(oid, oid) -> oid [immutable strict] { |a: u32, b: u32| a.max(b) }
    1966 oidsmaller(oid, oid) -> oid [immutable strict] { |a: u32, b: u32| a.min(b) }
    453 hashoid(oid) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::oid, a) }
    445 hashoidextended(oid, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::oid, a, seed) }
    1287 oid(int8) -> oid [immutable strict] { |a: i64| u32::try_from(a).map_err(|_| sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "OID out of range")) }
    1288 int8(oid) -> int8 [immutable strict leakproof] { |a: u32| i64::from(a) }
    68 xideq(xid, xid) -> bool [immutable strict leakproof] { |a: u32, b: u32| a == b }
    3308 xidneq(xid, xid) -> bool [immutable strict leakproof] { |a: u32, b: u32| a != b }
    1319 xideqint4(xid, int4) -> bool [immutable strict leakproof] { |a: u32, b: i32| a == b as u32 }
    3309 xidneqint4(xid, int4) -> bool [immutable strict leakproof] { |a: u32, b: i32| a != b as u32 }
    5071 xid(xid8) -> xid [immutable strict] { |a: i64| a as u32 }
    6419 hashxid(xid) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::xid, a) }
    6420 hashxidextended(xid, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::xid, a, seed) }
    69 cideq(cid, cid) -> bool [immutable strict leakproof] { |a: u32, b: u32| a == b }
    6423 hashcid(cid) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::cid, a) }
    6424 hashcidextended(cid, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::cid, a, seed) }
    5084 xid8eq(xid8, xid8) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_eq() }
    5085 xid8ne(xid8, xid8) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_ne() }
    5034 xid8lt(xid8, xid8) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_lt() }
    5036 xid8le(xid8, xid8) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_le() }
    5035 xid8gt(xid8, xid8) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_gt() }
    5037 xid8ge(xid8, xid8) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_ge() }
    5096 xid8cmp(xid8, xid8) -> int4 [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))) as i32 }
    5097 xid8_larger(xid8, xid8) -> xid8 [immutable strict] { |a: i64, b: i64| (a as u64).max(b as u64) as i64 }
    5098 xid8_smaller(xid8, xid8) -> xid8 [immutable strict] { |a: i64, b: i64| (a as u64).min(b as u64) as i64 }
    6421 hashxid8(xid8) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::xid8, a) }
    6422 hashxid8extended(xid8, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::xid8, a, seed) }
    3233 pg_lsn_eq(pg_lsn, pg_lsn) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_eq() }
    3236 pg_lsn_ne(pg_lsn, pg_lsn) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_ne() }
    3231 pg_lsn_lt(pg_lsn, pg_lsn) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_lt() }
    3232 pg_lsn_le(pg_lsn, pg_lsn) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_le() }
    3235 pg_lsn_gt(pg_lsn, pg_lsn) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_gt() }
    3234 pg_lsn_ge(pg_lsn, pg_lsn) -> bool [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))).is_ge() }
    3251 pg_lsn_cmp(pg_lsn, pg_lsn) -> int4 [immutable strict leakproof] { |a: i64, b: i64| ((a as u64).cmp(&(b as u64))) as i32 }
    4187 pg_lsn_larger(pg_lsn, pg_lsn) -> pg_lsn [immutable strict] { |a: i64, b: i64| (a as u64).max(b as u64) as i64 }
    4188 pg_lsn_smaller(pg_lsn, pg_lsn) -> pg_lsn [immutable strict] { |a: i64, b: i64| (a as u64).min(b as u64) as i64 }
    3252 pg_lsn_hash(pg_lsn) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::pg_lsn, a) }
    3413 pg_lsn_hash_extended(pg_lsn, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::pg_lsn, a, seed) }
    3165 pg_wal_lsn_diff(pg_lsn, pg_lsn) -> numeric [immutable strict] { |a: i64, b: i64| Numeric::from_i128(i128::from(a as u64) - i128::from(b as u64)) }
    3237 pg_lsn_mi(pg_lsn, pg_lsn) -> numeric [immutable strict] { |a: i64, b: i64| Numeric::from_i128(i128::from(a as u64) - i128::from(b as u64)) }
    5022 pg_lsn_pli(pg_lsn, numeric) -> pg_lsn [immutable strict] { |a: i64, b: Numeric| lsn_add(a, &b, false) }
    5023 numeric_pl_pg_lsn(numeric, pg_lsn) -> pg_lsn [immutable strict] { |b: Numeric, a: i64| lsn_add(a, &b, false) }
    5024 pg_lsn_mii(pg_lsn, numeric) -> pg_lsn [immutable strict] { |a: i64, b: Numeric| lsn_add(a, &b, true) }
    6103 pg_lsn(numeric) -> pg_lsn [immutable strict] { |a: Numeric| numeric_lsn(&a) }
    1292 tideq(tid, tid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (tid_parts(a).cmp(&tid_parts(b))).is_eq() }
    1265 tidne(tid, tid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (tid_parts(a).cmp(&tid_parts(b))).is_ne() }
    2791 tidlt(tid, tid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (tid_parts(a).cmp(&tid_parts(b))).is_lt() }
    2793 tidle(tid, tid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (tid_parts(a).cmp(&tid_parts(b))).is_le() }
    2790 tidgt(tid, tid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (tid_parts(a).cmp(&tid_parts(b))).is_gt() }
    2792 tidge(tid, tid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (tid_parts(a).cmp(&tid_parts(b))).is_ge() }
    2794 bttidcmp(tid, tid) -> int4 [immutable strict leakproof] { |a: &[u8], b: &[u8]| (tid_parts(a).cmp(&tid_parts(b))) as i32 }
    2795 tidlarger(tid, tid) -> tid [immutable strict] { |a: &[u8], b: &[u8]| Bytes::new(if tid_parts(a) > tid_parts(b) { a } else { b }) }
    2796 tidsmaller(tid, tid) -> tid [immutable strict] { |a: &[u8], b: &[u8]| Bytes::new(if tid_parts(a) < tid_parts(b) { a } else { b }) }
    2233 hashtid(tid) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::tid, a) }
    2234 hashtidextended(tid, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::tid, a, seed) }
    2956 uuid_eq(uuid, uuid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_eq() }
    2959 uuid_ne(uuid, uuid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_ne() }
    2954 uuid_lt(uuid, uuid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_lt() }
    2955 uuid_le(uuid, uuid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_le() }
    2958 uuid_gt(uuid, uuid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_gt() }
    2957 uuid_ge(uuid, uuid) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_ge() }
    2960 uuid_cmp(uuid, uuid) -> int4 [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)) as i32 }
    2963 uuid_hash(uuid) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::uuid, a) }
    3412 uuid_hash_extended(uuid, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::uuid, a, seed) }
    3432 gen_random_uuid() -> uuid [strict] { |cx;| random_uuid(cx) }
    6428 uuidv4() -> uuid [strict] { |cx;| random_uuid(cx) }
    6429 uuidv7() -> uuid [strict] { |cx;| uuid_v7(cx, 0) }
    6430 uuidv7(interval) -> uuid [strict names(&["shift"])] { |cx; shift: &[u8]| shifted_uuid_v7(cx, shift) }
    6343 uuid_extract_version(uuid) -> int2 [immutable strict leakproof] { |a: &[u8]| uuid_version(a) }
    6342 uuid_extract_timestamp(uuid) -> timestamptz [immutable strict leakproof] { |a: &[u8]| uuid_time(a) }
    61 chareq(char, char) -> bool [immutable strict leakproof] { |a: u8, b: u8| (a.cmp(&b)).is_eq() }
    70 charne(char, char) -> bool [immutable strict leakproof] { |a: u8, b: u8| (a.cmp(&b)).is_ne() }
    1246 charlt(char, char) -> bool [immutable strict leakproof] { |a: u8, b: u8| (a.cmp(&b)).is_lt() }
    72 charle(char, char) -> bool [immutable strict leakproof] { |a: u8, b: u8| (a.cmp(&b)).is_le() }
    73 chargt(char, char) -> bool [immutable strict leakproof] { |a: u8, b: u8| (a.cmp(&b)).is_gt() }
    74 charge(char, char) -> bool [immutable strict leakproof] { |a: u8, b: u8| (a.cmp(&b)).is_ge() }
    358 btcharcmp(char, char) -> int4 [immutable strict leakproof] { |a: u8, b: u8| (a.cmp(&b)) as i32 }
    454 hashchar(char) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::char, a) }
    446 hashcharextended(char, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::char, a, seed) }
    78 char(int4) -> char [immutable strict] { |a: i32| i8::try_from(a).map(|v| v as u8).map_err(|_| sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "\"char\" out of range")) }
    77 int4(char) -> int4 [immutable strict] { |a: u8| i32::from(a as i8) }
    944 char(text) -> char [immutable strict] { |a: &[u8]| char_in(a) }
    946 text(char) -> text [immutable strict] { |a: u8| char_out(a) }
    1079 regclass(text) -> regclass [stable strict] { |cx; a: &str| cx.session.reg_lookup(crate::call::RegKind::Class, a).map(|oid| oid.0) }
}

fn lsn_range() -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "pg_lsn out of range")
}

fn numeric_lsn(a: &Numeric) -> SqlResult<i64> {
    if a.is_nan() {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot convert NaN to pg_lsn"));
    }
    if !a.is_finite() {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot convert infinity to pg_lsn"));
    }
    let value = a.to_i128().ok_or_else(lsn_range)?;
    u64::try_from(value).map(|v| v as i64).map_err(|_| lsn_range())
}

fn lsn_add(a: i64, bytes: &Numeric, subtract: bool) -> SqlResult<i64> {
    if bytes.is_nan() {
        let (verb, preposition) = if subtract { ("subtract", "from") } else { ("add", "to") };
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot {verb} NaN {preposition} pg_lsn"));
    }
    let start = Numeric::from_i128(i128::from(a as u64));
    numeric_lsn(&if subtract { start.sub(bytes) } else { start.add(bytes) })
}

/// Reads the first byte of a text, or `\ooo`.
pub fn char_in(text: &[u8]) -> u8 {
    if let Some(first) = crate::value::str_of(text).chars().next().filter(|c| !c.is_ascii())
        && crate::text::texts_are_bytes()
        && let Some(byte) = crate::encoding::byte_of(first)
    {
        return byte;
    }
    match text {
        [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7'] => {
            (a - b'0') << 6 | (b - b'0') << 3 | (c - b'0')
        }
        [first, ..] => *first,
        [] => 0,
    }
}

/// A `"char"` as text: nothing for zero, octal above ASCII.
pub fn char_out(value: u8) -> String {
    match value {
        0 => String::new(),
        0x80.. => format!("\\{value:03o}"),
        _ => (value as char).to_string(),
    }
}

/// Reads an unsigned number of 32 bits as `oid` does: decimal, octal or hexadecimal, a negative one wrapped around.
pub fn parse_oid(text: &str, type_name: &str) -> SqlResult<u32> {
    let syntax =
        || sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type {type_name}: \"{text}\"");
    let value = parse_unsigned(text).ok_or_else(syntax)?;
    match u32::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) if i32::try_from(value).is_ok() => Ok(value as i32 as u32),
        Err(_) => {
            Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value \"{text}\" is out of range for type {type_name}"))
        }
    }
}

/// Reads an unsigned number of 64 bits as `xid8` does.
pub fn parse_xid8(text: &str) -> SqlResult<i64> {
    let value = parse_unsigned(text).ok_or_else(|| {
        sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type xid8: \"{text}\"")
    })?;
    u64::try_from(value)
        .map(|v| v as i64)
        .or_else(|_| i64::try_from(value))
        .map_err(|_| sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value \"{text}\" is out of range for type xid8"))
}

/// The number that `strtoul` with base 0 reads, blanks around it.
fn parse_unsigned(text: &str) -> Option<i128> {
    let body = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let (negative, body) = match body.as_bytes().first()? {
        b'-' => (true, &body[1..]),
        b'+' => (false, &body[1..]),
        _ => (false, body),
    };
    let lower = body.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, &lower[..]),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let mut value = 0i128;
    for c in digits.chars() {
        value = (value.min(1 << 100)) * i128::from(radix) + i128::from(c.to_digit(radix)?);
    }
    Some(if negative { -value } else { value })
}

/// Reads `(block,offset)`.
pub fn parse_tid(text: &str) -> SqlResult<Datum> {
    let syntax = || sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type tid: \"{text}\"");
    let inner = text.trim_start().strip_prefix('(').and_then(|t| t.split_once(')')).ok_or_else(syntax)?.0;
    let (block, offset) = inner.split_once(',').ok_or_else(syntax)?;
    let (block, offset) = (block.trim_start(), offset.trim_start());
    let block =
        block.parse::<u32>().or_else(|_| block.parse::<i32>().map(|b| b as u32)).map_err(|_| syntax())?;
    let offset = offset.parse::<u16>().map_err(|_| syntax())?;
    Ok(tid_datum(block, offset))
}

/// A `tid` as it is stored: block and line pointer, little-endian.
pub fn tid_datum(block: u32, offset: u16) -> Datum {
    let mut bytes = [0; 6];
    bytes[..4].copy_from_slice(&block.to_le_bytes());
    bytes[4..].copy_from_slice(&offset.to_le_bytes());
    Datum::Bytes(Bytes::new(&bytes))
}

/// Reads `16/B374D848`.
pub fn parse_lsn(text: &str) -> SqlResult<i64> {
    let syntax = || sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type pg_lsn: \"{text}\"");
    let half = |part: &str| {
        let fits = (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_hexdigit());
        if fits { u32::from_str_radix(part, 16).map_err(|_| syntax()) } else { Err(syntax()) }
    };
    let (high, low) = text.split_once('/').ok_or_else(syntax)?;
    Ok((i64::from(half(high)?) << 32) | i64::from(half(low)?))
}

/// Reads a UUID: 32 hexadecimal digits, hyphens after any group of four, braces around.
pub fn parse_uuid(text: &str) -> SqlResult<Datum> {
    let syntax = || sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type uuid: \"{text}\"");
    let mut body = text.as_bytes();
    if let [b'{', rest @ .., b'}'] = body {
        body = rest;
    } else if body.first() == Some(&b'{') {
        return Err(syntax());
    }
    let mut out = [0u8; 16];
    for (i, byte) in out.iter_mut().enumerate() {
        let [high, low, rest @ ..] = body else { return Err(syntax()) };
        let digit = |c: &u8| (*c as char).to_digit(16).ok_or_else(syntax);
        *byte = (digit(high)? << 4 | digit(low)?) as u8;
        body = rest;
        if i % 2 == 1
            && i < 15
            && let [b'-', rest @ ..] = body
        {
            body = rest;
        }
    }
    if body.is_empty() { Ok(Datum::Bytes(Bytes::new(&out))) } else { Err(syntax()) }
}

/// Canonical text of a UUID.
pub fn uuid_text(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(36);
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        out.push_str(&format!("{byte:02x}"));
    }
    out
}

fn random_bytes(cx: &Call) -> [u8; 16] {
    let mut out = [0; 16];
    cx.session.with_random(&mut |generator| {
        out[..8].copy_from_slice(&generator.bits().to_le_bytes());
        out[8..].copy_from_slice(&generator.bits().to_le_bytes());
    });
    out
}

fn stamp(mut bytes: [u8; 16], version: u8) -> Bytes {
    bytes[6] = bytes[6] & 0x0F | version << 4;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    Bytes::new(&bytes)
}

fn random_uuid(cx: &Call) -> Bytes {
    stamp(random_bytes(cx), 4)
}

const NANOS_PER_MILLI: i128 = 1_000_000;
/// Nanoseconds after which the twelve bits of a millisecond's fraction are surely others.
const STEP: i64 = 1_000_000 / 4096 + 1;

/// Those of one session ascend, if their `shift` (microseconds) is the same.
fn uuid_v7(cx: &Call, shift: i64) -> Bytes {
    let now = i128::from(cx.session.ascending_clock(STEP));
    let nanos = now + (i128::from(UNIX_MICROS) + i128::from(shift)) * 1000;
    let mut bytes = random_bytes(cx);
    bytes[..6].copy_from_slice(&(nanos.div_euclid(NANOS_PER_MILLI) as u64).to_be_bytes()[2..]);
    let fraction = (nanos.rem_euclid(NANOS_PER_MILLI) * 4096 / NANOS_PER_MILLI) as u16;
    bytes[6] = (fraction >> 8) as u8;
    bytes[7] = fraction as u8;
    stamp(bytes, 7)
}

fn shifted_uuid_v7(cx: &Call, shift: &[u8]) -> SqlResult<Bytes> {
    let now = cx.session.clock();
    let shifted =
        crate::timestamp::add_interval_tz(cx, now, &crate::interval::Interval::from_payload(shift))?;
    Ok(uuid_v7(cx, shifted - now))
}

fn uuid_version(bytes: &[u8]) -> Option<i16> {
    let variant = *bytes.get(8)?;
    (variant & 0xC0 == 0x80).then(|| i16::from(bytes[6] >> 4))
}

fn uuid_time(bytes: &[u8]) -> Option<i64> {
    let b: [u8; 16] = bytes.try_into().ok()?;
    match uuid_version(bytes)? {
        1 => {
            let low = u64::from(u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
            let middle = u64::from(u16::from_be_bytes([b[4], b[5]]));
            let high = u64::from(u16::from_be_bytes([b[6], b[7]]) & 0x0FFF);
            // Tenths of microseconds since 1582-10-15.
            let ticks = (high << 48 | middle << 32 | low) as i64;
            Some(ticks / 10 - 13_165_977_600_000_000)
        }
        7 => {
            let millis = u64::from_be_bytes([0, 0, b[0], b[1], b[2], b[3], b[4], b[5]]) as i64;
            Some(millis * 1000 - UNIX_MICROS)
        }
        _ => None,
    }
}
