//! # What
//! `fuzzystrmatch`: how far two texts are apart, and how words sound.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/fuzzystrmatch`. Metaphone, Double Metaphone and Daitch-Mokotoff are not there yet.

use base::{SqlError, SqlResult, sql_err};
use session::module::{Module, ModuleFunction};
use tuple::Datum;
use types::Call;
use types::value::FromDatum;

use ModuleFunction::Value;

/// The extension.
pub static MODULE: Module = Module {
    name: "fuzzystrmatch",
    version: "1.2",
    comment: "determine similarities and distance between strings",
    schema: None,
    relocatable: true,
    trusted: true,
    requires: &[],
    script: include_str!("script.sql"),
    functions: &[
        ("levenshtein", Value(|_, args| levenshtein(args, [1, 1, 1], None))),
        ("levenshtein_with_costs", Value(|_, args| levenshtein(args, costs(args), None))),
        ("levenshtein_less_equal", Value(|_, args| levenshtein(args, [1, 1, 1], Some(int(args, 2))))),
        (
            "levenshtein_less_equal_with_costs",
            Value(|_, args| levenshtein(args, costs(args), Some(int(args, 5)))),
        ),
        ("soundex", Value(|_, args| Ok(Datum::text(&soundex(text(args, 0)))))),
        ("difference", Value(|_, args| Ok(Datum::Int4(difference(text(args, 0), text(args, 1)))))),
        ("metaphone", Value(|_, _| missing("metaphone"))),
        ("dmetaphone", Value(|_, _| missing("dmetaphone"))),
        ("dmetaphone_alt", Value(|_, _| missing("dmetaphone_alt"))),
        ("daitch_mokotoff", Value(|_: &Call<'_>, _| missing("daitch_mokotoff"))),
    ],
    ..Module::LIBRARY
};

/// Longest text whose distance is computed, in characters.
const MAX_LENGTH: usize = 255;

fn missing(name: &str) -> SqlResult<Datum> {
    Err(SqlError::not_supported(format!("function {name}()")))
}

fn text(args: &[Datum], i: usize) -> &str {
    <&str>::from_datum(&args[i])
}

fn int(args: &[Datum], i: usize) -> i32 {
    i32::from_datum(&args[i])
}

/// Costs of an insertion, a deletion, a substitution.
fn costs(args: &[Datum]) -> [i32; 3] {
    [int(args, 2), int(args, 3), int(args, 4)]
}

/// The distance; with a limit anything above it where the distance is above.
fn levenshtein(args: &[Datum], costs: [i32; 3], limit: Option<i32>) -> SqlResult<Datum> {
    let source: Vec<char> = text(args, 0).chars().collect();
    let target: Vec<char> = text(args, 1).chars().collect();
    if source.len() > MAX_LENGTH || target.len() > MAX_LENGTH {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "levenshtein argument exceeds maximum length of {MAX_LENGTH} characters"
        ));
    }
    let distance = distance(&source, &target, costs.map(i64::from));
    let told = match limit {
        Some(limit) if limit >= 0 && distance > i64::from(limit) => i64::from(limit) + 1,
        _ => distance,
    };
    Ok(Datum::Int4(told as i32))
}

fn distance(source: &[char], target: &[char], [insert, delete, substitute]: [i64; 3]) -> i64 {
    let mut before: Vec<i64> = (0..=source.len() as i64).map(|n| n * delete).collect();
    for (row, t) in target.iter().enumerate() {
        let mut now = Vec::with_capacity(before.len());
        now.push((row as i64 + 1) * insert);
        for (i, s) in source.iter().enumerate() {
            let exchanged = before[i] + if s == t { 0 } else { substitute };
            now.push((before[i + 1] + insert).min(now[i] + delete).min(exchanged));
        }
        before = now;
    }
    before[source.len()]
}

/// The class of a consonant; `0` for vowels and what sounds like one. What is no letter is a class of its own.
fn sound(c: u8) -> u8 {
    match c {
        b'A'..=b'Z' => b"01230120022455012623010202"[usize::from(c - b'A')],
        other => other,
    }
}

/// A letter and three digits; nothing for a text without letters.
fn soundex(word: &str) -> String {
    let mut characters = word.bytes().map(|c| c.to_ascii_uppercase()).skip_while(|c| !c.is_ascii_uppercase());
    let Some(first) = characters.next() else { return String::new() };
    let mut out = String::from(char::from(first));
    let mut last = first;
    for character in characters {
        if out.len() == 4 {
            break;
        }
        let class = sound(character);
        if character.is_ascii_uppercase() && class != sound(last) && class != b'0' {
            out.push(char::from(class));
        }
        last = character;
    }
    while out.len() < 4 {
        out.push('0');
    }
    out
}

/// How many of the four characters of two codes are the same.
fn difference(a: &str, b: &str) -> i32 {
    let (a, b) = (soundex(a), soundex(b));
    if a.is_empty() && b.is_empty() {
        return 4;
    }
    a.bytes().zip(b.bytes()).filter(|(a, b)| a == b).count() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_sound_alike() {
        assert_eq!(soundex("Anne"), "A500");
        assert_eq!(soundex("Margaret"), "M626");
        assert_eq!(soundex("Ashcraft"), "A226");
        assert_eq!(soundex("  42"), "");
        assert_eq!(difference("Anne", "Andrew"), 2);
    }

    #[test]
    fn distances_count_edits() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("GUMBO"), &chars("GAMBOL"), [1, 1, 1]), 2);
        assert_eq!(distance(&chars("GUMBO"), &chars("GAMBOL"), [2, 1, 1]), 3);
        assert_eq!(distance(&chars("äß"), &chars("ä"), [1, 7, 1]), 7);
    }
}
