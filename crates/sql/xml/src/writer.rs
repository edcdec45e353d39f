//! Trees to text, in libxml2's form.

use crate::tree::{Document, Kind, NodeId};

/// Text with what would be markup written as references.
pub fn escape_text(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
}

/// The value of an attribute in double quotes; `ascii`: other characters as references.
pub fn escape_attribute(text: &str, ascii: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            c if ascii && !c.is_ascii() => out.push_str(&format!("&#x{:X};", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// How nodes are written.
struct Writer<'d> {
    document: &'d Document,
    /// Namespaces that the top element declares beside its own.
    added: Vec<(Box<str>, Box<str>)>,
    top: NodeId,
    ascii: bool,
    indent: bool,
    out: String,
}

/// A node as a text of its own: an element declares all namespaces that are used in it.
pub fn write_copy(document: &Document, node: NodeId) -> Result<String, runtime::Interrupt> {
    let added = used_namespaces(document, node);
    // libxml2 knows the encoding of documents, not of copies of their nodes.
    let mut writer = Writer { document, added, top: node, ascii: true, indent: false, out: String::new() };
    writer.tree(node)?;
    Ok(writer.out)
}

/// A node with its elements on lines of their own, where no text is beside them.
pub fn write_indented(document: &Document, node: NodeId) -> Result<String, runtime::Interrupt> {
    let mut writer =
        Writer { document, added: Vec::new(), top: node, ascii: false, indent: true, out: String::new() };
    writer.tree(node)?;
    Ok(writer.out)
}

/// Namespaces that are used in an element and declared around it, in the order of their use.
fn used_namespaces(document: &Document, top: NodeId) -> Vec<(Box<str>, Box<str>)> {
    let mut added: Vec<(Box<str>, Box<str>)> = Vec::new();
    let mut at = Some(top);
    while let Some(node) = at {
        let attributes = document.attributes(node);
        for named in std::iter::once(node).chain(attributes) {
            if let Some(name) = document.name(named).filter(|n| !n.uri.is_empty() && &*n.prefix != "xml")
                && !is_declared(document, node, top, &name.prefix)
                && !added.iter().any(|(p, _)| *p == name.prefix)
            {
                added.push((name.prefix.clone(), name.uri.clone()));
            }
        }
        at = document.following(node, top, false);
    }
    added
}

/// Whether a prefix is declared by an element or one around it, up to `top`.
fn is_declared(document: &Document, node: NodeId, top: NodeId, prefix: &str) -> bool {
    let mut at = node;
    loop {
        if document.declared(at).iter().any(|(p, _)| **p == *prefix) {
            return true;
        }
        match document.parent(at) {
            Some(parent) if at != top => at = parent,
            _ => return false,
        }
    }
}

impl Writer<'_> {
    /// A node and what is in it, without recursion.
    fn tree(&mut self, top: NodeId) -> Result<(), runtime::Interrupt> {
        // Elements whose end is to be written, and whether what is in them stands on lines of its own.
        let mut open: Vec<(NodeId, bool)> = Vec::new();
        let mut at = top;
        let mut steps = 0usize;
        loop {
            steps += 1;
            if steps.is_multiple_of(256) {
                runtime::check_interrupts()?;
            }
            let lines = open.last().is_some_and(|o| o.1);
            if lines {
                self.indentation(open.len());
            }
            let has_children = self.begin(at);
            if has_children {
                let inside = match self.document.kind(at) {
                    Kind::Root => false,
                    _ => {
                        self.indent
                            && (open.is_empty() || lines || self.is_top_child(at))
                            && !self.is_mixed(at)
                    }
                };
                open.push((at, inside));
                if inside {
                    self.out.push('\n');
                }
                if let Some(first) = self.document.first_child(at) {
                    at = first;
                    continue;
                }
            }
            // Behind the node: ends of elements, until there is a next node.
            loop {
                if at == top {
                    return Ok(());
                }
                if open.last().is_some_and(|o| o.1 || *self.document.kind(o.0) == Kind::Root) {
                    self.out.push('\n');
                }
                if let Some(next) = self.document.next(at) {
                    at = next;
                    break;
                }
                let Some((element, inside)) = open.pop() else { return Ok(()) };
                if inside {
                    self.indentation(open.len());
                }
                self.end(element);
                at = element;
            }
        }
    }

    fn is_top_child(&self, node: NodeId) -> bool {
        self.document.parent(node) == Some(NodeId::ROOT)
    }

    fn indentation(&mut self, levels: usize) {
        let root = usize::from(*self.document.kind(self.top) == Kind::Root);
        for _ in root..levels {
            self.out.push_str("  ");
        }
    }

    /// Whether text is beside elements.
    fn is_mixed(&self, node: NodeId) -> bool {
        let is_text =
            |n| matches!(self.document.kind(n), Kind::Text(_) | Kind::Cdata(_) | Kind::Entity { .. });
        self.document.children(node).any(is_text)
    }

    /// The node, or its beginning; whether its children are to follow.
    fn begin(&mut self, node: NodeId) -> bool {
        let document = self.document;
        match document.kind(node) {
            Kind::Root => return document.first_child(node).is_some(),
            Kind::Doctype(text) => self.out.push_str(text),
            Kind::Element { .. } => return self.start_tag(node),
            Kind::Attribute { value, .. } => self.attribute(node, value),
            Kind::Text(text) => escape_text(text, &mut self.out),
            Kind::Cdata(text) => {
                for part in ["<![CDATA[", text, "]]>"] {
                    self.out.push_str(part);
                }
            }
            Kind::Comment(text) => {
                for part in ["<!--", text, "-->"] {
                    self.out.push_str(part);
                }
            }
            Kind::Instruction { target, data } => {
                let blank = if data.is_empty() { "" } else { " " };
                for part in ["<?", target, blank, data, "?>"] {
                    self.out.push_str(part);
                }
            }
            Kind::Entity { name, .. } => {
                for part in ["&", name, ";"] {
                    self.out.push_str(part);
                }
            }
        }
        false
    }

    fn start_tag(&mut self, node: NodeId) -> bool {
        let document = self.document;
        self.out.push('<');
        self.name(node);
        for (prefix, uri) in document.declared(node) {
            self.namespace(prefix, uri);
        }
        if node == self.top {
            for (prefix, uri) in std::mem::take(&mut self.added) {
                self.namespace(&prefix, &uri);
            }
        }
        for attribute in document.attributes(node) {
            if let Kind::Attribute { value, .. } = document.kind(attribute) {
                self.out.push(' ');
                self.attribute(attribute, value);
            }
        }
        let children = document.first_child(node).is_some();
        self.out.push_str(if children { ">" } else { "/>" });
        children
    }

    fn end(&mut self, node: NodeId) {
        if *self.document.kind(node) != Kind::Root {
            self.out.push_str("</");
            self.name(node);
            self.out.push('>');
        }
    }

    fn name(&mut self, node: NodeId) {
        if let Some(name) = self.document.name(node) {
            if !name.prefix.is_empty() {
                self.out.push_str(&name.prefix);
                self.out.push(':');
            }
            self.out.push_str(&name.local);
        }
    }

    fn namespace(&mut self, prefix: &str, uri: &str) {
        self.out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
        self.out.push_str(prefix);
        self.out.push_str("=\"");
        escape_attribute(uri, false, &mut self.out);
        self.out.push('"');
    }

    fn attribute(&mut self, node: NodeId, value: &str) {
        self.name(node);
        self.out.push_str("=\"");
        escape_attribute(value, self.ascii, &mut self.out);
        self.out.push('"');
    }
}
