//! Transition and final functions of aggregates whose states are ordinary values, as SQL and aggregates of users call them.
//! Built-in aggregates are computed by [`crate::aggregate`] without them.

use base::{SqlError, SqlResult};
use tuple::Datum;

use crate::aggregate::{
    Regression, Spread, accumulate, accumulate_pair, combine_floats, float_spread, regression,
};
use crate::array::Array;
use crate::call::Call;
use crate::int::eight;
use crate::numeric::Numeric;
use crate::oids;
use crate::value::{FromDatum, IntoDatum};

functions! {
    208 float4_accum(_float8, float4) -> _float8 [immutable strict] { fn float_accum }
    222 float8_accum(_float8, float8) -> _float8 [immutable strict] { fn float_accum }
    276 float8_combine(_float8, _float8) -> _float8 [immutable strict] { fn float_combine }
    1830 float8_avg(_float8) -> float8 [immutable strict] { fn float_avg }
    1831 float8_var_samp(_float8) -> float8 [immutable strict] { |s: &Datum| spread(s, Spread::VarSamp) }
    1832 float8_stddev_samp(_float8) -> float8 [immutable strict] { |s: &Datum| spread(s, Spread::StddevSamp) }
    2512 float8_var_pop(_float8) -> float8 [immutable strict] { |s: &Datum| spread(s, Spread::VarPop) }
    2513 float8_stddev_pop(_float8) -> float8 [immutable strict] { |s: &Datum| spread(s, Spread::StddevPop) }
    2806 float8_regr_accum(_float8, float8, float8) -> _float8 [immutable strict] { fn regr_accum }
    2807 float8_regr_sxx(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::Sxx) }
    2808 float8_regr_syy(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::Syy) }
    2809 float8_regr_sxy(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::Sxy) }
    2810 float8_regr_avgx(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::AvgX) }
    2811 float8_regr_avgy(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::AvgY) }
    2812 float8_regr_r2(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::R2) }
    2813 float8_regr_slope(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::Slope) }
    2814 float8_regr_intercept(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::Intercept) }
    2815 float8_covar_pop(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::CovarPop) }
    2816 float8_covar_samp(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::CovarSamp) }
    2817 float8_corr(_float8) -> float8 [immutable strict] { |s: &Datum| regr(s, Regression::Corr) }
    3342 float8_regr_combine(_float8, _float8) -> _float8 [immutable strict] { fn float_combine }
    6292 any_value_transfn(anyelement, anyelement) -> anyelement [immutable strict] { fn first_argument }

    1840 int2_sum(int8, int2) -> int8 [immutable] { |state: &Datum, x: &Datum| int_sum(state, x) }
    1841 int4_sum(int8, int4) -> int8 [immutable] { |state: &Datum, x: &Datum| int_sum(state, x) }
    1842 int8_sum(numeric, int8) -> numeric [immutable] { |state: &Datum, x: &Datum| numeric_sum(state, x) }
    1962 int2_avg_accum(_int8, int2) -> _int8 [immutable strict] { |cx; s: &Datum, x: &Datum| int_accum(cx, s, x, 1) }
    1963 int4_avg_accum(_int8, int4) -> _int8 [immutable strict] { |cx; s: &Datum, x: &Datum| int_accum(cx, s, x, 1) }
    3570 int2_avg_accum_inv(_int8, int2) -> _int8 [immutable strict] { |cx; s: &Datum, x: &Datum| int_accum(cx, s, x, -1) }
    3571 int4_avg_accum_inv(_int8, int4) -> _int8 [immutable strict] { |cx; s: &Datum, x: &Datum| int_accum(cx, s, x, -1) }
    3324 int4_avg_combine(_int8, _int8) -> _int8 [immutable strict] { fn int_combine }
    1964 int8_avg(_int8) -> numeric [immutable strict] { |state: &Datum| int_avg(state) }
    3572 int2int4_sum(_int8) -> int8 [immutable strict] { |state: &Datum| counted(state).map(|(n, sum)| (n != 0).then_some(sum)) }
    2805 int8inc_float8_float8(int8, float8, float8) -> int8 [immutable strict] { |n: i64, _x: f64, _y: f64| eight::add(n, 1) }
}

fn first_argument(_call: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(args[0].clone())
}

/// A state of floating-point sums: three of them, or six.
fn floats(state: &Datum, caller: &str, wanted: Option<usize>) -> SqlResult<([f64; 6], usize)> {
    let array = Array::from_payload(<&[u8]>::from_datum(state));
    let elements = array.elements();
    let length = elements.len();
    let wanted = wanted.unwrap_or(if length == 6 { 6 } else { 3 });
    if length != wanted || elements.iter().any(Datum::is_null) {
        return Err(SqlError::internal(format!("{caller}: expected {wanted}-element float8 array")));
    }
    let mut sums = [0.0; 6];
    for (sum, element) in sums.iter_mut().zip(elements) {
        *sum = f64::from_datum(element);
    }
    Ok((sums, length))
}

fn floats_datum(cx: &Call, sums: &[f64; 6], length: usize) -> SqlResult<Datum> {
    let values = sums[..length].iter().map(|sum| Datum::Float8(*sum)).collect();
    Ok(Array::from_values(oids::float8, values, cx)?.to_datum())
}

fn float_accum(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let (mut sums, length) = floats(&args[0], "float8_accum", Some(3))?;
    accumulate(&mut sums, crate::compare::double(&args[1]))?;
    floats_datum(cx, &sums, length)
}

fn float_combine(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let (mut sums, length) = floats(&args[0], "float8_combine", None)?;
    combine_floats(&mut sums, &floats(&args[1], "float8_combine", Some(length))?.0);
    floats_datum(cx, &sums, length)
}

fn float_avg(_cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let ([n, sum, ..], _) = floats(&args[0], "float8_avg", Some(3))?;
    Ok(if n == 0.0 { Datum::Null } else { Datum::Float8(sum / n) })
}

fn spread(state: &Datum, what: Spread) -> SqlResult<Datum> {
    Ok(float_spread(&floats(state, "float8_var", Some(3))?.0, what))
}

fn regr_accum(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let (mut sums, length) = floats(&args[0], "float8_regr_accum", Some(6))?;
    accumulate_pair(&mut sums, f64::from_datum(&args[2]), f64::from_datum(&args[1]))?;
    floats_datum(cx, &sums, length)
}

fn regr(state: &Datum, what: Regression) -> SqlResult<Datum> {
    Ok(regression(&floats(state, "float8_regr", Some(6))?.0, what))
}

fn int_sum(state: &Datum, x: &Datum) -> SqlResult<Datum> {
    match (state, x) {
        (_, Datum::Null) => Ok(state.clone()),
        (Datum::Null, _) => Ok(Datum::Int8(crate::compare::widen(x))),
        _ => eight::add(i64::from_datum(state), crate::compare::widen(x)).map(Datum::Int8),
    }
}

fn numeric_sum(state: &Datum, x: &Datum) -> SqlResult<Datum> {
    match (state, x) {
        (_, Datum::Null) => Ok(state.clone()),
        (Datum::Null, _) => Numeric::from_i64(i64::from_datum(x)).into_datum(),
        _ => Numeric::from_datum(state).add(&Numeric::from_i64(i64::from_datum(x))).into_datum(),
    }
}

/// A count and a sum.
fn counted(state: &Datum) -> SqlResult<(i64, i64)> {
    match Array::from_payload(<&[u8]>::from_datum(state)).elements() {
        [Datum::Int8(count), Datum::Int8(sum)] => Ok((*count, *sum)),
        _ => Err(SqlError::internal("expected 2-element int8 array")),
    }
}

fn counted_datum(cx: &Call, count: i64, sum: i64) -> SqlResult<Datum> {
    let values = vec![Datum::Int8(count), Datum::Int8(sum)];
    Ok(Array::from_values(oids::int8, values, cx)?.to_datum())
}

/// Adds a number, or with -1 takes it away.
fn int_accum(cx: &Call, state: &Datum, x: &Datum, sign: i64) -> SqlResult<Datum> {
    let (count, sum) = counted(state)?;
    counted_datum(cx, count.wrapping_add(sign), sum.wrapping_add(sign * crate::compare::widen(x)))
}

fn int_combine(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let (one, other) = (counted(&args[0])?, counted(&args[1])?);
    counted_datum(cx, one.0.wrapping_add(other.0), one.1.wrapping_add(other.1))
}

fn int_avg(state: &Datum) -> SqlResult<Datum> {
    let (count, sum) = counted(state)?;
    if count == 0 {
        return Ok(Datum::Null);
    }
    Numeric::from_i64(sum).div(&Numeric::from_i64(count))?.into_datum()
}
