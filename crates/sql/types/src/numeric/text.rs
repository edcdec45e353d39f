//! Text form of numbers.

use std::fmt;

use base::{SqlError, SqlResult, sql_err};

use crate::piece::Pace;

use super::{BASE, Kind, LIMB_DIGITS, Limbs, MAX_SCALE, MAX_WEIGHT, Numeric, overflow};

fn syntax(text: &str) -> SqlError {
    sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type numeric: \"{text}\"")
}

impl Numeric {
    /// Reads PostgreSQL's forms: `12.5e-3`, `1_000`, `0xFF`, `NaN`, `-Infinity`, blanks around.
    pub fn parse(text: &str) -> SqlResult<Numeric> {
        let body = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
        let (negative, unsigned) = match body.as_bytes().first() {
            Some(b'-') => (true, &body[1..]),
            Some(b'+') => (false, &body[1..]),
            _ => (false, body),
        };
        match unsigned.to_ascii_lowercase().as_str() {
            "nan" if unsigned.len() == body.len() => Ok(Numeric::nan()),
            "infinity" | "inf" => Ok(Numeric::infinity(negative)),
            lower => {
                let radix = match lower.get(..2) {
                    Some("0x") => Some(16),
                    Some("0o") => Some(8),
                    Some("0b") => Some(2),
                    _ => None,
                };
                let value = match radix {
                    Some(radix) => parse_radix(&lower[2..], radix).ok_or_else(|| syntax(text))?,
                    None => parse_decimal(lower.as_bytes(), text)?,
                };
                let value = if negative { value.negate() } else { value };
                value.checked()
            }
        }
    }
}

/// Digits in another radix; an underscore may stand before each digit.
fn parse_radix(digits: &str, radix: u32) -> Option<Numeric> {
    let mut value = Numeric::zero();
    let mut any = false;
    let mut underscore = false;
    // Some digits at a time: a step goes through the whole number.
    let (mut some, mut unit) = (0, 1);
    let mut pace = Pace::new();
    let take =
        |value: &Numeric, some, unit| value.mul_exact(&Numeric::from_i64(unit)).add(&Numeric::from_i64(some));
    for c in digits.chars() {
        if c == '_' {
            if underscore {
                return None;
            }
            underscore = true;
            continue;
        }
        underscore = false;
        any = true;
        (some, unit) = (some * i64::from(radix) + i64::from(c.to_digit(radix)?), unit * i64::from(radix));
        // What is too large already does not get smaller.
        if unit > i64::MAX / 32 && value.weight <= MAX_WEIGHT {
            value = take(&value, some, unit);
            (some, unit) = (0, 1);
            pace.pass(8 * value.limbs.len());
        } else if unit > i64::MAX / 32 {
            (some, unit) = (0, 1);
        }
    }
    (any && !underscore).then(|| take(&value, some, unit))
}

/// `digits[.digits][e[+-]digits]`
fn parse_decimal(text: &[u8], original: &str) -> SqlResult<Numeric> {
    let mut digits: Vec<u8> = Vec::with_capacity(text.len());
    let mut point: Option<usize> = None;
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            d @ b'0'..=b'9' => digits.push(d - b'0'),
            b'.' if point.is_none() => point = Some(digits.len()),
            // Between two digits only.
            b'_' if i > 0
                && text[i - 1].is_ascii_digit()
                && text.get(i + 1).is_some_and(u8::is_ascii_digit) => {}
            _ => break,
        }
        i += 1;
    }
    if digits.is_empty() {
        return Err(syntax(original));
    }
    let mut exponent = 0i64;
    if text.get(i) == Some(&b'e') {
        let rest = std::str::from_utf8(&text[i + 1..]).unwrap_or_default();
        exponent = parse_exponent(rest).ok_or_else(|| syntax(original))?;
        if exponent.abs() >= i64::from(i32::MAX / 2) {
            return Err(overflow());
        }
    } else if i < text.len() {
        return Err(syntax(original));
    }
    let before = point.unwrap_or(digits.len()) as i64 + exponent;
    let scale = (digits.len() as i64 - before).max(0);
    from_decimal_digits(&digits, before, scale)
}

fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    let mut value = 0i64;
    for c in digits.bytes().filter(|c| *c != b'_') {
        if !c.is_ascii_digit() {
            return None;
        }
        value = value.saturating_mul(10).saturating_add(i64::from(c - b'0')).min(i64::from(i32::MAX));
    }
    Some(if negative { -value } else { value })
}

/// A positive number from decimal digits with `before` of them in front of the point.
fn from_decimal_digits(digits: &[u8], before: i64, scale: i64) -> SqlResult<Numeric> {
    let leading = digits.iter().take_while(|d| **d == 0).count();
    let (digits, before) = (&digits[leading..], before - leading as i64);
    if scale > i64::from(MAX_SCALE) || (!digits.is_empty() && before > 131_072) {
        return Err(overflow());
    }
    // First limb takes as many digits as its alignment with the point leaves.
    let weight = (before + 3).div_euclid(4) - 1;
    let mut fill = (weight + 1) * 4 - before;
    let mut limbs = Limbs::new();
    let mut limb = 0u16;
    for digit in digits {
        limb = limb * 10 + u16::from(*digit);
        fill += 1;
        if fill == 4 {
            limbs.push(limb);
            (limb, fill) = (0, 0);
        }
    }
    if fill > 0 && !digits.is_empty() {
        limbs.push(limb * 10u16.pow((4 - fill) as u32));
    }
    Ok(Numeric { kind: Kind::Positive, weight: weight as i32, scale: scale as i32, limbs }.normalize())
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::NaN => return f.write_str("NaN"),
            Kind::Infinity => return f.write_str("Infinity"),
            Kind::MinusInfinity => return f.write_str("-Infinity"),
            Kind::Negative => f.write_str("-")?,
            Kind::Positive => {}
        }
        let limb = |weight: i32| -> u32 {
            let i = self.weight - weight;
            if i < 0 { 0 } else { self.limbs.get(i as usize).map_or(0, |l| u32::from(*l)) }
        };
        if self.weight < 0 || self.limbs.is_empty() {
            f.write_str("0")?;
        } else {
            write!(f, "{}", limb(self.weight))?;
            for weight in (0..self.weight).rev() {
                write!(f, "{:04}", limb(weight))?;
            }
        }
        if self.scale > 0 {
            f.write_str(".")?;
            let mut left = self.scale;
            let mut weight = -1;
            while left > 0 {
                let shown = left.min(LIMB_DIGITS);
                let value = limb(weight) / 10u32.pow((LIMB_DIGITS - shown) as u32);
                write!(f, "{value:0width$}", width = shown as usize)?;
                left -= shown;
                weight -= 1;
            }
        }
        Ok(())
    }
}

impl Numeric {
    /// From an integer.
    pub fn from_i64(value: i64) -> Numeric {
        Numeric::from_i128(i128::from(value))
    }

    /// From an integer.
    pub fn from_i128(value: i128) -> Numeric {
        let mut rest = value.unsigned_abs();
        let mut limbs = Limbs::new();
        while rest > 0 {
            limbs.push((rest % u128::from(BASE)) as u16);
            rest /= u128::from(BASE);
        }
        limbs.reverse();
        let weight = limbs.len() as i32 - 1;
        let kind = if value < 0 { Kind::Negative } else { Kind::Positive };
        Numeric { kind, weight, scale: 0, limbs }.normalize()
    }
}
