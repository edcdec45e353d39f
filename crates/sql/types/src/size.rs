//! `pg_size_pretty`, `pg_size_bytes`, and the counting of NULLs.

use base::{SqlResult, sql_err};
use tuple::Datum;

use crate::{array::Array, call::Call, numeric::Numeric, value::FromDatum};

functions! {
    2288 pg_size_pretty(int8) -> text [immutable strict] { |size: i64| pretty(size.into()) }
    3166 pg_size_pretty(numeric) -> text [immutable strict] { |size: Numeric| pretty_numeric(size) }
    3334 pg_size_bytes(text) -> int8 [immutable strict] { |text: &str| bytes(text) }
    438 num_nulls(any) -> int4 [immutable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { fn count_nulls }
    440 num_nonnulls(any) -> int4 [immutable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { fn count_values }
}

/// Units, each 1024 times the one before, and what is still shown in it: ten of the next.
const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/// Halved and rounded half away from zero.
fn half_rounded(n: i128) -> i128 {
    (n + n.signum()) / 2
}

fn pretty(size: i128) -> String {
    if size.abs() < 10 * 1024 {
        return format!("{size} bytes");
    }
    // One bit more is kept, for rounding.
    let mut doubled = size >> 9;
    for unit in &UNITS[1..] {
        if doubled.abs() < 20 * 1024 - 1 || *unit == "PB" {
            return format!("{} {unit}", half_rounded(doubled));
        }
        doubled /= 1024;
    }
    format!("{size} bytes")
}

fn pretty_numeric(size: Numeric) -> String {
    if size.clone().abs().compare(&Numeric::from_i64(10 * 1024)).is_lt() {
        return format!("{size} bytes");
    }
    size.truncate(0).to_i128().map_or_else(|| "NaN PB".into(), pretty)
}

fn bytes(text: &str) -> SqlResult<i64> {
    let body = text.trim();
    let end = body
        .char_indices()
        .find(|(i, c)| {
            let exponent = (*c == 'e' || *c == 'E')
                && body[i + 1..].trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
            let sign = (*c == '+' || *c == '-') && (*i == 0 || body[..*i].ends_with(['e', 'E']));
            !(c.is_ascii_digit() || *c == '.' || exponent || sign)
        })
        .map_or(body.len(), |(i, _)| i);
    let (number, unit) = (&body[..end], body[end..].trim());
    let bad = || sql_err!(INVALID_PARAMETER_VALUE, "invalid size: \"{text}\"");
    let number = Numeric::parse(number).map_err(|_| bad())?;
    let unit = if unit.eq_ignore_ascii_case("b") || unit.is_empty() { "bytes" } else { unit };
    let Some(power) = UNITS.iter().position(|u| u.eq_ignore_ascii_case(unit)) else {
        return Err(bad()
            .detail(format!("Invalid size unit: \"{unit}\"."))
            .hint("Valid units are \"bytes\", \"B\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\"."));
    };
    number.mul(&Numeric::from_i64(1 << (10 * power))).to_int("bigint")
}

fn count(cx: &Call, args: &[Datum], nulls: bool) -> Datum {
    let number =
        |values: &[Datum]| Datum::Int4(values.iter().filter(|v| v.is_null() == nulls).count() as i32);
    match args.first() {
        Some(Datum::Null) if cx.variadic_array => Datum::Null,
        Some(array) if cx.variadic_array => {
            number(Array::from_payload(<&[u8]>::from_datum(array)).elements())
        }
        _ => number(args),
    }
}

fn count_nulls(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    Ok(count(cx, args, true))
}

fn count_values(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    Ok(count(cx, args, false))
}
