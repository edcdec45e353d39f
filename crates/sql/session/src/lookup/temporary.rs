//! # What
//! Temporary tables' schema: `pg_temp_N`, one a session, made at first use, emptied when the session ends.
//!
//! # Invariants
//! 1. What a session that crashed with the server left behind goes when the next one uses the schema; its tables also when an automatic vacuum finds
//!    them (`autovacuum`).

use base::{Oid, SqlResult, sql_err};
use catalog::Reader;
use catalog::change::{Behavior, ObjectAddress};
use catalog::system::{pg_depend, pg_namespace};
use catalog::{BOOTSTRAP_SUPERUSER, RowExt};

use crate::Session;

/// The session's temporary schema, made now if it has none.
pub fn schema(session: &Session) -> SqlResult<Oid> {
    session.refuse_restricted("create temporary table")?;
    session.note_temporary();
    if let Some(schema) = session.names.temporary_schema() {
        // A rolled-back transaction may have taken it away again.
        if session.with_reader(|reader| reader.schema_by_name(&name(session)))? == Some(schema) {
            return Ok(schema);
        }
    }
    if !super::names::holds_on_database(session, "T")? {
        return Err(sql_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied to create temporary tables in database \"{}\"",
            session.catalog.database_name()
        ));
    }
    let name = name(session);
    let found = session.with_reader(|reader| reader.schema_by_name(&name))?;
    let schema = match found {
        Some(schema) => {
            session.backend.uses_temporary_schema(schema);
            empty(session, schema)?;
            schema
        }
        None => {
            let schema = session.with_changer(|changer| changer.create_schema(&name, BOOTSTRAP_SUPERUSER))?;
            session.backend.uses_temporary_schema(schema);
            schema
        }
    };
    session.names.set_temporary_schema(schema);
    Ok(schema)
}

fn name(session: &Session) -> String {
    format!("pg_temp_{}", session.info.pid)
}

/// The number of the session that such a schema is for; none if it is no temporary schema.
pub fn owner_of(schema: &str) -> Option<i32> {
    schema.strip_prefix("pg_temp_")?.parse().ok()
}

/// Drops everything in the schema. Runs in a transaction.
fn empty(session: &Session, schema: Oid) -> SqlResult<()> {
    let objects = session.with_reader(|reader| contents(reader, schema))?;
    if objects.is_empty() {
        return Ok(());
    }
    session.with_changer(|changer| changer.drop_objects(&objects, Behavior::Cascade).map(drop))
}

/// What is in a schema: relations, functions, types and so on.
fn contents(reader: &Reader<'_>, schema: Oid) -> SqlResult<Vec<ObjectAddress>> {
    let key = [pg_namespace::TABLE.oid.into(), schema.into()];
    let rows = reader.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key)?;
    let object = |row: &catalog::Row| ObjectAddress {
        class: row.oid(pg_depend::CLASSID),
        object: row.oid(pg_depend::OBJID),
        sub: row.int(pg_depend::OBJSUBID) as i16,
    };
    Ok(rows.iter().map(|(_, row)| object(row)).collect())
}

/// DISCARD TEMP, and the end of the session: drops the session's temporary objects. Runs in a transaction.
pub fn drop_all(session: &Session) -> SqlResult<()> {
    match session.names.temporary_schema() {
        Some(schema) => empty(session, schema),
        None => Ok(()),
    }
}
