//! # What
//! Configurations of text search: CREATE and ALTER TEXT SEARCH CONFIGURATION. For other statements see `schema_object`.
//!
//! # PostgreSQL counterpart
//! `commands/tsearchcmds.c`.

use base::{Oid, SqlResult, sql_err};
use catalog::RowExt;
use catalog::change::{Mapping, ObjectAddress};
use catalog::system::pg_ts_config as c;
use catalog::system::{pg_ts_dict, pg_ts_parser};
use parse::ast::{AlterTextSearchConfiguration, Define, MappingAction, Name};
use session::{Session, text_search};

use super::schema_object::SchemaObject;
use super::text_search::{DICTIONARY, PARSER, find, named, new_name, taken};
use super::{names, options};

/// What other statements than CREATE do with configurations.
pub(super) const CONFIGURATION: SchemaObject = SchemaObject {
    noun: "text search configuration",
    oid: c::OID,
    name: c::CFGNAME,
    schema: c::CFGNAMESPACE,
    owner: Some(c::CFGOWNER),
    address: ObjectAddress::text_search_configuration,
    find: |session, object| find(session, &c::TABLE, CONFIGURATION.noun, object),
    taken: |session, _, name, schema| taken(session, &c::TABLE, name, schema),
};

/// CREATE TEXT SEARCH CONFIGURATION.
pub(crate) fn create(session: &Session, statement: &Define) -> SqlResult<()> {
    let name = new_name(session, &statement.name, &c::TABLE)?;
    let (mut parser, mut source) = (None, None);
    for option in &statement.definition {
        match option.name.as_str() {
            "parser" => parser = Some(named(session, &PARSER, &options::name(option)?)?),
            "copy" => source = Some(named(session, &CONFIGURATION, &options::name(option)?)?),
            other => {
                let what = format!("text search configuration parameter \"{other}\" not recognized");
                return Err(sql_err!(SYNTAX_ERROR, "{what}"));
            }
        }
    }
    let (parser, mappings) = match (parser, source) {
        (Some(_), Some(_)) => {
            return Err(sql_err!(SYNTAX_ERROR, "cannot specify both PARSER and COPY options"));
        }
        (Some(parser), None) => (parser.oid(pg_ts_parser::OID), Vec::new()),
        (None, Some(source)) => {
            let mappings = session.with_reader(|r| r.text_search_mappings(source.oid(c::OID)))?;
            (source.oid(c::CFGPARSER), mappings)
        }
        (None, None) => {
            return Err(sql_err!(INVALID_OBJECT_DEFINITION, "text search parser is required"));
        }
    };
    let owner = session.names.user();
    session
        .with_changer(|changer| changer.create_text_search_configuration(&name, (owner, parser), &mappings))
}

/// ALTER TEXT SEARCH CONFIGURATION ... MAPPING.
pub(crate) fn alter(session: &Session, statement: &AlterTextSearchConfiguration) -> SqlResult<()> {
    let row = named(session, &CONFIGURATION, &statement.name)?;
    CONFIGURATION.check_owner(session, &row)?;
    let (me, parser) = (row.oid(c::OID), row.oid(c::CFGPARSER));
    let kinds = numbers(session, parser, &statement.kinds)?;
    let mut mappings = session.with_reader(|r| r.text_search_mappings(me))?;
    match &statement.action {
        MappingAction::Add(names) => {
            let dictionaries = dictionaries(session, names)?;
            for (kind, _) in &kinds {
                if mappings.iter().any(|known| known.kind == *kind) {
                    return Err(already(me, *kind));
                }
                mappings.push(Mapping { kind: *kind, dictionaries: dictionaries.clone() });
            }
        }
        MappingAction::Set(names) => {
            let dictionaries = dictionaries(session, names)?;
            mappings.retain(|known| !kinds.iter().any(|(kind, _)| *kind == known.kind));
            let new = |(kind, _): &(i32, &str)| Mapping { kind: *kind, dictionaries: dictionaries.clone() };
            mappings.extend(kinds.iter().map(new));
        }
        MappingAction::Replace(old, new) => {
            let (old, new) = (dictionary(session, old)?, dictionary(session, new)?);
            let meant = |mapping: &&mut Mapping| {
                statement.kinds.is_empty() || kinds.iter().any(|(kind, _)| *kind == mapping.kind)
            };
            let meant = mappings.iter_mut().filter(meant);
            meant.flat_map(|mapping| &mut mapping.dictionaries).filter(|known| **known == old).for_each(
                |known| {
                    *known = new;
                },
            );
        }
        MappingAction::Drop { missing_ok } => {
            for (kind, name) in &kinds {
                if !mappings.iter().any(|known| known.kind == *kind) {
                    let what = format!("mapping for token type \"{name}\" does not exist");
                    names::skip_missing(session, *missing_ok, sql_err!(UNDEFINED_OBJECT, "{what}"))?;
                }
                mappings.retain(|known| known.kind != *kind);
            }
        }
    }
    session.with_changer(|changer| changer.set_text_search_mappings(me, &mappings))
}

fn already(configuration: Oid, kind: i32) -> base::SqlError {
    let what = "duplicate key value violates unique constraint \"pg_ts_config_map_index\"";
    let key = format!("({configuration}, {kind}, 1)");
    sql_err!(UNIQUE_VIOLATION, "{what}")
        .detail(format!("Key (mapcfg, maptokentype, mapseqno)={key} already exists."))
}

/// The kinds of tokens of these names, each once.
fn numbers<'n>(session: &Session, parser: Oid, list: &'n [String]) -> SqlResult<Vec<(i32, &'n str)>> {
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let known = text_search::kinds(session, parser)?;
    let mut found: Vec<(i32, &str)> = Vec::new();
    for name in list {
        let kind = known.iter().find(|(_, known, _)| known == name);
        let (kind, ..) =
            kind.ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "token type \"{name}\" does not exist"))?;
        let number = *kind as i32;
        if !found.iter().any(|(known, _)| *known == number) {
            found.push((number, name));
        }
    }
    Ok(found)
}

fn dictionary(session: &Session, name: &Name) -> SqlResult<Oid> {
    Ok(named(session, &DICTIONARY, name)?.oid(pg_ts_dict::OID))
}

fn dictionaries(session: &Session, names: &[Name]) -> SqlResult<Vec<Oid>> {
    names.iter().map(|name| dictionary(session, name)).collect()
}
