//! # What
//! `ts_rewrite`: replaces parts of a query that equal another query. `a & b & c` has `a & c` as a part, for its operands are in no order.
//!
//! # PostgreSQL counterpart
//! `tsquery_rewrite.c`, `tsquery_util.c`. The order of the result's operands is PostgreSQL's.

use std::cmp::Ordering;

use base::SqlResult;

use crate::query::{Item, Op, Operand, Query, checksum, link};

/// A node with all of its operands; those of AND and OR may be more than two, and are sorted.
#[derive(Clone, Debug)]
struct Node<'q> {
    kind: Kind<'q>,
    /// The right one first.
    children: Vec<Node<'q>>,
    /// Whether it came by a replacement, and is not looked into.
    new: bool,
}

#[derive(Clone, Debug)]
enum Kind<'q> {
    Value(Operand<'q>),
    Operator(Op, u16),
}

/// A query in which parts are replaced.
pub struct Rewriting<'q> {
    tree: Option<Node<'q>>,
}

impl<'q> Rewriting<'q> {
    /// Begins with a query.
    pub fn new(query: &Query<'q>) -> SqlResult<Rewriting<'q>> {
        Ok(Rewriting { tree: sorted_tree(query)? })
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.tree.is_none()
    }

    /// Replaces what equals `part`, or takes it out if `other` is empty.
    pub fn replace(&mut self, part: &Query<'q>, other: &Query<'q>) -> SqlResult<()> {
        let Some(part) = sorted_tree(part)? else { return Ok(()) };
        let Some(mut tree) = self.tree.take() else { return Ok(()) };
        let other = if other.is_empty() { None } else { Some(node(other, 0)?) };
        if replaced(&mut tree, &part, other.as_ref())? {
            tree.settle()?;
            tree.flatten()?;
            tree.sort()?;
            self.tree = Some(tree);
        }
        Ok(())
    }

    /// Replaces once and gives the result, whose operands stay as the replacement left them.
    pub fn replaced_once(mut self, part: &Query<'q>, other: &Query<'q>) -> SqlResult<Query<'q>> {
        let (Some(part), Some(mut tree)) = (sorted_tree(part)?, self.tree.take()) else {
            return Ok(Query::default());
        };
        let other = if other.is_empty() { None } else { Some(node(other, 0)?) };
        if replaced(&mut tree, &part, other.as_ref())? {
            self.tree = Some(tree);
        }
        self.finish()
    }

    /// The query.
    pub fn finish(self) -> SqlResult<Query<'q>> {
        let mut items = Vec::new();
        if let Some(tree) = self.tree {
            tree.write(&mut items)?;
        }
        link(&mut items)?;
        Ok(Query { items })
    }
}

fn sorted_tree<'q>(query: &Query<'q>) -> SqlResult<Option<Node<'q>>> {
    if query.is_empty() {
        return Ok(None);
    }
    let mut tree = node(query, 0)?;
    tree.flatten()?;
    tree.sort()?;
    Ok(Some(tree))
}

fn node<'q>(query: &Query<'q>, at: usize) -> SqlResult<Node<'q>> {
    runtime::check_stack()?;
    Ok(match query.operator(at) {
        Some((op, distance, left, right)) => {
            let mut children = vec![node(query, right)?];
            if op != Op::Not {
                children.push(node(query, left)?);
            }
            Node { kind: Kind::Operator(op, distance), children, new: false }
        }
        None => {
            let operand = match &query.items[at] {
                Item::Value(operand) => operand.clone(),
                _ => Operand { word: "".into(), weights: 0, prefix: false },
            };
            Node { kind: Kind::Value(operand), children: Vec::new(), new: false }
        }
    })
}

impl<'q> Node<'q> {
    fn op(&self) -> Option<Op> {
        match self.kind {
            Kind::Operator(op, _) => Some(op),
            Kind::Value(_) => None,
        }
    }

    /// Operands of AND and OR under the same operator become operands of it.
    fn flatten(&mut self) -> SqlResult<()> {
        runtime::check_stack()?;
        for child in &mut self.children {
            child.flatten()?;
        }
        let op = self.op();
        if matches!(op, Some(Op::And | Op::Or)) && self.children.iter().any(|child| child.op() == op) {
            let children = std::mem::take(&mut self.children);
            self.children = children
                .into_iter()
                .flat_map(|child| if child.op() == op { child.children } else { vec![child] })
                .collect();
        }
        Ok(())
    }

    fn sort(&mut self) -> SqlResult<()> {
        runtime::check_stack()?;
        for child in &mut self.children {
            child.sort()?;
        }
        if self.op() != Some(Op::Phrase) {
            self.children.sort_by(Node::compare);
        }
        Ok(())
    }

    /// All of it may be replaced again.
    fn settle(&mut self) -> SqlResult<()> {
        runtime::check_stack()?;
        self.new = false;
        self.children.iter_mut().try_for_each(Node::settle)
    }

    fn compare(&self, other: &Node) -> Ordering {
        match (&self.kind, &other.kind) {
            (Kind::Value(a), Kind::Value(b)) => {
                checksum(&b.word).cmp(&checksum(&a.word)).then_with(|| a.word.cmp(&b.word))
            }
            (Kind::Operator(..), Kind::Value(_)) => Ordering::Less,
            (Kind::Value(_), Kind::Operator(..)) => Ordering::Greater,
            (Kind::Operator(a, near), Kind::Operator(b, far)) => {
                let by_shape = b.cmp(a).then_with(|| other.children.len().cmp(&self.children.len()));
                let mut pairs = self.children.iter().zip(&other.children);
                by_shape
                    .then_with(|| {
                        pairs
                            .find_map(|(a, b)| Some(a.compare(b)).filter(|o| o.is_ne()))
                            .unwrap_or(Ordering::Equal)
                    })
                    .then_with(|| if *a == Op::Phrase { far.cmp(near) } else { Ordering::Equal })
            }
        }
    }

    /// Appends the items. More than two operands are grouped: the first two, then the others from the last on.
    fn write(self, items: &mut Vec<Item<'q>>) -> SqlResult<()> {
        runtime::check_stack()?;
        let (op, distance) = match self.kind {
            Kind::Value(operand) => {
                items.push(Item::Value(operand));
                return Ok(());
            }
            Kind::Operator(op, distance) => (op, distance),
        };
        let operators = self.children.len().saturating_sub(1).max(1);
        items.extend((0..operators).map(|_| Item::Operator { op, distance, left: 1 }));
        let mut children = self.children;
        if children.len() > 3 {
            children[2..].rotate_left(1);
            children[2..].reverse();
            children[2..].rotate_left(1);
        }
        children.into_iter().try_for_each(|child| child.write(items))
    }
}

fn replacement<'q>(other: Option<&Node<'q>>) -> Option<Node<'q>> {
    other.map(|other| Node { new: true, ..other.clone() })
}

/// Replaces the parts of a tree that equal `part`; false if nothing is left of it.
fn replaced<'q>(tree: &mut Node<'q>, part: &Node<'q>, other: Option<&Node<'q>>) -> SqlResult<bool> {
    runtime::check_stack()?;
    runtime::check_interrupts()?;
    if !replaced_here(tree, part, other)? {
        return Ok(false);
    }
    if tree.new || tree.op().is_none() {
        return Ok(true);
    }
    let mut left = Vec::with_capacity(tree.children.len());
    for mut child in std::mem::take(&mut tree.children) {
        if replaced(&mut child, part, other)? {
            left.push(child);
        }
    }
    // An operator of one operand is that operand.
    match (left.len(), tree.op()) {
        (0, _) => return Ok(false),
        (1, Some(op)) if op != Op::Not => *tree = left.remove(0),
        _ => tree.children = left,
    }
    Ok(true)
}

/// Replaces the node itself, or some of its operands; false if nothing is left of it.
fn replaced_here<'q>(tree: &mut Node<'q>, part: &Node<'q>, other: Option<&Node<'q>>) -> SqlResult<bool> {
    if tree.new || tree.op() != part.op() {
        return Ok(true);
    }
    if tree.children.len() == part.children.len() {
        if tree.compare(part).is_eq() {
            match replacement(other) {
                Some(new) => *tree = new,
                None => return Ok(false),
            }
        }
        return Ok(true);
    }
    if part.children.is_empty() || tree.children.len() < part.children.len() {
        return Ok(true);
    }
    // Both are sorted: one pass finds the operands of the part.
    let mut wanted = part.children.iter().peekable();
    let mut found = vec![false; tree.children.len()];
    for (found, child) in found.iter_mut().zip(&tree.children) {
        match wanted.peek().map(|part| child.compare(part)) {
            Some(Ordering::Equal) => {
                *found = true;
                wanted.next();
            }
            Some(Ordering::Less) => {}
            _ => break,
        }
    }
    if wanted.peek().is_none() {
        let mut found = found.into_iter();
        tree.children.retain(|_| !found.next().unwrap_or(false));
        tree.children.extend(replacement(other));
        tree.sort()?;
    }
    Ok(true)
}
