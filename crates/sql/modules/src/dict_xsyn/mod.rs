//! # What
//! `dict_xsyn`: a text search template whose dictionaries give words that mean the same. A line of their file has a word and its synonyms.
//!
//! # PostgreSQL counterpart
//! `contrib/dict_xsyn` 1.0.

use std::collections::HashMap;
use std::sync::Arc;

use base::SqlResult;
use session::module::Module;
use textsearch::dictionary::lines::Text;
use textsearch::dictionary::{Dictionary, Lexeme, Parameter, World, options};

/// The extension.
pub static MODULE: Module = Module {
    name: "dict_xsyn",
    version: "1.0",
    comment: "text search dictionary template for extended synonym processing",
    relocatable: true,
    trusted: true,
    script: include_str!("script.sql"),
    support: &["dxsyn_init", "dxsyn_lexize"],
    templates: &[("dxsyn_lexize", make)],
    ..Module::LIBRARY
};

/// A dictionary.
struct Synonyms {
    /// Lines, each a word and its synonyms.
    lines: Vec<Vec<String>>,
    /// The line of a word. The first one counts.
    of: HashMap<String, usize>,
    keeps_original: bool,
    keeps_synonyms: bool,
}

fn make(parameters: &[Parameter], world: &dyn World) -> SqlResult<Arc<dyn Dictionary>> {
    let (mut match_original, mut match_synonyms) = (true, false);
    let (mut keeps_original, mut keeps_synonyms, mut rules) = (true, true, None);
    for parameter in parameters {
        match parameter.name.as_str() {
            "matchorig" => match_original = parameter.flag()?,
            "keeporig" => keeps_original = parameter.flag()?,
            "matchsynonyms" => match_synonyms = parameter.flag()?,
            "keepsynonyms" => keeps_synonyms = parameter.flag()?,
            // What comes last counts, as for the others.
            "rules" => rules = Some(parameter.value.as_str()),
            _ => return Err(options::unknown("xsyn", parameter)),
        }
    }
    let file = rules.map(|name| Text::read(world, name, "rules", "synonym")).transpose()?;
    let mut made = Synonyms { lines: Vec::new(), of: HashMap::new(), keeps_original, keeps_synonyms };
    let mut pace = runtime::pace::Pace::new();
    for line in file.iter().flat_map(|file| file.as_str().lines()) {
        pace.did(64 + line.len())?;
        let line = line.split('#').next().unwrap_or_default().to_lowercase();
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        for (at, word) in words.iter().enumerate() {
            if if at == 0 { match_original } else { match_synonyms } {
                made.of.entry(word.clone()).or_insert(made.lines.len());
            }
        }
        made.lines.push(words);
    }
    Ok(Arc::new(made))
}

impl Dictionary for Synonyms {
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>> {
        let line = &self.lines[*self.of.get(&word.to_lowercase())?];
        let kept = line.iter().enumerate().filter(|(at, _)| match at {
            0 => self.keeps_original,
            _ => self.keeps_synonyms,
        });
        Some(kept.map(|(_, word)| Lexeme { word: word.clone(), ..Lexeme::default() }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_synonyms_are_matched_and_kept_as_asked() {
        let given = |keeps_original, keeps_synonyms| Synonyms {
            lines: vec![vec!["supernova".into(), "sn".into()]],
            of: [("supernova".to_owned(), 0)].into(),
            keeps_original,
            keeps_synonyms,
        };
        let words = |dictionary: &Synonyms, word: &str| {
            dictionary.lexemes(word).map(|all| all.into_iter().map(|one| one.word).collect::<Vec<_>>())
        };
        assert_eq!(words(&given(true, true), "SuperNova").unwrap(), ["supernova", "sn"]);
        assert_eq!(words(&given(false, true), "supernova").unwrap(), ["sn"]);
        assert_eq!(words(&given(true, false), "supernova").unwrap(), ["supernova"]);
        assert_eq!(words(&given(true, true), "sn"), None);
    }
}
