//! Options of COPY.

use base::{Encoding, SqlError, SqlResult, SqlState, sql_err};
use parse::ast::{DefElem, OptionValue};

use crate::names::at;
use crate::options;

/// FORMAT
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Csv,
    Binary,
}

/// HEADER
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    None,
    /// A line of names, not looked at by COPY FROM.
    Line,
    /// The names must be those of the columns.
    Match,
}

/// FORCE_QUOTE and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    None,
    All,
    List(Vec<String>),
}

/// Options of COPY, checked.
#[derive(Clone, Debug)]
pub(crate) struct CopyOptions {
    pub(crate) format: Format,
    /// Of text and CSV, if it is not the client's.
    pub(crate) encoding: Option<Encoding>,
    pub(crate) delimiter: u8,
    pub(crate) null: String,
    /// What stands for a column's default in COPY FROM.
    pub(crate) default: Option<String>,
    pub(crate) header: Header,
    pub(crate) quote: u8,
    pub(crate) escape: u8,
    pub(crate) force_quote: Columns,
    pub(crate) force_not_null: Columns,
    pub(crate) force_null: Columns,
    pub(crate) freeze: bool,
    /// ON_ERROR ignore: rows with bad values are left out.
    pub(crate) ignore_errors: bool,
    /// REJECT_LIMIT; 0: none
    pub(crate) reject_limit: i64,
    /// LOG_VERBOSITY verbose
    pub(crate) verbose: bool,
    /// LOG_VERBOSITY silent
    pub(crate) silent: bool,
}

const INVALID: SqlState = SqlState::INVALID_PARAMETER_VALUE;

/// What was written, before defaults and cross-checks.
#[derive(Default)]
struct Written<'a> {
    format: Option<String>,
    encoding: Option<Encoding>,
    delimiter: Option<String>,
    null: Option<String>,
    default: Option<String>,
    header: Option<Header>,
    quote: Option<String>,
    escape: Option<String>,
    force_quote: Option<Columns>,
    force_not_null: Option<Columns>,
    force_null: Option<Columns>,
    freeze: Option<bool>,
    on_error: Option<(bool, &'a DefElem)>,
    reject_limit: Option<i64>,
    verbosity: Option<String>,
}

fn once<T>(slot: &mut Option<T>, value: T, option: &DefElem, text: &str) -> SqlResult<()> {
    if slot.replace(value).is_some() {
        let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
        return Err(at(error, text, option.location));
    }
    Ok(())
}

/// Reads the options of COPY FROM or COPY TO.
pub(crate) fn read(list: &[DefElem], from: bool, text: &str) -> SqlResult<CopyOptions> {
    let mut w = Written::default();
    for option in list {
        let string = || options::string(option);
        match option.name.as_str() {
            "format" => once(&mut w.format, format(option, text)?, option, text)?,
            "freeze" => once(&mut w.freeze, options::boolean(option)?, option, text)?,
            "delimiter" => once(&mut w.delimiter, string()?, option, text)?,
            "null" => once(&mut w.null, string()?, option, text)?,
            "default" => once(&mut w.default, string()?, option, text)?,
            "header" => once(&mut w.header, header(option, from)?, option, text)?,
            "quote" => once(&mut w.quote, string()?, option, text)?,
            "escape" => once(&mut w.escape, string()?, option, text)?,
            "force_quote" => once(&mut w.force_quote, columns(option, text)?, option, text)?,
            "force_not_null" => once(&mut w.force_not_null, columns(option, text)?, option, text)?,
            "force_null" => once(&mut w.force_null, columns(option, text)?, option, text)?,
            "encoding" => once(&mut w.encoding, encoding(option, text)?, option, text)?,
            "on_error" => once(&mut w.on_error, (on_error(option, from, text)?, option), option, text)?,
            "reject_limit" => once(&mut w.reject_limit, reject_limit(option)?, option, text)?,
            "log_verbosity" => once(&mut w.verbosity, verbosity(option, text)?, option, text)?,
            other => {
                let error = sql_err!(SYNTAX_ERROR, "option \"{other}\" not recognized");
                return Err(at(error, text, option.location));
            }
        }
    }
    assemble(w, from)
}

fn format(option: &DefElem, text: &str) -> SqlResult<String> {
    let name = options::string(option)?;
    match name.as_str() {
        "text" | "csv" | "binary" => Ok(name),
        other => {
            let error = sql_err!(INVALID_PARAMETER_VALUE, "COPY format \"{other}\" not recognized");
            Err(at(error, text, option.location))
        }
    }
}

fn header(option: &DefElem, from: bool) -> SqlResult<Header> {
    if let Ok(on) = options::boolean(option) {
        return Ok(if on { Header::Line } else { Header::None });
    }
    match options::string(option)?.to_ascii_lowercase().as_str() {
        "match" if from => Ok(Header::Match),
        "match" => Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot use \"match\" with HEADER in COPY TO")),
        _ => Err(sql_err!(SYNTAX_ERROR, "header requires a Boolean value or \"match\"")),
    }
}

fn columns(option: &DefElem, text: &str) -> SqlResult<Columns> {
    match &option.value {
        Some(OptionValue::Star) => Ok(Columns::All),
        Some(OptionValue::List(list)) => Ok(Columns::List(list.iter().filter_map(options::text).collect())),
        Some(OptionValue::Names(names)) => Ok(Columns::List(names.clone())),
        _ => {
            let error = sql_err!(
                INVALID_PARAMETER_VALUE,
                "argument to option \"{}\" must be a list of column names",
                option.name
            );
            Err(at(error, text, option.location))
        }
    }
}

fn encoding(option: &DefElem, text: &str) -> SqlResult<Encoding> {
    let name = options::string(option)?;
    Encoding::find(&name).ok_or_else(|| {
        let message = "argument to option \"encoding\" must be a valid encoding name";
        at(SqlError::new(INVALID, message), text, option.location)
    })
}

fn on_error(option: &DefElem, from: bool, text: &str) -> SqlResult<bool> {
    if !from {
        let error = sql_err!(FEATURE_NOT_SUPPORTED, "COPY ON_ERROR cannot be used with COPY TO");
        return Err(at(error, text, option.location));
    }
    match options::string(option)?.to_ascii_lowercase().as_str() {
        "stop" => Ok(false),
        "ignore" => Ok(true),
        other => {
            let error = sql_err!(INVALID_PARAMETER_VALUE, "COPY ON_ERROR \"{other}\" not recognized");
            Err(at(error, text, option.location))
        }
    }
}

fn reject_limit(option: &DefElem) -> SqlResult<i64> {
    let written = options::string(option)?;
    let limit: i64 = written.trim().parse().map_err(|_| match option.value {
        Some(OptionValue::String(_)) => {
            sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bigint: \"{written}\"")
        }
        _ => sql_err!(SYNTAX_ERROR, "reject_limit requires a numeric value"),
    })?;
    if limit <= 0 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "REJECT_LIMIT ({limit}) must be greater than zero"));
    }
    Ok(limit)
}

fn verbosity(option: &DefElem, text: &str) -> SqlResult<String> {
    let word = options::string(option)?.to_ascii_lowercase();
    if matches!(word.as_str(), "silent" | "default" | "verbose") {
        return Ok(word);
    }
    let error = sql_err!(INVALID_PARAMETER_VALUE, "COPY LOG_VERBOSITY \"{word}\" not recognized");
    Err(at(error, text, option.location))
}

fn assemble(w: Written<'_>, from: bool) -> SqlResult<CopyOptions> {
    let format = match w.format.as_deref() {
        Some("csv") => Format::Csv,
        Some("binary") => Format::Binary,
        _ => Format::Text,
    };
    let csv = format == Format::Csv;
    if format == Format::Binary {
        check_binary(&w)?;
    }
    let delimiter = delimiter(w.delimiter.as_deref(), csv)?;
    let null = w.null.clone().unwrap_or_else(|| if csv { "" } else { "\\N" }.to_owned());
    for (given, name) in [(w.quote.is_some(), "QUOTE"), (w.escape.is_some(), "ESCAPE")] {
        require_csv(given, csv, name)?;
    }
    check_lines(Some(&null), "null")?;
    check_lines(w.default.as_deref(), "default")?;
    let quote = single(w.quote.as_deref(), b'"', "quote")?;
    if csv && delimiter == quote {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "COPY delimiter and quote must be different"));
    }
    let escape = single(w.escape.as_deref(), quote, "escape")?;
    for (given, name, needs_from) in [
        (w.force_quote.is_some(), "FORCE_QUOTE", false),
        (w.force_not_null.is_some(), "FORCE_NOT_NULL", true),
        (w.force_null.is_some(), "FORCE_NULL", true),
    ] {
        require_csv(given, csv, name)?;
        let code = if needs_from { INVALID } else { SqlState::FEATURE_NOT_SUPPORTED };
        require_direction(given, from == needs_from, name, (from, code))?;
    }
    check_special(&null, "NULL", delimiter, csv.then_some(quote), INVALID)?;
    require_direction(w.freeze == Some(true), from, "FREEZE", (from, INVALID))?;
    if let Some(default) = &w.default {
        let code = SqlState::FEATURE_NOT_SUPPORTED;
        require_direction(true, from, "DEFAULT", (from, code))?;
        check_special(default, "DEFAULT", delimiter, csv.then_some(quote), code)?;
        if *default == null {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "NULL specification and DEFAULT specification cannot be the same"
            ));
        }
    }
    let ignore_errors = w.on_error.is_some_and(|(ignore, _)| ignore);
    if format == Format::Binary && ignore_errors {
        return Err(sql_err!(SYNTAX_ERROR, "only ON_ERROR STOP is allowed in BINARY mode"));
    }
    if w.reject_limit.is_some() && !ignore_errors {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE"
        ));
    }
    Ok(CopyOptions {
        format,
        encoding: w.encoding,
        delimiter,
        null,
        default: w.default,
        header: w.header.unwrap_or(Header::None),
        quote,
        escape,
        force_quote: w.force_quote.unwrap_or(Columns::None),
        force_not_null: w.force_not_null.unwrap_or(Columns::None),
        force_null: w.force_null.unwrap_or(Columns::None),
        freeze: w.freeze.unwrap_or(false),
        ignore_errors,
        reject_limit: w.reject_limit.unwrap_or(0),
        verbose: w.verbosity.as_deref() == Some("verbose"),
        silent: w.verbosity.as_deref() == Some("silent"),
    })
}

/// What makes no sense where there is no text.
fn check_binary(w: &Written<'_>) -> SqlResult<()> {
    let header = w.header.is_some_and(|h| h != Header::None);
    for (given, name, code) in [
        (w.delimiter.is_some(), "DELIMITER", SqlState::SYNTAX_ERROR),
        (w.null.is_some(), "NULL", SqlState::SYNTAX_ERROR),
        (w.default.is_some(), "DEFAULT", SqlState::SYNTAX_ERROR),
        (header, "HEADER", SqlState::FEATURE_NOT_SUPPORTED),
    ] {
        if given {
            return Err(SqlError::new(code, format!("cannot specify {name} in BINARY mode")));
        }
    }
    Ok(())
}

fn check_lines(word: Option<&str>, what: &str) -> SqlResult<()> {
    if word.is_some_and(|word| word.contains(['\r', '\n'])) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "COPY {what} representation cannot use newline or carriage return"
        ));
    }
    Ok(())
}

/// The words for NULL and DEFAULT must not look like structure.
fn check_special(word: &str, what: &str, delimiter: u8, quote: Option<u8>, code: SqlState) -> SqlResult<()> {
    let refuse = |who: &str| {
        Err(SqlError::new(code, format!("{who} character must not appear in the {what} specification")))
    };
    match quote {
        _ if word.as_bytes().contains(&delimiter) => refuse("COPY delimiter"),
        Some(quote) if word.as_bytes().contains(&quote) => refuse("CSV quote"),
        _ => Ok(()),
    }
}

fn require_csv(given: bool, csv: bool, name: &str) -> SqlResult<()> {
    if given && !csv {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "COPY {name} requires CSV mode"));
    }
    Ok(())
}

fn require_direction(given: bool, fits: bool, name: &str, (from, code): (bool, SqlState)) -> SqlResult<()> {
    if given && !fits {
        let direction = if from { "FROM" } else { "TO" };
        return Err(SqlError::new(code, format!("COPY {name} cannot be used with COPY {direction}")));
    }
    Ok(())
}

fn delimiter(written: Option<&str>, csv: bool) -> SqlResult<u8> {
    let byte = single(written, if csv { b',' } else { b'\t' }, "delimiter")?;
    if byte == b'\n' || byte == b'\r' {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "COPY delimiter cannot be newline or carriage return"));
    }
    if !csv && (byte == b'\\' || byte == b'.' || byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "COPY delimiter cannot be \"{}\"", byte as char));
    }
    Ok(byte)
}

fn single(written: Option<&str>, default: u8, what: &str) -> SqlResult<u8> {
    match written.map(str::as_bytes) {
        None => Ok(default),
        Some([byte]) => Ok(*byte),
        Some(_) => Err(sql_err!(FEATURE_NOT_SUPPORTED, "COPY {what} must be a single one-byte character")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(sql: &str, from: bool) -> SqlResult<CopyOptions> {
        let direction = if from { "from stdin" } else { "to stdout" };
        let text = format!("copy t {direction} ({sql})");
        let statements = parse::parse(&text).unwrap();
        let parse::Statement::Copy(copy) = &statements[0].stmt else { panic!("not a COPY") };
        read(&copy.options, from, &text)
    }

    fn message(sql: &str, from: bool) -> String {
        options(sql, from).unwrap_err().message().to_owned()
    }

    #[test]
    fn formats_have_their_defaults() {
        let csv = options("format csv", true).unwrap();
        assert_eq!((csv.delimiter, csv.quote, csv.escape, csv.null.as_str()), (b',', b'"', b'"', ""));
        let text = options("freeze on", true).unwrap();
        assert_eq!((text.delimiter, text.null.as_str(), text.freeze), (b'\t', "\\N", true));
    }

    #[test]
    fn nonsense_is_refused_in_postgresql_words() {
        assert_eq!(message("delimiter 'a'", true), "COPY delimiter cannot be \"a\"");
        assert_eq!(message("delimiter '||'", true), "COPY delimiter must be a single one-byte character");
        assert_eq!(message("quote '\"'", true), "COPY QUOTE requires CSV mode");
        assert_eq!(
            message("format csv, force_null (a)", false),
            "COPY FORCE_NULL cannot be used with COPY TO"
        );
        assert_eq!(message("format csv, format csv", true), "conflicting or redundant options");
        assert_eq!(message("frobnicate", true), "option \"frobnicate\" not recognized");
        assert_eq!(message("header match", false), "cannot use \"match\" with HEADER in COPY TO");
        assert_eq!(
            message("null 'a,b', delimiter ','", true),
            "COPY delimiter character must not appear in the NULL specification"
        );
    }
}
