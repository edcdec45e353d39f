//! # What
//! Indexes of partitioned tables. Each has a part in every partition: a new index, or a matching one that the partition already has.
//!
//! # Invariants
//! 1. A partitioned index has no entries; it is valid when every partition has a valid part.
//!
//! # PostgreSQL counterpart
//! `DefineIndex` of `commands/indexcmds.c`, `ATExecAttachPartitionIdx` of `commands/tablecmds.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::{NewColumn, NewConstraint, NewIndex, Origin};
use catalog::partition::Partitioning;
use catalog::system::{pg_class, pg_constraint};
use catalog::{CatalogView, Changer, Index, RelationKind, RowExt, Table};
use parse::ast::RangeVar;
use session::Session;
use session::progress::Lengthy;
use tuple::Datum;
use txn::LockMode;

use super::{constraint, index, index_build, inherit, names, object_name, tablespace};

/// Gives each partition a part of a new index of a partitioned table.
pub(super) fn spread(session: &Session, table: &Table, oid: Oid) -> SqlResult<()> {
    let table = names::describe(session, table.oid)?;
    let found = table.indexes.iter().find(|i| i.oid == oid).cloned();
    let found = found.ok_or_else(|| SqlError::internal(format!("index {oid} not found")))?;
    let progress = session.progress(Lengthy::CreateIndex, table.oid);
    if progress.relation == table.oid {
        progress.set(index_build::PARTITIONS, table.children.len() as i64);
    }
    for &child in &table.children {
        if let Some(child) = inherit::open_child(session, child, LockMode::AccessExclusive)? {
            give_index(session, &table, &found, &child)?;
        }
        if progress.relation == table.oid {
            progress.add(index_build::PARTITIONS_DONE, 1);
        }
    }
    Ok(())
}

/// The parts of a partitioned index that have entries, each with its partition; those of partitions below partitions too.
pub(super) fn parts(session: &Session, table: &Table, index: Oid) -> SqlResult<Vec<(Oid, Oid)>> {
    let mut known = vec![index];
    let mut found = Vec::new();
    for child in inherit::descendants(session, table, LockMode::AccessShare)? {
        let Some(part) = child.indexes.iter().find(|part| known.contains(&part.parent)) else { continue };
        match child.kind {
            RelationKind::PartitionedTable => known.push(part.oid),
            _ => found.push((child.oid, part.oid)),
        }
    }
    Ok(found)
}

/// Gives a new partition a part of each index of its table.
pub(super) fn give_indexes(session: &Session, table: &Table, child: &Arc<Table>) -> SqlResult<()> {
    if child.kind == RelationKind::ForeignTable && table.indexes.iter().any(|index| index.unique) {
        return Err(sql_err!(
            WRONG_OBJECT_TYPE,
            "cannot attach foreign table \"{}\" as partition of partitioned table \"{}\"",
            child.name,
            table.name
        )
        .detail(format!("Partitioned table \"{}\" contains unique indexes.", table.name)));
    }
    for found in &table.indexes {
        give_index(session, table, found, &names::describe(session, child.oid)?)?;
    }
    Ok(())
}

fn give_index(session: &Session, table: &Table, found: &Index, child: &Arc<Table>) -> SqlResult<()> {
    if child.kind == RelationKind::ForeignTable {
        return match found.unique {
            true => Err(sql_err!(
                WRONG_OBJECT_TYPE,
                "cannot create unique index on partitioned table \"{}\"",
                table.name
            )
            .detail(format!("Table \"{}\" contains partitions that are foreign tables.", table.name))),
            false => Ok(()),
        };
    }
    let new = definition(session, table, found, child)?;
    // Whether rows exclude each other as those of another index is not looked at, as in PostgreSQL.
    let free = child.indexes.iter().filter(|own| !own.parent.is_valid() && found.excluders.is_empty());
    for own in free {
        let constraint = found.constraint.is_valid();
        let same = same_as(&new, own) && own.valid && (!constraint || own.constraint.is_valid());
        if same && own.primary == found.primary {
            return attach_part(session, found, own);
        }
    }
    if found.primary && child.indexes.iter().any(|own| own.primary) {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "multiple primary keys for table \"{}\" are not allowed",
            child.name
        ));
    }
    let made = make_part(session, found, child, new)?;
    let child = names::describe(session, child.oid)?;
    match child.kind {
        RelationKind::PartitionedTable => spread(session, &child, made),
        _ => index_build::build(session, &child, made, index_build::Rows::All),
    }
}

/// What the part of an index looks like in a partition; its name is still to be chosen.
fn definition(session: &Session, table: &Table, found: &Index, child: &Arc<Table>) -> SqlResult<NewIndex> {
    let own_number = |number: i16| match number {
        0 => Ok(0),
        n => {
            let name = &table.columns[n as usize - 1].name;
            let own = child.column(name).map(|(n, _)| n);
            own.ok_or_else(|| SqlError::internal(format!("column \"{name}\" of a partition not found")))
        }
    };
    let number = |name: &str| child.column(name).map(|(n, _)| n);
    let translated = |text: &Arc<str>, new: &mut NewIndex| -> SqlResult<String> {
        let expr = inherit::translate(session, text, table, &number, "Index")?;
        let stored = super::expression::stored(session, &expr);
        new.used.extend(stored.used);
        new.needs.extend(stored.needs);
        Ok(stored.text)
    };
    let relation = names::describe(session, found.oid)?;
    let mut new = index::blank(child, String::new());
    new.method = found.access_method;
    new.immediate = found.immediate;
    new.keys = found.keys.len();
    for &key in found.keys.iter().chain(&found.including) {
        new.numbers.push(own_number(key)?);
    }
    new.columns = relation.columns.iter().map(NewColumn::like).collect();
    for (column, options) in new.columns.iter_mut().zip(&found.class_options) {
        column.options = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    }
    new.opclasses.clone_from(&found.opclasses);
    new.options.clone_from(&found.options);
    for text in &found.expressions {
        let text = translated(text, &mut new)?;
        new.expressions.push(text);
    }
    if let Some(predicate) = &found.predicate {
        new.predicate = Some(translated(predicate, &mut new)?);
    }
    new.unique = found.unique;
    new.primary = found.primary;
    new.exclusion = !found.excluders.is_empty();
    new.nulls_not_distinct = found.nulls_not_distinct;
    new.for_constraint = found.constraint.is_valid();
    new.parameters = relation.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    new.tablespace = session.with_reader(|reader| reader.tablespace_of(found.oid))?;
    tablespace::keep(session, new.tablespace)?;
    Ok(new)
}

fn same_as(new: &NewIndex, own: &Index) -> bool {
    let numbers: Vec<i16> = own.keys.iter().chain(&own.including).copied().collect();
    let texts = |list: &[Arc<str>]| list.iter().map(|t| t.to_string()).collect::<Vec<_>>();
    let collations: Vec<Oid> = new.columns[..new.keys].iter().map(|c| c.collation).collect();
    new.keys == own.keys.len()
        && new.numbers == numbers
        && new.opclasses == own.opclasses
        && new.options == own.options
        && collations == own.collations
        && new.expressions == texts(&own.expressions)
        && new.predicate.as_deref() == own.predicate.as_deref()
        && new.unique == own.unique
        && !new.exclusion
        && own.excluders.is_empty()
        && new.nulls_not_distinct == own.nulls_not_distinct
}

/// Makes the part, with its constraint if the whole has one. Returns its OID.
fn make_part(session: &Session, found: &Index, child: &Arc<Table>, mut new: NewIndex) -> SqlResult<Oid> {
    let with_constraint = found.constraint.is_valid();
    let excluders: Vec<Oid> = found.excluders.iter().map(|excluder| excluder.operator).collect();
    if new.exclusion {
        let what = match (new.primary, new.unique) {
            (true, _) => "PRIMARY KEY",
            (false, true) => "UNIQUE",
            (false, false) => "EXCLUDE",
        };
        check_excluders(session, child, (&new, &excluders), what)?;
    } else if new.unique {
        check_unique(child, &new.numbers[..new.keys], new.primary)?;
    }
    let columns: Vec<String> = new.columns.iter().map(|c| c.name.clone()).collect();
    let part = object_name::columns_part(&columns);
    let words = match (found.primary, with_constraint) {
        (true, _) => (child.name.as_str(), None, "pkey"),
        (false, true) if !found.unique => (child.name.as_str(), Some(part.as_str()), "excl"),
        (false, true) => (child.name.as_str(), Some(part.as_str()), "key"),
        (false, false) => (child.name.as_str(), Some(part.as_str()), "idx"),
    };
    new.name = object_name::free_relation(session, child.schema, words, with_constraint)?;
    let name = new.name.clone();
    session.with_changer(|changer| {
        let made = changer.create_index(&new)?;
        changer.add_parent(made, found.oid, true)?;
        changer.edit_relation(made, |row| row[pg_class::RELISPARTITION] = Datum::Bool(true))?;
        if with_constraint {
            let new = NewConstraint {
                kind: match (found.primary, found.unique) {
                    (true, _) => b'p',
                    (false, true) => b'u',
                    (false, false) => b'x',
                },
                excluders,
                period: found.without_overlaps,
                deferrable: !found.immediate,
                deferred: deferred_constraint(changer, found.constraint)?,
                columns: new.numbers[..new.keys].to_vec(),
                including: new.numbers[new.keys..].to_vec(),
                index: made,
                origin: Origin { local: false, inherited: 1 },
                parent: found.constraint,
                ..constraint::blank(child, name)
            };
            constraint::add_key(changer, &new)?;
        }
        Ok::<_, SqlError>(made)
    })
}

/// INITIALLY DEFERRED.
fn deferred_constraint(changer: &Changer<'_>, oid: Oid) -> SqlResult<bool> {
    use pg_constraint as c;
    let row = changer.reader().find_one(&c::TABLE, c::PG_CONSTRAINT_OID_INDEX, &[oid.into()])?;
    Ok(row.is_some_and(|(_, row)| row.bool(c::CONDEFERRED)))
}

/// Makes an index of a partition a part of one of its table.
fn attach_part(session: &Session, found: &Index, own: &Index) -> SqlResult<()> {
    session.with_changer(|changer| {
        changer.add_parent(own.oid, found.oid, true)?;
        changer.edit_relation(own.oid, |row| row[pg_class::RELISPARTITION] = Datum::Bool(true))?;
        if found.constraint.is_valid() && own.constraint.is_valid() {
            changer.set_parent_constraint(own.constraint, Some(found.constraint))?;
        }
        Ok(())
    })
}

/// The indexes of a table that is no partition any more are its own.
pub(super) fn release_indexes(session: &Session, child: &Table) -> SqlResult<()> {
    for own in child.indexes.iter().filter(|own| own.parent.is_valid()) {
        session.with_changer(|changer| {
            changer.remove_parent(own.oid, own.parent)?;
            changer.edit_relation(own.oid, |row| row[pg_class::RELISPARTITION] = Datum::Bool(false))?;
            if own.constraint.is_valid() {
                changer.set_parent_constraint(own.constraint, None)?;
            }
            Ok::<_, SqlError>(())
        })?;
    }
    Ok(())
}

/// ALTER INDEX ... ATTACH PARTITION.
pub(super) fn attach(session: &Session, whole: &Arc<Table>, part: &RangeVar) -> SqlResult<()> {
    let own = names::open(session, part, LockMode::AccessExclusive)?;
    if !matches!(own.kind, RelationKind::Index | RelationKind::PartitionedIndex) {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", own.name));
    }
    let (table, found) = session.index_and_table(whole.oid)?;
    let (child, own) = session.index_and_table(own.oid)?;
    if own.parent == found.oid {
        return Ok(());
    }
    let cannot = |detail: String| {
        Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot attach index \"{}\" as a partition of index \"{}\"",
            own.name,
            found.name
        )
        .detail(detail))
    };
    if own.parent.is_valid() {
        return cannot(format!("Index \"{}\" is already attached to another index.", own.name));
    }
    if child.partition_of != table.oid {
        return cannot(format!(
            "Index \"{}\" is not an index on any partition of table \"{}\".",
            own.name, table.name
        ));
    }
    if child.indexes.iter().any(|i| i.parent == found.oid) {
        return cannot(format!("Another index is already attached for partition \"{}\".", child.name));
    }
    if !same_as(&definition(session, &table, &found, &child)?, &own) {
        return cannot("The index definitions do not match.".into());
    }
    if found.constraint.is_valid() && !own.constraint.is_valid() {
        return cannot(format!(
            "The index \"{}\" belongs to a constraint in table \"{}\" but no constraint exists for index \"{}\".",
            found.name, table.name, own.name
        ));
    }
    attach_part(session, &found, &own)?;
    validate(session, &table, found.oid)
}

/// A partitioned index is valid once every partition has its valid part; then that which it is a part of may be valid too.
fn validate(session: &Session, table: &Table, oid: Oid) -> SqlResult<()> {
    for &child in &table.children {
        let child = names::describe(session, child)?;
        if !child.indexes.iter().any(|i| i.parent == oid && i.valid) {
            return Ok(());
        }
    }
    session.with_changer(|changer| changer.set_index_state(oid, true, true))?;
    let (_, own) = session.index_and_table(oid)?;
    if !own.parent.is_valid() {
        return Ok(());
    }
    let (above, whole) = session.index_and_table(own.parent)?;
    if whole.valid { Ok(()) } else { validate(session, &above, whole.oid) }
}

/// Unique keys of a partitioned table have all columns of its partition key.
pub(super) fn check_unique(table: &Table, keys: &[i16], primary: bool) -> SqlResult<()> {
    let Some(of) = &table.partitioning else { return Ok(()) };
    let what = if primary { "PRIMARY KEY" } else { "UNIQUE" };
    check_no_expressions(of, what)?;
    match of.keys.iter().find(|key| !keys.contains(key)) {
        Some(missing) => Err(lacks(table, *missing, what)),
        None => Ok(()),
    }
}

/// Rows of a partitioned table that exclude each other lie in one partition: the constraint compares all columns of the partition key, by the equality
/// that partitions go by.
pub(super) fn check_excluders(
    session: &Session,
    table: &Table,
    (new, excluders): (&NewIndex, &[Oid]),
    what: &str,
) -> SqlResult<()> {
    let Some(of) = &table.partitioning else { return Ok(()) };
    check_no_expressions(of, what)?;
    let families = session.operator_families()?;
    for (at, &key) in of.keys.iter().enumerate() {
        let class = of.opclasses.get(at).and_then(|class| families.class(*class));
        let equal = class.and_then(|class| {
            let number = engine::indexes::method(class.method).and_then(|method| method.equality);
            // Hash partitions go by classes of `hash`, whose only strategy is equality.
            let number = number.map_or(1, |number| number as i16);
            families.operator(class.family, (class.input, class.input), number)
        });
        let same =
            |&i: &usize| new.numbers[i] == key && of.collations.get(at) == Some(&new.columns[i].collation);
        let Some(found) = (0..new.keys).find(same) else { return Err(lacks(table, key, what)) };
        if Some(excluders[found]) != equal {
            let operator = session.operator_signature(excluders[found])?.unwrap_or_default();
            let name = operator.split('(').next().unwrap_or_default();
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot match partition key to index on column \"{}\" using non-equal operator \"{name}\"",
                table.columns[key as usize - 1].name
            ));
        }
    }
    Ok(())
}

fn check_no_expressions(of: &Partitioning, what: &str) -> SqlResult<()> {
    if !of.keys.contains(&0) {
        return Ok(());
    }
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "unsupported {what} constraint with partition key definition")
        .detail(format!("{what} constraints cannot be used when partition keys include expressions.")))
}

fn lacks(table: &Table, missing: i16, what: &str) -> SqlError {
    let column = &table.columns[missing as usize - 1].name;
    sql_err!(
        FEATURE_NOT_SUPPORTED,
        "unique constraint on partitioned table must include all partitioning columns"
    )
    .detail(format!(
        "{what} constraint on table \"{}\" lacks column \"{column}\" which is part of the partition key.",
        table.name
    ))
}
