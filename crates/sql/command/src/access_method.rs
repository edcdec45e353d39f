//! # What
//! Access methods: CREATE and DROP ACCESS METHOD, and the one that an index or a table is to have.
//!
//! # PostgreSQL counterpart and differences
//! `commands/amcmds.c`. Handlers are those of the methods that there are: a method of a user is one of them under another name, with operator classes of its own.

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::ObjectAddress;
use catalog::system::{pg_am, pg_proc};
use catalog::{RelationKind, RowExt, Table};
use index::Facts;
use parse::ast::{CreateAccessMethod, Drop, ObjectName};
use session::Session;
use session::lookup::access_method::{self, Kind};
use types::oids;

use super::{comment, names, routine_name};

/// The handler of tables.
const HEAP_HANDLER: Oid = Oid(3);

/// An access method of indexes.
#[derive(Clone, Debug)]
pub(crate) struct IndexMethod {
    /// Its row in `pg_am`.
    pub(crate) oid: Oid,
    /// Its name.
    pub(crate) name: String,
    /// What it can do.
    pub(crate) facts: &'static Facts,
}

impl IndexMethod {
    /// A built-in one, which cannot be dropped.
    pub(crate) fn built_in(facts: &'static Facts) -> IndexMethod {
        IndexMethod { oid: facts.oid, name: facts.name.into(), facts }
    }
}

/// The access method with this name, for a new index.
pub(crate) fn of_index(session: &Session, name: &str) -> SqlResult<IndexMethod> {
    if let Some(facts) = engine::indexes::method_named(name) {
        return Ok(IndexMethod::built_in(facts));
    }
    let row = access_method::of_kind(session, name, Kind::Index)?;
    let oid = row.oid(pg_am::OID);
    let facts = session.with_reader(|reader| reader.index_method(oid));
    let facts = facts.map_err(|_| SqlError::not_supported(format!("access method \"{name}\"")))?;
    Ok(IndexMethod { oid, name: name.into(), facts })
}

/// The access method of an index that there is.
pub(crate) fn of_oid(session: &Session, oid: Oid) -> SqlResult<IndexMethod> {
    session.with_reader(|reader| {
        let facts = reader.index_method(oid)?;
        Ok(IndexMethod { oid, name: reader.access_method_name(oid)?, facts })
    })
}

/// The access method of a new table: the one that is named, or `default_table_access_method`.
pub(crate) fn of_table(session: &Session, name: Option<&str>) -> SqlResult<Oid> {
    let by_default = session.settings.borrow().text(Setting::default_table_access_method).to_owned();
    Ok(access_method::of_kind(session, name.unwrap_or(&by_default), Kind::Table)?.oid(pg_am::OID))
}

/// ALTER TABLE ... SET ACCESS METHOD; none: DEFAULT. All methods keep rows alike, so that the files stay as they are.
pub(crate) fn set(session: &Session, table: &Table, name: Option<&str>) -> SqlResult<()> {
    let partitioned = table.kind == RelationKind::PartitionedTable;
    let method = match name {
        None if partitioned => Oid::INVALID,
        name => of_table(session, name)?,
    };
    if session.with_reader(|reader| reader.access_method_of(table.oid))? == method {
        return Ok(());
    }
    session.with_changer(|changer| changer.set_access_method(table.oid, method))
}

/// CREATE ACCESS METHOD.
pub(crate) fn create(session: &Session, statement: &CreateAccessMethod) -> SqlResult<()> {
    let name = statement.name.as_str();
    if !session.has_all_rights()? {
        let error = sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to create access method \"{name}\"");
        return Err(error.hint("Must be superuser to create an access method."));
    }
    if access_method::row(session, name)?.is_some() {
        return Err(sql_err!(DUPLICATE_OBJECT, "access method \"{name}\" already exists"));
    }
    let handler = handler(session, statement)?;
    session.with_changer(|changer| changer.create_access_method(name, handler, statement.kind))
}

/// The handler, which must be one of those that there are.
fn handler(session: &Session, statement: &CreateAccessMethod) -> SqlResult<Oid> {
    let written = statement.handler.dotted();
    let function = routine_name::exact(session, &statement.handler, &[oids::internal])?;
    let key = [function.into()];
    let row = session.with_reader(|r| r.find_one(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &key))?;
    let result = row.map_or(Oid::INVALID, |(_, row)| row.oid(pg_proc::PRORETTYPE));
    let (wanted, type_name) = match statement.kind {
        b't' => (oids::table_am_handler, "table_am_handler"),
        _ => (oids::index_am_handler, "index_am_handler"),
    };
    if result != wanted {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "function {written} must return type {type_name}"));
    }
    let known = match statement.kind {
        b't' => function == HEAP_HANDLER,
        _ => session.with_reader(|reader| reader.index_handler(function))?.is_some(),
    };
    match known {
        true => Ok(function),
        false => Err(SqlError::not_supported(format!("access method handler {written}"))),
    }
}

/// An access method; the user must be a superuser.
pub(crate) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let name = comment::name(object)?.last();
    let row = access_method::row(session, name)?.ok_or_else(|| access_method::missing(name))?;
    if !session.has_all_rights()? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser"));
    }
    Ok(ObjectAddress::access_method(row.oid(pg_am::OID)))
}

/// What DROP ACCESS METHOD names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let name = comment::name(object)?.last();
        match access_method::row(session, name)? {
            Some(_) => objects.push(address(session, object)?),
            None => names::skip_missing(session, statement.missing_ok, access_method::missing(name))?,
        }
    }
    Ok(objects)
}
