//! Tags, attributes and references.

use super::*;
use crate::tree::Name;

/// An attribute as written.
struct Written<'t> {
    name: &'t str,
    value: Box<str>,
    id: bool,
}

fn split(name: &str) -> (&str, &str) {
    match name.split_once(':') {
        Some((prefix, local)) if !prefix.is_empty() && !local.is_empty() => (prefix, local),
        _ => ("", name),
    }
}

impl<'t> Reader<'t> {
    /// A start tag, or an empty element; whether an element was begun.
    pub(super) fn start_tag(&mut self) -> bool {
        let line = self.line();
        self.at += 1;
        let Some(name) = self.name() else {
            self.wrong("StartTag: invalid element name");
            return false;
        };
        self.check_name(name);
        if self.open.len() >= MOST_DEPTH {
            self.wrong(&format!("Excessive depth in document: {MOST_DEPTH} use XML_PARSE_HUGE option"));
            self.halt();
            return false;
        }
        let written = self.attributes(name);
        let scope = self.scope.len();
        let node = self.element(name, written);
        if self.take("/>") {
            self.scope.truncate(scope);
            // Of a root, too: nothing is open.
            return false;
        }
        if !self.take(">") {
            self.wrong(&format!("Couldn't find end of Start Tag {name} line {line}"));
            self.scope.truncate(scope);
            return false;
        }
        let inherited = self.open.last().is_some_and(|o| o.keep_blanks);
        let keep_blanks = self.space_of(node).unwrap_or(inherited);
        self.open.push(Open { node, name: name.into(), line, scope, keep_blanks });
        true
    }

    /// What `xml:space` says.
    fn space_of(&self, node: NodeId) -> Option<bool> {
        let mut found = None;
        for attribute in self.document.attributes(node) {
            let name = self.document.name(attribute)?;
            if &*name.prefix == "xml"
                && &*name.local == "space"
                && let Kind::Attribute { value, .. } = self.document.kind(attribute)
            {
                found = match &**value {
                    "preserve" => Some(true),
                    "default" => Some(false),
                    _ => None,
                };
            }
        }
        found
    }

    /// More than one colon makes no name with namespaces.
    fn check_name(&mut self, name: &str) {
        let (_, local) = split(name);
        if local.contains(':') && local.len() < name.len() {
            let head = &name[..name.len() - local.len() + local.find(':').map_or(0, |n| n + 1)];
            let at = self.at - name.len() + head.len() - 1;
            self.told(Severity::Namespace, at, &format!("Failed to parse QName '{head}'"));
        }
    }

    fn attributes(&mut self, element: &str) -> Vec<Written<'t>> {
        let mut out: Vec<Written<'t>> = Vec::new();
        self.skip_blanks();
        while self.step() && self.at < self.text.len() && !self.looking_at(">") && !self.looking_at("/>") {
            let Some(name) = self.name() else {
                self.wrong("error parsing attribute name");
                self.wrong("attributes construct error");
                break;
            };
            self.check_name(name);
            if let Some(value) = self.attribute_value(name) {
                let declared = self.declared(element, name);
                let plain = declared.as_ref().is_none_or(|d| d.plain);
                let value = if plain { value } else { collapsed(&value) };
                let id = name == "xml:id" || declared.is_some_and(|d| d.id);
                out.push(Written { name, value: value.into_boxed_str(), id });
            }
            if self.looking_at(">") || self.looking_at("/>") {
                break;
            }
            if !self.skip_blanks() {
                self.wrong("attributes construct error");
                break;
            }
        }
        out
    }

    fn declared(&self, element: &str, attribute: &str) -> Option<Declared> {
        self.dtd.attributes.get(element)?.iter().find(|d| &*d.attribute == attribute).cloned()
    }

    fn attribute_value(&mut self, name: &str) -> Option<String> {
        self.skip_blanks();
        if !self.take("=") {
            self.wrong(&format!("Specification mandate value for attribute {name}"));
            return None;
        }
        self.skip_blanks();
        let Some(quote) = self.peek().filter(|b| matches!(b, b'"' | b'\'')) else {
            self.wrong("AttValue: \" or ' expected");
            return None;
        };
        self.at += 1;
        let mut out = String::new();
        let whole = self.value_text(Some(quote), &mut out);
        whole.then_some(out)
    }

    /// Text of an attribute, up to its quote or the end of an entity's text; whether it is whole.
    fn value_text(&mut self, quote: Option<u8>, out: &mut String) -> bool {
        while self.step() {
            let rest = &self.text[self.at..];
            let special = |b: &u8| matches!(b, b'<' | b'&' | b'\t' | b'\n' | b'\r') || Some(*b) == quote;
            let plain = rest.as_bytes().iter().position(special).unwrap_or(rest.len());
            if let Some((n, c)) = rest[..plain].char_indices().find(|(_, c)| !is_xml_char(*c)) {
                self.at += n;
                self.wrong(&format!("invalid character in attribute value: {}", u32::from(c)));
                return false;
            }
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                None if quote.is_none() => return true,
                None => {
                    self.wrong("AttValue: ' expected");
                    return false;
                }
                Some(b'<') => {
                    self.wrong("Unescaped '<' not allowed in attributes values");
                    return false;
                }
                Some(b'&') => self.value_reference(out),
                Some(b) if Some(b) == quote => {
                    self.at += 1;
                    return true;
                }
                // Ends of lines are one blank each.
                Some(b) => {
                    out.push(' ');
                    self.at += if b == b'\r' && self.looking_at("\r\n") { 2 } else { 1 };
                }
            }
        }
        false
    }

    fn value_reference(&mut self, out: &mut String) {
        if self.looking_at("&#") {
            out.extend(self.character_reference());
            return;
        }
        let Some(name) = self.reference_name() else { return };
        if let Some(c) = predefined(name) {
            return out.push(c);
        }
        self.expand(name, &mut |r| {
            let mut inner = String::new();
            r.value_text(None, &mut inner);
            out.push_str(&inner);
        });
    }

    /// Namespaces and names of an element, and its node.
    fn element(&mut self, name: &str, mut written: Vec<Written<'t>>) -> NodeId {
        let mut declared: Vec<(Box<str>, Box<str>)> = Vec::new();
        let defaults = self.dtd.attributes.get(name).cloned().unwrap_or_default();
        let is_given = |w: &[Written<'_>], d: &Declared| w.iter().any(|w| *w.name == *d.attribute);
        let missing: Vec<_> =
            defaults.into_iter().filter(|d| d.default.is_some() && !is_given(&written, d)).collect();
        for w in &written {
            self.declare(w.name, &w.value, &mut declared);
        }
        for d in &missing {
            self.declare(&d.attribute, d.default.as_deref().unwrap_or_default(), &mut declared);
        }
        self.scope.extend(declared.iter().cloned());
        let is_plain = |name: &str| name != "xmlns" && !name.starts_with("xmlns:");
        written.retain(|w| is_plain(w.name));
        let mut attributes: Vec<(Name, Box<str>, bool)> = Vec::with_capacity(written.len());
        for w in written {
            let attribute = self.attribute_name(w.name, name);
            attributes.push((attribute, w.value, w.id));
        }
        for d in missing.into_iter().filter(|d| is_plain(&d.attribute)) {
            let attribute = self.attribute_name(&d.attribute, name);
            attributes.push((attribute, d.default.unwrap_or_default(), d.id));
        }
        let element = self.element_name(name);
        self.check_unique(&attributes);
        let place = self.place();
        self.document.append_element(place, element, declared, attributes)
    }

    fn declare(&mut self, name: &str, uri: &str, declared: &mut Vec<(Box<str>, Box<str>)>) {
        let prefix = match name.strip_prefix("xmlns") {
            Some("") => "",
            Some(rest) => match rest.strip_prefix(':') {
                Some(prefix) => prefix,
                None => return,
            },
            None => return,
        };
        let at = self.at;
        if declared.iter().any(|(p, _)| **p == *prefix) {
            return self.wrong(&format!("Attribute {name} redefined"));
        }
        if prefix == "xml" {
            if uri != XML_NAMESPACE {
                self.told(Severity::Namespace, at, "xml namespace prefix mapped to wrong URI");
            }
            return;
        }
        if prefix == "xmlns" {
            return self.told(Severity::Namespace, at, "redefinition of the xmlns prefix is forbidden");
        }
        if uri == XML_NAMESPACE {
            let message = match prefix {
                "" => "xml namespace URI cannot be the default namespace",
                _ => "xml namespace URI mapped to wrong prefix",
            };
            return self.told(Severity::Namespace, at, message);
        }
        if uri.is_empty() && !prefix.is_empty() {
            return self.told(
                Severity::Namespace,
                at,
                &format!("{name}: Empty XML namespace is not allowed"),
            );
        }
        if !is_uri(uri) {
            self.told(Severity::Namespace, at, &format!("{name}: '{uri}' is not a valid URI"));
        } else if !uri.is_empty() && !has_scheme(uri) {
            self.told(Severity::Warning, at, &format!("{name}: URI {uri} is not absolute"));
        }
        declared.push((prefix.into(), uri.into()));
    }

    fn uri_of(&self, prefix: &str) -> Option<Box<str>> {
        if prefix == "xml" {
            return Some(XML_NAMESPACE.into());
        }
        self.scope.iter().rev().find(|(p, _)| **p == *prefix).map(|(_, uri)| uri.clone())
    }

    fn element_name(&mut self, name: &str) -> Name {
        let (prefix, local) = split(name);
        match self.uri_of(prefix) {
            Some(uri) => Name { prefix: prefix.into(), local: local.into(), uri },
            None => {
                if !prefix.is_empty() {
                    let message = format!("Namespace prefix {prefix} on {local} is not defined");
                    self.told(Severity::Namespace, self.at, &message);
                }
                // What has no namespace keeps its colon.
                Name { prefix: "".into(), local: name.into(), uri: "".into() }
            }
        }
    }

    fn attribute_name(&mut self, name: &str, element: &str) -> Name {
        let (prefix, local) = split(name);
        if prefix.is_empty() {
            return Name { prefix: "".into(), local: name.into(), uri: "".into() };
        }
        match self.uri_of(prefix) {
            Some(uri) => Name { prefix: prefix.into(), local: local.into(), uri },
            None => {
                let of = split(element).1;
                let message = format!("Namespace prefix {prefix} for {local} on {of} is not defined");
                self.told(Severity::Namespace, self.at, &message);
                Name { prefix: "".into(), local: name.into(), uri: "".into() }
            }
        }
    }

    /// No two attributes have one name.
    fn check_unique(&mut self, attributes: &[(Name, Box<str>, bool)]) {
        let mut seen: FxHashMap<(&str, &str), &str> = FxHashMap::default();
        for (name, ..) in attributes {
            match seen.insert((&name.uri, &name.local), &name.prefix) {
                None => {}
                Some(prefix) if *prefix == *name.prefix => {
                    self.wrong(&format!("Attribute {} redefined", name.qualified()));
                }
                Some(_) => {
                    let message = format!("Namespaced Attribute {} in '{}' redefined", name.local, name.uri);
                    self.told(Severity::Namespace, self.at, &message);
                }
            }
        }
    }

    pub(super) fn end_tag(&mut self) {
        self.at += "</".len();
        let name = self.name();
        self.skip_blanks();
        if !self.take(">") {
            self.wrong("expected '>'");
        }
        let Some(open) = self.open.pop() else { return };
        self.scope.truncate(open.scope);
        if name != Some(&*open.name) {
            let found = name.unwrap_or("unparsable");
            let message =
                format!("Opening and ending tag mismatch: {} line {} and {found}", open.name, open.line);
            self.wrong(&message);
        }
    }

    /// `&#…;`
    fn character_reference(&mut self) -> Option<char> {
        self.at += "&#".len();
        let (radix, word) = match self.take("x") {
            true => (16, "hexadecimal"),
            false => (10, "decimal"),
        };
        let mut value: u32 = 0;
        while let Some(b) = self.peek().filter(|b| *b != b';') {
            match char::from(b).to_digit(radix) {
                Some(digit) => value = value.saturating_mul(radix).saturating_add(digit).min(0x110000),
                None => {
                    self.wrong(&format!("CharRef: invalid {word} value"));
                    value = 0;
                    break;
                }
            }
            self.at += 1;
        }
        self.take(";");
        let c = char::from_u32(value).filter(|c| is_xml_char(*c));
        if c.is_none() {
            self.wrong(&format!("xmlParseCharRef: invalid xmlChar value {value}"));
        }
        c
    }

    /// `&name;`
    fn reference_name(&mut self) -> Option<&'t str> {
        self.at += 1;
        let Some(name) = self.name() else {
            self.wrong("xmlParseEntityRef: no name");
            return None;
        };
        if !self.take(";") {
            self.wrong("EntityRef: expecting ';'");
            return None;
        }
        Some(name)
    }

    /// A reference in content.
    pub(super) fn reference(&mut self) {
        if self.looking_at("&#") {
            if let Some(c) = self.character_reference() {
                let place = self.place();
                self.document.append_text(place, c.encode_utf8(&mut [0; 4]));
            }
            return;
        }
        let Some(name) = self.reference_name() else { return };
        let place = self.place();
        if let Some(c) = predefined(name) {
            return self.document.append_text(place, c.encode_utf8(&mut [0; 4]));
        }
        if self.reading.expand {
            return self.expand(name, &mut |r| r.chunk());
        }
        let known = self.dtd.entities.get(name).and_then(|e| e.value.clone());
        let value = match known {
            Some(value) => self.paid(value),
            None => self.entity_value(name),
        };
        self.document.append(place, Kind::Entity { name: name.into(), value });
    }

    /// The value, if the budget has it.
    fn paid(&mut self, value: Box<str>) -> Box<str> {
        match self.budget.checked_sub(value.len()) {
            Some(left) => {
                self.budget = left;
                value
            }
            None => {
                self.looped();
                "".into()
            }
        }
    }

    fn looped(&mut self) {
        self.wrong("Detected an entity reference loop");
        self.halt();
    }

    /// The text that an entity's content comes to.
    fn entity_value(&mut self, name: &str) -> Box<str> {
        let mut value: Box<str> = "".into();
        self.expand(name, &mut |r| {
            let outer = std::mem::replace(&mut r.document, Document::new());
            let open = std::mem::take(&mut r.open);
            r.chunk();
            r.open = open;
            let inner = std::mem::replace(&mut r.document, outer);
            value = inner.string_value(NodeId::ROOT).into();
        });
        if let Some(entity) = self.dtd.entities.get_mut(name) {
            entity.value = Some(value.clone());
        }
        value
    }

    /// Reads the text of an entity with `read`.
    fn expand(&mut self, name: &str, read: &mut dyn FnMut(&mut Reader<'_>)) {
        let Some(entity) = self.dtd.entities.get_mut(name) else {
            if !self.dtd.incomplete {
                self.wrong(&format!("Entity '{name}' not defined"));
            }
            return;
        };
        let Some(text) = entity.text.clone() else { return };
        let looping = entity.open || self.depth >= MOST_ENTITIES;
        entity.open = true;
        if looping || self.budget < text.len() {
            return self.looped();
        }
        self.budget -= text.len();
        // A reader of its own over the entity's text, which has everything else of this one.
        let mut inner = Reader {
            text: &text,
            at: 0,
            counted: (0, 1),
            reading: self.reading,
            document: std::mem::replace(&mut self.document, Document::new()),
            problems: std::mem::take(&mut self.problems),
            open: std::mem::take(&mut self.open),
            scope: std::mem::take(&mut self.scope),
            dtd: std::mem::take(&mut self.dtd),
            budget: self.budget,
            depth: self.depth + 1,
            halted: false,
            interrupt: None,
            steps: self.steps,
        };
        let before = inner.problems.len();
        read(&mut inner);
        let failed = inner.problems.len() > before;
        let halted = inner.halted;
        (self.document, self.problems, self.open) = (inner.document, inner.problems, inner.open);
        (self.scope, self.dtd, self.budget) = (inner.scope, inner.dtd, inner.budget);
        (self.interrupt, self.steps) = (inner.interrupt, inner.steps);
        if let Some(entity) = self.dtd.entities.get_mut(name) {
            entity.open = false;
        }
        if halted {
            self.wrong("Detected an entity reference loop");
            self.halt();
        } else if failed {
            self.wrong(&format!("Entity '{name}' failed to parse"));
        }
    }
}

const XML_NAMESPACE: &str = crate::xpath::XML_NAMESPACE;

fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

/// Blanks of a value that is no plain text.
fn collapsed(value: &str) -> String {
    value.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_uri(uri: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || "-_.~:/?#[]@!$&'()*+,;=%".contains(c);
    uri.chars().all(fine)
}

fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}
