//! What is done with sets.

use base::{SqlError, SqlResult, sql_err};
use session::Session;
use session::module::one_column;
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::array::{Array, Dimension, Dimensions};
use types::json::binary::Builder;
use types::value::FromDatum;
use types::{Call, oids};

use super::value::{Hstore, Pair, key_order, store, store_sorted};

pub(super) fn null_key() -> SqlError {
    sql_err!(NULL_VALUE_NOT_ALLOWED, "null value not allowed for hstore key")
}

fn set(args: &[Datum], at: usize) -> Hstore<'_> {
    Hstore::from_datum(&args[at])
}

fn key(args: &[Datum]) -> &str {
    <&str>::from_datum(&args[1])
}

fn text_or_null(text: Option<&str>) -> Datum {
    text.map_or(Datum::Null, Datum::text)
}

fn array(value: &Datum) -> Array {
    Array::from_payload(<&[u8]>::from_datum(value))
}

/// The elements of a `text[]` that are not NULL.
fn texts(of: &Array) -> impl Iterator<Item = &str> {
    of.elements().iter().filter(|key| !key.is_null()).map(<&str>::from_datum)
}

/// The value at a key, which `value[key]` is.
pub(super) fn entry(of: &Datum, key: &str) -> Datum {
    text_or_null(Hstore::from_datum(of).get(key).flatten())
}

/// The set with another value at a key: an assignment to `value[key]`.
pub(super) fn with_entry(of: &Datum, key: &str, value: &Datum) -> SqlResult<Datum> {
    let mut pairs: Vec<Pair<'_>> = vec![(key, Option::from_datum(value))];
    if !of.is_null() {
        pairs.extend(Hstore::from_datum(of).pairs());
    }
    store(pairs)
}

pub(super) fn get(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(entry(&args[0], key(args)))
}

pub(super) fn exists(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Bool(set(args, 0).get(key(args)).is_some()))
}

pub(super) fn is_defined(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Bool(set(args, 0).get(key(args)).flatten().is_some()))
}

pub(super) fn exists_any(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Bool(texts(&array(&args[1])).any(|key| set(args, 0).get(key).is_some())))
}

pub(super) fn exists_all(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Bool(texts(&array(&args[1])).all(|key| set(args, 0).get(key).is_some())))
}

/// The values at keys, in an array of the keys' shape.
pub(super) fn slice_array(cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let keys = array(&args[1]);
    let value =
        |key: &Datum| if key.is_null() { Datum::Null } else { entry(&args[0], <&str>::from_datum(key)) };
    let values = keys.elements().iter().map(value).collect();
    Ok(Array::with_dimensions(oids::text, keys.dimensions, values, cx)?.to_datum())
}

pub(super) fn slice(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let keys = array(&args[1]);
    store(texts(&keys).filter_map(|key| Some((key, set(args, 0).get(key)?))).collect())
}

fn without(of: Hstore<'_>, gone: impl Fn(Pair<'_>) -> bool) -> SqlResult<Datum> {
    store_sorted(&of.pairs().filter(|pair| !gone(*pair)).collect::<Vec<_>>())
}

pub(super) fn delete_key(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    without(set(args, 0), |(found, _)| found == key(args))
}

pub(super) fn delete_keys(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let keys = array(&args[1]);
    let mut gone: Vec<&str> = texts(&keys).collect();
    types::piece::sort_by(&mut gone, |a, b| key_order(a, b))?;
    without(set(args, 0), |(key, _)| gone.binary_search_by(|one| key_order(one, key)).is_ok())
}

pub(super) fn delete_pairs(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let gone = set(args, 1);
    without(set(args, 0), |(key, value)| gone.get(key) == Some(value))
}

/// The pairs of both; where both have a key, that of the second.
pub(super) fn concat(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    store(set(args, 1).pairs().chain(set(args, 0).pairs()).collect())
}

pub(super) fn from_text(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    store_sorted(&[(<&str>::from_datum(&args[0]), Option::from_datum(&args[1]))])
}

fn wrong_subscripts(message: &'static str) -> SqlError {
    SqlError::new(base::SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

fn pairs<'a>(all: impl Iterator<Item = (&'a Datum, &'a Datum)>) -> SqlResult<Vec<Pair<'a>>> {
    all.map(|(key, value)| match key.is_null() {
        true => Err(null_key()),
        false => Ok((<&str>::from_datum(key), Option::from_datum(value))),
    })
    .collect()
}

/// From an array of keys and one of values, or NULL.
pub(super) fn from_arrays(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let keys = array(&args[0]);
    let values = (!args[1].is_null()).then(|| array(&args[1]));
    if [Some(&keys), values.as_ref()].into_iter().flatten().any(|one| one.dimensions.len() > 1) {
        return Err(wrong_subscripts("wrong number of array subscripts"));
    }
    match &values {
        Some(values) if values.dimensions != keys.dimensions => {
            Err(wrong_subscripts("arrays must have same bounds"))
        }
        Some(values) => store(pairs(keys.elements().iter().zip(values.elements()))?),
        None => store(pairs(keys.elements().iter().zip(std::iter::repeat(&Datum::Null)))?),
    }
}

/// From an array of keys and values in turn, or of rows of two.
pub(super) fn from_array(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let all = array(&args[0]);
    match all.dimensions.as_slice() {
        [] => {}
        [one] if one.length % 2 != 0 => {
            return Err(wrong_subscripts("array must have even number of elements"));
        }
        [_] => {}
        [_, columns] if columns.length != 2 => return Err(wrong_subscripts("array must have two columns")),
        [_, _] => {}
        _ => return Err(wrong_subscripts("wrong number of array subscripts")),
    }
    store(pairs(all.elements().chunks_exact(2).map(|pair| (&pair[0], &pair[1])))?)
}

pub(super) fn keys(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(types::array::from_texts(set(args, 0).pairs().map(|(key, _)| Some(key))))
}

pub(super) fn values(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(types::array::from_texts(set(args, 0).pairs().map(|(_, value)| value)))
}

pub(super) fn to_array(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(types::array::from_texts(set(args, 0).pairs().flat_map(|(key, value)| [Some(key), value])))
}

pub(super) fn to_matrix(cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let of = set(args, 0);
    let values: Vec<Datum> =
        of.pairs().flat_map(|(key, value)| [Datum::text(key), text_or_null(value)]).collect();
    let dimensions: Dimensions =
        [of.len() as i32, 2].into_iter().map(|length| Dimension { length, lower: 1 }).collect();
    Ok(Array::with_dimensions(oids::text, dimensions, values, cx)?.to_datum())
}

pub(super) fn set_of_keys(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    one_column(session, set(call.args, 0).pairs().map(|(key, _)| Datum::text(key)))
}

pub(super) fn set_of_values(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    one_column(session, set(call.args, 0).pairs().map(|(_, value)| text_or_null(value)))
}

pub(super) fn each(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    let rows = set(call.args, 0).pairs().map(|(key, value)| vec![Datum::text(key), text_or_null(value)]);
    session::module::rows(session, call, rows)
}

/// Whether a text is a number as JSON writes them.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

/// As JSON, with all values as strings; in the loose form, booleans and numbers stay such.
pub(super) fn to_json(args: &[Datum], loose: bool) -> SqlResult<Datum> {
    let mut out = String::from("{");
    for (i, (key, value)) in set(args, 0).pairs().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(&types::json::quoted(key));
        out.push_str(": ");
        match value {
            None => out.push_str("null"),
            Some("t") if loose => out.push_str("true"),
            Some("f") if loose => out.push_str("false"),
            Some(value) if loose && is_number(value) => out.push_str(value),
            Some(value) => out.push_str(&types::json::quoted(value)),
        }
    }
    out.push('}');
    Ok(Datum::Bytes(out.into()))
}

/// The same as `jsonb`.
pub(super) fn to_jsonb(args: &[Datum], loose: bool) -> SqlResult<Datum> {
    let mut out = Builder::new();
    out.open(true);
    for (key, value) in set(args, 0).pairs() {
        out.key(key)?;
        match value {
            None => out.null(),
            Some("t") if loose => out.bool(true),
            Some("f") if loose => out.bool(false),
            Some(value) if loose && is_number(value) => {
                out.number(&types::numeric::Numeric::parse(value)?);
            }
            Some(value) => out.string(value)?,
        }
    }
    out.close()?;
    Ok(out.finish())
}
