//! EXPLAIN's output as data: groups of facts, independent of the format.
//!
//! The text format says some things shorter than the others: such a fact carries the line that stands for it there.

/// A value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A number, in its digits.
    Number(String),
    /// True or false.
    Bool(bool),
    /// Several strings.
    List(Vec<String>),
    /// Several lists of strings.
    Lists(Vec<Vec<String>>),
}

impl Value {
    /// A number with so many digits behind the point.
    pub fn float(value: f64, digits: usize) -> Value {
        Value::Number(format!("{value:.digits$}"))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number.to_string())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

/// A named value.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Name, as JSON has it.
    pub label: &'static str,
    /// Value.
    pub value: Value,
    /// Unit behind the value in the text format.
    pub unit: Option<&'static str>,
}

impl Property {
    /// A property without unit.
    pub fn new(label: &'static str, value: impl Into<Value>) -> Property {
        Property { label, value: value.into(), unit: None }
    }
}

/// Whether the members of a group have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// They have.
    Object,
    /// They stand in a row.
    Array,
}

/// How a group looks in the text format.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Heading {
    /// Its members stand where the group would.
    #[default]
    None,
    /// A line, with the members below.
    Line(String),
    /// A node of a plan: an arrow and a line, with the members below; above them perhaps a label of its own.
    Node(Option<String>, String),
    /// The node at the top.
    Top(String),
    /// Nothing of it is shown.
    Hidden,
}

/// Facts that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Kind, which XML names it by.
    pub kind: &'static str,
    /// Name, unless it stands in an array.
    pub label: Option<&'static str>,
    /// Whether its members have names.
    pub shape: Shape,
    /// The text format.
    pub heading: Heading,
    /// Members.
    pub items: Vec<Item>,
}

impl Group {
    /// A group with a name, without a place in the text format.
    pub fn named(kind: &'static str, shape: Shape, items: Vec<Item>) -> Group {
        Group { kind, label: Some(kind), shape, heading: Heading::None, items }
    }
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `Label: value` in the text format too.
    Property(Property),
    /// Several properties, for which a line stands in the text format, or nothing.
    Line(Option<String>, Vec<Property>),
    /// A group.
    Group(Group),
    /// A fact with a name but no value; the text format does not show it.
    Dummy(&'static str),
}
