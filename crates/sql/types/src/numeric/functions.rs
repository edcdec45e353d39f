//! The functions of `numeric`.

use base::{SqlResult, sql_err};
use tuple::Datum;

use crate::{
    call::Call,
    registry::{SetRows, Values},
};

use super::{Arithmetic, Numeric, Small, compare_payloads};
use crate::registry::types::prelude::*;

fn compare(a: &Datum, b: &Datum) -> std::cmp::Ordering {
    compare_payloads(<&[u8]>::from_datum(a), <&[u8]>::from_datum(b))
}

/// A decimal number of any size.
pub(crate) static NUMERIC: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_numeric,
        io: [Oid(1701), Oid(1702), Oid(2460), Oid(2461)],
        typmod_io: [Oid(2917), Oid(2918)],
        storage: b'm',
        ..TypeInfo::new(oids::numeric, "numeric", b'N', Physical::Varlena)
    }),
    input: |_, text, typmod, _| match Small::parse(text, typmod) {
        Some(small) => Ok(small.to_datum()),
        None => Numeric::parse(text)?.apply_typmod(typmod)?.into_datum(),
    },
    output: |_, value, _, out| match Small::of(value) {
        Some(small) => {
            small.show(out);
            Ok(())
        }
        None => show(Numeric::from_datum(value), out),
    },
    receive: |_, reader, typmod, _| super::binary_receive(reader.rest())?.apply_typmod(typmod)?.into_datum(),
    send: |_, value, _, out| {
        super::binary_send(&Numeric::from_datum(value), out);
        Ok(())
    },
    compare: Some(compare),
    equal: Some(|a, b| compare(a, b).is_eq()),
    hash: Some(crate::compare::hash_numeric),
    seeded_hash: Some(|value, seed| crate::hashing::hash_numeric(&Numeric::from_datum(value), seed)),
    typmod_in: |_, modifiers| super::numeric_typmod(modifiers),
    typmod_out: super::format_typmod,
    ..TypeImp::NONE
};

functions! {
    1701 numeric_in(cstring, oid, int4) -> numeric [immutable strict] { input numeric }
    1702 numeric_out(numeric) -> cstring [immutable strict] { output numeric }
    2460 numeric_recv(internal, oid, int4) -> numeric [immutable strict] { receive numeric }
    2461 numeric_send(numeric) -> bytea [immutable strict] { send numeric }
    2917 numerictypmodin(_cstring) -> int4 [immutable strict] { typmod_in numeric }
    2918 numerictypmodout(int4) -> cstring [immutable strict] { typmod_out numeric }
    1718 numeric_eq(numeric, numeric) -> bool [immutable strict] { |a: &[u8], b: &[u8]| compare_payloads(a, b).is_eq() }
    1719 numeric_ne(numeric, numeric) -> bool [immutable strict] { |a: &[u8], b: &[u8]| compare_payloads(a, b).is_ne() }
    1722 numeric_lt(numeric, numeric) -> bool [immutable strict] { |a: &[u8], b: &[u8]| compare_payloads(a, b).is_lt() }
    1723 numeric_le(numeric, numeric) -> bool [immutable strict] { |a: &[u8], b: &[u8]| compare_payloads(a, b).is_le() }
    1720 numeric_gt(numeric, numeric) -> bool [immutable strict] { |a: &[u8], b: &[u8]| compare_payloads(a, b).is_gt() }
    1721 numeric_ge(numeric, numeric) -> bool [immutable strict] { |a: &[u8], b: &[u8]| compare_payloads(a, b).is_ge() }
    1769 numeric_cmp(numeric, numeric) -> int4 [immutable strict] { |a: &[u8], b: &[u8]| compare_payloads(a, b) as i32 }
    1766 numeric_smaller(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| if a.compare(&b).is_le() { a } else { b } }
    1767 numeric_larger(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| if a.compare(&b).is_ge() { a } else { b } }
    432 hash_numeric(numeric) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::numeric, a) }
    780 hash_numeric_extended(numeric, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::numeric, a, seed) }
    1724 numeric_add(numeric, numeric) -> numeric [immutable strict] { |a: &Datum, b: &Datum| Arithmetic::Add.of(a, b) }
    1725 numeric_sub(numeric, numeric) -> numeric [immutable strict] { |a: &Datum, b: &Datum| Arithmetic::Sub.of(a, b) }
    1726 numeric_mul(numeric, numeric) -> numeric [immutable strict] { |a: &Datum, b: &Datum| Arithmetic::Mul.of(a, b) }
    1727 numeric_div(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| a.div(&b) }
    1729 numeric_mod(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| a.rem(&b) }
    1728 mod(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| a.rem(&b) }
    1973 div(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| a.div_whole(&b) }
    1980 numeric_div_trunc(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| a.div_whole(&b) }
    1764 numeric_inc(numeric) -> numeric [immutable strict] { |a: Numeric| a.add(&Numeric::from_i64(1)) }
    1771 numeric_uminus(numeric) -> numeric [immutable strict] { |a: Numeric| a.negate() }
    1915 numeric_uplus(numeric) -> numeric [immutable strict] { |a: Numeric| a }
    1704 numeric_abs(numeric) -> numeric [immutable strict] { |a: Numeric| a.abs() }
    1705 abs(numeric) -> numeric [immutable strict] { |a: Numeric| a.abs() }
    1706 sign(numeric) -> numeric [immutable strict] { |a: Numeric| if a.is_nan() { a } else { Numeric::from_i64(i64::from(a.signum())) } }
    1708 round(numeric) -> numeric [immutable strict] { |a: Numeric| a.round(0) }
    1707 round(numeric, int4) -> numeric [immutable strict] { |a: Numeric, scale: i32| a.round(clamp_scale(scale)) }
    1710 trunc(numeric) -> numeric [immutable strict] { |a: Numeric| a.truncate(0) }
    1709 trunc(numeric, int4) -> numeric [immutable strict] { |a: Numeric, scale: i32| a.truncate(clamp_scale(scale)) }
    1711 ceil(numeric) -> numeric [immutable strict] { |a: Numeric| a.ceil() }
    2167 ceiling(numeric) -> numeric [immutable strict] { |a: Numeric| a.ceil() }
    1712 floor(numeric) -> numeric [immutable strict] { |a: Numeric| a.floor() }
    1730 sqrt(numeric) -> numeric [immutable strict] { |a: Numeric| a.sqrt() }
    1731 numeric_sqrt(numeric) -> numeric [immutable strict] { |a: Numeric| a.sqrt() }
    1732 exp(numeric) -> numeric [immutable strict] { |a: Numeric| a.exp() }
    1733 numeric_exp(numeric) -> numeric [immutable strict] { |a: Numeric| a.exp() }
    1734 ln(numeric) -> numeric [immutable strict] { |a: Numeric| a.ln() }
    1735 numeric_ln(numeric) -> numeric [immutable strict] { |a: Numeric| a.ln() }
    1741 log(numeric) -> numeric [immutable strict] { |a: Numeric| Numeric::log(&Numeric::from_i64(10), &a) }
    1481 log10(numeric) -> numeric [immutable strict] { |a: Numeric| Numeric::log(&Numeric::from_i64(10), &a) }
    1736 log(numeric, numeric) -> numeric [immutable strict] { |base: Numeric, a: Numeric| Numeric::log(&base, &a) }
    1737 numeric_log(numeric, numeric) -> numeric [immutable strict] { |base: Numeric, a: Numeric| Numeric::log(&base, &a) }
    2169 power(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| a.power(&b) }
    1738 pow(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| a.power(&b) }
    1739 numeric_power(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| a.power(&b) }
    3281 scale(numeric) -> int4 [immutable strict] { |a: Numeric| a.is_finite().then_some(a.scale()) }
    5042 min_scale(numeric) -> int4 [immutable strict] { |a: Numeric| a.is_finite().then(|| a.min_scale()) }
    5043 trim_scale(numeric) -> numeric [immutable strict] { |a: Numeric| if a.is_finite() { let scale = a.min_scale(); a.round(scale) } else { a } }
    1376 factorial(int8) -> numeric [immutable strict] { |n: i64| factorial(n) }
    5048 gcd(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| gcd(a, b) }
    5049 lcm(numeric, numeric) -> numeric [immutable strict] { |a: Numeric, b: Numeric| lcm(a, b) }
    2170 width_bucket(numeric, numeric, numeric, int4) -> int4 [immutable strict] { |v: Numeric, low: Numeric, high: Numeric, n: i32| width_bucket(&v, &low, &high, n) }
    1703 numeric(numeric, int4) -> numeric [immutable strict] { |a: Numeric, typmod: i32| a.apply_typmod(typmod) }
    1782 numeric(int2) -> numeric [immutable strict leakproof] { |a: i16| Numeric::from_i64(a.into()) }
    1740 numeric(int4) -> numeric [immutable strict leakproof] { |a: i32| Numeric::from_i64(a.into()) }
    1781 numeric(int8) -> numeric [immutable strict leakproof] { |a: i64| Numeric::from_i64(a) }
    1742 numeric(float4) -> numeric [immutable strict leakproof] { |a: f32| Numeric::from_float(a.into(), 6) }
    1743 numeric(float8) -> numeric [immutable strict leakproof] { |a: f64| Numeric::from_float(a, 15) }
    1783 int2(numeric) -> int2 [immutable strict] { |a: Numeric| a.to_int::<i16>("smallint") }
    1744 int4(numeric) -> int4 [immutable strict] { |a: Numeric| a.to_int::<i32>("integer") }
    1779 int8(numeric) -> int8 [immutable strict] { |a: Numeric| a.to_int::<i64>("bigint") }
    1745 float4(numeric) -> float4 [immutable strict] { |a: Numeric| to_float4(&a) }
    1746 float8(numeric) -> float8 [immutable strict] { |a: Numeric| to_float8(&a) }
    3260 generate_series(numeric, numeric) -> numeric [immutable strict returns_set rows(1000.0)] { set generate_series }
    3259 generate_series(numeric, numeric, numeric) -> numeric [immutable strict returns_set rows(1000.0)] { set generate_series }
    6341 random(numeric, numeric) -> numeric [strict restricted names(&["min", "max"])] { |cx; low: Numeric, high: Numeric| random(cx, &low, &high) }
}

/// A scale that a value can have, or that changes nothing beyond.
fn clamp_scale(scale: i32) -> i32 {
    scale.clamp(-(super::MAX_WEIGHT + 1) * super::LIMB_DIGITS - 1, super::MAX_SCALE)
}

fn to_float8(a: &Numeric) -> SqlResult<f64> {
    let value = a.to_f64();
    if value.is_infinite() && a.is_finite() {
        return Err(sql_err!(
            NUMERIC_VALUE_OUT_OF_RANGE,
            "\"{a}\" is out of range for type double precision"
        ));
    }
    Ok(value)
}

fn to_float4(a: &Numeric) -> SqlResult<f32> {
    if !a.is_finite() {
        return Ok(a.to_f64() as f32);
    }
    let value: f32 = a.to_string().parse().unwrap_or(f32::NAN);
    if value.is_infinite() || (value == 0.0 && !a.is_zero()) {
        return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "\"{a}\" is out of range for type real"));
    }
    Ok(value)
}

fn factorial(n: i64) -> SqlResult<Numeric> {
    if n < 0 {
        return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "factorial of a negative number is undefined"));
    }
    // 32178! has more digits than fit.
    if n > 32_177 {
        return Err(super::overflow());
    }
    let mut product = Numeric::from_i64(1);
    for i in 2..=n {
        runtime::check_interrupts()?;
        product = product.mul_exact(&Numeric::from_i64(i));
    }
    Ok(product)
}

fn gcd(a: Numeric, b: Numeric) -> SqlResult<Numeric> {
    if !a.is_finite() || !b.is_finite() {
        return Ok(Numeric::nan());
    }
    let scale = a.scale.max(b.scale);
    let (mut a, mut b) = (a.abs(), b.abs());
    while !b.is_zero() {
        runtime::check_interrupts()?;
        let rest = a.rem(&b)?;
        a = b;
        b = rest;
    }
    a.scale = scale;
    Ok(a)
}

fn lcm(a: Numeric, b: Numeric) -> SqlResult<Numeric> {
    if !a.is_finite() || !b.is_finite() {
        return Ok(Numeric::nan());
    }
    let scale = a.scale.max(b.scale);
    if a.is_zero() || b.is_zero() {
        return Ok(Numeric { scale, ..Numeric::zero() });
    }
    let divisor = gcd(a.clone(), b.clone())?;
    let mut result = a.div_truncated(&divisor, 0).mul(&b).abs();
    result.scale = scale;
    Ok(result)
}

fn width_bucket(value: &Numeric, low: &Numeric, high: &Numeric, count: i32) -> SqlResult<i32> {
    let error = |text: &str| sql_err!(INVALID_ARGUMENT_FOR_WIDTH_BUCKET_FUNCTION, "{text}");
    if count <= 0 {
        return Err(error("count must be greater than zero"));
    }
    if value.is_nan() || low.is_nan() || high.is_nan() {
        return Err(error("operand, lower bound, and upper bound cannot be NaN"));
    }
    if !low.is_finite() || !high.is_finite() {
        return Err(error("lower and upper bounds must be finite"));
    }
    let over =
        || count.checked_add(1).ok_or_else(|| sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range"));
    let ascending = match low.compare(high) {
        std::cmp::Ordering::Equal => return Err(error("lower bound cannot equal upper bound")),
        order => order.is_lt(),
    };
    let from_low = |v: &Numeric| if ascending { v.compare(low) } else { low.compare(v) };
    let from_high = |v: &Numeric| if ascending { v.compare(high) } else { high.compare(v) };
    if from_low(value).is_lt() {
        return Ok(0);
    }
    if from_high(value).is_ge() {
        return over();
    }
    let (part, whole) = (value.sub(low).abs(), high.sub(low).abs());
    let bucket = part.mul_exact(&Numeric::from_i64(count.into())).div_whole(&whole)?;
    Ok(bucket.to_int::<i32>("integer")?.min(count - 1) + 1)
}

fn generate_series(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let number = |i: usize| args.get(i).map(<Numeric as crate::value::FromDatum>::from_datum);
    let (Some(start), Some(stop)) = (number(0), number(1)) else {
        return Ok(Box::new(Values(std::iter::empty())));
    };
    generate_series_rows(start, stop, number(2).unwrap_or_else(|| Numeric::from_i64(1)))
}

/// The numbers from `start` to `stop` by `step`.
fn generate_series_rows(start: Numeric, stop: Numeric, step: Numeric) -> SqlResult<Box<dyn SetRows>> {
    for (value, what) in [(&start, "start"), (&stop, "stop"), (&step, "step")] {
        let what = if what == "step" {
            "step size"
        } else if what == "start" {
            "start value"
        } else {
            "stop value"
        };
        if !value.is_finite() {
            let kind = if value.is_nan() { "NaN" } else { "infinity" };
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "{what} cannot be {kind}"));
        }
    }
    if step.is_zero() {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "step size cannot equal zero"));
    }
    let up = step.signum() > 0;
    let mut next = Some(start);
    Ok(Box::new(Values(std::iter::from_fn(move || {
        let value = next.take()?;
        let order = value.compare(&stop);
        if if up { order.is_gt() } else { order.is_lt() } {
            return None;
        }
        next = Some(value.add(&step));
        Some(Ok(Datum::Bytes(value.to_payload())))
    }))))
}

/// A random number between two bounds, with the larger of their scales.
fn random(cx: &Call, low: &Numeric, high: &Numeric) -> SqlResult<Numeric> {
    for (bound, name) in [(low, "lower bound"), (high, "upper bound")] {
        if !bound.is_finite() {
            let kind = if bound.is_nan() { "NaN" } else { "infinity" };
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "{name} cannot be {kind}"));
        }
    }
    if low.compare(high).is_gt() {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "lower bound must be less than or equal to upper bound"
        ));
    }
    let scale = low.scale.max(high.scale);
    let unit = Numeric::parse(&format!("1e-{scale}"))?;
    let steps = high.sub(low).div_rounded(&unit, 0);
    let mut random = Numeric::zero();
    cx.session.with_random(&mut |generator| {
        random = match steps.to_i128().and_then(|n| i64::try_from(n).ok()) {
            Some(n) => Numeric::from_i64(generator.range(0, n)),
            // Beyond 63 bits: digits by digits, reduced; the bias is below 2^-60.
            None => {
                let mut value = Numeric::zero();
                while value.compare_abs(&steps).is_le() {
                    value = value
                        .mul_exact(&Numeric::from_i64(1 << 62))
                        .add(&Numeric::from_i64(generator.range(0, (1 << 62) - 1)));
                }
                value = value.mul_exact(&Numeric::from_i64(1 << 62));
                value.rem(&steps.add(&Numeric::from_i64(1))).unwrap_or_else(|_| Numeric::zero())
            }
        };
    });
    Ok(low.add(&random.mul_exact(&unit)).round(scale))
}
