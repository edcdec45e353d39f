//! Text to tree.
//!
//! What: the productions of XML 1.0 and its namespaces, read as libxml2 reads them: after most problems reading goes on, so that the same
//! problems are told at the same places.
//!
//! Invariants:
//! 1. Open elements are a list, not frames: their number costs no stack. Entities in entities do; they nest [`MOST_ENTITIES`] deep.
//! 2. What entities stand for is paid from one budget for the whole document.

mod dtd;
mod markup;

use rustc_hash::FxHashMap;

use crate::chars::{is_blank, is_name_char, is_name_start, is_xml_char};
use crate::error::{Problem, Severity, problem};
use crate::tree::{Document, Kind, NodeId};

/// Elements in each other.
pub const MOST_DEPTH: usize = 256;

/// Entities in each other.
const MOST_ENTITIES: usize = 40;

/// Problems that are told.
const MOST_PROBLEMS: usize = 50;

/// Bytes that entities may come to in any document, and for each of its bytes.
const FREE_EXPANSION: usize = 1 << 20;
const EXPANSION: usize = 10;

/// Steps between two looks for interrupts.
const PACE: usize = 256;

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Text in the place of entities, not the entities.
    pub expand: bool,
    /// Blanks between elements are left out.
    pub drop_blanks: bool,
}

/// What a text is.
pub struct Outcome {
    /// The tree, as far as the text could be read.
    pub document: Document,
    /// What is wrong with the text.
    pub problems: Vec<Problem>,
}

impl Outcome {
    /// Whether the text is well-formed, namespaces apart.
    pub fn is_well_formed(&self) -> bool {
        !self.problems.iter().any(|p| p.severity == Severity::Syntax)
    }
}

/// Reads a document.
pub fn read(text: &str, reading: Reading) -> Result<Outcome, runtime::Interrupt> {
    let mut reader = Reader::new(text, reading);
    reader.document_text();
    reader.done()
}

/// Reads content: any number of elements and texts.
pub fn read_content(text: &str, reading: Reading) -> Result<Outcome, runtime::Interrupt> {
    let mut reader = Reader::new(text, reading);
    reader.chunk();
    reader.done()
}

/// An entity of the DTD.
struct Entity {
    /// What it stands for; none if it is outside.
    text: Option<Box<str>>,
    /// Being expanded.
    open: bool,
    /// What its text comes to, once that is known.
    value: Option<Box<str>>,
}

/// What the DTD says of an attribute of an element.
#[derive(Clone)]
struct Declared {
    attribute: Box<str>,
    default: Option<Box<str>>,
    plain: bool,
    id: bool,
}

#[derive(Default)]
struct Dtd {
    entities: FxHashMap<Box<str>, Entity>,
    attributes: FxHashMap<Box<str>, Vec<Declared>>,
    /// There is more of it, outside or in parameter entities.
    incomplete: bool,
}

/// An element that is open.
struct Open {
    node: NodeId,
    name: Box<str>,
    line: u32,
    /// Namespaces in scope before it.
    scope: usize,
    keep_blanks: bool,
}

/// Reading under way. `text` is an entity's while that is expanded.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// A byte up to which lines are counted, and the line there.
    counted: (usize, u32),
    reading: Reading,
    document: Document,
    problems: Vec<Problem>,
    open: Vec<Open>,
    /// Prefixes and namespaces in scope, innermost last.
    scope: Vec<(Box<str>, Box<str>)>,
    dtd: Dtd,
    budget: usize,
    depth: usize,
    halted: bool,
    interrupt: Option<runtime::Interrupt>,
    steps: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, reading: Reading) -> Reader<'t> {
        Reader {
            text,
            at: 0,
            counted: (0, 1),
            reading,
            document: Document::new(),
            problems: Vec::new(),
            open: Vec::new(),
            scope: Vec::new(),
            dtd: Dtd::default(),
            budget: FREE_EXPANSION.max(text.len().saturating_mul(EXPANSION)),
            depth: 0,
            halted: false,
            interrupt: None,
            steps: 0,
        }
    }

    fn done(self) -> Result<Outcome, runtime::Interrupt> {
        match self.interrupt {
            Some(interrupt) => Err(interrupt),
            None => Ok(Outcome { document: self.document, problems: self.problems }),
        }
    }

    // Bytes and characters.

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn looking_at(&self, what: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(what.as_bytes())
    }

    /// Goes past a text if it stands here.
    fn take(&mut self, what: &str) -> bool {
        let there = self.looking_at(what);
        if there {
            self.at += what.len();
        }
        there
    }

    /// Whether there were any.
    fn skip_blanks(&mut self) -> bool {
        let from = self.at;
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
        self.at > from
    }

    fn line(&mut self) -> u32 {
        let (from, line) = self.counted;
        let (from, line) = if from <= self.at { (from, line) } else { (0, 1) };
        let more = self.text.as_bytes()[from..self.at].iter().filter(|b| **b == b'\n').count() as u32;
        self.counted = (self.at, line + more);
        line + more
    }

    fn told(&mut self, severity: Severity, at: usize, message: &str) {
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let line = self.line();
        self.problems.push(problem(severity, self.text, at, line, message));
    }

    /// The text is not well-formed.
    fn wrong(&mut self, message: &str) {
        self.told(Severity::Syntax, self.at, message);
    }

    fn halt(&mut self) {
        self.halted = true;
        self.at = self.text.len();
    }

    /// A look for interrupts now and then; false when reading is over.
    fn step(&mut self) -> bool {
        self.steps += 1;
        if self.steps.is_multiple_of(PACE)
            && let Err(interrupt) = runtime::check_interrupts()
        {
            self.interrupt = Some(interrupt);
            self.halt();
        }
        !self.halted
    }

    /// A name, with its colons.
    fn name(&mut self) -> Option<&'t str> {
        let rest = &self.text[self.at..];
        let first = rest.chars().next().filter(|c| is_name_start(*c))?;
        let length = rest[first.len_utf8()..].find(|c| !is_name_char(c));
        let length = length.map_or(rest.len(), |n| n + first.len_utf8());
        self.at += length;
        Some(&rest[..length])
    }

    // Whole texts.

    fn document_text(&mut self) {
        if self.text.is_empty() {
            self.wrong("switching encoding : no input");
            self.wrong("Document is empty");
            return;
        }
        self.take("\u{FEFF}");
        if self.looking_at("<?xml") && self.text.as_bytes().get(self.at + 5).copied().is_some_and(is_blank) {
            self.xml_declaration();
        }
        self.misc();
        if self.looking_at("<!DOCTYPE") {
            self.doctype();
            self.misc();
        }
        if self.peek() != Some(b'<') {
            self.wrong("Start tag expected, '<' not found");
            return;
        }
        if self.start_tag() {
            self.content(0, true);
        }
        self.misc();
        if self.at < self.text.len() {
            self.wrong("Extra content at the end of the document");
            self.halt();
        }
    }

    /// `<?xml …?>` at the start of a document.
    fn xml_declaration(&mut self) {
        self.at += "<?xml".len();
        self.skip_blanks();
        if self.pseudo_attribute("version").is_none() {
            self.wrong("Malformed declaration expecting version");
        }
        self.skip_blanks();
        self.pseudo_attribute("encoding");
        self.skip_blanks();
        let standalone = self.pseudo_attribute("standalone");
        if standalone.is_some_and(|s| s != "yes" && s != "no") {
            self.wrong("standalone accepts only 'yes' or 'no'");
        }
        self.skip_blanks();
        if !self.take("?>") {
            self.wrong("parsing XML declaration: '?>' expected");
            match self.text[self.at..].find('>') {
                Some(n) => self.at += n + 1,
                None => self.at = self.text.len(),
            }
        }
    }

    fn pseudo_attribute(&mut self, name: &str) -> Option<&'t str> {
        if !self.take(name) {
            return None;
        }
        self.skip_blanks();
        if !self.take("=") {
            return None;
        }
        self.skip_blanks();
        let quote = self.peek().filter(|b| matches!(b, b'"' | b'\''))?;
        let rest = &self.text[self.at + 1..];
        let end = rest.find(char::from(quote))?;
        self.at += end + 2;
        Some(&rest[..end])
    }

    /// Comments, instructions and blanks.
    fn misc(&mut self) {
        while self.step() {
            if self.looking_at("<?") {
                self.instruction();
            } else if self.looking_at("<!--") {
                self.comment();
            } else if !self.skip_blanks() {
                return;
            }
        }
    }

    // Content.

    /// Content within `bottom` open elements: up to the end of the text or a tag that closes one of those; of a document (`whole`), up to
    /// where its root is closed.
    fn content(&mut self, bottom: usize, whole: bool) {
        while self.at < self.text.len() && self.step() && !(whole && self.open.len() == bottom) {
            let before = (self.at, self.open.len());
            match self.peek() {
                Some(b'<') if self.looking_at("<?") => self.instruction(),
                Some(b'<') if self.looking_at("<![CDATA[") => self.cdata(),
                Some(b'<') if self.looking_at("<!--") => self.comment(),
                Some(b'<') if self.looking_at("</") => {
                    if self.open.len() == bottom {
                        return;
                    }
                    self.end_tag();
                }
                Some(b'<') => {
                    self.start_tag();
                }
                Some(b'&') => self.reference(),
                _ => self.characters(),
            }
            debug_assert!(self.halted || before != (self.at, self.open.len()));
        }
        while self.open.len() > bottom && !self.halted {
            let Some(open) = self.open.pop() else { return };
            self.wrong(&format!("Premature end of data in tag {} line {}", open.name, open.line));
        }
    }

    /// Content that is to be balanced in itself.
    fn chunk(&mut self) {
        let bottom = self.open.len();
        self.content(bottom, false);
        if self.looking_at("</") {
            self.wrong("chunk is not well balanced");
        }
        self.open.truncate(bottom);
    }

    /// The node that content goes to.
    fn place(&self) -> NodeId {
        self.open.last().map_or(NodeId::ROOT, |o| o.node)
    }

    fn characters(&mut self) {
        let from = self.at;
        let rest = &self.text.as_bytes()[from..];
        let mut length = rest.iter().position(|b| matches!(b, b'<' | b'&')).unwrap_or(rest.len());
        let run = &self.text[from..from + length];
        let bad_end = run.find("]]>");
        let bad_char = run.char_indices().find(|(_, c)| !is_xml_char(*c));
        if let Some(n) = bad_end.filter(|n| bad_char.is_none_or(|(m, _)| *n < m)) {
            self.wrong("Sequence ']]>' not allowed in content");
            self.at += n;
            self.wrong("Sequence ']]>' not allowed in content");
            self.wrong("internal error: detected an error in element content");
            return self.halt();
        }
        if let Some((n, c)) = bad_char {
            self.at += n;
            self.wrong(&format!("PCDATA invalid Char value {}", u32::from(c)));
            self.at += c.len_utf8();
            length = n;
        } else {
            self.at += length;
        }
        self.add_text(&self.text[from..from + length]);
    }

    fn add_text(&mut self, text: &str) {
        if !self.is_ignorable(text) {
            let place = self.place();
            match text.contains('\r') {
                true => self.document.append_text(place, &text.replace("\r\n", "\n").replace('\r', "\n")),
                false => self.document.append_text(place, text),
            }
        }
    }

    /// Whether text is blanks that are left out: between elements, or before the first one.
    fn is_ignorable(&self, text: &str) -> bool {
        if !self.reading.drop_blanks || !text.bytes().all(is_blank) || self.peek() != Some(b'<') {
            return false;
        }
        let Some(open) = self.open.last() else { return false };
        let is_text =
            |n| matches!(self.document.kind(n), Kind::Text(_) | Kind::Cdata(_) | Kind::Entity { .. });
        if open.keep_blanks {
            return false;
        }
        match (self.document.first_child(open.node), self.document.last_child(open.node)) {
            (Some(first), Some(last)) => !is_text(last) && !is_text(first),
            _ => !self.looking_at("</"),
        }
    }

    fn cdata(&mut self) {
        self.at += "<![CDATA[".len();
        let rest = &self.text[self.at..];
        match rest.find("]]>") {
            Some(end) => {
                let place = self.place();
                self.document.append(place, Kind::Cdata(rest[..end].into()));
                self.at += end + 3;
            }
            None => {
                self.at = self.text.len();
                self.wrong(&format!("CData section not finished\n{}", first_chars(rest)));
            }
        }
    }

    fn comment(&mut self) {
        self.at += "<!--".len();
        let from = self.at;
        let rest = &self.text[from..];
        let end = rest.find("-->");
        let inside = &rest[..end.unwrap_or(rest.len())];
        // `--->` is a double hyphen, too.
        if let Some(n) = inside.find("--").or_else(|| inside.ends_with('-').then(|| inside.len() - 1)) {
            self.at = from + n;
            let message = format!("Double hyphen within comment: <!--{}", first_chars(&inside[..n]));
            self.wrong(&message);
        }
        match end {
            Some(end) => {
                let place = self.place();
                self.document.append(place, Kind::Comment(inside.into()));
                self.at = from + end + 3;
            }
            None => {
                self.at = self.text.len();
                self.wrong("Comment not terminated");
            }
        }
    }

    fn instruction(&mut self) {
        self.at += "<?".len();
        let Some(target) = self.name() else {
            return self.wrong("xmlParsePI : no target name");
        };
        if target == "xml" {
            self.wrong("XML declaration allowed only at the start of the document");
        } else if target.eq_ignore_ascii_case("xml") {
            self.wrong("xmlParsePI: invalid name prefix 'xml'");
        }
        let place = self.place();
        if self.take("?>") {
            self.document.append(place, Kind::Instruction { target: target.into(), data: "".into() });
            return;
        }
        if !self.skip_blanks() {
            self.wrong(&format!("ParsePI: PI {target} space expected"));
        }
        let rest = &self.text[self.at..];
        match rest.find("?>") {
            Some(end) => {
                let data = rest[..end].into();
                self.document.append(place, Kind::Instruction { target: target.into(), data });
                self.at += end + 2;
            }
            None => {
                self.at = self.text.len();
                self.wrong(&format!("ParsePI: PI {target} never end ..."));
            }
        }
    }
}

/// As much of a text as messages show.
fn first_chars(text: &str) -> &str {
    &text[..text.floor_char_boundary(50)]
}
