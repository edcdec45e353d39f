//! Regular expressions: `~` and the like, `regexp_*`, `substring(… from pattern)`.
//!
//! PostgreSQL's advanced regular expressions are translated to the syntax of the `regex` crate where that can tell the answer:
//! whether there is a match, and where it begins. Where a match ends and how its groups divide it is Spencer's to say, unless
//! the expression leaves no choice: [`are`] finds that, and all of it for back references, look-around and what nests too deeply for the
//! library.

use std::{
    cell::{OnceCell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use base::{SqlError, SqlResult, sql_err};
use regex::{Regex, RegexBuilder};
use smallvec::{SmallVec, smallvec};
use tuple::{Bytes, Datum};

use crate::{
    call::Call,
    piece::{self, PIECE, Pace},
    registry::{SetRows, Values},
    value::FromDatum,
};

use super::{are, char_end};

functions! {
    1254 textregexeq(text, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, false) }
    1256 textregexne(text, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, false).map(|m| !m) }
    1238 texticregexeq(text, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, true) }
    1239 texticregexne(text, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, true).map(|m| !m) }
    79 nameregexeq(name, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, false) }
    1252 nameregexne(name, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, false).map(|m| !m) }
    1240 nameicregexeq(name, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, true) }
    1241 nameicregexne(name, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, true).map(|m| !m) }
    1658 bpcharregexeq(bpchar, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, false) }
    1659 bpcharregexne(bpchar, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, false).map(|m| !m) }
    1656 bpcharicregexeq(bpchar, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, true) }
    1657 bpcharicregexne(bpchar, text) -> bool [immutable strict] { |cx; a: &str, p: &str| matched(cx, a, p, true).map(|m| !m) }
    2073 substring(text, text) -> text [immutable strict] { |a: &str, p: &str| substring(a, p) }
    2074 substring(text, text, text) -> text [immutable strict] { |a: &str, p: &str, escape: &str| similar_substring(a, p, escape) }
    2284 regexp_replace(text, text, text) -> text [immutable strict names(&["string", "pattern", "replacement"])] { |a: &str, p: &str, new: &str| replace(a, p, new, "", 1, None) }
    2285 regexp_replace(text, text, text, text) -> text [immutable strict names(&["string", "pattern", "replacement", "flags"])] { |a: &str, p: &str, new: &str, flags: &str| replace_flags(a, p, new, flags) }
    6253 regexp_replace(text, text, text, int4) -> text [immutable strict names(&["string", "pattern", "replacement", "start"])] { |a: &str, p: &str, new: &str, start: i32| replace(a, p, new, "", start, None) }
    6252 regexp_replace(text, text, text, int4, int4) -> text [immutable strict names(&["string", "pattern", "replacement", "start", "N"])] { |a: &str, p: &str, new: &str, start: i32, n: i32| replace(a, p, new, "", start, Some(n)) }
    6251 regexp_replace(text, text, text, int4, int4, text) -> text [immutable strict names(&["string", "pattern", "replacement", "start", "N", "flags"])] { |a: &str, p: &str, new: &str, start: i32, n: i32, flags: &str| replace(a, p, new, flags, start, Some(n)) }
    3396 regexp_match(text, text) -> _text [immutable strict names(&["string", "pattern"])] { fn first_match }
    3397 regexp_match(text, text, text) -> _text [immutable strict names(&["string", "pattern", "flags"])] { fn first_match }
    2763 regexp_matches(text, text) -> _text [immutable strict returns_set rows(1.0) names(&["string", "pattern"])] { set all_matches }
    2764 regexp_matches(text, text, text) -> _text [immutable strict returns_set rows(10.0) names(&["string", "pattern", "flags"])] { set all_matches }
    2767 regexp_split_to_array(text, text) -> _text [immutable strict names(&["string", "pattern"])] { fn split_to_array }
    2768 regexp_split_to_array(text, text, text) -> _text [immutable strict names(&["string", "pattern", "flags"])] { fn split_to_array }
    2765 regexp_split_to_table(text, text) -> text [immutable strict returns_set rows(1000.0) names(&["string", "pattern"])] { set split_to_table }
    2766 regexp_split_to_table(text, text, text) -> text [immutable strict returns_set rows(1000.0) names(&["string", "pattern", "flags"])] { set split_to_table }
    6263 regexp_like(text, text) -> bool [immutable strict names(&["string", "pattern"])] { fn like }
    6264 regexp_like(text, text, text) -> bool [immutable strict names(&["string", "pattern", "flags"])] { fn like }
    6254 regexp_count(text, text) -> int4 [immutable strict names(&["string", "pattern"])] { fn count }
    6255 regexp_count(text, text, int4) -> int4 [immutable strict names(&["string", "pattern", "start"])] { fn count }
    6256 regexp_count(text, text, int4, text) -> int4 [immutable strict names(&["string", "pattern", "start", "flags"])] { fn count }
    6257 regexp_instr(text, text) -> int4 [immutable strict names(&["string", "pattern"])] { fn instr }
    6258 regexp_instr(text, text, int4) -> int4 [immutable strict names(&["string", "pattern", "start"])] { fn instr }
    6259 regexp_instr(text, text, int4, int4) -> int4 [immutable strict names(&["string", "pattern", "start", "N"])] { fn instr }
    6260 regexp_instr(text, text, int4, int4, int4) -> int4 [immutable strict names(&["string", "pattern", "start", "N", "endoption"])] { fn instr }
    6261 regexp_instr(text, text, int4, int4, int4, text) -> int4 [immutable strict names(&["string", "pattern", "start", "N", "endoption", "flags"])] { fn instr }
    6262 regexp_instr(text, text, int4, int4, int4, text, int4) -> int4 [immutable strict names(&["string", "pattern", "start", "N", "endoption", "flags", "subexpr"])] { fn instr }
    6265 regexp_substr(text, text) -> text [immutable strict names(&["string", "pattern"])] { fn substr }
    6266 regexp_substr(text, text, int4) -> text [immutable strict names(&["string", "pattern", "start"])] { fn substr }
    6267 regexp_substr(text, text, int4, int4) -> text [immutable strict names(&["string", "pattern", "start", "N"])] { fn substr }
    6268 regexp_substr(text, text, int4, int4, text) -> text [immutable strict names(&["string", "pattern", "start", "N", "flags"])] { fn substr }
    6269 regexp_substr(text, text, int4, int4, text, int4) -> text [immutable strict names(&["string", "pattern", "start", "N", "flags", "subexpr"])] { fn substr }
}

/// Whether a text matches, unless the collation of the call is not for regular expressions.
fn matched(cx: &Call, text: &str, pattern: &str, fold: bool) -> SqlResult<bool> {
    if !cx.rules("regular expression")?.is_deterministic() {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "nondeterministic collations are not supported for regular expressions"
        ));
    }
    is_match(text, pattern, fold)
}

/// What the flag letters of `regexp_*` ask for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Flags {
    pub(super) global: bool,
    pub(super) fold: bool,
    pub(super) newline: bool,
    /// `w`: only `^` and `$` know lines; `p`: only `.` and brackets do.
    pub(super) weird: bool,
    pub(super) partial: bool,
    pub(super) expanded: bool,
    pub(super) literal: bool,
}

fn parse_flags(text: &str) -> SqlResult<Flags> {
    let mut flags = Flags::default();
    for c in text.chars() {
        match c {
            'g' => flags.global = true,
            'i' => flags.fold = true,
            'c' => flags.fold = false,
            'm' | 'n' => flags.newline = true,
            's' => flags = Flags { newline: false, weird: false, partial: false, ..flags },
            'w' => flags.weird = true,
            'p' => flags.partial = true,
            'x' => flags.expanded = true,
            't' => flags.expanded = false,
            'q' => flags.literal = true,
            'e' | 'b' => {}
            _ => {
                return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid regular expression option: \"{c}\""));
            }
        }
    }
    Ok(flags)
}

fn no_global(flags: Flags, function: &str) -> SqlResult<Flags> {
    if flags.global {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "{function} does not support the \"global\" option"));
    }
    Ok(flags)
}

pub(super) fn invalid(what: &str) -> SqlError {
    sql_err!(INVALID_REGULAR_EXPRESSION, "invalid regular expression: {what}")
}

thread_local! {
    /// The last expressions compiled on this thread, newest last. Never held over a wait.
    static CACHE: RefCell<Vec<(String, Flags, Rc<Compiled>)>> = const { RefCell::new(Vec::new()) };
}

/// Expressions kept a thread: PostgreSQL's number a session.
const CACHE_SIZE: usize = 32;

fn compile(pattern: &str, flags: Flags) -> SqlResult<Rc<Compiled>> {
    let known = CACHE.with_borrow_mut(|cache| {
        let i = cache.iter().rposition(|(text, f, _)| text == pattern && *f == flags)?;
        let entry = cache.remove(i);
        let regex = entry.2.clone();
        cache.push(entry);
        Some(regex)
    });
    if let Some(regex) = known {
        return Ok(regex);
    }
    let regex = Rc::new(build(pattern, flags)?);
    CACHE.with_borrow_mut(|cache| {
        if cache.len() == CACHE_SIZE {
            cache.remove(0);
        }
        cache.push((pattern.to_owned(), flags, regex.clone()));
    });
    Ok(regex)
}

/// Longest expression that is compiled here and now, if it repeats nothing so and so often.
const SHORT_PATTERN: usize = 500;

/// An expression in the syntax of the `regex` crate, with the flags that it is read by.
struct Source {
    translated: String,
    flags: Flags,
}

/// The tree of an expression, and its source if that is for the library.
fn source(pattern: &str, mut flags: Flags) -> SqlResult<(are::Expression, Option<Source>)> {
    let mut body = pattern;
    if let Some(rest) = body.strip_prefix("***=") {
        (flags.literal, body) = (true, rest);
    } else if let Some(rest) = body.strip_prefix("***:") {
        body = rest;
    } else if body.starts_with("***") {
        return Err(invalid("quantifier operand invalid"));
    }
    if !flags.literal
        && let Some((letters, rest)) = body.strip_prefix("(?").and_then(|b| b.split_once(')'))
        && !letters.is_empty()
        && letters.bytes().all(|b| b.is_ascii_lowercase())
    {
        let own = parse_flags(letters).map_err(|_| invalid("invalid embedded option"))?;
        flags = Flags {
            fold: own.fold || (flags.fold && !letters.contains('c')),
            newline: own.newline || flags.newline,
            ..own
        };
        body = rest;
    }
    let tree = are::parse(body, flags)?;
    if !tree.regular {
        return Ok((tree, None));
    }
    let translated = if flags.literal { regex::escape(body) } else { translate(body, flags)? };
    Ok((tree, Some(Source { translated, flags })))
}

fn build(pattern: &str, flags: Flags) -> SqlResult<Compiled> {
    let (tree, source) = source(pattern, flags)?;
    let Some(Source { translated, flags }) = source else { return Ok(Compiled { tree, library: None }) };
    let mut builder = RegexBuilder::new(&translated);
    builder
        .case_insensitive(flags.fold)
        .multi_line(flags.newline || flags.weird)
        .dot_matches_new_line(!(flags.newline || flags.partial))
        .ignore_whitespace(flags.expanded)
        .size_limit(1 << 24);
    let long = translated.len() > SHORT_PATTERN || translated.contains('{');
    let made = if long { runtime::blocking(|| builder.build()) } else { builder.build() };
    let library = match made {
        Ok(library) => Some(library),
        Err(regex::Error::CompiledTooBig(_)) => return Err(invalid("regular expression is too complex")),
        Err(error) if error.to_string().contains("nested parentheses") => None,
        Err(error) => return Err(invalid(reason(&error.to_string()))),
    };
    Ok(Compiled { tree, library })
}

/// An expression, ready for use.
struct Compiled {
    tree: are::Expression,
    /// The library's, where it can tell whether and where a match begins.
    library: Option<Regex>,
}

/// A text that is searched.
struct Subject<'t> {
    text: &'t str,
    /// Its characters and where they begin, with the end; made when they are needed.
    characters: OnceCell<(Vec<char>, Vec<usize>)>,
}

impl<'t> Subject<'t> {
    fn new(text: &'t str) -> Subject<'t> {
        Subject { text, characters: OnceCell::new() }
    }

    fn characters(&self) -> &(Vec<char>, Vec<usize>) {
        self.characters.get_or_init(|| {
            let (mut characters, mut starts) = (Vec::new(), Vec::new());
            let mut pace = Pace::new();
            for (start, c) in self.text.char_indices() {
                characters.push(c);
                starts.push(start);
                pace.pass(1);
            }
            starts.push(self.text.len());
            (characters, starts)
        })
    }
}

/// A match: bytes of the whole and of each group that took part.
struct Found<'t> {
    text: &'t str,
    parts: SmallVec<[Option<(usize, usize)>; 2]>,
}

impl<'t> Found<'t> {
    fn whole(&self) -> std::ops::Range<usize> {
        self.range(0).unwrap_or_default()
    }

    fn range(&self, group: usize) -> Option<std::ops::Range<usize>> {
        self.parts.get(group).copied().flatten().map(|(start, end)| start..end)
    }

    fn get(&self, group: usize) -> Option<&'t str> {
        self.range(group).map(|range| &self.text[range])
    }

    /// Where the search for the next one begins: an empty match is not found again.
    fn behind(&self) -> usize {
        let whole = self.whole();
        if whole.is_empty() { next_char(self.text, whole.end) } else { whole.end }
    }
}

impl Compiled {
    /// Number of groups, the whole counted.
    fn groups(&self) -> usize {
        self.tree.groups + 1
    }

    fn is_match(&self, text: &str) -> SqlResult<bool> {
        match &self.library {
            Some(library) => piece::elsewhere(text.len(), || library.is_match(text)),
            None => {
                let (subject, memory) = (Subject::new(text), are::Memory::new(&self.tree));
                Ok(self.matcher(&subject, &memory).find(0, false)?.is_some())
            }
        }
    }

    fn matcher<'a>(&'a self, subject: &'a Subject<'_>, memory: &'a are::Memory) -> are::Matcher<'a> {
        are::Matcher { expression: &self.tree, text: &subject.characters().0, memory }
    }

    /// The first match at byte `at` or behind.
    fn find<'t>(&self, text: &'t str, at: usize) -> SqlResult<Option<Found<'t>>> {
        self.matches(text, at, 1).next()
    }

    /// The matches from byte `at` on; no more than `most` are wanted.
    fn matches<'t, 'r>(&'r self, text: &'t str, at: usize, most: usize) -> Matches<'t, 'r> {
        Matches {
            regex: self,
            subject: Subject::new(text),
            memory: are::Memory::new(&self.tree),
            at,
            most,
            ready: VecDeque::new(),
            near: false,
            pace: Pace::new(),
        }
    }
}

/// Matches one behind the other, an empty one never right behind the one before.
struct Matches<'t, 'r> {
    regex: &'r Compiled,
    subject: Subject<'t>,
    memory: are::Memory,
    /// Where the search goes on, behind what is ready.
    at: usize,
    most: usize,
    ready: VecDeque<Found<'t>>,
    /// Whether the last match began near to where the search for it did.
    near: bool,
    pace: Pace,
}

/// Matches that the library finds at once, and the bytes after which it stops.
const BATCH: (usize, usize) = (4096, 1 << 20);

impl<'t> Matches<'t, '_> {
    fn next(&mut self) -> SqlResult<Option<Found<'t>>> {
        if self.most == 0 {
            return Ok(None);
        }
        let found = match &self.regex.library {
            Some(library) if self.regex.tree.plain => {
                if self.ready.is_empty() {
                    self.search(library)?;
                }
                self.ready.pop_front()
            }
            library => self.next_of_ours(library.as_ref())?,
        };
        self.most -= 1;
        self.pace.did(found.as_ref().map_or(0, |found| 16 + found.whole().len()))?;
        Ok(found)
    }

    /// Has the library find what comes next. It cannot be asked to search a piece only: what matches in a piece need not be
    /// the match in the whole.
    fn search(&mut self, library: &Regex) -> SqlResult<()> {
        let (text, groups, most) = (self.subject.text, self.regex.groups(), self.most.min(BATCH.0));
        let start = self.at;
        let batch = || {
            let (mut found, mut at) = (VecDeque::new(), start);
            let mut places = library.capture_locations();
            while at <= text.len() && at < start + BATCH.1 && found.len() < most {
                let parts = if groups == 1 {
                    library.find_at(text, at).map(|m| smallvec![Some((m.start(), m.end()))])
                } else {
                    library
                        .captures_read_at(&mut places, text, at)
                        .map(|_| (0..groups).map(|i| places.get(i)).collect())
                };
                let Some(parts) = parts else { return (found, text.len() + 1) };
                let one = Found { text, parts };
                at = one.behind();
                found.push_back(one);
            }
            (found, at)
        };
        (self.ready, self.at) = piece::elsewhere(text.len().saturating_sub(start), batch)?;
        Ok(())
    }

    /// The next match where it takes our own matcher to say what it is.
    fn next_of_ours(&mut self, library: Option<&Regex>) -> SqlResult<Option<Found<'t>>> {
        let text = self.subject.text;
        if self.at > text.len() {
            return Ok(None);
        }
        let mut start = self.at;
        if let Some(library) = library {
            // Handing over costs more than a search that ends soon.
            let far = if self.near { 0 } else { text.len() - start };
            let from = start;
            match piece::elsewhere(far, || library.find_at(text, from).map(|m| m.start()))? {
                Some(at) => start = at,
                None => return Ok(None),
            }
            self.near = start - from < PIECE;
        }
        let (_, starts) = self.subject.characters();
        let (from, divided) = (starts.partition_point(|s| *s < start), self.regex.groups() > 1);
        let matcher = self.regex.matcher(&self.subject, &self.memory);
        let found = match library {
            Some(_) => matcher.match_at(from, divided)?,
            None => None,
        };
        let found = if found.is_none() { matcher.find(from, divided)? } else { found };
        let bytes = |part: Option<(usize, usize)>| part.map(|(a, b)| (starts[a], starts[b]));
        let found = found.map(|parts| Found { text, parts: parts.into_iter().map(bytes).collect() });
        self.at = found.as_ref().map_or(text.len() + 1, Found::behind);
        Ok(found)
    }
}

/// PostgreSQL's words for the library's complaint.
fn reason(error: &str) -> &'static str {
    for (ours, theirs) in [
        ("unclosed group", "parentheses () not balanced"),
        ("unopened group", "parentheses () not balanced"),
        ("unclosed character class", "brackets [] not balanced"),
        ("repetition operator missing", "quantifier operand invalid"),
        ("repetition quantifier", "invalid repetition count(s)"),
        ("counted repetition", "braces {} not balanced"),
        ("class range", "invalid character range"),
        ("escape", "invalid escape \\ sequence"),
    ] {
        if error.contains(ours) {
            return theirs;
        }
    }
    "invalid regexp"
}

/// Rewrites what the two syntaxes write differently.
fn translate(pattern: &str, flags: Flags) -> SqlResult<String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, &mut out)?,
            '[' => bracket(&mut chars, &mut out, flags)?,
            // A brace that begins no count is an ordinary character.
            '{' if !chars.peek().is_some_and(char::is_ascii_digit) => out.push_str("\\{"),
            '(' if chars.peek() == Some(&'?') => {
                chars.next();
                match chars.peek() {
                    Some(':') => out.push_str("(?"),
                    _ => return Err(invalid("quantifier operand invalid")),
                }
            }
            '$' if !(flags.newline || flags.weird) => out.push_str("\\z"),
            _ => out.push(c),
        }
    }
    Ok(out)
}

pub(super) type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// A backslash outside brackets.
pub(super) fn escape(chars: &mut Chars, out: &mut String) -> SqlResult<()> {
    let Some(c) = chars.next() else { return Err(invalid("invalid escape \\ sequence")) };
    match c {
        'm' => out.push_str("\\b{start}"),
        'M' => out.push_str("\\b{end}"),
        'y' => out.push_str("\\b"),
        'Y' => out.push_str("\\B"),
        'A' => out.push_str("\\A"),
        'Z' => out.push_str("\\z"),
        'd' | 'D' | 's' | 'S' | 'w' | 'W' | 't' | 'n' | 'r' | 'f' | 'v' | 'a' => {
            out.push('\\');
            out.push(c);
        }
        'b' => out.push_str("\\x08"),
        'B' => out.push_str("\\\\"),
        'e' => out.push_str("\\x1B"),
        'x' | 'u' | 'U' | '0' => {
            let code = code_escape(c, chars)?;
            out.push_str(&regex::escape(&code.to_string()));
        }
        c if c.is_alphanumeric() => return Err(invalid("invalid escape \\ sequence")),
        c => out.push_str(&regex::escape(&c.to_string())),
    }
    Ok(())
}

/// The character of `\xhh…`, `\uhhhh`, `\Uhhhhhhhh`, `\0oo`.
fn code_escape(kind: char, chars: &mut Chars) -> SqlResult<char> {
    let (radix, least, most) = match kind {
        'u' => (16, 4, 4),
        'U' => (16, 8, 8),
        '0' => (8, 0, 2),
        _ => (16, 1, 8),
    };
    let mut value = 0u32;
    let mut count = 0;
    while count < most
        && let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix))
    {
        value = value.wrapping_mul(radix) + digit;
        chars.next();
        count += 1;
    }
    if count < least {
        return Err(invalid("invalid escape \\ sequence"));
    }
    char::from_u32(value).ok_or_else(|| invalid("invalid escape \\ sequence"))
}

/// A bracket expression, behind its `[`.
pub(super) fn bracket(chars: &mut Chars, out: &mut String, flags: Flags) -> SqlResult<()> {
    let unbalanced = || invalid("brackets [] not balanced");
    // `[[:<:]]` and `[[:>:]]` are word boundaries.
    let rest: String = chars.clone().take(6).collect();
    for (text, boundary) in [("[:<:]]", "\\b{start}"), ("[:>:]]", "\\b{end}")] {
        if rest == text {
            chars.by_ref().take(6).for_each(drop);
            out.push_str(boundary);
            return Ok(());
        }
    }
    out.push('[');
    if chars.peek() == Some(&'^') {
        chars.next();
        out.push('^');
        if flags.newline || flags.partial {
            out.push_str("\\n");
        }
    }
    let mut first = true;
    loop {
        let c = chars.next().ok_or_else(unbalanced)?;
        match c {
            ']' if !first => {
                out.push(']');
                return Ok(());
            }
            '[' if matches!(chars.peek(), Some(':' | '.' | '=')) => {
                let kind = chars.next().ok_or_else(unbalanced)?;
                let mut name = String::new();
                loop {
                    let c = chars.next().ok_or_else(unbalanced)?;
                    if c == kind && chars.peek() == Some(&']') {
                        chars.next();
                        break;
                    }
                    name.push(c);
                }
                if kind == ':' {
                    out.push_str(class(&name).ok_or_else(|| invalid("invalid character class"))?);
                } else if name.chars().count() == 1 {
                    out.push_str(&regex::escape(&name));
                } else {
                    return Err(invalid("invalid collating element"));
                }
            }
            '\\' => match chars.peek() {
                Some('d' | 'D' | 's' | 'S' | 'w' | 'W' | 't' | 'n' | 'r' | 'f' | 'v' | 'a') => {
                    out.push('\\');
                    out.extend(chars.next());
                }
                _ => escape(chars, out)?,
            },
            '-' => {
                // A range unless at either end.
                if first || chars.peek() == Some(&']') { out.push_str("\\-") } else { out.push('-') }
            }
            '[' | ']' | '&' | '~' | '^' | '#' | ' ' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
        first = false;
    }
}

fn class(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => "\\p{Alphabetic}",
        "digit" => "\\d",
        "alnum" => "\\p{Alphabetic}\\d",
        "upper" => "\\p{Uppercase}",
        "lower" => "\\p{Lowercase}",
        "space" => "\\s",
        "blank" => "[:blank:]",
        "punct" => "[:punct:]",
        "cntrl" => "[:cntrl:]",
        "xdigit" => "[:xdigit:]",
        "print" => "[^[:cntrl:]]",
        "graph" => "[^[:cntrl:]\\s]",
        "word" => "\\w",
        _ => return None,
    })
}

fn is_match(text: &str, pattern: &str, fold: bool) -> SqlResult<bool> {
    compile(pattern, Flags { fold, ..Flags::default() })?.is_match(text)
}

/// An error for an expression that is none.
pub fn check_regex(pattern: &str, flags: &str) -> SqlResult<()> {
    compile(pattern, parse_flags(flags)?).map(drop)
}

/// Whether a text matches, with the letters of `regexp_like`.
pub fn regex_matches(text: &str, pattern: &str, flags: &str) -> SqlResult<bool> {
    compile(pattern, parse_flags(flags)?)?.is_match(text)
}

/// The expression in the syntax tree of the `regex` crate, as `~` or `~*` reads it; none if that cannot tell whether a text matches.
pub fn regex_hir(pattern: &str, fold: bool) -> SqlResult<Option<regex_syntax::hir::Hir>> {
    let Some(Source { translated, flags }) = source(pattern, Flags { fold, ..Flags::default() })?.1 else {
        return Ok(None);
    };
    let mut parser = regex_syntax::ParserBuilder::new();
    parser
        .case_insensitive(flags.fold)
        .multi_line(flags.newline || flags.weird)
        .dot_matches_new_line(!(flags.newline || flags.partial))
        .ignore_whitespace(flags.expanded);
    Ok(parser.build().parse(&translated).ok())
}

/// What the whole of an expression and its groups match, if it matches.
pub fn regex_groups(text: &str, pattern: &str) -> SqlResult<Option<Vec<Option<String>>>> {
    let regex = compile(pattern, Flags::default())?;
    let found = regex.find(text, 0)?;
    Ok(found.map(|found| (0..regex.groups()).map(|i| found.get(i).map(str::to_owned)).collect()))
}

/// The first group of the match, or all of it.
fn substring(text: &str, pattern: &str) -> SqlResult<Option<Datum>> {
    let regex = compile(pattern, Flags::default())?;
    let Some(found) = regex.find(text, 0)? else { return Ok(None) };
    found.get(usize::from(regex.groups() > 1)).map(|part| piece::datum(part.as_bytes())).transpose()
}

fn similar_substring(text: &str, pattern: &str, escape: &str) -> SqlResult<Option<Datum>> {
    let translated = super::like::similar(pattern, Some(escape))?;
    substring(text, &translated)
}

fn optional_text(args: &[Datum], n: usize) -> &str {
    args.get(n).map_or("", <&str>::from_datum)
}

/// A start position from 1, as a byte position; `None` behind the end.
fn start_byte(text: &str, args: &[Datum], n: usize) -> SqlResult<usize> {
    let start = args.get(n).map_or(1, i32::from_datum);
    positive(start, "start")?;
    Ok(char_end(text, start as usize - 1))
}

fn positive(value: i32, name: &str) -> SqlResult<i32> {
    if value < 1 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid value for parameter \"{name}\": {value}"));
    }
    Ok(value)
}

fn replace_flags(text: &str, pattern: &str, new: &str, flags: &str) -> SqlResult<String> {
    if flags.starts_with(|c: char| c.is_ascii_digit()) {
        let c = &flags[..1];
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid regular expression option: \"{c}\"").hint(
            "If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.",
        ));
    }
    replace(text, pattern, new, flags, 1, None)
}

/// Replaces the `n`th match (0: all; not given: the first, or all with `g`).
#[allow(clippy::too_many_arguments)]
fn replace(
    text: &str,
    pattern: &str,
    new: &str,
    flags: &str,
    start: i32,
    n: Option<i32>,
) -> SqlResult<String> {
    let flags = parse_flags(flags)?;
    positive(start, "start")?;
    if n.is_some_and(|n| n < 0) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "invalid value for parameter \"n\": {}",
            n.unwrap_or(0)
        ));
    }
    let which = n.unwrap_or(if flags.global { 0 } else { 1 }) as usize;
    let regex = compile(pattern, flags)?;
    let start = char_end(text, start as usize - 1);
    let mut out = String::new();
    push(&mut out, &text[..start])?;
    let mut done = start;
    let mut count = 0;
    let mut matches = regex.matches(text, start, if which == 0 { usize::MAX } else { which });
    while let Some(found) = matches.next()? {
        count += 1;
        if which == 0 || count == which {
            let whole = found.whole();
            push(&mut out, &text[done..whole.start])?;
            expand(new, &found, &mut out)?;
            done = whole.end;
        }
    }
    push(&mut out, &text[done..])?;
    Ok(out)
}

/// Appends a text, a long one in pieces.
fn push(out: &mut String, text: &str) -> SqlResult<()> {
    if text.len() <= PIECE {
        out.push_str(text);
        return Ok(());
    }
    out.reserve(text.len());
    for piece in piece::texts(text) {
        out.push_str(piece?);
    }
    Ok(())
}

/// Byte position of the character behind, or one past the end.
fn next_char(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

/// `\1` to `\9`, `\&` and `\\` of a replacement.
fn expand(new: &str, found: &Found<'_>, out: &mut String) -> SqlResult<()> {
    let mut rest = new;
    while let Some(at) = rest.find('\\') {
        push(out, &rest[..at])?;
        let mut chars = rest[at + 1..].chars();
        match chars.next() {
            Some('&') => push(out, found.get(0).unwrap_or_default())?,
            Some(d @ '1'..='9') => push(out, found.get(d as usize - '0' as usize).unwrap_or_default())?,
            Some('\\') | None => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
        }
        rest = chars.as_str();
    }
    push(out, rest)
}

/// The groups of a match, or all of it where there are none, as an array.
fn groups(regex: &Compiled, found: &Found<'_>) -> Datum {
    let first = usize::from(regex.groups() > 1);
    crate::array::from_texts((first..regex.groups()).map(|i| found.get(i)))
}

fn first_match(_: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let flags = parse_flags(optional_text(args, 2))?;
    if flags.global {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "regexp_match() does not support the \"global\" option"
        )
        .hint("Use the regexp_matches function instead."));
    }
    let regex = compile(<&str>::from_datum(&args[1]), flags)?;
    let found = regex.find(<&str>::from_datum(&args[0]), 0)?;
    Ok(found.map_or(Datum::Null, |found| groups(&regex, &found)))
}

fn all_matches(_: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    if args.iter().any(Datum::is_null) {
        return Ok(Box::new(Values(std::iter::empty())));
    }
    let flags = parse_flags(optional_text(args, 2))?;
    let text = <&str>::from_datum(&args[0]);
    let regex = compile(<&str>::from_datum(&args[1]), flags)?;
    let mut matches = regex.matches(text, 0, if flags.global { usize::MAX } else { 1 });
    // The parts that a row shows, match by match.
    let first = usize::from(regex.groups() > 1);
    let (mut parts, width) = (Vec::new(), regex.groups() - first);
    while let Some(found) = matches.next()? {
        parts.extend((first..regex.groups()).map(|i| found.range(i).map(short)));
    }
    let bytes = bytes_of(&args[0]);
    let mut rest = parts.into_iter();
    Ok(Box::new(Values(std::iter::from_fn(move || {
        let row: Vec<Option<Short>> = rest.by_ref().take(width).collect();
        (!row.is_empty()).then(|| {
            let texts = row.into_iter().map(|part| part.map_or(Ok(Datum::Null), |part| cut(&bytes, part)));
            Ok(crate::array::from_text_values(texts.collect::<SqlResult<_>>()?))
        })
    }))))
}

/// A range of a text, which is shorter than 4 GiB.
type Short = (u32, u32);

fn short(range: std::ops::Range<usize>) -> Short {
    (range.start as u32, range.end as u32)
}

/// The payload of a text, shared.
fn bytes_of(value: &Datum) -> Bytes {
    match value {
        Datum::Bytes(bytes) => bytes.clone(),
        _ => Bytes::default(),
    }
}

fn cut(bytes: &[u8], (start, end): Short) -> SqlResult<Datum> {
    piece::datum(&bytes[start as usize..end as usize])
}

/// The pieces between matches; an empty match at either end or right behind another splits nothing.
fn split(args: &[Datum], function: &str) -> SqlResult<impl Iterator<Item = SqlResult<Datum>> + use<>> {
    let flags = no_global(parse_flags(optional_text(args, 2))?, function)?;
    let text = <&str>::from_datum(&args[0]);
    let regex = compile(<&str>::from_datum(&args[1]), flags)?;
    let mut out = Vec::new();
    let mut done = 0;
    let mut matches = regex.matches(text, 0, usize::MAX);
    while let Some(found) = matches.next()? {
        let whole = found.whole();
        if whole.is_empty() && (whole.start >= text.len() || whole.start == done) {
            continue;
        }
        out.push(short(done..whole.start));
        done = whole.end;
    }
    out.push(short(done..text.len()));
    let bytes = bytes_of(&args[0]);
    Ok(out.into_iter().map(move |part| cut(&bytes, part)))
}

fn split_to_array(_: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let (mut values, mut pace) = (Vec::new(), Pace::new());
    for value in split(args, "regexp_split_to_array()")? {
        values.push(value?);
        pace.did(32)?;
    }
    Ok(crate::array::from_text_values(values))
}

fn split_to_table(_: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    if args.iter().any(Datum::is_null) {
        return Ok(Box::new(Values(std::iter::empty())));
    }
    Ok(Box::new(Values(split(args, "regexp_split_to_table()")?)))
}

fn like(_: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let flags = no_global(parse_flags(optional_text(args, 2))?, "regexp_like()")?;
    let regex = compile(<&str>::from_datum(&args[1]), flags)?;
    Ok(Datum::Bool(regex.is_match(<&str>::from_datum(&args[0]))?))
}

fn count(_: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let text = <&str>::from_datum(&args[0]);
    let start = start_byte(text, args, 2)?;
    let flags = no_global(parse_flags(optional_text(args, 3))?, "regexp_count()")?;
    let regex = compile(<&str>::from_datum(&args[1]), flags)?;
    let (mut matches, mut count) = (regex.matches(text, start, usize::MAX), 0);
    while matches.next()?.is_some() {
        count += 1;
    }
    Ok(Datum::Int4(count))
}

/// The `n`th match from a start position, and the group asked for.
fn nth(args: &[Datum], n: i32, flags: Flags, group: i32) -> SqlResult<Option<(usize, usize, &str)>> {
    let text = <&str>::from_datum(&args[0]);
    let start = start_byte(text, args, 2)?;
    positive(n, "n")?;
    if group < 0 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid value for parameter \"subexpr\": {group}"));
    }
    let regex = compile(<&str>::from_datum(&args[1]), flags)?;
    let mut matches = regex.matches(text, start, n as usize);
    for _ in 1..n {
        if matches.next()?.is_none() {
            return Ok(None);
        }
    }
    let Some(found) = matches.next()? else { return Ok(None) };
    Ok(found.range(group as usize).map(|r| (r.start, r.end, &text[r])))
}

fn instr(_: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let int = |i: usize, default| args.get(i).map_or(default, i32::from_datum);
    let end_option = int(4, 0);
    if !(0..=1).contains(&end_option) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "invalid value for parameter \"endoption\": {end_option}"
        ));
    }
    let flags = no_global(parse_flags(optional_text(args, 5))?, "regexp_instr()")?;
    let text = <&str>::from_datum(&args[0]);
    Ok(Datum::Int4(nth(args, int(3, 1), flags, int(6, 0))?.map_or(0, |(start, end, _)| {
        let at = if end_option == 1 { end } else { start };
        super::char_count(&text.as_bytes()[..at]) as i32 + 1
    })))
}

fn substr(_: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let int = |i: usize, default| args.get(i).map_or(default, i32::from_datum);
    let flags = no_global(parse_flags(optional_text(args, 4))?, "regexp_substr()")?;
    let found = nth(args, int(3, 1), flags, int(5, 0))?;
    found.map_or(Ok(Datum::Null), |(_, _, text)| piece::datum(text.as_bytes()))
}
