//! # What
//! Values of option lists (`WITH (...)`, `VACUUM (...)`, `COPY ... (...)`), read as PostgreSQL reads them.

use base::{SqlError, SqlResult, sql_err};
use parse::ast::{DefElem, Name, OptionValue};

/// The value's text as written; an error if there is none.
pub fn string(option: &DefElem) -> SqlResult<String> {
    match &option.value {
        Some(value) => text(value).ok_or_else(|| SqlError::internal("unrecognized option value")),
        None => Err(sql_err!(SYNTAX_ERROR, "{} requires a parameter", option.name)),
    }
}

/// Text of a scalar value.
pub fn text(value: &OptionValue) -> Option<String> {
    Some(match value {
        OptionValue::String(s) | OptionValue::Float(s) => s.clone(),
        OptionValue::Integer(n) => n.to_string(),
        OptionValue::Boolean(b) => b.to_string(),
        OptionValue::Type(name) => name.names.join("."),
        OptionValue::Names(names) => names.join("."),
        OptionValue::Star => "*".to_owned(),
        _ => return None,
    })
}

/// A Boolean; an option without value is on.
pub fn boolean(option: &DefElem) -> SqlResult<bool> {
    let word = match &option.value {
        None => return Ok(true),
        Some(OptionValue::Integer(0)) => return Ok(false),
        Some(OptionValue::Integer(1)) => return Ok(true),
        Some(OptionValue::Integer(_)) => None,
        Some(value) => text(value),
    };
    match word.map(|w| w.to_ascii_lowercase()).as_deref() {
        Some("true" | "on") => Ok(true),
        Some("false" | "off") => Ok(false),
        _ => Err(sql_err!(SYNTAX_ERROR, "{} requires a Boolean value", option.name)),
    }
}

/// An integer.
pub fn integer(option: &DefElem) -> SqlResult<i32> {
    match &option.value {
        Some(OptionValue::Integer(n)) => Ok(*n),
        _ => Err(sql_err!(SYNTAX_ERROR, "{} requires an integer value", option.name)),
    }
}

/// A name.
pub fn name(option: &DefElem) -> SqlResult<Name> {
    match &option.value {
        Some(OptionValue::Type(name)) => Ok(Name(name.names.clone())),
        Some(OptionValue::String(name)) => Ok(Name(vec![name.clone()])),
        Some(OptionValue::Names(names)) => Ok(Name(names.clone())),
        Some(OptionValue::List(parts)) => Ok(Name(parts.iter().filter_map(text).collect())),
        _ => Err(sql_err!(SYNTAX_ERROR, "argument of {} must be a name", option.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(value: Option<OptionValue>) -> DefElem {
        DefElem { namespace: None, name: "verbose".into(), value, location: Default::default() }
    }

    #[test]
    fn booleans_are_read_in_all_their_spellings() {
        let read = |value| boolean(&option(value));
        assert_eq!(read(None), Ok(true));
        assert_eq!(read(Some(OptionValue::Integer(0))), Ok(false));
        assert_eq!(read(Some(OptionValue::String("ON".into()))), Ok(true));
        assert_eq!(read(Some(OptionValue::Boolean(false))), Ok(false));
        let error = read(Some(OptionValue::Integer(2))).unwrap_err();
        assert_eq!(error.message(), "verbose requires a Boolean value");
    }
}
