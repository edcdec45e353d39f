//! The options of EXPLAIN.

use base::{SqlError, SqlResult, sql_err};
use parse::ast::DefElem;
use plan::explain::document::Item;
use plan::explain::{self, Options};

use crate::options;
use crate::output::Format;

/// How the description is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Text,
    Xml,
    Json,
    Yaml,
}

impl Form {
    /// The whole description.
    pub(super) fn write(self, document: &[Item]) -> String {
        match self {
            Form::Text => explain::text::lines(document).join("\n"),
            Form::Json => explain::json::write(document),
            Form::Xml => explain::xml::write(document),
            Form::Yaml => explain::yaml::write(document),
        }
    }

    pub(super) fn is_json(self) -> bool {
        self == Form::Json
    }
}

/// What EXPLAIN was asked for.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) options: Options,
    pub(super) form: Form,
    pub(super) summary: bool,
    pub(super) settings: bool,
    pub(super) memory: bool,
    pub(super) generic: bool,
    /// What rows are encoded as, if they are.
    pub(super) serialize: Option<Format>,
}

impl Asked {
    /// Reads the options.
    pub(super) fn new(list: &[DefElem], text: &str) -> SqlResult<Asked> {
        let mut wanted = Options::default();
        let mut asked = Asked::default();
        let (mut summary, mut timing, mut buffers) = (None, None, None);
        for option in list {
            let on = || options::boolean(option);
            match option.name.as_str() {
                "analyze" => wanted.analyze = on()?,
                "verbose" => wanted.verbose = on()?,
                "costs" => wanted.costs = on()?,
                "buffers" => buffers = Some(on()?),
                "wal" => wanted.wal = on()?,
                "settings" => asked.settings = on()?,
                "generic_plan" => asked.generic = on()?,
                "timing" => timing = Some(on()?),
                "summary" => summary = Some(on()?),
                "memory" => asked.memory = on()?,
                "serialize" => asked.serialize = serialize(option, text)?,
                "format" => {
                    let word = options::string(option)?;
                    asked.form = form_of(&word).ok_or_else(|| unknown_value(option, &word, text))?;
                }
                other => {
                    let error = sql_err!(SYNTAX_ERROR, "unrecognized EXPLAIN option \"{other}\"");
                    return Err(at(error, option, text));
                }
            }
        }
        wanted.timing = timing.unwrap_or(wanted.analyze);
        wanted.buffers = buffers.unwrap_or(wanted.analyze);
        asked.summary = summary.unwrap_or(wanted.analyze);
        asked.options = wanted;
        asked.check()?;
        Ok(asked)
    }

    fn check(&self) -> SqlResult<()> {
        let of_runs = [
            (self.options.wal, "WAL"),
            (self.options.timing, "TIMING"),
            (self.serialize.is_some(), "SERIALIZE"),
        ];
        for (asked, name) in of_runs {
            if asked && !self.options.analyze {
                return Err(sql_err!(INVALID_PARAMETER_VALUE, "EXPLAIN option {name} requires ANALYZE"));
            }
        }
        if self.generic && self.options.analyze {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "EXPLAIN options ANALYZE and GENERIC_PLAN cannot be used together"
            ));
        }
        Ok(())
    }
}

/// The format alone, which decides the type of the result. An unknown one is refused later.
pub(super) fn form(list: &[DefElem]) -> Form {
    let last = list.iter().rfind(|option| option.name == "format");
    last.and_then(|option| form_of(&options::string(option).ok()?)).unwrap_or(Form::Text)
}

pub(super) fn form_of(word: &str) -> Option<Form> {
    Some(match word {
        "text" => Form::Text,
        "xml" => Form::Xml,
        "json" => Form::Json,
        "yaml" => Form::Yaml,
        _ => return None,
    })
}

fn serialize(option: &DefElem, text: &str) -> SqlResult<Option<Format>> {
    if option.value.is_none() {
        return Ok(Some(Format::Text));
    }
    match options::string(option)?.as_str() {
        "off" | "none" => Ok(None),
        "text" => Ok(Some(Format::Text)),
        "binary" => Ok(Some(Format::Binary)),
        other => Err(unknown_value(option, other, text)),
    }
}

fn unknown_value(option: &DefElem, value: &str, text: &str) -> SqlError {
    let name = &option.name;
    let error =
        sql_err!(INVALID_PARAMETER_VALUE, "unrecognized value for EXPLAIN option \"{name}\": \"{value}\"");
    at(error, option, text)
}

fn at(error: SqlError, option: &DefElem, text: &str) -> SqlError {
    match option.location.offset() {
        Some(offset) => error.at(parse::position(text, offset)),
        None => error,
    }
}
