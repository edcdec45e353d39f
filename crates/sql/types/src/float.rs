//! `float4`, `float8`: arithmetic, comparison, mathematics, text form.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::registry::types::prelude::*;
use crate::{call::Call, compare::compare_floats, int::division_by_zero};

#[cold]
pub(crate) fn overflow() -> SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

#[cold]
pub(crate) fn underflow() -> SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")
}

/// The result, or an error when finite operands gave an infinite one.
#[inline]
fn no_overflow(result: f64, operands_infinite: bool) -> SqlResult<f64> {
    if result.is_infinite() && !operands_infinite { Err(overflow()) } else { Ok(result) }
}

/// Sum.
#[inline]
pub fn add(a: f64, b: f64) -> SqlResult<f64> {
    no_overflow(a + b, a.is_infinite() || b.is_infinite())
}

/// Difference.
#[inline]
pub fn sub(a: f64, b: f64) -> SqlResult<f64> {
    no_overflow(a - b, a.is_infinite() || b.is_infinite())
}

/// Product.
#[inline]
pub fn mul(a: f64, b: f64) -> SqlResult<f64> {
    let result = a * b;
    if result == 0.0 && a != 0.0 && b != 0.0 {
        return Err(underflow());
    }
    no_overflow(result, a.is_infinite() || b.is_infinite())
}

/// Quotient.
#[inline]
pub fn div(a: f64, b: f64) -> SqlResult<f64> {
    if b == 0.0 && !a.is_nan() {
        return Err(division_by_zero());
    }
    let result = a / b;
    if result == 0.0 && a != 0.0 && !b.is_infinite() {
        return Err(underflow());
    }
    no_overflow(result, a.is_infinite())
}

/// The operation on `float4`, with the range of `float4`.
#[inline]
fn narrow(a: f32, b: f32, op: fn(f32, f32) -> f32, may_underflow: bool) -> SqlResult<f32> {
    let result = op(a, b);
    if result.is_infinite() && !a.is_infinite() && !b.is_infinite() {
        return Err(overflow());
    }
    if may_underflow && result == 0.0 && a != 0.0 && b != 0.0 && !b.is_infinite() {
        return Err(underflow());
    }
    Ok(result)
}

fn div4(a: f32, b: f32) -> SqlResult<f32> {
    if b == 0.0 && !a.is_nan() { Err(division_by_zero()) } else { narrow(a, b, |a, b| a / b, true) }
}

/// The nearest `float4`.
fn to_float4(a: f64) -> SqlResult<f32> {
    let result = a as f32;
    if result.is_infinite() && !a.is_infinite() {
        return Err(overflow());
    }
    if result == 0.0 && a != 0.0 {
        return Err(underflow());
    }
    Ok(result)
}

/// Rounded half to even and checked against `low..high`.
fn to_int(a: f64, low: f64, high: f64, type_name: &str) -> SqlResult<i64> {
    let rounded = a.round_ties_even();
    if rounded.is_nan() || rounded < low || rounded >= high {
        return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "{type_name} out of range"));
    }
    Ok(rounded as i64)
}

fn int2(a: f64) -> SqlResult<i16> {
    to_int(a, -32768.0, 32768.0, "smallint").map(|v| v as i16)
}

fn int4(a: f64) -> SqlResult<i32> {
    to_int(a, -2147483648.0, 2147483648.0, "integer").map(|v| v as i32)
}

fn int8(a: f64) -> SqlResult<i64> {
    to_int(a, -9223372036854775808.0, 9223372036854775808.0, "bigint")
}

fn sqrt(a: f64) -> SqlResult<f64> {
    if a < 0.0 {
        return Err(sql_err!(
            INVALID_ARGUMENT_FOR_POWER_FUNCTION,
            "cannot take square root of a negative number"
        ));
    }
    Ok(a.sqrt())
}

fn power(a: f64, b: f64) -> SqlResult<f64> {
    let error = |text: &str| Err(sql_err!(INVALID_ARGUMENT_FOR_POWER_FUNCTION, "{text}"));
    if a == 0.0 && b < 0.0 {
        return error("zero raised to a negative power is undefined");
    }
    if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 {
        return error("a negative number raised to a non-integer power yields a complex result");
    }
    if a == f64::NEG_INFINITY && b.is_finite() && b.fract() != 0.0 {
        return error("a negative number raised to a non-integer power yields a complex result");
    }
    let result = a.powf(b);
    if a.is_finite() && b.is_finite() {
        if result.is_infinite() {
            return Err(overflow());
        }
        if result == 0.0 && a != 0.0 {
            return Err(underflow());
        }
    }
    Ok(result)
}

fn exp(a: f64) -> SqlResult<f64> {
    let result = a.exp();
    if result == 0.0 && a != f64::NEG_INFINITY {
        return Err(underflow());
    }
    no_overflow(result, a.is_infinite())
}

fn logarithm(a: f64, f: fn(f64) -> f64) -> SqlResult<f64> {
    if a == 0.0 {
        return Err(sql_err!(INVALID_ARGUMENT_FOR_LOG, "cannot take logarithm of zero"));
    }
    if a < 0.0 {
        return Err(sql_err!(INVALID_ARGUMENT_FOR_LOG, "cannot take logarithm of a negative number"));
    }
    Ok(f(a))
}

/// A function that is defined where `inside` says.
fn domain(a: f64, inside: bool, f: fn(f64) -> f64) -> SqlResult<f64> {
    if a.is_nan() {
        Ok(a)
    } else if inside {
        no_overflow(f(a), false)
    } else {
        Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range"))
    }
}

/// Sine of degrees in the first quadrant, exact at 0, 30 and 90.
fn sine_quadrant(degrees: f64) -> f64 {
    if degrees <= 30.0 {
        degrees.to_radians().sin() / 30f64.to_radians().sin() / 2.0
    } else {
        cosine_small(90.0 - degrees)
    }
}

/// Cosine of 0 to 60 degrees, exact at 0 and 60.
fn cosine_small(degrees: f64) -> f64 {
    1.0 - (1.0 - degrees.to_radians().cos()) / (1.0 - 60f64.to_radians().cos()) / 2.0
}

fn sind(a: f64) -> f64 {
    let turn = a % 360.0;
    let sign = if turn < 0.0 { -1.0 } else { 1.0 };
    let turn = turn.abs();
    let (turn, sign) = if turn > 180.0 { (360.0 - turn, -sign) } else { (turn, sign) };
    sign * sine_quadrant(if turn > 90.0 { 180.0 - turn } else { turn })
}

fn cosd(a: f64) -> f64 {
    let turn = (a % 360.0).abs();
    let turn = if turn > 180.0 { 360.0 - turn } else { turn };
    let (turn, sign) = if turn > 90.0 { (180.0 - turn, -1.0) } else { (turn, 1.0) };
    sign * if turn <= 60.0 { cosine_small(turn) } else { sine_quadrant(90.0 - turn) }
}

fn tand(a: f64) -> f64 {
    (sind(a) / cosd(a)) / (sind(45.0) / cosd(45.0))
}

/// The bucket of a value among `count` equal ones from `low` to `high`.
pub fn width_bucket(value: f64, low: f64, high: f64, count: i32) -> SqlResult<i32> {
    let error = |text: &str| sql_err!(INVALID_ARGUMENT_FOR_WIDTH_BUCKET_FUNCTION, "{text}");
    if count <= 0 {
        return Err(error("count must be greater than zero"));
    }
    if value.is_nan() || low.is_nan() || high.is_nan() {
        return Err(error("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(error("lower and upper bounds must be finite"));
    }
    if low == high {
        return Err(error("lower bound cannot equal upper bound"));
    }
    let over = || count.checked_add(1).ok_or_else(crate::int::int4_range);
    let (below, above) = if low < high { (value < low, value >= high) } else { (value > low, value <= high) };
    if below {
        return Ok(0);
    }
    if above {
        return over();
    }
    // Halved where the difference itself would overflow.
    let part = if (high - low).is_infinite() {
        (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
    } else {
        (value - low) / (high - low)
    };
    Ok(((part * f64::from(count)) as i32).min(count - 1) + 1)
}

/// Functions of the C library that the standard library does not give, by which results agree with PostgreSQL's to the last digit.
mod special {
    unsafe extern "C" {
        #[link_name = "erf"]
        safe fn c_erf(x: f64) -> f64;
        #[link_name = "erfc"]
        safe fn c_erfc(x: f64) -> f64;
        #[link_name = "tgamma"]
        safe fn c_tgamma(x: f64) -> f64;
        /// The sign of the gamma function goes to the second argument.
        #[link_name = "lgamma_r"]
        safe fn c_lgamma(x: f64, sign: &mut std::ffi::c_int) -> f64;
    }

    /// The error function.
    pub(super) fn erf(x: f64) -> f64 {
        c_erf(x)
    }

    /// Its complement.
    pub(super) fn erfc(x: f64) -> f64 {
        c_erfc(x)
    }

    /// The gamma function.
    pub(super) fn gamma(x: f64) -> f64 {
        c_tgamma(x)
    }

    /// The logarithm of its absolute value.
    pub(super) fn lgamma(x: f64) -> f64 {
        let mut sign = 0;
        c_lgamma(x, &mut sign)
    }
}

/// The gamma function, an error where it has no value or none that fits.
fn gamma(a: f64) -> SqlResult<f64> {
    if a.is_nan() || a == f64::INFINITY {
        return Ok(a);
    }
    let result = special::gamma(a);
    match () {
        () if a == f64::NEG_INFINITY || result.is_nan() || result.is_infinite() => Err(overflow()),
        () if result == 0.0 => Err(underflow()),
        () => Ok(result),
    }
}

/// Above it the square of a number may be no number.
const LARGE: f64 = 1e150;

/// A floating-point number of 32 bits.
pub(crate) static FLOAT4: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_float4,
        io: [Oid(200), Oid(201), Oid(2424), Oid(2425)],
        ..TypeInfo::new(oids::float4, "float4", b'N', Physical::Float4)
    }),
    input: |_, text, _, _| Ok(Datum::Float4(parse4(text)?)),
    output: |_, value, cx, out| {
        push4(f32::from_datum(value), cx.format.extra_float_digits, out);
        Ok(())
    },
    receive: |_, reader, _, _| Ok(Datum::Float4(f32::from_bits(reader.i32()? as u32))),
    sql_name: "real",
    ..crate::compare::FLOATS
};

/// A floating-point number of 64 bits.
pub(crate) static FLOAT8: TypeImp = TypeImp {
    row: Some(TypeInfo {
        preferred: true,
        array: oids::_float8,
        io: [Oid(214), Oid(215), Oid(2426), Oid(2427)],
        ..TypeInfo::new(oids::float8, "float8", b'N', Physical::Float8)
    }),
    input: |_, text, _, _| Ok(Datum::Float8(parse8(text)?)),
    output: |_, value, cx, out| {
        push8(f64::from_datum(value), cx.format.extra_float_digits, out);
        Ok(())
    },
    receive: |_, reader, _, _| Ok(Datum::Float8(f64::from_bits(reader.i64()? as u64))),
    sql_name: "double precision",
    ..crate::compare::FLOATS
};

functions! {
    200 float4in(cstring) -> float4 [immutable strict] { input float4 }
    201 float4out(float4) -> cstring [immutable strict] { output float4 }
    214 float8in(cstring) -> float8 [immutable strict] { input float8 }
    215 float8out(float8) -> cstring [immutable strict] { output float8 }
    2424 float4recv(internal) -> float4 [immutable strict] { receive float4 }
    2425 float4send(float4) -> bytea [immutable strict] { send float4 }
    2426 float8recv(internal) -> float8 [immutable strict] { receive float8 }
    2427 float8send(float8) -> bytea [immutable strict] { send float8 }
    2731 asind(float8) -> float8 [immutable strict] { |a: f64| domain(a, (-1.0..=1.0).contains(&a), |a| a.asin().to_degrees()) }
    2732 acosd(float8) -> float8 [immutable strict] { |a: f64| domain(a, (-1.0..=1.0).contains(&a), |a| a.acos().to_degrees()) }
    2733 atand(float8) -> float8 [immutable strict] { |a: f64| a.atan().to_degrees() }
    2734 atan2d(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| a.atan2(b).to_degrees() }
    2738 cotd(float8) -> float8 [immutable strict] { |a: f64| if a.is_finite() { Ok(1.0 / tand(a)) } else { domain(a, false, tand) } }
    287 float4eq(float4, float4) -> bool [immutable strict leakproof] { |a: f32, b: f32| (compare_floats(a.into(), b.into())).is_eq() }
    288 float4ne(float4, float4) -> bool [immutable strict leakproof] { |a: f32, b: f32| (compare_floats(a.into(), b.into())).is_ne() }
    289 float4lt(float4, float4) -> bool [immutable strict leakproof] { |a: f32, b: f32| (compare_floats(a.into(), b.into())).is_lt() }
    290 float4le(float4, float4) -> bool [immutable strict leakproof] { |a: f32, b: f32| (compare_floats(a.into(), b.into())).is_le() }
    291 float4gt(float4, float4) -> bool [immutable strict leakproof] { |a: f32, b: f32| (compare_floats(a.into(), b.into())).is_gt() }
    292 float4ge(float4, float4) -> bool [immutable strict leakproof] { |a: f32, b: f32| (compare_floats(a.into(), b.into())).is_ge() }
    354 btfloat4cmp(float4, float4) -> int4 [immutable strict leakproof] { |a: f32, b: f32| (compare_floats(a.into(), b.into())) as i32 }
    293 float8eq(float8, float8) -> bool [immutable strict leakproof] { |a: f64, b: f64| (compare_floats(a, b)).is_eq() }
    294 float8ne(float8, float8) -> bool [immutable strict leakproof] { |a: f64, b: f64| (compare_floats(a, b)).is_ne() }
    295 float8lt(float8, float8) -> bool [immutable strict leakproof] { |a: f64, b: f64| (compare_floats(a, b)).is_lt() }
    296 float8le(float8, float8) -> bool [immutable strict leakproof] { |a: f64, b: f64| (compare_floats(a, b)).is_le() }
    297 float8gt(float8, float8) -> bool [immutable strict leakproof] { |a: f64, b: f64| (compare_floats(a, b)).is_gt() }
    298 float8ge(float8, float8) -> bool [immutable strict leakproof] { |a: f64, b: f64| (compare_floats(a, b)).is_ge() }
    355 btfloat8cmp(float8, float8) -> int4 [immutable strict leakproof] { |a: f64, b: f64| (compare_floats(a, b)) as i32 }
    299 float48eq(float4, float8) -> bool [immutable strict leakproof] { |a: f32, b: f64| (compare_floats(a.into(), b)).is_eq() }
    300 float48ne(float4, float8) -> bool [immutable strict leakproof] { |a: f32, b: f64| (compare_floats(a.into(), b)).is_ne() }
    301 float48lt(float4, float8) -> bool [immutable strict leakproof] { |a: f32, b: f64| (compare_floats(a.into(), b)).is_lt() }
    302 float48le(float4, float8) -> bool [immutable strict leakproof] { |a: f32, b: f64| (compare_floats(a.into(), b)).is_le() }
    303 float48gt(float4, float8) -> bool [immutable strict leakproof] { |a: f32, b: f64| (compare_floats(a.into(), b)).is_gt() }
    304 float48ge(float4, float8) -> bool [immutable strict leakproof] { |a: f32, b: f64| (compare_floats(a.into(), b)).is_ge() }
    2194 btfloat48cmp(float4, float8) -> int4 [immutable strict leakproof] { |a: f32, b: f64| (compare_floats(a.into(), b)) as i32 }
    305 float84eq(float8, float4) -> bool [immutable strict leakproof] { |a: f64, b: f32| (compare_floats(a, b.into())).is_eq() }
    306 float84ne(float8, float4) -> bool [immutable strict leakproof] { |a: f64, b: f32| (compare_floats(a, b.into())).is_ne() }
    307 float84lt(float8, float4) -> bool [immutable strict leakproof] { |a: f64, b: f32| (compare_floats(a, b.into())).is_lt() }
    308 float84le(float8, float4) -> bool [immutable strict leakproof] { |a: f64, b: f32| (compare_floats(a, b.into())).is_le() }
    309 float84gt(float8, float4) -> bool [immutable strict leakproof] { |a: f64, b: f32| (compare_floats(a, b.into())).is_gt() }
    310 float84ge(float8, float4) -> bool [immutable strict leakproof] { |a: f64, b: f32| (compare_floats(a, b.into())).is_ge() }
    2195 btfloat84cmp(float8, float4) -> int4 [immutable strict leakproof] { |a: f64, b: f32| (compare_floats(a, b.into())) as i32 }
    204 float4pl(float4, float4) -> float4 [immutable strict] { |a: f32, b: f32| narrow(a, b, |a, b| a + b, false) }
    205 float4mi(float4, float4) -> float4 [immutable strict] { |a: f32, b: f32| narrow(a, b, |a, b| a - b, false) }
    202 float4mul(float4, float4) -> float4 [immutable strict] { |a: f32, b: f32| narrow(a, b, |a, b| a * b, true) }
    203 float4div(float4, float4) -> float4 [immutable strict] { |a: f32, b: f32| div4(a, b) }
    218 float8pl(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| add(a, b) }
    219 float8mi(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| sub(a, b) }
    216 float8mul(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| mul(a, b) }
    217 float8div(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| div(a, b) }
    281 float48pl(float4, float8) -> float8 [immutable strict] { |a: f32, b: f64| add(a.into(), b) }
    282 float48mi(float4, float8) -> float8 [immutable strict] { |a: f32, b: f64| sub(a.into(), b) }
    279 float48mul(float4, float8) -> float8 [immutable strict] { |a: f32, b: f64| mul(a.into(), b) }
    280 float48div(float4, float8) -> float8 [immutable strict] { |a: f32, b: f64| div(a.into(), b) }
    285 float84pl(float8, float4) -> float8 [immutable strict] { |a: f64, b: f32| add(a, b.into()) }
    286 float84mi(float8, float4) -> float8 [immutable strict] { |a: f64, b: f32| sub(a, b.into()) }
    283 float84mul(float8, float4) -> float8 [immutable strict] { |a: f64, b: f32| mul(a, b.into()) }
    284 float84div(float8, float4) -> float8 [immutable strict] { |a: f64, b: f32| div(a, b.into()) }
    206 float4um(float4) -> float4 [immutable strict] { |a: f32| -a }
    220 float8um(float8) -> float8 [immutable strict] { |a: f64| -a }
    1913 float4up(float4) -> float4 [immutable strict] { |a: f32| a }
    1914 float8up(float8) -> float8 [immutable strict] { |a: f64| a }
    207 float4abs(float4) -> float4 [immutable strict] { |a: f32| a.abs() }
    221 float8abs(float8) -> float8 [immutable strict] { |a: f64| a.abs() }
    1394 abs(float4) -> float4 [immutable strict] { |a: f32| a.abs() }
    1395 abs(float8) -> float8 [immutable strict] { |a: f64| a.abs() }
    209 float4larger(float4, float4) -> float4 [immutable strict] { |a: f32, b: f32| if compare_floats(a.into(), b.into()).is_gt() { a } else { b } }
    211 float4smaller(float4, float4) -> float4 [immutable strict] { |a: f32, b: f32| if compare_floats(a.into(), b.into()).is_lt() { a } else { b } }
    223 float8larger(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| if compare_floats(a, b).is_gt() { a } else { b } }
    224 float8smaller(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| if compare_floats(a, b).is_lt() { a } else { b } }
    451 hashfloat4(float4) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::float4, a) }
    452 hashfloat8(float8) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::float8, a) }
    443 hashfloat4extended(float4, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::float4, a, seed) }
    444 hashfloat8extended(float8, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::float8, a, seed) }
    312 float4(float8) -> float4 [immutable strict] { |a: f64| to_float4(a) }
    236 float4(int2) -> float4 [immutable strict leakproof] { |a: i16| f32::from(a) }
    318 float4(int4) -> float4 [immutable strict leakproof] { |a: i32| a as f32 }
    652 float4(int8) -> float4 [immutable strict leakproof] { |a: i64| a as f32 }
    311 float8(float4) -> float8 [immutable strict leakproof] { |a: f32| f64::from(a) }
    235 float8(int2) -> float8 [immutable strict leakproof] { |a: i16| f64::from(a) }
    316 float8(int4) -> float8 [immutable strict leakproof] { |a: i32| f64::from(a) }
    482 float8(int8) -> float8 [immutable strict leakproof] { |a: i64| a as f64 }
    238 int2(float4) -> int2 [immutable strict] { |a: f32| int2(a.into()) }
    237 int2(float8) -> int2 [immutable strict] { |a: f64| int2(a) }
    319 int4(float4) -> int4 [immutable strict] { |a: f32| int4(a.into()) }
    317 int4(float8) -> int4 [immutable strict] { |a: f64| int4(a) }
    653 int8(float4) -> int8 [immutable strict] { |a: f32| int8(a.into()) }
    483 int8(float8) -> int8 [immutable strict] { |a: f64| int8(a) }
    1342 round(float8) -> float8 [immutable strict] { |a: f64| a.round_ties_even() }
    228 dround(float8) -> float8 [immutable strict] { |a: f64| a.round_ties_even() }
    1343 trunc(float8) -> float8 [immutable strict] { |a: f64| a.trunc() }
    229 dtrunc(float8) -> float8 [immutable strict] { |a: f64| a.trunc() }
    2308 ceil(float8) -> float8 [immutable strict] { |a: f64| a.ceil() }
    2320 ceiling(float8) -> float8 [immutable strict] { |a: f64| a.ceil() }
    2309 floor(float8) -> float8 [immutable strict] { |a: f64| a.floor() }
    2310 sign(float8) -> float8 [immutable strict] { |a: f64| if a > 0.0 { 1.0 } else if a < 0.0 { -1.0 } else { 0.0 } }
    1344 sqrt(float8) -> float8 [immutable strict] { |a: f64| sqrt(a) }
    230 dsqrt(float8) -> float8 [immutable strict] { |a: f64| sqrt(a) }
    1345 cbrt(float8) -> float8 [immutable strict] { |a: f64| a.cbrt() }
    231 dcbrt(float8) -> float8 [immutable strict] { |a: f64| a.cbrt() }
    1368 power(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| power(a, b) }
    1346 pow(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| power(a, b) }
    232 dpow(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| power(a, b) }
    1347 exp(float8) -> float8 [immutable strict] { |a: f64| exp(a) }
    233 dexp(float8) -> float8 [immutable strict] { |a: f64| exp(a) }
    1341 ln(float8) -> float8 [immutable strict] { |a: f64| logarithm(a, f64::ln) }
    234 dlog1(float8) -> float8 [immutable strict] { |a: f64| logarithm(a, f64::ln) }
    1340 log(float8) -> float8 [immutable strict] { |a: f64| logarithm(a, f64::log10) }
    1194 log10(float8) -> float8 [immutable strict] { |a: f64| logarithm(a, f64::log10) }
    1339 dlog10(float8) -> float8 [immutable strict] { |a: f64| logarithm(a, f64::log10) }
    1604 sin(float8) -> float8 [immutable strict] { |a: f64| domain(a, a.is_finite(), f64::sin) }
    1605 cos(float8) -> float8 [immutable strict] { |a: f64| domain(a, a.is_finite(), f64::cos) }
    1606 tan(float8) -> float8 [immutable strict] { |a: f64| domain(a, a.is_finite(), f64::tan) }
    1607 cot(float8) -> float8 [immutable strict] { |a: f64| if a.is_finite() { Ok(1.0 / a.tan()) } else { domain(a, false, f64::tan) } }
    1600 asin(float8) -> float8 [immutable strict] { |a: f64| domain(a, (-1.0..=1.0).contains(&a), f64::asin) }
    1601 acos(float8) -> float8 [immutable strict] { |a: f64| domain(a, (-1.0..=1.0).contains(&a), f64::acos) }
    1602 atan(float8) -> float8 [immutable strict] { |a: f64| a.atan() }
    1603 atan2(float8, float8) -> float8 [immutable strict] { |a: f64, b: f64| a.atan2(b) }
    2462 sinh(float8) -> float8 [immutable strict] { |a: f64| a.sinh() }
    2463 cosh(float8) -> float8 [immutable strict] { |a: f64| a.cosh() }
    2464 tanh(float8) -> float8 [immutable strict] { |a: f64| a.tanh() }
    2465 asinh(float8) -> float8 [immutable strict] { |a: f64| if a.abs() > LARGE { (a.abs().ln() + std::f64::consts::LN_2).copysign(a) } else { a.asinh() } }
    2466 acosh(float8) -> float8 [immutable strict] { |a: f64| domain(a, a >= 1.0, |a| if a > LARGE { a.ln() + std::f64::consts::LN_2 } else { a.acosh() }) }
    2467 atanh(float8) -> float8 [immutable strict] { |a: f64| if a.abs() == 1.0 { Ok(f64::INFINITY.copysign(a)) } else { domain(a, (-1.0..=1.0).contains(&a), f64::atanh) } }
    6219 erf(float8) -> float8 [immutable strict] { |a: f64| special::erf(a) }
    6220 erfc(float8) -> float8 [immutable strict] { |a: f64| special::erfc(a) }
    6383 gamma(float8) -> float8 [immutable strict] { |a: f64| gamma(a) }
    6384 lgamma(float8) -> float8 [immutable strict] { |a: f64| no_overflow(special::lgamma(a), a.is_infinite()) }
    2735 sind(float8) -> float8 [immutable strict] { |a: f64| domain(a, a.is_finite(), sind) }
    2736 cosd(float8) -> float8 [immutable strict] { |a: f64| domain(a, a.is_finite(), cosd) }
    2737 tand(float8) -> float8 [immutable strict] { |a: f64| if a.is_finite() { Ok(tand(a)) } else { domain(a, false, tand) } }
    1608 degrees(float8) -> float8 [immutable strict] { |a: f64| no_overflow(a.to_degrees(), a.is_infinite()) }
    1609 radians(float8) -> float8 [immutable strict] { |a: f64| a.to_radians() }
    1610 pi() -> float8 [immutable strict] { || std::f64::consts::PI }
    1598 random() -> float8 [strict restricted] { |cx;| with_random(cx, |generator| generator.float()) }
    1599 setseed(float8) -> void [strict restricted] { |cx; seed: f64| set_seed(cx, seed) }
    6212 random_normal(float8, float8) -> float8 [strict restricted names(&["mean", "stddev"]) defaults(&["0", "1"])] { |cx; mean: f64, deviation: f64| with_random(cx, |generator| generator.normal()) * deviation + mean }
}

fn with_random(cx: &Call, f: impl Fn(&mut crate::random::Random) -> f64) -> f64 {
    let mut value = 0.0;
    cx.session.with_random(&mut |generator| value = f(generator));
    value
}

fn set_seed(cx: &Call, seed: f64) -> SqlResult<Datum> {
    if !(-1.0..=1.0).contains(&seed) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "setseed parameter {} is out of allowed range [-1,1]",
            text8(seed, 1)
        ));
    }
    cx.session.with_random(&mut |generator| *generator = crate::random::Random::from_float(seed));
    Ok(Datum::text(""))
}

/// Text of a `float8`.
pub fn text8(value: f64, extra_digits: i32) -> String {
    text_of(|out| push8(value, extra_digits, out))
}

fn push8(value: f64, extra_digits: i32, out: &mut Vec<u8>) {
    if extra_digits <= 0 {
        push_general(value, (15 + extra_digits).max(1) as usize, out);
    } else if !push_special(value, out) {
        lay_out(ryu::Buffer::new().format_finite(value), 15, out);
    }
}

fn push4(value: f32, extra_digits: i32, out: &mut Vec<u8>) {
    if extra_digits <= 0 {
        push_general(value.into(), (6 + extra_digits).max(1) as usize, out);
    } else if !push_special(value.into(), out) {
        lay_out(ryu::Buffer::new().format_finite(value), 6, out);
    }
}

/// Appends what is no number; false if it is one.
fn push_special(value: f64, out: &mut Vec<u8>) -> bool {
    let text: &[u8] = match value {
        f64::INFINITY => b"Infinity",
        f64::NEG_INFINITY => b"-Infinity",
        _ if value.is_nan() => b"NaN",
        _ => return false,
    };
    out.extend_from_slice(text);
    true
}

/// Digits of a number without its sign, at most, as they come in.
const MOST_DIGITS: usize = 32;

/// Appends a number that is written as `12.5`, `0.001` or `1.5e-7`: plainly where its first digit counts from 10⁻⁴ to below 10 to the power of `limit`,
/// else with an exponent of two digits or more.
fn lay_out(written: &str, limit: i32, out: &mut Vec<u8>) {
    let unsigned = written.strip_prefix('-').unwrap_or(written);
    if unsigned.len() < written.len() {
        out.push(b'-');
    }
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut buffer = [0; MOST_DIGITS];
    let digits = digits_of(whole, fraction, &mut buffer);
    let zeros = whole.len() + fraction.len() - digits.len();
    let exponent = exponent.parse::<i32>().unwrap_or(0) + whole.len() as i32 - 1 - zeros as i32;
    let digits = &digits[..digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1)];
    if digits.is_empty() {
        out.push(b'0');
    } else if (-4..limit).contains(&exponent) {
        push_plain(digits, exponent, out);
    } else {
        push_scientific(digits, exponent, out);
    }
}

/// The digits from the first that is not zero on.
fn digits_of<'b>(whole: &str, fraction: &str, buffer: &'b mut [u8; MOST_DIGITS]) -> &'b [u8] {
    let mut count = 0;
    for digit in whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0').take(MOST_DIGITS) {
        buffer[count] = digit;
        count += 1;
    }
    &buffer[..count]
}

/// Appends digits, of which the first counts 10 to the power of `exponent`.
fn push_plain(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    let zeros = |count: usize| std::iter::repeat_n(b'0', count);
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(zeros((-exponent - 1) as usize));
        return out.extend_from_slice(digits);
    }
    let before = exponent as usize + 1;
    if digits.len() <= before {
        out.extend_from_slice(digits);
        return out.extend(zeros(before - digits.len()));
    }
    let (whole, fraction) = digits.split_at(before);
    out.extend_from_slice(whole);
    out.push(b'.');
    out.extend_from_slice(fraction);
}

/// The same with the exponent behind them.
fn push_scientific(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    push_plain(digits, 0, out);
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    base::push_padded(out, exponent.unsigned_abs().into(), 2);
}

/// `%.*g`
pub fn general(value: f64, digits: usize) -> String {
    text_of(|out| push_general(value, digits, out))
}

fn push_general(value: f64, digits: usize, out: &mut Vec<u8>) {
    if !push_special(value, out) {
        lay_out(&format!("{value:.*e}", digits - 1), digits as i32, out);
    }
}

/// Reads a `float8`.
pub fn parse8(text: &str) -> SqlResult<f64> {
    parse_as(text, "double precision")
}

/// Reads a `float4`.
pub fn parse4(text: &str) -> SqlResult<f32> {
    parse_as(text, "real")
}

fn parse_as<T: std::str::FromStr + Into<f64> + Copy>(text: &str, type_name: &str) -> SqlResult<T> {
    let syntax =
        || sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type {type_name}: \"{text}\"");
    let body = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    if let Some(value) = hexadecimal(body) {
        // Its decimal form reads back as the same number.
        return format!("{value:e}").parse().map_err(|_| syntax());
    }
    let value: T = body.parse().map_err(|_| syntax())?;
    let wide: f64 = value.into();
    let written_infinite = body.bytes().any(|b| b.eq_ignore_ascii_case(&b'n'));
    let mantissa = body.split(['e', 'E']).next().unwrap_or_default();
    let zero = !mantissa.bytes().any(|b| (b'1'..=b'9').contains(&b));
    if (wide.is_infinite() && !written_infinite) || (wide == 0.0 && !zero) {
        return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "\"{body}\" is out of range for type {type_name}"));
    }
    Ok(value)
}

/// `0x1.8p1`, as C writes it; none for anything else.
fn hexadecimal(text: &str) -> Option<f64> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let body = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X"))?;
    let (mantissa, exponent) = match body.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (body, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for c in whole.chars().chain(part.chars()) {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    let scaled = value * 2f64.powi(exponent.saturating_sub(4 * i32::try_from(part.len()).ok()?));
    Some(if negative { -scaled } else { scaled })
}

/// Sum of two `float4`.
pub fn add4(a: f32, b: f32) -> SqlResult<f32> {
    narrow(a, b, |a, b| a + b, false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Digits without zeros at the ends, and whether an exponent follows.
    fn parts(text: &str) -> (String, bool) {
        let mantissa = text.split('e').next().unwrap_or_default();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        (digits.trim_matches('0').to_owned(), text.contains('e'))
    }

    proptest! {
        #[test]
        fn text_is_the_shortest_that_reads_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let (text, scientific) = (text8(value, 1), format!("{value:e}"));
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits, "{}", text);
            let exponent: i32 = scientific.split_once('e').unwrap().1.parse().unwrap();
            prop_assert_eq!(parts(&text), (parts(&scientific).0, !(-4..15).contains(&exponent)), "{}", text);
        }

        #[test]
        fn common_sizes_are_written_plainly(thousandths in -1_000_000_000i64..1_000_000_000) {
            let value = thousandths as f64 / 1000.0;
            if value.abs() >= 0.0001 {
                prop_assert_eq!(text8(value, 1), format!("{value}"));
            }
        }
    }

    #[test]
    fn exponents_have_a_sign_and_two_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1e15, "1e+15"),
            (-1.5e-5, "-1.5e-05"),
            (0.0001, "0.0001"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e300, "1e+300"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(text8(value, 1), text);
        }
        assert_eq!((general(1_234_567.0, 6), general(0.1 + 0.2, 15)), ("1.23457e+06".into(), "0.3".into()));
    }
}
