//! EXPLAIN's YAML format.

use super::document::{Group, Item, Property, Shape, Value};
use super::json::quote;

/// A sequence of one mapping for each query.
pub fn write(queries: &[Item]) -> String {
    let mut out = Yaml { text: String::new(), same_line: true };
    queries.iter().for_each(|query| out.item(query, 0));
    out.text
}

struct Yaml {
    text: String,
    /// The next member begins where the text ends: behind the dash of a sequence, or at the start.
    same_line: bool,
}

impl Yaml {
    fn begin(&mut self, indent: usize) {
        if !std::mem::take(&mut self.same_line) {
            self.text.push('\n');
            self.text.push_str(&"  ".repeat(indent));
        }
    }

    fn item(&mut self, item: &Item, indent: usize) {
        match item {
            Item::Property(property) => self.property(property, indent),
            Item::Line(_, list) => list.iter().for_each(|p| self.property(p, indent)),
            Item::Group(group) => self.group(group, indent),
            Item::Dummy(name) => {
                self.begin(indent);
                self.text.push_str("- ");
                quote(name, &mut self.text);
            }
        }
    }

    fn group(&mut self, group: &Group, indent: usize) {
        self.begin(indent);
        match group.label {
            Some(label) => {
                self.text.push_str(label);
                self.text.push_str(": ");
            }
            None => {
                self.text.push_str("- ");
                self.same_line = group.shape == Shape::Object;
            }
        }
        group.items.iter().for_each(|item| self.item(item, indent + 1));
    }

    fn property(&mut self, property: &Property, indent: usize) {
        self.begin(indent);
        self.text.push_str(property.label);
        self.text.push_str(": ");
        match &property.value {
            Value::Text(text) => quote(text, &mut self.text),
            Value::Number(digits) => self.text.push_str(digits),
            Value::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Value::List(list) => {
                for text in list {
                    self.begin(indent + 1);
                    self.text.push_str("- ");
                    quote(text, &mut self.text);
                }
            }
            Value::Lists(lists) => {
                for list in lists {
                    self.begin(indent + 1);
                    self.text.push_str("- [");
                    for (i, text) in list.iter().enumerate() {
                        if i > 0 {
                            self.text.push_str(", ");
                        }
                        quote(text, &mut self.text);
                    }
                    self.text.push(']');
                }
            }
        }
    }
}
