//! # What
//! Typed tables: CREATE TABLE ... OF, ALTER TABLE ... OF and NOT OF.
//!
//! # Invariants
//! 1. A typed table has the columns of its type, in the type's order; only ALTER TYPE ... CASCADE changes them.
//!
//! # Locks
//! ACCESS SHARE on the type's relation until the end of the transaction, so that the type is not altered meanwhile.
//!
//! # PostgreSQL counterpart
//! `transformOfType` of `parser/parse_utilcmd.c`; `check_of_type`, `ATExecAddOf`, `ATExecDropOf` of `commands/tablecmds.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::NewColumn;
use catalog::{CatalogView, RelationKind, Table, TypeKind};
use parse::ast::{DropBehavior, TypeName};
use session::Session;
use txn::{LockMode, LockWait};

use super::names::at;
use super::table::Column;
use super::{names, type_name};

/// The type of a table, and its columns.
pub(super) struct OfType {
    /// The composite type.
    pub(super) oid: Oid,
    columns: Vec<NewColumn>,
}

impl OfType {
    /// The type that a statement names.
    pub(super) fn find(session: &Session, name: &TypeName, text: &str) -> SqlResult<OfType> {
        let found = session.with_reader(|reader| type_name::resolve(reader, name, text))?;
        let relation = composite(session, found.oid, (name, text))?;
        names::check_type_usage(session, found.oid)?;
        let columns = relation.columns.iter().filter(|c| !c.dropped).map(NewColumn::like).collect();
        Ok(OfType { oid: found.oid, columns })
    }

    /// The column that options are written for.
    pub(super) fn column(&self, name: &str) -> SqlResult<NewColumn> {
        let known = self.columns.iter().find(|column| column.name == name);
        known.cloned().ok_or_else(|| sql_err!(UNDEFINED_COLUMN, "column \"{name}\" does not exist"))
    }

    /// All columns in order: those that something was written for, and the others.
    pub(super) fn all<'a>(&self, mut written: Vec<Column<'a>>) -> Vec<Column<'a>> {
        let one = |new: &NewColumn| match written.iter().position(|column| column.new.name == new.name) {
            Some(i) => written.swap_remove(i),
            None => Column::plain(new.clone()),
        };
        self.columns.iter().map(one).collect()
    }
}

/// The relation of a type that tables may be of, locked.
fn composite(session: &Session, ty: Oid, (name, text): (&TypeName, &str)) -> SqlResult<Arc<Table>> {
    let def = session.with_reader(|reader| CatalogView::type_by_oid(reader, ty))?;
    let def = def.ok_or_else(|| SqlError::internal(format!("cache lookup failed for type {ty}")))?;
    let shown = session.with_reader(|reader| type_name::format(reader, ty, -1))?;
    let TypeKind::Composite(relation) = def.kind else {
        let error = sql_err!(WRONG_OBJECT_TYPE, "type {shown} is not a composite type");
        return Err(at(error, text, name.location));
    };
    names::lock_relation(session, relation, LockMode::AccessShare, LockWait::Block)?;
    let relation = names::describe(session, relation)?;
    if relation.kind != RelationKind::Composite {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "type {shown} is the row type of another table")
            .detail("A typed table must use a stand-alone composite type created with CREATE TYPE."));
    }
    Ok(relation)
}

/// Fails for a typed table: only its type may be changed like this.
pub(super) fn refuse(session: &Session, table: &Table, message: &str) -> SqlResult<()> {
    match session.with_reader(|reader| reader.type_of_table(table.oid))? {
        Oid::INVALID => Ok(()),
        _ => Err(sql_err!(WRONG_OBJECT_TYPE, "{message}")),
    }
}

/// The tables of a type, locked; an error if there are any and the type alone was to be changed.
pub(super) fn of_type(session: &Session, of: &Table, behavior: DropBehavior) -> SqlResult<Vec<Arc<Table>>> {
    let tables = session.with_reader(|reader| reader.typed_tables(of.row_type))?;
    if !tables.is_empty() && behavior == DropBehavior::Restrict {
        return Err(sql_err!(
            DEPENDENT_OBJECTS_STILL_EXIST,
            "cannot alter type \"{}\" because it is the type of a typed table",
            of.name
        )
        .hint("Use ALTER ... CASCADE to alter the typed tables too."));
    }
    let open = |oid: Oid| {
        names::lock_relation(session, oid, LockMode::AccessExclusive, LockWait::Block)?;
        names::describe(session, oid)
    };
    tables.into_iter().map(open).collect()
}

/// ALTER TABLE ... OF.
pub(super) fn set(session: &Session, table: &Table, name: &TypeName, text: &str) -> SqlResult<()> {
    let of = OfType::find(session, name, text)?;
    if !session.with_reader(|reader| reader.parents(table.oid))?.is_empty() {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "typed tables cannot inherit"));
    }
    let mismatch = |message: String| Err(SqlError::new(base::SqlState::DATATYPE_MISMATCH, message));
    let mut own = table.columns.iter().filter(|column| !column.dropped);
    for wanted in &of.columns {
        let name = &wanted.name;
        match own.next() {
            None => return mismatch(format!("table is missing column \"{name}\"")),
            Some(column) if column.name != *name => {
                let found = &column.name;
                return mismatch(format!("table has column \"{found}\" where type requires \"{name}\""));
            }
            Some(column)
                if (column.type_oid, column.typmod, column.collation)
                    != (wanted.type_oid, wanted.typmod, wanted.collation) =>
            {
                return mismatch(format!(
                    "table \"{}\" has different type for column \"{name}\"",
                    table.name
                ));
            }
            Some(_) => {}
        }
    }
    if let Some(extra) = own.next() {
        return mismatch(format!("table has extra column \"{}\"", extra.name));
    }
    session.with_changer(|changer| changer.set_type_of_table(table.oid, Some(of.oid)))
}

/// ALTER TABLE ... NOT OF.
pub(super) fn unset(session: &Session, table: &Table) -> SqlResult<()> {
    match session.with_reader(|reader| reader.type_of_table(table.oid))? {
        Oid::INVALID => Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a typed table", table.name)),
        _ => session.with_changer(|changer| changer.set_type_of_table(table.oid, None)),
    }
}
