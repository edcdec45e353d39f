//! Texts inside of values in binary form: the values of a client's parameters and results, and of COPY's binary files.
//!
//! Only texts are encoded; what is around them (arrays, rows, ranges, the version before a `jsonb`) is walked through. What is malformed is
//! left as it is: its decoder tells.

use std::borrow::Cow;

use base::{Oid, SqlResult};

use super::Passage;
use crate::call::{Call, Session};
use crate::oids;
use crate::range;
use crate::registry::builtin_type;

type Convert<'c> = &'c dyn Fn(&[u8], &mut Vec<u8>) -> SqlResult<()>;

/// A value that came this way, with its texts as the server has them.
pub fn from_client<'v>(
    passage: Passage,
    type_oid: Oid,
    value: &'v [u8],
    cx: &Call<'_>,
) -> SqlResult<Cow<'v, [u8]>> {
    let convert = |bytes: &[u8], out: &mut Vec<u8>| {
        let mut text = String::with_capacity(bytes.len());
        passage.decode(bytes, &mut text)?;
        out.append(&mut text.into_bytes());
        Ok(())
    };
    converted(type_oid, value, &convert, cx)
}

/// A value that is to go this way.
pub fn to_client<'v>(
    passage: Passage,
    type_oid: Oid,
    value: &'v [u8],
    cx: &Call<'_>,
) -> SqlResult<Cow<'v, [u8]>> {
    let convert = |bytes: &[u8], out: &mut Vec<u8>| passage.encode(crate::value::str_of(bytes), out);
    converted(type_oid, value, &convert, cx)
}

fn converted<'v>(
    type_oid: Oid,
    value: &'v [u8],
    convert: Convert<'_>,
    cx: &Call<'_>,
) -> SqlResult<Cow<'v, [u8]>> {
    if kind(type_oid, cx) == Kind::Plain {
        return Ok(Cow::Borrowed(value));
    }
    let mut out = Vec::with_capacity(value.len());
    Walk { convert, cx, out: &mut out }.value(type_oid, value)?;
    Ok(Cow::Owned(out))
}

/// What a type's binary form is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No text.
    Plain,
    Text,
    /// A byte, then text.
    Versioned,
    Array,
    Row,
    Range(Oid),
    Multirange(Oid),
}

fn kind(type_oid: Oid, cx: &Call<'_>) -> Kind {
    use oids as o;
    match type_oid {
        o::text | o::varchar | o::bpchar | o::name | o::unknown | o::cstring | o::json | o::xml => {
            return Kind::Text;
        }
        o::jsonb | o::jsonpath => return Kind::Versioned,
        o::record => return Kind::Row,
        _ => {}
    }
    if let Some(info) = builtin_type(type_oid) {
        return if info.is_array() { Kind::Array } else { Kind::Plain };
    }
    kind_of_users(type_oid, cx.session, cx)
}

fn kind_of_users(type_oid: Oid, session: &dyn Session, cx: &Call<'_>) -> Kind {
    let base = session.base_type(type_oid);
    if base != type_oid {
        return kind(base, cx);
    }
    let Some(shape) = session.type_shape(type_oid) else { return Kind::Plain };
    match shape.comparable {
        _ if shape.element.is_valid() => Kind::Array,
        oids::anyenum | oids::text => Kind::Text,
        _ if session.is_row_type(type_oid) => Kind::Row,
        _ => match range::range_info(type_oid, cx) {
            Ok(info) if info.range == type_oid => Kind::Range(info.subtype),
            Ok(info) => Kind::Multirange(info.subtype),
            Err(_) => Kind::Plain,
        },
    }
}

/// Writes a value anew.
struct Walk<'w> {
    convert: Convert<'w>,
    cx: &'w Call<'w>,
    out: &'w mut Vec<u8>,
}

impl Walk<'_> {
    fn value(&mut self, type_oid: Oid, value: &[u8]) -> SqlResult<()> {
        let mut rest = value;
        match kind(type_oid, self.cx) {
            Kind::Plain => {}
            Kind::Text => return (self.convert)(value, self.out),
            Kind::Versioned => {
                if self.copy(1, &mut rest).is_some() {
                    return (self.convert)(rest, self.out);
                }
            }
            Kind::Array => self.array(&mut rest)?,
            Kind::Row => self.row(&mut rest)?,
            Kind::Range(subtype) => self.range(subtype, &mut rest)?,
            Kind::Multirange(subtype) => {
                let count = self.number(&mut rest).unwrap_or(0);
                for _ in 0..count {
                    let Some(start) = self.begin(&mut rest) else { break };
                    let Some(mut part) = take(start.1, &mut rest) else { break };
                    self.range(subtype, &mut part)?;
                    self.out.extend_from_slice(part);
                    self.end(start.0);
                }
            }
        }
        self.out.extend_from_slice(rest);
        Ok(())
    }

    fn array(&mut self, rest: &mut &[u8]) -> SqlResult<()> {
        let (Some(dimensions), Some(_)) = (self.number(rest), self.number(rest)) else { return Ok(()) };
        let Some(element) = self.number(rest) else { return Ok(()) };
        let dimensions = usize::try_from(dimensions).unwrap_or(0).min(crate::array::MAX_DIMENSIONS);
        if self.copy(8 * dimensions, rest).is_none() {
            return Ok(());
        }
        while self.field(Oid(element as u32), rest)? {
            self.cx.session.check_interrupts()?;
        }
        Ok(())
    }

    fn row(&mut self, rest: &mut &[u8]) -> SqlResult<()> {
        for _ in 0..self.number(rest).unwrap_or(0) {
            let Some(type_oid) = self.number(rest) else { break };
            if !self.field(Oid(type_oid as u32), rest)? {
                break;
            }
        }
        Ok(())
    }

    fn range(&mut self, subtype: Oid, rest: &mut &[u8]) -> SqlResult<()> {
        if self.copy(1, rest).is_some() {
            while self.field(subtype, rest)? {}
        }
        Ok(())
    }

    /// A length and so many bytes of a value; false where there is no such thing.
    fn field(&mut self, type_oid: Oid, rest: &mut &[u8]) -> SqlResult<bool> {
        let Some((start, length)) = self.begin(rest) else { return Ok(false) };
        if length < 0 {
            return Ok(true);
        }
        let Some(value) = take(length, rest) else { return Ok(false) };
        self.value(type_oid, value)?;
        self.end(start);
        Ok(true)
    }

    /// A length: where it stands in the output, and what it was.
    fn begin(&mut self, rest: &mut &[u8]) -> Option<(usize, i32)> {
        let start = self.out.len();
        Some((start, self.number(rest)?))
    }

    /// What followed the length at `start` is written.
    fn end(&mut self, start: usize) {
        let length = (self.out.len() - start - 4) as i32;
        self.out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn number(&mut self, rest: &mut &[u8]) -> Option<i32> {
        let number = rest.first_chunk().copied().map(i32::from_be_bytes)?;
        self.copy(4, rest)?;
        Some(number)
    }

    fn copy(&mut self, count: usize, rest: &mut &[u8]) -> Option<()> {
        let (head, behind) = rest.split_at_checked(count)?;
        self.out.extend_from_slice(head);
        *rest = behind;
        Some(())
    }
}

fn take<'r>(length: i32, rest: &mut &'r [u8]) -> Option<&'r [u8]> {
    let (head, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = behind;
    Some(head)
}
