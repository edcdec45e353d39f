//! Values of expressions.

use super::Error;
use super::XML_NAMESPACE;
use super::number::{number_text, text_number};
use super::parse::{Axis, Expr, Operator, Start, Step, Test};
use crate::tree::{Document, Kind, NodeId};

/// A node, or one of the namespaces in scope at an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// The node.
    pub node: NodeId,
    /// 0, or the number of a namespace.
    pub namespace: u32,
}

impl Item {
    /// A node.
    pub fn of(node: NodeId) -> Item {
        Item { node, namespace: 0 }
    }
}

/// What an expression comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A node-set in document order.
    Nodes(Vec<Item>),
    /// True or false.
    Boolean(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
pub(super) struct Focus {
    pub(super) item: Item,
    pub(super) position: usize,
    pub(super) size: usize,
}

/// A document with the prefixes that names in paths may have.
pub struct Context<'d> {
    pub(super) document: &'d Document,
    namespaces: &'d [(String, String)],
    steps: std::cell::Cell<usize>,
}

/// Steps between two looks for interrupts.
const PACE: usize = 256;

impl<'d> Context<'d> {
    pub(super) fn new(document: &'d Document, namespaces: &'d [(String, String)]) -> Context<'d> {
        Context { document, namespaces, steps: std::cell::Cell::new(0) }
    }

    pub(super) fn value(&self, expr: &Expr, item: Item) -> Result<Value, Error> {
        self.eval(expr, Focus { item, position: 1, size: 1 })
    }

    /// A look for interrupts now and then.
    fn pace(&self) -> Result<(), Error> {
        self.steps.set(self.steps.get().wrapping_add(1));
        if self.steps.get().is_multiple_of(PACE) {
            runtime::check_interrupts()?;
        }
        Ok(())
    }

    pub(super) fn eval(&self, expr: &Expr, focus: Focus) -> Result<Value, Error> {
        runtime::check_stack()?;
        self.pace()?;
        Ok(match expr {
            Expr::Literal(text) => Value::Text(text.to_string()),
            Expr::Number(n) => Value::Number(*n),
            Expr::Variable => return Err(Error::Value("")),
            Expr::Unknown => return Err(Error::Value("Unregistered function")),
            Expr::Negate(inner) => Value::Number(-self.number(&self.eval(inner, focus)?)),
            Expr::Call(function, args) => function.call(self, args, focus)?,
            Expr::Binary(operator, operands) => self.binary(*operator, operands, focus)?,
            Expr::Filter(inner, predicates) => {
                let mut items = self.nodes(inner, focus)?;
                for predicate in predicates {
                    items = self.filtered(items, predicate)?;
                }
                Value::Nodes(items)
            }
            Expr::Path(start, steps) => {
                let mut items = match start {
                    Start::Root => vec![Item::of(NodeId::ROOT)],
                    Start::Here => vec![focus.item],
                    Start::Expr(inner) => self.nodes(inner, focus)?,
                };
                for step in steps {
                    items = self.step(&items, step)?;
                }
                Value::Nodes(items)
            }
        })
    }

    /// The node-set that an expression must come to.
    pub(super) fn nodes(&self, expr: &Expr, focus: Focus) -> Result<Vec<Item>, Error> {
        match self.eval(expr, focus)? {
            Value::Nodes(items) => Ok(items),
            _ => Err(Error::Value("Invalid type")),
        }
    }

    // Steps.

    fn step(&self, from: &[Item], step: &Step) -> Result<Vec<Item>, Error> {
        let wanted = self.wanted(step)?;
        let mut out: Vec<Item> = Vec::new();
        let mut sorted = 0;
        for item in from {
            let mut found = Vec::new();
            self.axis(*item, step.axis, &mut |c, item| {
                c.pace()?;
                if c.is_wanted(&wanted, step, item) {
                    found.push(item);
                }
                Ok(())
            })?;
            for predicate in &step.predicates {
                found = self.filtered(found, predicate)?;
            }
            out.append(&mut found);
            // Doubles are dropped before there are as many again.
            if out.len() > 2 * sorted + 4096 {
                ordered(&mut out);
                sorted = out.len();
            }
        }
        ordered(&mut out);
        Ok(out)
    }

    /// The items for which a predicate holds, each at its position.
    fn filtered(&self, items: Vec<Item>, predicate: &Expr) -> Result<Vec<Item>, Error> {
        let size = items.len();
        if let Expr::Number(n) = predicate {
            let at = items.into_iter().enumerate().find(|(i, _)| (i + 1) as f64 == *n);
            return Ok(at.map(|(_, item)| item).into_iter().collect());
        }
        let mut out = Vec::new();
        for (i, item) in items.into_iter().enumerate() {
            let holds = match self.eval(predicate, Focus { item, position: i + 1, size })? {
                Value::Number(n) => (i + 1) as f64 == n,
                value => boolean(&value),
            };
            if holds {
                out.push(item);
            }
        }
        Ok(out)
    }

    /// The namespace of a name test's prefix; none where it has none.
    fn wanted(&self, step: &Step) -> Result<Option<&str>, Error> {
        let Test::Name { prefix: Some(prefix), .. } = &step.test else { return Ok(None) };
        if **prefix == *"xml" {
            return Ok(Some(XML_NAMESPACE));
        }
        let found = self.namespaces.iter().rev().find(|(p, _)| **p == **prefix);
        found.map(|(_, uri)| Some(uri.as_str())).ok_or(Error::Value("Undefined namespace prefix"))
    }

    fn is_wanted(&self, wanted: &Option<&str>, step: &Step, item: Item) -> bool {
        let kind = self.document.kind(item.node);
        match &step.test {
            Test::Node => true,
            Test::Text => item.namespace == 0 && matches!(kind, Kind::Text(_) | Kind::Cdata(_)),
            Test::Comment => item.namespace == 0 && matches!(kind, Kind::Comment(_)),
            Test::Instruction(target) => match kind {
                Kind::Instruction { target: t, .. } => target.as_ref().is_none_or(|target| target == t),
                _ => false,
            },
            Test::Name { local, .. } => {
                if step.axis == Axis::Namespace {
                    return item.namespace > 0
                        && wanted.is_none()
                        && (&**local == "*" || self.namespace(item).is_some_and(|(p, _)| *p == **local));
                }
                let attributes = step.axis == Axis::Attribute;
                let right = match kind {
                    Kind::Element { .. } => !attributes && item.namespace == 0,
                    Kind::Attribute { .. } => attributes,
                    _ => false,
                };
                right
                    && self.document.name(item.node).is_some_and(|name| {
                        let any = &**local == "*";
                        (any || name.local == *local)
                            && match wanted {
                                Some(uri) => *name.uri == **uri,
                                None => any || name.uri.is_empty(),
                            }
                    })
            }
        }
    }

    /// Namespaces in scope at an element: `xml`, then those declared, inner ones first.
    fn namespaces_at(&self, node: NodeId) -> Vec<(&str, &str)> {
        let mut out = vec![("xml", XML_NAMESPACE)];
        let mut at = Some(node);
        while let Some(n) = at {
            for (prefix, uri) in self.document.declared(n) {
                if !out.iter().any(|(p, _)| **p == **prefix) {
                    out.push((prefix, uri));
                }
            }
            at = self.document.parent(n);
        }
        out.retain(|(_, uri)| !uri.is_empty());
        out
    }

    pub(super) fn namespace(&self, item: Item) -> Option<(&str, &str)> {
        let number = (item.namespace as usize).checked_sub(1)?;
        self.namespaces_at(item.node).get(number).copied()
    }

    /// Calls `f` for each node of an axis, in the order of the axis.
    fn axis(
        &self,
        item: Item,
        axis: Axis,
        f: &mut dyn FnMut(&Self, Item) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (d, node) = (self.document, item.node);
        let is_leaf = item.namespace > 0 || matches!(d.kind(node), Kind::Attribute { .. });
        let parent = if item.namespace > 0 { Some(node) } else { d.parent(node) };
        let mut each = |n: NodeId| f(self, Item::of(n));
        match axis {
            Axis::Itself => f(self, item),
            Axis::Parent => parent.map_or(Ok(()), each),
            Axis::Ancestor | Axis::AncestorOrSelf => {
                if axis == Axis::AncestorOrSelf {
                    f(self, item)?;
                }
                let mut at = parent;
                while let Some(n) = at {
                    f(self, Item::of(n))?;
                    at = d.parent(n);
                }
                Ok(())
            }
            Axis::Attribute if item.namespace == 0 => d.attributes(node).try_for_each(each),
            Axis::Namespace if item.namespace == 0 && matches!(d.kind(node), Kind::Element { .. }) => {
                let count = self.namespaces_at(node).len() as u32;
                (1..=count).try_for_each(|namespace| f(self, Item { node, namespace }))
            }
            Axis::Attribute | Axis::Namespace => Ok(()),
            Axis::Child if !is_leaf => d.children(node).filter(|n| is_visible(d, *n)).try_for_each(each),
            Axis::Child => Ok(()),
            Axis::Descendant | Axis::DescendantOrSelf => {
                if axis == Axis::DescendantOrSelf {
                    f(self, item)?;
                }
                let mut at = if is_leaf { None } else { d.first_child(node) };
                while let Some(n) = at {
                    if is_visible(d, n) {
                        f(self, Item::of(n))?;
                    }
                    at = d.following(n, node, false);
                }
                Ok(())
            }
            Axis::FollowingSibling | Axis::PrecedingSibling if is_leaf => Ok(()),
            Axis::FollowingSibling => {
                let siblings = std::iter::successors(d.next(node), |n| d.next(*n));
                siblings.filter(|n| is_visible(d, *n)).try_for_each(each)
            }
            Axis::PrecedingSibling => {
                let siblings = std::iter::successors(d.previous(node), |n| d.previous(*n));
                siblings.filter(|n| is_visible(d, *n)).try_for_each(each)
            }
            Axis::Following => {
                // Of an attribute: all behind its element's start tag.
                let mut at = match (is_leaf, parent) {
                    (true, Some(element)) => d.following(element, NodeId::ROOT, false),
                    _ => d.following(node, NodeId::ROOT, true),
                };
                while let Some(n) = at {
                    if is_visible(d, n) {
                        each(n)?;
                    }
                    at = d.following(n, NodeId::ROOT, false);
                }
                Ok(())
            }
            Axis::Preceding => {
                let from = if is_leaf { parent.unwrap_or(node) } else { node };
                let mut ancestor = d.parent(from);
                for n in (1..from.0).rev().map(NodeId) {
                    if Some(n) == ancestor {
                        ancestor = d.parent(n);
                    } else if is_visible(d, n) && !matches!(d.kind(n), Kind::Attribute { .. }) {
                        each(n)?;
                    } else {
                        self.pace()?;
                    }
                }
                Ok(())
            }
        }
    }

    // Operators.

    fn binary(&self, operator: Operator, operands: &(Expr, Expr), focus: Focus) -> Result<Value, Error> {
        let left = self.eval(&operands.0, focus)?;
        if matches!(operator, Operator::And | Operator::Or) {
            let decides = boolean(&left) == (operator == Operator::Or);
            let value = if decides { boolean(&left) } else { boolean(&self.eval(&operands.1, focus)?) };
            return Ok(Value::Boolean(value));
        }
        let right = self.eval(&operands.1, focus)?;
        if operator == Operator::Union {
            return match (left, right) {
                (Value::Nodes(mut a), Value::Nodes(mut b)) => {
                    a.append(&mut b);
                    ordered(&mut a);
                    Ok(Value::Nodes(a))
                }
                _ => Err(Error::Value("Invalid type")),
            };
        }
        let arithmetic =
            |f: fn(f64, f64) -> f64| Ok(Value::Number(f(self.number(&left), self.number(&right))));
        match operator {
            Operator::Add => arithmetic(|a, b| a + b),
            Operator::Subtract => arithmetic(|a, b| a - b),
            Operator::Multiply => arithmetic(|a, b| a * b),
            Operator::Divide => arithmetic(|a, b| a / b),
            Operator::Modulo => arithmetic(|a, b| a % b),
            _ => Ok(Value::Boolean(self.compared(operator, &left, &right)?)),
        }
    }

    fn compared(&self, operator: Operator, left: &Value, right: &Value) -> Result<bool, Error> {
        let equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        match (left, right) {
            (Value::Nodes(a), Value::Nodes(b)) if equality => {
                // Some pair is equal: one has a text of the other. Some pair differs: not all are the same.
                let texts: Vec<String> = self.texts(b)?;
                let all: std::collections::HashSet<&str> = texts.iter().map(String::as_str).collect();
                for item in a {
                    self.pace()?;
                    let text = self.item_text(*item);
                    let holds = match operator {
                        Operator::Equal => all.contains(text.as_str()),
                        _ => all.iter().any(|t| *t != text),
                    };
                    if holds {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Value::Nodes(a), Value::Nodes(b)) => {
                let numbers: Vec<f64> = self.texts(b)?.iter().map(|t| text_number(t)).collect();
                let least = numbers.iter().copied().fold(f64::NAN, f64::min);
                let greatest = numbers.iter().copied().fold(f64::NAN, f64::max);
                let other =
                    if matches!(operator, Operator::Less | Operator::LessEqual) { greatest } else { least };
                let values = self.texts(a)?;
                Ok(values.iter().any(|t| compare_numbers(operator, text_number(t), other)))
            }
            (Value::Nodes(items), Value::Boolean(b)) => Ok(compare_booleans(operator, !items.is_empty(), *b)),
            (Value::Boolean(b), Value::Nodes(items)) => Ok(compare_booleans(operator, *b, !items.is_empty())),
            (Value::Nodes(items), other) => self.any_compares(items, |text| match other {
                Value::Text(t) if equality => (text == t) == (operator == Operator::Equal),
                other => compare_numbers(operator, text_number(text), self.number(other)),
            }),
            (other, Value::Nodes(items)) => self.any_compares(items, |text| match other {
                Value::Text(t) if equality => (text == t) == (operator == Operator::Equal),
                other => compare_numbers(operator, self.number(other), text_number(text)),
            }),
            (a, b) if equality && (is_boolean(a) || is_boolean(b)) => {
                Ok((boolean(a) == boolean(b)) == (operator == Operator::Equal))
            }
            (Value::Text(a), Value::Text(b)) if equality => Ok((a == b) == (operator == Operator::Equal)),
            (a, b) => Ok(compare_numbers(operator, self.number(a), self.number(b))),
        }
    }

    fn any_compares(&self, items: &[Item], test: impl Fn(&str) -> bool) -> Result<bool, Error> {
        for item in items {
            self.pace()?;
            if test(&self.item_text(*item)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn texts(&self, items: &[Item]) -> Result<Vec<String>, Error> {
        let text = |item: &Item| {
            self.pace()?;
            Ok(self.item_text(*item))
        };
        items.iter().map(text).collect()
    }

    /// The string value of a node.
    pub(super) fn item_text(&self, item: Item) -> String {
        match self.namespace(item) {
            Some((_, uri)) => uri.to_owned(),
            None => self.document.string_value(item.node),
        }
    }

    /// A value as text.
    pub(super) fn text(&self, value: &Value) -> String {
        match value {
            Value::Nodes(items) => items.first().map(|i| self.item_text(*i)).unwrap_or_default(),
            Value::Boolean(b) => if *b { "true" } else { "false" }.to_owned(),
            Value::Number(n) => number_text(*n),
            Value::Text(text) => text.clone(),
        }
    }

    /// A value as a number.
    pub(super) fn number(&self, value: &Value) -> f64 {
        match value {
            Value::Number(n) => *n,
            Value::Boolean(b) => f64::from(u8::from(*b)),
            Value::Text(text) => text_number(text),
            Value::Nodes(_) => text_number(&self.text(value)),
        }
    }
}

impl Item {
    /// The string value.
    pub fn text(self, document: &Document) -> String {
        Context::new(document, &[]).item_text(self)
    }
}

/// XPath does not see the document type declaration, nor references that were not expanded.
fn is_visible(document: &Document, node: NodeId) -> bool {
    !matches!(document.kind(node), Kind::Doctype(_) | Kind::Entity { .. })
}

fn ordered(items: &mut Vec<Item>) {
    if !items.is_sorted_by(|a, b| a < b) {
        items.sort_unstable();
        items.dedup();
    }
}

/// A value as a condition.
pub(super) fn boolean(value: &Value) -> bool {
    match value {
        Value::Nodes(items) => !items.is_empty(),
        Value::Boolean(b) => *b,
        Value::Number(n) => *n != 0.0 && !n.is_nan(),
        Value::Text(text) => !text.is_empty(),
    }
}

fn is_boolean(value: &Value) -> bool {
    matches!(value, Value::Boolean(_))
}

fn compare_booleans(operator: Operator, a: bool, b: bool) -> bool {
    compare_numbers(operator, f64::from(u8::from(a)), f64::from(u8::from(b)))
}

fn compare_numbers(operator: Operator, a: f64, b: f64) -> bool {
    match operator {
        Operator::Equal => a == b,
        Operator::NotEqual => a != b,
        Operator::Less => a < b,
        Operator::LessEqual => a <= b,
        Operator::Greater => a > b,
        _ => a >= b,
    }
}
