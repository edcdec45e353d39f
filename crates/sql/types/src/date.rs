//! `date`: days since 2000-01-01; the ends of the range stand for the infinities.

use base::{SqlError, SqlResult, push_padded, sql_err};
use tuple::Datum;

use crate::registry::types::prelude::*;
use crate::{
    calendar::{DAY, JULIAN_2000, civil_from_days, days_from_civil, days_in_month},
    call::{Call, DateFormat, DateOrder},
    datetime::{self, Failure, Special},
    interval::Interval,
    timestamp,
    value::FromDatum,
};

/// `infinity`
pub const INFINITY: i32 = i32::MAX;
/// `-infinity`
pub const MINUS_INFINITY: i32 = i32::MIN;
/// First day behind the range.
const END: i64 = 2_147_483_494 - JULIAN_2000;

/// Neither of the infinities?
pub fn is_finite(date: i32) -> bool {
    date != INFINITY && date != MINUS_INFINITY
}

#[cold]
fn out_of_range() -> SqlError {
    sql_err!(DATETIME_FIELD_OVERFLOW, "date out of range")
}

/// A stored date from outside, checked.
pub fn check(date: i32) -> SqlResult<i32> {
    let inside = (-JULIAN_2000..END).contains(&i64::from(date));
    if inside || !is_finite(date) { Ok(date) } else { Err(out_of_range()) }
}

/// Reads a date.
pub fn parse(text: &str, cx: &Call) -> SqlResult<i32> {
    let parsed = datetime::read(text, "date", cx)?;
    let days = match parsed.special {
        Some(Special::Infinity) => return Ok(INFINITY),
        Some(Special::MinusInfinity) => return Ok(MINUS_INFINITY),
        Some(Special::Epoch) => days_from_civil(1970, 1, 1),
        Some(special) => {
            let today = local_now(cx).div_euclid(DAY);
            today
                + match special {
                    Special::Tomorrow => 1,
                    Special::Yesterday => -1,
                    _ => 0,
                }
        }
        None => match parsed.date {
            Some((year, month, day)) => days_from_civil(year, month, day),
            None => return Err(Failure::Syntax.error(text, "date")),
        },
    };
    if !(-JULIAN_2000..END).contains(&days) {
        return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "date out of range: \"{text}\""));
    }
    Ok(days as i32)
}

/// The transaction's start in local time.
fn local_now(cx: &Call) -> i64 {
    timestamp::to_local(cx.format.time_of_text(), cx)
}

/// Text in the session's style.
pub fn text(date: i32, cx: &Call) -> String {
    text_of(|out| push(date, cx, out))
}

fn push(date: i32, cx: &Call, out: &mut Vec<u8>) {
    match date {
        INFINITY => return out.extend_from_slice(b"infinity"),
        MINUS_INFINITY => return out.extend_from_slice(b"-infinity"),
        _ => {}
    }
    let civil @ (year, month, day) = civil_from_days(date.into());
    if cx.format.date_format == DateFormat::Postgres {
        let (first, second) =
            if cx.format.date_order == DateOrder::Dmy { (day, month) } else { (month, day) };
        push_parts(&[(first, 2), (second, 2), (shown_year(year), 4)], b'-', out);
    } else {
        push_civil(civil, cx, out);
    }
    out.extend_from_slice(era(year));
}

/// The year as it is written: those before 1 are counted backwards.
pub(crate) fn shown_year(year: i64) -> i64 {
    if year <= 0 { 1 - year } else { year }
}

/// What is written behind a date before the year 1.
pub(crate) fn era(year: i64) -> &'static [u8] {
    if year <= 0 { b" BC" } else { b"" }
}

/// Appends year, month and day in the session's style, but for `Postgres`, which writes dates and timestamps in ways of their own.
pub(crate) fn push_civil((year, month, day): (i64, i64, i64), cx: &Call, out: &mut Vec<u8>) {
    let year = (shown_year(year), 4);
    let (month, day) = ((month, 2), (day, 2));
    match cx.format.date_format {
        DateFormat::Iso | DateFormat::Postgres => push_parts(&[year, month, day], b'-', out),
        DateFormat::German => push_parts(&[day, month, year], b'.', out),
        DateFormat::Sql if cx.format.date_order == DateOrder::Dmy => {
            push_parts(&[day, month, year], b'/', out);
        }
        DateFormat::Sql => push_parts(&[month, day, year], b'/', out),
    }
}

/// Appends numbers, each with at least so many digits.
fn push_parts(parts: &[(i64, usize); 3], between: u8, out: &mut Vec<u8>) {
    for (n, (part, width)) in parts.iter().enumerate() {
        if n > 0 {
            out.push(between);
        }
        push_padded(out, *part as u64, *width);
    }
}

/// Midnight of a date; an error when no timestamp has it.
pub fn to_timestamp(date: i32) -> SqlResult<i64> {
    match date {
        INFINITY => Ok(timestamp::INFINITY),
        MINUS_INFINITY => Ok(timestamp::MINUS_INFINITY),
        _ => timestamp::check(i64::from(date).checked_mul(DAY).ok_or_else(date_for_timestamp)?)
            .map_err(|_| date_for_timestamp()),
    }
}

fn date_for_timestamp() -> SqlError {
    sql_err!(DATETIME_FIELD_OVERFLOW, "date out of range for timestamp")
}

/// Local midnight of a date in UTC.
fn to_timestamptz(date: i32, cx: &Call) -> SqlResult<i64> {
    if !is_finite(date) {
        return to_timestamp(date);
    }
    timestamp::from_local(to_timestamp(date)?, cx)
}

/// The date of a timestamp.
pub fn from_timestamp(ts: i64) -> i32 {
    match ts {
        timestamp::INFINITY => INFINITY,
        timestamp::MINUS_INFINITY => MINUS_INFINITY,
        _ => ts.div_euclid(DAY) as i32,
    }
}

/// A date compared with a moment: one beyond the range of timestamps lies between the last and infinity.
fn compare_moment(date: SqlResult<i64>, ts: i64, late: bool) -> std::cmp::Ordering {
    match date {
        Ok(date) => date.cmp(&ts),
        Err(_) if late && ts != timestamp::INFINITY => std::cmp::Ordering::Greater,
        Err(_) if !late && ts == timestamp::MINUS_INFINITY => std::cmp::Ordering::Greater,
        Err(_) => std::cmp::Ordering::Less,
    }
}

fn compare_timestamp(date: i32, ts: i64) -> std::cmp::Ordering {
    compare_moment(to_timestamp(date), ts, date > 0)
}

/// Order of a date and a timestamp.
pub(crate) fn compare_date_timestamp(date: &Datum, ts: &Datum) -> std::cmp::Ordering {
    compare_timestamp(i32::from_datum(date), i64::from_datum(ts))
}

fn compare_timestamptz(date: i32, ts: i64, cx: &Call) -> std::cmp::Ordering {
    compare_moment(to_timestamptz(date, cx), ts, date > 0)
}

fn add_days(date: i32, days: i64) -> SqlResult<i32> {
    if !is_finite(date) {
        return Ok(date);
    }
    let sum = i64::from(date) + days;
    if (-JULIAN_2000..END).contains(&sum) { Ok(sum as i32) } else { Err(out_of_range()) }
}

fn sub_dates(a: i32, b: i32) -> SqlResult<i32> {
    if !is_finite(a) || !is_finite(b) {
        return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "cannot subtract infinite dates"));
    }
    Ok(a.wrapping_sub(b))
}

fn make_date(year: i32, month: i32, day: i32) -> SqlResult<i32> {
    let bad =
        || sql_err!(DATETIME_FIELD_OVERFLOW, "date field value out of range: {year}-{month:02}-{day:02}");
    let civil = if year < 0 { i64::from(year) + 1 } else { i64::from(year) };
    let (m, d) = (i64::from(month), i64::from(day));
    if year == 0 || !(1..=12).contains(&m) || d < 1 || d > days_in_month(civil, m) {
        return Err(bad());
    }
    let days = days_from_civil(civil, m, d);
    if !(-JULIAN_2000..END).contains(&days) {
        return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "date out of range: {year}-{month:02}-{day:02}"));
    }
    Ok(days as i32)
}

/// Date and time of day as a timestamp.
fn with_time(date: i32, time: i64) -> SqlResult<i64> {
    let midnight = to_timestamp(date)?;
    if !is_finite(date) { Ok(midnight) } else { timestamp::check(midnight.saturating_add(time)) }
}

/// A day and a time in its zone.
fn with_zoned_time(date: i32, time: &[u8]) -> SqlResult<i64> {
    let (time, west) = crate::time::timetz_parts(time);
    let midnight = to_timestamp(date)?;
    if !is_finite(date) {
        return Ok(midnight);
    }
    timestamp::check(midnight.saturating_add(time).saturating_add(i64::from(west) * 1_000_000))
}

/// A day.
pub(crate) static DATE: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_date,
        io: [Oid(1084), Oid(1085), Oid(2468), Oid(2469)],
        ..TypeInfo::new(oids::date, "date", b'D', Physical::Int4)
    }),
    input: |_, text, _, cx| Ok(Datum::Int4(parse(text, cx)?)),
    output: |_, value, cx, out| {
        push(i32::from_datum(value), cx, out);
        Ok(())
    },
    receive: |_, reader, _, _| Ok(Datum::Int4(check(reader.i32()?)?)),
    orders_with: &[(oids::timestamp, compare_date_timestamp)],
    ..crate::compare::INTEGERS
};

functions! {
    1084 date_in(cstring) -> date [stable strict] { input date }
    1085 date_out(date) -> cstring [stable strict] { output date }
    2468 date_recv(internal) -> date [immutable strict] { receive date }
    2469 date_send(date) -> bytea [immutable strict] { send date }
    1086 date_eq(date, date) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_eq() }
    1091 date_ne(date, date) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_ne() }
    1087 date_lt(date, date) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_lt() }
    1088 date_le(date, date) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_le() }
    1089 date_gt(date, date) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_gt() }
    1090 date_ge(date, date) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_ge() }
    1092 date_cmp(date, date) -> int4 [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)) as i32 }
    2340 date_eq_timestamp(date, timestamp) -> bool [immutable strict] { |a: i32, b: i64| (compare_timestamp(a, b)).is_eq() }
    2343 date_ne_timestamp(date, timestamp) -> bool [immutable strict] { |a: i32, b: i64| (compare_timestamp(a, b)).is_ne() }
    2338 date_lt_timestamp(date, timestamp) -> bool [immutable strict] { |a: i32, b: i64| (compare_timestamp(a, b)).is_lt() }
    2339 date_le_timestamp(date, timestamp) -> bool [immutable strict] { |a: i32, b: i64| (compare_timestamp(a, b)).is_le() }
    2341 date_gt_timestamp(date, timestamp) -> bool [immutable strict] { |a: i32, b: i64| (compare_timestamp(a, b)).is_gt() }
    2342 date_ge_timestamp(date, timestamp) -> bool [immutable strict] { |a: i32, b: i64| (compare_timestamp(a, b)).is_ge() }
    2344 date_cmp_timestamp(date, timestamp) -> int4 [immutable strict] { |a: i32, b: i64| (compare_timestamp(a, b)) as i32 }
    2366 timestamp_eq_date(timestamp, date) -> bool [immutable strict] { |a: i64, b: i32| (compare_timestamp(b, a).reverse()).is_eq() }
    2369 timestamp_ne_date(timestamp, date) -> bool [immutable strict] { |a: i64, b: i32| (compare_timestamp(b, a).reverse()).is_ne() }
    2364 timestamp_lt_date(timestamp, date) -> bool [immutable strict] { |a: i64, b: i32| (compare_timestamp(b, a).reverse()).is_lt() }
    2365 timestamp_le_date(timestamp, date) -> bool [immutable strict] { |a: i64, b: i32| (compare_timestamp(b, a).reverse()).is_le() }
    2367 timestamp_gt_date(timestamp, date) -> bool [immutable strict] { |a: i64, b: i32| (compare_timestamp(b, a).reverse()).is_gt() }
    2368 timestamp_ge_date(timestamp, date) -> bool [immutable strict] { |a: i64, b: i32| (compare_timestamp(b, a).reverse()).is_ge() }
    2370 timestamp_cmp_date(timestamp, date) -> int4 [immutable strict] { |a: i64, b: i32| (compare_timestamp(b, a).reverse()) as i32 }
    2353 date_eq_timestamptz(date, timestamptz) -> bool [stable strict] { |cx; a: i32, b: i64| (compare_timestamptz(a, b, cx)).is_eq() }
    2356 date_ne_timestamptz(date, timestamptz) -> bool [stable strict] { |cx; a: i32, b: i64| (compare_timestamptz(a, b, cx)).is_ne() }
    2351 date_lt_timestamptz(date, timestamptz) -> bool [stable strict] { |cx; a: i32, b: i64| (compare_timestamptz(a, b, cx)).is_lt() }
    2352 date_le_timestamptz(date, timestamptz) -> bool [stable strict] { |cx; a: i32, b: i64| (compare_timestamptz(a, b, cx)).is_le() }
    2354 date_gt_timestamptz(date, timestamptz) -> bool [stable strict] { |cx; a: i32, b: i64| (compare_timestamptz(a, b, cx)).is_gt() }
    2355 date_ge_timestamptz(date, timestamptz) -> bool [stable strict] { |cx; a: i32, b: i64| (compare_timestamptz(a, b, cx)).is_ge() }
    2357 date_cmp_timestamptz(date, timestamptz) -> int4 [stable strict] { |cx; a: i32, b: i64| (compare_timestamptz(a, b, cx)) as i32 }
    2379 timestamptz_eq_date(timestamptz, date) -> bool [stable strict] { |cx; a: i64, b: i32| (compare_timestamptz(b, a, cx).reverse()).is_eq() }
    2382 timestamptz_ne_date(timestamptz, date) -> bool [stable strict] { |cx; a: i64, b: i32| (compare_timestamptz(b, a, cx).reverse()).is_ne() }
    2377 timestamptz_lt_date(timestamptz, date) -> bool [stable strict] { |cx; a: i64, b: i32| (compare_timestamptz(b, a, cx).reverse()).is_lt() }
    2378 timestamptz_le_date(timestamptz, date) -> bool [stable strict] { |cx; a: i64, b: i32| (compare_timestamptz(b, a, cx).reverse()).is_le() }
    2380 timestamptz_gt_date(timestamptz, date) -> bool [stable strict] { |cx; a: i64, b: i32| (compare_timestamptz(b, a, cx).reverse()).is_gt() }
    2381 timestamptz_ge_date(timestamptz, date) -> bool [stable strict] { |cx; a: i64, b: i32| (compare_timestamptz(b, a, cx).reverse()).is_ge() }
    2383 timestamptz_cmp_date(timestamptz, date) -> int4 [stable strict] { |cx; a: i64, b: i32| (compare_timestamptz(b, a, cx).reverse()) as i32 }
    1138 date_larger(date, date) -> date [immutable strict] { |a: i32, b: i32| a.max(b) }
    1139 date_smaller(date, date) -> date [immutable strict] { |a: i32, b: i32| a.min(b) }
    6415 hashdate(date) -> int4 [immutable strict] { |a: &tuple::Datum| crate::hashing::hash32(crate::oids::date, a) }
    6416 hashdateextended(date, int8) -> int8 [immutable strict] { |a: &tuple::Datum, seed: i64| crate::hashing::hash64(crate::oids::date, a, seed) }
    1140 date_mi(date, date) -> int4 [immutable strict] { |a: i32, b: i32| sub_dates(a, b) }
    1141 date_pli(date, int4) -> date [immutable strict] { |a: i32, days: i32| add_days(a, days.into()) }
    2550 integer_pl_date(int4, date) -> date [immutable strict] { |days: i32, a: i32| add_days(a, days.into()) }
    1142 date_mii(date, int4) -> date [immutable strict] { |a: i32, days: i32| add_days(a, -i64::from(days)) }
    2071 date_pl_interval(date, interval) -> timestamp [immutable strict] { |a: i32, b: Interval| timestamp::add_interval(to_timestamp(a)?, &b) }
    2546 interval_pl_date(interval, date) -> timestamp [immutable strict] { |b: Interval, a: i32| timestamp::add_interval(to_timestamp(a)?, &b) }
    2072 date_mi_interval(date, interval) -> timestamp [immutable strict] { |a: i32, b: Interval| timestamp::sub_interval(to_timestamp(a)?, &b) }
    1272 datetime_pl(date, time) -> timestamp [immutable strict] { |a: i32, time: i64| with_time(a, time) }
    1297 datetimetz_pl(date, timetz) -> timestamptz [immutable strict] { |a: i32, time: &[u8]| with_zoned_time(a, time) }
    1298 timetzdate_pl(timetz, date) -> timestamptz [immutable strict] { |time: &[u8], a: i32| with_zoned_time(a, time) }
    1359 timestamptz(date, timetz) -> timestamptz [immutable strict] { |a: i32, time: &[u8]| with_zoned_time(a, time) }
    1296 timedate_pl(time, date) -> timestamp [immutable strict] { |time: i64, a: i32| with_time(a, time) }
    2025 timestamp(date, time) -> timestamp [immutable strict] { |a: i32, time: i64| with_time(a, time) }
    2024 timestamp(date) -> timestamp [immutable strict] { |a: i32| to_timestamp(a) }
    1174 timestamptz(date) -> timestamptz [stable strict] { |cx; a: i32| to_timestamptz(a, cx) }
    1176 timestamptz(date, time) -> timestamptz [stable strict] { |cx; a: i32, time: i64| if is_finite(a) { timestamp::from_local(with_time(a, time)?, cx) } else { to_timestamp(a) } }
    2029 date(timestamp) -> date [immutable strict] { |a: i64| from_timestamp(a) }
    1178 date(timestamptz) -> date [stable strict] { |cx; a: i64| from_timestamp(timestamp::to_local(a, cx)) }
    1373 isfinite(date) -> bool [immutable strict] { |a: i32| is_finite(a) }
    3846 make_date(int4, int4, int4) -> date [immutable strict names(&["year", "month", "day"])] { |year: i32, month: i32, day: i32| make_date(year, month, day) }
    6199 extract(text, date) -> numeric [immutable strict] { |field: &str, a: i32| crate::extract::of_date(field, a) }
    1384 date_part(text, date) -> float8 [immutable strict] { |field: &str, a: i32| crate::extract::part_of_date(field, a) }
}
