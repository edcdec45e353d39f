//! # What
//! `unaccent`: letters without their accents, ligatures as letters, signs as what ASCII has for them.
//!
//! # Layout
//! `rules.txt` has a replacement a line, a tab, and the code points that it stands for: single ones and ranges, in hexadecimal digits. An empty
//! replacement removes them.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/unaccent` with the rules that it brings along. There are no text search dictionaries yet, so the function that names one, and
//! rules of one's own, are missing.

use std::collections::HashMap;
use std::sync::OnceLock;

use base::SqlResult;
use exec::module::{Module, ModuleFunction};
use tuple::Datum;
use types::value::FromDatum;

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
    functions: &[("unaccent_dict", ModuleFunction::Value(|_, args| unaccent(<&str>::from_datum(&args[0]))))],
    ..Module::LIBRARY
};

const RULES: &str = include_str!("rules.txt");

/// Characters converted between two looks for interrupts.
const AT_ONCE: usize = 16 << 10;

/// What stands for each character that does not stand for itself.
fn rules() -> &'static HashMap<char, &'static str> {
    static MADE: OnceLock<HashMap<char, &'static str>> = OnceLock::new();
    MADE.get_or_init(|| RULES.lines().flat_map(rules_of_line).collect())
}

fn rules_of_line(line: &'static str) -> impl Iterator<Item = (char, &'static str)> {
    let (replacement, codes) = line.rsplit_once('\t').unwrap_or_default();
    let number = |digits: &str| u32::from_str_radix(digits, 16).unwrap_or_default();
    codes.split(' ').flat_map(move |range| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        (number(from)..=number(to)).filter_map(char::from_u32).map(move |c| (c, replacement))
    })
}

fn unaccent(text: &str) -> SqlResult<Datum> {
    let rules = rules();
    let mut out = String::with_capacity(text.len());
    for (i, character) in text.chars().enumerate() {
        if i % AT_ONCE == AT_ONCE - 1 {
            runtime::check_interrupts()?;
        }
        match rules.get(&character).filter(|_| !character.is_ascii()) {
            Some(replacement) => out.push_str(replacement),
            None => out.push(character),
        }
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
            ("日本 ascii", "日本 ascii"),
        ] {
            assert_eq!(unaccent(text).unwrap(), Datum::text(plain));
        }
    }
}
