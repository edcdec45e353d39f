//! # What
//! Relations by name, as utility statements need them: looked up, locked, looked up again, and checked for kind and owner.
//!
//! # Locks
//! [`open`] takes the relation's heavyweight lock and then reads the description again, until name and lock agree.

use std::sync::Arc;

use base::settings::Setting;
use base::{Fork, Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority::{self, AclKind};
use catalog::system::pg_index;
use catalog::{CatalogView, Index, RelationKind, RowExt, Table};
use parse::ast::{Location, ObjectName, RangeVar};
use txn::{LockError, LockMode, LockWait};
use types::acl;

use crate::Session;

/// What an object is called in messages.
pub fn kind_name(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Index | RelationKind::PartitionedIndex => "index",
        RelationKind::Sequence => "sequence",
        RelationKind::View => "view",
        RelationKind::MaterializedView => "materialized view",
        RelationKind::Composite => "type",
        RelationKind::ForeignTable => "foreign table",
        RelationKind::Table | RelationKind::PartitionedTable | RelationKind::Toast => "table",
    }
}

/// What relations of a kind are called in messages.
pub fn plural(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Index => "indexes",
        RelationKind::PartitionedIndex => "partitioned indexes",
        RelationKind::Sequence => "sequences",
        RelationKind::MaterializedView => "materialized views",
        RelationKind::Composite => "composite types",
        RelationKind::Toast => "TOAST tables",
        RelationKind::ForeignTable => "foreign tables",
        RelationKind::View => "views",
        RelationKind::Table => "tables",
        RelationKind::PartitionedTable => "partitioned tables",
    }
}

/// A fork by its name.
pub fn fork_named(name: &str) -> SqlResult<Fork> {
    Fork::ALL.into_iter().find(|fork| fork.name() == name).ok_or_else(|| {
        sql_err!(INVALID_PARAMETER_VALUE, "invalid fork name")
            .hint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".")
    })
}

/// `cannot open relation "t"`, for what is no sequence.
pub fn check_sequence(table: &Table) -> SqlResult<()> {
    if table.kind == RelationKind::Sequence {
        return Ok(());
    }
    let kinds = plural(table.kind);
    Err(sql_err!(WRONG_OBJECT_TYPE, "cannot open relation \"{}\"", table.name)
        .detail(format!("This operation is not supported for {kinds}.")))
}

/// `a.b.c` of DROP, COMMENT and the like as a relation.
pub fn relation_name(object: &ObjectName) -> SqlResult<RangeVar> {
    let ObjectName::Name(name) = object else {
        return Err(SqlError::internal("a relation was expected"));
    };
    let (catalog, schema, name) = match name.0.as_slice() {
        [name] => (None, None, name),
        [schema, name] => (None, Some(schema.clone()), name),
        [catalog, schema, name] => (Some(catalog.clone()), Some(schema.clone()), name),
        _ => {
            return Err(sql_err!(
                SYNTAX_ERROR,
                "improper relation name (too many dotted names): {}",
                name.dotted()
            ));
        }
    };
    Ok(RangeVar { catalog, schema, name: name.clone(), inherit: true, ..RangeVar::default() })
}

/// Sets an error's position unless it has one.
pub fn at(error: SqlError, text: &str, location: Location) -> SqlError {
    match location.offset() {
        Some(offset) if error.report().position.is_none() => error.at(parse::position(text, offset)),
        _ => error,
    }
}

/// A NOTICE.
pub fn notice(code: SqlState, message: impl Into<String>) -> SqlError {
    SqlError::with_severity(Severity::Notice, code, message)
}

/// IF EXISTS: a NOTICE of what a statement names and there is not; else the error.
pub fn skip_missing(session: &Session, missing_ok: bool, missing: SqlError) -> SqlResult<()> {
    if !missing_ok {
        return Err(missing);
    }
    session.notice(notice(SqlState::SUCCESSFUL_COMPLETION, format!("{}, skipping", missing.message())));
    Ok(())
}

/// IF NOT EXISTS: a NOTICE of what a statement would make and there is already; else the error.
pub fn skip_taken(session: &Session, if_not_exists: bool, taken: SqlError) -> SqlResult<()> {
    if !if_not_exists {
        return Err(taken);
    }
    session.notice(notice(taken.code(), format!("{}, skipping", taken.message())));
    Ok(())
}

/// The schema that an object is to be put into.
pub fn schema_to_move_to(session: &Session, name: &str) -> SqlResult<Oid> {
    let schema = session.with_reader(|reader| reader.schema_by_name(name))?;
    let schema = schema.ok_or_else(|| undefined_schema(name))?;
    check_creation(session, schema)?;
    Ok(schema)
}

/// `relation "t" does not exist`.
pub(crate) fn undefined(name: &RangeVar) -> SqlError {
    sql_err!(UNDEFINED_TABLE, "relation \"{}\" does not exist", name.dotted())
}

/// `schema "s" does not exist`.
pub fn undefined_schema(name: &str) -> SqlError {
    sql_err!(UNDEFINED_SCHEMA, "schema \"{name}\" does not exist")
}

/// Whether the current user has the rights of `owner`.
pub fn owns(session: &Session, owner: Oid) -> SqlResult<bool> {
    session.has_role(owner)
}

/// Fails unless the current user holds one of these privileges (letters of an ACL) on a relation.
pub fn check_right(session: &Session, table: &Table, letters: &str) -> SqlResult<()> {
    let held = session.with_reader(|reader| reader.relation_rights(reader.session.user(), table))?;
    if held.has((acl::bits(letters), false)) {
        return Ok(());
    }
    Err(authority::denied(authority::relation_word(table.kind), &table.name))
}

/// Whether the current user holds a privilege on the database.
pub fn holds_on_database(session: &Session, letter: &str) -> SqlResult<bool> {
    role_holds_on_database(session, session.names.user(), letter)
}

/// Whether a role holds a privilege on the database.
pub fn role_holds_on_database(session: &Session, role: Oid, letter: &str) -> SqlResult<bool> {
    session.with_reader(|reader| {
        let Some(database) = reader.database_by_oid(session.catalog.database())? else { return Ok(false) };
        let owned = (database.owner, database.acl.as_deref());
        Ok(reader.rights(role, b'd', owned)?.has((acl::bits(letter), false)))
    })
}

/// Fails unless the current user may create objects in a schema.
pub fn check_creation(session: &Session, schema: Oid) -> SqlResult<()> {
    session.with_reader(|reader| {
        if reader.schema_rights(reader.session.user(), schema)?.has((acl::bits("C"), false)) {
            return Ok(());
        }
        Err(authority::denied("schema", &reader.schema_name(schema)?.unwrap_or_default()))
    })
}

/// Fails unless `default_tablespace` can have this value.
pub(crate) fn check_default_tablespace(session: &Session, name: &str) -> SqlResult<()> {
    use catalog::system::pg_tablespace::*;
    let found =
        |reader: &catalog::Reader<'_>| reader.find_one(&TABLE, PG_TABLESPACE_SPCNAME_INDEX, &[name.into()]);
    if name.is_empty() || session.with_reader(|reader| found(reader))?.is_some() {
        return Ok(());
    }
    let setting = Setting::default_tablespace.name();
    let error = sql_err!(INVALID_PARAMETER_VALUE, "invalid value for parameter \"{setting}\": \"{name}\"");
    Err(error.detail(format!("Tablespace \"{name}\" does not exist.")))
}

/// Fails unless the current user may create objects in a tablespace.
pub fn check_tablespace_creation(session: &Session, tablespace: Oid, name: &str) -> SqlResult<()> {
    session.with_reader(|reader| {
        let kind = AclKind::TABLESPACE;
        let Some((_, row)) = reader.find_one(kind.table, kind.by_oid, &[tablespace.into()])? else {
            return Ok(());
        };
        let items = acl::optional_items(&row[kind.acl]);
        let owned = (row.oid(kind.owner), items.as_deref());
        if reader.rights(reader.session.user(), kind.letter, owned)?.has((acl::bits("C"), false)) {
            return Ok(());
        }
        Err(authority::denied("tablespace", name))
    })
}

/// Fails unless the current user may SET ROLE to a role: he makes it an owner.
pub fn check_may_become(session: &Session, role: Oid) -> SqlResult<()> {
    session.with_reader(|reader| {
        if reader.may_become(reader.session.user(), role)? {
            return Ok(());
        }
        let name = reader.role_name(role)?.unwrap_or_default();
        Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be able to SET ROLE \"{name}\""))
    })
}

/// Fails unless the current user may use a type, or the element type of an array, for what he makes.
pub fn check_type_usage(session: &Session, ty: Oid) -> SqlResult<()> {
    session.with_reader(|reader| {
        let element = reader.type_by_oid(ty)?.map_or(Oid::INVALID, |def| def.element);
        let ty = if element.is_valid() { element } else { ty };
        let kind = AclKind::TYPE;
        let Some((_, row)) = reader.find_one(kind.table, kind.by_oid, &[ty.into()])? else { return Ok(()) };
        let items = acl::optional_items(&row[kind.acl]);
        let owned = (row.oid(kind.owner), items.as_deref());
        if reader.rights(reader.session.user(), kind.letter, owned)?.has((acl::bits("U"), false)) {
            return Ok(());
        }
        Err(authority::denied("type", &super::type_name::format(reader, ty, -1)?))
    })
}

/// `must be owner of table t`.
pub fn check_owner(session: &Session, table: &Table) -> SqlResult<()> {
    if owns(session, table.owner)? {
        return Ok(());
    }
    let what = match table.kind {
        // Only ALTER TYPE gets here, which is an ALTER TABLE of the type's relation.
        RelationKind::Composite => "table",
        kind => kind_name(kind),
    };
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of {what} {}", table.name))
}

/// As [`check_owner`], for a statement about a part of a relation that belongs to the relation's owner.
pub fn check_owner_of_whole(session: &Session, table: &Table) -> SqlResult<()> {
    if owns(session, table.owner)? {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of relation {}", table.name))
}

/// Fails unless the current user owns a relation or its schema: either may drop it.
pub fn check_dropper(session: &Session, table: &Table) -> SqlResult<()> {
    if owns_schema(session, table.schema)? { Ok(()) } else { check_owner(session, table) }
}

/// Whether the current user has the rights of a schema's owner.
pub fn owns_schema(session: &Session, schema: Oid) -> SqlResult<bool> {
    match session.with_reader(|reader| reader.schema_owned(schema))? {
        Some(owned) => owns(session, owned.owner),
        None => Ok(false),
    }
}

/// Users may not change system catalogs.
pub fn check_not_system(table: &Table) -> SqlResult<()> {
    if table.oid.is_pinned() {
        return Err(sql_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied: \"{}\" is a system catalog",
            table.name
        ));
    }
    Ok(())
}

/// A three-part name must name this database.
fn check_database(session: &Session, name: &RangeVar) -> SqlResult<()> {
    match &name.catalog {
        Some(catalog) if catalog != session.catalog.database_name() => Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "cross-database references are not implemented: \"{}\"",
            name.dotted()
        )),
        _ => Ok(()),
    }
}

/// Looks a relation up; no lock. `None` also if its schema does not exist.
pub fn lookup(session: &Session, name: &RangeVar) -> SqlResult<Option<Arc<Table>>> {
    check_database(session, name)?;
    session.with_reader(|reader| reader.relation(name.schema.as_deref(), &name.name))
}

/// Takes a relation's lock.
pub fn lock(session: &Session, table: &Table, mode: LockMode, wait: LockWait) -> SqlResult<()> {
    if table.persistence == 't' {
        session.note_temporary();
    }
    match session.txn.borrow_mut().lock(session.catalog.lock_tag(table.oid), mode, wait) {
        Ok(()) => Ok(()),
        Err(LockError::NotAvailable) => {
            Err(sql_err!(LOCK_NOT_AVAILABLE, "could not obtain lock on relation \"{}\"", table.name))
        }
        Err(other) => Err(other.into()),
    }
}

/// Takes the lock of a relation that is known by its OID.
pub fn lock_relation(session: &Session, oid: Oid, mode: LockMode, wait: LockWait) -> SqlResult<()> {
    Ok(session.txn.borrow_mut().lock(session.catalog.lock_tag(oid), mode, wait)?)
}

/// Locks a relation that may be missing and gives its description as of then.
pub fn try_open_with(
    session: &Session,
    name: &RangeVar,
    mode: LockMode,
    wait: LockWait,
) -> SqlResult<Option<Arc<Table>>> {
    loop {
        let Some(found) = lookup(session, name)? else { return Ok(None) };
        lock(session, &found, mode, wait)?;
        match lookup(session, name)? {
            Some(now) if now.oid == found.oid => return Ok(Some(now)),
            other => {
                session.txn.borrow_mut().unlock(session.catalog.lock_tag(found.oid), mode);
                if other.is_none() {
                    return Ok(None);
                }
            }
        }
    }
}

/// As [`open`], `None` if there is no such relation.
pub fn try_open(session: &Session, name: &RangeVar, mode: LockMode) -> SqlResult<Option<Arc<Table>>> {
    try_open_with(session, name, mode, LockWait::Block)
}

/// Locks the relation with this name and gives its description as of then.
pub fn open(session: &Session, name: &RangeVar, mode: LockMode) -> SqlResult<Arc<Table>> {
    match try_open(session, name, mode)? {
        Some(table) => Ok(table),
        None => Err(missing(session, name)?),
    }
}

/// Why a relation was not found: its schema, or itself.
pub fn missing(session: &Session, name: &RangeVar) -> SqlResult<SqlError> {
    if let Some(schema) = &name.schema
        && session.with_reader(|reader| reader.schema_by_name(schema))?.is_none()
    {
        return Ok(undefined_schema(schema));
    }
    Ok(undefined(name))
}

/// The description of a relation that is locked, as of now.
pub fn describe(session: &Session, oid: Oid) -> SqlResult<Arc<Table>> {
    session
        .with_reader(|reader| reader.relation_by_oid(oid))?
        .ok_or_else(|| SqlError::internal(format!("could not open relation with OID {oid}")))
}

/// The relation whose lock those take who read or write the rows of `table`: for a TOAST table the one that it belongs to. Who works on a
/// TOAST table by itself must lock that one.
pub fn guard(session: &Session, table: &Table) -> SqlResult<Oid> {
    match table.kind {
        RelationKind::Toast => {
            Ok(session.with_reader(|reader| reader.toast_owner(table.oid))?.unwrap_or(table.oid))
        }
        _ => Ok(table.oid),
    }
}

/// The table that an index is of; invalid if there is no such index.
pub fn table_of_index(session: &Session, index: Oid) -> SqlResult<Oid> {
    let row = session.with_reader(|reader| reader.index_row(index))?;
    Ok(row.map_or(Oid::INVALID, |row| row.oid(pg_index::INDRELID)))
}

/// Where a new relation goes: the schema named, or the first of the search path. The user may create objects there.
pub fn creation_schema(session: &Session, name: &RangeVar) -> SqlResult<Oid> {
    let schema = named_creation_schema(session, name)?;
    check_creation(session, schema)?;
    check_not_system_schema(session, schema, name)?;
    Ok(schema)
}

/// The schema of a new function or operator. In system schemas too, CREATE on the schema is enough.
pub fn routine_schema(session: &Session, name: &RangeVar) -> SqlResult<Oid> {
    let schema = named_creation_schema(session, name)?;
    check_creation(session, schema)?;
    Ok(schema)
}

/// As [`creation_schema`], whatever the user may do there.
pub fn find_creation_schema(session: &Session, name: &RangeVar) -> SqlResult<Oid> {
    let schema = named_creation_schema(session, name)?;
    check_not_system_schema(session, schema, name)?;
    Ok(schema)
}

fn named_creation_schema(session: &Session, name: &RangeVar) -> SqlResult<Oid> {
    check_database(session, name)?;
    if name.schema.as_deref() == Some("pg_temp") {
        return super::temporary::schema(session);
    }
    session.with_reader(|reader| match &name.schema {
        Some(schema) => reader.schema_by_name(schema)?.ok_or_else(|| undefined_schema(schema)),
        None => reader
            .creation_schema()?
            .ok_or_else(|| sql_err!(UNDEFINED_SCHEMA, "no schema has been selected to create in")),
    })
}

fn check_not_system_schema(session: &Session, found: Oid, name: &RangeVar) -> SqlResult<()> {
    let system = found == catalog::PG_CATALOG || found == catalog::PG_TOAST;
    if system && !may_change_system(session) && !session.names.is_making_extension() {
        let schema = if found == catalog::PG_CATALOG { "pg_catalog" } else { "pg_toast" };
        return Err(sql_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied to create \"{schema}.{}\"",
            name.name
        )
        .detail("System catalog modifications are currently disallowed."));
    }
    Ok(())
}

/// Whether `allow_system_table_mods` is on: initdb makes the system views so.
pub fn may_change_system(session: &Session) -> bool {
    session.settings.borrow().get(Setting::allow_system_table_mods).as_bool()
}

/// An index of a table.
pub fn find_index(table: &Table, oid: Oid) -> SqlResult<&Index> {
    let found = table.indexes.iter().find(|index| index.oid == oid);
    found.map(|index| &**index).ok_or_else(|| SqlError::internal(format!("index {oid} not found")))
}

#[cfg(test)]
mod tests {
    use parse::ast::Name;

    use super::*;

    #[test]
    fn names_of_up_to_three_parts_are_relations() {
        let name = |parts: &[&str]| {
            relation_name(&ObjectName::Name(Name(parts.iter().map(|p| (*p).to_owned()).collect())))
        };
        assert_eq!(name(&["t"]).unwrap().dotted(), "t");
        assert_eq!(name(&["d", "s", "t"]).unwrap().schema.as_deref(), Some("s"));
        assert_eq!(name(&["a", "b", "c", "d"]).unwrap_err().code(), SqlState::SYNTAX_ERROR);
    }
}
