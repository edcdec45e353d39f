//! `extract`, `date_part`, `date_trunc`.

use base::{SqlError, SqlResult, sql_err};

use crate::{
    calendar::{
        DAY, Fields, HOUR, JULIAN_2000, MINUTE, SECOND, civil_from_days, day_of_year, days_from_civil,
        iso_week, iso_week_start, weekday,
    },
    call::Call,
    date,
    interval::Interval,
    numeric::Numeric,
    time::timetz_parts,
    timestamp::{self, EPOCH},
    timezone::TimeZone,
};

/// A field's value before it is shown: an integer, or micro-units with a number of decimals.
enum Value {
    Whole(i64),
    Micros(i128, i32),
    /// Julian days and microseconds of a day.
    Julian(i64, i64),
    Infinite(bool),
    /// Infinity has no such field.
    Null,
}

impl Value {
    fn numeric(self) -> SqlResult<Option<Numeric>> {
        Ok(Some(match self {
            Value::Whole(n) => Numeric::from_i64(n),
            Value::Micros(n, decimals) => {
                let unit = Numeric::from_i128(10i128.pow(decimals as u32));
                Numeric::from_i128(n).div_rounded(&unit, decimals)
            }
            Value::Julian(day, micros) => {
                let part = Numeric::from_i64(micros).div(&Numeric::from_i64(DAY))?;
                Numeric::from_i64(day).add(&part)
            }
            Value::Infinite(negative) => Numeric::infinity(negative),
            Value::Null => return Ok(None),
        }))
    }

    fn float(self) -> Option<f64> {
        Some(match self {
            Value::Whole(n) => n as f64,
            Value::Micros(n, decimals) => n as f64 / 10f64.powi(decimals),
            Value::Julian(day, micros) => day as f64 + micros as f64 / DAY as f64,
            Value::Infinite(true) => f64::NEG_INFINITY,
            Value::Infinite(false) => f64::INFINITY,
            Value::Null => return None,
        })
    }
}

fn unknown(field: &str, type_name: &str) -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "unit \"{field}\" not recognized for type {type_name}")
}

fn unsupported(field: &str, type_name: &str) -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "unit \"{field}\" not supported for type {type_name}")
}

/// The field's canonical name; `None` for no field.
fn canonical(field: &str) -> Option<&'static str> {
    let lower = field.to_ascii_lowercase();
    Some(match lower.as_str() {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" | "microsecond" | "microseconds" => {
            "microseconds"
        }
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecon" | "millisecond" | "milliseconds" => {
            "milliseconds"
        }
        "s" | "sec" | "secs" | "second" | "seconds" => "second",
        "m" | "min" | "mins" | "minute" | "minutes" => "minute",
        "h" | "hr" | "hrs" | "hour" | "hours" => "hour",
        "d" | "day" | "days" => "day",
        "w" | "week" | "weeks" => "week",
        "mon" | "mons" | "month" | "months" => "month",
        "qtr" | "quarter" => "quarter",
        "y" | "yr" | "yrs" | "year" | "years" => "year",
        "dec" | "decs" | "decade" | "decades" => "decade",
        "c" | "cent" | "century" | "centuries" => "century",
        "mil" | "mils" | "millennia" | "millennium" => "millennium",
        "dow" => "dow",
        "isodow" => "isodow",
        "doy" => "doy",
        "isoyear" => "isoyear",
        "epoch" => "epoch",
        "julian" | "jd" | "j" => "julian",
        "timezone" => "timezone",
        "timezone_h" | "timezone_hour" => "timezone_hour",
        "timezone_m" | "timezone_minute" => "timezone_minute",
        _ => return None,
    })
}

/// Fields that time of day has.
fn time_field(name: &str, f: &Fields) -> Option<Value> {
    Some(match name {
        "microseconds" => Value::Whole(f.second * SECOND + f.micros),
        "milliseconds" => Value::Micros((f.second * SECOND + f.micros).into(), 3),
        "second" => Value::Micros((f.second * SECOND + f.micros).into(), 6),
        "minute" => Value::Whole(f.minute),
        "hour" => Value::Whole(f.hour),
        _ => return None,
    })
}

/// Fields that a date has.
fn date_field(name: &str, f: &Fields) -> Option<Value> {
    let days = f.days();
    Some(Value::Whole(match name {
        "day" => f.day,
        "month" => f.month,
        "quarter" => (f.month - 1) / 3 + 1,
        "week" => iso_week(days).1,
        "year" => f.shown_year(),
        "isoyear" => {
            let (year, _) = iso_week(days);
            if year <= 0 { year - 1 } else { year }
        }
        "decade" => f.year.div_euclid(10),
        "century" => {
            if f.year > 0 {
                (f.year + 99) / 100
            } else {
                -((99 - (f.year - 1)) / 100)
            }
        }
        "millennium" => {
            if f.year > 0 {
                (f.year + 999) / 1000
            } else {
                -((999 - (f.year - 1)) / 1000)
            }
        }
        "dow" => weekday(days),
        "isodow" => (weekday(days) + 6) % 7 + 1,
        "doy" => day_of_year(f.year, days),
        _ => return None,
    }))
}

fn infinite(name: &str, negative: bool) -> Value {
    match name {
        "year" | "decade" | "century" | "millennium" | "julian" | "isoyear" | "epoch" => {
            Value::Infinite(negative)
        }
        _ => Value::Null,
    }
}

fn moment(field: &str, ts: i64, utc: i64, offset: Option<i32>, type_name: &str) -> SqlResult<Value> {
    let name = canonical(field).ok_or_else(|| unknown(field, type_name))?;
    if !timestamp::is_finite(utc) {
        return Ok(infinite(name, utc < 0));
    }
    let f = Fields::of(ts);
    if let Some(value) = time_field(name, &f).or_else(|| date_field(name, &f)) {
        return Ok(value);
    }
    match (name, offset) {
        ("epoch", _) => Ok(Value::Micros(i128::from(utc) - i128::from(EPOCH), 6)),
        ("julian", _) => Ok(Value::Julian(f.days() + JULIAN_2000, f.time())),
        ("timezone", Some(offset)) => Ok(Value::Whole(offset.into())),
        ("timezone_hour", Some(offset)) => Ok(Value::Whole((offset / 3600).into())),
        ("timezone_minute", Some(offset)) => Ok(Value::Whole((offset / 60 % 60).into())),
        _ => Err(unsupported(field, type_name)),
    }
}

fn timestamp_value(field: &str, ts: i64) -> SqlResult<Value> {
    moment(field, ts, ts, None, "timestamp without time zone")
}

fn timestamptz_value(field: &str, ts: i64, cx: &Call) -> SqlResult<Value> {
    let offset = if timestamp::is_finite(ts) { cx.format.time_zone.at(ts).offset } else { 0 };
    moment(field, timestamp::to_local(ts, cx), ts, Some(offset), "timestamp with time zone")
}

fn date_value(field: &str, value: i32) -> SqlResult<Value> {
    let name = canonical(field).ok_or_else(|| unknown(field, "date"))?;
    let of_time = matches!(name, "microseconds" | "milliseconds" | "second" | "minute" | "hour")
        || name.starts_with("timezone");
    if of_time {
        return Err(unsupported(field, "date"));
    }
    if !date::is_finite(value) {
        return Ok(infinite(name, value < 0));
    }
    let days = i64::from(value);
    let (year, month, day) = civil_from_days(days);
    let f = Fields { year, month, day, hour: 0, minute: 0, second: 0, micros: 0 };
    match name {
        "epoch" => Ok(Value::Whole((days - days_from_civil(1970, 1, 1)) * 86_400)),
        "julian" => Ok(Value::Whole(days + JULIAN_2000)),
        _ => date_field(name, &f).ok_or_else(|| unsupported(field, "date")),
    }
}

fn time_value(field: &str, time: i64) -> SqlResult<Value> {
    let type_name = "time without time zone";
    let name = canonical(field).ok_or_else(|| unknown(field, type_name))?;
    if name == "epoch" {
        return Ok(Value::Micros(time.into(), 6));
    }
    time_field(name, &Fields::of_time(time)).ok_or_else(|| unsupported(field, type_name))
}

fn timetz_value(field: &str, bytes: &[u8]) -> SqlResult<Value> {
    let type_name = "time with time zone";
    let (time, west) = timetz_parts(bytes);
    let name = canonical(field).ok_or_else(|| unknown(field, type_name))?;
    Ok(match name {
        "epoch" => Value::Micros(i128::from(time) + i128::from(west) * i128::from(SECOND), 6),
        "timezone" => Value::Whole(-i64::from(west)),
        "timezone_hour" => Value::Whole((-west / 3600).into()),
        "timezone_minute" => Value::Whole((-west / 60 % 60).into()),
        _ => return time_field(name, &Fields::of_time(time)).ok_or_else(|| unsupported(field, type_name)),
    })
}

fn interval_value(field: &str, value: &Interval) -> SqlResult<Value> {
    let name = canonical(field).ok_or_else(|| unknown(field, "interval"))?;
    let supported = matches!(
        name,
        "microseconds"
            | "milliseconds"
            | "second"
            | "minute"
            | "hour"
            | "day"
            | "week"
            | "month"
            | "quarter"
            | "year"
            | "decade"
            | "century"
            | "millennium"
            | "epoch"
    );
    if !supported {
        return Err(unsupported(field, "interval"));
    }
    if !value.is_finite() {
        let negative = value.micros < 0;
        return Ok(match name {
            "hour" | "day" | "year" | "decade" | "century" | "millennium" | "epoch" => {
                Value::Infinite(negative)
            }
            _ => Value::Null,
        });
    }
    let months = i64::from(value.months);
    let seconds = value.micros % MINUTE;
    Ok(match name {
        "microseconds" => Value::Whole(seconds),
        "milliseconds" => Value::Micros(seconds.into(), 3),
        "second" => Value::Micros(seconds.into(), 6),
        "minute" => Value::Whole(value.micros / MINUTE % 60),
        "hour" => Value::Whole(value.micros / HOUR),
        "day" => Value::Whole(value.days.into()),
        "week" => Value::Whole((value.days / 7).into()),
        "month" => Value::Whole(months % 12),
        "quarter" if months % 12 < 0 => Value::Whole(-(-(months % 12) / 3 + 1)),
        "quarter" => Value::Whole(months % 12 / 3 + 1),
        "year" => Value::Whole(months / 12),
        "decade" => Value::Whole(months / 120),
        "century" => Value::Whole(months / 1200),
        "millennium" => Value::Whole(months / 12_000),
        _ => {
            // A year counts 365.25 days, a month 30.
            let quarter_days =
                i128::from(months / 12) * 1461 + (i128::from(months % 12) * 30 + i128::from(value.days)) * 4;
            Value::Micros(quarter_days * i128::from(DAY / 4) + i128::from(value.micros), 6)
        }
    })
}

macro_rules! pair {
    ($extract:ident, $part:ident, $value:ident, ($($arg:ident : $ty:ty),*), $doc:literal) => {
        #[doc = concat!("`extract` from a ", $doc, ".")]
        pub fn $extract(field: &str, $($arg: $ty),*) -> SqlResult<Option<Numeric>> {
            $value(field, $($arg),*)?.numeric()
        }

        #[doc = concat!("`date_part` of a ", $doc, ".")]
        pub fn $part(field: &str, $($arg: $ty),*) -> SqlResult<Option<f64>> {
            Ok($value(field, $($arg),*)?.float())
        }
    };
}

pair!(of_timestamp, part_of_timestamp, timestamp_value, (ts: i64), "`timestamp`");
pair!(of_timestamptz, part_of_timestamptz, timestamptz_value, (ts: i64, cx: &Call), "`timestamptz`");
/// `extract` from a `date`.
pub fn of_date(field: &str, value: i32) -> SqlResult<Option<Numeric>> {
    date_value(field, value)?.numeric()
}

/// `date_part` of a `date`: of its midnight, so that times have a value.
pub fn part_of_date(field: &str, value: i32) -> SqlResult<Option<f64>> {
    part_of_timestamp(field, date::to_timestamp(value)?)
}

pair!(of_time, part_of_time, time_value, (time: i64), "`time`");
pair!(of_timetz, part_of_timetz, timetz_value, (bytes: &[u8]), "`timetz`");
pair!(of_interval, part_of_interval, interval_value, (value: &Interval), "`interval`");

/// Cuts a local moment to a unit.
pub fn truncate(unit: &str, ts: i64, type_name: &str) -> SqlResult<i64> {
    let name = canonical(unit).ok_or_else(|| unknown(unit, type_name))?;
    let f = Fields::of(ts);
    let midnight = |year: i64, month: i64| days_from_civil(year, month, 1) * DAY;
    // The first year of a period of `n` years that begins with year 1.
    let period = |n: i64| (f.year - 1).div_euclid(n) * n + 1;
    let supported = !matches!(name, "dow" | "isodow" | "doy" | "isoyear" | "epoch" | "julian")
        && !name.starts_with("timezone");
    if !supported {
        return Err(unsupported(unit, type_name));
    }
    if !timestamp::is_finite(ts) {
        return Ok(ts);
    }
    let cut = match name {
        "microseconds" => ts,
        "milliseconds" => ts.div_euclid(1000) * 1000,
        "second" => ts.div_euclid(SECOND) * SECOND,
        "minute" => ts.div_euclid(MINUTE) * MINUTE,
        "hour" => ts.div_euclid(HOUR) * HOUR,
        "day" => ts.div_euclid(DAY) * DAY,
        "week" => {
            let (year, week) = iso_week(f.days());
            iso_week_start(year, week) * DAY
        }
        "month" => midnight(f.year, f.month),
        "quarter" => midnight(f.year, (f.month - 1) / 3 * 3 + 1),
        "year" => midnight(f.year, 1),
        "decade" => midnight(f.year.div_euclid(10) * 10, 1),
        "century" => midnight(period(100), 1),
        _ => midnight(period(1000), 1),
    };
    timestamp::check(cut)
}

/// Cuts a moment to a unit of a zone's local time.
pub fn truncate_zone(unit: &str, ts: i64, zone: &TimeZone) -> SqlResult<i64> {
    if !timestamp::is_finite(ts) {
        return truncate(unit, ts, "timestamp with time zone");
    }
    let offset = zone.at(ts).offset;
    let local = truncate(unit, ts + i64::from(offset) * SECOND, "timestamp with time zone")?;
    // Within a day the offset holds; from days on the local time decides.
    let within =
        matches!(canonical(unit), Some("microseconds" | "milliseconds" | "second" | "minute" | "hour"));
    let offset = if within { offset } else { zone.offset_of_local(local) };
    timestamp::check(local - i64::from(offset) * SECOND)
}

/// Cuts an interval to a unit.
pub fn truncate_interval(unit: &str, value: &Interval) -> SqlResult<Interval> {
    let name = canonical(unit).ok_or_else(|| unknown(unit, "interval"))?;
    if !value.is_finite() {
        return Ok(*value);
    }
    let months = |n: i32| Interval { months: value.months / n * n, days: 0, micros: 0 };
    let time = |n: i64| Interval { micros: value.micros / n * n, ..*value };
    Ok(match name {
        "millennium" => months(12_000),
        "century" => months(1200),
        "decade" => months(120),
        "year" => months(12),
        "quarter" => months(3),
        "month" => months(1),
        "day" => Interval { micros: 0, ..*value },
        "hour" => time(HOUR),
        "minute" => time(MINUTE),
        "second" => time(SECOND),
        "milliseconds" => time(1000),
        "microseconds" => *value,
        "week" => {
            return Err(unsupported(unit, "interval").detail("Months usually have fractional weeks."));
        }
        "dow" | "isodow" | "doy" | "isoyear" | "epoch" | "julian" => return Err(unknown(unit, "interval")),
        _ => return Err(unsupported(unit, "interval")),
    })
}
