//! # What
//! Collations by name: CREATE COLLATION, ALTER ... REFRESH VERSION. For other statements see `schema_object`.
//!
//! # PostgreSQL counterpart and differences
//! `commands/collationcmds.c`, `catalog/pg_collation.c`. Rules of one's own (RULES) are not supported; of the C library there are the locales that order by bytes.

use base::settings::Setting;
use base::{Encoding, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewCollation, ObjectAddress};
use catalog::system::pg_collation as c;
use catalog::{Row, RowExt};
use collation::{Definition, Provider, locale};
use parse::ast::{DefElem, Define, Name, ObjectName};
use session::Session;

use super::schema_object::SchemaObject;
use super::{names, options, routine_name};

/// What other statements than CREATE and REFRESH VERSION do with collations.
pub(super) const COLLATION: SchemaObject = SchemaObject {
    noun: "collation",
    oid: c::OID,
    name: c::COLLNAME,
    schema: c::COLLNAMESPACE,
    owner: Some(c::COLLOWNER),
    address: ObjectAddress::collation,
    find,
    taken: |session, row, name, schema| {
        let found = session.with_reader(|r| r.collation_row(name, schema, row.int(c::COLLENCODING)))?;
        Ok(found.map(|found| for_encoding(&found)))
    },
};

/// What messages say of a collation behind its name: the encoding that it is for.
fn for_encoding(row: &Row) -> String {
    match row.int(c::COLLENCODING) {
        -1 => String::new(),
        number => format!(" for encoding \"{}\"", Encoding::from_number(number).map_or("", Encoding::name)),
    }
}

/// Attributes as CREATE COLLATION gives them.
#[derive(Default)]
struct Given<'s> {
    from: Option<&'s DefElem>,
    locale: Option<&'s DefElem>,
    collate: Option<&'s DefElem>,
    ctype: Option<&'s DefElem>,
    provider: Option<&'s DefElem>,
    deterministic: Option<&'s DefElem>,
    rules: Option<&'s DefElem>,
    version: Option<&'s DefElem>,
}

impl<'s> Given<'s> {
    fn of(definition: &'s [DefElem], text: &str) -> SqlResult<Given<'s>> {
        let mut given = Given::default();
        for option in definition {
            let slot = match option.name.as_str() {
                "from" => &mut given.from,
                "locale" => &mut given.locale,
                "lc_collate" => &mut given.collate,
                "lc_ctype" => &mut given.ctype,
                "provider" => &mut given.provider,
                "deterministic" => &mut given.deterministic,
                "rules" => &mut given.rules,
                "version" => &mut given.version,
                other => {
                    let error = sql_err!(SYNTAX_ERROR, "collation attribute \"{other}\" not recognized");
                    return Err(names::at(error, text, option.location));
                }
            };
            if slot.replace(option).is_some() {
                return Err(names::at(conflicting(), text, option.location));
            }
        }
        if given.locale.is_some() && (given.collate.is_some() || given.ctype.is_some()) {
            return Err(
                conflicting().detail("LOCALE cannot be specified together with LC_COLLATE or LC_CTYPE.")
            );
        }
        if given.from.is_some() && definition.len() > 1 {
            return Err(conflicting().detail("FROM cannot be specified together with any other options."));
        }
        Ok(given)
    }
}

fn conflicting() -> SqlError {
    sql_err!(SYNTAX_ERROR, "conflicting or redundant options")
}

fn missing_parameter(name: &str) -> SqlError {
    sql_err!(INVALID_OBJECT_DEFINITION, "parameter \"{name}\" must be specified")
}

/// What a collation is, whatever it is called.
struct Meaning {
    provider: Provider,
    deterministic: bool,
    encoding: i32,
    libc: Option<(String, String)>,
    locale: Option<String>,
    version: Option<String>,
}

/// CREATE COLLATION.
pub(crate) fn create(session: &Session, statement: &Define, text: &str) -> SqlResult<()> {
    let name = names::relation_name(&ObjectName::Name(statement.name.clone()))?;
    let schema = names::routine_schema(session, &name)?;
    let given = Given::of(&statement.definition, text)?;
    let meaning = match given.from {
        Some(from) => copied(session, &options::name(from)?)?,
        None => defined(session, &given)?,
    };
    let found = session.with_reader(|r| r.collation_row(&name.name, schema, meaning.encoding))?;
    if let Some(found) = found {
        let message = format!("collation \"{}\"{} already exists", name.name, for_encoding(&found));
        if statement.if_not_exists {
            let message = format!("{message}, skipping");
            session.notice(names::notice(SqlState::DUPLICATE_OBJECT, message));
            return Ok(());
        }
        return Err(sql_err!(DUPLICATE_OBJECT, "{message}"));
    }
    let Meaning { provider, deterministic, encoding, libc, locale, version } = meaning;
    let owner = session.names.user();
    let provider = provider.letter();
    let new = NewCollation {
        name: name.name,
        schema,
        owner,
        provider,
        deterministic,
        encoding,
        libc,
        locale,
        version,
    };
    session.with_changer(|changer| changer.create_collation(&new))
}

fn copied(session: &Session, from: &Name) -> SqlResult<Meaning> {
    let row = find(session, &ObjectName::Name(from.clone()))??;
    let Some(provider) = Provider::of_letter(row.char(c::COLLPROVIDER)) else {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "collation \"default\" cannot be copied"));
    };
    let text = |column: usize| row.opt_str(column).map(str::to_owned);
    Ok(Meaning {
        provider,
        deterministic: row.bool(c::COLLISDETERMINISTIC),
        encoding: row.int(c::COLLENCODING),
        libc: text(c::COLLCOLLATE).zip(text(c::COLLCTYPE)),
        version: row.opt_str(c::COLLVERSION).map(str::to_owned),
        locale: text(c::COLLLOCALE),
    })
}

fn defined(session: &Session, given: &Given<'_>) -> SqlResult<Meaning> {
    let text = |option: Option<&DefElem>| option.map(options::string).transpose();
    let provider = match text(given.provider)? {
        None => Provider::Libc,
        Some(word) => provider_named(&word)?,
    };
    let deterministic = given.deterministic.map_or(Ok(true), options::boolean)?;
    let whole = text(given.locale)?;
    let (mut libc, mut locale, mut encoding) = (None, None, -1);
    match provider {
        Provider::Libc => {
            let collate = text(given.collate)?.or(whole.clone());
            let ctype = text(given.ctype)?.or(whole);
            let collate = collate.ok_or_else(|| missing_parameter("lc_collate"))?;
            libc = Some((collate, ctype.ok_or_else(|| missing_parameter("lc_ctype"))?));
            encoding = types::text::server_encoding().number();
        }
        Provider::Builtin => {
            let name =
                collation::builtin_locale(&whole.ok_or_else(|| missing_parameter("locale"))?)?.to_owned();
            encoding = if name == "C" { -1 } else { Encoding::Utf8.number() };
            locale = Some(name);
        }
        Provider::Icu => {
            if types::text::texts_are_bytes() {
                return Err(sql_err!(
                    INVALID_OBJECT_DEFINITION,
                    "current database's encoding is not supported with this provider"
                ));
            }
            locale = Some(icu_locale(session, whole.ok_or_else(|| missing_parameter("locale"))?)?);
        }
    }
    if !deterministic && provider != Provider::Icu {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "nondeterministic collations not supported with this provider"
        ));
    }
    if given.rules.is_some() {
        return Err(match provider {
            Provider::Icu => SqlError::not_supported("CREATE COLLATION with RULES"),
            _ => sql_err!(
                INVALID_OBJECT_DEFINITION,
                "ICU rules cannot be specified unless locale provider is ICU"
            ),
        });
    }
    let used = locale.as_deref().or(libc.as_ref().map(|(_, ctype)| ctype.as_str())).unwrap_or_default();
    if let Some((collate, _)) = &libc {
        collation::rules(Definition { provider, locale: collate, deterministic })?;
    }
    collation::rules(Definition { provider, locale: used, deterministic })?;
    let version = match text(given.version)? {
        Some(version) => Some(version),
        None => collation::version(provider, used).map(str::to_owned),
    };
    Ok(Meaning { provider, deterministic, encoding, libc, locale, version })
}

fn provider_named(word: &str) -> SqlResult<Provider> {
    let all = [Provider::Builtin, Provider::Icu, Provider::Libc];
    all.into_iter()
        .find(|provider| word.eq_ignore_ascii_case(provider.name()))
        .ok_or_else(|| sql_err!(INVALID_OBJECT_DEFINITION, "unrecognized collation provider: {word}"))
}

/// The language tag of a locale of ICU, with what the user is told about it.
pub(crate) fn icu_locale(session: &Session, name: String) -> SqlResult<String> {
    let level = session.settings.borrow().text(Setting::icu_validation_level).to_owned();
    let severity = match level.as_str() {
        "disabled" => None,
        "error" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        "notice" => Some(Severity::Notice),
        "log" => Some(Severity::Log),
        _ => Some(Severity::Debug),
    };
    let complain = |mut error: SqlError| match severity {
        None => Ok(()),
        Some(Severity::Error) => Err(error),
        Some(severity) => {
            error.report_mut().severity = severity;
            session.notice(error);
            Ok(())
        }
    };
    let Some(tag) = locale::language_tag(&name) else {
        complain(locale::no_language_tag(&name))?;
        // What ICU makes of such a name: the locale before its attributes.
        let base = name.split('@').next().unwrap_or("");
        return locale::language_tag(base).ok_or_else(|| locale::no_language_tag(&name));
    };
    if tag != name {
        let message = format!("using standard form \"{tag}\" for ICU locale \"{name}\"");
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
    }
    if let Some(language) = locale::unknown_language(&tag) {
        let error =
            sql_err!(INVALID_PARAMETER_VALUE, "ICU locale \"{tag}\" has unknown language \"{language}\"");
        complain(error.hint(
            "To disable ICU locale validation, set the parameter \"icu_validation_level\" to \"disabled\".",
        ))?;
    }
    Ok(tag)
}

/// The collation of a name, the first in the search path; an inner error if there is none.
fn find(session: &Session, object: &ObjectName) -> SqlResult<Result<Row, SqlError>> {
    let ObjectName::Name(name) = object else {
        return Err(SqlError::internal("a collation was expected"));
    };
    let encoding = types::text::server_encoding();
    for schema in routine_name::schemas(session, name)? {
        if let Some(row) = session.with_reader(|r| r.collation_row(name.last(), schema, encoding.number()))? {
            return Ok(Ok(row));
        }
    }
    Ok(Err(sql_err!(
        UNDEFINED_OBJECT,
        "collation \"{}\" for encoding \"{}\" does not exist",
        name.dotted(),
        encoding.name()
    )))
}

/// ALTER COLLATION ... REFRESH VERSION.
pub(crate) fn refresh_version(session: &Session, name: &Name) -> SqlResult<()> {
    let row = find(session, &ObjectName::Name(name.clone()))??;
    COLLATION.check_owner(session, &row)?;
    let Some(provider) = Provider::of_letter(row.char(c::COLLPROVIDER)) else {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "cannot refresh version of default collation")
            .hint("Use ALTER DATABASE ... REFRESH COLLATION VERSION instead."));
    };
    let locale = row.opt_str(c::COLLLOCALE).or(row.opt_str(c::COLLCOLLATE)).unwrap_or_default();
    let (old, new) = (row.opt_str(c::COLLVERSION), collation::version(provider, locale));
    let notice = |message: String| session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
    match (old, new) {
        (Some(old), Some(new)) if old != new => {
            notice(format!("changing version from {old} to {new}"));
            session.with_changer(|changer| changer.set_collation_version(row.oid(c::OID), new))
        }
        (Some(_), Some(_)) | (None, None) => {
            notice("version has not changed".into());
            Ok(())
        }
        _ => Err(SqlError::internal("invalid collation version change")),
    }
}
