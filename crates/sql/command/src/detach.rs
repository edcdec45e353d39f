//! # What
//! DETACH PARTITION: at once, CONCURRENTLY in two transactions, and FINALIZE, which is the second of them again.
//!
//! # Layout
//! CONCURRENTLY: the first transaction marks the partition as pending ([`begin`]) and gives it a CHECK constraint that repeats its bound. It does not wait for
//! readers of the table. Then all transactions that hold any lock on the table are waited for, because their plans may use the partition. The
//! second transaction does the rest ([`finish`]). If that fails, FINALIZE does it later.
//!
//! # Invariants
//! 1. Snapshots that see the first transaction as committed no longer read the partition; older ones still do. Its rows satisfy its bound as long as it has one.
//! 2. At most one partition of a table is pending.
//! 3. From the moment when a partition is marked or detached, no foreign key's row refers to it.
//!
//! # Locks
//! ACCESS EXCLUSIVE on the table, the partition and the DEFAULT partition. CONCURRENTLY: SHARE UPDATE EXCLUSIVE on the table and the partition, and
//! ACCESS EXCLUSIVE on the partition in the second transaction; FINALIZE locks as that one does. SHARE on tables that refer to the partition.
//!
//! # PostgreSQL counterpart
//! `ATExecDetachPartition`, `DetachPartitionFinalize` of `commands/tablecmds.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::Table;
use catalog::partition::Strategy;
use parse::Statement;
use parse::ast::{AlterAction, RangeVar};
use session::Session;
use session::firing::foreign_key::parsed;
use txn::{LockMode, LockWait};

use super::concurrently::{wait_for_lockers, wait_for_older_snapshots};
use super::{alter_tree, foreign_key_parts, inherit, names, partition_index, trigger};

const FINALIZE_HINT: &str =
    "Use ALTER TABLE ... DETACH PARTITION ... FINALIZE to complete the pending detach operation.";

/// The lock that it needs on the table.
pub(super) fn lock_mode((concurrently, finalize): (bool, bool)) -> LockMode {
    if concurrently || finalize { LockMode::ShareUpdateExclusive } else { LockMode::AccessExclusive }
}

/// A table that is being detached is left alone until FINALIZE has been there.
pub(super) fn check_not_pending(session: &Session, table: &Table, action: &AlterAction) -> SqlResult<()> {
    let finalizes = matches!(action, AlterAction::DetachPartition(_, _, true));
    if !table.partition_of.is_valid() || finalizes || !is_pending(session, table)? {
        return Ok(());
    }
    Err(sql_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "cannot alter partition \"{}\" with an incomplete detach",
        table.name
    )
    .hint(FINALIZE_HINT))
}

fn is_pending(session: &Session, partition: &Table) -> SqlResult<bool> {
    session.with_reader(|reader| reader.is_being_detached(partition.oid))
}

/// DETACH PARTITION.
pub(super) fn run(
    session: &Session,
    table: &Arc<Table>,
    name: &RangeVar,
    (concurrently, finalize): (bool, bool),
) -> SqlResult<()> {
    if finalize {
        return finish_pending(session, table, name);
    }
    if let Some(default) = default_of(table) {
        if concurrently {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot detach partitions concurrently when a default partition exists"
            ));
        }
        names::lock_relation(session, default, LockMode::AccessExclusive, LockWait::Block)?;
    }
    if concurrently {
        return detach_concurrently(session, table, name);
    }
    let child = names::open(session, name, LockMode::AccessExclusive)?;
    check_partition(&child, table)?;
    if is_pending(session, &child)? {
        return Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cannot detach partition \"{}\"", child.name)
            .detail("The partition is being detached concurrently or has an incomplete detach.")
            .hint(FINALIZE_HINT));
    }
    foreign_key_parts::check_no_references(session, &child)?;
    finish(session, table, &child)
}

fn default_of(table: &Table) -> Option<Oid> {
    table.partitioning.as_ref().map(|key| key.default).filter(|default| default.is_valid())
}

fn check_partition(child: &Table, table: &Table) -> SqlResult<()> {
    if child.partition_of == table.oid {
        return Ok(());
    }
    Err(sql_err!(
        UNDEFINED_TABLE,
        "relation \"{}\" is not a partition of relation \"{}\"",
        child.name,
        table.name
    ))
}

fn detach_concurrently(session: &Session, table: &Arc<Table>, name: &RangeVar) -> SqlResult<()> {
    let child = begin(session, table, name)?;
    session.next_transaction()?;
    wait_for_lockers(session, table.oid, LockMode::AccessExclusive, None)?;
    let now = inherit::open_child(session, table.oid, LockMode::ShareUpdateExclusive)?;
    let part = inherit::open_child(session, child.oid, LockMode::AccessExclusive)?;
    let removed = |what: &str, name: &str| {
        sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "{what} \"{name}\" was removed concurrently")
    };
    let now = now.ok_or_else(|| removed("partitioned table", &table.name))?;
    let part = part.ok_or_else(|| removed("partition", &child.name))?;
    check_pending(session, &now, &part)?;
    finish(session, &now, &part)
}

/// The first transaction: all that must be committed before others stop reading the partition.
fn begin(session: &Session, table: &Arc<Table>, name: &RangeVar) -> SqlResult<Arc<Table>> {
    let child = names::open(session, name, LockMode::ShareUpdateExclusive)?;
    if let Some(pending) = table.detaching() {
        let pending = names::describe(session, pending.partition.oid)?;
        return Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "partition \"{}\" already pending detach in partitioned table \"{}.{}\"",
            pending.name,
            table.schema_name,
            table.name
        )
        .hint(FINALIZE_HINT));
    }
    check_partition(&child, table)?;
    session.with_changer(|changer| changer.mark_detached(child.oid))?;
    foreign_key_parts::check_no_references(session, &child)?;
    // The condition of a hash partition names its table, which may go.
    if table.partitioning.as_ref().is_some_and(|of| of.strategy != Strategy::Hash) {
        keep_bound(session, &child)?;
    }
    Ok(child)
}

/// Gives the partition a CHECK that says what its bound says, unless its constraints say so already.
fn keep_bound(session: &Session, child: &Arc<Table>) -> SqlResult<()> {
    if bound_follows(session, child)? {
        return Ok(());
    }
    let Some(condition) = session.partition_constraint(child.oid)? else { return Ok(()) };
    let text = format!("ALTER TABLE p ADD CHECK ({condition})");
    let Statement::AlterTable(statement) = parsed(&text)? else {
        return Err(SqlError::internal("a condition of a partition is no constraint"));
    };
    statement.actions.iter().try_for_each(|action| match action {
        AlterAction::AddConstraint(constraint) => {
            alter_tree::add_known_check(session, child, constraint, &text)
        }
        _ => Ok(()),
    })
}

/// Whether a table's constraints imply its bound, and those of the tables that it is in.
fn bound_follows(session: &Session, child: &Arc<Table>) -> SqlResult<bool> {
    let constraints = session.with_reader(|reader| reader.constraints(child.oid))?;
    let not_null = constraints.iter().filter(|c| c.kind == b'n' && c.validated);
    let not_null: Vec<i16> = not_null.flat_map(|c| c.columns.iter().copied()).collect();
    let mut part = child.clone();
    while part.partition_of.is_valid() {
        let above = names::describe(session, part.partition_of)?;
        let bound = (&*above, part.oid);
        let follows =
            |context: &plan::Context<'_>| plan::proof::bound_follows(context, child, bound, &not_null);
        if !session.with_planner(session, follows)? {
            return Ok(false);
        }
        part = above;
    }
    Ok(true)
}

/// DETACH PARTITION ... FINALIZE.
fn finish_pending(session: &Session, table: &Arc<Table>, name: &RangeVar) -> SqlResult<()> {
    let child = names::open(session, name, LockMode::AccessExclusive)?;
    let xmin = session.next_snapshot().xmin();
    wait_for_older_snapshots(session, xmin, None)?;
    check_pending(session, table, &child)?;
    finish(session, table, &child)
}

fn check_pending(session: &Session, table: &Table, child: &Table) -> SqlResult<()> {
    check_partition(child, table)?;
    if is_pending(session, child)? {
        return Ok(());
    }
    Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cannot complete detaching partition \"{}\"", child.name)
        .detail("There's no pending concurrent detach."))
}

/// Makes the partition a table of its own; no transaction reads it through its parent any more.
fn finish(session: &Session, table: &Arc<Table>, child: &Arc<Table>) -> SqlResult<()> {
    partition_index::release_indexes(session, child)?;
    trigger::take_from_partition(session, child)?;
    foreign_key_parts::take_from_partition(session, child)?;
    inherit::release(session, child, table)?;
    session.with_changer(|changer| {
        changer.set_bound(child.oid, None)?;
        match default_of(table) {
            Some(default) if default == child.oid => changer.set_default_partition(table.oid, Oid::INVALID),
            _ => Ok(()),
        }
    })
}
