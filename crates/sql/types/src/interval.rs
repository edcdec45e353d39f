//! `interval`: months, days and microseconds, each on its own.
//!
//! Stored in 16 bytes, little-endian: microseconds, days, months. All three at their largest (smallest) are the
//! infinities.

use std::cmp::Ordering;

use base::{SqlError, SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::registry::types::prelude::*;
use crate::{
    calendar::{DAY, HOUR, MINUTE, SECOND},
    call::{Call, IntervalStyle},
    value::{FromDatum, IntoDatum},
};

mod text;

pub use text::{parse, typmod_in, typmod_out};

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

/// `interval out of range`
#[cold]
pub fn out_of_range() -> SqlError {
    sql_err!(DATETIME_FIELD_OVERFLOW, "interval out of range")
}

impl Interval {
    /// `infinity`
    pub const INFINITY: Interval = Interval { months: i32::MAX, days: i32::MAX, micros: i64::MAX };
    /// `-infinity`
    pub const MINUS_INFINITY: Interval = Interval { months: i32::MIN, days: i32::MIN, micros: i64::MIN };

    /// Reads a stored payload.
    pub fn from_payload(bytes: &[u8]) -> Interval {
        let Ok(b) = <[u8; 16]>::try_from(bytes) else { return Interval { months: 0, days: 0, micros: 0 } };
        Interval {
            micros: i64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
            days: i32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            months: i32::from_le_bytes([b[12], b[13], b[14], b[15]]),
        }
    }

    /// The stored payload.
    pub fn to_payload(self) -> Bytes {
        let mut out = [0; 16];
        out[..8].copy_from_slice(&self.micros.to_le_bytes());
        out[8..12].copy_from_slice(&self.days.to_le_bytes());
        out[12..].copy_from_slice(&self.months.to_le_bytes());
        Bytes::new(&out)
    }

    /// Neither of the infinities?
    pub fn is_finite(&self) -> bool {
        *self != Interval::INFINITY && *self != Interval::MINUS_INFINITY
    }

    /// An infinity that came out of finite parts is an overflow.
    fn finite(self) -> SqlResult<Interval> {
        if self.is_finite() { Ok(self) } else { Err(out_of_range()) }
    }

    /// Length with months of 30 days and days of 24 hours.
    pub(crate) fn span(&self) -> i128 {
        (i128::from(self.months) * 30 + i128::from(self.days)) * i128::from(DAY) + i128::from(self.micros)
    }

    /// Order by length.
    pub fn compare(&self, other: &Interval) -> Ordering {
        self.span().cmp(&other.span())
    }

    /// `a - b` of two ends of which at least one is infinite; 1, 0, -1 say which.
    pub fn infinite_difference(a: i32, b: i32) -> SqlResult<Interval> {
        match a - b {
            0 => Err(out_of_range()),
            d if d > 0 => Ok(Interval::INFINITY),
            _ => Ok(Interval::MINUS_INFINITY),
        }
    }

    fn sign(&self) -> i32 {
        if *self == Interval::INFINITY {
            1
        } else if *self == Interval::MINUS_INFINITY {
            -1
        } else {
            0
        }
    }

    /// Sum.
    pub fn add(&self, other: &Interval) -> SqlResult<Interval> {
        match (self.sign(), other.sign()) {
            (0, 0) => {}
            (1, -1) | (-1, 1) => return Err(out_of_range()),
            (0, _) => return Ok(*other),
            _ => return Ok(*self),
        }
        let sum = || {
            Some(Interval {
                months: self.months.checked_add(other.months)?,
                days: self.days.checked_add(other.days)?,
                micros: self.micros.checked_add(other.micros)?,
            })
        };
        sum().ok_or_else(out_of_range)?.finite()
    }

    /// Difference.
    pub fn sub(&self, other: &Interval) -> SqlResult<Interval> {
        self.add(&other.negate_any()?)
    }

    /// Opposite of a finite interval.
    pub fn negate(&self) -> SqlResult<Interval> {
        let negated = || {
            Some(Interval {
                months: self.months.checked_neg()?,
                days: self.days.checked_neg()?,
                micros: self.micros.checked_neg()?,
            })
        };
        negated().ok_or_else(out_of_range)?.finite()
    }

    /// Opposite of any interval.
    pub fn negate_any(&self) -> SqlResult<Interval> {
        match self.sign() {
            1 => Ok(Interval::MINUS_INFINITY),
            -1 => Ok(Interval::INFINITY),
            _ => self.negate(),
        }
    }

    /// Product with a number; fractions of months go to days, of days to time.
    pub fn mul(&self, factor: f64) -> SqlResult<Interval> {
        if factor.is_nan() {
            return Err(out_of_range());
        }
        if self.sign() != 0 || factor.is_infinite() {
            let sign =
                if self.sign() != 0 { f64::from(self.sign()) } else { self.span().signum() as f64 } * factor;
            return match sign.partial_cmp(&0.0) {
                Some(Ordering::Greater) => Ok(Interval::INFINITY),
                Some(Ordering::Less) => Ok(Interval::MINUS_INFINITY),
                _ => Err(out_of_range()),
            };
        }
        self.scaled(|part| part * factor, |micros| micros * factor)
    }

    /// Quotient by a number.
    pub fn div(&self, divisor: f64) -> SqlResult<Interval> {
        if divisor == 0.0 {
            return Err(crate::int::division_by_zero());
        }
        if divisor.is_nan() || (self.sign() != 0 && divisor.is_infinite()) {
            return Err(out_of_range());
        }
        if self.sign() != 0 {
            return if divisor < 0.0 { self.negate_any() } else { Ok(*self) };
        }
        self.scaled(|part| part / divisor, |micros| micros / divisor)
    }

    fn scaled(&self, scale: impl Fn(f64) -> f64, scale_time: impl Fn(f64) -> f64) -> SqlResult<Interval> {
        let fits = |v: f64| (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&v);
        let (months, days) = (scale(f64::from(self.months)), scale(f64::from(self.days)));
        if !fits(months) || !fits(days) {
            return Err(out_of_range());
        }
        // Rounded to microseconds before it is taken apart, so that 0.1 months are 3 days sharp.
        let round = |v: f64| (v * 1e6).round_ties_even() / 1e6;
        let month_days = round((months - months.trunc()) * 30.0);
        let mut seconds = round((days - days.trunc() + month_days - month_days.trunc()) * 86_400.0);
        let mut whole_days = days.trunc() + month_days.trunc();
        if seconds.abs() >= 86_400.0 {
            whole_days += (seconds / 86_400.0).trunc();
            seconds -= (seconds / 86_400.0).trunc() * 86_400.0;
        }
        let micros = (scale_time(self.micros as f64) + seconds * 1e6).round_ties_even();
        if !fits(whole_days) || !(-9.223_372_036_854_775e18..=9.223_372_036_854_775e18).contains(&micros) {
            return Err(out_of_range());
        }
        Interval { months: months.trunc() as i32, days: whole_days as i32, micros: micros as i64 }.finite()
    }

    /// Whole days out of the time.
    pub fn justify_hours(self) -> SqlResult<Interval> {
        let mut days = i64::from(self.days) + self.micros / DAY;
        let mut micros = self.micros % DAY;
        if days > 0 && micros < 0 {
            micros += DAY;
            days -= 1;
        } else if days < 0 && micros > 0 {
            micros -= DAY;
            days += 1;
        }
        let days = i32::try_from(days).map_err(|_| out_of_range())?;
        Ok(Interval { months: self.months, days, micros })
    }

    /// Whole months out of the days.
    fn justify_days(self) -> SqlResult<Interval> {
        let mut months = i64::from(self.months) + i64::from(self.days / 30);
        let mut days = self.days % 30;
        if months > 0 && days < 0 {
            days += 30;
            months -= 1;
        } else if months < 0 && days > 0 {
            days -= 30;
            months += 1;
        }
        let months = i32::try_from(months).map_err(|_| out_of_range())?;
        Ok(Interval { months, days, micros: self.micros })
    }

    /// Both, with one sign for all parts.
    fn justify(self) -> SqlResult<Interval> {
        let whole_days = i64::from(self.days) + self.micros / DAY;
        let mut micros = self.micros % DAY;
        let mut months = i64::from(self.months) + whole_days / 30;
        let mut days = whole_days % 30;
        if months > 0 && (days < 0 || (days == 0 && micros < 0)) {
            days += 30;
            months -= 1;
        } else if months < 0 && (days > 0 || (days == 0 && micros > 0)) {
            days -= 30;
            months += 1;
        }
        if days > 0 && micros < 0 {
            micros += DAY;
            days -= 1;
        } else if days < 0 && micros > 0 {
            micros -= DAY;
            days += 1;
        }
        let months = i32::try_from(months).map_err(|_| out_of_range())?;
        Ok(Interval { months, days: days as i32, micros })
    }

    /// Text in the default style.
    pub fn plain_text(&self) -> String {
        text::write(self, IntervalStyle::Postgres)
    }
}

impl<'a> FromDatum<'a> for Interval {
    fn from_datum(datum: &'a Datum) -> Interval {
        Interval::from_payload(<&[u8]>::from_datum(datum))
    }
}

impl IntoDatum for Interval {
    fn into_datum(self) -> SqlResult<Datum> {
        Ok(Datum::Bytes(self.to_payload()))
    }
}

/// Order of two stored intervals.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    Interval::from_payload(a).compare(&Interval::from_payload(b))
}

/// Hash of a stored interval: of its length.
pub fn hash(bytes: &[u8]) -> u64 {
    let span = Interval::from_payload(bytes).span();
    crate::compare::mix(span as u64 ^ crate::compare::mix((span >> 64) as u64))
}

/// Text in the session's style.
pub fn text(bytes: &[u8], cx: &Call) -> String {
    text::write(&Interval::from_payload(bytes), cx.format.interval_style)
}

/// An interval from outside.
pub fn receive(micros: i64, days: i32, months: i32, typmod: i32) -> SqlResult<Datum> {
    text::apply_typmod(Interval { months, days, micros }, typmod)?.into_datum()
}

/// Appends the binary form.
pub fn send(bytes: &[u8], out: &mut Vec<u8>) {
    let interval = Interval::from_payload(bytes);
    out.extend_from_slice(&interval.micros.to_be_bytes());
    out.extend_from_slice(&interval.days.to_be_bytes());
    out.extend_from_slice(&interval.months.to_be_bytes());
}

#[allow(clippy::too_many_arguments)]
fn make(
    years: i32,
    months: i32,
    weeks: i32,
    days: i32,
    hours: i32,
    mins: i32,
    secs: f64,
) -> SqlResult<Interval> {
    if !secs.is_finite() {
        return Err(out_of_range());
    }
    let whole = || {
        Some(Interval {
            months: years.checked_mul(12)?.checked_add(months)?,
            days: weeks.checked_mul(7)?.checked_add(days)?,
            micros: i64::from(hours) * HOUR + i64::from(mins) * MINUTE,
        })
    };
    let mut out = whole().ok_or_else(out_of_range)?;
    let micros = (secs * SECOND as f64).round_ties_even();
    if micros.abs() >= 9.2e18 {
        return Err(out_of_range());
    }
    out.micros = out.micros.checked_add(micros as i64).ok_or_else(out_of_range)?;
    out.finite()
}

fn infinite_or(a: Interval, f: impl Fn(Interval) -> SqlResult<Interval>) -> SqlResult<Interval> {
    if a.is_finite() { f(a) } else { Ok(a) }
}

/// A span of time.
pub(crate) static INTERVAL: TypeImp = TypeImp {
    row: Some(TypeInfo {
        preferred: true,
        array: oids::_interval,
        io: [Oid(1160), Oid(1161), Oid(2478), Oid(2479)],
        typmod_io: [Oid(2903), Oid(2904)],
        ..TypeInfo::new(oids::interval, "interval", b'T', Physical::Fixed(16))
    }),
    input: |_, value, typmod, cx| parse(value, typmod, cx),
    output: |_, value, cx, out| show(text(<&[u8]>::from_datum(value), cx), out),
    receive: |_, reader, typmod, _| receive(reader.i64()?, reader.i32()?, reader.i32()?, typmod),
    send: |_, value, _, out| {
        send(<&[u8]>::from_datum(value), out);
        Ok(())
    },
    compare: Some(|a, b| compare(<&[u8]>::from_datum(a), <&[u8]>::from_datum(b))),
    equal: Some(|a, b| compare(<&[u8]>::from_datum(a), <&[u8]>::from_datum(b)).is_eq()),
    hash: Some(|value| hash(<&[u8]>::from_datum(value))),
    seeded_hash: Some(|value, seed| {
        crate::hashing::hash_wide(Interval::from_datum(value).span() as i64, seed)
    }),
    typmod_in: |_, modifiers| typmod_in(modifiers),
    typmod_out,
    ..TypeImp::NONE
};

functions! {
    1160 interval_in(cstring, oid, int4) -> interval [stable strict] { input interval }
    1161 interval_out(interval) -> cstring [stable strict] { output interval }
    2478 interval_recv(internal, oid, int4) -> interval [immutable strict] { receive interval }
    2479 interval_send(interval) -> bytea [immutable strict] { send interval }
    2903 intervaltypmodin(_cstring) -> int4 [immutable strict] { typmod_in interval }
    2904 intervaltypmodout(int4) -> cstring [immutable strict] { typmod_out interval }
    1162 interval_eq(interval, interval) -> bool [immutable strict leakproof] { |a: Interval, b: Interval| (a.compare(&b)).is_eq() }
    1163 interval_ne(interval, interval) -> bool [immutable strict leakproof] { |a: Interval, b: Interval| (a.compare(&b)).is_ne() }
    1164 interval_lt(interval, interval) -> bool [immutable strict leakproof] { |a: Interval, b: Interval| (a.compare(&b)).is_lt() }
    1165 interval_le(interval, interval) -> bool [immutable strict leakproof] { |a: Interval, b: Interval| (a.compare(&b)).is_le() }
    1167 interval_gt(interval, interval) -> bool [immutable strict leakproof] { |a: Interval, b: Interval| (a.compare(&b)).is_gt() }
    1166 interval_ge(interval, interval) -> bool [immutable strict leakproof] { |a: Interval, b: Interval| (a.compare(&b)).is_ge() }
    1315 interval_cmp(interval, interval) -> int4 [immutable strict leakproof] { |a: Interval, b: Interval| (a.compare(&b)) as i32 }
    1198 interval_larger(interval, interval) -> interval [immutable strict] { |a: Interval, b: Interval| if a.compare(&b).is_gt() { a } else { b } }
    1197 interval_smaller(interval, interval) -> interval [immutable strict] { |a: Interval, b: Interval| if a.compare(&b).is_lt() { a } else { b } }
    1697 interval_hash(interval) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::interval, a) }
    3418 interval_hash_extended(interval, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::interval, a, seed) }
    1200 interval(interval, int4) -> interval [immutable strict] { |a: Interval, typmod: i32| text::apply_typmod(a, typmod) }
    1169 interval_pl(interval, interval) -> interval [immutable strict] { |a: Interval, b: Interval| a.add(&b) }
    1170 interval_mi(interval, interval) -> interval [immutable strict] { |a: Interval, b: Interval| a.sub(&b) }
    1168 interval_um(interval) -> interval [immutable strict] { |a: Interval| a.negate_any() }
    1618 interval_mul(interval, float8) -> interval [immutable strict] { |a: Interval, b: f64| a.mul(b) }
    1624 mul_d_interval(float8, interval) -> interval [immutable strict] { |b: f64, a: Interval| a.mul(b) }
    1326 interval_div(interval, float8) -> interval [immutable strict] { |a: Interval, b: f64| a.div(b) }
    1175 justify_hours(interval) -> interval [immutable strict] { |a: Interval| infinite_or(a, Interval::justify_hours) }
    1295 justify_days(interval) -> interval [immutable strict] { |a: Interval| infinite_or(a, Interval::justify_days) }
    2711 justify_interval(interval) -> interval [immutable strict] { |a: Interval| infinite_or(a, Interval::justify) }
    1390 isfinite(interval) -> bool [immutable strict] { |a: Interval| a.is_finite() }
    3464 make_interval(int4, int4, int4, int4, int4, int4, float8) -> interval [immutable strict names(&["years", "months", "weeks", "days", "hours", "mins", "secs"]) defaults(&["0", "0", "0", "0", "0", "0", "0.0"])] { |years: i32, months: i32, weeks: i32, days: i32, hours: i32, mins: i32, secs: f64| make(years, months, weeks, days, hours, mins, secs) }
    6204 extract(text, interval) -> numeric [immutable strict] { |field: &str, a: Interval| crate::extract::of_interval(field, &a) }
    1172 date_part(text, interval) -> float8 [immutable strict] { |field: &str, a: Interval| crate::extract::part_of_interval(field, &a) }
    1218 date_trunc(text, interval) -> interval [immutable strict] { |unit: &str, a: Interval| crate::extract::truncate_interval(unit, &a) }
}
