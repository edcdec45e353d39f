//! `<?xml version="1.0" encoding="…" standalone="…"?>`.

use crate::chars::{is_blank, is_name_char};

/// What stands in a declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// version
    pub version: Option<String>,
    /// encoding
    pub encoding: Option<String>,
    /// standalone
    pub standalone: Option<bool>,
}

/// What is wrong with a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A character that is none of ASCII.
    Character,
    /// No blank where one must be.
    Space,
    /// standalone is neither yes nor no.
    Standalone,
    /// No version.
    Version,
    /// encoding without a value.
    Encoding,
    /// It does not end.
    Unfinished,
}

impl Wrong {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Wrong::Character => "Invalid character value.",
            Wrong::Space => "Space required.",
            Wrong::Standalone => "standalone accepts only 'yes' or 'no'.",
            Wrong::Version => "Malformed declaration: missing version.",
            Wrong::Encoding => "Missing encoding in text declaration.",
            Wrong::Unfinished => "Parsing XML declaration: '?>' expected.",
        }
    }
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn skip(&mut self) -> bool {
        let from = self.at;
        while self.text.as_bytes().get(self.at).copied().is_some_and(is_blank) {
            self.at += 1;
        }
        self.at > from
    }

    fn take(&mut self, what: &str) -> bool {
        let there = self.text[self.at..].starts_with(what);
        self.at += if there { what.len() } else { 0 };
        there
    }

    /// ` = "value"`
    fn value(&mut self) -> Option<&'t str> {
        self.skip();
        if !self.take("=") {
            return None;
        }
        self.skip();
        let quote = *self.text.as_bytes().get(self.at).filter(|b| matches!(b, b'"' | b'\''))?;
        let rest = &self.text[self.at + 1..];
        let end = rest.find(char::from(quote))?;
        self.at += end + 2;
        Some(&rest[..end])
    }

    /// A word with a blank before it.
    fn word(&mut self, word: &str) -> Result<bool, Wrong> {
        let from = self.at;
        let blank = self.skip();
        if !self.take(word) {
            self.at = from;
            return Ok(false);
        }
        if blank { Ok(true) } else { Err(Wrong::Space) }
    }
}

/// The declaration that a text begins with, and its length; an empty one where there is none.
pub fn parse(text: &str) -> Result<(Declaration, usize), Wrong> {
    let mut out = Declaration::default();
    let Some(rest) = text.strip_prefix("<?xml") else { return Ok((out, 0)) };
    if rest.chars().next().is_some_and(is_name_char) {
        return Ok((out, 0));
    }
    let mut scan = Scan { text, at: "<?xml".len() };
    if !scan.skip() {
        return Err(Wrong::Space);
    }
    if !scan.take("version") {
        return Err(Wrong::Version);
    }
    out.version = Some(scan.value().ok_or(Wrong::Version)?.to_owned());
    if scan.word("encoding")? {
        out.encoding = Some(scan.value().ok_or(Wrong::Encoding)?.to_owned());
    }
    if scan.word("standalone")? {
        out.standalone = match scan.value() {
            Some("yes") => Some(true),
            Some("no") => Some(false),
            _ => return Err(Wrong::Standalone),
        };
    }
    scan.skip();
    if !scan.take("?>") {
        return Err(Wrong::Unfinished);
    }
    match text[..scan.at].is_ascii() {
        true => Ok((out, scan.at)),
        false => Err(Wrong::Character),
    }
}

/// The declaration as written, if it says anything that is not implied: another version than 1.0, an encoding, standalone.
pub fn written(version: Option<&str>, encoding: Option<&str>, standalone: Option<bool>) -> Option<String> {
    let version = version.filter(|v| *v != "1.0");
    if version.is_none() && encoding.is_none() && standalone.is_none() {
        return None;
    }
    let mut out = format!("<?xml version=\"{}\"", version.unwrap_or("1.0"));
    if let Some(encoding) = encoding {
        out.push_str(&format!(" encoding=\"{encoding}\""));
    }
    if let Some(yes) = standalone {
        out.push_str(if yes { " standalone=\"yes\"" } else { " standalone=\"no\"" });
    }
    out.push_str("?>");
    Some(out)
}

/// Whether content begins with a document type declaration, behind comments and instructions: it is a document then.
pub fn is_document(content: &str) -> bool {
    let mut rest = content;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let (end, from) = if rest.starts_with("<!DOCTYPE") {
            return true;
        } else if rest.starts_with("<!--") {
            ("-->", 4)
        } else if rest.starts_with("<?") {
            ("?>", 2)
        } else {
            return false;
        };
        match rest[from..].find(end) {
            Some(n) => rest = &rest[from + n + end.len()..],
            None => return false,
        }
    }
}
