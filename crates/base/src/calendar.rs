//! Days and civil dates (proleptic Gregorian), and the fields of a moment.

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds in a minute.
pub const MINUTE: i64 = 60 * SECOND;
/// Microseconds in an hour.
pub const HOUR: i64 = 60 * MINUTE;
/// Microseconds in a day.
pub const DAY: i64 = 24 * HOUR;
/// Days from 1970-01-01 to 2000-01-01.
pub const UNIX_DAYS: i64 = 10_957;
/// Seconds from 1970-01-01 to 2000-01-01.
pub const UNIX_SECONDS: i64 = UNIX_DAYS * 86_400;
/// Microseconds from 1970-01-01 to 2000-01-01.
pub const UNIX_MICROS: i64 = UNIX_DAYS * DAY;
/// Julian day of 2000-01-01.
pub const JULIAN_2000: i64 = 2_451_545;

/// Month names in English, full.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Day names in English, from Sunday.
pub const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Days since 2000-01-01 of a civil date; year 0 is 1 BC.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468 - UNIX_DAYS
}

/// Year (0 is 1 BC), month and day of a number of days since 2000-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + UNIX_DAYS + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Whether the year has a leap day.
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Day of the week of a number of days since 2000-01-01 (a Saturday); 0 is Sunday.
pub fn weekday(days: i64) -> i64 {
    (days + 6).rem_euclid(7)
}

/// Day of the year, from 1.
pub fn day_of_year(year: i64, days: i64) -> i64 {
    days - days_from_civil(year, 1, 1) + 1
}

/// ISO 8601 year and week of a day.
pub fn iso_week(days: i64) -> (i64, i64) {
    // The week belongs to the year of its Thursday.
    let thursday = days - (weekday(days) + 6) % 7 + 3;
    let (year, _, _) = civil_from_days(thursday);
    (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
}

/// First day (Monday) of an ISO 8601 week.
pub fn iso_week_start(year: i64, week: i64) -> i64 {
    let fourth = days_from_civil(year, 1, 4);
    fourth - (weekday(fourth) + 6) % 7 + (week - 1) * 7
}

/// A moment by its civil fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Year, 0 is 1 BC.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
    /// 0 to 23 (or 24 for the end of a day).
    pub hour: i64,
    /// 0 to 59.
    pub minute: i64,
    /// 0 to 59.
    pub second: i64,
    /// Microseconds of the second.
    pub micros: i64,
}

impl Fields {
    /// Of microseconds since 2000-01-01, no zone.
    pub fn of(timestamp: i64) -> Fields {
        let (days, rest) = (timestamp.div_euclid(DAY), timestamp.rem_euclid(DAY));
        let (year, month, day) = civil_from_days(days);
        Fields { year, month, day, ..Fields::of_time(rest) }
    }

    /// Of microseconds since midnight.
    pub fn of_time(micros: i64) -> Fields {
        Fields {
            year: 2000,
            month: 1,
            day: 1,
            hour: micros / HOUR,
            minute: micros / MINUTE % 60,
            second: micros / SECOND % 60,
            micros: micros % SECOND,
        }
    }

    /// Microseconds since midnight.
    pub fn time(&self) -> i64 {
        self.hour * HOUR + self.minute * MINUTE + self.second * SECOND + self.micros
    }

    /// Days since 2000-01-01.
    pub fn days(&self) -> i64 {
        days_from_civil(self.year, self.month, self.day)
    }

    /// Microseconds since 2000-01-01; `None` when that does not fit.
    pub fn timestamp(&self) -> Option<i64> {
        self.days().checked_mul(DAY)?.checked_add(self.time())
    }

    /// The year as people write it: 1 BC is -1.
    pub fn shown_year(&self) -> i64 {
        if self.year <= 0 { self.year - 1 } else { self.year }
    }
}
