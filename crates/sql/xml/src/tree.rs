//! Documents as trees.

use rustc_hash::FxHashMap;

/// A node of a document. The order of numbers is document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The document itself.
    pub const ROOT: NodeId = NodeId(0);
    pub(crate) const NONE: NodeId = NodeId(u32::MAX);

    fn some(self) -> Option<NodeId> {
        (self != NodeId::NONE).then_some(self)
    }
}

/// Name of an element or attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// As written before the colon; empty where there is none.
    pub prefix: Box<str>,
    /// As written after it.
    pub local: Box<str>,
    /// The namespace; empty for none.
    pub uri: Box<str>,
}

impl Name {
    /// As written.
    pub fn qualified(&self) -> String {
        if self.prefix.is_empty() {
            self.local.to_string()
        } else {
            format!("{}:{}", self.prefix, self.local)
        }
    }
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The document.
    Root,
    /// `<!DOCTYPE …>`, as written
    Doctype(Box<str>),
    /// An element: its name, its attributes, and the namespaces that it declares.
    Element {
        /// Number of its name.
        name: u32,
        /// Attributes; they are the next nodes.
        attributes: u32,
        /// Prefixes, empty for the default one, and namespaces.
        declared: Box<[(Box<str>, Box<str>)]>,
    },
    /// An attribute, its value normalised.
    Attribute {
        /// Number of its name.
        name: u32,
        /// Its value.
        value: Box<str>,
        /// It is an ID.
        id: bool,
    },
    /// Text.
    Text(Box<str>),
    /// `<![CDATA[…]]>`
    Cdata(Box<str>),
    /// A comment.
    Comment(Box<str>),
    /// A processing instruction.
    Instruction {
        /// Its target.
        target: Box<str>,
        /// Behind it.
        data: Box<str>,
    },
    /// `&name;` that was not expanded
    Entity {
        /// Its name.
        name: Box<str>,
        /// The text that it stands for.
        value: Box<str>,
    },
}

#[derive(Clone, Debug)]
struct Node {
    parent: NodeId,
    previous: NodeId,
    next: NodeId,
    first: NodeId,
    last: NodeId,
    kind: Kind,
}

/// A document.
#[derive(Clone, Debug)]
pub struct Document {
    nodes: Vec<Node>,
    names: Vec<Name>,
    numbers: FxHashMap<Name, u32>,
}

impl Document {
    /// A document of nothing.
    pub(crate) fn new() -> Document {
        let mut out = Document { nodes: Vec::new(), names: Vec::new(), numbers: FxHashMap::default() };
        out.push(NodeId::NONE, Kind::Root);
        out
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn push(&mut self, parent: NodeId, kind: Kind) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            parent,
            previous: NodeId::NONE,
            next: NodeId::NONE,
            first: NodeId::NONE,
            last: NodeId::NONE,
            kind,
        });
        id
    }

    /// A new last child.
    pub(crate) fn append(&mut self, parent: NodeId, kind: Kind) -> NodeId {
        let id = self.push(parent, kind);
        let last = self.nodes[parent.0 as usize].last;
        match last.some() {
            Some(last) => {
                self.nodes[last.0 as usize].next = id;
                self.nodes[id.0 as usize].previous = last;
            }
            None => self.nodes[parent.0 as usize].first = id,
        }
        self.nodes[parent.0 as usize].last = id;
        id
    }

    /// Text behind a parent's last child; texts that meet are one.
    pub(crate) fn append_text(&mut self, parent: NodeId, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(last) = self.last_child(parent)
            && let Kind::Text(before) = &mut self.nodes[last.0 as usize].kind
        {
            let mut joined = std::mem::take(before).into_string();
            joined.push_str(text);
            *before = joined.into_boxed_str();
            return;
        }
        self.append(parent, Kind::Text(text.into()));
    }

    /// An element with its attributes.
    pub(crate) fn append_element(
        &mut self,
        parent: NodeId,
        name: Name,
        declared: Vec<(Box<str>, Box<str>)>,
        attributes: Vec<(Name, Box<str>, bool)>,
    ) -> NodeId {
        let name = self.number(name);
        let count = attributes.len() as u32;
        let declared = declared.into_boxed_slice();
        let id = self.append(parent, Kind::Element { name, attributes: count, declared });
        for (name, value, is_id) in attributes {
            let name = self.number(name);
            self.push(id, Kind::Attribute { name, value, id: is_id });
        }
        id
    }

    fn number(&mut self, name: Name) -> u32 {
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// What a node is.
    pub fn kind(&self, node: NodeId) -> &Kind {
        &self.nodes[node.0 as usize].kind
    }

    /// The node that it is in; an attribute is in its element.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.0 as usize].parent.some()
    }

    /// Its first child.
    pub fn first_child(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.0 as usize].first.some()
    }

    /// Its last child.
    pub fn last_child(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.0 as usize].last.some()
    }

    /// The next sibling.
    pub fn next(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.0 as usize].next.some()
    }

    /// The sibling before.
    pub fn previous(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.0 as usize].previous.some()
    }

    /// Children in order.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(node), |n| self.next(*n))
    }

    /// Attributes in order.
    pub fn attributes(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        let count = match self.kind(node) {
            Kind::Element { attributes, .. } => *attributes,
            _ => 0,
        };
        (node.0 + 1..node.0 + 1 + count).map(NodeId)
    }

    /// Name of an element or attribute.
    pub fn name(&self, node: NodeId) -> Option<&Name> {
        match self.kind(node) {
            Kind::Element { name, .. } | Kind::Attribute { name, .. } => Some(&self.names[*name as usize]),
            _ => None,
        }
    }

    /// Namespaces that an element declares.
    pub fn declared(&self, node: NodeId) -> &[(Box<str>, Box<str>)] {
        match self.kind(node) {
            Kind::Element { declared, .. } => declared,
            _ => &[],
        }
    }

    /// The next node in document order within `top`, attributes left out; one that is not below `node` if `skip`.
    pub(crate) fn following(&self, node: NodeId, top: NodeId, skip: bool) -> Option<NodeId> {
        if !skip && let Some(first) = self.first_child(node) {
            return Some(first);
        }
        let mut at = node;
        while at != top {
            if let Some(next) = self.next(at) {
                return Some(next);
            }
            at = self.parent(at)?;
        }
        None
    }

    /// The string value of a node, as XPath has it.
    pub fn string_value(&self, node: NodeId) -> String {
        match self.kind(node) {
            Kind::Root | Kind::Element { .. } => {
                let mut out = String::new();
                let mut at = self.first_child(node);
                while let Some(n) = at {
                    match self.kind(n) {
                        Kind::Text(text) | Kind::Cdata(text) => out.push_str(text),
                        Kind::Entity { value, .. } => out.push_str(value),
                        _ => {}
                    }
                    at = self.following(n, node, false);
                }
                out
            }
            Kind::Attribute { value, .. } | Kind::Entity { value, .. } => value.to_string(),
            Kind::Text(text) | Kind::Cdata(text) | Kind::Comment(text) => text.to_string(),
            Kind::Instruction { data, .. } => data.to_string(),
            Kind::Doctype(_) => String::new(),
        }
    }
}
