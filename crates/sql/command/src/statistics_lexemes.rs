//! # What
//! From a sample of documents to the lexemes that are most common in them, by lossy counting: lexemes that turn out to be rare are forgotten while the
//! sample is read. Pure.
//!
//! # PostgreSQL counterpart
//! `ts_typanalyze.c`. The method is that of Manku and Motwani (2002).

use std::collections::HashMap;

use base::SqlResult;
use catalog::{ColumnStatistics, CommonLexemes};
use textsearch::Vector;
use tuple::{Bytes, Datum};

use super::statistics::{Population, single, width};

/// Lexemes wanted for each entry of `default_statistics_target`.
const LEXEMES_PER_ENTRY: usize = 10;

/// How often a lexeme was seen, and how often at most before it was counted.
#[derive(Clone, Copy)]
struct Count {
    seen: usize,
    missed: usize,
}

/// Statistics of a column of documents, without their TOAST.
pub(crate) fn column(values: &[Datum], population: Population) -> SqlResult<ColumnStatistics> {
    let wanted = population.target * LEXEMES_PER_ENTRY;
    // What is among the first `wanted` ones by Zipf's law is seen this often: the error is a tenth of it.
    let bucket = (wanted + 10) * 1000 / 7;
    let mut counts: HashMap<&[u8], Count> = HashMap::new();
    let (mut documents, mut total, mut read, mut round) = (0usize, 0usize, 0usize, 1usize);
    let mut pace = runtime::pace::Pace::new();
    for value in values {
        let Datum::Bytes(bytes) = value else { continue };
        documents += 1;
        total += width(value);
        let vector = Vector::new(bytes);
        pace.did(64 + bytes.len())?;
        for at in 0..vector.len() {
            let count = counts.entry(vector.lexeme(at)).or_insert(Count { seen: 0, missed: round - 1 });
            count.seen += 1;
            read += 1;
            if read.is_multiple_of(bucket) {
                counts.retain(|_, count| count.seen + count.missed > round);
                round += 1;
            }
        }
    }
    if documents == 0 {
        let null_fraction = if values.is_empty() { 0.0 } else { 1.0 };
        return Ok(ColumnStatistics { null_fraction, ..ColumnStatistics::default() });
    }
    let null_fraction = single((values.len() - documents) as f64 / values.len() as f64);
    Ok(ColumnStatistics {
        null_fraction,
        width: (total as f64 / documents as f64).floor(),
        // Documents are thought to be all different.
        distinct: single(-(1.0 - null_fraction)),
        lexemes: common(counts, (wanted, 9 * read / bucket), documents)?,
        ..ColumnStatistics::default()
    })
}

/// The most common lexemes, of those seen more often than `cutoff`.
fn common(
    counts: HashMap<&[u8], Count>,
    (wanted, cutoff): (usize, usize),
    documents: usize,
) -> SqlResult<Option<CommonLexemes>> {
    let mut found: Vec<(&[u8], usize)> = counts
        .into_iter()
        .map(|(lexeme, count)| (lexeme, count.seen))
        .filter(|(_, seen)| *seen > cutoff)
        .collect();
    runtime::pace::sort_by(&mut found, |a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)))?;
    found.truncate(wanted);
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return Ok(None) };
    let share = |seen: usize| (seen as f64 / documents as f64) as f32;
    let (most, least) = (share(first.1), share(last.1));
    runtime::pace::sort_by(&mut found, |a, b| a.0.len().cmp(&b.0.len()).then_with(|| a.0.cmp(b.0)))?;
    let shares = found.into_iter().map(|(lexeme, seen)| (Datum::Bytes(Bytes::new(lexeme)), share(seen)));
    Ok(Some(CommonLexemes { shares: shares.collect(), least, most }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Datum {
        Datum::Bytes(textsearch::vector::parse(text).unwrap().into())
    }

    #[test]
    fn common_lexemes_are_listed_with_their_shares() {
        let mut values = vec![document("a:1 bb:2"), document("a:1,7 c:2"), document("a"), Datum::Null];
        values.push(document("bb"));
        let stats = column(&values, Population { rows: 5.0, target: 10 }).unwrap();
        assert_eq!((stats.null_fraction, stats.distinct), (single(0.2), single(-0.8)));
        let lexemes = stats.lexemes.unwrap();
        let expected = [(Datum::text("a"), 0.75), (Datum::text("c"), 0.25), (Datum::text("bb"), 0.5)];
        assert_eq!(lexemes.shares, expected);
        assert_eq!((lexemes.least, lexemes.most), (0.25, 0.75));
        assert_eq!(column(&[Datum::Null], Population { rows: 1.0, target: 10 }).unwrap().null_fraction, 1.0);
    }

    #[test]
    fn lists_are_bounded() {
        let words: Vec<String> = (0..5000).map(|n| format!("w{n}")).collect();
        let mut values: Vec<Datum> = words.chunks(10).map(|chunk| document(&chunk.join(" "))).collect();
        values.extend((0..50).map(|_| document("often")));
        let lexemes = column(&values, Population { rows: 1e6, target: 1 }).unwrap().lexemes.unwrap();
        assert!(lexemes.shares.len() <= 10);
        assert!(lexemes.shares.iter().any(|(word, _)| *word == Datum::text("often")));
    }
}
