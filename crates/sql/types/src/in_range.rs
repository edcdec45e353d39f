//! `in_range`: whether a value is within an offset of a base, for RANGE frames of windows.
//!
//! `in_range(value, base, offset, sub, less)` is `value <= base ± offset` when `less`, else `value >= base ± offset`. A sum
//! that leaves the type's range is beyond every value. The functions are total: NaN and infinities sort as in an index.

use std::cmp::Ordering;

use base::{SqlError, SqlResult, sql_err};

use crate::interval::Interval;
use crate::numeric::Numeric;
use crate::{call::Call, date, time, timestamp};

functions! {
    4126 in_range(int8, int8, int8, bool, bool) -> bool [immutable strict] { |v: i64, b: i64, o: i64, sub: bool, less: bool| whole(v, b, o, sub, less) }
    4127 in_range(int4, int4, int8, bool, bool) -> bool [immutable strict] { |v: i32, b: i32, o: i64, sub: bool, less: bool| whole(v.into(), b.into(), o, sub, less) }
    4128 in_range(int4, int4, int4, bool, bool) -> bool [immutable strict] { |v: i32, b: i32, o: i32, sub: bool, less: bool| whole(v.into(), b.into(), o.into(), sub, less) }
    4129 in_range(int4, int4, int2, bool, bool) -> bool [immutable strict] { |v: i32, b: i32, o: i16, sub: bool, less: bool| whole(v.into(), b.into(), o.into(), sub, less) }
    4130 in_range(int2, int2, int8, bool, bool) -> bool [immutable strict] { |v: i16, b: i16, o: i64, sub: bool, less: bool| whole(v.into(), b.into(), o, sub, less) }
    4131 in_range(int2, int2, int4, bool, bool) -> bool [immutable strict] { |v: i16, b: i16, o: i32, sub: bool, less: bool| whole(v.into(), b.into(), o.into(), sub, less) }
    4132 in_range(int2, int2, int2, bool, bool) -> bool [immutable strict] { |v: i16, b: i16, o: i16, sub: bool, less: bool| whole(v.into(), b.into(), o.into(), sub, less) }
    4133 in_range(date, date, interval, bool, bool) -> bool [immutable strict] { |v: i32, b: i32, o: Interval, sub: bool, less: bool| moment(date::to_timestamp(v)?, date::to_timestamp(b)?, &o, sub, less, timestamp::add_interval) }
    4134 in_range(timestamp, timestamp, interval, bool, bool) -> bool [immutable strict] { |v: i64, b: i64, o: Interval, sub: bool, less: bool| moment(v, b, &o, sub, less, timestamp::add_interval) }
    4135 in_range(timestamptz, timestamptz, interval, bool, bool) -> bool [stable strict] { |cx; v: i64, b: i64, o: Interval, sub: bool, less: bool| moment_tz(cx, v, b, &o, sub, less) }
    4136 in_range(interval, interval, interval, bool, bool) -> bool [immutable strict] { |v: Interval, b: Interval, o: Interval, sub: bool, less: bool| span(&v, &b, &o, sub, less) }
    4137 in_range(time, time, interval, bool, bool) -> bool [immutable strict] { |v: i64, b: i64, o: Interval, sub: bool, less: bool| whole(v, b, of_day(&o)?, sub, less) }
    4138 in_range(timetz, timetz, interval, bool, bool) -> bool [immutable strict] { |v: &[u8], b: &[u8], o: Interval, sub: bool, less: bool| zoned(v, b, &o, sub, less) }
    4139 in_range(float8, float8, float8, bool, bool) -> bool [immutable strict] { |v: f64, b: f64, o: f64, sub: bool, less: bool| float(v, b, o, sub, less) }
    4140 in_range(float4, float4, float8, bool, bool) -> bool [immutable strict] { |v: f32, b: f32, o: f64, sub: bool, less: bool| float(v.into(), b.into(), o, sub, less) }
    4141 in_range(numeric, numeric, numeric, bool, bool) -> bool [immutable strict] { |v: Numeric, b: Numeric, o: Numeric, sub: bool, less: bool| number(&v, &b, &o, sub, less) }
}

const ZERO: Interval = Interval { months: 0, days: 0, micros: 0 };

fn invalid_size() -> SqlError {
    sql_err!(INVALID_PRECEDING_OR_FOLLOWING_SIZE, "invalid preceding or following size in window function")
}

/// The answer, given how the value compares with the sum.
fn within(order: Ordering, less: bool) -> bool {
    if less { order.is_le() } else { order.is_ge() }
}

/// The answer when the sum is beyond the type's range: below it for `sub`, above it otherwise.
fn beyond(sub: bool, less: bool) -> bool {
    sub != less
}

fn whole(value: i64, base: i64, offset: i64, sub: bool, less: bool) -> SqlResult<bool> {
    if offset < 0 {
        return Err(invalid_size());
    }
    let sum = if sub { base.checked_sub(offset) } else { base.checked_add(offset) };
    Ok(sum.map_or(beyond(sub, less), |sum| within(value.cmp(&sum), less)))
}

/// The part of an interval that matters to times of day.
fn of_day(offset: &Interval) -> SqlResult<i64> {
    if offset.micros < 0 { Err(invalid_size()) } else { Ok(offset.micros) }
}

fn zoned(value: &[u8], base: &[u8], offset: &Interval, sub: bool, less: bool) -> SqlResult<bool> {
    let offset = of_day(offset)?;
    let (local, west) = time::timetz_parts(base);
    let sum = if sub { local.checked_sub(offset) } else { local.checked_add(offset) };
    let Some(sum) = sum else { return Ok(beyond(sub, less)) };
    let (value_local, value_west) = time::timetz_parts(value);
    let utc = |local: i64, west: i32| i128::from(local) + i128::from(west) * 1_000_000;
    let order = utc(value_local, value_west).cmp(&utc(sum, west)).then(value_west.cmp(&west));
    Ok(within(order, less))
}

fn float(value: f64, base: f64, offset: f64, sub: bool, less: bool) -> SqlResult<bool> {
    if offset.is_nan() || offset < 0.0 {
        return Err(invalid_size());
    }
    // NaN is above all other values and equal to itself.
    match (value.is_nan(), base.is_nan()) {
        (true, true) => return Ok(true),
        (true, false) => return Ok(!less),
        (false, true) => return Ok(less),
        (false, false) => {}
    }
    if offset.is_infinite() && base.is_infinite() && (base > 0.0) == sub {
        return Ok(true);
    }
    let sum = if sub { base - offset } else { base + offset };
    Ok(if less { value <= sum } else { value >= sum })
}

fn number(value: &Numeric, base: &Numeric, offset: &Numeric, sub: bool, less: bool) -> SqlResult<bool> {
    if offset.is_nan() || offset.signum() < 0 {
        return Err(invalid_size());
    }
    match (value.is_nan(), base.is_nan()) {
        (true, true) => return Ok(true),
        (true, false) => return Ok(!less),
        (false, true) => return Ok(less),
        (false, false) => {}
    }
    if !offset.is_finite() && !base.is_finite() && (base.signum() > 0) == sub {
        return Ok(true);
    }
    let sum = if sub { base.sub(offset) } else { base.add(offset) };
    Ok(within(value.compare(&sum), less))
}

/// Whether an infinite offset from an infinite base the other way leads to no definite sum.
fn indefinite(base_finite: bool, base_positive: bool, offset: &Interval, sub: bool) -> bool {
    !offset.is_finite() && !base_finite && base_positive == sub
}

fn check_offset(offset: &Interval) -> SqlResult<()> {
    if offset.compare(&ZERO).is_lt() { Err(invalid_size()) } else { Ok(()) }
}

fn moment(
    value: i64,
    base: i64,
    offset: &Interval,
    sub: bool,
    less: bool,
    add: impl Fn(i64, &Interval) -> SqlResult<i64>,
) -> SqlResult<bool> {
    check_offset(offset)?;
    if indefinite(timestamp::is_finite(base), base > 0, offset, sub) {
        return Ok(true);
    }
    let sum = if sub { add(base, &offset.negate_any()?)? } else { add(base, offset)? };
    Ok(within(value.cmp(&sum), less))
}

fn moment_tz(cx: &Call, value: i64, base: i64, offset: &Interval, sub: bool, less: bool) -> SqlResult<bool> {
    moment(value, base, offset, sub, less, |ts, by| timestamp::add_interval_tz(cx, ts, by))
}

fn span(value: &Interval, base: &Interval, offset: &Interval, sub: bool, less: bool) -> SqlResult<bool> {
    check_offset(offset)?;
    let positive = base.compare(&ZERO).is_gt();
    if indefinite(base.is_finite(), positive, offset, sub) {
        return Ok(true);
    }
    let sum = if sub { base.sub(offset)? } else { base.add(offset)? };
    Ok(within(value.compare(&sum), less))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_beyond_the_type_are_beyond_every_value() {
        assert!(whole(i64::MAX, i64::MAX, 5, false, true).unwrap());
        assert!(!whole(i64::MAX, i64::MAX, 5, false, false).unwrap());
        assert!(whole(i64::MIN, i64::MIN, 5, true, false).unwrap());
        assert!(!whole(i64::MIN, i64::MIN, 5, true, true).unwrap());
        assert_eq!(
            whole(1, 1, -1, false, true).unwrap_err().message(),
            "invalid preceding or following size in window function"
        );
    }

    #[test]
    fn infinities_and_nan_have_a_place() {
        let inf = f64::INFINITY;
        assert!(float(-inf, inf, inf, true, false).unwrap());
        assert!(!float(f64::NAN, 1.0, 1.0, false, true).unwrap());
        assert!(float(1.0, f64::NAN, 1.0, false, true).unwrap());
        assert!(float(1.0, 2.0, f64::NAN, false, true).is_err());
    }
}
