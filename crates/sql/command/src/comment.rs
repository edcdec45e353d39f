//! # What
//! COMMENT ON.
//!
//! # Locks
//! SHARE UPDATE EXCLUSIVE on relations.
//!
//! # PostgreSQL counterpart
//! `CommentObject` in `commands/comment.c`, `get_object_address` in `catalog/objectaddress.c`.

use base::{SqlError, SqlResult, SqlState, sql_err};
use catalog::change::ObjectAddress;
use catalog::system::{SystemTable, pg_authid, pg_database, pg_language, pg_tablespace};
use catalog::{RowExt, TypeKind};
use parse::ast::{Name, ObjectKind, ObjectName, TypeName};
use session::Session;
use txn::LockMode;

use super::{drop, names, object_kind, user_type};

/// COMMENT ON.
pub(crate) fn run(
    session: &Session,
    kind: ObjectKind,
    object: &ObjectName,
    comment: Option<&str>,
) -> SqlResult<()> {
    let address = match object_kind::address(session, "COMMENT ON", kind, object) {
        // A restored dump may name the database that it was taken from.
        Err(error) if kind == ObjectKind::Database && error.code() == SqlState::UNDEFINED_DATABASE => {
            session.warning(error.code(), error.message());
            return Ok(());
        }
        found => found?,
    };
    let shared = [pg_authid::TABLE.oid, pg_database::TABLE.oid, pg_tablespace::TABLE.oid];
    session.with_changer(|changer| match shared.contains(&address.class) {
        true => changer.set_shared_comment(address, comment),
        false => changer.set_comment(address, comment),
    })
}

/// A relation, which the user must own.
pub(super) fn relation(session: &Session, kind: ObjectKind, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let name = names::relation_name(object)?;
    let table = names::open(session, &name, LockMode::ShareUpdateExclusive)?;
    if let Some(relation) = object_kind::of(kind).relation {
        drop::expect_kind(&table, relation)?;
    }
    names::check_owner(session, &table)?;
    Ok(ObjectAddress::relation(table.oid))
}

/// A schema, which the user must own.
pub(super) fn schema(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let name = name(object)?.last();
    let oid = session.with_reader(|reader| reader.schema_by_name(name))?;
    let oid = oid.ok_or_else(|| names::undefined_schema(name))?;
    drop::check_schema_owner(session, oid, name)?;
    Ok(ObjectAddress::schema(oid))
}

/// A type or domain, which the user must own.
pub(super) fn user_type(
    session: &Session,
    kind: ObjectKind,
    object: &ObjectName,
) -> SqlResult<ObjectAddress> {
    match object {
        ObjectName::Type(written) => user_type_address(session, kind, written),
        _ => Err(SqlError::internal("a type was expected")),
    }
}

/// A language, which the user must own.
pub(super) fn language(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    by_name(
        session,
        &pg_language::TABLE,
        pg_language::LANNAME,
        Some(pg_language::LANOWNER),
        "language",
        object,
    )
}

/// A tablespace, which the user must own.
pub(super) fn tablespace(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let (name, owner) = (pg_tablespace::SPCNAME, Some(pg_tablespace::SPCOWNER));
    by_name(session, &pg_tablespace::TABLE, name, owner, "tablespace", object)
}

/// A large object, which the user must own.
pub(crate) fn large_object(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let ObjectName::Number(number) = object else { return Err(SqlError::internal("a number was expected")) };
    let oid = session::lookup::large_object(session, number)?;
    session.check_large_object_owner(oid, false)?;
    Ok(ObjectAddress::large_object(oid))
}

/// The name of an object that has nothing but one.
pub(super) fn name(object: &ObjectName) -> SqlResult<&Name> {
    match object {
        ObjectName::Name(name) => Ok(name),
        _ => Err(SqlError::internal("a name was expected")),
    }
}

/// The object of a small catalog with this name, in the column `name_column`. The user must own it, or be a superuser where nobody is
/// an owner.
fn by_name(
    session: &Session,
    shape: &'static SystemTable,
    name_column: usize,
    owner_column: Option<usize>,
    what: &str,
    object: &ObjectName,
) -> SqlResult<ObjectAddress> {
    let name = name(object)?.last();
    let rows = session.with_reader(|reader| reader.scan(shape))?;
    let Some((_, row)) = rows.iter().find(|(_, row)| row.str(name_column) == name) else {
        return Err(sql_err!(UNDEFINED_OBJECT, "{what} \"{name}\" does not exist"));
    };
    match owner_column {
        Some(owner) if !names::owns(session, row.oid(owner))? => {
            Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of {what} {name}"))
        }
        None if !session.has_all_rights()? => Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser")),
        _ => Ok(ObjectAddress { class: shape.oid, object: row.oid(0), sub: 0 }),
    }
}

/// A database, which the user must own.
pub(super) fn database(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let name = name(object)?.last();
    let index = pg_database::PG_DATABASE_DATNAME_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_database::TABLE, index, &[name.into()]))?;
    let (_, row) = row.ok_or_else(|| sql_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist"))?;
    if !names::owns(session, row.oid(pg_database::DATDBA))? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of database {name}"));
    }
    Ok(ObjectAddress { class: pg_database::TABLE.oid, object: row.oid(pg_database::OID), sub: 0 })
}

/// A type's address; a domain if that was asked for.
fn user_type_address(session: &Session, kind: ObjectKind, written: &TypeName) -> SqlResult<ObjectAddress> {
    let def = user_type::existing(session, &Name(written.names.clone()))?;
    if kind == ObjectKind::Domain && !matches!(def.kind, TypeKind::Domain(_)) {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a domain", written.names.join(".")));
    }
    user_type::check_owner(session, &def)?;
    Ok(ObjectAddress::ty(def.oid))
}

/// A constraint of a table, which the user must own.
pub(super) fn table_constraint(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let Some((constraint, relation)) = name(object)?.0.split_last().filter(|(_, rest)| !rest.is_empty())
    else {
        return Err(sql_err!(SYNTAX_ERROR, "must specify relation and object name"));
    };
    let relation = names::relation_name(&ObjectName::Name(Name(relation.to_vec())))?;
    let table = names::open(session, &relation, LockMode::AccessShare)?;
    names::check_owner_of_whole(session, &table)?;
    let all = session.with_reader(|reader| reader.constraints(table.oid))?;
    match all.iter().find(|found| found.name == *constraint) {
        Some(found) => Ok(ObjectAddress::constraint(found.oid)),
        None => Err(sql_err!(
            UNDEFINED_OBJECT,
            "constraint \"{constraint}\" for table \"{}\" does not exist",
            table.name
        )),
    }
}

/// A constraint of a domain, which the user must own.
pub(super) fn domain_constraint(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let ObjectName::DomainConstraint(domain, constraint) = object else {
        return Err(SqlError::internal("a constraint of a domain was expected"));
    };
    let ObjectAddress { object: oid, .. } = user_type_address(session, ObjectKind::Domain, domain)?;
    let all = session.with_reader(|reader| reader.domain_constraints(oid))?;
    match all.iter().find(|(_, name, _)| name == constraint) {
        Some((found, ..)) => Ok(ObjectAddress::constraint(*found)),
        None => Err(sql_err!(
            UNDEFINED_OBJECT,
            "constraint \"{constraint}\" for domain {} does not exist",
            domain.names.join(".")
        )),
    }
}

/// A column of a relation, which the user must own.
pub(super) fn column(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let ObjectName::Name(name) = object else { return Err(SqlError::internal("a column was expected")) };
    let Some((column, relation)) = name.0.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return Err(sql_err!(SYNTAX_ERROR, "column name must be qualified"));
    };
    let relation = ObjectName::Name(parse::ast::Name(relation.to_vec()));
    let relation = names::relation_name(&relation)?;
    let table = names::open(session, &relation, LockMode::ShareUpdateExclusive)?;
    names::check_owner_of_whole(session, &table)?;
    let Some((number, _)) = table.column(column) else {
        return Err(sql_err!(
            UNDEFINED_COLUMN,
            "column \"{column}\" of relation \"{}\" does not exist",
            table.name
        ));
    };
    Ok(ObjectAddress::column(table.oid, number))
}
