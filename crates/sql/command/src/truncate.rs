//! # What
//! TRUNCATE: new empty files for a table, its TOAST table and all their indexes. The old files go with the commit.
//!
//! # Locks
//! ACCESS EXCLUSIVE on every table, those that inherit from the ones named among them.

use std::sync::Arc;

use base::{Oid, SqlResult, sql_err};
use catalog::{RelationKind, Table};
use eval::trigger::{At, Event, Events, Firing, TableTriggers};
use parse::ast::{DropBehavior, RangeVar};
use session::Session;
use txn::logical::truncate_flags;
use txn::{LockMode, LockWait};

use super::{foreign, inherit, names, sequence, trigger};

/// TRUNCATE.
pub(crate) fn run(
    session: &Session,
    relations: &[RangeVar],
    restart_identity: bool,
    behavior: DropBehavior,
) -> SqlResult<()> {
    let mut tables: Vec<Arc<Table>> = Vec::with_capacity(relations.len());
    for name in relations {
        let table = names::open(session, name, LockMode::AccessExclusive)?;
        check(session, &table)?;
        if table.kind == RelationKind::PartitionedTable && !name.inherit {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot truncate only a partitioned table")
                .hint("Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions directly."));
        }
        let mut below = match name.inherit {
            true => inherit::descendants(session, &table, LockMode::AccessExclusive)?,
            false => Vec::new(),
        };
        below.retain(|child| !let_go_of_strange(session, child));
        for table in std::iter::once(table).chain(below) {
            if !tables.iter().any(|other| other.oid == table.oid) {
                tables.push(table);
            }
        }
    }
    add_referencing(session, &mut tables, behavior == DropBehavior::Cascade)?;
    let mut sequences = Vec::new();
    if restart_identity {
        for table in &tables {
            for oid in session.with_reader(|reader| reader.owned_sequences(table.oid, None))? {
                names::check_owner(session, names::describe(session, oid)?.as_ref())?;
                sequences.push(oid);
            }
        }
    }
    let triggers: Vec<_> = tables.iter().filter_map(TableTriggers::new).collect();
    for triggers in &triggers {
        triggers.fire_before_statement(Event::Truncate, None, &At::now(session, &session.txn))?;
    }
    tables.iter().try_for_each(|table| one(session, table))?;
    sequences.into_iter().try_for_each(|oid| sequence::restart(session, oid))?;
    tell_decoders(session, &tables, (restart_identity, behavior == DropBehavior::Cascade))?;
    let mut events = Events::default();
    for triggers in &triggers {
        triggers.queue_statement(Event::Truncate, None, (&At::now(session, &session.txn), &mut events))?;
    }
    session.fire_after(events)
}

/// Tells those who decode the log which tables were emptied.
fn tell_decoders(
    session: &Session,
    tables: &[Arc<Table>],
    (restart, cascade): (bool, bool),
) -> SqlResult<()> {
    let logged: Vec<_> =
        tables.iter().filter_map(|table| Some((table.oid, table.logged.as_ref()?))).collect();
    if logged.is_empty() {
        return Ok(());
    }
    let database = session.catalog.database();
    let mut txn = session.txn.borrow_mut();
    let xid = txn.xid_for(true)?;
    for (_, logged) in &logged {
        logged.describe_in(&txn, xid, database);
    }
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    let flags = flag(restart, truncate_flags::RESTART) | flag(cascade, truncate_flags::CASCADE);
    let oids: Vec<Oid> = logged.iter().map(|(oid, _)| *oid).collect();
    txn.log_truncate(xid, database, flags, &oids);
    Ok(())
}

/// Whether a child is a temporary table of another session: its rows belong to that session alone, and it is neither truncated nor locked.
fn let_go_of_strange(session: &Session, child: &Table) -> bool {
    let strange = child.persistence == 't' && session.names.temporary_schema() != Some(child.schema);
    if strange {
        session.txn.borrow_mut().unlock(session.catalog.lock_tag(child.oid), LockMode::AccessExclusive);
    }
    strange
}

/// Tables with foreign keys to those that are emptied must be emptied too; CASCADE adds them.
fn add_referencing(session: &Session, tables: &mut Vec<Arc<Table>>, cascade: bool) -> SqlResult<()> {
    let mut at = 0;
    while let Some(table) = tables.get(at).cloned() {
        at += 1;
        for key in session.with_reader(|reader| reader.foreign_keys_to(table.oid))? {
            if tables.iter().any(|other| other.oid == key.table) {
                continue;
            }
            let other = names::describe(session, key.table)?;
            if !cascade {
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot truncate a table referenced in a foreign key constraint"
                )
                .detail(format!("Table \"{}\" references \"{}\".", other.name, table.name))
                .hint(format!(
                    "Truncate table \"{}\" at the same time, or use TRUNCATE ... CASCADE.",
                    other.name
                )));
            }
            let message = format!("truncate cascades to table \"{}\"", other.name);
            session.notice(names::notice(base::SqlState::SUCCESSFUL_COMPLETION, message));
            names::lock_relation(session, key.table, LockMode::AccessExclusive, LockWait::Block)?;
            let other = names::describe(session, key.table)?;
            check(session, &other)?;
            tables.push(other);
        }
    }
    Ok(())
}

fn check(session: &Session, table: &Table) -> SqlResult<()> {
    match table.kind {
        RelationKind::Table | RelationKind::PartitionedTable => {}
        RelationKind::ForeignTable => return Err(foreign::table::not_truncated(session, table)?),
        _ => return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a table", table.name)),
    }
    names::check_not_system(table)?;
    names::check_right(session, table, "D")?;
    trigger::check_none_wait(session, table, "TRUNCATE")
}

/// Empties one table.
pub(super) fn one(session: &Session, table: &Table) -> SqlResult<()> {
    if table.kind == RelationKind::PartitionedTable {
        return Ok(());
    }
    if let Some(heap) = &table.heap {
        heap::watch_removal(heap, &session.txn.borrow()).map_err(eval::error::heap)?;
    }
    empty(session, table.oid)?;
    session.pending.truncated(table.oid, session.txn.borrow().depth() as u32);
    if table.toast.is_valid() {
        empty(session, table.toast)?;
    }
    Ok(())
}

/// New files for one relation with rows and its indexes.
fn empty(session: &Session, oid: Oid) -> SqlResult<()> {
    let table = names::describe(session, oid)?;
    session.with_changer(|changer| {
        changer.new_file(oid)?;
        for index in &table.indexes {
            changer.new_file(index.oid)?;
            changer.create_empty_index(index.oid)?;
        }
        Ok(())
    })
}
