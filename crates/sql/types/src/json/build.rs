//! Functions and aggregates that put documents together.

use base::{Oid, SqlError, SqlResult, sql_err};
use rustc_hash::FxHashSet;
use tuple::Datum;

use crate::{
    aggregate::{AggState, AggregateImp},
    array::Array,
    call::Call,
    piece,
    value::FromDatum,
};

use super::{
    binary::Builder,
    encode::{append_json, append_jsonb, is_structured, key_text},
    lex::escape,
};

/// Arguments of a `VARIADIC "any"` call with their types; `None` when the whole array is NULL.
fn arguments<'d>(cx: &Call, args: &'d [Datum], spread: &'d mut Vec<Datum>) -> Option<Vec<(Oid, &'d Datum)>> {
    if !cx.variadic_array {
        return Some(args.iter().enumerate().map(|(i, value)| (cx.arg_type(i), value)).collect());
    }
    let array = Array::from_payload(Option::<&[u8]>::from_datum(args.first()?)?);
    let element = array.element;
    *spread = array.into_elements();
    Some(spread.iter().map(|value| (element, value)).collect())
}

fn null_key() -> SqlError {
    sql_err!(NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key")
}

fn check_even(count: usize, function: &str) -> SqlResult<()> {
    if count.is_multiple_of(2) {
        return Ok(());
    }
    Err(sql_err!(INVALID_PARAMETER_VALUE, "argument list must have even number of elements")
        .hint(format!("The arguments of {function}() must consist of alternating keys and values.")))
}

pub(super) fn json_build_array(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let mut spread = Vec::new();
    let Some(list) = arguments(cx, args, &mut spread) else { return Ok(Datum::Null) };
    let mut out = vec![b'['];
    for (i, (type_oid, value)) in list.into_iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        append_json(type_oid, value, cx, &mut out)?;
    }
    out.push(b']');
    Ok(Datum::Bytes(out.into()))
}

pub(super) fn jsonb_build_array(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let mut spread = Vec::new();
    let Some(list) = arguments(cx, args, &mut spread) else { return Ok(Datum::Null) };
    let mut out = Builder::new();
    out.open(false);
    for (type_oid, value) in list {
        append_jsonb(type_oid, value, cx, &mut out)?;
    }
    out.close()?;
    Ok(out.finish())
}

pub(super) fn json_build_object(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let mut spread = Vec::new();
    let Some(list) = arguments(cx, args, &mut spread) else { return Ok(Datum::Null) };
    check_even(list.len(), "json_build_object")?;
    let mut out = vec![b'{'];
    for (i, pair) in list.chunks_exact(2).enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        append_json_pair(cx, pair[0], pair[1], &mut out)?;
    }
    out.push(b'}');
    Ok(Datum::Bytes(out.into()))
}

fn append_json_pair(cx: &Call, key: (Oid, &Datum), value: (Oid, &Datum), out: &mut Vec<u8>) -> SqlResult<()> {
    if key.1.is_null() {
        return Err(null_key());
    }
    escape(&key_text(key.0, key.1, cx)?, out);
    out.extend_from_slice(b" : ");
    append_json(value.0, value.1, cx, out)
}

pub(super) fn jsonb_build_object(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let mut spread = Vec::new();
    let Some(list) = arguments(cx, args, &mut spread) else { return Ok(Datum::Null) };
    check_even(list.len(), "jsonb_build_object")?;
    let mut out = Builder::new();
    out.open(true);
    for (i, pair) in list.chunks_exact(2).enumerate() {
        if pair[0].1.is_null() {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "argument {}: key must not be null", 2 * i + 1));
        }
        out.key(&key_text(pair[0].0, pair[0].1, cx)?)?;
        append_jsonb(pair[1].0, pair[1].1, cx, &mut out)?;
    }
    out.close()?;
    Ok(out.finish())
}

/// Keys and values of `json_object`: one array of pairs in one or two dimensions, or an array of each.
fn texts_as_pairs(args: &[Datum]) -> SqlResult<Vec<(String, Option<String>)>> {
    let wrong = || sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts");
    let arrays: Vec<Array> = args.iter().map(|a| Array::from_payload(<&[u8]>::from_datum(a))).collect();
    let text = |value: &Datum| Option::<&str>::from_datum(value).map(str::to_owned);
    let pair = |(key, value): (&Datum, &Datum)| Ok((text(key).ok_or_else(null_key)?, text(value)));
    if let [keys, values] = arrays.as_slice() {
        if keys.dimensions.len() > 1 || keys.dimensions.len() != values.dimensions.len() {
            return Err(wrong());
        }
        if keys.elements().len() != values.elements().len() {
            return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "mismatched array dimensions"));
        }
        return keys.elements().iter().zip(values.elements()).map(pair).collect();
    }
    let Some(array) = arrays.first() else { return Ok(Vec::new()) };
    match array.dimensions.as_slice() {
        [] => {}
        [only] if only.length % 2 != 0 => {
            return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "array must have even number of elements"));
        }
        [_] => {}
        [_, columns] if columns.length != 2 => {
            return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "array must have two columns"));
        }
        [_, _] => {}
        _ => return Err(wrong()),
    }
    array.elements().chunks_exact(2).map(|two| pair((&two[0], &two[1]))).collect()
}

pub(super) fn json_object(_cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let mut out = vec![b'{'];
    for (i, (key, value)) in texts_as_pairs(args)?.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        escape(key, &mut out);
        out.extend_from_slice(b" : ");
        match value {
            Some(text) => escape(text, &mut out),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.push(b'}');
    Ok(Datum::Bytes(out.into()))
}

pub(super) fn jsonb_object(_cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let mut out = Builder::new();
    out.open(true);
    for (key, value) in texts_as_pairs(args)? {
        out.key(&key)?;
        match value {
            Some(text) => out.string(&text)?,
            None => out.null(),
        }
    }
    out.close()?;
    Ok(out.finish())
}

/// State of a JSON aggregate: the document without its last bracket.
#[derive(Clone, Debug)]
pub struct JsonState {
    out: Partial,
    members: usize,
    /// Keys so far, where they must be unique.
    keys: FxHashSet<String>,
}

#[derive(Clone, Debug)]
enum Partial {
    Text(Vec<u8>),
    Binary(Box<Builder>),
}

/// The aggregates of this family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JsonAgg {
    /// Gives `jsonb`, not `json`.
    pub binary: bool,
    /// It builds an object from two arguments, not an array from one.
    pub object: bool,
    /// NULL values are left out.
    pub strict: bool,
    /// A key that comes again is an error.
    pub unique: bool,
}

impl JsonAgg {
    fn begin(self) -> Box<JsonState> {
        let out = if self.binary {
            let mut builder = Builder::new();
            builder.open(self.object);
            Partial::Binary(Box::new(builder))
        } else {
            Partial::Text(if self.object { b"{ ".to_vec() } else { b"[".to_vec() })
        };
        Box::new(JsonState { out, members: 0, keys: FxHashSet::default() })
    }

    fn append_pair(self, cx: &Call, state: &mut JsonState, args: &[Datum]) -> SqlResult<()> {
        let (Some(key), Some(value)) = (args.first(), args.get(1)) else { return Ok(()) };
        if key.is_null() {
            return Err(match self.binary {
                true => sql_err!(INVALID_PARAMETER_VALUE, "field name must not be null"),
                false => null_key(),
            });
        }
        let skip = self.strict && value.is_null();
        if skip && !self.unique {
            return Ok(());
        }
        let key = key_text(cx.arg_type(0), key, cx)?;
        if self.unique && !state.keys.insert(key.clone()) {
            return Err(duplicate_key(&key, self.binary));
        }
        if skip {
            return Ok(());
        }
        match &mut state.out {
            Partial::Text(out) => {
                if state.members > 0 {
                    out.extend_from_slice(b", ");
                }
                escape(&key, out);
                out.extend_from_slice(b" : ");
                append_json(cx.arg_type(1), value, cx, out)?;
            }
            Partial::Binary(out) => {
                out.key(&key)?;
                append_jsonb(cx.arg_type(1), value, cx, out)?;
            }
        }
        state.members += 1;
        Ok(())
    }

    fn append_element(self, cx: &Call, state: &mut JsonState, value: &Datum) -> SqlResult<()> {
        if self.strict && value.is_null() {
            return Ok(());
        }
        match &mut state.out {
            Partial::Text(out) => {
                if state.members > 0 {
                    out.extend_from_slice(b", ");
                    if !value.is_null() && is_structured(cx.arg_type(0), cx) {
                        out.extend_from_slice(b"\n ");
                    }
                }
                append_json(cx.arg_type(0), value, cx, out)?;
            }
            Partial::Binary(out) => append_jsonb(cx.arg_type(0), value, cx, out)?,
        }
        state.members += 1;
        Ok(())
    }
}

/// The error for a key that must not come again.
pub(crate) fn duplicate_key(key: &str, binary: bool) -> SqlError {
    if binary {
        return sql_err!(DUPLICATE_JSON_OBJECT_KEY_VALUE, "duplicate JSON object key value");
    }
    let mut shown = Vec::new();
    escape(key, &mut shown);
    let shown = String::from_utf8(shown).unwrap_or_default();
    sql_err!(DUPLICATE_JSON_OBJECT_KEY_VALUE, "duplicate JSON object key value: {shown}")
}

impl AggregateImp for JsonAgg {
    fn start(&self) -> AggState {
        AggState::Empty
    }

    fn add(&self, cx: &Call, state: &mut AggState, args: &[Datum]) -> SqlResult<()> {
        if !matches!(state, AggState::Json(_)) {
            *state = AggState::Json(self.begin());
        }
        let AggState::Json(state) = state else { return Ok(()) };
        match args.first() {
            _ if self.object => self.append_pair(cx, state, args),
            Some(value) => self.append_element(cx, state, value),
            None => Ok(()),
        }
    }

    fn finish(&self, _cx: &Call, state: &AggState) -> SqlResult<Datum> {
        let AggState::Json(state) = state else { return Ok(Datum::Null) };
        match &state.out {
            Partial::Text(out) => {
                let mut out = piece::copy(out)?;
                out.extend_from_slice(if self.object { b" }" } else { b"]" });
                Ok(Datum::Bytes(out.into()))
            }
            Partial::Binary(out) => {
                let mut out = Builder::clone(out);
                out.close()?;
                Ok(out.finish())
            }
        }
    }

    fn combine(&self, _cx: &Call, state: &mut AggState, other: AggState) -> SqlResult<()> {
        match (&mut *state, other) {
            (_, AggState::Empty) => Ok(()),
            (AggState::Empty, other) => {
                *state = other;
                Ok(())
            }
            _ => Err(SqlError::internal("states of a JSON aggregate cannot be joined")),
        }
    }

    fn order_matters(&self) -> bool {
        true
    }
}
