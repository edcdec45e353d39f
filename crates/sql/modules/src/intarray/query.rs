//! `query_int`: integers under `!`, `&` and `|`, which bind in this order.
//!
//! A payload is the items behind what they apply to: 5 bytes each, the kind and, of an integer, its value.

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::tree::Match;
use tuple::{Datum, Physical};
use types::Call;
use types::array::Array;
use types::registry::libraries::{LibraryType, TypeSymbols};
use types::registry::{TypeImp, TypeInfo};
use types::value::FromDatum;

use crate::presence::{all_of, any_of, not};

/// Parentheses and negations in each other.
const DEEPEST: usize = 1000;

/// `query_int`
pub(super) const QUERY_INT: LibraryType = LibraryType {
    imp: TypeImp {
        row: Some(TypeInfo {
            storage: b'p',
            ..TypeInfo::new(Oid(9820), "query_int", b'U', Physical::Varlena)
        }),
        input: |_, text, _, _| read(text),
        output: |_, value, _, out| {
            out.extend_from_slice(Query::from_datum(value).show().as_bytes());
            Ok(())
        },
        receive: |_, _, _, _| {
            Err(sql_err!(UNDEFINED_FUNCTION, "no binary input function available for type query_int"))
        },
        send: |_, _, _, _| {
            Err(sql_err!(UNDEFINED_FUNCTION, "no binary output function available for type query_int"))
        },
        ..TypeImp::NONE
    },
    symbols: TypeSymbols { input: "bqarr_in", output: "bqarr_out", ..TypeSymbols::NONE },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Number(i32),
    Not,
    And,
    Or,
}

/// A query.
#[derive(Debug)]
pub(super) struct Query(Vec<Item>);

impl FromDatum<'_> for Query {
    fn from_datum(value: &Datum) -> Query {
        let item = |bytes: &[u8]| match bytes {
            [0, number @ ..] => Item::Number(i32::from_le_bytes(number.try_into().unwrap_or_default())),
            [1, ..] => Item::Not,
            [2, ..] => Item::And,
            _ => Item::Or,
        };
        Query(<&[u8]>::from_datum(value).chunks_exact(5).map(item).collect())
    }
}

impl Query {
    fn datum(&self) -> Datum {
        let mut out = Vec::with_capacity(5 * self.0.len());
        for item in &self.0 {
            let (kind, number) = match item {
                Item::Number(number) => (0, *number),
                Item::Not => (1, 0),
                Item::And => (2, 0),
                Item::Or => (3, 0),
            };
            out.push(kind);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Datum::Bytes(out.into())
    }

    /// Puts items together from the inside; none if they are damaged.
    fn fold<T>(
        &self,
        number: impl Fn(i32) -> T,
        not: impl Fn(T) -> T,
        both: impl Fn(bool, T, T) -> T,
    ) -> Option<T> {
        let mut stack = Vec::new();
        for item in &self.0 {
            let made = match item {
                Item::Number(n) => number(*n),
                Item::Not => not(stack.pop()?),
                Item::And | Item::Or => {
                    let right = stack.pop()?;
                    both(*item == Item::And, stack.pop()?, right)
                }
            };
            stack.push(made);
        }
        stack.pop()
    }

    /// Whether a set that has these numbers satisfies it.
    fn holds(&self, has: impl Fn(i32) -> bool) -> bool {
        let both = |and: bool, a, b| if and { a && b } else { a || b };
        self.fold(has, |inner: bool| !inner, both).unwrap_or(false)
    }

    /// Whether a set that may have these numbers may satisfy it.
    pub(super) fn may_match(&self, has: impl Fn(i32) -> bool) -> bool {
        let both = |and: bool, a, b| if and { a && b } else { a || b };
        self.fold(has, |_| true, both).unwrap_or(true)
    }

    /// What is known of a set of which is known which numbers it has.
    pub(super) fn known(&self, has: impl Fn(i32) -> Match) -> Match {
        let both = |and: bool, a, b| if and { all_of(&[a, b]) } else { any_of(&[a, b]) };
        self.fold(has, not, both).unwrap_or(Match::Maybe)
    }

    /// Its numbers.
    pub(super) fn numbers(&self) -> Vec<i32> {
        self.0
            .iter()
            .filter_map(|item| if let Item::Number(number) = item { Some(*number) } else { None })
            .collect()
    }

    /// The text form. Parentheses stand where `|` is below `&`, and around all that `!` applies to but a number.
    fn show(&self) -> String {
        // With each text whether it is a number, and whether it is of `|`.
        let shown = self.fold(
            |number| (number.to_string(), true, false),
            |(inner, number, _)| match number {
                true => (format!("!{inner}"), false, false),
                false => (format!("!( {inner} )"), false, false),
            },
            |and, left, right| {
                let side = |(text, _, or): (String, bool, bool)| {
                    if and && or { format!("( {text} )") } else { text }
                };
                let (left, right) = (side(left), side(right));
                (format!("{left} {} {right}", if and { '&' } else { '|' }), false, !and)
            },
        );
        shown.map_or(String::new(), |(text, ..)| text)
    }
}

/// `array @@ query`
pub(super) fn matches(array: &Datum, query: &Datum) -> SqlResult<Datum> {
    let array = Array::from_payload(<&[u8]>::from_datum(array));
    let mut numbers = super::of_array(&array)?;
    numbers.sort_unstable();
    Ok(Datum::Bool(Query::from_datum(query).holds(|number| numbers.binary_search(&number).is_ok())))
}

/// `querytree`: the form in which an index is searched.
pub(super) fn indexable(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::text(&Query::from_datum(&args[0]).show()))
}

fn syntax() -> SqlError {
    sql_err!(SYNTAX_ERROR, "syntax error")
}

struct Parser<'a> {
    rest: &'a [u8],
    items: Vec<Item>,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<u8> {
        while let Some((b' ' | b'\t' | b'\n' | b'\r', rest)) = self.rest.split_first() {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn any(&mut self) -> SqlResult<()> {
        self.all()?;
        while self.take(b'|') {
            self.all()?;
            self.items.push(Item::Or);
        }
        Ok(())
    }

    fn all(&mut self) -> SqlResult<()> {
        self.one()?;
        while self.take(b'&') {
            self.one()?;
            self.items.push(Item::And);
        }
        Ok(())
    }

    fn one(&mut self) -> SqlResult<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(sql_err!(STATEMENT_TOO_COMPLEX, "statement too complex"));
        }
        if self.take(b'!') {
            self.one()?;
            self.items.push(Item::Not);
        } else if self.take(b'(') {
            self.any()?;
            if !self.take(b')') {
                return Err(syntax());
            }
        } else {
            self.peek();
            let sign = usize::from(self.rest.first() == Some(&b'-'));
            let digits = self.rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (number, rest) = self.rest.split_at(sign + digits);
            let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
            self.items.push(Item::Number(number.ok_or_else(syntax)?));
            self.rest = rest;
        }
        self.depth -= 1;
        Ok(())
    }
}

fn read(text: &str) -> SqlResult<Datum> {
    let mut parser = Parser { rest: text.as_bytes(), items: Vec::new(), depth: 0 };
    parser.any()?;
    match parser.peek() {
        None => Ok(Query(parser.items).datum()),
        Some(_) => Err(syntax()),
    }
}
