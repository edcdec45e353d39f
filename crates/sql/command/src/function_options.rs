//! # What
//! The options of CREATE FUNCTION and ALTER FUNCTION: volatility, cost, SET and so on.

use base::{SqlError, SqlResult, SqlState, sql_err};
use parse::ast::{DefElem, OptionValue, SetAction, SetStatement};
use session::Session;

use super::names::at;
use super::{options, settings};

/// The options as far as they were given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// AS: the body, and a link symbol.
    pub(crate) source: Option<Vec<String>>,
    /// LANGUAGE
    pub(crate) language: Option<String>,
    /// WINDOW
    pub(crate) window: Option<bool>,
    /// `i`, `s` or `v`
    pub(crate) volatility: Option<u8>,
    /// STRICT
    pub(crate) strict: Option<bool>,
    /// SECURITY DEFINER
    pub(crate) security_definer: Option<bool>,
    /// LEAKPROOF
    pub(crate) leakproof: Option<bool>,
    /// COST
    pub(crate) cost: Option<f32>,
    /// ROWS
    pub(crate) rows: Option<f32>,
    /// `s`, `r` or `u`
    pub(crate) parallel: Option<u8>,
    /// SET and RESET, in order.
    pub(crate) settings: Vec<SetStatement>,
}

impl Options {
    /// Reads options; a procedure has few of them.
    pub(crate) fn read(list: &[DefElem], procedure: bool, text: &str) -> SqlResult<Options> {
        let mut read = Options::default();
        let mut seen: Vec<&str> = Vec::new();
        for option in list {
            let name = option.name.as_str();
            if name != "set" && seen.contains(&name) {
                let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
                return Err(at(error, text, option.location));
            }
            seen.push(name);
            let of_functions = !matches!(name, "as" | "language" | "security" | "set" | "transform");
            if procedure && of_functions {
                let error =
                    sql_err!(INVALID_FUNCTION_DEFINITION, "invalid attribute in procedure definition");
                return Err(at(error, text, option.location));
            }
            read.take(option, text)?;
        }
        Ok(read)
    }

    fn take(&mut self, option: &DefElem, text: &str) -> SqlResult<()> {
        match option.name.as_str() {
            "as" => self.source = Some(strings(option)?),
            "language" => self.language = Some(options::string(option)?),
            "window" => self.window = Some(options::boolean(option)?),
            "volatility" => {
                self.volatility = Some(match options::string(option)?.as_str() {
                    "immutable" => b'i',
                    "stable" => b's',
                    _ => b'v',
                });
            }
            "strict" => self.strict = Some(options::boolean(option)?),
            "security" => self.security_definer = Some(options::boolean(option)?),
            "leakproof" => self.leakproof = Some(options::boolean(option)?),
            "cost" => self.cost = Some(positive(option, "COST")?),
            "rows" => self.rows = Some(positive(option, "ROWS")?),
            "parallel" => {
                self.parallel = Some(match options::string(option)?.as_str() {
                    "safe" => b's',
                    "restricted" => b'r',
                    "unsafe" => b'u',
                    _ => {
                        let error = sql_err!(
                            SYNTAX_ERROR,
                            "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE"
                        );
                        return Err(at(error, text, option.location));
                    }
                });
            }
            "set" => match &option.value {
                Some(OptionValue::Set(set)) => self.settings.push(set.clone()),
                _ => return Err(SqlError::internal("SET without a setting")),
            },
            "support" => return Err(SqlError::not_supported("SUPPORT of a function")),
            "transform" => return Err(SqlError::not_supported("TRANSFORM of a function")),
            other => return Err(SqlError::internal(format!("option \"{other}\" not recognized"))),
        }
        Ok(())
    }
}

fn strings(option: &DefElem) -> SqlResult<Vec<String>> {
    let text = |value: &OptionValue| {
        options::text(value).ok_or_else(|| SqlError::internal("unrecognized function body"))
    };
    match &option.value {
        Some(OptionValue::List(list)) => list.iter().map(text).collect(),
        Some(value) => Ok(vec![text(value)?]),
        None => Ok(Vec::new()),
    }
}

fn positive(option: &DefElem, name: &str) -> SqlResult<f32> {
    let number: f32 = options::string(option)?.parse().unwrap_or(0.0);
    if number > 0.0 {
        return Ok(number);
    }
    Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("{name} must be positive")))
}

/// Applies SET and RESET clauses to `name=value` strings.
pub(crate) fn change_config(
    session: &Session,
    config: &mut Vec<String>,
    changes: &[SetStatement],
) -> SqlResult<()> {
    for change in changes {
        if change.action == SetAction::ResetAll {
            config.clear();
            continue;
        }
        let known = base::settings::Setting::find(&change.name);
        let name = known.map_or_else(|| change.name.clone(), |setting| setting.name().to_owned());
        let value = match &change.action {
            SetAction::Value(values) => Some(settings::value_text(&name, values)?),
            SetAction::Current => Some(session.settings.borrow().show(&name)?),
            _ => None,
        };
        let place = config.iter().position(|entry| entry.split_once('=').is_some_and(|(n, _)| n == name));
        match (value, place) {
            (Some(value), place) => {
                session.check_stored_setting(&name, Some(&value))?;
                if let Some(refused) = known.and_then(|setting| session.refused_identity(setting, &value)) {
                    session.notice(refused);
                }
                let entry = format!("{name}={value}");
                match place {
                    Some(i) => config[i] = entry,
                    None => config.push(entry),
                }
            }
            (None, Some(i)) => {
                config.remove(i);
            }
            (None, None) => {}
        }
    }
    Ok(())
}
