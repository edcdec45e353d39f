//! What SQL/JSON constructors and IS JSON do, apart from their clauses.

use base::{Oid, SqlResult, sql_err};
use rustc_hash::FxHashSet;
use tuple::Datum;

use crate::{call::Call, oids, value::FromDatum};

use super::{
    binary::{Builder, Json, Kind},
    build::duplicate_key,
    encode::{append_json, append_jsonb, key_text},
    input,
    lex::{Token, escape, unescape},
    parse::{self, Events},
};

/// How a constructor treats what it is given.
#[derive(Clone, Copy, Debug)]
pub struct Construction {
    /// Gives `jsonb`, not `json`.
    pub binary: bool,
    /// WITH UNIQUE KEYS
    pub unique: bool,
    /// ABSENT ON NULL
    pub absent_on_null: bool,
}

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DocumentKind {
    Any,
    Object,
    Array,
    Scalar,
}

/// A name as a JSON string.
pub fn quoted(name: &str) -> String {
    let mut out = Vec::new();
    escape(name, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// JSON_OBJECT of keys and values in turn; `types`: of each.
pub fn object(how: Construction, types: &[Oid], args: &[Datum], cx: &Call<'_>) -> SqlResult<Datum> {
    let mut text = vec![b'{'];
    let mut tree = Builder::new();
    tree.open(true);
    let mut keys = FxHashSet::default();
    let mut any = false;
    for (i, (pair, types)) in args.chunks_exact(2).zip(types.chunks_exact(2)).enumerate() {
        if pair[0].is_null() {
            return Err(match how.binary {
                true => sql_err!(INVALID_PARAMETER_VALUE, "argument {}: key must not be null", 2 * i + 1),
                false => sql_err!(NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key"),
            });
        }
        let absent = how.absent_on_null && pair[1].is_null();
        if absent && !how.unique {
            continue;
        }
        let key = key_text(types[0], &pair[0], cx)?;
        if how.unique && !keys.insert(key.clone()) {
            return Err(duplicate_key(&key, how.binary));
        }
        if absent {
            continue;
        }
        if how.binary {
            tree.key(&key)?;
            append_jsonb(types[1], &pair[1], cx, &mut tree)?;
            continue;
        }
        if std::mem::replace(&mut any, true) {
            text.extend_from_slice(b", ");
        }
        escape(&key, &mut text);
        text.extend_from_slice(b" : ");
        append_json(types[1], &pair[1], cx, &mut text)?;
    }
    finished(how.binary, text, b'}', tree)
}

/// JSON_ARRAY of values; `types`: of each.
pub fn array(how: Construction, types: &[Oid], args: &[Datum], cx: &Call<'_>) -> SqlResult<Datum> {
    let mut text = vec![b'['];
    let mut tree = Builder::new();
    tree.open(false);
    let mut any = false;
    for (value, type_oid) in args.iter().zip(types) {
        if how.absent_on_null && value.is_null() {
            continue;
        }
        if how.binary {
            append_jsonb(*type_oid, value, cx, &mut tree)?;
            continue;
        }
        if std::mem::replace(&mut any, true) {
            text.extend_from_slice(b", ");
        }
        append_json(*type_oid, value, cx, &mut text)?;
    }
    finished(how.binary, text, b']', tree)
}

fn finished(binary: bool, mut text: Vec<u8>, last: u8, mut tree: Builder) -> SqlResult<Datum> {
    if binary {
        tree.close()?;
        return Ok(tree.finish());
    }
    text.push(last);
    Ok(Datum::Bytes(text.into()))
}

/// JSON_SCALAR of a value.
pub fn scalar(binary: bool, type_oid: Oid, value: &Datum, cx: &Call<'_>) -> SqlResult<Datum> {
    if value.is_null() {
        return Ok(Datum::Null);
    }
    if binary {
        let mut out = Builder::new();
        append_jsonb(type_oid, value, cx, &mut out)?;
        return Ok(out.finish());
    }
    let mut out = Vec::new();
    append_json(type_oid, value, cx, &mut out)?;
    Ok(Datum::Bytes(out.into()))
}

/// JSON() WITH UNIQUE KEYS of a text.
pub fn parse_unique(binary: bool, text: &Datum) -> SqlResult<Datum> {
    let Some(text) = Option::<&str>::from_datum(text) else { return Ok(Datum::Null) };
    check_unique(text)?;
    if binary { input::from_text(text) } else { Ok(Datum::text(text)) }
}

/// Whether a value of type `text`, `json` or `jsonb` is a document of a kind.
pub fn is_document(type_oid: Oid, value: &Datum, kind: DocumentKind, unique: bool) -> SqlResult<bool> {
    if type_oid == oids::jsonb {
        let found = Json::from_datum(value).kind();
        return Ok(match kind {
            DocumentKind::Any => true,
            DocumentKind::Object => found == Kind::Object,
            DocumentKind::Array => found == Kind::Array,
            DocumentKind::Scalar => !matches!(found, Kind::Object | Kind::Array),
        });
    }
    let text = <&str>::from_datum(value);
    let first = text.trim_start_matches([' ', '\t', '\n', '\r']).bytes().next();
    let fits = match kind {
        DocumentKind::Any => true,
        DocumentKind::Object => first == Some(b'{'),
        DocumentKind::Array => first == Some(b'['),
        DocumentKind::Scalar => !matches!(first, Some(b'{' | b'[')),
    };
    if !fits || (type_oid == oids::json && !unique) {
        return Ok(fits);
    }
    let checked = if unique { check_unique(text) } else { parse::check(text) };
    match checked {
        Ok(()) => Ok(true),
        Err(error) if error.code().as_str().starts_with("22") => Ok(false),
        Err(error) => Err(error),
    }
}

/// Looks for keys that come again in one object.
struct UniqueKeys<'t> {
    text: &'t str,
    /// Keys of each open object; nothing for an array.
    open: Vec<Option<FxHashSet<String>>>,
}

impl Events for UniqueKeys<'_> {
    fn open(&mut self, object: bool, _start: usize) -> SqlResult<()> {
        self.open.push(object.then(FxHashSet::default));
        Ok(())
    }

    fn close(&mut self, _object: bool, _end: usize) -> SqlResult<()> {
        self.open.pop();
        Ok(())
    }

    fn key(&mut self, start: usize, end: usize) -> SqlResult<()> {
        let key = unescape(&self.text[start..end]).into_owned();
        let again = match self.open.last_mut() {
            Some(Some(keys)) => !keys.insert(key),
            _ => false,
        };
        if again { Err(duplicate_key("", true)) } else { Ok(()) }
    }

    fn scalar(&mut self, _token: Token, _start: usize, _end: usize) -> SqlResult<()> {
        Ok(())
    }
}

fn check_unique(text: &str) -> SqlResult<()> {
    parse::parse(text, true, &mut UniqueKeys { text, open: Vec::new() })
}
