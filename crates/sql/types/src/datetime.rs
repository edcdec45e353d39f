//! Reading dates and times in the many forms that PostgreSQL takes.

use std::cell::Cell;
use std::sync::Arc;

use base::{SqlError, SqlResult, sql_err};

use crate::{
    calendar::{
        DAY, Fields, HOUR, JULIAN_2000, MINUTE, MONTHS, SECOND, WEEKDAYS, civil_from_days, days_from_civil,
        days_in_month, is_leap,
    },
    call::{Call, DateOrder},
    timezone::{self, Abbreviations, TimeZone, Zone},
};

/// Words that stand for a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `now`
    Now,
    /// `today`
    Today,
    /// `tomorrow`
    Tomorrow,
    /// `yesterday`
    Yesterday,
    /// `epoch`
    Epoch,
    /// `infinity`
    Infinity,
    /// `-infinity`
    MinusInfinity,
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// A word instead of a date.
    pub special: Option<Special>,
    /// Year (0 is 1 BC), month, day.
    pub date: Option<(i64, i64, i64)>,
    /// Microseconds since midnight, up to a whole day.
    pub time: Option<i64>,
    /// Zone.
    pub zone: Option<Zone>,
}

/// Why a text was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No date or time.
    Syntax,
    /// A field outside its range.
    Range,
    /// A month or day outside its range: another DateStyle might help.
    MonthDay,
    /// An offset outside its range.
    Displacement,
    /// No such zone.
    UnknownZone(String),
}

impl Failure {
    /// The error for a value of `type_name`.
    pub fn error(self, text: &str, type_name: &str) -> SqlError {
        match self {
            Failure::Syntax => {
                sql_err!(INVALID_DATETIME_FORMAT, "invalid input syntax for type {type_name}: \"{text}\"")
            }
            Failure::Range => {
                sql_err!(DATETIME_FIELD_OVERFLOW, "date/time field value out of range: \"{text}\"")
            }
            Failure::MonthDay => {
                sql_err!(DATETIME_FIELD_OVERFLOW, "date/time field value out of range: \"{text}\"")
                    .hint("Perhaps you need a different \"DateStyle\" setting.")
            }
            Failure::Displacement => {
                sql_err!(
                    INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
                    "time zone displacement out of range: \"{text}\""
                )
            }
            Failure::UnknownZone(zone) => {
                sql_err!(INVALID_PARAMETER_VALUE, "time zone \"{zone}\" not recognized")
            }
        }
    }
}

type Read<T> = Result<T, Failure>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Am,
    Pm,
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    order: DateOrder,
    zone: &'a Arc<TimeZone>,
    abbreviations: Abbreviations,
    out: Parsed,
    /// Numbers of a date that is written with blanks, with their digits.
    numbers: Vec<(i64, usize)>,
    month_word: Option<i64>,
    /// Where among the numbers the month's word stood.
    month_position: usize,
    bc: bool,
    /// The year as written, if it had one or two digits: that of an era has no century added.
    short_year: Option<i64>,
    half: Option<Half>,
    weekday: bool,
    iso_time: bool,
    day_of_year: Option<i64>,
}

/// Reads a text; the meaning of missing parts is the caller's.
pub fn parse(text: &str, cx: &Call) -> Read<Parsed> {
    if text.len() > 128 {
        return Err(Failure::Syntax);
    }
    let mut parser = Parser {
        bytes: text.as_bytes(),
        at: 0,
        order: cx.format.date_order,
        zone: &cx.format.time_zone,
        abbreviations: cx.format.abbreviations,
        out: Parsed::default(),
        numbers: Vec::new(),
        month_word: None,
        month_position: 0,
        bc: false,
        short_year: None,
        half: None,
        weekday: false,
        iso_time: false,
        day_of_year: None,
    };
    parser.run()?;
    parser.finish()
}

/// Seconds east of UTC that `±hh[:mm[:ss]]` means: `None` if it is nothing like that, `Some(None)` out of range.
pub fn numeric_offset(text: &str) -> Option<Option<i32>> {
    let negative = match text.as_bytes().first()? {
        b'-' => true,
        b'+' => false,
        _ => return None,
    };
    let mut fields = [0i32; 3];
    let mut count = 0;
    for (field, part) in fields.iter_mut().zip(text[1..].splitn(3, ':')) {
        let end = part.bytes().take_while(u8::is_ascii_digit).count();
        if end < part.len() {
            return None;
        }
        *field = part[..end].parse().unwrap_or(if end == 0 { 0 } else { i32::MAX });
        count = if count == 0 { end } else { count };
    }
    let [mut hour, mut minute, second] = fields;
    if !text.contains(':') && count > 2 {
        (hour, minute) = (hour / 100, hour % 100);
    }
    if hour > 15 || minute > 59 || second > 59 {
        return Some(None);
    }
    let offset = hour * 3600 + minute * 60 + second;
    Some(Some(if negative { -offset } else { offset }))
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) -> Read<()> {
        while let Some(c) = self.peek() {
            match c {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | b',' => self.at += 1,
                b'0'..=b'9' => self.number()?,
                b'+' | b'-'
                    if self.peek_at(1).is_ascii_digit()
                        && (self.out.time.is_some()
                            || self.out.date.is_some()
                            || !self.numbers.is_empty()) =>
                {
                    self.offset()?;
                }
                b'-' | b'+' if self.peek_at(1).is_ascii_alphabetic() => {
                    let negative = c == b'-';
                    self.at += 1;
                    let word = self.word();
                    match (word.as_str(), negative) {
                        ("infinity" | "inf", false) => self.out.special = Some(Special::Infinity),
                        ("infinity" | "inf", true) => self.out.special = Some(Special::MinusInfinity),
                        _ => return Err(Failure::Syntax),
                    }
                }
                b'a'..=b'z' | b'A'..=b'Z' => self.letters()?,
                // A lone separator between parts.
                b'-' | b'/' | b'.' if !self.numbers.is_empty() || self.month_word.is_some() => self.at += 1,
                _ => return Err(Failure::Syntax),
            }
        }
        Ok(())
    }

    fn digits(&mut self) -> (i64, usize) {
        let start = self.at;
        let mut value = 0i64;
        while let Some(d @ b'0'..=b'9') = self.peek() {
            value = value.saturating_mul(10).saturating_add(i64::from(d - b'0'));
            self.at += 1;
        }
        (value, self.at - start)
    }

    /// `.ffffff` in microseconds, rounded; 0 where there is none.
    fn fraction(&mut self) -> i64 {
        if self.peek() != Some(b'.') {
            return 0;
        }
        self.at += 1;
        let start = self.at;
        self.digits();
        fraction_micros(&self.bytes[start..self.at])
    }

    fn number(&mut self) -> Read<()> {
        let start = self.at;
        let (value, length) = self.digits();
        match self.peek() {
            Some(b':') => {
                self.at = start;
                return self.clock();
            }
            Some(b'-' | b'/' | b'.') if self.out.date.is_none() && self.is_date(start) => {
                self.at = start;
                return self.delimited_date();
            }
            Some(b'.') if self.out.date.is_some() || self.iso_time => {
                // hhmmss.fff
                let micros = self.fraction();
                return self.compact_time(value, length, micros);
            }
            _ => {}
        }
        if self.iso_time && self.out.time.is_none() {
            return self.compact_time(value, length, 0);
        }
        let has_date = self.out.date.is_some() || self.day_of_year.is_some();
        match length {
            8 if !has_date => self.out.date = Some((value / 10_000, value / 100 % 100, value % 100)),
            7 if !has_date => {
                self.out.date = Some((value / 1000, 1, 1));
                self.day_of_year = Some(value % 1000);
            }
            6 if !has_date && self.numbers.is_empty() => {
                self.short_year = Some(value / 10_000);
                self.out.date = Some((two_digit_year(value / 10_000), value / 100 % 100, value % 100));
            }
            6 if has_date => return self.compact_time(value, length, 0),
            4 if has_date && self.out.time.is_none() => return self.compact_time(value, length, 0),
            1 | 2 if has_date && self.out.time.is_none() => {
                // An hour that AM or PM follows.
                self.out.time = Some(value * HOUR);
            }
            _ => self.numbers.push((value, length)),
        }
        Ok(())
    }

    /// Whether a date with separators begins here: a digit or letter behind the separator, and a second one.
    fn is_date(&self, start: usize) -> bool {
        let rest = &self.bytes[start..];
        let first = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let delimiter = rest[first];
        let second = &rest[first + 1..];
        let length = second.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        if length == 0 {
            return false;
        }
        let after = second.get(length).copied().unwrap_or(0);
        // `1999.123` is a year and a day of it; `12.5` alone is nothing.
        after == delimiter
            || second[0].is_ascii_alphabetic()
            || (delimiter == b'.' && length == 3 && first == 4)
            || (delimiter == b'-' && length == 3 && first == 4)
    }

    fn delimited_date(&mut self) -> Read<()> {
        let mut parts: Vec<(i64, usize)> = Vec::new();
        let (value, length) = self.digits();
        parts.push((value, length));
        let delimiter = self.peek();
        let mut month = None;
        while self.peek() == delimiter && parts.len() + usize::from(month.is_some()) < 3 {
            if !self.peek_at(1).is_ascii_alphanumeric() {
                break;
            }
            self.at += 1;
            if self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
                let word = self.word();
                month = Some((month_of(&word).ok_or(Failure::Syntax)?, parts.len()));
            } else {
                let part = self.digits();
                parts.push(part);
            }
        }
        if month.is_none() && parts.len() == 2 {
            if parts[1].1 == 3 {
                self.out.date = Some((parts[0].0, 1, 1));
                self.day_of_year = Some(parts[1].0);
                return Ok(());
            }
            return Err(Failure::Syntax);
        }
        if let Some((month, position)) = month {
            self.month_word = Some(month);
            self.month_position = position;
        }
        self.numbers.extend(parts);
        self.settle_date()
    }

    /// Turns the collected numbers into a date.
    fn settle_date(&mut self) -> Read<()> {
        let numbers = std::mem::take(&mut self.numbers);
        let short = Cell::new(None);
        let year = |(value, length): (i64, usize)| match length {
            0..=2 => {
                short.set(Some(value));
                two_digit_year(value)
            }
            _ => value,
        };
        self.out.date = Some(match (self.month_word, numbers.as_slice()) {
            (Some(month), [a, b]) => {
                let year_first = a.1 > 2
                    || (b.1 <= 2 && self.order == DateOrder::Ymd && self.month_position > 0 && a.0 > 31);
                let year_first =
                    year_first || (self.order == DateOrder::Ymd && b.1 <= 2 && self.month_position == 1);
                if year_first { (year(*a), month, b.0) } else { (year(*b), month, a.0) }
            }
            (None, [a, b, c]) => {
                if a.1 >= 3 {
                    (a.0, b.0, c.0)
                } else {
                    match self.order {
                        DateOrder::Ymd => (year(*a), b.0, c.0),
                        DateOrder::Dmy => (year(*c), b.0, a.0),
                        DateOrder::Mdy => (year(*c), a.0, b.0),
                    }
                }
            }
            _ => return Err(Failure::Syntax),
        });
        self.short_year = short.get();
        Ok(())
    }

    /// `hh:mm[:ss[.f]]`
    fn clock(&mut self) -> Read<()> {
        if self.out.time.is_some() {
            return Err(Failure::Syntax);
        }
        let (hour, _) = self.digits();
        self.at += 1;
        let (minute, length) = self.digits();
        if length == 0 {
            return Err(Failure::Syntax);
        }
        let (mut second, mut micros) = (0, 0);
        if self.peek() == Some(b':') {
            self.at += 1;
            let (value, length) = self.digits();
            if length == 0 {
                return Err(Failure::Syntax);
            }
            second = value;
            micros = self.fraction();
        } else if self.peek() == Some(b'.') {
            // mm:ss.f
            micros = self.fraction();
            return self.set_time(0, hour, minute, micros);
        }
        self.set_time(hour, minute, second, micros)
    }

    fn set_time(&mut self, hour: i64, minute: i64, second: i64, micros: i64) -> Read<()> {
        if minute > 59 || second > 60 || hour > 24 {
            return Err(Failure::Range);
        }
        let time = hour * HOUR + minute * MINUTE + second * SECOND + micros;
        if time > DAY {
            return Err(Failure::Range);
        }
        self.out.time = Some(time);
        Ok(())
    }

    /// `hhmmss`, `hhmm` or `hh`
    fn compact_time(&mut self, value: i64, length: usize, micros: i64) -> Read<()> {
        if self.out.time.is_some() {
            return Err(Failure::Syntax);
        }
        match length {
            6 => self.set_time(value / 10_000, value / 100 % 100, value % 100, micros),
            4 => self.set_time(value / 100, value % 100, 0, micros),
            1 | 2 => self.set_time(value, 0, 0, micros),
            _ => Err(Failure::Syntax),
        }
    }

    /// `±hh[[:]mm[:ss]]`
    fn offset(&mut self) -> Read<()> {
        if self.out.zone.is_some() {
            return Err(Failure::Syntax);
        }
        let negative = self.peek() == Some(b'-');
        self.at += 1;
        let offset = self.offset_value()?;
        self.out.zone = Some(Zone::Offset(if negative { -offset } else { offset }));
        Ok(())
    }

    fn offset_value(&mut self) -> Read<i32> {
        let (value, length) = self.digits();
        let (mut hour, mut minute, mut second) = (value, 0, 0);
        if self.peek() == Some(b':') {
            self.at += 1;
            minute = self.digits().0;
            if self.peek() == Some(b':') {
                self.at += 1;
                second = self.digits().0;
            }
        } else if length > 4 {
            (hour, minute, second) = (value / 10_000, value / 100 % 100, value % 100);
        } else if length > 2 {
            (hour, minute) = (value / 100, value % 100);
        }
        if hour > 15 || minute > 59 || second > 59 {
            return Err(Failure::Displacement);
        }
        Ok((hour * 3600 + minute * 60 + second) as i32)
    }

    /// Letters, with what may stand inside a zone's name.
    fn word(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.bytes[start..self.at]).to_ascii_lowercase()
    }

    fn letters(&mut self) -> Read<()> {
        let start = self.at;
        let word = self.word();
        // `T` before a time, `J` before a Julian day.
        if word == "t" && self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.iso_time = true;
            return self.number();
        }
        if word == "j" && self.peek().is_some_and(|c| c.is_ascii_digit()) {
            let (value, _) = self.digits();
            if value > 2_147_483_494 + JULIAN_2000 {
                return Err(Failure::Range);
            }
            self.out.date = Some(civil_from_days(value - JULIAN_2000));
            return Ok(());
        }
        if self.known_word(&word)? {
            if self.peek() == Some(b'.') {
                self.at += 1;
            }
            return Ok(());
        }
        self.at = start;
        self.zone_name()
    }

    fn known_word(&mut self, word: &str) -> Read<bool> {
        match word {
            "now" => self.out.special = Some(Special::Now),
            "today" => self.out.special = Some(Special::Today),
            "tomorrow" => self.out.special = Some(Special::Tomorrow),
            "yesterday" => self.out.special = Some(Special::Yesterday),
            "epoch" => self.out.special = Some(Special::Epoch),
            "infinity" | "inf" => self.out.special = Some(Special::Infinity),
            "allballs" => {
                self.out.time = Some(0);
                self.out.zone = Some(Zone::Offset(0));
            }
            "am" => self.half = Some(Half::Am),
            "pm" => self.half = Some(Half::Pm),
            "bc" => self.bc = true,
            "ad" | "at" | "on" => {}
            "z" | "zulu" | "utc" | "gmt" if !self.peek().is_some_and(|c| matches!(c, b'+' | b'-')) => {
                if self.out.zone.is_some() {
                    return Err(Failure::Syntax);
                }
                self.out.zone = Some(Zone::Offset(0));
            }
            "dst" => {
                if let Some(Zone::Offset(offset)) = &mut self.out.zone {
                    *offset += 3600;
                }
            }
            _ => {
                if let Some(month) = month_of(word) {
                    if self.month_word.is_some() || self.out.date.is_some() {
                        return Err(Failure::Syntax);
                    }
                    self.month_word = Some(month);
                    self.month_position = self.numbers.len();
                    self.after_month()?;
                } else if is_weekday(word) {
                    self.weekday = true;
                } else {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// `-dd-yyyy` behind a month's word.
    fn after_month(&mut self) -> Read<()> {
        if !self.numbers.is_empty() {
            return Ok(());
        }
        while self.numbers.len() < 2
            && matches!(self.peek(), Some(b'-' | b'/' | b'.'))
            && self.peek_at(1).is_ascii_digit()
        {
            self.at += 1;
            let number = self.digits();
            self.numbers.push(number);
        }
        if self.numbers.len() == 2 { self.settle_date() } else { Ok(()) }
    }

    /// A zone: abbreviation or full name; `name±hh` is POSIX and counts west.
    fn zone_name(&mut self) -> Read<()> {
        let start = self.at;
        while self.peek().is_some_and(|c| {
            c.is_ascii_alphanumeric() || matches!(c, b'_' | b'/' | b'+' | b'-' | b',' | b'.' | b':')
        }) {
            self.at += 1;
        }
        let mut name = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        while name.ends_with(',') || name.ends_with('.') {
            name.pop();
        }
        if self.out.zone.is_some() {
            return Err(Failure::Syntax);
        }
        if let Some(zone) = timezone::abbreviation(&name, self.zone, self.abbreviations) {
            self.out.zone = Some(zone);
        } else if name.len() > 2
            && let Some(zone) = TimeZone::named(&name)
        {
            self.out.zone = Some(Zone::Named(zone));
        } else if name.contains('/') {
            return Err(Failure::UnknownZone(name.to_ascii_lowercase()));
        } else {
            return Err(Failure::Syntax);
        }
        Ok(())
    }

    fn finish(mut self) -> Read<Parsed> {
        if self.out.date.is_none() && (!self.numbers.is_empty() || self.month_word.is_some()) {
            self.settle_date()?;
        }
        if let Some(half) = self.half {
            let time = self.out.time.ok_or(Failure::Syntax)?;
            if time >= 13 * HOUR {
                return Err(Failure::Range);
            }
            let noon = time >= 12 * HOUR;
            self.out.time = Some(match half {
                Half::Am if noon => time - 12 * HOUR,
                Half::Pm if !noon => time + 12 * HOUR,
                _ => time,
            });
        }
        if let Some((year, month, day)) = self.out.date {
            let year = self.short_year.filter(|_| self.bc).unwrap_or(year);
            if year == 0 && self.out.special.is_none() && day != 0 && !self.is_julian() {
                return Err(Failure::Range);
            }
            let year = if self.bc { 1 - year } else { year };
            if let Some(n) = self.day_of_year {
                if n < 1 || n > 365 + i64::from(is_leap(year)) {
                    return Err(Failure::Range);
                }
                self.out.date = Some(civil_from_days(days_from_civil(year, 1, 1) + n - 1));
                return Ok(self.out);
            }
            if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
                return Err(Failure::MonthDay);
            }
            if day > days_in_month(year, month) {
                return Err(Failure::Range);
            }
            self.out.date = Some((year, month, day));
        }
        let nothing = self.out.date.is_none() && self.out.time.is_none() && self.out.special.is_none();
        if nothing {
            return Err(Failure::Syntax);
        }
        Ok(self.out)
    }

    fn is_julian(&self) -> bool {
        self.bytes.first().is_some_and(|b| b.eq_ignore_ascii_case(&b'j'))
    }
}

/// Digits behind a point as microseconds, rounded half up.
pub fn fraction_micros(digits: &[u8]) -> i64 {
    let mut value = 0;
    for i in 0..6 {
        value = value * 10 + digits.get(i).map_or(0, |d| i64::from(d - b'0'));
    }
    value + i64::from(digits.get(6).is_some_and(|d| *d >= b'5'))
}

fn two_digit_year(year: i64) -> i64 {
    match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    }
}

fn month_of(word: &str) -> Option<i64> {
    if word == "sept" {
        return Some(9);
    }
    let found = MONTHS
        .iter()
        .position(|m| m.eq_ignore_ascii_case(word) || (word.len() == 3 && m[..3].eq_ignore_ascii_case(word)));
    found.map(|i| i as i64 + 1)
}

fn is_weekday(word: &str) -> bool {
    matches!(word, "tues" | "wednes" | "weds" | "thur" | "thurs")
        || WEEKDAYS
            .iter()
            .any(|d| d.eq_ignore_ascii_case(word) || (word.len() == 3 && d[..3].eq_ignore_ascii_case(word)))
}

impl Parsed {
    /// The local moment: date and time, midnight where there is no time. `None` without a date.
    pub fn local(&self) -> Option<i64> {
        let (year, month, day) = self.date?;
        let midnight = Fields { year, month, day, hour: 0, minute: 0, second: 0, micros: 0 }.timestamp()?;
        midnight.checked_add(self.time.unwrap_or(0))
    }
}

/// What a text says, or an error for a value of this type that cannot be read.
pub fn read(text: &str, type_name: &str, cx: &Call) -> SqlResult<Parsed> {
    if let Some(parsed) = iso(text.as_bytes()) {
        return Ok(parsed);
    }
    parse(text, cx).map_err(|failure| failure.error(text, type_name))
}

/// The commonest forms: `2024-02-29`, and the same with a time of day as in `2024-02-29 13:05:59.5`. None if it is another, or something is wrong with it.
fn iso(text: &[u8]) -> Option<Parsed> {
    let digits = |range: std::ops::Range<usize>| {
        let digit = |number, byte: &u8| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'));
        text.get(range)?.iter().try_fold(0, digit)
    };
    let is = |at: usize, byte: u8| text.get(at) == Some(&byte);
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    let is_date = is(4, b'-') && is(7, b'-') && year > 0 && (1..=12).contains(&month);
    if !is_date || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    let date = Parsed { date: Some((year, month, day)), ..Parsed::default() };
    if text.len() == 10 {
        return Some(date);
    }
    let (hour, minute, second) = (digits(11..13)?, digits(14..16)?, digits(17..19)?);
    if !is(10, b' ') || !is(13, b':') || !is(16, b':') || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut time = hour * HOUR + minute * MINUTE + second * SECOND;
    if text.len() > 19 {
        let shown = text.len() - 20;
        if !is(19, b'.') || !(1..=6).contains(&shown) {
            return None;
        }
        time += digits(20..text.len())? * 10i64.pow(6 - shown as u32);
    }
    Some(Parsed { time: Some(time), ..date })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_reads_what_the_long_one_does() {
        let format = crate::FormatContext::default();
        let call = Call::new(&format);
        let said = |parsed: &Parsed| (parsed.date, parsed.time, parsed.zone.is_some(), parsed.special);
        let plain = [
            "2024-02-29",
            "0001-01-01",
            "9999-12-31 23:59:59.999999",
            "2024-01-01 00:00:00",
            "1999-07-08 01:02:03.5",
        ];
        for text in plain {
            let short = iso(text.as_bytes()).expect(text);
            assert_eq!(said(&short), said(&parse(text, &call).expect(text)), "{text}");
        }
        let others = [
            "2023-02-29",
            "0000-01-01",
            "2024-13-01",
            "2024-01-01 24:00:00",
            "2024-01-01 23:59:60",
            "2024-01-01 10:00",
            "2024-01-01T10:00:00",
            "2024-01-01 10:00:00.",
            "2024-01-01 10:00:00.1234567",
            "2024-01-01 10:00:00+02",
            "2024-01-01 ",
            "24-01-01",
            "2024-1-1",
            "2024-01-01 10:00:00 BC",
            "now",
        ];
        for text in others {
            assert!(iso(text.as_bytes()).is_none(), "{text}");
        }
    }

    fn date(text: &str) -> Option<(i64, i64, i64)> {
        let format = crate::FormatContext::default();
        parse(text, &Call::new(&format)).ok()?.date
    }

    #[test]
    fn a_month_by_name_may_come_first() {
        for text in ["Feb-10-1997 17:32:01 PST", "Feb/10/1997", "feb.10.1997", "February 10, 1997"] {
            assert_eq!(date(text), Some((1997, 2, 10)), "{text}");
        }
        assert_eq!(date("Jan-08-99"), Some((1999, 1, 8)));
    }

    #[test]
    fn offsets_without_a_date_are_numbers_with_a_sign() {
        assert_eq!(numeric_offset("+05:30"), Some(Some(19_800)));
        assert_eq!(numeric_offset("-0530"), Some(Some(-19_800)));
        assert_eq!(numeric_offset("+1:"), Some(Some(3_600)));
        assert_eq!(numeric_offset("+16"), Some(None));
        assert_eq!(numeric_offset("UTC"), None);
    }
}
