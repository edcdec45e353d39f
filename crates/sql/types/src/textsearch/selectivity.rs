//! How many documents satisfy a query, by the most common lexemes.
//!
//! # PostgreSQL counterpart
//! `ts_selfuncs.c`.

use textsearch::{Item, Query, query::Op};
use tuple::Datum;

use crate::value::bytes_of;

/// The share of documents that are thought to have a lexeme of which nothing is known.
pub const UNKNOWN_LEXEME: f64 = 0.001;

/// From so many common lexemes on they tell how many have a beginning.
const ENOUGH_FOR_PREFIXES: usize = 100;

/// What is known of common lexemes.
#[derive(Clone, Copy, Debug)]
pub struct KnownLexemes<'s> {
    /// Each with its share of documents, in the order of length, then of bytes.
    pub shares: &'s [(Datum, f32)],
    /// The least share.
    pub least: f64,
}

/// The share of documents that satisfy a stored query.
pub fn share_of_documents(query: &[u8], known: Option<&KnownLexemes<'_>>) -> f64 {
    let Ok(query) = Query::decode(query) else { return UNKNOWN_LEXEME };
    let known = known.filter(|known| !known.shares.is_empty());
    // Operands stand behind their operators.
    let mut shares = vec![0.0; query.items.len()];
    for (at, item) in query.items.iter().enumerate().rev() {
        let of = |at: usize| shares.get(at).copied().unwrap_or(0.0);
        let share: f64 = match item {
            Item::Value(operand) if operand.prefix => prefix(operand.word.as_bytes(), known),
            Item::Value(operand) => word(operand.word.as_bytes(), known),
            Item::Stop => 0.0,
            Item::Operator { op: Op::Not, .. } => 1.0 - of(at + 1),
            Item::Operator { op, left, .. } => {
                let (a, b) = (of(at + *left as usize), of(at + 1));
                if *op == Op::Or { a + b - a * b } else { a * b }
            }
        };
        shares[at] = share.clamp(0.0, 1.0);
    }
    shares.first().copied().unwrap_or(0.0)
}

/// The share of a lexeme that is not among the common ones.
fn rare(known: &KnownLexemes<'_>) -> f64 {
    UNKNOWN_LEXEME.min(known.least / 2.0)
}

fn word(word: &[u8], known: Option<&KnownLexemes<'_>>) -> f64 {
    let Some(known) = known else { return UNKNOWN_LEXEME };
    let found = known.shares.binary_search_by(|(lexeme, _)| {
        let lexeme = bytes_of(lexeme);
        lexeme.len().cmp(&word.len()).then_with(|| lexeme.cmp(word))
    });
    found.map_or_else(|_| rare(known), |at| f64::from(known.shares[at].1))
}

/// What common lexemes begin so is thought to be true of all others.
fn prefix(word: &[u8], known: Option<&KnownLexemes<'_>>) -> f64 {
    let Some(known) = known.filter(|known| !word.is_empty() && known.shares.len() >= ENOUGH_FOR_PREFIXES)
    else {
        return UNKNOWN_LEXEME * 4.0;
    };
    let (mut matched, mut all, mut count) = (0.0f64, 0.0f64, 0usize);
    for (lexeme, share) in known.shares {
        let share = f64::from(*share);
        if bytes_of(lexeme).starts_with(word) {
            matched += share - matched * share;
            count += 1;
        }
        all += share - all * share;
    }
    let others = (1.0 - all.clamp(0.0, 1.0)) * count as f64 / known.shares.len() as f64;
    (matched.clamp(0.0, 1.0) + others).max(rare(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_lexemes() {
        let shares = [(Datum::text("a"), 0.5f32), (Datum::text("b"), 0.25), (Datum::text("aa"), 0.002)];
        let known = KnownLexemes { shares: &shares, least: 0.002 };
        let share = |text: &str| {
            let query = textsearch::query::parse(text).unwrap().encode();
            (share_of_documents(&query, Some(&known)) * 1e6).round() / 1e6
        };
        assert_eq!(share("a"), 0.5);
        assert_eq!(share("aa"), 0.002);
        assert_eq!(share("zz"), 0.001);
        assert_eq!(share("a & b"), 0.125);
        assert_eq!(share("a | b"), 0.625);
        assert_eq!(share("!a <-> b"), 0.125);
        assert_eq!(share("a:*"), 0.004);
        assert_eq!(share(""), 0.0);
        let many: Vec<(Datum, f32)> = (100..200).map(|n| (Datum::text(&format!("w{n}")), 0.01)).collect();
        let known = KnownLexemes { shares: &many, least: 0.01 };
        let query = textsearch::query::parse("w1:*").unwrap().encode();
        assert!((share_of_documents(&query, Some(&known)) - 1.0).abs() < 1e-6);
    }
}
