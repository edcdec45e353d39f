//! # What
//! `jsonpath`: the type, and what `@?`, `@@` and `jsonb_path_*` do with it.
//!
//! # Layout
//! A stored path is its text in the one form that output gives (`print.rs`). It is parsed when it is used (`parse.rs`); the path
//! that was used last on a thread is kept. In memory a `Path` is a flat list of nodes that name each other by number.
//!
//! # Invariants
//! 1. Every recursion counts its levels with `deeper`.
//! 2. Whatever a stored path's bytes are, they parse or give an error.
//!
//! # PostgreSQL counterpart and differences
//! `jsonpath.c`, `jsonpath_exec.c`. Ids that `.keyvalue()` gives are ours.

use std::{cell::RefCell, rc::Rc};

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    call::Call,
    numeric::Numeric,
    registry::{SetRows, Values},
    value::FromDatum,
};

use super::binary::{Builder, Json, Kind};
use crate::registry::types::prelude::*;

mod exec;
mod lex;
mod methods;
mod moment;
mod parse;
pub(super) mod parts;
mod print;
mod query;

pub use query::{Outcome, PathUse, ScalarForm, Variable, Wrapping};

/// A node's place in its path.
pub(crate) type NodeId = usize;

/// A part of a path, and what is applied to its result.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    item: Item,
    next: Option<NodeId>,
}

/// A path in memory.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    nodes: Vec<Node>,
    root: NodeId,
    lax: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

impl Arith {
    fn sign(self) -> &'static str {
        match self {
            Arith::Add => "+",
            Arith::Sub => "-",
            Arith::Mul => "*",
            Arith::Div => "/",
            Arith::Mod => "%",
        }
    }
}

/// Methods of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Type,
    Size,
    Abs,
    Floor,
    Ceiling,
    Double,
    DateTime,
    KeyValue,
    BigInt,
    Boolean,
    Date,
    Decimal,
    Integer,
    Number,
    String,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
}

const METHODS: &[(&str, Method)] = &[
    ("type", Method::Type),
    ("size", Method::Size),
    ("abs", Method::Abs),
    ("floor", Method::Floor),
    ("ceiling", Method::Ceiling),
    ("double", Method::Double),
    ("datetime", Method::DateTime),
    ("keyvalue", Method::KeyValue),
    ("bigint", Method::BigInt),
    ("boolean", Method::Boolean),
    ("date", Method::Date),
    ("decimal", Method::Decimal),
    ("integer", Method::Integer),
    ("number", Method::Number),
    ("string", Method::String),
    ("time", Method::Time),
    ("time_tz", Method::TimeTz),
    ("timestamp", Method::Timestamp),
    ("timestamp_tz", Method::TimestampTz),
];

impl Method {
    fn named(name: &str) -> Option<Method> {
        METHODS.iter().find(|(n, _)| *n == name).map(|(_, method)| *method)
    }

    fn name(self) -> &'static str {
        METHODS.iter().find(|(_, m)| *m == self).map_or("", |(name, _)| name)
    }
}

/// The parts of paths.
#[derive(Clone, Debug)]
enum Item {
    Root,
    Current,
    Last,
    Variable(String),
    Null,
    Bool(bool),
    Number(Numeric),
    String(String),
    Key(String),
    AnyKey,
    AnyElement,
    Elements(Vec<(NodeId, Option<NodeId>)>),
    Any(u32, u32),
    Filter(NodeId),
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
    Not(NodeId),
    IsUnknown(NodeId),
    Exists(NodeId),
    Compare(Compare, NodeId, NodeId),
    StartsWith(NodeId, NodeId),
    LikeRegex(NodeId, String, String),
    Arith(Arith, NodeId, NodeId),
    Plus(NodeId),
    Minus(NodeId),
    Method(Method, Vec<Numeric>, Option<String>),
}

/// The letters of `like_regex`, which mean what XQuery says, as `regexp_like` has them.
fn regex_flags(flags: &str) -> String {
    let has = |flag| flags.contains(flag);
    let mut ours = String::new();
    if has('i') {
        ours.push('i');
    }
    if has('q') {
        ours.push('q');
    } else {
        match (has('s'), has('m')) {
            (true, false) => {}
            (true, true) => ours.push('w'),
            (false, true) => ours.push('n'),
            (false, false) => ours.push('p'),
        }
    }
    ours
}

/// The type's input: the text in its one form.
pub(crate) fn from_text(text: &str) -> SqlResult<Datum> {
    let path = parse::parse(text)?;
    Ok(Datum::Bytes(print::print(&path)?.into()))
}

/// The type's binary input: a version and the text.
pub(crate) fn receive(bytes: &[u8]) -> SqlResult<Datum> {
    match bytes.split_first() {
        Some((1, text)) => from_text(crate::text::check_utf8(text)?),
        Some((version, _)) => Err(sql_err!(INTERNAL_ERROR, "unsupported jsonpath version number: {version}")),
        None => Err(sql_err!(PROTOCOL_VIOLATION, "no data left in message")),
    }
}

/// Appends the type's binary form.
pub(crate) fn send(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(1);
    out.extend_from_slice(bytes);
}

/// A stored path, parsed.
fn path_of(value: &Datum) -> SqlResult<Rc<Path>> {
    thread_local! {
        static LAST: RefCell<Option<(String, Rc<Path>)>> = const { RefCell::new(None) };
    }
    let text = <&str>::from_datum(value);
    let kept =
        LAST.with_borrow(|last| last.as_ref().filter(|(t, _)| t == text).map(|(_, path)| path.clone()));
    if let Some(path) = kept {
        return Ok(path);
    }
    let path = Rc::new(parse::parse(text)?);
    LAST.set(Some((text.to_owned(), path.clone())));
    Ok(path)
}

/// Whether what a path gives may depend on the session's time zone. `passed`: types of what it is given.
pub fn needs_zone(path: &Datum, passed: &[base::Oid]) -> bool {
    use crate::oids;
    let moments = |t: &base::Oid| {
        matches!(*t, oids::date | oids::time | oids::timetz | oids::timestamp | oids::timestamptz)
    };
    let Ok(path) = path_of(path) else { return true };
    let compares = path.nodes.iter().any(|node| matches!(node.item, Item::Compare(..)));
    // What a text reads as is its own affair; other types, and other moments to compare with, may be in another zone.
    let zoned = |node: &Node| match &node.item {
        Item::Method(Method::DateTime, ..) => compares,
        Item::Method(method, ..) => matches!(
            method,
            Method::Date | Method::Time | Method::TimeTz | Method::Timestamp | Method::TimestampTz
        ),
        _ => false,
    };
    path.nodes.iter().any(zoned) || (compares && passed.iter().any(moments))
}

/// A path through a JSON document.
pub(crate) static JSONPATH: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_jsonpath,
        io: [Oid(4001), Oid(4003), Oid(4002), Oid(4004)],
        ..TypeInfo::new(oids::jsonpath, "jsonpath", b'U', Physical::Varlena)
    }),
    input: |_, text, _, _| from_text(text),
    receive: |_, reader, _, _| receive(reader.rest()),
    send: |_, value, _, out| {
        send(<&[u8]>::from_datum(value), out);
        Ok(())
    },
    ..crate::text::AS_IS
};

functions! {
    4001 jsonpath_in(cstring) -> jsonpath [immutable strict] { input jsonpath }
    4002 jsonpath_recv(internal) -> jsonpath [immutable strict] { receive jsonpath }
    4003 jsonpath_out(jsonpath) -> cstring [immutable strict] { output jsonpath }
    4004 jsonpath_send(jsonpath) -> bytea [immutable strict] { send jsonpath }
    1177 jsonb_path_exists_tz(jsonb, jsonpath, jsonb, bool) -> bool [stable strict names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { |cx; j: &Datum, p: &Datum, vars: &Datum, silent: bool| path_exists(&Query::new(cx, j, p, vars, silent, true)?) }
    1179 jsonb_path_query_tz(jsonb, jsonpath, jsonb, bool) -> jsonb [stable strict returns_set rows(1000.0) names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { set path_query_tz }
    1180 jsonb_path_query_array_tz(jsonb, jsonpath, jsonb, bool) -> jsonb [stable strict names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { |cx; j: &Datum, p: &Datum, vars: &Datum, silent: bool| path_query_array(&Query::new(cx, j, p, vars, silent, true)?) }
    2023 jsonb_path_query_first_tz(jsonb, jsonpath, jsonb, bool) -> jsonb [stable strict names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { |cx; j: &Datum, p: &Datum, vars: &Datum, silent: bool| path_query_first(&Query::new(cx, j, p, vars, silent, true)?) }
    2030 jsonb_path_match_tz(jsonb, jsonpath, jsonb, bool) -> bool [stable strict names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { |cx; j: &Datum, p: &Datum, vars: &Datum, silent: bool| path_match(&Query::new(cx, j, p, vars, silent, true)?) }
    4005 jsonb_path_exists(jsonb, jsonpath, jsonb, bool) -> bool [immutable strict names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { |cx; j: &Datum, p: &Datum, vars: &Datum, silent: bool| path_exists(&Query::new(cx, j, p, vars, silent, false)?) }
    4006 jsonb_path_query(jsonb, jsonpath, jsonb, bool) -> jsonb [immutable strict returns_set rows(1000.0) names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { set path_query }
    4007 jsonb_path_query_array(jsonb, jsonpath, jsonb, bool) -> jsonb [immutable strict names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { |cx; j: &Datum, p: &Datum, vars: &Datum, silent: bool| path_query_array(&Query::new(cx, j, p, vars, silent, false)?) }
    4008 jsonb_path_query_first(jsonb, jsonpath, jsonb, bool) -> jsonb [immutable strict names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { |cx; j: &Datum, p: &Datum, vars: &Datum, silent: bool| path_query_first(&Query::new(cx, j, p, vars, silent, false)?) }
    4009 jsonb_path_match(jsonb, jsonpath, jsonb, bool) -> bool [immutable strict names(&["target", "path", "vars", "silent"]) defaults(&["{}", "false"])] { |cx; j: &Datum, p: &Datum, vars: &Datum, silent: bool| path_match(&Query::new(cx, j, p, vars, silent, false)?) }
    4010 jsonb_path_exists_opr(jsonb, jsonpath) -> bool [immutable strict] { |cx; j: &Datum, p: &Datum| path_exists(&Query::new(cx, j, p, &Datum::Null, true, false)?) }
    4011 jsonb_path_match_opr(jsonb, jsonpath) -> bool [immutable strict] { |cx; j: &Datum, p: &Datum| path_match(&Query::new(cx, j, p, &Datum::Null, true, false)?) }
}

/// Where a path's variables are.
enum Vars<'a> {
    /// The members of an object.
    Object(Option<Json<'a>>),
    /// Values of PASSING.
    Passed(&'a [Variable<'a>]),
}

/// One use of a path.
struct Query<'a> {
    cx: &'a Call<'a>,
    path: Rc<Path>,
    target: Json<'a>,
    vars: Vars<'a>,
    /// Errors of the path give NULL or nothing.
    silent: bool,
    /// The session's time zone may be used.
    zone: bool,
}

impl<'a> Query<'a> {
    fn new(
        cx: &'a Call<'a>,
        target: &'a Datum,
        path: &'a Datum,
        vars: &'a Datum,
        silent: bool,
        zone: bool,
    ) -> SqlResult<Query<'a>> {
        let vars = Option::<Json>::from_datum(vars);
        if vars.is_some_and(|vars| vars.kind() != Kind::Object) {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "\"vars\" argument is not an object")
                .detail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object."));
        }
        Ok(Query {
            cx,
            path: path_of(path)?,
            target: Json::from_datum(target),
            vars: Vars::Object(vars),
            silent,
            zone,
        })
    }

    /// A variable's value.
    fn variable(&self, name: &str) -> SqlResult<exec::Value<'_>> {
        let found = match &self.vars {
            Vars::Object(vars) => {
                vars.and_then(|vars| vars.get(name)).map(|node| Ok(exec::Value::Node(node)))
            }
            Vars::Passed(list) => list.iter().find(|v| v.name == name).map(|v| query::variable(v, self.cx)),
        };
        found
            .unwrap_or_else(|| Err(sql_err!(UNDEFINED_OBJECT, "could not find jsonpath variable \"{name}\"")))
    }

    /// All items; those in front of an error that was passed over.
    fn all(&self) -> SqlResult<Vec<exec::Value<'_>>> {
        Ok(exec::run(self, false)?.0)
    }
}

fn path_exists(query: &Query<'_>) -> SqlResult<Option<bool>> {
    // A strict path must be followed to its end, for its errors.
    let (found, failed) = exec::run(query, query.path.lax)?;
    Ok(if failed { None } else { Some(!found.is_empty()) })
}

fn path_match(query: &Query<'_>) -> SqlResult<Option<bool>> {
    if let [only] = query.all()?.as_slice() {
        match only.kind() {
            Kind::Bool(value) => return Ok(Some(value)),
            Kind::Null => return Ok(None),
            _ => {}
        }
    }
    if query.silent {
        return Ok(None);
    }
    Err(sql_err!(SINGLETON_SQL_JSON_ITEM_REQUIRED, "single boolean result is expected"))
}

fn path_query_array(query: &Query<'_>) -> SqlResult<Datum> {
    let mut out = Builder::new();
    out.open(false);
    for item in query.all()? {
        item.append(&mut out)?;
    }
    out.close()?;
    Ok(out.finish())
}

fn path_query_first(query: &Query<'_>) -> SqlResult<Datum> {
    match query.all()?.first() {
        Some(item) => item.to_datum(),
        None => Ok(Datum::Null),
    }
}

fn query_rows(cx: &Call, args: &[Datum], zone: bool) -> SqlResult<Box<dyn SetRows>> {
    let [target, path, vars, silent] = args else {
        return Err(SqlError::internal("jsonb_path_query takes four arguments"));
    };
    if args.iter().any(Datum::is_null) {
        return Ok(Box::new(Values(std::iter::empty())));
    }
    let query = Query::new(cx, target, path, vars, bool::from_datum(silent), zone)?;
    let rows: SqlResult<Vec<Datum>> = query.all()?.iter().map(exec::Value::to_datum).collect();
    Ok(Box::new(Values(rows?.into_iter().map(Ok))))
}

fn path_query(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    query_rows(cx, args, false)
}

fn path_query_tz(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    query_rows(cx, args, true)
}

#[cfg(test)]
mod tests;
