//! Names as SQL text.

use base::{SqlResult, sql_err};
use types::SessionFn;
use types::registry::{self, Imp};
pub use types::text::quote_identifier;
use types::value::FromDatum;

/// A name with its schema.
pub fn qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", quote_identifier(schema), quote_identifier(name))
}

/// A name, with its schema where it is not found without.
pub(super) fn name_in_schema(schema: &str, name: &str, visible: bool) -> String {
    if visible { quote_identifier(name) } else { qualified(schema, name) }
}

/// The parts of a possibly qualified name: unquoted ones are folded to lower case.
pub(super) fn split_name(text: &str) -> SqlResult<Vec<String>> {
    let bad = || sql_err!(INVALID_NAME, "invalid name syntax");
    let mut parts = Vec::new();
    let mut rest = text.trim_ascii();
    loop {
        let (part, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_part(quoted).ok_or_else(bad)?,
            None => {
                let end = rest.find(|c: char| c == '.' || c.is_ascii_whitespace()).unwrap_or(rest.len());
                (rest[..end].to_ascii_lowercase(), &rest[end..])
            }
        };
        if part.is_empty() {
            return Err(bad());
        }
        parts.push(part);
        match behind.trim_ascii_start() {
            "" => return Ok(parts),
            more => rest = more.strip_prefix('.').ok_or_else(bad)?.trim_ascii_start(),
        }
    }
}

/// The rest of a quoted identifier and what follows it.
fn quoted_part(text: &str) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut rest = text;
    loop {
        let at = rest.find('"')?;
        part.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                part.push('"');
                rest = more;
            }
            None => return Some((part, rest)),
        }
    }
}

/// Elements of a `text[]`, NULLs left out.
pub(super) fn texts(array: &tuple::Datum) -> Vec<String> {
    let tuple::Datum::Bytes(payload) = array else { return Vec::new() };
    let elements = types::array::Array::from_payload(payload).into_elements();
    elements.iter().filter_map(|e| <Option<&str>>::from_datum(e).map(str::to_owned)).collect()
}

/// SQL's name of a function that the session carries out.
pub(super) fn function_name(id: SessionFn) -> &'static str {
    registry::functions()
        .iter()
        .find(|f| matches!(f.imp, Imp::Session(known) if known == id))
        .map_or("?", |f| f.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_quoted_where_they_must_be() {
        assert_eq!(quote_identifier("a_1"), "a_1");
        for (name, quoted) in
            [("A", "\"A\""), ("1a", "\"1a\""), ("a\"b", "\"a\"\"b\""), ("select", "\"select\""), ("", "\"\"")]
        {
            assert_eq!(quote_identifier(name), quoted);
        }
        assert_eq!(qualified("public", "T"), "public.\"T\"");
    }

    #[test]
    fn names_are_split_and_folded() {
        assert_eq!(split_name(" Public . \"My\"\"T\" ").unwrap(), ["public", "My\"T"]);
        assert_eq!(split_name("a.b.c").unwrap().len(), 3);
        for bad in ["", "a.", ".a", "\"a", "a b", "\"\""] {
            assert_eq!(split_name(bad).unwrap_err().message(), "invalid name syntax", "{bad:?}");
        }
    }
}
