//! The dictionaries and configurations that every database has, by their OIDs: `simple`, and one for each language that has a stemmer.

use std::sync::{Arc, OnceLock};

use crate::configuration::{Asked, Configuration};
use crate::dictionary::lines::File;
use crate::dictionary::{Dictionary, Simple, Snowball, StopWords, Template};
use crate::parser::Kind;

/// OID of the dictionary `simple`.
pub const SIMPLE_DICTIONARY: u32 = 3765;
/// OID of the configuration `simple`.
pub const SIMPLE_CONFIGURATION: u32 = 3748;
/// OID of the template `snowball`.
pub const SNOWBALL_TEMPLATE: u32 = 13085;
/// OID of the default parser.
pub const DEFAULT_PARSER: u32 = 3722;

/// A language: its name, the language of words in ASCII letters, and its stop words.
pub struct Language {
    /// What the configuration is called; the dictionary has `_stem` behind it.
    pub name: &'static str,
    /// The language that words of ASCII letters are of: English where the language is written in other letters.
    pub ascii: &'static str,
    stop: Option<&'static str>,
}

macro_rules! languages {
    ($( $name:literal $ascii:literal $($stop:literal)?; )*) => {
        /// All languages.
        pub const LANGUAGES: &[Language] = &[ $(
            Language { name: $name, ascii: $ascii, stop: languages!(@stop $($stop)?) },
        )* ];
    };
    (@stop $file:literal) => { Some(include_str!(concat!("../data/stop/", $file))) };
    (@stop) => { None };
}

languages! {
    "arabic" "arabic";
    "armenian" "armenian";
    "basque" "basque";
    "catalan" "catalan";
    "danish" "danish" "danish.stop";
    "dutch" "dutch" "dutch.stop";
    "english" "english" "english.stop";
    "estonian" "estonian";
    "finnish" "finnish" "finnish.stop";
    "french" "french" "french.stop";
    "german" "german" "german.stop";
    "greek" "greek";
    "hindi" "english";
    "hungarian" "hungarian" "hungarian.stop";
    "indonesian" "indonesian";
    "irish" "irish";
    "italian" "italian" "italian.stop";
    "lithuanian" "lithuanian";
    "nepali" "nepali" "nepali.stop";
    "norwegian" "norwegian" "norwegian.stop";
    "portuguese" "portuguese" "portuguese.stop";
    "romanian" "romanian";
    "russian" "english" "russian.stop";
    "serbian" "serbian";
    "spanish" "spanish" "spanish.stop";
    "swedish" "swedish" "swedish.stop";
    "tamil" "tamil";
    "turkish" "turkish" "turkish.stop";
    "yiddish" "yiddish";
}

/// OID of the dictionary of language `i`.
pub fn dictionary_oid(i: usize) -> u32 {
    SNOWBALL_TEMPLATE + 1 + 2 * i as u32
}

/// OID of the configuration of language `i`.
pub fn configuration_oid(i: usize) -> u32 {
    SNOWBALL_TEMPLATE + 2 + 2 * i as u32
}

/// What the dictionary of a language was made with.
pub fn options(language: &Language) -> String {
    match language.stop {
        Some(_) => format!("language = '{0}', stopwords = '{0}'", language.name),
        None => format!("language = '{}'", language.name),
    }
}

/// The kinds of tokens that configurations look up, in the order in which their rows are made; those of words last, with whether they are of
/// ASCII letters.
pub const MAPPED: [(Kind, Option<bool>); 19] = {
    use Kind::*;
    [
        (Email, None),
        (Url, None),
        (Host, None),
        (ScientificFloat, None),
        (Version, None),
        (UrlPath, None),
        (File, None),
        (Float, None),
        (Int, None),
        (UnsignedInt, None),
        (NumWord, None),
        (NumHyphenWord, None),
        (HyphenNumPart, None),
        (AsciiWord, Some(true)),
        (HyphenAsciiPart, Some(true)),
        (AsciiHyphenWord, Some(true)),
        (Word, Some(false)),
        (HyphenPart, Some(false)),
        (HyphenWord, Some(false)),
    ]
};

/// The OID of the dictionary that a configuration asks for a kind of tokens.
pub fn mapped(configuration: u32, words: Option<bool>) -> Option<u32> {
    if configuration == SIMPLE_CONFIGURATION {
        return Some(SIMPLE_DICTIONARY);
    }
    let language = language_of(configuration, SNOWBALL_TEMPLATE + 2)?;
    Some(match words {
        None => SIMPLE_DICTIONARY,
        Some(false) => dictionary_oid(language),
        Some(true) => {
            let name = LANGUAGES[language].ascii;
            LANGUAGES.iter().position(|l| l.name == name).map_or(SIMPLE_DICTIONARY, dictionary_oid)
        }
    })
}

/// The language of an object, of which the first has this OID.
fn language_of(oid: u32, first: u32) -> Option<usize> {
    let distance = oid.checked_sub(first)? as usize;
    (distance.is_multiple_of(2) && distance / 2 < LANGUAGES.len()).then_some(distance / 2)
}

/// The templates: OID, name, the functions that stand for them, and what they are.
pub const TEMPLATES: [(u32, &str, [u32; 2], Template, &str); 5] = [
    (
        3727,
        "simple",
        [3725, 3726],
        Template::Simple,
        "simple dictionary: just lower case and check for stopword",
    ),
    (3730, "synonym", [3728, 3729], Template::Synonym, "synonym dictionary: replace word by its synonym"),
    (3733, "ispell", [3731, 3732], Template::Ispell, "ispell dictionary"),
    (
        3742,
        "thesaurus",
        [3740, 3741],
        Template::Thesaurus,
        "thesaurus dictionary: phrase by phrase substitution",
    ),
    (SNOWBALL_TEMPLATE, "snowball", [13083, 13084], Template::Snowball, "snowball stemmer"),
];

/// What the dictionary with this OID was made with, as a text; empty if it is none of a language.
pub fn options_of(oid: u32) -> String {
    language_of(oid, SNOWBALL_TEMPLATE + 1).map(|language| options(&LANGUAGES[language])).unwrap_or_default()
}

/// The template whose words are looked up by this function.
pub fn template(lexize: u32) -> Option<Template> {
    TEMPLATES
        .iter()
        .find(|(_, _, functions, ..)| functions[1] == lexize)
        .map(|(_, _, _, template, _)| *template)
}

/// The text of a file that need not be there: the stop words of a language.
pub fn file(file: &File<'_>) -> Option<&'static str> {
    let language = LANGUAGES.iter().find(|language| language.name == file.name)?;
    language.stop.filter(|_| file.extension == "stop")
}

/// The dictionary with this OID, as it is unless it has been altered.
pub fn dictionary(oid: u32) -> Option<Arc<dyn Dictionary>> {
    static SIMPLE: OnceLock<Arc<Simple>> = OnceLock::new();
    static STEMS: [OnceLock<Option<Arc<Snowball>>>; LANGUAGES.len()] =
        [const { OnceLock::new() }; LANGUAGES.len()];
    if oid == SIMPLE_DICTIONARY {
        let simple = || Arc::new(Simple { stop: StopWords::default(), accept: true });
        return Some(SIMPLE.get_or_init(simple).clone());
    }
    let language = language_of(oid, SNOWBALL_TEMPLATE + 1)?;
    let found = STEMS[language].get_or_init(|| {
        let Language { name, stop, .. } = &LANGUAGES[language];
        Snowball::new(name, stop.map(StopWords::of).unwrap_or_default()).map(Arc::new)
    });
    found.clone().map(|dictionary| dictionary as Arc<dyn Dictionary>)
}

/// The configuration with this OID, as it is unless it has been altered.
pub fn configuration(oid: u32) -> Option<Arc<Configuration>> {
    const COUNT: usize = LANGUAGES.len() + 1;
    static ALL: [OnceLock<Arc<Configuration>>; COUNT] = [const { OnceLock::new() }; COUNT];
    let place = match oid {
        SIMPLE_CONFIGURATION => LANGUAGES.len(),
        _ => language_of(oid, SNOWBALL_TEMPLATE + 2)?,
    };
    let made = ALL[place].get_or_init(|| {
        let mut made = Configuration::default();
        for (kind, words) in MAPPED {
            let asked = mapped(oid, words).and_then(|oid| Some(Asked { oid, dictionary: dictionary(oid)? }));
            made.ask(kind, asked.into_iter().collect());
        }
        Arc::new(made)
    });
    Some(made.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem(language: &str, word: &str) -> String {
        let at = LANGUAGES.iter().position(|l| l.name == language).unwrap();
        let found = dictionary(dictionary_oid(at)).unwrap().lexemes(word).unwrap();
        found.iter().map(|lexeme| lexeme.word.as_str()).collect()
    }

    #[test]
    fn words_have_stems_of_their_language() {
        for (language, word, wanted) in [
            ("english", "Evenings", "even"),
            ("english", "relational", "relat"),
            ("english", "offing", "off"),
            ("english", "the", ""),
            ("german", "Häuser", "haus"),
            ("french", "programmation", "programm"),
            ("french", "héroïque", "héro"),
            ("turkish", "İstanbul", "istanbul"),
            ("russian", "Книги", "книг"),
            ("russian", "и", ""),
            ("swedish", "däret", "däret"),
            ("dutch", "aandsthhse", "aandsthh"),
            ("nepali", "कि", ""),
            ("estonian", "raamatud", "raama"),
        ] {
            assert_eq!(stem(language, word), wanted, "{word}");
        }
        assert_eq!(dictionary_oid(28), 13142);
        assert_eq!(configuration_oid(6), 13099);
    }
}
