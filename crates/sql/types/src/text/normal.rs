//! # What
//! Unicode normalization: `normalize`, `IS NORMALIZED`, which code points are assigned.
//!
//! # PostgreSQL counterpart
//! `unicode_norm.c`, `unicode_category.c`. The tables are those of a newer Unicode, which says the same of what was assigned before.

use base::{SqlError, SqlResult, sql_err};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::piece::{self, Pace};

functions! {
    4549 unicode_version() -> text [immutable strict] { || version() }
    6105 unicode_assigned(text) -> bool [immutable strict] { |a: &str| all_assigned(a) }
    4350 normalize(text, text) -> text [immutable strict defaults(&["NFC"])] { |a: &str, form: &str| normalize(a, form) }
    4351 is_normalized(text, text) -> bool [immutable strict defaults(&["NFC"])] { |a: &str, form: &str| is_normalized(a, form) }
}

/// A normalization form.
#[derive(Clone, Copy)]
enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

fn form(name: &str) -> SqlResult<Form> {
    if super::texts_are_bytes() {
        return Err(sql_err!(
            SYNTAX_ERROR,
            "Unicode normalization can only be performed if server encoding is UTF8"
        ));
    }
    match name.to_ascii_uppercase().as_str() {
        "NFC" => Ok(Form::Nfc),
        "NFD" => Ok(Form::Nfd),
        "NFKC" => Ok(Form::Nfkc),
        "NFKD" => Ok(Form::Nfkd),
        _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid normalization form: {name}")),
    }
}

fn version() -> String {
    let (major, minor, _) = unicode_normalization::UNICODE_VERSION;
    format!("{major}.{minor}")
}

/// Calls `f` on every character of the text in a form, until it gives false.
fn each(text: &str, form: Form, f: &mut dyn FnMut(char) -> bool) -> SqlResult<()> {
    let mut pace = Pace::new();
    let mut walk = |chars: &mut dyn Iterator<Item = char>| {
        for c in chars {
            pace.did(1)?;
            if !f(c) {
                break;
            }
        }
        Ok::<_, SqlError>(())
    };
    match form {
        Form::Nfc => walk(&mut text.nfc()),
        Form::Nfd => walk(&mut text.nfd()),
        Form::Nfkc => walk(&mut text.nfkc()),
        Form::Nfkd => walk(&mut text.nfkd()),
    }
}

fn normalize(text: &str, name: &str) -> SqlResult<String> {
    let form = form(name)?;
    let mut out = String::with_capacity(text.len());
    each(text, form, &mut |c| {
        out.push(c);
        true
    })?;
    Ok(out)
}

fn is_normalized(text: &str, name: &str) -> SqlResult<bool> {
    let form = form(name)?;
    let mut rest = text.chars();
    let mut same = true;
    each(text, form, &mut |c| {
        same = rest.next() == Some(c);
        same
    })?;
    Ok(same && rest.next().is_none())
}

fn all_assigned(text: &str) -> SqlResult<bool> {
    if super::texts_are_bytes() {
        return Err(SqlError::internal(
            "Unicode categorization can only be performed if server encoding is UTF8",
        ));
    }
    for piece in piece::texts(text) {
        if piece?.chars().any(|c| c.general_category() == GeneralCategory::Unassigned) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_apart() {
        let forms = ["nfc", "NFD", "NFKC", "NFKD"];
        let written = |text: &str| forms.map(|form| normalize(text, form).unwrap());
        assert_eq!(
            written("a\u{308}\u{24d1}c"),
            ["\u{e4}\u{24d1}c", "a\u{308}\u{24d1}c", "\u{e4}bc", "a\u{308}bc"]
        );
        for form in forms {
            let normal = normalize("\u{e4}\u{24d1}\u{301}\u{327}", form).unwrap();
            assert!(is_normalized(&normal, form).unwrap());
            assert!(is_normalized("", form).unwrap());
        }
        assert!(!is_normalized("a\u{308}", "NFC").unwrap());
        assert!(!is_normalized("\u{e4}", "NFD").unwrap());
        assert_eq!(normalize("a", "def").unwrap_err().message(), "invalid normalization form: def");
        assert!(all_assigned("abc\u{e000}").unwrap());
        assert!(!all_assigned("abc\u{10ffff}").unwrap());
    }
}
