//! `to_timestamp` and `to_date` by template.

use base::{SqlError, SqlResult, sql_err};

use crate::{
    calendar::{
        DAY, Fields, HOUR, JULIAN_2000, MINUTE, MONTHS, SECOND, WEEKDAYS, civil_from_days, days_from_civil,
        days_in_month, iso_week_start,
    },
    call::Call,
    timestamp,
    timezone::{self, Abbreviations, TimeZone},
};

use super::{Piece, parse};

functions! {
    1778 to_timestamp(text, text) -> timestamptz [stable strict] { |cx; text: &str, template: &str| to_timestamp(cx, text, template) }
    1780 to_date(text, text) -> date [stable strict] { |text: &str, template: &str| to_date(text, template) }
}

/// A date or time that a text is by a template.
pub(crate) enum Parsed {
    /// Days since 2000-01-01.
    Date(i64),
    /// Microseconds since midnight, and seconds east of UTC if the template has a zone.
    Time(i64, Option<i64>),
    /// Days and microseconds since midnight, and seconds east of UTC if the template has a zone.
    Timestamp(i64, i64, Option<i64>),
}

/// Characters that may stand between the fields of a strict template.
const SEPARATORS: &str = "-./,':; ";

/// What a text gave; missing fields stay at their default.
#[derive(Default)]
struct Found {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    julian: Option<i64>,
    iso_year: Option<i64>,
    iso_week: Option<i64>,
    iso_day: Option<i64>,
    week: Option<i64>,
    century: Option<i64>,
    hour: i64,
    twelve: bool,
    pm: Option<bool>,
    minute: i64,
    second: i64,
    micros: i64,
    of_day: Option<i64>,
    bc: bool,
    offset: Option<i64>,
    offset_negative: bool,
}

fn bad_value(value: &str, field: &str) -> SqlError {
    sql_err!(INVALID_DATETIME_FORMAT, "invalid value \"{value}\" for \"{field}\"")
}

/// The widths that numbers have when another number follows at once.
fn width(field: &str) -> usize {
    match field {
        "YYYY" | "IYYY" => 4,
        "YYY" | "IYY" | "DDD" | "MS" | "IDDD" => 3,
        "Y" | "I" | "D" | "ID" | "Q" | "W" => 1,
        "US" => 6,
        "SSSS" | "SSSSS" => 5,
        "J" => 7,
        _ => 2,
    }
}

fn read(text: &str, template: &str) -> SqlResult<Found> {
    let mut found = Found::default();
    let pieces = parse(template);
    let mut rest = text.trim_start();
    for (i, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Literal(literal) => {
                for c in literal.chars() {
                    if c.is_alphanumeric() {
                        // Any character stands for it.
                        rest = rest.char_indices().nth(1).map_or("", |(n, _)| &rest[n..]);
                    } else if !c.is_whitespace()
                        && rest.starts_with(|r: char| {
                            !r.is_alphanumeric() && !r.is_whitespace() && !matches!(r, '+' | '-')
                        })
                    {
                        rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
                    } else if rest.starts_with('-') && (c == '-' || !c.is_whitespace()) {
                        rest = &rest[1..];
                    }
                    rest = rest.trim_start();
                }
            }
            Piece::Field { name, .. } => {
                rest = rest.trim_start();
                if rest.is_empty() {
                    break;
                }
                let tight = matches!(pieces.get(i + 1), Some(Piece::Field { .. }));
                rest = field(&mut found, name, rest, tight)?;
            }
        }
    }
    Ok(found)
}

/// Reads a text that must be as the template says to the letter.
fn read_strictly(text: &str, template: &str) -> SqlResult<Found> {
    let mut found = Found::default();
    let pieces = parse(template);
    let wrong = |what: String| sql_err!(INVALID_DATETIME_FORMAT, "{what}");
    let too_short = || wrong("input string is too short for datetime format".into());
    let mut rest = text.trim_start();
    for (i, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Literal(literal) => {
                for c in literal.chars() {
                    let Some(next) = rest.chars().next() else { return Err(too_short()) };
                    if next != c {
                        let what = if c.is_alphanumeric() { "character" } else { "separator" };
                        return Err(wrong(format!("unmatched format {what} \"{c}\"")));
                    }
                    rest = &rest[c.len_utf8()..];
                }
            }
            Piece::Field { name, .. } => {
                rest = rest.trim_start();
                if rest.is_empty() {
                    return Err(too_short());
                }
                let tight = matches!(pieces.get(i + 1), Some(Piece::Field { .. }));
                rest = field(&mut found, name, rest, tight)?;
            }
        }
    }
    if !rest.trim_start().is_empty() {
        return Err(wrong("trailing characters remain in input string after datetime format".into()));
    }
    Ok(found)
}

/// Between the fields of a strict template nothing but separators stands outside quotes.
fn check_separators(template: &str) -> SqlResult<()> {
    let mut quoted = false;
    let mut rest = template;
    while let Some(c) = rest.chars().next() {
        let modifier = ["FM", "fm", "FX", "fx", "TM", "tm"].iter().any(|m| rest.starts_with(m));
        let skip = match super::field_at(rest) {
            _ if quoted || c == '"' => {
                quoted ^= c == '"';
                c.len_utf8()
            }
            _ if modifier => 2,
            Some((_, length)) => length,
            None if SEPARATORS.contains(c) => 1,
            None => {
                return Err(sql_err!(INVALID_DATETIME_FORMAT, "invalid datetime format separator: \"{c}\""));
            }
        };
        rest = &rest[skip..];
    }
    Ok(())
}

/// The date or time that a text is; which kind, the fields of the template tell.
pub(crate) fn read_moment(text: &str, template: &str) -> SqlResult<Parsed> {
    check_separators(template)?;
    let (mut dated, mut timed, mut zoned) = (false, false, false);
    for piece in parse(template) {
        let Piece::Field { name, .. } = piece else { continue };
        match name.to_ascii_uppercase().as_str() {
            "TZ" | "TZH" | "TZM" | "OF" => zoned = true,
            "HH24" | "HH12" | "HH" | "MI" | "SS" | "MS" | "US" | "SSSS" | "SSSSS" | "AM" | "PM" | "A.M."
            | "P.M." => timed = true,
            field if field.starts_with("FF") => timed = true,
            _ => dated = true,
        }
    }
    let found = read_strictly(text, template)?;
    let offset = zoned.then_some(found.offset.unwrap_or(0));
    match (dated, timed) {
        (true, true) => Ok(Parsed::Timestamp(found.days(text)?, found.time(text)?, offset)),
        (true, false) if zoned => {
            Err(sql_err!(INVALID_DATETIME_FORMAT, "datetime format is zoned but not timed"))
        }
        (true, false) => Ok(Parsed::Date(found.days(text)?)),
        (false, true) => Ok(Parsed::Time(found.time(text)?, offset)),
        (false, false) => {
            Err(sql_err!(INVALID_DATETIME_FORMAT, "datetime format is not dated and not timed"))
        }
    }
}

/// Takes one field from the front of a text.
fn field<'a>(found: &mut Found, name: &str, text: &'a str, tight: bool) -> SqlResult<&'a str> {
    if let Some(rest) = word(found, name, text)? {
        return Ok(rest);
    }
    let sign = text.strip_prefix(['-', '+']).map_or(0, |_| 1);
    let most = if tight { width(name) } else { text.len() };
    let count = text[sign..].bytes().take_while(u8::is_ascii_digit).count().min(most);
    let (number, rest) = text.split_at(sign + count);
    let value: i64 = match number.parse() {
        Ok(value) => value,
        Err(_) if count == 0 => {
            let shown: String = text.chars().take(width(name)).collect();
            return Err(bad_value(&shown, name).detail("Value must be an integer."));
        }
        Err(_) => {
            return Err(sql_err!(
                DATETIME_FIELD_OVERFLOW,
                "value for \"{name}\" in source string is out of range"
            ));
        }
    };
    let fraction = |digits: usize| -> i64 {
        let text = &number[sign..];
        let kept = &text[..text.len().min(digits)];
        crate::datetime::fraction_micros(kept.as_bytes())
    };
    match name {
        "YYYY" => {
            (found.bc, found.year) = (found.bc || value < 0, Some(value.abs()));
        }
        "Y,YYY" => {
            let (tail, rest) = rest
                .strip_prefix(',')
                .map_or(("", rest), |r| r.split_at(r.bytes().take_while(u8::is_ascii_digit).count()));
            found.year = Some(value * 1000 + tail.parse::<i64>().unwrap_or(0));
            return Ok(rest);
        }
        "YYY" | "YY" | "Y" => found.year = Some(near_year(value, count)),
        "IYYY" => found.iso_year = Some(value),
        "IYY" | "IY" | "I" => found.iso_year = Some(near_year(value, count)),
        "MM" => found.month = Some(value),
        "DD" => found.day = Some(value),
        "DDD" => found.day_of_year = Some(value),
        "IDDD" => found.day_of_year = Some(value),
        "J" => found.julian = Some(value),
        "IW" => found.iso_week = Some(value),
        "ID" => found.iso_day = Some(value),
        "WW" | "W" => found.week = Some(value),
        "CC" => found.century = Some(value),
        "HH24" => found.hour = value,
        "HH" | "HH12" => (found.hour, found.twelve) = (value, true),
        "MI" => found.minute = value,
        "SS" => found.second = value,
        "MS" => found.micros = fraction(3),
        "US" => found.micros = fraction(6),
        "SSSS" | "SSSSS" => found.of_day = Some(value),
        "TZH" => (found.offset, found.offset_negative) = (Some(value * 3600), number.starts_with('-')),
        "TZM" => {
            let minutes = if found.offset_negative { -value } else { value } * 60;
            found.offset = Some(found.offset.unwrap_or(0) + minutes);
        }
        _ => {
            if let Some(places) = name.strip_prefix("FF").and_then(|p| p.parse::<usize>().ok()) {
                found.micros = fraction(places);
            }
        }
    }
    Ok(rest)
}

/// A year of fewer than four digits: the one nearest to 2020.
fn near_year(value: i64, digits: usize) -> i64 {
    match digits {
        0..=2 if value < 70 => value + 2000,
        0..=2 => value + 1900,
        3 if value < 520 => value + 2000,
        3 => value + 1000,
        _ => value,
    }
}

/// Fields that are words.
fn word<'a>(found: &mut Found, name: &str, text: &'a str) -> SqlResult<Option<&'a str>> {
    let starts = |w: &str| text.get(..w.len()).is_some_and(|t| t.eq_ignore_ascii_case(w));
    let shown = || {
        text.split_whitespace()
            .next()
            .unwrap_or_default()
            .chars()
            .take(width(name).max(name.len()))
            .collect::<String>()
    };
    let missing = |field: &str| {
        bad_value(&shown(), field)
            .detail("The given value did not match any of the allowed values for this field.")
    };
    match name.to_ascii_uppercase().as_str() {
        "MONTH" | "MON" => {
            let full = name.len() == 5;
            let position = MONTHS.iter().position(|m| starts(if full { m } else { &m[..3] }));
            let i = position.ok_or_else(|| missing(name))?;
            found.month = Some(i as i64 + 1);
            Ok(Some(&text[if full { MONTHS[i].len() } else { 3 }..]))
        }
        "DAY" | "DY" => {
            let full = name.len() == 3;
            let position = WEEKDAYS.iter().position(|d| starts(if full { d } else { &d[..3] }));
            let i = position.ok_or_else(|| missing(name))?;
            Ok(Some(&text[if full { WEEKDAYS[i].len() } else { 3 }..]))
        }
        "RM" => {
            let i = (1..=12).rev().find(|i| starts(&super::roman(*i))).ok_or_else(|| missing(name))?;
            found.month = Some(i);
            Ok(Some(&text[super::roman(i).len()..]))
        }
        half @ ("AM" | "PM" | "A.M." | "P.M.") => {
            let spelled = if half.len() == 2 { ["AM", "PM"] } else { ["A.M.", "P.M."] };
            let i = spelled.iter().position(|s| starts(s)).ok_or_else(|| missing(name))?;
            (found.pm, found.twelve) = (Some(i == 1), true);
            Ok(Some(&text[half.len()..]))
        }
        era @ ("BC" | "AD" | "B.C." | "A.D.") => {
            let spelled = if era.len() == 2 { ["AD", "BC"] } else { ["A.D.", "B.C."] };
            let i = spelled.iter().position(|s| starts(s)).ok_or_else(|| missing(name))?;
            found.bc = i == 1;
            Ok(Some(&text[era.len()..]))
        }
        "TZ" | "OF" => {
            let end = text
                .bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b':'))
                .count();
            let zone = &text[..end];
            let offset = match timezone::abbreviation(zone, &TimeZone::utc(), Abbreviations::Default) {
                Some(zone) => zone.offset_at(0),
                None => TimeZone::named(zone).ok_or_else(|| missing(name))?.at(0).offset,
            };
            found.offset = Some(offset.into());
            Ok(Some(&text[end..]))
        }
        _ => Ok(None),
    }
}

impl Found {
    fn range(text: &str) -> SqlError {
        sql_err!(DATETIME_FIELD_OVERFLOW, "date/time field value out of range: \"{text}\"")
    }

    fn days(&self, text: &str) -> SqlResult<i64> {
        if let Some(julian) = self.julian {
            return Ok(julian - JULIAN_2000);
        }
        if let Some(year) = self.iso_year {
            let start = iso_week_start(year, self.iso_week.unwrap_or(1));
            return Ok(start + self.iso_day.unwrap_or(1) - 1 + self.day_of_year.map_or(0, |d| d - 1));
        }
        let year = match (self.year, self.century) {
            (Some(year), _) if self.bc => 1 - year,
            (Some(year), _) => year,
            (None, Some(century)) => (century - 1) * 100 + 1,
            (None, None) => 0,
        };
        if let Some(day) = self.day_of_year {
            return Ok(days_from_civil(year, 1, 1) + day - 1);
        }
        if let Some(week) = self.week {
            return Ok(days_from_civil(year, 1, 1) + (week - 1) * 7);
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return Err(Found::range(text));
        }
        Ok(days_from_civil(year, month, day))
    }

    fn time(&self, text: &str) -> SqlResult<i64> {
        if let Some(seconds) = self.of_day {
            return Ok(seconds * SECOND + self.micros);
        }
        let mut hour = self.hour;
        if self.twelve {
            if !(1..=12).contains(&hour) {
                return Err(sql_err!(
                    INVALID_DATETIME_FORMAT,
                    "hour \"{hour}\" is invalid for the 12-hour clock"
                )
                .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
            }
            hour = match self.pm {
                Some(true) if hour < 12 => hour + 12,
                Some(false) if hour == 12 => 0,
                _ => hour,
            };
        }
        if !(0..24).contains(&hour) || !(0..60).contains(&self.minute) || !(0..60).contains(&self.second) {
            return Err(Found::range(text));
        }
        Ok(hour * HOUR + self.minute * MINUTE + self.second * SECOND + self.micros)
    }
}

fn to_timestamp(cx: &Call, text: &str, template: &str) -> SqlResult<Option<i64>> {
    let found = read(text, template)?;
    let local = found.days(text)?.checked_mul(DAY).and_then(|d| d.checked_add(found.time(text).ok()?));
    found.time(text)?;
    let local = local.ok_or_else(timestamp::out_of_range)?;
    match found.offset {
        Some(offset) => timestamp::check(local - offset * SECOND).map(Some),
        None => timestamp::from_local(local, cx).map(Some),
    }
}

fn to_date(text: &str, template: &str) -> SqlResult<i32> {
    let found = read(text, template)?;
    found.time(text)?;
    let days = found.days(text)?;
    let (year, month, day) = civil_from_days(days);
    Fields { year, month, day, hour: 0, minute: 0, second: 0, micros: 0 }
        .timestamp()
        .map(|_| days as i32)
        .ok_or_else(|| sql_err!(DATETIME_FIELD_OVERFLOW, "date out of range: \"{text}\""))
}
