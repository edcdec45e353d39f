//! EXPLAIN's XML format.

use super::document::{Group, Item, Property, Value};

/// One document with an element for each query.
pub fn write(queries: &[Item]) -> String {
    let mut out = String::from("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n");
    queries.iter().for_each(|query| write_item(query, 1, &mut out));
    out + "</explain>"
}

fn write_item(item: &Item, indent: usize, out: &mut String) {
    match item {
        Item::Property(property) => write_property(property, indent, out),
        Item::Line(_, list) => list.iter().for_each(|p| write_property(p, indent, out)),
        Item::Group(group) => write_group(group, indent, out),
        Item::Dummy(name) => line(indent, &format!("<{} />", tag(name)), out),
    }
}

fn write_group(group: &Group, indent: usize, out: &mut String) {
    let tag = tag(group.kind);
    line(indent, &format!("<{tag}>"), out);
    group.items.iter().for_each(|item| write_item(item, indent + 1, out));
    line(indent, &format!("</{tag}>"), out);
}

fn write_property(property: &Property, indent: usize, out: &mut String) {
    let tag = tag(property.label);
    let simple = |text: &str| format!("<{tag}>{}</{tag}>", escape(text));
    match &property.value {
        Value::Text(text) | Value::Number(text) => line(indent, &simple(text), out),
        Value::Bool(value) => line(indent, &simple(if *value { "true" } else { "false" }), out),
        Value::List(list) => write_list(&tag, list, indent, out),
        Value::Lists(lists) => {
            line(indent, &format!("<{tag}>"), out);
            let one = tag.strip_suffix('s').unwrap_or(&tag);
            lists.iter().for_each(|list| write_list(one, list, indent + 1, out));
            line(indent, &format!("</{tag}>"), out);
        }
    }
}

fn write_list(tag: &str, list: &[String], indent: usize, out: &mut String) {
    line(indent, &format!("<{tag}>"), out);
    for text in list {
        line(indent + 1, &format!("<Item>{}</Item>", escape(text)), out);
    }
    line(indent, &format!("</{tag}>"), out);
}

fn line(indent: usize, text: &str, out: &mut String) {
    out.push_str(&"  ".repeat(indent));
    out.push_str(text);
    out.push('\n');
}

/// A label as the name of an element.
fn tag(label: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    label.chars().map(|c| if allowed(c) { c } else { '-' }).collect()
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#x0d;"),
            c => out.push(c),
        }
    }
    out
}
