//! Dates and times in paths: `.datetime()`, `.date()`, `.timestamp()` and so on.

use std::cmp::Ordering;

use base::{SqlError, SqlResult, sql_err};

use crate::{
    calendar::{days_from_civil, days_in_month},
    call::{Call, FormatContext},
    date,
    template::{Parsed, read_moment},
    time::{self, compare_timetz, round_micros, timetz_datum},
    timestamp,
    value::FromDatum,
};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// A date or time. Microseconds; days since 2000-01-01; seconds west of Greenwich.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Date(i32),
    Time(i64),
    TimeTz(i64, i32),
    Timestamp(i64),
    /// The moment, and the zone in which it is shown.
    TimestampTz(i64, i32),
}

/// What a conversion asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Date,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
}

/// Digits at the front as a number: from `least` to `most` of them.
fn digits(text: &str, least: usize, most: usize) -> Option<(i64, &str)> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    if !(least..=most).contains(&count) {
        return None;
    }
    Some((text[..count].parse().ok()?, &text[count..]))
}

fn read_date(text: &str) -> Option<(i64, &str)> {
    let (year, rest) = digits(text, 1, 6)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 1, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 1, 2)?;
    if year < 1 || !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    Some((days_from_civil(year, month, day), rest))
}

/// A time of day and its zone if there is one.
fn read_time(text: &str) -> Option<(i64, Option<i32>)> {
    let (hour, rest) = digits(text, 1, 2)?;
    let (minute, mut rest) = digits(rest.strip_prefix(':')?, 1, 2)?;
    let (mut second, mut micros) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        (second, rest) = digits(after, 1, 2)?;
        if let Some(after) = rest.strip_prefix('.') {
            let count = after.bytes().take_while(u8::is_ascii_digit).count();
            let (value, after) = digits(after, 1, 6)?;
            micros = value * 10i64.pow(6 - count as u32);
            rest = after;
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let value = (hour * 3600 + minute * 60 + second) * SECOND + micros;
    let zone = rest.trim_start_matches(' ');
    if zone.is_empty() {
        return rest.is_empty().then_some((value, None));
    }
    let sign = match zone.as_bytes()[0] {
        b'+' => -1,
        b'-' => 1,
        b'Z' if zone.len() == 1 => return Some((value, Some(0))),
        _ => return None,
    };
    let (hours, rest) = digits(&zone[1..], 1, 2)?;
    let minutes = match rest.strip_prefix(':') {
        Some(rest) => match digits(rest, 1, 2)? {
            (minutes @ 0..60, "") => minutes,
            _ => return None,
        },
        None if rest.is_empty() => 0,
        None => return None,
    };
    (hours <= 15).then_some((value, Some((sign * (hours * 3600 + minutes * 60)) as i32)))
}

impl Moment {
    /// Reads one of the ISO forms.
    pub(super) fn parse(text: &str) -> Option<Moment> {
        let Some((days, rest)) = read_date(text) else {
            return match read_time(text)? {
                (time, None) => Some(Moment::Time(time)),
                (time, Some(zone)) => Some(Moment::TimeTz(time, zone)),
            };
        };
        if rest.is_empty() {
            return Some(Moment::Date(days as i32));
        }
        let time = rest.strip_prefix(['T', ' '])?.trim_start_matches(' ');
        let (time, zone) = read_time(time)?;
        let local = days * DAY + time;
        Some(match zone {
            None => Moment::Timestamp(local),
            Some(zone) => Moment::TimestampTz(local + i64::from(zone) * SECOND, zone),
        })
    }

    /// Reads a text by the template of `.datetime()`.
    pub(super) fn by_template(text: &str, template: &str) -> SqlResult<Moment> {
        let west = |offset: i64| -offset as i32;
        Ok(match read_moment(text, template)? {
            Parsed::Date(days) => Moment::Date(days as i32),
            Parsed::Time(time, None) => Moment::Time(time),
            Parsed::Time(time, Some(offset)) => Moment::TimeTz(time, west(offset)),
            Parsed::Timestamp(days, time, offset) => {
                let local = days.checked_mul(DAY).and_then(|d| d.checked_add(time));
                let local = timestamp::check(local.ok_or_else(timestamp::out_of_range)?)?;
                match offset {
                    None => Moment::Timestamp(local),
                    Some(offset) => {
                        Moment::TimestampTz(timestamp::check(local - offset * SECOND)?, west(offset))
                    }
                }
            }
        })
    }

    /// Its name as `.type()` gives it.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Moment::Date(_) => "date",
            Moment::Time(_) => "time without time zone",
            Moment::TimeTz(..) => "time with time zone",
            Moment::Timestamp(_) => "timestamp without time zone",
            Moment::TimestampTz(..) => "timestamp with time zone",
        }
    }

    fn short_name(self) -> &'static str {
        match self {
            Moment::Date(_) => "date",
            Moment::Time(_) => "time",
            Moment::TimeTz(..) => "timetz",
            Moment::Timestamp(_) => "timestamp",
            Moment::TimestampTz(..) => "timestamptz",
        }
    }

    /// ISO text.
    pub(super) fn text(self) -> String {
        let format = FormatContext::default();
        let cx = Call::new(&format);
        let stamp = |local| timestamp::text(local, &cx).replacen(' ', "T", 1);
        match self {
            Moment::Date(days) => date::text(days, &cx),
            Moment::Time(time) => time::text(time),
            Moment::TimeTz(time, zone) => format!("{}{}", time::text(time), zone_text(zone)),
            Moment::Timestamp(local) => stamp(local),
            Moment::TimestampTz(utc, zone) => {
                format!("{}{}", stamp(utc - i64::from(zone) * SECOND), zone_text(zone))
            }
        }
    }

    /// As another type; `None` where there is no way. `zone`: whether the session's time zone may be used.
    pub(super) fn convert(self, wanted: Wanted, zone: bool, cx: &Call) -> SqlResult<Option<Moment>> {
        let needs = |to: &str| if zone { Ok(()) } else { Err(zone_needed(self.short_name(), to)) };
        Ok(Some(match (wanted, self) {
            (Wanted::Date, Moment::Date(_))
            | (Wanted::Time, Moment::Time(_))
            | (Wanted::TimeTz, Moment::TimeTz(..))
            | (Wanted::Timestamp, Moment::Timestamp(_))
            | (Wanted::TimestampTz, Moment::TimestampTz(..)) => self,
            (Wanted::Date, Moment::Timestamp(local)) => Moment::Date(local.div_euclid(DAY) as i32),
            (Wanted::Date, Moment::TimestampTz(utc, _)) => {
                needs("date")?;
                Moment::Date(timestamp::to_local(utc, cx).div_euclid(DAY) as i32)
            }
            (Wanted::Time, Moment::TimeTz(time, _)) => {
                needs("time")?;
                Moment::Time(time)
            }
            (Wanted::Time, Moment::Timestamp(local)) => Moment::Time(local.rem_euclid(DAY)),
            (Wanted::Time, Moment::TimestampTz(utc, _)) => {
                needs("time")?;
                Moment::Time(timestamp::to_local(utc, cx).rem_euclid(DAY))
            }
            (Wanted::TimeTz, Moment::Time(time)) => {
                needs("timetz")?;
                let now = cx.format.transaction_time;
                Moment::TimeTz(time, ((now - timestamp::to_local(now, cx)) / SECOND) as i32)
            }
            (Wanted::TimeTz, Moment::TimestampTz(utc, _)) => {
                let local = timestamp::to_local(utc, cx);
                Moment::TimeTz(local.rem_euclid(DAY), ((utc - local) / SECOND) as i32)
            }
            (Wanted::Timestamp, Moment::Date(days)) => Moment::Timestamp(date::to_timestamp(days)?),
            (Wanted::Timestamp, Moment::TimestampTz(utc, _)) => {
                needs("timestamp")?;
                Moment::Timestamp(timestamp::to_local(utc, cx))
            }
            (Wanted::TimestampTz, Moment::Date(_) | Moment::Timestamp(_)) => {
                needs("timestamptz")?;
                let local = match self {
                    Moment::Date(days) => date::to_timestamp(days)?,
                    Moment::Timestamp(local) => local,
                    _ => 0,
                };
                let utc = timestamp::from_local(local, cx)?;
                Moment::TimestampTz(utc, ((utc - local) / SECOND) as i32)
            }
            _ => return Ok(None),
        }))
    }

    /// Rounded to so many digits behind the second.
    pub(super) fn rounded(self, precision: i32) -> Moment {
        match self {
            Moment::Date(_) => self,
            Moment::Time(time) => Moment::Time(round_micros(time, precision)),
            Moment::TimeTz(time, zone) => Moment::TimeTz(round_micros(time, precision), zone),
            Moment::Timestamp(local) => Moment::Timestamp(round_micros(local, precision)),
            Moment::TimestampTz(utc, zone) => Moment::TimestampTz(round_micros(utc, precision), zone),
        }
    }

    /// Order of two moments; `None` where they do not compare.
    pub(super) fn compare(self, other: Moment, zone: bool, cx: &Call) -> SqlResult<Option<Ordering>> {
        let stamp = |m: Moment| match m {
            Moment::Date(days) => date::to_timestamp(days),
            Moment::Timestamp(local) => Ok(local),
            _ => Ok(0),
        };
        let as_zoned = |m: Moment, wanted, other: Moment| -> SqlResult<Moment> {
            m.convert(wanted, zone, cx)?.ok_or_else(|| zone_needed(m.short_name(), other.short_name()))
        };
        use Moment::{Date, Time, TimeTz, Timestamp, TimestampTz};
        Ok(Some(match (self, other) {
            (Date(a), Date(b)) => a.cmp(&b),
            (Time(a), Time(b)) => a.cmp(&b),
            (TimeTz(a, x), TimeTz(b, y)) => {
                let (a, b) = (timetz_datum(a, x), timetz_datum(b, y));
                compare_timetz(<&[u8]>::from_datum(&a), <&[u8]>::from_datum(&b))
            }
            (TimestampTz(a, _), TimestampTz(b, _)) => a.cmp(&b),
            (Date(_) | Timestamp(_), Date(_) | Timestamp(_)) => stamp(self)?.cmp(&stamp(other)?),
            (Time(_), TimeTz(..)) => {
                return as_zoned(self, Wanted::TimeTz, other)?.compare(other, zone, cx);
            }
            (Date(_) | Timestamp(_), TimestampTz(..)) => {
                return as_zoned(self, Wanted::TimestampTz, other)?.compare(other, zone, cx);
            }
            (TimeTz(..), Time(_)) | (TimestampTz(..), Date(_) | Timestamp(_)) => {
                return Ok(other.compare(self, zone, cx)?.map(Ordering::reverse));
            }
            _ => return Ok(None),
        }))
    }
}

/// `+05:30` for seconds west of Greenwich.
fn zone_text(west: i32) -> String {
    let seconds = west.abs();
    let sign = if west > 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
}

fn zone_needed(from: &str, to: &str) -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "cannot convert value from {from} to {to} without time zone usage")
        .hint("Use *_tz() function for time zone support.")
}
