//! # What
//! `tsvector` and `tsquery`: their descriptors and functions. What they do is in the crate `textsearch`.
//!
//! # PostgreSQL counterpart
//! `tsvector.c`, `tsvector_op.c`, `tsquery*.c`, `tsrank.c`.

mod configured;
mod documents;
pub(crate) mod index;
mod json_headlines;
mod selectivity;

use std::cmp::Ordering;

use base::{SqlError, SqlResult, sql_err};
use textsearch::query::{self, Op};
use textsearch::vector;
use textsearch::{Query, Vector, matching, rank, rewrite};
use tuple::Bytes;

pub(crate) use configured::FUNCTIONS as CONFIGURED_FUNCTIONS;
pub(crate) use documents::FUNCTIONS as DOCUMENT_FUNCTIONS;
pub(crate) use index::FUNCTIONS as INDEX_FUNCTIONS;
pub(crate) use json_headlines::FUNCTIONS as HEADLINE_FUNCTIONS;

pub use selectivity::{KnownLexemes, UNKNOWN_LEXEME, share_of_documents};

use crate::array::Array;
use crate::call::Call;
use crate::piece;
use crate::registry::SetRows;
use crate::registry::types::prelude::*;

/// A document as the words that it has.
pub(crate) static TSVECTOR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_tsvector,
        io: [Oid(3610), Oid(3611), Oid(3639), Oid(3638)],
        ..TypeInfo::new(oids::tsvector, "tsvector", b'U', Physical::Varlena)
    }),
    input: |_, text, _, _| stored(vector::parse(text)),
    output: |_, value, _, out| vector_of(value).write(out),
    receive: |_, reader, _, _| stored(vector::receive(reader.rest())),
    send: |_, value, _, out| vector_of(value).send(out),
    compare: Some(compare_vectors),
    equal: Some(|a, b| compare_vectors(a, b).is_eq()),
    ..TypeImp::NONE
};

/// What is looked for in documents.
pub(crate) static TSQUERY: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_tsquery,
        io: [Oid(3612), Oid(3613), Oid(3641), Oid(3640)],
        storage: b'p',
        ..TypeInfo::new(oids::tsquery, "tsquery", b'U', Physical::Varlena)
    }),
    input: |_, text, _, cx| query_from_text(text, cx),
    output: |_, value, _, out| query::write(&query_of(value)?, out),
    receive: |_, reader, _, _| encoded(&Query::receive(reader.rest())?),
    send: |_, value, _, out| piece::append(out, byte(value)),
    compare: Some(compare_queries),
    equal: Some(|a, b| compare_queries(a, b).is_eq()),
    ..TypeImp::NONE
};

/// What an index of PostgreSQL's GiST keeps of documents: no value can be made.
pub(crate) static GTSVECTOR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_gtsvector,
        io: [Oid(3646), Oid(3647), Oid(0), Oid(0)],
        storage: b'p',
        ..TypeInfo::new(oids::gtsvector, "gtsvector", b'U', Physical::Varlena)
    }),
    ..TypeImp::NONE
};

functions! {
    3610 tsvectorin(cstring) -> tsvector [immutable strict] { input tsvector }
    3611 tsvectorout(tsvector) -> cstring [immutable strict] { output tsvector }
    3638 tsvectorsend(tsvector) -> bytea [immutable strict] { send tsvector }
    3639 tsvectorrecv(internal) -> tsvector [immutable strict] { receive tsvector }
    3612 tsqueryin(cstring) -> tsquery [immutable strict] { input tsquery }
    3613 tsqueryout(tsquery) -> cstring [immutable strict] { output tsquery }
    3640 tsquerysend(tsquery) -> bytea [immutable strict] { send tsquery }
    3641 tsqueryrecv(internal) -> tsquery [immutable strict] { receive tsquery }
    3646 gtsvectorin(cstring) -> gtsvector [immutable strict] { input gtsvector }
    3647 gtsvectorout(gtsvector) -> cstring [immutable strict] { output gtsvector }
    3616 tsvector_lt(tsvector, tsvector) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_vectors(a, b).is_lt() }
    3617 tsvector_le(tsvector, tsvector) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_vectors(a, b).is_le() }
    3618 tsvector_eq(tsvector, tsvector) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_vectors(a, b).is_eq() }
    3619 tsvector_ne(tsvector, tsvector) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_vectors(a, b).is_ne() }
    3620 tsvector_ge(tsvector, tsvector) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_vectors(a, b).is_ge() }
    3621 tsvector_gt(tsvector, tsvector) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_vectors(a, b).is_gt() }
    3622 tsvector_cmp(tsvector, tsvector) -> int4 [immutable strict] { |a: &Datum, b: &Datum| compare_vectors(a, b) as i32 }
    3711 length(tsvector) -> int4 [immutable strict] { |a: &Datum| vector_of(a).len() as i32 }
    3623 strip(tsvector) -> tsvector [immutable strict] { |a: &Datum| vector_of(a).strip() }
    3624 setweight(tsvector, char) -> tsvector [immutable strict] { |a: &Datum, letter: u8| vector_of(a).with_weight(weight(letter)?, None) }
    3320 setweight(tsvector, char, _text) -> tsvector [immutable strict] { |a: &Datum, letter: u8, of: &[u8]| weigh_some(a, letter, of) }
    3319 ts_filter(tsvector, _char) -> tsvector [immutable strict] { |a: &Datum, weights: &[u8]| vector_of(a).filter(weight_set(weights)?) }
    3321 ts_delete(tsvector, text) -> tsvector [immutable strict] { |a: &Datum, lexeme: &[u8]| vector_of(a).without(&[lexeme]) }
    3323 ts_delete(tsvector, _text) -> tsvector [immutable strict] { |a: &Datum, of: &[u8]| delete(a, of) }
    3625 tsvector_concat(tsvector, tsvector) -> tsvector [immutable strict] { |a: &Datum, b: &Datum| vector_of(a).concat(&vector_of(b)) }
    3322 unnest(tsvector) -> record [immutable strict rows(10.0) names(&["tsvector", "lexeme", "positions", "weights"]) outs(b"iooo", &[crate::oids::tsvector, crate::oids::text, crate::oids::_int2, crate::oids::_text])] { set unnest }
    3326 tsvector_to_array(tsvector) -> _text [immutable strict] { |a: &Datum| to_array(a) }
    3327 array_to_tsvector(_text) -> tsvector [immutable strict] { |lexemes: &[u8]| of_array(lexemes) }
    3634 ts_match_vq(tsvector, tsquery) -> bool [immutable strict] { |a: &Datum, b: &Datum| matching::matches(&vector_of(a), &query_of(b)?) }
    3635 ts_match_qv(tsquery, tsvector) -> bool [immutable strict] { |a: &Datum, b: &Datum| matching::matches(&vector_of(b), &query_of(a)?) }
    3662 tsquery_lt(tsquery, tsquery) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_queries(a, b).is_lt() }
    3663 tsquery_le(tsquery, tsquery) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_queries(a, b).is_le() }
    3664 tsquery_eq(tsquery, tsquery) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_queries(a, b).is_eq() }
    3665 tsquery_ne(tsquery, tsquery) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_queries(a, b).is_ne() }
    3666 tsquery_ge(tsquery, tsquery) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_queries(a, b).is_ge() }
    3667 tsquery_gt(tsquery, tsquery) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_queries(a, b).is_gt() }
    3668 tsquery_cmp(tsquery, tsquery) -> int4 [immutable strict] { |a: &Datum, b: &Datum| compare_queries(a, b) as i32 }
    3669 tsquery_and(tsquery, tsquery) -> tsquery [immutable strict] { |a: &[u8], b: &[u8]| query::join(Op::And, 0, a, b) }
    3670 tsquery_or(tsquery, tsquery) -> tsquery [immutable strict] { |a: &[u8], b: &[u8]| query::join(Op::Or, 0, a, b) }
    3671 tsquery_not(tsquery) -> tsquery [immutable strict] { |a: &[u8]| query::negate(a) }
    5003 tsquery_phrase(tsquery, tsquery) -> tsquery [immutable strict] { |a: &[u8], b: &[u8]| query::phrase(a, b, 1) }
    5004 tsquery_phrase(tsquery, tsquery, int4) -> tsquery [immutable strict] { |a: &[u8], b: &[u8], distance: i32| query::phrase(a, b, distance) }
    3672 numnode(tsquery) -> int4 [immutable strict] { |a: &[u8]| query::count(a) as i32 }
    3673 querytree(tsquery) -> text [immutable strict] { |a: &Datum| query_tree(a) }
    3684 ts_rewrite(tsquery, tsquery, tsquery) -> tsquery [immutable strict] { |a: &Datum, part: &Datum, other: &Datum| rewritten(a, part, other) }
    3691 tsq_mcontains(tsquery, tsquery) -> bool [immutable strict] { |a: &Datum, b: &Datum| query_of(a)?.contains(&query_of(b)?) }
    3692 tsq_mcontained(tsquery, tsquery) -> bool [immutable strict] { |a: &Datum, b: &Datum| query_of(b)?.contains(&query_of(a)?) }
    3703 ts_rank(_float4, tsvector, tsquery, int4) -> float4 [immutable strict] { |w: &[u8], a: &Datum, q: &Datum, method: i32| ranked(rank::rank, Some(w), a, q, method) }
    3704 ts_rank(_float4, tsvector, tsquery) -> float4 [immutable strict] { |w: &[u8], a: &Datum, q: &Datum| ranked(rank::rank, Some(w), a, q, 0) }
    3705 ts_rank(tsvector, tsquery, int4) -> float4 [immutable strict] { |a: &Datum, q: &Datum, method: i32| ranked(rank::rank, None, a, q, method) }
    3706 ts_rank(tsvector, tsquery) -> float4 [immutable strict] { |a: &Datum, q: &Datum| ranked(rank::rank, None, a, q, 0) }
    3707 ts_rank_cd(_float4, tsvector, tsquery, int4) -> float4 [immutable strict] { |w: &[u8], a: &Datum, q: &Datum, method: i32| ranked(rank::rank_cover, Some(w), a, q, method) }
    3708 ts_rank_cd(_float4, tsvector, tsquery) -> float4 [immutable strict] { |w: &[u8], a: &Datum, q: &Datum| ranked(rank::rank_cover, Some(w), a, q, 0) }
    3709 ts_rank_cd(tsvector, tsquery, int4) -> float4 [immutable strict] { |a: &Datum, q: &Datum, method: i32| ranked(rank::rank_cover, None, a, q, method) }
    3710 ts_rank_cd(tsvector, tsquery) -> float4 [immutable strict] { |a: &Datum, q: &Datum| ranked(rank::rank_cover, None, a, q, 0) }
}

fn byte(value: &Datum) -> &[u8] {
    <&[u8]>::from_datum(value)
}

fn vector_of(value: &Datum) -> Vector<'_> {
    Vector::new(byte(value))
}

fn query_of(value: &Datum) -> SqlResult<Query<'_>> {
    Query::decode(byte(value))
}

fn stored(bytes: SqlResult<Vec<u8>>) -> SqlResult<Datum> {
    Ok(Datum::Bytes(bytes?.into()))
}

fn encoded(query: &Query) -> SqlResult<Datum> {
    query.encode().into_datum()
}

fn compare_vectors(a: &Datum, b: &Datum) -> Ordering {
    vector_of(a).compare(&vector_of(b))
}

/// Damaged ones are in the order of their bytes.
fn compare_queries(a: &Datum, b: &Datum) -> Ordering {
    match (query_of(a), query_of(b)) {
        (Ok(a), Ok(b)) => a.compare(&b),
        _ => byte(a).cmp(byte(b)),
    }
}

fn query_from_text(text: &str, cx: &Call) -> SqlResult<Datum> {
    let query = query::parse(text)?;
    if query.is_empty() {
        cx.session.tell(no_lexemes(text));
    }
    encoded(&query)
}

/// The notice on a query that looks for nothing.
fn no_lexemes(text: &str) -> SqlError {
    let message = format!("text-search query doesn't contain lexemes: \"{text}\"");
    SqlError::with_severity(base::Severity::Notice, base::SqlState::SUCCESSFUL_COMPLETION, message)
}

fn weight(letter: u8) -> SqlResult<u8> {
    let letter = letter as i8;
    let found = u8::try_from(letter).ok().and_then(vector::weight_of);
    found.ok_or_else(|| SqlError::internal(format!("unrecognized weight: {letter}")))
}

/// The bits of these letters.
fn weight_set(letters: &[u8]) -> SqlResult<u8> {
    let mut weights = 0;
    for letter in Array::from_payload(letters).elements() {
        let Some(letter) = Option::<u8>::from_datum(letter) else {
            return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "weight array may not contain nulls"));
        };
        let Some(weight) = vector::weight_of(letter) else {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "unrecognized weight: \"{}\"", char::from(letter)));
        };
        weights |= 1 << weight;
    }
    Ok(weights)
}

fn weigh_some(value: &Datum, letter: u8, lexemes: &[u8]) -> SqlResult<Vec<u8>> {
    let weight = weight(letter)?;
    let array = Array::from_payload(lexemes);
    vector_of(value).with_weight(weight, Some(&lexemes_of(&array)?))
}

fn delete(value: &Datum, lexemes: &[u8]) -> SqlResult<Vec<u8>> {
    let array = Array::from_payload(lexemes);
    vector_of(value).without(&lexemes_of(&array)?)
}

/// The elements of an array of lexemes.
fn lexemes_of(array: &Array) -> SqlResult<Vec<&[u8]>> {
    let lexeme = |value| {
        Option::<&[u8]>::from_datum(value)
            .ok_or_else(|| sql_err!(NULL_VALUE_NOT_ALLOWED, "lexeme array may not contain nulls"))
    };
    array.elements().iter().map(lexeme).collect()
}

fn of_array(lexemes: &[u8]) -> SqlResult<Vec<u8>> {
    let array = Array::from_payload(lexemes);
    let lexemes = lexemes_of(&array)?;
    if lexemes.iter().any(|lexeme| lexeme.is_empty()) {
        let message = "lexeme array may not contain empty strings";
        return Err(sql_err!(ZERO_LENGTH_CHARACTER_STRING, "{message}"));
    }
    vector::of_lexemes(&lexemes)
}

fn to_array(value: &Datum) -> SqlResult<Datum> {
    let (vector, mut pace) = (vector_of(value), piece::Pace::new());
    let mut values = Vec::with_capacity(vector.len());
    for (lexeme, _) in vector.iter() {
        values.push(Datum::Bytes(Bytes::new(lexeme)));
        pace.did(32 + lexeme.len())?;
    }
    Ok(crate::array::from_text_values(values))
}

/// Lexemes with their positions and weights.
struct Lexemes {
    value: Datum,
    next: usize,
}

fn unnest(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    Ok(Box::new(Lexemes { value: args[0].clone(), next: 0 }))
}

impl SetRows for Lexemes {
    fn next(&mut self, row: &mut Vec<Datum>) -> SqlResult<bool> {
        let vector = vector_of(&self.value);
        if self.next >= vector.len() {
            return Ok(false);
        }
        row.clear();
        row.push(Datum::text(vector.text(self.next)));
        let positions = vector.positions(self.next);
        if positions.is_empty() {
            row.extend([Datum::Null, Datum::Null]);
        } else {
            let letters: Vec<String> =
                positions.iter().map(|p| vector::letter_of(p.weight()).into()).collect();
            row.push(crate::array::from_small_ints(positions.iter().map(|p| p.place() as i16)));
            row.push(crate::array::from_texts(letters.iter().map(|letter| Some(letter.as_str()))));
        }
        self.next += 1;
        Ok(true)
    }
}

fn query_tree(value: &Datum) -> SqlResult<Vec<u8>> {
    let query = query_of(value)?;
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let found = query::indexable(query)?;
    let mut out = Vec::new();
    match found.is_empty() {
        true => out.push(b'T'),
        false => query::write(&found, &mut out)?,
    }
    Ok(out)
}

fn rewritten(value: &Datum, part: &Datum, other: &Datum) -> SqlResult<Datum> {
    let (query, part, other) = (query_of(value)?, query_of(part)?, query_of(other)?);
    if query.is_empty() || part.is_empty() {
        return Ok(value.clone());
    }
    encoded(&rewrite::Rewriting::new(&query)?.replaced_once(&part, &other)?)
}

type Ranking = fn(&rank::Weights, &Vector, &Query, i32) -> SqlResult<f32>;

fn ranked(by: Ranking, weights: Option<&[u8]>, value: &Datum, query: &Datum, method: i32) -> SqlResult<f32> {
    let weights = weights.map_or(Ok(rank::DEFAULT_WEIGHTS), weights_of)?;
    by(&weights, &vector_of(value), &query_of(query)?, method)
}

/// The weights of an array, those below zero being the usual ones.
fn weights_of(bytes: &[u8]) -> SqlResult<rank::Weights> {
    let array = Array::from_payload(bytes);
    let refused = |what: &str| Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "array of weight {what}"));
    if array.dimensions.len() != 1 {
        return refused("must be one-dimensional");
    }
    if array.elements().len() < 4 {
        return refused("is too short");
    }
    if array.has_nulls() {
        return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "array of weight must not contain nulls"));
    }
    let mut weights = rank::DEFAULT_WEIGHTS;
    for (weight, value) in weights.iter_mut().zip(array.elements()) {
        let value = f32::from_datum(value);
        if value >= 0.0 {
            *weight = value;
        }
        if *weight > 1.0 {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "weight out of range"));
        }
    }
    Ok(weights)
}
