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
use catalog::system::{SystemTable, pg_am, pg_database, pg_language, pg_tablespace};
use catalog::{RelationKind, RowExt, Table, TypeKind};
use parse::ast::{Name, ObjectKind, ObjectName, TypeName};
use txn::LockMode;

use super::{
    alter, alter_function, conversion, drop, extension, grant, names, operator, operator_class, role,
    user_type,
};
use crate::session::Session;

/// COMMENT ON.
pub(crate) fn run(
    session: &Session,
    kind: ObjectKind,
    object: &ObjectName,
    comment: Option<&str>,
) -> SqlResult<()> {
    let shared = match kind {
        ObjectKind::Role => Some(role::commented(session, name(object)?.last())?),
        ObjectKind::Database => match database(session, name(object)?.last())? {
            Some(found) => Some(found),
            // A restored dump may name the database that it was taken from.
            None => return Ok(()),
        },
        ObjectKind::Tablespace => {
            let columns = (pg_tablespace::SPCNAME, Some(pg_tablespace::SPCOWNER));
            Some(by_name(session, &pg_tablespace::TABLE, columns, ("tablespace", object))?)
        }
        _ => None,
    };
    if let Some(address) = shared {
        return session.with_changer(|changer| changer.set_shared_comment(address, comment));
    }
    let address = address(session, kind, object)?;
    session.with_changer(|changer| changer.set_comment(address, comment))
}

/// The object, which the user must own.
pub(crate) fn address(session: &Session, kind: ObjectKind, object: &ObjectName) -> SqlResult<ObjectAddress> {
    match kind {
        ObjectKind::Table
        | ObjectKind::Index
        | ObjectKind::View
        | ObjectKind::Sequence
        | ObjectKind::MaterializedView => {
            let name = names::relation_name(object)?;
            let table = names::open(session, &name, LockMode::ShareUpdateExclusive)?;
            check_kind(&table, kind)?;
            names::check_owner(session, &table)?;
            Ok(ObjectAddress::relation(table.oid))
        }
        ObjectKind::Column => column(session, object),
        ObjectKind::Schema => {
            let name = name(object)?.last();
            let oid = session.with_reader(|reader| reader.schema_by_name(name))?;
            let oid = oid.ok_or_else(|| names::undefined_schema(name))?;
            drop::check_schema_owner(session, oid, name)?;
            Ok(ObjectAddress::schema(oid))
        }
        ObjectKind::Type | ObjectKind::Domain => match object {
            ObjectName::Type(written) => user_type_address(session, kind, written),
            _ => Err(SqlError::internal("a type was expected")),
        },
        ObjectKind::TableConstraint => table_constraint(session, object),
        ObjectKind::DomainConstraint => match object {
            ObjectName::DomainConstraint(domain, constraint) => {
                domain_constraint(session, domain, constraint)
            }
            _ => Err(SqlError::internal("a constraint of a domain was expected")),
        },
        ObjectKind::Operator => operator::address(session, object),
        ObjectKind::Trigger => super::trigger::address(session, object),
        ObjectKind::Cast => operator::cast_address(session, object),
        ObjectKind::Conversion => conversion::address(session, object),
        ObjectKind::Extension => extension::address(session, name(object)?),
        ObjectKind::LargeObject => large_object(session, object),
        ObjectKind::Language => {
            let columns = (pg_language::LANNAME, Some(pg_language::LANOWNER));
            by_name(session, &pg_language::TABLE, columns, ("language", object))
        }
        ObjectKind::AccessMethod => {
            by_name(session, &pg_am::TABLE, (pg_am::AMNAME, None), ("access method", object))
        }
        kind if operator_class::is_one(kind) => operator_class::address(session, kind, object),
        kind if alter_function::is_routine(kind) => alter_function::address(session, kind, object),
        other => Err(SqlError::not_supported(format!("COMMENT ON {}", super::object_kind::of(other).words))),
    }
}

/// A large object, which the user must own.
pub(crate) fn large_object(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let ObjectName::Number(number) = object else { return Err(SqlError::internal("a number was expected")) };
    let oid = grant::large_object(session, number)?;
    session.check_large_object_owner(oid, false)?;
    Ok(ObjectAddress::large_object(oid))
}

fn name(object: &ObjectName) -> SqlResult<&Name> {
    match object {
        ObjectName::Name(name) => Ok(name),
        _ => Err(SqlError::internal("a name was expected")),
    }
}

/// The object of a small catalog with this name; `columns`: the name's and the owner's.
fn by_name(
    session: &Session,
    shape: &'static SystemTable,
    columns: (usize, Option<usize>),
    (what, object): (&str, &ObjectName),
) -> SqlResult<ObjectAddress> {
    let name = name(object)?.last();
    let rows = session.with_reader(|reader| reader.scan(shape))?;
    let Some((_, row)) = rows.iter().find(|(_, row)| row.str(columns.0) == name) else {
        return Err(sql_err!(UNDEFINED_OBJECT, "{what} \"{name}\" does not exist"));
    };
    match columns.1 {
        Some(owner) if !names::owns(session, row.oid(owner))? => {
            Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of {what} {name}"))
        }
        None if !session.has_all_rights()? => Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser")),
        _ => Ok(ObjectAddress { class: shape.oid, object: row.oid(0), sub: 0 }),
    }
}

/// A database; a warning if there is none.
fn database(session: &Session, name: &str) -> SqlResult<Option<ObjectAddress>> {
    let index = pg_database::PG_DATABASE_DATNAME_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_database::TABLE, index, &[name.into()]))?;
    let Some((_, row)) = row else {
        session.warning(SqlState::UNDEFINED_DATABASE, &format!("database \"{name}\" does not exist"));
        return Ok(None);
    };
    if !names::owns(session, row.oid(pg_database::DATDBA))? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of database {name}"));
    }
    Ok(Some(ObjectAddress { class: pg_database::TABLE.oid, object: row.oid(pg_database::OID), sub: 0 }))
}

fn check_kind(table: &Table, kind: ObjectKind) -> SqlResult<()> {
    let is_table = matches!(table.kind, RelationKind::Table | RelationKind::PartitionedTable);
    let (fits, what) = alter::fits_word(table, kind).unwrap_or((is_table, "a table"));
    if fits { Ok(()) } else { Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not {what}", table.name)) }
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

fn table_constraint(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
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

fn domain_constraint(session: &Session, domain: &TypeName, constraint: &str) -> SqlResult<ObjectAddress> {
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

fn column(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
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
