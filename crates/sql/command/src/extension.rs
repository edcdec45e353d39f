//! # What
//! CREATE, ALTER and DROP EXTENSION, CREATE LANGUAGE, LOAD.
//!
//! # Invariants
//! 1. A script runs in the statement's transaction, as the bootstrap superuser if its extension is trusted: what its author does, a user
//!    does not.
//! 2. Whatever it makes is a member of its extension.
//!
//! # PostgreSQL counterpart
//! `commands/extension.c`, `commands/proclang.c`. There are no files: modules are compiled in, each in one version.

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewExtension, ObjectAddress};
use catalog::system::{
    pg_class, pg_extension, pg_namespace, pg_opclass, pg_operator, pg_opfamily, pg_proc, pg_ts_config,
    pg_ts_dict, pg_ts_parser, pg_ts_template, pg_type,
};
use catalog::{BOOTSTRAP_SUPERUSER, CatalogView, Row, RowExt};
use parse::ast::{DefElem, Drop, Name, ObjectKind, ObjectName};
use session::module::Module;
use session::output::Output;
use session::{Arguments, Session};

use super::{names, object_kind, options};

/// Options of CREATE EXTENSION.
#[derive(Default)]
struct Wanted {
    schema: Option<String>,
    version: Option<String>,
    cascade: bool,
}

impl Wanted {
    fn read(list: &[DefElem], text: &str) -> SqlResult<Wanted> {
        let mut wanted = Wanted::default();
        let mut seen: Vec<&str> = Vec::new();
        for option in list {
            if seen.contains(&option.name.as_str()) {
                let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
                return Err(names::at(error, text, option.location));
            }
            seen.push(&option.name);
            match option.name.as_str() {
                "schema" => wanted.schema = Some(options::string(option)?),
                "new_version" => wanted.version = Some(options::string(option)?),
                _ => wanted.cascade = options::boolean(option)?,
            }
        }
        Ok(wanted)
    }
}

/// CREATE EXTENSION.
pub(crate) fn create(
    session: &Session,
    name: &str,
    if_not_exists: bool,
    list: &[DefElem],
    text: &str,
    out: &mut dyn Output,
) -> SqlResult<()> {
    check_name(name)?;
    if session.with_reader(|reader| reader.extension(name))?.is_some() {
        let message = format!("extension \"{name}\" already exists");
        if if_not_exists {
            session.notice(names::notice(SqlState::DUPLICATE_OBJECT, format!("{message}, skipping")));
            return Ok(());
        }
        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
    }
    if session.names.is_making_extension() {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "nested CREATE EXTENSION is not supported"));
    }
    let wanted = Wanted::read(list, text)?;
    install(session, name, &wanted, &mut Vec::new(), out).map(drop)
}

/// Names that could be those of files somewhere else.
fn check_name(name: &str) -> SqlResult<()> {
    let wrong = |detail: &str| {
        Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid extension name: \"{name}\"").detail(detail))
    };
    if name.is_empty() {
        return wrong("Extension names must not be empty.");
    }
    if name.contains("--") {
        return wrong("Extension names must not contain \"--\".");
    }
    if name.starts_with('-') || name.ends_with('-') {
        return wrong("Extension names must not begin or end with \"-\".");
    }
    if name.contains('/') {
        return wrong("Extension names must not contain directory separator characters.");
    }
    Ok(())
}

/// The module behind an extension's name.
fn module(session: &Session, name: &str) -> SqlResult<&'static Module> {
    let found = session.instance().modules().find(name);
    found.filter(|module| module.is_extension()).ok_or_else(|| {
        sql_err!(FEATURE_NOT_SUPPORTED, "extension \"{name}\" is not available")
            .hint("The extension must first be installed on the system where PostgreSQL is running.")
    })
}

/// Installs an extension and, with CASCADE, those that it needs; `above` are those that need it.
fn install(
    session: &Session,
    name: &str,
    wanted: &Wanted,
    above: &mut Vec<&'static str>,
    out: &mut dyn Output,
) -> SqlResult<Oid> {
    let module = module(session, name)?;
    if let Some(version) = wanted.version.as_ref().filter(|version| *version != module.version) {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "extension \"{name}\" has no installation script nor update path for version \"{version}\""
        ));
    }
    let schema = target_schema(session, module, wanted)?;
    let mut requires = Vec::with_capacity(module.requires.len());
    for needed in module.requires {
        requires.push(required(session, module, needed, wanted, above, out)?);
    }
    check_installer(session, module)?;
    let new = NewExtension {
        name,
        owner: session.names.user(),
        schema,
        relocatable: module.relocatable,
        version: module.version,
        requires,
    };
    let oid = session.with_changer(|changer| {
        let oid = changer.create_extension(&new)?;
        changer.set_comment(ObjectAddress::extension(oid), Some(module.comment)).map(|()| oid)
    })?;
    run_script(session, module, oid, schema, out)?;
    Ok(oid)
}

/// The schema of the members: the one that the module says, the one wanted, or the first of the search path.
fn target_schema(session: &Session, module: &Module, wanted: &Wanted) -> SqlResult<Oid> {
    if let Some(fixed) = module.schema {
        if wanted.schema.as_ref().is_some_and(|schema| schema != fixed) && !wanted.cascade {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "extension \"{}\" must be installed in schema \"{fixed}\"",
                module.name
            ));
        }
        let found = session.with_reader(|reader| reader.schema_by_name(fixed))?;
        return found.ok_or_else(|| names::undefined_schema(fixed));
    }
    match &wanted.schema {
        Some(schema) => {
            let found = session.with_reader(|reader| reader.schema_by_name(schema))?;
            found.ok_or_else(|| names::undefined_schema(schema))
        }
        None => session
            .with_reader(|reader| reader.creation_schema())?
            .ok_or_else(|| sql_err!(UNDEFINED_SCHEMA, "no schema has been selected to create in")),
    }
}

/// The extension that another one needs; installed now if it is not yet, with CASCADE.
fn required(
    session: &Session,
    module: &'static Module,
    needed: &'static str,
    wanted: &Wanted,
    above: &mut Vec<&'static str>,
    out: &mut dyn Output,
) -> SqlResult<Oid> {
    if let Some(row) = session.with_reader(|reader| reader.extension(needed))? {
        return Ok(row.oid(pg_extension::OID));
    }
    if !wanted.cascade {
        return Err(sql_err!(UNDEFINED_OBJECT, "required extension \"{needed}\" is not installed")
            .hint("Use CREATE EXTENSION ... CASCADE to install required extensions too."));
    }
    if above.contains(&needed) {
        return Err(sql_err!(
            INVALID_RECURSION,
            "cyclic dependency detected between extensions \"{needed}\" and \"{}\"",
            module.name
        ));
    }
    let message = format!("installing required extension \"{needed}\"");
    session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
    above.push(module.name);
    let inner = Wanted { schema: wanted.schema.clone(), version: None, cascade: true };
    let oid = install(session, needed, &inner, above, out);
    above.pop();
    oid
}

/// Fails unless the current user may install it: as a superuser, or a trusted extension with CREATE on the database.
fn check_installer(session: &Session, module: &Module) -> SqlResult<()> {
    if session.has_all_rights()? || module.trusted && names::holds_on_database(session, "C")? {
        return Ok(());
    }
    let hint = match module.trusted {
        true => "Must have CREATE privilege on current database to create this extension.",
        false => "Must be superuser to create this extension.",
    };
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to create extension \"{}\"", module.name)
        .hint(hint))
}

/// Runs a module's script, with the extension's schema as the place for what it makes.
fn run_script(
    session: &Session,
    module: &Module,
    extension: Oid,
    schema: Oid,
    out: &mut dyn Output,
) -> SqlResult<()> {
    let schema = session.with_reader(|reader| reader.schema_name(schema))?.unwrap_or_default();
    let script = module.script.replace("MODULE_PATHNAME", &format!("$libdir/{}", module.name));
    let script = script.replace("@extschema@", &analyze::names::quote_identifier(&schema));
    let path = session.settings.borrow().text(Setting::search_path).to_owned();
    let within = format!("{}, pg_temp", analyze::names::quote_identifier(&schema));
    session.change_setting(Setting::search_path.name(), Some(&within), true)?;
    // What a script tells of its steps is of no use to who asked for the extension.
    let told = session.settings.borrow().text(Setting::client_min_messages).to_owned();
    if !matches!(told.as_str(), "warning" | "error") {
        session.change_setting(Setting::client_min_messages.name(), Some("warning"), true)?;
    }
    let before = session.names.make_members_of(extension);
    let mut run = || {
        parse::parse(&script)?.iter().try_for_each(|raw| {
            super::statement::run(session, &raw.stmt, &script, &Arguments::NONE, out).map(drop)
        })
    };
    let done = match session.has_all_rights() {
        Ok(true) => run(),
        Ok(false) => session.as_role(BOOTSTRAP_SUPERUSER, run),
        Err(error) => Err(error),
    };
    session.names.make_members_of(before);
    done?;
    session.change_setting(Setting::client_min_messages.name(), Some(&told), true)?;
    session.change_setting(Setting::search_path.name(), Some(&path), true)
}

/// The row of an extension that there is.
fn existing(session: &Session, name: &str) -> SqlResult<Row> {
    let row = session.with_reader(|reader| reader.extension(name))?;
    row.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "extension \"{name}\" does not exist"))
}

/// The same; the user must own it.
fn owned(session: &Session, name: &str) -> SqlResult<Row> {
    let row = existing(session, name)?;
    match names::owns(session, row.oid(pg_extension::EXTOWNER))? {
        true => Ok(row),
        false => Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of extension {name}")),
    }
}

/// The extension that COMMENT names.
pub(crate) fn address(session: &Session, name: &Name) -> SqlResult<ObjectAddress> {
    Ok(ObjectAddress::extension(owned(session, name.last())?.oid(pg_extension::OID)))
}

/// What DROP EXTENSION names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let ObjectName::Name(name) = object else {
            return Err(SqlError::internal("an extension was expected"));
        };
        let found = session.with_reader(|reader| reader.extension(name.last()))?;
        if found.is_none() && statement.missing_ok {
            let message = format!("extension \"{}\" does not exist, skipping", name.last());
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            continue;
        }
        objects.push(address(session, name)?);
    }
    Ok(objects)
}

/// ALTER EXTENSION UPDATE.
pub(crate) fn update(session: &Session, name: &str, list: &[DefElem]) -> SqlResult<()> {
    let row = owned(session, name)?;
    let module = module(session, name)?;
    let wanted = list.first().map(options::string).transpose()?;
    let wanted = wanted.as_deref().unwrap_or(module.version);
    let current = row.str(pg_extension::EXTVERSION);
    if current == wanted {
        let message = format!("version \"{current}\" of extension \"{name}\" is already installed");
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        return Ok(());
    }
    Err(sql_err!(
        INVALID_PARAMETER_VALUE,
        "extension \"{name}\" has no update path from version \"{current}\" to version \"{wanted}\""
    ))
}

/// ALTER EXTENSION ADD, DROP.
pub(crate) fn alter_member(
    session: &Session,
    name: &str,
    add: bool,
    kind: ObjectKind,
    object: &ObjectName,
) -> SqlResult<()> {
    let extension = owned(session, name)?.oid(pg_extension::OID);
    if !object_kind::of(kind).member {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "cannot add an object of this type to an extension"));
    }
    let statement = if add { "ALTER EXTENSION ADD" } else { "ALTER EXTENSION DROP" };
    let member = object_kind::address(session, statement, kind, object)?;
    let (of, what) = session
        .with_reader(|reader| Ok::<_, SqlError>((reader.extension_of(member)?, reader.describe(member)?)))?;
    let wrong = |message: String| Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
    match (add, of) {
        (true, Some(other)) => {
            let other = session.with_reader(|reader| reader.describe(ObjectAddress::extension(other)))?;
            let other = other.strip_prefix("extension ").unwrap_or(&other);
            wrong(format!("{what} is already a member of extension \"{other}\""))
        }
        (true, None) => session.with_changer(|changer| changer.add_member(member, extension)),
        (false, Some(of)) if of == extension => session.with_changer(|changer| changer.remove_member(member)),
        (false, _) => wrong(format!("{what} is not a member of extension \"{name}\"")),
    }
}

/// ALTER EXTENSION SET SCHEMA: its members go there.
pub(crate) fn set_schema(session: &Session, object: Option<&ObjectName>, schema: &str) -> SqlResult<()> {
    let Some(ObjectName::Name(name)) = object else {
        return Err(SqlError::internal("an extension was expected"));
    };
    let name = name.last();
    let row = owned(session, name)?;
    let to = names::schema_to_move_to(session, schema)?;
    if !row.bool(pg_extension::EXTRELOCATABLE) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "extension \"{name}\" does not support SET SCHEMA"));
    }
    let oid = row.oid(pg_extension::OID);
    if row.oid(pg_extension::EXTNAMESPACE) == to {
        return Ok(());
    }
    for member in session.with_reader(|reader| reader.members(oid))? {
        move_member(session, member, to)?;
    }
    session.with_changer(|changer| {
        changer.set_object_schema(ObjectAddress::extension(oid), pg_extension::EXTNAMESPACE, to)
    })
}

/// Moves an object whose name is in this column's schema.
fn move_object(session: &Session, object: ObjectAddress, column: usize, to: Oid) -> SqlResult<()> {
    session.with_changer(|changer| changer.set_object_schema(object, column, to))
}

/// Moves one member to another schema, if it is in one.
fn move_member(session: &Session, member: ObjectAddress, to: Oid) -> SqlResult<()> {
    match member.class {
        class if class == pg_proc::TABLE.oid => {
            super::alter_function::check_free_in(session, member.object, to)?;
            session.with_changer(|changer| changer.set_object_schema(member, pg_proc::PRONAMESPACE, to))
        }
        class if class == pg_class::TABLE.oid => super::rename::move_relation(session, member.object, to),
        class if class == pg_type::TABLE.oid => move_object(session, member, pg_type::TYPNAMESPACE, to),
        class if class == pg_operator::TABLE.oid => {
            move_object(session, member, pg_operator::OPRNAMESPACE, to)
        }
        class if class == pg_opclass::TABLE.oid => move_object(session, member, pg_opclass::OPCNAMESPACE, to),
        class if class == pg_opfamily::TABLE.oid => {
            move_object(session, member, pg_opfamily::OPFNAMESPACE, to)
        }
        class if class == pg_ts_dict::TABLE.oid => {
            move_object(session, member, pg_ts_dict::DICTNAMESPACE, to)
        }
        class if class == pg_ts_config::TABLE.oid => {
            move_object(session, member, pg_ts_config::CFGNAMESPACE, to)
        }
        class if class == pg_ts_parser::TABLE.oid => {
            move_object(session, member, pg_ts_parser::PRSNAMESPACE, to)
        }
        class if class == pg_ts_template::TABLE.oid => {
            move_object(session, member, pg_ts_template::TMPLNAMESPACE, to)
        }
        class if class == pg_namespace::TABLE.oid => {
            Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cannot move an extension that contains a schema"))
        }
        _ => Ok(()),
    }
}

/// LOAD: libraries are part of the server, and bring nothing but settings.
pub(crate) fn load(session: &Session, path: &str) -> SqlResult<()> {
    if !path.starts_with("$libdir/plugins/") && !session.has_all_rights()? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "access to library \"{path}\" is not allowed"));
    }
    session.load_library(path)
}
