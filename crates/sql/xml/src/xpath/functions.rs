//! The core function library.

use super::Error;
use super::eval::{Context, Focus, Item, Value, boolean};
use super::parse::Expr;
use crate::tree::{Kind, NodeId};

/// A function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Function {
    Last,
    Position,
    Count,
    Id,
    LocalName,
    NamespaceUri,
    Name,
    Text,
    Concat,
    StartsWith,
    Contains,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    Boolean,
    Not,
    True,
    False,
    Lang,
    Number,
    Sum,
    Floor,
    Ceiling,
    Round,
}

/// Names, and how few and many arguments they take.
const TABLE: [(&str, Function, usize, usize); 27] = [
    ("last", Function::Last, 0, 0),
    ("position", Function::Position, 0, 0),
    ("count", Function::Count, 1, 1),
    ("id", Function::Id, 1, 1),
    ("local-name", Function::LocalName, 0, 1),
    ("namespace-uri", Function::NamespaceUri, 0, 1),
    ("name", Function::Name, 0, 1),
    ("string", Function::Text, 0, 1),
    ("concat", Function::Concat, 2, usize::MAX),
    ("starts-with", Function::StartsWith, 2, 2),
    ("contains", Function::Contains, 2, 2),
    ("substring-before", Function::SubstringBefore, 2, 2),
    ("substring-after", Function::SubstringAfter, 2, 2),
    ("substring", Function::Substring, 2, 3),
    ("string-length", Function::StringLength, 0, 1),
    ("normalize-space", Function::NormalizeSpace, 0, 1),
    ("translate", Function::Translate, 3, 3),
    ("boolean", Function::Boolean, 1, 1),
    ("not", Function::Not, 1, 1),
    ("true", Function::True, 0, 0),
    ("false", Function::False, 0, 0),
    ("lang", Function::Lang, 1, 1),
    ("number", Function::Number, 0, 1),
    ("sum", Function::Sum, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("round", Function::Round, 1, 1),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Function> {
        TABLE.iter().find(|f| f.0 == name).map(|f| f.1)
    }

    pub(super) fn call(self, c: &Context<'_>, args: &[Expr], focus: Focus) -> Result<Value, Error> {
        let fits = |f: &&(&str, Function, usize, usize)| f.1 == self && (f.2..=f.3).contains(&args.len());
        if TABLE.iter().find(fits).is_none() {
            return Err(Error::Value("Invalid number of arguments"));
        }
        match self {
            Function::Last => Ok(Value::Number(focus.size as f64)),
            Function::Position => Ok(Value::Number(focus.position as f64)),
            Function::True => Ok(Value::Boolean(true)),
            Function::False => Ok(Value::Boolean(false)),
            Function::Count
            | Function::Sum
            | Function::LocalName
            | Function::NamespaceUri
            | Function::Name => self.of_nodes(c, args, focus),
            _ => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(c.eval(arg, focus)?);
                }
                self.of_values(c, values, focus)
            }
        }
    }

    /// Functions that take a node-set, or the context node.
    fn of_nodes(self, c: &Context<'_>, args: &[Expr], focus: Focus) -> Result<Value, Error> {
        let items = match args.first() {
            Some(arg) => c.nodes(arg, focus)?,
            None => vec![focus.item],
        };
        let text = |f: &dyn Fn(Item) -> String| Value::Text(items.first().map(|i| f(*i)).unwrap_or_default());
        Ok(match self {
            Function::Count => Value::Number(items.len() as f64),
            Function::Sum => {
                let mut sum = 0.0;
                for item in items {
                    sum += super::number::text_number(&c.item_text(item));
                }
                Value::Number(sum)
            }
            Function::NamespaceUri => text(&|i| match c.document.name(i.node) {
                Some(name) if i.namespace == 0 => name.uri.to_string(),
                _ => String::new(),
            }),
            _ => text(&|i| node_name(c, i, self == Function::Name)),
        })
    }

    fn of_values(self, c: &Context<'_>, mut values: Vec<Value>, focus: Focus) -> Result<Value, Error> {
        if values.is_empty() {
            values.push(Value::Text(c.item_text(focus.item)));
        }
        let first = &values[0];
        let text = |n: usize| values.get(n).map(|v| c.text(v)).unwrap_or_default();
        Ok(match self {
            Function::Boolean => Value::Boolean(boolean(first)),
            Function::Not => Value::Boolean(!boolean(first)),
            Function::Number => Value::Number(c.number(first)),
            Function::Floor => Value::Number(c.number(first).floor()),
            Function::Ceiling => Value::Number(c.number(first).ceil()),
            Function::Round => Value::Number(rounded(c.number(first))),
            Function::Id => Value::Nodes(with_ids(c, first)?),
            Function::Lang => Value::Boolean(is_language(c, focus.item.node, &text(0))),
            Function::Text => Value::Text(text(0)),
            Function::Concat => Value::Text((0..values.len()).map(text).collect()),
            Function::StartsWith => Value::Boolean(text(0).starts_with(&text(1))),
            Function::Contains => Value::Boolean(text(0).contains(&text(1))),
            Function::SubstringBefore => {
                Value::Text(text(0).split_once(&text(1)).map(|(a, _)| a.to_owned()).unwrap_or_default())
            }
            Function::SubstringAfter => {
                Value::Text(text(0).split_once(&text(1)).map(|(_, b)| b.to_owned()).unwrap_or_default())
            }
            Function::Substring => Value::Text(substring(c, &text(0), &values[1..])),
            Function::StringLength => Value::Number(text(0).chars().count() as f64),
            Function::NormalizeSpace => {
                let words = text(0);
                let words = words.split([' ', '\t', '\r', '\n']).filter(|w| !w.is_empty());
                Value::Text(words.collect::<Vec<_>>().join(" "))
            }
            _ => Value::Text(translated(&text(0), &text(1), &text(2))),
        })
    }
}

fn node_name(c: &Context<'_>, item: Item, qualified: bool) -> String {
    if let Some((prefix, _)) = c.namespace(item) {
        return prefix.to_owned();
    }
    match (c.document.kind(item.node), c.document.name(item.node)) {
        (_, Some(name)) if qualified => name.qualified(),
        (_, Some(name)) => name.local.to_string(),
        (Kind::Instruction { target, .. }, _) => target.to_string(),
        _ => String::new(),
    }
}

/// Halves go up.
fn rounded(n: f64) -> f64 {
    if (-0.5..0.0).contains(&n) { -0.0 } else { (n + 0.5).floor() }
}

fn substring(c: &Context<'_>, text: &str, bounds: &[Value]) -> String {
    let from = rounded(c.number(&bounds[0]));
    let end = bounds.get(1).map_or(f64::INFINITY, |n| from + rounded(c.number(n)));
    let within = |(i, _): &(usize, char)| {
        let position = (i + 1) as f64;
        position >= from && position < end
    };
    text.chars().enumerate().filter(within).map(|(_, ch)| ch).collect()
}

fn translated(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    let mut map = rustc_hash::FxHashMap::default();
    for (i, ch) in from.chars().enumerate() {
        map.entry(ch).or_insert(to.get(i).copied());
    }
    text.chars().filter_map(|ch| map.get(&ch).copied().unwrap_or(Some(ch))).collect()
}

/// Elements whose ID is one of the words of a text, or of the texts of nodes.
fn with_ids(c: &Context<'_>, value: &Value) -> Result<Vec<Item>, Error> {
    let text = match value {
        Value::Nodes(items) => items.iter().map(|i| c.item_text(*i)).collect::<Vec<_>>().join(" "),
        value => c.text(value),
    };
    let wanted: std::collections::HashSet<&str> = text.split_ascii_whitespace().collect();
    let mut out = Vec::new();
    for n in 0..c.document.len() as u32 {
        if n % 256 == 255 {
            runtime::check_interrupts()?;
        }
        if let Kind::Attribute { value, id: true, .. } = c.document.kind(NodeId(n))
            && wanted.contains(&**value)
            && let Some(element) = c.document.parent(NodeId(n))
        {
            out.push(Item::of(element));
        }
    }
    Ok(out)
}

/// Whether the nearest `xml:lang` is a language or a dialect of it.
fn is_language(c: &Context<'_>, node: NodeId, language: &str) -> bool {
    let mut at = Some(node);
    while let Some(n) = at {
        for attribute in c.document.attributes(n) {
            if let Kind::Attribute { value, .. } = c.document.kind(attribute)
                && c.document
                    .name(attribute)
                    .is_some_and(|name| &*name.prefix == "xml" && &*name.local == "lang")
            {
                let head = value.get(..language.len());
                let rest = value.get(language.len()..).unwrap_or_default();
                return head.is_some_and(|h| h.eq_ignore_ascii_case(language))
                    && (rest.is_empty() || rest.starts_with('-'));
            }
        }
        at = c.document.parent(n);
    }
    false
}
