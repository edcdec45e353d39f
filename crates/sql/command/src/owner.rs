//! ALTER ... OWNER TO.
//!
//! # PostgreSQL counterpart
//! `ATExecChangeOwner` of `commands/tablecmds.c`, `commands/alter.c`.

use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority::{self, AclKind};
use catalog::system::{pg_class, pg_database, pg_depend, pg_namespace, pg_type};
use catalog::{CatalogView, RelationKind, RowExt, Table};
use parse::ast::{ObjectKind, ObjectName, RoleSpec};
use session::Session;
use types::acl::bits;

use super::{alter_user_type, names, object_kind, schema, type_name};

/// ALTER ... OWNER TO of an object that is no relation.
pub(crate) fn alter(
    session: &Session,
    kind: ObjectKind,
    object: &ObjectName,
    owner: &RoleSpec,
) -> SqlResult<()> {
    let (owner, _) = schema::role(session, owner)?;
    object_kind::set_owner(session, kind, object, owner)
}

fn not_owner(what: &str, name: &str) -> SqlError {
    sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of {what} {name}")
}

/// The new owner must be allowed to create such an object where it is. Superusers do as they like.
pub(crate) fn check_new_owner(session: &Session, owner: Oid, in_schema: Oid) -> SqlResult<()> {
    if session.has_all_rights()? {
        return Ok(());
    }
    names::check_may_become(session, owner)?;
    session.with_reader(|reader| {
        if reader.schema_rights(owner, in_schema)?.has((bits("C"), false)) {
            return Ok(());
        }
        Err(authority::denied("schema", &reader.schema_name(in_schema)?.unwrap_or_default()))
    })
}

/// A relation's; that the user owns it was checked.
pub(crate) fn of_relation(session: &Session, table: &Table, owner: Oid) -> SqlResult<()> {
    match table.kind {
        RelationKind::Index | RelationKind::PartitionedIndex => {
            if owner != table.owner {
                let message = format!("cannot change owner of index \"{}\"", table.name);
                let warning =
                    SqlError::with_severity(Severity::Warning, SqlState::WRONG_OBJECT_TYPE, message);
                session.notice(warning.hint("Change the ownership of the index's table instead."));
            }
            return Ok(());
        }
        RelationKind::Composite => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is a composite type", table.name)
                .hint("Use ALTER TYPE instead."));
        }
        RelationKind::Toast => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot change owner of relation \"{}\"", table.name));
        }
        RelationKind::Sequence => check_free_sequence(session, table, owner)?,
        _ => {}
    }
    if owner == table.owner {
        return Ok(());
    }
    check_new_owner(session, owner, table.schema)?;
    session.with_changer(|changer| changer.set_relation_owner(table.oid, owner))
}

/// A column's sequence follows the column's table.
fn check_free_sequence(session: &Session, sequence: &Table, owner: Oid) -> SqlResult<()> {
    if owner == sequence.owner {
        return Ok(());
    }
    let key = [pg_class::TABLE.oid.into(), sequence.oid.into()];
    let index = pg_depend::PG_DEPEND_DEPENDER_INDEX;
    let rows = session.with_reader(|reader| reader.find(&pg_depend::TABLE, index, &key))?;
    let of_column = |row: &catalog::Row| {
        row.oid(pg_depend::REFCLASSID) == pg_class::TABLE.oid
            && row.int(pg_depend::REFOBJSUBID) != 0
            && matches!(row.char(pg_depend::DEPTYPE), b'a' | b'i')
    };
    let Some((_, row)) = rows.iter().find(|(_, row)| of_column(row)) else { return Ok(()) };
    let table = names::describe(session, row.oid(pg_depend::REFOBJID))?;
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot change owner of sequence \"{}\"", sequence.name)
        .detail(format!("Sequence \"{}\" is linked to table \"{}\".", sequence.name, table.name)))
}

pub(super) fn of_large_object(session: &Session, object: &ObjectName, owner: Oid) -> SqlResult<()> {
    let oid = super::comment::large_object(session, object)?.object;
    names::check_may_become(session, owner)?;
    session.with_changer(|changer| changer.set_owner(&AclKind::LARGE_OBJECT, oid, owner, true))
}

pub(super) fn of_schema(session: &Session, name: &str, owner: Oid) -> SqlResult<()> {
    let index = pg_namespace::PG_NAMESPACE_NSPNAME_INDEX;
    let row = session.with_reader(|reader| reader.find_one(&pg_namespace::TABLE, index, &[name.into()]))?;
    let (_, row) = row.ok_or_else(|| names::undefined_schema(name))?;
    if row.oid(pg_namespace::NSPOWNER) == owner {
        return Ok(());
    }
    if !names::owns(session, row.oid(pg_namespace::NSPOWNER))? {
        return Err(not_owner("schema", name));
    }
    names::check_may_become(session, owner)?;
    if !names::holds_on_database(session, "C")? {
        return Err(authority::denied("database", session.catalog.database_name()));
    }
    let oid = row.oid(pg_namespace::OID);
    session.with_changer(|changer| changer.set_owner(&AclKind::SCHEMA, oid, owner, true))
}

pub(super) fn of_database(session: &Session, name: &str, owner: Oid) -> SqlResult<()> {
    let index = pg_database::PG_DATABASE_DATNAME_INDEX;
    let row = session.with_reader(|reader| reader.find_one(&pg_database::TABLE, index, &[name.into()]))?;
    let (_, row) = row.ok_or_else(|| sql_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist"))?;
    if row.oid(pg_database::DATDBA) == owner {
        return Ok(());
    }
    if !names::owns(session, row.oid(pg_database::DATDBA))? {
        return Err(not_owner("database", name));
    }
    names::check_may_become(session, owner)?;
    let me = session.with_reader(|reader| reader.role_facts(reader.session.user()))?;
    if !me.superuser && !me.create_database {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to change owner of database"));
    }
    let oid = row.oid(pg_database::OID);
    session.with_changer(|changer| changer.set_owner(&AclKind::DATABASE, oid, owner, true))
}

pub(super) fn of_type(session: &Session, kind: ObjectKind, object: &ObjectName, owner: Oid) -> SqlResult<()> {
    let def = alter_user_type::altered(session, kind, object)?;
    let shown = session.with_reader(|reader| type_name::format(reader, def.oid, -1))?;
    let index = pg_type::PG_TYPE_OID_INDEX;
    let row = session.with_reader(|reader| reader.find_one(&pg_type::TABLE, index, &[def.oid.into()]))?;
    let before = row.map_or(Oid::INVALID, |(_, row)| row.oid(pg_type::TYPOWNER));
    if before == owner {
        return Ok(());
    }
    if !names::owns(session, before)? {
        return Err(not_owner("type", &shown));
    }
    check_new_owner(session, owner, def.schema)?;
    session.with_changer(|changer| changer.set_type_owner(def.oid, owner))
}
