//! To and from integers, floats, the binary form, and the type modifier.

use base::{SqlResult, sql_err};

use crate::value::Reader;

use super::{BASE, Kind, LIMB_DIGITS, Limbs, Numeric};

impl Numeric {
    /// Rounded to an integer; `None` when it does not fit.
    pub fn to_i128(&self) -> Option<i128> {
        if !self.is_finite() {
            return None;
        }
        let whole = self.clone().round(0);
        let mut value = 0i128;
        for weight in 0..=whole.weight.max(-1) {
            let limb = whole.limbs.get(weight as usize).map_or(0, |l| i128::from(*l));
            value = value.checked_mul(i128::from(BASE))?.checked_add(limb)?;
        }
        Some(if whole.kind == Kind::Negative { -value } else { value })
    }

    /// Rounded to an integer, with the errors of a cast to `type_name`.
    pub fn to_int<T: TryFrom<i128>>(&self, type_name: &str) -> SqlResult<T> {
        match self.kind {
            Kind::NaN => Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot convert NaN to {type_name}")),
            Kind::Infinity | Kind::MinusInfinity => {
                Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot convert infinity to {type_name}"))
            }
            _ => self
                .to_i128()
                .and_then(|value| T::try_from(value).ok())
                .ok_or_else(|| sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "{type_name} out of range")),
        }
    }

    /// The nearest double; too large becomes infinite.
    pub fn to_f64(&self) -> f64 {
        match self.kind {
            Kind::NaN => f64::NAN,
            Kind::Infinity => f64::INFINITY,
            Kind::MinusInfinity => f64::NEG_INFINITY,
            _ => {
                // Through the shortest text that has all limbs: the parser rounds once and correctly.
                let mut text = String::with_capacity(self.limbs.len() * 4 + 8);
                if self.kind == Kind::Negative {
                    text.push('-');
                }
                text.push('0');
                for limb in &self.limbs {
                    text.push_str(&format!("{limb:04}"));
                }
                let exponent = (self.weight + 1 - self.limbs.len() as i32) * LIMB_DIGITS;
                text.push_str(&format!("e{exponent}"));
                text.parse().unwrap_or(f64::NAN)
            }
        }
    }

    /// From a double, with its 15 significant digits (6 for `real`), as PostgreSQL's cast gives them.
    pub fn from_float(value: f64, digits: usize) -> SqlResult<Numeric> {
        if value.is_nan() {
            return Ok(Numeric::nan());
        }
        if value.is_infinite() {
            return Ok(Numeric::infinity(value < 0.0));
        }
        Numeric::parse(&significant(value, digits))
    }
}

/// `%.*g`: the shortest of fixed and exponent notation with so many significant digits.
fn significant(value: f64, digits: usize) -> String {
    let text = format!("{value:.*e}", digits - 1);
    match text.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => {
            format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// The modifier of `numeric(precision, scale)`.
pub fn numeric_typmod(modifiers: &[&str]) -> SqlResult<i32> {
    let bad = || sql_err!(INVALID_PARAMETER_VALUE, "invalid NUMERIC type modifier");
    let number = |text: &str| {
        text.trim().parse::<i32>().map_err(|_| {
            sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type integer: \"{text}\"")
        })
    };
    let (precision, scale) = match modifiers {
        [p] => (number(p)?, 0),
        [p, s] => (number(p)?, number(s)?),
        _ => return Err(bad()),
    };
    if !(1..=1000).contains(&precision) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "NUMERIC precision {precision} must be between 1 and 1000"
        ));
    }
    if !(-1000..=1000).contains(&scale) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "NUMERIC scale {scale} must be between -1000 and 1000"
        ));
    }
    Ok(((precision << 16) | (scale & 0x7FF)) + 4)
}

/// Precision and scale of a modifier.
pub(super) fn split_typmod(typmod: i32) -> Option<(i32, i32)> {
    if typmod < 4 {
        return None;
    }
    let bits = typmod - 4;
    Some(((bits >> 16) & 0xFFFF, ((bits & 0x7FF) ^ 1024) - 1024))
}

/// `(10,2)`
pub fn format_typmod(typmod: i32) -> String {
    split_typmod(typmod).map_or(String::new(), |(precision, scale)| format!("({precision},{scale})"))
}

impl Numeric {
    /// Rounded to a modifier's scale; an error when the digits before the point are too many.
    pub fn apply_typmod(self, typmod: i32) -> SqlResult<Numeric> {
        let Some((precision, scale)) = split_typmod(typmod) else { return Ok(self) };
        if self.is_nan() {
            return Ok(self);
        }
        if !self.is_finite() {
            return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow").detail(format!(
                "A field with precision {precision}, scale {scale} cannot hold an infinite value."
            )));
        }
        let rounded = self.round(scale);
        let mut digits = 0;
        if let Some(first) = rounded.limbs.first() {
            digits = rounded.weight * LIMB_DIGITS + first.ilog10() as i32 + 1;
        }
        let most = precision - scale;
        if !rounded.limbs.is_empty() && digits > most {
            let power = if most > 0 {
                format!("10^{most}")
            } else if most == 0 {
                "1".into()
            } else {
                format!("10^{most}")
            };
            return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow").detail(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute value less than {power}."
            )));
        }
        Ok(rounded)
    }
}

/// PostgreSQL's binary form: limb count, weight, sign, display scale, limbs, all 16 bits big-endian.
pub fn binary_send(n: &Numeric, out: &mut Vec<u8>) {
    let (sign, scale): (u16, i32) = match n.kind {
        Kind::Positive => (0, n.scale),
        Kind::Negative => (0x4000, n.scale),
        Kind::NaN => (0xC000, 0),
        Kind::Infinity => (0xD000, 0),
        Kind::MinusInfinity => (0xF000, 0),
    };
    out.extend_from_slice(&(n.limbs.len() as u16).to_be_bytes());
    out.extend_from_slice(&(n.weight as i16).to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&(scale as u16).to_be_bytes());
    for limb in &n.limbs {
        out.extend_from_slice(&limb.to_be_bytes());
    }
}

/// Reads PostgreSQL's binary form.
pub fn binary_receive(bytes: &[u8]) -> SqlResult<Numeric> {
    let bad =
        |what: &str| sql_err!(INVALID_BINARY_REPRESENTATION, "invalid {what} in external \"numeric\" value");
    let mut reader = Reader::new(bytes);
    let count = reader.i16()? as u16;
    let weight = i32::from(reader.i16()?);
    let kind = match reader.i16()? as u16 {
        0 => Kind::Positive,
        0x4000 => Kind::Negative,
        0xC000 => Kind::NaN,
        0xD000 => Kind::Infinity,
        0xF000 => Kind::MinusInfinity,
        _ => return Err(bad("sign")),
    };
    let scale = i32::from(reader.i16()? as u16);
    if scale & !0x3FFF != 0 {
        return Err(bad("scale"));
    }
    let mut limbs = Limbs::new();
    for _ in 0..count {
        let limb = reader.i16()?;
        if !(0..BASE as i16).contains(&limb) {
            return Err(bad("digit"));
        }
        limbs.push(limb as u16);
    }
    reader.end()?;
    if !matches!(kind, Kind::Positive | Kind::Negative) {
        return Ok(Numeric { kind, ..Numeric::zero() });
    }
    // Digits behind the display scale are cut, as they could never be seen.
    Numeric { kind, weight, scale, limbs }.normalize().truncate(scale).checked()
}
