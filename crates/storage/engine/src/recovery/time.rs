//! Moments as lines of the log show them.

use base::calendar::Fields;

/// A moment, in microseconds since 2000-01-01 UTC, as PostgreSQL shows it in UTC.
pub(super) fn shown(micros: i64) -> String {
    let Fields { year, month, day, hour, minute, second, micros } = Fields::of(micros);
    let fraction = match micros {
        0 => String::new(),
        part => format!(".{part:06}").trim_end_matches('0').to_owned(),
    };
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction}+00")
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
