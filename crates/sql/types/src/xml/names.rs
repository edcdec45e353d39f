//! Names of SQL as names of XML, and back: what XML does not allow is written `_xHHHH_`.

use ::xml::{is_name_char, is_name_start};

/// A name of SQL as one of XML; `full`: colons and a leading `xml`, too, are written so.
pub fn xml_name(name: &str, full: bool, periods: bool) -> String {
    let mut out = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        let first = at == 0;
        let starts_xml = first && name.get(..3).is_some_and(|n| n.eq_ignore_ascii_case("xml"));
        let escape = match c {
            ':' => first || full,
            '_' => name[at + 1..].starts_with('x'),
            '.' if periods => true,
            _ if full && starts_xml => true,
            c if first => !is_name_start(c),
            c => !is_name_char(c),
        };
        match escape {
            true => out.push_str(&format!("_x{:04X}_", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}

/// A name of XML as one of SQL.
pub fn sql_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let code = rest.strip_prefix("_x").and_then(|r| r.get(..4));
        let closed = rest.get(6..7) == Some("_");
        let code =
            code.filter(|_| closed).and_then(|h| u32::from_str_radix(h, 16).ok()).and_then(char::from_u32);
        match code {
            Some(code) => {
                out.push(code);
                rest = &rest[7..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}
