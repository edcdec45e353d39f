//! Values of settings: reading and writing them as PostgreSQL does.

use std::fmt::Write as _;
use std::sync::Arc;

use super::definition::{Definition, Kind, Unit};
use crate::{SqlError, SqlResult, SqlState, sql_err};

/// A value that fits its setting's type and bounds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a Boolean setting.
    Bool(bool),
    /// Of an integer setting, in its unit.
    Int(i32),
    /// Of a real setting, in its unit.
    Real(f64),
    /// Of a text setting.
    Text(Arc<str>),
    /// Of an enumeration: one of its words.
    Choice(&'static str),
}

impl Value {
    /// The truth of a Boolean; false for other types.
    pub fn as_bool(&self) -> bool {
        matches!(self, Value::Bool(true))
    }

    /// The number of an integer setting; 0 for other types.
    pub fn as_int(&self) -> i32 {
        match self {
            Value::Int(value) => *value,
            _ => 0,
        }
    }

    /// The number of a real or integer setting.
    pub fn as_real(&self) -> f64 {
        match self {
            Value::Real(value) => *value,
            Value::Int(value) => f64::from(*value),
            _ => 0.0,
        }
    }

    /// The text of a text setting or the word of an enumeration.
    pub fn as_text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            Value::Choice(word) => word,
            Value::Bool(true) => "on",
            _ => "off",
        }
    }

    /// As `pg_settings.setting` has it: without unit.
    pub fn raw(&self, definition: &Definition) -> String {
        match self {
            Value::Int(value) if definition.is_octal => format!("{value:04o}"),
            Value::Int(value) => value.to_string(),
            Value::Real(value) => general(*value),
            other => other.as_text().to_string(),
        }
    }

    /// As SHOW has it: with the largest unit that fits.
    pub fn show(&self, definition: &Definition) -> String {
        match self {
            Value::Int(value) if *value > 0 && definition.unit != Unit::None => {
                let total = f64::from(*value) * definition.unit.size();
                let (word, size) = largest(definition.unit, |size| total % size == 0.0);
                format!("{}{word}", (total / size) as i64)
            }
            Value::Real(value) if *value > 0.0 && definition.unit != Unit::None => {
                let total = value * definition.unit.size();
                let whole = |size: f64| {
                    let count = total / size;
                    count > 0.5 && (count / count.round() - 1.0).abs() <= 1e-8
                };
                let (word, size) = largest(definition.unit, whole);
                format!("{}{word}", general(total / size))
            }
            other => other.raw(definition),
        }
    }
}

/// The largest word that fits, else the smallest.
fn largest(unit: Unit, fits: impl Fn(f64) -> bool) -> (&'static str, f64) {
    let words = unit.words();
    words.iter().copied().find(|(_, size)| fits(*size)).or(words.last().copied()).unwrap_or(("", 1.0))
}

/// C's `%g`: six significant digits, no trailing zeros.
fn general(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { value.to_string() };
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        } else {
            text.into()
        }
    };
    if (-4..6).contains(&exponent) {
        trim(&format!("{value:.*}", (5 - exponent) as usize))
    } else {
        let mut out = trim(digits);
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "e{sign}{:02}", exponent.abs());
        out
    }
}

/// PostgreSQL's words for Booleans: any unambiguous beginning of true, false, yes, no, on, off, and 1, 0.
pub fn parse_bool(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let begins = |word: &str, least: usize| text.len() >= least && word.starts_with(text.as_str());
    if begins("true", 1) || begins("yes", 1) || text == "on" || text == "1" {
        Some(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || text == "0" {
        Some(false)
    } else {
        None
    }
}

fn invalid(definition: &Definition, text: &str) -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "invalid value for parameter \"{}\": \"{text}\"", definition.name)
}

impl Definition {
    /// The default.
    pub fn default_value(&self) -> Value {
        match self.kind {
            Kind::Bool { default } => Value::Bool(default),
            Kind::Int { default, .. } => Value::Int(default),
            Kind::Real { default, .. } => Value::Real(default),
            Kind::Text { default } => Value::Text(default.into()),
            Kind::Choice { default, .. } => Value::Choice(default),
        }
    }

    /// Reads a value; errors are PostgreSQL's (22023).
    pub fn parse(&self, text: &str) -> SqlResult<Value> {
        match self.kind {
            Kind::Bool { .. } => parse_bool(text).map(Value::Bool).ok_or_else(|| {
                sql_err!(INVALID_PARAMETER_VALUE, "parameter \"{}\" requires a Boolean value", self.name)
            }),
            Kind::Int { min, max, .. } => {
                let value = number(self, text)?.round_ties_even();
                if value > f64::from(i32::MAX) || value < f64::from(i32::MIN) {
                    return Err(invalid(self, text).hint("Value exceeds integer range."));
                }
                let value = value as i32;
                if value < min || value > max {
                    return Err(out_of_range(self, value, min, max));
                }
                Ok(Value::Int(value))
            }
            Kind::Real { min, max, .. } => {
                let value = number(self, text)?;
                if !(min..=max).contains(&value) {
                    return Err(out_of_range(self, general(value), general(min), general(max)));
                }
                Ok(Value::Real(value))
            }
            Kind::Text { .. } => Ok(Value::Text(text.into())),
            Kind::Choice { options, aliases, bool_words, .. } => {
                let same = |word: &&&str| word.eq_ignore_ascii_case(text);
                let alias = || aliases.iter().find(|a| a.0.eq_ignore_ascii_case(text)).map(|a| a.1);
                let boolean = || match parse_bool(text).filter(|_| bool_words) {
                    Some(true) => options.iter().copied().find(|o| *o == "on"),
                    Some(false) => options.iter().copied().find(|o| *o == "off"),
                    None => None,
                };
                let found = options.iter().find(same).copied().or_else(alias).or_else(boolean);
                found.map(Value::Choice).ok_or_else(|| {
                    invalid(self, text).hint(format!("Available values: {}.", options.join(", ")))
                })
            }
        }
    }
}

fn out_of_range(
    definition: &Definition,
    value: impl std::fmt::Display,
    min: impl std::fmt::Display,
    max: impl std::fmt::Display,
) -> SqlError {
    let unit = definition.unit.as_str().map(|word| format!(" {word}")).unwrap_or_default();
    SqlError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        format!(
            "{value}{unit} is outside the valid range for parameter \"{}\" ({min}{unit} .. {max}{unit})",
            definition.name
        ),
    )
}

/// A number with an optional unit, in the setting's own unit.
fn number(definition: &Definition, text: &str) -> SqlResult<f64> {
    let (value, rest) = leading_number(text.trim_start()).ok_or_else(|| invalid(definition, text))?;
    let word = rest.trim();
    if word.is_empty() {
        return Ok(value);
    }
    let words = definition.unit.words();
    let Some(at) = words.iter().position(|(name, _)| *name == word) else {
        let error = invalid(definition, text);
        return Err(match definition.unit {
            Unit::None => error,
            Unit::Bytes | Unit::Kb | Unit::Mb | Unit::Pages => {
                error.hint("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".")
            }
            Unit::Ms | Unit::S | Unit::Min => error
                .hint("Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\"."),
        });
    };
    let mut converted = value * words[at].1 / definition.unit.size();
    // A fraction such as 30.1GB is taken to the nearest multiple of the next smaller unit.
    if let Some((_, smaller)) = words.get(at + 1) {
        let step = smaller / definition.unit.size();
        converted = (converted / step).round_ties_even() * step;
    }
    Ok(converted)
}

/// C's `strtol` with base 0, or `strtod` where a point or exponent follows.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let digits = &text[sign..];
    let negate = |value: f64| if bytes.first() == Some(&b'-') { -value } else { value };
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        let value = u64::from_str_radix(&hex[..end], 16).ok()?;
        return Some((negate(value as f64), &hex[end..]));
    }
    let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let is_real = digits[whole..].starts_with('.') || exponent_length(&digits[whole..]) > 0;
    if !is_real && whole > 1 && digits.starts_with('0') {
        let end = digits.find(|c: char| !('0'..='7').contains(&c)).unwrap_or(digits.len());
        let value = u64::from_str_radix(&digits[..end], 8).ok()?;
        return Some((negate(value as f64), &digits[end..]));
    }
    let mut end = whole;
    if digits[end..].starts_with('.') {
        end += 1;
        end += digits[end..].find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len() - end);
    }
    end += exponent_length(&digits[end..]);
    let value: f64 = digits[..end].parse().ok()?;
    Some((negate(value), &digits[end..]))
}

/// Length of `e12`, `E-3`; 0 when there is none.
fn exponent_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return 0 };
    let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let digits = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    if digits == 0 { 0 } else { text.len() - unsigned.len() + digits }
}
