//! The one text form of a path.

use base::SqlResult;

use crate::{
    json::{depth::deeper, lex::escape},
    value::str_of,
};

use super::{Compare, Item, NodeId, Path};

/// Text of a path.
pub(super) fn print(path: &Path) -> SqlResult<String> {
    let mut out = Vec::new();
    if !path.lax {
        out.extend_from_slice(b"strict ");
    }
    node(path, 0, path.root, false, true, &mut out)?;
    Ok(str_of(&out).to_owned())
}

fn priority(item: &Item) -> u8 {
    match item {
        Item::Or(..) => 0,
        Item::And(..) => 1,
        Item::Compare(..) | Item::StartsWith(..) => 2,
        Item::Arith(super::Arith::Add | super::Arith::Sub, ..) => 3,
        Item::Arith(..) => 4,
        Item::Plus(_) | Item::Minus(_) => 5,
        _ => 6,
    }
}

fn sign(compare: Compare) -> &'static str {
    match compare {
        Compare::Equal => "==",
        Compare::NotEqual => "!=",
        Compare::Less => "<",
        Compare::LessEqual => "<=",
        Compare::Greater => ">",
        Compare::GreaterEqual => ">=",
    }
}

/// A node and what is chained to it. `keyed`: behind a point's place; `brackets`: operators are put in brackets.
fn node(
    path: &Path,
    level: usize,
    id: NodeId,
    keyed: bool,
    brackets: bool,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    let mut id = id;
    let (mut keyed, mut brackets) = (keyed, brackets);
    loop {
        let at = &path.nodes[id];
        deeper(level, || item(path, level + 1, &at.item, at.next.is_some(), keyed, brackets, out))?;
        match at.next {
            Some(next) => id = next,
            None => return Ok(()),
        }
        (keyed, brackets) = (true, true);
    }
}

fn item(
    path: &Path,
    level: usize,
    item: &Item,
    chained: bool,
    keyed: bool,
    brackets: bool,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    let plain = |id: NodeId, out: &mut Vec<u8>| node(path, level, id, false, false, out);
    match item {
        Item::Root => out.push(b'$'),
        Item::Current => out.push(b'@'),
        Item::Last => out.extend_from_slice(b"last"),
        Item::Variable(name) => {
            out.push(b'$');
            escape(name, out);
        }
        Item::Null => out.extend_from_slice(b"null"),
        Item::Bool(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Item::Number(n) if chained => out.extend_from_slice(format!("({n})").as_bytes()),
        Item::Number(n) => out.extend_from_slice(n.to_string().as_bytes()),
        Item::String(text) => escape(text, out),
        Item::Key(key) => {
            if keyed {
                out.push(b'.');
            }
            escape(key, out);
        }
        Item::AnyKey => out.extend_from_slice(if keyed { b".*" } else { b"*" }),
        Item::AnyElement => out.extend_from_slice(b"[*]"),
        Item::Elements(list) => {
            out.push(b'[');
            for (i, (from, to)) in list.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                plain(*from, out)?;
                if let Some(to) = to {
                    out.extend_from_slice(b" to ");
                    plain(*to, out)?;
                }
            }
            out.push(b']');
        }
        Item::Any(first, last) => {
            if keyed {
                out.push(b'.');
            }
            out.extend_from_slice(any_text(*first, *last).as_bytes());
        }
        Item::Filter(condition) => {
            out.extend_from_slice(b"?(");
            plain(*condition, out)?;
            out.push(b')');
        }
        Item::Not(arg) => {
            out.extend_from_slice(b"!(");
            plain(*arg, out)?;
            out.push(b')');
        }
        Item::IsUnknown(arg) => {
            out.push(b'(');
            plain(*arg, out)?;
            out.extend_from_slice(b") is unknown");
        }
        Item::Exists(arg) => {
            out.extend_from_slice(b"exists (");
            plain(*arg, out)?;
            out.push(b')');
        }
        Item::Method(method, args, template) => {
            let mut list: Vec<String> = args.iter().map(ToString::to_string).collect();
            if let Some(text) = template {
                let mut quoted = Vec::new();
                escape(text, &mut quoted);
                list.push(str_of(&quoted).to_owned());
            }
            out.extend_from_slice(format!(".{}({})", method.name(), list.join(",")).as_bytes());
        }
        _ => operator(path, level, item, brackets, out)?,
    }
    Ok(())
}

fn any_text(first: u32, last: u32) -> String {
    match (first, last) {
        (0, u32::MAX) => "**".into(),
        (u32::MAX, u32::MAX) => "**{last}".into(),
        (first, last) if first == last => format!("**{{{first}}}"),
        (u32::MAX, last) => format!("**{{last to {last}}}"),
        (first, u32::MAX) => format!("**{{{first} to last}}"),
        (first, last) => format!("**{{{first} to {last}}}"),
    }
}

fn operator(path: &Path, level: usize, item: &Item, brackets: bool, out: &mut Vec<u8>) -> SqlResult<()> {
    let operand = |id: NodeId, out: &mut Vec<u8>| {
        let inner = priority(&path.nodes[id].item) <= priority(item);
        node(path, level, id, false, inner, out)
    };
    let two = |left: NodeId, sign: &str, right: NodeId, out: &mut Vec<u8>| {
        operand(left, out)?;
        out.extend_from_slice(format!(" {sign} ").as_bytes());
        operand(right, out)
    };
    if brackets {
        out.push(b'(');
    }
    match item {
        Item::And(a, b) => two(*a, "&&", *b, out)?,
        Item::Or(a, b) => two(*a, "||", *b, out)?,
        Item::Compare(op, a, b) => two(*a, sign(*op), *b, out)?,
        Item::StartsWith(a, b) => two(*a, "starts with", *b, out)?,
        Item::Arith(op, a, b) => two(*a, op.sign(), *b, out)?,
        Item::LikeRegex(arg, pattern, flags) => {
            operand(*arg, out)?;
            out.extend_from_slice(b" like_regex ");
            escape(pattern, out);
            if !flags.is_empty() {
                out.extend_from_slice(format!(" flag \"{flags}\"").as_bytes());
            }
        }
        Item::Plus(arg) => {
            out.push(b'+');
            operand(*arg, out)?;
        }
        Item::Minus(arg) => {
            out.push(b'-');
            operand(*arg, out)?;
        }
        _ => {}
    }
    if brackets {
        out.push(b')');
    }
    Ok(())
}
