//! GIN over `jsonb`: `jsonb_ops`, whose parts are keys and scalars, and `jsonb_path_ops`, whose parts are hashes of scalars with the keys on the way to them.
//!
//! A part of `jsonb_ops` is a letter and a text: a key (also a string among an array's elements, or one that is the whole document), a string elsewhere, a number without
//! trailing zeros, a boolean, a null. A long text is replaced by its hash.

use base::SqlError;
use tuple::Datum;
use tuple::parts::{Part, PartsClass, PartsQuery, SearchMode, Sought};
use tuple::tree::{Match, TreeQuery};

use super::binary::{Json, Kind};
use super::path::parts::{Leaf, Tree, conditions};
use super::walk::{Step, Walk};
use crate::array::parts::{all_of, any_of, at_most_maybe};
use crate::value::{FromDatum, bytes_of};

/// `jsonb_ops`
pub(crate) static JSONB: Documents = Documents { paths: false };
/// `jsonb_path_ops`
pub(crate) static PATHS: Documents = Documents { paths: true };

/// Strategy numbers.
pub(super) mod strategy {
    pub const CONTAINS: u16 = 7;
    pub const EXISTS: u16 = 9;
    pub const EXISTS_ANY: u16 = 10;
    pub const EXISTS_ALL: u16 = 11;
    pub const PATH_EXISTS: u16 = 15;
}

/// Longest text that is kept as it is.
const LONGEST: usize = 125;

/// A class of documents.
#[derive(Debug)]
pub(crate) struct Documents {
    /// `jsonb_path_ops`
    paths: bool,
}

fn lettered(letter: u8, text: &[u8]) -> Part {
    let mut out = Vec::with_capacity(1 + text.len().min(LONGEST));
    if text.len() > LONGEST {
        out.push(letter.to_ascii_uppercase());
        out.extend_from_slice(&crc32c::crc32c(text).to_be_bytes());
        out.extend_from_slice(&(text.len() as u32).to_be_bytes());
    } else {
        out.push(letter);
        out.extend_from_slice(text);
    }
    Some(out.into())
}

/// The part of a key, or of a string that counts as one.
pub(super) fn key_part(text: &[u8]) -> Part {
    lettered(b'k', text)
}

/// A number's text, the same for equal ones.
fn number_text(node: Json<'_>) -> String {
    let text = node.number().to_string();
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The part of a scalar that is a value.
pub(super) fn scalar_part(node: Json<'_>) -> Part {
    match node.kind() {
        Kind::Bool(value) => lettered(b'b', if value { b"t" } else { b"f" }),
        Kind::Number => lettered(b'n', number_text(node).as_bytes()),
        Kind::String => lettered(b's', node.text().as_bytes()),
        _ => lettered(b'z', b""),
    }
}

/// The hash of a way that goes on to a key.
pub(super) fn hash_key(way: u32, key: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c_append(way, &[1]), key)
}

/// The part of a scalar at the end of a way.
pub(super) fn hash_part(way: u32, node: Json<'_>) -> Part {
    let hash = match node.kind() {
        Kind::Bool(value) => crc32c::crc32c_append(way, &[2, u8::from(value)]),
        Kind::Number => crc32c::crc32c_append(crc32c::crc32c_append(way, &[3]), number_text(node).as_bytes()),
        Kind::String => crc32c::crc32c_append(crc32c::crc32c_append(way, &[4]), node.text().as_bytes()),
        _ => crc32c::crc32c_append(way, &[5]),
    };
    Some(hash.to_be_bytes()[..].into())
}

fn lettered_parts(root: Json<'_>, out: &mut Vec<Part>) {
    // Whether the next scalar is the value of a key.
    let mut keyed = false;
    for step in Walk::of(root) {
        match step {
            Step::Key(key) => {
                out.push(key_part(key));
                keyed = true;
                continue;
            }
            Step::Scalar(node) if !keyed && node.kind() == Kind::String => {
                out.push(key_part(node.text().as_bytes()))
            }
            Step::Scalar(node) => out.push(scalar_part(node)),
            Step::Open(_) | Step::Close(_) => {}
        }
        keyed = false;
    }
}

fn hashed_parts(root: Json<'_>, out: &mut Vec<Part>) {
    // The way to the container that is open, and to its last key.
    let mut ways: Vec<u32> = Vec::new();
    let mut way = 0;
    for step in Walk::of(root) {
        match step {
            Step::Open(_) => ways.push(way),
            Step::Key(key) => way = hash_key(ways.last().copied().unwrap_or(0), key),
            Step::Scalar(node) => out.push(hash_part(way, node)),
            Step::Close(_) => way = ways.pop().unwrap_or(0),
        }
    }
}

impl PartsClass for Documents {
    fn parts(&self, value: &Datum, out: &mut Vec<Part>) {
        let bytes = bytes_of(value);
        let root = Json::of(&bytes);
        if self.paths { hashed_parts(root, out) } else { lettered_parts(root, out) }
    }

    fn query(&self, query: TreeQuery<'_>) -> Result<Box<dyn PartsQuery>, SqlError> {
        let mut parts = Vec::new();
        let (need, mode) = match query.strategy {
            strategy::CONTAINS => {
                self.parts(query.value, &mut parts);
                (Need::All, if parts.is_empty() { SearchMode::All } else { SearchMode::Some })
            }
            strategy::EXISTS => {
                parts.push(key_part(<&str>::from_datum(query.value).as_bytes()));
                (Need::Any, SearchMode::Some)
            }
            strategy::EXISTS_ANY | strategy::EXISTS_ALL => {
                let texts = crate::array::Elements::new(bytes_of(query.value));
                parts.extend(
                    texts.filter(|t| !t.is_null()).map(|t| key_part(<&str>::from_datum(&t).as_bytes())),
                );
                match query.strategy {
                    strategy::EXISTS_ANY => (Need::Any, SearchMode::Some),
                    _ => (Need::All, if parts.is_empty() { SearchMode::All } else { SearchMode::Some }),
                }
            }
            other => match conditions(query.value, other == strategy::PATH_EXISTS, self.paths)? {
                Some(tree) => {
                    let tree = tree.map(&mut |leaf: Leaf| {
                        parts.push(leaf.0);
                        parts.len() - 1
                    });
                    (Need::Tree(tree), SearchMode::Some)
                }
                None => (Need::All, SearchMode::All),
            },
        };
        Ok(Box::new(Query { need, mode, sought: parts.into_iter().map(Sought::exactly).collect() }))
    }
}

/// Which parts a row needs.
#[derive(Debug)]
enum Need {
    All,
    Any,
    /// Numbers of parts.
    Tree(Tree<usize>),
}

#[derive(Debug)]
struct Query {
    need: Need,
    mode: SearchMode,
    sought: Vec<Sought>,
}

impl Tree<usize> {
    fn satisfied(&self, present: &[Match]) -> Match {
        let each = |list: &[Tree<usize>]| list.iter().map(|tree| tree.satisfied(present)).collect::<Vec<_>>();
        match self {
            Tree::Leaf(n) => present.get(*n).copied().unwrap_or(Match::Maybe),
            Tree::All(list) => all_of(&each(list)),
            Tree::Any(list) => any_of(&each(list)),
        }
    }
}

impl PartsQuery for Query {
    fn sought(&self) -> &[Sought] {
        &self.sought
    }

    fn mode(&self) -> SearchMode {
        self.mode
    }

    fn satisfied(&self, present: &[Match]) -> Match {
        at_most_maybe(match &self.need {
            Need::All => all_of(present),
            Need::Any => any_of(present),
            Need::Tree(tree) => tree.satisfied(present),
        })
    }
}

functions! {
    3480 gin_compare_jsonb(text, text) -> int4 [immutable strict] { |a: &[u8], b: &[u8]| (a.cmp(b)) as i32 }
    3482 gin_extract_jsonb(jsonb, internal, internal) -> internal [immutable strict] { catalog_only }
    3483 gin_extract_jsonb_query(jsonb, internal, int2, internal, internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3484 gin_consistent_jsonb(internal, int2, jsonb, int4, internal, internal, internal, internal) -> bool [immutable strict] { catalog_only }
    3485 gin_extract_jsonb_path(jsonb, internal, internal) -> internal [immutable strict] { catalog_only }
    3486 gin_extract_jsonb_query_path(jsonb, internal, int2, internal, internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3487 gin_consistent_jsonb_path(internal, int2, jsonb, int4, internal, internal, internal, internal) -> bool [immutable strict] { catalog_only }
    3488 gin_triconsistent_jsonb(internal, int2, jsonb, int4, internal, internal, internal) -> char [immutable strict] { catalog_only }
    3489 gin_triconsistent_jsonb_path(internal, int2, jsonb, int4, internal, internal, internal) -> char [immutable strict] { catalog_only }
}
