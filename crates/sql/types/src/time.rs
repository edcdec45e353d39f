//! `time` and `timetz`: microseconds since midnight, the latter with an offset.
//!
//! A `timetz` is stored in 12 bytes, little-endian: microseconds, then seconds *west* of UTC.

use base::{Oid, SqlError, SqlResult, push_padded, sql_err};
use tuple::{Bytes, Datum};

use crate::registry::types::prelude::*;
use crate::{
    calendar::{DAY, Fields, HOUR, MINUTE, SECOND},
    call::Call,
    datetime::{self, Failure, Special},
    interval::Interval,
    oids,
    timestamp::{self, end_of},
    timezone::{TimeZone, Zone},
};

/// The modifier of `time(p)` and the like: the precision itself, cut at 6.
pub(crate) fn precision_typmod(name: &str, zone: &str, modifiers: &[&str]) -> SqlResult<i32> {
    let [text] = modifiers else { return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid type modifier")) };
    let precision: i32 = crate::int::parse(text, "integer")?;
    if precision < 0 {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "{name}({precision}){zone} precision must not be negative"
        ));
    }
    Ok(precision.min(6))
}

/// A precision, if there is one, and which kind of time it is.
pub(crate) fn precision_text(typmod: i32, zone: &str) -> String {
    if typmod >= 0 { format!("({typmod}) {zone}") } else { format!(" {zone}") }
}

/// Rounded half away from zero to the digits of a modifier.
pub fn round_micros(value: i64, typmod: i32) -> i64 {
    if !(0..6).contains(&typmod) {
        return value;
    }
    let unit = 10i64.pow(6 - typmod as u32);
    let half = unit / 2;
    if value >= 0 {
        value.saturating_add(half) / unit * unit
    } else {
        -((-value).saturating_add(half) / unit * unit)
    }
}

/// Reads a time of day; a date before it is ignored, a zone too.
pub fn parse(text: &str, typmod: i32, cx: &Call) -> SqlResult<i64> {
    let parsed = datetime::read(text, "time", cx)?;
    if parsed.date.is_none() && matches!(parsed.zone, Some(Zone::Named(_) | Zone::Abbreviation(..))) {
        return Err(Failure::Syntax.error(text, "time"));
    }
    let time = match (parsed.time, parsed.special) {
        (Some(time), _) => time,
        (None, Some(Special::Now)) => timestamp::to_local(cx.format.time_of_text(), cx).rem_euclid(DAY),
        _ => return Err(Failure::Syntax.error(text, "time")),
    };
    Ok(round_micros(time, typmod))
}

/// Reads a time of day with its zone, the session's where there is none.
pub fn parse_timetz(text: &str, typmod: i32, cx: &Call) -> SqlResult<Datum> {
    let parsed = datetime::read(text, "time with time zone", cx)?;
    let now = timestamp::to_local(cx.format.time_of_text(), cx);
    let time = match (parsed.time, parsed.special) {
        (Some(time), _) => time,
        (None, Some(Special::Now)) => now.rem_euclid(DAY),
        _ => return Err(Failure::Syntax.error(text, "time with time zone")),
    };
    // The date, or today, decides what a zone with daylight time means.
    let day = parsed.local().unwrap_or_else(|| now.div_euclid(DAY) * DAY + time);
    let offset = match &parsed.zone {
        Some(Zone::Named(_) | Zone::Abbreviation(..)) if parsed.date.is_none() => {
            return Err(Failure::Syntax.error(text, "time with time zone"));
        }
        Some(zone) => zone.offset_of_local(day),
        None => cx.format.time_zone.offset_of_local(day),
    };
    Ok(timetz_datum(round_micros(time, typmod), -offset))
}

/// `04:05:06.789`
pub fn text(time: i64) -> String {
    text_of(|out| push(&Fields::of_time(time), out))
}

/// Appends `04:05:06.789`, the time of day of these fields.
pub(crate) fn push(f: &Fields, out: &mut Vec<u8>) {
    for (part, end) in [(f.hour, ":"), (f.minute, ":"), (f.second, "")] {
        push_padded(out, part as u64, 2);
        out.extend_from_slice(end.as_bytes());
    }
    push_fraction(f.micros, out);
}

/// Appends `.789`, or nothing.
fn push_fraction(micros: i64, out: &mut Vec<u8>) {
    if micros == 0 {
        return;
    }
    let (mut digits, mut width) = (micros as u64, 6);
    while digits.is_multiple_of(10) {
        (digits, width) = (digits / 10, width - 1);
    }
    out.push(b'.');
    push_padded(out, digits, width);
}

/// `.789`, or nothing.
pub fn fraction(micros: i64) -> String {
    text_of(|out| push_fraction(micros, out))
}

/// Appends `+02`, `-03:30`.
pub(crate) fn push_offset(offset: i32, out: &mut Vec<u8>) {
    out.push(if offset < 0 { b'-' } else { b'+' });
    let seconds = u64::from(offset.unsigned_abs());
    let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    let shown = if parts[2] > 0 { 3 } else { 1 + usize::from(parts[1] > 0) };
    for (n, part) in parts[..shown].iter().enumerate() {
        if n > 0 {
            out.push(b':');
        }
        push_padded(out, *part, 2);
    }
}

/// A `timetz` as it is stored: microseconds and seconds west of UTC.
pub fn timetz_datum(time: i64, west: i32) -> Datum {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&time.to_le_bytes());
    bytes[8..].copy_from_slice(&west.to_le_bytes());
    Datum::Bytes(Bytes::new(&bytes))
}

/// Microseconds and seconds west of UTC of a stored `timetz`.
pub fn timetz_parts(bytes: &[u8]) -> (i64, i32) {
    match (bytes.get(..8).and_then(|b| b.try_into().ok()), bytes.get(8..12).and_then(|b| b.try_into().ok())) {
        (Some(time), Some(west)) => (i64::from_le_bytes(time), i32::from_le_bytes(west)),
        _ => (0, 0),
    }
}

/// `04:05:06+02`
pub fn timetz_text(bytes: &[u8]) -> String {
    let (time, west) = timetz_parts(bytes);
    text_of(|out| {
        push(&Fields::of_time(time), out);
        push_offset(west.wrapping_neg(), out);
    })
}

/// By the moment in UTC, then by the offset.
pub fn compare_timetz(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    let key = |bytes: &[u8]| {
        let (time, west) = timetz_parts(bytes);
        (time.saturating_add(i64::from(west) * SECOND), west)
    };
    key(a).cmp(&key(b))
}

/// A `time` from outside, checked.
pub fn receive(time: i64, typmod: i32) -> SqlResult<i64> {
    if !(0..=DAY).contains(&time) {
        return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "time out of range"));
    }
    Ok(round_micros(time, typmod))
}

/// A `timetz` from outside, checked.
pub fn receive_timetz(time: i64, west: i32, typmod: i32) -> SqlResult<Datum> {
    let time = receive(time, typmod)?;
    if !(-57_599..=57_599).contains(&west) {
        return Err(sql_err!(INVALID_TIME_ZONE_DISPLACEMENT_VALUE, "time zone displacement out of range"));
    }
    Ok(timetz_datum(time, west))
}

/// Appends the binary form.
pub fn send_timetz(bytes: &[u8], out: &mut Vec<u8>) {
    let (time, west) = timetz_parts(bytes);
    out.extend_from_slice(&time.to_be_bytes());
    out.extend_from_slice(&west.to_be_bytes());
}

fn make_time(hour: i32, minute: i32, second: f64) -> SqlResult<i64> {
    let bad = || {
        sql_err!(
            DATETIME_FIELD_OVERFLOW,
            "time field value out of range: {hour}:{minute:02}:{}",
            crate::float::general(second, 6)
        )
    };
    if !(0..=24).contains(&hour) || !(0..60).contains(&minute) || !(0.0..=60.0).contains(&second) {
        return Err(bad());
    }
    let time = i64::from(hour) * HOUR + i64::from(minute) * MINUTE + (second * 1e6).round() as i64;
    if time > DAY { Err(bad()) } else { Ok(time) }
}

fn shift(time: i64, by: &Interval, sign: i64) -> SqlResult<i64> {
    if !by.is_finite() {
        let verb =
            if sign < 0 { "subtract infinite interval from time" } else { "add infinite interval to time" };
        return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "cannot {verb}"));
    }
    Ok((time + sign * (by.micros % DAY)).rem_euclid(DAY))
}

fn later(time: i64, by: &Interval) -> SqlResult<i64> {
    shift(time, by, 1)
}

fn shift_tz(bytes: &[u8], by: &Interval, sign: i64) -> SqlResult<Datum> {
    let (time, west) = timetz_parts(bytes);
    Ok(timetz_datum(shift(time, by, sign)?, west))
}

/// The same moment of day in another offset.
fn at_offset(bytes: &[u8], offset: i32) -> Datum {
    let (time, west) = timetz_parts(bytes);
    let utc = time + i64::from(west) * SECOND;
    timetz_datum((utc + i64::from(offset) * SECOND).rem_euclid(DAY), -offset)
}

fn zone_offset(cx: &Call, name: &str) -> SqlResult<i32> {
    Ok(timestamp::zone_of(name, cx)?.offset_at(cx.format.transaction_time))
}

fn interval_offset(by: &Interval) -> SqlResult<i32> {
    timestamp::interval_zone(by)
}

fn local_offset(zone: &TimeZone, cx: &Call) -> i32 {
    zone.at(cx.format.transaction_time).offset
}

/// A time of day.
pub(crate) static TIME: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_time,
        io: [Oid(1143), Oid(1144), Oid(2470), Oid(2471)],
        typmod_io: [Oid(2909), Oid(2910)],
        ..TypeInfo::new(oids::time, "time", b'D', Physical::Int8)
    }),
    input: |_, value, typmod, cx| Ok(Datum::Int8(parse(value, typmod, cx)?)),
    output: |_, value, _, out| {
        push(&Fields::of_time(i64::from_datum(value)), out);
        Ok(())
    },
    receive: |_, reader, typmod, _| Ok(Datum::Int8(receive(reader.i64()?, typmod)?)),
    typmod_in: |_, modifiers| precision_typmod("TIME", "", modifiers),
    typmod_out: |typmod| precision_text(typmod, "without time zone"),
    sql_name: "time",
    ..crate::compare::INTEGERS
};

/// A time of day with its distance from UTC.
pub(crate) static TIMETZ: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_timetz,
        io: [Oid(1350), Oid(1351), Oid(2472), Oid(2473)],
        typmod_io: [Oid(2911), Oid(2912)],
        ..TypeInfo::new(oids::timetz, "timetz", b'D', Physical::Fixed(12))
    }),
    input: |_, value, typmod, cx| parse_timetz(value, typmod, cx),
    output: |_, value, _, out| show(timetz_text(<&[u8]>::from_datum(value)), out),
    receive: |_, reader, typmod, _| receive_timetz(reader.i64()?, reader.i32()?, typmod),
    send: |_, value, _, out| {
        send_timetz(<&[u8]>::from_datum(value), out);
        Ok(())
    },
    compare: Some(|a, b| compare_timetz(<&[u8]>::from_datum(a), <&[u8]>::from_datum(b))),
    equal: Some(|a, b| compare_timetz(<&[u8]>::from_datum(a), <&[u8]>::from_datum(b)).is_eq()),
    hash: crate::compare::BYTES.hash,
    seeded_hash: Some(|value, seed| crate::hashing::hash_timetz(<&[u8]>::from_datum(value), seed)),
    typmod_in: |_, modifiers| precision_typmod("TIME", " WITH TIME ZONE", modifiers),
    typmod_out: |typmod| precision_text(typmod, "with time zone"),
    sql_name: "time",
    ..TypeImp::NONE
};

functions! {
    1143 time_in(cstring, oid, int4) -> time [stable strict] { input time }
    1144 time_out(time) -> cstring [immutable strict] { output time }
    1350 timetz_in(cstring, oid, int4) -> timetz [stable strict] { input timetz }
    1351 timetz_out(timetz) -> cstring [immutable strict] { output timetz }
    2470 time_recv(internal, oid, int4) -> time [immutable strict] { receive time }
    2471 time_send(time) -> bytea [immutable strict] { send time }
    2472 timetz_recv(internal, oid, int4) -> timetz [immutable strict] { receive timetz }
    2473 timetz_send(timetz) -> bytea [immutable strict] { send timetz }
    2909 timetypmodin(_cstring) -> int4 [immutable strict] { typmod_in time }
    2910 timetypmodout(int4) -> cstring [immutable strict] { typmod_out time }
    2911 timetztypmodin(_cstring) -> int4 [immutable strict] { typmod_in timetz }
    2912 timetztypmodout(int4) -> cstring [immutable strict] { typmod_out timetz }
    1145 time_eq(time, time) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_eq() }
    1106 time_ne(time, time) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_ne() }
    1102 time_lt(time, time) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_lt() }
    1103 time_le(time, time) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_le() }
    1104 time_gt(time, time) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_gt() }
    1105 time_ge(time, time) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_ge() }
    1107 time_cmp(time, time) -> int4 [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)) as i32 }
    1352 timetz_eq(timetz, timetz) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (compare_timetz(a, b)).is_eq() }
    1353 timetz_ne(timetz, timetz) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (compare_timetz(a, b)).is_ne() }
    1354 timetz_lt(timetz, timetz) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (compare_timetz(a, b)).is_lt() }
    1355 timetz_le(timetz, timetz) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (compare_timetz(a, b)).is_le() }
    1357 timetz_gt(timetz, timetz) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (compare_timetz(a, b)).is_gt() }
    1356 timetz_ge(timetz, timetz) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (compare_timetz(a, b)).is_ge() }
    1358 timetz_cmp(timetz, timetz) -> int4 [immutable strict leakproof] { |a: &[u8], b: &[u8]| (compare_timetz(a, b)) as i32 }
    1377 time_larger(time, time) -> time [immutable strict] { |a: i64, b: i64| a.max(b) }
    1378 time_smaller(time, time) -> time [immutable strict] { |a: i64, b: i64| a.min(b) }
    1379 timetz_larger(timetz, timetz) -> timetz [immutable strict] { |a: &[u8], b: &[u8]| Bytes::new(if compare_timetz(a, b).is_gt() { a } else { b }) }
    1380 timetz_smaller(timetz, timetz) -> timetz [immutable strict] { |a: &[u8], b: &[u8]| Bytes::new(if compare_timetz(a, b).is_lt() { a } else { b }) }
    1688 time_hash(time) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::time, a) }
    3409 time_hash_extended(time, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::time, a, seed) }
    1696 timetz_hash(timetz) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::timetz, a) }
    3410 timetz_hash_extended(timetz, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::timetz, a, seed) }
    1968 time(time, int4) -> time [immutable strict] { |a: i64, typmod: i32| round_micros(a, typmod) }
    1969 timetz(timetz, int4) -> timetz [immutable strict] { |a: &[u8], typmod: i32| { let (time, west) = timetz_parts(a); timetz_datum(round_micros(time, typmod), west) } }
    1316 time(timestamp) -> time [immutable strict] { |a: i64| timestamp::is_finite(a).then(|| a.rem_euclid(DAY)) }
    2019 time(timestamptz) -> time [stable strict] { |cx; a: i64| timestamp::is_finite(a).then(|| timestamp::to_local(a, cx).rem_euclid(DAY)) }
    1419 time(interval) -> time [immutable strict] { |a: Interval| if a.is_finite() { Ok(a.micros.rem_euclid(DAY)) } else { Err(sql_err!(DATETIME_FIELD_OVERFLOW, "cannot convert infinite interval to time")) } }
    2046 time(timetz) -> time [immutable strict] { |a: &[u8]| timetz_parts(a).0 }
    2047 timetz(time) -> timetz [stable strict] { |cx; a: i64| timetz_datum(a, -local_offset(&cx.format.time_zone, cx)) }
    1388 timetz(timestamptz) -> timetz [stable strict] { |cx; a: i64| timestamp::is_finite(a).then(|| timetz_datum(timestamp::to_local(a, cx).rem_euclid(DAY), -cx.format.time_zone.at(a).offset)) }
    1370 interval(time) -> interval [immutable strict leakproof] { |a: i64| Interval { months: 0, days: 0, micros: a } }
    1747 time_pl_interval(time, interval) -> time [immutable strict] { |a: i64, b: Interval| shift(a, &b, 1) }
    1848 interval_pl_time(interval, time) -> time [immutable strict] { |b: Interval, a: i64| shift(a, &b, 1) }
    1748 time_mi_interval(time, interval) -> time [immutable strict] { |a: i64, b: Interval| shift(a, &b, -1) }
    1690 time_mi_time(time, time) -> interval [immutable strict] { |a: i64, b: i64| Interval { months: 0, days: 0, micros: a - b } }
    1749 timetz_pl_interval(timetz, interval) -> timetz [immutable strict] { |a: &[u8], b: Interval| shift_tz(a, &b, 1) }
    2547 interval_pl_timetz(interval, timetz) -> timetz [immutable strict] { |b: Interval, a: &[u8]| shift_tz(a, &b, 1) }
    1750 timetz_mi_interval(timetz, interval) -> timetz [immutable strict] { |a: &[u8], b: Interval| shift_tz(a, &b, -1) }
    3847 make_time(int4, int4, float8) -> time [immutable strict names(&["hour", "min", "sec"])] { |hour: i32, minute: i32, second: f64| make_time(hour, minute, second) }
    2037 timezone(text, timetz) -> timetz [stable strict] { |cx; name: &str, a: &[u8]| zone_offset(cx, name).map(|offset| at_offset(a, offset)) }
    2038 timezone(interval, timetz) -> timetz [immutable strict] { |by: Interval, a: &[u8]| interval_offset(&by).map(|offset| at_offset(a, offset)) }
    6336 timezone(timetz) -> timetz [stable strict] { |cx; a: &[u8]| at_offset(a, local_offset(&cx.format.time_zone, cx)) }
    6200 extract(text, time) -> numeric [immutable strict] { |field: &str, a: i64| crate::extract::of_time(field, a) }
    1385 date_part(text, time) -> float8 [immutable strict] { |field: &str, a: i64| crate::extract::part_of_time(field, a) }
    6201 extract(text, timetz) -> numeric [immutable strict] { |field: &str, a: &[u8]| crate::extract::of_timetz(field, a) }
    1273 date_part(text, timetz) -> float8 [immutable strict] { |field: &str, a: &[u8]| crate::extract::part_of_timetz(field, a) }
    1308 overlaps(time, time, time, time) -> bool [immutable] { |a: Option<i64>, b: Option<i64>, c: Option<i64>, d: Option<i64>| timestamp::overlaps(a, b, c, d) }
    1309 overlaps(time, interval, time, interval) -> bool [immutable] { |a: Option<i64>, b: Option<Interval>, c: Option<i64>, d: Option<Interval>| Ok::<_, SqlError>(timestamp::overlaps(a, end_of(a, b, later)?, c, end_of(c, d, later)?)) }
    1310 overlaps(time, time, time, interval) -> bool [immutable] { |a: Option<i64>, b: Option<i64>, c: Option<i64>, d: Option<Interval>| Ok::<_, SqlError>(timestamp::overlaps(a, b, c, end_of(c, d, later)?)) }
    1311 overlaps(time, interval, time, time) -> bool [immutable] { |a: Option<i64>, b: Option<Interval>, c: Option<i64>, d: Option<i64>| Ok::<_, SqlError>(timestamp::overlaps(a, end_of(a, b, later)?, c, d)) }
}
