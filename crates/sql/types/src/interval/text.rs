//! Text forms of intervals, and the type modifier.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    calendar::{DAY, HOUR, MINUTE, SECOND},
    call::{Call, IntervalStyle},
    datetime::fraction_micros,
    time::fraction,
    value::IntoDatum,
};

use super::{Interval, out_of_range};

fn syntax(text: &str) -> SqlError {
    sql_err!(INVALID_DATETIME_FORMAT, "invalid input syntax for type interval: \"{text}\"")
}

fn field_range(text: &str) -> SqlError {
    sql_err!(INTERVAL_FIELD_OVERFLOW, "interval field value out of range: \"{text}\"")
}

/// The bits of a field list in a modifier, as PostgreSQL numbers them.
const YEAR: i32 = 1 << 2;
const MONTH: i32 = 1 << 1;
const DAYS: i32 = 1 << 3;
const HOURS: i32 = 1 << 10;
const MINUTES: i32 = 1 << 11;
const SECONDS: i32 = 1 << 12;
const FULL_RANGE: i32 = 0x7FFF;
const FULL_PRECISION: i32 = 0xFFFF;

/// The modifier of `interval(p)` (one number) or of a field list and precision (mask, precision).
pub fn typmod_in(modifiers: &[&str]) -> SqlResult<i32> {
    let number = |text: &str| crate::int::parse::<i32>(text, "integer");
    let (range, precision) = match modifiers {
        [mask] => (number(mask)?, FULL_PRECISION),
        [mask, precision] => (number(mask)?, number(precision)?),
        _ => return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid INTERVAL type modifier")),
    };
    if precision < 0 {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "INTERVAL({precision}) precision must not be negative"
        ));
    }
    let precision = if precision == FULL_PRECISION { precision } else { precision.min(6) };
    if range == FULL_RANGE && precision == FULL_PRECISION {
        return Ok(-1);
    }
    Ok((range & 0x7FFF) << 16 | precision)
}

/// A modifier behind the type's name.
pub fn typmod_out(typmod: i32) -> String {
    if typmod < 0 {
        return String::new();
    }
    let (range, precision) = (typmod >> 16 & 0x7FFF, typmod & 0xFFFF);
    let fields = match range {
        YEAR => " year",
        MONTH => " month",
        DAYS => " day",
        HOURS => " hour",
        MINUTES => " minute",
        SECONDS => " second",
        r if r == YEAR | MONTH => " year to month",
        r if r == DAYS | HOURS => " day to hour",
        r if r == DAYS | HOURS | MINUTES => " day to minute",
        r if r == DAYS | HOURS | MINUTES | SECONDS => " day to second",
        r if r == HOURS | MINUTES => " hour to minute",
        r if r == HOURS | MINUTES | SECONDS => " hour to second",
        r if r == MINUTES | SECONDS => " minute to second",
        _ => "",
    };
    if precision == FULL_PRECISION { fields.into() } else { format!("{fields}({precision})") }
}

/// Cut to the fields and rounded to the precision of a modifier.
pub(super) fn apply_typmod(mut value: Interval, typmod: i32) -> SqlResult<Interval> {
    if typmod < 0 || !value.is_finite() {
        return Ok(value);
    }
    let (range, precision) = (typmod >> 16 & 0x7FFF, typmod & 0xFFFF);
    if range != FULL_RANGE {
        if range == YEAR {
            value.months = value.months / 12 * 12;
        }
        if range & (YEAR | MONTH) != 0 && range & (DAYS | HOURS | MINUTES | SECONDS) == 0 {
            (value.days, value.micros) = (0, 0);
        } else if range & SECONDS == 0 {
            let unit = if range & MINUTES != 0 {
                MINUTE
            } else if range & HOURS != 0 {
                HOUR
            } else {
                i64::MAX
            };
            value.micros = value.micros / unit * unit;
        }
    }
    value.micros = crate::time::round_micros(value.micros, precision);
    Ok(value)
}

/// Reads an interval in any of PostgreSQL's forms.
pub fn parse(text: &str, typmod: i32, cx: &Call) -> SqlResult<Datum> {
    let body = text.trim();
    let value = match body.to_ascii_lowercase().as_str() {
        "infinity" | "+infinity" | "inf" | "+inf" => Interval::INFINITY,
        "-infinity" | "-inf" => Interval::MINUS_INFINITY,
        lower if lower.starts_with(['p', 'P']) => iso(lower, text)?,
        lower => words(lower, text, typmod, cx)?,
    };
    apply_typmod(value, typmod)?.into_datum()
}

/// Sums of parts, wide enough not to overflow on the way.
#[derive(Default)]
struct Sums {
    years: i128,
    months: i128,
    days: i128,
    micros: i128,
}

/// A decimal number: whole part and billionths behind the point.
#[derive(Clone, Copy)]
struct Number {
    negative: bool,
    whole: i128,
    nanos: f64,
}

impl Sums {
    /// Adds `number` units; what is left of a unit goes to the next smaller field.
    fn add(&mut self, number: Number, unit: &str) -> Option<()> {
        let sign: i128 = if number.negative { -1 } else { 1 };
        let whole = sign * number.whole;
        let part = number.nanos * sign as f64;
        let micros = |per_unit: i64| -> i128 {
            whole * i128::from(per_unit) + (part * per_unit as f64).round_ties_even() as i128
        };
        match unit {
            "microsecond" => self.micros += whole + part.round_ties_even() as i128,
            "millisecond" => self.micros += micros(1000),
            "second" => self.micros += micros(SECOND),
            "minute" => self.micros += micros(MINUTE),
            "hour" => self.micros += micros(HOUR),
            "day" => {
                self.days += whole;
                self.micros += (part * DAY as f64).round_ties_even() as i128;
            }
            "week" => {
                self.days += whole * 7;
                self.add_days(part * 7.0);
            }
            "month" => {
                self.months += whole;
                self.add_days(part * 30.0);
            }
            "year" | "decade" | "century" | "millennium" => {
                let years = match unit {
                    "year" => 1,
                    "decade" => 10,
                    "century" => 100,
                    _ => 1000,
                };
                self.years += whole * years;
                self.months += (part * 12.0 * years as f64).round_ties_even() as i128;
            }
            _ => return None,
        }
        Some(())
    }

    fn add_days(&mut self, days: f64) {
        // Rounded to microseconds, as the fraction is binary.
        let days = (days * 1e6).round_ties_even() / 1e6;
        self.days += days.trunc() as i128;
        self.micros += ((days - days.trunc()) * DAY as f64).round_ties_even() as i128;
    }

    /// The interval; the extreme values of all fields together mean infinity.
    fn interval(&self, text: &str) -> SqlResult<Interval> {
        let field = |_| field_range(text);
        let years = i32::try_from(self.years).map_err(field)?;
        let months = i32::try_from(self.months).map_err(field)?;
        let months = i64::from(years) * 12 + i64::from(months);
        Ok(Interval {
            days: i32::try_from(self.days).map_err(field)?,
            micros: i64::try_from(self.micros).map_err(field)?,
            months: i32::try_from(months).map_err(|_| out_of_range())?,
        })
    }
}

/// `[+-]digits[.digits]` at the front, and the rest.
fn number(text: &str) -> Option<(Number, &str)> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &body[digits..];
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => {
            let n = after.bytes().take_while(u8::is_ascii_digit).count();
            (&after[..n], &after[n..])
        }
        None => ("", rest),
    };
    if digits == 0 && fraction.is_empty() {
        return None;
    }
    let whole = if digits == 0 { 0 } else { body[..digits].parse().ok().filter(|w| *w < 1i128 << 80)? };
    let nanos = if fraction.is_empty() { 0.0 } else { format!("0.{fraction}").parse().ok()? };
    Some((Number { negative, whole, nanos }, rest))
}

/// A word's unit. As in PostgreSQL only its first ten letters count.
fn unit_of(word: &str) -> Option<&'static str> {
    Some(match &word[..word.len().min(10)] {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" => "microsecond",
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecon" => "millisecond",
        "s" | "sec" | "secs" | "second" | "seconds" => "second",
        "m" | "min" | "mins" | "minute" | "minutes" => "minute",
        "h" | "hr" | "hrs" | "hour" | "hours" => "hour",
        "d" | "day" | "days" => "day",
        "w" | "week" | "weeks" => "week",
        "mon" | "mons" | "month" | "months" => "month",
        "y" | "yr" | "yrs" | "year" | "years" => "year",
        "dec" | "decs" | "decade" | "decades" => "decade",
        "c" | "cent" | "century" | "centuries" => "century",
        "mil" | "mils" | "millennia" | "millennium" => "millennium",
        _ => return None,
    })
}

/// Unit of a bare number: the last field of the modifier, else seconds.
fn default_unit(typmod: i32) -> &'static str {
    match typmod >> 16 & 0x7FFF {
        _ if typmod < 0 => "second",
        YEAR => "year",
        MONTH => "month",
        r if r == YEAR | MONTH => "month",
        DAYS => "day",
        HOURS => "hour",
        r if r == DAYS | HOURS => "hour",
        MINUTES => "minute",
        r if r & MINUTES != 0 && r & SECONDS == 0 => "minute",
        _ => "second",
    }
}

/// `1 year 2 mons -3 days 04:05:06.7 ago`, `1-2 3 4:05:06`
fn words(lower: &str, text: &str, typmod: i32, cx: &Call) -> SqlResult<Interval> {
    let mut sums = Sums::default();
    let mut rest = lower;
    let (mut any, mut ago) = (false, false);
    let mut seen: Vec<&str> = Vec::new();
    // In the standard's style a leading sign holds for all parts that have none.
    let leading = cx.format.interval_style == IntervalStyle::SqlStandard
        && lower.starts_with('-')
        && !lower[1..].contains(['-', '+']);
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '@' || c == ',');
        if rest.is_empty() {
            break;
        }
        if ago {
            return Err(syntax(text));
        }
        if let Some(after) = rest.strip_prefix("ago") {
            (ago, rest) = (true, after);
            continue;
        }
        let clean = rest.strip_prefix(['+', '-']).map_or(rest, str::trim_start);
        let signed =
            if clean.len() < rest.len() { format!("{}{clean}", &rest[..1]) } else { rest.to_owned() };
        let (mut parsed, after) = number(&signed).ok_or_else(|| {
            if rest.starts_with(|c: char| c.is_ascii_digit()) { field_range(text) } else { syntax(text) }
        })?;
        if leading && any {
            parsed.negative = true;
        }
        any = true;
        rest = &rest[rest.len() - after.len()..];
        if let Some(clock) = rest.strip_prefix(':') {
            if CLOCK.iter().any(|unit| seen.contains(unit)) {
                return Err(syntax(text));
            }
            seen.extend(CLOCK);
            if parsed.nanos != 0.0 {
                return Err(field_range(text));
            }
            rest = time(&mut sums, parsed, clock, typmod).ok_or_else(|| syntax(text))?;
            continue;
        }
        if let Some(after) = rest.strip_prefix('-')
            && after.starts_with(|c: char| c.is_ascii_digit())
            && parsed.nanos == 0.0
        {
            // years-months
            let (months, tail) = number(after).ok_or_else(|| syntax(text))?;
            if months.whole > 11 {
                return Err(field_range(text));
            }
            sums.add(parsed, "year");
            sums.add(Number { negative: parsed.negative, ..months }, "month");
            rest = tail;
            continue;
        }
        rest = rest.trim_start();
        let length = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = if length == 0 || &rest[..length] == "ago" {
            // A number before a time or before hours is days.
            if looks_like_time(rest) || begins_with_hours(rest, typmod) {
                "day"
            } else {
                default_unit(typmod)
            }
        } else {
            unit_of(&rest[..length]).ok_or_else(|| syntax(text))?
        };
        if length > 0 && &rest[..length] != "ago" {
            rest = &rest[length..];
        }
        if seen.contains(&unit) {
            return Err(syntax(text));
        }
        seen.push(unit);
        if unit == "second" && parsed.nanos != 0.0 {
            seen.extend(["millisecond", "microsecond"]);
        }
        sums.add(parsed, unit).ok_or_else(|| syntax(text))?;
    }
    if !any {
        return Err(syntax(text));
    }
    if ago {
        sums = Sums { years: -sums.years, months: -sums.months, days: -sums.days, micros: -sums.micros };
    }
    sums.interval(text)
}

/// The units that a time has, each of which may come once.
const CLOCK: [&str; 5] = ["hour", "minute", "second", "millisecond", "microsecond"];

fn begins_with_hours(text: &str, typmod: i32) -> bool {
    let Some((_, rest)) = number(text) else { return false };
    let word = rest.trim_start();
    let length = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    match unit_of(&word[..length]) {
        Some(unit) => unit == "hour",
        None => default_unit(typmod) == "hour",
    }
}

fn looks_like_time(text: &str) -> bool {
    let word = text.trim_start().split_ascii_whitespace().next().unwrap_or_default();
    word.contains(':')
}

/// `mm[:ss[.f]]` behind the hours; gives what follows.
fn time<'a>(sums: &mut Sums, hours: Number, clock: &'a str, typmod: i32) -> Option<&'a str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let n = digits(clock);
    let minutes: i128 = clock.get(..n).filter(|m| !m.is_empty())?.parse().ok()?;
    let mut rest = &clock[n..];
    let mut parts = (hours.whole, minutes, 0i128);
    let mut micros = 0;
    let mut with_seconds = false;
    if let Some(after) = rest.strip_prefix(':') {
        let n = digits(after);
        parts.2 = after.get(..n).filter(|s| !s.is_empty())?.parse().ok()?;
        rest = &after[n..];
        with_seconds = true;
    } else if typmod >= 0 && typmod >> 16 & 0x7FFF == MINUTES | SECONDS {
        parts = (0, hours.whole, minutes);
    }
    if let Some(after) = rest.strip_prefix('.') {
        let n = digits(after);
        micros = i128::from(fraction_micros(&after.as_bytes()[..n]));
        rest = &after[n..];
        if !with_seconds {
            parts = (0, hours.whole, minutes);
        }
    }
    if parts.1 > 59 || parts.2 > 60 {
        return None;
    }
    let total =
        parts.0 * i128::from(HOUR) + parts.1 * i128::from(MINUTE) + parts.2 * i128::from(SECOND) + micros;
    sums.micros += if hours.negative { -total } else { total };
    Some(rest)
}

/// `P1Y2M3DT4H5M6S`, `P1W`, `P0001-02-03T04:05:06`
fn iso(lower: &str, text: &str) -> SqlResult<Interval> {
    let mut sums = Sums::default();
    let mut rest = &lower[1..];
    let mut in_time = false;
    let mut any = false;
    // Whether this half had a part already.
    let mut parts = false;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('t') {
            if in_time {
                return Err(syntax(text));
            }
            (in_time, parts, rest) = (true, false, after);
            continue;
        }
        let (value, after) = number(rest).ok_or_else(|| syntax(text))?;
        any = true;
        if in_time && let Some(clock) = after.strip_prefix(':') {
            if value.nanos != 0.0 {
                return Err(field_range(text));
            }
            rest = time(&mut sums, value, clock, -1).ok_or_else(|| syntax(text))?;
            continue;
        }
        if !in_time && let Some(tail) = after.strip_prefix('-') {
            sums.add(value, "year");
            let (month, tail) = number(tail).ok_or_else(|| syntax(text))?;
            sums.add(month, "month");
            rest = tail;
            if let Some(tail) = tail.strip_prefix('-') {
                let (day, tail) = number(tail).ok_or_else(|| syntax(text))?;
                sums.add(day, "day");
                rest = tail;
            }
            continue;
        }
        let width = rest.bytes().take_while(u8::is_ascii_digit).count();
        if after.is_empty() || after.starts_with('t') {
            // Without designators: yyyymmdd, hhmmss, or a year or an hour.
            match (in_time, width) {
                (false, 8) if !parts => {
                    for (part, unit) in [
                        (value.whole / 10_000, "year"),
                        (value.whole / 100 % 100, "month"),
                        (value.whole % 100, "day"),
                    ] {
                        sums.add(Number { whole: part, nanos: 0.0, ..value }, unit);
                    }
                }
                (true, 6) if !parts => {
                    for (part, unit) in [
                        (value.whole / 10_000, "hour"),
                        (value.whole / 100 % 100, "minute"),
                        (value.whole % 100, "second"),
                    ] {
                        sums.add(Number { whole: part, nanos: 0.0, ..value }, unit);
                    }
                }
                _ => {
                    sums.add(value, if in_time { "hour" } else { "year" });
                }
            }
            rest = after;
            continue;
        }
        parts = true;
        let unit = match (after.as_bytes().first(), in_time) {
            (Some(b'y'), false) => "year",
            (Some(b'm'), false) => "month",
            (Some(b'w'), false) => "week",
            (Some(b'd'), false) => "day",
            (Some(b'h'), true) => "hour",
            (Some(b'm'), true) => "minute",
            (Some(b's'), true) => "second",
            _ => return Err(syntax(text)),
        };
        sums.add(value, unit).ok_or_else(|| syntax(text))?;
        rest = &after[1..];
    }
    if !any {
        return Err(syntax(text));
    }
    sums.interval(text)
}

/// Hours, minutes, seconds and microseconds of a time, all with its sign.
fn clock(micros: i64) -> (i64, i64, i64, i64) {
    (micros / HOUR, micros / MINUTE % 60, micros / SECOND % 60, micros % SECOND)
}

/// Text in a style.
pub(super) fn write(value: &Interval, style: IntervalStyle) -> String {
    if !value.is_finite() {
        return if *value == Interval::INFINITY { "infinity".into() } else { "-infinity".into() };
    }
    match style {
        IntervalStyle::Postgres => postgres(value),
        IntervalStyle::PostgresVerbose => verbose(value),
        IntervalStyle::SqlStandard => standard(value),
        IntervalStyle::Iso8601 => iso_text(value),
    }
}

fn unsigned_clock(micros: i64) -> String {
    let (h, m, s, f) = clock(micros);
    format!("{:02}:{:02}:{:02}{}", h.unsigned_abs(), m.abs(), s.abs(), fraction(f.abs()))
}

fn postgres(value: &Interval) -> String {
    let mut out: Vec<String> = Vec::new();
    // A positive part behind a negative one shows its sign.
    let mut negative_before = false;
    for (n, name) in [(value.months / 12, "year"), (value.months % 12, "mon"), (value.days, "day")] {
        if n != 0 {
            let plus = if negative_before && n > 0 { "+" } else { "" };
            out.push(format!("{plus}{n} {name}{}", if n == 1 { "" } else { "s" }));
            negative_before = n < 0;
        }
    }
    if out.is_empty() || value.micros != 0 {
        let sign = if value.micros < 0 {
            "-"
        } else if negative_before {
            "+"
        } else {
            ""
        };
        out.push(format!("{sign}{}", unsigned_clock(value.micros)));
    }
    out.join(" ")
}

fn verbose(value: &Interval) -> String {
    let (h, m, s, f) = clock(value.micros);
    let mut out = String::from("@");
    let mut ago: Option<bool> = None;
    let mut part = |n: i64, name: &str| {
        if n != 0 {
            // The first part decides; later ones show a sign where they differ.
            let negative = *ago.get_or_insert(n < 0);
            let shown = if negative { -n } else { n };
            out.push_str(&format!(" {shown} {name}{}", if shown == 1 { "" } else { "s" }));
        }
    };
    part((value.months / 12).into(), "year");
    part((value.months % 12).into(), "mon");
    part(value.days.into(), "day");
    part(h, "hour");
    part(m, "min");
    if s != 0 || f != 0 {
        let negative = *ago.get_or_insert(s < 0 || f < 0);
        let below = (s < 0 || f < 0) != negative;
        let plural = if s.abs() == 1 && f == 0 { "" } else { "s" };
        out.push_str(&format!(
            " {}{}{} sec{plural}",
            if below { "-" } else { "" },
            s.abs(),
            fraction(f.abs())
        ));
    }
    if ago.is_none() {
        out.push_str(" 0");
    }
    if ago == Some(true) {
        out.push_str(" ago");
    }
    out
}

fn standard(value: &Interval) -> String {
    let (years, months) = (value.months / 12, value.months % 12);
    let has_negative = value.months < 0 || value.days < 0 || value.micros < 0;
    let has_positive = value.months > 0 || value.days > 0 || value.micros > 0;
    let (has_months, has_days, has_time) = (value.months != 0, value.days != 0, value.micros != 0);
    let (h, m, s, f) = clock(value.micros);
    let time = format!("{}:{:02}:{:02}{}", h.unsigned_abs(), m.abs(), s.abs(), fraction(f.abs()));
    if !has_negative && !has_positive {
        return "0".into();
    }
    if (has_negative && has_positive) || (has_months && (has_days || has_time)) {
        let sign = |negative: bool| if negative { '-' } else { '+' };
        return format!(
            "{}{}-{} {}{} {}{time}",
            sign(value.months < 0),
            years.abs(),
            months.abs(),
            sign(value.days < 0),
            value.days.unsigned_abs(),
            sign(value.micros < 0)
        );
    }
    let sign = if has_negative { "-" } else { "" };
    if has_months {
        format!("{sign}{}-{}", years.abs(), months.abs())
    } else if has_days {
        format!("{sign}{} {time}", value.days.unsigned_abs())
    } else {
        format!("{sign}{time}")
    }
}

fn iso_text(value: &Interval) -> String {
    let (h, m, s, f) = clock(value.micros);
    let mut out = String::from("P");
    for (n, letter) in [(value.months / 12, 'Y'), (value.months % 12, 'M'), (value.days, 'D')] {
        if n != 0 {
            out.push_str(&format!("{n}{letter}"));
        }
    }
    if value.micros != 0 {
        out.push('T');
        for (n, letter) in [(h, 'H'), (m, 'M')] {
            if n != 0 {
                out.push_str(&format!("{n}{letter}"));
            }
        }
        if s != 0 || f != 0 {
            let sign = if s < 0 || f < 0 { "-" } else { "" };
            out.push_str(&format!("{sign}{}{}S", s.abs(), fraction(f.abs())));
        }
    }
    if out == "P" { "PT0S".into() } else { out }
}
