//! Reads `postgresql.conf` and what it includes.
//!
//! # PostgreSQL counterpart and differences
//! `guc-file.l`: the same tokens, directives, escapes and error texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtime::fs;

/// Files within files at most.
const MAX_DEPTH: u32 = 10;

/// One `name = value` of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// As written.
    pub name: String,
    /// Without quotes.
    pub value: String,
    /// File it stands in.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
}

/// A line that is not valid, or includes a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// For the log, in PostgreSQL's words.
    pub message: String,
    /// For `pg_file_settings`.
    pub error: String,
    /// File it stands in.
    pub file: Arc<str>,
    /// Line, from 1; 0: the file as a whole.
    pub line: u32,
}

/// What files gave.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Settings, in order: later ones override earlier ones. With any fault, the files count as broken.
    pub lines: Vec<Result<Item, Fault>>,
    /// What is worth a line in the log.
    pub notes: Vec<String>,
}

/// Reads a file and all it includes. A missing file is an error unless `optional`.
pub fn read(path: &Path, optional: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let whole = (Arc::from(path.display().to_string()), 0);
    read_file(path, optional, 0, whole, &mut outcome);
    outcome
}

/// `place`: the line that names the file.
fn read_file(path: &Path, optional: bool, depth: u32, place: (Arc<str>, u32), out: &mut Outcome) {
    let shown = path.display();
    let fault = |error: String, why: &str| {
        let message = format!("could not open configuration file \"{shown}\": {why}");
        Err(Fault { message, error, file: place.0.clone(), line: place.1 })
    };
    if depth > MAX_DEPTH {
        out.lines.push(fault("nesting depth exceeded".into(), "maximum nesting depth exceeded"));
        return;
    }
    match fs::read_to_vec(path) {
        Ok(bytes) => parse_file(path, &String::from_utf8_lossy(&bytes), depth, out),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && optional => {
            out.notes.push(format!("skipping missing configuration file \"{shown}\""));
        }
        Err(error) => {
            out.lines.push(fault(format!("could not open file \"{shown}\""), &base::os_error(&error)));
        }
    }
}

fn parse_file(path: &Path, text: &str, depth: u32, out: &mut Outcome) {
    let file: Arc<str> = path.display().to_string().into();
    for (at, line) in text.lines().enumerate() {
        let number = at as u32 + 1;
        match parse_line(line) {
            Ok(None) => {}
            Ok(Some((name, value))) => {
                let item = Item { name, value, file: file.clone(), line: number };
                directive(path, item, depth, out);
            }
            Err(near) => {
                let near = match near {
                    Some(token) => format!("token \"{token}\""),
                    None => "end of line".into(),
                };
                let message = format!("syntax error in file \"{file}\" line {number}, near {near}");
                let error = "syntax error".to_string();
                out.lines.push(Err(Fault { message, error, file: file.clone(), line: number }));
            }
        }
    }
}

/// Follows an include, or keeps a setting.
fn directive(path: &Path, item: Item, depth: u32, out: &mut Outcome) {
    let target = || path.parent().unwrap_or(Path::new("")).join(&item.value);
    let place = || (item.file.clone(), item.line);
    match item.name.to_ascii_lowercase().as_str() {
        "include" => read_file(&target(), false, depth + 1, place(), out),
        "include_if_exists" => read_file(&target(), true, depth + 1, place(), out),
        "include_dir" => match conf_files(&target()) {
            Ok(files) => files.iter().for_each(|file| read_file(file, false, depth + 1, place(), out)),
            Err(error) => {
                let shown = format!("\"{}\"", target().display());
                out.lines.push(Err(Fault {
                    message: format!(
                        "could not open configuration directory {shown}: {}",
                        base::os_error(&error)
                    ),
                    error: format!("could not open directory {shown}"),
                    file: item.file.clone(),
                    line: item.line,
                }));
            }
        },
        _ => out.lines.push(Ok(item)),
    }
}

/// The files of an `include_dir`: those that end in `.conf` and do not begin with a dot, by name.
fn conf_files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir)?;
    let wanted =
        entries.iter().filter(|e| !e.is_dir && e.name.ends_with(".conf") && !e.name.starts_with('.'));
    Ok(wanted.map(|e| dir.join(&e.name)).collect())
}

/// Name and value of a line; the error is the token at fault.
fn parse_line(line: &str) -> Result<Option<(String, String)>, Option<String>> {
    let rest = line.trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(None);
    }
    let (name, rest) = name_token(rest).ok_or_else(|| Some(first_token(rest)))?;
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        return Err(None);
    }
    let (value, rest) = value_token(rest).ok_or_else(|| Some(first_token(rest)))?;
    let rest = rest.trim_start();
    if !rest.is_empty() && !rest.starts_with('#') {
        return Err(Some(first_token(rest)));
    }
    Ok(Some((name.to_string(), value)))
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_letter_or_digit(c: char) -> bool {
    is_letter(c) || c.is_ascii_digit()
}

fn split_where(text: &str, stop: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(stop).unwrap_or(text.len()))
}

/// `ident` or `ident.ident`.
fn name_token(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with(is_letter) {
        return None;
    }
    let (first, rest) = split_where(text, |c| !is_letter_or_digit(c));
    match rest.strip_prefix('.') {
        Some(second) if second.starts_with(is_letter) => {
            let length = first.len() + 1 + split_where(second, |c| !is_letter_or_digit(c)).0.len();
            Some(text.split_at(length))
        }
        _ => Some((first, rest)),
    }
}

/// A quoted string, a word, or a number with a unit.
fn value_token(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('\'') {
        return quoted_token(quoted);
    }
    if text.starts_with(is_letter) {
        let (word, rest) = split_where(text, |c| !is_letter_or_digit(c) && !"-._:/".contains(c));
        return Some((word.to_string(), rest));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = text.len() - unsigned.len();
    let hex = unsigned.strip_prefix("0x").map(|h| 2 + split_where(h, |c| !c.is_ascii_hexdigit()).0.len());
    let digits = hex.filter(|n| *n > 2).unwrap_or(split_where(unsigned, |c| !c.is_ascii_digit()).0.len());
    let rest = &unsigned[digits..];
    let length = if let Some(fraction) = rest.strip_prefix('.') {
        // A real number takes no unit unless it is quoted.
        let mut length = digits + 1 + split_where(fraction, |c| !c.is_ascii_digit()).0.len();
        if let Some(exponent) = unsigned[length..].strip_prefix(['e', 'E']) {
            let plain = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let n = split_where(plain, |c| !c.is_ascii_digit()).0.len();
            if n > 0 {
                length += 1 + (exponent.len() - plain.len()) + n;
            }
        }
        length
    } else if digits > 0 {
        digits + split_where(rest, |c| !c.is_ascii_alphabetic()).0.len()
    } else {
        return None;
    };
    let (value, rest) = text.split_at(sign + length);
    Some((value.to_string(), rest))
}

fn quoted_token(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if text[at + 1..].starts_with('\'') => {
                chars.next();
                out.push('\'');
            }
            '\'' => return Some((out, &text[at + 1..])),
            '\\' => {
                let (_, escaped) = chars.next()?;
                match escaped {
                    'b' => out.push('\u{8}'),
                    'f' => out.push('\u{c}'),
                    'n' => out.push('\n'),
                    'r' => out.push('\r'),
                    't' => out.push('\t'),
                    '0'..='7' => {
                        let mut code = escaped as u32 - '0' as u32;
                        for _ in 0..2 {
                            match chars.peek() {
                                Some((_, digit @ '0'..='7')) => {
                                    code = code * 8 + (*digit as u32 - '0' as u32);
                                    chars.next();
                                }
                                _ => break,
                            }
                        }
                        out.push(char::from((code & 0xFF) as u8));
                    }
                    other => out.push(other),
                }
            }
            other => out.push(other),
        }
    }
    None
}

/// The token that an error names.
fn first_token(text: &str) -> String {
    if let Some((name, _)) = name_token(text) {
        return name.to_string();
    }
    match value_token(text) {
        Some((_, rest)) => text[..text.len() - rest.len()].to_string(),
        None => text.chars().take(1).collect(),
    }
}

/// A value as it must be written to a file: quoted.
pub fn quote(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        match parse_line(text) {
            Ok(None) => "nothing".into(),
            Ok(Some((name, value))) => format!("{name}={value}"),
            Err(Some(token)) => format!("near {token}"),
            Err(None) => "near end".into(),
        }
    }

    #[test]
    fn lines() {
        for (text, expected) in [
            ("", "nothing"),
            ("  # comment", "nothing"),
            ("port = 5433", "port=5433"),
            ("port 5433 # why", "port=5433"),
            ("work_mem=16MB#x", "work_mem=16MB"),
            ("a.b = 'it''s \\'q\\' \\101\\t.'", "a.b=it's 'q' A\t."),
            ("x = -1", "x=-1"),
            ("x = 0x1F", "x=0x1F"),
            ("x = 1.5e-3", "x=1.5e-3"),
            ("x = .5", "x=.5"),
            ("path = /tmp", "near /"),
            ("level = scram-sha-256", "level=scram-sha-256"),
            ("x = 1.5GB", "near GB"),
            ("x =", "near end"),
            ("x = 'open", "near '"),
            ("x = 1 2", "near 2"),
            ("= 1", "near ="),
            ("3x = 1", "near 3x"),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
        let odd = "a'b\\c\nd";
        assert_eq!(line(&format!("x = {}", quote(odd))), format!("x={odd}"));
    }

    #[test]
    fn includes() {
        let outcome = runtime::Simulation::new(1)
            .run(|| {
                let write = |name: &str, text: &str| {
                    let path = Path::new("/c").join(name);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write_file(&path, text.as_bytes()).unwrap();
                };
                write(
                    "main.conf",
                    "a = 1\ninclude 'one.conf'\ninclude_if_exists 'no.conf'\ninclude_dir 'd'\n!\n",
                );
                write("one.conf", "b = 2\ninclude = 'missing.conf'\n");
                write("d/2.conf", "c = 3\n");
                write("d/1.conf", "c = 4\ninclude '../loop.conf'");
                write("d/x.txt", "bad");
                write("loop.conf", "include 'loop.conf'");
                read(Path::new("/c/main.conf"), false)
            })
            .unwrap();
        let (items, faults): (Vec<_>, Vec<_>) = outcome.lines.into_iter().partition(Result::is_ok);
        let items: Vec<_> =
            items.iter().flatten().map(|i| format!("{}={} {}:{}", i.name, i.value, i.file, i.line)).collect();
        let errors: Vec<_> = faults.into_iter().filter_map(Result::err).map(|fault| fault.message).collect();
        assert_eq!(
            items,
            ["a=1 /c/main.conf:1", "b=2 /c/one.conf:1", "c=4 /c/d/1.conf:1", "c=3 /c/d/2.conf:1"]
        );
        assert_eq!(
            errors,
            [
                "could not open configuration file \"/c/missing.conf\": No such file or directory",
                "could not open configuration file \"/c/d/../loop.conf\": maximum nesting depth exceeded",
                "syntax error in file \"/c/main.conf\" line 5, near token \"!\"",
            ]
        );
        assert_eq!(outcome.notes, ["skipping missing configuration file \"/c/no.conf\""]);
    }
}
