//! What a text setting's value must look like, beyond being text.

use std::sync::OnceLock;

use super::{Setting, Value};
use crate::{Encoding, SqlError, SqlResult, SqlState, sql_err};

/// Checks a text that this crate cannot judge (a time zone's name); returns the text to store.
pub type TextCheck = fn(Setting, &str) -> SqlResult<Option<String>>;

static TEXT_CHECK: OnceLock<TextCheck> = OnceLock::new();

/// Installs the check for texts that need more knowledge than there is here. The first call wins.
pub fn set_text_check(check: TextCheck) {
    // A second server in the same process brings the same function.
    let _ = TEXT_CHECK.set(check);
}

/// Most that `max_stack_depth` may be, in kilobytes: what PostgreSQL allows under the usual limit of 8 MB for a stack.
pub const MAX_STACK_DEPTH: i32 = 7680;

/// Least kilobytes that a ring of buffers may have.
pub const MIN_RING: i32 = 128;
/// Most of them.
pub const MAX_RING: i32 = 16_777_216;

/// Reads a value and puts it into its canonical form; `current` is the value so far, which some texts only amend.
pub(super) fn parse(setting: Setting, text: &str, current: &Value) -> SqlResult<Value> {
    let value = setting.definition().parse(text)?;
    setting.definition().check_effect(&value)?;
    let invalid = || {
        sql_err!(INVALID_PARAMETER_VALUE, "invalid value for parameter \"{}\": \"{text}\"", setting.name())
    };
    let canonical = match setting {
        Setting::DateStyle => {
            Some(date_style(text, current.as_text()).map_err(|detail| invalid().detail(detail))?)
        }
        Setting::max_stack_depth if value.as_int() > MAX_STACK_DEPTH => {
            let message = format!("invalid value for parameter \"{}\": {}", setting.name(), value.as_int());
            let detail = format!("\"{}\" must not exceed {MAX_STACK_DEPTH}kB.", setting.name());
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).detail(detail));
        }
        Setting::vacuum_buffer_usage_limit if (1..MIN_RING).contains(&value.as_int()) => {
            let message = format!("invalid value for parameter \"{}\": {}", setting.name(), value.as_int());
            let detail =
                format!("\"{}\" must be 0 or between {MIN_RING} kB and {MAX_RING} kB.", setting.name());
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).detail(detail));
        }
        Setting::io_max_concurrency if value.as_int() == 0 => {
            let message = format!("invalid value for parameter \"{}\": 0", setting.name());
            let detail = "Only -1 or values bigger than 0 are valid.";
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).detail(detail));
        }
        Setting::debug_io_direct => {
            direct_files(text)?.map_err(|detail| invalid().detail(detail))?;
            None
        }
        Setting::client_encoding => Some(encoding(text, invalid)?),
        Setting::lc_messages | Setting::lc_monetary | Setting::lc_numeric | Setting::lc_time => {
            check_locale(setting, text)?;
            None
        }
        Setting::default_table_access_method if text.is_empty() => {
            return Err(invalid().detail("\"default_table_access_method\" cannot be empty."));
        }
        Setting::timezone_abbreviations if !["Default", "Australia", "India"].contains(&text) => {
            return Err(invalid());
        }
        Setting::log_destination => {
            check_destinations(setting, text)?.map_err(|detail| invalid().detail(detail))?;
            None
        }
        Setting::createrole_self_grant => {
            key_words(text, &["set", "inherit"]).map_err(|detail| invalid().detail(detail))?;
            None
        }
        Setting::restrict_nonsystem_relation_kind => {
            key_words(text, &["view", "foreign-table"]).map_err(|detail| invalid().detail(detail))?;
            None
        }
        Setting::plpgsql_extra_errors | Setting::plpgsql_extra_warnings => {
            extra_checks(text).map_err(|detail| invalid().detail(detail))?;
            None
        }
        Setting::application_name | Setting::cluster_name => Some(ascii(text)),
        _ => match (&value, TEXT_CHECK.get()) {
            (Value::Text(_), Some(check)) => check(setting, text)?,
            _ => None,
        },
    };
    Ok(canonical.map_or(value, |text| Value::Text(text.into())))
}

/// Fails for a locale whose messages, numbers, money and names of days are not those that are written here.
fn check_locale(setting: Setting, text: &str) -> SqlResult<()> {
    let (language, _) = text.split_once('.').unwrap_or((text, ""));
    if matches!(language, "" | "C" | "POSIX" | "en_US")
        || setting == Setting::lc_messages && language.starts_with("en_")
    {
        return Ok(());
    }
    let name = setting.name();
    Err(sql_err!(
        FEATURE_NOT_SUPPORTED,
        "setting \"{name}\" cannot be set to \"{text}\": another locale than C and en_US is not supported"
    ))
}

/// Where the log may go; an inner error is the DETAIL.
fn check_destinations(setting: Setting, text: &str) -> SqlResult<Result<(), String>> {
    for word in text.split(',').map(|word| word.trim().trim_matches('"')) {
        if matches!(word.to_ascii_lowercase().as_str(), "syslog" | "eventlog") {
            let name = setting.name();
            let message = format!("setting \"{name}\" cannot be set to \"{word}\": {word} is not supported");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
    }
    Ok(key_words(text, &["stderr", "csvlog", "jsonlog"]))
}

/// Files that are read and written around the page cache; an inner error is the DETAIL.
fn direct_files(text: &str) -> SqlResult<Result<(), String>> {
    let words = text.split(',').map(|word| word.trim().trim_matches('"').to_ascii_lowercase());
    for word in words.filter(|_| !text.trim().is_empty()) {
        match word.as_str() {
            "data" => {}
            "" => return Ok(Err("Invalid list syntax in parameter \"debug_io_direct\".".into())),
            "wal" | "wal_init" => {
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "setting \"debug_io_direct\" cannot be set to \"{text}\": direct I/O of the log is not supported"
                ));
            }
            _ => return Ok(Err(format!("Invalid option \"{word}\"."))),
        }
    }
    Ok(Ok(()))
}

/// A list of words that all have to be known; an error is the DETAIL.
fn key_words(text: &str, known: &[&str]) -> Result<(), String> {
    let words = text.split(',').map(|word| word.trim().trim_matches('"'));
    for word in words.filter(|_| !text.trim().is_empty()) {
        if !known.iter().any(|one| one.eq_ignore_ascii_case(word)) {
            return Err(match word {
                "" => "List syntax is invalid.".to_string(),
                _ => format!("Unrecognized key word: \"{}\".", word.to_ascii_lowercase()),
            });
        }
    }
    Ok(())
}

/// Names of PL/pgSQL's checks, or one word for all or none of them; an error is the DETAIL.
fn extra_checks(text: &str) -> Result<(), String> {
    if ["all", "none"].iter().any(|word| word.eq_ignore_ascii_case(text)) {
        return Ok(());
    }
    let words = text.split(',').map(|word| word.trim().trim_matches('"').to_ascii_lowercase());
    if let Some(word) = words.into_iter().find(|word| word == "all" || word == "none") {
        return Err(format!("Key word \"{word}\" cannot be combined with other key words."));
    }
    key_words(text, &["shadowed_variables", "too_many_rows", "strict_multi_assignment"])
}

/// PostgreSQL writes characters that are not printable ASCII as `\x` and two digits.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            0x20..=0x7E => out.push(char::from(byte)),
            other => out.push_str(&format!("\\x{other:02x}")),
        }
    }
    out
}

/// The canonical name of a client encoding. Every server's text is UTF-8.
fn encoding(text: &str, invalid: impl FnOnce() -> SqlError) -> SqlResult<String> {
    let Some(encoding) = Encoding::find(text) else { return Err(invalid()) };
    if !encoding.is_known() {
        let message = invalid().message().to_owned();
        let detail = format!("Conversion between {} and UTF8 is not supported.", encoding.name());
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).detail(detail));
    }
    Ok(encoding.name().to_owned())
}

/// `ISO, MDY` and its kin: words in any order; what is not said stays. An error is the DETAIL.
fn date_style(text: &str, current: &str) -> Result<String, String> {
    let (mut style, mut order) = (None, None);
    for word in text.split(',').map(str::trim) {
        let word = word.trim_matches('"').to_ascii_lowercase();
        let (slot, meant) = match word.as_str() {
            "iso" => (&mut style, "ISO"),
            "sql" => (&mut style, "SQL"),
            "german" => (&mut style, "German"),
            _ if word.starts_with("postgres") => (&mut style, "Postgres"),
            "ymd" => (&mut order, "YMD"),
            "dmy" => (&mut order, "DMY"),
            "mdy" | "us" => (&mut order, "MDY"),
            _ if word.starts_with("euro") => (&mut order, "DMY"),
            _ if word.starts_with("noneuro") => (&mut order, "MDY"),
            "default" => {
                style = style.or(Some("ISO"));
                order = order.or(Some("MDY"));
                continue;
            }
            _ => return Err(format!("Unrecognized key word: \"{word}\".")),
        };
        if slot.replace(meant).is_some_and(|before| before != meant) {
            return Err("Conflicting \"DateStyle\" specifications.".into());
        }
    }
    // German dates have the day first unless something else is said.
    if style == Some("German") {
        order = order.or(Some("DMY"));
    }
    let (old_style, old_order) = current.split_once(", ").unwrap_or(("ISO", "MDY"));
    Ok(format!("{}, {}", style.unwrap_or(old_style), order.unwrap_or(old_order)))
}
