//! Upper, lower and title case, and case folding, by the rules of a collation.

use std::borrow::Cow;

use icu_casemap::options::TitlecaseOptions;
use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_locale_core::{LanguageIdentifier, langid};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

use crate::Rules;

/// Which letters change case, and into what.
#[derive(Clone, Debug)]
pub(crate) enum Letters {
    /// ASCII.
    Ascii,
    /// All of Unicode, one character each.
    Simple,
    /// All of Unicode, also into several characters and by their neighbours.
    Full,
    /// As a language does it.
    Language {
        /// The language.
        of: LanguageIdentifier,
        /// Whether `i` has its dot in both cases.
        turkic: bool,
    },
}

const MAPPER: CaseMapperBorrowed<'static> = CaseMapper::new();
const ROOT: LanguageIdentifier = langid!("und");

impl Letters {
    /// Of a language tag.
    pub(crate) fn of_language(tag: &str) -> Letters {
        let of = tag.split("-u-").next().and_then(|id| id.parse().ok()).unwrap_or(ROOT);
        let turkic = matches!(of.language.as_str(), "tr" | "az");
        Letters::Language { of, turkic }
    }
}

impl Rules {
    /// Whether characters change case one by one, whatever their neighbours, so that a long text may be mapped in parts.
    pub fn maps_characters(&self) -> bool {
        matches!(self.letters, Letters::Ascii | Letters::Simple)
    }

    /// Whether only letters of ASCII are letters.
    pub fn is_ascii_only(&self) -> bool {
        matches!(self.letters, Letters::Ascii)
    }

    /// Whether digits beyond `0` to `9` are digits, and symbols are no punctuation.
    pub fn has_unicode_digits(&self) -> bool {
        matches!(self.letters, Letters::Full | Letters::Language { .. })
    }

    /// In lower case.
    pub fn lower<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.letters {
            _ if text.is_ascii() && !self.is_turkic() => text.to_ascii_lowercase().into(),
            Letters::Ascii => text.to_ascii_lowercase().into(),
            Letters::Simple => text.chars().map(|c| MAPPER.simple_lowercase(c)).collect::<String>().into(),
            Letters::Full => MAPPER.lowercase_to_string(text, &ROOT),
            Letters::Language { of, .. } => MAPPER.lowercase_to_string(text, of),
        }
    }

    /// In upper case.
    pub fn upper<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.letters {
            _ if text.is_ascii() && !self.is_turkic() => text.to_ascii_uppercase().into(),
            Letters::Ascii => text.to_ascii_uppercase().into(),
            Letters::Simple => text.chars().map(|c| MAPPER.simple_uppercase(c)).collect::<String>().into(),
            Letters::Full => MAPPER.uppercase_to_string(text, &ROOT),
            Letters::Language { of, .. } => MAPPER.uppercase_to_string(text, of),
        }
    }

    /// Without regard to case: what texts have in common that differ in nothing else.
    pub fn fold<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.letters {
            Letters::Ascii => text.to_ascii_lowercase().into(),
            Letters::Simple => text.chars().map(|c| MAPPER.simple_fold(c)).collect::<String>().into(),
            Letters::Language { turkic: true, .. } => MAPPER.fold_turkic_string(text),
            Letters::Full | Letters::Language { .. } => MAPPER.fold_string(text),
        }
    }

    /// The first letter of each word in upper case, the others in lower case.
    pub fn title(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        match &self.letters {
            Letters::Language { of, .. } => {
                for word in text.split_word_bounds() {
                    out.push_str(&title_word(word, of));
                }
            }
            Letters::Full => {
                for word in runs(text, |c| c.is_alphabetic() || is_decimal(c)) {
                    out.push_str(&title_word(word, &ROOT));
                }
            }
            Letters::Ascii | Letters::Simple => {
                for word in runs(text, |c| self.is_letter(c) || c.is_ascii_digit()) {
                    let mut chars = word.chars();
                    out.extend(chars.next().map(|c| self.title_char(c)));
                    out.extend(chars.map(|c| self.lower_char(c)));
                }
            }
        }
        out
    }

    /// One character in lower case, as regular expressions compare characters.
    pub fn lower_char(&self, c: char) -> char {
        match &self.letters {
            Letters::Ascii => c.to_ascii_lowercase(),
            _ => MAPPER.simple_lowercase(c),
        }
    }

    /// One character in upper case, as regular expressions compare characters.
    pub fn upper_char(&self, c: char) -> char {
        match &self.letters {
            Letters::Ascii => c.to_ascii_uppercase(),
            _ => MAPPER.simple_uppercase(c),
        }
    }

    fn title_char(&self, c: char) -> char {
        match &self.letters {
            Letters::Ascii => c.to_ascii_uppercase(),
            _ => MAPPER.simple_titlecase(c),
        }
    }

    fn is_letter(&self, c: char) -> bool {
        if self.is_ascii_only() { c.is_ascii_alphabetic() } else { c.is_alphabetic() }
    }

    fn is_turkic(&self) -> bool {
        matches!(self.letters, Letters::Language { turkic: true, .. })
    }
}

fn title_word<'a>(word: &'a str, language: &LanguageIdentifier) -> Cow<'a, str> {
    MAPPER.titlecase_segment_with_only_case_data_to_string(word, language, TitlecaseOptions::default())
}

/// Whether a character is a decimal digit of any script.
pub(crate) fn is_decimal(c: char) -> bool {
    c.is_ascii_digit() || !c.is_ascii() && c.general_category() == GeneralCategory::DecimalNumber
}

/// The text in parts: runs of characters of words, and each other character.
fn runs(text: &str, of_word: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = match of_word(first) {
            true => rest.find(|c| !of_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (part, left) = rest.split_at(end);
        rest = left;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use crate::{Definition, Provider, Rules, rules};

    fn of(provider: Provider, locale: &str) -> &'static Rules {
        rules(Definition { provider, locale, deterministic: true }).unwrap()
    }

    #[test]
    fn letters_change_by_the_rules_of_their_collation() {
        let c = of(Provider::Libc, "C");
        let simple = of(Provider::Builtin, "C.UTF-8");
        let full = of(Provider::Builtin, "PG_UNICODE_FAST");
        let (english, turkish) = (of(Provider::Icu, "en"), of(Provider::Icu, "tr"));
        assert_eq!((c.upper("aä"), simple.upper("aä")), ("Aä".into(), "AÄ".into()));
        assert_eq!((simple.upper("ß"), full.upper("ß")), ("ß".into(), "SS".into()));
        assert_eq!((simple.lower("ΑΣ"), full.lower("ΑΣ")), ("ασ".into(), "ας".into()));
        assert_eq!((english.lower("HIJ"), turkish.lower("HIJ")), ("hij".into(), "hıj".into()));
        assert_eq!((english.upper("hij"), turkish.upper("hij")), ("HIJ".into(), "HİJ".into()));
        assert_eq!((simple.fold("ß"), full.fold("ß")), ("ß".into(), "ss".into()));
    }

    #[test]
    fn words_begin_with_an_upper_case_letter() {
        let simple = of(Provider::Builtin, "C.UTF-8");
        assert_eq!(simple.title("ábc sßs ßss DÉF"), "Ábc Sßs ßss Déf");
        assert_eq!(simple.title("ǄxxǄ ǆxxǅ"), "ǅxxǆ ǅxxǆ");
        let full = of(Provider::Builtin, "PG_UNICODE_FAST");
        assert_eq!(full.title("ábc sßs ßss DÉF"), "Ábc Sßs Ssss Déf");
        assert_eq!(of(Provider::Icu, "en").title("can't 12AB x"), "Can't 12Ab X");
        assert_eq!(of(Provider::Libc, "C").title("hello wORLD 1a"), "Hello World 1a");
    }
}
