//! What a document must have so that a path finds something in it, or holds: the parts by which GIN finds it.

use base::SqlResult;
use tuple::Datum;
use tuple::parts::Part;

use super::{Compare, Item, NodeId, Path, path_of};
use crate::json::binary::{Builder, Json};
use crate::json::depth::deeper;
use crate::json::parts::{hash_key, hash_part, key_part, scalar_part};

/// Conditions on parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree<T> {
    /// It is there.
    Leaf(T),
    /// All hold.
    All(Vec<Tree<T>>),
    /// One at least holds.
    Any(Vec<Tree<T>>),
}

/// A part that is to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf(pub Part);

impl<T> Tree<T> {
    /// The same conditions on something else.
    pub(crate) fn map<U>(self, of: &mut impl FnMut(T) -> U) -> Tree<U> {
        match self {
            Tree::Leaf(leaf) => Tree::Leaf(of(leaf)),
            Tree::All(list) => Tree::All(list.into_iter().map(|tree| tree.map(of)).collect()),
            Tree::Any(list) => Tree::Any(list.into_iter().map(|tree| tree.map(of)).collect()),
        }
    }
}

/// What is known of a document in which a path finds something (`exists`), or of which it holds; nothing may be. `hashed`: the parts are those of `jsonb_path_ops`.
///
/// # Errors
/// The stored path does not parse.
pub(crate) fn conditions(path: &Datum, exists: bool, hashed: bool) -> SqlResult<Option<Tree<Leaf>>> {
    let path = path_of(path)?;
    let finder = Finder { path: &path, hashed };
    let start = Way::default();
    if exists {
        Ok(all(finder.follow(0, start, Some(path.root), None)?))
    } else {
        finder.holds(0, &start, path.root, false)
    }
}

/// The steps from the root to the current place of a path.
#[derive(Clone, Debug, Default)]
struct Way {
    keys: Vec<Vec<u8>>,
    hash: u32,
    last: Last,
}

/// The last step of a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Root,
    Key,
    Element,
    Any,
}

struct Finder<'a> {
    path: &'a Path,
    hashed: bool,
}

fn all(mut list: Vec<Tree<Leaf>>) -> Option<Tree<Leaf>> {
    match list.len() {
        0 | 1 => list.pop(),
        _ => Some(Tree::All(list)),
    }
}

impl Finder<'_> {
    /// Follows one step of the path; `false` if nothing is known about the values there.
    fn step(&self, way: &mut Way, item: &Item) -> bool {
        way.last = match item {
            Item::Root => {
                *way = Way::default();
                Last::Root
            }
            Item::Key(key) => {
                way.hash = hash_key(way.hash, key.as_bytes());
                way.keys.push(key.as_bytes().to_vec());
                Last::Key
            }
            Item::AnyElement | Item::Elements(_) => Last::Element,
            Item::AnyKey | Item::Any(..) if !self.hashed => Last::Any,
            _ => return false,
        };
        true
    }

    /// What is known if a path finds something, and that is equal to a scalar if there is one.
    fn follow(
        &self,
        level: usize,
        mut way: Way,
        from: Option<NodeId>,
        scalar: Option<&Item>,
    ) -> SqlResult<Vec<Tree<Leaf>>> {
        let (mut found, mut at) = (Vec::new(), from);
        while let Some(id) = at {
            let node = &self.path.nodes[id];
            match &node.item {
                Item::Current => {}
                Item::Filter(filter) => {
                    found.extend(deeper(level, || self.holds(level + 1, &way, *filter, false))?);
                }
                item => {
                    if !self.step(&mut way, item) {
                        return Ok(found);
                    }
                }
            }
            at = node.next;
        }
        self.arrived(&way, scalar, &mut found)?;
        Ok(found)
    }

    fn arrived(&self, way: &Way, scalar: Option<&Item>, found: &mut Vec<Tree<Leaf>>) -> SqlResult<()> {
        let document = match scalar {
            Some(item) => Some(document_of(item)?),
            None => None,
        };
        let node = document.as_ref().map(|bytes| Json::of(bytes));
        if self.hashed {
            found.extend(node.map(|node| Tree::Leaf(Leaf(hash_part(way.hash, node)))));
            return Ok(());
        }
        found.extend(way.keys.iter().map(|key| Tree::Leaf(Leaf(key_part(key)))));
        let Some(node) = node else { return Ok(()) };
        let value = Tree::Leaf(Leaf(scalar_part(node)));
        let Some(Item::String(text)) = scalar else {
            found.push(value);
            return Ok(());
        };
        // A string among the elements of an array, or alone, is kept as a key; a lax path looks into arrays unasked.
        let key = Tree::Leaf(Leaf(key_part(text.as_bytes())));
        found.push(match way.last {
            _ if self.path.lax => Tree::Any(vec![key, value]),
            Last::Any => Tree::Any(vec![key, value]),
            Last::Root | Last::Element => key,
            Last::Key => value,
        });
        Ok(())
    }

    /// What is known if a predicate holds, or does not hold (`not`).
    fn holds(&self, level: usize, way: &Way, at: NodeId, not: bool) -> SqlResult<Option<Tree<Leaf>>> {
        let node = &self.path.nodes[at];
        let inner = |at: NodeId, not: bool| deeper(level, || self.holds(level + 1, way, at, not));
        match &node.item {
            Item::And(left, right) | Item::Or(left, right) => {
                let (left, right) = (inner(*left, not)?, inner(*right, not)?);
                let both = matches!(node.item, Item::And(..)) != not;
                Ok(match (left, right) {
                    (Some(left), Some(right)) if both => Some(Tree::All(vec![left, right])),
                    (Some(left), Some(right)) => Some(Tree::Any(vec![left, right])),
                    (left, right) => left.or(right).filter(|_| both),
                })
            }
            Item::Not(arg) => inner(*arg, !not),
            Item::Exists(arg) if !not => {
                Ok(all(deeper(level, || self.follow(level + 1, way.clone(), Some(*arg), None))?))
            }
            Item::Compare(Compare::Equal, left, right) if !not => {
                let (path, scalar) = match (self.scalar(*left), self.scalar(*right)) {
                    (Some(scalar), _) => (*right, scalar),
                    (None, Some(scalar)) => (*left, scalar),
                    (None, None) => return Ok(None),
                };
                let follow = || self.follow(level + 1, way.clone(), Some(path), Some(scalar));
                Ok(all(deeper(level, follow)?))
            }
            _ => Ok(None),
        }
    }

    /// The scalar that a node is.
    fn scalar(&self, at: NodeId) -> Option<&Item> {
        let node = &self.path.nodes[at];
        let is = matches!(node.item, Item::Null | Item::Bool(_) | Item::Number(_) | Item::String(_));
        (is && node.next.is_none()).then_some(&node.item)
    }
}

/// A scalar as a document.
fn document_of(item: &Item) -> SqlResult<Vec<u8>> {
    let mut out = Builder::new();
    match item {
        Item::Bool(value) => out.bool(*value),
        Item::Number(value) => out.number(value),
        Item::String(text) => out.string(text)?,
        _ => out.null(),
    }
    Ok(crate::value::bytes_of(&out.finish()).to_vec())
}
