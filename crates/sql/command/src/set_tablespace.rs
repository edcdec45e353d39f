//! # What
//! ALTER TABLE, INDEX, MATERIALIZED VIEW ... SET TABLESPACE, and ALL IN TABLESPACE: relations move, page by page, to new files.
//!
//! # Locks
//! ACCESS EXCLUSIVE on what moves; on an index' table too, as for every change of an index' files.
//!
//! # PostgreSQL counterpart
//! `ATExecSetTableSpace`, `AlterTableMoveAll` of `commands/tablecmds.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::system::{catalog_of, pg_class};
use catalog::tables::PG_GLOBAL;
use catalog::{PG_CATALOG, PG_TOAST, RelationKind, Row, RowExt, Table};
use parse::ast::{MoveAll, ObjectKind};
use session::Session;
use txn::{LockMode, LockWait};

use super::{names, schema, tablespace};

/// Whether relations of a kind can be moved.
pub(super) fn is_movable(kind: RelationKind) -> bool {
    use RelationKind as K;
    matches!(kind, K::Table | K::PartitionedTable | K::MaterializedView | K::Index | K::PartitionedIndex)
}

/// SET TABLESPACE of one relation, which is locked.
pub(super) fn one(session: &Session, table: &Arc<Table>, name: &str) -> SqlResult<()> {
    let target = tablespace::named(session, name)?;
    if target != PG_GLOBAL {
        // Who may not create there is told before what cannot be moved at all.
        tablespace::for_relation(session, target)?;
    }
    check_not_catalog(table)?;
    let target = tablespace::for_relation(session, target)?;
    move_relation(session, table, target)
}

/// A catalog's files stay with the database.
pub(super) fn check_not_catalog(table: &Table) -> SqlResult<()> {
    match catalog_of(table.oid) {
        Some(_) => Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot move system relation \"{}\"", table.name)),
        None => Ok(()),
    }
}

/// A relation with its TOAST table; `target` is its new `reltablespace`.
fn move_relation(session: &Session, table: &Table, target: Oid) -> SqlResult<()> {
    if session.with_reader(|reader| reader.tablespace_of(table.oid))? == target {
        return Ok(());
    }
    let mut moved = vec![table.oid];
    if table.toast.is_valid() {
        let toast = names::describe(session, table.toast)?;
        moved.push(toast.oid);
        moved.extend(toast.indexes.iter().map(|index| index.oid));
    }
    session.with_changer(|changer| {
        moved.into_iter().try_for_each(|relation| changer.set_tablespace(relation, target))
    })
}

/// ALL IN TABLESPACE.
pub(super) fn all(session: &Session, asked: &MoveAll) -> SqlResult<()> {
    let owners = asked.owners.iter().map(|owner| Ok(schema::role(session, owner)?.0));
    let owners: Vec<Oid> = owners.collect::<SqlResult<_>>()?;
    let (from, to) = (tablespace::named(session, &asked.from)?, tablespace::named(session, &asked.to)?);
    if from == PG_GLOBAL || to == PG_GLOBAL {
        let message = "cannot move relations in to or out of pg_global tablespace";
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    }
    let to = tablespace::for_relation(session, to)?;
    let own = session.catalog.tablespace();
    let stored = if from == own { Oid::INVALID } else { from };
    if stored == to {
        return Ok(());
    }
    let rows = session.with_reader(|reader| reader.scan(&pg_class::TABLE))?;
    let wanted = |row: &Row| {
        let space = row.oid(pg_class::RELNAMESPACE);
        row.oid(pg_class::RELTABLESPACE) == stored
            && is_asked(asked.kind, row.char(pg_class::RELKIND))
            && space != PG_CATALOG
            && space != PG_TOAST
            && catalog_of(row.oid(pg_class::OID)).is_none()
            && row.char(pg_class::RELPERSISTENCE) != b't'
            && (owners.is_empty() || owners.contains(&row.oid(pg_class::RELOWNER)))
    };
    let chosen: Vec<Oid> =
        rows.iter().filter(|(_, row)| wanted(row)).map(|(_, row)| row.oid(pg_class::OID)).collect();
    if chosen.is_empty() {
        let shown = if from == own { "(database default)" } else { asked.from.as_str() };
        let message = format!("no matching relations in tablespace \"{shown}\" found");
        session.notice(names::notice(SqlState::NO_DATA_FOUND, message));
    }
    let mut found = Vec::with_capacity(chosen.len());
    for oid in chosen {
        let table = names::describe(session, oid)?;
        names::check_owner(session, &table)?;
        lock(session, &table, asked.nowait)?;
        found.push(oid);
    }
    for oid in found {
        move_relation(session, names::describe(session, oid)?.as_ref(), to)?;
    }
    Ok(())
}

fn is_asked(kind: ObjectKind, relkind: u8) -> bool {
    match kind {
        ObjectKind::Index => matches!(relkind, b'i' | b'I'),
        ObjectKind::MaterializedView => relkind == b'm',
        _ => matches!(relkind, b'r' | b'p'),
    }
}

fn lock(session: &Session, table: &Table, nowait: bool) -> SqlResult<()> {
    let wait = if nowait { LockWait::NoWait } else { LockWait::Block };
    let mut needed = vec![table.oid];
    if matches!(table.kind, RelationKind::Index | RelationKind::PartitionedIndex) {
        needed.insert(0, names::table_of_index(session, table.oid)?);
    }
    for relation in needed {
        names::lock_relation(session, relation, LockMode::AccessExclusive, wait).map_err(
            |error| match nowait && error.code() == SqlState::LOCK_NOT_AVAILABLE {
                true => sql_err!(
                    OBJECT_IN_USE,
                    "aborting because lock on relation \"{}.{}\" is not available",
                    table.schema_name,
                    table.name
                ),
                false => error,
            },
        )?;
    }
    Ok(())
}
