//! # What
//! Words in their normal forms, by a list of words with flags and a file of affixes, as Ispell, MySpell and Hunspell have them. Words that are put
//! together are taken apart.
//!
//! # Layout
//! * [`affixes`]: reading both forms of affix files. [`mask`]: what a word must be like to get an affix. [`flags`]: sets of flags. [`words`]:
//!   the list of words. [`compound`]: words put together.
//!
//! # PostgreSQL counterpart
//! `dict_ispell.c`, `spell.c`, `regis.c`. Affixes are found by hashing, words by binary search.

mod affixes;
mod compound;
mod flags;
mod mask;
mod words;

use base::SqlResult;

use self::affixes::Affixes;
use self::words::Words;
use super::lines::Text;
use super::options::{self, Parameter, once};
use super::{Dictionary, Lexeme, StopWords, World, lower, missing};

/// Longest word or part of one that is looked up, in bytes.
const LONGEST: usize = 256;
/// Most normal forms of a word.
const MOST_FORMS: usize = 1023;

/// A dictionary of normal forms.
pub(super) struct Ispell {
    stop: StopWords,
    words: Words,
    affixes: Affixes,
}

impl Ispell {
    pub(super) fn of(parameters: &[Parameter], world: &dyn World) -> SqlResult<Ispell> {
        let (mut list, mut affixes, mut stop) = (None, None, None);
        for parameter in parameters {
            if parameter.is("dictfile") {
                once(&mut list, &*parameter.value, "DictFile")?;
            } else if parameter.is("afffile") {
                once(&mut affixes, &*parameter.value, "AffFile")?;
            } else if parameter.is("stopwords") {
                once(&mut stop, StopWords::read(&parameter.value, world)?, "StopWords")?;
            } else {
                return Err(options::unknown("Ispell", parameter));
            }
        }
        let (list, affixes) = match (list, affixes) {
            (Some(list), Some(affixes)) => (list, affixes),
            (Some(_), None) => return Err(missing("AffFile")),
            (None, _) => return Err(missing("DictFile")),
        };
        let list = Text::read(world, list, "dict", "dictionary")?;
        let mut affixes = Affixes::read(&Text::read(world, affixes, "affix", "affix")?)?;
        let words = Words::read(&list, &affixes.flags)?;
        affixes.find_compound(&words)?;
        Ok(Ispell { stop: stop.unwrap_or_default(), words, affixes })
    }

    /// The normal forms of a word, or of a part of one where `place` says which (see [`flags`]).
    fn forms(&self, word: &[u8], place: u8) -> Vec<String> {
        let mut forms = Forms { all: Vec::new(), dictionary: self, place };
        if word.len() > LONGEST {
            return Vec::new();
        }
        let Ok(word) = std::str::from_utf8(word) else { return Vec::new() };
        forms.add(word, None);
        for prefix in self.affixes.prefixes_of(word) {
            if let Some((form, _)) = prefix.without(word, place, None) {
                forms.add(&form, Some(&prefix.flag));
            }
        }
        for suffix in self.affixes.suffixes_of(word) {
            let Some((form, kept)) = suffix.without(word, place, None) else { continue };
            forms.add(&form, Some(&suffix.flag));
            for prefix in self.affixes.prefixes_of(&form) {
                if let Some((form, _)) = prefix.without(&form, place, Some(kept)) {
                    let both = prefix.crosses() && suffix.crosses();
                    forms.add(&form, (!both).then_some(&prefix.flag));
                }
            }
        }
        forms.all
    }
}

/// Forms that are being collected.
struct Forms<'d> {
    all: Vec<String>,
    dictionary: &'d Ispell,
    place: u8,
}

impl Forms<'_> {
    /// Adds a form that is a word of the list with this flag, if one is wanted.
    fn add(&mut self, form: &str, flag: Option<&str>) {
        let known = self.dictionary.words.has(form.as_bytes(), flag, self.place);
        if known && self.all.len() < MOST_FORMS && self.all.last().is_none_or(|last| last != form) {
            self.all.push(form.to_owned());
        }
    }
}

impl Dictionary for Ispell {
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>> {
        let word = lower(word);
        if word.is_empty() {
            return None;
        }
        let (mut found, mut variant) = (Vec::new(), 0);
        for word in self.forms(word.as_bytes(), 0) {
            variant += 1;
            found.push(Lexeme { word, variant, ..Lexeme::default() });
        }
        for parts in self.compounds(&word) {
            variant += 1;
            found.extend(parts.into_iter().map(|word| Lexeme { word, variant, ..Lexeme::default() }));
            if found.len() > MOST_FORMS {
                break;
            }
        }
        if found.is_empty() {
            return None;
        }
        found.retain(|lexeme| !self.stop.has(&lexeme.word));
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{made, words};
    use super::*;
    use crate::dictionary::Template;

    const STOP: (&str, &str) = ("few.stop", "walk\n");

    fn dictionary(list: &str, affixes: &str) -> SqlResult<std::sync::Arc<dyn Dictionary>> {
        let parameters = [("dictfile", "d"), ("afffile", "d"), ("stopwords", "few")];
        made(Template::Ispell, &parameters, &[("d.dict", list), ("d.affix", affixes), STOP])
    }

    const OLD: &str = "# old\ncompoundwords controlled Z\nprefixes\nflag *R:\n  . > RE\nflag U:\n . > UN\nsuffixes\nflag *S:\n  [^Y] > S\n  \
                       Y > -Y,IES\nflag ~\\P:\n . > EN\n";
    const LIST: &str = "berry/SZ\nsell/SRZ\nbox/ZP\nglad/U\nwalk/S\nÄrger/S\n";

    #[test]
    fn old_affix_files_give_normal_forms() {
        let d = dictionary(LIST, OLD).unwrap();
        for (word, forms) in [
            ("Berries", "berry"),
            ("sells", "sell"),
            ("resells", "sell"),
            ("unglad", "glad"),
            ("rewalk", "-"),
            ("walks", ""),
            ("ärgers", "ärger"),
            ("sellsell", "sell sell"),
            ("boxberries", "box berry"),
            ("sellglad", "-"),
            ("", "-"),
        ] {
            assert_eq!(words(d.lexemes(word)), forms, "{word}");
        }
    }

    const NEW: &str = "SET UTF-8\nCOMPOUNDFLAG z\nONLYINCOMPOUND o\n\nPFX R Y 1\nPFX R 0 re .\n\nPFX U N 1\nPFX U 0 un .\nSFX S Y 3\n\
                       SFX S 0 s [^sxy]\nSFX S y ies y\nSFX S 0 es [sx]\nSFX P N 1\nSFX P 0 -en/z .\n";

    #[test]
    fn new_affix_files_give_normal_forms() {
        let list = "5\nberry/Sz\nsell/SRz\nbox/SzP\nglad/U\npart/oz\n";
        let d = dictionary(list, NEW).unwrap();
        for (word, forms) in [
            ("berries", "berry"),
            ("resells", "sell"),
            ("boxes", "box"),
            ("part", "-"),
            ("sellpart", "sell part"),
            ("boxberries", "box berry"),
        ] {
            assert_eq!(words(d.lexemes(word)), forms, "{word}");
        }
    }

    #[test]
    fn flags_may_be_long_numbers_or_aliases() {
        let d = dictionary(
            "walking/1\nsell/2,3\n",
            "FLAG num\nSFX 2 Y 1\nSFX 2 0 s .\nPFX 3 Y 1\nPFX 3 0 re .\n",
        )
        .unwrap();
        assert_eq!(words(d.lexemes("resells")), "sell");
        let d = dictionary("sell/SsRr\n", "FLAG long\nSFX Ss Y 1\nSFX Ss 0 s .\nPFX Rr N 1\nPFX Rr 0 re .\n")
            .unwrap();
        assert_eq!([words(d.lexemes("sells")), words(d.lexemes("resells"))], ["sell", "sell"]);
        let d = dictionary(
            "sell/2\nbuy/1\n",
            "AF 2\nAF S\nAF SR\nSFX S Y 1\nSFX S 0 s .\nPFX R Y 1\nPFX R 0 re .\n",
        )
        .unwrap();
        assert_eq!([words(d.lexemes("resell")), words(d.lexemes("rebuy"))], ["sell", "-"]);
    }

    #[test]
    fn bad_files_are_told() {
        let message = |list, affixes| dictionary(list, affixes).err().unwrap().message().to_owned();
        assert_eq!(
            message("", "suffixes\nflag *S:\nSFX S Y 1\n"),
            "affix file contains both old-style and new-style commands"
        );
        let flags = "Ispell dictionary supports only \"default\", \"long\", and \"num\" flag values";
        assert_eq!(message("", "FLAG UTF-8\n"), flags);
        assert_eq!(message("", "AF 0\nSFX S Y 1\n"), "invalid number of flag vector aliases");
        assert_eq!(
            message("", "AF 1\nAF a\nAF b\nSFX S Y 1\n"),
            "number of aliases exceeds specified number 1"
        );
        assert_eq!(message("x/7\n", "AF 1\nAF a\nSFX S Y 1\n"), "invalid affix alias \"7\"");
        assert_eq!(
            message("x/ab1\n", "FLAG long\nSFX Ss Y 1\n"),
            "invalid affix flag \"1\" with \"long\" flag value"
        );
        assert_eq!(message("x/a\n", "FLAG num\nSFX 1 Y 1\n"), "invalid affix flag \"a\"");
        assert_eq!(message("x/70000\n", "FLAG num\nSFX 1 Y 1\n"), "affix flag \"70000\" is out of range");
        assert_eq!(message("", "suffixes\nflag *S:\n . > 1\n"), "syntax error");
        assert_eq!(message("", "COMPOUNDFLAG\n"), "syntax error");
    }

    proptest::proptest! {
        #[test]
        fn any_files_are_read_or_refused(
            list in "([a-c]{0,6}/?[A-Za-c0-9,]{0,4}\n){0,8}",
            affixes in "((SFX|PFX|FLAG|AF|COMPOUNDFLAG|ONLYINCOMPOUND|suffixes|prefixes|flag) ?[*~]?[A-C0-9yYN]{0,2}:? ?[0a-c-]{0,2}(>| )[,0a-c/A-Z-]{0,4} ?[.^a-c\\[\\]()*]{0,4}\n){0,10}",
            word in "[a-cäA]{0,12}",
        ) {
            if let Ok(made) = dictionary(&list, &affixes) {
                made.lexemes(&word);
            }
        }
    }
}
