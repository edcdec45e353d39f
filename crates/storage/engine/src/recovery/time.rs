//! Moments as lines of the log show them.

/// A moment, in microseconds since 2000-01-01 UTC, as PostgreSQL shows it in UTC.
pub(super) fn shown(micros: i64) -> String {
    let (days, in_day) = (micros.div_euclid(86_400_000_000), micros.rem_euclid(86_400_000_000));
    let (year, month, day) = date(days + 10_957);
    let (seconds, fraction) = (in_day / 1_000_000, in_day % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = match fraction {
        0 => String::new(),
        part => format!(".{part:06}").trim_end_matches('0').to_owned(),
    };
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction}+00")
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar.
fn date(days: i64) -> (i64, i64, i64) {
    // Eras of 400 years that begin in March, so that the day of a leap year comes last.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        assert_eq!(shown(0), "2000-01-01 00:00:00+00");
        assert_eq!(shown(848_084_719_123_400), "2026-11-15 19:05:19.1234+00");
        assert_eq!(shown(-1), "1999-12-31 23:59:59.999999+00");
        assert_eq!(shown(5_097_600_000_000), "2000-02-29 00:00:00+00");
    }
}
