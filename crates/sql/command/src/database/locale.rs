//! Encoding and locale of a new database.
//!
//! Text is UTF-8, or bytes (`SQL_ASCII`, see `types::encoding`). A locale of the C library, or of the server itself, orders it by code points; one of ICU orders it as a language does.

use base::{Encoding, SqlError, SqlResult, sql_err};
use catalog::system::pg_database as d;
use catalog::{Row, RowExt};
use collation::Provider;
use session::Session;

use super::options::Options;

/// `pg_database.encoding`.
const SQL_ASCII: i32 = 0;
const UTF8: i32 = 6;

/// What `pg_database` says of text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Locale {
    pub(super) encoding: i32,
    pub(super) provider: u8,
    pub(super) collate: String,
    pub(super) ctype: String,
    pub(super) locale: Option<String>,
    pub(super) version: Option<String>,
}

fn invalid(message: String) -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "{message}")
}

fn encoding_name(number: i32) -> &'static str {
    Encoding::from_number(number).map_or("", Encoding::name)
}

fn provider_name(letter: u8) -> &'static str {
    match letter {
        b'b' => "builtin",
        b'i' => "icu",
        _ => "libc",
    }
}

fn read_provider(word: &str) -> SqlResult<u8> {
    for letter in [b'b', b'i', b'c'] {
        if word.eq_ignore_ascii_case(provider_name(letter)) {
            return Ok(letter);
        }
    }
    Err(sql_err!(INVALID_OBJECT_DEFINITION, "unrecognized locale provider: {word}"))
}

impl Locale {
    /// Of a database that is a copy of `template` and has these options.
    pub(super) fn of_new(session: &Session, template: &Row, options: &Options) -> SqlResult<Locale> {
        let encoding = options.encoding.unwrap_or_else(|| template.int(d::ENCODING));
        let copied = template.char(d::DATLOCPROVIDER);
        let provider = options.provider.as_deref().map_or(Ok(copied), read_provider)?;
        let said = |own: &Option<String>, column: usize| {
            let said = own.as_ref().or(options.locale.as_ref()).cloned();
            said.unwrap_or_else(|| template.str(column).to_owned())
        };
        let collate = check_libc("LC_COLLATE", &said(&options.collate, d::DATCOLLATE), provider)?;
        let ctype = check_libc("LC_CTYPE", &said(&options.ctype, d::DATCTYPE), provider)?;
        check_encoding(session, encoding, &ctype, &collate)?;
        check_provider_options(options, provider)?;
        let locale = match provider {
            b'c' => None,
            letter => {
                let own = if letter == b'b' { &options.builtin_locale } else { &options.icu_locale };
                let copied = template.opt_str(d::DATLOCALE).filter(|_| copied == letter).map(str::to_owned);
                let said = own.clone().or(options.locale.clone());
                Some(match letter {
                    b'b' => builtin_locale(said.or(copied), encoding)?,
                    _ => icu_locale(session, said, copied, encoding)?,
                })
            }
        };
        if options.icu_rules.is_some() {
            return Err(SqlError::not_supported("CREATE DATABASE with ICU_RULES"));
        }
        let version = options.collation_version.clone().or(actual_version(provider, locale.as_deref()));
        let wanted = Locale { encoding, provider, collate, ctype, locale, version };
        if template.str(d::DATNAME) != "template0" {
            wanted.check_against(template)?;
        }
        if !matches!(encoding, UTF8 | SQL_ASCII) {
            return Err(SqlError::not_supported(format!("server encoding \"{}\"", encoding_name(encoding))));
        }
        Ok(wanted)
    }

    /// Only what holds for a template's rows holds for those of its copies.
    fn check_against(&self, template: &Row) -> SqlResult<()> {
        let hint = |error: SqlError, what: &str| {
            Err(error.hint(format!(
                "Use the same {what} as in the template database, or use template0 as template."
            )))
        };
        let encoding = template.int(d::ENCODING);
        if self.encoding != encoding {
            let (new, old) = (encoding_name(self.encoding), encoding_name(encoding));
            return hint(
                invalid(format!(
                    "new encoding ({new}) is incompatible with the encoding of the template database ({old})"
                )),
                "encoding",
            );
        }
        for (new, column, short, long) in [
            (&self.collate, d::DATCOLLATE, "collation", "collation"),
            (&self.ctype, d::DATCTYPE, "LC_CTYPE", "LC_CTYPE"),
        ] {
            let old = template.str(column);
            if new != old {
                let message = format!(
                    "new {short} ({new}) is incompatible with the {long} of the template database ({old})"
                );
                return hint(invalid(message), short);
            }
        }
        let provider = template.char(d::DATLOCPROVIDER);
        if self.provider != provider {
            let (new, old) = (provider_name(self.provider), provider_name(provider));
            return hint(
                invalid(format!(
                    "new locale provider ({new}) does not match locale provider of the template database ({old})"
                )),
                "locale provider",
            );
        }
        let old = template.opt_str(d::DATLOCALE).unwrap_or_default();
        match &self.locale {
            Some(new) if provider == b'i' && new != old => hint(
                invalid(format!(
                    "new ICU locale ({new}) is incompatible with the ICU locale of the template database ({old})"
                )),
                "ICU locale",
            ),
            _ => Ok(()),
        }
    }
}

/// A locale of the C library that this server behaves like.
fn check_libc(what: &str, name: &str, provider: u8) -> SqlResult<String> {
    match name {
        "C" | "POSIX" => return Ok("C".to_owned()),
        "C.UTF-8" | "C.utf8" => return Ok(name.to_owned()),
        _ => {}
    }
    let error = sql_err!(WRONG_OBJECT_TYPE, "invalid {what} locale name: \"{name}\"");
    Err(match provider {
        b'b' => error.hint("If the locale name is specific to the builtin provider, use BUILTIN_LOCALE."),
        b'i' => error.hint("If the locale name is specific to the ICU provider, use ICU_LOCALE."),
        _ => error,
    })
}

/// The locales with UTF-8 in their names are for that encoding.
fn check_encoding(session: &Session, encoding: i32, ctype: &str, collate: &str) -> SqlResult<()> {
    if encoding == UTF8 || encoding == SQL_ASCII && session.has_all_rights()? {
        return Ok(());
    }
    for (what, name) in [("LC_CTYPE", ctype), ("LC_COLLATE", collate)] {
        if name != "C" {
            let message =
                format!("encoding \"{}\" does not match locale \"{name}\"", encoding_name(encoding));
            return Err(
                invalid(message).detail(format!("The chosen {what} setting requires encoding \"UTF8\"."))
            );
        }
    }
    Ok(())
}

fn check_provider_options(options: &Options, provider: u8) -> SqlResult<()> {
    let given = [
        (
            options.builtin_locale.is_some(),
            b'b',
            "BUILTIN_LOCALE cannot be specified unless locale provider is builtin",
        ),
        (options.icu_locale.is_some(), b'i', "ICU locale cannot be specified unless locale provider is ICU"),
        (options.icu_rules.is_some(), b'i', "ICU rules cannot be specified unless locale provider is ICU"),
    ];
    match given.into_iter().find(|(given, of, _)| *given && *of != provider) {
        Some((_, _, message)) => Err(sql_err!(INVALID_OBJECT_DEFINITION, "{message}")),
        None => Ok(()),
    }
}

/// Version of the order of a provider's locale, as far as it has one.
pub(super) fn actual_version(provider: u8, locale: Option<&str>) -> Option<String> {
    let provider = Provider::of_letter(provider)?;
    collation::version(provider, locale.unwrap_or_default()).map(str::to_owned)
}

/// A locale of the server itself.
fn builtin_locale(locale: Option<String>, encoding: i32) -> SqlResult<String> {
    let locale = locale.ok_or_else(|| invalid("LOCALE or BUILTIN_LOCALE must be specified".into()))?;
    let known = collation::builtin_locale(&locale)?;
    if known != "C" && encoding != UTF8 {
        let name = encoding_name(encoding);
        return Err(sql_err!(WRONG_OBJECT_TYPE, "encoding \"{name}\" does not match locale \"{locale}\""));
    }
    Ok(known.to_owned())
}

/// A locale of ICU, as a language tag: what is said, or that of the template.
fn icu_locale(
    session: &Session,
    said: Option<String>,
    copied: Option<String>,
    encoding: i32,
) -> SqlResult<String> {
    if encoding != UTF8 {
        let name = encoding_name(encoding);
        return Err(invalid(format!("encoding \"{name}\" is not supported with ICU provider")));
    }
    match said {
        Some(said) => crate::collation::icu_locale(session, said),
        None => copied.ok_or_else(|| invalid("LOCALE or ICU_LOCALE must be specified".into())),
    }
}
