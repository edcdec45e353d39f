//! What CREATE DATABASE says of a database.

use base::{Encoding, Oid, SqlError, SqlResult, SqlState, sql_err};
use engine::CopyStrategy;
use parse::ast::{DefElem, OptionValue};
use session::Session;

use super::super::names::at;
use super::super::options as read;

/// The options; `None`: not said, or DEFAULT.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) owner: Option<String>,
    pub(super) template: Option<String>,
    pub(super) tablespace: Option<String>,
    pub(super) encoding: Option<i32>,
    pub(super) locale: Option<String>,
    pub(super) builtin_locale: Option<String>,
    pub(super) collate: Option<String>,
    pub(super) ctype: Option<String>,
    pub(super) icu_locale: Option<String>,
    pub(super) icu_rules: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) collation_version: Option<String>,
    pub(super) is_template: Option<bool>,
    pub(super) allow_connections: Option<bool>,
    pub(super) connection_limit: Option<i32>,
    pub(super) oid: Option<Oid>,
    /// As written: it is judged after the template.
    pub(super) strategy: Option<String>,
}

impl Options {
    pub(super) fn read(session: &Session, list: &[DefElem], text: &str) -> SqlResult<Options> {
        check_names(session, list, text)?;
        let mut options = Options::default();
        // DEFAULT is as if nothing was said.
        for option in list.iter().filter(|option| option.value.is_some()) {
            let word = || read::string(option).map(Some);
            match option.name.as_str() {
                "owner" => options.owner = word()?,
                "template" => options.template = word()?,
                "tablespace" => options.tablespace = word()?,
                "encoding" => {
                    options.encoding = Some(read_encoding(option).map_err(|e| at(e, text, option.location))?);
                }
                "locale" => options.locale = word()?,
                "builtin_locale" => options.builtin_locale = word()?,
                "lc_collate" => options.collate = word()?,
                "lc_ctype" => options.ctype = word()?,
                "icu_locale" => options.icu_locale = word()?,
                "icu_rules" => options.icu_rules = word()?,
                "locale_provider" => options.provider = word()?,
                "collation_version" => options.collation_version = word()?,
                "is_template" => options.is_template = Some(read::boolean(option)?),
                "allow_connections" => options.allow_connections = Some(read::boolean(option)?),
                "connection_limit" => options.connection_limit = Some(connection_limit(option)?),
                "oid" => options.oid = Some(read_oid(option)?),
                "strategy" => options.strategy = word()?,
                _ => {}
            }
        }
        Ok(options)
    }

    /// How the files are copied.
    pub(super) fn strategy(&self) -> SqlResult<CopyStrategy> {
        match self.strategy.as_deref() {
            None => Ok(CopyStrategy::WalLog),
            Some(word) if word.eq_ignore_ascii_case("wal_log") => Ok(CopyStrategy::WalLog),
            Some(word) if word.eq_ignore_ascii_case("file_copy") => Ok(CopyStrategy::FileCopy),
            Some(word) => {
                Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid create database strategy \"{word}\"")
                    .hint("Valid strategies are \"wal_log\" and \"file_copy\"."))
            }
        }
    }
}

const KNOWN: [&str; 17] = [
    "owner",
    "template",
    "tablespace",
    "encoding",
    "locale",
    "builtin_locale",
    "lc_collate",
    "lc_ctype",
    "icu_locale",
    "icu_rules",
    "locale_provider",
    "collation_version",
    "is_template",
    "allow_connections",
    "connection_limit",
    "oid",
    "strategy",
];

/// Each option exists, and is there once.
fn check_names(session: &Session, list: &[DefElem], text: &str) -> SqlResult<()> {
    for (i, option) in list.iter().enumerate() {
        let here = |error| at(error, text, option.location);
        if option.name == "location" {
            let warning = "LOCATION is not supported anymore";
            let warning =
                SqlError::with_severity(base::Severity::Warning, SqlState::FEATURE_NOT_SUPPORTED, warning);
            session.notice(here(warning.hint("Consider using tablespaces instead.")));
        } else if !KNOWN.contains(&option.name.as_str()) {
            return Err(here(sql_err!(SYNTAX_ERROR, "option \"{}\" not recognized", option.name)));
        } else if list[..i].iter().any(|before| before.name == option.name) {
            return Err(here(redundant()));
        }
    }
    Ok(())
}

pub(super) fn redundant() -> SqlError {
    sql_err!(SYNTAX_ERROR, "conflicting or redundant options")
}

/// CONNECTION LIMIT.
pub(super) fn connection_limit(option: &DefElem) -> SqlResult<i32> {
    let limit = read::integer(option)?;
    if limit < -1 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid connection limit: {limit}"));
    }
    Ok(limit)
}

/// The number of a server's encoding, given by its number or a name.
fn read_encoding(option: &DefElem) -> SqlResult<i32> {
    if let Some(OptionValue::Integer(number)) = option.value {
        return match Encoding::from_number(number) {
            Some(encoding) if encoding.is_of_servers() => Ok(number),
            _ => Err(sql_err!(UNDEFINED_OBJECT, "{number} is not a valid encoding code")),
        };
    }
    let name = read::string(option)?;
    match Encoding::find(&name) {
        Some(encoding) if encoding.is_of_servers() => Ok(encoding.number()),
        _ => Err(sql_err!(UNDEFINED_OBJECT, "{name} is not a valid encoding name")),
    }
}

fn read_oid(option: &DefElem) -> SqlResult<Oid> {
    let oid = match &option.value {
        Some(OptionValue::Integer(number)) => *number as u32,
        Some(OptionValue::Float(text)) => text.parse().map_err(|_| {
            sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value \"{text}\" is out of range for type oid")
        })?,
        _ => return Err(sql_err!(SYNTAX_ERROR, "{} requires a numeric value", option.name)),
    };
    if oid < Oid::FIRST_NORMAL.0 {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "OIDs less than {} are reserved for system objects",
            Oid::FIRST_NORMAL
        ));
    }
    Ok(Oid(oid))
}
