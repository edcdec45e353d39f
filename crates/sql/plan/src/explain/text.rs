//! EXPLAIN's text format: one line for each fact, indented below its node.

use super::document::{Group, Heading, Item, Property, Value};

/// The lines.
pub fn lines(items: &[Item]) -> Vec<String> {
    let mut out = Vec::new();
    items.iter().for_each(|item| write(item, 0, &mut out));
    out
}

fn line(indent: usize, text: &str, out: &mut Vec<String>) {
    // A value may hold line breaks, as the whole output may.
    for part in format!("{:indent$}{text}", "").split('\n') {
        out.push(part.to_owned());
    }
}

fn write(item: &Item, indent: usize, out: &mut Vec<String>) {
    match item {
        Item::Property(property) => {
            let text = value(property);
            line(indent, &format!("{}: {text}", property.label), out);
        }
        Item::Line(Some(text), _) => line(indent, text, out),
        Item::Line(None, _) | Item::Dummy(_) => {}
        Item::Group(group) => write_group(group, indent, out),
    }
}

fn write_group(group: &Group, indent: usize, out: &mut Vec<String>) {
    let below = match &group.heading {
        Heading::Hidden => return,
        Heading::None => indent,
        Heading::Line(text) | Heading::Top(text) => {
            line(indent, text, out);
            indent + 2
        }
        Heading::Node(label, text) => {
            let mut arrow = indent;
            if let Some(label) = label {
                line(indent, label, out);
                arrow += 2;
            }
            line(arrow, &format!("->  {text}"), out);
            arrow + 6
        }
    };
    group.items.iter().for_each(|item| write(item, below, out));
}

fn value(property: &Property) -> String {
    let text = match &property.value {
        Value::Text(text) | Value::Number(text) => text.clone(),
        Value::Bool(value) => value.to_string(),
        Value::List(list) => list.join(", "),
        Value::Lists(lists) => lists.iter().map(|l| l.join(", ")).collect::<Vec<_>>().join(", "),
    };
    match property.unit {
        Some(unit) => format!("{text} {unit}"),
        None => text,
    }
}
