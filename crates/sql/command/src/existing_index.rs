//! ADD CONSTRAINT ... USING INDEX: an index that is there becomes that of a PRIMARY KEY or UNIQUE constraint. Nothing is built.
//!
//! # PostgreSQL counterpart
//! `transformIndexConstraint` of `parser/parse_utilcmd.c`, `ATExecAddIndexConstraint` of `commands/tablecmds.c`.

use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState, sql_err};
use catalog::change::NewConstraint;
use catalog::{Index, RelationKind, Table};
use session::Session;

use super::constraint::{self, Wanted};
use super::names::at;
use super::{index, names};

/// Columns of the key that the index would be of.
pub(super) fn key_columns<'t>(
    session: &Session,
    table: &'t Table,
    wanted: &Wanted<'_>,
    name: &str,
    text: &str,
) -> SqlResult<Vec<&'t str>> {
    let index = usable(session, table, wanted, name, text)?;
    Ok(index.keys.iter().map(|&key| table.columns[key as usize - 1].name.as_str()).collect())
}

/// Makes the index that of a constraint. It takes the constraint's name, which is its own unless another was given.
pub(super) fn adopt(
    session: &Session,
    table: &Arc<Table>,
    wanted: &Wanted<'_>,
    (name, primary): (&str, bool),
    text: &str,
) -> SqlResult<()> {
    let index = usable(session, table, wanted, name, text)?;
    if table.kind == RelationKind::PartitionedTable {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned tables"
        ));
    }
    if primary {
        constraint::check_only_primary(table)?;
    }
    let chosen = wanted.constraint.name.as_deref().unwrap_or(name);
    if chosen == name {
        constraint::check_constraint_free(session, table, chosen)?;
    } else {
        let message =
            format!("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{name}\" to \"{chosen}\"");
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        constraint::check_free(session, table, chosen)?;
    }
    session.with_changer(|changer| {
        if chosen != name {
            changer.rename_relation(index.oid, chosen)?;
        }
        changer.give_index_to_constraint(index.oid, primary, !wanted.deferrable)?;
        let new = NewConstraint {
            kind: if primary { b'p' } else { b'u' },
            columns: index.keys.clone(),
            including: index.including.clone(),
            index: index.oid,
            deferrable: wanted.deferrable,
            deferred: wanted.deferred,
            no_inherit: true,
            ..constraint::blank(table, chosen.to_owned())
        };
        constraint::add_key(changer, &new)
    })
}

/// The table's index of this name, if it can be that of a constraint.
fn usable<'t>(
    session: &Session,
    table: &'t Table,
    wanted: &Wanted<'_>,
    name: &str,
    text: &str,
) -> SqlResult<&'t Index> {
    let fail = |error: SqlError| Err(at(error, text, wanted.constraint.location));
    let oid = session.with_reader(|reader| reader.relation_oid(table.schema, name))?;
    let Some(oid) = oid else {
        return fail(sql_err!(UNDEFINED_OBJECT, "index \"{name}\" does not exist"));
    };
    let Some(index) = table.indexes.iter().find(|index| index.oid == oid) else {
        return match session.with_reader(|reader| reader.index_row(oid))? {
            Some(_) => fail(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "index \"{name}\" does not belong to table \"{}\"",
                table.name
            )),
            None => Err(sql_err!(WRONG_OBJECT_TYPE, "\"{name}\" is not an index")),
        };
    };
    if index.constraint.is_valid() {
        return fail(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "index \"{name}\" is already associated with a constraint"
        ));
    }
    if !index.valid {
        return fail(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "index \"{name}\" is not valid"));
    }
    let why = match shortcoming(session, table, index, name)? {
        Some(why) => why,
        None if !index.immediate && !wanted.deferrable => {
            return fail(
                sql_err!(WRONG_OBJECT_TYPE, "\"{name}\" is a deferrable index")
                    .detail("Cannot create a non-deferrable constraint using a deferrable index."),
            );
        }
        None => return Ok(index),
    };
    fail(
        SqlError::new(SqlState::WRONG_OBJECT_TYPE, &why)
            .detail("Cannot create a primary key or unique constraint using such an index."),
    )
}

/// What the index has that a key's has not.
fn shortcoming(session: &Session, table: &Table, found: &Index, name: &str) -> SqlResult<Option<String>> {
    if !found.unique {
        return Ok(Some(format!("\"{name}\" is not a unique index")));
    }
    if !found.expressions.is_empty() {
        return Ok(Some(format!("index \"{name}\" contains expressions")));
    }
    if found.predicate.is_some() {
        return Ok(Some(format!("\"{name}\" is a partial index")));
    }
    for (i, &key) in found.keys.iter().enumerate() {
        let column = &table.columns[key as usize - 1];
        let plain = found.options[i] == 0
            && found.collations[i] == column.collation
            && found.opclasses[i] == index::operator_class(session, column.type_oid, None)?;
        if !plain {
            let number = i + 1;
            return Ok(Some(format!(
                "index \"{name}\" column number {number} does not have default sorting behavior"
            )));
        }
    }
    Ok(None)
}
