//! `to_char`, `to_date`, `to_timestamp`, `to_number`: texts by template.

mod moment;
mod number;
mod pattern;
mod read;

pub(crate) use moment::FUNCTIONS as MOMENT_FUNCTIONS;
pub(crate) use number::FUNCTIONS as NUMBER_FUNCTIONS;
pub(crate) use read::FUNCTIONS as READ_FUNCTIONS;
pub(crate) use read::{Parsed, read_moment};

/// A piece of a date template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// A field, in the spelling of the table; whether FM stands before, and TH or th behind.
    Field { name: &'static str, fill: bool, ordinal: Option<bool> },
    /// Text as it is.
    Literal(String),
}

/// Fields, longest spellings first among those that begin alike.
const FIELDS: [&str; 70] = [
    "A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "CC", "DAY", "DDD", "DD", "DY", "Day", "Dy", "D", "FF1", "FF2",
    "FF3", "FF4", "FF5", "FF6", "HH24", "HH12", "HH", "IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I", "J",
    "MI", "MM", "MONTH", "MON", "MS", "Month", "Mon", "OF", "P.M.", "PM", "Q", "RM", "SSSSS", "SSSS", "SS",
    "TZH", "TZM", "TZ", "US", "WW", "W", "Y,YYY", "YYYY", "YYY", "YY", "Y", "a.d.", "a.m.", "ad", "am",
    "b.c.", "bc", "day", "dy", "month", "mon", "p.m.", "pm", "tz",
];

/// Spellings that mean the same field in lower case.
const FOLDED: [(&str, &str); 37] = [
    ("rm", "rm"),
    ("cc", "CC"),
    ("ddd", "DDD"),
    ("dd", "DD"),
    ("d", "D"),
    ("ff1", "FF1"),
    ("ff2", "FF2"),
    ("ff3", "FF3"),
    ("ff4", "FF4"),
    ("ff5", "FF5"),
    ("ff6", "FF6"),
    ("hh24", "HH24"),
    ("hh12", "HH12"),
    ("hh", "HH"),
    ("iddd", "IDDD"),
    ("id", "ID"),
    ("iw", "IW"),
    ("iyyy", "IYYY"),
    ("iyy", "IYY"),
    ("iy", "IY"),
    ("i", "I"),
    ("j", "J"),
    ("mi", "MI"),
    ("mm", "MM"),
    ("ms", "MS"),
    ("of", "OF"),
    ("q", "Q"),
    ("sssss", "SSSSS"),
    ("ssss", "SSSS"),
    ("ss", "SS"),
    ("us", "US"),
    ("ww", "WW"),
    ("w", "W"),
    ("y,yyy", "Y,YYY"),
    ("yyyy", "YYYY"),
    ("yyy", "YYY"),
    ("yy", "YY"),
];

fn field_at(text: &str) -> Option<(&'static str, usize)> {
    let exact = FIELDS.iter().find(|f| text.starts_with(**f)).map(|f| (*f, f.len()));
    let folded = FOLDED
        .iter()
        .find(|(spelling, _)| text.starts_with(spelling))
        .map(|(spelling, f)| (*f, spelling.len()));
    let single = text.starts_with('y').then_some(("Y", 1));
    // The longest spelling wins: `month` is no `mon`, `mm` no `m`.
    [exact, folded, single].into_iter().flatten().max_by_key(|(_, length)| *length)
}

/// Takes a template apart.
fn parse(template: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = template;
    let mut fill = false;
    let literal = |out: &mut Vec<Piece>, text: &str| match out.last_mut() {
        Some(Piece::Literal(last)) => last.push_str(text),
        _ => out.push(Piece::Literal(text.to_owned())),
    };
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix('"') {
            let end = after.find('"').unwrap_or(after.len());
            literal(&mut out, &after[..end].replace('\\', ""));
            rest = after.get(end + 1..).unwrap_or("");
            continue;
        }
        if let Some(after) = rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm")) {
            (fill, rest) = (true, after);
            continue;
        }
        if let Some(after) = ["FX", "fx"].iter().find_map(|modifier| rest.strip_prefix(modifier)) {
            rest = after;
            continue;
        }
        if let Some(after) = ["TM", "tm"].iter().find_map(|modifier| rest.strip_prefix(modifier)) {
            // Translated names are not padded.
            let name = field_at(after).map(|(name, _)| name.to_ascii_lowercase());
            fill |= matches!(name.as_deref(), Some("month" | "mon" | "day" | "dy"));
            rest = after;
            continue;
        }
        if let Some((name, length)) = field_at(rest) {
            rest = &rest[length..];
            let ordinal = if rest.starts_with("TH") {
                Some(true)
            } else if rest.starts_with("th") {
                Some(false)
            } else {
                None
            };
            if ordinal.is_some() {
                rest = &rest[2..];
            }
            out.push(Piece::Field { name, fill, ordinal });
            fill = false;
            continue;
        }
        if c == '\\' && rest[1..].starts_with('"') {
            literal(&mut out, "\"");
            rest = &rest[2..];
            continue;
        }
        literal(&mut out, &rest[..c.len_utf8()]);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// `st`, `nd`, `rd`, `th`
fn ordinal_suffix(number: &str, upper: bool) -> &'static str {
    let digits: Vec<u8> = number.bytes().filter(u8::is_ascii_digit).collect();
    let teen = digits.len() > 1 && digits[digits.len() - 2] == b'1';
    match (digits.last(), upper) {
        (Some(b'1'), true) if !teen => "ST",
        (Some(b'2'), true) if !teen => "ND",
        (Some(b'3'), true) if !teen => "RD",
        (_, true) => "TH",
        (Some(b'1'), _) if !teen => "st",
        (Some(b'2'), _) if !teen => "nd",
        (Some(b'3'), _) if !teen => "rd",
        _ => "th",
    }
}

/// A number from 1 to 3999 in Roman numerals.
fn roman(mut number: i64) -> String {
    let mut out = String::new();
    for (value, letters) in [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ] {
        while number >= value {
            out.push_str(letters);
            number -= value;
        }
    }
    out
}
