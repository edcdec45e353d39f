//! # What
//! `tsquery`: words and operators as a tree, its stored form, order, and combination.
//!
//! # Layout
//! Number of items (4 bytes), then the items in prefix order, the *right* operand first: 1, weights (one bit each), whether the word is a
//! prefix, the word, 0; or 2, the operator, and for [`Op::Phrase`] the distance (2 bytes). Numbers are in the order of the network: it is the
//! form that clients see.
//!
//! `text`: input and output. `build`: items in the order in which a parser meets them. `stop`: queries without their stop words.
//!
//! # PostgreSQL counterpart
//! `tsquery.c`, `tsquery_op.c`, `tsquery_cleanup.c`, `tsquery_util.c`.

mod build;
mod stop;
mod text;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::LazyLock;

use base::{SqlError, SqlResult, sql_err};

pub use build::Builder;
pub use stop::{indexable, without_stop_words};
pub use text::{Morphology, Syntax, parse, parse_as, write};

use crate::vector::{MAX_BYTES, MAX_LEXEME};

/// Largest distance of a phrase.
pub const MAX_DISTANCE: u16 = 1 << 14;

/// What joins operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// `!`
    Not = 1,
    /// `&`
    And,
    /// `|`
    Or,
    /// `<->`
    Phrase,
}

impl Op {
    fn of(number: u8) -> Option<Op> {
        [Op::Not, Op::And, Op::Or, Op::Phrase].get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Which binds stronger.
    pub(crate) fn priority(self) -> u8 {
        match self {
            Op::Or => 1,
            Op::And => 2,
            Op::Phrase => 3,
            Op::Not => 4,
        }
    }
}

/// A word that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand<'a> {
    /// The lexeme, or how it begins.
    pub word: Cow<'a, str>,
    /// Weights that count, a bit each; 0: all.
    pub weights: u8,
    /// Whether the word is how lexemes begin.
    pub prefix: bool,
}

/// A node of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A word.
    Value(Operand<'a>),
    /// A stop word; none is left in a query that is finished.
    Stop,
    /// An operator. Its right or only operand follows.
    Operator {
        /// Which.
        op: Op,
        /// Of [`Op::Phrase`].
        distance: u16,
        /// How far behind it the left operand is; 1 of [`Op::Not`].
        left: u32,
    },
}

/// A query whose items were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// In prefix order.
    pub items: Vec<Item<'a>>,
}

fn invalid(what: impl Into<String>) -> SqlError {
    SqlError::new(base::SqlState::INTERNAL_ERROR, what)
}

fn short() -> SqlError {
    sql_err!(PROTOCOL_VIOLATION, "insufficient data left in message")
}

impl<'a> Query<'a> {
    /// Reads the stored form. It never looks for interrupts.
    pub fn decode(bytes: &'a [u8]) -> SqlResult<Query<'a>> {
        Query::read(bytes, |_| Ok(()))
    }

    /// Reads what a client sent. A distance that no text can say is an error, which it is not to PostgreSQL: such a value could be shown, dumped
    /// and never read again.
    pub fn receive(bytes: &'a [u8]) -> SqlResult<Query<'a>> {
        let mut pace = runtime::pace::Pace::new();
        let query = Query::read(bytes, |done| pace.did(done))?;
        let too_far =
            |item: &Item| matches!(item, Item::Operator { distance, .. } if *distance > MAX_DISTANCE);
        if query.items.iter().any(too_far) {
            return Err(bad_distance());
        }
        Ok(query)
    }

    fn read(bytes: &'a [u8], mut done: impl FnMut(usize) -> SqlResult<()>) -> SqlResult<Query<'a>> {
        let (count, mut rest) = bytes.split_first_chunk().ok_or_else(short)?;
        let count = u32::from_be_bytes(*count) as usize;
        if count > 0x3fff_ffff / 12 {
            return Err(invalid("invalid size of tsquery"));
        }
        let mut items = Vec::with_capacity(count.min(bytes.len() / 3));
        let mut total = 0;
        for i in 0..count {
            let (item, behind) = decode_item(rest)?;
            match &item {
                Item::Value(operand) => {
                    total += operand.word.len() + 1;
                    if total > MAX_BYTES {
                        return Err(invalid("invalid tsquery: total operand length exceeded"));
                    }
                }
                _ if i + 1 == count => return Err(invalid("invalid pointer to right operand")),
                _ => {}
            }
            done(8 + rest.len() - behind.len())?;
            items.push(item);
            rest = behind;
        }
        if !rest.is_empty() {
            return Err(sql_err!(INVALID_BINARY_REPRESENTATION, "incorrect binary data format"));
        }
        link(&mut items)?;
        Ok(Query { items })
    }

    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + 8 * self.items.len());
        out.extend_from_slice(&(self.items.len() as u32).to_be_bytes());
        for item in &self.items {
            encode_item(item, &mut out);
        }
        out
    }

    /// Whether nothing is looked for.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Operator `at` with the places of its operands; of [`Op::Not`] the left one is the only one.
    pub(crate) fn operator(&self, at: usize) -> Option<(Op, u16, usize, usize)> {
        match self.items.get(at)? {
            Item::Operator { op, distance, left } => Some((*op, *distance, at + *left as usize, at + 1)),
            _ => None,
        }
    }

    /// The words that are looked for.
    pub fn operands(&self) -> impl Iterator<Item = &Operand<'a>> {
        self.items.iter().filter_map(|item| match item {
            Item::Value(operand) => Some(operand),
            _ => None,
        })
    }

    /// Bytes that PostgreSQL's form has: queries are ordered by it.
    fn length(&self) -> usize {
        8 + 12 * self.items.len() + self.operands().map(|o| o.word.len() + 1).sum::<usize>()
    }

    /// The order of the type: by number of items, by length, then node by node from the root, right operands first.
    pub fn compare(&self, other: &Query) -> Ordering {
        let by_size =
            self.items.len().cmp(&other.items.len()).then_with(|| self.length().cmp(&other.length()));
        by_size.then_with(|| compare_trees(&self.items, &other.items))
    }

    /// Whether all words of `other` are among those of this one.
    pub fn contains(&self, other: &Query) -> SqlResult<bool> {
        let words = |query: &Query| -> SqlResult<Vec<String>> {
            let mut words: Vec<String> = query.operands().map(|o| o.word.to_string()).collect();
            runtime::pace::sort_by(&mut words, |a, b| a.cmp(b))?;
            words.dedup();
            Ok(words)
        };
        let (all, wanted) = (words(self)?, words(other)?);
        Ok(wanted.iter().all(|word| all.binary_search(word).is_ok()))
    }
}

/// The first difference of two trees of equal numbers of items. Distances of phrases count behind what the phrases are made of.
fn compare_trees(a: &[Item], b: &[Item]) -> Ordering {
    // Operators whose operands are not all passed: how many are left, and how the distances compare.
    let mut open: Vec<(u8, Ordering)> = Vec::new();
    for (a, b) in a.iter().zip(b) {
        match (a, b) {
            (Item::Operator { op, distance, .. }, Item::Operator { op: other, distance: far, .. }) => {
                if op != other {
                    return number_of(*other).cmp(&number_of(*op));
                }
                let by_distance = if *op == Op::Phrase { far.cmp(distance) } else { Ordering::Equal };
                open.push((if *op == Op::Not { 1 } else { 2 }, by_distance));
                continue;
            }
            (Item::Value(a), Item::Value(b)) => {
                let order = checksum(&b.word).cmp(&checksum(&a.word)).then_with(|| a.word.cmp(&b.word));
                if order.is_ne() {
                    return order;
                }
            }
            (a, _) => {
                return if matches!(a, Item::Operator { .. }) { Ordering::Less } else { Ordering::Greater };
            }
        }
        while let Some((left, by_distance)) = open.last_mut() {
            *left -= 1;
            if *left > 0 {
                break;
            }
            if by_distance.is_ne() {
                return *by_distance;
            }
            open.pop();
        }
    }
    Ordering::Equal
}

fn number_of(op: Op) -> u8 {
    op as u8
}

/// The checksum by which PostgreSQL orders words of queries: CRC-32, with its table used the wrong way round.
pub(crate) fn checksum(word: &str) -> i32 {
    static TABLE: LazyLock<[u32; 256]> = LazyLock::new(|| {
        std::array::from_fn(|i| {
            (0..8).fold(i as u32, |crc, _| if crc & 1 != 0 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
        })
    });
    let step = |crc: u32, byte: u8| TABLE[usize::from((crc >> 24) as u8 ^ byte)] ^ crc << 8;
    !word.bytes().fold(u32::MAX, step) as i32
}

fn decode_item(bytes: &[u8]) -> SqlResult<(Item<'_>, &[u8])> {
    match bytes {
        [1, weights, prefix, rest @ ..] => {
            let end = rest.iter().take(MAX_LEXEME + 1).position(|b| *b == 0);
            let Some(end) = end else {
                let long = rest.len() > MAX_LEXEME;
                return Err(if long { invalid("invalid tsquery: operand too long") } else { short() });
            };
            if *weights > 0xf {
                return Err(invalid("invalid tsquery: invalid weight bitmap"));
            }
            let word = std::str::from_utf8(&rest[..end]).map_err(|_| {
                sql_err!(CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\"")
            })?;
            let operand = Operand { word: Cow::Borrowed(word), weights: *weights, prefix: *prefix != 0 };
            Ok((Item::Value(operand), &rest[end + 1..]))
        }
        [2, op, rest @ ..] => {
            let op = Op::of(*op)
                .ok_or_else(|| invalid(format!("invalid tsquery: unrecognized operator type {op}")))?;
            let (distance, rest) = match (op, rest) {
                (Op::Phrase, [a, b, rest @ ..]) => (u16::from_be_bytes([*a, *b]), rest),
                (Op::Phrase, _) => return Err(short()),
                _ => (0, rest),
            };
            Ok((Item::Operator { op, distance, left: 1 }, rest))
        }
        [1 | 2, ..] | [] => Err(short()),
        [kind, ..] => Err(invalid(format!("unrecognized tsquery node type: {kind}"))),
    }
}

fn encode_item(item: &Item, out: &mut Vec<u8>) {
    match item {
        Item::Value(operand) => {
            out.extend_from_slice(&[1, operand.weights, u8::from(operand.prefix)]);
            out.extend_from_slice(operand.word.as_bytes());
            out.push(0);
        }
        Item::Stop => {}
        Item::Operator { op, distance, .. } => {
            out.extend_from_slice(&[2, *op as u8]);
            if *op == Op::Phrase {
                out.extend_from_slice(&distance.to_be_bytes());
            }
        }
    }
}

/// Tells each operator where its left operand is.
pub(crate) fn link(items: &mut [Item]) -> SqlResult<()> {
    // Where the trees begin that nobody has as an operand yet, the next one last.
    let mut trees: Vec<u32> = Vec::new();
    for at in (0..items.len()).rev() {
        if let Item::Operator { op, left, .. } = &mut items[at] {
            let right = trees.pop();
            let other = if *op == Op::Not { right } else { trees.pop() };
            let other = other.ok_or_else(|| invalid("malformed tsquery: operand not found"))?;
            *left = other - at as u32;
        }
        trees.push(at as u32);
    }
    match trees.len() {
        0 | 1 => Ok(()),
        _ => Err(invalid("malformed tsquery: extra nodes")),
    }
}

/// Number of items of a stored query.
pub fn count(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |b| u32::from_be_bytes(*b))
}

/// Two stored queries under an operator; what is empty adds nothing.
pub fn join(op: Op, distance: u16, left: &[u8], right: &[u8]) -> Vec<u8> {
    let (a, b) = (count(left), count(right));
    if a == 0 || b == 0 {
        return if a == 0 { right.to_vec() } else { left.to_vec() };
    }
    let mut out = Vec::with_capacity(left.len() + right.len());
    out.extend_from_slice(&(a + b + 1).to_be_bytes());
    encode_item(&Item::Operator { op, distance, left: 1 }, &mut out);
    out.extend_from_slice(&right[4..]);
    out.extend_from_slice(&left[4..]);
    out
}

/// The opposite of a stored query.
pub fn negate(query: &[u8]) -> Vec<u8> {
    if count(query) == 0 {
        return query.to_vec();
    }
    let mut out = Vec::with_capacity(query.len() + 2);
    out.extend_from_slice(&(count(query) + 1).to_be_bytes());
    encode_item(&Item::Operator { op: Op::Not, distance: 0, left: 1 }, &mut out);
    out.extend_from_slice(&query[4..]);
    out
}

/// One stored query behind the other, at this distance.
pub fn phrase(left: &[u8], right: &[u8], distance: i32) -> SqlResult<Vec<u8>> {
    match u16::try_from(distance) {
        Ok(distance) if distance <= MAX_DISTANCE => Ok(join(Op::Phrase, distance, left, right)),
        _ => Err(bad_distance()),
    }
}

pub(crate) fn bad_distance() -> SqlError {
    sql_err!(
        INVALID_PARAMETER_VALUE,
        "distance in phrase operator must be an integer value between zero and {MAX_DISTANCE} inclusive"
    )
}

#[cfg(test)]
mod tests;
