//! # What
//! Parsers, templates and dictionaries of text search: CREATE TEXT SEARCH PARSER, TEMPLATE and DICTIONARY, ALTER TEXT SEARCH DICTIONARY. For other
//! statements see `schema_object`.
//!
//! # PostgreSQL counterpart and differences
//! `commands/tsearchcmds.c`. Functions of parsers and templates are those that PostgreSQL brings along and those of modules: what cannot be carried out
//! fails when it is used.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::{NewName, ObjectAddress};
use catalog::system::{SystemTable, pg_proc, pg_ts_dict as d, pg_ts_parser as p, pg_ts_template as t};
use catalog::{Row, RowExt};
use parse::ast::{DefElem, Define, Name, ObjectName, OptionValue};
use session::{Session, text_search};
use textsearch::dictionary::options::{self as parameters, Parameter};
use types::oids;
use types::text::quote_identifier;

use super::schema_object::SchemaObject;
use super::{names, options, routine_name};

/// What other statements than CREATE do with dictionaries.
pub(super) const DICTIONARY: SchemaObject = SchemaObject {
    noun: "text search dictionary",
    oid: d::OID,
    name: d::DICTNAME,
    schema: d::DICTNAMESPACE,
    owner: Some(d::DICTOWNER),
    address: ObjectAddress::text_search_dictionary,
    find: |session, object| find(session, &d::TABLE, DICTIONARY.noun, object),
    taken: |session, _, name, schema| taken(session, &d::TABLE, name, schema),
};

/// The same with parsers.
pub(super) const PARSER: SchemaObject = SchemaObject {
    noun: "text search parser",
    oid: p::OID,
    name: p::PRSNAME,
    schema: p::PRSNAMESPACE,
    owner: None,
    address: ObjectAddress::text_search_parser,
    find: |session, object| find(session, &p::TABLE, PARSER.noun, object),
    taken: |session, _, name, schema| taken(session, &p::TABLE, name, schema),
};

/// The same with templates.
pub(super) const TEMPLATE: SchemaObject = SchemaObject {
    noun: "text search template",
    oid: t::OID,
    name: t::TMPLNAME,
    schema: t::TMPLNAMESPACE,
    owner: None,
    address: ObjectAddress::text_search_template,
    find: |session, object| find(session, &t::TABLE, TEMPLATE.noun, object),
    taken: |session, _, name, schema| taken(session, &t::TABLE, name, schema),
};

/// The object of a name, the first in the search path; an inner error if there is none.
pub(super) fn find(
    session: &Session,
    shape: &'static SystemTable,
    noun: &str,
    object: &ObjectName,
) -> SqlResult<Result<Row, SqlError>> {
    let ObjectName::Name(name) = object else {
        return Err(SqlError::internal(format!("a {noun} was expected")));
    };
    for schema in routine_name::schemas(session, name)? {
        if let Some(row) = session.with_reader(|r| r.text_search_row(shape, name.last(), schema))? {
            return Ok(Ok(row));
        }
    }
    Ok(Err(sql_err!(UNDEFINED_OBJECT, "{noun} \"{}\" does not exist", name.dotted())))
}

pub(super) fn taken(
    session: &Session,
    shape: &'static SystemTable,
    name: &str,
    schema: Oid,
) -> SqlResult<Option<String>> {
    Ok(session.with_reader(|r| r.text_search_row(shape, name, schema))?.map(|_| String::new()))
}

/// The object that an option names.
pub(super) fn named(session: &Session, kind: &SchemaObject, name: &Name) -> SqlResult<Row> {
    (kind.find)(session, &ObjectName::Name(name.clone()))?
}

/// The name and the place of what is to be made, which nothing of its catalog has yet.
pub(super) fn new_name(session: &Session, name: &Name, shape: &'static SystemTable) -> SqlResult<NewName> {
    let name = names::relation_name(&ObjectName::Name(name.clone()))?;
    let schema = names::routine_schema(session, &name)?;
    if session.with_reader(|r| r.text_search_row(shape, &name.name, schema))?.is_some() {
        let index = shape.indexes.iter().find(|index| index.keys.len() == 2);
        let index = index.map_or("", |index| index.name);
        let columns = [shape.columns[1].name, shape.columns[2].name].join(", ");
        return Err(sql_err!(UNIQUE_VIOLATION, "duplicate key value violates unique constraint \"{index}\"")
            .detail(format!("Key ({columns})=({}, {schema}) already exists.", name.name)));
    }
    Ok(NewName { name: name.name, schema })
}

fn check_superuser(session: &Session, what: &str) -> SqlResult<()> {
    match session.has_all_rights()? {
        true => Ok(()),
        false => Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser to create text search {what}")),
    }
}

/// A function that stands in a definition: its arguments and what it gives.
struct Method {
    option: &'static str,
    arguments: &'static [Oid],
    result: Oid,
}

const INTERNAL: [Oid; 4] = [oids::internal; 4];

impl Method {
    const fn new(option: &'static str, arguments: &'static [Oid], result: Oid) -> Method {
        Method { option, arguments, result }
    }

    fn find(&self, session: &Session, option: &DefElem) -> SqlResult<Oid> {
        let name = options::name(option)?;
        let function = routine_name::exact(session, &name, self.arguments)?;
        let key = [function.into()];
        let row = session.with_reader(|r| r.find_one(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &key))?;
        if row.is_none_or(|(_, row)| row.oid(pg_proc::PRORETTYPE) != self.result) {
            let show = |ty: &Oid| analyze::names::format_type(session, *ty, None);
            let arguments: Vec<String> = self.arguments.iter().map(show).collect();
            return Err(sql_err!(
                INVALID_OBJECT_DEFINITION,
                "function {}({}) should return type {}",
                name.dotted(),
                arguments.join(", "),
                show(&self.result)
            ));
        }
        Ok(function)
    }
}

/// The functions that a definition names, in the order of `methods`.
fn functions<const N: usize>(
    session: &Session,
    statement: &Define,
    kind: &str,
    methods: &[Method; N],
) -> SqlResult<[Oid; N]> {
    let mut found = [Oid::INVALID; N];
    for option in &statement.definition {
        let Some(number) = methods.iter().position(|method| method.option == option.name) else {
            return Err(sql_err!(
                SYNTAX_ERROR,
                "text search {kind} parameter \"{}\" not recognized",
                option.name
            ));
        };
        found[number] = methods[number].find(session, option)?;
    }
    Ok(found)
}

fn required(function: Oid, kind: &str, method: &str) -> SqlResult<()> {
    match function.is_valid() {
        true => Ok(()),
        false => Err(sql_err!(INVALID_OBJECT_DEFINITION, "text search {kind} {method} method is required")),
    }
}

/// CREATE TEXT SEARCH PARSER.
pub(crate) fn create_parser(session: &Session, statement: &Define) -> SqlResult<()> {
    const METHODS: [Method; 5] = [
        Method::new("start", &[oids::internal, oids::int4], oids::internal),
        Method::new("gettoken", INTERNAL.split_at(3).0, oids::internal),
        Method::new("end", INTERNAL.split_at(1).0, oids::void),
        Method::new("headline", &[oids::internal, oids::internal, oids::tsquery], oids::internal),
        Method::new("lextypes", INTERNAL.split_at(1).0, oids::internal),
    ];
    check_superuser(session, "parsers")?;
    let name = new_name(session, &statement.name, &p::TABLE)?;
    let functions = functions(session, statement, "parser", &METHODS)?;
    for (number, method) in [(0, "start"), (1, "gettoken"), (2, "end"), (4, "lextypes")] {
        required(functions[number], "parser", method)?;
    }
    session.with_changer(|changer| changer.create_text_search_parser(&name, functions))
}

/// CREATE TEXT SEARCH TEMPLATE.
pub(crate) fn create_template(session: &Session, statement: &Define) -> SqlResult<()> {
    const METHODS: [Method; 2] = [
        Method::new("init", INTERNAL.split_at(1).0, oids::internal),
        Method::new("lexize", &INTERNAL, oids::internal),
    ];
    check_superuser(session, "templates")?;
    let name = new_name(session, &statement.name, &t::TABLE)?;
    let functions = functions(session, statement, "template", &METHODS)?;
    required(functions[1], "template", "lexize")?;
    session.with_changer(|changer| changer.create_text_search_template(&name, functions))
}

fn parameter(option: &DefElem) -> SqlResult<Parameter> {
    Ok(Parameter {
        name: option.name.clone(),
        value: options::string(option)?,
        number: matches!(option.value, Some(OptionValue::Integer(_) | OptionValue::Float(_))),
    })
}

/// The text that parameters are kept as, once a dictionary of the template has been made with them.
fn checked(session: &Session, template: &Row, list: &[Parameter]) -> SqlResult<Option<String>> {
    if !template.oid(t::TMPLINIT).is_valid() {
        if list.is_empty() {
            return Ok(None);
        }
        let name = template.str(t::TMPLNAME);
        return Err(sql_err!(SYNTAX_ERROR, "text search template \"{name}\" does not accept options"));
    }
    text_search::make_dictionary(session, template.oid(t::OID), list)?;
    Ok((!list.is_empty()).then(|| parameters::write(list, &|name| quote_identifier(name))))
}

/// CREATE TEXT SEARCH DICTIONARY.
pub(crate) fn create_dictionary(session: &Session, statement: &Define) -> SqlResult<()> {
    let name = new_name(session, &statement.name, &d::TABLE)?;
    let (mut template, mut list) = (None, Vec::new());
    for option in &statement.definition {
        match option.name.as_str() {
            "template" => template = Some(named(session, &TEMPLATE, &options::name(option)?)?),
            _ => list.push(parameter(option)?),
        }
    }
    let template =
        template.ok_or_else(|| sql_err!(INVALID_OBJECT_DEFINITION, "text search template is required"))?;
    let text = checked(session, &template, &list)?;
    let (owner, template) = (session.names.user(), template.oid(t::OID));
    session.with_changer(|changer| {
        changer.create_text_search_dictionary(&name, (owner, template), text.as_deref())
    })
}

/// ALTER TEXT SEARCH DICTIONARY: parameters that are given take the place of those of their names; those without a value go.
pub(crate) fn alter_dictionary(session: &Session, name: &Name, given: &[DefElem]) -> SqlResult<()> {
    let row = named(session, &DICTIONARY, name)?;
    DICTIONARY.check_owner(session, &row)?;
    let mut list = parameters::parse(row.opt_str(d::DICTINITOPTION).unwrap_or_default())?;
    for option in given {
        list.retain(|known| known.name != option.name);
        if option.value.is_some() {
            list.push(parameter(option)?);
        }
    }
    let key = [row.oid(d::DICTTEMPLATE).into()];
    let template = session.with_reader(|r| r.find_one(&t::TABLE, t::PG_TS_TEMPLATE_OID_INDEX, &key))?;
    let (_, template) = template.ok_or_else(|| {
        let oid = row.oid(d::DICTTEMPLATE);
        SqlError::internal(format!("cache lookup failed for text search template {oid}"))
    })?;
    let text = checked(session, &template, &list)?;
    session.with_changer(|changer| changer.set_text_search_options(row.oid(d::OID), text.as_deref()))
}
