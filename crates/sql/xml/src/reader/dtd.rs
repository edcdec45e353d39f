//! `<!DOCTYPE …>`: entities and attributes with defaults; declarations of elements and notations are skipped.

use super::*;

impl Reader<'_> {
    pub(super) fn doctype(&mut self) {
        let from = self.at;
        self.at += "<!DOCTYPE".len();
        self.skip_blanks();
        if self.name().is_none() {
            self.wrong("xmlParseDocTypeDecl : no DOCTYPE name !");
        }
        self.skip_blanks();
        if self.external_id() {
            self.dtd.incomplete = true;
        }
        self.skip_blanks();
        if self.take("[") && !self.subset() {
            self.wrong("internal error: xmlParseInternalSubset: error detected in Markup declaration");
            return self.wrong("DOCTYPE improperly terminated");
        }
        self.skip_blanks();
        if !self.take(">") {
            return self.wrong("DOCTYPE improperly terminated");
        }
        let written = self.text[from..self.at].into();
        self.document.append(NodeId::ROOT, Kind::Doctype(written));
    }

    /// `SYSTEM "…"` or `PUBLIC "…" "…"`; whether there was one.
    fn external_id(&mut self) -> bool {
        if self.take("SYSTEM") {
            self.skip_blanks();
            if self.literal().is_none() {
                self.wrong("SystemLiteral \" or ' expected");
            }
            return true;
        }
        if !self.take("PUBLIC") {
            return false;
        }
        self.skip_blanks();
        if self.literal().is_none() {
            self.wrong("PubidLiteral \" or ' expected");
            return true;
        }
        self.skip_blanks();
        self.literal();
        true
    }

    fn literal(&mut self) -> Option<Box<str>> {
        let quote = self.peek().filter(|b| matches!(b, b'"' | b'\''))?;
        let rest = &self.text[self.at + 1..];
        let end = rest.find(char::from(quote))?;
        self.at += end + 2;
        Some(rest[..end].into())
    }

    /// The internal subset up to its bracket; whether that was found.
    fn subset(&mut self) -> bool {
        while self.step() {
            self.skip_blanks();
            if self.take("]") {
                return true;
            }
            let fine = if self.looking_at("<!--") {
                self.comment_outside();
                true
            } else if self.looking_at("<?") {
                self.skipped("?>")
            } else if self.take("<!ENTITY") {
                self.entity_declaration()
            } else if self.take("<!ATTLIST") {
                self.attribute_list()
            } else if self.take("<!ELEMENT") || self.take("<!NOTATION") {
                self.declaration_end()
            } else if self.take("%") {
                self.dtd.incomplete = true;
                self.name().is_some() && self.take(";")
            } else {
                false
            };
            if !fine {
                return false;
            }
        }
        false
    }

    /// A comment of the DTD, which is part of what is kept of that.
    fn comment_outside(&mut self) {
        let kept = std::mem::replace(&mut self.document, Document::new());
        self.comment();
        self.document = kept;
    }

    fn skipped(&mut self, end: &str) -> bool {
        match self.text[self.at..].find(end) {
            Some(n) => {
                self.at += n + end.len();
                true
            }
            None => false,
        }
    }

    /// Past the `>` of a declaration; quoted ones do not count.
    fn declaration_end(&mut self) -> bool {
        while let Some(b) = self.peek() {
            match b {
                b'>' => {
                    self.at += 1;
                    return true;
                }
                b'"' | b'\'' => {
                    if self.literal().is_none() {
                        return false;
                    }
                }
                b'<' => return false,
                _ => self.at += 1,
            }
        }
        false
    }

    fn entity_declaration(&mut self) -> bool {
        self.skip_blanks();
        let parameter = self.take("%");
        self.skip_blanks();
        let Some(name) = self.name() else {
            self.wrong("xmlParseEntityDecl: no name");
            return false;
        };
        self.skip_blanks();
        let text = match self.external_id() {
            true => None,
            false => match self.literal() {
                Some(text) => Some(self.entity_text(&text)),
                None => {
                    self.wrong("Value required");
                    return false;
                }
            },
        };
        if !parameter {
            // The first declaration counts.
            let entity = Entity { text, open: false, value: None };
            self.dtd.entities.entry(name.into()).or_insert(entity);
        }
        self.declaration_end()
    }

    /// The text of an entity: references to characters are resolved when it is declared.
    fn entity_text(&mut self, text: &str) -> Box<str> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(n) = rest.find("&#") {
            out.push_str(&rest[..n]);
            rest = &rest[n..];
            let Some(end) = rest.find(';') else { break };
            let digits = &rest[2..end];
            let value = match digits.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => digits.parse(),
            };
            match value.ok().and_then(char::from_u32).filter(|c| is_xml_char(*c)) {
                Some(c) => out.push(c),
                None => self.wrong("xmlParseCharRef: invalid xmlChar value 0"),
            }
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        out.into_boxed_str()
    }

    fn attribute_list(&mut self) -> bool {
        self.skip_blanks();
        let Some(element) = self.name() else { return false };
        loop {
            self.skip_blanks();
            if self.take(">") {
                return true;
            }
            let Some(attribute) = self.name() else { return false };
            self.skip_blanks();
            let kind = if self.looking_at("(") { None } else { self.name() };
            self.skip_blanks();
            if self.looking_at("(") && !self.skipped(")") {
                return false;
            }
            self.skip_blanks();
            let default = if self.take("#REQUIRED") || self.take("#IMPLIED") {
                None
            } else {
                self.take("#FIXED");
                self.skip_blanks();
                match self.literal() {
                    Some(text) => Some(text),
                    None => return false,
                }
            };
            let of = self.dtd.attributes.entry(element.into()).or_default();
            if !of.iter().any(|d| *d.attribute == *attribute) {
                let (plain, id) = (kind == Some("CDATA"), kind == Some("ID"));
                of.push(Declared { attribute: attribute.into(), default, plain, id });
            }
        }
    }
}
