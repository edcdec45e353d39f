//! Moments as text, in a time zone: as the log shows them in `log_timezone`.

use std::fmt::Write as _;

use crate::calendar::{
    MONTHS, SECOND as MICROS, UNIX_SECONDS, WEEKDAYS, civil_from_days, day_of_year, weekday,
};
use crate::timezone::TimeZone;

/// A moment, taken apart.
#[derive(Debug)]
pub struct Moment {
    days: i64,
    second: i64,
    micros: i64,
    zone: String,
    offset: i32,
}

impl Moment {
    /// Of microseconds since 2000-01-01 UTC.
    pub fn new(micros: i64, zone: &TimeZone) -> Moment {
        let there = zone.at(micros);
        let local = micros.div_euclid(MICROS) + i64::from(there.offset);
        Moment {
            days: local.div_euclid(86_400),
            second: local.rem_euclid(86_400),
            micros: micros.rem_euclid(MICROS),
            zone: there.abbreviation.clone(),
            offset: there.offset,
        }
    }

    /// `2026-01-31 12:00:00.123 CET`
    pub fn text(&self, millis: bool) -> String {
        let (year, month, day) = civil_from_days(self.days);
        let mut out = format!("{year:04}-{month:02}-{day:02} {}", self.clock());
        if millis {
            let _ = write!(out, ".{:03}", self.micros / 1000);
        }
        let _ = write!(out, " {}", self.zone);
        out
    }

    fn clock(&self) -> String {
        format!("{:02}:{:02}:{:02}", self.second / 3600, self.second / 60 % 60, self.second % 60)
    }

    /// C's `strftime`, in the C locale.
    pub fn format(&self, pattern: &str) -> String {
        let mut out = String::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' => match chars.next() {
                    Some(escape) => self.escape(escape, &mut out),
                    None => out.push('%'),
                },
                other => out.push(other),
            }
        }
        out
    }

    fn escape(&self, escape: char, out: &mut String) {
        let (year, month, day) = civil_from_days(self.days);
        let (hour, of_week) = (self.second / 3600, weekday(self.days));
        let of_year = day_of_year(year, self.days) - 1;
        let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
        let unix = self.days * 86_400 + self.second - i64::from(self.offset) + UNIX_SECONDS;
        let (month_name, day_name) = (MONTHS[month as usize - 1], WEEKDAYS[of_week as usize]);
        let _ = match escape {
            'a' => write!(out, "{}", &day_name[..3]),
            'A' => write!(out, "{day_name}"),
            'b' | 'h' => write!(out, "{}", &month_name[..3]),
            'B' => write!(out, "{month_name}"),
            'C' => write!(out, "{:02}", year / 100),
            'd' => write!(out, "{day:02}"),
            'D' => write!(out, "{month:02}/{day:02}/{:02}", year % 100),
            'e' => write!(out, "{day:2}"),
            'F' => write!(out, "{year:04}-{month:02}-{day:02}"),
            'H' => write!(out, "{hour:02}"),
            'I' => write!(out, "{twelve:02}"),
            'j' => write!(out, "{:03}", of_year + 1),
            'k' => write!(out, "{hour:2}"),
            'l' => write!(out, "{twelve:2}"),
            'm' => write!(out, "{month:02}"),
            'M' => write!(out, "{:02}", self.second / 60 % 60),
            'n' => writeln!(out),
            'p' => write!(out, "{}", if hour < 12 { "AM" } else { "PM" }),
            'R' => write!(out, "{hour:02}:{:02}", self.second / 60 % 60),
            's' => write!(out, "{unix}"),
            'S' => write!(out, "{:02}", self.second % 60),
            't' => write!(out, "\t"),
            'T' => write!(out, "{}", self.clock()),
            'u' => write!(out, "{}", if of_week == 0 { 7 } else { of_week }),
            'U' => write!(out, "{:02}", (of_year + 7 - of_week) / 7),
            'w' => write!(out, "{of_week}"),
            'W' => write!(out, "{:02}", (of_year + 7 - (of_week + 6) % 7) / 7),
            'y' => write!(out, "{:02}", year % 100),
            'Y' => write!(out, "{year}"),
            'z' => {
                let sign = if self.offset < 0 { '-' } else { '+' };
                let minutes = self.offset.abs() / 60;
                write!(out, "{sign}{:02}{:02}", minutes / 60, minutes % 60)
            }
            'Z' => write!(out, "{}", self.zone),
            '%' => write!(out, "%"),
            other => write!(out, "%{other}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let utc = TimeZone::utc();
        let text = |micros, millis| Moment::new(micros, &utc).text(millis);
        assert_eq!(text(0, false), "2000-01-01 00:00:00 UTC");
        assert_eq!(text(-1000, true), "1999-12-31 23:59:59.999 UTC");
        assert_eq!(text(820_540_800_000_000 + 61_234_567, true), "2026-01-01 00:01:01.234 UTC");
        let berlin = TimeZone::named("Europe/Berlin").unwrap();
        let there = Moment::new(820_540_800_000_000, &berlin);
        assert_eq!(there.text(false), "2026-01-01 01:00:00 CET");
        // What `date` prints of this moment in this zone.
        assert_eq!(
            there.format("p-%Y%m%d_%H%M%S.%a%j%%%y%e%I%p%s%z%u%U%W"),
            "p-20260101_010000.Thu001%26 101AM1767225600+010040000"
        );
    }
}
