//! `money`: an amount in hundredths, written as the locale C has it (`$1,234.56`).

use base::{SqlError, SqlResult, sql_err};

use crate::registry::types::prelude::*;
use crate::{
    int::{division_by_zero, int8_range},
    numeric::Numeric,
};

/// Digits behind the point.
const FRACTION: u32 = 2;

/// Units of an amount of 1.
const SCALE: i64 = 10i64.pow(FRACTION);

#[cold]
fn out_of_range() -> SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "money out of range")
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Reads an amount: a sign or a parenthesis and a currency sign may stand around the digits.
pub(crate) fn parse(text: &str) -> SqlResult<i64> {
    let syntax = || sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type money: \"{text}\"");
    let range = || sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value \"{text}\" is out of range for type money");
    let mut rest = text.as_bytes();
    let blanks = |rest: &mut &[u8]| *rest = rest.trim_ascii_start();
    let skip = |rest: &mut &[u8], byte: u8| match rest.strip_prefix(&[byte]) {
        Some(tail) => {
            *rest = tail;
            true
        }
        None => false,
    };
    blanks(&mut rest);
    skip(&mut rest, b'$');
    let mut negative = skip(&mut rest, b'-') || skip(&mut rest, b'(');
    if !negative {
        skip(&mut rest, b'+');
    }
    blanks(&mut rest);
    skip(&mut rest, b'$');
    blanks(&mut rest);
    // Collected below zero, where the range is wider by one.
    let (mut value, mut decimals, mut point) = (0i64, 0, false);
    while let Some((byte, tail)) = rest.split_first() {
        match byte {
            b'0'..=b'9' if !point || decimals < FRACTION => {
                let digit = i64::from(byte - b'0');
                value = value.checked_mul(10).and_then(|v| v.checked_sub(digit)).ok_or_else(range)?;
                decimals += u32::from(point);
            }
            b'.' if !point => point = true,
            b',' => {}
            _ => break,
        }
        rest = tail;
    }
    if rest.first().is_some_and(|b| (b'5'..=b'9').contains(b)) {
        value = value.checked_sub(1).ok_or_else(range)?;
    }
    value = value.checked_mul(10i64.pow(FRACTION - decimals)).ok_or_else(range)?;
    while rest.first().is_some_and(u8::is_ascii_digit) {
        rest = &rest[1..];
    }
    for byte in rest {
        match byte {
            b'-' => negative = true,
            b')' | b'+' | b'$' => {}
            blank if is_blank(*blank) => {}
            _ => return Err(syntax()),
        }
    }
    if negative { Ok(value) } else { value.checked_neg().ok_or_else(range) }
}

/// An amount's text form.
pub(crate) fn text(value: i64) -> String {
    let units = value.unsigned_abs();
    let (whole, cents) = ((units / SCALE as u64).to_string(), units % SCALE as u64);
    let mut grouped = String::with_capacity(whole.len() + whole.len() / 3);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}${grouped}.{cents:02}")
}

/// Sum of two amounts.
pub(crate) fn add(a: i64, b: i64) -> SqlResult<i64> {
    a.checked_add(b).ok_or_else(out_of_range)
}

fn sub(a: i64, b: i64) -> SqlResult<i64> {
    a.checked_sub(b).ok_or_else(out_of_range)
}

fn mul(a: i64, b: i64) -> SqlResult<i64> {
    a.checked_mul(b).ok_or_else(out_of_range)
}

fn div(a: i64, b: i64) -> SqlResult<i64> {
    if b == 0 {
        return Err(division_by_zero());
    }
    a.checked_div(b).ok_or_else(out_of_range)
}

/// The nearest amount, half to even.
fn rounded(value: f64) -> SqlResult<i64> {
    let value = value.round_ties_even();
    if (-9223372036854775808.0..9223372036854775808.0).contains(&value) {
        Ok(value as i64)
    } else {
        Err(out_of_range())
    }
}

fn mul_float(a: i64, b: f64) -> SqlResult<i64> {
    rounded(a as f64 * b)
}

fn div_float(a: i64, b: f64) -> SqlResult<i64> {
    if b == 0.0 { Err(division_by_zero()) } else { rounded(a as f64 / b) }
}

fn ratio(a: i64, b: i64) -> SqlResult<f64> {
    if b == 0 { Err(division_by_zero()) } else { Ok(a as f64 / b as f64) }
}

fn to_numeric(value: i64) -> SqlResult<Numeric> {
    Ok(Numeric::from_i64(value).mul(&Numeric::parse("0.01")?))
}

fn from_numeric(value: &Numeric) -> SqlResult<i64> {
    value.mul(&Numeric::from_i64(SCALE)).to_int("bigint")
}

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const GROUPS: [(u64, &str); 5] = [
    (1_000_000_000_000_000, "quadrillion"),
    (1_000_000_000_000, "trillion"),
    (1_000_000_000, "billion"),
    (1_000_000, "million"),
    (1_000, "thousand"),
];

/// A number below 1000 in words; "and" follows the hundreds unless the rest is a multiple of ten.
fn group_words(n: u64) -> String {
    let (hundreds, rest) = (n / 100, n % 100);
    let below = |n: u64| match (n / 10, n % 10) {
        (0 | 1, _) => SMALL[n as usize].to_string(),
        (tens, 0) => TENS[tens as usize].to_string(),
        (tens, ones) => format!("{} {}", TENS[tens as usize], SMALL[ones as usize]),
    };
    if hundreds == 0 {
        return below(rest);
    }
    let head = format!("{} hundred", SMALL[hundreds as usize]);
    if rest == 0 {
        head
    } else if rest % 10 == 0 && rest > 10 {
        format!("{head} {}", below(rest))
    } else if rest < 20 {
        format!("{head} and {}", below(rest))
    } else {
        format!("{head} {}", below(rest))
    }
}

/// An amount in English words.
fn words(value: i64) -> String {
    let units = value.unsigned_abs();
    let (mut whole, cents) = (units / SCALE as u64, units % SCALE as u64);
    let dollars = if whole == 1 { "dollar" } else { "dollars" };
    let mut parts = Vec::new();
    if value < 0 {
        parts.push("minus".to_string());
    }
    let none = whole == 0;
    for (size, name) in GROUPS {
        if whole >= size {
            parts.push(format!("{} {name}", group_words(whole / size)));
            whole %= size;
        }
    }
    if whole > 0 || none {
        parts.push(group_words(whole));
    }
    parts.push(format!("{dollars} and {} cent{}", group_words(cents), if cents == 1 { "" } else { "s" }));
    let mut text = parts.join(" ");
    text[..1].make_ascii_uppercase();
    text
}

/// An amount of money.
pub(crate) static MONEY: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_money,
        io: [Oid(886), Oid(887), Oid(2492), Oid(2493)],
        ..TypeInfo::new(oids::money, "money", b'N', Physical::Int8)
    }),
    input: |_, text, _, _| Ok(Datum::Int8(parse(text)?)),
    output: |_, value, _, out| show(text(i64::from_datum(value)), out),
    receive: crate::int::receive8,
    hash: None,
    seeded_hash: None,
    ..crate::compare::INTEGERS
};

functions! {
    886 cash_in(cstring) -> money [stable strict] { input money }
    887 cash_out(money) -> cstring [stable strict] { output money }
    2492 cash_recv(internal) -> money [immutable strict] { receive money }
    2493 cash_send(money) -> bytea [immutable strict] { send money }
    377 cash_cmp(money, money) -> int4 [immutable strict leakproof] { |a: i64, b: i64| a.cmp(&b) as i32 }
    846 cash_mul_flt4(money, float4) -> money [immutable strict] { |a: i64, b: f32| mul_float(a, b.into()) }
    847 cash_div_flt4(money, float4) -> money [immutable strict] { |a: i64, b: f32| div_float(a, b.into()) }
    848 flt4_mul_cash(float4, money) -> money [immutable strict] { |a: f32, b: i64| mul_float(b, a.into()) }
    862 int4_mul_cash(int4, money) -> money [immutable strict] { |a: i32, b: i64| mul(b, a.into()) }
    863 int2_mul_cash(int2, money) -> money [immutable strict] { |a: i16, b: i64| mul(b, a.into()) }
    864 cash_mul_int4(money, int4) -> money [immutable strict] { |a: i64, b: i32| mul(a, b.into()) }
    865 cash_div_int4(money, int4) -> money [immutable strict] { |a: i64, b: i32| div(a, b.into()) }
    866 cash_mul_int2(money, int2) -> money [immutable strict] { |a: i64, b: i16| mul(a, b.into()) }
    867 cash_div_int2(money, int2) -> money [immutable strict] { |a: i64, b: i16| div(a, b.into()) }
    888 cash_eq(money, money) -> bool [immutable strict leakproof] { |a: i64, b: i64| a == b }
    889 cash_ne(money, money) -> bool [immutable strict leakproof] { |a: i64, b: i64| a != b }
    890 cash_lt(money, money) -> bool [immutable strict leakproof] { |a: i64, b: i64| a < b }
    891 cash_le(money, money) -> bool [immutable strict leakproof] { |a: i64, b: i64| a <= b }
    892 cash_gt(money, money) -> bool [immutable strict leakproof] { |a: i64, b: i64| a > b }
    893 cash_ge(money, money) -> bool [immutable strict leakproof] { |a: i64, b: i64| a >= b }
    894 cash_pl(money, money) -> money [immutable strict] { |a: i64, b: i64| add(a, b) }
    895 cash_mi(money, money) -> money [immutable strict] { |a: i64, b: i64| sub(a, b) }
    896 cash_mul_flt8(money, float8) -> money [immutable strict] { |a: i64, b: f64| mul_float(a, b) }
    897 cash_div_flt8(money, float8) -> money [immutable strict] { |a: i64, b: f64| div_float(a, b) }
    898 cashlarger(money, money) -> money [immutable strict] { |a: i64, b: i64| a.max(b) }
    899 cashsmaller(money, money) -> money [immutable strict] { |a: i64, b: i64| a.min(b) }
    919 flt8_mul_cash(float8, money) -> money [immutable strict] { |a: f64, b: i64| mul_float(b, a) }
    935 cash_words(money) -> text [immutable strict] { |a: i64| words(a) }
    3344 cash_mul_int8(money, int8) -> money [immutable strict] { |a: i64, b: i64| mul(a, b) }
    3345 cash_div_int8(money, int8) -> money [immutable strict] { |a: i64, b: i64| div(a, b) }
    3399 int8_mul_cash(int8, money) -> money [immutable strict] { |a: i64, b: i64| mul(b, a) }
    3811 money(int4) -> money [stable strict] { |a: i32| i64::from(a) * SCALE }
    3812 money(int8) -> money [stable strict] { |a: i64| a.checked_mul(SCALE).ok_or_else(int8_range) }
    3822 cash_div_cash(money, money) -> float8 [immutable strict] { |a: i64, b: i64| ratio(a, b) }
    3823 numeric(money) -> numeric [stable strict] { |a: i64| to_numeric(a) }
    3824 money(numeric) -> money [stable strict] { |a: Numeric| from_numeric(&a) }
}
