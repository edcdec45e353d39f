//! `to_char` of timestamps and intervals.

use base::{SqlResult, sql_err};

use crate::{
    calendar::{
        Fields, HOUR, JULIAN_2000, MINUTE, MONTHS, SECOND, WEEKDAYS, day_of_year, iso_week, iso_week_start,
        weekday,
    },
    call::Call,
    interval::Interval,
    timestamp,
    timezone::Local,
};

use super::{Piece, ordinal_suffix, parse, roman};

functions! {
    2049 to_char(timestamp, text) -> text [stable strict] { |a: i64, template: &str| timestamp_text(a, template, None) }
    1770 to_char(timestamptz, text) -> text [stable strict] { |cx; a: i64, template: &str| zoned_text(cx, a, template) }
    1768 to_char(interval, text) -> text [stable strict] { |a: Interval, template: &str| interval_text(&a, template) }
}

fn zoned_text(cx: &Call, ts: i64, template: &str) -> Option<String> {
    if !timestamp::is_finite(ts) {
        return timestamp_text(ts, template, None);
    }
    let local = cx.format.time_zone.at(ts);
    timestamp_text(ts + i64::from(local.offset) * SECOND, template, Some(local))
}

fn timestamp_text(ts: i64, template: &str, zone: Option<&Local>) -> Option<String> {
    if !timestamp::is_finite(ts) || template.is_empty() {
        return None;
    }
    let fields = Fields::of(ts);
    let mut out = String::new();
    for piece in parse(template) {
        match piece {
            Piece::Literal(text) => out.push_str(&text),
            Piece::Field { name, fill, ordinal } => {
                push(&mut out, &date_field(name, &fields, zone, fill), ordinal)
            }
        }
    }
    Some(out)
}

fn push(out: &mut String, text: &str, ordinal: Option<bool>) {
    out.push_str(text);
    if let Some(upper) = ordinal
        && text.bytes().any(|b| b.is_ascii_digit())
    {
        out.push_str(ordinal_suffix(text, upper));
    }
}

/// A number with zeros up to `width`, or as it is after FM.
fn digits(value: i64, width: usize, fill: bool) -> String {
    if fill {
        return value.to_string();
    }
    if value < 0 { format!("-{:0width$}", -value) } else { format!("{value:0width$}") }
}

/// A name with blanks up to the longest of its kind, or as it is after FM.
fn name(text: &str, width: usize, fill: bool) -> String {
    if fill { text.to_owned() } else { format!("{text:<width$}") }
}

fn shown_year(year: i64) -> i64 {
    if year <= 0 { 1 - year } else { year }
}

/// The field of a time of day; hours may count beyond a day (intervals).
fn time_field(field: &str, hour: i64, f: &Fields, fill: bool) -> Option<String> {
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let pm = hour.rem_euclid(24) >= 12;
    let half = |am: &str, after: &str| Some(if pm { after.to_owned() } else { am.to_owned() });
    match field {
        "HH24" => Some(digits(hour, 2, fill)),
        "HH" | "HH12" => Some(digits(twelve, 2, fill)),
        "MI" => Some(digits(f.minute, 2, fill)),
        "SS" => Some(digits(f.second, 2, fill)),
        "MS" => Some(digits(f.micros / 1000, 3, fill)),
        "US" => Some(digits(f.micros, 6, fill)),
        "SSSS" | "SSSSS" => Some(digits(hour * 3600 + f.minute * 60 + f.second, 1, fill)),
        "AM" | "PM" => half("AM", "PM"),
        "am" | "pm" => half("am", "pm"),
        "A.M." | "P.M." => half("A.M.", "P.M."),
        "a.m." | "p.m." => half("a.m.", "p.m."),
        _ => {
            let places = field.strip_prefix("FF")?.parse::<u32>().ok()?;
            Some(format!("{:0width$}", f.micros / 10i64.pow(6 - places), width = places as usize))
        }
    }
}

fn zone_field(field: &str, zone: Option<&Local>) -> Option<String> {
    let offset = zone.map_or(0, |z| z.offset);
    let sign = if offset < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset.abs() / 3600, offset.abs() / 60 % 60);
    Some(match field {
        "TZ" => zone.map_or(String::new(), |z| z.abbreviation.to_uppercase()),
        "tz" => zone.map_or(String::new(), |z| z.abbreviation.to_lowercase()),
        "TZH" => format!("{sign}{hours:02}"),
        "TZM" => format!("{minutes:02}"),
        "OF" if minutes == 0 => format!("{sign}{hours:02}"),
        "OF" => format!("{sign}{hours:02}:{minutes:02}"),
        _ => return None,
    })
}

fn name_field(field: &str, f: &Fields, fill: bool) -> Option<String> {
    let month = MONTHS[f.month as usize - 1];
    let day = WEEKDAYS[weekday(f.days()) as usize];
    let bc = f.year <= 0;
    let era = |bc_text: &str, ad: &str| Some(if bc { bc_text.to_owned() } else { ad.to_owned() });
    match field {
        "MONTH" => Some(name(&month.to_uppercase(), 9, fill)),
        "Month" => Some(name(month, 9, fill)),
        "month" => Some(name(&month.to_lowercase(), 9, fill)),
        "MON" => Some(month[..3].to_uppercase()),
        "Mon" => Some(month[..3].to_owned()),
        "mon" => Some(month[..3].to_lowercase()),
        "DAY" => Some(name(&day.to_uppercase(), 9, fill)),
        "Day" => Some(name(day, 9, fill)),
        "day" => Some(name(&day.to_lowercase(), 9, fill)),
        "DY" => Some(day[..3].to_uppercase()),
        "Dy" => Some(day[..3].to_owned()),
        "dy" => Some(day[..3].to_lowercase()),
        "BC" | "AD" => era("BC", "AD"),
        "bc" | "ad" => era("bc", "ad"),
        "B.C." | "A.D." => era("B.C.", "A.D."),
        "b.c." | "a.d." => era("b.c.", "a.d."),
        "RM" => Some(name(&roman(f.month), 4, fill)),
        "rm" => Some(name(&roman(f.month).to_lowercase(), 4, fill)),
        _ => None,
    }
}

fn date_field(field: &str, f: &Fields, zone: Option<&Local>, fill: bool) -> String {
    let common = time_field(field, f.hour, f, fill)
        .or_else(|| zone_field(field, zone))
        .or_else(|| name_field(field, f, fill));
    if let Some(text) = common {
        return text;
    }
    let days = f.days();
    let (iso_year, week) = iso_week(days);
    let year = shown_year(f.year);
    match field {
        "Y,YYY" => format!("{},{:03}", year / 1000, year % 1000),
        "YYYY" => digits(year, 4, fill),
        "YYY" => digits(year % 1000, 3, fill),
        "YY" => digits(year % 100, 2, fill),
        "Y" => digits(year % 10, 1, fill),
        "IYYY" => digits(shown_year(iso_year), 4, fill),
        "IYY" => digits(shown_year(iso_year) % 1000, 3, fill),
        "IY" => digits(shown_year(iso_year) % 100, 2, fill),
        "I" => digits(shown_year(iso_year) % 10, 1, fill),
        "MM" => digits(f.month, 2, fill),
        "DDD" => digits(day_of_year(f.year, days), 3, fill),
        "IDDD" => digits(days - iso_week_start(iso_year, 1) + 1, 3, fill),
        "DD" => digits(f.day, 2, fill),
        "D" => (weekday(days) + 1).to_string(),
        "ID" => ((weekday(days) + 6) % 7 + 1).to_string(),
        "WW" => digits((day_of_year(f.year, days) - 1) / 7 + 1, 2, fill),
        "IW" => digits(week, 2, fill),
        "W" => ((f.day - 1) / 7 + 1).to_string(),
        "Q" => ((f.month - 1) / 3 + 1).to_string(),
        "CC" => {
            let century = if f.year > 0 { (f.year - 1) / 100 + 1 } else { f.year / 100 - 1 };
            digits(century, 2, fill)
        }
        "J" => (days + JULIAN_2000).to_string(),
        _ => String::new(),
    }
}

fn interval_text(value: &Interval, template: &str) -> SqlResult<Option<String>> {
    if !value.is_finite() || template.is_empty() {
        return Ok(None);
    }
    let hour = value.micros / HOUR;
    let f = Fields {
        year: i64::from(value.months / 12),
        month: i64::from(value.months % 12),
        day: value.days.into(),
        hour,
        minute: value.micros / MINUTE % 60,
        second: value.micros / SECOND % 60,
        micros: value.micros % SECOND,
    };
    let mut out = String::new();
    for piece in parse(template) {
        let (field, fill, ordinal) = match piece {
            Piece::Literal(text) => {
                out.push_str(&text);
                continue;
            }
            Piece::Field { name, fill, ordinal } => (name, fill, ordinal),
        };
        let text = match time_field(field, hour, &f, fill) {
            Some(text) => text,
            None => interval_field(field, &f, fill)?,
        };
        push(&mut out, &text, ordinal);
    }
    Ok(Some(out))
}

/// The months of an interval as a Roman numeral. Negative ones count from the end of the year, as none of a negative number of years does.
fn interval_month(f: &Fields, fill: bool) -> String {
    let month = match (f.month, f.year) {
        (0, 0) => return String::new(),
        (0, 1..) => 12,
        (0, _) => 1,
        (month @ ..0, _) => 13 + month,
        (month, _) => month,
    };
    name(&roman(month), 4, fill)
}

/// A field of an interval. Some count the minus sign as one of their places, and some add one for it.
fn interval_field(field: &str, f: &Fields, fill: bool) -> SqlResult<String> {
    let within = |value: i64, width: usize| match fill {
        true => value.to_string(),
        false => format!("{value:0width$}"),
    };
    let day = f.year * 360 + f.month * 30 + f.day;
    Ok(match field {
        "Y,YYY" => format!("{},{:03}", f.year / 1000, f.year % 1000),
        "YYYY" | "IYYY" => digits(f.year, 4, fill),
        "YYY" | "IYY" => digits(f.year % 1000, 3, fill),
        "YY" | "IY" => digits(f.year % 100, 2, fill),
        "Y" | "I" => digits(f.year % 10, 1, fill),
        "MM" => digits(f.month, 2, fill),
        "DD" => within(f.day, 2),
        "DDD" => within(day, 3),
        "CC" => digits(f.year / 100, 2, fill),
        "W" => ((f.day - 1) / 7 + 1).to_string(),
        "WW" => within((day - 1) / 7 + 1, 2),
        "Q" if f.month == 0 => String::new(),
        "Q" => ((f.month - 1) / 3 + 1).to_string(),
        "RM" => interval_month(f, fill),
        "rm" => interval_month(f, fill).to_lowercase(),
        _ => {
            return Err(sql_err!(
                INVALID_DATETIME_FORMAT,
                "invalid format specification for an interval value"
            )
            .hint("Intervals are not tied to specific calendar dates."));
        }
    })
}
