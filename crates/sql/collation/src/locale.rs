//! Names of locales of ICU: language tags (`de-u-co-phonebk`), and the older notation (`de@collation=phonebook`, `en_US`) that is read and turned into one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use base::{SqlError, SqlResult, sql_err};
use icu_collator::CollatorPreferences;
use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, MaxVariable, Strength};
use icu_locale_core::Locale;
use icu_locale_core::extensions::unicode::Key;

/// The locales of CLDR that every cluster has collations for, with what they are called in English.
const KNOWN: &str = include_str!("locales.txt");

/// Language tags of the locales that every cluster has collations for, with comments on them that may be empty.
pub fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    KNOWN.lines().filter_map(|line| line.split_once('\t'))
}

/// Name of an attribute in the older notation, its key in language tags, and its values in both.
type Attribute = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Attributes in ICU's older notation, their keys in tags, and values that are called otherwise there.
const ATTRIBUTES: [Attribute; 9] = [
    (
        "colstrength",
        "ks",
        &[
            ("primary", "level1"),
            ("secondary", "level2"),
            ("tertiary", "level3"),
            ("quaternary", "level4"),
            ("identical", "identic"),
        ],
    ),
    ("colalternate", "ka", &[("non-ignorable", "noignore")]),
    ("colbackwards", "kb", &[("yes", "true"), ("no", "false")]),
    ("colcaselevel", "kc", &[("yes", "true"), ("no", "false")]),
    ("colcasefirst", "kf", &[("no", "false")]),
    ("colnumeric", "kn", &[("yes", "true"), ("no", "false")]),
    ("colnormalization", "kk", &[("yes", "true"), ("no", "false")]),
    ("colreorder", "kr", &[]),
    (
        "collation",
        "co",
        &[("phonebook", "phonebk"), ("traditional", "trad"), ("dictionary", "dict"), ("gb2312han", "gb2312")],
    ),
];

/// The language tag of a locale's name; none if it is no such name.
pub fn language_tag(name: &str) -> Option<String> {
    let (base, attributes) = name.split_once('@').unwrap_or((name, ""));
    let base = base.split('.').next().unwrap_or("").replace('_', "-");
    if base.eq_ignore_ascii_case("c") || base.eq_ignore_ascii_case("posix") {
        return Some("en-US-u-va-posix".to_owned());
    }
    let mut tag = if base.is_empty() || base.eq_ignore_ascii_case("root") { "und".to_owned() } else { base };
    let mut written = Vec::new();
    for attribute in attributes.split(';').filter(|a| !a.trim().is_empty()) {
        let (key, value) = attribute.split_once('=')?;
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase());
        let (_, short, values) = ATTRIBUTES.iter().find(|(long, short, _)| *long == key || *short == key)?;
        let value = values.iter().find(|(long, _)| *long == value).map_or(value.as_str(), |(_, short)| short);
        written.push(if value == "true" { (*short).to_owned() } else { format!("{short}-{value}") });
    }
    written.sort();
    if !written.is_empty() {
        tag = format!("{tag}-u-{}", written.join("-"));
    }
    match Locale::try_from_str(&tag) {
        Ok(locale) => Some(locale.to_string()),
        // No language has more than three letters, but ICU accepts such names.
        Err(_) => {
            let part =
                |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
            let language = |part: &str| part.len() > 3 && part.bytes().all(|b| b.is_ascii_alphabetic());
            (language(language_of(&tag)) && tag.split('-').all(part)).then(|| tag.to_ascii_lowercase())
        }
    }
}

/// The error where [`language_tag`] finds none.
pub fn no_language_tag(name: &str) -> SqlError {
    sql_err!(
        INVALID_PARAMETER_VALUE,
        "could not convert locale name \"{name}\" to language tag: U_ILLEGAL_ARGUMENT_ERROR"
    )
}

/// The language of a tag, if it has one that is not known.
pub fn unknown_language(tag: &str) -> Option<&str> {
    static LANGUAGES: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| known().map(|(tag, _)| language_of(tag)).collect());
    let own = language_of(tag);
    (own != "root" && !LANGUAGES.contains(own)).then_some(own)
}

pub(crate) fn language_of(tag: &str) -> &str {
    tag.split('-').next().unwrap_or("")
}

/// How a collator for a tag is to be made.
pub(crate) fn attributes(tag: &str) -> SqlResult<(CollatorPreferences, CollatorOptions)> {
    let illegal = || {
        SqlError::internal(format!("could not open collator for locale \"{tag}\": U_ILLEGAL_ARGUMENT_ERROR"))
    };
    // What is no known language is ordered as the root is.
    let known = if language_of(tag).len() > 3 { "und" } else { tag };
    let locale = Locale::try_from_str(known).map_err(|_| illegal())?;
    let mut options = CollatorOptions::default();
    let keywords = &locale.extensions.unicode.keywords;
    for key in ["ks", "ka", "kb", "kc", "kf", "kn", "kr", "kv", "vt"] {
        let key: Key = key.parse().map_err(|_| illegal())?;
        let Some(value) = keywords.get(&key) else { continue };
        let value = value.to_string();
        match (key.as_str(), value.as_str()) {
            ("ks", "level1") => options.strength = Some(Strength::Primary),
            ("ks", "level2") => options.strength = Some(Strength::Secondary),
            ("ks", "level3") => options.strength = Some(Strength::Tertiary),
            ("ks", "level4") => options.strength = Some(Strength::Quaternary),
            ("ks", "identic") => options.strength = Some(Strength::Identical),
            ("ka", "noignore") => options.alternate_handling = Some(AlternateHandling::NonIgnorable),
            ("ka", "shifted") => options.alternate_handling = Some(AlternateHandling::Shifted),
            ("kc", "" | "true") => options.case_level = Some(CaseLevel::On),
            ("kc", "false") => options.case_level = Some(CaseLevel::Off),
            ("kv", "space") => options.max_variable = Some(MaxVariable::Space),
            ("kv", "punct") => options.max_variable = Some(MaxVariable::Punctuation),
            ("kv", "symbol") => options.max_variable = Some(MaxVariable::Symbol),
            ("kv", "currency") => options.max_variable = Some(MaxVariable::Currency),
            ("kb", "false") => {}
            // These are read from the preferences.
            ("kf", "upper" | "lower" | "false") | ("kn", "" | "true" | "false") => {}
            ("kb", "" | "true") | ("kr" | "vt", _) => {
                return Err(SqlError::not_supported(format!(
                    "attribute \"{}\" of ICU locales",
                    key.as_str()
                )));
            }
            _ => return Err(illegal()),
        }
    }
    Ok(((&locale).into(), options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_language_tags() {
        let tag = |name: &str| language_tag(name).unwrap_or_default();
        assert_eq!(tag(""), "und");
        assert_eq!(tag("en_US.utf8"), "en-US");
        assert_eq!(tag("@colStrength=secondary"), "und-u-ks-level2");
        assert_eq!(tag("@colStrength=primary;colCaseLevel=yes"), "und-u-kc-ks-level1");
        assert_eq!(tag("de@collation=phonebook"), "de-u-co-phonebk");
        assert_eq!(tag("@colNumeric=lower"), "und-u-kn-lower");
        assert_eq!(tag("und-u-kf-upper"), "und-u-kf-upper");
        assert_eq!(tag("C"), "en-US-u-va-posix");
        assert_eq!(tag("C.UTF-8"), "en-US-u-va-posix");
        assert_eq!(tag("nonsense-nowhere"), "nonsense-nowhere");
        assert_eq!(language_tag("@colStrength=primary;nonsense=yes"), None);
    }

    #[test]
    fn languages_are_known_or_not() {
        assert_eq!(unknown_language("de-AT"), None);
        assert_eq!(unknown_language("und-u-ks-level2"), None);
        assert_eq!(unknown_language("nonsense-nowhere"), Some("nonsense"));
    }

    #[test]
    fn attributes_are_checked() {
        assert!(attributes("und-u-kn-lower").unwrap_err().message().contains("U_ILLEGAL_ARGUMENT_ERROR"));
        assert!(attributes("und-u-kb").is_err());
        assert_eq!(attributes("und-u-ks-level1").unwrap().1.strength, Some(Strength::Primary));
    }
}
