//! # What
//! CREATE TYPE of a shell, and of a base type whose values are those of a type of the registry.
//!
//! # PostgreSQL counterpart and differences
//! `DefineType` of `commands/typecmds.c`, `TypeShellMake` of `catalog/pg_type.c`. The input and output functions must be those of one built-in
//! type, under names of their own (LANGUAGE internal), or of one of an extension's module (LANGUAGE c): that type says what its values are.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::NewBaseType;
use catalog::{CatalogView, FunctionDef, TypeKind};
use parse::ast::{DefElem, Define, Name, OptionValue, TypeName};
use session::Session;
use types::registry::libraries;
use types::{TypeInfo, oids};

use super::names::at;
use super::{names, operator, options, routine_name, type_name, user_type};

/// The collation of columns of a collatable type.
const DEFAULT_COLLATION: Oid = Oid(100);

/// CREATE TYPE name, or name (…).
pub(super) fn create(session: &Session, statement: &Define, text: &str) -> SqlResult<()> {
    if !session.has_all_rights()? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser to create a base type"));
    }
    let name = user_type::as_relation(&statement.name)?;
    let schema = names::creation_schema(session, &name)?;
    let found = session.with_reader(|r| match r.type_oid(schema, &name.name)? {
        Some(oid) => r.type_by_oid(oid),
        None => Ok(None),
    })?;
    let exists = sql_err!(DUPLICATE_OBJECT, "type \"{}\" already exists", name.name);
    match (found, statement.definition.as_slice()) {
        (Some(def), _) if def.defined => Err(exists),
        (Some(_), []) => Err(exists),
        (None, []) => {
            let owner = session.names.user();
            session.with_changer(|changer| changer.create_shell(&name.name, schema, owner).map(drop))
        }
        // The SQLSTATE is PostgreSQL's.
        (None, _) => Err(sql_err!(DUPLICATE_OBJECT, "type \"{}\" does not exist", name.name).hint(
            "Create the type as a shell type, then create its I/O functions, then do a full CREATE TYPE.",
        )),
        (Some(shell), list) => {
            let properties = Properties::read(session, list, text)?;
            let new = properties.new_type(session, shell.oid, (&name.name, schema))?;
            session.with_changer(|changer| changer.define_base_type(shell.oid, &new))
        }
    }
}

/// A type that is only a name yet, if that is what is named.
pub(super) fn shell(session: &Session, name: &TypeName) -> SqlResult<Option<Oid>> {
    let (schema, last) = match name.names.as_slice() {
        [last] => (None, last),
        [schema, last] => (Some(schema.as_str()), last),
        _ => return Ok(None),
    };
    if !name.array_bounds.is_empty() || name.percent_type {
        return Ok(None);
    }
    let found = session.with_reader(|r| r.type_by_name(schema, last))?;
    Ok(found.filter(|def| !def.defined).map(|def| def.oid))
}

/// Makes a shell for a type that a function returns.
pub(super) fn make_shell(session: &Session, name: &TypeName) -> SqlResult<Oid> {
    let name = user_type::as_relation(&Name(name.names.clone()))?;
    let schema = user_type::new_name(session, &name)?;
    let message = format!("type \"{}\" is not yet defined", name.name);
    let notice = names::notice(SqlState::UNDEFINED_OBJECT, message);
    session.notice(notice.detail("Creating a shell type definition."));
    let owner = session.names.user();
    session.with_changer(|changer| changer.create_shell(&name.name, schema, owner))
}

/// The properties as written, with defaults for the rest.
struct Properties {
    len: i16,
    by_value: bool,
    align: u8,
    storage: u8,
    category: u8,
    preferred: bool,
    delimiter: u8,
    default: Option<String>,
    collatable: bool,
    /// Those of [`FUNCTIONS`].
    functions: [Option<Name>; 7],
}

/// Attributes that name functions of the type, and what those give, if it is not the type.
const FUNCTIONS: [(&str, Option<Oid>); 7] = [
    ("input", None),
    ("output", Some(oids::cstring)),
    ("receive", None),
    ("send", Some(oids::bytea)),
    ("typmod_in", Some(oids::int4)),
    ("typmod_out", Some(oids::cstring)),
    ("subscript", Some(oids::internal)),
];

/// Lists of arguments that the functions of [`FUNCTIONS`] may have.
fn arguments(at: usize, shell: Oid) -> Vec<Vec<Oid>> {
    match at {
        0 => vec![vec![oids::cstring], vec![oids::cstring, oids::oid, oids::int4]],
        2 => vec![vec![oids::internal], vec![oids::internal, oids::oid, oids::int4]],
        4 => vec![vec![oids::_cstring]],
        5 => vec![vec![oids::int4]],
        6 => vec![vec![oids::internal]],
        _ => vec![vec![shell]],
    }
}

impl Properties {
    fn read(session: &Session, list: &[DefElem], text: &str) -> SqlResult<Properties> {
        let mut found = Properties {
            len: -1,
            by_value: false,
            align: b'i',
            storage: b'p',
            category: b'U',
            preferred: false,
            delimiter: b',',
            default: None,
            collatable: false,
            functions: Default::default(),
        };
        check_redundant(list, text)?;
        // LIKE gives what other properties may say otherwise.
        let (like, others): (Vec<&DefElem>, Vec<&DefElem>) = list.iter().partition(|o| o.name == "like");
        for option in like {
            found.copy(session, option, text)?;
        }
        others.into_iter().try_for_each(|option| found.set(session, option, text))?;
        Ok(found)
    }

    fn copy(&mut self, session: &Session, option: &DefElem, text: &str) -> SqlResult<()> {
        let Some(OptionValue::Type(name)) = &option.value else {
            return Err(sql_err!(SYNTAX_ERROR, "argument of like must be a type name"));
        };
        let ty = session.with_reader(|r| type_name::resolve(r, name, text))?;
        let imp = match session.type_by_oid(ty.oid)?.as_deref().map(|def| &def.kind) {
            Some(TypeKind::Like(like)) => types::registry::type_imp(like.base),
            _ => types::registry::type_imp(ty.oid),
        };
        let info = imp.row.ok_or_else(|| SqlError::not_supported("LIKE of a type made of others"))?;
        (self.len, self.by_value, self.storage) = (info.len, info.byval, info.storage);
        self.align = catalog::align_letter(info.align);
        Ok(())
    }

    fn set(&mut self, session: &Session, option: &DefElem, text: &str) -> SqlResult<()> {
        let unknown = |what: &str, value: &str| {
            Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("{what} \"{value}\" not recognized"),
            ))
        };
        if let Some(at) = FUNCTIONS.iter().position(|(word, _)| *word == option.name) {
            self.functions[at] = Some(options::name(option)?);
            return Ok(());
        }
        match option.name.as_str() {
            "internallength" => self.len = length(option)?,
            "category" => {
                let word = options::string(option)?;
                self.category = match word.bytes().next() {
                    Some(letter @ 32..=126) => letter,
                    _ => {
                        return Err(sql_err!(
                            INVALID_PARAMETER_VALUE,
                            "invalid type category \"{word}\": must be simple ASCII"
                        ));
                    }
                };
            }
            "preferred" => self.preferred = options::boolean(option)?,
            "delimiter" => self.delimiter = options::string(option)?.bytes().next().unwrap_or(b','),
            "default" => self.default = Some(options::string(option)?),
            "passedbyvalue" => self.by_value = options::boolean(option)?,
            "collatable" => self.collatable = options::boolean(option)?,
            "alignment" => {
                let word = options::string(option)?;
                self.align =
                    match word.strip_prefix("pg_catalog.").unwrap_or(&word).to_ascii_lowercase().as_str() {
                        "double" | "float8" => b'd',
                        "int4" => b'i',
                        "int2" => b's',
                        "char" | "bpchar" => b'c',
                        _ => return unknown("alignment", &word),
                    };
            }
            "storage" => {
                let word = options::string(option)?;
                self.storage = match word.to_ascii_lowercase().as_str() {
                    "plain" => b'p',
                    "external" => b'e',
                    "extended" => b'x',
                    "main" => b'm',
                    _ => return unknown("storage", &word),
                };
            }
            "analyze" | "element" => {
                return Err(SqlError::not_supported(format!("type attribute \"{}\"", option.name)));
            }
            other => {
                let warning = operator::warning(format!("type attribute \"{other}\" not recognized"));
                session.notice(at(warning, text, option.location));
            }
        }
        Ok(())
    }

    /// The type, if its functions are those of one of the registry.
    fn new_type(self, session: &Session, shell: Oid, (name, schema): (&str, Oid)) -> SqlResult<NewBaseType> {
        for (at, (what, _)) in FUNCTIONS.iter().enumerate().take(2) {
            if self.functions[at].is_none() {
                return Err(sql_err!(INVALID_OBJECT_DEFINITION, "type {what} function must be specified"));
            }
        }
        let mut found: [Option<Arc<FunctionDef>>; 7] = Default::default();
        for (at, ((what, result), name)) in FUNCTIONS.iter().zip(&self.functions).enumerate() {
            let Some(name) = name else { continue };
            let named = function(session, name, &arguments(at, shell))?;
            check_result(session, what, &named, result.unwrap_or(shell))?;
            found[at] = Some(named);
        }
        let base = base_of(&found)?;
        if self.len != base.len || self.by_value != base.byval {
            return Err(SqlError::not_supported(format!(
                "a type whose length is not that of {}, whose functions it uses",
                base.name
            )));
        }
        let functions = found.map(|function| function.map_or(Oid::INVALID, |function| function.oid));
        Ok(NewBaseType {
            names: (name.to_owned(), schema, session.names.user()),
            functions,
            len: self.len,
            by_value: self.by_value,
            align: self.align,
            storage: self.storage,
            category: self.category,
            preferred: self.preferred,
            delimiter: self.delimiter,
            default: self.default,
            collation: if self.collatable { DEFAULT_COLLATION } else { Oid::INVALID },
        })
    }
}

fn check_redundant(list: &[DefElem], text: &str) -> SqlResult<()> {
    for (i, option) in list.iter().enumerate() {
        if list[..i].iter().any(|before| before.name == option.name) {
            let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
            return Err(at(error, text, option.location));
        }
    }
    Ok(())
}

/// INTERNALLENGTH: -1 for a variable one.
fn length(option: &DefElem) -> SqlResult<i16> {
    let invalid = || sql_err!(SYNTAX_ERROR, "invalid argument for {}: \"{}\"", option.name, "");
    match &option.value {
        Some(OptionValue::Integer(n)) => i16::try_from(*n).map_err(|_| invalid()),
        Some(value) if options::text(value).is_some_and(|word| word.eq_ignore_ascii_case("variable")) => {
            Ok(-1)
        }
        _ => Err(invalid()),
    }
}

/// The function of a name with one of these lists of arguments.
fn function(session: &Session, name: &Name, takes: &[Vec<Oid>]) -> SqlResult<Arc<FunctionDef>> {
    for args in takes {
        for schema in routine_name::schemas(session, name)? {
            let found = session.with_reader(|r| r.routine_oid(schema, name.last(), args))?;
            if let Some(function) = found.map(|(oid, _)| session.function_by_oid(oid)).transpose()?.flatten()
            {
                return Ok(function);
            }
        }
    }
    let shown: Vec<String> = takes.first().map_or(Vec::new(), |args| {
        args.iter().map(|ty| analyze::names::format_type(session, *ty, None)).collect()
    });
    Err(sql_err!(UNDEFINED_FUNCTION, "function {}({}) does not exist", name.dotted(), shown.join(", ")))
}

fn check_result(session: &Session, what: &str, function: &FunctionDef, result: Oid) -> SqlResult<()> {
    if function.result == result {
        return Ok(());
    }
    Err(sql_err!(
        INVALID_OBJECT_DEFINITION,
        "type {what} function {} must return type {}",
        function.name,
        analyze::names::format_type(session, result, None)
    ))
}

/// The row of the type of the registry that all these functions, those of [`FUNCTIONS`], are of.
fn base_of(functions: &[Option<Arc<FunctionDef>>; 7]) -> SqlResult<&'static TypeInfo> {
    let own = |at: usize| {
        SqlError::not_supported(format!("a type with an {} function of its own", FUNCTIONS[at].0))
    };
    let input = functions[0].as_deref().ok_or_else(|| own(0))?;
    if let Some((library, symbol)) = input.symbol() {
        let ty = libraries::type_of(library, symbol).ok_or_else(|| own(0))?;
        for (at, (symbol, function)) in ty.symbols.in_type().into_iter().zip(functions).enumerate() {
            let is = function.as_deref().map(|function| function.symbol());
            if is.is_some_and(|is| {
                is.is_none_or(|(of, is)| {
                    is != symbol || libraries::library_name(of) != libraries::library_name(library)
                })
            }) {
                return Err(own(at));
            }
        }
        return ty.imp.row.as_ref().ok_or_else(|| own(0));
    }
    let internal = |function: &FunctionDef| function.internal().map(|f| f.oid);
    let base = internal(input).and_then(types::registry::type_with_input).ok_or_else(|| own(0))?;
    for (at, function) in functions.iter().enumerate() {
        let Some(function) = function else { continue };
        if base.io.get(at).is_none_or(|own| internal(function) != Some(*own)) {
            return Err(own(at));
        }
    }
    Ok(base)
}
