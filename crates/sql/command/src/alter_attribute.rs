//! # What
//! ALTER TYPE of a composite type: ADD, DROP and ALTER ATTRIBUTE. Values that are stored keep the attributes that they had: what was added
//! is NULL in them, what was dropped is not looked at.
//!
//! # Locks
//! ACCESS EXCLUSIVE on the type's relation, taken by the caller, and on the tables of the type.
//!
//! # PostgreSQL counterpart
//! `ATTypedTableRecursion` and its neighbours in `commands/tablecmds.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::ObjectAddress;
use catalog::{RelationKind, Table};
use parse::ast::AlterAction;
use session::Session;

use super::alter::behavior_of;
use super::{alter, alter_tree, alter_type, drop, names, table, typed_table};

/// One action.
pub(super) fn run(session: &Session, of: &Table, action: &AlterAction, text: &str) -> SqlResult<()> {
    match action {
        AlterAction::AddColumn(def, _, behavior) => {
            let name = &def.name;
            if of.column(name).is_some() {
                let message = format!("column \"{name}\" of relation \"{}\" already exists", of.name);
                return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
            }
            let tables = typed_table::of_type(session, of, *behavior)?;
            let new = table::plain_column(session, def, text)?;
            session.with_changer(|changer| {
                changer.check_column_type(name, new.type_oid)?;
                changer.add_column(of.oid, &new).map(std::mem::drop)
            })?;
            tables.iter().try_for_each(|t| alter_tree::add_column(session, t, def, (false, true), text))
        }
        AlterAction::DropColumn(name, missing_ok, behavior) => {
            if *missing_ok && of.column(name).is_none() {
                let message =
                    format!("column \"{name}\" of relation \"{}\" does not exist, skipping", of.name);
                session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
                for table in typed_table::of_type(session, of, *behavior)? {
                    alter_tree::drop_column(session, &table, name, true, (*behavior, true))?;
                }
                return Ok(());
            }
            let number = alter::find(of, name)? as i16 + 1;
            for table in typed_table::of_type(session, of, *behavior)? {
                alter_tree::drop_column(session, &table, name, *missing_ok, (*behavior, true))?;
            }
            let objects = [ObjectAddress::column(of.oid, number)];
            let told = session.with_changer(|c| c.drop_objects(&objects, behavior_of(*behavior)))?;
            drop::tell(session, told);
            Ok(())
        }
        AlterAction::ColumnType { column, type_name, collation, using, location, behavior } => {
            let number = alter::find(of, column)? as i16 + 1;
            if let Some((table, column)) = stored(session, of)? {
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot alter type \"{}\" because column \"{table}.{column}\" uses it",
                    of.name
                ));
            }
            let (collation, using) = (collation.as_ref(), using.as_ref());
            let wanted = alter_type::Wanted { column, type_name, collation, using, location: *location };
            let tables = typed_table::of_type(session, of, *behavior)?;
            let new = alter_type::new_column(session, &wanted, text)?;
            session.with_changer(|changer| {
                changer.check_column_type(column, new.type_oid)?;
                changer.set_column_type(of.oid, number, &new)
            })?;
            tables.iter().try_for_each(|t| alter_tree::column_type(session, t, &wanted, true, text))
        }
        _ => Err(SqlError::not_supported("ALTER TYPE with this action")),
    }
}

/// A table and its column that hold values of the type, directly or inside others.
fn stored(session: &Session, of: &Table) -> SqlResult<Option<(String, String)>> {
    let mut types: Vec<Oid> = vec![of.row_type];
    let mut at = 0;
    while let Some(&ty) = types.get(at) {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        at += 1;
        for (relation, number) in session.with_reader(|reader| reader.columns_of_type(ty))? {
            let user = names::describe(session, relation)?;
            match user.kind {
                RelationKind::Composite | RelationKind::View => {
                    if !types.contains(&user.row_type) {
                        types.push(user.row_type);
                    }
                }
                _ => {
                    let column = user.columns.get((number - 1) as usize).map(|column| column.name.clone());
                    return Ok(Some((user.name.clone(), column.unwrap_or_default())));
                }
            }
        }
    }
    Ok(None)
}
