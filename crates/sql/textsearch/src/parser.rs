//! # What
//! The default parser: takes a text apart into words, numbers, hosts, files and what else people write, and what stands between.
//!
//! A token is looked for by what may begin where it begins: each kind has a function that says how far it reaches, and the first kind that
//! fits is taken. Hyphenated words and URLs are given whole and then again in their parts.
//!
//! # PostgreSQL counterpart and differences
//! `wparser_def.c`, which is an automaton. The tokens are the same.

use std::cell::{Cell, RefCell};

use runtime::pace::{PIECE, Pace};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Kinds of tokens, by their numbers.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    AsciiWord = 1,
    Word,
    NumWord,
    Email,
    Url,
    Host,
    ScientificFloat,
    Version,
    HyphenNumPart,
    HyphenPart,
    HyphenAsciiPart,
    Blank,
    Tag,
    Protocol,
    NumHyphenWord,
    AsciiHyphenWord,
    HyphenWord,
    UrlPath,
    File,
    Float,
    Int,
    UnsignedInt,
    Entity,
}

impl Kind {
    /// The one with this number.
    pub fn of(number: i32) -> Option<Kind> {
        KINDS.get(usize::try_from(number).ok()?.checked_sub(1)?).map(|(kind, ..)| *kind)
    }
}

/// All kinds in the order of their numbers, with name and description.
pub const KINDS: [(Kind, &str, &str); 23] = [
    (Kind::AsciiWord, "asciiword", "Word, all ASCII"),
    (Kind::Word, "word", "Word, all letters"),
    (Kind::NumWord, "numword", "Word, letters and digits"),
    (Kind::Email, "email", "Email address"),
    (Kind::Url, "url", "URL"),
    (Kind::Host, "host", "Host"),
    (Kind::ScientificFloat, "sfloat", "Scientific notation"),
    (Kind::Version, "version", "Version number"),
    (Kind::HyphenNumPart, "hword_numpart", "Hyphenated word part, letters and digits"),
    (Kind::HyphenPart, "hword_part", "Hyphenated word part, all letters"),
    (Kind::HyphenAsciiPart, "hword_asciipart", "Hyphenated word part, all ASCII"),
    (Kind::Blank, "blank", "Space symbols"),
    (Kind::Tag, "tag", "XML tag"),
    (Kind::Protocol, "protocol", "Protocol head"),
    (Kind::NumHyphenWord, "numhword", "Hyphenated word, letters and digits"),
    (Kind::AsciiHyphenWord, "asciihword", "Hyphenated word, all ASCII"),
    (Kind::HyphenWord, "hword", "Hyphenated word, all letters"),
    (Kind::UrlPath, "url_path", "URL path"),
    (Kind::File, "file", "File or path name"),
    (Kind::Float, "float", "Decimal notation"),
    (Kind::Int, "int", "Signed integer"),
    (Kind::UnsignedInt, "uint", "Unsigned integer"),
    (Kind::Entity, "entity", "XML entity"),
];

/// A part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// What it is.
    pub kind: Kind,
    /// As it stands in the text.
    pub text: &'t str,
}

/// Gives the tokens of a text one by one.
pub struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// Where the whole ends whose parts come next, and what it is.
    whole: Option<(usize, Whole)>,
    /// A place where a hyphen is not a minus sign, because a hyphenated word has just ended there.
    no_sign_at: usize,
    failed: Failed,
    pace: RefCell<Pace>,
}

/// How far looks went in vain that would go the same way from places in between, so that no text takes more than linear time.
#[derive(Default)]
struct Failed {
    email: Cell<usize>,
    host: Cell<usize>,
    path: Cell<usize>,
    /// From where on no comment ends, and one more.
    comment: Cell<usize>,
}

/// What is given again in parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Hyphenated,
    Url,
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || !c.is_ascii() && c.is_numeric()
}

/// Whether a character is part of a word, but begins none.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Mark
}

/// Which characters a word has.
#[derive(Clone, Copy, Default)]
struct Letters {
    beyond_ascii: bool,
    digits: bool,
    any: bool,
}

impl Letters {
    fn add(&mut self, other: Letters) {
        self.beyond_ascii |= other.beyond_ascii;
        self.digits |= other.digits;
        self.any |= other.any;
    }

    /// The kind of three that fits.
    fn kind(self, ascii: Kind, letters: Kind, digits: Kind) -> Kind {
        match (self.digits, self.beyond_ascii) {
            (true, _) => digits,
            (_, true) => letters,
            _ => ascii,
        }
    }
}

impl<'t> Iterator for Parser<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        if self.at >= self.text.len() {
            return None;
        }
        let (kind, end) = match self.whole {
            Some((end, Whole::Hyphenated)) => self.hyphenated_part(end),
            Some((end, Whole::Url)) => self.url_part(end),
            None => self.token(),
        };
        let start = self.at;
        let text = &self.text[start..end];
        match kind {
            Kind::AsciiHyphenWord | Kind::HyphenWord | Kind::NumHyphenWord => {
                self.whole = Some((end, Whole::Hyphenated));
                self.no_sign_at = end;
            }
            Kind::Url => self.whole = Some((end, Whole::Url)),
            _ => {
                self.at = end;
                if self.whole.is_some_and(|(whole, _)| whole <= end) {
                    self.whole = None;
                }
            }
        }
        Some(Token { kind, text })
    }
}

impl<'t> Parser<'t> {
    /// Begins at the start of a text.
    pub fn new(text: &'t str) -> Parser<'t> {
        Parser {
            text,
            at: 0,
            whole: None,
            no_sign_at: usize::MAX,
            failed: Failed::default(),
            pace: RefCell::new(Pace::new()),
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn char(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn run(&self, from: usize, mut fits: impl FnMut(u8) -> bool) -> usize {
        let mut end = from;
        for piece in self.text.as_bytes()[from.min(self.text.len())..].chunks(PIECE) {
            let length = piece.iter().take_while(|b| fits(**b)).count();
            end += length;
            if length < piece.len() {
                break;
            }
            self.pace.borrow_mut().pass(length);
        }
        end
    }

    fn digits(&self, from: usize) -> usize {
        self.run(from, |b| b.is_ascii_digit())
    }

    fn hyphenated_part(&self, _end: usize) -> (Kind, usize) {
        if self.byte(self.at) == b'-' {
            return (Kind::Blank, self.at + 1);
        }
        let (end, letters) = self.word(self.at);
        (letters.kind(Kind::HyphenAsciiPart, Kind::HyphenPart, Kind::HyphenNumPart), end)
    }

    fn url_part(&self, end: usize) -> (Kind, usize) {
        if self.byte(self.at) == b'/' {
            return (Kind::UrlPath, end);
        }
        (Kind::Host, self.host(self.at).map_or(end, |host| self.port(host)))
    }

    /// The token that begins here.
    fn token(&self) -> (Kind, usize) {
        let at = self.at;
        let first = self.char(at).unwrap_or(' ');
        let found = match first {
            '<' => self.tag(at).map(|end| (Kind::Tag, end)),
            '&' => self.entity(at).map(|end| (Kind::Entity, end)),
            '-' if at == self.no_sign_at => None,
            '-' | '+' => self.signed(at),
            '~' => self.home(at).map(|end| (Kind::File, end)),
            '/' => self.path(at).map(|end| (Kind::File, end)),
            '.' => self.relative(at).map(|end| (Kind::File, end)),
            _ if first.is_ascii_digit() => Some(self.number(at)),
            _ if is_letter(first) => Some(self.words(at)),
            _ => None,
        };
        found.unwrap_or_else(|| (Kind::Blank, self.blank(at)))
    }

    /// The end of a token whose first character begins no other kind of token.
    fn blank(&self, from: usize) -> usize {
        let mut end = from + self.char(from).map_or(1, char::len_utf8);
        while let Some(c) = self.char(end) {
            if matches!(c, '<' | '-' | '+' | '&' | '/') || c.is_ascii_digit() || is_letter(c) {
                break;
            }
            end += c.len_utf8();
            self.pace.borrow_mut().pass(1);
        }
        end
    }

    /// The end of a run of letters, digits and marks, and what it has of them.
    fn word(&self, from: usize) -> (usize, Letters) {
        let (mut end, mut letters) = (from, Letters::default());
        while let Some(c) = self.char(end) {
            if c.is_ascii_digit() {
                letters.digits = true;
            } else if is_letter(c) || is_mark(c) && end > from {
                letters.any = true;
                letters.beyond_ascii |= !c.is_ascii();
            } else {
                break;
            }
            end += c.len_utf8();
            self.pace.borrow_mut().pass(1);
        }
        (end, letters)
    }

    /// What begins with a letter, or with digits and a letter.
    fn words(&self, at: usize) -> (Kind, usize) {
        if let Some(found) = self.address(at) {
            return found;
        }
        let (end, letters) = self.word(at);
        if !letters.digits && !letters.beyond_ascii && self.text[end..].starts_with("://") {
            return (Kind::Protocol, end + 3);
        }
        if let Some(found) = self.hyphenated(end, letters) {
            return found;
        }
        (letters.kind(Kind::AsciiWord, Kind::Word, Kind::NumWord), end)
    }

    /// An email, a host with or without a path, or a file.
    fn address(&self, at: usize) -> Option<(Kind, usize)> {
        if let Some(end) = self.email(at) {
            return Some((Kind::Email, end));
        }
        if let Some(host) = self.host(at) {
            let host = self.port(host);
            return Some(match self.url_path(host) {
                Some(end) => (Kind::Url, end),
                None => (Kind::Host, host),
            });
        }
        self.file(at).map(|end| (Kind::File, end))
    }

    fn email(&self, at: usize) -> Option<usize> {
        if at < self.failed.email.get() {
            return None;
        }
        let (mut local, letters) = self.word(at);
        if letters.beyond_ascii && !letters.digits {
            return None;
        }
        if !letters.beyond_ascii {
            local = self.run(at, |b| b.is_ascii_alphanumeric());
            while matches!(self.byte(local), b'.' | b'_' | b'-')
                && self.byte(local + 1).is_ascii_alphanumeric()
            {
                local = self.run(local + 1, |b| b.is_ascii_alphanumeric());
            }
        }
        let host = if self.byte(local) == b'@' { self.host(local + 1) } else { None };
        if host.is_none() && !letters.beyond_ascii {
            self.failed.email.set(local);
        }
        host
    }

    /// `a.bc`: the last label has letters only, and two of them at least.
    fn host(&self, at: usize) -> Option<usize> {
        if at < self.failed.host.get() {
            return None;
        }
        let (mut label, mut found) = (at, None);
        let stop = loop {
            let letters = self.run(label, |b| b.is_ascii_alphabetic());
            if label > at && letters >= label + 2 && !self.byte(letters).is_ascii_digit() {
                found = Some(letters);
            }
            let mut end = self.run(label, |b| b.is_ascii_alphanumeric());
            // A hyphen or underscore stands between letters or digits.
            while end > label
                && matches!(self.byte(end), b'_' | b'-')
                && self.byte(end + 1).is_ascii_alphanumeric()
            {
                end = self.run(end + 1, |b| b.is_ascii_alphanumeric());
            }
            if end == label || self.byte(end) != b'.' {
                break end;
            }
            label = end + 1;
        };
        if found.is_none() {
            self.failed.host.set(stop);
        }
        found
    }

    /// `:80` behind a host.
    fn port(&self, host: usize) -> usize {
        let end = self.digits(host + 1);
        if self.byte(host) == b':' && end > host + 1 { end } else { host }
    }

    fn url_path(&self, at: usize) -> Option<usize> {
        let end = self.run(at, |b| b.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&b));
        (self.byte(at) == b'/' && end > at + 1).then_some(end)
    }

    /// `a/b` or `a.b`
    fn file(&self, at: usize) -> Option<usize> {
        let (word, letters) = self.word(at);
        if letters.beyond_ascii && !letters.digits {
            return None;
        }
        match self.byte(word) {
            b'/' => self.path(word),
            b'.' if letters.any && is_file_start(self.byte(word + 1)) => Some(self.file_rest(word + 1)),
            _ => None,
        }
    }

    /// The end of a file whose next part begins here.
    fn file_rest(&self, at: usize) -> usize {
        let end = self.file_name(at);
        self.path(end).unwrap_or(end)
    }

    /// The end of one part of a file's name.
    fn file_name(&self, at: usize) -> usize {
        let mut end = at;
        loop {
            end = self.run(end, |b| is_file_start(b) || b == b'-');
            if self.byte(end) != b'.' || !is_file_start(self.byte(end + 1)) {
                return end;
            }
            end += 1;
            self.pace.borrow_mut().pass(1);
        }
    }

    /// `/a/b`
    fn path(&self, slash: usize) -> Option<usize> {
        if slash < self.failed.path.get() {
            return None;
        }
        let (mut at, mut found) = (slash, None);
        loop {
            self.pace.borrow_mut().pass(1);
            let end = match (self.byte(at), self.byte(at + 1), self.byte(at + 2)) {
                (b'/', b'.', b'/') => {
                    at += 2;
                    continue;
                }
                (b'/', b'.', b'.') if self.ends_parent(at + 3) => at + 3,
                (b'/', b'.', next) if is_file_start(next) => self.file_name(at + 2),
                (b'/', next, _) if is_file_start(next) => self.file_name(at + 1),
                _ => break,
            };
            (at, found) = (end, Some(end));
        }
        if found.is_none() {
            self.failed.path.set(at);
        }
        found
    }

    /// Whether `..` may end here.
    fn ends_parent(&self, at: usize) -> bool {
        self.char(at).is_none_or(|c| c == '/' || c.is_whitespace())
    }

    /// `./a` or `../a`
    fn relative(&self, at: usize) -> Option<usize> {
        match self.byte(at + 1) {
            b'.' if self.ends_parent(at + 2) => Some(self.path(at + 2).unwrap_or(at + 2)),
            b'.' => None,
            _ => self.path(at + 1),
        }
    }

    /// `~a` or `~/a`
    fn home(&self, at: usize) -> Option<usize> {
        match is_file_start(self.byte(at + 1)) {
            true => Some(self.file_rest(at + 1)),
            false => self.path(at + 1),
        }
    }

    /// The hyphenated word whose first part ends here.
    fn hyphenated(&self, first: usize, mut letters: Letters) -> Option<(Kind, usize)> {
        let (mut end, mut parts) = (first, 0);
        while self.byte(end) == b'-' {
            let (next, found) = self.word(end + 1);
            if !found.any {
                break;
            }
            letters.add(found);
            (end, parts) = (next, parts + 1);
        }
        let kind = letters.kind(Kind::AsciiHyphenWord, Kind::HyphenWord, Kind::NumHyphenWord);
        (parts > 0).then_some((kind, end))
    }

    /// What begins with a digit.
    fn number(&self, at: usize) -> (Kind, usize) {
        if let Some(found) = self.address(at).filter(|(kind, _)| *kind != Kind::File) {
            return found;
        }
        let end = self.digits(at);
        if let Some(found) = self.fraction(end) {
            return found;
        }
        if let Some(end) = self.exponent(end) {
            return (Kind::ScientificFloat, end);
        }
        if self.char(end).is_some_and(|c| is_letter(c) || is_mark(c)) {
            return self.words(at);
        }
        if let Some(end) = self.file(at) {
            return (Kind::File, end);
        }
        (Kind::UnsignedInt, end)
    }

    /// `.5`, `.5e3` or `.5.6` behind digits.
    fn fraction(&self, whole: usize) -> Option<(Kind, usize)> {
        let (mut end, mut dots) = (whole, 0);
        while self.byte(end) == b'.' && self.byte(end + 1).is_ascii_digit() {
            end = self.digits(end + 1);
            dots += 1;
        }
        match dots {
            0 => None,
            1 => Some(match self.exponent(end) {
                Some(end) => (Kind::ScientificFloat, end),
                None => (Kind::Float, end),
            }),
            _ => Some((Kind::Version, end)),
        }
    }

    /// `e5`, `e+5`
    fn exponent(&self, at: usize) -> Option<usize> {
        if !matches!(self.byte(at), b'e' | b'E') {
            return None;
        }
        let digits = at + 1 + usize::from(matches!(self.byte(at + 1), b'+' | b'-'));
        let end = self.digits(digits);
        (end > digits).then_some(end)
    }

    /// `-5`; but `-` of a version stands alone.
    fn signed(&self, at: usize) -> Option<(Kind, usize)> {
        let whole = self.digits(at + 1);
        if whole == at + 1 {
            return None;
        }
        Some(match self.fraction(whole) {
            Some((Kind::Version, _)) => (Kind::Blank, at + 1),
            Some(found) => found,
            None => match self.exponent(whole) {
                Some(end) => (Kind::ScientificFloat, end),
                None => (Kind::Int, whole),
            },
        })
    }

    /// `&amp;`, `&#12;`, `&#x1F;`
    fn entity(&self, at: usize) -> Option<usize> {
        let (from, end) = match (self.byte(at + 1), self.byte(at + 2)) {
            (b'#', b'x' | b'X') => (at + 3, self.run(at + 3, |b| b.is_ascii_hexdigit())),
            (b'#', _) => (at + 2, self.digits(at + 2)),
            (first, _) if first.is_ascii_alphabetic() || matches!(first, b':' | b'_') => {
                let mut end = at + 1;
                while let Some(c) = self.char(end) {
                    if !(c.is_ascii_digit() || is_letter(c) || matches!(c, ':' | '_' | '.' | '-')) {
                        break;
                    }
                    end += c.len_utf8();
                }
                (at + 1, end)
            }
            _ => return None,
        };
        (end > from && self.byte(end) == b';').then_some(end + 1)
    }

    /// `<a b="c">`, `</a>`, `<!-- a -->`, `<?xml ?>`
    fn tag(&self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        if rest.starts_with("<!--") {
            return self.comment(at + 4);
        }
        let (from, named) = match (self.byte(at + 1), self.byte(at + 2)) {
            (b'/', next) if next.is_ascii_alphabetic() => (at + 2, true),
            (b'!', b'd' | b'D') | (b'?', b'x') => (at + 3, false),
            (next, _) if next.is_ascii_alphabetic() || matches!(next, b':' | b'_') => (at + 1, true),
            _ => return None,
        };
        let from = if named { self.tag_name(from)? } else { from };
        self.tag_end(from)
    }

    fn comment(&self, from: usize) -> Option<usize> {
        let in_vain = self.failed.comment.get();
        if in_vain > 0 && from >= in_vain - 1 {
            return None;
        }
        let mut at = from;
        loop {
            at = self.run(at, |b| b != b'-');
            if at >= self.text.len() {
                self.failed.comment.set(from + 1);
                return None;
            }
            if self.text.as_bytes()[at..].starts_with(b"-->") {
                return Some(at + 3);
            }
            at += 1;
            self.pace.borrow_mut().pass(1);
        }
    }

    /// The end of a tag's name.
    fn tag_name(&self, from: usize) -> Option<usize> {
        let mut end = from;
        while let Some(c) = self.char(end) {
            match c {
                '>' => return Some(end),
                '/' => return (self.byte(end + 1) == b'>').then_some(end + 1),
                c if c.is_whitespace() => return Some(end),
                '.' | '-' | ':' | '_' => {}
                c if c.is_ascii_digit() || is_letter(c) => {}
                _ => return None,
            }
            end += c.len_utf8();
        }
        None
    }

    /// The end of a tag behind its name. What is in quotes to the end of the text is looked at once for each kind of quote.
    fn tag_end(&self, from: usize) -> Option<usize> {
        let (mut quote, mut escaped) = (None, false);
        for (i, b) in (from..).zip(self.text.as_bytes()[from..].iter().copied()) {
            self.pace.borrow_mut().pass(1);
            match (quote, b) {
                (Some(_), _) if escaped => escaped = false,
                (Some(_), b'\\') => escaped = true,
                (Some(open), b) => quote = Some(open).filter(|open| *open != b),
                (None, b'"' | b'\'') => quote = Some(b),
                (None, b'>') => return Some(i + 1),
                (None, b) if b.is_ascii_alphanumeric() || b"#%&-./:=?_~".contains(&b) => {}
                (None, b) if b.is_ascii_whitespace() || b == 11 => {}
                _ => return None,
            }
        }
        None
    }
}

/// Whether a part of a file's name may begin with it.
fn is_file_start(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
