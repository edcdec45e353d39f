//! # What
//! Foreign keys in the catalogs: the constraint, its triggers on both sides, and its parts if a side is partitioned.
//!
//! # Layout
//! * Each partition of the referencing table has a part: a constraint that refers to the same table, with triggers that check new rows.
//! * For each partition of the referenced table there is a part as well: a constraint of the referencing table, with triggers that carry
//!   out the actions.
//! * A part for one side has no further parts for the other.
//!
//! # Invariants
//! 1. A constraint that is NOT ENFORCED has no triggers, and neither have its parts.
//! 2. The triggers of a part are children of those of the whole constraint.
//!
//! # Locks
//! SHARE ROW EXCLUSIVE on partitions of both sides, until the end of the transaction.
//!
//! # PostgreSQL counterpart
//! `addFkRecurseReferenced`, `addFkRecurseReferencing` and related functions of `commands/tablecmds.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use catalog::change::{Behavior, NewConstraint, NewTrigger, ObjectAddress, Origin};
use catalog::foreign_key::{ForeignKey, ForeignKeyInfo};
use catalog::system::pg_constraint;
use catalog::{RelationKind, Table, Trigger, TriggerKind};
use eval::trigger::function;
use session::Session;
use session::firing::foreign_key as queries;
use txn::{LockMode, LockWait};

use super::foreign_key::{check_rows, info};
use super::internal::Internal;
use super::{constraint, inherit, names, object_name};

/// The two triggers of one side; none where there are none.
type Pair = Option<[Oid; 2]>;

const PARTITION_LOCK: LockMode = LockMode::ShareRowExclusive;

/// A side of a foreign key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// The table that is referred to, where triggers carry out actions.
    Referenced,
    /// The table that refers, where triggers check rows.
    Referencing,
}

/// Enters a foreign key of `table` to `other` with all that belongs to it, and looks at the rows that are there.
pub(super) fn enter(
    session: &Session,
    table: &Arc<Table>,
    other: &Arc<Table>,
    new: &NewConstraint,
) -> SqlResult<()> {
    let constraint = session.with_changer(|changer| changer.add_constraint(new))?;
    refer_to(session, (constraint, new, &new.name), other, None)?;
    refer_from(session, (constraint, new), table, None)
}

/// Makes the triggers on a table that is referred to, and the parts for its partitions. `name`: what the parts are called after.
fn refer_to(
    session: &Session,
    (constraint, new, name): (Oid, &NewConstraint, &str),
    other: &Arc<Table>,
    parents: Pair,
) -> SqlResult<()> {
    let triggers = make_triggers(session, (constraint, new), Side::Referenced, parents)?;
    if other.kind != RelationKind::PartitionedTable {
        return Ok(());
    }
    for &oid in &other.children {
        if let Some(child) = inherit::open_child(session, oid, PARTITION_LOCK)? {
            referenced_part(session, (constraint, new, name), (other, &child), triggers)?;
        }
    }
    Ok(())
}

/// Makes the part for a partition of the table that is referred to.
fn referenced_part(
    session: &Session,
    (constraint, new, name): (Oid, &NewConstraint, &str),
    (other, child): (&Table, &Arc<Table>),
    triggers: Pair,
) -> SqlResult<()> {
    let Some(foreign) = &new.foreign else { return Ok(()) };
    let index = child.indexes.iter().find(|index| index.parent == new.index);
    let index = index.ok_or_else(|| SqlError::internal("a partition lacks a part of a key's index"))?;
    let part = NewConstraint {
        name: numbered_name(session, new.schema, name)?,
        index: index.oid,
        parent: constraint,
        no_inherit: false,
        origin: Origin { local: false, inherited: 1 },
        foreign: Some(ForeignKey {
            table: child.oid,
            columns: mapped(other, child, &foreign.columns)?,
            ..foreign.clone()
        }),
        ..new.clone()
    };
    let oid = session.with_changer(|changer| changer.add_constraint(&part))?;
    refer_to(session, (oid, &part, name), child, triggers)
}

/// `name_1`, or the next one that no constraint of the schema has.
fn numbered_name(session: &Session, schema: Oid, name: &str) -> SqlResult<String> {
    let mut number = 1;
    loop {
        let numbered = object_name::make(name, None, &number.to_string());
        if !session.with_reader(|reader| reader.constraint_name_taken(schema, &numbered))? {
            return Ok(numbered);
        }
        number += 1;
    }
}

/// Makes the triggers on a referencing table, and the parts for its partitions; checks the rows of tables that have some.
fn refer_from(
    session: &Session,
    (constraint, new): (Oid, &NewConstraint),
    table: &Arc<Table>,
    parents: Pair,
) -> SqlResult<()> {
    let triggers = make_triggers(session, (constraint, new), Side::Referencing, parents)?;
    if table.kind != RelationKind::PartitionedTable {
        return if new.validated { check_rows(session, constraint) } else { Ok(()) };
    }
    for &oid in &table.children {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        if let Some(child) = inherit::open_child(session, oid, PARTITION_LOCK)? {
            referencing_part(session, (constraint, new), (table, &child), triggers)?;
        }
    }
    Ok(())
}

/// Gives a partition that refers its part: a foreign key of its own that says the same, or a new one.
fn referencing_part(
    session: &Session,
    (constraint, new): (Oid, &NewConstraint),
    (table, child): (&Table, &Arc<Table>),
    triggers: Pair,
) -> SqlResult<()> {
    let Some(foreign) = &new.foreign else { return Ok(()) };
    let columns = mapped(table, child, &new.columns)?;
    let foreign =
        ForeignKey { delete_columns: mapped(table, child, &foreign.delete_columns)?, ..foreign.clone() };
    let own = session.with_reader(|reader| reader.foreign_keys_of(child.oid))?;
    let same = |key: &&ForeignKeyInfo| {
        !key.parent.is_valid()
            && key.columns == columns
            && key.foreign == foreign
            && (key.enforced, key.deferrable, key.deferred) == (new.enforced, new.deferrable, new.deferred)
    };
    if let Some(found) = own.iter().find(same) {
        return adopt(session, found, (constraint, new), triggers);
    }
    let part = NewConstraint {
        name: part_name(session, child, &new.name)?,
        schema: child.schema,
        table: child.oid,
        columns,
        parent: constraint,
        no_inherit: false,
        origin: Origin { local: false, inherited: 1 },
        foreign: Some(foreign),
        ..new.clone()
    };
    let oid = session.with_changer(|changer| changer.add_constraint(&part))?;
    refer_from(session, (oid, &part), child, triggers)
}

/// The name of the whole, numbered if the partition has another constraint of that name.
fn part_name(session: &Session, child: &Table, name: &str) -> SqlResult<String> {
    match session.with_reader(|reader| reader.has_constraint(child.oid, name))? {
        true => numbered_name(session, child.schema, name),
        false => Ok(name.to_owned()),
    }
}

/// Makes a partition's own foreign key a part: the actions are the whole's business from now on.
fn adopt(
    session: &Session,
    found: &ForeignKeyInfo,
    (constraint, new): (Oid, &NewConstraint),
    triggers: Pair,
) -> SqlResult<()> {
    session.with_changer(|changer| changer.set_parent_constraint(found.oid, Some(constraint)))?;
    let actions = |trigger: &Trigger| !function::is_check(trigger.function);
    drop_triggers(session, found.oid, actions)?;
    for part in session.with_reader(|reader| reader.foreign_key_parts(found.oid))? {
        if part.table == found.table {
            drop_part(session, part.oid)?;
        }
    }
    let own = session.with_reader(|reader| reader.constraint_triggers(found.oid))?;
    if let (Some(own), Some(parents)) = (pair(&own, Side::Referencing), triggers) {
        for (own, parent) in own.into_iter().zip(parents) {
            session.with_changer(|changer| changer.set_parent_trigger(own, Some(parent)))?;
        }
    }
    if new.validated && !found.validated {
        super::foreign_key::validate(session, found.oid)?;
    }
    Ok(())
}

/// Gives a table that has become a partition its parts of the foreign keys of its table, and of those to it.
pub(super) fn give_to_partition(session: &Session, parent: &Arc<Table>, child: &Arc<Table>) -> SqlResult<()> {
    for key in session.with_reader(|reader| reader.foreign_keys_of(parent.oid))? {
        if key.parent.is_valid() && info(session, key.parent)?.table == key.table {
            continue;
        }
        let triggers = session.with_reader(|reader| reader.constraint_triggers(key.oid))?;
        let new = as_new(&key, parent);
        referencing_part(session, (key.oid, &new), (parent, child), pair(&triggers, Side::Referencing))?;
    }
    let to = session.with_reader(|reader| reader.foreign_keys_to(parent.oid))?;
    for key in &to {
        let whole = match key.parent.is_valid() {
            true => Some(info(session, key.parent)?),
            false => None,
        };
        if whole.is_some_and(|whole| whole.table != key.table) {
            continue;
        }
        let table = match inherit::open_child(session, key.table, PARTITION_LOCK)? {
            Some(table) => table,
            None => continue,
        };
        let triggers = session.with_reader(|reader| reader.constraint_triggers(key.oid))?;
        let new = as_new(key, &table);
        let triggers = pair(&triggers, Side::Referenced);
        referenced_part(session, (key.oid, &new, &key.name), (parent, child), triggers)?;
    }
    Ok(())
}

/// Fails if a row refers to one of a partition that is about to go. Until the end of the transaction none can come to do so.
pub(super) fn check_no_references(session: &Session, child: &Arc<Table>) -> SqlResult<()> {
    for key in references_as_part(session, child)? {
        names::lock_relation(session, key.table, LockMode::Share, LockWait::Block)?;
        check_unreferenced(session, &key, child)?;
    }
    Ok(())
}

/// The foreign keys to a partition that it has as part of its table.
fn references_as_part(session: &Session, child: &Table) -> SqlResult<Vec<ForeignKeyInfo>> {
    let mut parts = Vec::new();
    for key in session.with_reader(|reader| reader.foreign_keys_to(child.oid))? {
        if key.parent.is_valid() && info(session, key.parent)?.table == key.table {
            parts.push(key);
        }
    }
    Ok(parts)
}

/// Takes away what [`give_to_partition`] gave: foreign keys of the partition stand alone. No row refers to it ([`check_no_references`]).
pub(super) fn take_from_partition(session: &Session, child: &Arc<Table>) -> SqlResult<()> {
    for key in session.with_reader(|reader| reader.foreign_keys_of(child.oid))? {
        if !key.parent.is_valid() || info(session, key.parent)?.table == child.oid {
            continue;
        }
        let triggers = session.with_reader(|reader| reader.constraint_triggers(key.oid))?;
        session.with_changer(|changer| {
            changer.set_parent_constraint(key.oid, None)?;
            triggers.iter().try_for_each(|trigger| changer.set_parent_trigger(trigger.oid, None))
        })?;
        let Some(other) = inherit::open_child(session, key.foreign.table, PARTITION_LOCK)? else { continue };
        let new = NewConstraint { parent: Oid::INVALID, ..as_new(&key, child) };
        refer_to(session, (key.oid, &new, &key.name), &other, None)?;
    }
    references_as_part(session, child)?.iter().try_for_each(|key| drop_part(session, key.oid))
}

/// Fails if a row refers to one of a partition that is about to go.
fn check_unreferenced(session: &Session, key: &ForeignKeyInfo, child: &Arc<Table>) -> SqlResult<()> {
    let table = names::describe(session, key.table)?;
    let text = queries::referring(session, &table, child, key)?;
    let mut found = None;
    session.see_changes()?;
    Internal::unsecured(session, &queries::parsed(&text)?, &text, &[])?.run(session, &[], &mut |row| {
        found.get_or_insert_with(|| row.to_vec());
        Ok(())
    })?;
    match found {
        None => Ok(()),
        Some(values) => Err(queries::still_referenced(session, (&table, child), key, &values)?),
    }
}

/// Drops a part for a partition that is referred to.
fn drop_part(session: &Session, constraint: Oid) -> SqlResult<()> {
    session.with_changer(|changer| {
        for trigger in changer.reader().constraint_triggers(constraint)? {
            changer.release_trigger(trigger.oid)?;
        }
        let object = ObjectAddress::constraint(constraint);
        changer.release_part(object)?;
        changer.drop_objects(&[object], Behavior::Cascade).map(drop)
    })
}

/// Drops triggers of a constraint.
fn drop_triggers(session: &Session, constraint: Oid, which: impl Fn(&Trigger) -> bool) -> SqlResult<()> {
    let triggers = session.with_reader(|reader| reader.constraint_triggers(constraint))?;
    session.with_changer(|changer| {
        for trigger in triggers.iter().filter(|trigger| which(trigger)) {
            let object = ObjectAddress::trigger(trigger.oid);
            changer.release_part(object)?;
            changer.drop_objects(&[object], Behavior::Cascade)?;
        }
        Ok(())
    })
}

/// A foreign key and its parts, each behind the one that it is a part of.
pub(super) fn family(session: &Session, constraint: Oid) -> SqlResult<Vec<ForeignKeyInfo>> {
    let mut found = vec![info(session, constraint)?];
    let mut at = 0;
    while let Some(key) = found.get(at) {
        let parts = session.with_reader(|reader| reader.foreign_key_parts(key.oid))?;
        found.extend(parts);
        at += 1;
    }
    Ok(found)
}

/// Makes the triggers of a constraint that was NOT ENFORCED so far, and of its parts; all rows are checked.
pub(super) fn enforce(session: &Session, constraint: Oid) -> SqlResult<()> {
    let family = family(session, constraint)?;
    for key in &family {
        session.with_changer(|changer| {
            changer.edit_constraint(key.oid, |row| row[pg_constraint::CONENFORCED] = true.into())
        })?;
        let table = names::describe(session, key.table)?;
        let new = NewConstraint { enforced: true, ..as_new(key, &table) };
        let whole = family.iter().find(|whole| whole.oid == key.parent);
        // A part belongs to one side.
        for side in [Side::Referenced, Side::Referencing] {
            if whole.is_some_and(|whole| (whole.table == key.table) != (side == Side::Referenced)) {
                continue;
            }
            let of_whole = match whole {
                Some(whole) => session.with_reader(|reader| reader.constraint_triggers(whole.oid))?,
                None => Vec::new(),
            };
            make_triggers(session, (key.oid, &new), side, pair(&of_whole, side))?;
        }
    }
    super::foreign_key::validate(session, constraint)
}

/// Drops the triggers of a constraint, which is NOT ENFORCED from now on, and of its parts.
pub(super) fn stop_enforcing(session: &Session, constraint: Oid) -> SqlResult<()> {
    for key in family(session, constraint)?.iter().rev() {
        drop_triggers(session, key.oid, |_| true)?;
        session.with_changer(|changer| {
            changer.edit_constraint(key.oid, |row| {
                row[pg_constraint::CONENFORCED] = false.into();
                row[pg_constraint::CONVALIDATED] = false.into();
            })
        })?;
    }
    Ok(())
}

/// The triggers of one side among those of a constraint.
fn pair(triggers: &[Trigger], side: Side) -> Pair {
    let mut own = triggers.iter().filter(|t| function::is_check(t.function) == (side == Side::Referencing));
    let mut with = |event| own.find(|t| t.kind.has(event)).map(|t| t.oid);
    let first = if side == Side::Referenced { TriggerKind::DELETE } else { TriggerKind::INSERT };
    Some([with(first)?, with(TriggerKind::UPDATE)?])
}

/// A constraint that is there, as one to be made.
fn as_new(key: &ForeignKeyInfo, table: &Table) -> NewConstraint {
    NewConstraint {
        kind: b'f',
        columns: key.columns.clone(),
        index: key.index,
        deferrable: key.deferrable,
        deferred: key.deferred,
        period: key.period,
        enforced: key.enforced,
        validated: key.validated,
        parent: key.parent,
        foreign: Some(key.foreign.clone()),
        ..constraint::blank(table, key.name.clone())
    }
}

/// Columns of a table, as its partition numbers them.
fn mapped(table: &Table, child: &Table, columns: &[i16]) -> SqlResult<Vec<i16>> {
    let number = |number: &i16| {
        let found = child.column(&table.columns[*number as usize - 1].name);
        found.map(|(number, _)| number).ok_or_else(|| SqlError::internal("a partition lacks a column"))
    };
    columns.iter().map(number).collect()
}

/// The triggers of one side, in the order DELETE or INSERT, UPDATE.
fn make_triggers(
    session: &Session,
    (constraint, new): (Oid, &NewConstraint),
    side: Side,
    parents: Pair,
) -> SqlResult<Pair> {
    let (Some(foreign), true) = (&new.foreign, new.enforced) else { return Ok(None) };
    let make = |nth: usize, event: i16, function: Oid, waits: bool| {
        let (table, other, prefix) = match side {
            Side::Referenced => (foreign.table, new.table, "RI_ConstraintTrigger_a"),
            Side::Referencing => (new.table, foreign.table, "RI_ConstraintTrigger_c"),
        };
        let trigger = Trigger {
            name: prefix.to_owned(),
            parent: parents.map_or(Oid::INVALID, |parents| parents[nth]),
            function,
            kind: TriggerKind(TriggerKind::ROW | event),
            enabled: b'O',
            internal: true,
            constraint_relation: other,
            constraint_index: new.index,
            constraint,
            deferrable: new.deferrable && waits,
            deferred: new.deferred && waits,
            ..Trigger::default()
        };
        let new = NewTrigger { table, trigger, needs: Vec::new(), replaces: None };
        session.with_changer(|changer| changer.create_trigger(&new))
    };
    Ok(Some(match side {
        Side::Referenced => [
            make(0, TriggerKind::DELETE, function::on_delete(foreign.on_delete), foreign.on_delete == b'a')?,
            make(1, TriggerKind::UPDATE, function::on_update(foreign.on_update), foreign.on_update == b'a')?,
        ],
        Side::Referencing => [
            make(0, TriggerKind::INSERT, function::CHECK_INSERT, true)?,
            make(1, TriggerKind::UPDATE, function::CHECK_UPDATE, true)?,
        ],
    }))
}
