//! # What
//! CLUSTER, and which index a table is clustered by (ALTER TABLE … CLUSTER ON).
//!
//! # Locks
//! ACCESS EXCLUSIVE on every table; SHARE UPDATE EXCLUSIVE where only the index is noted.
//!
//! # PostgreSQL counterpart and differences
//! `commands/cluster.c`. Rows are always sorted, never read through the index.

use std::sync::Arc;

use base::{Oid, SqlResult, sql_err};
use catalog::system::pg_index;
use catalog::{Index, RelationKind, RowExt, Table};
use parse::ast::{DefElem, RangeVar};
use session::Session;
use session::output::Output;
use session::progress::Lengthy;
use txn::{LockMode, LockWait};

use super::names::{self, at};
use super::{analyze, options, partition_index, rewrite};

/// CLUSTER.
pub(crate) fn run(
    session: &Session,
    relation: Option<&RangeVar>,
    index: Option<&str>,
    list: &[DefElem],
    text: &str,
    out: &mut dyn Output,
) -> SqlResult<()> {
    let mut verbose = false;
    for option in list {
        match option.name.as_str() {
            "verbose" => verbose = options::boolean(option)?,
            other => {
                let error = sql_err!(SYNTAX_ERROR, "unrecognized CLUSTER option \"{other}\"");
                return Err(at(error, text, option.location));
            }
        }
    }
    match relation {
        Some(name) => one(session, name, index, verbose),
        None => all(session, verbose, out),
    }
}

/// A table that is named; the partitions of a partitioned one, each in a transaction of its own.
fn one(session: &Session, name: &RangeVar, index: Option<&str>, verbose: bool) -> SqlResult<()> {
    let table = names::open(session, name, LockMode::AccessExclusive)?;
    if !matches!(
        table.kind,
        RelationKind::Table | RelationKind::MaterializedView | RelationKind::PartitionedTable
    ) {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a table or materialized view", table.name));
    }
    names::check_right(session, &table, "m")?;
    let oid = match index {
        Some(index) => named(session, &table, index)?,
        None => noted(session, &table)?.ok_or_else(|| {
            sql_err!(UNDEFINED_OBJECT, "there is no previously clustered index for table \"{}\"", table.name)
        })?,
    };
    if catalog::system::is_shared_relation(table.oid) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot cluster a shared catalog"));
    }
    let found = clusterable(&table, (oid, index))?;
    if table.kind != RelationKind::PartitionedTable {
        return cluster(session, &table, found, verbose);
    }
    session.prevent_in_block("CLUSTER")?;
    let mut parts = Vec::new();
    for (partition, part) in partition_index::parts(session, &table, oid)? {
        // Before the lock is waited for: what one may not cluster is nothing to wait for.
        let found = session.with_reader(|r| catalog::CatalogView::relation_by_oid(r, partition))?;
        if let Some(found) = found
            && analyze::may(session, &found, "cluster")?
        {
            parts.push((partition, part));
        }
    }
    for (partition, part) in parts {
        session.next_transaction()?;
        let Some(table) = open(session, partition)? else { continue };
        if let Some(index) = table.indexes.iter().find(|index| index.oid == part)
            && analyze::may(session, &table, "cluster")?
        {
            cluster(session, &table, index, verbose)?;
        }
    }
    Ok(())
}

/// Every table that was clustered before, each in a transaction of its own.
fn all(session: &Session, verbose: bool, out: &mut dyn Output) -> SqlResult<()> {
    session.prevent_in_block("CLUSTER")?;
    let rows = session.with_reader(|reader| reader.scan(&pg_index::TABLE))?;
    let clustered = rows.iter().filter(|(_, row)| row.bool(pg_index::INDISCLUSTERED));
    let tables: Vec<Oid> = clustered.map(|(_, row)| row.oid(pg_index::INDRELID)).collect();
    for oid in tables {
        session.next_transaction()?;
        let Some(table) = open(session, oid)? else { continue };
        if !analyze::may(session, &table, "cluster")? {
            continue;
        }
        if let Some(index) = noted(session, &table)? {
            cluster(session, &table, clusterable(&table, (index, None))?, verbose)?;
        }
        session.send_notices(out);
    }
    Ok(())
}

/// A table by its OID, locked, if it is still there. Temporary tables of others are theirs.
fn open(session: &Session, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
    names::lock_relation(session, oid, LockMode::AccessExclusive, LockWait::Block)?;
    let table = session.with_reader(|reader| catalog::CatalogView::relation_by_oid(reader, oid))?;
    Ok(table.filter(|t| t.persistence != 't' || session.names.temporary_schema() == Some(t.schema)))
}

fn cluster(session: &Session, table: &Table, index: &Index, verbose: bool) -> SqlResult<()> {
    if table.persistence == 't' && session.names.temporary_schema() != Some(table.schema) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot cluster temporary tables of other sessions"));
    }
    note(session, table, Some(index.oid))?;
    let table = names::describe(session, table.oid)?;
    let progress = session.progress(Lengthy::Cluster, table.oid);
    progress.set(rewrite::COMMAND, rewrite::CLUSTER);
    progress.set(rewrite::ORDER, i64::from(index.oid.0));
    rewrite::table(session, &table, Some(index), verbose.then_some("clustering"))
}

fn note(session: &Session, table: &Table, index: Option<Oid>) -> SqlResult<()> {
    if noted(session, table)? == index {
        return Ok(());
    }
    session.with_changer(|changer| changer.set_clustered(table.oid, index))
}

/// The index that a table was clustered by.
fn noted(session: &Session, table: &Table) -> SqlResult<Option<Oid>> {
    let by_table = pg_index::PG_INDEX_INDRELID_INDEX;
    let rows = session.with_reader(|r| r.find(&pg_index::TABLE, by_table, &[table.oid.into()]))?;
    let found = rows.iter().find(|(_, row)| row.bool(pg_index::INDISCLUSTERED));
    Ok(found.map(|(_, row)| row.oid(pg_index::INDEXRELID)))
}

fn named(session: &Session, table: &Table, index: &str) -> SqlResult<Oid> {
    let found = session.with_reader(|reader| reader.relation_oid(table.schema, index))?;
    found.ok_or_else(|| {
        sql_err!(UNDEFINED_OBJECT, "index \"{index}\" for table \"{}\" does not exist", table.name)
    })
}

/// The index of the table, if rows can be put in its order.
fn clusterable<'t>(table: &'t Table, (oid, name): (Oid, Option<&str>)) -> SqlResult<&'t Index> {
    let Some(index) = table.indexes.iter().find(|index| index.oid == oid) else {
        let name = name.unwrap_or_default();
        return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{name}\" is not an index for table \"{}\"", table.name));
    };
    if index.predicate.is_some() {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot cluster on partial index \"{}\"", index.name));
    }
    if !index.valid {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot cluster on invalid index \"{}\"", index.name));
    }
    Ok(index)
}

/// ALTER TABLE … CLUSTER ON, SET WITHOUT CLUSTER.
pub(super) fn alter(session: &Session, table: &Table, index: Option<&str>) -> SqlResult<()> {
    let chosen = match index {
        Some(name) => {
            let oid = named(session, table, name)?;
            Some(clusterable(table, (oid, Some(name)))?.oid)
        }
        None => None,
    };
    if table.kind == RelationKind::PartitionedTable {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot mark index clustered in partitioned table"));
    }
    note(session, table, chosen)
}
