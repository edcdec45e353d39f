//! # What
//! `unaccent`: letters without their accents, ligatures as letters, signs as what ASCII has for them.
//!
//! # Layout
//! Unicode says what a character is made of (compatibility decomposition); without marks that is what stands for it, as far as it consists of
//! Latin and Greek letters and of ASCII's signs (`decomposed`). `letters` adds those that do not decompose.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/unaccent`: what stands for a character is the same as by the rules that it brings along, but for letters of newer versions of Unicode. The function of
//! one argument goes by these rules, whatever became of the dictionary `unaccent`.

mod dictionary;
mod letters;

use std::collections::HashMap;
use std::sync::OnceLock;

use base::{Oid, SqlResult};
use session::module::{Module, ModuleFunction};
use tuple::Datum;
use types::Call;
use types::value::FromDatum;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// The extension.
pub static MODULE: Module = Module {
    name: "unaccent",
    version: "1.1",
    comment: "text search dictionary that removes accents",
    schema: None,
    relocatable: true,
    trusted: true,
    requires: &[],
    script: include_str!("script.sql"),
    functions: &[("unaccent_dict", ModuleFunction::Value(called))],
    templates: &[("unaccent_lexize", dictionary::make)],
    support: &["unaccent_init", "unaccent_lexize"],
    ..Module::LIBRARY
};

/// Characters converted between two looks for interrupts.
const AT_ONCE: usize = 16 << 10;

/// What stands for characters that do not say so themselves.
struct Tables {
    letters: HashMap<char, &'static str>,
    signs: HashMap<char, &'static str>,
}

fn tables() -> &'static Tables {
    static MADE: OnceLock<Tables> = OnceLock::new();
    let by_character = |rows: &[&'static [(&'static str, &'static str)]]| {
        let rows = rows.iter().flat_map(|rows| rows.iter());
        rows.flat_map(|(plain, all)| all.chars().map(move |c| (c, *plain))).collect()
    };
    MADE.get_or_init(|| Tables {
        letters: by_character(&[letters::LETTERS, letters::ARROWS]),
        signs: by_character(&[letters::SIGNS]),
    })
}

/// Marks that combine with Latin and Greek letters, and frames around a character.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{362}' | '\u{20dd}'..='\u{20e0}' | '\u{20e2}'..='\u{20e4}')
}

/// Characters in circles and squares, and variants of Greek letters among the mathematical ones: symbols.
fn is_symbol(c: char) -> bool {
    match c {
        '\u{2460}'..='\u{2473}' | '\u{24b6}'..='\u{24ea}' | '\u{3250}'..='\u{32ff}' => true,
        '\u{1f12a}'..='\u{1f190}' => true,
        // Five alphabets of 58 characters.
        '\u{1d6a8}'..='\u{1d7cb}' => matches!((u32::from(c) - 0x1d6a8) % 58, 17 | 52..=57),
        _ => letters::KEPT.contains(c),
    }
}

/// Signs that are others of another width, height or direction, or several in one.
fn is_form_of_signs(c: char) -> bool {
    matches!(c,
        '\u{ff01}'..='\u{ff65}' | '\u{fe10}'..='\u{fe32}' | '\u{fe35}'..='\u{fe48}' | '\u{fe50}'..='\u{fe6b}'
        | '\u{2024}'..='\u{2026}' | '\u{203c}' | '\u{2047}'..='\u{2049}' | '\u{2474}'..='\u{249b}'
        | '\u{2a74}'..='\u{2a76}' | '\u{1f100}'..='\u{1f10a}')
}

fn is_fraction(c: char) -> bool {
    matches!(c, '\u{bc}'..='\u{be}' | '\u{2150}'..='\u{215f}' | '\u{2189}')
}

/// What a character is made of, without marks; none if that is not plain.
fn decomposed(c: char) -> Option<String> {
    if is_symbol(c) {
        return None;
    }
    let (signs, mut out) = (&tables().signs, String::new());
    if is_fraction(c) {
        out.push(' ');
    }
    decompose_compatible(c, |part| match signs.get(&part) {
        Some(sign) => out.push_str(sign),
        None if is_combining_mark(part) => {}
        None => out.push(part),
    });
    let is_greek = |c: char| matches!(c, '\u{391}'..='\u{3c9}');
    let is_letter = |c: char| c.is_ascii_alphabetic() || is_greek(c);
    let is_plain = out.chars().all(|c| c.is_ascii() || is_greek(c) || c == '°');
    // Units of one character: not those with powers or Greek letters.
    let is_intricate =
        matches!(c, '\u{3371}'..='\u{33df}') && out.chars().any(|c| !c.is_ascii() || c.is_ascii_digit());
    let has_letters = out.chars().any(is_letter);
    let wanted = has_letters || is_fraction(c) || is_form_of_signs(c);
    (is_plain && !is_intricate && wanted).then_some(out)
}

/// Adds what stands for a character.
fn push_plain(c: char, out: &mut String) {
    let tables = tables();
    match c {
        _ if c.is_ascii() => out.push(c),
        _ if is_mark(c) => {}
        // Of Cyrillic letters the one whose dots are often left out.
        'Ё' => out.push('Е'),
        'ё' => out.push('е'),
        _ => match tables.letters.get(&c).or_else(|| tables.signs.get(&c)) {
            Some(plain) => out.push_str(plain),
            None => match decomposed(c) {
                Some(plain) => out.push_str(&plain),
                None => out.push(c),
            },
        },
    }
}

/// `unaccent`, of a text or of a dictionary and a text.
fn called(cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let [dictionary, text] = args else { return unaccent(<&str>::from_datum(&args[0])) };
    let found = cx.session.text_search_dictionary(Oid(u32::from_datum(dictionary)))?;
    let lexemes = found.lexemes(<&str>::from_datum(text)).unwrap_or_default();
    Ok(lexemes.into_iter().next().map_or_else(|| text.clone(), |lexeme| Datum::text(&lexeme.word)))
}

fn unaccent(text: &str) -> SqlResult<Datum> {
    let mut out = String::with_capacity(text.len());
    for (i, character) in text.chars().enumerate() {
        if i % AT_ONCE == AT_ONCE - 1 {
            runtime::check_interrupts()?;
        }
        push_plain(character, &mut out);
    }
    Ok(Datum::Bytes(out.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_go() {
        for (text, plain) in [
            ("Hôtel de la Mer à Çeşme", "Hotel de la Mer a Cesme"),
            ("Ærøskøbing, Łódź, straße", "AEroskobing, Lodz, strasse"),
            ("e\u{301}tude №1 ½", "etude No1  1/2"),
            ("Ἀθῆναι, Ёлка, Йод", "Αθηναι, Елка, Йод"),
            ("ŉ Ǆ ﬃ ⒜ Ⅷ ㎧", "'n DZ ffi (a) VIII m/s"),
            ("“a” — b… ￩ ←", "\"a\" - b... <- ←"),
            ("ａ１ ② ² ™ ㎡ Ǣ ℏ", "a1 ② ² ™ ㎡ Ǣ ℏ"),
            ("日本 한글 ascii", "日本 한글 ascii"),
        ] {
            assert_eq!(unaccent(text).unwrap(), Datum::text(plain));
        }
    }
}
