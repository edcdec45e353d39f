//! # What
//! ALTER TABLE and ALTER SEQUENCE ... SET LOGGED, SET UNLOGGED: the relation, what belongs to it, and its sequences in new files.
//!
//! # Locks
//! ACCESS EXCLUSIVE on the table, which the caller holds, and on its sequences.
//!
//! # PostgreSQL counterpart and differences
//! `ATPrepChangePersistence` of `commands/tablecmds.c`, `SequenceChangePersistence`. Rows are copied as VACUUM FULL does, with their xids.

use std::sync::Arc;

use base::{Oid, SqlResult, sql_err};
use catalog::{RelationKind, Table};
use session::Session;
use txn::{LockMode, LockWait};

use super::{names, publication, rewrite, sequence};

/// `pg_class.relpersistence` of what a crash leaves alone.
const LOGGED: char = 'p';
/// `pg_class.relpersistence` of what a crash empties.
const UNLOGGED: char = 'u';

/// Carries the action out on a table or a sequence.
pub(super) fn set(session: &Session, table: &Arc<Table>, logged: bool) -> SqlResult<()> {
    if table.persistence == 't' {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "cannot change logged status of table \"{}\" because it is temporary",
            table.name
        )
        .table(&table.schema_name, &table.name));
    }
    let wanted = if logged { LOGGED } else { UNLOGGED };
    if table.persistence == wanted {
        return Ok(());
    }
    if table.kind == RelationKind::Sequence {
        return sequence::set_persistence(session, table.oid, wanted);
    }
    check_foreign_keys(session, table, logged)?;
    publication::check_unlogged(session, table, logged)?;
    let mut relations = relation_and_indexes(table);
    if table.toast.is_valid() {
        relations.extend(relation_and_indexes(names::describe(session, table.toast)?.as_ref()));
    }
    session.with_changer(|changer| {
        relations.iter().try_for_each(|&relation| changer.set_persistence(relation, wanted))
    })?;
    // `table` still says how the old files were written.
    rewrite::table(session, table, None, None)?;
    for owned in session.with_reader(|reader| reader.owned_sequences(table.oid, None))? {
        names::lock_relation(session, owned, LockMode::AccessExclusive, LockWait::Block)?;
        sequence::set_persistence(session, owned, wanted)?;
    }
    Ok(())
}

fn relation_and_indexes(table: &Table) -> Vec<Oid> {
    std::iter::once(table.oid).chain(table.indexes.iter().map(|index| index.oid)).collect()
}

/// What a crash leaves alone must not refer to what it empties.
fn check_foreign_keys(session: &Session, table: &Table, logged: bool) -> SqlResult<()> {
    let keys = session.with_reader(|reader| match logged {
        true => reader.foreign_keys_of(table.oid),
        false => reader.foreign_keys_to(table.oid),
    })?;
    for key in keys {
        let other = if logged { key.foreign.table } else { key.table };
        let other = names::describe(session, other)?;
        if other.oid == table.oid || (other.persistence == LOGGED) == logged {
            continue;
        }
        let (new, old) = if logged { ("logged", "unlogged") } else { ("unlogged", "logged") };
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "could not change table \"{}\" to {new} because it references {old} table \"{}\"",
            table.name,
            other.name
        )
        .table(&table.schema_name, &table.name)
        .constraint(&key.name));
    }
    Ok(())
}
