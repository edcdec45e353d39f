//! Where values lie on a line: what compares as less lies further to the left, and how far apart two values are means something. Rounded, so it says what is close,
//! not what is equal.

use base::Oid;
use tuple::Datum;

use crate::interval::Interval;
use crate::numeric::Numeric;
use crate::oids;
use crate::value::FromDatum;

/// Microseconds of a day.
const DAY: f64 = 86_400e6;

/// How values of a type are placed. Those of types that are no numbers, times or addresses lie where their first bytes say.
pub fn place_of(ty: Oid) -> fn(&Datum) -> f64 {
    match ty {
        oids::numeric => |value| Numeric::from_datum(value).to_f64(),
        oids::interval => interval,
        oids::timetz => |value| match value {
            Datum::Bytes(bytes) => {
                let (micros, west) = crate::time::timetz_parts(bytes);
                micros as f64 + f64::from(west) * 1e6
            }
            _ => 0.0,
        },
        _ => plain,
    }
}

/// Place of an interval: its length in microseconds, with months of 30 days.
pub fn interval(value: &Datum) -> f64 {
    let Interval { months, days, micros } = Interval::from_datum(value);
    (f64::from(months) * 30.0 + f64::from(days)) * DAY + micros as f64
}

fn plain(value: &Datum) -> f64 {
    match value {
        Datum::Bool(v) => f64::from(u8::from(*v)),
        Datum::Char(v) => f64::from(*v),
        Datum::Int2(v) => f64::from(*v),
        Datum::Int4(v) => f64::from(*v),
        Datum::Int8(v) => *v as f64,
        Datum::Oid(v) => f64::from(*v),
        Datum::Float4(v) => f64::from(*v),
        Datum::Float8(v) => *v,
        Datum::Bytes(bytes) => {
            bytes.iter().take(16).rev().fold(0.0, |sum, byte| sum / 256.0 + f64::from(*byte))
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, FormatContext};

    #[test]
    fn places_follow_the_order() {
        let sorted: [(Oid, &[&str]); 9] = [
            (oids::int4, &["-5", "0", "70000"]),
            (oids::float8, &["-Infinity", "-1", "0.5", "1e300", "Infinity"]),
            (oids::numeric, &["-1e40", "-3.5", "0", "3", "1e50"]),
            (oids::interval, &["-1 year", "-1 day", "0", "23 hours", "1 day 1 second", "31 days", "2 mons"]),
            (oids::timetz, &["01:00+02", "01:00+01", "01:00+00", "01:00-05", "23:00-05"]),
            (oids::timestamp, &["1900-01-01", "2000-01-01 00:00:01", "2024-02-29"]),
            (oids::uuid, &["00000000-0000-0000-0000-000000000001", "7f000000-0000-0000-0000-000000000000"]),
            (oids::macaddr, &["01:02:03:04:05:06", "01:02:03:04:05:07", "f0:00:00:00:00:00"]),
            (oids::pg_lsn, &["0/0", "0/16AE7F8", "FF/0"]),
        ];
        let context = FormatContext::default();
        let call = Call::new(&context);
        for (ty, list) in sorted {
            let place = |text: &&str| place_of(ty)(&crate::input(ty, text, -1, &call).unwrap());
            let places: Vec<f64> = list.iter().map(place).collect();
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{ty} {places:?}");
        }
    }
}
