//! # What
//! What indexes keep of documents and queries: GIN over the lexemes of a `tsvector`, GiST over signatures of them, GiST over marks of the words of a
//! `tsquery`.
//!
//! # PostgreSQL counterpart and differences
//! `tsginidx.c`, `tsgistidx.c`, `tsquery_gist.c`. Leaves of a GiST over documents have signatures, where PostgreSQL has lists of hashes while these are
//! short.

use std::cmp::Ordering;

use base::SqlError;
use textsearch::Query;
use textsearch::matching::Answer;
use tuple::Datum;
use tuple::parts::{InRange, Part, PartsClass, PartsQuery, SearchMode, Sought};
use tuple::tree::{Match, TreeClass, TreeQuery};

use super::{query_of, vector_of};
use crate::signature::{Signatures, halves, hash, length_option};

/// `tsvector_ops` of GIN.
pub(crate) static LEXEMES: Lexemes = Lexemes;

/// `tsvector_ops` of GiST.
pub(crate) static DOCUMENTS: Signatures = Signatures {
    bytes: 124,
    options: &[length_option(124)],
    elements: lexeme_hashes,
    may_match: may_satisfy,
};

/// `tsquery_ops` of GiST.
pub(crate) static QUERIES: Queries = Queries;

/// The parts of a document are its lexemes.
#[derive(Debug)]
pub(crate) struct Lexemes;

impl PartsClass for Lexemes {
    fn parts(&self, value: &Datum, out: &mut Vec<Part>) {
        let vector = vector_of(value);
        out.extend((0..vector.len()).map(|at| Some(vector.lexeme(at).into())));
    }

    fn query(&self, query: TreeQuery<'_>) -> Result<Box<dyn PartsQuery>, SqlError> {
        let query = query_of(query.value)?.into_owned();
        let mut sought: Vec<Sought> = Vec::new();
        let mut parts = Vec::with_capacity(query.items.len());
        for item in &query.items {
            parts.push(match item {
                textsearch::Item::Value(operand) => {
                    let one = Sought { part: Some(operand.word.as_bytes().into()), range: operand.prefix };
                    Some(sought.iter().position(|known| *known == one).unwrap_or_else(|| {
                        sought.push(one);
                        sought.len() - 1
                    }))
                }
                _ => None,
            });
        }
        let mode = match query.is_empty() || query.needs_words() {
            true => SearchMode::Some,
            false => SearchMode::All,
        };
        Ok(Box::new(Sentence { query, sought, parts, mode }))
    }
}

/// A query with what it seeks.
#[derive(Debug)]
struct Sentence {
    query: Query<'static>,
    sought: Vec<Sought>,
    /// For each item of the query which of the parts sought it is.
    parts: Vec<Option<usize>>,
    mode: SearchMode,
}

impl PartsQuery for Sentence {
    fn sought(&self) -> &[Sought] {
        &self.sought
    }

    fn mode(&self) -> SearchMode {
        self.mode
    }

    fn satisfied(&self, present: &[Match]) -> Match {
        let answer = self.query.answer(&mut |at, operand| {
            let part = self.parts.get(at).copied().flatten();
            match part.and_then(|part| present.get(part)) {
                Some(Match::No) => Answer::No,
                // Weights are not in the index.
                Some(Match::Yes) if operand.weights == 0 => Answer::Yes,
                _ => Answer::Maybe,
            }
        });
        match answer {
            Answer::No => Match::No,
            // A document without lexemes satisfies nothing, and nothing here tells that this one has any.
            Answer::Yes if present.iter().all(|part| *part == Match::No) => Match::Maybe,
            Answer::Maybe => Match::Maybe,
            Answer::Yes => Match::Yes,
        }
    }

    fn in_range(&self, n: usize, part: &[u8]) -> InRange {
        let beginning = self.sought.get(n).and_then(|sought| sought.part.as_deref());
        match beginning.is_some_and(|beginning| part.starts_with(beginning)) {
            true => InRange::Yes,
            false => InRange::Beyond,
        }
    }
}

fn lexeme_hashes(value: &Datum, found: &mut dyn FnMut(u64)) {
    let vector = vector_of(value);
    (0..vector.len()).for_each(|at| found(hash(vector.lexeme(at))));
}

/// Whether a document may satisfy a query that may have just the lexemes of some hashes.
fn may_satisfy(has: &dyn Fn(u64) -> bool, query: TreeQuery<'_>) -> bool {
    let Ok(query) = query_of(query.value) else { return true };
    let answer = query.answer(&mut |_, operand| {
        // Signatures say nothing of how words begin.
        match operand.prefix || has(hash(operand.word.as_bytes())) {
            true => Answer::Maybe,
            false => Answer::No,
        }
    });
    answer != Answer::No
}

/// Queries by marks: a bit for each word, in a `bigint`.
#[derive(Debug)]
pub(crate) struct Queries;

/// Strategy numbers.
mod strategy {
    pub const CONTAINS: u16 = 7;
}

fn marks_of(query: &Datum) -> i64 {
    let Ok(query) = query_of(query) else { return -1 };
    query.operands().fold(0, |marks, operand| marks | 1 << (hash(operand.word.as_bytes()) % 64))
}

fn marks(key: &Datum) -> i64 {
    match key {
        Datum::Int8(marks) => *marks,
        _ => -1,
    }
}

impl TreeClass for Queries {
    fn compress(&self, value: &Datum) -> Datum {
        Datum::Int8(marks_of(value))
    }

    fn returns(&self) -> bool {
        false
    }

    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match {
        let (key, wanted) = (marks(key), marks_of(query.value));
        let may = match query.strategy {
            strategy::CONTAINS => key & wanted == wanted,
            // A query without words is in all others: nothing is known of those below.
            _ => !leaf || key & wanted == key,
        };
        Match::of(may, false)
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        Datum::Int8(keys.iter().fold(0, |all, key| all | marks(key)))
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        marks(a) == marks(b)
    }

    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        (marks(new) & !marks(key)).count_ones() as f32
    }

    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        halves(keys.len(), |a, b| (marks(keys[a]) ^ marks(keys[b])).count_ones())
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        marks(a).cmp(&marks(b))
    }
}

functions! {
    2700 gin_cmp_prefix(text, text, int2, internal) -> int4 [immutable strict] { catalog_only }
    3077 gin_extract_tsvector(tsvector, internal) -> internal [immutable strict] { catalog_only }
    3087 gin_extract_tsquery(tsquery, internal, int2, internal, internal) -> internal [immutable strict] { catalog_only }
    3088 gin_tsquery_consistent(internal, int2, tsquery, int4, internal, internal) -> bool [immutable strict] { catalog_only }
    3434 gtsvector_options(internal) -> void [immutable] { catalog_only }
    3648 gtsvector_compress(internal) -> internal [immutable strict] { catalog_only }
    3649 gtsvector_decompress(internal) -> internal [immutable strict] { catalog_only }
    3650 gtsvector_picksplit(internal, internal) -> internal [immutable strict] { catalog_only }
    3651 gtsvector_union(internal, internal) -> gtsvector [immutable strict] { catalog_only }
    3652 gtsvector_same(gtsvector, gtsvector, internal) -> internal [immutable strict] { catalog_only }
    3653 gtsvector_penalty(internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3654 gtsvector_consistent(internal, tsvector, int2, oid, internal) -> bool [immutable strict] { catalog_only }
    3656 gin_extract_tsvector(tsvector, internal, internal) -> internal [immutable strict] { catalog_only }
    3657 gin_extract_tsquery(tsvector, internal, int2, internal, internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3658 gin_tsquery_consistent(internal, int2, tsvector, int4, internal, internal, internal, internal) -> bool [immutable strict] { catalog_only }
    3695 gtsquery_compress(internal) -> internal [immutable strict] { catalog_only }
    3697 gtsquery_picksplit(internal, internal) -> internal [immutable strict] { catalog_only }
    3698 gtsquery_union(internal, internal) -> int8 [immutable strict] { catalog_only }
    3699 gtsquery_same(int8, int8, internal) -> internal [immutable strict] { catalog_only }
    3700 gtsquery_penalty(internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3701 gtsquery_consistent(internal, tsquery, int2, oid, internal) -> bool [immutable strict] { catalog_only }
    3724 gin_cmp_tslexeme(text, text) -> int4 [immutable strict] { |a: &[u8], b: &[u8]| a.cmp(b) as i32 }
    3790 gtsvector_consistent(internal, gtsvector, int4, oid, internal) -> bool [immutable strict] { catalog_only }
    3791 gin_extract_tsquery(tsquery, internal, int2, internal, internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3792 gin_tsquery_consistent(internal, int2, tsquery, int4, internal, internal, internal, internal) -> bool [immutable strict] { catalog_only }
    3793 gtsquery_consistent(internal, internal, int4, oid, internal) -> bool [immutable strict] { catalog_only }
    3921 gin_tsquery_triconsistent(internal, int2, tsvector, int4, internal, internal, internal) -> char [immutable strict] { catalog_only }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(text: &str) -> Datum {
        super::super::stored(textsearch::vector::parse(text)).unwrap()
    }

    fn query(text: &str) -> Datum {
        super::super::encoded(&textsearch::query::parse(text).unwrap()).unwrap()
    }

    fn asked(value: &Datum, strategy: u16) -> TreeQuery<'_> {
        TreeQuery { strategy, operand: crate::oids::tsquery, value }
    }

    #[test]
    fn gin_knows_words_but_neither_places_nor_weights() {
        let found = |document: &str, text: &str| {
            let (document, value) = (vector(document), query(text));
            let mut parts = Vec::new();
            LEXEMES.parts(&document, &mut parts);
            let query = LEXEMES.query(asked(&value, 1)).unwrap();
            let here = |(n, sought): (usize, &Sought)| {
                let has = |part: &Part| {
                    *part == sought.part
                        || sought.range && query.in_range(n, part.as_deref().unwrap()) == InRange::Yes
                };
                if parts.iter().any(has) { Match::Yes } else { Match::No }
            };
            let present: Vec<Match> = query.sought().iter().enumerate().map(here).collect();
            (query.satisfied(&present), query.mode())
        };
        assert_eq!(found("a:1 b:2", "a & b"), (Match::Yes, SearchMode::Some));
        assert_eq!(found("a:1 b:2", "a <-> b"), (Match::Maybe, SearchMode::Some));
        assert_eq!(found("a:1A", "a:A"), (Match::Maybe, SearchMode::Some));
        assert_eq!(found("abc:1", "ab:*"), (Match::Yes, SearchMode::Some));
        assert_eq!(found("ac:1", "ab:*"), (Match::No, SearchMode::Some));
        // As far as the index knows, the document may be empty, which satisfies nothing.
        assert_eq!(found("a:1", "!b"), (Match::Maybe, SearchMode::All));
        assert_eq!(found("a:1", "a | !b"), (Match::Yes, SearchMode::All));
        assert_eq!(found("a:1", "a & !a:B"), (Match::Maybe, SearchMode::Some));
    }

    #[test]
    fn signatures_miss_nothing() {
        let key = DOCUMENTS.compress(&vector("fat:1 cat:2"));
        for (text, may) in
            [("fat & cat", true), ("fat & !cat", true), ("ca:*", true), ("fat & zebras", false)]
        {
            let matched = DOCUMENTS.consistent(&key, asked(&query(text), 1), true);
            assert_eq!(matched != Match::No, may, "{text}");
        }
        let (small, big) = (query("a"), query("a & b & !c"));
        let both = QUERIES.union(&[&QUERIES.compress(&small), &QUERIES.compress(&big)]);
        assert_eq!(QUERIES.consistent(&QUERIES.compress(&big), asked(&small, 7), true), Match::Maybe);
        assert_eq!(QUERIES.consistent(&QUERIES.compress(&small), asked(&big, 7), true), Match::No);
        assert_eq!(QUERIES.consistent(&QUERIES.compress(&small), asked(&big, 8), true), Match::Maybe);
        assert_eq!(QUERIES.consistent(&QUERIES.compress(&big), asked(&small, 8), true), Match::No);
        assert_eq!(QUERIES.consistent(&both, asked(&big, 7), false), Match::Maybe);
    }
}
