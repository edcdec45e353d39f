//! # What
//! `dict_int`: a text search template whose dictionaries shorten numbers, or leave long ones out.
//!
//! # PostgreSQL counterpart
//! `contrib/dict_int` 1.0.

use std::sync::Arc;

use base::{SqlResult, sql_err};
use session::module::Module;
use textsearch::dictionary::{Dictionary, Lexeme, Parameter, World, options};

/// The extension.
pub static MODULE: Module = Module {
    name: "dict_int",
    version: "1.0",
    comment: "text search dictionary template for integers",
    relocatable: true,
    trusted: true,
    script: include_str!("script.sql"),
    support: &["dintdict_init", "dintdict_lexize"],
    templates: &[("dintdict_lexize", make)],
    ..Module::LIBRARY
};

/// A dictionary.
struct Numbers {
    /// Most characters, a sign included.
    most: usize,
    /// Longer ones are left out.
    rejects: bool,
    /// Signs are left out.
    absolute: bool,
}

fn make(parameters: &[Parameter], _world: &dyn World) -> SqlResult<Arc<dyn Dictionary>> {
    let mut made = Numbers { most: 6, rejects: false, absolute: false };
    for parameter in parameters {
        match parameter.name.as_str() {
            "maxlen" => {
                let most: i64 = parameter.value.trim().parse().unwrap_or(0);
                let too_few = || sql_err!(INVALID_PARAMETER_VALUE, "maxlen value has to be >= 1");
                made.most = usize::try_from(most).ok().filter(|most| *most > 0).ok_or_else(too_few)?;
            }
            "rejectlong" => made.rejects = parameter.flag()?,
            "absval" => made.absolute = parameter.flag()?,
            _ => return Err(options::unknown("intdict", parameter)),
        }
    }
    Ok(Arc::new(made))
}

impl Dictionary for Numbers {
    fn lexemes(&self, word: &str) -> Option<Vec<Lexeme>> {
        let number = match self.absolute {
            true => word.strip_prefix(['+', '-']).unwrap_or(word),
            false => word,
        };
        let end = number.char_indices().nth(self.most).map(|(at, _)| at);
        match end {
            Some(_) if self.rejects => Some(Vec::new()),
            end => {
                let word = number[..end.unwrap_or(number.len())].to_owned();
                Some(vec![Lexeme { word, ..Lexeme::default() }])
            }
        }
    }
}
