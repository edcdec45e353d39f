//! ALTER TABLE ... REPLICA IDENTITY: which columns tell a row to a subscriber. UPDATE and DELETE of published rows ask for it (`plan::published`).
//!
//! # PostgreSQL counterpart
//! `ATExecReplicaIdentity` of `commands/tablecmds.c`.

use base::{Oid, SqlResult, sql_err};
use catalog::system::pg_class;
use catalog::{Index, Table};
use session::Session;
use tuple::Datum;

/// `d`: the primary key, `f`: the whole row, `n`: nothing, `i`: the columns of an index.
pub(super) fn set(session: &Session, table: &Table, letter: char, index: Option<&str>) -> SqlResult<()> {
    let chosen = match index {
        Some(name) => usable(session, table, name)?,
        None => Oid::INVALID,
    };
    session.with_changer(|changer| {
        changer.edit_relation(table.oid, |row| row[pg_class::RELREPLIDENT] = Datum::Char(letter as u8))?;
        let mut indexes = table.indexes.iter();
        indexes.try_for_each(|index| changer.set_replica_identity(index.oid, index.oid == chosen))
    })
}

fn usable(session: &Session, table: &Table, name: &str) -> SqlResult<Oid> {
    let oid = session.with_reader(|reader| reader.relation_oid(table.schema, name))?;
    let oid = oid.ok_or_else(|| {
        sql_err!(UNDEFINED_OBJECT, "index \"{name}\" for table \"{}\" does not exist", table.name)
    })?;
    let index = table.indexes.iter().find(|index| index.oid == oid).ok_or_else(|| {
        sql_err!(WRONG_OBJECT_TYPE, "\"{name}\" is not an index for table \"{}\"", table.name)
    })?;
    check(table, index, name)?;
    Ok(oid)
}

/// The index tells rows apart, and by columns that are never NULL.
fn check(table: &Table, index: &Index, name: &str) -> SqlResult<()> {
    let wrong = |what: &str| {
        Err(sql_err!(WRONG_OBJECT_TYPE, "cannot use {what} index \"{name}\" as replica identity"))
    };
    if !index.unique {
        return wrong("non-unique");
    }
    if !index.immediate {
        return wrong("non-immediate");
    }
    if !index.expressions.is_empty() {
        return wrong("expression");
    }
    if index.predicate.is_some() {
        return wrong("partial");
    }
    for &key in &index.keys {
        let column = &table.columns[(key - 1).max(0) as usize];
        if !column.not_null {
            return Err(sql_err!(
                WRONG_OBJECT_TYPE,
                "index \"{name}\" cannot be used as replica identity because column \"{}\" is nullable",
                column.name
            ));
        }
    }
    Ok(())
}
