//! `timestamp` and `timestamptz`: microseconds since 2000-01-01, the latter in UTC; the ends of the range stand for the
//! infinities.

use base::{SqlError, SqlResult, push_padded, sql_err};
use tuple::Datum;

use crate::registry::types::prelude::*;
use crate::{
    calendar::{
        DAY, Fields, HOUR, MINUTE, MONTHS, SECOND, UNIX_MICROS, UNIX_SECONDS, WEEKDAYS, civil_from_days,
        days_from_civil, days_in_month, weekday,
    },
    call::{Call, DateFormat, DateOrder},
    date,
    datetime::{self, Failure, Special},
    interval::Interval,
    registry::{SetRows, Values},
    time::{self, push_offset, round_micros},
    timezone::{self, TimeZone, Zone},
    value::FromDatum,
};

/// `infinity`
pub const INFINITY: i64 = i64::MAX;
/// `-infinity`
pub const MINUS_INFINITY: i64 = i64::MIN;
/// First moment: 4714-11-24 BC.
const MIN: i64 = -211_813_488_000_000_000;
/// First moment behind the range: 294277-01-01.
const END: i64 = 9_223_371_331_200_000_000;
/// 1970-01-01
pub const EPOCH: i64 = -UNIX_MICROS;

/// Neither of the infinities?
pub fn is_finite(ts: i64) -> bool {
    ts != INFINITY && ts != MINUS_INFINITY
}

/// `timestamp out of range`
#[cold]
pub fn out_of_range() -> SqlError {
    sql_err!(DATETIME_FIELD_OVERFLOW, "timestamp out of range")
}

/// The moment, if it is inside the range.
pub fn check(ts: i64) -> SqlResult<i64> {
    if (MIN..END).contains(&ts) { Ok(ts) } else { Err(out_of_range()) }
}

/// A moment from outside, checked; the infinities may come.
pub fn receive(ts: i64, typmod: i32) -> SqlResult<i64> {
    if !is_finite(ts) { Ok(ts) } else { check(round_micros(check(ts)?, typmod)) }
}

/// Local time of the session at a moment.
pub fn to_local(ts: i64, cx: &Call) -> i64 {
    if !is_finite(ts) {
        return ts;
    }
    ts + i64::from(cx.format.time_zone.at(ts).offset) * SECOND
}

/// The local time of a moment as a value, which must be in range.
fn to_timestamp(ts: i64, cx: &Call) -> SqlResult<i64> {
    if is_finite(ts) { check(to_local(ts, cx)) } else { Ok(ts) }
}

/// The moment that a local time of the session means.
pub fn from_local(local: i64, cx: &Call) -> SqlResult<i64> {
    from_zone(local, &cx.format.time_zone)
}

fn from_zone(local: i64, zone: &TimeZone) -> SqlResult<i64> {
    if !is_finite(local) {
        return Ok(local);
    }
    timezone::to_utc(local, zone.offset_of_local(local)).map_or_else(|| Err(out_of_range()), check)
}

/// Reads a `timestamp`; a zone is ignored.
pub fn parse(text: &str, typmod: i32, cx: &Call) -> SqlResult<i64> {
    read(text, typmod, cx, false)
}

/// Reads a `timestamptz`.
pub fn parse_tz(text: &str, typmod: i32, cx: &Call) -> SqlResult<i64> {
    read(text, typmod, cx, true)
}

fn read(text: &str, typmod: i32, cx: &Call, with_zone: bool) -> SqlResult<i64> {
    let type_name = if with_zone { "timestamp with time zone" } else { "timestamp" };
    let parsed = datetime::read(text, type_name, cx)?;
    let range = || sql_err!(DATETIME_FIELD_OVERFLOW, "timestamp out of range: \"{text}\"");
    let (mut now, mut today) = (0, 0);
    if matches!(parsed.special, Some(Special::Now | Special::Today | Special::Tomorrow | Special::Yesterday))
    {
        now = cx.format.time_of_text();
        today = to_local(now, cx).div_euclid(DAY);
    }
    let local = match parsed.special {
        Some(Special::Infinity) => return Ok(INFINITY),
        Some(Special::MinusInfinity) => return Ok(MINUS_INFINITY),
        Some(Special::Epoch) => return Ok(EPOCH),
        Some(Special::Now) => {
            return Ok(round_micros(if with_zone { now } else { to_local(now, cx) }, typmod));
        }
        Some(Special::Today) => today * DAY + parsed.time.unwrap_or(0),
        Some(Special::Tomorrow) => (today + 1) * DAY + parsed.time.unwrap_or(0),
        Some(Special::Yesterday) => (today - 1) * DAY + parsed.time.unwrap_or(0),
        None if parsed.date.is_none() => return Err(Failure::Syntax.error(text, type_name)),
        None => parsed.local().ok_or_else(range)?,
    };
    let ts = match (&parsed.zone, with_zone) {
        (_, false) => local,
        (Some(zone), _) => timezone::to_utc(local, zone.offset_of_local(local)).ok_or_else(range)?,
        (None, _) => timezone::to_utc(local, cx.format.time_zone.offset_of_local(local)).ok_or_else(range)?,
    };
    check(ts).map_err(|_| range())?;
    check(round_micros(ts, typmod)).map_err(|_| range())
}

/// Text of a `timestamp` in the session's style.
pub fn text(ts: i64, cx: &Call) -> String {
    text_of(|out| push(ts, cx, out))
}

/// Text of a `timestamptz` in the session's style and zone.
pub fn text_tz(ts: i64, cx: &Call) -> String {
    text_of(|out| push_tz(ts, cx, out))
}

fn push(ts: i64, cx: &Call, out: &mut Vec<u8>) {
    match ts {
        INFINITY => out.extend_from_slice(b"infinity"),
        MINUS_INFINITY => out.extend_from_slice(b"-infinity"),
        _ => push_local(&Fields::of(ts), |_| {}, cx, out),
    }
}

fn push_tz(ts: i64, cx: &Call, out: &mut Vec<u8>) {
    if !is_finite(ts) {
        return push(ts, cx, out);
    }
    let zone = cx.format.time_zone.at(ts);
    let local = Fields::of(ts.saturating_add(i64::from(zone.offset) * SECOND));
    push_local(&local, |out| push_zone(zone, cx, out), cx, out);
}

/// Appends `+01`, or ` CET` in all styles but ISO; an abbreviation that is only an offset again is written as one.
fn push_zone(zone: &timezone::Local, cx: &Call, out: &mut Vec<u8>) {
    let named = zone.abbreviation.starts_with(|c: char| c.is_ascii_alphabetic());
    if cx.format.date_format == DateFormat::Iso || !named {
        return push_offset(zone.offset, out);
    }
    out.push(b' ');
    out.extend_from_slice(zone.abbreviation.as_bytes());
}

/// Appends a local time, with the zone that `push_zone` appends.
fn push_local(f: &Fields, push_zone: impl FnOnce(&mut Vec<u8>), cx: &Call, out: &mut Vec<u8>) {
    if cx.format.date_format == DateFormat::Postgres {
        push_weekday_and_month(f, cx, out);
        time::push(f, out);
        out.push(b' ');
        push_padded(out, date::shown_year(f.year) as u64, 4);
    } else {
        date::push_civil((f.year, f.month, f.day), cx, out);
        out.push(b' ');
        time::push(f, out);
    }
    push_zone(out);
    out.extend_from_slice(date::era(f.year));
}

/// Appends `Wed Feb 29 ` or `Wed 29 Feb `.
fn push_weekday_and_month(f: &Fields, cx: &Call, out: &mut Vec<u8>) {
    let month = MONTHS[f.month as usize - 1].as_bytes();
    out.extend_from_slice(&WEEKDAYS[weekday(f.days()) as usize].as_bytes()[..3]);
    out.push(b' ');
    if cx.format.date_order == DateOrder::Dmy {
        push_padded(out, f.day as u64, 2);
        out.push(b' ');
        out.extend_from_slice(&month[..3]);
    } else {
        out.extend_from_slice(&month[..3]);
        out.push(b' ');
        push_padded(out, f.day as u64, 2);
    }
    out.push(b' ');
}

/// Civil date moved by months, the day cut to the month's length.
fn add_months(local: i64, months: i64) -> SqlResult<i64> {
    if months == 0 {
        return Ok(local);
    }
    let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let (year, month, day) = civil_from_days(days);
    let total = year * 12 + month - 1 + months;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    let days = days_from_civil(year, month, day.min(days_in_month(year, month)));
    days.checked_mul(DAY).and_then(|d| d.checked_add(time)).ok_or_else(out_of_range)
}

/// A time moved by days.
fn plus_days(local: i64, days: i32) -> SqlResult<i64> {
    i64::from(days).checked_mul(DAY).and_then(|by| local.checked_add(by)).ok_or_else(out_of_range)
}

/// Infinite where either side is; `None` where both are finite.
fn infinite_sum(ts: i64, by: &Interval) -> SqlResult<Option<i64>> {
    let by = match (by.is_finite(), by.micros > 0) {
        (true, _) => return Ok((!is_finite(ts)).then_some(ts)),
        (_, true) => INFINITY,
        _ => MINUS_INFINITY,
    };
    if is_finite(ts) || ts == by { Ok(Some(by)) } else { Err(out_of_range()) }
}

/// A `timestamp` moved by months, then days, then microseconds.
pub fn add_interval(ts: i64, by: &Interval) -> SqlResult<i64> {
    if let Some(infinite) = infinite_sum(ts, by)? {
        return Ok(infinite);
    }
    let moved = add_months(ts, by.months.into())?;
    let moved = plus_days(moved, by.days)?;
    check(moved.checked_add(by.micros).ok_or_else(out_of_range)?)
}

/// The opposite of [`add_interval`].
pub fn sub_interval(ts: i64, by: &Interval) -> SqlResult<i64> {
    add_interval(ts, &by.negate_any()?)
}

/// A `timestamptz` moved: months and days keep the local time of the zone.
fn add_interval_zone(ts: i64, by: &Interval, zone: &TimeZone) -> SqlResult<i64> {
    if let Some(infinite) = infinite_sum(ts, by)? {
        return Ok(infinite);
    }
    let mut ts = ts;
    if by.months != 0 || by.days != 0 {
        let local = ts + i64::from(zone.at(ts).offset) * SECOND;
        let moved = add_months(local, by.months.into())?;
        let moved = plus_days(moved, by.days)?;
        ts = from_zone(check(moved)?, zone)?;
    }
    check(ts.checked_add(by.micros).ok_or_else(out_of_range)?)
}

/// A `timestamptz` moved in the session's zone.
pub fn add_interval_tz(cx: &Call, ts: i64, by: &Interval) -> SqlResult<i64> {
    add_interval_zone(ts, by, &cx.format.time_zone)
}

/// Difference as days and microseconds.
fn difference(a: i64, b: i64) -> SqlResult<Interval> {
    if !is_finite(a) || !is_finite(b) {
        return Interval::infinite_difference(sign_of(a), sign_of(b));
    }
    let micros =
        a.checked_sub(b).ok_or_else(|| sql_err!(DATETIME_FIELD_OVERFLOW, "interval out of range"))?;
    Interval { months: 0, days: 0, micros }.justify_hours()
}

fn sign_of(ts: i64) -> i32 {
    match ts {
        INFINITY => 1,
        MINUS_INFINITY => -1,
        _ => 0,
    }
}

/// Difference in years, months, days and time.
fn age(a: i64, b: i64) -> SqlResult<Interval> {
    if !is_finite(a) || !is_finite(b) {
        return Interval::infinite_difference(sign_of(a), sign_of(b));
    }
    if a < b {
        return age(b, a)?.negate();
    }
    let (late, early) = (Fields::of(a), Fields::of(b));
    let mut months = (late.year - early.year) * 12 + late.month - early.month;
    let mut days = late.day - early.day;
    let mut micros = late.time() - early.time();
    if micros < 0 {
        micros += DAY;
        days -= 1;
    }
    if days < 0 {
        // The month of the earlier date gives the days.
        days += days_in_month(early.year, early.month);
        months -= 1;
    }
    Ok(Interval { months: months as i32, days: days as i32, micros })
}

fn age_tz(cx: &Call, a: i64, b: i64) -> SqlResult<Interval> {
    age(to_local(a, cx), to_local(b, cx))
}

/// The zone that a text of `AT TIME ZONE` means.
pub fn zone_of(name: &str, cx: &Call) -> SqlResult<Zone> {
    timezone::abbreviation(name, &cx.format.time_zone, cx.format.abbreviations)
        .or_else(|| TimeZone::named(name).map(Zone::Named))
        .ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "time zone \"{name}\" not recognized"))
}

/// The zone of `make_timestamptz`: numbers have a sign, and count east.
fn made_zone(name: &str, cx: &Call) -> SqlResult<Zone> {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "invalid input syntax for type numeric time zone: \"{name}\""
        )
        .hint("Numeric time zones must have \"-\" or \"+\" as first character."));
    }
    match datetime::numeric_offset(name) {
        None => zone_of(name, cx),
        Some(Some(offset)) => Ok(Zone::Offset(offset)),
        Some(None) => Err(sql_err!(INVALID_PARAMETER_VALUE, "numeric time zone \"{name}\" out of range")),
    }
}

/// Seconds east of UTC that an interval means as a zone.
pub fn interval_zone(by: &Interval) -> SqlResult<i32> {
    if !by.is_finite() {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "interval time zone \"{}\" must be finite",
            by.plain_text()
        ));
    }
    if by.months != 0 || by.days != 0 {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "interval time zone \"{}\" must not include months or days",
            by.plain_text()
        ));
    }
    Ok((by.micros / SECOND) as i32)
}

/// `timestamp AT TIME ZONE`
fn local_to_utc(zone: &Zone, local: i64) -> SqlResult<i64> {
    if !is_finite(local) {
        return Ok(local);
    }
    timezone::to_utc(local, zone.offset_of_local(local)).map_or_else(|| Err(out_of_range()), check)
}

/// `timestamptz AT TIME ZONE`
fn utc_to_local(zone: &Zone, ts: i64) -> SqlResult<i64> {
    if !is_finite(ts) {
        return Ok(ts);
    }
    check(ts.checked_add(i64::from(zone.offset_at(ts)) * SECOND).ok_or_else(out_of_range)?)
}

fn make(year: i32, month: i32, day: i32, hour: i32, minute: i32, second: f64) -> SqlResult<i64> {
    let civil = if year < 0 { i64::from(year) + 1 } else { i64::from(year) };
    let (m, d) = (i64::from(month), i64::from(day));
    if year == 0 || !(1..=12).contains(&m) || d < 1 || d > days_in_month(civil, m) {
        return Err(sql_err!(
            DATETIME_FIELD_OVERFLOW,
            "date field value out of range: {year}-{month:02}-{day:02}"
        ));
    }
    if !(0..=24).contains(&hour) || !(0..60).contains(&minute) || !(0.0..=60.0).contains(&second) {
        return Err(sql_err!(
            DATETIME_FIELD_OVERFLOW,
            "time field value out of range: {hour}:{minute:02}:{}",
            crate::float::general(second, 6)
        ));
    }
    let time = i64::from(hour) * HOUR + i64::from(minute) * MINUTE + (second * 1e6).round() as i64;
    let days = days_from_civil(civil, m, d);
    days.checked_mul(DAY).and_then(|t| t.checked_add(time)).and_then(|t| check(t).ok()).ok_or_else(|| {
        sql_err!(
            DATETIME_FIELD_OVERFLOW,
            "timestamp out of range: {year}-{month:02}-{day:02} {hour}:{minute:02}:{second}"
        )
    })
}

fn from_unix(seconds: f64) -> SqlResult<i64> {
    if seconds.is_nan() {
        return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "timestamp cannot be NaN"));
    }
    if seconds.is_infinite() {
        return Ok(if seconds > 0.0 { INFINITY } else { MINUS_INFINITY });
    }
    let range = || {
        sql_err!(
            DATETIME_FIELD_OVERFLOW,
            "timestamp out of range: \"{}\"",
            crate::float::general(seconds, 17)
        )
    };
    if !(-210_866_803_200.0..9_224_318_016_000.0).contains(&seconds) {
        return Err(range());
    }
    check(((seconds - UNIX_SECONDS as f64) * 1e6).round_ties_even() as i64).map_err(|_| range())
}

/// `(a, b) OVERLAPS (c, d)` where NULLs make one end unknown.
pub fn overlaps<T: PartialOrd + Copy>(
    a: Option<T>,
    b: Option<T>,
    c: Option<T>,
    d: Option<T>,
) -> Option<bool> {
    // Each period in order; an end that is missing stays at the far side.
    let period = |x: Option<T>, y: Option<T>| match (x, y) {
        (None, None) => None,
        (Some(x), None) | (None, Some(x)) => Some((x, None)),
        (Some(x), Some(y)) => Some(if x > y { (y, Some(x)) } else { (x, Some(y)) }),
    };
    let ((start1, end1), (start2, end2)) = (period(a, b)?, period(c, d)?);
    if start1 > start2 {
        return match end2 {
            None => None,
            Some(end2) if start1 < end2 => Some(true),
            Some(_) => end1.map(|_| false),
        };
    }
    if start1 < start2 {
        return match end1 {
            None => None,
            Some(end1) if start2 < end1 => Some(true),
            Some(_) => end2.map(|_| false),
        };
    }
    (end1.is_some() && end2.is_some()).then_some(true)
}

/// A period's end that is told by its length; unknown if either is.
pub(crate) fn end_of<T>(
    start: Option<T>,
    length: Option<Interval>,
    add: impl FnOnce(T, &Interval) -> SqlResult<T>,
) -> SqlResult<Option<T>> {
    start.zip(length).map(|(start, length)| add(start, &length)).transpose()
}

fn series(
    args: &[Datum],
    step: Interval,
    advance: impl Fn(i64, &Interval) -> SqlResult<i64> + 'static,
) -> SqlResult<Box<dyn SetRows>> {
    let sign = step.compare(&Interval { months: 0, days: 0, micros: 0 });
    if !step.is_finite() {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "step size cannot be infinite"));
    }
    if sign.is_eq() {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "step size cannot equal zero"));
    }
    let stop = i64::from_datum(&args[1]);
    let mut next = Some(Ok(i64::from_datum(&args[0])));
    Ok(Box::new(Values(std::iter::from_fn(move || {
        let value = match next.take()? {
            Ok(value) => value,
            Err(e) => return Some(Err(e)),
        };
        if if sign.is_gt() { value > stop } else { value < stop } {
            return None;
        }
        next = Some(advance(value, &step));
        Some(Ok(Datum::Int8(value)))
    }))))
}

fn generate_series(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    series(args, Interval::from_datum(&args[2]), add_interval)
}

fn generate_series_tz(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let zone = match args.get(3) {
        None => cx.format.time_zone.clone(),
        Some(name) => named_zone(<&str>::from_datum(name))?,
    };
    series(args, Interval::from_datum(&args[2]), move |ts, by| add_interval_zone(ts, by, &zone))
}

fn named_zone(name: &str) -> SqlResult<std::sync::Arc<TimeZone>> {
    TimeZone::named(name)
        .ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "time zone \"{name}\" not recognized"))
}

fn time_of_day(cx: &Call) -> String {
    let now = cx.session.clock();
    let local = cx.format.time_zone.at(now);
    let f = Fields::of(now + i64::from(local.offset) * SECOND);
    format!(
        "{} {} {:02} {:02}:{:02}:{:02}.{:06} {:04} {}",
        &WEEKDAYS[weekday(f.days()) as usize][..3],
        &MONTHS[f.month as usize - 1][..3],
        f.day,
        f.hour,
        f.minute,
        f.second,
        f.micros,
        f.year,
        local.abbreviation
    )
}

/// The start of the bin of this width, counted from an origin, that holds the moment.
fn bin(width: &Interval, ts: i64, origin: i64) -> SqlResult<i64> {
    if !is_finite(ts) {
        return Ok(ts);
    }
    if !is_finite(origin) {
        return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "origin out of range"));
    }
    if !width.is_finite() {
        return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "timestamps cannot be binned into infinite intervals"));
    }
    if width.months != 0 {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "timestamps cannot be binned into intervals containing months or years"
        ));
    }
    let stride = i64::from(width.days).checked_mul(DAY).and_then(|d| d.checked_add(width.micros));
    let stride = stride.ok_or_else(|| sql_err!(DATETIME_FIELD_OVERFLOW, "interval out of range"))?;
    if stride <= 0 {
        return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "stride must be greater than zero"));
    }
    let distance =
        ts.checked_sub(origin).ok_or_else(|| sql_err!(DATETIME_FIELD_OVERFLOW, "interval out of range"))?;
    check(origin + distance.div_euclid(stride) * stride)
}

/// A day and a time of day.
pub(crate) static TIMESTAMP: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_timestamp,
        io: [Oid(1312), Oid(1313), Oid(2474), Oid(2475)],
        typmod_io: [Oid(2905), Oid(2906)],
        ..TypeInfo::new(oids::timestamp, "timestamp", b'D', Physical::Int8)
    }),
    input: |_, value, typmod, cx| Ok(Datum::Int8(parse(value, typmod, cx)?)),
    output: |_, value, cx, out| {
        push(i64::from_datum(value), cx, out);
        Ok(())
    },
    receive: |_, reader, typmod, _| Ok(Datum::Int8(receive(reader.i64()?, typmod)?)),
    orders_with: &[(oids::date, |a, b| crate::date::compare_date_timestamp(b, a).reverse())],
    typmod_in: |_, modifiers| crate::time::precision_typmod("TIMESTAMP", "", modifiers),
    typmod_out: |typmod| crate::time::precision_text(typmod, "without time zone"),
    sql_name: "timestamp",
    ..crate::compare::INTEGERS
};

/// A moment, shown in the time zone of the session.
pub(crate) static TIMESTAMPTZ: TypeImp = TypeImp {
    row: Some(TypeInfo {
        preferred: true,
        array: oids::_timestamptz,
        io: [Oid(1150), Oid(1151), Oid(2476), Oid(2477)],
        typmod_io: [Oid(2907), Oid(2908)],
        ..TypeInfo::new(oids::timestamptz, "timestamptz", b'D', Physical::Int8)
    }),
    input: |_, value, typmod, cx| Ok(Datum::Int8(parse_tz(value, typmod, cx)?)),
    output: |_, value, cx, out| {
        push_tz(i64::from_datum(value), cx, out);
        Ok(())
    },
    receive: |_, reader, typmod, _| Ok(Datum::Int8(receive(reader.i64()?, typmod)?)),
    typmod_in: |_, modifiers| crate::time::precision_typmod("TIMESTAMP", " WITH TIME ZONE", modifiers),
    typmod_out: |typmod| crate::time::precision_text(typmod, "with time zone"),
    sql_name: "timestamp",
    ..crate::compare::INTEGERS
};

functions! {
    1150 timestamptz_in(cstring, oid, int4) -> timestamptz [stable strict] { input timestamptz }
    1151 timestamptz_out(timestamptz) -> cstring [stable strict] { output timestamptz }
    1312 timestamp_in(cstring, oid, int4) -> timestamp [stable strict] { input timestamp }
    1313 timestamp_out(timestamp) -> cstring [stable strict] { output timestamp }
    2474 timestamp_recv(internal, oid, int4) -> timestamp [immutable strict] { receive timestamp }
    2475 timestamp_send(timestamp) -> bytea [immutable strict] { send timestamp }
    2476 timestamptz_recv(internal, oid, int4) -> timestamptz [immutable strict] { receive timestamptz }
    2477 timestamptz_send(timestamptz) -> bytea [immutable strict] { send timestamptz }
    2905 timestamptypmodin(_cstring) -> int4 [immutable strict] { typmod_in timestamp }
    2906 timestamptypmodout(int4) -> cstring [immutable strict] { typmod_out timestamp }
    2907 timestamptztypmodin(_cstring) -> int4 [immutable strict] { typmod_in timestamptz }
    2908 timestamptztypmodout(int4) -> cstring [immutable strict] { typmod_out timestamptz }
    2052 timestamp_eq(timestamp, timestamp) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_eq() }
    2053 timestamp_ne(timestamp, timestamp) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_ne() }
    2054 timestamp_lt(timestamp, timestamp) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_lt() }
    2055 timestamp_le(timestamp, timestamp) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_le() }
    2057 timestamp_gt(timestamp, timestamp) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_gt() }
    2056 timestamp_ge(timestamp, timestamp) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_ge() }
    2045 timestamp_cmp(timestamp, timestamp) -> int4 [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)) as i32 }
    1152 timestamptz_eq(timestamptz, timestamptz) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_eq() }
    1153 timestamptz_ne(timestamptz, timestamptz) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_ne() }
    1154 timestamptz_lt(timestamptz, timestamptz) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_lt() }
    1155 timestamptz_le(timestamptz, timestamptz) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_le() }
    1157 timestamptz_gt(timestamptz, timestamptz) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_gt() }
    1156 timestamptz_ge(timestamptz, timestamptz) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_ge() }
    1314 timestamptz_cmp(timestamptz, timestamptz) -> int4 [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)) as i32 }
    2522 timestamp_eq_timestamptz(timestamp, timestamptz) -> bool [stable strict] { |cx; a: i64, b: i64| (from_local(a, cx).unwrap_or(a).cmp(&b)).is_eq() }
    2525 timestamp_ne_timestamptz(timestamp, timestamptz) -> bool [stable strict] { |cx; a: i64, b: i64| (from_local(a, cx).unwrap_or(a).cmp(&b)).is_ne() }
    2520 timestamp_lt_timestamptz(timestamp, timestamptz) -> bool [stable strict] { |cx; a: i64, b: i64| (from_local(a, cx).unwrap_or(a).cmp(&b)).is_lt() }
    2521 timestamp_le_timestamptz(timestamp, timestamptz) -> bool [stable strict] { |cx; a: i64, b: i64| (from_local(a, cx).unwrap_or(a).cmp(&b)).is_le() }
    2523 timestamp_gt_timestamptz(timestamp, timestamptz) -> bool [stable strict] { |cx; a: i64, b: i64| (from_local(a, cx).unwrap_or(a).cmp(&b)).is_gt() }
    2524 timestamp_ge_timestamptz(timestamp, timestamptz) -> bool [stable strict] { |cx; a: i64, b: i64| (from_local(a, cx).unwrap_or(a).cmp(&b)).is_ge() }
    2526 timestamp_cmp_timestamptz(timestamp, timestamptz) -> int4 [stable strict] { |cx; a: i64, b: i64| (from_local(a, cx).unwrap_or(a).cmp(&b)) as i32 }
    2529 timestamptz_eq_timestamp(timestamptz, timestamp) -> bool [stable strict] { |cx; a: i64, b: i64| (a.cmp(&from_local(b, cx).unwrap_or(b))).is_eq() }
    2532 timestamptz_ne_timestamp(timestamptz, timestamp) -> bool [stable strict] { |cx; a: i64, b: i64| (a.cmp(&from_local(b, cx).unwrap_or(b))).is_ne() }
    2527 timestamptz_lt_timestamp(timestamptz, timestamp) -> bool [stable strict] { |cx; a: i64, b: i64| (a.cmp(&from_local(b, cx).unwrap_or(b))).is_lt() }
    2528 timestamptz_le_timestamp(timestamptz, timestamp) -> bool [stable strict] { |cx; a: i64, b: i64| (a.cmp(&from_local(b, cx).unwrap_or(b))).is_le() }
    2530 timestamptz_gt_timestamp(timestamptz, timestamp) -> bool [stable strict] { |cx; a: i64, b: i64| (a.cmp(&from_local(b, cx).unwrap_or(b))).is_gt() }
    2531 timestamptz_ge_timestamp(timestamptz, timestamp) -> bool [stable strict] { |cx; a: i64, b: i64| (a.cmp(&from_local(b, cx).unwrap_or(b))).is_ge() }
    2533 timestamptz_cmp_timestamp(timestamptz, timestamp) -> int4 [stable strict] { |cx; a: i64, b: i64| (a.cmp(&from_local(b, cx).unwrap_or(b))) as i32 }
    2036 timestamp_larger(timestamp, timestamp) -> timestamp [immutable strict] { |a: i64, b: i64| a.max(b) }
    2035 timestamp_smaller(timestamp, timestamp) -> timestamp [immutable strict] { |a: i64, b: i64| a.min(b) }
    1196 timestamptz_larger(timestamptz, timestamptz) -> timestamptz [immutable strict] { |a: i64, b: i64| a.max(b) }
    1195 timestamptz_smaller(timestamptz, timestamptz) -> timestamptz [immutable strict] { |a: i64, b: i64| a.min(b) }
    2039 timestamp_hash(timestamp) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::timestamp, a) }
    3411 timestamp_hash_extended(timestamp, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::timestamp, a, seed) }
    6425 timestamptz_hash(timestamptz) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::timestamptz, a) }
    6426 timestamptz_hash_extended(timestamptz, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::timestamptz, a, seed) }
    1961 timestamp(timestamp, int4) -> timestamp [immutable strict] { |a: i64, typmod: i32| receive(a, typmod) }
    1967 timestamptz(timestamptz, int4) -> timestamptz [immutable strict] { |a: i64, typmod: i32| receive(a, typmod) }
    2027 timestamp(timestamptz) -> timestamp [stable strict] { |cx; a: i64| to_timestamp(a, cx) }
    2028 timestamptz(timestamp) -> timestamptz [stable strict] { |cx; a: i64| from_local(a, cx) }
    2032 timestamp_pl_interval(timestamp, interval) -> timestamp [immutable strict] { |a: i64, b: Interval| add_interval(a, &b) }
    2548 interval_pl_timestamp(interval, timestamp) -> timestamp [immutable strict] { |b: Interval, a: i64| add_interval(a, &b) }
    2033 timestamp_mi_interval(timestamp, interval) -> timestamp [immutable strict] { |a: i64, b: Interval| sub_interval(a, &b) }
    1189 timestamptz_pl_interval(timestamptz, interval) -> timestamptz [stable strict] { |cx; a: i64, b: Interval| add_interval_tz(cx, a, &b) }
    2549 interval_pl_timestamptz(interval, timestamptz) -> timestamptz [stable strict] { |cx; b: Interval, a: i64| add_interval_tz(cx, a, &b) }
    1190 timestamptz_mi_interval(timestamptz, interval) -> timestamptz [stable strict] { |cx; a: i64, b: Interval| add_interval_tz(cx, a, &b.negate_any()?) }
    6221 date_add(timestamptz, interval) -> timestamptz [stable strict] { |cx; a: i64, b: Interval| add_interval_tz(cx, a, &b) }
    6222 date_add(timestamptz, interval, text) -> timestamptz [immutable strict] { |a: i64, b: Interval, zone: &str| add_interval_zone(a, &b, &*named_zone(zone)?) }
    6223 date_subtract(timestamptz, interval) -> timestamptz [stable strict] { |cx; a: i64, b: Interval| add_interval_tz(cx, a, &b.negate_any()?) }
    6273 date_subtract(timestamptz, interval, text) -> timestamptz [immutable strict] { |a: i64, b: Interval, zone: &str| add_interval_zone(a, &b.negate_any()?, &*named_zone(zone)?) }
    2031 timestamp_mi(timestamp, timestamp) -> interval [immutable strict] { |a: i64, b: i64| difference(a, b) }
    1188 timestamptz_mi(timestamptz, timestamptz) -> interval [immutable strict] { |a: i64, b: i64| difference(a, b) }
    2058 age(timestamp, timestamp) -> interval [immutable strict] { |a: i64, b: i64| age(a, b) }
    1199 age(timestamptz, timestamptz) -> interval [immutable strict] { |cx; a: i64, b: i64| age_tz(cx, a, b) }
    2059 age(timestamp) -> interval [stable strict] { |cx; a: i64| age(to_local(cx.format.transaction_time, cx).div_euclid(DAY) * DAY, a) }
    1386 age(timestamptz) -> interval [stable strict] { |cx; a: i64| age(to_local(cx.format.transaction_time, cx).div_euclid(DAY) * DAY, to_local(a, cx)) }
    2048 isfinite(timestamp) -> bool [immutable strict] { |a: i64| is_finite(a) }
    1389 isfinite(timestamptz) -> bool [immutable strict] { |a: i64| is_finite(a) }
    1299 now() -> timestamptz [stable strict] { |cx;| cx.format.transaction_time }
    2647 transaction_timestamp() -> timestamptz [stable strict] { |cx;| cx.format.transaction_time }
    2648 statement_timestamp() -> timestamptz [stable strict] { |cx;| cx.format.statement_time }
    2649 clock_timestamp() -> timestamptz [strict] { |cx;| cx.session.clock() }
    274 timeofday() -> text [strict] { |cx;| time_of_day(cx) }
    1158 to_timestamp(float8) -> timestamptz [immutable strict] { |seconds: f64| from_unix(seconds) }
    3461 make_timestamp(int4, int4, int4, int4, int4, float8) -> timestamp [immutable strict names(&["year", "month", "mday", "hour", "min", "sec"])] { |year: i32, month: i32, day: i32, hour: i32, minute: i32, second: f64| make(year, month, day, hour, minute, second) }
    3462 make_timestamptz(int4, int4, int4, int4, int4, float8) -> timestamptz [stable strict names(&["year", "month", "mday", "hour", "min", "sec"])] { |cx; year: i32, month: i32, day: i32, hour: i32, minute: i32, second: f64| from_local(make(year, month, day, hour, minute, second)?, cx) }
    3463 make_timestamptz(int4, int4, int4, int4, int4, float8, text) -> timestamptz [stable strict names(&["year", "month", "mday", "hour", "min", "sec", "timezone"])] { |cx; year: i32, month: i32, day: i32, hour: i32, minute: i32, second: f64, zone: &str| local_to_utc(&made_zone(zone, cx)?, make(year, month, day, hour, minute, second)?) }
    2069 timezone(text, timestamp) -> timestamptz [immutable strict] { |cx; zone: &str, a: i64| local_to_utc(&zone_of(zone, cx)?, a) }
    1159 timezone(text, timestamptz) -> timestamp [immutable strict] { |cx; zone: &str, a: i64| utc_to_local(&zone_of(zone, cx)?, a) }
    2070 timezone(interval, timestamp) -> timestamptz [immutable strict] { |by: Interval, a: i64| local_to_utc(&Zone::Offset(interval_zone(&by)?), a) }
    1026 timezone(interval, timestamptz) -> timestamp [immutable strict] { |by: Interval, a: i64| utc_to_local(&Zone::Offset(interval_zone(&by)?), a) }
    6335 timezone(timestamp) -> timestamptz [stable strict] { |cx; a: i64| from_local(a, cx) }
    6334 timezone(timestamptz) -> timestamp [stable strict] { |cx; a: i64| to_timestamp(a, cx) }
    6177 date_bin(interval, timestamp, timestamp) -> timestamp [immutable strict] { |width: Interval, a: i64, origin: i64| bin(&width, a, origin) }
    6178 date_bin(interval, timestamptz, timestamptz) -> timestamptz [immutable strict] { |width: Interval, a: i64, origin: i64| bin(&width, a, origin) }
    2041 overlaps(timestamp, timestamp, timestamp, timestamp) -> bool [immutable] { |a: Option<i64>, b: Option<i64>, c: Option<i64>, d: Option<i64>| overlaps(a, b, c, d) }
    1304 overlaps(timestamptz, timestamptz, timestamptz, timestamptz) -> bool [immutable] { |a: Option<i64>, b: Option<i64>, c: Option<i64>, d: Option<i64>| overlaps(a, b, c, d) }
    2042 overlaps(timestamp, interval, timestamp, interval) -> bool [immutable] { |a: Option<i64>, b: Option<Interval>, c: Option<i64>, d: Option<Interval>| Ok::<_, SqlError>(overlaps(a, end_of(a, b, add_interval)?, c, end_of(c, d, add_interval)?)) }
    2043 overlaps(timestamp, timestamp, timestamp, interval) -> bool [immutable] { |a: Option<i64>, b: Option<i64>, c: Option<i64>, d: Option<Interval>| Ok::<_, SqlError>(overlaps(a, b, c, end_of(c, d, add_interval)?)) }
    2044 overlaps(timestamp, interval, timestamp, timestamp) -> bool [immutable] { |a: Option<i64>, b: Option<Interval>, c: Option<i64>, d: Option<i64>| Ok::<_, SqlError>(overlaps(a, end_of(a, b, add_interval)?, c, d)) }
    1305 overlaps(timestamptz, interval, timestamptz, interval) -> bool [stable] { |cx; a: Option<i64>, b: Option<Interval>, c: Option<i64>, d: Option<Interval>| { let add = |t: i64, by: &Interval| add_interval_tz(cx, t, by); Ok::<_, SqlError>(overlaps(a, end_of(a, b, add)?, c, end_of(c, d, add)?)) } }
    1306 overlaps(timestamptz, timestamptz, timestamptz, interval) -> bool [stable] { |cx; a: Option<i64>, b: Option<i64>, c: Option<i64>, d: Option<Interval>| Ok::<_, SqlError>(overlaps(a, b, c, end_of(c, d, |t, by| add_interval_tz(cx, t, by))?)) }
    1307 overlaps(timestamptz, interval, timestamptz, timestamptz) -> bool [stable] { |cx; a: Option<i64>, b: Option<Interval>, c: Option<i64>, d: Option<i64>| Ok::<_, SqlError>(overlaps(a, end_of(a, b, |t, by| add_interval_tz(cx, t, by))?, c, d)) }
    938 generate_series(timestamp, timestamp, interval) -> timestamp [immutable strict returns_set rows(1000.0)] { set generate_series }
    939 generate_series(timestamptz, timestamptz, interval) -> timestamptz [stable strict returns_set rows(1000.0)] { set generate_series_tz }
    6274 generate_series(timestamptz, timestamptz, interval, text) -> timestamptz [immutable strict returns_set rows(1000.0)] { set generate_series_tz }
    6202 extract(text, timestamp) -> numeric [immutable strict] { |field: &str, a: i64| crate::extract::of_timestamp(field, a) }
    2021 date_part(text, timestamp) -> float8 [immutable strict] { |field: &str, a: i64| crate::extract::part_of_timestamp(field, a) }
    6203 extract(text, timestamptz) -> numeric [stable strict] { |cx; field: &str, a: i64| crate::extract::of_timestamptz(field, a, cx) }
    1171 date_part(text, timestamptz) -> float8 [stable strict] { |cx; field: &str, a: i64| crate::extract::part_of_timestamptz(field, a, cx) }
    2020 date_trunc(text, timestamp) -> timestamp [immutable strict] { |unit: &str, a: i64| crate::extract::truncate(unit, a, "timestamp without time zone") }
    1217 date_trunc(text, timestamptz) -> timestamptz [stable strict] { |cx; unit: &str, a: i64| crate::extract::truncate_zone(unit, a, &cx.format.time_zone) }
    1284 date_trunc(text, timestamptz, text) -> timestamptz [immutable strict] { |unit: &str, a: i64, zone: &str| crate::extract::truncate_zone(unit, a, &*named_zone(zone)?) }
}
