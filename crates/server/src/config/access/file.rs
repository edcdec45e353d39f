//! The form that `pg_hba.conf` and `pg_ident.conf` share: lines of fields, fields of words.
//!
//! # PostgreSQL counterpart
//! `tokenize_auth_file` (`hba.c`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Severity, SqlError, SqlResult, SqlState};
use runtime::fs;

/// Files within files at most.
const MAX_DEPTH: u32 = 10;

/// A name in a list. A quoted one has no special meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Without quotes.
    pub text: String,
    /// Whether it began with a quote.
    pub quoted: bool,
}

impl Word {
    /// Whether it is this word of the language, and not a name.
    pub fn is(&self, keyword: &str) -> bool {
        !self.quoted && self.text == keyword
    }

    /// The regular expression that it is, if it is one.
    pub fn pattern(&self) -> Option<&str> {
        self.text.strip_prefix('/')
    }

    /// Fails for an expression that is none.
    pub(super) fn check(&self) -> Result<(), String> {
        let Some(pattern) = self.pattern() else { return Ok(()) };
        types::text::check_regex(pattern, "").map_err(|error| {
            let why = error.message().trim_start_matches("invalid regular expression: ");
            format!("invalid regular expression \"{pattern}\": {why}")
        })
    }

    /// Whether a name matches the expression, or is the word.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self.pattern() {
            Some(pattern) => types::text::regex_matches(name, pattern, "").unwrap_or(false),
            None => self.text == name,
        }
    }
}

/// A line that says something, or one that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// File it stands in.
    pub file: Arc<str>,
    /// Its number, from 1.
    pub number: u32,
    /// As written.
    pub text: String,
    /// What it says, or why it cannot be read.
    pub fields: Result<Vec<Vec<Word>>, SqlError>,
}

impl Line {
    /// What is wrong with this line, for the log.
    pub(super) fn flaw(&self, message: impl Into<String>, hint: Option<&str>) -> SqlError {
        let (number, file) = (self.number, &self.file);
        let error = flaw(message).context(format!("line {number} of configuration file \"{file}\""));
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

fn flaw(message: impl Into<String>) -> SqlError {
    SqlError::with_severity(Severity::Log, SqlState::CONFIG_FILE_ERROR, message)
}

/// Reads a file with all that it includes.
pub fn read(path: &Path) -> SqlResult<Vec<Line>> {
    let mut lines = Vec::new();
    read_file(path, 0, &mut lines)?;
    Ok(lines)
}

fn open(path: &Path, depth: u32) -> Result<String, (bool, SqlError)> {
    let shown = path.display();
    if depth > MAX_DEPTH {
        return Err((
            false,
            flaw(format!("could not open file \"{shown}\": maximum nesting depth exceeded")),
        ));
    }
    match fs::read_to_vec(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            let message = format!("could not open file \"{shown}\": {}", base::os_error(&error));
            Err((error.kind() == std::io::ErrorKind::NotFound, flaw(message)))
        }
    }
}

fn read_file(path: &Path, depth: u32, lines: &mut Vec<Line>) -> SqlResult<()> {
    let text = open(path, depth).map_err(|(_, error)| error)?;
    let file: Arc<str> = path.display().to_string().into();
    for (number, text) in logical_lines(&text) {
        let line = Line { file: file.clone(), number, fields: fields(path, depth, &text), text };
        match &line.fields {
            Ok(fields) if fields.is_empty() => {}
            Ok(fields) if fields.len() == 2 && is_include(&fields[0]) => {
                if let Err(error) = include(path, depth, fields, lines) {
                    lines.push(Line { fields: Err(error), ..line });
                }
            }
            _ => lines.push(line),
        }
    }
    Ok(())
}

/// Lines with their numbers; one that ends with a backslash goes on.
fn logical_lines(text: &str) -> Vec<(u32, String)> {
    let mut all = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let mut line = line.to_string();
        while line.ends_with('\\') {
            line.pop();
            match lines.next() {
                Some((_, more)) => line.push_str(more),
                None => break,
            }
        }
        all.push((at as u32 + 1, line));
    }
    all
}

fn is_include(field: &[Word]) -> bool {
    ["include", "include_if_exists", "include_dir"].contains(&field[0].text.as_str())
}

fn beside(path: &Path, named: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(named)
}

/// Follows a directive.
fn include(path: &Path, depth: u32, fields: &[Vec<Word>], lines: &mut Vec<Line>) -> SqlResult<()> {
    let target = beside(path, &fields[1][0].text);
    match fields[0][0].text.as_str() {
        "include" => read_file(&target, depth + 1, lines),
        "include_if_exists" => match fs::exists(&target) {
            Ok(false) => {
                let shown = target.display();
                crate::log::log(format!("skipping missing authentication file \"{shown}\""));
                Ok(())
            }
            _ => read_file(&target, depth + 1, lines),
        },
        _ => {
            let entries = fs::read_dir(&target).map_err(|error| {
                let (shown, why) = (target.display(), base::os_error(&error));
                flaw(format!("could not open configuration directory \"{shown}\": {why}"))
            })?;
            let wanted = |name: &str| name.ends_with(".conf") && !name.starts_with('.');
            for entry in entries.iter().filter(|entry| !entry.is_dir && wanted(&entry.name)) {
                read_file(&target.join(&entry.name), depth + 1, lines)?;
            }
            Ok(())
        }
    }
}

/// Splits a line into fields, and fields into words at commas; `@FILE` stands for the words of a file.
fn fields(path: &Path, depth: u32, line: &str) -> SqlResult<Vec<Vec<Word>>> {
    let mut fields: Vec<Vec<Word>> = Vec::new();
    let mut rest = line;
    let mut goes_on = false;
    while let Some((word, after, comma)) = word(rest) {
        rest = after;
        if !goes_on {
            fields.push(Vec::new());
        }
        goes_on = comma;
        let Some(field) = fields.last_mut() else { break };
        match word.text.strip_prefix('@').filter(|name| !word.quoted && !name.is_empty()) {
            Some(name) => field.extend(words_of_file(&beside(path, name), depth + 1)?),
            None => field.push(word),
        }
    }
    fields.retain(|field| !field.is_empty());
    Ok(fields)
}

fn words_of_file(path: &Path, depth: u32) -> SqlResult<Vec<Word>> {
    let text = open(path, depth).map_err(|(_, error)| error)?;
    let mut words = Vec::new();
    for (_, line) in logical_lines(&text) {
        words.extend(fields(path, depth, &line)?.into_iter().flatten());
    }
    Ok(words)
}

/// The next word, what follows it, and whether a comma ended it.
fn word(text: &str) -> Option<(Word, &str, bool)> {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\r');
    let text = text.trim_start_matches(|c| blank(c) || c == ',');
    let mut out = Word { text: String::new(), quoted: false };
    let (mut inside, mut had_quote, mut closed) = (false, false, false);
    let finish = |out: Word, had_quote: bool, rest, comma| {
        (had_quote || !out.text.is_empty()).then_some((out, rest, comma))
    };
    for (at, c) in text.char_indices() {
        match c {
            '#' if !inside => return finish(out, had_quote, "", false),
            ',' if !inside => return finish(out, had_quote, &text[at + 1..], true),
            c if !inside && blank(c) => return finish(out, had_quote, &text[at..], false),
            '"' => {
                // A quote within quotes is two of them.
                if closed {
                    out.text.push('"');
                }
                closed = inside && !closed;
                inside = !inside;
                out.quoted |= !had_quote && out.text.is_empty();
                had_quote = true;
                continue;
            }
            c => out.text.push(c),
        }
        closed = false;
    }
    finish(out, had_quote, "", false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        let fields = fields(Path::new("/d/hba"), 0, line).unwrap();
        let word = |word: &Word| format!("{}{}", if word.quoted { "'" } else { "" }, word.text);
        let field = |field: &Vec<Word>| field.iter().map(word).collect::<Vec<_>>().join("|");
        fields.iter().map(field).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn fields_and_words() {
        assert_eq!(
            words("a b,c , d # e"),
            "a b|c d",
            "a comma joins with what follows it at once or after blanks"
        );
        assert_eq!(words("a b, c d"), "a b|c d");
        assert_eq!(words("\"all\" x\"y z\" \"\" \"a\"\"b\""), "'all xy z ' 'a\"b");
        assert_eq!(words("\"open to the end"), "'open to the end");
        assert_eq!(words(" \t# nothing"), "");
        assert_eq!(words("host,local"), "host|local");
        assert_eq!(words("@ \"@x\""), "@ '@x");
    }

    #[test]
    fn lines_that_go_on() {
        assert_eq!(logical_lines("a \\\n b\nc"), [(1, "a  b".to_string()), (3, "c".to_string())]);
        assert_eq!(logical_lines("a \\"), [(1, "a ".to_string())]);
    }
}
