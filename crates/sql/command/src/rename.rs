//! # What
//! ALTER ... RENAME and ALTER ... SET SCHEMA of relations, columns, constraints and schemas.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::system::{pg_attribute, pg_namespace};
use catalog::{CatalogView, RelationKind, Table};
use parse::ast::{ObjectKind, RangeVar, Rename};
use session::Session;
use tuple::Datum;
use txn::LockMode;

use super::object_kind::{Move, old_name};
use super::{alter, constraint, drop, inherit, names, table, typed_table, user_type};

/// RENAME of a whole relation.
pub(super) fn whole_relation(session: &Session, asked: &Rename) -> SqlResult<()> {
    let Some(found) = open(session, asked, asked.kind)? else { return Ok(()) };
    relation(session, &found, &asked.new_name)
}

/// RENAME COLUMN. As in PostgreSQL the relation may be of any kind, whichever the statement names.
pub(super) fn column_of_relation(session: &Session, asked: &Rename) -> SqlResult<()> {
    let Some(found) = open(session, asked, ObjectKind::Table)? else { return Ok(()) };
    typed_table::refuse(session, &found, "cannot rename column of typed table")?;
    columns(session, &found, old_name(asked), &asked.new_name, recurses(asked))
}

/// RENAME ATTRIBUTE of a composite type, and of the tables of that type.
pub(super) fn attribute(session: &Session, asked: &Rename) -> SqlResult<()> {
    let Some(found) = open(session, asked, ObjectKind::Type)? else { return Ok(()) };
    for typed in typed_table::of_type(session, &found, asked.behavior)? {
        columns(session, &typed, old_name(asked), &asked.new_name, true)?;
    }
    columns(session, &found, old_name(asked), &asked.new_name, true)
}

/// RENAME CONSTRAINT of a table.
pub(super) fn constraint_of_table(session: &Session, asked: &Rename) -> SqlResult<()> {
    let Some(found) = open(session, asked, ObjectKind::Table)? else { return Ok(()) };
    constraints(session, &found, old_name(asked), &asked.new_name, recurses(asked))
}

/// ALTER TRIGGER ... RENAME.
pub(super) fn trigger(session: &Session, asked: &Rename) -> SqlResult<()> {
    let relation = asked.relation.as_ref();
    let relation = relation.ok_or_else(|| SqlError::internal("RENAME without a relation"))?;
    super::trigger::rename(session, relation, old_name(asked), &asked.new_name)
}

/// Whether what inherits the column or constraint follows: unless ONLY is said.
fn recurses(asked: &Rename) -> bool {
    asked.relation.as_ref().is_none_or(|name| name.inherit)
}

fn open(session: &Session, statement: &Rename, kind: ObjectKind) -> SqlResult<Option<Arc<Table>>> {
    let name = statement.relation.as_ref().ok_or_else(|| SqlError::internal("RENAME without a relation"))?;
    let Some(found) = alter::open(session, name, statement.missing_ok, LockMode::AccessExclusive)? else {
        return Ok(None);
    };
    // ALTER TABLE renames indexes and views too.
    if kind != ObjectKind::Table {
        alter::check_kind(&found, kind)?;
    }
    names::check_owner(session, &found)?;
    names::check_not_system(&found)?;
    Ok(Some(found))
}

fn check_free(session: &Session, found: &Table, name: &str) -> SqlResult<()> {
    if session.with_reader(|reader| reader.relation_oid(found.schema, name))?.is_some() {
        return Err(sql_err!(DUPLICATE_TABLE, "relation \"{name}\" already exists"));
    }
    if found.row_type.is_valid() && user_type::exists(session, found.schema, name)? {
        return Err(sql_err!(DUPLICATE_OBJECT, "type \"{name}\" already exists"));
    }
    Ok(())
}

pub(super) fn relation(session: &Session, found: &Table, name: &str) -> SqlResult<()> {
    names::check_creation(session, found.schema)?;
    check_free(session, found, name)?;
    session.with_changer(|changer| changer.rename_relation(found.oid, name))?;
    if matches!(found.kind, RelationKind::Index | RelationKind::PartitionedIndex) {
        return constraint_of_index(session, found, name);
    }
    Ok(())
}

/// An index's constraint follows its name.
fn constraint_of_index(session: &Session, index: &Table, name: &str) -> SqlResult<()> {
    use catalog::RowExt;
    use catalog::system::pg_index;
    let key = [index.oid.into()];
    let row = session
        .with_reader(|reader| reader.find_one(&pg_index::TABLE, pg_index::PG_INDEX_INDEXRELID_INDEX, &key))?;
    let Some((_, row)) = row else { return Ok(()) };
    let all = session.with_reader(|reader| reader.constraints(row.oid(pg_index::INDRELID)))?;
    match all.iter().find(|c| c.index == index.oid) {
        Some(found) => session.with_changer(|changer| changer.rename_constraint(found.oid, name)),
        None => Ok(()),
    }
}

/// Renames a column of a table and of all that inherit it, none of which may have it from elsewhere.
fn columns(session: &Session, found: &Table, old: &str, new: &str, recurse: bool) -> SqlResult<()> {
    let tree = tree_below(session, found, recurse)?;
    let inherited = |t: &Table| t.column(old).map_or(0, |(_, c)| c.inherited);
    if !recurse && !found.children.is_empty() && found.column(old).is_some() {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "inherited column \"{old}\" must be renamed in child tables too"
        ));
    }
    for (table, parents) in std::iter::once((found, 0)).chain(tree.iter().map(|(t, n)| (&**t, *n))) {
        if inherited(table) > parents {
            return Err(sql_err!(INVALID_TABLE_DEFINITION, "cannot rename inherited column \"{old}\""));
        }
    }
    tree.iter().try_for_each(|(table, _)| column(session, table, old, new))?;
    column(session, found, old, new)
}

/// The tables below one, each with the number of its parents in the tree.
fn tree_below(session: &Session, found: &Table, recurse: bool) -> SqlResult<Vec<(Arc<Table>, i16)>> {
    if !recurse {
        return Ok(Vec::new());
    }
    let below = inherit::descendants(session, found, LockMode::AccessExclusive)?;
    let tables: Vec<base::Oid> = std::iter::once(found.oid).chain(below.iter().map(|t| t.oid)).collect();
    let count = |table: Arc<Table>| {
        let parents = session.with_reader(|r| r.parents(table.oid))?;
        let inside = parents.iter().filter(|p| tables.contains(p)).count();
        Ok((table, inside as i16))
    };
    below.into_iter().map(count).collect()
}

/// Renames a constraint of a table, and of all that inherit it.
fn constraints(session: &Session, found: &Table, old: &str, new: &str, recurse: bool) -> SqlResult<()> {
    let own = |table: &Table| {
        let all = session.with_reader(|reader| reader.constraints(table.oid))?;
        Ok::<_, SqlError>(all.into_iter().find(|c| c.name == old))
    };
    let Some(constraint) = own(found)? else { return rename_constraint(session, found, old, new) };
    if !matches!(constraint.kind, b'c' | b'n') || constraint.no_inherit {
        return rename_constraint(session, found, old, new);
    }
    if !recurse && !found.children.is_empty() {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "inherited constraint \"{old}\" must be renamed in child tables too"
        ));
    }
    let tree = tree_below(session, found, recurse)?;
    for (table, parents) in std::iter::once((found, 0)).chain(tree.iter().map(|(t, n)| (&**t, *n))) {
        if own(table)?.is_some_and(|c| c.origin.inherited > parents) {
            return Err(sql_err!(INVALID_TABLE_DEFINITION, "cannot rename inherited constraint \"{old}\""));
        }
    }
    for (table, _) in &tree {
        if own(table)?.is_some() {
            rename_constraint(session, table, old, new)?;
        }
    }
    rename_constraint(session, found, old, new)
}

fn column(session: &Session, found: &Table, old: &str, new: &str) -> SqlResult<()> {
    if super::index::is_system_column(old) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot rename system column \"{old}\""));
    }
    let Some((number, _)) = found.column(old) else {
        return Err(sql_err!(UNDEFINED_COLUMN, "column \"{old}\" does not exist"));
    };
    table::check_column_name(new)?;
    if found.column(new).is_some() {
        return Err(sql_err!(
            DUPLICATE_COLUMN,
            "column \"{new}\" of relation \"{}\" already exists",
            found.name
        ));
    }
    session.with_changer(|changer| {
        changer.edit_column(found.oid, number, |row| row[pg_attribute::ATTNAME] = Datum::text(new))
    })
}

fn rename_constraint(session: &Session, found: &Table, old: &str, new: &str) -> SqlResult<()> {
    let all = session.with_reader(|reader| reader.constraints(found.oid))?;
    let Some(constraint) = all.iter().find(|c| c.name == old) else {
        return Err(sql_err!(
            UNDEFINED_OBJECT,
            "constraint \"{old}\" for table \"{}\" does not exist",
            found.name
        ));
    };
    constraint::check_constraint_free(session, found, new)?;
    if constraint.index.is_valid() {
        check_free(session, found, new)?;
        session.with_changer(|changer| changer.rename_relation(constraint.index, new))?;
    }
    session.with_changer(|changer| changer.rename_constraint(constraint.oid, new))
}

/// ALTER SCHEMA ... RENAME.
pub(super) fn schema(session: &Session, old: &str, new: &str) -> SqlResult<()> {
    let oid = session.with_reader(|reader| reader.schema_by_name(old))?;
    let oid = oid.ok_or_else(|| names::undefined_schema(old))?;
    drop::check_schema_owner(session, oid, old)?;
    if session.with_reader(|reader| reader.schema_by_name(new))?.is_some() {
        return Err(sql_err!(DUPLICATE_SCHEMA, "schema \"{new}\" already exists"));
    }
    if !names::holds_on_database(session, "C")? {
        return Err(catalog::authority::denied("database", session.catalog.database_name()));
    }
    if new.starts_with("pg_") {
        return Err(sql_err!(RESERVED_NAME, "unacceptable schema name \"{new}\"")
            .detail("The prefix \"pg_\" is reserved for system schemas."));
    }
    let index = pg_namespace::PG_NAMESPACE_OID_INDEX;
    let row = session.with_reader(|reader| reader.find_one(&pg_namespace::TABLE, index, &[oid.into()]))?;
    let (place, old) = row.ok_or_else(|| names::undefined_schema(old))?;
    let mut row = old.clone();
    row[pg_namespace::NSPNAME] = Datum::text(new);
    session.with_changer(|changer| {
        changer.update(&pg_namespace::TABLE, place, &old, &row)?;
        changer.next_command()
    })
}

/// ALTER ... SET SCHEMA of a relation.
pub(super) fn set_schema_of_relation(session: &Session, asked: &Move<'_>) -> SqlResult<()> {
    let (kind, schema) = (asked.kind, asked.schema);
    let name = asked.relation.ok_or_else(|| SqlError::internal("SET SCHEMA without a relation"))?;
    let Some(found) = alter::open(session, name, asked.missing_ok, LockMode::AccessExclusive)? else {
        return Ok(());
    };
    alter::check_kind(&found, kind)?;
    names::check_owner(session, &found)?;
    names::check_not_system(&found)?;
    let target =
        RangeVar { schema: Some(schema.to_owned()), name: found.name.clone(), ..RangeVar::default() };
    let oid = names::creation_schema(session, &target)?;
    move_relation(session, found.oid, oid)
}

/// Puts a relation into another schema.
pub(crate) fn move_relation(session: &Session, relation: Oid, schema: Oid) -> SqlResult<()> {
    let found = names::describe(session, relation)?;
    if schema == found.schema {
        return Ok(());
    }
    if session.with_reader(|reader| reader.relation_oid(schema, &found.name))?.is_some() {
        let name = session.with_reader(|reader| reader.schema_name(schema))?.unwrap_or_default();
        return Err(sql_err!(
            DUPLICATE_TABLE,
            "relation \"{}\" already exists in schema \"{name}\"",
            found.name
        ));
    }
    session.with_changer(|changer| {
        changer.set_schema(relation, schema)?;
        for index in &found.indexes {
            changer.lock_index(index.oid)?;
            changer.edit_relation(index.oid, |row| {
                row[catalog::system::pg_class::RELNAMESPACE] = schema.into();
            })?;
        }
        Ok(())
    })
}
