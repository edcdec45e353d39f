//! EXPLAIN's JSON format.

use super::document::{Group, Item, Property, Shape, Value};

/// An array of one object for each query.
pub fn write(queries: &[Item]) -> String {
    let mut out = String::from("[");
    let mut first = true;
    queries.iter().for_each(|query| write_item(query, 1, &mut first, &mut out));
    out + "\n]"
}

/// Ends the line before a member and indents the member's.
fn begin(indent: usize, first: &mut bool, out: &mut String) {
    out.push_str(if std::mem::take(first) { "\n" } else { ",\n" });
    out.push_str(&"  ".repeat(indent));
}

fn write_item(item: &Item, indent: usize, first: &mut bool, out: &mut String) {
    match item {
        Item::Property(property) => write_property(property, indent, first, out),
        Item::Line(_, list) => list.iter().for_each(|p| write_property(p, indent, first, out)),
        Item::Group(group) => write_group(group, indent, first, out),
        Item::Dummy(name) => {
            begin(indent, first, out);
            quote(name, out);
        }
    }
}

fn write_group(group: &Group, indent: usize, first: &mut bool, out: &mut String) {
    begin(indent, first, out);
    if let Some(label) = group.label {
        quote(label, out);
        out.push_str(": ");
    }
    let (open, close) = if group.shape == Shape::Object { ('{', '}') } else { ('[', ']') };
    out.push(open);
    let mut none = true;
    group.items.iter().for_each(|item| write_item(item, indent + 1, &mut none, out));
    out.push('\n');
    out.push_str(&"  ".repeat(indent));
    out.push(close);
}

fn write_property(property: &Property, indent: usize, first: &mut bool, out: &mut String) {
    begin(indent, first, out);
    quote(property.label, out);
    out.push_str(": ");
    match &property.value {
        Value::Text(text) => quote(text, out),
        Value::Number(digits) => out.push_str(digits),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::List(list) => write_list(list, out),
        Value::Lists(lists) => {
            out.push('[');
            let mut none = true;
            for list in lists {
                begin(indent + 1, &mut none, out);
                write_list(list, out);
            }
            out.push('\n');
            out.push_str(&"  ".repeat(indent));
            out.push(']');
        }
    }
}

fn write_list(list: &[String], out: &mut String) {
    out.push('[');
    for (i, text) in list.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        quote(text, out);
    }
    out.push(']');
}

/// A JSON string.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}
